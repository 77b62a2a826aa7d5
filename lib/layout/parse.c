/* Parses the text of values: a recursive descent parser of one line, guided by the expected type. Failures
 * record the byte that they refer to. */
#include <string.h>

#include "lib/base/text/chars.h"
#include "lib/layout/pointer.h"
#include "lib/layout/verify.h"

/* ERROR: `x`, the missing extent of a tile's `_` in its shape. Types can contain it; operations reject it. */
enum { LEAF_UNDERSCORE = 1, LEAF_BASIS = 2, LEAF_LAYOUT = 4, LEAF_ERROR = 8 };

typedef struct parser {
    cute_algebra a;
    const char *text, *what; /* what: "layout", for messages */
    size_t length, at, fault;
    struct {
        cute_node tree;
        size_t start;
    } spots[32]; /* shapes and strides with their places, for the rules that are checked at the end */
    size_t spot_count;
} parser;

/* Records the failure at `offset`; returns NULL. */
static void *fail_at_offset(parser *p, size_t offset, const char *message)
{
    int shown = p->length > 200 ? 200 : (int)p->length;
    if (p->a.status == CUTE_OK) {
        p->fault = offset;
        alg_fail(&p->a, "failed to parse %s from \"%.*s%s\": %s", p->what, shown, p->text,
                 p->length > 200 ? "..." : "", message);
    }
    return NULL;
}

static void skip_spaces(parser *p)
{
    while (p->at < p->length && (p->text[p->at] == ' ' || p->text[p->at] == '\t')) p->at++;
}

static bool peek_char(parser *p, char c)
{
    skip_spaces(p);
    return p->at < p->length && p->text[p->at] == c;
}

static bool take_char(parser *p, char c)
{
    if (!peek_char(p, c)) return false;
    p->at++;
    return true;
}

/* An optional minus and digits; reports an error otherwise. */
static bool parse_integer(parser *p, int64_t *out, const char *expected)
{
    skip_spaces(p);
    size_t start = p->at, i = start;
    bool negative = i < p->length && p->text[i] == '-';
    i += negative;
    if (i >= p->length || !cute_is_digit(p->text[i])) return fail_at_offset(p, i, expected) != NULL;
    uint64_t value = 0;
    for (; i < p->length && cute_is_digit(p->text[i]); i++)
        if (__builtin_mul_overflow(value, (uint64_t)10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(p->text[i] - '0'), &value))
            return fail_at_offset(p, start, "the number does not fit in 64 bits") != NULL;
    if (value > (uint64_t)INT64_MAX + negative)
        return fail_at_offset(p, start, "the number does not fit in 64 bits") != NULL;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    p->at = i;
    return true;
}

static bool take_word(parser *p, const char *word)
{
    size_t n = strlen(word);
    skip_spaces(p);
    if (p->length - p->at < n || memcmp(p->text + p->at, word, n) != 0) return false;
    size_t end = p->at + n;
    if (end < p->length && (cute_is_digit(p->text[end]) || (p->text[end] >= 'a' && p->text[end] <= 'z')))
        return false;
    p->at = end;
    return true;
}

static const struct {
    const char *word;
    int width;
} widths[] = {{"i1", 1}, {"i8", 8}, {"i16", 16}, {"i32", 32}, {"i64", 64}};

/* After `?`: nothing, or `{` width and divisor in any order `}`. */
static bool parse_unknown(parser *p, cute_int *out)
{
    bool has_width = false, has_divisor = false;
    *out = (cute_int){.width = 32};
    if (!take_char(p, '{')) return true;
    while (!take_char(p, '}')) {
        size_t start = p->at;
        bool matched = false;
        for (size_t i = 0; !has_width && i < sizeof widths / sizeof *widths; i++)
            if (take_word(p, widths[i].word)) {
                out->width = widths[i].width;
                has_width = matched = true;
                break;
            }
        if (matched) continue;
        if (!has_divisor && take_word(p, "div")) {
            if (!take_char(p, '=')) return fail_at_offset(p, p->at, "expected '=' after 'div'") != NULL;
            start = p->at;
            if (!parse_integer(p, &out->divisor, "expected a number after 'div='")) return false;
            if (out->divisor < 1) return fail_at_offset(p, start, "a divisor must be positive") != NULL;
            if (out->divisor == 1) out->divisor = 0;
            has_divisor = true;
            continue;
        }
        return fail_at_offset(p, start, "expected i1, i8, i16, i32, i64, div=N or '}' after '?{'") != NULL;
    }
    return true;
}

