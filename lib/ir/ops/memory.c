/* What reads and writes tensors. */
#include "lib/ir/ops/algebra.h"

static const cute_op_row rows[] = {
    {.name = "cute.memref.alloca"},
    {.name = "cute.memref.load"},
    {.name = "cute.memref.store"},
    {.name = "cute.memref.load_vec"},
    {.name = "cute.memref.store_vec"},
    {.name = "cute.fill"},
    {.name = "cute.copy"},
    {.name = "cute.copy_atom_call"},
    {.name = "cute.prefetch"},
    {.name = "cute.gemm"},
    {.name = "cute.mma_atom_call"},
    {.name = "cute.ptr.load"},
    {.name = "cute.ptr.store"},
};
const cute_op_family cute_family_memory = {rows, sizeof rows / sizeof *rows};
