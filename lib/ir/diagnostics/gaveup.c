/* Parses LLVM's fatal messages. For code with line information they look like this:
 *
 *     Cannot select: 0x5581: bf16 = fexp 0x5582, k.mlir:6:10
 *       0x5582: bf16,ch = load<(load (s16) from %ir.10, addrspace 1)> 0x55a0, 0x5590, undef:i64
 *     In function: k
 */
#include "lib/ir/diagnostics/gaveup.h"

#include <stdlib.h>
#include <string.h>

typedef struct span {
    const char *text;
    size_t length;
} span;

static span first_line(const char *text)
{
    return (span){text, strcspn(text, "\n")};
}

/* The rest of the line that begins with `prefix`; empty if no line does. */
static span find_field(const char *text, const char *prefix)
{
    size_t skip = strlen(prefix);
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, prefix, skip)) return first_line(line + skip);
    return (span){NULL, 0};
}

/* Removes "FILE:LINE:COLUMN" after the last ", " of the line, and stores it in *place. */
static bool split_place(span *line, const char *label, cute_place *place)
{
    for (size_t i = line->length; i-- > 1;) {
        if (line->text[i] != ' ' || line->text[i - 1] != ',') continue;
        const char *file = line->text + i + 1, *end = line->text + line->length;
        const char *slash = strrchr(label, '/'), *name = slash ? slash + 1 : label;
        size_t length = strlen(name);
        if ((size_t)(end - file) <= length || memcmp(file, name, length) || file[length] != ':') return false;
        char *rest;
        place->line = (int)strtol(file + length + 1, &rest, 10);
        if (*rest == ':') place->column = (int)strtol(rest + 1, NULL, 10);
        line->length = i - 1;
        return place->line > 0;
    }
    return false;
}

/* "0x5581: bf16 = fexp 0x5582, 0x5583" to "bf16 = fexp". */
static span without_addresses(span node)
{
    if (node.length > 2 && !memcmp(node.text, "0x", 2)) {
        const char *colon = memchr(node.text, ':', node.length);
        size_t skip = colon ? (size_t)(colon - node.text) + 1 : 0;
        while (skip < node.length && node.text[skip] == ' ') skip++;
        node = (span){node.text + skip, node.length - skip};
    }
    for (size_t i = 0; i + 3 < node.length; i++)
        if (!memcmp(node.text + i, " 0x", 3)) node.length = i;
    return node;
}

cute_status cute_gave_up(const cute_mlir_source *source, const cute_moment *moment, const char *reason,
                         bool *placed)
{
    cute_place place = {.file = source->label};
    span node = find_field(reason, "Cannot select: "), function = find_field(reason, "In function: ");
    bool selecting = node.text;
    if (!selecting) node = first_line(reason);
    *placed = split_place(&node, source->label, &place);
    if (*placed) cute_origin_line(source->origin, &place);
    node = without_addresses(node);
    const char *module = moment->module, *arch = moment->arch;
    cute_status status = cute_fail(
        source->diag, CUTE_INVALID, &place, "LLVM gave up in stage '%s'%s%s%s%s: %s%.*s%s", moment->stage,
        module ? " of gpu.module @" : "", module ? module : "", arch ? " for " : "", arch ? arch : "",
        selecting ? "no instruction for '" : "", (int)node.length, node.text, selecting ? "'" : "");
    cute_diag_show(source->diag, source->origin->raw.text, source->origin->raw.length);
    if (function.text)
        cute_note(source->diag, NULL, "in function '%.*s'", (int)function.length, function.text);
    return status;
}
