/* cute-host-functions: keeps the host functions that launch kernels, and records their parameters.
 *
 * Requires: launches outlined. Ensures: each func.func on the host is public and launches a kernel, or is
 * called by one that does, or is empty except for its return; a public one carries `cute.host`, its
 * parameters as declared in the source (docs/metadata.md), because their types are lowered before
 * cute-launch-plan.
 *
 *     func.func @main(%a: !cute.memref<f32, gmem, "(?):(1)"> {cute.name = "a"}) { ... gpu.launch_func ... }
 * ->
 *     func.func @main(...) attributes {cute.host = [{name = "a", kind = "memref", layout = "(?):(1)", ...}]}
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Diagnostics.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/host/host.h"
#include "lib/passes/passes.h"

static const char *const launching[] = {"gpu.launch_func", "cuda.launch_ex", NULL};

bool cute_host_is_public(MlirOperation op)
{
    return cute_op_is(op, "func.func") && !cute_op_has(op, "sym_visibility") &&
           !mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)));
}

MlirOperation cute_host_callee(MlirOperation module, MlirOperation call)
{
    MlirStringRef name =
        mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(call, cute_text("callee")));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(o, mlirSymbolTableGetSymbolAttributeName());
        if (cute_op_is(o, "func.func") && !mlirAttributeIsNull(symbol) &&
            mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
            return o;
    }
    return (MlirOperation){NULL};
}

/* The set of visited functions: the call graph may have cycles. */
typedef struct look {
    MlirOperation module;
    const char *const *names; /* names of the operations searched for */
    MlirOperation *seen;
    size_t count, capacity;
    bool found;
} look;

static void note_found(MlirOperation op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

static void look_into(look *l, MlirOperation func);

static void look_into_call(MlirOperation op, void *context)
{
    look *l = context;
    MlirOperation callee = cute_host_callee(l->module, op);
    if (!mlirOperationIsNull(callee)) look_into(l, callee);
}

static void look_into(look *l, MlirOperation func)
{
    for (size_t i = 0; i < l->count; i++)
        if (mlirOperationEqual(l->seen[i], func)) return;
    if (!cute_heap_more(&l->seen, l->count, &l->capacity, sizeof *l->seen, 16)) return;
    l->seen[l->count++] = func;
    for (const char *const *name = l->names; *name; name++) cute_op_each(func, *name, note_found, &l->found);
    cute_op_each(func, "func.call", look_into_call, l);
}

static bool reaches_op(MlirOperation module, MlirOperation func, const char *const *names)
{
    look l = {.module = module, .names = names};
    look_into(&l, func);
    free(l.seen);
    return l.found;
}

bool cute_host_launches(MlirOperation module, MlirOperation func)
{
    return reaches_op(module, func, launching);
}

bool cute_host_is_ordered(MlirOperation module, MlirOperation func)
{
    static const char *const names[] = {"scf.for", "gpu.memcpy", "gpu.memset", "gpu.wait", NULL};
    return reaches_op(module, func, names);
}

/* ---- the pass ---- */

static void describe_function(MlirOperation func)
{
    MlirContext c = mlirOperationGetContext(func);
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    intptr_t count = mlirBlockGetNumArguments(entry);
    MlirAttribute *items = calloc((size_t)count + 1, sizeof *items);
    for (intptr_t i = 0; items && i < count; i++) items[i] = cute_describe_parameter(func, i);
    if (items)
        mlirOperationSetAttributeByName(func, cute_text("cute.host"), mlirArrayAttrGet(c, count, items));
    free(items);
}

/* Empties a public function that launches no kernel; its name remains, for cute-run's error message. */
static void empty_function(MlirOperation func)
{
    MlirContext c = mlirOperationGetContext(func);
    MlirRegion body = mlirRegionCreate();
    MlirBlock block = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(body, block);
    MlirLocation location = mlirOperationGetLocation(func);
    cute_builder inside = cute_builder_at_end(block, location);
    cute_build(&inside, "func.return", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    MlirNamedAttribute named[] = {
        cute_attribute(c, "sym_name", mlirOperationGetAttributeByName(func, cute_text("sym_name"))),
        cute_attribute(c, "function_type", mlirTypeAttrGet(mlirFunctionTypeGet(c, 0, NULL, 0, NULL)))};
    cute_builder b = cute_builder_before(func);
    cute_build_regions(&b, "func.func", CUTE_NO_OPERANDS, CUTE_NO_TYPES, (cute_named){named, 2}, &body, 1);
}

static void run_host_functions(MlirOperation root, cute_pass_run *pass)
{
    (void)pass;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    if (mlirBlockIsNull(body)) return;
    look needed = {.module = root, .names = launching};
    MlirOperation next;
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        if (!cute_host_is_public(o) || !cute_host_launches(root, o)) continue;
        describe_function(o);
        look_into(&needed, o);
    }
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o); o = next) {
        next = mlirOperationGetNextInBlock(o);
        bool stays = !cute_op_is(o, "func.func");
        for (size_t i = 0; i < needed.count && !stays; i++) stays = mlirOperationEqual(needed.seen[i], o);
        if (stays) continue;
        if (cute_host_is_public(o)) empty_function(o);
        mlirOperationDestroy(o);
    }
    free(needed.seen);
}

const cute_pass cute_pass_host_functions = {
    .name = "cute-host-functions",
    .help = "Keep the host functions that launch kernels, and record their parameters",
    .anchor = "builtin.module",
    .run = run_host_functions,
};
