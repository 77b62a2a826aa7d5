/* Evaluates one example of a kernel: the values of a warp's lanes with assumed arguments (assumptions.h) in the first iteration of
 * loops, what each value depends on, and the active lanes of basic blocks. */
#include <string.h>

#include "lib/code/function.h"

/* probabilities of branches */
static const double UNLIKELY = 0.002, LONG_NUMBERS = 0.1, LARGE_ARGUMENT = 0.002;

/* ---- operands ---- */

static const uint32_t sreg_depends[] = {
    [SSA_SREG_TID_X] = DEPENDS_TID_X,
    [SSA_SREG_TID_Y] = DEPENDS_TID_Y,
    [SSA_SREG_TID_Z] = DEPENDS_TID_Z,
    [SSA_SREG_CTAID_X] = DEPENDS_CTA_X,
    [SSA_SREG_CTAID_Y] = DEPENDS_CTA_Y,
    [SSA_SREG_CTAID_Z] = DEPENDS_CTA_Z,
    [SSA_SREG_LANE] = DEPENDS_LANE,
    [SSA_SREG_LANEMASK_EQ] = DEPENDS_LANE,
    [SSA_SREG_LANEMASK_LT] = DEPENDS_LANE,
    [SSA_SREG_LANEMASK_LE] = DEPENDS_LANE,
    [SSA_SREG_LANEMASK_GT] = DEPENDS_LANE,
    [SSA_SREG_LANEMASK_GE] = DEPENDS_LANE,
    [SSA_SREG_UNIFORM] = 0,
};

bool ssa_operand_lane(const ssa_function *f, const ssa_operand *o, int lane, uint64_t *out)
{
    const ssa_run r = {.f = (ssa_function *)(uintptr_t)f, .example = true};
    if (o->kind == SSA_VAR && !ssa_is_known(ssa_value_of(f, o))) return false;
    if (o->kind == SSA_NONE) return false;
    if (o->kind == SSA_VAR)
        *out = ssa_value_of(f, o)->lanes->at[lane];
    else
        *out = ssa_operand_lanes(&r, &(ssa_operand){.kind = o->kind, .imm = o->imm}, 64).at[lane];
    if (o->inverted) *out = ~*out;
    if (o->negative) *out = 0 - *out;
    return true;
}

bool ssa_operand_varies(const ssa_function *f, const ssa_operand *o)
{
    uint64_t first, other;
    if (o->kind == SSA_VAR) return ssa_value_of(f, o)->varying;
    if (o->kind != SSA_SREG) return false;
    ssa_operand_lane(f, o, 0, &first);
    for (int l = 1; l < LANES; l++)
        if (ssa_operand_lane(f, o, l, &other) && other != first) return true;
    return false;
}

uint32_t ssa_operand_depends(const ssa_function *f, const ssa_operand *o)
{
    if (o->kind == SSA_VAR) return ssa_value_of(f, o)->depends;
    if (o->kind == SSA_ARG) return DEPENDS_ARGUMENT;
    return o->kind == SSA_SREG ? sreg_depends[o->imm] : 0;
}

/* ---- values ---- */

/* An operand as ssa_compute takes it; false: unknown. */
static bool read_operand(const ssa_run *r, const ssa_operand *o, lane_values *out)
{
    if (o->kind == SSA_NONE || (o->kind == SSA_VAR && !ssa_is_known(ssa_value_of(r->f, o)))) return false;
    *out = o->kind == SSA_VAR ? *ssa_value_of(r->f, o)->lanes
                              : ssa_operand_lanes(r, &(ssa_operand){.kind = o->kind, .imm = o->imm}, 64);
    out->bits = out->free = 64;
    for (int l = 0; l < LANES; l++) {
        if (o->inverted) out->at[l] = ~out->at[l];
        if (o->negative) out->at[l] = 0 - out->at[l];
    }
    return true;
}

/* Assumes a value for unknown uniform results. */
static void assume_value(ssa_run *r, const ssa_inst *i)
{
    ssa_value *to = &r->f->values[i->first_value];
    lane_values number = lanes_constant(64, CODE_ASSUMED_ARGUMENT);
    bool whole = i->access != CUTE_ACCESS_NONE || i->class == CUTE_CODE_INTEGER ||
                 i->class == CUTE_CODE_LOGIC || i->class == CUTE_CODE_MOVE || i->class == CUTE_CODE_CONVERT ||
                 i->class == CUTE_CODE_SHUFFLE;
    for (unsigned d = 0; d < i->def_count && whole && !to->varying; d++) ssa_set_lanes(r, &to[d], &number);
}

