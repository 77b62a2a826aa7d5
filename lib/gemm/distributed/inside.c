/* Collectives between the emulated ranks of one process: kernels of kernels/ranks, which all ranks run at the same time, store into each
 * other's windows and wait for each other's flags; other kinds, and sums of other types, on the host. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/arguments.h"
#include "lib/base/system/cache.h"
#include "lib/gemm/distributed/distributed.h"

enum { THREADS = 256, BLOCKS_MOST = 4, ACCESS = 16 /* bytes */, TABLES = 3 };

/* A compiled collective. */
typedef struct inside_kernel {
    struct inside_kernel *next;
    comm_kind kind;
    const comm_type *type;
    int64_t vector;
    cute_module *compiled;
    cute_device_module *module;
    cute_device_function *function;
} inside_kernel;

typedef struct inside_comm {
    cute_comm base;
    struct dist_inside *all;
} inside_comm;

struct dist_inside {
    cute_arena *arena;
    cute_team *team;
    const char *arch;
    inside_comm *ranks;
    cute_address *tables, *flags; /* of each rank: addresses of all ranks' x, y and flags; its flags */
    inside_kernel *kernels;
    int32_t epoch; /* of the flags, which are never reset */
};

static inside_comm *as_inside(cute_comm *c)
{
    return (inside_comm *)c;
}

/* ---- kernels ---- */

static bool is_summed(const comm_type *type)
{
    return strcmp(type->name, "f32") == 0 || strcmp(type->name, "f16") == 0 ||
           strcmp(type->name, "bf16") == 0;
}

/* Elements of an access: as wide as the count and the addresses allow. */
static int64_t vector_of(const dist_inside *d, const comm_call *const *calls)
{
    int64_t bytes = calls[0]->type->bytes, v = ACCESS / bytes;
    uint64_t all = (uint64_t)(calls[0]->count * bytes);
    for (int r = 0; r < cute_team_size(d->team); r++) all |= calls[r]->from | calls[r]->to;
    while (v > 1 && all % (uint64_t)(v * bytes)) v /= 2;
    return v;
}

static void define_collective(const comm_call *call, int64_t vector, gemm_defines *out)
{
    const comm_type *type = call->type;
    int bits = 8 * type->bytes;
    bool sums = call->kind != COMM_ALL_GATHER, wide = strcmp(type->name, "f32") == 0;
    if (sums)
        gemm_define(out, "T=%s", type->name);
    else /* elements are only copied */
        gemm_define(out, "T=i%d", bits);
    gemm_define(out, "BITS=%d", bits);
    gemm_define(out, "V=%lld", (long long)vector);
    if (sums) gemm_define(out, "EXTEND=%s", wide ? "arith.bitcast" : "arith.extf");
    if (sums) gemm_define(out, "TRUNC=%s", wide ? "arith.bitcast" : "arith.truncf");
}

static cute_status find_kernel(dist_inside *d, const comm_call *call, int64_t vector, inside_kernel **out,
                               cute_diag *diag)
{
    for (inside_kernel *k = d->kernels; k; k = k->next) {
        *out = k;
        if (k->kind == call->kind && k->type == call->type && k->vector == vector) return CUTE_OK;
    }
    cute_gemm_compiler compiler;
    gemm_defines defines = {.arena = d->arena};
    const char *name = comm_kind_name(call->kind);
    cute_device *emulator = cute_team_emulator(d->team);
    inside_kernel *k = *out = cute_arena_alloc(d->arena, sizeof *k);
    if (!k) return cute_fail_memory(diag);
    *k = (inside_kernel){.next = d->kernels, .kind = call->kind, .type = call->type, .vector = vector};
    CUTE_TRY(gemm_programs(d->arena, &compiler, diag));
    define_collective(call, vector, &defines);
    CUTE_TRY(gemm_compile_source(name, gemm_source_collective(call->kind), &defines, d->arch, true, &compiler,
                                 cute_cache_folder(d->arena, NULL), &k->compiled, diag));
    d->kernels = k; /* it is released with the others from now on */
    CUTE_TRY(cute_device_load_module(emulator, k->compiled, &k->module, diag));
    return cute_device_get_function(emulator, k->module, name, &k->function, diag);
}

