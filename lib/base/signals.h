/* Writing to a pipe whose reader may be gone, without touching the process's signal handlers. */
#ifndef CUTE_LIB_SIGNALS_H
#define CUTE_LIB_SIGNALS_H

#include <signal.h>
#include <stdbool.h>

/* SIGPIPE is blocked for the calling thread between hold and release; one that our own write raised is taken
 * back, so it reaches nobody. */
typedef struct cute_pipe_guard {
    sigset_t old;
    bool was_pending;
} cute_pipe_guard;

void cute_pipe_hold(cute_pipe_guard *guard);
void cute_pipe_release(const cute_pipe_guard *guard);

#endif
