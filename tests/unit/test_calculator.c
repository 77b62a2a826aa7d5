/* The calculator: what may be written, what names mean, that each value's text is an expression for it.
 * Expected values are pycute's test suite, CuTe's documentation, or by hand. */
#include "lib/calculator/calculator.h"
#include "tests/unit/test.h"

static cute_calculator *calculator;
static cute_arena *arena;
static cute_diag *diag;

static void begin(void)
{
    calculator = cute_calculator_create();
    arena = cute_arena_create();
    diag = cute_diag_create();
}

static void end(void)
{
    cute_calculator_destroy(calculator);
    cute_arena_destroy(arena);
    cute_diag_destroy(diag);
}

/* The answer's line without its newline; "" for none. */
static const char *answer(const char *text)
{
    cute_calculator_line line = {"test", 1, text, strlen(text)};
    cute_answer got;
    cute_buffer out = {0};
    cute_diag_clear(diag);
    cute_calculator_eval(calculator, arena, &line, &got, diag);
    cute_answer_print(arena, &got, &out);
    char *copy = cute_arena_copy(arena, cute_buffer_text(&out), out.length ? out.length - 1 : 0);
    cute_buffer_release(&out);
    return copy;
}

typedef struct example {
    const char *expression, *answer;
} example;

static void check_examples(const example *examples, size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) CHECK_TEXT(answer(examples[i].expression), examples[i].answer);
    end();
}
#define CHECK_EXAMPLES(table) check_examples(table, sizeof(table) / sizeof *(table))

/* test/python/pycute/test_int_tuple.py and include/cute's comments */
static void test_pycute(void)
{
    static const example examples[] = {
        {"product(2)", "2"},
        {"product((3,2))", "6"},
        {"product(product(((2,3),4)))", "24"},
        {"inner_product(2, 3)", "6"},
        {"inner_product((1,2), (3,2))", "7"},
        {"inner_product(((2,3),4), ((2,1),2))", "15"},
        {"shape_div((3,4), 6)", "(1,2)"},
        {"shape_div((3,4), 12)", "(1,1)"},
        {"shape_div((3,4), 36)", "(1,1)"},
        {"shape_div(((3,4),6), 36)", "((1,1),2)"},
        {"shape_div((6,(3,4)), 36)", "(1,(1,2))"},
        {"prefix_product(2)", "1"},
        {"prefix_product((3,2))", "(1,3)"},
        {"prefix_product((3,2,4))", "(1,3,6)"},
        {"prefix_product(((2,3),4))", "((1,2),6)"},
        {"prefix_product(((2,3),(2,1,2),(5,2,1)))", "((1,2),(6,12,12),(24,120,240))"},
    };
    CHECK_EXAMPLES(examples);
}

/* test/unit/cute/core/nullspace.cpp has shapes and strides; the answers are by hand: the modes of stride 0
 * with their strides in the compact layout of the shape. */
static void test_nullspace(void)
{
    static const example examples[] = {
        {"nullspace(7:1)", "1:0"},
        {"nullspace(7:0)", "7:1"},
        {"nullspace((3,7):(0,0))", "(3,7):(1,3)"},
        {"nullspace((2,7,3):(0,7,1))", "2:1"},
        {"nullspace((2,5,7):(1,0,2))", "5:2"},
        {"nullspace(((2,3),5,(7,2)):((0,1),3,(0,0)))", "(2,7,2):(1,30,210)"},
    };
    CHECK_EXAMPLES(examples);
}

/* (1,2) of (3,4) is index 1 + 2*3 = 7; in (6,2) that is (1,1), in ((2,3),2) mode 0 is 1 = (1,0). */
static void test_crd2crd(void)
{
    static const example examples[] = {
        {"crd2crd(7, (6,2), (3,4))", "(1,1)"},
        {"crd2crd((1,2), 12, (3,4))", "7"},
        {"crd2crd((1,1), ((2,3),2), (6,2))", "((1,0),1)"},
        {"crd2crd(((1,2),1), (6,2), ((2,3),2))", "(5,1)"},
        {"crd2crd(7, (6,2))", "(1,1)"},
        {"crd2crd((4,1), ((2,3),2))", "((0,2),1)"},
    };
    CHECK_EXAMPLES(examples);
}

