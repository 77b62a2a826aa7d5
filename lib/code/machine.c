/* Builds an ssa_function from SASS. Only the low word of 64-bit addresses is evaluated, which is enough for the distances between
 * lanes. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/code/function.h"
#include "lib/numeric/number.h"

/* One variable per register. */
enum { R = CUTE_FIRST_R, UR = CUTE_FIRST_UR, P = CUTE_FIRST_P, UP = CUTE_FIRST_UP, MOST = 16 };

typedef struct span {
    const char *at, *end;
} span;

static bool span_begins(span s, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(s.end - s.at) >= length && memcmp(s.at, word, length) == 0;
}

/* A modifier after the opcode: ".WIDE". */
static bool has_modifier(span modifiers, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = modifiers.at; at < modifiers.end; at++)
        if (*at == '.' && (size_t)(modifiers.end - at) > length && !memcmp(at + 1, word, length) &&
            (at + 1 + length == modifiers.end || at[1 + length] == '.'))
            return true;
    return false;
}

/* "R4", "URZ", "PT"; false: not a register. */
static bool read_register(span s, ssa_operand *out, const char **end)
{
    const char *at = s.at;
    bool uniform = at < s.end && *at == 'U';
    if (uniform) at++;
    if (at >= s.end || (*at != 'R' && *at != 'P')) return false;
    bool predicate = *at++ == 'P';
    if (at >= s.end) return false;
    *end = at + 1;
    if (predicate && *at == 'T') return *out = (ssa_operand){.kind = SSA_IMM, .imm = 1}, true;
    if (!predicate && *at == 'Z') return *out = (ssa_operand){.kind = SSA_IMM}, true;
    unsigned n = 0;
    const char *digits = at;
    while (at < s.end && *at >= '0' && *at <= '9' && n < 1000) n = n * 10 + (unsigned)(*at++ - '0');
    if (at == digits) return false;
    unsigned class = predicate ? uniform ? CUTE_REGISTER_UP : CUTE_REGISTER_P
                     : uniform ? CUTE_REGISTER_UR
                               : CUTE_REGISTER_R;
    if (n >= cute_register_count[class]) return false;
    *end = at;
    *out = (ssa_operand){.kind = SSA_VAR, .var = cute_register_first[class] + n};
    return true;
}

static span trim_span(span s)
{
    while (s.at < s.end && *s.at == ' ') s.at++;
    while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == ';')) s.end--;
    return s;
}

/* Splits operands at commas outside of brackets. */
static int split_operands(span text, span *out)
{
    int count = 0, depth = 0;
    const char *start = text.at;
    for (const char *at = text.at; at <= text.end && count < MOST; at++) {
        char c = at < text.end ? *at : ',';
        depth += (c == '[' || c == '(') - ((c == ']' || c == ')') && depth);
        if (at < text.end && (c != ',' || depth)) continue;
        span s = trim_span((span){start, at});
        if (s.at < s.end) out[count++] = s;
        start = at + 1;
    }
    return count;
}

/* "c[0x0][0x160]": SSA_ARG, or a launch dimension that the hardware stores there. */
static bool read_constant(span s, int arch, ssa_operand *out)
{
    const char *second = NULL;
    for (const char *at = s.at; at < s.end; at++)
        if (*at == '[') second = at;
    if (!second || !span_begins(s, "c[")) return false;
    int64_t bank = strtoll(s.at + 2, NULL, 0), place = strtoll(second + 1, NULL, 0);
    int64_t first = cute_arch_has(arch, CUTE_FEATURE_CONSTANTS_AT_0X360) ? 0x360 : 0;
    *out = (ssa_operand){.kind = SSA_ARG, .imm = bank << 32 | place};
    if (bank == 0 && place >= first && place < first + 0x18)
        *out = (ssa_operand){.kind = SSA_SREG,
                             .imm = (place - first) / 4 < 3 ? SSA_SREG_NTID_X + (place - first) / 4
                                                            : SSA_SREG_NCTAID_X + ((place - first) / 4 - 3)};
    return true;
}

