/* Tiled copies and MMAs: the operations of atom_ops.def on types that CuTe DSL prints, and over random tilings by brute
 * force: every element has its owner, and where the fragments of the hardware say. */
#include "lib/atoms/tiling.h"
#include "tests/unit/test_layout.h"

/* ---- operations by their types' text ---- */

static bool parse_type(const char *text, cute_value *out)
{
    if (!strncmp(text, "!cute_nvgpu.", 12))
        return cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), out, NULL, diag) == CUTE_OK;
    for (int type = CUTE_SHAPE; type < CUTE_TYPES; type++) {
        const char *name = cute_type_name((cute_type)type);
        size_t n = strlen(name), quote = type <= CUTE_TILE;
        if (strncmp(text, "!cute.", 6) != 0 || strncmp(text + 6, name, n) != 0 || text[6 + n] != '<')
            continue;
        size_t length = strlen(text) - 6 - n - 2 - 2 * quote;
        return cute_atom_value_parse(arena, (cute_type)type, text + 7 + n + quote, length, out, NULL, diag) ==
               CUTE_OK;
    }
    return false;
}

static const char *type_text(const cute_value *v)
{
    const char *text = cute_atom_value_text(arena, v), *quote = v->type <= CUTE_TILE ? "\"" : "";
    if (v->type == CUTE_ATOM) return text;
    return cute_arena_printf(arena, "!cute.%s<%s%s%s>", cute_type_name(v->type), quote, text, quote);
}

typedef struct typed_row {
    const char *operation;
    int operand_id; /* -1: none */
    const char *in[3], *out;
} typed_row;

static const char *apply_typed(const typed_row *r)
{
    cute_value in[3], out;
    cute_operation operation;
    int64_t id = r->operand_id;
    cute_attributes attributes = {&id, id >= 0};
    size_t count = 0;
    cute_diag_clear(diag);
    if (!cute_operation_find(r->operation, &operation)) return "no such operation";
    for (; count < 3 && r->in[count]; count++)
        if (!parse_type(r->in[count], &in[count])) return first_message();
    if (cute_atom_apply(arena, NULL, operation, in, count, &attributes, &out, diag) != CUTE_OK)
        return first_message();
    return type_text(&out);
}

static void check_typed(const typed_row *rows, size_t count, bool refused)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        const char *got = apply_typed(&rows[i]);
        if (refused ? cute_diag_count(diag) == 1 && strstr(got, rows[i].out) : !strcmp(got, rows[i].out))
            continue;
        printf("# %s of %s is\n#   %s\n# not\n#   %s\n", rows[i].operation,
               rows[i].in[1] ? rows[i].in[1] : "", got, rows[i].out);
        test_fail(__FILE__, __LINE__, rows[i].operation);
    }
    end();
}

#define F16_MMA                                                                                              \
    "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = "        \
    "<\"(2,2,1):(1,2,0)\">, permutation_MNK = <\"[32:1;32:1;16:1]\">>"
#define BF16_MMA                                                                                             \
    "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >, atom_layout_MNK = "      \
    "<\"(4,1,1):(1,0,0)\">, permutation_MNK = <\"[64:1;16:1;16:1]\">>"
#define FMA                                                                                                  \
    "!cute.tiled_mma<!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = "          \
    "<\"(16,16,1):(16,1,0)\">, permutation_MNK = <\"[(16,4):(4,1);(16,4):(4,1);_]\">>"
#define WGMMA                                                                                                \
    "!cute.tiled_mma<!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, k), elem_type = (f16, f16, f32), "       \
    "frag_kind = ss>, atom_layout_MNK = <\"(1,1,1):(0,0,0)\">>"
#define COPY "!cute_nvgpu.atom.universal_copy<f16>"
#define LDSM(type, order)                                                                                    \
    "!cute_nvgpu.atom.ldsm<val_type = " type                                                                 \
    ", mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 4, " order ">"
#define TILED(atom, tv, tiler)                                                                               \
    "!cute.tiled_copy<" atom ", layout_copy_tv = <\"" tv "\">, tiler_mn = <\"" tiler "\">>"

