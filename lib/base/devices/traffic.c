/* See traffic.h. */
#include "lib/base/devices/traffic.h"

enum {
    HALF = 16,
    SECTOR = 32,
    LINE = 128,
    SECTORS = LINE / SECTOR,
    BANKS = 32,
    BANK_BYTES = 4,
    REGISTER_BYTES = 256
};

static bool is_idle(const cute_request *r, uint32_t n)
{
    return r->idle >> r->lane[n] & 1;
}

/* Of lanes that copy to one address past the L1 only the first comes. `shared`, of the request: where they copy to. */
static bool comes_first(const cute_request *r, const uint64_t *shared, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (shared[k] == shared[n] && !is_idle(r, k)) return false;
    return true;
}

/* Past the L1 a sector comes once for each sector of shared memory that it goes to, and once more where its halves change
 * places. */
static uint64_t sectors_past_l1(const cute_request *r)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        uint32_t k = 0;
        if (!comes_first(r, r->other, n)) continue;
        while (k < n && (r->address[k] / SECTOR != r->address[n] / SECTOR ||
                         r->other[k] / SECTOR != r->other[n] / SECTOR ||
                         (r->other[k] - r->address[k] - r->other[n] + r->address[n]) % SECTOR ||
                         !comes_first(r, r->other, k)))
            k++;
        count += k == n;
    }
    return count;
}

void cute_traffic_add_sectors(const cute_request *r, cute_traffic *t)
{
    uint64_t sorted[CUTE_REQUEST_LANES], last = UINT64_MAX, end = 0, bytes = 0, sectors = 0;
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
    t->count += r->copy == CUTE_COPY_PAST_L1 ? sectors_past_l1(r) : sectors;
    t->ideal += (bytes + SECTOR - 1) / SECTOR;
}

/* Different words of one bank need a wavefront each. */
static uint32_t word_conflicts(const cute_request *r, uint32_t first, uint32_t end)
{
    uint64_t words[CUTE_REQUEST_LANES * 4];
    uint32_t count = 0, most = 0, bank[BANKS] = {0};
    for (uint32_t n = first; n < end; n++)
        for (uint64_t a = r->address[n] / BANK_BYTES; a <= (r->address[n] + r->bytes - 1) / BANK_BYTES; a++) {
            uint32_t k = 0;
            while (k < count && words[k] != a) k++;
            if (k < count || count == CUTE_REQUEST_LANES * 4) continue;
            words[count++] = a;
            uint32_t used = ++bank[a % BANKS];
            if (used > most) most = used;
        }
    return most;
}

/* Lanes n and n ^ `by` have one address wherever both are active. */
static bool in_pairs(const cute_request *r, uint32_t by)
{
    uint64_t address[CUTE_REQUEST_LANES];
    uint32_t active = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        address[r->lane[n]] = r->address[n];
        active |= UINT32_C(1) << r->lane[n];
    }
    for (uint32_t l = 0; l < CUTE_REQUEST_LANES; l++)
        if ((active >> l & 1) && (active >> (l ^ by) & 1) && address[l] != address[l ^ by]) return false;
    return true;
}

uint32_t cute_traffic_group(const cute_request *r, uint32_t first)
{
    uint32_t least = r->bytes <= 4 ? CUTE_REQUEST_LANES : r->bytes == 8 ? 16 : 8, end = first;
    bool pairs = r->load && least < CUTE_REQUEST_LANES && (in_pairs(r, 1) || in_pairs(r, 2));
    for (uint32_t group = pairs ? CUTE_REQUEST_LANES : least;; group /= 2) {
        bool begun = first && r->lane[first - 1] / group == r->lane[first] / group;
        if (begun && group > least) continue;
        for (end = first; end < r->count && r->lane[end] / group == r->lane[first] / group;) end++;
        if (group == least ||
            ((end - first) * r->bytes <= REGISTER_BYTES && word_conflicts(r, first, end) == 1))
            return end;
    }
}

/* Lanes of a copy meet in a bank that they read or write, whatever the words: as many wavefronts as meet with one of them. */
static uint32_t copy_conflicts(const cute_request *r, uint32_t first, uint32_t end)
{
    uint32_t most = 0;
    for (uint32_t n = first; n < end; n++) {
        uint32_t meet = 0;
        for (uint32_t k = first; k < end; k++) {
            bool both_read = !is_idle(r, n) && !is_idle(r, k);
            meet += r->address[k] % LINE / r->bytes == r->address[n] % LINE / r->bytes ||
                    (both_read && r->other[k] % LINE / r->bytes == r->other[n] % LINE / r->bytes);
        }
        if (meet > most) most = meet;
    }
    return most;
}

/* A sector that comes past the L1: from where to where, and which of its halves. */
typedef struct sector_move {
    uint64_t from, to;
    bool swapped; /* its halves change places */
    uint8_t halves;
} sector_move;

static uint32_t moves_of(const cute_request *r, sector_move out[CUTE_REQUEST_LANES])
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        sector_move m = {r->other[n] / SECTOR, r->address[n] / SECTOR,
                         ((r->address[n] ^ r->other[n]) & HALF) != 0, r->other[n] & HALF ? 2 : 1};
        uint32_t k = 0;
        if (is_idle(r, n) || !comes_first(r, r->address, n)) continue;
        while (k < count && (out[k].from != m.from || out[k].to != m.to || out[k].swapped != m.swapped)) k++;
        if (k == count) out[count++] = m;
        out[k].halves |= m.halves;
    }
    return count;
}

/* From one line to one line, all by an even number of sectors on or all by an odd one, and the same halves. */
static bool move_together(const sector_move *a, const sector_move *b)
{
    return a->from / SECTORS == b->from / SECTORS && a->to / SECTORS == b->to / SECTORS &&
           a->swapped == b->swapped && a->halves == b->halves && !((a->from ^ a->to ^ b->from ^ b->to) & 1);
}

/* Of what moves together one wavefront has each sector of the one line and of the other once. */
static uint32_t wavefronts_past_l1(const cute_request *r)
{
    sector_move moves[CUTE_REQUEST_LANES];
    uint32_t count = moves_of(r, moves), sum = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t k = 0, most = 0, from[SECTORS] = {0}, to[SECTORS] = {0};
        while (!move_together(&moves[k], &moves[n])) k++;
        if (k < n) continue;
        for (; k < count; k++) {
            if (!move_together(&moves[k], &moves[n])) continue;
            if (++from[moves[k].from % SECTORS] > most) most = from[moves[k].from % SECTORS];
            if (++to[moves[k].to % SECTORS] > most) most = to[moves[k].to % SECTORS];
        }
        sum += most;
    }
    return sum;
}

/* Where some lanes of a copy past the L1 fill with zeros, all write through the banks besides. */
void cute_traffic_add_wavefronts(const cute_request *r, cute_traffic *t)
{
    bool past = r->copy == CUTE_COPY_PAST_L1, idle = false;
    for (uint32_t n = 0; n < r->count; n++) idle |= is_idle(r, n);
    t->requests++;
    if (past) t->count += wavefronts_past_l1(r);
    for (uint32_t n = 0, end; n < r->count; n = end) {
        end = cute_traffic_group(r, n);
        if (!past || idle) t->count += r->copy ? copy_conflicts(r, n, end) : word_conflicts(r, n, end);
        t->ideal++;
    }
}
