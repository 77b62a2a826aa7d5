/* Integers of a kernel that runs while it is compiled (async.h): operations of arith, and where a thread is. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/ir/util.h"
#include "lib/passes/async.h"

static int first_lane(uint32_t mask)
{
    return mask ? __builtin_ctz(mask) : 0;
}

static int64_t wrap_to(int64_t value, int width)
{
    if (width >= 64) return value;
    if (width == 1) return value & 1;
    return (int64_t)((uint64_t)value << (64 - width)) >> (64 - width);
}

static uint64_t plain(int64_t value, int width)
{
    return width >= 64 ? (uint64_t)value : (uint64_t)value & ((1ull << width) - 1);
}

enum {
    ADD,
    SUB,
    MUL,
    DIVS,
    DIVU,
    FLOORDIV,
    CEILDIV,
    CEILDIVU,
    REMS,
    REMU,
    AND,
    OR,
    XOR,
    SHL,
    SHRS,
    SHRU,
    MINS,
    MAXS,
    MINU,
    MAXU
};

static bool compute(int which, int64_t a, int64_t b, int width, int64_t *out)
{
    uint64_t ua = plain(a, width), ub = plain(b, width);
    bool divides = which >= DIVS && which <= REMU;
    if (divides && (b == 0 || (a == INT64_MIN && b == -1))) return false;
    if (which >= SHL && which <= SHRU && ub >= (uint64_t)width) return false;
    switch (which) {
    case ADD: *out = (int64_t)((uint64_t)a + (uint64_t)b); break;
    case SUB: *out = (int64_t)((uint64_t)a - (uint64_t)b); break;
    case MUL: *out = (int64_t)((uint64_t)a * (uint64_t)b); break;
    case DIVS: *out = a / b; break;
    case DIVU: *out = (int64_t)(ua / ub); break;
    case FLOORDIV: *out = a / b - (a % b && (a < 0) != (b < 0)); break;
    case CEILDIV: *out = a / b + (a % b && (a < 0) == (b < 0)); break;
    case CEILDIVU: *out = (int64_t)(ua / ub + (ua % ub != 0)); break;
    case REMS: *out = a % b; break;
    case REMU: *out = (int64_t)(ua % ub); break;
    case AND: *out = a & b; break;
    case OR: *out = a | b; break;
    case XOR: *out = a ^ b; break;
    case SHL: *out = (int64_t)((uint64_t)a << ub); break;
    case SHRS: *out = a >> ub; break;
    case SHRU: *out = (int64_t)(ua >> ub); break;
    case MINS: *out = a < b ? a : b; break;
    case MAXS: *out = a > b ? a : b; break;
    case MINU: *out = ua < ub ? a : b; break;
    case MAXU: *out = ua > ub ? a : b; break;
    default: return false;
    }
    *out = wrap_to(*out, width);
    return true;
}

static bool eval_binary(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x;
    int64_t a, b, c;
    int width = i->width;
    if (!async_number_of(&in[0], &a)) {
        /* What one side decides alone. */
        if (!async_number_of(&in[1], &b) || (i->pure->which != AND && i->pure->which != MUL) || b != 0)
            return false;
        return out[0] = async_number(0), true;
    }
    if (!async_number_of(&in[1], &b)) {
        if ((i->pure->which != AND && i->pure->which != MUL) || a != 0) return false;
        return out[0] = async_number(0), true;
    }
    if (!compute(i->pure->which, a, b, width, &c)) return false;
    out[0] = async_number(c);
    return true;
}

static bool eval_compare(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x;
    int64_t a, b;
    if (!async_number_of(&in[0], &a) || !async_number_of(&in[1], &b)) return false;
    int width = i->from;
    uint64_t ua = plain(a, width), ub = plain(b, width);
    if (width == 1) a = -(a & 1), b = -(b & 1);
    bool result;
    switch (i->predicate) {
    case 0: result = ua == ub; break;
    case 1: result = ua != ub; break;
    case 2: result = a < b; break;
    case 3: result = a <= b; break;
    case 4: result = a > b; break;
    case 5: result = a >= b; break;
    case 6: result = ua < ub; break;
    case 7: result = ua <= ub; break;
    case 8: result = ua > ub; break;
    case 9: result = ua >= ub; break;
    default: return false;
    }
    out[0] = async_number(result);
    return true;
}

