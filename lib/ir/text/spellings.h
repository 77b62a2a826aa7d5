/* Spellings of newer MLIR that differ from LLVM 19's in the text only, both ways. */
#ifndef CUTE_LIB_IR_TEXT_SPELLINGS_H
#define CUTE_LIB_IR_TEXT_SPELLINGS_H

#include "lib/base/buffer.h"

/* Converts `text` to LLVM 19's spelling in place, keeping its length so that columns in diagnostics remain
 * valid: removes the comma of `gpu.printf "%d\n", %x : i32`, replaces `#nvvm.rnd<rn>` by `#cuda.rnd<rn>`
 * and `vector<8xf4E2M1FN>` by `vector<8xsi4>`, drops `useIntrinsic = false`. Strings and comments are
 * unchanged. */
void cute_spellings_read(char *text, size_t length);

/* The substitute for an element type that LLVM 19 lacks: "si4" for "f4E2M1FN"; NULL for other types. */
const char *cute_spelling_of_element(const char *name);

/* If `text` begins with a type that LLVM 19 lacks, writes an error message to `out` and returns true. */
bool cute_spelling_lacks(const char *text, size_t length, cute_buffer *out);

/* Appends `text`, printed by LLVM 19, to `out` in the newer spelling. */
void cute_spellings_write(const char *text, size_t length, cute_buffer *out);

#endif
