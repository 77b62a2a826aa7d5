/* How wide copies may be, and what the lanes of a warp touch, against every element one by one. */
#include "lib/atoms/access.h"
#include "lib/base/numbers/mix.h"
#include "tests/unit/test_layout.h"

static uint64_t seed;

static int64_t below(int64_t n)
{
    seed += CUTE_MIX_STEP;
    return (int64_t)(cute_mix(seed) % (uint64_t)n);
}

static cute_value tensor(const char *text)
{
    cute_value value = {0};
    if (cute_value_parse(arena, CUTE_MEMREF, text, strlen(text), &value, NULL, diag) != CUTE_OK) {
        printf("# %s: %s\n", text, first_message());
        test_fail(__FILE__, __LINE__, "tensor");
    }
    return value;
}

/* The index of a layout at a linear coordinate: evaluated here, not by the library. */
static int64_t at_linear(const cute_tree *shape, const cute_tree *stride, int64_t *index)
{
    if (shape->kind == CUTE_TREE_INT) {
        int64_t c = *index % shape->value.value;
        *index /= shape->value.value;
        return c * stride->value.value;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < shape->count; i++) sum += at_linear(shape->items[i], stride->items[i], index);
    return sum;
}

static int64_t at(cute_layout layout, int64_t i)
{
    return at_linear(layout.shape, layout.stride, &i);
}

static int64_t size_of(const cute_tree *t)
{
    int64_t size = 1;
    if (t->kind == CUTE_TREE_INT) return t->value.value;
    for (uint32_t i = 0; i < t->count; i++) size *= size_of(t->items[i]);
    return size;
}

/* ---- widths ---- */

static cute_widest widest(const char *source, const char *target, const char *predicate, int64_t values)
{
    cute_widest out = {0};
    cute_value s = tensor(source), t = tensor(target), p = predicate ? tensor(predicate) : s;
    cute_status status = cute_copy_widest(arena, &s, &t, predicate ? &p : NULL, values, 128, &out, diag);
    if (status != CUTE_OK) {
        printf("# %s to %s: %s\n", source, target, first_message());
        test_fail(__FILE__, __LINE__, "widest");
    }
    return out;
}

#define WIDEST(count, limit_text, ...)                                                                       \
    do {                                                                                                     \
        cute_widest w_ = widest(__VA_ARGS__);                                                                \
        CHECK_INT(w_.elements, count);                                                                       \
        CHECK_TEXT(w_.limit ? w_.limit : "(the instruction)", limit_text);                                   \
    } while (0)

