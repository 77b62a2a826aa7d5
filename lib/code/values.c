/* One case of a kernel: what the lanes of a warp have in its values where arguments have numbers that arguments have (assumptions.h)
 * and loops are in their first iteration; what values depend on, and which lanes come to a block. */
#include <string.h>

#include "lib/code/function.h"

static const double UNLIKELY = 0.002, LONG_NUMBERS = 0.1, LARGE_ARGUMENT = 0.002;

/* ---- operands ---- */

static const uint32_t sreg_depends[] = {
    [X_S_TID_X] = X_TID_X,
    [X_S_TID_Y] = X_TID_Y,
    [X_S_TID_Z] = X_TID_Z,
    [X_S_CTAID_X] = X_CTA_X,
    [X_S_CTAID_Y] = X_CTA_Y,
    [X_S_CTAID_Z] = X_CTA_Z,
    [X_S_LANE] = X_LANE,
    [X_S_LANEMASK_EQ] = X_LANE,
    [X_S_LANEMASK_LT] = X_LANE,
    [X_S_LANEMASK_LE] = X_LANE,
    [X_S_LANEMASK_GT] = X_LANE,
    [X_S_LANEMASK_GE] = X_LANE,
    [X_S_OTHER] = 0,
};

bool x_operand_lane(const x_function *f, const x_operand *o, int lane, uint64_t *out)
{
    const x_run r = {.f = (x_function *)(uintptr_t)f, .made_up = true};
    if (o->kind == X_VAR && !x_known(x_use(f, o))) return false;
    if (o->kind == X_NONE) return false;
    if (o->kind == X_VAR)
        *out = x_use(f, o)->lanes->at[lane];
    else
        *out = x_operand_lanes(&r, &(x_operand){.kind = o->kind, .imm = o->imm}, 64).at[lane];
    if (o->inverted) *out = ~*out;
    if (o->negative) *out = 0 - *out;
    return true;
}

bool x_operand_varying(const x_function *f, const x_operand *o)
{
    uint64_t first, other;
    if (o->kind == X_VAR) return x_use(f, o)->varying;
    if (o->kind != X_SREG) return false;
    x_operand_lane(f, o, 0, &first);
    for (int l = 1; l < X_LANES; l++)
        if (x_operand_lane(f, o, l, &other) && other != first) return true;
    return false;
}

uint32_t x_operand_depends(const x_function *f, const x_operand *o)
{
    if (o->kind == X_VAR) return x_use(f, o)->depends;
    if (o->kind == X_ARG) return X_ARGUMENT;
    return o->kind == X_SREG ? sreg_depends[o->imm] : 0;
}

/* ---- values ---- */

/* An operand as x_compute takes it: known, or nothing. */
static bool operand(const x_run *r, const x_operand *o, lane_values *out)
{
    if (o->kind == X_NONE || (o->kind == X_VAR && !x_known(x_use(r->f, o)))) return false;
    *out = o->kind == X_VAR ? *x_use(r->f, o)->lanes
                            : x_operand_lanes(r, &(x_operand){.kind = o->kind, .imm = o->imm}, 64);
    out->bits = out->free = 64;
    for (int l = 0; l < X_LANES; l++) {
        if (o->inverted) out->at[l] = ~out->at[l];
        if (o->negative) out->at[l] = 0 - out->at[l];
    }
    return true;
}

/* The same for all lanes is some number. */
static void make_up(x_run *r, const x_inst *i)
{
    x_value *to = &r->f->values[i->first_value];
    lane_values number = lanes_constant(64, CODE_MADE_UP);
    bool whole = i->access != CUTE_ACCESS_NONE || i->class == CUTE_CODE_INTEGER ||
                 i->class == CUTE_CODE_LOGIC || i->class == CUTE_CODE_MOVE || i->class == CUTE_CODE_CONVERT ||
                 i->class == CUTE_CODE_SHUFFLE;
    for (unsigned d = 0; d < i->def_count && whole && !to->varying; d++) x_set_lanes(r, &to[d], &number);
}

/* A size divided by the threads of the grid, or by another size: rounds of a loop that goes through it, which are not few. */
static bool is_share_of_size(const x_function *f, const x_inst *i)
{
    return i->op == X_DIV && i->use_count > 1 && i->uses[1].kind == X_VAR &&
           !x_operand_varying(f, &i->uses[1]) && x_operand_depends(f, &i->uses[0]) & X_ARGUMENT;
}

