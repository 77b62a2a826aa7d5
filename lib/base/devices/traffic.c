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

/* Of lanes that copy to the same address past the L1, only the first counts. `shared`: destination
 * addresses. */
static bool is_first_to_address(const cute_request *r, const uint64_t *shared, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (shared[k] == shared[n] && !is_idle(r, k)) return false;
    return true;
}

/* Past the L1, a sector is fetched once per destination sector of shared memory, and once more if its halves
 * are swapped. */
static uint64_t sectors_past_l1(const cute_request *r)
{
    uint64_t count = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        uint32_t k = 0;
        if (!is_first_to_address(r, r->other, n)) continue;
        while (k < n && (r->address[k] / SECTOR != r->address[n] / SECTOR ||
                         r->other[k] / SECTOR != r->other[n] / SECTOR ||
                         (r->other[k] - r->address[k] - r->other[n] + r->address[n]) % SECTOR ||
                         !is_first_to_address(r, r->other, k)))
            k++;
        count += k == n;
    }
    return count;
}

void cute_traffic_add_sectors(const cute_request *r, cute_traffic *t)
{
    uint64_t sorted[CUTE_REQUEST_LANES], last = UINT64_MAX, end = 0, bytes = 0, sectors = 0;
    for (uint32_t n = 0; n < r->count; n++) { /* insertion sort: nearly always in order already */
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

/* Whether lanes n and n ^ `by` share an address wherever both are active. */
static bool pairs_share_address(const cute_request *r, uint32_t by)
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
    bool pairs =
        r->load && least < CUTE_REQUEST_LANES && (pairs_share_address(r, 1) || pairs_share_address(r, 2));
    for (uint32_t group = pairs ? CUTE_REQUEST_LANES : least;; group /= 2) {
        bool begun = first && r->lane[first - 1] / group == r->lane[first] / group;
        if (begun && group > least) continue;
        for (end = first; end < r->count && r->lane[end] / group == r->lane[first] / group;) end++;
        if (group == least ||
            ((end - first) * r->bytes <= REGISTER_BYTES && word_conflicts(r, first, end) == 1))
            return end;
    }
}

/* Lanes of a copy conflict in a bank whatever their words: the count is the largest number of conflicts of
 * one lane. */
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

/* A sector copied past the L1: source, destination, and which of its halves. */
typedef struct sector_move {
    uint64_t from, to;
    bool swapped; /* the halves are swapped */
    uint8_t halves;
} sector_move;

static uint32_t collect_sector_moves(const cute_request *r, sector_move out[CUTE_REQUEST_LANES])
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < r->count; n++) {
        sector_move m = {r->other[n] / SECTOR, r->address[n] / SECTOR,
                         ((r->address[n] ^ r->other[n]) & HALF) != 0, r->other[n] & HALF ? 2 : 1};
        uint32_t k = 0;
        if (is_idle(r, n) || !is_first_to_address(r, r->address, n)) continue;
        while (k < count && (out[k].from != m.from || out[k].to != m.to || out[k].swapped != m.swapped)) k++;
        if (k == count) out[count++] = m;
        out[k].halves |= m.halves;
    }
    return count;
}

/* Same source line and same destination line, offsets both even or both odd in sectors, and the same
 * halves. */
static bool can_share_wavefront(const sector_move *a, const sector_move *b)
{
    return a->from / SECTORS == b->from / SECTORS && a->to / SECTORS == b->to / SECTORS &&
           a->swapped == b->swapped && a->halves == b->halves && !((a->from ^ a->to ^ b->from ^ b->to) & 1);
}

/* A wavefront holds each sector of the source line and of the destination line once. */
static uint32_t wavefronts_past_l1(const cute_request *r)
{
    sector_move moves[CUTE_REQUEST_LANES];
    uint32_t count = collect_sector_moves(r, moves), sum = 0;
    for (uint32_t n = 0; n < count; n++) {
        uint32_t k = 0, most = 0, from[SECTORS] = {0}, to[SECTORS] = {0};
        while (!can_share_wavefront(&moves[k], &moves[n])) k++;
        if (k < n) continue;
        for (; k < count; k++) {
            if (!can_share_wavefront(&moves[k], &moves[n])) continue;
            if (++from[moves[k].from % SECTORS] > most) most = from[moves[k].from % SECTORS];
            if (++to[moves[k].to % SECTORS] > most) most = to[moves[k].to % SECTORS];
        }
        sum += most;
    }
    return sum;
}

/* If some lanes of a copy past the L1 fill with zeros, all lanes are written through the banks as well. */
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