/* The addresses of all ranks' x, y and flags, in each rank's memory. */
static cute_status write_tables(const dist_inside *d, const comm_call *const *calls, cute_diag *diag)
{
    int size = cute_team_size(d->team);
    cute_address table[TABLES * TEAM_MOST];
    for (int r = 0; r < size; r++) {
        table[r] = calls[r]->from;
        table[size + r] = calls[r]->to;
        table[2 * size + r] = d->flags[r];
    }
    for (int r = 0; r < size; r++)
        CUTE_TRY(cute_device_upload(cute_team_emulator(d->team), d->tables[r], table,
                                    (size_t)(TABLES * size) * sizeof *table, diag));
    return CUTE_OK;
}

static cute_status run_kernel(dist_inside *d, const comm_call *const *calls, cute_diag *diag)
{
    enum { PARAMS = 7 };
    int size = cute_team_size(d->team);
    const comm_call *first = calls[0];
    int64_t vector = vector_of(d, calls), n = first->count,
            each = first->kind == COMM_ALL_REDUCE ? n / size : n, groups = each / vector;
    inside_kernel *k;
    void *values[TEAM_MOST][PARAMS];
    void *const *params[TEAM_MOST];
    cute_address x[TEAM_MOST], y[TEAM_MOST], flags[TEAM_MOST];
    int32_t rank[TEAM_MOST];
    if (first->kind != COMM_ALL_REDUCE) n *= size;
    CUTE_TRY(find_kernel(d, first, vector, &k, diag));
    CUTE_TRY(write_tables(d, calls, diag));
    d->epoch++;
    for (int r = 0; r < size; r++) {
        cute_address at = d->tables[r], row = (cute_address)size * sizeof at;
        x[r] = first->kind == COMM_ALL_GATHER ? calls[r]->from : at;
        y[r] = first->kind == COMM_REDUCE_SCATTER ? calls[r]->to : at + row;
        flags[r] = at + 2 * row;
        rank[r] = r;
        void *own[PARAMS] = {&x[r], &y[r], &flags[r], &n, &rank[r], &size, &d->epoch};
        memcpy(values[r], own, sizeof own);
        params[r] = values[r];
    }
    int64_t blocks = 1 + groups / THREADS;
    cute_device_launch launch = {.size = sizeof launch,
                                 .grid = {blocks < BLOCKS_MOST ? blocks : BLOCKS_MOST, 1, 1},
                                 .block = {THREADS, 1, 1}};
    return cute_emulator_start_all(cute_team_emulator(d->team), k->function, &launch, params, diag);
}

/* ---- on the host ---- */

static cute_status sum_parts(const dist_inside *d, const comm_call *const *calls, char *parts, char *sum,
                             cute_diag *diag)
{
    int size = cute_team_size(d->team);
    const comm_call *first = calls[0];
    bool scatters = first->kind == COMM_REDUCE_SCATTER;
    size_t bytes = (size_t)first->count * (size_t)first->type->bytes;
    cute_device *emulator = cute_team_emulator(d->team);
    for (int owner = 0; owner < (scatters ? size : 1); owner++) {
        for (int r = 0; r < size; r++)
            CUTE_TRY(cute_device_download(emulator, parts + (size_t)r * bytes,
                                          calls[r]->from + (scatters ? (size_t)owner * bytes : 0), bytes,
                                          diag));
        comm_add_parts(first->type, parts, size, first->count, sum);
        for (int r = 0; r < size; r++)
            if (!scatters || r == owner)
                CUTE_TRY(cute_device_upload(emulator, calls[r]->to, sum, bytes, diag));
    }
    return CUTE_OK;
}

