/* The text of atoms, tiled copies and tiled MMAs, parsed and printed by the format of their family. */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "lib/atoms/parts.h"
#include "lib/base/buffer.h"
#include "lib/base/options/nearest.h"
#include "lib/base/text/chars.h"
#include "lib/layout/pointer.h"

typedef enum slot_kind { SLOT_SHAPE, SLOT_TYPE, SLOT_NUMBER, SLOT_WORD, SLOT_LAYOUT, SLOT_STRIDE } slot_kind;

static const struct slot {
    const char *name;
    slot_kind kind;
    size_t offset;
    const char *words; /* allowed values, separated by spaces */
} slots[] = {
    {"shape", SLOT_SHAPE, offsetof(atom_fields, shape), NULL},
    {"a", SLOT_TYPE, offsetof(atom_fields, type[0]), NULL},
    {"b", SLOT_TYPE, offsetof(atom_fields, type[1]), NULL},
    {"c", SLOT_TYPE, offsetof(atom_fields, type[2]), NULL},
    {"bits", SLOT_NUMBER, offsetof(atom_fields, bits), NULL},
    {"matrices", SLOT_NUMBER, offsetof(atom_fields, matrices), NULL},
    {"op", SLOT_WORD, offsetof(atom_fields, op), "xor and"},
    {"order", SLOT_WORD, offsetof(atom_fields, order), "n t"},
    {"cache", SLOT_WORD, offsetof(atom_fields, cache), "always global"},
    {"eviction", SLOT_WORD, offsetof(atom_fields, eviction),
     "evict_normal evict_unchanged evict_first evict_last no_allocate"},
    {"l2_eviction", SLOT_WORD, offsetof(atom_fields, l2_eviction),
     "evict_first evict_last evict_normal evict_unchanged"},
    {"l2_prefetch", SLOT_NUMBER, offsetof(atom_fields, l2_prefetch), NULL},
    {"satfinite", SLOT_WORD, offsetof(atom_fields, satfinite), "satfinite"},
    {"copy_bits", SLOT_NUMBER, offsetof(atom_fields, copy_bits), NULL},
    {"num_cta", SLOT_NUMBER, offsetof(atom_fields, num_cta), NULL},
    {"tma_kind", SLOT_WORD, offsetof(atom_fields, tma_kind),
     "sm_90 sm_90_multicast sm_100 sm_100_multicast sm_100_2sm sm_100_2sm_multicast"},
    {"tma_mode", SLOT_WORD, offsetof(atom_fields, tma_mode), "tiled im2col"},
    {"tma_format", SLOT_WORD, offsetof(atom_fields, tma_format),
     "U8 U16 U32 S32 U64 S64 F16_RN F32_RN F64_RN BF16_RN F32_FTZ_RN TF32_RN TF32_FTZ_RN U4_ALIGN8B "
     "U4_ALIGN16B U6_ALIGN16B"},
    {"tma_reduce", SLOT_WORD, offsetof(atom_fields, tma_reduce), "ADD MIN MAX INC DEC AND OR XOR"},
    {"bulk", SLOT_WORD, offsetof(atom_fields, bulk), "g2s s2g s2d"},
    {"mcast", SLOT_WORD, offsetof(atom_fields, tma_multicast), "true false"},
    {"basis", SLOT_LAYOUT, offsetof(atom_fields, basis), NULL},
    {"g_stride", SLOT_STRIDE, offsetof(atom_fields, global_stride), NULL},
    {"major_a", SLOT_WORD, offsetof(atom_fields, major[0]), "k mn"},
    {"major_b", SLOT_WORD, offsetof(atom_fields, major[1]), "k mn"},
    {"frag", SLOT_WORD, offsetof(atom_fields, frag), "ss rs"},
};

static const struct slot *find_slot(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        if (!strncmp(slots[i].name, name, length) && !slots[i].name[length]) return &slots[i];
    return NULL;
}

/* ---- reading ---- */

typedef struct reader {
    cute_arena *arena;
    const char *text;
    size_t length, at;
    atom_fields *fields;
    /* The failure at the furthest position. */
    size_t fault;
    const char *expected;
} reader;

static bool expect_at(reader *r, const char *what)
{
    if (!r->expected || r->at > r->fault) r->fault = r->at, r->expected = what;
    return false;
}

/* Also replaces the expectation of an optional part that failed at the same position. */
static bool expect_end(reader *r)
{
    if (r->fault <= r->at) r->expected = NULL;
    return expect_at(r, "the end");
}