/* `@m@n...` after a value; the innermost mode comes first in the text. */
static cute_node parse_basis(parser *p, cute_int value)
{
    int32_t path[CUTE_MAX_DEPTH];
    size_t length = 0;
    while (take_char(p, '@')) {
        int64_t mode;
        skip_spaces(p);
        size_t start = p->at;
        if (!parse_integer(p, &mode, "expected a mode number after '@'")) return NULL;
        if (mode < 0 || mode > CUTE_MAX_BASIS)
            return fail_at_offset(p, start, "a basis mode must be from 0 to 255");
        if (length == CUTE_MAX_DEPTH)
            return fail_at_offset(p, start, "a basis vector has at most 64 indices");
        path[length++] = (int32_t)mode;
    }
    for (size_t i = 0; i < length / 2; i++) {
        int32_t swap = path[i];
        path[i] = path[length - 1 - i];
        path[length - 1 - i] = swap;
    }
    return alg_basis(&p->a, value, path, length);
}

/* Reports the tree that starts at `start`, up to its end at bracket level 0. */
static void fail_at_ratio(parser *p, size_t start, size_t fault)
{
    int level = 0;
    size_t end = start;
    for (; end < p->length; end++) {
        char c = p->text[end];
        if (c == '(') level++;
        if (c == ')' && --level < 0) break;
        if (level == 0 && (c == ';' || c == ']' || c == 'o')) break;
    }
    while (end > start && p->text[end - 1] == ' ') end--;
    p->fault = fault;
    alg_fail(&p->a, "expects scaled-basis strides to have integer values, not ratios, but got \"%.*s\"",
             (int)(end - start > 200 ? 200 : end - start), p->text + start);
}

static cute_layout parse_layout(parser *p);

static const char *leaf_expected(int allowed)
{
    if (allowed & LEAF_LAYOUT) return "expected a layout, '_' or '['";
    if (allowed & LEAF_UNDERSCORE) return "expected a number, '?', '_' or '('";
    return "expected a number, '?' or '('";
}

static cute_node parse_underscore(parser *p)
{
    cute_tree *t = cute_arena_alloc(p->a.arena, sizeof *t);
    if (!t) return alg_exhausted(&p->a);
    t->kind = CUTE_TREE_UNDERSCORE;
    t->leaves = 1;
    return t;
}

static cute_node parse_leaf(parser *p, int allowed, size_t tree_start)
{
    skip_spaces(p);
    size_t start = p->at;
    if (peek_char(p, '_')) {
        if (!(allowed & LEAF_UNDERSCORE)) {
            if (!strcmp(p->what, "int_tuple") || !strcmp(p->what, "shape") || !strcmp(p->what, "stride"))
                return fail_at_offset(p, start, "'_' is only allowed in coordinates and tiles");
            return fail_at_offset(p, start, leaf_expected(allowed));
        }
        p->at++;
        return parse_underscore(p);
    }
    if ((allowed & LEAF_ERROR) && take_char(p, 'x')) return parse_underscore(p);
    if (allowed & LEAF_LAYOUT) {
        if (start == p->length || !strchr("(?-0123456789", p->text[start]))
            return fail_at_offset(p, start, leaf_expected(allowed));
        cute_layout layout = parse_layout(p);
        return alg_layout_leaf(&p->a, layout);
    }
    cute_int value;
    if (take_char(p, '?')) {
        if (!parse_unknown(p, &value)) return NULL;
    } else {
        value = (cute_int){.known = true};
        if (!parse_integer(p, &value.value, leaf_expected(allowed))) return NULL;
    }
    if (!(allowed & LEAF_BASIS)) return alg_scalar(&p->a, value);
    if (value.known && take_char(p, '/')) {
        int64_t denominator;
        if (!parse_integer(p, &denominator, "expected a number after '/'")) return NULL;
        if (!peek_char(p, '@')) return fail_at_offset(p, start, "a stride must be an integer");
        fail_at_ratio(p, tree_start, start);
        return NULL;
    }
    return peek_char(p, '@') ? parse_basis(p, value) : alg_scalar(&p->a, value);
}

/* A leaf, or `(` items `)` with an optional trailing comma. */
static cute_node parse_nested(parser *p, int allowed, int depth, size_t tree_start)
{
    bool tile = allowed & LEAF_LAYOUT;
    char open = tile ? '[' : '(', separator = tile ? ';' : ',', close = tile ? ']' : ')';
    if (!peek_char(p, open)) return parse_leaf(p, allowed, tree_start);
    if (depth >= CUTE_MAX_DEPTH) return fail_at_offset(p, p->at, "nested deeper than 64 levels");
    p->at++;
    alg_list list = {0};
    while (!take_char(p, close)) {
        cute_node item = parse_nested(p, allowed, depth + 1, tree_start);
        if (!item) return NULL;
        alg_push(&p->a, &list, item);
        if (list.count > CUTE_MAX_LEAVES) return fail_at_offset(p, p->at, "more than 65536 leaves");
        if (take_char(p, separator)) continue;
        if (!peek_char(p, close))
            return fail_at_offset(p, p->at, tile ? "expected ';' or ']'" : "expected ',' or ')'");
    }
    return alg_tuple(&p->a, &list);
}

