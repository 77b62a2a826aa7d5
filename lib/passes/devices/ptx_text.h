/* Instructions of PTX as tables have them, with what an operation's attributes say in them. */
#ifndef CUTE_LIB_PASSES_DEVICES_PTX_TEXT_H
#define CUTE_LIB_PASSES_DEVICES_PTX_TEXT_H

#include "lib/ir/mlir/util.h"

/* What the attribute `name` says: a text, a number, or `arrive` of `#cuda.mbar_txn_kind<arrive>`; `missing` where there is
 * no such attribute. It may lie in `text`, whatever that held. */
MlirStringRef cute_ptx_word(MlirOperation op, MlirStringRef name, const char *missing, cute_buffer *text);

/* Appends `text`, in which `{scope}` is that of the attribute `scope` and `{scope|cta}` the same, or `cta` where there is
 * none. A brace with a blank behind it is one of PTX. */
void cute_ptx_words(MlirOperation op, const char *text, cute_buffer *out);

#endif
