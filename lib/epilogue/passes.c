/* The passes on trees, but for PassGetImpl, and their order: the order given, with each pass behind its dependencies.
 * PassShapeTypePropagation ensures that every node has a shape; PassFixElementD that every result and operand has a type;
 * PassCustomCommunication that no collective is left. */
#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/epilogue/implement.h"

cute_status epilogue_fail(const epilogue_tree *t, size_t offset, size_t length, cute_diag *diag,
                          const char *format, ...)
{
    va_list args;
    cute_place place = epilogue_place(t, offset, length);
    va_start(args, format);
    cute_vreport(diag, CUTE_ERROR, &place, format, args);
    va_end(args);
    return CUTE_INVALID;
}

/* ---- PassShapeTypePropagation ---- */

static bool same_columns(epilogue_shape a, epilogue_shape b)
{
    return a.mul == b.mul && (!a.mul || a.div == b.div);
}

static cute_status scale_columns(const epilogue_tree *t, const epilogue_node *n, int64_t mul, int64_t div,
                                 cute_diag *diag)
{
    const epilogue_shape *s = &n->args[0]->shape;
    int64_t m = s->mul * mul, d = s->div * div;
    while (m % 2 == 0 && d % 2 == 0) m /= 2, d /= 2;
    if (m > 64 || d > 4096)
        return epilogue_fail(t, n->offset, n->length, diag, "expected N / 4096 to 64 N columns");
    if (t->problem.n && t->problem.n * m % d != 0)
        return epilogue_fail(t, n->offset, n->length, diag, "expected N to be a multiple of %lld, got %lld",
                             (long long)d, (long long)t->problem.n);
    ((epilogue_node *)n)->shape = (epilogue_shape){s->rows, (int32_t)m, (int32_t)d};
    return CUTE_OK;
}

static cute_status broadcast_shapes(const epilogue_tree *t, epilogue_node *n, cute_diag *diag)
{
    epilogue_shape s = {false, 0, 1};
    for (int i = 0; i < n->count; i++) {
        const epilogue_node *a = n->args[i];
        s.rows = s.rows || a->shape.rows;
        if (!a->shape.mul) continue;
        if (s.mul && !same_columns(s, a->shape)) {
            cute_buffer want = {0}, got = {0};
            epilogue_shape_text(s, &want);
            epilogue_shape_text(a->shape, &got);
            epilogue_fail(t, n->offset, n->length, diag, "mismatched operands: expected shape %s, got %s",
                          cute_buffer_text(&want), cute_buffer_text(&got));
            cute_buffer_release(&want);
            cute_buffer_release(&got);
            return CUTE_INVALID;
        }
        s.mul = a->shape.mul;
        s.div = a->shape.div;
    }
    n->shape = s;
    return CUTE_OK;
}

static bool compares(const epilogue_function *f)
{
    static const char *const names[] = {"lt", "le", "gt", "ge", "eq", "ne"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0) return true;
    return false;
}

static cute_status check_conditions(const epilogue_tree *t, const epilogue_node *n, cute_diag *diag)
{
    bool where = n->op == EPILOGUE_COMPUTE && strcmp(n->function->name, "where") == 0;
    if (n->op == EPILOGUE_PLACES) return CUTE_OK; /* of its columns alone */
    for (int i = 0; i < n->count; i++) {
        bool wanted = where && i == 0;
        if (n->args[i]->condition == wanted) continue;
        return epilogue_fail(t, n->args[i]->offset, n->args[i]->length, diag,
                             wanted ? "expected a comparison as the first operand of where, got a number"
                                    : "expected a number, got a comparison: use where(condition, 1, 0)");
    }
    return CUTE_OK;
}

static cute_status infer_reduction(const epilogue_tree *t, epilogue_node *n, cute_diag *diag)
{
    epilogue_shape s = n->args[0]->shape;
    if (!s.rows || !s.mul)
        return epilogue_fail(t, n->offset, n->length, diag, "expected a matrix to reduce, got one %s",
                             s.rows  ? "column"
                             : s.mul ? "row"
                                     : "number");
    if (n->group) return scale_columns(t, n, 1, n->group, diag);
    n->shape = (epilogue_shape){n->axis == 1, n->axis == 0 ? s.mul : 0, s.div};
    return CUTE_OK;
}