static cute_node parse_tree(parser *p, int allowed)
{
    skip_spaces(p);
    size_t start = p->at;
    cute_node tree = parse_nested(p, allowed, 0, start);
    if (p->spot_count < sizeof p->spots / sizeof *p->spots) {
        p->spots[p->spot_count].tree = tree;
        p->spots[p->spot_count++].start = start;
    }
    return tree;
}

/* shape, or shape:stride; only checks the syntax. */
static cute_layout parse_layout(parser *p)
{
    cute_layout layout = {parse_tree(p, 0), NULL};
    if (!layout.shape) return layout;
    if (take_char(p, ':')) {
        layout.stride = parse_tree(p, LEAF_BASIS);
        return layout;
    }
    layout.stride = alg_compact(&p->a, layout.shape, alg_number(&p->a, 1));
    return layout;
}

static bool parse_swizzle(parser *p, cute_swizzle *out)
{
    int64_t v[3];
    size_t start = p->at;
    if (!take_char(p, 'S') || !take_char(p, '<'))
        return fail_at_offset(p, p->at, "expected S<bits,base,shift>") != NULL;
    for (int i = 0; i < 3; i++) {
        if (i && !take_char(p, ','))
            return fail_at_offset(p, p->at, "expected ',' and another number: S<bits,base,shift>") != NULL;
        if (!parse_integer(p, &v[i], "expected a number in S<bits,base,shift>")) return false;
    }
    if (!take_char(p, '>')) return fail_at_offset(p, p->at, "expected '>'") != NULL;
    if (!cute_swizzle_valid(v[0], v[1], v[2]))
        return fail_at_offset(p, start,
                              "S<bits,base,shift> needs |shift| >= bits and |shift| + bits + base <= 32") !=
               NULL;
    *out = (cute_swizzle){(int)v[0], (int)v[1], (int)v[2]};
    return true;
}

static bool expect_composition(parser *p)
{
    if (take_char(p, 'o')) return true;
    return fail_at_offset(p, p->at, "expected ' o ' between the parts of A o offset o B") != NULL;
}

/* The part after A in `A o offset o B`. */
static void parse_rest_of_composed(parser *p, cute_value *out)
{
    out->type = CUTE_COMPOSED_LAYOUT;
    if (!expect_composition(p) || !(out->tree = parse_tree(p, 0)) || !expect_composition(p)) return;
    out->layout = parse_layout(p);
    if (out->layout.stride) alg_verify_not_trivial(&p->a, out);
}

/* ---- pointers and tensors ---- */

static bool expect_char(parser *p, char c, const char *expected)
{
    return take_char(p, c) || fail_at_offset(p, p->at, expected) != NULL;
}

static bool expect_quote(parser *p)
{
    return expect_char(p, '"', "expected '\"'");
}

/* Finds the next comma outside brackets and strings. */
static size_t element_end(const parser *p)
{
    int level = 0;
    bool quoted = false;
    size_t i = p->at;
    for (; i < p->length; i++) {
        char c = p->text[i];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == ',' && level == 0) break;
        level += strchr("<([{", c) != NULL;
        level -= strchr(">)]}", c) != NULL && !(c == '>' && i && p->text[i - 1] == '-');
    }
    return i;
}

static bool parse_element(parser *p, cute_pointer *out)
{
    skip_spaces(p);
    size_t start = p->at, end = element_end(p);
    p->at = end;
    while (end > start && p->text[end - 1] == ' ') end--;
    bool printable = true;
    for (size_t i = start; i < end; i++) printable = printable && (unsigned char)p->text[i] >= ' ';
    if (!printable || !alg_element_bits(p->text + start, end - start, &out->bits))
        return fail_at_offset(p, start, "expected an element type such as f16, i8 or !dialect.type") != NULL;
    out->element = cute_arena_copy(p->a.arena, p->text + start, end - start);
    return out->element || alg_exhausted(&p->a) != NULL;
}

