/* Which part of a product a rank computes, and its buffers. */
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/gemm/distributed/distributed.h"

static const char *const split_names[] = {"m", "n", "k"};
static const char *const overlap_names[] = {"auto", "sequence", "signal", "parts", "rotate", "peer"};

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

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

bool dist_scatters(const dist_problem *p)
{
    return p->split == DIST_K && p->collective == COMM_REDUCE_SCATTER;
}

/* The first part of the product that several ranks do not support. */
static const char *unsupported(const cute_gemm_problem *g)
{
    return g->ld_a || g->ld_b || g->ld_c || g->ld_d                   ? "a leading dimension"
           : g->stride_a || g->stride_b || g->stride_c || g->stride_d ? "a batch stride"
                                                                      : NULL;
}

/* ---- epilogues ---- */

/* Of an expression: the elements that a value at (i,j) needs in addition to (i,j). */
typedef struct epilogue_reach {
    const epilogue_node *down, *across; /* reductions over rows, over columns; NULL: none */
    bool columns_first;                 /* an operand or result whose columns are contiguous */
    bool partial;                       /* a sum over a rank's own rows, which a collective adds */
    int64_t unit;                       /* columns of a group, of which parts are multiples */
    int64_t bytes;                      /* of the narrowest element */
} epilogue_reach;

static int64_t common_multiple(int64_t a, int64_t b)
{
    return a / (int64_t)cute_gcd((uint64_t)a, (uint64_t)b) * b;
}

static const epilogue_step *step_of(const epilogue_tree *t, const epilogue_node *reduction)
{
    for (int i = 0; i < t->step_count; i++)
        if (t->steps[i].node == reduction && t->steps[i].moment == EPILOGUE_OF_RESULT &&
            t->steps[i].collective == EPILOGUE_ALL_REDUCE)
            return &t->steps[i];
    return NULL;
}

static epilogue_reach reach_of(const epilogue_tree *t)
{
    epilogue_reach r = {.unit = 1, .bytes = 16};
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        int64_t group = n->op == EPILOGUE_SLICE                ? n->step
                        : n->op == EPILOGUE_REDUCE && n->group ? n->group
                                                               : 1;
        bool combined = step_of(t, n) != NULL; /* each rank reduces its own rows */
        r.partial = r.partial || combined;
        if (n->op == EPILOGUE_REDUCE && !n->group && n->axis != 1 && !combined) r.down = n;
        if (n->op == EPILOGUE_REDUCE && !n->group && n->axis != 0) r.across = n;
        r.columns_first = r.columns_first || (n->op == EPILOGUE_LOAD && n->turned);
        if (n->count && n->args[0]->shape.mul)
            r.unit = common_multiple(r.unit, group * n->args[0]->shape.div);
        if (n->op == EPILOGUE_LOAD && cute_dtype_get(n->dtype)->bytes < r.bytes)
            r.bytes = cute_dtype_get(n->dtype)->bytes;
    }
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        r.columns_first = r.columns_first || o->turned;
        /* rows of results begin at multiples of 16 bytes, too */
        if (o->node->shape.mul) r.unit = common_multiple(r.unit, o->node->shape.div);
        if (cute_dtype_get(o->dtype)->bytes < r.bytes) r.bytes = cute_dtype_get(o->dtype)->bytes;
    }
    return r;
}

/* The operands of an expression in the order of its nodes, then its results. */
static bool expression_operand(const epilogue_tree *t, dist_buffer buffer, dist_operand *out)
{
    int number = (int)buffer - DIST_OPERANDS, at = 0;
    for (int i = 0; buffer != DIST_D && i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        if (n->op != EPILOGUE_LOAD || at++ != number) continue;
        *out = (dist_operand){n->name, n->shape, n->dtype, false, n->turned, n->batched, NULL};
        return true;
    }
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        if (buffer == DIST_D ? !o->main : o->main || at++ != number) continue;
        *out = (dist_operand){o->name, o->node->shape, o->dtype, true, o->turned, true, o};
        return true;
    }
    return false;
}

