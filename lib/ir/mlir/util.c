/* See util.h. */
#include "lib/ir/mlir/util.h"

#include <stdlib.h>

#include "lib/base/list.h"

MlirNamedAttribute cute_attribute(MlirContext context, const char *name, MlirAttribute value)
{
    return mlirNamedAttributeGet(mlirIdentifierGet(context, cute_text(name)), value);
}

MlirAttribute cute_string_attribute(MlirContext context, const char *text)
{
    return mlirStringAttrGet(context, cute_text(text));
}

void cute_print_to_buffer(MlirStringRef text, void *buffer)
{
    cute_buffer_append(buffer, text.data, text.length);
}

/* Gathers operations before visiting any, so that a visitor may erase its operation. */
typedef struct found {
    const char *name;
    bool dialect; /* `name` is a dialect's, with the point */
    MlirOperation *items;
    size_t count, capacity;
} found;

static MlirWalkResult gather_operation(MlirOperation op, void *context)
{
    found *f = context;
    if (f->name && !(f->dialect ? cute_op_of(op, f->name) : cute_op_is(op, f->name)))
        return MlirWalkResultAdvance;
    if (!cute_heap_more(&f->items, f->count, &f->capacity, sizeof *f->items, 16))
        return MlirWalkResultInterrupt;
    f->items[f->count++] = op;
    return MlirWalkResultAdvance;
}

void cute_op_walk(MlirOperation root, const char *name, cute_walk_order order,
                  void (*visit)(MlirOperation op, void *context), void *context)
{
    found f = {.name = name, .dialect = name && *name && name[strlen(name) - 1] == '.'};
    mlirOperationWalk(root, gather_operation, &f,
                      order == CUTE_WALK_INNER_FIRST ? MlirWalkPostOrder : MlirWalkPreOrder);
    for (size_t i = 0; i < f.count; i++)
        visit(f.items[order == CUTE_WALK_LAST_FIRST ? f.count - 1 - i : i], context);
    free(f.items);
}

void cute_op_each(MlirOperation root, const char *name, void (*visit)(MlirOperation op, void *context),
                  void *context)
{
    cute_op_walk(root, name, CUTE_WALK_OUTER_FIRST, visit, context);
}

MlirOperation cute_defining_op(MlirValue value)
{
    return mlirValueIsAOpResult(value) ? mlirOpResultGetOwner(value) : (MlirOperation){NULL};
}

MlirOperation cute_op_parent(MlirOperation op, const char *name)
{
    MlirOperation parent = mlirOperationGetParentOperation(op);
    while (!mlirOperationIsNull(parent) && !cute_op_is(parent, name))
        parent = mlirOperationGetParentOperation(parent);
    return parent;
}

static MlirLogicalResult discard_diagnostic(MlirDiagnostic diagnostic, void *context)
{
    (void)diagnostic, (void)context;
    return mlirLogicalResultSuccess();
}

MlirDiagnosticHandlerID cute_discard_diagnostics(MlirContext context)
{
    return mlirContextAttachDiagnosticHandler(context, discard_diagnostic, NULL, NULL);
}

bool cute_symbol_in(MlirOperation module, const char *name)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
        if (!mlirAttributeIsNull(symbol) && cute_text_is(mlirStringAttrGetValue(symbol), name)) return true;
    }
    return false;
}

MlirOperation cute_only_user(MlirValue value)
{
    MlirOpOperand use = mlirValueGetFirstUse(value);
    bool alone = !mlirOpOperandIsNull(use) && mlirOpOperandIsNull(mlirOpOperandGetNextUse(use));
    return alone ? mlirOpOperandGetOwner(use) : (MlirOperation){NULL};
}

bool cute_op_in_front(MlirOperation a, MlirOperation b)
{
    while (!mlirOperationIsNull(a) && !mlirOperationEqual(a, b)) a = mlirOperationGetNextInBlock(a);
    return !mlirOperationIsNull(a);
}

MlirStringRef cute_op_symbol(MlirOperation op)
{
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    return mlirAttributeIsNull(name) ? cute_text("") : mlirStringAttrGetValue(name);
}
