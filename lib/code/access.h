/* Static cost of memory accesses: the addresses of a warp's lanes are evaluated from the PTX, which gives the wavefronts of shared
 * memory and sectors of global memory that ncu and the emulator count. Costs that do not follow from the code have a reason. */
#ifndef CUTE_LIB_CODE_ACCESS_H
#define CUTE_LIB_CODE_ACCESS_H

#include "cute/cubin.h"
#include "lib/base/devices/traffic.h"
#include "lib/base/text/json.h"
#include "lib/code/assumptions.h"
#include "lib/code/sass/code.h"
#include "lib/code/unread.h"

enum { CUTE_ACCESS_WARPS_MAX = 32 };

/* The cost of one warp's request. */
typedef struct cute_access_cost {
    uint16_t warp;
    uint16_t count,
        ideal; /* wavefronts of shared memory or sectors of global memory; the minimum for the same bytes */
    uint32_t lanes; /* active lanes */
} cute_access_cost;

/* One side of an instruction: a cp.async has two, its load and its store. */
typedef struct cute_access {
    const char *operation; /* "ld.shared.v4.u32" */
    cute_code_access kind;
    cute_code_space space; /* global or shared */
    uint32_t bytes;        /* per lane; 16, a row, for ldmatrix and stmatrix */
    bool plain_load;       /* ld, not ldmatrix or cp.async */
    uint32_t ptx_line;
    const char *file; /* of the source, as line and column; NULL: unknown */
    uint32_t line, column;
    bool in_loop;

    const char *unknown; /* the reason why the cost is unknown; NULL: it is known */
    const char *
        estimated; /* the input on which the cost depends, which holds for an example (ssa_run_example); NULL: for any input */

    /* The warps of the block that execute it. If the block is unknown, one warp represents all. */
    cute_access_cost *costs;
    uint32_t warps;
    cute_access_cost least, most; /* of `costs`, by count */
    uint64_t count, ideal;        /* sums of `costs` */
    /* Assumptions. */
    bool lanes_assumed;     /* the active lanes are unknown: all that may be active are */
    bool alignment_assumed; /* the cost depends on the alignment of the base beyond the known one */
    bool one_side;          /* of a cp.async whose other side is unknown: a lower bound */
    uint32_t alignment;     /* known alignment of the base of global addresses, in bytes; 0: no base */
    bool warps_assumed;     /* only some warps of a large kernel were evaluated, evenly spaced */
    bool block_assumed;     /* the block size is unknown; blockDim.x is assumed to be a multiple of 32 */
    cute_request request;   /* the first warp's addresses, relative to the lowest one */
    cute_traffic counted;   /* totals of a launch on the emulator; zero: not counted */
    const char *
        layout; /* the addresses as a layout of (lane, byte): "((8,4),16):((128,16),1)"; NULL: not a layout */
    const char *
        pattern; /* the problem in short: "32-way bank conflict", "stride of 128 bytes between lanes"; NULL: none */
} cute_access;

typedef struct cute_access_kernel {
    const char *kernel;
    code_assumptions assume;
    cute_access *accesses;
    size_t count;
    const char *not_counted; /* why a launch gave no counts; NULL: it did, or was not needed */
    cute_unread_list unread; /* unsupported instructions, whose accesses are missing from `accesses` */
} cute_access_kernel;

typedef struct cute_access_report {
    const char *label;
    cute_access_kernel *kernels;
    size_t count;
} cute_access_report;

/* Known properties of the launch. */
typedef struct cute_access_options {
    const char *kernel;     /* only this one */
    int64_t block[3];       /* unless the kernel states it; [0] 0: unknown */
    const char *block_from; /* its origin: "--block", "launch.json" */
    /* The kernel's parameter block; `known` has a code_byte of each byte. */
    const uint8_t *parameters, *known;
    size_t parameter_bytes;
} cute_access_options;

/* `ptx` is terminated. CUTE_INVALID: the PTX cannot be read. */
cute_status cute_access_read(cute_arena *arena, const char *label, const char *ptx, size_t length,
                             const cute_access_options *options, cute_access_report *out, cute_diag *diag);
/* Reads the PTX of a module and uses its metadata (alignments, the block). CUTE_INVALID: it has no PTX. */
cute_status cute_access_read_module(cute_arena *arena, const char *label, const cute_module *module,
                                    const cute_access_options *options, cute_access_report *out,
                                    cute_diag *diag);

/* The kernels that a launch.json launches, with the values of each kernel's first launch. */
cute_status cute_access_read_launch(cute_arena *arena, const char *label, const cute_module *module,
                                    const char *kernel, const char *config, const char *const *defines,
                                    size_t define_count, cute_access_report *out, cute_diag *diag);

/* A launch would add information: some cost or active lanes are unknown. */
bool cute_access_wants_counts(const cute_access_report *report);
/* Sets `counted` from the report of a launch with counters; NULL: no launch, for the reason `why`. */
void cute_access_add_counts(cute_access_report *report, const json_t *launch, const char *why);

/* The cost exceeds the ideal. */
bool cute_access_is_poor(const cute_access *access);
/* Prints tables; accesses of one line with equal cost share a row. */
void cute_access_print(cute_arena *arena, const cute_access_report *report, cute_buffer *out);
/* {"file", "kernels": [{"kernel", "block", "accesses": [...]}]}; docs/reports.md has the keys. */
json_t *cute_access_json(const cute_access_report *report);

#endif
