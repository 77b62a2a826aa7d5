/* Integers of a width (lib/base/numbers/integers.h), at the edges that LLVM's LangRef names. */
#include "lib/base/numbers/integers.h"
#include "tests/unit/test.h"

static const int64_t none = INT64_C(0x7eee);

static int64_t of(cute_integer_op op, int64_t a, int64_t b, int width)
{
    int64_t out;
    return cute_integer_compute(op, a, b, width, &out) ? out : none;
}

static void test_wraps(void)
{
    CHECK_INT(of(CUTE_INTEGER_ADD, 127, 1, 8), -128);
    CHECK_INT(of(CUTE_INTEGER_MUL, INT64_MAX, 2, 64), -2);
    CHECK_INT(of(CUTE_INTEGER_SUB, INT32_MIN, 1, 32), INT32_MAX);
    CHECK_INT(of(CUTE_INTEGER_ADD, 1, 1, 0), 2);
}

static void test_division(void)
{
    static const cute_integer_op all[] = {CUTE_INTEGER_DIV,     CUTE_INTEGER_DIVU,    CUTE_INTEGER_REM,
                                          CUTE_INTEGER_REMU,    CUTE_INTEGER_CEILDIV, CUTE_INTEGER_CEILDIVU,
                                          CUTE_INTEGER_FLOORDIV};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) CHECK_INT(of(all[i], 5, 256, 8), none);
    CHECK_INT(of(CUTE_INTEGER_DIV, -128, -1, 8), none);
    CHECK_INT(of(CUTE_INTEGER_REM, INT32_MIN, -1, 32), none);
    CHECK_INT(of(CUTE_INTEGER_FLOORDIV, INT64_MIN, -1, 64), none);
    CHECK_INT(of(CUTE_INTEGER_DIV, -128, -1, 16), 128);
    CHECK_INT(of(CUTE_INTEGER_DIV, -7, 2, 32), -3);
    CHECK_INT(of(CUTE_INTEGER_FLOORDIV, -7, 2, 32), -4);
    CHECK_INT(of(CUTE_INTEGER_CEILDIV, -7, 2, 32), -3);
    CHECK_INT(of(CUTE_INTEGER_CEILDIV, -7, -2, 32), 4);
    CHECK_INT(of(CUTE_INTEGER_REM, -7, 2, 32), -1);
}

static void test_unsigned(void)
{
    CHECK_INT(of(CUTE_INTEGER_DIVU, 8, -2, 8), 0);
    CHECK_INT(of(CUTE_INTEGER_DIVU, -2, 2, 8), 127);
    CHECK_INT(of(CUTE_INTEGER_DIVU, -2, 1, 8), -2);
    CHECK_INT(of(CUTE_INTEGER_REMU, -1, 16, 32), 15);
    CHECK_INT(of(CUTE_INTEGER_CEILDIVU, -1, 2, 8), -128);
    CHECK_INT(of(CUTE_INTEGER_MINU, -1, 1, 32), 1);
    CHECK_INT(of(CUTE_INTEGER_MAXU, -1, 1, 32), -1);
}

static void test_shifts(void)
{
    CHECK_INT(of(CUTE_INTEGER_SHL, 1, 31, 32), INT32_MIN);
    CHECK_INT(of(CUTE_INTEGER_SHL, 1, 32, 32), none);
    CHECK_INT(of(CUTE_INTEGER_SHR, -8, 8, 8), none);
    CHECK_INT(of(CUTE_INTEGER_SHRU, -8, -1, 8), none);
    CHECK_INT(of(CUTE_INTEGER_SHRU, -8, 1, 8), 124);
    CHECK_INT(of(CUTE_INTEGER_SHR, -8, 1, 8), -4);
}

static void test_one_bit(void)
{
    bool holds;
    CHECK_INT(of(CUTE_INTEGER_MIN, 0, 1, 1), -1);
    CHECK_INT(of(CUTE_INTEGER_MINU, 0, 1, 1), 0);
    CHECK_INT(of(CUTE_INTEGER_DIV, 1, 1, 1), none);
    CHECK_INT(cute_integer_plain(-1, 1), 1);
    CHECK(cute_integer_compare(2, 1, 0, 1, &holds) && holds);  /* slt: true is -1 */
    CHECK(cute_integer_compare(8, -1, 0, 1, &holds) && holds); /* ugt */
}

static void test_comparisons(void)
{
    bool holds;
    CHECK(cute_integer_compare(2, -1, 1, 32, &holds) && holds);
    CHECK(cute_integer_compare(6, -1, 1, 32, &holds) && !holds);
    CHECK(cute_integer_compare(0, 256, 0, 8, &holds) && holds);
    CHECK(!cute_integer_compare(10, 1, 1, 32, &holds) && !cute_integer_compare(-1, 1, 1, 32, &holds));
    CHECK_TEXT(cute_predicates[6], "ltu");
}

int main(void)
{
    TEST("results wrap at the width", test_wraps);
    TEST("division by zero and of the least number by -1 gives nothing", test_division);
    TEST("operands without a sign are those of the width", test_unsigned);
    TEST("shifts by the width or more give nothing", test_shifts);
    TEST("true is -1 with a sign and 1 without", test_one_bit);
    TEST("comparisons are those of the width", test_comparisons);
    return test_finish();
}