static const typed_row typed[] = {
    {"make_tiled_mma",
     -1,
     {"!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >", "!cute.layout<\"(2,2,1):(1,2,0)\">",
      "!cute.tile<\"[32:1;32:1;16:1]\">"},
     F16_MMA},
    {"make_tiled_mma",
     -1,
     {"!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >"},
     "!cute.tiled_mma<!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = "
     "<\"(1,1,1):(0,0,0)\">>"},
    {"make_tiled_copy",
     -1,
     {COPY, "!cute.layout<\"(4,32):(32,1)\">", "!cute.layout<\"(4,4):(4,1)\">"},
     TILED(COPY, "((32,4),(4,4)):((64,4),(16,1))", "[16:1;128:1]")},
    {"make_tiled_copy",
     -1,
     {COPY, "!cute.layout<\"(16,8):(8,1)\">", "!cute.layout<\"(1,8):(8,1)\">"},
     TILED(COPY, "((8,16),8):((128,1),16)", "[16:1;64:1]")},
    {"make_tiled_copy",
     -1,
     {COPY, "!cute.layout<\"(128,8):(8,1)\">", "!cute.tile<\"[128:1;8:1]\">"},
     TILED(COPY, "(128,8):(8,1)", "[128:1;8:1]")},
    {"make_tiled_copy_A",
     -1,
     {COPY, F16_MMA},
     TILED(COPY, "((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))", "[32:1;16:1]")},
    {"make_tiled_copy_B",
     -1,
     {COPY, F16_MMA},
     TILED(COPY, "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))", "[32:1;16:1]")},
    {"make_tiled_copy_C",
     -1,
     {COPY, BF16_MMA},
     TILED(COPY, "((4,8,4),((2,2),(1,2))):((128,1,16),((64,8),(0,512)))", "[64:1;16:1]")},
    {"tiled.copy.retile",
     -1,
     {TILED(LDSM("f16", "t"), "((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))", "[32:1;16:1]"),
      "!cute.memref<f16, rmem, align<8>, \"((2,2),((2,2),2),2):((1,2),((16,32),4),8)\">"},
     "!cute.memref<f16, rmem, align<8>, \"(((4,2),1),(2,2),2):(((1,16),0),(32,4),8)\">"},
    {"tiled.copy.retile",
     -1,
     {TILED(LDSM("bf16", "n"), "((4,8,4),((2,2),(1,2))):((128,1,16),((64,8),(0,512)))", "[64:1;16:1]"),
      "!cute.memref<bf16, rmem, align<32>, \"((2,2),1,8):((1,2),0,4)\">"},
     "!cute.memref<bf16, rmem, align<32>, \"((8,1),1,4):((1,0),0,8)\">"},
    {"tiled.copy.retile",
     -1,
     {TILED("!cute_nvgpu.atom.stsm<f16, mode = <\"(8,8)\">, num_matrices = 4, t>",
            "((4,16,2),((2,2,2),1)):((32,1,128),((256,16,512),0))", "[(8,2,2):(1,16,8);(8,2,2):(2,1,16)]"),
      "!cute.memref<f32, rmem, align<32>, \"((2,2),2,4):((1,2),4,8)\">"},
     "!cute.memref<f32, rmem, align<32>, \"(((4,2),1),2,2):(((1,8),0),4,16)\">"},
    /* A thread that begins a warpgroup: what divides it is no part of the warpgroup. */
    {"tiled.mma.partition",
     2,
     {WGMMA, "!cute.coord_tensor<\"(?{div=128},?,?)\", \"(128,128):(1@1,1@0)\">",
      "!cute.coord<\"?{div=128}\">"},
     "!cute.coord_tensor<\"(?{div=128},?,?)\", \"((2,2,16),2,1):((1@0,8@1,8@0),64@1,0)\">"},
    {"tiled.mma.partition",
     2,
     {WGMMA, "!cute.memref<f32, gmem, \"(64,128):(?{i64},0)\">", "!cute.coord<\"?\">"},
     "!cute.memref<f32, gmem, \"((2,2,16),1,1):((0,?{i64 div=8},0),0,0)\">"},
    {"tiled.mma.partition_shape", 2, {BF16_MMA, "!cute.shape<\"(128,64)\">"}, "!cute.shape<\"((2,2),2,8)\">"},
    {"tiled.mma.partition_shape",
     0,
     {BF16_MMA, "!cute.shape<\"(128,64)\">"},
     "!cute.shape<\"((2,2,2),2,4)\">"},
    {"mma.make_fragment",
     0,
     {F16_MMA, "!cute.memref<f16, smem, align<4>, \"((2,2,2),4,2):((1,256,?{div=8}),1024,?{div=16})\">"},
     "!cute.memref<f16, rmem, align<16>, \"((2,2,2),4,2):((1,2,4),8,32)\">"},
    {"mma.make_fragment",
     1,
     {F16_MMA,
      "!cute.memref<f16, smem, \"((2,2),((2,2),2),2):((?{div=8},1024),((?{div=16},?{div=32}),512),2048)\">"},
     "!cute.memref<f16, rmem, align<8>, \"((2,2),((2,2),2),2):((1,2),((16,32),4),8)\">"},
    {"mma.make_fragment",
     2,
     {F16_MMA, "!cute.memref<f16, gmem, align<4>, \"((2,2),4,8):((1,?{div=64}),?{div=256},16)\">"},
     "!cute.memref<f32, rmem, align<16>, \"((2,2),4,8):((1,2),4,16)\">"},
    {"mma.make_fragment",
     2,
     {FMA, "!cute.memref<f32, gmem, \"(1,(4,2),(4,2)):(0,(?,?),(1,64))\">"},
     "!cute.memref<f32, rmem, \"(1,(4,2),(4,2)):(0,(1,4),(8,32))\">"},
    {"mma.make_fragment",
     2,
     {F16_MMA, "!cute.shape<\"((2,2),4,8)\">"},
     "!cute.memref<f32, rmem, align<16>, \"((2,2),4,8):((1,2),4,16)\">"},
};

