/* Values of launch plans: numbers, structs and addresses, and the operations of arith, math, llvm and
 * memref that compute them. */
#include <math.h>
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/base/list.h"
#include "lib/base/numbers/integers.h"
#include "lib/base/numbers/mix.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/host/plan.h"

/* ---- refusals ---- */

static void put_op(cute_buffer *out, MlirOperation op)
{
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op)), file;
    unsigned line = 0, column;
    if (!cute_location_place(mlirOperationGetLocation(op), &file, &line, &column)) line = 0;
    cute_buffer_printf(out, "'%.*s' at line %u", (int)name.length, name.data, line);
}

bool plan_refuse(plan *p, MlirOperation op, const char *format, ...)
{
    if (p->refusal.length) return false;
    put_op(&p->refusal, op);
    cute_buffer_putc(&p->refusal, ' ');
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&p->refusal, format, args);
    va_end(args);
    return false;
}

/* ---- map from MLIR values ---- */

static plan_known *find_known_slot(plan_known *table, size_t capacity, MlirValue value)
{
    size_t at = (size_t)cute_mix((uint64_t)(uintptr_t)value.ptr) & (capacity - 1);
    while (!mlirValueIsNull(table[at].value) && !mlirValueEqual(table[at].value, value))
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

const plan_known *plan_find(plan *p, MlirValue value)
{
    if (!p->known_capacity) return NULL;
    const plan_known *k = find_known_slot(p->known, p->known_capacity, value);
    return mlirValueIsNull(k->value) ? NULL : k;
}

static bool put_known(plan *p, plan_known known)
{
    if (2 * p->known_count >= p->known_capacity) {
        size_t capacity = p->known_capacity ? 2 * p->known_capacity : 256;
        plan_known *table = cute_arena_array(p->arena, capacity, sizeof *table);
        if (!table) return false;
        for (size_t i = 0; i < p->known_capacity; i++)
            if (!mlirValueIsNull(p->known[i].value))
                *find_known_slot(table, capacity, p->known[i].value) = p->known[i];
        p->known = table;
        p->known_capacity = capacity;
    }
    plan_known *k = find_known_slot(p->known, p->known_capacity, known.value);
    p->known_count += mlirValueIsNull(k->value);
    *k = known;
    return true;
}

bool plan_bind(plan *p, MlirValue value, const int64_t *items, size_t count)
{
    return put_known(p, (plan_known){.value = value, .items = items, .count = count});
}

bool plan_bind_text(plan *p, MlirValue value, MlirStringRef text)
{
    return put_known(p, (plan_known){.value = value, .text = text});
}

bool plan_bind_one(plan *p, MlirValue value, int64_t index)
{
    int64_t *item = cute_arena_alloc(p->arena, sizeof *item);
    if (!item) return false;
    *item = index;
    return plan_bind(p, value, item, 1);
}

/* Refuses, naming the operation that defines the missing operand. */
static bool refuse_operand(plan *p, MlirOperation user, MlirValue value)
{
    MlirOperation maker = cute_defining_op(value);
    cute_buffer text = {0};
    if (!mlirOperationIsNull(maker)) put_op(&text, maker);
    if (text.length)
        plan_refuse(p, user, "has an operand that is not a plan value: it is defined by %s",
                    cute_buffer_text(&text));
    else
        plan_refuse(p, user, "has an operand that is not a plan value");
    cute_buffer_release(&text);
    return false;
}

bool plan_leaves(plan *p, MlirOperation user, MlirValue value, const int64_t **items, size_t *count)
{
    const plan_known *k = plan_find(p, value);
    if (!k || k->text.length) return refuse_operand(p, user, value);
    *items = k->items;
    *count = k->count;
    for (size_t i = 0; i < k->count; i++) {
        if (k->items[i] != PLAN_UNDEFINED) continue;
        int64_t *all = cute_arena_array(p->arena, k->count, sizeof *all);
        if (!all) return false;
        int64_t zero = plan_constant(p, 64, 0);
        for (i = 0; i < k->count; i++) all[i] = k->items[i] == PLAN_UNDEFINED ? zero : k->items[i];
        *items = all;
    }
    return true;
}

bool plan_index(plan *p, MlirOperation user, MlirValue value, int64_t *out)
{
    size_t count;
    const int64_t *items;
    if (!plan_leaves(p, user, value, &items, &count)) return false;
    if (count != 1) return refuse_operand(p, user, value);
    *out = *items;
    return true;
}

/* ---- types ---- */

int plan_type_width(MlirType type)
{
    if (mlirTypeIsAIndex(type) || cute_type_is_pointer(type)) return 64;
    if (mlirTypeIsAInteger(type)) {
        unsigned width = mlirIntegerTypeGetWidth(type);
        return width <= 64 ? (int)width : 0;
    }
    int64_t size, align;
    bool is_float = mlirTypeIsAFloat(type);
    return is_float && cute_type_layout(type, &size, &align) ? (int)size * 8 : 0;
}

/* Number of leaves: 1 for a number, those of the fields for a struct, 3 + 2 * rank for a memref; -1 for
 * unsupported types. */
static int64_t plan_type_leaves(MlirType type)
{
    if (plan_type_width(type)) return 1;
    if (mlirTypeIsAMemRef(type)) return 3 + 2 * mlirShapedTypeGetRank(type);
    if (!mlirTypeIsALLVMStructType(type)) return -1;
    int64_t sum = 0;
    for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++) {
        int64_t leaves = plan_type_leaves(mlirLLVMStructTypeGetElementType(type, i));
        if (leaves < 0) return -1;
        sum += leaves;
    }
    return sum;
}

