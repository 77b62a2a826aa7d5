/* Expressions: a hand-written tokenizer, precedence climbing over a table of operators, and evaluation in
 * checked 64-bit integers. */
#include "lib/base/numbers/expr.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/expr_tree.h"
#include "lib/base/text/chars.h"

/* Deep enough for handwritten expressions, small enough for any stack. */
enum { MAX_DEPTH = 400, MAX_ARGS = 32 };

typedef enum token_kind { TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_SIGN, TOKEN_BAD } token_kind;

typedef struct parser {
    cute_arena *arena;
    const char *text;
    size_t length, next; /* next: the byte after the current token */
    size_t start;        /* of the current token */
    token_kind token;
    int nesting;
    cute_place origin;
    cute_diag *diag;
} parser;

typedef struct binary_operator {
    const char *sign;
    int precedence;
    cute_expr_op op;
} binary_operator;

static const binary_operator binary_operators[] = {
    {"||", 1, CUTE_EXPR_OP_OR}, {"&&", 2, CUTE_EXPR_OP_AND}, {"==", 3, CUTE_EXPR_OP_EQ},
    {"!=", 3, CUTE_EXPR_OP_NE}, {"<=", 4, CUTE_EXPR_OP_LE},  {">=", 4, CUTE_EXPR_OP_GE},
    {"<", 4, CUTE_EXPR_OP_LT},  {">", 4, CUTE_EXPR_OP_GT},   {"+", 5, CUTE_EXPR_OP_ADD},
    {"-", 5, CUTE_EXPR_OP_SUB}, {"*", 6, CUTE_EXPR_OP_MUL},  {"/", 6, CUTE_EXPR_OP_DIV},
    {"%", 6, CUTE_EXPR_OP_REM},
};

static cute_place token_place(const parser *p, size_t start, size_t end)
{
    cute_place place = p->origin;
    place.column += (int)start;
    place.length = end > start ? (int)(end - start) : 1;
    return place;
}

static cute_status fail_at_token(parser *p, const char *what)
{
    cute_place place = token_place(p, p->start, p->next);
    if (p->token == TOKEN_END)
        return cute_fail(p->diag, CUTE_INVALID, &place, "expected %s, got the end of the expression", what);
    return cute_fail(p->diag, CUTE_INVALID, &place, "expected %s, got '%.*s'", what,
                     (int)(p->next - p->start), p->text + p->start);
}

static size_t scan_number(const char *s, size_t i, size_t n)
{
    if (s[i] == '0' && i + 1 < n && (s[i + 1] == 'x' || s[i + 1] == 'X')) {
        for (i += 2; i < n && cute_is_name(s[i]); i++) {
        }
        return i;
    }
    for (; i < n && (cute_is_name(s[i]) || s[i] == '.'); i++) {
        bool exponent = (s[i] == 'e' || s[i] == 'E') && i + 1 < n && (s[i + 1] == '+' || s[i + 1] == '-');
        if (exponent) i++;
    }
    return i;
}

