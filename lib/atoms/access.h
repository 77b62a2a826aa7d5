/* The cost of copies, from layouts alone: vector width, the sectors and banks that the lanes of a warp
 * access, and the swizzle that avoids bank conflicts. */
#ifndef CUTE_LIB_ATOMS_ACCESS_H
#define CUTE_LIB_ATOMS_ACCESS_H

#include "cute/layout.h"
#include "lib/base/devices/traffic.h"

/* ---- vector width (widest.c) ---- */

typedef struct cute_widest {
    int64_t elements; /* per access: a power of two; 1: scalar accesses */
    /* Tilers that vectorize: ((elements,1),(rest)) to coordinates of the tensors, and (1,(rest)) to those of
     * the predicate. Set if elements > 1. */
    cute_layout tile, predicate_tile;
    const char *limit; /* the reason for not twice as many, in `arena`; NULL: `most_bits` is reached */
} cute_widest;

/* The vector width of a copy of `source` to `target`, tensors in memory of equal size, whose atom moves
 * `values` of their elements. For registers only the order matters; for memory also the alignment of the
 * pointer and of all offsets. `predicate` has one element per execution of the atom; NULL: none.
 * CUTE_INVALID: the tensors are unsuitable. */
cute_status cute_copy_widest(cute_arena *arena, const cute_value *source, const cute_value *target,
                             const cute_value *predicate, int64_t values, int64_t most_bits, cute_widest *out,
                             cute_diag *diag);

/* ---- assignment of threads (transpose.c) ---- */

/* Reassigns the elements of a tiled copy's tile to threads: a thread-value layout, (thread, value) to an
 * element's index in the tile, with the same numbers of threads and values, in which consecutive threads
 * access consecutive elements of the tensor (`tile`: the tile's elements in the tensor). The first `values`
 * values, which one instruction moves, stay together. *changed: the assignment differs. CUTE_INVALID:
 * something is unknown, or the modes do not divide each other. */
cute_status cute_copy_transpose(cute_arena *arena, cute_layout tv, int64_t values, cute_layout tile,
                                cute_layout *out, bool *changed, cute_diag *diag);

/* ---- requests of a warp (warp_requests.c) ---- */

/* The access of a lane: a fully known tensor in memory, and the address of its pointer in bytes. */
typedef struct cute_lane {
    cute_value tensor;
    int64_t address;
} cute_lane;

typedef struct cute_requests {
    cute_request *items; /* in `arena` */
    size_t count;
} cute_requests;

/* The requests of the first `count` lanes of a warp, each accessing `elements` consecutive elements of its
 * tensor at a time; addresses include the tensors' swizzles. CUTE_INVALID: a tensor is not fully known,
 * tensors differ in size, or more than a million accesses. */
cute_status cute_warp_requests(cute_arena *arena, const cute_lane *lanes, uint32_t count, int64_t elements,
                               cute_requests *out, cute_diag *diag);
/* x ^ ((x & Y) >> shift), as documented for cute_swizzle. */
uint64_t cute_swizzle_apply(cute_swizzle swizzle, uint64_t x);
cute_traffic cute_requests_sectors(const cute_requests *requests);
/* The wavefronts of the requests with swizzled addresses. */
cute_traffic cute_requests_wavefronts(const cute_requests *requests, cute_swizzle swizzle);
/* The swizzle of byte addresses with the fewest wavefronts, the simplest among equals (bits 0 if no swizzle
 * improves on none). It keeps `together` contiguous bytes together and permutes within blocks of `block`
 * bytes; both are powers of two. */
cute_swizzle cute_requests_swizzle(const cute_requests *requests, int64_t together, int64_t block);

#endif
