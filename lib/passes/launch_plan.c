/* cute-launch-plan: what a host function does until kernels start, as a list of integer operations and
 * launches (docs/metadata.md), so that it can be done again without a compiler.
 *
 * Requires: launches outlined. Ensures: each gpu.module has `cute.plans`, an array of texts in JSON, one for
 * each public function of the host that launches a kernel: its values in order, each from earlier ones, and
 * its launches. A function with an operation that has no place in a plan gets a text that says which.
 *
 *     func.func @main(%n: index) { gpu.launch_func @m::@k blocks in (%n, %c1, %c1) threads in (%c4, %c1, %c1) ... }
 * ->
 *     gpu.module @m attributes {cute.plans = ["{...\"plan\":\"main\",\"values\":[[\"arg\",64,0],...]}"]}
 */
#include <mlir-c/Diagnostics.h>
#include <stdlib.h>

#include "lib/base/json.h"
#include "lib/base/list.h"
#include "lib/ir/kernel.h"
#include "lib/ir/shim.h"
#include "lib/ir/util.h"
#include "lib/passes/passes.h"

enum { CALLS = 32, STEPS = 100000, NOT_THERE = -1 };

/* What an MLIR value is in the plan: the index of a plan's value, or the name of an environment variable on
 * its way from getenv to atoi. */
typedef struct known {
    MlirValue value;
    int64_t index;
    MlirStringRef text;
} known;

typedef struct plan {
    MlirOperation module;
    json_t *values, *launches;
    known *known;
    size_t known_count, known_capacity;
    int64_t condition; /* under which launches happen here, or NOT_THERE */
    int depth;         /* of calls */
    int steps;         /* operations so far, those of calls each time */
    cute_buffer refusal;
} plan;

static const char NOT_SUPPORTED[] = "is not supported in a launch plan";

static bool walk_block(plan *p, MlirBlock block, int64_t *results);

/* ---- values ---- */

/* The first reason counts. */
static bool refuse(plan *p, MlirOperation op, const char *format, ...) CUTE_PRINTF(3, 4);
static bool refuse(plan *p, MlirOperation op, const char *format, ...)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op)), file;
    unsigned line = 0, column;
    if (p->refusal.length) return false;
    if (!cute_location_place(mlirOperationGetLocation(op), &file, &line, &column)) line = 0;
    cute_buffer_printf(&p->refusal, "'%.*s' at line %u ", (int)name.length, name.data, line);
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&p->refusal, format, args);
    va_end(args);
    return false;
}

static const known *find(plan *p, MlirValue value)
{
    for (size_t i = p->known_count; i-- > 0;)
        if (mlirValueEqual(p->known[i].value, value)) return &p->known[i];
    return NULL;
}

static bool bind(plan *p, MlirValue value, int64_t index, MlirStringRef text)
{
    if (!cute_heap_more(&p->known, p->known_count, &p->known_capacity, sizeof *p->known, 64)) return false;
    p->known[p->known_count++] = (known){value, index, text};
    return true;
}

/* The index of the plan's value that `value` is; false where it is none. */
static bool index_of(plan *p, MlirOperation user, MlirValue value, int64_t *out)
{
    const known *k = find(p, value);
    if (!k || k->index < 0) return refuse(p, user, "has an operand that is not a plan integer");
    *out = k->index;
    return true;
}

/* Bits of an integer type or index; 0 for others. */
static int width_of(MlirType type)
{
    if (mlirTypeIsAIndex(type)) return 64;
    if (!mlirTypeIsAInteger(type)) return 0;
    unsigned width = mlirIntegerTypeGetWidth(type);
    return width <= 64 ? (int)width : 0;
}

/* Appends `value`, which it takes over; its index. */
static int64_t add_value(plan *p, json_t *value)
{
    json_array_append_new(p->values, value);
    return (int64_t)json_array_size(p->values) - 1;
}

static int64_t add_operation(plan *p, const char *name, int width, int64_t a, int64_t b)
{
    return add_value(p, json_pack("[siII]", name, width, (json_int_t)a, (json_int_t)b));
}

static int64_t add_select(plan *p, int width, int64_t condition, int64_t yes, int64_t no)
{
    return add_value(
        p, json_pack("[siIII]", "select", width, (json_int_t)condition, (json_int_t)yes, (json_int_t)no));
}