static void enlarge(lane_values *v)
{
    enum { FEW = 64 };
    for (int l = 0; l < X_LANES; l++)
        if (v->at[l] >= FEW) return;
    for (int l = 0; l < X_LANES; l++) v->at[l] += CODE_MADE_UP;
}

static void evaluate(x_run *r, const x_inst *i)
{
    enum { MOST = 8 };
    x_function *f = r->f;
    lane_values in[MOST], out;
    unsigned count = x_sources(i);
    x_value *to = &f->values[i->first_value];
    if (!i->def_count) return;
    if (i->op == X_OTHER || !count || count > MOST) {
        make_up(r, i);
        return;
    }
    for (unsigned k = 0; k < count; k++)
        if (!operand(r, &i->uses[k], &in[k])) return;
    if (!x_compute(r->own, i, in, count, true, &out)) return;
    if (is_share_of_size(f, i)) enlarge(&out);
    x_set_lanes(r, to, &out);
    /* LOP3 P0, R3: the bits, and whether there is one. */
    if (i->op == X_LOP3 && i->compare == X_NONZERO && i->def_count > 1) {
        for (int l = 0; l < X_LANES; l++) out.at[l] = out.at[l] != 0;
        x_set_lanes(r, &to[1], &out);
    }
    /* LDC.64 R8 is R8 and R9, two words beside each other; CS2R R8, SRZ two zeros. */
    for (unsigned d = 1; f->sass && i->op == X_MOV && d < i->def_count; d++) {
        x_operand next = i->uses[0];
        if (next.kind != X_ARG && next.kind != X_IMM) break;
        next.imm = next.kind == X_ARG ? next.imm + 4 * d : 0;
        if (operand(r, &next, &out)) x_set_lanes(r, &to[d], &out);
    }
}

static void evaluate_phis(x_run *r, uint32_t block)
{
    x_function *f = r->f;
    for (uint32_t p = f->blocks[block].first_phi; p; p = f->values[p].next_phi) {
        x_value *v = &f->values[p];
        if (v->same != p) continue;
        for (uint32_t k = 0; k < v->arg_count && !v->lanes; k++) {
            const x_value *a = x_at(f, v->args[k]);
            if (a != v && x_known(a)) v->lanes = a->lanes;
        }
    }
}

bool x_has_word(const x_inst *i, const char *word)
{
    return memmem(i->text, i->length, word, strlen(word)) != NULL;
}

const x_inst *x_branch_of(const x_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    const x_inst *i = b->count ? &f->insts[b->first + b->count - 1] : NULL;
    return i && i->guard >= 0 && i->target >= 0 && i->flags & F_BRANCH ? i : NULL;
}

/* ---- dependence ---- */

/* Lanes get values of their own, whatever they gave. A broadcast, a vote and a reduction are the same for all. */
static bool gives_lanes(const x_function *f, const x_inst *i)
{
    if (i->access == CUTE_ACCESS_ATOMIC) return true;
    if (i->class != CUTE_CODE_SHUFFLE) return false;
    if (x_has_word(i, "shfl") || x_has_word(i, "SHFL")) {
        bool index = x_has_word(i, ".idx") || x_has_word(i, ".IDX");
        return !index || i->use_count < 2 || x_operand_varying(f, &i->uses[1]);
    }
    return x_has_word(i, "match") || x_has_word(i, "MATCH") || x_has_word(i, "elect") ||
           x_has_word(i, "ELECT");
}

/* Of a shuffle and a vote only what gives_lanes says. */
static bool is_common(const x_function *f, const x_inst *i)
{
    return i->class == CUTE_CODE_SHUFFLE && !gives_lanes(f, i);
}

/* Computed of what the lanes have, and the same in all of them: tid / 32, and what is loaded there. */
static bool is_common_value(const x_function *f, const x_value *v)
{
    return x_known(v) && lanes_uniform(v->lanes) && v->inst >= 0 && f->insts[v->inst].op != X_OTHER;
}

