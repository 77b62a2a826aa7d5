/* Proxies: which accesses need more than order, and which fence gives it. Sections are those of the PTX ISA, "Memory Consistency
 * Model: Proxies" and "membar / fence". Times are the caller's: of a later action they are larger, 0 is never. */
#ifndef CUTE_LIB_ORDER_PROXY_H
#define CUTE_LIB_ORDER_PROXY_H

#include <stdbool.h>
#include <stdint.h>

/* Threads, cp.async, st.async and operations on mbarriers access memory through the generic proxy; bulk copies, tensor copies and
 * wgmma through the asynchronous one ("Async proxy"). */
typedef enum order_proxy { ORDER_GENERIC, ORDER_ASYNC } order_proxy;

/* fence.proxy.async: "if a state space is given, only accesses to it are ordered". A set of spaces; 0: the fence is of another
 * proxy (.alias, .tensormap). */
enum { ORDER_SHARED = 1, ORDER_GLOBAL = 2 };
static inline unsigned order_proxy_fence(bool async, bool shared, bool global)
{
    if (!async) return 0;
    return shared == global ? ORDER_SHARED | ORDER_GLOBAL : shared ? ORDER_SHARED : ORDER_GLOBAL;
}

/* Whether two accesses in order need a proxy fence besides. A copy that is waited for makes its writes visible to the generic proxy
 * ("implicit proxy fence" of its completion). That a later copy overwrites what threads read or wrote is left to order alone: they
 * are done with it. */
static inline bool order_needs_proxy_fence(order_proxy before, bool wrote, order_proxy after, bool writes)
{
    return before == ORDER_GENERIC && wrote && after == ORDER_ASYNC && !writes;
}

/* `writer_fence`: the writer's latest one ahead of the order; `seen`: up to where the reader knew the writer's accesses at its own. */
static inline bool order_is_fenced(uint64_t written, uint64_t writer_fence, uint64_t seen)
{
    return writer_fence >= written || seen >= written;
}

/* What follows the initialisation of an mbarrier. */
typedef struct order_init {
    uint64_t init;
    uint64_t init_fence, proxy_fence,
        cluster_fence;          /* by the thread that initialised: fence.mbarrier_init, .proxy.async,
                                                        one of memory with .cluster or wider */
    uint64_t relaxed, released; /* its arrivals at barrier.cluster, by kind */
    uint64_t user_fence;        /* fence.proxy.async by the thread that uses it */
} order_init;

/* "mbarrier.init" is of the generic proxy; completions of bulk copies are of the asynchronous one. */
static inline bool order_init_reaches_copies(const order_init *i)
{
    return i->init_fence >= i->init || i->proxy_fence >= i->init || i->user_fence >= i->init;
}

/* Threads of other blocks, and their st.async, use it through the generic proxy: order is enough, and "barrier.cluster.arrive.relaxed
 * provides no memory ordering". */
static inline bool order_init_reaches_blocks(const order_init *i)
{
    return i->relaxed < i->init || i->released >= i->init || i->init_fence >= i->init ||
           i->cluster_fence >= i->init;
}

#endif
