/* Running other programs: no deadlock, no signal, no descriptor left behind. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/system/process.h"
#include "tests/unit/test.h"

#define ARGV(...)                                                                                            \
    (const char *const[])                                                                                    \
    {                                                                                                        \
        __VA_ARGS__, NULL                                                                                    \
    }

static void release(cute_process *p)
{
    cute_buffer_release(&p->out);
    cute_buffer_release(&p->err);
}

static void test_both_ways(void)
{
    enum { SIZE = 1 << 20 };
    static char input[SIZE];
    for (size_t i = 0; i < SIZE; i++) input[i] = (char)(i % 251);
    cute_process p = {.argv = ARGV("sh", "-c", "tee /dev/stderr; exit 7"),
                      .input = input,
                      .input_length = SIZE,
                      .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.exit_code, 7);
    CHECK(p.out.length == SIZE && memcmp(p.out.data, input, SIZE) == 0);
    CHECK(p.err.length == SIZE && memcmp(p.err.data, input, SIZE) == 0);
    release(&p);
}

static void test_closed_input(void)
{
    static char input[1 << 20];
    cute_process p = {.argv = ARGV("sh", "-c", "exec <&-; echo done"),
                      .input = input,
                      .input_length = sizeof input,
                      .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_TEXT(cute_buffer_text(&p.out), "done\n");
    CHECK_INT(p.exit_code, 0);
    release(&p);
}

static void test_input_absent_or_empty(void)
{
    cute_process p = {.argv = ARGV("cat"), .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.out.length, 0);
    release(&p);
    p = (cute_process){.argv = ARGV("cat"), .input = "", .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.out.length, 0);
    release(&p);
}

static void test_missing(void)
{
    cute_diag *diag = cute_diag_create();
    cute_process p = {.argv = ARGV("no-such-program-anywhere", "-x")};
    CHECK_INT(cute_process_run(&p, diag), CUTE_SYSTEM);
    CHECK_TEXT(cute_diag_get(diag, 0)->text,
               "cannot run 'no-such-program-anywhere': No such file or directory");
    release(&p);
    cute_diag_clear(diag);
    p = (cute_process){.argv = ARGV("/dev/null")};
    CHECK_INT(cute_process_run(&p, diag), CUTE_SYSTEM);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "cannot run '/dev/null': Permission denied");
    release(&p);
    cute_diag_destroy(diag);
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void test_timeout(void)
{
    const char *const *stuck[] = {
        ARGV("sleep", "100"),
        ARGV("sh", "-c", "exec >&- 2>&-; sleep 100 </dev/null"), /* says nothing, but does not end */
        ARGV("sh", "-c", "sleep 3 & sleep 100"),                 /* a child of it keeps the pipes open */
    };
    for (size_t i = 0; i < 3; i++) {
        cute_diag *diag = cute_diag_create();
        cute_process p = {.argv = stuck[i], .timeout = 0.2};
        double begin = seconds();
        CHECK_INT(cute_process_run(&p, diag), CUTE_SYSTEM);
        CHECK(seconds() - begin < 2.5);
        CHECK(cute_diag_count(diag) == 1 &&
              strstr(cute_diag_get(diag, 0)->text, "did not finish within 0.2 s"));
        CHECK_INT(p.exit_code, 128 + SIGKILL);
        release(&p);
        cute_diag_destroy(diag);
    }
}

static void test_signal(void)
{
    cute_process p = {.argv = ARGV("sh", "-c", "kill -SEGV $$"), .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.exit_code, 139); /* 128 + 11 */
    release(&p);
}

static int open_descriptors(void)
{
    int count = 0;
    DIR *d = opendir("/proc/self/fd");
    while (readdir(d)) count++;
    closedir(d);
    return count;
}

static void test_descriptors(void)
{
    int before = open_descriptors();
    for (int i = 0; i < 5; i++) {
        cute_process p = {.argv = ARGV(i % 2 ? "true" : "/nonexistent"), .input = "x", .input_length = 1};
        if (cute_process_run(&p, NULL) == CUTE_OK) CHECK_INT(p.exit_code, 0);
        release(&p);
    }
    CHECK_INT(open_descriptors(), before);
}

static void test_without_standard_descriptors(void)
{
    /* As a daemon would call it: its own 0 and 2 are closed. */
    int saved0 = fcntl(0, F_DUPFD_CLOEXEC, 10), saved2 = fcntl(2, F_DUPFD_CLOEXEC, 10);
    close(0);
    close(2);
    cute_process p = {
        .argv = ARGV("sh", "-c", "cat; echo err >&2"), .input = "in", .input_length = 2, .timeout = 60};
    cute_status status = cute_process_run(&p, NULL);
    if (saved0 >= 0) dup2(saved0, 0);
    dup2(saved2, 2);
    CHECK_INT(status, CUTE_OK);
    CHECK_TEXT(cute_buffer_text(&p.out), "in");
    CHECK_TEXT(cute_buffer_text(&p.err), "err\n");
    release(&p);
}

