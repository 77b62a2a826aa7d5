/* Slices a kernel to a program of its synchronisation (async.h): events, the values that they use, and the
 * loops and branches around them. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/list.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async.h"

/* ---- events ---- */

enum { ALL = 0, NONE = 1 << 30 };

typedef struct event_row {
    const char *name;
    async_event event;
    int which;
    int operands; /* bit set of the operands whose values matter; ALL, NONE */
} event_row;

static const event_row events[] = {
    {"nvvm.mbarrier.init", ASYNC_EV_INIT, 0, ALL},
    {"nvvm.mbarrier.init.shared", ASYNC_EV_INIT, 0, ALL},
    {"cute_nvgpu.arch.mbarrier_init", ASYNC_EV_INIT, 0, ALL},
    {"nvvm.mbarrier.txn", ASYNC_EV_TXN, 0, ALL},
    {"nvvm.mbarrier.arrive", ASYNC_EV_ARRIVE, 0, ALL},
    {"nvvm.mbarrier.arrive.shared", ASYNC_EV_ARRIVE, 0, ALL},
    {"cute_nvgpu.arch.mbarrier_arrive", ASYNC_EV_ARRIVE, 0, ALL},
    {"nvvm.mbarrier.arrive.expect_tx", ASYNC_EV_ARRIVE_EXPECT, 0, ALL},
    {"nvvm.mbarrier.arrive.expect_tx.shared", ASYNC_EV_ARRIVE_EXPECT, 0, ALL},
    {"cute_nvgpu.arch.mbarrier_arrive_and_expect_tx", ASYNC_EV_ARRIVE_EXPECT, 0, ALL},
    {"cute_nvgpu.arch.mbarrier_expect_tx", ASYNC_EV_EXPECT, 0, ALL},
    {"nvvm.mbarrier.try_wait.parity", ASYNC_EV_WAIT, 0, 3},
    {"nvvm.mbarrier.try_wait.parity.shared", ASYNC_EV_WAIT, 0, 3},
    {"cute_nvgpu.arch.mbarrier_wait", ASYNC_EV_WAIT, 0, 3},
    {"nvvm.mbarrier.wait.parity", ASYNC_EV_TEST, 0, 3},
    {"cute_nvgpu.arch.mbarrier_try_wait", ASYNC_EV_TEST, 0, 3},
    {"cute_nvgpu.arch.mbarrier_test_wait", ASYNC_EV_TEST, 0, 3},
    {"cute_nvgpu.arch.mbarrier_conditional_try_wait", ASYNC_EV_TEST, 1, 7},
    {"cute_nvgpu.arch.mbarrier_inval", ASYNC_EV_INVAL, 0, ALL},
    {"nvvm.mbarrier.inval", ASYNC_EV_INVAL, 0, ALL},
    {"nvvm.mbarrier.inval.shared", ASYNC_EV_INVAL, 0, ALL},
    {"cute_nvgpu.arch.mbarrier_complete_tx", ASYNC_EV_COMPLETE, 0, ALL},
    {"nvvm.fence.mbarrier.init", ASYNC_EV_FENCE_INIT, 0, NONE},
    {"cute_nvgpu.arch.mbarrier_init_fence", ASYNC_EV_FENCE_INIT, 0, NONE},
    {"nvvm.fence.proxy", ASYNC_EV_FENCE_PROXY, 0, NONE},
    {"cute_nvgpu.arch.fence_proxy", ASYNC_EV_FENCE_PROXY, 0, NONE},
    {"cute_nvgpu.arch.fence_view_async_shared", ASYNC_EV_FENCE_PROXY, 0, NONE},
    {"cute_nvgpu.arch.fence_proxy_tensormap", ASYNC_EV_NONE, 0, NONE},
    {"cute_nvgpu.arch.cp_fence_tma_desc_release", ASYNC_EV_NONE, 0, NONE},
    {"cute_nvgpu.arch.griddepcontrol_wait", ASYNC_EV_NONE, 0, NONE},
    {"nvvm.barrier0", ASYNC_EV_SYNC, 0, NONE},
    {"gpu.barrier", ASYNC_EV_SYNC, 0, NONE},
    {"cute_nvgpu.arch.block_sync", ASYNC_EV_SYNC, 0, NONE},
    {"nvvm.barrier", ASYNC_EV_SYNC, 0, ALL},
    {"cute_nvgpu.arch.named_barrier_sync", ASYNC_EV_SYNC, 0, ALL},
    {"cute_nvgpu.arch.named_barrier_vote", ASYNC_EV_SYNC, 0, ALL},
    {"nvvm.barrier.arrive", ASYNC_EV_NAMED_ARRIVE, 0, ALL},
    {"cute_nvgpu.arch.named_barrier_arrive", ASYNC_EV_NAMED_ARRIVE, 0, ALL},
    {"llvm.inline_asm", ASYNC_EV_ASM, 0, ALL},
    {"nvvm.cluster.arrive", ASYNC_EV_CLUSTER_ARRIVE, 0, NONE},
    {"nvvm.cluster.arrive.relaxed", ASYNC_EV_CLUSTER_ARRIVE, 1, NONE},
    {"cute_nvgpu.arch.cluster_arrive", ASYNC_EV_CLUSTER_ARRIVE, 0, NONE},
    {"nvvm.cluster.wait", ASYNC_EV_CLUSTER_WAIT, 0, NONE},
    {"cute_nvgpu.arch.cluster_wait", ASYNC_EV_CLUSTER_WAIT, 0, NONE},
    {"cute_nvgpu.arch.barrier_cluster", ASYNC_EV_CLUSTER_SYNC, 0, NONE},
    {"nvvm.wgmma.fence.aligned", ASYNC_EV_WGMMA_FENCE, 0, NONE},
    {"cute_nvgpu.arch.wgmma_fence", ASYNC_EV_WGMMA_FENCE, 0, NONE},
    {"nvvm.wgmma.commit.group.sync.aligned", ASYNC_EV_WGMMA_COMMIT, 0, NONE},
    {"cute_nvgpu.arch.wgmma_commit_group", ASYNC_EV_WGMMA_COMMIT, 0, NONE},
    {"nvvm.wgmma.wait.group.sync.aligned", ASYNC_EV_WGMMA_WAIT, 0, NONE},
    {"cute_nvgpu.arch.wgmma_wait_group", ASYNC_EV_WGMMA_WAIT, 0, NONE},
    {"cute.gemm", ASYNC_EV_GEMM, 0, 1 << 2 | 1 << 3},
    {"cute.copy", ASYNC_EV_TENSOR_COPY, 0, 7},
    {"cute_nvgpu.arch.st_async", ASYNC_EV_SEND, 0, 1 << 1 | 1 << 2 | 1 << 3},
    {"cute.memref.load", ASYNC_EV_ACCESS, ASYNC_READ, 1},
    {"cute.memref.load_vec", ASYNC_EV_ACCESS, ASYNC_READ, 1},
    {"cute.memref.store", ASYNC_EV_ACCESS, ASYNC_WRITE, 1},
    {"cute.memref.store_vec", ASYNC_EV_ACCESS, ASYNC_WRITE, 2},
    {"nvvm.cp.async.bulk.commit.group", ASYNC_EV_BULK_COMMIT, 0, NONE},
    {"cute_nvgpu.arch.cp_async_bulk_commit_group", ASYNC_EV_BULK_COMMIT, 0, NONE},
    {"nvvm.cp.async.bulk.wait_group", ASYNC_EV_BULK_WAIT, 0, NONE},
    {"cute_nvgpu.arch.cp_async_bulk_wait_group", ASYNC_EV_BULK_WAIT, 0, NONE},
    {"nvvm.setmaxregister", ASYNC_EV_REGISTERS, 0, NONE},
    {"cute_nvgpu.arch.setmaxregister_increase", ASYNC_EV_REGISTERS, 0, NONE},
    {"cute_nvgpu.arch.setmaxregister_decrease", ASYNC_EV_REGISTERS, 0, NONE},
};

