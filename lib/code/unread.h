/* Unsupported instructions of a kernel, which the emulator's parser cannot read and reports skip: each operation once. */
#ifndef CUTE_LIB_CODE_UNREAD_H
#define CUTE_LIB_CODE_UNREAD_H

#include "lib/base/text/json.h"
#include "lib/emulator/program/program.h"

typedef struct cute_unread {
    const char *operation, *why; /* "tcgen05.mma.cta_group::1.kind::f16" */
    uint32_t count, ptx_line;    /* of the first occurrence */
} cute_unread;

typedef struct cute_unread_list {
    cute_unread *items; /* by first occurrence */
    size_t count;
} cute_unread_list;

/* `kernel` belongs to a program of em_program_read. */
cute_status cute_unread_find(cute_arena *arena, const em_program *program, const em_function *kernel,
                             cute_unread_list *out, cute_diag *diag);
/* "tcgen05.ld.sync (12 times, PTX 40), ..."; at most `most` operations. NULL: memory is exhausted. */
const char *cute_unread_text(cute_arena *arena, const cute_unread_list *list, size_t most);
/* [{"operation", "why", "count", "ptx_line"}] */
json_t *cute_unread_json(const cute_unread_list *list);

#endif
