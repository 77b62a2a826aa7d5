/* Finds gpu.binary in MLIR text, in custom and generic form, and reads its objects; knows just enough of
 * MLIR's lexical rules (strings, comments, brackets) to skip everything else. */
#include "lib/cubin/containers/gputext.h"

#include <ctype.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/list.h"
#include "lib/base/text/chars.h"

enum { MAX_ALIAS_DEPTH = 8 };

static cute_status fail_at_mlir(cute_mlir_text *s, const char *at, const char *what)
{
    cute_place place = cute_place_at(s->label, s->text, (size_t)(s->stop - s->text), (size_t)(at - s->text));
    return cute_fail(s->diag, CUTE_INVALID, &place, "%s", what);
}

static void skip_blank(cute_mlir_text *s)
{
    while (s->at < s->stop) {
        if (isspace((unsigned char)*s->at)) {
            s->at++;
        } else if (s->stop - s->at > 1 && s->at[0] == '/' && s->at[1] == '/') {
            const char *end = memchr(s->at, '\n', (size_t)(s->stop - s->at));
            s->at = end ? end : s->stop;
        } else {
            return;
        }
    }
}

static bool take_token(cute_mlir_text *s, const char *text)
{
    skip_blank(s);
    size_t length = strlen(text);
    if ((size_t)(s->stop - s->at) < length || memcmp(s->at, text, length) != 0) return false;
    s->at += length;
    return true;
}

/* The byte after the string that begins at s->at; NULL: unterminated. */
static const char *string_end(const cute_mlir_text *s)
{
    for (const char *at = s->at + 1; at < s->stop; at++) {
        if (*at == '\\')
            at++;
        else if (*at == '"')
            return at + 1;
    }
    return NULL;
}

/* Skips one lexical element, including the contents of brackets; false at the end or at a closing bracket. */
static bool skip_element(cute_mlir_text *s)
{
    char closers[256];
    size_t depth = 0;
    do {
        skip_blank(s);
        if (s->at == s->stop) return false;
        char c = *s->at;
        if (c == '"') {
            const char *end = string_end(s);
            if (!end) return false;
            s->at = end;
            continue;
        }
        const char *open = memchr("<[{(", c, 4), *close = memchr(">]})", c, 4);
        if (open) {
            if (depth == sizeof closers) return false;
            closers[depth++] = (char[]){'>', ']', '}', ')'}[strchr("<[{(", c) - "<[{("];
        } else if (close && (depth == 0 || closers[depth - 1] != c)) {
            return false;
        } else if (close) {
            depth--;
        }
        if (c == '-' && s->stop - s->at > 1 && s->at[1] == '>')
            s->at++; /* the '>' of an arrow is not a bracket */
        s->at++;
        if (!cute_is_word(c, ".$-")) continue;
        while (s->at < s->stop && cute_is_word(*s->at, ".$-") && *s->at != '-') s->at++;
    } while (depth);
    return true;
}

/* Decodes a string with the escapes \n, \t, \\, \" and two hexadecimal digits. */
static cute_status read_string(cute_mlir_text *s, const char **out, size_t *length)
{
    skip_blank(s);
    const char *end = s->at < s->stop && *s->at == '"' ? string_end(s) : NULL;
    if (s->at == s->stop || *s->at != '"') return fail_at_mlir(s, s->at, "expected a string");
    if (!end) return fail_at_mlir(s, s->at, "unterminated string; the file may be truncated");
    char *bytes = cute_arena_alloc(s->arena, (size_t)(end - s->at));
    size_t count = 0;
    if (!bytes) return cute_fail_memory(s->diag);
    for (const char *at = s->at + 1; at < end - 1; at++) {
        static const char plain[] = "nt\\\"", meaning[] = "\n\t\\\"";
        if (*at != '\\') {
            bytes[count++] = *at;
            continue;
        }
        at++;
        const char *known = memchr(plain, *at, 4);
        if (known) {
            bytes[count++] = meaning[known - plain];
            continue;
        }
        int high = cute_hex_digit(*at), low = at + 1 < end - 1 ? cute_hex_digit(at[1]) : -1;
        if (high < 0 || low < 0)
            return fail_at_mlir(s, at - 1,
                                "unknown escape in a string: expected \\n, \\t, \\\\, \\\" or \\XX");
        bytes[count++] = (char)(high << 4 | low);
        at++;
    }
    s->at = end;
    *out = bytes;
    *length = count;
    return CUTE_OK;
}

