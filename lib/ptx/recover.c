/* See recover.h. LLVM calls one handler for the process, on the thread that failed; it jumps back to the
 * latest cute_llvm_recover of that thread. On a thread without one LLVM ends the process as ever. */
#include "lib/ptx/recover.h"

#include <pthread.h>
#include <setjmp.h>
#include <string.h>

#include "lib/ptx/llvmlink.h"

typedef struct frame {
    struct frame *up;
    jmp_buf back;
    char *reason;
} frame;

static _Thread_local frame *latest;

static void failed(const char *reason)
{
    frame *f = latest;
    if (!f) return;
    f->reason = strdup(reason);
    longjmp(f->back, 1);
}

static void install(void)
{
    cute_llvm_on_fatal(failed);
}

bool cute_llvm_recover(void (*body)(void *context), void *context, char **reason)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, install);
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
