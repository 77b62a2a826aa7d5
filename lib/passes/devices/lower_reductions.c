/* cute-lower-reductions: lowers gpu.subgroup_reduce and gpu.all_reduce to shuffles.
 *
 * Requires: kernels in gpu.modules. Ensures: none of the two there. Missing threads of a block's last warp
 * take no part. Integers of up to 32 bits use redux.sync from sm_80 on.
 *
 *     %r = gpu.subgroup_reduce add %v : (f32) -> f32
 * ->
 *     %o, %valid = gpu.shuffle down %v, %16, %width : i32       five times, for 16, 8, 4, 2, 1
 *     ...
 *     %r, %_ = gpu.shuffle idx %s, %0, %width : i32
 */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* Names in gpu, operations of arith, and the kind of redux.sync. */
typedef struct combiner {
    const char *name, *integer, *real, *redux;
} combiner;

static const combiner combiners[] = {
    {"add", "arith.addi", "arith.addf", "add"}, {"mul", "arith.muli", "arith.mulf", NULL},
    {"minui", "arith.minui", NULL, "umin"},     {"minsi", "arith.minsi", NULL, "min"},
    {"minnumf", NULL, "arith.minnumf", NULL},   {"maxui", "arith.maxui", NULL, "umax"},
    {"maxsi", "arith.maxsi", NULL, "max"},      {"maxnumf", NULL, "arith.maxnumf", NULL},
    {"and", "arith.andi", NULL, "and"},         {"or", "arith.ori", NULL, "or"},
    {"xor", "arith.xori", NULL, "xor"},         {"minimumf", NULL, "arith.minimumf", NULL},
    {"maximumf", NULL, "arith.maximumf", NULL},
};

typedef struct work {
    const cute_arch *arch;
    cute_pass_run *pass;
    MlirOperation module;
    bool *changed;
} work;

/* A reduction being lowered. */
typedef struct reduction {
    const work *w;
    MlirOperation op;
    const combiner *combiner; /* NULL: combined by the operation's own region */
    MlirType type;            /* of the reduced value */
    MlirType i32;
    bool whole; /* all warps are known to have 32 threads */
} reduction;

enum { WARP = 32 };

/* ---- values ---- */

static bool is_integer(MlirType type)
{
    return mlirTypeIsAInteger(type);
}

static int type_width(MlirType type)
{
    return (int)(is_integer(type) ? mlirIntegerTypeGetWidth(type) : mlirFloatTypeGetWidth(type));
}

static MlirType integer_type(const cute_builder *b, int width)
{
    return mlirIntegerTypeGet(b->context, (unsigned)width);
}

static MlirValue resize_integer(const cute_builder *b, MlirValue value, int width, bool is_signed)
{
    int own = type_width(mlirValueGetType(value));
    if (own == width) return value;
    return cute_unary(b,
                      own > width ? "arith.trunci"
                      : is_signed ? "arith.extsi"
                                  : "arith.extui",
                      value, integer_type(b, width));
}

static MlirValue to_bits(const cute_builder *b, MlirValue value)
{
    MlirType type = mlirValueGetType(value);
    return is_integer(type) ? value
                            : cute_unary(b, "arith.bitcast", value, integer_type(b, type_width(type)));
}

static MlirValue from_bits(const cute_builder *b, MlirValue bits, MlirType type)
{
    return is_integer(type) ? bits : cute_unary(b, "arith.bitcast", bits, type);
}

/* #gpu<dim x> */
static MlirAttribute gpu_enumerator(const cute_builder *b, const char *name, const char *value)
{
    char text[64];
    snprintf(text, sizeof text, "#%s %s>", name, value);
    return mlirAttributeParseGet(b->context, cute_text(text));
}

/* A dimension's value of gpu.thread_id, gpu.block_dim..., as i32. */
static MlirValue build_dimension(const cute_builder *b, const char *name, const char *letter)
{
    MlirNamedAttribute attribute =
        cute_attribute(b->context, "dimension", gpu_enumerator(b, "gpu<dim", letter));
    MlirValue value =
        cute_build_value(b, name, mlirIndexTypeGet(b->context), CUTE_NO_OPERANDS, CUTE_NAMED(attribute));
    return cute_unary(b, "arith.index_cast", value, integer_type(b, 32));
}

typedef struct block {
    MlirValue thread, threads; /* linear thread index in the block, and number of threads */
} block;

