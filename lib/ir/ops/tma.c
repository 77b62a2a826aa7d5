/* TMA operations: making atoms from tensors, executable atoms, partitions, tensor maps. Inference,
 * verification and expansion on top of lib/atoms/tma.c. */
#include "lib/atoms/tma.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/dialects/fields.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/emitter.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/check.h"
#include "lib/ir/ops/tma.h"

/* ---- making atoms ---- */

static MlirAttribute attribute_in_query(const void *query, const char *name)
{
    MlirAttribute all = ((const cute_op_query *)query)->attributes;
    return mlirAttributeIsNull(all) ? all : mlirDictionaryAttrGetElementByName(all, cute_text(name));
}

static MlirAttribute attribute_in_operation(const void *op, const char *name)
{
    return mlirOperationGetAttributeByName(*(const MlirOperation *)op, cute_text(name));
}

typedef MlirAttribute (*attribute_of)(const void *source, const char *name);

/* The enumerator of `#cute_nvgpu.x<word>`, or NULL. */
static const char *word_of(cute_arena *arena, MlirAttribute attribute)
{
    MlirStringRef word = mlirAttributeIsNull(attribute) ? cute_text("") : cute_word_text(attribute);
    return word.length ? cute_arena_copy(arena, word.data, word.length) : NULL;
}

static cute_tma_operation operation_of(const char *name)
{
    return strstr(name, "tma_load")    ? CUTE_TMA_LOAD
           : strstr(name, "tma_store") ? CUTE_TMA_STORE
                                       : CUTE_TMA_REDUCE;
}

/* Operands and attributes of an operation that makes a TMA atom. */
typedef struct tma_operands {
    cute_value tensor, tile, map;
    cute_tma_im2col im2col;
    cute_tma_request request;
} tma_operands;

/* Parses a string attribute; *value keeps its default if the attribute is absent. */
static cute_status read_choice(cute_arena *arena, cute_tma_choice choice, MlirAttribute attribute, int *value,
                               cute_diag *diag)
{
    if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute)) return CUTE_OK;
    MlirStringRef word = mlirStringAttrGetValue(attribute);
    const char *text = cute_arena_copy(arena, word.data, word.length);
    return text ? cute_tma_word_find(choice, text, value, diag) : cute_fail_memory(diag);
}

/* Reads one integer per spatial mode of a tensor of `rank` modes. */
static cute_status read_pixels(MlirAttribute attribute, const char *name, intptr_t rank, bool needed,
                               int64_t *out, cute_diag *diag)
{
    intptr_t count = -1;
    if (!mlirAttributeIsNull(attribute) && mlirAttributeIsADenseI64Array(attribute))
        count = mlirDenseArrayGetNumElements(attribute);
    if (count < 0 && !needed) return CUTE_OK;
    char got[24] = "none";
    if (count >= 0) snprintf(got, sizeof got, "%d", (int)count);
    if (count != rank - 2)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects %s of %d numbers, [...], for a tensor of %d modes, but got %s", name,
                         (int)rank - 2, (int)rank, got);
    for (intptr_t i = 0; i < count; i++) out[i] = mlirDenseI64ArrayGetElement(attribute, i);
    return CUTE_OK;
}

static cute_status read_im2col(attribute_of get, const void *source, tma_operands *m, cute_diag *diag)
{
    const cute_tree *shape = m->tensor.layout.shape;
    intptr_t rank = shape && shape->kind == CUTE_TREE_TUPLE ? (intptr_t)shape->count : 1;
    if (rank < 3 || rank > CUTE_MAP_RANK)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tensor of 3 to 5 modes: channels, width, optional height and depth, and "
                         "batch, but got %d",
                         (int)rank);
    for (int i = 0; i < CUTE_MAP_SPATIAL; i++)
        m->im2col.stride[i] = m->im2col.filter[i] = m->im2col.dilation[i] = 1;
    CUTE_TRY(read_pixels(get(source, "lower"), "lower", rank, true, m->im2col.lower, diag));
    CUTE_TRY(read_pixels(get(source, "upper"), "upper", rank, true, m->im2col.upper, diag));
    CUTE_TRY(read_pixels(get(source, "stride"), "stride", rank, false, m->im2col.stride, diag));
    CUTE_TRY(read_pixels(get(source, "filter"), "filter", rank, false, m->im2col.filter, diag));
    CUTE_TRY(read_pixels(get(source, "dilation"), "dilation", rank, false, m->im2col.dilation, diag));
    m->request.im2col = &m->im2col;
    return CUTE_OK;
}

