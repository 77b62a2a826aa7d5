/* TMA atoms: element types, parsed types, and words of tensor maps. */
#include "lib/atoms/tma.h"

#include <inttypes.h>
#include <string.h>

#include "lib/atoms/tma_algebra.h"
#include "lib/base/buffer.h"
#include "lib/layout/pointer.h"

/* ---- element types ---- */

static const struct {
    const char *name, *element; /* element: the MLIR type whose default format this is */
    cute_tensor_map_type type;
    int bits;
} formats[] = {
    {"F16_RN", "f16", CUTE_MAP_F16, 16},
    {"BF16_RN", "bf16", CUTE_MAP_BF16, 16},
    {"F32_RN", "f32", CUTE_MAP_F32, 32},
    {"TF32_RN", "tf32", CUTE_MAP_TF32, 32},
    {"F64_RN", "f64", CUTE_MAP_F64, 64},
    {"U8", "i8", CUTE_MAP_U8, 8},
    {"U16", "i16", CUTE_MAP_U16, 16},
    {"S32", "i32", CUTE_MAP_I32, 32},
    {"U32", "ui32", CUTE_MAP_U32, 32},
    {"S64", "i64", CUTE_MAP_I64, 64},
    {"U64", "ui64", CUTE_MAP_U64, 64},
    {"F32_FTZ_RN", NULL, CUTE_MAP_F32_FTZ, 32},
    {"TF32_FTZ_RN", NULL, CUTE_MAP_TF32_FTZ, 32},
};
enum { FORMATS = sizeof formats / sizeof *formats };

bool cute_tma_format_find(const char *name, size_t length, cute_tensor_map_type *type, int *bits)
{
    for (size_t i = 0; i < FORMATS; i++) {
        if (strlen(formats[i].name) != length || memcmp(formats[i].name, name, length) != 0) continue;
        *type = formats[i].type;
        *bits = formats[i].bits;
        return true;
    }
    return false;
}

const char *cute_tma_format_of(const char *element)
{
    int bits;
    if (!strncmp(element, "si", 2))
        element++; /* a signed integer has the format of the unsigned one, except for its name */
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].element && !strcmp(formats[i].element, element)) return formats[i].name;
    if (!strcmp(element, "ui8") || !strcmp(element, "ui16")) return element[2] == '8' ? "U8" : "U16";
    bool sized = alg_element_bits(element, strlen(element), &bits);
    return sized && bits == 8 ? "U8" : NULL; /* 8-bit floats are copied as bytes */
}

/* ---- parsed types ---- */

int64_t cute_tma_elements(const cute_tma *tma)
{
    return tma->copy_bits / tma->bits;
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

cute_status cute_tma_of_fields(cute_arena *arena, const atom_family *family, const atom_fields *f,
                               const cute_tma **out, cute_diag *diag)
{
    cute_tma *t = cute_arena_alloc(arena, sizeof *t);
    if (!t) return cute_fail_memory(diag);
    const char *name = strstr(family->mnemonic, "tma_");
    *t = (cute_tma){.operation = !strcmp(name, "tma_load")    ? CUTE_TMA_LOAD
                                 : !strcmp(name, "tma_store") ? CUTE_TMA_STORE
                                                              : CUTE_TMA_REDUCE,
                    .executable = !strstr(family->mnemonic, "non_exec"),
                    .im2col =
                        strstr(family->mnemonic, "im2col") || (f->tma_mode && !strcmp(f->tma_mode, "im2col")),
                    .element = f->type[0],
                    .copy_bits = f->copy_bits,
                    .format = f->tma_format,
                    .kind = f->tma_kind,
                    .reduce = f->tma_reduce,
                    .multicast = f->tma_multicast && !strcmp(f->tma_multicast, "true"),
                    .blocks = f->num_cta ? (int)f->num_cta : 1};
    if (t->kind) t->multicast = ends_with(t->kind, "_multicast"), t->blocks = strstr(t->kind, "_2sm") ? 2 : 1;
    alg_element_bits(t->element, strlen(t->element), &t->bits);
    cute_value basis;
    CUTE_TRY(cute_value_parse(arena, CUTE_LAYOUT, f->basis, strlen(f->basis), &basis, NULL, diag));
    t->basis = basis.layout;
    if (t->im2col && tma_rank(t->basis.shape) < 3)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expects channels, pixels and 1 to 3 further modes in tma_gbasis of an im2col copy, but "
            "got \"%s\"",
            f->basis);
    int64_t size = tma_size(t->basis.shape), bits;
    if (t->bits && size && !__builtin_mul_overflow(size, (int64_t)t->bits, &bits) && bits != t->copy_bits)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected copy_bits = %" PRId64 ", the bits of the box in tma_gbasis, got %" PRId64,
                         bits, t->copy_bits);
    if (!t->bits || t->copy_bits < t->bits || t->copy_bits % t->bits)
        return cute_fail(diag, CUTE_INVALID, NULL, "%" PRId64 " bits are not a multiple of the size of %s",
                         t->copy_bits, t->element);
    *out = t;
    return CUTE_OK;
}

/* ---- bulk copies ---- */

enum { ARITHMETIC = 1, ORDER = 2, COUNT = 4, LOGIC = 8 };

