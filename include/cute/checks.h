/* What the emulator can check while kernels run: names and bits of the table checks.def. */
#ifndef CUTE_CHECKS_H
#define CUTE_CHECKS_H

#include "cute/base.h"

/* Bits that may be combined. */
typedef enum cute_checks {
#define CHECK(id, bit, name, parts, text) CUTE_CHECK_##id = (bit),
#include "cute/checks.def"
#define CHECK(id, bit, name, parts, text) | CUTE_CHECK_##id
    CUTE_CHECK_ALL = 0
#include "cute/checks.def"
    ,
    CUTE_CHECK_STRICT = 1 << 16 /* beside others: what would be a warning is an error */
} cute_checks;

/* Places of an instruction: in the PTX, and where that says so (.loc) in the source; else `file` is NULL. */
typedef struct cute_finding_place {
    const char *file;
    uint32_t line, column, ptx_line;
} cute_finding_place;

/* What was found at a pair of instructions in one launch. Read only: later versions may have more at the end. */
typedef struct cute_finding {
    unsigned check;         /* one of CUTE_CHECK_... */
    cute_severity severity; /* CUTE_ERROR or CUTE_WARNING */
    const char *message;    /* as the diag has it */
    const char *reason;     /* why it is, or would be, a warning only; NULL */
    const char *kernel;
    cute_finding_place place;
    bool has_other; /* another instruction is part of it */
    cute_finding_place other;
    const char *other_note; /* what `other` is */
    uint32_t block[3];
    uint32_t warp;      /* in the block */
    bool whole_warp;    /* then `thread` does not count */
    uint32_t thread[3]; /* where it was found first */
    uint64_t count;     /* how often */
    bool allowed;       /* by cute_emulator_options.allow */
} cute_finding;

#endif
