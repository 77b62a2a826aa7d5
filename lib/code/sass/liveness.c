/* Live registers, by backward data flow. A predicated write does not kill. R1, the stack pointer, is live until the thread exits, as in
 * nvdisasm. */
#include <string.h>

#include "lib/code/sass/code.h"

/* One bit per register. */
enum { WORDS = (CUTE_REGISTERS + 63) / 64 };
typedef struct set {
    uint64_t bits[WORDS];
} set;

static void set_registers(set *s, const cute_code_use *u, bool in)
{
    for (unsigned bit = cute_register_first[u->class] + u->first, end = bit + u->count; bit < end; bit++)
        if (in)
            s->bits[bit / 64] |= 1ull << bit % 64;
        else
            s->bits[bit / 64] &= ~(1ull << bit % 64);
}

static void step_backward(set *live, const cute_code_instruction *i, bool stack)
{
    for (unsigned k = 0; k < i->use_count; k++)
        if (i->uses[k].written && !i->guarded) set_registers(live, &i->uses[k], false);
    for (unsigned k = 0; k < i->use_count; k++)
        if (!i->uses[k].written) set_registers(live, &i->uses[k], true);
    if (!stack) return;
    if (i->opcode->flow == CUTE_FLOW_EXIT || i->opcode->flow == CUTE_FLOW_RETURN)
        set_registers(live, &(cute_code_use){.class = CUTE_REGISTER_R, .first = 1, .count = 1}, true);
}

/* Functions without a stack may use R1 freely. */
static bool has_stack(const cute_code_function *f)
{
    return f->count && f->instructions[0].use_count && f->instructions[0].uses[0].written &&
           f->instructions[0].uses[0].class == CUTE_REGISTER_R && f->instructions[0].uses[0].first == 1;
}

static unsigned count_registers(const set *s, unsigned class)
{
    unsigned n = 0, first = cute_register_first[class], count = cute_register_count[class] + 1;
    if (count < 64)
        return (unsigned)__builtin_popcountll(s->bits[first / 64] >> first % 64 & ((1ull << count) - 1));
    for (unsigned w = first / 64; w < (first + count) / 64; w++)
        n += (unsigned)__builtin_popcountll(s->bits[w]);
    return n;
}

/* The registers that are live at the end of a block. */
static set live_out(const set *in, const cute_code_block *b)
{
    set live = {0};
    for (uint32_t e = 0; e < b->edge_count; e++)
        for (unsigned w = 0; w < WORDS; w++) live.bits[w] |= in[b->edges[e].to].bits[w];
    return live;
}

/* gen: read before written in the block; kill: written. Live-in is gen | (live-out & ~kill). */
static void summarize_block(const cute_code_function *f, const cute_code_block *b, bool stack, set *gen,
                            set *kill)
{
    for (size_t n = b->first + b->count; n-- > b->first;) {
        const cute_code_instruction *i = &f->instructions[n];
        for (unsigned k = 0; k < i->use_count; k++)
            if (i->uses[k].written && !i->guarded) set_registers(kill, &i->uses[k], true);
        step_backward(gen, i, stack);
    }
}

bool cute_code_liveness(cute_arena *arena, cute_code_function *f)
{
    size_t count = f->block_count;
    set *in = cute_arena_array(arena, count + 1, sizeof *in);
    set *gen = cute_arena_array(arena, count + 1, sizeof *gen);
    set *kill = cute_arena_array(arena, count + 1, sizeof *kill);
    bool stack = has_stack(f);
    if (!in || !gen || !kill) return false;
    for (size_t b = 0; b < count; b++) summarize_block(f, &f->blocks[b], stack, &gen[b], &kill[b]);
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = count; b-- > 0;) {
            set live = live_out(in, &f->blocks[b]);
            for (unsigned w = 0; w < WORDS; w++)
                live.bits[w] = (live.bits[w] & ~kill[b].bits[w]) | gen[b].bits[w];
            if (memcmp(&live, &in[b], sizeof live) == 0) continue;
            in[b] = live;
            changed = true;
        }
    }
    for (size_t b = 0; b < count; b++) {
        const cute_code_block *block = &f->blocks[b];
        set live = live_out(in, block);
        for (size_t n = block->first + block->count; n-- > block->first;) {
            cute_code_instruction *i = &f->instructions[n];
            step_backward(&live, i, stack);
            set used = live;
            for (unsigned k = 0; k < i->use_count; k++) set_registers(&used, &i->uses[k], true);
            for (unsigned c = 0; c < CUTE_REGISTER_CLASSES; c++)
                i->live[c] = (uint16_t)count_registers(&used, c);
        }
    }
    for (unsigned c = 0; c < CUTE_REGISTER_CLASSES; c++)
        for (size_t n = 0; n < f->count; n++)
            if (f->instructions[n].live[c] > f->peak[c]) {
                f->peak[c] = f->instructions[n].live[c];
                f->peak_at[c] = n;
            }
    return true;
}
