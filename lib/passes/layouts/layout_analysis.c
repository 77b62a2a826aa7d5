/* cute-layout-analysis: reports the properties of each layout, as attributes and as a table.
 *
 * Requires: verified IR. Ensures: operations do not change, but those that return a layout get the attributes
 * `size`, `cosize`, `vector` (length of the prefix of coordinates with consecutive indices),
 * `is_injective`, `is_contiguous`, `is_column_major`, `is_row_major`, where known.
 *
 *     %l = cute.make_layout(%s, %d) : (!cute.shape<"(4,8)">, !cute.stride<"(8,1)">) -> !cute.layout<"(4,8):(8,1)">
 * ->
 *     %l = cute.make_layout(%s, %d) {cosize = 32 : i64, is_column_major = false, is_contiguous = true, ...} : ...
 */
#include <stdio.h>

#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/layout/facts.h"
#include "lib/passes/passes.h"

static const cute_pass_option options[] = {
    {"print", CUTE_PASS_BOOL, "Print the table to standard error", 1, NULL},
};

/* ---- one layout ---- */

/* Whether strides are those of a compact layout, from the first or the last leaf; modes of extent 1 are
 * ignored. */
static cute_truth is_compact(cute_value *shapes, cute_value *strides, size_t count, bool row)
{
    int64_t wanted = 1;
    for (size_t k = 0; k < count; k++) {
        size_t i = row ? count - 1 - k : k;
        const cute_tree *s = shapes[i].tree, *d = strides[i].tree;
        if (s->value.known && s->value.value == 1) continue;
        if (d->kind != CUTE_TREE_INT || !d->value.known)
            return d->kind == CUTE_TREE_INT ? CUTE_UNDECIDED : CUTE_NO;
        if (d->value.value != wanted) return CUTE_NO;
        bool last = k + 1 == count;
        if (!s->value.known) return last ? CUTE_YES : CUTE_UNDECIDED;
        if (__builtin_mul_overflow(wanted, s->value.value, &wanted)) return CUTE_UNDECIDED;
    }
    return CUTE_YES;
}

static cute_truth is_in_order(cute_arena *arena, const cute_value *value, bool row)
{
    if (value->type != CUTE_LAYOUT) return CUTE_UNDECIDED;
    cute_value shape = cute_value_of_tree(CUTE_SHAPE, value->layout.shape), *shapes;
    cute_value stride = cute_value_of_tree(CUTE_STRIDE, value->layout.stride), *strides;
    size_t count, same;
    if (cute_value_leaves(arena, &shape, false, &shapes, &count, NULL) ||
        cute_value_leaves(arena, &stride, false, &strides, &same, NULL) || count != same)
        return CUTE_UNDECIDED;
    return is_compact(shapes, strides, count, row);
}

/* Length of the prefix of coordinates with consecutive indices; 0: unknown. */
static int64_t vector_length(cute_arena *arena, const cute_value *value)
{
    cute_value inverse, coalesced;
    if (value->type != CUTE_LAYOUT || !cute_value_is_static(value) ||
        cute_apply(arena, NULL, CUTE_OP_RIGHT_INVERSE, value, 1, NULL, &inverse, NULL) ||
        cute_apply(arena, NULL, CUTE_OP_COALESCE, &inverse, 1, NULL, &coalesced, NULL))
        return 0;
    /* The first mode of stride 1 of the inverse preserves order. */
    const cute_tree *shape = coalesced.layout.shape, *stride = coalesced.layout.stride;
    while (shape->kind == CUTE_TREE_TUPLE && shape->count) {
        shape = shape->items[0];
        stride = stride->items[0];
    }
    bool plain = shape->kind == CUTE_TREE_INT && stride->kind == CUTE_TREE_INT && stride->value.value == 1;
    return plain ? shape->value.value : 1;
}

typedef struct row {
    char place[80], size[24], cosize[24], vector[24];
    const char *layout, *contiguous, *injective, *order;
} row;

typedef struct analysis {
    cute_arena *arena;
    row *rows;
    size_t count, capacity;
} analysis;

static const char *truth_text(cute_truth truth)
{
    return truth == CUTE_YES ? "yes" : truth == CUTE_NO ? "no" : "?";
}

static void set_truth(MlirOperation op, const char *name, cute_truth truth)
{
    MlirContext c = mlirOperationGetContext(op);
    if (truth != CUTE_UNDECIDED)
        mlirOperationSetAttributeByName(op, cute_text(name), mlirBoolAttrGet(c, truth == CUTE_YES));
}

