/* The rows of atoms.def: their layouts against the fragments that lib/numeric has (measured on an H200), their text
 * read and printed. */
#include "lib/atoms/atoms.h"
#include "lib/numeric/fragment.h"
#include "lib/numeric/types.h"
#include "lib/numeric/wgmma.h"
#include "tests/unit/test_layout.h"

static const cute_atom *atom_of(const char *text)
{
    cute_value value = {0};
    cute_diag_clear(diag);
    if (cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), &value, NULL, diag) != CUTE_OK) {
        printf("# %s: %s\n", text, first_message());
        test_fail(__FILE__, __LINE__, "atom");
        return NULL;
    }
    return value.atom;
}

static int64_t size_of(const cute_tree *t)
{
    int64_t size = 1;
    if (t->kind == CUTE_TREE_INT) return t->value.value;
    for (uint32_t i = 0; i < t->count; i++) size *= size_of(t->items[i]);
    return size;
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

static int64_t place_of(cute_layout tv, int64_t thread, int64_t value)
{
    const cute_tree *s = tv.shape, *d = tv.stride;
    return at_linear(s->items[0], d->items[0], &thread) + at_linear(s->items[1], d->items[1], &value);
}

static ptx_type type_named(const char *name)
{
    for (int i = 0; i < PTX_TYPES; i++)
        if (!strcmp(ptx_types[i].name, name)) return (ptx_type)i;
    printf("# no PTX type %s\n", name);
    test_fail(__FILE__, __LINE__, name);
    return (ptx_type)0;
}

/* ---- layouts ---- */

static bool same_fragment(const cute_atom *atom, const num_mma *mma, int which)
{
    const cute_atom_operand *o = &atom->operand[which];
    int per = o->bits >= 32 ? 1 : 32 / o->bits;
    int64_t rows = which == NUM_B ? atom->shape[1] : atom->shape[0];
    CHECK_INT(size_of(o->layout.shape->items[0]), 32);
    CHECK_INT(o->values, size_of(o->layout.shape->items[1]));
    CHECK_INT(o->registers,
              num_fragment_registers(num_fragment_elements((num_operand)which, mma->m, mma->n, mma->k),
                                     type_named(o->ptx)));
    CHECK_INT(o->registers * o->register_bits, o->values * o->bits);
    for (int lane = 0; lane < 32; lane++)
        for (int v = 0; v < o->values; v++) {
            num_place p =
                num_fragment_place(mma, (num_operand)which, type_named(o->ptx), NULL, lane, v / per, v % per);
            int64_t expected = which == NUM_B ? p.column + rows * p.row : p.row + rows * p.column;
            if (place_of(o->layout, lane, v) == expected) continue;
            printf("# %s: operand %d, lane %d, value %d is at %" PRId64 ", not %" PRId64 "\n", atom->name,
                   which, lane, v, place_of(o->layout, lane, v), expected);
            return false;
        }
    return true;
}

/* PTX ISA 9.7.15.5: D as four warps below one another have it, A in registers as mma.sync's of 16 rows; an operand in
 * shared memory belongs to all threads, M or N fastest. */
static bool same_warpgroup_fragment(const cute_atom *atom, int which)
{
    const cute_atom_operand *o = &atom->operand[which];
    int64_t rows = which == CUTE_ATOM_B ? atom->shape[1] : atom->shape[0];
    int per = o->bits >= 32 ? 1 : 32 / o->bits;
    CHECK_INT(size_of(o->layout.shape->items[0]), 128);
    CHECK_INT(o->values, size_of(o->layout.shape->items[1]));
    CHECK_INT(o->registers, o->described ? 0 : o->values / per);
    for (int thread = 0; thread < 128; thread++)
        for (int v = 0; v < o->values; v++) {
            int lane = thread % 32, group = lane / 4, quad = lane % 4, pair = v / 2;
            int64_t expected = v;
            if (which == CUTE_ATOM_C) {
                int64_t down = 16 * (thread / 32) + group + 8 * (pair % 2);
                expected = down + rows * (8 * (pair / 2) + 2 * quad + v % 2);
            } else if (!o->described) {
                num_place p =
                    num_shape_place(NUM_A, 16, atom->shape[2], type_named(o->ptx), lane, v / per, v % per);
                expected = p.row + 16 * (thread / 32) + rows * p.column;
            }
            if (place_of(o->layout, thread, v) == expected) continue;
            printf("# %s: operand %d, thread %d, value %d is at %" PRId64 ", not %" PRId64 "\n", atom->name,
                   which, thread, v, place_of(o->layout, thread, v), expected);
            return false;
        }
    return true;
}

/* All of them: every type, N and place of A. */
static void test_warpgroups(void)
{
    static const char *const types[] = {"f16, f16, f32",         "f16, f16, f16",         "bf16, bf16, f32",
                                        "f8E4M3FN, f8E5M2, f32", "f8E5M2, f8E4M3FN, f16", "i8, ui8, i32"};
    static const int depths[] = {16, 16, 16, 32, 32, 32};
    begin();
    int compared = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        for (int n = 8; n <= 256; n += 8)
            for (int rs = 0; rs < 2; rs++) {
                if (depths[i] == 32 && i == 5 && n > 32 && n % 16) continue;
                const cute_atom *atom = atom_of(cute_arena_printf(
                    arena,
                    "!cute_nvgpu.sm90.mma<64x%dx%d, ab_major = (k, k), elem_type = (%s), frag_kind = %s>", n,
                    depths[i], types[i], rs ? "rs" : "ss"));
                for (int o = 0; atom && o < 3; o++) CHECK(same_warpgroup_fragment(atom, o));
                compared++;
            }
    CHECK_INT(compared, 5 * 64 + 36);
    end();
}

static const struct {
    const char *text, *message;
} no_warpgroups[] = {
    {"64x128x8, elem_type = (f16, f16, f32), frag_kind = ss", "wgmma of f16 has K = 16, 32 bytes, not 8"},
    {"128x128x16, elem_type = (f16, f16, f32), frag_kind = ss", "wgmma has M = 64, not 128"},
    {"64x12x16, elem_type = (f16, f16, f32), frag_kind = ss", "has N = 8, 16, 24, ..., 256, not 12"},
    {"64x264x16, elem_type = (f16, f16, f32), frag_kind = ss", "has N = 8, 16, 24, ..., 256, not 264"},
    {"64x40x32, elem_type = (i8, i8, i32), frag_kind = ss",
     "has N = 8, 16, 24, 32, 48, 64, ..., 256, not 40"},
    {"64x64x16, elem_type = (bf16, bf16, f16), frag_kind = ss",
     "wgmma does not support elements (bf16, bf16, f16); it supports (f16, f16, f32), (f16, f16, f16), "
     "(bf16, bf16, f32)"},
    {"64x64x8, ab_major = (k, mn), elem_type = (tf32, tf32, f32), frag_kind = ss",
     "wgmma of tf32 takes B with K contiguous (k), only of f16 and bf16 with N (mn)"},
    {"64x64x16, ab_major = (mn, k), elem_type = (f16, f16, f32), frag_kind = rs",
     "A in registers (rs) requires major k, as it has no order in memory"},
    {"64x64x16, elem_type = (f16, f16, f32), frag_kind = ss, satfinite", "only integer products saturate"},
    {"64x64x256, elem_type = (i1, i1, i32), op = xor, frag_kind = ss",
     "wgmma of i1 does not support op = xor, only op = and"},
    {"64x64x16, elem_type = (f16, f16, f32), frag_kind = sr", "expected one of ss rs, got \"sr\""},
};

static void test_no_warpgroups(void)
{
    begin();
    for (size_t i = 0; i < sizeof no_warpgroups / sizeof *no_warpgroups; i++) {
        cute_value value;
        cute_diag_clear(diag);
        const char *text = cute_arena_printf(arena, "sm90.mma<%s>", no_warpgroups[i].text);
        cute_status status = cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), &value, NULL, diag);
        if (status == CUTE_INVALID && CHECK(strstr(first_message(), no_warpgroups[i].message) != NULL))
            continue;
        CHECK_INT(status, CUTE_INVALID);
        printf("# %s says: %s\n", text, first_message());
    }
    const cute_atom *named = NULL;
    CHECK_INT(cute_atom_find(arena, "SM90_64x192x32_F32E4M3E5M2_RS_TN", &named, diag), CUTE_OK);
    CHECK_TEXT(named ? named->text : NULL,
               "!cute_nvgpu.sm90.mma<64x192x32, ab_major = (k, k), elem_type = (f8E4M3FN, "
               "f8E5M2, f32), frag_kind = rs>");
    CHECK_INT(cute_atom_find(arena, "SM90_64x48x32_S32U8S8_SS_TN_SATURATE", &named, diag), CUTE_OK);
    CHECK_TEXT(named ? named->ptx : NULL, "wgmma.mma_async.sync.aligned.m64n48k32.satfinite.s32.u8.s8");
    end();
}