static block build_block_info(const cute_builder *b)
{
    MlirValue nx = build_dimension(b, "gpu.block_dim", "x"), ny = build_dimension(b, "gpu.block_dim", "y");
    MlirValue plane = cute_binary(b, "arith.muli", nx, ny);
    MlirValue row = cute_binary(b, "arith.muli", nx, build_dimension(b, "gpu.thread_id", "y"));
    MlirValue layer = cute_binary(b, "arith.muli", plane, build_dimension(b, "gpu.thread_id", "z"));
    MlirValue in_plane = cute_binary(b, "arith.addi", build_dimension(b, "gpu.thread_id", "x"), row);
    return (block){cute_binary(b, "arith.addi", in_plane, layer),
                   cute_binary(b, "arith.muli", plane, build_dimension(b, "gpu.block_dim", "z"))};
}

/* ---- combining ---- */

/* Clones the operations of the region, which has one block. */
static MlirValue combine_by_region(const cute_builder *b, const reduction *r, MlirValue x, MlirValue y)
{
    MlirOperation copy = mlirOperationClone(r->op);
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(copy, 0));
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, 0), x);
    mlirValueReplaceAllUsesOfWith(mlirBlockGetArgument(body, 1), y);
    MlirOperation end = mlirBlockGetTerminator(body);
    MlirValue value = mlirOperationGetOperand(end, 0);
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationEqual(op, end);
         op = mlirBlockGetFirstOperation(body)) {
        mlirOperationRemoveFromParent(op);
        if (mlirOperationIsNull(b->before))
            mlirBlockAppendOwnedOperation(b->block, op);
        else
            mlirBlockInsertOwnedOperationBefore(b->block, b->before, op);
    }
    mlirOperationDestroy(copy);
    return value;
}

static MlirValue combine_values(const cute_builder *b, const reduction *r, MlirValue x, MlirValue y)
{
    if (!r->combiner) return combine_by_region(b, r, x, y);
    return cute_binary(b, is_integer(r->type) ? r->combiner->integer : r->combiner->real, x, y);
}

/* ---- within a warp ---- */

typedef struct shuffled {
    MlirValue value, valid;
} shuffled;

/* Shuffles one register among the first `width` lanes. */
static shuffled shuffle_register(const cute_builder *b, const char *mode, MlirValue value, MlirValue offset,
                                 MlirValue width)
{
    MlirNamedAttribute attribute =
        cute_attribute(b->context, "mode", gpu_enumerator(b, "gpu<shuffle_mode", mode));
    MlirType types[] = {integer_type(b, 32), integer_type(b, 1)};
    MlirOperation op = cute_build(b, "gpu.shuffle", CUTE_OPERANDS(value, offset, width),
                                  (cute_types){types, 2}, CUTE_NAMED(attribute));
    return (shuffled){mlirOperationGetResult(op, 0), mlirOperationGetResult(op, 1)};
}

/* A value of up to 64 bits. */
static shuffled shuffle_value(const cute_builder *b, const char *mode, MlirValue value, MlirValue offset,
                              MlirValue width)
{
    MlirType type = mlirValueGetType(value), i64 = integer_type(b, 64);
    MlirValue bits = to_bits(b, value);
    int size = type_width(type);
    shuffled low = shuffle_register(b, mode, resize_integer(b, bits, 32, false), offset, width);
    if (size <= 32)
        return (shuffled){from_bits(b, resize_integer(b, low.value, size, false), type), low.valid};
    MlirValue shift = cute_integer(b, i64, 32);
    MlirValue upper = resize_integer(
        b, cute_binary(b, "arith.shrui", resize_integer(b, bits, 64, false), shift), 32, false);
    shuffled high = shuffle_register(b, mode, upper, offset, width);
    MlirValue both =
        cute_binary(b, "arith.ori", resize_integer(b, low.value, 64, false),
                    cute_binary(b, "arith.shli", resize_integer(b, high.value, 64, false), shift));
    return (shuffled){from_bits(b, resize_integer(b, both, size, false), type), low.valid};
}

/* Tree reduction: lane 0 of the first `width` lanes gets the result; with all 32, every lane. */
static MlirValue reduce_tree(const cute_builder *b, const reduction *r, MlirValue value, MlirValue width)
{
    for (int offset = WARP / 2; offset > 0; offset /= 2) {
        MlirValue distance = cute_integer(b, r->i32, offset);
        shuffled other = shuffle_value(b, r->whole ? "xor" : "down", value, distance, width);
        MlirValue both = combine_values(b, r, value, other.value);
        value = r->whole ? both : cute_select(b, other.valid, both, value);
    }
    return value;
}

