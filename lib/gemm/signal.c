/* Products that count their tiles: the kernel of kernels/product with two more parameters, and cute.tile.signal behind its stores. */
#include <stdio.h>
#include <string.h>

#include "lib/gemm/gemm.h"

/* The parts of the source that change: the name, the last parameter, and the store of the result. */
static const char name[] = "@product(", own_name[] = "product_signals", copies_name[] = "product_copies%d";
static const char last_parameter[] = "%beta: ${E}", group[] = ", %group: i32, %groups: i32";
static const char store[] = "cute.tile.store %d, %D[%l, %i, %j]\n",
                  /* clusters have tiles beyond D, which are counted behind the groups */
    which[] = "    %rows = cute.tile.count<1, ${BM}> %D\n"
              "    %columns = cute.tile.count<2, ${BN}> %D\n"
              "    %row_inside = arith.cmpi ult, %i, %rows : i32\n"
              "    %column_inside = arith.cmpi ult, %j, %columns : i32\n"
              "    %inside = arith.andi %row_inside, %column_inside : i1\n"
              "    %own_group = arith.divui %i, %group : i32\n"
              "    %which = arith.select %inside, %own_group, %groups : i32\n";
/* For D itself and each copy, by its number. */
static const char counters_of[] = ", %%signals%s: !cute.memref<i32, gmem, \"?:1\">",
                  copy_of[] = ", %%D%s: !d${D}",
                  store_of[] = "    cute.tile.store %%d, %%D%s[%%l, %%i, %%j]\n",
                  count_of[] = "    cute.tile.signal(%%signals%s, %%which)%s : (!cute.memref<i32, gmem, "
                               "\"?:1\">, i32) -> ()\n";

bool gemm_signal_supports(const gemm_algo *algo)
{
    const gemm_kernel *kernel = algo->config->kernel;
    return kernel->tiles && !kernel->any_output_layout && algo->config->split == 1 && !algo->swapped &&
           !algo->epilogue && !algo->own && !algo->first->tree &&
           algo->first->given.order_d == CUTE_GEMM_ROWS;
}

/* The stores of all copies are in front of the first count, so that one wait orders them. */
static void write_additions(const gemm_signal *signal, cute_buffer *parameters, cute_buffer *stores)
{
    char number[16] = "";
    for (int i = 0; i <= signal->copies; i++) {
        if (i) snprintf(number, sizeof number, "%d", i);
        cute_buffer_printf(parameters, counters_of, number);
        if (i) cute_buffer_printf(parameters, copy_of, number);
        if (!i) cute_buffer_puts(parameters, group);
        if (i) cute_buffer_printf(stores, store_of, number);
    }
    cute_buffer_puts(stores, which);
    for (int i = 0; i <= signal->copies; i++) {
        number[0] = '\0';
        if (i) snprintf(number, sizeof number, "%d", i);
        cute_buffer_printf(stores, count_of, number, signal->peers ? " {scope = \"sys\"}" : "");
    }
}

static const char *insert_text(cute_arena *arena, const char *source, const char *function,
                               const gemm_signal *signal)
{
    const char *named = strstr(source, name), *parameter = named ? strstr(named, last_parameter) : NULL,
               *stored = parameter ? strstr(parameter, store) : NULL, *out = NULL;
    if (!stored) return NULL;
    const char *rest = named + strlen(name);
    parameter += strlen(last_parameter);
    stored += strlen(store);
    cute_buffer parameters = {0}, stores = {0};
    write_additions(signal, &parameters, &stores);
    if (cute_buffer_ok(&parameters) && cute_buffer_ok(&stores))
        out = cute_arena_printf(arena, "%.*s@%s(%.*s%s%.*s%s%s", (int)(named - source), source, function,
                                (int)(parameter - rest), rest, cute_buffer_text(&parameters),
                                (int)(stored - parameter), parameter, cute_buffer_text(&stores), stored);
    cute_buffer_release(&parameters);
    cute_buffer_release(&stores);
    return out;
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
    kernel->function = signal.copies ? cute_arena_printf(arena, copies_name, signal.copies) : own_name;
    if (kernel->function) kernel->source = insert_text(arena, kernel->source, kernel->function, &signal);
    if (!kernel->function || !kernel->source) return cute_fail_memory(diag);
    config->kernel = kernel;
    algo->config = config;
    algo->signal = signal;
    return CUTE_OK;
}