static ssa_operand read_operand(span s, int arch)
{
    ssa_operand out = {0};
    bool negative = false, inverted = false;
    const char *end;
    while (s.at < s.end && strchr("-~!|+", *s.at)) {
        negative ^= *s.at == '-';
        inverted ^= *s.at == '~' || *s.at == '!';
        s.at++;
    }
    if (read_register(s, &out, &end) || read_constant(s, arch, &out)) {
    } else if (s.at < s.end && *s.at >= '0' && *s.at <= '9') {
        out = (ssa_operand){.kind = SSA_IMM, .imm = (int64_t)strtoull(s.at, NULL, 0)};
    } else if (span_begins(s, "SR_TID.") && s.end > s.at + 7) {
        out = (ssa_operand){.kind = SSA_SREG,
                            .imm = SSA_SREG_TID_X + (s.at[7] >= 'X' && s.at[7] <= 'Z' ? s.at[7] - 'X' : 0)};
    } else if (span_begins(s, "SR_CTAID.") && s.end > s.at + 9) {
        out = (ssa_operand){.kind = SSA_SREG,
                            .imm = SSA_SREG_CTAID_X + (s.at[9] >= 'X' && s.at[9] <= 'Z' ? s.at[9] - 'X' : 0)};
    } else if (span_begins(s, "SR_LANEID")) {
        out = (ssa_operand){.kind = SSA_SREG, .imm = SSA_SREG_LANE};
    } else if (span_begins(s, "SRZ")) {
        out = (ssa_operand){.kind = SSA_IMM};
    } else if (span_begins(s, "SR_")) {
        out = (ssa_operand){.kind = SSA_SREG, .imm = SSA_SREG_UNIFORM};
    }
    out.negative = negative;
    out.inverted = inverted;
    return out;
}

/* ---- opcodes ---- */

typedef struct reading {
    const cute_code_instruction *c;
    span modifiers, operands[MOST];
    int operand_count, arch;
    ssa_inst *to;
    ssa_operand uses[64];
    unsigned count;
} reading;

/* Sets op and its operands from the operands after the results; false: the form is unknown. */
typedef bool form(reading *r);

static bool is_modified(const reading *r, const char *word)
{
    return has_modifier(r->modifiers, word);
}

static bool is_predicate(span s)
{
    ssa_operand o;
    const char *end;
    if (s.at < s.end && *s.at == '!') s.at++;
    return read_register(s, &o, &end) && (s.at[0] == 'P' || (s.at[0] == 'U' && s.at[1] == 'P'));
}

static bool is_number(span s)
{
    return s.at < s.end &&
           ((*s.at >= '0' && *s.at <= '9') || (*s.at == '-' && s.end - s.at > 1 && s.at[1] <= '9'));
}

/* Operands after the third are carries. */
static bool as_sum(reading *r)
{
    if (r->count > 3) r->count = 3;
    return !is_modified(r, "HI");
}

/* IMAD.HI with a zero addend is the upper half; otherwise the addend is a register pair. */
static bool as_product(reading *r)
{
    bool high = is_modified(r, "HI");
    if (r->count < 3 || (high && (r->uses[2].kind != SSA_IMM || r->uses[2].imm))) return false;
    if (high) r->to->op = SSA_MUL_HIGH;
    r->count = high ? 2 : 3;
    return true;
}

/* "c[0x3][R6+0x10]" */
static bool is_indexed(span s)
{
    const char *open = NULL;
    for (const char *at = s.at; at < s.end; at++)
        if (*at == '[') open = at;
    return open && open + 1 < s.end && (open[1] == 'R' || open[1] == 'U');
}

/* LDC R6, c[0x3][R6] is a load with a computed address. */
static bool as_move(reading *r)
{
    if (is_indexed(r->operands[r->operand_count - 1])) return false;
    r->count = 1;
    return !is_modified(r, "HI");
}

