/* Atoms: one instruction that multiplies matrices (an MMA) or copies, and tilings of them. Rows in atoms.def say what
 * each is; here is what the types of the dialect `cute_nvgpu` name, their text, and what follows from it. */
#ifndef CUTE_LIB_ATOMS_ATOMS_H
#define CUTE_LIB_ATOMS_ATOMS_H

#include "cute/layout.h"

typedef enum cute_atom_kind { CUTE_ATOM_MMA, CUTE_ATOM_COPY } cute_atom_kind;
typedef enum cute_mma_op { CUTE_MMA_MUL_ADD, CUTE_MMA_XOR_POPC, CUTE_MMA_AND_POPC } cute_mma_op;

/* Operands of an MMA; D is laid out as C. */
enum { CUTE_ATOM_A, CUTE_ATOM_B, CUTE_ATOM_C };
/* Operands of a copy. Values are named by the one that the registers of a thread hold in order. */
enum { CUTE_ATOM_SOURCE, CUTE_ATOM_DESTINATION, CUTE_ATOM_REFERENCE };
enum { CUTE_ATOM_OPERANDS = 3 };

typedef struct cute_atom_operand {
    const char *type; /* MLIR's, as the atom's type spells it: "f16" */
    const char *ptx;  /* PTX's: "f16", "s8"; of a copy's element that PTX has no name for NULL */
    int bits;         /* of an element */
    cute_layout
        layout;     /* (thread, value) -> index of an element: of (M,K), (N,K), (M,N), or of what is copied */
    int64_t values; /* of a thread */
    int registers;  /* of a thread */
    int register_bits; /* 32 or 64; of a copy of less, that */
    char constraint;   /* inline PTX's for such a register: 'r', 'f', 'd', 'l' */
    bool described;    /* in shared memory, by a descriptor: it has values, and no registers */
} cute_atom_operand;

typedef struct cute_atom {
    cute_atom_kind kind;
    const char *text;     /* of the type: "!cute_nvgpu.sm80.mma<...>"; equal types have equal text */
    const char *mnemonic; /* "sm80.mma" */
    /* False for what atoms.def has no row for (TMA, tensor memory): what follows is not set then. */
    bool known;
    const char *name; /* CuTe C++'s; with _SATURATE where it saturates */
    int arch;         /* the first architecture that has it: 80; 0: all have it */
    int isa;          /* the first PTX ISA: 70 is 7.0 */
    const char *ptx;  /* the instruction with its modifiers; NULL: several, or as the operands' spaces ask */
    cute_layout threads; /* thread of the atom -> thread of the warp */
    cute_atom_operand operand[CUTE_ATOM_OPERANDS];
    /* ---- MMA ---- */
    int shape[3]; /* M, N, K */
    cute_mma_op op;
    bool satfinite;
    /* Of wgmma. Its values have a state beside their type: whether the product is added to the accumulator. */
    bool wgmma;
    bool mn_major[2]; /* A, B: which mode is contiguous in shared memory; false: K */
    /* ---- copy ---- */
    int bits;             /* that a thread's registers (ldmatrix, stmatrix) or addresses (others) move */
    int matrices;         /* of ldmatrix and stmatrix, else 0 */
    bool transposed;      /* their .trans */
    const char *cache;    /* "always", "global" of cp.async, else NULL */
    const char *eviction; /* "no_allocate": of L1; NULL: none is stated */
    const char *
        l2_eviction; /* of cp.async: "evict_first" and the like, the policy of its L2::cache_hint; NULL: none */
    int l2_prefetch;     /* of cp.async: bytes around the source that the L2 fetches with them; 0: none */
    cute_space from, to; /* CUTE_SPACE_GENERIC: any */
    /* ---- copies of the tensor memory accelerator (tma.h): what follows the text, else NULL ---- */
    const struct cute_tma *tma;
    const struct cute_bulk *bulk; /* of a bulk copy without a tensor map, else NULL */
} cute_atom;

/* ---- text ---- */

/* What stands between < and > of an atom's type, of this mnemonic: "sm80.mma" and "16x8x16, elem_type = (f16, f16, f32) ".
 * Arguments and errors as cute_value_parse's. An instruction that there is not is refused with those nearest to it. */
cute_status cute_atom_parse(cute_arena *arena, const char *mnemonic, const char *text, size_t length,
                            const cute_atom **out, size_t *offset, cute_diag *diag);
/* cute_value_parse for all types: the text of an atom is its whole type ("!cute_nvgpu." may be left out), that of
 * a tiled copy or MMA what stands between < and >. */
cute_status cute_atom_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                                  cute_value *out, size_t *offset, cute_diag *diag);
/* cute_value_text for all types. */
const char *cute_atom_value_text(cute_arena *arena, const cute_value *value);

/* ---- operations ---- */

/* cute_apply for all operations, those of atom_ops.def too. Attributes of those of an MMA's operand: which it is, 0, 1
 * or 2. mma_make_fragment infers only: what it gives has no handle. */
cute_status cute_atom_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                            const cute_value *operands, size_t count, const cute_attributes *attributes,
                            cute_value *out, cute_diag *diag);

/* ---- rows ---- */

/* How many instructions atoms.def has. */
size_t cute_atom_count(void);
/* One of them; copies of any type are of `type` (NULL: f32). NULL when memory is exhausted. */
const cute_atom *cute_atom_at(cute_arena *arena, size_t index, const char *type);
/* By CuTe C++'s name or the type's text. CUTE_INVALID names those nearest. */
cute_status cute_atom_find(cute_arena *arena, const char *name, const cute_atom **out, cute_diag *diag);

/* The instruction like `atom`, a copy, that moves as many bits at once. CUTE_INVALID: there is none. */
cute_status cute_atom_of_bits(cute_arena *arena, const cute_atom *atom, int64_t bits, const cute_atom **out,
                              cute_diag *diag);

#endif
