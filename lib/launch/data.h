/* The contents of the buffers, in memory that a forked child shares. */
#ifndef CUTE_LIB_LAUNCH_DATA_H
#define CUTE_LIB_LAUNCH_DATA_H

#include "lib/launch/config.h"

/* Behind each buffer lie so many bytes more, poisoned: a kernel that writes there wrote beyond the end. */
enum { CUTE_GUARD_BYTES = 256 };

/* Maps every buffer and gives it its contents; outputs (buffers without init) and gaps are poisoned. */
cute_status cute_data_prepare(cute_config *config, uint64_t seed, cute_diag *diag);
/* Poisons an output with the pattern of a variant again, guard included. */
void cute_data_poison(const config_buffer *buffer, int variant);
/* Gives a buffer that was overwritten by a run its first contents again. */
void cute_data_restore(const config_buffer *buffer, int variant);
void cute_data_release(cute_config *config);

typedef struct data_unwritten {
    int64_t count, first; /* elements that still hold the poison; linear index of the first */
    int64_t outside;      /* how many bytes behind the end something was written; -1: nowhere */
} data_unwritten;

/* Which elements of an output still hold the poison. `mask` (a bit an element, or NULL) narrows what is
 * looked at to the elements found before, and receives what is found now. */
data_unwritten cute_data_unwritten(const config_buffer *buffer, int variant, uint8_t *mask, bool narrow);

#endif
