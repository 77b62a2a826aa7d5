/* Measures the attainable ceilings of a GPU: kernels that saturate one ceiling each (probes.c), timed and cached (calibrate.c). */
#ifndef CUTE_LIB_REPORT_ROOFLINE_CALIBRATE_H
#define CUTE_LIB_REPORT_ROOFLINE_CALIBRATE_H

#include "lib/report/roofline/roofline.h"

/* A kernel "probe" with the parameters: address of its memory, size in bytes, iterations (u32). */
typedef struct roof_probe {
    roof_ceiling ceiling;
    const char *what;        /* for messages */
    int from, to;            /* compute capabilities; to 0: all later ones */
    int64_t threads, blocks; /* per block; per multiprocessor */
    int64_t amount; /* per block and iteration, in the unit of the ceiling; 0: the bytes of its memory */
    void (*ptx)(const struct roof_probe *probe, cute_buffer *out);
    const struct probe_mma *mma;
} roof_probe;

/* Bytes that a thread of the DRAM probes moves per step; their memory is a multiple of a step of the grid. */
enum { ROOF_STEP = 128 };
extern const roof_probe roof_probes[];
extern const size_t roof_probe_count;

/* Sets `d->measured`. CUTE_INVALID on the emulator, CUTE_SYSTEM if no probe could be measured; a warning for each probe that the driver
 * rejects. */
cute_status cute_roof_calibrate(cute_device *device, roof_device *d, cute_diag *diag);
/* Stores and loads the measured rates of a device; `folder`: the cache, may be NULL. */
void cute_roof_remember(const char *folder, const roof_device *d);
bool cute_roof_recall(const char *folder, roof_device *d);
/* Theoretical and measured rates, with the keys of "device" in a roofline. */
char *cute_roof_device_report(const roof_device *d, bool json);

#endif