static cute_status read_tma_operands(cute_arena *arena, const char *name, const MlirValue *operands,
                                     intptr_t count, attribute_of get, const void *source, tma_operands *m,
                                     cute_diag *diag)
{
    bool im2col = strstr(name, "im2col");
    if (count < 2 || count > 3)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a tensor, the layout of a tile in shared memory and an optional map to the "
                         "tensor's modes, but got %d operands",
                         (int)count);
    static const char *const what[] = {"a tensor in gmem", "the layout of a tile", "a layout"};
    cute_value *const values[] = {&m->tensor, &m->tile, &m->map};
    for (intptr_t i = 0; i < count; i++) {
        bool good = cute_type_value(mlirValueGetType(operands[i]), values[i], NULL) == CUTE_OK;
        if (good && i == 0) good = values[i]->type == CUTE_MEMREF;
        if (good && i == 1) good = values[i]->type == CUTE_LAYOUT || values[i]->type == CUTE_COMPOSED_LAYOUT;
        if (good && i == 2) good = values[i]->type == CUTE_LAYOUT;
        if (!good) return cute_fail(diag, CUTE_INVALID, NULL, "expects %s as operand #%d", what[i], (int)i);
    }
    m->request = (cute_tma_request){.operation = operation_of(name),
                                    .tensor = &m->tensor,
                                    .tile = &m->tile,
                                    .map = count > 2 ? &m->map : NULL,
                                    .format = word_of(arena, get(source, "tma_format")),
                                    .multicast = 1};
    const char *kind = word_of(arena, get(source, "kind"));
    *(m->request.operation == CUTE_TMA_LOAD ? &m->request.kind : &m->request.reduce) = kind;
    MlirAttribute multicast = get(source, "num_multicast");
    if (!mlirAttributeIsNull(multicast) && mlirAttributeIsAInteger(multicast))
        m->request.multicast = mlirIntegerAttrGetValueInt(multicast);
    if (m->request.multicast < 1 || m->request.multicast > 16)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects 1 to 16 blocks as num_multicast, but got %lld",
                         (long long)m->request.multicast);
    m->request.promotion = CUTE_MAP_L2_128B;
    CUTE_TRY(
        read_choice(arena, CUTE_TMA_INTERLEAVE, get(source, "interleave"), &m->request.interleave, diag));
    CUTE_TRY(
        read_choice(arena, CUTE_TMA_PROMOTION, get(source, "l2_promotion"), &m->request.promotion, diag));
    CUTE_TRY(read_choice(arena, CUTE_TMA_FILL, get(source, "fill"), &m->request.fill, diag));
    return im2col ? read_im2col(get, source, m, diag) : CUTE_OK;
}

static cute_status infer_make_tma_in(cute_arena *arena, const cute_op_row *row, const cute_op_query *query,
                                     cute_op_types *out, cute_diag *diag)
{
    tma_operands m;
    cute_tma_map map;
    CUTE_TRY(read_tma_operands(arena, row->name, query->operands, query->operand_count, attribute_in_query,
                               query, &m, diag));
    CUTE_TRY(cute_tma_plan(arena, &m.request, &map, diag));
    cute_value atom = {.type = CUTE_ATOM, .atom = map.atom};
    MlirType types[] = {cute_type_of_value(query->context, arena, &atom),
                        cute_type_of_value(query->context, arena, &map.coordinates)};
    if (mlirTypeIsNull(types[0]) || mlirTypeIsNull(types[1])) return cute_fail_memory(diag);
    cute_op_types_add(out, types[0]);
    cute_op_types_add(out, types[1]);
    return CUTE_OK;
}

typedef cute_status infer_in(cute_arena *arena, const cute_op_row *row, const cute_op_query *query,
                             cute_op_types *out, cute_diag *diag);

