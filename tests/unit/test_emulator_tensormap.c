/* Tensor maps: limits, the form, and box copies against five loops over the elements of a box. */
#include "lib/numeric/number.h"
#include "lib/numeric/swizzle.h"
#include "lib/numeric/tensormap.h"
#include "tests/unit/test.h"

enum { GLOBAL = 1 << 20, SHARED = 1 << 18 };

static uint8_t global[GLOBAL], shared[SHARED];
static bool asked[SHARED]; /* bytes that a store asked for */
static const uint64_t origin = UINT64_C(0x7f0000000000);
static uint8_t *global_bytes(void *context, uint64_t address, uint32_t size, bool write)
{
    (void)context;
    (void)write;
    return address < origin || address - origin + size > GLOBAL ? NULL : global + (address - origin);
}
static uint8_t *shared_bytes(void *context, uint32_t address, uint32_t size, bool write)
{
    (void)context;
    if ((uint64_t)address + size > SHARED) return NULL;
    if (!write) memset(asked + address, true, size);
    return shared + address;
}
static const num_copy_memory memory = {.global = global_bytes, .shared = shared_bytes};
/* The same without asking for each row. */
static const num_copy_memory at_once = {.global = global_bytes,
                                        .shared = shared_bytes,
                                        .global_area = {global, UINT64_C(0x7f0000000000), GLOBAL},
                                        .shared_area = {shared, 0, SHARED}};

static cute_tensor_map plain(cute_tensor_map_type type, int rank)
{
    cute_tensor_map m = {.type = type, .rank = rank, .address = origin};
    static const uint64_t dims[5] = {40, 7, 6, 5, 4};
    static const uint32_t box[5] = {16, 4, 3, 2, 3};
    uint64_t stride =
        (40 * (uint64_t)num_tensor_map_element_size(&m) + 15) / 16 * 16 + 16; /* rows are padded */
    for (int i = 0; i < rank; i++) {
        m.dims[i] = dims[i];
        m.box[i] = box[i];
        m.element_strides[i] = 1;
        m.strides[i] = stride;
        stride *= dims[i + 1 < 5 ? i + 1 : 4];
    }
    return m;
}

/* Where byte `at` of an unswizzled tile lies: the table of the PTX ISA, as chunks of 16 bytes exchanged by
 * XOR. */
static uint32_t swizzled(uint32_t address, int swizzle)
{
    uint32_t chunk = address / 16 % 8, line = address / 128 % 8;
    if (swizzle == 1) chunk = (chunk & 6) | ((chunk ^ line) & 1);
    if (swizzle == 2) chunk = (chunk & 4) | ((chunk ^ line) & 3);
    if (swizzle == 3) chunk ^= line;
    return address / 128 * 128 + chunk * 16 + address % 16;
}

