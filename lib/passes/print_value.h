/* cute.print: the value's text as a format string, its unknown leaves as arguments. */
#ifndef CUTE_LIB_PASSES_PRINT_VALUE_H
#define CUTE_LIB_PASSES_PRINT_VALUE_H

#include <mlir-c/IR.h>

#include "cute/layout.h"

/* Lowers the cute.print `op` of `value`, whose lowered form is `lowered`, and destroys it: gpu.printf on the
 * device, a call of printf on the host. False after an error. */
bool cute_print_lower(MlirOperation op, const cute_value *value, MlirValue lowered);

#endif
