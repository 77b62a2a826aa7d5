/* The interface of a kind of device, a table of functions, implemented by cuda.c and emulator.c. */
#ifndef CUTE_LIB_DEVICE_DEVICE_H
#define CUTE_LIB_DEVICE_DEVICE_H

#include "cute/emulator.h"

/* Functions of emulators only. */
typedef struct cute_emulator_ops {
    cute_status (*reset)(cute_device *, cute_diag *);
    cute_status (*add_host)(cute_device *, void *, size_t, cute_diag *);
    cute_status (*remove_host)(cute_device *, void *, cute_diag *);
    cute_status (*describe_buffer)(cute_device *, cute_address, const char *, size_t, bool, cute_diag *);
    cute_status (*select)(cute_device *, int64_t, cute_diag *);
    /* On the devices whose bits are set, each with its own arguments. */
    cute_status (*start_on)(cute_device *, uint32_t, cute_device_function *, const cute_device_launch *,
                            void *const *const *, cute_diag *);
    /* For the checks, between launches: a device's host acquires a counter at the scope of the system; it signals another device; it has
     * waited for the signals of another. */
    void (*acquire)(cute_device *, int device, cute_address counter);
    void (*signal)(cute_device *, int device, int to);
    void (*observe)(cute_device *, int device, int from);
    const cute_emulator_counts *(*counts)(const cute_device *);
    const cute_finding *(*findings)(const cute_device *, size_t *count);
    char *(*counters_json)(const cute_device *);
    char *(*checks_json)(const cute_device *);
    char *(*timeline_json)(const cute_device *);
} cute_emulator_ops;

/* Names memory for another process of this machine. */
enum { CUTE_SHARED_NAME = 64 };
typedef struct cute_shared_name {
    char bytes[CUTE_SHARED_NAME];
} cute_shared_name;

/* A copy of `count` rows of `row` bytes; pitches, the distances between rows, are not less than a row if there are several. */
typedef struct cute_copy_rows {
    cute_address to, from;
    size_t row, count, to_pitch, from_pitch;
} cute_copy_rows;

