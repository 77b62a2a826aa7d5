/* Values from the public documentation of CuTe (media/docs/cpp/cute/02_layout_algebra.md and 01_layout.md,
 * media/docs/cutlass_compiler of NVIDIA/cutlass) and by hand. */
#include "tests/unit/test_layout.h"

static void test_index(void)
{
    static const row rows[] = {
        /* the table of 01_cute_types.rst: (3,(2,3)):(3,(12,1)) */
        {"layout_eval", "coord 16", "layout (3,(2,3)):(3,(12,1))", NULL, "17"},
        {"layout_eval", "coord (1,5)", "layout (3,(2,3)):(3,(12,1))", NULL, "17"},
        {"layout_eval", "coord (1,(1,2))", "layout (3,(2,3)):(3,(12,1))", NULL, "17"},
        {"layout_eval", "coord 9", "layout (3,(2,3)):(3,(12,1))", NULL, "13"},
        /* 1 + 2*4 + 3*(4*8) */
        {"crd2idx", "coord ((1,2),3)", "shape ((4,8),6)", NULL, "105"},
        /* 109 = 1 + 3*36, 36 = 1 + 5*7, 7 = 1 + 2*3 */
        {"idx2crd", "int_tuple 109", "shape (3,((5),(2),4))", NULL, "(1,((1),(1),3))"},
        /* the last mode is not reduced: 10 = 2 + 4*2 and 2 >= 2 stays */
        {"idx2crd", "int_tuple 10", "shape (4,2)", NULL, "(2,2)"},
        /* the table of cute_dialect.rst: A(2*2 + 2, 1 + 1) with A = (6,2):(1,3) */
        {"layout_eval", "coord 5", "composed_layout (6,2):(1,3) o (2,1) o (2,3):(1@1,2@0)", NULL, "12"},
        /* 256 + 3: bit 8 is set, bit 4 flips */
        {"layout_eval", "coord 259", "composed_layout S<1,4,4> o 0 o 512:1", NULL, "275"},
        /* left: bits 0, 1 move up by 3 */
        {"layout_eval", "coord 3", "composed_layout S<2,0,-3> o 0 o 512:1", NULL, "27"},
        {"layout_eval", "coord (_,(-1,0),0)", "layout (32,(16384,64),1):(1,(32,524288),0)", NULL, "-32"},
        {"layout_eval", "coord ((1,2),3)", "layout ((2,3),4):((1@0@0,1@1@0),1@1)", NULL, "((1,2),3)"},
        {"size", "layout (2,(3,4)):(1,(2,6))", NULL, NULL, "24"},
        {"size<1>", "layout (2,(3,4)):(1,(2,6))", NULL, NULL, "12"},
        {"size<1,1>", "shape (2,(3,4))", NULL, NULL, "4"},
        {"cosize", "layout (4,8):(8,1)", NULL, NULL, "32"},
        {"cosize", "layout (2,2):(4,1)", NULL, NULL, "6"},
        {"cosize", "layout 4:-3", NULL, NULL, "10"},
        {"increment_coord", "coord (3,1)", "shape (4,2)", NULL, "(0,2)"},
        {"increment_coord", "coord ((1,0),5)", "shape ((2,3),4)", NULL, "((0,1),5)"},
    };
    CHECK_ROWS(rows);
}