/* Columns of the threads of a level: of the operand, or of a gather's result, which has a column of the product for each. */
static int64_t level_columns(const epilogue_tree *t, const epilogue_node *n)
{
    bool gathers = n->collective == EPILOGUE_ALL_GATHER;
    epilogue_shape s = gathers ? (epilogue_shape){true, 1, 1} : n->args[0]->shape;
    if (n->level == EPILOGUE_WARP) return 32;
    int64_t tile = t->problem.tile_n * s.mul / s.div;
    if (n->level == EPILOGUE_BLOCK) return tile;
    int64_t blocks = epilogue_row_blocks(&t->problem);
    return blocks ? tile * blocks : tile;
}

/* Whether a collective is of all columns, as of those that are fewer than the level's. */
static bool is_of_all_columns(const epilogue_tree *t, const epilogue_node *n)
{
    if (n->level == EPILOGUE_DEVICE) return true;
    if (n->collective == EPILOGUE_ALL_GATHER || !t->problem.n) return false;
    int64_t columns = epilogue_columns(t, n->args[0]->shape), group = level_columns(t, n);
    return group > columns || (group == columns && n->level != EPILOGUE_WARP);
}

/* Tiles are not known before a configuration is chosen: then the columns are those of the operand. */
static cute_status infer_collective(const epilogue_tree *t, epilogue_node *n, cute_diag *diag)
{
    epilogue_shape s = n->args[0]->shape;
    if (n->level != EPILOGUE_DEVICES && (!s.rows || !s.mul))
        return epilogue_fail(t, n->offset, n->length, diag,
                             "expected a matrix as the operand of a collective");
    n->shape = s;
    bool known = n->level == EPILOGUE_WARP || n->level == EPILOGUE_DEVICE || t->problem.tile_n;
    if (n->level == EPILOGUE_DEVICES || !known) return CUTE_OK;
    if (n->collective == EPILOGUE_ALL_GATHER && n->level != EPILOGUE_DEVICE)
        return scale_columns(t, n, level_columns(t, n), 1, diag);
    if (n->collective != EPILOGUE_REDUCE_SCATTER) return CUTE_OK;
    if (!is_of_all_columns(t, n)) return scale_columns(t, n, 1, level_columns(t, n), diag);
    n->shape = (epilogue_shape){true, 0, 1};
    return CUTE_OK;
}

static cute_status infer_shape(const epilogue_tree *t, epilogue_node *n, cute_diag *diag)
{
    const epilogue_node *a = n->args[0];
    CUTE_TRY(check_conditions(t, n, diag));
    switch (n->op) {
    case EPILOGUE_ACC: n->shape = (epilogue_shape){true, 1, 1}; return CUTE_OK;
    case EPILOGUE_LOAD: return CUTE_OK;
    case EPILOGUE_SCALAR:
    case EPILOGUE_CONSTANT: n->shape = (epilogue_shape){false, 0, 1}; return CUTE_OK;
    case EPILOGUE_COMPUTE: n->condition = compares(n->function); return broadcast_shapes(t, n, diag);
    case EPILOGUE_CAST: n->shape = a->shape; return CUTE_OK;
    case EPILOGUE_REDUCE: return infer_reduction(t, n, diag);
    case EPILOGUE_SLICE:
    case EPILOGUE_REPEAT:
        if (!a->shape.mul)
            return epilogue_fail(t, n->offset, n->length, diag,
                                 "expected a value with N columns, got one column");
        return n->op == EPILOGUE_SLICE ? scale_columns(t, n, 1, n->step, diag)
                                       : scale_columns(t, n, n->step, 1, diag);
    case EPILOGUE_PLACES: n->shape = (epilogue_shape){false, a->shape.mul, a->shape.div}; return CUTE_OK;
    case EPILOGUE_INTERLEAVE: {
        const epilogue_node *b = n->args[1];
        if (!a->shape.mul || !same_columns(a->shape, b->shape) || a->shape.rows != b->shape.rows)
            return epilogue_fail(t, n->offset, n->length, diag,
                                 "expected two values of the same shape with N columns");
        return scale_columns(t, n, 2, 1, diag);
    }
    case EPILOGUE_COMMUNICATE: return infer_collective(t, n, diag);
    }
    return CUTE_OK;
}

