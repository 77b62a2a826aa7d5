/* See kernel_layouts.h. Layouts are described by types, which are lost when tensors are lowered. */
#include "lib/passes/host/kernel_layouts.h"

#include <stdlib.h>

#include "lib/atoms/atoms.h"
#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

enum { MOST = 256 /* limit for each kind, for unrolled kernels */ };

static const struct {
    cute_type type;
    const char *key;
} kinds[] = {{CUTE_MEMREF, "tensors"}, {CUTE_TILED_COPY, "tiled_copies"}, {CUTE_TILED_MMA, "mmas"}};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct listing {
    MlirContext context;
    cute_arena *arena;
    MlirType seen[KINDS][MOST];
    MlirAttribute items[KINDS][MOST];
    intptr_t count[KINDS];
} listing;

static MlirAttribute describe_layout(listing *l, MlirOperation op, const cute_value *value)
{
    cute_dict d = {.context = l->context};
    MlirStringRef file;
    unsigned line, column;
    const char *text = cute_atom_value_text(l->arena, value);
    if (text) cute_dict_text(&d, "type", text);
    cute_dict_ref(&d, "op", mlirIdentifierStr(mlirOperationGetName(op)));
    if (cute_location_place(mlirOperationGetLocation(op), &file, &line, &column)) {
        cute_dict_ref(&d, "file", file);
        cute_dict_int(&d, "line", line);
    }
    return cute_dict_finish(&d);
}

static void collect_layouts(MlirOperation op, void *context)
{
    listing *l = context;
    for (intptr_t r = 0; r < mlirOperationGetNumResults(op); r++) {
        MlirType type = mlirValueGetType(mlirOperationGetResult(op, r));
        const cute_value *value = cute_type_peek(type);
        for (int k = 0; value && k < KINDS; k++) {
            /* The tensor of a matrix descriptor has no readable text. */
            bool seen = value->type != kinds[k].type || l->count[k] == MOST ||
                        (value->pointer && value->pointer->space == CUTE_SPACE_DESC);
            for (intptr_t n = 0; !seen && n < l->count[k]; n++) seen = mlirTypeEqual(l->seen[k][n], type);
            if (seen) continue;
            l->seen[k][l->count[k]] = type;
            l->items[k][l->count[k]++] = describe_layout(l, op, value);
        }
    }
}

void cute_describe_layouts(MlirOperation kernel, cute_dict *out)
{
    listing *l = calloc(1, sizeof *l);
    if (!l) return;
    l->context = mlirOperationGetContext(kernel);
    l->arena = cute_arena_create();
    if (l->arena) cute_op_each(kernel, NULL, collect_layouts, l);
    for (int k = 0; k < KINDS; k++)
        if (l->count[k])
            cute_dict_put(out, kinds[k].key, mlirArrayAttrGet(l->context, l->count[k], l->items[k]));
    cute_arena_destroy(l->arena);
    free(l);
}