static cute_status run_on_host(const dist_inside *d, const comm_call *const *calls, cute_diag *diag)
{
    int size = cute_team_size(d->team);
    const comm_call *first = calls[0];
    size_t bytes = (size_t)first->count * (size_t)first->type->bytes;
    char *parts = malloc((size_t)size * bytes + 1), *sum = malloc(bytes + 1);
    cute_status status = parts && sum ? CUTE_OK : cute_fail_memory(diag);
    cute_team_order_all(d->team);
    if (status == CUTE_OK && first->kind == COMM_BROADCAST) {
        cute_device *emulator = cute_team_emulator(d->team);
        status = cute_device_download(emulator, parts, calls[first->peer]->from, bytes, diag);
        for (int r = 0; status == CUTE_OK && r < size; r++)
            status = cute_device_upload(emulator, calls[r]->to, parts, bytes, diag);
    } else if (status == CUTE_OK) {
        status = sum_parts(d, calls, parts, sum, diag);
    }
    free(parts);
    free(sum);
    return status;
}

/* ---- operations ---- */

static cute_status run_collective(void *context, const void *const *contexts, cute_diag *diag)
{
    dist_inside *d = context;
    const comm_call *calls[TEAM_MOST];
    for (int r = 0; r < cute_team_size(d->team); r++) {
        calls[r] = contexts[r];
        if (calls[r]->kind != calls[0]->kind || calls[r]->type != calls[0]->type ||
            calls[r]->count != calls[0]->count)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "rank %d calls %s of %lld elements: expected %s of %lld, as rank 0", r,
                             comm_kind_name(calls[r]->kind), (long long)calls[r]->count,
                             comm_kind_name(calls[0]->kind), (long long)calls[0]->count);
    }
    if (!calls[0]->count) return CUTE_OK;
    bool kernel = gemm_source_collective(calls[0]->kind) &&
                  (calls[0]->kind == COMM_ALL_GATHER || is_summed(calls[0]->type));
    return kernel ? run_kernel(d, calls, diag) : run_on_host(d, calls, diag);
}

static cute_status inside_start(cute_comm *c, const comm_call *call, cute_stream *stream, cute_diag *diag)
{
    dist_inside *d = as_inside(c)->all;
    switch (call->kind) {
    case COMM_PUT:
        if (call->count)
            CUTE_TRY(c->device->ops->copy(
                c->device, stream, cute_comm_peer(c, call->window, call->peer) + (cute_address)call->offset,
                call->from, (size_t)(call->count * call->type->bytes), diag));
        return cute_team_signal(d->team, c->rank, stream, call->peer, diag);
    case COMM_WAIT:
        return cute_team_await(d->team, c->rank, stream, call->peer, call->signals ? call->signals : 1, diag);
    case COMM_ALL_GATHER:
    case COMM_ALL_REDUCE:
    case COMM_REDUCE_SCATTER:
    case COMM_BROADCAST:
        return cute_team_meet(d->team, c->rank, stream, comm_kind_name(call->kind), run_collective, d, call,
                              sizeof *call, diag);
    default:
        return cute_fail(diag, CUTE_INVALID, NULL, "ranks of one process have no %s",
                         comm_kind_name(call->kind));
    }
}

/* The ranks open their windows one after the other; each tells the others its address. */
static cute_status inside_window(cute_comm *c, size_t bytes, cute_address *memory, int *window,
                                 cute_diag *diag)
{
    dist_inside *d = as_inside(c)->all;
    int at = c->shared_count;
    if (at == COMM_WINDOWS)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected at most %d windows", COMM_WINDOWS);
    CUTE_TRY(cute_device_alloc(c->device, bytes, memory, diag));
    for (int r = 0; r < c->size; r++) {
        comm_window *w = &d->ranks[r].base.shared[at];
        if (!w->memories) w->memories = calloc((size_t)c->size, sizeof *w->memories);
        if (!w->memories) return cute_fail_memory(diag);
        w->bytes = bytes;
        w->memories[c->rank] = *memory;
    }
    c->shared_count++;
    *window = at;
    return cute_device_fill(c->device, *memory, 0, bytes, diag);
}