static void test_typed(void)
{
    check_typed(typed, sizeof typed / sizeof *typed, false);
}

static const typed_row refused[] = {
    {"make_tiled_copy",
     -1,
     {"!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >", "!cute.layout<\"(4,32):(32,1)\">",
      "!cute.tile<\"[4:1;32:1]\">"},
     "expects a copy atom, but got '!cute_nvgpu.sm80.mma<"},
    {"make_tiled_copy",
     -1,
     {COPY, "!cute.layout<\"(4,?):(32,1)\">", "!cute.tile<\"[4:1;32:1]\">"},
     "expected a static layout, got (4,?):(32,1)"},
    {"make_tiled_copy",
     -1,
     {COPY, "!cute.layout<\"32:1\">", "!cute.tile<\"[4:1;32:1]\">"},
     "expected layout_copy_tv of rank 2, got rank 1"},
    {"make_tiled_mma", -1, {COPY}, "expects an MMA atom, but got '" COPY "'"},
    {"make_tiled_mma",
     -1,
     {"!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >", "!cute.layout<\"(2,2,1,1):(1,2,0,0)\">"},
     "expected atom_layout_MNK of rank 3, got rank 4"},
    {"make_tiled_copy_A",
     -1,
     {COPY, "!cute.layout<\"(4,32):(32,1)\">"},
     "expects a tiled MMA, but got '!cute.layout<"},
    {"make_tiled_copy_A",
     -1,
     {COPY, "!cute.tiled_mma<!cute_nvgpu.sm100.mma<64x128x16, frag_kind = ss>, atom_layout_MNK = "
            "<\"(1,1,1):(0,0,0)\">>"},
     "the layouts of 'sm100.mma' are not known"},
    {"tiled.mma.partition_shape",
     3,
     {BF16_MMA, "!cute.shape<\"(128,64)\">"},
     "expects the operand of the MMA: 0, 1 or 2"},
    {"tiled.mma.partition_shape",
     0,
     {BF16_MMA, "!cute.shape<\"128\">"},
     "expects a tensor of rank 2 or more"},
    {"tiled.mma.partition",
     0,
     {BF16_MMA, "!cute.layout<\"(128,64):(64,1)\">", "!cute.coord<\"(1,2)\">"},
     "expects the index of a thread, one number, but got '!cute.coord<\"(1,2)\">'"},
    {"tiled.copy.partition_S",
     -1,
     {BF16_MMA, "!cute.layout<\"(128,64):(64,1)\">", "!cute.coord<\"1\">"},
     "expects a tiled copy, but got '!cute.tiled_mma<"},
    {"tiled.copy.partition_S",
     -1,
     {TILED(LDSM("f16", "t"), "(16,8):(8,1)", "[16:1;8:1]"), "!cute.layout<\"(128,64):(64,1)\">",
      "!cute.coord<\"1\">"},
     "the atom takes 32 threads, but the thread-value layout has 16, which is not a multiple"},
    {"tiled.copy.partition_S",
     -1,
     {TILED("!cute_nvgpu.atom.universal_copy<f16, 128 b>", "(16,4):(4,1)", "[16:1;4:1]"),
      "!cute.layout<\"(128,64):(64,1)\">", "!cute.coord<\"1\">"},
     "the atom takes 8 values, but the thread-value layout has 4, which is not a multiple"},
    {"tiled.copy.partition_S",
     -1,
     {TILED(COPY, "(16,4):(4,1)", "[16:1;4:1]"), "!cute.layout<\"64:1\">", "!cute.coord<\"1\">"},
     "expects a tensor of rank 2 or more, but got 64:1"},
    {"mma.make_fragment",
     0,
     {F16_MMA, "!cute.layout<\"((2,2,2),?):((1,2,4),8)\">"},
     "registers need a static shape"},
    {"tiled.copy.retile",
     -1,
     {TILED(COPY, "(16,4):(4,1)", "[16:1;4:1]"), "!cute.layout<\"(4,4):(1,4)\">"},
     "expects a tensor of rank 3 or more"},
};

