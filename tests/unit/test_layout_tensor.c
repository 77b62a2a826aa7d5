/* Operations of tensors: what each gives, by hand, and what is refused. */
#include "tests/unit/test_layout_machine.h"

static void test_parts(void)
{
    static const row rows[] = {
        {"get_iter", "memref f16, smem, align<16>, S<3,4,3>, \"(4,2):(1,4)\"", NULL, NULL,
         "f16, smem, align<16>, S<3,4,3>"},
        {"get_iter", "coord_tensor \"(?,0)\", \"(4,2):(1@0,1@1)\"", NULL, NULL, "\"(?,0)\""},
        {"get_layout", "memref f16, smem, S<3,4,3>, \"(4,2):(1,4)\"", NULL, NULL, "(4,2):(1,4)"},
        {"get_layout", "memref f16, smem, \"S<3,3,3> o ? o (4,2):(1,4)\"", NULL, NULL,
         "S<3,3,3> o ? o (4,2):(1,4)"},
        {"get_layout", "coord_tensor \"(?,0)\", \"(4,2):(1@0,1@1)\"", NULL, NULL, "(4,2):(1@0,1@1)"},
        {"make_view", "ptr f16, gmem, align<32>", "layout (?,8):(8,1)", NULL,
         "f16, gmem, align<32>, \"(?,8):(8,1)\""},
        {"make_view", "ptr f16, smem", "composed_layout S<3,3,3> o 0 o 8:1", NULL,
         "f16, smem, \"S<3,3,3> o 0 o 8:1\""},
        {"make_view", "arith_tuple_iter \"(?,0)\"", "layout (4,2):(1@0,1@1)", NULL,
         "\"(?,0)\", \"(4,2):(1@0,1@1)\""},
        {"make_identity_tensor", "shape (4,(2,?))", NULL, NULL,
         "\"(0,(0,0))\", \"(4,(2,?)):(1@0,(1@0@1,1@1@1))\""},
        {"make_identity_tensor", "shape 8", NULL, NULL, "\"0\", \"8:1\""},
        {"make_arith_tuple_iter", "int_tuple (?{div=8},0)", NULL, NULL, "\"(?{div=8},0)\""},
        {"deref_arith_tuple_iter", "arith_tuple_iter \"(?{div=8},0)\"", NULL, NULL, "(?{div=8},0)"},
        {"recast_iter", "ptr i8, smem, align<1024>", "ptr f16, smem, align<1024>, S<3,4,3>", NULL,
         "f16, smem, align<1024>, S<3,4,3>"},
        {"assume<16>", "int_tuple ?{i64}", NULL, NULL, "i64 divby 16"},
        {"assume<16>", "int_tuple 32", NULL, NULL, "32"},
        {"make_layout", "shape (4,1,2)", NULL, NULL, "(4,1,2):(1,0,4)"},
    };
    CHECK_ROWS(rows);
}

/* The address stays a multiple of what divides both it and the offset, in bytes. */
static void test_alignment(void)
{
    static const row rows[] = {
        {"add_offset", "ptr f16, gmem, align<32>", "int_tuple 0", NULL, "f16, gmem, align<32>"},
        {"add_offset", "ptr f16, gmem, align<32>", "int_tuple ?", NULL, "f16, gmem"},
        {"add_offset", "ptr f16, gmem, align<32>", "int_tuple ?{div=8}", NULL, "f16, gmem, align<16>"},
        {"add_offset", "ptr f16, gmem, align<32>", "int_tuple ?{div=24}", NULL, "f16, gmem, align<16>"},
        {"add_offset", "ptr f16, gmem, align<32>", "int_tuple ?{i64 div=64}", NULL, "f16, gmem, align<32>"},
        {"add_offset", "ptr i8, smem, align<1024>", "int_tuple 12656", NULL, "i8, smem, align<16>"},
        {"add_offset", "ptr i8, smem, align<1024>", "int_tuple -4", NULL, "i8, smem, align<4>"},
        {"add_offset", "ptr i64, smem, align<1024>", "int_tuple 6", NULL, "i64, smem, align<16>"},
        {"add_offset", "ptr i4, gmem, align<128>", "int_tuple 8", NULL, "i4, gmem, align<4>"},
        {"add_offset", "ptr i4, gmem, align<128>", "int_tuple 1", NULL, "i4, gmem"},
        {"add_offset", "ptr i1, gmem, align<128>", "int_tuple ?{div=1024}", NULL, "i1, gmem, align<128>"},
        {"add_offset", "ptr f32, tmem, align<1>", "int_tuple 128", NULL, "f32, tmem, align<1>"},
        {"add_offset", "ptr !a.b, gmem, align<64>", "int_tuple 64", NULL, "!a.b, gmem"},
        {"add_offset", "arith_tuple_iter \"(?{div=8},0)\"", "int_tuple (4,?)", NULL, "\"(?{div=4},?)\""},
        {"slice", "memref f16, gmem, align<32>, \"(8,8):(8,1)\"", "coord (?,_)", NULL,
         "f16, gmem, align<16>, \"(8):(1)\""},
        {"slice", "memref f16, gmem, align<32>, \"(8,8):(8,1)\"", "coord (3,5)", NULL,
         "f16, gmem, \"():()\""},
    };
    CHECK_ROWS(rows);
}

