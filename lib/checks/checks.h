/* Checks of kernels while the emulator runs them: uses of what was never written, races, misused barriers, swizzles
 * that do not fit, and how well accesses fit banks and sectors. They watch through the hooks of a launch and know
 * nothing of how instructions work. The table of checks is cute/checks.def. checks.c calls the parts that the checks
 * need, a file each: bounds, undefined_memory, undefined_registers (undefined_flow: what instructions make of
 * them), races, wgmma_registers, barriers, mbarriers, whole_warps, swizzles, memory_transactions. They build on
 * clusters (state of a launch's clusters), vector_clocks and flags (what is ordered before what), mbarrier_states and
 * shadow_memory (what each byte went through). report.c keeps and prints what is found, allowed.c knows what of it the
 * user allows. */
#ifndef CUTE_LIB_CHECKS_CHECKS_H
#define CUTE_LIB_CHECKS_CHECKS_H

#include "cute/checks.h"
#include "lib/emulator/machine/counters.h"
#include "lib/emulator/machine/machine.h"

typedef struct em_checks em_checks;

/* `which`: CUTE_CHECK_...; `allow`: what is a warning (cute_emulator_options), which has to outlive the checks. NULL when memory
 * is exhausted or no check is among them. */
em_checks *em_checks_create(unsigned which, const char *const *allow, size_t allow_count);
/* CUTE_USAGE where an entry of such a list is none. */
cute_status em_allowed_check(const char *const *allow, size_t count, cute_diag *diag);
void em_checks_destroy(em_checks *checks);
/* Memory of the device: `total` bytes from `base`, of which the first `size` are the buffer's. Replaces what
 * was known of it. `name` is copied and may be NULL. */
bool em_checks_add_buffer(em_checks *checks, uint64_t base, uint64_t total, uint64_t size, const char *name,
                          bool written);
void em_checks_remove_buffer(em_checks *checks, uint64_t base);
/* The host wrote there. */
void em_checks_host_wrote(em_checks *checks, uint64_t base, uint64_t size);
/* Before a launch: sets launch->hooks. What is found becomes errors and warnings in the launch's diag when it ends.
 * `transactions`: an element for each instruction, to which the launch adds as to `footprint`; NULL: not wanted. False: memory is
 * exhausted. */
bool em_checks_begin(em_checks *checks, em_launch *launch, em_transactions *transactions,
                     em_footprint *footprint);
/* What was found in all launches so far (the first thousands); of the checks, until the next launch. */
const cute_finding *em_checks_findings(const em_checks *checks, size_t *count);
/* All findings with the counts by line as a JSON text (malloc'ed, NULL when memory is exhausted). */
char *em_checks_json(const em_checks *checks);

#endif
