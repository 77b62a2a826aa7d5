/* Reads gpu.binary operations from MLIR bytecode: sections, strings, operation names, the encodings of a few
 * builtin attributes, and a traversal of the operations that decodes only the properties of gpu.binary.
 * Source: "MLIR Bytecode Format" of the LLVM project, versions 0 to 6. */
#include <stdio.h>
#include <string.h>

#include "lib/cubin/containers/gputext.h"

enum section_id {
    STRING,
    DIALECT,
    ATTR_TYPE,
    ATTR_TYPE_OFFSET,
    IR,
    RESOURCE,
    RESOURCE_OFFSET,
    DIALECT_VERSIONS,
    PROPERTIES,
    SECTIONS
};
/* The versions that introduced each feature. */
enum { LAZY_REGIONS = 2, USE_LISTS = 3, SHORT_LOCATIONS = 4, NATIVE_PROPERTIES = 5, LATEST_VERSION = 6 };
/* The bits of an operation's mask, in the order of their data. */
enum {
    HAS_ATTRIBUTES = 1,
    HAS_RESULTS = 2,
    HAS_OPERANDS = 4,
    HAS_SUCCESSORS = 8,
    HAS_REGIONS = 16,
    HAS_USE_LISTS = 32,
    HAS_PROPERTIES = 64
};
/* Codes of the builtin dialect's attributes. */
enum { ARRAY_ATTR = 0, DICTIONARY_ATTR = 1, STRING_ATTR = 2 };
enum { MAX_DEPTH = 128 };

typedef struct cursor {
    const uint8_t *at, *stop;
} cursor;

typedef struct bytes {
    const char *at;
    size_t length;
} bytes;

typedef struct attribute {
    cursor data;
    bool builtin, custom; /* custom: encoded; otherwise text */
} attribute;

typedef struct bytecode {
    cute_arena *arena;
    const char *label;
    const uint8_t *start;
    cute_diag *diag;
    cute_object_list *objects;
    uint64_t version;
    cursor sections[SECTIONS];
    bytes *strings, *dialects;
    size_t string_count, dialect_count;
    bool *is_binary; /* for each operation name: gpu.binary */
    size_t name_count;
    attribute *attributes;
    size_t attribute_count;
    cursor *properties;
    size_t property_count;
} bytecode;

static cute_status fail_bytecode(const bytecode *b, const cursor *c, const char *what)
{
    const cute_place file = {.file = b->label};
    return cute_fail(b->diag, CUTE_INVALID, &file,
                     "this MLIR bytecode is damaged or truncated at byte %zu: %s", (size_t)(c->at - b->start),
                     what);
}

/* ---- primitives ---- */

static bool read_byte(cursor *c, uint8_t *value)
{
    if (c->at == c->stop) return false;
    *value = *c->at++;
    return true;
}

/* The number of trailing zero bits in the first byte is the number of bytes that follow. */
static bool read_int(cursor *c, uint64_t *value)
{
    uint8_t first;
    if (!read_byte(c, &first)) return false;
    size_t extra = first ? (size_t)__builtin_ctz(first) : 8;
    if ((size_t)(c->stop - c->at) < extra) return false;
    uint64_t bits = first;
    for (size_t i = 0; i < extra && i < 7; i++) bits |= (uint64_t)c->at[i] << (8 * (i + 1));
    if (extra == 8) {
        bits = 0;
        for (size_t i = 0; i < 8; i++) bits |= (uint64_t)c->at[i] << (8 * i);
        *value = bits;
    } else {
        *value = bits >> (extra + 1);
    }
    c->at += extra;
    return true;
}

static bool read_flagged(cursor *c, uint64_t *value, bool *flag)
{
    if (!read_int(c, value)) return false;
    *flag = *value & 1;
    *value >>= 1;
    return true;
}

/* An element count: at most the number of remaining bytes, since each element takes at least one. */
static bool read_count(cursor *c, uint64_t *value)
{
    return read_int(c, value) && *value <= (uint64_t)(c->stop - c->at);
}

