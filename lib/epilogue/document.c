/* A tree's part of a launch.json: buffers of operands and results, and arguments of the kernels. */
#include <string.h>

#include "lib/epilogue/implement.h"

/* ---- buffers and arguments ---- */

static bool put_buffer(json_t *buffers, const char *name, cute_dtype dtype, const epilogue_tree *t,
                       epilogue_shape s, bool turned, bool batched)
{
    json_t *shape = json_array();
    batched = batched && t->problem.batch > 1;
    if (batched) json_array_append_new(shape, json_integer(t->problem.batch));
    if (s.rows) json_array_append_new(shape, json_integer(epilogue_rows(t, s)));
    if (s.mul) json_array_append_new(shape, json_integer(epilogue_columns(t, s)));
    json_t *buffer = json_pack("{s:s,s:o}", "dtype", cute_dtype_get(dtype)->name, "shape", shape);
    if (buffer && turned) {
        json_t *strides = json_pack("[iI]", 1, (json_int_t)epilogue_rows(t, s));
        if (batched)
            json_array_insert_new(strides, 0, json_integer(epilogue_rows(t, s) * epilogue_columns(t, s)));
        json_object_set_new(buffer, "strides", strides);
    }
    return buffer && json_object_set_new(buffers, name, buffer) == 0;
}

bool epilogue_put_buffers(const epilogue_tree *t, json_t *buffers)
{
    bool good = true;
    for (int i = 0; good && i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        if (n->op == EPILOGUE_LOAD)
            good = put_buffer(buffers, n->name, n->dtype, t, n->shape, n->turned, n->batched);
    }
    for (int i = 0; good && i < t->output_count; i++)
        good = put_buffer(buffers, t->outputs[i].name, t->outputs[i].dtype, t, t->outputs[i].node->shape,
                          t->outputs[i].turned, true);
    return good;
}

static json_t *memory_json(const epilogue_arg *a, int64_t first, int64_t items)
{
    json_t *shape = json_pack("[II]", (json_int_t)a->shape[0], (json_int_t)a->shape[1]),
           *strides = json_pack("[II]", (json_int_t)a->strides[0], (json_int_t)a->strides[1]);
    if (a->batched) {
        json_array_insert_new(shape, 0, json_integer(items));
        json_array_insert_new(strides, 0, json_integer(a->between));
    }
    json_t *arg = json_pack("{s:s,s:o,s:o}", a->temporary ? "temporary" : "buffer", a->name, "shape", shape,
                            "strides", strides);
    if (arg && a->temporary)
        json_object_set_new(arg, "dtype", json_string(cute_dtype_get(a->dtype)->name));
    else if (arg && a->batched && first)
        json_object_set_new(arg, "offset", json_integer(first * a->between));
    return arg;
}

json_t *epilogue_kernel_args(const epilogue_kernel *kernel, const epilogue_value *values, size_t count,
                             int64_t first, int64_t items)
{
    json_t *args = json_object();
    for (int i = 0; args && i < kernel->count; i++) {
        const epilogue_arg *a = &kernel->args[i];
        if (a->role == EPILOGUE_FACTOR) continue;
        json_t *arg;
        if (a->role == EPILOGUE_NUMBER) {
            double value = 1;
            for (size_t v = 0; v < count; v++)
                if (strcmp(values[v].name, a->name) == 0) value = values[v].value;
            arg = json_real(value);
        } else {
            arg = memory_json(a, first, items);
        }
        if (!arg || json_object_set_new(args, a->name, arg) != 0) {
            json_decref(args);
            return NULL;
        }
    }
    return args;
}
