/* The arrays of a product, and products on arrays in host memory: device memory for each, copies, and one run. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/abi.h"
#include "lib/gemm/gemm.h"

enum { HOST_ARRAYS = 64 };

typedef struct host_array {
    const char *name;
    cute_dtype dtype;
    int rank;
    int64_t shape[3], strides[3];
    size_t bytes;
    bool result;
    void *data;
    cute_address address;
} host_array;

typedef struct host_run_state {
    const gemm_problem *problem;
    host_array arrays[HOST_ARRAYS];
    size_t count;
    cute_address workspace;
} host_run_state;

static host_array *add_array(host_run_state *s, const char *name, int64_t elements, cute_dtype dtype,
                             bool result)
{
    if (s->count == HOST_ARRAYS) return NULL;
    host_array *a = &s->arrays[s->count++];
    *a = (host_array){.name = name,
                      .dtype = dtype,
                      .bytes = (size_t)(elements * cute_dtype_get(dtype)->bytes),
                      .result = result};
    return a;
}

static void add_mode(host_array *a, int64_t extent, int64_t stride)
{
    a->shape[a->rank] = extent;
    a->strides[a->rank++] = stride;
}

static void add_matrix(host_run_state *s, const char *name, const gemm_matrix *m, int64_t rows,
                       int64_t columns, cute_dtype dtype, bool result)
{
    host_array *a = add_array(s, name, m->span, dtype, result);
    if (!a) return;
    if (s->problem->given.batch > 1) add_mode(a, s->problem->given.batch, m->batch);
    add_mode(a, rows, m->row);
    add_mode(a, columns, m->column);
}

/* An operand or result of an expression; `batched`: each product of a batch has its own. */
static void add_value(host_run_state *s, const char *name, epilogue_shape shape, bool batched, bool turned,
                      cute_dtype dtype, bool result)
{
    const epilogue_tree *t = s->problem->tree;
    int64_t rows = shape.rows ? epilogue_rows(t, shape) : 1,
            columns = shape.mul ? epilogue_columns(t, shape) : 1;
    host_array *a = add_array(s, name, epilogue_elements(t, shape, batched), dtype, result);
    if (!a) return;
    if (batched && t->problem.batch > 1) add_mode(a, t->problem.batch, rows * columns);
    if (shape.rows) add_mode(a, rows, turned ? 1 : columns);
    if (shape.mul) add_mode(a, columns, turned ? rows : 1);
}

static void list_arrays(host_run_state *s)
{
    const gemm_problem *p = s->problem;
    const cute_gemm_problem *g = &p->given;
    const epilogue_tree *t = p->tree;
    add_matrix(s, "A", &p->a, g->m, g->k, p->in, false);
    add_matrix(s, "B", &p->b, g->k, g->n, p->in, false);
    for (int i = 0; t && i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        if (n->op == EPILOGUE_LOAD) add_value(s, n->name, n->shape, n->batched, n->turned, n->dtype, false);
    }
    for (int i = 0; t && i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        add_value(s, o->name, o->node->shape, true, o->turned, o->dtype, true);
    }
    if (t) return;
    if (g->beta != 0) add_matrix(s, "C", &p->c, g->m, g->n, p->out, false);
    if (g->bias) {
        host_array *bias = add_array(s, "bias", g->n, p->out, false);
        if (bias) add_mode(bias, g->n, 1);
    }
    add_matrix(s, "D", &p->d, g->m, g->n, p->out, true);
}

/* The plan's only product. */
static cute_status find_product(const cute_gemm *gemm, host_run_state *s, cute_diag *diag)
{
    size_t products;
    *s = (host_run_state){.problem = gemm_problems(gemm, &products)};
    if (!products)
        return cute_fail(diag, CUTE_USAGE, NULL, "a plan with a communicator runs on device memory only");
    if (products != 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a plan of one product, got a group of %zu",
                         products);
    list_arrays(s);
    return CUTE_OK;
}

