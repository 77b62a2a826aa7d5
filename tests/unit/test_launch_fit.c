/* Tensors against layouts with unknown leaves: what fills them, and what is refused. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/launch/formula/fit.h"
#include "tests/unit/test.h"

typedef struct fixture {
    cute_arena *arena;
    cute_value layout;
    cute_tensor tensor;
    cute_buffer out;
} fixture;

/* "4096x512:1,4096"; without strides there are none. */
static fixture make(const char *layout, const char *tensor)
{
    fixture f = {.arena = cute_arena_create()};
    CHECK(cute_value_parse_any(f.arena, layout, strlen(layout), &f.layout, NULL, NULL) == CUTE_OK);
    f.tensor.dtype = CUTE_F16;
    const char *at = tensor;
    for (char *end; *at && *at != ':'; at = *end == 'x' ? end + 1 : end)
        f.tensor.shape[f.tensor.rank++] = strtoll(at, &end, 10);
    for (int i = 0; *at && i < f.tensor.rank; i++) {
        char *end;
        f.tensor.strides[i] = strtoll(at + 1, &end, 10);
        at = end;
    }
    return f;
}

static void destroy(fixture *f)
{
    cute_buffer_release(&f->out);
    cute_arena_destroy(f->arena);
}

/* The leaves as "8 16 1", or why the tensor does not fit. */
static void fits(const char *layout, const char *tensor, const char *expected)
{
    fixture f = make(layout, tensor);
    int64_t *leaves;
    size_t count;
    cute_status status = cute_fit(f.arena, &f.layout, &f.tensor, &leaves, &count, &f.out, NULL);
    if (status == CUTE_OK)
        for (size_t i = 0; i < count; i++)
            cute_buffer_printf(&f.out, "%s%lld", i ? " " : "", (long long)leaves[i]);
    if (!CHECK(strcmp(cute_buffer_text(&f.out), expected) == 0))
        printf("# %s against %s: got \"%s\", expected \"%s\"\n", tensor, layout, cute_buffer_text(&f.out),
               expected);
    destroy(&f);
}

/* The strides that a layout asks for. */
static void strides(const char *layout, const char *tensor, const char *expected)
{
    fixture f = make(layout, tensor);
    CHECK(cute_fit_strides(f.arena, &f.layout, &f.tensor));
    for (int i = 0; i < f.tensor.rank; i++)
        cute_buffer_printf(&f.out, "%s%lld", i ? " " : "", (long long)f.tensor.strides[i]);
    if (!CHECK(strcmp(cute_buffer_text(&f.out), expected) == 0))
        printf("# %s for %s: got \"%s\", expected \"%s\"\n", tensor, layout, cute_buffer_text(&f.out),
               expected);
    destroy(&f);
}

/* The shape that a static layout has, "" for an unknown one. */
static void shape(const char *layout, const char *expected)
{
    fixture f = make(layout, "");
    if (cute_fit_shape(&f.layout, &f.tensor)) cute_tensor_shape_text(&f.tensor, &f.out);
    if (!CHECK(strcmp(cute_buffer_text(&f.out), expected) == 0))
        printf("# of %s: got \"%s\", expected \"%s\"\n", layout, cute_buffer_text(&f.out), expected);
    destroy(&f);
}

static void test_order(void)
{
    fits("(?{div=8},?,?):(1,?{i64 div=8},?{i64 div=8})", "64x48x2:1,64,3072", "64 48 2 64 3072");
    fits("(?,?):(?{i64},1)", "5x7:9,1", "5 7 9");
    fits("?:?", "12:3", "12 3");
}

static void test_static_layout(void)
{
    fits("(8,4):(4,1)", "8x4:4,1", "");
}

static void test_named(void)
{
    fits("(?{div=8},?):(1,?)", "100x3:1,100", "mode 0 has extent 100, expected a multiple of 8");
    fits("(64,?):(1,?)", "100x3:1,100", "mode 0 has extent 100, expected 64");
    fits("(?,?):(?,1)", "4x4:1,4", "mode 1 has stride 4, expected 1");
    fits("(?,?):(1,?{div=16})", "4x4:1,24", "mode 1 has stride 24, expected a multiple of 16");
    fits("(?,?):(1,?)", "4:1", "has 1 dimension, expected 2");
    fits("(?,?):(1,?)", "4x4x4:1,4,16", "has 3 dimensions, expected 2");
}

static void test_width(void)
{
    fits("(?,2):(1,?)", "3000000000x2:1,4", "mode 0 has extent 3000000000, which does not fit in 32 bits");
    fits("(2,2):(1,?)", "2x2:1,3000000000", "mode 1 has stride 3000000000, which does not fit in 32 bits");
    fits("(2,2):(1,?{i64})", "2x2:1,3000000000", "3000000000");
}

