/* Kernel metadata (docs/metadata.md) from lowered IR. */
#ifndef CUTE_LIB_PTX_METADATA_H
#define CUTE_LIB_PTX_METADATA_H

#include <mlir-c/IR.h>

#include "lib/ptx/ptx.h"

/* Appends a line `//!cute {...}` for each kernel of `module`, a lowered gpu.module. */
cute_status cute_metadata_write(MlirOperation module, const cute_ptx_options *options, cute_buffer *out,
                                cute_diag *diag);

#endif
