/* The emulator: a device that runs PTX on the CPU. Beyond cute/device.h it offers checks of kernels,
 * counters, seeded schedules, kernel output to the caller, and host memory mapped as device memory. The
 * library prints nothing by itself.
 *
 * The functions below return CUTE_USAGE on another kind of device (those without a status: NULL or 0). A
 * device is used by one thread at a time; several devices are independent. */
#ifndef CUTE_EMULATOR_H
#define CUTE_EMULATOR_H

#include "cute/checks.h"
#include "cute/device.h"
#include "cute/emulator_options.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an emulator; NULL: the defaults. The options are copied, *context remains the caller's. CUTE_USAGE:
 * an option is out of range. */
CUTE_API cute_status cute_emulator_open(const cute_emulator_options *options, cute_device **out,
                                        cute_diag *diag);
/* Resets the device to its state after opening: modules, memory, findings and counts are dropped, and
 * registered memory is no longer used. Earlier handles are invalid. */
CUTE_API cute_status cute_emulator_reset(cute_device *device, cute_diag *diag);

/* ---- memory of the host ---- */

/* Maps `size` bytes of host memory at `memory` to the same device address, so that host pointers are valid on
 * the device. The memory remains the caller's and must outlive the registration; its contents count as
 * initialized. Wait for the streams and launches that use it before accessing it on the host. CUTE_INVALID:
 * it overlaps device memory. */
CUTE_API cute_status cute_emulator_register(cute_device *device, void *memory, size_t size, cute_diag *diag);
CUTE_API cute_status cute_emulator_unregister(cute_device *device, void *memory, cute_diag *diag);
/* Describes an allocation to the checks: the buffer `name` (copied) occupies `size` bytes from its start, and
 * is initialized or not. The rest of the allocation is a red zone. Without checks this has no effect.
 * CUTE_INVALID: no allocation begins there. */
CUTE_API cute_status cute_emulator_describe_buffer(cute_device *device, cute_address address,
                                                   const char *name, size_t size, bool written,
                                                   cute_diag *diag);

/* ---- several devices: options.devices ---- */

/* Selects the device, from 0, whose memory and variables the following allocations and cute_device_get_global
 * refer to. After opening it is device 0. CUTE_USAGE: there is no such device. */
CUTE_API cute_status cute_emulator_select(cute_device *device, int64_t rank, cute_diag *diag);
/* Launches a kernel on all devices at the same time: params[r] are the arguments of device r, as for
 * cute_device_start, which passes the same arguments to all. A launch begins on a device when that device's
 * preceding launch has ended; nothing else orders the devices. */
CUTE_API cute_status cute_emulator_start_all(cute_device *device, cute_device_function *function,
                                             const cute_device_launch *launch, void *const *const *params,
                                             cute_diag *diag);

/* ---- results ---- */

/* Counts since the emulator was opened or reset. Valid until it is closed, updated after each launch; NULL
 * for another kind of device. */
CUTE_API const cute_emulator_counts *cute_emulator_get_counts(const cute_device *device);
/* Counters by class of instruction, space and line, as JSON text (cute-run(1)), malloc'ed; NULL without
 * options.counters. */
CUTE_API char *cute_emulator_counters_json(const cute_device *device);
/* The waits, copies, products and stores of the warps of one block of each launch, in modelled cycles, as JSON
 * text (docs/emulator.md), malloc'ed; NULL without options.timeline. */
CUTE_API char *cute_emulator_timeline_json(const cute_device *device);
/* Findings of all launches so far; only the first few thousand are kept. A finding is valid until the next
 * launch or reset; NULL past the last, and without checks. Findings are also errors and warnings in the diag
 * of the launch, which still succeeds. */
CUTE_API size_t cute_emulator_finding_count(const cute_device *device);
CUTE_API const cute_finding *cute_emulator_finding(const cute_device *device, size_t index);
/* The findings and the counts by line, as JSON text (docs/emulator-checks.md), malloc'ed; NULL without
 * checks. */
CUTE_API char *cute_emulator_checks_json(const cute_device *device);

#ifdef __cplusplus
}
#endif
#endif
