/* Constant expressions of PTX: 64 bits, wrapping; by precedence. */
#include "lib/base/checked.h"
#include "lib/emulator/parser.h"

enum { DEPTH_LIMIT = 64 };

static int precedence(const em_parser *p)
{
    static const char table[] = {'|', 1, '^', 2, '&', 3, 'l', 4, 'r', 4,
                                 '+', 5, '-', 5, '*', 6, '/', 6, '%', 6};
    if (p->lexer.token.kind != EM_T_PUNCTUATION) return 0;
    for (size_t i = 0; i < sizeof table; i += 2)
        if (table[i] == p->lexer.token.punctuation) return table[i + 1];
    return 0;
}

static cute_status constant_above(em_parser *p, int level, int depth, int64_t *out);

static cute_status constant_unary(em_parser *p, int depth, int64_t *out)
{
    if (depth > DEPTH_LIMIT) return em_fail_at(p, em_token_at(p), 1, "the expression is nested too deeply");
    if (em_is(p, '-') || em_is(p, '~') || em_is(p, '!') || em_is(p, '+')) {
        char operation = p->lexer.token.punctuation;
        em_next(p);
        CUTE_TRY(constant_unary(p, depth + 1, out));
        if (operation == '-') *out = (int64_t)(0 - (uint64_t)*out);
        if (operation == '~') *out = ~*out;
        if (operation == '!') *out = !*out;
        return CUTE_OK;
    }
    if (em_is(p, '(')) {
        em_next(p);
        if (p->lexer.token.kind == EM_T_DIRECTIVE) { /* a cast: (.s64) */
            em_next(p);
            CUTE_TRY(em_expect(p, ')'));
            return constant_unary(p, depth + 1, out);
        }
        CUTE_TRY(constant_above(p, 0, depth + 1, out));
        return em_expect(p, ')');
    }
    if (em_is_name(p, "WARP_SZ")) {
        em_next(p);
        *out = EM_LANES;
        return CUTE_OK;
    }
    if (p->lexer.token.kind != EM_T_INTEGER) return em_fail_token(p, "a number");
    *out = (int64_t)p->lexer.token.integer;
    em_next(p);
    return CUTE_OK;
}

static int64_t combine(char operation, int64_t a, int64_t b)
{
    uint64_t x = (uint64_t)a, y = (uint64_t)b;
    int64_t r = 0;
    switch (operation) {
    case '|': return a | b;
    case '^': return a ^ b;
    case '&': return a & b;
    case 'l': return y < 64 ? (int64_t)(x << y) : 0;
    case 'r': return y < 64 ? a >> y : 0;
    case '+': return (int64_t)(x + y);
    case '-': return (int64_t)(x - y);
    case '*': return (int64_t)(x * y);
    case '/': return cute_div64(a, b, &r) ? r : 0;
    case '%': return cute_rem64(a, b, &r) ? r : 0;
    }
    return 0;
}

static cute_status constant_above(em_parser *p, int level, int depth, int64_t *out)
{
    CUTE_TRY(constant_unary(p, depth, out));
    for (int own; (own = precedence(p)) > level;) {
        char operation = p->lexer.token.punctuation;
        int64_t right;
        em_next(p);
        CUTE_TRY(constant_above(p, own, depth + 1, &right));
        *out = combine(operation, *out, right);
    }
    return CUTE_OK;
}

cute_status em_constant_above(em_parser *p, int level, int64_t *out)
{
    return constant_above(p, level, 0, out);
}

cute_status em_constant(em_parser *p, int64_t *out)
{
    return constant_above(p, 0, 0, out);
}
