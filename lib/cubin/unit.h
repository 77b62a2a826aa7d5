/* The units of a link: each input is split into PTX modules, cubins and host objects. */
#ifndef CUTE_LIB_CUBIN_UNIT_H
#define CUTE_LIB_CUBIN_UNIT_H

#include "lib/base/devices/arch.h"
#include "lib/cubin/elf/elf.h"
#include "lib/cubin/link.h"
#include "lib/cubin/ptx/ptxjoin.h"

typedef enum cute_unit_kind {
    CUTE_UNIT_PTX,
    CUTE_UNIT_CUBIN,
    CUTE_UNIT_HOST, /* a CPU object or library that may contain device code, for nvlink to open */
} cute_unit_kind;

typedef struct cute_unit {
    cute_unit_kind kind;
    const char *label;
    const void *bytes;
    size_t length;
    const cute_arch *arch; /* its target; NULL: unknown, or not in the table */
    const char *arch_name; /* as stated by the input; "" if not stated */
    size_t target_offset;  /* offset of .target in PTX */
    cute_elf elf;          /* of a cubin */
    bool on_demand;        /* a library member: linked only if needed */
    const char *ptx;       /* PTX from the same fatbin as the cubin; NULL: none */
    size_t ptx_length;
} cute_unit;

typedef struct cute_unit_list {
    cute_unit *items;
    size_t count, capacity;
    bool libraries; /* some came from libraries */
} cute_unit_list;

/* Adds the units of an input: the image for `arch` ("": the best) of a fatbin, the objects of MLIR's
 * gpu.binary operations, the cubins of an archive, or the archive itself. */
cute_status cute_units_add(cute_arena *arena, const cute_link_input *input, const char *arch,
                           cute_unit_list *list, cute_diag *diag);
typedef struct cute_ptx_part_list {
    cute_ptx_part *items;
    size_t count, capacity;
} cute_ptx_part_list;

/* Adds the PTX of a unit: the unit itself, the PTX embedded in a cubin or from the same fatbin, or that of a
 * CPU object or archive of such. A unit may have none. */
cute_status cute_unit_ptx(cute_arena *arena, const cute_unit *unit, const char *arch,
                          cute_ptx_part_list *list, cute_diag *diag);
/* Finds -l libraries in -L folders and adds them. */
cute_status cute_units_add_libraries(cute_arena *arena, const cute_link_options *options, const char *arch,
                                     cute_unit_list *list, cute_diag *diag);

#endif
