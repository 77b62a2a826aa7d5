/* The histogram view: counts and dependence chains (figures.h). */
#include <string.h>

#include "lib/report/code/view.h"

static double percent(size_t part, size_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static void print_accesses(const cute_code_figures *c, cute_buffer *out)
{
    if (c->access_count)
        cute_buffer_puts(out, "  memory          access   bytes/lane      count  in loops\n");
    for (size_t k = 0; k < c->access_count; k++) {
        const cute_code_access_count *a = &c->accesses[k];
        cute_buffer_printf(out, "    %-13s %-8s ", cute_code_space_name[a->space],
                           cute_code_access_name[a->access]);
        if (a->width)
            cute_buffer_printf(out, "%12u", a->width);
        else
            cute_buffer_printf(out, "%12s", "-");
        cute_buffer_printf(out, " %8zu %9zu\n", a->count, a->in_loops);
    }
}

static void print_chain(const cute_code_chain *c, cute_buffer *out)
{
    cute_buffer_printf(out, "%6zu instructions  longest chain %4zu  ILP %5.2f  ~%lld cycles", c->instructions,
                       c->length, c->ilp, (long long)c->cycles);
}

static void print_function(const cute_code_function *f, const cute_code_figures *c, cute_buffer *out)
{
    cute_buffer_printf(out,
                       "%s: %zu instructions, %zu in loops; tensor cores %.1f %%, in loops %.1f %%; %zu "
                       "unreachable\n",
                       f->name, c->instructions, c->in_loops,
                       percent(c->classes[CUTE_CODE_TENSOR], c->instructions),
                       percent(c->loop_classes[CUTE_CODE_TENSOR], c->in_loops), c->unreached);
    cute_buffer_puts(out, "  class              count       %  in loops\n");
    for (unsigned k = 0; k < CUTE_CODE_CLASSES; k++)
        if (c->classes[k])
            cute_buffer_printf(out, "    %-14s %7zu  %5.1f  %8zu\n", cute_code_class_table[k].name,
                               c->classes[k], percent(c->classes[k], c->instructions), c->loop_classes[k]);
    cute_buffer_puts(out, "  opcode             count       %  in loops\n");
    for (size_t k = 0; k < c->opcode_count; k++)
        cute_buffer_printf(out, "    %-14s %7zu  %5.1f  %8zu\n", c->opcodes[k].name, c->opcodes[k].count,
                           percent(c->opcodes[k].count, c->instructions), c->opcodes[k].in_loops);
    print_accesses(c, out);
    if (f->loop_count)
        cute_buffer_puts(out, "  loops (latencies are estimates; dependences through memory are ignored)\n");
    for (size_t l = 0; l < f->loop_count; l++) {
        const cute_code_loop *loop = &f->loops[l];
        cute_buffer_printf(out,
                           "    %*sloop %zu at %04llx: ", (int)(loop->depth < 8 ? loop->depth : 8) * 2 - 2,
                           "", l, (unsigned long long)f->instructions[f->blocks[loop->header].first].address);
        print_chain(&c->loops[l], out);
        cute_buffer_printf(out, ", %lld loop-carried\n", (long long)c->loops[l].carried);
    }
    cute_buffer_puts(out, "  blocks\n");
    for (size_t b = 0; b < f->block_count; b++) {
        if (!f->blocks[b].reached) continue;
        cute_buffer_printf(out, "    B%-4zu ", b);
        print_chain(&c->blocks[b], out);
        cute_buffer_putc(out, '\n');
    }
}

cute_status cute_code_print_histogram(const cute_code *code, const char *only, cute_buffer *out,
                                      cute_diag *diag)
{
    cute_status status = CUTE_OK;
    bool first = true;
    for (size_t k = 0; status == CUTE_OK && k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        cute_code_figures figures;
        if (only && strcmp(only, f->name) != 0) continue;
        cute_arena *arena = cute_arena_create();
        if (!first) cute_buffer_putc(out, '\n');
        first = false;
        if (arena && cute_code_count(arena, f, &figures))
            print_function(f, &figures, out);
        else
            status = cute_fail_memory(diag);
        cute_arena_destroy(arena);
    }
    return status;
}

static json_t *chain_json(const cute_code_chain *c, const char *key, size_t number)
{
    return json_pack("{s:I,s:I,s:I,s:f,s:I,s:I}", key, (json_int_t)number, "instructions",
                     (json_int_t)c->instructions, "longest_chain", (json_int_t)c->length, "ilp", c->ilp,
                     "estimated_cycles", (json_int_t)c->cycles, "estimated_carried_cycles",
                     (json_int_t)c->carried);
}

static json_t *function_json(const cute_code_function *f, const cute_code_figures *c)
{
    json_t *o = json_object(), *classes = json_array(), *opcodes = json_array(), *accesses = json_array(),
           *loops = json_array(), *blocks = json_array();
    for (unsigned k = 0; k < CUTE_CODE_CLASSES; k++)
        if (c->classes[k])
            json_array_append_new(classes, json_pack("{s:s,s:I,s:I}", "class", cute_code_class_table[k].name,
                                                     "count", (json_int_t)c->classes[k], "in_loops",
                                                     (json_int_t)c->loop_classes[k]));
    for (size_t k = 0; k < c->opcode_count; k++)
        json_array_append_new(opcodes,
                              json_pack("{s:o,s:s,s:I,s:I}", "opcode", cute_json_text(c->opcodes[k].name),
                                        "class", cute_code_class_table[c->opcodes[k].class].name, "count",
                                        (json_int_t)c->opcodes[k].count, "in_loops",
                                        (json_int_t)c->opcodes[k].in_loops));
    for (size_t k = 0; k < c->access_count; k++) {
        const cute_code_access_count *a = &c->accesses[k];
        json_array_append_new(accesses,
                              json_pack("{s:s,s:s,s:o,s:I,s:I}", "space", cute_code_space_name[a->space],
                                        "access", cute_code_access_name[a->access], "width",
                                        a->width ? json_integer(a->width) : json_null(), "count",
                                        (json_int_t)a->count, "in_loops", (json_int_t)a->in_loops));
    }
    for (size_t l = 0; l < f->loop_count; l++)
        json_array_append_new(loops, chain_json(&c->loops[l], "loop", l));
    for (size_t b = 0; b < f->block_count; b++)
        if (f->blocks[b].reached) json_array_append_new(blocks, chain_json(&c->blocks[b], "block", b));
    json_object_set_new(o, "name", cute_json_text(f->name));
    json_object_set_new(o, "instructions", json_integer((json_int_t)c->instructions));
    json_object_set_new(o, "in_loops", json_integer((json_int_t)c->in_loops));
    json_object_set_new(o, "not_reached", json_integer((json_int_t)c->unreached));
    json_object_set_new(o, "tensor_share",
                        json_real(percent(c->classes[CUTE_CODE_TENSOR], c->instructions) / 100));
    json_object_set_new(o, "classes", classes);
    json_object_set_new(o, "opcodes", opcodes);
    json_object_set_new(o, "memory", accesses);
    json_object_set_new(o, "loops", loops);
    json_object_set_new(o, "blocks", blocks);
    return o;
}

cute_status cute_code_json_histogram(const cute_code *code, const char *only, json_t **out, cute_diag *diag)
{
    cute_status status = CUTE_OK;
    *out = json_array();
    for (size_t k = 0; status == CUTE_OK && k < code->count; k++) {
        const cute_code_function *f = &code->functions[k];
        cute_code_figures figures;
        if (only && strcmp(only, f->name) != 0) continue;
        cute_arena *arena = cute_arena_create();
        if (arena && cute_code_count(arena, f, &figures))
            json_array_append_new(*out, function_json(f, &figures));
        else
            status = cute_fail_memory(diag);
        cute_arena_destroy(arena);
    }
    return status;
}