static const char *first_message(const cute_diag *diag)
{
    return diag && cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "out of memory";
}

/* Runs one inference in its own arena and reports its errors. */
static bool infer_in_arena(infer_in *infer, const cute_op_row *row, const cute_op_query *query,
                           cute_op_types *out)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    bool ok = arena && infer(arena, row, query, out, diag) == CUTE_OK;
    if (!ok) cute_op_fail(query->location, row->name, "%s", first_message(diag));
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static bool infer_make_tma(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    return infer_in_arena(infer_make_tma_in, row, query, out);
}

cute_status cute_tma_plan_of(cute_arena *arena, MlirOperation op, cute_tma_map *out, cute_diag *diag)
{
    tma_operands m;
    MlirValue operands[3];
    intptr_t count = mlirOperationGetNumOperands(op);
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    const char *text = cute_arena_copy(arena, name.data, name.length);
    if (!text) return cute_fail_memory(diag);
    for (intptr_t i = 0; i < count && i < 3; i++) operands[i] = mlirOperationGetOperand(op, i);
    CUTE_TRY(read_tma_operands(arena, text, operands, count, attribute_in_operation, &op, &m, diag));
    return cute_tma_plan(arena, &m.request, out, diag);
}

/* Checks the results against the inferred ones. */
static bool verify_make_tma(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_tma_map map;
    bool ok = arena && cute_tma_plan_of(arena, op, &map, diag) == CUTE_OK;
    if (!ok) {
        cute_check_fail(&c, "%s", first_message(diag));
    } else {
        const char *atom = cute_check_result(&c, 0)->atom->text;
        const cute_value *coordinates = cute_check_result(&c, 1);
        ok = !strcmp(atom, map.atom->text) ||
             cute_check_fail(&c, "expects result #0 to be '%s', but got '%s'", map.atom->text, atom);
        bool same = cute_tree_congruent(coordinates->layout.shape, map.coordinates.layout.shape) &&
                    cute_tree_equal(coordinates->layout.stride, map.coordinates.layout.stride) &&
                    cute_tree_congruent(coordinates->tree, map.coordinates.tree);
        if (ok && !same)
            ok = cute_check_fail(&c, "expects result #1 to be the coordinates \"%s\", but got \"%s\"",
                                 cute_layout_text(arena, map.coordinates.layout),
                                 cute_layout_text(arena, coordinates->layout));
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

/* ---- executable atoms ---- */

static cute_status infer_exec_in(cute_arena *arena, const cute_op_row *row, const cute_op_query *query,
                                 cute_op_types *out, cute_diag *diag)
{
    (void)row;
    const cute_value *from =
        query->operand_count == 1 ? cute_type_peek(mlirValueGetType(query->operands[0])) : NULL;
    if (!from || !from->atom || !from->atom->tma || from->atom->tma->executable)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects a non-executable TMA atom, made by make_non_exec_tiled_tma_* or "
                         "make_non_exec_im2col_tma_*");
    cute_value atom = {.type = CUTE_ATOM};
    CUTE_TRY(cute_tma_executable(arena, from->atom, &atom.atom, diag));
    MlirType type = cute_type_of_value(query->context, arena, &atom);
    if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
    cute_op_types_add(out, type);
    return CUTE_OK;
}

static bool infer_exec(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    return infer_in_arena(infer_exec_in, row, query, out);
}

static bool verify_exec(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    const cute_atom *from = cute_check_operand(&c, 0)->atom, *to = cute_check_result(&c, 0)->atom, *expected;
    cute_arena *arena = cute_arena_create();
    bool ok = arena && cute_tma_executable(arena, from, &expected, NULL) == CUTE_OK;
    if (!ok)
        cute_check_fail(&c, "out of memory");
    else if (strcmp(expected->text, to->text) != 0)
        ok = cute_check_fail(&c, "expects a result of '%s', but got '%s'", expected->text, to->text);
    cute_arena_destroy(arena);
    return ok;
}

/* Sets the tensor map; the other fields are set later. */
static bool lower_exec(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row;
    cute_builder b = cute_builder_before(l->op);
    MlirType type = mlirValueGetType(mlirOperationGetResult(l->op, 0));
    int64_t at = CUTE_TMA_DESCRIPTOR;
    cute_lowered(
        l, cute_fields_insert(&b, cute_fields_poison(&b, type), mlirOperationGetOperand(l->op, 0), &at, 1));
    return true;
}

/* ---- partitions ---- */

typedef struct partition_operands {
    cute_value coordinate, blocks, shared, global;
} partition_operands;

static cute_status check_partition_operands(const partition_operands *p, cute_diag *diag)
{
    if (p->shared.type != CUTE_MEMREF || p->shared.pointer->space != CUTE_SPACE_SMEM)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tensor in smem as operand #3");
    if (p->global.type != CUTE_COORD_TENSOR && p->global.type != CUTE_MEMREF)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects a tensor of coordinates as operand #4");
    if (p->blocks.type != CUTE_LAYOUT)
        return cute_fail(diag, CUTE_INVALID, NULL, "expects the layout of blocks as operand #2");
    return CUTE_OK;
}

static const cute_tma *tma_of(MlirValue atom)
{
    const cute_value *value = cute_type_peek(mlirValueGetType(atom));
    return value && value->atom ? value->atom->tma : NULL;
}

/* The values of the operands of tma_partition after the atom, by their types. */
static cute_status read_partition_operands(cute_arena *arena, const MlirValue *operands,
                                           partition_operands *p, cute_diag *diag)
{
    cute_value *const values[] = {&p->coordinate, &p->blocks, &p->shared, &p->global};
    for (int i = 0; i < 4; i++) {
        MlirType type = mlirValueGetType(operands[i + 1]);
        if (mlirTypeIsAInteger(type)) {
            int width = (int)mlirIntegerTypeGetWidth(type);
            *values[i] = cute_value_of_tree(CUTE_COORD, cute_tree_unknown(arena, width, NULL));
            if (!values[i]->tree) return cute_fail_memory(diag);
        } else if (cute_type_value(type, values[i], NULL) != CUTE_OK) {
            return cute_fail(diag, CUTE_INVALID, NULL, "expects a value of the dialect cute as operand #%d",
                             i + 1);
        }
    }
    return CUTE_OK;
}

static cute_status infer_partition_in(cute_arena *arena, const cute_op_row *row, const cute_op_query *query,
                                      cute_op_types *out, cute_diag *diag)
{
    (void)row;
    partition_operands p;
    cute_value results[2];
    if (query->operand_count != 5)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expects an atom, the block's coordinate, the layout of blocks, a tensor in shared "
                         "memory and a tensor of coordinates, but got %d operands",
                         (int)query->operand_count);
    const cute_tma *tma = tma_of(query->operands[0]);
    if (!tma) return cute_fail(diag, CUTE_INVALID, NULL, "expects a TMA atom as operand #0");
    CUTE_TRY(read_partition_operands(arena, query->operands, &p, diag));
    CUTE_TRY(check_partition_operands(&p, diag));
    CUTE_TRY(cute_tma_partition(arena, NULL, tma, &p.coordinate, &p.blocks, &p.shared, &p.global, &results[0],
                                &results[1], diag));
    for (int i = 0; i < 2; i++) {
        MlirType type = cute_type_of_value(query->context, arena, &results[i]);
        if (mlirTypeIsNull(type)) return cute_fail_memory(diag);
        cute_op_types_add(out, type);
    }
    return CUTE_OK;
}

