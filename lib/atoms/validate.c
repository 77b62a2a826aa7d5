/* Validation of tilings and of the operands of atoms. */
#include "lib/atoms/validate.h"

#include <inttypes.h>
#include <string.h>

#include "lib/atoms/tiling.h"
#include "lib/base/numbers/checked.h"
#include "lib/layout/facts.h"
#include "lib/layout/pointer.h"
#include "lib/layout/trial.h"

/* ---- layouts as tables ---- */

/* The number of bits in the registers of a multiprocessor: no tile has more elements. */
enum { MOST_CELLS = 1 << 21 };

/* L(0), L(1), ... of a layout; values of more than 64 bits are OVERFLOWN. */
typedef struct table {
    int64_t *index, size;
} table;

static const int64_t OVERFLOWN = INT64_MIN;

/* False: the layout is unknown or has more than `most` elements, or memory ran out (a->status). */
static bool table_of(cute_algebra *a, cute_layout layout, int64_t most, table *out)
{
    alg_flat flat;
    int64_t size = 1;
    if (!alg_flat_of(a, layout, &flat)) return false;
    for (size_t k = 0; k < flat.count; k++)
        if (flat.extent[k] < 1 || !cute_mul64(size, flat.extent[k], &size) || size > most) return false;
    *out = (table){cute_arena_array(a->arena, (size_t)size, sizeof *out->index), 1};
    if (!out->index) return alg_exhausted(a) != NULL;
    out->index[0] = 0;
    for (size_t k = 0; k < flat.count; k++) {
        int64_t before = out->size;
        out->size *= flat.extent[k];
        for (int64_t i = before; i < out->size; i++) {
            int64_t *to = &out->index[i], from = out->index[i - before];
            if (from == OVERFLOWN || !cute_add64(from, flat.stride[k], to)) *to = OVERFLOWN;
        }
    }
    return true;
}

/* ---- coverage ---- */

static bool once_by_strides(cute_arena *arena, cute_layout layout, int64_t cells)
{
    cute_value value = cute_value_of_layout(layout);
    cute_layout_facts facts;
    cute_layout_facts_of(arena, &value, &facts);
    return facts.has_size && facts.size == cells && facts.contiguous == CUTE_YES;
}

/* The first owner of an element: 1 + thread * values + value; 0: none yet. */
typedef int64_t owner;

static void record_cover(cute_cover *out, cute_cover_kind kind, int64_t element, int64_t first,
                         int64_t second, int64_t values)
{
    if (kind <= out->kind) return;
    *out = (cute_cover){.kind = kind, .element = element, .rows = out->rows, .columns = out->columns};
    int64_t who[2] = {first, second};
    for (int i = 0; i < 2; i++)
        if (who[i]) out->thread[i] = (who[i] - 1) / values, out->value[i] = (who[i] - 1) % values;
}

static void test_all_values(const table *threads, const table *values, int64_t cells, owner *owners,
                            cute_cover *out)
{
    for (int64_t t = 0; t < threads->size; t++)
        for (int64_t v = 0; v < values->size; v++) {
            int64_t x = threads->index[t], y = values->index[v], me = 1 + t * values->size + v;
            if (x == OVERFLOWN || y == OVERFLOWN || !cute_add64(x, y, &x)) x = OVERFLOWN;
            if (x < 0 || x >= cells) {
                record_cover(out, CUTE_COVER_OUTSIDE, x, me, 0, values->size);
            } else if (!owners[x]) {
                owners[x] = me;
            } else {
                bool same = (owners[x] - 1) / values->size == t;
                record_cover(out, same ? CUTE_COVER_TWICE : CUTE_COVER_SHARED, x, owners[x], me,
                             values->size);
            }
        }
    for (int64_t i = 0; i < cells && out->kind < CUTE_COVER_NEVER; i++)
        if (!owners[i]) record_cover(out, CUTE_COVER_NEVER, i, 0, 0, 1);
}

