/* The subset of the CUDA driver API in use, declared from its public documentation, so that building needs no
 * CUDA header. Symbols are the versioned names that libcuda.so.1 exports. */
#ifndef CUTE_LIB_DEVICE_CUDA_API_H
#define CUTE_LIB_DEVICE_CUDA_API_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result; /* 0 is success */
typedef int cu_device;
typedef struct cu_context_s *cu_context;
typedef struct cu_module_s *cu_module;
typedef struct cu_function_s *cu_function;
typedef struct cu_stream_s *cu_stream;
typedef struct cu_event_s *cu_event;
typedef struct cu_graph_s *cu_graph;
typedef struct cu_graph_exec_s *cu_graph_exec;
typedef struct cu_array_s *cu_array;
typedef unsigned long long cu_address;
typedef struct cu_shared {
    char bytes[64];
} cu_shared; /* CUipcMemHandle */

enum {
    CU_STREAM_NON_BLOCKING = 1,
    CU_CAPTURE_RELAXED = 2,
    CU_JIT_INFO_LOG = 3,
    CU_JIT_INFO_LOG_SIZE = 4,
    CU_JIT_ERROR_LOG = 5,
    CU_JIT_ERROR_LOG_SIZE = 6,
    CU_LAUNCH_COOPERATIVE = 2,
    CU_LAUNCH_CLUSTER = 4,
    CU_LAUNCH_PROGRAMMATIC = 6,
};

enum { /* function attributes */
       CU_FUNC_MAX_THREADS = 0,
       CU_FUNC_SHARED = 1,
       CU_FUNC_CONST = 2,
       CU_FUNC_LOCAL = 3,
       CU_FUNC_REGISTERS = 4,
       CU_FUNC_PTX_VERSION = 5,
       CU_FUNC_BINARY_VERSION = 6,
       CU_FUNC_MAX_DYNAMIC_SHARED = 8,
       CU_FUNC_NON_PORTABLE_CLUSTER = 14,
};

enum { /* device attributes */
       CU_DEV_MAX_THREADS_PER_BLOCK = 1,
       CU_DEV_MAX_BLOCK_X = 2,
       CU_DEV_MAX_BLOCK_Y = 3,
       CU_DEV_MAX_BLOCK_Z = 4,
       CU_DEV_MAX_GRID_X = 5,
       CU_DEV_MAX_GRID_Y = 6,
       CU_DEV_MAX_GRID_Z = 7,
       CU_DEV_SHARED_BLOCK = 8,
       CU_DEV_WARP_SIZE = 10,
       CU_DEV_REGISTERS_BLOCK = 12,
       CU_DEV_CLOCK = 13,
       CU_DEV_MULTIPROCESSORS = 16,
       CU_DEV_ECC = 32,
       CU_DEV_PCI_BUS = 33,
       CU_DEV_PCI_DEVICE = 34,
       CU_DEV_MEMORY_CLOCK = 36,
       CU_DEV_BUS_WIDTH = 37,
       CU_DEV_L2 = 38,
       CU_DEV_THREADS_MULTIPROCESSOR = 39,
       CU_DEV_PCI_DOMAIN = 50,
       CU_DEV_MAJOR = 75,
       CU_DEV_MINOR = 76,
       CU_DEV_SHARED_MULTIPROCESSOR = 81,
       CU_DEV_REGISTERS_MULTIPROCESSOR = 82,
       CU_DEV_COOPERATIVE = 95,
       CU_DEV_SHARED_OPTIN = 97,
       CU_DEV_BLOCKS_MULTIPROCESSOR = 106,
       CU_DEV_SHARED_RESERVED = 111,
       CU_DEV_CLUSTERS = 120,
       CU_DEV_TENSOR_MAPS = 127,
};

enum { /* results that are handled */
       CU_OUT_OF_MEMORY = 2,
       CU_NO_DEVICE = 100,
       CU_NO_BINARY = 209,
       CU_UNSUPPORTED_PTX = 222,
       CU_NOT_FOUND = 500,
       CU_NOT_READY = 600,
};

typedef struct cu_launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int flag;
        struct {
            unsigned x, y, z;
        } cluster;
    } value;
} cu_launch_attribute;

typedef struct cu_launch_config {
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    cu_stream stream;
    cu_launch_attribute *attributes;
    unsigned attribute_count;
} cu_launch_config;

_Static_assert(sizeof(cu_launch_attribute) == 72, "CUlaunchAttribute has 72 bytes");
_Static_assert(sizeof(cu_launch_config) == 56, "CUlaunchConfig has 56 bytes");

/* ---- arrays, textures and surfaces ---- */

enum { /* flags of arrays */
       CU_ARRAY_LAYERED = 1,
       CU_ARRAY_SURFACE = 2,
       CU_ARRAY_CUBE = 4,
       CU_ARRAY_GATHER = 8,
};
enum { CU_RESOURCE_ARRAY = 0, CU_RESOURCE_LINEAR = 2, CU_RESOURCE_PITCH = 3 };
enum { CU_TEXTURE_AS_INTEGERS = 1, CU_TEXTURE_NORMALIZED = 2 };
enum { CU_MEMORY_DEVICE = 2, CU_MEMORY_ARRAY = 3 };

typedef struct cu_array_descriptor {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} cu_array_descriptor;

typedef struct cu_resource {
    int kind;
    union {
        cu_array array;
        struct {
            cu_address address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            cu_address address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch;
        int reserved[32];
    } of;
    unsigned flags;
} cu_resource;

typedef struct cu_texture_descriptor {
    int modes[3], filter;
    unsigned flags, anisotropy;
    int mipmap_filter;
    float mipmap_bias, mipmap_least, mipmap_most, border[4];
    int reserved[12];
} cu_texture_descriptor;

typedef struct cu_copy_end {
    size_t x, y, z, lod; /* x in bytes */
    int memory;
    void *host;
    cu_address address;
    cu_array array;
    void *reserved;
    size_t pitch, rows;
} cu_copy_end;

typedef struct cu_copy_3d {
    cu_copy_end from, to;
    size_t row, rows, slices; /* row in bytes */
} cu_copy_3d;

_Static_assert(sizeof(cu_array_descriptor) == 40, "CUDA_ARRAY3D_DESCRIPTOR has 40 bytes");
_Static_assert(sizeof(cu_resource) == 144, "CUDA_RESOURCE_DESC has 144 bytes");
_Static_assert(sizeof(cu_texture_descriptor) == 104, "CUDA_TEXTURE_DESC has 104 bytes");
_Static_assert(sizeof(cu_copy_3d) == 200, "CUDA_MEMCPY3D has 200 bytes");

typedef struct cuda_api {
#define F(field, symbol, needed, args) cu_result(*field) args;
#include "lib/device/cuda_api.def"
#undef F
} cuda_api;

#endif