static bool infer_partition(const cute_op_row *row, const cute_op_query *query, cute_op_types *out)
{
    return infer_in_arena(infer_partition_in, row, query, out);
}

static bool verify_element(const cute_check *c, const char *what, const cute_pointer *pointer,
                           const cute_tma *tma)
{
    if (!strcmp(pointer->element, tma->element)) return true;
    return cute_check_fail(c,
                           "expects %s to have elements of type '%s', the element type of '%s', but got '%s'",
                           what, tma->element, cute_check_operand(c, 0)->atom->mnemonic, pointer->element);
}

/* Whether two trees have the same structure and equal static leaves. */
static bool trees_agree(const cute_tree *a, const cute_tree *b)
{
    if (a->kind != b->kind || a->count != b->count) return false;
    if (a->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < a->count; i++)
            if (!trees_agree(a->items[i], b->items[i])) return false;
        return true;
    }
    return !a->value.known || !b->value.known || a->value.value == b->value.value;
}

/* Checks the layouts of the results against the inferred ones; divisors may differ. */
static bool verify_partition(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    partition_operands p;
    MlirValue operands[5];
    const cute_tma *tma = tma_of(mlirOperationGetOperand(op, 0));
    const cute_pointer *memory = cute_check_operand(&c, 3)->pointer;
    if (!cute_check_space(&c, "operand #3", memory, CUTE_SPACE_SMEM) ||
        !verify_element(&c, "operand #3", memory, tma))
        return false;
    for (int i = 0; i < 5; i++) operands[i] = mlirOperationGetOperand(op, i);
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_value results[2];
    bool ok = arena && read_partition_operands(arena, operands, &p, diag) == CUTE_OK &&
              check_partition_operands(&p, diag) == CUTE_OK &&
              cute_tma_partition(arena, NULL, tma, &p.coordinate, &p.blocks, &p.shared, &p.global,
                                 &results[0], &results[1], diag) == CUTE_OK;
    if (!ok) cute_check_fail(&c, "%s", first_message(diag));
    for (int i = 0; ok && i < 2; i++) {
        const cute_value *stated = cute_check_result(&c, i);
        ok = (stated->type == results[i].type && trees_agree(stated->layout.shape, results[i].layout.shape) &&
              trees_agree(stated->layout.stride, results[i].layout.stride)) ||
             cute_check_fail(&c, "expects result #%d with the layout \"%s\", but got \"%s\"", i,
                             cute_layout_text(arena, results[i].layout),
                             cute_layout_text(arena, stated->layout));
    }
    ok = ok && cute_check_space(&c, "result #0", cute_check_result(&c, 0)->pointer, CUTE_SPACE_SMEM) &&
         cute_check_element(&c, "result #0", cute_check_result(&c, 0)->pointer->element, memory->element);
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return ok;
}