static cute_status fail_expression(const dist_problem *p, const epilogue_node *n, const char *text,
                                   cute_diag *diag)
{
    cute_place place = epilogue_place(p->read.tree, n->offset, n->length);
    cute_report(diag, CUTE_ERROR, &place, "%s", text);
    return CUTE_INVALID;
}

/* Whether the split has this collective between devices; one of the sums selects it unless the command line does (chosen). */
static cute_status read_step(dist_problem *p, const epilogue_step *s, bool chosen, cute_diag *diag)
{
    cute_place place = epilogue_place(p->read.tree, s->offset, s->length);
    comm_kind kind = s->collective == EPILOGUE_REDUCE_SCATTER ? COMM_REDUCE_SCATTER : COMM_ALL_REDUCE;
    bool rows = s->node->shape.rows, columns = s->node->shape.mul != 0, divided;
    switch (s->moment) {
    case EPILOGUE_OF_SUMS:
        if (p->split == DIST_K && !chosen) p->collective = kind;
        if (p->split == DIST_K && p->collective == kind) return CUTE_OK;
        cute_report(diag, CUTE_ERROR, &place, "%s of the sums requires --split=k and --collective=%s",
                    epilogue_collective_name(s->collective),
                    kind == COMM_ALL_REDUCE ? "all-reduce" : "reduce-scatter");
        return CUTE_INVALID;
    case EPILOGUE_OF_RESULT:
        if (p->split == DIST_M) return CUTE_OK;
        cute_report(diag, CUTE_ERROR, &place, "%s of a result requires --split=m",
                    epilogue_collective_name(s->collective));
        return CUTE_INVALID;
    case EPILOGUE_OF_OPERAND:
        divided = (rows && (p->split == DIST_M || dist_scatters(p))) || (columns && p->split == DIST_N);
        if (!divided) return CUTE_OK;
        cute_report(diag, CUTE_ERROR, &place,
                    "'%s' is divided among the ranks: expected an operand that all have, to broadcast",
                    s->name);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

static cute_status read_steps(dist_problem *p, bool chosen, cute_diag *diag)
{
    const epilogue_tree *t = p->read.tree;
    for (int i = 0; p->size > 1 && i < t->step_count; i++) CUTE_TRY(read_step(p, &t->steps[i], chosen, diag));
    return CUTE_OK;
}

cute_status dist_run_passes(epilogue_tree *t, cute_diag *diag)
{
    return epilogue_run_passes(t, "PassShapeTypePropagation,PassFixElementD,PassCustomCommunication", diag);
}

dist_buffer dist_step_buffer(const dist_problem *p, const epilogue_step *s)
{
    dist_operand o;
    for (int i = DIST_D; i < DIST_BUFFERS; i++)
        if (dist_operand_of(p, (dist_buffer)i, &o) && strcmp(o.name, s->name) == 0) return (dist_buffer)i;
    return DIST_BUFFERS;
}

/* The levels within a warp become groups of columns. Those of a tile depend on the tile, which ranks need not share. */
static cute_status read_expression(cute_arena *arena, dist_problem *p, bool chosen, epilogue_reach *reach,
                                   cute_diag *diag)
{
    CUTE_TRY(gemm_expression_read(arena, &p->read, diag));
    epilogue_tree *t = p->read.tree;
    for (int i = 0; p->size > 1 && i < t->count; i++)
        if (t->nodes[i]->op == EPILOGUE_COMMUNICATE &&
            (t->nodes[i]->level == EPILOGUE_BLOCK || t->nodes[i]->level == EPILOGUE_CLUSTER))
            return fail_expression(
                p, t->nodes[i],
                "a collective of a tile or cluster depends on each rank's tile: expected the level "
                "warp or device with several ranks",
                diag);
    t->problem = gemm_expression_of_sums(&p->read);
    CUTE_TRY(dist_run_passes(t, diag));
    CUTE_TRY(read_steps(p, chosen, diag));
    *reach = reach_of(t);
    dist_operand unused;
    if (expression_operand(t, DIST_BUFFERS, &unused))
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected at most %d operands and results of an epilogue with several ranks, got more",
            DIST_OPERANDS_MOST);
    if (p->size == 1) return CUTE_OK;
    if (p->split == DIST_N && reach->across)
        return fail_expression(
            p, reach->across,
            "with --split=n a rank has some columns of each row: expected no reduction along rows, or "
            "--split=m or k",
            diag);
    if (dist_scatters(p) && reach->down)
        return fail_expression(
            p, reach->down,
            "with reduce-scatter a rank has some rows of each column: expected no reduction over rows, "
            "or --collective=all-reduce",
            diag);
    return CUTE_OK;
}

/* Partial sums have D's type. Before an epilogue, integers are summed in f32, unless D has them, and 8-bit floats, whose range is that of
 * results, in bf16. */
static cute_dtype sums_type(const dist_problem *p)
{
    if (!p->finishes || p->read.out == CUTE_I32) return p->read.out;
    if (p->read.in == CUTE_I8) return CUTE_F32;
    return cute_dtype_get(p->read.out)->bytes == 1 ? CUTE_BF16 : p->read.out;
}

static void plan_epilogue(dist_problem *p, const epilogue_reach *reach)
{
    const cute_gemm_problem *g = &p->whole;
    bool several = p->size > 1, by_columns = g->order_d != CUTE_GEMM_ROWS;
    if (p->read.tree)
        p->finishes =
            several && (p->split == DIST_K || (p->split == DIST_M && (reach->down || reach->columns_first)));
    else if (p->split == DIST_K)
        p->finishes = several && (g->beta != 0 || g->bias || g->activation || by_columns);
    else
        p->finishes = several && p->split == DIST_M && by_columns;
    p->whole_rows = !p->finishes && p->read.tree && (reach->down || reach->columns_first || reach->partial);
    p->sums = sums_type(p);
    int64_t least = smaller(cute_dtype_get(p->read.in)->bytes, cute_dtype_get(p->sums)->bytes);
    least = smaller(smaller(least, reach->bytes), cute_dtype_get(p->read.out)->bytes);
    p->unit_m = p->unit_k = UNIT / least;
    p->unit_n = common_multiple(p->unit_m, reach->unit);
}

cute_status dist_problem_read(cute_arena *arena, const cute_gemm_problem *whole, const char *split,
                              const char *collective, int rank, int size, dist_problem *out, cute_diag *diag)
{
    epilogue_reach reach = {.unit = 1, .bytes = 16};
    *out = (dist_problem){.whole = *whole, .rank = rank, .size = size};
    CUTE_TRY(read_way(split, collective, out, diag));
    CUTE_TRY(gemm_problem_read(whole, -1, &out->read, diag));
    const char *other = unsupported(whole);
    if (other) return cute_fail(diag, CUTE_USAGE, NULL, "products of several ranks do not support %s", other);
    if (whole->epilogue) CUTE_TRY(read_expression(arena, out, collective != NULL, &reach, diag));
    out->whole.batch = out->read.given.batch;
    out->whole.type_d = out->read.given.type_d;
    plan_epilogue(out, &reach);
    return CUTE_OK;
}

void dist_problem_explain(const dist_problem *p, cute_diag *diag)
{
    if (!p->finishes) return;
    cute_report(diag, CUTE_REMARK, NULL, "the epilogue is a step on sums of %s behind the %s: %s",
                cute_dtype_get(p->sums)->name, comm_kind_name(p->collective),
                p->split == DIST_K ? "a rank's product has a part of each sum"
                : p->read.tree     ? "it reads or writes rows of other ranks"
                                   : "rows are gathered, and D is by columns");
}

cute_status dist_overlap_read(const dist_problem *p, const char *name, dist_overlap *out, cute_diag *diag)
{
    dist_overlap own = DIST_AUTO;
    *out = DIST_AUTO;
    if (!name || strcmp(name, DIST_EACH) == 0) return CUTE_OK;
    for (int i = 0; i < WAYS; i++)
        if (ways[i].split == p->split && ways[i].collective == p->collective) own = ways[i].overlap;
    bool rows = own == DIST_SIGNAL;
    for (int i = DIST_AUTO; i <= DIST_PEER; i++) {
        bool known = i <= DIST_SEQUENCE || i == (int)own || ((i == DIST_PARTS || i == DIST_PEER) && rows);
        if (!known || strcmp(name, overlap_names[i]) != 0) continue;
        *out = (dist_overlap)i;
        if (i <= DIST_SEQUENCE || !p->whole_rows) return CUTE_OK;
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--overlap=%s computes rows in parts: expected auto or sequence with an "
                         "epilogue that reduces "
                         "over rows or has contiguous columns",
                         name);
    }
    return cute_fail(diag, CUTE_USAGE, NULL,
                     "--overlap expects auto, each, sequence%s with --split=%s, got '%s'",
                     rows ? ", signal, parts or peer" : " or rotate", split_names[p->split], name);
}

