/* The contents of the buffers, in memory that a forked child shares. */
#ifndef CUTE_LIB_LAUNCH_DATA_DATA_H
#define CUTE_LIB_LAUNCH_DATA_DATA_H

#include "lib/launch/config/config.h"

/* In front of each buffer and behind it lie so many bytes more, poisoned: what a kernel wrote there it wrote beyond
 * the buffer. Reads there can't be seen, but bring the poison. */
enum { CUTE_GUARD_BYTES = 4096 };

/* Maps every buffer and gives it its contents; outputs (buffers without init) and gaps are poisoned. */
cute_status cute_data_prepare(cute_config *config, uint64_t seed, cute_diag *diag);
/* Poisons a buffer and its guards with the pattern of a variant. */
void cute_data_poison(const config_buffer *buffer, int variant);
/* Gives a buffer that was overwritten by a run its first contents again, and poisons its guards. */
void cute_data_restore(const config_buffer *buffer, int variant);
void cute_data_release(cute_config *config);

typedef struct data_unwritten {
    int64_t count, first; /* elements that still hold the poison; linear index of the first */
} data_unwritten;

typedef struct data_overrun {
    int64_t before, behind; /* how many bytes before the start, behind the end the nearest element is that was
                               written; -1: none */
} data_overrun;

/* Which elements of an output still hold the poison. `mask` (a bit an element, or NULL) narrows what is
 * looked at to the elements found before, and receives what is found now. */
data_unwritten cute_data_unwritten(const config_buffer *buffer, int variant, uint8_t *mask, bool narrow);
/* What was written into the guards since they were poisoned with `variant`. */
data_overrun cute_data_overrun(const config_buffer *buffer, int variant);

#endif
