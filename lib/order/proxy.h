/* Proxies: which accesses require more than ordering, and which fence provides it. Sections are those of the
 * PTX ISA, "Memory Consistency Model: Proxies" and "membar / fence". Times are the caller's: they increase,
 * and 0 means never. */
#ifndef CUTE_LIB_ORDER_PROXY_H
#define CUTE_LIB_ORDER_PROXY_H

#include <stdbool.h>
#include <stdint.h>

/* Threads, cp.async, st.async and operations on mbarriers access memory through the generic proxy; bulk
 * copies, tensor copies and wgmma use the async proxy ("Async proxy"). */
typedef enum order_proxy { ORDER_GENERIC, ORDER_ASYNC } order_proxy;

/* fence.proxy.async: "if a state space is given, only accesses to it are ordered". A set of spaces; 0: a
 * fence of another proxy (.alias, .tensormap). */
enum { ORDER_SHARED = 1, ORDER_GLOBAL = 2 };
static inline unsigned order_proxy_fence(bool async, bool shared, bool global)
{
    if (!async) return 0;
    return shared == global ? ORDER_SHARED | ORDER_GLOBAL : shared ? ORDER_SHARED : ORDER_GLOBAL;
}

/* True if two ordered accesses also require a proxy fence. A completed copy makes its writes visible to the
 * generic proxy ("implicit proxy fence" of its completion). Ordering suffices for a later copy that
 * overwrites data that threads read or wrote, because they no longer use it. */
static inline bool order_needs_proxy_fence(order_proxy before, bool wrote, order_proxy after, bool writes)
{
    return before == ORDER_GENERIC && wrote && after == ORDER_ASYNC && !writes;
}

/* `writer_fence`: the writer's latest fence before the ordering; `seen`: the time up to which the reader knew
 * the writer's accesses at its own fence. */
static inline bool order_is_fenced(uint64_t written, uint64_t writer_fence, uint64_t seen)
{
    return writer_fence >= written || seen >= written;
}

/* Fences and arrivals after the initialization of an mbarrier. */
typedef struct order_init {
    uint64_t init;
    /* By the initializing thread: fence.mbarrier_init, .proxy.async, a memory fence with .cluster or wider
     * scope */
    uint64_t init_fence, proxy_fence, cluster_fence;
    uint64_t relaxed, released; /* its arrivals at barrier.cluster, by kind */
    uint64_t user_fence;        /* fence.proxy.async by the using thread */
} order_init;

/* "mbarrier.init" uses the generic proxy; completions of bulk copies use the async proxy. */
static inline bool order_init_reaches_copies(const order_init *i)
{
    return i->init_fence >= i->init || i->proxy_fence >= i->init || i->user_fence >= i->init;
}

/* Threads of other blocks, and their st.async, use the mbarrier through the generic proxy: ordering suffices,
 * and "barrier.cluster.arrive.relaxed provides no memory ordering". */
static inline bool order_init_reaches_blocks(const order_init *i)
{
    return i->relaxed < i->init || i->released >= i->init || i->init_fence >= i->init ||
           i->cluster_fence >= i->init;
}

#endif