static void test_fragments(void)
{
    begin();
    int compared = 0;
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, NULL);
        if (!CHECK(atom != NULL)) break;
        if (atom->kind != CUTE_ATOM_MMA || atom->arch == 0) continue;
        if (atom->wgmma) {
            for (int o = 0; o < 3; o++) CHECK(same_warpgroup_fragment(atom, o));
            continue;
        }
        num_mma mma = {
            .m = (int16_t)atom->shape[0], .n = (int16_t)atom->shape[1], .k = (int16_t)atom->shape[2]};
        for (int o = 0; o < 3; o++) CHECK(same_fragment(atom, &mma, o));
        compared++;
    }
    CHECK_INT(compared, 52);
    end();
}

/* All of PTX 8.5 that the emulator has and CuTe has a name for is here, under the name that PTX has for it. */
static void test_instructions(void)
{
    begin();
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, NULL);
        if (atom->kind != CUTE_ATOM_MMA || atom->arch == 0 || atom->isa > 85) continue;
        if (atom->wgmma) {
            num_wgmma w = {.n = atom->shape[1], .k = atom->shape[2]};
            w.a = type_named(atom->operand[0].ptx), w.b = type_named(atom->operand[1].ptx);
            w.d = type_named(atom->operand[2].ptx);
            w.op = atom->op == CUTE_MMA_AND_POPC ? NUM_AND_POPC : NUM_MUL_ADD;
            CHECK(num_wgmma_check(&w) == NULL);
            CHECK_INT(atom->operand[2].registers, num_wgmma_registers(&w));
            CHECK_TEXT(atom->ptx,
                       cute_arena_printf(arena, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s.%s.%s%s", w.n, w.k,
                                         ptx_types[w.d].name, ptx_types[w.a].name, ptx_types[w.b].name,
                                         w.op == NUM_AND_POPC ? ".and.popc" : ""));
            continue;
        }
        num_mma mma;
        static const num_mma_op ops[] = {NUM_MUL_ADD, NUM_XOR_POPC, NUM_AND_POPC};
        ptx_type t[3];
        for (int o = 0; o < 3; o++) t[o] = type_named(atom->operand[o].ptx);
        bool found = num_mma_find(false, atom->shape[0], atom->shape[1], atom->shape[2], t[0], t[1], t[2],
                                  t[2], ops[atom->op], &mma);
        if (!CHECK(found)) printf("# %s\n", atom->name);
        for (int o = 0; o < 3; o++) CHECK_INT(atom->operand[o].registers, mma.registers[o]);
        char name[128];
        snprintf(name, sizeof name, "mma.sync.aligned.m%dn%dk%d.row.col.%s.%s.%s.%s%s", mma.m, mma.n, mma.k,
                 ptx_types[t[2]].name, ptx_types[t[0]].name, ptx_types[t[1]].name, ptx_types[t[2]].name,
                 atom->op == CUTE_MMA_XOR_POPC   ? ".xor.popc"
                 : atom->op == CUTE_MMA_AND_POPC ? ".and.popc"
                                                 : "");
        CHECK_TEXT(atom->ptx, name);
    }
    end();
}

