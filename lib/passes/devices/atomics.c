/* Emits the instructions of the PTX memory model that LLVM 19 lacks or lowers differently, as inline
 * assembly. Orders map to instructions as in libcu++: a sequentially consistent access is fence.sc
 * followed by the access with acquire, or relaxed for a store. */
#include "lib/passes/devices/atomics.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdio.h>

#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- types ---- */

static bool is_float(MlirType type)
{
    return mlirTypeIsAF16(type) || mlirTypeIsABF16(type) || mlirTypeIsAF32(type) || mlirTypeIsAF64(type);
}

/* 0: not a type of atomic accesses. */
static unsigned atomic_width(MlirType type)
{
    if (mlirTypeIsALLVMPointerType(type)) return 64;
    if (mlirTypeIsAInteger(type)) return mlirIntegerTypeGetWidth(type);
    if (mlirTypeIsAF16(type) || mlirTypeIsABF16(type)) return 16;
    return mlirTypeIsAF32(type) ? 32 : mlirTypeIsAF64(type) ? 64 : 0;
}

bool cute_atomic_type(MlirOperation op, MlirType type, unsigned smallest)
{
    unsigned width = atomic_width(type);
    if ((width == 8 || width == 16 || width == 32 || width == 64) && width >= smallest) return true;
    cute_buffer text = {0};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
    cute_buffer_printf(&text, "'%.*s' op expected an atomic type of %s16, 32 or 64 bits, got '",
                       (int)name.length, name.data, smallest == 8 ? "8, " : "");
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_buffer_puts(&text, "'");
    cute_emit_error(mlirOperationGetLocation(op), cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

/* ---- small operations ---- */

static MlirType integer_of_width(const cute_builder *b, unsigned width)
{
    return mlirIntegerTypeGet(b->context, width);
}

/* Bitcasts between a value and an integer. */
static MlirValue to_bits(const cute_builder *b, MlirValue value)
{
    MlirType type = mlirValueGetType(value), bits = integer_of_width(b, atomic_width(type));
    if (mlirTypeIsALLVMPointerType(type)) return cute_unary(b, "llvm.ptrtoint", value, bits);
    return is_float(type) ? cute_unary(b, "arith.bitcast", value, bits) : value;
}

static MlirValue from_bits(const cute_builder *b, MlirValue bits, MlirType type)
{
    if (mlirTypeIsALLVMPointerType(type)) return cute_unary(b, "llvm.inttoptr", bits, type);
    return is_float(type) ? cute_unary(b, "arith.bitcast", bits, type) : bits;
}

/* ---- inline assembly ---- */

/* Register class of an integer of `width` bits; bytes use 16-bit registers. */
static char constraint_letter(unsigned width)
{
    return width == 64 ? 'l' : width == 32 ? 'r' : 'h';
}

/* ".global", ".shared", or "" for generic addresses. */
static const char *space_of(MlirValue pointer)
{
    switch (mlirLLVMPointerTypeGetAddressSpace(mlirValueGetType(pointer))) {
    case 1: return ".global";
    case 3: return ".shared";
    default: return "";
    }
}

static const char *order_name(cute_order order)
{
    static const char *const names[] = {
        [CUTE_ORDER_RELAXED] = "relaxed", [CUTE_ORDER_ACQUIRE] = "acquire", [CUTE_ORDER_RELEASE] = "release",
        [CUTE_ORDER_ACQ_REL] = "acq_rel", [CUTE_ORDER_SEQ_CST] = "acquire",
    };
    return names[order];
}

static const char *scope_name(const cute_atomic *atomic)
{
    return atomic->scope ? atomic->scope : "cta";
}

void cute_atomic_fence(const cute_builder *b, cute_atomic atomic)
{
    char text[48] = "";
    if (atomic.scope && atomic.order != CUTE_ORDER_RELAXED)
        snprintf(text, sizeof text, "fence.%s.%s;", atomic.order == CUTE_ORDER_SEQ_CST ? "sc" : "acq_rel",
                 atomic.scope);
    cute_assembly(b, true, text, "~{memory}", CUTE_NO_OPERANDS, (MlirType){NULL});
}

/* Fence before a sequentially consistent access. */
static void fence_before(const cute_builder *b, const cute_atomic *atomic)
{
    if (atomic->order == CUTE_ORDER_SEQ_CST && atomic->scope) cute_atomic_fence(b, *atomic);
}

MlirValue cute_atomic_load(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirType type)
{
    unsigned width = atomic_width(type), carried = width == 8 ? 16 : width;
    fence_before(b, &atomic);
    char text[64], constraints[32];
    snprintf(text, sizeof text, "ld.%s.%s%s.b%u $0, [$1];", order_name(atomic.order), scope_name(&atomic),
             space_of(pointer), width);
    snprintf(constraints, sizeof constraints, "=%c,l,~{memory}", constraint_letter(width));
    MlirValue bits =
        cute_assembly(b, true, text, constraints, CUTE_OPERANDS(pointer), integer_of_width(b, carried));
    if (carried != width) bits = cute_unary(b, "arith.trunci", bits, integer_of_width(b, width));
    return from_bits(b, bits, type);
}

void cute_atomic_store(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirValue value)
{
    unsigned width = atomic_width(mlirValueGetType(value));
    fence_before(b, &atomic);
    MlirValue operands[] = {pointer, to_bits(b, value)};
    if (width == 8) operands[1] = cute_unary(b, "arith.extui", operands[1], integer_of_width(b, 16));
    char text[64], constraints[32];
    snprintf(text, sizeof text, "st.%s.%s%s.b%u [$0], $1;",
             atomic.order == CUTE_ORDER_RELEASE ? "release" : "relaxed", scope_name(&atomic),
             space_of(pointer), width);
    snprintf(constraints, sizeof constraints, "l,%c,~{memory}", constraint_letter(width));
    cute_assembly(b, true, text, constraints, (cute_operands){operands, 2}, (MlirType){NULL});
}

/* An atom instruction with one or two operands after the address, on bits. */
static MlirValue build_atom(const cute_builder *b, const cute_atomic *atomic, const char *operation,
                            const MlirValue *operands, intptr_t count, unsigned width)
{
    char text[80], constraints[32], letter = constraint_letter(width);
    snprintf(text, sizeof text, "atom.%s.%s%s.%s $0, [$1], $2%s;", order_name(atomic->order),
             scope_name(atomic), space_of(operands[0]), operation, count == 3 ? ", $3" : "");
    snprintf(constraints, sizeof constraints, count == 3 ? "=%c,l,%c,%c,~{memory}" : "=%c,l,%c,~{memory}",
             letter, letter, letter);
    return cute_assembly(b, true, text, constraints, (cute_operands){operands, count},
                         integer_of_width(b, width));
}

static MlirValue cas_bits(const cute_builder *b, const cute_atomic *atomic, MlirValue pointer,
                          MlirValue expected, MlirValue desired, unsigned width)
{
    char operation[16];
    snprintf(operation, sizeof operation, "cas.b%u", width);
    MlirValue operands[] = {pointer, expected, desired};
    return build_atom(b, atomic, operation, operands, 3, width);
}

MlirValue cute_atomic_cas(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirValue expected,
                          MlirValue desired)
{
    MlirType type = mlirValueGetType(expected);
    fence_before(b, &atomic);
    return from_bits(
        b, cas_bits(b, &atomic, pointer, to_bits(b, expected), to_bits(b, desired), atomic_width(type)),
        type);
}

/* ---- vectors ---- */

static MlirValue as_type(const cute_builder *b, MlirValue value, MlirType type)
{
    return mlirTypeEqual(mlirValueGetType(value), type) ? value
                                                        : cute_unary(b, "vector.bitcast", value, type);
}

/* PTX ISA, "atom": f16 and bf16 are packed in pairs; .v2 and .v4 have several registers. */
MlirValue cute_atomic_add_vector(const cute_builder *b, cute_atomic atomic, MlirValue pointer,
                                 MlirValue vector)
{
    enum { REGISTERS = 4 };
    MlirType type = mlirValueGetType(vector), element = mlirShapedTypeGetElementType(type);
    bool half = !mlirTypeIsAF32(element);
    int64_t registers = mlirShapedTypeGetDimSize(type, 0) / (half ? 2 : 1);
    MlirType word = half ? integer_of_width(b, 32) : element, words = mlirVectorTypeGet(1, &registers, word);
    MlirType types[REGISTERS] = {word, word, word, word};
    MlirValue operands[1 + REGISTERS] = {pointer};
    char text[128], constraints[64], of[24] = "", letter = half ? 'r' : 'f';
    cute_buffer out = {0}, in = {0}, outs = {0}, ins = {0};
    vector = as_type(b, vector, words);
    for (int i = 0; i < registers; i++) {
        operands[1 + i] = cute_vector_extract(b, vector, i);
        cute_buffer_printf(&out, "%s$%d", i ? "," : "", i);
        cute_buffer_printf(&in, "%s$%d", i ? "," : "", (int)registers + 1 + i);
        cute_buffer_printf(&outs, "=%c,", letter);
        cute_buffer_printf(&ins, "%c,", letter);
    }
    if (registers > 1) snprintf(of, sizeof of, ".v%d", (int)registers);
    bool one = registers == 1;
    snprintf(text, sizeof text, "atom.%s.%s%s.add%s%s.%s %s%s%s, [$%d], %s%s%s;", order_name(atomic.order),
             scope_name(&atomic), space_of(pointer), half ? ".noftz" : "", of,
             !half                     ? "f32"
             : mlirTypeIsAF16(element) ? "f16x2"
                                       : "bf16x2",
             one ? "" : "{", cute_buffer_text(&out), one ? "" : "}", (int)registers, one ? "" : "{",
             cute_buffer_text(&in), one ? "" : "}");
    snprintf(constraints, sizeof constraints, "%sl,%s~{memory}", cute_buffer_text(&outs),
             cute_buffer_text(&ins));
    cute_buffer_release(&out);
    cute_buffer_release(&in);
    cute_buffer_release(&outs);
    cute_buffer_release(&ins);
    fence_before(b, &atomic);
    MlirType results = one ? word : mlirLLVMStructTypeLiteralGet(b->context, registers, types, false);
    MlirValue made =
        cute_assembly(b, true, text, constraints, (cute_operands){operands, 1 + registers}, results);
    MlirValue old = cute_undefined(b, words);
    for (int i = 0; i < registers; i++)
        old = cute_vector_insert(b, old, one ? made : cute_extract_field(b, made, i, -1, word), i);
    return as_type(b, old, type);
}

/* ---- loops ---- */

/*     %first = ld.relaxed
 *     %old = scf.while (%seen = %first) {
 *       %found = atom.cas(%seen, combine(%seen))
 *       scf.condition(%found != %seen) %found
 *     } do { ^(%found): scf.yield %found } */
MlirValue cute_atomic_loop(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirType type,
                           cute_atomic_combine combine, void *context)
{
    MlirType bits = integer_of_width(b, atomic_width(type));
    cute_atomic relaxed = atomic;
    relaxed.order = CUTE_ORDER_RELAXED;
    fence_before(b, &atomic);
    MlirValue first = to_bits(b, cute_atomic_load(b, relaxed, pointer, type));

    MlirRegion regions[] = {mlirRegionCreate(), mlirRegionCreate()};
    MlirBlock blocks[2];
    for (int i = 0; i < 2; i++) {
        blocks[i] = mlirBlockCreate(1, &bits, &b->location);
        mlirRegionAppendOwnedBlock(regions[i], blocks[i]);
    }
    MlirOperation loop =
        cute_build_regions(b, "scf.while", CUTE_OPERANDS(first), CUTE_TYPES(bits), CUTE_NO_NAMED, regions, 2);
    cute_builder in = cute_builder_at_end(blocks[0], b->location),
                 out = cute_builder_at_end(blocks[1], b->location);
    MlirValue seen = mlirBlockGetArgument(blocks[0], 0);
    MlirValue desired = to_bits(&in, combine(&in, from_bits(&in, seen, type), context));
    MlirValue found = cas_bits(&in, &atomic, pointer, seen, desired, atomic_width(type));
    MlirValue again = cute_compare(&in, CUTE_IS_NE, found, seen);
    cute_build(&in, "scf.condition", CUTE_OPERANDS(again, found), CUTE_NO_TYPES, CUTE_NO_NAMED);
    cute_build(&out, "scf.yield", CUTE_OPERANDS(mlirBlockGetArgument(blocks[1], 0)), CUTE_NO_TYPES,
               CUTE_NO_NAMED);
    return from_bits(b, mlirOperationGetResult(loop, 0), type);
}

/* ---- updates ---- */

/* `letter` and the width select the type of `atom`, available for `widths`; otherwise `combine`, an arith
 * operation, computes the new value in a loop. */
static const struct {
    const char *atom;
    char letter;
    unsigned widths;
    const char *combine;
    bool native; /* LLVM selects it, at 32 and 64 bits */
} rows[CUTE_ATOMIC_KINDS] = {
    [CUTE_ATOMIC_EXCHANGE] = {"exch", 'b', 32 | 64, NULL, true},
    [CUTE_ATOMIC_ADD] = {"add", 'u', 32 | 64, "arith.addi", true},
    [CUTE_ATOMIC_SUB] = {NULL, 0, 0, "arith.subi", true},
    [CUTE_ATOMIC_AND] = {"and", 'b', 32 | 64, "arith.andi", true},
    [CUTE_ATOMIC_NAND] = {NULL, 0, 0, NULL, false},
    [CUTE_ATOMIC_OR] = {"or", 'b', 32 | 64, "arith.ori", true},
    [CUTE_ATOMIC_XOR] = {"xor", 'b', 32 | 64, "arith.xori", true},
    [CUTE_ATOMIC_MAX] = {"max", 's', 32 | 64, "arith.maxsi", true},
    [CUTE_ATOMIC_MIN] = {"min", 's', 32 | 64, "arith.minsi", true},
    [CUTE_ATOMIC_UMAX] = {"max", 'u', 32 | 64, "arith.maxui", true},
    [CUTE_ATOMIC_UMIN] = {"min", 'u', 32 | 64, "arith.minui", true},
    [CUTE_ATOMIC_FADD] = {"add", 'f', 32 | 64, "arith.addf", true},
    [CUTE_ATOMIC_FSUB] = {NULL, 0, 0, "arith.subf", false},
    [CUTE_ATOMIC_FMAX] = {NULL, 0, 0, "arith.maxnumf", false},
    [CUTE_ATOMIC_FMIN] = {NULL, 0, 0, "arith.minnumf", false},
    [CUTE_ATOMIC_INC] = {"inc", 'u', 32, NULL, false},
    [CUTE_ATOMIC_DEC] = {"dec", 'u', 32, NULL, false},
    [CUTE_ATOMIC_MUL] = {NULL, 0, 0, "arith.muli", false},
    [CUTE_ATOMIC_FMUL] = {NULL, 0, 0, "arith.mulf", false},
    [CUTE_ATOMIC_FMAXIMUM] = {NULL, 0, 0, "arith.maximumf", false},
    [CUTE_ATOMIC_FMINIMUM] = {NULL, 0, 0, "arith.minimumf", false},
};

bool cute_atomic_is_native(cute_atomic_kind kind, MlirType type)
{
    return rows[kind].native && atomic_width(type) >= 32;
}

/* "add.u32"; NULL where PTX has no such instruction. */
static const char *atom_suffix(const cute_atomic *atomic, cute_atomic_kind kind, MlirType type,
                               char (*out)[24])
{
    unsigned width = atomic_width(type);
    if (kind == CUTE_ATOMIC_FADD && width == 16) {
        if (mlirTypeIsAF16(type)) return "add.noftz.f16";
        bool has = atomic->arch && cute_arch_has(atomic->arch->number, CUTE_FEATURE_ATOMIC_BF16);
        return has ? "add.noftz.bf16" : NULL;
    }
    if (!(rows[kind].widths & width)) return NULL;
    snprintf(*out, sizeof *out, "%s.%c%u", rows[kind].atom, rows[kind].letter, width);
    return *out;
}

typedef struct update {
    cute_atomic_kind kind;
    MlirValue operand;
} update;

static MlirValue combine_update(const cute_builder *b, MlirValue old, void *context)
{
    const update *u = context;
    MlirType type = mlirValueGetType(old);
    MlirValue operand = u->operand;
    switch (u->kind) {
    case CUTE_ATOMIC_EXCHANGE: return operand;
    case CUTE_ATOMIC_NAND:
        return cute_binary(b, "arith.xori", cute_binary(b, "arith.andi", old, operand),
                           cute_integer(b, type, -1));
    case CUTE_ATOMIC_INC:
        return cute_select(b, cute_compare(b, CUTE_IS_UGE, old, operand), cute_integer(b, type, 0),
                           cute_binary(b, "arith.addi", old, cute_integer(b, type, 1)));
    case CUTE_ATOMIC_DEC: {
        MlirValue wraps =
            cute_binary(b, "arith.ori", cute_compare(b, CUTE_IS_EQ, old, cute_integer(b, type, 0)),
                        cute_compare(b, CUTE_IS_UGT, old, operand));
        return cute_select(b, wraps, operand, cute_binary(b, "arith.subi", old, cute_integer(b, type, 1)));
    }
    default: return cute_binary(b, rows[u->kind].combine, old, operand);
    }
}

MlirValue cute_atomic_update(const cute_builder *b, cute_atomic atomic, MlirValue pointer,
                             cute_atomic_kind kind, MlirValue operand)
{
    MlirType type = mlirValueGetType(operand);
    unsigned width = atomic_width(type);
    if (kind == CUTE_ATOMIC_SUB && width >= 32) {
        kind = CUTE_ATOMIC_ADD;
        operand = cute_binary(b, "arith.subi", cute_integer(b, type, 0), operand);
    }
    char text[24];
    const char *operation = atom_suffix(&atomic, kind, type, &text);
    update u = {kind, operand};
    if (!operation) return cute_atomic_loop(b, atomic, pointer, type, combine_update, &u);
    fence_before(b, &atomic);
    MlirValue operands[] = {pointer, to_bits(b, operand)};
    return from_bits(b, build_atom(b, &atomic, operation, operands, 2, width), type);
}
