/* Parses `arch=VIRTUAL,code=REAL`; the code may be a list in brackets or quotes. */
#include "lib/cubin/containers/gencode.h"

#include <string.h>

#include "lib/base/devices/arch.h"

static cute_status fail_gencode(const char *text, cute_diag *diag)
{
    cute_fail(diag, CUTE_USAGE, NULL, "-gencode expects arch=compute_XX,code=sm_XX, got '%s'", text);
    cute_note(diag, NULL,
              "for several architectures, give a list: -gencode arch=compute_80,code=[sm_80,sm_86]");
    return CUTE_USAGE;
}

cute_status cute_gencode_add(cute_arena *arena, const char *text, cute_option_list *archs, cute_diag *diag)
{
    static const char key[] = "arch=", code[] = "code=";
    const cute_arch *least, *made;
    if (strncmp(text, key, sizeof key - 1) != 0) return fail_gencode(text, diag);
    const char *at = text + sizeof key - 1;
    const char *virtual = cute_arena_copy(arena, at, strcspn(at, ","));
    if (!virtual) return cute_fail_memory(diag);
    CUTE_TRY(cute_arch_parse(virtual, NULL, &least, diag));
    at += strcspn(at, ",");
    if (!*at) return cute_option_append(arena, archs, virtual) ? CUTE_OK : cute_fail_memory(diag);
    at++;
    if (strncmp(at, code, sizeof code - 1) != 0) return fail_gencode(text, diag);
    at += sizeof code - 1;
    size_t before = archs->count;
    for (at += strspn(at, "[]\"\\,"); *at; at += strspn(at, "]\"\\,")) {
        const char *name = cute_arena_copy(arena, at, strcspn(at, "]\"\\,"));
        if (!name) return cute_fail_memory(diag);
        at += strlen(name);
        CUTE_TRY(cute_arch_parse(name, NULL, &made, diag));
        if (!cute_arch_compatible(least, false, made))
            return cute_fail(diag, CUTE_USAGE, NULL, "-gencode %s: cannot generate code for %s from %s", text,
                             name, virtual);
        if (!cute_option_append(arena, archs, name)) return cute_fail_memory(diag);
    }
    return archs->count > before ? CUTE_OK : fail_gencode(text, diag);
}
