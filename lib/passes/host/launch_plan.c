/* cute-launch-plan: records the host code up to each kernel launch as a list of operations on numbers and
 * launches (docs/metadata.md), which can be executed without a compiler.
 *
 * Requires: launches outlined; tensors and layouts lowered to structs (cute-to-base), which plans can
 * represent. Ensures: each gpu.module has `cute.plans`, an array of JSON texts, one for each public function
 * of the host: its values in order, each computed from earlier ones, and its launches. A function with an
 * unsupported operation, or without launches, gets a text with the reason.
 *
 *     func.func @main(%n: index) { gpu.launch_func @m::@k blocks in (%n, %c1, %c1) threads in (%c4, %c1, %c1) ... }
 * ->
 *     gpu.module @m attributes {cute.plans = ["{...\"plan\":\"main\",\"values\":[[\"arg\",64,0],...]}"]}
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/json.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/describe.h"
#include "lib/passes/host/host.h"
#include "lib/passes/host/launches.h"
#include "lib/passes/host/plan.h"
#include "lib/passes/passes.h"

enum { CALLS = 32, OPERATIONS = 100000 };

static const char NOT_SUPPORTED[] = "is not supported in a launch plan";

static bool walk_block(plan *p, MlirBlock block, plan_results *results);

/* ---- control flow ---- */

static plan_results *make_results(plan *p, size_t count)
{
    plan_results *results = cute_arena_alloc(p->arena, sizeof *results);
    if (!results || !(results->list = cute_arena_array(p->arena, count + 1, sizeof *results->list)))
        return NULL;
    results->count = count;
    return results;
}

static bool bind_if_result(plan *p, MlirOperation op, intptr_t i, int64_t condition, const plan_known *yes,
                           const plan_known *no)
{
    if (!yes || !no || yes->count != no->count || yes->text.length || no->text.length) return true;
    int64_t *items = cute_arena_array(p->arena, yes->count + 1, sizeof *items);
    if (!items) return false;
    for (size_t k = 0; k < yes->count; k++) {
        bool both = yes->items[k] != PLAN_UNDEFINED && no->items[k] != PLAN_UNDEFINED;
        items[k] = both                              ? plan_select(p, condition, yes->items[k], no->items[k])
                   : yes->items[k] == PLAN_UNDEFINED ? no->items[k]
                                                     : yes->items[k];
    }
    return plan_bind(p, mlirOperationGetResult(op, i), items, yes->count);
}

static bool note_if(plan *p, MlirOperation op)
{
    int64_t condition = 0, outer = p->condition;
    size_t count = (size_t)mlirOperationGetNumResults(op);
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &condition)) return false;
    plan_results *results[2] = {make_results(p, count), make_results(p, count)};
    bool ok = results[0] && results[1];
    for (int side = 0; ok && side < 2; side++) {
        MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, side));
        if (mlirBlockIsNull(block)) continue;
        int64_t here = condition;
        if (side) here = plan_operation(p, "eq", 1, condition, plan_constant(p, 1, 0));
        if (outer != PLAN_UNDEFINED) here = plan_operation(p, "and", 1, outer, here);
        p->condition = here;
        p->work++; /* waits of one branch hold neither for the other nor after both */
        ok = walk_block(p, block, results[side]);
        p->work++;
    }
    p->condition = outer;
    for (size_t i = 0; ok && i < count; i++)
        ok = bind_if_result(p, op, (intptr_t)i, condition, results[0]->list[i], results[1]->list[i]);
    return ok;
}

/* Loop-carried values: one plan value for each leaf, after the loop's own operands. */
static bool carry_values(plan *p, MlirOperation op, json_t *loop, int64_t **carried)
{
    intptr_t operands = mlirOperationGetNumOperands(op);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0));
    size_t total = 0, count, next = 0;
    const int64_t *items;
    for (intptr_t i = 3; i < operands; i++) {
        if (!plan_leaves(p, op, mlirOperationGetOperand(op, i), &items, &count)) return false;
        for (size_t k = 0; k < count; k++) json_array_append_new(loop, json_integer(items[k]));
        total += count;
    }
    if (!(*carried = cute_arena_array(p->arena, total + 1, sizeof **carried))) return false;
    int64_t own = plan_add(p, (int)json_integer_value(json_array_get(loop, 1)), json_incref(loop));
    if (!plan_bind_one(p, mlirBlockGetArgument(body, 0), own)) return false;
    for (intptr_t i = 3; i < operands; i++) {
        if (!plan_leaves(p, op, mlirOperationGetOperand(op, i), &items, &count)) return false;
        for (size_t k = 0; k < count; k++) {
            int width = plan_width(p, items[k]);
            (*carried)[next + k] =
                plan_add(p, width, json_pack("[siI]", "carry", width, (json_int_t)(next + k)));
        }
        if (!plan_bind(p, mlirBlockGetArgument(body, i - 2), *carried + next, count) ||
            !plan_bind(p, mlirOperationGetResult(op, i - 3), *carried + next, count))
            return false;
        next += count;
    }
    return true;
}

