/* The guard against SIGPIPE; see signals.h. */
#include "lib/base/signals.h"

#include <errno.h>
#include <time.h>

void cute_pipe_hold(cute_pipe_guard *guard)
{
    sigset_t pending, pipe;
    sigpending(&pending);
    guard->was_pending = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, &guard->old);
}

void cute_pipe_release(const cute_pipe_guard *guard)
{
    sigset_t pending, pipe;
    sigpending(&pending);
    if (!guard->was_pending && sigismember(&pending, SIGPIPE) == 1) {
        const struct timespec now = {0};
        sigemptyset(&pipe);
        sigaddset(&pipe, SIGPIPE);
        while (sigtimedwait(&pipe, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &guard->old, NULL);
}
