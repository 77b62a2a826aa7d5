/* The guard against SIGPIPE and SIGXFSZ; see signals.h. */
#include "lib/base/system/signals.h"

#include <errno.h>
#include <time.h>

static const int guarded[] = {SIGPIPE, SIGXFSZ};
enum { GUARDED = sizeof guarded / sizeof *guarded };

void cute_pipe_hold(cute_pipe_guard *guard)
{
    sigset_t ours;
    sigpending(&guard->pending);
    sigemptyset(&ours);
    for (int i = 0; i < GUARDED; i++) sigaddset(&ours, guarded[i]);
    pthread_sigmask(SIG_BLOCK, &ours, &guard->old);
}

void cute_pipe_release(const cute_pipe_guard *guard)
{
    sigset_t pending, raised;
    sigpending(&pending);
    for (int i = 0; i < GUARDED; i++) {
        if (sigismember(&guard->pending, guarded[i]) == 1 || sigismember(&pending, guarded[i]) != 1) continue;
        const struct timespec now = {0};
        sigemptyset(&raised);
        sigaddset(&raised, guarded[i]);
        while (sigtimedwait(&raised, NULL, &now) < 0 && errno == EINTR) {
        }
    }
    pthread_sigmask(SIG_SETMASK, &guard->old, NULL);
}