/* Parts of the names of operations that cannot be simulated. */
static const char *const unknown[] = {
    "mbarrier",  "cp.async.bulk", "cp_async_bulk",        "wgmma",   "tcgen05", "nvgpu.tma",
    "warpgroup", "nvvm.cluster",  "clusterlaunchcontrol", "cluster_"};
/* Writes to shared memory that are not simulated. */
static const char *const writers[] = {"memref.store",  "vector.store", "vector.transfer_write",
                                      "nvvm.stmatrix", "arch.copy.",   "device_async_copy",
                                      "llvm.store",    "atomic",       "ptr_store",
                                      "arch.store"};

static bool has_part(MlirStringRef name, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(parts[i]);
        for (size_t at = 0; at + length <= name.length; at++)
            if (!memcmp(name.data + at, parts[i], length)) return true;
    }
    return false;
}

/* ---- properties of operation names, looked up once ---- */

typedef struct name_entry {
    const void *name;
    const event_row *event;
    const lane_rule *rule;
    bool unknown, writer;
    enum { PLAIN, IF, FOR, WHILE } control;
} name_entry;

typedef struct slot_entry {
    const void *value;
    int slot;
} slot_entry;

typedef struct node {
    MlirOperation op;
    const name_entry *name;
    int parent;                 /* enclosing loop or branch; -1: none */
    bool needed, events, event; /* events: it contains events */
    int touch;                  /* region of an accumulator that it accesses; -1: none */
    bool touch_writes;
    int a_registers; /* for a product: the region of its A; -1: shared memory */
} node;

typedef struct maker {
    async_program *p;
    cute_arena *arena;
    const async_setting *setting;
    name_entry *names;
    size_t name_count, name_size;
    slot_entry *values, *nodes_of; /* hash tables */
    size_t value_count, value_size, node_size;
    node *nodes;
    size_t node_count, node_capacity;
    MlirValue *work;
    size_t work_count, work_capacity;
    async_instr nowhere; /* returned when memory is exhausted */
    bool failed;
} maker;

static size_t hash_pointer(const void *key)
{
    uint64_t h = (uint64_t)(uintptr_t)key * 0x9E3779B97F4A7C15ull;
    return (size_t)(h >> 20);
}

/* The entry of `key` in a table of `size`, a power of two, or the free entry for it. */
static slot_entry *find_slot_entry(slot_entry *table, size_t size, const void *key)
{
    size_t at = hash_pointer(key) & (size - 1);
    while (table[at].value && table[at].value != key) at = (at + 1) & (size - 1);
    return &table[at];
}