/* ---- new values ---- */

int64_t plan_add(plan *p, int width, json_t *value)
{
    size_t index = json_array_size(p->values);
    json_array_append_new(p->values, value);
    if (cute_arena_more(p->arena, &p->widths, index, &p->width_capacity, sizeof *p->widths, 256))
        p->widths[index] = width;
    return (int64_t)index;
}

int plan_width(const plan *p, int64_t index)
{
    return index >= 0 && (size_t)index < p->width_capacity ? p->widths[index] : 64;
}

int64_t plan_operation(plan *p, const char *name, int width, int64_t a, int64_t b)
{
    return plan_add(p, width, json_pack("[siII]", name, width, (json_int_t)a, (json_int_t)b));
}

int64_t plan_select(plan *p, int64_t condition, int64_t yes, int64_t no)
{
    int width = plan_width(p, yes);
    if (yes == no) return yes;
    return plan_add(
        p, width,
        json_pack("[siIII]", "select", width, (json_int_t)condition, (json_int_t)yes, (json_int_t)no));
}

int64_t plan_constant(plan *p, int width, int64_t number)
{
    return plan_add(p, width, json_pack("[siI]", "const", width, (json_int_t)number));
}

/* Widths of the leaves of a type, in order. */
static void leaf_widths(MlirType type, int **next)
{
    if (!mlirTypeIsALLVMStructType(type)) {
        int64_t leaves = plan_type_leaves(type);
        for (int64_t i = 0; i < leaves; i++) *(*next)++ = leaves == 1 ? plan_type_width(type) : 64;
        return;
    }
    for (intptr_t i = 0; i < mlirLLVMStructTypeGetNumElementTypes(type); i++)
        leaf_widths(mlirLLVMStructTypeGetElementType(type, i), next);
}

bool plan_parameter(plan *p, MlirValue argument, intptr_t index)
{
    MlirType type = mlirValueGetType(argument);
    int64_t count = plan_type_leaves(type);
    if (count < 0) return true; /* refused at its use */
    int64_t *items = cute_arena_array(p->arena, (size_t)count + 1, sizeof *items);
    int *widths = cute_arena_array(p->arena, (size_t)count + 1, sizeof *widths), *next = widths;
    if (!items || !widths) return false;
    leaf_widths(type, &next);
    for (int64_t i = 0; i < count; i++)
        items[i] = plan_add(p, widths[i],
                            plan_type_width(type)
                                ? json_pack("[siI]", "arg", widths[i], (json_int_t)index)
                                : json_pack("[siII]", "arg", widths[i], (json_int_t)index, (json_int_t)i));
    return plan_bind(p, argument, items, (size_t)count);
}

