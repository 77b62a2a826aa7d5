/* Parses the output of ptxas and nvlink. Forms of lines:
 *     ptxas k.ptx, line 4; error   : Unknown symbol 'x'
 *     ptxas info    : (C7510) Potential Performance Loss: ... in the function 'k'
 *     ptxas info    : Used 34 registers, used 0 barriers, 656 bytes cumulative stack size
 *         0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads       (of "Function properties for")
 * Other lines are passed through unchanged. */
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
    int ignored;          /* number of kernels with an ignored setmaxnreg */
    cute_diag *diag;
    cute_status status;
} reader;

/* Performance warnings that ptxas prints as infos. */
static bool is_costly(const char *text)
{
    return *text == '(' && strstr(text, "Potential Performance Loss");
}

/* ---- unexpectedly slow code ---- */

/* `fatal`: an error; the others are warnings, and errors with -Werror. */
static const struct kind {
    const char *name, *words;
    bool fatal;
} kinds[] = {
    {"wgmma-serialized", "wgmma.mma_async instructions are serialized", true},
    {"setmaxnreg-ignored", "'setmaxnreg' ignored", false},
};

/* Fixes, by the reason in ptxas's message. */
static const struct {
    const char *reason, *advice;
} advices[] = {
    {"unable to determine register count",
     "expected a block size (.reqntid or .maxntid) and .minnctapersm 1 or .maxnreg: cute-ptx adds "
     ".minnctapersm 1 to kernels with nvvm.reqntid"},
    {"across compilation units", "expected whole-program compilation, without -c"},
    {"into 'extern' call", "expected callees that are defined in the module"},
    {"minimum register requirements", "expected a larger number of registers in setmaxnreg.dec"},
    {"to allow debugging", "expected no -G"},
    {"Extern calls",
     "expected no calls to functions outside the module between wgmma.fence and wgmma.wait_group"},
    {"crossing function boundary",
     "expected wgmma.fence, wgmma and wgmma.wait_group in one function: let it be inlined"},
    {"insufficient register",
     "expected a smaller tile for each warpgroup, or more registers for it: fewer blocks or threads, "
     "setmaxnreg.inc, no -maxrregcount"},
    {"defining input registers",
     "expected the registers of A to be written before wgmma.fence, and not again before wgmma.wait_group"},
    {"reading accumulator registers", "expected accumulators to be read after wgmma.wait_group"},
    {"defining accumulator registers", "expected accumulators to be written before wgmma.fence; the first "
                                       "wgmma can overwrite them with scale-d = 0 (accum_c = false)"},
    {"ill formed pipeline stage",
     "expected wgmma.fence, wgmma, wgmma.commit_group and wgmma.wait_group in this order on each path"},
    {"divergent path", "expected all threads of a warpgroup to take the same path: make the condition "
                       "warp-uniform (cute_nvgpu.arch.make_warp_uniform)"},
};

static const struct kind *slow_kind_of(const char *text)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strstr(text, kinds[i].words)) return &kinds[i];
    return NULL;
}

enum { KINDS = sizeof kinds / sizeof *kinds };

/* The kind named at the start of `*at`, of *length characters; advances *at past the comma. KINDS:
 * unknown. */
static size_t next_kind(const char **at, size_t *length)
{
    size_t i = 0;
    const char *name = *at;
    *length = strcspn(name, ",");
    while (i < KINDS && (strlen(kinds[i].name) != *length || memcmp(kinds[i].name, name, *length) != 0)) i++;
    *at += *length + (name[*length] == ',');
    return i;
}

static bool is_allowed(const cute_tool_output *output, const struct kind *kind)
{
    bool allowed = output->allow_all;
    size_t length;
    for (size_t i = 0; i < output->allow.count; i++)
        for (const char *at = output->allow.items[i]; *at;)
            allowed |= next_kind(&at, &length) == (size_t)(kind - kinds);
    return allowed;
}

cute_status cute_tool_check_allowed(const cute_option_list *allow, cute_diag *diag)
{
    size_t length;
    for (size_t i = 0; i < allow->count; i++)
        for (const char *at = allow->items[i], *name = at; *at; name = at)
            if (next_kind(&at, &length) == KINDS)
                return cute_fail(diag, CUTE_USAGE, NULL, "--allow expects %s or %s, got '%.*s'",
                                 kinds[0].name, kinds[1].name, (int)length, name);
    return CUTE_OK;
}

static void add_advice(reader *r, const struct kind *kind, const char *text, bool error)
{
    for (size_t i = 0; i < sizeof advices / sizeof *advices; i++)
        if (strstr(text, advices[i].reason)) {
            cute_note(r->diag, NULL, "%s", advices[i].advice);
            break;
        }
    if (error) cute_note(r->diag, NULL, "--allow=%s makes it a warning", kind->name);
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
    bool traced = cute_ptx_source(r->arena, ptx, line, &in_source);
    cute_report(r->diag, severity, traced ? &in_source : &in_ptx, "%s%s", text, suffix);
    if (traced) cute_note(r->diag, &in_ptx, "in the generated PTX");
    if (severity == CUTE_ERROR) cute_diag_show(r->diag, ptx->text, ptx->length);
}

/* The line of the declaration of function k in "... in the function 'k'", "Entry function 'k' uses ..."; 0:
 * none. */
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

static bool has_word(const char *line, size_t length, const char *word)
{
    const char *comment = memmem(line, length, "//", 2);
    return memmem(line, comment ? (size_t)(comment - line) : length, word, strlen(word));
}

/* The first setmaxnreg of the `index`-th kernel that has one, but neither .minnctapersm nor .maxnreg: ptxas
 * does not name the kernel. 0: none. */
