/* Atoms, that is, single MMA or copy instructions, and their tilings. atoms.def defines them; this header has
 * the types of the dialect `cute_nvgpu`, their text and their properties. */
#ifndef CUTE_LIB_ATOMS_ATOMS_H
#define CUTE_LIB_ATOMS_ATOMS_H

#include "cute/layout.h"

typedef enum cute_atom_kind { CUTE_ATOM_MMA, CUTE_ATOM_COPY } cute_atom_kind;
typedef enum cute_mma_op { CUTE_MMA_MUL_ADD, CUTE_MMA_XOR_POPC, CUTE_MMA_AND_POPC } cute_mma_op;

/* Operands of an MMA; D has the layout of C. */
enum { CUTE_ATOM_A, CUTE_ATOM_B, CUTE_ATOM_C };
/* Operands of a copy. REFERENCE is the one whose thread-value layout is in the order of a thread's
 * registers. */
enum { CUTE_ATOM_SOURCE, CUTE_ATOM_DESTINATION, CUTE_ATOM_REFERENCE };
enum { CUTE_ATOM_OPERANDS = 3 };

typedef struct cute_atom_operand {
    const char *type; /* MLIR's type in the atom's text: "f16" */
    const char *ptx;  /* PTX's type: "f16", "s8"; NULL for elements of a copy without a PTX type */
    int bits;         /* per element */
    cute_layout
        layout; /* (thread, value) -> index of an element of (M,K), (N,K), (M,N), or of the copied elements */
    int64_t values;    /* per thread */
    int registers;     /* per thread */
    int register_bits; /* 32 or 64; fewer for a copy of fewer bits */
    char constraint;   /* constraint of inline PTX for such a register: 'r', 'f', 'd', 'l' */
    bool described;    /* in shared memory, accessed by a descriptor: has values but no registers */
} cute_atom_operand;

typedef struct cute_atom {
    cute_atom_kind kind;
    const char *text;     /* of the type: "!cute_nvgpu.sm80.mma<...>"; equal types have equal text */
    const char *mnemonic; /* "sm80.mma" */
    /* False if atoms.def has no row for it (TMA, tensor memory): the following fields are then not set. */
    bool known;
    const char *name; /* CuTe C++'s name; ends in _SATURATE for a saturating instruction */
    int arch;         /* first architecture that supports it: 80; 0: all */
    int isa;          /* first PTX ISA version: 70 is 7.0 */
    /* the instruction with its modifiers; NULL: several instructions, or it depends on the operands'
     * address spaces */
    const char *ptx;
    cute_layout threads; /* thread of the atom -> thread of the warp */
    cute_atom_operand operand[CUTE_ATOM_OPERANDS];
    /* ---- MMA ---- */
    int shape[3]; /* M, N, K */
    cute_mma_op op;
    bool satfinite;
    /* wgmma instruction. Its values also carry a state: whether to add the product to the accumulator. */
    bool wgmma;
    bool mn_major[2]; /* A, B: true if M or N is contiguous in shared memory, false if K is */
    /* ---- copy ---- */
    int bits;        /* moved per thread to or from registers (ldmatrix, stmatrix) or its address (others) */
    int matrices;    /* of ldmatrix and stmatrix, else 0 */
    bool transposed; /* .trans of ldmatrix and stmatrix */
    const char *cache;    /* of cp.async: "always", "global"; else NULL */
    const char *eviction; /* L1 eviction priority: "no_allocate"; NULL: not stated */
    const char
        *l2_eviction; /* of cp.async: the policy of its L2::cache_hint, "evict_first" and so on; NULL: none */
    int l2_prefetch;  /* of cp.async: bytes around the source that the L2 prefetches; 0: none */
    cute_space from, to; /* CUTE_SPACE_GENERIC: any */
    /* ---- TMA copies (tma.h): parsed from the text, else NULL ---- */
    const struct cute_tma *tma;
    const struct cute_bulk *bulk; /* a bulk copy without a tensor map, else NULL */
} cute_atom;

/* ---- text ---- */

/* Parses the text between < and > of an atom's type with this mnemonic: "sm80.mma" and "16x8x16, elem_type =
 * (f16, f16, f32) ". Arguments and errors as in cute_value_parse. Unknown instructions are rejected with the
 * nearest ones. */
cute_status cute_atom_parse(cute_arena *arena, const char *mnemonic, const char *text, size_t length,
                            const cute_atom **out, size_t *offset, cute_diag *diag);
/* cute_value_parse for all types: the text of an atom is its whole type ("!cute_nvgpu." is optional), that of
 * a tiled copy or MMA the part between < and >. */
cute_status cute_atom_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                                  cute_value *out, size_t *offset, cute_diag *diag);
/* cute_value_text for all types. */
const char *cute_atom_value_text(cute_arena *arena, const cute_value *value);

/* ---- operations ---- */

/* cute_apply for all operations, including atom_ops.def. Operations on one operand of an MMA have its index
 * as attribute: 0, 1 or 2. mma_make_fragment only infers: its result has no handle. */
cute_status cute_atom_apply(cute_arena *arena, const cute_arith *arith, cute_operation operation,
                            const cute_value *operands, size_t count, const cute_attributes *attributes,
                            cute_value *out, cute_diag *diag);

/* ---- rows ---- */

/* The number of instructions in atoms.def. */
size_t cute_atom_count(void);
/* Row `index`; copies of any type are of `type` (NULL: f32). NULL when memory is exhausted. */
const cute_atom *cute_atom_at(cute_arena *arena, size_t index, const char *type);
/* Finds an atom by CuTe C++'s name or the type's text. CUTE_INVALID names the nearest ones. */
cute_status cute_atom_find(cute_arena *arena, const char *name, const cute_atom **out, cute_diag *diag);

/* A copy like `atom` that moves `bits` bits. CUTE_INVALID: there is no such instruction. */
cute_status cute_atom_of_bits(cute_arena *arena, const cute_atom *atom, int64_t bits, const cute_atom **out,
                              cute_diag *diag);

#endif
