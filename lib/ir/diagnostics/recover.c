/* See recover.h. LLVM calls the process-wide handler on the failing thread; it longjmps to the innermost
 * cute_llvm_recover of that thread, or else calls the last resort. */
#include "lib/ir/diagnostics/recover.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"

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
    if (!f) {
        void (*give_up)(const char *) = atomic_load(&last_resort);
        if (give_up) give_up(reason);
        return;
    }
    f->reason = strdup(reason);
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
    *reason = NULL;
    latest = &here;
    bool whole = setjmp(here.back) == 0;
    if (whole) body(context);
    /* Through the pointer: `here` changed after setjmp. */
    frame *f = latest;
    *reason = f->reason;
    latest = f->up;
    return whole;
}
