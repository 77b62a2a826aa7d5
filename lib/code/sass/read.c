/* Reads nvdisasm's listing:
 *     .section .text.vadd,"ax",@progbits
 *     //## File "/src/k.mlir", line 7 inlined at "/src/k.mlir", line 30
 *     //## File "/src/k.mlir", line 30
 *             [0010 in a comment]   LDC R0, c[0x0][0x218] ;  [encoding in a comment]
 *     .L_x_3: */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/system/process.h"
#include "lib/code/sass/code.h"
#include "lib/toolkit/scratch.h"
#include "lib/toolkit/toolkit.h"

typedef struct span {
    const char *at;
    size_t length;
} span;

static bool span_starts_with(span line, const char *prefix, span *rest)
{
    size_t length = strlen(prefix);
    if (line.length < length || memcmp(line.at, prefix, length) != 0) return false;
    *rest = (span){line.at + length, line.length - length};
    return true;
}

static span trim_spaces(span s)
{
    while (s.length && isspace((unsigned char)*s.at)) s.at++, s.length--;
    while (s.length && isspace((unsigned char)s.at[s.length - 1])) s.length--;
    return s;
}

static bool span_equals(span s, const char *prefix, const char *name)
{
    span rest;
    return span_starts_with(s, prefix, &rest) && rest.length == strlen(name) &&
           memcmp(rest.at, name, rest.length) == 0;
}

/* Digits up to the first other character. */
static uint64_t number_at(span s, int base)
{
    char digits[24];
    size_t length = s.length < sizeof digits - 1 ? s.length : sizeof digits - 1;
    memcpy(digits, s.at, length);
    digits[length] = 0;
    return *digits == '-' ? 0 : strtoull(digits, NULL, base);
}

/* The parser's state: the function, and the source places of the next instruction. */
typedef struct reader {
    cute_arena *arena;
    cute_code *code;
    cute_code_function *function;
    cute_code_place *place, *innermost_end; /* the innermost place, and the one to append callers to */
    bool open;                              /* the last place line ended with "inlined at" */
} reader;

/* Reuses the string of a repeated file name. */
static const char *intern_file_name(reader *r, span name)
{
    const cute_code_place *last = r->place;
    for (; last; last = last->caller)
        if (last->file && strlen(last->file) == name.length && memcmp(last->file, name.at, name.length) == 0)
            return last->file;
    return cute_arena_copy(r->arena, name.at, name.length);
}

/* "/src/k.mlir", line 7 [inlined at "/src/k.mlir", line 30] */
static bool read_place(reader *r, span rest)
{
    const char *end = rest.length ? memchr(rest.at, '"', rest.length) : NULL;
    span after;
    if (!end || !span_starts_with((span){end, rest.length - (size_t)(end - rest.at)}, "\", line ", &after)) {
        r->place = NULL;
        r->open = false;
        return true;
    }
    cute_code_place *place = cute_arena_alloc(r->arena, sizeof *place);
    if (!place) return false;
    place->file = intern_file_name(r, (span){rest.at, (size_t)(end - rest.at)});
    uint64_t line = number_at(after, 10);
    place->line = line > INT32_MAX ? INT32_MAX : (int64_t)line;
    if (!place->file) return false;
    if (r->open && r->innermost_end)
        r->innermost_end->caller = place;
    else
        r->place = place;
    r->innermost_end = place;
    r->open = memmem(after.at, after.length, " inlined at ", 12) != NULL;
    return true;
}

static bool add_function(reader *r, span name)
{
    cute_code *code = r->code;
    if (!cute_arena_more(r->arena, &code->functions, code->count, &code->capacity, sizeof *code->functions,
                         8))
        return false;
    r->function = &code->functions[code->count++];
    *r->function = (cute_code_function){.name = cute_arena_copy(r->arena, name.at, name.length)};
    return r->function->name != NULL;
}

static bool add_label(reader *r, span name)
{
    cute_code_function *f = r->function;
    if (span_equals(name, "", f->name) || span_equals(name, ".text.", f->name)) return true;
    if (!cute_arena_more(r->arena, &f->labels, f->label_count, &f->label_capacity, sizeof *f->labels, 16))
        return false;
    f->labels[f->label_count] = (cute_code_label){cute_arena_copy(r->arena, name.at, name.length), f->count};
    return f->labels[f->label_count++].name != NULL;
}

