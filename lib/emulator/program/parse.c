/* The parser of PTX modules: tokens and errors, symbols, statements, operands. Declarations are in declare.c,
 * decoding of instructions is in decode.c. */
#include "lib/emulator/program/parser.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/base/list.h"

enum { DEPTH_LIMIT = 64, OPERAND_LIMIT = 1024, TEXT_LIMIT = 1 << 30, NEWEST_TARGET = 90 };

typedef struct sreg_info {
    const char *text;
    uint8_t bytes;
} sreg_info;
static const sreg_info sregs[EM_SREGS] = {
#define S(id, text, bytes) {text, bytes},
#include "lib/emulator/program/sregs.def"
#undef S
};

/* ---- tokens and errors ---- */

cute_status em_fail_at(em_parser *p, size_t offset, uint32_t length, const char *format, ...)
{
    const em_program *program = p->program;
    if (p->aside) {
        va_list args;
        va_start(args, format);
        vsnprintf(p->problem, sizeof p->problem, format, args);
        va_end(args);
        return CUTE_INVALID;
    }
    cute_place place = cute_place_at(program->label, program->text, program->length,
                                     offset < program->length ? offset : program->length);
    place.length = (int)length;
    va_list args;
    va_start(args, format);
    cute_vreport(p->diag, CUTE_ERROR, &place, format, args);
    va_end(args);
    return CUTE_INVALID;
}

size_t em_token_at(const em_parser *p)
{
    return (size_t)(p->lexer.token.text - p->lexer.text);
}

cute_status em_fail_token(em_parser *p, const char *wanted)
{
    const em_token *t = &p->lexer.token;
    if (t->kind == EM_T_BAD) return em_fail_at(p, em_token_at(p), t->length, "%s", t->problem);
    if (t->kind == EM_T_END) return em_fail_at(p, em_token_at(p), 1, "expected %s at end of file", wanted);
    return em_fail_at(p, em_token_at(p), t->length, "expected %s, got '%.*s'", wanted, (int)t->length,
                      t->text);
}

bool em_is(const em_parser *p, char punctuation)
{
    return p->lexer.token.kind == EM_T_PUNCTUATION && p->lexer.token.punctuation == punctuation;
}