/* What works on layouts works on tensors' layouts. */
static void test_as_layouts(void)
{
    static const row rows[] = {
        {"size", "memref f16, gmem, \"(4,?):(1,4)\"", NULL, NULL, "?{div=4}"},
        {"size<1>", "coord_tensor \"(0,0)\", \"(4,2):(1@0,1@1)\"", NULL, NULL, "2"},
        {"cosize", "memref f16, gmem, \"(4,3):(1,8)\"", NULL, NULL, "20"},
        {"get_shape", "memref f16, smem, \"S<3,3,3> o 0 o (4,2):(1,4)\"", NULL, NULL, "(4,2)"},
        {"get_stride", "memref f16, smem, \"(4,2):(1,4)\"", NULL, NULL, "(1,4)"},
        {"get<1>", "memref f16, smem, align<8>, \"(4,(2,3)):(1,(4,8))\"", NULL, NULL,
         "f16, smem, align<8>, \"(2,3):(4,8)\""},
        {"select<1,0>", "memref f16, smem, \"(4,2):(1,4)\"", NULL, NULL, "f16, smem, \"(2,4):(4,1)\""},
        {"group_modes<0,2>", "memref f16, smem, \"(4,2,3):(1,4,8)\"", NULL, NULL,
         "f16, smem, \"((4,2),3):((1,4),8)\""},
        {"group_modes<1,3>", "coord_tensor \"(0,0,0)\", \"(4,2,3):(1@0,1@1,1@2)\"", NULL, NULL,
         "\"(0,0,0)\", \"(4,(2,3)):(1@0,(1@1,1@2))\""},
        {"coalesce", "memref f16, smem, \"(4,2):(1,4)\"", NULL, NULL, "f16, smem, \"8:1\""},
        {"filter", "memref f16, smem, \"(4,2):(0,1)\"", NULL, NULL, "f16, smem, \"2:1\""},
        {"flatten", "memref f16, smem, \"(4,(2,3)):(1,(4,8))\"", NULL, NULL,
         "f16, smem, \"(4,2,3):(1,4,8)\""},
        {"append_to_rank<2>", "memref f16, smem, \"4:1\"", "layout 1:0", NULL, "f16, smem, \"(4,1):(1,0)\""},
        {"prepend_to_rank<2>", "memref f16, smem, \"4:1\"", "layout 1:0", NULL, "f16, smem, \"(1,4):(0,1)\""},
        {"composition", "memref f16, smem, S<3,4,3>, \"(8,8):(8,1)\"", "layout (2,4):(8,16)", NULL,
         "f16, smem, S<3,4,3>, \"(2,4):(1,2)\""},
        {"dice", "memref f16, smem, \"(4,2):(1,4)\"", "coord (1,_)", NULL, "f16, smem, \"(4):(1)\""},
        {"logical_divide", "memref f16, smem, \"8:2\"", "layout 4:1", NULL, "f16, smem, \"(4,2):(2,8)\""},
        /* the stride of the only tile is 0 */
        {"zipped_divide", "memref f16, smem, \"(8,4):(4,1)\"", "tile [8:1;2:1]", NULL,
         "f16, smem, \"((8,2),(1,2)):((4,1),(0,2))\""},
        {"tiled_divide", "coord_tensor \"(0,0)\", \"(8,4):(1@0,1@1)\"", "tile [2:1;2:1]", NULL,
         "\"(0,0)\", \"((2,2),4,2):((1@0,1@1),2@0,2@1)\""},
        {"flat_divide", "memref f32, gmem, \"(?,?):(?{i64},1)\"", "tile [128:1;128:1]", NULL,
         "f32, gmem, \"(128,128,?,?):(?{i64},1,?{i64 div=128},128)\""},
        {"make_layout_like", "memref f32, gmem, \"(4,2):(2,1)\"", NULL, NULL, "(4,2):(2,1)"},
        /* a mode of whole multiples of 512 does not concern the swizzle, whatever the offset is */
        {"slice", "memref f16, smem, align<1024>, \"S<3,3,3> o ?{div=16} o (8,?,3):(8,64,512)\"",
         "coord (_,_,?)", NULL, "f16, smem, align<1024>, \"S<3,3,3> o ?{div=16} o (8,?):(8,64)\""},
        /* steps of 24 share bits with the other mode; an unknown offset may */
        {"slice", "memref f16, smem, align<1024>, \"S<3,3,3> o 0 o (8,64):(24,1)\"", "coord (?,_)", NULL,
         "f16, smem, align<1024>, \"S<3,3,3> o ?{div=24} o (64):(1)\""},
        {"slice", "memref f16, smem, align<1024>, \"S<3,3,3> o ?{div=16} o (8,64):(64,1)\"", "coord (?,_)",
         NULL, "f16, smem, align<1024>, \"S<3,3,3> o ?{div=16} o (64):(1)\""},
        {"slice", "coord_tensor \"(?,0)\", \"(4,2):(1@0,1@1)\"", "coord (_,1)", NULL,
         "\"(?,1)\", \"(4):(1@0)\""},
    };
    CHECK_ROWS(rows);
}