/* Until nothing changes: loops carry it around. Values that are known are taken into account. */
static void find_depends(x_function *f)
{
    for (size_t n = 0; n < f->value_count; n++) f->values[n].varying = false;
    for (bool again = true; again;) {
        again = false;
        for (size_t b = 0; b < f->flow->block_count; b++) {
            for (uint32_t p = f->blocks[b].first_phi; p; p = f->values[p].next_phi) {
                x_value *v = &f->values[p];
                uint32_t depends = v->depends | (v->same == p && x_is_header(f, (uint32_t)b) ? X_COUNTED : 0);
                bool varying = v->varying;
                for (uint32_t k = 0; k < v->arg_count && v->same == p; k++) {
                    depends |= x_at(f, v->args[k])->depends;
                    varying |= x_at(f, v->args[k])->varying;
                }
                again |= depends != v->depends || varying != v->varying;
                v->depends = depends;
                v->varying = varying;
            }
            for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
                const x_inst *i = &f->insts[f->flow->blocks[b].first + k];
                uint32_t depends =
                    i->access == CUTE_ACCESS_LOAD || i->access == CUTE_ACCESS_ATOMIC ? X_LOADED : 0;
                bool varying = gives_lanes(f, i) || i->flags & (F_MMA | F_WGMMA | F_TENSOR_LOAD) ||
                               (i->access == CUTE_ACCESS_LOAD && i->space == CUTE_CODE_SPACE_LOCAL);
                if (!i->def_count) continue;
                for (unsigned u = 0; u < i->use_count; u++) {
                    depends |= x_operand_depends(f, &i->uses[u]);
                    varying |= x_operand_varying(f, &i->uses[u]) && !is_common(f, i);
                }
                for (unsigned d = 0; d < i->def_count; d++) {
                    x_value *v = &f->values[i->first_value + d];
                    bool apart = varying && !is_common_value(f, v);
                    if (v->depends == depends && v->varying == apart) continue;
                    v->depends = depends;
                    v->varying = apart;
                    again = true;
                }
            }
        }
    }
}

/* ---- lanes of blocks ---- */

bool x_lanes_true(const x_function *f, const x_operand *o, uint32_t *out)
{
    uint64_t v;
    *out = 0;
    for (int l = 0; l < X_LANES; l++) {
        if (!x_operand_lane(f, o, l, &v)) return false;
        *out |= (uint32_t)(v & 1) << l;
    }
    return true;
}

/* The lane's number is compared with what all lanes have: a leader that was voted for. */
static bool elects(const x_function *f, const x_operand *o)
{
    const x_value *v = x_use(f, o);
    if (o->kind != X_VAR || o->inverted || v->inst < 0) return false;
    const x_inst *i = &f->insts[v->inst];
    if (i->op != X_SETP || i->compare != X_EQ || i->use_count < 2) return false;
    for (int k = 0; k < 2; k++)
        if (x_operand_depends(f, &i->uses[k]) == X_LANE && x_operand_varying(f, &i->uses[k]) &&
            !x_operand_varying(f, &i->uses[1 - k]) && i->uses[1 - k].kind == X_VAR)
            return true;
    return false;
}

uint32_t x_active(const x_function *f, const x_inst *i)
{
    uint32_t active = f->blocks[i->block].active, guard;
    if (i->guard < 0) return active;
    if (x_lanes_true(f, &i->uses[i->guard], &guard) && guard & active) return guard & active;
    return elects(f, &i->uses[i->guard]) ? active & (~active + 1) : active;
}

/* Of a side of a branch; one that only goes on is followed. */
static unsigned divided_bits(const x_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    if (b->count == 1 && b->edge_count == 1 && f->insts[b->first].flags & F_BRANCH)
        b = &f->flow->blocks[b->edges[0].to];
    for (size_t k = 0; k < b->count; k++)
        if (f->insts[b->first + k].flags & F_DIVIDE) return f->insts[b->first + k].bits;
    return 0;
}

uint32_t x_long_division(const x_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    if (f->sass || b->edge_count != 2) return CUTE_NO_BLOCK;
    for (int side = 0; side < 2; side++)
        if (divided_bits(f, b->edges[side].to) == 64 && divided_bits(f, b->edges[1 - side].to) == 32)
            return b->edges[side].to;
    return CUTE_NO_BLOCK;
}

/* |x| > 105615, in front of the reduction by 192 bits of 2/pi in sinf, cosf and tanf: PTX has the number's bits, machine code its digits. */
static const x_inst *large_argument(const x_function *f, const x_inst *branch)
{
    const x_value *v = x_use(f, &branch->uses[branch->guard]);
    const x_inst *i = v->inst >= 0 ? &f->insts[v->inst] : NULL;
    const char *number = f->sass ? "105615" : "0f47CE4780";
    return i && memmem(i->text, i->length, number, strlen(number)) ? i : NULL;
}

