/* Running another program: spawn, feed and drain its three pipes at once, wait. */
#include "lib/base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/signals.h"

extern char **environ;

typedef struct ends {
    int ours, theirs;
} ends;

static void close_fd(int *fd)
{
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* Both ends at descriptor 3 or above: with 0, 1 or 2 closed in this process, a pipe end could otherwise be
 * overwritten by the dup2 of another. */
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

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static int spawn(const cute_process *process, const ends pipes[3], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    int error = posix_spawn_file_actions_init(&actions);
    if (error) return error;
    if ((error = posix_spawnattr_init(&attributes)) != 0) {
        posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    if (process->input)
        error = posix_spawn_file_actions_adddup2(&actions, pipes[0].theirs, 0);
    else
        error = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    for (int i = 1; i < 3 && !error; i++)
        error = posix_spawn_file_actions_adddup2(&actions, pipes[i].theirs, i);
    /* The program sees SIGPIPE as a shell would give it, whatever our caller did to it. */
    sigset_t none, pipe;
    sigemptyset(&none);
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &pipe);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    if (!error)
        error =
            posix_spawnp(pid, process->argv[0], &actions, &attributes, (char *const *)process->argv, environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads what there is; closes the descriptor at its end. */
static void drain(int *fd, cute_buffer *out)
{
    char block[64 << 10];
    ssize_t got = read(*fd, block, sizeof block);
    if (got > 0)
        cute_buffer_append(out, block, (size_t)got);
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
        close_fd(fd);
}

/* Writes what fits; closes the descriptor when all is written or nobody reads. */
static void feed(int *fd, const cute_process *process, size_t *done)
{
    ssize_t put = write(*fd, (const char *)process->input + *done, process->input_length - *done);
    if (put >= 0) *done += (size_t)put;
    if (*done == process->input_length || (put < 0 && errno != EAGAIN && errno != EINTR)) close_fd(fd);
}

/* True when all pipes reached their end before `deadline` (0: none). */
static bool exchange(cute_process *process, ends pipes[3], double deadline)
{
    size_t done = 0;
    if (pipes[0].ours >= 0 && process->input_length == 0) close_fd(&pipes[0].ours);
    while (pipes[0].ours >= 0 || pipes[1].ours >= 0 || pipes[2].ours >= 0) {
        int wait = -1;
        if (deadline > 0) {
            double left = deadline - now();
            if (left <= 0) return false;
            wait = left > 3600 ? 3600 * 1000 : (int)(left * 1000) + 1;
        }
        struct pollfd polled[3];
        for (int i = 0; i < 3; i++)
            polled[i] = (struct pollfd){.fd = pipes[i].ours, .events = i ? POLLIN : POLLOUT};
        if (poll(polled, 3, wait) <= 0) continue;
        if (polled[0].revents) feed(&pipes[0].ours, process, &done);
        if (polled[1].revents) drain(&pipes[1].ours, &process->out);
        if (polled[2].revents) drain(&pipes[2].ours, &process->err);
    }
    return true;
}

/* True when the program ended before `deadline` (0: none). */
static bool wait_until(pid_t pid, double deadline, int *state)
{
    for (long pause = 100000; deadline > 0; pause = pause < 20000000 ? pause * 2 : pause) {
        pid_t ended = waitpid(pid, state, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR)) return true;
        if (now() >= deadline) return false;
        nanosleep(&(struct timespec){.tv_nsec = pause}, NULL);
    }
    while (waitpid(pid, state, 0) < 0 && errno == EINTR) {
    }
    return true;
}

cute_status cute_process_run(cute_process *process, cute_diag *diag)
{
    const char *name = process->argv[0];
    ends pipes[3] = {{-1, -1}, {-1, -1}, {-1, -1}};
    pid_t pid = -1;
    int error = 0, state = 0;
    bool in_time = true;
    double deadline = process->timeout > 0 ? now() + process->timeout : 0;
    for (int i = 0; i < 3 && !error; i++)
        if (i || process->input) error = open_pipe(&pipes[i], i == 0);
    if (!error) error = spawn(process, pipes, &pid);
    for (int i = 0; i < 3; i++) close_fd(&pipes[i].theirs);
    if (!error) {
        cute_pipe_guard guard;
        cute_pipe_hold(&guard);
        in_time = exchange(process, pipes, deadline) && wait_until(pid, deadline, &state);
        cute_pipe_release(&guard);
        if (!in_time) {
            kill(pid, SIGKILL);
            wait_until(pid, 0, &state);
        }
    }
    for (int i = 0; i < 3; i++) close_fd(&pipes[i].ours);
    if (error) return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot run '%s': %s", name, strerror(error));
    process->exit_code = WIFSIGNALED(state) ? 128 + WTERMSIG(state) : WEXITSTATUS(state);
    if (!in_time)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "'%s' did not finish within %g s and was stopped", name,
                         process->timeout);
    if (!cute_buffer_ok(&process->out) || !cute_buffer_ok(&process->err)) return cute_fail_memory(diag);
    return CUTE_OK;
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
