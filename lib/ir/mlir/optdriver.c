/* cute-opt: text stages (includes, -D, spellings), the mlir-opt driver, diagnostics, cache. */
#include "lib/ir/mlir/optdriver.h"

#include <fcntl.h>
#include <llvm/Config/llvm-config.h>
#include <mlir-c/RegisterEverything.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/diagnostics/log.h"
#include "lib/base/options/options.h"
#include "lib/base/options/settings.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/base/system/signals.h"
#include "lib/base/text/json.h"
#include "lib/ir/diagnostics/gaveup.h"
#include "lib/ir/diagnostics/locations.h"
#include "lib/ir/diagnostics/recover.h"
#include "lib/ir/diagnostics/warnings.h"
#include "lib/ir/dialects/attributes.h"
#include "lib/ir/mlir/context.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/text/defines.h"
#include "lib/ir/text/modules.h"
#include "lib/ir/text/spellings.h"

static const char tool[] = "cute-opt";
static const char print_option[] = "mlir-print-ir-after-all"; /* set by an environment variable */

/* ---- MLIR's driver prints its diagnostics; for --diagnostics=json and sarif they are read back ---- */

static int capture_begin(void)
{
    fflush(stderr);
    int saved = dup(STDERR_FILENO), memory = memfd_create("diagnostics", MFD_CLOEXEC);
    if (saved < 0 || memory < 0) return -1;
    dup2(memory, STDERR_FILENO);
    close(memory);
    return saved;
}

static void capture_end(int saved, cute_buffer *out)
{
    char chunk[4096];
    ssize_t n;
    off_t at = 0;
    while ((n = pread(STDERR_FILENO, chunk, sizeof chunk, at)) > 0) {
        cute_buffer_append(out, chunk, (size_t)n);
        at += n;
    }
    dup2(saved, STDERR_FILENO);
    close(saved);
}

/* "FILE:LINE:COLUMN: error: TEXT" */
static bool parse_line(char *line, cute_diag *diag)
{
    static const struct {
        const char *mark;
        cute_severity severity;
    } marks[] = {{": error: ", CUTE_ERROR},
                 {": warning: ", CUTE_WARNING},
                 {": note: ", CUTE_NOTE},
                 {": remark: ", CUTE_REMARK}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        char *mark = strstr(line, marks[i].mark);
        if (!mark) continue;
        *mark = '\0';
        cute_place place = {.file = line};
        char *column = strrchr(line, ':');
        if (column && column[1]) {
            *column = '\0';
            char *row = strrchr(line, ':');
            if (row) {
                place.line = atoi(row + 1);
                place.column = atoi(column + 1);
                *row = '\0';
            }
        }
        cute_report(diag, marks[i].severity, &place, "%s", mark + strlen(marks[i].mark));
        return true;
    }
    return false;
}

static void parse_diagnostics(char *text, cute_diag *diag)
{
    for (char *line = text, *next; line && *line; line = next) {
        next = strchr(line, '\n');
        if (next) *next++ = '\0';
        parse_line(line, diag);
    }
}

/* ---- one run ---- */

typedef struct opt_work {
    cute_mlir_source source;
    MlirDialectRegistry registry;
    cute_buffer *output;
    const char *remarks;
    bool want_map, told;
    cute_diag_format format;
    cute_map_builder map;
    bool ok;
} opt_work;

/* Prints each message immediately, in order with the output of passes. */
static void on_told(void *context)
{
    opt_work *w = context;
    w->told = true;
    if (cute_diag_is_data(w->format)) return;
    cute_tool_print("cute-opt", w->source.diag, w->format);
    cute_diag_clear(w->source.diag);
}

static void on_begin(MlirContext made, void *context)
{
    opt_work *w = context;
    w->source.told = on_told;
    w->source.context = w;
    cute_mlir_diagnostics(made, &w->source);
}

static void on_parsed(MlirOperation root, void *context)
{
    opt_work *w = context;
    cute_locations_settle(&w->source, root);
    cute_attributes_check(&w->source, root);
    cute_modules_merge(root);
}

