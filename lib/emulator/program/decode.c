/* Turns a parsed instruction into an executable one: its row of instructions.def, modifiers, types, operands.
 * The rest is in the file of its family. */
#include "lib/emulator/program/decode.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/list.h"

/* Defaults; designators of the row override them. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Woverride-init"
#define FLOAT(op)   .has_real = true, .real = NUM_##op
#define WORD_RESULT .word_result = true
#define WORD_REST   .word_rest = true
#define OP(id, decoder, ...)                                                                                 \
    {.name = #id,                                                                                            \
     .decode = decoder,                                                                                      \
     .modifiers = "",                                                                                        \
     .class = EM_CLASS_ARITHMETIC,                                                                           \
     .results = 1,                                                                                           \
     __VA_ARGS__},
#define LANE(id, decoder, ...) OP(id, decoder, .lane = em_lane_##id, __VA_ARGS__)
const em_row em_rows[EM_OPCODES] = {
#include "lib/emulator/program/instructions.def"
};
#undef FLOAT
#undef WORD_RESULT
#undef WORD_REST
#pragma GCC diagnostic pop

static const char *const modifier_texts[EM_MODIFIERS] = {
#define M(id, text) text,
#include "lib/emulator/program/modifiers.def"
#undef M
};

cute_status em_wrong(em_parser *p, const em_raw *raw, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return em_fail_at(p, raw->at, raw->length, "%s", text);
}

cute_status em_unknown(em_parser *p, const em_raw *raw)
{
    size_t line = 1;
    if (p->aside) return em_fail_at(p, raw->at, raw->length, "unknown instruction");
    for (size_t i = 0; i < raw->at; i++) line += p->lexer.text[i] == '\n';
    return em_fail_at(p, raw->at, raw->length, "unknown instruction %.*s at line %zu", (int)raw->length,
                      p->lexer.text + raw->at, line);
}

/* the first letter rejects most words */
static bool word_equals(const char *word, const char *text, uint32_t length)
{
    return length && *word == *text && strlen(word) == length && memcmp(word, text, length) == 0;
}

em_opcode em_find_opcode(const char *name, uint32_t length)
{
    int n = 0;
    while (n < EM_OPCODES && !word_equals(em_rows[n].name, name, length)) n++;
    return (em_opcode)n;
}

const char *em_instruction_name(const em_inst *i)
{
    return em_rows[i->opcode].name;
}

bool em_instruction_get(size_t index, em_instruction_info *out)
{
    for (int n = 0; n < EM_OPCODES; n++) {
        const em_row *row = &em_rows[n];
        if (!*row->name || index--) continue;
        *out = (em_instruction_info){row->name, row->meaning, row->modifiers, row->why, row->absent != NULL};
        return true;
    }
    return false;
}

/* ---- instructions that are not emulated ---- */

static void run_absent(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_fault(w, i, __builtin_ctz(mask), "%s is not supported: %s", em_instruction_name(i), i->why);
}

cute_status em_decode_absent(em_parser *p, const em_raw *raw, em_inst *i)
{
    (void)p;
    i->run = run_absent;
    i->class = EM_CLASS_CONTROL; /* nothing of its class is decoded */
    i->count = 0;
    i->why = em_rows[raw->opcode].why;
    return CUTE_OK;
}

/* ---- constants ---- */

static uint32_t pool_hash(uint8_t bytes, uint64_t low)
{
    uint64_t h = (low + bytes) * UINT64_C(0x9e3779b97f4a7c15);
    return (uint32_t)(h >> 52);
}

static cute_status pool_room(em_parser *p, uint32_t size, uint32_t *at)
{
    em_program *program = p->program;
    if (size > UINT32_MAX / 2 - program->pool_length)
        return em_fail_at(p, 0, 1, "the program has too many constants");
    if (program->pool_length + size > program->pool_capacity) {
        uint32_t capacity = program->pool_capacity ? program->pool_capacity * 2 : 16384;
        uint8_t *pool = cute_arena_alloc(p->arena, capacity);
        if (!pool) return cute_fail_memory(p->diag);
        if (program->pool_length) memcpy(pool, program->pool, program->pool_length);
        program->pool = pool;
        program->pool_capacity = capacity;
    }
    *at = program->pool_length;
    program->pool_length += size;
    return CUTE_OK;
}

