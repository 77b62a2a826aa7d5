/* Failures of an evaluation and the text of values in its messages. */
#include <stdarg.h>

#include "lib/layout/algebra.h"

void *alg_fail(cute_algebra *a, const char *format, ...)
{
    if (a->status == CUTE_OK) {
        va_list args;
        va_start(args, format);
        cute_vreport(a->diag, CUTE_ERROR, NULL, format, args);
        va_end(args);
        a->status = CUTE_INVALID;
    }
    return NULL;
}

void *alg_exhausted(cute_algebra *a)
{
    if (a->status == CUTE_OK) a->status = cute_fail_memory(a->diag);
    return NULL;
}

const char *alg_type_text(cute_algebra *a, const cute_value *value)
{
    const char *text = cute_value_text(a->arena, value);
    const char *type = text ? cute_arena_printf(a->arena, "!cute.%s<\"%s\">", cute_type_name(value->type), text)
                            : NULL;
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