static void test_child_signals(void)
{
    /* We ignore SIGPIPE; a pipeline in the child must still end by it. */
    void (*old)(int) = signal(SIGPIPE, SIG_IGN);
    cute_process p = {.argv = ARGV("sh", "-c", "(while :; do echo y; done; echo ignored >&2) | head -1"),
                      .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_TEXT(cute_buffer_text(&p.out), "y\n");
    CHECK_TEXT(cute_buffer_text(&p.err), "");
    release(&p);
    signal(SIGPIPE, old);
}

/* Kills, by `how`, a process that runs a program; says whether the program ends too. */
static bool program_ends(int how)
{
    int ends[2];
    char number[32] = {0};
    if (pipe(ends) != 0) return false;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    pid_t middle = fork();
    if (middle == 0) {
        cute_process p = {.argv = ARGV("sh", "-c", "echo $$ >&3; exec sleep 100"), .timeout = 60};
        dup2(ends[1], 3);
        cute_process_run(&p, NULL);
        _exit(0);
    }
    close(ends[1]);
    ssize_t got = read(ends[0], number, sizeof number - 1);
    pid_t program = got > 0 ? (pid_t)atoi(number) : 0;
    kill(middle, how);
    waitpid(middle, NULL, 0);
    /* The program held the other end of the pipe; it is closed when it has ended. */
    struct pollfd closed = {.fd = ends[0], .events = POLLIN};
    bool ended = program > 0 && poll(&closed, 1, 5000) == 1 && (closed.revents & POLLHUP);
    if (program > 0 && !ended) kill(program, SIGKILL);
    close(ends[0]);
    return ended;
}

static void test_parent_dies(void)
{
    CHECK(program_ends(SIGKILL));
    CHECK(program_ends(SIGTERM));
    CHECK(program_ends(SIGINT));
}

static volatile sig_atomic_t handled;

static void handle(int signal)
{
    (void)signal;
    handled++;
}

static void test_handlers(void)
{
    /* Handlers and the mask are ours: the program starts without either. */
    struct sigaction old, ours = {.sa_handler = handle};
    sigset_t term, before;
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    sigaction(SIGUSR1, &ours, &old);
    sigprocmask(SIG_BLOCK, &term, &before);
    cute_process p = {.argv = ARGV("sh", "-c", "kill -USR1 $$; echo alive"), .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.exit_code, 128 + SIGUSR1);
    CHECK_INT(handled, 0);
    release(&p);
    p = (cute_process){.argv = ARGV("sh", "-c", "kill -TERM $$; echo alive"), .timeout = 60};
    CHECK_INT(cute_process_run(&p, NULL), CUTE_OK);
    CHECK_INT(p.exit_code, 128 + SIGTERM);
    release(&p);
    kill(getpid(), SIGUSR1);
    CHECK_INT(handled, 1);
    sigprocmask(SIG_SETMASK, &before, NULL);
    sigaction(SIGUSR1, &old, NULL);
}

static void test_text(void)
{
    cute_arena *arena = cute_arena_create();
    CHECK_TEXT(cute_process_text(arena, ARGV("ptxas", "-arch=sm_90a", "a b", "it's", "", "$x")),
               "ptxas -arch=sm_90a 'a b' 'it'\\''s' '' '$x'");
    cute_arena_destroy(arena);
}

int main(void)
{
    TEST("a megabyte goes in and comes out of both pipes without a deadlock", test_both_ways);
    TEST("a program that does not read its input is no error", test_closed_input);
    TEST("no input and empty input both end at once", test_input_absent_or_empty);
    TEST("a program that cannot be started is named with the reason", test_missing);
    TEST("a program that hangs is stopped in time", test_timeout);
    TEST("death by a signal is 128 and its number", test_signal);
    TEST("no descriptor is left open", test_descriptors);
    TEST("it works where the caller's own standard descriptors are closed",
         test_without_standard_descriptors);
    TEST("the program gets the default action of SIGPIPE", test_child_signals);
    TEST("when the process is killed its program ends with it", test_parent_dies);
    TEST("the program has none of our handlers and nothing blocked", test_handlers);
    TEST("a command line is shown as a shell would take it", test_text);
    return test_finish();
}