/* PTX ISA 9.7.14.5.15: thread 4g + t gets elements 2t and 2t + 1 of row g of matrix i in register i, of column g with
 * .trans; row r of matrix i is at the address of thread 8i + r. */
static void test_ldmatrix(void)
{
    begin();
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, "bf16");
        if (!atom || !atom->matrices) continue;
        bool load = !strcmp(atom->mnemonic, "atom.ldsm");
        cute_layout memory = atom->operand[load ? CUTE_ATOM_SOURCE : CUTE_ATOM_DESTINATION].layout;
        cute_layout registers = atom->operand[load ? CUTE_ATOM_DESTINATION : CUTE_ATOM_SOURCE].layout;
        CHECK_INT(atom->operand[CUTE_ATOM_REFERENCE].registers, atom->matrices);
        CHECK_INT(atom->operand[CUTE_ATOM_REFERENCE].values, 2 * atom->matrices);
        for (int lane = 0; lane < 32; lane++) {
            for (int e = 0; e < 8; e++)
                CHECK_INT(place_of(memory, lane, e), lane % (8 * atom->matrices) * 8 + e);
            for (int m = 0; m < atom->matrices; m++)
                for (int h = 0; h < 2; h++) {
                    int outer = lane / 4, inner = lane % 4 * 2 + h;
                    int down = atom->transposed ? inner : outer, across = atom->transposed ? outer : inner;
                    CHECK_INT(place_of(registers, lane, 2 * m + h), 64 * m + 8 * down + across);
                }
        }
    }
    end();
}