/* ---- parts ---- */

/* The begin of a part of `extent`; parts differ by at most one unit. */
static int64_t begin_of(int64_t extent, int64_t unit, int rank, int size)
{
    int64_t units = extent / unit + (extent % unit != 0);
    int64_t begin = units / size * rank + units % size * rank / size;
    return begin < units ? begin * unit : extent;
}

dist_shard dist_shard_of(const dist_problem *p, int rank)
{
    const cute_gemm_problem *g = &p->whole;
    int64_t unit = p->unit_m, units = g->m / unit + (g->m % unit != 0);
    dist_shard s = {.m = g->m, .n = g->n, .k = g->k, .chunk = g->m};
    if (p->size > 1) s.chunk = (units / p->size + (units % p->size != 0)) * unit;
    switch (p->split) {
    case DIST_M:
        s.first_m = smaller(s.chunk * rank, g->m);
        s.m = smaller(s.chunk, g->m - s.first_m);
        break;
    case DIST_N:
        s.first_n = begin_of(g->n, p->unit_n, rank, p->size);
        s.n = begin_of(g->n, p->unit_n, rank + 1, p->size) - s.first_n;
        break;
    case DIST_K:
        s.first_k = begin_of(g->k, p->unit_k, rank, p->size);
        s.k = begin_of(g->k, p->unit_k, rank + 1, p->size) - s.first_k;
        break;
    }
    return s;
}

