/* See attributes.h. */
#include "lib/ir/dialects/attributes.h"

#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

typedef enum place_kind { MODULE, FUNCTION, ARGUMENT } place_kind;

typedef enum value_kind { STRING, TYPE, DICTIONARY, ARRAY, INTEGER, UNIT } value_kind;

static const struct known {
    const char *name;
    place_kind kind;
    value_kind value;
} known[] = {
#define ATTRIBUTE(name, kind, value) {name, kind, value},
#include "lib/ir/dialects/attributes.def"
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

static const struct value {
    const char *name;
    bool (*is)(MlirAttribute value);
} values[] = {
    [STRING] = {"a string", mlirAttributeIsAString},
    [TYPE] = {"a type", mlirAttributeIsAType},
    [DICTIONARY] = {"a dictionary", mlirAttributeIsADictionary},
    [ARRAY] = {"an array", mlirAttributeIsAArray},
    [INTEGER] = {"an integer", mlirAttributeIsAInteger},
    [UNIT] = {"no value", mlirAttributeIsAUnit},
};

static void warn_attribute(check *c, const cute_place *place, const char *name, place_kind kind,
                           const struct known *found)
{
    static const char *const kinds[] = {
        [MODULE] = "a module", [FUNCTION] = "a function", [ARGUMENT] = "an argument"};
    cute_diag *diag = c->source->diag;
    if (found && found->kind != kind) {
        cute_report(diag, CUTE_WARNING, place, "attribute '%s' has no effect on %s: expected on %s", name,
                    kinds[kind], kinds[found->kind]);
    } else if (found) {
        cute_report(diag, CUTE_WARNING, place, "attribute '%s' has no effect: expected %s", name,
                    values[found->value].name);
    } else {
        const char *near = cute_nearest(name, name_at, NULL);
        cute_report(diag, CUTE_WARNING, place, "unknown attribute '%s' has no effect%s%s%s", name,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    if (c->source->told) c->source->told(c->source->context);
}

static void check_attribute(check *c, MlirLocation location, MlirNamedAttribute attribute, place_kind kind)
{
    MlirStringRef name = mlirIdentifierStr(attribute.name);
    if (name.length <= 5 || memcmp(name.data, "cute.", 5)) return;
    const struct known *found = NULL;
    for (size_t i = 0; i < COUNT && !found; i++)
        if (cute_text_is(name, known[i].name)) found = &known[i];
    if (found && found->kind == kind && values[found->value].is(attribute.attribute)) return;
    const char *word = cute_arena_copy(c->arena, name.data, name.length);
    cute_place place = cute_mlir_place(c->source, location, c->arena);
    if (word) warn_attribute(c, &place, word, kind, found);
}

static void check_operation(check *c, MlirOperation op, place_kind kind)
{
    for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(op); i++)
        check_attribute(c, mlirOperationGetLocation(op), mlirOperationGetDiscardableAttribute(op, i), kind);
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
        for (intptr_t k = 0; k < mlirDictionaryAttrGetNumElements(own); k++)
            check_attribute(c, location, mlirDictionaryAttrGetElement(own, k), ARGUMENT);
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