static void test_tiles(void)
{
    static const row rows[] = {
        /* tile (1,2) of 2x4 begins at 2*1 + 8*(4*2) = 66 */
        {"local_tile", "memref f16, gmem, align<32>, \"(8,16):(1,8)\"", "tile [2:1;4:1]", "coord (1,2)",
         "f16, gmem, align<4>, \"(2,4):(1,8)\""},
        {"local_tile", "memref f16, gmem, align<32>, \"(8,16):(1,8)\"", "shape (2,4)", "coord (1,_)",
         "f16, gmem, align<4>, \"(2,4,4):(1,8,32)\""},
        {"local_tile", "coord_tensor \"(0,0)\", \"(8,16):(1@0,1@1)\"", "tile [2:1;4:1]", "coord (1,2)",
         "\"(2,8)\", \"(2,4):(1@0,1@1)\""},
        {"local_tile", "coord_tensor \"(0,0)\", \"(8,16):(1@0,1@1)\"", "tile [2:1;4:1]", "coord (?,?)",
         "\"(?{div=2},?{div=4})\", \"(2,4):(1@0,1@1)\""},
        /* M x K tiles of a tiler for M, N, K: N is left out */
        {"local_tile", "coord_tensor \"(0,0)\", \"(8,16):(1@0,1@1)\"", "tile [2:1;8:1;4:1]",
         "coord (?,?,_) | coord (1,_,1)", "\"(?{div=2},0)\", \"(2,4,4):(1@0,1@1,4@1)\""},
        /* a mode behind the projection stays in the coordinate */
        {"local_tile", "coord_tensor \"(0,0,0)\", \"(8,16,3):(1@0,1@1,1@2)\"", "tile [2:1;8:1;4:1]",
         "coord (1,1,_,2) | coord (1,_,1)", "\"(2,0,2)\", \"(2,4,4):(1@0,1@1,4@1)\""},
        {"local_tile", "memref f16, gmem, \"16:1\"", "layout 4:1", "coord 2", "f16, gmem, \"(4):(1)\""},
        {"local_tile", "memref f16, gmem, align<32>, \"16:1\"", "layout 4:1", "coord 2",
         "f16, gmem, align<16>, \"(4):(1)\""},
        {"local_tile", "memref f16, smem, align<1024>, \"S<3,3,3> o 0 o (64,64):(64,1)\"", "tile [8:1;64:1]",
         "coord (?,0)", "f16, smem, align<1024>, \"S<3,3,3> o 0 o (8,64):(64,1)\""},
        /* thread 5 of (2,4):(1,2) is at (1,2): rows 1, 3, 5, 7 and columns 2, 6, 10, 14 */
        {"local_partition", "coord_tensor \"(0,0)\", \"(8,16):(1@0,1@1)\"", "layout (2,4):(1,2)",
         "int_tuple 5", "\"(1,2)\", \"(4,4):(2@0,4@1)\""},
        {"local_partition", "memref f16, gmem, align<32>, \"(8,16):(16,1)\"", "layout (2,4):(4,1)",
         "int_tuple ?", "f16, gmem, \"(4,4):(32,4)\""},
        /* A thread layout for M, N, K of which only M and K partition the tensor. */
        {"local_partition", "coord_tensor \"(0,0)\", \"(8,16):(1@0,1@1)\"", "layout (2,4,1):(4,1,0)",
         "int_tuple 5 | coord (1,_,1)", "\"(1,0)\", \"(4,16):(2@0,1@1)\""},
    };
    CHECK_ROWS(rows);
}