static cute_status check_output(const epilogue_tree *t, const epilogue_output *o, cute_diag *diag)
{
    epilogue_shape s = o->node->shape;
    if (o->node->condition)
        return epilogue_fail(t, o->offset, o->length, diag,
                             "expected a number, got a comparison: use where(condition, 1, 0)");
    if (!o->indexed || (o->index_row == s.rows && o->index_column == (s.mul != 0))) return CUTE_OK;
    cute_buffer got = {0};
    epilogue_shape_text(s, &got);
    epilogue_fail(t, o->offset, o->length, diag, "expected a value of shape %s x %s, got %s",
                  o->index_row ? "M" : "1", o->index_column ? "N" : "1", cute_buffer_text(&got));
    cute_buffer_release(&got);
    return CUTE_INVALID;
}

static cute_status infer_shapes(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        CUTE_TRY(infer_shape(t, n, diag));
        n->shaped = true;
        n->summed = n->op == EPILOGUE_ACC || n == t->sums;
        for (int a = 0; a < n->count; a++) n->summed = n->summed || n->args[a]->summed;
    }
    for (int i = 0; i < t->output_count; i++) CUTE_TRY(check_output(t, &t->outputs[i], diag));
    return CUTE_OK;
}

static cute_status all_shaped(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->count; i++)
        if (!t->nodes[i]->shaped)
            return epilogue_fail(t, t->nodes[i]->offset, t->nodes[i]->length, diag,
                                 "this node has no shape: expected "
                                 "PassShapeTypePropagation before");
    return CUTE_OK;
}

/* ---- changes of a tree ---- */

static void visit_node(epilogue_tree *t, epilogue_node *n, bool *seen, int *count, epilogue_node **order)
{
    if (seen[n->number]) return;
    seen[n->number] = true;
    for (int i = 0; i < n->count; i++) visit_node(t, n->args[i], seen, count, order);
    order[(*count)++] = n;
}

/* Orders nodes so that arguments come first, and drops those that no result needs. */
static void order_nodes(epilogue_tree *t)
{
    bool seen[EPILOGUE_NODES] = {false};
    epilogue_node *order[EPILOGUE_NODES];
    int count = 0;
    for (int i = 0; i < t->count; i++) t->nodes[i]->number = i;
    for (int i = 0; i < t->output_count; i++) visit_node(t, t->outputs[i].node, seen, &count, order);
    memcpy(t->nodes, order, (size_t)count * sizeof *order);
    t->count = count;
    for (int i = 0; i < count; i++) t->nodes[i]->number = i;
}

static void replace_node(epilogue_tree *t, const epilogue_node *from, epilogue_node *to)
{
    for (int i = 0; i < t->count; i++)
        for (int a = 0; a < t->nodes[i]->count; a++)
            if (t->nodes[i]->args[a] == from) t->nodes[i]->args[a] = to;
    for (int i = 0; i < t->output_count; i++)
        if (t->outputs[i].node == from) t->outputs[i].node = to;
}

/* ---- PassFixElementD ---- */

/* Whether the node is round_byte's. */
static bool is_rounded_byte(const epilogue_node *n)
{
    static const char *const names[] = {"minimum", "maximum", "round"};
    for (int i = 0; i < 3; i++, n = n->args[0])
        if (n->op != EPILOGUE_COMPUTE || strcmp(n->function->name, names[i]) != 0) return false;
    return true;
}

/* Rounds a result to the nearest integer of i8. */
static cute_status round_byte(epilogue_tree *t, epilogue_output *o, cute_diag *diag)
{
    epilogue_node *n = o->node;
    epilogue_node constant = {.op = EPILOGUE_CONSTANT, .offset = n->offset, .length = n->length};
    static const double limits[] = {-128, 127};
    n = epilogue_compute(t, "round", n, NULL);
    for (int i = 0; i < 2 && n; i++) {
        constant.value = limits[i];
        epilogue_node *limit = epilogue_node_get(t, &constant);
        n = limit ? epilogue_compute(t, i ? "minimum" : "maximum", n, limit) : NULL;
    }
    if (!n) return cute_fail_memory(diag);
    o->node = n;
    return CUTE_OK;
}

