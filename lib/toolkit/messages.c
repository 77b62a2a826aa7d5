/* Reads the lines that ptxas and nvlink print. Their forms:
 *     ptxas k.ptx, line 4; error   : Unknown symbol 'x'
 *     ptxas info    : (C7510) Potential Performance Loss: ... in the function 'k'
 *     ptxas info    : Used 34 registers, used 0 barriers, 656 bytes cumulative stack size
 *         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads       (of "Function properties for")
 * A line of no known form is passed on as it is. */
#include "lib/toolkit/messages.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

typedef struct reader {
    cute_arena *arena;
    const cute_tool_output *output;
    cute_usage_list *usage;
    cute_usage *entry;    /* of "Compiling entry function" */
    cute_usage *function; /* of "Function properties for" */
    cute_diag *diag;
    cute_status status;
} reader;

/* Advisories that cost performance: ptxas prints them as infos, -Werror counts them. */
static const char *const costly[] = {"C7508", "C7509", "C7510", "C7511", "C7512", "C7513", "C7514", "C7515"};

static bool is_costly(const char *text)
{
    if (*text != '(') return false;
    for (size_t i = 0; i < sizeof costly / sizeof *costly; i++)
        if (strncmp(text + 1, costly[i], 5) == 0) return true;
    return strstr(text, "Potential Performance Loss") != NULL;
}

/* ---- places ---- */

static void report_at(reader *r, cute_severity severity, int64_t line, const char *text, const char *suffix)
{
    const cute_ptx_text *ptx = r->output->ptx;
    if (!ptx || line <= 0) {
        cute_report(r->diag, severity, NULL, "%s%s", text, suffix);
        return;
    }
    cute_place in_ptx = cute_ptx_line(ptx, line, text, strlen(text)), in_source;
    if (!cute_ptx_source(r->arena, ptx, line, &in_source)) {
        cute_report(r->diag, severity, &in_ptx, "%s%s", text, suffix);
        return;
    }
    cute_report(r->diag, severity, &in_source, "%s%s", text, suffix);
    cute_note(r->diag, &in_ptx, "in the PTX made from it");
}

/* "... in the function 'k'", "Entry function 'k' uses ...": the line of k's declaration, 0 without. */
static int64_t line_of_function(const cute_ptx_text *ptx, const char *text)
{
    for (const char *at = text; ptx && (at = strstr(at, "unction '")) != NULL;) {
        at += strlen("unction '");
        const char *end = strchr(at, '\'');
        if (!end) return 0;
        int64_t line = cute_ptx_function_line(ptx, at, (size_t)(end - at));
        if (line) return line;
    }
    return 0;
}

static int64_t line_of_message(const cute_ptx_text *ptx, const char *text)
{
    const char *around = strstr(text, "around line ");
    int64_t line = around ? strtoll(around + strlen("around line "), NULL, 10) : 0;
    return line > 0 ? line : line_of_function(ptx, text);
}

static void report(reader *r, cute_severity severity, int64_t line, const char *text)
{
    if (line <= 0) line = line_of_message(r->output->ptx, text);
    bool promoted = severity == CUTE_WARNING && r->output->werror;
    if (r->output->quiet && severity != CUTE_ERROR && !promoted) return;
    if (promoted) severity = CUTE_ERROR;
    if (severity == CUTE_ERROR) r->status = CUTE_INVALID;
    report_at(r, severity, line, text, promoted ? " [-Werror]" : "");
}

/* ---- resources ---- */

static cute_usage *usage_of(reader *r, const char *name, size_t length)
{
    if (!r->usage) return NULL;
    for (cute_usage *u = r->usage->first; u; u = u->next)
        if (strlen(u->name) == length && memcmp(u->name, name, length) == 0) return u;
    cute_usage *u = cute_arena_alloc(r->arena, sizeof *u);
    if (!u) return NULL;
    *u = (cute_usage){.name = cute_arena_copy(r->arena, name, length),
                      .registers = -1,
                      .barriers = -1,
                      .shared = -1,
                      .stack = -1,
                      .spill_stores = -1,
                      .spill_loads = -1,
                      .max_stack = -1,
                      .milliseconds = -1};
    if (!u->name) return NULL;
    if (r->usage->last)
        r->usage->last->next = u;
    else
        r->usage->first = u;
    return r->usage->last = u;
}

/* A phrase of a line of resources: a number before or after its words. */
static const struct {
    const char *words;
    size_t field;
} phrases[] = {
    {"registers", offsetof(cute_usage, registers)},
    {"barriers", offsetof(cute_usage, barriers)},
    {"bytes smem", offsetof(cute_usage, shared)},
    {"bytes cumulative stack size", offsetof(cute_usage, max_stack)},
    {"bytes stack frame", offsetof(cute_usage, stack)},
    {"bytes spill stores", offsetof(cute_usage, spill_stores)},
    {"bytes spill loads", offsetof(cute_usage, spill_loads)},
};