static bool skip_ints(cursor *c, uint64_t count)
{
    uint64_t ignored;
    while (count-- > 0)
        if (!read_int(c, &ignored)) return false;
    return true;
}

static bool read_counted_ints(cursor *c)
{
    uint64_t count;
    return read_count(c, &count) && skip_ints(c, count);
}

/* id and flag, length, alignment and padding, contents */
static bool read_section(const bytecode *b, cursor *c, unsigned *id, cursor *contents)
{
    uint8_t head;
    uint64_t length, align;
    if (!read_byte(c, &head) || !read_int(c, &length)) return false;
    *id = head & 0x7f;
    if (head & 0x80) {
        if (!read_int(c, &align) || align == 0 || (align & (align - 1))) return false;
        while ((uint64_t)(c->at - b->start) & (align - 1)) {
            if (c->at == c->stop) return false;
            c->at++;
        }
    }
    if (length > (uint64_t)(c->stop - c->at)) return false;
    *contents = (cursor){c->at, c->at + length};
    c->at += length;
    return true;
}

/* ---- tables ---- */

static cute_status read_strings(bytecode *b)
{
    cursor c = b->sections[STRING];
    uint64_t count, size;
    if (!read_count(&c, &count)) return fail_bytecode(b, &c, "the number of strings");
    if (!(b->strings = cute_arena_array(b->arena, count, sizeof *b->strings)))
        return cute_fail_memory(b->diag);
    b->string_count = count;
    /* Sizes are in reverse order; the strings are at the end of the section. */
    const uint8_t *end = c.stop;
    for (uint64_t i = count; i-- > 0;) {
        if (!read_int(&c, &size) || c.at > end || size == 0 || size > (uint64_t)(end - c.at))
            return fail_bytecode(b, &c, "the size of a string");
        end -= size;
        b->strings[i] = (bytes){(const char *)end, size - 1};
    }
    return CUTE_OK;
}

static bool is_text(bytes text, const char *expected)
{
    return text.length == strlen(expected) && memcmp(text.at, expected, text.length) == 0;
}

static bool string_at(const bytecode *b, uint64_t index, bytes *out)
{
    if (index >= b->string_count) return false;
    *out = b->strings[index];
    return true;
}

static cute_status read_dialects(bytecode *b)
{
    cursor c = b->sections[DIALECT], ignored;
    uint64_t count, name, total, dialect;
    unsigned id;
    bool flag = false;
    if (!read_count(&c, &count)) return fail_bytecode(b, &c, "the number of dialects");
    if (!(b->dialects = cute_arena_array(b->arena, count, sizeof *b->dialects)))
        return cute_fail_memory(b->diag);
    b->dialect_count = count;
    for (uint64_t i = 0; i < count; i++) {
        bool ok = b->version ? read_flagged(&c, &name, &flag) : read_int(&c, &name);
        if (!ok || !string_at(b, name, &b->dialects[i])) return fail_bytecode(b, &c, "the name of a dialect");
        if (flag && !read_section(b, &c, &id, &ignored))
            return fail_bytecode(b, &c, "the version of a dialect");
    }
    total = (uint64_t)(c.stop - c.at);
    if (b->version >= SHORT_LOCATIONS && !read_count(&c, &total))
        return fail_bytecode(b, &c, "the number of operation names");
    if (!(b->is_binary = cute_arena_array(b->arena, total, sizeof *b->is_binary)))
        return cute_fail_memory(b->diag);
    while (c.at < c.stop) {
        if (!read_int(&c, &dialect) || dialect >= b->dialect_count || !read_count(&c, &count))
            return fail_bytecode(b, &c, "a group of operation names");
        for (; count; count--) {
            bytes text;
            bool ok = b->version >= NATIVE_PROPERTIES ? read_flagged(&c, &name, &flag) : read_int(&c, &name);
            if (!ok || !string_at(b, name, &text) || b->name_count == total)
                return fail_bytecode(b, &c, "the name of an operation");
            b->is_binary[b->name_count++] = is_text(text, "binary") && is_text(b->dialects[dialect], "gpu");
        }
    }
    return CUTE_OK;
}

