/* Checks of a distributed product with an epilogue expression: the sums in double, then a formula of them and of the operands for each
 * result. Of a large product some rows are compared, and results that need all rows are not. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/gemm/distributed/distributed.h"
#include "lib/launch/data/check.h"
#include "lib/launch/data/parallel.h"
#include "lib/launch/data/random.h"
#include "lib/launch/formula/formula.h"

enum { SAMPLE_ROWS = 8 };
static const double all_work = 1 << 26;

typedef struct expression_check {
    const dist_problem *p;
    cute_arena *arena;
    uint64_t seed;
    int64_t item;     /* of a batch */
    gemm_problem own; /* of the region, with a tree whose sums are in memory */
    dist_region region;
    int64_t *rows; /* that are compared, of the whole */
    int64_t row_count;
    bool all;
    cute_tensor tensors[DIST_BUFFERS];
    const cute_tensor *scope[DIST_BUFFERS];
    size_t tensor_count;
    cute_formula_param *params;
} expression_check;

/* ---- values ---- */

static cute_status add_tensor(expression_check *c, const char *name, epilogue_shape s, cute_tensor **out,
                              cute_diag *diag)
{
    cute_tensor *t = &c->tensors[c->tensor_count];
    *t = (cute_tensor){.name = name, .dtype = CUTE_F64};
    if (s.rows) t->shape[t->rank++] = c->row_count;
    if (s.mul) t->shape[t->rank++] = c->region.columns * s.mul / s.div;
    if (!cute_tensor_row_major(t) || !cute_tensor_layout(t) ||
        !(t->data = cute_arena_array(c->arena, (size_t)t->count + 1, sizeof(double))))
        return cute_fail_memory(diag);
    c->scope[c->tensor_count++] = t;
    *out = t;
    return CUTE_OK;
}

typedef struct sums_work {
    const expression_check *c;
    const double *b; /* columns of B */
    double *a;       /* a row of A for each worker */
    double *out;
} sums_work;

static void sum_rows(void *context, int64_t begin, int64_t end, int worker)
{
    const sums_work *w = context;
    const expression_check *c = w->c;
    int64_t k = c->p->whole.k, n = c->region.columns;
    double *a = w->a + worker * k;
    for (int64_t i = begin; i < end; i++) {
        dist_data_values(c->p, DIST_A, c->seed, c->item, c->rows[i], 0, k, false, a);
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t x = 0; x < k; x++) sum += a[x] * w->b[j * k + x];
            w->out[i * n + j] = sum;
        }
    }
}

static cute_status make_sums(expression_check *c, cute_diag *diag)
{
    int64_t k = c->p->whole.k, n = c->region.columns;
    cute_tensor *t;
    CUTE_TRY(add_tensor(c, "acc", (epilogue_shape){true, 1, 1}, &t, diag));
    double *b = cute_arena_array(c->arena, (size_t)(n * k), sizeof *b),
           *a = cute_arena_array(c->arena, (size_t)(k * CUTE_PARALLEL_MAX), sizeof *a);
    if (!a || !b) return cute_fail_memory(diag);
    for (int64_t j = 0; j < n; j++)
        dist_data_values(c->p, DIST_B, c->seed, c->item, 0, c->region.first_column + j, k, true, b + j * k);
    sums_work w = {c, b, a, t->data};
    cute_parallel(c->row_count, 1, sum_rows, &w);
    return CUTE_OK;
}

static cute_status make_operand(expression_check *c, dist_buffer buffer, const dist_operand *o,
                                cute_diag *diag)
{
    cute_tensor *t;
    CUTE_TRY(add_tensor(c, o->name, o->shape, &t, diag));
    int64_t columns = o->shape.mul ? c->region.columns : 1;
    for (int64_t i = 0; i < (o->shape.rows ? c->row_count : 1); i++)
        dist_data_values(c->p, buffer, c->seed, o->batched ? c->item : 0, o->shape.rows ? c->rows[i] : 0,
                         o->shape.mul ? c->region.first_column : 0, columns, false,
                         (double *)t->data + i * columns);
    return CUTE_OK;
}

/* ---- comparison ---- */

/* Formulas of a result: its value, and where that is uncertain (NULL: nowhere), of elements or of the bits of `width`. */
typedef struct result_formulas {
    cute_formula *value, *uncertain;
    int width;
    double rtol, atol;
} result_formulas;

typedef struct result_states {
    cute_formula_state *value, *uncertain;
} result_states;

static cute_status create_result_states(const result_formulas *f, result_states *out, cute_diag *diag)
{
    *out = (result_states){cute_formula_state_create(f->value),
                           f->uncertain ? cute_formula_state_create(f->uncertain) : NULL};
    return out->value && (out->uncertain || !f->uncertain) ? CUTE_OK : cute_fail_memory(diag);
}

