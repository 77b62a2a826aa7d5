/* Cached measurements: the name of the fastest algorithm for a problem on a device. */
#include <string.h>

#include "lib/gemm/gemm.h"
#include "lib/tune/tune.h"

static const char kind[] = "gemm-tuned";

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
    if (g->epilogue) cute_buffer_printf(out, "%s\n", g->epilogue);
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
    cute_buffer key = {0};
    cute_arena *arena = cache && *cache ? cute_arena_create() : NULL;
    const char *value = NULL;
    tune_best best = {0};
    bool found = arena && make_tuned_key(problem, target, device, &key) == CUTE_OK &&
                 tune_best_find(arena, cache, kind, &key, &value, &best) && strlen(value) < size &&
                 !strchr(value, ' ');
    if (found) memcpy(name, value, strlen(value) + 1);
    *seconds = best.seconds;
    *emulated = best.emulated;
    cute_buffer_release(&key);
    cute_arena_destroy(arena);
    return found;
}

void gemm_tuned_put(const gemm_problem *problem, const gemm_target *target, const char *device,
                    const char *cache, const char *name, double seconds, bool emulated)
{
    cute_buffer key = {0};
    if (cache && *cache && make_tuned_key(problem, target, device, &key) == CUTE_OK)
        tune_best_put(cache, kind, &key, name, &(tune_best){seconds, emulated});
    cute_buffer_release(&key);
}