/* The offsets of attributes in their section, dialect by dialect. Types follow and are not needed. */
static cute_status read_attribute_table(bytecode *b)
{
    cursor c = b->sections[ATTR_TYPE_OFFSET], data = b->sections[ATTR_TYPE];
    uint64_t count, dialect, group, size;
    bool custom;
    if (!read_count(&c, &count) || !read_int(&c, &size))
        return fail_bytecode(b, &c, "the number of attributes");
    if (!(b->attributes = cute_arena_array(b->arena, count, sizeof *b->attributes)))
        return cute_fail_memory(b->diag);
    while (b->attribute_count < count) {
        if (!read_int(&c, &dialect) || dialect >= b->dialect_count || !read_count(&c, &group) ||
            group > count - b->attribute_count)
            return fail_bytecode(b, &c, "a group of attributes");
        for (; group; group--) {
            if (!read_flagged(&c, &size, &custom) || size > (uint64_t)(data.stop - data.at))
                return fail_bytecode(b, &c, "the size of an attribute");
            b->attributes[b->attribute_count++] =
                (attribute){.data = {data.at, data.at + size},
                            .builtin = is_text(b->dialects[dialect], "builtin"),
                            .custom = custom};
            data.at += size;
        }
    }
    return CUTE_OK;
}

static cute_status read_property_table(bytecode *b)
{
    cursor c = b->sections[PROPERTIES];
    uint64_t count, size;
    if (!c.at) return CUTE_OK;
    if (!read_count(&c, &count)) return fail_bytecode(b, &c, "the number of properties");
    if (!(b->properties = cute_arena_array(b->arena, count, sizeof *b->properties)))
        return cute_fail_memory(b->diag);
    for (; b->property_count < count; b->property_count++) {
        if (!read_int(&c, &size) || size > (uint64_t)(c.stop - c.at))
            return fail_bytecode(b, &c, "the size of properties");
        b->properties[b->property_count] = (cursor){c.at, c.at + size};
        c.at += size;
    }
    return CUTE_OK;
}

/* ---- attributes ---- */

/* Opens an encoded attribute of the builtin dialect and reads its code. */
static bool open_builtin(const bytecode *b, uint64_t index, uint64_t code, cursor *out)
{
    uint64_t actual;
    if (index >= b->attribute_count || !b->attributes[index].builtin || !b->attributes[index].custom)
        return false;
    *out = b->attributes[index].data;
    return read_int(out, &actual) && actual == code;
}

static cute_status read_symbol(bytecode *b, uint64_t index, const cursor *at, const char **out)
{
    cursor c;
    uint64_t string;
    bytes text;
    if (!open_builtin(b, index, STRING_ATTR, &c) || !read_int(&c, &string) || !string_at(b, string, &text))
        return fail_bytecode(b, at, "the symbol of a gpu.binary");
    *out = cute_arena_copy(b->arena, text.at, text.length);
    return *out ? CUTE_OK : cute_fail_memory(b->diag);
}

/* Reads the array of objects, each encoded as text. */
static cute_status read_objects(bytecode *b, uint64_t index, const char *symbol, const cursor *at)
{
    cursor c;
    uint64_t count, item;
    if (!open_builtin(b, index, ARRAY_ATTR, &c) || !read_count(&c, &count))
        return fail_bytecode(b, at, "the objects of a gpu.binary");
    for (uint64_t i = 0; i < count; i++) {
        if (!read_int(&c, &item) || item >= b->attribute_count)
            return fail_bytecode(b, &c, "an object of a gpu.binary");
        const attribute *a = &b->attributes[item];
        if (a->custom) return fail_bytecode(b, &a->data, "an object of an unknown encoding");
        const char *text = (const char *)a->data.at, *stop = (const char *)a->data.stop;
        while (stop > text && stop[-1] == 0) stop--;
        cute_mlir_text s = {
            .arena = b->arena, .label = b->label, .text = text, .at = text, .stop = stop, .diag = b->diag};
        CUTE_TRY(cute_gpu_object_read(&s, symbol, i, b->objects));
    }
    return CUTE_OK;
}