cute_status cute_cover_of(cute_arena *arena, cute_layout layout, int64_t rows, int64_t columns,
                          cute_cover *out, cute_diag *diag)
{
    int64_t cells;
    *out = (cute_cover){.kind = CUTE_COVER_UNKNOWN, .rows = rows, .columns = columns};
    if (!cute_mul64(rows, columns, &cells) || cells < 1 || alg_rank(layout.shape) != 2) return CUTE_OK;
    if (once_by_strides(arena, layout, cells)) return out->kind = CUTE_COVER_ONCE, CUTE_OK;
    if (cells > MOST_CELLS) return CUTE_OK;
    cute_algebra a = {.arena = cute_arena_create(), .diag = diag};
    table threads, values;
    owner *owners = a.arena ? cute_arena_array(a.arena, (size_t)cells, sizeof *owners) : NULL;
    if (!owners) alg_exhausted(&a);
    if (owners && table_of(&a, alg_layout_mode(layout, 0), MOST_CELLS, &threads) &&
        table_of(&a, alg_layout_mode(layout, 1), MOST_CELLS / threads.size, &values)) {
        out->kind = CUTE_COVER_ONCE;
        test_all_values(&threads, &values, cells, owners, out);
    }
    cute_arena_destroy(a.arena);
    return a.status;
}

cute_status cute_tiling_operand(cute_arena *arena, const cute_value *tiled, int operand, cute_tiling *out,
                                cute_diag *diag)
{
    static const int modes[3][2] = {{0, 2}, {1, 2}, {0, 1}};
    cute_algebra a = {.arena = arena, .diag = diag};
    *out = (cute_tiling){0};
    if (!tiled->atom->known) return CUTE_OK;
    if (tiled->type == CUTE_TILED_MMA) {
        cute_node rows = atom_mma_tile(&a, tiled, modes[operand][0]),
                  columns = atom_mma_tile(&a, tiled, modes[operand][1]);
        if (!rows || !columns) return a.status;
        *out = (cute_tiling){atom_mma_layout(&a, tiled, operand), rows->value.value, columns->value.value};
        return a.status;
    }
    int64_t all = alg_known_size(tiled->tree), rows = alg_known_size(alg_mode(tiled->tree, 0));
    if (all < 1 || rows < 1) return CUTE_OK;
    *out =
        (cute_tiling){operand == CUTE_ATOM_REFERENCE ? tiled->layout : atom_copy_layout(&a, tiled, operand),
                      rows, all / rows};
    return a.status;
}

cute_status cute_tiling_cover(cute_arena *arena, const cute_value *tiled, int operand, cute_cover *out,
                              cute_diag *diag)
{
    cute_tiling t;
    *out = (cute_cover){.kind = CUTE_COVER_UNKNOWN};
    CUTE_TRY(cute_tiling_operand(arena, tiled, operand, &t, diag));
    return t.layout.shape ? cute_cover_of(arena, t.layout, t.rows, t.columns, out, diag) : CUTE_OK;
}

const char *cute_cover_text(cute_arena *arena, const cute_cover *c)
{
    const char *at = cute_arena_printf(
        arena, "element (%" PRId64 ",%" PRId64 ") of its tile of %" PRId64 " x %" PRId64,
        c->element % (c->rows ? c->rows : 1), c->element / (c->rows ? c->rows : 1), c->rows, c->columns);
    if (!at) return NULL;
    switch (c->kind) {
    case CUTE_COVER_SHARED:
        return cute_arena_printf(
            arena, "%s is value %" PRId64 " of thread %" PRId64 " and value %" PRId64 " of thread %" PRId64,
            at, c->value[0], c->thread[0], c->value[1], c->thread[1]);
    case CUTE_COVER_TWICE:
        return cute_arena_printf(arena, "%s is value %" PRId64 " and value %" PRId64 " of thread %" PRId64,
                                 at, c->value[0], c->value[1], c->thread[0]);
    case CUTE_COVER_NEVER: return cute_arena_printf(arena, "%s belongs to no thread", at);
    case CUTE_COVER_OUTSIDE:
        return cute_arena_printf(arena,
                                 "value %" PRId64 " of thread %" PRId64 " is element %" PRId64
                                 ", outside its tile of %" PRId64 " x %" PRId64,
                                 c->value[0], c->thread[0], c->element, c->rows, c->columns);
    default: return NULL;
    }
}

