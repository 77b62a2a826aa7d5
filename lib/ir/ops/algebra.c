/* Shared functions of algebra operations, and the default row of each. */
#include "lib/ir/ops/algebra.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/buffer.h"
#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- errors ---- */

bool cute_op_fail(MlirLocation location, const char *name, const char *format, ...)
{
    cute_buffer text = {0};
    if (name) cute_buffer_printf(&text, "'%s' op ", name);
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_emit_error(location, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

bool cute_op_fail_diag(MlirLocation location, const cute_diag *diag)
{
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        cute_op_fail(location, NULL, "%s", cute_diag_get(diag, i)->text);
    return false;
}

/* ---- attributes ---- */

/* Gives an attribute by name, or null. */
typedef MlirAttribute (*attribute_of)(void *context, MlirStringRef name);

/* Integer attributes in the algebra's argument order. */
static const char *const integer_names[] = {"rank",          "begin",         "end",
                                            "new_type_bits", "old_type_bits", "operand_id"};
/* Coordinate attributes, appended to the operands. */
static const char *const coordinate_names[] = {"coord", "proj"};
enum { COORDINATE_NAMES = sizeof coordinate_names / sizeof *coordinate_names };

/* Collects the integer attributes of an operation; *out points into `arena`. */
static cute_status read_attributes(cute_arena *arena, attribute_of get, void *context, cute_attributes *out,
                                   cute_diag *diag)
{
    *out = (cute_attributes){0};
    MlirAttribute mode = get(context, cute_text("mode"));
    bool list = !mlirAttributeIsNull(mode) && mlirAttributeIsADenseI32Array(mode);
    size_t capacity =
        list ? (size_t)mlirDenseArrayGetNumElements(mode) : sizeof integer_names / sizeof *integer_names;
    int64_t *values = cute_arena_array(arena, capacity, sizeof *values);
    if (!values && capacity) return cute_fail_memory(diag);
    out->values = values;
    if (list) {
        for (out->count = 0; out->count < capacity; out->count++)
            values[out->count] = mlirDenseI32ArrayGetElement(mode, (intptr_t)out->count);
        return CUTE_OK;
    }
    for (size_t i = 0; i < capacity; i++) {
        MlirAttribute one = get(context, cute_text(integer_names[i]));
        if (!mlirAttributeIsNull(one) && mlirAttributeIsAInteger(one))
            values[out->count++] = mlirIntegerTypeIsSigned(mlirAttributeGetType(one))
                                       ? mlirIntegerAttrGetValueSInt(one)
                                       : mlirIntegerAttrGetValueInt(one);
    }
    return CUTE_OK;
}

static MlirAttribute attribute_in_dictionary(void *dictionary, MlirStringRef name)
{
    MlirAttribute attributes = {dictionary};
    if (mlirAttributeIsNull(attributes)) return attributes;
    return mlirDictionaryAttrGetElementByName(attributes, name);
}

static MlirAttribute attribute_in_operation(void *op, MlirStringRef name)
{
    return mlirOperationGetAttributeByName(*(MlirOperation *)op, name);
}

static MlirAttribute attribute_in_rewrite(void *context, MlirStringRef name)
{
    const cute_rewrite *r = context;
    for (intptr_t i = 0; i < r->attribute_count; i++)
        if (mlirStringRefEqual(mlirIdentifierStr(r->attributes[i].name), name))
            return r->attributes[i].attribute;
    return (MlirAttribute){NULL};
}

/* Appends coordinate attributes to the operands, which have room. */
static cute_status add_coordinates(cute_arena *arena, attribute_of get, void *context, cute_value *operands,
                                   size_t *count, cute_diag *diag)
{
    for (size_t i = 0; i < COORDINATE_NAMES; i++) {
        MlirAttribute one = get(context, cute_text(coordinate_names[i]));
        if (mlirAttributeIsNull(one)) continue;
        MlirStringRef text = cute_coord_text(one);
        CUTE_TRY(cute_value_parse(arena, CUTE_COORD, text.data, text.length, &operands[*count], NULL, diag));
        ++*count;
    }
    return CUTE_OK;
}

/* ---- inference ---- */

/* The value of an operand by its type. A builtin integer is a scalar int_tuple, dynamic except for
 * constants in CuTe DSL mode. */
static cute_status operand_value(cute_arena *arena, MlirValue operand, bool dsl, cute_value *out,
                                 cute_diag *diag)
{
    MlirType type = mlirValueGetType(operand);
    if (mlirTypeIsAInteger(type)) {
        MlirOperation made = cute_defining_op(operand);
        bool known = dsl && !mlirOperationIsNull(made) && cute_op_is(made, "arith.constant");
        int64_t number =
            known ? mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(made, cute_text("value"))) : 0;
        *out = cute_value_of_tree(CUTE_INT_TUPLE,
                                  known ? cute_tree_number(arena, number)
                                        : cute_tree_unknown(arena, (int)mlirIntegerTypeGetWidth(type), NULL));
        return out->tree ? CUTE_OK : cute_fail_memory(diag);
    }
    return cute_type_value(type, out, diag);
}

/* Operations of layout_ops.def precede those of atoms. */
enum {
    LAYOUT_OPERATIONS = 0
#define CUTE_OPERATION(...) +1
#include "cute/layout_ops.def"
#undef CUTE_OPERATION
};

cute_status cute_algebra_apply(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                               cute_value *result, cute_diag *diag)
{
    size_t count = (size_t)query->operand_count;
    cute_value *operands = cute_arena_array(arena, count + COORDINATE_NAMES, sizeof *operands);
    if (!operands) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++)
        CUTE_TRY(operand_value(arena, query->operands[i], query->dsl, &operands[i], diag));
    void *dictionary = (void *)query->attributes.ptr;
    CUTE_TRY(add_coordinates(arena, attribute_in_dictionary, dictionary, operands, &count, diag));
    cute_attributes attributes;
    CUTE_TRY(read_attributes(arena, attribute_in_dictionary, dictionary, &attributes, diag));
    if (query->dsl && (int)operation < LAYOUT_OPERATIONS)
        return cute_apply_dsl(arena, NULL, operation, operands, count, &attributes, result, diag);
    return cute_atom_apply(arena, NULL, operation, operands, count, &attributes, result, diag);
}

