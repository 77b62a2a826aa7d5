/* cute-run --gemm --ranks: starts a process for each rank, or is one of those that a launcher started; estimates without any. */
#include "tools/cute-run/ranks.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/emulator.h"
#include "cute/report.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/file.h"
#include "lib/base/system/library.h"
#include "lib/base/system/process.h"
#include "lib/base/text/json.h"
#include "lib/device/device.h"
#include "lib/launch/data/random.h"
#include "lib/launch/launch.h"
#include "lib/launch/sms.h"
#include "lib/report/launch/ranks.h"

/* Seconds. A rank that fails has told the others, which end at once; one that hangs is found by the timeout. */
static const double default_timeout = 30, grace = 2;

static double timeout_of(const cute_launch_options *launch)
{
    return launch->timeout > 0 ? launch->timeout : default_timeout;
}

/* ---- what is asked for ---- */

/* Of --devices; 0: the ranks are processes. */
static int devices_of(const gemm_request *r)
{
    return (int)r->launch->emulator->devices;
}

static cute_status read_links(const gemm_request *r, const char *arch_name, cute_model_network *out,
                              cute_diag *diag)
{
    const char *text = r->dist.link, *comma = text ? strchr(text, ',') : NULL;
    char name[64];
    cute_model_links_of(atoi(arch_name + 3), &out->inside, &out->between);
    out->node = r->dist.node ? (int)r->dist.node : 8;
    if (r->dist.node < 0 || r->dist.node > RANKS_MOST)
        return cute_fail(diag, CUTE_USAGE, NULL, "--node expects a number of ranks from 1 to %d, got %lld",
                         RANKS_MOST, (long long)r->dist.node);
    if (!text) return CUTE_OK;
    snprintf(name, sizeof name, "%.*s", (int)(comma ? comma - text : (long)strlen(text)), text);
    if (cute_model_link_find(name, &out->inside) &&
        (!comma || cute_model_link_find(comma + 1, &out->between)))
        return CUTE_OK;
    cute_fail(diag, CUTE_USAGE, NULL,
              "--link expects a link or GB/s within a node and, behind a comma, between nodes, got '%s'",
              text);
    cute_buffer names = {0};
    for (size_t i = 0; cute_model_link_at(i); i++)
        cute_buffer_printf(&names, "%s%s", i ? ", " : "", cute_model_link_at(i)->name);
    cute_note(diag, NULL, "links: %s", cute_buffer_text(&names));
    cute_buffer_release(&names);
    return CUTE_USAGE;
}

/* The number of ranks by --ranks and by the launcher, which have to agree. */
static cute_status count_ranks(int64_t given, const ranks_place *place, bool found, int *out, cute_diag *diag)
{
    if (given < 0 || given > RANKS_MOST)
        return cute_fail(diag, CUTE_USAGE, NULL, "--ranks expects a number from 1 to %d, got %lld",
                         RANKS_MOST, (long long)given);
    if (!given && !found)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--split requires --ranks=N, or processes of mpirun, torchrun or srun");
    if (given && found && given != place->size)
        return cute_fail(diag, CUTE_USAGE, NULL, "--ranks=%lld: expected %d, the processes of %s",
                         (long long)given, place->size, place->launcher);
    *out = given ? (int)given : place->size;
    return CUTE_OK;
}

static cute_status check_device(const char *device, cute_diag *diag)
{
    if (!device || strcmp(device, "emulator") == 0 || strcmp(device, "cuda") == 0) return CUTE_OK;
    return cute_fail(
        diag, CUTE_USAGE, NULL,
        "--ranks expects --device=emulator, or --device=cuda for the GPU of each rank's number, got '%s'",
        device);
}

