/* Steps of launch plans: gpu.alloc, copies and fills of memory, and asynchronous operations of the dialect gpu as work on streams,
 * ordered by events (docs/metadata.md).
 *
 * A token is work on a stream: the operation that takes it continues the stream, and each further operation that takes it gets
 * another stream, which waits for the token's event. Operations without a token are on stream 0 and end before the next operation of
 * the host: a stream waits for stream 0 before its next work if stream 0 got any. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/GPU.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/plan.h"

/* ---- memory ---- */

/* Whether the memory that `op` allocates is freed in its block, so that no other iteration of a loop can refer to it. */
static bool is_freed_in_block(MlirOperation op)
{
    MlirValue memory = mlirOperationGetResult(op, 0);
    for (MlirOpOperand use = mlirValueGetFirstUse(memory); !mlirOpOperandIsNull(use);
         use = mlirOpOperandGetNextUse(use)) {
        MlirOperation user = mlirOpOperandGetOwner(use);
        if (cute_op_is(user, "gpu.dealloc") &&
            mlirBlockEqual(mlirOperationGetBlock(user), mlirOperationGetBlock(op)))
            return true;
    }
    return false;
}

bool plan_temporary(plan *p, MlirOperation op, json_t *entry, int64_t *address)
{
    if (p->loops && cute_op_is(op, "gpu.alloc") && !is_freed_in_block(op)) {
        json_decref(entry);
        return plan_refuse(p, op,
                           "is in a loop without gpu.dealloc: memory of an iteration has to be freed in it");
    }
    if (p->loops && !cute_op_is(op, "gpu.alloc")) {
        json_decref(entry);
        return plan_refuse(p, op, "is in a loop: memory is provided once for each run of the host function");
    }
    if (p->condition != PLAN_UNDEFINED) json_object_set_new(entry, "if", json_integer(p->condition));
    json_t *value = json_pack("[siI]", "temporary", 64, (json_int_t)json_array_size(p->temporaries));
    json_array_append_new(p->temporaries, entry);
    *address = plan_add(p, 64, value);
    return true;
}

/* Bytes of an element; 0 after a refusal. */
static int64_t element_bytes(plan *p, MlirOperation op, MlirType memref)
{
    int64_t size = 0, align;
    MlirType element = mlirShapedTypeGetElementType(memref);
    if (mlirTypeIsAIndex(element)) return 8;
    if (cute_type_layout(element, &size, &align) && size > 0) return size;
    plan_refuse(p, op, "has elements of an unsupported type");
    return 0;
}

/* Whether the elements follow each other in row-major order, according to the type. */
static bool is_contiguous(MlirType memref)
{
    MlirAttribute layout = mlirMemRefTypeGetLayout(memref);
    intptr_t rank = mlirShapedTypeGetRank(memref);
    if (mlirAttributeIsAAffineMap(layout)) return mlirAffineMapIsIdentity(mlirAffineMapAttrGetValue(layout));
    if (!mlirAttributeIsAStridedLayout(layout)) return false;
    int64_t expected = 1;
    for (intptr_t i = rank; i-- > 0;) {
        if (mlirStridedLayoutAttrGetStride(layout, i) != expected) return false;
        if (!i) break;
        if (mlirShapedTypeIsDynamicDim(memref, i)) return false;
        expected *= mlirShapedTypeGetDimSize(memref, i);
    }
    return true;
}

