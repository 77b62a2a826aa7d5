/* Launch plans (docs/metadata.md): the parameters of a host function, and its launches for given
 * arguments. */
#ifndef CUTE_LIB_LAUNCH_PLAN_HOSTPLAN_H
#define CUTE_LIB_LAUNCH_PLAN_HOSTPLAN_H

#include "cute/cubin.h"
#include "cute/layout.h"
#include "cute/tensor_map.h"
#include "lib/base/text/json.h"

typedef enum host_kind {
    HOST_SCALAR,  /* a number of `dtype` */
    HOST_MEMREF,  /* a tensor: `layout`, or `shape` and `strides` (the memref of MLIR) */
    HOST_POINTER, /* to elements of `dtype`, or of an unknown type */
    HOST_TUPLE,   /* a value of the algebra: `layout` is its pattern */
    HOST_STRUCT,  /* `fields` */
    HOST_STREAM,  /* not given: all launches use one stream */
    HOST_OTHER,   /* unsupported in launch.json */
} host_kind;

typedef struct host_field {
    const char *dtype; /* NULL: a pointer */
} host_field;

/* A parameter of the function. */
typedef struct host_param {
    const char *name, *type; /* type: MLIR's text, may be NULL */
    const char *dtype;       /* may be NULL */
    host_kind kind;
    const char *text;  /* of `layout`; NULL: none */
    cute_value layout; /* a layout or composed layout; for a tuple, any value */
    size_t rank;
    const int64_t *shape, *strides; /* CUTE_DYNAMIC where unknown */
    int64_t align;                  /* bytes; 0: unspecified */
    int64_t divisor;                /* of a scalar; 0: unspecified */
    const host_field *fields;
    size_t leaf_count; /* numbers that it consists of (docs/metadata.md) */
} host_param;

typedef struct host_plan {
    const char *name;
    host_param *params;
    size_t param_count;
    const char *refused; /* reason for a missing plan; NULL: the plan is valid */
    const json_t *json;  /* owned by the caller of host_plan_read */
} host_plan;

/* A sign-extended number of `width` bits (for floats, their bits). If `base` is 0 or more, an address: the
 * byte offset from the caller's tensor of that index, from the plan's temporary `base - HOST_TEMPORARY`, or from the named temporary
 * `base - HOST_NAMED` of launch.json. Not `known` after a division by zero and in values
 * computed from it, which is an error only if a launch uses it: a select may discard it. */
enum { HOST_TEMPORARY = 1 << 24, HOST_NAMED = 1 << 25, HOST_TEMPORARY_ALIGN = 256 };
typedef struct host_number {
    int64_t value;
    int width, base;
    bool known;
    const struct host_map *map; /* a tensor map; NULL for a number */
} host_number;

/* A tensor map. Dimensions from the fastest to the slowest; strides in bytes, [0] is not used. */
typedef struct host_map {
    const char *tensor;           /* its name in messages */
    cute_tensor_map map;          /* without address, extents and strides */
    int64_t modes[CUTE_MAP_RANK]; /* the tensor's mode of each dimension */
    host_number address, dims[CUTE_MAP_RANK], strides[CUTE_MAP_RANK];
} host_map;

/* An argument of a kernel: one number, or the fields of a struct. */
typedef struct host_arg {
    const host_number *leaves;
    size_t count;
} host_arg;

typedef struct host_launch {
    const char *kernel;
    int64_t grid[3], block[3], cluster[3]; /* cluster: zeros: not given */
    int64_t dynamic_smem;                  /* -1: not given */
    bool cooperative, programmatic;
    host_arg *args;
    size_t arg_count;
} host_launch;

/* The device operations of a host function, in order. Operations of one stream are ordered; those of different streams only where a
 * stream waits for an event that another one recorded. */
typedef enum host_step_kind {
    HOST_LAUNCH,    /* the launch `launch` */
    HOST_COPY,      /* `bytes` bytes from `from` to `to`, contiguous or as `box` says */
    HOST_FILL,      /* `bytes` bytes at `to` with copies of the `width` bytes of `value` */
    HOST_RECORD,    /* records `event` */
    HOST_WAIT,      /* later work of the stream waits for `event` */
    HOST_COLLECTIVE /* `call` of all ranks, of `from` to `to` */
} host_step_kind;

