/* See abi.h. */
#include "lib/base/abi.h"

#include <string.h>

static cute_status caller_size(const void *theirs, const char *name, size_t *out, cute_diag *diag)
{
    memcpy(out, theirs, sizeof *out);
    if (*out >= sizeof *out) return CUTE_OK;
    return cute_fail(diag, CUTE_USAGE, NULL, "%s.size is %zu: expected sizeof(%s)", name, *out, name);
}

cute_status cute_struct_read(void *ours, size_t size, const void *theirs, const char *name, cute_diag *diag)
{
    size_t given;
    CUTE_TRY(caller_size(theirs, name, &given, diag));
    for (size_t i = size; i < given; i++)
        if (((const char *)theirs)[i])
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "%s has fields of a newer libcute than %s; they must be zero", name,
                             cute_version());
    memset(ours, 0, size);
    memcpy(ours, theirs, given < size ? given : size);
    memcpy(ours, &size, sizeof size);
    return CUTE_OK;
}

cute_status cute_struct_write(void *theirs, const void *ours, size_t size, const char *name, cute_diag *diag)
{
    size_t given;
    CUTE_TRY(caller_size(theirs, name, &given, diag));
    memset(theirs, 0, given);
    memcpy(theirs, ours, given < size ? given : size);
    memcpy(theirs, &given, sizeof given);
    return CUTE_OK;
}
