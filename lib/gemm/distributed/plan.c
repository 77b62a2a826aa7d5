/* cute_gemm plans of one rank, on the caller's communicator. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/gemm/distributed/distributed.h"

enum { NODE = 8, WORKSPACE_ALIGN = 256, ALIGN = 16 };

struct gemm_ranks {
    cute_arena *arena;
    cute_device *device;
    dist_problem problem;
    dist_choice choice;
    cute_comm *comm;
    gemm_dist *dist;
    size_t parts, sums; /* bytes of partial and of finished sums, the first parts of the workspace */
};

static cute_status read_split(const cute_gemm_options *o, const char **split, const char **collective,
                              cute_diag *diag)
{
    static const char *const splits[] = {NULL, "m", "n", "k"};
    static const char *const collectives[] = {NULL, "all_gather", "all_reduce", "reduce_scatter"};
    if (o->split <= CUTE_GEMM_WHOLE || o->split > CUTE_GEMM_SPLIT_K || o->collective < CUTE_GEMM_USUAL ||
        o->collective > CUTE_GEMM_REDUCE_SCATTER)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "a communicator requires a split along m, n or k and a known collective");
    *split = splits[o->split];
    *collective = collectives[o->collective];
    return CUTE_OK;
}

static size_t aligned_bytes(const gemm_ranks *r, dist_buffer buffer)
{
    dist_matrix m = dist_matrix_of(&r->problem, buffer, r->problem.rank);
    return (dist_matrix_bytes(&m) + WORKSPACE_ALIGN - 1) / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
}

/* Parts of the sums and counters, which other ranks write. */
static cute_status open_window(gemm_ranks *r, cute_diag *diag)
{
    dist_windows windows = {.parts = -1};
    cute_address parts;
    CUTE_TRY(
        cute_comm_window(r->comm, (size_t)dist_window_of(&r->problem).bytes, &parts, &windows.parts, diag));
    gemm_dist_use(r->dist, &windows, NULL);
    return CUTE_OK;
}

static cute_status open_ranks(gemm_ranks *r, const cute_gemm_problem *problem, const cute_gemm_options *o,
                              cute_diag *diag)
{
    const char *split = NULL, *collective = NULL;
    cute_gemm_options local = *o;
    cute_model_network network = {.node = NODE};
    gemm_target target = {o->arch, o->multiprocessors};
    dist_overlap overlap;
    local.communicator = NULL;
    CUTE_TRY(read_split(o, &split, &collective, diag));
    CUTE_TRY(cute_comm_wrap(o->communicator, o->device, &r->comm, diag));
    CUTE_TRY(dist_problem_read(r->arena, problem, split, collective, cute_comm_rank(r->comm),
                               cute_comm_size(r->comm), &r->problem, diag));
    cute_model_links_of(atoi(o->arch + 3), &network.inside, &network.between);
    const dist_means means = {.reaches = cute_comm_reaches(r->comm), .foreign = true};
    CUTE_TRY(dist_overlap_read(&r->problem, o->overlap, &overlap, diag));
    CUTE_TRY(dist_choose(&r->problem, overlap, 0, means, &target, o->configuration, &network, r->arena,
                         &r->choice, diag));
    dist_choice_explain(&r->problem, &r->choice, diag);
    CUTE_TRY(gemm_dist_create(&r->problem, &r->choice.schedule, r->comm, &local, &r->dist, diag));
    if (r->choice.schedule.overlap == DIST_PEER) CUTE_TRY(open_window(r, diag));
    r->parts = aligned_bytes(r, DIST_P);
    r->sums = aligned_bytes(r, DIST_S);
    return CUTE_OK;
}

cute_status gemm_ranks_create(const cute_gemm_problem *problems, size_t count,
                              const cute_gemm_options *options, gemm_ranks **out, cute_diag *diag)
{
    *out = NULL;
    cute_gemm_problem problem = CUTE_GEMM_PROBLEM;
    if (count != 1 || options->module || options->source)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "a communicator requires one product, and neither a module nor a source");
    if (!options->device) return cute_fail(diag, CUTE_USAGE, NULL, "a communicator requires a device");
    CUTE_TRY(cute_struct_read(&problem, sizeof problem, problems, "cute_gemm_problem", diag));
    gemm_ranks *r = calloc(1, sizeof *r);
    if (!r || !(r->arena = cute_arena_create())) {
        free(r);
        return cute_fail_memory(diag);
    }
    r->device = options->device;
    cute_status status = open_ranks(r, &problem, options, diag);
    if (status == CUTE_OK)
        *out = r;
    else
        gemm_ranks_destroy(r);
    return status;
}

void gemm_ranks_destroy(gemm_ranks *r)
{
    if (!r) return;
    gemm_dist_destroy(r->dist);
    cute_comm_close(r->comm);
    cute_arena_destroy(r->arena);
    free(r);
}