/* ---- text ---- */

static const char *const accepted[] = {
    "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >",
    "!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >",
    "!cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, ui8, i32), satfinite >",
    "!cute_nvgpu.sm80.mma<16x8x256, elem_type = (i1, i1, i32), op = and >",
    "!cute_nvgpu.sm80.mma<16x8x4, elem_type = (f64, f64, f64) >",
    "!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >",
    "!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >",
    "!cute_nvgpu.atom.ldsm<val_type = f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 4, t>",
    "!cute_nvgpu.atom.stsm<bf16, mode = <\"(8,8)\">, num_matrices = 2, n>",
    "!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>",
    "!cute_nvgpu.atom.simt_async_copy<f32, cache = always, 32 b>",
    "!cute_nvgpu.atom.universal_copy<f16, 128 b>",
    "!cute_nvgpu.atom.universal_copy<f8E4M3FN>",
    "!cute_nvgpu.atom.universal_copy<f32, 32 b, l1_cache_eviction_priority=no_allocate>",
    "!cute_nvgpu.sm90.mma<64x128x16, ab_major = (k, mn), elem_type = (f16, f16, f32), frag_kind = rs>",
    "!cute_nvgpu.atom.tmem_load<f32, 32 DP, 32 bit, x128>",
};

static void test_text(void)
{
    begin();
    for (size_t i = 0; i < sizeof accepted / sizeof *accepted; i++) {
        const cute_atom *atom = atom_of(accepted[i]);
        if (atom) CHECK_TEXT(atom->text, accepted[i]);
    }
    const cute_atom *loose = atom_of("sm80.mma< 16x8x16 ,elem_type=(f16,f16,f32)>");
    if (loose) CHECK_TEXT(loose->text, accepted[0]);
    const cute_atom *saturating = atom_of(accepted[2]);
    if (saturating) CHECK_TEXT(saturating->ptx, "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32");
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, NULL), *again = atom ? atom_of(atom->text) : NULL;
        if (!CHECK(again != NULL)) continue;
        CHECK_TEXT(again->text, atom->text);
        CHECK_TEXT(again->name, atom->name);
        const cute_atom *named = NULL;
        CHECK_INT(cute_atom_find(arena, atom->name, &named, diag), CUTE_OK);
        CHECK_TEXT(named ? named->text : NULL, atom->text);
    }
    end();
}