static void skip_blanks(reader *r)
{
    while (r->at < r->length && cute_is_blank(r->text[r->at])) r->at++;
}

static size_t word_length(const reader *r)
{
    size_t n = 0;
    while (r->at + n < r->length && cute_is_name(r->text[r->at + n])) n++;
    return n;
}

/* The token of a format at `from`: a word or one character. */
static size_t token_length(const char *from)
{
    size_t n = 0;
    while (cute_is_name(from[n])) n++;
    return n ? n : 1;
}

static bool read_token(reader *r, const char *token, size_t length)
{
    skip_blanks(r);
    size_t n = word_length(r);
    if (!n && r->at < r->length) n = 1;
    if (n == length && !memcmp(r->text + r->at, token, n)) return r->at += n, true;
    return expect_at(r, cute_arena_printf(r->arena, "'%.*s'", (int)length, token));
}

static bool read_number(reader *r, int64_t *out)
{
    enum { MOST = 100000000 };
    skip_blanks(r);
    size_t from = r->at;
    for (*out = 0; r->at < r->length && cute_is_digit(r->text[r->at]) && *out < MOST; r->at++)
        *out = 10 * *out + (r->text[r->at] - '0');
    return r->at > from && *out < MOST && *out > 0 ? true : (r->at = from, expect_at(r, "a positive number"));
}

static bool read_shape(reader *r, int64_t shape[3])
{
    for (int i = 0; i < 3; i++) {
        if (i && (r->at >= r->length || r->text[r->at] != 'x'))
            return expect_at(r, "a shape such as 16x8x16");
        r->at += i > 0;
        if (!read_number(r, &shape[i])) return false;
    }
    return true;
}

static bool read_word(reader *r, const char *words, const char **out)
{
    skip_blanks(r);
    size_t n = word_length(r);
    for (const char *word = words; n; word += strcspn(word, " ") + 1) {
        size_t length = strcspn(word, " ");
        if (length == n && !memcmp(word, r->text + r->at, n)) {
            *out = cute_arena_copy(r->arena, word, n);
            r->at += n;
            return *out != NULL;
        }
        if (!word[length]) break;
    }
    return expect_at(r, cute_arena_printf(r->arena, "%s%s", strchr(words, ' ') ? "one of " : "", words));
}

static bool read_type(reader *r, const char **out)
{
    skip_blanks(r);
    size_t n = word_length(r);
    int bits = 0;
    *out = n ? cute_arena_copy(r->arena, r->text + r->at, n) : NULL;
    if (!*out || !alg_element_bits(*out, n, &bits) || !bits)
        return expect_at(r, "an element type such as f16, bf16, f32, i8 or f8E4M3FN");
    r->at += n;
    return true;
}

/* The text up to the next quote, in canonical form. */
static bool read_value_text(reader *r, cute_type type, const char *what, const char **out)
{
    const char *text = r->text + r->at, *quote = memchr(text, '"', r->length - r->at);
    cute_value value;
    if (!quote ||
        cute_value_parse(r->arena, type, text, (size_t)(quote - text), &value, NULL, NULL) != CUTE_OK)
        return expect_at(r, what);
    if (!cute_value_is_static(&value)) return expect_at(r, what);
    *out = cute_value_text(r->arena, &value);
    r->at += (size_t)(quote - text);
    return *out != NULL;
}

static bool read_slot(reader *r, const struct slot *slot)
{
    void *field = (char *)r->fields + slot->offset;
    switch (slot->kind) {
    case SLOT_SHAPE: skip_blanks(r); return read_shape(r, field);
    case SLOT_TYPE: return read_type(r, field);
    case SLOT_NUMBER: return read_number(r, field);
    case SLOT_WORD: return read_word(r, slot->words, field);
    case SLOT_LAYOUT:
        return read_value_text(r, CUTE_LAYOUT, "a known layout such as (64,128):(1@1,1@0)", field);
    case SLOT_STRIDE: return read_value_text(r, CUTE_STRIDE, "known strides such as ()", field);
    }
    return false;
}