static cute_status expand_partition(const cute_op_row *row, const cute_expansion *x, MlirOperation op)
{
    (void)row;
    partition_operands p;
    cute_value results[2];
    cute_value *const values[] = {&p.coordinate, &p.blocks, &p.shared, &p.global};
    for (int i = 0; i < 4; i++)
        CUTE_TRY(cute_value_bind(x, op, mlirOperationGetOperand(op, i + 1), values[i]));
    CUTE_TRY(check_partition_operands(&p, x->diag));
    cute_builder b = cute_builder_before(op);
    cute_arith arith = cute_emitter_start(x->emitter, &b);
    CUTE_TRY(cute_tma_partition(x->arena, &arith, tma_of(mlirOperationGetOperand(op, 0)), &p.coordinate,
                                &p.blocks, &p.shared, &p.global, &results[0], &results[1], x->diag));
    CUTE_TRY(cute_value_replace(x, op, 0, &results[0]));
    return cute_value_replace(x, op, 1, &results[1]);
}

/* ---- tensor maps in shared memory ---- */

/* copy_tma_desc and update_tma_desc: the tensor map is in shared memory. */
static bool verify_descriptor(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    intptr_t last = mlirOperationGetNumOperands(op) - 1;
    const cute_pointer *to = cute_check_operand(&c, last)->pointer;
    if (!cute_check_space(&c, "the descriptor", to, CUTE_SPACE_SMEM)) return false;
    if (to->align % 128)
        return cute_check_fail(&c, "expects the descriptor to be aligned to 128 bytes, but got %lld",
                               (long long)to->align);
    if (last < 2) return true;
    if (tma_of(mlirOperationGetOperand(op, 0))->im2col)
        return cute_check_fail(&c, "expects a tiled atom: an im2col tensor map cannot be updated");
    const cute_pointer *tensor = cute_check_operand(&c, 1)->pointer;
    return cute_check_space(&c, "operand #1", tensor, CUTE_SPACE_GMEM) &&
           verify_element(&c, "operand #1", tensor, tma_of(mlirOperationGetOperand(op, 0)));
}

/* ---- tensor maps of the host ---- */

