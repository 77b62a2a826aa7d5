/* Epilogues that are expressions: reads them, generates their program for a configuration's tile, and describes their data. lib/epilogue
 * has the language. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "lib/gemm/gemm.h"

enum { CLUSTER = 8 /* blocks of a cluster that any launch may have */ };

static bool has_scalar(const epilogue_tree *t, const char *name)
{
    for (int i = 0; name && i < t->count; i++)
        if (t->nodes[i]->op == EPILOGUE_SCALAR && strcmp(t->nodes[i]->name, name) == 0) return true;
    return false;
}

/* alpha and beta that an expression does not use would be ignored. */
static cute_status check_factors(const gemm_problem *p, cute_diag *diag)
{
    const cute_gemm_problem *g = &p->given;
    const char *unused = g->alpha != 1 && !has_scalar(p->tree, "alpha") ? "alpha"
                         : g->beta != 0 && !has_scalar(p->tree, "beta") ? "beta"
                                                                        : NULL;
    return unused ? cute_fail(diag, CUTE_USAGE, NULL,
                              "the epilogue has no scalar '%s': expected it in the expression", unused)
                  : CUTE_OK;
}

static cute_status copy_values(cute_arena *arena, gemm_problem *p, cute_diag *diag)
{
    const cute_gemm_problem *g = &p->given;
    epilogue_value *values = cute_arena_array(arena, g->value_count + 2, sizeof *values);
    if (!values) return cute_fail_memory(diag);
    size_t count = 0;
    values[count++] = (epilogue_value){"alpha", g->alpha};
    values[count++] = (epilogue_value){"beta", g->beta};
    for (size_t i = 0; i < g->value_count; i++) {
        const char *name = g->values[i].name;
        if (!has_scalar(p->tree, name))
            return cute_fail(diag, CUTE_USAGE, NULL, "the epilogue has no scalar '%s'", name ? name : "");
        if (!(fabs(g->values[i].value) <= FLT_MAX))
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "expected a number of f32, at most %.3g, as '%s', got %g", FLT_MAX, name,
                             g->values[i].value);
        values[count].name = cute_arena_copy(arena, name, strlen(name));
        if (!values[count].name) return cute_fail_memory(diag);
        values[count++].value = g->values[i].value;
    }
    p->values = values;
    p->value_count = count;
    for (int n = 0; n < p->tree->count; n++) {
        const epilogue_node *node = p->tree->nodes[n];
        bool given = node->op != EPILOGUE_SCALAR;
        for (size_t i = 0; !given && i < count; i++) given = strcmp(values[i].name, node->name) == 0;
        if (given) continue;
        cute_place place = epilogue_place(p->tree, node->offset, node->length);
        cute_fail(diag, CUTE_INVALID, &place, "the scalar '%s' has no value", node->name);
        cute_note(diag, NULL, "add -D %s=VALUE, or indices of an operand in memory: %s[i], %s[j] or %s[i,j]",
                  node->name, node->name, node->name, node->name);
        return CUTE_INVALID;
    }
    return CUTE_OK;
}

cute_status gemm_expression_read(cute_arena *arena, gemm_problem *p, cute_diag *diag)
{
    const cute_gemm_problem *g = &p->given;
    const char *other = g->order_d != CUTE_GEMM_ROWS        ? "D by columns"
                        : g->bias                           ? "a bias"
                        : g->activation != CUTE_GEMM_LINEAR ? "an activation"
                        : g->ld_d != g->n                   ? "a leading dimension of D"
                        : g->stride_d != g->m * g->n        ? "a distance between the D of a batch"
                                                            : NULL;
    if (other)
        return cute_fail(diag, CUTE_USAGE, NULL, "an epilogue expression and %s are mutually exclusive%s",
                         other,
                         g->bias || g->activation != CUTE_GEMM_LINEAR ? ": write it in the expression" : "");
    /* Its results are floating-point numbers. */
    if (p->out == CUTE_I32) p->out = CUTE_F32, p->given.type_d = cute_dtype_get(CUTE_F32)->name;
    CUTE_TRY(epilogue_parse(arena, "<epilogue>", g->epilogue, strlen(g->epilogue), &p->tree, diag));
    CUTE_TRY(check_factors(p, diag));
    CUTE_TRY(copy_values(arena, p, diag));
    p->tree->problem = (epilogue_problem){.m = g->m, .n = g->n, .k = g->k, .batch = g->batch, .out = p->out};
    CUTE_TRY(epilogue_run_passes(p->tree, "PassShapeTypePropagation", diag));
    p->given.epilogue = p->tree->text;
    p->given.values = NULL;
    p->given.value_count = 0;
    return CUTE_OK;
}

