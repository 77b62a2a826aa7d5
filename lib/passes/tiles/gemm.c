/* Products of tiles: which MMA atom computes them, how operands and accumulators are distributed, and the instructions.
 * A and B go through shared memory, a step of K at a time, unless the threads hold them as the MMA wants them already. */
#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/atoms/atoms.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/tiles/emit.h"
#include "lib/passes/tiles/schedule.h"

/* ---- the choice ---- */

/* Element of A and B, of the accumulator, the first architecture that has the atom. The first row that fits counts. */
static const struct {
    const char *element, *sum;
    int arch, m, n, k;
    const char *atom;
} products[] = {
    {"f16", "f32", 80, 16, 8, 16, "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >"},
    {"f16", "f16", 80, 16, 8, 16, "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16) >"},
    {"bf16", "f32", 80, 16, 8, 16, "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >"},
    {"f16", "f32", 75, 16, 8, 8, "!cute_nvgpu.sm75.mma<16x8x8, elem_type = (f16, f16, f32) >"},
    {"bf16", "f32", 80, 16, 8, 8, "!cute_nvgpu.sm80.mma<16x8x8, elem_type = (bf16, bf16, f32) >"},
    {"i8", "i32", 80, 16, 8, 32, "!cute_nvgpu.sm80.mma<16x8x32, elem_type = (i8, i8, i32) >"},
    {"f8E4M3FN", "f32", 89, 16, 8, 32,
     "!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32) >"},
    {"f8E5M2", "f32", 89, 16, 8, 32, "!cute_nvgpu.sm89.mma<16x8x32, elem_type = (f8E5M2, f8E5M2, f32) >"},
    {"tf32", "f32", 80, 16, 8, 8, "!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >"},
    {"f64", "f64", 80, 8, 8, 4, "!cute_nvgpu.sm80.mma<8x8x4, elem_type = (f64, f64, f64) >"},
};