static void test_refused(void)
{
    check_typed(refused, sizeof refused / sizeof *refused, true);
}

/* ---- by brute force ---- */

static uint64_t seed = 7;
static int any(int most) /* 1 to most */
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int)(seed >> 40) % most + 1;
}

/* The index of a layout at a linear index: evaluated here, not by the library. */
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

static int64_t mode_at(cute_layout l, size_t mode, int64_t index)
{
    return at_linear(l.shape->items[mode], l.stride->items[mode], &index);
}

static int64_t size_of(const cute_tree *t)
{
    int64_t size = 1;
    if (t->kind == CUTE_TREE_INT) return t->value.value;
    for (uint32_t i = 0; i < t->count; i++) size *= size_of(t->items[i]);
    return size;
}

static cute_layout layout_of(const char *text)
{
    cute_value v = {0};
    if (cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), &v, NULL, diag) != CUTE_OK)
        test_fail(__FILE__, __LINE__, text);
    return v.layout;
}

enum { LEAVES = 64 };

/* The extents and strides of a layout's leaves; returns how many. */
static size_t leaves_of(const cute_tree *shape, const cute_tree *stride, size_t count, int64_t *extents,
                        int64_t *strides)
{
    if (shape->kind != CUTE_TREE_INT) {
        for (uint32_t i = 0; i < shape->count; i++)
            count = leaves_of(shape->items[i], stride->items[i], count, extents, strides);
        return count;
    }
    if (!CHECK(count < LEAVES)) return count;
    extents[count] = shape->value.value;
    strides[count] = stride->value.value;
    return count + 1;
}

