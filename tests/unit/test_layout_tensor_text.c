/* The text of pointers, tensors, iterators, constrained integers and divisors. */
#include "tests/unit/test_layout.h"

static void test_canonical(void)
{
    static const struct {
        cute_type type;
        const char *text;
    } values[] = {
        {CUTE_PTR, "f32, gmem"},
        {CUTE_PTR, "f16, smem, align<16>, S<3,3,3>"},
        {CUTE_PTR, "bf16, rmem, align<32>"},
        {CUTE_PTR, "tf32, smem, S<3,4,3>"},
        {CUTE_PTR, "f8E4M3FN, generic, align<4>"},
        {CUTE_PTR, "i1, smem, align<8>"},
        {CUTE_PTR, "i4, gmem, align<128>"},
        {CUTE_PTR, "f32, tmem, align<1>"}, /* fewer bytes than an element has */
        {CUTE_PTR, "!cute_nvgpu.tma_descriptor_tiled, generic, align<128>"},
        {CUTE_PTR, "!cute.sparse_elem<2, (f16, i8)>, smem, align<16>"},
        {CUTE_PTR, "vector<2x4xbf16>, rmem"},
        {CUTE_PTR, "complex<f64>, gmem"},
        {CUTE_MEMREF, "f32, gmem, \"(?,?,?):(?{i64},1,?{i64})\""},
        {CUTE_MEMREF, "f16, gmem, align<16>, \"(?{div=8},?):(1,?{div=8})\""},
        {CUTE_MEMREF, "f16, smem, align<1024>, S<3,4,3>, \"((8,1),4):((1,0),64)\""},
        {CUTE_MEMREF, "f16, smem, align<16>, \"S<3,3,3> o ?{div=16} o (8,4):(1,64)\""},
        {CUTE_MEMREF, "i32, gmem, \"(4,2):(2,1) o (1,0) o (2,2):(1@0,1@1)\""},
        {CUTE_MEMREF, "i8, rmem, \"():()\""},
        {CUTE_ARITH_TUPLE_ITER, "\"(0,?)\""},
        {CUTE_ARITH_TUPLE_ITER, "\"(?,?,(?,?{div=8}))\""},
        {CUTE_COORD_TENSOR, "\"(0,0)\", \"(8,8):(1@0,1@1)\""},
        {CUTE_COORD_TENSOR, "\"(?,?{div=2})\", \"():()\""},
        {CUTE_COORD_TENSOR, "\"0\", \"(4,2):(1,4)\""},
        {CUTE_INTEGER, "divby 16"},
        {CUTE_INTEGER, "i64 divby 128"},
        {CUTE_DIVISOR, "32"},
        {CUTE_COMPOSED_LAYOUT, "(64,2):(1,64)"}, /* no swizzle */
    };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        check_round_trip(values[i].type, values[i].text, values[i].text);
}

static void test_freedom(void)
{
    check_round_trip(CUTE_PTR, "f16,smem,align<2>", "f16, smem");
    check_round_trip(CUTE_PTR, " f16 , smem , S<3,4,3> , align< 16 > ", "f16, smem, align<16>, S<3,4,3>");
    check_round_trip(CUTE_PTR, "f16, smem, S<0,4,3>", "f16, smem");
    check_round_trip(CUTE_PTR, "i4, gmem, align<1>", "i4, gmem");
    check_round_trip(CUTE_MEMREF, "f32, gmem, align<4>, \"(4,2)\"", "f32, gmem, \"(4,2):(1,4)\"");
    check_round_trip(CUTE_INTEGER, "i32 divby 4", "divby 4");
}

