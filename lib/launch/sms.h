/* How many multiprocessors the device of a launch has, before that launch opens it. */
#ifndef CUTE_LIB_LAUNCH_SMS_H
#define CUTE_LIB_LAUNCH_SMS_H

#include "cute/device.h"
#include "cute/emulator_options.h"

/* Where a launch will run. */
typedef struct config_device {
    const char *name;                      /* for cute_device_open */
    const cute_emulator_options *emulator; /* checks and counters mean the emulator */
    bool in_process;                       /* the driver may be started in this process */
    bool dry_run;                          /* without a device, that of the emulator will do */
    int64_t multiprocessors;               /* 0: those that the device has */
} config_device;

/* What the device is. */
cute_status cute_launch_device(const config_device *device, cute_device_info *out, cute_diag *diag);
/* NULL: any device. */
cute_status cute_launch_sms(const config_device *device, int64_t *out, cute_diag *diag);

#endif