cute_status cute_algebra_evaluate(const cute_op_row *row, MlirOperation op, cute_arena *arena,
                                  const cute_arith *arith, cute_value *operands, cute_value *result,
                                  cute_diag *diag)
{
    size_t count = (size_t)mlirOperationGetNumOperands(op);
    cute_attributes attributes;
    CUTE_TRY(add_coordinates(arena, attribute_in_operation, &op, operands, &count, diag));
    CUTE_TRY(read_attributes(arena, attribute_in_operation, &op, &attributes, diag));
    return cute_atom_apply(arena, arith, row->algebra, operands, count, &attributes, result, diag);
}

static cute_status infer_algebra_type(cute_arena *arena, const cute_op_query *query, cute_operation operation,
                                      cute_op_types *out, cute_diag *diag)
{
    cute_value result;
    CUTE_TRY(cute_algebra_apply(arena, query, operation, &result, diag));
    MlirType type = cute_type_of_value(query->context, arena, &result);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

bool cute_algebra_infer(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    bool ok = arena && infer_algebra_type(arena, query, row->algebra, out, NULL) == CUTE_OK;
    if (arena && !ok) { /* again, to collect the messages */
        cute_diag *diag = cute_diag_create();
        infer_algebra_type(arena, query, row->algebra, out, diag);
        cute_op_fail_diag(query->location, diag);
        cute_diag_destroy(diag);
    }
    cute_arena_destroy(arena);
    return ok;
}

static cute_status infer_rewrite(cute_arena *arena, MlirContext context, cute_rewrite *r, MlirType *out)
{
    cute_operation operation;
    cute_value operands[3], result;
    cute_attributes attributes;
    if (strncmp(r->name, "cute.", 5) != 0 || !cute_operation_find(r->name + 5, &operation))
        return CUTE_INVALID;
    for (intptr_t i = 0; i < r->operand_count; i++)
        CUTE_TRY(cute_type_value(mlirValueGetType(r->operands[i]), &operands[i], NULL));
    CUTE_TRY(read_attributes(arena, attribute_in_rewrite, r, &attributes, NULL));
    CUTE_TRY(cute_atom_apply(arena, NULL, operation, operands, (size_t)r->operand_count, &attributes, &result,
                             NULL));
    *out = cute_type_of_value(context, arena, &result);
    return mlirTypeIsNull(*out) ? CUTE_SYSTEM : CUTE_OK;
}

MlirOperation cute_rewrite_insert(MlirOperation where, const cute_rewrite *r)
{
    cute_arena *arena = cute_arena_create();
    cute_builder b = cute_builder_before(where);
    cute_rewrite copy = *r;
    MlirType type;
    MlirOperation made = {NULL};
    if (arena && infer_rewrite(arena, b.context, &copy, &type) == CUTE_OK)
        made = cute_build(&b, r->name, (cute_operands){r->operands, r->operand_count}, CUTE_TYPES(type),
                          (cute_named){r->attributes, r->attribute_count});
    cute_arena_destroy(arena);
    return made;
}

/* ---- expansion ---- */

cute_status cute_algebra_emit(const cute_op_row *row, const cute_expansion *x, MlirOperation op,
                              cute_value_binder bind)
{
    size_t own = (size_t)mlirOperationGetNumOperands(op), count = own;
    cute_value *operands = cute_arena_array(x->arena, count + COORDINATE_NAMES, sizeof *operands), result;
    if (!operands) return cute_fail_memory(x->diag);
    cute_attributes attributes;
    CUTE_TRY(read_attributes(x->arena, attribute_in_operation, &op, &attributes, x->diag));
    CUTE_TRY(add_coordinates(x->arena, attribute_in_operation, &op, operands, &count, x->diag));
    /* Without emitting first: a static result needs no code. */
    for (size_t i = 0; i < own; i++)
        CUTE_TRY(
            operand_value(x->arena, mlirOperationGetOperand(op, (intptr_t)i), false, &operands[i], x->diag));
    CUTE_TRY(cute_atom_apply(x->arena, NULL, row->algebra, operands, count, &attributes, &result, x->diag));
    if (cute_value_is_static(&result)) return cute_value_replace(x, op, 0, &result);
    for (size_t i = 0; i < own; i++)
        CUTE_TRY(bind(x, op, mlirOperationGetOperand(op, (intptr_t)i), &operands[i]));
    cute_builder b = cute_builder_before(op);
    cute_arith arith = cute_emitter_start(x->emitter, &b);
    CUTE_TRY(cute_atom_apply(x->arena, &arith, row->algebra, operands, count, &attributes, &result, x->diag));
    return cute_value_replace(x, op, 0, &result);
}

cute_status cute_algebra_expand(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    return cute_algebra_emit(row, x, op, cute_value_bind);
}

/* ---- helpers for families ---- */

/* The same leaves in the same order are the same value where the type stays. */
bool cute_rule_operand(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)source;
    out->value = mlirOperationGetOperand(op, 0);
    return true;
}

