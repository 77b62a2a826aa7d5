/* The contents of a compiled module: kernels, their arguments and resources. Reads cubins (ELF), PTX text and
 * fatbins; needs neither a driver nor a toolkit. */
#ifndef CUTE_CUBIN_H
#define CUTE_CUBIN_H

#include "cute/base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cute_module_format { CUTE_MODULE_CUBIN, CUTE_MODULE_PTX, CUTE_MODULE_FATBIN } cute_module_format;

typedef enum cute_arg_kind {
    CUTE_ARG_UNKNOWN, /* no metadata: only the size is known */
    CUTE_ARG_POINTER,
    CUTE_ARG_SCALAR,
    CUTE_ARG_MEMREF, /* a bare pointer (count 1) or the expanded descriptor (count 3 + 2 * rank) */
    CUTE_ARG_STRUCT,
    CUTE_ARG_TENSOR_MAP,
} cute_arg_kind;

/* A size known only at launch (`null` in the metadata). */
#define CUTE_DYNAMIC INT64_MIN

typedef struct cute_param {
    int64_t offset;      /* from the start of the parameter block, -1 unknown */
    int64_t size, align; /* bytes; align 0: unknown */
    const char *name;    /* as PTX spells it, NULL when read from a cubin without metadata */
} cute_param;

typedef struct cute_field {
    const char *name;  /* may be NULL */
    const char *type;  /* MLIR's text, may be NULL */
    const char *dtype; /* may be NULL */
    int64_t offset, size;
} cute_field;

/* An argument as declared in the source. Unknown texts are NULL. */
typedef struct cute_arg {
    const char *name; /* never NULL; "arg0"... without metadata */
    const char *type; /* MLIR's text */
    cute_arg_kind kind;
    const char *dtype;    /* "f32", ...: of a scalar, or of the elements of a pointer, memref or tensor map */
    size_t first, count;  /* its parameters */
    int64_t size;         /* bytes of those parameters, including padding between them */
    bool reads, writes;   /* both false: unknown */
    size_t rank;          /* of shape and strides; 0: rank 0 or unknown */
    const int64_t *shape; /* elements, or CUTE_DYNAMIC; NULL: unknown */
    const int64_t *strides;
    const char *layout; /* of a cute tensor */
    int64_t align;      /* required alignment of the pointer, bytes; 0: not stated */
    /* tensor maps */
    size_t box_rank;
    const int64_t *box;
    const char *swizzle, *interleave, *l2promo, *fill; /* in nvgpu's spelling: "swizzle_128b", ... */
    bool in_memory;         /* a pointer to a map in device memory; false: 128 bytes by value */
    const char *map_format; /* "F16_RN": the element type of a TMA atom's map; NULL: not stated */
    int64_t
        map_tensor; /* index of the argument whose tensor the map describes; -1: the launch passes a map */
    const int64_t
        *map_modes; /* for each dimension of the box, the leaf of the tensor's layout; NULL: not stated */
    const char *map_mode; /* "im2col"; NULL: tiles */
    /* structs */
    size_t field_count;
    const cute_field *fields;
    /* cute tensors: the compiler's assumption about offsets */
    size_t offset_leaf_count;     /* number of leaves; 0: no assumption */
    const int64_t *offset_leaves; /* leaves of the layout whose sum of (extent - 1) * |stride| ... */
    int64_t offsets_below;        /* ... must be below this number */
} cute_arg;

/* Resources of a kernel. -1: unknown (PTX has no register count yet). */
typedef struct cute_resources {
    int64_t registers; /* per thread */
    int64_t stack;     /* bytes of local memory per thread (frame) */
    int64_t max_stack; /* the same, including all callees */
    int64_t spill_stores,
        spill_loads; /* bytes, as reported by ptxas -v, if .cute.metadata or ptxas provided them */
    int64_t barriers;
    int64_t constant; /* bytes of constant bank 0, parameters included */
    int64_t param_bytes;
    int64_t code_bytes;
} cute_resources;

