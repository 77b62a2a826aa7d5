/* The temporaries of a launch plan for reports, before its arguments are known: extents as formulas of the arguments. */
#include <string.h>

#include "lib/launch/plan/hostplan.h"

enum { MOST_DEPTH = 12 };

static void put_value(const host_plan *plan, const json_t *index, int depth, cute_buffer *out)
{
    const json_t *op =
        json_array_get(json_object_get(plan->json, "values"), (size_t)json_integer_value(index));
    const char *name = json_string_value(json_array_get(op, 0));
    int64_t first = json_integer_value(json_array_get(op, 2)),
            leaf = json_integer_value(json_array_get(op, 3));
    if (!json_is_integer(index) || json_integer_value(index) < 0 || !name || depth > MOST_DEPTH) {
        cute_buffer_puts(out, "...");
    } else if (!strcmp(name, "const")) {
        cute_buffer_printf(out, "%lld", (long long)first);
    } else if (!strcmp(name, "arg") && first >= 0 && (uint64_t)first < plan->param_count) {
        const host_param *param = &plan->params[first];
        cute_buffer_puts(out, param->name);
        if (param->leaf_count > 1) cute_buffer_printf(out, ".%lld", (long long)leaf);
    } else if (!strcmp(name, "sext") || !strcmp(name, "zext") || !strcmp(name, "trunc")) {
        put_value(plan, json_array_get(op, 2), depth + 1, out);
    } else {
        cute_buffer_puts(out, name);
        for (size_t i = 2; i < json_array_size(op) && json_is_integer(json_array_get(op, i)); i++) {
            cute_buffer_puts(out, i == 2 ? "(" : ", ");
            put_value(plan, json_array_get(op, i), depth + 1, out);
        }
        if (json_is_integer(json_array_get(op, 2))) cute_buffer_putc(out, ')');
    }
}

bool host_temporary_text(const host_plan *plan, size_t index, cute_buffer *out)
{
    const json_t *json = json_array_get(json_object_get(plan->json, "temporaries"), index),
                 *shape = json_object_get(json, "shape"), *init = json_object_get(json, "init"), *item;
    size_t i;
    if (!json) return false;
    cute_buffer_putc(out, '(');
    json_array_foreach((json_t *)(uintptr_t)shape, i, item)
    {
        if (i) cute_buffer_puts(out, ", ");
        put_value(plan, item, 0, out);
    }
    cute_buffer_printf(out, ") elements of %lld byte%s",
                       (long long)json_integer_value(json_object_get(json, "size")),
                       json_integer_value(json_object_get(json, "size")) == 1 ? "" : "s");
    if (init) cute_buffer_printf(out, ", filled with %lld", (long long)json_integer_value(init));
    return true;
}