/* Reads by the format up to its end or `]`, where *format remains. */
static bool read_format(reader *r, const char **format)
{
    for (const char *f = *format; *f && *f != ']';) {
        if (*f == ' ') {
            f++;
        } else if (*f == '[') {
            size_t start = r->at;
            atom_fields before = *r->fields;
            f++;
            if (!read_format(r, &f)) r->at = start, *r->fields = before, f += strcspn(f, "]");
            f++;
        } else if (*f == '{') {
            size_t n = strcspn(f, "}");
            if (!read_slot(r, find_slot(f + 1, n - 1))) return *format = f, false;
            f += n + 1;
        } else {
            size_t n = token_length(f);
            if (!read_token(r, f, n)) return *format = f, false;
            f += n;
        }
        *format = f;
    }
    return true;
}

static cute_status fail_at(reader *r, const char *what, size_t *offset, cute_diag *diag)
{
    if (offset) *offset = r->fault;
    const char *wanted = r->expected ? r->expected : "the end";
    if (r->fault >= r->length)
        return cute_fail(diag, CUTE_INVALID, NULL, "failed to parse %s: expected %s, got the end of the text",
                         what, wanted);
    size_t shown = r->length - r->fault < 24 ? r->length - r->fault : 24;
    return cute_fail(diag, CUTE_INVALID, NULL, "failed to parse %s: expected %s, got \"%.*s%s\"", what,
                     wanted, (int)shown, r->text + r->fault, shown < r->length - r->fault ? "..." : "");
}

/* ---- printing ---- */

static bool has_slot(const atom_fields *f, const struct slot *slot)
{
    const void *field = (const char *)f + slot->offset;
    bool number = slot->kind == SLOT_SHAPE || slot->kind == SLOT_NUMBER;
    return number ? *(const int64_t *)field != 0 : *(const char *const *)field != NULL;
}

static void print_slot(cute_buffer *out, const atom_fields *f, const struct slot *slot)
{
    const void *field = (const char *)f + slot->offset;
    if (slot->kind == SLOT_SHAPE)
        cute_buffer_printf(out, "%" PRId64 "x%" PRId64 "x%" PRId64, f->shape[0], f->shape[1], f->shape[2]);
    else if (slot->kind == SLOT_NUMBER)
        cute_buffer_printf(out, "%" PRId64, *(const int64_t *)field);
    else
        cute_buffer_puts(out, *(const char *const *)field ? *(const char *const *)field : "?");
}

/* An optional part in brackets is printed if its slot is set. */
static bool is_printed(const atom_fields *f, const char *format)
{
    const char *open = strchr(format, '{');
    return open && has_slot(f, find_slot(open + 1, strcspn(open + 1, "}")));
}

const char *atom_print(cute_arena *arena, const atom_family *family, const atom_fields *f)
{
    cute_buffer out = {0};
    cute_buffer_printf(&out, "!cute_nvgpu.%s<", family->mnemonic);
    for (const char *at = family->format; *at; at++) {
        if (*at == '[') {
            if (!is_printed(f, at)) at += strcspn(at, "]");
        } else if (*at == '{') {
            size_t n = strcspn(at + 1, "}");
            print_slot(&out, f, find_slot(at + 1, n));
            at += n + 1;
        } else if (*at != ']') {
            cute_buffer_putc(&out, *at);
        }
    }
    cute_buffer_putc(&out, '>');
    const char *text =
        cute_buffer_ok(&out) ? cute_arena_copy(arena, cute_buffer_text(&out), out.length) : NULL;
    cute_buffer_release(&out);
    return text;
}

/* ---- atoms ---- */

/* The text with blanks collapsed. */
static const char *collapse_blanks(cute_arena *arena, const atom_family *family, const char *text,
                                   size_t length)
{
    char *copy = cute_arena_printf(arena, "!cute_nvgpu.%s<%.*s>", family->mnemonic, (int)length, text);
    if (!copy) return NULL;
    char *to = copy;
    for (const char *from = copy; *from; from++)
        if (!cute_is_blank(*from) || !cute_is_blank(from[1])) *to++ = cute_is_blank(*from) ? ' ' : *from;
    *to = 0;
    return copy;
}

static const char *mnemonic_at(const void *unused, size_t index)
{
    (void)unused;
    const atom_family *family = atom_family_at(index);
    return family ? family->mnemonic : NULL;
}