static int64_t add_constant(plan *p, int width, int64_t number)
{
    return add_value(p, json_pack("[siI]", "const", width, (json_int_t)number));
}

/* ---- operations ---- */

static const struct {
    const char *op, *name; /* of arith, and in the plan */
} binary[] = {
    {"arith.addi", "add"},           {"arith.subi", "sub"},
    {"arith.muli", "mul"},           {"arith.divsi", "div"},
    {"arith.divui", "divu"},         {"arith.remsi", "rem"},
    {"arith.remui", "remu"},         {"arith.ceildivsi", "ceildiv"},
    {"arith.ceildivui", "ceildivu"}, {"arith.floordivsi", "floordiv"},
    {"arith.minsi", "min"},          {"arith.minui", "minu"},
    {"arith.maxsi", "max"},          {"arith.maxui", "maxu"},
    {"arith.andi", "and"},           {"arith.ori", "or"},
    {"arith.xori", "xor"},           {"arith.shli", "shl"},
    {"arith.shrsi", "shr"},          {"arith.shrui", "shru"},
};
/* In the order of arith.cmpi's predicates. */
static const char *const comparisons[] = {"eq", "ne", "lt", "le", "gt", "ge", "ltu", "leu", "gtu", "geu"};
/* Conversions: the value at its new width. */
static const struct {
    const char *op, *name;
} conversions[] = {{"arith.extsi", "sext"},
                   {"arith.extui", "zext"},
                   {"arith.trunci", "trunc"},
                   {"arith.index_cast", "sext"},
                   {"arith.index_castui", "zext"}};

static bool operands_of(plan *p, MlirOperation op, int64_t *out, intptr_t count)
{
    for (intptr_t i = 0; i < count; i++)
        if (!index_of(p, op, mlirOperationGetOperand(op, i), &out[i])) return false;
    return true;
}

static bool give(plan *p, MlirOperation op, int64_t index)
{
    return bind(p, mlirOperationGetResult(op, 0), index, (MlirStringRef){0});
}

static bool note_constant(plan *p, MlirOperation op)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    int width = width_of(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!width || !mlirAttributeIsAInteger(value)) return true; /* refused where it is used */
    int64_t number = mlirIntegerAttrGetValueInt(value);
    return give(p, op, add_constant(p, width, number));
}

static bool note_arith(plan *p, MlirOperation op)
{
    int64_t in[3] = {0};
    int width = width_of(mlirValueGetType(mlirOperationGetResult(op, 0)));
    int from = width_of(mlirValueGetType(mlirOperationGetOperand(op, 0)));
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        if (cute_op_is(op, binary[i].op))
            return width && operands_of(p, op, in, 2) &&
                   give(p, op, add_operation(p, binary[i].name, width, in[0], in[1]));
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (cute_op_is(op, conversions[i].op)) {
            /* To fewer bits only the low ones count, however it is called. */
            const char *name = width < from ? "trunc" : conversions[i].name;
            return width && from && operands_of(p, op, in, 1) &&
                   give(p, op, add_operation(p, name, width, in[0], from));
        }
    if (cute_op_is(op, "arith.cmpi")) {
        int64_t predicate =
            mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("predicate")));
        return from && operands_of(p, op, in, 2) &&
               give(p, op, add_operation(p, comparisons[predicate], from, in[0], in[1]));
    }
    if (cute_op_is(op, "arith.select") && width)
        return operands_of(p, op, in, 3) && give(p, op, add_select(p, width, in[0], in[1], in[2]));
    return refuse(p, op, NOT_SUPPORTED);
}