static cute_status read_job(const gemm_request *r, int rank, int size, cute_arena *arena, dist_job *out,
                            cute_diag *diag)
{
    cute_gemm_problem *problems;
    size_t count;
    const dist_words *w = &r->dist;
    if (!w->split) return cute_fail(diag, CUTE_USAGE, NULL, "--ranks with --gemm requires --split=m, n or k");
    if (w->groups < 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--groups expects a positive number, got %lld",
                         (long long)w->groups);
    if (w->seeds < 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--seeds expects a positive number, got %lld",
                         (long long)w->seeds);
    CUTE_TRY(gemm_problems_parse(arena, &r->words, &problems, &count, diag));
    if (count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--ranks expects one product, got a group of %zu", count);
    CUTE_TRY(dist_problem_read(arena, problems, w->split, w->collective, rank, size, &out->problem, diag));
    CUTE_TRY(dist_overlap_read(&out->problem, w->overlap, &out->overlap, diag));
    if (w->provider && !comm_provider_find(w->provider, &out->provider))
        return cute_fail(diag, CUTE_USAGE, NULL, "--comm expects nccl, nccl-send or shared, got '%s'",
                         w->provider);
    if (r->vs && strcmp(r->vs, "cublas") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--vs expects cublas, got '%s'", r->vs);
    if (r->vs && r->words.epilogue)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--vs=cublas and --epilogue are mutually exclusive with --ranks");
    if (r->tune) return cute_fail(diag, CUTE_USAGE, NULL, "--tune and --ranks are mutually exclusive");
    if (r->trace) return cute_fail(diag, CUTE_USAGE, NULL, "--trace and --ranks are mutually exclusive");
    const char *device = r->launch->device;
    if (device && strcmp(device, "emulator") != 0 && strcmp(device, "cuda") != 0)
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "--ranks expects --device=emulator, or --device=cuda for the GPU of each rank's number, got '%s'",
            device);
    out->groups = w->groups;
    out->configuration = r->configuration;
    out->check = !r->launch->no_check;
    out->bench = r->launch->bench != CUTE_BENCH_NEVER;
    out->cublas = r->vs != NULL;
    out->seed = (uint64_t)r->launch->seed;
    out->seeds = w->seeds;
    out->each = w->overlap && strcmp(w->overlap, DIST_EACH) == 0;
    return CUTE_OK;
}

static cute_status print_report(const gemm_request *r, const ranks_report *report, cute_diag *diag)
{
    char *text = cute_ranks_report(report, r->json);
    if (!text) return cute_fail_memory(diag);
    cute_status status = r->json ? cute_file_write("-", text, strlen(text), diag)
                                 : cute_tool_write("-", text, strlen(text), false, diag);
    free(text);
    return status;
}

/* ---- emulated devices of one process ---- */

static cute_status check_inside(const gemm_request *r, const dist_job *job, cute_diag *diag)
{
    const dist_words *w = &r->dist;
    const char *other = w->ranks ? "--ranks" : w->provider ? "--comm" : r->vs ? "--vs" : NULL;
    if (other) return cute_fail(diag, CUTE_USAGE, NULL, "%s and --devices are mutually exclusive", other);
    if (job->problem.split == DIST_K && (job->overlap == DIST_SIGNAL || job->overlap == DIST_PARTS))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "--overlap=%s with --split=k requires collectives beside products: expected "
                         "--ranks instead of --devices, or sequence or peer",
                         dist_overlap_name(job->overlap));
    return CUTE_OK;
}

/* The findings of --check are messages already. */
static cute_status count_findings(const cute_device *device)
{
    size_t errors = 0;
    for (size_t i = 0; i < cute_emulator_finding_count(device); i++)
        errors += cute_emulator_finding(device, i)->severity == CUTE_ERROR;
    return errors ? CUTE_INVALID : CUTE_OK;
}