typedef struct cute_kernel {
    const char *name;
    const char *module; /* of the gpu.module, may be NULL */
    bool has_metadata;
    size_t arg_count;
    const cute_arg *args;
    size_t param_count;
    const cute_param *params;
    /* zeros: not stated */
    int64_t reqntid[3], maxntid[3], cluster[3], grid[3], block[3];
    int64_t static_smem;  /* bytes; -1: unknown */
    int64_t dynamic_smem; /* bytes the launch must provide; -1: not stated */
    bool uses_dynamic_smem;
    int64_t smem_align; /* 0: not stated */
    cute_place source;  /* file NULL: unknown */
    size_t define_count;
    const char *const *define_names, *const *define_values; /* -D */
    cute_resources resources;
    const char *metadata; /* the JSON object as text; NULL: none */
    /* Other launch bounds of the kernel; 0: not stated. */
    int64_t max_registers;    /* .maxnreg; from a cubin, also the effect of .minnctapersm and -maxrregcount */
    int64_t min_blocks;       /* .minnctapersm; not recorded in a cubin */
    int64_t max_cluster;      /* .maxclusterrank: maximum blocks per cluster */
    bool explicit_cluster;    /* .explicitcluster: the launch must state the cluster */
    bool blocks_are_clusters; /* .blocksareclusters: the launch's grid counts clusters */
} cute_kernel;

typedef struct cute_module cute_module;

/* Reads a module from `bytes` (copied). `label` names it in messages. `arch` ("sm_90a"; NULL: any) selects
 * the image of a fatbin: a cubin for it, else a cubin that runs on it, else PTX for it. CUTE_INVALID:
 * truncated, not a module, no image for `arch`, or metadata that contradicts docs/metadata.md. */
CUTE_API cute_status cute_module_open(const char *label, const void *bytes, size_t length, const char *arch,
                                      cute_module **out, cute_diag *diag);
CUTE_API void cute_module_close(cute_module *module);

/* The format of the selected image of a fatbin (otherwise of the module), and the format of the file. */
CUTE_API cute_module_format cute_module_get_format(const cute_module *module);
CUTE_API cute_module_format cute_module_get_container(const cute_module *module);
/* "sm_90a"; never NULL, "" if the file does not state it. */
CUTE_API const char *cute_module_arch(const cute_module *module);
/* The image that a driver loads: ELF, or PTX text followed by a NUL. Owned by the module. */
CUTE_API const void *cute_module_image(const cute_module *module, size_t *length);
/* The PTX: the image itself, the cubin's section .cute.ptx, or the fatbin's PTX; NULL: the module has no
 * PTX. */
CUTE_API const char *cute_module_ptx(const cute_module *module, size_t *length);
/* The version of that PTX: 83 is 8.3; 0: the module has no PTX. */
CUTE_API int cute_module_ptx_version(const cute_module *module);
CUTE_API size_t cute_module_kernel_count(const cute_module *module);
CUTE_API const cute_kernel *cute_module_kernel(const cute_module *module, size_t index);
/* Finds a kernel by symbol or C++ name (cute-run(1)). `name` NULL selects the only kernel. CUTE_INVALID: "no
 * kernel 'x'; did you mean 'y'? ..." */
CUTE_API cute_status cute_module_find_kernel(const cute_module *module, const char *name,
                                             const cute_kernel **out, cute_diag *diag);
/* The launch plan of a host function (docs/metadata.md), a JSON object as text owned by the module. `name`
 * may be an unambiguous prefix. CUTE_INVALID: no such plan. */
CUTE_API cute_status cute_module_find_plan(const cute_module *module, const char *name, const char **text,
                                           size_t *length, cute_diag *diag);
/* The plans in order; false past the last. */
CUTE_API bool cute_module_plan_at(const cute_module *module, size_t index, const char **text, size_t *length);
/* "pointer", "scalar", ... */
CUTE_API const char *cute_arg_kind_name(cute_arg_kind kind);

#ifdef __cplusplus
}
#endif
#endif
