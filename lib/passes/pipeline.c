/* Turns the rows of pipeline.def into textual pipelines for MLIR's pass manager. */
#include <llvm/Config/llvm-config.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/devices/arch.h"
#include "lib/ir/mlir/extension.h"
#include "lib/passes/passes.h"

enum {
#define CUTE_PIPELINE(id, name, help) PIPELINE_##id,
#include "lib/passes/pipeline.def"
    PIPELINES
};

static const struct {
    int pipeline;
    const char *anchor, *pass, *options, *when;
} steps[] = {
#define CUTE_STEP(id, anchor, pass, options, when) {PIPELINE_##id, anchor, pass, options, when},
#include "lib/passes/pipeline.def"
};

static const cute_pass_option options[] = {
#define CUTE_OPTION(id, name, kind, initial, help) {name, kind, help, 0, initial},
#include "lib/passes/pipeline.def"
};
static const int pipeline_of_option[] = {
#define CUTE_OPTION(id, name, kind, initial, help) PIPELINE_##id,
#include "lib/passes/pipeline.def"
};
enum { OPTIONS = sizeof options / sizeof *options };

/* ---- option values ---- */

static int find_option(const cute_pipeline *p, const char *name, size_t length)
{
    for (int i = 0; i < p->option_count; i++)
        if (strlen(p->options[i].name) == length && !memcmp(p->options[i].name, name, length)) return i;
    return -1;
}

static cute_status check_arch(const char *name, const char **values, int own, int other, cute_diag *diag)
{
    (void)name;
    const cute_arch *arch;
    if (!*values[own] && !*values[other]) return CUTE_OK;
    CUTE_TRY(cute_arch_choose(*values[own] ? values[own] : NULL, &arch, diag));
    values[own] = arch->name;
    return CUTE_OK;
}

static cute_status check_level(const char *name, const char **values, int own, int other, cute_diag *diag)
{
    (void)other;
    const char *level = values[own];
    if (!*level) values[own] = "3";
    if (!*level || (strlen(level) == 1 && *level >= '0' && *level <= '3')) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected %s from 0 to 3, got '%s'", name, level);
}

static cute_status check_format(const char *name, const char **values, int own, int other, cute_diag *diag)
{
    (void)name, (void)other;
    static const char *const formats[] = {"", "isa", "bin", "fatbin"};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        if (!strcmp(values[own], formats[i])) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected cubin-format isa, bin or fatbin, got '%s'",
                     values[own]);
}

static cute_status check_map(const char *name, const char **values, int own, int other, cute_diag *diag)
{
    (void)name, (void)other;
    if (!strcmp(values[own], "param") || !strcmp(values[own], "memory")) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected tensor-map 'param' or 'memory', got '%s'",
                     values[own]);
}

/* Options with a restricted set of values; `check` may complete the value. */
static const struct {
    const char *option, *other;
    cute_status (*check)(const char *name, const char **values, int own, int other, cute_diag *diag);
} checks[] = {{"target-arch", "O", check_arch},
              {"O", "target-arch", check_level},
              {"tensor-map", "", check_map},
              {"cubin-chip", "opt-level", check_arch},
              {"opt-level", "cubin-chip", check_level},
              {"cubin-format", "", check_format}};

static cute_status check_values(const cute_pipeline *p, const char **values, cute_diag *diag)
{
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        int own = find_option(p, checks[i].option, strlen(checks[i].option));
        int other = find_option(p, checks[i].other, strlen(checks[i].other));
        if (own >= 0) CUTE_TRY(checks[i].check(checks[i].option, values, own, other, diag));
    }
    return CUTE_OK;
}

/* ---- textual pipeline ---- */

static bool is_on(const cute_pipeline *p, const char *const *values, const char *when)
{
    if (!strcmp(when, "on module")) return p->on_module;
    int i = *when ? find_option(p, when, strlen(when)) : -1;
    if (i < 0) return !*when;
    return p->options[i].kind == CUTE_PASS_BOOL ? !strcmp(values[i], "true") : *values[i] != '\0';
}