static cute_status fix_elements(epilogue_tree *t, cute_diag *diag)
{
    bool found = false, narrow = cute_dtype_get(t->problem.out)->bytes == 1;
    cute_dtype vectors = narrow ? CUTE_F32 : t->problem.out;
    for (int i = 0; i < t->output_count; i++) found = found || t->outputs[i].main;
    for (int i = 0; i < t->output_count; i++) {
        epilogue_output *o = &t->outputs[i];
        bool matrix = o->node->shape.rows && o->node->shape.mul;
        if (!found && matrix) o->main = found = true;
        bool bits = !o->main && epilogue_packed(o->node);
        if (!o->stated) o->dtype = bits ? CUTE_I8 : matrix ? t->problem.out : CUTE_F32;
    }
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        if (n->op == EPILOGUE_LOAD && !n->stated)
            n->dtype = n->shape.rows && n->shape.mul ? t->problem.out : vectors;
    }
    bool changed = false;
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        if (o->dtype != CUTE_I8 || epilogue_packed(o->node) || is_rounded_byte(o->node)) continue;
        CUTE_TRY(round_byte(t, &t->outputs[i], diag));
        changed = true;
    }
    if (!changed) return CUTE_OK;
    order_nodes(t);
    return infer_shapes(t, diag);
}

static cute_status all_typed(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->output_count; i++)
        if (cute_dtype_get(t->outputs[i].dtype)->class != CUTE_CLASS_FLOAT && t->outputs[i].dtype != CUTE_I8)
            return epilogue_fail(t, t->outputs[i].offset, t->outputs[i].length, diag,
                                 "expected a floating-point type of '%s', or i8, got %s", t->outputs[i].name,
                                 cute_dtype_get(t->outputs[i].dtype)->name);
    return CUTE_OK;
}

/* ---- PassGradientAllReduce ---- */

static cute_status add_gradient_sums(epilogue_tree *t, cute_diag *diag)
{
    int count = t->count;
    for (int i = 0; i < count; i++) {
        epilogue_node *n = t->nodes[i];
        bool gradient =
            n->op == EPILOGUE_COMPUTE && n->name && strstr(n->name, "grad") && n->shape.rows && n->shape.mul;
        if (!gradient) continue;
        if (t->output_count == EPILOGUE_OUTPUTS)
            return epilogue_fail(t, n->offset, n->length, diag, "expected at most %d outputs, got more",
                                 EPILOGUE_OUTPUTS);
        epilogue_node *sum = epilogue_reduce(t, n, EPILOGUE_SUM, 0, 0);
        const char *name = cute_arena_printf(t->arena, "%s_sum", n->name);
        if (!sum || !name) return cute_fail_memory(diag);
        t->outputs[t->output_count++] = (epilogue_output){.name = name,
                                                          .node = sum,
                                                          .dtype = CUTE_F32,
                                                          .stated = true,
                                                          .offset = n->offset,
                                                          .length = n->length};
    }
    return infer_shapes(t, diag);
}

/* ---- PassCustomCommunication ---- */

static const epilogue_output *output_of(const epilogue_tree *t, const epilogue_node *n)
{
    for (int i = 0; i < t->output_count; i++)
        if (t->outputs[i].node == n) return &t->outputs[i];
    return NULL;
}

static bool has_other_use(const epilogue_tree *t, const epilogue_node *of, const epilogue_node *than)
{
    for (int i = 0; i < t->count; i++)
        for (int a = 0; t->nodes[i] != than && a < t->nodes[i]->count; a++)
            if (t->nodes[i]->args[a] == of) return true;
    return output_of(t, of) != NULL;
}

