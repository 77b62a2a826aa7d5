/* Inlines calls of functions that synchronise, in a copy of the module, for the static checks (async.h). */
#include <mlir-c/BuiltinAttributes.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async.h"

enum { MOST_CALLS = 256 }; /* limit for a kernel; reached only by recursive functions */

typedef struct search {
    cute_arena *arena;
    MlirOperation *found;
    size_t count, capacity, index;
    MlirOperation wanted;
    MlirStringRef name;
} search;

static void see_call(MlirOperation op, void *context)
{
    search *s = context;
    if (cute_arena_more(s->arena, &s->found, s->count, &s->capacity, sizeof *s->found, 16))
        s->found[s->count++] = op;
}

static void match_function(MlirOperation op, void *context)
{
    search *s = context;
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    if (!mlirAttributeIsNull(name) && mlirStringRefEqual(mlirStringAttrGetValue(name), s->name))
        s->wanted = op;
}

/* The called function if it has exactly one block, else null. */
static MlirOperation callee_of(cute_arena *arena, MlirOperation call)
{
    search s = {.arena = arena};
    MlirAttribute symbol = mlirOperationGetAttributeByName(call, cute_text("callee"));
    MlirOperation module = cute_op_parent(call, "gpu.module");
    if (mlirAttributeIsNull(symbol) || !mlirAttributeIsASymbolRef(symbol) || mlirOperationIsNull(module))
        return s.wanted;
    s.name = mlirSymbolRefAttrGetLeafReference(symbol);
    cute_op_each(module, "func.func", match_function, &s);
    if (mlirOperationIsNull(s.wanted)) return s.wanted;
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(s.wanted, 0));
    bool one = !mlirBlockIsNull(block) && mlirBlockIsNull(mlirBlockGetNextInRegion(block)) &&
               mlirBlockGetNumArguments(block) == mlirOperationGetNumOperands(call);
    return one ? s.wanted : (MlirOperation){NULL};
}

static bool put_in_place(cute_arena *arena, MlirOperation call)
{
    MlirOperation callee = callee_of(arena, call);
    if (mlirOperationIsNull(callee)) return false;
    MlirOperation copy = mlirOperationClone(callee);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0)),
              here = mlirOperationGetBlock(call);
    MlirOperation end = mlirBlockGetTerminator(body);
    bool fits =
        !mlirOperationIsNull(end) && mlirOperationGetNumOperands(end) == mlirOperationGetNumResults(call);
    if (fits) {
        for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++)
            mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, i), mlirOperationGetOperand(call, i));
        for (intptr_t i = 0; i < mlirOperationGetNumResults(call); i++)
            mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(call, i), mlirOperationGetOperand(end, i));
        for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);) {
            MlirOperation next = mlirOperationGetNextInBlock(op);
            mlirOperationRemoveFromParent(op);
            mlirBlockInsertOwnedOperationBefore(here, call, op);
            op = next;
        }
        mlirOperationDestroy(call);
    }
    mlirOperationDestroy(copy);
    return fits;
}

static void see_kernel(MlirOperation kernel, void *context)
{
    search *s = context;
    if (mlirOperationEqual(kernel, s->wanted)) s->index = s->count;
    s->count++;
}

static void pick_kernel(MlirOperation kernel, void *context)
{
    search *s = context;
    if (s->count++ == s->index) s->wanted = kernel;
}

MlirOperation async_without_calls(cute_arena *arena, MlirOperation kernel, MlirOperation *root)
{
    MlirOperation top = kernel;
    while (!mlirOperationIsNull(mlirOperationGetParentOperation(top)))
        top = mlirOperationGetParentOperation(top);
    search where = {.wanted = kernel};
    cute_kernels_each(top, see_kernel, &where);
    *root = mlirOperationClone(top);
    where.count = 0;
    cute_kernels_each(*root, pick_kernel, &where);
    size_t done = 0;
    for (;;) {
        search calls = {.arena = arena};
        cute_op_each(where.wanted, "func.call", see_call, &calls);
        if (!calls.count) return where.wanted;
        for (size_t i = 0; i < calls.count; i++)
            if (++done > MOST_CALLS || !put_in_place(arena, calls.found[i])) {
                mlirOperationDestroy(*root);
                return *root = (MlirOperation){NULL};
            }
    }
}
