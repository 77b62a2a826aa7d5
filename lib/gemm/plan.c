/* Plans: the problems, the chosen algorithm, its module, and its launches, which cute/plan.h runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cute/plan.h"
#include "lib/base/abi.h"
#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/system/cache.h"
#include "lib/gemm/gemm.h"

struct cute_gemm {
    cute_arena *arena;
    gemm_problem *problems;
    size_t count;
    gemm_algo algo;
    epilogue_program *program; /* of an expression */
    const cute_module *module;
    cute_module *compiled; /* the module, if it is the plan's own */
    const char *cache;
    int64_t multiprocessors;
    cute_device *device; /* may be NULL */
    cute_plan_runner *plan;
    gemm_ranks *ranks; /* of a communicator: all of the above is unused */
};

const gemm_algo *gemm_algo_of(const cute_gemm *gemm)
{
    return &gemm->algo;
}

const cute_module *gemm_module(const cute_gemm *gemm)
{
    return gemm->module;
}

cute_device *gemm_device(const cute_gemm *gemm)
{
    return gemm->device;
}

const gemm_problem *gemm_problems(const cute_gemm *gemm, size_t *count)
{
    *count = gemm->count;
    return gemm->problems;
}

const char *gemm_arch_for(const char *arch)
{
    const cute_arch *known = cute_arch_find(arch);
    if (!known) return arch;
    if (cute_arch_has(known->number, CUTE_FEATURE_WGMMA)) return "sm_90a";
    return known->name;
}

/* ---- creation ---- */

static cute_status read_problems(cute_gemm *g, const cute_gemm_problem *given, cute_diag *diag)
{
    for (size_t i = 0; i < g->count; i++) {
        /* The caller's struct may be of another version, with another size. */
        const cute_gemm_problem *at =
            (const cute_gemm_problem *)((const char *)given +
                                        i * (given->size ? given->size : sizeof *given));
        CUTE_TRY(gemm_problem_read(at, g->count > 1 ? (int)i : -1, &g->problems[i], diag));
        if (g->problems[i].given.epilogue && g->count > 1)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected one product with an epilogue expression, got a group of %zu",
                             g->count);
        if (g->problems[i].given.epilogue) CUTE_TRY(gemm_expression_read(g->arena, &g->problems[i], diag));
        const cute_gemm_problem *a = &g->problems[0].given, *b = &g->problems[i].given;
        bool alike = g->problems[0].in == g->problems[i].in && g->problems[0].out == g->problems[i].out &&
                     g->problems[0].fast == g->problems[i].fast && a->order_a == b->order_a &&
                     a->order_b == b->order_b && a->order_d == b->order_d && a->bias == b->bias &&
                     a->activation == b->activation && (a->beta != 0) == (b->beta != 0);
        if (!alike)
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "product %zu of the group: expected the types, orders and epilogue of product 0",
                             i);
    }
    return CUTE_OK;
}

/* The caller's module or source, or an algorithm that is chosen, and its program. */
static cute_status open_module(cute_gemm *g, const gemm_settings *settings,
                               const cute_gemm_compiler *compiler, cute_diag *diag)
{
    bool source = settings->source != NULL, own = source || settings->module;
    gemm_problem *first = &g->problems[0];
    if (own && (g->count > 1 || (source && settings->module)))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "expected one product and either a module or a source, got %s",
                         g->count > 1 ? "a group" : "both");
    if (source) CUTE_TRY(gemm_own_compile(settings, compiler, &g->compiled, diag));
    g->module = source ? g->compiled : settings->module;
    if (own && !first->tree)
        return gemm_own_algorithm(g->arena, g->module, settings->function, first, &g->algo, diag);
    CUTE_TRY(gemm_choose(g->problems, g->count, &settings->target, settings->configuration,
                         settings->untuned ? NULL : g->cache, settings->device, &g->algo, diag));
    if (settings->signal.groups) CUTE_TRY(gemm_signal_apply(g->arena, &g->algo, settings->signal, diag));
    if (first->tree) CUTE_TRY(gemm_expression_apply(g->arena, &g->algo, first, NULL, &g->program, diag));
    if (own) return CUTE_OK;
    CUTE_TRY(
        gemm_compile(&g->algo, settings->target.arch, settings->ptx, compiler, g->cache, &g->compiled, diag));
    g->module = g->compiled;
    return CUTE_OK;
}

