/* What the emulator can check while kernels run: names and bits of the table checks.def. */
#ifndef CUTE_CHECKS_H
#define CUTE_CHECKS_H

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

#endif
