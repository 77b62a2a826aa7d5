/* Barriers, wgmma and fences in the static checks (async.h). */
#include "lib/passes/checks/async_events.h"

#include <mlir-c/BuiltinAttributes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/order/barrier.h"
#include "lib/order/proxy.h"

/* ---- happens-before ---- */

async_known *async_known_new(async_machine *m)
{
    async_known *k = cute_arena_alloc(m->arena, sizeof *k);
    if (k) memset(k, 0, sizeof *k);
    return k;
}

void async_release(async_machine *m, async_warp *w, async_known *into)
{
    w->known->seq[w->id] = w->seq++;
    async_known_merge(into, w->known, m->warp_count, m->copy_count);
}

bool async_whole_warp(async_machine *m, async_warp *w, MlirOperation op)
{
    uint32_t all = 0;
    const int64_t *b = m->eval.setting->block;
    int64_t left = b[0] * b[1] * b[2] - (int64_t)w->index * 32;
    all = left >= 32 ? 0xffffffffu : (1u << left) - 1;
    if (w->mask == all) return true;
    async_finding f =
        async_find(ASYNC_BARRIER, op, "is a warp-wide operation, but only %d threads of a warp reach it",
                   __builtin_popcount(w->mask));
    async_stop(m, &f);
    return false;
}

int64_t async_attribute(MlirOperation op, const char *name, int64_t other)
{
    MlirAttribute a = mlirOperationGetAttributeByName(op, cute_text(name));
    return mlirAttributeIsNull(a) || !mlirAttributeIsAInteger(a) ? other : mlirIntegerAttrGetValueInt(a);
}

/* ---- barriers of the block ---- */

static int named_at(async_machine *m, int cta, int id)
{
    for (size_t i = 0; i < m->named_count; i++)
        if (m->named[i].cta == cta && m->named[i].id == id) return (int)i;
    if (!cute_arena_more(m->arena, &m->named, m->named_count, &m->named_capacity, sizeof *m->named, 8))
        return -1;
    async_named *n = &m->named[m->named_count];
    *n = (async_named){.cta = cta, .id = id, .gathered = async_known_new(m)};
    if (!n->gathered) return -1;
    return (int)m->named_count++;
}

static async_step sync_at(async_machine *m, async_warp *w, MlirOperation op, int64_t id, int64_t count,
                          bool waits)
{
    const int64_t *block = m->eval.setting->block;
    int64_t all = block[0] * block[1] * block[2];
    async_finding f;
    if (!async_whole_warp(m, w, op)) return ASYNC_PAUSES;
    int index = id >= 0 && id < ORDER_BARRIERS ? named_at(m, w->cta, (int)id) : -1;
    async_named *n = index < 0 ? NULL : &m->named[index];
    order_barrier valid =
        order_barrier_check(id, count, n && n->arrived ? n->count : 0, order_barrier_all(all));
    if (valid == ORDER_BARRIER_OTHER_COUNT) {
        f = async_find(ASYNC_BARRIER, op,
                       "arrives at barrier %lld for %lld threads, while others wait there for %lld",
                       (long long)id, (long long)count, (long long)n->count);
        async_note(&f, n->op, "the other wait");
    } else if (valid != ORDER_BARRIER_IS_VALID) {
        f = async_find(ASYNC_BARRIER, op,
                       "expected barrier 0 to 15 and a multiple of 32 threads up to the block's %lld, got "
                       "barrier %lld of %lld",
                       (long long)all, (long long)id, (long long)count);
    }
    if (valid != ORDER_BARRIER_IS_VALID) async_stop(m, &f);
    m->stopped |= !n;
    if (m->stopped) return ASYNC_PAUSES;
    n->count = count;
    n->op = op;
    n->arrived += 32;
    async_release(m, w, n->gathered);
    m->activity++;
    if (waits) {
        w->state = ASYNC_AT_BARRIER;
        w->barrier = index;
        w->at = op;
    }
    if (n->arrived < count) return waits ? ASYNC_PAUSES : ASYNC_GOES_ON;
    for (int i = 0; i < m->warp_count; i++) {
        async_warp *o = &m->warps[i];
        if (o->state != ASYNC_AT_BARRIER || o->barrier != index) continue;
        async_known_merge(o->known, n->gathered, m->warp_count, m->copy_count);
        o->state = ASYNC_RUNS;
    }
    n->arrived = 0;
    memset(n->gathered, 0, sizeof *n->gathered);
    return ASYNC_GOES_ON;
}

