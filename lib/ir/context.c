/* Contexts: which dialects and translations a registry has. */
#include "lib/ir/context.h"

#include <mlir-c/RegisterEverything.h>

#include "lib/ir/aliases.h"
#include "lib/ir/newer.h"
#include "lib/ir/shim.h"
#include "lib/ir/types.h"

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
    return registry;
}
