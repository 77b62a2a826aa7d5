/* Looks up architectures by their spellings, and reports unknown ones. The table is arch.def. */
#include "lib/base/devices/arch.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "lib/base/buffer.h"
#include "lib/base/options/nearest.h"
#include "lib/base/options/settings.h"

#define ARCH(name, number, variant, backends, target, ptx, chips)                                            \
    {name, number, variant, backends, target, ptx, chips},
static const cute_arch rows[] = {
#include "lib/base/devices/arch.def"
};
enum { COUNT = sizeof rows / sizeof *rows };

/* Names before PTX ISA 9.0. */
static const struct {
    const char *old, *now;
} renamed[] = {{"101", "110"}, {"101a", "110a"}, {"101f", "110f"}};

/* "90a" of "sm_90a", "compute_90a", "sm90a"; the text itself otherwise. */
static const char *without_prefix(const char *text)
{
    static const char *const prefixes[] = {"sm_", "compute_", "lto_", "sm", "compute"};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        size_t length = strlen(prefixes[i]);
        if (strncasecmp(text, prefixes[i], length) == 0) return text + length;
    }
    return text;
}

static bool is_renamed(const char *text)
{
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcasecmp(without_prefix(text), renamed[i].old) == 0) return true;
    return false;
}

const cute_arch *cute_arch_find(const char *text)
{
    const char *short_name = without_prefix(text);
    if (!isdigit((unsigned char)*short_name)) return NULL;
    for (size_t i = 0; i < sizeof renamed / sizeof *renamed; i++)
        if (strcasecmp(short_name, renamed[i].old) == 0) short_name = renamed[i].now;
    for (size_t i = 0; i < COUNT; i++)
        if (strcasecmp(short_name, rows[i].name + 3) == 0) return &rows[i];
    return NULL;
}

static const char *arch_name_at(const void *list, size_t index)
{
    (void)list;
    return index < COUNT ? rows[index].name : NULL;
}

/* By number, not by edit distance: 'sm_91' is nearer to 'sm_90' than to 'sm_121'. */
static const char *nearest_name(const char *text)
{
    const char *short_name = without_prefix(text);
    char *end;
    long number = strtol(short_name, &end, 10);
    if (end == short_name || (*end && end[1])) return cute_nearest(text, arch_name_at, NULL);
    const cute_arch *best = NULL;
    for (size_t i = 0; i < COUNT; i++) {
        if (rows[i].variant && rows[i].variant != tolower((unsigned char)*end)) continue;
        if (!best || labs(rows[i].number - number) < labs(best->number - number) ||
            (rows[i].number == best->number && rows[i].variant))
            best = &rows[i];
    }
    return best ? best->name : NULL;
}

cute_status cute_arch_parse(const char *text, const cute_place *place, const cute_arch **out, cute_diag *diag)
{
    if ((*out = cute_arch_find(text)) != NULL) {
        if (is_renamed(text))
            cute_report(diag, CUTE_REMARK, place, "%s was renamed to %s in PTX ISA 9.0 (CUDA 13)", text,
                        (*out)->name);
        return CUTE_OK;
    }
    const char *near = nearest_name(text);
    cute_status status = place ? CUTE_INVALID : CUTE_USAGE;
    if (near)
        cute_fail(diag, status, place, "unknown architecture '%s'; did you mean '%s'?", text, near);
    else
        cute_fail(diag, status, place, "unknown architecture '%s'", text);
    cute_buffer known = {0};
    for (size_t i = 0; i < COUNT; i++) cute_buffer_printf(&known, "%s%s", i ? " " : "", rows[i].name);
    cute_note(diag, NULL, "known architectures: %s", cute_buffer_text(&known));
    cute_buffer_release(&known);
    return status;
}

unsigned cute_arch_choose_backend(const cute_arch *arch, unsigned asked)
{
    return asked ? asked : arch->backends;
}

bool cute_arch_compatible(const cute_arch *made, bool binary, const cute_arch *device)
{
    if (made->variant == 'a') return made->number == device->number;
    bool same_major = made->number / 10 == device->number / 10;
    if (made->variant == 'f' || binary) return same_major && made->number <= device->number;
    return made->number <= device->number;
}

cute_status cute_arch_choose(const char *option, const cute_arch **out, cute_diag *diag)
{
    if (option) return cute_arch_parse(option, NULL, out, diag);
    const char *name = NULL, *variable = cute_setting_default("arch", &name);
    if (!variable) return cute_arch_parse("sm_90a", NULL, out, diag);
    cute_status status = cute_arch_parse(variable, NULL, out, diag);
    if (status != CUTE_OK) cute_note(diag, NULL, "it is set by the environment variable %s", name);
    return status;
}

static const struct {
    int first, end;
} features[CUTE_FEATURES] = {
#define FEATURE(id, first, end) [CUTE_FEATURE_##id] = {first, end},
#include "lib/base/devices/features.def"
};

bool cute_arch_has(int number, cute_feature feature)
{
    return number >= features[feature].first && (!features[feature].end || number < features[feature].end);
}

int cute_feature_first(cute_feature feature)
{
    return features[feature].first;
}
