/* Integers in the lanes of a warp (values.h): operations of arith and llvm, and the coordinates of threads. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <string.h>

#include "lib/base/numbers/integers.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/values/values.h"

static int first_lane(uint32_t mask)
{
    return mask ? __builtin_ctz(mask) : 0;
}

static bool eval_binary(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    if (in[0].kind == LANE_ADDRESS || in[1].kind == LANE_ADDRESS) return lane_eval_address(x, i, in, out);
    int64_t a, b, c;
    bool left = lane_number_of(&in[0], &a), right = lane_number_of(&in[1], &b);
    cute_integer_op op = (cute_integer_op)i->rule->which;
    if (left && right) {
        if (!cute_integer_compute(op, a, b, i->width, &c)) return false;
        return out[0] = lane_number(cute_integer_plain(c, i->width)), true;
    }
    /* What one side decides alone. */
    if ((op != CUTE_INTEGER_AND && op != CUTE_INTEGER_MUL) || !((left && !a) || (right && !b))) return false;
    return out[0] = lane_number(0), true;
}

static bool eval_compare(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x;
    lane_place a, b;
    bool result;
    if (!lane_cell_of(&in[0], &a) || !lane_cell_of(&in[1], &b) || a.root != b.root ||
        !cute_integer_compare(i->predicate, a.byte, b.byte, i->from, &result))
        return false;
    out[0] = lane_number(result);
    return true;
}

static bool eval_select(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x, (void)i;
    int64_t condition;
    if (!lane_number_of(&in[0], &condition)) return false;
    out[0] = condition & 1 ? in[1] : in[2];
    return true;
}

enum { SIGNED, UNSIGNED };

static bool eval_cast(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    lane_place a;
    if (!lane_cell_of(&in[0], &a)) return false;
    int from = i->from, to = i->width;
    a.byte = i->rule->which == UNSIGNED ? (int64_t)cute_integer_bits(a.byte, from)
                                        : cute_integer_fit(a.byte, from);
    a.byte = cute_integer_plain(a.byte, to);
    out[0] = lane_of_cell(x->arena, a);
    return true;
}

static bool eval_constant(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)x, (void)in;
    MlirAttribute value = mlirOperationGetAttributeByName(i->op, cute_text("value"));
    if (mlirAttributeIsNull(value)) return false;
    if (mlirAttributeIsAInteger(value)) {
        out[0] = lane_number(cute_integer_plain(mlirIntegerAttrGetValueInt(value), i->width));
        return true;
    }
    if (mlirAttributeIsABool(value)) return out[0] = lane_number(mlirBoolAttrGetValue(value)), true;
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

static bool where(lane_eval *x, const lane_op *i, int which, lane_value *out)
{
    const lane_setting *s = x->setting;
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
        lane_value *lanes = cute_arena_array(x->arena, 32, sizeof *lanes);
        if (!lanes) return false;
        for (int lane = 0; lane < 32; lane++) {
            int64_t linear = (int64_t)x->warp * 32 + lane;
            if (threads) linear %= threads;
            lanes[lane] = lane_number(which == LANE     ? lane
                                      : which == LINEAR ? linear
                                      : threads         ? axis(s->block, linear, which)
                                      : which           ? 0
                                                        : linear);
        }
        out[0] = (lane_value){.kind = LANE_EACH, .lanes = lanes};
        return true;
    }
    if (!threads && which >= BLOCKS && which < GRID) return false;
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
    out[0] = lane_number(n);
    return true;
}

static bool eval_where(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)in;
    return where(x, i, i->rule->which, out);
}

static bool eval_where_3(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)in;
    for (int n = 0; n < i->out_count && n < 3; n++)
        if (!where(x, i, i->rule->which + n, &out[n])) return false;
    return true;
}

