/* Atoms and tilings as text, JSON and pictures; picture.c draws the individual thread-value layouts. */
#include "lib/calculator/atoms.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/text/json.h"
#include "lib/layout/algebra.h"

/* ---- operands ---- */

typedef struct operand_face {
    const char *name;  /* "A" */
    const char *modes; /* "(M,K)" */
    int rows, columns; /* -1 - i: mode i of the shape */
} operand_face;

static const operand_face mma_faces[] = {
    {"A", "(M,K)", -1, -3}, {"B", "(N,K)", -2, -3}, {"C", "(M,N)", -1, -2}};
static const operand_face copy_faces[] = {{"source", "(row,element)", 0, 0},
                                          {"destination", "(row,element)", 0, 0}};
static const operand_face tiled_faces[] = {{"source", "(M,N)", 0, 0}, {"destination", "(M,N)", 0, 0}};

size_t cute_atom_pictures(const cute_atom *atom)
{
    return !atom->known ? 0 : atom->kind == CUTE_ATOM_MMA ? 3 : 2;
}

static const operand_face *operand_face_of(const cute_atom *atom, size_t operand)
{
    return atom->kind == CUTE_ATOM_MMA ? &mma_faces[operand] : &copy_faces[operand];
}

/* The extents of a picture: rows of 8 elements for the matrices of ldmatrix, otherwise one row. */
static void picture_extents(const cute_atom *atom, size_t operand, int64_t *rows, int64_t *columns)
{
    const operand_face *f = operand_face_of(atom, operand);
    if (atom->kind == CUTE_ATOM_MMA) {
        *rows = atom->shape[-1 - f->rows];
        *columns = atom->shape[-1 - f->columns];
        return;
    }
    int64_t bits = atom->operand[operand].bits;
    *columns = atom->matrices ? 128 / bits : atom->operand[operand].values;
    *rows = atom->matrices ? 8 * atom->matrices : 1;
}

/* ---- text and JSON ---- */

static const char *arch_text(cute_arena *arena, const cute_atom *atom)
{
    return atom->arch ? cute_arena_printf(arena, "sm_%d%s", atom->arch, atom->wgmma ? "a" : "") : "any";
}

void cute_atoms_list(cute_arena *arena, cute_buffer *out)
{
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, NULL);
        const char *arch = atom ? arch_text(arena, atom) : NULL;
        if (!arch) {
            out->failed = true;
            return;
        }
        cute_buffer_printf(out, "%-37s %-6s %s\n", atom->name, arch, atom->text);
    }
}

json_t *cute_atoms_list_json(cute_arena *arena)
{
    json_t *list = json_array();
    for (size_t i = 0; i < cute_atom_count(); i++) {
        const cute_atom *atom = cute_atom_at(arena, i, NULL);
        json_array_append_new(list, atom ? cute_atom_json(arena, atom) : NULL);
    }
    return list;
}

static void describe_operand(cute_arena *arena, const cute_atom *atom, size_t i, cute_buffer *out)
{
    const cute_atom_operand *o = &atom->operand[i];
    const operand_face *f = operand_face_of(atom, i);
    const char *layout = cute_layout_text(arena, o->layout);
    const char *type =
        cute_arena_printf(arena, "%s %s", o->type, atom->kind == CUTE_ATOM_MMA ? f->modes : "");
    if (!layout || !type) {
        out->failed = true;
        return;
    }
    cute_buffer_printf(out, "%-12s %-15s %s", f->name, type, layout);
    bool held = (atom->kind == CUTE_ATOM_MMA && !o->described) ||
                (atom->matrices && (i == CUTE_ATOM_SOURCE) == (atom->from == CUTE_SPACE_RMEM));
    if (held)
        cute_buffer_printf(out, ", %d register%s of %d bits", o->registers, o->registers == 1 ? "" : "s",
                           o->register_bits);
    if (o->described) cute_buffer_puts(out, ", in smem by a matrix descriptor");
    cute_buffer_putc(out, '\n');
}

void cute_atom_describe(cute_arena *arena, const cute_atom *atom, cute_buffer *out)
{
    if (!atom->known) {
        cute_buffer_printf(out, "%s\nits layouts are not known\n", atom->text);
        return;
    }
    const char *arch = arch_text(arena, atom), *threads = cute_layout_text(arena, atom->threads);
    if (!arch || !threads) {
        out->failed = true;
        return;
    }
    cute_buffer_printf(out, "%s\n", atom->name);
    cute_buffer_printf(out, "%-12s %s\n", "type", atom->text);
    if (atom->ptx) cute_buffer_printf(out, "%-12s %s\n", "PTX", atom->ptx);
    cute_buffer_printf(out, "%-12s %s, PTX ISA %d.%d\n", "since", arch, atom->isa / 10, atom->isa % 10);
    if (atom->kind == CUTE_ATOM_COPY && (atom->from != CUTE_SPACE_GENERIC || atom->to != CUTE_SPACE_GENERIC))
        cute_buffer_printf(out, "%-12s %s to %s\n", "copies", cute_space_name(atom->from),
                           cute_space_name(atom->to));
    cute_buffer_printf(out, "%-12s %s\n", "threads", threads);
    for (size_t i = 0; i < cute_atom_pictures(atom); i++) describe_operand(arena, atom, i, out);
}

