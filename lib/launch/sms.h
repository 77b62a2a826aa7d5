/* Queries the device of a launch, such as its number of multiprocessors, before the launch opens it. */
#ifndef CUTE_LIB_LAUNCH_SMS_H
#define CUTE_LIB_LAUNCH_SMS_H

#include "cute/device.h"
#include "cute/emulator_options.h"

/* The device of a launch. */
typedef struct config_device {
    const char *name;                      /* for cute_device_open */
    const cute_emulator_options *emulator; /* checks or counters select the emulator */
    bool in_process;                       /* the driver may be initialized in this process */
    bool dry_run;                          /* fall back to the emulator's device */
    int64_t multiprocessors;               /* overrides the device's; 0: the device's */
} config_device;

/* Describes the device. */
cute_status cute_launch_device(const config_device *device, cute_device_info *out, cute_diag *diag);
/* The number of multiprocessors. `device` NULL: any device. */
cute_status cute_launch_sms(const config_device *device, int64_t *out, cute_diag *diag);

#endif