void em_splat(uint8_t *lanes, uint8_t bytes, uint64_t low, uint64_t high)
{
    if (bytes == 0) {
        uint32_t mask = low ? UINT32_MAX : 0;
        memcpy(lanes, &mask, sizeof mask);
        return;
    }
    for (int l = 0; l < EM_LANES; l++) {
        uint32_t word = bytes == 2 ? (uint32_t)(low & 0xffff) : (uint32_t)low;
        if (bytes <= 4) memcpy(lanes + l * 4, &word, 4);
        if (bytes == 8) memcpy(lanes + l * 8, &low, 8);
        if (bytes == 16) {
            memcpy(lanes + l * 16, &low, 8);
            memcpy(lanes + l * 16 + 8, &high, 8);
        }
    }
}

/* Adds a constant of 32 equal lanes; returns its offset in the pool. */
static cute_status em_pool(em_parser *p, uint8_t bytes, uint64_t low, uint64_t high, uint32_t *at)
{
    uint32_t size = bytes ? (uint32_t)(bytes == 2 ? 4 : bytes) * EM_LANES : 64;
    uint32_t *recent = &p->pool_index[pool_hash(bytes, low)];
    uint8_t lanes[16 * EM_LANES] = {0};
    em_splat(lanes, bytes, low, high);
    if (*recent && *recent - 1 + size <= p->program->pool_length &&
        memcmp(p->program->pool + *recent - 1, lanes, size) == 0) {
        bool relocated = false;
        for (size_t r = 0; r < p->program->reloc_count; r++)
            relocated |= p->program->relocs[r].at == *recent - 1;
        *at = *recent - 1;
        if (!relocated) return CUTE_OK;
    }
    CUTE_TRY(pool_room(p, size, at));
    memcpy(p->program->pool + *at, lanes, size);
    *recent = *at + 1;
    return CUTE_OK;
}

cute_status em_note_callee(em_parser *p, em_function *callee)
{
    em_function *f = p->function;
    for (size_t n = f ? f->callee_count : 0; n-- > 0;)
        if (f->callees[n] == callee) return CUTE_OK;
    if (!f) return CUTE_OK;
    if (!cute_arena_more(p->arena, &f->callees, f->callee_count, &f->callee_capacity, sizeof(em_function *),
                         8))
        return cute_fail_memory(p->diag);
    f->callees[f->callee_count++] = callee;
    return CUTE_OK;
}

/* Records that the parsed function names a shared variable of the module. */
static cute_status note_shared(em_parser *p, const em_variable *v)
{
    em_function *f = p->function;
    if (!f || v->owner) return CUTE_OK;
    for (size_t n = f->shared_used_count; n-- > 0;)
        if (f->shared_used[n] == v) return CUTE_OK;
    if (!cute_arena_more(p->arena, &f->shared_used, f->shared_used_count, &f->shared_used_capacity,
                         sizeof(em_variable *), 8))
        return cute_fail_memory(p->diag);
    f->shared_used[f->shared_used_count++] = v;
    return CUTE_OK;
}

static cute_status add_reloc(em_parser *p, const em_variable *v, int64_t offset, uint8_t bytes, uint32_t *at)
{
    em_program *program = p->program;
    CUTE_TRY(note_shared(p, v));
    for (size_t i = 0; i < program->reloc_count; i++)
        if (program->relocs[i].variable == v && program->relocs[i].offset == offset &&
            program->relocs[i].bytes == bytes) {
            *at = program->relocs[i].at;
            return CUTE_OK;
        }
    if (!cute_arena_more(p->arena, &program->relocs, program->reloc_count, &program->reloc_capacity,
                         sizeof *program->relocs, 32))
        return cute_fail_memory(p->diag);
    CUTE_TRY(pool_room(p, (uint32_t)bytes * EM_LANES, at));
    program->relocs[program->reloc_count++] = (em_reloc){*at, bytes, v, offset};
    return CUTE_OK;
}

