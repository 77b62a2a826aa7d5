/* Products of bytes extracted from words one at a time, where dp4a multiplies and adds four. */
#include "lib/report/explain/context.h"

enum { DEEPEST = 4, FEWEST = 4, WORD = 32 };

static bool is_immediate(const ssa_operand *o, int64_t value)
{
    return o->kind == SSA_IMM && o->imm == value && !o->negative && !o->inverted;
}

/* PRMT a, 0x7771, RZ and a, 0x9991: one byte, zero- or sign-extended. */
static bool is_byte_extract(const ssa_inst *i)
{
    if (i->use_count < 3 || i->uses[2].kind != SSA_IMM) return false;
    uint64_t digits = (uint64_t)i->uses[2].imm & 0xffff, first = digits & 15, next = digits >> 4 & 15;
    bool alike = next == (digits >> 8 & 15) && next == digits >> 12;
    bool zeros = i->uses[1].kind == SSA_IMM && !i->uses[1].imm && next >= 4 && next < 8;
    return alike && first < 4 && (zeros || next == (first | 8));
}

/* The word that the operand is an extended byte of; NULL: it is not a byte. */
static const ssa_value *find_word(const ssa_function *f, const ssa_operand *o, int depth)
{
    const ssa_value *v = o->kind == SSA_VAR && !o->negative && !o->inverted ? ssa_value_of(f, o) : f->values;
    const ssa_inst *i = v->inst >= 0 && depth < DEEPEST ? &f->insts[v->inst] : NULL;
    bool byte = false;
    if (!i || i->guard >= 0 || !i->use_count || i->access != CUTE_ACCESS_NONE) return NULL;
    const ssa_operand *by = i->use_count > 1 ? &i->uses[1] : NULL;
    switch (i->op) {
    case SSA_MOV: return find_word(f, &i->uses[0], depth + 1);
    /* IMAD.MOV R20, RZ, RZ, R17 */
    case SSA_MAD:
        return i->use_count > 2 && is_immediate(&i->uses[0], 0) ? find_word(f, &i->uses[2], depth + 1) : NULL;
    case SSA_EXTEND:
        if (i->shift > 8) return find_word(f, &i->uses[0], depth + 1);
        byte = i->shift == 8;
        break;
    case SSA_SIGN_EXTEND: byte = by && is_immediate(by, 8); break;
    case SSA_BFE: byte = i->use_count > 2 && is_immediate(&i->uses[2], 8); break;
    case SSA_SHR: byte = by && i->bits == WORD && is_immediate(by, 24); break;
    case SSA_PERMUTE: byte = is_byte_extract(i); break;
    case SSA_AND: byte = by && is_immediate(by, 255); break;
    case SSA_LOP3: byte = by && is_immediate(by, 255) && i->table == 0xc0; break;
    default: break;
    }
    if (!byte) return NULL;
    /* A shift by whole bytes before the extraction keeps the word. */
    const ssa_value *word = ssa_value_of(f, &i->uses[0]);
    const ssa_inst *from = word->inst >= 0 ? &f->insts[word->inst] : NULL;
    bool shifted = from && from->op == SSA_SHR && from->use_count > 1 && from->uses[0].kind == SSA_VAR &&
                   (is_immediate(&from->uses[1], 8) || is_immediate(&from->uses[1], 16));
    return shifted ? ssa_value_of(f, &from->uses[0]) : word;
}

static bool is_byte_product(const ssa_function *f, const ssa_inst *i, const ssa_value *words[2])
{
    if ((i->op != SSA_MUL && i->op != SSA_MAD) || i->use_count < 2 || i->guard >= 0 || !ssa_is_reached(f, i))
        return false;
    for (int k = 0; k < 2; k++)
        if (!(words[k] = find_word(f, &i->uses[k], 0)) || words[k] == f->values) return false;
    return true;
}

void find_scalar_bytes(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        const ssa_value *words[2], *others[2];
        unsigned alike = 0;
        if (!is_byte_product(f, i, words)) continue;
        const cute_code_block *b = &f->flow->blocks[i->block];
        for (size_t k = 0; k < b->count; k++)
            alike += is_byte_product(f, &f->insts[b->first + k], others) &&
                     ((others[0] == words[0] && others[1] == words[1]) ||
                      (others[0] == words[1] && others[1] == words[0]));
        if (alike < FEWEST) continue;
        /* Saves the product and two extractions; a quarter of a dp4a replaces them. */
        double cycles = explain_cost(f, i) * 0.75 + 2 * 2;
        explain_add(c, i, cycles * ssa_weight(f, i), NULL,
                    "%u products of bytes of the same two words, extracted one by one; dp4a computes four at "
                    "once",
                    alike);
    }
}