/* One box, load and store, against loops over all elements. */
static bool copies(const cute_tensor_map *m, const int32_t *at, uint32_t base)
{
    uint32_t size = (uint32_t)num_tensor_map_element_size(m), count[5] = {1, 1, 1, 1, 1};
    uint64_t bytes = size;
    for (int i = 0; i < m->rank; i++) {
        count[i] = i ? (m->box[i] + m->element_strides[i] - 1) / m->element_strides[i] : m->box[0];
        bytes *= count[i];
    }
    if (num_tensor_map_bytes(m) != bytes) {
        CHECK_INT(num_tensor_map_bytes(m), bytes);
        return false;
    }
    uint32_t pitch = m->swizzle ? 16u << m->swizzle : m->box[0] * size;
    for (int i = 0; i < GLOBAL; i++) global[i] = (uint8_t)(i * 7 + i / 251);
    memset(shared, 0xcd, sizeof shared);
    const char *why;
    static uint8_t expected[GLOBAL], loaded[SHARED];
    if (!num_box_load(m, at, NULL, base, &at_once, &why)) return false;
    memcpy(loaded, shared, sizeof loaded);
    memset(shared, 0xcd, sizeof shared);
    if (!num_box_load(m, at, NULL, base, &memory, &why)) return false;
    if (memcmp(loaded, shared, sizeof loaded) != 0) return false;
    memcpy(expected, global, sizeof expected);
    static bool stored[SHARED];
    uint64_t inside_bytes = 0;
    memset(stored, false, sizeof stored);
    for (int pass = 0; pass < 2; pass++) {
        uint32_t row = 0, i[5];
        for (i[4] = 0; i[4] < count[4]; i[4]++)
            for (i[3] = 0; i[3] < count[3]; i[3]++)
                for (i[2] = 0; i[2] < count[2]; i[2]++)
                    for (i[1] = 0; i[1] < count[1]; i[1]++, row++)
                        for (i[0] = 0; i[0] < count[0]; i[0]++) {
                            bool inside = true, written = true; /* by the store: whole 16 bytes of a row */
                            uint64_t offset = 0;
                            for (int d = 0; d < m->rank; d++) {
                                int64_t c = at[d] + (int64_t)i[d] * (d ? m->element_strides[d] : 1);
                                inside &= c >= 0 && c < (int64_t)m->dims[d];
                                int64_t end = (int64_t)m->dims[d];
                                if (!d && at[0] < end) end = (end * size + 15) / 16 * 16 / size;
                                written &= c >= 0 && c < end;
                                offset += (uint64_t)c * (d ? m->strides[d - 1] : size);
                            }
                            uint32_t place = swizzled(base + row * pitch + i[0] * size, m->swizzle);
                            uint64_t fill = !m->fill    ? 0
                                            : size == 2 ? 0x7fff
                                            : size == 4 ? 0x7fffffff
                                                        : INT64_MAX;
                            const void *want = inside ? (const void *)(global + offset) : &fill;
                            if (pass == 0) {
                                if (memcmp(shared + place, want, size) == 0) continue;
                                printf("# row %u element %u at %u\n", row, i[0], place);
                                return false;
                            }
                            if (!written) continue;
                            memset(stored + place, true, size);
                            if (inside) inside_bytes += size;
                            for (uint32_t b = 0; b < size; b++)
                                expected[offset + b] = (uint8_t)~((const uint8_t *)want)[b];
                        }
    }
    for (int i = 0; i < SHARED; i++) shared[i] = (uint8_t)~shared[i];
    memset(asked, false, sizeof asked);
    if (!num_box_store(m, at, base, NUM_REDUCE_NONE, &memory, &why)) return false;
    return memcmp(global, expected, sizeof expected) == 0 && memcmp(asked, stored, sizeof asked) == 0 &&
           num_box_inside(m, at, NULL) == inside_bytes;
}

static void test_boxes(void)
{
    static const int32_t places[][5] = {
        {0, 0, 0, 0, 0},  {8, 1, 2, 1, 1},  {-3, -1, -2, 0, -1},
        {33, 5, 4, 4, 3}, {40, 0, 0, 0, 0}, {-16, 0, 0, 0, 0},
    };
    static const cute_tensor_map_type types[] = {CUTE_MAP_U8, CUTE_MAP_F16, CUTE_MAP_F32, CUTE_MAP_F64};
    for (int rank = 1; rank <= 5; rank++)
        for (int t = 0; t < 4; t++)
            for (int swizzle = 0; swizzle < 4; swizzle++)
                for (size_t p = 0; p < sizeof places / sizeof *places; p++) {
                    cute_tensor_map m = plain(types[t], rank);
                    m.swizzle = swizzle;
                    uint32_t inner = m.box[0] * (uint32_t)num_tensor_map_element_size(&m);
                    if (swizzle && inner > 16u << swizzle) m.box[0] = m.box[0] * (16u << swizzle) / inner;
                    m.fill = types[t] != CUTE_MAP_U8 && p % 2;
                    if (!CHECK(copies(&m, places[p], 1024 * (uint32_t)(p % 3) + (p == 4 ? 128 : 0)))) {
                        printf("# rank %d type %d swizzle %d place %zu\n", rank, types[t], swizzle, p);
                        return;
                    }
                }
}

static void test_element_strides(void)
{
    static const int32_t place[5] = {4, 1, 1, 0, 0};
    for (uint32_t stride = 1; stride <= 8; stride++) {
        cute_tensor_map m = plain(CUTE_MAP_F16, 5);
        m.box[1] = 7;
        m.box[2] = 5;
        m.element_strides[0] = 2; /* ignored */
        m.element_strides[1] = stride;
        m.element_strides[2] = 9 - stride;
        CHECK(copies(&m, place, 2048));
    }
}

