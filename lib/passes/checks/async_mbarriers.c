/* mbarriers in the static checks (async.h): arrivals, transaction bytes, phases, and causes of deadlocks. */
#include <mlir-c/BuiltinAttributes.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async_events.h"

/* ---- reports ---- */

/* Total arrivals, counting for each warp that arrived those it makes at once. */
static int64_t arrivals_at_once(const async_machine *m, const async_mbarrier *b)
{
    int64_t sum = 0;
    for (int i = 0; i < m->warp_count; i++)
        if (b->arrivers >> i & 1) sum += b->lanes[i];
    return sum;
}

/* Reports stages whose mbarrier is never waited for, although other stages have wrapped. */
static bool wraps_early(async_machine *m, const async_finding *finding)
{
    for (size_t i = 0; i < m->barrier_count; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (!b->alive || b->waited_ever || (!b->state.phase && !b->bytes.brought)) continue;
        for (int w = 0; w < m->warp_count; w++)
            for (int n = 0; n < m->warps[w].wait_count; n++) {
                const async_wait *wait = &m->warps[w].waits[n];
                const async_mbarrier *other = &m->barriers[wait->barrier];
                /* in one array: initialised and arrived at by the same operations */
                if (wait->passes < 2 || !mlirOperationEqual(other->init, b->init) ||
                    other->place.cta != b->place.cta ||
                    !mlirOperationEqual(other->first_arrive, b->first_arrive))
                    continue;
                async_finding f = async_find(ASYNC_PHASE, wait->op,
                                             "returns to an mbarrier without having waited for that at byte "
                                             "%lld: the stage index wraps too early",
                                             (long long)b->place.byte);
                if (b->copy_count)
                    async_note(&f, b->copies[0], "this completes there");
                else if (b->arrive_count)
                    async_note(&f, b->arrives[0], "arrives there");
                async_note(&f, finding->op, "consequence: %s", finding->text);
                async_stop(m, &f);
                return true;
            }
    }
    return false;
}

void async_blame(async_machine *m, const async_finding *finding)
{
    if (m->stopped) return;
    for (size_t i = 0; i < m->barrier_count; i++) {
        const async_mbarrier *b = &m->barriers[i];
        int64_t sum = arrivals_at_once(m, b);
        if (sum <= b->state.count || __builtin_popcountll(b->arrivers) < 2) continue;
        async_finding f = async_find(
            ASYNC_ARRIVALS, b->init,
            "an mbarrier is initialised for %lld arrivals per phase, but %lld arrive: expected %lld",
            (long long)b->state.count, (long long)sum, (long long)sum);
        for (int n = 0; n < b->arrive_count && n < 3; n++) async_note(&f, b->arrives[n], "arrives here");
        async_note(&f, finding->op, "consequence: %s", finding->text);
        async_stop(m, &f);
        return;
    }
    for (int i = 0; i < m->warp_count; i++)
        for (int n = 0; n < m->warps[i].wait_count; n++) {
            const async_wait *wait = &m->warps[i].waits[n];
            if (!wait->again) continue;
            async_finding f =
                async_find(ASYNC_PHASE, wait->op,
                           "waits again for phase %d of the same mbarrier, which an earlier wait has already "
                           "seen: expected the phase to flip each time the stage index wraps",
                           wait->parity);
            async_note(&f, finding->op, "consequence: %s", finding->text);
            async_stop(m, &f);
            return;
        }
    if (wraps_early(m, finding)) return;
    async_stop(m, finding);
}

/* ---- mbarrier lookup ---- */

static int find_mbarrier(const async_machine *m, const lane_place *at)
{
    for (size_t i = 0; i < m->barrier_count; i++) {
        const lane_place *p = &m->barriers[i].place;
        if (p->region == at->region && p->cta == at->cta && p->byte == at->byte && m->barriers[i].alive)
            return (int)i;
    }
    return -1;
}

