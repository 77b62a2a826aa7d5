/* Phases of mbarriers: arrivals, transaction bytes, waits. Sections are those of the PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier". The caller stores the object. */
#ifndef CUTE_LIB_ORDER_MBARRIER_H
#define CUTE_LIB_ORDER_MBARRIER_H

#include <stdbool.h>
#include <stdint.h>

/* "Contents of the mbarrier object": arrival counts are 1 to 2^20 - 1, the transaction count is within +-
 * (2^20 - 1). */
enum { ORDER_MBARRIER_MOST = (1 << 20) - 1 };

typedef struct order_mbarrier {
    uint32_t count, pending; /* arrivals per phase; pending arrivals of the current phase */
    int64_t bytes;           /* the transaction count: bytes expected minus bytes arrived */
    uint32_t phase;          /* number of completed phases */
} order_mbarrier;

typedef enum order_arrival {
    ORDER_ARRIVES,
    ORDER_TOO_MANY_ARRIVALS, /* more than the phase's pending arrivals */
    ORDER_TOO_MANY_BYTES,    /* outside the range of the transaction count */
} order_arrival;

static inline bool order_mbarrier_count_is_valid(int64_t count)
{
    return count >= 1 && count <= ORDER_MBARRIER_MOST;
}

static inline order_mbarrier order_mbarrier_init(uint32_t count)
{
    return (order_mbarrier){.count = count, .pending = count};
}

/* "mbarrier.arrive", "expect-tx operation" (tx > 0), "complete-tx operation" (tx < 0): an arrival with
 * expected bytes adds these first. `drops`: "mbarrier.arrive_drop" also decrements the count of later phases.
 * An invalid arrival changes nothing. */
static inline order_arrival order_mbarrier_arrive(order_mbarrier *b, uint32_t arrivals, int64_t tx,
                                                  bool drops)
{
    int64_t bytes = b->bytes + tx;
    if (bytes < -ORDER_MBARRIER_MOST || bytes > ORDER_MBARRIER_MOST) return ORDER_TOO_MANY_BYTES;
    if (arrivals > b->pending) return ORDER_TOO_MANY_ARRIVALS;
    b->bytes = bytes;
    b->pending -= arrivals;
    if (drops) b->count = b->count > arrivals ? b->count - arrivals : 1;
    return ORDER_ARRIVES;
}

/* "cp.async.mbarrier.arrive" without .noinc: adds a pending arrival, which the copies complete. */
static inline bool order_mbarrier_raise(order_mbarrier *b)
{
    if (b->pending >= ORDER_MBARRIER_MOST) return false;
    b->pending++;
    return true;
}

/* "Phase of the mbarrier object": complete when no arrivals are pending and the transaction count is zero;
 * the next phase begins immediately. */
static inline bool order_mbarrier_is_complete(const order_mbarrier *b)
{
    return !b->pending && !b->bytes;
}

static inline void order_mbarrier_next(order_mbarrier *b)
{
    b->phase++;
    b->pending = b->count;
}

/* "mbarrier.test_wait": a wait for a parity succeeds while the current phase has the other parity, hence also
 * before the first phase is complete. */
static inline bool order_mbarrier_passes(const order_mbarrier *b, uint32_t parity)
{
    return (b->phase & 1) != (parity & 1);
}

/* The bytes expected and completed in one phase, for messages about a mismatch. */
typedef struct order_bytes {
    int64_t expected, brought;
} order_bytes;

static inline void order_bytes_add(order_bytes *b, int64_t tx)
{
    if (tx > 0)
        b->expected += tx;
    else
        b->brought -= tx;
}

#endif