static bool as_bits(reading *r)
{
    r->count = 1;
    return true;
}

/* SGXT R26, R26, 0x8 */
static bool as_sign(reading *r)
{
    if (r->count < 2 || is_modified(r, "W") || is_modified(r, "U32")) return false;
    r->count = 2;
    return true;
}

/* PRMT a, selector, b */
static bool as_permutation(reading *r)
{
    if (r->count != 3 || r->modifiers.at != r->modifiers.end) return false;
    ssa_operand selector = r->uses[1];
    r->uses[1] = r->uses[2];
    r->uses[2] = selector;
    return true;
}

/* LEA.HI a, b, RZ, n: the upper word of a << n. */
static bool as_high_lea(reading *r)
{
    const ssa_operand *zero = &r->uses[2], *by = &r->uses[3];
    if (r->operand_count != 5 || r->count != 4 || zero->kind != SSA_IMM || zero->imm || by->kind != SSA_IMM ||
        by->imm < 1 || by->imm > 31 || is_modified(r, "SX32"))
        return false;
    r->to->op = SSA_LEA_HIGH;
    r->to->shift = (uint8_t)(32 - by->imm);
    r->count = 2;
    return true;
}

static bool as_lea(reading *r)
{
    const ssa_operand *by = &r->uses[2];
    if (is_modified(r, "HI")) return as_high_lea(r);
    if (r->count == 2) return true;
    if (r->count < 3 || by->kind != SSA_IMM || by->imm < 0 || by->imm > 31) return false;
    r->to->shift = (uint8_t)by->imm;
    r->count = 2;
    return true;
}

/* SHF.L a, n, RZ; SHF.R RZ, n, a with .HI, or a, n, RZ. */
static bool as_shift(reading *r)
{
    bool high = is_modified(r, "HI"), right = is_modified(r, "R");
    if ((high && r->operand_count != 4) || is_modified(r, "S64") || is_modified(r, "U64")) return false;
    if (r->count == 3) {
        if (right ? !high && r->uses[2].kind != SSA_IMM : high) return false;
        if (right && high) r->uses[0] = r->uses[2];
        r->to->op = right ? SSA_SHR : SSA_SHL;
        r->count = 2;
    }
    r->to->is_signed = is_modified(r, "S32");
    return true;
}

static bool as_logic(reading *r)
{
    if (r->count < 4 || r->uses[3].kind != SSA_IMM || is_modified(r, "HI")) return false;
    r->to->table = (uint8_t)r->uses[3].imm;
    if (is_predicate(r->operands[0])) r->to->compare = SSA_NONZERO;
    r->count = 3;
    return true;
}

static bool as_select(reading *r)
{
    return r->count == 3;
}

static uint8_t compare_of(span m)
{
    static const char *const words[] = {
        [SSA_EQ] = "EQ", [SSA_NE] = "NE", [SSA_LT] = "LT", [SSA_LE] = "LE", [SSA_GT] = "GT", [SSA_GE] = "GE"};
    for (uint8_t k = 0; k < sizeof words / sizeof *words; k++)
        if (has_modifier(m, words[k])) return k;
    return UINT8_MAX;
}

/* ISETP.GE.OR P1, PT, R23, R8, P1; ISETP.GE.EX P0, PT, R3, R9, PT, P1 */
static bool as_compare(reading *r)
{
    ssa_operand *u = r->uses;
    bool joined = r->count > 2 && (u[2].kind != SSA_IMM || u[2].inverted), high = is_modified(r, "EX");
    r->to->compare = compare_of(r->modifiers);
    if (r->to->compare == UINT8_MAX || r->count < 2 || is_modified(r, "HI") || (joined && high)) return false;
    if (joined) {
        r->to->op = SSA_SETP_COMBINED;
        r->to->table = is_modified(r, "OR")    ? SSA_COMBINE_OR
                       : is_modified(r, "XOR") ? SSA_COMBINE_XOR
                                               : SSA_COMBINE_AND;
    } else if (high) {
        if (r->count != 4 || u[3].kind != SSA_VAR || u[3].inverted) return false;
        u[2] = u[3];
        r->to->op = SSA_SETP_HIGH;
    }
    r->count = joined || high ? 3 : 2;
    return true;
}