/* NC/8WC8 of f16: C = 20 channels are three slices of 8 (16 bytes), each W = 6 wide. */
static void test_interleave(void)
{
    cute_tensor_map m = {.type = CUTE_MAP_F16,
                         .rank = 3,
                         .address = origin,
                         .dims = {20, 6, 2},
                         .strides = {16, 6 * 16 * 3},
                         .box = {16, 2, 1},
                         .element_strides = {1, 1, 1},
                         .interleave = 1};
    uint16_t *g = (uint16_t *)(void *)global;
    for (int n = 0; n < 2; n++)
        for (int c = 0; c < 24; c++)
            for (int w = 0; w < 6; w++)
                g[n * 144 + c / 8 * 48 + w * 8 + c % 8] = (uint16_t)(n << 12 | w << 8 | c);
    static const int32_t at[3] = {8, 4, 1};
    const char *why;
    CHECK(num_box_load(&m, at, NULL, 0, &memory, &why));
    CHECK_INT(num_tensor_map_bytes(&m), 64);
    const uint16_t *s = (const uint16_t *)(const void *)shared;
    for (int c = 0; c < 16; c++)
        for (int w = 0; w < 2; w++)
            CHECK_INT(s[c / 8 * 16 + w * 8 + c % 8], c + 8 < 20 ? 1 << 12 | (w + 4) << 8 | (c + 8) : 0);
    CHECK_INT(num_box_inside(&m, at, NULL), 12 * 2 * 2);
}

static void test_swizzle(void)
{
    for (uint32_t a = 0; a < 4096; a++) {
        CHECK_INT(num_swizzle(a, 0, 0), a);
        for (int s = 1; s < 4; s++) {
            uint32_t span = 16u << s;
            if (num_swizzle(a, span, 0) != swizzled(a, s)) {
                CHECK_INT(a, s);
                return;
            }
            CHECK(num_swizzle(num_swizzle(a, span, 3), span, 3) == a);
        }
    }
    /* From the figure of the 128B mode: chunk 2 of row 5 lies at chunk 7. */
    CHECK_INT(num_swizzle(5 * 128 + 2 * 16, 128, 0), 5 * 128 + 7 * 16);
}

static void test_form(void)
{
    cute_tensor_map m = plain(CUTE_MAP_BF16, 4), back;
    m.swizzle = 2;
    m.l2_promotion = 3;
    m.fill = 1;
    m.dims[3] = UINT64_C(1) << 32;
    uint8_t bytes[CUTE_MAP_BYTES];
    const char *why;
    CHECK_INT(num_tensor_map_encode(&m, bytes, NULL), CUTE_OK);
    CHECK(num_tensor_map_decode(bytes, &back, &why));
    CHECK(back.type == m.type && back.rank == 4 && back.address == m.address && back.swizzle == 2 &&
          back.fill == 1);
    for (int i = 0; i < 4; i++) {
        CHECK(back.dims[i] == m.dims[i] && back.box[i] == m.box[i] && back.element_strides[i] == 1);
        if (i < 3) CHECK(back.strides[i] == m.strides[i]);
    }
    CHECK(num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_ADDRESS, 0, origin + 4096));
    CHECK(num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_DIM, 1, 99));
    CHECK(num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_STRIDE, 2, 1600));
    CHECK(num_tensor_map_replace(bytes, NUM_MAP_RANK, 0, 2)); /* PTX gives the rank less one */
    CHECK(num_tensor_map_decode(bytes, &back, &why));
    CHECK(back.address == origin + 4096 && back.dims[1] == 99 && back.strides[2] == 1600 && back.rank == 3);
    CHECK(!num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_STRIDE, 4, 16));
    CHECK(num_tensor_map_replace(bytes, NUM_MAP_BOX_DIM, 0, 300));
    CHECK(!num_tensor_map_decode(bytes, &back, &why));
    CHECK_TEXT(why, "expected 1 to 256 elements in a dimension of the box");
    bytes[0] ^= 1;
    CHECK(!num_tensor_map_decode(bytes, &back, &why));
    CHECK_TEXT(why, "the bytes are not those of a tensor map");
    CHECK(!num_tensor_map_replace(bytes, NUM_MAP_RANK, 0, 0));
}

