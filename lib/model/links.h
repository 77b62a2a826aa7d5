/* The time of collective operations, estimated from the bandwidth of a link: formulas in docs/ranks.md. */
#ifndef CUTE_LIB_MODEL_LINKS_H
#define CUTE_LIB_MODEL_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cute_model_link {
    const char *name;
    double peak;        /* bytes a second of one GPU, in one direction */
    double fraction;    /* of it that collectives sustain */
    double launch, hop; /* seconds */
    const char *text;
} cute_model_link;

/* Row `index` of the table; NULL after the last. */
const cute_model_link *cute_model_link_at(size_t index);
/* "nvlink4", or a number of GB/s, with the latencies of NVLink. False: neither. */
bool cute_model_link_find(const char *name, cute_model_link *out);
/* The links of a compute capability within a node and between nodes. */
void cute_model_links_of(int arch, cute_model_link *inside, cute_model_link *between);

/* The links of a job: `node` ranks share a node. */
typedef struct cute_model_network {
    cute_model_link inside, between;
    int node;
} cute_model_network;

/* Bytes that a rank sends when it contributes `bytes` bytes (reduce_scatter: when it receives them), and the seconds of the operation. */
typedef enum cute_model_exchange {
    CUTE_MODEL_ALL_GATHER, /* also reduce_scatter */
    CUTE_MODEL_ALL_REDUCE,
    CUTE_MODEL_BROADCAST, /* also reduce */
    CUTE_MODEL_SEND,      /* also put: to one rank */
} cute_model_exchange;
double cute_model_exchange_bytes(cute_model_exchange exchange, int ranks, double bytes);
double cute_model_exchange_seconds(const cute_model_network *network, cute_model_exchange exchange, int ranks,
                                   double bytes);

#endif