static async_step sync_block(async_machine *m, async_warp *w, const async_instr *i)
{
    const int64_t *block = m->eval.setting->block;
    int64_t id = 0, count = order_barrier_all(block[0] * block[1] * block[2]), numbers[2];
    if (i->in_count > 2) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    for (int n = 0; n < i->in_count; n++) {
        lane_value v = lane_of(&w->slots[i->in[n]], 0);
        if (!lane_number_of(&v, &numbers[n])) {
            m->stopped = true;
            return ASYNC_PAUSES;
        }
    }
    MlirAttribute sizes = mlirOperationGetAttributeByName(i->op, cute_text("operandSegmentSizes"));
    bool only_count = !mlirAttributeIsNull(sizes) && mlirAttributeIsADenseI32Array(sizes) &&
                      mlirDenseArrayGetNumElements(sizes) == 2 && mlirDenseI32ArrayGetElement(sizes, 0) == 0;
    if (i->in_count == 1 && only_count)
        count = numbers[0];
    else if (i->in_count > 0)
        id = numbers[0];
    if (i->in_count == 2) count = numbers[1];
    return sync_at(m, w, i->op, id, count, i->event != ASYNC_EV_NAMED_ARRIVE);
}

/* ---- clusters ---- */

static bool cluster_ready(async_machine *m)
{
    for (int i = 0; i < m->warp_count; i++)
        if (m->warps[i].state != ASYNC_ENDED && !m->warps[i].cluster_arrived) return false;
    async_known_merge(m->cluster_acquired, m->cluster_gathered, m->warp_count, m->copy_count);
    m->cluster_phase++;
    m->activity++;
    for (int i = 0; i < m->warp_count; i++) m->warps[i].cluster_arrived = false;
    return true;
}

static async_step cluster_arrive(async_machine *m, async_warp *w, MlirOperation op)
{
    if (!async_whole_warp(m, w, op)) return ASYNC_PAUSES;
    if (order_cluster_out_of_turn(w->cluster_waits ? w->mask : 0, w->mask, true)) {
        async_finding f =
            async_find(ASYNC_BARRIER, op, "arrives at the cluster barrier twice without a wait in between");
        async_stop(m, &f);
        return ASYNC_PAUSES;
    }
    w->cluster_arrived = w->cluster_waits = true;
    w->cluster_phase = m->cluster_phase;
    bool relaxed = !mlirAttributeIsNull(mlirOperationGetAttributeByName(op, cute_text("relaxed"))) ||
                   cute_op_is(op, "nvvm.cluster.arrive.relaxed");
    bool first = !w->cluster_relaxed && !w->cluster_released; /* behind the initialisation of mbarriers */
    *(relaxed ? &w->cluster_relaxed : &w->cluster_released) = w->seq;
    uint32_t *gathered = &m->cluster_gathered->seq[w->id];
    if (!relaxed || first)
        async_release(m, w, m->cluster_gathered);
    else if (w->init_fence > *gathered)
        *gathered = w->init_fence; /* only the initialisation of mbarriers */
    m->activity++;
    return ASYNC_GOES_ON;
}

static async_step cluster_wait(async_machine *m, async_warp *w, MlirOperation op)
{
    if (order_cluster_out_of_turn(w->cluster_waits ? w->mask : 0, w->mask, false)) {
        async_finding f =
            async_find(ASYNC_BARRIER, op,
                       "waits at the cluster barrier without having arrived: expected cluster_arrive first");
        async_stop(m, &f);
        return ASYNC_PAUSES;
    }
    w->at = op;
    if (m->cluster_phase == w->cluster_phase && !cluster_ready(m)) {
        w->state = ASYNC_AT_CLUSTER;
        return ASYNC_AGAIN;
    }
    w->state = ASYNC_RUNS;
    w->cluster_waits = false;
    async_known_merge(w->known, m->cluster_acquired, m->warp_count, m->copy_count);
    return ASYNC_GOES_ON;
}

bool async_cluster_over(async_machine *m, const async_warp *w)
{
    return m->cluster_phase != w->cluster_phase || cluster_ready(m);
}

/* ---- wgmma ---- */

