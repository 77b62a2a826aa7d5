/* The syntax of the calculator's expressions: a recursive descent that evaluates as it reads.
 *
 *     expression = pair ["o" pair ["o" pair]]
 *     pair       = item [":" item]
 *     item       = leaf | "(" expression "," ... ")" | "[" expression ";" ... "]" | "S<b,m,s>" | name
 *                | name ["<" numbers ">"] "(" expression "," ... ")"
 *     leaf       = number | "?" ["{" width, divisor "}"] | "_", the first two with "@mode"...
 *
 * Leaves are parsed by lib/layout, so that their spelling is the dialect's. CuTe's
 * spelling of static numbers, `_4`, and of swizzles, `Sw<3,4,3>`, is also accepted. */
#include "lib/calculator/parse.h"

#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/base/list.h"
#include "lib/base/text/chars.h"
#include "lib/layout/algebra.h"

/* Maximum nesting of calls, tuples and tiles: twice that of a tuple. */
enum { MAX_NESTING = 2 * CUTE_MAX_DEPTH };

typedef struct reader {
    calculation *c;
    const char *text;
    size_t at, end;
    int depth;
} reader;

typedef struct operands {
    operand *items;
    size_t count, capacity;
} operands;

bool calc_is_name_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool calc_is_name_char(char c)
{
    return calc_is_name_start(c) || (c >= '0' && c <= '9') || c == '_';
}

bool calc_is_reserved(const char *name, size_t length)
{
    static const char *const words[] = {"let", "o", "S", "Sw"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !memcmp(words[i], name, length)) return true;
    return false;
}

static void skip_spaces(reader *r)
{
    while (r->at < r->end && cute_is_blank(r->text[r->at])) r->at++;
}

static bool peek_char(reader *r, char c)
{
    skip_spaces(r);
    return r->at < r->end && r->text[r->at] == c;
}

static bool take_char(reader *r, char c)
{
    if (!peek_char(r, c)) return false;
    r->at++;
    return true;
}

static bool fail_here(reader *r, const char *expected)
{
    skip_spaces(r);
    if (r->at >= r->end)
        return calc_fail(r->c, r->at, r->at, "expected %s, but the expression ends", expected);
    size_t length = 1;
    if (calc_is_name_char(r->text[r->at]))
        while (r->at + length < r->end && calc_is_name_char(r->text[r->at + length])) length++;
    else
        while (r->at + length < r->end && ((unsigned char)r->text[r->at + length] & 0xC0) == 0x80) length++;
    if (!r->text[r->at]) return calc_fail(r->c, r->at, r->at, "expected %s, not a zero byte", expected);
    return calc_fail(r->c, r->at, r->at + length, "expected %s, got '%.*s'", expected,
                     (int)(length > 40 ? 40 : length), r->text + r->at);
}

static bool parse_expression(reader *r, operand *out);

static bool push_operand(reader *r, operands *list, const operand *item)
{
    if (!cute_arena_more(r->c->arena, &list->items, list->count, &list->capacity, sizeof *list->items, 8))
        return calc_exhausted(r->c);
    list->items[list->count++] = *item;
    return list->count <= CUTE_MAX_LEAVES ||
           calc_fail(r->c, item->start, item->end, "more than %d items", CUTE_MAX_LEAVES);
}

/* Expressions up to `close`, separated by `separator`, which may also follow the last one. */
static bool parse_sequence(reader *r, char separator, char close, const char *expected, operands *list,
                           bool *separated)
{
    *separated = false;
    while (!take_char(r, close)) {
        operand item;
        if (!parse_expression(r, &item) || !push_operand(r, list, &item)) return false;
        if (take_char(r, separator))
            *separated = true;
        else if (!peek_char(r, close))
            return fail_here(r, expected);
    }
    return true;
}

/* ---- leaves ---- */