/* Records that a constant is the address of a variable. */
static cute_status note_address(em_parser *p, const em_variable *v, int64_t offset, uint8_t bytes,
                                uint32_t at)
{
    em_program *program = p->program;
    for (size_t i = program->address_count; i-- > 0;)
        if (program->addresses[i].at == at) return CUTE_OK;
    if (!cute_arena_more(p->arena, &program->addresses, program->address_count, &program->address_capacity,
                         sizeof *program->addresses, 32))
        return cute_fail_memory(p->diag);
    program->addresses[program->address_count++] = (em_reloc){at, bytes, v, offset};
    return CUTE_OK;
}

/* ---- operands ---- */

cute_status em_operands(em_parser *p, const em_raw *raw, int least, int most)
{
    if (raw->count >= least && raw->count <= most) return CUTE_OK;
    if (least == most)
        return em_wrong(p, raw, "%s expects %d operand%s, got %d", em_rows[raw->opcode].name, least,
                        least == 1 ? "" : "s", raw->count);
    return em_wrong(p, raw, "%s expects %d to %d operands, got %d", em_rows[raw->opcode].name, least, most,
                    raw->count);
}

static uint64_t immediate_bits(const em_operand *o, ptx_type type)
{
    double value;
    float single;
    uint32_t word;
    uint64_t bits = (uint64_t)o->offset;
    bool wants_single = type == PTX_f32 || type == PTX_tf32, exact = o->type == PTX_f32;
    if (!o->real) {
        if (ptx_types[type].kind != PTX_FLOAT || !wants_single || bits == 0) return bits;
        return bits; /* an integer given for a float is its bit pattern, as for ptxas's .b32 */
    }
    if (exact && ptx_types[type].bytes == 4) return bits;
    if (exact) {
        word = (uint32_t)bits;
        memcpy(&single, &word, sizeof single);
        value = (double)single;
        memcpy(&bits, &value, sizeof bits);
        return bits;
    }
    memcpy(&value, &bits, sizeof value);
    if (ptx_types[type].bytes == 4) {
        single = (float)value;
        memcpy(&word, &single, sizeof word);
        return word;
    }
    return bits;
}

/* ---- hidden instructions: computed before another one, into a register of their own ---- */

static cute_status hidden_instruction(em_parser *p, const em_raw *raw, uint8_t bytes, int operands,
                                      em_inst **out)
{
    CUTE_TRY(em_emit(p, out));
    em_inst *i = *out;
    i->opcode = EM_OP_mov;
    i->class = EM_CLASS_MOVE;
    i->results = 1;
    i->hidden = true;
    i->where = (uint32_t)raw->at;
    i->length = raw->length;
    i->count = (uint8_t)operands;
    i->o = cute_arena_array(p->arena, (size_t)operands, sizeof *i->o);
    if (!i->o) return cute_fail_memory(p->diag);
    i->o[0] = (em_operand){.kind = EM_O_VALUE,
                           .base = EM_BASE_REGISTERS,
                           .bytes = bytes,
                           .type = bytes == 4 ? PTX_b32 : PTX_b64,
                           .at = p->register_bytes};
    p->register_bytes += 8 * EM_LANES;
    return CUTE_OK;
}

/* Addresses in the frame are known only when the function runs. */
static void run_frame_address(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        em_set(w, &i->o[0], __builtin_ctz(rest), (uint64_t)(w->split->sp + i->o->offset));
}

static cute_status frame_address(em_parser *p, const em_raw *raw, const em_variable *v, uint8_t bytes,
                                 em_operand *o)
{
    em_inst *i;
    int64_t offset = v->offset + o->offset;
    CUTE_TRY(hidden_instruction(p, raw, bytes, 1, &i));
    i->run = run_frame_address;
    *o = i->o[0];
    i->o[0].offset = offset;
    return CUTE_OK;
}

/* array[register + number]: a 32-bit index, as in ptxas. */
static void run_element_address(em_warp *w, const em_inst *i, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint32_t index = (uint32_t)em_get(w, &i->o[2], l) + (uint32_t)i->o[2].offset;
        em_set(w, &i->o[0], l, em_get(w, &i->o[1], l) + (uint32_t)(index * i->element.bytes));
    }
}

