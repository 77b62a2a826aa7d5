/* The machine code of a cubin, through nvdisasm, with the source lines that it came from. */
#ifndef CUTE_LIB_REPORT_SASS_H
#define CUTE_LIB_REPORT_SASS_H

#include "lib/base/json.h"

typedef struct cute_sass_line {
    bool label;       /* a branch target; `text` is its name */
    uint64_t offset;  /* of an instruction in its function */
    const char *text; /* "IADD3 R1, R1, -0x100, RZ ;" */
    const char *file; /* source; NULL: not known */
    int64_t line;
} cute_sass_line;

typedef struct cute_sass_function {
    const char *name;
    cute_sass_line *lines;
    size_t count, capacity;
} cute_sass_function;

typedef struct cute_sass {
    cute_sass_function *functions;
    size_t count, capacity;
} cute_sass;

/* Disassembles; everything is in `arena`. CUTE_SYSTEM: there is no nvdisasm; CUTE_INVALID: it refuses the
 * cubin, with what it says. */
cute_status cute_sass_read(cute_arena *arena, const char *label, const void *cubin, size_t length,
                           const char *cuda_path, cute_sass *out, cute_diag *diag);
/* Parses what `nvdisasm -g -c` prints; unknown lines are skipped. */
cute_status cute_sass_parse(cute_arena *arena, const char *text, size_t length, cute_sass *out,
                            cute_diag *diag);
/* Each function; source lines stand before their instructions, with the text where the file is to be found.
 * `only` (may be NULL) names one function. */
void cute_sass_print(const cute_sass *sass, const char *only, cute_buffer *out);
json_t *cute_sass_json(const cute_sass *sass, const char *only);

#endif
