/* Injectivity and contiguity, worked out from strides, against trying all coordinates; pictures against
 * evaluation. */
#include "lib/calculator/picture.h"
#include "lib/layout/facts.h"
#include "tests/unit/test.h"

static uint64_t state = 20261121;

static int64_t random_below(int64_t n) /* xorshift */
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

enum { MOST_MODES = 5, MOST_POINTS = 4096 };

typedef struct flat {
    int64_t shape[MOST_MODES], stride[MOST_MODES];
    int count;
} flat;

/* Small and overlapping, or nearly compact in a random order: both answers are frequent. */
static flat random_flat(void)
{
    flat f = {.count = (int)random_below(MOST_MODES) + 1};
    int64_t compact = 1;
    bool nearly = random_below(2);
    for (int i = 0; i < f.count; i++) {
        f.shape[i] = random_below(5) + 1 + (random_below(8) == 0) * random_below(8);
        f.stride[i] = nearly ? compact + (random_below(6) == 0) * random_below(3) : random_below(30);
        if (random_below(6) == 0) f.stride[i] = -f.stride[i];
        compact *= f.shape[i];
    }
    for (int i = f.count - 1; i > 0; i--) {
        int j = (int)random_below(i + 1);
        int64_t s = f.shape[i], d = f.stride[i];
        f.shape[i] = f.shape[j];
        f.stride[i] = f.stride[j];
        f.shape[j] = s;
        f.stride[j] = d;
    }
    return f;
}

static const char *text_of(cute_arena *arena, const flat *f, const char *before)
{
    const char *shape = "", *stride = "";
    for (int i = 0; i < f->count; i++) {
        shape = cute_arena_printf(arena, "%s%s%" PRId64, shape, i ? "," : "", f->shape[i]);
        stride = cute_arena_printf(arena, "%s%s%" PRId64, stride, i ? "," : "", f->stride[i]);
    }
    return cute_arena_printf(arena, "%s(%s):(%s)", before, shape, stride);
}

static int compare(const void *left, const void *right)
{
    int64_t x = *(const int64_t *)left, y = *(const int64_t *)right;
    return (x > y) - (x < y);
}

static int64_t xor_bits(int64_t x, int bits, int base, int shift)
{
    int64_t field = x >> (base + shift) & ((1 << bits) - 1);
    return x ^ field << base;
}

/* All indices; `bits` 0: no swizzle. Returns whether the facts agree. */
static bool agrees(const flat *f, int64_t offset, int bits, int base, int shift,
                   const cute_layout_facts *facts)
{
    static int64_t seen[MOST_POINTS];
    int64_t size = 1;
    for (int i = 0; i < f->count; i++) size *= f->shape[i];
    for (int64_t n = 0; n < size; n++) {
        int64_t rest = n, index = offset;
        for (int i = 0; i < f->count; i++) {
            index += rest % f->shape[i] * f->stride[i];
            rest /= f->shape[i];
        }
        seen[n] = xor_bits(index, bits, base, shift);
    }
    qsort(seen, (size_t)size, sizeof *seen, compare);
    bool injective = true, contiguous = true;
    for (int64_t n = 1; n < size; n++) {
        injective = injective && seen[n] != seen[n - 1];
        contiguous = contiguous && seen[n] == seen[n - 1] + 1;
    }
    return facts->has_size && facts->size == size && facts->injective == (injective ? CUTE_YES : CUTE_NO) &&
           facts->contiguous == (contiguous ? CUTE_YES : CUTE_NO);
}

static int64_t size_of(const flat *f)
{
    int64_t size = 1;
    for (int i = 0; i < f->count; i++) size *= f->shape[i];
    return size;
}

static bool check(const flat *f, const char *text, cute_arena *arena, int64_t offset, int bits, int base,
                  int shift)
{
    cute_value value;
    cute_layout_facts facts;
    if (!CHECK(cute_value_parse_any(arena, text, strlen(text), &value, NULL, NULL) == CUTE_OK)) return false;
    cute_layout_facts_of(arena, &value, &facts);
    if (agrees(f, offset, bits, base, shift, &facts)) return true;
    printf("# %s: size %" PRId64 ", injective %d, contiguous %d\n", text, facts.size, (int)facts.injective,
           (int)facts.contiguous);
    return CHECK(false && text);
}

