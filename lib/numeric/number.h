/* Numbers of PTX: formats, conversions, arithmetic in every rounding mode, approximate functions. Pure
 * functions: no PTX text, no machine state; they neither read nor write the floating-point environment of the
 * host.
 *
 * A value is its bits, in the low bits of an integer. Where PTX leaves a NaN open this is what sm_90 makes:
 *   f32, tf32 0x7fffffff; f16, bf16 0x7fff; e4m3, e5m2 0x7f; ue8m0 0xff
 *   f64       an operand that is a NaN (number_nan says which), made quiet; a new one is 0xfff8000000000000.
 * Arithmetic is correctly rounded (PTX ISA 8.5, 9.7.3 and 9.7.4) but for the approximate functions below. */
#ifndef CUTE_LIB_NUMERIC_NUMBER_H
#define CUTE_LIB_NUMERIC_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum emu_format {
    EMU_F64,
    EMU_F32,
    EMU_TF32, /* an f32 whose low 13 bits are ignored as an operand and zero as a result */
    EMU_F16,
    EMU_BF16,
    EMU_E5M2,
    EMU_E4M3,  /* no infinity; 0x7f is NaN */
    EMU_E2M3,  /* no infinity, no NaN */
    EMU_E3M2,  /* likewise */
    EMU_E2M1,  /* likewise */
    EMU_UE8M0, /* powers of two from 2^-127; 0xff is NaN */
    EMU_FORMATS
} emu_format;

typedef enum emu_round {
    EMU_RN,  /* nearest, ties to even: .rn, .rni */
    EMU_RZ,  /* towards zero: .rz, .rzi */
    EMU_RM,  /* down: .rm, .rmi */
    EMU_RP,  /* up: .rp, .rpi */
    EMU_RNA, /* nearest, ties away from zero: .rna */
} emu_round;

enum {
    EMU_FTZ = 1, /* .ftz: subnormal f32 (only f32, and f16 in f16 arithmetic) operands and results are 0 */
    EMU_SAT = 2, /* .sat: into [0, 1], NaN becomes +0; of integers: into the type's range */
    EMU_SATFINITE = 4, /* .satfinite: what is beyond the format becomes its largest finite value */
    EMU_RELU = 8,      /* .relu: what is negative becomes +0; NaN stays NaN */
    EMU_NAN = 16,      /* min.NaN, max.NaN: a NaN operand makes a NaN */
    EMU_XORSIGN = 32,  /* min.xorsign.abs, max.xorsign.abs */
};

/* ---- conversions (cvt, 9.7.9.21) ---- */

/* Widths in bits of a format's values in registers: 64, 32, 16, 8; 8 for what is smaller. */
int emu_format_bits(emu_format format);

/* Float to float; formats without a sign take negative values for NaN (ue8m0). EMU_FTZ flushes f32 on either
 * side. To a format without infinity, or with EMU_SATFINITE, overflow is the largest finite value; without it
 * e5m2's is infinity and e4m3's NaN. */
uint64_t emu_convert(emu_format to, emu_format from, uint64_t bits, emu_round round, unsigned flags);
/* To an integral value of the same or another float format: cvt.rni.f32.f32 and its like. */
uint64_t emu_to_integral(emu_format to, emu_format from, uint64_t bits, emu_round round, unsigned flags);
/* Float to an integer of `width` 8, 16, 32 or 64 bits, clamped; zero or sign extended to 64. NaN is 0, but
 * 1 << (width - 1) where source or destination has 64 bits. */
uint64_t emu_to_integer(emu_format from, uint64_t bits, int width, bool is_signed, emu_round round,
                        unsigned flags);
/* Integer, in the low `width` bits, to float. */
uint64_t emu_from_integer(emu_format to, uint64_t bits, int width, bool is_signed, emu_round round,
                          unsigned flags);
/* Integer to integer: truncated, extended by the source's sign; with `saturate` clamped to the destination.
 * The result is zero or sign extended to 64 bits. */
uint64_t emu_integer_convert(int to_width, bool to_signed, uint64_t bits, int from_width, bool from_signed,
                             bool saturate);

