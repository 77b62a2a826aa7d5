/* See warnings.h. */
#include "lib/ir/diagnostics/warnings.h"

#include <string.h>

static const struct {
    const char *name, *pass;
} warnings[] = {
#define CUTE_WARNING(name, pass) {name, pass},
#include "lib/ir/diagnostics/warnings.def"
};

static const char *pass_of(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof warnings / sizeof *warnings; i++)
        if (strlen(warnings[i].name) == length && !memcmp(warnings[i].name, name, length))
            return warnings[i].pass;
    return NULL;
}

cute_status cute_warnings_as_remarks(cute_arena *arena, const char *names, const char *remarks,
                                     const char **out, cute_diag *diag)
{
    bool all = remarks && !*remarks;
    *out = remarks;
    for (size_t length; names; names = names[length] ? names + length + 1 : NULL) {
        length = strcspn(names, ",");
        const char *pass = pass_of(names, length);
        if (!pass)
            return cute_fail(diag, CUTE_USAGE, NULL, "--warn expects %s, got '%.*s'", warnings[0].name,
                             (int)length, names);
        if (!all) *out = *out ? cute_arena_printf(arena, "%s,%s", *out, pass) : pass;
        if (!*out) return cute_fail_memory(diag);
    }
    return CUTE_OK;
}
