/* Products on arrays in host memory: device memory for each, copies, and one run. */
#include <stdlib.h>
#include <string.h>

#include "lib/gemm/gemm.h"

enum { HOST_ARRAYS = 64 };

typedef struct host_array {
    const char *name;
    size_t bytes;
    bool result;
    void *data;
    cute_address address;
} host_array;

typedef struct host_run_state {
    cute_gemm *gemm;
    const gemm_problem *problem;
    host_array arrays[HOST_ARRAYS];
    size_t count;
    cute_address workspace;
} host_run_state;

static void add_array(host_run_state *s, const char *name, int64_t elements, cute_dtype dtype, bool result)
{
    if (s->count == HOST_ARRAYS) return;
    s->arrays[s->count++] = (host_array){
        .name = name, .bytes = (size_t)(elements * cute_dtype_get(dtype)->bytes), .result = result};
}

static void list_arrays(host_run_state *s)
{
    const gemm_problem *p = s->problem;
    const epilogue_tree *t = p->tree;
    add_array(s, "A", p->a.span, p->in, false);
    add_array(s, "B", p->b.span, p->in, false);
    for (int i = 0; t && i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        if (n->op == EPILOGUE_LOAD)
            add_array(s, n->name, epilogue_elements(t, n->shape, n->batched), n->dtype, false);
    }
    for (int i = 0; t && i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        add_array(s, o->name, epilogue_elements(t, o->node->shape, true), o->dtype, true);
    }
    if (t) return;
    if (p->given.beta != 0) add_array(s, "C", p->c.span, p->out, false);
    if (p->given.bias) add_array(s, "bias", p->given.n, p->out, false);
    add_array(s, "D", p->d.span, p->out, true);
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

static cute_status copy_and_run(host_run_state *s, cute_device *device, cute_diag *diag)
{
    cute_gemm_named named[HOST_ARRAYS];
    cute_gemm_operands operands = {.size = sizeof operands, .named = named, .named_count = s->count};
    size_t workspace = cute_gemm_workspace(s->gemm);
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
    CUTE_TRY(cute_gemm_run(s->gemm, &operands, diag));
    CUTE_TRY(cute_device_sync(device, diag));
    for (size_t k = 0; k < s->count; k++)
        if (s->arrays[k].result)
            CUTE_TRY(cute_device_download(device, s->arrays[k].data, s->arrays[k].address, s->arrays[k].bytes,
                                          diag));
    return CUTE_OK;
}

cute_status cute_gemm_run_host(cute_gemm *gemm, const cute_gemm_array *arrays, size_t count, cute_diag *diag)
{
    size_t products;
    host_run_state s = {.gemm = gemm, .problem = gemm_problems(gemm, &products)};
    cute_device *device = gemm_device(gemm);
    if (!products)
        return cute_fail(diag, CUTE_USAGE, NULL, "a plan with a communicator runs on device memory only");
    if (products != 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a plan of one product, got a group of %zu",
                         products);
    if (!device)
        return cute_fail(diag, CUTE_USAGE, NULL, "the plan was made without a device and cannot run");
    list_arrays(&s);
    CUTE_TRY(match_arrays(&s, arrays, count, diag));
    cute_status status = copy_and_run(&s, device, diag);
    for (size_t k = 0; k < s.count; k++)
        if (s.arrays[k].address) cute_device_free(device, s.arrays[k].address, NULL);
    if (s.workspace) cute_device_free(device, s.workspace, NULL);
    return status;
}