/* A matrix with more columns than the product has so many times the registers: 128 of each thread of a warpgroup. */
bool gemm_expression_fits(const gemm_config *config, const gemm_problem *p)
{
    int64_t widest = 1;
    for (int i = 0; i < p->tree->count; i++) {
        epilogue_shape s = p->tree->nodes[i]->shape;
        if (s.rows && s.mul > widest * s.div) widest = s.mul / s.div;
    }
    return widest == 1 || config->bm * config->bn * widest <= 128 * 128;
}

bool gemm_expression_has_rows(const gemm_algo *algo, const gemm_problem *p)
{
    epilogue_problem q = gemm_expression_problem(algo, p);
    return !epilogue_needs_rows(p->tree) || epilogue_row_blocks(&q);
}

epilogue_problem gemm_expression_of_sums(const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    return (epilogue_problem){.m = g->m,
                              .n = g->n,
                              .k = g->k,
                              .batch = g->batch,
                              .in = p->in,
                              .sum = p->sum,
                              .out = p->out,
                              .tile_m = EPILOGUE_TILE_M,
                              .tile_n = EPILOGUE_TILE_N,
                              .cluster_most = 1,
                              .align = g->align < 16 ? g->align : 16};
}

epilogue_problem gemm_expression_problem(const gemm_algo *algo, const gemm_problem *p)
{
    epilogue_problem out = gemm_expression_of_sums(p);
    out.tile_m = algo->config->bm;
    out.tile_n = algo->config->bn;
    if (algo->config->kernel->arch_specific) out.cluster_most = CLUSTER;
    return out;
}

cute_status gemm_expression_apply(cute_arena *arena, gemm_algo *algo, gemm_problem *p, const char *passes,
                                  epilogue_program **out, cute_diag *diag)
{
    gemm_config *config = cute_arena_alloc(arena, sizeof *config);
    gemm_kernel *kernel = cute_arena_alloc(arena, sizeof *kernel);
    if (!config || !kernel) return cute_fail_memory(diag);
    p->tree->problem = gemm_expression_problem(algo, p);
    *out = NULL;
    CUTE_TRY(epilogue_run_passes(p->tree, passes, diag));
    if (!p->tree->stages) return CUTE_OK;
    CUTE_TRY(epilogue_program_make(p->tree, out, diag));
    *config = *algo->config;
    *kernel = *config->kernel;
    kernel->source = (*out)->text;
    kernel->tiles = p->given.batch > 1; /* A and B have a mode for the batch */
    config->kernel = kernel;
    algo->config = config;
    algo->program = *out;
    return CUTE_OK;
}

cute_status gemm_expression_finish(cute_arena *arena, gemm_problem *p, cute_dtype sums,
                                   epilogue_program **out, cute_diag *diag)
{
    CUTE_TRY(gemm_expression_read(arena, p, diag));
    epilogue_read_sums(p->tree, sums);
    p->tree->problem = gemm_expression_of_sums(p);
    CUTE_TRY(epilogue_run_passes(p->tree, NULL, diag));
    return epilogue_program_make(p->tree, out, diag);
}

