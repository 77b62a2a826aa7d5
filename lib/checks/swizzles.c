/* Swizzles: of what a tensor copy wrote into shared memory each 16 bytes know from which row and column of
 * the box they arrived. The eight rows of a matrix that ldmatrix or wgmma takes have to be a regular piece of
 * that box: the same columns of each, or rows and columns in equal steps. With another swizzle than the
 * copy's they are not. */
#include "lib/checks/parts.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/numeric/swizzle.h"
#include "lib/numeric/tensormap.h"
#include "lib/numeric/wgmma.h"

enum { CHUNK = 16, ROWS = 8 };

static uint32_t span_of(int swizzle)
{
    return swizzle ? 16u << swizzle : 0;
}

/* What the copy that is being completed writes at `at`; false: there are no rows and columns. */
static bool place_in_box(const em_pending *p, uint32_t at, tile_piece *out)
{
    const cute_tensor_map *m = p->map;
    if (!m || m->rank < 2 || m->interleave || m->swizzle > 3) return false;
    uint32_t span = span_of(m->swizzle), start = p->box & ((1u << EM_RANK_SHIFT) - 1);
    uint32_t pitch = span ? span : m->box[0] * (uint32_t)num_tensor_map_element_size(m);
    uint32_t logical = num_swizzle(at + EM_SHARED_RESERVED, span, 0) - start;
    if (pitch < CHUNK) return false;
    out->box = p->issued;
    out->row = (uint16_t)(logical / pitch);
    out->column = (uint8_t)(logical % pitch / CHUNK);
    out->span = (uint8_t)span;
    return true;
}

static bool access(em_checks *c, const memory_access *a)
{
    shadow *s = a->shadow;
    const em_pending *p = c->machine->completing;
    bool tensor = p && p->map;
    if (!s || a->space != EM_SHARED || a->kind == EM_READ || a->mbarrier) return true;
    if (!s->pieces && !tensor) return true;
    if (!s->pieces) s->pieces = calloc((size_t)s->total / CHUNK + 1, sizeof *s->pieces);
    if (!s->pieces) {
        c->exhausted = true;
        return true;
    }
    for (uint64_t n = a->at / CHUNK; n <= (a->at + a->bytes - 1) / CHUNK; n++) {
        tile_piece *piece = &s->pieces[n];
        piece->inst = inst_index(c, a->inst);
        if (!tensor || !place_in_box(p, (uint32_t)n * CHUNK, piece)) piece->box = 0;
    }
    return true;
}

/* The row that breaks the rule; 0: none. Only what tensor copies wrote follows the rule. `any_rows`: in
 * one column rows may be in any order: some kernels permute operands so. */