/* A kernel's own map: from zeros, field by field. PTX numbers the element types by itself: 8 f32.ftz, 9 f64,
 * 10 bf16, where the driver has f64, bf16, f32.ftz. */
static void test_from_zeros(void)
{
    static const cute_tensor_map_type wanted[] = {[6] = CUTE_MAP_F16,
                                                  [7] = CUTE_MAP_F32,
                                                  [8] = CUTE_MAP_F32_FTZ,
                                                  [9] = CUTE_MAP_F64,
                                                  [10] = CUTE_MAP_BF16};
    for (uint64_t type = 6; type <= 10; type++) {
        uint8_t bytes[CUTE_MAP_BYTES] = {0};
        cute_tensor_map back;
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_ADDRESS, 0, origin));
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_RANK, 0, 0));
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_BOX_DIM, 0, 32));
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_GLOBAL_DIM, 0, 50));
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_ELEMENT_STRIDE, 0, 1));
        CHECK(num_tensor_map_replace(bytes, NUM_MAP_ELEMTYPE, 0, type));
        CHECK(num_tensor_map_decode(bytes, &back, NULL));
        CHECK(back.type == wanted[type] && back.rank == 1 && back.dims[0] == 50 && back.box[0] == 32);
    }
}

static void refused(cute_tensor_map m, const char *text)
{
    cute_diag *diag = cute_diag_create();
    uint8_t bytes[CUTE_MAP_BYTES];
    CHECK_INT(num_tensor_map_encode(&m, bytes, diag), CUTE_INVALID);
    CHECK_INT(cute_diag_count(diag), 1);
    if (cute_diag_count(diag)) CHECK_TEXT(cute_diag_get(diag, 0)->text, text);
    cute_diag_destroy(diag);
}

static void test_limits(void)
{
    const cute_tensor_map good = plain(CUTE_MAP_F16, 3);
    cute_tensor_map m = good;
    uint8_t bytes[CUTE_MAP_BYTES];
    CHECK_INT(num_tensor_map_encode(&m, bytes, NULL), CUTE_OK);
    m.rank = 6;
    refused(m, "expected 1 to 5 dimensions, got 6");
    m = good;
    m.address += 8;
    refused(m, "expected a tensor address that is a multiple of 16, got 139637976727560");
    m = good;
    m.dims[2] = 0;
    refused(m, "expected 1 to 2^32 elements in a dimension, got 0 in dimension 2 (the fastest is 0)");
    m = good;
    m.strides[0] = 90;
    refused(m, "expected a stride that is a multiple of 16 bytes, got 90 in dimension 1 (the fastest is 0)");
    m = good;
    m.strides[1] = UINT64_C(1) << 40;
    refused(m,
            "expected a stride of less than 2^40 bytes, got 1099511627776 in dimension 2 (the fastest is 0)");
    m = good;
    m.box[1] = 257;
    refused(m, "expected 1 to 256 elements in a dimension of the box, got 257 in dimension 1 (the "
               "fastest is 0)");
    m = good;
    m.element_strides[1] = 9;
    refused(m, "expected an element stride from 1 to 8, got 9 in dimension 1 (the fastest is 0)");
    m = good;
    m.box[0] = 12;
    refused(m, "expected a multiple of 16 bytes in the box's fastest dimension, got 24 in dimension 0 (the "
               "fastest is 0)");
    m = good;
    m.box[0] = 32;
    m.swizzle = 1;
    refused(m, "expected at most 32 bytes in the box's fastest dimension with swizzle 32B, got 64 in "
               "dimension 0 (the fastest is 0)");
    m = good;
    m.interleave = 2;
    refused(m, "expected swizzle 1 (32B) with an interleave of 32B, got 0");
    m = plain(CUTE_MAP_I32, 1);
    m.fill = 1;
    refused(m, "expected a floating-point element type (6 to 12) for a fill with NaN, got 3");
    m = plain(CUTE_MAP_F16, 2);
    m.interleave = 1;
    refused(m, "expected at least 3 dimensions with an interleave, got 2");
    m = good;
    m.swizzle = 4;
    refused(m, "expected a swizzle of 0 (none), 1 (32B), 2 (64B) or 3 (128B), got 4");
}

