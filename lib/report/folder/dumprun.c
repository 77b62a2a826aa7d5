/* Writes the dump folder. Each stage is a process, so its output is the one that a user gets. */
#include "lib/report/folder/dumprun.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/devices/arch.h"
#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/base/system/clock.h"
#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/base/system/sha256.h"
#include "lib/base/text/demangle.h"
#include "lib/base/text/json.h"
#include "lib/cubin/containers/extract.h"
#include "lib/cubin/module.h"
#include "lib/report/module/launchsites.h"
#include "lib/report/module/module.h"
#include "lib/toolkit/native.h"
#include "lib/toolkit/toolkit.h"

typedef struct dump {
    cute_arena *arena;
    const cute_dump_options *options;
    cute_buffer *commands;
    cute_diag *diag;
    cute_buffer source;
    const char *arch, *opt_level; /* with defaults */
    json_t *report, *timing, *kernels, *functions, *messages, *warnings, *outputs, *index;
    json_t *hashed; /* files with size and hash from cute-ptx, in the order of the outputs; may be NULL */
} dump;

static const char *in_folder(dump *d, const char *name)
{
    const char *path = cute_arena_printf(d->arena, "%s/%s", d->options->folder, name);
    return path ? path : name;
}

/* ---- the tools' messages ---- */

static cute_severity severity_of(const char *name)
{
    static const char *const names[] = {"error", "warning", "remark", "note"};
    for (int i = 0; name && i < 4; i++)
        if (strcmp(name, names[i]) == 0) return (cute_severity)i;
    return CUTE_WARNING;
}

/* Line `number` of a file, for the caret. */
static const char *find_source_line(dump *d, const char *file, int number, size_t *length)
{
    cute_buffer text = {0};
    const char *copy = NULL;
    bool is_input = strcmp(file, cute_file_label(d->options->input)) == 0;
    const cute_buffer *source = is_input ? &d->source : &text;
    if (is_input ||
        (*file != '<' && cute_file_exists(file) && cute_file_read(file, &text, NULL) == CUTE_OK)) {
        const char *at = cute_buffer_text(source), *stop = at + source->length;
        for (int i = 1; i < number && at; i++) {
            at = memchr(at, '\n', (size_t)(stop - at));
            if (at) at++;
        }
        if (at && at < stop) {
            const char *end = memchr(at, '\n', (size_t)(stop - at));
            *length = (size_t)((end ? end : stop) - at);
            copy = cute_arena_copy(d->arena, at, *length);
        }
    }
    cute_buffer_release(&text);
    return copy;
}

static void pass_on(dump *d, json_t *message)
{
    const char *text = json_string_value(json_object_get(message, "message"));
    cute_severity severity = severity_of(json_string_value(json_object_get(message, "severity")));
    cute_place place = {.file = json_string_value(json_object_get(message, "file")),
                        .line = (int)json_integer_value(json_object_get(message, "line")),
                        .column = (int)json_integer_value(json_object_get(message, "column"))};
    if (place.file && place.line)
        place.text = find_source_line(d, place.file, place.line, &place.text_length);
    cute_report(d->diag, severity, place.file ? &place : NULL, "%s", text);
    if (severity != CUTE_REMARK) json_array_append(d->messages, message);
    if (severity == CUTE_WARNING) json_array_append(d->warnings, message);
}

/* The tool's settings at the time of its message. */
static void take_settings(dump *d, const json_t *settings)
{
    static const struct {
        const char *key;
        cute_fact fact;
    } facts[] = {{"run", CUTE_FACT_RUN},
                 {"toolkit", CUTE_FACT_TOOLKIT},
                 {"toolkit_version", CUTE_FACT_TOOLKIT_VERSION},
                 {"architecture", CUTE_FACT_ARCHITECTURE}};
    for (size_t i = 0; settings && i < sizeof facts / sizeof *facts; i++)
        cute_diag_know(d->diag, facts[i].fact, json_string_value(json_object_get(settings, facts[i].key)));
}