static cute_status unknown_family(const char *mnemonic, size_t length, cute_diag *diag)
{
    const char *near = cute_nearest_of(mnemonic, length, mnemonic_at, NULL);
    int shown = length > 60 ? 60 : (int)length;
    if (near)
        return cute_fail(diag, CUTE_INVALID, NULL, "unknown atom '%.*s'; did you mean '%s'?", shown, mnemonic,
                         near);
    return cute_fail(
        diag, CUTE_INVALID, NULL,
        "unknown atom '%.*s'; there are sm75.mma, sm80.mma, sm89.mma, sm90.mma, atom.universal_fma, "
        "atom.universal_copy, atom.simt_async_copy, atom.ldsm and atom.stsm",
        shown, mnemonic);
}

static cute_status parse_family(cute_arena *arena, const atom_family *family, const char *text, size_t length,
                                const cute_atom **out, size_t *offset, cute_diag *diag)
{
    cute_atom *atom = cute_arena_alloc(arena, sizeof *atom);
    if (!atom) return cute_fail_memory(diag);
    atom->kind = family->kind;
    atom->mnemonic = family->mnemonic;
    if (offset) *offset = 0;
    if (!family->format) {
        const char *nul = memchr(text, 0, length);
        if (nul) {
            if (offset) *offset = (size_t)(nul - text);
            return cute_fail(diag, CUTE_INVALID, NULL, "expects the text of %s, but got a NUL",
                             family->mnemonic);
        }
        atom->text = collapse_blanks(arena, family, text, length);
    } else {
        atom_fields fields = {0};
        reader r = {.arena = arena, .text = text, .length = length, .fields = &fields};
        const char *format = family->format;
        bool good = read_format(&r, &format);
        skip_blanks(&r);
        if (good && r.at < r.length) good = expect_end(&r);
        if (!good) return fail_at(&r, cute_arena_printf(arena, "%s", family->mnemonic), offset, diag);
        CUTE_TRY(atom_make(arena, family, &fields, atom, diag));
        atom->text = atom_print(arena, family, &fields);
    }
    *out = atom;
    return atom->text ? CUTE_OK : cute_fail_memory(diag);
}

cute_status cute_atom_parse(cute_arena *arena, const char *mnemonic, const char *text, size_t length,
                            const cute_atom **out, size_t *offset, cute_diag *diag)
{
    const atom_family *family = atom_family_find(mnemonic, strlen(mnemonic));
    if (offset) *offset = 0;
    if (!family) return unknown_family(mnemonic, strlen(mnemonic), diag);
    return parse_family(arena, family, text, length, out, offset, diag);
}

const cute_atom *cute_atom_at(cute_arena *arena, size_t index, const char *type)
{
    atom_fields fields;
    const atom_family *family = atom_row_fields(index, type, &fields);
    cute_atom *atom = cute_arena_alloc(arena, sizeof *atom);
    if (!atom) return NULL;
    atom->kind = family->kind;
    atom->mnemonic = family->mnemonic;
    if (atom_make(arena, family, &fields, atom, NULL) != CUTE_OK) return NULL;
    atom->text = atom_print(arena, family, &fields);
    return atom->text ? atom : NULL;
}

/* ---- tiled copies and MMAs ---- */

/* The length of a balanced `<...>` at `at`; `->` and strings count as text. 0: it is not closed. */
static size_t balanced_length(const char *text, size_t length, size_t at)
{
    int depth = 0;
    bool quoted = false;
    for (size_t i = at; i < length; i++) {
        if (text[i] == '"') quoted = !quoted;
        if (quoted) continue;
        if (text[i] == '<') depth++;
        if (text[i] == '>' && text[i - 1] != '-' && --depth == 0) return i + 1 - at;
    }
    return 0;
}

static cute_status read_atom(reader *r, const cute_atom **out, size_t *offset, cute_diag *diag)
{
    static const char dialect[] = "!cute_nvgpu.";
    size_t prefix = sizeof dialect - 1, n = 0;
    skip_blanks(r);
    if (r->length - r->at >= prefix && !memcmp(r->text + r->at, dialect, prefix)) r->at += prefix;
    const char *mnemonic = r->text + r->at;
    while (r->at + n < r->length && cute_is_word(mnemonic[n], ".")) n++;
    if (offset) *offset = r->at;
    if (!n) {
        expect_at(r, "an atom such as !cute_nvgpu.sm80.mma<...>");
        return fail_at(r, "an atom", offset, diag);
    }
    const atom_family *family = atom_family_find(mnemonic, n);
    if (!family) return unknown_family(mnemonic, n, diag);
    r->at += n;
    size_t whole =
        r->at < r->length && r->text[r->at] == '<' ? balanced_length(r->text, r->length, r->at) : 0;
    if (!whole) {
        expect_at(r, "'<' and a '>' that ends it");
        return fail_at(r, family->mnemonic, offset, diag);
    }
    size_t inside = r->at + 1, at;
    r->at += whole;
    cute_status status = parse_family(r->arena, family, r->text + inside, whole - 2, out, &at, diag);
    if (offset) *offset = inside + at;
    return status;
}

