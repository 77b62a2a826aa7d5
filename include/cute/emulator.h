/* The emulator: a device that runs PTX on the CPU, with what only it can do: checks of kernels, counters, a schedule
 * by number, output of kernels to the caller, memory of the host as memory of the device. It is used through
 * cute/device.h like any other. The library prints nothing by itself.
 *
 * The functions below refuse another device with CUTE_USAGE (those without a status: with nothing). A device is used
 * by one thread at a time; several devices are independent. */
#ifndef CUTE_EMULATOR_H
#define CUTE_EMULATOR_H

#include "cute/checks.h"
#include "cute/device.h"
#include "cute/emulator_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an emulator; NULL: the defaults. The options are copied, *context is the caller's. CUTE_USAGE: an option that
 * is out of its range. */
CUTE_API cute_status cute_emulator_open(const cute_emulator_options *options, cute_device **out,
                                        cute_diag *diag);
/* Makes it as it was when it was opened: modules, memory, findings and counts are gone; registered memory is the
 * caller's again. Handles given out before are invalid. */
CUTE_API cute_status cute_emulator_reset(cute_device *device, cute_diag *diag);

/* ---- memory of the host ---- */

/* Makes `size` bytes at `memory` memory of the device at the same address, so that a pointer of the host is one of the
 * device's. It stays the caller's and must outlive the registration; what it holds counts as written. Work of a stream
 * or launch that uses it must be over before the host touches it. CUTE_INVALID: it overlaps what the device has. */
CUTE_API cute_status cute_emulator_register(cute_device *device, void *memory, size_t size, cute_diag *diag);
CUTE_API cute_status cute_emulator_unregister(cute_device *device, void *memory, cute_diag *diag);
/* Tells the checks what an allocation is: the buffer `name` (copied) of `size` bytes at its begin, and whether it has
 * contents. The rest is a margin that nothing may touch. Without checks it does nothing. CUTE_INVALID: no allocation
 * begins there. */
CUTE_API cute_status cute_emulator_describe_buffer(cute_device *device, cute_address address,
                                                   const char *name, size_t size, bool written,
                                                   cute_diag *diag);

/* ---- what kernels did ---- */

/* Since the emulator was opened or reset. Valid until it is closed, up to date after each launch; NULL on another
 * device. */
CUTE_API const cute_emulator_counts *cute_emulator_get_counts(const cute_device *device);
/* What kernels did, by class of instruction, space and line, as JSON text (cute-run(1)), malloc'ed; NULL without
 * options.counters. */
CUTE_API char *cute_emulator_counters_json(const cute_device *device);
/* What the checks found in all launches so far, of which the first thousands are kept. A finding is valid until the next
 * launch or reset; NULL behind the last, and without checks. Findings are also errors and warnings in the diag of the
 * launch, which succeeds all the same. */
CUTE_API size_t cute_emulator_finding_count(const cute_device *device);
CUTE_API const cute_finding *cute_emulator_finding(const cute_device *device, size_t index);
/* The same and the counts by line, as JSON text (docs/emulator-checks.md), malloc'ed; NULL without
 * checks. */
CUTE_API char *cute_emulator_checks_json(const cute_device *device);

#ifdef __cplusplus
}
#endif
#endif
