/* See launches.h. The key of a kernel combines the symbols of its gpu.module and its own, separated by a
 * character that symbols cannot contain. */
#include "lib/passes/host/launches.h"

#include <stdlib.h>

#include "cute/base.h"
#include "lib/base/list.h"
#include "lib/base/text/names.h"
#include "lib/ir/mlir/util.h"

enum { SEPARATOR = 1, NONE = -1 };

typedef struct launch {
    MlirOperation op;
    int64_t next; /* next launch of the same kernel */
} launch;

typedef struct kernel_launches {
    int64_t first, last;
} kernel_launches;

struct cute_launches {
    cute_arena *arena; /* of the keys */
    cute_names names;  /* index of kernels */
    kernel_launches *kernels;
    launch *launches;
    size_t kernel_count, kernel_capacity, count, capacity;
    bool failed;
};

static void put_key(cute_buffer *out, MlirStringRef module, MlirStringRef kernel)
{
    cute_buffer_append(out, module.data, module.length);
    cute_buffer_putc(out, SEPARATOR);
    cute_buffer_append(out, kernel.data, kernel.length);
}

static bool add_launch(cute_launches *l, MlirOperation op, const cute_buffer *key)
{
    size_t kernel = cute_names_find(&l->names, key->data, key->length);
    if (kernel == CUTE_NO_NAME) {
        const char *copy = cute_arena_copy(l->arena, key->data, key->length);
        kernel = l->kernel_count;
        if (!copy || !cute_names_put(&l->names, copy, key->length, kernel) ||
            !cute_heap_more(&l->kernels, kernel, &l->kernel_capacity, sizeof *l->kernels, 16))
            return false;
        l->kernels[l->kernel_count++] = (kernel_launches){NONE, NONE};
    }
    if (!cute_heap_more(&l->launches, l->count, &l->capacity, sizeof *l->launches, 16)) return false;
    kernel_launches *k = &l->kernels[kernel];
    int64_t index = (int64_t)l->count;
    l->launches[l->count++] = (launch){op, NONE};
    if (k->last == NONE)
        k->first = index;
    else
        l->launches[k->last].next = index;
    k->last = index;
    return true;
}

static void collect_launch(MlirOperation op, void *context)
{
    cute_launches *l = context;
    bool cuda = cute_op_is(op, "cuda.launch_ex");
    MlirAttribute callee = mlirOperationGetAttributeByName(op, cute_text(cuda ? "callee" : "kernel"));
    if (mlirAttributeIsNull(callee) || !mlirAttributeIsASymbolRef(callee)) return;
    cute_buffer key = {0};
    put_key(&key, mlirSymbolRefAttrGetRootReference(callee), mlirSymbolRefAttrGetLeafReference(callee));
    l->failed = !cute_buffer_ok(&key) || !add_launch(l, op, &key) || l->failed;
    cute_buffer_release(&key);
}

cute_launches *cute_launches_create(MlirOperation root)
{
    cute_launches *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->arena = cute_arena_create();
    if (l->arena) {
        cute_op_each(root, "gpu.launch_func", collect_launch, l);
        cute_op_each(root, "cuda.launch_ex", collect_launch, l);
    }
    if (l->arena && !l->failed) return l;
    cute_launches_destroy(l);
    return NULL;
}

void cute_launches_destroy(cute_launches *l)
{
    if (!l) return;
    cute_names_release(&l->names);
    cute_arena_destroy(l->arena);
    free(l->kernels);
    free(l->launches);
    free(l);
}

void cute_launches_each(const cute_launches *l, MlirOperation kernel,
                        void (*visit)(MlirOperation launch, void *context), void *context)
{
    MlirOperation module = mlirOperationGetParentOperation(kernel);
    MlirAttribute own = mlirOperationGetAttributeByName(kernel, cute_text("sym_name"));
    MlirAttribute outer = mlirOperationIsNull(module)
                              ? (MlirAttribute){NULL}
                              : mlirOperationGetAttributeByName(module, cute_text("sym_name"));
    if (!l || !l->count || mlirAttributeIsNull(own) || mlirAttributeIsNull(outer)) return;
    cute_buffer key = {0};
    put_key(&key, mlirStringAttrGetValue(outer), mlirStringAttrGetValue(own));
    size_t found = cute_buffer_ok(&key) ? cute_names_find(&l->names, key.data, key.length) : CUTE_NO_NAME;
    cute_buffer_release(&key);
    if (found == CUTE_NO_NAME) return;
    for (int64_t i = l->kernels[found].first; i != NONE; i = l->launches[i].next)
        visit(l->launches[i].op, context);
}

void cute_launch_groups(MlirOperation op, intptr_t start[CUTE_LAUNCH_GROUPS])
{
    MlirAttribute sizes = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    start[0] = 0;
    for (int i = 0; i + 1 < CUTE_LAUNCH_GROUPS; i++)
        start[i + 1] = start[i] + mlirDenseI32ArrayGetElement(sizes, i);
}
