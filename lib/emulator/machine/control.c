/* Control flow of a warp: divergence and reconvergence of splits, register frames, exits, gathering of lanes,
 * and the loop that runs one split. */
#include <stdlib.h>

#include "lib/emulator/machine/control.h"

enum { DEPTH_LIMIT = 1024 };

/* There is always one: a split has fewer lanes than its parent, and lane sets nest. */
static int free_split(const em_warp *w)
{
    for (int i = 0; i < EM_SPLITS; i++)
        if (!w->splits[i].live) return i;
    return -1;
}

void em_use_split(em_warp *w, int index)
{
    w->current = index;
    w->split = &w->splits[index];
    w->base[EM_BASE_REGISTERS] = w->split->frame->registers;
}

static void leave_frame(em_warp *w, em_frame *frame)
{
    if (--frame->users) return;
    frame->up = w->free_frames;
    w->free_frames = frame;
}

/* Ends a split whose lanes have exited or reached the join. */
static void end_split(em_warp *w, int index)
{
    while (index >= 0) {
        em_split *s = &w->splits[index];
        s->live = false;
        if (s->counted) {
            em_frame *frame = s->frame;
            for (int depth = s->depth; depth > 0; depth--) {
                em_frame *up = frame->up;
                leave_frame(w, frame);
                frame = up;
            }
        }
        while (w->high > 1 && !w->splits[w->high - 1].live) w->high--;
        index = s->parent;
        if (index < 0) return;
        em_split *up = &w->splits[index];
        if (--up->children > 0) return;
        up->wait = EM_RUNS;
        if (up->mask) return;
    }
}

void em_exit_lanes(em_warp *w, uint32_t mask)
{
    em_block *block = w->block;
    uint32_t lanes = (uint32_t)__builtin_popcount(mask);
    if (w->machine->pending && block->alive == lanes && !em_pending_end_block(block)) {
        w->stop = EM_FAULT;
        return;
    }
    em_tell(EM_E_EXIT, w, NULL, mask, 0, 0);
    w->alive &= ~mask;
    block->alive -= lanes;
    block->cluster->alive -= lanes;
    /* Exited lanes no longer count as arrivals of this phase of barrier.cluster. */
    for (uint32_t rest = mask & w->cluster_arrived; rest; rest &= rest - 1)
        block->cluster->arrived -= w->cluster_generation[__builtin_ctz(rest)] == block->cluster->generation;
    for (int k = 0; k < EM_SPLITS; k++) {
        em_split *s = &w->splits[k];
        if (!s->live) continue;
        s->mask &= ~mask;
        if (s->wait == EM_WAIT_WARP) s->wait = EM_RUNS;
    }
    for (int k = 0; k < EM_SPLITS; k++) {
        em_split *s = &w->splits[k];
        if (s->live && s->wait != EM_JOIN && !s->mask) end_split(w, k);
    }
    if (!w->alive) block->cluster->live_warps--;
    w->machine->changes++;
    em_barrier_complete(block);
    em_cluster_complete(block->cluster);
    w->stop = w->alive ? EM_SWITCH : EM_DONE;
}

static int free_places(const em_warp *w)
{
    int count = 0;
    for (int k = 0; k < EM_SPLITS; k++) count += !w->splits[k].live;
    return count;
}

static em_split *add_split(em_warp *w, const em_split *like, uint32_t pc, uint32_t mask)
{
    int index = free_split(w);
    em_split *n = &w->splits[index];
    *n = *like;
    n->pc = pc;
    n->mask = mask;
    n->wait = EM_RUNS;
    n->children = 0;
    n->live = true;
    n->counted = false;
    n->woken = false;
    n->polled = 0;
    if (index >= w->high) w->high = index + 1;
    return n;
}

