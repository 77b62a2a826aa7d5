/* Products of the caller: a host function of a module or of MLIR source, whose parameters have the names of a product's operands. */
#include <stdlib.h>
#include <string.h>

#include "lib/gemm/gemm.h"
#include "lib/launch/plan/hostplan.h"

enum { OWN_PARAMS = 8 };

typedef struct gemm_own {
    const char *names[OWN_PARAMS];
    bool batched[OWN_PARAMS]; /* a mode for the batch in front */
    int count;
} gemm_own;

cute_status gemm_own_compile(const gemm_settings *s, const cute_gemm_compiler *compiler, cute_module **out,
                             cute_diag *diag)
{
    char *ptx = NULL;
    size_t length = 0;
    CUTE_TRY(compiler->to_ptx(compiler->context, "<source>", s->source, s->source_length, s->defines,
                              s->define_count, s->target.arch, &ptx, &length, diag));
    cute_buffer cubin = {0};
    cute_status status = s->ptx ? CUTE_OK : gemm_link("<source>", s->target.arch, ptx, length, &cubin, diag);
    const void *image = s->ptx ? ptx : cubin.data;
    if (status == CUTE_OK)
        status = cute_module_open("<source>", image, s->ptx ? length : cubin.length, NULL, out, diag);
    cute_buffer_release(&cubin);
    free(ptx);
    return status;
}

static bool is_given(const gemm_problem *p, const char *name)
{
    const cute_gemm_problem *g = &p->given;
    if (strcmp(name, "C") == 0 || strcmp(name, "beta") == 0) return g->beta != 0;
    if (strcmp(name, "bias") == 0) return g->bias;
    return true;
}

static cute_status read_param(const host_param *param, const gemm_problem *p, const char *function,
                              gemm_own *own, cute_diag *diag)
{
    static const char *const names[] = {"A", "B", "C", "D", "bias", "alpha", "beta", NULL};
    int known = 0;
    if (param->kind == HOST_STREAM) return CUTE_OK;
    while (names[known] && strcmp(names[known], param->name) != 0) known++;
    if (!names[known] || own->count == OWN_PARAMS)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "the host function '%s' has the parameter '%s': expected A, B, C, D, bias, alpha and beta",
            function, param->name);
    if (!is_given(p, param->name))
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "the host function '%s' has the parameter '%s', which the problem does not have: set %s",
            function, param->name, strcmp(param->name, "bias") == 0 ? "bias" : "beta");
    own->batched[own->count] = param->rank == 3;
    own->names[own->count++] = names[known];
    return CUTE_OK;
}

static cute_status check_params(const gemm_own *own, const gemm_problem *p, const char *function,
                                cute_diag *diag)
{
    static const char *const wanted[] = {"A", "B", "D", NULL};
    bool epilogue = p->given.activation != CUTE_GEMM_LINEAR;
    for (int i = 0; wanted[i]; i++) {
        bool found = false;
        for (int n = 0; n < own->count; n++) found = found || strcmp(own->names[n], wanted[i]) == 0;
        if (!found)
            return cute_fail(diag, CUTE_INVALID, NULL, "the host function '%s' has no parameter '%s'",
                             function, wanted[i]);
    }
    if (epilogue)
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "the host function '%s' has its own epilogue: expected no activation", function);
    return CUTE_OK;
}

cute_status gemm_own_algorithm(cute_arena *arena, const cute_module *module, const char *function,
                               const gemm_problem *p, gemm_algo *out, cute_diag *diag)
{
    gemm_config *config = cute_arena_alloc(arena, sizeof *config);
    gemm_kernel *kernel = cute_arena_alloc(arena, sizeof *kernel);
    gemm_own *own = cute_arena_alloc(arena, sizeof *own);
    const char *text = NULL, *second;
    size_t length = 0, other;
    json_t *json;
    host_plan plan;
    if (!config || !kernel || !own) return cute_fail_memory(diag);
    if (function)
        CUTE_TRY(cute_module_find_plan(module, function, &text, &length, diag));
    else if (!cute_module_plan_at(module, 0, &text, &length) ||
             cute_module_plan_at(module, 1, &second, &other))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected a module with one host function, or its name, got %s",
                         text ? "several" : "none");
    CUTE_TRY(cute_json_parse("<module>", text, length, &json, diag));
    cute_status status = host_plan_read(arena, "<module>", json, &plan, diag);
    if (status == CUTE_OK) {
        kernel->function = kernel->name = cute_arena_copy(arena, plan.name, strlen(plan.name));
        if (!kernel->name) status = cute_fail_memory(diag);
    }
    for (size_t i = 0; status == CUTE_OK && i < plan.param_count; i++)
        status = read_param(&plan.params[i], p, kernel->name, own, diag);
    if (status == CUTE_OK) status = check_params(own, p, kernel->name, diag);
    json_decref(json);
    bool batched = true;
    for (int i = 0; status == CUTE_OK && i < own->count && i < 4; i++)
        if (own->names[i][1] == 0) batched = batched && own->batched[i];
    if (status == CUTE_OK && p->given.batch > 1 && !batched)
        status = cute_fail(diag, CUTE_INVALID, NULL,
                           "the host function '%s' computes one product, got a batch of %lld", kernel->name,
                           (long long)p->given.batch);
    config->kernel = kernel;
    config->split = 1;
    *out = (gemm_algo){.config = config, .first = p, .own = own, .fused = true, .product = p->out};
    strncpy(out->name, kernel->name ? kernel->name : "", sizeof out->name - 1);
    return status;
}

static json_t *matrix_arg(const char *name, bool batched, const gemm_matrix *m, int64_t rows, int64_t columns,
                          int64_t batch)
{
    if (!batched)
        return json_pack("{s:s,s:[II],s:[II]}", "buffer", name, "shape", (json_int_t)rows,
                         (json_int_t)columns, "strides", (json_int_t)m->row, (json_int_t)m->column);
    return json_pack("{s:s,s:[III],s:[III]}", "buffer", name, "shape", (json_int_t)batch, (json_int_t)rows,
                     (json_int_t)columns, "strides", (json_int_t)m->batch, (json_int_t)m->row,
                     (json_int_t)m->column);
}

json_t *gemm_own_plan(const gemm_algo *algo, const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    const gemm_own *own = algo->own;
    gemm_matrix b = {p->b.column, p->b.row, p->b.batch, p->b.span};
    json_t *args = json_object();
    for (int i = 0; i < own->count; i++) {
        const char *name = own->names[i];
        json_t *arg;
        if (strcmp(name, "A") == 0)
            arg = matrix_arg(name, own->batched[i], &p->a, g->m, g->k, g->batch);
        else if (strcmp(name, "B") == 0)
            arg = matrix_arg(name, own->batched[i], &b, g->n, g->k, g->batch);
        else if (strcmp(name, "C") == 0)
            arg = matrix_arg(name, own->batched[i], &p->c, g->m, g->n, g->batch);
        else if (strcmp(name, "D") == 0)
            arg = matrix_arg(name, own->batched[i], &p->d, g->m, g->n, g->batch);
        else if (strcmp(name, "bias") == 0)
            arg = json_string(name);
        else
            arg = json_real(strcmp(name, "alpha") == 0 ? g->alpha : g->beta);
        json_object_set_new(args, name, arg);
    }
    return json_pack("{s:s,s:o}", "function", algo->config->kernel->function, "args", args);
}