static void test_coordinates(void)
{
    static const row rows[] = {
        {"crd2idx", "coord (1,2)", "layout (4,8):(8,1)", NULL, "10"},
        {"crd2idx", "coord (1,(?,_))", "layout (4,(2,4)):(1@0,(1@1,2@1))", NULL, "(1,?)"},
        {"crd2idx", "coord ?", "layout 8:128", NULL, "?{div=128}"},
        /* 9 ^ (9 >> 2 & 1) */
        {"crd2idx", "coord (2,1)", "composed_layout S<1,0,2> o 0 o (4,4):(4,1)", NULL, "9"},
        {"crd2idx", "coord (1,0)", "composed_layout S<1,0,2> o 0 o (4,4):(4,1)", NULL, "5"},
        {"get_hier_coord", "int_tuple 13", "layout (2,(2,4)):(4,(1,8))", NULL, "(1,(1,1))"},
        {"get_flat_coord", "int_tuple 13", "layout (2,(2,4)):(4,(1,8))", NULL, "(1,3)"},
        {"get_flat_coord", "int_tuple ?", "layout ((2),1,1):((1),0,0)", NULL, "(?,0,0)"},
        {"get_hier_coord", "int_tuple ?", "layout (2,?):(?,1)", NULL, "(?,?)"},
        {"tuple_mul", "int_tuple (?,3)", "int_tuple (128,4)", NULL, "(?{div=128},12)"},
        {"tuple_mul", "int_tuple (2,(3,4))", "int_tuple 10", NULL, "(20,(30,40))"},
        {"tuple_div", "int_tuple (?{div=64},7)", "int_tuple (2,2)", NULL, "(?{div=32},3)"},
        {"tuple_mod", "int_tuple (?{div=64},7)", "int_tuple (24,4)", NULL, "(?{div=8},3)"},
        {"tuple.product", "int_tuple (2,(3,4))", NULL, NULL, "24"},
        {"tuple.product_each", "int_tuple (2,(3,4))", NULL, NULL, "(2,12)"},
    };
    CHECK_ROWS(rows);
}