static void test_limits(void)
{
    begin();
    WIDEST(4, "(the instruction)", "f32, gmem, align<16>, \"(4,8):(1,4)\"", "f32, rmem, \"(4,8):(1,4)\"",
           NULL, 1);
    WIDEST(1, "the source is aligned to 4 bytes, not to 8", "f32, gmem, \"(4,8):(1,4)\"",
           "f32, rmem, \"(4,8):(1,4)\"", NULL, 1);
    WIDEST(2, "the destination is aligned to 8 bytes, not to 16", "f32, smem, align<32>, \"32:1\"",
           "f32, gmem, align<8>, \"32:1\"", NULL, 1);
    WIDEST(4, "(the instruction)", "f32, gmem, align<16>, \"(4,8):(1,?{div=4})\"",
           "f32, rmem, \"(4,8):(1,4)\"", NULL, 1);
    WIDEST(2, "the stride ?{i64 div=6} of the source is not known to be a multiple of 4",
           "f32, gmem, align<16>, \"(4,8):(1,?{i64 div=6})\"", "f32, rmem, \"(4,8):(1,4)\"", NULL, 1);
    WIDEST(1, "the stride ? of the source is not known to be a multiple of 2",
           "f32, gmem, align<16>, \"(4,8):(1,?)\"", "f32, rmem, \"(4,8):(1,4)\"", NULL, 1);
    WIDEST(1, "the stride 5 of the source is not a multiple of 2", "f32, gmem, align<16>, \"(4,8):(1,5)\"",
           "f32, rmem, \"(4,8):(1,4)\"", NULL, 1);
    WIDEST(1, "no two elements are contiguous in both tensors", "f32, gmem, align<16>, \"(4,8):(1,4)\"",
           "f32, rmem, \"(4,8):(8,1)\"", NULL, 1);
    WIDEST(2, "2 elements are contiguous in both tensors, not 4", "f16, gmem, align<16>, \"(2,8):(1,8)\"",
           "f16, rmem, \"(2,8):(1,2)\"", NULL, 1);
    /* registers need no alignment, memory does */
    WIDEST(8, "(the instruction)", "f16, rmem, \"(8,3):(1,11)\"", "f16, smem, align<16>, \"(8,3):(1,64)\"",
           NULL, 1);
    /* what moves at once may lie in several modes, in another order */
    WIDEST(4, "(the instruction)", "f32, gmem, align<16>, \"(2,8,2):(1,4,2)\"",
           "f32, rmem, \"(2,8,2):(1,4,2)\"", NULL, 1);
    WIDEST(4, "(the instruction)", "f32, gmem, align<16>, \"(8,12):(12,1)\"", "f32, rmem, \"(8,12):(12,1)\"",
           NULL, 1);
    WIDEST(1, "2 elements have different predicates", "f32, gmem, align<16>, \"((1,4),8):((0,1),4)\"",
           "f32, rmem, \"((1,4),8):((0,1),4)\"", "i8, rmem, \"(4,8):(1,4)\"", 1);
    WIDEST(4, "(the instruction)", "f32, gmem, align<16>, \"((1,4),8):((0,1),4)\"",
           "f32, rmem, \"((1,4),8):((0,1),4)\"", "i8, rmem, \"(4,8):(0,1)\"", 1);
    WIDEST(2, "4 elements have different predicates", "f32, gmem, align<16>, \"((2,4),8):((1,2),8)\"",
           "f32, rmem, \"((2,4),8):((1,2),8)\"", "i8, rmem, \"(4,8):(1,4)\"", 2);
    WIDEST(4, "the swizzle of the destination keeps 8 bytes together",
           "f16, gmem, align<16>, \"(8,8):(1,8)\"", "f16, smem, align<16>, S<2,3,3>, \"(8,8):(1,8)\"", NULL,
           1);
    WIDEST(4, "the swizzle of the destination keeps 4 elements together",
           "f16, gmem, align<16>, \"(8,8):(1,8)\"", "f16, smem, align<16>, \"S<2,2,3> o 0 o (8,8):(1,8)\"",
           NULL, 1);
    WIDEST(8, "(the instruction)", "f16, gmem, align<16>, \"(8,8):(1,8)\"",
           "f16, smem, align<16>, \"S<2,3,3> o 0 o (8,8):(1,8)\"", NULL, 1);
    WIDEST(4, "the offset 4 of the destination is not known to be a multiple of 8",
           "f16, gmem, align<16>, \"(8,8):(1,8)\"", "f16, smem, align<16>, \"S<2,3,3> o 4 o (8,8):(1,8)\"",
           NULL, 1);
    end();
}

static void check_no_copy(const char *source, const char *target, const char *predicate, int64_t values,
                          const char *message)
{
    cute_widest out;
    begin();
    cute_value s = tensor(source), t = tensor(target), p = predicate ? tensor(predicate) : s;
    CHECK_INT(cute_copy_widest(arena, &s, &t, predicate ? &p : NULL, values, 128, &out, diag), CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), message);
    end();
}

static void test_refused(void)
{
    check_no_copy("f32, gmem, \"(4,8):(1,4)\"", "f32, rmem, \"(4,4):(1,4)\"", NULL, 1,
                  "the source has 32 elements, the destination 16");
    check_no_copy("f32, gmem, \"(4,8):(1,4)\"", "f32, rmem, \"(4,8):(1,4)\"", "i8, rmem, \"(4,8):(1,4)\"", 2,
                  "the source has 32 elements, the predicate 64");
    check_no_copy("f32, gmem, \"(4,?):(1,4)\"", "f32, rmem, \"(4,4):(1,4)\"", NULL, 1,
                  "an extent is only known at run time");
    check_no_copy("f32, gmem, \"(4,6):(1,4)\"", "f32, rmem, \"(6,4):(1,6)\"", NULL, 1,
                  "the modes of the destination do not match those of the source");
    check_no_copy("f32, gmem, \"4:1\"", "f16, rmem, \"4:1\"", NULL, 1,
                  "expected elements of equal size, got 32 and 16 bits");
}