/* All indices of a layout, counted in `seen`: its leaves as the digits of a counter. */
static void count_all(cute_layout l, unsigned char *seen, size_t cells)
{
    int64_t extents[LEAVES], strides[LEAVES], digits[LEAVES] = {0}, at = 0;
    size_t count = leaves_of(l.shape, l.stride, 0, extents, strides), leaf;
    do {
        if (CHECK(at >= 0 && (size_t)at < cells)) seen[at]++;
        for (leaf = 0; leaf < count && ++digits[leaf] == extents[leaf]; leaf++) {
            at -= strides[leaf] * (extents[leaf] - 1);
            digits[leaf] = 0;
        }
        if (leaf < count) at += strides[leaf];
    } while (leaf < count);
}

static bool covered_by(cute_layout l, int64_t cells, int owners)
{
    unsigned char *seen = cute_arena_alloc(arena, (size_t)cells);
    count_all(l, seen, (size_t)cells);
    for (int64_t i = 0; i < cells; i++)
        if (seen[i] != owners) return printf("# element %" PRId64 " has %d owners\n", i, seen[i]), false;
    return true;
}

static const int modes_of[3][2] = {{0, 2}, {1, 2}, {0, 1}};

/* AddressSanitizer has an allocation for each object of a trial: it sees no more in 200 of them than in 20. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(SANITIZED) || defined(__SANITIZE_ADDRESS__)
enum { TRIALS = 20 };
#else
enum { TRIALS = 200 };
#endif

/* Atoms that tile M and N (and K) with threads in a random order, no permutation: value f of thread v of atom (tm,tn)
 * in repetition (rm,rn) is at m = place in the atom + atom * (tm + atoms * rm), n likewise. */
static bool check_mma(const cute_atom *atom, int which)
{
    int t[3] = {any(3), any(2), any(2)}, order = any(2), rest[2] = {any(3), any(2)};
    const int *modes = modes_of[which];
    int64_t d0 = t[0] > 1, d1 = order == 1 ? t[0] : 1, d2 = (int64_t)t[0] * t[1];
    if (order == 2) d0 = t[1];
    const char *text = cute_arena_printf(arena, "(%d,%d,%d):(%" PRId64 ",%" PRId64 ",%" PRId64 ")", t[0],
                                         t[1], t[2], d0, d1, d2);
    cute_value mma = {.type = CUTE_TILED_MMA, .atom = atom, .layout = layout_of(text)};
    int64_t extent[2], per[2];
    for (int i = 0; i < 2; i++) {
        per[i] = (int64_t)atom->shape[modes[i]] * t[modes[i]];
        extent[i] = per[i] * rest[i];
    }
    cute_algebra a = {.arena = arena, .diag = diag};
    cute_layout tensor = layout_of(cute_arena_printf(arena, "(%" PRId64 ",%" PRId64 "):(1,%" PRId64 ")",
                                                     extent[0], extent[1], extent[0]));
    atom_partition p = atom_mma_partition(&a, &mma, which, tensor);
    if (!CHECK(alg_ok(p.layout) && alg_rank(p.layout.shape) == 6)) return false;
    /* What lies in shared memory all threads of the atom have. */
    if (!covered_by(p.layout, extent[0] * extent[1], atom->operand[which].described ? 128 : 1)) return false;
    for (int trial = 0; trial < TRIALS; trial++) {
        cute_layout l = p.layout, tv = atom->operand[which].layout;
        int64_t v = any((int)size_of(tv.shape->items[0])) - 1, f = any((int)atom->operand[which].values) - 1;
        int64_t at[2], inside = mode_at(tv, 0, v) + mode_at(tv, 1, f), m0 = atom->shape[modes[0]];
        int64_t thread[2] = {any(t[modes[0]]) - 1, any(t[modes[1]]) - 1};
        int64_t r[2] = {any(rest[0]) - 1, any(rest[1]) - 1};
        int64_t place[2] = {inside % m0, inside / m0};
        for (int i = 0; i < 2; i++)
            at[i] = place[i] + atom->shape[modes[i]] * (thread[i] + (int64_t)t[modes[i]] * r[i]);
        int64_t expected = at[0] + extent[0] * at[1];
        int64_t got = mode_at(l, 0, v) + mode_at(l, 1, thread[0]) + mode_at(l, 2, thread[1]) +
                      mode_at(l, 3, f) + mode_at(l, 4, r[0]) + mode_at(l, 5, r[1]);
        CHECK_INT(got, expected);
        if (got != expected) return false;
        /* The same by the index of the thread, through its coordinate. */
        int64_t vmnk[4] = {v, any(t[0]) - 1, any(t[1]) - 1, any(t[2]) - 1}, index = v;
        int64_t d[3] = {d0, d1, d2};
        for (int i = 0; i < 2; i++) vmnk[1 + modes[i]] = thread[i];
        int64_t warp = size_of(tv.shape->items[0]);
        for (int i = 0; i < 3; i++) index += warp * d[i] * vmnk[1 + i];
        cute_node coordinate[3];
        if (!CHECK(atom_mma_coordinate(&a, &mma, which, alg_number(&a, index), coordinate))) return false;
        CHECK_INT(coordinate[0]->value.value, v);
        CHECK_INT(coordinate[1]->value.value, thread[0]);
        CHECK_INT(coordinate[2]->value.value, thread[1]);
        /* And by the thread-value layout of the tile. */
        if (trial > 0) continue;
        cute_layout whole = atom_mma_layout(&a, &mma, which);
        if (!CHECK(alg_ok(whole))) continue;
        CHECK_INT(size_of(whole.shape->items[0]), warp * t[0] * t[1] * t[2]);
        CHECK_INT(mode_at(whole, 0, index) + mode_at(whole, 1, f),
                  place[0] + atom->shape[modes[0]] * thread[0] +
                      per[0] * (place[1] + atom->shape[modes[1]] * thread[1]));
    }
    return !test_failed;
}