static void test_unknown_index(void)
{
    static const row rows[] = {
        {"layout_eval", "coord (?,2)", "layout (4,8):(1,4)", NULL, "?"},
        {"layout_eval", "coord (0,2)", "layout (?,8):(?,4)", NULL, "8"},
        {"layout_eval", "coord ?{i64}", "layout (4,8):(1,4)", NULL, "?{i64}"},
        {"layout_eval", "coord (?,?{i64})", "layout (4,8):(1,4)", NULL, "?{i64}"},
        /* a constant that needs 64 bits widens */
        {"layout_eval", "coord ?", "layout 8:4294967296", NULL, "?{i64}"},
        {"layout_eval", "coord ?", "layout 8:0", NULL, "0"},
        {"crd2idx", "coord (1,2)", "shape (?,8)", NULL, "?"},
        {"crd2idx", "coord (1,0)", "shape (?,8)", NULL, "1"},
        {"idx2crd", "int_tuple ?", "shape (4,(2,3))", NULL, "(?,(?,?))"},
        {"idx2crd", "int_tuple ?", "shape (1,4)", NULL, "(0,?)"},
        {"idx2crd", "int_tuple 0", "shape (?,?)", NULL, "(0,0)"},
        {"size", "shape (?,1,?)", NULL, NULL, "?"},
        {"size", "shape (?,0)", NULL, NULL, "0"},
        {"cosize", "layout (?,3):(1,?)", NULL, NULL, "?"},
        {"increment_coord", "coord (?,?)", "shape (4,8)", NULL, "(?,?)"},
    };
    CHECK_ROWS(rows);
}

static void test_divisors(void)
{
    static const row rows[] = {
        {"layout_eval", "coord ?", "layout 8:4", NULL, "?"}, /* nothing stated, nothing said */
        {"layout_eval", "coord ?", "layout 8:?{div=8}", NULL, "?{div=8}"},
        {"layout_eval", "coord (?,?)", "layout (8,8):(?{div=8},?{div=12})", NULL, "?{div=4}"},
        /* 4*8 = 32 divides the first, 64*2 the second */
        {"layout_eval", "coord (4,?{div=2})", "layout (8,8):(?{div=8},64)", NULL, "?{div=32}"},
        {"tuple_product", "int_tuple (?{div=4},?{div=6})", NULL, NULL, "?{div=24}"},
        {"tuple_add", "int_tuple ?{div=12}", "int_tuple 18", NULL, "?{div=6}"},
        {"ceil_div", "int_tuple ?{div=12}", "int_tuple 4", NULL, "?{div=3}"},
        {"ceil_div", "int_tuple ?{div=12}", "int_tuple 5", NULL, "?"},
        /* 4 elements in steps of 2 lie within the first 8; of a multiple of 4 elements, 4 stay in a mode of 4 */
        {"composition", "layout (?{div=8},6):(1,?)", "layout 4:2", NULL, "4:2"},
        {"composition", "layout (4,6):(1,10)", "layout ?{div=4}:1", NULL, "(4,?):(1,10)"},
    };
    CHECK_ROWS(rows);
}

static void test_modes(void)
{
    static const row rows[] = {
        {"get<1,0>", "layout (2,(3,4)):(1,(2,6))", NULL, NULL, "3:2"},
        {"get<1>", "shape (2,(3,4))", NULL, NULL, "(3,4)"},
        {"select<2,0>", "layout (2,3,4):(1,2,6)", NULL, NULL, "(4,2):(6,1)"},
        {"flatten", "layout ((2,3),(4,(5))):((1,2),(6,(24)))", NULL, NULL, "(2,3,4,5):(1,2,6,24)"},
        {"group_modes<1,3>", "layout (2,3,4,5):(1,2,6,24)", NULL, NULL, "(2,(3,4),5):(1,(2,6),24)"},
        {"slice", "layout ((2,4),3):((1,2),8)", "coord ((_,0),_)", NULL, "(2,3):(1,8)"},
        {"slice", "layout (2,3,4):(1,2,6)", "coord 1", NULL, "():()"},
        {"dice", "layout (2,3,4):(1,2,6)", "coord (1,_,0)", NULL, "(2,4):(1,6)"},
        {"slice", "composed_layout (4,5):(1,4) o 2 o (8,3):(1,8)", "coord (1,_)", NULL,
         "(4,5):(1,4) o 3 o (3):(8)"},
        {"slice", "composed_layout S<3,4,3> o 0 o (64,128):(1,64)", "coord (1,_)", NULL,
         "S<3,4,3> o 0 o (128):(64)"},
        {"append_to_rank<3>", "shape (4,2)", "shape 1", NULL, "(4,2,1)"},
        {"prepend_to_rank<3>", "layout 4:2", "layout 1:0", NULL, "(1,1,4):(0,0,2)"},
        {"coalesce", "layout (2,(1,6)):(1,(6,2))", NULL, NULL, "12:1"},
        {"coalesce", "layout (2,(1,6)):(1,(6,2))", "coord (1,1)", NULL, "(2,6):(1,2)"},
        {"coalesce", "layout (4,?,?):(1,4,?)", NULL, NULL, "(4,?,?):(1,4,?)"},
        {"filter", "layout (4,3,2):(1,0,4)", NULL, NULL, "8:1"},
        {"make_layout_like", "layout (2,2,2,2):(0,2,4,1)", NULL, NULL, "(2,2,2,2):(0,2,4,1)"},
        {"make_layout_like", "layout (2,3,4,5):(2,0,42,1)", NULL, NULL, "(2,3,4,5):(5,0,10,1)"},
        {"make_ordered_layout", "shape (3,4,5)", "int_tuple (2,0,1)", NULL, "(3,4,5):(20,1,4)"},
        {"make_identity_layout", "shape (4,(2,3))", NULL, NULL, "(4,(2,3)):(1@0,(1@0@1,1@1@1))"},
    };
    CHECK_ROWS(rows);
}