static bool has_redux(const reduction *r)
{
    return r->combiner && r->combiner->redux && is_integer(r->type) && type_width(r->type) <= 32 &&
           (!r->w->arch || cute_arch_has(r->w->arch->number, CUTE_FEATURE_REDUX));
}

static MlirValue build_redux(const cute_builder *b, const reduction *r, MlirValue value, MlirValue width)
{
    MlirValue all = cute_integer(b, r->i32, -1);
    MlirValue mask = r->whole
                         ? all
                         : cute_binary(b, "arith.shrui", all,
                                       cute_binary(b, "arith.subi", cute_integer(b, r->i32, WARP), width));
    bool is_signed = !strcmp(r->combiner->redux, "min") || !strcmp(r->combiner->redux, "max");
    MlirNamedAttribute kind =
        cute_attribute(b->context, "kind", gpu_enumerator(b, "nvvm<redux_kind", r->combiner->redux));
    value = cute_build_value(b, "nvvm.redux.sync", r->i32,
                             CUTE_OPERANDS(resize_integer(b, value, 32, is_signed), mask), CUTE_NAMED(kind));
    return resize_integer(b, value, type_width(r->type), false);
}

/* Reduces in each warp; all of the first `width` lanes get the result. */
static MlirValue reduce_warp(const cute_builder *b, const reduction *r, MlirValue value, MlirValue width)
{
    if (has_redux(r)) return build_redux(b, r, value, width);
    value = reduce_tree(b, r, value, width);
    return r->whole ? value : shuffle_value(b, "idx", value, cute_integer(b, r->i32, 0), width).value;
}

/* Number of lanes in the thread's warp. */
static MlirValue lanes_of(const cute_builder *b, const reduction *r, const block *k)
{
    MlirValue full = cute_integer(b, r->i32, WARP);
    if (r->whole) return full;
    MlirValue first = cute_binary(b, "arith.andi", k->thread, cute_integer(b, r->i32, -WARP));
    return cute_binary(b, "arith.minsi", cute_binary(b, "arith.subi", k->threads, first), full);
}

/* ---- across warps ---- */

/* Shared memory for the partial result of each warp and the final result, one array for each width. */
static MlirValue shared_pointer(const cute_builder *b, const reduction *r, int width, MlirValue index)
{
    char name[32], type_text[32];
    snprintf(name, sizeof name, "__all_reduce_%d", width);
    snprintf(type_text, sizeof type_text, "!llvm.array<%d x i%d>", WARP + 1, width);
    MlirContext c = b->context;
    if (!cute_symbol_in(r->w->module, name)) {
        MlirNamedAttribute attributes[] = {
            cute_attribute(c, "sym_name", cute_string_attribute(c, name)),
            cute_attribute(c, "global_type", mlirTypeAttrGet(mlirTypeParseGet(c, cute_text(type_text)))),
            cute_attribute(c, "linkage", mlirAttributeParseGet(c, cute_text("#llvm.linkage<internal>"))),
            cute_attribute(c, "addr_space", mlirIntegerAttrGet(mlirIntegerTypeGet(c, 32), 3)),
        };
        MlirRegion initializer = mlirRegionCreate();
        cute_builder top =
            cute_builder_at_start(mlirRegionGetFirstBlock(mlirOperationGetRegion(r->w->module, 0)),
                                  mlirOperationGetLocation(r->w->module));
        cute_build_regions(&top, "llvm.mlir.global", CUTE_NO_OPERANDS, CUTE_NO_TYPES,
                           (cute_named){attributes, 4}, &initializer, 1);
    }
    MlirType pointer = mlirLLVMPointerTypeGet(c, 3);
    MlirNamedAttribute reference =
        cute_attribute(c, "global_name", mlirFlatSymbolRefAttrGet(c, cute_text(name)));
    MlirValue base =
        cute_build_value(b, "llvm.mlir.addressof", pointer, CUTE_NO_OPERANDS, CUTE_NAMED(reference));
    int32_t dynamic = INT32_MIN;
    return cute_build_value(
        b, "llvm.getelementptr", pointer, CUTE_OPERANDS(base, index),
        CUTE_NAMED(cute_attribute(c, "rawConstantIndices", mlirDenseI32ArrayGet(c, 1, &dynamic)),
                   cute_attribute(c, "elem_type", mlirTypeAttrGet(integer_type(b, width)))));
}

