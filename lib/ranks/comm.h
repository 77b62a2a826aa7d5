/* Collective operations on device memory, on streams. Two providers: NCCL, opened at run time, and a stand-in over shared memory for
 * emulated devices, or for GPUs without NCCL, whose times mean nothing. All ranks call the same operations in the same order. */
#ifndef CUTE_LIB_RANKS_COMM_H
#define CUTE_LIB_RANKS_COMM_H

#include "lib/device/device.h"
#include "lib/ranks/ranks.h"

typedef enum comm_kind {
#define COLLECTIVE(id, name, help) COMM_##id,
#include "lib/ranks/collectives.def"
#undef COLLECTIVE
    COMM_KINDS
} comm_kind;

const char *comm_kind_name(comm_kind kind);
/* False: no such operation. */
bool comm_kind_find(const char *name, comm_kind *out);

/* A type of elements that operations can sum. */
typedef struct comm_type {
    const char *name;
    int bytes;
    int nccl;   /* ncclDataType_t */
    int format; /* num_format; -1: an integer of 32 bits, -2: of 8 bits */
} comm_type;
/* NULL: no such type. */
const comm_type *comm_type_find(const char *name);

typedef struct comm_call {
    comm_kind kind;
    const comm_type *type;
    cute_address from,
        to;          /* all_gather, reduce_scatter: `from` may be this rank's part of `to`, or reversed */
    int64_t count;   /* elements that a rank sends; reduce_scatter: that it receives */
    int peer;        /* the root, or the other rank of send, recv, put and wait */
    int window;      /* put: of cute_comm_window */
    int64_t offset;  /* put: bytes from the start of the peer's window */
    int64_t signals; /* wait: puts of the peer to wait for */
} comm_call;

typedef struct cute_comm cute_comm;

typedef enum comm_provider {
    COMM_AUTO,
    COMM_NCCL,
    COMM_NCCL_SEND, /* NCCL without puts */
    COMM_SHARED
} comm_provider;
/* False: no such provider ("nccl", "nccl-send", "shared"). */
bool comm_provider_find(const char *name, comm_provider *out);

/* COMM_AUTO: NCCL for GPUs, the stand-in for the emulator. CUTE_SYSTEM: no NCCL, or a version that is too old. CUTE_INVALID: two ranks have
 * the same GPU, or a rank has failed. `ranks` and `device` must outlive it. */
cute_status cute_comm_open(cute_ranks *ranks, cute_device *device, comm_provider provider, cute_comm **out,
                           cute_diag *diag);
/* On the caller's communicator, an ncclComm_t, which it keeps. All its ranks call it. */
cute_status cute_comm_wrap(void *communicator, cute_device *device, cute_comm **out, cute_diag *diag);
/* NULL is allowed. */
void cute_comm_close(cute_comm *comm);

int cute_comm_rank(const cute_comm *comm);
int cute_comm_size(const cute_comm *comm);
/* "NCCL 2.29.1", "shared memory (stand-in)". */
const char *cute_comm_name(const cute_comm *comm);
/* Whether put and wait are available; else send and recv do the same. */
bool cute_comm_puts(const cute_comm *comm);
/* Whether times of its operations mean anything. */
bool cute_comm_timed(const cute_comm *comm);

/* Allocates memory that others put to; called by all ranks in the same order, with the same size. *window is its number. It is released
 * with `comm`. */
cute_status cute_comm_window(cute_comm *comm, size_t bytes, cute_address *memory, int *window,
                             cute_diag *diag);

/* Whether kernels and copies of each rank reach the windows of all others: they are on one host, and the devices can. */
bool cute_comm_reaches(const cute_comm *comm);
/* A rank's window, as this rank addresses it. 0: it does not reach it. */
cute_address cute_comm_peer(const cute_comm *comm, int window, int rank);
/* The later work of a stream waits until a counter in an own window, which kernels of a rank increase, has at least this value. */
cute_status cute_comm_await(cute_comm *comm, cute_address counter, uint32_t value, int peer,
                            cute_stream *stream, cute_diag *diag);

/* Starts an operation on a stream (NULL: the device's own). Between begin and end, operations start together, so that sends and receives
 * cannot wait for each other. */
cute_status cute_comm_start(cute_comm *comm, const comm_call *call, cute_stream *stream, cute_diag *diag);
cute_status cute_comm_group_begin(cute_comm *comm, cute_diag *diag);
cute_status cute_comm_group_end(cute_comm *comm, cute_diag *diag);
/* Waits for the device's work. Fails within the timeout of the ranks if one has failed or makes no progress. */
cute_status cute_comm_sync(cute_comm *comm, cute_diag *diag);

/* ---- providers ---- */

typedef struct cute_comm_ops {
    void (*close)(cute_comm *);
    cute_status (*window)(cute_comm *, size_t, cute_address *, int *, cute_diag *);
    cute_status (*start)(cute_comm *, const comm_call *, cute_stream *, cute_diag *);
    cute_status (*begin)(cute_comm *, cute_diag *); /* NULL: nothing to do, as for end */
    cute_status (*end)(cute_comm *, cute_diag *);
    cute_status (*sync)(cute_comm *, cute_diag *);
    cute_status (*await)(cute_comm *, cute_address, uint32_t, int, cute_stream *, cute_diag *);
    /* Gives each rank the bytes of all, as cute_ranks_exchange; NULL: `ranks` does. */
    cute_status (*exchange)(cute_comm *, const void *, size_t, void *, cute_diag *);
} cute_comm_ops;

enum { COMM_WINDOWS = 64 };

/* A window that the ranks reach (windows.c). */
typedef struct comm_window {
    size_t bytes;
    cute_shared_name name;  /* of the own */
    cute_address *memories; /* of all ranks */
} comm_window;

/* The first member of a provider's struct. */
struct cute_comm {
    const cute_comm_ops *ops;
    cute_ranks *ranks; /* NULL: of a caller's communicator */
    cute_device *device;
    int rank, size;
    bool puts, timed, reaches;
    bool own_windows;                 /* the provider makes the windows that all reach */
    comm_window shared[COMM_WINDOWS]; /* if it reaches, those of cute_comm_window by number */
    int shared_count;
    char name[64];
};

/* Finds out whether all ranks reach each other's memory, by a first window of zeros, number 0. All ranks call it. */
cute_status comm_find_reach(cute_comm *comm, size_t bytes, cute_diag *diag);
/* cute_comm_window of ranks that reach each other. */
cute_status comm_share_window(cute_comm *comm, size_t bytes, cute_address *memory, int *window,
                              cute_diag *diag);
void comm_release_windows(cute_comm *comm);

/* Operations on the host: the sum of the parts of all ranks, one after the other in `parts`, in their order. */
void comm_add_parts(const comm_type *type, const char *parts, int ranks, int64_t count, char *out);

cute_status comm_open_shared(cute_ranks *ranks, cute_device *device, cute_comm **out, cute_diag *diag);
/* `communicator` NULL: a new one of `ranks`. */
cute_status comm_open_nccl(cute_ranks *ranks, cute_device *device, void *communicator, bool puts,
                           cute_comm **out, cute_diag *diag);

#endif