/* A copy of elements at strides. Dimensions from the slowest to the fastest. */
enum { HOST_BOX_RANK = 16 };
typedef struct host_box {
    int rank;
    int64_t size;                                                           /* bytes of an element */
    int64_t extents[HOST_BOX_RANK], to[HOST_BOX_RANK], from[HOST_BOX_RANK]; /* strides in bytes */
} host_box;
/* The bytes that are copied, and those from the first to the last on each side. False: a stride is negative, or beyond 64 bits. */
bool host_box_spans(const host_box *box, int64_t *bytes, int64_t *to, int64_t *from);
/* The same copy in fewer dimensions: without extents of 1, with merged ones; 0 if both sides are contiguous. Expects extents of at least 1 and
 * spans that fit (host_box_spans). */
void host_box_simplify(host_box *box);
/* Of a simplified box: whether no two elements of the target share a byte; whether the sides do, if the target begins `distance` bytes
 * behind the source (true if they might). The second one expects an injective box. */
bool host_box_injective(const host_box *box);
bool host_box_overlaps(const host_box *box, int64_t distance);

typedef struct host_step {
    host_step_kind kind;
    size_t launch;
    int stream, event; /* stream 0: the plan's own; both less than the counts of the run */
    host_number to, from;
    int64_t bytes;
    uint64_t value;
    int width;           /* 1, 2, 4 or 8 */
    const host_box *box; /* COPY: of elements at strides, `bytes` in all; NULL: contiguous */
    /* COLLECTIVE: a comm_kind, a cute_dtype, the other rank, puts to wait for, elements (lib/ranks/comm.h), and bytes at `from` */
    int call, dtype, peer;
    int64_t signals, count, from_size;
} host_step;

/* Device memory that the plan needs beside its arguments. */
typedef struct host_temporary {
    int64_t bytes; /* 0: not used with these arguments */
    int64_t align; /* a power of 2, at most HOST_TEMPORARY_ALIGN */
    int init;      /* the byte that fills it at the start of each run; -1: undefined contents */
} host_temporary;

/* The steps, launches and temporaries of a plan for given arguments. */
typedef struct host_run {
    host_launch *launches;
    size_t launch_count;
    host_step *steps; /* each launch is in one */
    size_t step_count;
    int streams, events; /* numbers of them; the streams include the plan's own */
    host_temporary *temporaries;
    size_t temporary_count;
} host_run;

/* Reads `json`, a plan's line of metadata; `label` names the module in messages. Strings are the json's or in
 * `arena`. */
cute_status host_plan_read(cute_arena *arena, const char *label, const json_t *json, host_plan *out,
                           cute_diag *diag);
/* Provides the device's number of multiprocessors. */
typedef struct host_device {
    cute_status (*sms)(void *context, int64_t *out, cute_diag *diag);
    void *context;
} host_device;
/* Computes the launches and temporaries for `leaves`: leaf_count numbers for each parameter, or NULL if not
 * given. A grid may be empty. CUTE_INVALID: there is no valid plan, a launch uses an unknown value, or the size
 * of a temporary is not known, not positive, or beyond 64 bits. */
cute_status host_plan_run(cute_arena *arena, const char *label, const host_plan *plan,
                          const host_number *const *leaves, host_device device, host_run *out,
                          cute_diag *diag);

/* A temporary before the arguments are known: "(ceildiv(x.1, 2048)) elements of 4 bytes, filled with 0", where x.1 is leaf 1
 * of argument x. False: the plan has fewer. */
bool host_temporary_text(const host_plan *plan, size_t index, cute_buffer *out);

/* Reads the static part of a tensor map: `known` of ["tensor_map", ...]. False: it is malformed. */
bool host_map_read(const json_t *known, int rank, cute_tensor_map *map);

/* Reads a number from its `size` bytes, sign-extended. */
host_number host_number_of(const uint8_t *bytes, int64_t size);

#endif