static bool end_loop(plan *p, MlirOperation op, const plan_results *results)
{
    json_t *end = json_pack("[si]", "end", 64);
    for (size_t i = 0; i < results->count; i++) {
        const plan_known *k = results->list[i];
        for (size_t n = 0; k && n < k->count; n++) {
            int64_t item = k->items[n] == PLAN_UNDEFINED ? plan_constant(p, 64, 0) : k->items[n];
            json_array_append_new(end, json_integer(item));
        }
        if (k) continue;
        json_decref(end);
        return plan_refuse(p, op, "carries a value that is not a plan value");
    }
    plan_add(p, 64, end);
    return true;
}

static bool note_for(plan *p, MlirOperation op)
{
    int64_t low = 0, high = 0, step = 0, *carried;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &low) ||
        !plan_index(p, op, mlirOperationGetOperand(op, 1), &high) ||
        !plan_index(p, op, mlirOperationGetOperand(op, 2), &step))
        return false;
    /* An unreached loop has a trip count of 0. */
    if (p->condition != PLAN_UNDEFINED) high = plan_select(p, p->condition, high, low);
    json_t *loop =
        json_pack("[siIII]", "for", plan_width(p, low), (json_int_t)low, (json_int_t)high, (json_int_t)step);
    plan_results *results = make_results(p, (size_t)mlirOperationGetNumResults(op));
    p->loops++;
    p->work++; /* an iteration follows the previous one */
    bool ok = loop && results && carry_values(p, op, loop, &carried) &&
              walk_block(p, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), results) &&
              end_loop(p, op, results);
    p->loops--;
    p->work++;
    json_decref(loop);
    return ok;
}

static bool note_call(plan *p, MlirOperation op)
{
    MlirOperation callee = cute_host_callee(p->module, op);
    MlirBlock body = {NULL};
    if (!mlirOperationIsNull(callee)) body = mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0));
    if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
        return plan_refuse(p, op, "calls a function that this module does not define, or one with branches");
    if (p->depth == CALLS) return plan_refuse(p, op, "is recursive, or nested deeper than %d levels", CALLS);
    intptr_t operands = mlirOperationGetNumOperands(op), count = mlirOperationGetNumResults(op);
    for (intptr_t i = 0; i < operands; i++) {
        const plan_known *k = plan_find(p, mlirOperationGetOperand(op, i));
        MlirValue argument = mlirBlockGetArgument(body, i);
        if (k && !(k->text.length ? plan_bind_text(p, argument, k->text)
                                  : plan_bind(p, argument, k->items, k->count)))
            return false;
    }
    plan_results *results = make_results(p, (size_t)count);
    p->depth++;
    bool ok = results && walk_block(p, body, results);
    p->depth--;
    for (intptr_t i = 0; ok && i < count; i++) {
        const plan_known *k = results->list[i];
        ok = !k || plan_bind(p, mlirOperationGetResult(op, i), k->items, k->count);
    }
    return ok;
}

/* ["assert", 1, condition, text]: the condition is true if the assertion is not reached. */
static bool note_assert(plan *p, MlirOperation op)
{
    int64_t holds = 0;
    MlirStringRef text = mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("msg")));
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &holds)) return false;
    if (p->condition != PLAN_UNDEFINED) holds = plan_select(p, p->condition, holds, plan_constant(p, 1, 1));
    json_t *message = json_stringn(text.data, text.length);
    plan_add(p, 1, json_pack("[siIo]", "assert", 1, (json_int_t)holds, message ? message : json_string("")));
    return true;
}

/* ---- launches ---- */

static bool put_indices(plan *p, MlirOperation op, json_t *launch, const char *key, intptr_t first,
                        intptr_t count)
{
    json_t *list = json_array();
    json_object_set_new(launch, key, list);
    for (intptr_t i = 0; i < count; i++) {
        int64_t index = 0;
        if (!plan_index(p, op, mlirOperationGetOperand(op, first + i), &index)) return false;
        json_array_append_new(list, json_integer(index));
    }
    return true;
}