/* A compact layout of 2 to 4 modes of small extents in any order, some with gaps. */
static cute_value random_tensor(const int64_t *extents, int count, int64_t align)
{
    const cute_tree *shapes[4], *strides[4];
    int64_t stride = 1, of[4] = {0};
    bool done[4] = {0};
    for (int n = 0; n < count; n++) {
        int i = (int)below(count);
        while (done[i]) i = (i + 1) % count;
        done[i] = true;
        of[i] = stride;
        stride *= extents[i];
        if (!below(4)) stride += below(4) * 2;
    }
    for (int i = 0; i < count; i++) {
        shapes[i] = cute_tree_number(arena, extents[i]);
        strides[i] = cute_tree_number(arena, of[i]);
    }
    cute_value value = tensor("f16, gmem, \"4:1\"");
    cute_pointer *p = cute_arena_alloc(arena, sizeof *p);
    *p = *value.pointer;
    p->align = align;
    value.pointer = p;
    value.layout.shape = cute_tree_tuple(arena, shapes, (size_t)count);
    value.layout.stride = cute_tree_tuple(arena, strides, (size_t)count);
    return value;
}

enum { MOST = 4096 };

/* Whether the copy falls apart into accesses of `n` elements that are contiguous and aligned in both. */
static bool may_move(const cute_value *s, const cute_value *t, int64_t size, int64_t n)
{
    static int64_t to[MOST * 4];
    int64_t last = 0;
    for (int64_t i = 0; i < MOST * 4; i++) to[i] = -1;
    for (int64_t i = 0; i < size; i++) {
        to[at(s->layout, i)] = at(t->layout, i);
        if (at(s->layout, i) > last) last = at(s->layout, i);
    }
    if (s->pointer->align % (2 * n) || t->pointer->align % (2 * n)) return false;
    for (int64_t first = 0; first <= last; first += n)
        for (int64_t i = 0; i < n; i++)
            if ((to[first + i] < 0) != (to[first] < 0) ||
                (to[first] >= 0 && to[first + i] != to[first] + i) || (to[first] > 0 && to[first] % n))
                return false;
    return true;
}

static void test_random_widths(void)
{
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 12};
    int wide = 0;
    seed = 7;
    for (int round = 0; round < 3000; round++) {
        begin();
        int count = 2 + (int)below(3);
        int64_t extents[4], size = 1;
        bool powers = true;
        for (int i = 0; i < count; i++) {
            size *= extents[i] = sizes[below(7)];
            powers = powers && !(extents[i] & (extents[i] - 1));
        }
        cute_value s = random_tensor(extents, count, 2 << below(5)),
                   t = random_tensor(extents, count, 2 << below(5));
        if (!below(2)) t.layout = s.layout;
        cute_widest w;
        int64_t best = 1;
        if (size > 1024 || !CHECK(cute_copy_widest(arena, &s, &t, NULL, 1, 128, &w, diag) == CUTE_OK)) {
            end();
            continue;
        }
        for (int64_t n = 2; n <= 8; n *= 2)
            if (may_move(&s, &t, size, n)) best = n;
        /* What crosses modes of other extents is no layout. */
        CHECK(powers ? w.elements == best : w.elements <= best);
        if (w.elements > 1) {
            bool seen[1024] = {0};
            wide++;
            CHECK_INT(size_of(w.tile.shape), size);
            for (int64_t i = 0; i < size; i++) {
                int64_t c = at(w.tile, i), first = at(w.tile, i / w.elements * w.elements),
                        k = i % w.elements;
                if (!CHECK(c >= 0 && c < size && !seen[c])) break;
                seen[c] = true;
                CHECK_INT(at(s.layout, c), at(s.layout, first) + k);
                CHECK_INT(at(t.layout, c), at(t.layout, first) + k);
                CHECK(at(s.layout, first) % w.elements == 0 && at(t.layout, first) % w.elements == 0);
            }
        }
        end();
    }
    CHECK(wide > 300);
}

/* ---- threads ---- */

static cute_layout layout_of(const char *text)
{
    cute_value value = {0};
    CHECK(cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), &value, NULL, diag) == CUTE_OK);
    return value.layout;
}

static void check_threads(const char *tv, int64_t values, const char *tile, const char *wanted, bool changes)
{
    begin();
    cute_layout old = layout_of(tv), new = {0};
    bool changed = false;
    if (CHECK(cute_copy_transpose(arena, old, values, layout_of(tile), &new, &changed, diag) == CUTE_OK)) {
        CHECK_TEXT(cute_layout_text(arena, new), wanted);
        CHECK(changed == changes);
        /* the same elements, each once more or less often than before */
        int64_t size = size_of(old.shape), count[2][4096] = {0};
        CHECK_INT(size_of(new.shape), size);
        CHECK_INT(size_of(new.shape->items[0]), size_of(old.shape->items[0]));
        for (int64_t i = 0; i < size; i++) {
            count[0][at(old, i)]++;
            count[1][at(new, i)]++;
        }
        CHECK(!memcmp(count[0], count[1], sizeof count[0]));
    } else {
        printf("# %s\n", first_message());
    }
    end();
}

