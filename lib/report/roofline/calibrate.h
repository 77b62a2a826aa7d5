/* What a GPU reaches of its ceilings: kernels that keep one of them busy (probes.c), timed (calibrate.c), and remembered. */
#ifndef CUTE_LIB_REPORT_ROOFLINE_CALIBRATE_H
#define CUTE_LIB_REPORT_ROOFLINE_CALIBRATE_H

#include "lib/report/roofline/roofline.h"

/* A kernel "probe" with the parameters (address of its memory, bytes of it, iterations: u32). */
typedef struct roof_probe {
    roof_ceiling ceiling;
    const char *what;        /* for people */
    int from, to;            /* compute capabilities, to 0: all later ones */
    int64_t threads, blocks; /* of a block; of a multiprocessor */
    int64_t amount; /* of a block in an iteration, in the unit of the ceiling; 0: the bytes of its memory */
    void (*ptx)(const struct roof_probe *probe, cute_buffer *out);
    const struct probe_mma *mma;
} roof_probe;

/* Bytes of DRAM that a thread of those probes moves in a step: their memory is whole steps of the grid. */
enum { ROOF_STEP = 128 };
extern const roof_probe roof_probes[];
extern const size_t roof_probe_count;

/* Fills in `d->measured`. CUTE_INVALID on an emulator, CUTE_SYSTEM where nothing could be measured; a warning for each probe that
 * the driver does not take. */
cute_status cute_roof_calibrate(cute_device *device, roof_device *d, cute_diag *diag);
/* What was measured of such a device before; `folder`: of the cache, may be NULL. */
void cute_roof_remember(const char *folder, const roof_device *d);
bool cute_roof_recall(const char *folder, roof_device *d);
/* Theoretical and measured rates. The keys are those of "device" in a roofline. */
char *cute_roof_device_report(const roof_device *d, bool json);

#endif