/* Finds the operand of a collective between devices: the sums, a result or an operand. NULL, or why it cannot be a step. */
static const char *find_moment(const epilogue_tree *t, const epilogue_node *n, epilogue_step *out)
{
    const epilogue_node *x = n->args[0];
    const epilogue_output *result = output_of(t, n);
    bool sums = n->collective == EPILOGUE_ALL_REDUCE || n->collective == EPILOGUE_REDUCE_SCATTER,
         over_rows = x->op == EPILOGUE_REDUCE && !x->group && x->kind == EPILOGUE_SUM && x->axis != 1;
    *out = (epilogue_step){n->collective, EPILOGUE_OF_SUMS, x, x->name, n->offset, n->length};
    if (sums && (x->op == EPILOGUE_ACC || x == t->sums)) {
        out->name = "acc";
        return has_other_use(t, x, n)
                   ? "acc is partial sums elsewhere: expected all uses of acc in this collective"
                   : NULL;
    }
    if (n->collective == EPILOGUE_BROADCAST) {
        out->moment = EPILOGUE_OF_OPERAND;
        return x->op == EPILOGUE_LOAD ? NULL : "expected an operand in memory to broadcast between devices";
    }
    out->moment = EPILOGUE_OF_RESULT;
    if (result) out->name = result->name;
    if (n->collective == EPILOGUE_ALL_GATHER)
        return result && x->summed ? NULL : "expected a result to gather between devices";
    return result && over_rows && n->collective == EPILOGUE_ALL_REDUCE
               ? NULL
               : "expected acc, or a sum over rows that is a result, to reduce between devices";
}

/* With one device it is the value itself. */
static cute_status lower_between_devices(epilogue_tree *t, epilogue_node *n, epilogue_node **out,
                                         cute_diag *diag)
{
    epilogue_step step;
    const char *why = find_moment(t, n, &step);
    if (why) return epilogue_fail(t, n->offset, n->length, diag, "%s", why);
    if (t->step_count == EPILOGUE_STEPS)
        return epilogue_fail(t, n->offset, n->length, diag,
                             "expected at most %d collectives between devices, got more", EPILOGUE_STEPS);
    t->steps[t->step_count++] = step;
    *out = n->args[0];
    return CUTE_OK;
}

static cute_status lower_collective(epilogue_tree *t, epilogue_node *n, epilogue_node **out, cute_diag *diag)
{
    epilogue_node *x = n->args[0];
    if (n->level == EPILOGUE_DEVICES) return lower_between_devices(t, n, out, diag);
    bool gathers = n->collective == EPILOGUE_ALL_GATHER, whole = is_of_all_columns(t, n);
    int64_t columns = epilogue_columns(t, x->shape), group = whole ? columns : level_columns(t, n);
    *out = NULL;
    if (!whole && !gathers && columns % group != 0)
        return epilogue_fail(t, n->offset, n->length, diag,
                             "expected columns that are a multiple of the level's %lld, got %lld",
                             (long long)group, (long long)columns);
    if (whole && (n->collective == EPILOGUE_BROADCAST || gathers))
        return epilogue_fail(
            t, n->offset, n->length, diag,
            "%s at the level %s: expected a level within a tile, since blocks do not wait for each other",
            epilogue_collective_name(n->collective), epilogue_level_name(n->level));
    epilogue_node *part = NULL;
    switch (n->collective) {
    case EPILOGUE_ALL_REDUCE:
    case EPILOGUE_REDUCE_SCATTER:
        part = epilogue_reduce(t, x, EPILOGUE_SUM, 1, whole ? 0 : group);
        *out = !part || whole || n->collective == EPILOGUE_REDUCE_SCATTER ? part
                                                                          : epilogue_repeat(t, part, group);
        break;
    case EPILOGUE_ALL_GATHER: *out = epilogue_repeat(t, x, group); break;
    case EPILOGUE_BROADCAST: {
        epilogue_node first = {.op = EPILOGUE_SLICE,
                               .args = {x},
                               .count = 1,
                               .step = group,
                               .offset = n->offset,
                               .length = n->length};
        part = epilogue_node_get(t, &first);
        *out = part ? epilogue_repeat(t, part, group) : NULL;
    }
    }
    return *out ? CUTE_OK : cute_fail_memory(diag);
}

static cute_status lower_collectives(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->count; i++) {
        epilogue_node *to, *n = t->nodes[i];
        if (n->op != EPILOGUE_COMMUNICATE) continue;
        CUTE_TRY(lower_collective(t, n, &to, diag));
        if (!to->name) to->name = n->name;
        replace_node(t, n, to);
        order_nodes(t);
        CUTE_TRY(infer_shapes(t, diag));
        i = -1;
    }
    order_nodes(t);
    return infer_shapes(t, diag);
}

