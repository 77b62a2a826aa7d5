/* Constant expressions of PTX, by precedence: signed or unsigned 64-bit integers that wrap, and doubles. A
 * value is unsigned by suffix U, above 2^63 - 1, by a cast, or if an operand of its operation is. */
#include "lib/emulator/program/parser.h"

#include <string.h>

#include "lib/base/numbers/checked.h"

enum { DEPTH_LIMIT = 64, CONDITIONAL = 1, SUM = 10 };

typedef struct value {
    uint64_t bits;
    double real;
    bool is_real, is_unsigned;
} value;

static const struct {
    char text[3];
    char level;
} operators[] = {{"||", 2},  {"&&", 3},          {"==", 7}, {"!=", 7}, {"<=", 8}, {">=", 8}, {"<<", 9},
                 {">>", 9},  {"?", CONDITIONAL}, {"|", 4},  {"^", 5},  {"&", 6},  {"<", 8},  {">", 8},
                 {"+", SUM}, {"-", SUM},         {"*", 11}, {"/", 11}, {"%", 11}};

/* The index of the operator at the token, or -1. Two-character operators may be two tokens. */
static int operator_at(const em_parser *p)
{
    const em_token *t = &p->lexer.token;
    size_t left = p->lexer.length - em_token_at(p);
    bool modulo = t->kind == EM_T_NAME && t->length == 1 && t->text[0] == '%';
    if (t->kind != EM_T_PUNCTUATION && !modulo) return -1;
    for (size_t n = 0; n < sizeof operators / sizeof *operators; n++) {
        size_t length = strlen(operators[n].text);
        if (length <= left && memcmp(operators[n].text, t->text, length) == 0) return (int)n;
    }
    return -1;
}

bool em_at_operator(const em_parser *p)
{
    return operator_at(p) >= 0;
}

static void pass_operator(em_parser *p, int which)
{
    bool two = operators[which].text[1] && p->lexer.token.length == 1;
    em_next(p);
    if (two) em_next(p);
}

static cute_status parse_above_level(em_parser *p, int level, int depth, value *out);

static value of_integer(uint64_t bits, bool is_unsigned)
{
    return (value){.bits = bits, .is_unsigned = is_unsigned};
}

static double value_as_real(const value *v)
{
    return v->is_real ? v->real : v->is_unsigned ? (double)v->bits : (double)(int64_t)v->bits;
}

static bool is_true(const value *v)
{
    return v->is_real ? v->real != 0 : v->bits != 0;
}

static value apply_unary(char operation, value v)
{
    if (operation == '!') return of_integer(!is_true(&v), false);
    if (operation == '-' && v.is_real)
        v.real = -v.real;
    else if (operation == '-')
        v.bits = 0 - v.bits;
    else if (operation == '~')
        v.bits = ~v.bits;
    return v;
}

static cute_status in_parentheses(em_parser *p, int depth, value *out, bool *cast)
{
    em_next(p);
    *cast = p->lexer.token.kind == EM_T_DIRECTIVE; /* (.s64) or (.u64) */
    if (!*cast)
        CUTE_TRY(parse_above_level(p, 0, depth + 1, out));
    else if (em_is_directive(p, "s64") || em_is_directive(p, "u64"))
        *out = of_integer(0, em_is_directive(p, "u64"));
    else
        return em_fail_token(p, ".s64 or .u64");
    if (*cast) em_next(p);
    return em_expect(p, ')');
}

static cute_status parse_unary(em_parser *p, int depth, value *out)
{
    const em_token *t = &p->lexer.token;
    if (depth > DEPTH_LIMIT) return em_fail_at(p, em_token_at(p), 1, "the expression is nested too deeply");
    if (em_is(p, '-') || em_is(p, '~') || em_is(p, '!') || em_is(p, '+')) {
        char operation = t->punctuation;
        em_next(p);
        CUTE_TRY(parse_unary(p, depth + 1, out));
        if (operation == '~' && out->is_real) return em_fail_token(p, "an integer");
        *out = apply_unary(operation, *out);
        return CUTE_OK;
    }
    if (em_is(p, '(')) {
        bool cast;
        CUTE_TRY(in_parentheses(p, depth, out, &cast));
        if (!cast) return CUTE_OK;
        bool is_unsigned = out->is_unsigned;
        CUTE_TRY(parse_unary(p, depth + 1, out));
        if (out->is_real) return em_fail_token(p, "an integer");
        out->is_unsigned = is_unsigned;
        return CUTE_OK;
    }
    if (em_is_name(p, "WARP_SZ"))
        *out = of_integer(EM_LANES, false);
    else if (t->kind == EM_T_INTEGER)
        *out = of_integer(t->integer, t->punctuation == 'u' || t->integer > INT64_MAX);
    else if (t->kind == EM_T_REAL)
        *out = (value){.real = t->real, .is_real = true};
    else
        return em_fail_token(p, "a number");
    em_next(p);
    return CUTE_OK;
}