/* JSON lines are messages or stage times; other lines are passed on unchanged. */
static void read_messages(dump *d, const char *tool, const cute_buffer *err)
{
    const char *at = cute_buffer_text(err), *stop = at + err->length;
    while (at < stop) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t length = (size_t)((end ? end : stop) - at);
        json_t *value = length && *at == '{' ? json_loadb(at, length, 0, NULL) : NULL;
        take_settings(d, json_object_get(value, "settings"));
        if (json_is_string(json_object_get(value, "message")))
            pass_on(d, value);
        else if (json_object_get(value, "total"))
            json_object_set(d->timing, tool, value);
        else if (length) {
            json_t *warning = json_object();
            const char *text =
                cute_arena_printf(d->arena, "%s: %.*s", tool, (int)(length < 4000 ? length : 4000), at);
            json_object_set_new(warning, "severity", json_string("warning"));
            json_object_set_new(warning, "message", json_string(text));
            pass_on(d, warning);
            json_decref(warning);
        }
        json_decref(value);
        at = end ? end + 1 : stop;
    }
}

/* The step that the dump adds to the pipeline. */
static const char *embedding(dump *d)
{
    return cute_arena_printf(d->arena, "cute-embed-cubins{folder='%s'}", in_folder(d, "cubin"));
}

static const char *tool_path(dump *d, const char *name)
{
    const char *here = cute_program_directory(d->arena);
    const char *path = here ? cute_arena_printf(d->arena, "%s/%s", here, name) : NULL;
    return path && cute_file_exists(path) ? path : name;
}

