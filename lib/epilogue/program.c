/* Tile programs of a tree: the product with the part of the epilogue that its tiles can compute, then for each later stage kernels that
 * combine partial results, and one on the tiles of matrices that need them. Values are tiles of two modes: (rows, columns), with extent
 * 1 where a value does not vary. Internal names begin with '_', which names of the text cannot. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lib/epilogue/implement.h"

enum { VECTOR_TILE = 128, ONE_TILE = 256, MATRIX_ROWS = EPILOGUE_TILE_M, MATRIX_COLUMNS = EPILOGUE_TILE_N };

typedef struct writer {
    epilogue_tree *tree;
    epilogue_program *program;
    epilogue_kernel *kernel;
    cute_buffer text, body;
    int stage;
    epilogue_shape domain;
    const char *rows, *columns;     /* of a tile: expressions inside ${} */
    const char *at_row, *at_column; /* coordinates of the tile */
    int64_t tile_m, tile_n;
    const char *extents; /* the matrix from which M and N are counted; NULL: A and B */
    epilogue_shape extents_shape;
    const char *values[EPILOGUE_NODES]; /* text; NULL: not computed yet */
    bool tiles[EPILOGUE_NODES];         /* the text is a tile, not a number */
    bool counted_m, counted_n, one;
    bool batch; /* all tensors but shared operands have a mode for the products of a batch in front */
    int fresh;
    bool failed;
} writer;

static const char *emit_node(writer *w, epilogue_node *n);

static const char *make_text(writer *w, const char *format, ...) CUTE_PRINTF(2, 3);
static const char *make_text(writer *w, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *copy =
        cute_buffer_ok(&text) ? cute_arena_copy(w->tree->arena, cute_buffer_text(&text), text.length) : NULL;
    cute_buffer_release(&text);
    if (copy) return copy;
    w->failed = true;
    return "";
}

/* A line `%_N = operation`; returns the name. */
static const char *emit_line(writer *w, const char *format, ...) CUTE_PRINTF(2, 3);
static const char *emit_line(writer *w, const char *format, ...)
{
    va_list args;
    const char *name = make_text(w, "%%_%d", w->fresh++);
    cute_buffer_printf(&w->body, "    %s = ", name);
    va_start(args, format);
    cute_buffer_vprintf(&w->body, format, args);
    va_end(args);
    cute_buffer_putc(&w->body, '\n');
    return name;
}

/* ---- arguments ---- */

static epilogue_arg *add_arg(writer *w, const epilogue_arg *fields)
{
    epilogue_kernel *k = w->kernel;
    for (int i = 0; i < k->count; i++)
        if (strcmp(k->args[i].name, fields->name) == 0) return &k->args[i];
    if (k->count == EPILOGUE_ARGS) {
        w->failed = true;
        return &k->args[0];
    }
    k->args[k->count] = *fields;
    return &k->args[k->count++];
}

static int64_t round_up(int64_t x, int64_t to)
{
    return (x + to - 1) / to * to;
}

/* A matrix, vector or number in memory, as a matrix. */
static const char *add_tensor(writer *w, const char *name, bool temporary, cute_dtype dtype,
                              epilogue_shape shape, bool turned, bool batched)
{
    int64_t rows = epilogue_rows(w->tree, shape), columns = epilogue_columns(w->tree, shape);
    epilogue_role role = shape.rows && shape.mul ? EPILOGUE_MATRIX
                         : shape.rows            ? EPILOGUE_ROW_TERM
                         : shape.mul             ? EPILOGUE_COL_TERM
                                                 : EPILOGUE_ONE;
    epilogue_arg arg = {name, role, temporary, dtype, {rows, columns}, {0, 1}, w->batch && batched, 0};
    if (role == EPILOGUE_MATRIX) arg.strides[0] = temporary ? round_up(columns, 4) : columns;
    if (role == EPILOGUE_ROW_TERM) arg.strides[0] = 1;
    if (turned) arg.strides[0] = 1, arg.strides[1] = rows;
    arg.between = temporary && role == EPILOGUE_MATRIX ? rows * arg.strides[0]
                  : temporary                          ? round_up(rows * columns, 4)
                                                       : rows * columns;
    return add_arg(w, &arg)->name;
}

static const char *add_parts(writer *w, const epilogue_node *n, bool flat, int64_t *out_tiles)
{
    const epilogue_tree *t = w->tree;
    int64_t tile_m = n->stage > 1 ? MATRIX_ROWS : t->problem.tile_m,
            tile_n = n->stage > 1 ? MATRIX_COLUMNS : t->problem.tile_n;
    int64_t down = (t->problem.m + tile_m - 1) / tile_m, across = (t->problem.n + tile_n - 1) / tile_n;
    epilogue_arg arg = {make_text(w, "_partial_%d", n->number),
                        EPILOGUE_PARTS,
                        true,
                        CUTE_F32,
                        {down, across},
                        {across, 1},
                        w->batch,
                        0};
    if (n->axis == 0) arg.shape[1] = epilogue_columns(t, n->shape);
    if (n->axis == 1) arg.shape[0] = across, arg.shape[1] = t->problem.m;
    if (n->axis >= 0) arg.strides[0] = round_up(arg.shape[1], 4);
    arg.between = arg.shape[0] * arg.strides[0];
    if (flat) {
        arg.role = EPILOGUE_FLAT_PARTS;
        arg.shape[1] = down * across;
        arg.shape[0] = 1;
        arg.strides[0] = 0;
    }
    *out_tiles = arg.shape[0];
    return add_arg(w, &arg)->name;
}