/* Properties of gpu.binary, in alphabetical order: objects, offloadingHandler (optional), sym_name. */
static cute_status read_binary_properties(bytecode *b, uint64_t index, const cursor *at)
{
    if (index >= b->property_count) return fail_bytecode(b, at, "the properties of a gpu.binary");
    cursor c = b->properties[index];
    uint64_t objects, last, next;
    const char *symbol;
    if (!read_int(&c, &objects) || !read_int(&c, &last))
        return fail_bytecode(b, &c, "the properties of a gpu.binary");
    while (c.at < c.stop && read_int(&c, &next)) last = next;
    CUTE_TRY(read_symbol(b, last, &c, &symbol));
    return read_objects(b, objects, symbol, &c);
}

/* Before version 5, the properties are in the attribute dictionary. */
static cute_status read_binary_dictionary(bytecode *b, uint64_t index, const cursor *at)
{
    cursor c;
    uint64_t count, name, value, objects = UINT64_MAX;
    const char *symbol = "";
    bytes text;
    if (!open_builtin(b, index, DICTIONARY_ATTR, &c) || !read_count(&c, &count))
        return fail_bytecode(b, at, "the attributes of a gpu.binary");
    for (; count; count--) {
        cursor key;
        uint64_t string;
        if (!read_int(&c, &name) || !read_int(&c, &value) || !open_builtin(b, name, STRING_ATTR, &key) ||
            !read_int(&key, &string) || !string_at(b, string, &text))
            return fail_bytecode(b, &c, "the attributes of a gpu.binary");
        if (is_text(text, "objects")) objects = value;
        if (is_text(text, "sym_name")) CUTE_TRY(read_symbol(b, value, &c, &symbol));
    }
    return read_objects(b, objects, symbol, at);
}

/* ---- operations ---- */

static cute_status walk_block(bytecode *b, cursor *c, int depth);

/* Skips the use-list orders of `count` results or block arguments. */
static bool skip_use_lists(cursor *c, uint64_t count)
{
    uint64_t lists = 1, uses;
    bool pairs;
    if (count > 1 && !read_count(c, &lists)) return false;
    for (; lists; lists--) {
        if (count > 1 && !skip_ints(c, 1)) return false;
        if (!read_flagged(c, &uses, &pairs) || uses > (uint64_t)(c->stop - c->at) || !skip_ints(c, uses))
            return false;
    }
    return true;
}

static cute_status walk_region(bytecode *b, cursor *c, int depth)
{
    uint64_t blocks;
    if (!read_count(c, &blocks)) return fail_bytecode(b, c, "the number of blocks");
    if (blocks && !skip_ints(c, 1)) return fail_bytecode(b, c, "the number of values");
    for (; blocks; blocks--) CUTE_TRY(walk_block(b, c, depth));
    return CUTE_OK;
}

static cute_status walk_regions(bytecode *b, cursor *c, int depth)
{
    uint64_t count;
    bool isolated;
    cursor inner;
    unsigned id;
    if (!read_flagged(c, &count, &isolated)) return fail_bytecode(b, c, "the number of regions");
    bool nested = isolated && b->version >= LAZY_REGIONS;
    if (nested && (!read_section(b, c, &id, &inner) || id != IR))
        return fail_bytecode(b, c, "a section of operations");
    cursor *from = nested ? &inner : c;
    if (count > (uint64_t)(from->stop - from->at)) return fail_bytecode(b, from, "the number of regions");
    for (; count; count--) CUTE_TRY(walk_region(b, from, depth));
    return CUTE_OK;
}

