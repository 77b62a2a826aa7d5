/* Checks of kernels while the emulator runs them: uses of what was never written, races, misused barriers,
 * swizzles that do not fit, and how well accesses fit banks and sectors. They look on through the hooks of a
 * launch and know nothing of how instructions work. check.c owns the state and hears the hooks, checkorder.c
 * knows what is ordered before what, checkflag.c what fences and flags add to that, checkshadow.c what each
 * byte went through, checkregister.c and checkflow.c which registers are undefined, checkproduct.c the
 * registers of wgmma, checktile.c swizzles, checkstep.c which instructions those concern; checktraffic.c
 * counts transactions, checkreport.c tells. */
#ifndef CUTE_LIB_CHECKS_CHECKS_H
#define CUTE_LIB_CHECKS_CHECKS_H

#include "cute/checks.h"
#include "lib/emulator/machine.h"

typedef struct em_checks em_checks;

/* `which`: CUTE_CHECK_... NULL when memory is exhausted or `which` is 0. */
em_checks *em_checks_create(unsigned which);
void em_checks_destroy(em_checks *checks);
/* Memory of the device: `total` bytes from `base`, of which the first `size` are the buffer's. Replaces what
 * was known of it. `name` is copied and may be NULL. */
bool em_checks_add_buffer(em_checks *checks, uint64_t base, uint64_t total, uint64_t size, const char *name,
                          bool written);
void em_checks_remove_buffer(em_checks *checks, uint64_t base);
/* The host wrote there. */
void em_checks_host_wrote(em_checks *checks, uint64_t base, uint64_t size);
/* Before a launch: sets launch->hooks. What is found becomes errors in the launch's diag when it ends. */
void em_checks_begin(em_checks *checks, em_launch *launch);
/* How many different findings there are so far, and all of them with the counts by line as a JSON text
 * (malloc'ed, NULL when memory is exhausted). */
size_t em_checks_found(const em_checks *checks);
char *em_checks_json(const em_checks *checks);

#endif
