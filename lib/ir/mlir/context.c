/* Contexts: which dialects and translations a registry has. */
#include "lib/ir/mlir/context.h"

#include <mlir-c/RegisterEverything.h>

#include "lib/ir/dialects/newer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/extension.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/text/aliases.h"

MlirDialectRegistry cute_registry_create(void)
{
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirRegisterAllDialects(registry);
    cute_translations_insert(registry);
    cute_dialect_insert(registry);
    cute_nvgpu_dialect_insert(registry);
    cute_dialects_insert(CUTE_DIALECT_CUDA, registry);
    cute_newer_insert(registry);
    cute_aliases_insert(registry);
    cute_extensions_insert(registry);
    return registry;
}
