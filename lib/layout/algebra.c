/* Failures of an evaluation, and the text of values in messages. */
#include <inttypes.h>
#include <stdarg.h>

#include "lib/base/buffer.h"
#include "lib/layout/algebra.h"

static void print_sentence(cute_algebra *a, cute_buffer *out)
{
    for (const char *s = a->sentence; *s; s++) {
        if (*s != '$')
            cute_buffer_putc(out, *s);
        else if (*++s == '0' || *s == '1')
            cute_buffer_puts(out, alg_type_text(a, &a->operands[*s - '0']));
        else
            cute_buffer_printf(out, "%" PRId64, a->attributes[*s - 'a']);
    }
}

void *alg_fail(cute_algebra *a, const char *format, ...)
{
    if (a->status != CUTE_OK) return NULL;
    a->status = CUTE_INVALID;
    if (!a->diag) return NULL;
    cute_buffer text = {0};
    va_list args;
    if (a->sentence) {
        print_sentence(a, &text);
        cute_buffer_puts(&text, ": ");
    }
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_report(a->diag, CUTE_ERROR, NULL, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return NULL;
}

void *alg_fail_count(cute_algebra *a, const char *name, size_t least, size_t most, size_t count)
{
    if (least == most)
        return alg_fail(a, "%s expects %zu operand%s, but got %zu", name, least, least == 1 ? "" : "s",
                        count);
    return alg_fail(a, "%s expects %zu to %zu operands, but got %zu", name, least, most, count);
}

void *alg_exhausted(cute_algebra *a)
{
    if (a->status == CUTE_OK) a->status = cute_fail_memory(a->diag);
    return NULL;
}

const char *alg_type_text(cute_algebra *a, const cute_value *value)
{
    const char *text = cute_value_text(a->arena, value), *type = NULL;
    if (text && value->type <= CUTE_TILE)
        type = cute_arena_printf(a->arena, "'!cute.%s<\"%s\">'", cute_type_name(value->type), text);
    else if (text && value->pointer && value->pointer->space == CUTE_SPACE_DESC)
        type = value->type == CUTE_PTR
                   ? cute_arena_printf(a->arena, "'%s'", value->pointer->element)
                   : cute_arena_printf(a->arena, "'%s_view<%s, \"%s\">'", value->pointer->element,
                                       value->pointer->element, cute_layout_text(a->arena, value->layout));
    else if (text && value->type == CUTE_INTEGER)
        type = cute_arena_printf(a->arena, "'!cute.i%d<divby %" PRId64 ">'", value->tree->value.width,
                                 value->tree->value.divisor);
    else if (text)
        type = cute_arena_printf(a->arena, "'!cute.%s<%s>'", cute_type_name(value->type), text);
    return type ? type : "(out of memory)";
}

const char *alg_text(cute_algebra *a, cute_node tree)
{
    const char *text = cute_tree_text(a->arena, tree);
    return text ? text : "(out of memory)";
}

const char *alg_layout_text(cute_algebra *a, cute_layout layout)
{
    const char *text = cute_layout_text(a->arena, layout);
    return text ? text : "(out of memory)";
}