static void test_bounds(void)
{
    cute_tensor_map m = plain(CUTE_MAP_F16, 2);
    static const int32_t zero[5] = {0};
    const char *why;
    CHECK(!num_box_load(&m, zero, NULL, 64, &memory, &why));
    CHECK_TEXT(why, "misaligned tensor copy: shared addresses must be multiples of 128");
    CHECK(!num_box_load(&m, zero, NULL, SHARED - 64, &memory, &why) && why);
    CHECK(!num_box_load(&m, zero, NULL, SHARED, &memory, &why) && !why);
    CHECK(!num_box_load(&m, zero, NULL, SHARED, &at_once, &why) && !why);
    CHECK(num_box_load(&m, zero, NULL, SHARED - 128, &at_once, &why));
    m.address = origin + GLOBAL - 16;
    CHECK(!num_box_load(&m, zero, NULL, 0, &memory, &why) && !why);
    CHECK(!num_box_load(&m, zero, NULL, 0, &at_once, &why) && !why);
    m.address = origin - 16;
    CHECK(!num_box_load(&m, zero, NULL, 0, &at_once, &why) && !why);
    static const int32_t far[5] = {INT32_MIN, INT32_MAX};
    CHECK(num_box_load(&m, far, NULL, 0, &memory, &why)); /* all outside: nothing of the tensor is touched */
    /* 256^5 elements stop at the end of shared memory */
    m = plain(CUTE_MAP_U8, 5);
    for (int i = 0; i < 5; i++) m.box[i] = 256;
    CHECK_INT(num_tensor_map_bytes(&m), UINT32_MAX);
    CHECK(!num_box_load(&m, zero, NULL, 0, &memory, &why));
}

static uint64_t reduced(num_reduction op, cute_tensor_map_type type, uint64_t a, uint64_t b)
{
    num_reduce(op, type, &a, &b);
    return a;
}

static void test_reductions(void)
{
    CHECK_INT(reduced(NUM_REDUCE_ADD, CUTE_MAP_U32, 0xffffffff, 2), 1);
    CHECK_INT(reduced(NUM_REDUCE_MIN, CUTE_MAP_I32, 0xffffffff, 2), 0xffffffff);
    CHECK_INT(reduced(NUM_REDUCE_MIN, CUTE_MAP_U32, 0xffffffff, 2), 2);
    CHECK_INT(reduced(NUM_REDUCE_MAX, CUTE_MAP_I64, (uint64_t)-5, 2), 2);
    /* PTX ISA, atom: inc wraps to 0 at the operand, dec to the operand at 0 or above it */
    CHECK_INT(reduced(NUM_REDUCE_INC, CUTE_MAP_U32, 4, 5), 5);
    CHECK_INT(reduced(NUM_REDUCE_INC, CUTE_MAP_U32, 5, 5), 0);
    CHECK_INT(reduced(NUM_REDUCE_DEC, CUTE_MAP_U32, 0, 5), 5);
    CHECK_INT(reduced(NUM_REDUCE_DEC, CUTE_MAP_U32, 6, 5), 5);
    CHECK_INT(reduced(NUM_REDUCE_DEC, CUTE_MAP_U32, 5, 5), 4);
    CHECK_INT(reduced(NUM_REDUCE_XOR, CUTE_MAP_U64, 6, 3), 5);
    CHECK_INT(reduced(NUM_REDUCE_ADD, CUTE_MAP_F16, 0x3c00, 0x3c00), 0x4000);
    CHECK_INT(reduced(NUM_REDUCE_MAX, CUTE_MAP_BF16, 0xbf80, 0x4000), 0x4000);
    CHECK_INT(reduced(NUM_REDUCE_ADD, CUTE_MAP_F32, 0x3f800000, 0x40000000), 0x40400000);
    CHECK(num_reduction_exists(NUM_REDUCE_MIN, CUTE_MAP_F16));
    CHECK(!num_reduction_exists(NUM_REDUCE_MIN, CUTE_MAP_F32));
    CHECK(!num_reduction_exists(NUM_REDUCE_INC, CUTE_MAP_I32));
    CHECK(!num_reduction_exists(NUM_REDUCE_AND, CUTE_MAP_F16));

    cute_tensor_map m = plain(CUTE_MAP_U32, 2);
    uint32_t *g = (uint32_t *)(void *)global, *s = (uint32_t *)(void *)shared;
    for (int i = 0; i < 1000; i++) g[i] = (uint32_t)i;
    for (int i = 0; i < 64; i++) s[i] = 1000;
    static const int32_t at[2] = {36, 6}; /* 4 of 16 columns and 1 of 4 rows are inside */
    const char *why;
    memset(asked, false, sizeof asked);
    CHECK(num_box_store(&m, at, 0, NUM_REDUCE_ADD, &memory, &why));
    for (int i = 0; i < 256; i++) CHECK(asked[i] == (i < 16));
    CHECK_INT(num_box_inside(&m, at, NULL), 16);
    uint32_t row = (uint32_t)(m.strides[0] / 4 * 6);
    for (uint32_t i = 0; i < 1000; i++) CHECK_INT(g[i], i + (i >= row + 36 && i < row + 40 ? 1000u : 0));
    /* A row that ends within 16 bytes: a store writes all of them, a reduction only the elements of the tensor. */
    m.dims[0] = 37;
    for (uint32_t i = 0; i < 1000; i++) g[i] = i;
    for (int reduces = 0; reduces < 2; reduces++) {
        CHECK(num_box_store(&m, at, 0, reduces ? NUM_REDUCE_ADD : NUM_REDUCE_NONE, &memory, &why));
        for (uint32_t i = 0; i < 1000; i++)
            CHECK_INT(g[i], i == row + 36                  ? (reduces ? 2000 : 1000)
                            : i > row + 36 && i < row + 40 ? 1000
                                                           : i);
    }
    m.type = CUTE_MAP_F32;
    CHECK(!num_box_store(&m, at, 0, NUM_REDUCE_XOR, &memory, &why));
    CHECK_TEXT(why, "this reduction does not support the tensor map's element type");
}