static const name_entry *op_name_entry(maker *m, MlirOperation op)
{
    MlirIdentifier id = mlirOperationGetName(op);
    size_t at = hash_pointer(id.ptr) & (m->name_size - 1);
    while (m->names[at].name && m->names[at].name != id.ptr) at = (at + 1) & (m->name_size - 1);
    name_entry *e = &m->names[at];
    if (e->name) return e;
    MlirStringRef text = mlirIdentifierStr(id);
    if (m->name_count++ > m->name_size / 2) {
        m->failed = true;
        m->name_count--;
        return e; /* free: not an operation of interest */
    }
    e->name = id.ptr;
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (cute_text_is(text, events[i].name)) e->event = &events[i];
    e->rule = lane_rule_of(op, LANE_RUN);
    if (cute_text_is(text, "scf.if")) e->control = IF;
    if (cute_text_is(text, "scf.for")) e->control = FOR;
    if (cute_text_is(text, "scf.while")) e->control = WHILE;
    e->unknown = !e->event && !e->rule && has_part(text, unknown, sizeof unknown / sizeof *unknown) &&
                 !has_part(text, (const char *const[]){"wgmma_field"}, 1);
    e->writer = !e->event && has_part(text, writers, sizeof writers / sizeof *writers);
    return e;
}

/* ---- operations ---- */

static const cute_value *operand_type(MlirOperation op, intptr_t i)
{
    return i < mlirOperationGetNumOperands(op)
               ? cute_type_peek(mlirValueGetType(mlirOperationGetOperand(op, i)))
               : NULL;
}

static bool in_space(const cute_value *v, cute_space space)
{
    return v && v->pointer && v->pointer->space == space;
}

static bool has_atom(const cute_value *v, const char *part)
{
    return v && v->type >= CUTE_ATOM && v->atom && strstr(v->atom->mnemonic, part);
}

static bool text_has(MlirStringRef text, const char *part)
{
    return has_part(text, &part, 1);
}

/* Whether this operation is the event that its name suggests. */
static bool is_event(maker *m, MlirOperation op, const event_row *row)
{
    async_program *p = m->p;
    if (row->event == ASYNC_EV_TENSOR_COPY) {
        const cute_value *atom = operand_type(op, 0);
        bool tma = has_atom(atom, "tma_load") || has_atom(atom, "tma_store") || has_atom(atom, "tma_reduce");
        tma |= has_atom(atom, "bulk_copy");
        p->interesting |= tma;
        return tma || in_space(operand_type(op, 1), CUTE_SPACE_SMEM) ||
               in_space(operand_type(op, 2), CUTE_SPACE_SMEM);
    }
    if (row->event == ASYNC_EV_GEMM) {
        if (!has_atom(operand_type(op, 0), "sm90.mma")) return false;
        p->interesting = p->wgmma = true;
        if (mlirOperationIsNull(p->first_wgmma)) p->first_wgmma = op;
        return true;
    }
    if (row->event == ASYNC_EV_ACCESS)
        return in_space(operand_type(op, cute_op_is(op, "cute.memref.store_vec") ? 1 : 0), CUTE_SPACE_SMEM);
    if (row->event == ASYNC_EV_ASM) {
        MlirAttribute text = mlirOperationGetAttributeByName(op, cute_text("asm_string"));
        if (mlirAttributeIsNull(text) || !mlirAttributeIsAString(text)) return false;
        MlirStringRef s = mlirStringAttrGetValue(text);
        static const char *const parts[] = {"mbarrier",        "cp.async.bulk", "wgmma",
                                            "barrier.cluster", "bar.arrive",    "tcgen05"};
        static const char *const stores[] = {"st.shared", "stmatrix", "st.async", "cp.async."};
        if (has_part(s, parts, sizeof parts / sizeof *parts)) p->opaque = true;
        if (has_part(s, stores, sizeof stores / sizeof *stores)) p->blind = true;
        return text_has(s, "bar.sync") || text_has(s, "barrier.sync");
    }
    if (row->event == ASYNC_EV_NONE) return false;
    if (row->event == ASYNC_EV_INIT) p->interesting = true;
    if (row->event == ASYNC_EV_CLUSTER_ARRIVE || row->event == ASYNC_EV_CLUSTER_WAIT ||
        row->event == ASYNC_EV_CLUSTER_SYNC)
        p->clusters = true;
    return true;
}

/* Whether a run may skip the operation if its condition is unknown. */
static bool is_soft(MlirOperation op, const event_row *row)
{
    return row->event == ASYNC_EV_ACCESS ||
           (row->event == ASYNC_EV_TENSOR_COPY && !has_atom(operand_type(op, 0), "tma") &&
            !has_atom(operand_type(op, 0), "bulk_copy"));
}

static void mark_events(maker *m, int at)
{
    for (; at >= 0 && !m->nodes[at].events; at = m->nodes[at].parent) m->nodes[at].events = true;
}

static void name_unknown(maker *m, MlirOperation op)
{
    if (!m->p->opaque) m->p->opaque_at = op;
    m->p->opaque = m->p->interesting = true;
}

typedef struct call_search {
    maker *m;
    MlirStringRef callee;
    bool found, events;
} call_search;

static void see_event(MlirOperation op, void *context)
{
    call_search *s = context;
    const name_entry *name = op_name_entry(s->m, op);
    s->events |= name->event || name->unknown || cute_op_is(op, "func.call");
}

static void match_function(MlirOperation op, void *context)
{
    call_search *s = context;
    MlirAttribute name = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    if (s->found || mlirAttributeIsNull(name) || !mlirStringRefEqual(mlirStringAttrGetValue(name), s->callee))
        return;
    s->found = true;
    cute_op_each(op, NULL, see_event, s);
}

/* Whether the called function may synchronise; results of one that only computes are unknown. */
static bool calls_events(maker *m, MlirOperation call)
{
    MlirAttribute callee = mlirOperationGetAttributeByName(call, cute_text("callee"));
    if (mlirAttributeIsNull(callee) || !mlirAttributeIsASymbolRef(callee)) return true;
    call_search s = {.m = m, .callee = mlirSymbolRefAttrGetLeafReference(callee)};
    MlirOperation module = cute_op_parent(m->p->kernel, "gpu.module");
    if (mlirOperationIsNull(module)) return true;
    cute_op_each(module, "func.func", match_function, &s);
    if (!s.found) cute_op_each(module, "gpu.func", match_function, &s);
    return !s.found || s.events;
}