int async_barrier_at(async_machine *m, async_warp *w, const lane_place *at, MlirOperation op)
{
    int index = at->cta < m->ctas ? find_mbarrier(m, at) : -1;
    async_finding f;
    if (at->cta >= m->ctas) {
        f = async_find(ASYNC_CLUSTER_RANK, op, "addresses block %d of a cluster of %d", at->cta, m->ctas);
        async_blame(m, &f);
        return -1;
    }
    if (index < 0) {
        f = async_find(ASYNC_INIT, op,
                       "uses an mbarrier at byte %lld of shared memory, which is not initialised",
                       (long long)at->byte);
        size_t known = 0;
        const async_mbarrier *near = NULL;
        for (size_t i = 0; i < m->barrier_count; i++)
            if (m->barriers[i].place.region == at->region && m->barriers[i].place.cta == at->cta) {
                known++;
                if (!near || m->barriers[i].place.byte > near->place.byte) near = &m->barriers[i];
            }
        if (near)
            async_note(&f, near->init, "%zu are initialised, the last one at byte %lld", known,
                       (long long)near->place.byte);
        else
            async_note(&f, op,
                       "expected mbarrier_init by one thread, mbarrier_init_fence and a barrier first");
        async_blame(m, &f);
        return -1;
    }
    const async_mbarrier *b = &m->barriers[index];
    if (b->init_warp != w->id && w->known->seq[b->init_warp] < b->init_seq) {
        f = async_find(
            ASYNC_INIT, op,
            "uses an mbarrier that another thread initialises, without a barrier of the %s in between",
            at->cta == w->cta ? "block" : "cluster");
        async_note(&f, b->init, "initialised here");
        async_blame(m, &f);
        return -1;
    }
    return index;
}

static void init_mbarrier(async_machine *m, async_warp *w, const lane_place *at, int64_t count,
                          MlirOperation op)
{
    if (!order_mbarrier_count_is_valid(count)) {
        async_finding f = async_find(ASYNC_ARRIVALS, op, "expected 1 to %d arrivals per phase, got %lld",
                                     ORDER_MBARRIER_MOST, (long long)count);
        async_stop(m, &f);
        return;
    }
    int old = find_mbarrier(m, at);
    bool same = old >= 0 && mlirOperationEqual(m->barriers[old].init, op);
    if (same && m->barriers[old].init_seq == w->seq && m->barriers[old].init_warp == w->id) return;
    if (old >= 0 && (!same || m->barriers[old].init_warp == w->id)) {
        async_finding f = async_find(
            ASYNC_INIT_TWICE, op,
            "initialises an mbarrier at byte %lld that is already initialised: expected mbarrier_inval first",
            (long long)at->byte);
        if (!same) async_note(&f, m->barriers[old].init, "first initialised here");
        async_tell(m->report, &f);
    }
    if (old >= 0) m->barriers[old].alive = false;
    if (!cute_arena_more(m->arena, &m->barriers, m->barrier_count, &m->barrier_capacity, sizeof *m->barriers,
                         32) ||
        m->barrier_count > 512) {
        m->stopped = true;
        return;
    }
    async_mbarrier *b = &m->barriers[m->barrier_count++];
    *b = (async_mbarrier){.place = *at,
                          .alive = true,
                          .state = order_mbarrier_init((uint32_t)count),
                          .init = op,
                          .init_warp = w->id,
                          .init_seq = w->seq,
                          .acquired = async_known_new(m),
                          .gathered = async_known_new(m)};
    if (!b->acquired || !b->gathered) m->stopped = true;
}

/* ---- phases ---- */

static void note_copies(async_finding *f, const async_mbarrier *b)
{
    for (int i = 0; i < b->copy_count; i++) async_note(f, b->copies[i], "this copy completes here");
}

static void tell_bytes(async_machine *m, const async_mbarrier *b)
{
    bool nobody = mlirOperationIsNull(b->expects);
    async_finding f = async_find(
        ASYNC_EXPECT_TX, nobody ? b->copies[0] : b->expects,
        "expects %lld bytes, but the copies that complete in the phase transfer %lld: expected %lld",
        (long long)b->bytes.expected, (long long)b->bytes.brought, (long long)b->bytes.brought);
    if (nobody)
        f = async_find(ASYNC_EXPECT_TX, b->copies[0],
                       "transfers %lld bytes to an mbarrier whose phase expects none: expected "
                       "mbarrier_arrive_and_expect_tx of %lld",
                       (long long)b->bytes.brought, (long long)b->bytes.brought);
    else
        note_copies(&f, b);
    async_blame(m, &f);
}

void async_complete(async_machine *m, async_mbarrier *b, bool settled)
{
    if (!b->alive || b->in_flight) return;
    if (!order_mbarrier_is_complete(&b->state)) {
        if (settled && !b->state.pending && b->state.bytes < 0) tell_bytes(m, b);
        return;
    }
    async_known_merge(b->acquired, b->gathered, m->warp_count, m->copy_count);
    memset(b->gathered, 0, sizeof *b->gathered);
    order_mbarrier_next(&b->state);
    b->bytes = (order_bytes){0};
    b->arrivals = 0;
    b->copy_count = 0;
    b->expects = (MlirOperation){NULL};
    m->activity++;
}

