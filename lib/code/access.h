/* What each access to memory costs, before anything runs: the addresses of a warp's lanes are followed through the PTX, and
 * with them come wavefronts of shared memory and sectors of global memory, as ncu and the emulator's counters count them.
 * What does not follow from the code is not known, and says why. */
#ifndef CUTE_LIB_CODE_ACCESS_H
#define CUTE_LIB_CODE_ACCESS_H

#include "cute/cubin.h"
#include "lib/base/devices/traffic.h"
#include "lib/base/text/json.h"
#include "lib/code/assumptions.h"
#include "lib/code/sass/code.h"
#include "lib/code/unread.h"

enum { CUTE_ACCESS_WARPS_MAX = 32 };

/* What one warp's request costs. */
typedef struct cute_access_cost {
    uint16_t warp;
    uint16_t count,
        ideal;      /* wavefronts of shared memory, sectors of global memory; the least for as many bytes */
    uint32_t lanes; /* that take part */
} cute_access_cost;

/* One side of an instruction: a cp.async has two, its load and its store. */
typedef struct cute_access {
    const char *operation; /* "ld.shared.v4.u32" */
    cute_code_access kind;
    cute_code_space space; /* global or shared */
    uint32_t bytes;        /* of a lane at once; of ldmatrix and stmatrix 16, a row */
    bool plain_load;       /* by ld: not ldmatrix, cp.async */
    uint32_t ptx_line;     /* of the PTX */
    const char *file;      /* of the source; NULL: not known, as its line */
    uint32_t line, column;
    bool in_loop;

    const char *unknown; /* why nothing below is known, a clause; NULL: it is */
    const char
        *estimated; /* why costs are those of one case (x_try): it depends on this; NULL: they hold in all */

    /* Warps of the block that come here; costs in their order. Without a known block one, which stands for all. */
    cute_access_cost *costs;
    uint32_t warps;
    cute_access_cost least, most; /* of `costs`, by count */
    uint64_t count, ideal;        /* sums of `costs` */
    /* What was assumed. */
    bool lanes_assumed; /* whether all lanes come here is not known: those that may, do */
    bool
        alignment_assumed; /* of a pointer that says nothing: `alignment` bytes, as cudaMalloc gives it, and the cost
                                 would be another with less */
    bool one_side;         /* of a cp.async whose other side is not known: at least */
    uint32_t alignment; /* of the base of global addresses, in bytes; 0: no base */
    bool warps_assumed; /* the kernel is large: only some of its warps were followed, evenly spread */
    bool block_assumed; /* the size of the block is not known: blockDim.x is a multiple of 32 */
    /* The first warp's addresses, in bytes from the least one, and as a layout of (lane, byte) where it is one:
     * "((8,4),16):((128,16),1)", else NULL. */
    cute_request request;
    /* What a launch did in all, on the emulator: requests, and what they cost. Nothing: it was not counted. */
    cute_traffic counted;
    const char *layout;
    const char
        *pattern; /* what is wrong, in short: "8 lanes in one bank", "every 128 bytes", NULL: nothing */
} cute_access;

typedef struct cute_access_kernel {
    const char *kernel;
    code_assumptions assume;
    cute_access *accesses;
    size_t count;
    const char *not_counted; /* why a launch gave no counts, a message; NULL: none was needed, or it did */
    cute_unread_list
        unread; /* instructions that were not looked at; what they access is not among `accesses` */
} cute_access_kernel;

typedef struct cute_access_report {
    const char *label;
    cute_access_kernel *kernels;
    size_t count;
} cute_access_report;

/* What a launch would say. */
typedef struct cute_access_options {
    const char *kernel;     /* only this one */
    int64_t block[3];       /* where the kernel does not state it; [0] 0: not known */
    const char *block_from; /* who says so: "--block", "launch.json" */
    /* The kernel's parameter block; `known` has a code_byte of each byte. */
    const uint8_t *parameters, *known;
    size_t parameter_bytes;
} cute_access_options;

/* Of PTX text, terminated. CUTE_INVALID: the PTX cannot be read. */
cute_status cute_access_read(cute_arena *arena, const char *label, const char *ptx, size_t length,
                             const cute_access_options *options, cute_access_report *out, cute_diag *diag);
/* Of a module with PTX in it: what its metadata knows (alignments, the block) is used. CUTE_INVALID: it has none. */
cute_status cute_access_read_module(cute_arena *arena, const char *label, const cute_module *module,
                                    const cute_access_options *options, cute_access_report *out,
                                    cute_diag *diag);

/* Of the kernels that a launch.json launches, each as its first launch has it. */
cute_status cute_access_read_launch(cute_arena *arena, const char *label, const cute_module *module,
                                    const char *kernel, const char *config, const char *const *defines,
                                    size_t define_count, cute_access_report *out, cute_diag *diag);

/* Whether a launch would know more: some access is not known, or who comes to it. */
bool cute_access_wants_counts(const cute_access_report *report);
/* Sets `counted` by the report of a launch with its counters; NULL: there is none, and `why` says why. */
void cute_access_add_counts(cute_access_report *report, const json_t *launch, const char *why);

/* Costs more than it has to. */
bool cute_access_is_poor(const cute_access *access);
/* Tables for people, in which accesses of one line that cost the same are one row. */
void cute_access_print(cute_arena *arena, const cute_access_report *report, cute_buffer *out);
/* {"file", "kernels": [{"kernel", "block", "accesses": [...]}]}; docs/reports.md has the keys. */
json_t *cute_access_json(const cute_access_report *report);

#endif