/* ---- operations of arith and math ---- */

typedef struct name_pair {
    const char *op, *name; /* names in MLIR and in the plan */
} name_pair;

static const name_pair floats[] = {
    {"arith.addf", "fadd"},       {"arith.subf", "fsub"},       {"arith.mulf", "fmul"},
    {"arith.divf", "fdiv"},       {"arith.minimumf", "fmin"},   {"arith.maximumf", "fmax"},
    {"arith.minnumf", "fminnum"}, {"arith.maxnumf", "fmaxnum"}, {"arith.negf", "fneg"},
    {"math.absf", "fabs"},        {"math.sqrt", "fsqrt"},       {"math.rsqrt", "frsqrt"},
    {"math.exp", "fexp"},         {"math.exp2", "fexp2"},       {"math.log", "flog"},
    {"math.log2", "flog2"},       {"math.floor", "ffloor"},     {"math.ceil", "fceil"},
};
static const name_pair conversions[] = /* integers: the value converted to its new width */
    {{"arith.extsi", "sext"},
     {"arith.extui", "zext"},
     {"arith.trunci", "trunc"},
     {"arith.index_cast", "sext"},
     {"arith.index_castui", "zext"}};
/* "u": the integer is unsigned. */
static const name_pair casts[] = {{"arith.extf", ""},   {"arith.truncf", ""},  {"arith.sitofp", ""},
                                  {"arith.fptosi", ""}, {"arith.uitofp", "u"}, {"arith.fptoui", "u"}};
/* By predicate of arith.cmpf. */
static const char *const float_comparisons[] = {NULL,  "oeq", "ogt", "oge", "olt", "ole", "one", "ord",
                                                "ueq", "ugt", "uge", "ult", "ule", "une", "uno", NULL};

static const char *find_name(const name_pair *pairs, size_t count, MlirOperation op)
{
    for (size_t i = 0; i < count; i++)
        if (cute_op_is(op, pairs[i].op)) return pairs[i].name;
    return NULL;
}

static MlirType operand_type(MlirOperation op, intptr_t i)
{
    return mlirValueGetType(mlirOperationGetOperand(op, i));
}

static bool bind_result(plan *p, MlirOperation op, int64_t index)
{
    return plan_bind_one(p, mlirOperationGetResult(op, 0), index);
}

/* A pointer, or an integer of at most 64 bits. */
static bool is_integer_like(MlirType type)
{
    return plan_type_width(type) && !mlirTypeIsAFloat(type);
}

static bool note_constant(plan *p, MlirOperation op)
{
    MlirAttribute value = mlirOperationGetAttributeByName(op, cute_text("value"));
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    const char *dtype = cute_dtype_name(type);
    int width = plan_type_width(type);
    if (!width || mlirAttributeIsNull(value)) return true; /* refused at its use */
    if (mlirAttributeIsAInteger(value))
        return bind_result(p, op, plan_constant(p, width, mlirIntegerAttrGetValueInt(value)));
    if (!mlirAttributeIsAFloat(value) || !dtype) return true;
    double number = mlirFloatAttrGetValueDouble(value);
    json_t *json = isnan(number)   ? json_string("nan")
                   : isinf(number) ? json_string(number < 0 ? "-inf" : "inf")
                                   : json_real(number);
    return bind_result(p, op, plan_add(p, width, json_pack("[sso]", "fconst", dtype, json)));
}

static bool note_integer(plan *p, MlirOperation op, const char *name)
{
    int64_t a = 0, b = 0;
    int width = plan_type_width(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (!width) return true;
    return plan_index(p, op, mlirOperationGetOperand(op, 0), &a) &&
           plan_index(p, op, mlirOperationGetOperand(op, 1), &b) &&
           bind_result(p, op, plan_operation(p, name, width, a, b));
}

static bool note_float(plan *p, MlirOperation op, const char *name)
{
    int64_t a = 0, b = 0;
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    const char *dtype = cute_dtype_name(type);
    int width = plan_type_width(type);
    if (!dtype || !width) return true;
    bool two = mlirOperationGetNumOperands(op) > 1;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &a)) return false;
    if (two && !plan_index(p, op, mlirOperationGetOperand(op, 1), &b)) return false;
    return bind_result(p, op,
                       plan_add(p, width,
                                two ? json_pack("[ssII]", name, dtype, (json_int_t)a, (json_int_t)b)
                                    : json_pack("[ssI]", name, dtype, (json_int_t)a)));
}