/* cutegen/test/cg_layout_test.cpp; a row-major (4,8) has 19 = 2*8 + 3 at (2,3). */
static void test_idx2crd(void)
{
    static const example examples[] = {
        {"idx2crd(21, (8,4), (1,8))", "(5,2)"},
        {"idx2crd(21, (8,4))", "(5,2)"},
        {"idx2crd((4,5), (?,(8,?)))", "(4,(5,0))"},
        {"crd2idx(idx2crd(117, ((2,3),4,5), ((60,20),1,4)), ((2,3),4,5):((60,20),1,4))", "117"},
        {"layout_eval(17, (8,(2,2)):(2,(1,16)))", "18"},
        {"layout_eval((1,2), (8,(2,2)):(2,(1,16)))", "18"},
        {"layout_eval(37, ((2,(2,2)),(2,(2,2))):((1,(4,16)),(2,(8,32))))", "49"},
        {"layout_eval(12, (4,3):(3,1))", "3"},
        {"layout_eval((5,5), (4,3):(3,1))", "20"},
        {"layout_eval(12, (4,3,2):(3,1,0))", "0"},
        {"idx2crd(19, (4,8):(8,1))", "(2,3)"},
        {"idx2crd(11, (4,3,2):(3,1,0))", "(3,2,0)"},
        {"idx2crd(3, 4:2)",
         "error: idx2crd: unable to compute the coordinate of index '!cute.int_tuple<\"3\">' of "
         "'!cute.layout<\"4:2\">': dividing by the strides gives 1, whose index is 2"},
    };
    CHECK_EXAMPLES(examples);
}

/* A swizzle's base bits stay contiguous, as far as the offset is aligned. */
static void test_common(void)
{
    static const example examples[] = {
        {"max_common_vector(64:1, 64:1)", "64"},
        {"max_common_vector((8,8):(8,1), (8,8):(1,8))", "1"},
        {"max_common_vector((8,8):(8,1), (8,8):(8,1))", "64"},
        {"max_common_layout((8,8):(8,1), (8,8):(8,1))", "(8,8):(8,1)"},
        {"max_common_vector((4,8):(1,8), (4,8):(1,4))", "4"},
        {"max_common_vector(S<2,3,3> o 0 o 64:1, 64:1)", "8"},
        {"max_common_layout(64:1, S<2,3,3> o 0 o 64:1)", "8:1"},
        {"max_common_vector(S<2,3,3> o 0 o 64:1, S<2,3,3> o 0 o 64:1)", "64"},
        {"max_common_vector(S<2,3,3> o 4 o 64:1, 64:1)", "4"},
        {"filter((4,(2,3)):(0,(1,2)), (1,1))", "(1,6):(0,1)"},
    };
    CHECK_EXAMPLES(examples);
}

static void test_syntax(void)
{
    static const example examples[] = {
        {"", ""},
        {"  # comment", ""},
        {" 8 : 1 ", "8:1"},
        {"( 4 , 8 ) : ( 8 , 1 )", "(4,8):(8,1)"},
        {"(4,8,):(8,1,)", "(4,8):(8,1)"},
        {"()", "()"},
        {"(4)", "(4)"},
        {"((4))", "((4))"},
        {"(4:1)", "4:1"},
        {"((S<1,0,1>))", "S<1,0,1>"},
        {"-3", "-3"},
        {"_", "_"},
        {"(_,(_4,_))", "(_,(4,_))"},
        {"?{ div=8 i64 }", "?{i64 div=8}"},
        {"1@0", "1@0"},
        {"2 @ 1 @ 0", "2@1@0"},
        {"_1@0", "1@0"},
        {"[4;(2,2);_;[3:1;_]]", "[4:1;(2,2):(1,2);_;[3:1;_]]"},
        {"S< 3 , 4 , 3 >", "S<3,4,3>"},
        {"Sw<3,4,3> o 0 o 8:1", "S<3,4,3> o 0 o 8:1"},
        {"(4,5):(1,4) o (2,1) o (2,3):(1@1,1@0)", "(4,5):(1,4) o (2,1) o (2,3):(1@1,1@0)"},
        {"size ( 8:1 )", "8"},
        {"group_modes < 0 , 2 > ((2,3):(1,2))", "((2,3)):((1,2))"},
    };
    CHECK_EXAMPLES(examples);
}

static void test_errors(void)
{
    static const struct {
        const char *expression;
        int column, length;
        const char *says;
    } cases[] = {
        {"(4,8", 5, 1, "expected ',' or ')', but the expression ends"},
        {"4:1 8", 5, 1, "expected the end of the expression, got '8'"},
        {"(4,8):(8,x)", 10, 1, "unknown name 'x'; 'let NAME = ...' names a value"},
        {"complement(6:1, (1,_))", 17, 5,
         "complement: argument 2 must be a shape or layout, not the coordinate (1,_)"},
        {"8:(1,2)", 3, 5, "stride (1,2) is not congruent to shape 8"},
        {"(1@0):(1)", 1, 5, "expected a shape of numbers and '?', got the stride (1@0)"},
        {"8:[1]", 3, 3, "expected a stride of numbers, '?' and '@', got the tile [1:0]"},
        {"size", 1, 4, "unknown name 'size'; 'let NAME = ...' names a value"},
        {"sizes(8)", 1, 5, "unknown function 'sizes'; did you mean 'size'?"},
        {"shape_div(6, 4)", 1, 15,
         "shape_div: expects valid operands, but cannot compute shape_div for '!cute.shape<\"6\">' and "
         "'!cute.shape<\"4\">': 6 is not divisible by 4 (neither 6 % 4 == 0 nor 4 % 6 == 0)"},
        {"size(8:1, 1, 2)", 1, 15, "size: expects mode index in [0, 1) at depth 0, but got 1"},
        {"S<3,4", 6, 1, "expected '>', but the expression ends"},
        {"?{i7}", 3, 3,
         "failed to parse a value from \"?{i7}\": expected i1, i8, i16, i32, i64, div=N or '}' after '?{'"},
        {"\x01", 1, 1, NULL},
        {"8:1 o 2 o", 10, 1, "expected a value, but the expression ends"},
        {"let a 8", 7, 1, "expected '=' after the name"},
        {"let = 8", 5, 1, "expected a name after 'let': letters, digits and '_', starting with a letter"},
    };
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *got = answer(cases[i].expression);
        const cute_message *message = cute_diag_get(diag, 0);
        CHECK(!strncmp(got, "error: ", 7));
        CHECK_INT(cute_diag_count(diag), 1);
        if (!message) continue;
        CHECK_INT(message->place.column, cases[i].column);
        CHECK_INT(message->place.length, cases[i].length);
        if (cases[i].says) CHECK_TEXT(message->text, cases[i].says);
    }
    end();
}