uint32_t x_large_argument(const x_function *f, uint32_t block)
{
    const x_inst *branch = x_branch_of(f, block), *test = branch ? large_argument(f, branch) : NULL;
    const cute_code_block *b = &f->flow->blocks[block];
    if (!test || b->edge_count != 2) return CUTE_NO_BLOCK;
    bool less = x_has_word(test, ".lt") || x_has_word(test, ".le") || x_has_word(test, ".LT") ||
                x_has_word(test, ".LE");
    bool taken_is_large = less == branch->uses[branch->guard].inverted;
    uint32_t target = f->insts[branch->target].block;
    for (int side = 0; side < 2; side++)
        if ((b->edges[side].to == target) == taken_is_large) return b->edges[side].to;
    return CUTE_NO_BLOCK;
}

/* A block with one predecessor is reached by the lanes that take that edge; others by those of their dominator. */
static void find_active(x_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    x_block *x = &f->blocks[block];
    x->active = UINT32_MAX;
    x->likely = 1;
    if (b->dominator == CUTE_NO_BLOCK || b->dominator == block) return;
    x->active = f->blocks[b->dominator].active;
    x->likely = f->blocks[b->dominator].likely;
    if (x->before_count != 1 || x->before[0] != b->dominator) return;
    if (x_long_division(f, b->dominator) == block) x->likely *= LONG_NUMBERS;
    if (x_large_argument(f, b->dominator) == block) x->likely *= LARGE_ARGUMENT;
    /* @P0 EXIT: the others go on. */
    const cute_code_block *before = &f->flow->blocks[b->dominator];
    const x_inst *branch = before->count ? &f->insts[before->first + before->count - 1] : NULL;
    if (!branch || branch->guard < 0) return;
    cute_code_flow flow = f->flow->instructions[before->first + before->count - 1].opcode->flow;
    if (flow != CUTE_FLOW_EXIT && !x_branch_of(f, b->dominator)) return;
    uint32_t taken;
    if (!x_lanes_true(f, &branch->uses[branch->guard], &taken)) return;
    bool by_branch = flow != CUTE_FLOW_EXIT && f->insts[branch->target].block == block;
    uint32_t mask = x->active & (by_branch ? taken : ~taken);
    if (mask) x->active = mask;
    /* Sizes that are even and tiles that are whole are the usual case. What threads and blocks decide is no case of sizes, and
     * a loop is left at last. */
    uint32_t depends = x_operand_depends(f, &branch->uses[branch->guard]);
    bool leaves = false;
    for (uint32_t e = 0; before->loop != CUTE_NO_LOOP && e < before->edge_count; e++)
        leaves |= !cute_code_in_loop(f->flow, before->edges[e].to, before->loop);
    if (!mask && depends & X_ARGUMENT && !(depends & X_LOADED) && !leaves) x->likely *= UNLIKELY;
}

/* Blocks so that each stands behind those before it, but for the ends of loops. NULL when memory is exhausted. */
static uint32_t *in_order(x_function *f, uint32_t *count)
{
    size_t n = f->flow->block_count, depth = 0;
    uint32_t *order = cute_arena_array(f->arena, n + 1, sizeof *order);
    uint32_t *stack = cute_arena_array(f->arena, n + 1, sizeof *stack);
    uint32_t *edge = cute_arena_array(f->arena, n + 1, sizeof *edge);
    bool *seen = cute_arena_array(f->arena, n + 1, sizeof *seen);
    if (!order || !stack || !edge || !seen) return NULL;
    *count = 0;
    /* Functions inside are begun where a call goes. */
    for (uint32_t root = 0; root < n; root++) {
        if (seen[root] || !f->flow->blocks[root].reached) continue;
        seen[root] = true;
        for (stack[depth++] = root; depth;) {
            uint32_t b = stack[depth - 1];
            if (edge[b] == f->flow->blocks[b].edge_count) {
                order[(*count)++] = b;
                depth--;
                continue;
            }
            uint32_t to = f->flow->blocks[b].edges[edge[b]++].to;
            if (seen[to]) continue;
            seen[to] = true;
            stack[depth++] = to;
        }
    }
    for (uint32_t a = 0, z = *count; a + 1 < z; a++) {
        uint32_t swap = order[a];
        order[a] = order[--z];
        order[z] = swap;
    }
    return order;
}