static void on_write(const char *bytes, size_t length, void *context)
{
    opt_work *w = context;
    if (length >= 4 && !memcmp(bytes, "ML\xEFR", 4))
        cute_buffer_append(w->output, bytes, length);
    else
        cute_spellings_write(bytes, length, w->output);
}

static void on_printed(unsigned line, MlirLocation location, MlirBlock entry, void *context)
{
    opt_work *w = context;
    cute_locations_note(line, location, entry, &w->map);
}

static void run_mlir_driver(void *context)
{
    opt_work *w = context;
    const cute_lines *text = &w->source.origin->parsed;
    cute_opt_hooks hooks = {.begin = on_begin,
                            .parsed = on_parsed,
                            .write = on_write,
                            .printed = w->want_map ? on_printed : NULL,
                            .context = w,
                            .remarks = w->remarks};
    w->ok = cute_opt_run(cute_text(w->source.origin->buffer), mlirStringRefCreate(text->text, text->length),
                         w->registry, &hooks);
}

/* On a thread of MLIR's pool, where the error cannot be recovered; nothing has been written yet. */
static void exit_on_fatal(const char *reason)
{
    fprintf(stderr, "cute-opt: error: LLVM gave up: %s\n", reason);
    fflush(stderr);
    cute_pipe_failed();
    _exit(CUTE_INVALID);
}

/* Output to a terminal has no source map. */
static bool wants_source_map(const cute_opt_command *command)
{
    if (strcmp(command->source_map, "auto")) return !strcmp(command->source_map, "on");
    return strcmp(command->output, "-") || !isatty(STDOUT_FILENO);
}

/* Whether the command line has an MLIR option that may write elsewhere or read files that are not in the
 * cache key. */
static bool has_side_effects(const char *line, size_t length)
{
    static const char *const words[] = {
        "print", "debug",   "timing",    "stat",   "dump",   "verify-d",    "split",  "log",
        "emit",  "profil",  "irdl",      "plugin", "view",   "reproducer",  "mlir-",  "show",
        "file",  "library", "libraries", "path=",  "remark", "diagnostics", "native", "toolkit"};
    for (const char *at = line; at < line + length; at += strlen(at) + 1)
        for (size_t i = 0; *at == '-' && at[1] != 'D' && i < sizeof words / sizeof *words; i++)
            if (strstr(at, words[i])) return true;
    return false;
}

/* The cache key of this run; false if it cannot be cached. */
static bool make_cache_key(const cute_opt_command *command, cute_opt_makers makers, cute_arena *arena,
                           const cute_buffer *input, const char **folder, cute_buffer *key)
{
    cute_buffer line = {0};
    *folder = cute_cache_pipe_folder(arena);
    if (!*folder || cute_diag_is_data(command->format) || command->remarks || command->warn ||
        command->timing)
        return false;
    if (cute_setting_value(cute_setting_of(tool, print_option), NULL)) return false;
    bool side = cute_file_read("/proc/self/cmdline", &line, NULL) != CUTE_OK ||
                has_side_effects(cute_buffer_text(&line), line.length);
    cute_buffer_release(&line);
    if (side) return false;
    cute_cache_key_program(key);
    makers(arena, NULL, key);
    cute_buffer_printf(key, "%d\n", wants_source_map(command));
    cute_cache_key_bytes(key, cute_buffer_text(input), input->length);
    if (!cute_include_key(cute_file_label(command->input), cute_buffer_text(input), input->length,
                          command->folders, (size_t)command->folder_count, key))
        return false;
    return cute_buffer_ok(key);
}