/* A size divided by the grid's threads or another size: the trip count of a loop over it, which is not small. */
static bool is_share_of_size(const ssa_function *f, const ssa_inst *i)
{
    return i->op == SSA_DIV && i->use_count > 1 && i->uses[1].kind == SSA_VAR &&
           !ssa_operand_varies(f, &i->uses[1]) && ssa_operand_depends(f, &i->uses[0]) & DEPENDS_ARGUMENT;
}

static void enlarge_small_values(lane_values *v)
{
    enum { FEW = 64 };
    for (int l = 0; l < LANES; l++)
        if (v->at[l] >= FEW) return;
    for (int l = 0; l < LANES; l++) v->at[l] += CODE_ASSUMED_ARGUMENT;
}

static void evaluate_inst(ssa_run *r, const ssa_inst *i)
{
    enum { MOST = 8 };
    ssa_function *f = r->f;
    lane_values in[MOST], out;
    unsigned count = ssa_source_count(i);
    ssa_value *to = &f->values[i->first_value];
    if (!i->def_count) return;
    if (i->op == SSA_OTHER || !count || count > MOST) {
        assume_value(r, i);
        return;
    }
    for (unsigned k = 0; k < count; k++)
        if (!read_operand(r, &i->uses[k], &in[k])) return;
    if (!ssa_compute(r->own, i, in, count, true, &out)) return;
    if (is_share_of_size(f, i)) enlarge_small_values(&out);
    ssa_set_lanes(r, to, &out);
    /* LOP3 P0, R3: the bits, and the predicate `bits != 0`. */
    if (i->op == SSA_LOP3 && i->compare == SSA_NONZERO && i->def_count > 1) {
        for (int l = 0; l < LANES; l++) out.at[l] = out.at[l] != 0;
        ssa_set_lanes(r, &to[1], &out);
    }
    /* LDC.64 R8 writes R8 and R9, two consecutive words; CS2R R8, SRZ writes two zeros. */
    for (unsigned d = 1; f->sass && i->op == SSA_MOV && d < i->def_count; d++) {
        ssa_operand next = i->uses[0];
        if (next.kind != SSA_ARG && next.kind != SSA_IMM) break;
        next.imm = next.kind == SSA_ARG ? next.imm + 4 * d : 0;
        if (read_operand(r, &next, &out)) ssa_set_lanes(r, &to[d], &out);
    }
}

static void evaluate_phis(ssa_run *r, uint32_t block)
{
    ssa_function *f = r->f;
    for (uint32_t p = f->blocks[block].first_phi; p; p = f->values[p].next_phi) {
        ssa_value *v = &f->values[p];
        if (v->same != p) continue;
        for (uint32_t k = 0; k < v->arg_count && !v->lanes; k++) {
            const ssa_value *a = ssa_value_at(f, v->args[k]);
            if (a != v && ssa_is_known(a)) v->lanes = a->lanes;
        }
    }
}

bool ssa_has_word(const ssa_inst *i, const char *word)
{
    return memmem(i->text, i->length, word, strlen(word)) != NULL;
}

const ssa_inst *ssa_branch_of(const ssa_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    const ssa_inst *i = b->count ? &f->insts[b->first + b->count - 1] : NULL;
    return i && i->guard >= 0 && i->target >= 0 && i->flags & INST_BRANCH ? i : NULL;
}

/* ---- dependence ---- */

/* The result differs between lanes for any operands. Broadcasts, votes and reductions are uniform. */
static bool is_lane_specific(const ssa_function *f, const ssa_inst *i)
{
    if (i->access == CUTE_ACCESS_ATOMIC) return true;
    if (i->class != CUTE_CODE_SHUFFLE) return false;
    if (ssa_has_word(i, "shfl") || ssa_has_word(i, "SHFL")) {
        bool index = ssa_has_word(i, ".idx") || ssa_has_word(i, ".IDX");
        return !index || i->use_count < 2 || ssa_operand_varies(f, &i->uses[1]);
    }
    return ssa_has_word(i, "match") || ssa_has_word(i, "MATCH") || ssa_has_word(i, "elect") ||
           ssa_has_word(i, "ELECT");
}

/* A warp operation with a uniform result. */
static bool is_uniform_warp_op(const ssa_function *f, const ssa_inst *i)
{
    return i->class == CUTE_CODE_SHUFFLE && !is_lane_specific(f, i);
}

/* Computed from lane-dependent values, but uniform: tid / 32. */
static bool is_uniform_value(const ssa_function *f, const ssa_value *v)
{
    return ssa_is_known(v) && lanes_uniform(v->lanes) && v->inst >= 0 && f->insts[v->inst].op != SSA_OTHER;
}

