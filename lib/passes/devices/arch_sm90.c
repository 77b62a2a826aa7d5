/* See arch_sm90.h. */
#include "lib/passes/devices/arch_sm90.h"

#include <mlir-c/BuiltinTypes.h>
#include <mlir-c/Dialect/LLVM.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/arith.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/arch.h"

/* An asm statement under construction: outputs, then the inputs tied to them, then other inputs. */
typedef struct statement {
    cute_buffer text, constraints;
    MlirValue operands[CUTE_MOST_TIED + 16 * CUTE_MOST_STEPS];
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

/* Adds values that the statement replaces. */
static void tie_values(statement *s, const MlirValue *values, intptr_t count)
{
    for (intptr_t i = 0; i < count; i++) {
        s->types[i] = mlirValueGetType(values[i]);
        s->operands[i] = values[i];
        cute_buffer_printf(&s->constraints, "%s=%c", i ? "," : "", constraint_of(s->types[i]));
    }
    for (intptr_t i = 0; i < count; i++) cute_buffer_printf(&s->constraints, ",%d", (int)i);
    s->count = s->outputs = count;
}

/* Adds an operand unless present, and returns its number in the text. */
static int put_operand(statement *s, MlirValue value)
{
    for (intptr_t i = s->outputs; i < s->count; i++)
        if (mlirValueEqual(s->operands[i], value)) return (int)(i + s->outputs);
    intptr_t at = s->count++;
    s->operands[at] = value;
    cute_buffer_printf(&s->constraints, "%s%c", at ? "," : "", constraint_of(mlirValueGetType(value)));
    return (int)(at + s->outputs);
}

static void finish_statement(const cute_builder *b, statement *s, MlirValue *values)
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
    tie_values(&s, values, count);
    cute_buffer_printf(&s.constraints, "%s~{memory}", count ? "," : "");
    finish_statement(b, &s, values);
}

static void put_descriptor(statement *s, const char *name, cute_descriptor d)
{
    int low = put_operand(s, d.low), high = put_operand(s, d.high);
    cute_buffer_printf(&s->text, " mov.b64 %s, {$%d,$%d};", name, low, high);
}

static void put_registers(statement *s, const MlirValue *values, int count)
{
    for (int i = 0; i < count; i++)
        cute_buffer_printf(&s->text, "%s$%d", i ? "," : "{", put_operand(s, values[i]));
    cute_buffer_putc(&s->text, '}');
}

static void put_step(statement *s, const cute_atom *atom, const cute_wgmma_step *step)
{
    const cute_atom_operand *a = &atom->operand[CUTE_ATOM_A], *c = &atom->operand[CUTE_ATOM_C];
    if (a->described) put_descriptor(s, "a", step->a);
    put_descriptor(s, "b", step->b);
    cute_buffer_printf(&s->text, " %s ", atom->ptx);
    for (int i = 0; i < c->registers; i++) cute_buffer_printf(&s->text, "%s$%d", i ? "," : "{", i);
    cute_buffer_puts(&s->text, "}, ");
    if (a->described)
        cute_buffer_putc(&s->text, 'a');
    else
        put_registers(s, step->a_words, a->registers);
    cute_buffer_printf(&s->text, ", b, $%d", put_operand(s, step->adds));
    /* imm-scale-a, imm-scale-b for floats; imm-trans-a, imm-trans-b for 16-bit types. */
    if (c->constraint != 'r' || a->bits == 16 || c->bits == 16)
        cute_buffer_printf(&s->text, ", %d, %d", step->negative[0] ? -1 : 1, step->negative[1] ? -1 : 1);
    if (a->bits == 16 && a->described) cute_buffer_printf(&s->text, ", %d", atom->mn_major[CUTE_ATOM_A]);
    if (a->bits == 16) cute_buffer_printf(&s->text, ", %d", atom->mn_major[CUTE_ATOM_B]);
    cute_buffer_putc(&s->text, ';');
}

void cute_arch_wgmma(const cute_builder *b, const cute_atom *atom, MlirValue *d, const cute_wgmma_step *steps,
                     int count, const char *before, const char *behind)
{
    const cute_atom_operand *c = &atom->operand[CUTE_ATOM_C];
    MlirType type = cute_arch_register(b, c);
    for (int i = 0; i < c->registers; i++)
        if (!mlirTypeEqual(mlirValueGetType(d[i]), type)) d[i] = cute_unary(b, "llvm.bitcast", d[i], type);
    statement s = {.count = 0};
    tie_values(&s, d, c->registers);
    cute_buffer_printf(&s.text, "{ .reg .b64 a, b;%s%s", *before ? " " : "", before);
    for (int i = 0; i < count; i++) put_step(&s, atom, &steps[i]);
    cute_buffer_printf(&s.text, "%s%s }", *behind ? " " : "", behind);
    if (*before || *behind) cute_buffer_puts(&s.constraints, ",~{memory}");
    finish_statement(b, &s, d);
}
