/* What the lanes of a warp have in the values of a function, what values depend on, which lanes come to a block, and how
 * often it runs. One warp of one block is looked at; arguments get numbers that arguments have (aligned pointers, sizes of
 * a thousand), loops are seen in their first iteration. */
#include <string.h>

#include "lib/report/explain/model.h"

enum { SIZE = 1024 /* what an argument is taken for */ };
static const double UNLIKELY = 0.002, FEW_TRIPS = 4 /* of what is unlikely */, LONG_NUMBERS = 0.1,
                    LARGE_ARGUMENT = 0.002, TRIPS = 16, MANY_TRIPS = 256,
                    MOST_TRIPS = 1 << 16; /* of a loop about which nothing is known */

/* ---- operands ---- */

static bool sreg_lane(const x_function *f, int64_t which, int lane, uint64_t *out)
{
    const int64_t *b = f->launch.block;
    int64_t x = lane % b[0], y = lane / b[0] % b[1], z = lane / b[0] / b[1];
    switch (which) {
    case X_S_TID_X: *out = (uint64_t)x; break;
    case X_S_TID_Y: *out = (uint64_t)y; break;
    case X_S_TID_Z: *out = (uint64_t)z; break;
    case X_S_NTID_X: *out = (uint64_t)b[0]; break;
    case X_S_NTID_Y: *out = (uint64_t)b[1]; break;
    case X_S_NTID_Z: *out = (uint64_t)b[2]; break;
    case X_S_CTAID_X:
    case X_S_CTAID_Y:
    case X_S_CTAID_Z: *out = 0; break;
    case X_S_NCTAID_X:
    case X_S_NCTAID_Y:
    case X_S_NCTAID_Z: {
        int64_t n = f->launch.grid[which - X_S_NCTAID_X];
        *out = n ? (uint64_t)n : 16;
        break;
    }
    case X_S_LANE: *out = (uint64_t)lane; break;
    default: *out = 0;
    }
    return true;
}

static const uint32_t sreg_depends[] = {
    [X_S_TID_X] = X_TID_X,   [X_S_TID_Y] = X_TID_Y,   [X_S_TID_Z] = X_TID_Z, [X_S_CTAID_X] = X_CTA_X,
    [X_S_CTAID_Y] = X_CTA_Y, [X_S_CTAID_Z] = X_CTA_Z, [X_S_LANE] = X_LANE,   [X_S_OTHER] = 0,
};

bool x_operand_lane(const x_function *f, const x_operand *o, int lane, uint64_t *out)
{
    const x_value *v;
    switch (o->kind) {
    case X_IMM: *out = (uint64_t)o->imm; break;
    case X_ARG: *out = SIZE * (1 + ((uint64_t)o->imm >> 2) % 16); break;
    case X_SREG: sreg_lane(f, o->imm, lane, out); break;
    case X_VAR:
        v = x_use(f, o);
        if (!v->known) return false;
        *out = v->known == X_UNIFORM ? v->u : v->lanes[lane];
        break;
    default: return false;
    }
    if (o->inverted) *out = ~*out;
    if (o->negative) *out = 0 - *out;
    return true;
}

bool x_operand_varying(const x_function *f, const x_operand *o)
{
    uint64_t first, other;
    if (o->kind == X_VAR) return x_use(f, o)->varying;
    if (o->kind != X_SREG) return false;
    sreg_lane(f, o->imm, 0, &first);
    for (int l = 1; l < X_LANES; l++)
        if (sreg_lane(f, o->imm, l, &other) && other != first) return true;
    return false;
}

uint32_t x_operand_depends(const x_function *f, const x_operand *o)
{
    if (o->kind == X_VAR) return x_use(f, o)->depends;
    if (o->kind == X_ARG) return X_ARGUMENT;
    return o->kind == X_SREG ? sreg_depends[o->imm] : 0;
}

/* ---- arithmetic ---- */

static uint64_t cut(uint64_t v, unsigned bits)
{
    return bits && bits < 64 ? v & ((UINT64_C(1) << bits) - 1) : v;
}