/* Runs a tool; its stage times are reported under the name `timing`. */
static cute_status run_tool(dump *d, cute_words *w, const char *timing, const cute_buffer *input)
{
    cute_process process = {.argv = w->items,
                            .input = input ? cute_buffer_text(input) : NULL,
                            .input_length = input ? input->length : 0};
    size_t errors = cute_diag_errors(d->diag);
    if (w->failed) return cute_fail_memory(d->diag);
    cute_buffer_printf(d->commands, "%s\n", cute_process_text(d->arena, w->items));
    cute_status status = cute_process_run(&process, d->diag);
    if (status == CUTE_OK) {
        read_messages(d, timing, &process.err);
        int code = process.exit_code;
        if (code) status = code == CUTE_SYSTEM || code == CUTE_USAGE ? (cute_status)code : CUTE_INVALID;
        if (code && cute_diag_errors(d->diag) == errors)
            cute_fail(d->diag, status, NULL, "%s failed with exit code %d", timing, code);
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

/* ---- stages ---- */

/* The user's pipeline, preceded by cute-only if a function is selected; NULL: none. */
static const char *make_pipeline(dump *d)
{
    static const char whole[] = "builtin.module(";
    const char *given = d->options->pipeline, *function = d->options->function;
    if (!function) return given;
    const char *only = cute_arena_printf(d->arena, "cute-only{function=%s}", function);
    if (!given || !only) return only;
    given += strspn(given, " \t\n");
    if (strncmp(given, whole, sizeof whole - 1) != 0)
        return cute_arena_printf(d->arena, "%s,%s", only, given);
    return cute_arena_printf(d->arena, "%s%s,%s", whole, only, given + sizeof whole - 1);
}

/* The report takes the tools' messages, so environment variables must not add others. */
static void only_messages(cute_words *w)
{
    cute_words_add(w, "--diagnostics=json");
    cute_words_add(w, "--log-level=warning");
}

/* Writes into a subfolder, so that other .ptx files are not mistaken for the output. */
static cute_status run_cute_ptx(dump *d, const char *ptx_folder)
{
    const cute_dump_options *o = d->options;
    cute_words w = {.arena = d->arena};
    cute_words_add(&w, tool_path(d, "cute-ptx"));
    cute_words_add(&w, "-arch");
    cute_words_add(&w, d->arch);
    cute_words_add(&w, cute_arena_printf(d->arena, "-O%s", d->opt_level));
    for (size_t i = 0; i < o->define_count; i++) cute_words_add(&w, "-D"), cute_words_add(&w, o->defines[i]);
    for (size_t i = 0; i < o->folder_count; i++) cute_words_add(&w, "-I"), cute_words_add(&w, o->folders[i]);
    if (o->line_info) cute_words_add(&w, "--lineinfo");
    const char *pipeline = make_pipeline(d);
    for (size_t i = 0; i < o->plugin_count; i++)
        cute_words_add(&w, "--load-plugin"), cute_words_add(&w, o->plugins[i]);
    if (pipeline) cute_words_add(&w, "--pass-pipeline"), cute_words_add(&w, pipeline);
    if (o->tensor_map) cute_words_add(&w, "--tensor-map"), cute_words_add(&w, o->tensor_map);
    if (o->assertions) cute_words_add(&w, "--enable-assertions");
    cute_words_add(&w, "--mlir-print-ir-after-all=0"); /* the folder has the IR */
    if (o->cuda_path) cute_words_add(&w, "--cuda-path"), cute_words_add(&w, o->cuda_path);
    only_messages(&w);
    cute_words_add(&w, "--timing-format=json");
    cute_words_add(&w, "--dump-passes");
    cute_words_add(&w, o->folder);
    if (o->each) cute_words_add(&w, "--dump-each"), cute_words_add(&w, o->each);
    cute_words_add(&w, "-o");
    cute_words_add(&w, ptx_folder);
    bool standard = strcmp(o->input, "-") == 0;
    if (!standard && *o->input == '-') cute_words_add(&w, "--");
    cute_words_add(&w, o->input);
    return run_tool(d, &w, "cute-ptx", standard ? &d->source : NULL);
}

static void add_output(dump *d, const char *name)
{
    json_array_append_new(d->outputs, json_string(name));
}

static cute_status write_json(dump *d, const char *name, const json_t *value)
{
    cute_buffer text = {0};
    cute_json_dump(value, true, &text);
    if (text.length && text.data[text.length - 1] != '\n') cute_buffer_putc(&text, '\n');
    cute_status status = cute_buffer_ok(&text) ? cute_file_write(in_folder(d, name), cute_buffer_text(&text),
                                                                 text.length, d->diag)
                                               : cute_fail_memory(d->diag);
    cute_buffer_release(&text);
    return status;
}

/* The kernels of a cubin, into the report and the index. */
static cute_status read_cubin(dump *d, const char *name, const char *symbol)
{
    cute_buffer bytes = {0};
    cute_module *module = NULL;
    cute_status status = cute_file_read(in_folder(d, name), &bytes, d->diag);
    if (status == CUTE_OK)
        status = cute_module_open(name, cute_buffer_text(&bytes), bytes.length, NULL, &module, d->diag);
    if (status == CUTE_OK) {
        json_t *entry = json_object(), *kernels = json_array();
        for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
            const cute_kernel *k = cute_module_kernel(module, i);
            json_t *kernel = cute_report_kernel_json(module, k);
            json_object_set_new(kernel, "cubin", json_string(name));
            json_array_append_new(d->kernels, kernel);
            json_array_append_new(kernels, json_string(k->name));
        }
        json_object_set_new(entry, "symbol", json_string(symbol));
        json_object_set_new(entry, "file", json_string(name));
        json_object_set_new(entry, "arch", json_string(cute_module_arch(module)));
        json_object_set_new(entry, "size", json_integer((json_int_t)bytes.length));
        json_object_set_new(entry, "kernels", kernels);
        json_array_append_new(d->index, entry);
    }
    cute_module_close(module);
    cute_buffer_release(&bytes);
    return status;
}

static cute_status run_cute_link(dump *d, const char *ptx)
{
    const cute_dump_options *o = d->options;
    cute_words w = {.arena = d->arena};
    size_t length = strlen(ptx) - strlen(".ptx");
    const char *symbol = cute_arena_copy(d->arena, ptx, length);
    const char *cubin = cute_arena_printf(d->arena, "cubin/%.*s.cubin", (int)length, ptx);
    const char *timing = cute_arena_printf(d->arena, "cute-link %.*s", (int)length, ptx);
    if (!cubin || !symbol || !timing) return cute_fail_memory(d->diag);
    cute_words_add(&w, tool_path(d, "cute-link"));
    cute_words_add(&w, cute_arena_printf(d->arena, "-O%s", d->opt_level));
    if (o->line_info) cute_words_add(&w, "--lineinfo");
    if (o->cuda_path) cute_words_add(&w, "--cuda-path"), cute_words_add(&w, o->cuda_path);
    for (size_t i = 0; i < o->allow_count; i++)
        cute_words_add(&w, "--allow"), cute_words_add(&w, o->allow[i]);
    only_messages(&w);
    cute_words_add(&w, "--timing-format=json");
    cute_words_add(&w, "-o");
    cute_words_add(&w, in_folder(d, cubin));
    cute_words_add(&w, in_folder(d, ptx));
    CUTE_TRY(run_tool(d, &w, timing, NULL));
    add_output(d, cubin);
    return read_cubin(d, cubin, symbol);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The sorted names in a folder with this prefix and suffix. */
static cute_status list_folder(dump *d, const char *path, const char *prefix, const char *suffix,
                               const char ***out, size_t *count)
{
    DIR *folder = opendir(path);
    size_t capacity = 0, prefix_length = strlen(prefix), suffix_length = strlen(suffix);
    cute_status status = CUTE_OK;
    *out = NULL;
    *count = 0;
    if (!folder) return CUTE_OK;
    for (struct dirent *entry; status == CUTE_OK && (entry = readdir(folder));) {
        const char *name = entry->d_name;
        size_t length = strlen(name);
        if (length < prefix_length + suffix_length || strncmp(name, prefix, prefix_length) != 0 ||
            strcmp(name + length - suffix_length, suffix) != 0)
            continue;
        const char *copy = cute_arena_copy(d->arena, name, length);
        if (copy && cute_arena_more(d->arena, out, *count, &capacity, sizeof **out, 64))
            (*out)[(*count)++] = copy;
        else
            status = cute_fail_memory(d->diag);
    }
    closedir(folder);
    cute_sort(*out, *count, sizeof **out, compare_names);
    return status;
}

/* Replaces each gpu.module of zz-after.mlir by a gpu.binary with its cubin. */
static cute_status embed_cubins(dump *d)
{
    const char *last = in_folder(d, "zz-after.mlir"), *whole = in_folder(d, ".zz-after.mlir");
    const char *step = embedding(d),
               *text = step ? cute_arena_printf(d->arena, "builtin.module(%s)", step) : NULL;
    cute_words w = {.arena = d->arena};
    if (!text) return cute_fail_memory(d->diag);
    cute_words_add(&w, tool_path(d, "cute-opt"));
    cute_words_add(&w, "--pass-pipeline");
    cute_words_add(&w, text);
    cute_words_add(&w, "--mlir-print-ir-after-all=false");
    only_messages(&w);
    if (d->options->line_info) cute_words_add(&w, "--mlir-print-debuginfo");
    cute_words_add(&w, "-o");
    cute_words_add(&w, whole);
    if (*last == '-') cute_words_add(&w, "--");
    cute_words_add(&w, last);
    cute_status status = run_tool(d, &w, "cute-opt", NULL);
    if (status == CUTE_OK && rename(whole, last) != 0)
        status = cute_fail(d->diag, CUTE_SYSTEM, NULL, "cannot write '%s': %s", last, strerror(errno));
    if (status != CUTE_OK) unlink(whole);
    return status;
}

/* PTX files are moved into the dump only when all of them are complete. */
static cute_status compile_and_link(dump *d)
{
    const char **names = NULL;
    size_t count = 0;
    const char *ptx;
    CUTE_TRY(cute_temp_directory_in(d->arena, d->options->folder, ".ptx-", &ptx, d->diag));
    cute_status status = run_cute_ptx(d, cute_arena_printf(d->arena, "%s/", ptx));
    if (status == CUTE_OK) status = list_folder(d, ptx, "", ".ptx", &names, &count);
    for (size_t i = 0; i < count && status == CUTE_OK; i++) {
        const char *from = cute_arena_printf(d->arena, "%s/%s", ptx, names[i]), *to = in_folder(d, names[i]);
        if (!from || rename(from, to) != 0)
            status = cute_fail(d->diag, CUTE_SYSTEM, NULL, "cannot write '%s': %s", to, strerror(errno));
        else
            add_output(d, names[i]);
    }
    cute_temp_remove(ptx);
    for (size_t i = 0; i < count && status == CUTE_OK; i++) status = run_cute_link(d, names[i]);
    return status == CUTE_OK ? embed_cubins(d) : status;
}

/* Extracts the objects of gpu.binary operations in the input. */
static cute_status extract_binaries(dump *d)
{
    cute_extracted *objects;
    size_t count;
    cute_link_input input = {cute_file_label(d->options->input), cute_buffer_text(&d->source),
                             d->source.length};
    CUTE_TRY(cute_extract_all(d->arena, in_folder(d, "cubin"), &input, &objects, &count, d->diag));
    for (size_t i = 0; i < count; i++) {
        const char *name = cute_arena_printf(d->arena, "cubin/%s", objects[i].file);
        size_t length = name ? strlen(name) : 0;
        if (!name) return cute_fail_memory(d->diag);
        add_output(d, name);
        if (length > 6 && strcmp(name + length - 6, ".cubin") == 0 &&
            read_cubin(d, name, objects[i].symbol) == CUTE_OK)
            continue;
        json_t *entry = json_object();
        json_object_set_new(entry, "symbol", json_string(objects[i].symbol));
        json_object_set_new(entry, "file", json_string(name));
        json_object_set_new(entry, "arch", json_string(objects[i].chip));
        json_object_set_new(entry, "size", json_integer((json_int_t)objects[i].length));
        json_array_append_new(d->index, entry);
    }
    return CUTE_OK;
}

/* The modules that are in the dump: 00-before, each pass, zz-after. */
static cute_status list_modules(dump *d, const char ***out, size_t *count)
{
    const char **passes, **names;
    CUTE_TRY(list_folder(d, d->options->folder, "pass-", ".mlir", &passes, count));
    names = cute_arena_array(d->arena, *count + 2, sizeof *names);
    if (!names) return cute_fail_memory(d->diag);
    size_t n = 0;
    if (cute_file_exists(in_folder(d, "00-before.mlir"))) names[n++] = "00-before.mlir";
    for (size_t i = 0; i < *count; i++) names[n++] = passes[i];
    if (cute_file_exists(in_folder(d, "zz-after.mlir"))) names[n++] = "zz-after.mlir";
    *out = names;
    *count = n;
    return CUTE_OK;
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && strcmp(text + length - tail, end) == 0;
}

/* The module before the pipeline; if a function is selected, the module reduced to it. */
static const char *first_module(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ends_in(names[i], "-cute-only.mlir")) return names[i];
    return "00-before.mlir";
}

/* Launches before the pipeline, and after outlining. */
static cute_status write_launch_sites(dump *d)
{
    const char **names;
    size_t count;
    cute_buffer sites = {0};
    CUTE_TRY(list_modules(d, &names, &count));
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < count && status == CUTE_OK; i++) {
        cute_buffer text = {0};
        bool before = strcmp(names[i], first_module(names, count)) == 0;
        if (!before && !strstr(names[i], "outlining")) continue;
        status = cute_file_read(in_folder(d, names[i]), &text, d->diag);
        if (status == CUTE_OK) cute_launch_sites(names[i], cute_buffer_text(&text), text.length, &sites);
        cute_buffer_release(&text);
    }
    if (status == CUTE_OK)
        status = cute_file_write(in_folder(d, "launch_sites.txt"), cute_buffer_text(&sites), sites.length,
                                 d->diag);
    if (status == CUTE_OK) add_output(d, "launch_sites.txt");
    cute_buffer_release(&sites);
    return status;
}