static void collect_nodes(maker *m, MlirRegion region, int parent, int depth)
{
    if (depth > ASYNC_DEPTH - 2) m->p->opaque = true;
    if (depth > ASYNC_DEPTH - 2 || m->failed) return;
    MlirBlock block = mlirRegionGetFirstBlock(region);
    if (mlirBlockIsNull(block)) return;
    if (!mlirBlockIsNull(mlirBlockGetNextInRegion(block))) m->p->opaque = true;
    for (; !mlirBlockIsNull(block); block = mlirBlockGetNextInRegion(block)) {
        MlirOperation op = mlirBlockGetFirstOperation(block);
        for (; !mlirOperationIsNull(op); op = mlirOperationGetNextInBlock(op)) {
            if (!cute_arena_more(m->arena, &m->nodes, m->node_count, &m->node_capacity, sizeof *m->nodes,
                                 1024)) {
                m->failed = true;
                return;
            }
            int self = (int)m->node_count++;
            const name_entry *name = op_name_entry(m, op);
            m->nodes[self] = (node){.op = op, .name = name, .parent = parent, .touch = -1, .a_registers = -1};
            if (name->unknown) name_unknown(m, op);
            if (name->writer) m->p->blind = true;
            if (name->event && is_event(m, op, name->event))
                m->nodes[self].needed = m->nodes[self].event = true;
            if (cute_op_is(op, "func.call") && calls_events(m, op)) name_unknown(m, op);
            if (m->nodes[self].event && !is_soft(op, name->event)) mark_events(m, self);
            intptr_t regions = mlirOperationGetNumRegions(op);
            for (intptr_t i = 0; i < regions; i++) {
                size_t before = m->node_count;
                collect_nodes(m, mlirOperationGetRegion(op, i), self, depth + 1);
                if (name->control != PLAIN) continue;
                for (size_t n = before; n < m->node_count; n++) /* other kinds of loops */
                    if (m->nodes[n].events) m->p->opaque = true;
            }
        }
    }
}

/* ---- accumulators: accesses to the registers of a wgmma ---- */

static node *node_of(maker *m, MlirOperation op)
{
    slot_entry *e = find_slot_entry(m->nodes_of, m->node_size, op.ptr);
    return e->value ? &m->nodes[e->slot] : NULL;
}

/* The operation that creates a tensor in registers; null for a part of one, or if unknown. */
static MlirOperation root_of(MlirValue value)
{
    for (int steps = 0; steps < 64; steps++) {
        MlirOperation op = cute_defining_op(value);
        if (mlirOperationIsNull(op)) return op;
        if (cute_op_is(op, "cute.memref.alloca") || cute_op_is(op, "cute.tiled.mma.partition_fragment") ||
            cute_op_is(op, "cute.mma.make_fragment"))
            return op;
        if (!cute_op_is(op, "cute.make_view") && !cute_op_is(op, "cute.get_iter") &&
            !cute_op_is(op, "cute.recast_iter") && !cute_op_is(op, "cute.group_modes") &&
            !cute_op_is(op, "cute.tiled.copy.retile"))
            return (MlirOperation){NULL};
        value = mlirOperationGetOperand(op, 0);
    }
    return (MlirOperation){NULL};
}

static void touch_uses(maker *m, MlirValue value, int region, int depth)
{
    MlirOpOperand use = mlirValueGetFirstUse(value);
    for (; depth < 32 && !mlirOpOperandIsNull(use); use = mlirOpOperandGetNextUse(use)) {
        MlirOperation op = mlirOpOperandGetOwner(use);
        node *n = node_of(m, op);
        if (!n || (n->event && n->name->event->event == ASYNC_EV_GEMM && n->needed)) continue;
        intptr_t results = mlirOperationGetNumResults(op);
        const cute_value *result =
            results ? cute_type_peek(mlirValueGetType(mlirOperationGetResult(op, 0))) : NULL;
        if (in_space(result, CUTE_SPACE_RMEM)) {
            touch_uses(m, mlirOperationGetResult(op, 0), region, depth + 1);
            continue;
        }
        MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(op));
        intptr_t operand = mlirOpOperandGetOperandNumber(use);
        bool load = text_has(name, "memref.load"), store = text_has(name, "memref.store");
        bool copy = cute_text_is(name, "cute.copy"), gemm = cute_text_is(name, "cute.gemm");
        if (!load && !store && !copy && !gemm && !cute_text_is(name, "cute.memref.fill") &&
            !cute_text_is(name, "cute.fill"))
            continue;
        bool writes = !load && !(copy && operand == 1) && !(gemm && operand > 1);
        if (n->touch >= 0) {
            n->touch_writes |= writes;
            continue;
        }
        n->touch = region;
        n->touch_writes = writes;
    }
}

static void find_accumulators(maker *m)
{
    MlirOperation roots[ASYNC_ACCUMULATORS];
    bool parts[ASYNC_ACCUMULATORS];
    int count = 0;
    for (size_t i = 0; i < m->node_count; i++) {
        node *n = &m->nodes[i];
        if (!n->event || n->name->event->event != ASYNC_EV_GEMM) continue;
        intptr_t operands = mlirOperationGetNumOperands(n->op);
        for (intptr_t o = 1; o < operands; o++) {
            if (!in_space(operand_type(n->op, o), CUTE_SPACE_RMEM)) continue;
            MlirOperation root = root_of(mlirOperationGetOperand(n->op, o));
            if (mlirOperationIsNull(root)) continue;
            int r = 0;
            while (r < count && !mlirOperationEqual(roots[r], root)) r++;
            if (r == ASYNC_ACCUMULATORS) continue;
            if (r == count) roots[count] = root, parts[count++] = false;
            if (o == 1) n->touch = r;
            if (o == 2) n->a_registers = r;
        }
    }
    (void)parts;
    for (int r = 0; r < count; r++) touch_uses(m, mlirOperationGetResult(roots[r], 0), r, 0);
}

