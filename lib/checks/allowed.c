/* Findings that the user allows: entries CHECK or CHECK@FILE:LINE, separated by commas. FILE matches whole
 * trailing components of a path; LINE is a line of the source if the PTX has .loc, else of the PTX. */
#include "lib/checks/parts.h"

#include "lib/base/diagnostics/diag.h"

static const struct {
    const char *name;
    unsigned check;
} names[] = {
#define CHECK(id, bit, name, parts, text) {#name, CUTE_CHECK_##id},
#include "cute/checks.def"
};
enum { NAMES = sizeof names / sizeof *names };

/* One entry of a list. */
typedef struct allowance {
    unsigned check;
    const char *file; /* NULL: everywhere */
    size_t file_length;
    uint32_t line;
} allowance;

/* Parses the entry at *at and moves *at past its comma. False: the entry, *length long, is invalid. */
static bool next_entry(const cute_plugins *plugins, const char **at, size_t *length, allowance *out)
{
    const char *text = *at;
    *length = strcspn(text, ",");
    *at += *length + (text[*length] == ',');
    size_t name = strcspn(text, ",@"), n = 0;
    while (n < NAMES && (strlen(names[n].name) != name || memcmp(names[n].name, text, name) != 0)) n++;
    *out = (allowance){.check = n < NAMES ? names[n].check : cute_plugins_check_bit(plugins, text, name)};
    if (!out->check) return false;
    if (name == *length) return true;
    size_t colon = *length;
    while (colon > name && text[colon - 1] != ':') colon--;
    if (colon < name + 3 || colon == *length || *length - colon > 9) return false;
    out->file = text + name + 1;
    out->file_length = colon - 1 - (name + 1);
    for (size_t i = colon; i < *length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        out->line = out->line * 10 + (uint32_t)(text[i] - '0');
    }
    return out->line > 0;
}

cute_status em_allowed_check(const char *const *list, size_t count, const cute_plugins *plugins,
                             cute_diag *diag)
{
    static const char known[] = ""
#define CHECK(id, bit, name, parts, text) #name ", "
#include "cute/checks.def"
        ;
    allowance entry;
    size_t length;
    for (size_t i = 0; i < count; i++) {
        const char *at = list[i], *text = at;
        do {
            text = at;
            if (!next_entry(plugins, &at, &length, &entry))
                return cute_fail(
                    diag, CUTE_USAGE, NULL,
                    "--allow: expected CHECK or CHECK@FILE:LINE with CHECK one of %.*s, got '%.*s'",
                    (int)sizeof known - 3, known, (int)length, text);
        } while (*at);
    }
    return CUTE_OK;
}

static bool entry_matches_place(const allowance *entry, const char *file, uint32_t line)
{
    size_t length = file ? strlen(file) : 0;
    if (!entry->file) return true;
    if (!file || line != entry->line || length < entry->file_length) return false;
    const char *end = file + (length - entry->file_length);
    return memcmp(end, entry->file, entry->file_length) == 0 && (end == file || end[-1] == '/');
}

bool em_allowed(const em_checks *c, const cute_finding *f, const char *ptx)
{
    allowance entry;
    size_t length;
    for (size_t i = 0; i < c->allow_count; i++)
        for (const char *at = c->allow[i]; *at;)
            if (next_entry(c->plugins, &at, &length, &entry) && entry.check == f->check &&
                (entry_matches_place(&entry, f->place.file, f->place.line) ||
                 entry_matches_place(&entry, ptx, f->place.ptx_line)))
                return true;
    return false;
}