static bool parse_space(parser *p, cute_pointer *out)
{
    skip_spaces(p);
    size_t start = p->at;
    while (p->at < p->length && p->text[p->at] >= 'a' && p->text[p->at] <= 'z') p->at++;
    if (alg_space_named(p->text + start, p->at - start, &out->space)) return true;
    return fail_at_offset(p, start, "expected generic, gmem, smem, dsmem, rmem or tmem") != NULL;
}

static bool parse_align(parser *p, cute_pointer *out)
{
    if (!expect_char(p, '<', "expected '<' after 'align'")) return false;
    skip_spaces(p);
    size_t start = p->at;
    if (!parse_integer(p, &out->align, "expected a number of bytes after 'align<'")) return false;
    if (out->align < 1 || (out->align & (out->align - 1)))
        return fail_at_offset(p, start, "an alignment must be a power of two") != NULL;
    return expect_char(p, '>', "expected '>'");
}

/* The layout of a tensor: a layout or composed layout in quotes. */
static bool parse_quoted_layout(parser *p, cute_value *out)
{
    if (!expect_quote(p)) return false;
    cute_type type = out->type;
    if (peek_char(p, 'S')) {
        if (!parse_swizzle(p, &out->swizzle)) return false;
        parse_rest_of_composed(p, out);
    } else {
        out->layout = parse_layout(p);
        if (out->layout.stride && peek_char(p, 'o')) {
            out->inner = out->layout;
            parse_rest_of_composed(p, out);
        }
    }
    out->type = type;
    return p->a.status == CUTE_OK && expect_quote(p);
}

/* element, space, align<N>, S<B,M,S>: the last two are optional; a memref's layout follows. */
static void parse_pointer(parser *p, cute_value *out)
{
    cute_pointer *pointer = cute_arena_alloc(p->a.arena, sizeof *pointer);
    if (!pointer) {
        alg_exhausted(&p->a);
        return;
    }
    *pointer = (cute_pointer){0};
    out->pointer = pointer;
    if (!parse_element(p, pointer) ||
        !expect_char(p, ',', "expected ',' and an address space: gmem, smem, ...") ||
        !parse_space(p, pointer))
        return;
    bool aligned = false, swizzled = false, tensor = out->type == CUTE_MEMREF;
    pointer->align = alg_natural_align(pointer);
    while (take_char(p, ',')) {
        if (!aligned && take_word(p, "align")) {
            aligned = true;
            if (!parse_align(p, pointer)) return;
        } else if (!swizzled && peek_char(p, 'S')) {
            swizzled = true;
            if (!parse_swizzle(p, &pointer->swizzle)) return;
        } else if (tensor && peek_char(p, '"')) {
            parse_quoted_layout(p, out);
            return;
        } else {
            fail_at_offset(p, p->at,
                           tensor ? "expected align<bytes>, S<bits,base,shift> or a layout in quotes"
                                  : "expected align<bytes> or S<bits,base,shift>");
            return;
        }
    }
    if (tensor) fail_at_offset(p, p->at, "expected ',' and a layout in quotes");
}

static void parse_coord_tensor(parser *p, cute_value *out)
{
    if (!expect_quote(p) || !(out->tree = parse_tree(p, 0)) || !expect_quote(p) ||
        !expect_char(p, ',', "expected ',' and a layout in quotes") || !expect_quote(p))
        return;
    out->layout = parse_layout(p);
    if (out->layout.stride) expect_quote(p);
}

/* i64 divby 16; the width is optional: divby 16 has 32 bits. */
static void parse_constrained(parser *p, cute_value *out)
{
    cute_int value = {.width = 32};
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (take_word(p, widths[i].word)) {
            value.width = widths[i].width;
            break;
        }
    if (!take_word(p, "divby")) {
        fail_at_offset(p, p->at, "expected 'divby' and a number");
        return;
    }
    skip_spaces(p);
    size_t start = p->at;
    if (!parse_integer(p, &value.divisor, "expected a number after 'divby'")) return;
    if (value.divisor < 1) {
        fail_at_offset(p, start, "a divisor must be positive");
        return;
    }
    out->tree = alg_scalar(&p->a, value);
}

static void parse_divisor(parser *p, cute_value *out)
{
    int64_t width;
    size_t start = p->at;
    if (!parse_integer(p, &width, "expected 32 or 64 bits")) return;
    if (width != 32 && width != 64) {
        fail_at_offset(p, start, "expected 32 or 64 bits");
        return;
    }
    out->width = (int)width;
}