static int64_t extend(uint64_t v, unsigned bits)
{
    return bits && bits < 64 ? (int64_t)(v << (64 - bits)) >> (64 - bits) : (int64_t)v;
}

static uint64_t shift_left(uint64_t a, uint64_t n, unsigned bits)
{
    return n < bits ? a << n : 0;
}

static uint64_t compare(const x_inst *i, uint64_t a, uint64_t b)
{
    int64_t x = extend(a, i->bits), y = extend(b, i->bits);
    uint64_t u = cut(a, i->bits), w = cut(b, i->bits);
    bool less = i->is_signed ? x < y : u < w, same = u == w;
    switch (i->compare) {
    case X_EQ: return same;
    case X_NE: return !same;
    case X_LT: return less;
    case X_LE: return less || same;
    case X_GT: return !less && !same;
    default: return !less;
    }
}

static uint64_t lut(uint64_t a, uint64_t b, uint64_t c, unsigned table)
{
    uint64_t r = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1) r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}

/* Sizes that a program multiplies do not overflow: of three that are made up the product is made up, too. */
static uint64_t product(uint64_t a, uint64_t b, unsigned bits)
{
    int64_t x = extend(a, bits), y = extend(b, bits);
    bool sizes = x > 0 && y > 0 && x % SIZE == 0 && y % SIZE == 0;
    return bits == 32 && sizes && x > INT32_MAX / y ? UINT64_C(1) << 30 : a * b;
}

static bool compute(const x_inst *i, const uint64_t *v, unsigned count, uint64_t *out)
{
    uint64_t a = v[0], b = count > 1 ? v[1] : 0, c = count > 2 ? v[2] : 0, r = 0;
    unsigned bits = i->bits ? i->bits : 64;
    int64_t x = extend(a, bits), y = extend(b, bits);
    switch (i->op) {
    case X_MOV: r = a; break;
    case X_ADD:
        for (unsigned k = 0; k < count; k++) r += v[k];
        break;
    case X_SUB: r = a - b; break;
    case X_MUL: r = product(a, b, bits); break;
    case X_MAD: r = product(a, b, bits) + c; break;
    case X_SHL: r = shift_left(a, cut(b, 32), bits); break;
    case X_SHR:
        b = cut(b, 32);
        r = i->is_signed ? (uint64_t)(x >> (b < bits - 1 ? b : bits - 1)) : b < bits ? cut(a, bits) >> b : 0;
        break;
    case X_AND: r = a & b; break;
    case X_OR: r = a | b; break;
    case X_XOR: r = a ^ b; break;
    case X_NOT: r = ~a; break;
    case X_LOP3:
        r = lut(a, b, c, i->table);
        if (i->compare == X_NONZERO && i->def_count < 2) return *out = cut(r, bits) != 0, true;
        break;
    case X_MIN: r = (i->is_signed ? x < y : cut(a, bits) < cut(b, bits)) ? a : b; break;
    case X_MAX: r = (i->is_signed ? x < y : cut(a, bits) < cut(b, bits)) ? b : a; break;
    case X_SELECT: r = c & 1 ? a : b; break;
    case X_SETP: *out = compare(i, a, b); return true;
    case X_SETP_JOINED:
        r = compare(i, a, b);
        *out = i->table == X_JOIN_AND ? r & c & 1 : i->table == X_JOIN_OR ? (r | c) & 1 : (r ^ c) & 1;
        return true;
    case X_BFE:
        b = cut(b, 8), c = cut(c, 8);
        r = b < 64 ? cut(a, bits) >> b : 0;
        r = c ? cut(r, (unsigned)(c < 64 ? c : 64)) : 0;
        if (i->is_signed && c && c < 64) r = (uint64_t)extend(r, (unsigned)c);
        break;
    case X_EXTEND: r = i->is_signed ? (uint64_t)extend(a, i->shift) : cut(a, i->shift); break;
    case X_DIV:
    case X_REM:
        if (!cut(b, bits) || (i->is_signed && y == -1)) return false;
        if (i->is_signed)
            r = (uint64_t)(i->op == X_DIV ? x / y : x % y);
        else
            r = i->op == X_DIV ? cut(a, bits) / cut(b, bits) : cut(a, bits) % cut(b, bits);
        break;
    case X_LEA: r = (i->shift < 64 ? a << i->shift : 0) + b; break;
    case X_LEA_HIGH: r = (cut(a, bits) >> i->shift) + b; break;
    default: return false;
    }
    *out = cut(r, bits);
    return true;
}

