/* Checks `cute.*` attributes of functions, arguments and modules. */
#ifndef CUTE_LIB_IR_DIALECTS_ATTRIBUTES_H
#define CUTE_LIB_IR_DIALECTS_ATTRIBUTES_H

#include "lib/ir/diagnostics/diagnostics.h"

/* Warns about attributes without effect, such as misspelled ones (attributes.def). Skips texts with a
 * source map, which were checked when it was written. */
void cute_attributes_check(cute_mlir_source *source, MlirOperation root);

#endif
