/* What a kind of device has to provide: one table of functions. cuda.c is one; another fills the same. */
#ifndef CUTE_LIB_DEVICE_DEVICE_H
#define CUTE_LIB_DEVICE_DEVICE_H

#include "cute/device.h"

typedef struct cute_device_ops {
    const char *kind;
    void (*close)(cute_device *);
    cute_status (*alloc)(cute_device *, size_t, cute_address *, cute_diag *);
    cute_status (*free)(cute_device *, cute_address, cute_diag *);
    cute_status (*upload)(cute_device *, cute_address, const void *, size_t, cute_diag *);
    cute_status (*download)(cute_device *, void *, cute_address, size_t, cute_diag *);
    cute_status (*copy)(cute_device *, cute_address, cute_address, size_t, cute_diag *);
    cute_status (*fill)(cute_device *, cute_address, uint8_t, size_t, cute_diag *);
    cute_status (*load)(cute_device *, const void *, cute_device_module **, cute_diag *);
    cute_status (*get_function)(cute_device *, cute_device_module *, const char *, cute_device_function **,
                                cute_diag *);
    cute_status (*function_info)(cute_device *, cute_device_function *, cute_function_info *, cute_diag *);
    bool (*param_size)(cute_device *, cute_device_function *, size_t, size_t *);
    cute_status (*prepare)(cute_device *, cute_device_function *, const cute_device_launch *, cute_diag *);
    cute_status (*start)(cute_device *, cute_device_function *, const cute_device_launch *, void *const *,
                         cute_diag *);
    cute_status (*encode_map)(cute_device *, const cute_tensor_map *, uint8_t *, cute_diag *);
    cute_status (*sync)(cute_device *, cute_diag *);
    cute_status (*event_create)(cute_device *, cute_device_event **, cute_diag *);
    cute_status (*event_record)(cute_device *, cute_device_event *, cute_diag *);
    cute_status (*elapsed)(cute_device *, cute_device_event *, cute_device_event *, double *, cute_diag *);
    cute_status (*graph_begin)(cute_device *, cute_diag *);
    cute_status (*graph_end)(cute_device *, cute_device_graph **, cute_diag *);
    cute_status (*graph_start)(cute_device *, cute_device_graph *, cute_diag *);
} cute_device_ops;

/* The first member of what a kind allocates for a device. */
struct cute_device {
    const cute_device_ops *ops;
    cute_device_info info;
};

cute_status cute_cuda_count(int *out, cute_diag *diag);
cute_status cute_cuda_query(int index, cute_device_info *out, cute_diag *diag);
cute_status cute_cuda_open(int index, cute_device **out, cute_diag *diag);

#endif