static bool note_if(plan *p, MlirOperation op)
{
    int64_t condition = 0, outer = p->condition;
    intptr_t count = mlirOperationGetNumResults(op);
    if (!index_of(p, op, mlirOperationGetOperand(op, 0), &condition)) return false;
    int64_t *results = calloc(2 * (size_t)count + 1, sizeof *results);
    bool ok = results != NULL;
    for (int side = 0; ok && side < 2; side++) {
        MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, side));
        if (mlirBlockIsNull(block)) continue;
        int64_t here = condition;
        if (side) {
            here = add_operation(p, "eq", 1, condition, add_constant(p, 1, 0));
        }
        if (outer != NOT_THERE) here = add_operation(p, "and", 1, outer, here);
        p->condition = here;
        ok = walk_block(p, block, results + side * count);
    }
    p->condition = outer;
    for (intptr_t i = 0; ok && i < count; i++) {
        MlirValue result = mlirOperationGetResult(op, i);
        int width = width_of(mlirValueGetType(result));
        ok = width ? bind(p, result, add_select(p, width, condition, results[i], results[count + i]),
                          (MlirStringRef){0})
                   : refuse(p, op, "has a result that is not an integer");
    }
    free(results);
    return ok;
}

static MlirOperation function(plan *p, MlirStringRef name)
{
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->module, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(o, mlirSymbolTableGetSymbolAttributeName());
        if (!mlirAttributeIsNull(symbol) && mlirStringRefEqual(mlirStringAttrGetValue(symbol), name))
            return o;
    }
    return (MlirOperation){NULL};
}

static bool note_call(plan *p, MlirOperation op)
{
    MlirStringRef name =
        mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("callee")));
    MlirOperation callee = function(p, name);
    MlirBlock body = {NULL};
    if (!mlirOperationIsNull(callee)) body = mlirRegionGetFirstBlock(mlirOperationGetRegion(callee, 0));
    if (mlirBlockIsNull(body) || !mlirBlockIsNull(mlirBlockGetNextInRegion(body)))
        return refuse(p, op, "calls a function that this module does not define, or that has branches");
    if (p->depth == CALLS) return refuse(p, op, "calls itself, or deeper than %d levels", CALLS);
    intptr_t operands = mlirOperationGetNumOperands(op), count = mlirOperationGetNumResults(op);
    size_t before = p->known_count;
    for (intptr_t i = 0; i < operands; i++) {
        const known *k = find(p, mlirOperationGetOperand(op, i));
        if (k && !bind(p, mlirBlockGetArgument(body, i), k->index, k->text)) return false;
    }
    int64_t *results = calloc((size_t)count + 1, sizeof *results);
    p->depth++;
    bool ok = results && walk_block(p, body, results);
    p->depth--;
    p->known_count = before; /* another call of it has other values */
    for (intptr_t i = 0; ok && i < count; i++)
        ok =
            results[i] == NOT_THERE || bind(p, mlirOperationGetResult(op, i), results[i], (MlirStringRef){0});
    free(results);
    return ok;
}

/* The text of the global that an address leads to. */
static MlirStringRef global_text(plan *p, MlirOperation addressof)
{
    MlirStringRef none = {0};
    MlirStringRef name =
        mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(addressof, cute_text("global_name")));
    MlirOperation global = function(p, name);
    if (mlirOperationIsNull(global)) return none;
    MlirAttribute value = mlirOperationGetAttributeByName(global, cute_text("value"));
    return !mlirAttributeIsNull(value) && mlirAttributeIsAString(value) ? mlirStringAttrGetValue(value)
                                                                        : none;
}

/* atoi(getenv("NAME")): the one way in which text becomes a number. */
static bool note_llvm(plan *p, MlirOperation op)
{
    if (cute_op_is(op, "llvm.mlir.addressof"))
        return bind(p, mlirOperationGetResult(op, 0), NOT_THERE, global_text(p, op));
    MlirAttribute callee = mlirOperationGetAttributeByName(op, cute_text("callee"));
    bool called =
        cute_op_is(op, "llvm.call") && !mlirAttributeIsNull(callee) && mlirOperationGetNumOperands(op) == 1;
    MlirStringRef name = called ? mlirFlatSymbolRefAttrGetValue(callee) : (MlirStringRef){0};
    if (!cute_op_is(op, "llvm.getelementptr") && !cute_text_is(name, "getenv") && !cute_text_is(name, "atoi"))
        return refuse(p, op, NOT_SUPPORTED);
    const known *k = find(p, mlirOperationGetOperand(op, 0));
    if (!k || !k->text.length) return refuse(p, op, "has an operand that is not a known string");
    MlirStringRef text = k->text;
    if (!cute_text_is(name, "atoi")) return bind(p, mlirOperationGetResult(op, 0), NOT_THERE, text);
    json_t *variable = json_stringn(text.data, strnlen(text.data, text.length));
    if (!variable) return refuse(p, op, "reads an environment variable whose name is not UTF-8");
    return give(p, op, add_value(p, json_pack("[sio]", "env", 32, variable)));
}