static void destroy_result_states(result_states *s)
{
    cute_formula_state_destroy(s->value);
    cute_formula_state_destroy(s->uncertain);
}

/* Compares the element at `index` of the formulas. */
static cute_status compare_element(const result_formulas *f, const result_states *s, const int64_t *index,
                                   dist_result *one, cute_diag *diag)
{
    double uncertain;
    one->compared = 1;
    one->max_error = fabs(one->got - one->want);
    one->bad = !(one->max_error <= f->atol + f->rtol * fabs(one->want));
    if (!one->bad || !f->uncertain) return CUTE_OK;
    if (!cute_formula_eval(s->uncertain, index, 1, NULL, &uncertain))
        return cute_formula_error(s->uncertain, diag);
    one->left_out = cute_check_left_out(f->width, uncertain, one->got, one->want);
    if (one->left_out) one->bad = 0, one->max_error = 0;
    return CUTE_OK;
}

/* The results of a rank's buffer beside those of the formula. */
static cute_status compare_result(const expression_check *c, const dist_matrix *m, const result_formulas *f,
                                  const char *got, dist_result *out, cute_diag *diag)
{
    double want[CUTE_FORMULA_LANES];
    result_states states;
    cute_status status = create_result_states(f, &states, diag);
    int64_t lines = m->rows == 1 ? 1 : c->row_count;
    int bytes = (int)cute_dtype_get(m->dtype)->bytes;
    for (int64_t at = 0; status == CUTE_OK && at < lines * m->columns;) {
        int64_t i = at / m->columns, j = at % m->columns, row = m->rows == 1 ? 0 : c->rows[i] - m->first_row;
        bool down = m->columns == 1; /* the row is the only index */
        int64_t left = down ? 1 : m->columns - j, index[2] = {i, j};
        int count = (int)(left < CUTE_FORMULA_LANES ? left : CUTE_FORMULA_LANES),
            last = m->rows == 1 || down ? 0 : 1;
        if (m->rows == 1) index[0] = j;
        if (!cute_formula_eval(states.value, index, count, NULL, want))
            status = cute_formula_error(states.value, diag);
        for (int x = 0; status == CUTE_OK && x < count; x++, index[last]++) {
            dist_result one = {.row = m->first_row + row, .column = m->first_column + j + x, .want = want[x]};
            cute_dtype_load(m->dtype, got + (row * m->row + (j + x) * m->column) * bytes, 1, 1, &one.got);
            status = compare_element(f, &states, index, &one, diag);
            dist_result_add(out, &one);
        }
        at += count;
    }
    destroy_result_states(&states);
    return status;
}

/* Compiles the text of a formula over the result's indices; releases it. */
static cute_status compile_result(const expression_check *c, epilogue_shape shape, int64_t columns,
                                  cute_buffer *text, cute_formula **out, cute_diag *diag)
{
    size_t length = text->length;
    const char *copy = cute_arena_copy(c->arena, cute_buffer_text(text), length);
    cute_buffer_release(text);
    if (!copy) return cute_fail_memory(diag);
    const char *const both[] = {"i", "j"}, *const column[] = {"j"}, *const row[] = {"i"};
    cute_expr *expr;
    int64_t extents[2];
    int rank = 0;
    if (shape.rows) extents[rank++] = c->row_count;
    if (shape.mul) extents[rank++] = columns;
    cute_formula_scope scope = {.params = c->params,
                                .param_count = c->own.value_count,
                                .tensors = c->scope,
                                .tensor_count = c->tensor_count,
                                .indices = rank == 2   ? both
                                           : shape.mul ? column
                                                       : row,
                                .extents = extents,
                                .index_count = rank};
    CUTE_TRY(cute_expr_parse(c->arena, copy, length, NULL, &expr, diag));
    return cute_formula_compile(c->arena, expr, &scope, out, diag);
}

static cute_status check_output(expression_check *c, dist_buffer buffer, const dist_operand *o,
                                const char *got, dist_result *out, cute_diag *diag)
{
    const epilogue_tree *t = c->own.tree;
    dist_matrix m = dist_matrix_of(c->p, buffer, c->p->rank);
    const epilogue_output *own = NULL;
    cute_buffer text = {0};
    result_formulas f = {0};
    double rounding = dist_data_rounding(c->p);
    bool bits;
    for (int i = 0; i < t->output_count; i++)
        if (strcmp(t->outputs[i].name, o->name) == 0) own = &t->outputs[i];
    if (!own || !m.rows || !m.columns || (!c->all && epilogue_reads_rows(own->node))) return CUTE_OK;
    epilogue_tolerances(t, own, rounding, &f.rtol, &f.atol);
    got += c->item * m.stride * cute_dtype_get(m.dtype)->bytes;
    if (!epilogue_formula(t, own, &text)) {
        cute_buffer_release(&text);
        return CUTE_OK;
    }
    CUTE_TRY(compile_result(c, o->shape, m.columns, &text, &f.value, diag));
    if (epilogue_thresholds(t, own, rounding, &bits, &text)) {
        if (bits) f.width = 8 * (int)cute_dtype_get(m.dtype)->bytes;
        CUTE_TRY(compile_result(c, o->shape, m.columns, &text, &f.uncertain, diag));
    }
    cute_buffer_release(&text);
    return compare_result(c, &m, &f, got, out, diag);
}

