/* The cost of a warp's memory request: sectors of global memory, wavefronts of shared memory. The rules were
 * measured on Hopper, instruction by instruction, with ncu's memory_l2_theoretical_sectors_global and
 * memory_l1_wavefronts_shared (bench/accesses). */
#ifndef CUTE_LIB_BASE_DEVICES_TRAFFIC_H
#define CUTE_LIB_BASE_DEVICES_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum { CUTE_REQUEST_LANES = 32 };

/* The path of a cp.async from global to shared memory: .ca, .cg. */
typedef enum cute_copy_way { CUTE_COPY_NONE, CUTE_COPY_THROUGH_L1, CUTE_COPY_PAST_L1 } cute_copy_way;

/* The active lanes of one instruction, in ascending order, with the same access size. */
typedef struct cute_request {
    uint32_t count, bytes;
    bool load; /* to registers of the lane that gives the address; false for ldmatrix */
    uint64_t address[CUTE_REQUEST_LANES];
    uint8_t lane[CUTE_REQUEST_LANES];
    /* Of a cp.async; CUTE_COPY_NONE for other instructions, or if the other address is unknown. */
    cute_copy_way copy;
    uint32_t idle;                      /* a bit per lane that reads nothing and writes zeros */
    uint64_t other[CUTE_REQUEST_LANES]; /* the address on the other side */
} cute_request;

/* Sums over requests; `ideal`: the minimum for the same number of bytes at other addresses. */
typedef struct cute_traffic {
    uint64_t requests, count, ideal;
} cute_traffic;

/* Adds the 32-byte sectors that the request touches. */
void cute_traffic_add_sectors(const cute_request *request, cute_traffic *t);
/* Adds wavefronts: a wavefront serves 128 bytes of shared memory, a 4-byte word from each of 32 banks, for
 * the lanes of one cute_traffic_group. */
void cute_traffic_add_wavefronts(const cute_request *request, cute_traffic *t);
/* The end of the group of lanes, from `first` on, that one wavefront can serve: 32 lanes of 4 bytes, 16 of 8,
 * or 8 of 16. Loads serve two or four times as many if lanes n and n ^ 1, or n and n ^ 2, share addresses
 * throughout the warp, there are no bank conflicts, and registers receive at most 256 bytes. */
uint32_t cute_traffic_group(const cute_request *request, uint32_t first);

#endif
