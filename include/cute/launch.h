/* Launches described by launch.json: planned against a module, run on a device, checked and timed. */
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

/* `size` is sizeof(cute_launch_options); zero in any other field selects the default. Pointees are only read
 * during cute_launch_open, except output_folder, which must outlive the launch. */
typedef struct cute_launch_options {
    size_t size;
    const char *const *defines; /* "NAME=VALUE", override params */
    size_t define_count;
    const char *kernel; /* overrides the kernel of the config */
    bool has_seed;
    int64_t seed;
    /* Seconds per launch; 0: the config's; else 30 on a GPU, on the emulator 30 without a write to memory */
    double timeout;
    const char *device; /* a name for cute_device_open; NULL: any */
    /* NULL: the defaults. Checks, counters and the timeline select the emulator regardless of `device`; the launch
     * supplies the heartbeat and the timeouts */
    const cute_emulator_options *emulator;
    const char *module_label; /* file name for faults of the emulator; NULL: "<image>" */
    cute_bench_mode bench;
    bool no_check;
    bool dry_run;              /* plan for the module's architecture; cute_launch_run is not allowed */
    bool in_process;           /* run in this process, for multithreaded programs: see cute_launch_run */
    bool stdout_is_data;       /* output of kernels goes to stderr */
    const char *output_folder; /* of output files; NULL: the current folder */
    /* Without a launch.json: the host functions whose launches are run, in order;
     * "NAME=DTYPE:SHAPE[:STRIDES][:INIT]" for their tensors ("a=f16:4096x512:1,4096:normal"); "NAME=CHECK"
     * for checks in the notation of "check" in launch.json. `defines` are then their other parameters. */
    const char *const *plans, *const *tensors, *const *checks;
    size_t plan_count, tensor_count, check_count;
    /* The value of `sms` in launch.json and of host functions; 0: the device's. An emulator has this many */
    int64_t multiprocessors;
    bool trace; /* record the begin and end of each copy and launch, for cute_launch_trace (cute/report.h) */
    /* Plugins (cute/plugin.h) whose reductions the expressions of checks may use. They must outlive the launch */
    const struct cute_plugins *plugins;
    /* The ranks of this process, which run the same launch.json with collectives (cute-run --ranks), and how they communicate; requires
     * in_process. NULL: collectives are those of one rank */
    struct cute_ranks *ranks;
    int collectives;
} cute_launch_options;

/* Reads launch.json and checks it against the kernels. `text` is its contents; `label` names it in messages;
 * relative input paths start at `folder`; `text` NULL: the launch consists of the options' plans.
 * CUTE_INVALID names the error. The module must outlive the launch. */
CUTE_API cute_status cute_launch_open(const char *label, const char *text, size_t length, const char *folder,
                                      const cute_module *module, const cute_launch_options *options,
                                      cute_launch **out, cute_diag *diag);
/* Prepares the data, runs in a forked child process, writes outputs, and checks them. With options.in_process
 * nothing is forked, and options.emulator->print receives the output of kernels on the emulator; on a GPU, a
 * kernel that faults then makes the device unusable for the process, and the call waits for a kernel that
 * hangs. CUTE_MISMATCH: a check failed or an output was not written; CUTE_INVALID: the kernel failed. The
 * report (cute/report.h) is available in all cases. */
CUTE_API cute_status cute_launch_run(cute_launch *launch, cute_diag *diag);
/* Creates the host data of a dry run, which validates files and formulas. */
CUTE_API cute_status cute_launch_prepare(cute_launch *launch, cute_diag *diag);
/* NULL is allowed. */
CUTE_API void cute_launch_close(cute_launch *launch);

/* The launches of host function `name` as a launch.json; malloc'ed. `defines` ("NAME=VALUE") are its
 * arguments. CUTE_INVALID: no launch plan (docs/metadata.md), or the plan is undefined for these
 * arguments. */
CUTE_API cute_status cute_module_plan(const cute_module *module, const char *name, const char *const *defines,
                                      size_t define_count, char **out, cute_diag *diag);
/* An initial launch.json for a kernel; malloc'ed, NULL when memory is exhausted. */
CUTE_API char *cute_launch_template(const cute_kernel *kernel);
/* The same for a host function; *out is malloc'ed. CUTE_INVALID: the module has no such host function. */
CUTE_API cute_status cute_launch_plan_template(const cute_module *module, const char *name, char **out,
                                               cute_diag *diag);
/* The JSON Schema of launch.json, a static string. */
CUTE_API const char *cute_launch_schema_text(void);

#ifdef __cplusplus
}
#endif
#endif
