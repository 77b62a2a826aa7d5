/* A function of machine code as the findings look at it. Of 64-bit addresses the low word is followed: it tells where the
 * lanes of a warp are beside each other. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/arch.h"
#include "lib/code/function.h"
#include "lib/numeric/number.h"

/* A variable a register. */
enum { R = CUTE_FIRST_R, UR = CUTE_FIRST_UR, P = CUTE_FIRST_P, UP = CUTE_FIRST_UP, MOST = 16 };

typedef struct span {
    const char *at, *end;
} span;

static bool span_begins(span s, const char *word)
{
    size_t length = strlen(word);
    return (size_t)(s.end - s.at) >= length && memcmp(s.at, word, length) == 0;
}

/* A modifier behind the opcode: ".WIDE". */
static bool has(span modifiers, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = modifiers.at; at < modifiers.end; at++)
        if (*at == '.' && (size_t)(modifiers.end - at) > length && !memcmp(at + 1, word, length) &&
            (at + 1 + length == modifiers.end || at[1 + length] == '.'))
            return true;
    return false;
}

/* "R4", "URZ", "!PT": false where there is none. */
static bool read_register(span s, x_operand *out, const char **end)
{
    const char *at = s.at;
    bool uniform = at < s.end && *at == 'U';
    if (uniform) at++;
    if (at >= s.end || (*at != 'R' && *at != 'P')) return false;
    bool predicate = *at++ == 'P';
    if (at >= s.end) return false;
    *end = at + 1;
    if (predicate && *at == 'T') return *out = (x_operand){.kind = X_IMM, .imm = 1}, true;
    if (!predicate && *at == 'Z') return *out = (x_operand){.kind = X_IMM}, true;
    unsigned n = 0;
    const char *digits = at;
    while (at < s.end && *at >= '0' && *at <= '9' && n < 1000) n = n * 10 + (unsigned)(*at++ - '0');
    if (at == digits) return false;
    unsigned class = predicate ? uniform ? CUTE_REGISTER_UP : CUTE_REGISTER_P
                     : uniform ? CUTE_REGISTER_UR
                               : CUTE_REGISTER_R;
    if (n >= cute_register_count[class]) return false;
    *end = at;
    *out = (x_operand){.kind = X_VAR, .var = cute_register_first[class] + n};
    return true;
}

static span trim(span s)
{
    while (s.at < s.end && *s.at == ' ') s.at++;
    while (s.end > s.at && (s.end[-1] == ' ' || s.end[-1] == ';')) s.end--;
    return s;
}

/* Operands between commas outside of brackets. */
static int split(span text, span *out)
{
    int count = 0, depth = 0;
    const char *start = text.at;
    for (const char *at = text.at; at <= text.end && count < MOST; at++) {
        char c = at < text.end ? *at : ',';
        depth += (c == '[' || c == '(') - ((c == ']' || c == ')') && depth);
        if (at < text.end && (c != ',' || depth)) continue;
        span s = trim((span){start, at});
        if (s.at < s.end) out[count++] = s;
        start = at + 1;
    }
    return count;
}

/* "c[0x0][0x160]": X_ARG, or what the hardware keeps there. */
static bool read_constant(span s, int arch, x_operand *out)
{
    const char *second = NULL;
    for (const char *at = s.at; at < s.end; at++)
        if (*at == '[') second = at;
    if (!second || !span_begins(s, "c[")) return false;
    int64_t bank = strtoll(s.at + 2, NULL, 0), place = strtoll(second + 1, NULL, 0);
    int64_t first = cute_arch_has(arch, CUTE_FEATURE_CONSTANTS_AT_0X360) ? 0x360 : 0;
    *out = (x_operand){.kind = X_ARG, .imm = bank << 32 | place};
    if (bank == 0 && place >= first && place < first + 0x18)
        *out = (x_operand){.kind = X_SREG,
                           .imm = (place - first) / 4 < 3 ? X_S_NTID_X + (place - first) / 4
                                                          : X_S_NCTAID_X + ((place - first) / 4 - 3)};
    return true;
}