static bool skip_digits(reader *r)
{
    size_t start = r->at;
    while (r->at < r->end && cute_is_digit(r->text[r->at])) r->at++;
    return r->at > start;
}

/* Advances past the leaf at r->at; lib/layout validates it. */
static bool skip_leaf(reader *r)
{
    if (r->text[r->at] == '?') {
        r->at++;
        if (peek_char(r, '{')) {
            while (r->at < r->end && r->text[r->at] != '}') r->at++;
            if (!take_char(r, '}')) return fail_here(r, "'}'");
        }
    } else {
        if (r->text[r->at] == '-') r->at++;
        if (!skip_digits(r)) return fail_here(r, "a number");
    }
    while (take_char(r, '@')) {
        skip_spaces(r);
        if (!skip_digits(r)) return fail_here(r, "a mode number after '@'");
    }
    return true;
}

static bool parse_leaf(reader *r, operand *out)
{
    calculation *c = r->c;
    size_t start = r->at;
    bool underscore = r->text[start] == '_';
    if (underscore && (++r->at >= r->end || !cute_is_digit(r->text[r->at]))) {
        if (cute_value_parse_any(c->arena, "_", 1, &out->value, NULL, NULL) != CUTE_OK)
            return calc_exhausted(c);
        return true;
    }
    size_t number = r->at, offset = 0;
    if (!skip_leaf(r)) return false;
    const char *text = r->text + number;
    size_t length = r->at - number;
    cute_status status = cute_value_parse_any(c->arena, text, length, &out->value, NULL, NULL);
    if (status == CUTE_OK) return true;
    status = cute_value_parse_any(c->arena, text, length, &out->value, &offset, c->trial);
    return calc_pass_on(c, status, number + offset, r->at, NULL);
}

static bool parse_swizzle(reader *r, size_t name_length, operand *out)
{
    calculation *c = r->c;
    size_t start = r->at, offset = 0;
    r->at += name_length;
    while (r->at < r->end && r->text[r->at] != '>') r->at++;
    if (!take_char(r, '>')) return fail_here(r, "'>'");
    const char *text = cute_arena_printf(c->arena, "S%.*s", (int)(r->at - start - name_length),
                                         r->text + start + name_length);
    if (!text) return calc_exhausted(c);
    cute_status status =
        cute_value_parse(c->arena, CUTE_SWIZZLE, text, strlen(text), &out->value, &offset, c->trial);
    if (status == CUTE_OK) return true;
    return calc_pass_on(c, status, offset ? start + name_length - 1 + offset : start, r->at, NULL);
}

/* `ptr<f16, smem>` and similar types, in the dialect's spelling. */
static bool parse_typed(reader *r, size_t name_length, cute_type type, operand *out)
{
    size_t start = r->at + name_length + 1, offset = 0;
    int level = 1;
    bool quoted = false;
    for (r->at = start; r->at < r->end; r->at++) {
        char c = r->text[r->at];
        if (c == '"') quoted = !quoted;
        if (quoted) continue;
        if (c == '<') level++;
        if (c == '>' && r->text[r->at - 1] != '-' && --level == 0) break;
    }
    size_t length = r->at - start;
    if (!take_char(r, '>')) return fail_here(r, "'>'");
    if (type == CUTE_ATOM) { /* the mnemonic is part of an atom's text */
        start -= name_length + 1;
        length = r->at - start;
    }
    cute_status status =
        cute_atom_value_parse(r->c->arena, type, r->text + start, length, &out->value, &offset, r->c->trial);
    return status == CUTE_OK || calc_pass_on(r->c, status, start + offset, r->at, NULL);
}

/* `!cute_nvgpu.atom.universal_copy<f16, 128 b>`: an atom given by its type. */
static bool parse_atom_type(reader *r, operand *out)
{
    size_t length = 1;
    while (r->at + length < r->end && cute_is_word(r->text[r->at + length], ".")) length++;
    if (r->at + length < r->end && r->text[r->at + length] == '<')
        return parse_typed(r, length, CUTE_ATOM, out);
    return fail_here(r, "the type of an atom: !cute_nvgpu.NAME<...>");
}