/* The same for the 32 lanes of a warp: uint64_t for f64, uint32_t for f32 and tf32, uint16_t for all others.
 * `d` may be `a` where both have one size. Packed pairs take the upper part from `a`, the lower from `b`: to
 * f16x2 and bf16x2 uint32_t, to pairs of 8 bits (e4m3x2 ...) uint16_t. emu_unpack_lanes converts such a pair
 * to f16x2 or bf16x2. */
void emu_convert_lanes(emu_format to, emu_format from, void *d, const void *a, emu_round round,
                       unsigned flags);
void emu_pack_lanes(emu_format to, emu_format from, void *d, const void *a, const void *b, emu_round round,
                    unsigned flags);
void emu_unpack_lanes(emu_format to, emu_format from, uint32_t *d, const uint16_t *a, unsigned flags);

/* Quick widening of one value, exact. */
float emu_half_to_float(uint32_t bits);
float emu_bfloat_to_float(uint32_t bits);
uint32_t emu_float_to_half(float value); /* .rn */
uint32_t emu_float_to_bfloat(float value);

/* ---- arithmetic ---- */

typedef enum emu_op {
    EMU_ADD,
    EMU_SUB,
    EMU_MUL,
    EMU_FMA,
    EMU_DIV,
    EMU_SQRT,
    EMU_RCP,
    EMU_MIN,
    EMU_MAX,
    EMU_ABS,
    EMU_NEG,
    /* Approximate: f32 results are within 1 ulp (rcp, sqrt, div: correctly rounded; tanh: 2 ulp), which is
     * inside every bound of PTX ISA 8.5, 9.7.3; f16 and bf16 results are those rounded to nearest. They are
     * no copy of the hardware's bits. Subnormal operands and results are flushed with EMU_FTZ only. */
    EMU_EX2,
    EMU_LG2,
    EMU_SIN,
    EMU_COS,
    EMU_TANH,
    EMU_RSQRT,
    EMU_RCP_APPROX,
    EMU_SQRT_APPROX,
    EMU_DIV_APPROX, /* 0 for 2^126 < |b| < 2^128, as documented */
    EMU_DIV_FULL,
    EMU_OPS
} emu_op;

/* How many operands it takes: 1, 2 or 3. */
int emu_operands(emu_op op);
/* One value of f64, f32, f16 or bf16; unused operands are ignored. Three-operand min and max (PTX 8.6) are
 * two calls. rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64: EMU_RCP_APPROX and EMU_RSQRT with EMU_FTZ (the low
 * 32 bits of operand and result are zero). */
uint64_t emu_arithmetic(emu_op op, emu_format format, uint64_t a, uint64_t b, uint64_t c, emu_round round,
                        unsigned flags);
/* The 32 lanes of a warp; `d` may be an operand, operands that the operation does not take may be NULL.
 * Written are all lanes: the caller keeps those that are off. Add to fma, min, max, abs, neg round to nearest
 * in loops that the compiler vectorises. */
void emu_f32_lanes(emu_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                   emu_round round, unsigned flags);
void emu_f64_lanes(emu_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                   emu_round round, unsigned flags);
/* EMU_F16 or EMU_BF16: lanes of uint16_t, or with `pair` of uint32_t that hold two values. */
void emu_half_lanes(emu_op op, emu_format format, bool pair, void *d, const void *a, const void *b,
                    const void *c, emu_round round, unsigned flags);

/* Unordered, less, equal or greater: 0, 1, 2, 4. EMU_FTZ as above. */
enum { EMU_UNORDERED = 0, EMU_LESS = 1, EMU_EQUAL = 2, EMU_GREATER = 4 };
int emu_compare(emu_format format, uint64_t a, uint64_t b, unsigned flags);
/* testp: the class of a value. */
typedef enum emu_class { EMU_ZERO, EMU_SUBNORMAL, EMU_NORMAL, EMU_INFINITE, EMU_NOT_A_NUMBER } emu_class;
emu_class emu_classify(emu_format format, uint64_t bits);

#endif
