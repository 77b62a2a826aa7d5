/* Swizzles: each 16 bytes that a tensor copy wrote to shared memory remember their row and column in the box.
 * The eight rows of a matrix read by ldmatrix or wgmma have to be a regular piece of that box: the same
 * columns of consecutive rows, or rows and columns in equal steps. If the reader's swizzle differs from the
 * copy's, they are not. */
#include "lib/checks/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/numeric/swizzle.h"
#include "lib/numeric/tensormap.h"
#include "lib/numeric/wgmma.h"

enum { SWIZZLE_CHUNK = 16, MATRIX_ROWS = 8 };

static uint32_t swizzle_span(int swizzle)
{
    return swizzle ? 16u << swizzle : 0;
}

/* The piece that the completing copy writes at `at`; false: the copy has no rows and columns. */
static bool place_in_box(const em_pending *p, uint32_t at, tile_piece *out)
{
    const cute_tensor_map *m = p->map;
    if (!m || m->rank < 2 || m->interleave || m->swizzle > 3) return false;
    uint32_t span = swizzle_span(m->swizzle), start = p->box & ((1u << EM_RANK_SHIFT) - 1);
    uint32_t pitch = span ? span : m->box[0] * (uint32_t)num_tensor_map_element_size(m);
    uint32_t logical = num_swizzle(at + EM_SHARED_RESERVED, span, 0) - start;
    if (pitch < SWIZZLE_CHUNK) return false;
    out->box = p->issued;
    out->row = (uint16_t)(logical / pitch);
    out->column = (uint8_t)(logical % pitch / SWIZZLE_CHUNK);
    out->span = (uint8_t)span;
    return true;
}

static bool swizzles_access(em_checks *c, const memory_access *a)
{
    shadow *s = a->shadow;
    const em_pending *p = c->machine->completing;
    bool tensor = p && p->map;
    if (!s || a->space != EM_SHARED || a->kind == EM_READ || a->mbarrier) return true;
    if (!s->pieces && !tensor) return true;
    if (!s->pieces) s->pieces = calloc((size_t)s->total / SWIZZLE_CHUNK + 1, sizeof *s->pieces);
    if (!s->pieces) {
        c->exhausted = true;
        return true;
    }
    for (uint64_t n = a->at / SWIZZLE_CHUNK; n <= (a->at + a->bytes - 1) / SWIZZLE_CHUNK; n++) {
        tile_piece *piece = &s->pieces[n];
        piece->inst = inst_index(c, a->inst);
        if (!tensor || !place_in_box(p, (uint32_t)n * SWIZZLE_CHUNK, piece)) piece->box = 0;
    }
    return true;
}

/* The first row that breaks the rule; 0: none. Applies only to data from tensor copies. `any_rows`: rows of
 * one column may be in any order, since some kernels permute operands this way. */
static int find_irregular_row(const tile_piece *const rows[MATRIX_ROWS], bool any_rows)
{
    int other_column = 0, unsteady = 0;
    for (int r = 1; r < MATRIX_ROWS; r++) {
        const tile_piece *a = rows[r - 1], *b = rows[r], *before = r > 1 ? rows[r - 2] : a;
        if (!a || !b || !a->box || !b->box) return 0;
        if (a->box != b->box) continue;
        if (!other_column && a->column != b->column) other_column = r;
        /* The first step is arbitrary, the others have to equal it. */
        bool steady =
            r == 1 || before->box != a->box ||
            (b->row - a->row == a->row - before->row && b->column - a->column == a->column - before->column);
        if (!steady && !unsteady) unsteady = r;
    }
    if (!unsteady || (any_rows && !other_column)) return 0;
    return other_column ? other_column : unsteady;
}

static const tile_piece *piece_at(const em_checks *c, const em_warp *w, uint32_t address)
{
    uint32_t rank = address >> EM_RANK_SHIFT, at = address & ((1u << EM_RANK_SHIFT) - 1);
    if (rank >= w->block->cluster->count || at < EM_SHARED_RESERVED) return NULL;
    const shadow *s = &cluster_of(c, w)->shared[rank];
    at -= EM_SHARED_RESERVED;
    return s->pieces && at < s->total ? &s->pieces[at / SWIZZLE_CHUNK] : NULL;
}

static const char *swizzle_name(uint32_t span, char *out, size_t size)
{
    if (!span) return "no swizzle";
    snprintf(out, size, "the %u-byte swizzle", span);
    return out;
}