bool cute_mma_overlap(const cute_value *mma, int64_t first[3], int64_t second[3])
{
    enum { MOST_ATOMS = 1024 };
    cute_algebra a = {.arena = cute_arena_create()};
    table atoms;
    bool found = false;
    int64_t extent[3];
    if (!a.arena || !table_of(&a, mma->layout, MOST_ATOMS, &atoms)) goto out;
    for (int i = 0; i < 3; i++) extent[i] = alg_known_size(alg_mode(mma->layout.shape, (size_t)i));
    for (int64_t i = 0; i < atoms.size && !found; i++)
        for (int64_t j = 0; j < i && !found; j++) {
            found = atoms.index[i] == atoms.index[j] && atoms.index[i] != OVERFLOWN;
            for (int k = 0, step = 1; found && k < 3; step *= (int)extent[k++]) {
                first[k] = j / step % extent[k];
                second[k] = i / step % extent[k];
            }
        }
out:
    cute_arena_destroy(a.arena);
    return found;
}

/* ---- tilings ---- */

static cute_status verify_counts(const cute_value *copy, cute_diag *diag)
{
    static const char *const what[2] = {"threads", "values"};
    cute_layout atom = copy->atom->operand[CUTE_ATOM_REFERENCE].layout;
    for (size_t i = 0; i < 2; i++) {
        int64_t has = alg_known_size(alg_mode(copy->layout.shape, i)),
                takes = alg_known_size(alg_mode(atom.shape, i));
        if (has < 1 || has % takes)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "the atom takes %" PRId64 " %s, but the thread-value layout has %" PRId64
                             ", which is not a multiple",
                             takes, what[i], has);
    }
    return CUTE_OK;
}

static cute_status verify_permutation(const cute_value *mma, cute_diag *diag)
{
    for (size_t i = 0; mma->tree && i < 3; i++) {
        const cute_tree *mode = alg_mode(mma->tree, i);
        if (mode->kind != CUTE_TREE_LAYOUT) continue;
        int64_t has = alg_known_size(mode), atoms = alg_known_size(alg_mode(mma->layout.shape, i)),
                one = mma->atom->shape[i], all;
        if (has > 0 && cute_mul64(atoms, one, &all) && all > 0 && has % all == 0) continue;
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "the permutation has %" PRId64 " along %c, which is not a multiple of %" PRId64
                         " atoms of %" PRId64,
                         has, "MNK"[i], atoms, one);
    }
    return CUTE_OK;
}

cute_status cute_tiling_verify(cute_arena *arena, const cute_value *tiled, cute_diag *diag)
{
    (void)arena;
    if (!tiled->atom->known) return CUTE_OK;
    return tiled->type == CUTE_TILED_COPY ? verify_counts(tiled, diag) : verify_permutation(tiled, diag);
}

/* ---- operands ---- */

static cute_node shape_mode(const cute_value *tensor, size_t i)
{
    return i < alg_rank(tensor->layout.shape) ? alg_mode(tensor->layout.shape, i) : NULL;
}

static int64_t low_bit(int64_t value)
{
    return (int64_t)((uint64_t)value & (0 - (uint64_t)value));
}

/* The power of two that is known to divide a number; 0: every power does. */
static int64_t known_factor(cute_int x)
{
    return low_bit(x.known ? x.value : x.divisor ? x.divisor : 1);
}