/* A fixed point, because of loops. Known values refine `varying`. */
static void find_depends(ssa_function *f)
{
    for (size_t n = 0; n < f->value_count; n++) f->values[n].varying = false;
    for (bool again = true; again;) {
        again = false;
        for (size_t b = 0; b < f->flow->block_count; b++) {
            for (uint32_t p = f->blocks[b].first_phi; p; p = f->values[p].next_phi) {
                ssa_value *v = &f->values[p];
                uint32_t depends =
                    v->depends | (v->same == p && ssa_is_header(f, (uint32_t)b) ? DEPENDS_LOOP_CARRIED : 0);
                bool varying = v->varying;
                for (uint32_t k = 0; k < v->arg_count && v->same == p; k++) {
                    depends |= ssa_value_at(f, v->args[k])->depends;
                    varying |= ssa_value_at(f, v->args[k])->varying;
                }
                again |= depends != v->depends || varying != v->varying;
                v->depends = depends;
                v->varying = varying;
            }
            for (size_t k = 0; k < f->flow->blocks[b].count; k++) {
                const ssa_inst *i = &f->insts[f->flow->blocks[b].first + k];
                uint32_t depends =
                    i->access == CUTE_ACCESS_LOAD || i->access == CUTE_ACCESS_ATOMIC ? DEPENDS_LOADED : 0;
                bool varying = is_lane_specific(f, i) ||
                               i->flags & (INST_MMA | INST_WGMMA | INST_TENSOR_LOAD) ||
                               (i->access == CUTE_ACCESS_LOAD && i->space == CUTE_CODE_SPACE_LOCAL);
                if (!i->def_count) continue;
                for (unsigned u = 0; u < i->use_count; u++) {
                    depends |= ssa_operand_depends(f, &i->uses[u]);
                    varying |= ssa_operand_varies(f, &i->uses[u]) && !is_uniform_warp_op(f, i);
                }
                for (unsigned d = 0; d < i->def_count; d++) {
                    ssa_value *v = &f->values[i->first_value + d];
                    bool apart = varying && !is_uniform_value(f, v);
                    if (v->depends == depends && v->varying == apart) continue;
                    v->depends = depends;
                    v->varying = apart;
                    again = true;
                }
            }
        }
    }
}

/* ---- active lanes ---- */

bool ssa_lanes_true(const ssa_function *f, const ssa_operand *o, uint32_t *out)
{
    uint64_t v;
    *out = 0;
    for (int l = 0; l < LANES; l++) {
        if (!ssa_operand_lane(f, o, l, &v)) return false;
        *out |= (uint32_t)(v & 1) << l;
    }
    return true;
}

/* The lane index is compared with a uniform value: an elected leader. */
static bool is_leader_test(const ssa_function *f, const ssa_operand *o)
{
    const ssa_value *v = ssa_value_of(f, o);
    if (o->kind != SSA_VAR || o->inverted || v->inst < 0) return false;
    const ssa_inst *i = &f->insts[v->inst];
    if (i->op != SSA_SETP || i->compare != SSA_EQ || i->use_count < 2) return false;
    for (int k = 0; k < 2; k++)
        if (ssa_operand_depends(f, &i->uses[k]) == DEPENDS_LANE && ssa_operand_varies(f, &i->uses[k]) &&
            !ssa_operand_varies(f, &i->uses[1 - k]) && i->uses[1 - k].kind == SSA_VAR)
            return true;
    return false;
}

uint32_t ssa_active_lanes(const ssa_function *f, const ssa_inst *i)
{
    uint32_t active = f->blocks[i->block].active, guard;
    if (i->guard < 0) return active;
    if (ssa_lanes_true(f, &i->uses[i->guard], &guard) && guard & active) return guard & active;
    return is_leader_test(f, &i->uses[i->guard]) ? active & (~active + 1) : active;
}

/* The width of the division on one side of a branch, also after a jump; 0: none. */
static unsigned division_bits(const ssa_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    if (b->count == 1 && b->edge_count == 1 && f->insts[b->first].flags & INST_BRANCH)
        b = &f->flow->blocks[b->edges[0].to];
    for (size_t k = 0; k < b->count; k++)
        if (f->insts[b->first + k].flags & INST_DIVIDE) return f->insts[b->first + k].bits;
    return 0;
}

uint32_t ssa_long_division(const ssa_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    if (f->sass || b->edge_count != 2) return CUTE_NO_BLOCK;
    for (int side = 0; side < 2; side++)
        if (division_bits(f, b->edges[side].to) == 64 && division_bits(f, b->edges[1 - side].to) == 32)
            return b->edges[side].to;
    return CUTE_NO_BLOCK;
}