/* The leaves of a memref: two addresses, the offset, sizes and strides; the address of the first element, and the size of all in bytes. */
static bool elements_of(plan *p, MlirOperation op, MlirValue memref, const int64_t **leaves, int64_t *address,
                        int64_t *bytes)
{
    const int64_t *items;
    size_t count;
    MlirType type = mlirValueGetType(memref);
    if (!mlirTypeIsAMemRef(type)) return plan_refuse(p, op, "is of a memref without a rank");
    int64_t rank = mlirShapedTypeGetRank(type), size = element_bytes(p, op, type);
    if (!size || !plan_leaves(p, op, memref, &items, &count)) return false;
    if (count != (size_t)(3 + 2 * rank)) return plan_refuse(p, op, "is of an unknown memref");
    int64_t unit = plan_constant(p, 64, size);
    *address = plan_operation(p, "add", 64, items[1], plan_operation(p, "mul", 64, items[2], unit));
    *bytes = unit;
    for (int64_t i = 0; i < rank; i++) *bytes = plan_operation(p, "mul", 64, *bytes, items[3 + i]);
    *leaves = items;
    return true;
}

/* ---- tokens ---- */

/* Work on a stream up to an event (-1: none was recorded). */
typedef struct plan_token {
    int stream, event;
    bool taken; /* an operation continues the stream */
} plan_token;

static bool has_several_uses(MlirValue value)
{
    MlirOpOperand use = mlirValueGetFirstUse(value);
    return !mlirOpOperandIsNull(use) && !mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
}

static void put_step(plan *p, json_t *step, int stream)
{
    if (stream) json_object_set_new(step, "stream", json_integer(stream));
    if (p->condition != PLAN_UNDEFINED) json_object_set_new(step, "if", json_integer(p->condition));
    json_array_append_new(p->steps, step);
    plan_add(p, 1, json_pack("[siI]", "step", 1, (json_int_t)json_array_size(p->steps) - 1));
}

static void put_record(plan *p, int stream, int event)
{
    put_step(p, json_pack("{si}", "record", event), stream);
}

static void put_wait(plan *p, int stream, int event)
{
    put_step(p, json_pack("{si}", "wait", event), stream);
}

/* `stream` waits for the work of `other` so far. */
static void put_order(plan *p, int stream, int other)
{
    if (stream == other) return;
    int event = p->events++;
    put_record(p, other, event);
    put_wait(p, stream, event);
}

/* Streams past the limit are those of earlier work, which orders more than the source asks for. */
static int new_stream(plan *p)
{
    p->streams = p->streams ? p->streams : 1;
    int stream = 1 + (p->streams - 1) % (PLAN_STREAMS - 1);
    p->streams++;
    return stream;
}

static plan_token *find_token(plan *p, MlirOperation op, MlirValue value)
{
    const plan_known *k = plan_find(p, value);
    if (k && k->text.data && k->text.length == sizeof(plan_token))
        return (plan_token *)(uintptr_t)k->text.data;
    plan_refuse(p, op, "waits for a token that no operation of the same function and region made");
    return NULL;
}

static bool bind_token(plan *p, MlirValue value, int stream)
{
    plan_token *token = cute_arena_alloc(p->arena, sizeof *token);
    if (!token) return false;
    *token = (plan_token){.stream = stream, .event = -1};
    if (has_several_uses(value)) put_record(p, stream, token->event = p->events++);
    return plan_bind_text(p, value, mlirStringRefCreate((const char *)token, sizeof *token));
}

/* The stream that continues a token: its own, or a new one that waits for its event. */
static int take_token(plan *p, plan_token *token)
{
    if (!token->taken || token->event < 0) {
        token->taken = true;
        return token->stream;
    }
    int stream = new_stream(p);
    put_wait(p, stream, token->event);
    return stream;
}

bool plan_begin_work(plan *p, MlirOperation op, intptr_t first, intptr_t count, bool async, int *stream)
{
    *stream = 0;
    for (intptr_t i = 0; i < count; i++) {
        plan_token *token = find_token(p, op, mlirOperationGetOperand(op, first + i));
        if (!token) return false;
        if (async && !i)
            *stream = take_token(p, token);
        else if (token->event >= 0)
            put_wait(p, *stream, token->event);
        else
            put_order(p, *stream, token->stream);
    }
    if (async && !count) *stream = new_stream(p);
    if (!*stream) {
        p->work++;
    } else if (p->seen[*stream] != p->work) {
        p->seen[*stream] = p->work;
        put_order(p, *stream, 0);
    }
    return true;
}