/* The index of a number, or a list of indices for other numbers of leaves. */
static bool put_arguments(plan *p, MlirOperation op, json_t *launch, intptr_t first, intptr_t count)
{
    json_t *args = json_array();
    json_object_set_new(launch, "args", args);
    for (intptr_t i = 0; i < count; i++) {
        const int64_t *items;
        size_t leaves;
        MlirValue operand = mlirOperationGetOperand(op, first + i);
        if (!plan_leaves(p, op, operand, &items, &leaves)) return false;
        if (plan_type_width(mlirValueGetType(operand))) {
            json_array_append_new(args, json_integer(items[0]));
            continue;
        }
        json_t *list = json_array();
        for (size_t k = 0; k < leaves; k++) json_array_append_new(list, json_integer(items[k]));
        json_array_append_new(args, list);
    }
    return true;
}

static json_t *string_of(MlirStringRef text)
{
    json_t *string = json_stringn(text.data, text.length);
    return string ? string : json_string("(not UTF-8)");
}

/* Appends a launch of the kernel that the attribute refers to. */
static json_t *add_launch(plan *p, MlirOperation op, const char *attribute)
{
    MlirAttribute kernel = mlirOperationGetAttributeByName(op, cute_text(attribute));
    json_t *launch = json_pack("{so}", "kernel", string_of(mlirSymbolRefAttrGetLeafReference(kernel)));
    json_array_append_new(p->launches, launch);
    return launch;
}

static void end_launch(plan *p, json_t *launch)
{
    if (p->condition != PLAN_UNDEFINED) json_object_set_new(launch, "if", json_integer(p->condition));
    if (!p->placed) return;
    plan_add(p, 1, json_pack("[siI]", "launch", 1, (json_int_t)json_array_size(p->launches) - 1));
}

static void put_items(json_t *launch, const char *key, const int64_t *items, int count)
{
    if (*items == PLAN_UNDEFINED) return;
    json_t *list = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(list, json_integer(items[i]));
    json_object_set_new(launch, key, list);
}

static bool note_launch_func(plan *p, MlirOperation op)
{
    enum {
        GRID = CUTE_LAUNCH_GRID,
        CLUSTER = CUTE_LAUNCH_CLUSTER,
        DYNAMIC = CUTE_LAUNCH_DYNAMIC,
        ARGUMENTS = CUTE_LAUNCH_ARGUMENTS
    };
    intptr_t start[CUTE_LAUNCH_GROUPS];
    cute_launch_groups(op, start);
    intptr_t token = plan_token_result(op);
    int stream = 0;
    if (p->placed && !plan_begin_work(p, op, 0, start[GRID], token >= 0, &stream)) return false;
    json_t *launch = add_launch(p, op, "kernel");
    if (stream) json_object_set_new(launch, "stream", json_integer(stream));
    bool ok = put_indices(p, op, launch, "grid", start[GRID], 3) &&
              put_indices(p, op, launch, "block", start[CUTE_LAUNCH_BLOCK], 3);
    if (ok && start[DYNAMIC] > start[CLUSTER]) ok = put_indices(p, op, launch, "cluster", start[CLUSTER], 3);
    if (ok && start[ARGUMENTS] > start[DYNAMIC])
        ok = put_indices(p, op, launch, "dynamic_smem", start[DYNAMIC], 1);
    if (ok) ok = put_arguments(p, op, launch, start[ARGUMENTS], start[ARGUMENTS + 1] - start[ARGUMENTS]);
    static const struct {
        const char *attribute, *key;
    } flags[] = {{"cute.cooperative", "cooperative"}, {"cute.programmatic", "programmatic"}};
    for (size_t i = 0; ok && i < sizeof flags / sizeof *flags; i++) {
        int64_t one = PLAN_UNDEFINED;
        if (cute_op_has(op, flags[i].attribute)) one = plan_constant(p, 32, 1);
        put_items(launch, flags[i].key, &one, 1);
    }
    if (ok) end_launch(p, launch);
    return ok && (!p->placed || plan_end_work(p, op, token, stream));
}

/* ---- the dialect cuda ---- */

/* A launch configuration, shared by its launches. */
enum {
    CFG_BLOCK,
    CFG_SMEM = 3,
    CFG_GRID,
    CFG_CLUSTER = 7,
    CFG_COOPERATIVE = 10,
    CFG_PROGRAMMATIC,
    CFG_ITEMS
};