static void test_composition(void)
{
    static const row rows[] = {
        {"composition", "layout (6,2):(8,2)", "layout (4,3):(3,1)", NULL, "((2,2),3):((24,2),8)"},
        /* 0, 6, 12, 18 are (0,0), (2,1), (0,3), (2,4): 0, 12, 30, 42; neither 6 nor 4 divides the other */
        {"composition", "layout (4,6):(1,10)", "layout 4:6", NULL, "(2,2):(12,30)"},
        {"composition", "layout 20:2", "layout (5,4):(4,1)", NULL, "(5,4):(8,2)"},
        {"composition", "layout (10,2):(16,4)", "layout (5,4):(1,5)", NULL, "(5,(2,2)):(16,(80,4))"},
        {"composition", "layout (12,(4,8)):(59,(13,1))", "tile [3:4;8:2]", NULL, "(3,(2,4)):(236,(26,1))"},
        {"composition", "layout (12,(4,8)):(59,(13,1))", "shape (3,8)", NULL, "(3,(4,2)):(59,(13,1))"},
        {"composition", "layout (4,8):(8,1)", "layout 8:2", NULL, "(2,4):(16,1)"},
        {"composition", "layout 1:12", "layout 16:1", NULL, "16:12"}, /* the last mode goes on */
        {"composition", "layout (4,3):(3,1)", "layout 24:1", NULL, "(4,6):(3,1)"},
        {"composition", "composed_layout S<3,4,3> o 0 o (8,8):(8,1)", "layout 8:8", NULL,
         "S<3,4,3> o 0 o 8:1"},
    };
    CHECK_ROWS(rows);
}

static void test_inverses(void)
{
    static const row rows[] = {
        {"complement", "layout 4:1", "shape 24", NULL, "6:4"},
        {"complement", "layout 6:4", "shape 24", NULL, "4:1"},
        {"complement", "layout (4,6):(1,4)", "shape 24", NULL, "1:24"},
        {"complement", "layout 4:2", "shape 24", NULL, "(2,3):(1,8)"},
        {"complement", "layout (2,4):(1,6)", "shape 24", NULL, "3:2"},
        {"complement", "layout (2,2):(1,6)", "shape 24", NULL, "(3,2):(2,12)"},
        {"complement", "layout 6:1", "shape 212", NULL, "36:6"},
        {"right_inverse", "layout (4,8):(8,1)", NULL, NULL, "(8,4):(4,1)"},
        {"left_inverse", "layout (4,8):(8,1)", NULL, NULL, "(8,4):(4,1)"},
        {"left_inverse", "layout (2,3):(1,2)", NULL, NULL, "6:1"},
        /* 0,1,2,3 to 0,5,10,15: 5 steps of stride 0 lead from one to the next */
        {"left_inverse", "layout 4:5", NULL, NULL, "(5,4):(0,1)"},
    };
    CHECK_ROWS(rows);
}