int64_t dist_rows_of(const dist_problem *p, int rank)
{
    int64_t chunk = dist_shard_of(p, rank).chunk, left = p->whole.m - rank * chunk;
    return left < 0 ? 0 : smaller(left, chunk);
}

dist_region dist_region_of(const dist_problem *p, int rank)
{
    dist_shard s = dist_shard_of(p, rank);
    dist_region r = {0, p->whole.m, s.first_n, s.n};
    if (dist_scatters(p)) {
        r.first_row = smaller(s.chunk * rank, p->whole.m);
        r.rows = smaller(s.chunk, p->whole.m - r.first_row);
    }
    if (p->split == DIST_M && !p->finishes) {
        r.first_row = s.first_m;
        r.rows = s.m;
    }
    return r;
}

/* ---- buffers ---- */

dist_buffer dist_result_of(const dist_problem *p)
{
    if (p->split == DIST_M && p->finishes) return DIST_S;
    return p->split == DIST_K && p->size > 1 ? DIST_P : DIST_D;
}

int64_t dist_launch_batch(const dist_problem *p)
{
    return p->read.tree && dist_result_of(p) == DIST_D ? 1 : p->whole.batch;
}

dist_buffer dist_sums_of(const dist_problem *p)
{
    return p->finishes ? DIST_S : DIST_D;
}

bool dist_operand_of(const dist_problem *p, dist_buffer buffer, dist_operand *out)
{
    const cute_gemm_problem *g = &p->whole;
    bool columns = g->order_d != CUTE_GEMM_ROWS;
    const epilogue_shape matrix = {true, 1, 1}, vector = {false, 1, 1};
    if (buffer != DIST_D && buffer < DIST_C) return false;
    if (p->read.tree)
        return (buffer == DIST_D || buffer >= DIST_OPERANDS) && expression_operand(p->read.tree, buffer, out);
    switch (buffer) {
    case DIST_D: *out = (dist_operand){"D", matrix, p->read.out, true, columns, true, NULL}; return true;
    case DIST_C:
        *out = (dist_operand){"C", matrix, p->read.out, false, columns, true, NULL};
        return g->beta != 0;
    case DIST_BIAS:
        *out = (dist_operand){"bias", vector, p->read.out, false, false, false, NULL};
        return g->bias;
    default: return false;
    }
}

