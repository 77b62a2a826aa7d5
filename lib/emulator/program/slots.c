/* Registers as parameters and results of functions, registers and immediates as arguments of calls. Each gets
 * a slot, a .param variable in the frame, with an st.param before the call or return and an ld.param after
 * it. */
#include <string.h>

#include "lib/emulator/program/decode.h"

/* The type of the slot for a register: a predicate is stored as 1 or 0. */
static ptx_type slot_type(ptx_type type)
{
    if (type == PTX_pred) return PTX_u32;
    return ptx_types[type].bytes == 2 ? PTX_b16 : type;
}

cute_status em_slot(em_parser *p, ptx_type type, const char *name, em_variable **out)
{
    em_variable *v = *out = cute_arena_alloc(p->arena, sizeof *v);
    if (!v) return cute_fail_memory(p->diag);
    *v = (em_variable){.name = name, .space = EM_PARAM, .type = slot_type(type)};
    v->size = v->align = ptx_types[v->type].bytes;
    return em_place_variable(p, v);
}

/* Emits an instruction that is not in the text, with the place and guard of `at`. */
static cute_status emit_instruction(em_parser *p, const em_raw *at, em_opcode opcode, const char *first,
                                    const char *second, const em_operand *operands, int count)
{
    em_raw raw = {.opcode = opcode,
                  .name_length = at->name_length,
                  .at = at->at,
                  .length = at->name_length,
                  .guard = at->guard,
                  .guard_kind = at->guard_kind,
                  .word_count = second ? 2 : 1,
                  .count = count};
    raw.words[0].text = first;
    raw.words[0].length = (uint32_t)strlen(first);
    raw.words[1].text = second;
    raw.words[1].length = second ? (uint32_t)strlen(second) : 0;
    raw.o = cute_arena_array(p->arena, (size_t)count, sizeof *raw.o);
    if (!raw.o) return cute_fail_memory(p->diag);
    memcpy(raw.o, operands, (size_t)count * sizeof *operands);
    return em_decode(p, &raw);
}

static cute_status slot_address(em_parser *p, em_variable *slot, em_operand *out)
{
    *out = (em_operand){.kind = EM_O_MEMORY, .count = 1, .list = cute_arena_alloc(p->arena, sizeof *out)};
    if (!out->list) return cute_fail_memory(p->diag);
    *out->list = (em_operand){.kind = EM_O_IMMEDIATE, .symbol = slot, .type = PTX_b64};
    return CUTE_OK;
}

static cute_status number_register(em_parser *p, const em_raw *at, em_operand *out)
{
    em_symbol s = {
        .kind = EM_SYM_REGISTER, .type = PTX_u32, .name = p->lexer.text + at->at, .length = at->name_length};
    return em_register_operand(p, &s, out);
}

static bool is_predicate_operand(const em_operand *o)
{
    return o->kind == EM_O_VALUE && o->bytes == 0;
}

static const em_operand zero = {.kind = EM_O_IMMEDIATE, .type = PTX_s64};
static const em_operand one = {.kind = EM_O_IMMEDIATE, .type = PTX_s64, .offset = 1};

cute_status em_slot_store(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value)
{
    em_operand number, memory;
    if (is_predicate_operand(value)) {
        CUTE_TRY(number_register(p, at, &number));
        CUTE_TRY(
            emit_instruction(p, at, EM_OP_selp, "u32", NULL, (em_operand[]){number, one, zero, *value}, 4));
        value = &number;
    }
    CUTE_TRY(slot_address(p, slot, &memory));
    return emit_instruction(p, at, EM_OP_st, "param", ptx_types[slot->type].name,
                            (em_operand[]){memory, *value}, 2);
}

cute_status em_slot_load(em_parser *p, const em_raw *at, em_variable *slot, const em_operand *value)
{
    em_operand number, memory;
    bool predicate = is_predicate_operand(value);
    if (predicate) CUTE_TRY(number_register(p, at, &number));
    CUTE_TRY(slot_address(p, slot, &memory));
    CUTE_TRY(emit_instruction(p, at, EM_OP_ld, "param", ptx_types[slot->type].name,
                              (em_operand[]){predicate ? number : *value, memory}, 2));
    return predicate
               ? emit_instruction(p, at, EM_OP_setp, "ne", "u32", (em_operand[]){*value, number, zero}, 3)
               : CUTE_OK;
}

/* Moves the registers in `list` from or to their slots. */
static cute_status move_all(em_parser *p, const em_raw *at, em_variable *const *list, size_t count, bool load)
{
    for (size_t n = 0; n < count; n++) {
        em_operand o;
        if (!list[n]->in_register) continue;
        CUTE_TRY(em_register_operand(p, list[n]->in_register, &o));
        CUTE_TRY(load ? em_slot_load(p, at, list[n], &o) : em_slot_store(p, at, list[n], &o));
    }
    return CUTE_OK;
}

cute_status em_take_parameters(em_parser *p, const em_function *f, const em_raw *at)
{
    return f->entry ? CUTE_OK : move_all(p, at, f->params, f->param_count, true);
}

cute_status em_give_results(em_parser *p, const em_function *f, const em_raw *at)
{
    return f ? move_all(p, at, f->results, f->result_count, false) : CUTE_OK;
}
