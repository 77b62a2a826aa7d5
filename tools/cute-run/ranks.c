/* cute-run --gemm --ranks: starts a process for each rank, or is one of those that a launcher started; estimates without any. */
#include "tools/cute-run/ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/emulator.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/file.h"
#include "lib/base/system/library.h"
#include "lib/base/system/process.h"
#include "lib/device/device.h"
#include "lib/launch/sms.h"
#include "lib/report/launch/ranks.h"

/* Seconds. A rank that fails has told the others, which end at once; one that hangs is found by the timeout. */
static const double default_timeout = 30, grace = 2;

static double timeout_of(const gemm_request *r)
{
    return r->launch->timeout > 0 ? r->launch->timeout : default_timeout;
}

/* ---- what is asked for ---- */

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
static cute_status count_ranks(const gemm_request *r, const ranks_place *place, bool found, int *out,
                               cute_diag *diag)
{
    int64_t given = r->dist.ranks;
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
    CUTE_TRY(gemm_problems_parse(arena, &r->words, &problems, &count, diag));
    if (count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--ranks expects one product, got a group of %zu", count);
    CUTE_TRY(dist_problem_read(problems, w->split, w->collective, rank, size, &out->problem, diag));
    CUTE_TRY(dist_overlap_read(&out->problem, w->overlap, &out->overlap, diag));
    if (w->provider && !comm_provider_find(w->provider, &out->provider))
        return cute_fail(diag, CUTE_USAGE, NULL, "--comm expects nccl, nccl-send or shared, got '%s'",
                         w->provider);
    if (r->vs && strcmp(r->vs, "cublas") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--vs expects cublas, got '%s'", r->vs);
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
    CUTE_TRY(dist_choose(&job->problem, job->overlap, job->groups, job->provider != COMM_NCCL_SEND,
                         &job->target, job->configuration, &job->network, arena, &choice, diag));
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

/* The GPU of the rank's number on its host, or an emulated device. */
static cute_status open_device(const gemm_request *r, const ranks_place *place, cute_ranks *ranks,
                               cute_device **out, cute_diag *diag)
{
    cute_emulator_options options = *r->launch->emulator;
    const char *name = r->launch->device;
    int count = 0;
    char index[16];
    bool checks = options.checks || options.counters;
    options.heartbeat = beat;
    options.context = ranks;
    options.patience = timeout_of(r);
    if (!options.multiprocessors && r->launch->multiprocessors > 0)
        options.multiprocessors = r->launch->multiprocessors;
    if (checks || (name && strcmp(name, "emulator") == 0)) return cute_emulator_open(&options, out, diag);
    bool needed = name || cute_driver_is_named();
    cute_status status = cute_device_count(&count, needed ? diag : NULL);
    if (!needed && (status != CUTE_OK || !count)) return cute_emulator_open(&options, out, diag);
    CUTE_TRY(status);
    if (place->local_rank >= count)
        return cute_fail(diag, CUTE_SYSTEM, NULL,
                         "expected a GPU for each rank, got %d: --device=emulator needs none", count);
    snprintf(index, sizeof index, "%d", place->local_rank);
    return cute_device_open(index, out, diag);
}

/* The findings of --check are messages already. */
static cute_status count_findings(const cute_device *device)
{
    size_t errors = 0;
    for (size_t i = 0; i < cute_emulator_finding_count(device); i++)
        errors += cute_emulator_finding(device, i)->severity == CUTE_ERROR;
    return errors ? CUTE_INVALID : CUTE_OK;
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
    return cute_arena_printf(
        arena,
        "gemm %s %s to %s, orders %d%d%d, alpha %g, split %s, %s, overlap %s, groups %lld, %s, seed %lld",
        r->words.shapes, g->type_a, g->type_d, g->order_a, g->order_b, g->order_d, g->alpha,
        dist_split_name(job->problem.split), comm_kind_name(job->problem.collective),
        dist_overlap_name(job->overlap), (long long)job->groups,
        r->configuration ? r->configuration : "any configuration", (long long)r->launch->seed);
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
    cute_status status = cute_ranks_join(place, line, timeout_of(r), &job->ranks, own);
    if (status == CUTE_OK) status = run_rank_with(r, place, job, arena, own);
    if (status != CUTE_OK && status != CUTE_MISMATCH) cute_ranks_give_up(job->ranks, status, own);
    cute_device_close(job->device);
    cute_ranks_leave(job->ranks);
    tell(own, place->rank, diag);
    cute_diag_destroy(own);
    return status;
}

cute_status run_ranks(const gemm_request *r, char *const *argv, cute_arena *arena, cute_diag *diag)
{
    ranks_place place = {0};
    bool found;
    int size = 1, code = 0;
    dist_job job = {0};
    CUTE_TRY(cute_ranks_find(&place, &found, diag));
    if (found && place.size == 1 && r->dist.ranks > 1)
        found = false; /* srun's or torchrun's single process starts the ranks */
    CUTE_TRY(count_ranks(r, &place, found, &size, diag));
    CUTE_TRY(read_job(r, found ? place.rank : 0, size, arena, &job, diag));
    if (r->launch->dry_run) return place.rank ? CUTE_OK : estimate_ranks(r, &job, arena, diag);
    if (found) return run_rank(r, &place, &job, arena, diag);
    cute_words words = {.arena = arena};
    cute_words_add(&words, "/proc/self/exe");
    for (int i = 1; argv[0] && argv[i]; i++) cute_words_add(&words, argv[i]);
    if (words.failed) return cute_fail_memory(diag);
    CUTE_TRY(cute_ranks_start(words.items, size, timeout_of(r) + grace, &code, diag));
    return code <= CUTE_MISMATCH ? (cute_status)code : CUTE_INVALID;
}