static bool as_extreme(reading *r)
{
    if (r->count < 3 || r->uses[2].kind != SSA_IMM || is_modified(r, "HI")) return false;
    r->to->op = r->uses[2].inverted ? SSA_MAX : SSA_MIN;
    r->count = 2;
    return true;
}

/* PLOP3.LUT P0, PT, P1, P0, PT, 0xa8, 0x0: three predicates. */
static bool as_predicates(reading *r)
{
    if (r->operand_count != 7) return false;
    ssa_operand table = read_operand(r->operands[5], 0);
    if (table.kind != SSA_IMM || table.imm < 0 || table.imm > 255) return false;
    for (int k = 0; k < 3; k++) r->uses[k] = read_operand(r->operands[2 + k], 0);
    r->count = 3;
    r->to->bits = 1;
    r->to->table = (uint8_t)table.imm;
    return true;
}

/* Decimal text as f16: HFMA2 is used to move constants. */
static uint64_t half_bits(span s)
{
    double value = strtod(s.at, NULL);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return num_convert(NUM_F16, NUM_F64, bits, NUM_RN, 0) & 0xffff;
}

/* HFMA2.MMA R5, -RZ, RZ, 0, 2.384185791015625e-07: two constants of 16 bits, the upper one first. */
static bool as_packed_constant(reading *r)
{
    const span *o = r->operands;
    if (r->operand_count != 5 || !span_begins(o[1], "-RZ") || !span_begins(o[2], "RZ") || !is_number(o[3]) ||
        !is_number(o[4]))
        return false;
    r->uses[0] = (ssa_operand){.kind = SSA_IMM, .imm = (int64_t)(half_bits(o[3]) << 16 | half_bits(o[4]))};
    r->count = 1;
    r->to->flags &= ~(uint32_t)(INST_MATH | INST_HALF | INST_FMA);
    return true;
}

/* DEPBAR.LE SB0, 0x1; WARPGROUP.DEPBAR.LE gsb0, 0x0: the number of groups that may remain in flight. */
static bool as_wait(reading *r)
{
    const char *comma = memchr(r->modifiers.end, ',', strcspn(r->modifiers.end, ";"));
    bool group = r->c->name[0] == 'W';
    if (!comma && !group) return false;
    r->to->flags |= group ? INST_WGMMA_WAIT : INST_WAIT_ASYNC;
    r->to->offset = comma ? strtoll(comma + 1, NULL, 0) : 0;
    return false;
}

typedef struct semantic {
    const char *name, *modifier; /* modifier: required; NULL: any */
    uint8_t op;
    form *form; /* NULL: not evaluated */
    uint32_t flags;
} semantic;

/* Flags come from all matching rows of an opcode, the operation from the first whose form accepts it. */
static const semantic semantics[] = {
#define SASS(name, modifier, op, form, flags) {name, modifier, op, form, flags},
#include "lib/code/sass/semantics.def"
};

/* "U" before an opcode is its uniform-datapath form. */
static bool has_opcode(const cute_code_instruction *c, const char *name)
{
    size_t length = strlen(name);
    if (c->name_length == length && !memcmp(c->name, name, length)) return true;
    return c->name_length == length + 1 && c->name[0] == 'U' && !memcmp(c->name + 1, name, length);
}