static void parse_by_type(parser *p, cute_type type, cute_value *out)
{
    *out = (cute_value){.type = type};
    switch (type) {
    case CUTE_SHAPE: out->tree = parse_tree(p, LEAF_ERROR); break;
    case CUTE_INT_TUPLE: out->tree = parse_tree(p, 0); break;
    case CUTE_STRIDE: out->tree = parse_tree(p, LEAF_BASIS); break;
    case CUTE_COORD: out->tree = parse_tree(p, LEAF_UNDERSCORE); break;
    case CUTE_TILE: out->tree = parse_tree(p, LEAF_UNDERSCORE | LEAF_LAYOUT); break;
    case CUTE_LAYOUT: out->layout = parse_layout(p); break;
    case CUTE_SWIZZLE: parse_swizzle(p, &out->swizzle); break;
    case CUTE_COMPOSED_LAYOUT:
        if (peek_char(p, 'S')) {
            if (!parse_swizzle(p, &out->swizzle)) return;
        } else {
            out->inner = parse_layout(p);
            if (!out->inner.stride) return;
            skip_spaces(p);
            if (p->at == p->length) { /* CuTe DSL's text of a swizzle of 0 bits */
                *out = (cute_value){.type = type, .tree = alg_number(&p->a, 0), .layout = out->inner};
                return;
            }
        }
        parse_rest_of_composed(p, out);
        break;
    case CUTE_PTR:
    case CUTE_MEMREF: parse_pointer(p, out); break;
    case CUTE_ARITH_TUPLE_ITER:
        if (expect_quote(p) && (out->tree = parse_tree(p, 0))) expect_quote(p);
        break;
    case CUTE_COORD_TENSOR: parse_coord_tensor(p, out); break;
    case CUTE_INTEGER: parse_constrained(p, out); break;
    case CUTE_DIVISOR: parse_divisor(p, out); break;
    default: fail_at_offset(p, 0, "this type has no textual form");
    }
}

static void parse_inferred_type(parser *p, cute_value *out)
{
    *out = (cute_value){.type = CUTE_SWIZZLE};
    if (peek_char(p, 'S')) {
        if (parse_swizzle(p, &out->swizzle) && peek_char(p, 'o')) parse_rest_of_composed(p, out);
        return;
    }
    if (peek_char(p, '[')) {
        parse_by_type(p, CUTE_TILE, out);
        return;
    }
    cute_node tree = parse_tree(p, LEAF_UNDERSCORE | LEAF_BASIS);
    if (!tree) return;
    if (alg_has(tree, CUTE_TREE_BASIS) && alg_has(tree, CUTE_TREE_UNDERSCORE)) {
        fail_at_offset(p, 0, "expected a stride with '@' or a coordinate with '_', got both");
        return;
    }
    if (!peek_char(p, ':')) {
        cute_type type = alg_has(tree, CUTE_TREE_BASIS)        ? CUTE_STRIDE
                         : alg_has(tree, CUTE_TREE_UNDERSCORE) ? CUTE_COORD
                                                               : CUTE_INT_TUPLE;
        *out = cute_value_of_tree(type, tree);
        return;
    }
    if (!alg_only_ints(tree)) {
        fail_at_offset(p, 0, "expected a shape of numbers and '?'");
        return;
    }
    p->at++;
    cute_layout layout = {tree, parse_tree(p, LEAF_BASIS)};
    *out = cute_value_of_layout(layout);
    if (layout.stride && peek_char(p, 'o')) {
        *out = (cute_value){.inner = layout};
        parse_rest_of_composed(p, out);
    }
}

static cute_status finish_parse(parser *p, cute_value *out, size_t *offset)
{
    if (p->a.status == CUTE_OK) {
        skip_spaces(p);
        if (p->at < p->length) fail_at_offset(p, p->at, "unexpected text after the value");
    }
    if (p->a.status == CUTE_OK && !alg_verify(&p->a, out))
        for (size_t i = 0; i < p->spot_count; i++)
            if (p->a.culprit && p->spots[i].tree == p->a.culprit) p->fault = p->spots[i].start;
    if (offset) *offset = p->fault;
    return p->a.status;
}

cute_status cute_value_parse(cute_arena *arena, cute_type type, const char *text, size_t length,
                             cute_value *out, size_t *offset, cute_diag *diag)
{
    parser p = {.a = {.arena = arena, .diag = diag, .type_text = true},
                .text = text,
                .what = cute_type_name(type),
                .length = length};
    parse_by_type(&p, type, out);
    return finish_parse(&p, out, offset);
}

cute_status cute_value_parse_any(cute_arena *arena, const char *text, size_t length, cute_value *out,
                                 size_t *offset, cute_diag *diag)
{
    parser p = {.a = {.arena = arena, .diag = diag}, .text = text, .what = "a value", .length = length};
    parse_inferred_type(&p, out);
    return finish_parse(&p, out, offset);
}