/* Finds the text of an alias, `#name = text`; false: undefined. */
static bool find_alias(cute_mlir_text *s, const char *name, size_t length, cute_mlir_text *out)
{
    for (const char *at = s->text; at < s->stop; at++) {
        at = memmem(at, (size_t)(s->stop - at), name, length);
        if (!at) return false;
        *out = *s;
        out->at = at + length;
        bool starts = at == s->text || at[-1] == '\n';
        if (starts && out->at < out->stop && !cute_is_word(*out->at, ".$-") && take_token(out, "=") &&
            !take_token(out, "="))
            return true;
    }
    return false;
}

/* The length of the word at s->at, including "#". */
static size_t word_length(const cute_mlir_text *s)
{
    size_t length = s->at < s->stop && *s->at == '#';
    while (s->at + length < s->stop && cute_is_word(s->at[length], ".$-")) length++;
    return length;
}

/* Resolves aliases until s->at is not an alias. */
static void resolve_alias(cute_mlir_text *s, cute_mlir_text *where)
{
    *where = *s;
    for (int i = 0; i < MAX_ALIAS_DEPTH; i++) {
        skip_blank(where);
        size_t length = word_length(where);
        cute_mlir_text next;
        if (length < 2 || *where->at != '#' || memchr(where->at, '.', length) ||
            !find_alias(where, where->at, length, &next))
            return;
        *where = next;
    }
}

/* Reads chip = "sm_90a" of `#nvvm.target<...>` or an alias of it; "" if absent. */
static cute_status read_chip(cute_mlir_text *s, const char **chip)
{
    cute_mlir_text target;
    size_t length;
    *chip = "";
    resolve_alias(s, &target);
    skip_blank(&target);
    const char *start = target.at;
    target.at += word_length(&target);
    if (target.at < target.stop && *target.at == '<' && skip_element(&target)) {
        target.stop = target.at;
        for (target.at = start; target.at < target.stop; target.at++) {
            if (*target.at == '"') {
                const char *end = string_end(&target);
                if (!end) break;
                target.at = end - 1;
            } else if (*target.at == 'c' && !cute_is_word(target.at[-1], ".$-") &&
                       take_token(&target, "chip") && take_token(&target, "=")) {
                CUTE_TRY(read_string(&target, chip, &length));
                break;
            }
        }
    }
    skip_blank(s);
    s->at += word_length(s);
    if (s->at < s->stop && *s->at == '<' && !skip_element(s)) return fail_at_mlir(s, s->at, "unclosed '<'");
    return CUTE_OK;
}

static const char *const words[] = {[CUTE_OBJECT_OFFLOAD] = "offload",
                                    [CUTE_OBJECT_ASSEMBLY] = "assembly",
                                    [CUTE_OBJECT_BIN] = "bin",
                                    [CUTE_OBJECT_FATBIN] = "fatbin"};

const char *cute_object_kind_name(cute_object_kind kind)
{
    return words[kind];
}

static cute_status cute_object_add(cute_arena *arena, cute_object_list *list, const cute_object *object,
                                   cute_diag *diag)
{
    if (!cute_arena_more(arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8))
        return cute_fail_memory(diag);
    list->items[list->count++] = *object;
    return CUTE_OK;
}

/* `#gpu.object<TARGET, [properties = {...},] [KIND =] "bytes" [, kernels = ...]>` */
cute_status cute_gpu_object_read(cute_mlir_text *s, const char *symbol, size_t index, cute_object_list *list)
{
    cute_object object = {.symbol = symbol, .index = index, .kind = CUTE_OBJECT_FATBIN, .chip = ""};
    cute_mlir_text where;
    const char *bytes;
    resolve_alias(s, &where);
    bool alias = where.at != s->at && (skip_blank(s), where.at != s->at);
    if (!take_token(&where, "#gpu.object") || !take_token(&where, "<"))
        return fail_at_mlir(&where, where.at, "expected '#gpu.object<'");
    CUTE_TRY(read_chip(&where, &object.chip));
    if (!take_token(&where, ","))
        return fail_at_mlir(&where, where.at, "expected ',' after the object's target");
    if (take_token(&where, "properties")) {
        if (!take_token(&where, "=") || !skip_element(&where) || !take_token(&where, ","))
            return fail_at_mlir(&where, where.at, "expected 'properties = {...},'");
    }
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (take_token(&where, words[i])) {
            object.kind = (cute_object_kind)i;
            if (!take_token(&where, "=")) return fail_at_mlir(&where, where.at, "expected '='");
            break;
        }
    CUTE_TRY(read_string(&where, &bytes, &object.length));
    object.data = bytes;
    while (!take_token(&where, ">"))
        if (!skip_element(&where))
            return fail_at_mlir(&where, where.at, "expected '>' at the end of the object");
    if (alias) {
        skip_blank(s);
        s->at += word_length(s);
    } else {
        s->at = where.at;
    }
    return cute_object_add(s->arena, list, &object, s->diag);
}

