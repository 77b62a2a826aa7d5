/* Opens the first available library of a list. */
#include "lib/base/system/library.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const char driver_variable[] = "CUTE_LIBCUDA";

void *cute_library_open(const char *variable, const char *const *names, const char **path,
                        cute_buffer *reasons)
{
    const char *chosen[] = {getenv(variable), NULL};
    const char *const *list = chosen[0] && *chosen[0] ? chosen : names;
    if (path) *path = list[0];
    for (size_t i = 0; list[i]; i++) {
        void *library = dlopen(list[i], RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
        if (library && path) *path = list[i];
        if (library) return library;
        const char *reason = dlerror();
        if (reasons) cute_buffer_printf(reasons, "%s%s", i ? "\n" : "", reason ? reason : list[i]);
    }
    return NULL;
}

void cute_library_notes(cute_buffer *reasons, cute_diag *diag)
{
    for (char *line = reasons->data; line && *line;) {
        char *end = strchr(line, '\n');
        if (end) *end = '\0';
        cute_note(diag, NULL, "%s", line);
        line = end ? end + 1 : NULL;
    }
    cute_buffer_release(reasons);
}

void *cute_driver_open(const char **path, cute_buffer *reasons)
{
    static const char *const names[] = {"libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so", NULL};
    return cute_library_open(driver_variable, names, path, reasons);
}

bool cute_driver_is_named(void)
{
    const char *named = getenv(driver_variable);
    return named && *named;
}