static cute_status run_cute_opt(const cute_opt_command *command, cute_opt_makers makers,
                                MlirDialectRegistry registry, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer input = {0}, output = {0}, captured = {0}, key = {0};
    const char *folder = NULL, *remarks = NULL;
    bool keeps = false;
    cute_origin origin = {0};
    cute_define *defines;
    double start = cute_clock(), read_done, run_done;
    cute_status status = arena ? CUTE_OK : cute_fail_memory(diag);
    if (!status)
        status = cute_defines_parse(arena, command->defines, (size_t)command->define_count, &defines, diag);
    if (!status) status = cute_warnings_as_remarks(arena, command->warn, command->remarks, &remarks, diag);
    if (!status) status = cute_file_read(command->input, &input, diag);
    keeps = !status && make_cache_key(command, makers, arena, &input, &folder, &key);
    if (keeps && cute_cache_get(folder, "cute-opt", key.data, key.length, &output)) {
        status = cute_buffer_ok(&output)
                     ? cute_file_write(command->output, cute_buffer_text(&output), output.length, diag)
                     : cute_fail_memory(diag);
        goto out;
    }
    if (!status)
        status = cute_origin_open(
            &origin, cute_file_label(command->input), cute_buffer_text(&input), input.length,
            &(cute_origin_options){defines, (size_t)command->define_count, command->folders,
                                   (size_t)command->folder_count, !strcmp(command->source_map, "off")},
            diag);
    if (status) goto out;
    read_done = cute_clock();

    int saved = cute_diag_is_data(command->format) ? capture_begin() : -1;
    opt_work w = {.source = cute_mlir_source_of(&origin, diag),
                  .registry = registry,
                  .output = &output,
                  .remarks = remarks,
                  .want_map = wants_source_map(command),
                  .format = command->format,
                  .map = {.origin = &origin, .map = {.arena = arena}}};
    bool placed;
    char *reason;
    cute_llvm_last_resort(exit_on_fatal);
    if (!cute_llvm_recover(run_mlir_driver, &w, &reason))
        cute_gave_up(&w.source, &(cute_moment){.stage = "passes"}, reason ? reason : "out of memory",
                     &placed);
    free(reason);
    if (saved >= 0) {
        capture_end(saved, &captured);
        if (captured.data) parse_diagnostics(captured.data, diag);
    }
    if (w.ok) cute_source_map_finish(&w.map.map, &output);
    run_done = cute_clock();
    status = !w.ok ? CUTE_INVALID : !cute_buffer_ok(&output) ? cute_fail_memory(diag) : CUTE_OK;
    bool bytecode = output.length >= 4 && !memcmp(output.data, "ML\xEFR", 4);
    if (!status && !strcmp(command->output, "-") && bytecode && isatty(STDOUT_FILENO)) {
        status = cute_fail(diag, CUTE_USAGE, NULL, "bytecode is not printed to a terminal");
        cute_note(diag, NULL, "name a file with -o FILE, or redirect the output: > FILE");
    }
    if (!status) status = cute_file_write(command->output, cute_buffer_text(&output), output.length, diag);
    /* Only runs without messages are cached, so that messages are repeated. */
    if (!status && keeps && !w.told && !cute_diag_count(diag))
        cute_cache_put(folder, "cute-opt", key.data, key.length, cute_buffer_text(&output), output.length);
    if (command->timing)
        fprintf(stderr, "cute-opt: read %.1f ms, passes and print %.1f ms, write %.1f ms\n",
                1e3 * (read_done - start), 1e3 * (run_done - read_done), 1e3 * (cute_clock() - run_done));
out:
    cute_buffer_release(&captured);
    cute_buffer_release(&key);
    cute_buffer_release(&output);
    cute_origin_release(&origin);
    cute_buffer_release(&input);
    cute_arena_destroy(arena);
    return status;
}

/* An array of {name, value, candidates}. */
static json_t *params_json(const cute_param *params, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) {
        json_t *candidates = json_array();
        for (size_t k = 0; k < params[i].candidate_count; k++)
            json_array_append_new(candidates, cute_json_text(params[i].candidates[k]));
        json_array_append_new(list,
                              json_pack("{s:o,s:o,s:o}", "name", cute_json_text(params[i].name), "value",
                                        cute_json_text(params[i].value), "candidates", candidates));
    }
    return list;
}

