/* The check of attributes' names. */
#include "lib/ir/attributes.h"

#include <string.h>

#include "lib/base/nearest.h"
#include "lib/ir/shim.h"
#include "lib/ir/util.h"

typedef enum place_kind { MODULE, FUNCTION, ARGUMENT } place_kind;

static const struct known {
    const char *name;
    place_kind kind;
} known[] = {
#define ATTRIBUTE(name, kind) {name, kind},
#include "lib/ir/attributes.def"
#undef ATTRIBUTE
};
enum { COUNT = sizeof known / sizeof *known };

static const char *name_at(const void *list, size_t index)
{
    (void)list;
    return index < COUNT ? known[index].name : NULL;
}

typedef struct check {
    cute_mlir_source *source;
    cute_arena *arena;
} check;

static void warn(check *c, MlirLocation location, MlirStringRef name, place_kind kind)
{
    static const char *const kinds[] = {
        [MODULE] = "a module", [FUNCTION] = "a function", [ARGUMENT] = "an argument"};
    char word[64];
    if (name.length >= sizeof word) return;
    memcpy(word, name.data, name.length);
    word[name.length] = '\0';
    const struct known *found = NULL;
    for (size_t i = 0; i < COUNT && !found; i++)
        if (!strcmp(known[i].name, word)) found = &known[i];
    if (found && found->kind == kind) return;
    cute_place place = cute_mlir_place(c->source, location, c->arena);
    if (found) {
        cute_report(c->source->diag, CUTE_WARNING, &place,
                    "attribute '%s' has no effect on %s: expected on %s", word, kinds[kind],
                    kinds[found->kind]);
    } else {
        const char *near = cute_nearest(word, name_at, NULL);
        cute_report(c->source->diag, CUTE_WARNING, &place, "unknown attribute '%s' has no effect%s%s%s", word,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (c->source->told) c->source->told(c->source->context);
}

static bool is_ours(MlirStringRef name)
{
    return name.length > 5 && !memcmp(name.data, "cute.", 5);
}

static void check_operation(check *c, MlirOperation op, place_kind kind)
{
    for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(op); i++) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetDiscardableAttribute(op, i).name);
        if (is_ours(name)) warn(c, mlirOperationGetLocation(op), name, kind);
    }
}

static void check_function(check *c, MlirOperation function)
{
    check_operation(c, function, FUNCTION);
    MlirAttribute all = mlirOperationGetAttributeByName(function, cute_text("arg_attrs"));
    if (mlirAttributeIsNull(all) || !mlirAttributeIsAArray(all)) return;
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(function, 0));
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all); i++) {
        MlirAttribute own = mlirArrayAttrGetElement(all, i);
        MlirLocation location = mlirOperationGetLocation(function);
        if (!mlirBlockIsNull(entry) && i < mlirBlockGetNumArguments(entry))
            location = cute_argument_location(mlirBlockGetArgument(entry, i));
        for (intptr_t k = 0; k < mlirDictionaryAttrGetNumElements(own); k++) {
            MlirStringRef name = mlirIdentifierStr(mlirDictionaryAttrGetElement(own, k).name);
            if (is_ours(name)) warn(c, location, name, ARGUMENT);
        }
    }
}

static bool is_module(MlirOperation op)
{
    return cute_op_is(op, "builtin.module") || cute_op_is(op, "gpu.module");
}

static bool is_function(MlirOperation op)
{
    return cute_op_is(op, "gpu.func") || cute_op_is(op, "func.func") || cute_op_is(op, "llvm.func");
}

/* Modules nest no deeper than brackets do (nesting.h). */
static void check_module(check *c, MlirOperation module)
{
    check_operation(c, module, MODULE);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
    if (mlirBlockIsNull(body)) return;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (is_module(op))
            check_module(c, op);
        else if (is_function(op))
            check_function(c, op);
    }
}

void cute_attributes_check(cute_mlir_source *source, MlirOperation root)
{
    check c = {source, cute_arena_create()};
    if (c.arena && !source->origin->mapped && is_module(root)) check_module(&c, root);
    cute_arena_destroy(c.arena);
}
