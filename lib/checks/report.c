/* Findings: gathered once for each pair of instructions, told as errors, kept as JSON. */
#include "lib/checks/parts.h"

#include "lib/base/json.h"
#include "lib/base/list.h"

enum { FINDINGS_KEPT = 200, FINDINGS_REPORTED = 2000, FINDINGS_TOLD = 20 };

static const struct {
    unsigned check;
    const char *name;
} kinds[] = {
#define CHECK(id, bit, name, parts, text) {CUTE_CHECK_##id, #name},
#include "cute/checks.def"
};

static const char *kind_name(unsigned check)
{
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (kinds[n].check == check) return kinds[n].name;
    return "?";
}

static const em_loc *loc_of(const em_program *program, const em_inst *i)
{
    const em_loc *loc = i->loc && i->loc < program->loc_count ? &program->locs[i->loc] : NULL;
    return loc && loc->file ? loc : NULL;
}

static void say_where(const em_checks *c, const em_warp *w, const em_inst *i, int lane, cute_buffer *out)
{
    const uint32_t *n = c->launch->block;
    uint32_t thread = w->index * EM_LANES + (uint32_t)(lane < 0 ? 0 : lane);
    const em_loc *loc = loc_of(c->machine->program, i);
    cute_buffer_printf(out, "in kernel '%s', block (%u, %u, %u), ", c->launch->kernel->name,
                       w->block->ctaid[0], w->block->ctaid[1], w->block->ctaid[2]);
    if (lane < 0)
        cute_buffer_printf(out, "warp %u", w->index);
    else
        cute_buffer_printf(out, "thread (%u, %u, %u)", thread % n[0], thread / n[0] % n[1],
                           thread / n[0] / n[1]);
    if (loc) cute_buffer_printf(out, ", at %s:%u:%u", loc->file, loc->line, loc->column);
}

/* Loops that were unrolled have many instructions for a line of the source: those are one. */
static bool same_place(const em_program *program, uint32_t a, uint32_t b)
{
    if (a == b) return true;
    if (a == UINT32_MAX || b == UINT32_MAX) return false;
    const em_inst *i = &program->code[a], *k = &program->code[b];
    const em_loc *l = loc_of(program, i), *m = loc_of(program, k);
    return l && m && i->opcode == k->opcode && l->line == m->line && l->column == m->column &&
           !strcmp(l->file, m->file);
}

bool em_check_find(em_checks *c, unsigned kind, const char *what, em_warp *w, const em_inst *i, int lane,
                   uint32_t other, const char *format, ...)
{
    uint32_t inst = inst_index(c, i);
    for (size_t n = 0; n < c->finding_count; n++) {
        finding *f = &c->findings[n];
        if (f->kind != kind || f->what != what || !same_place(c->machine->program, f->inst, inst) ||
            !same_place(c->machine->program, f->other, other))
            continue;
        f->count++;
        return false;
    }
    if (c->finding_count >= FINDINGS_KEPT) return false;
    if (!cute_heap_more(&c->findings, c->finding_count, &c->finding_capacity, sizeof *c->findings, 16))
        return false;
    finding *f = &c->findings[c->finding_count++];
    *f = (finding){.kind = kind, .inst = inst, .other = other, .what = what, .count = 1};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&f->text, format, args);
    va_end(args);
    say_where(c, w, i, lane, &f->where);
    return true;
}

/* ---- telling ---- */

static json_t *place_json(const em_program *program, const em_inst *i)
{
    json_t *value = json_object();
    const em_loc *loc = loc_of(program, i);
    json_object_set_new(value, "ptx_line", json_integer(em_place(program, i).line));
    if (!loc) return value;
    json_object_set_new(value, "file", json_string(loc->file));
    json_object_set_new(value, "line", json_integer(loc->line));
    json_object_set_new(value, "column", json_integer(loc->column));
    return value;
}