static bool note_config(plan *p, MlirOperation op)
{
    int64_t *items = cute_arena_array(p->arena, CFG_ITEMS, sizeof *items);
    if (!items) return false;
    for (int i = 0; i < CFG_ITEMS; i++) items[i] = PLAN_UNDEFINED;
    for (int i = 0; i < CFG_CLUSTER; i++) /* the stream, which comes last, is ignored */
        if (!plan_index(p, op, mlirOperationGetOperand(op, i), &items[i])) return false;
    return plan_bind(p, mlirOperationGetResult(op, 0), items, CFG_ITEMS);
}

/* The operands after the configuration replace `count` of its items starting at `first`. */
static bool change_config(plan *p, MlirOperation op, int first, int count)
{
    MlirValue config = mlirOperationGetOperand(op, 0);
    const plan_known *k = plan_find(p, config);
    int64_t *items = cute_arena_array(p->arena, CFG_ITEMS, sizeof *items);
    if (!items || !k || k->count != CFG_ITEMS)
        return plan_refuse(p, op, "has an unknown launch configuration");
    memcpy(items, k->items, CFG_ITEMS * sizeof *items);
    for (int i = 0; i < count; i++) {
        int64_t value = 0, *item = &items[first + i];
        if (!plan_index(p, op, mlirOperationGetOperand(op, 1 + i), &value)) return false;
        if (p->condition != PLAN_UNDEFINED) {
            int64_t none = first == CFG_CLUSTER;
            value = plan_select(p, p->condition, value,
                                *item == PLAN_UNDEFINED ? plan_constant(p, 32, none) : *item);
        }
        *item = value;
    }
    return plan_bind(p, config, items, CFG_ITEMS);
}

static bool note_cluster(plan *p, MlirOperation op)
{
    return change_config(p, op, CFG_CLUSTER, 3);
}

static bool note_cooperative(plan *p, MlirOperation op)
{
    return change_config(p, op, CFG_COOPERATIVE, 1);
}

static bool note_programmatic(plan *p, MlirOperation op)
{
    return change_config(p, op, CFG_PROGRAMMATIC, 1);
}

static bool note_launch_ex(plan *p, MlirOperation op)
{
    const plan_known *k = plan_find(p, mlirOperationGetOperand(op, 0));
    if (!k || k->count != CFG_ITEMS) return plan_refuse(p, op, "has an unknown launch configuration");
    p->work++;
    json_t *launch = add_launch(p, op, "callee");
    put_items(launch, "grid", k->items + CFG_GRID, 3);
    put_items(launch, "block", k->items + CFG_BLOCK, 3);
    put_items(launch, "cluster", k->items + CFG_CLUSTER, 3);
    put_items(launch, "dynamic_smem", k->items + CFG_SMEM, 1);
    put_items(launch, "cooperative", k->items + CFG_COOPERATIVE, 1);
    put_items(launch, "programmatic", k->items + CFG_PROGRAMMATIC, 1);
    if (!put_arguments(p, op, launch, 1, mlirOperationGetNumOperands(op) - 1)) return false;
    end_launch(p, launch);
    /* Assume success: the result is 0. */
    return plan_bind_one(p, mlirOperationGetResult(op, 0), plan_constant(p, 32, 0));
}

static bool note_cast(plan *p, MlirOperation op)
{
    const plan_known *k = plan_find(p, mlirOperationGetOperand(op, 0));
    return !k || plan_bind(p, mlirOperationGetResult(op, 0), k->items, k->count);
}

static json_t *integers_of(MlirOperation op, const char *name)
{
    MlirAttribute list = mlirOperationGetAttributeByName(op, cute_text(name));
    json_t *out = json_array();
    for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(list); i++)
        json_array_append_new(out, json_integer(mlirDenseI64ArrayGetElement(list, i)));
    return out;
}

