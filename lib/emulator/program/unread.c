/* Instructions that are not emulated, in PTX of later architectures or read for reports: executing one fails
 * the launch. Keeps the registers that they name, and which of these they may write. */
#include <string.h>

#include "lib/emulator/program/decode.h"

enum { REGISTER_LIMIT = 256 };

typedef struct operands {
    em_operand registers[REGISTER_LIMIT];
    uint32_t count, first,
        before;   /* number of the first operand's registers; of those before the first address */
    bool address; /* has an address operand */
} operands;

/* @p, @!p: consumes the guard. */
static cute_status take_guard(em_parser *p, em_inst *i)
{
    em_symbol *s;
    em_operand guard;
    if (!em_is(p, '@')) return CUTE_OK;
    em_next(p);
    i->guard = em_is(p, '!') ? 2 : 1;
    if (i->guard == 2) em_next(p);
    if (p->lexer.token.kind != EM_T_NAME) return CUTE_INVALID;
    CUTE_TRY(em_register_named(p, &p->lexer.token, &s));
    if (!s || s->type != PTX_pred) return CUTE_INVALID;
    CUTE_TRY(em_register_operand(p, s, &guard));
    i->guard_at = guard.at;
    em_next(p);
    return CUTE_OK;
}

/* Up to the ';'. CUTE_INVALID: missing, or brackets do not match. */
static cute_status take_registers(em_parser *p, operands *out)
{
    int brackets = 0, braces = 0;
    bool first = true;
    for (; !em_is(p, ';'); em_next(p)) {
        const em_token *t = &p->lexer.token;
        em_symbol *s = NULL;
        if (t->kind == EM_T_END || t->kind == EM_T_BAD) return CUTE_INVALID;
        if (em_is(p, '[') && !out->address) {
            out->address = true;
            out->before = out->count;
        }
        brackets += em_is(p, '[') - em_is(p, ']');
        braces += em_is(p, '{') + em_is(p, '(') - em_is(p, '}') - em_is(p, ')');
        if (brackets < 0 || braces < 0) return CUTE_INVALID;
        if (first && em_is(p, ',') && !brackets && !braces) {
            first = false;
            out->first = out->count;
        }
        if (t->kind == EM_T_NAME) CUTE_TRY(em_register_named(p, t, &s));
        if (!s) continue;
        if (out->count == REGISTER_LIMIT) return CUTE_INVALID;
        CUTE_TRY(em_register_operand(p, s, &out->registers[out->count++]));
    }
    if (first) out->first = out->count;
    if (brackets || braces) return CUTE_INVALID;
    em_next(p);
    return CUTE_OK;
}

static cute_status keep_register_list(em_parser *p, em_inst *i, const em_operand *from, uint32_t count)
{
    em_operand *list = cute_arena_array(p->arena, (size_t)count + 1, sizeof *list);
    if (!list) return cute_fail_memory(p->diag);
    memcpy(list, from, count * sizeof *list);
    i->o[i->count++] = (em_operand){.kind = EM_O_VECTOR, .count = (uint16_t)count, .list = list};
    return CUTE_OK;
}

static void run_unread(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_program *program = w->machine->program;
    em_fault(w, i, __builtin_ctz(mask), "%.*s is not supported: %s", (int)i->length, program->text + i->where,
             i->why);
}

/* PTX writes at most one operand without an address, the first; before an address there may be more
 * results. */
static cute_status keep_unread(em_parser *p)
{
    em_inst i = {.opcode = EM_OP_unread,
                 .unread = true,
                 .run = run_unread,
                 .class = EM_CLASS_CONTROL,
                 .dataflow = EM_FLOW_USE,
                 .loc = p->loc};
    operands found = {.count = 0};
    CUTE_TRY(take_guard(p, &i));
    if (p->lexer.token.kind != EM_T_NAME) return CUTE_INVALID;
    const char *begin = p->lexer.token.text, *end = begin + p->lexer.token.length;
    em_opcode opcode = em_find_opcode(begin, p->lexer.token.length);
    if (opcode != EM_OPCODES && em_rows[opcode].control != EM_NEXT) return CUTE_INVALID;
    if (opcode != EM_OPCODES && em_rows[opcode].decode == em_decode_absent) i.opcode = (uint8_t)opcode;
    em_next(p);
    for (; p->lexer.token.kind == EM_T_DIRECTIVE; em_next(p))
        end = p->lexer.token.text + p->lexer.token.length;
    i.where = (uint32_t)(begin - p->lexer.text);
    i.length = (uint32_t)(end - begin);
    CUTE_TRY(take_registers(p, &found));
    uint32_t results = found.address ? found.before : found.first;
    i.why = cute_arena_copy(p->arena, p->problem, strlen(p->problem));
    i.o = cute_arena_array(p->arena, 2, sizeof *i.o);
    if (!i.why || !i.o) return cute_fail_memory(p->diag);
    if (results) CUTE_TRY(keep_register_list(p, &i, found.registers, results));
    i.results = i.count;
    if (found.count > results)
        CUTE_TRY(keep_register_list(p, &i, found.registers + results, found.count - results));
    em_inst *slot;
    p->used_bytes = 0;
    CUTE_TRY(em_emit(p, &slot));
    *slot = i;
    return CUTE_OK;
}

cute_status em_read_instruction(em_parser *p)
{
    const em_lexer start = p->lexer;
    em_fixup *fixups = p->fixups;
    uint32_t count = p->program->count;
    p->aside = true;
    cute_status status = em_parse_instruction(p);
    if (status == CUTE_INVALID) {
        em_program *program = p->program;
        if (program->count > count) /* hidden instructions emitted for it */
            memset(&program->code[count], 0, (program->count - count) * sizeof *program->code);
        program->count = count;
        p->fixups = fixups;
        p->lexer = start;
        status = keep_unread(p);
    }
    p->aside = false;
    if (status != CUTE_INVALID) return status;
    p->lexer = start;
    return em_parse_instruction(p); /* for its error message */
}