static void take_value(dump *d, json_t *from, const char *key, const char *as)
{
    json_t *value = json_object_get(from, key);
    if (json_is_array(value)) json_object_set(d->report, as, value);
}

/* Moves the pipeline from cute-ptx's passes.json into the report. */
static void add_pipeline(dump *d)
{
    const char **names, *path = in_folder(d, "passes.json"), *last = embedding(d);
    size_t count, index;
    cute_buffer text = {0};
    json_t *passes = NULL, *function;
    if (cute_file_exists(path) && cute_file_read(path, &text, NULL) == CUTE_OK) {
        passes = json_loadb(cute_buffer_text(&text), text.length, 0, NULL);
        unlink(path);
    }
    cute_buffer_release(&text);
    d->hashed = json_incref(json_object_get(passes, "files"));
    take_value(d, passes, "passes", "pipeline");
    take_value(d, passes, "steps", "steps");
    if (passes && last) json_array_append_new(json_object_get(d->report, "steps"), json_string(last));
    json_array_foreach(json_object_get(passes, "functions"), index, function)
    {
        cute_demangled names_of;
        const char *mangled = json_string_value(json_object_get(function, "mangled"));
        if (mangled && cute_demangle(d->arena, mangled, &names_of))
            json_object_set_new(function, "name", json_string(names_of.full));
        json_array_append(d->functions, function);
    }
    json_decref(passes);
    if (list_modules(d, &names, &count) != CUTE_OK) return;
    for (size_t i = 0; i < count; i++) json_array_insert_new(d->outputs, i, json_string(names[i]));
}