static void set_flags(reading *r)
{
    const cute_code_instruction *c = r->c;
    for (size_t k = 0; k < sizeof semantics / sizeof *semantics; k++) {
        const semantic *s = &semantics[k];
        if (s->flags && has_opcode(c, s->name) && (!s->modifier || is_modified(r, s->modifier)))
            r->to->flags |= s->flags;
    }
    bool accesses = c->opcode->access != CUTE_ACCESS_NONE, strong = is_modified(r, "STRONG");
    if (accesses && strong) r->to->flags |= INST_ORDERED;
    if (accesses && (strong || is_modified(r, "VOLATILE")) && is_modified(r, "SYS"))
        r->to->flags |= INST_VOLATILE;
    if (is_modified(r, "CONSTANT")) r->to->flags |= INST_READ_ONLY;
}

/* Reads the operands after the results: a register, then predicates. */
static void read_sources(reading *r, uint8_t op)
{
    bool tested = op == SSA_LOP3 && is_predicate(r->operands[0]);
    int at = 1 + tested;
    while (at < r->operand_count && is_predicate(r->operands[at]) && op != SSA_SELECT) at++;
    for (r->count = 0; at < r->operand_count && r->count < 4; at++)
        r->uses[r->count++] = read_operand(r->operands[at], r->arch);
}

static bool set_semantic(reading *r)
{
    for (size_t k = 0; k < sizeof semantics / sizeof *semantics; k++) {
        const semantic *s = &semantics[k];
        if (!s->form || !has_opcode(r->c, s->name) || (s->modifier && !is_modified(r, s->modifier))) continue;
        if (s->op != SSA_OTHER && (r->operand_count < 2 || is_modified(r, "X"))) return false;
        if (s->op != SSA_OTHER) read_sources(r, s->op);
        r->to->op = s->op;
        r->to->bits = 32;
        r->to->is_signed = !is_modified(r, "U32");
        if (s->form(r)) return true;
    }
    return false;
}

static bool has_brackets(span s)
{
    return memchr(s.at, '[', (size_t)(s.end - s.at)) != NULL;
}

