/* cute-run --gemm: chooses, optionally tunes, launches and reports a GEMM. */
#include "tools/cute-run/gemm.h"
#include "cute/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cute/emulator.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/file.h"
#include "lib/base/system/signals.h"
#include "lib/launch/sms.h"
#include "lib/report/launch/gemm.h"

/* ---- measuring ---- */

typedef struct tuning_progress {
    double flops;
    bool terminal;
} tuning_progress;

static void print_tuning_progress(void *context, const char *configuration, size_t index, size_t count,
                                  double seconds)
{
    const tuning_progress *p = context;
    if (!p->terminal) return;
    if (seconds > 0)
        fprintf(stderr, "\r\033[K[%zu/%zu] %s: %.3f us, %.1f TFLOP/s\n", index + 1, count, configuration,
                seconds * 1e6, p->flops / seconds * 1e-12);
    else
        fprintf(stderr, "\r\033[K[%zu/%zu] %s: failed\n", index + 1, count, configuration);
    if (index + 1 < count) fprintf(stderr, "[%zu/%zu] ...", index + 2, count);
}

static cute_status tune_on_device(const gemm_request *r, const cute_gemm_problem *problem,
                                  const gemm_target *target, cute_diag *diag)
{
    cute_device *device = NULL;
    gemm_problem read;
    tuning_progress p = {.terminal = isatty(STDERR_FILENO)};
    bool emulator = r->launch->device && strcmp(r->launch->device, "emulator") == 0;
    CUTE_TRY(gemm_problem_read(problem, -1, &read, diag));
    p.flops = gemm_flops(&read, 1);
    cute_emulator_options emulated = *r->launch->emulator;
    if (emulator && !emulated.multiprocessors) emulated.multiprocessors = r->launch->multiprocessors;
    CUTE_TRY(emulator ? cute_emulator_open(&emulated, &device, diag)
                      : cute_device_open(r->launch->device, &device, diag));
    cute_gemm_options options = {.size = sizeof options,
                                 .device = device,
                                 .arch = target->arch,
                                 .multiprocessors = target->multiprocessors};
    cute_status status = cute_gemm_tune(problem, &options, print_tuning_progress, &p, diag);
    cute_device_close(device);
    return status;
}

/* Tunes in a child process: the launch forks later, which an initialized driver does not survive, and a kernel may crash. */
static cute_status tune_in_child(const gemm_request *r, const cute_gemm_problem *problem,
                                 const gemm_target *target, cute_diag *diag)
{
    int code;
    fflush(NULL);
    sigset_t held;
    cute_ending_hold(&held);
    pid_t child = fork();
    cute_ending *note = child > 0 ? cute_ending_note_process(child, false) : NULL;
    cute_ending_release(&held);
    if (child < 0) return cute_fail(diag, CUTE_SYSTEM, NULL, "fork: %s", strerror(errno));
    if (child == 0) {
        cute_diag *own = cute_diag_create();
        cute_status status = own ? tune_on_device(r, problem, target, own) : CUTE_SYSTEM;
        if (own) cute_tool_print("cute-run", own, CUTE_DIAG_TEXT);
        fflush(NULL);
        _exit(status);
    }
    siginfo_t info;
    while (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
    }
    cute_ending_forget(note);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(code) && WEXITSTATUS(code) == CUTE_OK) return CUTE_OK;
    return cute_fail(diag, WIFEXITED(code) ? (cute_status)WEXITSTATUS(code) : CUTE_SYSTEM, NULL,
                     "cannot measure the configurations");
}

/* ---- the launch ---- */

static cute_status launch_gemm(const gemm_request *r, const cute_gemm *gemm, bool bench, cute_diag *diag)
{
    size_t count;
    const gemm_problem *problems = gemm_problems(gemm, &count);
    cute_launch_options options = *r->launch;
    cute_launch *l = NULL;
    json_t *document = gemm_document(gemm_algo_of(gemm), problems, count);
    if (document) gemm_document_check(document, problems, count);
    if (document && bench)
        gemm_document_bench(document, problems, count, r->l2 && !strcmp(r->l2, "cold"), r->vs != NULL);
    char *text = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
    options.module_label = gemm_algo_of(gemm)->name;
    cute_status status =
        text ? cute_launch_open("<gemm>", text, strlen(text), NULL, gemm_module(gemm), &options, &l, diag)
             : cute_fail_memory(diag);
    if (status == CUTE_OK) status = options.dry_run ? cute_launch_prepare(l, diag) : cute_launch_run(l, diag);
    if (l && r->trace) {
        char *trace = cute_launch_trace(l);
        cute_status written =
            trace ? cute_file_write(r->trace, trace, strlen(trace), diag) : cute_fail_memory(diag);
        free(trace);
        if (status == CUTE_OK) status = written;
    }
    if (status == CUTE_OK || status == CUTE_MISMATCH) {
        char *report = cute_gemm_report(gemm, l, r->json, r->timing);
        cute_status written = !report   ? cute_fail_memory(diag)
                              : r->json ? cute_file_write("-", report, strlen(report), diag)
                                        : cute_tool_write("-", report, strlen(report), false, diag);
        free(report);
        if (status == CUTE_OK) status = written;
    }
    cute_launch_close(l);
    free(text);
    json_decref(document);
    return status;
}

cute_status run_gemm(const gemm_request *r, cute_arena *arena, cute_diag *diag)
{
    cute_gemm_problem *problems;
    size_t count;
    cute_device_info info;
    cute_gemm *gemm;
    if (r->vs && strcmp(r->vs, "cublas") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--vs expects cublas, got '%s'", r->vs);
    if (r->l2 && strcmp(r->l2, "cold") != 0 && strcmp(r->l2, "warm") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--l2 expects cold or warm, got '%s'", r->l2);
    CUTE_TRY(gemm_problems_parse(arena, &r->words, &problems, &count, diag));
    if ((r->tune || r->vs) && count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "%s expects one GEMM, got a group of %zu",
                         r->tune ? "--tune" : "--vs", count);
    config_device device = {r->launch->device, r->launch->emulator, false, r->launch->dry_run,
                            r->launch->multiprocessors};
    CUTE_TRY(cute_launch_device(&device, &info, diag));
    bool emulated = strcmp(info.kind, "emulator") == 0;
    if (emulated && r->vs)
        return cute_fail(diag, CUTE_USAGE, NULL, "--vs=cublas requires a GPU, got the emulator");
    gemm_settings settings = {.target = {gemm_arch_for(info.arch), info.multiprocessors},
                              .device = info.name,
                              .configuration = r->configuration,
                              .untuned = r->no_tuned && !r->tune,
                              .ptx = emulated};
    if (r->tune) CUTE_TRY(tune_in_child(r, problems, &settings.target, diag));
    CUTE_TRY(gemm_create(problems, count, &settings, &gemm, diag));
    cute_status status = launch_gemm(r, gemm, !emulated && r->launch->bench != CUTE_BENCH_NEVER, diag);
    cute_gemm_destroy(gemm);
    return status;
}