/* Operands before the guard and the merged value. */
static unsigned sources(const x_inst *i)
{
    return i->guard >= 0 && i->guard < i->use_count ? (unsigned)i->guard : i->use_count;
}

static void set_lanes(x_function *f, x_value *v, const uint64_t lanes[X_LANES])
{
    bool same = true;
    for (int l = 1; l < X_LANES; l++) same &= lanes[l] == lanes[0];
    v->known = same ? X_UNIFORM : X_BY_LANE;
    v->u = lanes[0];
    if (same) return;
    if (!v->lanes) v->lanes = cute_arena_array(f->arena, X_LANES, sizeof *v->lanes);
    if (!v->lanes)
        v->known = X_UNKNOWN;
    else
        memcpy(v->lanes, lanes, X_LANES * sizeof *lanes);
}

static void evaluate(x_function *f, const x_inst *i)
{
    uint64_t args[8], lanes[X_LANES];
    unsigned count = sources(i);
    x_value *to = &f->values[i->first_value];
    if (!i->def_count) return;
    if (i->op == X_OTHER || !count || count > 8) {
        /* The same for all lanes is some number. */
        bool number = i->access != CUTE_ACCESS_NONE || i->class == CUTE_CODE_INTEGER ||
                      i->class == CUTE_CODE_LOGIC || i->class == CUTE_CODE_MOVE ||
                      i->class == CUTE_CODE_CONVERT || i->class == CUTE_CODE_SHUFFLE;
        for (unsigned d = 0; d < i->def_count && number && !to->varying; d++)
            to[d].known = X_UNIFORM, to[d].u = SIZE;
        return;
    }
    for (int l = 0; l < X_LANES; l++) {
        for (unsigned k = 0; k < count; k++)
            if (!x_operand_lane(f, &i->uses[k], l, &args[k])) return;
        if (!compute(i, args, count, &lanes[l])) return;
    }
    set_lanes(f, to, lanes);
    /* LOP3 P0, R3: the bits, and whether there is one. */
    if (i->op == X_LOP3 && i->compare == X_NONZERO && i->def_count > 1) {
        for (int l = 0; l < X_LANES; l++) lanes[l] = lanes[l] != 0;
        set_lanes(f, &to[1], lanes);
    }
    /* LDC.64 R8 is R8 and R9, two words beside each other; CS2R R8, SRZ two zeros. */
    for (unsigned d = 1; f->sass && i->op == X_MOV && d < i->def_count; d++) {
        x_operand next = i->uses[0];
        if (next.kind != X_ARG && next.kind != X_IMM) break;
        next.imm = next.kind == X_ARG ? next.imm + 4 * d : 0;
        to[d].known = x_operand_lane(f, &next, 0, &to[d].u) ? X_UNIFORM : X_UNKNOWN;
    }
}

static void evaluate_phis(x_function *f, uint32_t block)
{
    for (uint32_t p = f->blocks[block].first_phi; p; p = f->values[p].next_phi) {
        x_value *v = &f->values[p];
        if (v->same != p) continue;
        for (uint32_t k = 0; k < v->arg_count && !v->known; k++) {
            const x_value *a = x_at(f, v->args[k]);
            if (a == v || !a->known) continue;
            v->known = a->known;
            v->u = a->u;
            v->lanes = a->lanes;
        }
    }
}

/* ---- dependence ---- */

static bool has_word(const x_inst *i, const char *word)
{
    return memmem(i->text, i->length, word, strlen(word)) != NULL;
}

