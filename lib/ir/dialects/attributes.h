/* Attributes `cute.*` of functions, their arguments and modules. */
#ifndef CUTE_LIB_IR_DIALECTS_ATTRIBUTES_H
#define CUTE_LIB_IR_DIALECTS_ATTRIBUTES_H

#include "lib/ir/diagnostics/diagnostics.h"

/* Warns of those that mean nothing where they are (attributes.def), as a misspelt one does. A text with a source map was looked
 * through when that was made. */
void cute_attributes_check(cute_mlir_source *source, MlirOperation root);

#endif