void em_diverge(em_warp *w, uint32_t lanes, uint32_t target, uint32_t other, uint32_t reconverge)
{
    em_split *s = w->split;
    uint32_t rest = s->mask & ~lanes;
    if (w->high + 2 > EM_SPLITS && free_places(w) < 2) {
        em_fault(w, &w->machine->code[s->pc - 1], -1, "warp divergence too deep: more than %d paths",
                 EM_SPLITS);
        return;
    }
    w->machine->counts.divergences++;
    if (w->machine->tally) w->machine->tally[s->pc - 1].divergences++;
    w->stop = EM_SWITCH;
    bool same = s->parent >= 0 && s->rpc == reconverge && s->rdepth == s->depth;
    if (same) {
        /* The join already exists and has all these lanes. */
        em_split *up = &w->splits[s->parent];
        if (target == reconverge) {
            s->mask = rest;
            s->pc = other;
        } else if (other == reconverge) {
            s->mask = lanes;
            s->pc = target;
        } else {
            s->mask = rest;
            s->pc = other;
            add_split(w, s, target, lanes);
            up->children++;
        }
        return;
    }
    em_split like = *s;
    like.parent = w->current;
    like.rpc = reconverge;
    like.rdepth = s->depth;
    s->wait = EM_JOIN;
    s->pc = reconverge;
    s->children = 0;
    if (target != reconverge) {
        add_split(w, &like, target, lanes);
        s->children++;
    }
    if (other != reconverge) {
        add_split(w, &like, other, rest);
        s->children++;
    }
    if (!s->children) s->wait = EM_RUNS;
}

bool em_resume_joins(em_warp *w)
{
    uint32_t arrived[EM_SPLITS];
    bool any = false;
    for (int k = 0; k < w->high; k++) arrived[k] = w->splits[k].wait == EM_JOIN ? w->splits[k].mask : 0;
    for (int k = 0; k < w->high; k++)
        if (w->splits[k].live && w->splits[k].parent >= 0) arrived[w->splits[k].parent] &= ~w->splits[k].mask;
    for (int k = w->high; k-- > 0;) {
        em_split *join = &w->splits[k];
        if (!join->live || !arrived[k] || (join->parent >= 0 && join->pc == join->rpc) || free_places(w) < 3)
            continue;
        em_split *n = add_split(w, join, join->pc, arrived[k]);
        join->mask &= ~arrived[k];
        if (join->parent >= 0) w->splits[join->parent].children++;
        n->counted = true;
        em_frame *frame = n->frame;
        for (int depth = n->depth; depth > 0; depth--, frame = frame->up) frame->users++;
        any = true;
    }
    w->diverged = 0;
    w->resumed |= any;
    return any;
}

em_frame *em_make_frame(em_warp *w, const em_function *f)
{
    size_t size = ((size_t)f->register_bytes + 63) / 64 * 64;
    em_frame *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    bool watched = w->machine->launch->hooks.shadows;
    n->registers = aligned_alloc(64, (size ? size : 64) * (watched ? 2 : 1));
    if (!n->registers) {
        free(n);
        return NULL;
    }
    memset(n->registers, 0, size);
    if (watched) n->shadow = n->registers + size;
    n->function = f;
    n->next = w->frames;
    w->frames = n;
    return n;
}

static em_frame *take_frame(em_warp *w, const em_function *f)
{
    for (em_frame **at = &w->free_frames; *at; at = &(*at)->up)
        if ((*at)->function == f) {
            em_frame *found = *at;
            *at = found->up;
            return found;
        }
    return em_make_frame(w, f);
}

bool em_enter_function(em_warp *w, const em_inst *i, uint32_t mask, const em_function *f, uint32_t return_pc)
{
    em_split *s = w->split;
    const em_function *caller = s->frame->function;
    int64_t sp = s->sp + caller->stack_bytes;
    int64_t top = w->local_size;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        if (w->stack_top[__builtin_ctz(rest)] < top) top = w->stack_top[__builtin_ctz(rest)];
    if (s->depth >= DEPTH_LIMIT || sp + f->stack_bytes > top) {
        em_fault(w, i, __builtin_ctz(mask),
                 "stack overflow: %d calls deep, %lld bytes of local memory per thread", s->depth,
                 (long long)sp);
        return false;
    }
    em_frame *frame = take_frame(w, f);
    if (!frame) {
        em_fault(w, i, -1, "out of memory");
        return false;
    }
    if (frame->shadow) memset(frame->shadow, 0xff, f->register_bytes);
    frame->up = s->frame;
    frame->return_pc = return_pc;
    frame->users = 1;
    frame->sp = s->sp;
    memcpy(frame->stack_top, w->stack_top, sizeof frame->stack_top);
    s->frame = frame;
    s->sp = sp;
    s->depth++;
    s->pc = f->start;
    w->base[EM_BASE_REGISTERS] = frame->registers;
    return true;
}