/* Appends `text` with each ${name} replaced. */
static void put_options(const cute_pipeline *p, const char *const *values, const char *text, cute_buffer *out)
{
    while (*text) {
        size_t plain = strcspn(text, "$"), length = text[plain] ? strcspn(text + plain, "}") : 0;
        cute_buffer_append(out, text, plain);
        text += plain;
        if (!length) continue;
        int i = find_option(p, text + 2, length - 2);
        cute_buffer_puts(out, i < 0 ? "" : values[i]);
        text += length + 1;
    }
}

/* Closes the brackets that the anchor "gpu.module" or "gpu.module(any" opened. */
static void close_anchor(const char *anchor, cute_buffer *out)
{
    if (!*anchor) return;
    for (const char *at = anchor; (at = strchr(at, '(')); at++) cute_buffer_puts(out, ")");
    cute_buffer_puts(out, ")");
}

/* The textual pipeline so far, and the bracket that is open in it. */
typedef struct pipeline_writer {
    cute_buffer *out;
    const char *anchor, *separator;
} pipeline_writer;

static void open_anchor(pipeline_writer *w, const char *anchor)
{
    if (strcmp(w->anchor, anchor)) {
        close_anchor(w->anchor, w->out);
        cute_buffer_puts(w->out, w->separator);
        if (*anchor) cute_buffer_printf(w->out, "%s(", anchor);
        w->anchor = anchor;
    } else {
        cute_buffer_puts(w->out, w->separator);
    }
    w->separator = ",";
}

/* Whether an earlier (or later) step of the pipeline runs the same pass. */
static bool runs_elsewhere(const cute_pipeline *p, const char *const *values, size_t at, bool earlier)
{
    size_t count = sizeof steps / sizeof *steps;
    for (size_t i = earlier ? 0 : at + 1; i < (earlier ? at : count); i++)
        if (steps[i].pipeline == p->id && is_on(p, values, steps[i].when) &&
            !strcmp(steps[i].pass, steps[at].pass))
            return true;
    return false;
}

/* The steps of plugins before or after a step. */
static void put_added(pipeline_writer *w, const cute_pipeline *p, const char *const *values, size_t at,
                      bool before)
{
    const cute_plugin_step *added;
    for (size_t i = 0; (added = cute_extension_step(i)); i++) {
        const char *place = before ? added->before : added->after;
        if (!place || strcmp(added->pipeline, p->name) || strcmp(place, steps[at].pass) ||
            runs_elsewhere(p, values, at, before))
            continue;
        open_anchor(w, "");
        cute_buffer_puts(w->out, added->passes);
    }
}

/* The steps from `first` to `last`; NULL: all. */
static void put_steps(const cute_pipeline *p, const char *const *values, const char *first, const char *last,
                      cute_buffer *out)
{
    pipeline_writer w = {out, "", ""};
    bool in_range = !first;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        if (steps[i].pipeline != p->id || !is_on(p, values, steps[i].when)) continue;
        in_range |= first && !strcmp(steps[i].pass, first);
        if (!in_range) continue;
        put_added(&w, p, values, i, true);
        open_anchor(&w, steps[i].anchor);
        cute_buffer_puts(out, steps[i].pass);
        if (*steps[i].options) {
            cute_buffer_puts(out, "{");
            put_options(p, values, steps[i].options, out);
            cute_buffer_puts(out, "}");
        }
        put_added(&w, p, values, i, false);
        if (last && !strcmp(steps[i].pass, last)) break;
    }
    close_anchor(w.anchor, out);
}

static char *pipeline_text(const cute_pipeline *p, const char *const *given, cute_diag *diag)
{
    const char *values[OPTIONS];
    for (int i = 0; i < p->option_count; i++) values[i] = given[i];
    if (check_values(p, values, diag)) return NULL;
    cute_buffer text = {0};
    put_steps(p, values, NULL, NULL, &text);
    if (cute_buffer_ok(&text)) return text.data;
    cute_buffer_release(&text);
    cute_fail_memory(diag);
    return NULL;
}