static bool text_equals(const char *text, uint32_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool em_is_directive(const em_parser *p, const char *text)
{
    const em_token *t = &p->lexer.token;
    return t->kind == EM_T_DIRECTIVE && text_equals(t->text, t->length, text);
}

bool em_is_name(const em_parser *p, const char *text)
{
    const em_token *t = &p->lexer.token;
    return t->kind == EM_T_NAME && text_equals(t->text, t->length, text);
}

void em_next(em_parser *p)
{
    em_lex_next(&p->lexer);
}

cute_status em_expect(em_parser *p, char punctuation)
{
    char wanted[] = {'\'', punctuation, '\'', '\0'};
    if (!em_is(p, punctuation)) return em_fail_token(p, wanted);
    em_next(p);
    return CUTE_OK;
}

cute_status em_take_integer(em_parser *p, int64_t *out, const char *what)
{
    if (p->lexer.token.kind != EM_T_INTEGER) return em_fail_token(p, what);
    if (p->lexer.token.integer > INT64_MAX)
        return em_fail_at(p, em_token_at(p), p->lexer.token.length, "the number is too large");
    *out = (int64_t)p->lexer.token.integer;
    em_next(p);
    return CUTE_OK;
}

/* ---- symbols ---- */

static uint32_t hash_name(const char *name, uint32_t length)
{
    uint32_t h = 2166136261u;
    for (uint32_t i = 0; i < length; i++) h = (h ^ (uint8_t)name[i]) * 16777619u;
    return h ^ h >> 15;
}

/* The `a` of a range `a<4>` is not a name itself and may be declared again. */
static em_symbol *find_here(const em_scope *scope, const char *name, uint32_t length, bool range)
{
    if (!scope->bucket_count) return NULL;
    for (em_symbol *s = scope->buckets[hash_name(name, length) & (scope->bucket_count - 1)]; s; s = s->next)
        if (s->length == length && (s->kind == EM_SYM_RANGE) == range && memcmp(s->name, name, length) == 0)
            return s;
    return NULL;
}

static em_symbol *find_above(const em_scope *scope, const char *name, uint32_t length, bool range)
{
    em_symbol *s = NULL;
    for (; scope && !s; scope = scope->up) s = find_here(scope, name, length, range);
    return s;
}

em_symbol *em_find(const em_scope *scope, const char *name, uint32_t length)
{
    em_symbol *s = find_above(scope, name, length, false);
    return s ? s : find_above(scope, name, length, true);
}

static cute_status grow_scope(em_parser *p, em_scope *scope)
{
    uint32_t count = scope->bucket_count ? scope->bucket_count * 4 : 16;
    em_symbol **buckets = cute_arena_array(p->arena, count, sizeof(em_symbol *));
    if (!buckets) return cute_fail_memory(p->diag);
    for (uint32_t i = 0; i < scope->bucket_count; i++)
        for (em_symbol *s = scope->buckets[i], *next; s; s = next) {
            uint32_t b = hash_name(s->name, s->length) & (count - 1);
            next = s->next;
            s->next = buckets[b];
            buckets[b] = s;
        }
    scope->buckets = buckets;
    scope->bucket_count = count;
    return CUTE_OK;
}

cute_status em_add_symbol(em_parser *p, em_scope *scope, const char *name, uint32_t length,
                          em_symbol_kind kind, em_symbol **out)
{
    if (find_here(scope, name, length, kind == EM_SYM_RANGE))
        return em_fail_at(p, (size_t)(name - p->lexer.text), length, "redeclaration of '%.*s'", (int)length,
                          name);
    if (scope->count >= scope->bucket_count) CUTE_TRY(grow_scope(p, scope));
    em_symbol *s = cute_arena_alloc(p->arena, sizeof *s);
    if (!s) return cute_fail_memory(p->diag);
    uint32_t b = hash_name(name, length) & (scope->bucket_count - 1);
    *s = (em_symbol){.next = scope->buckets[b], .name = name, .length = length, .kind = kind};
    scope->buckets[b] = s;
    scope->count++;
    *out = s;
    return CUTE_OK;
}

cute_status em_push_scope(em_parser *p)
{
    em_scope *scope = cute_arena_alloc(p->arena, sizeof *scope);
    if (!scope) return cute_fail_memory(p->diag);
    scope->up = p->scope;
    scope->depth = p->scope ? p->scope->depth + 1 : 0;
    if (scope->depth > DEPTH_LIMIT)
        return em_fail_at(p, em_token_at(p), 1, "blocks nested more than %d deep", DEPTH_LIMIT);
    p->scope = scope;
    return CUTE_OK;
}

/* %r12 of .reg .b32 %r<20>: created at its first use. */
static cute_status range_member(em_parser *p, const em_token *t, em_symbol **out)
{
    uint32_t digits = 0;
    while (digits < t->length && digits < 9 && t->text[t->length - 1 - digits] >= '0' &&
           t->text[t->length - 1 - digits] <= '9')
        digits++;
    *out = NULL;
    /* The length of the number is ambiguous: %r1 may itself be a range %r1<5>. */
    for (uint32_t n = digits; n > 0; n--) {
        const char *number = t->text + t->length - n;
        if (n > 1 && number[0] == '0') continue;
        for (em_scope *scope = p->scope; scope; scope = scope->up) {
            em_symbol *range = find_here(scope, t->text, t->length - n, true);
            if (!range) continue;
            uint32_t index = 0;
            for (uint32_t i = 0; i < n; i++) index = index * 10 + (uint32_t)(number[i] - '0');
            if (index >= range->count) continue;
            CUTE_TRY(em_add_symbol(p, scope, t->text, t->length, EM_SYM_REGISTER, out));
            (*out)->type = range->type;
            return CUTE_OK;
        }
    }
    return CUTE_OK;
}

cute_status em_register_named(em_parser *p, const em_token *name, em_symbol **out)
{
    em_symbol *s = em_find(p->scope, name->text, name->length);
    if (!s) CUTE_TRY(range_member(p, name, &s));
    *out = s && s->kind == EM_SYM_REGISTER ? s : NULL;
    return CUTE_OK;
}

static uint8_t storage_of(ptx_type type)
{
    return ptx_types[type].bytes == 1 ? 2 : ptx_types[type].bytes;
}

const em_register *em_register_at(const em_function *f, uint32_t at)
{
    size_t low = 0, high = f->register_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->registers[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->register_count && f->registers[low].at == at ? &f->registers[low] : NULL;
}

cute_status em_register_operand(em_parser *p, em_symbol *s, em_operand *out)
{
    uint8_t bytes = storage_of(s->type);
    em_function *f = p->function;
    if (!s->placed) {
        s->placed = true;
        if (f && !cute_arena_more(p->arena, &f->registers, f->register_count, &f->register_capacity,
                                  sizeof *f->registers, 64))
            return cute_fail_memory(p->diag);
        if (f) f->registers[f->register_count++] = (em_register){s->name, s->length, p->register_bytes};
        uint32_t size =
            bytes ? (uint32_t)(bytes == 2 ? 4 : bytes) * EM_LANES : 64; /* all aligned to 64 bytes */
        s->at = p->register_bytes;
        p->register_bytes += size;
    }
    *out = (em_operand){
        .kind = EM_O_VALUE, .base = EM_BASE_REGISTERS, .bytes = bytes, .type = (uint8_t)s->type, .at = s->at};
    return CUTE_OK;
}

/* ---- operands ---- */

static bool sreg_operand(em_parser *p, em_operand *out)
{
    const em_token *t = &p->lexer.token;
    char text[40];
    size_t length = t->length;
    if (length < 3 || length >= sizeof text || t->text[0] != '%') return false;
    memcpy(text, t->text, length);
    text[length] = '\0';
    const char *after = t->text + length;
    bool component =
        after + 1 < p->lexer.text + p->lexer.length && after[0] == '.' && strchr("xyz", after[1]) && after[1];
    if (component && length + 3 < sizeof text) memcpy(text + length, (char[]){'.', after[1], '\0'}, 3);
    for (int i = 0; i < EM_SREGS; i++) {
        /* The first letters suffice for most names. One row is a mere marker without text. */
        const char *name = sregs[i].text;
        if (*name != '%' || name[1] != text[1] || name[2] != text[2]) continue;
        bool whole = strcmp(name, text) == 0;
        text[length] = '\0';
        bool plain = !whole && strcmp(name, text) == 0;
        if (component) text[length] = '.';
        if (!whole && !plain) continue;
        bool predicate = i == EM_SREG_is_explicit_cluster;
        p->program->scratch |= i == EM_SREG_reserved_1;
        *out = (em_operand){.kind = i < EM_SREG_fixed_end ? EM_O_VALUE : EM_O_SREG,
                            .base = EM_BASE_SREGS,
                            .bytes = sregs[i].bytes,
                            .type = predicate             ? PTX_pred
                                    : sregs[i].bytes == 8 ? PTX_u64
                                                          : PTX_u32,
                            .at = i < EM_SREG_fixed_end ? (uint32_t)i * 4 * EM_LANES : (uint32_t)i};
        em_next(p);
        if (whole && component) em_next(p);
        return true;
    }
    return false;
}

static cute_status label_operand(em_parser *p, const em_token *t, em_operand *out)
{
    /* A label, or undeclared: resolved at the end of the function, when the operand is found by its position
     * in the text. */
    *out = (em_operand){.kind = EM_O_LABEL,
                        .at = UINT32_MAX,
                        .symbol = t->text,
                        .count = (uint16_t)(t->length < 65535 ? t->length : 65535)};
    em_next(p);
    return CUTE_OK;
}

static cute_status plus_offset(em_parser *p, em_operand *out)
{
    while (em_is(p, '+') || em_is(p, '-')) {
        bool minus = em_is(p, '-');
        int64_t value;
        em_next(p);
        CUTE_TRY(em_constant_term(p, &value));
        out->offset = (int64_t)((uint64_t)out->offset + (minus ? 0 - (uint64_t)value : (uint64_t)value));
    }
    return CUTE_OK;
}

static cute_status name_operand(em_parser *p, em_operand *out);

/* array[7], array[%r1], array[%r1+7], as in ptxas: a 32-bit element index, whatever the dimensions; arrays
 * without an extent are indexed by byte. */
static cute_status element_operand(em_parser *p, const em_token *name, em_variable *v, em_operand *out)
{
    em_operand index = {0};
    int64_t number = 0, bytes = v->dynamic ? 1 : ptx_types[v->type].bytes;
    if (!v->array)
        return em_fail_at(p, (size_t)(name->text - p->lexer.text), name->length,
                          "expected an array, got '%.*s'", (int)name->length, name->text);
    em_next(p);
    bool variable = p->lexer.token.kind == EM_T_NAME && !em_is_name(p, "WARP_SZ");
    if (variable) {
        size_t where = em_token_at(p);
        uint32_t length = p->lexer.token.length;
        const em_symbol *s = em_find(p->scope, p->lexer.token.text, length);
        if (!s || s->kind != EM_SYM_VARIABLE) CUTE_TRY(name_operand(p, &index)); /* not another element */
        if (index.kind != EM_O_VALUE || index.base != EM_BASE_REGISTERS || !index.bytes || index.bytes > 8 ||
            ptx_types[index.type].kind == PTX_FLOAT)
            return em_fail_at(p, where, length, "expected an integer register as the index");
    }
    bool added = variable && em_is(p, '+');
    if (added) em_next(p);
    if (added || !variable) CUTE_TRY(em_constant(p, &number));
    CUTE_TRY(em_expect(p, ']'));
    if (em_is(p, '['))
        return em_fail_at(p, em_token_at(p), 1,
                          "expected a single index, which counts the elements of all dimensions");
    *out = (em_operand){.kind = EM_O_ELEMENT, .symbol = v, .type = PTX_b64};
    if (!variable) {
        out->offset = (int64_t)(int32_t)(uint32_t)number * bytes;
        return CUTE_OK;
    }
    out->list = cute_arena_alloc(p->arena, sizeof index);
    if (!out->list) return cute_fail_memory(p->diag);
    out->list[0] = index;
    out->count = 1;
    out->offset = (int64_t)(uint32_t)number;
    return CUTE_OK;
}

static cute_status name_operand(em_parser *p, em_operand *out)
{
    em_token t = p->lexer.token;
    if (sreg_operand(p, out)) return CUTE_OK;
    if (t.length == 1 && t.text[0] == '_') {
        *out = (em_operand){.kind = EM_O_NONE};
        em_next(p);
        return CUTE_OK;
    }
    if (text_equals(t.text, t.length, "WARP_SZ")) {
        *out = (em_operand){.kind = EM_O_IMMEDIATE, .offset = EM_LANES, .type = PTX_u32};
        em_next(p);
        return CUTE_OK;
    }
    em_symbol *s = em_find(p->scope, t.text, t.length);
    if (!s) CUTE_TRY(range_member(p, &t, &s));
    if (!s && t.text[0] == '%') {
        em_next(p);
        return em_fail_at(p, (size_t)(t.text - p->lexer.text), t.length, "undeclared register '%.*s'",
                          (int)t.length, t.text);
    }
    if (!s) return label_operand(p, &t, out);
    switch (s->kind) {
    case EM_SYM_REGISTER:
        if (p->register_bytes > UINT32_C(1) << 30)
            return em_fail_at(p, em_token_at(p), t.length, "the function has too many registers");
        CUTE_TRY(em_register_operand(p, s, out));
        em_next(p);
        return CUTE_OK;
    case EM_SYM_VARIABLE:
        *out = (em_operand){.kind = EM_O_IMMEDIATE, .symbol = s->variable, .type = PTX_b64};
        em_next(p);
        if (em_is(p, '[')) return element_operand(p, &t, s->variable, out);
        return plus_offset(p, out);
    case EM_SYM_FUNCTION:
        *out = (em_operand){.kind = EM_O_FUNCTION, .symbol = s->function, .at = s->function->index};
        em_next(p);
        return CUTE_OK;
    case EM_SYM_RANGE:
        return em_fail_at(p, em_token_at(p), t.length,
                          "'%.*s' is a register range: expected a register number after it", (int)t.length,
                          t.text);
    case EM_SYM_LABEL:
    case EM_SYM_PROTOTYPE:
    case EM_SYM_TARGETS: return label_operand(p, &t, out);
    }
    return CUTE_OK;
}

static cute_status parse_operand(em_parser *p, int depth, em_operand *out);

static cute_status list_operand(em_parser *p, char end, int depth, em_operand *out)
{
    em_operand items[OPERAND_LIMIT / 2];
    int count = 0;
    em_next(p);
    while (!em_is(p, end)) {
        if (count == OPERAND_LIMIT / 2) return em_fail_at(p, em_token_at(p), 1, "the list is too long");
        CUTE_TRY(parse_operand(p, depth + 1, &items[count++]));
        if (em_is(p, end)) break;
        CUTE_TRY(em_expect(p, ','));
    }
    CUTE_TRY(em_expect(p, end));
    *out = (em_operand){.kind = EM_O_VECTOR, .count = (uint16_t)count};
    out->list = cute_arena_array(p->arena, (size_t)count + 1, sizeof *items);
    if (!out->list) return cute_fail_memory(p->diag);
    memcpy(out->list, items, (size_t)count * sizeof *items);
    return CUTE_OK;
}

/* [register + offset], [variable], [number]; for tensors [register, {coordinates}]. */
static cute_status memory_operand(em_parser *p, int depth, em_operand *out)
{
    em_operand inner, rest;
    em_next(p);
    CUTE_TRY(parse_operand(p, depth + 1, &inner));
    if (inner.kind == EM_O_VALUE) CUTE_TRY(plus_offset(p, &inner));
    if (inner.kind == EM_O_LABEL) {
        return em_fail_at(p, (size_t)((const char *)inner.symbol - p->lexer.text), inner.count,
                          "undeclared name '%.*s'", (int)inner.count, (const char *)inner.symbol);
    }
    if (inner.kind != EM_O_VALUE && inner.kind != EM_O_IMMEDIATE) return em_fail_token(p, "an address");
    *out = (em_operand){.kind = EM_O_MEMORY, .offset = inner.kind == EM_O_VALUE ? inner.offset : 0};
    inner.offset = inner.kind == EM_O_VALUE ? 0 : inner.offset;
    size_t count = 1;
    bool coordinates = em_is(p, ',');
    if (coordinates) {
        em_next(p);
        CUTE_TRY(parse_operand(p, depth + 1, &rest));
        if (rest.kind != EM_O_VECTOR) return em_fail_token(p, "a list of coordinates");
        count = 2;
    }
    out->list = cute_arena_array(p->arena, count, sizeof inner);
    if (!out->list) return cute_fail_memory(p->diag);
    out->count = (uint16_t)count;
    out->list[0] = inner;
    if (coordinates) out->list[1] = rest;
    return em_expect(p, ']');
}

static cute_status number_operand(em_parser *p, em_operand *out)
{
    bool minus = em_is(p, '-');
    em_lexer saved = p->lexer;
    if (minus) em_next(p);
    if (p->lexer.token.kind == EM_T_REAL) {
        double value = minus ? -p->lexer.token.real : p->lexer.token.real;
        *out = (em_operand){.kind = EM_O_IMMEDIATE, .real = true, .type = PTX_f64};
        memcpy(&out->offset, &value, sizeof value);
        if (p->lexer.token.punctuation == 'f' && !minus) { /* preserves NaN payloads */
            out->type = PTX_f32;
            out->offset = (int64_t)p->lexer.token.integer;
        }
        em_next(p);
        if (!em_at_operator(p)) return CUTE_OK;
    }
    double real;
    bool is_real;
    p->lexer = saved;
    *out = (em_operand){.kind = EM_O_IMMEDIATE, .type = PTX_s64};
    CUTE_TRY(em_constant_number(p, &out->offset, &real, &is_real));
    if (!is_real) return CUTE_OK;
    *out = (em_operand){.kind = EM_O_IMMEDIATE, .real = true, .type = PTX_f64};
    memcpy(&out->offset, &real, sizeof real);
    return CUTE_OK;
}

static cute_status parse_operand(em_parser *p, int depth, em_operand *out)
{
    if (depth > 8) return em_fail_at(p, em_token_at(p), 1, "operands are nested too deeply");
    if (em_is(p, '{')) return list_operand(p, '}', depth, out);
    if (em_is(p, '(') && p->in_call) return list_operand(p, ')', depth, out);
    if (em_is(p, '[')) return memory_operand(p, depth, out);
    if (em_is(p, '!')) {
        em_lexer saved = p->lexer;
        em_next(p);
        if (p->lexer.token.kind == EM_T_NAME) {
            CUTE_TRY(name_operand(p, out));
            if (out->kind != EM_O_VALUE || out->bytes != 0) return em_fail_token(p, "a predicate after '!'");
            out->negated = true;
            return CUTE_OK;
        }
        p->lexer = saved;
    }
    if (em_is_name(p, "generic")) {
        em_next(p);
        CUTE_TRY(em_expect(p, '('));
        CUTE_TRY(parse_operand(p, depth + 1, out));
        return em_expect(p, ')');
    }
    if (p->lexer.token.kind == EM_T_NAME) return name_operand(p, out);
    return number_operand(p, out);
}

/* ---- statements ---- */

static cute_status parse_words(em_parser *p, em_raw *raw)
{
    raw->at = em_token_at(p);
    raw->name_length = p->lexer.token.length;
    raw->opcode = em_find_opcode(p->lexer.token.text, raw->name_length);
    p->in_call = raw->opcode == EM_OP_call;
    em_next(p);
    while (p->lexer.token.kind == EM_T_DIRECTIVE) {
        if (raw->word_count == (int)(sizeof raw->words / sizeof *raw->words))
            return em_fail_at(p, em_token_at(p), 1, "the instruction has too many modifiers");
        raw->words[raw->word_count].text = p->lexer.token.text;
        raw->words[raw->word_count++].length = p->lexer.token.length;
        em_next(p);
    }
    return CUTE_OK;
}

static cute_status parse_guard(em_parser *p, em_raw *raw)
{
    if (!em_is(p, '@')) return CUTE_OK;
    em_next(p);
    raw->guard_kind = 1;
    if (em_is(p, '!')) {
        raw->guard_kind = 2;
        em_next(p);
    }
    if (p->lexer.token.kind != EM_T_NAME) return em_fail_token(p, "a predicate");
    em_token t = p->lexer.token;
    CUTE_TRY(name_operand(p, &raw->guard));
    if (raw->guard.kind == EM_O_VALUE && raw->guard.bytes == 0) return CUTE_OK;
    return em_fail_at(p, (size_t)(t.text - p->lexer.text), t.length, "'%.*s' is not a predicate",
                      (int)t.length, t.text);
}

/* Records labels among the operands, to be resolved at the end of the function. */
static cute_status note_labels(em_parser *p, em_operand *list, int count)
{
    for (int i = 0; i < count; i++) {
        if (list[i].kind == EM_O_VECTOR) CUTE_TRY(note_labels(p, list[i].list, list[i].count));
        if (list[i].kind != EM_O_LABEL) continue;
        em_fixup *f = cute_arena_alloc(p->arena, sizeof *f);
        if (!f) return cute_fail_memory(p->diag);
        *f = (em_fixup){p->fixups, p->scope, list[i].symbol, list[i].count, &list[i]};
        p->fixups = f;
    }
    return CUTE_OK;
}

static cute_status parse_instruction(em_parser *p, em_raw *raw)
{
    em_operand operands[OPERAND_LIMIT / 8];
    if (p->lexer.token.kind != EM_T_NAME) return em_fail_token(p, "an instruction");
    CUTE_TRY(parse_words(p, raw));
    while (!em_is(p, ';')) {
        if (raw->count == OPERAND_LIMIT / 8)
            return em_fail_at(p, em_token_at(p), 1, "the instruction has too many operands");
        CUTE_TRY(parse_operand(p, 0, &operands[raw->count++]));
        /* "d|p" and "f(a)": no comma before the next operand. */
        if (em_is(p, '|')) {
            em_next(p);
            if (raw->count == 1) raw->second = true;
            if (em_is(p, ';')) return em_fail_token(p, "a predicate");
            continue;
        }
        if (em_is(p, ';')) break;
        CUTE_TRY(em_expect(p, ','));
    }
    CUTE_TRY(em_expect(p, ';'));
    raw->o = cute_arena_array(p->arena, (size_t)raw->count + 1, sizeof *raw->o);
    if (!raw->o) return cute_fail_memory(p->diag);
    memcpy(raw->o, operands, (size_t)raw->count * sizeof *operands);
    CUTE_TRY(note_labels(p, raw->o, raw->count));
    if (raw->opcode == EM_OP_ret) CUTE_TRY(em_give_results(p, p->function, raw));
    CUTE_TRY(em_decode(p, raw));
    return raw->opcode == EM_OP_call ? em_take_results(p, raw) : CUTE_OK;
}

cute_status em_parse_instruction(em_parser *p)
{
    em_raw raw = {.at = em_token_at(p)};
    CUTE_TRY(parse_guard(p, &raw));
    return parse_instruction(p, &raw);
}

/* .section name { ... }: debug information. */
static cute_status skip_section(em_parser *p)
{
    em_next(p);
    em_next(p);
    return em_skip_braces(p);
}

static cute_status skip_statement(em_parser *p)
{
    while (!em_is(p, ';') && p->lexer.token.kind != EM_T_END) em_next(p);
    return em_expect(p, ';');
}

/* "used_bytes_mask M": a bit for each byte of the next ld that the program uses. Compilers emit it for
 * widened loads, whose other bytes may be outside the valid memory. Other pragmas have no effect. */
static cute_status parse_pragma(em_parser *p)
{
    static const char name[] = "\"used_bytes_mask ";
    em_next(p);
    const em_token *t = &p->lexer.token;
    size_t length = sizeof name - 1;
    if (t->kind == EM_T_STRING && t->length > length && memcmp(t->text, name, length) == 0) {
        char digits[24] = "";
        size_t count = t->length - length;
        if (count < sizeof digits) memcpy(digits, t->text + length, count);
        p->used_bytes = strtoull(digits, NULL, 0);
    }
    return skip_statement(p);
}

static cute_status parse_label(em_parser *p, const em_token *name)
{
    em_symbol *s;
    em_next(p);
    CUTE_TRY(em_expect(p, ':'));
    if (em_is_directive(p, "branchtargets") || em_is_directive(p, "calltargets")) {
        em_operand list;
        CUTE_TRY(em_add_symbol(p, p->scope, name->text, name->length, EM_SYM_TARGETS, &s));
        em_operand items[OPERAND_LIMIT / 2];
        int count = 0;
        em_next(p);
        for (;;) {
            if (count == OPERAND_LIMIT / 2) return em_fail_at(p, em_token_at(p), 1, "the list is too long");
            CUTE_TRY(parse_operand(p, 0, &items[count++]));
            if (!em_is(p, ',')) break;
            em_next(p);
        }
        list = (em_operand){.kind = EM_O_VECTOR, .count = (uint16_t)count};
        list.list = cute_arena_array(p->arena, (size_t)count, sizeof *items);
        if (!list.list) return cute_fail_memory(p->diag);
        memcpy(list.list, items, (size_t)count * sizeof *items);
        CUTE_TRY(note_labels(p, list.list, count));
        s->targets = cute_arena_alloc(p->arena, sizeof list);
        if (!s->targets) return cute_fail_memory(p->diag);
        *s->targets = list;
        return em_expect(p, ';');
    }
    if (em_is_directive(p, "callprototype")) {
        CUTE_TRY(em_add_symbol(p, p->scope, name->text, name->length, EM_SYM_PROTOTYPE, &s));
        return skip_statement(p);
    }
    CUTE_TRY(em_add_symbol(p, p->scope, name->text, name->length, EM_SYM_LABEL, &s));
    s->at = p->program->count;
    return CUTE_OK;
}

static cute_status parse_statement(em_parser *p)
{
    em_token t = p->lexer.token;
    em_space space;
    if (em_is(p, ';')) {
        em_next(p);
        return CUTE_OK;
    }
    if (em_is(p, '{')) {
        em_next(p);
        CUTE_TRY(em_push_scope(p));
        CUTE_TRY(em_parse_block(p));
        p->scope = p->scope->up;
        return CUTE_OK;
    }
    if (t.kind == EM_T_DIRECTIVE) {
        if (em_is_directive(p, "reg")) return em_declare_registers(p);
        if (em_is_directive(p, "loc")) return em_parse_loc(p);
        if (em_is_directive(p, "file")) return em_parse_file(p);
        if (em_is_directive(p, "pragma")) return parse_pragma(p);
        if (em_is_directive(p, "section")) return skip_section(p);
        if (em_space_of(&t, &space)) {
            em_next(p);
            return em_declare_variable(p, space, false);
        }
        return em_fail_token(p, "a statement");
    }
    if (t.kind == EM_T_NAME) {
        em_lexer saved = p->lexer;
        em_next(p);
        bool label = em_is(p, ':');
        p->lexer = saved;
        if (label) return parse_label(p, &t);
    }
    return p->later ? em_read_instruction(p) : em_parse_instruction(p);
}

cute_status em_parse_block(em_parser *p)
{
    while (!em_is(p, '}')) {
        if (p->lexer.token.kind == EM_T_END || p->lexer.token.kind == EM_T_BAD)
            return em_fail_token(p, "'}'");
        CUTE_TRY(parse_statement(p));
    }
    em_next(p);
    return CUTE_OK;
}

/* PTX of a later architecture than the emulator's runs if its instructions are known. */
static cute_status check_ptx_target(em_parser *p)
{
    const em_token *t = &p->lexer.token;
    unsigned number = 0;
    uint32_t at = 3;
    bool known = t->length > 3 && memcmp(t->text, "sm_", 3) == 0;
    for (; known && at < t->length && at < 7 && t->text[at] >= '0' && t->text[at] <= '9'; at++)
        number = number * 10 + (unsigned)(t->text[at] - '0');
    if (!known || at == 3) return em_fail_token(p, "an architecture such as sm_90a");
    p->later |= number > NEWEST_TARGET;
    return CUTE_OK;
}

static cute_status parse_module_header(em_parser *p)
{
    if (em_is_directive(p, "version")) {
        em_next(p);
        if (p->lexer.token.kind != EM_T_REAL && p->lexer.token.kind != EM_T_INTEGER)
            return em_fail_token(p, "a version");
        bool real = p->lexer.token.kind == EM_T_REAL;
        double version = real ? p->lexer.token.real : (double)p->lexer.token.integer;
        if (!(version >= 1 && version < 100)) return em_fail_token(p, "a version from 1.0 to 99.9");
        p->program->version = (int)(version * 10 + 0.5);
        em_next(p);
        return CUTE_OK;
    }
    if (em_is_directive(p, "target")) {
        em_next(p);
        if (p->lexer.token.kind != EM_T_NAME) return em_fail_token(p, "an architecture");
        CUTE_TRY(check_ptx_target(p));
        p->program->target = cute_arena_copy(p->arena, p->lexer.token.text, p->lexer.token.length);
        em_next(p);
        while (em_is(p, ',')) {
            em_next(p);
            em_next(p);
        }
        return CUTE_OK;
    }
    int64_t size;
    size_t at = em_token_at(p);
    em_next(p);
    CUTE_TRY(em_take_integer(p, &size, "64"));
    return size == 64 ? CUTE_OK : em_fail_at(p, at, 1, "only 64-bit addresses are supported");
}

static cute_status parse_module_item(em_parser *p)
{
    bool external = false;
    em_space space;
    if (em_is(p, ';')) {
        em_next(p);
        return CUTE_OK;
    }
    if (em_is_directive(p, "version") || em_is_directive(p, "target") || em_is_directive(p, "address_size"))
        return parse_module_header(p);
    if (em_is_directive(p, "file")) return em_parse_file(p);
    if (em_is_directive(p, "loc")) return em_parse_loc(p);
    if (em_is_directive(p, "section")) return skip_section(p);
    if (em_is_directive(p, "pragma") || em_is_directive(p, "alias") || em_is_directive(p, "tex") ||
        em_is_directive(p, "samplerref") || em_is_directive(p, "surfref") || em_is_directive(p, "texref"))
        return skip_statement(p);
    while (em_is_directive(p, "visible") || em_is_directive(p, "extern") || em_is_directive(p, "weak") ||
           em_is_directive(p, "common")) {
        external = em_is_directive(p, "extern");
        em_next(p);
    }
    if (em_is_directive(p, "entry") || em_is_directive(p, "func")) {
        bool entry = em_is_directive(p, "entry");
        em_next(p);
        return em_declare_function(p, entry, external);
    }
    if (p->lexer.token.kind == EM_T_DIRECTIVE && em_space_of(&p->lexer.token, &space)) {
        em_next(p);
        return em_declare_variable(p, space, external);
    }
    return em_fail_token(p, "a declaration");
}

static cute_status parse_program(cute_arena *arena, const char *label, const char *text, size_t length,
                                 uint64_t base, bool reading, em_program **out, cute_diag *diag)
{
    em_program *program = cute_arena_alloc(arena, sizeof *program);
    em_parser *p = cute_arena_alloc(arena, sizeof *p);
    *out = program;
    if (!program || !p) return cute_fail_memory(diag);
    program->arena = arena;
    program->label = label;
    program->text = text;
    program->length = length;
    program->base = base;
    program->target = "";
    p->arena = arena;
    p->program = program;
    p->diag = diag;
    p->reading = p->later = reading;
    p->lexer = (em_lexer){.text = text, .length = length};
    if (length > TEXT_LIMIT) return cute_fail(diag, CUTE_INVALID, NULL, "%s: the text is too long", label);
    CUTE_TRY(em_push_scope(p));
    p->module = p->scope;
    em_next(p);
    while (p->lexer.token.kind != EM_T_END) {
        if (p->lexer.token.kind == EM_T_BAD) return em_fail_token(p, "a declaration");
        CUTE_TRY(parse_module_item(p));
    }
    CUTE_TRY(em_find_lines(p));
    return em_place_shared(program) ? CUTE_OK : cute_fail_memory(diag);
}

cute_status em_program_parse(cute_arena *arena, const char *label, const char *text, size_t length,
                             uint64_t base, em_program **out, cute_diag *diag)
{
    return parse_program(arena, label, text, length, base, false, out, diag);
}

cute_status em_program_read(cute_arena *arena, const char *label, const char *text, size_t length,
                            uint64_t base, em_program **out, cute_diag *diag)
{
    return parse_program(arena, label, text, length, base, true, out, diag);
}

const em_function *em_program_find(const em_program *program, const char *name)
{
    for (size_t i = 0; i < program->function_count; i++)
        if (program->functions[i]->entry && strcmp(program->functions[i]->name, name) == 0)
            return program->functions[i];
    return NULL;
}

cute_place em_place(const em_program *program, const em_inst *inst)
{
    cute_place place = cute_place_at(program->label, program->text, program->length, inst->where);
    place.length = (int)inst->length;
    return place;
}
