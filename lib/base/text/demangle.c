/* A recursive-descent parser of mangled names (Itanium C++ ABI, 5.1). A type is two texts, before and after
 * the declarator: int (*)[4] is "int (*" and ") [4]". */
#include "lib/base/text/demangle.h"

#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/list.h"
#include "lib/base/text/chars.h"

/* Substitutions can double the text repeatedly, so its length is limited. */
enum { MAX_DEPTH = 128, MAX_LENGTH = 1 << 14, MAX_SUBSTITUTIONS = 512 };

typedef struct text {
    const char *left, *right;
    enum { PLAIN, FUNCTION, ARRAY } kind;
    const struct args *pack; /* of a template argument pack */
} text;

typedef struct args {
    text items[64];
    size_t count;
} args;

typedef struct demangler {
    cute_arena *arena;
    const char *at;
    text known[MAX_SUBSTITUTIONS]; /* substitutions */
    size_t known_count;
    args *params; /* the arguments that T_ refers to; NULL: none */
    bool expanding;
    size_t pack_index, pack_count; /* of the expansion: index and count of elements */
    int depth;
    bool failed;
    const char *qualifiers; /* of a member function: " const" */
    bool templated;         /* the last name ended with template arguments */
    bool returns;           /* so the type of its result is encoded */
    size_t base_length;     /* of the last name without template arguments */
} demangler;

static bool read_type(demangler *d, text *out);
static const char *read_name(demangler *d);
static const char *read_encoding(demangler *d, bool result, cute_demangled *parts);

static const char *fail_demangle(demangler *d)
{
    d->failed = true;
    return "";
}

static const char *join_text(demangler *d, const char *a, const char *b, const char *c)
{
    size_t length = strlen(a) + strlen(b) + strlen(c);
    char *joined = length < MAX_LENGTH ? cute_arena_printf(d->arena, "%s%s%s", a, b, c) : NULL;
    return joined ? joined : fail_demangle(d);
}

static bool take_word(demangler *d, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(d->at, word, length) != 0) return false;
    d->at += length;
    return true;
}

static bool read_number(demangler *d, size_t *out)
{
    if (!cute_is_digit(*d->at)) return false;
    for (*out = 0; cute_is_digit(*d->at) && *out < MAX_LENGTH; d->at++)
        *out = 10 * *out + (size_t)(*d->at - '0');
    return *out < MAX_LENGTH;
}

static void add_substitution(demangler *d, text t)
{
    if (d->known_count < MAX_SUBSTITUTIONS)
        d->known[d->known_count++] = t;
    else
        d->failed = true;
}

static text plain_text(const char *name)
{
    return (text){name, "", PLAIN, NULL};
}

/* "_", "0_", "1_" ... in base `base`: 0, 1, 2. */
static bool read_sequence(demangler *d, int base, size_t *out)
{
    size_t number = 0;
    bool any = false;
    for (; *d->at && *d->at != '_'; d->at++, any = true) {
        int digit = cute_is_digit(*d->at)            ? *d->at - '0'
                    : *d->at >= 'A' && *d->at <= 'Z' ? *d->at - 'A' + 10
                                                     : 99;
        if (digit >= base || number > MAX_SUBSTITUTIONS) return false;
        number = number * (size_t)base + (size_t)digit;
    }
    *out = any ? number + 1 : 0;
    return take_word(d, "_");
}

/* ---- names ---- */

static const struct {
    char code[3];
    const char *name;
} operators[] = {
    {"cl", "()"}, {"ix", "[]"}, {"pl", "+"},  {"mi", "-"},  {"ml", "*"},    {"dv", "/"},
    {"rm", "%"},  {"an", "&"},  {"or", "|"},  {"eo", "^"},  {"aS", "="},    {"pL", "+="},
    {"mI", "-="}, {"mL", "*="}, {"dV", "/="}, {"eq", "=="}, {"ne", "!="},   {"lt", "<"},
    {"gt", ">"},  {"le", "<="}, {"ge", ">="}, {"nt", "!"},  {"aa", "&&"},   {"oo", "||"},
    {"pp", "++"}, {"mm", "--"}, {"ls", "<<"}, {"rs", ">>"}, {"pt", "->"},   {"ng", "-"},
    {"de", "*"},  {"ad", "&"},  {"co", "~"},  {"cm", ","},  {"nw", " new"}, {"dl", " delete"},
};