void em_run_return(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_split *s = w->split;
    em_frame *frame = s->frame;
    (void)i;
    if (s->depth == 0) {
        em_exit_lanes(w, mask);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        w->stack_top[__builtin_ctz(rest)] = frame->stack_top[__builtin_ctz(rest)];
    s->pc = frame->return_pc;
    s->sp = frame->sp;
    s->frame = frame->up;
    s->depth--;
    w->base[EM_BASE_REGISTERS] = s->frame->registers;
    leave_frame(w, frame);
}

void em_block_split(em_warp *w, em_wait wait)
{
    w->split->wait = wait;
    w->split->pc--;
    w->stop = EM_BLOCK;
}

static bool is_warp_barrier(const em_inst *i)
{
    return i->opcode == EM_OP_bar && em_has(i, EM_M_warp);
}

/* Whether split k waits at this instruction, or at another warp barrier, for the same lanes. */
static bool waits_with(const em_warp *w, int k, const em_inst *i, uint32_t member)
{
    const em_split *s = &w->splits[k];
    if (!s->live || k == w->current || s->wait != EM_WAIT_WARP || s->member != member) return false;
    return s->pc + 1 == w->split->pc || (is_warp_barrier(i) && is_warp_barrier(&w->machine->code[s->pc]));
}

/* The lanes that have reached the instruction for `member`: those in `mask` and the waiting ones. */
static uint32_t gathered_lanes(const em_warp *w, const em_inst *i, uint32_t member, uint32_t mask)
{
    if ((mask & member) == member) return mask;
    for (int k = 0; k < w->high; k++)
        if (waits_with(w, k, i, member)) mask |= w->splits[k].gathered;
    return mask;
}

/* ---- lanes of other calls ---- */

static void swap_words(void *a, void *b, size_t bytes, uint32_t mask)
{
    uint32_t *x = a, *y = b;
    for (size_t n = 0; n < bytes / 4; n++) {
        uint32_t other = (x[n] ^ y[n]) & mask;
        x[n] ^= other;
        y[n] ^= other;
    }
}

static void swap_register(em_frame *a, em_frame *b, const em_operand *o, uint32_t mask)
{
    size_t lane = o->bytes == 2 ? 4 : o->bytes, size = lane ? lane * EM_LANES : 64;
    uint8_t *x = a->registers + o->at, *y = b->registers + o->at;
    if (!lane) swap_words(x, y, 4, mask);
    for (uint32_t rest = mask; lane && rest; rest &= rest - 1) {
        size_t at = lane * (size_t)__builtin_ctz(rest);
        swap_words(x + at, y + at, lane, UINT32_MAX);
    }
    /* mask registers, except for the second word */
    if (!a->shadow || !b->shadow) return;
    swap_words(a->shadow + o->at, b->shadow + o->at, 4, mask);
    swap_words(a->shadow + o->at + 8, b->shadow + o->at + 8, size - 8, mask);
}

/* Whether the register occurs in the list before `end`, so that it is swapped only once. */
static bool occurs_before(const em_operand *list, int count, const em_operand *end, uint32_t at, bool *over)
{
    for (int n = 0; n < count && !*over; n++) {
        const em_operand *o = &list[n];
        *over = o == end;
        bool found = !*over && o->kind == EM_O_VALUE && o->base == EM_BASE_REGISTERS && o->at == at;
        if (!found && (o->kind == EM_O_VECTOR || o->kind == EM_O_MEMORY))
            found = occurs_before(o->list, o->count, end, at, over);
        if (found) return true;
    }
    return false;
}

static void swap_registers(em_frame *a, em_frame *b, const em_inst *i, const em_operand *list, int count,
                           uint32_t mask)
{
    for (int n = 0; n < count; n++) {
        const em_operand *o = &list[n];
        bool over = false;
        if (o->kind == EM_O_VECTOR || o->kind == EM_O_MEMORY)
            swap_registers(a, b, i, o->list, o->count, mask);
        else if (o->kind == EM_O_VALUE && o->base == EM_BASE_REGISTERS &&
                 !occurs_before(i->o, i->count, o, o->at, &over))
            swap_register(a, b, o, mask);
    }
}

/* Lanes that reached the instruction through another call of its function use other registers: these are
 * swapped into the frame of the executing lanes until the instruction is done. */
static void lend_registers(em_warp *w, const em_inst *i, em_frame *from, uint32_t lanes)
{
    if (from == w->split->frame) return;
    swap_registers(w->split->frame, from, i, i->o, i->count, lanes);
    for (uint32_t rest = lanes; rest; rest &= rest - 1) w->lenders[__builtin_ctz(rest)] = from;
    w->lent |= lanes;
    w->stop = EM_SWITCH;
}

static void give_back(em_warp *w, const em_inst *i, em_frame *to)
{
    for (; w->lent; w->lent &= w->lent - 1) {
        int lane = __builtin_ctz(w->lent);
        swap_registers(to, w->lenders[lane], i, i->o, i->count, 1u << lane);
    }
}

bool em_gather(em_warp *w, const em_inst *i, uint32_t member, uint32_t *mask)
{
    uint32_t need = member & w->alive, all = gathered_lanes(w, i, member, *mask);
    if ((*mask & need) == need) return true;
    if ((all & need) != need) {
        w->split->member = member;
        w->split->gathered = *mask;
        em_block_split(w, EM_WAIT_WARP);
        return false;
    }
    for (int k = 0; k < w->high; k++) {
        if (!waits_with(w, k, i, member)) continue;
        w->splits[k].wait = EM_RUNS;
        w->splits[k].pc++;
        if (w->splits[k].pc == w->split->pc)
            lend_registers(w, i, w->splits[k].frame, w->splits[k].gathered & ~*mask);
    }
    uint32_t more = (uint32_t)__builtin_popcount(all & ~*mask);
    w->machine->counts.lanes += more;
    if (w->machine->tally) w->machine->tally[i - w->machine->code].lanes += more;
    *mask = all;
    return true;
}

uint32_t em_same_members(const em_warp *w, const em_operand *o, uint32_t lanes, uint32_t *group)
{
    uint32_t member = (uint32_t)em_uniform(w, o, lanes);
    *group = o->base == EM_BASE_CONSTANTS ? lanes : 0;
    if (*group) return member;
    for (uint32_t n = lanes; n; n &= n - 1)
        if ((uint32_t)em_get(w, o, __builtin_ctz(n)) == member) *group |= n & -n;
    return member;
}

bool em_diverge_members(em_warp *w, const em_inst *i, const em_operand *o, uint32_t mask)
{
    uint32_t group;
    for (uint32_t rest = mask; rest; rest &= ~group) {
        uint32_t member = em_same_members(w, o, rest, &group);
        if (group == mask) return false;
        if (member & w->alive & ~gathered_lanes(w, i, member, group)) {
            uint32_t next = w->split->pc;
            em_uncount(w, i, mask, true);
            em_diverge(w, group, next - 1, next - 1, next);
            return true;
        }
    }
    return false;
}

void em_run_warp_barrier(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_operand *o = &i->o[0];
    if (em_diverge_members(w, i, o, mask)) return;
    for (uint32_t rest = mask, group; rest; rest &= ~group) {
        uint32_t member = em_same_members(w, o, rest, &group);
        if (!em_gather(w, i, member, &group)) return;
        em_tell(EM_E_WARP_SYNC, w, i, group, member, 0);
    }
}

uint32_t em_run_split(em_warp *w, uint32_t budget)
{
    em_split *s = w->split;
    const em_inst *code = w->machine->code;
    cute_emulator_counts *counts = &w->machine->counts;
    uint32_t left = budget;
    const em_hooks *hooks = &w->machine->launch->hooks;
    const bool stepped = hooks->step != NULL;
    em_tally *const tally = w->machine->tally;
    w->stop = EM_GO_ON;
    while (left > 0) {
        if (s->pc == s->rpc && s->depth == s->rdepth) {
            int index = w->current;
            end_split(w, index);
            w->stop = EM_SWITCH;
            break;
        }
        const em_inst *i = &code[s->pc++];
        uint32_t mask = s->mask;
        left--;
        if (stepped) hooks->step(hooks->context, w, i, mask);
        if (tally) tally[i - code].instructions++;
        if (i->guard) {
            uint32_t guard;
            memcpy(&guard, w->base[0] + i->guard_at, sizeof guard);
            mask &= i->guard == 2 ? ~guard : guard;
            if (!mask) continue;
        }
        uint32_t lanes = em_lanes_in(mask);
        counts->lanes += lanes;
        if (tally) tally[i - code].lanes += lanes;
        i->run(w, i, mask);
        if (w->stop == EM_GO_ON) continue;
        if (w->lent) give_back(w, i, s->frame);
        if (w->stop == EM_BLOCK) em_uncount(w, i, mask, true);
        break;
    }
    counts->instructions += budget - left;
    return budget - left;
}