static void test_errors(void)
{
    check_error(CUTE_PTR, "", 0, "expected an element type such as f16, i8 or !dialect.type");
    check_error(CUTE_PTR, "f17, gmem", 0, "expected an element type");
    check_error(CUTE_PTR, "vector<4xnumber>, gmem", 0, "expected an element type");
    check_error(CUTE_PTR, "vector<99999999999999x9xf32>, gmem", 0, "expected an element type");
    check_error(CUTE_PTR, "f16", 3, "expected ',' and an address space");
    check_error(CUTE_PTR, "f16, shared", 5, "expected generic, gmem, smem, dsmem, rmem or tmem");
    check_error(CUTE_PTR, "f16, smem, align 16", 17, "expected '<' after 'align'");
    check_error(CUTE_PTR, "f16, smem, align<x>", 17, "expected a number of bytes after 'align<'");
    check_error(CUTE_PTR, "f16, smem, align<24>", 17, "an alignment must be a power of two");
    check_error(CUTE_PTR, "f16, smem, align<16", 19, "expected '>'");
    check_error(CUTE_PTR, "f16, smem, align<16>, align<16>", 22,
                "expected align<bytes> or S<bits,base,shift>");
    check_error(CUTE_PTR, "f16, smem, S<3,4,2>", 11, "|shift| >= bits");
    check_error(CUTE_MEMREF, "f16, smem", 9, "expected ',' and a layout in quotes");
    check_error(CUTE_MEMREF, "f16, smem, 4:1", 11, "expected align<bytes>, S<bits,base,shift> or a layout");
    check_error(CUTE_MEMREF, "f16, smem, \"4:1", 15, "expected '\"'");
    check_error(CUTE_MEMREF, "f16, smem, \"(4,0):(1,4)\"", 12, "mode [1] has extent 0");
    check_error(CUTE_MEMREF, "f16, smem, \"4:1@0\"", 14, "expects integer strides in memory, but got 4:1@0");
    check_error(CUTE_MEMREF, "f16, smem, \"S<0,4,3> o 0 o 4:1\"", 0, "non-trivial composed layout");
    check_error(CUTE_ARITH_TUPLE_ITER, "(0,0)", 0, "expected '\"'");
    check_error(CUTE_COORD_TENSOR, "\"(0,0)\"", 7, "expected ',' and a layout in quotes");
    check_error(CUTE_COORD_TENSOR, "\"0\", \"(8,8):(1@0,1@1)\"", 1, "expects an iterator");
    check_error(CUTE_COORD_TENSOR, "\"(0,0)\", \"4:1\"", 1,
                "expects an iterator of the structure of the layout's coordinates, but got (0,0) and 4:1");
    check_error(CUTE_INTEGER, "16", 0, "expected 'divby' and a number");
    check_error(CUTE_INTEGER, "divby x", 6, "expected a number after 'divby'");
    check_error(CUTE_INTEGER, "divby 0", 6, "a divisor must be positive");
    check_error(CUTE_DIVISOR, "x", 0, "expected 32 or 64 bits");
    check_error(CUTE_ATOM, "universal_copy<f16>", 0, "this type has no textual form");
    check_error(CUTE_COMPOSED_LAYOUT, "S<0,0,0> o 0 o 4:1", 0,
                "for trivial wraps, but got \"S<0,0,0> o 0 o 4:1\"");
    check_error(CUTE_DIVISOR, "16", 0, "expected 32 or 64 bits");
}

static void parsed(cute_type type, const char *text, cute_value *out)
{
    CHECK_INT(cute_value_parse(arena, type, text, strlen(text), out, NULL, diag), CUTE_OK);
}

static void test_fields(void)
{
    cute_value v;
    begin();
    parsed(CUTE_MEMREF, "f16, smem, align<16>, S<2,4,3>, \"(?,8):(8,1)\"", &v);
    CHECK_TEXT(v.pointer->element, "f16");
    CHECK_INT(v.pointer->bits, 16);
    CHECK_INT(v.pointer->space, CUTE_SPACE_SMEM);
    CHECK_INT(v.pointer->align, 16);
    CHECK_INT(v.pointer->swizzle.bits, 2);
    CHECK(!v.tree && !v.inner.shape && v.swizzle.bits == 0);
    CHECK(!cute_value_is_static(&v));
    parsed(CUTE_MEMREF, "i1, smem, \"S<3,3,3> o 0 o 8:1\"", &v);
    CHECK_INT(v.pointer->bits, 1);
    CHECK_INT(v.pointer->align, 1);
    CHECK(v.tree && v.swizzle.bits == 3 && !cute_value_is_static(&v));
    parsed(CUTE_PTR, "vector<3x4xf32>, rmem", &v);
    CHECK_INT(v.pointer->bits, 384);
    CHECK_INT(v.pointer->align, 16);
    parsed(CUTE_PTR, "!llvm.ptr<3>, rmem", &v);
    CHECK_INT(v.pointer->bits, 64);
    parsed(CUTE_PTR, "!a.b, rmem", &v);
    CHECK_INT(v.pointer->bits, 0);
    parsed(CUTE_COORD_TENSOR, "\"(0,0)\", \"(8,8):(1@0,1@1)\"", &v);
    CHECK(cute_value_is_static(&v));
    parsed(CUTE_DIVISOR, "32", &v);
    CHECK(v.width == 32 && !cute_value_is_static(&v));
    end();
}