static async_accumulator *find_accumulator(async_warp *w, int region)
{
    for (int i = 0; i < w->accumulator_count; i++)
        if (w->accumulators[i].region == region) return &w->accumulators[i];
    if (region < 0 || w->accumulator_count == ASYNC_ACCUMULATORS) return NULL;
    async_accumulator *a = &w->accumulators[w->accumulator_count++];
    *a = (async_accumulator){.region = region};
    return a;
}

static async_products *products_of(const async_machine *m, const async_warp *w)
{
    return &m->groups[w->cta * m->block_warps + w->index / 4];
}

/* The asynchronous operation of the open wgmma group of `w`. */
static int product_copy(async_machine *m, async_warp *w, MlirOperation op)
{
    async_products *p = products_of(m, w);
    while (p->count <= w->products.groups) {
        if (!cute_arena_more(m->arena, &p->copies, p->count, &p->capacity, sizeof *p->copies, 64)) return -1;
        p->copies[p->count] = async_copy_new(m, (async_copy){.op = op, .warp = w->id, .kind = ASYNC_PRODUCT});
        if (p->copies[p->count] < 0) return -1;
        p->count++;
    }
    return p->copies[w->products.groups];
}

/* M, N, K and element bits of an MMA atom. */
static bool product_shape(const cute_atom *atom, int64_t shape[3], int bits[2])
{
    const char *at = strstr(atom->text, "mma<"), *types = strstr(atom->text, "elem_type = (");
    if (!types) types = strstr(atom->text, "elem_type=(");
    if (!at || !types) return false;
    char *end = (char *)at + 4;
    for (int i = 0; i < 3; i++) {
        shape[i] = strtol(end, &end, 10);
        if (shape[i] < 1 || shape[i] > 1024 || (i < 2 && *end++ != 'x')) return false;
    }
    types = strchr(types, '(');
    for (int i = 0; i < 2; i++) {
        types += strcspn(types, "0123456789");
        bits[i] = (int)strtol(types, &end, 10);
        types = strchr(end, ',');
        if (!types || bits[i] < 1 || bits[i] > 64) return false;
    }
    return true;
}

/* Reports a wgmma whose registers are not ready, or the first one without a preceding fence. */
static void tell_use(async_machine *m, MlirOperation op, order_use use, const async_accumulator *a)
{
    static const char *const why[] = {
        [ORDER_FIRST_PRODUCT] = "has no preceding wgmma.fence: expected one before the first wgmma",
        [ORDER_AFTER_WRITE] =
            "reads registers written without a subsequent wgmma.fence: expected one before this",
        [ORDER_AFTER_READ] =
            "accumulates in registers read without a subsequent wgmma.fence: expected one before this",
        [ORDER_WAS_OPERAND] = "accumulates in registers that were an operand of another wgmma: expected "
                              "wgmma.fence before this",
        [ORDER_WAS_ACCUMULATOR] =
            "reads registers that were the accumulator of another wgmma: expected wgmma.fence before this",
        [ORDER_OTHER_SHAPE] =
            "accumulates in registers of a wgmma of another shape: expected wgmma.fence before this",
        [ORDER_OPERAND_PENDING] =
            "reads registers that another wgmma may still write: expected wgmma.wait_group before this"};
    async_finding f =
        async_find(use == ORDER_OPERAND_PENDING ? ASYNC_ACCUMULATOR : ASYNC_WGMMA_FENCE, op, "%s", why[use]);
    if (use == ORDER_AFTER_WRITE || use == ORDER_AFTER_READ)
        async_note(&f, a->user, use == ORDER_AFTER_WRITE ? "the write" : "the read");
    else if (a)
        async_note(&f, a->op, "the other wgmma");
    async_tell(m->report, &f);
}