bool plan_end_work(plan *p, MlirOperation op, intptr_t result, int stream)
{
    return result < 0 || bind_token(p, mlirOperationGetResult(op, result), stream);
}

/* The index of the token among the results; -1: the operation is synchronous. */
static intptr_t token_result(MlirOperation op)
{
    intptr_t count = mlirOperationGetNumResults(op);
    return count && mlirTypeIsAGPUAsyncTokenType(mlirValueGetType(mlirOperationGetResult(op, count - 1)))
               ? count - 1
               : -1;
}

intptr_t plan_token_result(MlirOperation op)
{
    return token_result(op);
}

/* ---- operations ---- */

/* A memref without a layout: its leaves are the address twice, offset 0, the sizes and row-major strides. */
static bool note_alloc(plan *p, MlirOperation op)
{
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    MlirAttribute segments = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    int64_t rank = mlirShapedTypeGetRank(type), size = element_bytes(p, op, type), address;
    intptr_t next = mlirDenseI32ArrayGetElement(segments, 0);
    int stream;
    if (!size) return false;
    if (!is_contiguous(type))
        return plan_refuse(p, op, "allocates a memref with gaps or another order than by rows");
    int64_t *items = cute_arena_array(p->arena, (size_t)(3 + 2 * rank), sizeof *items);
    if (!items || !plan_begin_work(p, op, 0, next, token_result(op) >= 0, &stream)) return false;
    json_t *shape = json_array(), *strides = json_array();
    bool ok = true;
    for (int64_t i = 0; i < rank; i++) {
        if (!mlirShapedTypeIsDynamicDim(type, i))
            items[3 + i] = plan_constant(p, 64, mlirShapedTypeGetDimSize(type, i));
        else
            ok = ok && plan_index(p, op, mlirOperationGetOperand(op, next++), &items[3 + i]);
    }
    for (int64_t i = rank; ok && i-- > 0;)
        items[3 + rank + i] = i + 1 == rank
                                  ? plan_constant(p, 64, 1)
                                  : plan_operation(p, "mul", 64, items[3 + rank + i + 1], items[3 + i + 1]);
    for (int64_t i = 0; ok && i < rank; i++) {
        json_array_append_new(shape, json_integer(items[3 + i]));
        json_array_append_new(strides, json_integer(items[3 + rank + i]));
    }
    json_t *entry = json_pack("{sIsIsoso}", "size", (json_int_t)size, "align", (json_int_t)256, "shape",
                              shape, "strides", strides);
    if (!ok) return json_decref(entry), false;
    if (!plan_temporary(p, op, entry, &address)) return false;
    items[0] = items[1] = address;
    items[2] = plan_constant(p, 64, 0);
    return plan_bind(p, mlirOperationGetResult(op, 0), items, (size_t)(3 + 2 * rank)) &&
           plan_end_work(p, op, token_result(op), stream);
}

/* The memory stays until the end of the run. */
static bool note_dealloc(plan *p, MlirOperation op)
{
    int stream;
    return plan_begin_work(p, op, 0, mlirOperationGetNumOperands(op) - 1, token_result(op) >= 0, &stream) &&
           plan_end_work(p, op, token_result(op), stream);
}

static json_t *list_values(const int64_t *values, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count; i++) json_array_append_new(list, json_integer(values[i]));
    return list;
}