static void tell(const em_checks *c, const finding *f, bool aloud, cute_diag *diag)
{
    const em_program *program = c->machine->program;
    const em_inst *i = &program->code[f->inst],
                  *other = f->other == UINT32_MAX ? NULL : &program->code[f->other];
    cute_place place = em_place(program, i), there = other ? em_place(program, other) : place;
    json_t *value = place_json(program, i);
    json_object_set_new(value, "kernel", json_string(c->launch->kernel->name));
    json_object_set_new(value, "check", json_string(kind_name(f->kind)));
    json_object_set_new(value, "message", json_string(cute_buffer_text(&f->text)));
    json_object_set_new(value, "where", json_string(cute_buffer_text(&f->where)));
    json_object_set_new(value, "count", json_integer((json_int_t)f->count));
    if (other) json_object_set_new(value, "other", place_json(program, other));
    if (json_array_size(c->found) < FINDINGS_REPORTED)
        json_array_append_new(c->found, value);
    else
        json_decref(value);
    if (!aloud) return;
    cute_report(diag, CUTE_ERROR, &place, "%s", cute_buffer_text(&f->text));
    cute_note(diag, NULL, "%s%s", cute_buffer_text(&f->where), f->count > 1 ? ", first" : "");
    if (f->count > 1) cute_note(diag, NULL, "%llu times in all", (unsigned long long)f->count);
    if (!other || other == i) return;
    const em_loc *loc = loc_of(program, other);
    const char *what = f->kind != CUTE_CHECK_UNINIT ? "the other is here"
                       : strcmp(f->what, "made")    ? "it is used here"
                                                    : "it comes from here";
    if (loc)
        cute_note(diag, &there, "%s (%s:%u:%u)", what, loc->file, loc->line, loc->column);
    else
        cute_note(diag, &there, "%s", what);
}

/* ---- counts by line ---- */

/* The entry of a kernel's line: the user's where it is known, else that of the PTX. */
static json_t *line_of(em_checks *c, const em_inst *i, const char *space)
{
    const em_program *program = c->machine->program;
    const char *kernel = c->launch->kernel->name;
    const em_loc *loc = loc_of(program, i);
    cute_buffer key = {0};
    if (loc)
        cute_buffer_printf(&key, "%s %s %s:%u:%u", space, kernel, loc->file, loc->line, loc->column);
    else
        cute_buffer_printf(&key, "%s %s %d", space, kernel, em_place(program, i).line);
    json_t *line = cute_buffer_ok(&key) ? json_object_get(c->line_index, cute_buffer_text(&key)) : NULL;
    if (!line) {
        line = place_json(program, i);
        json_object_set_new(line, "kernel", json_string(kernel));
        json_object_set_new(line, "instruction", json_string(em_instruction_name(i)));
        json_object_set_new(line, "space", json_string(space));
        if (cute_buffer_ok(&key)) json_object_set_nocheck(c->line_index, cute_buffer_text(&key), line);
        json_array_append_new(c->lines, line);
    }
    cute_buffer_release(&key);
    return line;
}

static void add(json_t *value, const char *key, uint64_t more)
{
    json_int_t old = json_integer_value(json_object_get(value, key));
    json_object_set_new(value, key, json_integer(old + (json_int_t)more));
}

static void add_lines(em_checks *c, const traffic_count *list, const char *space)
{
    for (uint32_t n = 0; list && n < c->machine->program->count; n++) {
        if (!list[n].requests) continue;
        json_t *line = line_of(c, &c->machine->program->code[n], space);
        add(line, "requests", list[n].requests);
        add(line, "transactions", list[n].count);
        add(line, "ideal", list[n].ideal);
    }
}

void em_report_launch(em_checks *c, cute_diag *diag)
{
    for (size_t n = 0; n < c->finding_count; n++) {
        tell(c, &c->findings[n], n < FINDINGS_TOLD, diag);
        cute_buffer_release(&c->findings[n].text);
        cute_buffer_release(&c->findings[n].where);
    }
    if (c->finding_count > FINDINGS_TOLD)
        cute_note(diag, NULL, "%zu more are in the report of --json", c->finding_count - FINDINGS_TOLD);
    c->finding_count = 0;
    for (size_t n = 0; n < c->region_count; n++)
        if (c->regions[n].too_large && c->which & CUTE_CHECK_RACE)
            cute_report(diag, CUTE_REMARK, NULL, "races in %s were not looked for: it is too large",
                        c->regions[n].name ? c->regions[n].name : "a buffer");
    if (c->exhausted)
        cute_report(diag, CUTE_WARNING, NULL, "the checks ran out of memory: they saw part of the run");
    add_lines(c, c->banks.by_inst, "shared");
    add_lines(c, c->sectors.by_inst, "global");
}

char *em_checks_json(const em_checks *c)
{
    json_t *value = json_object(), *names = json_array();
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++)
        if (c->which & kinds[n].check) json_array_append_new(names, json_string(kinds[n].name));
    json_object_set_new(value, "checks", names);
    json_object_set(value, "findings", c->found);
    json_object_set(value, "lines", c->lines);
    char *text = json_dumps(value, JSON_COMPACT);
    json_decref(value);
    return text;
}