/* ---- the whole ---- */

static cute_status choose_rows(expression_check *c, cute_diag *diag)
{
    const dist_problem *p = c->p;
    dist_region *r = &c->region;
    *r = dist_region_of(p, p->rank);
    if (p->split == DIST_M) { /* the rows of all ranks are gathered */
        r->first_row = 0;
        r->rows = p->whole.m;
    }
    c->all = (double)r->rows * (double)r->columns * (double)p->whole.k <= all_work || r->rows <= SAMPLE_ROWS;
    c->row_count = c->all ? r->rows : SAMPLE_ROWS;
    c->rows = cute_arena_array(c->arena, (size_t)c->row_count + 1, sizeof *c->rows);
    if (!c->rows) return cute_fail_memory(diag);
    uint64_t key = cute_random_key(c->seed, (uint64_t)p->rank, "rows");
    for (int64_t i = 0; i < c->row_count; i++)
        c->rows[i] = r->first_row + (c->all ? i : cute_random_integer(key, (uint64_t)i, 0, r->rows - 1));
    return CUTE_OK;
}

/* The same expression with the extents of the region. */
static cute_status read_own(expression_check *c, cute_diag *diag)
{
    cute_gemm_problem given = c->p->whole;
    given.m = c->region.rows;
    given.n = c->region.columns;
    given.batch = 1;
    CUTE_TRY(gemm_problem_read(&given, -1, &c->own, diag));
    CUTE_TRY(gemm_expression_read(c->arena, &c->own, diag));
    epilogue_tree *t = c->own.tree;
    t->problem = c->p->read.tree->problem;
    t->problem.m = given.m;
    t->problem.n = given.n;
    t->problem.batch = 1;
    CUTE_TRY(dist_run_passes(t, diag));
    c->params = cute_arena_array(c->arena, c->own.value_count + 1, sizeof *c->params);
    if (!c->params) return cute_fail_memory(diag);
    for (size_t i = 0; i < c->own.value_count; i++)
        c->params[i] = (cute_formula_param){
            .name = c->own.values[i].name, .real = true, .number = c->own.values[i].value};
    return CUTE_OK;
}

static cute_status check_all(expression_check *c, const void *const results[DIST_BUFFERS], dist_result *out,
                             cute_diag *diag)
{
    dist_operand o;
    CUTE_TRY(choose_rows(c, diag));
    if (!c->row_count || !c->region.columns) return CUTE_OK;
    CUTE_TRY(read_own(c, diag));
    CUTE_TRY(make_sums(c, diag));
    for (int i = DIST_OPERANDS; i < DIST_BUFFERS; i++)
        if (dist_operand_of(c->p, (dist_buffer)i, &o) && !o.result)
            CUTE_TRY(make_operand(c, (dist_buffer)i, &o, diag));
    for (int i = DIST_D; i < DIST_BUFFERS; i++)
        if (dist_operand_of(c->p, (dist_buffer)i, &o) && o.result)
            CUTE_TRY(check_output(c, (dist_buffer)i, &o, results[i], out, diag));
    return CUTE_OK;
}

static cute_status check_item(const dist_problem *p, uint64_t seed, int64_t item,
                              const void *const results[DIST_BUFFERS], dist_result *out, cute_diag *diag)
{
    expression_check *c = calloc(1, sizeof *c);
    if (!c || !(c->arena = cute_arena_create())) {
        free(c);
        return cute_fail_memory(diag);
    }
    c->p = p;
    c->seed = seed;
    c->item = item;
    cute_status status = check_all(c, results, out, diag);
    cute_arena_destroy(c->arena);
    free(c);
    return status;
}

cute_status dist_expression_check(const dist_problem *p, uint64_t seed,
                                  const void *const results[DIST_BUFFERS], dist_result *out, cute_diag *diag)
{
    for (int64_t item = 0; item < p->whole.batch; item++)
        CUTE_TRY(check_item(p, seed, item, results, out, diag));
    return CUTE_OK;
}
