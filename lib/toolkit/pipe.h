/* Compiles MLIR with the programs cute-ptx and cute-link, found in the folder of the running program or on
 * PATH, so that programs without LLVM accept MLIR. */
#ifndef CUTE_LIB_TOOLKIT_PIPE_H
#define CUTE_LIB_TOOLKIT_PIPE_H

#include "lib/base/options/options.h"
#include "lib/base/system/process.h"
#include "lib/toolkit/pipe_options.h"

typedef struct cute_pipe {
    const char *arch, *opt_level, *cuda_path;  /* NULL: the programs' defaults */
    const cute_option_list *defines, *folders; /* -D, -I; may be NULL */
    const cute_option_list *plugins;           /* --load-plugin of cute-ptx; may be NULL */
    const char *schedule;                      /* of tile programs; NULL: cute-ptx chooses */
    const pipe_values *values;                 /* further options; may be NULL */
    bool ptx;                                  /* PTX suffices: do not link */
    cute_diag_format format;                   /* of the programs' messages */
} cute_pipe;

/* The path of a program of the pipe, in `arena`; only its name if it is not in this program's folder. */
const char *cute_pipe_program(cute_arena *arena, const char *name);
/* Selects the `defines` ("NAME=VALUE") that an MLIR text uses, all of them if it includes files; in
 * `arena`. */
cute_status cute_pipe_defines(cute_arena *arena, const cute_option_list *defines, const char *text,
                              size_t length, cute_option_list *out, cute_diag *diag);
/* Compiles `path` ("-": standard input), whose `length` bytes were already read, with line information to a
 * cubin, or to PTX without ptxas; extracts the code of a gpu.binary. The programs' messages are appended to
 * `said`, for standard error; if a program fails with messages, its status is returned without another
 * message. */
cute_status cute_pipe_run(cute_arena *arena, const cute_pipe *pipe, const char *path, const void *bytes,
                          size_t length, cute_buffer *out, cute_buffer *said, cute_diag *diag);
/* Links PTX to a cubin with cute-link; `ptx` and `out` may be the same buffer. */
cute_status cute_pipe_link(cute_arena *arena, const cute_pipe *pipe, const cute_buffer *ptx, cute_buffer *out,
                           cute_buffer *said, cute_diag *diag);
/* Runs a program of the pipe with `words`: its output replaces *out, its messages are added to `diag` with
 * CUTE_DIAG_SARIF, else to `said`. `input` NULL: it reads files. */
cute_status cute_pipe_program_run(const cute_pipe *pipe, const char *name, const cute_words *words,
                                  const void *input, size_t length, cute_buffer *out, cute_buffer *said,
                                  cute_diag *diag);

#endif