static void report_rows(em_checks *c, em_warp *w, const em_inst *i, int lane,
                        const tile_piece *const rows[MATRIX_ROWS], int wrong, const char *reader)
{
    char swizzle[40];
    const tile_piece *p = rows[wrong], *before = rows[wrong - 1];
    em_check_find(c, FOUND_SWIZZLE_ROWS, w, i, lane, p->inst,
                  "swizzle: %s reads matrix row %d from byte %u of row %u of the copied box, but row %d from "
                  "byte %u of row %u; the tensor copy used %s",
                  reader, wrong, p->column * SWIZZLE_CHUNK, p->row, wrong - 1, before->column * SWIZZLE_CHUNK,
                  before->row, swizzle_name(p->span, swizzle, sizeof swizzle));
}

/* ---- ldmatrix ---- */

static void check_ldmatrix(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    for (int m = 0; m < i->o[0].count; m++) {
        const tile_piece *rows[MATRIX_ROWS];
        if ((mask >> (MATRIX_ROWS * m) & 0xff) != 0xff) continue;
        for (int r = 0; r < MATRIX_ROWS; r++) {
            uint64_t address = em_address(w, &i->o[1], MATRIX_ROWS * m + r);
            if ((address & ~(EM_WINDOW_SIZE - 1)) == EM_SHARED_WINDOW) address -= EM_SHARED_WINDOW;
            rows[r] = address >> 32 || address % SWIZZLE_CHUNK ? NULL : piece_at(c, w, (uint32_t)address);
        }
        int wrong = find_irregular_row(rows, true);
        if (wrong) report_rows(c, w, i, MATRIX_ROWS * m + wrong, rows, wrong, "ldmatrix");
    }
}

/* ---- wgmma ---- */

static void check_operand(em_checks *c, em_warp *w, const em_inst *i, const char *name, uint64_t bits,
                          bool mn_major, ptx_type element, int first, int count, int k)
{
    num_descriptor d = num_descriptor_decode(bits);
    int size = ptx_types[element].bits;
    if (size == 1) { /* counted in words */
        size = 32;
        k = 8;
    }
    int per = 8 * SWIZZLE_CHUNK / size;
    char reader[80], swizzle[40];
    snprintf(reader, sizeof reader, "wgmma (descriptor of %s with %s)", name,
             swizzle_name(d.swizzle, swizzle, sizeof swizzle));
    /* Matrices of eight 16-byte rows: along mn, or along k if that is the strided dimension. */
    int rows_end = mn_major ? k : first + count, columns_end = mn_major ? first + count : k;
    for (int row = mn_major ? 0 : first; row < rows_end; row += MATRIX_ROWS)
        for (int column = mn_major ? first : 0; column < columns_end; column += per) {
            const tile_piece *rows[MATRIX_ROWS];
            for (int r = 0; r < MATRIX_ROWS; r++) {
                uint32_t address = num_descriptor_address(&d, mn_major, size, mn_major ? column : row + r,
                                                          mn_major ? row + r : column, NULL);
                rows[r] =
                    piece_at(c, w, (address & ((1u << EM_RANK_SHIFT) - 1)) | w->block->rank << EM_RANK_SHIFT);
            }
            bool other = rows[0] && rows[0]->box && rows[0]->span != d.swizzle;
            int wrong = other ? 0 : find_irregular_row(rows, false);
            if (!other && !wrong) continue;
            if (other)
                em_check_find(c, FOUND_SWIZZLE_MODE, w, i, -1, rows[0]->inst,
                              "swizzle: %s reads data that the tensor copy wrote with %s", reader,
                              swizzle_name(rows[0]->span, swizzle, sizeof swizzle));
            else
                report_rows(c, w, i, -1, rows, wrong, reader);
            return;
        }
}

static void check_wgmma_swizzles(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    const num_wgmma *form = i->wgmma;
    int warp = (int)w->index % 4;
    if (!form->a_in_registers)
        check_operand(c, w, i, "A", em_uniform(w, &i->o[1], mask), form->transpose_a, form->a, 16 * warp, 16,
                      form->k);
    /* all four warps read the same B */
    if (warp == 0)
        check_operand(c, w, i, "B", em_uniform(w, &i->o[2], mask), form->transpose_b, form->b, 0, form->n,
                      form->k);
}

static bool swizzles_row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)c, (void)at;
    return r->space != EM_SHARED || r->kind == EM_READ || !s->pieces;
}

static bool swizzles_concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->opcode == EM_OP_ldmatrix || (i->opcode == EM_OP_wgmma && em_has(i, EM_M_mma_async));
}

static void swizzles_step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    (void)lanes;
    if (!mask) return;
    if (em_has(i, EM_M_mma_async))
        check_wgmma_swizzles(c, w, i, mask);
    else
        check_ldmatrix(c, w, i, mask);
}

static const em_part *const needs[] = {&em_part_shadow_memory, NULL};
const em_part em_part_swizzles = {.needs = needs,
                                  .access = swizzles_access,
                                  .row = swizzles_row,
                                  .concerns = swizzles_concerns,
                                  .step = swizzles_step};