static cute_status walk_operation(bytecode *b, cursor *c, int depth)
{
    uint64_t name, attributes = 0, properties = 0, results = 0;
    uint8_t mask;
    if (!read_int(c, &name) || name >= b->name_count || !read_byte(c, &mask) || !skip_ints(c, 1))
        return fail_bytecode(b, c, "the head of an operation");
    bool ok = true;
    if (mask & HAS_ATTRIBUTES) ok = ok && read_int(c, &attributes);
    if (mask & HAS_PROPERTIES) ok = ok && read_int(c, &properties);
    if (mask & HAS_RESULTS) ok = ok && read_count(c, &results) && skip_ints(c, results);
    if (mask & HAS_OPERANDS) ok = ok && read_counted_ints(c);
    if (mask & HAS_SUCCESSORS) ok = ok && read_counted_ints(c);
    if ((mask & HAS_USE_LISTS) && b->version >= USE_LISTS) ok = ok && skip_use_lists(c, results);
    if (!ok) return fail_bytecode(b, c, "an operation");
    if (b->is_binary[name]) {
        if (mask & HAS_PROPERTIES)
            CUTE_TRY(read_binary_properties(b, properties, c));
        else
            CUTE_TRY(read_binary_dictionary(b, attributes, c));
    }
    return mask & HAS_REGIONS ? walk_regions(b, c, depth) : CUTE_OK;
}

static bool skip_block_arguments(const bytecode *b, cursor *c)
{
    uint64_t count, type;
    bool located = true;
    uint8_t use_lists = 0;
    if (!read_count(c, &count)) return false;
    for (uint64_t i = 0; i < count; i++) {
        bool ok = b->version >= SHORT_LOCATIONS ? read_flagged(c, &type, &located) : read_int(c, &type);
        if (!ok || (located && !skip_ints(c, 1))) return false;
    }
    if (b->version < USE_LISTS) return true;
    return read_byte(c, &use_lists) && (!use_lists || skip_use_lists(c, count));
}

static cute_status walk_block(bytecode *b, cursor *c, int depth)
{
    uint64_t operations;
    bool arguments;
    if (depth == MAX_DEPTH) return fail_bytecode(b, c, "operations are nested too deeply");
    if (!read_flagged(c, &operations, &arguments)) return fail_bytecode(b, c, "the number of operations");
    if (arguments && !skip_block_arguments(b, c)) return fail_bytecode(b, c, "the arguments of a block");
    for (; operations; operations--) CUTE_TRY(walk_operation(b, c, depth + 1));
    return CUTE_OK;
}

/* ---- the file ---- */

cute_status cute_gpu_bytecode_read(cute_arena *arena, const char *label, const uint8_t *start, size_t length,
                                   cute_object_list *list, cute_diag *diag)
{
    bytecode b = {.arena = arena, .label = label, .start = start, .diag = diag, .objects = list};
    const cute_place file = {.file = label};
    cursor c = {start + 4, start + length}, contents;
    if (!read_int(&c, &b.version)) return fail_bytecode(&b, &c, "the version");
    if (b.version > LATEST_VERSION)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "unsupported MLIR bytecode version %llu: expected 0 to %d (mlir-opt "
                         "--emit-bytecode-version=%d)",
                         (unsigned long long)b.version, LATEST_VERSION, LATEST_VERSION);
    const uint8_t *producer = memchr(c.at, 0, (size_t)(c.stop - c.at));
    if (!producer) return fail_bytecode(&b, &c, "the name of the producer");
    c.at = producer + 1;
    while (c.at < c.stop) {
        unsigned id;
        if (!read_section(&b, &c, &id, &contents) || id >= SECTIONS || b.sections[id].at)
            return fail_bytecode(&b, &c, "a section");
        b.sections[id] = contents;
    }
    static const enum section_id needed[] = {STRING, DIALECT, ATTR_TYPE, ATTR_TYPE_OFFSET, IR};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!b.sections[needed[i]].at) return fail_bytecode(&b, &c, "a section is missing");
    CUTE_TRY(read_strings(&b));
    CUTE_TRY(read_dialects(&b));
    CUTE_TRY(read_attribute_table(&b));
    CUTE_TRY(read_property_table(&b));
    return walk_block(&b, &b.sections[IR], 0);
}