/* Elements of which an argument's contiguous lines are a multiple, up to 16 bytes. */
static int64_t vector_of(const epilogue_tree *t, const epilogue_arg *a)
{
    bool down = a->role == EPILOGUE_ROW_TERM || (a->role == EPILOGUE_MATRIX && a->strides[1] != 1);
    int64_t size = cute_dtype_get(a->dtype)->bytes, v = 16 / size, count = a->shape[down ? 0 : 1];
    while (v > 1 && (count % v != 0 || v * size > t->problem.align)) v /= 2;
    return v;
}

int64_t epilogue_arg_bytes(const epilogue_tree *tree, const epilogue_arg *a)
{
    int64_t size = cute_dtype_get(a->dtype)->bytes;
    return a->role == EPILOGUE_ONE ? size : vector_of(tree, a) * size;
}

/* The type of a tensor, with a mode for the products of a batch in front of `shape` and `strides`; `bytes` divide its address, `div` the
 * distance between products. */
static void put_memref(const epilogue_arg *a, int64_t bytes, const char *shape, const char *strides,
                       int64_t div, cute_buffer *out)
{
    cute_buffer_printf(out, "!cute.memref<%s, gmem, align<%lld>, \"(%s%s):(", cute_dtype_mlir(a->dtype),
                       (long long)bytes, a->batched ? "?," : "", shape);
    if (a->batched && div > 1) cute_buffer_printf(out, "?{i64 div=%lld},", (long long)div);
    if (a->batched && div <= 1) cute_buffer_puts(out, "?{i64},");
    cute_buffer_printf(out, "%s)\">", strides);
}

static void put_arg_type(writer *w, const epilogue_arg *a, cute_buffer *out)
{
    int64_t v = vector_of(w->tree, a), bytes = epilogue_arg_bytes(w->tree, a);
    switch (a->role) {
    case EPILOGUE_NUMBER: cute_buffer_puts(out, "f32"); return;
    case EPILOGUE_FACTOR: cute_buffer_printf(out, "!_%s", a->name); return;
    case EPILOGUE_ROW_TERM:
        put_memref(a, bytes, make_text(w, "?{div=%lld},1", (long long)v), "1,1", v, out);
        return;
    case EPILOGUE_COL_TERM:
        put_memref(a, bytes, make_text(w, "1,?{div=%lld}", (long long)v), "0,1", v, out);
        return;
    case EPILOGUE_ONE: put_memref(a, bytes, "1,1", "0,1", 1, out); return;
    case EPILOGUE_FLAT_PARTS: put_memref(a, 16, "1,?", "0,1", 1, out); return;
    case EPILOGUE_PARTS: put_memref(a, 16, "?,?", "?{i64},1", 1, out); return;
    case EPILOGUE_MATRIX:
        if (a->strides[1] != 1) {
            put_memref(a, bytes, make_text(w, "?{div=%lld},?", (long long)v),
                       make_text(w, "1,?{i64 div=%lld}", (long long)v), v, out);
            return;
        }
        if (a->temporary) v = 4, bytes = v * cute_dtype_get(a->dtype)->bytes;
        put_memref(a, bytes, a->shape[1] % v == 0 ? make_text(w, "?,?{div=%lld}", (long long)v) : "?,?",
                   make_text(w, "?{i64 div=%lld},1", (long long)v), v, out);
        return;
    case EPILOGUE_VECTOR: return;
    }
}

/* ---- extents ---- */

static const char *columns_text(writer *w, epilogue_shape s)
{
    if (!s.mul) return "1";
    if (w->stage && s.mul == s.div && !strchr(w->columns, '*')) return w->columns;
    if (s.mul == s.div) return make_text(w, "${%s}", w->columns);
    return make_text(w, "${%s*%d/%d}", w->columns, s.mul, s.div);
}

static const char *rows_text(writer *w)
{
    return w->stage ? w->rows : make_text(w, "${%s}", w->rows);
}

static const char *tile_text(writer *w, epilogue_shape s)
{
    return make_text(w, "%s, %s", s.rows ? rows_text(w) : "1", columns_text(w, s));
}

static const char *count_rows(writer *w)
{
    if (!w->counted_m)
        cute_buffer_printf(&w->body, "    %%_m = cute.tile.count<%d, 1> %%%s\n", w->batch,
                           w->extents ? w->extents : "A");
    w->counted_m = true;
    return "%_m";
}

/* Columns of a value. */
static const char *count_columns(writer *w, epilogue_shape s)
{
    if (!w->counted_n) {
        if (!w->extents)
            cute_buffer_printf(&w->body, "    %%_n = cute.tile.count<%d, 1> %%B\n", w->batch);
        else {
            epilogue_shape x = w->extents_shape;
            cute_buffer_printf(&w->body,
                               "    %%_nx = cute.tile.count<%d, 1> %%%s\n    %%_nd = arith.constant %d : "
                               "i32\n    %%_ny = arith.muli %%_nx, "
                               "%%_nd : i32\n    %%_nm = arith.constant %d : i32\n    %%_n = arith.divui "
                               "%%_ny, %%_nm : i32\n",
                               w->batch + 1, w->extents, x.div, x.mul);
        }
    }
    w->counted_n = true;
    if (s.mul == s.div) return "%_n";
    const char *mul = emit_line(w, "arith.constant %d : i32", s.mul),
               *div = emit_line(w, "arith.constant %d : i32", s.div);
    const char *more = emit_line(w, "arith.muli %%_n, %s : i32", mul);
    return emit_line(w, "arith.divui %s, %s : i32", more, div);
}