static cute_status run_inside_with(const gemm_request *r, dist_job *jobs, cute_team *team, cute_arena *arena,
                                   cute_diag *diag)
{
    dist_outcome outcome;
    const cute_device_info *info = cute_device_get_info(cute_team_emulator(team));
    for (int i = 0; i < cute_team_size(team); i++) {
        jobs[i].device = cute_team_device(team, i);
        jobs[i].target = (gemm_target){gemm_arch_for(info->arch), info->multiprocessors};
        CUTE_TRY(read_links(r, jobs[i].target.arch, &jobs[i].network, diag));
    }
    cute_status status = dist_job_run_inside(jobs, team, arena, &outcome, diag);
    if (status != CUTE_OK && status != CUTE_MISMATCH) return status;
    cute_status found = count_findings(cute_team_emulator(team));
    dist_choice_explain(&jobs[0].problem, &outcome.choice, diag);
    ranks_report report = {.problem = &jobs[0].problem,
                           .choice = &outcome.choice,
                           .network = &jobs[0].network,
                           .outcome = &outcome,
                           .launcher = "cute-run in one process",
                           .arch = jobs[0].target.arch,
                           .multiprocessors = jobs[0].target.multiprocessors};
    CUTE_TRY(print_report(r, &report, diag));
    return found != CUTE_OK ? found : status;
}

static cute_status run_inside(const gemm_request *r, int size, cute_arena *arena, cute_diag *diag)
{
    cute_emulator_options options = *r->launch->emulator;
    dist_job *jobs = cute_arena_array(arena, (size_t)size, sizeof *jobs);
    cute_team *team;
    if (!jobs) return cute_fail_memory(diag);
    for (int i = 0; i < size; i++) {
        CUTE_TRY(read_job(r, i, size, arena, &jobs[i], diag));
        jobs[i].bench = false;
    }
    if (!options.multiprocessors && r->launch->multiprocessors > 0)
        options.multiprocessors = r->launch->multiprocessors;
    options.patience = timeout_of(r->launch);
    CUTE_TRY(cute_team_open(&options, &team, diag));
    cute_status status = run_inside_with(r, jobs, team, arena, diag);
    cute_team_close(team);
    return status;
}

/* ---- estimates ---- */

static cute_status estimate_ranks(const gemm_request *r, dist_job *job, cute_arena *arena, cute_diag *diag)
{
    cute_device_info info;
    dist_choice choice;
    config_device device = {r->launch->device, r->launch->emulator, false, true, r->launch->multiprocessors};
    CUTE_TRY(cute_launch_device(&device, &info, diag));
    job->target = (gemm_target){gemm_arch_for(info.arch), info.multiprocessors};
    if (r->arch) {
        const cute_arch *arch;
        CUTE_TRY(cute_arch_parse(r->arch, NULL, &arch, diag));
        job->target.arch = gemm_arch_for(arch->name);
        if (r->launch->multiprocessors <= 0)
            job->target.multiprocessors = cute_gpu_multiprocessors(arch->number);
    }
    CUTE_TRY(read_links(r, job->target.arch, &job->network, diag));
    dist_means means = {.puts = job->provider != COMM_NCCL_SEND, .inside = devices_of(r) > 0};
    means.reaches = means.puts && (means.inside || job->problem.size <= job->network.node);
    CUTE_TRY(dist_choose(&job->problem, job->overlap, job->groups, means, &job->target, job->configuration,
                         &job->network, arena, &choice, diag));
    dist_choice_explain(&job->problem, &choice, diag);
    ranks_report report = {.problem = &job->problem,
                           .choice = &choice,
                           .network = &job->network,
                           .arch = job->target.arch,
                           .multiprocessors = job->target.multiprocessors};
    return print_report(r, &report, diag);
}

/* ---- one rank ---- */

static void beat(void *context)
{
    cute_ranks_beat(context);
}

/* The name of the GPU of the rank's number on its host, or "emulator". `wanted`: of --device; NULL: a GPU if there are any. */
static cute_status choose_device(const char *wanted, bool emulated, const ranks_place *place, char *out,
                                 size_t size, cute_diag *diag)
{
    int count = 0;
    bool needed = wanted || cute_driver_is_named();
    snprintf(out, size, "emulator");
    if (emulated || (wanted && strcmp(wanted, "emulator") == 0)) return CUTE_OK;
    cute_status status = cute_device_count(&count, needed ? diag : NULL);
    if (!needed && (status != CUTE_OK || !count)) return CUTE_OK;
    CUTE_TRY(status);
    if (place->local_rank >= count)
        return cute_fail(diag, CUTE_SYSTEM, NULL,
                         "expected a GPU for each rank, got %d: --device=emulator needs none", count);
    snprintf(out, size, "%d", place->local_rank);
    return CUTE_OK;
}

