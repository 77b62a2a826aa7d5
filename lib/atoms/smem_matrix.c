/* See smem_matrix.h. Sources: PTX ISA 9.7.15.5.1; CuTe C++, make_gmma_desc. */
#include "lib/atoms/smem_matrix.h"

#include <inttypes.h>

#include "lib/layout/layouts.h"
#include "lib/layout/trial.h"

enum { CHUNK = 128, ROWS = 8, MOST_ELEMENTS = 1 << 16 }; /* bits of a chunk; rows of a core matrix */

/* In the order of the descriptor's field. */
static const int spans[] = {0, 128, 64, 32};
enum { SPANS = sizeof spans / sizeof *spans };
static const int64_t MOST_OFFSET = 0x3fff * 16;

/* The span in bytes of a swizzle of byte addresses: 128 for S<3,4,3>, 64 for S<2,4,3>, 32 for S<1,4,3>, 0 for
 * none; -1: not supported by wgmma and TMA. */
static int cute_swizzle_span(cute_swizzle s)
{
    if (s.bits == 0) return 0;
    return s.bits <= 3 && s.base == 4 && s.shift == 3 ? 16 << s.bits : -1;
}

static int log2_of(int x)
{
    return x > 0 ? __builtin_ctz((unsigned)x) : 0;
}

/* The swizzle of byte addresses of a tensor in shared memory: its pointer's, or its layout's, which counts
 * elements. */
static cute_swizzle cute_tensor_swizzle(const cute_value *tensor)
{
    cute_swizzle s = tensor->pointer->swizzle;
    if (!tensor->tree || tensor->inner.shape || !tensor->swizzle.bits) return s;
    s = tensor->swizzle;
    s.base += log2_of(tensor->pointer->bits) - 3;
    return s;
}

/* ---- canonical layouts ---- */

/* The offset in bits of element (mn,k), for known strides. */
static int64_t canonical_offset(const cute_smem_matrix *m, int bits, int64_t mn, int64_t k)
{
    int64_t chunk = (m->mn_major ? mn : k) * bits / CHUNK, inside = (m->mn_major ? mn : k) * bits % CHUNK;
    int64_t across = m->mn_major ? k : mn, wide = m->swizzle / 16;
    int64_t row = across % ROWS, group = across / ROWS;
    if (!m->swizzle) {
        int64_t by_group = m->mn_major ? m->leading : m->stride,
                by_chunk = m->mn_major ? m->stride : m->leading;
        return row * CHUNK + 8 * (group * by_group + chunk * by_chunk) + inside;
    }
    int64_t in_span = m->mn_major ? chunk % wide * CHUNK + chunk / wide * 8 * m->leading : chunk * CHUNK;
    return 8 * (row * m->swizzle + group * m->stride) + in_span + inside;
}

typedef struct element_offsets {
    const int64_t *bits; /* offsets in bits of (mn,k), mn fastest */
    int64_t mn, k;
    int element;
} element_offsets;

static int64_t offset_at(const element_offsets *p, int64_t mn, int64_t k)
{
    return mn < p->mn && k < p->k ? p->bits[mn + p->mn * k] : 0;
}

/* Derives the strides from the first elements and tests that all others agree. */
static bool is_canonical(const element_offsets *p, bool mn_major, int span, cute_smem_matrix *out)
{
    int64_t chunk = CHUNK / p->element, wide = span ? span / 16 : 1;
    int64_t next_group = mn_major ? offset_at(p, 0, ROWS) : offset_at(p, ROWS, 0);
    int64_t next_chunk = mn_major ? offset_at(p, chunk * wide, 0) : span ? CHUNK : offset_at(p, 0, chunk);
    bool exchanged = mn_major && !span;
    *out = (cute_smem_matrix){.mn_major = mn_major,
                              .swizzle = span,
                              .leading = (exchanged ? next_group : next_chunk) / 8,
                              .stride = (exchanged ? next_chunk : next_group) / 8};
    const int64_t offsets[2] = {out->leading, out->stride};
    for (int i = 0; i < 2; i++)
        if (offsets[i] < 0 || offsets[i] > MOST_OFFSET || offsets[i] % 16) return false;
    if (next_group % CHUNK || next_chunk % CHUNK) return false;
    for (int64_t k = 0; k < p->k; k++)
        for (int64_t mn = 0; mn < p->mn; mn++)
            if (offset_at(p, mn, k) != canonical_offset(out, p->element, mn, k)) return false;
    return true;
}

/* False: the layout is not known. */
static bool read_offsets(cute_algebra *a, cute_layout layout, int bits, int64_t mn, int64_t k,
                         element_offsets *out)
{
    alg_flat flat;
    int64_t size = 1;
    if (!alg_flat_of(a, layout, &flat)) return false;
    for (size_t i = 0; i < flat.count; i++)
        if (flat.extent[i] < 1 || __builtin_mul_overflow(size, flat.extent[i], &size)) return false;
    int64_t *to =
        size == mn * k && size <= MOST_ELEMENTS ? cute_arena_array(a->arena, (size_t)size, sizeof *to) : NULL;
    if (!to) return false;
    for (int64_t i = 0; i < size; i++) {
        int64_t rest = i, step;
        to[i] = 0;
        for (size_t j = 0; j < flat.count; j++) {
            int64_t at = rest % flat.extent[j];
            rest /= flat.extent[j];
            if (__builtin_mul_overflow(at, flat.stride[j], &step) ||
                __builtin_mul_overflow(step, bits, &step) || __builtin_add_overflow(to[i], step, &to[i]))
                return false;
        }
    }
    *out = (element_offsets){to, mn, k, bits};
    return true;
}