/* ---- values ---- */

static const char *number_text(writer *w, double value)
{
    float f = (float)value;
    uint32_t bits;
    char digits[32];
    memcpy(&bits, &f, sizeof bits);
    snprintf(digits, sizeof digits, "%.9g", (double)f);
    bool plain = value >= 0 && !strpbrk(digits, "eni");
    return plain ? make_text(w, "%s%s", digits, strchr(digits, '.') ? "" : ".0")
                 : make_text(w, "0x%08X", bits);
}

/* A value as a tile, where an operation needs one. */
static const char *as_tile(writer *w, epilogue_node *n)
{
    const char *text = emit_node(w, n);
    if (w->tiles[n->number]) return text;
    if (n->op == EPILOGUE_CONSTANT) return emit_line(w, "arith.constant dense<%s> : tensor<1x1xf32>", text);
    if (!w->one) cute_buffer_puts(&w->body, "    %_one = arith.constant dense<1.0> : tensor<1x1xf32>\n");
    w->one = true;
    const char *tile = emit_line(w, "cute.tile.mul %%_one, %s", text);
    w->values[n->number] = tile;
    w->tiles[n->number] = true;
    return tile;
}

/* Whether `n` alone uses its operand `i`, a product of this kernel: a multiplication and an addition are one instruction. */
static bool is_own_product(const writer *w, const epilogue_node *n, int i)
{
    const epilogue_tree *t = w->tree;
    const epilogue_node *x = n->args[i];
    int uses = 0;
    if (x->op != EPILOGUE_COMPUTE || strcmp(x->function->name, "mul") != 0 || x->materialized ||
        x->stage != n->stage || w->values[x->number])
        return false;
    for (int k = 0; k < t->count; k++)
        for (int a = 0; a < t->nodes[k]->count; a++) uses += t->nodes[k]->args[a] == x;
    for (int k = 0; k < t->output_count; k++) uses += t->outputs[k].node == x;
    return uses == 1;
}

/* x y + z in one rounding. */
static const char *emit_fma(writer *w, epilogue_node *product, epilogue_node *z)
{
    epilogue_node *of[] = {product->args[0], product->args[1], z};
    const char *args[3];
    bool any = false;
    for (int i = 0; i < 3; i++) args[i] = emit_node(w, of[i]);
    for (int i = 0; i < 3; i++) any = any || w->tiles[of[i]->number];
    if (!any) args[0] = as_tile(w, of[0]);
    return emit_line(w, "cute.tile.fma %s, %s, %s", args[0], args[1], args[2]);
}

static const char *emit_compute(writer *w, epilogue_node *n)
{
    for (int i = 0; strcmp(n->function->name, "add") == 0 && i < 2; i++)
        if (is_own_product(w, n, i)) return emit_fma(w, n->args[i], n->args[1 - i]);
    bool where = strcmp(n->function->name, "where") == 0, any = false;
    int from = where ? 1 : 0;
    const char *args[3];
    for (int i = 0; i < n->count; i++) args[i] = emit_node(w, n->args[i]);
    for (int i = from; i < n->count; i++) any = any || w->tiles[n->args[i]->number];
    if (!any) args[from] = as_tile(w, n->args[from]);
    bool fast = epilogue_approximates(w->tree, n);
    return emit_line(w, "cute.tile.%s %s%s%s%s%s%s", n->function->tile, args[0], n->count > 1 ? ", " : "",
                     n->count > 1 ? args[1] : "", n->count > 2 ? ", " : "", n->count > 2 ? args[2] : "",
                     fast ? " {fast}" : "");
}

static const char *emit_groups(writer *w, epilogue_node *x, const char *value, int64_t size)
{
    epilogue_shape s = x->shape;
    return emit_line(w, "cute.tile.reshape<[%s, ${%s*%d/%lld}, %lld]> %s", s.rows ? rows_text(w) : "1",
                     w->columns, s.mul, (long long)s.div * (long long)size, (long long)size, value);
}

static const char *kind_text(epilogue_kind kind)
{
    return kind == EPILOGUE_MAX ? "max" : kind == EPILOGUE_MIN ? "min" : "add";
}

static const char *identity_text(epilogue_kind kind)
{
    return kind == EPILOGUE_MAX ? "0xFF800000" : kind == EPILOGUE_MIN ? "0x7F800000" : "0.0";
}

