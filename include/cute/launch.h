/* Launches as launch.json describes them: planned against a module, carried out on a device, checked and
 * timed. */
#ifndef CUTE_LAUNCH_H
#define CUTE_LAUNCH_H

#include "cute/base.h"
#include "cute/cubin.h"
#include "cute/device.h"
#include "cute/emulator_options.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cute_launch cute_launch;

typedef enum cute_bench_mode {
    CUTE_BENCH_AS_CONFIGURED,
    CUTE_BENCH_ALWAYS,
    CUTE_BENCH_NEVER
} cute_bench_mode;

/* `size` is sizeof(cute_launch_options); zeros elsewhere are good defaults. What pointers point to is only read during
 * cute_launch_open, but output_folder lives as the launch. */
typedef struct cute_launch_options {
    size_t size;
    const char *const *defines; /* "NAME=VALUE", overriding params */
    size_t define_count;
    const char *kernel; /* instead of the config's */
    bool has_seed;
    int64_t seed;
    double
        timeout; /* seconds that a launch may take; 0: the config's; without one 30 on a GPU, on the emulator 30 in
                       which nothing is written */
    const char *device; /* a name for cute_device_open; NULL: any */
    const cute_emulator_options
        *emulator;            /* NULL: the defaults. Checks and counters mean the emulator, whatever
                                              `device` says; its heartbeat and times are the launch's own */
    const char *module_label; /* where faults of the emulator are said to be; NULL: "<image>" */
    cute_bench_mode bench;
    bool no_check;
    bool dry_run;              /* plan for the module's architecture; cute_launch_run is not wanted */
    bool in_process;           /* run in this process, for a program with threads: see cute_launch_run */
    bool stdout_is_data;       /* what kernels print goes to stderr */
    const char *output_folder; /* where outputs are written; NULL: the current folder */
    /* Without a launch.json: the host functions whose launches to do, in order; "NAME=DTYPE:SHAPE[:STRIDES][:INIT]"
     * for their tensors ("a=f16:4096x512:1,4096:normal"); "NAME=WHAT" for what "check" of launch.json says of one.
     * `defines` are then their other parameters. */
    const char *const *plans, *const *tensors, *const *checks;
    size_t plan_count, tensor_count, check_count;
    int64_t
        multiprocessors; /* what `sms` of launch.json is, and what host functions are told; 0: those of the
                                device. An emulator has that many */
    bool trace; /* record when each copy and launch began and ended, for cute_launch_trace (cute/report.h) */
} cute_launch_options;

/* Reads launch.json (`text`; `label` names it in messages; relative input paths begin at `folder`; NULL: the options'
 * plans are the launch), and compares all of it with the kernels. CUTE_INVALID names what is wrong. The module must
 * outlive the launch. */
CUTE_API cute_status cute_launch_open(const char *label, const char *text, size_t length, const char *folder,
                                      const cute_module *module, const cute_launch_options *options,
                                      cute_launch **out, cute_diag *diag);
/* Prepares the data, runs in a forked child process, writes outputs, checks. With options.in_process nothing is forked,
 * and options.emulator->print gets what kernels print on the emulator; on a GPU a kernel that faults then makes the
 * device unusable for the process, and one that hangs is waited for. CUTE_MISMATCH: a check did not hold or
 * an output was not written; CUTE_INVALID: the kernel failed. The report (cute/report.h) holds in each case what is known. */
CUTE_API cute_status cute_launch_run(cute_launch *launch, cute_diag *diag);
/* Makes the host data of a dry run, so that files and formulas have been read. */
CUTE_API cute_status cute_launch_prepare(cute_launch *launch, cute_diag *diag);
/* NULL is taken. */
CUTE_API void cute_launch_close(cute_launch *launch);

/* What host function `name` of the source launched, as a launch.json; malloc'ed. `defines` ("NAME=VALUE") are its
 * arguments. CUTE_INVALID where it has no launch plan (docs/metadata.md), or the plan has no value there. */
CUTE_API cute_status cute_module_plan(const cute_module *module, const char *name, const char *const *defines,
                                      size_t define_count, char **out, cute_diag *diag);
/* A launch.json to start from for a kernel; malloc'ed, NULL when memory is exhausted. */
CUTE_API char *cute_launch_template(const cute_kernel *kernel);
/* The same for a host function; *out is malloc'ed. CUTE_INVALID: the module has none of that name. */
CUTE_API cute_status cute_launch_plan_template(const cute_module *module, const char *name, char **out,
                                               cute_diag *diag);
/* The JSON Schema of launch.json: a text that is part of the library. */
CUTE_API const char *cute_launch_schema_text(void);

#ifdef __cplusplus
}
#endif
#endif