static void advance_token(parser *p)
{
    const char *s = p->text;
    size_t i = p->next, n = p->length;
    while (i < n && (s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r')) i++;
    p->start = i;
    if (i >= n) {
        p->token = TOKEN_END;
    } else if (cute_is_digit(s[i]) || (s[i] == '.' && i + 1 < n && cute_is_digit(s[i + 1]))) {
        p->token = TOKEN_NUMBER;
        i = scan_number(s, i, n);
    } else if (cute_is_name_start(s[i])) {
        p->token = TOKEN_NAME;
        while (i < n && cute_is_name(s[i])) i++;
    } else {
        static const char *const two[] = {"||", "&&", "==", "!=", "<=", ">="};
        size_t width = 0;
        for (size_t k = 0; k < sizeof two / sizeof *two; k++)
            if (i + 1 < n && s[i] == two[k][0] && s[i + 1] == two[k][1]) width = 2;
        if (!width && s[i] != '\0' && strchr("+-*/%<>!?:(),[]", s[i])) width = 1;
        p->token = width ? TOKEN_SIGN : TOKEN_BAD;
        i += width ? width : 1;
    }
    p->next = i;
}

static bool is_sign(const parser *p, const char *sign)
{
    size_t width = p->next - p->start;
    return p->token == TOKEN_SIGN && strlen(sign) == width && memcmp(p->text + p->start, sign, width) == 0;
}

static cute_status expect_sign(parser *p, const char *sign, const char *what)
{
    if (!is_sign(p, sign)) return fail_at_token(p, what);
    advance_token(p);
    return CUTE_OK;
}

static cute_status make_node(parser *p, cute_expr_kind kind, cute_place place, const cute_expr *const *args,
                             int count, cute_expr **out)
{
    cute_expr *node = cute_arena_alloc(p->arena, sizeof *node);
    if (!node) return cute_fail_memory(p->diag);
    node->kind = kind;
    node->place = place;
    node->depth = 1;
    if (count > 0) {
        const cute_expr **copy = cute_arena_array(p->arena, (size_t)count, sizeof *copy);
        if (!copy) return cute_fail_memory(p->diag);
        for (int i = 0; i < count; i++) {
            copy[i] = args[i];
            if (args[i]->depth >= node->depth) node->depth = args[i]->depth + 1;
        }
        node->args = copy;
        node->count = count;
    }
    if (node->depth > MAX_DEPTH)
        return cute_fail(p->diag, CUTE_INVALID, &place, "the expression is too deep (more than %d levels)",
                         MAX_DEPTH);
    *out = node;
    return CUTE_OK;
}

static cute_status parse_ternary(parser *p, cute_expr **out);

static cute_status parse_number(parser *p, cute_expr **out)
{
    cute_place place = token_place(p, p->start, p->next);
    size_t width = p->next - p->start;
    char text[64], *end;
    if (width >= sizeof text) return cute_fail(p->diag, CUTE_INVALID, &place, "the number is too long");
    memcpy(text, p->text + p->start, width);
    text[width] = '\0';
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    bool real = !hex && strpbrk(text, ".eE");
    CUTE_TRY(make_node(p, real ? CUTE_EXPR_REAL : CUTE_EXPR_INTEGER, place, NULL, 0, out));
    errno = 0;
    if (real) {
        (*out)->real = strtod(text, &end);
    } else {
        (*out)->integer = strtoll(text, &end, hex ? 16 : 10);
        if (errno == ERANGE)
            return cute_fail(p->diag, CUTE_INVALID, &place, "%s does not fit in 64 bits", text);
    }
    if (*end != '\0' || end == text)
        return cute_fail(p->diag, CUTE_INVALID, &place, "'%s' is not a number", text);
    advance_token(p);
    return CUTE_OK;
}

/* The comma-separated list in (...) or [...]. */
static cute_status parse_list(parser *p, const char *close, const char *what, const cute_expr **args,
                              int *count)
{
    *count = 0;
    advance_token(p);
    if (is_sign(p, close)) {
        advance_token(p);
        return CUTE_OK;
    }
    for (;;) {
        cute_expr *arg;
        if (*count == MAX_ARGS) {
            cute_place place = token_place(p, p->start, p->next);
            return cute_fail(p->diag, CUTE_INVALID, &place, "more than %d operands", MAX_ARGS);
        }
        CUTE_TRY(parse_ternary(p, &arg));
        args[(*count)++] = arg;
        if (!is_sign(p, ",")) return expect_sign(p, close, what);
        advance_token(p);
    }
}

static cute_status parse_name(parser *p, cute_expr **out)
{
    cute_place place = token_place(p, p->start, p->next);
    char *name = cute_arena_copy(p->arena, p->text + p->start, p->next - p->start);
    if (!name) return cute_fail_memory(p->diag);
    const cute_expr *args[MAX_ARGS];
    int count = 0;
    cute_expr_kind kind = CUTE_EXPR_NAME;
    advance_token(p);
    if (is_sign(p, "(")) {
        kind = CUTE_EXPR_CALL;
        CUTE_TRY(parse_list(p, ")", "',' or ')'", args, &count));
    } else if (is_sign(p, "[")) {
        kind = CUTE_EXPR_INDEX;
        CUTE_TRY(parse_list(p, "]", "',' or ']'", args, &count));
    }
    CUTE_TRY(make_node(p, kind, place, args, count, out));
    (*out)->name = name;
    return CUTE_OK;
}

static cute_status parse_unary(parser *p, cute_expr **out)
{
    cute_place place = token_place(p, p->start, p->next);
    if (p->nesting >= MAX_DEPTH)
        return cute_fail(p->diag, CUTE_INVALID, &place, "the expression is too deep (more than %d levels)",
                         MAX_DEPTH);
    p->nesting++;
    cute_status status;
    if (is_sign(p, "-") || is_sign(p, "!")) {
        cute_expr_op op = is_sign(p, "-") ? CUTE_EXPR_OP_NEGATE : CUTE_EXPR_OP_NOT;
        cute_expr *inner;
        advance_token(p);
        status = parse_unary(p, &inner);
        if (status == CUTE_OK) {
            const cute_expr *args[] = {inner};
            status = make_node(p, CUTE_EXPR_OPERATOR, place, args, 1, out);
        }
        if (status == CUTE_OK) (*out)->op = op;
    } else if (is_sign(p, "+")) {
        advance_token(p);
        status = parse_unary(p, out);
    } else if (is_sign(p, "(")) {
        advance_token(p);
        status = parse_ternary(p, out);
        if (status == CUTE_OK) status = expect_sign(p, ")", "')'");
    } else if (p->token == TOKEN_NUMBER) {
        status = parse_number(p, out);
    } else if (p->token == TOKEN_NAME) {
        status = parse_name(p, out);
    } else {
        status = fail_at_token(p, "a number, a name or '('");
    }
    p->nesting--;
    return status;
}

static const binary_operator *current_operator(const parser *p)
{
    for (size_t i = 0; i < sizeof binary_operators / sizeof *binary_operators; i++)
        if (is_sign(p, binary_operators[i].sign)) return &binary_operators[i];
    return NULL;
}

static cute_status parse_binary(parser *p, int least, cute_expr **out)
{
    CUTE_TRY(parse_unary(p, out));
    for (;;) {
        const binary_operator *found = current_operator(p);
        if (!found || found->precedence < least) return CUTE_OK;
        cute_place place = token_place(p, p->start, p->next);
        cute_expr *right;
        advance_token(p);
        CUTE_TRY(parse_binary(p, found->precedence + 1, &right));
        const cute_expr *args[] = {*out, right};
        CUTE_TRY(make_node(p, CUTE_EXPR_OPERATOR, place, args, 2, out));
        (*out)->op = found->op;
    }
}

static cute_status parse_ternary(parser *p, cute_expr **out)
{
    CUTE_TRY(parse_binary(p, 1, out));
    if (!is_sign(p, "?")) return CUTE_OK;
    cute_place place = token_place(p, p->start, p->next);
    if (p->nesting >= MAX_DEPTH)
        return cute_fail(p->diag, CUTE_INVALID, &place, "the expression is too deep (more than %d levels)",
                         MAX_DEPTH);
    cute_expr *yes, *no;
    advance_token(p);
    p->nesting++;
    CUTE_TRY(parse_ternary(p, &yes));
    CUTE_TRY(expect_sign(p, ":", "':'"));
    CUTE_TRY(parse_ternary(p, &no));
    p->nesting--;
    const cute_expr *args[] = {*out, yes, no};
    CUTE_TRY(make_node(p, CUTE_EXPR_OPERATOR, place, args, 3, out));
    (*out)->op = CUTE_EXPR_OP_SELECT;
    return CUTE_OK;
}

cute_status cute_expr_parse(cute_arena *arena, const char *text, size_t length, const cute_place *origin,
                            cute_expr **out, cute_diag *diag)
{
    parser p = {.arena = arena, .text = text, .length = length, .diag = diag};
    cute_place itself = {.file = "<expression>", .line = 1, .column = 1, .text = text, .text_length = length};
    p.origin = origin ? *origin : itself;
    if (p.origin.column < 1) p.origin.column = 1;
    /* The nodes keep their places, so the strings have to live as long as the arena. */
    if (p.origin.file) p.origin.file = cute_arena_copy(arena, p.origin.file, strlen(p.origin.file));
    if (p.origin.text) p.origin.text = cute_arena_copy(arena, p.origin.text, p.origin.text_length);
    if ((origin ? origin->file && !p.origin.file : !p.origin.text)) return cute_fail_memory(diag);
    advance_token(&p);
    CUTE_TRY(parse_ternary(&p, out));
    if (p.token != TOKEN_END) return fail_at_token(&p, "an operator or the end of the expression");
    return CUTE_OK;
}

/* ---- integers ---- */

typedef struct evaluation {
    cute_expr_lookup lookup;
    void *context;
    cute_diag *diag;
} evaluation;

static cute_status eval_expr(const evaluation *e, const cute_expr *x, int64_t *out);

static cute_status fail_at_expr(const evaluation *e, const cute_expr *x, const char *what)
{
    return cute_fail(e->diag, CUTE_INVALID, &x->place, "%s", what);
}

static bool int_ceil_div(const int64_t *v, int n, int64_t *r)
{
    (void)n;
    return cute_ceil_div64(v[0], v[1], r);
}
static bool int_round_up(const int64_t *v, int n, int64_t *r)
{
    (void)n;
    return cute_ceil_div64(v[0], v[1], r) && cute_mul64(*r, v[1], r);
}
static bool int_min(const int64_t *v, int n, int64_t *r)
{
    *r = v[0];
    for (int i = 1; i < n; i++) *r = v[i] < *r ? v[i] : *r;
    return true;
}
static bool int_max(const int64_t *v, int n, int64_t *r)
{
    *r = v[0];
    for (int i = 1; i < n; i++) *r = v[i] > *r ? v[i] : *r;
    return true;
}
static bool int_abs(const int64_t *v, int n, int64_t *r)
{
    (void)n;
    return v[0] < 0 ? cute_sub64(0, v[0], r) : (*r = v[0], true);
}
static bool int_log2(const int64_t *v, int n, int64_t *r)
{
    (void)n;
    if (v[0] <= 0 || (v[0] & (v[0] - 1))) return false;
    *r = __builtin_ctzll((unsigned long long)v[0]);
    return true;
}

typedef struct int_function {
    const char *name;
    int least, most;
    bool (*call)(const int64_t *values, int count, int64_t *out);
    const char *failure;
} int_function;

static const int_function int_functions[] = {
    {"ceil_div", 2, 2, int_ceil_div, "ceil_div: division by zero"},
    {"round_up", 2, 2, int_round_up, "round_up: division by zero, or the result does not fit in 64 bits"},
    {"min", 1, MAX_ARGS, int_min, ""},
    {"max", 1, MAX_ARGS, int_max, ""},
    {"abs", 1, 1, int_abs, "abs: the result does not fit in 64 bits"},
    {"log2", 1, 1, int_log2, "log2: the operand is not a power of two"},
};

static cute_status eval_call(const evaluation *e, const cute_expr *x, int64_t *out)
{
    for (size_t i = 0; i < sizeof int_functions / sizeof *int_functions; i++) {
        const int_function *f = &int_functions[i];
        if (strcmp(f->name, x->name) != 0) continue;
        if (x->count < f->least || x->count > f->most)
            return cute_fail(e->diag, CUTE_INVALID, &x->place, "%s expects %s%d operand%s, got %d", f->name,
                             f->least == f->most ? "" : "at least ", f->least, f->least == 1 ? "" : "s",
                             x->count);
        int64_t values[MAX_ARGS];
        for (int k = 0; k < x->count; k++) CUTE_TRY(eval_expr(e, x->args[k], &values[k]));
        return f->call(values, x->count, out) ? CUTE_OK : fail_at_expr(e, x, f->failure);
    }
    cute_fail(e->diag, CUTE_INVALID, &x->place, "unknown function '%s'", x->name);
    cute_note(e->diag, NULL, "functions: ceil_div(a, b), round_up(a, b), min, max, abs, log2");
    return CUTE_INVALID;
}

static cute_status eval_operator(const evaluation *e, const cute_expr *x, int64_t *out)
{
    int64_t a, b;
    CUTE_TRY(eval_expr(e, x->args[0], &a));
    /* Lazily: `n ? m / n : 0` is valid for n = 0. */
    if (x->op == CUTE_EXPR_OP_SELECT) return eval_expr(e, x->args[a ? 1 : 2], out);
    if ((x->op == CUTE_EXPR_OP_AND && !a) || (x->op == CUTE_EXPR_OP_OR && a)) {
        *out = a != 0;
        return CUTE_OK;
    }
    bool fits = true;
    if (x->count == 1) {
        if (x->op == CUTE_EXPR_OP_NEGATE)
            fits = cute_sub64(0, a, out);
        else
            *out = !a;
        return fits ? CUTE_OK : fail_at_expr(e, x, "the result does not fit in 64 bits");
    }
    CUTE_TRY(eval_expr(e, x->args[1], &b));
    switch (x->op) {
    case CUTE_EXPR_OP_OR:
    case CUTE_EXPR_OP_AND: *out = b != 0; break;
    case CUTE_EXPR_OP_EQ: *out = a == b; break;
    case CUTE_EXPR_OP_NE: *out = a != b; break;
    case CUTE_EXPR_OP_LT: *out = a < b; break;
    case CUTE_EXPR_OP_LE: *out = a <= b; break;
    case CUTE_EXPR_OP_GT: *out = a > b; break;
    case CUTE_EXPR_OP_GE: *out = a >= b; break;
    case CUTE_EXPR_OP_ADD: fits = cute_add64(a, b, out); break;
    case CUTE_EXPR_OP_SUB: fits = cute_sub64(a, b, out); break;
    case CUTE_EXPR_OP_MUL: fits = cute_mul64(a, b, out); break;
    default:
        if (b == 0) return fail_at_expr(e, x, "division by zero");
        fits = x->op == CUTE_EXPR_OP_DIV ? cute_div64(a, b, out) : cute_rem64(a, b, out);
    }
    return fits ? CUTE_OK : fail_at_expr(e, x, "the result does not fit in 64 bits");
}

static cute_status eval_expr(const evaluation *e, const cute_expr *x, int64_t *out)
{
    switch (x->kind) {
    case CUTE_EXPR_INTEGER: *out = x->integer; return CUTE_OK;
    case CUTE_EXPR_REAL: return fail_at_expr(e, x, "expected an integer");
    case CUTE_EXPR_INDEX: return fail_at_expr(e, x, "an indexed name has no integer value here");
    case CUTE_EXPR_NAME:
        if (e->lookup && e->lookup(e->context, x->name, out)) return CUTE_OK;
        return cute_fail(e->diag, CUTE_INVALID, &x->place, "unknown name '%s'", x->name);
    case CUTE_EXPR_CALL: return eval_call(e, x, out);
    case CUTE_EXPR_OPERATOR: break;
    }
    return eval_operator(e, x, out);
}

cute_status cute_expr_int(const cute_expr *expr, cute_expr_lookup lookup, void *context, int64_t *out,
                          cute_diag *diag)
{
    evaluation e = {lookup, context, diag};
    return eval_expr(&e, expr, out);
}
