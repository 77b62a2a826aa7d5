/* A tokenizer of PTX for readers of declarations. */
#ifndef CUTE_LIB_CUBIN_PTX_PTXTOKEN_H
#define CUTE_LIB_CUBIN_PTX_PTXTOKEN_H

#include "cute/base.h"

/* ".param", "%r1", "ld.global.u32", "8.3" and strings are one token each; other characters are tokens of
 * their own. */
typedef struct cute_ptx_token {
    const char *at;
    size_t length; /* 0 at the end */
} cute_ptx_token;

/* The next token after blanks and comments; advances *at. */
cute_ptx_token cute_ptx_next(const char **at, const char *stop);
bool cute_ptx_token_is(cute_ptx_token token, const char *text);
/* Whether it can be the name of a function or variable: not a directive, a number, or an instruction with a
 * dot. */
bool cute_ptx_token_is_name(cute_ptx_token token);

#endif