/* ---- the pipelines ---- */

static const struct {
    const char *name, *help;
} names[] = {
#define CUTE_PIPELINE(id, name, help) {name, help},
#include "lib/passes/pipeline.def"
};

static cute_pipeline pipeline_of(int id)
{
    cute_pipeline p = {.id = id, .name = names[id].name, .help = names[id].help, .text = pipeline_text};
    for (int i = 0; i < OPTIONS; i++) {
        if (pipeline_of_option[i] != id) continue;
        if (!p.options) p.options = &options[i];
        p.option_count++;
    }
    return p;
}

bool cute_pipeline_runs(const char *pipeline, const char *pass)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (!strcmp(names[steps[i].pipeline].name, pipeline) && (!pass || !strcmp(steps[i].pass, pass)))
            return true;
    return false;
}

void cute_passes_register(void)
{
#define CUTE_PASS(id) cute_pass_register(&cute_pass_##id);
#include "lib/passes/passes.def"
#undef CUTE_PASS
    for (int id = 0; id < PIPELINES; id++) {
        cute_pipeline p = pipeline_of(id);
        cute_pipeline_register(&p);
    }
}

/* Options of a pass are separated by spaces, the parts of a schedule by spaces or commas. */
static void as_option(char *schedule)
{
    for (char *c = schedule; *c; c++)
        if (*c == ' ') *c = ',';
}

static void put_full(const char *const (*set)[2], size_t count, const char *first, const char *last,
                     cute_buffer *out)
{
    cute_pipeline p = pipeline_of(PIPELINE_FULL);
    const char *values[OPTIONS];
    for (int i = 0; i < p.option_count; i++) values[i] = p.options[i].initial_text;
    for (size_t i = 0; i < count; i++) values[find_option(&p, set[i][0], strlen(set[i][0]))] = set[i][1];
    put_steps(&p, values, first, last, out);
}

void cute_tile_pipeline(const cute_arch *arch, MlirStringRef schedule, cute_buffer *out)
{
    char text[256];
    snprintf(text, sizeof text, "%.*s", (int)schedule.length, schedule.data);
    as_option(text);
    const char *const set[][2] = {{"target-arch", arch->name}, {"schedule", text}};
    put_full(set, sizeof set / sizeof *set, "cute-tile-schedule", "cute-tile-distribute", out);
}

void cute_lowering_pipeline(const cute_lowering *lowering, cute_buffer *out)
{
    char schedule[256];
    snprintf(schedule, sizeof schedule, "%s", lowering->schedule ? lowering->schedule : "");
    as_option(schedule);
    const char *const set[][2] = {
        {"target-arch", lowering->arch->name},
        {"O", (const char[]){(char)('0' + lowering->opt_level), 0}},
        {"assertions", lowering->assertions ? "true" : "false"},
        {"tensor-map", lowering->tensor_maps_memory ? "memory" : "param"},
        {"static-checks", lowering->static_checks},
        {"relocatable", lowering->relocatable ? "true" : "false"},
        {"lineinfo", lowering->lineinfo ? "true" : "false"},
        {"schedule", schedule},
    };
    put_full(set, sizeof set / sizeof *set, NULL, NULL, out);
}

void cute_lowering_end(const cute_lowering *lowering, cute_buffer *out)
{
    cute_buffer_printf(
        out,
        "cute-kernel-metadata{warn-absent=false},cute-finish-kernels{relocatable=%s},cute-kernel-registers,"
        "cute-check-lowered{arch=%s}",
        lowering->relocatable ? "true" : "false", lowering->arch->name);
    if (lowering->lineinfo) cute_buffer_puts(out, ",cute-line-info,ensure-debug-info-scope-on-llvm-func");
}
