/* Emulated ranks of one process: N devices of one emulator, each behind a device of its own, whose streams are queues. Work that is started
 * waits in its stream; cute_team_run executes the heads of all streams, kernels of several ranks at the same time where these have the
 * same one next. All is done by the calling thread, and a seed selects the order. */
#ifndef CUTE_LIB_RANKS_TEAM_H
#define CUTE_LIB_RANKS_TEAM_H

#include "lib/device/device.h"

typedef struct cute_team cute_team;

enum { TEAM_MOST = 16 }; /* ranks, the emulator's limit of devices */

/* options->devices is the number of ranks. */
cute_status cute_team_open(const cute_emulator_options *options, cute_team **out, cute_diag *diag);
/* NULL is allowed. Modules, streams and events of all ranks are released, too. */
void cute_team_close(cute_team *team);

int cute_team_size(const cute_team *team);
/* A rank's device, which remains the team's. Its downloads and uploads run all ranks first. */
cute_device *cute_team_device(cute_team *team, int rank);
/* The emulator of all ranks, for launches on all of them and for its findings. */
cute_device *cute_team_emulator(const cute_team *team);

/* Executes all work of all ranks. CUTE_INVALID: work failed, or the ranks wait for each other; the message says who waits for whom. */
cute_status cute_team_run(cute_team *team, cute_diag *diag);

/* ---- work of a rank's stream (NULL: its device's own) ---- */

/* Signals another rank behind the stream's earlier work. */
cute_status cute_team_signal(cute_team *team, int rank, cute_stream *stream, int to, cute_diag *diag);
/* Waits for so many signals of another rank, each of which is waited for once. */
cute_status cute_team_await(cute_team *team, int rank, cute_stream *stream, int from, int64_t signals,
                            cute_diag *diag);
/* Waits until a counter in the rank's memory, which kernels of rank `peer` increase, has at least this value. */
cute_status cute_team_await_count(cute_team *team, int rank, cute_stream *stream, cute_address counter,
                                  uint32_t value, int peer, cute_diag *diag);
/* An operation of all ranks, run once when it is next on a stream of each: `calls` has the `call` of each rank, which is copied. */
typedef cute_status team_operation(void *context, const void *const *calls, cute_diag *diag);
cute_status cute_team_meet(cute_team *team, int rank, cute_stream *stream, const char *name,
                           team_operation *run, void *context, const void *call, size_t size,
                           cute_diag *diag);
/* Within such an operation: the host has ordered all earlier work of all ranks. */
void cute_team_order_all(cute_team *team);

#endif