static async_step run_wgmma(async_machine *m, async_warp *w, const async_instr *i)
{
    if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
    int copy = product_copy(m, w, i->op);
    if (copy < 0) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    m->copies[copy].op = i->op;
    const cute_value *mma = cute_type_peek(mlirValueGetType(mlirOperationGetOperand(i->op, 0)));
    int64_t shape[3];
    int bits[2];
    w->seq++;
    bool known = mma && mma->atom && product_shape(mma->atom, shape, bits);
    for (int o = 2; o <= 3 && known && i->in[o] >= 0; o++) {
        const lane_value *v = &w->slots[i->in[o]];
        lane_place at;
        if (v->kind != LANE_VALUE || !v->value->pointer || strcmp(v->value->pointer->element, "i128") != 0)
            continue;
        if (!lane_place_of(v, &at)) continue;
        async_access access = {.kind = ASYNC_PROXY_READ,
                               .warp = w->id,
                               .seq = w->seq,
                               .copy = copy,
                               .op = i->op,
                               .swizzle = lane_swizzle_of(v->value)};
        if (!async_touch(m, w, &at, shape[o - 2] * shape[2] * bits[o - 2] / 8, &access)) return ASYNC_PAUSES;
    }
    bool first = order_product_begins(&w->products), told = false;
    uint32_t kind = known ? (uint32_t)shape[1] << 16 | (uint32_t)shape[2] : 0;
    for (int o = 0; o < 2; o++) {
        async_accumulator *a = find_accumulator(w, o ? i->a_registers : i->which);
        if (!a) continue;
        order_use use = order_product_takes(&w->products, &a->of, !o, kind);
        if (use != ORDER_USE_IS_VALID && !told) tell_use(m, i->op, use, a);
        told |= use != ORDER_USE_IS_VALID;
        a->op = i->op;
    }
    if (first && !told) tell_use(m, i->op, ORDER_FIRST_PRODUCT, NULL);
    return ASYNC_GOES_ON;
}

static void commit_wgmma(async_machine *m, async_warp *w, MlirOperation op)
{
    if (!async_whole_warp(m, w, op)) return;
    async_products *p = products_of(m, w);
    if (product_copy(m, w, op) < 0) {
        m->stopped = true;
        return;
    }
    m->copies[p->copies[w->products.groups]].committed = true;
    order_products_commit(&w->products);
}

bool async_products_together(const async_machine *m, const async_warp *w)
{
    int first = w->id - w->index % 4;
    for (int i = first; i < first + 4 && i < (w->cta + 1) * m->block_warps; i++)
        if (m->warps[i].products.groups < w->products.groups) return false;
    return true;
}

static async_step product_wait(async_machine *m, async_warp *w, const async_instr *i)
{
    if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
    w->at = i->op;
    if (!async_products_together(m, w)) {
        w->state = ASYNC_AT_PRODUCT;
        return ASYNC_AGAIN;
    }
    int64_t left = async_attribute(i->op, "group", async_attribute(i->op, "groups", 0));
    uint32_t done = order_groups_done(w->products.groups, (uint64_t)left);
    async_products *p = products_of(m, w);
    for (; w->product_waited < done; w->product_waited++)
        async_known_set(w->known, p->copies[w->product_waited]);
    order_products_wait(&w->products, done);
    return ASYNC_GOES_ON;
}

static void access_accumulator(async_machine *m, async_warp *w, const async_instr *i)
{
    async_accumulator *a = find_accumulator(w, i->which);
    if (!a) return;
    bool open = !order_is_in_group(&w->products, &a->of);
    if (order_registers_touched(&w->products, &a->of, i->writes) != ORDER_USE_IS_VALID) {
        async_finding f =
            async_find(open ? ASYNC_WGMMA : ASYNC_ACCUMULATOR, i->op,
                       open ? "%s registers of a wgmma that was not committed: expected wgmma.commit_group, "
                              "then wgmma.wait_group"
                            : "%s registers of a wgmma before wgmma.wait_group has waited for it",
                       i->writes ? "writes" : "reads");
        async_note(&f, a->op, "the wgmma");
        async_tell(m->report, &f);
        if (open) m->stopped = m->found = true;
        a->of.product = 0; /* report it once */
    }
    if (i->writes || !a->of.written) a->user = i->op;
}

/* ---- fences, registers ---- */

static void fence_proxy(async_machine *m, async_warp *w, MlirOperation op)
{
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    cute_buffer text = {0};
    if (!mlirAttributeIsNull(kind)) mlirAttributePrint(kind, cute_print_to_buffer, &text);
    const char *name = cute_buffer_text(&text);
    unsigned spaces = order_proxy_fence(mlirAttributeIsNull(kind) || strstr(name, "async"),
                                        strstr(name, "shared"), strstr(name, "global"));
    cute_buffer_release(&text);
    if (!(spaces & ORDER_SHARED)) return;
    if (!cute_arena_more(m->arena, &w->fences, w->fence_count, &w->fence_capacity, sizeof *w->fences, 16))
        return;
    w->fences[w->fence_count++] = w->seq++;
    memcpy(w->fenced, w->known->seq, sizeof w->fenced);
    w->fenced[w->id] = w->seq - 1;
}

