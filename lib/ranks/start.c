/* Starts one process for each rank, and ends those that are left when one fails. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/system/clock.h"
#include "lib/base/system/signals.h"
#include "lib/ranks/ranks.h"

typedef struct started {
    pid_t process; /* 0: has ended */
    cute_ending *note;
    bool killed; /* by this process */
} started;

/* In the child. The kernel kills it if the parent ends. */
static _Noreturn void become_rank(const char *const *argv, int rank, int size, const char *address,
                                  pid_t parent)
{
    char number[16];
    sigset_t none;
    sigemptyset(&none);
    snprintf(number, sizeof number, "%d", rank);
    setenv("CUTE_RANK", number, 1);
    snprintf(number, sizeof number, "%d", size);
    setenv("CUTE_RANKS", number, 1);
    setenv("CUTE_RANKS_ADDRESS", address, 1);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execv(argv[0], (char *const *)argv);
    }
    _exit(CUTE_SYSTEM);
}

static void kill_rank(started *s)
{
    if (!s->process || s->killed) return;
    s->killed = true;
    kill(s->process, SIGKILL);
}

/* Reaps the ranks that have ended; returns how many are left. The first that failed is kept; one that a
 * signal ended replaces one that returned an error, for its peers may see that it is gone, and end, before
 * its parent can reap it. */
static int reap_ranks(started *all, int size, int *code, int *first, int *signal_number)
{
    int left = 0;
    for (int i = 0; i < size; i++) {
        int status;
        if (!all[i].process) continue;
        if (waitpid(all[i].process, &status, WNOHANG) != all[i].process) {
            left++;
            continue;
        }
        cute_ending_forget(all[i].note);
        all[i].process = 0;
        int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        int failed = number ? 128 + number : WEXITSTATUS(status);
        if (!failed || all[i].killed || (*code && (!number || *signal_number))) continue;
        *first = i;
        *signal_number = number;
        *code = failed;
    }
    return left;
}

static int wait_for_ranks(started *all, int size, double grace, cute_diag *diag)
{
    int code = 0, first = -1, number = 0, killed = 0;
    double failed = 0;
    while (reap_ranks(all, size, &code, &first, &number)) {
        usleep(2000);
        if (!code) continue;
        if (failed == 0) failed = cute_clock();
        if (cute_clock() - failed < grace) continue;
        for (int i = 0; i < size; i++) {
            killed += all[i].process && !all[i].killed;
            kill_rank(&all[i]);
        }
    }
    if (number)
        cute_report(diag, CUTE_ERROR, NULL, "rank %d was ended by signal %d (%s)", first, number,
                    strsignal(number));
    if (killed)
        cute_report(diag, CUTE_ERROR, NULL,
                    "%d rank%s did not end within %g s after rank %d failed, and %s killed", killed,
                    killed > 1 ? "s" : "", grace, first, killed > 1 ? "were" : "was");
    return code;
}

cute_status cute_ranks_start(const char *const *argv, int size, double grace, int *code, cute_diag *diag)
{
    char address[RANKS_ADDRESS];
    pid_t parent = getpid();
    int count = 0, error = 0;
    started *all = calloc((size_t)size, sizeof *all);
    if (!all) return cute_fail_memory(diag);
    snprintf(address, sizeof address, "unix:cute-ranks-%u-%ld-%lx", (unsigned)getuid(), (long)parent,
             (unsigned long)(cute_clock() * 1e6));
    fflush(NULL);
    for (; count < size && !error; count++) {
        sigset_t held;
        cute_ending_hold(&held);
        pid_t child = fork();
        if (child == 0) become_rank(argv, count, size, address, parent);
        error = child < 0 ? errno : 0;
        all[count].process = child > 0 ? child : 0;
        all[count].note = child > 0 ? cute_ending_note_process(child, false) : NULL;
        cute_ending_release(&held);
    }
    for (int i = 0; error && i < count; i++) kill_rank(&all[i]);
    *code = wait_for_ranks(all, count, grace, diag);
    free(all);
    return error ? cute_fail(diag, CUTE_SYSTEM, NULL, "cannot start rank %d: %s", count - 1, strerror(error))
                 : CUTE_OK;
}