/* ---- supported layouts, for messages ---- */

static const char *swizzle_text(cute_arena *arena, int span)
{
    return span ? cute_arena_printf(arena, "S<%d,4,3>", log2_of(span / 16)) : "no swizzle";
}

/* "\"((8,m),(64,k)):((64,_),(1,_))\"" */
static const char *canonical_text(cute_arena *arena, bool mn_major, int span, int bits)
{
    int64_t pitch = (span ? span * 8 : CHUNK) / bits;
    return cute_arena_printf(arena,
                             mn_major ? "\"((%" PRId64 ",m),(8,k)):((1,_),(%" PRId64 ",_))\""
                                      : "\"((8,m),(%" PRId64 ",k)):((%" PRId64 ",_),(1,_))\"",
                             pitch, pitch);
}

static cute_status refuse_layout(cute_algebra *a, const cute_value *tensor, const element_offsets *p,
                                 bool mn_major, int span, cute_diag *diag)
{
    const char *hint = "";
    cute_smem_matrix other;
    for (int i = 0; i < 2 * SPANS && !*hint; i++) {
        bool mn = i >= SPANS ? !mn_major : mn_major;
        if ((mn && p->element != 16) || !is_canonical(p, mn, spans[i % SPANS], &other)) continue;
        hint = cute_arena_printf(a->arena, "; it is %s with %s", mn ? "MN-major" : "K-major",
                                 swizzle_text(a->arena, spans[i % SPANS]));
        if (!hint) return cute_fail_memory(diag);
    }
    return cute_fail(
        diag, CUTE_INVALID, NULL, "no matrix descriptor expresses \"%s\" in mode 0: %s with %s requires %s%s",
        cute_layout_text(a->arena, alg_layout_mode(tensor->layout, 0)), mn_major ? "MN-major" : "K-major",
        swizzle_text(a->arena, span), canonical_text(a->arena, mn_major, span, p->element), hint);
}

/* ---- tensors ---- */

/* A swizzle of elements starts its pattern at the pointer, a descriptor's swizzle at a multiple of the
 * pattern's size. */
static cute_status check_address(cute_arena *arena, const cute_value *tensor, int span, cute_diag *diag)
{
    const cute_pointer *p = tensor->pointer;
    bool composed = tensor->tree && !tensor->inner.shape && tensor->swizzle.bits;
    int64_t needed = composed ? span * ROWS : 16;
    if (p->align < needed)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a matrix descriptor with %s needs a pointer aligned to %" PRId64
                         " bytes, but it states %" PRId64,
                         swizzle_text(arena, span), needed, p->align);
    if (!tensor->tree) return CUTE_OK;
    const cute_tree *offset = tensor->tree;
    int64_t by = offset->kind != CUTE_TREE_INT ? 1
                 : offset->value.known         ? offset->value.value
                 : offset->value.divisor       ? offset->value.divisor
                                               : 1;
    if (by * p->bits % CHUNK == 0) return CUTE_OK;
    return cute_fail(
        diag, CUTE_INVALID, NULL,
        "a matrix descriptor requires a multiple of 16 bytes, but the offset %s is not known to be one",
        cute_tree_text(arena, offset));
}

cute_status cute_smem_matrix_of(cute_arena *arena, const cute_value *tensor, bool mn_major, int64_t mn,
                                int64_t k, cute_smem_matrix *out, cute_diag *diag)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    const cute_pointer *p = tensor->pointer;
    if (tensor->type != CUTE_MEMREF || p->space != CUTE_SPACE_SMEM)
        return cute_fail(
            diag, CUTE_INVALID, NULL, "a matrix descriptor describes a tensor in smem, not in %s",
            tensor->type == CUTE_MEMREF ? cute_space_name(p->space) : cute_type_name(tensor->type));
    if (tensor->inner.shape || (tensor->tree && tensor->swizzle.bits && p->swizzle.bits))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a matrix descriptor describes a plain layout with one swizzle, not a composition");
    cute_swizzle s = cute_tensor_swizzle(tensor);
    int span = cute_swizzle_span(s);
    if (span < 0) {
        int base = 4 + 3 - log2_of(p->bits);
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "a matrix descriptor has swizzles S<1,4,3>, S<2,4,3> and S<3,4,3> of bytes (of elements "
            "of %d bits: S<1,%d,3>, S<2,%d,3>, S<3,%d,3>), but the tensor has S<%d,%d,%d> of bytes",
            p->bits, base, base, base, s.bits, s.base, s.shift);
    }
    element_offsets all;
    if (p->bits < 1 || CHUNK % p->bits ||
        !read_offsets(&a, alg_layout_mode(tensor->layout, 0), p->bits, mn, k, &all))
        return a.status != CUTE_OK ? a.status
                                   : cute_fail(diag, CUTE_INVALID, NULL,
                                               "a matrix descriptor needs %" PRId64 " x %" PRId64
                                               " elements with known strides in mode 0, but got \"%s\"",
                                               mn, k, cute_layout_text(arena, tensor->layout));
    if (!is_canonical(&all, mn_major, span, out))
        return refuse_layout(&a, tensor, &all, mn_major, span, diag);
    return check_address(arena, tensor, span, diag);
}

/* ---- descriptors ---- */

uint32_t cute_smem_matrix_low(const cute_smem_matrix *m)
{
    return (uint32_t)(m->leading / 16) << 16;
}

uint32_t cute_smem_matrix_high(const cute_smem_matrix *m)
{
    uint32_t mode = 0;
    while (spans[mode] != m->swizzle) mode++;
    return (uint32_t)(m->stride / 16) | mode << 30;
}
