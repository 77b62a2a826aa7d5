/* Rejects instructions that could be executed but that ptxas rejects: operands of the wrong kind, missing
 * rounding modifiers, mutually exclusive modifiers. */
#include <string.h>

#include "lib/emulator/program/decode.h"

static char type_kind_letter(ptx_type type)
{
    switch (ptx_types[type].kind) {
    case PTX_PREDICATE: return 'p';
    case PTX_UNSIGNED: return 'u';
    case PTX_SIGNED: return 's';
    case PTX_BITS: return 'b';
    default: return 'f';
    }
}

static const uint8_t roundings[] = {EM_M_rn,  EM_M_rz,  EM_M_rm,  EM_M_rp, EM_M_rna,
                                    EM_M_rni, EM_M_rzi, EM_M_rmi, EM_M_rpi};
static const uint8_t comparisons[] = {EM_M_eq,  EM_M_ne,  EM_M_lt,  EM_M_le,  EM_M_gt,  EM_M_ge,
                                      EM_M_lo,  EM_M_ls,  EM_M_hi,  EM_M_hs,  EM_M_equ, EM_M_neu,
                                      EM_M_ltu, EM_M_leu, EM_M_gtu, EM_M_geu, EM_M_num, EM_M_nan};

static int count_of(const em_raw *raw, const uint8_t *list, size_t size)
{
    int count = 0;
    for (int n = 0; n < raw->modifier_count; n++) count += memchr(list, raw->modifiers[n], size) != NULL;
    return count;
}

cute_status em_check_rules(em_parser *p, const em_raw *raw, const em_inst *i)
{
    const em_row *row = &em_rows[i->opcode];
    const ptx_type_info *type = &ptx_types[i->type];
    bool compares = row->dataflow == EM_FLOW_COMPARE;
    if (count_of(raw, roundings, sizeof roundings) > 1)
        return em_wrong(p, raw, "%s has more than one rounding modifier", row->name);
    if (compares && count_of(raw, comparisons, sizeof comparisons) > 1)
        return em_wrong(p, raw, "%s has more than one comparison", row->name);
    if (!i->type_count || !row->types) return CUTE_OK;
    char kind = type_kind_letter((ptx_type)i->type);
    if (!strchr(row->types, kind))
        return em_wrong(p, raw, "%s does not support type .%s", row->name, type->name);
    if (kind != 'f' || !row->needs) return CUTE_OK;
    for (int w = 0; w < raw->word_count; w++)
        if (em_stands_in(row->needs, raw->words[w].text, raw->words[w].length)) return CUTE_OK;
    return em_wrong(p, raw, "%s.%s requires one of the modifiers %s", row->name, type->name, row->needs);
}
