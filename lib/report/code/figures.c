/* Counts by class, opcode and memory operation, and dependence chains of blocks and loops, from the times at which registers are
 * ready with the latencies of classes.def. A loop is treated as the sequence of its blocks. */
#include "lib/report/code/figures.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"

static bool count_opcode(cute_arena *arena, cute_code_figures *figures, const cute_code_instruction *i,
                         bool in_loop)
{
    cute_code_opcode_count *o = NULL;
    for (size_t k = 0; k < figures->opcode_count && !o; k++) {
        cute_code_opcode_count *c = &figures->opcodes[k];
        if (strlen(c->name) == i->name_length && memcmp(c->name, i->name, i->name_length) == 0) o = c;
    }
    if (!o) {
        if (!cute_arena_more(arena, &figures->opcodes, figures->opcode_count, &figures->opcode_capacity,
                             sizeof *o, 32))
            return false;
        o = &figures->opcodes[figures->opcode_count++];
        *o = (cute_code_opcode_count){cute_arena_copy(arena, i->name, i->name_length), i->class, 0, 0};
        if (!o->name) return false;
    }
    o->count++;
    o->in_loops += in_loop;
    return true;
}

static bool count_access(cute_arena *arena, cute_code_figures *figures, const cute_code_instruction *i,
                         bool in_loop)
{
    cute_code_access_count *a = NULL;
    for (size_t k = 0; k < figures->access_count && !a; k++) {
        cute_code_access_count *c = &figures->accesses[k];
        if (c->space == (cute_code_space)i->space && c->access == i->opcode->access && c->width == i->width)
            a = c;
    }
    if (!a) {
        if (!cute_arena_more(arena, &figures->accesses, figures->access_count, &figures->access_capacity,
                             sizeof *a, 16))
            return false;
        a = &figures->accesses[figures->access_count++];
        *a = (cute_code_access_count){i->space, i->opcode->access, i->width, 0, 0};
    }
    a->count++;
    a->in_loops += in_loop;
    return true;
}

static int compare_opcode_counts(const void *a, const void *b)
{
    const cute_code_opcode_count *x = a, *y = b;
    if (x->count != y->count) return x->count < y->count ? 1 : -1;
    return strcmp(x->name, y->name);
}

static int compare_access_counts(const void *a, const void *b)
{
    const cute_code_access_count *x = a, *y = b;
    if (x->space != y->space) return x->space < y->space ? -1 : 1;
    if (x->access != y->access) return x->access < y->access ? -1 : 1;
    return (x->width > y->width) - (x->width < y->width);
}

/* ---- chains ---- */

typedef struct ready {
    int64_t cycles[CUTE_REGISTER_CLASSES][256];
    uint32_t length[CUTE_REGISTER_CLASSES][256];
} ready;

static void add_to_chains(ready *at, const cute_code_instruction *i, cute_code_chain *chain)
{
    int64_t cycles = 0;
    uint32_t length = 0;
    for (unsigned k = 0; k < i->use_count; k++) {
        const cute_code_use *u = &i->uses[k];
        for (unsigned r = u->first; !u->written && r < u->first + u->count; r++) {
            if (at->cycles[u->class][r] > cycles) cycles = at->cycles[u->class][r];
            if (at->length[u->class][r] > length) length = at->length[u->class][r];
        }
    }
    cycles += cute_code_class_table[i->class].latency;
    length++;
    for (unsigned k = 0; k < i->use_count; k++) {
        const cute_code_use *u = &i->uses[k];
        for (unsigned r = u->first; u->written && r < u->first + u->count; r++) {
            at->cycles[u->class][r] = cycles;
            at->length[u->class][r] = length;
        }
    }
    if (cycles > chain->cycles) chain->cycles = cycles;
    if (length > chain->length) chain->length = length;
}

static void add_block_to_chains(const cute_code_function *f, const cute_code_block *b, ready *at,
                                cute_code_chain *chain)
{
    for (size_t n = b->first; n < b->first + b->count; n++) add_to_chains(at, &f->instructions[n], chain);
}

static void finish_chain(cute_code_chain *chain, size_t instructions)
{
    chain->instructions = instructions;
    chain->ilp = chain->length ? (double)instructions / (double)chain->length : 0;
}

/* Runs two iterations: the growth in the second one is the loop-carried latency. */
static void measure_loop_chain(const cute_code_function *f, uint32_t l, ready *at, cute_code_chain *chain)
{
    const cute_code_loop *loop = &f->loops[l];
    cute_code_chain once = {0};
    memset(at, 0, sizeof *at);
    uint32_t seen;
    for (int pass = 0; pass < 2; pass++) {
        seen = 0;
        for (uint32_t b = loop->header; seen < loop->block_count && b < f->block_count; b++)
            if (cute_code_in_loop(f, b, l)) seen++, add_block_to_chains(f, &f->blocks[b], at, &once);
        for (uint32_t b = 0; seen < loop->block_count && b < loop->header; b++)
            if (cute_code_in_loop(f, b, l)) seen++, add_block_to_chains(f, &f->blocks[b], at, &once);
        if (pass == 0) *chain = once;
    }
    finish_chain(chain, loop->instructions);
    chain->carried = once.cycles - chain->cycles;
}

bool cute_code_count(cute_arena *arena, const cute_code_function *f, cute_code_figures *out)
{
    *out = (cute_code_figures){0};
    out->blocks = cute_arena_array(arena, f->block_count + 1, sizeof *out->blocks);
    out->loops = cute_arena_array(arena, f->loop_count + 1, sizeof *out->loops);
    ready *at = cute_arena_alloc(arena, sizeof *at);
    if (!out->blocks || !out->loops || !at) return false;
    for (size_t n = 0; n < f->count; n++) {
        const cute_code_instruction *i = &f->instructions[n];
        const cute_code_block *b = &f->blocks[i->block];
        bool in_loop = b->loop != CUTE_NO_LOOP;
        if (!b->reached) {
            out->unreached++;
            continue;
        }
        out->instructions++;
        out->in_loops += in_loop;
        out->classes[i->class]++;
        out->loop_classes[i->class] += in_loop;
        if (!count_opcode(arena, out, i, in_loop)) return false;
        if (i->opcode->access != CUTE_ACCESS_NONE && !count_access(arena, out, i, in_loop)) return false;
    }
    for (size_t b = 0; b < f->block_count; b++) {
        memset(at, 0, sizeof *at);
        add_block_to_chains(f, &f->blocks[b], at, &out->blocks[b]);
        finish_chain(&out->blocks[b], f->blocks[b].count);
    }
    for (uint32_t l = 0; l < f->loop_count; l++) measure_loop_chain(f, l, at, &out->loops[l]);
    cute_sort(out->opcodes, out->opcode_count, sizeof *out->opcodes, compare_opcode_counts);
    cute_sort(out->accesses, out->access_count, sizeof *out->accesses, compare_access_counts);
    return true;
}
