/* Memory of emulated devices that several processes map. It has no name in the file system: other processes open it through the owner's
 * descriptor, so it ends with the last of them. */
#include "lib/device/shared_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Maps `size` bytes, which belong to the device until they are left. */
static cute_status map_memory(cute_device *device, int fd, size_t size, cute_address *address,
                              cute_diag *diag)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot map %zu bytes of shared memory: %s", size,
                         strerror(errno));
    cute_status status = device->ops->emulator->add_host(device, memory, size, diag);
    if (status == CUTE_OK)
        *address = (cute_address)(uintptr_t)memory;
    else
        munmap(memory, size);
    return status;
}

cute_status cute_shared_memory_alloc(cute_device *device, size_t size, cute_address *address,
                                     cute_shared_name *name, cute_diag *diag)
{
    int fd = memfd_create("cute-window", MFD_CLOEXEC);
    cute_status status =
        fd >= 0 && ftruncate(fd, (off_t)size) == 0
            ? map_memory(device, fd, size, address, diag)
            : cute_fail(diag, CUTE_SYSTEM, NULL, "cannot create %zu bytes of shared memory: %s", size,
                        strerror(errno));
    if (status != CUTE_OK && fd >= 0) close(fd);
    snprintf(name->bytes, sizeof name->bytes, "/proc/%ld/fd/%d", (long)getpid(), fd);
    return status;
}

cute_status cute_shared_memory_reach(cute_device *device, const cute_shared_name *name, size_t size,
                                     cute_address *address, cute_diag *diag)
{
    int fd = open(name->bytes, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return cute_fail(diag, CUTE_SYSTEM, NULL, "cannot open the memory of another process, %.*s: %s",
                         (int)sizeof name->bytes, name->bytes, strerror(errno));
    cute_status status = map_memory(device, fd, size, address, diag);
    close(fd);
    return status;
}

void cute_shared_memory_leave(cute_device *device, cute_address address, size_t size)
{
    void *memory = (void *)(uintptr_t)address;
    device->ops->emulator->remove_host(device, memory, NULL);
    munmap(memory, size);
}

void cute_shared_memory_free(cute_device *device, cute_address address, size_t size,
                             const cute_shared_name *name)
{
    const char *number = strrchr(name->bytes, '/');
    cute_shared_memory_leave(device, address, size);
    if (number) close(atoi(number + 1));
}