static cute_status emit_address(em_parser *p, const em_raw *raw, em_operand *o, uint8_t bytes)
{
    const em_variable *v = o->symbol;
    uint32_t at = 0;
    if (v->external && (v->space == EM_GLOBAL || v->space == EM_CONST))
        return em_wrong(p, raw, "external variable '%s' is not defined in the module", v->name);
    if (v->space == EM_LOCAL || (v->space == EM_PARAM && !v->owner))
        return frame_address(p, raw, v, bytes, o);
    if (v->space == EM_SHARED) {
        CUTE_TRY(add_reloc(p, v, o->offset, bytes, &at));
    } else {
        uint64_t value = (uint64_t)o->offset + (v->space == EM_PARAM ? (uint64_t)v->offset : v->address);
        CUTE_TRY(em_pool(p, bytes, value, 0, &at));
        if (v->space != EM_PARAM) CUTE_TRY(note_address(p, v, o->offset, bytes, at));
    }
    *o = (em_operand){.kind = EM_O_VALUE,
                      .base = EM_BASE_CONSTANTS,
                      .bytes = bytes,
                      .type = bytes == 4 ? PTX_b32 : PTX_b64,
                      .at = at};
    return CUTE_OK;
}

cute_status em_element(em_parser *p, const em_raw *raw, em_operand *o, uint8_t bytes)
{
    if (o->kind != EM_O_ELEMENT) return CUTE_OK;
    const em_variable *v = o->symbol;
    em_operand base = {.kind = EM_O_IMMEDIATE, .symbol = v, .type = PTX_b64};
    if (!o->count) {
        base.offset = o->offset;
        *o = base;
        return CUTE_OK;
    }
    em_inst *i;
    CUTE_TRY(emit_address(p, raw, &base, bytes));
    CUTE_TRY(hidden_instruction(p, raw, bytes, 3, &i));
    i->run = run_element_address;
    i->element.bytes = v->dynamic ? 1 : ptx_types[v->type].bytes;
    i->o[1] = base;
    i->o[2] = o->list[0];
    i->o[2].offset = o->offset;
    *o = i->o[0];
    return CUTE_OK;
}

cute_status em_element_memory(em_parser *p, const em_raw *raw, em_operand *o)
{
    if (o->kind != EM_O_ELEMENT) return CUTE_OK;
    em_operand *address = cute_arena_alloc(p->arena, sizeof *address);
    if (!address) return cute_fail_memory(p->diag);
    const em_variable *v = o->symbol;
    CUTE_TRY(em_element(p, raw, o, 8));
    *address = *o;
    *o = (em_operand){.kind = EM_O_MEMORY, .list = address, .count = 1, .symbol = v};
    return CUTE_OK;
}

static uint8_t register_bytes(ptx_type type)
{
    return ptx_types[type].bytes == 1 ? 2 : ptx_types[type].bytes;
}

cute_status em_source_at(em_parser *p, const em_raw *raw, em_operand *o, ptx_type type)
{
    uint8_t bytes = register_bytes(type);
    uint32_t at;
    if (o->kind == EM_O_IMMEDIATE && o->symbol) return emit_address(p, raw, o, bytes == 4 ? 4 : 8);
    if (o->kind == EM_O_IMMEDIATE) {
        CUTE_TRY(em_pool(p, bytes, immediate_bits(o, type), !o->real && o->offset < 0 ? UINT64_MAX : 0, &at));
        *o = (em_operand){
            .kind = EM_O_VALUE, .base = EM_BASE_CONSTANTS, .bytes = bytes, .type = (uint8_t)type, .at = at};
        return CUTE_OK;
    }
    if (o->kind == EM_O_FUNCTION) {
        p->program->functions[o->at]->address_taken = true;
        CUTE_TRY(em_note_callee(p, p->program->functions[o->at]));
        CUTE_TRY(em_pool(p, 8, EM_CODE_BASE + (uint64_t)o->at * 16, 0, &at));
        *o = (em_operand){
            .kind = EM_O_VALUE, .base = EM_BASE_CONSTANTS, .bytes = 8, .type = PTX_b64, .at = at};
        return CUTE_OK;
    }
    if (o->kind == EM_O_SREG)
        return em_wrong(p, raw, "%%clock and other volatile special registers can only be read by mov");
    if (o->kind == EM_O_LABEL)
        return em_fail_at(p, (size_t)((const char *)o->symbol - p->lexer.text), o->count,
                          "undeclared name '%.*s'", (int)o->count, (const char *)o->symbol);
    if (o->kind != EM_O_VALUE)
        return em_wrong(p, raw, "expected an operand of type .%s", ptx_types[type].name);
    if (o->bytes == bytes) return CUTE_OK;
    if (bytes == 0)
        return em_wrong(p, raw, "expected a predicate, got a register of type .%s", ptx_types[o->type].name);
    if (o->base == EM_BASE_SREGS && o->bytes == 4 && bytes == 2) return CUTE_OK;
    return em_wrong(p, raw, "expected a register of %d bits, got one of type .%s", bytes * 8,
                    ptx_types[o->type].name);
}