static bool verify_host_map(const cute_op_row *row, MlirOperation op)
{
    cute_check c = cute_check_begin(row, op);
    MlirAttribute box = attribute_in_operation(&op, "box"), modes = attribute_in_operation(&op, "modes");
    intptr_t rank = mlirDenseArrayGetNumElements(box), operands = mlirOperationGetNumOperands(op);
    MlirStringRef format = mlirStringAttrGetValue(attribute_in_operation(&op, "format"));
    cute_tensor_map_type type;
    int bits;
    static const char *const pixels[] = {"lower", "upper", "stride"};
    static const struct {
        const char *name;
        cute_tma_choice choice;
    } words[] = {
        {"interleave", CUTE_TMA_INTERLEAVE}, {"l2_promotion", CUTE_TMA_PROMOTION}, {"fill", CUTE_TMA_FILL}};
    bool im2col = !mlirAttributeIsNull(attribute_in_operation(&op, "lower"));
    if (im2col && rank != 2)
        return cute_check_fail(
            &c, "expects a box of channels and pixels for the im2col mode, but got %d numbers", (int)rank);
    if (im2col) rank = mlirDenseArrayGetNumElements(modes);
    if (rank < (im2col ? 3 : 1) || rank > CUTE_MAP_RANK || mlirDenseArrayGetNumElements(modes) != rank)
        return cute_check_fail(&c, "expects a box and modes of %d to 5 dimensions, but got %d and %d",
                               im2col ? 3 : 1, (int)rank, (int)mlirDenseArrayGetNumElements(modes));
    for (int i = 0; i < 3; i++) {
        MlirAttribute list = attribute_in_operation(&op, pixels[i]);
        intptr_t count = mlirAttributeIsNull(list) ? 0 : mlirDenseArrayGetNumElements(list);
        if (count != (im2col ? rank - 2 : 0) && (i < 2 || count))
            return cute_check_fail(&c, "expects %s of %d numbers, but got %d", pixels[i],
                                   (int)(im2col ? rank - 2 : 0), (int)count);
    }
    for (int i = 0, value; i < 3; i++) {
        cute_arena *arena = cute_arena_create();
        cute_diag *diag = cute_diag_create();
        bool known = arena && read_choice(arena, words[i].choice, attribute_in_operation(&op, words[i].name),
                                          &value, diag) == CUTE_OK;
        if (!known) cute_check_fail(&c, "%s", first_message(diag));
        cute_diag_destroy(diag);
        cute_arena_destroy(arena);
        if (!known) return false;
    }
    if (operands != 2 * rank)
        return cute_check_fail(&c, "expects %d operands, an address, %d extents and %d strides, but got %d",
                               (int)(2 * rank), (int)rank, (int)rank - 1, (int)operands);
    if (!cute_tma_format_find(format.data, format.length, &type, &bits))
        return cute_check_fail(&c, "expects a format such as F16_RN, but got '%.*s'", (int)format.length,
                               format.data);
    return true;
}

/* Kept until the host code is removed. */
static bool lower_host_map(const cute_op_row *row, const cute_op_lowering *l)
{
    (void)row, (void)l;
    return true;
}

static const cute_op_row rows[] = {
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_load",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_store",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_non_exec_tiled_tma_reduce",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_non_exec_im2col_tma_load",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_non_exec_im2col_tma_store",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_non_exec_im2col_tma_reduce",
     .infer = infer_make_tma,
     .verify = verify_make_tma},
    {.name = "cute_nvgpu.atom.make_exec_tma",
     .infer = infer_exec,
     .verify = verify_exec,
     .lower = lower_exec},
    {.name = "cute_nvgpu.atom.tma_partition",
     .infer = infer_partition,
     .verify = verify_partition,
     .expand = expand_partition},
    {.name = "cute_nvgpu.host.tensor_map", .verify = verify_host_map, .lower = lower_host_map},
    {.name = "cute_nvgpu.prefetch_tma_desc"},
    {.name = "cute_nvgpu.copy_tma_desc", .verify = verify_descriptor},
    {.name = "cute_nvgpu.update_tma_desc", .verify = verify_descriptor},
};
const cute_op_family cute_family_tma = {rows, sizeof rows / sizeof *rows};