static cute_status no_collectives(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->count; i++)
        if (t->nodes[i]->op == EPILOGUE_COMMUNICATE)
            return epilogue_fail(t, t->nodes[i]->offset, t->nodes[i]->length, diag,
                                 "this collective is not lowered: expected PassCustomCommunication before");
    return CUTE_OK;
}

/* ---- the table ---- */

static cute_status nothing_required(epilogue_tree *t, cute_diag *diag)
{
    (void)t, (void)diag;
    return CUTE_OK;
}

static const char *const after_nothing[] = {NULL};
static const char *const after_shapes[] = {"PassShapeTypePropagation", NULL};
static const char *const after_elements[] = {"PassShapeTypePropagation", "PassFixElementD", NULL};
static const char *const after_all[] = {"PassShapeTypePropagation", "PassFixElementD",
                                        "PassCustomCommunication", NULL};

typedef struct pass_row {
    epilogue_pass pass;
    bool usual;
} pass_row;

#define PassShapeTypePropagation_ROW after_nothing, nothing_required, infer_shapes, all_shaped
#define PassFixElementD_ROW          after_shapes, all_shaped, fix_elements, all_typed
#define PassGradientAllReduce_ROW    after_elements, all_shaped, add_gradient_sums, all_shaped
#define PassCustomCommunication_ROW  after_shapes, all_shaped, lower_collectives, no_collectives
#define PassGetImpl_ROW              after_all, no_collectives, epilogue_implement, epilogue_implemented
static const pass_row rows[] = {
#define EPILOGUE_PASS(name, usual, help) {{#name, help, name##_ROW}, usual},
#include "lib/epilogue/passes.def"
#undef EPILOGUE_PASS
};
enum { ROWS = sizeof rows / sizeof *rows };

size_t epilogue_pass_count(void)
{
    return ROWS;
}

const epilogue_pass *epilogue_pass_at(size_t index)
{
    return index < ROWS ? &rows[index].pass : NULL;
}

static const char *pass_name_at(const void *unused, size_t index)
{
    (void)unused;
    return index < ROWS ? rows[index].pass.name : NULL;
}

static const epilogue_pass *find_pass(const char *name, size_t length)
{
    for (size_t i = 0; i < ROWS; i++)
        if (strlen(rows[i].pass.name) == length && memcmp(rows[i].pass.name, name, length) == 0)
            return &rows[i].pass;
    return NULL;
}

/* Adds a pass behind its dependencies. Those form no cycle. */
static void place_pass(const epilogue_pass *pass, const epilogue_pass **out, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        if (out[i] == pass) return;
    for (const char *const *d = pass->dependencies; *d; d++)
        place_pass(find_pass(*d, strlen(*d)), out, count);
    out[(*count)++] = pass;
}

cute_status epilogue_pass_order(const char *names, const epilogue_pass **out, size_t *count, cute_diag *diag)
{
    *count = 0;
    for (size_t i = 0; i < ROWS && (!names || !*names); i++)
        if (rows[i].usual) place_pass(&rows[i].pass, out, count);
    for (const char *at = names ? names : ""; *at;) {
        size_t length = strcspn(at, ",");
        const epilogue_pass *pass = find_pass(at, length);
        if (!pass) {
            const char *near = cute_nearest_of(at, length, pass_name_at, NULL);
            return cute_fail(diag, CUTE_USAGE, NULL,
                             near ? "unknown pass '%.*s'; did you mean '%s'?" : "unknown pass '%.*s'",
                             (int)length, at, near);
        }
        place_pass(pass, out, count);
        at += length + (at[length] == ',');
    }
    return CUTE_OK;
}

cute_status epilogue_run_passes(epilogue_tree *t, const char *names, cute_diag *diag)
{
    const epilogue_pass *order[EPILOGUE_PASSES];
    size_t count;
    CUTE_TRY(epilogue_pass_order(names, order, &count, diag));
    t->pass_count = 0;
    for (size_t i = 0; i < count; i++) {
        CUTE_TRY(order[i]->requires(t, diag));
        CUTE_TRY(order[i]->call(t, diag));
        CUTE_TRY(order[i]->ensures(t, diag));
        t->passes[t->pass_count++] = order[i]->name;
    }
    return CUTE_OK;
}