cute_status em_source(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type)
{
    return em_source_at(p, raw, &i->o[index], type);
}

cute_status em_target_at(em_parser *p, const em_raw *raw, em_operand *o, ptx_type type, bool optional)
{
    if (o->kind == EM_O_NONE && optional) return CUTE_OK;
    if (o->kind != EM_O_VALUE || o->base != EM_BASE_REGISTERS)
        return em_wrong(p, raw, "expected a register as the destination");
    if (o->bytes == register_bytes(type)) return CUTE_OK;
    if (o->bytes == 0) return em_wrong(p, raw, "the destination must not be a predicate");
    return em_wrong(p, raw, "expected a destination of %d bits, got a register of type .%s",
                    ptx_types[type].bytes * 8, ptx_types[o->type].name);
}

cute_status em_target(em_parser *p, const em_raw *raw, em_inst *i, int index, ptx_type type, bool optional)
{
    return em_target_at(p, raw, &i->o[index], type, optional);
}

cute_status em_memory_operand(em_parser *p, const em_raw *raw, em_inst *i, int index)
{
    em_operand *o = &i->o[index];
    if (o->kind != EM_O_MEMORY)
        return em_wrong(p, raw, "expected an address [register + number] as operand %d", index + 1);
    em_operand *base = &o->list[0];
    if (base->kind == EM_O_IMMEDIATE) return em_source_at(p, raw, base, PTX_b64);
    if (base->bytes == 4 || base->bytes == 8) return CUTE_OK;
    return em_wrong(p, raw, "expected an address of 32 or 64 bits");
}

cute_status em_predicate(em_parser *p, const em_raw *raw, em_inst *i, int index, bool target)
{
    return target ? em_target(p, raw, i, index, PTX_pred, true) : em_source(p, raw, i, index, PTX_pred);
}

cute_status em_number(em_parser *p, const em_raw *raw, em_inst *i, int index, int64_t *out)
{
    const em_operand *o = &i->o[index];
    if (index >= i->count || o->kind != EM_O_IMMEDIATE || o->symbol || o->real)
        return em_wrong(p, raw, "operand %d must be an immediate", index + 1);
    *out = o->offset;
    return CUTE_OK;
}

/* ---- instructions ---- */

cute_status em_emit(em_parser *p, em_inst **out)
{
    em_program *program = p->program;
    if (program->count == program->capacity && program->capacity > 1u << 26)
        return em_fail_at(p, 0, 1, "the program has too many instructions");
    if (!cute_arena_more(p->arena, &program->code, program->count, &program->capacity, sizeof *program->code,
                         256))
        return cute_fail_memory(p->diag);
    *out = &program->code[program->count++];
    (*out)->loc = p->loc;
    return CUTE_OK;
}

/* m16n8k16 */
static bool parse_shape(const char *text, uint32_t length, em_raw *raw)
{
    int values[3] = {0}, which = -1;
    for (uint32_t at = 0; at < length; at++) {
        if (text[at] == "mnk"[which + 1 < 3 ? which + 1 : 2] && which < 2)
            which++;
        else if (which >= 0 && text[at] >= '0' && text[at] <= '9' && values[which] < 1000)
            values[which] = values[which] * 10 + (text[at] - '0');
        else
            return false;
    }
    if (which != 2) return false;
    raw->m = (int16_t)values[0];
    raw->n = (int16_t)values[1];
    raw->k = (int16_t)values[2];
    return true;
}

bool em_stands_in(const char *list, const char *word, uint32_t length)
{
    for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
        if (*at == *word && strcspn(at, " ") == length && memcmp(at, word, length) == 0) return true;
    return false;
}