static void test_threads(void)
{
    /* along the rows of a tile whose rows lie together */
    check_threads("((32,4),4):((1,32),128)", 1, "(32,16):(100,1)", "((16,8),4):((32,1),8)", true);
    check_threads("((4,32),(4,4)):((4,64),(1,16))", 4, "(64,32):(1,1000)", "(128,(4,4)):(4,(1,512))", true);
    /* the values of an instruction stay together, whatever the tensor */
    check_threads("(32,8):(8,1)", 8, "(256,1):(1,0)", "(32,8):(8,1)", false);
    check_threads("(32,(2,4)):(1,(32,64))", 1, "256:1", "(32,8):(1,32)", false);
    check_threads("((8,4),(4,2)):((4,32),(1,128))", 4, "(256):(1)", "(32,(4,2)):(4,(1,128))", false);
    /* other extents than powers of two */
    check_threads("((6,4),6):((1,6),24)", 1, "(6,24):(50,1)", "(24,6):(6,1)", true);
}

static void test_threads_refused(void)
{
    cute_layout out;
    bool changed;
    begin();
    CHECK_INT(cute_copy_transpose(arena, layout_of("32:1"), 1, layout_of("32:1"), &out, &changed, diag),
              CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "expected a thread-value layout, got 32:1");
    cute_diag_clear(diag);
    CHECK_INT(
        cute_copy_transpose(arena, layout_of("(?,4):(4,1)"), 1, layout_of("32:1"), &out, &changed, diag),
        CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "(?,4):(4,1) does not divide the modes of its tile");
    cute_diag_clear(diag);
    CHECK_INT(cute_copy_transpose(arena, layout_of("((6,4),5):((1,6),24)"), 1, layout_of("(6,20):(50,1)"),
                                  &out, &changed, diag),
              CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "no other order of modes gives 24 threads");
    end();
}

/* ---- requests ---- */

static uint64_t xor_bits(uint64_t x, cute_swizzle s)
{
    for (int i = 0; i < s.bits; i++)
        if (x >> (s.base + s.shift + i) & 1) x ^= UINT64_C(1) << (s.base + i);
    return x;
}

/* Distinct numbers of list[0, count). */
static int distinct(uint64_t *list, int count)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        int k = 0;
        while (k < n && list[k] != list[i]) k++;
        if (k == n) list[n++] = list[i];
    }
    return n;
}

static uint64_t sectors_of(const uint64_t *address, int lanes, int bytes)
{
    uint64_t touched[32 * 16];
    int n = 0;
    for (int i = 0; i < lanes; i++)
        for (int b = 0; b < bytes; b++) touched[n++] = (address[i] + (uint64_t)b) / 32;
    return (uint64_t)distinct(touched, n);
}

static uint64_t wavefronts_of(const uint64_t *address, int lanes, int bytes)
{
    int together = bytes <= 4 ? 32 : 128 / bytes;
    uint64_t sum = 0;
    for (int first = 0; first < lanes; first += together) {
        int most = 0;
        for (uint64_t bank = 0; bank < 32; bank++) {
            uint64_t words[32 * 16];
            int n = 0;
            for (int i = first; i < lanes && i < first + together; i++)
                for (int b = 0; b < bytes; b++)
                    if ((address[i] + (uint64_t)b) / 4 % 32 == bank)
                        words[n++] = (address[i] + (uint64_t)b) / 4;
            n = distinct(words, n);
            if (n > most) most = n;
        }
        sum += (uint64_t)most;
    }
    return sum;
}