/* ---- liveness ---- */

static int value_slot(maker *m, MlirValue value)
{
    slot_entry *e = find_slot_entry(m->values, m->value_size, value.ptr);
    if (e->value) return e->slot;
    if (m->value_count > m->value_size / 2 ||
        !cute_arena_more(m->arena, &m->work, m->work_count, &m->work_capacity, sizeof *m->work, 256)) {
        m->failed = true;
        return 0;
    }
    m->value_count++;
    *e = (slot_entry){value.ptr, m->p->slots++};
    m->work[m->work_count++] = value;
    return e->slot;
}

/* The slot of a value if it is needed, else -1. */
static int slot_if(maker *m, MlirValue value)
{
    slot_entry *e = find_slot_entry(m->values, m->value_size, value.ptr);
    return e->value ? e->slot : -1;
}

static MlirOperation region_terminator(MlirOperation op, intptr_t region)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
    return mlirBlockIsNull(block) ? (MlirOperation){NULL} : mlirBlockGetTerminator(block);
}

static void need_operand(maker *m, MlirOperation op, intptr_t i)
{
    if (!mlirOperationIsNull(op) && i < mlirOperationGetNumOperands(op))
        value_slot(m, mlirOperationGetOperand(op, i));
}

static void need_around(maker *m, int at);

static void need_node(maker *m, int at)
{
    m->nodes[at].needed = true;
    need_around(m, m->nodes[at].parent);
}

/* Marks an enclosing loop or branch, with its condition or bounds, as needed. */
static void need_around(maker *m, int at)
{
    for (; at >= 0; at = m->nodes[at].parent) {
        node *n = &m->nodes[at];
        if (n->touch == -2) return;
        n->needed = true;
        n->touch = -2; /* visited */
        if (n->name->control == IF) need_operand(m, n->op, 0);
        if (n->name->control == FOR)
            for (intptr_t i = 0; i < 3; i++) need_operand(m, n->op, i);
        if (n->name->control == WHILE) need_operand(m, region_terminator(n->op, 0), 0);
    }
}

static void need_values(maker *m, MlirOperation op, int operands)
{
    intptr_t count = mlirOperationGetNumOperands(op);
    for (intptr_t i = 0; i < count; i++)
        if (operands == ALL || (i < 30 && operands >> i & 1)) value_slot(m, mlirOperationGetOperand(op, i));
}

static void need_argument(maker *m, MlirValue value)
{
    MlirBlock block = mlirBlockArgumentGetOwner(value);
    MlirOperation op = mlirBlockGetParentOperation(block);
    node *n = node_of(m, op);
    intptr_t i = mlirBlockArgumentGetArgNumber(value);
    if (!n) return; /* an argument of the kernel */
    need_around(m, (int)(n - m->nodes));
    if (n->name->control == FOR && i) {
        need_operand(m, op, 2 + i);
        need_operand(m, region_terminator(op, 0), i - 1);
    } else if (n->name->control == WHILE) {
        if (mlirBlockEqual(block, mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)))) {
            need_operand(m, op, i);
            need_operand(m, region_terminator(op, 1), i);
        } else {
            need_operand(m, region_terminator(op, 0), 1 + i);
        }
    }
}

static void need_result(maker *m, MlirValue value)
{
    MlirOperation op = mlirOpResultGetOwner(value);
    intptr_t i = mlirOpResultGetResultNumber(value);
    node *n = node_of(m, op);
    lane_value ignored;
    if (!n || lane_value_of_type(mlirValueGetType(value), &ignored)) return;
    int at = (int)(n - m->nodes);
    if (n->name->control != PLAIN) {
        need_around(m, at);
        if (n->name->control == WHILE) need_operand(m, region_terminator(op, 0), 1 + i);
        if (n->name->control == FOR) {
            need_operand(m, op, 3 + i);
            need_operand(m, region_terminator(op, 0), i);
            value_slot(m,
                       mlirBlockGetArgument(mlirRegionGetFirstBlock(mlirOperationGetRegion(op, 0)), 1 + i));
        }
        if (n->name->control == IF)
            for (intptr_t r = 0; r < 2; r++) need_operand(m, region_terminator(op, r), i);
        return;
    }
    if (!n->name->rule || n->needed || n->name->rule->traits & LANE_CONSTANT) return;
    need_node(m, at);
    need_values(m, op, n->name->rule->operands);
}

static void need_all(maker *m)
{
    for (size_t i = 0; i < m->node_count; i++) {
        node *n = &m->nodes[i];
        if (n->touch >= 0 && !n->needed) {
            n->needed = true;
            need_around(m, n->parent);
            continue;
        }
        if (!n->needed || !n->event) continue;
        need_around(m, n->parent);
        need_values(m, n->op, n->name->event->operands);
        for (intptr_t r = 0; r < mlirOperationGetNumResults(n->op); r++)
            value_slot(m, mlirOperationGetResult(n->op, r));
    }
    while (m->work_count && !m->failed) {
        MlirValue value = m->work[--m->work_count];
        if (mlirValueIsABlockArgument(value))
            need_argument(m, value);
        else
            need_result(m, value);
    }
}

