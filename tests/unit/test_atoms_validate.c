/* Whether tilings cover their tiles, over random layouts that are right or broken; and what copies and products are
 * refused for. */
#include "lib/atoms/validate.h"
#include "tests/unit/test_layout.h"

static uint64_t seed = 11;
static int any(int most) /* 1 to most */
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)(seed >> 40) % most + 1;
}

static cute_value parse(cute_type type, const char *text)
{
    cute_value v = {0};
    if (cute_atom_value_parse(arena, type, text, strlen(text), &v, NULL, diag) != CUTE_OK) {
        printf("# %s: %s\n", text, first_message());
        test_fail(__FILE__, __LINE__, "parse");
    }
    return v;
}

/* ---- coverage ---- */

/* A layout of `modes` modes for threads and values, by their extents and strides. */
typedef struct plain {
    int threads, values; /* modes */
    int extent[6];
    int stride[6];
} plain;

static int plain_at(const plain *p, int first, int count, int index)
{
    int at = 0;
    for (int i = first; i < first + count; i++) {
        at += index % p->extent[i] * p->stride[i];
        index /= p->extent[i];
    }
    return at;
}

static int plain_size(const plain *p, int first, int count)
{
    int size = 1;
    for (int i = first; i < first + count; i++) size *= p->extent[i];
    return size;
}

static const char *tuple_text(const int *numbers, int count)
{
    const char *text = "(";
    for (int i = 0; i < count; i++) text = cute_arena_printf(arena, "%s%s%d", text, i ? "," : "", numbers[i]);
    return cute_arena_printf(arena, "%s)", text);
}

static cute_layout layout_of(const plain *p)
{
    const char *text =
        cute_arena_printf(arena, "(%s,%s):(%s,%s)", tuple_text(p->extent, p->threads),
                          tuple_text(p->extent + p->threads, p->values), tuple_text(p->stride, p->threads),
                          tuple_text(p->stride + p->threads, p->values));
    return parse(CUTE_LAYOUT, text).layout;
}