/* Elements of the tile outside of the matrix do not count. */
static const char *emit_mask(writer *w, const epilogue_node *n, epilogue_shape s, const char *value)
{
    const epilogue_problem *p = &w->tree->problem;
    if (n->axis != 1 && p->m % w->tile_m != 0) {
        const char *size = emit_line(w, "arith.constant %s : i32", rows_text(w)),
                   *first = emit_line(w, "arith.muli %s, %s : i32", w->at_row, size),
                   *row = emit_line(w, "cute.tile.iota<[%s, 1], 0> %s", rows_text(w), first),
                   *inside = emit_line(w, "cute.tile.lt %s, %s", row, count_rows(w));
        value = emit_line(w, "cute.tile.where %s, %s, %s", inside, value, identity_text(n->kind));
    }
    if (n->axis != 0 && p->n % (w->stage ? w->tile_n : w->tile_n * w->tree->cluster_n) != 0) {
        const char *size = emit_line(w, "arith.constant %s : i32", columns_text(w, s)),
                   *first = emit_line(w, "arith.muli %s, %s : i32", w->at_column, size),
                   *column = emit_line(w, "cute.tile.iota<[1, %s], 1> %s", columns_text(w, s), first),
                   *inside = emit_line(w, "cute.tile.lt %s, %s", column, count_columns(w, s));
        value = emit_line(w, "cute.tile.where %s, %s, %s", inside, value, identity_text(n->kind));
    }
    return value;
}

/* The reduction of this tile's elements, divided by the number of all for a mean. */
static const char *emit_tile_reduction(writer *w, epilogue_node *n)
{
    epilogue_node *x = n->args[0];
    const char *value = as_tile(w, x), *kind = kind_text(n->kind);
    if (n->group) {
        const char *groups = emit_groups(w, x, value, n->group),
                   *part = emit_line(w, "cute.tile.reduce<%s, 2> %s", kind, groups);
        if (n->kind == EPILOGUE_MEAN)
            part = emit_line(w, "cute.tile.div %s, %lld.0", part, (long long)n->group);
        return emit_line(w, "cute.tile.reshape<[%s]> %s", tile_text(w, n->shape), part);
    }
    value = emit_mask(w, n, x->shape, value);
    if (n->axis != 0) value = emit_line(w, "cute.tile.reduce<%s, 1> %s", kind, value);
    if (n->axis != 1) value = emit_line(w, "cute.tile.reduce<%s, 0> %s", kind, value);
    if (n->kind == EPILOGUE_MEAN && n->axis != 0)
        value = emit_line(w, "cute.tile.div %s, %s", value, count_columns(w, x->shape));
    if (n->kind == EPILOGUE_MEAN && n->axis != 1)
        value = emit_line(w, "cute.tile.div %s, %s", value, count_rows(w));
    if (n->impl == EPILOGUE_CLUSTER_REGISTERS)
        value = emit_line(w, "cute.tile.cluster_reduce<%s> %s, %s", kind, value, w->at_column);
    return value;
}

/* The coordinate of a product in front of others. */
static const char *item_of(const writer *w, bool batched)
{
    return w->batch && batched ? "%_l, " : "";
}

static const char *load_tile(writer *w, const char *name, epilogue_shape s, bool batched)
{
    return emit_line(w, "cute.tile.load<[%s], f32> %%%s[%s%s, %s]", tile_text(w, s), name,
                     item_of(w, batched), s.rows ? w->at_row : "0", s.mul ? w->at_column : "0");
}

/* Where a materialized value is: a result of f32, or a temporary. */
static const char *location_of(writer *w, const epilogue_node *n)
{
    for (int i = 0; i < w->tree->output_count; i++) {
        const epilogue_output *o = &w->tree->outputs[i];
        if (o->node == n && o->dtype == CUTE_F32)
            return add_tensor(w, o->name, false, CUTE_F32, n->shape, o->turned, true);
    }
    return add_tensor(w, make_text(w, "_value_%d", n->number), true, CUTE_F32, n->shape, false, true);
}

/* Tiles begin at multiples of the groups. */
static const char *emit_places(writer *w, const epilogue_node *n)
{
    const char *columns = columns_text(w, n->shape), *type = make_text(w, "tensor<1x%sxi32>", columns),
               *zero = emit_line(w, "arith.constant 0 : i32"),
               *index = emit_line(w, "cute.tile.iota<[1, %s], 1> %s", columns, zero),
               *last = emit_line(w, "arith.constant dense<%lld> : %s", (long long)n->step - 1, type),
               *bit = emit_line(w, "arith.andi %s, %s : %s", index, last, type),
               *one = emit_line(w, "arith.constant dense<1> : %s", type),
               *place = emit_line(w, "arith.shli %s, %s : %s", one, bit, type);
    return emit_line(w, "cute.tile.cast<f32> %s", place);
}