/* ---- code generation ---- */

static async_instr *add_instr(maker *m, async_code code, MlirOperation op)
{
    async_program *p = m->p;
    if (!cute_arena_more(m->arena, &p->code, p->count, &p->capacity, sizeof *p->code, 512)) {
        m->failed = true;
        return &m->nowhere;
    }
    p->code[p->count] = (async_instr){.code = code, .op = op, .id = (int)p->count};
    return &p->code[p->count++];
}

/* `count` slots; -1 for values that are not needed. */
static const int *slots_of(maker *m, intptr_t count, MlirValue (*at)(MlirOperation, intptr_t),
                           MlirOperation op)
{
    int *slots = cute_arena_array(m->arena, (size_t)count + 1, sizeof *slots);
    if (!slots) {
        m->failed = true;
        return NULL;
    }
    for (intptr_t i = 0; i < count; i++) slots[i] = slot_if(m, at(op, i));
    return slots;
}

/* out[i] = in[i] for the needed ones. */
static void add_copy(maker *m, MlirOperation op, const MlirValue *from, const MlirValue *to, intptr_t count)
{
    int *in = cute_arena_array(m->arena, (size_t)count * 2 + 1, sizeof *in), *out = in + count, n = 0;
    if (!in) {
        m->failed = true;
        return;
    }
    for (intptr_t i = 0; i < count; i++) {
        int target = slot_if(m, to[i]);
        if (target < 0) continue;
        in[n] = slot_if(m, from[i]);
        out[n++] = target;
    }
    if (!n) return;
    async_instr *copy = add_instr(m, ASYNC_COPY, op);
    copy->in = in;
    copy->out = out;
    copy->in_count = copy->out_count = n;
}

static MlirValue *new_value_list(maker *m, intptr_t count)
{
    MlirValue *values = cute_arena_array(m->arena, (size_t)count + 1, sizeof *values);
    if (!values) m->failed = true;
    return values;
}

/* Copies the operands of `from` starting at `first` to results or block arguments. */
static void copy_operands(maker *m, MlirOperation from, intptr_t first, MlirOperation to, MlirBlock block,
                          intptr_t skip)
{
    if (mlirOperationIsNull(from)) return;
    intptr_t count = mlirOperationGetNumOperands(from) - first;
    intptr_t room =
        mlirBlockIsNull(block) ? mlirOperationGetNumResults(to) : mlirBlockGetNumArguments(block) - skip;
    if (count > room) count = room;
    if (count <= 0) return;
    MlirValue *a = new_value_list(m, count), *b = new_value_list(m, count);
    if (m->failed) return;
    for (intptr_t i = 0; i < count; i++) {
        a[i] = mlirOperationGetOperand(from, first + i);
        b[i] = mlirBlockIsNull(block) ? mlirOperationGetResult(to, i) : mlirBlockGetArgument(block, skip + i);
    }
    add_copy(m, from, a, b, count);
}

static void emit_region(maker *m, MlirOperation op, intptr_t region);

static void emit_if(maker *m, node *n)
{
    MlirBlock none = {NULL};
    size_t start = m->p->count;
    async_instr *i = add_instr(m, ASYNC_IF, n->op);
    i->in = slots_of(m, 1, mlirOperationGetOperand, n->op);
    i->in_count = 1;
    i->events_inside = n->events;
    i->out = slots_of(m, mlirOperationGetNumResults(n->op), mlirOperationGetResult, n->op);
    i->out_count = (int)mlirOperationGetNumResults(n->op);
    emit_region(m, n->op, 0);
    copy_operands(m, region_terminator(n->op, 0), 0, n->op, none, 0);
    size_t other = m->p->count;
    add_instr(m, ASYNC_ELSE, n->op);
    emit_region(m, n->op, 1);
    copy_operands(m, region_terminator(n->op, 1), 0, n->op, none, 0);
    size_t end = m->p->count;
    add_instr(m, ASYNC_ENDIF, n->op);
    if (m->failed) return;
    m->p->code[start].target = (int)other;
    m->p->code[other].target = (int)end;
}

static void emit_for(maker *m, node *n)
{
    MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(n->op, 0)), none = {NULL};
    copy_operands(m, n->op, 3, n->op, body, 1);
    size_t start = m->p->count;
    int *counter = cute_arena_array(m->arena, 1, sizeof *counter);
    async_instr *i = add_instr(m, ASYNC_FOR, n->op);
    if (!counter || mlirBlockIsNull(body)) {
        m->failed = true;
        return;
    }
    counter[0] = value_slot(m, mlirBlockGetArgument(body, 0));
    i->in = slots_of(m, 3, mlirOperationGetOperand, n->op);
    i->in_count = 3;
    i->out = counter;
    i->out_count = 1;
    i->events_inside = n->events;
    emit_region(m, n->op, 0);
    copy_operands(m, region_terminator(n->op, 0), 0, n->op, body, 1);
    size_t next = m->p->count;
    async_instr *back = add_instr(m, ASYNC_NEXT, n->op);
    back->target = (int)start;
    size_t end = m->p->count;
    /* After the loop, its arguments are its results. */
    intptr_t count = mlirOperationGetNumResults(n->op);
    MlirValue *a = new_value_list(m, count), *b = new_value_list(m, count);
    if (m->failed) return;
    for (intptr_t r = 0; r < count; r++) {
        a[r] = mlirBlockGetArgument(body, 1 + r);
        b[r] = mlirOperationGetResult(n->op, r);
    }
    add_copy(m, n->op, a, b, count);
    (void)none, (void)next;
    m->p->code[start].target = (int)end;
}