/* Counts the arrivals and bytes of `op` (null: of a copy); false after reporting that they are invalid. */
static bool count_arrivals(async_machine *m, async_mbarrier *b, int64_t arrivals, int64_t tx,
                           MlirOperation op)
{
    uint32_t count = arrivals > UINT32_MAX ? UINT32_MAX : (uint32_t)arrivals;
    order_arrival done = order_mbarrier_arrive(&b->state, count, tx, false);
    async_finding f;
    if (done == ORDER_ARRIVES) {
        order_bytes_add(&b->bytes, tx);
        return true;
    }
    if (done == ORDER_TOO_MANY_BYTES) {
        f = async_find(ASYNC_EXPECT_TX, mlirOperationIsNull(op) ? b->copies[0] : op,
                       "changes the transaction count of an mbarrier to %lld: expected at most %d bytes in "
                       "either direction",
                       (long long)(b->state.bytes + tx), ORDER_MBARRIER_MOST);
    } else {
        bool all = arrivals > b->state.count;
        f = async_find(ASYNC_ARRIVALS, op,
                       all ? "arrives %lld times at an mbarrier of %u arrivals per phase, which completes "
                             "several phases at once: expected %u arrivals, or one thread (elect_one)"
                           : "arrives %lld times at an mbarrier that has %u of %u arrivals pending in an "
                             "incomplete phase: expected a wait first",
                       (long long)arrivals, all ? b->state.count : b->state.pending, b->state.count);
        async_note(&f, b->init, "it is initialised for %u arrivals here", b->state.count);
    }
    async_blame(m, &f);
    return false;
}

void async_arrived(async_machine *m, const struct async_flight *f)
{
    async_mbarrier *b = &m->barriers[f->barrier];
    b->in_flight -= f->bytes;
    count_arrivals(m, b, 0, -f->bytes, (MlirOperation){NULL});
    async_known_set(b->gathered, f->copy);
    m->activity++;
}

/* ---- arrivals ---- */

static void arrive_at_mbarrier(async_machine *m, async_warp *w, const lane_place *at, int64_t arrivals,
                               int64_t bytes, MlirOperation op)
{
    int index = async_barrier_at(m, w, at, op);
    if (index < 0) return;
    async_mbarrier *b = &m->barriers[index];
    if (bytes > 0) {
        b->expects = op;
        b->tx_ever = true;
    }
    if (arrivals && mlirOperationIsNull(b->first_arrive)) b->first_arrive = op;
    if (!count_arrivals(m, b, arrivals, bytes, op) || !arrivals) return;
    b->arrivals += arrivals;
    b->arrivers |= 1ull << w->id;
    if (arrivals < 256 && b->lanes[w->id] < arrivals) b->lanes[w->id] = (uint8_t)arrivals;
    bool known = false;
    for (int i = 0; i < b->arrive_count; i++) known |= mlirOperationEqual(b->arrives[i], op);
    if (!known && b->arrive_count < ASYNC_NOTES) b->arrives[b->arrive_count++] = op;
    w->released = op;
    async_reach(m, w, at->cta, -1, op);
    async_release(m, w, b->gathered);
    m->activity++;
    async_complete(m, b, false);
}

