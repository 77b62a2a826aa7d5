/* The view of instructions with their source lines. */
#include <string.h>

#include "lib/base/text/demangle.h"
#include "lib/report/code/source.h"
#include "lib/report/code/view.h"

typedef struct printer {
    cute_arena *arena;
    cute_source *sources;
    const cute_sass_options *options;
    const cute_code_place *place; /* of the previous instruction */
} printer;

static void print_place(printer *p, const cute_code_place *place, cute_buffer *out)
{
    size_t length;
    const char *text = cute_source_line(p->arena, &p->sources, place->file, place->line, &length);
    cute_buffer_printf(out, "  // %s:%lld  %.*s\n", place->file, (long long)place->line,
                       (int)(length < 200 ? length : 200), text ? text : "");
    for (place = place->caller; place; place = place->caller)
        cute_buffer_printf(out, "  //   inlined at %s:%lld\n", place->file, (long long)place->line);
}

static bool same_place(const cute_code_place *a, const cute_code_place *b)
{
    return a == b || (a && b && a->line == b->line && strcmp(a->file, b->file) == 0);
}

static void print_instruction(printer *p, const cute_code_instruction *i, cute_buffer *out)
{
    if (i->place && !same_place(i->place, p->place)) print_place(p, i->place, out);
    p->place = i->place;
    cute_buffer_printf(out, "    %04llx  ", (unsigned long long)i->address);
    if (p->options->liveness)
        cute_buffer_printf(out, "%3u %3u %2u %2u  ", i->live[CUTE_REGISTER_R], i->live[CUTE_REGISTER_UR],
                           i->live[CUTE_REGISTER_P], i->live[CUTE_REGISTER_UP]);
    if (p->options->encodings && i->encoded)
        cute_buffer_printf(out, "%016llx %016llx  ", (unsigned long long)i->encoding[1],
                           (unsigned long long)i->encoding[0]);
    cute_buffer_printf(out, "%s\n", i->text);
}

static void print_range(printer *p, const cute_code_function *f, size_t first, size_t count, cute_buffer *out)
{
    size_t label = 0;
    while (label < f->label_count && f->labels[label].instruction < first) label++;
    for (size_t n = first; n < first + count; n++) {
        for (; label < f->label_count && f->labels[label].instruction == n; label++)
            cute_buffer_printf(out, "%s:\n", f->labels[label].name);
        print_instruction(p, &f->instructions[n], out);
    }
    for (; first + count == f->count && label < f->label_count; label++)
        cute_buffer_printf(out, "%s:\n", f->labels[label].name);
}

/* A loop that only polls a barrier. */
static bool is_wait_loop(const cute_code_function *f, uint32_t l)
{
    for (size_t b = 0; b < f->block_count; b++)
        for (size_t n = 0; f->blocks[b].loop == l && n < f->blocks[b].count; n++) {
            unsigned class = f->instructions[f->blocks[b].first + n].class;
            if (class != CUTE_CODE_SYNC && class != CUTE_CODE_CONTROL && class != CUTE_CODE_SYSTEM)
                return false;
        }
    return f->loops[l].innermost;
}

static void print_loop(printer *p, const cute_code_function *f, uint32_t l, cute_buffer *out)
{
    const cute_code_loop *loop = &f->loops[l];
    cute_buffer_printf(out, "  loop %u at %04llx, depth %u, %zu instructions%s:\n", l,
                       (unsigned long long)f->instructions[f->blocks[loop->header].first].address,
                       loop->depth, loop->instructions,
                       loop->innermost ? "" : "; inner loops are listed separately");
    for (size_t b = 0; b < f->block_count; b++)
        if (f->blocks[b].loop == l) print_range(p, f, f->blocks[b].first, f->blocks[b].count, out);
}

/* Loops, the deepest first, wait loops last; each block once. */
static void print_hot(printer *p, const cute_code_function *f, cute_buffer *out)
{
    uint32_t deepest = 0;
    for (size_t l = 0; l < f->loop_count; l++)
        if (f->loops[l].depth > deepest) deepest = f->loops[l].depth;
    if (!deepest) cute_buffer_puts(out, "  no loops\n");
    for (int waiting = 0; waiting < 2; waiting++)
        for (uint32_t depth = deepest; depth; depth--)
            for (uint32_t l = 0; l < f->loop_count; l++)
                if (f->loops[l].depth == depth && is_wait_loop(f, l) == waiting) print_loop(p, f, l, out);
}