static void test_extent_one(void)
{
    fits("(?,?):(1,?{div=8})", "4x1:1,4", "4 1 0");
    fits("(?,?):(1,?{div=8})", "4x1:1,16", "4 1 16");
    fits("(4,1):(1,7)", "4x1:1,4", "");
}

static void test_several(void)
{
    /* 24 = 4 * 6, strides 5 and 4 * 5. */
    fits("((4,?),?):((?,?),1)", "24x2:5,1", "6 2 5 20");
    fits("((4,?),?):((?,?),1)", "25x2:5,1", "mode 0 has extent 25, expected a multiple of 4");
    fits("((4,2),3):((1,8),16)", "8x3:1,16",
         "has 2 dimensions, expected 3 ([4,2,3] with strides [1,8,16]), or 44 contiguous elements");
    fits("((?,?),3):((1,?),?)", "8x3:1,16",
         "has one dimension for mode 0, which has several unknown extents: expected one for each of the "
         "layout's 3 leaves");
    fits("((?,?),3):((1,?),?)", "4x2x3:1,4,8", "4 2 4 8");
}

/* The forms in which one tensor is given. */
static void test_hierarchy(void)
{
    static const char layout[] = "((4,3),(2,5)):((1,4),(12,24))";
    fits(layout, "120:1", "");
    fits(layout, "12x10:1,12", "");
    fits(layout, "4x3x2x5:1,4,12,24", "");
    fits(layout, "4x3x10:1,4,12", "");
    static const char forms[] =
        "2 ([12,10] with strides [1,12]) or 4 ([4,3,2,5] with strides [1,4,12,24]), or "
        "120 contiguous elements";
    char expected[256];
    for (const char *const *t = (const char *const[]){"60:1", "120:2", "6x2x10:1,6,12", NULL}; *t; t++) {
        int rank = **t == '6' && (*t)[1] == 'x' ? 3 : 1;
        snprintf(expected, sizeof expected, "has %d dimension%s, expected %s", rank, rank > 1 ? "s" : "",
                 forms);
        fits(layout, *t, expected);
    }
    fits(layout, "12x10:10,1", "mode 0 has stride 10, expected 1");
    /* Row-major, padded and overlapping ones: the memory that they reach. */
    fits("(8,4):(4,1)", "32:1", "");
    fits("(8,4):(8,1)", "60:1", "");
    fits("(26,3):(1,1)", "28:1", "");
    fits("(8,4):(4,1)", "31:1", "has 1 dimension, expected 2, or 32 contiguous elements");
    /* With unknown leaves a flat one does not say what they are. */
    fits("((4,?),(2,5)):((1,4),(?,?))", "120:1",
         "has 1 dimension, expected 2 ([?,10] with strides [1,?]) or 4 ([4,?,2,5] with strides [1,4,?,?])");
    fits("((4,?),(2,5)):((1,4),(?,?))", "12x10:1,12", "3 12 24");
    fits("((4,?),(2,5)):((1,4),(?,?))", "4x3x2x5:1,4,12,24", "3 12 24");
    fits("((4,1),3):((1,0),4)", "4x3:1,4", "");
}

static void test_compact(void)
{
    strides("(?,?):(?,1)", "4x6", "6 1");
    strides("(?,?):(1,?)", "4x6", "1 4");
    strides("(?,?,?):(1,?,?)", "4x6x2", "1 4 24");
    strides("(?,?,?):(?,1,?)", "4x6x2", "6 1 24");
    strides("(?,?,?,?):(?,?,?,1)", "2x3x4x5", "60 20 5 1");
    strides("(?,?):(?,?)", "4x6", "6 1");
    strides("(256,64):(1,256)", "256x64", "1 256");
    strides("((2,4),3):((12,3),1)", "2x4x3", "12 3 1");
    /* Nothing without gaps has it: row-major, so that the message names what is wrong. */
    strides("(4,6):(100,1)", "5x6", "6 1");
}

static void test_shape_of(void)
{
    shape("(256,64):(1,256)", "256x64");
    shape("((2,4),3):((1,2),8)", "8x3");
    shape("((2,4),3):((12,3),1)", "2x4x3");
    shape("16:1", "16");
    shape("(?,4):(4,1)", "");
}

int main(void)
{
    TEST("unknown leaves are filled in their order, shape before stride", test_order);
    TEST("a static layout has no leaves to fill", test_static_layout);
    TEST("a dimension that does not fit is named, with what was expected", test_named);
    TEST("32-bit leaves take no larger numbers", test_width);
    TEST("the stride of an extent of 1 does not matter, and a divisor of it is kept", test_extent_one);
    TEST("a mode of several leaves takes a dimension whose elements follow one another", test_several);
    TEST("a nested layout takes its memory, a dimension for each mode or for each leaf", test_hierarchy);
    TEST("strides that are not given are those of a tensor without gaps that the layout takes", test_compact);
    TEST("a static layout says the shape", test_shape_of);
    return test_finish();
}
