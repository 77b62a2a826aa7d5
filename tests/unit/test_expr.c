/* lib/base/numbers/expr.c: expected values are C's own arithmetic or stand beside the expression. */
#include "lib/base/numbers/expr.h"
#include "tests/unit/test.h"

static bool lookup(void *context, const char *name, int64_t *value)
{
    (void)context;
    if (strcmp(name, "M") == 0)
        *value = 1000;
    else if (strcmp(name, "BM") == 0)
        *value = 128;
    else if (strcmp(name, "zero") == 0)
        *value = 0;
    else
        return false;
    return true;
}

/* The status; *out the value, `message` and `column` of the first error. */
static cute_status evaluate(const char *text, int64_t *out, char *message, int *column)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    cute_expr *expr;
    cute_status status = cute_expr_parse(arena, text, strlen(text), NULL, &expr, diag);
    if (status == CUTE_OK) status = cute_expr_int(expr, lookup, NULL, out, diag);
    if (status != CUTE_OK && cute_diag_count(diag) > 0) {
        snprintf(message, 200, "%s", cute_diag_get(diag, 0)->text);
        *column = cute_diag_get(diag, 0)->place.column;
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return status;
}

static void expect(const char *text, int64_t value)
{
    int64_t got = 0;
    char message[200] = "";
    int column = 0;
    if (!CHECK(evaluate(text, &got, message, &column) == CUTE_OK)) printf("# %s: %s\n", text, message);
    if (!CHECK(got == value)) printf("# %s is %lld, not %lld\n", text, (long long)got, (long long)value);
}

static void refuse(const char *text, int column, const char *what)
{
    int64_t got;
    char message[200] = "";
    int found = 0;
    if (!CHECK(evaluate(text, &got, message, &found) == CUTE_INVALID)) printf("# %s was taken\n", text);
    if (!CHECK(strstr(message, what) != NULL)) printf("# %s: %s\n", text, message);
    if (!CHECK(found == column)) printf("# %s: column %d, not %d\n", text, found, column);
}

static void test_arithmetic(void)
{
    expect("1 + 2 * 3", 7);
    expect("(1 + 2) * 3", 9);
    expect("10 - 4 - 3", 3);
    expect("-7 / 2", -3);
    expect("-7 % 3", -1);
    expect("0x1F", 31);
    expect("- - 4", 4);
    expect("!3 + !0", 1);
    expect("9223372036854775807", INT64_MAX);
}

static void test_logic(void)
{
    expect("1 < 2 == 1", 1);
    expect("1 || 0 && 0", 1);
    expect("M > 500 ? BM : 64", 128);
    expect("0 ? 1 : 0 ? 2 : 3", 3);
    expect("3 != 3 || 4 >= 4", 1);
}

static void test_lazy(void)
{
    expect("zero ? M / zero : 5", 5);
    expect("zero && M / zero", 0);
    expect("1 || M / zero", 1);
}

static void test_functions(void)
{
    expect("ceil_div(M, BM)", 8);  /* 1000 / 128 = 7.8125 */
    expect("ceil_div(-7, 2)", -3); /* -3.5 */
    expect("round_up(M, BM)", 1024);
    expect("min(3, 1, 2) + max(3, 9)", 10);
    expect("abs(-5)", 5);
    expect("log2(4096)", 12);
}

static void test_errors(void)
{
    refuse("1 + ", 5, "expected a number, a name or '('");
    refuse("ceil_div(M", 11, "expected ',' or ')'");
    refuse("1 2", 3, "expected an operator");
    refuse("M / zero", 3, "division by zero");
    refuse("2 * N", 5, "unknown name 'N'");
    refuse("floor(1)", 1, "unknown function 'floor'");
    refuse("ceil_div(1)", 1, "expects 2 operands, got 1");
    refuse("log2(12)", 1, "not a power of two");
    refuse("1.5 + 1", 1, "expected an integer");
    refuse("9223372036854775807 + 1", 21, "does not fit in 64 bits");
    refuse("9223372036854775808", 1, "does not fit in 64 bits");
    refuse("0x", 1, "is not a number");
    refuse("12ab", 1, "is not a number");
    refuse("3 $ 4", 3, "got '$'");
    refuse("", 1, "got the end of the expression");
    refuse("A[1]", 1, "indexed");
}

static void test_depth(void)
{
    static char deep[200000];
    memset(deep, '(', sizeof deep - 1);
    refuse(deep, 401, "too deep");
    memset(deep, '-', sizeof deep - 1);
    refuse(deep, 401, "too deep");
    for (size_t i = 0; i + 2 < sizeof deep; i += 2) memcpy(deep + i, "1+", 2);
    int64_t got;
    char message[200] = "";
    int column;
    CHECK(evaluate(deep, &got, message, &column) == CUTE_INVALID);
}

int main(void)
{
    TEST("arithmetic has C's precedence and truncation", test_arithmetic);
    TEST("comparisons and ?: are C's", test_logic);
    TEST("what is not needed is not evaluated", test_lazy);
    TEST("the functions of grids give the values worked out by hand", test_functions);
    TEST("an error names its token and its column", test_errors);
    TEST("an expression as deep as its text is refused", test_depth);
    return test_finish();
}
