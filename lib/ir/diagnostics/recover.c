/* See recover.h. LLVM calls the process-wide handler on the failing thread; it longjmps to the innermost
 * cute_llvm_recover of that thread, or else calls the last resort. */
#include "lib/ir/diagnostics/recover.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"
#include "lib/plugin/plugins.h"

typedef struct frame {
    struct frame *up;
    jmp_buf back;
    char *reason;
} frame;

static _Thread_local frame *latest;
static _Atomic(void (*)(const char *)) last_resort;

static void handle_fatal_error(const char *reason)
{
    frame *f = latest;
    char whole[1024], place[512];
    const char *where = plugin_where(place, sizeof place);
    snprintf(whole, sizeof whole, "%s%s%s", reason, where ? ", " : "", where ? where : "");
    if (!f) {
        void (*give_up)(const char *) = atomic_load(&last_resort);
        if (give_up) give_up(whole);
        return;
    }
    f->reason = strdup(where ? whole : reason);
    longjmp(f->back, 1);
}

static void install_fatal_handler(void)
{
    cute_llvm_on_fatal(handle_fatal_error);
}

static void install_fatal_handler_once(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install_fatal_handler);
}

void cute_llvm_last_resort(void (*give_up)(const char *reason))
{
    install_fatal_handler_once();
    atomic_store(&last_resort, give_up);
}

bool cute_llvm_recover(void (*body)(void *context), void *context, char **reason)
{
    install_fatal_handler_once();
    frame here = {.up = latest};
    const plugin_mark *volatile mark = plugin_latest();
    *reason = NULL;
    latest = &here;
    bool whole = setjmp(here.back) == 0;
    if (whole)
        body(context);
    else
        plugin_restore(mark);
    /* Through the pointer: `here` changed after setjmp. */
    frame *f = latest;
    *reason = f->reason;
    latest = f->up;
    return whole;
}
