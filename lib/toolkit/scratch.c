/* Scratch files: memfds passed by descriptor, or files in a private folder. */
#include "lib/toolkit/scratch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/system/file.h"
#include "lib/base/system/signals.h"

static bool write_all(int fd, const char *bytes, size_t length)
{
    cute_pipe_guard guard;
    cute_pipe_hold(&guard);
    while (length) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) break;
        bytes += put;
        length -= (size_t)put;
    }
    cute_pipe_release(&guard);
    return length == 0;
}

/* NULL if memfds are unavailable (old kernel, sandbox): then a folder is used. Closed on exec, so that only
 * selected programs inherit it. */
static const char *make_memory_file(cute_scratch *s, const char *name, const void *bytes, size_t length)
{
    if (s->descriptor_count == sizeof s->descriptors / sizeof *s->descriptors) return NULL;
    int fd = memfd_create(name, MFD_CLOEXEC);
    if (fd < 0) return NULL;
    const char *path = fd > STDERR_FILENO ? cute_arena_printf(s->arena, "/proc/self/fd/%d", fd) : NULL;
    if (!path || !write_all(fd, bytes, length) || !cute_file_exists(path)) {
        close(fd);
        return NULL;
    }
    s->descriptors[s->descriptor_count++] = fd;
    return path;
}

cute_status cute_scratch_file(cute_scratch *s, const char *name, const void *bytes, size_t length,
                              const char **path, cute_diag *diag)
{
    *path = NULL;
    if (s->prefix || s->dry) {
        *path = s->prefix ? cute_arena_printf(s->arena, "%s.%s", s->prefix, name)
                          : cute_arena_copy(s->arena, name, strlen(name));
        if (!*path) return cute_fail_memory(diag);
        return s->dry || !length ? CUTE_OK : cute_file_write(*path, bytes, length, diag);
    }
    if (!s->named) *path = make_memory_file(s, name, bytes, length);
    if (*path) return CUTE_OK;
    if (!s->folder) CUTE_TRY(cute_temp_directory(s->arena, &s->folder, diag));
    *path = cute_arena_printf(s->arena, "%s/%s", s->folder, name);
    if (!*path) return cute_fail_memory(diag);
    return length ? cute_file_write(*path, bytes, length, diag) : CUTE_OK;
}

cute_status cute_scratch_read(cute_scratch *s, const char *path, cute_buffer *out, cute_diag *diag)
{
    (void)s;
    return cute_file_read(path, out, diag);
}

void cute_scratch_close(cute_scratch *s)
{
    for (size_t i = 0; i < s->descriptor_count; i++) close(s->descriptors[i]);
    s->descriptor_count = 0;
    cute_temp_remove(s->folder);
    s->folder = NULL;
}
