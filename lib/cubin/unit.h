/* What is linked: each input taken apart into units of one kind. */
#ifndef CUTE_LIB_CUBIN_UNIT_H
#define CUTE_LIB_CUBIN_UNIT_H

#include "lib/base/devices/arch.h"
#include "lib/cubin/elf/elf.h"
#include "lib/cubin/link.h"
#include "lib/cubin/ptx/ptxjoin.h"

typedef enum cute_unit_kind {
    CUTE_UNIT_PTX,
    CUTE_UNIT_CUBIN,
    CUTE_UNIT_HOST, /* an object or a library for the CPU that may have device code in it; nvlink opens it */
} cute_unit_kind;

typedef struct cute_unit {
    cute_unit_kind kind;
    const char *label;
    const void *bytes;
    size_t length;
    const cute_arch *arch; /* what it was made for; NULL: not known, or older than the table */
    const char *arch_name; /* as it says it, "" */
    size_t target_offset;  /* of PTX: where it says it */
    cute_elf elf;          /* of a cubin */
    bool on_demand;        /* a member of a library of cubins: linked where somebody needs it */
    const char *ptx;       /* that a fatbin had beside the cubin; NULL: none */
    size_t ptx_length;
} cute_unit;

typedef struct cute_unit_list {
    cute_unit *items;
    size_t count, capacity;
    bool libraries; /* some came from libraries */
} cute_unit_list;

/* Adds the units of an input: of a fatbin the image for `arch` ("": the best), of MLIR the objects of its
 * gpu.binary operations, of an archive its cubins, or the archive itself. */
cute_status cute_units_add(cute_arena *arena, const cute_link_input *input, const char *arch,
                           cute_unit_list *list, cute_diag *diag);
typedef struct cute_ptx_part_list {
    cute_ptx_part *items;
    size_t count, capacity;
} cute_ptx_part_list;

/* Adds the PTX of a unit: itself, what a cubin keeps of it or had beside it, that of an object for the CPU, or of
 * the members of such an archive. A unit may have none. */
cute_status cute_unit_ptx(cute_arena *arena, const cute_unit *unit, const char *arch,
                          cute_ptx_part_list *list, cute_diag *diag);
/* Finds -l libraries in -L folders and adds them. */
cute_status cute_units_add_libraries(cute_arena *arena, const cute_link_options *options, const char *arch,
                                     cute_unit_list *list, cute_diag *diag);

#endif