/* 0 exceeds all other factors. */
static int64_t least_factor(int64_t x, int64_t y)
{
    return !x || (y && y < x) ? y : x;
}

/* The number of consecutive elements in mode 0 that accesses of `needed` elements find at any of their start
 * positions. */
static int64_t contiguous_run(cute_algebra *a, const cute_value *tensor, int64_t needed)
{
    cute_layout c = alg_coalesce(a, alg_layout_mode(tensor->layout, 0));
    if (!alg_ok(c)) return 1;
    bool alone = alg_is_leaf(c.shape);
    cute_node shape = alone ? c.shape : c.shape->items[0];
    cute_node stride = alone ? c.stride : c.stride->items[0];
    if (!alg_is(stride, 1)) return 1;
    if (!alg_is_known(shape)) return INT64_MAX;
    int64_t run = shape->value.value;
    return alone || run % needed == 0 ? run : (int64_t)cute_gcd((uint64_t)run, (uint64_t)needed);
}

/* The power of two that divides all strides, in elements, or 0. */
static int64_t factor_of_strides(cute_node shape, cute_node stride)
{
    if (alg_is_leaf(shape)) return alg_is(shape, 1) || !alg_is_int(stride) ? 0 : known_factor(stride->value);
    int64_t factor = 0;
    for (uint32_t i = 0; i < shape->count; i++)
        factor = least_factor(factor, factor_of_strides(shape->items[i], stride->items[i]));
    return factor;
}

/* factor_of_strides for all leaves after the first, which contains whole accesses. */
static int64_t factor_behind_first(cute_layout coalesced)
{
    int64_t factor = 0;
    for (uint32_t i = 1; !alg_is_leaf(coalesced.shape) && i < coalesced.shape->count; i++)
        factor =
            least_factor(factor, factor_of_strides(coalesced.shape->items[i], coalesced.stride->items[i]));
    return factor;
}

/* The factor, in elements, of the positions at which accesses start; 0 for position 0 only. Through a layout
 * whose first mode is contiguous, multiples of a divisor of that mode remain multiples of the common divisor
 * of its other strides. */
static int64_t place_factor(cute_algebra *a, const cute_value *tensor, int64_t *run)
{
    cute_layout values = alg_coalesce(a, alg_layout_mode(tensor->layout, 0));
    int64_t factor = alg_ok(values) ? factor_behind_first(values) : 1;
    for (uint32_t i = 1; i < alg_rank(tensor->layout.shape); i++)
        factor = least_factor(
            factor, factor_of_strides(alg_mode(tensor->layout.shape, i), alg_mode(tensor->layout.stride, i)));
    if (!tensor->tree) return factor;
    if (!alg_is_int(tensor->tree)) return 1;
    factor = least_factor(factor, known_factor(tensor->tree->value));
    if (!tensor->inner.shape) {
        int64_t kept = (int64_t)1 << tensor->swizzle.base;
        if (!tensor->swizzle.bits) return factor;
        if (kept < *run) *run = kept;
        return alg_swizzled_align(tensor->swizzle, factor);
    }
    cute_layout inner = alg_coalesce(a, tensor->inner);
    if (!alg_ok(inner)) return *run = 1;
    bool alone = alg_is_leaf(inner.shape);
    cute_node shape = alone ? inner.shape : inner.shape->items[0];
    if (!alg_is(alone ? inner.stride : inner.stride->items[0], 1) || (!alone && !alg_is_known(shape)))
        return *run = 1;
    if (alone) return factor;
    int64_t kept = low_bit(shape->value.value);
    if (kept < *run) *run = kept;
    return least_factor(least_factor(factor, kept), factor_behind_first(inner));
}