static async_step run_inline_asm(async_machine *m, async_warp *w, const async_instr *i)
{
    MlirStringRef text =
        mlirStringAttrGetValue(mlirOperationGetAttributeByName(i->op, cute_text("asm_string")));
    bool one = cute_text_is(text, "bar.sync $0;"), two = cute_text_is(text, "bar.sync $0, $1;");
    if ((one && i->in_count == 1) || (two && i->in_count == 2)) return sync_block(m, w, i);
    m->stopped = true;
    return ASYNC_PAUSES;
}

async_step async_event_do(async_machine *m, async_warp *w, const async_instr *i)
{
    switch (i->event) {
    case ASYNC_EV_INIT:
    case ASYNC_EV_ARRIVE:
    case ASYNC_EV_ARRIVE_EXPECT:
    case ASYNC_EV_EXPECT:
    case ASYNC_EV_WAIT:
    case ASYNC_EV_TEST:
    case ASYNC_EV_INVAL:
    case ASYNC_EV_COMPLETE: return async_mbarrier_do(m, w, i);
    case ASYNC_EV_FENCE_INIT: w->init_fence = w->seq++; return ASYNC_GOES_ON;
    case ASYNC_EV_FENCE_PROXY: fence_proxy(m, w, i->op); return ASYNC_GOES_ON;
    case ASYNC_EV_NAMED_ARRIVE:
    case ASYNC_EV_SYNC: return sync_block(m, w, i);
    case ASYNC_EV_ASM: return run_inline_asm(m, w, i);
    case ASYNC_EV_CLUSTER_ARRIVE: return cluster_arrive(m, w, i->op);
    case ASYNC_EV_CLUSTER_WAIT: return cluster_wait(m, w, i->op);
    case ASYNC_EV_CLUSTER_SYNC:
        if (!w->cluster_waits) {
            async_step arrived = cluster_arrive(m, w, i->op);
            if (m->stopped) return arrived;
        }
        return cluster_wait(m, w, i->op);
    case ASYNC_EV_TENSOR_COPY:
    case ASYNC_EV_SEND:
    case ASYNC_EV_ACCESS:
    case ASYNC_EV_BULK_COMMIT:
    case ASYNC_EV_BULK_WAIT: return async_copy_do(m, w, i);
    case ASYNC_EV_GEMM: return run_wgmma(m, w, i);
    case ASYNC_EV_WGMMA_FENCE: w->products.fences++; return ASYNC_GOES_ON;
    case ASYNC_EV_WGMMA_COMMIT: commit_wgmma(m, w, i->op); return ASYNC_GOES_ON;
    case ASYNC_EV_WGMMA_WAIT: return product_wait(m, w, i);
    case ASYNC_EV_TOUCH: access_accumulator(m, w, i); return ASYNC_GOES_ON;
    case ASYNC_EV_REGISTERS:
        if (!async_whole_warp(m, w, i->op)) return ASYNC_PAUSES;
        w->registers = (int)async_attribute(i->op, "regCount", async_attribute(i->op, "registers", 0));
        w->registers_at = i->op;
        return ASYNC_GOES_ON;
    case ASYNC_EV_NONE:
    case ASYNC_EV_TXN: break;
    }
    return ASYNC_GOES_ON;
}

/* ---- the end ---- */

