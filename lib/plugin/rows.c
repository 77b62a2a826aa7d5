/* Reads the rows of a plugin: copies them, as its header may be older, and checks names, options and functions. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/plugin/plugins.h"

typedef struct reader {
    cute_plugins *all;
    plugin_library *library;
    cute_diag *diag;
} reader;

/* Reports "KIND 'NAME': ..." at the plugin's file. */
CUTE_PRINTF(4, 5)
static cute_status refuse(const reader *r, const char *kind, const char *name, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_fail(r->diag, CUTE_INVALID, &(cute_place){.file = r->library->path}, "%s '%s': %s", kind,
              name ? name : "", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return CUTE_INVALID;
}

/* Copies `count` rows of `theirs` bytes to rows of `ours` bytes, the rest zero. */
static cute_status copy_rows(const reader *r, const char *kind, const void *rows, size_t count, size_t theirs,
                             size_t ours, void *out)
{
    if (count && (!rows || theirs < ours)) {
        cute_fail(r->diag, CUTE_INVALID, &(cute_place){.file = r->library->path},
                  "expected rows of at least %zu bytes in the list of %s, got %zu", ours, kind, theirs);
        cute_note(r->diag, NULL, "state lists as CUTE_ROWS(array)");
        return CUTE_INVALID;
    }
    char *copy = cute_arena_array(r->all->arena, count + 1, ours);
    if (!copy) return cute_fail_memory(r->diag);
    for (size_t i = 0; i < count; i++) memcpy(copy + i * ours, (const char *)rows + i * theirs, ours);
    memcpy(out, &copy, sizeof copy);
    return CUTE_OK;
}
#define COPY(r, kind, list, out)                                                                             \
    copy_rows(r, kind, (r)->library->info->list.rows, (r)->library->info->list.count,                        \
              (r)->library->info->list.size, sizeof *(out), &(out))

/* ---- names ---- */

/* A letter, then letters, digits and `more`. */
static bool is_name(const char *name, const char *more)
{
    if (!name || !isalpha((unsigned char)*name)) return false;
    for (const char *c = name + 1; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr(more, *c)) return false;
    return true;
}

static bool is_code(const char *code)
{
    if (!code || *code != 'X' || strlen(code) != 5) return false;
    for (int i = 1; i < 5; i++)
        if (!isdigit((unsigned char)code[i])) return false;
    return true;
}

/* The plugin that has a pass or a pipeline of this name, among the first `passes` and `pipelines` of `own`; NULL: none. */
static const char *owner_of_pass(const reader *r, const char *name, size_t passes, size_t pipelines)
{
    for (size_t l = 0; l <= r->all->count; l++) {
        bool own = l == r->all->count;
        const plugin_library *library = own ? r->library : r->all->libraries[l];
        for (size_t i = 0; i < (own ? passes : library->pass_count); i++)
            if (strcmp(library->passes[i].name, name) == 0) return library->path;
        for (size_t i = 0; i < (own ? pipelines : library->pipeline_count); i++)
            if (strcmp(library->pipelines[i].name, name) == 0) return library->path;
    }
    return NULL;
}

/* ---- compilers ---- */

static cute_status check_option(const reader *r, const cute_plugin_pass *pass, const cute_plugin_option *o)
{
    const char *initial = o->initial ? o->initial : "";
    char *end;
    if (!is_name(o->name, "-_"))
        return refuse(r, "pass", pass->name,
                      "expected an option's name of letters, digits, '-' and '_', got '%s'",
                      o->name ? o->name : "");
    if (o->kind > CUTE_PLUGIN_TEXT)
        return refuse(r, "pass", pass->name,
                      "option '%s' expects the kind CUTE_PLUGIN_BOOL, _INT or _TEXT, got %d", o->name,
                      (int)o->kind);
    if (o->kind == CUTE_PLUGIN_BOOL && *initial && strcmp(initial, "true") != 0 &&
        strcmp(initial, "false") != 0)
        return refuse(r, "pass", pass->name, "option '%s' expects the default true or false, got '%s'",
                      o->name, initial);
    if (o->kind == CUTE_PLUGIN_INT && *initial && (strtoll(initial, &end, 10), *end))
        return refuse(r, "pass", pass->name, "option '%s' expects an integer as default, got '%s'", o->name,
                      initial);
    return CUTE_OK;
}

static cute_status check_pass(const reader *r, size_t index)
{
    const cute_plugin_pass *pass = &r->library->passes[index];
    if (!is_name(pass->name, "-"))
        return refuse(r, "pass", pass->name, "expected a name of letters, digits and '-'");
    const char *owner = owner_of_pass(r, pass->name, index, 0);
    if (owner) return refuse(r, "pass", pass->name, "%s has a pass of this name, too", owner);
    if (!pass->run) return refuse(r, "pass", pass->name, "expected the function 'run', got NULL");
    for (size_t i = 0; i < pass->option_count; i++) {
        CUTE_TRY(check_option(r, pass, &pass->options[i]));
        for (size_t k = 0; k < i; k++)
            if (strcmp(pass->options[i].name, pass->options[k].name) == 0)
                return refuse(r, "pass", pass->name, "two options are named '%s'", pass->options[i].name);
    }
    return CUTE_OK;
}

static cute_status check_pipeline(const reader *r, size_t index)
{
    const cute_plugin_pipeline *pipeline = &r->library->pipelines[index];
    if (!is_name(pipeline->name, "-"))
        return refuse(r, "pipeline", pipeline->name, "expected a name of letters, digits and '-'");
    const char *owner = owner_of_pass(r, pipeline->name, r->library->pass_count, index);
    if (owner)
        return refuse(r, "pipeline", pipeline->name, "%s has a pass or pipeline of this name, too", owner);
    if (!pipeline->passes)
        return refuse(r, "pipeline", pipeline->name, "expected a list of passes, got NULL");
    return CUTE_OK;
}

static cute_status check_step(const reader *r, const cute_plugin_step *step)
{
    if (!step->pipeline || !step->passes)
        return refuse(r, "step", step->passes, "expected a pipeline and passes, got NULL");
    if (!step->before == !step->after)
        return refuse(r, "step", step->passes, "expected one of 'before' and 'after', got %s",
                      step->before ? "both" : "none");
    return CUTE_OK;
}

static cute_status check_operation(const reader *r, const cute_plugin_operation *op)
{
    const char *dot = op->name ? strchr(op->name, '.') : NULL;
    if (!dot || dot == op->name || !dot[1] || !is_name(op->name, "._"))
        return refuse(r, "operation", op->name, "expected a name such as mine.scale");
    if (op->operands < -1 || op->results < -1 || op->regions < -1 || op->successors < -1)
        return refuse(r, "operation", op->name, "expected counts from 0 on, or CUTE_PLUGIN_ANY");
    return CUTE_OK;
}

static cute_status read_compiler_rows(reader *r)
{
    plugin_library *l = r->library;
    CUTE_TRY(COPY(r, "passes", passes, l->passes));
    CUTE_TRY(COPY(r, "pipelines", pipelines, l->pipelines));
    CUTE_TRY(COPY(r, "steps", steps, l->steps));
    CUTE_TRY(COPY(r, "operations", operations, l->operations));
    for (; l->pass_count < l->info->passes.count; l->pass_count++) CUTE_TRY(check_pass(r, l->pass_count));
    for (; l->pipeline_count < l->info->pipelines.count; l->pipeline_count++)
        CUTE_TRY(check_pipeline(r, l->pipeline_count));
    for (; l->step_count < l->info->steps.count; l->step_count++)
        CUTE_TRY(check_step(r, &l->steps[l->step_count]));
    for (; l->operation_count < l->info->operations.count; l->operation_count++)
        CUTE_TRY(check_operation(r, &l->operations[l->operation_count]));
    return CUTE_OK;
}

/* ---- the run-time half ---- */

static cute_status add_check(reader *r, const cute_plugin_check *row)
{
    plugin_check *out = &r->all->checks[r->all->check_count];
    if (!is_name(row->name, "_-"))
        return refuse(r, "check", row->name, "expected a name of letters, digits, '-' and '_'");
    if (strcmp(row->name, "all") == 0) return refuse(r, "check", row->name, "the name selects all checks");
    if (cute_plugins_check_bit(r->all, row->name, strlen(row->name)))
        return refuse(r, "check", row->name, "another check of a plugin has this name");
    if (!row->begin) return refuse(r, "check", row->name, "expected the function 'begin', got NULL");
    if (r->all->check_count == CUTE_CHECK_PLUGINS)
        return refuse(r, "check", row->name, "expected at most %d checks of plugins", CUTE_CHECK_PLUGINS);
    for (size_t i = 0; i < row->finding_count; i++) {
        const cute_plugin_check_finding *f = &row->findings[i];
        if (!is_code(f->code))
            return refuse(r, "check", row->name, "expected a code of X and four digits, got '%s'",
                          f->code ? f->code : "");
        if (f->severity != CUTE_ERROR && (f->severity != CUTE_WARNING || !f->reason))
            return refuse(r, "check", row->name, "%s: expected an error, or a warning with its reason",
                          f->code);
    }
    *out = (plugin_check){.library = r->library, .row = *row};
    r->all->check_count++;
    return CUTE_OK;
}

static cute_status add_finding(reader *r, const cute_plugin_finding *row)
{
    if (!is_code(row->code))
        return refuse(r, "finding", row->name, "expected a code of X and four digits, got '%s'",
                      row->code ? row->code : "");
    if (!is_name(row->name, "-") || !row->title || !row->fix)
        return refuse(r, "finding", row->code,
                      "expected a name of letters, digits and '-', a title and a fix");
    if (row->view > CUTE_EXPLAIN_SASS || !row->find)
        return refuse(r, "finding", row->name, "expected a view of PTX or SASS, and the function 'find'");
    for (size_t i = 0; i < r->all->finding_count; i++)
        if (!strcmp(r->all->findings[i].row.code, row->code) ||
            !strcmp(r->all->findings[i].row.name, row->name))
            return refuse(r, "finding", row->name, "another finding of a plugin has this name or code");
    r->all->findings[r->all->finding_count++] = (plugin_finding){r->library, *row};
    return CUTE_OK;
}

static cute_status add_reduction(reader *r, const cute_plugin_reduction *row)
{
    if (!is_name(row->name, "_"))
        return refuse(r, "reduction", row->name, "expected a name of letters, digits and '_'");
    if (cute_plugins_reduction(r->all, row->name))
        return refuse(r, "reduction", row->name, "another reduction of a plugin has this name");
    if (!row->add) return refuse(r, "reduction", row->name, "expected the function 'add', got NULL");
    r->all->reductions[r->all->reduction_count++] = (plugin_reduction){r->library, *row};
    return CUTE_OK;
}

/* Makes room for `more` elements. */
static bool grow(cute_plugins *all, void *list, size_t count, size_t more, size_t size)
{
    char *bigger = cute_arena_array(all->arena, count + more + 1, size), *old;
    if (!bigger) return false;
    memcpy(&old, list, sizeof old);
    if (count) memcpy(bigger, old, count * size);
    memcpy(list, &bigger, sizeof bigger);
    return true;
}

static cute_status read_run_rows(reader *r)
{
    cute_plugins *all = r->all;
    const cute_plugin *info = r->library->info;
    cute_plugin_check *checks;
    cute_plugin_finding *findings;
    cute_plugin_reduction *reductions;
    CUTE_TRY(COPY(r, "checks", checks, checks));
    CUTE_TRY(COPY(r, "findings", findings, findings));
    CUTE_TRY(COPY(r, "reductions", reductions, reductions));
    if (!grow(all, &all->checks, all->check_count, info->checks.count, sizeof *all->checks) ||
        !grow(all, &all->findings, all->finding_count, info->findings.count, sizeof *all->findings) ||
        !grow(all, &all->reductions, all->reduction_count, info->reductions.count, sizeof *all->reductions))
        return cute_fail_memory(r->diag);
    for (size_t i = 0; i < info->checks.count; i++) CUTE_TRY(add_check(r, &checks[i]));
    for (size_t i = 0; i < info->findings.count; i++) CUTE_TRY(add_finding(r, &findings[i]));
    for (size_t i = 0; i < info->reductions.count; i++) CUTE_TRY(add_reduction(r, &reductions[i]));
    return CUTE_OK;
}

cute_status plugin_read_rows(cute_plugins *all, plugin_library *library, bool compiler, cute_diag *diag)
{
    reader r = {all, library, diag};
    return compiler ? read_compiler_rows(&r) : read_run_rows(&r);
}

unsigned cute_plugins_check_bits(const cute_plugins *plugins)
{
    return plugins ? (unsigned)(((UINT64_C(1) << plugins->check_count) - 1) * CUTE_CHECK_PLUGIN) : 0;
}

unsigned cute_plugins_check_bit(const cute_plugins *plugins, const char *name, size_t length)
{
    for (size_t i = 0; plugins && i < plugins->check_count; i++)
        if (strlen(plugins->checks[i].row.name) == length &&
            memcmp(plugins->checks[i].row.name, name, length) == 0)
            return (unsigned)CUTE_CHECK_PLUGIN << i;
    return 0;
}

const plugin_reduction *cute_plugins_reduction(const cute_plugins *plugins, const char *name)
{
    for (size_t i = 0; plugins && i < plugins->reduction_count; i++)
        if (strcmp(plugins->reductions[i].row.name, name) == 0) return &plugins->reductions[i];
    return NULL;
}
