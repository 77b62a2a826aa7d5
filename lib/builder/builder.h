/* The module under construction, for the files of this room. */
#ifndef CUTE_LIB_BUILDER_BUILDER_H
#define CUTE_LIB_BUILDER_BUILDER_H

#include <mlir-c/IR.h>

#include "cute/build.h"
#include "lib/base/buffer.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/text/defines.h"

enum { IR_DEPTH = 200 }; /* open regions; MLIR's printer and verifier are recursive */

typedef enum ir_region {
    IR_KERNEL,
    IR_FOR,
    IR_THEN,
    IR_ELSE,
    IR_BEFORE, /* the condition of a while */
    IR_AFTER,  /* its body */
} ir_region;

/* An open region. Its blocks are in no operation until it is closed, since a branch's result types are known only then. */
typedef struct ir_frame {
    ir_region kind;
    uint32_t scope;
    MlirLocation location;
    const char *file; /* of the call that opened it */
    int line;
    const char *name;      /* IR_KERNEL */
    MlirRegion regions[2]; /* null: none, or in an operation */
    MlirBlock block;       /* where operations are added */
    MlirValue *operands;   /* bounds and initial values, or the condition, in the arena */
    size_t operand_count;
    MlirType *types; /* of the results */
    size_t type_count;
    MlirNamedAttribute *attributes; /* of a kernel */
    size_t attribute_count, attribute_capacity;
} ir_frame;

typedef struct ir_entry {
    MlirValue value;
    uint32_t scope;        /* of the region in which it was made */
    uint32_t first, count; /* the results of the same operation */
} ir_entry;

struct cute_ir {
    cute_arena *arena;
    cute_status status; /* of the first error */
    cute_diag *diag;    /* its messages */
    bool dead;          /* LLVM gave up: the context must not be touched */
    MlirContext context;
    MlirModule module;
    MlirOperation kernels; /* the gpu.module of new kernels; null: not created yet */
    ir_entry *entries;
    size_t entry_count, entry_capacity;
    ir_frame frames[IR_DEPTH];
    size_t depth;
    uint32_t scopes; /* made so far */
    cute_define *defines;
    size_t define_count, define_capacity;
    bool caught_error;  /* an MLIR error since ir_listen */
    cute_buffer caught; /* its message */
    MlirLocation caught_location;
    cute_buffer output; /* of cute_ir_print */
};

/* ---- errors (builder.c) ---- */

/* Whether calls build: no error so far. */
bool ir_ready(const cute_ir *ir);
/* Keeps the first error. Returns no value, for `return ir_fail(...)`. */
cute_ir_value ir_fail(cute_ir_at at, const char *format, ...) CUTE_PRINTF(2, 3);
void ir_note(cute_ir *ir, const cute_place *place, const char *format, ...) CUTE_PRINTF(3, 4);
cute_ir_value ir_fail_memory(cute_ir *ir);
/* From now on MLIR's errors are caught. */
void ir_listen(cute_ir *ir);
/* Calls `body`; false if LLVM gave up, which is an error after which MLIR is not called any more. */
bool ir_guard(cute_ir_at at, void (*body)(void *context), void *context);
/* MLIR's error, or `otherwise`. */
const char *ir_caught(const cute_ir *ir, const char *otherwise);
/* Adds a note with the types of operands and results. */
void ir_note_types(cute_ir *ir, const MlirValue *operands, size_t count, const MlirType *results,
                   size_t result_count);

/* ---- text (text.c) ---- */

/* `text` with ${NAME} replaced, in the arena; NULL after an error that names `what`. */
const char *ir_expand(cute_ir_at at, const char *what, const char *text);
/* Type and attribute of a text; null after an error. */
MlirType ir_type(cute_ir_at at, const char *text);
MlirAttribute ir_attribute(cute_ir_at at, const char *text);
/* Types separated by commas. */
bool ir_types(cute_ir_at at, const char *text, MlirType **types, size_t *count);
/* The text of a type, in the arena; "?" when memory is exhausted. */
const char *ir_type_text(cute_ir *ir, MlirType type);

/* ---- values (builder.c) ---- */

MlirLocation ir_location(cute_ir_at at);
/* Whether the value was made by this module, in a region that is still open. `function` is the caller's name, for the message. */
bool ir_get(cute_ir_at at, const char *function, cute_ir_value value, MlirValue *out);
/* The same for a value or a number, which takes the type. */
bool ir_get_as(cute_ir_at at, const char *function, cute_ir_value value, MlirType type, MlirValue *out);
bool ir_is_number(cute_ir_value value);
/* An arith.constant; false after an error. */
bool ir_constant(cute_ir_at at, const char *function, cute_ir_value number, MlirType type, MlirValue *out);
cute_ir_value ir_new_value(cute_ir *ir, MlirValue value, uint32_t first, uint32_t count);
/* A handle for each result; returns the first. */
cute_ir_value ir_new_results(cute_ir *ir, MlirOperation op);
/* The open region, NULL after an error. */
ir_frame *ir_frame_for(cute_ir_at at, const char *function);

/* The gpu.module that has the name of the gpu.module `like`; null: none. (control.c) */
MlirOperation ir_find_module(const cute_ir *ir, MlirOperation like);

/* ---- operations (operation.c) ---- */

/* Creates an operation at the end of the open region and verifies it; null after an error. `results` NULL: inferred. */
MlirOperation ir_create(cute_ir_at at, const char *name, cute_operands operands, const cute_types *results,
                        MlirAttribute attributes);
/* A value for the first result. */
cute_ir_value ir_build(cute_ir_at at, const char *name, cute_operands operands, const cute_types *results,
                       MlirAttribute attributes);
/* Loads the dialect of an operation or attribute, "nvvm.reqntid", if there is one. */
void ir_load_dialect(cute_ir *ir, const char *name);
/* A dictionary of one attribute whose value is a string. */
MlirAttribute ir_word(cute_ir *ir, const char *name, const char *value);

/* ---- tensors (threads.c) ---- */

/* A tensor of !cute.memref; `builtin`: or memref. */
bool ir_tensor(cute_ir_at at, const char *function, cute_ir_value tensor, bool builtin, MlirValue *out);
/* A !cute.coord, whose type has the numbers. */
bool ir_coordinate(cute_ir_at at, const char *function, cute_ir_values coordinates, MlirValue *out);

#endif
