/* cute-only: keeps one function and the functions it launches or calls.
 *
 * Requires: nothing. Ensures: each remaining function is called `function` or refers to one that is,
 * directly or transitively; gpu.modules that become empty are removed. Equal names in several modules all
 * match.
 *
 *     func.func @run() { gpu.launch_func @m::@k ... }  gpu.module @m { gpu.func @k() ...  gpu.func @other() ... }
 * -> function=k
 *     gpu.module @m { gpu.func @k() ... }
 */
#include "lib/base/list.h"
#include "lib/base/options/nearest.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"

enum { FUNCTION };
static const cute_pass_option options[] = {
    [FUNCTION] = {"function", CUTE_PASS_TEXT, "Name of the host function or kernel", 0, NULL},
};

typedef struct function {
    MlirOperation op;
    const char *name;
    bool reached;
} function;

typedef struct work {
    cute_arena *arena;
    function *functions;
    size_t count, capacity, found, walked; /* found: functions reached so far */
    function **order;                      /* in the order they were reached */
    bool failed;
} work;

static bool is_function(MlirOperation op)
{
    return cute_op_has(op, "sym_name") && cute_op_has(op, "function_type");
}

static void collect_function(MlirOperation op, void *context)
{
    work *w = context;
    if (w->failed || !is_function(op)) return;
    MlirStringRef name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("sym_name")));
    const char *copy = cute_arena_copy(w->arena, name.data, name.length);
    if (copy && cute_arena_more(w->arena, &w->functions, w->count, &w->capacity, sizeof *w->functions, 64))
        w->functions[w->count++] = (function){op, copy, false};
    else
        w->failed = true;
}

static void reach_function(work *w, MlirStringRef name)
{
    for (size_t i = 0; i < w->count; i++) {
        function *f = &w->functions[i];
        if (f->reached || !cute_text_is(name, f->name)) continue;
        f->reached = true;
        w->order[w->found++] = f;
    }
}

static void reach_attribute(work *w, MlirAttribute a)
{
    if (mlirAttributeIsASymbolRef(a)) {
        reach_function(w, mlirSymbolRefAttrGetRootReference(a));
        for (intptr_t i = 0; i < mlirSymbolRefAttrGetNumNestedReferences(a); i++)
            reach_attribute(w, mlirSymbolRefAttrGetNestedReference(a, i));
    } else if (mlirAttributeIsAArray(a)) {
        for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(a); i++)
            reach_attribute(w, mlirArrayAttrGetElement(a, i));
    } else if (mlirAttributeIsADictionary(a)) {
        for (intptr_t i = 0; i < mlirDictionaryAttrGetNumElements(a); i++)
            reach_attribute(w, mlirDictionaryAttrGetElement(a, i).attribute);
    }
}

static void reach_from(MlirOperation op, void *context)
{
    for (intptr_t i = 0; i < mlirOperationGetNumAttributes(op); i++)
        reach_attribute(context, mlirOperationGetAttribute(op, i).attribute);
}

static const char *name_at(const void *list, size_t index)
{
    const work *w = list;
    return index < w->count ? w->functions[index].name : NULL;
}

static void fail_unknown_function(MlirOperation root, cute_pass_run *pass, const work *w, MlirStringRef name)
{
    cute_buffer text = {0};
    const char *copy = cute_arena_copy(w->arena, name.data, name.length);
    const char *near = copy ? cute_nearest(copy, name_at, w) : NULL;
    cute_buffer_printf(&text, "cute-only expects the name of a function, got '%.*s'", (int)name.length,
                       name.data);
    if (near) cute_buffer_printf(&text, "; did you mean '%s'?", near);
    for (size_t i = 0; !near && i < w->count && i < 8; i++)
        cute_buffer_printf(&text, "%s'%s'", i ? ", " : "; there are ", w->functions[i].name);
    cute_emit_error(mlirOperationGetLocation(root), cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_pass_fail(pass);
}

static void count_functions(MlirOperation op, void *context)
{
    *(size_t *)context += is_function(op);
}

/* Removes modules that had functions and are empty now. */
static void drop_empty_modules(work *w)
{
    for (size_t i = 0; i < w->count; i++) {
        if (w->functions[i].reached) continue;
        MlirOperation module = cute_op_parent(w->functions[i].op, "gpu.module");
        mlirOperationDestroy(w->functions[i].op);
        size_t left = 0;
        if (mlirOperationIsNull(module)) continue;
        cute_op_each(module, NULL, count_functions, &left);
        if (!left) mlirOperationDestroy(module);
    }
}

static void keep_reached(MlirOperation root, cute_pass_run *pass, work *w)
{
    MlirStringRef name = cute_pass_text(pass, FUNCTION);
    cute_op_each(root, NULL, collect_function, w);
    w->order = cute_arena_array(w->arena, w->count + 1, sizeof *w->order);
    if (w->failed || !w->order) {
        cute_emit_error(mlirOperationGetLocation(root), "out of memory");
        cute_pass_fail(pass);
        return;
    }
    reach_function(w, name);
    if (!w->found) {
        fail_unknown_function(root, pass, w, name);
        return;
    }
    while (w->walked < w->found) cute_op_each(w->order[w->walked++]->op, NULL, reach_from, w);
    drop_empty_modules(w);
}

static void run_only(MlirOperation root, cute_pass_run *pass)
{
    work w = {.arena = cute_arena_create()};
    if (w.arena)
        keep_reached(root, pass, &w);
    else
        cute_pass_fail(pass);
    cute_arena_destroy(w.arena);
}

const cute_pass cute_pass_only = {
    .name = "cute-only",
    .help = "Keep one function and the functions it launches or calls",
    .anchor = "builtin.module",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .run = run_only,
};
