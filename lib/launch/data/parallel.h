/* A loop over a range, split among threads. */
#ifndef CUTE_LIB_LAUNCH_DATA_PARALLEL_H
#define CUTE_LIB_LAUNCH_DATA_PARALLEL_H

#include "cute/base.h"

/* Called with disjoint pieces of [0, count), `worker` below cute_parallel_workers(). */
typedef void (*cute_parallel_body)(void *context, int64_t begin, int64_t end, int worker);

enum { CUTE_PARALLEL_MAX = 64 };

/* How many threads a loop may use: the processors that this process may run on. */
int cute_parallel_workers(void);
/* Runs `body` over [0, count) in pieces of at least `grain` and returns when all are done. Where no thread
 * can be made the calling one does it all. */
void cute_parallel(int64_t count, int64_t grain, cute_parallel_body body, void *context);

#endif