/* Arrivals with a different mbarrier, count or bytes for each lane. */
static void arrive_lanes(async_machine *m, async_warp *w, const async_instr *i)
{
    lane_value where = i->in_count ? w->slots[i->in[0]] : (lane_value){0};
    bool bytes = i->event != ASYNC_EV_ARRIVE, arch = cute_op_of(i->op, "cute_nvgpu.");
    int rank = arch ? bytes ? 2 : 1 : 0;
    MlirAttribute attribute = mlirOperationGetAttributeByName(i->op, cute_text("count"));
    int64_t times = !mlirAttributeIsNull(attribute) && mlirAttributeIsAInteger(attribute)
                        ? mlirIntegerAttrGetValueInt(attribute)
                        : 1;
    struct {
        lane_place at;
        int64_t arrivals, bytes;
    } groups[32];
    int count = 0;
    for (int lane = 0; lane < 32; lane++) {
        if (!(w->mask >> lane & 1)) continue;
        lane_value one = lane_of(&where, lane);
        lane_place at;
        int64_t number = 0, block;
        if (!lane_place_of(&one, &at)) {
            m->stopped = true;
            return;
        }
        if (i->in_count > 1 && (!arch || bytes)) {
            one = lane_of(&w->slots[i->in[1]], lane);
            if (!lane_number_of(&one, &number)) {
                m->stopped = true;
                return;
            }
        }
        if (rank && i->in_count > rank) {
            one = lane_of(&w->slots[i->in[rank]], lane);
            if (!lane_number_of(&one, &block) || block < 0 || block > 255) {
                m->stopped = true;
                return;
            }
            at.cta = (int)block;
        }
        int g = 0;
        while (g < count && (groups[g].at.region != at.region || groups[g].at.cta != at.cta ||
                             groups[g].at.byte != at.byte))
            g++;
        if (g == count) {
            groups[count].at = at;
            groups[count].arrivals = groups[count].bytes = 0;
            count++;
        }
        bool counted = !bytes && !arch && i->in_count > 1; /* nvvm.mbarrier.txn has a count operand */
        if (i->event != ASYNC_EV_EXPECT) groups[g].arrivals += counted ? number : times;
        if (bytes) groups[g].bytes += number;
    }
    for (int g = 0; g < count && !m->stopped; g++)
        arrive_at_mbarrier(m, w, &groups[g].at, groups[g].arrivals, groups[g].bytes, i->op);
}

/* ---- waits ---- */

static void remember_wait(async_warp *w, int barrier, int parity, const async_mbarrier *b, MlirOperation op)
{
    async_wait *wait = NULL;
    for (int i = 0; i < w->wait_count; i++)
        if (w->waits[i].barrier == barrier) wait = &w->waits[i];
    if (!wait) {
        if (w->wait_count == ASYNC_WAITS) return;
        wait = &w->waits[w->wait_count++];
        *wait = (async_wait){.barrier = barrier, .parity = -1, .phase = UINT32_MAX};
    }
    bool again = wait->parity == parity && wait->phase == b->state.phase && mlirOperationEqual(wait->op, op);
    int passes = wait->passes + (wait->phase != b->state.phase);
    *wait = (async_wait){.barrier = barrier,
                         .passes = passes,
                         .parity = parity,
                         .op = op,
                         .trivial = b->state.phase == 0,
                         .phase = b->state.phase,
                         .again = again || wait->again};
}

static async_step wait_for(async_machine *m, async_warp *w, const async_instr *i)
{
    bool test = i->event == ASYNC_EV_TEST;
    int first = i->which;
    if (first) {
        int64_t condition;
        lane_value c = lane_of(&w->slots[i->in[0]], w->mask ? __builtin_ctz(w->mask) : 0);
        if (!lane_number_of(&c, &condition)) {
            m->stopped = true;
            return ASYNC_PAUSES;
        }
        if (!(condition & 1)) {
            if (i->out_count && i->out[0] >= 0) w->slots[i->out[0]] = lane_number(1);
            return ASYNC_GOES_ON;
        }
    }
    if (i->in_count < first + 2) {
        m->stopped = true;
        return ASYNC_PAUSES;
    }
    int seen = -1, blocked = -1, blocked_parity = 0;
    bool alike = w->slots[i->in[first]].kind != LANE_EACH && w->slots[i->in[first + 1]].kind != LANE_EACH;
    for (int pass = 0; pass < 2; pass++) {
        for (int lane = 0; lane < 32; lane++) {
            if (!(w->mask >> lane & 1)) continue;
            lane_value p = lane_of(&w->slots[i->in[first]], lane),
                       ph = lane_of(&w->slots[i->in[first + 1]], lane);
            lane_place at;
            int64_t parity;
            if (!lane_place_of(&p, &at) || !lane_number_of(&ph, &parity)) {
                m->stopped = true;
                return ASYNC_PAUSES;
            }
            parity &= 1;
            int index = async_barrier_at(m, w, &at, i->op);
            if (index < 0) return ASYNC_PAUSES;
            async_mbarrier *b = &m->barriers[index];
            b->waited_ever = true;
            if (mlirOperationIsNull(b->first_wait)) b->first_wait = i->op;
            if (!order_mbarrier_passes(&b->state, (uint32_t)parity)) {
                blocked = index;
                blocked_parity = (int)parity;
                break;
            }
            if (pass == 1 && seen != index) {
                seen = index;
                remember_wait(w, index, (int)parity, b, i->op);
                async_known_merge(w->known, b->acquired, m->warp_count, m->copy_count);
            }
            if (alike) break; /* the other lanes agree */
        }
        if (blocked >= 0) break;
    }
    bool again =
        blocked >= 0 && test && mlirOperationEqual(w->at, i->op) && w->activity == m->activity && w->polls;
    w->at = i->op;
    if (blocked < 0) {
        w->polls = false;
        if (test && i->out_count && i->out[0] >= 0) w->slots[i->out[0]] = lane_number(1);
        return ASYNC_GOES_ON;
    }
    if (test && !again) { /* let the other warps run first */
        w->polls = true;
        w->activity = m->activity;
        if (i->out_count && i->out[0] >= 0) w->slots[i->out[0]] = lane_number(0);
        return ASYNC_PAUSES;
    }
    w->state = ASYNC_AT_MBARRIER;
    w->barrier = blocked;
    w->parity = blocked_parity;
    return ASYNC_AGAIN;
}

