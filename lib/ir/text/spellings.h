/* Spellings of newer MLIR that differ from LLVM 19's in the text only, both ways. */
#ifndef CUTE_LIB_IR_TEXT_SPELLINGS_H
#define CUTE_LIB_IR_TEXT_SPELLINGS_H

#include "lib/base/buffer.h"

/* Changes `text` in place, of the same length, so that places in diagnostics stay right: `gpu.printf "%d\n", %x : i32`
 * loses its comma, `#nvvm.rnd<rn>` is read as `#cuda.rnd<rn>`, `useIntrinsic = false` is left out, `vector<8xf4E2M1FN>`
 * is `vector<8xsi4>`. Strings and comments are left alone. */
void cute_spellings_read(char *text, size_t length);

/* What stands for elements of vectors that LLVM 19 has no type for: "si4" for "f4E2M1FN"; NULL: it has one. */
const char *cute_spelling_of_element(const char *name);

/* What is wrong with the type at the beginning of `text`, where it is one that LLVM 19 lacks, to `out`. False: it is none. */
bool cute_spelling_lacks(const char *text, size_t length, cute_buffer *out);

/* Appends `text`, as LLVM 19 prints it, to `out` in the newer spelling. */
void cute_spellings_write(const char *text, size_t length, cute_buffer *out);

#endif