/* A tile program is complete: its configuration reads A and B where they are. */
static cute_status choose_in_place(const gemm_problem *problem, const gemm_target *target,
                                   const char *configuration, gemm_algo *algo, cute_diag *diag)
{
    CUTE_TRY(gemm_choose(problem, 1, target, configuration, NULL, NULL, algo, diag));
    if (!algo->pack_a && !algo->pack_b) return CUTE_OK;
    gemm_algo all[GEMM_MAX_ALGOS];
    size_t count = gemm_algos(problem, 1, target, all, GEMM_MAX_ALGOS);
    for (size_t i = 0; i < count; i++) {
        if (all[i].pack_a || all[i].pack_b) continue;
        if (configuration)
            return cute_fail(
                diag, CUTE_INVALID, NULL,
                "configuration '%s' needs copies of A or B, which cute-run --gemm makes: expected one "
                "that reads them where they are, as '%s'",
                configuration, all[i].name);
        *algo = all[i];
        return CUTE_OK;
    }
    return cute_fail(diag, CUTE_INVALID, NULL,
                     "each configuration needs copies of A or B, which cute-run --gemm makes");
}

cute_status gemm_expression_open(cute_arena *arena, const cute_gemm_problem *given, const gemm_target *target,
                                 const char *configuration, const char *passes, gemm_problem *problem,
                                 gemm_algo *algo, epilogue_program **out, cute_diag *diag)
{
    CUTE_TRY(gemm_problem_read(given, -1, problem, diag));
    CUTE_TRY(gemm_expression_read(arena, problem, diag));
    CUTE_TRY(choose_in_place(problem, target, configuration, algo, diag));
    return gemm_expression_apply(arena, algo, problem, passes, out, diag);
}

bool gemm_expression_source(const gemm_algo *algo, cute_buffer *out)
{
    gemm_defines defines = {.arena = cute_arena_create()};
    const char *text = algo->program->text, *body = strchr(text, '!');
    defines.failed = !defines.arena;
    if (!defines.failed) algo->config->kernel->define(algo, &defines);
    bool good = !defines.failed && body;
    if (good) cute_buffer_append(out, text, (size_t)(body - text));
    for (size_t i = 0; good && i < defines.count; i++) {
        const char *equals = strchr(defines.items[i], '=');
        cute_buffer_printf(out, "//!param %.*s = %s\n", (int)(equals - defines.items[i]), defines.items[i],
                           equals + 1);
    }
    if (good) cute_buffer_puts(out, body);
    cute_arena_destroy(defines.arena);
    return good && cute_buffer_ok(out);
}

json_t *gemm_expression_data(json_t *document, const gemm_problem *p)
{
    json_t *buffers = json_object_get(document, "buffers"), *params = json_object();
    /* Sums of deviation 1, where activations are not flat. */
    double deviation = p->in == CUTE_I8 ? 0 : pow((double)p->given.k, -0.25);
    for (int i = 0; i < 2; i++) {
        json_t *buffer = json_object_get(buffers, i ? "B" : "A");
        json_object_set_new(buffer, "init",
                            deviation > 0 ? json_pack("{s:[ff]}", "normal", 0.0, deviation)
                                          : json_pack("{s:[ii]}", "integers", -3, 3));
    }
    for (size_t i = 0; i < p->value_count; i++)
        json_object_set_new(params, p->values[i].name, json_real(p->values[i].value));
    json_object_set_new(document, "params", params);
    const char *name;
    json_t *buffer;
    json_object_foreach(buffers, name, buffer)
    {
        for (int i = 0; i < p->tree->count; i++) {
            const epilogue_node *n = p->tree->nodes[i];
            if (n->op == EPILOGUE_LOAD && strcmp(n->name, name) == 0)
                json_object_set_new(buffer, "init",
                                    n->dtype != CUTE_I8 ? json_string("normal")
                                    : n->shape.div > 1  ? json_pack("{s:[ii]}", "integers", -128, 127)
                                                        : json_pack("{s:[ii]}", "integers", -3, 3));
        }
    }
    return epilogue_checks(p->tree);
}
