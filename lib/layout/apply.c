/* The operations by name: the number of operands, dispatch, and conversion of values to trees and back. */
#include <string.h>

#include "lib/layout/apply.h"
#include "lib/layout/verify.h"
#include "lib/layout/width.h"

static bool (*const functions[])(call *) = {
#define CUTE_OPERATION(id, name, least, most, summary) [CUTE_OP_##id] = op_##name,
#include "cute/layout_ops.def"
#undef CUTE_OPERATION
};

static const struct {
    const char *name;
    size_t least, most;
} table[] = {
#define CUTE_OPERATION(id, name, least, most, summary) [CUTE_OP_##id] = {#name, least, most},
#include "cute/layout_ops.def"

#include "cute/atom_ops.def"
#undef CUTE_OPERATION
};

const char *cute_operation_name(cute_operation operation)
{
    return table[operation].name;
}

/* The dialect spells some underscores as dots: tiled.copy.retile. */
static bool matches_name(const char *row, const char *name)
{
    for (; *row && (*row == *name || (*row == '_' && *name == '.')); row++) name++;
    return *row == *name;
}

bool cute_operation_find(const char *name, cute_operation *out)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (matches_name(table[i].name, name)) return *out = (cute_operation)i, true;
    return false;
}

static cute_status run_operation(cute_algebra a, cute_operation operation, size_t count,
                                 const cute_attributes *attributes, cute_value *out)
{
    const cute_value *operands = a.operands;
    if (attributes) a.attributes = attributes->values;
    for (size_t i = 0; i < count; i++) {
        a.dsl |= operands[i].type > CUTE_TILE;
        a.tensor |= call_is(&operands[i], CUTE_ANY_TENSOR);
    }
    call c = {.a = &a, .name = table[operation].name, .in = operands, .count = count, .out = out};
    if (attributes) {
        c.attributes = attributes->values;
        c.attribute_count = attributes->count;
    }
    *out = (cute_value){.type = CUTE_INT_TUPLE};
    if (operation >= sizeof functions / sizeof *functions) {
        alg_fail(&a, "%s is an operation of atoms", c.name);
        return a.status;
    }
    if (count < table[operation].least || count > table[operation].most) {
        alg_fail_count(&a, c.name, table[operation].least, table[operation].most, count);
        return a.status;
    }
    for (size_t i = 0; i < count; i++) {
        if (operands[i].type != CUTE_SHAPE || !alg_has(operands[i].tree, CUTE_TREE_UNDERSCORE)) continue;
        alg_fail(&a, "expects no error(`x`) in shape, but got %s", alg_type_text(&a, &operands[i]));
        return a.status;
    }
    if (!functions[operation](&c) && a.status == CUTE_OK) alg_exhausted(&a);
    /* Zero extents in a shape and incompatible strides are only detected in the resulting layout. */
    if (a.status == CUTE_OK && call_is(out, CUTE_LAID_OUT)) alg_verify(&a, out);
    return a.status;
}

cute_status cute_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                       const cute_value *operands, size_t count, const cute_attributes *attributes,
                       cute_value *out, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .arith = arith, .diag = diag, .operands = operands};
    return run_operation(a, operation, count, attributes, out);
}

cute_status cute_apply_dsl(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                           const cute_value *operands, size_t count, const cute_attributes *attributes,
                           cute_value *out, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .arith = arith, .diag = diag, .operands = operands, .dsl = true};
    return run_operation(a, operation, count, attributes, out);
}

cute_status cute_layout_place(cute_arena *arena, const cute_arith *arith, const cute_value *coord,
                              const cute_value *layout, cute_value *out, cute_diag *diag)
{
    cute_value operands[2] = {*coord, *layout};
    cute_algebra a = {.arena = arena, .arith = arith, .diag = diag, .operands = operands, .tensor = true};
    return run_operation(a, CUTE_OP_LAYOUT_EVAL, 2, NULL, out);
}

/* ---- helpers of the operations ---- */

bool call_expects(call *c, size_t operand, unsigned types, const char *sentence)
{
    if (types & CUTE_BIT(c->in[operand].type)) return true;
    alg_fail(c->a, "%s, but got %s", sentence, alg_type_text(c->a, &c->in[operand]));
    return false;
}

bool call_give_tree(call *c, cute_type type, cute_node tree)
{
    *c->out = cute_value_of_tree(type, tree);
    return tree != NULL;
}

bool call_give_layout(call *c, cute_layout layout)
{
    *c->out = cute_value_of_layout(layout);
    return layout.shape && layout.stride;
}

bool call_give_like(call *c, const cute_value *like, cute_layout layout)
{
    if (like->type == CUTE_LAYOUT) return call_give_layout(c, layout);
    *c->out = *like;
    c->out->layout = layout;
    if (!layout.shape || !layout.stride) return false;
    call_decay(c->out);
    return true;
}

void call_decay(cute_value *v)
{
    if (!call_is_composed(v) || v->inner.shape || v->swizzle.bits || !alg_is(v->tree, 0)) return;
    if (v->type == CUTE_COMPOSED_LAYOUT) {
        *v = cute_value_of_layout(v->layout);
    } else {
        v->tree = NULL;
        v->swizzle = (cute_swizzle){0};
    }
}

cute_node call_profile(const cute_value *v)
{
    return call_is(v, CUTE_LAID_OUT) ? v->layout.shape : v->tree;
}