static void test_layouts(void)
{
    int cases = 0;
    while (cases < 50000) {
        flat f = random_flat();
        if (size_of(&f) > MOST_POINTS) continue;
        cute_arena *arena = cute_arena_create();
        bool ok = check(&f, text_of(arena, &f, ""), arena, 0, 0, 0, 0);
        cute_arena_destroy(arena);
        if (!ok) return;
        cases++;
    }
}

static void test_swizzled(void)
{
    int cases = 0;
    while (cases < 10000) {
        flat f = random_flat();
        int bits = (int)random_below(3) + 1, base = (int)random_below(3), shift = bits + (int)random_below(2);
        int64_t offset = random_below(2) * random_below(40);
        if (size_of(&f) > MOST_POINTS) continue;
        cute_arena *arena = cute_arena_create();
        char before[64];
        snprintf(before, sizeof before, "S<%d,%d,%d> o %" PRId64 " o ", bits, base, shift, offset);
        bool ok = check(&f, text_of(arena, &f, before), arena, offset, bits, base, shift);
        cute_arena_destroy(arena);
        if (!ok) return;
        cases++;
    }
}

/* A o offset o B with A = (6,4):(4,1), a transposition: all its indices are one to one below 24. */
static void test_composed(void)
{
    static const struct {
        const char *text;
        cute_truth injective, contiguous;
    } cases[] = {
        {"(6,4):(4,1) o 0 o 24:1", CUTE_YES, CUTE_YES},
        {"(6,4):(4,1) o 0 o (2,12):(12,1)", CUTE_YES, CUTE_YES},
        {"(6,4):(4,1) o 0 o 12:2", CUTE_YES, CUTE_NO},
        {"(6,4):(4,0) o 0 o 24:1", CUTE_NO, CUTE_NO},
        {"(6,4):(4,1) o 6 o 6:1", CUTE_YES, CUTE_NO},
        {"(4,6):(1,4) o (0,1) o (4,2):(1@0,1@1)", CUTE_YES, CUTE_YES},
        {"((2,2),3):((1@0,2@0),1@1)", CUTE_YES, CUTE_YES},
        {"(2,3):(1@0,1@0)", CUTE_NO, CUTE_NO},
        {"(2,3):(1@0,2@0)", CUTE_YES, CUTE_YES},
        {"(2,3):(1@0,3@0)", CUTE_YES, CUTE_NO},
        {"(2,3):(0,1@1)", CUTE_NO, CUTE_NO},
        {"1:5", CUTE_YES, CUTE_YES},
        {"(?,2):(1,4)", CUTE_UNDECIDED, CUTE_UNDECIDED},
    };
    cute_arena *arena = cute_arena_create();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cute_value value;
        cute_layout_facts facts;
        if (!CHECK(cute_value_parse_any(arena, cases[i].text, strlen(cases[i].text), &value, NULL, NULL) ==
                   CUTE_OK))
            continue;
        cute_layout_facts_of(arena, &value, &facts);
        if (facts.injective != cases[i].injective || facts.contiguous != cases[i].contiguous)
            printf("# %s: injective %d, contiguous %d\n", cases[i].text, (int)facts.injective,
                   (int)facts.contiguous);
        CHECK(facts.injective == cases[i].injective && facts.contiguous == cases[i].contiguous);
    }
    cute_arena_destroy(arena);
}

/* ---- pictures ---- */

static cute_status draw(cute_arena *arena, const char *text, const char *tile, cute_picture_colour colour,
                        cute_picture *out)
{
    cute_value value, shape;
    cute_picture_options options = {
        .colour = colour, .element_bits = 16, .most_cells = 1000, .most_side = 1000};
    if (!CHECK(cute_value_parse_any(arena, text, strlen(text), &value, NULL, NULL) == CUTE_OK))
        return CUTE_INVALID;
    if (tile) {
        if (cute_value_parse(arena, CUTE_SHAPE, tile, strlen(tile), &shape, NULL, NULL) != CUTE_OK)
            return CUTE_INVALID;
        options.tile = shape.tree;
    }
    return cute_picture_create(arena, &value, &options, out, NULL);
}