cute_status cute_gemm_array_at(const cute_gemm *gemm, size_t index, cute_gemm_array_info *out,
                               cute_diag *diag)
{
    host_run_state s;
    CUTE_TRY(find_product(gemm, &s, diag));
    if (index >= s.count)
        return cute_fail(diag, CUTE_USAGE, NULL, "the product has %zu arrays, none of index %zu", s.count,
                         index);
    const host_array *a = &s.arrays[index];
    cute_gemm_array_info info = {.size = sizeof info,
                                 .name = a->name,
                                 .type = cute_dtype_get(a->dtype)->name,
                                 .rank = a->rank,
                                 .bytes = a->bytes,
                                 .result = a->result};
    memcpy(info.shape, a->shape, sizeof info.shape);
    memcpy(info.strides, a->strides, sizeof info.strides);
    return cute_struct_write(out, &info, sizeof info, "cute_gemm_array_info", diag);
}

static cute_status match_arrays(host_run_state *s, const cute_gemm_array *given, size_t count,
                                cute_diag *diag)
{
    for (size_t i = 0; i < count; i++) {
        host_array *found = NULL;
        for (size_t k = 0; given[i].name && k < s->count; k++)
            if (strcmp(s->arrays[k].name, given[i].name) == 0) found = &s->arrays[k];
        if (!found)
            return cute_fail(diag, CUTE_USAGE, NULL, "the product has no array '%s'",
                             given[i].name ? given[i].name : "");
        if (!given[i].data || given[i].bytes != found->bytes)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected %zu bytes of '%s', got %zu", found->bytes,
                             found->name, given[i].data ? given[i].bytes : 0);
        found->data = given[i].data;
    }
    for (size_t k = 0; k < s->count; k++)
        if (!s->arrays[k].data)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected an array '%s', got none", s->arrays[k].name);
    return CUTE_OK;
}

static cute_status copy_and_run(host_run_state *s, cute_gemm *gemm, cute_device *device, cute_diag *diag)
{
    cute_gemm_named named[HOST_ARRAYS];
    cute_gemm_operands operands = {.size = sizeof operands, .named = named, .named_count = s->count};
    size_t workspace = cute_gemm_workspace(gemm);
    for (size_t k = 0; k < s->count; k++) {
        host_array *a = &s->arrays[k];
        CUTE_TRY(cute_device_alloc(device, a->bytes, &a->address, diag));
        /* Gaps between the rows of a result keep their contents. */
        CUTE_TRY(cute_device_upload(device, a->address, a->data, a->bytes, diag));
        named[k] = (cute_gemm_named){a->name, a->address};
        cute_address *to = strcmp(a->name, "A") == 0      ? &operands.a
                           : strcmp(a->name, "B") == 0    ? &operands.b
                           : strcmp(a->name, "C") == 0    ? &operands.c
                           : strcmp(a->name, "D") == 0    ? &operands.d
                           : strcmp(a->name, "bias") == 0 ? &operands.bias
                                                          : NULL;
        if (to) *to = a->address;
    }
    if (workspace) CUTE_TRY(cute_device_alloc(device, workspace, &s->workspace, diag));
    operands.workspace = s->workspace;
    CUTE_TRY(cute_gemm_run(gemm, &operands, diag));
    CUTE_TRY(cute_device_sync(device, diag));
    for (size_t k = 0; k < s->count; k++)
        if (s->arrays[k].result)
            CUTE_TRY(cute_device_download(device, s->arrays[k].data, s->arrays[k].address, s->arrays[k].bytes,
                                          diag));
    return CUTE_OK;
}

cute_status cute_gemm_run_host(cute_gemm *gemm, const cute_gemm_array *arrays, size_t count, cute_diag *diag)
{
    host_run_state s;
    CUTE_TRY(find_product(gemm, &s, diag));
    cute_device *device = gemm_device(gemm);
    if (!device)
        return cute_fail(diag, CUTE_USAGE, NULL, "the plan was made without a device and cannot run");
    CUTE_TRY(match_arrays(&s, arrays, count, diag));
    cute_status status = copy_and_run(&s, gemm, device, diag);
    for (size_t k = 0; k < s.count; k++)
        if (s.arrays[k].address) cute_device_free(device, s.arrays[k].address, NULL);
    if (s.workspace) cute_device_free(device, s.workspace, NULL);
    return status;
}
