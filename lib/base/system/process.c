/* Runs another program: starts it, serves its three pipes, waits. */
#include "lib/base/system/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/diagnostics/log.h"
#include "lib/base/list.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/signals.h"

typedef struct ends {
    int ours, theirs;
} ends;

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Both ends get descriptors of 3 or above: if this process has closed 0, 1 or 2, dup2 could otherwise
 * overwrite a pipe end. */
static int open_pipe(ends *pipe, bool we_write)
{
    int fds[2];
    if (pipe2(fds, O_CLOEXEC) != 0) return errno;
    int error = 0;
    for (int i = 0; i < 2; i++) {
        if (fds[i] > STDERR_FILENO) continue;
        int moved = fcntl(fds[i], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (moved < 0) error = errno;
        close(fds[i]);
        fds[i] = moved;
    }
    *pipe = (ends){.ours = fds[we_write], .theirs = fds[!we_write]};
    if (!error && fcntl(pipe->ours, F_SETFL, O_NONBLOCK) != 0) error = errno;
    return error;
}

/* Input and result of the child, which runs in this process's memory until exec. */
typedef struct start {
    const cute_process *process;
    bool leads; /* its own process group, so that a signal that ends us reaches all of its processes */
    const ends *pipes;
    pid_t parent;
    volatile int error; /* errno of the child's failure; volatile, as the child writes it */
} start;

/* Signal handlers must not run in the child. Ignored signals stay ignored, except SIGPIPE, which gets the
 * default action as in a shell. */
static void default_signals(void)
{
    for (int number = 1; number < NSIG; number++) {
        struct sigaction action;
        if (sigaction(number, NULL, &action) != 0 || action.sa_handler == SIG_DFL) continue;
        if (action.sa_handler == SIG_IGN && number != SIGPIPE) continue;
        action = (struct sigaction){.sa_handler = SIG_DFL};
        sigaction(number, &action, NULL);
    }
}

static bool connect_pipes(const start *s)
{
    int input = s->process->input ? s->pipes[0].theirs : open("/dev/null", O_RDONLY);
    if (input < 0 || (input != STDIN_FILENO && dup2(input, STDIN_FILENO) < 0)) return false;
    if (input != STDIN_FILENO && !s->process->input) close(input);
    return dup2(s->pipes[1].theirs, STDOUT_FILENO) >= 0 && dup2(s->pipes[2].theirs, STDERR_FILENO) >= 0;
}

static bool inherit_descriptors(const cute_process *process)
{
    for (size_t i = 0; i < process->inherited_count; i++)
        if (fcntl(process->inherited[i], F_SETFD, 0) != 0) return false;
    return true;
}

/* The kernel kills the program if the thread that started it ends. That thread waits in cute_process_run, so
 * this happens only when the whole process ends. A parent that ended before the request is detected by its
 * process ID. */
static _Noreturn void become_program(start *s)
{
    sigset_t none;
    sigemptyset(&none);
    default_signals();
    if (s->leads) setpgid(0, 0);
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == s->parent && connect_pipes(s) &&
        inherit_descriptors(s->process)) {
        sigprocmask(SIG_SETMASK, &none, NULL);
        execvp(s->process->argv[0], (char *const *)s->process->argv);
    }
    s->error = errno;
    _exit(127);
}

/* vfork(), because posix_spawn() cannot request a signal on the parent's death. Signals are blocked so that
 * no handler runs in memory shared by two processes. */
static int spawn(const cute_process *process, const ends pipes[3], pid_t *pid, cute_ending **note)
{
    start s = {.process = process, .pipes = pipes, .parent = getpid(), .leads = cute_ending_installed()};
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pid_t child = vfork();
    if (child == 0) become_program(&s);
    int error = child < 0 ? errno : s.error;
    *note = error ? NULL : cute_ending_note_process(child, s.leads);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (child > 0 && error) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    *pid = child;
    return error;
}