bool cute_rule_source_operand(MlirOperation op, MlirOperation source, cute_rewrite *out)
{
    (void)op;
    out->value = mlirOperationGetOperand(source, 0);
    return true;
}

void cute_lowered(const cute_op_lowering *l, MlirValue value)
{
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(l->op, 0), value);
    mlirOperationDestroy(l->op);
}

typedef struct leaf_insertion {
    cute_builder builder;
    MlirOperation op;
    MlirValue value;
    intptr_t next; /* operand */
} leaf_insertion;

static void insert_leaf(cute_fields *f, const cute_tree *leaf, const int64_t *path, intptr_t depth)
{
    leaf_insertion *m = f->context;
    if (leaf->value.known) return;
    MlirValue operand = mlirOperationGetOperand(m->op, m->next++);
    m->value = depth ? cute_fields_insert(&m->builder, m->value, operand, path, depth) : operand;
}

/* Replaces static scalar operands, which have no field, by constants. */
static bool fold_operands(const cute_op_lowering *l, const cute_value *result)
{
    intptr_t count = mlirOperationGetNumOperands(l->op);
    cute_builder b = cute_builder_before(l->op);
    cute_int *leaves = calloc((size_t)count + 1, sizeof *leaves);
    if (!leaves) return false;
    cute_value_unknowns(result, leaves, (size_t)count);
    for (intptr_t i = 0; i < count; i++) {
        const cute_value *operand = cute_type_peek(l->operands[i]);
        if (operand && operand->tree->value.known)
            mlirOperationSetOperand(l->op, i,
                                    cute_build_constant(&b, leaves[i].width, operand->tree->value.value));
    }
    free(leaves);
    return true;
}

static bool lower_leaves(const cute_op_lowering *l)
{
    const cute_value *value = cute_type_peek(l->results[0]);
    if (!value || !fold_operands(l, value)) return false;
    leaf_insertion m = {.builder = cute_builder_before(l->op), .op = l->op};
    MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    if (mlirTypeIsALLVMStructType(type)) m.value = cute_fields_poison(&m.builder, type);
    cute_fields_walk(&(cute_fields){.leaf = insert_leaf, .context = &m}, value);
    cute_lowered(l, m.value);
    return true;
}

bool cute_lower_parts(const cute_op_row *row, const cute_op_lowering *l)
{
    if (row->parts == CUTE_PARTS_LEAVES) return lower_leaves(l);
    cute_builder b = cute_builder_before(l->op);
    MlirValue value = cute_fields_poison(&b, mlirValueGetType(mlirOperationGetResult(l->op, 0)));
    intptr_t count = mlirOperationGetNumOperands(l->op);
    for (int64_t i = 0; i < count; i++) {
        MlirValue operand =
            mlirOperationGetOperand(l->op, row->parts == CUTE_PARTS_REVERSED ? count - 1 - i : i);
        value = cute_fields_insert(&b, value, operand, &i, 1);
    }
    cute_lowered(l, value);
    return true;
}

static const cute_op_row rows[] = {
#define CUTE_OPERATION(id, op, least, most, summary) {CUTE_ALGEBRA_EXPANDED(id, op)},
#include "cute/layout_ops.def"
#undef CUTE_OPERATION
};
const cute_op_family cute_family_algebra = {rows, sizeof rows / sizeof *rows};
