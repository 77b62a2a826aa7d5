/* Lexical analysis of a document: symbols and their nesting, and completions. */
#include "lib/lsp/outline.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "lib/lsp/text.h"

/* SymbolKind and CompletionItemKind of the protocol. */
enum {
    SYMBOL_MODULE = 2,
    SYMBOL_CLASS = 5,
    SYMBOL_FUNCTION = 12,
    SYMBOL_VARIABLE = 13,
    SYMBOL_CONSTANT = 14
};
enum { ITEM_FUNCTION = 3, ITEM_VARIABLE = 6, ITEM_CLASS = 7, ITEM_KEYWORD = 14, ITEM_CONSTANT = 21 };

enum { MAX_DEPTH = 64, MAX_ITEMS = 1000 };

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || (c && strchr("_$.-", c));
}

static size_t end_of_word(const char *text, size_t length, size_t at)
{
    while (at < length && is_word(text[at])) at++;
    return at;
}

/* The offset after the string or comment that begins at `at`; otherwise `at`. Strings end with their line. */
static size_t skip_literal(const char *text, size_t length, size_t at)
{
    if (text[at] == '"') {
        for (at++; at < length && text[at] != '"' && text[at] != '\n'; at++)
            if (text[at] == '\\' && at + 1 < length && text[at + 1] != '\n') at++;
        return at < length && text[at] == '"' ? at + 1 : at;
    }
    if (text[at] == '/' && at + 1 < length && text[at + 1] == '/')
        while (at < length && text[at] != '\n') at++;
    return at;
}

/* ---- symbols ---- */

static const struct {
    const char *ending;
    int kind;
} definitions[] = {
    {"module", SYMBOL_MODULE},     {"func", SYMBOL_FUNCTION},          {"global", SYMBOL_VARIABLE},
    {"binary", SYMBOL_MODULE},     {"global_memref", SYMBOL_VARIABLE}, {"comdat", SYMBOL_CONSTANT},
    {"sequence", SYMBOL_FUNCTION},
};

/* The symbol kind defined by an operation; 0: none. */
static int symbol_kind(const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        size_t ending = strlen(definitions[i].ending);
        if (length >= ending && !memcmp(name + length - ending, definitions[i].ending, ending) &&
            (length == ending || name[length - ending - 1] == '.'))
            return definitions[i].kind;
    }
    return 0;
}

typedef struct outline {
    const char *text;
    size_t length;
    struct {
        json_t *symbol; /* the symbol whose body the brace opens; NULL: none */
    } open[MAX_DEPTH];
    size_t depth, deeper;   /* braces beyond MAX_DEPTH */
    json_t *all, *last;     /* `last`: the symbol whose body the next brace opens */
    size_t line, line_from; /* current line and its offset */
} outline;

static json_t *sibling_list(outline *o)
{
    for (size_t i = o->depth; i > 0; i--) {
        if (!o->open[i - 1].symbol) continue;
        json_t *children = json_object_get(o->open[i - 1].symbol, "children");
        if (!children) {
            children = json_array();
            json_object_set_new(o->open[i - 1].symbol, "children", children);
        }
        return children;
    }
    return o->all;
}

/* A position on the current line. */
static json_t *position_of(const outline *o, size_t at)
{
    return lsp_position(o->line, lsp_units_of(o->text + o->line_from, at - o->line_from));
}

static json_t *range_of(const outline *o, size_t from, size_t to)
{
    json_t *range = json_object();
    json_object_set_new(range, "start", position_of(o, from));
    json_object_set_new(range, "end", position_of(o, to));
    return range;
}

static json_t *add_symbol(outline *o, int kind, size_t from, size_t name, size_t end)
{
    json_t *symbol = json_object(), *shown = json_stringn(o->text + name, end - name);
    json_object_set_new(symbol, "name", shown ? shown : json_string("?"));
    json_object_set_new(symbol, "kind", json_integer(kind));
    json_object_set_new(symbol, "range", range_of(o, from, end));
    json_object_set_new(symbol, "selectionRange", range_of(o, name, end));
    json_array_append_new(sibling_list(o), symbol);
    return symbol;
}

static void close_brace(outline *o, size_t at)
{
    if (o->deeper) {
        o->deeper--;
        return;
    }
    if (!o->depth) return;
    o->depth--;
    json_object_set_new(json_object_get(o->open[o->depth].symbol, "range"), "end", position_of(o, at));
}

static void open_brace(outline *o)
{
    if (o->depth == MAX_DEPTH) {
        o->deeper++;
        return;
    }
    o->open[o->depth++].symbol = o->last;
}

/* Reads the symbol defined by an operation at the beginning of a line. Returns the offset after its name,
 * otherwise `at`. */