static cute_status open_device(const gemm_request *r, const ranks_place *place, cute_ranks *ranks,
                               cute_device **out, cute_diag *diag)
{
    cute_emulator_options options = *r->launch->emulator;
    char name[16];
    CUTE_TRY(
        choose_device(r->launch->device, options.checks || options.counters, place, name, sizeof name, diag));
    options.heartbeat = beat;
    options.context = ranks;
    options.patience = timeout_of(r->launch);
    if (!options.multiprocessors && r->launch->multiprocessors > 0)
        options.multiprocessors = r->launch->multiprocessors;
    return cute_device_open_with(name, &options, out, diag);
}

static cute_status run_rank_with(const gemm_request *r, const ranks_place *place, dist_job *job,
                                 cute_arena *arena, cute_diag *diag)
{
    dist_outcome outcome;
    cute_ranks_step(job->ranks, "opening the device");
    CUTE_TRY(open_device(r, place, job->ranks, &job->device, diag));
    const cute_device_info *info = cute_device_get_info(job->device);
    job->target = (gemm_target){gemm_arch_for(info->arch), info->multiprocessors};
    CUTE_TRY(read_links(r, job->target.arch, &job->network, diag));
    cute_status status = dist_job_run(job, arena, &outcome, diag);
    if (status != CUTE_OK && status != CUTE_MISMATCH) return status;
    cute_status found = count_findings(job->device);
    if (!place->rank) {
        dist_choice_explain(&job->problem, &outcome.choice, diag);
        ranks_report report = {.problem = &job->problem,
                               .choice = &outcome.choice,
                               .network = &job->network,
                               .outcome = &outcome,
                               .launcher = place->launcher,
                               .arch = job->target.arch,
                               .multiprocessors = job->target.multiprocessors};
        CUTE_TRY(print_report(r, &report, diag));
    }
    return found != CUTE_OK ? found : status;
}

/* One line that all ranks must have in common. */
static const char *problem_line(const gemm_request *r, const dist_job *job, cute_arena *arena)
{
    const cute_gemm_problem *g = &job->problem.read.given;
    uint64_t epilogue = cute_random_key(0, 0, r->words.epilogue ? r->words.epilogue : "");
    for (size_t i = 0; i < r->words.value_count; i++)
        epilogue = cute_random_key(epilogue, 0, r->words.values[i]);
    return cute_arena_printf(
        arena,
        "gemm %s %s to %s, batch %lld, orders %d%d%d, alpha %g, beta %g, bias %d, activation %d, epilogue "
        "%016" PRIx64 ", split %s, %s, overlap %s, groups %lld, %s, seed %lld, %lld seeds",
        r->words.shapes, g->type_a, g->type_d, (long long)g->batch, g->order_a, g->order_b, g->order_d,
        g->alpha, g->beta, g->bias, g->activation, epilogue, dist_split_name(job->problem.split),
        comm_kind_name(job->problem.collective), job->each ? DIST_EACH : dist_overlap_name(job->overlap),
        (long long)job->groups, r->configuration ? r->configuration : "any configuration",
        (long long)r->launch->seed, (long long)job->seeds);
}

/* Messages of this rank begin with its number; those of remarks are rank 0's alone. */
static void tell(const cute_diag *own, int rank, cute_diag *diag)
{
    for (size_t i = 0; i < cute_diag_count(own); i++) {
        const cute_message *m = cute_diag_get(own, i);
        const cute_place *place = m->place.file ? &m->place : NULL;
        if (m->severity == CUTE_REMARK && rank) continue;
        if (m->severity == CUTE_REMARK || m->severity == CUTE_NOTE)
            cute_report(diag, m->severity, place, "%s", m->text);
        else
            cute_report(diag, m->severity, place, "rank %d: %s", rank, m->text);
        if (m->code) cute_diag_code(diag, m->code);
    }
}