static void emit_while(maker *m, node *n)
{
    MlirBlock before = mlirRegionGetFirstBlock(mlirOperationGetRegion(n->op, 0)),
              after = mlirRegionGetFirstBlock(mlirOperationGetRegion(n->op, 1)), none = {NULL};
    MlirOperation condition = region_terminator(n->op, 0);
    if (mlirOperationIsNull(condition) || mlirBlockIsNull(after)) {
        m->failed = true;
        return;
    }
    copy_operands(m, n->op, 0, n->op, before, 0);
    size_t start = m->p->count;
    emit_region(m, n->op, 0);
    copy_operands(m, condition, 1, n->op, none, 0);
    copy_operands(m, condition, 1, n->op, after, 0);
    size_t test = m->p->count;
    async_instr *i = add_instr(m, ASYNC_CONDITION, n->op);
    i->in = slots_of(m, 1, mlirOperationGetOperand, condition);
    i->in_count = 1;
    i->events_inside = n->events;
    emit_region(m, n->op, 1);
    copy_operands(m, region_terminator(n->op, 1), 0, n->op, before, 0);
    async_instr *back = add_instr(m, ASYNC_GOTO, n->op);
    back->target = (int)start;
    if (!m->failed) m->p->code[test].target = (int)m->p->count;
}

/* The event of an nvvm.mbarrier.txn. */
static async_event transaction_event(MlirOperation op)
{
    MlirAttribute kind = mlirOperationGetAttributeByName(op, cute_text("kind"));
    cute_buffer text = {0};
    if (!mlirAttributeIsNull(kind)) mlirAttributePrint(kind, cute_print_to_buffer, &text);
    bool expects = strstr(cute_buffer_text(&text), "expect_tx"),
         arrives = strstr(cute_buffer_text(&text), "arrive");
    cute_buffer_release(&text);
    return !expects ? ASYNC_EV_ARRIVE : arrives ? ASYNC_EV_ARRIVE_EXPECT : ASYNC_EV_EXPECT;
}

static void emit_plain(maker *m, node *n)
{
    bool event = n->event && n->touch == -1;
    if (n->event && n->name->event->event == ASYNC_EV_GEMM) event = true;
    /* A copy from an accumulator to shared memory is both. */
    if (n->touch >= 0 && !(n->event && n->name->event->event == ASYNC_EV_GEMM)) {
        async_instr *t = add_instr(m, ASYNC_EVENT, n->op);
        t->event = ASYNC_EV_TOUCH;
        t->which = n->touch;
        t->writes = n->touch_writes;
        const event_row *row = n->name->event;
        event = row && n->event &&
                (in_space(operand_type(n->op, 0), CUTE_SPACE_SMEM) ||
                 in_space(operand_type(n->op, 1), CUTE_SPACE_SMEM) ||
                 in_space(operand_type(n->op, 2), CUTE_SPACE_SMEM));
        if (!event) return;
    }
    async_instr *i = add_instr(m, event ? ASYNC_EVENT : ASYNC_EVAL, n->op);
    intptr_t in = mlirOperationGetNumOperands(n->op), out = mlirOperationGetNumResults(n->op);
    i->in = slots_of(m, in, mlirOperationGetOperand, n->op);
    i->in_count = (int)in;
    i->out = slots_of(m, out, mlirOperationGetResult, n->op);
    i->out_count = (int)out;
    if (event) {
        i->event = n->name->event->event;
        i->which = i->event == ASYNC_EV_GEMM ? n->touch : n->name->event->which;
        i->a_registers = n->a_registers;
        if (i->event == ASYNC_EV_TXN) i->event = transaction_event(n->op);
        return;
    }
    lane_op *eval = cute_arena_alloc(m->arena, sizeof *eval);
    if (!eval) {
        m->failed = true;
        return;
    }
    *eval = lane_op_of(n->op, n->name->rule, i->id);
    const cute_value *result =
        out ? cute_type_peek(mlirValueGetType(mlirOperationGetResult(n->op, 0))) : NULL;
    eval->first_lane = eval->rule->traits & LANE_FIRST_LANE ||
                       (result && (result->layout.shape || result->type == CUTE_MEMREF ||
                                   result->type == CUTE_COORD_TENSOR));
    i->eval = eval;
    if (eval->rule->operands) {
        int *slots = (int *)i->in;
        for (intptr_t o = 0; slots && o < in; o++)
            if (o >= 30 || !(eval->rule->operands >> o & 1)) slots[o] = -1;
    }
}

static void emit_region(maker *m, MlirOperation op, intptr_t region)
{
    MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(op, region));
    if (mlirBlockIsNull(block)) return;
    MlirOperation at = mlirBlockGetFirstOperation(block);
    for (; !mlirOperationIsNull(at) && !m->failed; at = mlirOperationGetNextInBlock(at)) {
        node *n = node_of(m, at);
        if (!n || !n->needed) continue;
        if (n->name->control == IF)
            emit_if(m, n);
        else if (n->name->control == FOR)
            emit_for(m, n);
        else if (n->name->control == WHILE)
            emit_while(m, n);
        else if (n->name->event || n->name->rule || n->touch >= 0)
            emit_plain(m, n);
    }
}

/* ---- slots ---- */