/* `, NAME = <"TEXT">`; false if the text differs. */
static bool read_string(reader *r, const char *name, size_t *from, size_t *length)
{
    size_t start = r->at;
    if (!read_token(r, ",", 1) || !read_token(r, name, strlen(name)) || !read_token(r, "=", 1) ||
        !read_token(r, "<", 1) || !read_token(r, "\"", 1))
        return r->at = start, false;
    *from = r->at;
    while (r->at < r->length && r->text[r->at] != '"') r->at++;
    *length = r->at - *from;
    return (read_token(r, "\"", 1) && read_token(r, ">", 1)) || (r->at = start, false);
}

static cute_status read_value(reader *r, cute_type type, size_t from, size_t length, cute_value *out,
                              size_t *offset, cute_diag *diag)
{
    size_t at = 0;
    cute_status status = cute_value_parse(r->arena, type, r->text + from, length, out, &at, diag);
    if (offset && status != CUTE_OK) *offset = from + at;
    if (status == CUTE_OK && !cute_value_is_static(out)) {
        if (offset) *offset = from;
        return cute_fail(diag, CUTE_INVALID, NULL, "expected a static %s, got %s", cute_type_name(type),
                         cute_value_text(r->arena, out));
    }
    return status;
}

static size_t rank_of(const cute_tree *t)
{
    return t->kind == CUTE_TREE_TUPLE ? t->count : 1;
}

typedef struct tiling {
    const char *layout, *tile; /* the names of the parts */
    cute_atom_kind kind;
    uint32_t layout_rank, tile_rank; /* 0: any */
    bool tile_needed;
} tiling;

static const tiling tilings[] = {
    [CUTE_TILED_COPY] = {"layout_copy_tv", "tiler_mn", CUTE_ATOM_COPY, 2, 0, true},
    [CUTE_TILED_MMA] = {"atom_layout_MNK", "permutation_MNK", CUTE_ATOM_MMA, 3, 3, false},
};

static cute_status fail_wrong_rank(const char *name, uint32_t rank, size_t got, size_t from, size_t *offset,
                                   cute_diag *diag)
{
    if (offset) *offset = from;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected %s of rank %u, got rank %zu", name, rank, got);
}

static cute_status parse_tiled(reader *r, cute_type type, cute_value *out, size_t *offset, cute_diag *diag)
{
    const tiling *t = &tilings[type];
    const char *what = cute_type_name(type);
    cute_value layout, tile = {0};
    size_t from, length;
    *out = (cute_value){.type = type};
    CUTE_TRY(read_atom(r, &out->atom, offset, diag));
    if (out->atom->kind != t->kind) {
        if (offset) *offset = 0;
        return cute_fail(diag, CUTE_INVALID, NULL, "expected %s atom in a %s, got '%s'",
                         t->kind == CUTE_ATOM_MMA ? "an MMA" : "a copy", what, out->atom->text);
    }
    if (!read_string(r, t->layout, &from, &length)) return fail_at(r, what, offset, diag);
    CUTE_TRY(read_value(r, CUTE_LAYOUT, from, length, &layout, offset, diag));
    if (rank_of(layout.layout.shape) != t->layout_rank)
        return fail_wrong_rank(t->layout, t->layout_rank, rank_of(layout.layout.shape), from, offset, diag);
    out->layout = layout.layout;
    if (read_string(r, t->tile, &from, &length)) {
        CUTE_TRY(read_value(r, CUTE_TILE, from, length, &tile, offset, diag));
        if (t->tile_rank && rank_of(tile.tree) != t->tile_rank)
            return fail_wrong_rank(t->tile, t->tile_rank, rank_of(tile.tree), from, offset, diag);
        out->tree = tile.tree;
    } else if (t->tile_needed) {
        return fail_at(r, what, offset, diag);
    }
    skip_blanks(r);
    if (r->at < r->length) {
        expect_end(r);
        return fail_at(r, what, offset, diag);
    }
    return CUTE_OK;
}

