/* Findings: one per kind and pair of instructions. Prints them when a launch ends and keeps them for callers,
 * also as JSON with the transaction counts by line. */
#include "lib/checks/parts.h"

#include "lib/base/list.h"
#include "lib/base/text/json.h"

enum { FINDINGS_KEPT = 200, FINDINGS_REPORTED = 2000, FINDINGS_PRINTED = 20 };

static const struct {
    unsigned check;
    cute_severity severity;
    const char *code, *note, *reason;
} kinds[] = {
#define FINDING(id, code, check, severity, note, reason)                                                     \
    {CUTE_CHECK_##check, CUTE_##severity, code, note, reason},
#include "lib/checks/findings.def"
};

static const struct {
    unsigned check;
    const char *name;
} checks[] = {
#define CHECK(id, bit, name, parts, text) {CUTE_CHECK_##id, #name},
#include "cute/checks.def"
};
enum { CHECKS = sizeof checks / sizeof *checks };

static const char *check_name(const em_checks *c, unsigned check)
{
    size_t n = 0;
    if (check >= CUTE_CHECK_PLUGIN)
        return c->plugins->checks[__builtin_ctz(check / CUTE_CHECK_PLUGIN)].row.name;
    while (n + 1 < CHECKS && checks[n].check != check) n++;
    return checks[n].name;
}

/* Unrolled loops have several instructions per source line: these are one finding. */
static bool is_same_place(const em_program *program, uint32_t a, uint32_t b)
{
    if (a == b) return true;
    if (a == UINT32_MAX || b == UINT32_MAX) return false;
    const em_inst *i = &program->code[a], *k = &program->code[b];
    const em_loc *l = em_loc_of(program, i), *m = em_loc_of(program, k);
    return l && m && i->opcode == k->opcode && l->line == m->line && l->column == m->column &&
           !strcmp(l->file, m->file);
}

/* Counts a repeated finding and returns NULL; otherwise adds `f`, completed by the warp and the lane. */
static finding *add_finding(em_checks *c, finding f, em_warp *w, int lane)
{
    for (size_t n = 0; n < c->finding_count; n++) {
        finding *old = &c->findings[n];
        if (old->kind != f.kind || old->added != f.added ||
            !is_same_place(c->machine->program, old->inst, f.inst) ||
            !is_same_place(c->machine->program, old->other, f.other))
            continue;
        old->count++;
        return NULL;
    }
    if (c->finding_count >= FINDINGS_KEPT) return NULL;
    if (!cute_heap_more(&c->findings, c->finding_count, &c->finding_capacity, sizeof *c->findings, 16))
        return NULL;
    const uint32_t *shape = c->launch->block;
    uint32_t thread = w->index * EM_LANES + (uint32_t)(lane < 0 ? 0 : lane);
    f.count = 1;
    f.warp = w->index;
    f.whole_warp = lane < 0;
    f.device = w->block->cluster->device;
    memcpy(f.block, w->block->ctaid, sizeof f.block);
    f.thread[0] = thread % shape[0];
    f.thread[1] = thread / shape[0] % shape[1];
    f.thread[2] = thread / shape[0] / shape[1];
    c->findings[c->finding_count] = f;
    return &c->findings[c->finding_count++];
}

CUTE_PRINTF(2, 0)
static bool keep_text(finding *f, const char *format, va_list args)
{
    if (f) cute_buffer_vprintf(&f->text, format, args);
    return f != NULL;
}

bool em_check_find(em_checks *c, finding_kind kind, em_warp *w, const em_inst *i, int lane, uint32_t other,
                   const char *format, ...)
{
    finding *f = add_finding(c, (finding){.kind = kind, .inst = inst_index(c, i), .other = other}, w, lane);
    va_list args;
    va_start(args, format);
    bool kept = keep_text(f, format, args);
    va_end(args);
    return kept;
}

bool em_check_find_added(em_checks *c, const plugin_check *check, const cute_plugin_check_finding *row,
                         em_warp *w, const em_inst *i, int lane, const char *format, ...)
{
    const finding found = {.added = row,
                           .added_check = (unsigned)CUTE_CHECK_PLUGIN << (check - c->plugins->checks),
                           .inst = inst_index(c, i),
                           .other = UINT32_MAX};
    finding *f = add_finding(c, found, w, lane);
    va_list args;
    va_start(args, format);
    bool kept = keep_text(f, format, args);
    va_end(args);
    return kept;
}

/* ---- findings of all launches ---- */

static cute_finding_place finding_place(em_checks *c, const em_inst *i)
{
    const em_program *program = c->machine->program;
    const em_loc *loc = em_loc_of(program, i);
    cute_finding_place place = {.ptx_line = (uint32_t)em_place(program, i).line};
    if (!loc) return place;
    place.file = cute_arena_copy(c->arena, loc->file, strlen(loc->file));
    place.line = loc->line;
    place.column = loc->column;
    return place;
}

static void keep_finding(em_checks *c, const finding *f)
{
    const em_program *program = c->machine->program;
    const char *text = cute_buffer_text(&f->text), *kernel = c->launch->kernel->name;
    if (c->found_count >= FINDINGS_REPORTED) return;
    if (!cute_heap_more(&c->found, c->found_count, &c->found_capacity, sizeof *c->found, 16)) {
        c->exhausted = true;
        return;
    }
    cute_finding *e = &c->found[c->found_count++];
    cute_severity severity = f->added ? f->added->severity : kinds[f->kind].severity;
    *e = (cute_finding){.check = f->added ? f->added_check : kinds[f->kind].check,
                        .severity = c->which & CUTE_CHECK_STRICT ? CUTE_ERROR : severity,
                        .message = cute_arena_copy(c->arena, text, strlen(text)),
                        .reason = f->added ? f->added->reason : kinds[f->kind].reason,
                        .code = f->added ? f->added->code : kinds[f->kind].code,
                        .kernel = cute_arena_copy(c->arena, kernel, strlen(kernel)),
                        .place = finding_place(c, &program->code[f->inst]),
                        .has_other = f->other != UINT32_MAX,
                        .other_note = f->added ? NULL : kinds[f->kind].note,
                        .warp = f->warp,
                        .whole_warp = f->whole_warp,
                        .count = f->count,
                        .rank = c->devices > 1 ? (int32_t)f->device : -1};
    if (e->has_other) e->other = finding_place(c, &program->code[f->other]);
    memcpy(e->block, f->block, sizeof e->block);
    memcpy(e->thread, f->thread, sizeof e->thread);
    e->allowed = em_allowed(c, e, em_place(program, &program->code[f->inst]).file);
    if (e->allowed) e->severity = CUTE_WARNING;
}

const cute_finding *em_checks_findings(const em_checks *c, size_t *count)
{
    *count = c->found_count;
    return c->found;
}

static void print_where(const cute_finding *e, cute_buffer *out)
{
    cute_buffer_printf(out, "in kernel '%s', ", e->kernel);
    if (e->rank >= 0) cute_buffer_printf(out, "rank %d, ", (int)e->rank);
    cute_buffer_printf(out, "block (%u, %u, %u), ", e->block[0], e->block[1], e->block[2]);
    if (e->whole_warp)
        cute_buffer_printf(out, "warp %u", e->warp);
    else
        cute_buffer_printf(out, "thread (%u, %u, %u)", e->thread[0], e->thread[1], e->thread[2]);
    if (e->place.file)
        cute_buffer_printf(out, ", at %s:%u:%u", e->place.file, e->place.line, e->place.column);
}

static void report_finding(const em_checks *c, const finding *f, const cute_finding *e, cute_diag *diag)
{
    const em_program *program = c->machine->program;
    cute_place place = em_place(program, &program->code[f->inst]);
    cute_buffer where = {0};
    cute_report(diag, e->severity, &place, "%s", e->message);
    cute_diag_code(diag, e->code);
    print_where(e, &where);
    cute_note(diag, NULL, "%s%s", cute_buffer_text(&where), e->count > 1 ? ", first occurrence" : "");
    cute_buffer_release(&where);
    if (e->count > 1) cute_note(diag, NULL, "%llu occurrences", (unsigned long long)e->count);
    if (e->allowed)
        cute_note(diag, NULL, "allowed by --allow");
    else if (e->severity == CUTE_WARNING)
        cute_note(diag, NULL, "%s; --strict makes it an error", e->reason);
    if (!e->has_other || f->other == f->inst) return;
    place = em_place(program, &program->code[f->other]);
    if (e->other.file)
        cute_note(diag, &place, "%s (%s:%u:%u)", e->other_note, e->other.file, e->other.line,
                  e->other.column);
    else
        cute_note(diag, &place, "%s", e->other_note);
}

static json_t *place_json(const cute_finding_place *place)
{
    json_t *value = json_pack("{s:I}", "ptx_line", (json_int_t)place->ptx_line);
    if (place->file)
        json_object_update_new(value,
                               json_pack("{s:s, s:I, s:I}", "file", place->file, "line",
                                         (json_int_t)place->line, "column", (json_int_t)place->column));
    return value;
}

static json_t *finding_json(const em_checks *c, const cute_finding *e)
{
    cute_buffer where = {0};
    print_where(e, &where);
    json_t *value = place_json(&e->place);
    json_object_update_new(value, json_pack("{s:s, s:s, s:s, s:s, s:s, s:s, s:I, s:[I,I,I]}", "code", e->code,
                                            "kernel", e->kernel, "check", check_name(c, e->check), "severity",
                                            e->severity == CUTE_ERROR ? "error" : "warning", "message",
                                            e->message, "where", cute_buffer_text(&where), "count",
                                            (json_int_t)e->count, "block", (json_int_t)e->block[0],
                                            (json_int_t)e->block[1], (json_int_t)e->block[2]));
    if (e->whole_warp)
        json_object_set_new(value, "warp", json_integer(e->warp));
    else
        json_object_set_new(value, "thread",
                            json_pack("[I,I,I]", (json_int_t)e->thread[0], (json_int_t)e->thread[1],
                                      (json_int_t)e->thread[2]));
    if (e->rank >= 0) json_object_set_new(value, "rank", json_integer(e->rank));
    if (e->reason) json_object_set_new(value, "reason", json_string(e->reason));
    if (e->allowed) json_object_set_new(value, "allowed", json_true());
    if (e->has_other) json_object_set_new(value, "other", place_json(&e->other));
    cute_buffer_release(&where);
    return value;
}

/* ---- counts by line ---- */

/* The entry of a line of the kernel: of the source if known, else of the PTX. */
static json_t *line_entry(em_checks *c, const em_inst *i, const char *space)
{
    const em_program *program = c->machine->program;
    const char *kernel = c->launch->kernel->name;
    const em_loc *loc = em_loc_of(program, i);
    cute_buffer key = {0};
    if (loc)
        cute_buffer_printf(&key, "%s %s %s %s:%u:%u", space, kernel, em_instruction_name(i), loc->file,
                           loc->line, loc->column);
    else
        cute_buffer_printf(&key, "%s %s %d", space, kernel, em_place(program, i).line);
    json_t *line = cute_buffer_ok(&key) ? json_object_get(c->line_index, cute_buffer_text(&key)) : NULL;
    if (!line) {
        cute_finding_place place = finding_place(c, i);
        line = place_json(&place);
        json_object_set_new(line, "kernel", json_string(kernel));
        json_object_set_new(line, "instruction", json_string(em_instruction_name(i)));
        json_object_set_new(line, "space", json_string(space));
        if (cute_buffer_ok(&key)) json_object_set_nocheck(c->line_index, cute_buffer_text(&key), line);
        json_array_append_new(c->lines, line);
    }
    cute_buffer_release(&key);
    return line;
}

static void add_to_json(json_t *value, const char *key, uint64_t more)
{
    json_int_t old = json_integer_value(json_object_get(value, key));
    json_object_set_new(value, key, json_integer(old + (json_int_t)more));
}

static void add_lines(em_checks *c, const cute_traffic *list, const char *space)
{
    for (uint32_t n = 0; list && n < c->machine->program->count; n++) {
        if (!list[n].requests) continue;
        json_t *line = line_entry(c, &c->machine->program->code[n], space);
        add_to_json(line, "requests", list[n].requests);
        add_to_json(line, "transactions", list[n].count);
        add_to_json(line, "ideal", list[n].ideal);
    }
}

void em_report_launch(em_checks *c, cute_diag *diag)
{
    for (size_t n = 0; n < c->finding_count; n++) {
        size_t before = c->found_count;
        keep_finding(c, &c->findings[n]);
        if (n < FINDINGS_PRINTED && c->found_count > before)
            report_finding(c, &c->findings[n], &c->found[before], diag);
        cute_buffer_release(&c->findings[n].text);
    }
    if (c->finding_count > FINDINGS_PRINTED)
        cute_note(diag, NULL, "%zu more findings in the --json report", c->finding_count - FINDINGS_PRINTED);
    c->finding_count = 0;
    for (size_t n = 0; n < c->region_count; n++)
        if (c->regions[n].too_large && c->which & CUTE_CHECK_RACE)
            cute_report(diag, CUTE_REMARK, NULL, "%s is too large for race checking",
                        c->regions[n].name ? c->regions[n].name : "a buffer");
    if (c->exhausted)
        cute_report(diag, CUTE_WARNING, NULL, "out of memory: the checks covered only part of the run");
    add_lines(c, c->traffic[EM_WAVEFRONTS].by_inst, "shared");
    add_lines(c, c->traffic[EM_SECTORS].by_inst, "global");
}

char *em_checks_json(const em_checks *c)
{
    json_t *names = json_array(), *findings = json_array();
    for (size_t n = 0; n < CHECKS; n++)
        if (c->which & checks[n].check) json_array_append_new(names, json_string(checks[n].name));
    for (size_t n = 0; c->plugins && n < c->plugins->check_count; n++)
        if (c->which & (unsigned)CUTE_CHECK_PLUGIN << n)
            json_array_append_new(names, json_string(c->plugins->checks[n].row.name));
    for (size_t n = 0; n < c->found_count; n++)
        json_array_append_new(findings, finding_json(c, &c->found[n]));
    json_t *value = json_pack("{s:o, s:o, s:O}", "checks", names, "findings", findings, "lines", c->lines);
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    return text;
}
