/* The only list of dialect handles; see dialects.def. */
#include "lib/ir/mlir/dialects.h"

#include <mlir-c/Dialect/Arith.h>
#include <mlir-c/Dialect/ControlFlow.h>
#include <mlir-c/Dialect/Func.h>
#include <mlir-c/Dialect/GPU.h>
#include <mlir-c/Dialect/LLVM.h>
#include <mlir-c/Dialect/Math.h>
#include <mlir-c/Dialect/MemRef.h>
#include <mlir-c/Dialect/NVVM.h>
#include <mlir-c/Dialect/SCF.h>
#include <mlir-c/Dialect/Vector.h>

#include "lib/ir/dialects/types.h"

void cute_dialects_insert(unsigned set, MlirDialectRegistry registry)
{
    static MlirDialectHandle (*const handles[])(void) = {
#define CUTE_DIALECT(id, handle) handle,
#include "lib/ir/mlir/dialects.def"
#undef CUTE_DIALECT
    };
    for (int i = 0; i < CUTE_DIALECT_COUNT; i++)
        if (set & 1u << i) mlirDialectHandleInsertDialect(handles[i](), registry);
}