static void test_names(void)
{
    begin();
    CHECK_TEXT(answer("let a = (4,8):(8,1)"), "");
    CHECK_TEXT(answer("let long_name_2 = composition(a, 8:2)"), "");
    CHECK_TEXT(answer("let a = size(a)"), "");
    CHECK_TEXT(answer("a"), "32");
    CHECK_TEXT(answer("let a = oops("), "error: expected a value, but the expression ends");
    CHECK_TEXT(answer("(a,long_name_2)"),
               "error: a tuple contains numbers, not a layout; [A;B] is a tile, make_layout(A, B) "
               "one layout of both");
    CHECK_TEXT(answer("make_layout(a:1, long_name_2)"), "(32,(2,4)):(1,(16,1))");
    CHECK_TEXT(answer("let lets = 1"), "");
    CHECK_TEXT(answer("lets"), "1");
    end();
}

static void test_deep(void)
{
    char text[600];
    begin();
    for (int depth = 60; depth < 140; depth++) { /* 64 is the limit of a tuple, 128 of expressions */
        memset(text, '(', (size_t)depth);
        text[depth] = '1';
        memset(text + depth + 1, ')', (size_t)depth);
        text[2 * depth + 1] = 0;
        const char *got = answer(text);
        if (depth <= CUTE_MAX_DEPTH)
            CHECK_TEXT(got, text);
        else
            CHECK(!strncmp(got, "error: nested deeper than", 25));
    }
    end();
}

static void test_json(void)
{
    static const struct {
        const char *expression, *json;
    } cases[] = {
        {" 8:2 # c", "{\"input\": \"8:2\", \"result\": \"8:2\", \"error\": null, \"size\": 8, \"cosize\": "
                     "15, \"injective\": "
                     "true, \"contiguous\": false}\n"},
        {"\"", "{\"input\": \"\\\"\", \"result\": null, \"error\": \"expected a value, got '\\\"'\", "
               "\"size\": null, "
               "\"cosize\": null, \"injective\": null, \"contiguous\": null}\n"},
        {"let a = 1", ""},
        {"", ""},
    };
    begin();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cute_calculator_line line = {"test", 1, cases[i].expression, strlen(cases[i].expression)};
        cute_answer got;
        cute_buffer out = {0};
        cute_calculator_eval(calculator, arena, &line, &got, NULL);
        cute_answer_json(arena, &got, &out);
        CHECK_TEXT(cute_buffer_text(&out), cases[i].json);
        cute_buffer_release(&out);
    }
    end();
}

/* The dialect's operations that make or take apart types are functions; so is each operation of the algebra.
 */
static void test_functions(void)
{
    for (int i = 0; i < CUTE_OPERATIONS; i++) {
        const char *name = cute_operation_name((cute_operation)i);
        /* crd2idx of a swizzle, idx2crd of a layout */
        bool found = !strcmp(name, "swizzle_eval") || !strcmp(name, "layout_idx2crd");
        for (size_t j = 0; cute_calculator_function(j); j++)
            found = found || !strcmp(cute_calculator_function(j), name);
        if (!CHECK(found)) printf("# %s\n", name);
    }
}

int main(void)
{
    TEST("pycute's tests of tuples hold", test_pycute);
    TEST("a nullspace has the modes of stride 0", test_nullspace);
    TEST("crd2crd keeps the index", test_crd2crd);
    TEST("idx2crd goes the way back of shapes and compact layouts", test_idx2crd);
    TEST("what two layouts have in common ends where a swizzle begins", test_common);
    TEST("spaces, commas, grouping and CuTe's spellings are read", test_syntax);
    TEST("each error points at what is wrong and says so once", test_errors);
    TEST("names keep their values until they are named again", test_names);
    TEST("nesting has a limit and no crash", test_deep);
    TEST("JSON has the seven keys in order and nothing for definitions", test_json);
    TEST("every operation of the algebra is a function", test_functions);
    return test_finish();
}
