/* The words of PTX, without their meaning: what readers of declarations need. */
#ifndef CUTE_LIB_CUBIN_PTX_PTXTOKEN_H
#define CUTE_LIB_CUBIN_PTX_PTXTOKEN_H

#include "cute/base.h"

/* ".param", "%r1", "ld.global.u32" and "8.3" are one token each, a string is, else a character. */
typedef struct cute_ptx_token {
    const char *at;
    size_t length; /* 0 at the end */
} cute_ptx_token;

/* The token at *at, behind blanks and comments; *at moves behind it. */
cute_ptx_token cute_ptx_next(const char **at, const char *stop);
bool cute_ptx_token_is(cute_ptx_token token, const char *text);
/* Whether it can be the name of a function or a variable: no directive, no number, no instruction with a dot. */
bool cute_ptx_token_is_name(cute_ptx_token token);

#endif