static x_operand read_operand(span s, int arch)
{
    x_operand out = {0};
    bool negative = false, inverted = false;
    const char *end;
    while (s.at < s.end && strchr("-~!|+", *s.at)) {
        negative ^= *s.at == '-';
        inverted ^= *s.at == '~' || *s.at == '!';
        s.at++;
    }
    if (read_register(s, &out, &end) || read_constant(s, arch, &out)) {
    } else if (s.at < s.end && *s.at >= '0' && *s.at <= '9') {
        out = (x_operand){.kind = X_IMM, .imm = (int64_t)strtoull(s.at, NULL, 0)};
    } else if (span_begins(s, "SR_TID.") && s.end > s.at + 7) {
        out = (x_operand){.kind = X_SREG,
                          .imm = X_S_TID_X + (s.at[7] >= 'X' && s.at[7] <= 'Z' ? s.at[7] - 'X' : 0)};
    } else if (span_begins(s, "SR_CTAID.") && s.end > s.at + 9) {
        out = (x_operand){.kind = X_SREG,
                          .imm = X_S_CTAID_X + (s.at[9] >= 'X' && s.at[9] <= 'Z' ? s.at[9] - 'X' : 0)};
    } else if (span_begins(s, "SR_LANEID")) {
        out = (x_operand){.kind = X_SREG, .imm = X_S_LANE};
    } else if (span_begins(s, "SRZ")) {
        out = (x_operand){.kind = X_IMM};
    } else if (span_begins(s, "SR_")) {
        out = (x_operand){.kind = X_SREG, .imm = X_S_OTHER};
    }
    out.negative = negative;
    out.inverted = inverted;
    return out;
}

/* ---- what opcodes compute ---- */

typedef struct semantic {
    const char *name;
    uint8_t op, skip_defs; /* results in front of the sources: 1, or 2 with predicates */
} semantic;

static const semantic semantics[] = {
    {"IADD3", X_ADD, 1},  {"IADD", X_ADD, 1},    {"VIADD", X_ADD, 1}, {"IMAD", X_MAD, 1}, {"MOV", X_MOV, 1},
    {"LEA", X_LEA, 1},    {"SHF", X_SHL, 1},     {"SHL", X_SHL, 1},   {"SHR", X_SHR, 1},  {"LOP3", X_LOP3, 1},
    {"SEL", X_SELECT, 1}, {"ISETP", X_SETP, 2},  {"S2R", X_MOV, 1},   {"S2UR", X_MOV, 1}, {"CS2R", X_MOV, 1},
    {"LDC", X_MOV, 1},    {"ULDC", X_MOV, 1},    {"LDCU", X_MOV, 1},  {"R2UR", X_MOV, 1}, {"IMNMX", X_MIN, 1},
    {"VIMNMX", X_MIN, 1}, {"PLOP3", X_OTHER, 2},
};

static const semantic *find_semantic(const cute_code_instruction *c)
{
    for (int uniform = 0; uniform < 2; uniform++) {
        if (uniform && (!c->name_length || c->name[0] != 'U')) break;
        size_t length = (size_t)c->name_length - (size_t)uniform;
        for (size_t k = 0; k < sizeof semantics / sizeof *semantics; k++)
            if (strlen(semantics[k].name) == length && !memcmp(semantics[k].name, c->name + uniform, length))
                return &semantics[k];
    }
    return NULL;
}

static uint8_t compare_of(span m)
{
    static const char *const words[] = {
        [X_EQ] = "EQ", [X_NE] = "NE", [X_LT] = "LT", [X_LE] = "LE", [X_GT] = "GT", [X_GE] = "GE"};
    for (uint8_t k = 0; k < sizeof words / sizeof *words; k++)
        if (has(m, words[k])) return k;
    return UINT8_MAX;
}

typedef struct parts {
    span modifiers, operands[MOST];
    int count;
} parts;

/* A decimal number as f16: the constants of HFMA2 are moved so. */
static uint64_t half_bits(span s)
{
    double value = strtod(s.at, NULL);
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return num_convert(NUM_F16, NUM_F64, bits, NUM_RN, 0) & 0xffff;
}

static bool is_number(span s)
{
    return s.at < s.end &&
           ((*s.at >= '0' && *s.at <= '9') || (*s.at == '-' && s.end - s.at > 1 && s.at[1] <= '9'));
}

