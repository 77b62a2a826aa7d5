/* Atomic accesses in terms of the PTX memory model. */
#ifndef CUTE_LIB_PASSES_DEVICES_ATOMICS_H
#define CUTE_LIB_PASSES_DEVICES_ATOMICS_H

#include <mlir-c/IR.h>

#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/builder.h"

typedef enum cute_order {
    CUTE_ORDER_RELAXED,
    CUTE_ORDER_ACQUIRE,
    CUTE_ORDER_RELEASE,
    CUTE_ORDER_ACQ_REL,
    CUTE_ORDER_SEQ_CST,
} cute_order;

/* Memory order and scope of an access. */
typedef struct cute_atomic {
    cute_order order;
    const char *scope;     /* "cta", "cluster", "gpu", "sys"; NULL: single thread */
    const cute_arch *arch; /* NULL: any */
} cute_atomic;

/* Atomic update operations. Up to CUTE_ATOMIC_DEC, the values are those of llvm's AtomicBinOp. */
typedef enum cute_atomic_kind {
    CUTE_ATOMIC_EXCHANGE,
    CUTE_ATOMIC_ADD,
    CUTE_ATOMIC_SUB,
    CUTE_ATOMIC_AND,
    CUTE_ATOMIC_NAND,
    CUTE_ATOMIC_OR,
    CUTE_ATOMIC_XOR,
    CUTE_ATOMIC_MAX,
    CUTE_ATOMIC_MIN,
    CUTE_ATOMIC_UMAX,
    CUTE_ATOMIC_UMIN,
    CUTE_ATOMIC_FADD,
    CUTE_ATOMIC_FSUB,
    CUTE_ATOMIC_FMAX, /* ignores a NaN operand */
    CUTE_ATOMIC_FMIN,
    CUTE_ATOMIC_INC, /* PTX: old >= b ? 0 : old + 1 */
    CUTE_ATOMIC_DEC, /* PTX: old == 0 || old > b ? b : old - 1 */
    CUTE_ATOMIC_MUL,
    CUTE_ATOMIC_FMUL,
    CUTE_ATOMIC_FMAXIMUM, /* propagates NaN */
    CUTE_ATOMIC_FMINIMUM,
    CUTE_ATOMIC_KINDS,
} cute_atomic_kind;

/* Whether `type` may be accessed atomically: integers, floats and pointers of `smallest` (8 or 16) to 64
 * bits. Otherwise reports an error on `op`. */
bool cute_atomic_type(MlirOperation op, MlirType type, unsigned smallest);
/* Whether LLVM selects one instruction for llvm.atomicrmw, relaxed at gpu scope. */
bool cute_atomic_is_native(cute_atomic_kind kind, MlirType type);

/* For types accepted by cute_atomic_type. Pointers are generic or in global or shared memory. */
void cute_atomic_fence(const cute_builder *b, cute_atomic atomic);
MlirValue cute_atomic_load(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirType type);
void cute_atomic_store(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirValue value);
/* Returns the old value, which is replaced if it is bitwise equal to `expected`. */
MlirValue cute_atomic_cas(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirValue expected,
                          MlirValue desired);
/* Returns the old value. One instruction if PTX has it, otherwise a compare-and-swap loop. */
MlirValue cute_atomic_update(const cute_builder *b, cute_atomic atomic, MlirValue pointer,
                             cute_atomic_kind kind, MlirValue operand);
/* Adds a vector of f32 in global memory, or of f16 or bf16, each element atomically; returns the old
 * value. */
MlirValue cute_atomic_add_vector(const cute_builder *b, cute_atomic atomic, MlirValue pointer,
                                 MlirValue vector);
/* A compare-and-swap loop around `combine`, which computes the new value from the old one. */
typedef MlirValue (*cute_atomic_combine)(const cute_builder *b, MlirValue old, void *context);
MlirValue cute_atomic_loop(const cute_builder *b, cute_atomic atomic, MlirValue pointer, MlirType type,
                           cute_atomic_combine combine, void *context);

#endif