/* Finds the swizzles of tensor maps that the host creates, through the operands of the launch. */
static void trace_atoms(maker *m, MlirBlock entry)
{
    MlirOperation launch = m->setting->launch;
    if (mlirOperationIsNull(launch)) return;
    MlirAttribute sizes = mlirOperationGetAttributeByName(launch, cute_text("operandSegmentSizes"));
    if (mlirAttributeIsNull(sizes) || !mlirAttributeIsADenseI32Array(sizes)) return;
    intptr_t first = 0, groups = mlirDenseArrayGetNumElements(sizes);
    for (intptr_t i = 0; i + 2 < groups; i++) first += mlirDenseI32ArrayGetElement(sizes, i);
    /* ..., dynamic shared memory (0 or 1), kernel operands, asynchronous object (0 or 1) */
    intptr_t operands = mlirOperationGetNumOperands(launch);
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
        int slot = slot_if(m, mlirBlockGetArgument(entry, i));
        if (slot < 0 || m->p->initial[slot].kind != LANE_ATOM || first + i >= operands) continue;
        MlirOperation made = cute_defining_op(mlirOperationGetOperand(launch, first + i));
        if (mlirOperationIsNull(made) ||
            !text_has(mlirIdentifierStr(mlirOperationGetName(made)), "make_non_exec") ||
            mlirOperationGetNumOperands(made) < 2)
            continue;
        const cute_value *smem = operand_type(made, 1);
        lane_atom *atom = cute_arena_alloc(m->arena, sizeof *atom);
        if (!atom || !smem) continue;
        *atom = *m->p->initial[slot].atom;
        atom->made = made;
        atom->swizzle = lane_swizzle_of(smem);
        m->p->initial[slot].atom = atom;
    }
}

/* Sets the values that are known before the kernel runs. */
static void fill_slots(maker *m, MlirBlock entry)
{
    async_program *p = m->p;
    p->initial = cute_arena_array(m->arena, (size_t)p->slots + 1, sizeof *p->initial);
    if (!p->initial) {
        m->failed = true;
        return;
    }
    memset(p->initial, 0, ((size_t)p->slots + 1) * sizeof *p->initial);
    for (size_t i = 0; i < m->value_size; i++) {
        if (!m->values[i].value) continue;
        MlirValue value = {(void *)m->values[i].value};
        lane_value *slot = &p->initial[m->values[i].slot];
        bool argument = mlirValueIsABlockArgument(value);
        if (lane_value_of_type(mlirValueGetType(value), slot)) continue;
        node *n = argument ? NULL : node_of(m, mlirOpResultGetOwner(value));
        if (n && n->name->rule && n->name->rule->traits & LANE_CONSTANT) {
            lane_op constant = lane_op_of(n->op, n->name->rule, 0);
            if (!constant.rule->eval(NULL, &constant, NULL, slot)) *slot = (lane_value){0};
        }
        if (!argument || !mlirBlockEqual(mlirBlockArgumentGetOwner(value), entry)) continue;
        lane_value_of_argument(m->arena, &m->setting->values, mlirValueGetType(value), slot);
    }
    trace_atoms(m, entry);
}

static size_t table_size(size_t least)
{
    size_t size = 64;
    while (size < least) size *= 2;
    return size;
}

static void *alloc_zeroed(maker *m, size_t count, size_t size)
{
    void *memory = cute_arena_array(m->arena, count, size);
    if (memory)
        memset(memory, 0, count * size);
    else
        m->failed = true;
    return memory;
}

bool async_program_make(cute_arena *arena, MlirOperation kernel, const async_setting *setting,
                        async_program *out)
{
    *out = (async_program){.arena = arena, .kernel = kernel};
    maker m = {.p = out, .arena = arena, .setting = setting, .name_size = 1024};
    m.names = alloc_zeroed(&m, m.name_size, sizeof *m.names);
    if (m.failed) return false;
    collect_nodes(&m, mlirOperationGetRegion(kernel, 0), -1, 0);
    if (!out->interesting || out->opaque || m.failed) return !m.failed;
    m.node_size = table_size(m.node_count * 2 + 2);
    m.nodes_of = alloc_zeroed(&m, m.node_size, sizeof *m.nodes_of);
    size_t values = 0;
    for (size_t i = 0; i < m.node_count; i++) {
        values += (size_t)mlirOperationGetNumResults(m.nodes[i].op) + 1;
        for (intptr_t r = 0; r < mlirOperationGetNumRegions(m.nodes[i].op); r++) {
            MlirBlock block = mlirRegionGetFirstBlock(mlirOperationGetRegion(m.nodes[i].op, r));
            if (!mlirBlockIsNull(block)) values += (size_t)mlirBlockGetNumArguments(block);
        }
    }
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0));
    values += (size_t)mlirBlockGetNumArguments(entry);
    m.value_size = table_size(values * 2 + 64);
    m.values = alloc_zeroed(&m, m.value_size, sizeof *m.values);
    if (m.failed) return false;
    for (size_t i = 0; i < m.node_count; i++) {
        slot_entry *e = find_slot_entry(m.nodes_of, m.node_size, m.nodes[i].op.ptr);
        *e = (slot_entry){m.nodes[i].op.ptr, (int)i};
    }
    find_accumulators(&m);
    need_all(&m);
    /* Loop counters have slots of their own. */
    for (size_t i = 0; i < m.node_count && !m.failed; i++)
        if (m.nodes[i].needed && m.nodes[i].name->control == FOR) {
            MlirBlock body = mlirRegionGetFirstBlock(mlirOperationGetRegion(m.nodes[i].op, 0));
            if (!mlirBlockIsNull(body)) value_slot(&m, mlirBlockGetArgument(body, 0));
        }
    if (m.failed) return false;
    emit_region(&m, kernel, 0);
    add_instr(&m, ASYNC_END, kernel);
    if (!m.failed) fill_slots(&m, entry);
    return !m.failed;
}