static bool eval_elect(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)in;
    lane_value *lanes = cute_arena_array(x->arena, 32, sizeof *lanes);
    if (!lanes) return false;
    for (int lane = 0; lane < 32; lane++) lanes[lane] = lane_number(lane == first_lane(x->mask));
    /* The last result says whether; the others which lane it is. */
    int last = i->out_count - 1;
    for (int r = 0; r < last; r++) out[r] = lane_number(first_lane(x->mask));
    out[last] = (lane_value){.kind = LANE_EACH, .lanes = lanes};
    return true;
}

static bool eval_first(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    (void)i;
    out[0] = lane_of(&in[0], first_lane(x->mask));
    return true;
}

/* The votes of the active lanes. */
static bool eval_vote(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
{
    uint32_t yes = 0, who = x->mask;
    for (int lane = 0; lane < 32; lane++) {
        int64_t n;
        lane_value one = lane_of(&in[0], lane);
        if (!(who >> lane & 1)) continue;
        if (!lane_number_of(&one, &n)) return false;
        yes |= (uint32_t)(n & 1) << lane;
    }
    MlirAttribute kind = mlirOperationGetAttributeByName(i->op, cute_text("kind"));
    MlirStringRef name = !mlirAttributeIsNull(kind) && mlirAttributeIsAString(kind)
                             ? mlirStringAttrGetValue(kind)
                             : cute_text("ballot");
    if (cute_text_is(name, "ballot"))
        out[0] = lane_number(cute_integer_plain(yes, 32));
    else if (cute_text_is(name, "any"))
        out[0] = lane_number(yes != 0);
    else
        out[0] = lane_number(yes == who || (cute_text_is(name, "uni") && !yes));
    return true;
}

/* Floating-point data are taken to be NaN, of which all comparisons are known and agree with each other. */
static bool eval_compare_floats(lane_eval *x, const lane_op *i, const lane_value *in, lane_value *out)
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
    out[0] = lane_number(i->predicate >= FIRST_UNORDERED);
    return true;
}

/* ---- the table ---- */
enum { NO_OPERANDS = 1 << 30 };

#define SREG(name, base, user)                                                                               \
    {"nvvm.read.ptx.sreg." name ".x", eval_where, (base) + X, 0, user},                                      \
        {"nvvm.read.ptx.sreg." name ".y", eval_where, (base) + Y, 0, user},                                  \
    {                                                                                                        \
        "nvvm.read.ptx.sreg." name ".z", eval_where, (base) + Z, 0, user                                     \
    }

