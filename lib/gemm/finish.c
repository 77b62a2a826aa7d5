/* D of finished sums in memory: the epilogue of a product as a step of its own, where other steps, such as a collective, come between. */
#include <stdlib.h>
#include <string.h>

#include "cute/plan.h"
#include "lib/base/system/cache.h"
#include "lib/gemm/gemm.h"

struct gemm_finish {
    cute_arena *arena;
    gemm_problem problem;
    cute_dtype sums;
    int64_t stride; /* of the sums */
    bool reads_sums;
    epilogue_program *program; /* of an expression; else gemm_epilogue */
    cute_module *module;
    cute_plan_runner *plan;
};

/* ---- the launches ---- */

static bool put_buffer(json_t *buffers, const char *name, cute_dtype dtype, int64_t elements)
{
    json_t *buffer =
        json_pack("{s:s,s:[I]}", "dtype", cute_dtype_get(dtype)->name, "shape", (json_int_t)elements);
    return buffer && json_object_set_new(buffers, name, buffer) == 0;
}

static json_t *matrix_view(const char *name, const gemm_problem *p, int64_t item, const gemm_matrix *m)
{
    return json_pack("{s:s,s:I,s:[II],s:[II]}", "buffer", name, "offset", (json_int_t)(item * m->batch),
                     "shape", (json_int_t)p->given.m, (json_int_t)p->given.n, "strides", (json_int_t)m->row,
                     (json_int_t)m->column);
}

/* gemm_epilogue on each matrix of the batch. Operands that it does not read are D. */
static bool put_plain_plan(const gemm_finish *f, json_t *buffers, json_t *plans)
{
    const gemm_problem *p = &f->problem;
    const cute_gemm_problem *g = &p->given;
    bool adds = g->beta != 0,
         good = put_buffer(buffers, "acc", f->sums, (g->batch - 1) * f->stride + g->m * g->n) &&
                put_buffer(buffers, "D", p->out, p->d.span) &&
                (!adds || put_buffer(buffers, "C", p->out, p->c.span)) &&
                (!g->bias || put_buffer(buffers, "bias", p->out, g->n));
    const gemm_matrix sums = {g->n, 1, f->stride, 0};
    for (int64_t item = 0; good && item < g->batch; item++) {
        json_t *plan =
            json_pack("{s:s,s:{s:o,s:o,s:o,s:{s:s,s:[I],s:[i]},s:f,s:f}}", "function", "gemm_epilogue",
                      "args", "P", matrix_view("acc", p, item, &sums), "D", matrix_view("D", p, item, &p->d),
                      "C", matrix_view(adds ? "C" : "D", p, item, adds ? &p->c : &p->d), "bias", "buffer",
                      g->bias ? "bias" : "D", "shape", (json_int_t)(g->bias ? g->n : 1), "strides", 1,
                      "alpha", g->alpha, "beta", g->beta);
        good = plan && json_array_append_new(plans, plan) == 0;
    }
    return good;
}

static bool put_program_plan(const gemm_finish *f, json_t *buffers, json_t *plans)
{
    const gemm_problem *p = &f->problem;
    bool good = epilogue_put_buffers(p->tree, buffers);
    for (int i = 0; good && i < f->program->count; i++) {
        const epilogue_kernel *kernel = &f->program->kernels[i];
        json_t *plan = json_pack("{s:s,s:o}", "function", kernel->function, "args",
                                 epilogue_kernel_args(kernel, p->values, p->value_count, 0, 1));
        good = plan && json_array_append_new(plans, plan) == 0;
    }
    return good;
}

static cute_status open_plan(gemm_finish *f, const cute_gemm_options *o, cute_diag *diag)
{
    json_t *buffers = json_object(), *plans = json_array(), *document = json_object();
    bool good = buffers && plans && document &&
                (f->program ? put_program_plan(f, buffers, plans) : put_plain_plan(f, buffers, plans));
    json_object_set_new(document, "plan", plans);
    json_object_set_new(document, "buffers", buffers);
    char *text = good ? json_dumps(document, JSON_INDENT(1)) : NULL;
    cute_plan_options options = {.size = sizeof options,
                                 .multiprocessors = o->multiprocessors,
                                 .label = "<epilogue>",
                                 .module_label = "epilogue"};
    cute_status status =
        text ? cute_plan_open(o->device, f->module, text, strlen(text), &options, &f->plan, diag)
             : cute_fail_memory(diag);
    free(text);
    json_decref(document);
    return status;
}