/* ["tensor_map", 64, address, extents, strides, {static properties}] */
static bool note_tensor_map(plan *p, MlirOperation op)
{
    int64_t address = 0, one = 0;
    intptr_t rank = mlirOperationGetNumOperands(op) / 2;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &address)) return false;
    json_t *lists[2] = {json_array(), json_array()};
    bool ok = true;
    for (intptr_t i = 1; ok && i < 2 * rank; i++) {
        ok = plan_index(p, op, mlirOperationGetOperand(op, i), &one);
        json_array_append_new(lists[i > rank], json_integer(one));
    }
    json_t *known = json_pack(
        "{sososososI}", "box", integers_of(op, "box"), "modes", integers_of(op, "modes"), "format",
        string_of(mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("format")))), "tensor",
        string_of(mlirStringAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("tensor")))),
        "swizzle",
        (json_int_t)mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("swizzle"))));
    static const char *const words[] = {"interleave", "l2_promotion", "fill"}, *const pixels[] = {"lower",
                                                                                                  "upper",
                                                                                                  "stride"};
    for (int i = 0; i < 3; i++) {
        MlirAttribute word = mlirOperationGetAttributeByName(op, cute_text(words[i]));
        if (!mlirAttributeIsNull(word))
            json_object_set_new(known, words[i], string_of(mlirStringAttrGetValue(word)));
        if (!mlirAttributeIsNull(mlirOperationGetAttributeByName(op, cute_text(pixels[i]))))
            json_object_set_new(known, pixels[i], integers_of(op, pixels[i]));
    }
    json_t *map = json_pack("[siIooo]", "tensor_map", 64, (json_int_t)address, lists[0], lists[1], known);
    if (!ok) return json_decref(map), false;
    return plan_bind_one(p, mlirOperationGetResult(op, 0), plan_add(p, 64, map));
}

/* ---- temporaries ---- */

/* An entry of "temporaries", {"size", "align", "init", "shape", "strides", "if"}, and ["temporary", 64, entry], its address. */
static bool note_temporary(plan *p, MlirOperation op)
{
    static const struct {
        const char *word;
        int byte;
    } fills[] = {{"zero", 0x00}, {"ones", 0xFF}};
    intptr_t count = mlirOperationGetNumOperands(op);
    json_t *lists[2] = {json_array(), json_array()}, *entry;
    bool ok = true;
    for (intptr_t i = 0; ok && i < count; i++) {
        int64_t one = 0;
        ok = plan_index(p, op, mlirOperationGetOperand(op, i), &one);
        json_array_append_new(lists[i >= count / 2], json_integer(one));
    }
    MlirAttribute element = mlirOperationGetAttributeByName(op, cute_text("element")),
                  align = mlirOperationGetAttributeByName(op, cute_text("align")),
                  init = mlirOperationGetAttributeByName(op, cute_text("init"));
    entry = json_pack("{sIsIsoso}", "size", (json_int_t)mlirIntegerAttrGetValueInt(element) / 8, "align",
                      (json_int_t)mlirIntegerAttrGetValueInt(align), "shape", lists[0], "strides", lists[1]);
    for (size_t i = 0; !mlirAttributeIsNull(init) && i < sizeof fills / sizeof *fills; i++)
        if (cute_text_is(mlirStringAttrGetValue(init), fills[i].word))
            json_object_set_new(entry, "init", json_integer(fills[i].byte));
    int64_t address;
    if (!ok) return json_decref(entry), false;
    return plan_temporary(p, op, entry, &address) && plan_bind_one(p, mlirOperationGetResult(op, 0), address);
}

static bool note_nothing(plan *p, MlirOperation op)
{
    (void)p;
    (void)op;
    return true;
}

/* ---- blocks ---- */

static const struct {
    const char *op;
    bool (*note)(plan *p, MlirOperation op);
} table[] = {
    {"scf.if", note_if},
    {"scf.for", note_for},
    {"func.call", note_call},
    {"cf.assert", note_assert},
    {"gpu.launch_func", note_launch_func},
    {"cuda.launch_cfg.create", note_config},
    {"cuda.launch_cfg.cluster_dim", note_cluster},
    {"cuda.launch_cfg.cooperative", note_cooperative},
    {"cuda.launch_cfg.programmatic_stream_serialization_allowed", note_programmatic},
    {"cuda.launch_ex", note_launch_ex},
    {"cuda.cast", note_cast},
    {"cute_nvgpu.host.tensor_map", note_tensor_map},
    {"cute_nvgpu.host.temporary", note_temporary},
    {"cuda.return_if_error", note_nothing},
};

static bool note_op(plan *p, MlirOperation op)
{
    bool found = false;
    if (!plan_compute(p, op, &found) || (!found && !plan_step(p, op, &found)))
        return plan_refuse(p, op, NOT_SUPPORTED);
    if (found) return true;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (cute_op_is(op, table[i].op)) return table[i].note(p, op) || plan_refuse(p, op, NOT_SUPPORTED);
    /* An operation without effects is rejected only if a launch uses its result. */
    return cute_op_is_effect_free(op) || plan_refuse(p, op, NOT_SUPPORTED);
}