/* Size and hash of each output, computed unless the writer reported them. */
static void add_files(dump *d)
{
    json_t *files = json_array(), *name;
    size_t index, next = 0;
    json_array_foreach(d->outputs, index, name)
    {
        cute_buffer bytes = {0};
        char hash[CUTE_SHA256_TEXT];
        const char *file = json_string_value(name);
        /* In the order of the outputs. */
        json_t *known = json_array_get(d->hashed, next);
        if (known && !strcmp(file, json_string_value(json_object_get(known, "file")))) {
            json_array_append(files, known);
            next++;
        } else if (cute_file_read(in_folder(d, file), &bytes, NULL) == CUTE_OK) {
            cute_sha256(cute_buffer_text(&bytes), bytes.length, hash);
            json_array_append_new(files, json_pack("{sssIss}", "file", file, "bytes",
                                                   (json_int_t)bytes.length, "sha256", hash));
        }
        cute_buffer_release(&bytes);
    }
    json_object_set_new(d->report, "files", files);
}

static json_t *options_json(const dump *d)
{
    const cute_dump_options *o = d->options;
    json_t *value = json_object(), *defines = json_array(), *allow = o->allow_count ? json_array() : NULL;
    json_object_set_new(value, "arch", json_string(d->arch));
    json_object_set_new(value, "O", json_string(d->opt_level));
    for (size_t i = 0; i < o->define_count; i++) json_array_append_new(defines, json_string(o->defines[i]));
    json_object_set_new(value, "defines", defines);
    json_object_set_new(value, "lineinfo", json_boolean(o->line_info));
    json_object_set_new(value, "assertions", json_boolean(o->assertions));
    for (size_t i = 0; i < o->allow_count; i++) json_array_append_new(allow, json_string(o->allow[i]));
    if (allow) json_object_set_new(value, "allow", allow);
    json_object_set_new(value, "tensor_map", json_string(o->tensor_map ? o->tensor_map : "param"));
    json_object_set_new(value, "passes", json_string(o->each ? o->each : "all"));
    if (o->pipeline) json_object_set_new(value, "pass_pipeline", cute_json_text(o->pipeline));
    if (o->function) json_object_set_new(value, "function", cute_json_text(o->function));
    if (o->cuda_path) json_object_set_new(value, "cuda_path", json_string(o->cuda_path));
    return value;
}