/* ---- tuples and tiles ---- */

static bool parse_tuple(reader *r, operand *out)
{
    calculation *c = r->c;
    operands list = {0};
    bool separated;
    if (!parse_sequence(r, ',', ')', "',' or ')'", &list, &separated)) return false;
    /* Parentheses around a single non-tuple only group. */
    if (list.count == 1 && !separated && list.items[0].value.type >= CUTE_LAYOUT) {
        out->value = list.items[0].value;
        return true;
    }
    const cute_tree **items = cute_arena_array(c->arena, list.count ? list.count : 1, sizeof *items);
    if (!items) return calc_exhausted(c);
    bool wild = false, basis = false;
    int depth = 0;
    size_t leaves = 0;
    for (size_t i = 0; i < list.count; i++) {
        const operand *item = &list.items[i];
        if (item->value.type >= CUTE_LAYOUT) {
            calc_fail(
                c, item->start, item->end,
                "a tuple contains numbers, not %s %s; [A;B] is a tile, make_layout(A, B) one layout of both",
                strchr("ai", *calc_kind(&item->value)) ? "an" : "a", calc_kind(&item->value));
            return false;
        }
        items[i] = item->value.tree;
        wild = wild || alg_has(items[i], CUTE_TREE_UNDERSCORE);
        basis = basis || alg_has(items[i], CUTE_TREE_BASIS);
        depth = items[i]->depth > depth ? items[i]->depth : depth;
        leaves += items[i]->leaves;
    }
    if (wild && basis)
        return calc_fail(c, out->start, r->at,
                         "expected a stride with '@' or a coordinate with '_', got both");
    if (depth >= CUTE_MAX_DEPTH)
        return calc_fail(c, out->start, r->at, "nested deeper than %d levels", CUTE_MAX_DEPTH);
    if (leaves > CUTE_MAX_LEAVES)
        return calc_fail(c, out->start, r->at, "more than %d leaves", CUTE_MAX_LEAVES);
    const cute_tree *tree = cute_tree_tuple(c->arena, items, list.count);
    if (!tree) return calc_exhausted(c);
    out->value = cute_value_of_tree(basis ? CUTE_STRIDE : wild ? CUTE_COORD : CUTE_INT_TUPLE, tree);
    return true;
}

static bool parse_tile(reader *r, operand *out)
{
    calculation *c = r->c;
    operands list = {0};
    bool separated;
    if (!parse_sequence(r, ';', ']', "';' or ']'", &list, &separated)) return false;
    const cute_tree **items = cute_arena_array(c->arena, list.count ? list.count : 1, sizeof *items);
    if (!items) return calc_exhausted(c);
    for (size_t i = 0; i < list.count; i++) {
        items[i] = calc_tile_leaf(c, &list.items[i]);
        if (!items[i]) return false;
        if (items[i]->depth >= CUTE_MAX_DEPTH)
            return calc_fail(c, out->start, r->at, "nested deeper than %d levels", CUTE_MAX_DEPTH);
    }
    const cute_tree *tree = cute_tree_tuple(c->arena, items, list.count);
    if (!tree) return calc_exhausted(c);
    out->value = cute_value_of_tree(CUTE_TILE, tree);
    return true;
}

/* ---- names and calls ---- */