static void test_conversions(void)
{
    cute_tensor_map m = plain(CUTE_MAP_TF32, 1);
    uint32_t *g = (uint32_t *)(void *)global, *s = (uint32_t *)(void *)shared;
    g[0] = 0x3f801000; /* half-way: away from zero */
    g[1] = 0x00000001;
    static const int32_t zero[1] = {0};
    const char *why;
    CHECK(num_box_load(&m, zero, NULL, 0, &memory, &why));
    CHECK_INT(s[0], 0x3f802000);
    m.type = CUTE_MAP_F32_FTZ;
    g[0] = 0x807fffff;
    CHECK(num_box_load(&m, zero, NULL, 0, &memory, &why));
    CHECK_INT(s[0], 0x80000000);
    CHECK_INT(s[1], 0);
}

/* Pixels by their number in the box, width first, moved by the offsets. */
static bool pixels_agree(const cute_tensor_map *m, const int32_t *at, const uint16_t *offsets)
{
    uint32_t size = (uint32_t)num_tensor_map_element_size(m),
             pitch = m->swizzle ? 16u << m->swizzle : m->box[0] * size;
    int spatial = m->rank - 2;
    int64_t counts[CUTE_MAP_SPATIAL], number = 0, step = 1;
    const char *why;
    for (int i = 0; i < GLOBAL; i++) global[i] = (uint8_t)(i * 7 + i / 251);
    memset(shared, 0xcd, sizeof shared);
    if (!num_box_load(m, at, offsets, 0, &at_once, &why)) return false;
    for (int i = 0; i < spatial; i++) {
        int64_t room = (int64_t)m->dims[1 + i] + m->upper[i] - m->lower[i], by = m->element_strides[1 + i];
        counts[i] = (room + by - 1) / by;
        number += (at[1 + i] - m->lower[i]) / by * step;
        step *= counts[i];
    }
    number += at[m->rank - 1] * step;
    uint64_t inside_bytes = 0;
    for (uint32_t p = 0; p < m->box[1]; p++, number++) {
        int64_t rest = number;
        uint64_t address = m->address - origin;
        bool inside = true;
        for (int i = 0; i < spatial; i++) {
            int64_t x = m->lower[i] + rest % counts[i] * m->element_strides[1 + i] + offsets[i];
            rest /= counts[i];
            inside = inside && x >= 0 && x < (int64_t)m->dims[1 + i];
            address += (uint64_t)x * m->strides[i];
        }
        inside = inside && rest < (int64_t)m->dims[m->rank - 1];
        address += (uint64_t)rest * m->strides[m->rank - 2];
        for (uint32_t c = 0; c < m->box[0] * size; c++) {
            bool there = inside && at[0] + c / size < m->dims[0];
            uint8_t expected = there ? global[address + (uint64_t)at[0] * size + c] : 0;
            if (shared[num_swizzle(p * pitch + c, m->swizzle ? pitch : 0, 0)] != expected) return false;
            inside_bytes += there;
        }
    }
    if (num_box_inside(m, at, offsets) != inside_bytes) return false;
    return num_tensor_map_bytes(m) == m->box[0] * m->box[1] * size;
}

