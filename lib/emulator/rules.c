/* What is wrong with an instruction that could be carried out all the same: types of another kind, no rounding
 * where it has to be said, two of what excludes the other. ptxas refuses these. */
#include <string.h>

#include "lib/emulator/decode.h"

static const struct {
    const char *name, *kinds, *needs;
} rules[] = {
#define RULE(name, kinds, needs) {name, kinds, needs},
#include "lib/emulator/rules.def"
#undef RULE
};

static char kind_of(em_type type)
{
    switch (em_types[type].kind) {
    case EM_PREDICATE: return 'p';
    case EM_UNSIGNED: return 'u';
    case EM_SIGNED: return 's';
    case EM_BITS: return 'b';
    default: return 'f';
    }
}

static bool stands_in(const char *list, const char *word, uint32_t length)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strcspn(at, " ") == length && memcmp(at, word, length) == 0) return true;
    return false;
}

static int count_words(const em_raw *raw, const char *list)
{
    int count = 0;
    for (int w = 0; w < raw->word_count; w++)
        count += stands_in(list, raw->words[w].text, raw->words[w].length);
    return count;
}

cute_status em_check_rules(em_parser *p, const em_raw *raw, const em_inst *i, const char *name)
{
    static const char roundings[] = "rn rz rm rp rna rni rzi rmi rpi";
    static const char comparisons[] = "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan";
    bool compares = strcmp(name, "setp") == 0 || strcmp(name, "set") == 0;
    if (count_words(raw, roundings) > 1) return em_wrong(p, raw, "%s has more than one rounding", name);
    if (compares && count_words(raw, comparisons) > 1)
        return em_wrong(p, raw, "%s has more than one comparison", name);
    for (size_t n = 0; i->a && n < sizeof rules / sizeof *rules; n++) {
        if (strcmp(rules[n].name, name)) continue;
        char kind = kind_of((em_type)i->type);
        if (!strchr(rules[n].kinds, kind))
            return em_wrong(p, raw, "%s is not of type .%s", name, em_types[i->type].name);
        if (kind == 'f' && *rules[n].needs && !count_words(raw, rules[n].needs))
            return em_wrong(p, raw, "%s.%s wants one of the modifiers %s", name, em_types[i->type].name,
                            rules[n].needs);
        return CUTE_OK;
    }
    return CUTE_OK;
}