static void test_refused(void)
{
    static const row rows[] = {
        {"get_iter", "layout 4:1", NULL, NULL, "expects a !cute.memref or !cute.coord_tensor, but got"},
        {"make_view", "arith_tuple_iter \"0\"", "composed_layout S<3,3,3> o 0 o 8:1", NULL,
         "expects a tensor of coordinates to have a !cute.layout, but got"},
        {"make_view", "ptr f16, gmem", "layout 4:1@0", NULL,
         "expects integer strides in memory, but got 4:1@0"},
        {"make_view", "arith_tuple_iter \"(0,0)\"", "layout 4:1", NULL,
         "expects an iterator of the structure"},
        {"add_offset", "ptr f16, gmem", "int_tuple (1,2)", NULL,
         "expects one integer to advance a pointer by, but got (1,2)"},
        {"recast_iter", "ptr f16, gmem", "ptr f16, smem", NULL,
         "expects both pointers to point to gmem, but got '!cute.ptr<f16, smem>'"},
        {"recast_iter", "ptr i8, smem, align<4>", "ptr f16, smem, align<16>", NULL,
         "expects an alignment of at most 4 bytes, but got '!cute.ptr<f16, smem, align<16>>'"},
        {"assume", "int_tuple ?", NULL, NULL, "expects one positive divisor"},
        {"assume<0>", "int_tuple ?", NULL, NULL, "expects one positive divisor"},
        {"assume<16>", "int_tuple 8", NULL, NULL, "8 is not divisible by 16"},
        {"assume<16>", "int_tuple (8,8)", NULL, NULL,
         "expects one integer, but got '!cute.int_tuple<\"(8,8)\">'"},
        {"get_hier_coord", "int_tuple 3", "layout (2,2):(1,1)", NULL,
         "non-divisible strides in (2,2):(1,1): 1 is not a multiple of 2:1"},
        {"get_flat_coord", "int_tuple 3", "layout (2,2):(1@0,1@1)", NULL,
         "expects integer strides, but got (2,2):(1@0,1@1)"},
        {"tuple_mul", "int_tuple (1,2)", "int_tuple (1,2,3)", NULL,
         "expects tuples of the same rank, but got (1,2) and (1,2,3)"},
        {"tuple_mul", "int_tuple 1", "shape 1", NULL, "expects lhs and rhs to have the same kind"},
        {"tuple_div", "int_tuple ?", "int_tuple 0", NULL, "division by zero"},
        {"local_tile", "memref f16, gmem, \"(8,8):(1,8)\"", "tile [2:1;2:1]", "coord (1,1,1)",
         "expects a coordinate of at most rank 2 for the tiles (4,4), but got (1,1,1)"},
        {"local_tile", "memref f16, gmem, \"(8,8):(1,8)\"", "tile [2:1;2:1]", "coord (1,1) | coord (1,1,_)",
         "expects a projection of at most rank 2 for (2:1,2:1), but got (1,1,_)"},
        {"local_tile", "memref f16, gmem, \"8:1\"", "tile 2:1", "coord 1 | coord (1,_)",
         "expects a projection for the modes of 2:1, but got (1,_)"},
        {"local_tile", "memref f16, gmem, \"8:1\"", "layout 2:1", "coord 1 | coord 1",
         "expects a shape or tile to project, but got '!cute.layout<\"2:1\">'"},
        {"local_tile", "memref f16, gmem, \"8:1\"", "tile _", "coord 1", "the tiler does not divide 8:1"},
        {"local_tile", "layout 8:1", "tile 2:1", "coord 1", "expects a !cute.memref or !cute.coord_tensor"},
        {"append_to_rank<2>", "memref f16, smem, \"4:1\"", "shape 1", NULL,
         "expects element to be !cute.layout when input is !cute.memref, but got"},
        {"composition", "memref f16, smem, \"4:1\"", "shape (2,2)", NULL, "at most rank 1"},
        {"recast_layout<8,16>", "memref f16, smem, \"4:1\"", NULL, NULL,
         "expects a layout or composed layout"},
        {"complement", "memref f16, smem, \"4:1\"", NULL, NULL, "expects input to be !cute.layout"},
    };
    CHECK_REFUSED(rows);
}

/* The public dialect's answers stay as they are; CuTe DSL says more. */
static void test_two_dialects(void)
{
    static const struct {
        const char *operation, *a, *b, *ours, *dsl;
    } rows[] = {
        {"size", "int_tuple ((8,?),?)", NULL, "?", "?{div=8}"},
        {"size", "layout (8,?):(1,8)", NULL, "?", "?{div=8}"},
        {"tiled_divide", "layout (2,1,1):(1,0,0)", "tile [2:1]", "((2),1,1,1):((1),2,0,0)",
         "((2),1,1,1):((1),0,0,0)"},
        {"layout_eval", "coord ?", "layout 8:4", "?", "?{div=4}"},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_operation operation;
        cute_value in[2], out;
        size_t count = rows[i].b ? 2 : 1;
        CHECK(cute_operation_find(rows[i].operation, &operation) && parse_typed(rows[i].a, &in[0]) &&
              (count < 2 || parse_typed(rows[i].b, &in[1])));
        CHECK_INT(cute_apply(arena, NULL, operation, in, count, NULL, &out, diag), CUTE_OK);
        CHECK_TEXT(cute_value_text(arena, &out), rows[i].ours);
        CHECK_INT(cute_apply_dsl(arena, NULL, operation, in, count, NULL, &out, diag), CUTE_OK);
        CHECK_TEXT(cute_value_text(arena, &out), rows[i].dsl);
    }
    end();
}

