/* Signals: writing without SIGPIPE and SIGXFSZ, and cleanup of a program ended by a signal. */
#ifndef CUTE_LIB_BASE_SYSTEM_SIGNALS_H
#define CUTE_LIB_BASE_SYSTEM_SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/* Between hold and release, SIGPIPE and SIGXFSZ are blocked for the calling thread, and one raised by its own
 * write is discarded; the write fails with EPIPE or EFBIG instead. */
typedef struct cute_pipe_guard {
    sigset_t old, pending; /* the mask and the pending signals before */
} cute_pipe_guard;

void cute_pipe_hold(cute_pipe_guard *guard);
void cute_pipe_release(const cute_pipe_guard *guard);

/* ---- termination by SIGINT, SIGTERM or SIGHUP ---- */

/* For programs, before they start threads: from now on these signals (unless ignored, as by nohup) end the
 * child processes and remove temporary files before they end the process. Libraries never call it, so the
 * handlers of a host process are unchanged, and nothing is noted. */
void cute_ending_install(void);
bool cute_ending_installed(void);
/* The same for the handler of another signal: cleans up, and ends the process by `number`. Async-signal-safe. */
void cute_ending_raise(int number);

/* A cleanup action; NULL: not noted (no program, or out of memory); cute_ending_forget accepts NULL. */
typedef struct cute_ending cute_ending;

/* Notes a file, or a folder and its regular files, for removal. */
cute_ending *cute_ending_note_path(const char *path);
/* Notes a process that gets SIGTERM and, after a second, SIGKILL; with `group`, its whole process group. */
cute_ending *cute_ending_note_process(pid_t process, bool group);
void cute_ending_forget(cute_ending *note);
/* Drops the note of this path. */
void cute_ending_forget_path(const char *path);

/* Blocks these signals in this thread in between, so that a resource is created and noted atomically. */
void cute_ending_hold(sigset_t *old);
void cute_ending_release(const sigset_t *old);

#endif