/* `results` receives the values that the block's terminator yields. */
static bool walk_block(plan *p, MlirBlock block, plan_results *results)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "func.return") || cute_op_is(op, "scf.yield")) {
            intptr_t count = mlirOperationGetNumOperands(op);
            for (intptr_t i = 0; i < count && (size_t)i < results->count; i++)
                results->list[i] = plan_find(p, mlirOperationGetOperand(op, i));
            return true;
        }
        if (!note_op(p, op)) return false;
        if (++p->operations > OPERATIONS)
            return plan_refuse(p, op, "exceeds the %d operations of a launch plan", OPERATIONS);
    }
    return true;
}

/* ---- functions ---- */

static json_t *plan_parameters(plan *p, MlirOperation func)
{
    MlirAttribute noted = mlirOperationGetAttributeByName(func, cute_text("cute.host"));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    json_t *list = json_array();
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
        bool known = !mlirAttributeIsNull(noted) && i < mlirArrayAttrGetNumElements(noted);
        json_array_append_new(list, cute_attribute_json(known ? mlirArrayAttrGetElement(noted, i)
                                                              : cute_describe_parameter(func, i)));
        plan_parameter(p, mlirBlockGetArgument(body, i), i);
    }
    return list;
}

/* A plan on one line, which the caller frees; NULL when memory is exhausted. */
static char *plan_of(MlirOperation module, MlirOperation func)
{
    plan p = {.module = module, .condition = PLAN_UNDEFINED, .arena = cute_arena_create()};
    if (!p.arena) return NULL;
    p.values = json_array();
    p.launches = json_array();
    p.steps = json_array();
    p.temporaries = json_array();
    MlirStringRef name = mlirStringAttrGetValue(mlirOperationGetAttributeByName(func, cute_text("sym_name")));
    json_t *object = json_pack("{siso}", "format", 1, "plan", string_of(name));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    p.placed = cute_host_is_ordered(module, func);
    json_object_set_new(object, "args", plan_parameters(&p, func));
    plan_results *results =
        make_results(&p, (size_t)mlirOperationGetNumOperands(mlirBlockGetTerminator(body)));
    if (!cute_host_launches(module, func))
        cute_buffer_puts(&p.refusal, "it launches no kernel");
    else if (!mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
        plan_refuse(&p, func, "has branches of cf; use scf.if, which launch plans support");
    else if (results)
        walk_block(&p, body, results);
    if (p.refusal.length) {
        json_object_set_new(object, "refused", cute_json_text(cute_buffer_text(&p.refusal)));
    } else {
        json_object_set(object, "values", p.values);
        if (json_array_size(p.temporaries)) json_object_set(object, "temporaries", p.temporaries);
        json_object_set(object, "launches", p.launches);
        if (json_array_size(p.steps)) json_object_set(object, "steps", p.steps);
    }
    char *text = results ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    json_decref(p.values);
    json_decref(p.launches);
    json_decref(p.steps);
    json_decref(p.temporaries);
    cute_buffer_release(&p.refusal);
    cute_arena_destroy(p.arena);
    return text;
}

static void attach_plans(MlirOperation module, void *context)
{
    mlirOperationSetAttributeByName(module, cute_text("cute.plans"), *(MlirAttribute *)context);
}

static void run_launch_plan(MlirOperation root, cute_pass_run *pass)
{
    MlirContext c = mlirOperationGetContext(root);
    MlirAttribute *plans = NULL;
    size_t count = 0, capacity = 0;
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        if (!cute_host_is_public(o)) continue;
        char *text = plan_of(root, o);
        if (!text || !cute_heap_more(&plans, count, &capacity, sizeof *plans, 16)) {
            cute_emit_error(mlirOperationGetLocation(o), "out of memory for a launch plan");
            cute_pass_fail(pass);
        } else {
            plans[count++] = cute_string_attribute(c, text);
        }
        free(text);
    }
    MlirAttribute all = mlirArrayAttrGet(c, (intptr_t)count, plans);
    if (count) cute_op_each(root, "gpu.module", attach_plans, &all);
    free(plans);
}

const cute_pass cute_pass_launch_plan = {
    .name = "cute-launch-plan",
    .help = "Record the host code up to kernel launches on gpu.modules",
    .anchor = "builtin.module",
    .run = run_launch_plan,
};