static bool put_indices(plan *p, MlirOperation op, json_t *launch, const char *key, intptr_t first,
                        intptr_t count)
{
    json_t *list = json_array();
    json_object_set_new(launch, key, list);
    for (intptr_t i = 0; i < count; i++) {
        int64_t index = 0;
        if (!index_of(p, op, mlirOperationGetOperand(op, first + i), &index)) return false;
        json_array_append_new(list, json_integer(index));
    }
    return true;
}

static json_t *string_of(MlirStringRef text)
{
    json_t *string = json_stringn(text.data, text.length);
    return string ? string : json_string("(not UTF-8)");
}

static bool note_launch(plan *p, MlirOperation op)
{
    MlirAttribute kernel = mlirOperationGetAttributeByName(op, cute_text("kernel"));
    /* async dependencies; grid, block and cluster, each x y z; dynamic shared memory; arguments; async object */
    MlirAttribute segments = mlirOperationGetAttributeByName(op, cute_text("operandSegmentSizes"));
    intptr_t start[13] = {0};
    for (int i = 0; i < 12; i++) start[i + 1] = start[i] + mlirDenseI32ArrayGetElement(segments, i);
    json_t *launch = json_pack("{so}", "kernel", string_of(mlirSymbolRefAttrGetLeafReference(kernel)));
    json_array_append_new(p->launches, launch);
    bool ok =
        put_indices(p, op, launch, "grid", start[1], 3) && put_indices(p, op, launch, "block", start[4], 3);
    if (ok && start[10] > start[7]) ok = put_indices(p, op, launch, "cluster", start[7], 3);
    if (ok && start[11] > start[10]) ok = put_indices(p, op, launch, "dynamic_smem", start[10], 1);
    if (ok) ok = put_indices(p, op, launch, "args", start[11], start[12] - start[11]);
    if (ok && p->condition != NOT_THERE) json_object_set_new(launch, "if", json_integer(p->condition));
    return ok;
}

static const struct {
    const char *prefix;
    bool (*note)(plan *p, MlirOperation op);
} table[] = {
    {"arith.constant", note_constant},
    {"llvm.mlir.constant", note_constant},
    {"arith.", note_arith},
    {"scf.if", note_if},
    {"func.call", note_call},
    {"gpu.launch_func", note_launch},
    {"llvm.", note_llvm},
};

/* `results` gets what the block's terminator hands on. */
static bool walk_block(plan *p, MlirBlock block, int64_t *results)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(block); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
        if (cute_text_is(name, "func.return") || cute_text_is(name, "scf.yield")) {
            for (intptr_t i = 0; i < mlirOperationGetNumOperands(op); i++) {
                const known *k = find(p, mlirOperationGetOperand(op, i));
                results[i] = k ? k->index : NOT_THERE;
            }
            return true;
        }
        bool found = false;
        for (size_t i = 0; i < sizeof table / sizeof *table && !found; i++) {
            size_t length = strlen(table[i].prefix);
            found = name.length >= length && !memcmp(name.data, table[i].prefix, length);
            if (found && !table[i].note(p, op)) return refuse(p, op, NOT_SUPPORTED);
        }
        if (!found) return refuse(p, op, NOT_SUPPORTED);
        if (++p->steps > STEPS) return refuse(p, op, "exceeds the %d operations of a launch plan", STEPS);
    }
    return true;
}

/* ---- functions ---- */

static void found_launch(MlirOperation op, void *context)
{
    (void)op;
    *(bool *)context = true;
}

/* Functions that have been looked into: calls may form any graph. */
typedef struct look {
    plan *p;
    MlirOperation *seen;
    size_t count, capacity;
    bool found;
} look;

static void look_into(look *l, MlirOperation func);

