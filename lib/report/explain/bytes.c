/* Products of bytes that are taken out of words one at a time, where dp4a multiplies and adds four. */
#include "lib/report/explain/context.h"

enum { DEEPEST = 4, FEWEST = 4, WORD = 32 };

static bool is_number(const x_operand *o, int64_t number)
{
    return o->kind == X_IMM && o->imm == number && !o->negative && !o->inverted;
}

/* PRMT a, 0x7771, RZ and a, 0x9991: one byte, then zeros or its sign. */
static bool takes_byte(const x_inst *i)
{
    if (i->use_count < 3 || i->uses[2].kind != X_IMM) return false;
    uint64_t digits = (uint64_t)i->uses[2].imm & 0xffff, first = digits & 15, next = digits >> 4 & 15;
    bool alike = next == (digits >> 8 & 15) && next == digits >> 12;
    bool zeros = i->uses[1].kind == X_IMM && !i->uses[1].imm && next >= 4 && next < 8;
    return alike && first < 4 && (zeros || next == (first | 8));
}

/* The word of which an operand is one byte, with its sign or without; NULL: it is none. */
static const x_value *find_word(const x_function *f, const x_operand *o, int depth)
{
    const x_value *v = o->kind == X_VAR && !o->negative && !o->inverted ? x_use(f, o) : f->values;
    const x_inst *i = v->inst >= 0 && depth < DEEPEST ? &f->insts[v->inst] : NULL;
    bool byte = false;
    if (!i || i->guard >= 0 || !i->use_count || i->access != CUTE_ACCESS_NONE) return NULL;
    const x_operand *by = i->use_count > 1 ? &i->uses[1] : NULL;
    switch (i->op) {
    case X_MOV: return find_word(f, &i->uses[0], depth + 1);
    /* IMAD.MOV R20, RZ, RZ, R17 */
    case X_MAD:
        return i->use_count > 2 && is_number(&i->uses[0], 0) ? find_word(f, &i->uses[2], depth + 1) : NULL;
    case X_EXTEND:
        if (i->shift > 8) return find_word(f, &i->uses[0], depth + 1);
        byte = i->shift == 8;
        break;
    case X_SIGN: byte = by && is_number(by, 8); break;
    case X_BFE: byte = i->use_count > 2 && is_number(&i->uses[2], 8); break;
    case X_SHR: byte = by && i->bits == WORD && is_number(by, 24); break;
    case X_PERMUTE: byte = takes_byte(i); break;
    case X_AND: byte = by && is_number(by, 255); break;
    case X_LOP3: byte = by && is_number(by, 255) && i->table == 0xc0; break;
    default: break;
    }
    if (!byte) return NULL;
    /* What was shifted is the same word. */
    const x_value *word = x_use(f, &i->uses[0]);
    const x_inst *from = word->inst >= 0 ? &f->insts[word->inst] : NULL;
    bool shifted = from && from->op == X_SHR && from->use_count > 1 && from->uses[0].kind == X_VAR &&
                   (is_number(&from->uses[1], 8) || is_number(&from->uses[1], 16));
    return shifted ? x_use(f, &from->uses[0]) : word;
}

static bool is_product(const x_function *f, const x_inst *i, const x_value *words[2])
{
    if ((i->op != X_MUL && i->op != X_MAD) || i->use_count < 2 || i->guard >= 0 || !x_reached(f, i))
        return false;
    for (int k = 0; k < 2; k++)
        if (!(words[k] = find_word(f, &i->uses[k], 0)) || words[k] == f->values) return false;
    return true;
}

void find_scalar_bytes(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        const x_value *words[2], *others[2];
        unsigned alike = 0;
        if (!is_product(f, i, words)) continue;
        const cute_code_block *b = &f->flow->blocks[i->block];
        for (size_t k = 0; k < b->count; k++)
            alike += is_product(f, &f->insts[b->first + k], others) &&
                     ((others[0] == words[0] && others[1] == words[1]) ||
                      (others[0] == words[1] && others[1] == words[0]));
        if (alike < FEWEST) continue;
        /* Each product, and two bytes that are taken out; a quarter of dp4a in their place. */
        double cycles = x_cost(f, i) * 0.75 + 2 * 2;
        explain_add(c, i, cycles * x_weight(f, i), NULL,
                    "%u products of the bytes of the same two words, taken out one "
                    "by one: dp4a takes four at once",
                    alike);
    }
}
