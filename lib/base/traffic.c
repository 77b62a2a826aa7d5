/* See traffic.h. */
#include "lib/base/traffic.h"

enum { SECTOR = 32, BANKS = 32, BANK_BYTES = 4 };

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
    t->count += sectors;
    t->ideal += (bytes + SECTOR - 1) / SECTOR;
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

/* Half a warp of 8 bytes a lane fills 128 bytes, a quarter of 16. Pairs of one address ask for half of that: NVIDIA describes
 * the rule for loads from compute capability 7.0 on. */
uint32_t cute_traffic_group(const cute_request *r)
{
    uint32_t group = r->bytes <= 4 ? 32 : r->bytes == 8 ? 16 : 8;
    bool pairs = r->load && group < 32 && (in_pairs(r, 1) || in_pairs(r, 2));
    return pairs ? 2 * group : group;
}

/* Different words of one bank need a wavefront each. */
void cute_traffic_add_wavefronts(const cute_request *r, cute_traffic *t)
{
    uint32_t group = cute_traffic_group(r);
    t->requests++;
    for (uint32_t first = 0; first < CUTE_REQUEST_LANES; first += group) {
        uint64_t words[CUTE_REQUEST_LANES * 4];
        uint32_t count = 0, wavefronts = 0, bank[BANKS] = {0};
        for (uint32_t n = 0; n < r->count; n++) {
            if (r->lane[n] < first || r->lane[n] >= first + group) continue;
            for (uint64_t a = r->address[n] / BANK_BYTES; a <= (r->address[n] + r->bytes - 1) / BANK_BYTES;
                 a++) {
                uint32_t k = 0;
                while (k < count && words[k] != a) k++;
                if (k < count || count == CUTE_REQUEST_LANES * 4) continue;
                words[count++] = a;
                uint32_t used = ++bank[a % BANKS];
                if (used > wavefronts) wavefronts = used;
            }
        }
        t->count += wavefronts;
        t->ideal += wavefronts ? 1 : 0;
    }
}
