/* Ranks: one process for each device, started by cute-run, mpirun, torchrun or srun. A rank finds its number in the environment, joins
 * the others, exchanges small records with them, and learns when one of them fails, ends or stops. Data of devices goes by
 * lib/ranks/comm.h. */
#ifndef CUTE_LIB_RANKS_RANKS_H
#define CUTE_LIB_RANKS_RANKS_H

#include "lib/base/buffer.h"

enum { RANKS_MOST = 4096, RANKS_LOCAL_MOST = 64, RANKS_ADDRESS = 160 };

/* ---- places (place.c) ---- */

typedef struct ranks_place {
    const char *launcher; /* "mpirun"; "cute-run": started by cute_ranks_start */
    int rank, size;
    int local_rank;              /* on its host */
    char address[RANKS_ADDRESS]; /* the meeting point: "unix:NAME" (an abstract socket) or "tcp:HOST:PORT" */
    const char *version;         /* NULL: this library's, which all ranks must share */
} ranks_place;

/* Reads the environment. *found: a launcher started this process; else *out is untouched. CUTE_USAGE: contradictory variables. */
cute_status cute_ranks_find(ranks_place *out, bool *found, cute_diag *diag);

/* ---- joined ranks (meet.c) ---- */

typedef struct cute_ranks cute_ranks;

/* Waits until all ranks have joined. `problem` is one line that must be the same on all ranks, as must the version of this library.
 * `timeout`: seconds that this and later calls wait for a rank that makes no progress. CUTE_INVALID, and the message names the rank: one
 * did not arrive, has ended, or has another problem or version. */
cute_status cute_ranks_join(const ranks_place *place, const char *problem, double timeout, cute_ranks **out,
                            cute_diag *diag);
/* Unless a rank has failed, waits until all ranks leave, so that each learns of failures until then; ends the connections. NULL is
 * allowed. */
void cute_ranks_leave(cute_ranks *ranks);

int cute_ranks_rank(const cute_ranks *ranks);
int cute_ranks_size(const cute_ranks *ranks);
double cute_ranks_timeout(const cute_ranks *ranks);
/* Whether all ranks are on this host. */
bool cute_ranks_together(const cute_ranks *ranks);

/* The name of this rank's host. */
const char *cute_ranks_host(const cute_ranks *ranks);

/* Gives each rank the `bytes` bytes of all ranks, in their order. All ranks call it, with the same size. */
cute_status cute_ranks_exchange(cute_ranks *ranks, const void *own, size_t bytes, void *all, cute_diag *diag);
/* Tells the others that this rank failed with the first error of `diag`; their calls return `status`. */
void cute_ranks_give_up(cute_ranks *ranks, cute_status status, const cute_diag *diag);

/* Names the step that this rank has begun, for the messages of others. NULL is allowed, as for cute_ranks_beat. */
void cute_ranks_step(cute_ranks *ranks, const char *format, ...) CUTE_PRINTF(2, 3);
/* Tells the others that this rank makes progress, while they wait for it. */
void cute_ranks_beat(cute_ranks *ranks);

/* A wait for other ranks, which they may keep alive. */
typedef struct ranks_wait {
    double since, watched;
    uint64_t beats;
    int turns;
} ranks_wait;
ranks_wait cute_ranks_wait_begin(cute_ranks *ranks);
/* Called in a loop while this rank waits for `peer` (-1: for any): pauses a little, and fails if a rank has failed or ended, or if none has
 * made progress for the timeout. */
cute_status cute_ranks_wait_turn(cute_ranks *ranks, ranks_wait *wait, int peer, cute_diag *diag);

/* Memory that all ranks of one host share, zeroed: the same `bytes` for all; NULL without such memory. Without a name in the file system. */
void *cute_ranks_shared(cute_ranks *ranks, size_t *bytes);

/* ---- starting (start.c) ---- */

/* Starts `size` processes of argv (NULL-terminated; argv[0] is a path), one for each rank, and waits for all. If one fails, the others get
 * `grace` seconds to end by themselves and are then killed. *code: the exit code of the first rank that failed, else 0; 128 + signal if
 * a signal ended it. */
cute_status cute_ranks_start(const char *const *argv, int size, double grace, int *code, cute_diag *diag);

#endif