const char *dist_buffer_name(const dist_problem *p, dist_buffer buffer)
{
    static const char *const names[] = {"A", "B", NULL, "partial sums", "sums"};
    dist_operand o;
    if (buffer != DIST_D && buffer <= DIST_S) return names[buffer];
    return dist_operand_of(p, buffer, &o) ? o.name : NULL;
}

/* Packed matrices with room for `room` rows each, or as many as they have. */
static dist_matrix make_matrix(const dist_problem *p, int64_t rows, int64_t columns, int64_t room,
                               bool by_columns, cute_dtype dtype)
{
    int64_t stride = (room > rows ? room : rows) * columns, items = p->read.given.batch;
    return (dist_matrix){.rows = rows,
                         .columns = columns,
                         .row = by_columns ? 1 : columns,
                         .column = by_columns ? rows : 1,
                         .items = items,
                         .stride = stride,
                         .elements = items * stride,
                         .dtype = dtype};
}

/* C, D, the bias, or an operand or result of an expression. Results whose rows are gathered have room for those of all ranks. */
static dist_matrix operand_matrix(const dist_problem *p, const dist_operand *o, int rank)
{
    dist_region r = dist_region_of(p, rank);
    dist_shard s = dist_shard_of(p, rank);
    bool gathered = o->result && p->split == DIST_M && !p->finishes;
    int64_t rows = !o->shape.rows ? 1 : gathered ? p->whole.m : r.rows;
    int64_t columns = o->shape.mul ? r.columns * o->shape.mul / o->shape.div : 1;
    int64_t room = !o->shape.rows || !o->result ? 0
                   : gathered                   ? s.chunk * p->size
                   : dist_scatters(p)           ? s.chunk
                                                : 0;
    dist_matrix m = make_matrix(p, rows, columns, room, o->columns, o->dtype);
    if (o->shape.rows && !gathered) m.first_row = r.first_row;
    if (o->shape.mul) m.first_column = r.first_column * o->shape.mul / o->shape.div;
    if (!o->batched) { /* all products of a batch have the same */
        m.items = 1;
        m.elements = m.stride;
    }
    return m;
}

dist_matrix dist_matrix_of(const dist_problem *p, dist_buffer buffer, int rank)
{
    const cute_gemm_problem *g = &p->whole;
    dist_shard s = dist_shard_of(p, rank);
    int64_t room = s.chunk * p->size;
    bool window = p->split == DIST_N && p->size > 1, columns = g->order_a != CUTE_GEMM_ROWS;
    dist_matrix m = {0};
    dist_operand o;
    switch (buffer) {
    case DIST_A:
        m = make_matrix(p, s.m, s.k, p->split == DIST_N ? room : 0, columns, p->read.in);
        m.first_row = s.first_m;
        m.first_column = s.first_k;
        m.window = window;
        if (window && columns) { /* each rank's rows are a matrix of their own */
            m.block = s.chunk;
            m.column = s.chunk;
        }
        if (window) m.elements++; /* for a barrier */
        return m;
    case DIST_B:
        m = make_matrix(p, s.k, s.n, 0, g->order_b != CUTE_GEMM_ROWS, p->read.in);
        m.first_row = s.first_k;
        m.first_column = s.first_n;
        return m;
    case DIST_P:
        return p->split == DIST_K && p->size > 1 ? make_matrix(p, g->m, s.n, room, false, p->sums) : m;
    case DIST_S:
        if (!p->finishes) return m;
        m = make_matrix(p, g->m, s.n, p->split == DIST_M ? room : 0, false, p->sums);
        if (dist_scatters(p)) m = make_matrix(p, dist_region_of(p, rank).rows, s.n, s.chunk, false, p->sums);
        return m;
    default: return dist_operand_of(p, buffer, &o) ? operand_matrix(p, &o, rank) : m;
    }
}

size_t dist_matrix_bytes(const dist_matrix *m)
{
    return (size_t)(m->elements * cute_dtype_get(m->dtype)->bytes);
}

int64_t dist_matrix_row(const dist_matrix *m, int64_t row)
{
    return m->block ? row / m->block * m->block * m->columns : row * m->row;
}
