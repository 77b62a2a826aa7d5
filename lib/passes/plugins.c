/* Registers what plugins add to the compilers: passes and pipelines in MLIR's registry, steps of our pipelines, operations, and
 * passes of PDL patterns. Everything lives as long as the process, as MLIR's registry does. */
#include "lib/passes/plugins.h"

#include <ctype.h>
#include <llvm/Config/llvm-config.h>
#include <mlir-c/Diagnostics.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/ir/diagnostics/diagnostics.h"
#include "lib/ir/diagnostics/recover.h"
#include "lib/ir/mlir/builder.h"
#include "lib/ir/mlir/context.h"
#include "lib/ir/mlir/extension.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/passes.h"
#include "lib/plugin/plugins.h"

/* ---- a pass ---- */

typedef struct added_pass {
    const cute_plugin_pass *row;
    const plugin_library *library;
} added_pass;

static const added_pass *added_of(const cute_pass_run *run)
{
    return cute_pass_user(run);
}

CUTE_PRINTF(2, 3)
static void fail_pass(MlirOperation at, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_emit_error(mlirOperationGetLocation(at), cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static MlirLogicalResult note_error(MlirDiagnostic diagnostic, void *context)
{
    if (mlirDiagnosticGetSeverity(diagnostic) == MlirDiagnosticError) *(bool *)context = true;
    return mlirLogicalResultFailure(); /* to the next handler */
}

/* Calls requires or ensures. */
static bool holds(const added_pass *p, bool (*condition)(MlirOperation, cute_pass_run *), const char *kind,
                  MlirOperation root, cute_pass_run *run)
{
    plugin_mark mark;
    bool told = false;
    if (!condition) return true;
    MlirContext context = mlirOperationGetContext(root);
    MlirDiagnosticHandlerID handler = mlirContextAttachDiagnosticHandler(context, note_error, &told, NULL);
    plugin_enter(&mark, p->library, kind, p->row->name);
    bool ok = condition(root, run);
    plugin_leave(&mark);
    mlirContextDetachDiagnosticHandler(context, handler);
    if (!ok && !told)
        fail_pass(root, "the %s of the pass '%s' does not hold", kind[0] == 'r' ? "requirement" : "guarantee",
                  p->row->name);
    return ok;
}

/* Runs the passes that it needs and that have not run. */
static bool run_needed(const added_pass *p, MlirOperation root, cute_pass_run *run)
{
    /* Noted before they run, so that passes that need each other end. */
    cute_pass_note_run(run);
    for (const char *at = p->row->needs; at && *at;) {
        char name[128];
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        at += length + (at[length] == ',');
        if (!cute_pass_has_run(run, name) && !cute_pass_run_pipeline(run, name, root)) return false;
    }
    return true;
}

/* A pass of a plugin: its conditions, the pass itself, and operations that it left outside of the module. */
static void run_added_pass(MlirOperation root, cute_pass_run *run)
{
    const added_pass *p = added_of(run);
    plugin_mark mark;
    if (!run_needed(p, root, run)) {
        cute_pass_fail(run);
        return;
    }
    if (!holds(p, p->row->requires_, "requires function of the pass", root, run)) {
        cute_pass_fail(run);
        return;
    }
    plugin_enter(&mark, p->library, "pass", p->row->name);
    p->row->run(root, run);
    plugin_leave(&mark);
    MlirOperation stray = cute_stray_user(root);
    if (!mlirOperationIsNull(stray)) {
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(stray));
        fail_pass(stray,
                  "the pass '%s' of the plugin %s made '%.*s' from a value of the module, but neither "
                  "inserted it nor "
                  "destroyed it",
                  p->row->name, p->library->path, (int)name.length, name.data);
        cute_pass_fail(run);
        return;
    }
    if (!cute_pass_has_failed(run) && !holds(p, p->row->ensures, "ensures function of the pass", root, run))
        cute_pass_fail(run);
}

/* ---- the functions for plugins ---- */

static int find_option(const cute_pass_run *run, const char *name)
{
    const cute_plugin_pass *row = added_of(run)->row;
    for (size_t i = 0; name && i < row->option_count; i++)
        if (strcmp(row->options[i].name, name) == 0) return (int)i;
    return -1;
}

static int64_t host_option_int(const cute_pass_run *run, const char *name)
{
    int i = find_option(run, name);
    return i >= 0 && added_of(run)->row->options[i].kind != CUTE_PLUGIN_TEXT ? cute_pass_int(run, i) : 0;
}

static const char *host_option_text(const cute_pass_run *run, const char *name)
{
    int i = find_option(run, name);
    return i >= 0 && added_of(run)->row->options[i].kind == CUTE_PLUGIN_TEXT ? cute_pass_text(run, i).data
                                                                             : NULL;
}

CUTE_PRINTF(3, 0)
static void vemit(MlirLocation location, bool error, const char *format, va_list args)
{
    cute_buffer text = {0};
    cute_buffer_vprintf(&text, format, args);
    (error ? cute_emit_error : cute_emit_warning)(location, cute_buffer_text(&text));
    cute_buffer_release(&text);
}

CUTE_PRINTF(2, 3)
static void host_error(MlirLocation location, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vemit(location, true, format, args);
    va_end(args);
}

CUTE_PRINTF(2, 3)
static void host_warning(MlirLocation location, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vemit(location, false, format, args);
    va_end(args);
}

CUTE_PRINTF(3, 4)
static void host_remark(const cute_pass_run *run, MlirLocation location, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    cute_pass_remark(run, location, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

static MlirOperation host_build(MlirOperation op, const char *name, const MlirValue *operands,
                                intptr_t operand_count, const MlirType *types, intptr_t type_count,
                                const MlirNamedAttribute *attributes, intptr_t attribute_count)
{
    cute_builder b = cute_builder_before(op);
    return cute_build(&b, name, (cute_operands){operands, operand_count}, (cute_types){types, type_count},
                      (cute_named){attributes, attribute_count});
}

static void host_replace(MlirOperation op, const MlirValue *values, intptr_t count)
{
    intptr_t results = mlirOperationGetNumResults(op);
    if (count != results) {
        fail_pass(op, "replace expects a value for each of %lld results, got %lld", (long long)results,
                  (long long)count);
        return;
    }
    for (intptr_t i = 0; i < count; i++)
        mlirValueReplaceAllUsesOfWith(mlirOperationGetResult(op, i), values[i]);
    mlirOperationDestroy(op);
}

static const cute_compiler_host compiler_host = {
    .size = sizeof compiler_host,
    .option_int = host_option_int,
    .option_text = host_option_text,
    .fail = cute_pass_fail,
    .unchanged = cute_pass_unchanged,
    .run_passes = cute_pass_run_pipeline,
    .error = host_error,
    .warning = host_warning,
    .remark = host_remark,
    .each = cute_op_each,
    .build = host_build,
    .replace = host_replace,
};

/* ---- registration ---- */

static cute_status refuse(const char *path, const char *kind, const char *name, cute_diag *diag,
                          const char *reason, const char *fix)
{
    cute_fail(diag, CUTE_INVALID, &(cute_place){.file = path}, "%s '%s': %s", kind, name, reason);
    if (fix) cute_note(diag, NULL, "%s", fix);
    return CUTE_INVALID;
}

static cute_pass_option option_of(const cute_plugin_option *o)
{
    const char *initial = o->initial ? o->initial : "";
    return (cute_pass_option){.name = o->name,
                              .kind = o->kind == CUTE_PLUGIN_BOOL  ? CUTE_PASS_BOOL
                                      : o->kind == CUTE_PLUGIN_INT ? CUTE_PASS_INT
                                                                   : CUTE_PASS_TEXT,
                              .help = o->help ? o->help : "",
                              .initial = o->kind == CUTE_PLUGIN_BOOL ? strcmp(initial, "true") == 0
                                                                     : strtoll(initial, NULL, 10),
                              .initial_text = initial};
}

static cute_status register_pass(cute_arena *arena, const plugin_library *library,
                                 const cute_plugin_pass *row, cute_diag *diag)
{
    if (cute_pass_is_known(row->name))
        return refuse(library->path, "pass", row->name, diag,
                      "a pass or pipeline of MLIR or libcute has this name",
                      "begin the names of passes with the name of the plugin");
    added_pass *user = cute_arena_alloc(arena, sizeof *user);
    cute_pass *pass = cute_arena_alloc(arena, sizeof *pass);
    cute_pass_option *options = cute_arena_array(arena, row->option_count + 1, sizeof *options);
    if (!user || !pass || !options) return cute_fail_memory(diag);
    for (size_t i = 0; i < row->option_count; i++) options[i] = option_of(&row->options[i]);
    *user = (added_pass){row, library};
    *pass = (cute_pass){.name = row->name,
                        .help = row->help ? row->help : "",
                        .anchor = row->anchor,
                        .options = options,
                        .option_count = (int)row->option_count,
                        .run = run_added_pass,
                        .user = user};
    cute_pass_register(pass);
    cute_extension_note_pass(row->name);
    if (row->dialects) cute_extension_load(row->dialects);
    return CUTE_OK;
}

static char *pipeline_text(const cute_pipeline *pipeline, const char *const *values, cute_diag *diag)
{
    (void)values;
    char *text = strdup(pipeline->user);
    if (!text) cute_fail_memory(diag);
    return text;
}

static cute_status register_pipeline(const plugin_library *library, const cute_plugin_pipeline *row,
                                     cute_diag *diag)
{
    if (cute_pass_is_known(row->name))
        return refuse(library->path, "pipeline", row->name, diag,
                      "a pass or pipeline of MLIR or libcute has this name",
                      "begin the names of pipelines with the name of the plugin");
    cute_pipeline pipeline = {
        .name = row->name, .help = row->help ? row->help : "", .text = pipeline_text, .user = row->passes};
    cute_pipeline_register(&pipeline);
    cute_extension_note_pass(row->name);
    return CUTE_OK;
}

/* After all passes are registered. */
static cute_status check_passes(const plugin_library *library, const char *kind, const char *name,
                                const char *passes, cute_diag *diag)
{
    static const char error[] = "error: ";
    char *reason = cute_pipeline_check(passes), *text = reason ? strstr(reason, error) : NULL;
    cute_status status = CUTE_OK;
    /* MLIR's reason is its first line, behind a place in the text of the pipeline. */
    if (text) text[strcspn(text, "\n")] = '\0';
    if (reason)
        status = refuse(library->path, kind, name, diag, text ? text + sizeof error - 1 : reason, NULL);
    free(reason);
    return status;
}

static cute_status check_needs(const plugin_library *library, const cute_plugin_pass *row, cute_diag *diag)
{
    return row->needs ? check_passes(library, "pass", row->name, row->needs, diag) : CUTE_OK;
}

static cute_status register_step(const plugin_library *library, const cute_plugin_step *row, cute_diag *diag)
{
    const char *place = row->before ? row->before : row->after;
    if (!cute_pipeline_runs(row->pipeline, NULL)) {
        cute_fail(diag, CUTE_INVALID, &(cute_place){.file = library->path},
                  "step '%s': there is no pipeline '%s' to add it to", row->passes, row->pipeline);
        cute_note(diag, NULL, "the default lowering is cute-full-lowering");
        return CUTE_INVALID;
    }
    if (!cute_pipeline_runs(row->pipeline, place)) {
        cute_fail(diag, CUTE_INVALID, &(cute_place){.file = library->path},
                  "step '%s': the pipeline '%s' does not run the pass '%s'", row->passes, row->pipeline,
                  place);
        cute_note(diag, NULL, "'cute-opt --print-pipeline=%s' lists its passes", row->pipeline);
        return CUTE_INVALID;
    }
    CUTE_TRY(check_passes(library, "step", row->passes, row->passes, diag));
    cute_extension_add_step(row);
    return CUTE_OK;
}

static cute_status register_operation(MlirDialectRegistry registry, const plugin_library *library,
                                      const cute_plugin_operation *row, cute_diag *diag)
{
    if (cute_registry_has(registry, row->name, strcspn(row->name, ".")))
        return refuse(library->path, "operation", row->name, diag, "MLIR or libcute has the dialect",
                      "choose another name for the dialect, such as that of the plugin");
    if (cute_extension_has_operation(row->name))
        return refuse(library->path, "operation", row->name, diag, "a plugin already has this operation",
                      NULL);
    cute_extension_add_operation(row, library);
    return CUTE_OK;
}

static cute_status register_library(MlirDialectRegistry registry, cute_arena *arena, const plugin_library *l,
                                    cute_diag *diag)
{
    for (size_t i = 0; i < l->operation_count; i++)
        CUTE_TRY(register_operation(registry, l, &l->operations[i], diag));
    for (size_t i = 0; i < l->pass_count; i++) CUTE_TRY(register_pass(arena, l, &l->passes[i], diag));
    for (size_t i = 0; i < l->pipeline_count; i++) CUTE_TRY(register_pipeline(l, &l->pipelines[i], diag));
    for (size_t i = 0; i < l->pipeline_count; i++)
        CUTE_TRY(check_passes(l, "pipeline", l->pipelines[i].name, l->pipelines[i].passes, diag));
    for (size_t i = 0; i < l->pass_count; i++) CUTE_TRY(check_needs(l, &l->passes[i], diag));
    for (size_t i = 0; i < l->step_count; i++) CUTE_TRY(register_step(l, &l->steps[i], diag));
    return CUTE_OK;
}

/* ---- patterns ---- */

/* The name of the pass: that of the file, "fuse_bias.mlir": fuse-bias. NULL: no letters. */
static const char *pattern_name(cute_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name =
        cute_arena_copy(arena, slash ? slash + 1 : path, strlen(slash ? slash + 1 : path) - strlen(".mlir"));
    if (!name || !isalpha((unsigned char)*name)) return NULL;
    for (char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c)) *c = '-';
    return name;
}

static void try_patterns(void *context)
{
    cute_patterns_try(*(MlirModule *)context);
}

static cute_status check_patterns(cute_mlir_source *source, MlirModule module, cute_arena *arena)
{
    MlirOperation root = mlirModuleGetOperation(module), native = cute_patterns_native(root);
    const cute_place file = {.file = source->label};
    if (!cute_patterns_count(root)) {
        cute_fail(source->diag, CUTE_INVALID, &file,
                  "expected PDL patterns, got a module without pdl.pattern");
        cute_note(source->diag, NULL,
                  "'mlir-pdll -x=mlir' writes them from PDLL; --load-plugin=FILE.so loads compiled passes");
        return CUTE_INVALID;
    }
    if (!mlirOperationIsNull(native)) {
        cute_place place = cute_mlir_place(source, mlirOperationGetLocation(native), arena);
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(native));
        cute_fail(source->diag, CUTE_INVALID, &place,
                  "'%.*s' calls a native function, and none is registered", (int)name.length, name.data);
        cute_note(source->diag, NULL, "state constraints and rewrites in PDL, or write the pass in C");
        return CUTE_INVALID;
    }
    char *reason;
    bool whole = cute_llvm_recover(try_patterns, &module, &reason);
    if (!whole)
        cute_fail(source->diag, CUTE_INVALID, &file, "the patterns cannot be compiled: %s",
                  reason ? reason : "out of memory");
    free(reason);
    return whole && !cute_diag_errors(source->diag) ? CUTE_OK : CUTE_INVALID;
}

static cute_status register_patterns(cute_arena *arena, const char *path, cute_diag *diag)
{
    cute_buffer bytes = {0};
    const char *name = pattern_name(arena, path);
    const char *help = cute_arena_printf(arena, "Apply the patterns of %s until none matches", path);
    if (!name || !help)
        return cute_fail(diag, CUTE_INVALID, &(cute_place){.file = path},
                         "expected a file name that begins with a letter, as it names the pass");
    if (cute_pass_is_known(name))
        return refuse(path, "pass", name, diag, "a pass or pipeline has the name of the file",
                      "rename the file");
    CUTE_TRY(cute_file_read(path, &bytes, diag));
    cute_origin origin;
    const cute_origin_options reading = {0};
    cute_status status =
        cute_origin_open(&origin, path, cute_buffer_text(&bytes), bytes.length, &reading, diag);
    MlirDialectRegistry registry = cute_registry_create();
    MlirContext context = mlirContextCreateWithRegistry(registry, false);
    cute_mlir_source source = cute_mlir_source_of(&origin, diag);
    MlirModule module = status ? (MlirModule){NULL} : cute_mlir_source_parse(&source, context);
    if (!status && mlirModuleIsNull(module)) status = CUTE_INVALID;
    if (!status) status = check_patterns(&source, module, arena);
    if (!status) {
        const char *text = cute_arena_copy(arena, cute_buffer_text(&bytes), bytes.length);
        cute_patterns_register(name, help, text, bytes.length);
        cute_extension_note_pass(name);
    }
    if (!mlirModuleIsNull(module)) mlirModuleDestroy(module);
    mlirContextDestroy(context);
    mlirDialectRegistryDestroy(registry);
    cute_origin_release(&origin);
    cute_buffer_release(&bytes);
    return status;
}

static bool is_patterns(const char *path)
{
    size_t length = strlen(path);
    return length > strlen(".mlir") && strcmp(path + length - strlen(".mlir"), ".mlir") == 0;
}

cute_status cute_plugins_register(const char *program, const char *const *paths, size_t count,
                                  cute_diag *diag)
{
    const plugin_site site = {.program = program, .compiler = &compiler_host, .mlir = LLVM_VERSION_MAJOR};
    cute_plugins *all;
    cute_status status = cute_plugins_load(paths, count, &site, &all, diag);
    MlirDialectRegistry registry = cute_registry_create();
    for (size_t i = 0; !status && i < all->count; i++)
        status = register_library(registry, all->arena, all->libraries[i], diag);
    mlirDialectRegistryDestroy(registry);
    for (size_t i = 0; !status && i < count; i++)
        if (is_patterns(paths[i])) status = register_patterns(all->arena, paths[i], diag);
    /* The registries refer to it from the first registration on. */
    if (status && all && !all->count) cute_plugins_close(all);
    return status;
}
