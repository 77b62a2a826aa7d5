/* The text of the eight types: what is accepted, how it is printed, where an error points. */
#include "tests/unit/test_layout.h"

static void test_canonical(void)
{
    static const struct {
        cute_type type;
        const char *text;
    } values[] = {
        {CUTE_SHAPE, "128"},
        {CUTE_SHAPE, "?"},
        {CUTE_SHAPE, "(1)"},
        {CUTE_SHAPE, "(1,((2,3),(4,5)))"},
        {CUTE_SHAPE, "(0,-1,0)"},
        {CUTE_SHAPE, "()"},
        {CUTE_STRIDE, "(1@0,(1@0@1,1@1@1,1@2@1))"},
        {CUTE_STRIDE, "(0,?@0)"},
        {CUTE_STRIDE, "2@1@0"},
        {CUTE_COORD, "((_,?),3)"},
        {CUTE_INT_TUPLE, "(?,?{i64})"},
        {CUTE_INT_TUPLE, "?{div=8}"},
        {CUTE_INT_TUPLE, "?{i64 div=128}"},
        {CUTE_INT_TUPLE, "(-9223372036854775808,9223372036854775807)"},
        {CUTE_LAYOUT, "(2,(3,4),5):(12,(4,1),60)"},
        {CUTE_LAYOUT, "(?,1,?):(?,0,?)"},
        {CUTE_LAYOUT, "8:-1"},
        {CUTE_SWIZZLE, "S<3,5,4>"},
        {CUTE_SWIZZLE, "S<2,0,-3>"},
        {CUTE_COMPOSED_LAYOUT, "S<3,5,4> o 2 o (2,3):(1,2)"},
        {CUTE_COMPOSED_LAYOUT, "(4,5):(1,4) o (2,1) o (2,3):(1@1,2@0)"},
        {CUTE_TILE, "[?:1;[(?,?):(?,?);_]]"},
        {CUTE_TILE, "_"},
        {CUTE_TILE, "4:1"},
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_round_trip(values[i].type, values[i].text, values[i].text);
}

static void test_freedom(void)
{
    check_round_trip(CUTE_LAYOUT, "(4,2)", "(4,2):(1,4)");
    check_round_trip(CUTE_LAYOUT, " ( 4 , 2 ) : ( 1 , 4 ) ", "(4,2):(1,4)");
    check_round_trip(CUTE_LAYOUT, "8", "8:1");
    /* an extent of 1 has stride 0 in a compact layout */
    check_round_trip(CUTE_LAYOUT, "(4,1,2)", "(4,1,2):(1,0,4)");
    check_round_trip(CUTE_LAYOUT, "(?,2)", "(?,2):(1,?)");
    check_round_trip(CUTE_SHAPE, "(4,2,)", "(4,2)");
    check_round_trip(CUTE_INT_TUPLE, "?{ div=8 i64 }", "?{i64 div=8}");
    check_round_trip(CUTE_INT_TUPLE, "?{i32}", "?");
    check_round_trip(CUTE_TILE, "[4;(2,3)]", "[4:1;(2,3):(1,2)]");
    check_round_trip(CUTE_COMPOSED_LAYOUT, "S<3,4,3>o 0 o(8,8)", "S<3,4,3> o 0 o (8,8):(1,8)");
}

static void test_errors(void)
{
    check_error(CUTE_LAYOUT, "not_valid", 0, "failed to parse layout from \"not_valid\": expected a number");
    check_error(CUTE_LAYOUT, "", 0, "failed to parse layout from \"\"");
    check_error(CUTE_LAYOUT, "(2,3:(1,2)", 4, "expected ',' or ')'");
    check_error(CUTE_LAYOUT, "(2,3):(1)", 6,
                "shape and stride must be congruent, but shape (2,3) has 2 modes and stride (1) has 1 mode");
    check_error(CUTE_LAYOUT, "(2,(3,4)):(1,2)", 10,
                "in mode [1] shape (3,4) has 2 modes and stride 2 is a scalar");
    check_error(CUTE_LAYOUT, "((2,0),3):((1,2),4)", 0, "mode [0,1] has extent 0");
    check_error(CUTE_LAYOUT, "(2,3):(1,1@0)", 6, "either all-integer or all-scaled-basis");
    check_error(CUTE_LAYOUT, "(2,3):(1@1@0,1@0)", 6, "agree on mode-index depth");
    check_error(CUTE_STRIDE, "(1@1,1/2@0)", 5, "integer values, not ratios, but got \"(1@1,1/2@0)\"");
    check_error(CUTE_STRIDE, "?@", 2, "expected a mode number after '@'");
    check_error(CUTE_STRIDE, "1@256", 2, "from 0 to 255");
    check_error(CUTE_SHAPE, "(1,,2)", 3, "expected a number");
    check_error(CUTE_SHAPE, "1,2", 1, "unexpected text after the value");
    check_error(CUTE_INT_TUPLE, "(1,_)", 3, "'_' is only allowed in coordinates and tiles");
    check_error(CUTE_INT_TUPLE, "?{unknown}", 2, "expected i1, i8, i16, i32, i64, div=N or '}'");
    check_error(CUTE_INT_TUPLE, "?{div=0}", 6, "a divisor must be positive");
    check_error(CUTE_INT_TUPLE, "9223372036854775808", 0, "does not fit in 64 bits");
    check_error(CUTE_SWIZZLE, "S<1,0>", 5, "expected ',' and another number");
    check_error(CUTE_SWIZZLE, "S<3,4,2>", 0, "needs |shift| >= bits");
    check_error(CUTE_SWIZZLE, "S<5,29,5>", 0, "|shift| + bits + base <= 32");
    check_error(CUTE_TILE, "[(2,3):(1,2)", 12, "expected ';' or ']'");
    check_error(CUTE_COMPOSED_LAYOUT, "S<3,4,3> x 0", 9, "expected ' o '");
    check_error(CUTE_COMPOSED_LAYOUT, "(6,2):(1,3) o 2 o (2,3):(1@1,2@0)", 14,
                "addable, but got 2 and (0,0)");
    check_error(CUTE_COMPOSED_LAYOUT, "S<0,4,3> o 0 o (8,4):(1,8)", 0, "non-trivial composed layout");
}

static void test_depth(void)
{
    char text[2 * 65 + 2];
    cute_value value;
    begin();
    for (int depth = 64; depth <= 65; depth++) {
        memset(text, '(', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', (size_t)depth);
        cute_status status =
            cute_value_parse(arena, CUTE_SHAPE, text, 2 * (size_t)depth + 1, &value, NULL, diag);
        CHECK_INT(status, depth == 64 ? CUTE_OK : CUTE_INVALID);
    }
    CHECK(strstr(first_message(), "nested deeper than 64 levels"));
    end();
}

static void test_by_look(void)
{
    static const struct {
        const char *text;
        cute_type type;
    } values[] = {
        {"4", CUTE_INT_TUPLE},
        {"(4,(2,?))", CUTE_INT_TUPLE},
        {"(_,1)", CUTE_COORD},
        {"(1@0,2@1)", CUTE_STRIDE},
        {"4:1", CUTE_LAYOUT},
        {"S<3,4,3>", CUTE_SWIZZLE},
        {"[4;_]", CUTE_TILE},
        {"S<1,4,4> o 5 o 16:1", CUTE_COMPOSED_LAYOUT},
        {"4:1 o 1 o 2:1", CUTE_COMPOSED_LAYOUT},
    };
    begin();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        cute_value value;
        CHECK_INT(cute_value_parse_any(arena, values[i].text, strlen(values[i].text), &value, NULL, diag),
                  CUTE_OK);
        CHECK_TEXT(cute_type_name(value.type), cute_type_name(values[i].type));
    }
    end();
}

static void test_of_rank(void)
{
    cute_value value;
    begin();
    CHECK_INT(cute_value_of_rank(arena, CUTE_LAYOUT, 2, &value, diag), CUTE_OK);
    CHECK_TEXT(cute_value_text(arena, &value), "(?,?):(?,?)");
    CHECK_INT(cute_value_of_rank(arena, CUTE_SHAPE, 1, &value, diag), CUTE_OK);
    CHECK_TEXT(cute_value_text(arena, &value), "?");
    CHECK_INT(cute_value_of_rank(arena, CUTE_TILE, 2, &value, diag), CUTE_OK);
    CHECK_TEXT(cute_value_text(arena, &value), "[?:?;?:?]");
    CHECK_INT(cute_value_of_rank(arena, CUTE_COORD, 0, &value, diag), CUTE_INVALID);
    CHECK_INT(cute_value_of_rank(arena, CUTE_SWIZZLE, 2, &value, diag), CUTE_INVALID);
    end();
}

static void test_unknowns(void)
{
    cute_value value, filled;
    cute_int leaves[8];
    int marks[8];
    void *handles[8];
    begin();
    const char *text = "(?,4):(1,?{i64}) o ? o (?{i8},2):(?,1)";
    CHECK_INT(cute_value_parse(arena, CUTE_COMPOSED_LAYOUT, text, strlen(text), &value, NULL, diag), CUTE_OK);
    CHECK_INT(cute_value_unknowns(&value, leaves, 8), 5);
    /* B's shape and stride, the offset, A's shape and stride */
    static const int widths[] = {8, 32, 32, 32, 64};
    for (int i = 0; i < 5; i++) CHECK_INT(leaves[i].width, widths[i]);
    for (int i = 0; i < 5; i++) handles[i] = &marks[i];
    CHECK_INT(cute_value_with_handles(arena, &value, handles, 5, &filled, diag), CUTE_OK);
    CHECK_INT(cute_value_unknowns(&filled, leaves, 8), 5);
    for (int i = 0; i < 5; i++) CHECK(leaves[i].handle == &marks[i]);
    CHECK(cute_value_equal(&value, &filled));
    CHECK_INT(cute_value_with_handles(arena, &value, handles, 4, &filled, diag), CUTE_INVALID);
    CHECK_INT(cute_value_with_handles(arena, &value, handles, 6, &filled, diag), CUTE_INVALID);
    end();
}

static void test_leaves(void)
{
    cute_value value, *leaves;
    size_t count;
    begin();
    CHECK(parse_typed("tile [4:1;[_;(2,?):(1,2)]]", &value));
    CHECK_INT(cute_value_leaves(arena, &value, false, &leaves, &count, diag), CUTE_OK);
    CHECK_INT(count, 3);
    CHECK_TEXT(cute_value_text(arena, &leaves[1]), "_");
    CHECK_INT(cute_value_leaves(arena, &value, true, &leaves, &count, diag), CUTE_OK);
    CHECK_INT(count, 2);
    CHECK_TEXT(cute_value_text(arena, &leaves[1]), "(2,?):(1,2)");
    CHECK(parse_typed("tile [_;_]", &value));
    CHECK_INT(cute_value_leaves(arena, &value, true, &leaves, &count, diag), CUTE_INVALID);
    end();
}

int main(void)
{
    TEST("canonical text of each type is printed as it was read", test_canonical);
    TEST("spaces, shape-only layouts and order of annotations are free", test_freedom);
    TEST("an error says what is wrong and points at the byte", test_errors);
    TEST("nesting is limited to 64 levels", test_depth);
    TEST("a value's type is found out from its text", test_by_look);
    TEST("a rank alone means all unknown", test_of_rank);
    TEST("unknown leaves come depth-first and take handles", test_unknowns);
    TEST("leaves of a tile are layouts and underscores", test_leaves);
    return test_finish();
}
