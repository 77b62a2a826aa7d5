/* The GPU resources that a PTX instruction occupies: pipes, and operations by the usual count. Estimates if
 * the instruction expands to a sequence of machine code (division, rounded square roots, 64-bit integers). */
#ifndef CUTE_LIB_EMULATOR_MACHINE_WORK_H
#define CUTE_LIB_EMULATOR_MACHINE_WORK_H

#include "lib/emulator/program/program.h"

typedef enum em_work_kind {
#define WORK(id, name) EM_WORK_##id,
#include "lib/emulator/machine/work.def"
    EM_WORKS
} em_work_kind;
extern const char *const em_work_names[EM_WORKS];

typedef struct em_work {
    em_work_kind kind;
    uint32_t slots;      /* of the pipe, per lane of the warp, active or not; 0: tensor cores */
    uint32_t operations; /* per active lane: 1 for an addition, 2 for fma; tensor cores: per warp */
} em_work;
enum { EM_WORK_MOST = 2 };

/* Returns the number of elements of `out` filled in. */
int em_work_of(const em_inst *inst, em_work out[EM_WORK_MOST]);
/* Whether it has machine code: most moves and loads of parameters are folded into other instructions. */
bool em_work_issues(const em_inst *inst);

#endif
