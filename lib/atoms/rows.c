/* The rows of atoms.def: lookup by the fields of a type's text, and conversion to atoms. */
#include <inttypes.h>
#include <string.h>

#include "lib/atoms/parts.h"
#include "lib/atoms/tma.h"
#include "lib/base/buffer.h"
#include "lib/layout/pointer.h"

typedef struct mma_row {
    const char *name, *mnemonic;
    int arch, isa, shape[3];
    const char *types[3];
    cute_mma_op op;
    const char *layouts[3], *ptx;
} mma_row;

typedef struct copy_row {
    const char *name, *mnemonic;
    int arch, isa, threads, bits, matrices;
    const char *word;
    cute_space from, to;
    const char *source, *target;
    int named_by;
    const char *ptx;
} copy_row;

static const mma_row mmas[] = {
#define CUTE_MMA(name, mnemonic, arch, isa, m, n, k, a, b, c, op, layout_a, layout_b, layout_c, ptx)         \
    {#name, mnemonic, arch, isa, {m, n, k}, {a, b, c}, op, {layout_a, layout_b, layout_c}, ptx},
#include "lib/atoms/atoms.def"
};
enum { MMAS = sizeof mmas / sizeof *mmas };

static const copy_row copies[] = {
#define CUTE_COPY(name, mnemonic, arch, isa, threads, bits, matrices, word, from, to, source, target,        \
                  named_by, ptx)                                                                             \
    {#name, mnemonic, arch, isa, threads, bits, matrices, word, from, to, source, target, named_by, ptx},
#include "lib/atoms/atoms.def"
};
enum { COPIES = sizeof copies / sizeof *copies };

static const atom_family families[] = {
#define CUTE_ATOM_FAMILY(mnemonic, kind, format) {mnemonic, kind, format},
#include "lib/atoms/atoms.def"
};
enum { FAMILIES = sizeof families / sizeof *families };

/* ---- element types ---- */

typedef struct element {
    const char *type, *ptx;
    char constraint;
} element;

static const element elements[] = {
#define CUTE_ELEMENT(spelling, ptx, constraint) {spelling, ptx, constraint},
#include "lib/atoms/atoms.def"
};
enum { ELEMENTS = sizeof elements / sizeof *elements };

static const element *find_element(const char *type)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        if (!strcmp(elements[i].type, type)) return &elements[i];
    return NULL;
}

const char *atom_ptx_type(const char *type)
{
    const element *e = find_element(type);
    return e ? e->ptx : NULL;
}

/* ---- families ---- */

const atom_family *atom_family_find(const char *mnemonic, size_t length)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (!strncmp(families[i].mnemonic, mnemonic, length) && !families[i].mnemonic[length])
            return &families[i];
    return NULL;
}

const atom_family *atom_family_at(size_t index)
{
    return index < FAMILIES ? &families[index] : NULL;
}

/* ---- rows by their fields ---- */

static const char *const op_words[] = {NULL, "xor", "and"};

const char *atom_op_word(cute_mma_op op)
{
    return op_words[op];
}

