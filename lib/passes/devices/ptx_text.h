/* Templates of PTX instructions with placeholders for attributes of an operation. */
#ifndef CUTE_LIB_PASSES_DEVICES_PTX_TEXT_H
#define CUTE_LIB_PASSES_DEVICES_PTX_TEXT_H

#include "lib/ir/mlir/util.h"

/* The value of the attribute `name`: a string, a number, or `arrive` of `#cuda.mbar_txn_kind<arrive>`;
 * `missing` if the attribute is absent. May be stored in `text`, whose contents are replaced. */
MlirStringRef cute_ptx_word(MlirOperation op, MlirStringRef name, const char *missing, cute_buffer *text);

/* Appends `text` with `{scope}` replaced by the attribute `scope`, and `{scope|cta}` likewise, with `cta`
 * as default. A brace followed by a space is PTX. */
void cute_ptx_words(MlirOperation op, const char *text, cute_buffer *out);

#endif
