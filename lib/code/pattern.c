/* See pattern.h. */
#include "lib/code/pattern.h"

#include "lib/base/buffer.h"

enum { LANE_BITS = 5, BANKS = 32 };

/* One stride per bit of the lane index; false: the addresses are not linear in these bits. */
static bool find_strides(const cute_request *r, int64_t strides[LANE_BITS])
{
    if (r->count != CUTE_REQUEST_LANES) return false;
    for (int b = 0; b < LANE_BITS; b++) strides[b] = (int64_t)(r->address[1u << b] - r->address[0]);
    for (uint32_t l = 0; l < CUTE_REQUEST_LANES; l++) {
        int64_t sum = (int64_t)r->address[0];
        for (int b = 0; b < LANE_BITS; b++) sum += l >> b & 1 ? strides[b] : 0;
        if (sum != (int64_t)r->address[l]) return false;
    }
    return true;
}

/* "((8,4),4):((4,128),1)" of (lane, byte). */
static const char *format_layout(cute_arena *arena, const cute_access *a)
{
    int64_t bits[LANE_BITS], shape[LANE_BITS], stride[LANE_BITS];
    int modes = 0;
    cute_buffer text = {0};
    if (!find_strides(&a->request, bits)) return NULL;
    for (int b = 0; b < LANE_BITS; b++) {
        if (modes && bits[b] == stride[modes - 1] * shape[modes - 1]) {
            shape[modes - 1] *= 2;
            continue;
        }
        shape[modes] = 2;
        stride[modes++] = bits[b];
    }
    for (int part = 0; part < 2; part++) {
        const int64_t *list = part ? stride : shape;
        cute_buffer_puts(&text, modes > 1 ? "((" : "(");
        for (int m = 0; m < modes; m++) cute_buffer_printf(&text, "%s%lld", m ? "," : "", (long long)list[m]);
        cute_buffer_printf(&text, "%s,%u)%s", modes > 1 ? ")" : "", part ? 1 : a->bytes, part ? "" : ":");
    }
    const char *copy = cute_arena_copy(arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
    return copy;
}

/* The most different words of one bank in a group of lanes that is served together. */
static uint32_t count_conflict_ways(const cute_access *a)
{
    const cute_request *r = &a->request;
    uint32_t most = 0;
    for (uint32_t first = 0, end; first < r->count; first = end) {
        end = cute_traffic_group(r, first);
        for (uint32_t bank = 0; bank < BANKS; bank++) {
            uint64_t words[CUTE_REQUEST_LANES];
            uint32_t count = 0;
            for (uint32_t n = first; n < end; n++)
                for (uint64_t w = r->address[n] / 4; w <= (r->address[n] + r->bytes - 1) / 4; w++) {
                    uint32_t k = 0;
                    if (w % BANKS != bank) continue;
                    while (k < count && words[k] != w) k++;
                    if (k == count && count < CUTE_REQUEST_LANES) words[count++] = w;
                }
            if (count > most) most = count;
        }
    }
    return most;
}

static const char *describe_pattern(cute_arena *arena, const cute_access *a)
{
    const cute_request *r = &a->request;
    if (!cute_access_is_poor(a) || r->count < 2) return NULL;
    if (a->space == CUTE_CODE_SPACE_SHARED) {
        uint32_t ways = count_conflict_ways(a);
        if (ways == 1 && r->copy == CUTE_COPY_THROUGH_L1) return "lanes read several words of the same bank";
        if (ways == 1 && r->copy) return "lines of global memory straddle lines of shared memory";
        return ways > 1 ? cute_arena_printf(arena, "%u-way bank conflict", ways) : NULL;
    }
    int64_t step = (int64_t)(r->address[1] - r->address[0]);
    for (uint32_t n = 2; n < r->count; n++)
        if ((int64_t)(r->address[n] - r->address[n - 1]) != step)
            return cute_arena_printf(arena, "%u bytes used of %u in %u sectors",
                                     (unsigned)(r->count * r->bytes), (unsigned)a->costs[0].count * 32u,
                                     (unsigned)a->costs[0].count);
    if (step < 0) step = -step;
    if (step == (int64_t)r->bytes) return "contiguous, but not aligned to sectors";
    return cute_arena_printf(arena, "stride of %lld bytes between lanes", (long long)step);
}

cute_status cute_access_describe(cute_arena *arena, cute_access *a, cute_diag *diag)
{
    if (a->unknown || !a->warps) return CUTE_OK;
    (void)diag;
    a->layout = format_layout(arena, a);
    a->pattern = describe_pattern(arena, a);
    return CUTE_OK;
}
