/* Memory of emulated devices in several processes of a machine: functions of their tables, see device.h. */
#ifndef CUTE_LIB_DEVICE_SHARED_MEMORY_H
#define CUTE_LIB_DEVICE_SHARED_MEMORY_H

#include "lib/device/device.h"

cute_status cute_shared_memory_alloc(cute_device *device, size_t size, cute_address *address,
                                     cute_shared_name *name, cute_diag *diag);
cute_status cute_shared_memory_reach(cute_device *device, const cute_shared_name *name, size_t size,
                                     cute_address *address, cute_diag *diag);
void cute_shared_memory_leave(cute_device *device, cute_address address, size_t size);
void cute_shared_memory_free(cute_device *device, cute_address address, size_t size,
                             const cute_shared_name *name);

#endif
