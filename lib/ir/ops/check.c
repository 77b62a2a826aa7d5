/* See check.h. */
#include "lib/ir/ops/check.h"

#include <mlir-c/BuiltinTypes.h>
#include <stdarg.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/ops/address.h"
#include "lib/layout/algebra.h"
#include "lib/layout/verify.h"

bool cute_check_fail(const cute_check *c, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_op_fail(mlirOperationGetLocation(c->op), c->row->name, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

const cute_value *cute_check_operand(const cute_check *c, intptr_t index)
{
    return cute_type_peek(mlirValueGetType(mlirOperationGetOperand(c->op, index)));
}

const cute_value *cute_check_result(const cute_check *c, intptr_t index)
{
    return cute_type_peek(mlirValueGetType(mlirOperationGetResult(c->op, index)));
}

bool cute_check_space(const cute_check *c, const char *what, const cute_pointer *pointer, cute_space space)
{
    if (pointer->space == space) return true;
    return cute_check_fail(c, "expects %s to be in memory space '%s', but got '%s'", what,
                           cute_space_name(space), cute_space_name(pointer->space));
}

bool cute_check_align(const cute_check *c, const char *what, const cute_pointer *pointer, int64_t align)
{
    int64_t natural = pointer->bits > 8 ? pointer->bits / 8 : 1;
    if (pointer->align <= align || pointer->align <= natural) return true;
    return cute_check_fail(
        c, "expects %s to have at most the alignment of its operand, %lld bytes, but got %lld", what,
        (long long)align, (long long)pointer->align);
}

bool cute_check_element(const cute_check *c, const char *what, const char *element, const char *expected)
{
    if (!strcmp(element, expected)) return true;
    return cute_check_fail(c, "expects %s to have elements of type '%s', but got '%s'", what, expected,
                           element);
}

static bool layouts_are_equal(const cute_value *a, const cute_value *b)
{
    bool composed = a->tree != NULL, other = b->type == CUTE_COMPOSED_LAYOUT;
    return composed == other && cute_tree_equal(a->layout.shape, b->layout.shape) &&
           cute_tree_equal(a->layout.stride, b->layout.stride) &&
           (!composed || cute_tree_equal(a->tree, b->tree));
}

bool cute_check_layout(const cute_check *c, const cute_value *result, const cute_value *layout)
{
    if (layouts_are_equal(result, layout)) return true;
    return cute_check_fail(c, "expects a result with the layout of its operand");
}

static void append_text(MlirStringRef text, void *buffer)
{
    cute_buffer_append(buffer, text.data, text.length);
}

bool cute_check_value(const cute_check *c, const char *what, MlirType type, const cute_pointer *element)
{
    MlirType expected = cute_element_type(mlirTypeGetContext(type), element->element);
    bool same = !mlirTypeIsNull(expected) && mlirTypeEqual(type, expected);
    /* tf32 is kept as f32 in registers; small floats and types of other dialects as integers. */
    bool stored = mlirTypeIsAInteger(type) && (int)mlirIntegerTypeGetWidth(type) == element->bits &&
                  (mlirTypeIsNull(expected) || (element->bits <= 8 && !mlirTypeIsAInteger(expected)));
    if (same || stored || (!strcmp(element->element, "tf32") && mlirTypeIsAF32(type))) return true;
    cute_buffer text = {0};
    mlirTypePrint(type, append_text, &text);
    cute_check_fail(c, "expects %s of the tensor's element type '%s', but got '%s'", what, element->element,
                    cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

static bool has_underscore(const cute_tree *tree)
{
    for (uint32_t i = 0; tree->kind == CUTE_TREE_TUPLE && i < tree->count; i++)
        if (has_underscore(tree->items[i])) return true;
    return tree->kind == CUTE_TREE_UNDERSCORE;
}

bool cute_check_coord(const cute_check *c, const cute_tree *coord, const cute_tree *shape)
{
    cute_arena *arena = cute_arena_create();
    const char *text = arena ? cute_tree_text(arena, coord) : NULL,
               *of = arena ? cute_tree_text(arena, shape) : NULL;
    bool ok = true;
    if (text && of && has_underscore(coord))
        ok = cute_check_fail(c, "expects the coordinate of a single element, but got %s with a '_'", text);
    else if (text && of && !cute_tree_weakly_congruent(coord, shape))
        ok = cute_check_fail(c, "expects a coordinate of the shape %s, but got %s", of, text);
    else if (text && of && !alg_may_be_inside(coord, shape))
        ok = cute_check_fail(c, "expects a coordinate within the shape %s, but got %s", of, text);
    cute_arena_destroy(arena);
    return ok;
}

int cute_integer_width(MlirType type)
{
    const cute_value *multiple = cute_type_peek(type);
    return multiple ? multiple->tree->value.width : (int)mlirIntegerTypeGetWidth(type);
}

int64_t cute_check_length(MlirType vector)
{
    int64_t length = 1;
    for (intptr_t i = 0; i < mlirShapedTypeGetRank(vector); i++)
        if (__builtin_mul_overflow(length, mlirShapedTypeGetDimSize(vector, i), &length)) return 0;
    return length;
}

int64_t cute_check_size(const cute_tree *shape)
{
    return shape ? alg_known_size(shape) : 1;
}

const cute_tree *cute_check_mode(const cute_tree *tree, uint32_t i)
{
    if (tree->kind != CUTE_TREE_TUPLE) return i ? NULL : tree;
    return i < tree->count ? tree->items[i] : NULL;
}