static bool eval_select(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x, (void)i;
    int64_t condition;
    if (!async_number_of(&in[0], &condition)) return false;
    out[0] = condition & 1 ? in[1] : in[2];
    return true;
}

enum { SIGNED, UNSIGNED };

static bool eval_cast(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x;
    int64_t a;
    if (!async_number_of(&in[0], &a)) return false;
    int from = i->from, to = i->width;
    if (i->pure->which == UNSIGNED)
        a = (int64_t)plain(a, from);
    else if (from == 1)
        a = -(a & 1);
    out[0] = async_number(wrap_to(a, to));
    return true;
}

static bool eval_constant(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x, (void)in;
    MlirAttribute value = mlirOperationGetAttributeByName(i->op, cute_text("value"));
    if (mlirAttributeIsNull(value)) return false;
    if (mlirAttributeIsAInteger(value)) {
        out[0] = async_number(wrap_to(mlirIntegerAttrGetValueInt(value), i->width));
        return true;
    }
    if (mlirAttributeIsABool(value)) return out[0] = async_number(mlirBoolAttrGetValue(value)), true;
    return false;
}

/* ---- where a thread is ---- */

enum {
    X,
    Y,
    Z,
    THREAD = 0,
    BLOCK = 3,
    BLOCKS = 6,
    GRID = 9,
    CLUSTER = 12,
    CLUSTERS = 15,
    IN_CLUSTER = 18,
    PER_CLUSTER = 21,
    RANK = 24,
    RANKS,
    LANE,
    WARP,
    WARPS,
    LINEAR
};

static int64_t axis(const int64_t *extent, int64_t linear, int which)
{
    for (int i = 0; i < which; i++) linear /= extent[i];
    return linear % extent[which];
}

static bool where(async_eval *x, const async_instr *i, int which, async_value *out)
{
    const async_setting *s = x->setting;
    if (cute_op_of(i->op, "gpu.")) {
        MlirAttribute dimension = mlirOperationGetAttributeByName(i->op, cute_text("dimension"));
        if (!mlirAttributeIsNull(dimension)) {
            cute_buffer text = {0};
            mlirAttributePrint(dimension, cute_print_to_buffer, &text);
            const char *at = strstr(cute_buffer_text(&text), "dim ");
            if (at && at[4] >= 'x' && at[4] <= 'z') which += at[4] - 'x';
            cute_buffer_release(&text);
        }
    }
    int64_t threads = s->block[0] * s->block[1] * s->block[2];
    if (which < BLOCK || which == LANE || which == LINEAR) {
        async_value *lanes = cute_arena_array(x->arena, 32, sizeof *lanes);
        if (!lanes) return false;
        for (int lane = 0; lane < 32; lane++) {
            int64_t linear = ((int64_t)x->warp * 32 + lane) % threads;
            lanes[lane] = async_number(which == LANE     ? lane
                                       : which == LINEAR ? linear
                                                         : axis(s->block, linear, which));
        }
        out[0] = (async_value){.kind = ASYNC_LANES, .lanes = lanes};
        return true;
    }
    int64_t ctas = s->cluster[0] * s->cluster[1] * s->cluster[2], n;
    if (which < BLOCKS)
        n = axis(s->cluster, x->cta, which - BLOCK);
    else if (which < GRID)
        n = s->block[which - BLOCKS];
    else if (which < CLUSTER)
        n = s->grid[which - GRID];
    else if (which < CLUSTERS)
        n = 0;
    else if (which < IN_CLUSTER)
        n = s->grid[which - CLUSTERS] / s->cluster[which - CLUSTERS];
    else if (which < PER_CLUSTER)
        n = axis(s->cluster, x->cta, which - IN_CLUSTER);
    else if (which < RANK)
        n = s->cluster[which - PER_CLUSTER];
    else if (which == RANK)
        n = x->cta;
    else if (which == RANKS)
        n = ctas;
    else if (which == WARP)
        n = x->warp;
    else
        n = (threads + 31) / 32;
    out[0] = async_number(n);
    return true;
}

static bool eval_where(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)in;
    return where(x, i, i->pure->which, out);
}

static bool eval_where_3(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)in;
    for (int n = 0; n < i->out_count && n < 3; n++)
        if (!where(x, i, i->pure->which + n, &out[n])) return false;
    return true;
}