static const char *read_source_name(demangler *d)
{
    size_t length;
    if (!read_number(d, &length) || strnlen(d->at, length) < length) return fail_demangle(d);
    const char *name = cute_arena_copy(d->arena, d->at, length);
    d->at += length;
    if (!name) return fail_demangle(d);
    return strncmp(name, "_GLOBAL__N_", 11) == 0 || strncmp(name, "_INTERNAL_", 10) == 0
               ? "(anonymous namespace)"
               : name;
}

/* "(int, float)"; of void alone "()". */
static const char *read_params(demangler *d, const char *stops)
{
    const char *list = "";
    bool first = true;
    while (!d->failed && *d->at && !strchr(stops, *d->at)) {
        text t;
        if (!read_type(d, &t)) return fail_demangle(d);
        const char *one = join_text(d, t.left, t.right, "");
        if (first && strcmp(one, "void") == 0) one = "";
        if (*one) list = join_text(d, list, *list ? ", " : "", one);
        first = false;
    }
    return join_text(d, "(", list, ")");
}

/* `last`: the class name, for constructors. */
static const char *read_unqualified(demangler *d, const char *last)
{
    size_t number = 0;
    if (cute_is_digit(*d->at)) return read_source_name(d);
    if (take_word(d, "L")) return read_source_name(d); /* of internal linkage */
    if ((d->at[0] == 'C' || d->at[0] == 'D') && d->at[1] >= '0' && d->at[1] <= '5') {
        bool destructor = *d->at == 'D';
        size_t from = 0, to = 0, depth = 0;
        d->at += 2;
        for (; last[to]; to++) { /* the last component outside template arguments */
            depth += last[to] == '<';
            if (!depth && last[to] == ':') from = to + 1;
            depth -= last[to] == '>' && depth;
        }
        const char *class = cute_arena_copy(d->arena, last + from, strcspn(last + from, "<"));
        return class ? join_text(d, destructor ? "~" : "", class, "") : fail_demangle(d);
    }
    if (take_word(d, "Ul")) {
        const char *params = read_params(d, "E");
        if (!take_word(d, "E") || !read_sequence(d, 10, &number)) return fail_demangle(d);
        const char *name = cute_arena_printf(d->arena, "{lambda%s#%zu}", params, number + 1);
        return name ? name : fail_demangle(d);
    }
    if (take_word(d, "Ut")) {
        if (!read_sequence(d, 10, &number)) return fail_demangle(d);
        const char *name = cute_arena_printf(d->arena, "{unnamed type#%zu}", number + 1);
        return name ? name : fail_demangle(d);
    }
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (take_word(d, operators[i].code)) return join_text(d, "operator", operators[i].name, "");
    return fail_demangle(d);
}

/* "St", "S_", "S0_" ... */
static bool read_substitution(demangler *d, text *out)
{
    static const struct {
        char letter;
        const char *name;
    } standard[] = {{'t', "std"},          {'a', "std::allocator"}, {'b', "std::basic_string"},
                    {'s', "std::string"},  {'i', "std::istream"},   {'o', "std::ostream"},
                    {'d', "std::iostream"}};
    for (size_t i = 0; i < sizeof standard / sizeof *standard; i++)
        if (d->at[0] == 'S' && d->at[1] == standard[i].letter) {
            d->at += 2;
            *out = plain_text(standard[i].name);
            return true;
        }
    size_t index;
    if (!take_word(d, "S") || !read_sequence(d, 36, &index) || index >= d->known_count) {
        d->failed = true;
        return false;
    }
    *out = d->known[index];
    return true;
}