cute_status cute_atom_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                                  cute_value *out, size_t *offset, cute_diag *diag)
{
    reader r = {.arena = arena, .text = text, .length = length};
    if (type == CUTE_TILED_COPY || type == CUTE_TILED_MMA) return parse_tiled(&r, type, out, offset, diag);
    if (type != CUTE_ATOM) return cute_value_parse(arena, type, text, length, out, offset, diag);
    *out = (cute_value){.type = type};
    CUTE_TRY(read_atom(&r, &out->atom, offset, diag));
    skip_blanks(&r);
    if (r.at == r.length) return CUTE_OK;
    expect_end(&r);
    return fail_at(&r, "an atom", offset, diag);
}

const char *cute_atom_value_text(cute_arena *arena, const cute_value *value)
{
    if (value->type == CUTE_ATOM) return value->atom->text;
    if (value->type != CUTE_TILED_COPY && value->type != CUTE_TILED_MMA) return cute_value_text(arena, value);
    const tiling *t = &tilings[value->type];
    const char *layout = cute_layout_text(arena, value->layout), *tile = "";
    if (value->tree) {
        cute_value tree = cute_value_of_tree(CUTE_TILE, value->tree);
        const char *text = cute_value_text(arena, &tree);
        tile = text ? cute_arena_printf(arena, ", %s = <\"%s\">", t->tile, text) : NULL;
    }
    if (!layout || !tile) return NULL;
    return cute_arena_printf(arena, "%s, %s = <\"%s\">%s", value->atom->text, t->layout, layout, tile);
}

/* ---- names ---- */

static const char *name_at(const void *arena, size_t index)
{
    return index < cute_atom_count() ? atom_row_name((cute_arena *)arena, index) : NULL;
}

/* A wgmma row has many names. */
static cute_status find_wgmma(cute_arena *arena, atom_fields *fields, const cute_atom **out, cute_diag *diag)
{
    static const char mnemonic[] = "sm90.mma";
    const atom_family *family = atom_family_find(mnemonic, sizeof mnemonic - 1);
    cute_atom *atom = cute_arena_alloc(arena, sizeof *atom);
    if (!atom) return cute_fail_memory(diag);
    *atom = (cute_atom){.kind = family->kind, .mnemonic = family->mnemonic};
    CUTE_TRY(atom_make(arena, family, fields, atom, diag));
    *out = atom;
    return (atom->text = atom_print(arena, family, fields)) ? CUTE_OK : cute_fail_memory(diag);
}

cute_status cute_atom_find(cute_arena *arena, const char *name, const cute_atom **out, cute_diag *diag)
{
    atom_fields fields;
    if (atom_wgmma_named(arena, name, &fields)) return find_wgmma(arena, &fields, out, diag);
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const char *own = atom_row_name(arena, i);
        if (own && !strcmp(own, name))
            return (*out = cute_atom_at(arena, i, NULL)) ? CUTE_OK : cute_fail_memory(diag);
    }
    if (strchr(name, '<')) {
        cute_value value;
        CUTE_TRY(cute_atom_value_parse(arena, CUTE_ATOM, name, strlen(name), &value, NULL, diag));
        *out = value.atom;
        return CUTE_OK;
    }
    const char *near = cute_nearest(name, name_at, arena);
    if (near) return cute_fail(diag, CUTE_INVALID, NULL, "unknown atom '%s'; did you mean '%s'?", name, near);
    return cute_fail(diag, CUTE_INVALID, NULL, "unknown atom '%s'", name);
}

cute_status cute_atom_of_bits(cute_arena *arena, const cute_atom *atom, int64_t bits, const cute_atom **out,
                              cute_diag *diag)
{
    const atom_family *family = atom_family_find(atom->mnemonic, strlen(atom->mnemonic));
    if (!family || !atom->known || atom->kind != CUTE_ATOM_COPY || atom->matrices)
        return cute_fail(diag, CUTE_INVALID, NULL, "the number of bits of %s is fixed", atom->text);
    atom_fields fields = {.bits = bits,
                          .type = {atom->operand[CUTE_ATOM_SOURCE].type},
                          .cache = atom->cache,
                          .eviction = atom->eviction,
                          .l2_eviction = atom->l2_eviction,
                          .l2_prefetch = atom->l2_prefetch};
    const char *text = atom_print(arena, family, &fields);
    cute_value value;
    if (!text) return cute_fail_memory(diag);
    CUTE_TRY(cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), &value, NULL, diag));
    *out = value.atom;
    return CUTE_OK;
}