void async_registers(async_machine *m)
{
    int64_t sum = 0, threads = (int64_t)m->block_warps * 32, own = CUTE_SM_REGISTERS / threads / 8 * 8;
    const async_warp *most = NULL;
    if (own > 255) own = 248;
    bool whole = true; /* the registers of each warpgroup are known */
    for (int i = 0; i < m->block_warps; i += 4) {
        const async_warp *first = &m->warps[i], *w = first;
        for (int n = 1; n < 4 && i + n < m->block_warps; n++) {
            const async_warp *o = &m->warps[i + n];
            bool both = (first->registers || first->state == ASYNC_ENDED) &&
                        (o->registers || o->state == ASYNC_ENDED);
            if (both && o->registers != first->registers) w = o;
        }
        whole &= first->registers || first->state == ASYNC_ENDED;
        if (w != first) {
            MlirOperation at = first->registers ? first->registers_at : w->registers_at;
            async_finding f = async_find(ASYNC_REGISTERS, at,
                                         "setmaxnreg applies to the four warps of a warpgroup: warp %d has "
                                         "%d registers, warp %d has %d",
                                         first->index, first->registers, w->index, w->registers);
            async_tell(m->report, &f);
            return;
        }
        int64_t registers = first->registers ? first->registers : own;
        int64_t warps = m->block_warps - i < 4 ? m->block_warps - i : 4;
        sum += registers * warps * 32;
        if (first->registers && (!most || most->registers < first->registers)) most = first;
    }
    if (!most || !whole || sum <= CUTE_SM_REGISTERS) return;
    async_finding f =
        async_find(ASYNC_REGISTERS, most->registers_at,
                   "the warpgroups of the block request %lld registers, a multiprocessor has %d: deadlock",
                   (long long)sum, CUTE_SM_REGISTERS);
    for (int i = 0; i < m->block_warps; i += 4)
        if (m->warps[i].registers && &m->warps[i] != most)
            async_note(&f, m->warps[i].registers_at, "warp %d has %d", i, m->warps[i].registers);
        else if (!m->warps[i].registers)
            async_note(&f, m->program->kernel, "warp %d has the %lld of the launch", i, (long long)own);
    async_tell(m->report, &f);
}

void async_reach(async_machine *m, const async_warp *w, int cta, int copy, MlirOperation op)
{
    if (cta == w->cta) return;
    async_remote *r = NULL;
    for (size_t i = 0; i < m->remote_count && !r; i++)
        if (m->remotes[i].warp == w->id && m->remotes[i].cta == cta && (m->remotes[i].copy < 0) == (copy < 0))
            r = &m->remotes[i];
    if (!r) {
        if (!cute_arena_more(m->arena, &m->remotes, m->remote_count, &m->remote_capacity, sizeof *m->remotes,
                             32))
            return;
        r = &m->remotes[m->remote_count++];
    }
    *r = (async_remote){w->id, cta, w->seq, copy, op};
}

/* Whether block `cta` knows at its exit that a remote access to its memory is complete. */
static bool is_over(const async_machine *m, const async_remote *r)
{
    for (int w = r->cta * m->block_warps; w < (r->cta + 1) * m->block_warps; w++)
        if (r->copy < 0 ? m->warps[w].known->seq[r->warp] >= r->seq
                        : async_known_done(m->warps[w].known, r->copy))
            return true;
    return false;
}

/* A block must not exit before other blocks have finished using its shared memory. */
static void check_exits(async_machine *m)
{
    for (int dropped = 0; dropped < 2 && !m->stopped; dropped++)
        for (size_t i = 0; i < m->remote_count && !m->stopped; i++) {
            const async_remote *r = &m->remotes[i];
            order_late_use use = r->copy < 0                                     ? ORDER_LATE_ARRIVAL
                                 : cute_op_is(r->op, "cute_nvgpu.arch.st_async") ? ORDER_LATE_STORE
                                                                                 : ORDER_LATE_COPY;
            if (order_late_use_is_dropped(use) != dropped || is_over(m, r)) continue;
            async_finding f =
                async_find(dropped ? ASYNC_BLOCK_END : ASYNC_ORDER, r->op,
                           "%s in block %d of the cluster, which may have exited: expected cluster_arrive, "
                           "not relaxed, and cluster_wait by all threads at the end",
                           r->copy < 0 ? "arrives at an mbarrier" : "writes shared memory", r->cta);
            async_tell(m->report, &f);
            m->found = true;
            if (!dropped) m->stopped = true;
        }
}

void async_end(async_machine *m)
{
    check_exits(m);
    if (m->stopped) return;
    for (int i = 0; i < m->warp_count; i++) {
        const async_warp *w = &m->warps[i];
        if (!w->store_count) continue;
        async_finding f =
            async_find(ASYNC_STORE_TAIL, m->copies[w->stores[0]].op,
                       "the block exits while the store may still read its shared memory: expected "
                       "cp.async.bulk.wait_group.read of 0 groups by the thread that issued it");
        async_tell(m->report, &f);
        break;
    }
    for (size_t i = 0; i < m->barrier_count; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (b->waited_ever || mlirOperationIsNull(b->first_arrive)) continue;
        async_finding f =
            async_find(ASYNC_UNUSED, b->first_arrive, "arrives at an mbarrier that no thread waits for");
        async_note(&f, b->init, "it is initialised here");
        async_tell(m->report, &f);
        return;
    }
}
