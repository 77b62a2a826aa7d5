/* MLIR to a module that can be launched and looked at: by the programs cute-ptx and cute-link, which are beside the
 * running program or on PATH, so that who links no LLVM can take MLIR. */
#ifndef CUTE_LIB_TOOLKIT_PIPE_H
#define CUTE_LIB_TOOLKIT_PIPE_H

#include "lib/base/options/options.h"

typedef struct cute_pipe {
    const char *arch, *opt_level, *cuda_path;  /* NULL: what the programs take without */
    const cute_option_list *defines, *folders; /* -D, -I; may be NULL */
    bool ptx;                                  /* PTX is enough: nothing is linked */
    cute_diag_format format;                   /* of what the programs say */
} cute_pipe;

/* The path of a program of the pipe, in `arena`; its name alone where it is not beside this one. */
const char *cute_pipe_program(cute_arena *arena, const char *name);
/* Those of `defines` ("NAME=VALUE") that an MLIR text asks for, all where it includes others; in `arena`. */
cute_status cute_pipe_defines(cute_arena *arena, const cute_option_list *defines, const char *text,
                              size_t length, cute_option_list *out, cute_diag *diag);
/* Compiles `path`, whose `length` bytes are read already, with line information ("-": standard input) to a cubin, to
 * PTX where there is no ptxas; of a gpu.binary its code is taken. What the programs say is appended to `said` as they
 * say it, for standard error; where one of them has said why it failed, its status is returned without a message. */
cute_status cute_pipe_run(cute_arena *arena, const cute_pipe *pipe, const char *path, const void *bytes,
                          size_t length, cute_buffer *out, cute_buffer *said, cute_diag *diag);

#endif