/* `T_`, `T0_`. Forward references to a name's own template arguments are not supported. */
static bool read_template_param(demangler *d, text *out)
{
    size_t index;
    if (!take_word(d, "T") || !read_sequence(d, 10, &index) || !d->params || index >= d->params->count) {
        d->failed = true;
        return false;
    }
    *out = d->params->items[index];
    if (!out->pack) return true;
    if (!d->expanding) return d->failed = true, false;
    d->pack_count = out->pack->count;
    *out = d->pack_index < d->pack_count ? out->pack->items[d->pack_index] : plain_text("");
    return true;
}

/* ---- template arguments ---- */

static const char *read_literal(demangler *d)
{
    static const struct {
        const char *type, *suffix;
    } suffixes[] = {{"int", ""},         {"unsigned int", "u"},        {"long", "l"}, {"unsigned long", "ul"},
                    {"long long", "ll"}, {"unsigned long long", "ull"}};
    if (take_word(d, "_Z")) {
        const char *name = read_encoding(d, true, NULL);
        return take_word(d, "E") ? name : fail_demangle(d);
    }
    text type;
    if (!read_type(d, &type)) return fail_demangle(d);
    const char *start = d->at, *end = strchr(start, 'E');
    if (!end) return fail_demangle(d);
    const char *value = cute_arena_copy(d->arena, start, (size_t)(end - start));
    d->at = end + 1;
    if (!value) return fail_demangle(d);
    const char *name = join_text(d, type.left, type.right, ""), *sign = "";
    if (*value == 'n') value++, sign = "-";
    if (strcmp(name, "bool") == 0 && (!strcmp(value, "0") || !strcmp(value, "1")))
        return *value == '1' ? "true" : "false";
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (strcmp(name, suffixes[i].type) == 0) return join_text(d, sign, value, suffixes[i].suffix);
    return join_text(d, join_text(d, "(", name, ")"), sign, value);
}

/* Reads arguments up to "E". `list`: their text, separated by commas. */
static bool read_args(demangler *d, args *out, const char **list)
{
    const char *joined = "";
    out->count = 0;
    while (!d->failed && !take_word(d, "E")) {
        text t = plain_text("");
        if (d->depth >= MAX_DEPTH) return fail_demangle(d), false;
        if (take_word(d, "J")) {
            args *pack = cute_arena_alloc(d->arena, sizeof *pack);
            d->depth++;
            if (!pack || !read_args(d, pack, &t.left)) return fail_demangle(d), false;
            d->depth--;
            t.pack = pack;
        } else if (take_word(d, "L")) {
            t = plain_text(read_literal(d));
        } else if (take_word(d, "XadL")) { /* the only common expression */
            t = plain_text(join_text(d, "&(", read_literal(d), ")"));
            if (!take_word(d, "E")) return fail_demangle(d), false;
        } else if (*d->at == 'X' || !read_type(d, &t)) {
            return fail_demangle(d), false;
        }
        const char *one = join_text(d, t.left, t.right, "");
        joined = join_text(d, joined, *joined && *one ? ", " : "", one);
        if (out->count == sizeof out->items / sizeof *out->items) return fail_demangle(d), false;
        out->items[out->count++] = t;
    }
    *list = joined;
    return !d->failed;
}

/* Reads template arguments after a name; T_ refers to them from now on. */
static const char *add_args(demangler *d, const char *name)
{
    args *list = cute_arena_alloc(d->arena, sizeof *list);
    const char *written;
    d->base_length = strlen(name);
    if (!take_word(d, "I") || !list || !read_args(d, list, &written)) return fail_demangle(d);
    bool closes = *written && written[strlen(written) - 1] == '>';
    d->params = list;
    d->templated = true;
    return join_text(d, join_text(d, name, "<", written), closes ? " >" : ">", "");
}

/* ---- qualified names ---- */