static cute_status inside_sync(cute_comm *c, cute_diag *diag)
{
    return cute_team_run(as_inside(c)->all->team, diag);
}

static cute_status inside_await(cute_comm *c, cute_address counter, uint32_t value, int peer,
                                cute_stream *stream, cute_diag *diag)
{
    return cute_team_await_count(as_inside(c)->all->team, c->rank, stream, counter, value, peer, diag);
}

static void inside_close(cute_comm *c)
{
    (void)c; /* with the others, by dist_inside_close */
}

static const cute_comm_ops inside_ops = {.close = inside_close,
                                         .window = inside_window,
                                         .start = inside_start,
                                         .sync = inside_sync,
                                         .await = inside_await};

/* ---- opening ---- */

static cute_status open_memory(dist_inside *d, cute_diag *diag)
{
    int size = cute_team_size(d->team);
    size_t table = (size_t)(TABLES * size) * sizeof(cute_address),
           flags = (size_t)(2 * BLOCKS_MOST * size) * sizeof(uint32_t);
    for (int r = 0; r < size; r++) {
        cute_device *device = cute_team_device(d->team, r);
        CUTE_TRY(cute_device_alloc(device, table, &d->tables[r], diag));
        CUTE_TRY(cute_device_alloc(device, flags, &d->flags[r], diag));
        CUTE_TRY(cute_emulator_describe_buffer(device, d->tables[r], "addresses", table, true, diag));
        CUTE_TRY(cute_emulator_describe_buffer(device, d->flags[r], "flags", flags, true, diag));
        CUTE_TRY(cute_device_fill(device, d->flags[r], 0, flags, diag));
    }
    return cute_team_run(d->team, diag);
}

cute_status dist_inside_open(cute_team *team, const char *arch, dist_inside **out, cute_diag *diag)
{
    size_t size = (size_t)cute_team_size(team);
    *out = NULL;
    dist_inside *d = calloc(1, sizeof *d);
    if (!d || !(d->arena = cute_arena_create())) {
        free(d);
        return cute_fail_memory(diag);
    }
    d->team = team;
    d->arch = arch;
    d->ranks = cute_arena_array(d->arena, size, sizeof *d->ranks);
    d->tables = cute_arena_array(d->arena, size, sizeof *d->tables);
    d->flags = cute_arena_array(d->arena, size, sizeof *d->flags);
    cute_status status = d->ranks && d->tables && d->flags ? CUTE_OK : cute_fail_memory(diag);
    for (size_t r = 0; status == CUTE_OK && r < size; r++) {
        d->ranks[r] = (inside_comm){.base = {.ops = &inside_ops,
                                             .device = cute_team_device(team, (int)r),
                                             .rank = (int)r,
                                             .size = (int)size,
                                             .puts = true,
                                             .reaches = true,
                                             .own_windows = true,
                                             .name = "kernels of kernels/ranks"},
                                    .all = d};
    }
    if (status == CUTE_OK) status = open_memory(d, diag);
    if (status == CUTE_OK)
        *out = d;
    else
        dist_inside_close(d);
    return status;
}

cute_comm *dist_inside_comm(dist_inside *d, int rank)
{
    return &d->ranks[rank].base;
}

void dist_inside_close(dist_inside *d)
{
    if (!d) return;
    for (int r = 0; d->ranks && r < cute_team_size(d->team); r++) cute_comm_close(&d->ranks[r].base);
    for (const inside_kernel *k = d->kernels; k; k = k->next) {
        if (k->module) cute_device_unload(cute_team_emulator(d->team), k->module, NULL);
        cute_module_close(k->compiled);
    }
    cute_arena_destroy(d->arena);
    free(d);
}
