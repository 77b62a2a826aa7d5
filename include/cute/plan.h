/* Runs the launches of host functions from any program, on its own device, memory and stream: no child process is created. A
 * launch.json with "plan" and "buffers" describes them, with the shapes of the tensors; their contents and checks are ignored.
 *
 * A host function may need temporaries, device memory beside its arguments (cute.temporary): one workspace has all of
 * them. Nothing is kept in it between runs: temporaries with an initial value are filled at the start of each. */
#ifndef CUTE_PLAN_H
#define CUTE_PLAN_H

#include "cute/cubin.h"
#include "cute/device.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_plan_options {
    size_t size;
    const char *const *defines; /* "NAME=VALUE", override params */
    size_t define_count;
    int64_t multiprocessors;  /* the value of `sms`; 0: the device's */
    const char *label;        /* names the launch.json in messages; NULL: "<plan>" */
    const char *module_label; /* the module; NULL: "<image>" */
} cute_plan_options;

/* Used by one thread at a time, as its device is. */
typedef struct cute_plan_runner cute_plan_runner;

/* Evaluates the plans of the launch.json `text`, and loads the module. `device` NULL: only for cute_plan_workspace. The
 * module and device must outlive it. CUTE_INVALID: an error in the launch.json, or arguments that a host function does not
 * accept, such as sizes beyond 64 bits; the message names it. */
CUTE_API cute_status cute_plan_open(cute_device *device, const cute_module *module, const char *text,
                                    size_t length, const cute_plan_options *options, cute_plan_runner **out,
                                    cute_diag *diag);
/* NULL is allowed. Its work must have completed. */
CUTE_API void cute_plan_close(cute_plan_runner *runner);

/* Bytes of all temporaries, each aligned to 256 bytes: the named ones of the launch.json first; those of host functions that
 * run one after the other share memory.
 * 0: no workspace is needed. */
CUTE_API size_t cute_plan_workspace(const cute_plan_runner *runner);
/* Bytes of temporary `index` in the workspace, and their offset. CUTE_USAGE: there is no such temporary. */
CUTE_API cute_status cute_plan_temporary(const cute_plan_runner *runner, size_t index, size_t *offset,
                                         size_t *bytes, cute_diag *diag);

/* The memory of buffer `name`; it stays set for later runs. CUTE_USAGE: there is no such buffer, or the address is not a
 * multiple of the size of an element. */
CUTE_API cute_status cute_plan_set_buffer(cute_plan_runner *runner, const char *name, cute_address address,
                                          cute_diag *diag);
/* The memory of the temporaries, cute_plan_workspace bytes; its contents are ignored. It may be used for anything else while
 * no run is in progress. CUTE_USAGE: it is not aligned to 256 bytes. */
CUTE_API cute_status cute_plan_set_workspace(cute_plan_runner *runner, cute_address address, cute_diag *diag);

/* Starts the launches, copies and fills on a stream (NULL: the device's default stream); does not wait on a GPU. Steps that name
 * streams run on streams of the plan, after earlier work of `stream` and before its later work. CUTE_USAGE: a buffer or the
 * workspace is not set, or there is no device. */
CUTE_API cute_status cute_plan_start(cute_plan_runner *runner, cute_stream *stream, cute_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
