/* Attributes crashes to plugins. The handler is installed once a program has loaded a plugin; libraries never install it. It prints
 * one line, cleans up as other signals do, and lets the signal end the process, so that a core file shows the plugin's stack. */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/system/signals.h"
#include "lib/plugin/plugins.h"

static _Thread_local const plugin_mark *latest;
static atomic_bool guarded;
static char program_name[32], last_plugin[256];

static const struct {
    int number;
    const char *text;
} crashes[] = {{SIGSEGV, "segmentation fault"},
               {SIGBUS, "bus error"},
               {SIGFPE, "arithmetic exception"},
               {SIGILL, "illegal instruction"},
               {SIGABRT, "abort"}};
enum { CRASHES = sizeof crashes / sizeof *crashes };

void plugin_enter(plugin_mark *mark, const plugin_library *library, const char *kind, const char *name)
{
    *mark = (plugin_mark){library->path, kind, name, latest};
    latest = mark;
}

void plugin_leave(const plugin_mark *mark)
{
    latest = mark->up;
}

const plugin_mark *plugin_latest(void)
{
    return latest;
}

void plugin_restore(const plugin_mark *mark)
{
    latest = mark;
}

const char *plugin_where(char *text, size_t size)
{
    const plugin_mark *m = latest;
    if (!m) return NULL;
    snprintf(text, size, "in the %s '%s' of the plugin %s", m->kind, m->name, m->plugin);
    return text;
}

/* ---- in the handler: only async-signal-safe functions ---- */

static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

static void handle_crash(int number)
{
    const plugin_mark *m = latest;
    const char *text = "signal";
    for (int i = 0; i < CRASHES; i++)
        if (crashes[i].number == number) text = crashes[i].text;
    say(program_name);
    if (m) {
        say(": error: the plugin ");
        say(m->plugin);
        say(" crashed in the ");
        say(m->kind);
        say(" '");
        say(m->name);
    } else {
        say(": error: crashed outside of plugins; the last one that was loaded is '");
        say(last_plugin);
    }
    say("': ");
    say(text);
    say("\n");
    cute_ending_raise(number);
}

void plugin_guard(const char *program)
{
    static _Alignas(
        16) char stack[64 << 10]; /* of the handler: a plugin's recursion may have used up the thread's */
    if (!cute_ending_installed() || atomic_exchange(&guarded, true)) return;
    snprintf(program_name, sizeof program_name, "%s", program);
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack}, old;
    if (sigaltstack(NULL, &old) == 0 && old.ss_flags & SS_DISABLE) sigaltstack(&other, NULL);
    struct sigaction action = {.sa_handler = handle_crash, .sa_flags = SA_ONSTACK}, before;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < CRASHES; i++)
        if (sigaction(crashes[i].number, NULL, &before) == 0 && before.sa_handler == SIG_DFL)
            sigaction(crashes[i].number, &action, NULL);
}

void plugin_loaded(const char *path)
{
    snprintf(last_plugin, sizeof last_plugin, "%s", path);
}