static bool note_conversion(plan *p, MlirOperation op, const char *name)
{
    int64_t a = 0;
    int width = plan_type_width(mlirValueGetType(mlirOperationGetResult(op, 0)));
    int from = plan_type_width(operand_type(op, 0));
    if (!width || !from) return true;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &a)) return false;
    if (width == from) return bind_result(p, op, a);
    /* A conversion to fewer bits truncates, whatever its name. */
    return bind_result(p, op, plan_operation(p, width < from ? "trunc" : name, width, a, from));
}

/* "u32" for the integer of an unsigned conversion. */
static bool dtype_of(MlirType type, bool is_unsigned, char out[8])
{
    const char *name = cute_dtype_name(type);
    if (!name || strlen(name) > 7) return false;
    strcpy(out, name);
    if (is_unsigned && *out == 'i' && strcmp(out, "i1") != 0) *out = 'u';
    return true;
}

static bool note_float_cast(plan *p, MlirOperation op, const char *sign)
{
    int64_t a = 0;
    char from[8], to[8];
    MlirType type = mlirValueGetType(mlirOperationGetResult(op, 0));
    int width = plan_type_width(type);
    if (!width || !dtype_of(operand_type(op, 0), *sign, from) || !dtype_of(type, *sign, to)) return true;
    return plan_index(p, op, mlirOperationGetOperand(op, 0), &a) &&
           bind_result(p, op, plan_add(p, width, json_pack("[ssIs]", "fcast", to, (json_int_t)a, from)));
}

static bool note_comparison(plan *p, MlirOperation op, bool real)
{
    int64_t a = 0, b = 0;
    int64_t predicate =
        mlirIntegerAttrGetValueInt(mlirOperationGetAttributeByName(op, cute_text("predicate")));
    MlirType type = operand_type(op, 0);
    int width = plan_type_width(type);
    if (!width) return true;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &a) ||
        !plan_index(p, op, mlirOperationGetOperand(op, 1), &b))
        return false;
    if (!real) {
        int64_t index = plan_operation(p, cute_predicates[predicate], width, a, b);
        if ((size_t)index < p->width_capacity) p->widths[index] = 1;
        return bind_result(p, op, index);
    }
    const char *name = float_comparisons[predicate], *dtype = cute_dtype_name(type);
    if (!name) return bind_result(p, op, plan_constant(p, 1, predicate != 0));
    return !dtype ||
           bind_result(
               p, op,
               plan_add(p, 1, json_pack("[ssIIs]", "fcmp", dtype, (json_int_t)a, (json_int_t)b, name)));
}

static bool note_select(plan *p, MlirOperation op)
{
    int64_t condition = 0;
    const int64_t *yes, *no;
    size_t count, others;
    if (!is_integer_like(operand_type(op, 0))) return true;
    if (!plan_index(p, op, mlirOperationGetOperand(op, 0), &condition) ||
        !plan_leaves(p, op, mlirOperationGetOperand(op, 1), &yes, &count) ||
        !plan_leaves(p, op, mlirOperationGetOperand(op, 2), &no, &others))
        return false;
    int64_t *items = cute_arena_array(p->arena, count + 1, sizeof *items);
    if (!items || count != others) return false;
    for (size_t i = 0; i < count; i++) items[i] = plan_select(p, condition, yes[i], no[i]);
    return plan_bind(p, mlirOperationGetResult(op, 0), items, count);
}

static bool note_same(plan *p, MlirOperation op)
{
    const int64_t *items;
    size_t count;
    return plan_leaves(p, op, mlirOperationGetOperand(op, 0), &items, &count) &&
           plan_bind(p, mlirOperationGetResult(op, 0), items, count);
}