static void test_tiles(void)
{
    static const row rows[] = {
        {"logical_divide", "layout (4,2,3):(2,1,8)", "layout 4:2", NULL, "((2,2),(2,3)):((4,1),(2,8))"},
        {"logical_divide", "layout (9,(4,8)):(59,(13,1))", "tile [3:3;(2,4):(1,8)]", NULL,
         "((3,3),((2,4),(2,2))):((177,59),((13,2),(26,1)))"},
        {"zipped_divide", "layout (9,(4,8)):(59,(13,1))", "tile [3:3;(2,4):(1,8)]", NULL,
         "((3,(2,4)),(3,(2,2))):((177,(13,2)),(59,(26,1)))"},
        {"tiled_divide", "layout (8,4):(1,8)", "shape (2,2)", NULL, "((2,2),4,2):((1,8),2,16)"},
        {"flat_divide", "layout (8,4):(1,8)", "shape (2,2)", NULL, "(2,2,4,2):(1,8,2,16)"},
        {"logical_divide", "layout (16,4):(1,16)", "tile [8:1;4:1]", NULL, "((8,2),(4,1)):((1,8),(16,64))"},
        {"logical_divide", "layout (?,?):(1,?)", "shape (128,64)", NULL, "((128,?),(64,?)):((1,128),(?,?))"},
        {"logical_product", "layout (2,2):(4,1)", "layout 6:1", NULL, "((2,2),(2,3)):((4,1),(2,8))"},
        {"logical_product", "layout (2,2):(4,1)", "layout (4,2):(2,1)", NULL, "((2,2),(4,2)):((4,1),(8,2))"},
        {"blocked_product", "layout (2,5):(5,1)", "layout (3,4):(1,3)", NULL,
         "((2,3),(5,4)):((5,10),(1,30))"},
        {"raked_product", "layout (2,5):(5,1)", "layout (3,4):(1,3)", NULL, "((3,2),(4,5)):((10,5),(30,1))"},
        {"tile_to_shape", "layout (8,64):(64,1)", "shape (64,128)", NULL,
         "((8,8),(64,2)):((64,512),(1,4096))"},
        {"recast_layout<32,8>", "layout (32,4):(1,32)", NULL, NULL, "(8,4):(1,8)"},
        {"recast_layout<8,32>", "layout (8,4):(1,8)", NULL, NULL, "(32,4):(1,32)"},
        /* 16 old elements make a new one: all of mode 0 and four of mode 1 */
        {"recast_layout<128,8>", "layout (4,8):(1,4)", NULL, NULL, "(1,2):(1,1)"},
        {"recast_layout<32,8>", "composed_layout S<3,5,4> o 0 o (32,4):(1,32)", NULL, NULL,
         "S<3,3,4> o 0 o (8,4):(1,8)"},
    };
    CHECK_ROWS(rows);
}

static void test_tuples(void)
{
    static const row rows[] = {
        {"tuple_add", "int_tuple (1,2,3)", "int_tuple (4,5)", NULL, "(5,7,3)"},
        {"tuple_sub", "int_tuple (5,8)", "int_tuple (1,2)", NULL, "(4,6)"},
        /* 01_layout.md: shape division of (6,2) and (3,6,2,8) */
        {"shape_div", "shape (6,2)", "shape 3", NULL, "(2,2)"},
        {"shape_div", "shape (6,2)", "shape 12", NULL, "(1,1)"},
        {"shape_div", "shape (3,6,2,8)", "shape 72", NULL, "(1,1,1,4)"},
        {"ceil_div", "shape (100,64)", "shape (32,10)", NULL, "(4,7)"},
        {"ceil_div", "shape (100,64)", "tile [32:1;16:1]", NULL, "(4,4)"},
        {"elem_less", "coord (1,2)", "shape (2,3)", NULL, "1"},
        {"elem_less", "coord (1,3)", "shape (2,3)", NULL, "0"},
        {"elem_less", "coord (?,2)", "shape (2,3)", NULL, "?{i1}"},
        {"equal", "shape (2,?)", "shape (3,?)", NULL, "0"},
        {"equal", "layout (2,3):(1,2)", "layout (2,3):(1,2)", NULL, "1"},
    };
    CHECK_ROWS(rows);
}