static bool same_word(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool type_is(const char *row, const char *type)
{
    const char *ptx = type ? atom_ptx_type(type) : NULL;
    return ptx && (!strcmp(row, "*") || !strcmp(row, ptx));
}

/* The number of fields that agree with the row; `most` is that of an exact match. */
static int mma_likeness(const mma_row *r, const atom_fields *f, int *most)
{
    int likeness = same_word(op_words[r->op], f->op) ? 1 : 0;
    *most = 1;
    for (int i = 0; i < 3; i++) {
        likeness += (r->shape[i] == f->shape[i] ? 2 : 0) + (type_is(r->types[i], f->type[i]) ? 3 : 0);
        *most += 5;
    }
    return likeness;
}

static int copy_likeness(const copy_row *r, const atom_fields *f, int *most)
{
    const char *word = f->order ? f->order : f->cache;
    *most = 4;
    return (r->matrices == f->matrices ? 1 : 0) + (same_word(r->word, word) ? 1 : 0) +
           (!r->bits || !f->bits || r->bits == f->bits ? 2 : 0);
}

static const char *row_mnemonic(size_t index)
{
    return index < MMAS            ? mmas[index].mnemonic
           : index < MMAS + COPIES ? copies[index - MMAS].mnemonic
                                   : "sm90.mma";
}

const char *atom_row_name(cute_arena *arena, size_t index)
{
    if (index < MMAS) return mmas[index].name;
    if (index < MMAS + COPIES) return copies[index - MMAS].name;
    atom_fields fields;
    atom_wgmma_fields(index - MMAS - COPIES, &fields);
    return atom_wgmma_name(arena, &fields);
}

size_t cute_atom_count(void)
{
    return MMAS + COPIES + atom_wgmma_count();
}

static int row_likeness(size_t index, const atom_fields *f, int *most)
{
    return index < MMAS ? mma_likeness(&mmas[index], f, most) : copy_likeness(&copies[index - MMAS], f, most);
}

/* MLIR's name of a PTX type: that of its first row. */
const char *atom_mlir_type(const char *ptx)
{
    for (size_t i = 0; i < ELEMENTS; i++)
        if (!strcmp(elements[i].ptx, ptx)) return elements[i].type;
    return "f32";
}

const atom_family *atom_row_fields(size_t index, const char *type, atom_fields *out)
{
    *out = (atom_fields){0};
    if (index < MMAS) {
        const mma_row *r = &mmas[index];
        for (int i = 0; i < 3; i++) {
            out->shape[i] = r->shape[i];
            out->type[i] = !strcmp(r->types[i], "*") ? (type ? type : "f32") : atom_mlir_type(r->types[i]);
        }
        out->op = op_words[r->op];
    } else if (index >= MMAS + COPIES) {
        atom_wgmma_fields(index - MMAS - COPIES, out);
    } else {
        const copy_row *r = &copies[index - MMAS];
        out->matrices = r->matrices;
        if (r->matrices)
            out->order = r->word;
        else
            out->cache = r->word, out->bits = r->bits;
        out->type[0] = type ? type : r->matrices ? "f16" : "f32";
    }
    const char *mnemonic = row_mnemonic(index);
    return atom_family_find(mnemonic, strlen(mnemonic));
}

static cute_status refuse_unknown_row(cute_arena *arena, const atom_family *family, const atom_fields *f,
                                      cute_diag *diag)
{
    enum { NEAREST = 3 };
    size_t best[NEAREST], count = 0;
    int marks[NEAREST], most;
    for (size_t i = 0; i < MMAS + COPIES; i++) {
        if (strcmp(row_mnemonic(i), family->mnemonic) != 0) continue;
        int mark = row_likeness(i, f, &most);
        size_t at = count < NEAREST ? count++ : NEAREST;
        for (; at > 0 && marks[at - 1] < mark; at--)
            if (at < NEAREST) best[at] = best[at - 1], marks[at] = marks[at - 1];
        if (at < NEAREST) best[at] = i, marks[at] = mark;
    }
    cute_buffer names = {0};
    for (size_t i = 0; i < count; i++) {
        atom_fields near;
        atom_row_fields(best[i], family->kind == CUTE_ATOM_COPY ? f->type[0] : NULL, &near);
        const char *text = atom_print(arena, family, &near);
        cute_buffer_printf(&names, "%s'%s'", i == 0 ? "" : i + 1 == count ? " and " : ", ", text ? text : "");
    }
    const char *text = atom_print(arena, family, f);
    cute_status status = cute_fail(diag, CUTE_INVALID, NULL, "unknown instruction '%s'; nearest: %s",
                                   text ? text : family->mnemonic, cute_buffer_text(&names));
    cute_buffer_release(&names);
    return status;
}

/* ---- rows to atoms ---- */

static cute_status parse_layout(cute_arena *arena, const char *text, cute_layout *out, cute_diag *diag)
{
    cute_value value;
    CUTE_TRY(cute_value_parse(arena, CUTE_LAYOUT, text, strlen(text), &value, NULL, diag));
    *out = value.layout;
    return CUTE_OK;
}

static int64_t size_of_shape(const cute_tree *shape)
{
    int64_t size = 1;
    if (shape->kind == CUTE_TREE_INT) return shape->value.value;
    for (uint32_t i = 0; i < shape->count; i++) size *= size_of_shape(shape->items[i]);
    return size;
}

cute_status atom_set_threads(cute_arena *arena, int threads, cute_atom *out, cute_diag *diag)
{
    const char *text = cute_arena_printf(arena, "%d:%d", threads, threads == 1 ? 0 : 1);
    return text ? parse_layout(arena, text, &out->threads, diag) : cute_fail_memory(diag);
}

static void set_registers(cute_atom_operand *o, int bits)
{
    o->register_bits = o->bits == 64 ? 64 : bits < 32 ? bits : 32;
    o->registers = bits / o->register_bits;
    if (o->register_bits == 16) o->constraint = 'h';
}

cute_status atom_set_operand(cute_arena *arena, cute_atom *atom, int which, const char *type,
                             const char *layout, cute_diag *diag)
{
    cute_atom_operand *o = &atom->operand[which];
    const element *e = find_element(type);
    o->type = e->type;
    o->ptx = e->ptx;
    alg_element_bits(type, strlen(type), &o->bits);
    o->constraint = e->constraint;
    CUTE_TRY(parse_layout(arena, layout, &o->layout, diag));
    o->values = size_of_shape(o->layout.shape->items[1]);
    set_registers(o, (int)o->values * o->bits);
    return CUTE_OK;
}

static cute_status make_mma(cute_arena *arena, const mma_row *r, const atom_fields *f, cute_atom *out,
                            cute_diag *diag)
{
    for (int i = 0; i < 3; i++) {
        out->shape[i] = r->shape[i];
        CUTE_TRY(atom_set_operand(arena, out, i, f->type[i], r->layouts[i], diag));
    }
    out->op = r->op;
    out->name = r->name;
    out->arch = r->arch;
    out->isa = r->isa;
    out->ptx = r->ptx;
    if (f->satfinite) {
        const char *shape = r->ptx ? strstr(r->ptx, ".col.") : NULL;
        if (!shape || r->op != CUTE_MMA_MUL_ADD || strcmp(out->operand[CUTE_ATOM_C].ptx, "s32") != 0)
            return cute_fail(diag, CUTE_INVALID, NULL, "only integer products saturate, not products of %s",
                             f->type[0]);
        int before = (int)(shape - r->ptx) + 4;
        out->satfinite = true;
        out->name = cute_arena_printf(arena, "%s_SATURATE", r->name);
        out->ptx = cute_arena_printf(arena, "%.*s.satfinite%s", before, r->ptx, r->ptx + before);
        if (!out->name || !out->ptx) return cute_fail_memory(diag);
    }
    int64_t threads = size_of_shape(out->operand[0].layout.shape->items[0]);
    return atom_set_threads(arena, (int)threads, out, diag);
}

/* Converts a layout of bits to a layout of values: recast_layout<bits,1>. */
static cute_status recast_bits_to_values(cute_arena *arena, int bits, cute_layout *layout, cute_diag *diag)
{
    int64_t values[] = {bits, 1};
    cute_attributes attributes = {values, 2};
    cute_value from = cute_value_of_layout(*layout), to;
    CUTE_TRY(cute_apply(arena, NULL, CUTE_OP_RECAST_LAYOUT, &from, 1, &attributes, &to, diag));
    *layout = to.layout;
    return CUTE_OK;
}

static cute_status check_bits(const copy_row *r, const char *type, int64_t element_bits, int64_t bits,
                              cute_diag *diag)
{
    enum { MOST_BITS = 256 };
    if (bits < element_bits || bits % element_bits)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "%" PRId64 " bits are not a multiple of %s, which has %" PRId64 " bits", bits, type,
                         element_bits);
    if (!r->bits && bits != element_bits && (bits > MOST_BITS || bits & (bits - 1)))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "expected a copy of 8, 16, 32, 64, 128 or 256 bits, got %" PRId64, bits);
    if (r->matrices && (element_bits > 32 || (element_bits > 16 && !strcmp(r->word, "t"))))
        return cute_fail(diag, CUTE_INVALID, NULL, "%s moves elements of at most %d bits, not %s", r->ptx,
                         !strcmp(r->word, "t") ? 16 : 32, type);
    return CUTE_OK;
}