static cute_status run_rank(const gemm_request *r, const ranks_place *place, dist_job *job, cute_arena *arena,
                            cute_diag *diag)
{
    const char *line = problem_line(r, job, arena);
    cute_diag *own = cute_diag_create();
    if (!own || !line) {
        cute_diag_destroy(own);
        return cute_fail_memory(diag);
    }
    cute_status status = cute_ranks_join(place, line, timeout_of(r->launch), &job->ranks, own);
    if (status == CUTE_OK) status = run_rank_with(r, place, job, arena, own);
    if (status != CUTE_OK && status != CUTE_MISMATCH) cute_ranks_give_up(job->ranks, status, own);
    cute_device_close(job->device);
    cute_ranks_leave(job->ranks);
    tell(own, place->rank, diag);
    cute_diag_destroy(own);
    return status;
}

/* Finds the rank that a launcher gave this process; *found: there is one. */
static cute_status find_rank(int64_t given, ranks_place *place, bool *found, int *size, cute_diag *diag)
{
    CUTE_TRY(cute_ranks_find(place, found, diag));
    /* the single process of srun or torchrun starts the ranks */
    if (*found && place->size == 1 && given > 1) *found = false;
    return count_ranks(given, place, *found, size, diag);
}

/* The same program once more for each rank; their exit code. */
static cute_status start_ranks(char *const *argv, int size, double timeout, cute_arena *arena,
                               cute_diag *diag)
{
    int code = 0;
    cute_words words = {.arena = arena};
    cute_words_add(&words, "/proc/self/exe");
    for (int i = 1; argv[0] && argv[i]; i++) cute_words_add(&words, argv[i]);
    if (words.failed) return cute_fail_memory(diag);
    CUTE_TRY(cute_ranks_start(words.items, size, timeout + grace, &code, diag));
    return code <= CUTE_MISMATCH ? (cute_status)code : CUTE_INVALID;
}

cute_status run_ranks(const gemm_request *r, char *const *argv, cute_arena *arena, cute_diag *diag)
{
    ranks_place place = {0};
    bool found;
    int size = 1;
    dist_job job = {0};
    if (devices_of(r)) {
        CUTE_TRY(read_job(r, 0, devices_of(r), arena, &job, diag));
        CUTE_TRY(check_inside(r, &job, diag));
        return r->launch->dry_run ? estimate_ranks(r, &job, arena, diag)
                                  : run_inside(r, devices_of(r), arena, diag);
    }
    CUTE_TRY(find_rank(r->dist.ranks, &place, &found, &size, diag));
    CUTE_TRY(read_job(r, found ? place.rank : 0, size, arena, &job, diag));
    if (r->launch->dry_run) return place.rank ? CUTE_OK : estimate_ranks(r, &job, arena, diag);
    if (found) return run_rank(r, &place, &job, arena, diag);
    return start_ranks(argv, size, timeout_of(r->launch), arena, diag);
}

/* ---- launch.json ---- */