/* HFMA2.MMA R5, -RZ, RZ, 0, 2.384185791015625e-07: two constants of 16 bits, the upper one first. */
static bool set_packed_constant(const cute_code_instruction *c, const parts *p, x_inst *to, x_operand *uses,
                                unsigned *count)
{
    if (c->name_length != 5 || memcmp(c->name, "HFMA2", 5) || p->count != 5) return false;
    if (!span_begins(p->operands[1], "-RZ") || !span_begins(p->operands[2], "RZ")) return false;
    if (!is_number(p->operands[3]) || !is_number(p->operands[4])) return false;
    uses[0] = (x_operand){.kind = X_IMM,
                          .imm = (int64_t)(half_bits(p->operands[3]) << 16 | half_bits(p->operands[4]))};
    *count = 1;
    to->op = X_MOV;
    to->bits = 32;
    to->flags &= ~(uint32_t)(F_MATH | F_HALF | F_FMA);
    return true;
}

static bool is_predicate(span s)
{
    x_operand o;
    const char *end;
    if (s.at < s.end && *s.at == '!') s.at++;
    return read_register(s, &o, &end) && (s.at[0] == 'P' || (s.at[0] == 'U' && s.at[1] == 'P'));
}

/* PLOP3.LUT P0, PT, P1, P0, PT, 0xa8, 0x0: of three predicates. */
static bool set_predicates(const cute_code_instruction *c, const parts *p, x_inst *to, x_operand *uses,
                           unsigned *count)
{
    bool uniform = c->name_length && c->name[0] == 'U';
    size_t length = (size_t)c->name_length - uniform;
    if (length != 5 || memcmp(c->name + uniform, "PLOP3", 5) || p->count != 7) return false;
    x_operand table = read_operand(p->operands[5], 0);
    if (table.kind != X_IMM || table.imm < 0 || table.imm > 255) return false;
    for (int k = 0; k < 3; k++) uses[k] = read_operand(p->operands[2 + k], 0);
    *count = 3;
    to->op = X_LOP3;
    to->bits = 1;
    to->table = (uint8_t)table.imm;
    return true;
}

/* Sets op and the operands that it is computed of; false: it is not known, or something is unusual. */
static bool set_semantic(const cute_code_instruction *c, const parts *p, int arch, x_inst *to,
                         x_operand *uses, unsigned *count)
{
    const semantic *s = find_semantic(c);
    span m = p->modifiers;
    int at = 0;
    if (!s || s->op == X_OTHER || has(m, "X") || has(m, "HI") || p->count < 2) {
        bool high = s && (s->op == X_SHL ? p->count == 4 : s->op == X_LEA && p->count == 5);
        if (!high || has(m, "X")) return false;
    }
    /* Results: a register, then predicates. */
    bool tested = s->op == X_LOP3 && is_predicate(p->operands[0]);
    for (at = 1 + tested; at < p->count && is_predicate(p->operands[at]) && s->op != X_SELECT; at++) continue;
    *count = 0;
    for (; at < p->count && *count < 4; at++) uses[(*count)++] = read_operand(p->operands[at], arch);
    to->op = s->op;
    to->bits = 32;
    to->is_signed = !has(m, "U32");
    switch (s->op) {
    case X_ADD:
        /* carries stand behind */
        if (*count > 3) *count = 3;
        break;
    case X_MAD:
        if (*count < 3 || has(m, "HI")) return false;
        *count = 3;
        break;
    case X_MOV: *count = 1; break;
    case X_LEA:
        /* LEA.HI a, b, RZ, n: what a << n has above 32 bits */
        if (has(m, "HI")) {
            if (*count != 4 || uses[2].kind != X_IMM || uses[2].imm || uses[3].kind != X_IMM ||
                uses[3].imm < 1 || uses[3].imm > 31 || has(m, "SX32"))
                return false;
            to->op = X_LEA_HIGH;
            to->shift = (uint8_t)(32 - uses[3].imm);
            *count = 2;
            break;
        }
        if (*count < 3 || uses[2].kind != X_IMM || uses[2].imm < 0 || uses[2].imm > 31) {
            if (*count == 2) break;
            return false;
        }
        to->shift = (uint8_t)uses[2].imm;
        *count = 2;
        break;
    case X_SHL:
        /* SHF.L a, n, RZ; SHF.R RZ, n, a with .HI, or a, n, RZ */
        if (*count == 3) {
            bool right = has(m, "R");
            if (right && !has(m, "HI") && uses[2].kind != X_IMM) return false;
            if (right && has(m, "HI")) uses[0] = uses[2];
            if (!right && has(m, "HI")) return false;
            to->op = right ? X_SHR : X_SHL;
            *count = 2;
        }
        to->is_signed = has(m, "S32") || has(m, "S64");
        if (has(m, "S64") || has(m, "U64")) return false;
        break;
    case X_LOP3:
        if (*count < 4 || uses[3].kind != X_IMM) return false;
        to->table = (uint8_t)uses[3].imm;
        if (is_predicate(p->operands[0])) to->compare = X_NONZERO;
        *count = 3;
        break;
    case X_SELECT:
        if (*count != 3) return false;
        break;
    case X_SETP:
        to->compare = compare_of(m);
        if (to->compare == UINT8_MAX || *count < 2) return false;
        /* ISETP.GE.OR P1, PT, R23, R8, P1 */
        if (*count > 2 && (uses[2].kind != X_IMM || uses[2].inverted)) {
            if (has(m, "EX")) return false;
            to->op = X_SETP_JOINED;
            to->table = has(m, "OR") ? X_JOIN_OR : has(m, "XOR") ? X_JOIN_XOR : X_JOIN_AND;
            *count = 3;
            break;
        }
        if (has(m, "EX")) {
            if (*count != 4 || uses[3].kind != X_VAR || uses[3].inverted) return false;
            uses[2] = uses[3];
            to->op = X_SETP_HIGH;
            *count = 3;
            break;
        }
        *count = 2;
        break;
    case X_MIN:
        if (*count < 3 || uses[2].kind != X_IMM) return false;
        to->op = uses[2].inverted ? X_MAX : X_MIN;
        *count = 2;
        break;
    default: break;
    }
    return true;
}