/* Extents whose product fills a tile, strides of a random order of the modes: covered once. Then perhaps one is broken. */
static void random_plain(plain *p, int *cells)
{
    int modes, order[6];
    p->threads = any(3);
    p->values = any(3);
    modes = p->threads + p->values;
    for (int i = 0; i < modes; i++) p->extent[i] = any(4), order[i] = i;
    for (int i = modes - 1; i > 0; i--) {
        int j = any(i + 1) - 1, swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    *cells = 1;
    for (int i = 0; i < modes; i++) {
        p->stride[order[i]] = *cells;
        *cells *= p->extent[order[i]];
    }
    if (any(3) == 1) return;
    int i = any(modes) - 1;
    if (any(4) == 1) { /* once more with the same elements */
        p->stride[i] = 0;
        *cells /= p->extent[i];
        for (int j = 0; j < modes; j++)
            if (p->stride[j] > *cells || (p->stride[j] == *cells && p->extent[j] > 1))
                p->stride[j] /= p->extent[i];
    } else if (any(2) == 1) {
        p->stride[i] = any(2 * p->stride[i] + 1) - 1;
    } else {
        p->extent[i] = any(5);
    }
}

static void test_random(void)
{
    int seen[CUTE_COVER_UNKNOWN + 1] = {0};
    for (int trial = 0; trial < 4000; trial++) {
        begin();
        plain p;
        int cells, count[4096] = {0}, thread_of[4096];
        random_plain(&p, &cells);
        int threads = plain_size(&p, 0, p.threads), values = plain_size(&p, p.threads, p.values);
        cute_cover_kind kind = CUTE_COVER_ONCE;
        for (int t = 0; t < threads; t++)
            for (int v = 0; v < values; v++) {
                int at = plain_at(&p, 0, p.threads, t) + plain_at(&p, p.threads, p.values, v);
                cute_cover_kind here = at >= cells          ? CUTE_COVER_OUTSIDE
                                       : !count[at]         ? CUTE_COVER_ONCE
                                       : thread_of[at] == t ? CUTE_COVER_TWICE
                                                            : CUTE_COVER_SHARED;
                if (here > kind) kind = here;
                if (at < cells && !count[at]++) thread_of[at] = t;
            }
        for (int i = 0; i < cells; i++)
            if (!count[i] && kind < CUTE_COVER_NEVER) kind = CUTE_COVER_NEVER;
        cute_cover cover;
        CHECK_INT(cute_cover_of(arena, layout_of(&p), cells, 1, &cover, diag), CUTE_OK);
        if (cover.kind != kind) {
            printf("# %s of %d\n", cute_layout_text(arena, layout_of(&p)), cells);
            CHECK_INT(cover.kind, kind);
        }
        seen[kind]++;
        /* What it says of its witness holds. */
        int at[2];
        for (int i = 0; i < 2; i++)
            at[i] = plain_at(&p, 0, p.threads, (int)cover.thread[i]) +
                    plain_at(&p, p.threads, p.values, (int)cover.value[i]);
        if (kind == CUTE_COVER_NEVER) CHECK(count[cover.element] == 0);
        if (kind == CUTE_COVER_OUTSIDE) CHECK(at[0] == cover.element && at[0] >= cells);
        if (kind == CUTE_COVER_SHARED || kind == CUTE_COVER_TWICE) {
            CHECK(at[0] == cover.element && at[1] == cover.element);
            CHECK((cover.thread[0] == cover.thread[1]) == (kind == CUTE_COVER_TWICE));
            CHECK(cover.thread[0] != cover.thread[1] || cover.value[0] != cover.value[1]);
        }
        CHECK((cute_cover_text(arena, &cover) != NULL) == (kind != CUTE_COVER_ONCE));
        end();
    }
    for (int kind = CUTE_COVER_ONCE; kind < CUTE_COVER_UNKNOWN; kind++)
        if (!CHECK(seen[kind] > 50)) printf("# %d of kind %d\n", seen[kind], kind);
}

#define COPY(tv, tiler)                                                                                      \
    "!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <\"" tv "\">, tiler_mn = <\"" tiler "\">"
#define MMA(atoms)                                                                                           \
    "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <\"" atoms "\">"

static void test_tilings(void)
{
    static const struct {
        cute_type type;
        const char *text;
        int operand;
        const char *says; /* NULL: covered once */
    } rows[] = {
        {CUTE_TILED_COPY, COPY("((16,8),8):((64,1),8)", "[8:1;128:1]"), CUTE_ATOM_DESTINATION, NULL},
        {CUTE_TILED_COPY, COPY("((16,8),8):((64,1),8)", "[8:1;256:1]"), CUTE_ATOM_DESTINATION,
         "element (0,128) of its tile of 8 x 256 belongs to no thread"},
        {CUTE_TILED_COPY, COPY("((16,8),8):((64,1),8)", "[8:1;64:1]"), CUTE_ATOM_DESTINATION,
         "value 0 of thread 8 is element 512, outside its tile of 8 x 64"},
        {CUTE_TILED_COPY, COPY("(32,(2,2)):(2,(1,9223372036854775807))", "[64:1;2:1]"), CUTE_ATOM_SOURCE,
         "value 2 of thread 0 is element 9223372036854775807, outside its tile of 64 x 2"},
        {CUTE_TILED_COPY, COPY("((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))", "[32:1;16:1]"),
         CUTE_ATOM_DESTINATION,
         "element (0,0) of its tile of 32 x 16 is value 0 of thread 0 and value 0 of thread 64"},
        {CUTE_TILED_COPY, COPY("(32,(2,2)):(2,(1,1))", "[64:1;1:0]"), CUTE_ATOM_SOURCE,
         "value 3 of thread 31 is element 64, outside its tile of 64 x 1"},
        {CUTE_TILED_COPY, COPY("(32,(2,2)):(2,(1,0))", "[64:1;1:0]"), CUTE_ATOM_SOURCE,
         "element (0,0) of its tile of 64 x 1 is value 0 and value 2 of thread 0"},
        {CUTE_TILED_MMA, MMA("(2,2,1):(1,2,0)"), CUTE_ATOM_C, NULL},
        {CUTE_TILED_MMA, MMA("(2,2,1):(1,2,0)"), CUTE_ATOM_A,
         "element (0,0) of its tile of 32 x 16 is value 0 of thread 0 and value 0 of thread 64"},
        {CUTE_TILED_MMA, MMA("(2,2,1):(1,2,0)") ", permutation_MNK = <\"[64:1;32:1;16:1]\">", CUTE_ATOM_C,
         NULL},
        {CUTE_TILED_MMA,
         MMA("(2,2,1):(1,2,0)") ", permutation_MNK = <\"[(16,2,2):(1,16,32);(8,2):(1,8);_]\">", CUTE_ATOM_C,
         NULL},
        {CUTE_TILED_COPY,
         "!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>, layout_copy_tv = <\"((32,4),(128,32)):"
         "((0,1),(128,4))\">, tiler_mn = <\"[(4,32):(32,1);128:1]\">",
         CUTE_ATOM_SOURCE, NULL},
    };
    begin();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_value v = parse(rows[i].type, rows[i].text);
        cute_cover cover;
        CHECK_INT(cute_tiling_cover(arena, &v, rows[i].operand, &cover, diag), CUTE_OK);
        const char *says = cute_cover_text(arena, &cover);
        if (rows[i].says)
            CHECK_TEXT(says, rows[i].says);
        else if (!CHECK(!says))
            printf("# %s\n# %s\n", rows[i].text, says);
    }
    int64_t first[3], second[3];
    cute_value good = parse(CUTE_TILED_MMA, MMA("(2,2,1):(1,2,0)")),
               bad = parse(CUTE_TILED_MMA, MMA("(2,2,2):(1,2,3)"));
    CHECK(!cute_mma_overlap(&good, first, second));
    CHECK(cute_mma_overlap(&bad, first, second));
    CHECK_INT(first[0] * 100 + first[1] * 10 + first[2], 110); /* 1 + 2 = 3 */
    CHECK_INT(second[0] * 100 + second[1] * 10 + second[2], 1);
    end();
}