static bool note_memcpy(plan *p, MlirOperation op)
{
    intptr_t tokens = mlirOperationGetNumOperands(op) - 2;
    MlirValue target = mlirOperationGetOperand(op, tokens), source = mlirOperationGetOperand(op, tokens + 1);
    int64_t to, from, bytes, same;
    const int64_t *target_leaves, *source_leaves;
    int stream;
    if (!elements_of(p, op, target, &target_leaves, &to, &bytes) ||
        !elements_of(p, op, source, &source_leaves, &from, &same) ||
        !plan_begin_work(p, op, 0, tokens, token_result(op) >= 0, &stream))
        return false;
    int64_t equal = plan_operation(p, "eq", 1, bytes, same);
    MlirType type = mlirValueGetType(target);
    int64_t rank = mlirShapedTypeGetRank(type);
    bool strided = !is_contiguous(type) || !is_contiguous(mlirValueGetType(source));
    for (int64_t i = 0; i < rank && strided; i++)
        equal = plan_operation(p, "and", 1, equal,
                               plan_operation(p, "eq", 1, target_leaves[3 + i], source_leaves[3 + i]));
    if (p->condition != PLAN_UNDEFINED) equal = plan_select(p, p->condition, equal, plan_constant(p, 1, 1));
    plan_add(p, 1,
             json_pack("[siIs]", "assert", 1, (json_int_t)equal,
                       "gpu.memcpy: expected as many elements in the target as in the source"));
    json_t *step =
        json_pack("{sIsIsI}", "copy", (json_int_t)from, "to", (json_int_t)to, "bytes", (json_int_t)bytes);
    if (strided)
        json_object_update_new(step, json_pack("{sIsososo}", "size", (json_int_t)element_bytes(p, op, type),
                                               "shape", list_values(target_leaves + 3, rank), "to_strides",
                                               list_values(target_leaves + 3 + rank, rank), "from_strides",
                                               list_values(source_leaves + 3 + rank, rank)));
    put_step(p, step, stream);
    return plan_end_work(p, op, token_result(op), stream);
}

static bool note_memset(plan *p, MlirOperation op)
{
    intptr_t tokens = mlirOperationGetNumOperands(op) - 2;
    MlirValue memref = mlirOperationGetOperand(op, tokens);
    int64_t to, bytes, value;
    const int64_t *leaves;
    int stream;
    if (!is_contiguous(mlirValueGetType(memref)))
        return plan_refuse(
            p, op, "is of a memref with gaps or another order than by rows: fills are of contiguous memory");
    if (!elements_of(p, op, memref, &leaves, &to, &bytes) ||
        !plan_index(p, op, mlirOperationGetOperand(op, tokens + 1), &value) ||
        !plan_begin_work(p, op, 0, tokens, token_result(op) >= 0, &stream))
        return false;
    put_step(p,
             json_pack("{sIsIsIsI}", "fill", (json_int_t)to, "bytes", (json_int_t)bytes, "value",
                       (json_int_t)value, "width",
                       (json_int_t)element_bytes(p, op, mlirValueGetType(memref))),
             stream);
    return plan_end_work(p, op, token_result(op), stream);
}

/* Without a result, the host waits: later work of all streams follows the tokens. */
static bool note_wait(plan *p, MlirOperation op)
{
    int stream;
    return plan_begin_work(p, op, 0, mlirOperationGetNumOperands(op), token_result(op) >= 0, &stream) &&
           plan_end_work(p, op, token_result(op), stream);
}

static bool note_nothing(plan *p, MlirOperation op)
{
    (void)p, (void)op;
    return true;
}

bool plan_step(plan *p, MlirOperation op, bool *found)
{
    static const struct {
        const char *op;
        bool (*note)(plan *p, MlirOperation op);
    } table[] = {
        {"gpu.alloc", note_alloc},
        {"gpu.dealloc", note_dealloc},
        {"gpu.memcpy", note_memcpy},
        {"gpu.memset", note_memset},
        {"gpu.host_register", note_nothing},
        {"gpu.host_unregister", note_nothing},
        {"gpu.wait", note_wait},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (!cute_op_is(op, table[i].op)) continue;
        *found = true;
        return table[i].note(p, op);
    }
    *found = false;
    return true;
}