void cute_code_print_sass(const cute_code *code, const char *only, const cute_sass_options *options,
                          cute_buffer *out)
{
    printer p = {.arena = cute_arena_create(), .options = options};
    bool first = true;
    for (size_t k = 0; p.arena && k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        cute_demangled names;
        if (only && strcmp(only, f->name) != 0) continue;
        cute_buffer_printf(out, "%s%s:\n", first ? "" : "\n", f->name);
        if (cute_demangle(p.arena, f->name, &names)) cute_buffer_printf(out, "    // %s\n", names.full);
        first = false;
        p.place = NULL;
        if (options->liveness)
            cute_buffer_printf(out,
                               "    // live registers: R (at most %u), UR (%u), P (%u), UP (%u)\n"
                               "    //        R  UR  P UP\n",
                               f->peak[CUTE_REGISTER_R], f->peak[CUTE_REGISTER_UR], f->peak[CUTE_REGISTER_P],
                               f->peak[CUTE_REGISTER_UP]);
        if (options->hot)
            print_hot(&p, f, out);
        else
            print_range(&p, f, 0, f->count, out);
    }
    if (!p.arena) out->failed = true;
    cute_source_release(p.sources);
    cute_arena_destroy(p.arena);
}

static json_t *registers_json(const uint16_t *counts)
{
    json_t *o = json_object();
    for (unsigned c = 0; c < CUTE_REGISTER_CLASSES; c++)
        json_object_set_new(o, cute_register_class_name[c], json_integer(counts[c]));
    return o;
}

static json_t *inlined_json(const cute_code_place *place)
{
    json_t *list = json_array();
    for (; place; place = place->caller)
        json_array_append_new(list, json_pack("{s:o,s:I}", "file", cute_json_text(place->file), "line",
                                              (json_int_t)place->line));
    return list;
}

static json_t *uses_json(const cute_code_instruction *i, bool written)
{
    json_t *list = json_array();
    char name[16];
    for (unsigned k = 0; k < i->use_count; k++)
        for (unsigned n = 0; i->uses[k].written == written && n < i->uses[k].count; n++) {
            snprintf(name, sizeof name, "%s%u", cute_register_class_name[i->uses[k].class],
                     i->uses[k].first + n);
            json_array_append_new(list, json_string(name));
        }
    return list;
}

static json_t *instruction_json(printer *p, const cute_code_instruction *i)
{
    json_t *item = json_object();
    char text[40];
    size_t length;
    json_object_set_new(item, "offset", json_integer((json_int_t)i->address));
    json_object_set_new(item, "sass", cute_json_text(i->text));
    json_object_set_new(item, "opcode", json_stringn(i->name, i->name_length));
    json_object_set_new(item, "class", json_string(cute_code_class_table[i->class].name));
    if (i->space != CUTE_CODE_SPACE_NONE) {
        json_object_set_new(item, "space", json_string(cute_code_space_name[i->space]));
        if (i->width) json_object_set_new(item, "width", json_integer(i->width));
    }
    if (i->block != CUTE_NO_BLOCK) json_object_set_new(item, "block", json_integer(i->block));
    if (p->options->liveness) {
        json_object_set_new(item, "live", registers_json(i->live));
        json_object_set_new(item, "reads", uses_json(i, false));
        json_object_set_new(item, "writes", uses_json(i, true));
    }
    if (p->options->encodings && i->encoded) {
        snprintf(text, sizeof text, "%016llx%016llx", (unsigned long long)i->encoding[1],
                 (unsigned long long)i->encoding[0]);
        json_object_set_new(item, "encoding", json_string(text));
    }
    if (!i->place) return item;
    const char *line = cute_source_line(p->arena, &p->sources, i->place->file, i->place->line, &length);
    json_object_set_new(item, "file", cute_json_text(i->place->file));
    json_object_set_new(item, "line", json_integer(i->place->line));
    if (line) json_object_set_new(item, "source", json_stringn(line, length));
    if (i->place->caller) json_object_set_new(item, "inlined_at", inlined_json(i->place->caller));
    return item;
}

json_t *cute_code_json_sass(const cute_code *code, const char *only, const cute_sass_options *options)
{
    printer p = {.arena = cute_arena_create(), .options = options};
    json_t *functions = json_array();
    for (size_t k = 0; p.arena && k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        if (only && strcmp(only, f->name) != 0) continue;
        json_t *o = json_object(), *instructions = json_array(), *labels = json_object();
        json_object_set_new(o, "name", cute_json_text(f->name));
        for (size_t n = 0; n < f->count; n++)
            if (!options->hot || (f->instructions[n].block != CUTE_NO_BLOCK &&
                                  f->blocks[f->instructions[n].block].loop != CUTE_NO_LOOP))
                json_array_append_new(instructions, instruction_json(&p, &f->instructions[n]));
        for (size_t l = 0; l < f->label_count; l++)
            if (f->labels[l].instruction < f->count)
                json_object_set_new(
                    labels, f->labels[l].name,
                    json_integer((json_int_t)f->instructions[f->labels[l].instruction].address));
        json_object_set_new(o, "instructions", instructions);
        json_object_set_new(o, "labels", labels);
        if (options->liveness) json_object_set_new(o, "peak", registers_json(f->peak));
        json_array_append_new(functions, o);
    }
    cute_source_release(p.sources);
    cute_arena_destroy(p.arena);
    return functions;
}