static cute_status verify_access(cute_arena *arena, const cute_atom *atom, const cute_value *tensor,
                                 int operand, const char *which, cute_diag *diag)
{
    const cute_pointer *p = tensor->pointer;
    const cute_atom_operand *o = &atom->operand[operand];
    if (p->space == CUTE_SPACE_RMEM) return CUTE_OK;
    cute_algebra a = {.arena = arena};
    int64_t bits = (int64_t)o->bits * (atom->matrices ? 128 / o->bits : o->values), bytes = bits / 8;
    int64_t needed = bits / o->bits, run = contiguous_run(&a, tensor, needed);
    int64_t factor = place_factor(&a, tensor, &run), align = p->align;
    if (factor && factor < needed && factor * o->bits / 8 < align)
        align = factor * o->bits < 8 ? 1 : factor * o->bits / 8;
    if (p->swizzle.bits) { /* of the address, in bytes */
        int64_t kept = (int64_t)1 << p->swizzle.base;
        if (kept * 8 / o->bits < run) run = kept * 8 / o->bits;
        align = alg_swizzled_align(p->swizzle, align);
    }
    if (run < needed)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "an access of '%s' needs %" PRId64 " consecutive elements, the %s has %" PRId64,
                         atom->text, needed, which, run);
    if (align < bytes)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "an access of '%s' needs an alignment of %" PRId64 " bytes, the %s states %" PRId64,
                         atom->text, bytes, which, align);
    return CUTE_OK;
}

/* Checks the location of an MMA's operand. */
static cute_status verify_operand_space(const cute_atom *atom, int operand, const cute_value *tensor,
                                        const char *name, cute_diag *diag)
{
    cute_space space = tensor->pointer->space;
    bool described = atom->operand[operand].described;
    if (space == (described ? CUTE_SPACE_DESC : CUTE_SPACE_RMEM) ||
        (!described && space == CUTE_SPACE_GENERIC))
        return CUTE_OK;
    if (described)
        return cute_fail(
            diag, CUTE_INVALID, NULL,
            "expected descriptors of smem as %s of '%s', as cute.mma.make_fragment makes them, got %s", name,
            atom->text, cute_space_name(space));
    if (space == CUTE_SPACE_DESC)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected a tensor in rmem as %s of '%s', got descriptors of smem", name,
                         atom->text);
    return cute_fail(diag, CUTE_INVALID, NULL, "expected the %s of '%s' in %s, got %s", name, atom->text,
                     cute_space_name(CUTE_SPACE_RMEM), cute_space_name(space));
}

static cute_status verify_space(const cute_atom *atom, const cute_value *tensor, cute_space wanted,
                                const char *which, cute_diag *diag)
{
    cute_space is = tensor->pointer->space;
    if (is == CUTE_SPACE_TMEM && wanted != CUTE_SPACE_TMEM)
        return cute_fail(diag, CUTE_INVALID, NULL, "'%s' cannot access tmem, which contains the %s",
                         atom->text, which);
    if (wanted == CUTE_SPACE_GENERIC || is == wanted || is == CUTE_SPACE_GENERIC) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected the %s of '%s' in %s, got %s", which, atom->text,
                     cute_space_name(wanted), cute_space_name(is));
}

static cute_status verify_modes(const cute_atom *atom, const cute_value *tensor, const char *which,
                                cute_diag *diag)
{
    if (alg_rank(tensor->layout.shape)) return CUTE_OK;
    return cute_fail(
        diag, CUTE_INVALID, NULL,
        "expected a tensor with the values of '%s' in mode 0 as the %s, got a tensor without modes",
        atom->text, which);
}

/* tf32 may be f32, whose low bits instructions ignore. */
static cute_status verify_element(const cute_atom *atom, const char *type, const cute_value *tensor,
                                  const char *which, cute_diag *diag)
{
    const char *is = tensor->pointer->element;
    if (!strcmp(is, type) || (!strcmp(type, "tf32") && !strcmp(is, "f32"))) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "expected elements of %s in the %s of '%s', got %s", type,
                     which, atom->text, is);
}