/* ---- structs ---- */

/* The range of leaves of `type` at `position`: the first, and how many. */
static bool leaf_range(MlirType type, MlirAttribute position, size_t *first, size_t *count)
{
    *first = 0;
    for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(position); i++) {
        int64_t at = mlirDenseI64ArrayGetElement(position, i);
        if (!mlirTypeIsALLVMStructType(type) || at >= mlirLLVMStructTypeGetNumElementTypes(type))
            return false;
        for (intptr_t k = 0; k < at; k++) {
            int64_t leaves = plan_type_leaves(mlirLLVMStructTypeGetElementType(type, k));
            if (leaves < 0) return false;
            *first += (size_t)leaves;
        }
        type = mlirLLVMStructTypeGetElementType(type, (intptr_t)at);
    }
    int64_t leaves = plan_type_leaves(type);
    *count = (size_t)leaves;
    return leaves >= 0;
}

static bool note_undefined(plan *p, MlirOperation op)
{
    int64_t leaves = plan_type_leaves(mlirValueGetType(mlirOperationGetResult(op, 0)));
    if (leaves < 0) return true;
    int64_t *items = cute_arena_array(p->arena, (size_t)leaves + 1, sizeof *items);
    if (!items) return false;
    for (int64_t i = 0; i < leaves; i++) items[i] = PLAN_UNDEFINED;
    return plan_bind(p, mlirOperationGetResult(op, 0), items, (size_t)leaves);
}

static bool note_zero(plan *p, MlirOperation op)
{
    int width = plan_type_width(mlirValueGetType(mlirOperationGetResult(op, 0)));
    return !width || bind_result(p, op, plan_constant(p, width, 0));
}

static bool note_extract(plan *p, MlirOperation op)
{
    size_t first, count;
    const plan_known *from = plan_find(p, mlirOperationGetOperand(op, 0));
    MlirAttribute position = mlirOperationGetAttributeByName(op, cute_text("position"));
    if (!from || !leaf_range(operand_type(op, 0), position, &first, &count) || first + count > from->count)
        return true;
    return plan_bind(p, mlirOperationGetResult(op, 0), from->items + first, count);
}

static bool note_insert(plan *p, MlirOperation op)
{
    size_t first, count;
    const plan_known *into = plan_find(p, mlirOperationGetOperand(op, 0));
    const plan_known *value = plan_find(p, mlirOperationGetOperand(op, 1));
    MlirAttribute position = mlirOperationGetAttributeByName(op, cute_text("position"));
    if (!into || !value || !leaf_range(operand_type(op, 0), position, &first, &count) ||
        value->count != count || first + count > into->count)
        return true;
    int64_t *items = cute_arena_array(p->arena, into->count + 1, sizeof *items);
    if (!items) return false;
    memcpy(items, into->items, into->count * sizeof *items);
    if (count) memcpy(items + first, value->items, count * sizeof *items);
    return plan_bind(p, mlirOperationGetResult(op, 0), items, into->count);
}

/* ---- addresses ---- */

/* The contents of the global that an address refers to. */
static MlirStringRef global_text(const plan *p, MlirOperation addressof)
{
    MlirStringRef none = {0};
    MlirAttribute wanted = mlirOperationGetAttributeByName(addressof, cute_text("global_name"));
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(p->module, 0));
    for (MlirOperation o = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(o);
         o = mlirOperationGetNextInBlock(o)) {
        MlirAttribute symbol = mlirOperationGetAttributeByName(o, mlirSymbolTableGetSymbolAttributeName());
        if (mlirAttributeIsNull(symbol) ||
            !mlirStringRefEqual(mlirStringAttrGetValue(symbol), mlirFlatSymbolRefAttrGetValue(wanted)))
            continue;
        MlirAttribute value = mlirOperationGetAttributeByName(o, cute_text("value"));
        return !mlirAttributeIsNull(value) && mlirAttributeIsAString(value) ? mlirStringAttrGetValue(value)
                                                                            : none;
    }
    return none;
}

