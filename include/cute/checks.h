/* The checks that the emulator can run: names and bits of the table checks.def. */
#ifndef CUTE_CHECKS_H
#define CUTE_CHECKS_H

#include "cute/base.h"

typedef enum cute_checks {
#define CHECK(id, bit, name, parts, text) CUTE_CHECK_##id = (bit),
#include "cute/checks.def"
#define CHECK(id, bit, name, parts, text) | CUTE_CHECK_##id
    CUTE_CHECK_ALL = 0
#include "cute/checks.def"
    ,
    CUTE_CHECK_STRICT = 1 << 16 /* combined with others: warnings become errors */
} cute_checks;

/* The place of an instruction in the PTX, or in the source where the PTX names it (.loc); otherwise `file` is
 * NULL. */
typedef struct cute_finding_place {
    const char *file;
    uint32_t line, column, ptx_line;
} cute_finding_place;

/* A finding at one pair of instructions in one launch. Read only: later versions may add fields at the
 * end. */
typedef struct cute_finding {
    unsigned check;         /* one of CUTE_CHECK_... */
    cute_severity severity; /* CUTE_ERROR or CUTE_WARNING */
    const char *message;    /* the message in the diag */
    const char *reason;     /* why it is a warning, or would be one; NULL: none */
    const char *kernel;
    cute_finding_place place;
    bool has_other; /* the finding involves a second instruction */
    cute_finding_place other;
    const char *other_note; /* the role of `other` */
    uint32_t block[3];
    uint32_t warp;      /* index in the block */
    bool whole_warp;    /* `thread` is meaningless */
    uint32_t thread[3]; /* where it was found first */
    uint64_t count;     /* number of occurrences */
    bool allowed;       /* downgraded by cute_emulator_options.allow */
    const char *code;   /* "K0101"; cute_cause_find has its class */
    int32_t rank;       /* of an emulator with several devices, the one that found it; -1: one device */
} cute_finding;

#endif
