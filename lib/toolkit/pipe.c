/* Runs cute-ptx and cute-link on MLIR and passes on their messages. */
#include "lib/toolkit/pipe.h"

#include <ctype.h>
#include <jansson.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/options/settings.h"
#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/toolkit/toolkit.h"

const char *cute_pipe_program(cute_arena *arena, const char *name)
{
    const char *folder = cute_program_directory(arena);
    const char *beside = folder ? cute_arena_printf(arena, "%s/%s", folder, name) : NULL;
    return beside && cute_file_exists(beside) ? beside : name;
}

static bool is_name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether the text uses `name` in a `${...}`. */
static bool uses_define(const char *text, size_t length, const char *name, size_t name_length)
{
    for (const char *at = text, *end = text + length; (at = memmem(at, (size_t)(end - at), "${", 2));) {
        at += 2;
        size_t inside = 0;
        while (at + inside < end && at[inside] != '}' && at[inside] != '\n') inside++;
        for (size_t i = 0; i + name_length <= inside; i++)
            if (!memcmp(at + i, name, name_length) && (i == 0 || !is_name_byte(at[i - 1])) &&
                (i + name_length == inside || !is_name_byte(at[i + name_length])))
                return true;
    }
    return false;
}

cute_status cute_pipe_defines(cute_arena *arena, const cute_option_list *defines, const char *text,
                              size_t length, cute_option_list *out, cute_diag *diag)
{
    bool all = memmem(text, length, "//!include", 10) != NULL;
    *out = (cute_option_list){0};
    for (size_t i = 0; i < defines->count; i++) {
        size_t name = strcspn(defines->items[i], "=");
        if (!all && !uses_define(text, length, defines->items[i], name)) continue;
        if (!cute_option_append(arena, out, defines->items[i])) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}

static void add_list(cute_words *words, const char *option, const cute_option_list *list)
{
    for (size_t i = 0; list && i < list->count; i++) {
        cute_words_add(words, option);
        cute_words_add(words, list->items[i]);
    }
}

/* Adds the options of a program, PIPE_FOR_PTX or PIPE_FOR_LINK. */
static void add_options(cute_words *words, const cute_pipe *pipe, int program)
{
    cute_pipe_add_given(words, pipe->values, program);
    if (pipe->opt_level) {
        cute_words_add(words, "--opt-level");
        cute_words_add(words, pipe->opt_level);
    }
    if (pipe->cuda_path) {
        cute_words_add(words, "--cuda-path");
        cute_words_add(words, pipe->cuda_path);
    }
    if (cute_diag_is_data(pipe->format)) cute_words_add(words, "--diagnostics=json");
    cute_words_add(words, "--lineinfo");
}

static bool contains_word(const char *bytes, size_t length, const char *word)
{
    return length && memmem(bytes, length, word, strlen(word));
}

/* Whether the module has code in gpu.binary and no other kernels. Bytecode stores operation names in parts,
 * but these attributes as text. */
static bool is_compiled(const void *bytes, size_t length)
{
    static const char bytecode[] = "ML\xefR";
    if (length >= 4 && memcmp(bytes, bytecode, 4) == 0)
        return contains_word(bytes, length, "#gpu.object<") && !contains_word(bytes, length, "gpu.kernel") &&
               !contains_word(bytes, length, "nvvm.kernel");
    return contains_word(bytes, length, "gpu.binary") && !contains_word(bytes, length, "gpu.module");
}

static int number_of(const json_t *object, const char *key)
{
    return (int)json_integer_value(json_object_get(object, key));
}

/* Adds the messages of a program's JSON lines to `diag`, and other lines to `said`. */
static void read_messages(const char *text, cute_buffer *said, cute_diag *diag)
{
    for (size_t length; *text; text += length) {
        length = strcspn(text, "\n");
        length += text[length] == '\n';
        json_t *line = json_loadb(text, length, 0, NULL);
        const char *severity = json_string_value(json_object_get(line, "severity"));
        const char *message = json_string_value(json_object_get(line, "message"));
        const char *code = json_string_value(json_object_get(line, "code"));
        const cute_cause *cause = code ? cute_cause_find(code) : NULL;
        cute_severity kind = CUTE_ERROR;
        while (severity && kind < CUTE_NOTE && strcmp(cute_severity_name(kind), severity) != 0) kind++;
        if (severity && message) {
            cute_place place = {.file = json_string_value(json_object_get(line, "file")),
                                .line = number_of(line, "line"),
                                .column = number_of(line, "column")};
            cute_report(diag, kind, &place, "%s", message);
            if (cause) cute_diag_code(diag, cause->code);
        } else
            cute_buffer_append(said, text, length);
        json_decref(line);
    }
}

cute_status cute_pipe_program_run(const cute_pipe *pipe, const char *name, const cute_words *words,
                                  const void *input, size_t length, cute_buffer *out, cute_buffer *said,
                                  cute_diag *diag)
{
    cute_process process = {.argv = words->items, .input = input, .input_length = length};
    if (words->failed) return cute_fail_memory(diag);
    cute_status status = cute_process_run(&process, diag);
    if (pipe->format == CUTE_DIAG_SARIF)
        read_messages(cute_buffer_text(&process.err), said, diag);
    else
        cute_buffer_append(said, cute_buffer_text(&process.err), process.err.length);
    int code = process.exit_code;
    if (!status && code) {
        status = code >= CUTE_INVALID && code <= CUTE_SYSTEM ? (cute_status)code : CUTE_SYSTEM;
        if (!process.err.length) cute_fail(diag, status, NULL, "%s failed with exit code %d", name, code);
    }
    if (!status && !cute_buffer_ok(&process.out)) status = cute_fail_memory(diag);
    if (!status) {
        cute_buffer_release(out);
        *out = process.out;
        process.out = (cute_buffer){0};
    }
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

cute_status cute_pipe_link(cute_arena *arena, const cute_pipe *pipe, const cute_buffer *ptx, cute_buffer *out,
                           cute_buffer *said, cute_diag *diag)
{
    cute_words link = {.arena = arena};
    cute_words_add(&link, cute_pipe_program(arena, "cute-link"));
    add_options(&link, pipe, PIPE_FOR_LINK);
    cute_words_add(&link, "-");
    return cute_pipe_program_run(pipe, "cute-link", &link, cute_buffer_text(ptx), ptx->length, out, said,
                                 diag);
}

/* The code of a gpu.binary. */
static cute_status extract_code(cute_arena *arena, const cute_pipe *pipe, const char *path, const void *bytes,
                                size_t length, cute_buffer *out, cute_buffer *said, cute_diag *diag)
{
    cute_words link = {.arena = arena};
    bool standard = !strcmp(path, "-");
    cute_words_add(&link, cute_pipe_program(arena, "cute-link"));
    add_options(&link, pipe, PIPE_FOR_LINK);
    cute_words_add(&link, "--");
    cute_words_add(&link, path);
    return cute_pipe_program_run(pipe, "cute-link", &link, standard ? bytes : NULL, standard ? length : 0,
                                 out, said, diag);
}

cute_status cute_pipe_run(cute_arena *arena, const cute_pipe *pipe, const char *path, const void *bytes,
                          size_t length, cute_buffer *out, cute_buffer *said, cute_diag *diag)
{
    cute_words compile = {.arena = arena};
    bool standard = !strcmp(path, "-");
    const char *ptxas;
    if (is_compiled(bytes, length)) return extract_code(arena, pipe, path, bytes, length, out, said, diag);
    cute_words_add(&compile, cute_pipe_program(arena, "cute-ptx"));
    if (pipe->arch) {
        cute_words_add(&compile, "-arch");
        cute_words_add(&compile, pipe->arch);
    }
    if (pipe->schedule) {
        cute_words_add(&compile, "--schedule");
        cute_words_add(&compile, pipe->schedule);
    }
    add_list(&compile, "-D", pipe->defines);
    add_list(&compile, "-I", pipe->folders);
    add_list(&compile, "--load-plugin", pipe->plugins);
    add_options(&compile, pipe, PIPE_FOR_PTX);
    cute_words_add(&compile, "--");
    cute_words_add(&compile, path);
    CUTE_TRY(cute_pipe_program_run(pipe, "cute-ptx", &compile, standard ? bytes : NULL, standard ? length : 0,
                                   out, said, diag));
    /* If PTX suffices, a cubin is made only to keep it, or for what ptxas says with the user's options. */
    const pipe_values *v = pipe->values;
    const char *wants = cute_setting_on("keep-cubin") || (v && cute_pipe_given(v, PIPE_KEEP_CUBIN))
                            ? "keep a cubin"
                        : v && (cute_pipe_given(v, PIPE_XPTXAS) || cute_pipe_given(v, PIPE_REGISTERS) ||
                                cute_pipe_given(v, PIPE_WERROR))
                            ? "apply options of ptxas"
                            : NULL;
    const char *toolkit = v && !pipe->cuda_path ? v->of[PIPE_CUDA_PATH].text : pipe->cuda_path;
    if (pipe->ptx && !wants) return CUTE_OK;
    if (cute_toolkit_find(arena, CUTE_PTXAS, toolkit, &ptxas, NULL)) {
        if (wants) cute_report(diag, CUTE_WARNING, NULL, "cannot %s: ptxas not found", wants);
        return CUTE_OK;
    }
    if (!pipe->ptx) return cute_pipe_link(arena, pipe, out, out, said, diag);
    cute_buffer cubin = {0};
    cute_status status = cute_pipe_link(arena, pipe, out, &cubin, said, diag);
    cute_buffer_release(&cubin);
    return status;
}