/* Leaves come in the order in which they are stored, and get their handles in that order. */
static void test_unknowns(void)
{
    static const struct {
        cute_type type;
        const char *text;
        int widths[6];
    } values[] = {
        {CUTE_MEMREF, "f16, gmem, \"(?,4):(1,?{i64})\"", {32, 64}},
        {CUTE_MEMREF, "f16, smem, \"S<3,3,3> o ?{i64} o (?,4):(1,?{i16})\"", {32, 16, 64}},
        {CUTE_COORD_TENSOR, "\"(?{i64},0)\", \"(?,4):(1@0,?{i16}@1)\"", {64, 32, 16}},
        {CUTE_ARITH_TUPLE_ITER, "\"(?{i64},0,?)\"", {64, 32}},
        {CUTE_INTEGER, "i64 divby 16", {64}},
        {CUTE_PTR, "f16, gmem", {0}},
    };
    begin();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        cute_value v, filled;
        cute_int leaves[6];
        int marks[6];
        void *handles[6];
        size_t n = 0;
        while (values[i].widths[n]) handles[n] = &marks[n], n++;
        parsed(values[i].type, values[i].text, &v);
        CHECK_INT(cute_value_unknowns(&v, leaves, 6), n);
        CHECK_INT(cute_value_with_handles(arena, &v, handles, n, &filled, diag), CUTE_OK);
        CHECK(cute_value_equal(&v, &filled));
        CHECK_INT(cute_value_unknowns(&filled, leaves, 6), n);
        for (size_t j = 0; j < n; j++)
            CHECK(leaves[j].handle == &marks[j] && leaves[j].width == values[i].widths[j]);
        CHECK_INT(cute_value_with_handles(arena, &v, handles, n + 1, &filled, diag), CUTE_INVALID);
    }
    end();
}

static void test_equality(void)
{
    static const char *const texts[] = {
        "f16, gmem, \"4:1\"",           "f16, gmem, \"4:2\"",
        "f16, smem, \"4:1\"",           "bf16, gmem, \"4:1\"",
        "f16, gmem, align<4>, \"4:1\"", "f16, gmem, S<3,4,3>, \"4:1\"",
        "f16, gmem, S<2,4,3>, \"4:1\"", "f16, gmem, \"S<2,4,3> o 0 o 4:1\"",
    };
    enum { COUNT = sizeof texts / sizeof *texts };
    cute_value v, w;
    begin();
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            parsed(CUTE_MEMREF, texts[i], &v);
            parsed(CUTE_MEMREF, texts[j], &w);
            CHECK_INT(cute_value_equal(&v, &w), i == j);
        }
    int mark;
    v.pointer = cute_pointer_with_handle(arena, v.pointer, &mark);
    CHECK(v.pointer->handle == &mark && cute_value_equal(&v, &w));
    end();
}

/* Values that a compiler built, not a parser. */
static void test_verify(void)
{
    static const struct {
        cute_pointer pointer;
        const char *message;
    } wrong[] = {
        {{"f16", 32, CUTE_SPACE_GMEM, 2, {0, 0, 0}, NULL},
         "expects an element type such as f16, i8 or "
         "!dialect.type, but got f16 of 32 bits"},
        {{"f16", 16, CUTE_SPACE_GMEM, 3, {0, 0, 0}, NULL},
         "expects an alignment that is a power of two, but got 3"},
        {{"f16", 16, CUTE_SPACE_GMEM, 2, {3, 4, 2}, NULL},
         "needs |shift| >= bits and |shift| + bits + base <= 32, "
         "but got S<3,4,2>"},
    };
    begin();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cute_value v = {.type = CUTE_PTR, .pointer = &wrong[i].pointer};
        cute_diag_clear(diag);
        CHECK_INT(cute_value_verify(&v, diag), CUTE_INVALID);
        says();
        CHECK(strstr(first_message(), wrong[i].message));
    }
    end();
}

int main(void)
{
    TEST("the canonical text of tensors parses and prints unchanged", test_canonical);
    TEST("spaces, an element's own alignment and what does nothing may stand", test_freedom);
    TEST("what is wrong is refused at its place", test_errors);
    TEST("fields say what the text says", test_fields);
    TEST("unknown leaves come in the order in which they are stored", test_unknowns);
    TEST("tensors are equal when all of their text is", test_equality);
    TEST("pointers that a program builds are checked too", test_verify);
    return test_finish();
}