static void test_refused(void)
{
    static const row rows[] = {
        /* 2 + 2 carries from mode 0, of extent 4, into mode 1: 10, not 4 */
        {"composition", "layout (4,2):(1,10)", "layout (3,3):(1,1)", NULL,
         "at mode 0, of extent 4, the largest coordinate 4 is not below the extent 4 ((3,3):(1,1) would "
         "be wrong "
         "at index 8)"},
        /* 0, 3, 6, 9: 6 is 2 + 4*1 */
        {"composition", "layout (4,6):(1,10)", "layout 4:3", NULL,
         "at mode 1, of extent 6, the stride 6 is not divisible by 4"},
        {"composition", "layout (4,6):(1,10)", "layout 3:3", NULL, "the extent 3 is not divisible by 2"},
        {"composition", "layout (4,6):(1,10)", "layout 4:7", NULL, "the stride 7 is not divisible by 4"},
        {"complement", "layout (2,2):(1,1)", NULL, NULL, "mode 1, of extent and stride 2:1, overlaps"},
        {"left_inverse", "layout (2,2):(2,3)", NULL, NULL, "the stride 3 is not divisible by 2"},
        {"recast_layout<32,8>", "layout (2,3):(1,5)", NULL, NULL,
         "at mode 3:5, the stride 5 is not divisible by 4"},
        {"recast_layout<32,8>", "layout (4,4):(1,1)", NULL, NULL, "overlap inside new elements of 4"},
        {"recast_layout<8,32>", "layout (2,3):(1,1)", NULL, NULL, "a second mode of stride 1 overlaps"},
        {"shape_div", "shape 6", "shape 4", NULL, "6 is not divisible by 4"},
        {"shape_div", "shape 6", "shape 0", NULL, "divisor is zero"},
        {"size", "shape (4294967296,4294967296)", NULL, NULL, "does not fit in 64 bits"},
        {"get<2>", "shape (1,2)", NULL, NULL, "expects mode index in [0, 2) at depth 0, but got 2"},
        {"get<0,0>", "shape (1,2)", NULL, NULL, "stop at a scalar leaf, but got 1 extra index after depth 1"},
        {"cosize", "composed_layout 4:1 o 0 o 4:1", NULL, NULL, "cosize is undefined for affine inner"},
        {"slice", "composed_layout S<3,0,3> o 0 o (3,8):(1,3)", "coord (?,_)", NULL, "share bits"},
        {"zipped_divide", "layout (4,4):(1,4)", "tile [_;2:1]", NULL, "no tile and rest to zip"},
        {"crd2idx", "coord (1,2,3)", "shape (4,8)", NULL, "weakly congruent"},
        {"prefix_product", "shape (4294967296,4294967296,2)", NULL, NULL, "does not fit in 64 bits"},
    };
    CHECK_REFUSED(rows);
}

int main(void)
{
    TEST("coordinates and indices are as the documentation's tables say", test_index);
    TEST("unknown operands give unknown results only where they matter", test_unknown_index);
    TEST("stated divisors go through arithmetic", test_divisors);
    TEST("modes are selected, grouped, sliced and coalesced", test_modes);
    TEST("composition gives the documented layouts", test_composition);
    TEST("complements and inverses give the documented layouts", test_inverses);
    TEST("divides and products give the documented layouts", test_tiles);
    TEST("tuples are added, divided and compared", test_tuples);
    TEST("what would be wrong is refused, naming mode, stride and divisor", test_refused);
    return test_finish();
}
