/* Signals. Writing where a signal would end the process: a pipe whose reader is gone, a file beyond the size that is
 * allowed. And of programs alone: what they leave when a signal ends them, which is nothing. */
#ifndef CUTE_LIB_BASE_SYSTEM_SIGNALS_H
#define CUTE_LIB_BASE_SYSTEM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* SIGPIPE and SIGXFSZ are blocked for the calling thread between hold and release; one that our own write
 * raised is taken back, so it reaches nobody, and the write fails with EPIPE or EFBIG. */
typedef struct cute_pipe_guard {
    sigset_t old, pending; /* the mask, and what was pending, before */
} cute_pipe_guard;

void cute_pipe_hold(cute_pipe_guard *guard);
void cute_pipe_release(const cute_pipe_guard *guard);

/* ---- an end by SIGINT, SIGTERM or SIGHUP ---- */

/* For programs, before they have threads: from here on these signals first end the processes that this one has begun
 * and remove its temporary files, then end the process as they would have (unless they are ignored, as by nohup). A
 * library never calls it, so a process that has only our libraries keeps its handlers, and nothing is noted. */
void cute_ending_install(void);
bool cute_ending_installed(void);

/* What is to be undone; NULL: nothing was noted (no program, or memory is exhausted), which cute_ending_forget takes. */
typedef struct cute_ending cute_ending;

/* A file, or a folder with the plain files in it, that is removed. */
cute_ending *cute_ending_note_path(const char *path);
/* A process that is sent SIGTERM and, when it has not ended a second later, SIGKILL; with `group`, all of the group that
 * it leads. */
cute_ending *cute_ending_note_process(pid_t process, bool group);
void cute_ending_forget(cute_ending *note);
/* The note of this path. */
void cute_ending_forget_path(const char *path);

/* Between these two no such signal is handled in this thread: what is made between them is noted, too. */
void cute_ending_hold(sigset_t *old);
void cute_ending_release(const sigset_t *old);

#endif