static json_t *operand_json(cute_arena *arena, const cute_atom *atom, size_t i)
{
    const cute_atom_operand *o = &atom->operand[i];
    json_t *j = json_object();
    json_object_set_new(j, "name", json_string(operand_face_of(atom, i)->name));
    json_object_set_new(j, "type", cute_json_text(o->type));
    json_object_set_new(j, "bits", json_integer(o->bits));
    json_object_set_new(j, "layout", cute_json_text(cute_layout_text(arena, o->layout)));
    json_object_set_new(j, "values", json_integer(o->values));
    json_object_set_new(j, "registers", json_integer(o->registers));
    json_object_set_new(j, "register_bits", json_integer(o->register_bits));
    return j;
}

json_t *cute_atom_json(cute_arena *arena, const cute_atom *atom)
{
    json_t *j = json_object(), *operands = json_array();
    json_object_set_new(j, "name", atom->name ? cute_json_text(atom->name) : json_null());
    json_object_set_new(j, "type", cute_json_text(atom->text));
    json_object_set_new(j, "kind", json_string(atom->kind == CUTE_ATOM_MMA ? "mma" : "copy"));
    json_object_set_new(j, "arch", atom->arch ? json_integer(atom->arch) : json_null());
    json_object_set_new(j, "ptx_isa", atom->isa ? json_integer(atom->isa) : json_null());
    json_object_set_new(j, "ptx", atom->ptx ? cute_json_text(atom->ptx) : json_null());
    json_object_set_new(j, "threads",
                        atom->known ? cute_json_text(cute_layout_text(arena, atom->threads)) : json_null());
    for (size_t i = 0; i < cute_atom_pictures(atom); i++)
        json_array_append_new(operands, operand_json(arena, atom, i));
    json_object_set_new(j, "operands", operands);
    return j;
}

/* ---- pictures ---- */

static cute_status parse_tile(cute_arena *arena, int64_t rows, int64_t columns, const cute_tree **out,
                              cute_diag *diag)
{
    const char *text = cute_arena_printf(arena, "(%" PRId64 ",%" PRId64 ")", rows, columns);
    cute_value shape;
    if (!text) return cute_fail_memory(diag);
    CUTE_TRY(cute_value_parse(arena, CUTE_SHAPE, text, strlen(text), &shape, NULL, diag));
    *out = shape.tree;
    return CUTE_OK;
}

/* Swaps rows and columns. */
static cute_status transpose_picture(cute_arena *arena, cute_picture *p, cute_diag *diag)
{
    cute_cell *cells = cute_arena_array(arena, p->rows * p->columns, sizeof *cells);
    if (!cells) return cute_fail_memory(diag);
    for (size_t row = 0; row < p->rows; row++)
        for (size_t column = 0; column < p->columns; column++)
            cells[column * p->rows + row] = p->cells[row * p->columns + column];
    size_t rows = p->rows;
    p->rows = p->columns;
    p->columns = rows;
    p->cells = cells;
    return CUTE_OK;
}

/* The tiling of an operand. */
static cute_status tiling_of(cute_arena *arena, const cute_value *value, size_t operand, cute_tiling *out,
                             cute_diag *diag)
{
    const cute_atom *atom = value->atom;
    if (value->type != CUTE_ATOM) {
        if (atom->known) CUTE_TRY(cute_tiling_operand(arena, value, (int)operand, out, diag));
        if (atom->known && out->layout.shape) return CUTE_OK;
    } else if (atom->known) {
        out->layout = atom->operand[operand].layout;
        picture_extents(atom, operand, &out->rows, &out->columns);
        return CUTE_OK;
    }
    return cute_fail(diag, CUTE_INVALID, NULL, "the layouts of '%s' are not known", atom->mnemonic);
}

cute_status cute_atom_picture(cute_arena *arena, const cute_value *value, size_t operand,
                              const cute_picture_options *options, cute_picture *out, cute_diag *diag)
{
    const cute_atom *atom = value->atom;
    bool rows_of_copy = value->type == CUTE_ATOM && atom->kind == CUTE_ATOM_COPY;
    cute_tiling tiling;
    CUTE_TRY(tiling_of(arena, value, operand, &tiling, diag));
    cute_picture_options tiled = *options;
    if (!tiled.element_bits) tiled.element_bits = atom->operand[operand].bits;
    CUTE_TRY(rows_of_copy ? parse_tile(arena, tiling.columns, tiling.rows, &tiled.tile, diag)
                          : parse_tile(arena, tiling.rows, tiling.columns, &tiled.tile, diag));
    cute_value layout = cute_value_of_layout(tiling.layout);
    CUTE_TRY(cute_picture_create(arena, &layout, &tiled, out, diag));
    if (rows_of_copy) CUTE_TRY(transpose_picture(arena, out, diag));
    const operand_face *f =
        value->type == CUTE_TILED_COPY ? &tiled_faces[operand] : operand_face_of(atom, operand);
    out->title = cute_arena_printf(arena, "%s %s %s", f->name, f->modes, out->title);
    return out->title ? CUTE_OK : cute_fail_memory(diag);
}

