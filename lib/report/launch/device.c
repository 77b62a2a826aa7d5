/* The devices of this machine as text and JSON. */
#include "cute/report.h"

#include <string.h>

#include "lib/base/abi.h"
#include "lib/base/text/json.h"

static json_t *device_json(const cute_device_info *d)
{
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {
        {"multiprocessors", d->multiprocessors},
        {"memory_bytes", d->memory},
        {"l2_bytes", d->l2},
        {"shared_memory_per_block", d->shared_block},
        {"shared_memory_per_block_optin", d->shared_optin},
        {"shared_memory_per_multiprocessor", d->shared_multiprocessor},
        {"registers_per_block", d->registers_block},
        {"registers_per_multiprocessor", d->registers_multiprocessor},
        {"threads_per_block", d->threads_block},
        {"threads_per_multiprocessor", d->threads_multiprocessor},
        {"blocks_per_multiprocessor", d->blocks_multiprocessor},
        {"warp_size", d->warp_size},
        {"clock_khz", d->clock},
        {"memory_clock_khz", d->memory_clock},
        {"memory_bus_bits", d->bus_width},
        {"driver_version", d->driver_version},
    };
    json_t *value =
        json_pack("{s:i,s:s,s:s,s:s,s:o}", "index", d->index, "kind", d->kind, "name", d->name, "arch",
                  d->arch, "compute_capability", json_sprintf("%d.%d", d->major, d->minor));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        json_object_set_new(value, numbers[i].key, json_integer(numbers[i].value));
    json_object_update_new(
        value,
        json_pack("{s:o,s:o,s:b,s:b,s:b,s:b,s:o}", "grid_limit", cute_json_integers(d->grid_limit, 3, -1),
                  "block_limit", cute_json_integers(d->block_limit, 3, -1), "cooperative_launch",
                  d->cooperative, "clusters", d->clusters, "tensor_maps", d->tensor_maps, "ecc", d->ecc,
                  "pci", json_sprintf("%04x:%02x:%02x.0", d->pci_domain, d->pci_bus, d->pci_device)));
    return value;
}

static void text_emulator(const cute_device_info *d, cute_buffer *out)
{
    cute_buffer_printf(out, "device emulator: %s, compute capability %d.%d (%s), on the CPU\n", d->name,
                       d->major, d->minor, d->arch);
    cute_buffer_printf(out, "  shared memory: %lld bytes per block, %lld opt-in\n",
                       (long long)d->shared_block, (long long)d->shared_optin);
}

static void text_device(const cute_device_info *d, cute_buffer *out)
{
    cute_buffer_printf(out, "device %d: %s, compute capability %d.%d (%s), driver for CUDA %d.%d\n", d->index,
                       d->name, d->major, d->minor, d->arch, d->driver_version / 1000,
                       d->driver_version % 1000 / 10);
    cute_buffer_printf(out, "  %lld multiprocessors at %lld MHz, %lld threads and %lld registers each\n",
                       (long long)d->multiprocessors, (long long)d->clock / 1000,
                       (long long)d->threads_multiprocessor, (long long)d->registers_multiprocessor);
    cute_buffer_printf(out, "  %.1f GiB of memory, %lld bits at %lld MHz: %.0f GB/s peak; L2 %.0f MiB%s\n",
                       (double)d->memory / (1 << 30), (long long)d->bus_width,
                       (long long)d->memory_clock / 1000,
                       2e3 * (double)d->memory_clock * (double)d->bus_width / 8 * 1e-9,
                       (double)d->l2 / (1 << 20), d->ecc ? ", ECC" : "");
    cute_buffer_printf(out, "  shared memory: %lld bytes per block, %lld opt-in, %lld per multiprocessor\n",
                       (long long)d->shared_block, (long long)d->shared_optin,
                       (long long)d->shared_multiprocessor);
    cute_buffer_printf(out, "  %s clusters, %s tensor maps, %s cooperative launches\n",
                       d->clusters ? "has" : "no", d->tensor_maps ? "has" : "no",
                       d->cooperative ? "has" : "no");
}

char *cute_device_describe(const cute_device_info *devices, size_t count, bool json)
{
    cute_buffer out = {0};
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        cute_device_info d;
        /* The caller's structs may have another version; their size field is the stride. */
        const char *at = (const char *)devices + i * devices->size;
        if (cute_struct_read(&d, sizeof d, at, "cute_device_info", NULL) != CUTE_OK || !d.kind) continue;
        json_array_append_new(list, device_json(&d));
        bool emulator = strcmp(d.kind, "emulator") == 0;
        if (!json && emulator)
            text_emulator(&d, &out);
        else if (!json)
            text_device(&d, &out);
    }
    if (!json && count == 0) cute_buffer_puts(&out, "no devices\n");
    return cute_json_finish(list, json, &out);
}