void async_passed(async_machine *m, async_warp *w)
{
    (void)m;
    w->state = ASYNC_RUNS;
}

async_step async_mbarrier_do(async_machine *m, async_warp *w, const async_instr *i)
{
    lane_place at;
    int64_t n;
    for (int o = 0; o < i->in_count && o < 2; o++)
        if (i->in[o] < 0) m->stopped = true;
    if (m->stopped || !i->in_count) return ASYNC_PAUSES;
    switch (i->event) {
    case ASYNC_EV_INIT:
        for (int lane = 0; lane < 32 && !m->stopped; lane++) {
            if (!(w->mask >> lane & 1)) continue;
            lane_value p = lane_of(&w->slots[i->in[0]], lane), c = lane_of(&w->slots[i->in[1]], lane);
            if (lane_place_of(&p, &at) && lane_number_of(&c, &n))
                init_mbarrier(m, w, &at, n, i->op);
            else
                m->stopped = true;
        }
        return ASYNC_GOES_ON;
    case ASYNC_EV_INVAL: {
        lane_value p = lane_of(&w->slots[i->in[0]], w->mask ? __builtin_ctz(w->mask) : 0);
        int index = lane_place_of(&p, &at) ? find_mbarrier(m, &at) : -1;
        if (index >= 0) m->barriers[index].alive = false;
        return ASYNC_GOES_ON;
    }
    case ASYNC_EV_COMPLETE: m->stopped = true; return ASYNC_PAUSES;
    case ASYNC_EV_WAIT:
    case ASYNC_EV_TEST: return wait_for(m, w, i);
    default: arrive_lanes(m, w, i); return ASYNC_GOES_ON;
    }
}

/* ---- deadlocks ---- */

/* Whether the warp has waited for the mbarrier before its current wait. */
static bool has_waited(const async_warp *w)
{
    for (int n = 0; n < w->wait_count; n++)
        if (w->waits[n].barrier == w->barrier) return true;
    return false;
}

/* Whether a copy or expect_tx follows the wait in its innermost loop or branch. */
static bool is_producer(const async_machine *m, const async_warp *w)
{
    int depth = 0;
    for (size_t at = w->pc; at < m->program->count; at++) {
        const async_instr *i = &m->program->code[at];
        if (i->code == ASYNC_IF || i->code == ASYNC_FOR) depth++;
        if ((i->code == ASYNC_ENDIF || i->code == ASYNC_NEXT || (i->code == ASYNC_ELSE && !depth)) &&
            depth-- == 0)
            return false;
        if (i->code == ASYNC_GOTO || i->code == ASYNC_END) return false;
        if (i->code != ASYNC_EVENT) continue;
        if (i->event == ASYNC_EV_ARRIVE_EXPECT || i->event == ASYNC_EV_EXPECT) return true;
    }
    return false;
}

/* Phase of the warp's latest wait for its current mbarrier; 0: none. */
static uint32_t waited_phase(const async_warp *w)
{
    for (int n = 0; n < w->wait_count; n++)
        if (w->waits[n].barrier == w->barrier) return w->waits[n].phase;
    return 0;
}

/* Reports copies that complete at an mbarrier that expects no bytes. */
static bool tell_strays(async_machine *m)
{
    for (size_t i = 0; i < m->barrier_count; i++) {
        const async_mbarrier *b = &m->barriers[i];
        if (!b->alive || !b->bytes.brought || b->bytes.expected || !b->copy_count || b->tx_ever) continue;
        tell_bytes(m, b);
        return true;
    }
    return false;
}