/* "[R2.64+UR4+0x10]", "desc[UR4][R2.64]": a sum of registers and an offset. */
static void set_address(span s, ssa_inst *to, ssa_operand *uses, unsigned *count)
{
    const char *open = NULL, *end;
    for (const char *at = s.at; at < s.end; at++)
        if (*at == '[') open = at;
    if (!open) return;
    for (const char *at = open + 1; at < s.end && *at != ']';) {
        ssa_operand o;
        bool minus = *at == '-';
        if (*at == '+' || minus) at++;
        if (read_register((span){at, s.end}, &o, &end)) {
            at = end;
            while (at < s.end && *at == '.')
                for (at++; at < s.end && ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z')); at++)
                    continue;
            if (o.kind == SSA_IMM && to->address >= 0) continue;
            if (to->address < 0)
                to->address = (int16_t)*count;
            else if (to->address2 < 0)
                to->address2 = (int16_t)*count;
            else
                continue;
            uses[(*count)++] = o;
        } else if (at < s.end && *at >= '0' && *at <= '9') {
            char *after;
            int64_t n = (int64_t)strtoull(at, &after, 0);
            to->offset += minus ? -n : n;
            at = after;
        } else {
            break;
        }
    }
    if (to->address < 0) {
        to->address = (int16_t)*count;
        uses[(*count)++] = (ssa_operand){.kind = SSA_IMM};
    }
}

/* UBLKCP.S.G [UR8], [UR4], UR10 and UTMALDG copy to the address in UR8 and complete the mbarrier in UR9; UBLKCP copies UR10 * 16 bytes.
 * SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R4 waits for an mbarrier. */
static void read_mbarrier(reading *r)
{
    const char *end;
    ssa_inst *to = r->to;
    if (to->flags & INST_WAIT_MBARRIER) {
        for (int k = 0; k < r->operand_count && to->address < 0; k++)
            if (has_brackets(r->operands[k])) set_address(r->operands[k], to, r->uses, &r->count);
        return;
    }
    span s = r->operand_count ? r->operands[0] : (span){"", ""};
    if (!(to->flags & INST_TMA) || s.at >= s.end || *s.at != '[') return;
    s.at++;
    ssa_operand *where = &r->uses[r->count], *barrier = where + 1;
    if (!read_register(s, where, &end) || where->kind != SSA_VAR || where->var < UR ||
        where->var + 1 >= UR + cute_register_count[CUTE_REGISTER_UR])
        return;
    *barrier = *where;
    barrier->var++;
    r->count += 2;
    if (memmem(to->text, to->length, "UBLKCP", 6) && r->operand_count > 2)
        r->uses[r->count++] = read_operand(r->operands[2], 0);
}

/* ---- instructions ---- */

/* HFMA2 R7, R7.H0_H0, R6.H1_H1, 0.5, 0.5 computes one element, HFMA2 R7, R7, R6, 0.5, 0.5 a pair. */
static bool is_scalar_half(const reading *r)
{
    bool any = false;
    for (int n = 1; n < r->operand_count; n++) {
        span s = r->operands[n];
        size_t length = (size_t)(s.end - s.at);
        const char *name = memchr(s.at, 'R', length);
        if (!name || name + 1 == s.end || name[1] == 'Z') continue;
        if (!memmem(s.at, length, ".H0_H0", 6) && !memmem(s.at, length, ".H1_H1", 6)) return false;
        any = true;
    }
    return any;
}

static void begin_inst(reading *r, const cute_code_instruction *c, int arch, ssa_inst *to)
{
    const char *at = c->name + c->name_length;
    *r = (reading){.c = c, .arch = arch, .to = to};
    r->modifiers.at = at;
    while (*at && *at != ' ' && *at != ';') at++;
    r->modifiers.end = at;
    r->operand_count = split_operands((span){at, at + strcspn(at, ";")}, r->operands);
    *to = (ssa_inst){.class = c->class,
                     .space = c->space,
                     .access = c->opcode->access,
                     .width = c->width,
                     .address = -1,
                     .address2 = -1,
                     .data = -1,
                     .guard = -1,
                     .target = -1,
                     .block = c->block,
                     .ptx_line = 0,
                     .sass = (int64_t)c->address};
    to->text = c->text;
    to->length = (uint32_t)strcspn(c->text, ";");
    const cute_code_place *place = cute_code_user_place(c);
    if (place) to->file = place->file, to->line = place->line;
    if (c->target_count && c->targets[0] >= 0) to->target = c->targets[0];
}

/* Reads the address and all other source registers of an instruction that is not evaluated. */
static void read_address_and_registers(reading *r)
{
    const cute_code_instruction *c = r->c;
    ssa_inst *to = r->to;
    to->op = SSA_OTHER;
    r->count = 0;
    read_mbarrier(r);
    /* The last brackets are the address; of a copy, the source. */
    bool indexed = r->operand_count > 1 && is_indexed(r->operands[r->operand_count - 1]);
    bool addressed = to->access != CUTE_ACCESS_NONE && (to->space != CUTE_CODE_SPACE_CONST || indexed);
    for (int k = r->operand_count - 1; k >= 0 && addressed; k--)
        if (has_brackets(r->operands[k])) {
            set_address(r->operands[k], to, r->uses, &r->count);
            break;
        }
    bool gives = to->access == CUTE_ACCESS_STORE || to->access == CUTE_ACCESS_ATOMIC;
    for (unsigned u = 0; u < c->use_count; u++)
        for (unsigned n = 0; n < c->uses[u].count && !c->uses[u].written && r->count < 48; n++) {
            unsigned var = cute_register_first[c->uses[u].class] + c->uses[u].first + n;
            bool known = false;
            for (unsigned k = 0; k < r->count; k++)
                known |= r->uses[k].kind == SSA_VAR && r->uses[k].var == var;
            /* the low word of an address pair is enough */
            if (to->address >= 0 && r->uses[to->address].kind == SSA_VAR &&
                var == r->uses[to->address].var + 1 && c->uses[u].count == 2)
                known = true;
            if (known) continue;
            /* uniform registers are descriptors, not data */
            if (gives && to->data < 0 && var < UR) to->data = (int16_t)r->count;
            r->uses[r->count++] = (ssa_operand){.kind = SSA_VAR, .var = var};
        }
}

/* @!P0; if it is false, the results keep their values, so these are sources as well. */
static void read_guard(reading *r, const uint32_t *defs, unsigned def_count)
{
    if (r->c->text[0] != '@') return;
    ssa_operand o = read_operand(trim_span((span){r->c->text + 1, r->c->name}), r->arch);
    if (o.kind != SSA_VAR) return;
    r->to->guard = (int16_t)r->count;
    r->uses[r->count++] = o;
    for (unsigned d = 0; d < def_count && r->count < sizeof r->uses / sizeof *r->uses; d++)
        r->uses[r->count++] = (ssa_operand){.kind = SSA_VAR, .var = defs[d]};
}

static bool store_operands(ssa_function *f, const reading *r, const uint32_t *defs, unsigned def_count)
{
    ssa_inst *to = r->to;
    to->uses = cute_arena_array(f->arena, r->count + 1, sizeof *to->uses);
    to->defs = cute_arena_array(f->arena, def_count + 1, sizeof *to->defs);
    if (!to->uses || !to->defs) return false;
    memcpy(to->uses, r->uses, r->count * sizeof *to->uses);
    memcpy(to->defs, defs, def_count * sizeof *to->defs);
    to->use_count = (uint16_t)r->count;
    to->def_count = (uint16_t)def_count;
    return true;
}

static bool set_inst(ssa_function *f, const cute_code_instruction *c, ssa_inst *to)
{
    reading r;
    uint32_t defs[256];
    unsigned def_count = 0;
    begin_inst(&r, c, f->arch, to);
    set_flags(&r);
    /* HADD2.F32 widens. */
    if (to->flags & INST_HALF && !is_modified(&r, "F32") && is_scalar_half(&r)) to->flags |= INST_HALF_SCALAR;
    if (to->flags & (INST_TMA | INST_WGMMA)) to->access = CUTE_ACCESS_NONE;
    for (unsigned u = 0; u < c->use_count; u++)
        for (unsigned n = 0; n < c->uses[u].count && c->uses[u].written && def_count < 256; n++)
            defs[def_count++] = cute_register_first[c->uses[u].class] + c->uses[u].first + n;
    if (!set_semantic(&r) || !def_count) read_address_and_registers(&r);
    read_guard(&r, defs, def_count);
    /* Spills are at constant offsets from the stack pointer R1. */
    if (to->space == CUTE_CODE_SPACE_LOCAL && to->address >= 0 && r.uses[to->address].kind == SSA_VAR &&
        r.uses[to->address].var == R + 1)
        to->flags |= INST_SPILL;
    if (to->space == CUTE_CODE_SPACE_CONST && to->address < 0) to->access = CUTE_ACCESS_NONE;
    return store_operands(f, &r, defs, def_count);
}

/* IADD3 R2, P0, R3, R4, R5 also writes P0; the register must come first. */
static void order_defs(ssa_inst *to)
{
    for (unsigned d = 1; d < to->def_count; d++)
        if (to->defs[d] < P && to->defs[0] >= P) {
            uint32_t swap = to->defs[0];
            to->defs[0] = to->defs[d];
            to->defs[d] = swap;
        }
}

/* Marks integer divisions: a conversion to float, MUFU.RCP, and the conversion back. */
static void mark_divisions(ssa_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        ssa_inst *i = &f->insts[n];
        if (!memmem(i->text, i->length, "MUFU.RCP", 8)) continue;
        size_t from = n > 24 ? n - 24 : 0, to = n + 24 < f->count ? n + 24 : f->count;
        bool before = false, after = false;
        for (size_t k = from; k < to; k++) {
            const ssa_inst *o = &f->insts[k];
            bool wide = memmem(o->text, o->length, "I2F.U64", 7) != NULL;
            before |= k < n && (memmem(o->text, o->length, "I2F.RP", 6) ||
                                memmem(o->text, o->length, "I2F.U32.RP", 10) || wide ||
                                memmem(o->text, o->length, "I2FP.F32.U32", 12));
            after |= k > n && (memmem(o->text, o->length, "F2I.FTZ.U32.TRUNC", 17) ||
                               memmem(o->text, o->length, "F2I.U64.TRUNC", 13));
        }
        if (before && after) i->flags |= INST_DIVIDE;
    }
}

