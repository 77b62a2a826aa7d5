/* Products that count their tiles: the kernel of kernels/product with two more parameters, and cute.tile.signal behind its stores. */
#include <string.h>

#include "lib/gemm/gemm.h"

/* The parts of the source that change: the name, the last parameter, and the store of the result. */
static const char name[] = "@product(", own_name[] = "product_signals";
static const char last_parameter[] = "%beta: ${E}",
                  parameters[] = ", %signals: !cute.memref<i32, gmem, \"?:1\">, %group: i32";
static const char
    store[] = "cute.tile.store %d, %D[%l, %i, %j]\n",
    count[] = "    %which = arith.divui %i, %group : i32\n"
              "    cute.tile.signal(%signals, %which) : (!cute.memref<i32, gmem, \"?:1\">, i32) -> ()\n";

bool gemm_signal_supports(const gemm_algo *algo)
{
    const gemm_kernel *kernel = algo->config->kernel;
    return kernel->tiles && !kernel->any_output_layout && algo->config->split == 1 && !algo->swapped &&
           !algo->epilogue && !algo->own && !algo->first->tree &&
           algo->first->given.order_d == CUTE_GEMM_ROWS;
}

static const char *insert_text(cute_arena *arena, const char *source)
{
    const char *named = strstr(source, name), *parameter = named ? strstr(named, last_parameter) : NULL,
               *stored = parameter ? strstr(parameter, store) : NULL;
    if (!stored) return NULL;
    const char *rest = named + strlen(name);
    parameter += strlen(last_parameter);
    stored += strlen(store);
    return cute_arena_printf(arena, "%.*s@%s(%.*s%s%.*s%s%s", (int)(named - source), source, own_name,
                             (int)(parameter - rest), rest, parameters, (int)(stored - parameter), parameter,
                             count, stored);
}

cute_status gemm_signal_apply(cute_arena *arena, gemm_algo *algo, gemm_signal signal, cute_diag *diag)
{
    if (!gemm_signal_supports(algo))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "the kernel of configuration '%s' does not count the tiles of this product",
                         algo->name);
    gemm_config *config = cute_arena_alloc(arena, sizeof *config);
    gemm_kernel *kernel = cute_arena_alloc(arena, sizeof *kernel);
    if (!config || !kernel) return cute_fail_memory(diag);
    *config = *algo->config;
    *kernel = *config->kernel;
    kernel->source = insert_text(arena, kernel->source);
    if (!kernel->source) return cute_fail_memory(diag);
    kernel->function = own_name;
    config->kernel = kernel;
    algo->config = config;
    algo->signal = signal;
    return CUTE_OK;
}