static size_t read_definition(outline *o, size_t at)
{
    size_t from = at, end = end_of_word(o->text, o->length, at + (o->text[at] == '"'));
    int kind = symbol_kind(o->text + from, end - from);
    if (!kind) return at;
    for (at = end; at < o->length && o->text[at] != '\n' && !strchr("({@", o->text[at]);) {
        size_t next = skip_literal(o->text, o->length, at);
        at = next > at ? next : at + 1;
    }
    if (at < o->length && o->text[at] == '@') {
        end = at + 1 < o->length && o->text[at + 1] == '"' ? skip_literal(o->text, o->length, at + 1)
                                                           : end_of_word(o->text, o->length, at + 1);
        o->last = add_symbol(o, kind, from, at, end);
        return end;
    }
    return end;
}

/* `!name = ` and `#name = `. */
static size_t read_alias(outline *o, size_t at)
{
    size_t end = end_of_word(o->text, o->length, at + 1), next = end;
    while (next < o->length && o->text[next] == ' ') next++;
    if (end == at + 1 || next >= o->length || o->text[next] != '=') return end;
    add_symbol(o, o->text[at] == '!' ? SYMBOL_CLASS : SYMBOL_CONSTANT, at, at, end);
    return next;
}

json_t *lsp_outline(const char *text, size_t length)
{
    outline o = {.text = text, .length = length, .all = json_array()};
    bool fresh = true; /* at the beginning of a line that does not continue an operation */
    int round = 0;
    for (size_t at = 0; at < length;) {
        char c = text[at];
        size_t next = skip_literal(text, length, at);
        if (fresh && (c == '!' || c == '#')) next = read_alias(&o, at);
        if (fresh && isalpha((unsigned char)c)) next = read_definition(&o, at);
        if (next == at) next = isalpha((unsigned char)c) ? end_of_word(text, length, at) : at + 1;
        if (c == '(') round++;
        if (c == ')' && round) round--;
        if (c == '{' && at && text[at - 1] == '$') {
            while (next < length && text[next] != '}' && text[next] != '\n') next++;
            if (next < length && text[next] == '}') next++;
        } else if (c == '{') {
            /* A brace at the end of a line opens a region; others enclose attributes. */
            size_t rest = next;
            while (rest < length && strchr(" \t\r", text[rest])) rest++;
            bool region = !round && (rest == length || text[rest] == '\n' || text[rest] == '/');
            json_t *symbol = o.last;
            if (!region) o.last = NULL;
            open_brace(&o);
            o.last = region ? NULL : symbol;
        }
        if (c == '}') close_brace(&o, next);
        if (c == '\n') {
            fresh = !round;
            o.line++;
            o.line_from = next;
        } else if (!isspace((unsigned char)c)) {
            fresh = c == '{' && fresh;
        }
        at = next;
    }
    while (o.depth || o.deeper) close_brace(&o, length);
    return o.all;
}

/* ---- completions ---- */

static void offer_item(json_t *seen, json_t *items, const char *label, size_t length, int kind, json_t *range)
{
    json_t *text = json_stringn(label, length);
    const char *name = json_string_value(text);
    if (name && !json_object_get(seen, name) && json_array_size(items) < MAX_ITEMS) {
        json_t *item = json_object(), *edit = json_object();
        json_object_set(item, "label", text);
        json_object_set_new(item, "kind", json_integer(kind));
        json_object_set(edit, "range", range);
        json_object_set(edit, "newText", text);
        json_object_set_new(item, "textEdit", edit);
        json_array_append_new(items, item);
        json_object_set_new(seen, name, json_true());
    }
    json_decref(text);
}

json_t *lsp_completions(const char *text, size_t length, size_t offset, const char *const *operations,
                        size_t operation_count)
{
    json_t *items = json_array(), *seen = json_object();
    size_t from = offset, typed;
    while (from > 0 && is_word(text[from - 1])) from--;
    char sigil = from ? text[from - 1] : ' ';
    int kind = sigil == '%'   ? ITEM_VARIABLE
               : sigil == '!' ? ITEM_CLASS
               : sigil == '#' ? ITEM_CONSTANT
               : sigil == '@' ? ITEM_FUNCTION
                              : 0;
    if (kind) from--;
    typed = offset - from;
    json_t *range = lsp_range_between(text, length, from, offset);
    for (size_t at = 0, next; kind && at < length; at = next) {
        next = skip_literal(text, length, at);
        if (next == at) next = at + 1;
        if (text[at] != sigil) continue;
        next = end_of_word(text, length, at + 1);
        if (next - at > 1 && at != from && next - at >= typed && !memcmp(text + at, text + from, typed))
            offer_item(seen, items, text + at, next - at, kind, range);
    }
    for (size_t i = 0; !kind && typed && i < operation_count; i++)
        if (!strncmp(operations[i], text + from, typed))
            offer_item(seen, items, operations[i], strlen(operations[i]), ITEM_KEYWORD, range);
    json_decref(range);
    json_decref(seen);
    return items;
}