static const struct {
    cute_type type;
    const char *text;
} tiled[] = {
    {CUTE_TILED_COPY, "!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = "
                      "<\"((4,32),8):((256,1),32)\">, tiler_mn = <\"[32:1;32:1]\">"},
    {CUTE_TILED_COPY, "!cute_nvgpu.atom.stsm<f16, mode = <\"(8,8)\">, num_matrices = 4, t>, layout_copy_tv = "
                      "<\"((4,16,2),((2,2,2),1)):((32,1,128),((256,16,512),0))\">, tiler_mn = "
                      "<\"[(8,2,2):(1,16,8);(8,2,2):(2,1,16)]\">"},
    {CUTE_TILED_MMA, "!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = "
                     "<\"(16,16,1):(16,1,0)\">, permutation_MNK = <\"[(16,4):(4,1);(16,4):(4,1);_]\">"},
    {CUTE_TILED_MMA,
     "!cute_nvgpu.sm100.mma<128x128x8, num_cta = 1, ab_major = (k, k), elem_type = (tf32, tf32, f32), "
     "frag_kind = ss, c_scale_exp = 0>, atom_layout_MNK = <\"(1,1,1):(0,0,0)\">"},
};

static void test_tiled_text(void)
{
    begin();
    for (size_t i = 0; i < sizeof tiled / sizeof *tiled; i++) {
        cute_value value;
        if (!CHECK(cute_atom_value_parse(arena, tiled[i].type, tiled[i].text, strlen(tiled[i].text), &value,
                                         NULL, diag) == CUTE_OK))
            printf("# %s\n", first_message());
        else
            CHECK_TEXT(cute_atom_value_text(arena, &value), tiled[i].text);
    }
    end();
}

typedef struct refusal {
    cute_type type;
    const char *text, *message;
    size_t offset;
} refusal;

