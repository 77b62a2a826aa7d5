/* Which part of a product a rank computes, and its buffers. */
#include <string.h>

#include "lib/gemm/distributed/distributed.h"

static const char *const split_names[] = {"m", "n", "k"};
static const char *const overlap_names[] = {"auto", "sequence", "signal", "rotate"};

/* What each split does with each collective, the default one first, and the schedules other than the sequence. */
static const struct {
    dist_split split;
    comm_kind collective;
    dist_overlap overlap;
} ways[] = {
    {DIST_M, COMM_ALL_GATHER, DIST_SIGNAL},
    {DIST_N, COMM_ALL_GATHER, DIST_ROTATE},
    {DIST_K, COMM_ALL_REDUCE, DIST_SIGNAL},
    {DIST_K, COMM_REDUCE_SCATTER, DIST_SIGNAL},
};
enum { WAYS = sizeof ways / sizeof *ways, UNIT = 16 /* bytes */ };

const char *dist_split_name(dist_split split)
{
    return split_names[split];
}

const char *dist_overlap_name(dist_overlap overlap)
{
    return overlap_names[overlap];
}

static cute_status read_way(const char *split, const char *collective, dist_problem *out, cute_diag *diag)
{
    char given[32];
    size_t length = collective ? strlen(collective) : 0;
    int found = -1;
    for (int i = 0; i < 3; i++)
        if (strcmp(split, split_names[i]) == 0) found = i;
    if (found < 0) return cute_fail(diag, CUTE_USAGE, NULL, "--split expects m, n or k, got '%s'", split);
    out->split = (dist_split)found;
    /* all-gather is all_gather */
    if (length < sizeof given)
        for (size_t i = 0; i <= length && collective; i++)
            given[i] = collective[i] == '-' ? '_' : collective[i];
    for (int i = 0; i < WAYS; i++) {
        if (ways[i].split != out->split) continue;
        if (collective && (length >= sizeof given || strcmp(given, comm_kind_name(ways[i].collective)) != 0))
            continue;
        out->collective = ways[i].collective;
        return CUTE_OK;
    }
    return cute_fail(diag, CUTE_USAGE, NULL, "--split=%s expects --collective=%s, got '%s'", split,
                     out->split == DIST_K ? "all-reduce or reduce-scatter" : "all-gather", collective);
}

/* The first part of the product that several ranks do not support. */
static const char *unsupported(const dist_problem *p)
{
    const cute_gemm_problem *g = &p->whole;
    return g->batch > 1                                         ? "--batch"
           : g->beta != 0                                       ? "--beta"
           : g->bias                                            ? "--bias"
           : g->epilogue                                        ? "--epilogue"
           : g->ld_a || g->ld_b || g->ld_c || g->ld_d           ? "a leading dimension"
           : p->split == DIST_K && g->activation                ? "an activation with --split=k"
           : p->split == DIST_N && g->order_a != CUTE_GEMM_ROWS ? "A by columns with --split=n"
           : p->split != DIST_N && g->order_d != CUTE_GEMM_ROWS ? "D by columns without --split=n"
                                                                : NULL;
}

cute_status dist_problem_read(const cute_gemm_problem *whole, const char *split, const char *collective,
                              int rank, int size, dist_problem *out, cute_diag *diag)
{
    *out = (dist_problem){.whole = *whole, .rank = rank, .size = size};
    CUTE_TRY(read_way(split, collective, out, diag));
    CUTE_TRY(gemm_problem_read(whole, -1, &out->read, diag));
    const char *other = unsupported(out);
    if (other) return cute_fail(diag, CUTE_USAGE, NULL, "products of several ranks do not support %s", other);
    return CUTE_OK;
}

cute_status dist_overlap_read(const dist_problem *p, const char *name, dist_overlap *out, cute_diag *diag)
{
    dist_overlap own = DIST_AUTO;
    *out = DIST_AUTO;
    if (!name) return CUTE_OK;
    for (int i = 0; i < WAYS; i++)
        if (ways[i].split == p->split && ways[i].collective == p->collective) own = ways[i].overlap;
    for (int i = DIST_AUTO; i <= DIST_ROTATE; i++)
        if (strcmp(name, overlap_names[i]) == 0 && (i <= DIST_SEQUENCE || i == (int)own)) {
            *out = (dist_overlap)i;
            return CUTE_OK;
        }
    return cute_fail(diag, CUTE_USAGE, NULL,
                     "--overlap expects auto, sequence or %s with --split=%s, got '%s'", overlap_names[own],
                     split_names[p->split], name);
}

