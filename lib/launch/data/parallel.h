/* Parallel loops. */
#ifndef CUTE_LIB_LAUNCH_DATA_PARALLEL_H
#define CUTE_LIB_LAUNCH_DATA_PARALLEL_H

#include "cute/base.h"

/* Called with disjoint parts of [0, count); `worker` is less than cute_parallel_workers(). */
typedef void (*cute_parallel_body)(void *context, int64_t begin, int64_t end, int worker);

enum { CUTE_PARALLEL_MAX = 64 };

/* Number of threads of a loop: the processors available to this process. */
int cute_parallel_workers(void);
/* Runs `body` over [0, count) in parts of at least `grain`, and waits for all. If no thread can be created,
 * the calling thread does all the work. */
void cute_parallel(int64_t count, int64_t grain, cute_parallel_body body, void *context);

#endif