/* The test |x| > 105615 before the argument reduction with 192 bits of 2/pi in sinf, cosf and tanf. PTX has the constant's bits, SASS
 * its digits. */
static const ssa_inst *find_large_argument_test(const ssa_function *f, const ssa_inst *branch)
{
    const ssa_value *v = ssa_value_of(f, &branch->uses[branch->guard]);
    const ssa_inst *i = v->inst >= 0 ? &f->insts[v->inst] : NULL;
    const char *number = f->sass ? "105615" : "0f47CE4780";
    return i && memmem(i->text, i->length, number, strlen(number)) ? i : NULL;
}

uint32_t ssa_large_argument(const ssa_function *f, uint32_t block)
{
    const ssa_inst *branch = ssa_branch_of(f, block),
                   *test = branch ? find_large_argument_test(f, branch) : NULL;
    const cute_code_block *b = &f->flow->blocks[block];
    if (!test || b->edge_count != 2) return CUTE_NO_BLOCK;
    bool less = ssa_has_word(test, ".lt") || ssa_has_word(test, ".le") || ssa_has_word(test, ".LT") ||
                ssa_has_word(test, ".LE");
    bool taken_is_large = less == branch->uses[branch->guard].inverted;
    uint32_t target = f->insts[branch->target].block;
    for (int side = 0; side < 2; side++)
        if ((b->edges[side].to == target) == taken_is_large) return b->edges[side].to;
    return CUTE_NO_BLOCK;
}

/* A block with one predecessor is executed by the lanes that take that edge, others by the lanes of their dominator. */
static void find_active_lanes(ssa_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    ssa_block *x = &f->blocks[block];
    x->active = UINT32_MAX;
    x->likely = 1;
    if (b->dominator == CUTE_NO_BLOCK || b->dominator == block) return;
    x->active = f->blocks[b->dominator].active;
    x->likely = f->blocks[b->dominator].likely;
    if (x->before_count != 1 || x->before[0] != b->dominator) return;
    if (ssa_long_division(f, b->dominator) == block) x->likely *= LONG_NUMBERS;
    if (ssa_large_argument(f, b->dominator) == block) x->likely *= LARGE_ARGUMENT;
    /* @P0 EXIT: the other lanes continue. */
    const cute_code_block *before = &f->flow->blocks[b->dominator];
    const ssa_inst *branch = before->count ? &f->insts[before->first + before->count - 1] : NULL;
    if (!branch || branch->guard < 0) return;
    cute_code_flow flow = f->flow->instructions[before->first + before->count - 1].opcode->flow;
    if (flow != CUTE_FLOW_EXIT && !ssa_branch_of(f, b->dominator)) return;
    uint32_t taken;
    if (!ssa_lanes_true(f, &branch->uses[branch->guard], &taken)) return;
    bool by_branch = flow != CUTE_FLOW_EXIT && f->insts[branch->target].block == block;
    uint32_t mask = x->active & (by_branch ? taken : ~taken);
    if (mask) x->active = mask;
    /* Sizes that divide evenly are the usual case, so the remainder path is unlikely. That does not hold for loop exits. */
    uint32_t depends = ssa_operand_depends(f, &branch->uses[branch->guard]);
    bool leaves = false;
    for (uint32_t e = 0; before->loop != CUTE_NO_LOOP && e < before->edge_count; e++)
        leaves |= !cute_code_in_loop(f->flow, before->edges[e].to, before->loop);
    if (!mask && depends & DEPENDS_ARGUMENT && !(depends & DEPENDS_LOADED) && !leaves) x->likely *= UNLIKELY;
}