static cute_status create_algorithm(const cute_gemm_problem *problems, size_t count,
                                    const gemm_settings *settings, cute_gemm **out, cute_diag *diag)
{
    *out = NULL;
    if (!count) return cute_fail(diag, CUTE_USAGE, NULL, "expected at least 1 product, got 0");
    cute_gemm *g = calloc(1, sizeof *g);
    if (!g || !(g->arena = cute_arena_create())) {
        free(g);
        return cute_fail_memory(diag);
    }
    cute_gemm_compiler programs;
    const cute_gemm_compiler *compiler = settings->compiler;
    g->count = count;
    g->multiprocessors = settings->target.multiprocessors;
    g->problems = cute_arena_array(g->arena, count, sizeof *g->problems);
    g->cache = cute_cache_folder(g->arena, settings->cache);
    cute_status status = g->problems ? read_problems(g, problems, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK && !compiler) {
        status = gemm_programs(g->arena, &programs, diag);
        compiler = &programs;
    }
    if (status == CUTE_OK) status = open_module(g, settings, compiler, diag);
    if (status == CUTE_OK)
        *out = g;
    else
        cute_gemm_destroy(g);
    return status;
}

/* Without a device, the plan has the size of the workspace: one matrix of each batch determines it. */
static cute_status open_plan(cute_gemm *g, cute_device *device, cute_diag *diag)
{
    gemm_problem *problems = cute_arena_array(g->arena, g->count, sizeof *problems);
    if (!problems) return cute_fail_memory(diag);
    memcpy(problems, g->problems, g->count * sizeof *problems);
    for (size_t i = 0; !device && i < g->count; i++) problems[i].given.batch = 1;
    json_t *document = gemm_document(&g->algo, problems, g->count);
    char *text = document ? json_dumps(document, JSON_INDENT(1)) : NULL;
    cute_plan_options options = {.size = sizeof options,
                                 .multiprocessors = g->multiprocessors,
                                 .label = "<gemm>",
                                 .module_label = g->algo.name};
    cute_status status = text
                             ? cute_plan_open(device, g->module, text, strlen(text), &options, &g->plan, diag)
                             : cute_fail_memory(diag);
    g->device = device;
    free(text);
    json_decref(document);
    return status;
}

static cute_status create_plan(const cute_gemm_problem *problems, size_t count, const gemm_settings *settings,
                               cute_device *device, cute_gemm **out, cute_diag *diag)
{
    CUTE_TRY(create_algorithm(problems, count, settings, out, diag));
    cute_status status = open_plan(*out, device, diag);
    if (status == CUTE_OK) return CUTE_OK;
    cute_gemm_destroy(*out);
    *out = NULL;
    return status;
}

cute_status gemm_create(const cute_gemm_problem *problems, size_t count, const gemm_settings *settings,
                        cute_gemm **out, cute_diag *diag)
{
    return create_plan(problems, count, settings, NULL, out, diag);
}

static cute_status create_rank(const cute_gemm_problem *problems, size_t count,
                               const cute_gemm_options *options, cute_gemm **out, cute_diag *diag)
{
    cute_gemm *g = calloc(1, sizeof *g);
    if (!g) return cute_fail_memory(diag);
    g->device = options->device;
    cute_status status = gemm_ranks_create(problems, count, options, &g->ranks, diag);
    if (status == CUTE_OK)
        *out = g;
    else
        cute_gemm_destroy(g);
    return status;
}