/* Bits in memory, rounded up to whole bytes. */
static int stored_width(MlirType type)
{
    int width = type_width(type), stored = 8;
    while (stored < width) stored *= 2;
    return stored;
}

static void store_partial(const cute_builder *b, const reduction *r, MlirValue value, MlirValue index)
{
    int width = stored_width(r->type);
    MlirValue bits = resize_integer(b, to_bits(b, value), width, false);
    cute_build(b, "llvm.store", CUTE_OPERANDS(bits, shared_pointer(b, r, width, index)), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
}

static MlirValue load_partial(const cute_builder *b, const reduction *r, MlirValue index)
{
    int width = stored_width(r->type);
    MlirValue bits = cute_build_value(b, "llvm.load", integer_type(b, width),
                                      CUTE_OPERANDS(shared_pointer(b, r, width, index)), CUTE_NO_NAMED);
    return from_bits(b, resize_integer(b, bits, type_width(r->type), false), r->type);
}

/* A builder inside a new scf.if. */
static cute_builder build_if(const cute_builder *b, MlirValue condition)
{
    MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock then = mlirBlockCreate(0, NULL, NULL);
    mlirRegionAppendOwnedBlock(regions[0], then);
    cute_builder end = cute_builder_at_end(then, b->location);
    MlirOperation yield = cute_build(&end, "scf.yield", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build_regions(b, "scf.if", CUTE_OPERANDS(condition), CUTE_NO_TYPES, CUTE_NO_NAMED, regions, 2);
    cute_builder inside = cute_builder_before(yield);
    inside.location = b->location;
    return inside;
}

static void build_barrier(const cute_builder *b)
{
    cute_build(b, "gpu.barrier", CUTE_NO_OPERANDS, CUTE_NO_TYPES, CUTE_NO_NAMED);
}

/* Reduces in each warp, then the partial results in the first warp. */
static MlirValue reduce_block(const cute_builder *b, const reduction *r, MlirValue value)
{
    block k = build_block_info(b);
    MlirValue zero = cute_integer(b, r->i32, 0), result = cute_integer(b, r->i32, WARP);
    MlirValue lane = cute_binary(b, "arith.andi", k.thread, cute_integer(b, r->i32, WARP - 1));
    MlirValue warp = cute_binary(b, "arith.shrui", k.thread, cute_integer(b, r->i32, 5));
    MlirValue own = has_redux(r) ? build_redux(b, r, value, lanes_of(b, r, &k))
                                 : reduce_tree(b, r, value, lanes_of(b, r, &k));
    cute_builder leader = build_if(b, cute_compare(b, CUTE_IS_EQ, lane, zero));
    store_partial(&leader, r, own, warp);
    build_barrier(b);
    MlirValue rounded = cute_binary(b, "arith.addi", k.threads, cute_integer(b, r->i32, WARP - 1));
    MlirValue warps = cute_binary(b, "arith.shrui", rounded, cute_integer(b, r->i32, 5));
    cute_builder first = build_if(b, cute_compare(b, CUTE_IS_ULT, k.thread, warps));
    reduction last = *r;
    last.whole = false;
    MlirValue all = load_partial(&first, r, lane);
    all = has_redux(r) ? build_redux(&first, &last, all, warps) : reduce_tree(&first, &last, all, warps);
    cute_builder one = build_if(&first, cute_compare(&first, CUTE_IS_EQ, k.thread, zero));
    store_partial(&one, r, all, result);
    build_barrier(b);
    return load_partial(b, r, result);
}

/* ---- entry points ---- */

/* Whether the function declares that its blocks are whole warps. */
static bool whole_warps(MlirOperation op)
{
    for (MlirOperation f = op; !mlirOperationIsNull(f); f = mlirOperationGetParentOperation(f)) {
        if (!cute_op_is(f, "gpu.func")) continue;
        MlirAttribute size = mlirOperationGetAttributeByName(f, cute_text("known_block_size"));
        if (mlirAttributeIsNull(size) || !mlirAttributeIsADenseI32Array(size)) return false;
        int64_t threads = 1;
        for (intptr_t i = 0; i < mlirDenseArrayGetNumElements(size); i++)
            threads *= mlirDenseI32ArrayGetElement(size, i);
        return threads % WARP == 0;
    }
    return false;
}

static const combiner *combiner_of(MlirOperation op)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("op"));
    const combiner *found = NULL;
    if (mlirAttributeIsNull(attribute)) return NULL;
    cute_buffer text = {0};
    mlirAttributePrint(attribute, cute_print_to_buffer, &text); /* #gpu<all_reduce_op add> */
    char *name = strrchr(cute_buffer_text(&text), ' ');
    if (name) name[strcspn(name, ">")] = '\0';
    for (size_t i = 0; name && i < sizeof combiners / sizeof *combiners; i++)
        if (!strcmp(name + 1, combiners[i].name)) found = &combiners[i];
    cute_buffer_release(&text);
    return found;
}