static void look_into_call(MlirOperation op, void *context)
{
    look *l = context;
    MlirStringRef name =
        mlirFlatSymbolRefAttrGetValue(mlirOperationGetAttributeByName(op, cute_text("callee")));
    MlirOperation callee = function(l->p, name);
    if (!l->found && !mlirOperationIsNull(callee)) look_into(l, callee);
}

static void look_into(look *l, MlirOperation func)
{
    for (size_t i = 0; i < l->count; i++)
        if (mlirOperationEqual(l->seen[i], func)) return;
    if (!cute_heap_more(&l->seen, l->count, &l->capacity, sizeof *l->seen, 16)) return;
    l->seen[l->count++] = func;
    cute_op_each(func, "gpu.launch_func", found_launch, &l->found);
    if (!l->found) cute_op_each(func, "func.call", look_into_call, l);
}

static bool launches(plan *p, MlirOperation func)
{
    look l = {.p = p};
    look_into(&l, func);
    free(l.seen);
    return l.found;
}

static json_t *arguments(plan *p, MlirOperation func)
{
    json_t *list = json_array();
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(body); i++) {
        MlirValue argument = mlirBlockGetArgument(body, i);
        int width = width_of(mlirValueGetType(argument));
        MlirStringRef name = cute_argument_name(func, i);
        json_array_append_new(list, json_pack("{sosi}", "name", string_of(name), "width", width));
        if (width)
            bind(p, argument, add_value(p, json_pack("[siI]", "arg", width, (json_int_t)i)),
                 (MlirStringRef){0});
    }
    return list;
}

/* A plan on one line; to be freed, NULL where memory is exhausted. */
static char *plan_of(MlirOperation module, MlirOperation func, MlirStringRef name)
{
    plan p = {.module = module, .condition = NOT_THERE, .values = json_array(), .launches = json_array()};
    json_t *object = json_pack("{sisoso}", "format", 1, "plan", string_of(name), "args", arguments(&p, func));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(func, 0));
    int64_t *results =
        calloc((size_t)mlirOperationGetNumOperands(mlirBlockGetTerminator(body)) + 1, sizeof *results);
    bool straight = mlirBlockIsNull(mlirBlockGetNextInRegion(body));
    if (!straight) refuse(&p, func, "has branches of cf; a launch plan supports scf.if");
    if (results && straight && walk_block(&p, body, results)) {
        json_object_set(object, "values", p.values);
        json_object_set(object, "launches", p.launches);
    } else {
        json_object_set_new(object, "refused", cute_json_text(cute_buffer_text(&p.refusal)));
    }
    char *text = json_dumps(object, JSON_COMPACT);
    json_decref(object);
    json_decref(p.values);
    json_decref(p.launches);
    free(results);
    free(p.known);
    cute_buffer_release(&p.refusal);
    return text;
}

static void attach(MlirOperation module, void *context)
{
    mlirOperationSetAttributeByName(module, cute_text("cute.plans"), *(MlirAttribute *)context);
}

static void run(MlirOperation root, cute_pass_run *pass)
{
    MlirContext c = mlirOperationGetContext(root);
    MlirAttribute *plans = NULL;
    size_t count = 0, capacity = 0;
    plan here = {.module = root};
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(root, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute visibility = mlirOperationGetAttributeByName(o, cute_text("sym_visibility"));
        if (!cute_op_is(o, "func.func") || !mlirAttributeIsNull(visibility) || !launches(&here, o)) continue;
        char *text = plan_of(
            root, o, mlirStringAttrGetValue(mlirOperationGetAttributeByName(o, cute_text("sym_name"))));
        if (!text || !cute_heap_more(&plans, count, &capacity, sizeof *plans, 16)) {
            mlirEmitError(mlirOperationGetLocation(o), "out of memory for a launch plan");
            cute_pass_fail(pass);
        } else {
            plans[count++] = cute_string_attribute(c, text);
        }
        free(text);
    }
    MlirAttribute all = mlirArrayAttrGet(c, (intptr_t)count, plans);
    if (count) cute_op_each(root, "gpu.module", attach, &all);
    free(plans);
}

const cute_pass cute_pass_launch_plan = {
    .name = "cute-launch-plan",
    .help = "Note on gpu.modules what host functions do until kernels start",
    .anchor = "builtin.module",
    .run = run,
};
