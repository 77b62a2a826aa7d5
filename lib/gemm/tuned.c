/* Cached measurements: the name of the fastest algorithm for a problem on a device. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/cache.h"
#include "lib/gemm/gemm.h"

static const char kind[] = "gemm-tuned", on_emulator[] = " emulated\n";

/* Everything that a time depends on: the problem without the values of its scalars, the device, and all
 * sources and configurations, so that measurements of older kernels are not found. */
static cute_status make_tuned_key(const gemm_problem *problem, const gemm_target *target, const char *device,
                                  cute_buffer *out)
{
    const cute_gemm_problem *g = &problem->given;
    cute_buffer_printf(out, "%s\n%s %s %lld\n", cute_version(), device ? device : "", target->arch,
                       (long long)target->multiprocessors);
    cute_buffer_printf(out, "%lldx%lldx%lld %s %s %s\n", (long long)g->m, (long long)g->n, (long long)g->k,
                       g->type_a, g->type_d, g->accumulate);
    cute_buffer_printf(out, "%d %d %d, %lld %lld %lld %lld\n", g->order_a, g->order_b, g->order_d,
                       (long long)g->ld_a, (long long)g->ld_b, (long long)g->ld_c, (long long)g->ld_d);
    cute_buffer_printf(out, "%lld: %lld %lld %lld %lld\n", (long long)g->batch, (long long)g->stride_a,
                       (long long)g->stride_b, (long long)g->stride_c, (long long)g->stride_d);
    cute_buffer_printf(out, "%d %d %d %d %lld\n", g->alpha != 1, g->beta != 0, g->bias, g->activation,
                       (long long)g->align);
    for (size_t i = 0; i < gemm_config_count(); i++) cute_buffer_printf(out, "%s\n", gemm_config_at(i)->name);
    for (size_t i = 0; i < gemm_config_count(); i++)
        if (!i || gemm_config_at(i)->kernel != gemm_config_at(i - 1)->kernel)
            cute_buffer_puts(out, gemm_config_at(i)->kernel->source);
    cute_buffer_puts(out, gemm_source_pack());
    cute_buffer_puts(out, gemm_source_epilogue());
    return cute_buffer_ok(out) ? CUTE_OK : CUTE_SYSTEM;
}

bool gemm_tuned_find(const gemm_problem *problem, const gemm_target *target, const char *device,
                     const char *cache, char *name, size_t size, double *seconds, bool *emulated)
{
    cute_buffer key = {0}, text = {0};
    bool found = cache && *cache && make_tuned_key(problem, target, device, &key) == CUTE_OK &&
                 cute_cache_get(cache, kind, key.data, key.length, &text) && cute_buffer_ok(&text);
    size_t length = found ? strcspn(cute_buffer_text(&text), " ") : 0;
    char *end = NULL;
    if (found) *seconds = strtod(cute_buffer_text(&text) + length, &end);
    *emulated = end && strcmp(end, on_emulator) == 0;
    found = found && length > 0 && length < size && end && (*end == '\n' || *emulated) && *seconds >= 0;
    if (found) {
        memcpy(name, text.data, length);
        name[length] = '\0';
    }
    cute_buffer_release(&key);
    cute_buffer_release(&text);
    return found;
}

void gemm_tuned_put(const gemm_problem *problem, const gemm_target *target, const char *device,
                    const char *cache, const char *name, double seconds, bool emulated)
{
    cute_buffer key = {0}, text = {0};
    cute_buffer_printf(&text, "%s %.9e%s", name, seconds, emulated ? on_emulator : "\n");
    if (cache && *cache && make_tuned_key(problem, target, device, &key) == CUTE_OK && cute_buffer_ok(&text))
        cute_cache_put(cache, kind, key.data, key.length, text.data, text.length);
    cute_buffer_release(&key);
    cute_buffer_release(&text);
}