static const char *read_nested(demangler *d)
{
    const char *name = "", *qualifiers = "";
    if (take_word(d, "r")) qualifiers = " restrict";
    if (take_word(d, "V")) qualifiers = join_text(d, qualifiers, " volatile", "");
    if (take_word(d, "K")) qualifiers = join_text(d, qualifiers, " const", "");
    if (take_word(d, "R"))
        qualifiers = join_text(d, qualifiers, " &", "");
    else if (take_word(d, "O"))
        qualifiers = join_text(d, qualifiers, " &&", "");
    while (!d->failed && !take_word(d, "E")) {
        bool known = false;
        if (!*d->at) return fail_demangle(d);
        if (*d->at == 'I') {
            name = add_args(d, name);
        } else if (*d->at == 'S' && !*name) {
            text t;
            known = true;
            if (!read_substitution(d, &t)) return fail_demangle(d);
            name = t.left;
            d->templated = false;
        } else if (*d->at == 'T' && !*name) {
            text t;
            if (!read_template_param(d, &t)) return fail_demangle(d);
            name = t.left;
        } else {
            const char *one = read_unqualified(d, name);
            name = join_text(d, name, *name ? "::" : "", one);
            d->templated = false;
            d->base_length = strlen(name);
        }
        /* Every prefix is a substitution candidate, except the whole name of a function. */
        if (!known && *d->at != 'E') add_substitution(d, plain_text(name));
    }
    d->qualifiers = qualifiers;
    return name;
}

static const char *read_local(demangler *d)
{
    const char *outer = read_encoding(d, false, NULL);
    if (!take_word(d, "E")) return fail_demangle(d);
    if (take_word(d, "s")) return join_text(d, outer, "::", "string literal");
    if (*d->at == 'd') return fail_demangle(d); /* in a default argument */
    const char *inner = read_name(d);
    size_t number, at_length = strlen(outer) + 2;
    if (take_word(d, "__"))
        read_number(d, &number), take_word(d, "_");
    else if (*d->at == '_' && cute_is_digit(d->at[1]))
        d->at += 2;
    d->base_length += at_length;
    return join_text(d, outer, "::", inner);
}

static const char *read_name(demangler *d)
{
    d->qualifiers = "";
    d->templated = false;
    if (d->depth >= MAX_DEPTH) return fail_demangle(d);
    d->depth++;
    const char *name;
    if (take_word(d, "N")) {
        name = read_nested(d);
    } else if (take_word(d, "Z")) {
        name = read_local(d);
    } else {
        bool known = d->at[0] == 'S' && d->at[1] != 't';
        text t;
        if (known)
            name = read_substitution(d, &t) ? t.left : "";
        else
            name = take_word(d, "St") ? join_text(d, "std::", read_unqualified(d, ""), "")
                                      : read_unqualified(d, "");
        d->base_length = strlen(name);
        if (*d->at == 'I') {
            if (!known) add_substitution(d, plain_text(name));
            name = add_args(d, name);
        }
    }
    d->depth--;
    return name;
}

/* ---- types ---- */

static const struct {
    const char *code, *name;
} builtins[] = {
    {"v", "void"},
    {"w", "wchar_t"},
    {"b", "bool"},
    {"c", "char"},
    {"a", "signed char"},
    {"h", "unsigned char"},
    {"s", "short"},
    {"t", "unsigned short"},
    {"i", "int"},
    {"j", "unsigned int"},
    {"l", "long"},
    {"m", "unsigned long"},
    {"x", "long long"},
    {"y", "unsigned long long"},
    {"n", "__int128"},
    {"o", "unsigned __int128"},
    {"f", "float"},
    {"d", "double"},
    {"e", "long double"},
    {"g", "__float128"},
    {"z", "..."},
    {"Dn", "decltype(nullptr)"},
    {"Di", "char32_t"},
    {"Ds", "char16_t"},
    {"Du", "char8_t"},
    {"DF16_", "_Float16"},
    {"DF16b", "std::bfloat16_t"},
    {"Dh", "half"},
};

static text add_declarator(demangler *d, text t, const char *sign)
{
    if (t.kind == PLAIN) return (text){join_text(d, t.left, sign, ""), t.right, PLAIN, NULL};
    return (text){join_text(d, t.left, " (", sign), join_text(d, ")", t.right, ""), PLAIN, NULL};
}

static bool read_function(demangler *d, text *out)
{
    text result;
    take_word(d, "Y");
    if (!read_type(d, &result)) return false;
    const char *params = read_params(d, "E");
    if (!take_word(d, "E")) d->failed = true;
    *out = (text){result.left, join_text(d, params, result.right, ""), FUNCTION, NULL};
    return !d->failed;
}