/* CuTe DSL wraps layouts in swizzles of no bits. */
static void test_wraps(void)
{
    static const row rows[] = {
        {"get_shape", "composed_layout (4,2):(1,4)", NULL, NULL, "(4,2)"},
        {"composed_get_outer", "composed_layout (4,2):(1,4)", NULL, NULL, "(4,2):(1,4)"},
        {"composed_get_offset", "composed_layout (4,2):(1,4)", NULL, NULL, "0"},
        {"append_to_rank<2>", "composed_layout 64:1", "layout (4,5):(64,256)", NULL,
         "(64,(4,5)):(1,(64,256))"},
        {"select<1>", "composed_layout (4,2):(1,4)", NULL, NULL, "(2):(4)"},
        {"crd2idx", "coord (1,1)", "composed_layout (4,2):(1,4)", NULL, "5"},
        {"make_view", "ptr f16, smem", "composed_layout (4,2):(1,4)", NULL, "f16, smem, \"(4,2):(1,4)\""},
        {"slice", "composed_layout (4,2):(1,4)", "coord (_,1)", NULL, "(4):(1)"},
    };
    cute_value in[3], out;
    CHECK_ROWS(rows);
    begin();
    CHECK(parse_typed("swizzle S<0,4,3>", &in[0]) && parse_typed("int_tuple 0", &in[1]) &&
          parse_typed("layout 64:1", &in[2]));
    CHECK_INT(cute_apply(arena, NULL, CUTE_OP_MAKE_COMPOSED_LAYOUT, in, 3, NULL, &out, diag), CUTE_INVALID);
    CHECK_INT(cute_apply_dsl(arena, NULL, CUTE_OP_MAKE_COMPOSED_LAYOUT, in, 3, NULL, &out, diag), CUTE_OK);
    CHECK_INT(out.type, CUTE_COMPOSED_LAYOUT);
    CHECK_TEXT(cute_value_text(arena, &out), "64:1");
    end();
}

/* Code comes out of the same functions: what is known costs nothing, the rest its operations. */
static void test_emitted(void)
{
    static const struct {
        const char *operation, *a, *b, *trace;
        int64_t moved;
    } rows[] = {
        {"slice", "memref f16, gmem, \"(8,8):(8,1)\"", "coord (0,_)", "", 0},
        {"slice", "memref f16, gmem, \"(8,8):(8,1)\"", "coord (3,_)", "advance", 24},
        {"slice", "memref f16, gmem, \"(8,8):(8,1)\"", "coord (?,_)", "mul(,c) advance", 40},
        {"slice", "memref f16, gmem, \"(8,8):(8,1)\"", "coord (?,?)", "mul(,c) add(,) advance", 45},
        /* with o = row * 64 the stride of bit 3 is 8 - (o & 64) / 4, the address o ^ (o & 64) / 8; of row 5: 320 ^ 8 */
        {"slice", "memref f16, smem, align<1024>, \"S<1,3,3> o 0 o (2,64):(64,1)\"", "coord (?,_)",
         "mul(,c) and(,c) shr(,c) sub(c,) and(,c) shr(,c) xor(,) advance", 328},
        {"recast_iter", "ptr i8, smem, align<4>", "ptr i16, smem, align<4>", "recast", 0},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        machine m = {.length = 0};
        cute_arith arith = arithmetic(&m);
        cute_operation operation;
        cute_value in[2], out;
        int64_t zero = 0, five = 5;
        void *handles[] = {&five, &five};
        CHECK(cute_operation_find(rows[i].operation, &operation) && parse_typed(rows[i].a, &in[0]) &&
              parse_typed(rows[i].b, &in[1]));
        in[0].pointer = cute_pointer_with_handle(arena, in[0].pointer, &zero);
        CHECK_INT(cute_value_with_handles(arena, &in[1], handles, cute_value_unknowns(&in[1], NULL, 0),
                                          &in[1], diag),
                  CUTE_OK);
        CHECK_INT(cute_apply(arena, &arith, operation, in, 2, NULL, &out, diag), CUTE_OK);
        CHECK_TEXT(m.length ? m.trace : "", rows[i].trace);
        CHECK_INT(*(int64_t *)out.pointer->handle, rows[i].moved);
        CHECK(!m.failed);
    }
    end();
}

int main(void)
{
    TEST("tensors are made of iterators and layouts and taken apart", test_parts);
    TEST("alignment follows the offset", test_alignment);
    TEST("operations on layouts work on tensors", test_as_layouts);
    TEST("tiles and partitions of tensors", test_tiles);
    TEST("coordinates, indices and leafwise arithmetic", test_coordinates);
    TEST("what would be wrong is refused", test_refused);
    TEST("the two dialects differ in what they say of unknowns", test_two_dialects);
    TEST("swizzles of no bits wrap layouts", test_wraps);
    TEST("what is known is not emitted", test_emitted);
    return test_finish();
}