static void test_mma_partitions(void)
{
    for (size_t i = 0; i < cute_atom_count(); i++)
        for (int which = 0; which < 3; which++)
            for (int trial = 0; trial < 3; trial++) {
                begin(); /* each trial has memory of its own: all of them together have gigabytes */
                const cute_atom *atom = cute_atom_at(arena, i, NULL);
                if (atom->kind == CUTE_ATOM_MMA && !check_mma(atom, which))
                    printf("# %s, operand %d: %s\n", atom->name, which, first_message());
                end();
            }
}

/* Random threads and values by their layouts: the tile is covered once, and a thread's value is where the
 * thread-value layout says. */
static void test_copy_partitions(void)
{
    begin();
    const cute_atom *atom;
    CHECK_INT(cute_atom_find(arena, "UniversalCopy", &atom, diag), CUTE_OK);
    for (int trial = 0; trial < 300; trial++) {
        int tm = any(8), tn = any(8), vm = any(4), vn = any(4), rm = any(3), rn = any(3);
        bool by_rows = any(2) == 1;
        cute_value in[3] = {{.type = CUTE_ATOM, .atom = atom}}, copy;
        in[1] =
            cute_value_of_layout(layout_of(by_rows ? cute_arena_printf(arena, "(%d,%d):(%d,1)", tm, tn, tn)
                                                   : cute_arena_printf(arena, "(%d,%d):(1,%d)", tm, tn, tm)));
        in[2] = cute_value_of_layout(layout_of(cute_arena_printf(arena, "(%d,%d):(%d,1)", vm, vn, vn)));
        if (!CHECK(cute_atom_apply(arena, NULL, CUTE_OP_MAKE_TILED_COPY, in, 3, NULL, &copy, diag) ==
                   CUTE_OK)) {
            printf("# %s\n", first_message());
            continue;
        }
        int64_t m = (int64_t)tm * vm, n = (int64_t)tn * vn, rows = m * rm, columns = n * rn;
        cute_algebra a = {.arena = arena, .diag = diag};
        cute_layout tensor = layout_of(
            cute_arena_printf(arena, "(%" PRId64 ",%" PRId64 "):(1,%" PRId64 ")", rows, columns, rows));
        atom_partition p = atom_copy_partition(&a, &copy, CUTE_ATOM_SOURCE, tensor);
        if (!CHECK(alg_ok(p.layout) && alg_rank(p.layout.shape) == 4)) continue;
        CHECK(covered_by(p.layout, rows * columns, 1));
        for (int k = 0; k < 20; k++) {
            int64_t i = any(tm) - 1, j = any(tn) - 1, x = any(vm) - 1, y = any(vn) - 1, r = any(rm) - 1,
                    s = any(rn) - 1;
            int64_t thread = by_rows ? i * tn + j : i + j * tm, value = x * vn + y;
            int64_t expected = i * vm + x + m * r + rows * (j * vn + y + n * s);
            CHECK_INT(mode_at(p.layout, 0, thread) + mode_at(p.layout, 1, value) + mode_at(p.layout, 2, r) +
                          mode_at(p.layout, 3, s),
                      expected);
        }
    }
    end();
}

