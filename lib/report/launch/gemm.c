/* The report of a matrix multiplication: the chosen configuration and the launch report. */
#include <stdlib.h>
#include <string.h>

#include "cute/report.h"
#include "lib/gemm/gemm.h"
#include "lib/report/launch/gemm.h"

static json_t *problem_json(const gemm_problem *p)
{
    const cute_gemm_problem *g = &p->given;
    static const char *const orders[] = {"rows", "columns"}, *const activations[] = {"none", "relu", "gelu"};
    return json_pack("{s:I,s:I,s:I,s:I,s:s,s:s,s:s,s:s,s:s,s:s,s:f,s:f,s:b,s:s}", "m", (json_int_t)g->m, "n",
                     (json_int_t)g->n, "k", (json_int_t)g->k, "batch", (json_int_t)g->batch, "type",
                     g->type_a, "type_d", g->type_d, "accumulate", g->accumulate, "order_a",
                     orders[g->order_a], "order_b", orders[g->order_b], "order_d", orders[g->order_d],
                     "alpha", g->alpha, "beta", g->beta, "bias", g->bias, "activation",
                     activations[g->activation]);
}

static const char *chosen_by(const cute_gemm *gemm, const cute_gemm_choice *c)
{
    if (!c->tuned) return "estimated";
    return gemm_algo_of(gemm)->emulated ? "emulated" : "measured";
}

static json_t *gemm_json(const cute_gemm *gemm)
{
    cute_gemm_choice c = {.size = sizeof c};
    size_t count;
    const gemm_problem *problems = gemm_problems(gemm, &count);
    json_t *list = json_array();
    if (cute_gemm_chosen(gemm, 0, &c, NULL) != CUTE_OK) return list;
    for (size_t i = 0; i < count; i++) json_array_append_new(list, problem_json(&problems[i]));
    return json_pack("{s:o,s:s,s:s,s:[III],s:I,s:s,s:f,s:b,s:b,s:b,s:b,s:b,s:I,s:I}", "problems", list,
                     "configuration", c.configuration, "kernel", c.kernel, "tile", (json_int_t)c.tile[0],
                     (json_int_t)c.tile[1], (json_int_t)c.tile[2], "stages", (json_int_t)c.stages, "chosen",
                     chosen_by(gemm, &c), "expected_s", c.seconds, "swapped", c.swapped, "packs_a", c.packs_a,
                     "packs_b", c.packs_b, "epilogue", c.epilogue, "fused", c.fused, "split",
                     (json_int_t)c.split, "workspace", (json_int_t)cute_gemm_workspace(gemm));
}

static void text_gemm(const cute_gemm *gemm, cute_buffer *out)
{
    cute_gemm_choice c = {.size = sizeof c};
    size_t count;
    const gemm_problem *problems = gemm_problems(gemm, &count);
    if (cute_gemm_chosen(gemm, 0, &c, NULL) != CUTE_OK) return;
    for (size_t i = 0; i < count; i++) {
        const cute_gemm_problem *g = &problems[i].given;
        cute_buffer_printf(out, "gemm %lldx%lldx%lld", (long long)g->m, (long long)g->n, (long long)g->k);
        if (g->batch > 1) cute_buffer_printf(out, ", batch %lld", (long long)g->batch);
        cute_buffer_printf(out, ": %s to %s, accumulated in %s, A by %s, B by %s, D by %s\n", g->type_a,
                           g->type_d, problems[i].fast ? "f32 with fast accumulation" : g->accumulate,
                           g->order_a ? "columns" : "rows", g->order_b ? "columns" : "rows",
                           g->order_d ? "columns" : "rows");
    }
    cute_buffer_printf(out, "configuration %s: kernel %s, tile %lldx%lldx%lld, %lld stages%s%s%s%s%s; %s\n",
                       c.configuration, c.kernel, (long long)c.tile[0], (long long)c.tile[1],
                       (long long)c.tile[2], (long long)c.stages, c.swapped ? ", D transposed" : "",
                       c.packs_a ? ", A copied first" : "", c.packs_b ? ", B copied first" : "",
                       c.epilogue ? ", separate epilogue" : "", c.fused ? ", fused epilogue" : "",
                       gemm_algo_of(gemm)->emulated && c.tuned
                           ? "the fastest on the emulator, not measured on a GPU"
                           : chosen_by(gemm, &c));
    if (cute_gemm_workspace(gemm))
        cute_buffer_printf(out, "workspace: %zu bytes\n", cute_gemm_workspace(gemm));
}

char *cute_gemm_report(const cute_gemm *gemm, const cute_launch *launch, bool json, bool timing)
{
    cute_buffer out = {0};
    char *own = cute_launch_report(launch, json, timing);
    json_t *value = own && json ? json_loads(own, 0, NULL) : NULL;
    if (!json) text_gemm(gemm, &out);
    if (!json && own) cute_buffer_puts(&out, own);
    free(own);
    if (json && value) json_object_set_new(value, "gemm", gemm_json(gemm));
    return cute_json_finish(value, json, &out);
}