/* The version that a program prints after `mark`; a missing program has none. */
typedef struct version {
    const char *name, *mark;
} version;

static void add_versions_of(json_t *versions, const char *path, const version *list)
{
    cute_process process = {.argv = (const char *const[]){path, "--version", NULL}, .timeout = 10};
    if (cute_process_run(&process, NULL) == CUTE_OK && process.exit_code == 0) {
        for (; list->name; list++) {
            const char *found = strstr(cute_buffer_text(&process.out), list->mark);
            if (!found) continue;
            found += strlen(list->mark);
            json_object_set_new(versions, list->name, json_stringn(found, strcspn(found, "\r\n )")));
        }
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
}

static void add_versions(dump *d)
{
    static const version of_ptx[] = {{"cute-ptx", "cute-ptx "}, {"llvm", "(LLVM "}, {0}};
    static const version of_link[] = {{"cute-link", "cute-link "}, {0}}, of_ptxas[] = {{"ptxas", ", V"}, {0}};
    json_t *versions = json_object();
    json_object_set_new(d->report, "versions", versions);
    json_object_set_new(versions, "cute", json_string(cute_version()));
    const char *ptxas;
    add_versions_of(versions, tool_path(d, "cute-ptx"), of_ptx);
    add_versions_of(versions, tool_path(d, "cute-link"), of_link);
    if (cute_toolkit_find(d->arena, CUTE_PTXAS, d->options->cuda_path, &ptxas, NULL) == CUTE_OK)
        add_versions_of(versions, ptxas, of_ptxas);
}

/* `word` occurs outside of strings (such as the bytes of a binary) and comments. */
static bool has_word(const cute_buffer *text, const char *word)
{
    const char *at = cute_buffer_text(text), *stop = at + text->length;
    size_t length = strlen(word);
    for (; at < stop; at++) {
        if (*at == '"') {
            for (at++; at < stop && *at != '"'; at++)
                if (*at == '\\') at++;
        } else if (*at == '/' && at + 1 < stop && at[1] == '/') {
            while (at < stop && *at != '\n') at++;
        } else if ((size_t)(stop - at) >= length && memcmp(at, word, length) == 0) {
            return true;
        }
    }
    return false;
}

/* There is device code to compile, not only binaries. Bytecode is always passed to cute-ptx. */
static bool needs_compiling(const dump *d)
{
    static const char *const words_of_code[] = {"gpu.module", "gpu.launch ", "gpu.func", "gpu.kernel",
                                                "nvvm.kernel"};
    if (json_array_size(d->index) == 0) return true;
    for (size_t i = 0; i < sizeof words_of_code / sizeof *words_of_code; i++)
        if (has_word(&d->source, words_of_code[i])) return true;
    return false;
}

/* Removes the files of an earlier dump, by its own list, so that its passes are not mistaken for new ones. */
static void remove_old_dump(dump *d)
{
    cute_buffer text = {0};
    const char *path = in_folder(d, "REPORT.json");
    size_t index;
    json_t *report = NULL, *name;
    if (cute_file_exists(path) && cute_file_read(path, &text, NULL) == CUTE_OK)
        report = json_loadb(cute_buffer_text(&text), text.length, 0, NULL);
    json_array_foreach(json_object_get(report, "outputs"), index, name)
    {
        const char *file = json_string_value(name);
        if (file && *file != '/' && !strstr(file, "..")) unlink(in_folder(d, file));
    }
    if (report) unlink(path);
    unlink(in_folder(d, "passes.json"));
    unlink(in_folder(d, ".zz-after.mlir"));
    /* Left by an interrupted run. */
    const char **stale;
    size_t count;
    if (list_folder(d, d->options->folder, ".ptx-", "", &stale, &count) == CUTE_OK)
        for (size_t i = 0; i < count; i++) cute_temp_remove(in_folder(d, stale[i]));
    json_decref(report);
    cute_buffer_release(&text);
}

static cute_status run_stages(dump *d)
{
    CUTE_TRY(cute_file_read(d->options->input, &d->source, d->diag));
    cute_content content = cute_content_of(cute_buffer_text(&d->source), d->source.length);
    if (content != CUTE_CONTENT_MLIR && content != CUTE_CONTENT_MLIR_BYTECODE &&
        content != CUTE_CONTENT_EMPTY && content != CUTE_CONTENT_UNKNOWN)
        return cute_fail(d->diag, CUTE_INVALID, &(cute_place){.file = cute_file_label(d->options->input)},
                         "expected MLIR, got %s", cute_content_name(content));
    CUTE_TRY(cute_make_directory(in_folder(d, "cubin"), d->diag));
    remove_old_dump(d);
    CUTE_TRY(extract_binaries(d));
    if (needs_compiling(d))
        CUTE_TRY(compile_and_link(d));
    else
        CUTE_TRY(cute_file_write(in_folder(d, "00-before.mlir"), cute_buffer_text(&d->source),
                                 d->source.length, d->diag));
    CUTE_TRY(write_launch_sites(d));
    CUTE_TRY(write_json(d, "cubin_index.json", d->index));
    add_output(d, "cubin_index.json");
    return CUTE_OK;
}

static void put_array(dump *d, const char *key, json_t **array)
{
    *array = json_array();
    json_object_set(d->report, key, *array);
}

static cute_status write_report(dump *d, cute_buffer *report)
{
    CUTE_TRY(write_json(d, "REPORT.json", d->report));
    cute_json_dump(d->report, true, report);
    if (report->length && report->data[report->length - 1] != '\n') cute_buffer_putc(report, '\n');
    return cute_buffer_ok(report) ? CUTE_OK : cute_fail_memory(d->diag);
}

/* Without the folder no stage has begun, and there is nothing to report. */
static cute_status dump_all(dump *d, cute_buffer *report)
{
    double start = cute_clock();
    const cute_dump_options *o = d->options;
    const cute_arch *arch;
    CUTE_TRY(cute_arch_choose_native(o->arch, &arch, d->diag));
    d->arch = arch->name;
    d->opt_level = o->opt_level ? o->opt_level : "3";
    if (strlen(d->opt_level) != 1 || *d->opt_level < '0' || *d->opt_level > '3')
        return cute_fail(d->diag, CUTE_USAGE, NULL, "-O expects 0, 1, 2 or 3, got '%s'", d->opt_level);
    json_object_set_new(d->report, "input", json_string(cute_file_label(o->input)));
    json_object_set_new(d->report, "status", json_string("failed"));
    json_object_set_new(d->report, "options", options_json(d));
    add_versions(d);
    json_object_set_new(d->report, "steps", json_array());
    json_object_set_new(d->report, "pipeline", json_array());
    json_object_set(d->report, "seconds", d->timing);
    put_array(d, "functions", &d->functions);
    put_array(d, "kernels", &d->kernels);
    put_array(d, "warnings", &d->warnings);
    put_array(d, "messages", &d->messages);
    put_array(d, "outputs", &d->outputs);
    cute_status status = run_stages(d);
    if (!d->source.length && status == CUTE_SYSTEM) return status;
    if (!cute_file_exists(in_folder(d, "cubin"))) return status;
    add_pipeline(d);
    add_files(d);
    json_object_set_new(d->timing, "total", json_real(cute_clock() - start));
    if (status == CUTE_OK) json_object_set_new(d->report, "status", json_string("ok"));
    size_t count = json_array_size(d->outputs);
    cute_status written = write_report(d, report);
    if (status != CUTE_OK && written == CUTE_OK && count)
        cute_note(d->diag, NULL,
                  "'%s' has %zu file%s from the stages before the failure, listed in its REPORT.json",
                  o->folder, count, count == 1 ? "" : "s");
    return status == CUTE_OK ? written : status;
}

cute_status cute_dump_run(const cute_dump_options *options, cute_buffer *commands, cute_buffer *report,
                          cute_diag *diag)
{
    dump d = {.arena = cute_arena_create(),
              .options = options,
              .commands = commands,
              .diag = diag,
              .report = json_object(),
              .timing = json_object(),
              .index = json_array()};
    cute_status status =
        d.arena && d.report && d.timing && d.index ? dump_all(&d, report) : cute_fail_memory(diag);
    json_t *owned[] = {d.report,   d.timing,   d.index,   d.kernels, d.functions,
                       d.warnings, d.messages, d.outputs, d.hashed};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) json_decref(owned[i]);
    cute_buffer_release(&d.source);
    if (d.arena) cute_arena_destroy(d.arena);
    return status;
}