/* Reads the available bytes; closes the descriptor at its end. */
static void drain_pipe(int *fd, cute_buffer *out)
{
    char block[64 << 10];
    ssize_t got = read(*fd, block, sizeof block);
    if (got > 0)
        cute_buffer_append(out, block, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
}

/* Writes as much as fits; closes the descriptor when all is written or the reader is gone. */
static void feed_pipe(int *fd, const cute_process *process, size_t *done)
{
    ssize_t put = write(*fd, (const char *)process->input + *done, process->input_length - *done);
    if (put >= 0) *done += (size_t)put;
    if (*done == process->input_length || (put < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

/* True if all pipes reached their end before `deadline` (0: none). */
static bool exchange_pipes(cute_process *process, ends pipes[3], double deadline)
{
    size_t done = 0;
    if (pipes[0].ours >= 0 && process->input_length == 0) close_fd(&pipes[0].ours);
    while (pipes[0].ours >= 0 || pipes[1].ours >= 0 || pipes[2].ours >= 0) {
        int wait = -1;
        if (deadline > 0) {
            double left = deadline - cute_clock();
            if (left <= 0) return false;
            wait = left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1;
        }
        struct pollfd polled[3];
        for (int i = 0; i < 3; i++)
            polled[i] = (struct pollfd){.fd = pipes[i].ours, .events = i ? POLLIN : POLLOUT};
        if (poll(polled, 3, wait) <= 0) continue;
        if (polled[0].revents) feed_pipe(&pipes[0].ours, process, &done);
        if (polled[1].revents) drain_pipe(&pipes[1].ours, &process->out);
        if (polled[2].revents) drain_pipe(&pipes[2].ours, &process->err);
    }
    return true;
}

/* True if the program ended before `deadline` (0: none); it is not yet reaped. */
static bool wait_until(pid_t pid, double deadline)
{
    siginfo_t info = {0};
    for (long pause = 100000; deadline > 0; pause = pause < 20000000 ? pause * 2 : pause) {
        int failed = waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG);
        if ((failed && errno != EINTR) || info.si_pid == pid) return true;
        if (cute_clock() >= deadline) return false;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    return true;
}

/* The note is dropped first: after the wait, the process ID may be reused. */
static void reap_process(pid_t pid, cute_ending *note, int *state)
{
    cute_ending_forget(note);
    while (waitpid(pid, state, 0) < 0 && errno == EINTR) {
    }
}

static void log_start(const cute_process *process)
{
    cute_arena *arena = cute_log_get() >= CUTE_LOG_INFO ? cute_arena_create() : NULL;
    if (arena) cute_log(CUTE_LOG_INFO, "runs %s", cute_process_text(arena, process->argv));
    cute_arena_destroy(arena);
}

cute_status cute_process_run(cute_process *process, cute_diag *diag)
{
    const char *name = process->argv[0];
    ends pipes[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
    pid_t pid = -1;
    cute_ending *note = NULL;
    int error = 0, state = 0;
    bool in_time = true;
    double begin = cute_clock(), deadline = process->timeout > 0 ? begin + process->timeout : 0;
    log_start(process);
    for (int i = 0; i < 3 && !error; i++)
        if (i || process->input) error = open_pipe(&pipes[i], i == 0);
    if (!error) error = spawn(process, pipes, &pid, &note);
    for (int i = 0; i < 3; i++) close_fd(&pipes[i].theirs);
    if (!error) {
        cute_pipe_guard guard;
        cute_pipe_hold(&guard);
        in_time = exchange_pipes(process, pipes, deadline) && wait_until(pid, deadline);
        cute_pipe_release(&guard);
        if (!in_time) kill(note ? -pid : pid, SIGKILL);
        reap_process(pid, note, &state);
    }
    for (int i = 0; i < 3; i++) close_fd(&pipes[i].ours);
    if (error) return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot run '%s': %s", name, strerror(error));
    process->exit_code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    cute_log(CUTE_LOG_INFO, "'%s' took %.1f ms, exit code %d", name, 1e3 * (cute_clock() - begin),
             process->exit_code);
    if (!in_time)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "'%s' did not finish within %g s and was stopped", name,
                         process->timeout);
    if (!cute_buffer_ok(&process->out) || !cute_buffer_ok(&process->err)) return cute_fail_memory(diag);
    return CUTE_OK;
}

void cute_words_add(cute_words *w, const char *word)
{
    if (!word || !cute_arena_more(w->arena, &w->items, w->count + (w->capacity > 0), &w->capacity,
                                  sizeof *w->items, 32)) {
        w->failed = true;
        return;
    }
    w->items[w->count++] = word;
    w->items[w->count] = NULL;
}

const char *cute_process_text(cute_arena *arena, const char *const *argv)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%^";
    cute_buffer text = {0};
    for (size_t i = 0; argv[i]; i++) {
        const char *word = argv[i];
        if (i) cute_buffer_putc(&text, ' ');
        if (*word && word[strspn(word, plain)] == 0) {
            cute_buffer_puts(&text, word);
            continue;
        }
        cute_buffer_putc(&text, '\'');
        for (; *word; word++)
            if (*word == '\'')
                cute_buffer_puts(&text, "'\\''");
            else
                cute_buffer_putc(&text, *word);
        cute_buffer_putc(&text, '\'');
    }
    const char *copy =
        cute_buffer_ok(&text) ? cute_arena_copy(arena, cute_buffer_text(&text), text.length) : NULL;
    cute_buffer_release(&text);
    return copy ? copy : argv[0];
}