static bool note_address_of(plan *p, MlirOperation op)
{
    MlirStringRef text = global_text(p, op);
    return !text.length || plan_bind_text(p, mlirOperationGetResult(op, 0), text);
}

/* An array element through a pointer; for strings, only their beginning. */
static bool note_element(plan *p, MlirOperation op)
{
    const plan_known *base = plan_find(p, mlirOperationGetOperand(op, 0));
    MlirAttribute indices = mlirOperationGetAttributeByName(op, cute_text("rawConstantIndices"));
    MlirAttribute element = mlirOperationGetAttributeByName(op, cute_text("elem_type"));
    int64_t size, align, index = 0;
    if (base && base->text.length) return plan_bind_text(p, mlirOperationGetResult(op, 0), base->text);
    if (!base || base->count != 1 || base->items[0] == PLAN_UNDEFINED ||
        mlirDenseArrayGetNumElements(indices) != 1 ||
        !cute_type_layout(mlirTypeAttrGetValue(element), &size, &align))
        return true;
    int32_t constant = mlirDenseI32ArrayGetElement(indices, 0);
    if (constant != INT32_MIN) {
        index = plan_constant(p, 64, constant * size);
    } else {
        if (!plan_index(p, op, mlirOperationGetOperand(op, 1), &index)) return false;
        int width = plan_width(p, index);
        if (width < 64) index = plan_operation(p, "sext", 64, index, width);
        index = plan_operation(p, "mul", 64, index, plan_constant(p, 64, size));
    }
    return bind_result(p, op, plan_operation(p, "add", 64, base->items[0], index));
}

/* atoi(getenv("NAME")) is the only supported string operation. Printing does not affect launches and is
 * ignored. */
static bool note_llvm_call(plan *p, MlirOperation op, bool *found)
{
    MlirAttribute callee = mlirOperationGetAttributeByName(op, cute_text("callee"));
    MlirStringRef name =
        mlirAttributeIsNull(callee) ? (MlirStringRef){0} : mlirFlatSymbolRefAttrGetValue(callee);
    *found = cute_text_is(name, "printf") || cute_text_is(name, "getenv") || cute_text_is(name, "atoi");
    if (!*found || cute_text_is(name, "printf")) return true;
    if (mlirOperationGetNumOperands(op) != 1) return plan_refuse(p, op, "has no argument");
    const plan_known *k = plan_find(p, mlirOperationGetOperand(op, 0));
    if (!k || !k->text.length) return plan_refuse(p, op, "has an operand that is not a known string");
    MlirStringRef text = k->text;
    if (cute_text_is(name, "getenv")) return plan_bind_text(p, mlirOperationGetResult(op, 0), text);
    json_t *variable = json_stringn(text.data, strnlen(text.data, text.length));
    if (!variable) return plan_refuse(p, op, "reads an environment variable whose name is not valid UTF-8");
    return bind_result(p, op, plan_add(p, 32, json_pack("[sio]", "env", 32, variable)));
}

/* ---- memrefs ---- */

static bool note_dim(plan *p, MlirOperation op)
{
    const plan_known *from = plan_find(p, mlirOperationGetOperand(op, 0));
    MlirOperation constant = cute_defining_op(mlirOperationGetOperand(op, 1));
    MlirAttribute value = mlirOperationIsNull(constant)
                              ? (MlirAttribute){NULL}
                              : mlirOperationGetAttributeByName(constant, cute_text("value"));
    if (!from || mlirAttributeIsNull(value) || !mlirAttributeIsAInteger(value)) return true;
    int64_t at = mlirIntegerAttrGetValueInt(value), rank = mlirShapedTypeGetRank(operand_type(op, 0));
    return at < 0 || at >= rank || (size_t)(3 + at) >= from->count || bind_result(p, op, from->items[3 + at]);
}

/* Offset, size or stride `i` of a subview: static, or the next of the operands. */
static bool subview_number(plan *p, MlirOperation op, const char *name, intptr_t i, intptr_t *next,
                           int64_t *out)
{
    MlirAttribute list = mlirOperationGetAttributeByName(op, cute_text(name));
    int64_t number = mlirDenseI64ArrayGetElement(list, i);
    if (number == mlirShapedTypeGetDynamicStrideOrOffset() || number == mlirShapedTypeGetDynamicSize())
        return plan_index(p, op, mlirOperationGetOperand(op, (*next)++), out);
    *out = plan_constant(p, 64, number);
    return true;
}