/* <0,1> or <[0,1]>, the dialect's spelling of attributes. */
static bool parse_attributes(reader *r, int64_t *values, size_t *count)
{
    bool bracket = take_char(r, '[');
    char close = bracket ? ']' : '>';
    while (!take_char(r, close)) {
        skip_spaces(r);
        size_t start = r->at;
        if (r->at < r->end && r->text[r->at] == '-') r->at++;
        if (!skip_digits(r)) {
            r->at = start;
            return fail_here(r, "a number");
        }
        cute_value value;
        if (*count == CALC_MAX_ATTRIBUTES)
            return calc_fail(r->c, start, r->at, "more than %d numbers", CALC_MAX_ATTRIBUTES);
        if (cute_value_parse_any(r->c->arena, r->text + start, r->at - start, &value, NULL, NULL) != CUTE_OK)
            return calc_fail(r->c, start, r->at, "the number does not fit in 64 bits");
        values[(*count)++] = value.tree->value.value;
        if (!take_char(r, ',') && !peek_char(r, close))
            return fail_here(r, bracket ? "',' or ']'" : "',' or '>'");
    }
    return !bracket || take_char(r, '>') || fail_here(r, "'>'");
}

/* An atom given by its name in CuTe C++. */
static bool find_atom_by_name(reader *r, const char *text, size_t length, operand *out)
{
    const char *copy = cute_arena_copy(r->c->arena, text, length);
    const cute_atom *atom;
    if (!copy || cute_atom_find(r->c->arena, copy, &atom, NULL) != CUTE_OK) return false;
    out->value = (cute_value){.type = CUTE_ATOM, .atom = atom};
    return true;
}

static bool parse_name(reader *r, operand *out)
{
    calculation *c = r->c;
    size_t start = r->at, length = 1;
    while (start + length < r->end && calc_is_name_char(r->text[start + length])) length++;
    const char *text = r->text + start;
    bool angle = start + length < r->end && text[length] == '<';
    if (angle && ((length == 1 && *text == 'S') || (length == 2 && !memcmp(text, "Sw", 2))))
        return parse_swizzle(r, length, out);
    for (int type = CUTE_PTR; angle && type < CUTE_TYPES; type++) {
        const char *known = cute_type_name((cute_type)type);
        if (type != CUTE_ATOM && strlen(known) == length && !memcmp(text, known, length))
            return parse_typed(r, length, (cute_type)type, out);
    }
    r->at += length;
    int64_t values[CALC_MAX_ATTRIBUTES];
    invocation call = {.name = text, .name_length = length, .start = start, .attributes = values};
    if (take_char(r, '<')) {
        if (!parse_attributes(r, values, &call.attribute_count)) return false;
        if (!peek_char(r, '(')) return fail_here(r, "'(' after the attributes");
    }
    if (!take_char(r, '(')) {
        const cute_value *value = c->lookup(c->context, text, length);
        if (!value && find_atom_by_name(r, text, length, out)) return true;
        if (!value) {
            const char *hint = calc_is_reserved(text, length) ? "" : "; 'let NAME = ...' names a value";
            return calc_fail(c, start, start + length, "unknown name '%.*s'%s",
                             (int)(length > 60 ? 60 : length), text, hint);
        }
        out->value = *value;
        return true;
    }
    operands list = {0};
    bool separated;
    if (!parse_sequence(r, ',', ')', "',' or ')'", &list, &separated)) return false;
    call.operands = list.items;
    call.count = list.count;
    call.end = r->at;
    return calc_call(c, &call, &out->value);
}

static bool parse_item(reader *r, operand *out)
{
    skip_spaces(r);
    if (r->at >= r->end) return fail_here(r, "a value");
    char c = r->text[r->at];
    out->start = r->at;
    bool ok;
    if (c == '(' || c == '[') {
        if (r->depth == MAX_NESTING)
            return calc_fail(r->c, r->at, r->at + 1, "nested deeper than %d levels", MAX_NESTING);
        r->depth++;
        r->at++;
        ok = c == '(' ? parse_tuple(r, out) : parse_tile(r, out);
        r->depth--;
    } else if (calc_is_name_start(c)) {
        if (r->depth == MAX_NESTING)
            return calc_fail(r->c, r->at, r->at + 1, "nested deeper than %d levels", MAX_NESTING);
        r->depth++;
        ok = parse_name(r, out);
        r->depth--;
    } else if (c == '!') {
        ok = parse_atom_type(r, out);
    } else if (cute_is_digit(c) || c == '-' || c == '?' || c == '_') {
        ok = parse_leaf(r, out);
    } else {
        ok = fail_here(r, "a value");
    }
    out->end = r->at;
    return ok;
}