static void test_requests(void)
{
    seed = 3;
    for (int round = 0; round < 400; round++) {
        begin();
        static const int64_t sizes[] = {1, 2, 4, 8};
        int64_t extents[3], size = 1, vector = 1 << below(4);
        for (int i = 0; i < 3; i++) size *= extents[i] = sizes[below(4)];
        cute_lane lanes[32];
        int count = round % 3 ? 32 : 8;
        cute_value t = random_tensor(extents, 3, 2);
        cute_pointer *p = (cute_pointer *)(uintptr_t)t.pointer;
        if (below(2)) p->swizzle = (cute_swizzle){3, 4, 3};
        cute_swizzle of_elements = {0};
        if (below(2)) {
            of_elements = (cute_swizzle){2, 3, 3};
            t.tree = cute_tree_number(arena, 8 * below(4));
            t.swizzle = of_elements;
        }
        int64_t step = 2 * (1 + below(100));
        for (int i = 0; i < count; i++) lanes[i] = (cute_lane){t, 4096 + i * step};
        cute_requests requests;
        cute_status status = cute_warp_requests(arena, lanes, (uint32_t)count, vector, &requests, diag);
        CHECK_INT(status, size % vector ? CUTE_INVALID : CUTE_OK);
        if (status == CUTE_OK) {
            uint64_t sectors = 0, wavefronts = 0, again = 0;
            cute_swizzle other = {2, 4, 4};
            CHECK_INT(requests.count, size / vector);
            for (int64_t k = 0; k < size / vector; k++) {
                uint64_t address[32], moved[32];
                for (int i = 0; i < count; i++) {
                    uint64_t e = (uint64_t)(at(t.layout, k * vector) + (t.tree ? t.tree->value.value : 0));
                    address[i] =
                        xor_bits(2 * xor_bits(e, of_elements) + 4096 + (uint64_t)(i * step), p->swizzle);
                    moved[i] = xor_bits(address[i], other);
                    CHECK_INT(requests.items[k].address[i], address[i]);
                }
                sectors += sectors_of(address, count, (int)vector * 2);
                wavefronts += wavefronts_of(address, count, (int)vector * 2);
                again += wavefronts_of(moved, count, (int)vector * 2);
            }
            CHECK_INT(cute_requests_sectors(&requests).count, sectors);
            CHECK_INT(cute_requests_wavefronts(&requests, (cute_swizzle){0}).count, wavefronts);
            CHECK_INT(cute_requests_wavefronts(&requests, other).count, again);
        }
        end();
    }
}

static void test_requests_refused(void)
{
    begin();
    cute_requests r;
    cute_lane lane = {tensor("f16, smem, \"(4,?):(1,4)\""), 0};
    CHECK_INT(cute_warp_requests(arena, &lane, 1, 1, &r, diag), CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "expected a fully known tensor in memory");
    lane.tensor = tensor("f16, gmem, \"(4096,4096):(1,4096)\"");
    cute_diag_clear(diag);
    CHECK_INT(cute_warp_requests(arena, &lane, 1, 1, &r, diag), CUTE_INVALID);
    says();
    lane.tensor = tensor("f64, smem, \"4:1\"");
    cute_diag_clear(diag);
    CHECK_INT(cute_warp_requests(arena, &lane, 1, 4, &r, diag), CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "unsupported access of 256 bits");
    cute_diag_clear(diag);
    CHECK_INT(cute_warp_requests(arena, &lane, 0, 1, &r, diag), CUTE_INVALID);
    says();
    lane = (cute_lane){tensor("f64, gmem, \"4:100000000000000000\""), INT64_MAX / 2};
    cute_diag_clear(diag);
    CHECK_INT(cute_warp_requests(arena, &lane, 1, 1, &r, diag), CUTE_INVALID);
    says();
    CHECK_TEXT(first_message(), "an address has more than 63 bits");
    end();
}

/* ---- swizzles ---- */

/* Rows of `row` bytes: as many lanes as rows, each its `bytes` at column 0, 1, ... */
static cute_requests columns(int64_t pitch, int lanes, int bytes, int count)
{
    cute_requests r = {cute_arena_array(arena, (size_t)count, sizeof *r.items), (size_t)count};
    for (int k = 0; k < count; k++) {
        r.items[k] = (cute_request){.count = (uint32_t)lanes, .bytes = (uint32_t)bytes};
        for (int i = 0; i < lanes; i++) {
            r.items[k].lane[i] = (uint8_t)i;
            r.items[k].address[i] = (uint64_t)(i * pitch + k * bytes);
        }
    }
    return r;
}

static void check_swizzle(int64_t pitch, int lanes, int bytes, int64_t block, cute_swizzle wanted,
                          uint64_t before, uint64_t after)
{
    begin();
    cute_requests r = columns(pitch, lanes, bytes, 4);
    cute_swizzle s = cute_requests_swizzle(&r, bytes, block);
    CHECK(s.bits == wanted.bits && (!s.bits || (s.base == wanted.base && s.shift == wanted.shift)));
    CHECK_INT(cute_requests_wavefronts(&r, (cute_swizzle){0}).count, 4 * before);
    CHECK_INT(cute_requests_wavefronts(&r, s).count, 4 * after);
    end();
}