static cute_status make_copy(cute_arena *arena, const copy_row *r, const atom_fields *f, cute_atom *out,
                             cute_diag *diag)
{
    const element *e = find_element(f->type[0]);
    int element_bits = 0;
    alg_element_bits(f->type[0], strlen(f->type[0]), &element_bits);
    int64_t bits = r->bits ? r->bits : f->bits ? f->bits : element_bits;
    if (!element_bits)
        return cute_fail(diag, CUTE_INVALID, NULL, "elements of type '%s' have an unknown size", f->type[0]);
    CUTE_TRY(check_bits(r, f->type[0], element_bits, bits, diag));
    if (f->l2_prefetch && f->l2_prefetch != 64 && f->l2_prefetch != 128 && f->l2_prefetch != 256)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "%s prefetches 64, 128 or 256 bytes into the L2, not %" PRId64, r->ptx,
                         f->l2_prefetch);
    const char *plain = cute_arena_printf(arena, "(1,%" PRId64 "):(0,1)", bits);
    if (!plain) return cute_fail_memory(diag);
    const char *texts[2] = {r->source ? r->source : plain, r->target ? r->target : plain};
    for (int i = 0; i < 2; i++) {
        cute_atom_operand *o = &out->operand[i];
        *o = (cute_atom_operand){
            .type = f->type[0], .ptx = e ? e->ptx : NULL, .bits = element_bits, .constraint = 'r'};
        CUTE_TRY(parse_layout(arena, texts[i], &o->layout, diag));
        CUTE_TRY(recast_bits_to_values(arena, element_bits, &o->layout, diag));
        o->values = size_of_shape(o->layout.shape->items[1]);
        set_registers(o, (int)bits);
    }
    out->operand[CUTE_ATOM_REFERENCE] = out->operand[r->named_by];
    out->bits = (int)bits;
    out->matrices = r->matrices;
    out->transposed = f->order && !strcmp(f->order, "t");
    out->cache = f->cache;
    out->eviction = f->eviction;
    out->l2_eviction = f->l2_eviction;
    out->l2_prefetch = (int)f->l2_prefetch;
    out->from = r->from;
    out->to = r->to;
    out->name = r->name;
    out->arch = r->arch;
    out->isa = r->isa;
    out->ptx = r->ptx;
    return atom_set_threads(arena, r->threads, out, diag);
}

cute_status atom_make(cute_arena *arena, const atom_family *family, atom_fields *f, cute_atom *out,
                      cute_diag *diag)
{
    if (!strcmp(family->mnemonic, "atom.bulk_copy")) return cute_bulk_of_fields(arena, f, &out->bulk, diag);
    if (strstr(family->mnemonic, "tma_")) return cute_tma_of_fields(arena, family, f, &out->tma, diag);
    if (!strcmp(family->mnemonic, "sm90.mma")) return atom_make_wgmma(arena, f, out, diag);
    for (size_t i = 0; i < MMAS + COPIES; i++) {
        int most, like = strcmp(row_mnemonic(i), family->mnemonic) ? -1 : row_likeness(i, f, &most);
        if (like < 0 || like < most) continue;
        out->known = true;
        return i < MMAS ? make_mma(arena, &mmas[i], f, out, diag)
                        : make_copy(arena, &copies[i - MMAS], f, out, diag);
    }
    return refuse_unknown_row(arena, family, f, diag);
}
