/* Checks of kernels while the emulator runs them: uninitialised reads, races, misused barriers, mismatched
 * swizzles, bank conflicts and coalescing. They observe the hooks of a launch and know nothing of the
 * implementation of instructions. cute/checks.def is the table of checks; README.md lists the files. */
#ifndef CUTE_LIB_CHECKS_CHECKS_H
#define CUTE_LIB_CHECKS_CHECKS_H

#include "cute/checks.h"
#include "cute/plugin.h"
#include "lib/emulator/machine/counters.h"
#include "lib/emulator/machine/machine.h"

typedef struct em_checks em_checks;

/* `which`: CUTE_CHECK_... and the bits of plugins' checks; `allow`: findings reduced to warnings
 * (cute_emulator_options); it and `plugins` (may be NULL) have to outlive the checks. NULL if memory is exhausted or
 * `which` selects no check. */
em_checks *em_checks_create(unsigned which, const char *const *allow, size_t allow_count,
                            const cute_plugins *plugins);
/* CUTE_USAGE if an entry is invalid. */
cute_status em_allowed_check(const char *const *allow, size_t count, const cute_plugins *plugins,
                             cute_diag *diag);
/* CUTE_INVALID: a plugin's check has the name of one of the emulator's. */
cute_status em_plugins_check(const cute_plugins *plugins, cute_diag *diag);
void em_checks_destroy(em_checks *checks);
/* Device memory: `total` bytes from `base`, of which the first `size` belong to the buffer. Replaces earlier
 * state of these bytes. `name` is copied and may be NULL. */
bool em_checks_add_buffer(em_checks *checks, uint64_t base, uint64_t total, uint64_t size, const char *name,
                          bool written);
void em_checks_remove_buffer(em_checks *checks, uint64_t base);
/* The host wrote this range. */
void em_checks_host_wrote(em_checks *checks, uint64_t base, uint64_t size);
/* Between launches on several devices, by the host of a device: it has read a counter with an acquire at the scope of the system; it signals
 * another device behind its launches; it has waited for such a signal of another. Later launches of the device are ordered by them. */
void em_checks_acquire(em_checks *checks, uint32_t device, uint64_t counter);
void em_checks_signal(em_checks *checks, uint32_t device, uint32_t to);
void em_checks_observe(em_checks *checks, uint32_t device, uint32_t from);
/* Before a launch: sets launch->hooks. When the launch ends, findings are reported to its diag.
 * `transactions`, an element per instruction, and `footprint` are added to; NULL: not wanted. False: memory
 * is exhausted. */
bool em_checks_begin(em_checks *checks, em_launch *launch, em_transactions *transactions,
                     em_footprint *footprint);
/* Findings of all launches so far (the first few thousand); owned by the checks, valid until the next
 * launch. */
const cute_finding *em_checks_findings(const em_checks *checks, size_t *count);
/* All findings and the counts by line as JSON (malloc'ed, NULL if memory is exhausted). */
char *em_checks_json(const em_checks *checks);

#endif
