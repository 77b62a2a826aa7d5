/* Scalar operations: folding, width and divisor of results, and emission. The only file that calls a
 * cute_arith. */
#include "lib/base/numbers/checked.h"
#include "lib/layout/algebra.h"

static const char *const op_names[] = {
    [CUTE_ADD] = "+",   [CUTE_SUB] = "-",   [CUTE_MUL] = "*",
    [CUTE_DIV] = "/",   [CUTE_REM] = "%",   [CUTE_CEIL_DIV] = "ceil_div",
    [CUTE_MIN] = "min", [CUTE_MAX] = "max", [CUTE_AND] = "&",
    [CUTE_OR] = "|",    [CUTE_XOR] = "^",   [CUTE_SHL] = "<<",
    [CUTE_SHR] = ">>",  [CUTE_ABS] = "abs", [CUTE_EQ] = "==",
    [CUTE_NE] = "!=",   [CUTE_LT] = "<",    [CUTE_GT] = ">",
};

static bool fold_known(cute_arith_op op, int64_t a, int64_t b, int64_t *out)
{
    switch (op) {
    case CUTE_ADD: return cute_add64(a, b, out);
    case CUTE_SUB: return cute_sub64(a, b, out);
    case CUTE_MUL: return cute_mul64(a, b, out);
    case CUTE_DIV: return cute_div64(a, b, out);
    case CUTE_REM: return cute_rem64(a, b, out);
    case CUTE_CEIL_DIV: return cute_ceil_div64(a, b, out);
    case CUTE_MIN: return *out = a < b ? a : b, true;
    case CUTE_MAX: return *out = a > b ? a : b, true;
    case CUTE_AND: return *out = a & b, true;
    case CUTE_OR: return *out = a | b, true;
    case CUTE_XOR: return *out = a ^ b, true;
    case CUTE_SHL:
        if (b < 0 || b > 63) return false;
        *out = (int64_t)((uint64_t)a << b);
        return true;
    case CUTE_SHR:
        if (b < 0 || b > 63) return false;
        *out = (int64_t)((uint64_t)a >> b);
        return true;
    case CUTE_ABS: return a >= 0 ? (*out = a, true) : cute_sub64(0, a, out);
    case CUTE_EQ: return *out = a == b, true;
    case CUTE_NE: return *out = a != b, true;
    case CUTE_LT: return *out = a < b, true;
    case CUTE_GT: return *out = a > b, true;
    }
    return false;
}

static int width_of(const cute_int *x)
{
    if (!x->known) return x->width;
    return x->value == (int32_t)x->value ? 32 : 64;
}

static bool is_known_value(const cute_int *x, int64_t value)
{
    return x->known && x->value == value;
}

/* Neutral and absorbing operands, at most one of which is known. */
static bool simplify_identity(cute_arith_op op, const cute_int *a, const cute_int *b, cute_int *out)
{
    const cute_int zero = {.known = true};
    switch (op) {
    case CUTE_ADD:
        if (is_known_value(a, 0)) return *out = *b, true;
        if (is_known_value(b, 0)) return *out = *a, true;
        return false;
    case CUTE_SUB: return is_known_value(b, 0) ? (*out = *a, true) : false;
    case CUTE_MUL:
        if (is_known_value(a, 0) || is_known_value(b, 0)) return *out = zero, true;
        if (is_known_value(a, 1)) return *out = *b, true;
        if (is_known_value(b, 1)) return *out = *a, true;
        return false;
    case CUTE_DIV:
    case CUTE_CEIL_DIV:
        if (is_known_value(a, 0)) return *out = zero, true;
        if (is_known_value(b, 1)) return *out = *a, true;
        return false;
    case CUTE_REM:
        if (is_known_value(a, 0) || is_known_value(b, 1) || is_known_value(b, -1)) return *out = zero, true;
        if (!a->known && a->divisor && b->known && b->value && a->divisor % b->value == 0)
            return *out = zero, true;
        return false;
    case CUTE_AND: return is_known_value(a, 0) || is_known_value(b, 0) ? (*out = zero, true) : false;
    case CUTE_OR:
    case CUTE_XOR:
        if (is_known_value(a, 0)) return *out = *b, true;
        if (is_known_value(b, 0)) return *out = *a, true;
        return false;
    case CUTE_SHL:
    case CUTE_SHR: return is_known_value(b, 0) ? (*out = *a, true) : false;
    default: return false;
    }
}

