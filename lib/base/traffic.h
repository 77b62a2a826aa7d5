/* What a request of a warp to memory costs: sectors of global memory, wavefronts of shared memory. */
#ifndef CUTE_LIB_BASE_TRAFFIC_H
#define CUTE_LIB_BASE_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

enum { CUTE_REQUEST_LANES = 32 };

/* The lanes of one instruction, each with as many bytes; lanes ascend. */
typedef struct cute_request {
    uint32_t count, bytes;
    bool load; /* into the lanes' registers; not ldmatrix, whose lanes give rows */
    uint64_t address[CUTE_REQUEST_LANES];
    uint8_t lane[CUTE_REQUEST_LANES];
} cute_request;

/* Sums over requests; `ideal`: the least that other addresses of as many bytes could cost. */
typedef struct cute_traffic {
    uint64_t requests, count, ideal;
} cute_traffic;

/* Adds sectors of 32 bytes that the request touches. */
void cute_traffic_add_sectors(const cute_request *request, cute_traffic *t);
/* Adds wavefronts: shared memory serves 128 bytes at once, a 4-byte word of each of 32 banks; which lanes it serves
 * together cute_traffic_group says. */
void cute_traffic_add_wavefronts(const cute_request *request, cute_traffic *t);
/* Lanes whose words one wavefront may bring: 32, 16 of 8 bytes, 8 of 16. Twice as many in loads whose active lanes n and
 * n ^ 1, or n and n ^ 2, have the same address throughout the warp. */
uint32_t cute_traffic_group(const cute_request *request);

#endif