static cute_status create_with(const cute_gemm_problem *problems, size_t count,
                               const cute_gemm_options *options, gemm_signal signal, cute_gemm **out,
                               cute_diag *diag)
{
    cute_gemm_options o = {.size = sizeof o};
    *out = NULL;
    if (options) CUTE_TRY(cute_struct_read(&o, sizeof o, options, "cute_gemm_options", diag));
    const cute_device_info *info = o.device ? cute_device_get_info(o.device) : NULL;
    const cute_arch *arch;
    CUTE_TRY(cute_arch_parse(o.arch ? o.arch
                             : info ? gemm_arch_for(info->arch)
                                    : "sm_90a",
                             NULL, &arch, diag));
    if (o.multiprocessors < 0 || o.multiprocessors > INT32_MAX)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected 1 or more multiprocessors, got %lld",
                         (long long)o.multiprocessors);
    bool emulated = info && strcmp(info->kind, "emulator") == 0;
    gemm_settings settings = {.target = {arch->name, o.multiprocessors ? o.multiprocessors
                                                     : info            ? info->multiprocessors
                                                            : cute_gpu_multiprocessors(arch->number)},
                              .device = info ? info->name : NULL,
                              .configuration = o.configuration,
                              .cache = o.cache,
                              .ptx = emulated,
                              .compiler = o.compiler,
                              .module = o.module,
                              .source = o.source,
                              .source_length = o.source_length,
                              .defines = o.defines,
                              .define_count = o.define_count,
                              .function = o.function,
                              .signal = signal};
    if (!o.communicator) return create_plan(problems, count, &settings, o.device, out, diag);
    o.arch = settings.target.arch;
    o.multiprocessors = settings.target.multiprocessors;
    return create_rank(problems, count, &o, out, diag);
}

cute_status cute_gemm_create(const cute_gemm_problem *problems, size_t count,
                             const cute_gemm_options *options, cute_gemm **out, cute_diag *diag)
{
    return create_with(problems, count, options, (gemm_signal){0}, out, diag);
}

cute_status gemm_create_signalled(const cute_gemm_problem *problem, const cute_gemm_options *options,
                                  gemm_signal signal, cute_gemm **out, cute_diag *diag)
{
    return create_with(problem, 1, options, signal, out, diag);
}

cute_status gemm_set_signals(cute_gemm *g, cute_address counters, cute_diag *diag)
{
    return cute_plan_set_buffer(g->plan, "signals", counters, diag);
}

cute_status gemm_set_copy(cute_gemm *g, int copy, cute_address d, cute_address counters, cute_diag *diag)
{
    char name[24];
    snprintf(name, sizeof name, "D%d", copy);
    CUTE_TRY(cute_plan_set_buffer(g->plan, name, d, diag));
    snprintf(name, sizeof name, "signals%d", copy);
    return cute_plan_set_buffer(g->plan, name, counters, diag);
}

void cute_gemm_destroy(cute_gemm *g)
{
    if (!g) return;
    gemm_ranks_destroy(g->ranks);
    cute_plan_close(g->plan);
    cute_module_close(g->compiled);
    cute_arena_destroy(g->arena);
    free(g);
}

/* ---- running ---- */

size_t cute_gemm_workspace(const cute_gemm *g)
{
    return g->ranks ? gemm_ranks_workspace(g->ranks) : cute_plan_workspace(g->plan);
}

static cute_status set_operand(cute_gemm *g, size_t index, const char *name, cute_address address,
                               int64_t align, cute_diag *diag)
{
    if (!address)
        return cute_fail(diag, CUTE_USAGE, NULL, "product %zu: expected an address of %s, got none", index,
                         name);
    if (address % (uint64_t)align != 0)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "product %zu: %s is misaligned: expected a multiple of %lld, got 0x%llx", index,
                         name, (long long)align, (unsigned long long)address);
    char full[32];
    snprintf(full, sizeof full, "%s%zu", name, index);
    return cute_plan_set_buffer(g->plan, g->count == 1 ? name : full, address, diag);
}

/* Bytes that divide the address of an operand or result of an expression, as its kernels have it. */
static int64_t named_alignment(const cute_gemm *g, const char *name)
{
    int64_t most = 0;
    for (int k = 0; g->program && k < g->program->count; k++)
        for (int i = 0; i < g->program->kernels[k].count; i++) {
            const epilogue_arg *a = &g->program->kernels[k].args[i];
            if (strcmp(a->name, name) != 0) continue;
            int64_t bytes = epilogue_arg_bytes(g->problems[0].tree, a);
            if (bytes > most) most = bytes;
        }
    return most ? most : g->problems[0].given.align;
}

/* Sets one operand or result of an expression. */
static cute_status set_named_operand(cute_gemm *g, const char *name, const cute_gemm_operands *o,
                                     cute_diag *diag)
{
    cute_address address = strcmp(name, "D") == 0      ? o->d
                           : strcmp(name, "C") == 0    ? o->c
                           : strcmp(name, "bias") == 0 ? o->bias
                                                       : 0;
    for (size_t i = 0; i < o->named_count; i++)
        if (strcmp(o->named[i].name, name) == 0) address = o->named[i].address;
    int64_t align = g->problems[0].given.align;
    if (address % (uint64_t)align) align = named_alignment(g, name);
    return set_operand(g, 0, name, address, align, diag);
}