static bool eval_elect(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)in;
    async_value *lanes = cute_arena_array(x->arena, 32, sizeof *lanes);
    if (!lanes) return false;
    for (int lane = 0; lane < 32; lane++) lanes[lane] = async_number(lane == first_lane(x->mask));
    /* The last result says whether; the others which lane it is. */
    int last = i->out_count - 1;
    for (int r = 0; r < last; r++) out[r] = async_number(first_lane(x->mask));
    out[last] = (async_value){.kind = ASYNC_LANES, .lanes = lanes};
    return true;
}

static bool eval_first(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)i;
    out[0] = async_lane(&in[0], first_lane(x->mask));
    return true;
}

/* What the active lanes say. */
static bool eval_vote(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    uint32_t yes = 0, who = x->mask;
    for (int lane = 0; lane < 32; lane++) {
        int64_t n;
        async_value one = async_lane(&in[0], lane);
        if (!(who >> lane & 1)) continue;
        if (!async_number_of(&one, &n)) return false;
        yes |= (uint32_t)(n & 1) << lane;
    }
    MlirAttribute kind = mlirOperationGetAttributeByName(i->op, cute_text("kind"));
    MlirStringRef name = !mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind)
                             ? mlirStringAttrGetValue(kind)
                             : cute_text("ballot");
    if (cute_text_is(name, "ballot"))
        out[0] = async_number(wrap_to(yes, 32));
    else if (cute_text_is(name, "any"))
        out[0] = async_number(yes != 0);
    else
        out[0] = async_number(yes == who || (cute_text_is(name, "uni") && !yes));
    return true;
}

/* Floating-point data are taken to be NaN, of which all comparisons are known and agree with each other. */
static bool eval_compare_floats(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x, (void)in;
    enum { FIRST_UNORDERED = 8 }; /* of arith's predicates, up to "always true" */
    for (intptr_t o = 0; o < mlirOperationGetNumOperands(i->op); o++) {
        MlirOperation from = cute_defining_op(mlirOperationGetOperand(i->op, o));
        if (!mlirOperationIsNull(from) &&
            (cute_op_is(from, "arith.sitofp") || cute_op_is(from, "arith.uitofp")))
            return false;
    }
    if (i->predicate < 0) return false;
    out[0] = async_number(i->predicate >= FIRST_UNORDERED);
    return true;
}

/* ---- the table ---- */
enum { NO_OPERANDS = 1 << 30 };

#define SREG(name, base)                                                                                     \
    {"nvvm.read.ptx.sreg." name ".x", eval_where, (base) + X, 0, 0},                                         \
        {"nvvm.read.ptx.sreg." name ".y", eval_where, (base) + Y, 0, 0},                                     \
        {"nvvm.read.ptx.sreg." name ".z", eval_where, (base) + Z, 0, 0}

