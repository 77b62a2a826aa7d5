/* The basic blocks of a function, and the points of reconvergence: the immediate post-dominator of each
 * branch. */
#include "lib/emulator/program/parser.h"

static bool is_branch(const em_inst *i)
{
    return i->control == EM_BRANCH || i->control == EM_BRANCH_INDEX;
}

static uint32_t target_count(const em_inst *i)
{
    return i->control == EM_BRANCH ? 1 : i->control == EM_BRANCH_INDEX ? i->o[1].count : 0;
}

static uint32_t target_at(const em_inst *i, uint32_t n)
{
    return i->control == EM_BRANCH ? i->branch.target : i->o[1].list[n].at;
}

static bool falls_through(const em_inst *i)
{
    return i->guard || i->control == EM_NEXT;
}

static em_inst *last_instruction(const em_program *program, const em_flow *flow, uint32_t block)
{
    return &program->code[flow->first[block + 1] - 1];
}

static cute_status find_leaders(em_program *program, const em_function *f, uint8_t *leader, cute_diag *diag)
{
    uint32_t start = f->start, end = f->end;
    leader[0] = leader[end - start] = 1;
    for (uint32_t at = start; at <= end; at++) {
        em_inst *i = &program->code[at];
        if (i->control == EM_BRANCH) i->branch.target = i->count ? i->o[0].at : end;
        for (uint32_t t = 0; t < target_count(i); t++) {
            uint32_t target = target_at(i, t);
            if (target < start || target > end) {
                cute_place place = em_place(program, i);
                return cute_fail(diag, CUTE_INVALID, &place, "the branch target is in another function");
            }
            leader[target - start] = 1;
        }
        if (is_branch(i) || i->control == EM_EXIT || i->control == EM_TRAP) leader[at + 1 - start] = 1;
    }
    return CUTE_OK;
}

static cute_status split_blocks(em_program *program, em_function *f, cute_diag *diag)
{
    em_flow *flow = &f->flow;
    uint32_t length = f->end - f->start + 1, count = 0, block = 0;
    uint8_t *leader = cute_arena_alloc(program->arena, length + 1);
    flow->block_of = cute_arena_array(program->arena, length, sizeof *flow->block_of);
    if (!leader || !flow->block_of) return cute_fail_memory(diag);
    CUTE_TRY(find_leaders(program, f, leader, diag));
    for (uint32_t at = 0; at < length; at++) count += leader[at];
    flow->first = cute_arena_array(program->arena, (size_t)count + 1, sizeof *flow->first);
    if (!flow->first) return cute_fail_memory(diag);
    for (uint32_t at = 0; at < length; at++) {
        if (leader[at]) flow->first[block++] = f->start + at;
        flow->block_of[at] = block - 1;
    }
    flow->first[block] = f->end + 1;
    cute_graph_create(program->arena, count, &flow->graph);
    return CUTE_OK;
}

static cute_status add_block_edges(const em_program *program, em_function *f, cute_diag *diag)
{
    em_flow *flow = &f->flow;
    cute_graph *g = &flow->graph;
    bool ok = true;
    for (uint32_t b = 0; ok && b < g->count; b++) {
        const em_inst *last = last_instruction(program, flow, b);
        for (uint32_t t = 0; ok && t < target_count(last); t++)
            ok = cute_graph_add(g, b, flow->block_of[target_at(last, t) - f->start]);
        if (ok && falls_through(last) && b + 1 < g->count) ok = cute_graph_add(g, b, b + 1);
    }
    return ok && cute_graph_finish(g) ? CUTE_OK : cute_fail_memory(diag);
}

/* The last ret; LLVM puts an exit after it for unreachable code. */
static uint32_t find_main_exit(const em_program *program, const em_flow *flow)
{
    for (uint32_t b = flow->graph.count; b-- > 0;) {
        const em_inst *last = last_instruction(program, flow, b);
        if (last->control == EM_EXIT && !last->guard && last->opcode == EM_OP_ret) return b;
    }
    return flow->graph.count - 2;
}

/* Immediate post-dominators along paths to the function's end. Lanes that exit early do not reconverge with
 * others: of the exits only `main_exit` has an edge to the end, or all have (CUTE_NO_NODE). */
static bool find_postdominators(cute_arena *arena, const em_program *program, const em_flow *flow,
                                uint32_t main_exit, cute_graph *out)
{
    const cute_graph *g = &flow->graph;
    bool ok = true;
    cute_graph_create(arena, g->count, out);
    for (size_t e = 0; ok && e < g->edge_count; e++)
        ok = cute_graph_add(out, g->edges[e].to, g->edges[e].from);
    for (uint32_t b = 0; ok && b < g->count; b++) {
        const em_inst *last = last_instruction(program, flow, b);
        if (last->control == EM_EXIT && !last->guard && (main_exit == CUTE_NO_NODE || b == main_exit))
            ok = cute_graph_add(out, g->count - 1, b);
    }
    if (!ok || !cute_graph_finish(out)) return false;
    cute_graph_reach(out, g->count - 1);
    return cute_graph_dominators(out);
}

cute_status em_find_flow(em_program *program, em_function *f, cute_diag *diag)
{
    em_flow *flow = &f->flow;
    cute_graph late, any;
    CUTE_TRY(split_blocks(program, f, diag));
    CUTE_TRY(add_block_edges(program, f, diag));
    cute_arena *scratch = cute_arena_create();
    bool ok = scratch && find_postdominators(scratch, program, flow, find_main_exit(program, flow), &late) &&
              find_postdominators(scratch, program, flow, CUTE_NO_NODE, &any);
    for (uint32_t b = 0; ok && b < flow->graph.count; b++) {
        em_inst *last = last_instruction(program, flow, b);
        if (!is_branch(last)) continue;
        /* A loop without an exit has no path to the end: its branches then do not reconverge. */
        uint32_t join = late.dominator[b] != CUTE_NO_NODE ? late.dominator[b] : any.dominator[b];
        last->branch.reconverge = join == CUTE_NO_NODE ? f->end : flow->first[join];
    }
    cute_arena_destroy(scratch);
    return ok ? CUTE_OK : cute_fail_memory(diag);
}
