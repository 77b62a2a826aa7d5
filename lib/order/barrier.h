/* Barriers of blocks and clusters, and blocks that have exited. Sections are those of the PTX ISA: "bar{.cta}
 * / barrier{.cta}", "barrier.cluster". */
#ifndef CUTE_LIB_ORDER_BARRIER_H
#define CUTE_LIB_ORDER_BARRIER_H

#include <stdbool.h>
#include <stdint.h>

enum { ORDER_BARRIERS = 16, ORDER_WARP = 32 };

typedef enum order_barrier {
    ORDER_BARRIER_IS_VALID,
    ORDER_BARRIER_NUMBER,      /* "operand a: 0 through 15" */
    ORDER_BARRIER_THREADS,     /* "operand b: a multiple of the warp size" */
    ORDER_BARRIER_TOO_MANY,    /* more threads than the block has warps for */
    ORDER_BARRIER_OTHER_COUNT, /* other threads wait with a different thread count */
} order_barrier;

/* "All warps participate in full": a count is rounded to whole warps; without one, all threads of the block
 * participate. */
static inline int64_t order_barrier_all(int64_t threads)
{
    return (threads + ORDER_WARP - 1) / ORDER_WARP * ORDER_WARP;
}

/* `wanted`: the instruction's count; `waiting`: the count of the threads that have arrived, 0: none; `all`:
 * threads of the block. */
static inline order_barrier order_barrier_check(int64_t number, int64_t wanted, int64_t waiting, int64_t all)
{
    if (number < 0 || number >= ORDER_BARRIERS) return ORDER_BARRIER_NUMBER;
    if (wanted < ORDER_WARP || wanted % ORDER_WARP) return ORDER_BARRIER_THREADS;
    if (waiting && waiting != wanted) return ORDER_BARRIER_OTHER_COUNT;
    return wanted > all ? ORDER_BARRIER_TOO_MANY : ORDER_BARRIER_IS_VALID;
}

/* barrier.cluster.arrive and .wait must alternate in each thread: the threads of `mask` that violate this,
 * where `arrived` have arrived and not waited since. */
static inline uint32_t order_cluster_out_of_turn(uint32_t arrived, uint32_t mask, bool arrives)
{
    return arrives ? mask & arrived : mask & ~arrived;
}

/* Uses of the shared memory of a block that may have exited. Undefined according to the CUDA guide
 * ("Distributed Shared Memory"). An H200 drops arrivals and st.async that are 3 ms late; on an H100 launches whose blocks exit while
 * arrivals are on their way fail at times. A block's shared memory is kept until its own bulk copies have read it. */
typedef enum order_late_use {
    ORDER_LATE_ARRIVAL,
    ORDER_LATE_STORE,
    ORDER_LATE_SOURCE,
    ORDER_LATE_COPY
} order_late_use;
static inline bool order_late_use_is_dropped(order_late_use use)
{
    return use != ORDER_LATE_COPY;
}

#endif
