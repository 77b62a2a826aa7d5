/* Bank conflicts of shared memory: wavefronts that a request needs against the fewest possible. */
#include "lib/checks/parts.h"

enum { BANKS = 32, BANK_BYTES = 4 };

/* Shared memory serves 128 bytes at once: all lanes of 4 bytes or less, half a warp of 8, a quarter of 16.
 * Different words of one bank need a wavefront each. */
static void count_banks(const memory_request *r, traffic_count *t)
{
    uint32_t group = r->bytes <= 4 ? 32 : r->bytes == 8 ? 16 : 8;
    t->requests++;
    for (uint32_t first = 0; first < EM_LANES; first += group) {
        uint64_t words[EM_LANES * 4];
        uint32_t count = 0, wavefronts = 0, bank[BANKS] = {0};
        for (uint32_t n = 0; n < r->count; n++) {
            if (r->lane[n] < first || r->lane[n] >= first + group) continue;
            for (uint64_t a = r->address[n] / BANK_BYTES; a <= (r->address[n] + r->bytes - 1) / BANK_BYTES;
                 a++) {
                uint32_t k = 0;
                while (k < count && words[k] != a) k++;
                if (k < count || count == EM_LANES * 4) continue;
                words[count++] = a;
                uint32_t used = ++bank[a % BANKS];
                if (used > wavefronts) wavefronts = used;
            }
        }
        t->count += wavefronts;
        t->ideal += wavefronts ? 1 : 0;
    }
}

static bool begin(em_checks *c)
{
    return em_transactions_begin(c, &c->banks);
}

static void end(em_checks *c)
{
    em_transactions_end(&c->banks);
}

static bool access(em_checks *c, const memory_access *a)
{
    if (a->space == EM_SHARED && !a->mbarrier) em_transactions_access(c, &c->banks, a, count_banks);
    return true;
}

static bool row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)s, (void)at;
    if (r->space == EM_SHARED) em_transactions_row(c, &c->banks, r, count_banks);
    return true;
}

/* The launch ends. */
static void event(em_checks *c, em_event event, em_warp *w, const em_inst *i, uint32_t mask, uint64_t a,
                  uint64_t b)
{
    (void)event, (void)w, (void)i, (void)mask, (void)a, (void)b;
    em_transactions_flush(c, &c->banks, count_banks);
    for (uint32_t n = 0; c->transactions && n < c->launch->program->count; n++) {
        c->transactions[n].banks[0] += c->banks.by_inst[n].count;
        c->transactions[n].banks[1] += c->banks.by_inst[n].ideal;
    }
}

const em_part em_part_bank_conflicts = {
    .events = EVENT(END), .begin = begin, .end = end, .event = event, .access = access, .row = row};