/* Checks the number of executions of the atom: the values of mode 0 divided by the atom's, and the extents of
 * the other modes, which must agree. */
static cute_status verify_extents(const cute_atom *atom, const cute_value *const tensors[2], cute_diag *diag)
{
    static const char *const which[2] = {"source", "destination"};
    int64_t runs[2];
    for (int i = 0; i < 2; i++) {
        int64_t size = alg_known_size(shape_mode(tensors[i], 0)), values = atom->operand[i].values;
        if (!size) return CUTE_OK;
        if (size % values)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "'%s' takes %" PRId64 " values at a time, but mode 0 of the %s has %" PRId64
                             ", which is not a multiple",
                             atom->text, values, which[i], size);
        runs[i] = size / values;
    }
    size_t rank = alg_rank(tensors[0]->layout.shape);
    if (rank != alg_rank(tensors[1]->layout.shape))
        return cute_fail(diag, CUTE_INVALID, NULL, "the source has %zu modes, the destination %zu", rank,
                         alg_rank(tensors[1]->layout.shape));
    for (size_t i = 0; i < rank; i++) {
        int64_t x = i ? alg_known_size(shape_mode(tensors[0], i)) : runs[0],
                y = i ? alg_known_size(shape_mode(tensors[1], i)) : runs[1];
        if (x && y && x != y)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "mode %zu of the source has %" PRId64 "%s, of the destination %" PRId64, i, x,
                             i ? "" : " times the atom's values", y);
    }
    return CUTE_OK;
}

static cute_status verify_predicate_type(const cute_value *predicate, cute_diag *diag)
{
    static const char *const elements[] = {"i8", "i1", "si8", "ui8"};
    const cute_pointer *p = predicate->pointer;
    for (size_t i = 0; predicate->type == CUTE_MEMREF && i < sizeof elements / sizeof *elements; i++)
        if (!strcmp(p->element, elements[i]) && p->space == CUTE_SPACE_RMEM) return CUTE_OK;
    if (predicate->type != CUTE_MEMREF)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected a predicate of i8 or i1 in registers, got a %s",
                         cute_type_name(predicate->type));
    return cute_fail(diag, CUTE_INVALID, NULL, "expected a predicate of i8 or i1 in rmem, got %s in %s",
                     p->element, cute_space_name(p->space));
}

/* In mode 0, one element of the predicate covers several executions of the atom, one, or part of one. */
static cute_status verify_predicate(const cute_atom *atom, const cute_value *predicate,
                                    const cute_value *source, cute_diag *diag)
{
    size_t rank = alg_rank(source->layout.shape), has = alg_rank(predicate->layout.shape);
    if (has != rank)
        return cute_fail(diag, CUTE_INVALID, NULL, "the source has %zu modes, the predicate %zu", rank, has);
    for (size_t i = 1; i < rank; i++) {
        int64_t x = alg_known_size(shape_mode(source, i)), y = alg_known_size(shape_mode(predicate, i));
        if (x && y && x != y)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "mode %zu of the source has %" PRId64 ", of the predicate %" PRId64, i, x, y);
    }
    int64_t values = atom->operand[CUTE_ATOM_SOURCE].values, size = alg_known_size(shape_mode(source, 0));
    int64_t runs = values ? size / values : 0, count = alg_known_size(shape_mode(predicate, 0));
    if (runs && count && runs % count && (count % runs || size % count))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "mode 0 of the source has %" PRId64
                         " times the atom's values, of the predicate %" PRId64,
                         runs, count);
    return CUTE_OK;
}