/* NULL as a stream is the device's default stream. */
typedef struct cute_device_ops {
    const char *kind;
    const cute_emulator_ops *emulator; /* NULL: not an emulator */
    /* Called before every other function: makes the device current for the calling thread. May be NULL. */
    cute_status (*enter)(cute_device *, cute_diag *);
    void (*close)(cute_device *);
    cute_status (*alloc)(cute_device *, size_t, cute_address *, cute_diag *);
    cute_status (*free)(cute_device *, cute_address, cute_diag *);
    /* These are asynchronous. */
    cute_status (*upload)(cute_device *, cute_stream *, cute_address, const void *, size_t, cute_diag *);
    cute_status (*download)(cute_device *, cute_stream *, void *, cute_address, size_t, cute_diag *);
    cute_status (*copy)(cute_device *, cute_stream *, cute_address, cute_address, size_t, cute_diag *);
    cute_status (*copy_rows)(cute_device *, cute_stream *, const cute_copy_rows *, cute_diag *);
    /* Fills memory with the lowest `width` bytes of a value; width 1, 2, 4 or 8, which divides the size and the address. */
    cute_status (*fill)(cute_device *, cute_stream *, cute_address, uint64_t value, int width, size_t size,
                        cute_diag *);
    /* PTX text is null-terminated after its length. */
    cute_status (*load)(cute_device *, const char *, const void *, size_t, cute_device_module **,
                        cute_diag *);
    cute_status (*unload)(cute_device *, cute_device_module *, cute_diag *);
    cute_status (*get_function)(cute_device *, cute_device_module *, const char *, cute_device_function **,
                                cute_diag *);
    cute_status (*get_global)(cute_device *, cute_device_module *, const char *, cute_address *, size_t *,
                              cute_diag *);
    cute_status (*function_info)(cute_device *, cute_device_function *, cute_function_info *, cute_diag *);
    bool (*param_size)(cute_device *, cute_device_function *, size_t, size_t *);
    cute_status (*prepare)(cute_device *, cute_device_function *, const cute_device_launch *, cute_diag *);
    cute_status (*occupancy)(cute_device *, cute_device_function *, const cute_device_launch *, int64_t *,
                             int64_t *, cute_diag *);
    cute_status (*start)(cute_device *, cute_device_function *, const cute_device_launch *, void *const *,
                         cute_diag *);
    cute_status (*encode_map)(cute_device *, const cute_tensor_map *, uint8_t *, cute_diag *);
    /* The texture was checked. The last moves texels between an array and memory, asynchronously. */
    cute_status (*texture_create)(cute_device *, const cute_texture *, cute_device_texture **, uint64_t *,
                                  cute_diag *);
    cute_status (*texture_destroy)(cute_device *, cute_device_texture *, cute_diag *);
    cute_status (*texture_move)(cute_device *, cute_stream *, cute_device_texture *, bool to_memory,
                                cute_diag *);
    cute_status (*sync)(cute_device *, cute_diag *);
    cute_status (*stream_create)(cute_device *, cute_stream **, cute_diag *);
    /* A stream whose kernels get free multiprocessors before those of other streams. NULL: no such streams. */
    cute_status (*stream_create_urgent)(cute_device *, cute_stream **, cute_diag *);
    void (*stream_destroy)(cute_stream *);
    cute_status (*stream_wait)(cute_device *, cute_stream *, cute_device_event *, cute_diag *);
    /* The stream's later work waits until a counter of 32 bits in device memory has at least this value. */
    cute_status (*stream_wait_count)(cute_device *, cute_stream *, cute_address, uint32_t, cute_diag *);
    /* Stores a value of 32 bits behind the stream's earlier work, which whoever sees it sees. NULL: not supported. */
    cute_status (*stream_write_count)(cute_device *, cute_stream *, cute_address, uint32_t, cute_diag *);
    cute_status (*stream_sync)(cute_device *, cute_stream *, cute_diag *);
    cute_status (*event_create)(cute_device *, cute_device_event **, cute_diag *);
    cute_status (*event_record)(cute_device *, cute_stream *, cute_device_event *, cute_diag *);
    cute_status (*elapsed)(cute_device *, cute_device_event *, cute_device_event *, double *, cute_diag *);
    cute_status (*graph_begin)(cute_device *, cute_diag *);
    cute_status (*graph_end)(cute_device *, cute_device_graph **, cute_diag *);
    cute_status (*graph_start)(cute_device *, cute_device_graph *, cute_diag *);
    /* The driver's handle of a stream, for CUDA libraries; NULL: no driver. */
    void *(*native_stream)(cute_device *, cute_stream *);
    /* Whether the work of a stream has completed; a fault is reported as by sync. NULL: work completes when it is started. */
    cute_status (*idle)(cute_device *, cute_stream *, bool *, cute_diag *);
    /* Memory of zeros that other processes reach by its name: with their kernels and copies. Each releases its own view with `share_leave`,
     * the owner the memory with `share_free`. */
    cute_status (*share_alloc)(cute_device *, size_t, cute_address *, cute_shared_name *, cute_diag *);
    cute_status (*share_reach)(cute_device *, const cute_shared_name *, size_t, cute_address *, cute_diag *);
    void (*share_leave)(cute_device *, cute_address, size_t);
    void (*share_free)(cute_device *, cute_address, size_t, const cute_shared_name *);
} cute_device_ops;

/* The first member of an implementation's device and stream. */
struct cute_device {
    const cute_device_ops *ops;
    cute_device_info info;
};
struct cute_stream {
    cute_device *device;
};

cute_status cute_cuda_count(int *out, cute_diag *diag);
cute_status cute_cuda_query(int index, cute_device_info *out, cute_diag *diag);
cute_status cute_cuda_open(int index, cute_device **out, cute_diag *diag);
/* Reads and checks a caller's options (NULL: the defaults). */
cute_status cute_emulator_read_options(const cute_emulator_options *given, cute_emulator_options *out,
                                       cute_diag *diag);

/* Parses a device name without loading a driver. CUTE_USAGE: not a device name. */
typedef enum cute_device_kind { CUTE_DEVICE_CUDA, CUTE_DEVICE_EMULATOR, CUTE_DEVICE_ANY } cute_device_kind;
cute_status cute_device_parse_name(const char *name, cute_device_kind *kind, int *index, cute_diag *diag);
/* As cute_device_open, with options for an emulator (NULL: the defaults). */
cute_status cute_device_open_with(const char *name, const cute_emulator_options *options, cute_device **out,
                                  cute_diag *diag);
/* Describes the device that cute_device_open_with would open, without creating a context. */
cute_status cute_device_find(const char *name, const cute_emulator_options *options, cute_device_info *out,
                             cute_diag *diag);

#endif