static cute_status read_array(cute_mlir_text *s, const char *symbol, cute_object_list *list)
{
    for (size_t index = 0; !take_token(s, "]"); index++) {
        if (index && !take_token(s, ",")) return fail_at_mlir(s, s->at, "expected ',' or ']'");
        CUTE_TRY(cute_gpu_object_read(s, symbol, index, list));
    }
    return CUTE_OK;
}

/* `@name`, `@"any name"` */
static cute_status read_symbol(cute_mlir_text *s, const char **out)
{
    size_t length = 0;
    if (!take_token(s, "@")) return fail_at_mlir(s, s->at, "expected the binary's symbol, '@name'");
    if (s->at < s->stop && *s->at == '"') return read_string(s, out, &length);
    while (s->at + length < s->stop && cute_is_word(s->at[length], ".$-")) length++;
    *out = cute_arena_copy(s->arena, s->at, length);
    s->at += length;
    return *out ? CUTE_OK : cute_fail_memory(s->diag);
}

/* After `gpu.binary`: `@name [<handler>] [attributes {...}] [objects]` */
static cute_status read_custom(cute_mlir_text *s, cute_object_list *list)
{
    const char *symbol;
    CUTE_TRY(read_symbol(s, &symbol));
    while (!take_token(s, "[")) {
        skip_blank(s);
        const char *here = s->at;
        if (!skip_element(s)) return fail_at_mlir(s, here, "expected '[' and the objects of the binary");
    }
    return read_array(s, symbol, list);
}

/* After `"gpu.binary"`: `() <{objects = [...], sym_name = "x"}> : ...`, or the same in `{...}` */
static cute_status read_generic(cute_mlir_text *s, cute_object_list *list)
{
    const char *symbol = "", *name;
    size_t length, first = list->count;
    if (!take_token(s, "(") || !take_token(s, ")")) return fail_at_mlir(s, s->at, "expected '()'");
    bool angle = take_token(s, "<");
    if (!take_token(s, "{")) return fail_at_mlir(s, s->at, "expected '{' and the properties of the binary");
    while (!take_token(s, "}")) {
        if (take_token(s, "objects")) {
            if (!take_token(s, "=") || !take_token(s, "[")) return fail_at_mlir(s, s->at, "expected '= ['");
            CUTE_TRY(read_array(s, symbol, list));
        } else if (take_token(s, "sym_name")) {
            if (!take_token(s, "=")) return fail_at_mlir(s, s->at, "expected '='");
            CUTE_TRY(read_string(s, &name, &length));
            symbol = name;
        } else if (!skip_element(s)) {
            return fail_at_mlir(s, s->at, "expected '}' at the end of the properties");
        }
    }
    if (angle && !take_token(s, ">")) return fail_at_mlir(s, s->at, "expected '>'");
    for (size_t i = first; i < list->count; i++) list->items[i].symbol = symbol;
    return CUTE_OK;
}

/* All objects of a module's text. */
static cute_status cute_gpu_text_read(cute_mlir_text *s, cute_object_list *list)
{
    static const char custom[] = "gpu.binary", generic[] = "\"gpu.binary\"";
    for (skip_blank(s); s->at < s->stop; skip_blank(s)) {
        bool word_before = s->at > s->text && (cute_is_word(s->at[-1], ".$-") || strchr("#!@%\"", s->at[-1]));
        if (take_token(s, generic)) {
            CUTE_TRY(read_generic(s, list));
        } else if (*s->at == '"') {
            const char *end = string_end(s);
            if (!end) return fail_at_mlir(s, s->at, "unterminated string; the file may be truncated");
            s->at = end;
        } else if (!word_before && take_token(s, custom) && s->at < s->stop && !cute_is_word(*s->at, ".$-")) {
            CUTE_TRY(read_custom(s, list));
        } else if (s->at < s->stop && !isspace((unsigned char)*s->at)) {
            s->at++;
        }
    }
    return CUTE_OK;
}

cute_status cute_gpu_binary_read(cute_arena *arena, const char *label, const void *bytes, size_t length,
                                 cute_object **out, size_t *count, cute_diag *diag)
{
    cute_object_list list = {0};
    cute_status status;
    if (length >= 4 && memcmp(bytes, "ML\xefR", 4) == 0) {
        status = cute_gpu_bytecode_read(arena, label, bytes, length, &list, diag);
    } else {
        cute_mlir_text s = {.arena = arena,
                            .label = label,
                            .text = bytes,
                            .at = bytes,
                            .stop = (const char *)bytes + length,
                            .diag = diag};
        status = cute_gpu_text_read(&s, &list);
    }
    *out = list.items;
    *count = list.count;
    return status;
}