/* ---- layouts and composed layouts ---- */

static bool apply_operation(reader *r, cute_operation operation, const cute_value *in, size_t count,
                            operand *out)
{
    calculation *c = r->c;
    cute_status status = cute_apply(c->arena, NULL, operation, in, count, NULL, &out->value, c->trial);
    return status == CUTE_OK || calc_pass_on(c, status, out->start, out->end, NULL);
}

static bool parse_pair(reader *r, operand *out)
{
    if (!parse_item(r, out)) return false;
    if (!take_char(r, ':')) return true;
    calculation *c = r->c;
    operand stride;
    if (!parse_item(r, &stride)) return false;
    cute_value in[2];
    if (!calc_as_tuple(&out->value, CUTE_SHAPE, &in[0]))
        return calc_fail(c, out->start, out->end, "expected a shape of numbers and '?', got the %s",
                         calc_describe(c, &out->value));
    if (!calc_as_tuple(&stride.value, CUTE_STRIDE, &in[1]))
        return calc_fail(c, stride.start, stride.end, "expected a stride of numbers, '?' and '@', got the %s",
                         calc_describe(c, &stride.value));
    if (!cute_tree_congruent(in[0].tree, in[1].tree))
        return calc_fail(c, stride.start, stride.end, "stride %s is not congruent to shape %s",
                         cute_tree_text(c->arena, in[1].tree), cute_tree_text(c->arena, in[0].tree));
    out->end = stride.end;
    return apply_operation(r, CUTE_OP_MAKE_LAYOUT, in, 2, out);
}

static bool take_composition(reader *r)
{
    skip_spaces(r);
    if (r->at >= r->end || r->text[r->at] != 'o') return false;
    if (r->at + 1 < r->end && calc_is_name_char(r->text[r->at + 1])) return false;
    r->at++;
    return true;
}

/* A o offset o B is a composed layout, A o B a composition. */
static bool parse_expression(reader *r, operand *out)
{
    calculation *c = r->c;
    if (!parse_pair(r, out)) return false;
    if (!take_composition(r)) return true;
    operand parts[3] = {*out};
    size_t count = 1;
    do {
        if (!parse_pair(r, &parts[count++])) return false;
    } while (count < 3 && take_composition(r));
    out->end = parts[count - 1].end;
    if (count == 2) {
        invocation call = {.name = "composition",
                           .name_length = strlen("composition"),
                           .start = out->start,
                           .end = out->end,
                           .operands = parts,
                           .count = 2};
        return calc_call(c, &call, &out->value);
    }
    cute_value in[3] = {parts[0].value};
    if (parts[0].value.type != CUTE_SWIZZLE && !calc_as_layout(c, &parts[0], &in[0])) return false;
    if (!calc_as_tuple(&parts[1].value, CUTE_INT_TUPLE, &in[1]))
        return calc_fail(c, parts[1].start, parts[1].end,
                         "expected a number or tuple as the offset in A o offset o B, got the %s",
                         calc_describe(c, &parts[1].value));
    return calc_as_layout(c, &parts[2], &in[2]) &&
           apply_operation(r, CUTE_OP_MAKE_COMPOSED_LAYOUT, in, 3, out);
}

bool calc_expression(calculation *c, size_t start, size_t end, cute_value *out)
{
    reader r = {.c = c, .text = c->line.text, .at = start, .end = end};
    operand whole = {0};
    if (!parse_expression(&r, &whole)) return false;
    skip_spaces(&r);
    if (r.at < r.end) return fail_here(&r, "the end of the expression");
    *out = whole.value;
    return true;
}
