/* wgmma.mma_async: one row of atoms.def covers all N and both locations of A; names, layouts and PTX are
 * derived. Layouts are those of MMA_Traits in CuTe C++ (CLayout_64xN, ALayout_64xK, ABLayout). */
#include <inttypes.h>
#include <string.h>

#include "lib/atoms/parts.h"
#include "lib/base/buffer.h"
#include "lib/base/text/chars.h"

enum { WG_M = 64, MOST_N = 256, THREADS = 128, WORD_BITS = 32 };

typedef struct wgmma_row {
    int arch, isa, k, step;
    bool majors;
    const char *type[3];
    cute_mma_op op;
} wgmma_row;

static const wgmma_row rows[] = {
#define CUTE_WGMMA(arch, isa, k, step, majors, a, b, c, op) {arch, isa, k, step, majors, {a, b, c}, op},
#include "lib/atoms/atoms.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

static const char *const places[] = {"ss", "rs"};
enum { PLACES = sizeof places / sizeof *places };

size_t atom_wgmma_count(void)
{
    return ROWS * PLACES;
}

static void fields_of(const wgmma_row *r, int n, const char *place, atom_fields *out)
{
    *out = (atom_fields){
        .shape = {WG_M, n, r->k}, .op = atom_op_word(r->op), .major = {"k", "k"}, .frag = place};
    for (int i = 0; i < 3; i++) out->type[i] = atom_mlir_type(r->type[i]);
}

void atom_wgmma_fields(size_t index, atom_fields *out)
{
    fields_of(&rows[index / PLACES], 128, places[index % PLACES], out);
}

/* ---- names ---- */

/* CuTe C++'s name of a PTX type: "F16", "U1". */
static void put_type(cute_buffer *out, const char *type)
{
    const char *ptx = atom_ptx_type(type);
    if (ptx && !strcmp(ptx, "b1")) ptx = "u1";
    for (; ptx && *ptx; ptx++)
        cute_buffer_putc(out, *ptx >= 'a' && *ptx <= 'z' ? (char)(*ptx - 'a' + 'A') : *ptx);
}

static const wgmma_row *row_of_types(const atom_fields *f)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool same = true;
        for (int j = 0; j < 3; j++) {
            const char *ptx = f->type[j] ? atom_ptx_type(f->type[j]) : NULL;
            same = same && ptx && !strcmp(ptx, rows[i].type[j]);
        }
        if (same) return &rows[i];
    }
    return NULL;
}

const char *atom_wgmma_name(cute_arena *arena, const atom_fields *f)
{
    const wgmma_row *r = row_of_types(f);
    cute_buffer name = {0};
    cute_buffer_printf(&name, "SM90_%" PRId64 "x%" PRId64 "x%" PRId64 "_", f->shape[0], f->shape[1],
                       f->shape[2]);
    put_type(&name, f->type[2]);
    put_type(&name, f->type[0]);
    put_type(&name, f->type[1]);
    cute_buffer_puts(&name, f->frag && !strcmp(f->frag, "rs") ? "_RS" : "_SS");
    if (r && !r->majors) cute_buffer_puts(&name, "_TN");
    if (r && r->op == CUTE_MMA_AND_POPC) cute_buffer_puts(&name, "_ANDPOPC");
    if (f->satfinite) cute_buffer_puts(&name, "_SATURATE");
    const char *text =
        cute_buffer_ok(&name) ? cute_arena_copy(arena, cute_buffer_text(&name), name.length) : NULL;
    cute_buffer_release(&name);
    return text;
}

static bool is_valid_n(const wgmma_row *r, int64_t n)
{
    return n >= 8 && n <= MOST_N && n % (n > 32 ? r->step : 8) == 0;
}

bool atom_wgmma_named(cute_arena *arena, const char *name, atom_fields *out)
{
    static const char prefix[] = "SM90_64x", saturates[] = "_SATURATE";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return false;
    int n = 0;
    for (const char *at = name + sizeof prefix - 1; cute_is_digit(*at) && n <= MOST_N; at++)
        n = 10 * n + (*at - '0');
    size_t length = strlen(name), tail = sizeof saturates - 1;
    bool satfinite = length > tail && !strcmp(name + length - tail, saturates);
    for (size_t i = 0; i < ROWS * PLACES; i++) {
        const wgmma_row *r = &rows[i / PLACES];
        if (!is_valid_n(r, n)) continue;
        fields_of(r, n, places[i % PLACES], out);
        if (satfinite && !strcmp(r->type[2], "s32") && r->op == CUTE_MMA_MUL_ADD)
            out->satfinite = "satfinite";
        const char *own = atom_wgmma_name(arena, out);
        if (own && !strcmp(own, name)) return true;
    }
    return false;
}

/* ---- unsupported instructions ---- */

static cute_status refuse_types(const atom_fields *f, cute_diag *diag)
{
    cute_buffer all = {0};
    for (size_t i = 0; i < ROWS; i++)
        cute_buffer_printf(&all, "%s(%s, %s, %s)", i ? ", " : "", atom_mlir_type(rows[i].type[0]),
                           atom_mlir_type(rows[i].type[1]), atom_mlir_type(rows[i].type[2]));
    cute_status status =
        cute_fail(diag, CUTE_INVALID, NULL, "wgmma does not support elements (%s, %s, %s); it supports %s",
                  f->type[0], f->type[1], f->type[2], cute_buffer_text(&all));
    cute_buffer_release(&all);
    return status;
}