static int irregular(const tile_piece *const rows[ROWS], bool any_rows)
{
    int other_column = 0, unsteady = 0;
    for (int r = 1; r < ROWS; r++) {
        const tile_piece *a = rows[r - 1], *b = rows[r], *before = r > 1 ? rows[r - 2] : a;
        if (!a || !b || !a->box || !b->box) return 0;
        if (a->box != b->box) continue;
        if (!other_column && a->column != b->column) other_column = r;
        /* The first step may be any, the others are like it. */
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
    return s->pieces && at < s->total ? &s->pieces[at / CHUNK] : NULL;
}

static const char *name_of(uint32_t span, char *out, size_t size)
{
    if (!span) return "no swizzle";
    snprintf(out, size, "the %u-byte swizzle", span);
    return out;
}

static void report(em_checks *c, em_warp *w, const em_inst *i, int lane, const tile_piece *const rows[ROWS],
                   int wrong, const char *reader)
{
    char swizzle[40];
    const tile_piece *p = rows[wrong], *before = rows[wrong - 1];
    em_check_find(
        c, FOUND_SWIZZLE_ROWS, w, i, lane, p->inst,
        "swizzle: %s takes row %d of a matrix from byte %u of row %u of the copied box, and row %d from "
        "byte %u of row %u; the tensor copy has %s",
        reader, wrong, p->column * CHUNK, p->row, wrong - 1, before->column * CHUNK, before->row,
        name_of(p->span, swizzle, sizeof swizzle));
}

/* ---- ldmatrix ---- */

static void check_ldmatrix(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    for (int m = 0; m < i->o[0].count; m++) {
        const tile_piece *rows[ROWS];
        if ((mask >> (ROWS * m) & 0xff) != 0xff) continue;
        for (int r = 0; r < ROWS; r++) {
            uint64_t address = em_address(w, &i->o[1], ROWS * m + r);
            if ((address & ~(EM_WINDOW_SIZE - 1)) == EM_SHARED_WINDOW) address -= EM_SHARED_WINDOW;
            rows[r] = address >> 32 || address % CHUNK ? NULL : piece_at(c, w, (uint32_t)address);
        }
        int wrong = irregular(rows, true);
        if (wrong) report(c, w, i, ROWS * m + wrong, rows, wrong, "ldmatrix");
    }
}

/* ---- wgmma ---- */

static void check_operand(em_checks *c, em_warp *w, const em_inst *i, const char *name, uint64_t bits,
                          bool mn_major, ptx_type element, int first, int count, int k)
{
    num_descriptor d = num_descriptor_decode(bits);
    int size = ptx_types[element].bits;
    if (size == 1) { /* taken as words */
        size = 32;
        k = 8;
    }
    int per = 8 * CHUNK / size;
    char reader[80], swizzle[40];
    snprintf(reader, sizeof reader, "wgmma, whose descriptor of %s has %s,", name,
             name_of(d.swizzle, swizzle, sizeof swizzle));
    /* Matrices of eight rows of 16 bytes: along mn, or along k where that is the slower one. */
    int rows_end = mn_major ? k : first + count, columns_end = mn_major ? first + count : k;
    for (int row = mn_major ? 0 : first; row < rows_end; row += ROWS)
        for (int column = mn_major ? first : 0; column < columns_end; column += per) {
            const tile_piece *rows[ROWS];
            for (int r = 0; r < ROWS; r++) {
                uint32_t address = num_descriptor_address(&d, mn_major, size, mn_major ? column : row + r,
                                                          mn_major ? row + r : column, NULL);
                rows[r] =
                    piece_at(c, w, (address & ((1u << EM_RANK_SHIFT) - 1)) | w->block->rank << EM_RANK_SHIFT);
            }
            bool other = rows[0] && rows[0]->box && rows[0]->span != d.swizzle;
            int wrong = other ? 0 : irregular(rows, false);
            if (!other && !wrong) continue;
            if (other)
                em_check_find(c, FOUND_SWIZZLE_MODE, w, i, -1, rows[0]->inst,
                              "swizzle: %s reads what the tensor copy wrote with %s", reader,
                              name_of(rows[0]->span, swizzle, sizeof swizzle));
            else
                report(c, w, i, -1, rows, wrong, reader);
            return;
        }
}

static void check_wgmma(em_checks *c, em_warp *w, const em_inst *i, uint32_t mask)
{
    const num_wgmma *form = i->wgmma;
    int warp = (int)w->index % 4;
    if (!form->a_in_registers)
        check_operand(c, w, i, "A", em_uniform(w, &i->o[1], mask), form->transpose_a, form->a, 16 * warp, 16,
                      form->k);
    /* All four warps read the same B. */
    if (warp == 0)
        check_operand(c, w, i, "B", em_uniform(w, &i->o[2], mask), form->transpose_b, form->b, 0, form->n,
                      form->k);
}

static bool row(em_checks *c, const em_warp_access *r, shadow *s, uint64_t at)
{
    (void)c, (void)at;
    return r->space != EM_SHARED || r->kind == EM_READ || !s->pieces;
}

static bool concerns(const em_checks *c, const em_inst *i)
{
    (void)c;
    return i->opcode == EM_OP_ldmatrix || (i->opcode == EM_OP_wgmma && em_has(i, EM_M_mma_async));
}

static void step(em_checks *c, em_warp *w, const em_inst *i, uint32_t lanes, uint32_t mask)
{
    (void)lanes;
    if (!mask) return;
    if (em_has(i, EM_M_mma_async))
        check_wgmma(c, w, i, mask);
    else
        check_ldmatrix(c, w, i, mask);
}

static const em_part *const needs[] = {&em_part_shadow_memory, NULL};
const em_part em_part_swizzles = {
    .needs = needs, .access = access, .row = row, .concerns = concerns, .step = step};
