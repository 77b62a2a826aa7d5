/* Decodes the text of an instruction: opcode, registers read and written, width and state space of memory accesses. Operands are
 * separated by commas outside of brackets; a register may have a sign, bars and modifiers:
 * "-|R4.H0_H0|", "R2.64", "[R2.64+UR4+0x10]", "desc[UR4][R2.64]", "gdesc[UR20]", "!P0". */
#include <ctype.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/code/sass/code.h"

const char *const cute_register_class_name[CUTE_REGISTER_CLASSES] = {"R", "UR", "P", "UP"};
const unsigned cute_register_first[CUTE_REGISTER_CLASSES] = {CUTE_FIRST_R, CUTE_FIRST_UR, CUTE_FIRST_P,
                                                             CUTE_FIRST_UP};
const unsigned cute_register_count[CUTE_REGISTER_CLASSES] = {CUTE_REGISTERS_WIDE - 1, CUTE_REGISTERS_WIDE - 1,
                                                             CUTE_REGISTERS_PREDICATE - 1,
                                                             CUTE_REGISTERS_PREDICATE - 1};
const char *const cute_code_space_name[CUTE_CODE_SPACES] = {"none",     "global",  "shared", "local",
                                                            "constant", "generic", "tensor", "texture"};
const char *const cute_code_access_name[] = {"none", "load", "store", "atomic", "copy"};

const cute_code_class_info cute_code_class_table[CUTE_CODE_CLASSES] = {
#define CLASS(id, name, latency, text) {name, latency, text},
#include "lib/code/sass/classes.def"
};