/* A quotient estimate is followed by corrections: q = hi(inverse * n); r = n - q d; if (r >= d) r -= d, q++. */
static bool is_corrected(const ssa_function *f, size_t n)
{
    bool compared = false, subtracted = false;
    for (size_t k = n + 1; k < f->count && k < n + 16 && f->insts[k].block == f->insts[n].block; k++) {
        const ssa_inst *o = &f->insts[k];
        compared |=
            memmem(o->text, o->length, "ISETP.GE.U32", 12) || memmem(o->text, o->length, "ISETP.GT.U32", 12);
        for (unsigned u = 0; compared && o->op == SSA_ADD && o->guard >= 0 && u < o->use_count; u++)
            subtracted |= o->uses[u].negative;
    }
    return subtracted;
}

/* Marks divisions whose reciprocal is computed elsewhere (hoisted or shared), by the product and its corrections. */
static void mark_quotients(ssa_function *f)
{
    bool divides = false;
    for (size_t n = 0; n < f->count; n++) divides |= (f->insts[n].flags & INST_DIVIDE) != 0;
    for (size_t n = 0; n < f->count && divides; n++) {
        ssa_inst *i = &f->insts[n];
        uint32_t loop = f->flow->blocks[i->block].loop;
        if (!memmem(i->text, i->length, "IMAD.HI.U32", 11)) continue;
        bool whole = false;
        for (size_t k = n > 24 ? n - 24 : 0; k < n; k++)
            whole |= f->insts[k].class == CUTE_CODE_SPECIAL && f->insts[k].flags & INST_DIVIDE &&
                     f->flow->blocks[f->insts[k].block].loop == loop;
        if (!whole && is_corrected(f, n)) i->flags |= INST_DIVIDE;
    }
}