const async_pure async_integers[] = {
    {"arith.constant", eval_constant, 0, 0, ASYNC_CONSTANT},
    {"llvm.mlir.constant", eval_constant, 0, 0, ASYNC_CONSTANT},
    {"arith.addi", eval_binary, ADD, 0, ASYNC_PARTIAL},
    {"arith.subi", eval_binary, SUB, 0, ASYNC_PARTIAL},
    {"arith.muli", eval_binary, MUL, 0, ASYNC_PARTIAL},
    {"arith.divsi", eval_binary, DIVS, 0, ASYNC_PARTIAL},
    {"arith.divui", eval_binary, DIVU, 0, ASYNC_PARTIAL},
    {"arith.floordivsi", eval_binary, FLOORDIV, 0, ASYNC_PARTIAL},
    {"arith.ceildivsi", eval_binary, CEILDIV, 0, ASYNC_PARTIAL},
    {"arith.ceildivui", eval_binary, CEILDIVU, 0, ASYNC_PARTIAL},
    {"arith.remsi", eval_binary, REMS, 0, ASYNC_PARTIAL},
    {"arith.remui", eval_binary, REMU, 0, ASYNC_PARTIAL},
    {"arith.andi", eval_binary, AND, 0, ASYNC_PARTIAL},
    {"arith.ori", eval_binary, OR, 0, ASYNC_PARTIAL},
    {"arith.xori", eval_binary, XOR, 0, ASYNC_PARTIAL},
    {"arith.shli", eval_binary, SHL, 0, ASYNC_PARTIAL},
    {"arith.shrsi", eval_binary, SHRS, 0, ASYNC_PARTIAL},
    {"arith.shrui", eval_binary, SHRU, 0, ASYNC_PARTIAL},
    {"arith.minsi", eval_binary, MINS, 0, ASYNC_PARTIAL},
    {"arith.maxsi", eval_binary, MAXS, 0, ASYNC_PARTIAL},
    {"arith.minui", eval_binary, MINU, 0, ASYNC_PARTIAL},
    {"arith.maxui", eval_binary, MAXU, 0, ASYNC_PARTIAL},
    {"arith.cmpi", eval_compare, 0, 0, 0},
    {"arith.cmpf", eval_compare_floats, 0, NO_OPERANDS, 0},
    {"arith.select", eval_select, 0, 0, ASYNC_PARTIAL},
    {"arith.extsi", eval_cast, SIGNED, 0, 0},
    {"arith.extui", eval_cast, UNSIGNED, 0, 0},
    {"arith.trunci", eval_cast, SIGNED, 0, 0},
    {"arith.index_cast", eval_cast, SIGNED, 0, 0},
    {"arith.index_castui", eval_cast, UNSIGNED, 0, 0},
    SREG("tid", THREAD),
    SREG("ctaid", BLOCK),
    SREG("ntid", BLOCKS),
    SREG("nctaid", GRID),
    SREG("clusterid", CLUSTER),
    SREG("nclusterid", CLUSTERS),
    SREG("cluster.ctaid", IN_CLUSTER),
    SREG("cluster.nctaid", PER_CLUSTER),
    {"nvvm.read.ptx.sreg.cluster.ctarank", eval_where, RANK, 0, 0},
    {"nvvm.read.ptx.sreg.cluster.nctarank", eval_where, RANKS, 0, 0},
    {"nvvm.read.ptx.sreg.laneid", eval_where, LANE, 0, 0},
    {"nvvm.read.ptx.sreg.warpid", eval_where, WARP, 0, 0},
    {"gpu.thread_id", eval_where, THREAD, 0, 0},
    {"gpu.block_id", eval_where, BLOCK, 0, 0},
    {"gpu.block_dim", eval_where, BLOCKS, 0, 0},
    {"gpu.grid_dim", eval_where, GRID, 0, 0},
    {"gpu.cluster_id", eval_where, CLUSTER, 0, 0},
    {"gpu.cluster_dim", eval_where, CLUSTERS, 0, 0},
    {"gpu.cluster_block_id", eval_where, IN_CLUSTER, 0, 0},
    {"gpu.cluster_dim_blocks", eval_where, PER_CLUSTER, 0, 0},
    {"gpu.lane_id", eval_where, LANE, 0, 0},
    {"gpu.subgroup_id", eval_where, WARP, 0, 0},
    {"gpu.num_subgroups", eval_where, WARPS, 0, 0},
    {"nvvm.elect.sync", eval_elect, 0, 0, 0},
    {"cute_nvgpu.arch.elect_one", eval_elect, 0, 0, 0},
    {"cute_nvgpu.arch.make_warp_uniform", eval_first, 0, 0, ASYNC_FIRST_LANE},
    {"cute_nvgpu.arch.warp_broadcast", eval_first, 0, 1, ASYNC_FIRST_LANE},
    {"cute_nvgpu.arch.vote", eval_vote, 0, 0, ASYNC_FIRST_LANE},
    {"nvvm.vote.ballot.sync", eval_vote, 0, 2, ASYNC_FIRST_LANE},
    {"cute_nvgpu.arch.block_in_cluster_idx", eval_where_3, IN_CLUSTER, 0, 0},
    {"cute_nvgpu.arch.block_in_cluster_dim", eval_where_3, PER_CLUSTER, 0, 0},
    {"cute_nvgpu.arch.cluster_idx", eval_where_3, CLUSTER, 0, 0},
    {"cute_nvgpu.arch.cluster_dim", eval_where_3, CLUSTERS, 0, 0},
    {"cute_nvgpu.arch.block_idx_in_cluster", eval_where, RANK, 0, 0},
    {"cute_nvgpu.arch.cluster_size", eval_where, RANKS, 0, 0},
    {0},
};