/* ---- parts ---- */

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The begin of a part of `extent`; parts differ by at most one unit. */
static int64_t begin_of(int64_t extent, int64_t unit, int rank, int size)
{
    int64_t units = extent / unit + (extent % unit != 0);
    int64_t begin = units / size * rank + units % size * rank / size;
    return begin < units ? begin * unit : extent;
}

int64_t dist_unit(const dist_problem *p)
{
    int64_t in = cute_dtype_get(p->read.in)->bytes, out = cute_dtype_get(p->read.out)->bytes;
    return UNIT / smaller(in, out);
}

dist_shard dist_shard_of(const dist_problem *p, int rank)
{
    const cute_gemm_problem *g = &p->whole;
    int64_t unit = dist_unit(p), units = g->m / unit + (g->m % unit != 0);
    dist_shard s = {.m = g->m, .n = g->n, .k = g->k, .chunk = g->m};
    if (p->size > 1) s.chunk = (units / p->size + (units % p->size != 0)) * unit;
    switch (p->split) {
    case DIST_M:
        s.first_m = smaller(s.chunk * rank, g->m);
        s.m = smaller(s.chunk, g->m - s.first_m);
        break;
    case DIST_N:
        s.first_n = begin_of(g->n, unit, rank, p->size);
        s.n = begin_of(g->n, unit, rank + 1, p->size) - s.first_n;
        break;
    case DIST_K:
        s.first_k = begin_of(g->k, unit, rank, p->size);
        s.k = begin_of(g->k, unit, rank + 1, p->size) - s.first_k;
        break;
    }
    return s;
}

/* A packed matrix with room for `rows` rows or more. */
static dist_matrix make_matrix(int64_t rows, int64_t columns, int64_t room, cute_gemm_order order,
                               cute_dtype dtype)
{
    bool by_rows = order == CUTE_GEMM_ROWS;
    return (dist_matrix){.rows = rows,
                         .columns = columns,
                         .row = by_rows ? columns : 1,
                         .column = by_rows ? 1 : rows,
                         .elements = (room > rows ? room : rows) * columns,
                         .dtype = dtype};
}

dist_buffer dist_result_of(const dist_problem *p)
{
    return p->split == DIST_K && p->size > 1 ? DIST_P : DIST_D;
}

dist_matrix dist_matrix_of(const dist_problem *p, dist_buffer buffer, int rank)
{
    const cute_gemm_problem *g = &p->whole;
    dist_shard s = dist_shard_of(p, rank);
    int64_t room = s.chunk * p->size;
    dist_matrix m = {0};
    switch (buffer) {
    case DIST_A:
        m = make_matrix(s.m, s.k, p->split == DIST_N ? room : 0, g->order_a, p->read.in);
        m.first_row = s.first_m;
        m.first_column = s.first_k;
        m.window = p->split == DIST_N && p->size > 1;
        if (m.window) m.elements++; /* for a barrier */
        break;
    case DIST_B:
        m = make_matrix(s.k, s.n, 0, g->order_b, p->read.in);
        m.first_row = s.first_k;
        m.first_column = s.first_n;
        break;
    case DIST_D:
        m = make_matrix(p->split == DIST_M ? g->m : s.m, s.n, p->split == DIST_M ? room : 0, g->order_d,
                        p->read.out);
        m.first_column = s.first_n;
        if (p->split == DIST_K && p->collective == COMM_REDUCE_SCATTER) {
            m.first_row = smaller(s.chunk * rank, g->m);
            m.rows = smaller(s.chunk, g->m - m.first_row);
            m.elements = s.chunk * s.n;
        }
        break;
    case DIST_P:
        if (p->split == DIST_K && p->size > 1) m = make_matrix(g->m, s.n, room, CUTE_GEMM_ROWS, p->read.out);
        break;
    case DIST_BUFFERS: break;
    }
    return m;
}