/* The blocks in reverse post-order; NULL when memory is exhausted. */
static uint32_t *reverse_post_order(ssa_function *f, uint32_t *count)
{
    size_t n = f->flow->block_count, depth = 0;
    uint32_t *order = cute_arena_array(f->arena, n + 1, sizeof *order);
    uint32_t *stack = cute_arena_array(f->arena, n + 1, sizeof *stack);
    uint32_t *edge = cute_arena_array(f->arena, n + 1, sizeof *edge);
    bool *seen = cute_arena_array(f->arena, n + 1, sizeof *seen);
    if (!order || !stack || !edge || !seen) return NULL;
    *count = 0;
    /* Functions within the code are roots, too. */
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

static bool evaluate_blocks(ssa_run *r)
{
    ssa_function *f = r->f;
    uint32_t count, *order = reverse_post_order(f, &count);
    if (!order) return false;
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        f->blocks[b].active = UINT32_MAX, f->blocks[b].likely = 1;
    for (uint32_t n = 0; n < count; n++) {
        const cute_code_block *block = &f->flow->blocks[order[n]];
        evaluate_phis(r, order[n]);
        find_active_lanes(f, order[n]);
        for (size_t k = 0; k < block->count; k++)
            if (!f->needed || f->needed[block->first + k]) evaluate_inst(r, &f->insts[block->first + k]);
    }
    return !r->failed;
}

/* ---- addresses ---- */

bool ssa_addresses(const ssa_function *f, const ssa_inst *i, uint64_t out[LANES], uint32_t *active)
{
    *active = ssa_active_lanes(f, i);
    if (i->address < 0) return false;
    for (int l = 0; l < LANES; l++) {
        uint64_t more = 0;
        if (!ssa_operand_lane(f, &i->uses[i->address], l, &out[l])) return false;
        if (i->address2 >= 0 && !ssa_operand_lane(f, &i->uses[i->address2], l, &more)) return false;
        out[l] += more + (uint64_t)i->offset;
        if (f->sass) out[l] &= UINT32_MAX;
    }
    return true;
}

bool ssa_address_varies(const ssa_function *f, const ssa_inst *i)
{
    return i->address >= 0 && (ssa_operand_varies(f, &i->uses[i->address]) ||
                               (i->address2 >= 0 && ssa_operand_varies(f, &i->uses[i->address2])));
}

uint32_t ssa_address_depends(const ssa_function *f, const ssa_inst *i)
{
    uint32_t depends = 0;
    if (i->address >= 0) depends |= ssa_operand_depends(f, &i->uses[i->address]);
    if (i->address2 >= 0) depends |= ssa_operand_depends(f, &i->uses[i->address2]);
    return depends;
}

const ssa_value *ssa_address_root(const ssa_function *f, const ssa_inst *i, int64_t *offset)
{
    *offset = i->offset;
    if (i->address < 0) return NULL;
    const ssa_operand *o = &i->uses[i->address];
    if (i->address2 >= 0 && i->uses[i->address2].kind == SSA_VAR && o->kind == SSA_VAR) {
        /* The base is usually uniform; then the varying part is the root. */
        if (!ssa_operand_varies(f, o)) o = &i->uses[i->address2];
    }
    for (int hops = 0; hops < 16; hops++) {
        if (o->kind != SSA_VAR || o->negative || o->inverted) return NULL;
        const ssa_value *v = ssa_value_of(f, o);
        if (v == f->values) return NULL;
        if (v->phi || v->inst < 0) return v;
        const ssa_inst *from = &f->insts[v->inst];
        const ssa_operand *next = NULL;
        int64_t more = 0;
        if ((from->op != SSA_ADD && from->op != SSA_MOV) || from->guard >= 0) return v;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (from->uses[u].kind == SSA_IMM)
                more += from->uses[u].negative ? -from->uses[u].imm : from->uses[u].imm;
            else if (!next && from->uses[u].kind == SSA_VAR)
                next = &from->uses[u];
            else
                return v;
        }
        if (!next) return v;
        *offset += f->sass ? (int32_t)more : more;
        o = next;
    }
    return ssa_value_of(f, o);
}

void ssa_assume_block(ssa_function *f)
{
    int64_t *b = f->assume.block;
    bool flat = true;
    if (b[0]) return;
    /* Two dimensions if the kernel reads tid.y. */
    for (size_t n = 0; n < f->count; n++)
        for (unsigned u = 0; u < f->insts[n].use_count; u++)
            flat &= f->insts[n].uses[u].kind != SSA_SREG || f->insts[n].uses[u].imm != SSA_SREG_TID_Y;
    b[0] = flat ? 256 : 32;
    b[1] = flat ? 1 : 8;
    b[2] = 1;
    f->assume.block_from = "assumed";
    f->assume.block_assumed = true;
}

bool ssa_run_example(ssa_function *f, cute_arena *own, uint32_t index, ssa_visit *visit, void *context)
{
    ssa_run r;
    if (!ssa_run_begin(&r, f, own, index, true)) return false;
    /* Dependences are the same for all warps. */
    if (!f->has_depends) {
        find_depends(f);
        if (!evaluate_blocks(&r)) return false;
        find_depends(f);
        f->has_depends = true;
    }
    if (!evaluate_blocks(&r)) return false;
    for (size_t n = 0; visit && n < f->count; n++)
        if (ssa_is_reached(f, &f->insts[n])) visit(context, &r, &f->insts[n]);
    return true;
}

bool ssa_analyse(ssa_function *f)
{
    ssa_assume_block(f);
    return ssa_run_example(f, f->arena, 0, NULL, NULL) && ssa_find_weights(f);
}