void ssa_merge_comparisons(ssa_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        ssa_inst *high = &f->insts[n];
        if (high->op != SSA_SETP_HIGH) continue;
        const ssa_value *v = ssa_value_of(f, &high->uses[2]);
        const ssa_inst *low = v->inst >= 0 ? &f->insts[v->inst] : NULL;
        if (!low || low->op != SSA_SETP || low->guard >= 0 || low->use_count != 2) continue;
        high->uses[0] = low->uses[0];
        high->uses[1] = low->uses[1];
        high->op = SSA_SETP;
    }
}

bool ssa_from_sass(cute_arena *arena, cute_code_function *code, ssa_function *out)
{
    int arch = out->arch;
    *out = (ssa_function){.arena = arena,
                          .name = code->name,
                          .sass = true,
                          .flow = code,
                          .count = code->count,
                          .variables = CUTE_REGISTERS,
                          .arch = arch,
                          .label = ""};
    out->insts = cute_arena_array(arena, code->count + 1, sizeof *out->insts);
    if (!out->insts) return false;
    for (size_t n = 0; n < code->count; n++) {
        if (!set_inst(out, &code->instructions[n], &out->insts[n])) return false;
        order_defs(&out->insts[n]);
    }
    mark_divisions(out);
    mark_quotients(out);
    if (!ssa_build(out)) return false;
    ssa_merge_comparisons(out);
    return true;
}