/* ---- operands ---- */

#define ASYNC "!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>"
#define WIDE  "!cute_nvgpu.atom.universal_copy<f16, 128 b>"
#define LDSM                                                                                                 \
    "!cute_nvgpu.atom.ldsm<val_type = f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 2, n>"

static const struct {
    const char *atom, *source, *target, *predicate, *says;
} copies[] = {
    {ASYNC, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", NULL, NULL},
    {ASYNC, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((8,1),4):((1,0),64)\"", "i8, rmem, \"(1,4):(0,1)\"", NULL},
    {ASYNC, "f16, gmem, align<16>, \"((8,1),?):((1,0),?{div=8})\"",
     "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", NULL, NULL},
    {ASYNC, "f16, gmem, align<16>, \"((8,1),?):((1,0),?)\"", "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"",
     NULL, "needs an alignment of 16 bytes, the source states 2"},
    {LDSM, "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, \"((4,1),4):((1,0),4)\"", NULL,
     NULL},
    {WIDE, "f16, rmem, \"((8,2),4):((1,8),16)\"", "f16, gmem, align<16>, \"((8,2),4):((1,64),?{div=8})\"",
     NULL, NULL},
    {ASYNC, "f16, gmem, \"((8,1),4):((1,0),64)\"", "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "needs an alignment of 16 bytes, the source states 2"},
    {ASYNC, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, smem, align<8>, \"((8,1),4):((1,0),64)\"",
     NULL, "needs an alignment of 16 bytes, the destination states 8"},
    {ASYNC, "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "expected the source of '" ASYNC "' in gmem, got smem"},
    {ASYNC, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"", NULL, "in smem, got rmem"},
    {ASYNC, "bf16, gmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "expected elements of f16 in the source of '" ASYNC "', got bf16"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),5):((1,0),64)\"",
     NULL, "mode 1 of the source has 4, of the destination 5"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f16, rmem, align<16>, \"((8,1),2,2):((1,0),64,8)\"", NULL, "the source has 2 modes, the destination 3"},
    {WIDE, "f16, gmem, align<16>, \"((4,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"",
     NULL, "takes 8 values at a time, but mode 0 of the source has 4, which is not a multiple"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((2,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"",
     NULL, "needs 8 consecutive elements, the source has 1"},
    {WIDE, "f16, smem, align<16>, \"S<3,2,3> o 0 o ((8,1),4):((1,0),64)\"",
     "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "needs 8 consecutive elements, the source has 4"},
    {LDSM, "f16, smem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, \"((8,1),4):((1,0),8)\"", NULL,
     "mode 0 of the source has 1 times the atom's values, of the destination 2"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "i8, rmem, \"(1,5):(0,1)\"", "mode 1 of the source has 4, of the predicate 5"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "i8, rmem, \"4:1\"", "the source has 2 modes, the predicate 1"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"",
     "f32, rmem, \"(1,4):(0,1)\"", "expected a predicate of i8 or i1 in rmem, got f32 in rmem"},
    {"!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >",
     "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "expected a copy atom, got '!cute_nvgpu.sm80.mma"},
    {WIDE, "f16, gmem, align<16>, \"()\"", "f16, rmem, align<16>, \"((8,1),4):((1,0),64)\"", NULL,
     "in mode 0 as the source, got a tensor without modes"},
    {WIDE, "f16, gmem, align<16>, \"((8,1),4):((1,0),64)\"", "f16, rmem, align<16>, \"()\"", NULL,
     "in mode 0 as the destination, got a tensor without modes"},
};

static void test_copies(void)
{
    begin();
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        cute_value atom = parse(CUTE_ATOM, copies[i].atom), s = parse(CUTE_MEMREF, copies[i].source),
                   t = parse(CUTE_MEMREF, copies[i].target), p = {0};
        if (copies[i].predicate) p = parse(CUTE_MEMREF, copies[i].predicate);
        cute_diag_clear(diag);
        cute_status status = cute_copy_verify(arena, &atom, &s, &t, copies[i].predicate ? &p : NULL, diag);
        bool good = copies[i].says ? status == CUTE_INVALID && strstr(first_message(), copies[i].says)
                                   : status == CUTE_OK;
        if (good) continue;
        printf("# %zu: says\n#   %s\n# not\n#   %s\n", i, status ? first_message() : "nothing",
               copies[i].says);
        test_fail(__FILE__, __LINE__, "copy");
    }
    end();
}

#define D "f32, rmem, align<16>, \"((2,2),2,4):((1,2),4,8)\""
#define A "f16, rmem, align<16>, \"((2,2,2),2,3):((1,2,4),8,16)\""
#define B "f16, rmem, align<8>, \"((2,2),4,3):((1,2),4,16)\""

static void test_products(void)
{
    static const struct {
        const char *d, *a, *b, *c, *says;
    } rows[] = {
        {D, A, B, D, NULL},
        {D, "f16, rmem, \"((2,2,2),2):((1,2,4),8)\"", "f16, rmem, \"((2,2),4):((1,2),4)\"", D, NULL},
        {D, "bf16, rmem, \"((2,2,2),2):((1,2,4),8)\"", B, D,
         "expected elements of f16 in the A of '!cute_nvgpu.sm80.mma"},
        {D, A, B, "f16, rmem, \"((2,2),2,4):((1,2),4,8)\"", "expected elements of f32 in the C of"},
        {D, "f16, smem, \"((2,2,2),2,3):((1,2,4),8,16)\"", B, D,
         "expected the A of '!cute_nvgpu.sm80.mma<16x8x16, elem_type = "
         "(f16, f16, f32) >' in rmem, got smem"},
        {D, "f16, rmem, \"((2,2),2,3):((1,2),8,16)\"", B, D, "expected 8 values of '"},
        {D, "f16, rmem, \"((2,2,2),3,3):((1,2,4),8,24)\"", B, D, "A has 3 along M, D 2"},
        {D, A, "f16, rmem, \"((2,2),5,3):((1,2),4,20)\"", D, "B has 5 along N, D 4"},
        {D, A, "f16, rmem, \"((2,2),4,2):((1,2),4,16)\"", D, "A has 3 along K, B 2"},
        {D, A, B, "f32, rmem, \"((2,2),2,5):((1,2),4,8)\"", "C has 5 along N, D 4"},
        {D, A, "f16, rmem, \"()\"", D, "in mode 0 as the B, got a tensor without modes"},
    };
    begin();
    cute_value atom = parse(CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, f16, f32) >");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_value operands[4] = {parse(CUTE_MEMREF, rows[i].d), parse(CUTE_MEMREF, rows[i].a),
                                  parse(CUTE_MEMREF, rows[i].b), parse(CUTE_MEMREF, rows[i].c)};
        cute_diag_clear(diag);
        cute_status status = cute_gemm_verify(arena, &atom, operands, diag);
        bool good = rows[i].says ? status == CUTE_INVALID && strstr(first_message(), rows[i].says)
                                 : status == CUTE_OK;
        if (good) continue;
        printf("# %zu: says\n#   %s\n# not\n#   %s\n", i, status ? first_message() : "nothing", rows[i].says);
        test_fail(__FILE__, __LINE__, "product");
    }
    end();
}

int main(void)
{
    TEST("whether a tile is covered, and by whom, is what trying all elements says", test_random);
    TEST("tilings say which element is missing, doubled or not there", test_tilings);
    TEST("copies are refused for spaces, elements, alignment, order and extents", test_copies);
    TEST("products are refused for elements, spaces, values and extents", test_products);
    return test_finish();
}