static void print_type(MlirType type, char *out, size_t size)
{
    cute_buffer text = {0};
    mlirTypePrint(type, cute_print_to_buffer, &text);
    snprintf(out, size, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

int64_t tile_product_threads(int64_t m, int64_t n)
{
    int64_t threads = 128;
    while (threads < 512 && threads * 64 < m * n) threads *= 2;
    return threads;
}

/* Divides `count` warps or threads over M and N, more where each has more to do. */
static void divide(tile_product *p, int64_t count, int64_t m, int64_t n)
{
    p->rows = p->columns = p->copies = 1;
    while (count > 1 && count % 2 == 0) {
        bool down = m % (2 * p->rows * p->m) == 0, across = n % (2 * p->columns * p->n) == 0;
        if (!down && !across) break;
        if (down && (!across || m / p->rows >= n / p->columns))
            p->rows *= 2;
        else
            p->columns *= 2;
        count /= 2;
    }
    p->copies = count;
}

/* Divides threads that multiply and add: each has squares of adjacent sums, up to 4 by 4 and 16 bytes of A and B. */
static void divide_squares(tile_product *p, int64_t threads, int64_t m, int64_t n, int bits)
{
    enum { MOST = 4, ACCESS = 128 };
    int64_t square = MOST * bits > ACCESS ? ACCESS / bits : MOST;
    do {
        p->m = p->n = square;
        divide(p, threads, m, n);
        square /= 2;
    } while (p->copies > 1 && square);
}

int64_t tile_groups_along_rows(int64_t rows, int64_t groups)
{
    enum { ROWS = 64 };
    int64_t along = groups;
    while (along > 0 && (groups % along || rows % (ROWS * along))) along--;
    return along;
}

int64_t tile_factor_columns(int64_t own)
{
    enum { MOST = 128, SPAN = 64 }; /* SPAN: of stages with contiguous columns */
    return own <= MOST ? own : own % MOST == 0 ? MOST : own % SPAN == 0 ? SPAN : own / 2;
}

/* The atom of warpgroups for N columns; majors of A and B are those of the stages (tile_wgmma_atom). */
static void choose_warpgroups(MlirOperation op, const char *element, int64_t m, int64_t n, int bits,
                              int64_t threads, tile_product *out)
{
    enum { GROUP = 128, ROWS = 64, MOST = 256, K_BITS = 256 };
    tile_schedule schedule;
    tile_schedule_of(cute_op_parent(op, "gpu.func"), &schedule);
    int64_t groups = threads / GROUP, rows = tile_groups_along_rows(m, groups), others = groups / rows;
    /* Sums that become a factor are needed by all groups of their rows. */
    bool held = cute_op_has(op, TILE_HELD), copied = cute_op_has(op, TILE_ROWS) && !held;
    int64_t columns = copied ? 1 : others;
    n /= columns;
    n = tile_factor_threads(&schedule) ? tile_factor_columns(n) : n < MOST ? n : MOST;
    *out = (tile_product){.warpgroups = true,
                          .held = held,
                          .tf32 = !strcmp(element, "tf32"),
                          .m = ROWS,
                          .n = n,
                          .k = K_BITS / bits,
                          .rows = rows,
                          .columns = columns,
                          .copies = others / columns};
}

void tile_wgmma_atom(tile_product *p, const char *element, const char *sum, bool a_mn, bool b_mn)
{
    snprintf(
        p->text, sizeof p->text,
        "!cute_nvgpu.sm90.mma<64x%lldx%lld, ab_major = (%s, %s), elem_type = (%s, %s, %s), frag_kind = %s>",
        (long long)p->n, (long long)p->k, a_mn ? "mn" : "k", b_mn ? "mn" : "k", element, element, sum,
        p->held ? "rs" : "ss");
}

void tile_product_choose(const cute_tile_shape *a, const cute_tile_shape *c, MlirType of_a, MlirType of_c,
                         MlirOperation op, const cute_arch *arch, int64_t threads, tile_product *out)
{
    char element[32], sum[32];
    *out = (tile_product){.multiply_add = true, .m = 1, .n = 1, .k = 1};
    print_type(of_a, element, sizeof element);
    print_type(of_c, sum, sizeof sum);
    if (cute_op_has(op, "tf32") && mlirTypeIsAF32(of_a)) snprintf(element, sizeof element, "tf32");
    int64_t m = c->extent[0], n = c->extent[1], k = a->extent[1];
    int bits = cute_tile_bits(of_a);
    if (cute_op_has(op, "wgmma") && arch) {
        choose_warpgroups(op, element, m, n, bits, threads, out);
        tile_wgmma_atom(out, element, sum, false, false);
        return;
    }
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        if (strcmp(products[i].element, element) || strcmp(products[i].sum, sum)) continue;
        if (!arch || arch->number < products[i].arch || threads < 32) continue;
        if (m % products[i].m || n % products[i].n || k % products[i].k) continue;
        *out = (tile_product){.atom = products[i].atom,
                              .tf32 = !strcmp(element, "tf32"),
                              .m = products[i].m,
                              .n = products[i].n,
                              .k = products[i].k};
        if (cute_op_has(op, TILE_ROWS) && m % (threads / 32 * out->m) == 0) {
            out->rows = threads / 32;
            out->columns = out->copies = 1;
        } else {
            divide(out, threads / 32, m, n);
        }
        return;
    }
    divide_squares(out, threads, m, n, bits);
}

/* ---- distributions ---- */

static bool add_atom_modes(const cute_tree *shape, const cute_tree *stride, int64_t rows, tile_modes *out)
{
    if (shape->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            if (!add_atom_modes(shape->items[i], stride->items[i], rows, out)) return false;
        return true;
    }
    int64_t extent = shape->value.value, step = stride->value.value;
    /* An index in a matrix of `rows` rows, rows fastest; a mode may reach from one column to the next. */
    while (extent > 1 && step < rows && extent * step > rows) {
        if (!tile_modes_add(out, rows / step, 0, step)) return false;
        extent /= rows / step;
        step = rows;
    }
    return step < rows ? tile_modes_add(out, extent, 0, step) : tile_modes_add(out, extent, 1, step / rows);
}

/* Threads that multiply and add: lanes are 4 along M by 8 along N where a block has so many, so that a warp reads few addresses. */
static bool add_squares(const tile_product *p, int operand, tile_distribution *out)
{
    enum { M, N };
    bool wide = p->rows % 4 == 0 && p->columns % 8 == 0;
    int64_t pair = wide ? 2 : 1, lanes = wide ? 8 : 1;
    const struct {
        int64_t extent;
        int side;
        int64_t step;
    } modes[] = {{pair, M, 1},
                 {lanes, N, 1},
                 {pair, M, pair},
                 {p->rows / pair / pair, M, pair * pair},
                 {p->columns / lanes, N, lanes}};
    bool ok = true;
    for (size_t i = 0; i < sizeof modes / sizeof *modes && ok; i++) {
        int side = modes[i].side;
        bool held = operand == 2 || operand == side;
        ok = tile_modes_add(&out->threads, modes[i].extent,
                            !held          ? TILE_COPIES
                            : operand == 2 ? side
                                           : 0,
                            modes[i].step * (side == M ? p->m : p->n));
    }
    ok = ok && tile_modes_add(&out->threads, p->copies, TILE_COPIES, 0);
    for (int at = 0; at < 2 && ok; at++) {
        int i = operand == 2 ? 1 - at : at; /* adjacent sums of a row first, as they are stored */
        bool along_k = operand != 2 && i == 1;
        int64_t square = along_k                  ? 1
                         : operand == N || i == N ? p->n
                                                  : p->m,
                along = along_k                  ? 1
                        : operand == N || i == N ? p->columns
                                                 : p->rows;
        ok = tile_modes_add(&out->values, square, i, 1) &&
             tile_modes_add(&out->values, out->shape.extent[i] / square / along, i, square * along);
    }
    return ok;
}

bool tile_product_distribution(cute_arena *arena, MlirContext context, const tile_product *p, int operand,
                               const cute_tile_shape *shape, tile_distribution *out)
{
    (void)arena;
    *out = (tile_distribution){.shape = *shape};
    if (p->warpgroups && operand != 2 && !(p->held && operand == 0)) return false;
    int64_t size[2] = {operand == 1 ? p->n : p->m, operand == 2 ? p->n : p->k};
    bool ok = true;
    if (!p->multiply_add) {
        const cute_value *atom =
            cute_type_peek(mlirTypeParseGet(context, cute_text(p->atom ? p->atom : p->text)));
        if (!atom || !atom->atom || !atom->atom->known) return false;
        cute_layout layout = atom->atom->operand[CUTE_ATOM_A + operand].layout;
        ok = layout.shape->kind == CUTE_TREE_TUPLE && layout.shape->count == 2 &&
             add_atom_modes(layout.shape->items[0], layout.stride->items[0], size[0], &out->threads) &&
             add_atom_modes(layout.shape->items[1], layout.stride->items[1], size[0], &out->values);
    }
    if (p->warpgroups) {
        /* Each warpgroup has adjacent rows, and adjacent columns of the sums. */
        int64_t rows = shape->extent[0] / p->rows,
                columns = shape->extent[1] / (operand == 2 ? p->columns : 1);
        return ok && tile_modes_add(&out->threads, p->rows, 0, rows) &&
               tile_modes_add(&out->threads, p->columns, operand == 2 ? 1 : TILE_COPIES, columns) &&
               tile_modes_add(&out->threads, p->copies, TILE_COPIES, 0) &&
               tile_modes_add(&out->values, rows / size[0], 0, size[0]) &&
               tile_modes_add(&out->values, columns / size[1], 1, size[1]);
    }
    if (p->multiply_add) return add_squares(p, operand, out);
    ok = ok && tile_modes_add(&out->threads, p->rows, operand == 1 ? TILE_COPIES : 0, size[0]) &&
         tile_modes_add(&out->threads, p->columns,
                        operand == 0   ? TILE_COPIES
                        : operand == 1 ? 0
                                       : 1,
                        operand == 1 ? size[0] : size[1]) &&
         tile_modes_add(&out->threads, p->copies, TILE_COPIES, 0);
    int64_t along[2] = {operand == 1 ? p->columns : p->rows, operand == 2 ? p->columns : 1};
    for (int i = 0; i < 2 && ok; i++)
        ok = tile_modes_add(&out->values, shape->extent[i] / size[i] / along[i], i, size[i] * along[i]);
    return ok;
}

/* ---- instructions ---- */

static MlirValue store_fragment(tile_emitter *e, const char *type, MlirValue vector)
{
    if (!type) return e->failed = true, vector;
    MlirType made = tile_type(e, type);
    if (e->failed) return vector;
    MlirValue out = cute_build_value(&e->b, "cute.memref.alloca", made, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    if (!mlirValueIsNull(vector))
        cute_build(&e->b, "cute.memref.store_vec", CUTE_OPERANDS(vector, out), CUTE_NO_TYPES, CUTE_NO_NAMED);
    return out;
}

/* Registers that hold `extent` values of the atom by rest0 by rest1, as a tensor; `vector` is stored there. */
MlirValue tile_fragment(tile_emitter *e, const char *element, int64_t values, int64_t rest0, int64_t rest1,
                        MlirValue vector)
{
    char *type =
        cute_arena_printf(e->arena, "!cute.memref<%s, rmem, align<32>, \"(%lld,%lld,%lld):(1,%lld,%lld)\">",
                          element, (long long)values, (long long)rest0, (long long)rest1, (long long)values,
                          (long long)(values * rest0));
    return store_fragment(e, type, vector);
}

/* Whether M or N is contiguous in a stage, not K. */
static bool is_mn_major(MlirValue stage)
{
    const cute_tree *stride = cute_type_peek(mlirValueGetType(stage))->layout.stride->items[0];
    while (stride->kind == CUTE_TREE_TUPLE) stride = stride->items[0];
    return stride->value.value == 1;
}

typedef struct side {
    MlirValue held;         /* the vector in the MMA's distribution, or null */
    MlirValue shared;       /* or the whole tile in shared memory */
    bool mn;                /* where M or N is contiguous, not K */
    tile_distribution step; /* of one step of K */
    int64_t values, rest;   /* of the atom; atoms of a thread along M or N */
    const char *element;    /* in shared memory */
    const char *factor;     /* in the MMA's registers: that, or tf32 */
    int bits;
    int64_t run; /* elements of an access of shared memory */
} side;

/* Operand `i` as the product needs it. False after an error. */
static bool prepare(tile_emitter *e, const tile_op *t, const tile_product *p, int i, int64_t offset, side *s)
{
    const tile_distribution *d = &t->in[i];
    tile_distribution whole;
    MlirValue value = mlirOperationGetOperand(t->op, i);
    MlirType element = cute_type_element(mlirValueGetType(value));
    *s = (side){0};
    s->element = tile_element_text(e, element, &s->bits);
    bool widened = p->multiply_add && mlirTypeIsAFloat(element) && s->bits == 8;
    s->factor = p->tf32 ? "tf32" : widened ? "f16" : s->element;
    cute_tile_shape step = {2, {d->shape.extent[0], p->k}};
    int64_t size = p->multiply_add ? 1 : i ? p->n : p->m, along = i ? p->columns : p->rows;
    s->rest = d->shape.extent[0] / size / along;
    if (!tile_product_distribution(e->arena, e->context, p, i, &step, &s->step) ||
        !tile_product_distribution(e->arena, e->context, p, i, &d->shape, &whole))
        return false;
    s->values = tile_values(&s->step) / s->rest;
    if (t->source[i].ring) {
        s->shared = tile_stage_view(e, &t->source[i], false);
        if (e->failed) return false;
        s->mn = is_mn_major(s->shared);
        s->run = tile_run(&s->step, s->mn ? 0 : 1, s->bits);
        return true;
    }
    int64_t count = tile_values(&whole);
    int32_t *map = cute_arena_array(e->arena, (size_t)count, sizeof *map);
    if (!map) return false;
    if (tile_registers_map(e->arena, d, &whole, map)) {
        s->held = tile_pick(e, value, map, count);
        return true;
    }
    /* K is contiguous, unless threads have adjacent elements along M or N. */
    int fastest = d->values.count && d->values.at[0].step == 1 ? d->values.at[0].dim : 1;
    s->shared = tile_shared_view(e, s->element, s->bits, tile_compact_layout(e, &d->shape, fastest),
                                 cute_tile_size(&d->shape), offset);
    if (e->failed) return false;
    mlirOperationSetAttributeByName(cute_defining_op(s->shared), cute_text("cute.swizzle"),
                                    mlirUnitAttrGet(e->context));
    s->mn = fastest == 0;
    s->run = tile_run(&s->step, fastest, s->bits);
    tile_to_shared(e, d, value, s->shared, tile_run(d, fastest, s->bits));
    return !e->failed;
}

/* Factors as the product has them: floats of 8 bits, which threads do not multiply, as f16. */
static MlirValue as_factor(tile_emitter *e, const tile_product *p, MlirValue vector)
{
    MlirType type = mlirValueGetType(vector), element = cute_type_element(type);
    if (!p->multiply_add || !mlirTypeIsAFloat(element) || mlirFloatTypeGetWidth(element) != 8) return vector;
    return cute_unary(&e->b, "arith.extf", vector, cute_type_with_element(type, mlirF16TypeGet(e->context)));
}

/* The fragment of step `k`. */
static MlirValue operand_at(tile_emitter *e, const tile_product *p, const side *s, int64_t k)
{
    int64_t count = s->values * s->rest;
    MlirValue vector;
    if (!mlirValueIsNull(s->held)) {
        int32_t *pick = cute_arena_array(e->arena, (size_t)count, sizeof *pick);
        if (!pick) return e->failed = true, s->held;
        for (int64_t v = 0; v < count; v++) pick[v] = (int32_t)(k * count + v);
        vector = tile_pick(e, s->held, pick, count);
    } else {
        char tile[80], coord[40];
        snprintf(tile, sizeof tile, "!cute.tile<\"[%lld:1;%lld:1]\">", (long long)s->step.shape.extent[0],
                 (long long)p->k);
        snprintf(coord, sizeof coord, "!cute.coord<\"(0,%lld)\">", (long long)k);
        MlirValue part =
            tile_emit(e, "cute.local_tile",
                      CUTE_OPERANDS(s->shared, tile_static(e, tile), tile_static(e, coord)), CUTE_NO_NAMED);
        if (e->failed) return part;
        vector = tile_from_shared(e, &s->step, part, s->run);
    }
    if (e->failed) return vector;
    return tile_fragment(e, s->factor, s->values, s->rest, 1, as_factor(e, p, vector));
}

/* A tiled copy by ldmatrix of an operand in stages, and the registers that it fills. */
typedef struct matrix_copy {
    MlirValue copy, thread, to, fragment;
} matrix_copy;

static matrix_copy copy_matrices(tile_emitter *e, const tile_source *source, int i, MlirValue mma,
                                 const char *element, bool tf32)
{
    matrix_copy m = {{NULL}, {NULL}, {NULL}, {NULL}};
    MlirValue stage = tile_stage_view(e, source, false);
    if (e->failed) return m;
    bool mn = is_mn_major(stage);
    char *ldsm = cute_arena_printf(
        e->arena, "!cute_nvgpu.atom.ldsm<val_type=%s, mode=<\"(8,8)\">, sz_pattern=u16, num_matrices=4, %s>",
        element, mn ? "t" : "n");
    m.thread = cute_build_value(&e->b, "cute.make_coord", tile_type(e, "!cute.coord<\"?\">"),
                                CUTE_OPERANDS(e->thread), CUTE_NO_NAMED);
    MlirValue atom =
        cute_build_value(&e->b, "cute.make_atom", tile_type(e, ldsm), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    m.copy = tile_emit(e, i ? "cute.make_tiled_copy_B" : "cute.make_tiled_copy_A", CUTE_OPERANDS(atom, mma),
                       CUTE_NO_NAMED);
    MlirNamedAttribute of = cute_attribute(e->context, "operand_id", mlirIntegerAttrGet(tile_i32_type(e), i));
    MlirValue part =
        tile_emit(e, "cute.tiled.mma.partition", CUTE_OPERANDS(mma, stage, m.thread), CUTE_NAMED(of));
    m.fragment = tile_emit(e, "cute.mma.make_fragment", CUTE_OPERANDS(mma, part), CUTE_NAMED(of));
    if (tf32) /* of f32, as the stages are */
        m.fragment = tile_emit(
            e, "cute.make_fragment_like", CUTE_OPERANDS(m.fragment),
            CUTE_NAMED(cute_attribute(e->context, "element", mlirTypeAttrGet(mlirF32TypeGet(e->context)))));
    m.to = tile_emit(e, "cute.tiled.copy.retile", CUTE_OPERANDS(m.copy, m.fragment), CUTE_NO_NAMED);
    return m;
}

/* Whether ldmatrix reads the operands that are in stages: pairs of atoms along N, 16-bit elements where M or N is contiguous. */
static bool matrices_fit(const tile_op *t, const tile_product *p)
{
    if (p->multiply_add || p->n != 8 || p->copies > 1) return false;
    if (t->in[1].shape.extent[0] % (2 * p->n * p->columns) || p->k * 16 < 128) return false;
    for (int i = 0; i < 2; i++) {
        if (!t->source[i].ring) continue; /* in registers */
        const cute_value *ring = cute_type_peek(mlirValueGetType(t->source[i].ring->view));
        const cute_tree *stride = ring->layout.stride->items[t->source[i].dims[0]];
        while (stride->kind == CUTE_TREE_TUPLE) stride = stride->items[0];
        const cute_tree *along_k = ring->layout.stride->items[t->source[i].dims[1]];
        while (along_k->kind == CUTE_TREE_TUPLE) along_k = along_k->items[0];
        bool mn = stride->value.value == 1, k = along_k->value.value == 1;
        int bits = ring->pointer->bits;
        if (mn ? bits != 16 : !k) return false;
        if (bits > 32 || p->k * bits < 256) return false;
    }
    return true;
}

typedef struct stage_product {
    const tile_op *t;
    const tile_product *p;
    MlirValue mma, acc;
    matrix_copy copies[2];
    side held; /* A, where it is in registers */
    int first; /* operand in stages: 0, or 1 where A is held */
    int64_t steps;
} stage_product;

/* The operands of step `k` of K to registers: of the stage `stage`, or, if it is null, of each operand's own. */
static void load_step(tile_emitter *e, const stage_product *s, MlirValue stage, int64_t k)
{
    char step[48];
    snprintf(step, sizeof step, "!cute.coord<\"(_,_,%lld)\">", (long long)k);
    for (int i = s->first; i < 2 && !e->failed; i++) {
        tile_source source = s->t->source[i];
        const matrix_copy *m = &s->copies[i];
        if (!mlirValueIsNull(stage)) source.stage = stage;
        MlirValue view = tile_stage_view(e, &source, false);
        if (e->failed) return;
        MlirValue part = tile_emit(e, "cute.tiled.copy.partition_S", CUTE_OPERANDS(m->copy, view, m->thread),
                                   CUTE_NO_NAMED);
        MlirValue at = tile_static(e, step),
                  from = tile_emit(e, "cute.slice", CUTE_OPERANDS(part, at), CUTE_NO_NAMED),
                  to = tile_emit(e, "cute.slice", CUTE_OPERANDS(m->to, at), CUTE_NO_NAMED);
        if (!e->failed)
            cute_build(&e->b, "cute.copy", CUTE_OPERANDS(m->copy, from, to), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
}

static void multiply_step(tile_emitter *e, const stage_product *s, int64_t k)
{
    char step[48];
    snprintf(step, sizeof step, "!cute.coord<\"(_,_,%lld)\">", (long long)k);
    MlirValue at = tile_static(e, step),
              a = s->first
                      ? operand_at(e, s->p, &s->held, k)
                      : tile_emit(e, "cute.slice", CUTE_OPERANDS(s->copies[0].fragment, at), CUTE_NO_NAMED),
              b = tile_emit(e, "cute.slice", CUTE_OPERANDS(s->copies[1].fragment, at), CUTE_NO_NAMED);
    if (!e->failed)
        cute_build(&e->b, "cute.gemm", CUTE_OPERANDS(s->mma, s->acc, a, b, s->acc), CUTE_NO_TYPES,
                   CUTE_NO_NAMED);
}

/* The loop, if the product is the only reader of its stages: it is followed by the wait for those of the next iteration (async_pipeline.c), and the
 * index of the stage is carried by the loop. */
static MlirOperation loop_of_stages(const tile_op *t)
{
    const MlirOperation none = {NULL};
    MlirOperation loop = tile_parent(t->op), wait = mlirOperationGetNextInBlock(t->op);
    MlirValue stage = t->source[0].stage;
    if (!t->source[0].ring || !cute_op_is(loop, "scf.for") ||
        !cute_op_is(wait, "cute_nvgpu.arch.cp_async_wait_group") ||
        !cute_op_is(mlirOperationGetNextInBlock(wait), "gpu.barrier") ||
        !mlirValueEqual(stage, t->source[1].stage) || !mlirValueIsABlockArgument(stage) ||
        !mlirBlockEqual(mlirBlockArgumentGetOwner(stage), tile_loop_body(loop)))
        return none;
    return loop;
}

/* Both operands are in stages, or A in registers: ldmatrix fills the fragments of a step of K while the one before is multiplied. Where the loop allows it, the
 * first step of the next iteration is one of them, so that tensor cores do not wait where iterations meet; the last iteration loads what the
 * stage has, for no use. */
static MlirValue multiply_stages(tile_emitter *e, const tile_op *t, const tile_product *p,
                                 const char *element, MlirValue sum)
{
    int bits;
    const char *factor =
        tile_element_text(e, cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 0))), &bits);
    stage_product s = {
        .t = t, .p = p, .first = t->source[0].ring ? 0 : 1, .steps = t->in[0].shape.extent[1] / p->k};
    MlirOperation loop = s.steps > 1 ? loop_of_stages(t) : (MlirOperation){NULL};
    bool ahead = !mlirOperationIsNull(loop);
    MlirValue stage = {NULL}, first = stage; /* of both operands; null: each has a stage of its own */
    cute_builder own = e->b;
    if (ahead) {
        e->b = cute_builder_before(loop);
        stage = t->source[0].stage;
        first = mlirOperationGetOperand(loop, 2 + mlirBlockArgumentGetArgNumber(stage));
    }
    char layout[64], permutation[96];
    snprintf(layout, sizeof layout, "!cute.layout<\"(%lld,%lld,1):(1,%lld,0)\">", (long long)p->rows,
             (long long)p->columns, (long long)p->rows);
    snprintf(permutation, sizeof permutation, "!cute.tile<\"[%lld:1;%lld:1;%lld:1]\">",
             (long long)(p->m * p->rows), (long long)(2 * p->n * p->columns), (long long)p->k);
    MlirValue atom =
        cute_build_value(&e->b, "cute.make_atom", tile_type(e, p->atom), CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    s.mma =
        tile_emit(e, "cute.make_tiled_mma",
                  CUTE_OPERANDS(atom, tile_static(e, layout), tile_static(e, permutation)), CUTE_NO_NAMED);
    if (s.first && !prepare(e, t, p, 0, 0, &s.held)) return e->failed = true, sum;
    for (int i = s.first; i < 2 && !e->failed; i++) {
        tile_source source = t->source[i];
        if (ahead) source.stage = first;
        s.copies[i] = copy_matrices(e, &source, i, s.mma, factor, p->tf32);
    }
    if (e->failed) return sum;
    load_step(e, &s, first, 0);
    if (ahead) { /* in front of this iteration's fetches, which write the same memory for all that ptxas knows */
        e->b = cute_builder_before(mlirBlockGetFirstOperation(tile_loop_body(loop)));
        load_step(e, &s, stage, 1);
    }
    e->b = own;
    int64_t m = t->out.shape.extent[0] / p->m / p->rows, n = t->out.shape.extent[1] / p->n / p->columns;
    s.acc = tile_fragment(e, element, tile_values(&t->out) / m / n, m, n, sum);
    for (int64_t k = 0; k < s.steps && !e->failed; k++) {
        if (k + 1 < s.steps) {
            if (k || !ahead) load_step(e, &s, stage, k + 1);
        } else if (ahead) {
            MlirOperation wait = mlirOperationGetNextInBlock(t->op),
                          barrier = mlirOperationGetNextInBlock(wait);
            mlirOperationMoveBefore(wait, t->op);
            mlirOperationMoveBefore(barrier, t->op);
            load_step(e, &s, tile_stage_behind(&e->b, stage, t->source[0].ring->stages), 0);
        }
        multiply_step(e, &s, k);
    }
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(s.acc), CUTE_NO_NAMED);
}

/* Whether operand `i` is neither in a stage nor in the registers of the threads that need it. */
static bool moves_to_shared(tile_emitter *e, const tile_op *t, const tile_product *p, int i)
{
    tile_distribution whole;
    if (t->source[i].ring) return false;
    if (!tile_product_distribution(e->arena, e->context, p, i, &t->in[i].shape, &whole)) return true;
    int32_t *map = cute_arena_array(e->arena, (size_t)tile_values(&whole), sizeof *map);
    return !map || !tile_registers_map(e->arena, &t->in[i], &whole, map);
}

/* Operands that are not in a stage yet go there, or are in the threads' registers already. False after an error. */
static bool prepare_both(tile_emitter *e, const tile_op *t, const tile_product *p, side *a, side *b)
{
    bool moves = e->naive || moves_to_shared(e, t, p, 0) || moves_to_shared(e, t, p, 1);
    if (moves) tile_barrier(e);
    if (!prepare(e, t, p, 0, 0, a)) return false;
    int64_t bytes_a = mlirValueIsNull(a->held) && !t->source[0].ring
                          ? (cute_tile_size(&t->in[0].shape) * a->bits / 8 + 1023) / 1024 * 1024
                          : 0;
    if (!prepare(e, t, p, 1, bytes_a, b)) return false;
    if (moves) tile_barrier(e);
    return true;
}

/* ---- threads that multiply and add ---- */

/* The values of `d` along K first. */
static void put_k_first(tile_distribution *d)
{
    tile_modes modes = {0};
    for (int k = 1; k >= 0; k--)
        for (int i = 0; i < d->values.count; i++)
            if (d->values.at[i].dim == k) modes.at[modes.count++] = d->values.at[i];
    d->values = modes;
}

/* Part `part` of `parts` of a thread's rows of operand `i`, at `depth` places of K from k times that on: a fragment (1, rows, depth). */
static MlirValue square_fragment(tile_emitter *e, const tile_product *p, const side *s, int i, int64_t part,
                                 int64_t parts, int64_t k, int64_t depth)
{
    int64_t all = s->values * s->rest, rows = all / parts, count = rows * depth;
    MlirValue vector;
    int32_t *pick = cute_arena_array(e->arena, (size_t)count, sizeof *pick);
    if (!pick) return e->failed = true, s->held;
    if (!mlirValueIsNull(s->held)) {
        for (int64_t v = 0; v < count; v++)
            pick[v] = (int32_t)((k * depth + v / rows) * all + part * rows + v % rows);
        vector = tile_pick(e, s->held, pick, count);
    } else {
        tile_distribution step;
        cute_tile_shape shape = {2, {s->step.shape.extent[0] / parts, depth}};
        if (!tile_product_distribution(e->arena, e->context, p, i, &shape, &step))
            return e->failed = true, s->shared;
        if (!s->mn) put_k_first(&step);
        char tile[80], coord[64];
        snprintf(tile, sizeof tile, "!cute.tile<\"[%lld:1;%lld:1]\">", (long long)shape.extent[0],
                 (long long)depth);
        snprintf(coord, sizeof coord, "!cute.coord<\"(%lld,%lld)\">", (long long)part, (long long)k);
        MlirValue own =
            tile_emit(e, "cute.local_tile",
                      CUTE_OPERANDS(s->shared, tile_static(e, tile), tile_static(e, coord)), CUTE_NO_NAMED);
        if (e->failed) return own;
        vector = tile_from_shared(e, &step, own, tile_run(&step, s->mn ? 0 : 1, s->bits));
        for (int64_t v = 0; v < count; v++) pick[v] = (int32_t)(s->mn ? v : v % rows * depth + v / rows);
        if (!e->failed) vector = tile_pick(e, vector, pick, count);
    }
    if (e->failed) return vector;
    char *type =
        cute_arena_printf(e->arena, "!cute.memref<%s, rmem, align<32>, \"(1,%lld,%lld):(1,1,%lld)\">",
                          s->factor, (long long)rows, (long long)depth, (long long)rows);
    return store_fragment(e, type, as_factor(e, p, vector));
}

/* Where K is contiguous, 16 bytes of it at a time with a part of B's rows after the other, so that few registers hold factors; else a
 * place of K at a time. */
static MlirValue multiply_squares(tile_emitter *e, const tile_op *t, const tile_product *p,
                                  const char *element, MlirValue sum)
{
    enum { DEEPEST = 4 };
    side s[2];
    if (!prepare_both(e, t, p, &s[0], &s[1])) return e->failed = true, sum;
    int64_t extent = t->in[0].shape.extent[1], depth = 1, m = s[0].values * s[0].rest,
            n = s[1].values * s[1].rest;
    for (int i = 0; i < 2; i++)
        while (mlirValueIsNull(s[i].held) && !s[i].mn && depth < DEEPEST && 2 * depth * s[i].bits <= 128 &&
               extent % (2 * depth) == 0)
            depth *= 2;
    int64_t parts = depth > 1 ? n / p->n : 1;
    char *type = cute_arena_printf(e->arena, "!cute.memref<%s, rmem, align<32>, \"%lld:1\">", element,
                                   (long long)(m * n)),
         *layout = cute_arena_printf(e->arena, "!cute.layout<\"(1,%lld,(%lld,%lld)):(0,%lld,(1,%lld))\">",
                                     (long long)m, (long long)(n / parts), (long long)parts, (long long)n,
                                     (long long)(n / parts));
    MlirValue sums = store_fragment(e, type, sum);
    if (e->failed) return sum;
    MlirValue iter = tile_emit(e, "cute.get_iter", CUTE_OPERANDS(sums), CUTE_NO_NAMED),
              acc =
                  tile_emit(e, "cute.make_view", CUTE_OPERANDS(iter, tile_static(e, layout)), CUTE_NO_NAMED);
    MlirType atom = tile_type(e, p->atom);
    if (e->failed) return sum;
    MlirValue mma = cute_build_value(&e->b, "cute.make_atom", atom, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    for (int64_t k = 0; k < extent / depth && !e->failed; k++) {
        MlirValue a = square_fragment(e, p, &s[0], 0, 0, 1, k, depth);
        for (int64_t part = 0; part < parts && !e->failed; part++) {
            char own[64], at[48];
            snprintf(own, sizeof own, "!cute.coord<\"(_,_,(_,%lld))\">", (long long)part);
            MlirValue b = square_fragment(e, p, &s[1], 1, part, parts, k, depth),
                      some =
                          tile_emit(e, "cute.slice", CUTE_OPERANDS(acc, tile_static(e, own)), CUTE_NO_NAMED);
            for (int64_t i = 0; i < depth && !e->failed; i++) {
                snprintf(at, sizeof at, "!cute.coord<\"(_,_,%lld)\">", (long long)i);
                MlirValue place = tile_static(e, at),
                          x = tile_emit(e, "cute.slice", CUTE_OPERANDS(a, place), CUTE_NO_NAMED),
                          y = tile_emit(e, "cute.slice", CUTE_OPERANDS(b, place), CUTE_NO_NAMED);
                if (!e->failed)
                    cute_build(&e->b, "cute.gemm", CUTE_OPERANDS(mma, some, x, y, some), CUTE_NO_TYPES,
                               CUTE_NO_NAMED);
            }
        }
    }
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(sums), CUTE_NO_NAMED);
}

/* A step of K at a time. */
static MlirValue multiply_steps(tile_emitter *e, const tile_op *t, const tile_product *p, const char *element,
                                MlirValue sum)
{
    side a, b;
    if (!prepare_both(e, t, p, &a, &b)) return e->failed = true, sum;
    int64_t values = tile_values(&t->out) / a.rest / b.rest, steps = t->in[0].shape.extent[1] / p->k;
    MlirValue acc = tile_fragment(e, element, values, a.rest, b.rest, sum);
    MlirType atom = tile_type(e, p->atom);
    if (e->failed) return sum;
    MlirValue mma = cute_build_value(&e->b, "cute.make_atom", atom, CUTE_NO_OPERANDS, CUTE_NO_NAMED);
    for (int64_t k = 0; k < steps && !e->failed; k++) {
        MlirValue x = operand_at(e, p, &a, k), y = operand_at(e, p, &b, k);
        if (!e->failed)
            cute_build(&e->b, "cute.gemm", CUTE_OPERANDS(mma, acc, x, y, acc), CUTE_NO_TYPES, CUTE_NO_NAMED);
    }
    return tile_emit(e, "cute.memref.load_vec", CUTE_OPERANDS(acc), CUTE_NO_NAMED);
}

MlirValue tile_lower_gemm(tile_emitter *e, const tile_op *t)
{
    if (cute_op_has(t->op, "wgmma") && !e->naive) return tile_lower_wgmma(e, t);
    MlirValue sum = mlirOperationGetOperand(t->op, 2);
    tile_product p;
    int bits;
    MlirType of_a = cute_type_element(mlirValueGetType(mlirOperationGetOperand(t->op, 0)));
    tile_product_choose(&t->in[0].shape, &t->out.shape, of_a, cute_type_element(mlirValueGetType(sum)), t->op,
                        e->naive ? NULL : e->arch, e->threads, &p);
    const char *element = tile_element_text(e, cute_type_element(mlirValueGetType(sum)), &bits);
    if ((t->source[0].ring || !moves_to_shared(e, t, &p, 0)) && t->source[1].ring && matrices_fit(t, &p))
        return multiply_stages(e, t, &p, element, sum);
    if (p.multiply_add) {
        int own_bits;
        const char *own = tile_element_text(e, of_a, &own_bits);
        if (mlirTypeIsAFloat(of_a) && own_bits == 8) own = "f16";
        p.atom = cute_arena_printf(e->arena, "!cute_nvgpu.atom.universal_fma<1x1x1, (%s, %s) -> %s>", own,
                                   own, element);
        return p.atom ? multiply_squares(e, t, &p, element, sum) : (e->failed = true, sum);
    }
    return multiply_steps(e, t, &p, element, sum);
}