static bool is_absent(const em_raw *raw, const em_row *row)
{
    for (int w = 0; row->absent && w < raw->word_count; w++)
        if (em_stands_in(row->absent, raw->words[w].text, raw->words[w].length)) return true;
    return false;
}

static cute_status take_words(em_parser *p, em_raw *raw, const em_row *row, em_inst *i)
{
    for (int w = 0; w < raw->word_count; w++) {
        const char *text = raw->words[w].text;
        uint32_t length = raw->words[w].length;
        ptx_type type;
        if (ptx_type_find(text, length, &type)) {
            if (i->type_count < 4) i->types[i->type_count] = (uint8_t)type;
            i->type_count++;
            continue;
        }
        if (row->shape && parse_shape(text, length, raw)) continue;
        if (!em_stands_in(row->modifiers, text, length))
            return em_fail_at(p, (size_t)(text - p->lexer.text), length, "unknown modifier '.%.*s' of %s",
                              (int)length, text, row->name);
        int m = 0;
        while (m < EM_MODIFIERS && !word_equals(modifier_texts[m], text, length)) m++;
        if (m == EM_MODIFIERS) continue; /* a hint without effect */
        i->mods[m >> 6] |= UINT64_C(1) << (m & 63);
        raw->modifiers[raw->modifier_count++] = (uint8_t)m;
    }
    return CUTE_OK;
}

/* Resolves the classes ARITHMETIC and MEMORY. */
static em_class class_of(const em_inst *i)
{
    static const uint8_t by_space[] = {
        [EM_GENERIC] = EM_CLASS_MEMORY_GENERIC, [EM_GLOBAL] = EM_CLASS_MEMORY_GLOBAL,
        [EM_CONST] = EM_CLASS_MEMORY_CONSTANT,  [EM_SHARED] = EM_CLASS_MEMORY_SHARED,
        [EM_LOCAL] = EM_CLASS_MEMORY_LOCAL,     [EM_PARAM] = EM_CLASS_MEMORY_CONSTANT};
    if (i->class == EM_CLASS_MEMORY) return (em_class)by_space[i->space];
    if (i->class != EM_CLASS_ARITHMETIC) return (em_class)i->class;
    bool real = ptx_types[i->type].kind == PTX_FLOAT;
    if (i->opcode == EM_OP_set) real |= ptx_types[i->types[1]].kind == PTX_FLOAT; /* the compared type */
    return real ? EM_CLASS_FLOAT : EM_CLASS_INTEGER;
}

cute_status em_decode(em_parser *p, const em_raw *given)
{
    em_raw copy = *given, *raw = &copy;
    size_t end = raw->at + raw->name_length;
    if (raw->word_count && !raw->length)
        end = (size_t)(raw->words[raw->word_count - 1].text - p->lexer.text) +
              raw->words[raw->word_count - 1].length;
    if (!raw->length) raw->length = (uint32_t)(end - raw->at);
    if (raw->opcode == EM_OPCODES) return em_unknown(p, raw);
    const em_row *row = &em_rows[raw->opcode];
    em_inst i = {.opcode = (uint8_t)raw->opcode,
                 .class = row->class,
                 .control = row->control,
                 .dataflow = row->dataflow,
                 .results = row->results,
                 .loc = p->loc,
                 .where = (uint32_t)raw->at,
                 .length = raw->length,
                 .o = raw->o,
                 .count = (uint8_t)raw->count,
                 .guard = (uint8_t)raw->guard_kind,
                 .guard_at = raw->guard.at};
    if (row->decode == em_decode_absent || is_absent(raw, row)) {
        if (p->reading) return em_wrong(p, raw, "not supported by the emulator");
        CUTE_TRY(em_decode_absent(p, raw, &i));
    } else {
        CUTE_TRY(take_words(p, raw, row, &i));
        CUTE_TRY(em_check_rules(p, raw, &i));
        CUTE_TRY(row->decode(p, raw, &i));
    }
    i.class = (uint8_t)class_of(&i);
    p->used_bytes = 0;
    em_inst *slot;
    CUTE_TRY(em_emit(p, &slot));
    *slot = i;
    return CUTE_OK;
}
