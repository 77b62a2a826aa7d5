/* Rates of devices: those of a multiprocessor (lib/base/devices/rates.def) times the multiprocessors and clock of a device. */
#include <stdio.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/devices/rates.h"
#include "lib/report/roofline/roofline.h"

const roof_ceiling_info roof_ceilings[ROOF_CEILINGS] = {
#define CEILING(id, key, unit, text, rate) [ROOF_##id] = {#key, unit, text},
#include "lib/report/roofline/ceilings.def"
};

/* Sets the rates of all ceilings from clocks and multiprocessors. */
static void set_rates(roof_device *d, int arch, bool half, double dram, double l2)
{
    static const cute_rates none;
    const cute_rates *known = cute_rates_of(arch), *r = known ? known : &none;
    const double per_clock[ROOF_CEILINGS] = {
#define CEILING(id, key, unit, text, rate) [ROOF_##id] = rate,
#include "lib/report/roofline/ceilings.def"
    };
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        bool tensor = n > ROOF_TENSOR_F64; /* f64 does not lower the clock */
        bool halved = half && (n == ROOF_TENSOR_TF32 || n == ROOF_TENSOR_F16 || n == ROOF_TENSOR_BF16 ||
                               n == ROOF_TENSOR_F8);
        d->each_multiprocessor[n] = per_clock[n] > 0;
        d->most[n] = per_clock[n] * (double)d->multiprocessors * (tensor ? d->tensor_clock : d->clock) /
                     (halved ? 2 : 1);
    }
    d->most[ROOF_DRAM] = dram;
    d->most[ROOF_L2] = l2;
}

static void set_device_row(const cute_gpu *row, roof_device *d)
{
    *d = (roof_device){.multiprocessors = row->multiprocessors,
                       .l2 = (int64_t)(row->l2 * (1 << 20)),
                       .clock = row->clock * 1e6,
                       .tensor_clock = row->tensor_clock * 1e6};
    snprintf(d->name, sizeof d->name, "%s", row->name);
    snprintf(d->arch, sizeof d->arch, "sm_%d", row->arch);
    set_rates(d, row->arch, row->half, row->dram * 1e9, row->l2_rate * d->clock);
}

bool cute_roof_device_of_arch(const char *arch, roof_device *out)
{
    const cute_arch *known = arch ? cute_arch_find(arch) : NULL;
    const cute_gpu *row = known ? cute_gpu_of_arch(known->number) : NULL;
    if (row) set_device_row(row, out);
    return row != NULL;
}

cute_status cute_roof_device_find(const char *text, roof_device *out, cute_diag *diag)
{
    cute_buffer names = {0};
    const cute_gpu *row = cute_gpu_in_name(text);
    if (!row) row = cute_gpu_with_word(text);
    if (row) set_device_row(row, out);
    if (row || cute_roof_device_of_arch(text, out)) return CUTE_OK;
    for (size_t n = 0; (row = cute_gpu_at(n)) != NULL; n++)
        cute_buffer_printf(&names, "%s%s", n ? ", " : "", row->name);
    cute_fail(diag, CUTE_USAGE, NULL, "--of expects a device or an architecture, got '%s'", text);
    cute_note(diag, NULL, "known devices: %s", cute_buffer_text(&names));
    cute_buffer_release(&names);
    return CUTE_USAGE;
}

void cute_roof_device_of_info(const cute_device_info *info, roof_device *d)
{
    const cute_gpu *row = cute_gpu_in_name(info->name);
    /* double data rate: two transfers per clock */
    double dram = 2e3 * (double)info->memory_clock * (double)info->bus_width / 8, l2 = 0;
    if (row && row->arch != info->major * 10 + info->minor) row = NULL;
    if (row) set_device_row(row, d);
    if (!row) *d = (roof_device){0};
    snprintf(d->name, sizeof d->name, "%s", info->name);
    snprintf(d->arch, sizeof d->arch, "%s", info->arch);
    if (info->multiprocessors > 0) d->multiprocessors = info->multiprocessors;
    if (info->l2 > 0) d->l2 = info->l2;
    if (info->clock > 0) d->clock = 1e3 * (double)info->clock;
    if (!d->tensor_clock || d->tensor_clock > d->clock) d->tensor_clock = d->clock;
    if (row) l2 = row->l2_rate * d->clock;
    if (row && dram <= 0) dram = row->dram * 1e9;
    set_rates(d, info->major * 10 + info->minor, row && row->half, dram, l2);
}
