/* See modules.h: texts are spliced before parsing, modules merged afterwards. */
#include "lib/ir/text/modules.h"

#include <limits.h>
#include <llvm/Config/llvm-config.h>
#include <mlir-c/BuiltinAttributes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/base/text/chars.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- tokens ---- */

typedef enum token_kind { END, WORD, STRING, OPEN, CLOSE, EQUALS, OTHER } token_kind;

typedef struct token {
    token_kind kind;
    const char *text;
    size_t length;
    int depth; /* number of enclosing (), [] and {} */
} token;

typedef struct scanner {
    const char *at, *end;
    int depth;
} scanner;

static token next_token(scanner *s)
{
    while (s->at < s->end) {
        const char *start = s->at++;
        token t = {.kind = OTHER, .text = start, .length = 1, .depth = s->depth};
        switch (*start) {
        case ' ':
        case '\t':
        case '\r':
        case '\n': continue;
        case '/':
            if (s->at == s->end || *s->at != '/') return t;
            s->at = memchr(s->at, '\n', (size_t)(s->end - s->at));
            if (!s->at) s->at = s->end;
            continue;
        case '"':
            while (s->at < s->end && *s->at != '"' && *s->at != '\n') s->at += *s->at == '\\' ? 2 : 1;
            s->at = s->at < s->end ? s->at + 1 : s->end;
            t.kind = STRING;
            break;
        case '(':
        case '[':
        case '{':
            s->depth++;
            t.kind = OPEN;
            return t;
        case ')':
        case ']':
        case '}':
            if (s->depth) s->depth--;
            t.kind = CLOSE;
            t.depth = s->depth;
            return t;
        case '=': t.kind = EQUALS; return t;
        default:
            if (!cute_is_mlir_name(*start) && !cute_is_sigil(*start)) return t;
            while (s->at < s->end && cute_is_mlir_name(*s->at)) s->at++;
            t.kind = WORD;
            break;
        }
        t.length = (size_t)(s->at - start);
        return t;
    }
    return (token){.kind = END, .text = s->end};
}

static bool token_is(const token *t, const char *text)
{
    return t->length == strlen(text) && !memcmp(t->text, text, t->length);
}

static bool is_alias(const token *t)
{
    return t->kind == WORD && t->length > 1 && (*t->text == '!' || *t->text == '#');
}

/* ---- aliases ---- */

typedef struct alias {
    const char *text;
    size_t length;
    int part;     /* index of the module that it belongs to */
    char *called; /* new name, or NULL */
} alias;

typedef struct splicing {
    const char *text;
    size_t length;
    cute_arena *arena;
    alias *aliases; /* by name, then by part */
    size_t count, capacity;
    const char **parts; /* starts of the parts */
    size_t part_count, part_capacity;
    size_t *places; /* by location alias number: the part, from 1, that last defined it */
    size_t places_capacity;
    bool out_of_memory;
    cute_buffer *out;
    cute_edits *edits;
    const char *done; /* end of the text copied to *out */
} splicing;