/* ---- creation ---- */

static cute_status compile_module(gemm_finish *f, const cute_gemm_options *o, cute_diag *diag)
{
    cute_gemm_compiler programs;
    const cute_gemm_compiler *compiler = o->compiler;
    gemm_defines defines = {.arena = f->arena};
    const cute_device_info *info = cute_device_get_info(o->device);
    if (!compiler) {
        CUTE_TRY(gemm_programs(f->arena, &programs, diag));
        compiler = &programs;
    }
    if (!f->program) gemm_define_epilogue(&f->problem, f->sums, &defines);
    return gemm_compile_source("epilogue", f->program ? f->program->text : gemm_source_epilogue(), &defines,
                               o->arch, strcmp(info->kind, "emulator") == 0, compiler,
                               cute_cache_folder(f->arena, o->cache), &f->module, diag);
}

static cute_status open_finish(gemm_finish *f, const cute_gemm_problem *given, const cute_gemm_options *o,
                               cute_diag *diag)
{
    CUTE_TRY(gemm_problem_read(given, -1, &f->problem, diag));
    if (given->epilogue) CUTE_TRY(gemm_expression_finish(f->arena, &f->problem, f->sums, &f->program, diag));
    f->reads_sums = !f->program;
    for (int i = 0; f->program && i < f->problem.tree->count; i++)
        f->reads_sums = f->reads_sums || f->problem.tree->nodes[i] == f->problem.tree->sums;
    CUTE_TRY(compile_module(f, o, diag));
    return open_plan(f, o, diag);
}

cute_status gemm_finish_create(const cute_gemm_problem *given, cute_dtype sums, int64_t stride,
                               const cute_gemm_options *options, gemm_finish **out, cute_diag *diag)
{
    *out = NULL;
    gemm_finish *f = calloc(1, sizeof *f);
    if (!f || !(f->arena = cute_arena_create())) {
        free(f);
        return cute_fail_memory(diag);
    }
    f->sums = sums;
    f->stride = stride;
    cute_status status = open_finish(f, given, options, diag);
    if (status == CUTE_OK)
        *out = f;
    else
        gemm_finish_destroy(f);
    return status;
}

void gemm_finish_destroy(gemm_finish *f)
{
    if (!f) return;
    cute_plan_close(f->plan);
    cute_module_close(f->module);
    cute_arena_destroy(f->arena);
    free(f);
}

size_t gemm_finish_workspace(const gemm_finish *f)
{
    return cute_plan_workspace(f->plan);
}

cute_status gemm_finish_run(gemm_finish *f, cute_address sums, const cute_gemm_operands *o, cute_diag *diag)
{
    const cute_gemm_problem *g = &f->problem.given;
    if (f->reads_sums) CUTE_TRY(cute_plan_set_buffer(f->plan, "acc", sums, diag));
    if (f->program) {
        for (size_t i = 0; i < o->named_count; i++)
            CUTE_TRY(cute_plan_set_buffer(f->plan, o->named[i].name, o->named[i].address, diag));
    } else {
        CUTE_TRY(cute_plan_set_buffer(f->plan, "D", o->d, diag));
        if (g->beta != 0) CUTE_TRY(cute_plan_set_buffer(f->plan, "C", o->c, diag));
        if (g->bias) CUTE_TRY(cute_plan_set_buffer(f->plan, "bias", o->bias, diag));
    }
    if (gemm_finish_workspace(f)) CUTE_TRY(cute_plan_set_workspace(f->plan, o->workspace, diag));
    return cute_plan_start(f->plan, o->stream, diag);
}