static cute_status check_row(const wgmma_row *r, const atom_fields *f, cute_diag *diag)
{
    const char *a = f->type[0];
    if (f->shape[0] != WG_M)
        return cute_fail(diag, CUTE_INVALID, NULL, "wgmma has M = 64, not %" PRId64, f->shape[0]);
    if (f->shape[2] != r->k)
        return cute_fail(diag, CUTE_INVALID, NULL, "wgmma of %s has K = %d, 32 bytes, not %" PRId64, a, r->k,
                         f->shape[2]);
    if (!is_valid_n(r, f->shape[1]))
        return cute_fail(diag, CUTE_INVALID, NULL, "wgmma of %s has N = %s, not %" PRId64, a,
                         r->step == 8 ? "8, 16, 24, ..., 256" : "8, 16, 24, 32, 48, 64, ..., 256",
                         f->shape[1]);
    for (int i = 0; i < 2; i++)
        if (!r->majors && !strcmp(f->major[i], "mn"))
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "wgmma of %s takes %c with K contiguous (k), only of f16 and bf16 with %s (mn)",
                             f->type[i], "AB"[i], i ? "N" : "M");
    if (!strcmp(f->frag, "rs") && !strcmp(f->major[0], "mn"))
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "A in registers (rs) requires major k, as it has no order in memory");
    if (f->satfinite && (strcmp(r->type[2], "s32") != 0 || r->op != CUTE_MMA_MUL_ADD))
        return cute_fail(diag, CUTE_INVALID, NULL, "only integer products saturate, not products of %s", a);
    if (f->op && (!atom_op_word(r->op) || strcmp(f->op, atom_op_word(r->op)) != 0))
        return cute_fail(diag, CUTE_INVALID, NULL, "wgmma of %s does not support op = %s%s", a, f->op,
                         atom_op_word(r->op) ? ", only op = and" : "");
    return CUTE_OK;
}

/* ---- atoms ---- */

/* In shared memory all threads have all elements: (128,(MN,K)):(0,(1,MN)). */
static const char *shared_layout(cute_arena *arena, int64_t rows_, int64_t k)
{
    return cute_arena_printf(arena, "(%d,(%" PRId64 ",%" PRId64 ")):(0,(1,%" PRId64 "))", THREADS, rows_, k,
                             rows_);
}

/* Four warps stacked along M, each like A of mma.sync with 16 rows: 32-bit words along K, rows 8 apart, words
 * 4 apart. */
static const char *register_layout(cute_arena *arena, int bits)
{
    int in_word = WORD_BITS / bits;
    if (in_word == 1) return cute_arena_printf(arena, "((4,8,4),(2,2)):((%d,1,16),(8,%d))", WG_M, 4 * WG_M);
    return cute_arena_printf(arena, "((4,8,4),(%d,2,2)):((%d,1,16),(%d,8,%d))", in_word, in_word * WG_M, WG_M,
                             4 * in_word * WG_M);
}

static const char *ptx_text(cute_arena *arena, const wgmma_row *r, const atom_fields *f)
{
    return cute_arena_printf(arena, "wgmma.mma_async.sync.aligned.m%dn%" PRId64 "k%d%s.%s.%s.%s%s", WG_M,
                             f->shape[1], r->k, f->satfinite ? ".satfinite" : "", r->type[2], r->type[0],
                             r->type[1], r->op == CUTE_MMA_AND_POPC ? ".and.popc" : "");
}

cute_status atom_make_wgmma(cute_arena *arena, atom_fields *f, cute_atom *out, cute_diag *diag)
{
    const wgmma_row *r = row_of_types(f);
    for (int i = 0; i < 2; i++)
        if (!f->major[i]) f->major[i] = "k";
    if (!r) return refuse_types(f, diag);
    CUTE_TRY(check_row(r, f, diag));
    f->op = atom_op_word(r->op);
    bool registers = !strcmp(f->frag, "rs");
    int64_t n = f->shape[1];
    const char *c = cute_arena_printf(arena, "((4,8,4),(2,2,%" PRId64 ")):((128,1,16),(64,8,512))", n / 8);
    const char *b = shared_layout(arena, n, r->k);
    const char *a = registers ? NULL : shared_layout(arena, WG_M, r->k);
    out->ptx = ptx_text(arena, r, f);
    out->name = atom_wgmma_name(arena, f);
    if (!b || !c || (!a && !registers) || !out->ptx || !out->name) return cute_fail_memory(diag);
    CUTE_TRY(atom_set_operand(arena, out, CUTE_ATOM_B, f->type[1], b, diag));
    CUTE_TRY(atom_set_operand(arena, out, CUTE_ATOM_C, f->type[2], c, diag));
    int bits = out->operand[CUTE_ATOM_B].bits;
    if (registers && !(a = register_layout(arena, bits))) return cute_fail_memory(diag);
    CUTE_TRY(atom_set_operand(arena, out, CUTE_ATOM_A, f->type[0], a, diag));
    for (int i = CUTE_ATOM_A; i <= CUTE_ATOM_B; i++) {
        cute_atom_operand *o = &out->operand[i];
        out->mn_major[i] = !strcmp(f->major[i], "mn");
        o->described = i == CUTE_ATOM_B || !registers;
        if (!o->described) continue;
        o->registers = o->register_bits = 0;
        o->constraint = 'l';
    }
    for (int i = 0; i < 3; i++) out->shape[i] = (int)f->shape[i];
    out->known = out->wgmma = true;
    out->op = r->op;
    out->satfinite = f->satfinite != NULL;
    out->arch = r->arch;
    out->isa = r->isa;
    return atom_set_threads(arena, THREADS, out, diag);
}