static const char *emit_value(writer *w, epilogue_node *n)
{
    const char *x;
    if (n->materialized && (epilogue_is_combined(n) || n->stage < w->stage))
        return load_tile(w, location_of(w, n), n->shape, true);
    switch (n->op) {
    case EPILOGUE_ACC: return "%_f";
    case EPILOGUE_LOAD:
        return load_tile(w, add_tensor(w, n->name, false, n->dtype, n->shape, n->turned, n->batched),
                         n->shape, n->batched);
    case EPILOGUE_CONSTANT: w->tiles[n->number] = false; return number_text(w, n->value);
    case EPILOGUE_SCALAR: {
        epilogue_arg arg = {.name = n->name, .role = EPILOGUE_NUMBER, .dtype = CUTE_F32};
        w->tiles[n->number] = false;
        return make_text(w, "%%%s", add_arg(w, &arg)->name);
    }
    case EPILOGUE_COMPUTE: return emit_compute(w, n);
    case EPILOGUE_CAST:
        x = emit_line(w, "cute.tile.cast<%s> %s", cute_dtype_mlir(n->dtype), as_tile(w, n->args[0]));
        return emit_line(w, "cute.tile.cast<f32> %s", x);
    case EPILOGUE_SLICE:
        x = emit_groups(w, n->args[0], emit_node(w, n->args[0]), n->step);
        return emit_line(w, "cute.tile.pick<%lld, 2> %s", (long long)n->first, x);
    case EPILOGUE_INTERLEAVE: {
        const char *a = emit_node(w, n->args[0]), *b = emit_node(w, n->args[1]);
        x = emit_line(w, "cute.tile.stack %s, %s", a, b);
        return emit_line(w, "cute.tile.reshape<[%s]> %s", tile_text(w, n->shape), x);
    }
    case EPILOGUE_REPEAT: {
        const char *each = tile_text(w, n->args[0]->shape);
        x = emit_line(w, "cute.tile.reshape<[%s, 1]> %s", each, emit_node(w, n->args[0]));
        x = emit_line(w, "cute.tile.broadcast<[%s, %lld]> %s", each, (long long)n->step, x);
        return emit_line(w, "cute.tile.reshape<[%s]> %s", tile_text(w, n->shape), x);
    }
    case EPILOGUE_PLACES: return emit_places(w, n);
    case EPILOGUE_REDUCE: return emit_tile_reduction(w, n);
    case EPILOGUE_COMMUNICATE: break;
    }
    return "";
}

static const char *emit_node(writer *w, epilogue_node *n)
{
    if (!w->values[n->number]) {
        w->tiles[n->number] = true;
        const char *value = emit_value(w, n);
        w->values[n->number] = value;
    }
    return w->values[n->number];
}

static void emit_store(writer *w, epilogue_node *n, const char *name, cute_dtype dtype)
{
    const char *value = as_tile(w, n);
    if (dtype != CUTE_F32) value = emit_line(w, "cute.tile.cast<%s> %s", cute_dtype_mlir(dtype), value);
    epilogue_shape s = n->shape;
    if (s.rows || s.mul) {
        /* A constant or scalar value, say, has fewer elements than its place. Of a cluster's blocks, the first stores a column. */
        cute_buffer_printf(&w->body, "    cute.tile.store %s, %%%s[%s%s, %s]\n", value, name,
                           item_of(w, true), s.rows ? w->at_row : "0",
                           s.mul || (!w->stage && w->tree->cluster_n > 1) ? w->at_column : "0");
        return;
    }
    cute_buffer_printf(&w->body, "    cute.tile.store %s, %%%s[%s0, 0]\n", value, name, item_of(w, true));
}

/* ---- kernels ---- */

static epilogue_kernel *begin_kernel(writer *w, const char *function, int stage)
{
    epilogue_program *p = w->program;
    if (p->count == EPILOGUE_KERNELS) {
        w->failed = true;
        p->count--;
    }
    w->kernel = &p->kernels[p->count++];
    *w->kernel = (epilogue_kernel){.function = function};
    w->stage = stage;
    w->counted_m = w->counted_n = w->one = false;
    w->extents = NULL;
    w->body.length = 0;
    if (w->body.data) w->body.data[0] = 0;
    memset(w->values, 0, sizeof w->values);
    return w->kernel;
}

static void end_kernel(writer *w, const char *attributes, const char *head)
{
    cute_buffer_printf(&w->text, "  gpu.func @%s(", w->kernel->function);
    for (int i = 0; i < w->kernel->count; i++) {
        const epilogue_arg *a = &w->kernel->args[i];
        cute_buffer_printf(&w->text, "%s%%%s: ", i ? ",\n      " : "", a->name);
        put_arg_type(w, a, &w->text);
    }
    cute_buffer_printf(&w->text, ") kernel%s {\n%s", attributes, head);
    cute_buffer_append(&w->text, cute_buffer_text(&w->body), w->body.length);
    cute_buffer_puts(&w->text, "    gpu.return\n  }\n");
    w->failed = w->failed || !cute_buffer_ok(&w->body);
}

static bool same_shape(epilogue_shape a, epilogue_shape b)
{
    return a.rows == b.rows && a.mul == b.mul && (!a.mul || a.div == b.div);
}

/* Whether a kernel of this domain stores results of this shape: all of a matrix kernel, of a stage that has no vectors' kernels. */
static bool in_domain(const writer *w, epilogue_shape s)
{
    if (w->stage == 0) return true;
    bool matrix = w->domain.rows && w->domain.mul;
    return matrix ? s.rows && s.mul : same_shape(s, w->domain);
}

/* Results and materialized values of this stage, then partial results for the next one. Sets the grid's tensor if it is a matrix. */
static void emit_stores(writer *w)
{
    epilogue_tree *t = w->tree;
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        if (!n->materialized || epilogue_is_combined(n) || n->stage != w->stage || !in_domain(w, n->shape))
            continue;
        emit_store(w, n, location_of(w, n), CUTE_F32);
    }
    for (int i = 0; i < t->output_count; i++) {
        epilogue_output *o = &t->outputs[i];
        epilogue_node *n = o->node;
        if (n->stage != w->stage || !in_domain(w, n->shape) ||
            (n->materialized && strcmp(location_of(w, n), o->name) == 0))
            continue;
        emit_store(w, n, add_tensor(w, o->name, false, o->dtype, n->shape, o->turned, true), o->dtype);
    }
    if (w->stage > 0 && !(w->domain.rows && w->domain.mul)) return;
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        int64_t tiles;
        if (!epilogue_is_combined(n) || n->stage != w->stage + 1) continue;
        const char *part = emit_tile_reduction(w, n), *name = add_parts(w, n, false, &tiles);
        if (n->axis == 1) part = emit_line(w, "cute.tile.reshape<[1, %s]> %s", rows_text(w), part);
        cute_buffer_printf(&w->body, "    cute.tile.store %s, %%%s[%s%s, %s]\n", part, name, item_of(w, true),
                           n->axis == 1 ? w->at_column : w->at_row, n->axis == 1 ? w->at_row : w->at_column);
    }
}

