/* Numbers of PTX: formats, conversions, arithmetic in every rounding mode, approximate functions. All are
 * pure functions, independent of PTX text and machine state; they neither read nor write the host's
 * floating-point environment. The prefix num_ is that of the whole folder.
 *
 * A value is represented by its bits, in the low bits of an integer. Where PTX does not specify a NaN, the
 * result is that of sm_90:
 *   f32, tf32 0x7fffffff; f16, bf16 0x7fff; e4m3, e5m2 0x7f; ue8m0 0xff
 *   f64       a NaN operand (selected by number_nan), made quiet; a new one is 0xfff8000000000000.
 * Arithmetic is correctly rounded (PTX ISA 8.5, 9.7.3 and 9.7.4) except for the approximate functions
 * below. */
#ifndef CUTE_LIB_NUMERIC_NUMBER_H
#define CUTE_LIB_NUMERIC_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

typedef enum num_format {
    NUM_F64,
    NUM_F32,
    NUM_TF32, /* an f32 whose low 13 bits are ignored in operands and zero in results */
    NUM_F16,
    NUM_BF16,
    NUM_E5M2,
    NUM_E4M3,  /* no infinity; 0x7f is NaN */
    NUM_E2M3,  /* no infinity, no NaN */
    NUM_E3M2,  /* likewise */
    NUM_E2M1,  /* likewise */
    NUM_UE8M0, /* powers of two from 2^-127; 0xff is NaN */
    NUM_FORMATS
} num_format;

typedef enum num_round {
    NUM_RN,  /* nearest, ties to even: .rn, .rni */
    NUM_RZ,  /* towards zero: .rz, .rzi */
    NUM_RM,  /* down: .rm, .rmi */
    NUM_RP,  /* up: .rp, .rpi */
    NUM_RNA, /* nearest, ties away from zero: .rna */
} num_round;

enum {
    NUM_FTZ = 1,       /* .ftz: subnormal operands and results are 0 (f32 only; f16 in f16 arithmetic) */
    NUM_SAT = 2,       /* .sat: clamp to [0, 1], NaN becomes +0; integers: clamp to the type's range */
    NUM_SATFINITE = 4, /* .satfinite: overflow becomes the largest finite value */
    NUM_RELU = 8,      /* .relu: negative values become +0; NaN is kept */
    NUM_NAN = 16,      /* min.NaN, max.NaN: a NaN operand yields NaN */
    NUM_XORSIGN = 32,  /* min.xorsign.abs, max.xorsign.abs */
};

/* ---- conversions (cvt, 9.7.9.21) ---- */

/* Float to float; formats without a sign convert negative values to NaN (ue8m0). NUM_FTZ flushes f32 operands
 * and results. Overflow is the largest finite value with NUM_SATFINITE or in formats without infinity;
 * otherwise infinity for e5m2 and NaN for e4m3. */
uint64_t num_convert(num_format to, num_format from, uint64_t bits, num_round round, unsigned flags);
/* To an integral value of the same or another float format: cvt.rni.f32.f32 and similar. */
uint64_t num_to_integral(num_format to, num_format from, uint64_t bits, num_round round, unsigned flags);
/* Float to an integer of `width` 8, 16, 32 or 64 bits, clamped; zero- or sign-extended to 64. NaN is 0, or 1
 * << (width - 1) if source or destination has 64 bits. */
uint64_t num_to_integer(num_format from, uint64_t bits, int width, bool is_signed, num_round round,
                        unsigned flags);
/* Integer, in the low `width` bits, to float. */
uint64_t num_from_integer(num_format to, uint64_t bits, int width, bool is_signed, num_round round,
                          unsigned flags);
/* Integer to integer: truncated, extended by the source's signedness, clamped to the destination if
 * `saturate`. The result is zero- or sign-extended to 64 bits. */
uint64_t num_integer_convert(int to_width, bool to_signed, uint64_t bits, int from_width, bool from_signed,
                             bool saturate);

/* The same for the 32 lanes of a warp: uint64_t for f64, uint32_t for f32 and tf32, uint16_t for all others.
 * `d` may be `a` if both have the same size. */
void num_convert_lanes(num_format to, num_format from, void *d, const void *a, num_round round,
                       unsigned flags);

/* Fast exact widening of one value. */
float num_half_to_float(uint32_t bits);
float num_bfloat_to_float(uint32_t bits);
uint32_t num_float_to_half(float value); /* .rn */
uint32_t num_float_to_bfloat(float value);

/* ---- arithmetic ---- */

typedef enum num_op {
    NUM_ADD,
    NUM_SUB,
    NUM_MUL,
    NUM_FMA,
    NUM_DIV,
    NUM_SQRT,
    NUM_RCP,
    NUM_MIN,
    NUM_MAX,
    NUM_ABS,
    NUM_NEG,
    /* Approximate: f32 results are within 1 ulp (rcp, sqrt, div: correctly rounded; tanh: 2 ulp), which is
     * within all bounds of PTX ISA 8.5, 9.7.3; f16 and bf16 results are those rounded to nearest. They do not
     * reproduce the hardware's bits. Subnormal operands and results are only flushed with NUM_FTZ. */
    NUM_EX2,
    NUM_LG2,
    NUM_SIN,
    NUM_COS,
    NUM_TANH,
    NUM_RSQRT,
    NUM_RCP_APPROX,
    NUM_SQRT_APPROX,
    NUM_DIV_APPROX, /* 0 for 2^126 < |b| < 2^128, as documented */
    NUM_DIV_FULL,
    NUM_OPS
} num_op;

/* The number of operands: 1, 2 or 3. */
int num_operands(num_op op);
/* One value of f64, f32, f16 or bf16; unused operands are ignored. Three-operand min and max (PTX 8.6) are
 * two calls. rcp.approx.ftz.f64 and rsqrt.approx.ftz.f64 are NUM_RCP_APPROX and NUM_RSQRT with NUM_FTZ (the
 * low 32 bits of operand and result are zero). */
uint64_t num_arithmetic(num_op op, num_format format, uint64_t a, uint64_t b, uint64_t c, num_round round,
                        unsigned flags);
/* The 32 lanes of a warp; `d` may alias an operand, unused operands may be NULL. All lanes are written: the
 * caller preserves inactive ones. Add to fma, min, max, abs and neg round to nearest, in loops that the
 * compiler vectorizes. */
void num_f32_lanes(num_op op, uint32_t *d, const uint32_t *a, const uint32_t *b, const uint32_t *c,
                   num_round round, unsigned flags);
void num_f64_lanes(num_op op, uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c,
                   num_round round, unsigned flags);
/* NUM_F16 or NUM_BF16: lanes of uint16_t, or with `pair` lanes of uint32_t with two values. */
void num_half_lanes(num_op op, num_format format, bool pair, void *d, const void *a, const void *b,
                    const void *c, num_round round, unsigned flags);

/* Unordered, less, equal or greater: 0, 1, 2, 4. NUM_FTZ as above. */
enum { NUM_UNORDERED = 0, NUM_LESS = 1, NUM_EQUAL = 2, NUM_GREATER = 4 };
int num_compare(num_format format, uint64_t a, uint64_t b, unsigned flags);
/* testp: the class of a value. */
typedef enum num_class { NUM_ZERO, NUM_SUBNORMAL, NUM_NORMAL, NUM_INFINITE, NUM_NOT_A_NUMBER } num_class;
num_class num_classify(num_format format, uint64_t bits);

#endif
