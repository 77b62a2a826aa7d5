/* Writing where a signal would end the process: a pipe whose reader is gone, a file beyond the size that is
 * allowed. The process's signal handlers stay as they are. */
#ifndef CUTE_LIB_SIGNALS_H
#define CUTE_LIB_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* SIGPIPE and SIGXFSZ are blocked for the calling thread between hold and release; one that our own write
 * raised is taken back, so it reaches nobody, and the write fails with EPIPE or EFBIG. */
typedef struct cute_pipe_guard {
    sigset_t old, pending; /* the mask, and what was pending, before */
} cute_pipe_guard;

void cute_pipe_hold(cute_pipe_guard *guard);
void cute_pipe_release(const cute_pipe_guard *guard);

#endif