static bool read_array(demangler *d, text *out)
{
    const char *start = d->at;
    while (cute_is_digit(*d->at)) d->at++;
    const char *size = cute_arena_copy(d->arena, start, (size_t)(d->at - start));
    text element;
    if (!size || !take_word(d, "_") || !read_type(d, &element)) {
        d->failed = true;
        return false;
    }
    bool more = element.kind == ARRAY;
    *out = (text){element.left,
                  join_text(d, join_text(d, more ? "[" : " [", size, "]"),
                            more ? element.right + 1 : element.right, ""),
                  ARRAY, NULL};
    if (more) out->right = join_text(d, " ", out->right, "");
    return !d->failed;
}

static bool read_qualified(demangler *d, text *out)
{
    const char *words = "";
    bool is_restrict = take_word(d, "r"), is_volatile = take_word(d, "V"), is_const = take_word(d, "K");
    if (!read_type(d, out)) return false;
    if (is_const) words = join_text(d, words, " const", "");
    if (is_volatile) words = join_text(d, words, " volatile", "");
    if (is_restrict) words = join_text(d, words, " __restrict__", "");
    if (out->kind == FUNCTION)
        out->right = join_text(d, out->right, words, "");
    else
        out->left = join_text(d, out->left, words, "");
    return !d->failed;
}

/* Expands the pattern after "Dp" for each element of its pack. */
static bool read_expansion(demangler *d, text *out)
{
    const char *start = d->at, *list = "";
    if (d->expanding) return d->failed = true, false;
    d->expanding = true;
    d->pack_count = 0;
    for (d->pack_index = 0; d->pack_index == 0 || d->pack_index < d->pack_count; d->pack_index++) {
        size_t known = d->known_count;
        text t;
        d->at = start;
        if (!read_type(d, &t)) return false;
        if (d->pack_index) d->known_count = known;
        if (d->pack_count) list = join_text(d, list, *list ? ", " : "", join_text(d, t.left, t.right, ""));
    }
    d->expanding = false;
    *out = plain_text(list);
    return !d->failed;
}

/* Types other than builtin ones and substitutions become substitution candidates. */
static bool read_new_type(demangler *d, text *out)
{
    static const struct {
        char code;
        const char *sign;
    } signs[] = {{'P', "*"}, {'R', "&"}, {'O', "&&"}};
    for (size_t i = 0; i < 3; i++)
        if (*d->at == signs[i].code) {
            d->at++;
            if (!read_type(d, out)) return false;
            *out = add_declarator(d, *out, signs[i].sign);
            return !d->failed;
        }
    if (strchr("rVK", *d->at)) return read_qualified(d, out);
    if (take_word(d, "F")) return read_function(d, out);
    if (take_word(d, "A")) return read_array(d, out);
    if (take_word(d, "Dp")) return read_expansion(d, out);
    if (take_word(d, "M")) {
        text class;
        if (!read_type(d, &class) || !read_type(d, out)) return false;
        *out = add_declarator(d, *out, join_text(d, out->kind == PLAIN ? " " : "", class.left, "::*"));
        return !d->failed;
    }
    if (take_word(d, "Dv")) {
        size_t count;
        text element;
        if (!read_number(d, &count) || !take_word(d, "_") || !read_type(d, &element))
            return d->failed = true, false;
        const char *name = cute_arena_printf(d->arena, "%s __vector(%zu)", element.left, count);
        *out = plain_text(name ? name : fail_demangle(d));
        return !d->failed;
    }
    if (take_word(d, "u")) {
        *out = plain_text(read_source_name(d));
        return !d->failed;
    }
    if (*d->at == 'T') {
        if (!read_template_param(d, out)) return false;
        if (*d->at != 'I') return true;
        add_substitution(d, *out);
        *out = plain_text(add_args(d, out->left));
        return !d->failed;
    }
    if (!cute_is_digit(*d->at) && !strchr("NZS", *d->at)) return d->failed = true, false;
    args *outer = d->params; /* T_ keeps its meaning afterwards */
    *out = plain_text(read_name(d));
    d->params = outer;
    return !d->failed;
}