static void test_swizzles(void)
{
    /* ldmatrix of rows of 128, 64 and 32 bytes */
    check_swizzle(128, 8, 16, 1024, (cute_swizzle){3, 4, 3}, 8, 1);
    check_swizzle(64, 8, 16, 1024, (cute_swizzle){2, 4, 3}, 4, 1);
    check_swizzle(32, 8, 16, 1024, (cute_swizzle){1, 4, 3}, 2, 1);
    check_swizzle(256, 8, 16, 4096, (cute_swizzle){3, 4, 4}, 8, 1);
    /* a column of a tile of 32 x 32 words */
    check_swizzle(128, 32, 4, 4096, (cute_swizzle){5, 2, 5}, 32, 1);
    /* nothing to gain, and no room */
    check_swizzle(16, 8, 16, 4096, (cute_swizzle){0}, 1, 1);
    check_swizzle(128, 8, 16, 16, (cute_swizzle){0}, 8, 8);
    check_swizzle(128, 8, 16, 32, (cute_swizzle){1, 4, 3}, 8, 4);
    check_swizzle(128, 8, 16, 64, (cute_swizzle){2, 4, 3}, 8, 2);
}

/* ---- what ncu counted on an H100 ---- */

typedef uint64_t lane_address(uint64_t lane, uint64_t bytes);

static uint64_t in_order(uint64_t l, uint64_t b)
{
    return l * b;
}
static uint64_t lines_apart(uint64_t l, uint64_t b)
{
    (void)b;
    return l * 128;
}
static uint64_t diagonal(uint64_t l, uint64_t b)
{
    return l * 128 + l * b % 128;
}
static uint64_t every_other(uint64_t l, uint64_t b)
{
    return 2 * l * b;
}
static uint64_t all_one(uint64_t l, uint64_t b)
{
    (void)l, (void)b;
    return 0;
}
static uint64_t padded_rows(uint64_t l, uint64_t b)
{
    return l / 8 * 272 + l % 8 * b;
}
static uint64_t rows(uint64_t l, uint64_t b)
{
    return l / 8 * 256 + l % 8 * b;
}
static uint64_t shifted_rows(uint64_t l, uint64_t b)
{
    return l / 8 * 288 + l % 8 * b;
}
static uint64_t halves(uint64_t l, uint64_t b)
{
    return l / 16 * 512 + l % 16 * b;
}
static uint64_t from_16_on(uint64_t l, uint64_t b)
{
    return l * b + 16;
}
static uint64_t alternating(uint64_t l, uint64_t b)
{
    return l % 2 * 1024 + l / 2 * b;
}

static lane_address *const targets[] = {in_order, lines_apart, from_16_on, every_other, all_one, padded_rows};
static lane_address *const sources[] = {in_order, lines_apart,  diagonal, every_other, all_one,
                                        rows,     shifted_rows, halves,   from_16_on,  alternating};
enum { TARGETS = sizeof targets / sizeof *targets, SOURCES = sizeof sources / sizeof *sources };