/* Copies a picture into another one, with its row and column numbers. */
static bool paste_picture(cute_arena *arena, cute_picture *into, const cute_picture *p, size_t row,
                          size_t column)
{
    for (size_t i = 0; i < p->rows; i++)
        memcpy(&into->cells[(row + i) * into->columns + column], &p->cells[i * p->columns],
               p->columns * sizeof *p->cells);
    for (size_t i = 0; i < p->rows; i++)
        if (!(into->row_names[row + i] = cute_arena_printf(arena, "%zu", i))) return false;
    for (size_t i = 0; i < p->columns; i++)
        if (!(into->column_names[column + i] = cute_arena_printf(arena, "%zu", i))) return false;
    into->hidden += p->hidden;
    return true;
}

/* True if two operands differ only in their names. */
static bool same_picture(const cute_picture *a, const cute_picture *b)
{
    const char *x = strchr(a->title, ' '), *y = strchr(b->title, ' ');
    return x && y && !strcmp(x, y) && a->rows == b->rows && a->columns == b->columns;
}

cute_status cute_atom_all_pictures(cute_arena *arena, const cute_value *value,
                                   const cute_picture_options *options, cute_picture out[3], size_t *count,
                                   cute_diag *diag)
{
    *count = cute_atom_pictures(value->atom);
    if (!*count)
        return cute_fail(diag, CUTE_INVALID, NULL, "the layouts of '%s' are not known",
                         value->atom->mnemonic);
    for (size_t i = 0; i < *count; i++) CUTE_TRY(cute_atom_picture(arena, value, i, options, &out[i], diag));
    if (value->type != CUTE_TILED_COPY || !same_picture(&out[0], &out[1])) return CUTE_OK;
    *count = 1;
    out->title = cute_arena_printf(arena, "source and destination%s", strchr(out->title, ' '));
    return out->title ? CUTE_OK : cute_fail_memory(diag);
}

/* "SM80_16x8x8_F16F16F16F16_TN"; for a tiled MMA with the layout of its atoms. */
static const char *title_of(cute_arena *arena, const cute_value *value)
{
    if (value->type != CUTE_TILED_MMA) return value->atom->name;
    const char *layout = cute_layout_text(arena, value->layout);
    return layout ? cute_arena_printf(arena, "%s, atoms %s", value->atom->name, layout) : NULL;
}

cute_status cute_atom_whole_picture(cute_arena *arena, const cute_value *value,
                                    const cute_picture_options *options, cute_picture *out, cute_diag *diag)
{
    cute_picture parts[3];
    size_t count;
    bool mma = value->atom->kind == CUTE_ATOM_MMA;
    CUTE_TRY(cute_atom_all_pictures(arena, value, options, parts, &count, diag));
    const char *name = title_of(arena, value);
    if (!name) return cute_fail_memory(diag);
    if (count == 1) {
        *out = parts[0];
        out->title = cute_arena_printf(arena, "%s: %s", name, out->title);
        return out->title ? CUTE_OK : cute_fail_memory(diag);
    }
    if (mma) CUTE_TRY(transpose_picture(arena, &parts[CUTE_ATOM_B], diag));
    const cute_picture *left = &parts[0], *right = mma ? &parts[CUTE_ATOM_C] : &parts[1];
    size_t above = mma ? parts[CUTE_ATOM_B].rows + 1 : 0;
    *out = (cute_picture){
        .title = cute_arena_printf(
            arena, mma ? "%s: A (M,K) beside C (M,N), B (K,N) above" : "%s: source, destination", name),
        .rows = above + (left->rows > right->rows ? left->rows : right->rows),
        .columns = left->columns + 1 + right->columns,
        .sheets = 1,
        .palette = left->palette};
    if (out->rows * out->columns > options->most_cells || out->rows > options->most_side ||
        out->columns > options->most_side)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "a picture of all operands has %zu rows and %zu columns, which is too large; "
                         "--operand selects one",
                         out->rows, out->columns);
    out->cells = cute_arena_array(arena, out->rows * out->columns, sizeof *out->cells);
    out->row_names = cute_arena_array(arena, out->rows, sizeof *out->row_names);
    out->column_names = cute_arena_array(arena, out->columns, sizeof *out->column_names);
    if (!out->title || !out->cells || !out->row_names || !out->column_names) return cute_fail_memory(diag);
    for (size_t i = 0; i < out->rows * out->columns; i++) out->cells[i].colour = CUTE_CELL_ABSENT;
    bool ok = paste_picture(arena, out, left, above, 0) &&
              paste_picture(arena, out, right, above, left->columns + 1);
    if (ok && mma) ok = paste_picture(arena, out, &parts[CUTE_ATOM_B], 0, left->columns + 1);
    return ok ? CUTE_OK : cute_fail_memory(diag);
}
