#include "lib/ir/context.h"

#include <mlir-c/RegisterEverything.h>

#include "lib/ir/hooks.h"

MlirDialectRegistry cute_registry_create(void)
{
    MlirDialectRegistry registry = mlirDialectRegistryCreate();
    mlirRegisterAllDialects(registry);
    cute_dialect_insert(registry);
    return registry;
}