static cute_tensor_map pixels(int rank)
{
    cute_tensor_map m = plain(CUTE_MAP_F16, rank);
    m.im2col = true;
    m.box[0] = 32;
    m.box[1] = 50;
    m.swizzle = CUTE_MAP_SWIZZLE_64B;
    for (int i = 0; i < rank - 2; i++) m.lower[i] = -1, m.upper[i] = -2 + i;
    return m;
}

static void test_im2col(void)
{
    static const uint16_t offsets[2][CUTE_MAP_SPATIAL] = {{0, 0, 0}, {2, 1, 3}};
    for (int rank = 3; rank <= 5; rank++)
        for (int n = 0; n < 8; n++) {
            cute_tensor_map m = pixels(rank);
            if (n & 1) m.element_strides[1] = 2;
            if (n & 1 && rank > 3) m.element_strides[2] = 3;
            int32_t at[CUTE_MAP_RANK] = {n & 2 ? 16 : 0, -1, -1, -1, -1};
            if (n & 2) at[1] += (int32_t)m.element_strides[1];
            at[rank - 1] = n & 2;
            uint8_t bytes[CUTE_MAP_BYTES];
            cute_tensor_map again;
            CHECK_INT(num_tensor_map_encode(&m, bytes, NULL), CUTE_OK);
            CHECK(num_tensor_map_decode(bytes, &again, NULL));
            CHECK(!num_tensor_map_replace(bytes, NUM_MAP_RANK, 0, 2));
            if (!pixels_agree(&again, at, offsets[n / 4])) CHECK_INT(rank, n);
        }
}

static void test_im2col_limits(void)
{
    const cute_tensor_map good = pixels(4);
    cute_tensor_map m = good;
    m.lower[1] = -129;
    refused(m, "expected a corner of the box of pixels from -128 to 127, got -129 in dimension 2 (the "
               "fastest is 0)");
    m = good;
    m.box[1] = 1025;
    refused(m, "expected 1 to 1024 pixels in a column, got 1025");
    m = good;
    m.upper[0] = -9;
    refused(m, "expected corners that enclose at least one pixel, got 7 in dimension 1 (the fastest is 0)");
    m = good;
    m.rank = 2;
    refused(m, "expected 3 to 5 dimensions in the im2col mode, got 2");
    m = good;
    static const int32_t out[CUTE_MAP_RANK] = {0, -2, -1, 0};
    const char *why;
    CHECK(!num_box_load(&m, out, NULL, 0, &memory, &why));
    CHECK_TEXT(why, "an im2col copy begins at a pixel that is not in the box of pixels");
}

int main(void)
{
    TEST("boxes of 1 to 5 dimensions are copied with every swizzle, type and place, and back; stores read "
         "what is "
         "inside the tensor",
         test_boxes);
    TEST("element strides skip, but not in the fastest dimension", test_element_strides);
    TEST("an interleaved tensor is read slice by slice", test_interleave);
    TEST("the swizzle is the PTX ISA's and undoes itself", test_swizzle);
    TEST("a map survives its form, and its fields can be replaced", test_form);
    TEST("a map of zeros takes fields one by one, element types by PTX's numbers", test_from_zeros);
    TEST("each limit is refused with its value", test_limits);
    TEST("copies stay inside the tensor and stop at the end of memory", test_bounds);
    TEST("reductions are those of atom, inside the tensor only", test_reductions);
    TEST("an im2col copy walks the box of pixels, moved by the offsets, in 3 to 5 dimensions", test_im2col);
    TEST("each limit of the im2col mode is refused with its value", test_im2col_limits);
    TEST("tf32 and ftz types convert what they load", test_conversions);
    return test_finish();
}