/* Lanes get values of their own, whatever they gave. A broadcast, a vote and a reduction are the same for all. */
static bool gives_lanes(const x_function *f, const x_inst *i)
{
    if (i->access == CUTE_ACCESS_ATOMIC) return true;
    if (i->class != CUTE_CODE_SHUFFLE) return false;
    if (has_word(i, "shfl") || has_word(i, "SHFL")) {
        bool index = has_word(i, ".idx") || has_word(i, ".IDX");
        return !index || i->use_count < 2 || x_operand_varying(f, &i->uses[1]);
    }
    return has_word(i, "match") || has_word(i, "MATCH") || has_word(i, "elect") || has_word(i, "ELECT");
}

/* Of a shuffle and a vote only what gives_lanes says. */
static bool is_common(const x_function *f, const x_inst *i)
{
    return i->class == CUTE_CODE_SHUFFLE && !gives_lanes(f, i);
}

static bool is_header(const x_function *f, uint32_t block)
{
    uint32_t loop = f->flow->blocks[block].loop;
    return loop != CUTE_NO_LOOP && f->flow->loops[loop].header == block;
}

/* Computed of what the lanes have, and the same in all of them: tid / 32, and what is loaded there. */
static bool is_common_value(const x_function *f, const x_value *v)
{
    return v->known == X_UNIFORM && v->inst >= 0 && f->insts[v->inst].op != X_OTHER;
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
                uint32_t depends = v->depends | (v->same == p && is_header(f, (uint32_t)b) ? X_COUNTED : 0);
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
                               (i->access == CUTE_ACCESS_LOAD && i->space == CUTE_SPACE_LOCAL);
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

static const x_inst *branch_of(const x_function *f, uint32_t block)
{
    const cute_code_block *b = &f->flow->blocks[block];
    const x_inst *i = b->count ? &f->insts[b->first + b->count - 1] : NULL;
    return i && i->guard >= 0 && i->target >= 0 && i->flags & F_BRANCH ? i : NULL;
}

static uint32_t lanes_true(const x_function *f, const x_operand *o, bool *known)
{
    uint32_t mask = 0;
    uint64_t v;
    *known = true;
    for (int l = 0; l < X_LANES && *known; l++) {
        *known = x_operand_lane(f, o, l, &v);
        if (*known) mask |= (uint32_t)(v & 1) << l;
    }
    return mask;
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
    uint32_t active = f->blocks[i->block].active;
    bool known;
    if (i->guard < 0) return active;
    uint32_t guard = lanes_true(f, &i->uses[i->guard], &known) & active;
    if (known && guard) return guard;
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
    const x_inst *branch = branch_of(f, block), *test = branch ? large_argument(f, branch) : NULL;
    const cute_code_block *b = &f->flow->blocks[block];
    if (!test || b->edge_count != 2) return CUTE_NO_BLOCK;
    bool less =
        has_word(test, ".lt") || has_word(test, ".le") || has_word(test, ".LT") || has_word(test, ".LE");
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
    bool known;
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
    if (flow != CUTE_FLOW_EXIT && !branch_of(f, b->dominator)) return;
    uint32_t taken = lanes_true(f, &branch->uses[branch->guard], &known);
    if (!known) return;
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

static bool evaluate_all(x_function *f)
{
    uint32_t count, *order = in_order(f, &count);
    if (!order) return false;
    for (uint32_t b = 0; b < f->flow->block_count; b++)
        f->blocks[b].active = UINT32_MAX, f->blocks[b].likely = 1;
    for (uint32_t n = 0; n < count; n++) {
        const cute_code_block *block = &f->flow->blocks[order[n]];
        evaluate_phis(f, order[n]);
        find_active(f, order[n]);
        for (size_t k = 0; k < block->count; k++) evaluate(f, &f->insts[block->first + k]);
    }
    return true;
}

/* ---- loops ---- */

bool x_reached(const x_function *f, const x_inst *i)
{
    return f->flow->blocks[i->block].reached;
}

bool x_made_in(const x_function *f, const x_value *v, uint32_t loop)
{
    if (v == f->values) return false;
    return cute_code_in_loop(f->flow, v->inst >= 0 ? f->insts[v->inst].block : v->block, loop);
}

const x_value *x_entry(const x_function *f, const x_value *v)
{
    uint32_t loop = is_header(f, v->block) ? f->flow->blocks[v->block].loop : CUTE_NO_LOOP;
    for (uint32_t k = 0; v->phi && k < v->arg_count; k++) {
        const x_value *from = x_at(f, v->args[k]);
        if (from != v && from != f->values && (loop == CUTE_NO_LOOP || !x_made_in(f, from, loop)))
            return from;
    }
    return NULL;
}

/* The phi of the loop's header that an operand counts from: i, i + 1, i * 4 ...; NULL: none. */
static const x_value *counter(const x_function *f, const x_value *v, uint32_t header, int depth)
{
    if (v->phi) return v->block == header ? v : NULL;
    if (v->inst < 0 || depth > 4) return NULL;
    const x_inst *i = &f->insts[v->inst];
    if (i->op != X_ADD && i->op != X_SUB && i->op != X_MOV && i->op != X_EXTEND && i->op != X_MAD &&
        i->op != X_SHL)
        return NULL;
    for (unsigned u = 0; u < i->use_count; u++) {
        if (i->uses[u].kind != X_VAR) continue;
        const x_value *found = counter(f, x_use(f, &i->uses[u]), header, depth + 1);
        if (found) return found;
    }
    return NULL;
}

/* What one iteration adds to the counter; 0: not known. */
static int64_t step_of(const x_function *f, const x_value *phi, unsigned bits)
{
    for (uint32_t k = 0; k < phi->arg_count; k++) {
        const x_value *next = x_at(f, phi->args[k]);
        int64_t sum = 0;
        bool ok = next != phi && next->inst >= 0;
        for (int hops = 0; ok && next != phi && hops < 64; hops++) {
            const x_inst *i = next->inst >= 0 ? &f->insts[next->inst] : NULL;
            const x_value *from = NULL;
            ok =
                i && (i->op == X_ADD || i->op == X_SUB || i->op == X_MOV || i->op == X_MAD || i->op == X_LEA);
            unsigned u = 0;
            /* Of a product and of what is shifted only the sum counts on. */
            if (ok && (i->op == X_MAD || i->op == X_LEA) && i->use_count > 1) {
                uint64_t a, b = UINT64_C(1) << i->shift % 32;
                ok = x_operand_lane(f, &i->uses[u++], 0, &a) &&
                     (i->op == X_LEA || x_operand_lane(f, &i->uses[u++], 0, &b));
                if (ok) sum += extend(a * b, bits);
            }
            for (; ok && u < sources(i); u++) {
                uint64_t n;
                const x_value *v = i->uses[u].kind == X_VAR ? x_use(f, &i->uses[u]) : NULL;
                bool carried = v && (v == phi || (v->inst >= 0 && counter(f, v, phi->block, 0) == phi));
                if (carried && !from)
                    from = v;
                else if (x_operand_lane(f, &i->uses[u], 0, &n))
                    sum += i->op == X_SUB && u == 1 ? -extend(n, bits) : extend(n, bits);
                else
                    ok = false;
            }
            ok &= from != NULL;
            next = from ? from : next;
        }
        if (ok && next == phi && sum) return sum;
    }
    return 0;
}

static const x_inst *comparison(const x_function *f, const x_inst *branch)
{
    const x_value *v = x_use(f, &branch->uses[branch->guard]);
    for (int hops = 0; hops < 4 && v->inst >= 0; hops++) {
        const x_inst *i = &f->insts[v->inst];
        if (i->op == X_SETP) return i;
        if ((i->op != X_MOV && i->op != X_NOT) || i->uses[0].kind != X_VAR) return NULL;
        v = x_use(f, &i->uses[0]);
    }
    return NULL;
}

/* Loops that look at memory until somebody else has written there. */
static bool only_waits(const x_function *f, uint32_t n)
{
    bool looks = false;
    for (size_t k = 0; k < f->count; k++) {
        const x_inst *i = &f->insts[k];
        if (!cute_code_in_loop(f->flow, i->block, n)) continue;
        if (i->flags & (F_MATH | F_MMA | F_WGMMA) || i->access == CUTE_ACCESS_STORE) return false;
        looks |= i->flags & (F_WAIT_MBARRIER | F_VOLATILE) || i->access == CUTE_ACCESS_ATOMIC ||
                 (i->access == CUTE_ACCESS_LOAD && i->flags & F_ORDERED);
    }
    return looks;
}

/* The compiler's own: lanes elect one of them after the other, and mostly all ask for the same. */
static bool elects_each(const x_function *f, uint32_t n)
{
    for (size_t k = 0; k < f->count; k++)
        if (cute_code_in_loop(f->flow, f->insts[k].block, n) && has_word(&f->insts[k], "BRA.U.ANY"))
            return true;
    return false;
}

/* Of a loop that counts from or to a number that is not known: n & 7 of the rest of an unrolled loop are few. */
static double unknown_trips(const x_function *f, const x_value *phi, const x_operand *bound, int64_t step)
{
    const x_value *from = x_entry(f, phi);
    const x_inst *i = from && from->inst >= 0 ? &f->insts[from->inst] : NULL;
    int64_t each = step < 0 ? -step : step;
    for (unsigned u = 0; i && (i->op == X_AND || i->op == X_LOP3) && u < 2 && u < i->use_count; u++)
        if (i->uses[u].kind == X_IMM && i->uses[u].imm > 0 && i->uses[u].imm < 64)
            return each < i->uses[u].imm ? (double)(i->uses[u].imm + 1) / 2 / (double)each : 1;
    uint32_t depends = x_operand_depends(f, bound) | (from ? from->depends : 0);
    return depends & (X_ARGUMENT | X_LOADED) ? MANY_TRIPS : TRIPS;
}

static bool judge_exit(x_function *f, uint32_t n, const x_inst *branch)
{
    const cute_code_loop *loop = &f->flow->loops[n];
    x_loop *out = &f->loops[n];
    const x_inst *test = comparison(f, branch);
    for (int side = 0; test && test->use_count >= 2 && side < 2; side++) {
        const x_operand *mine = &test->uses[side], *bound = &test->uses[1 - side];
        uint64_t from, to;
        const x_value *phi = mine->kind == X_VAR ? counter(f, x_use(f, mine), loop->header, 0) : NULL;
        if (!phi || (bound->kind == X_VAR && x_made_in(f, x_use(f, bound), n))) continue;
        int64_t step = step_of(f, phi, test->bits);
        x_operand start = {.kind = X_VAR, .value = (uint32_t)(phi - f->values)};
        if (!step) continue;
        out->counts = true;
        out->bound = bound;
        out->step = step;
        out->test = test;
        out->counter = start.value;
        if (!x_operand_lane(f, bound, 0, &to) || !x_operand_lane(f, &start, 0, &from)) {
            out->trips = unknown_trips(f, phi, bound, step);
            return true;
        }
        double way = (double)(extend(to, test->bits) - extend(from, test->bits)) / (double)step;
        if (way < 0) way = -way;
        if (way >= 1) out->trips = way < MOST_TRIPS ? way : MOST_TRIPS;
        /* Sizes that are not known are not small. */
        uint32_t depends = x_operand_depends(f, bound) | x_operand_depends(f, &start);
        if (way >= 1 && depends & (X_ARGUMENT | X_LOADED) && out->trips < MANY_TRIPS) out->trips = MANY_TRIPS;
        return true;
    }
    return false;
}

static void find_trips(x_function *f, uint32_t n)
{
    x_loop *out = &f->loops[n];
    *out = (x_loop){.trips = TRIPS, .exit = -1, .waits = only_waits(f, n)};
    if (f->sass && f->flow->loops[n].innermost && elects_each(f, n)) {
        out->waits = true;
        out->trips = 1;
        return;
    }
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const x_inst *branch = branch_of(f, b);
        if (!f->flow->blocks[b].reached || !cute_code_in_loop(f->flow, b, n) || !branch) continue;
        bool leaves = false;
        for (uint32_t e = 0; e < f->flow->blocks[b].edge_count; e++)
            leaves |= !cute_code_in_loop(f->flow, f->flow->blocks[b].edges[e].to, n);
        if (!leaves) continue;
        if (out->exit < 0) out->exit = branch - f->insts;
        if (!judge_exit(f, n, branch)) continue;
        out->exit = branch - f->insts;
        return;
    }
}

/* What another loop with larger steps has left. */
static void find_rest(x_function *f, uint32_t n)
{
    x_loop *rest = &f->loops[n];
    if (!rest->counts) return;
    const x_value *phi = x_at(f, rest->counter), *from = x_entry(f, phi);
    int64_t mine = rest->step < 0 ? -rest->step : rest->step;
    for (uint32_t k = 0; from && k < (from->phi ? from->arg_count : 1); k++) {
        const x_value *left = from->phi ? x_at(f, from->args[k]) : from;
        uint32_t block = left->inst >= 0 ? f->insts[left->inst].block : left->block;
        uint32_t m = left == f->values ? CUTE_NO_LOOP : f->flow->blocks[block].loop;
        if (m == CUTE_NO_LOOP || m == n || cute_code_in_loop(f->flow, f->flow->loops[n].header, m) ||
            !f->loops[m].counts)
            continue;
        int64_t step = f->loops[m].step < 0 ? -f->loops[m].step : f->loops[m].step;
        double trips = (double)step / (double)mine / 2;
        if (step >= 2 * mine && step % mine == 0 && trips < rest->trips) rest->trips = trips;
    }
}

static bool find_weights(x_function *f)
{
    const cute_code_function *flow = f->flow;
    f->loops = cute_arena_array(f->arena, flow->loop_count + 1, sizeof *f->loops);
    if (!f->loops) return false;
    for (uint32_t l = 0; l < flow->loop_count; l++) find_trips(f, l);
    for (uint32_t l = 0; l < flow->loop_count; l++) find_rest(f, l);
    for (size_t b = 0; b < flow->block_count; b++) {
        double weight = flow->blocks[b].reached ? f->blocks[b].likely : 0;
        for (uint32_t l = flow->blocks[b].loop; l != CUTE_NO_LOOP; l = flow->loops[l].parent)
            weight *= f->blocks[flow->loops[l].header].likely < 1 && f->loops[l].trips > FEW_TRIPS
                          ? FEW_TRIPS
                          : f->loops[l].trips;
        f->blocks[b].weight = weight < 1e12 ? weight : 1e12;
    }
    /* What was counted is better. */
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        x_block *b = &f->blocks[i->block];
        bool first = !n || f->insts[n - 1].block != i->block;
        if (i->seen) b->weight = !first && b->weight > i->seen->executed ? b->weight : i->seen->executed;
    }
    return true;
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

bool x_analyse(x_function *f)
{
    int64_t *b = f->launch.block;
    if (!b[0]) {
        /* Two dimensions where the kernel asks for the second. */
        bool flat = true;
        for (size_t n = 0; n < f->count; n++)
            for (unsigned u = 0; u < f->insts[n].use_count; u++)
                flat &= f->insts[n].uses[u].kind != X_SREG || f->insts[n].uses[u].imm != X_S_TID_Y;
        b[0] = flat ? 256 : 32;
        b[1] = flat ? 1 : 8;
        b[2] = 1;
        f->launch.assumed = true;
    }
    if (!x_ssa(f)) return false;
    if (f->sass) x_join_comparisons(f);
    find_depends(f);
    if (!evaluate_all(f)) return false;
    find_depends(f);
    return evaluate_all(f) && find_weights(f);
}