/* What ldmatrix leaves in the registers of a thread is what its MMA wants there: retile of A's fragment and the copy's
 * partition name the same elements, in the same order. */
static void test_retile(void)
{
    begin();
    static const char *const mmas[] = {F16_MMA, BF16_MMA};
    for (size_t i = 0; i < 2; i++)
        for (int which = 0; which < 2; which++) {
            cute_value in[2], mma, copy;
            cute_algebra a = {.arena = arena, .diag = diag};
            CHECK(parse_type(mmas[i], &mma));
            CHECK(parse_type(i ? LDSM("bf16", "n") : LDSM("f16", "n"), &in[0]));
            in[1] = mma;
            cute_operation make = which == 0 ? CUTE_OP_MAKE_TILED_COPY_A : CUTE_OP_MAKE_TILED_COPY_B;
            CHECK_INT(cute_atom_apply(arena, NULL, make, in, 2, NULL, &copy, diag), CUTE_OK);
            cute_layout tensor = layout_of("(128,32):(1,128)");
            atom_partition of_mma = atom_mma_partition(&a, &mma, which, tensor);
            atom_partition of_copy = atom_copy_partition(&a, &copy, CUTE_ATOM_DESTINATION, tensor);
            if (!CHECK(alg_ok(of_mma.layout) && alg_ok(of_copy.layout))) continue;
            cute_layout fragment = {alg_take(&a, of_mma.layout.shape, 3, 6),
                                    alg_take(&a, of_mma.layout.stride, 3, 6)};
            cute_layout retiled = atom_copy_retile(&a, &copy, fragment);
            if (!CHECK(alg_ok(retiled))) continue;
            CHECK_INT(size_of(retiled.shape), size_of(fragment.shape));
            for (int64_t thread = 0; thread < 128; thread++) {
                cute_node c[3];
                CHECK(atom_mma_coordinate(&a, &mma, which, alg_number(&a, thread), c));
                int64_t base = 0, there = mode_at(of_copy.layout, 0, thread);
                for (size_t j = 0; j < 3; j++) base += mode_at(of_mma.layout, j, c[j]->value.value);
                int64_t values = size_of(of_copy.layout.shape->items[1]),
                        rests = size_of(retiled.shape) / values;
                for (int64_t v = 0; v < values; v++)
                    for (int64_t r = 0; r < rests; r++) {
                        cute_layout rest = {alg_take(&a, of_copy.layout.shape, 2, 4),
                                            alg_take(&a, of_copy.layout.stride, 2, 4)};
                        int64_t x = v + values * r, y = r, z = x;
                        int64_t mine = base + at_linear(retiled.shape, retiled.stride, &z);
                        int64_t copied =
                            there + mode_at(of_copy.layout, 1, v) + at_linear(rest.shape, rest.stride, &y);
                        if (mine != copied) CHECK_INT(mine, copied);
                    }
            }
        }
    end();
}

int main(void)
{
    TEST("tilings, fragments and retiled fragments have the types that CuTe DSL prints", test_typed);
    TEST("what cannot be tiled or partitioned is refused", test_refused);
    TEST("a tiled MMA gives every element to one thread, where its fragments say", test_mma_partitions);
    TEST("a tiled copy gives every element to one thread, where its layout says", test_copy_partitions);
    TEST("what ldmatrix leaves in registers is what the MMA takes", test_retile);
    return test_finish();
}
