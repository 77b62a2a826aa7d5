/* How many transactions accesses take against how few they could: banks of shared memory, sectors of global
 * memory. Lanes of one instruction are gathered first. */
#include "lib/checks/state.h"

enum { BANKS = 32, BANK_BYTES = 4, SECTOR = 32 };

/* Shared memory serves 128 bytes at once: all lanes of 4 bytes or less, half a warp of 8, a quarter of 16.
 * Within them lanes that touch different words of one bank take turns. */
static void count_banks(const request *r, traffic *t)
{
    uint32_t group = r->bytes <= 4 ? 32 : r->bytes == 8 ? 16 : 8;
    t->requests++;
    for (uint32_t first = 0; first < EM_LANES; first += group) {
        uint64_t words[EM_LANES * 4];
        uint32_t count = 0, most = 0, bank[BANKS] = {0};
        for (uint32_t n = 0; n < r->count; n++) {
            if (r->lane[n] < first || r->lane[n] >= first + group) continue;
            for (uint64_t a = r->address[n] / BANK_BYTES; a <= (r->address[n] + r->bytes - 1) / BANK_BYTES;
                 a++) {
                uint32_t k = 0;
                while (k < count && words[k] != a) k++;
                if (k < count || count == EM_LANES * 4) continue;
                words[count++] = a;
                uint32_t used = ++bank[a % BANKS];
                if (used > most) most = used;
            }
        }
        t->transactions += most;
        t->ideal += most ? 1 : 0;
    }
}

/* Sectors of 32 bytes that the lanes touch, against what their different bytes would fill. */
static void count_sectors(const request *r, traffic *t)
{
    uint64_t sorted[EM_LANES], last = UINT64_MAX, end = 0, bytes = 0, sectors = 0;
    for (uint32_t n = 0; n < r->count; n++) { /* they are nearly always in order */
        uint32_t at = n;
        for (; at > 0 && sorted[at - 1] > r->address[n]; at--) sorted[at] = sorted[at - 1];
        sorted[at] = r->address[n];
    }
    for (uint32_t n = 0; n < r->count; n++) {
        uint64_t a = sorted[n], b = a + r->bytes;
        for (uint64_t s = a / SECTOR; s <= (b - 1) / SECTOR; s++)
            if (last == UINT64_MAX || s > last) {
                sectors++;
                last = s;
            }
        if (b > end) bytes += b - (a > end ? a : end);
        if (b > end) end = b;
    }
    t->requests++;
    t->transactions += sectors;
    t->ideal += (bytes + SECTOR - 1) / SECTOR;
}

static void flush(em_checks *c, request *r, bool shared)
{
    if (!r->count) return;
    uint32_t at = inst_index(c, r->inst);
    if (shared)
        count_banks(r, &c->shared[at]);
    else
        count_sectors(r, &c->global[at]);
    r->count = 0;
}

void em_traffic_flush(em_checks *c)
{
    flush(c, &c->shared_request, true);
    flush(c, &c->global_request, false);
}

/* What a launch's counters want to know of it. */
void em_traffic_tally(const em_checks *c)
{
    em_tally *tally = c->launch->tally;
    for (uint32_t n = 0; tally && c->shared && c->global && n < c->machine->program->count; n++) {
        tally[n].banks[0] += c->shared[n].transactions;
        tally[n].banks[1] += c->shared[n].ideal;
        tally[n].sectors[0] += c->global[n].transactions;
        tally[n].sectors[1] += c->global[n].ideal;
    }
}

void em_traffic_access(em_checks *c, const em_warp *w, const em_inst *i, int lane, em_space space,
                       uint64_t address, uint32_t bytes)
{
    bool shared = space == EM_SHARED;
    const em_pending *p = c->machine->completing;
    request *r = shared ? &c->shared_request : &c->global_request;
    if (lane < 0 || bytes > 32 || !(c->which & (shared ? CUTE_CHECK_BANK : CUTE_CHECK_COALESCING))) return;
    if (p && p->kind != EM_P_CP_ASYNC) return;
    /* In which pieces wmma.load and wmma.store go is not known. */
    if (i->opcode == EM_OP_wmma) return;
    if (r->count && (r->warp != w || r->inst != i || lane <= r->last || r->bytes != bytes))
        flush(c, r, shared);
    r->warp = w;
    r->inst = i;
    r->last = lane;
    r->bytes = bytes;
    r->lane[r->count] = (uint8_t)lane;
    r->address[r->count++] = address;
}