/* A proven divisor of x; 0 for 0, which is divisible by everything. */
static uint64_t divisor_of(const cute_int *x)
{
    if (x->known) return alg_magnitude(x->value);
    return x->divisor ? (uint64_t)x->divisor : 1;
}

/* The largest power of two up to 2^62 that divides x; 2^62 for 0. */
static uint64_t low_bit(uint64_t x)
{
    uint64_t most = (uint64_t)1 << 62, low = x & (0 - x);
    return low == 0 || low > most ? most : low;
}

/* Unless `always`, only if an unknown operand states a divisor: results of plain unknowns stay plain. */
static int64_t result_divisor(bool always, cute_arith_op op, const cute_int *a, const cute_int *b)
{
    bool stated = always || (!a->known && a->divisor) || (!b->known && b->divisor);
    if (!stated) return 0;
    uint64_t x = divisor_of(a), y = divisor_of(b), r = 1;
    switch (op) {
    case CUTE_ADD:
    case CUTE_SUB:
    case CUTE_REM:
    case CUTE_MIN:
    case CUTE_MAX: r = cute_gcd(x, y); break;
    case CUTE_MUL:
        if (__builtin_mul_overflow(x, y, &r)) r = x > y ? x : y;
        break;
    case CUTE_DIV:
    case CUTE_CEIL_DIV:
        if (b->known && y && x % y == 0) r = x / y;
        break;
    case CUTE_ABS: r = x; break;
    case CUTE_AND: r = low_bit(x) > low_bit(y) ? low_bit(x) : low_bit(y); break;
    case CUTE_OR:
    case CUTE_XOR: r = low_bit(x) < low_bit(y) ? low_bit(x) : low_bit(y); break;
    case CUTE_SHL:
        r = low_bit(x) < (uint64_t)1 << 31 && b->value < 32 ? low_bit(x) << b->value : low_bit(x);
        break;
    case CUTE_SHR: r = low_bit(x) >> b->value; break;
    default: break;
    }
    return r > 1 && r <= INT64_MAX ? (int64_t)r : 0;
}

static bool is_comparison(cute_arith_op op)
{
    return op >= CUTE_EQ;
}

/* True if the known number cannot be represented in the unknown's width, so they are never equal. */
static bool out_of_range(const cute_int *known, const cute_int *unknown)
{
    if (unknown->width >= 64) return false;
    int64_t limit = (int64_t)1 << (unknown->width - 1);
    return known->value >= limit || known->value < -limit;
}

static cute_status apply_scalar(cute_algebra *algebra, cute_arith_op op, cute_int a, cute_int b,
                                cute_int *out)
{
    bool unary = op == CUTE_ABS;
    if (unary) b = (cute_int){.known = true};
    if (a.known && b.known) {
        int64_t value;
        if (!fold_known(op, a.value, b.value, &value)) {
            if ((op == CUTE_DIV || op == CUTE_REM || op == CUTE_CEIL_DIV) && b.value == 0)
                alg_fail(algebra, "division by zero in %lld %s 0", (long long)a.value, op_names[op]);
            else
                alg_fail(algebra, "%lld %s %lld does not fit in 64 bits", (long long)a.value, op_names[op],
                         (long long)b.value);
            return algebra->status;
        }
        *out = (cute_int){.known = true, .value = value};
        return CUTE_OK;
    }
    if ((op == CUTE_DIV || op == CUTE_REM || op == CUTE_CEIL_DIV) && is_known_value(&b, 0)) {
        alg_fail(algebra, "division by zero in ? %s 0", op_names[op]);
        return algebra->status;
    }
    if (!unary && simplify_identity(op, &a, &b, out)) return CUTE_OK;
    if ((op == CUTE_EQ || op == CUTE_NE) &&
        ((a.known && out_of_range(&a, &b)) || (b.known && out_of_range(&b, &a)))) {
        *out = (cute_int){.known = true, .value = op == CUTE_NE};
        return CUTE_OK;
    }
    int width = width_of(&a) > width_of(&b) ? width_of(&a) : width_of(&b);
    if (unary) width = a.width;
    if (width < algebra->least && !is_comparison(op)) width = algebra->least;
    if (op == CUTE_SHL || op == CUTE_SHR) {
        width = a.width;
        if (!b.known || b.value < 0 || b.value >= width) {
            alg_fail(algebra, "expects a shift by less than %d bits", width);
            return algebra->status;
        }
    }
    /* Commutative operations have the constant second. */
    bool commutes = op == CUTE_MUL || op == CUTE_MIN || op == CUTE_MAX || op == CUTE_AND || op == CUTE_OR ||
                    op == CUTE_XOR || op == CUTE_EQ || op == CUTE_NE;
    if (commutes && a.known) {
        cute_int swap = a;
        a = b;
        b = swap;
    }
    *out = (cute_int){.width = is_comparison(op) ? 1 : width,
                      .divisor = result_divisor(algebra->dsl, op, &a, &b)};
    const cute_arith *arith = algebra->arith;
    if (!arith) return CUTE_OK;
    return arith->emit(arith->context, op, &a, unary ? NULL : &b, width, &out->handle, algebra->diag);
}

