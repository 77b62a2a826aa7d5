/* Converts MLIR attributes to JSON, for metadata. */
#ifndef CUTE_LIB_IR_MLIR_JSON_H
#define CUTE_LIB_IR_MLIR_JSON_H

#include <mlir-c/IR.h>

#include "lib/base/text/json.h"

/* Dictionaries, arrays, strings, integers; a unit is null, anything else its text. */
json_t *cute_attribute_json(MlirAttribute attribute);

#endif