static bool tell_wait(async_machine *m, const async_warp *w, int rank)
{
    const async_mbarrier *b = &m->barriers[w->barrier];
    async_finding f;
    bool never = b->state.phase == 0 && b->arrivals == 0;
    switch (rank) {
    case 0:
        if (b->state.pending == 0 && b->bytes.expected != b->bytes.brought) return tell_bytes(m, b), true;
        return false;
    case 1:
        if (!b->arrivals || b->state.pending <= 0) return false;
        f = async_find(
            ASYNC_ARRIVALS, b->init,
            "an mbarrier is initialised for %lld arrivals per phase, but only %lld arrive: expected %lld",
            (long long)b->state.count, (long long)b->arrivals, (long long)b->arrivals);
        for (int i = 0; i < b->arrive_count && i < 2; i++) async_note(&f, b->arrives[i], "arrives here");
        async_note(&f, w->at, "this wait never ends");
        break;
    case 2:
    case 3:
        if ((rank == 2 && !is_producer(m, w)) || !never || w->parity != 0 || b->tx_ever || b->copy_count ||
            has_waited(w))
            return false;
        f = async_find(ASYNC_PHASE, w->at,
                       "waits forever for phase 0 of an mbarrier without arrivals: expected phase 1 in a "
                       "producer, whose buffers are initially empty, or an arrival in a consumer");
        async_note(&f, b->init, "it is initialised for %lld arrivals here", (long long)b->state.count);
        break;
    case 5:
        if (!b->state.pending || !b->bytes.brought) return false;
        f = async_find(ASYNC_ARRIVALS, w->at,
                       "waits for an mbarrier that receives %lld bytes from copies but no arrivals: expected "
                       "mbarrier_arrive_and_expect_tx",
                       (long long)b->bytes.brought);
        note_copies(&f, b);
        break;
    case 6:
        if (!b->state.phase || waited_phase(w) >= b->state.phase) return false;
        f = async_find(ASYNC_PHASE, w->at,
                       "waits forever for phase %d of an mbarrier: %u of its phases are complete, and this "
                       "has waited for %u of them; the phase must flip each time the stage index wraps",
                       w->parity, b->state.phase, waited_phase(w));
        if (b->arrive_count) async_note(&f, b->arrives[0], "arrives here");
        break;
    default:
        f = async_find(ASYNC_ARRIVALS, w->at,
                       b->state.phase ? "waits forever: no thread arrives at this mbarrier after %u phases"
                                      : "waits forever: no thread arrives at this mbarrier",
                       b->state.phase);
        async_note(&f, b->init, "it is initialised for %lld arrivals here", (long long)b->state.count);
        if (!mlirOperationIsNull(b->first_arrive)) async_note(&f, b->first_arrive, "an earlier arrival");
    }
    async_blame(m, &f);
    return true;
}

static bool tell_barrier(async_machine *m, const async_warp *w)
{
    async_finding f;
    if (w->state == ASYNC_AT_BARRIER) {
        const async_named *n = &m->named[w->barrier];
        f = async_find(ASYNC_BARRIER, w->at,
                       "barrier %d waits for %lld threads, but only %lld arrive: expected all of them, or a "
                       "named barrier for a subset",
                       n->id, (long long)n->count, (long long)n->arrived);
    } else if (w->state == ASYNC_AT_CLUSTER) {
        f = async_find(ASYNC_BARRIER, w->at, "waits for all threads of the cluster, but not all arrive");
    } else if (w->state == ASYNC_AT_PRODUCT) {
        f = async_find(
            ASYNC_BARRIER, w->at,
            "wgmma is an operation of the four warps of a warpgroup, but not all of them reach it");
    } else {
        return false;
    }
    for (int i = 0; i < m->warp_count; i++) {
        const async_warp *o = &m->warps[i];
        if (o->state == ASYNC_ENDED || o == w || mlirOperationIsNull(o->at) ||
            mlirOperationEqual(o->at, w->at))
            continue;
        async_note(&f, o->at, "warp %d waits here", o->index);
        break;
    }
    async_blame(m, &f);
    return true;
}

void async_deadlock(async_machine *m)
{
    if (tell_strays(m)) return;
    for (int rank = 0; rank < 8; rank++)
        for (int i = 0; i < m->warp_count; i++) {
            const async_warp *w = &m->warps[i];
            if (w->state == ASYNC_ENDED) continue;
            if (rank == 4 ? tell_barrier(m, w) : w->state == ASYNC_AT_MBARRIER && tell_wait(m, w, rank))
                return;
        }
    m->stopped = true;
}