static int compare_names(const alias *a, const alias *b)
{
    size_t shorter = a->length < b->length ? a->length : b->length;
    int order = memcmp(a->text, b->text, shorter);
    return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_aliases(const void *left, const void *right)
{
    const alias *a = left, *b = right;
    int order = compare_names(a, b);
    return order ? order : (a->part > b->part) - (a->part < b->part);
}

/* The first alias of that name, or NULL. */
static alias *find_alias(const splicing *s, const char *text, size_t length)
{
    size_t low = 0, high = s->count;
    alias key = {.text = text, .length = length};
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(&s->aliases[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->count && !compare_names(&s->aliases[low], &key) ? &s->aliases[low] : NULL;
}

static void begin_part(splicing *s, const char *at)
{
    if (!cute_arena_more(s->arena, &s->parts, s->part_count, &s->part_capacity, sizeof *s->parts, 4))
        s->out_of_memory = true;
    else
        s->parts[s->part_count++] = at;
}

static void add_alias(splicing *s, const token *name)
{
    if (!cute_arena_more(s->arena, &s->aliases, s->count, &s->capacity, sizeof *s->aliases, 64))
        s->out_of_memory = true;
    else
        s->aliases[s->count++] = (alias){name->text, name->length, (int)s->part_count - 1, NULL};
}

enum { MAX_LOCATION_ALIASES = 10000000 };

/* The number of `#loc`, `#loc1`, ...; -1 for other aliases. */
static long location_alias_number(const token *name)
{
    static const char prefix[] = "#loc";
    size_t i = sizeof prefix - 1;
    if (name->length < i || memcmp(name->text, prefix, i)) return -1;
    long number = 0;
    for (; i < name->length; i++) {
        if (!cute_is_digit(name->text[i]) || number > MAX_LOCATION_ALIASES / 10) return -1;
        number = 10 * number + (name->text[i] - '0');
    }
    return number;
}

/* Marks a location alias as defined in the current part; returns whether it already was. */
static bool mark_location_alias(splicing *s, long number)
{
    while (!s->out_of_memory && s->places_capacity <= (size_t)number) {
        size_t old = s->places_capacity;
        if (!cute_arena_more(s->arena, &s->places, old, &s->places_capacity, sizeof *s->places, 1024))
            s->out_of_memory = true;
        else
            memset(s->places + old, 0, (s->places_capacity - old) * sizeof *s->places);
    }
    if (s->out_of_memory) return false;
    bool found = s->places[number] == s->part_count;
    s->places[number] = s->part_count;
    return found;
}

/* Splits the top level into modules with their aliases. The printer puts aliases before their module, but
 * most location aliases, numbered in ascending order, after it: after a module, another kind of alias or a
 * restarted number belongs to the next module. */
static void scan_parts(splicing *s)
{
    scanner in = {s->text, s->text + s->length, 0};
    begin_part(s, s->text);
    token before = {0};
    bool module = false; /* the current part has its module */
    long last = -1;
    for (token t = next_token(&in); t.kind != END && !s->out_of_memory; before = t, t = next_token(&in)) {
        if (t.depth) continue;
        if (t.kind == EQUALS && is_alias(&before)) {
            long number = location_alias_number(&before);
            bool other = number < 0 || mark_location_alias(s, number) || number <= last;
            if (module && other) {
                begin_part(s, before.text);
                module = false;
                if (number >= 0) mark_location_alias(s, number);
            }
            if (module) last = number;
            add_alias(s, &before);
        } else if (token_is(&t, "module") || token_is(&t, "\"builtin.module\"")) {
            if (module) begin_part(s, t.text);
            module = true;
            last = -1;
        }
    }
}

/* Renames all but the first alias of each name. */
static void rename_aliases(splicing *s, bool *any)
{
    cute_sort(s->aliases, s->count, sizeof *s->aliases, compare_aliases);
    for (size_t i = 1; i < s->count && !s->out_of_memory; i++) {
        alias *a = &s->aliases[i];
        if (compare_names(a, a - 1) || a->part == a[-1].part) continue;
        size_t room = a->length + 32;
        a->called = cute_arena_alloc(s->arena, room);
        if (!a->called) {
            s->out_of_memory = true;
            return;
        }
        *any = true;
        int length, number = a->part + 1;
        do length = snprintf(a->called, room, "%.*s_%d", (int)a->length, a->text, number++);
        while (find_alias(s, a->called, (size_t)length));
    }
}

/* ---- edits ---- */

/* Replaces `length` bytes of the text by `by`. */
static void replace_bytes(splicing *s, const char *at, size_t length, const char *by)
{
    cute_buffer_append(s->out, s->done, (size_t)(at - s->done));
    if (!cute_arena_more(s->edits->arena, &s->edits->items, s->edits->count, &s->edits->capacity,
                         sizeof *s->edits->items, 64)) {
        s->out_of_memory = true;
        return;
    }
    s->edits->items[s->edits->count++] =
        (cute_edit){(size_t)(at - s->text), length, s->out->length, strlen(by)};
    cute_buffer_puts(s->out, by);
    s->done = at + length;
}

static void rename_uses(splicing *s, const token *t, size_t *part)
{
    while (*part + 1 < s->part_count && t->text >= s->parts[*part + 1]) ++*part;
    alias *a = find_alias(s, t->text, t->length);
    for (; a && a < s->aliases + s->count && a->length == t->length && !memcmp(a->text, t->text, t->length);
         a++)
        if (a->part == (int)*part && a->called) {
            replace_bytes(s, t->text, t->length, a->called);
            return;
        }
}

/* The enclosing gpu.module in generic form; they do not nest. */
typedef struct device_module {
    int depth;  /* bracket depth of the operation; -1: none */
    int body;   /* open brackets of its region: 2 inside */
    bool ended; /* the last operation seen is gpu.module_end */
} device_module;

static void write_spliced_text(splicing *s, bool rename)
{
    scanner in = {s->text, s->text + s->length, 0};
    device_module m = {.depth = -1};
    size_t part = 0;
    for (token t = next_token(&in); t.kind != END && !s->out_of_memory; t = next_token(&in)) {
        if (rename && is_alias(&t)) rename_uses(s, &t, &part);
        if (t.kind == STRING && token_is(&t, "\"gpu.module\"")) {
            m = (device_module){.depth = t.depth};
        } else if (m.depth >= 0 && t.kind == STRING && t.depth == m.depth + 2 && in.at < in.end &&
                   *in.at == '(') {
            m.ended = token_is(&t, "\"gpu.module_end\"");
        } else if (m.depth >= 0 && t.kind == CLOSE && *t.text == '}' && t.depth == m.depth + 1) {
            /* The `}` of a region, `({ ... })`, not of attributes, which are not in parentheses. */
            if (!m.ended && LLVM_VERSION_MAJOR < 20)
                replace_bytes(s, t.text, 0, "\"gpu.module_end\"() : () -> () ");
            m.depth = -1;
        }
    }
}

/* Whether the text may have two modules: a cheap test before tokenizing. */
static bool may_be_several(const char *text, size_t length)
{
    static const char word[] = "module", generic[] = "\"builtin.";
    const char *at = text, *end = text + length;
    for (int count = 0; (at = memmem(at, (size_t)(end - at), word, sizeof word - 1)); at += sizeof word - 1) {
        const char *start = at;
        size_t prefix = sizeof generic - 1;
        if ((size_t)(at - text) >= prefix && !memcmp(at - prefix, generic, prefix)) start -= prefix;
        if ((start == text || strchr(" \t\r\n})", start[-1])) && ++count > 1) return true;
    }
    return false;
}

cute_status cute_modules_splice(const char *text, size_t length, cute_buffer *out, cute_edits *edits,
                                cute_diag *diag)
{
    static const char generic[] = "\"gpu.module\"";
    bool device = memmem(text, length, generic, sizeof generic - 1), several = may_be_several(text, length);
    if (!device && !several) return CUTE_OK;
    splicing s = {.text = text,
                  .length = length,
                  .arena = cute_arena_create(),
                  .out = out,
                  .edits = edits,
                  .done = text};
    if (!s.arena) return cute_fail_memory(diag);
    bool rename = false;
    if (several) scan_parts(&s);
    if (s.part_count > 1) rename_aliases(&s, &rename);
    if (!s.out_of_memory && (rename || device)) write_spliced_text(&s, rename);
    if (s.done != text) cute_buffer_append(out, s.done, (size_t)(text + length - s.done));
    cute_arena_destroy(s.arena);
    return s.out_of_memory || !cute_buffer_ok(out) ? cute_fail_memory(diag) : CUTE_OK;
}

/* ---- merging ---- */

static MlirBlock body_of(MlirOperation module)
{
    return mlirRegionGetFirstBlock(mlirOperationGetRegion(module, 0));
}

static bool symbol_of(MlirOperation op, MlirStringRef *name)
{
    MlirAttribute attribute = mlirOperationGetAttributeByName(op, cute_text("sym_name"));
    if (mlirAttributeIsNull(attribute) || !mlirAttributeIsAString(attribute)) return false;
    *name = mlirStringAttrGetValue(attribute);
    return true;
}

static bool contains_operation(MlirOperation module, const char *name)
{
    MlirBlock body = body_of(module);
    if (mlirBlockIsNull(body)) return false;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, name)) return true;
    return false;
}

/* Whether `module`, or one of its gpu.modules, has a symbol `name`. */
static bool is_symbol_taken(MlirOperation module, const char *name, bool in_device)
{
    if (!in_device) return cute_symbol_in(module, name);
    for (MlirOperation op = mlirBlockGetFirstOperation(body_of(module)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op))
        if (cute_op_is(op, "gpu.module") && cute_symbol_in(op, name)) return true;
    return false;
}

/* If `to` has the symbol of `op`, renames `op` to a name that is unused in `from` and `to`. */
static void rename_on_clash(MlirOperation op, MlirOperation from, MlirOperation to, bool in_device)
{
    MlirStringRef old;
    if (!symbol_of(op, &old)) return;
    cute_buffer name = {0};
    cute_buffer_append(&name, old.data, old.length);
    bool clash = cute_buffer_ok(&name) && is_symbol_taken(to, cute_buffer_text(&name), in_device);
    for (int number = 2; clash && cute_buffer_ok(&name); number++) {
        name.length = 0;
        cute_buffer_append(&name, old.data, old.length);
        cute_buffer_printf(&name, "_%d", number);
        clash = is_symbol_taken(to, cute_buffer_text(&name), in_device) ||
                is_symbol_taken(from, cute_buffer_text(&name), in_device);
    }
    if (cute_buffer_ok(&name) && !cute_text_is(old, cute_buffer_text(&name)))
        cute_symbol_rename(op, cute_text(cute_buffer_text(&name)), from);
    cute_buffer_release(&name);
}

static void move_module_into(MlirOperation from, MlirOperation to)
{
    for (MlirOperation op = mlirBlockGetFirstOperation(body_of(from)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        rename_on_clash(op, from, to, false);
        if (!cute_op_is(op, "gpu.module")) continue;
        for (MlirOperation inner = mlirBlockGetFirstOperation(body_of(op)); !mlirOperationIsNull(inner);
             inner = mlirOperationGetNextInBlock(inner))
            rename_on_clash(inner, from, to, true);
    }
    for (MlirOperation op; op = mlirBlockGetFirstOperation(body_of(from)), !mlirOperationIsNull(op);) {
        mlirOperationRemoveFromParent(op);
        mlirBlockInsertOwnedOperationBefore(body_of(to), from, op);
    }
    for (intptr_t i = 0; i < mlirOperationGetNumDiscardableAttributes(from); i++) {
        MlirNamedAttribute a = mlirOperationGetDiscardableAttribute(from, i);
        mlirOperationSetDiscardableAttributeByName(to, mlirIdentifierStr(a.name), a.attribute);
    }
    mlirOperationDestroy(from);
}

/* A list of empty dictionaries is equivalent to no list, and the custom printer omits it. */
static void drop_empty_attributes(MlirOperation kernel)
{
    MlirAttribute all = mlirOperationGetAttributeByName(kernel, cute_text("arg_attrs"));
    if (mlirAttributeIsNull(all)) return;
    for (intptr_t i = 0; i < mlirArrayAttrGetNumElements(all); i++)
        if (mlirDictionaryAttrGetNumElements(mlirArrayAttrGetElement(all, i))) return;
    mlirOperationRemoveAttributeByName(kernel, cute_text("arg_attrs"));
}

static void clean_kernel_attributes(MlirOperation module)
{
    MlirBlock body = body_of(module);
    if (mlirBlockIsNull(body)) return;
    for (MlirOperation op = mlirBlockGetFirstOperation(body); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op)) {
        if (cute_op_is(op, "builtin.module") || cute_op_is(op, "gpu.module"))
            clean_kernel_attributes(op);
        else if (cute_op_is(op, "cuda.kernel"))
            drop_empty_attributes(op);
    }
}

void cute_modules_merge(MlirOperation root)
{
    if (cute_op_is(root, "builtin.module")) clean_kernel_attributes(root);
    if (!cute_op_is(root, "builtin.module") || mlirOperationGetNumDiscardableAttributes(root)) return;
    int count = 0;
    for (MlirOperation op = mlirBlockGetFirstOperation(body_of(root)); !mlirOperationIsNull(op);
         op = mlirOperationGetNextInBlock(op), count++)
        if (!cute_op_is(op, "builtin.module") || !contains_operation(op, "gpu.module")) return;
    if (count < 2) return;
    for (MlirOperation module = mlirBlockGetFirstOperation(body_of(root)), following; count--;
         module = following) {
        following = mlirOperationGetNextInBlock(module);
        move_module_into(module, root);
    }
}