/* Wavefronts and sectors of a warp's cp.async. */
static const struct {
    uint32_t bytes;
    cute_copy_way way;
    uint8_t counts[TARGETS][SOURCES][2];
} measured_copies[] = {
    {4,
     CUTE_COPY_THROUGH_L1,
     {{{1, 4}, {32, 32}, {1, 32}, {2, 8}, {32, 1}, {4, 4}, {1, 4}, {2, 4}, {1, 5}, {2, 4}},
      {{32, 4}, {32, 32}, {32, 32}, {32, 8}, {32, 1}, {32, 4}, {32, 4}, {32, 4}, {32, 5}, {32, 4}},
      {{1, 4}, {32, 32}, {1, 32}, {2, 8}, {32, 1}, {4, 4}, {1, 4}, {2, 4}, {1, 5}, {2, 4}},
      {{2, 4}, {32, 32}, {2, 32}, {2, 8}, {32, 1}, {4, 4}, {2, 4}, {2, 4}, {2, 5}, {3, 4}},
      {{32, 4}, {32, 32}, {32, 32}, {32, 8}, {32, 1}, {32, 4}, {32, 4}, {32, 4}, {32, 5}, {32, 4}},
      {{2, 4}, {32, 32}, {2, 32}, {3, 8}, {32, 1}, {5, 4}, {2, 4}, {3, 4}, {2, 5}, {3, 4}}}},
    {8,
     CUTE_COPY_THROUGH_L1,
     {{{2, 8}, {32, 32}, {2, 32}, {4, 16}, {32, 1}, {4, 8}, {4, 8}, {2, 8}, {2, 9}, {4, 8}},
      {{32, 8}, {32, 32}, {32, 32}, {32, 16}, {32, 1}, {32, 8}, {32, 8}, {32, 8}, {32, 9}, {32, 8}},
      {{2, 8}, {32, 32}, {2, 32}, {4, 16}, {32, 1}, {4, 8}, {4, 8}, {2, 8}, {2, 9}, {4, 8}},
      {{4, 8}, {32, 32}, {4, 32}, {4, 16}, {32, 1}, {4, 8}, {6, 8}, {4, 8}, {4, 9}, {6, 8}},
      {{32, 8}, {32, 32}, {32, 32}, {32, 16}, {32, 1}, {32, 8}, {32, 8}, {32, 8}, {32, 9}, {32, 8}},
      {{4, 8}, {32, 32}, {4, 32}, {6, 16}, {32, 1}, {6, 8}, {6, 8}, {4, 8}, {4, 9}, {6, 8}}}},
    {16,
     CUTE_COPY_THROUGH_L1,
     {{{4, 16}, {32, 32}, {4, 32}, {8, 32}, {32, 1}, {4, 16}, {4, 16}, {4, 16}, {4, 17}, {8, 16}},
      {{32, 16}, {32, 32}, {32, 32}, {32, 32}, {32, 1}, {32, 16}, {32, 16}, {32, 16}, {32, 17}, {32, 16}},
      {{4, 16}, {32, 32}, {4, 32}, {8, 32}, {32, 1}, {4, 16}, {4, 16}, {4, 16}, {4, 17}, {8, 16}},
      {{8, 16}, {32, 32}, {8, 32}, {8, 32}, {32, 1}, {8, 16}, {8, 16}, {8, 16}, {8, 17}, {12, 16}},
      {{32, 16}, {32, 32}, {32, 32}, {32, 32}, {32, 1}, {32, 16}, {32, 16}, {32, 16}, {32, 17}, {32, 16}},
      {{4, 16}, {32, 32}, {4, 32}, {8, 32}, {32, 1}, {4, 16}, {4, 16}, {4, 16}, {4, 17}, {8, 16}}}},
    {16,
     CUTE_COPY_PAST_L1,
     {{{4, 16}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {4, 16}, {7, 16}, {4, 16}, {12, 32}, {32, 32}},
      {{32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}},
      {{12, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {12, 32}, {17, 32}, {12, 32}, {6, 17}, {32, 32}},
      {{32, 32}, {32, 32}, {32, 32}, {8, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {32, 32}},
      {{1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, {1, 1}},
      {{10, 24}, {32, 32}, {32, 32}, {32, 32}, {32, 32}, {10, 24}, {14, 24}, {10, 24}, {14, 26}, {32, 32}}}}};

static cute_request copy_of(uint32_t bytes, cute_copy_way way, lane_address *this_side,
                            lane_address *other_side)
{
    cute_request r = {.count = CUTE_REQUEST_LANES, .bytes = bytes, .copy = way};
    for (uint32_t l = 0; l < CUTE_REQUEST_LANES; l++) {
        r.lane[l] = (uint8_t)l;
        r.address[l] = (1 << 20) + this_side(l, bytes);
        r.other[l] = (1 << 20) + other_side(l, bytes);
    }
    return r;
}

static void test_copies(void)
{
    for (size_t c = 0; c < sizeof measured_copies / sizeof *measured_copies; c++)
        for (int t = 0; t < TARGETS; t++)
            for (int s = 0; s < SOURCES; s++) {
                uint32_t bytes = measured_copies[c].bytes;
                cute_copy_way way = measured_copies[c].way;
                cute_request here = copy_of(bytes, way, targets[t], sources[s]),
                             there = copy_of(bytes, way, sources[s], targets[t]);
                cute_traffic wavefronts = {0}, sectors = {0};
                cute_traffic_add_wavefronts(&here, &wavefronts);
                cute_traffic_add_sectors(&there, &sectors);
                CHECK_INT(wavefronts.count, measured_copies[c].counts[t][s][0]);
                CHECK_INT(sectors.count, measured_copies[c].counts[t][s][1]);
            }
}

/* Rows that are swizzled cost what rows in order do; lanes that read nothing cost what they write. */
static void test_copies_of_kernels(void)
{
    for (uint32_t x = 0; x < 8; x++) {
        cute_request r = copy_of(16, CUTE_COPY_PAST_L1, in_order, in_order), idle;
        cute_traffic t = {0}, zeros = {0}, through = {0};
        for (uint32_t l = 0; l < CUTE_REQUEST_LANES; l++) r.address[l] ^= (x ^ (l / 8)) * 16;
        cute_traffic_add_wavefronts(&r, &t);
        CHECK_INT(t.count, 4);
        idle = copy_of(16, CUTE_COPY_PAST_L1, in_order, lines_apart);
        idle.idle = UINT32_MAX;
        cute_traffic_add_wavefronts(&idle, &zeros);
        CHECK_INT(zeros.count, 4);
        idle.copy = CUTE_COPY_THROUGH_L1;
        cute_traffic_add_wavefronts(&idle, &through);
        CHECK_INT(through.count, 4);
    }
}

static uint64_t taken_by(uint32_t bytes, bool load, uint32_t active, uint64_t unit_of(uint64_t lane))
{
    cute_request r = {.bytes = bytes, .load = load};
    cute_traffic t = {0};
    for (uint32_t l = 0; l < CUTE_REQUEST_LANES; l++) {
        if (!(active >> l & 1)) continue;
        r.lane[r.count] = (uint8_t)l;
        r.address[r.count++] = unit_of(l) * bytes;
    }
    cute_traffic_add_wavefronts(&r, &t);
    return t.count;
}

static uint64_t own(uint64_t l)
{
    return l;
}
static uint64_t pairs(uint64_t l)
{
    return l / 2;
}
static uint64_t fourth(uint64_t l)
{
    (void)l;
    return 4;
}
static uint64_t fours(uint64_t l)
{
    return l / 4;
}
static uint64_t fours_in_a_bank(uint64_t l)
{
    return l / 4 * 4;
}
static uint64_t pairs_apart(uint64_t l)
{
    return l / 4 * 2 + l % 2;
}
static uint64_t two_of_them(uint64_t l)
{
    return 0x2d4b1e63u >> l & 1;
}

static void test_pairs(void)
{
    enum { ALL = -1 };
    CHECK_INT(taken_by(4, true, (uint32_t)ALL, own), 1);
    CHECK_INT(taken_by(8, true, (uint32_t)ALL, own), 2);
    CHECK_INT(taken_by(8, true, (uint32_t)ALL, pairs), 1);
    CHECK_INT(taken_by(8, true, (uint32_t)ALL, pairs_apart), 1);
    CHECK_INT(taken_by(16, true, (uint32_t)ALL, own), 4);
    CHECK_INT(taken_by(16, true, (uint32_t)ALL, fourth), 2);
    CHECK_INT(taken_by(16, true, (uint32_t)ALL, fours), 2);
    /* Not where words meet in a bank, and not where lanes that are no neighbours agree. */
    CHECK_INT(taken_by(8, true, (uint32_t)ALL, fours_in_a_bank), 2);
    CHECK_INT(taken_by(16, true, (uint32_t)ALL, fours_in_a_bank), 4);
    CHECK_INT(taken_by(8, true, (uint32_t)ALL, two_of_them), 2);
    CHECK_INT(taken_by(16, true, (uint32_t)ALL, two_of_them), 4);
    /* Lanes that stay away agree with any, and get nothing. */
    CHECK_INT(taken_by(16, true, 0xbfa820b9u, fourth), 1);
    CHECK_INT(taken_by(16, true, 0xeaa45fe2u, fourth), 2);
    CHECK_INT(taken_by(8, true, 0x89bfefc3u, fourth), 1);
    /* Only loads. */
    CHECK_INT(taken_by(8, false, (uint32_t)ALL, fourth), 2);
    CHECK_INT(taken_by(16, false, (uint32_t)ALL, fourth), 4);
}

int main(void)
{
    TEST("a copy is as wide as contiguity, alignment, strides, swizzles and predicates allow", test_limits);
    TEST("what is no copy between tensors in memory is refused", test_refused);
    TEST("random copies are as wide as their elements one by one allow", test_random_widths);
    TEST("threads follow a tensor's elements, and copy what they copied together", test_threads);
    TEST("modes that do not divide one another are refused", test_threads_refused);
    TEST("requests of a warp touch the sectors and banks that their bytes lie in", test_requests);
    TEST("requests of what is not known are refused", test_requests_refused);
    TEST("a swizzle makes columns free of bank conflicts where there is room for it", test_swizzles);
    TEST("copies take the wavefronts and sectors that were measured", test_copies);
    TEST("swizzled rows cost nothing more, lanes that read nothing only what they write",
         test_copies_of_kernels);
    TEST("loads whose lanes agree in pairs take half as many wavefronts, without a conflict", test_pairs);
    return test_finish();
}