/* "used 3 barriers, 1024 bytes smem, ...": each phrase into its field. */
static void read_phrases(const char *text, cute_usage *into)
{
    while (into && *text) {
        size_t length = strcspn(text, ",");
        const char *digit = text;
        while (digit < text + length && !isdigit((unsigned char)*digit)) digit++;
        char *rest;
        int64_t value = strtoll(digit, &rest, 10);
        for (size_t i = 0; digit < text + length && i < sizeof phrases / sizeof *phrases; i++)
            if (strncmp(rest + strspn(rest, " "), phrases[i].words, strlen(phrases[i].words)) == 0)
                memcpy((char *)into + phrases[i].field, &value, sizeof value);
        text += length;
        text += strspn(text, ", ");
    }
}

/* True when `text` begins with `prefix`; *rest is what follows. */
static bool skip(const char *text, const char *prefix, const char **rest)
{
    size_t length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0) return false;
    *rest = text + length;
    return true;
}

/* Infos that exist only because of -v; true when `text` is one. */
static bool read_info(reader *r, const char *text)
{
    const char *rest;
    if (skip(text, "Compiling entry function '", &rest)) {
        size_t length = strcspn(rest, "'");
        r->entry = usage_of(r, rest, length);
        if (r->entry) r->entry->entry = true;
    } else if (skip(text, "Function properties for ", &rest)) {
        r->function = usage_of(r, rest, strcspn(rest, " \r"));
    } else if (skip(text, "Used ", &rest)) {
        read_phrases(rest, r->entry ? r->entry : r->function);
    } else if (skip(text, "Compile time = ", &rest)) {
        if (r->entry) r->entry->milliseconds = strtoll(rest, NULL, 10);
    } else {
        return strstr(text, " bytes gmem") != NULL;
    }
    return true;
}

/* ---- lines ---- */

static const struct {
    const char *word;
    cute_severity severity;
} severities[] = {
    {"fatal", CUTE_ERROR}, {"error", CUTE_ERROR}, {"warning", CUTE_WARNING}, {"info", CUTE_REMARK}};

/* "error   : text" to its severity; `text` is what follows the colon. */
static bool read_severity(const char *at, cute_severity *severity, const char **text)
{
    for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
        const char *rest;
        if (!skip(at, severities[i].word, &rest)) continue;
        rest += strspn(rest, " ");
        if (*rest != ':') continue;
        rest++;
        *text = rest + strspn(rest, " ");
        *severity = severities[i].severity;
        return true;
    }
    return false;
}

/* "ptxas FILE, line N; " or "ptxas " before the severity; FILE may hold anything. */
static bool read_head(const char *line, int64_t *number, const char **rest)
{
    const char *after;
    *number = 0;
    if (!skip(line, "ptxas ", &after) && !skip(line, "nvlink ", &after) && !skip(line, "fatbinary ", &after))
        return false;
    *rest = after;
    for (const char *mark = after; (mark = strstr(mark, ", line ")) != NULL; mark++) {
        char *end;
        long long value = strtoll(mark + strlen(", line "), &end, 10);
        if (*end != ';' || value <= 0) continue;
        *number = value;
        *rest = end + 1 + strspn(end + 1, " ");
        return true;
    }
    return true;
}

/* What only repeats that there were errors. */
static bool is_summary(const char *text)
{
    return strcmp(text, "Ptx assembly aborted due to errors") == 0;
}

static void read_line(reader *r, const char *line)
{
    const char *rest, *text;
    int64_t number;
    cute_severity severity;
    if (line[strspn(line, " \t\r")] == 0) return;
    if (*line == ' ' && strstr(line, "bytes stack frame")) {
        read_phrases(line, r->function);
        if (r->output->verbose) report(r, CUTE_REMARK, 0, line + strspn(line, " "));
        return;
    }
    if (!read_head(line, &number, &rest) || !read_severity(rest, &severity, &text)) {
        report(r, CUTE_WARNING, 0, line);
        return;
    }
    if (severity == CUTE_REMARK && is_costly(text)) severity = CUTE_WARNING;
    if (severity == CUTE_ERROR && is_summary(text) && r->status != CUTE_OK) return;
    if (severity == CUTE_REMARK && *text != '(') {
        read_info(r, text);
        if (!r->output->verbose) return;
    }
    report(r, severity, number, text);
}

cute_status cute_tool_messages(cute_arena *arena, const cute_tool_output *output, cute_usage_list *usage,
                               cute_diag *diag)
{
    reader r = {.arena = arena, .output = output, .usage = usage, .diag = diag, .status = CUTE_OK};
    for (const char *at = output->text, *stop = at + output->length; at && at < stop;) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t length = (size_t)((end ? end : stop) - at);
        while (length && at[length - 1] == '\r') length--;
        char *line = cute_arena_copy(arena, at, length);
        if (!line) return cute_fail_memory(diag);
        read_line(&r, line);
        at = end ? end + 1 : stop;
    }
    return r.status;
}

cute_status cute_report_function(cute_arena *arena, const cute_ptx_text *ptx, const char *function,
                                 bool werror, cute_diag *diag, const char *format, ...)
{
    cute_tool_output output = {.ptx = ptx};
    reader r = {.arena = arena, .output = &output, .diag = diag};
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    int64_t line = ptx ? cute_ptx_function_line(ptx, function, strlen(function)) : 0;
    report_at(&r, werror ? CUTE_ERROR : CUTE_WARNING, line, cute_buffer_text(&text),
              werror ? " [-Werror]" : "");
    cute_buffer_release(&text);
    return werror ? CUTE_INVALID : CUTE_OK;
}