static cute_status print_params(const cute_opt_command *command, cute_diag *diag)
{
    cute_arena *arena = cute_arena_create();
    cute_buffer input = {0}, joined = {0}, out = {0};
    cute_sources sources = {
        .arena = arena, .folders = command->folders, .folder_count = (size_t)command->folder_count};
    cute_define *defines;
    cute_param *params;
    size_t count;
    cute_status status = arena ? cute_file_read(command->input, &input, diag) : cute_fail_memory(diag);
    if (!status)
        status = cute_defines_parse(arena, command->defines, (size_t)command->define_count, &defines, diag);
    if (!status)
        status = cute_include(&sources, cute_file_label(command->input), cute_buffer_text(&input),
                              input.length, &joined, diag);
    const cute_buffer *text = sources.part_count ? &joined : &input;
    if (!status)
        status = cute_params_read(arena, &sources, cute_buffer_text(text), text->length, defines,
                                  (size_t)command->define_count, &params, &count, diag);
    if (!status) {
        json_t *list = params_json(params, count);
        cute_json_dump(list, true, &out);
        cute_buffer_putc(&out, '\n');
        json_decref(list);
        status = cute_buffer_ok(&out) ? cute_file_write(command->output, out.data, out.length, diag)
                                      : cute_fail_memory(diag);
    }
    cute_buffer_release(&out);
    cute_buffer_release(&joined);
    cute_buffer_release(&input);
    cute_arena_destroy(arena);
    return status;
}

static cute_status print_pipeline(const cute_opt_command *command, cute_diag *diag)
{
    char *text = cute_pipeline_print(command->print_pipeline);
    if (!text) return CUTE_INVALID;
    cute_status status = cute_file_write(command->output, text, strlen(text), diag);
    free(text);
    return status;
}

/* ---- environment variables: those of settings.def ---- */

/* Adds the option that the environment variable enables, unless the command line has it. `words` has room
 * for it. */
static cute_status add_print_option(int *argc, char **words, cute_diag *diag)
{
    static char option[sizeof print_option + 2];
    const cute_setting *setting = cute_setting_of(tool, print_option);
    const char *name, *value = setting ? cute_setting_value(setting, &name) : NULL;
    bool on = false;
    if (!value) return CUTE_OK;
    if (!cute_switch_parse(value, &on))
        return cute_fail(diag, CUTE_USAGE, NULL, "the environment variable %s expects 1 or 0, got '%s'", name,
                         value);
    for (int i = 1; i < *argc; i++) {
        const char *word = words[i] + strspn(words[i], "-");
        on &= strncmp(word, print_option, sizeof print_option - 1) != 0;
    }
    if (!on) return CUTE_OK;
    snprintf(option, sizeof option, "--%s", print_option);
    memmove(words + 2, words + 1, (size_t)(*argc - 1) * sizeof *words);
    words[1] = option;
    words[++*argc] = NULL;
    return CUTE_OK;
}

static cute_status set_log_level(const cute_opt_command *command, cute_diag *diag)
{
    const cute_setting *setting = cute_setting_of(tool, "log-level");
    const char *name = NULL, *value = command->log_level;
    if (!value && setting) value = cute_setting_value(setting, &name);
    cute_log_level level;
    if (!value) return CUTE_OK;
    if (!cute_log_level_parse(value, &level))
        return cute_fail(diag, CUTE_USAGE, NULL,
                         "%s%s expects error, warning, info, debug or 0 to 50, got '%s'",
                         name ? "the environment variable " : "", name ? name : "'--log-level'", value);
    cute_log_set(tool, level);
    return CUTE_OK;
}

/* ---- plugins, which are loaded before the command line is parsed: their passes are options ---- */

/* The value of --load-plugin (and mlir-opt's names of it) in words[*at], moving *at to a value of its own; NULL: another option. */
static const char *plugin_option(char **words, int count, int *at)
{
    static const char *const names[] = {"load-plugin", "load-pass-plugin", "load-dialect-plugin"};
    const char *word = words[*at];
    if (*word != '-') return NULL;
    word += 1 + (word[1] == '-');
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(word, names[i], length) != 0) continue;
        if (word[length] == '=') return word + length + 1;
        if (!word[length] && *at + 1 < count) return words[++*at];
    }
    return NULL;
}