static void test_cells(void)
{
    cute_arena *arena = cute_arena_create();
    cute_picture p;
    CHECK(draw(arena, "(2,3,4):(100,10,1)", NULL, CUTE_COLOUR_BANK, &p) == CUTE_OK);
    CHECK_INT(p.rows, 2);
    CHECK_INT(p.columns, 3);
    CHECK_INT(p.sheets, 4);
    for (size_t i = 0; i < 24; i++) {
        int64_t index = (int64_t)(i / 3 % 2 * 100 + i % 3 * 10 + i / 6);
        CHECK_INT(strtoll(p.cells[i].first, NULL, 10), index);
        CHECK_INT(p.cells[i].colour, index / 2 % 32); /* two elements of 16 bits a bank */
    }
    CHECK_TEXT(p.sheet_titles[3], "(_,_,3)");
    cute_arena_destroy(arena);
}

/* The m16n8 accumulator of mma.m16n8k16 (PTX ISA): thread t holds rows t/4 and t/4+8, columns t%4*2 and +1;
 * values go along the row first. */
static void test_threads(void)
{
    cute_arena *arena = cute_arena_create();
    cute_picture p, q;
    CHECK(draw(arena, "((4,8),(2,2)):((32,1),(16,8))", "(16,8)", CUTE_COLOUR_DEFAULT, &p) == CUTE_OK);
    CHECK(draw(arena, "((4,8),(2,2)):((2@1,1@0),(1@1,8@0))", "(16,8)", CUTE_COLOUR_DEFAULT, &q) == CUTE_OK);
    CHECK_INT(p.hidden, 0);
    for (size_t row = 0; row < 16; row++)
        for (size_t column = 0; column < 8; column++) {
            char thread[8], value[8];
            const cute_cell *cell = &p.cells[row * 8 + column], *same = &q.cells[row * 8 + column];
            snprintf(thread, sizeof thread, "T%zu", row % 8 * 4 + column / 2);
            snprintf(value, sizeof value, "V%zu", column % 2 + row / 8 * 2);
            CHECK_TEXT(cell->first, thread);
            CHECK_TEXT(cell->second, value);
            CHECK_TEXT(same->first, thread);
            CHECK_TEXT(same->second, value);
        }
    CHECK(draw(arena, "(8,1):(1@0,0)", "(4,2)", CUTE_COLOUR_DEFAULT, &p) == CUTE_INVALID);
    CHECK(draw(arena, "(4,2):(1,-1)", "(4,2)", CUTE_COLOUR_DEFAULT, &p) == CUTE_INVALID);
    CHECK(draw(arena, "(4,2):(1,0)", "(4,2)", CUTE_COLOUR_DEFAULT, &p) == CUTE_OK);
    CHECK_INT(p.hidden, 4);
    CHECK(!p.cells[1].first);
    cute_arena_destroy(arena);
}

static void test_palettes(void)
{
    int seen[32];
    for (int i = 0; i < 32; i++) {
        int rgb[3];
        cute_picture_rgb(CUTE_COLOUR_BANK, i, rgb);
        for (int j = 0; j < 3; j++) CHECK(rgb[j] >= 150 && rgb[j] <= 255); /* black text is readable */
        seen[i] = rgb[0] << 16 | rgb[1] << 8 | rgb[2];
        for (int j = 0; j < i; j++) CHECK(seen[j] != seen[i]);
    }
}

int main(void)
{
    TEST("50,000 layouts are as injective and contiguous as trying them shows", test_layouts);
    TEST("10,000 swizzled layouts are as injective and contiguous as trying them shows", test_swizzled);
    TEST("composed layouts and basis vectors have facts, unknown numbers none", test_composed);
    TEST("the cells of a picture have the layout's indices and their banks", test_cells);
    TEST("threads and values are where the PTX manual has them", test_threads);
    TEST("the 32 banks have 32 colours", test_palettes);
    return test_finish();
}