/* Parses the text after the address: the instruction, then the encoding as a comment. */
static bool add_instruction(reader *r, span address, span rest)
{
    cute_code_function *f = r->function;
    if (!cute_arena_more(r->arena, &f->instructions, f->count, &f->capacity, sizeof *f->instructions, 64))
        return false;
    cute_code_instruction *i = &f->instructions[f->count];
    *i =
        (cute_code_instruction){.address = number_at(address, 16), .place = r->place, .block = CUTE_NO_BLOCK};
    const char *code = memmem(rest.at, rest.length, "/* 0x", 5);
    if (code) {
        i->encoding[0] = number_at((span){code + 3, rest.length - (size_t)(code + 3 - rest.at)}, 16);
        rest.length = (size_t)(code - rest.at);
    }
    rest = trim_spaces(rest);
    if (!rest.length) return true;
    i->text = cute_arena_copy(r->arena, rest.at, rest.length);
    if (!i->text || !cute_code_decode(r->arena, i)) return false;
    f->count++;
    r->open = false;
    r->innermost_end = NULL;
    return true;
}

static bool read_line(reader *r, span line)
{
    span rest;
    cute_code_function *f = r->function;
    if (span_starts_with(line, ".section", &rest) && rest.length && isspace((unsigned char)*rest.at)) {
        rest = trim_spaces(rest);
        r->function = NULL;
        r->place = NULL;
        r->open = false;
        if (!span_starts_with(rest, ".text.", &rest)) return true;
        const char *comma = memchr(rest.at, ',', rest.length);
        if (comma) rest.length = (size_t)(comma - rest.at);
        return add_function(r, rest);
    }
    if (span_starts_with(line, "//## File \"", &rest)) return read_place(r, rest);
    if (!f) return true;
    if (span_starts_with(line, "/* 0x", &rest)) { /* the second half of an encoding */
        if (f->count && !f->instructions[f->count - 1].encoded) {
            f->instructions[f->count - 1].encoding[1] = number_at(rest, 16);
            f->instructions[f->count - 1].encoded = true;
        }
        return true;
    }
    if (span_starts_with(line, "/*", &rest) && rest.length && isxdigit((unsigned char)*rest.at)) {
        const char *close = memmem(rest.at, rest.length, "*/", 2);
        if (!close) return true;
        return add_instruction(r, rest, (span){close + 2, rest.length - (size_t)(close + 2 - rest.at)});
    }
    if (line.length > 1 && line.at[line.length - 1] == ':' && *line.at != '/' &&
        !memchr(line.at, ' ', line.length) && !memchr(line.at, '\t', line.length))
        return add_label(r, (span){line.at, line.length - 1});
    return true;
}

cute_status cute_code_parse(cute_arena *arena, const char *text, size_t length, cute_code *out,
                            cute_diag *diag)
{
    reader r = {.arena = arena, .code = out};
    *out = (cute_code){0};
    for (const char *at = text, *stop = text + length; at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        if (!read_line(&r, trim_spaces((span){at, (size_t)((end ? end : stop) - at)})))
            return cute_fail_memory(diag);
        at = end ? end + 1 : stop;
    }
    for (size_t i = 0; i < out->count; i++)
        if (!cute_code_flow_find(arena, &out->functions[i]) || !cute_code_liveness(arena, &out->functions[i]))
            return cute_fail_memory(diag);
    return CUTE_OK;
}

cute_status cute_code_read(cute_arena *arena, const char *label, const void *cubin, size_t length,
                           const char *cuda_path, bool encodings, cute_code *out, cute_diag *diag)
{
    const char *program, *path;
    const cute_place file = {.file = label};
    CUTE_TRY(cute_toolkit_find(arena, CUTE_NVDISASM, cuda_path, &program, diag));
    cute_scratch scratch = {.arena = arena};
    cute_status status = cute_scratch_file(&scratch, "image.cubin", cubin, length, &path, diag);
    cute_process process = {
        .argv = (const char *const[]){program, "-gi", "-c", path, encodings ? "-hex" : NULL, NULL},
        .inherited = scratch.descriptors,
        .inherited_count = scratch.descriptor_count};
    if (status == CUTE_OK) status = cute_process_run(&process, diag);
    if (status == CUTE_OK && process.exit_code) {
        span said = trim_spaces((span){cute_buffer_text(&process.err), process.err.length});
        status = cute_fail(diag, CUTE_INVALID, &file, "nvdisasm rejects this cubin: %.*s",
                           (int)(said.length < 2000 ? said.length : 2000), said.at);
    }
    if (status == CUTE_OK)
        status = cute_code_parse(arena, cute_buffer_text(&process.out), process.out.length, out, diag);
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    cute_scratch_close(&scratch);
    return status;
}

const cute_code_function *cute_code_find(const cute_code *code, const char *name)
{
    for (size_t i = 0; i < code->count; i++)
        if (strcmp(code->functions[i].name, name) == 0) return &code->functions[i];
    return NULL;
}

const cute_code_place *cute_code_user_place(const cute_code_instruction *instruction)
{
    const cute_code_place *own = instruction->place, *kernel = own;
    while (kernel && kernel->caller) kernel = kernel->caller;
    while (own != kernel && strcmp(own->file, kernel->file)) own = own->caller;
    return own;
}
