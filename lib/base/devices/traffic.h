/* What a request of a warp to memory costs: sectors of global memory, wavefronts of shared memory. The rules were measured on
 * Hopper, instruction by instruction, against ncu's memory_l2_theoretical_sectors_global and memory_l1_wavefronts_shared
 * (bench/accesses). */
#ifndef CUTE_LIB_BASE_DEVICES_TRAFFIC_H
#define CUTE_LIB_BASE_DEVICES_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum { CUTE_REQUEST_LANES = 32 };

/* How a cp.async brings its bytes from global to shared memory: .ca, .cg. */
typedef enum cute_copy_way { CUTE_COPY_NONE, CUTE_COPY_THROUGH_L1, CUTE_COPY_PAST_L1 } cute_copy_way;

/* The lanes of one instruction, each with as many bytes; lanes ascend. */
typedef struct cute_request {
    uint32_t count, bytes;
    bool load; /* into the lanes' registers; not ldmatrix, whose lanes give rows */
    uint64_t address[CUTE_REQUEST_LANES];
    uint8_t lane[CUTE_REQUEST_LANES];
    /* Of a cp.async; none: of another instruction, or of a copy whose other side is not known. */
    cute_copy_way copy;
    uint32_t idle;                      /* of lanes a bit each: they read nothing and write zeros */
    uint64_t other[CUTE_REQUEST_LANES]; /* the address on the other side */
} cute_request;

/* Sums over requests; `ideal`: the least that other addresses of as many bytes could cost. */
typedef struct cute_traffic {
    uint64_t requests, count, ideal;
} cute_traffic;

/* Adds sectors of 32 bytes that the request touches. */
void cute_traffic_add_sectors(const cute_request *request, cute_traffic *t);
/* Adds wavefronts: shared memory serves 128 bytes at once, a 4-byte word of each of 32 banks, of so many lanes
 * as cute_traffic_group says. */
void cute_traffic_add_wavefronts(const cute_request *request, cute_traffic *t);
/* Lanes from the `first` on, of `count`, whose words one wavefront may bring: 32, 16 of 8 bytes, 8 of 16; in loads twice or
 * four times as many where lanes n and n ^ 1, or n and n ^ 2, agree throughout the warp, no words meet in a bank, and registers get no
 * more than 256 bytes. Returns where they end. */
uint32_t cute_traffic_group(const cute_request *request, uint32_t first);

#endif