cute_status cute_int_apply(const cute_arith *arith, cute_arith_op op, cute_int a, cute_int b, cute_int *out,
                           cute_diag *diag)
{
    cute_algebra algebra = {.arith = arith, .diag = diag};
    return apply_scalar(&algebra, op, a, b, out);
}

/* ---- on trees ---- */

cute_node alg_op(cute_algebra *a, cute_arith_op op, cute_node x, cute_node y)
{
    if (!x || !y) return NULL;
    if (!alg_is_int(x) || !alg_is_int(y))
        return alg_fail(a, "expects integers for %s, but got %s and %s", op_names[op], alg_text(a, x),
                        alg_text(a, y));
    cute_int result;
    cute_status status = apply_scalar(a, op, x->value, y->value, &result);
    if (status != CUTE_OK) {
        if (a->status == CUTE_OK) a->status = status;
        return NULL;
    }
    return alg_scalar(a, result);
}

cute_node alg_mul(cute_algebra *a, cute_node x, cute_node y)
{
    if (!x || !y) return NULL;
    if (x->kind == CUTE_TREE_BASIS && alg_is_int(y)) {
        cute_node swap = x;
        x = y;
        y = swap;
    }
    if (y->kind != CUTE_TREE_BASIS) return alg_op(a, CUTE_MUL, x, y);
    cute_node scale = alg_op(a, CUTE_MUL, x, alg_scalar(a, y->value));
    return scale ? alg_basis(a, scale->value, y->path, y->count) : NULL;
}

cute_node alg_if(cute_algebra *a, cute_node condition, alg_part then_part, alg_part else_part, void *context)
{
    if (!condition) return NULL;
    if (condition->value.known) return condition->value.value ? then_part(a, context) : else_part(a, context);
    const cute_arith *arith = a->arith;
    if (arith) {
        cute_status status = arith->if_begin(arith->context, &condition->value, a->diag);
        if (status != CUTE_OK) return a->status = status, NULL;
    }
    cute_node yes = then_part(a, context), no = NULL;
    if (yes && arith) {
        cute_status status = arith->if_otherwise(arith->context, a->diag);
        if (status != CUTE_OK) a->status = status, yes = NULL;
    }
    if (yes) no = else_part(a, context);
    if (yes && no && (!alg_is_int(yes) || !alg_is_int(no)))
        no = alg_fail(a, "expects integers on both sides of a condition, but got %s and %s", alg_text(a, yes),
                      alg_text(a, no));
    if (!yes || !no) {
        if (arith) arith->if_abandon(arith->context);
        return NULL;
    }
    int width = width_of(&yes->value) > width_of(&no->value) ? width_of(&yes->value) : width_of(&no->value);
    cute_int result = {.width = width, .divisor = result_divisor(a->dsl, CUTE_MIN, &yes->value, &no->value)};
    if (arith) {
        cute_status status =
            arith->if_end(arith->context, &yes->value, &no->value, width, &result.handle, a->diag);
        if (status != CUTE_OK) return a->status = status, NULL;
    }
    return alg_scalar(a, result);
}
