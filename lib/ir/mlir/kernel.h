/* Recognizes kernels in IR; names and ABI types of their arguments. */
#ifndef CUTE_LIB_IR_MLIR_KERNEL_H
#define CUTE_LIB_IR_MLIR_KERNEL_H

#include <mlir-c/IR.h>

#include "cute/base.h"

/* Calls `visit` for each kernel in a gpu.module under `root`: gpu.func with `kernel`, llvm.func with
 * `nvvm.kernel` or `gpu.kernel`. */
void cute_kernels_each(MlirOperation root, void (*visit)(MlirOperation kernel, void *context), void *context);
/* Whether `op` is marked as a kernel: `gpu.kernel` or `nvvm.kernel`. */
bool cute_kernel_is(MlirOperation op);
/* Sets `nvvm.kernel` on each llvm.func of cute_kernels_each; without it LLVM emits a device function. */
void cute_kernels_enter(MlirOperation root);
/* Arguments of a kernel, without the shared and private buffers that gpu.func attributes to it. */
intptr_t cute_kernel_argument_count(MlirOperation kernel);
/* The `cute.name` of argument `index` of a function, or empty. */
MlirStringRef cute_argument_stated_name(MlirOperation function, intptr_t index);
/* The name of an argument in messages and metadata: its `cute.name`, the name in its location (loc("a"),
 * the name in the source), or arg0... If a conversion split `a`, the parts are a, a_1... or, for a memref,
 * a, a_aligned, a_offset, a_size0, a_stride0. The text lives as long as the context. */
MlirStringRef cute_argument_name(MlirOperation function, intptr_t index);

/* "f32", "bf16", "e4m3", "i8", ... of a scalar or of a vector's elements; NULL for other types. */
const char *cute_dtype_name(MlirType type);
/* Size and alignment in bytes as a kernel parameter; false for unsupported types. */
bool cute_type_layout(MlirType type, int64_t *size, int64_t *align);
bool cute_type_is_pointer(MlirType type);
/* Whether the type is an empty llvm struct. */
bool cute_type_is_empty(MlirType type);
/* A type of 128 bytes, used to pass a CUtensorMap. */
bool cute_type_is_tensor_map_bytes(MlirType type);

/* `!nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, 3>, swizzle = swizzle_128b, ...>`. */
typedef struct cute_nvgpu_tensor_map {
    MlirType element;
    int64_t box[5];
    int rank;
    char swizzle[8], interleave[8], l2promo[8], fill[8]; /* "none", "128B", "zero", ... */
} cute_nvgpu_tensor_map;

bool cute_tensor_map_is(MlirType type);
bool cute_tensor_map_parse(MlirType type, cute_nvgpu_tensor_map *out);

#endif