static cute_status set_named(cute_gemm *g, const gemm_problem *p, const cute_gemm_operands *o,
                             cute_diag *diag)
{
    for (int i = 0; i < p->tree->count; i++)
        if (p->tree->nodes[i]->op == EPILOGUE_LOAD)
            CUTE_TRY(set_named_operand(g, p->tree->nodes[i]->name, o, diag));
    for (int i = 0; i < p->tree->output_count; i++)
        CUTE_TRY(set_named_operand(g, p->tree->outputs[i].name, o, diag));
    return CUTE_OK;
}

static cute_status set_operands(cute_gemm *g, const cute_gemm_operands *operands, cute_gemm_operands *first,
                                cute_diag *diag)
{
    for (size_t i = 0; i < g->count; i++) {
        cute_gemm_operands o;
        const cute_gemm_problem *p = &g->problems[i].given;
        const void *at = (const char *)operands + i * (operands->size ? operands->size : sizeof o);
        CUTE_TRY(cute_struct_read(&o, sizeof o, at, "cute_gemm_operands", diag));
        if (!i) *first = o;
        CUTE_TRY(set_operand(g, i, "A", o.a, p->align, diag));
        CUTE_TRY(set_operand(g, i, "B", o.b, p->align, diag));
        if (g->problems[i].tree) {
            CUTE_TRY(set_named(g, &g->problems[i], &o, diag));
            continue;
        }
        CUTE_TRY(set_operand(g, i, "D", o.d, p->align, diag));
        if (p->beta != 0) CUTE_TRY(set_operand(g, i, "C", o.c, p->align, diag));
        if (p->bias)
            CUTE_TRY(set_operand(g, i, "bias", o.bias, cute_dtype_get(g->problems[i].out)->bytes, diag));
    }
    return CUTE_OK;
}

cute_status cute_gemm_run(cute_gemm *g, const cute_gemm_operands *operands, cute_diag *diag)
{
    cute_gemm_operands first = {0};
    if (g->ranks) return gemm_ranks_run(g->ranks, operands, diag);
    if (!g->device)
        return cute_fail(diag, CUTE_USAGE, NULL, "the plan was made without a device and cannot run");
    CUTE_TRY(set_operands(g, operands, &first, diag));
    if (cute_gemm_workspace(g)) CUTE_TRY(cute_plan_set_workspace(g->plan, first.workspace, diag));
    return cute_plan_start(g->plan, first.stream, diag);
}

cute_status cute_gemm_part_of(const cute_gemm *g, const char *name, cute_gemm_part *out, cute_diag *diag)
{
    if (!g->ranks)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a plan with a communicator, got one without");
    return gemm_ranks_part(g->ranks, name, out, diag);
}

cute_status cute_gemm_chosen(const cute_gemm *g, size_t index, cute_gemm_choice *out, cute_diag *diag)
{
    if (g->ranks && !gemm_ranks_first(g->ranks))
        return cute_fail(diag, CUTE_USAGE, NULL, "this rank computes no product");
    if (g->ranks) return cute_gemm_chosen(gemm_ranks_first(g->ranks), index, out, diag);
    const gemm_algo *w = &g->algo;
    const gemm_config *c = w->config;
    cute_gemm_choice choice = {.size = sizeof choice,
                               .configuration = w->name,
                               .kernel = c->kernel->name,
                               .tile = {c->bm, c->bn, c->bk},
                               .stages = c->stages,
                               .tuned = w->tuned,
                               .swapped = w->swapped,
                               .packs_a = w->swapped ? w->pack_b : w->pack_a,
                               .packs_b = w->swapped ? w->pack_a : w->pack_b,
                               .epilogue = w->epilogue,
                               .seconds = w->seconds,
                               .fused = w->fused && index < g->count && !gemm_is_plain(&g->problems[index]),
                               .split = c->split};
    if (index >= g->count)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected a product below %zu, got %zu", g->count, index);
    return cute_struct_write(out, &choice, sizeof choice, "cute_gemm_choice", diag);
}