static const lane_rule rules[] = {
    {"arith.constant", eval_constant, 0, 0, LANE_ANY | LANE_CONSTANT},
    {"llvm.mlir.constant", eval_constant, 0, 0, LANE_ANY | LANE_CONSTANT},
#define CUTE_INTEGER(id, plan, arith, llvm, ...)                                                             \
    {arith, eval_binary, CUTE_INTEGER_##id, 0, LANE_RUN | LANE_PARTIAL},                                     \
        {arith, eval_binary, CUTE_INTEGER_##id, 0, LANE_LOWERED},                                            \
        {llvm, eval_binary, CUTE_INTEGER_##id, 0, LANE_LOWERED},
#include "lib/base/numbers/integers.def"
    {"arith.cmpi", eval_compare, 0, 0, LANE_ANY},
    {"llvm.icmp", eval_compare, 0, 0, LANE_LOWERED},
    {"arith.cmpf", eval_compare_floats, 0, NO_OPERANDS, LANE_RUN},
    {"arith.select", eval_select, 0, 0, LANE_ANY | LANE_PARTIAL},
    {"llvm.select", eval_select, 0, 0, LANE_LOWERED | LANE_PARTIAL},
    {"arith.extsi", eval_cast, SIGNED, 0, LANE_ANY},
    {"arith.extui", eval_cast, UNSIGNED, 0, LANE_ANY},
    {"arith.trunci", eval_cast, SIGNED, 0, LANE_ANY},
    {"arith.index_cast", eval_cast, SIGNED, 0, LANE_ANY},
    {"arith.index_castui", eval_cast, UNSIGNED, 0, LANE_ANY},
    {"llvm.sext", eval_cast, SIGNED, 0, LANE_LOWERED},
    {"llvm.zext", eval_cast, UNSIGNED, 0, LANE_LOWERED},
    {"llvm.trunc", eval_cast, SIGNED, 0, LANE_LOWERED},
    SREG("tid", THREAD, LANE_ANY),
    SREG("ctaid", BLOCK, LANE_ANY),
    SREG("ntid", BLOCKS, LANE_ANY),
    SREG("nctaid", GRID, LANE_RUN),
    SREG("clusterid", CLUSTER, LANE_RUN),
    SREG("nclusterid", CLUSTERS, LANE_RUN),
    SREG("cluster.ctaid", IN_CLUSTER, LANE_RUN),
    SREG("cluster.nctaid", PER_CLUSTER, LANE_RUN),
    {"nvvm.read.ptx.sreg.cluster.ctarank", eval_where, RANK, 0, LANE_RUN},
    {"nvvm.read.ptx.sreg.cluster.nctarank", eval_where, RANKS, 0, LANE_RUN},
    {"nvvm.read.ptx.sreg.laneid", eval_where, LANE, 0, LANE_ANY},
    {"nvvm.read.ptx.sreg.warpid", eval_where, WARP, 0, LANE_RUN},
    {"gpu.thread_id", eval_where, THREAD, 0, LANE_ANY},
    {"gpu.block_id", eval_where, BLOCK, 0, LANE_ANY},
    {"gpu.block_dim", eval_where, BLOCKS, 0, LANE_ANY},
    {"gpu.grid_dim", eval_where, GRID, 0, LANE_RUN},
    {"gpu.cluster_id", eval_where, CLUSTER, 0, LANE_RUN},
    {"gpu.cluster_dim", eval_where, CLUSTERS, 0, LANE_RUN},
    {"gpu.cluster_block_id", eval_where, IN_CLUSTER, 0, LANE_RUN},
    {"gpu.cluster_dim_blocks", eval_where, PER_CLUSTER, 0, LANE_RUN},
    {"gpu.lane_id", eval_where, LANE, 0, LANE_ANY},
    {"gpu.subgroup_id", eval_where, WARP, 0, LANE_RUN},
    {"gpu.num_subgroups", eval_where, WARPS, 0, LANE_RUN},
    {"nvvm.elect.sync", eval_elect, 0, 0, LANE_RUN},
    {"cute_nvgpu.arch.elect_one", eval_elect, 0, 0, LANE_RUN},
    {"cute_nvgpu.arch.make_warp_uniform", eval_first, 0, 0, LANE_RUN | LANE_FIRST_LANE},
    {"cute_nvgpu.arch.warp_broadcast", eval_first, 0, 1, LANE_RUN | LANE_FIRST_LANE},
    {"cute_nvgpu.arch.vote", eval_vote, 0, 0, LANE_RUN | LANE_FIRST_LANE},
    {"nvvm.vote.ballot.sync", eval_vote, 0, 2, LANE_RUN | LANE_FIRST_LANE},
    {"cute_nvgpu.arch.block_in_cluster_idx", eval_where_3, IN_CLUSTER, 0, LANE_RUN},
    {"cute_nvgpu.arch.block_in_cluster_dim", eval_where_3, PER_CLUSTER, 0, LANE_RUN},
    {"cute_nvgpu.arch.cluster_idx", eval_where_3, CLUSTER, 0, LANE_RUN},
    {"cute_nvgpu.arch.cluster_dim", eval_where_3, CLUSTERS, 0, LANE_RUN},
    {"cute_nvgpu.arch.block_idx_in_cluster", eval_where, RANK, 0, LANE_RUN},
    {"cute_nvgpu.arch.cluster_size", eval_where, RANKS, 0, LANE_RUN},
};
const lane_rules lane_integer_rules = {rules, sizeof rules / sizeof *rules};