/* PTX ISA 8.5, cp.reduce.async.bulk: the operations of each element type, in PTX's spelling. */
static const struct {
    const char *element, *sum, *order, *logic;
    int has;
} reductions[] = {
    {"f16", "noftz.f16", "f16", NULL, ARITHMETIC | ORDER},
    {"bf16", "noftz.bf16", "bf16", NULL, ARITHMETIC | ORDER},
    {"f32", "f32", NULL, NULL, ARITHMETIC},
    {"f64", "f64", NULL, NULL, ARITHMETIC},
    {"i32", "s32", "s32", "b32", ARITHMETIC | ORDER | LOGIC},
    {"ui32", "u32", "u32", "b32", ARITHMETIC | ORDER | COUNT | LOGIC},
    {"i64", "u64", "s64", "b64", ARITHMETIC | ORDER | LOGIC},
    {"ui64", "u64", "u64", "b64", ARITHMETIC | ORDER | LOGIC},
};

static const struct {
    const char *word, *ptx;
    int needs;
} kinds[] = {{"ADD", "add", ARITHMETIC}, {"MIN", "min", ORDER}, {"MAX", "max", ORDER}, {"INC", "inc", COUNT},
             {"DEC", "dec", COUNT},      {"AND", "and", LOGIC}, {"OR", "or", LOGIC},   {"XOR", "xor", LOGIC}};

cute_status cute_bulk_of_fields(cute_arena *arena, const atom_fields *f, const cute_bulk **out,
                                cute_diag *diag)
{
    cute_bulk *b = cute_arena_alloc(arena, sizeof *b);
    if (!b) return cute_fail_memory(diag);
    bool load = !strcmp(f->bulk, "g2s"), store = !strcmp(f->bulk, "s2g");
    *b = (cute_bulk){.from = load ? CUTE_SPACE_GMEM : CUTE_SPACE_SMEM,
                     .to = load    ? CUTE_SPACE_SMEM
                           : store ? CUTE_SPACE_GMEM
                                   : CUTE_SPACE_DSMEM,
                     .element = f->type[0]};
    alg_element_bits(b->element, strlen(b->element), &b->bits);
    *out = b;
    if (!f->tma_reduce) return CUTE_OK;
    int needs = 0, has = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].word, f->tma_reduce)) b->reduce = kinds[i].ptx, needs = kinds[i].needs;
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
        if (strcmp(reductions[i].element, b->element) != 0) continue;
        has = reductions[i].has;
        b->type = needs == ARITHMETIC ? reductions[i].sum
                  : needs == LOGIC    ? reductions[i].logic
                                      : reductions[i].order;
    }
    if (store && needs & has) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL,
                     store ? "unsupported bulk reduction %s of elements of type %s"
                           : "only copies to global memory (s2g) reduce, not %s of %s",
                     f->tma_reduce, b->element);
}

cute_status tma_make_atom(cute_arena *arena, const char *mnemonic, const atom_fields *fields,
                          const cute_atom **out, cute_diag *diag)
{
    const char *text = atom_print(arena, atom_family_find(mnemonic, strlen(mnemonic)), fields);
    cute_value value;
    if (!text) return cute_fail_memory(diag);
    CUTE_TRY(cute_atom_value_parse(arena, CUTE_ATOM, text, strlen(text), &value, NULL, diag));
    *out = value.atom;
    return CUTE_OK;
}

const char *tma_mnemonic(bool executable, bool im2col, int operation)
{
    static const char *const names[3][3] = {
        {"atom.non_exec_tiled_tma_load", "atom.non_exec_tiled_tma_store", "atom.non_exec_tiled_tma_reduce"},
        {"atom.non_exec_im2col_tma_load", "atom.non_exec_im2col_tma_store",
         "atom.non_exec_im2col_tma_reduce"},
        {"atom.tma_load", "atom.tma_store", "atom.tma_reduce"},
    };
    return names[executable ? 2 : im2col][operation];
}

cute_status cute_tma_executable(cute_arena *arena, const cute_atom *atom, const cute_atom **out,
                                cute_diag *diag)
{
    const cute_tma *t = atom->tma;
    atom_fields f = {.type = {t->element}, .copy_bits = t->copy_bits};
    f.tma_mode = t->im2col ? "im2col" : "tiled";
    f.basis = cute_layout_text(arena, t->basis);
    f.global_stride = "()";
    if (!f.basis) return cute_fail_memory(diag);
    if (t->operation == CUTE_TMA_LOAD) f.num_cta = t->blocks;
    if (t->multicast) f.tma_multicast = "true";
    f.tma_reduce = t->reduce;
    return tma_make_atom(arena, tma_mnemonic(true, t->im2col, t->operation), &f, out, diag);
}

/* ---- words of a tensor map ---- */

static const struct {
    const char *what, *words[5]; /* in the order of the driver's values */
} choices[] = {
    [CUTE_TMA_SWIZZLE] = {"swizzle", {"none", "32B", "64B", "128B"}},
    [CUTE_TMA_INTERLEAVE] = {"interleave", {"none", "16B", "32B"}},
    [CUTE_TMA_PROMOTION] = {"l2_promotion", {"none", "64B", "128B", "256B"}},
    [CUTE_TMA_FILL] = {"fill", {"zero", "nan"}},
};

const char *cute_tma_word(cute_tma_choice choice, int value)
{
    for (int i = 0; choices[choice].words[i]; i++)
        if (i == value) return choices[choice].words[i];
    return choices[choice].words[0];
}

cute_status cute_tma_word_find(cute_tma_choice choice, const char *word, int *value, cute_diag *diag)
{
    const char *const *words = choices[choice].words;
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], word) != 0) continue;
        *value = i;
        return CUTE_OK;
    }
    cute_buffer list = {0};
    for (int i = 0; words[i]; i++) cute_buffer_printf(&list, "%s\"%s\"", i ? ", " : "", words[i]);
    cute_status status = cute_fail(diag, CUTE_INVALID, NULL, "expects one of %s as %s, but got \"%s\"",
                                   cute_buffer_text(&list), choices[choice].what, word);
    cute_buffer_release(&list);
    return status;
}