static const cute_opcode opcodes[] = {
#define OPCODE(name, class, pipe, space, access, flow, roles)                                                \
    {name, pipe, CUTE_CODE_##class, CUTE_CODE_SPACE_##space, CUTE_ACCESS_##access, CUTE_FLOW_##flow, roles},
#include "lib/code/sass/opcodes.def"
};
static const cute_opcode unknown = {.name = "", .pipe = "?", .class = CUTE_CODE_OTHER, .roles = "d"};

enum { OPCODE_COUNT = sizeof opcodes / sizeof *opcodes, SLOTS = 1024, MOST_USES = 24, MOST_OPERANDS = 16 };
static uint16_t slots[SLOTS]; /* index + 1; 0: free */

static unsigned hash_opcode(const char *name, size_t length)
{
    unsigned h = 2166136261u;
    for (size_t i = 0; i < length; i++) h = (h ^ (unsigned char)name[i]) * 16777619u;
    return h;
}

static void fill_slots(void)
{
    for (unsigned i = 0; i < OPCODE_COUNT; i++) {
        unsigned at = hash_opcode(opcodes[i].name, strlen(opcodes[i].name)) % SLOTS;
        while (slots[at]) at = (at + 1) % SLOTS;
        slots[at] = (uint16_t)(i + 1);
    }
}

static const cute_opcode *look_up(const char *name, size_t length)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, fill_slots);
    for (unsigned at = hash_opcode(name, length) % SLOTS; slots[at]; at = (at + 1) % SLOTS) {
        const cute_opcode *o = &opcodes[slots[at] - 1];
        if (strlen(o->name) == length && memcmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

/* ---- text ---- */

typedef struct span {
    const char *at, *end;
} span;

static bool has_modifier(span modifiers, const char *wanted)
{
    size_t length = strlen(wanted);
    for (const char *at = modifiers.at; at < modifiers.end;) {
        const char *dot = memchr(at, '.', (size_t)(modifiers.end - at));
        const char *end = dot ? dot : modifiers.end;
        if ((size_t)(end - at) == length && memcmp(at, wanted, length) == 0) return true;
        at = end + 1;
    }
    return false;
}

/* The index of a type modifier among all type modifiers; -1: none. */
static int type_index(span modifiers, const char *wanted)
{
    static const char *const types[] = {"F64", "F32", "F16", "BF16", "TF32", "S64",  "U64", "S32", "U32",
                                        "S16", "U16", "S8",  "U8",   "E4M3", "E5M2", "S4",  "U4"};
    int place = 0;
    for (const char *at = modifiers.at; at < modifiers.end;) {
        const char *dot = memchr(at, '.', (size_t)(modifiers.end - at));
        const char *end = dot ? dot : modifiers.end;
        size_t length = (size_t)(end - at);
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
            if (strlen(types[i]) == length && memcmp(at, types[i], length) == 0) {
                if (strcmp(types[i], wanted) == 0) return place;
                place++;
            }
        at = end + 1;
    }
    return -1;
}

static span trimmed(const char *at, const char *end)
{
    while (at < end && isspace((unsigned char)*at)) at++;
    while (end > at && isspace((unsigned char)end[-1])) end--;
    return (span){at, end};
}

static int split_operands(span text, span *out)
{
    int count = 0, depth = 0;
    const char *start = text.at;
    for (const char *at = text.at; at <= text.end && count < MOST_OPERANDS; at++) {
        char c = at < text.end ? *at : ',';
        if (c == '[' || c == '(') depth++;
        if ((c == ']' || c == ')') && depth) depth--;
        if (at < text.end && (c != ',' || depth)) continue;
        span operand = trimmed(start, at);
        if (operand.at < operand.end) out[count++] = operand;
        start = at + 1;
    }
    return count;
}

/* ---- registers ---- */

typedef struct reading {
    cute_code_use uses[MOST_USES];
    unsigned count;
} reading;

static void put_use(reading *r, unsigned class, bool written, unsigned first, unsigned count)
{
    const unsigned size = cute_register_count[class];
    if (first >= size || !count || r->count == MOST_USES) return;
    if (count > size - first) count = size - first;
    r->uses[r->count++] = (cute_code_use){(uint8_t)class, written, (uint8_t)first, (uint8_t)count};
}

/* Parses a register at `at`: class and number (255 for RZ, PT ...). Returns its end; NULL: not a register. */
static const char *register_at(const char *at, const char *end, unsigned *class, unsigned *number)
{
    const char *start = at;
    bool uniform = at < end && *at == 'U';
    at += uniform;
    if (at >= end || (*at != 'R' && *at != 'P')) return NULL;
    *class = *at == 'R' ? (uniform ? CUTE_REGISTER_UR : CUTE_REGISTER_R)
                        : (uniform ? CUTE_REGISTER_UP : CUTE_REGISTER_P);
    at++;
    *number = 255;
    if (at < end && *at == (start[uniform] == 'R' ? 'Z' : 'T')) {
        at++;
    } else {
        const char *digits = at;
        unsigned value = 0;
        while (at < end && isdigit((unsigned char)*at) && at - digits < 3)
            value = value * 10 + (unsigned)(*at++ - '0');
        if (at == digits || value > 255) return NULL;
        *number = value;
    }
    return at < end && (isalnum((unsigned char)*at) || *at == '_') ? NULL : at;
}

/* The operand is a register, possibly with signs and modifiers. */
static bool plain_register(span o, unsigned *class, unsigned *number)
{
    while (o.at < o.end && strchr("-~!|+", *o.at)) o.at++;
    const char *end = register_at(o.at, o.end, class, number);
    return end && (end == o.end || *end == '.' || *end == '|' || *end == ' ');
}

/* The registers of an address or a constant. Pairs: with .64, in a descriptor, and in a generic or global address with only one
 * register. */
static void put_address(reading *r, span o, bool wide)
{
    const char *bracket = memchr(o.at, '[', (size_t)(o.end - o.at));
    bool group = o.end - o.at > 5 && memcmp(o.at, "gdesc", 5) == 0;
    bool described = (o.end - o.at > 4 && memcmp(o.at, "desc", 4) == 0) ||
                     (o.end - o.at > 2 && memcmp(o.at, "cx[", 3) == 0);
    bool first = true;
    for (const char *at = bracket ? bracket : o.at; at < o.end;) {
        unsigned class, number;
        const char *end = at > o.at && (isalnum((unsigned char)at[-1]) || at[-1] == '_' || at[-1] == '.')
                              ? NULL
                              : register_at(at, o.end, &class, &number);
        if (!end) {
            at++;
            continue;
        }
        bool pair = o.end - end >= 3 && memcmp(end, ".64", 3) == 0;
        bool narrow = o.end - end >= 4 && memcmp(end, ".U32", 4) == 0;
        unsigned count = pair || (first && described) ? 2 : 1;
        if (group) count = 2;
        if (wide && !narrow && !described && class == CUTE_REGISTER_R) count = 2;
        put_use(r, class, false, number, count);
        first = false;
        at = end;
    }
}

/* ---- widths ---- */

/* Parses "16816" or "64x256x16". */
static bool parse_shape(span modifiers, unsigned *m, unsigned *n, unsigned *k)
{
    const char *dot = memchr(modifiers.at, '.', (size_t)(modifiers.end - modifiers.at));
    char text[24];
    size_t length = (size_t)((dot ? dot : modifiers.end) - modifiers.at);
    if (!length || length >= sizeof text) return false;
    memcpy(text, modifiers.at, length);
    text[length] = 0;
    char *x = strchr(text, 'x'), *y = x ? strchr(x + 1, 'x') : NULL;
    if (y) {
        *m = (unsigned)strtoul(text, NULL, 10);
        *n = (unsigned)strtoul(x + 1, NULL, 10);
        *k = (unsigned)strtoul(y + 1, NULL, 10);
    } else {
        bool sixteen = text[0] == '1' && text[1] == '6' && length >= 4;
        if (length < 3) return false;
        *m = sixteen ? 16 : 8;
        *n = (unsigned)(text[sixteen ? 2 : 1] - '0');
        *k = (unsigned)strtoul(text + (sixteen ? 3 : 2), NULL, 10);
    }
    return *m && *m <= 256 && *n && *n <= 512 && *k && *k <= 4096;
}

typedef struct widths {
    unsigned written, a, b, c; /* registers of the first result and of the sources, in order */
} widths;

static widths same_widths(unsigned n)
{
    return (widths){n, n, n, n};
}

static unsigned element_bits(char kind, span modifiers)
{
    switch (kind) {
    case 'D': return 64;
    case 'B': return 1;
    case 'O': return 4;
    case 'Q': return 8;
    case 'I': return has_modifier(modifiers, "S4") || has_modifier(modifiers, "U4") ? 4 : 8;
    default: return has_modifier(modifiers, "TF32") ? 32 : 16;
    }
}

/* Registers per lane of MMA fragments: elements * bits / lanes. */
static widths mma_widths(const char *name, size_t length, span modifiers)
{
    unsigned m, n, k, bits = element_bits(name[0], modifiers), result = 32;
    bool group = length > 3 && memcmp(name + length - 3, "MMA", 3) == 0 && name[length - 4] == 'G';
    if (!parse_shape(modifiers, &m, &n, &k)) return same_widths(group ? 24 : 1);
    if (name[0] == 'D') result = 64;
    if ((name[0] == 'H' || name[0] == 'Q') && type_index(modifiers, "F32") < 0) result = 16;
    unsigned lanes = (group ? 128 : 32) * 32, sparse = has_modifier(modifiers, "SP") ? 2 : 1;
    widths w = {(m * n * result + lanes - 1) / lanes, (m * k * bits / sparse + lanes - 1) / lanes,
                (n * k * bits + lanes - 1) / lanes, 0};
    w.c = w.written;
    if (w.written > 128 || w.a > 128 || w.b > 128) return same_widths(1);
    return w;
}

/* Bytes per lane of a memory access. */
static unsigned moved_bytes(const cute_opcode *o, span modifiers)
{
    static const struct {
        const char *modifier;
        unsigned bytes;
    } rows[] = {{"128", 16}, {"256", 32}, {"64", 8}, {"U16", 2}, {"S16", 2}, {"U8", 1}, {"S8", 1}};
    if (strcmp(o->name, "LDSM") == 0 || strcmp(o->name, "STSM") == 0)
        return has_modifier(modifiers, "4") ? 16 : has_modifier(modifiers, "2") ? 8 : 4;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (has_modifier(modifiers, rows[i].modifier)) return rows[i].bytes;
    if (has_modifier(modifiers, "F64")) return 8;
    if (o->pipe[0] == 't' || o->space == CUTE_CODE_SPACE_TEXTURE) return 0;
    return 4;
}

/* Registers of a tensor-memory access: .x32 is 32 registers for shapes of 32 lanes and 32 bits. */
static unsigned tensor_registers(span modifiers)
{
    for (const char *at = modifiers.at; at + 1 < modifiers.end; at++)
        if (*at == 'x' && isdigit((unsigned char)at[1]) && at > modifiers.at && at[-1] == '.') {
            unsigned n = (unsigned)strtoul(at + 1, NULL, 10), lanes = 1;
            if (memmem(modifiers.at, (size_t)(modifiers.end - modifiers.at), "128bit", 6)) lanes = 2;
            if (memmem(modifiers.at, (size_t)(modifiers.end - modifiers.at), "256bit", 6)) lanes = 4;
            return n && n <= 128 && n * lanes <= 128 ? n * lanes : 128;
        }
    return 1;
}

static widths find_widths(const cute_code_instruction *i, span modifiers)
{
    const cute_opcode *o = i->opcode;
    const char *n = o->name;
    if (o->class == CUTE_CODE_TENSOR) return mma_widths(n, strlen(n), modifiers);
    if (o->space == CUTE_CODE_SPACE_TENSOR) return same_widths(tensor_registers(modifiers));
    if (o->access == CUTE_ACCESS_LOAD || o->access == CUTE_ACCESS_STORE || o->access == CUTE_ACCESS_ATOMIC)
        return same_widths(i->width > 4 ? i->width / 4 : 1);
    if (o->class == CUTE_CODE_DOUBLE || !strcmp(n, "DSETP") || !strcmp(n, "DSET")) return same_widths(2);
    if (!strcmp(n, "FADD2") || !strcmp(n, "FMUL2") || !strcmp(n, "FFMA2")) return same_widths(2);
    if (!strcmp(n, "IMAD")) {
        if (has_modifier(modifiers, "WIDE")) return (widths){2, 1, 1, 2};
        if (has_modifier(modifiers, "HI")) return (widths){1, 1, 1, 2};
    }
    if (o->class == CUTE_CODE_CONVERT) {
        if (!strcmp(n, "FRND")) return same_widths(type_index(modifiers, "F64") >= 0 ? 2 : 1);
        bool to = false, from = false;
        int f = type_index(modifiers, "F64"), s = type_index(modifiers, "S64"),
            u = type_index(modifiers, "U64");
        if (!strcmp(n, "F2F")) to = f == 0, from = f > 0;
        if (!strcmp(n, "F2F") && f == 0 && type_index(modifiers, "F32") < 0 &&
            type_index(modifiers, "F16") < 0 && type_index(modifiers, "BF16") < 0)
            from = true;
        if (!strcmp(n, "F2I")) to = s >= 0 || u >= 0, from = f >= 0;
        if (!strcmp(n, "I2F")) to = f >= 0, from = s >= 0 || u >= 0;
        return (widths){to ? 2 : 1, from ? 2 : 1, 1, 1};
    }
    if (!strcmp(n, "CS2R") || !strcmp(n, "CS2UR")) return same_widths(has_modifier(modifiers, "32") ? 1 : 2);
    if (!strcmp(n, "LEPC") || o->flow == CUTE_FLOW_CALL || o->flow == CUTE_FLOW_RETURN ||
        o->flow == CUTE_FLOW_INDEX)
        return same_widths(2);
    if (!strcmp(n, "MATCH") && has_modifier(modifiers, "U64")) return (widths){1, 2, 1, 1};
    if (!strcmp(n, "SHF")) return same_widths(1);
    if (!strcmp(n, "SYNCS")) return same_widths(has_modifier(modifiers, "64") ? 2 : 1);
    if (o->class == CUTE_CODE_INTEGER || o->class == CUTE_CODE_MOVE || !strcmp(n, "ISETP"))
        if (has_modifier(modifiers, "64") || has_modifier(modifiers, "U64") || has_modifier(modifiers, "S64"))
            return same_widths(2);
    return same_widths(1);
}

/* Uniform registers of a TMA address, by the operand's index; 0: as written. The shared-memory address is followed by the mbarrier (of
 * a load) and the coordinates; the tensor map and global addresses have 64 bits. */
static unsigned tma_registers(const cute_code_instruction *i, span modifiers, unsigned place)
{
    const char *n = i->opcode->name;
    unsigned dims = 0;
    for (const char *at = modifiers.at; at + 1 < modifiers.end; at++)
        if (*at >= '1' && *at <= '5' && at[1] == 'D') dims = (unsigned)(*at - '0');
    if (!strcmp(n, "UTMALDG")) return place ? 2 : dims + 2;
    if (!strcmp(n, "UTMASTG") || !strcmp(n, "UTMAREDG") || !strcmp(n, "UTMAPF")) return place ? 2 : dims + 1;
    if (!strcmp(n, "UTMACCTL") || !strcmp(n, "UBLKPF")) return 2;
    if (!strcmp(n, "UBLKCP") || !strcmp(n, "UBLKRED"))
        return place && modifiers.at < modifiers.end && *modifiers.at == 'G' ? 1 : 2;
    return 0;
}

/* The number of written operands, including predicates. */
static int written_count(const char *roles, const span *operands, int count)
{
    unsigned class, number;
    if (!roles[0]) return 0;
    if (roles[0] == '1') return count > 0;
    if (roles[0] == 'v') return count > 1 ? count - 1 : count;
    if (roles[0] == 'p') {
        int n = 0;
        while (n < 2 && n < count && plain_register(operands[n], &class, &number) && class >= CUTE_REGISTER_P)
            n++;
        return n;
    }
    /* Predicates around one register. */
    bool seen = false;
    int n = 0;
    for (; n < count; n++) {
        if (!plain_register(operands[n], &class, &number)) break;
        if (class < CUTE_REGISTER_P) {
            if (seen) break;
            seen = true;
        }
    }
    return n;
}

static void read_operands(reading *r, const cute_code_instruction *i, span modifiers, span rest)
{
    span operands[MOST_OPERANDS];
    const char *n = i->opcode->name;
    int count = split_operands(rest, operands), written = written_count(i->opcode->roles, operands, count);
    widths w = find_widths(i, modifiers);
    bool wide = i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC;
    if (!has_modifier(modifiers, "E") || i->opcode->access == CUTE_ACCESS_COPY) wide = false;
    int source = 0;
    unsigned addresses = 0;
    for (int k = 0; k < count; k++) {
        unsigned class, number;
        span o = operands[k];
        if (o.end - o.at == 2 && memcmp(o.at, "PR", 2) == 0) {
            put_use(r, CUTE_REGISTER_P, k < written, 0, 7);
            continue;
        }
        if (o.end - o.at == 3 && memcmp(o.at, "UPR", 3) == 0) {
            put_use(r, CUTE_REGISTER_UP, k < written, 0, 7);
            continue;
        }
        if (!plain_register(o, &class, &number)) {
            if (memchr(o.at, '[', (size_t)(o.end - o.at))) {
                unsigned before = r->count, tma = tma_registers(i, modifiers, addresses++);
                put_address(r, o, wide);
                if (tma && r->count == before + 1 && r->uses[before].class == CUTE_REGISTER_UR)
                    r->uses[before].count = (uint8_t)tma;
                /* A pair of descriptors if both matrices are in shared memory. */
                if (o.end - o.at > 5 && memcmp(o.at, "gdesc", 5) == 0 && source == 0 && r->count)
                    r->uses[r->count - 1].count = 4;
            }
            if (k >= written) source++;
            continue;
        }
        unsigned size = 1;
        if (class <= CUTE_REGISTER_UR) {
            if (k < written)
                size = w.written;
            else
                size = source == 0 ? w.a : source == 1 ? w.b : w.c;
            if (i->opcode->class == CUTE_CODE_TENSOR && source >= 1 && n[1] == 'G') size = w.c;
            if (i->opcode->class == CUTE_CODE_TENSOR && n[1] != 'G' && source > 2) size = 1;
        }
        put_use(r, class, k < written, number, size);
        if (k >= written) source++;
    }
}

bool cute_code_decode(cute_arena *arena, cute_code_instruction *i)
{
    reading r = {0};
    const char *at = i->text, *stop = at + strcspn(at, ";");
    /* The list of branch targets is a comment: (* ... *). */
    const char *comment = strstr(at, "(*");
    if (comment && comment < stop) stop = comment;
    unsigned class, number;
    if (*at == '@') {
        const char *p = at + 1 + (at[1] == '!');
        if (register_at(p, stop, &class, &number) && class >= CUTE_REGISTER_P) {
            put_use(&r, class, false, number, 1);
            i->guarded = number != 255 || at[1] == '!';
        }
        while (at < stop && !isspace((unsigned char)*at)) at++;
        while (at < stop && isspace((unsigned char)*at)) at++;
    }
    i->name = at;
    while (at < stop && (isalnum((unsigned char)*at) || *at == '_')) at++;
    size_t length = (size_t)(at - i->name);
    i->name_length = (uint8_t)(length < 255 ? length : 255);
    i->opcode = look_up(i->name, length);
    if (!i->opcode && length > 1 && *i->name == 'U') {
        i->opcode = look_up(i->name + 1, length - 1);
        i->uniform = i->opcode != NULL;
    }
    if (!i->opcode) i->opcode = &unknown;
    if (i->opcode->pipe[0] == 'u' && i->opcode->pipe[1]) i->uniform = true;
    span modifiers = {at, at};
    while (at < stop && !isspace((unsigned char)*at)) at++;
    if (modifiers.at < at && *modifiers.at == '.') modifiers.at++;
    modifiers.end = at;
    i->class = (uint8_t)i->opcode->class;
    i->space = (uint8_t)i->opcode->space;
    if (i->opcode->access != CUTE_ACCESS_NONE) i->width = (uint16_t)moved_bytes(i->opcode, modifiers);
    if (i->space == CUTE_CODE_SPACE_TENSOR && i->opcode->access != CUTE_ACCESS_COPY)
        i->width = (uint16_t)(tensor_registers(modifiers) * 4);
    read_operands(&r, i, modifiers, (span){at, stop});
    if (!r.count) return true;
    cute_code_use *uses = cute_arena_array(arena, r.count, sizeof *uses);
    if (!uses) return false;
    memcpy(uses, r.uses, r.count * sizeof *uses);
    i->uses = uses;
    i->use_count = (uint8_t)r.count;
    return true;
}

bool cute_code_next_label(const char **at, const char **label, size_t *length)
{
    const char *open = strstr(*at, "`("), *named = strstr(*at, "BRANCH_TARGETS ");
    if (open && (!named || open < named)) {
        const char *close = strchr(open, ')');
        if (!close) return false;
        *label = open + 2;
        *length = (size_t)(close - open - 2);
        *at = close + 1;
        return true;
    }
    const char *start = named ? named + strlen("BRANCH_TARGETS ") : **at == ',' ? *at + 1 : NULL;
    if (!start || *start != '.') return false;
    *label = start;
    *length = strcspn(start, ",\" *)");
    *at = start + *length;
    return true;
}