cute_status cute_copy_verify(cute_arena *arena, const cute_value *copy, const cute_value *source,
                             const cute_value *target, const cute_value *predicate, cute_diag *diag)
{
    static const char *const which[2] = {"source", "destination"};
    const cute_atom *atom = copy->atom;
    const cute_value *const tensors[2] = {source, target};
    if (predicate) CUTE_TRY(verify_predicate_type(predicate, diag));
    if (!atom->known) return CUTE_OK;
    if (atom->kind != CUTE_ATOM_COPY)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected a copy atom, got '%s'", atom->text);
    const cute_space spaces[2] = {atom->from, atom->to};
    for (int i = 0; i < 2; i++) {
        if (tensors[i]->type != CUTE_MEMREF)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected a tensor in memory as the %s of '%s', got a %s", which[i], atom->text,
                             cute_type_name(tensors[i]->type));
        CUTE_TRY(verify_modes(atom, tensors[i], which[i], diag));
        CUTE_TRY(verify_space(atom, tensors[i], spaces[i], which[i], diag));
        CUTE_TRY(verify_element(atom, atom->operand[i].type, tensors[i], which[i], diag));
    }
    CUTE_TRY(verify_extents(atom, tensors, diag));
    for (int i = 0; i < 2; i++) CUTE_TRY(verify_access(arena, atom, tensors[i], i, which[i], diag));
    return predicate ? verify_predicate(atom, predicate, source, diag) : CUTE_OK;
}

/* ---- products ---- */

static cute_status verify_equal_extents(const cute_value *x, size_t i, const char *x_name,
                                        const cute_value *y, size_t j, const char *y_name, char mode,
                                        cute_diag *diag)
{
    cute_node s = shape_mode(x, i), t = shape_mode(y, j);
    int64_t m = s ? alg_known_size(s) : 1, n = t ? alg_known_size(t) : 1;
    if (!m || !n || m == n) return CUTE_OK;
    return cute_fail(diag, CUTE_INVALID, NULL, "%s has %" PRId64 " along %c, %s %" PRId64, x_name, m, mode,
                     y_name, n);
}

cute_status cute_gemm_verify(cute_arena *arena, const cute_value *mma, const cute_value operands[4],
                             cute_diag *diag)
{
    static const char *const names[4] = {"D", "A", "B", "C"};
    static const int of[4] = {CUTE_ATOM_C, CUTE_ATOM_A, CUTE_ATOM_B, CUTE_ATOM_C};
    const cute_atom *atom = mma->atom;
    (void)arena;
    if (!atom->known) return CUTE_OK;
    if (atom->kind != CUTE_ATOM_MMA)
        return cute_fail(diag, CUTE_INVALID, NULL, "expected an MMA atom, got '%s'", atom->text);
    for (int i = 0; i < 4; i++) {
        const cute_atom_operand *o = &atom->operand[of[i]];
        if (operands[i].type != CUTE_MEMREF)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected a tensor in registers as %s of '%s', got a %s", names[i], atom->text,
                             cute_type_name(operands[i].type));
        CUTE_TRY(verify_modes(atom, &operands[i], names[i], diag));
        CUTE_TRY(verify_operand_space(atom, of[i], &operands[i], names[i], diag));
        if (!o->described) CUTE_TRY(verify_element(atom, o->type, &operands[i], names[i], diag));
        int64_t size = alg_known_size(shape_mode(&operands[i], 0)), values = o->described ? 1 : o->values;
        if (size && size != values)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "expected %" PRId64 " %s of '%s' in mode 0 of %s, got %" PRId64, values,
                             o->described ? "descriptor" : "values", atom->text, names[i], size);
    }
    const cute_value *d = &operands[0], *x = &operands[1], *y = &operands[2], *c = &operands[3];
    CUTE_TRY(verify_equal_extents(x, 1, "A", d, 1, "D", 'M', diag));
    CUTE_TRY(verify_equal_extents(y, 1, "B", d, 2, "D", 'N', diag));
    CUTE_TRY(verify_equal_extents(c, 1, "C", d, 1, "D", 'M', diag));
    CUTE_TRY(verify_equal_extents(c, 2, "C", d, 2, "D", 'N', diag));
    return verify_equal_extents(x, 2, "A", y, 2, "B", 'K', diag);
}
