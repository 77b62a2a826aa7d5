/* Groups of asynchronous operations, and the registers of pending wgmma. Sections are those of the PTX ISA:
 * "cp.async.wait_group", "cp.async.bulk.wait_group", "wgmma.wait_group", "wgmma.fence", "Asynchronous
 * Warpgroup Level Matrix: Register Fragments". */
#ifndef CUTE_LIB_ORDER_GROUP_H
#define CUTE_LIB_ORDER_GROUP_H

#include <stdbool.h>
#include <stdint.h>

/* Groups are numbered from 1. "wait_group N: at most N of the most recent groups are pending": the last group
 * that is complete. */
static inline uint32_t order_groups_done(uint32_t committed, uint64_t allowed)
{
    return committed > allowed ? committed - (uint32_t)allowed : 0;
}

/* "wait_group.read: only reads of the sources are complete": writes of bulk copies to global memory may be
 * pending. */
static inline bool order_wait_covers(bool read_only, bool writes_global)
{
    return !read_only || !writes_global;
}

/* ---- wgmma ---- */

enum { ORDER_GROUPS_KEPT = 64 };

/* The wgmma operations of a warp, numbered from 1. */
typedef struct order_products {
    uint32_t issued, finished, fences;
    uint32_t groups, committed[ORDER_GROUPS_KEPT]; /* last product in each group */
} order_products;

/* The registers of a product, tracked together: one or several. */
typedef struct order_registers {
    uint32_t product; /* the latest product that uses them, 0: none */
    /* Time of that use and of the last other access, in fences of the warp + 1; 0: no access since */
    uint32_t fenced, used;
    uint32_t shape; /* of that product */
    bool written;   /* that access was a write; reads after it and before the next fence do not count */
    bool operand;   /* the product only reads them */
} order_registers;

typedef enum order_use {
    ORDER_USE_IS_VALID,
    /* missing wgmma.fence */
    ORDER_FIRST_PRODUCT,
    ORDER_AFTER_WRITE,
    ORDER_AFTER_READ,
    ORDER_WAS_OPERAND,
    ORDER_WAS_ACCUMULATOR,
    ORDER_OTHER_SHAPE,
    /* missing wgmma.wait_group */
    ORDER_OPERAND_PENDING,     /* an operand is still being written by another product */
    ORDER_TOUCHED_ACCUMULATOR, /* accessed by another instruction */
    ORDER_TOUCHED_OPERAND,
} order_use;

static inline void order_products_commit(order_products *w)
{
    w->committed[++w->groups % ORDER_GROUPS_KEPT] = w->issued;
}

static inline void order_products_wait(order_products *w, uint32_t group)
{
    uint32_t upto = group ? w->committed[group % ORDER_GROUPS_KEPT] : 0;
    if (upto > w->finished) w->finished = upto;
}

/* Records a product. True: "wgmma.fence must be used before the first wgmma.mma_async" is violated. */
static inline bool order_product_begins(order_products *w)
{
    return ++w->issued == 1 && !w->fences;
}

/* True if the registers' product is in a committed group, so that a wait can cover it. */
static inline bool order_is_in_group(const order_products *w, const order_registers *r)
{
    return w->groups && r->product <= w->committed[w->groups % ORDER_GROUPS_KEPT];
}

static inline bool order_is_pending(const order_products *w, const order_registers *r)
{
    return r->product > w->finished;
}

/* "wgmma.fence must be used between any access to registers and wgmma.mma_async that names them, except when
 * these are accumulators of several wgmma.mma_async of the same shape." Records that the current product uses
 * the registers. */
static inline order_use order_product_takes(const order_products *w, order_registers *r, bool accumulator,
                                            uint32_t shape)
{
    uint32_t now = w->fences + 1;
    order_use use = ORDER_USE_IS_VALID;
    bool pending = order_is_pending(w, r);
    if (r->used == now)
        use = r->written ? ORDER_AFTER_WRITE : ORDER_AFTER_READ;
    else if (r->product && r->fenced == now && accumulator && r->operand)
        use = ORDER_WAS_OPERAND;
    else if (r->product && r->fenced == now && !accumulator && !r->operand && !pending)
        use = ORDER_WAS_ACCUMULATOR;
    else if (r->product && r->fenced == now && accumulator && r->shape != shape)
        use = ORDER_OTHER_SHAPE;
    else if (!accumulator && pending && !r->operand)
        use = ORDER_OPERAND_PENDING;
    r->operand = !accumulator && (r->operand || !pending);
    r->product = w->issued;
    r->fenced = now;
    r->shape = shape;
    r->used = 0;
    return use;
}

/* "Accessing the registers, including the accumulator, before wgmma.wait_group is undefined": another
 * instruction reads or writes them. Reading an operand is allowed. */
static inline order_use order_registers_touched(const order_products *w, order_registers *r, bool write)
{
    uint32_t now = w->fences + 1;
    order_use use = ORDER_USE_IS_VALID;
    if (order_is_pending(w, r) && (write || !r->operand))
        use = r->operand ? ORDER_TOUCHED_OPERAND : ORDER_TOUCHED_ACCUMULATOR;
    if (!write && r->used == now && r->written) return use;
    r->used = now;
    r->written = write;
    return use;
}

#endif
