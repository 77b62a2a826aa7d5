/* See arch_sm90.h. */
#include "lib/passes/arch_sm90.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/base/buffer.h"
#include "lib/ir/arith.h"
#include "lib/ir/util.h"
#include "lib/passes/arch.h"

/* An asm statement as it grows: outputs first, then inputs that are tied to them, then the others. */
typedef struct statement {
    cute_buffer text, constraints;
    MlirValue operands[CUTE_MOST_TIED + 16];
    MlirType types[CUTE_MOST_TIED];
    intptr_t count, outputs;
} statement;

static char constraint_of(MlirType type)
{
    if (mlirTypeIsAF32(type)) return 'f';
    if (mlirTypeIsAF64(type)) return 'd';
    if (!mlirTypeIsAInteger(type)) return 'r';
    unsigned width = mlirIntegerTypeGetWidth(type);
    return width == 1 ? 'b' : width == 16 ? 'h' : width == 64 ? 'l' : 'r';
}

/* The values that the statement replaces. */
static void tie(statement *s, const MlirValue *values, intptr_t count)
{
    for (intptr_t i = 0; i < count; i++) {
        s->types[i] = mlirValueGetType(values[i]);
        s->operands[i] = values[i];
        cute_buffer_printf(&s->constraints, "%s=%c", i ? "," : "", constraint_of(s->types[i]));
    }
    for (intptr_t i = 0; i < count; i++) cute_buffer_printf(&s->constraints, ",%d", (int)i);
    s->count = s->outputs = count;
}

/* Puts an operand and returns its number in the text. */
static int put(statement *s, MlirValue value)
{
    intptr_t at = s->count++;
    s->operands[at] = value;
    cute_buffer_printf(&s->constraints, "%s%c", at ? "," : "", constraint_of(mlirValueGetType(value)));
    return (int)(at + s->outputs);
}

static void finish(const cute_builder *b, statement *s, MlirValue *values)
{
    intptr_t n = s->outputs;
    MlirType type = n == 0   ? (MlirType){NULL}
                    : n == 1 ? s->types[0]
                             : mlirLLVMStructTypeLiteralGet(b->context, n, s->types, false);
    MlirValue result = cute_assembly(b, true, cute_buffer_text(&s->text), cute_buffer_text(&s->constraints),
                                     (cute_operands){s->operands, s->count}, type);
    for (intptr_t i = 0; i < n; i++)
        values[i] = n == 1 ? result : cute_extract_field(b, result, i, -1, s->types[i]);
    cute_buffer_release(&s->text);
    cute_buffer_release(&s->constraints);
}

void cute_arch_pinned(const cute_builder *b, const char *ptx, MlirValue *values, intptr_t count)
{
    statement s = {.count = 0};
    cute_buffer_puts(&s.text, ptx);
    tie(&s, values, count);
    cute_buffer_printf(&s.constraints, "%s~{memory}", count ? "," : "");
    finish(b, &s, values);
}

static void put_descriptor(statement *s, const char *name, cute_descriptor d)
{
    int low = put(s, d.low), high = put(s, d.high);
    cute_buffer_printf(&s->text, " mov.b64 %s, {$%d,$%d};", name, low, high);
}

static void put_list(cute_buffer *text, int first, int count)
{
    for (int i = 0; i < count; i++) cute_buffer_printf(text, "%s$%d", i ? "," : "{", first + i);
    cute_buffer_putc(text, '}');
}

void cute_arch_wgmma(const cute_builder *b, const cute_wgmma *w)
{
    const cute_atom *atom = w->atom;
    const cute_atom_operand *a = &atom->operand[CUTE_ATOM_A], *c = &atom->operand[CUTE_ATOM_C];
    MlirType type = cute_arch_register(b, c), i32 = mlirIntegerTypeGet(b->context, 32);
    for (int i = 0; i < c->registers; i++)
        if (!mlirTypeEqual(mlirValueGetType(w->d[i]), type))
            w->d[i] = cute_unary(b, "llvm.bitcast", w->d[i], type);
    statement s = {.count = 0};
    tie(&s, w->d, c->registers);
    cute_buffer_puts(&s.text, "{ .reg .b64 a, b;");
    int words = 0;
    for (int i = 0; w->a_words && i < a->registers; i++) {
        MlirValue word = w->a_words[i];
        if (!mlirTypeEqual(mlirValueGetType(word), i32)) word = cute_unary(b, "llvm.bitcast", word, i32);
        int at = put(&s, word);
        if (i == 0) words = at;
    }
    if (!w->a_words) put_descriptor(&s, "a", w->a);
    put_descriptor(&s, "b", w->b);
    cute_buffer_printf(&s.text, " %s ", atom->ptx);
    put_list(&s.text, 0, c->registers);
    if (w->a_words) {
        cute_buffer_puts(&s.text, ", ");
        put_list(&s.text, words, a->registers);
    } else {
        cute_buffer_puts(&s.text, ", a");
    }
    cute_buffer_printf(&s.text, ", b, $%d", put(&s, w->adds));
    /* imm-scale-a, imm-scale-b of floats; imm-trans-a, imm-trans-b of those of 16 bits. */
    if (c->constraint != 'r' || a->bits == 16 || c->bits == 16) cute_buffer_puts(&s.text, ", 1, 1");
    if (a->bits == 16 && !w->a_words) cute_buffer_printf(&s.text, ", %d", atom->mn_major[CUTE_ATOM_A]);
    if (a->bits == 16) cute_buffer_printf(&s.text, ", %d", atom->mn_major[CUTE_ATOM_B]);
    cute_buffer_puts(&s.text, "; }");
    finish(b, &s, w->d);
}
