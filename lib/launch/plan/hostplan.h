/* Launch plans (docs/metadata.md): what a host function takes, and its launches for given arguments. */
#ifndef CUTE_LIB_LAUNCH_PLAN_HOSTPLAN_H
#define CUTE_LIB_LAUNCH_PLAN_HOSTPLAN_H

#include "cute/cubin.h"
#include "cute/layout.h"
#include "cute/tensor_map.h"
#include "lib/base/text/json.h"

typedef enum host_kind {
    HOST_SCALAR,  /* of `dtype` */
    HOST_MEMREF,  /* a tensor: `layout`, or `shape` and `strides` (the memref of MLIR) */
    HOST_POINTER, /* to elements of `dtype`, or of an unknown type */
    HOST_TUPLE,   /* a value of the algebra: `layout` is its pattern */
    HOST_STRUCT,  /* `fields` */
    HOST_STREAM,  /* all launches are in one stream: nothing has to be given */
    HOST_OTHER,   /* nothing that a launch.json can give */
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
    cute_value layout; /* a layout or composed layout; of a tuple any value */
    size_t rank;
    const int64_t *shape, *strides; /* CUTE_DYNAMIC where unknown */
    int64_t align;                  /* bytes; 0: none said */
    int64_t divisor;                /* of a scalar; 0: none said */
    const host_field *fields;
    size_t leaf_count; /* numbers that it is made of: docs/metadata.md says which */
} host_param;

typedef struct host_plan {
    const char *name;
    host_param *params;
    size_t param_count;
    const char *refused; /* why there are no launches; NULL: there are */
    const json_t *json;  /* belongs to the reader's caller */
} host_plan;

/* A number of `width` bits (floats: their bits), sign-extended. With `base` at or above 0 it is an address: so many
 * bytes behind the tensor that the caller calls `base`. Not known where it was divided by zero or is made of such a
 * one: a select may still leave it out, so only what a launch takes has to be known. */
typedef struct host_number {
    int64_t value;
    int width, base;
    bool known;
    const struct host_map *map; /* it is a tensor map, not a number; else NULL */
} host_number;

/* A tensor map. Dimensions from the fastest to the slowest; strides in bytes, [0] is not used. */
typedef struct host_map {
    const char *tensor;           /* what messages call it */
    cute_tensor_map map;          /* without address, extents and strides */
    int64_t modes[CUTE_MAP_RANK]; /* of the tensor */
    host_number address, dims[CUTE_MAP_RANK], strides[CUTE_MAP_RANK];
} host_map;

/* An argument of a kernel: one number, or those of a struct. */
typedef struct host_arg {
    const host_number *leaves;
    size_t count;
} host_arg;

typedef struct host_launch {
    const char *kernel;
    int64_t grid[3], block[3], cluster[3]; /* cluster: zeros if not given */
    int64_t dynamic_smem;                  /* -1: not given */
    bool cooperative, programmatic;
    host_arg *args;
    size_t arg_count;
} host_launch;

/* What stands in `json`, the line of a plan; `label` names the module in messages. Texts are the json's or in
 * `arena`. */
cute_status host_plan_read(cute_arena *arena, const char *label, const json_t *json, host_plan *out,
                           cute_diag *diag);
/* Whom a plan asks for the device's number of multiprocessors. */
typedef struct host_device {
    cute_status (*sms)(void *context, int64_t *out, cute_diag *diag);
    void *context;
} host_device;
/* The launches for `leaves`: leaf_count numbers for each parameter, NULL where nothing is given: what needs it is
 * not known. CUTE_INVALID: the plan is refused, launches nothing, or with what is not known. */
cute_status host_plan_run(cute_arena *arena, const char *label, const host_plan *plan,
                          const host_number *const *leaves, host_device device, host_launch **out,
                          size_t *count, cute_diag *diag);

/* The number of a scalar of `dtype`, from the bytes in which it is stored. */
host_number host_number_of(const uint8_t *bytes, int64_t size);

#endif
