/* The canonical text of values: no spaces in trees, `?` for i32, `?{i64 div=8}` with further properties. */
#include <inttypes.h>

#include "lib/base/buffer.h"
#include "lib/layout/pointer.h"
#include "lib/layout/verify.h"

static const char *const type_names[] = {
    [CUTE_SHAPE] = "shape",
    [CUTE_STRIDE] = "stride",
    [CUTE_COORD] = "coord",
    [CUTE_INT_TUPLE] = "int_tuple",
    [CUTE_LAYOUT] = "layout",
    [CUTE_COMPOSED_LAYOUT] = "composed_layout",
    [CUTE_SWIZZLE] = "swizzle",
    [CUTE_TILE] = "tile",
    [CUTE_PTR] = "ptr",
    [CUTE_MEMREF] = "memref",
    [CUTE_ARITH_TUPLE_ITER] = "arith_tuple_iter",
    [CUTE_COORD_TENSOR] = "coord_tensor",
    [CUTE_INTEGER] = "integer",
    [CUTE_DIVISOR] = "fast_divmod_divisor",
    [CUTE_ATOM] = "atom",
    [CUTE_TILED_COPY] = "tiled_copy",
    [CUTE_TILED_MMA] = "tiled_mma",
};

const char *cute_type_name(cute_type type)
{
    return type_names[type];
}

/* Faster than printf, because printing types dominates. */
static void print_number(cute_buffer *out, int64_t value)
{
    char digits[24];
    size_t at = sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;
    do digits[--at] = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0) digits[--at] = '-';
    cute_buffer_append(out, digits + at, sizeof digits - at);
}

static void print_int(cute_buffer *out, const cute_int *x)
{
    if (x->known) {
        print_number(out, x->value);
        return;
    }
    cute_buffer_putc(out, '?');
    if (x->width == 32 && !x->divisor) return;
    cute_buffer_putc(out, '{');
    if (x->width != 32) cute_buffer_printf(out, "i%d", x->width);
    if (x->divisor) cute_buffer_printf(out, "%sdiv=%" PRId64, x->width != 32 ? " " : "", x->divisor);
    cute_buffer_putc(out, '}');
}

static void print_layout(cute_buffer *out, cute_layout layout)
{
    alg_print_tree(out, layout.shape);
    cute_buffer_putc(out, ':');
    alg_print_tree(out, layout.stride);
}

/* `marks`: a tuple's opening bracket, separator, closing bracket, and the text of a missing number. */
static void print_nested(cute_buffer *out, cute_node t, const char marks[static 4])
{
    switch (t->kind) {
    case CUTE_TREE_INT: print_int(out, &t->value); return;
    case CUTE_TREE_UNDERSCORE: cute_buffer_putc(out, marks[3]); return;
    case CUTE_TREE_LAYOUT: print_layout(out, t->layout); return;
    case CUTE_TREE_BASIS:
        print_int(out, &t->value);
        for (uint32_t i = t->count; i-- > 0;) cute_buffer_printf(out, "@%d", t->path[i]);
        return;
    case CUTE_TREE_TUPLE: break;
    }
    cute_buffer_putc(out, marks[0]);
    for (uint32_t i = 0; i < t->count; i++) {
        if (i) cute_buffer_putc(out, marks[1]);
        print_nested(out, t->items[i], marks);
    }
    cute_buffer_putc(out, marks[2]);
}

void alg_print_tree(cute_buffer *out, cute_node t)
{
    print_nested(out, t, "(,)_");
}

static void print_swizzle(cute_buffer *out, cute_swizzle s)
{
    cute_buffer_printf(out, "S<%d,%d,%d>", s.bits, s.base, s.shift);
}

static void print_composed(cute_buffer *out, const cute_value *v)
{
    if (v->inner.shape)
        print_layout(out, v->inner);
    else if (!alg_is_wrap(v))
        print_swizzle(out, v->swizzle);
    else {
        print_layout(out, v->layout);
        return;
    }
    cute_buffer_puts(out, " o ");
    alg_print_tree(out, v->tree);
    cute_buffer_puts(out, " o ");
    print_layout(out, v->layout);
}

/* Omits properties that follow from the element. */
static void print_pointer(cute_buffer *out, const cute_pointer *p)
{
    cute_buffer_puts(out, p->element);
    cute_buffer_puts(out, ", ");
    cute_buffer_puts(out, cute_space_name(p->space));
    if (p->align != alg_natural_align(p)) cute_buffer_printf(out, ", align<%" PRId64 ">", p->align);
    if (p->swizzle.bits == 0) return;
    cute_buffer_puts(out, ", ");
    print_swizzle(out, p->swizzle);
}

static void alg_print_value(cute_buffer *out, const cute_value *v)
{
    switch (v->type) {
    case CUTE_LAYOUT: print_layout(out, v->layout); return;
    case CUTE_SWIZZLE: print_swizzle(out, v->swizzle); return;
    case CUTE_COMPOSED_LAYOUT: print_composed(out, v); return;
    case CUTE_TILE: print_nested(out, v->tree, "[;]_"); return;
    case CUTE_SHAPE: print_nested(out, v->tree, "(,)x"); return;
    case CUTE_PTR: print_pointer(out, v->pointer); return;
    case CUTE_MEMREF:
        print_pointer(out, v->pointer);
        cute_buffer_puts(out, ", \"");
        if (v->tree)
            print_composed(out, v);
        else
            print_layout(out, v->layout);
        cute_buffer_putc(out, '"');
        return;
    case CUTE_COORD_TENSOR:
    case CUTE_ARITH_TUPLE_ITER:
        cute_buffer_putc(out, '"');
        alg_print_tree(out, v->tree);
        if (v->type == CUTE_COORD_TENSOR) {
            cute_buffer_puts(out, "\", \"");
            print_layout(out, v->layout);
        }
        cute_buffer_putc(out, '"');
        return;
    case CUTE_INTEGER:
        if (v->tree->value.width != 32) cute_buffer_printf(out, "i%d ", v->tree->value.width);
        cute_buffer_printf(out, "divby %" PRId64, v->tree->value.divisor);
        return;
    case CUTE_DIVISOR: cute_buffer_printf(out, "%d", v->width); return;
    case CUTE_ATOM:
    case CUTE_TILED_COPY:
    case CUTE_TILED_MMA: cute_buffer_puts(out, "..."); return; /* printed by lib/atoms */
    default: alg_print_tree(out, v->tree); return;
    }
}

static const char *finish_text(cute_arena *arena, cute_buffer *buffer)
{
    const char *text =
        cute_buffer_ok(buffer) ? cute_arena_copy(arena, cute_buffer_text(buffer), buffer->length) : NULL;
    cute_buffer_release(buffer);
    return text;
}

const char *cute_value_text(cute_arena *arena, const cute_value *value)
{
    cute_buffer buffer = {0};
    alg_print_value(&buffer, value);
    return finish_text(arena, &buffer);
}

const char *cute_tree_text(cute_arena *arena, const cute_tree *tree)
{
    cute_buffer buffer = {0};
    alg_print_tree(&buffer, tree);
    return finish_text(arena, &buffer);
}

const char *cute_layout_text(cute_arena *arena, cute_layout layout)
{
    cute_buffer buffer = {0};
    print_layout(&buffer, layout);
    return finish_text(arena, &buffer);
}