static cute_status load_plugins(int argc, char **argv, cute_opt_plugins plugins, cute_diag *diag)
{
    const char **paths = calloc((size_t)argc + 1, sizeof *paths);
    size_t count = 0;
    if (!paths) return cute_fail_memory(diag);
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        const char *path = plugin_option(argv, argc, &i);
        if (path) paths[count++] = path;
    }
    cute_status status = count ? plugins(tool, paths, count, diag) : CUTE_OK;
    free(paths);
    return status;
}

/* The arguments of cute_opt_parse. */
typedef struct parse_call {
    int argc;
    char **words;
    const char *help;
    MlirDialectRegistry registry;
    cute_opt_command *command;
    bool ok;
} parse_call;

static void parse_command_line(void *context)
{
    parse_call *c = context;
    c->ok = cute_opt_parse(c->argc, c->words, cute_version(), c->help, c->registry, c->command);
}

/* LLVM gives up if two options have one name, as those of a plugin's pass and of MLIR may. */
static bool parse_or_refuse(parse_call *call)
{
    char *reason;
    if (cute_llvm_recover(parse_command_line, call, &reason)) return call->ok;
    fprintf(stderr, "cute-opt: error: a pass of a plugin has the name of an option: %s\n",
            reason ? reason : "out of memory");
    fprintf(stderr, "cute-opt: note: rename the pass, or the file of the patterns\n");
    free(reason);
    return false;
}

int cute_opt_main(int argc, char **argv, void (*passes)(void), cute_opt_plugins plugins,
                  cute_opt_makers makers)
{
    cute_opt_command command = {0};
    cute_diag *diag = cute_diag_create();
    cute_buffer environment = {0};
    cute_log_set(tool, CUTE_LOG_WARNING);
    cute_ending_install();
    mlirRegisterAllPasses();
    passes();
    cute_status loaded = load_plugins(argc, argv, plugins, diag);
    if (loaded) {
        int code = cute_tool_finish(tool, loaded, diag, CUTE_DIAG_TEXT);
        cute_pipe_failed();
        cute_diag_destroy(diag);
        return code;
    }
    MlirDialectRegistry registry = cute_registry_create();
    cute_options_environment(tool, &environment);
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (words) memcpy(words, argv, (size_t)argc * sizeof *words);
    cute_status status = words ? add_print_option(&argc, words, diag) : cute_fail_memory(diag);
    parse_call call = {argc, words, cute_buffer_text(&environment), registry, &command, false};
    if (!status && !parse_or_refuse(&call)) {
        cute_pipe_failed();
        cute_diag_destroy(diag);
        cute_buffer_release(&environment);
        free(words);
        mlirDialectRegistryDestroy(registry);
        return CUTE_USAGE;
    }
    cute_arena *arena = cute_arena_create();
    if (arena)
        cute_diag_know(diag, CUTE_FACT_COMMAND,
                       cute_process_text(arena, (const char *const *)(uintptr_t)argv));
    cute_arena_destroy(arena);
    cute_diag_know(diag, CUTE_FACT_TOOLKIT_VERSION, "LLVM " LLVM_VERSION_STRING);
    if (!status) status = set_log_level(&command, diag);
    if (!status)
        status = command.print_params     ? print_params(&command, diag)
                 : command.print_pipeline ? print_pipeline(&command, diag)
                                          : run_cute_opt(&command, makers, registry, diag);
    int code = cute_tool_finish("cute-opt", status, diag, command.format);
    if (code && (!command.output || !strcmp(command.output, "-"))) cute_pipe_failed();
    cute_diag_destroy(diag);
    cute_buffer_release(&environment);
    free(words);
    mlirDialectRegistryDestroy(registry);
    return code;
}