static void set_number(MlirOperation op, const char *name, bool known, int64_t number, char text[static 24])
{
    MlirContext c = mlirOperationGetContext(op);
    snprintf(text, 24, known ? "%lld" : "?", (long long)number);
    if (known)
        mlirOperationSetAttributeByName(op, cute_text(name),
                                        mlirIntegerAttrGet(mlirIntegerTypeGet(c, 64), number));
}

static row *add_row(analysis *a)
{
    if (!cute_arena_more(a->arena, &a->rows, a->count, &a->capacity, sizeof *a->rows, 32)) return NULL;
    return &a->rows[a->count++];
}

static void analyze_layout(MlirOperation op, void *context)
{
    analysis *a = context;
    cute_type type;
    cute_value value;
    cute_layout_facts facts;
    if (mlirOperationGetNumResults(op) != 1) return;
    MlirType result = mlirValueGetType(mlirOperationGetResult(op, 0));
    if (!cute_type_is(result, &type) || (type != CUTE_LAYOUT && type != CUTE_COMPOSED_LAYOUT)) return;
    if (cute_type_value(result, &value, NULL)) return;
    row *r = add_row(a);
    if (!r) return;
    cute_layout_facts_of(a->arena, &value, &facts);
    cute_truth column = is_in_order(a->arena, &value, false), by_row = is_in_order(a->arena, &value, true);
    int64_t vector = vector_length(a->arena, &value);
    set_number(op, "size", facts.has_size, facts.size, r->size);
    set_number(op, "cosize", facts.has_cosize, facts.cosize, r->cosize);
    set_number(op, "vector", vector > 0, vector, r->vector);
    set_truth(op, "is_injective", facts.injective);
    set_truth(op, "is_contiguous", facts.contiguous);
    set_truth(op, "is_column_major", column);
    set_truth(op, "is_row_major", by_row);
    r->contiguous = truth_text(facts.contiguous);
    r->injective = truth_text(facts.injective);
    r->order = column == CUTE_YES                       ? "column"
               : by_row == CUTE_YES                     ? "row"
               : column == CUTE_NO && by_row == CUTE_NO ? "other"
                                                        : "?";
    r->layout = cute_value_text(a->arena, &value);
    MlirStringRef file;
    unsigned line, at;
    if (cute_location_place(mlirOperationGetLocation(op), &file, &line, &at))
        snprintf(r->place, sizeof r->place, "%u:%u", line, at);
    else
        snprintf(r->place, sizeof r->place, "-");
}

/* ---- the table ---- */

enum { COLUMNS = 8 };
static const char *const titles[COLUMNS] = {"place",  "layout",    "size",       "cosize",
                                            "vector", "injective", "contiguous", "order"};

static const char *cell_text(const row *r, int column)
{
    const char *cells[COLUMNS] = {
        r->place, r->layout ? r->layout : "", r->size, r->cosize, r->vector, r->injective, r->contiguous,
        r->order};
    return cells[column];
}

static void print_table(const analysis *a, cute_buffer *out)
{
    size_t widths[COLUMNS];
    for (int c = 0; c < COLUMNS; c++) {
        widths[c] = strlen(titles[c]);
        for (size_t i = 0; i < a->count; i++)
            if (strlen(cell_text(&a->rows[i], c)) > widths[c]) widths[c] = strlen(cell_text(&a->rows[i], c));
    }
    for (size_t i = 0; i <= a->count; i++)
        for (int c = 0; c < COLUMNS; c++) {
            const char *text = i ? cell_text(&a->rows[i - 1], c) : titles[c];
            if (c + 1 < COLUMNS)
                cute_buffer_printf(out, "%-*s  ", (int)widths[c], text);
            else
                cute_buffer_printf(out, "%s\n", text);
        }
}

static void run_layout_analysis(MlirOperation root, cute_pass_run *pass)
{
    analysis a = {.arena = cute_arena_create()};
    if (!a.arena) return;
    cute_op_walk(root, NULL, CUTE_WALK_OUTER_FIRST, analyze_layout, &a);
    if (a.count && cute_pass_int(pass, 0)) {
        cute_buffer text = {0};
        print_table(&a, &text);
        if (cute_buffer_ok(&text)) cute_pass_print(pass, mlirStringRefCreate(text.data, text.length));
        cute_buffer_release(&text);
    }
    cute_arena_destroy(a.arena);
}

const cute_pass cute_pass_layout_analysis = {
    .name = "cute-layout-analysis",
    .help = "Attach the properties of layouts and print them as a table",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_CUTE,
    .run = run_layout_analysis,
};
