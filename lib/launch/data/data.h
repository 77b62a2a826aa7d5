/* The contents of the buffers, in memory that a forked child shares. */
#ifndef CUTE_LIB_LAUNCH_DATA_DATA_H
#define CUTE_LIB_LAUNCH_DATA_DATA_H

#include "lib/launch/config/config.h"

/* Size of the poisoned guards before and after each buffer, which detect out-of-bounds writes. Out-of-bounds
 * reads are not detected, but return poison. */
enum { CUTE_GUARD_BYTES = 4096 };

/* Allocates and initializes every buffer; outputs (buffers without init) and gaps are poisoned. */
cute_status cute_data_prepare(cute_config *config, uint64_t seed, cute_diag *diag);
/* Poisons a buffer and its guards with one of the two patterns of cute_dtype_poison. */
void cute_data_poison(const config_buffer *buffer, int variant);
/* Restores a buffer's contents from before the launches, and poisons its guards. */
void cute_data_restore(const config_buffer *buffer, int variant);
void cute_data_release(cute_config *config);

typedef struct data_unwritten {
    int64_t count, first; /* elements that still hold the poison; linear index of the first */
} data_unwritten;

typedef struct data_overrun {
    int64_t before,
        after; /* distance in bytes from the start, from the end, to the nearest write; -1: none */
} data_overrun;

/* Finds elements of an output that still hold the poison. `mask` (one bit an element, may be NULL) receives
 * them; with `narrow` only elements already in it are examined. */
data_unwritten cute_data_unwritten(const config_buffer *buffer, int variant, uint8_t *mask, bool narrow);
/* Finds writes to the guards since they were poisoned with `variant`. */
data_overrun cute_data_overrun(const config_buffer *buffer, int variant);

#endif