/* The grid of a tensor's tiles: its indices and the extents of a tile. A matrix of the product's kernel may have clusters. */
static const char *program_text(writer *w, const char *indices, const char *tile, bool matrix,
                                const char *name)
{
    long long cluster = w->stage || !matrix ? 1 : (long long)w->tree->cluster_n;
    return make_text(w, "    %s%s = cute.tile.program<[%s%s]%s> %%%s%s\n", item_of(w, true), indices,
                     w->batch ? "1, " : "", tile,
                     cluster > 1 ? make_text(w, ", [%s1, %lld]", w->batch ? "1, " : "", cluster) : "", name,
                     cluster > 1 ? " {single}" : "");
}

/* The tensor whose tiles are the grid, and the extents of a tile of it: of a matrix that the kernel stores, else partial results. */
static const char *grid_text(writer *w)
{
    static const char usual[] = "%_i, %_j";
    const epilogue_tree *t = w->tree;
    for (int i = 0; i < t->output_count; i++) {
        epilogue_node *n = t->outputs[i].node;
        if (n->stage == w->stage && epilogue_is_matrix(n))
            return program_text(w, usual, tile_text(w, n->shape), true, t->outputs[i].name);
    }
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        if (n->materialized && n->stage == w->stage && epilogue_is_matrix(n) && !epilogue_is_combined(n))
            return program_text(w, usual, tile_text(w, n->shape), true, location_of(w, n));
    }
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        int64_t tiles;
        if (!epilogue_is_combined(n) || n->stage != w->stage + 1) continue;
        const char *name = add_parts(w, n, false, &tiles);
        const char *along = n->axis == 1 ? rows_text(w) : n->axis == 0 ? columns_text(w, n->shape) : "1";
        return program_text(w, n->axis == 1 ? "%_j, %_i" : usual, make_text(w, "1, %s", along), false, name);
    }
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_node *n = t->outputs[i].node;
        if (n->stage == w->stage && (n->shape.rows || n->shape.mul))
            return program_text(w, usual, tile_text(w, n->shape), false, t->outputs[i].name);
    }
    return program_text(w, usual, "1, 1", false, t->outputs[0].name);
}

static void write_product(writer *w)
{
    const epilogue_problem *p = &w->tree->problem;
    bool columns = p->n <= p->tile_n;
    begin_kernel(w, "product", 0);
    epilogue_arg a = {.name = "A", .role = EPILOGUE_FACTOR}, b = {.name = "B", .role = EPILOGUE_FACTOR};
    add_arg(w, &a);
    add_arg(w, &b);
    w->rows = "BM";
    w->columns = "BN";
    w->tile_m = p->tile_m;
    w->tile_n = p->tile_n;
    /* Results of whole rows are right with one tile along them only: a launch with more is refused where the index has no use. */
    w->at_row = "%_i";
    w->at_column = columns ? "%_c0" : "%_j";
    emit_stores(w);
    const char *head =
        make_text(w,
                  "%s    %%_steps = cute.tile.count<%d, ${BK}> %%A\n"
                  "    %%_c0 = arith.constant 0 : i32\n"
                  "    %%_c1 = arith.constant 1 : i32\n"
                  "    %%_zero = arith.constant dense<${Z}> : !_sum\n"
                  "    %%_sum = scf.for %%_k = %%_c0 to %%_steps step %%_c1 iter_args(%%_acc "
                  "= %%_zero) -> (!_sum) : i32 {\n"
                  "      %%_a = cute.tile.load<[${BM}, ${BK}]> %%A[%s%s, %%_k]\n"
                  "      %%_b = cute.tile.load<[${BN}, ${BK}]> %%B[%s%s, %%_k]\n"
                  "      %%_from = cute.tile.where ${PROMOTE}, %%_zero, %%_acc\n"
                  "      %%_d = cute.tile.gemm %%_a, %%_b, %%_from {tf32 = ${TF32}}\n"
                  "      %%_total = cute.tile.add %%_acc, %%_d\n"
                  "      %%_next = cute.tile.where ${PROMOTE}, %%_total, %%_d\n"
                  "      scf.yield %%_next : !_sum\n"
                  "    }\n"
                  "    %%_f = cute.tile.cast<f32> %%_sum\n",
                  grid_text(w), w->batch + 1, item_of(w, true), w->at_row, item_of(w, true), w->at_column);
    end_kernel(
        w,
        make_text(
            w,
            " attributes {cute.schedule = \"${SCHEDULE}\", cute.sizes = \"m=%lld n=%lld k=%lld batch=%lld\"}",
            (long long)p->m, (long long)p->n, (long long)p->k, (long long)p->batch),
        head);
}