static int64_t line_of_setmaxnreg(const cute_ptx_text *ptx, int index)
{
    bool looks = false;
    int64_t number = 1;
    for (const char *at = ptx->text, *stop = at + ptx->length; at < stop; number++) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        size_t length = (size_t)((end ? end : stop) - at);
        if (has_word(at, length, ".entry")) looks = true;
        if (has_word(at, length, ".minnctapersm") || has_word(at, length, ".maxnreg")) looks = false;
        if (looks && has_word(at, length, "setmaxnreg")) {
            if (index-- == 0) return number;
            looks = false;
        }
        at = end ? end + 1 : stop;
    }
    return 0;
}

static int64_t line_of_message(reader *r, const char *text)
{
    const cute_ptx_text *ptx = r->output->ptx;
    if (ptx && strstr(text, "'setmaxnreg' ignored; unable")) return line_of_setmaxnreg(ptx, r->ignored++);
    static const char *const befores[] = {"around line ", "instruction at line "};
    int64_t line = 0;
    for (size_t i = 0; i < sizeof befores / sizeof *befores; i++) {
        const char *before = strstr(text, befores[i]);
        if (before) line = strtoll(before + strlen(befores[i]), NULL, 10);
    }
    return line > 0 ? line : line_of_function(ptx, text);
}

static void report_message(reader *r, cute_severity severity, int64_t line, const char *text)
{
    if (line <= 0) line = line_of_message(r, text);
    const struct kind *kind = severity == CUTE_WARNING ? slow_kind_of(text) : NULL;
    bool slow = kind && !is_allowed(r->output, kind), fatal = slow && kind->fatal;
    bool promoted = severity == CUTE_WARNING && !fatal && (!kind || slow) && r->output->werror;
    if (r->output->quiet && severity != CUTE_ERROR && !promoted && !fatal) return;
    if (promoted || fatal) severity = CUTE_ERROR;
    if (severity == CUTE_ERROR) r->status = CUTE_INVALID;
    report_at(r, severity, line, text, promoted ? " [-Werror]" : "");
    if (slow) add_advice(r, kind, text, severity == CUTE_ERROR);
}

/* ---- resources ---- */

static cute_usage *usage_of(reader *r, const char *name, size_t length)
{
    if (!r->usage) return NULL;
    size_t known = cute_names_find(&r->usage->names, name, length);
    if (known != CUTE_NO_NAME) return (cute_usage *)(uintptr_t)known;
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
    if (!u->name || !cute_names_put(&r->usage->names, u->name, length, (size_t)(uintptr_t)u)) return NULL;
    if (r->usage->last)
        r->usage->last->next = u;
    else
        r->usage->first = u;
    return r->usage->last = u;
}

/* Phrases of a resource line: a number before or after these words. */
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

/* Parses "used 3 barriers, 1024 bytes smem, ..." into the fields. */
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

/* True if `text` begins with `prefix`; *rest points after it. */
static bool skip_prefix(const char *text, const char *prefix, const char **rest)
{
    size_t length = strlen(prefix);
    if (strncmp(text, prefix, length) != 0) return false;
    *rest = text + length;
    return true;
}

/* Parses infos printed because of -v; true if `text` is one. */
static bool read_info(reader *r, const char *text)
{
    const char *rest;
    if (skip_prefix(text, "Compiling entry function '", &rest)) {
        size_t length = strcspn(rest, "'");
        r->entry = usage_of(r, rest, length);
        if (r->entry) r->entry->entry = true;
    } else if (skip_prefix(text, "Function properties for ", &rest)) {
        r->function = usage_of(r, rest, strcspn(rest, " \r"));
    } else if (skip_prefix(text, "Used ", &rest)) {
        read_phrases(rest, r->entry ? r->entry : r->function);
    } else if (skip_prefix(text, "Compile time = ", &rest)) {
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

/* Parses "error   : text"; `text` points after the colon. */
static bool read_severity(const char *at, cute_severity *severity, const char **text)
{
    for (size_t i = 0; i < sizeof severities / sizeof *severities; i++) {
        const char *rest;
        if (!skip_prefix(at, severities[i].word, &rest)) continue;
        rest += strspn(rest, " ");
        if (*rest != ':') continue;
        rest++;
        *text = rest + strspn(rest, " ");
        *severity = severities[i].severity;
        return true;
    }
    return false;
}

/* Parses "ptxas FILE, line N; " or "ptxas " before the severity; FILE is arbitrary. */
static bool read_head(const char *line, int64_t *number, const char **rest)
{
    const char *after;
    *number = 0;
    if (!skip_prefix(line, "ptxas ", &after) && !skip_prefix(line, "nvlink ", &after) &&
        !skip_prefix(line, "fatbinary ", &after))
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

/* Messages that only repeat that there were errors. */
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
        if (r->output->verbose) report_message(r, CUTE_REMARK, 0, line + strspn(line, " "));
        return;
    }
    if (!read_head(line, &number, &rest) || !read_severity(rest, &severity, &text)) {
        report_message(r, CUTE_WARNING, 0, line);
        return;
    }
    if (severity == CUTE_REMARK && is_costly(text)) severity = CUTE_WARNING;
    if (severity == CUTE_ERROR && is_summary(text) && r->status != CUTE_OK) return;
    if (severity == CUTE_REMARK && *text != '(') {
        read_info(r, text);
        if (!r->output->verbose) return;
    }
    report_message(r, severity, number, text);
}

cute_status cute_tool_messages(cute_arena *arena, const cute_tool_output *output, cute_usage_list *usage,
                               cute_diag *diag)
{
    reader r = {.arena = arena, .output = output, .usage = usage, .diag = diag, .status = CUTE_OK};
    if (usage) usage->names.arena = arena;
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