#define FMA "atom.universal_fma<1x1x1, (f32, f32) -> f32 >"
static const refusal refusals[] = {
    {CUTE_ATOM, "sm80.mma<16x8x4, elem_type = (f16, f16, f32) >",
     "unknown instruction '!cute_nvgpu.sm80.mma<16x8x4, elem_type = (f16, f16, f32) >'; nearest: "
     "'!cute_nvgpu.sm80.mma<16x8x8, elem_type = (f16, f16, f32) >', "
     "'!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >' and ",
     9},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, bf16, f32) >", "nearest: ", 9},
    {CUTE_ATOM, "sm80.mma<16x8x128, elem_type = (i1, i1, i32) >", "op = xor >'", 9},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, f16, f32), satfinite >",
     "only integer products saturate", 9},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, f16) >", "expected ',', got \") \"", 39},
    {CUTE_ATOM, "sm80.mma<16x8, elem_type = (f16, f16, f32) >", "expected a shape such as 16x8x16", 13},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, q16, f32) >", "expected an element type such as", 36},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, f16, f32) x>", "expected the end, got \"x\"", 46},
    {CUTE_ATOM, "sm80.mmma<16x8x16>", "unknown atom 'sm80.mmma'; did you mean 'sm80.mma'?", 0},
    {CUTE_ATOM, "f16", "unknown atom 'f16'", 0},
    {CUTE_ATOM, "", "expected an atom such as", 0},
    {CUTE_ATOM, "sm80.mma", "expected '<'", 8},
    {CUTE_ATOM, "sm80.mma<16x8x16, elem_type = (f16, f16, f32)", "expected '<' and a '>' that ends it", 8},
    {CUTE_ATOM, "atom.ldsm<val_type = f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 3, t>",
     "num_matrices = 4, t>'", 10},
    {CUTE_ATOM, "atom.ldsm<val_type = f16, mode = <\"(16,16)\">, sz_pattern = u8, num_matrices = 1, t>",
     "expected '8', got \"16,16", 36},
    {CUTE_ATOM, "atom.ldsm<val_type = f32, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 1, t>",
     "moves elements of at most 16 bits, not f32", 10},
    {CUTE_ATOM, "atom.simt_async_copy<f16, cache = global, 64 b>", "cache = global, 128 b>'", 21},
    {CUTE_ATOM, "atom.simt_async_copy<f16, cache = never, 64 b>",
     "expected one of always global, got \"never", 34},
    {CUTE_ATOM, "atom.universal_copy<f32, 16 b>", "16 bits are not a multiple of f32, which has 32 bits", 20},
    {CUTE_ATOM, "atom.universal_copy<f32, 96 b>", "expected a copy of 8, 16, 32, 64, 128 or 256 bits, got 96",
     20},
    {CUTE_ATOM, "atom.universal_copy<f32, 32 b, l1_cache_eviction_priority=x>",
     "expected one of evict_normal", 58},
    {CUTE_TILED_COPY, FMA ", layout_copy_tv = <\"(1,1):(0,0)\">, tiler_mn = <\"[1:0]\">",
     "expected a copy atom in a tiled_copy", 0},
    {CUTE_TILED_MMA, FMA ", atom_layout_MNK = <\"(16,16):(16,1)\">",
     "expected atom_layout_MNK of rank 3, got rank 2", 67},
    {CUTE_TILED_MMA, FMA ", atom_layout_MNK = <\"(16,16,1):(16,1)\">", "shape and stride must be congruent",
     77},
    {CUTE_TILED_MMA, FMA ", atom_layout_MNK = <\"(?,16,1):(16,1,0)\">", "expected a static layout", 67},
    {CUTE_TILED_MMA, FMA ", atom_layout = <\"(16,16,1):(16,1,0)\">", "expected 'atom_layout_MNK'", 47},
    {CUTE_TILED_COPY, "atom.universal_copy<f32>, layout_copy_tv = <\"(32,4):(4,1)\">",
     "expected ',', got the end of the text", 59},
};

static void test_refusals(void)
{
    begin();
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *r = &refusals[i];
        cute_value value;
        size_t offset = 999;
        cute_diag_clear(diag);
        cute_status status =
            cute_atom_value_parse(arena, r->type, r->text, strlen(r->text), &value, &offset, diag);
        if (status == CUTE_INVALID && cute_diag_count(diag) == 1 && strstr(first_message(), r->message) &&
            offset == r->offset)
            continue;
        printf("# %s\n#   says \"%s\" at %zu\n#   not  \"%s\" at %zu\n", r->text,
               status == CUTE_OK ? "nothing" : first_message(), offset, r->message, r->offset);
        test_fail(__FILE__, __LINE__, r->message);
    }
    const cute_atom *none;
    cute_diag_clear(diag);
    CHECK_INT(cute_atom_find(arena, "SM80_16x8x16_F32F16F16F32_TT", &none, diag), CUTE_INVALID);
    CHECK(strstr(first_message(), "did you mean 'SM80_16x8x16_F32F16F16F32_TN'?") != NULL);
    end();
}

int main(void)
{
    TEST("the thread-value layouts of MMAs are the fragments of the hardware", test_fragments);
    TEST("the thread-value layouts of every wgmma are its registers and matrices", test_warpgroups);
    TEST("a wgmma that the PTX ISA has not is refused, with what there is", test_no_warpgroups);
    TEST("every MMA is an instruction that the emulator has, with its registers and name", test_instructions);
    TEST("ldmatrix and stmatrix move the elements that the PTX ISA says", test_ldmatrix);
    TEST("types of atoms are printed as they were read, and every row is read again", test_text);
    TEST("tiled copies and MMAs are printed as they were read", test_tiled_text);
    TEST("what is no atom is refused at its place, with what there is", test_refusals);
    return test_finish();
}
