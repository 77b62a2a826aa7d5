/* Parallel loops over large buffers. Threads take parts from a shared counter, which balances the load. */
#include "lib/launch/data/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct parallel_loop {
    int64_t count, piece;
    cute_parallel_body body;
    void *context;
    atomic_llong next;
    atomic_int workers;
} parallel_loop;

int cute_parallel_workers(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
    int count = CPU_COUNT(&set);
    return count < 1 ? 1 : count > CUTE_PARALLEL_MAX ? CUTE_PARALLEL_MAX : count;
}

static void *run_worker(void *argument)
{
    parallel_loop *l = argument;
    int worker = atomic_fetch_add(&l->workers, 1);
    for (;;) {
        int64_t begin = atomic_fetch_add(&l->next, l->piece);
        if (begin >= l->count) return NULL;
        int64_t end = l->count - begin < l->piece ? l->count : begin + l->piece;
        l->body(l->context, begin, end, worker);
    }
}

void cute_parallel(int64_t count, int64_t grain, cute_parallel_body body, void *context)
{
    if (count <= 0) return;
    if (grain < 1) grain = 1;
    int64_t threads = (count - 1) / grain + 1;
    if (threads > cute_parallel_workers()) threads = cute_parallel_workers();
    int64_t piece = count / (threads * 4);
    parallel_loop l = {
        .count = count, .piece = piece < grain ? grain : piece, .body = body, .context = context};
    pthread_t started[CUTE_PARALLEL_MAX];
    int64_t running = 0;
    while (running < threads - 1 && pthread_create(&started[running], NULL, run_worker, &l) == 0) running++;
    run_worker(&l);
    for (int64_t i = 0; i < running; i++) pthread_join(started[i], NULL);
}
