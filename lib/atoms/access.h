/* What copies cost, from layouts alone: how many elements may move at once, which sectors and banks the lanes of a warp
 * touch, and the swizzle under which they touch different banks. */
#ifndef CUTE_LIB_ATOMS_ACCESS_H
#define CUTE_LIB_ATOMS_ACCESS_H

#include "cute/layout.h"
#include "lib/base/devices/traffic.h"

/* ---- how wide (widest.c) ---- */

typedef struct cute_widest {
    int64_t elements; /* that may move at once: a power of two; 1: one by one */
    /* ((elements,1),(rest)) to coordinates of the tensors, and (1,(rest)) to those of the predicate: what they are
     * composed with. Set where elements > 1. */
    cute_layout tile, predicate_tile;
    const char *limit; /* why not twice as many, in `arena`; NULL: `most_bits` are reached */
} cute_widest;

/* A copy of `source` to `target`, tensors in memory of as many elements, whose atom moves `values` of them. Of registers
 * only the order counts, of memory the alignment of the pointer and what moves it too. `predicate` has an element for each
 * time that the atom is executed; NULL: there is none. CUTE_INVALID: they are no such tensors. */
cute_status cute_copy_widest(cute_arena *arena, const cute_value *source, const cute_value *target,
                             const cute_value *predicate, int64_t values, int64_t most_bits, cute_widest *out,
                             cute_diag *diag);

/* ---- which threads (transpose.c) ---- */

/* The layout of threads and values of a tiled copy, (thread, value) to the index of an element of its tile, with the same
 * elements for as many threads and values: threads follow each other where `tile`, the tile's elements in a tensor, does.
 * The first `values` values, which an instruction moves at once, stay together. *changed: the threads are others.
 * CUTE_INVALID: something is not known, or the modes do not divide one another. */
cute_status cute_copy_transpose(cute_arena *arena, cute_layout tv, int64_t values, cute_layout tile,
                                cute_layout *out, bool *changed, cute_diag *diag);

/* ---- what a warp touches (warp_requests.c) ---- */

/* What a lane accesses: a tensor in memory all of which is known, and the address of its pointer in bytes. */
typedef struct cute_lane {
    cute_value tensor;
    int64_t address;
} cute_lane;

typedef struct cute_requests {
    cute_request *items; /* in `arena` */
    size_t count;
} cute_requests;

/* The requests of the first `count` lanes of a warp, `elements` consecutive ones of each tensor a time; addresses have the
 * tensors' swizzles. CUTE_INVALID: a tensor is not known, tensors differ in size, or more than a million accesses. */
cute_status cute_warp_requests(cute_arena *arena, const cute_lane *lanes, uint32_t count, int64_t elements,
                               cute_requests *out, cute_diag *diag);
/* x ^ ((x & Y) >> shift), as cute_swizzle says. */
uint64_t cute_swizzle_apply(cute_swizzle swizzle, uint64_t x);
cute_traffic cute_requests_sectors(const cute_requests *requests);
/* With the addresses swizzled. */
cute_traffic cute_requests_wavefronts(const cute_requests *requests, cute_swizzle swizzle);
/* The swizzle of byte addresses under which the requests take the fewest wavefronts, the simplest of those: bits 0
 * where none is better than none. It keeps `together` bytes together and moves nothing out of blocks of `block` bytes,
 * both powers of two. */
cute_swizzle cute_requests_swizzle(const cute_requests *requests, int64_t together, int64_t block);

#endif