static void refuse_reduction(MlirOperation op, const work *w, const char *what)
{
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op expected %s", (int)name.length, name.data, what);
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_pass_fail(w->pass);
}

/* False after an error. */
static bool check_reduction(const reduction *r)
{
    if (type_width(r->type) > 64) {
        refuse_reduction(r->op, r->w, "a type of up to 64 bits");
        return false;
    }
    if (r->combiner) {
        if (is_integer(r->type) ? r->combiner->integer : r->combiner->real) return true;
        refuse_reduction(r->op, r->w,
                         is_integer(r->type) ? "a reduction of integers" : "a reduction of floats");
        return false;
    }
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(r->op, 0));
    if (!mlirBlockIsNull(body) && mlirBlockIsNull(mlirBlockGetNextInRegion(body))) return true;
    refuse_reduction(r->op, r->w, "a reduction by name, or a region of one block");
    return false;
}

static MlirValue reduce_subgroup(const cute_builder *b, reduction *r, MlirValue value)
{
    block k = {0};
    if (!r->whole) k = build_block_info(b);
    MlirValue width = lanes_of(b, r, &k);
    if (!mlirTypeIsAVector(mlirValueGetType(value))) return reduce_warp(b, r, value, width);
    MlirValue result = cute_undefined(b, mlirValueGetType(value));
    for (int64_t i = 0; i < cute_vector_count(mlirValueGetType(value)); i++)
        result = cute_vector_insert(b, result, reduce_warp(b, r, cute_vector_extract(b, value, i), width), i);
    return result;
}

static void lower_reduction(MlirOperation op, void *context)
{
    const work *w = context;
    bool subgroup = cute_op_is(op, "gpu.subgroup_reduce");
    if (!subgroup && !cute_op_is(op, "gpu.all_reduce")) return;
    cute_builder b = cute_builder_before(op);
    MlirValue value = mlirOperationGetOperand(op, 0);
    reduction r = {.w = w,
                   .op = op,
                   .combiner = combiner_of(op),
                   .type = cute_type_element(mlirValueGetType(value)),
                   .i32 = mlirIntegerTypeGet(b.context, 32),
                   .whole = whole_warps(op)};
    if (!check_reduction(&r)) return;
    *w->changed = true;
    MlirValue result = subgroup ? reduce_subgroup(&b, &r, value) : reduce_block(&b, &r, value);
    mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, 0), result);
    mlirOperationDestroy(op);
}

static void lower_reduction_module(MlirOperation op, void *context)
{
    work w = *(work *)context;
    w.module = op;
    cute_op_each(op, "gpu.", lower_reduction, &w);
}

static void run_lower_reductions(MlirOperation root, cute_pass_run *pass)
{
    bool changed = false;
    work w = {.pass = pass, .changed = &changed};
    if (cute_pass_arch(pass, 0, root, &w.arch)) cute_op_each(root, "gpu.module", lower_reduction_module, &w);
    if (!changed) cute_pass_unchanged(pass);
}

static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
};

const cute_pass cute_pass_lower_reductions = {
    .name = "cute-lower-reductions",
    .help = "Lower warp and block reductions to shuffles",
    .anchor = "builtin.module",
    .options = options,
    .option_count = 1,
    .dialects = CUTE_DIALECT_ARITH | CUTE_DIALECT_GPU | CUTE_DIALECT_LLVM | CUTE_DIALECT_NVVM |
                CUTE_DIALECT_SCF | CUTE_DIALECT_VECTOR,
    .run = run_lower_reductions,
};
