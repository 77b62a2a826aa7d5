/* Runs another program, without a shell. */
#ifndef CUTE_LIB_BASE_SYSTEM_PROCESS_H
#define CUTE_LIB_BASE_SYSTEM_PROCESS_H

#include "lib/base/buffer.h"

typedef struct cute_process {
    const char *const *argv; /* NULL-terminated; argv[0] is a path, or a name to search on PATH */
    const void *input;       /* its standard input; NULL: /dev/null */
    size_t input_length;
    const int *inherited; /* descriptors that it inherits; all others are closed on exec */
    size_t inherited_count;
    double timeout; /* seconds, 0: none; on timeout it is killed and the call fails */
    /* results */
    int exit_code;        /* 128 + signal if killed by a signal */
    cute_buffer out, err; /* released by the caller, also after a failure */
} cute_process;

/* CUTE_SYSTEM if it could not be started or timed out; a non-zero exit code is not a failure. */
cute_status cute_process_run(cute_process *process, cute_diag *diag);
/* A command line under construction. {.arena = ...} is empty; words are not copied. */
typedef struct cute_words {
    cute_arena *arena;
    const char **items; /* NULL-terminated */
    size_t count, capacity;
    bool failed; /* out of memory; adding NULL counts as that, too */
} cute_words;
void cute_words_add(cute_words *words, const char *word);

/* argv as typed in a shell, for messages and --verbose; in `arena`. */
const char *cute_process_text(cute_arena *arena, const char *const *argv);

#endif