/* memref.subview of the same rank; with another rank its result is refused at its use. */
static bool note_subview(plan *p, MlirOperation op)
{
    const plan_known *from = plan_find(p, mlirOperationGetOperand(op, 0));
    intptr_t rank = mlirShapedTypeGetRank(operand_type(op, 0)), next = 1;
    if (!from || from->count != (size_t)(3 + 2 * rank) ||
        mlirShapedTypeGetRank(mlirValueGetType(mlirOperationGetResult(op, 0))) != rank)
        return true;
    int64_t *items = cute_arena_array(p->arena, from->count, sizeof *items);
    if (!items) return false;
    memcpy(items, from->items, from->count * sizeof *items);
    for (intptr_t i = 0; i < rank; i++) {
        int64_t offset;
        if (!subview_number(p, op, "static_offsets", i, &next, &offset)) return false;
        offset = plan_operation(p, "mul", 64, offset, from->items[3 + rank + i]);
        items[2] = plan_operation(p, "add", 64, items[2], offset);
    }
    for (intptr_t i = 0; i < rank; i++)
        if (!subview_number(p, op, "static_sizes", i, &next, &items[3 + i])) return false;
    for (intptr_t i = 0; i < rank; i++) {
        int64_t stride;
        if (!subview_number(p, op, "static_strides", i, &next, &stride)) return false;
        items[3 + rank + i] = plan_operation(p, "mul", 64, stride, from->items[3 + rank + i]);
    }
    return plan_bind(p, mlirOperationGetResult(op, 0), items, from->count);
}

/* ---- the device ---- */

static bool note_sm_count(plan *p, MlirOperation op)
{
    return bind_result(p, op, plan_add(p, 32, json_pack("[si]", "sms", 32)));
}

/* ---- entry point ---- */

static const struct {
    const char *op;
    bool (*note)(plan *p, MlirOperation op);
} others[] = {
    {"arith.constant", note_constant},
    {"llvm.mlir.constant", note_constant},
    {"arith.select", note_select},
    {"arith.bitcast", note_same},
    {"llvm.addrspacecast", note_same},
    {"llvm.ptrtoint", note_same},
    {"llvm.inttoptr", note_same},
    {"llvm.mlir.undef", note_undefined},
    {"llvm.mlir.poison", note_undefined},
    {"ub.poison", note_undefined},
    {"llvm.mlir.zero", note_zero},
    {"llvm.extractvalue", note_extract},
    {"llvm.insertvalue", note_insert},
    {"llvm.mlir.addressof", note_address_of},
    {"llvm.getelementptr", note_element},
    {"memref.dim", note_dim},
    {"memref.cast", note_same},
    {"memref.subview", note_subview},
    {"cute_nvgpu.host.sm_count", note_sm_count},
};

bool plan_compute(plan *p, MlirOperation op, bool *found)
{
    const char *name;
    *found = true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (cute_op_is(op, others[i].op)) return others[i].note(p, op);
    for (int i = 0; i < CUTE_INTEGERS; i++)
        if (cute_op_is(op, cute_integers[i].arith)) return note_integer(p, op, cute_integers[i].plan);
    if ((name = find_name(floats, sizeof floats / sizeof *floats, op))) return note_float(p, op, name);
    if ((name = find_name(conversions, sizeof conversions / sizeof *conversions, op)))
        return note_conversion(p, op, name);
    if ((name = find_name(casts, sizeof casts / sizeof *casts, op))) return note_float_cast(p, op, name);
    if (cute_op_is(op, "arith.cmpi") || cute_op_is(op, "arith.cmpf"))
        return note_comparison(p, op, cute_op_is(op, "arith.cmpf"));
    if (cute_op_is(op, "llvm.call")) return note_llvm_call(p, op, found);
    *found = false;
    return true;
}