cute_status run_config_ranks(const config_ranks *c, cute_arena *arena, cute_diag *diag)
{
    ranks_place place = {0};
    bool found;
    int size = 1, provider = COMM_AUTO;
    char device[16];
    CUTE_TRY(find_rank(c->ranks, &place, &found, &size, diag));
    CUTE_TRY(check_device(c->launch->device, diag));
    if (c->provider && !comm_provider_find(c->provider, (comm_provider *)&provider))
        return cute_fail(diag, CUTE_USAGE, NULL, "--comm expects nccl, nccl-send or shared, got '%s'",
                         c->provider);
    if (!found) return start_ranks(c->argv, size, timeout_of(c->launch), arena, diag);
    cute_diag *own = cute_diag_create();
    if (!own) return cute_fail_memory(diag);
    cute_launch_options *launch = c->launch;
    cute_status status = cute_ranks_join(&place, c->problem, timeout_of(launch), &launch->ranks, own);
    if (status == CUTE_OK)
        status = choose_device(launch->device, launch->emulator->checks || launch->emulator->counters, &place,
                               device, sizeof device, own);
    if (status == CUTE_OK) {
        launch->device = device;
        launch->in_process = true;
        launch->collectives = provider;
        launch->bench = CUTE_BENCH_NEVER; /* its number of runs depends on the time of each rank */
        status = c->run(c->context, own);
    }
    if (status != CUTE_OK && status != CUTE_MISMATCH) cute_ranks_give_up(launch->ranks, status, own);
    cute_ranks_leave(launch->ranks);
    launch->ranks = NULL;
    tell(own, place.rank, diag);
    cute_diag_destroy(own);
    return status;
}

/* What rank 0 reports of each rank. */
typedef struct launch_record {
    int32_t checks, failed;
    double seconds;
    char device[64];
} launch_record;

static launch_record record_of(const json_t *report, double seconds)
{
    launch_record out = {.seconds = seconds};
    const char *device = json_string_value(json_object_get(json_object_get(report, "device"), "name"));
    size_t index;
    json_t *check;
    json_array_foreach(json_object_get(report, "checks"), index, check)
    {
        out.checks++;
        out.failed += !json_is_true(json_object_get(check, "ok"));
    }
    snprintf(out.device, sizeof out.device, "%.63s", device ? device : "");
    return out;
}

static json_t *records_json(const launch_record *all, int count)
{
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(list,
                              json_pack("{s:i,s:s,s:i,s:i,s:f}", "rank", i, "device", all[i].device, "checks",
                                        all[i].checks, "failed", all[i].failed, "seconds", all[i].seconds));
    return list;
}

static cute_status print_records(const cute_launch *launch, json_t *report, const launch_record *all,
                                 int count, bool json, bool timing, cute_diag *diag)
{
    cute_buffer out = {0};
    char *own = json ? NULL : cute_launch_report(launch, false, timing);
    if (own) cute_buffer_puts(&out, own);
    free(own);
    for (int i = 0; !json && i < count; i++)
        cute_buffer_printf(&out, "rank %d: %s; %d of %d checks right, steps took %.3f ms\n", i, all[i].device,
                           all[i].checks - all[i].failed, all[i].checks, all[i].seconds * 1e3);
    json_object_set_new(report, "ranks", records_json(all, count));
    if (json) cute_json_dump(report, true, &out);
    cute_status status = !cute_buffer_ok(&out) ? cute_fail_memory(diag)
                         : json ? cute_file_write("-", cute_buffer_text(&out), out.length, diag)
                                : cute_tool_write("-", cute_buffer_text(&out), out.length, false, diag);
    cute_buffer_release(&out);
    return status;
}

cute_status report_config_ranks(const cute_launch *launch, bool json, bool timing, cute_status status,
                                cute_diag *diag)
{
    cute_ranks *ranks = launch->options.ranks;
    int count = cute_ranks_size(ranks);
    launch_record own, *all = calloc((size_t)count, sizeof *all);
    char *text = cute_launch_report(launch, true, timing);
    json_t *report = text ? json_loads(text, 0, NULL) : NULL;
    free(text);
    own = record_of(report, launch->run.phases[RUN_LAUNCH]);
    if (status == CUTE_MISMATCH && !own.failed) own.failed = 1; /* an output was not written */
    cute_status printed =
        all && report ? cute_ranks_exchange(ranks, &own, sizeof own, all, diag) : cute_fail_memory(diag);
    for (int i = 0; printed == CUTE_OK && i < count; i++)
        if (all[i].failed) status = CUTE_MISMATCH;
    if (printed == CUTE_OK && !cute_ranks_rank(ranks))
        printed = print_records(launch, report, all, count, json, timing, diag);
    json_decref(report);
    free(all);
    return printed == CUTE_OK ? status : printed;
}
