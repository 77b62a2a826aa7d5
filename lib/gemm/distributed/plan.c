/* cute_gemm plans of one rank, on the caller's communicator. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/gemm/distributed/distributed.h"

enum { NODE = 8, WORKSPACE_ALIGN = 256 };

struct gemm_ranks {
    cute_arena *arena;
    cute_device *device;
    dist_problem problem;
    dist_choice choice;
    cute_comm *comm;
    gemm_dist *dist;
    size_t partial; /* bytes of partial sums, the first part of the workspace */
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

static cute_status open_ranks(gemm_ranks *r, const cute_gemm_problem *problem, const cute_gemm_options *o,
                              cute_diag *diag)
{
    const char *split = NULL, *collective = NULL;
    cute_gemm_options local = *o;
    cute_model_network network = {.node = NODE};
    gemm_target target = {o->arch, o->multiprocessors};
    local.communicator = NULL;
    CUTE_TRY(read_split(o, &split, &collective, diag));
    CUTE_TRY(cute_comm_wrap(o->communicator, o->device, &r->comm, diag));
    CUTE_TRY(dist_problem_read(problem, split, collective, cute_comm_rank(r->comm), cute_comm_size(r->comm),
                               &r->problem, diag));
    cute_model_links_of(atoi(o->arch + 3), &network.inside, &network.between);
    CUTE_TRY(dist_choose(&r->problem, DIST_AUTO, 0, false, &target, o->configuration, &network, r->arena,
                         &r->choice, diag));
    dist_choice_explain(&r->problem, &r->choice, diag);
    CUTE_TRY(gemm_dist_create(&r->problem, &r->choice.schedule, r->comm, &local, &r->dist, diag));
    dist_matrix partial = dist_matrix_of(&r->problem, DIST_P, r->problem.rank);
    size_t bytes = (size_t)(partial.elements * cute_dtype_get(partial.dtype)->bytes);
    r->partial = (bytes + WORKSPACE_ALIGN - 1) / WORKSPACE_ALIGN * WORKSPACE_ALIGN;
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
    return r->partial + gemm_dist_workspace(r->dist);
}

cute_status gemm_ranks_run(gemm_ranks *r, const cute_gemm_operands *operands, cute_diag *diag)
{
    cute_gemm_operands o = {0};
    CUTE_TRY(cute_struct_read(&o, sizeof o, operands, "cute_gemm_operands", diag));
    const cute_address buffers[DIST_BUFFERS] = {
        [DIST_A] = o.a, [DIST_B] = o.b, [DIST_D] = o.d, [DIST_P] = o.workspace};
    static const char *const names[] = {"A", "B", "D", "the workspace"};
    for (int i = 0; i < DIST_BUFFERS; i++) {
        bool needed = i == DIST_P ? gemm_ranks_workspace(r) > 0
                                  : dist_matrix_of(&r->problem, (dist_buffer)i, r->problem.rank).elements > 0;
        if (needed && (!buffers[i] || buffers[i] % 16 != 0))
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected an address of %s that is a multiple of 16, got 0x%llx", names[i],
                             (unsigned long long)buffers[i]);
    }
    if (r->partial && !dist_shard_of(&r->problem, r->problem.rank).k) /* this rank adds nothing */
        CUTE_TRY(o.stream ? cute_stream_fill(o.stream, o.workspace, 0, r->partial, diag)
                          : cute_device_fill(r->device, o.workspace, 0, r->partial, diag));
    return gemm_dist_run(r->dist, buffers, o.workspace + r->partial, o.stream, DIST_ALL, diag);
}

cute_status gemm_ranks_part(const gemm_ranks *r, const char *name, cute_gemm_part *out, cute_diag *diag)
{
    static const char names[] = "ABD";
    const char *found = name && strlen(name) == 1 ? strchr(names, *name) : NULL;
    if (!found)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected the part of A, B or D, got '%s'",
                         name ? name : "");
    const dist_problem *p = &r->problem;
    dist_buffer buffer = (dist_buffer)(found - names);
    dist_matrix m = dist_matrix_of(p, buffer, p->rank);
    dist_shard s = dist_shard_of(p, p->rank);
    bool gathered = (buffer == DIST_A && p->split == DIST_N) || (buffer == DIST_D && p->split == DIST_M);
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
                                                        : s.chunk};
    return cute_struct_write(out, &part, sizeof part, "cute_gemm_part", diag);
}