/* Adds up partial results in the order of the tiles. */
static void emit_combination(writer *w, epilogue_node *n)
{
    int64_t tiles;
    bool one = n->axis < 0;
    const char *parts = add_parts(w, n, one, &tiles), *kind = kind_text(n->kind);
    int length = one ? ONE_TILE : VECTOR_TILE, id = w->fresh++;
    const char *fill = n->kind == EPILOGUE_MAX ? ", neg_inf" : n->kind == EPILOGUE_MIN ? ", inf" : "";
    cute_buffer_printf(&w->body,
                       "    %%_n%d = cute.tile.count<%d, %d> %%%s\n"
                       "    %%_z%d = arith.constant dense<%s> : tensor<1x%dxf32>\n"
                       "    %%_r%d = scf.for %%_k = %%_c0 to %%_n%d step %%_c1 iter_args(%%_so_far = %%_z%d) "
                       "-> (tensor<1x%dxf32>) : i32 {\n"
                       "      %%_x = cute.tile.load<[1, %d]%s> %%%s[%s%s, %s]\n"
                       "      %%_more = cute.tile.%s %%_so_far, %%_x\n"
                       "      scf.yield %%_more : tensor<1x%dxf32>\n"
                       "    }\n",
                       id, w->batch + one, one ? length : 1, parts, id, identity_text(n->kind), length, id,
                       id, id, length, length, fill, parts, item_of(w, true), one ? "%_c0" : "%_k",
                       one            ? "%_k"
                       : n->axis == 0 ? "%_j"
                                      : "%_i",
                       kind, length);
    const char *value = make_text(w, "%%_r%d", id);
    if (one) value = emit_line(w, "cute.tile.reduce<%s, 1> %s", kind, value);
    if (n->axis == 1) value = emit_line(w, "cute.tile.reshape<[%d, 1]> %s", length, value);
    w->values[n->number] = value;
    w->tiles[n->number] = true;
    emit_store(w, n, location_of(w, n), CUTE_F32);
}

/* The kernel of a stage on vectors of one shape, or on numbers. */
static void write_vectors(writer *w, int stage, epilogue_shape domain)
{
    epilogue_tree *t = w->tree;
    bool any = false;
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        any = any || (n->stage == stage && same_shape(n->shape, domain) && n->materialized);
    }
    for (int i = 0; i < t->output_count; i++)
        any = any || (t->outputs[i].node->stage == stage && same_shape(t->outputs[i].node->shape, domain));
    if (!any) return;
    const char *which = domain.rows ? "rows" : domain.mul ? "columns" : "total";
    begin_kernel(w,
                 make_text(w, domain.div > 1 || domain.mul > 1 ? "epilogue_%s%d_%d_%d" : "epilogue_%s%d",
                           which, stage, domain.mul, domain.div),
                 stage);
    w->domain = domain;
    w->rows = w->columns = make_text(w, "%d", domain.rows || domain.mul ? VECTOR_TILE : 1);
    if (domain.mul) w->columns = make_text(w, "%d*%d/%d", VECTOR_TILE, domain.div, domain.mul);
    w->at_row = "%_i";
    w->at_column = "%_j";
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        if (epilogue_is_combined(n) && n->stage == stage && same_shape(n->shape, domain))
            emit_combination(w, n);
    }
    emit_stores(w);
    const char *grid = NULL;
    for (int i = 0; i < w->kernel->count && !grid; i++) {
        const epilogue_arg *a = &w->kernel->args[i];
        bool fits = a->role == (domain.rows  ? EPILOGUE_ROW_TERM
                                : domain.mul ? EPILOGUE_COL_TERM
                                             : EPILOGUE_ONE);
        for (int k = 0; fits && k < t->count; k++)
            if (t->nodes[k]->op == EPILOGUE_LOAD && strcmp(t->nodes[k]->name, a->name) == 0) fits = false;
        if (fits) grid = a->name;
    }
    end_kernel(w, "",
               make_text(w, "%s    %%_c0 = arith.constant 0 : i32\n    %%_c1 = arith.constant 1 : i32\n",
                         program_text(w, "%_i, %_j",
                                      domain.rows  ? make_text(w, "%d, 1", VECTOR_TILE)
                                      : domain.mul ? make_text(w, "1, %d", VECTOR_TILE)
                                                   : "1, 1",
                                      false, grid ? grid : "D")));
}

/* The kernel of a stage on matrices. */
static void write_matrices(writer *w, int stage, cute_diag *diag)
{
    epilogue_tree *t = w->tree;
    const epilogue_node *why = NULL;
    for (int i = 0; i < t->count && !why; i++) {
        const epilogue_node *n = t->nodes[i];
        bool reduced = t->sums && epilogue_is_combined(n) && n->stage == stage + 1;
        if (reduced || (n->stage == stage && epilogue_is_matrix(n))) why = n;
    }
    if (!why) return;
    begin_kernel(w, make_text(w, "epilogue_matrix%d", stage), stage);
    w->domain = (epilogue_shape){true, 1, 1};
    w->rows = make_text(w, "%d", MATRIX_ROWS);
    w->columns = make_text(w, "%d", MATRIX_COLUMNS);
    w->tile_m = MATRIX_ROWS;
    w->tile_n = MATRIX_COLUMNS;
    w->at_row = "%_i";
    w->at_column = "%_j";
    for (int i = 0; i < t->output_count && !w->extents; i++) {
        const epilogue_node *n = t->outputs[i].node;
        if (n->stage != stage || !epilogue_is_matrix(n)) continue;
        w->extents = t->outputs[i].name;
        w->extents_shape = n->shape;
    }
    for (int i = 0; i < t->count && !w->extents; i++) {
        const epilogue_node *n = t->nodes[i];
        if (!n->materialized || n->stage > stage || !epilogue_is_matrix(n)) continue;
        w->extents = location_of(w, n);
        w->extents_shape = n->shape;
    }
    if (!w->extents && t->sums) {
        w->extents = add_tensor(w, t->sums->name, false, t->sums->dtype, t->sums->shape, false, false);
        w->extents_shape = t->sums->shape;
    }
    emit_stores(w);
    end_kernel(w, "", make_text(w, "%s    %%_c0 = arith.constant 0 : i32\n", grid_text(w)));
    if (t->sums && stage == 1) return;
    cute_place place = epilogue_place(t, why->offset, why->length);
    cute_report(diag, CUTE_REMARK, &place,
                "computed in a second kernel from matrices in temporaries: it needs a reduction of more than "
                "one %s of %lld x %lld",
                t->problem.cluster_most > 1 ? "cluster" : "tile", (long long)t->problem.tile_m,
                (long long)(t->problem.tile_n * t->problem.cluster_most));
}

