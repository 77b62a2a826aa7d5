/* What an instruction of PTX keeps busy on a GPU: pipes, and operations as they are usually counted. Of what machine code has no
 * single instruction for (division, square roots that are rounded, 64-bit integers) it is an estimate. */
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
    uint32_t slots;      /* of the pipe, for each lane of the warp, active or not; 0: tensor cores */
    uint32_t operations; /* of an active lane: an addition is 1, fma 2; of tensor cores: of the warp */
} em_work;
enum { EM_WORK_MOST = 2 };

/* How many of `out` it fills in. */
int em_work_of(const em_inst *inst, em_work out[EM_WORK_MOST]);
/* Whether machine code has it: moves and loads of parameters are mostly folded into other instructions. */
bool em_work_issues(const em_inst *inst);

#endif