static bool read_type(demangler *d, text *out)
{
    *out = plain_text("");
    if (d->failed || !*d->at || d->depth >= MAX_DEPTH) return d->failed = true, false;
    for (size_t i = 0; i < sizeof builtins / sizeof *builtins; i++)
        if (take_word(d, builtins[i].code)) {
            *out = plain_text(builtins[i].name);
            return true;
        }
    if (d->at[0] == 'S' && d->at[1] != 't') {
        const char *start = d->at;
        if (!read_substitution(d, out)) return false;
        if (*d->at != 'I') return true;
        d->at = start; /* a template with arguments: a name */
    }
    d->depth++;
    bool ok = read_new_type(d, out);
    d->depth--;
    if (ok) add_substitution(d, *out);
    return ok && !d->failed;
}

/* ---- encodings ---- */

/* `result`: include the type of the result, if encoded. */
static const char *read_encoding(demangler *d, bool result, cute_demangled *parts)
{
    args *outer = d->params;
    if (*d->at == 'T' || (d->at[0] == 'G' && d->at[1] == 'V')) return fail_demangle(d); /* tables, guards */
    const char *name = read_name(d), *qualifiers = d->qualifiers;
    size_t base = d->templated ? d->base_length : strlen(name);
    const char *text_of_result = "", *after = "";
    if (parts) {
        parts->name = name;
        parts->base = cute_arena_copy(d->arena, name, base < strlen(name) ? base : strlen(name));
    }
    if (d->failed || !*d->at || *d->at == 'E' || *d->at == '.' || *d->at == '$') return name; /* a variable */
    if (d->templated) {
        text t;
        if (!read_type(d, &t)) return fail_demangle(d);
        text_of_result = result ? join_text(d, t.left, " ", "") : "";
        after = result ? t.right : "";
    }
    const char *params = read_params(d, "E.$");
    d->params = outer;
    return join_text(d, join_text(d, text_of_result, name, params), after, qualifiers);
}

bool cute_demangle(cute_arena *arena, const char *symbol, cute_demangled *out)
{
    if (strncmp(symbol, "_Z", 2) != 0) return false;
    demangler *d = cute_arena_alloc(arena, sizeof *d);
    if (!d) return false;
    *d = (demangler){.arena = arena, .at = symbol + 2, .qualifiers = ""};
    *out = (cute_demangled){0};
    out->full = read_encoding(d, true, out);
    if (d->failed || !out->base || *d->at) return false;
    return true;
}

/* Whether two texts are equal except for blanks. */
static bool same_text(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == ' ') a++;
        while (*b == ' ') b++;
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

/* Skips the namespaces before the first "<" or "(". */
static const char *without_namespaces(const char *name)
{
    const char *last = name;
    for (const char *at = name; *at && !strchr("<", *at); at++) {
        if (*at == '(' && strncmp(at, "(anonymous namespace)", 21) != 0) break;
        if (at[0] == ':' && at[1] == ':') last = at + 2;
    }
    return last;
}

bool cute_symbol_matches(cute_arena *arena, const char *symbol, const char *wanted)
{
    cute_demangled names;
    if (strcmp(symbol, wanted) == 0) return true;
    if (!cute_demangle(arena, symbol, &names)) return false;
    const char *const all[] = {names.full, names.name, names.base};
    for (size_t i = 0; i < 3; i++)
        if (same_text(all[i], wanted) || same_text(without_namespaces(all[i]), wanted)) return true;
    return false;
}

const char *cute_symbol_name(cute_arena *arena, const char *symbol)
{
    cute_demangled names;
    const char *name = cute_demangle(arena, symbol, &names) ? names.name : symbol;
    if (cute_text_is_printable(name)) return name;
    cute_buffer shown = {0};
    cute_text_printable(name, strlen(name), &shown);
    const char *copy = cute_buffer_ok(&shown) ? cute_arena_copy(arena, shown.data, shown.length) : NULL;
    cute_buffer_release(&shown);
    return copy ? copy : "?";
}