const cute_gemm *gemm_ranks_first(const gemm_ranks *r)
{
    return gemm_dist_first(r->dist);
}

size_t gemm_ranks_workspace(const gemm_ranks *r)
{
    return r->parts + r->sums + gemm_dist_workspace(r->dist);
}

static cute_status set_buffer(const gemm_ranks *r, dist_buffer buffer, cute_address address,
                              cute_address *out, cute_diag *diag)
{
    dist_matrix m = dist_matrix_of(&r->problem, buffer, r->problem.rank);
    *out = address;
    if (!m.elements || (address && address % ALIGN == 0)) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "expected an address of %s that is a multiple of 16, got 0x%llx",
                     dist_buffer_name(&r->problem, buffer), (unsigned long long)address);
}

static cute_address address_of(const cute_gemm_operands *o, const char *name)
{
    for (size_t i = 0; i < o->named_count; i++)
        if (strcmp(o->named[i].name, name) == 0) return o->named[i].address;
    return strcmp(name, "D") == 0      ? o->d
           : strcmp(name, "C") == 0    ? o->c
           : strcmp(name, "bias") == 0 ? o->bias
                                       : 0;
}

static cute_status set_buffers(const gemm_ranks *r, const cute_gemm_operands *o, cute_address *out,
                               cute_diag *diag)
{
    dist_operand operand;
    CUTE_TRY(set_buffer(r, DIST_A, o->a, &out[DIST_A], diag));
    CUTE_TRY(set_buffer(r, DIST_B, o->b, &out[DIST_B], diag));
    for (int i = DIST_D; i < DIST_BUFFERS; i++)
        if (dist_operand_of(&r->problem, (dist_buffer)i, &operand))
            CUTE_TRY(set_buffer(r, (dist_buffer)i, address_of(o, operand.name), &out[i], diag));
    if (gemm_ranks_workspace(r) && (!o->workspace || o->workspace % WORKSPACE_ALIGN != 0))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected an address of the workspace that is a multiple of %d, got 0x%llx",
                         WORKSPACE_ALIGN, (unsigned long long)o->workspace);
    out[DIST_P] = o->workspace;
    out[DIST_S] = o->workspace + r->parts;
    return CUTE_OK;
}

cute_status gemm_ranks_run(gemm_ranks *r, const cute_gemm_operands *operands, cute_diag *diag)
{
    cute_gemm_operands o = {0};
    cute_address buffers[DIST_BUFFERS] = {0};
    CUTE_TRY(cute_struct_read(&o, sizeof o, operands, "cute_gemm_operands", diag));
    CUTE_TRY(set_buffers(r, &o, buffers, diag));
    if (r->parts && !dist_shard_of(&r->problem, r->problem.rank).k) /* this rank adds nothing */
        CUTE_TRY(o.stream ? cute_stream_fill(o.stream, o.workspace, 0, r->parts, diag)
                          : cute_device_fill(r->device, o.workspace, 0, r->parts, diag));
    return gemm_dist_run(r->dist, buffers, o.workspace + r->parts + r->sums, o.stream, DIST_ALL, diag);
}

static bool find_buffer(const dist_problem *p, const char *name, dist_buffer *out)
{
    for (int i = 0; name && i < DIST_BUFFERS; i++) {
        const char *own = dist_buffer_name(p, (dist_buffer)i);
        if (i == DIST_P || i == DIST_S || !own || strcmp(own, name) != 0) continue;
        *out = (dist_buffer)i;
        return true;
    }
    return false;
}

cute_status gemm_ranks_part(const gemm_ranks *r, const char *name, cute_gemm_part *out, cute_diag *diag)
{
    const dist_problem *p = &r->problem;
    dist_buffer buffer;
    dist_operand o = {.result = false};
    if (!find_buffer(p, name, &buffer))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected the part of A, B, D or an operand of the epilogue, got '%s'",
                         name ? name : "");
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    dist_shard s = dist_shard_of(p, p->rank);
    dist_operand_of(p, buffer, &o);
    bool gathered = (buffer == DIST_A && p->split == DIST_N) ||
                    (o.result && o.shape.rows && p->split == DIST_M && !p->finishes);
    int64_t first = gathered ? s.chunk * p->rank : 0, left = p->whole.m - first;
    cute_gemm_part part = {.size = sizeof part,
                           .first_row = m.first_row,
                           .first_column = m.first_column,
                           .rows = m.rows,
                           .columns = m.columns,
                           .ld = m.row > m.column ? m.row : m.column,
                           .elements = m.elements,
                           .own_row = first,
                           .own_rows = !gathered        ? m.rows
                                       : left < 0       ? 0
                                       : left < s.chunk ? left
                                                        : s.chunk,
                           .stride = m.stride,
                           .block = m.block};
    return cute_struct_write(out, &part, sizeof part, "cute_gemm_part", diag);
}