/* "[R2.64+UR4+0x10]", "desc[UR4][R2.64]": registers that are added, and a number. */
static void set_address(span s, x_inst *to, x_operand *uses, unsigned *count)
{
    const char *open = NULL, *end;
    for (const char *at = s.at; at < s.end; at++)
        if (*at == '[') open = at;
    if (!open) return;
    for (const char *at = open + 1; at < s.end && *at != ']';) {
        x_operand o;
        bool minus = *at == '-';
        if (*at == '+' || minus) at++;
        if (read_register((span){at, s.end}, &o, &end)) {
            at = end;
            while (at < s.end && *at == '.')
                for (at++; at < s.end && ((*at >= '0' && *at <= '9') || (*at >= 'A' && *at <= 'Z')); at++)
                    continue;
            if (o.kind == X_IMM && to->address >= 0) continue;
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
        uses[(*count)++] = (x_operand){.kind = X_IMM};
    }
}

/* UBLKCP.S.G [UR8], [UR4], UR10 and UTMALDG bring to the address in UR8 and complete the mbarrier in UR9, the
 * former UR10 times 16 bytes;
 * SYNCS.PHASECHK.TRANS64.TRYWAIT P0, [UR9], R4 waits for one. */
static void set_barrier(const parts *p, x_inst *to, x_operand *uses, unsigned *count)
{
    const char *end;
    if (to->flags & F_WAIT_MBARRIER) {
        for (int k = 0; k < p->count && to->address < 0; k++)
            if (memchr(p->operands[k].at, '[', (size_t)(p->operands[k].end - p->operands[k].at)))
                set_address(p->operands[k], to, uses, count);
        return;
    }
    span s = p->count ? p->operands[0] : (span){"", ""};
    if (!(to->flags & F_TMA) || s.at >= s.end || *s.at != '[') return;
    s.at++;
    x_operand *where = &uses[*count], *barrier = &uses[*count + 1];
    if (!read_register(s, where, &end) || where->kind != X_VAR || where->var < UR ||
        where->var + 1 >= UR + cute_register_count[CUTE_REGISTER_UR])
        return;
    *barrier = *where;
    barrier->var++;
    *count += 2;
    if (memmem(to->text, to->length, "UBLKCP", 6) && p->count > 2)
        uses[(*count)++] = read_operand(p->operands[2], 0);
}

/* ---- one instruction ---- */

static bool named(const cute_code_instruction *c, const char *name)
{
    return strlen(name) == c->name_length && !memcmp(c->name, name, c->name_length);
}

static void set_flags(const cute_code_instruction *c, span m, x_inst *to)
{
    static const struct {
        const char *name;
        uint32_t flags;
    } names[] = {
        {"DADD", F_DOUBLE | F_MATH},
        {"DMUL", F_DOUBLE | F_MATH},
        {"DFMA", F_DOUBLE | F_MATH | F_FMA},
        {"DSETP", F_DOUBLE},
        {"FADD", F_MATH | F_FLOAT_ADD},
        {"FMUL", F_MATH},
        {"FFMA", F_MATH | F_FMA},
        {"HADD2", F_MATH | F_HALF},
        {"HMUL2", F_MATH | F_HALF},
        {"HFMA2", F_MATH | F_HALF | F_FMA},
        {"FCHK", F_SLOW_MATH},
        {"MUFU", F_MATH},
        {"LDGSTS", F_ASYNC},
        {"UTMALDG", F_TMA},
        {"UTMASTG", F_TMA},
        {"UTMAREDG", F_TMA},
        {"UBLKCP", F_TMA},
        {"UBLKRED", F_TMA},
        {"HGMMA", F_WGMMA},
        {"IGMMA", F_WGMMA},
        {"QGMMA", F_WGMMA},
        {"BGMMA", F_WGMMA},
        {"HMMA", F_MMA},
        {"IMMA", F_MMA},
        {"DMMA", F_MMA},
        {"QMMA", F_MMA},
        {"BMMA", F_MMA},
        {"OMMA", F_MMA},
        {"UTCHMMA", F_WGMMA},
        {"UTCQMMA", F_WGMMA},
        {"UTCIMMA", F_WGMMA},
        {"UTCOMMA", F_WGMMA},
        {"USETMAXREG", F_SETMAXNREG},
        {"LDSM", F_TENSOR_LOAD},
        {"STSM", F_TENSOR_LOAD},
        {"BRA", F_BRANCH},
        {"CALL", F_CALL},
    };
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (named(c, names[k].name)) to->flags |= names[k].flags;
    if (named(c, "BAR") && (has(m, "SYNC") || has(m, "RED"))) to->flags |= F_BARRIER;
    if (named(c, "F2F") && has(m, "F64") && has(m, "F32"))
        to->flags |=
            strstr(m.at, ".F64.F32") && strstr(m.at, ".F64.F32") < m.end ? F_TO_DOUBLE : F_FROM_DOUBLE;
    if ((named(c, "MEMBAR") && has(m, "SYS")) || (named(c, "FENCE") && has(m, "SYS")))
        to->flags |= F_SYSTEM_FENCE;
    if (named(c, "SYNCS") && (has(m, "TRYWAIT") || has(m, "PHASECHK"))) to->flags |= F_WAIT_MBARRIER;
    if (c->opcode->access != CUTE_ACCESS_NONE && (has(m, "STRONG") || has(m, "VOLATILE")) && has(m, "SYS"))
        to->flags |= F_VOLATILE;
    if (c->opcode->access != CUTE_ACCESS_NONE && has(m, "STRONG")) to->flags |= F_ORDERED;
    if (has(m, "CONSTANT")) to->flags |= F_READ_ONLY;
    if ((named(c, "DEPBAR") && has(m, "LE")) || named(c, "LDGDEPBAR")) {
        /* DEPBAR.LE SB0, 0x1 */
        const char *comma = memchr(m.end, ',', strcspn(m.end, ";"));
        if (named(c, "DEPBAR") && comma) {
            to->flags |= F_WAIT_ASYNC;
            to->offset = strtoll(comma + 1, NULL, 0);
        }
    }
    if (named(c, "WARPGROUP") && has(m, "DEPBAR")) {
        const char *comma = memchr(m.end, ',', strcspn(m.end, ";"));
        to->flags |= F_WGMMA_WAIT;
        to->offset = comma ? strtoll(comma + 1, NULL, 0) : 0;
    }
}

/* HFMA2 R7, R7.H0_H0, R6.H1_H1, 0.5, 0.5: one element, where pairs are HFMA2 R7, R7, R6, 0.5, 0.5. */
static bool is_scalar_half(const parts *p)
{
    bool any = false;
    for (int n = 1; n < p->count; n++) {
        span s = p->operands[n];
        size_t length = (size_t)(s.end - s.at);
        const char *name = memchr(s.at, 'R', length);
        if (!name || name + 1 == s.end || name[1] == 'Z') continue;
        if (!memmem(s.at, length, ".H0_H0", 6) && !memmem(s.at, length, ".H1_H1", 6)) return false;
        any = true;
    }
    return any;
}

static bool set_inst(x_function *f, const cute_code_instruction *c, x_inst *to)
{
    x_operand uses[64];
    unsigned count = 0;
    uint32_t defs[256];
    unsigned def_count = 0;
    parts p = {0};
    const char *at = c->name + c->name_length;
    p.modifiers.at = at;
    while (*at && *at != ' ' && *at != ';') at++;
    p.modifiers.end = at;
    size_t rest = strcspn(at, ";");
    p.count = split((span){at, at + rest}, p.operands);
    *to = (x_inst){.class = c->class,
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
    set_flags(c, p.modifiers, to);
    /* HADD2.F32 widens. */
    if (to->flags & F_HALF && !has(p.modifiers, "F32") && is_scalar_half(&p)) to->flags |= F_HALF_SCALAR;
    if (to->flags & (F_TMA | F_WGMMA)) to->access = CUTE_ACCESS_NONE;
    for (unsigned u = 0; u < c->use_count; u++)
        for (unsigned r = 0; r < c->uses[u].count && c->uses[u].written && def_count < 256; r++)
            defs[def_count++] = cute_register_first[c->uses[u].class] + c->uses[u].first + r;
    bool plain = (set_packed_constant(c, &p, to, uses, &count) || set_predicates(c, &p, to, uses, &count) ||
                  set_semantic(c, &p, f->arch, to, uses, &count)) &&
                 def_count;
    if (!plain) {
        to->op = X_OTHER;
        count = 0;
        set_barrier(&p, to, uses, &count);
        if (to->access != CUTE_ACCESS_NONE && to->space != CUTE_CODE_SPACE_CONST) {
            /* The last brackets: of a copy its source. */
            for (int k = p.count - 1; k >= 0; k--)
                if (memchr(p.operands[k].at, '[', (size_t)(p.operands[k].end - p.operands[k].at))) {
                    set_address(p.operands[k], to, uses, &count);
                    break;
                }
        }
        bool gives = to->access == CUTE_ACCESS_STORE || to->access == CUTE_ACCESS_ATOMIC;
        for (unsigned u = 0; u < c->use_count; u++)
            for (unsigned r = 0; r < c->uses[u].count && !c->uses[u].written && count < 48; r++) {
                unsigned var = cute_register_first[c->uses[u].class] + c->uses[u].first + r;
                bool known = false;
                for (unsigned k = 0; k < count; k++) known |= uses[k].kind == X_VAR && uses[k].var == var;
                /* of a pair of addresses the low word is enough */
                if (to->address >= 0 && uses[to->address].kind == X_VAR && var == uses[to->address].var + 1 &&
                    c->uses[u].count == 2)
                    known = true;
                if (known) continue;
                /* a descriptor is uniform */
                if (gives && to->data < 0 && var < UR) to->data = (int16_t)count;
                uses[count++] = (x_operand){.kind = X_VAR, .var = var};
            }
    }
    if (c->text[0] == '@') {
        span g = {c->text + 1, c->name};
        x_operand o = read_operand(trim(g), f->arch);
        if (o.kind == X_VAR) {
            to->guard = (int16_t)count;
            uses[count++] = o;
            for (unsigned d = 0; d < def_count && count < 64; d++)
                uses[count++] = (x_operand){.kind = X_VAR, .var = defs[d]};
        }
    }
    /* Spilled registers lie at constant places of the stack, whose pointer is R1. */
    if (to->space == CUTE_CODE_SPACE_LOCAL && to->address >= 0 && uses[to->address].kind == X_VAR &&
        uses[to->address].var == R + 1)
        to->flags |= F_SPILL;
    if (to->space == CUTE_CODE_SPACE_CONST) to->access = CUTE_ACCESS_NONE;
    to->uses = cute_arena_array(f->arena, count + 1, sizeof *uses);
    to->defs = cute_arena_array(f->arena, def_count + 1, sizeof *defs);
    if (!to->uses || !to->defs) return false;
    memcpy(to->uses, uses, count * sizeof *uses);
    memcpy(to->defs, defs, def_count * sizeof *defs);
    to->use_count = (uint16_t)count;
    to->def_count = (uint16_t)def_count;
    return true;
}

/* IADD3 R2, P0, R3, R4, R5 also writes P0: it is not the sum. */
static void order_defs(x_inst *to)
{
    for (unsigned d = 1; d < to->def_count; d++)
        if (to->defs[d] < P && to->defs[0] >= P) {
            uint32_t swap = to->defs[0];
            to->defs[0] = to->defs[d];
            to->defs[d] = swap;
        }
}

/* A division of integers: a conversion, MUFU.RCP of it, and the conversion back. */
static void find_divisions(x_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        x_inst *i = &f->insts[n];
        if (!memmem(i->text, i->length, "MUFU.RCP", 8)) continue;
        size_t from = n > 24 ? n - 24 : 0, to = n + 24 < f->count ? n + 24 : f->count;
        bool before = false, after = false;
        for (size_t k = from; k < to; k++) {
            const x_inst *o = &f->insts[k];
            bool wide = memmem(o->text, o->length, "I2F.U64", 7) != NULL;
            before |= k < n && (memmem(o->text, o->length, "I2F.RP", 6) ||
                                memmem(o->text, o->length, "I2F.U32.RP", 10) || wide ||
                                memmem(o->text, o->length, "I2FP.F32.U32", 12));
            after |= k > n && (memmem(o->text, o->length, "F2I.FTZ.U32.TRUNC", 17) ||
                               memmem(o->text, o->length, "F2I.U64.TRUNC", 13));
        }
        if (before && after) i->flags |= F_DIVIDE;
    }
}

/* The quotient is one or two too small: q = hi(inverse * n); r = n - q d; r >= d: r -= d, q++. */
static bool is_corrected(const x_function *f, size_t n)
{
    bool compared = false, subtracted = false;
    for (size_t k = n + 1; k < f->count && k < n + 16 && f->insts[k].block == f->insts[n].block; k++) {
        const x_inst *o = &f->insts[k];
        compared |=
            memmem(o->text, o->length, "ISETP.GE.U32", 12) || memmem(o->text, o->length, "ISETP.GT.U32", 12);
        for (unsigned u = 0; compared && o->op == X_ADD && o->guard >= 0 && u < o->use_count; u++)
            subtracted |= o->uses[u].negative;
    }
    return subtracted;
}

/* Divisions whose inverse is computed elsewhere, in front of the loop or for the one before: the product and its corrections
 * stay. */
static void find_quotients(x_function *f)
{
    bool divides = false;
    for (size_t n = 0; n < f->count; n++) divides |= (f->insts[n].flags & F_DIVIDE) != 0;
    for (size_t n = 0; n < f->count && divides; n++) {
        x_inst *i = &f->insts[n];
        uint32_t loop = f->flow->blocks[i->block].loop;
        if (!memmem(i->text, i->length, "IMAD.HI.U32", 11)) continue;
        bool whole = false;
        for (size_t k = n > 24 ? n - 24 : 0; k < n; k++)
            whole |= f->insts[k].class == CUTE_CODE_SPECIAL && f->insts[k].flags & F_DIVIDE &&
                     f->flow->blocks[f->insts[k].block].loop == loop;
        if (!whole && is_corrected(f, n)) i->flags |= F_DIVIDE;
    }
}

void x_join_comparisons(x_function *f)
{
    for (size_t n = 0; n < f->count; n++) {
        x_inst *high = &f->insts[n];
        if (high->op != X_SETP_HIGH) continue;
        const x_value *v = x_use(f, &high->uses[2]);
        const x_inst *low = v->inst >= 0 ? &f->insts[v->inst] : NULL;
        if (!low || low->op != X_SETP || low->guard >= 0 || low->use_count != 2) continue;
        high->uses[0] = low->uses[0];
        high->uses[1] = low->uses[1];
        high->op = X_SETP;
    }
}

bool x_from_sass(cute_arena *arena, cute_code_function *code, x_function *out)
{
    int arch = out->arch;
    *out = (x_function){.arena = arena,
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
    find_divisions(out);
    find_quotients(out);
    if (!x_ssa(out)) return false;
    x_join_comparisons(out);
    return true;
}
