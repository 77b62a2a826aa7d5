/* Copies of elements at strides: their extent in memory, overlaps, and the copies of rows that they consist of. */
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/device/device.h"
#include "lib/launch/plan/plan.h"

/* ---- form ---- */

/* Slower dimensions have larger strides in the target; the order has no meaning for a copy. */
static void sort_dimensions(host_box *b)
{
    for (int i = 1; i < b->rank; i++)
        for (int k = i; k > 0 && b->to[k - 1] < b->to[k]; k--) {
            int64_t *const columns[] = {b->extents, b->to, b->from};
            for (int c = 0; c < 3; c++) {
                int64_t last = columns[c][k];
                columns[c][k] = columns[c][k - 1];
                columns[c][k - 1] = last;
            }
        }
}

/* A step of dimension i is all of dimension i + 1. */
static bool continues(const int64_t *strides, const int64_t *extents, int i)
{
    int64_t reach;
    return cute_mul64(strides[i + 1], extents[i + 1], &reach) && strides[i] == reach;
}

void host_box_simplify(host_box *b)
{
    int rank = 0;
    for (int i = 0; i < b->rank; i++) {
        if (b->extents[i] == 1) continue;
        b->extents[rank] = b->extents[i];
        b->to[rank] = b->to[i];
        b->from[rank++] = b->from[i];
    }
    b->rank = rank;
    sort_dimensions(b);
    /* the fastest dimensions become part of the element, others one with the next */
    while (b->rank && b->to[b->rank - 1] == b->size && b->from[b->rank - 1] == b->size)
        b->size *= b->extents[--b->rank];
    for (int i = b->rank - 2; i >= 0; i--) {
        if (!continues(b->to, b->extents, i) || !continues(b->from, b->extents, i)) continue;
        b->extents[i] *= b->extents[i + 1];
        b->to[i] = b->to[i + 1];
        b->from[i] = b->from[i + 1];
        for (int k = i + 1; k + 1 < b->rank; k++) {
            b->extents[k] = b->extents[k + 1];
            b->to[k] = b->to[k + 1];
            b->from[k] = b->from[k + 1];
        }
        b->rank--;
    }
}

bool host_box_spans(const host_box *b, int64_t *bytes, int64_t *to, int64_t *from)
{
    *bytes = *to = *from = b->size;
    for (int i = 0; i < b->rank; i++) {
        int64_t reach_to, reach_from;
        if (b->to[i] < 0 || b->from[i] < 0 || !cute_mul64(*bytes, b->extents[i], bytes) ||
            !cute_mul64(b->extents[i] - 1, b->to[i], &reach_to) ||
            !cute_mul64(b->extents[i] - 1, b->from[i], &reach_from) || !cute_add64(*to, reach_to, to) ||
            !cute_add64(*from, reach_from, from))
            return false;
    }
    return true;
}

bool host_box_injective(const host_box *b)
{
    int64_t reach = b->size;
    for (int i = b->rank; i-- > 0;) {
        if (b->to[i] < reach) return false;
        reach += (b->extents[i] - 1) * b->to[i];
    }
    return true;
}

/* Whether a sum of multiples of the strides from dimension i on, each with a factor of less than the extent in size, is within the size of
 * an element of `distance`. The strides are those of an injective target, so that few factors are possible. */
static bool reaches(const host_box *b, int i, int64_t distance)
{
    if (i == b->rank) return distance < b->size && -distance < b->size;
    int64_t nearest = distance / b->to[i];
    for (int64_t n = nearest - 1; n <= nearest + 1; n++)
        if (n < b->extents[i] && -n < b->extents[i] && reaches(b, i + 1, distance - n * b->to[i]))
            return true;
    return false;
}

bool host_box_overlaps(const host_box *b, int64_t distance)
{
    int64_t bytes, to, from;
    if (!host_box_spans(b, &bytes, &to, &from) || distance >= to || -distance >= from) return false;
    for (int i = 0; i < b->rank; i++)
        if (b->to[i] != b->from[i]) return true;
    return reaches(b, 0, -distance);
}

/* ---- running ---- */

cute_status cute_plan_copy_box(const plan_run *run, const host_box *b, cute_address to, cute_address from,
                               cute_stream *stream, cute_diag *diag)
{
    cute_copy_rows rows = {.row = (size_t)b->size, .count = 1};
    int64_t at[HOST_BOX_RANK] = {0};
    int outer = b->rank;
    /* the driver copies rows whose distance is not less than their length */
    if (outer && b->to[outer - 1] >= b->size && b->from[outer - 1] >= b->size) {
        outer--;
        rows.count = (size_t)b->extents[outer];
        rows.to_pitch = (size_t)b->to[outer];
        rows.from_pitch = (size_t)b->from[outer];
    }
    for (;;) {
        int i = outer - 1;
        rows.to = to;
        rows.from = from;
        for (int k = 0; k < outer; k++) {
            rows.to += (cute_address)(at[k] * b->to[k]);
            rows.from += (cute_address)(at[k] * b->from[k]);
        }
        CUTE_TRY(run->device->ops->copy_rows(run->device, stream, &rows, diag));
        while (i >= 0 && ++at[i] == b->extents[i]) at[i--] = 0;
        if (i < 0) return CUTE_OK;
    }
}