static bool evaluate_all(x_run *r)
{
    x_function *f = r->f;
    uint32_t count, *order = in_order(f, &count);
    if (!order) return false;
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        f->blocks[b].active = UINT32_MAX, f->blocks[b].likely = 1;
    for (uint32_t n = 0; n < count; n++) {
        const cute_code_block *block = &f->flow->blocks[order[n]];
        evaluate_phis(r, order[n]);
        find_active(f, order[n]);
        for (size_t k = 0; k < block->count; k++)
            if (!f->needed || f->needed[block->first + k]) evaluate(r, &f->insts[block->first + k]);
    }
    return !r->failed;
}

/* ---- addresses ---- */

bool x_addresses(const x_function *f, const x_inst *i, uint64_t out[X_LANES], uint32_t *active)
{
    *active = x_active(f, i);
    if (i->address < 0) return false;
    for (int l = 0; l < X_LANES; l++) {
        uint64_t more = 0;
        if (!x_operand_lane(f, &i->uses[i->address], l, &out[l])) return false;
        if (i->address2 >= 0 && !x_operand_lane(f, &i->uses[i->address2], l, &more)) return false;
        out[l] += more + (uint64_t)i->offset;
        if (f->sass) out[l] &= UINT32_MAX;
    }
    return true;
}

bool x_address_varying(const x_function *f, const x_inst *i)
{
    return i->address >= 0 && (x_operand_varying(f, &i->uses[i->address]) ||
                               (i->address2 >= 0 && x_operand_varying(f, &i->uses[i->address2])));
}

uint32_t x_address_depends(const x_function *f, const x_inst *i)
{
    uint32_t depends = 0;
    if (i->address >= 0) depends |= x_operand_depends(f, &i->uses[i->address]);
    if (i->address2 >= 0) depends |= x_operand_depends(f, &i->uses[i->address2]);
    return depends;
}

const x_value *x_root(const x_function *f, const x_inst *i, int64_t *offset)
{
    *offset = i->offset;
    if (i->address < 0) return NULL;
    const x_operand *o = &i->uses[i->address];
    if (i->address2 >= 0 && i->uses[i->address2].kind == X_VAR && o->kind == X_VAR) {
        /* The uniform base stays the same mostly: what varies is the root. */
        if (!x_operand_varying(f, o)) o = &i->uses[i->address2];
    }
    for (int hops = 0; hops < 16; hops++) {
        if (o->kind != X_VAR || o->negative || o->inverted) return NULL;
        const x_value *v = x_use(f, o);
        if (v == f->values) return NULL;
        if (v->phi || v->inst < 0) return v;
        const x_inst *from = &f->insts[v->inst];
        const x_operand *next = NULL;
        int64_t more = 0;
        if ((from->op != X_ADD && from->op != X_MOV) || from->guard >= 0) return v;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (from->uses[u].kind == X_IMM)
                more += from->uses[u].negative ? -from->uses[u].imm : from->uses[u].imm;
            else if (!next && from->uses[u].kind == X_VAR)
                next = &from->uses[u];
            else
                return v;
        }
        if (!next) return v;
        *offset += f->sass ? (int32_t)more : more;
        o = next;
    }
    return x_use(f, o);
}

void x_make_up_block(x_function *f)
{
    int64_t *b = f->assume.block;
    bool flat = true;
    if (b[0]) return;
    /* Two dimensions where the kernel asks for the second. */
    for (size_t n = 0; n < f->count; n++)
        for (unsigned u = 0; u < f->insts[n].use_count; u++)
            flat &= f->insts[n].uses[u].kind != X_SREG || f->insts[n].uses[u].imm != X_S_TID_Y;
    b[0] = flat ? 256 : 32;
    b[1] = flat ? 1 : 8;
    b[2] = 1;
    f->assume.block_from = "assumed";
    f->assume.block_assumed = true;
}

bool x_try(x_function *f, cute_arena *own, uint32_t index, x_visit *visit, void *context)
{
    x_run r;
    if (!x_run_begin(&r, f, own, index, true)) return false;
    /* What varies in one warp varies in all. */
    if (!f->tried) {
        find_depends(f);
        if (!evaluate_all(&r)) return false;
        find_depends(f);
        f->tried = true;
    }
    if (!evaluate_all(&r)) return false;
    for (size_t n = 0; visit && n < f->count; n++)
        if (x_reached(f, &f->insts[n])) visit(context, &r, &f->insts[n]);
    return true;
}

bool x_analyse(x_function *f)
{
    x_make_up_block(f);
    return x_try(f, f->arena, 0, NULL, NULL) && x_find_weights(f);
}