static void write_stages(writer *w, cute_diag *diag)
{
    epilogue_tree *t = w->tree;
    for (int stage = 1; stage < t->stages; stage++) {
        write_vectors(w, stage, (epilogue_shape){false, 0, 1});
        write_vectors(w, stage, (epilogue_shape){true, 0, 1});
        for (int i = 0; i < t->count; i++) {
            epilogue_shape s = t->nodes[i]->shape;
            bool first = t->nodes[i]->stage == stage && !s.rows && s.mul;
            for (int k = 0; first && k < i; k++)
                first = t->nodes[k]->stage != stage || !same_shape(t->nodes[k]->shape, s);
            if (first) write_vectors(w, stage, s);
        }
        write_matrices(w, stage, diag);
    }
}

/* Types of A (M,K) and B (N,K); where masks are left out, launches are checked for whole tiles. */
static void write_types(writer *w)
{
    const epilogue_problem *p = &w->tree->problem;
    int64_t blocks = w->tree->cluster_n;
    const char *sides[2] = {p->m % p->tile_m == 0 ? "?{div=${BM}}" : NULL,
                            p->n % (p->tile_n * blocks) != 0 ? NULL
                            : blocks > 1 ? make_text(w, "?{div=${%lld*BN}}", (long long)blocks)
                                         : "?{div=${BN}}"};
    bool reduces = false;
    for (int i = 0; i < w->tree->count; i++) reduces = reduces || w->tree->nodes[i]->op == EPILOGUE_REDUCE;
    for (int f = 0; f < 2; f++) {
        const char *name = f ? "B" : "A", *side = reduces ? sides[f] : NULL;
        const char *items = w->batch ? "?," : "", *between = w->batch ? "?{i64 div=${8*ALIGN/BITS}}," : "";
        cute_buffer_printf(
            &w->text,
            "!_%s0 = !cute.memref<${T}, gmem, align<${ALIGN}>, \"(%s%s,?{div=${8*ALIGN/BITS}}):(%s?{i64 "
            "div=${8*ALIGN/BITS}},1)\">\n"
            "!_%s1 = !cute.memref<${T}, gmem, align<${ALIGN}>, \"(%s%s,?):(%s1,?{i64 "
            "div=${8*ALIGN/BITS}})\">\n",
            name, items, side ? side : "?", between, name, items, side ? side : "?{div=${8*ALIGN/BITS}}",
            between);
    }
    cute_buffer_puts(&w->text, "!_A = !_A${A}\n!_B = !_B${B}\n!_sum = tensor<${BM}x${BN}x${ACC}>\n");
}

cute_status epilogue_program_make(epilogue_tree *tree, epilogue_program **out, cute_diag *diag)
{
    writer *w = cute_arena_alloc(tree->arena, sizeof *w);
    *out = cute_arena_alloc(tree->arena, sizeof **out);
    if (!w || !*out) return cute_fail_memory(diag);
    w->tree = tree;
    w->program = *out;
    w->batch = tree->problem.batch > 1;
    cute_buffer_puts(&w->text, "// The epilogue of a product:");
    for (size_t i = 0, line = 1; i < tree->length; i++) {
        if (line) cute_buffer_puts(&w->text, i ? "\n//  " : " ");
        line = tree->text[i] == '\n';
        if (!line && (unsigned char)tree->text[i] >= 32) cute_buffer_putc(&w->text, tree->text[i]);
    }
    cute_buffer_putc(&w->text, '\n');
    if (!tree->sums) write_types(w);
    cute_buffer_puts(&w->text, "gpu.module @kernels {\n");
    if (!tree->sums) write_product(w);
    write_stages(w, diag);
    cute_buffer_puts(&w->text, "}\n");
    if (cute_buffer_ok(&w->text))
        (*out)->text = cute_arena_copy(tree->arena, cute_buffer_text(&w->text), w->text.length);
    bool good = (*out)->text && !w->failed;
    cute_buffer_release(&w->text);
    cute_buffer_release(&w->body);
    return good ? CUTE_OK
                : cute_fail(diag, CUTE_INVALID, NULL,
                            "expected an epilogue of at most %d kernels of %d arguments each, got more",
                            EPILOGUE_KERNELS, EPILOGUE_ARGS);
}
