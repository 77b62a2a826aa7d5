/* Cleans up when a signal ends the program. The notes are process-wide state, kept only after a program has
 * installed the handler (see signals.h). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/system/signals.h"

static const int endings[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDINGS = sizeof endings / sizeof *endings };

typedef enum note_kind { NOTE_FREE, NOTE_TAKEN, NOTE_PATH, NOTE_PROCESS, NOTE_GROUP } note_kind;

/* Reused, but never freed: the handler may be reading them. */
struct cute_ending {
    struct cute_ending *next;
    _Atomic int kind;
    pid_t owner; /* a forked process inherits the notes, and must not act on them */
    pid_t process;
    char path[PATH_MAX];
};

static cute_ending *_Atomic notes;
static atomic_bool installed, ending;

/* ---- in the handler: only async-signal-safe functions, and getdents64 ---- */

/* Removes a file, or a folder's regular files and the folder. */
static void remove_path(const char *path)
{
    _Alignas(struct dirent64) char block[4096];
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) {
        unlink(path);
        return;
    }
    for (ssize_t got; (got = getdents64(folder, block, sizeof block)) > 0;)
        for (ssize_t at = 0; at < got;) {
            const struct dirent64 *entry = (const struct dirent64 *)(block + at);
            if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
                unlinkat(folder, entry->d_name, 0);
            at += entry->d_reclen;
        }
    close(folder);
    rmdir(path);
}

static void send_signal(const cute_ending *note, int number)
{
    kill(atomic_load(&note->kind) == NOTE_GROUP ? -note->process : note->process, number);
}

static bool is_process(const cute_ending *note)
{
    int kind = atomic_load(&note->kind);
    return (kind == NOTE_PROCESS || kind == NOTE_GROUP) && note->owner == getpid();
}

/* Signals all processes, then waits up to a second for all together. A process reaped elsewhere has ended. */
static void end_processes(void)
{
    for (const cute_ending *n = atomic_load(&notes); n; n = n->next)
        if (is_process(n)) send_signal(n, SIGTERM);
    for (int round = 0; round < 1000; round++) {
        bool any = false;
        for (const cute_ending *n = atomic_load(&notes); n; n = n->next)
            any = any || (is_process(n) && waitpid(n->process, NULL, WNOHANG) == 0);
        if (!any) break;
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    }
    /* Including processes that a group's leader has left running. */
    for (const cute_ending *n = atomic_load(&notes); n; n = n->next)
        if (is_process(n) && (atomic_load(&n->kind) == NOTE_GROUP || waitpid(n->process, NULL, WNOHANG) == 0))
            send_signal(n, SIGKILL);
}

static void clean_up(void)
{
    if (atomic_exchange(&ending, true))
        for (;;) pause(); /* another thread is in the handler */
    end_processes();
    for (const cute_ending *n = atomic_load(&notes); n; n = n->next)
        if (atomic_load(&n->kind) == NOTE_PATH && n->owner == getpid()) remove_path(n->path);
}

void cute_ending_raise(int number)
{
    sigset_t raised;
    clean_up();
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&raised);
    sigaddset(&raised, number);
    sigprocmask(SIG_UNBLOCK, &raised, NULL);
}

/* ---- outside the handler ---- */

void cute_ending_install(void)
{
    struct sigaction action = {.sa_handler = cute_ending_raise, .sa_flags = SA_RESTART}, old;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < ENDINGS; i++) sigaddset(&action.sa_mask, endings[i]);
    for (int i = 0; i < ENDINGS; i++)
        if (sigaction(endings[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(endings[i], &action, NULL);
    atomic_store(&installed, true);
}

bool cute_ending_installed(void)
{
    return atomic_load(&installed);
}

void cute_ending_hold(sigset_t *old)
{
    sigset_t ours;
    sigemptyset(&ours);
    for (int i = 0; i < ENDINGS && atomic_load(&installed); i++) sigaddset(&ours, endings[i]);
    pthread_sigmask(SIG_BLOCK, &ours, old);
}

void cute_ending_release(const sigset_t *old)
{
    pthread_sigmask(SIG_SETMASK, old, NULL);
}

static cute_ending *take_note(void)
{
    if (!atomic_load(&installed)) return NULL;
    for (cute_ending *n = atomic_load(&notes); n; n = n->next) {
        int free_kind = NOTE_FREE;
        if (atomic_compare_exchange_strong(&n->kind, &free_kind, NOTE_TAKEN)) return n;
    }
    cute_ending *note = calloc(1, sizeof *note);
    if (!note) return NULL;
    atomic_init(&note->kind, NOTE_TAKEN);
    note->next = atomic_load(&notes);
    while (!atomic_compare_exchange_weak(&notes, &note->next, note)) {
    }
    return note;
}

static cute_ending *publish_note(cute_ending *note, note_kind kind)
{
    note->owner = getpid();
    atomic_store(&note->kind, kind);
    return note;
}

cute_ending *cute_ending_note_path(const char *path)
{
    size_t length = strlen(path);
    cute_ending *note = length < PATH_MAX ? take_note() : NULL;
    if (!note) return NULL;
    memcpy(note->path, path, length + 1);
    return publish_note(note, NOTE_PATH);
}

cute_ending *cute_ending_note_process(pid_t process, bool group)
{
    cute_ending *note = take_note();
    if (!note) return NULL;
    note->process = process;
    return publish_note(note, group ? NOTE_GROUP : NOTE_PROCESS);
}

void cute_ending_forget(cute_ending *note)
{
    if (note) atomic_store(&note->kind, NOTE_FREE);
}

void cute_ending_forget_path(const char *path)
{
    for (cute_ending *n = atomic_load(&notes); n; n = n->next)
        if (atomic_load(&n->kind) == NOTE_PATH && n->owner == getpid() && strcmp(n->path, path) == 0)
            cute_ending_forget(n);
}
