/* Writes the dump folder. The stages are processes, so that their output is what a user would get. */
#include "lib/report/dumprun.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/file.h"
#include "lib/base/json.h"
#include "lib/base/process.h"
#include "lib/cubin/extract.h"
#include "lib/cubin/module.h"
#include "lib/report/launchsites.h"
#include "lib/report/module.h"
#include "lib/toolkit/toolkit.h"

typedef struct dump {
    cute_arena *arena;
    const cute_dump_options *options;
    cute_buffer *commands;
    cute_diag *diag;
    cute_buffer source;
    json_t *report, *timing, *kernels, *warnings, *outputs, *index;
} dump;

typedef struct words {
    const char *items[256];
    size_t count;
} words;

static void push(words *w, const char *word)
{
    if (w->count + 1 < sizeof w->items / sizeof *w->items) w->items[w->count++] = word;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

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
static const char *line_of(dump *d, const char *file, int number, size_t *length)
{
    cute_buffer text = {0};
    const char *copy = NULL;
    if (*file != '<' && cute_file_exists(file) && cute_file_read(file, &text, NULL) == CUTE_OK) {
        const char *at = cute_buffer_text(&text), *stop = at + text.length;
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
    if (place.file && place.line) place.text = line_of(d, place.file, place.line, &place.text_length);
    cute_report(d->diag, severity, place.file ? &place : NULL, "%s", text);
    if (severity != CUTE_REMARK) json_array_append(d->warnings, message);
}

/* Lines of JSON are messages or the time of each stage; everything else is passed on as it is. */
static void read_messages(dump *d, const char *tool, const cute_buffer *err)
{
    const char *at = cute_buffer_text(err), *stop = at + err->length;
    while (at < stop) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t length = (size_t)((end ? end : stop) - at);
        json_t *value = length && *at == '{' ? json_loadb(at, length, 0, NULL) : NULL;
        if (json_is_string(json_object_get(value, "message")))
            pass_on(d, value);
        else if (json_object_get(value, "total"))
            json_object_set(d->timing, tool, value);
        else if (length)
            cute_report(d->diag, CUTE_WARNING, NULL, "%s: %.*s", tool, (int)(length < 4000 ? length : 4000), at);
        json_decref(value);
        at = end ? end + 1 : stop;
    }
}

static const char *tool_path(dump *d, const char *name)
{
    const char *here = cute_program_directory(d->arena);
    const char *path = here ? cute_arena_printf(d->arena, "%s/%s", here, name) : NULL;
    return path && cute_file_exists(path) ? path : name;
}

/* Runs a tool; `timing` is the name under which its stages are reported. */
static cute_status run(dump *d, words *w, const char *timing, const cute_buffer *input)
{
    cute_process process = {.argv = w->items, .input = input ? cute_buffer_text(input) : NULL,
                            .input_length = input ? input->length : 0};
    size_t errors = cute_diag_errors(d->diag);
    w->items[w->count] = NULL;
    cute_buffer_printf(d->commands, "%s\n", cute_process_text(d->arena, w->items));
    cute_status status = cute_process_run(&process, d->diag);
    if (status == CUTE_OK) {
        read_messages(d, timing, &process.err);
        int code = process.exit_code;
        if (code) status = code == CUTE_SYSTEM ? CUTE_SYSTEM : CUTE_INVALID;
        if (code && cute_diag_errors(d->diag) == errors)
            cute_fail(d->diag, status, NULL, "%s failed with exit code %d", timing, code);
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

/* ---- stages ---- */

static cute_status compile(dump *d)
{
    const cute_dump_options *o = d->options;
    words w = {0};
    push(&w, tool_path(d, "cute-ptx"));
    if (o->arch) push(&w, "-arch"), push(&w, o->arch);
    if (o->opt_level) push(&w, cute_arena_printf(d->arena, "-O%s", o->opt_level));
    for (size_t i = 0; i < o->define_count; i++) push(&w, "-D"), push(&w, o->defines[i]);
    if (o->line_info) push(&w, "--lineinfo");
    if (o->cuda_path) push(&w, "--cuda-path"), push(&w, o->cuda_path);
    push(&w, "--diagnostics=json");
    push(&w, "--timing-format=json");
    push(&w, "--dump-passes");
    push(&w, o->folder);
    push(&w, "-o");
    push(&w, in_folder(d, ""));
    bool standard = strcmp(o->input, "-") == 0;
    push(&w, o->input);
    return run(d, &w, "cute-ptx", standard ? &d->source : NULL);
}

static void add_output(dump *d, const char *name) { json_array_append_new(d->outputs, json_string(name)); }

static cute_status write_json(dump *d, const char *name, const json_t *value)
{
    cute_buffer text = {0};
    cute_json_dump(value, true, &text);
    if (text.length && text.data[text.length - 1] != '\n') cute_buffer_putc(&text, '\n');
    cute_status status = cute_buffer_ok(&text)
                             ? cute_file_write(in_folder(d, name), cute_buffer_text(&text), text.length, d->diag)
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

static cute_status link_one(dump *d, const char *ptx)
{
    const cute_dump_options *o = d->options;
    words w = {0};
    size_t length = strlen(ptx) - strlen(".ptx");
    const char *symbol = cute_arena_copy(d->arena, ptx, length);
    const char *cubin = cute_arena_printf(d->arena, "cubin/%.*s.cubin", (int)length, ptx);
    const char *timing = cute_arena_printf(d->arena, "cute-link %.*s", (int)length, ptx);
    if (!cubin || !symbol || !timing) return cute_fail_memory(d->diag);
    push(&w, tool_path(d, "cute-link"));
    if (o->opt_level) push(&w, cute_arena_printf(d->arena, "-O%s", o->opt_level));
    if (o->line_info) push(&w, "--lineinfo");
    if (o->cuda_path) push(&w, "--cuda-path"), push(&w, o->cuda_path);
    push(&w, "--diagnostics=json");
    push(&w, "--timing-format=json");
    push(&w, "-o");
    push(&w, in_folder(d, cubin));
    push(&w, in_folder(d, ptx));
    CUTE_TRY(run(d, &w, timing, NULL));
    add_output(d, cubin);
    return read_cubin(d, cubin, symbol);
}

static int by_name(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

/* The names in the folder that end in `suffix`, in order. */
static cute_status list_folder(dump *d, const char *suffix, const char ***out, size_t *count)
{
    DIR *folder = opendir(d->options->folder);
    size_t capacity = 0, suffix_length = strlen(suffix);
    *out = NULL;
    *count = 0;
    if (!folder) return CUTE_OK;
    for (struct dirent *entry; (entry = readdir(folder));) {
        size_t length = strlen(entry->d_name);
        if (length <= suffix_length || strcmp(entry->d_name + length - suffix_length, suffix) != 0) continue;
        if (*count == capacity) {
            const char **grown = cute_arena_array(d->arena, capacity = capacity ? capacity * 2 : 64, sizeof *grown);
            if (!grown) break;
            if (*count) memcpy(grown, *out, *count * sizeof *grown);
            *out = grown;
        }
        (*out)[(*count)++] = cute_arena_copy(d->arena, entry->d_name, length);
    }
    closedir(folder);
    if (*count) qsort(*out, *count, sizeof **out, by_name);
    return CUTE_OK;
}

static cute_status link_all(dump *d)
{
    const char **names;
    size_t count;
    CUTE_TRY(list_folder(d, ".ptx", &names, &count));
    for (size_t i = 0; i < count; i++) {
        add_output(d, names[i]);
        CUTE_TRY(link_one(d, names[i]));
    }
    return CUTE_OK;
}

/* Objects that the input has in gpu.binary operations already. */
static cute_status extract(dump *d)
{
    cute_extracted *objects;
    size_t count;
    cute_link_input input = {cute_file_label(d->options->input), cute_buffer_text(&d->source), d->source.length};
    CUTE_TRY(cute_extract_all(d->arena, in_folder(d, "cubin"), &input, &objects, &count, d->diag));
    for (size_t i = 0; i < count; i++) {
        const char *name = cute_arena_printf(d->arena, "cubin/%s", objects[i].file);
        size_t length = name ? strlen(name) : 0;
        if (!name) return cute_fail_memory(d->diag);
        add_output(d, name);
        if (length > 6 && strcmp(name + length - 6, ".cubin") == 0 && read_cubin(d, name, objects[i].symbol) == CUTE_OK) continue;
        json_t *entry = json_object();
        json_object_set_new(entry, "symbol", json_string(objects[i].symbol));
        json_object_set_new(entry, "file", json_string(name));
        json_object_set_new(entry, "arch", json_string(objects[i].chip));
        json_object_set_new(entry, "size", json_integer((json_int_t)objects[i].length));
        json_array_append_new(d->index, entry);
    }
    return CUTE_OK;
}

/* Launches before the pipeline, and after outlining made functions of them. */
static cute_status write_launch_sites(dump *d)
{
    const char **names;
    size_t count;
    cute_buffer sites = {0};
    CUTE_TRY(list_folder(d, ".mlir", &names, &count));
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < count && status == CUTE_OK; i++) {
        cute_buffer text = {0};
        bool before = strcmp(names[i], "00-before.mlir") == 0;
        if (!before && !strstr(names[i], "outlining")) continue;
        status = cute_file_read(in_folder(d, names[i]), &text, d->diag);
        if (status == CUTE_OK) cute_launch_sites(names[i], cute_buffer_text(&text), text.length, &sites);
        cute_buffer_release(&text);
    }
    if (status == CUTE_OK) {
        add_output(d, "launch_sites.txt");
        status = cute_file_write(in_folder(d, "launch_sites.txt"), cute_buffer_text(&sites), sites.length, d->diag);
    }
    cute_buffer_release(&sites);
    return status;
}

/* passes.json, which cute-ptx wrote, is the pipeline. */
static void add_pipeline(dump *d)
{
    const char **names;
    size_t count;
    cute_buffer text = {0};
    json_t *passes = NULL;
    if (cute_file_exists(in_folder(d, "passes.json")) && cute_file_read(in_folder(d, "passes.json"), &text, NULL) == CUTE_OK)
        passes = json_loadb(cute_buffer_text(&text), text.length, 0, NULL);
    cute_buffer_release(&text);
    json_object_set_new(d->report, "pipeline", passes ? passes : json_array());
    if (list_folder(d, ".mlir", &names, &count) != CUTE_OK) return;
    for (size_t i = 0; i < count; i++) add_output(d, names[i]);
}

static json_t *options_json(const cute_dump_options *o)
{
    json_t *value = json_object(), *defines = json_array();
    if (o->arch) json_object_set_new(value, "arch", json_string(o->arch));
    if (o->opt_level) json_object_set_new(value, "O", json_string(o->opt_level));
    for (size_t i = 0; i < o->define_count; i++) json_array_append_new(defines, json_string(o->defines[i]));
    json_object_set_new(value, "defines", defines);
    json_object_set_new(value, "lineinfo", json_boolean(o->line_info));
    return value;
}

/* What `ptxas --version` and the tools say; a tool that is not there has none. */
static void add_version(json_t *versions, const char *name, const char *path, const char *mark)
{
    cute_process process = {.argv = (const char *const[]){path, "--version", NULL}, .timeout = 10};
    if (cute_process_run(&process, NULL) == CUTE_OK && process.exit_code == 0) {
        const char *text = cute_buffer_text(&process.out), *found = strstr(text, mark);
        if (found) text = found + strlen(mark);
        size_t length = strcspn(text, "\r\n ");
        json_object_set_new(versions, name, json_stringn(text, length));
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
}

static void add_versions(dump *d)
{
    json_t *versions = json_object();
    json_object_set_new(versions, "cute", json_string(cute_version()));
    const char *ptxas;
    if (cute_toolkit_find(d->arena, CUTE_PTXAS, d->options->cuda_path, &ptxas, NULL) == CUTE_OK)
        add_version(versions, "ptxas", ptxas, ", V");
    add_version(versions, "cute-ptx", tool_path(d, "cute-ptx"), "cute-ptx ");
    add_version(versions, "cute-link", tool_path(d, "cute-link"), "cute-link ");
    json_object_set_new(d->report, "versions", versions);
}

/* Whether `word` is in the text outside of strings (a binary's bytes are one) and comments. */
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

/* Whether there is something that cute-ptx has to compile: not so where the binaries are all that is left. Of bytecode
 * only cute-ptx could say. */
static bool needs_compiling(const dump *d)
{
    static const char *const words_of_code[] = {"gpu.module", "gpu.launch ", "gpu.func", "gpu.kernel", "nvvm.kernel"};
    if (json_array_size(d->index) == 0) return true;
    for (size_t i = 0; i < sizeof words_of_code / sizeof *words_of_code; i++)
        if (has_word(&d->source, words_of_code[i])) return true;
    return false;
}

/* What an earlier dump left, where a REPORT.json says that there was one: its passes would be taken for ours. */
static cute_status clean(dump *d)
{
    static const char *const suffixes[] = {".mlir", ".ptx"};
    if (!cute_file_exists(in_folder(d, "REPORT.json"))) return CUTE_OK;
    for (size_t s = 0; s < sizeof suffixes / sizeof *suffixes; s++) {
        const char **names;
        size_t count;
        CUTE_TRY(list_folder(d, suffixes[s], &names, &count));
        for (size_t i = 0; i < count; i++)
            if (s || strncmp(names[i], "pass-", 5) == 0) unlink(in_folder(d, names[i]));
    }
    return CUTE_OK;
}

static cute_status run_stages(dump *d)
{
    CUTE_TRY(cute_file_read(d->options->input, &d->source, d->diag));
    CUTE_TRY(cute_make_directory(in_folder(d, "cubin"), d->diag));
    CUTE_TRY(clean(d));
    CUTE_TRY(extract(d));
    if (needs_compiling(d)) {
        CUTE_TRY(compile(d));
        CUTE_TRY(link_all(d));
    } else {
        CUTE_TRY(cute_file_write(in_folder(d, "00-before.mlir"), cute_buffer_text(&d->source), d->source.length, d->diag));
    }
    CUTE_TRY(write_launch_sites(d));
    add_output(d, "cubin_index.json");
    return write_json(d, "cubin_index.json", d->index);
}

static void put(dump *d, const char *key, json_t **array)
{
    *array = json_array();
    json_object_set(d->report, key, *array);
}

cute_status cute_dump_run(const cute_dump_options *options, cute_buffer *commands, cute_diag *diag)
{
    dump d = {.arena = cute_arena_create(), .options = options, .commands = commands, .diag = diag,
              .report = json_object(), .timing = json_object(), .index = json_array()};
    if (!d.arena || !d.report) return cute_fail_memory(diag);
    double start = now();
    json_object_set_new(d.report, "input", json_string(cute_file_label(options->input)));
    json_object_set_new(d.report, "options", options_json(options));
    add_versions(&d);
    put(&d, "kernels", &d.kernels);
    put(&d, "messages", &d.warnings);
    put(&d, "outputs", &d.outputs);
    json_object_set(d.report, "seconds", d.timing);
    cute_status status = run_stages(&d);
    bool folder = cute_file_exists(options->folder);
    if (folder) add_pipeline(&d);
    json_object_set_new(d.timing, "total", json_real(now() - start));
    json_object_set_new(d.report, "status", json_string(status == CUTE_OK ? "ok" : "failed"));
    if (folder) {
        cute_status written = write_json(&d, "REPORT.json", d.report);
        if (status == CUTE_OK) status = written;
    }
    json_t *owned[] = {d.report, d.timing, d.index, d.kernels, d.warnings, d.outputs};
    for (size_t i = 0; i < sizeof owned / sizeof *owned; i++) json_decref(owned[i]);
    cute_buffer_release(&d.source);
    cute_arena_destroy(d.arena);
    return status;
}