static bool combine_real(const char *operation, double x, double y, value *out)
{
    *out = (value){.is_real = true};
    switch (operation[0]) {
    case '+': out->real = x + y; return true;
    case '-': out->real = x - y; return true;
    case '*': out->real = x * y; return true;
    case '/': out->real = x / y; return true;
    case '<': *out = of_integer(operation[1] ? x <= y : x < y, false); return operation[1] != '<';
    case '>': *out = of_integer(operation[1] ? x >= y : x > y, false); return operation[1] != '>';
    case '=': *out = of_integer(x == y, false); return true;
    case '!': *out = of_integer(x != y, false); return true;
    }
    return false;
}

static uint64_t divide_integers(char operation, uint64_t x, uint64_t y, bool is_unsigned)
{
    int64_t r = 0;
    if (is_unsigned) return !y ? 0 : operation == '/' ? x / y : x % y;
    if (operation == '/') return cute_div64((int64_t)x, (int64_t)y, &r) ? (uint64_t)r : 0;
    return cute_rem64((int64_t)x, (int64_t)y, &r) ? (uint64_t)r : 0;
}

static uint64_t shift_integer(char operation, uint64_t x, uint64_t count, bool is_unsigned)
{
    if (operation == '<') return count < 64 ? x << count : 0;
    if (is_unsigned) return count < 64 ? x >> count : 0;
    return (uint64_t)((int64_t)x >> (count < 64 ? count : 63));
}

static value combine_integers(const char *operation, const value *a, const value *b)
{
    uint64_t x = a->bits, y = b->bits, flip = UINT64_C(1) << 63;
    bool u = a->is_unsigned || b->is_unsigned;
    uint64_t left = u ? x : x ^ flip, right = u ? y : y ^ flip; /* maps unsigned order to signed order */
    char first = operation[0], second = operation[1];
    if (second == first && (first == '<' || first == '>'))
        return of_integer(shift_integer(first, x, y, a->is_unsigned), a->is_unsigned);
    switch (first) {
    case '|': return of_integer(x | y, u);
    case '^': return of_integer(x ^ y, u);
    case '&': return of_integer(x & y, u);
    case '+': return of_integer(x + y, u);
    case '-': return of_integer(x - y, u);
    case '*': return of_integer(x * y, u);
    case '<': return of_integer(second ? left <= right : left < right, false);
    case '>': return of_integer(second ? left >= right : left > right, false);
    case '=': return of_integer(x == y, false);
    case '!': return of_integer(x != y, false);
    default: return of_integer(divide_integers(first, x, y, u), u);
    }
}

static cute_status apply_operator(em_parser *p, size_t at, const char *operation, value *left,
                                  const value *right)
{
    bool logical = operation[1] == operation[0] && (operation[0] == '&' || operation[0] == '|');
    if (logical) {
        bool both = is_true(left) && is_true(right), one = is_true(left) || is_true(right);
        *left = of_integer(operation[0] == '&' ? both : one, false);
        return CUTE_OK;
    }
    if (!left->is_real && !right->is_real) {
        if ((operation[0] == '/' || operation[0] == '%') && !right->bits)
            return em_fail_at(p, at, 1, "division by zero");
        *left = combine_integers(operation, left, right);
        return CUTE_OK;
    }
    if (combine_real(operation, value_as_real(left), value_as_real(right), left)) return CUTE_OK;
    return em_fail_at(p, at, (uint32_t)strlen(operation), "'%s' requires integer operands", operation);
}

static cute_status parse_above_level(em_parser *p, int level, int depth, value *out)
{
    CUTE_TRY(parse_unary(p, depth, out));
    for (int which; (which = operator_at(p)) >= 0 && operators[which].level > level;) {
        size_t at = em_token_at(p);
        value right, other;
        pass_operator(p, which);
        if (operators[which].level == CONDITIONAL) {
            CUTE_TRY(parse_above_level(p, 0, depth + 1, &right));
            CUTE_TRY(em_expect(p, ':'));
            CUTE_TRY(parse_above_level(p, 0, depth + 1, &other));
            *out = is_true(out) ? right : other;
        } else {
            CUTE_TRY(parse_above_level(p, operators[which].level, depth + 1, &right));
            CUTE_TRY(apply_operator(p, at, operators[which].text, out, &right));
        }
    }
    return CUTE_OK;
}

static cute_status integer_above(em_parser *p, int level, int64_t *out)
{
    value v;
    size_t at = em_token_at(p);
    CUTE_TRY(parse_above_level(p, level, 0, &v));
    if (v.is_real) return em_fail_at(p, at, 1, "expected an integer, got a floating-point number");
    *out = (int64_t)v.bits;
    return CUTE_OK;
}

cute_status em_constant_term(em_parser *p, int64_t *out)
{
    return integer_above(p, SUM, out);
}

cute_status em_constant(em_parser *p, int64_t *out)
{
    return integer_above(p, 0, out);
}

cute_status em_constant_number(em_parser *p, int64_t *out, double *real, bool *is_real)
{
    value v;
    CUTE_TRY(parse_above_level(p, 0, 0, &v));
    *out = (int64_t)v.bits;
    *real = v.real;
    *is_real = v.is_real;
    return CUTE_OK;
}
