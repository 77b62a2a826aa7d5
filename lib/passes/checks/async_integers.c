/* Integers of a kernel that runs while it is compiled (async.h): operations of arith, and where a thread is. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/numbers/integers.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async.h"

static int first_lane(uint32_t mask)
{
    return mask ? __builtin_ctz(mask) : 0;
}

static bool eval_binary(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x;
    int64_t a, b, c;
    bool left = async_number_of(&in[0], &a), right = async_number_of(&in[1], &b);
    cute_integer_op op = (cute_integer_op)i->pure->which;
    if (left && right) {
        if (!cute_integer_compute(op, a, b, i->width, &c)) return false;
        return out[0] = async_number(cute_integer_plain(c, i->width)), true;
    }
    /* What one side decides alone. */
    if ((op != CUTE_INTEGER_AND && op != CUTE_INTEGER_MUL) || !((left && !a) || (right && !b))) return false;
    return out[0] = async_number(0), true;
}

static bool eval_compare(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x;
    int64_t a, b;
    if (!async_number_of(&in[0], &a) || !async_number_of(&in[1], &b)) return false;
    bool result;
    if (!cute_integer_compare(i->predicate, a, b, i->from, &result)) return false;
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
    a = i->pure->which == UNSIGNED ? (int64_t)cute_integer_bits(a, from) : cute_integer_fit(a, from);
    out[0] = async_number(cute_integer_plain(a, to));
    return true;
}

static bool eval_constant(async_eval *x, const async_instr *i, const async_value *in, async_value *out)
{
    (void)x, (void)in;
    MlirAttribute value = mlirOperationGetAttributeByName(i->op, cute_text("value"));
    if (mlirAttributeIsNull(value)) return false;
    if (mlirAttributeIsAInteger(value)) {
        out[0] = async_number(cute_integer_plain(mlirIntegerAttrGetValueInt(value), i->width));
        return true;
    }
    if (mlirAttributeIsABool(value)) return out[0] = async_number(mlirBoolAttrGetValue(value)), true;
    return false;
}

/* ---- thread coordinates ---- */

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
        out[0] = async_number(cute_integer_plain(yes, 32));
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
#define CUTE_INTEGER(id, plan, arith, ...) {arith, eval_binary, CUTE_INTEGER_##id, 0, ASYNC_PARTIAL},
#include "lib/base/numbers/integers.def"
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
