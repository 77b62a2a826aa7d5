/* Calls: direct, indirect, and of system functions (vprintf, __assertfail, malloc, free). Arguments are
 * .param variables in the caller's frame and are copied to the callee's. Registers and immediates are first
 * stored to such variables (slots.c). */
#include "lib/emulator/program/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/emulator/machine/schedule.h"

enum { TEXT_LIMIT = 4096 };

typedef struct em_call {
    const em_function *function; /* NULL: indirect */
    em_operand address;
    em_variable **results, **arguments;
    const em_operand *registers; /* of results assigned to registers, or NULL; while parsing */
    int result_count, argument_count;
} em_call;

static uint8_t *stack_at(em_warp *w, int lane, int64_t at)
{
    return w->local + (size_t)lane * (size_t)w->local_size + at;
}

static bool copy_arguments(em_warp *w, const em_inst *i, const em_call *c, const em_function *f,
                           uint32_t mask)
{
    int64_t callee = w->split->sp + w->split->frame->function->stack_bytes;
    if (f->param_count != (size_t)c->argument_count || f->result_count != (size_t)c->result_count) {
        em_fault(w, i, -1,
                 "function '%s' takes %zu parameters and returns %zu results, the call has %d and %d",
                 f->name, f->param_count, f->result_count, c->argument_count, c->result_count);
        return false;
    }
    if (callee + f->stack_bytes > w->local_size) return true; /* em_enter_function reports it */
    em_tell(EM_E_FRAME_ENTER, w, i, mask, (uint64_t)callee, (uint64_t)f->stack_bytes);
    for (int n = 0; n < c->argument_count; n++)
        em_tell(EM_E_FRAME_WRITE, w, i, mask, (uint64_t)(callee + f->params[n]->offset),
                (uint64_t)f->params[n]->size);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        for (int n = 0; n < c->argument_count; n++) {
            const em_variable *from = c->arguments[n], *to = f->params[n];
            int64_t size = from->size < to->size ? from->size : to->size;
            memcpy(stack_at(w, __builtin_ctz(rest), callee + to->offset),
                   stack_at(w, __builtin_ctz(rest), w->split->sp + from->offset), (size_t)size);
        }
    return true;
}

/* After the call: the results are at the address of the callee's former frame. */
static void run_results(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_call *c = i->call;
    int64_t callee = w->split->sp + w->split->frame->function->stack_bytes;
    const em_function *f = c->function;
    for (uint32_t rest = mask; f && rest; rest &= rest - 1)
        for (int n = 0; n < c->result_count; n++) {
            const em_variable *to = c->results[n], *from = f->results[n];
            int64_t size = from->size < to->size ? from->size : to->size;
            if (callee + from->offset + size > w->local_size) return;
            em_tell(EM_E_FRAME_WRITE, w, i, rest & -rest, (uint64_t)(w->split->sp + to->offset),
                    (uint64_t)size);
            memcpy(stack_at(w, __builtin_ctz(rest), w->split->sp + to->offset),
                   stack_at(w, __builtin_ctz(rest), callee + from->offset), (size_t)size);
        }
}

/* ---- system functions ---- */

static uint64_t call_argument(em_warp *w, const em_call *c, int lane, int n)
{
    uint64_t value = 0;
    if (n < c->argument_count)
        memcpy(&value, stack_at(w, lane, w->split->sp + c->arguments[n]->offset),
               (size_t)(c->arguments[n]->size < 8 ? c->arguments[n]->size : 8));
    return value;
}

static void set_call_result(em_warp *w, const em_call *c, int lane, uint64_t value)
{
    if (!c->result_count) return;
    em_tell(EM_E_FRAME_WRITE, w, NULL, 1u << lane, (uint64_t)(w->split->sp + c->results[0]->offset),
            (uint64_t)c->results[0]->size);
    memcpy(stack_at(w, lane, w->split->sp + c->results[0]->offset), &value,
           (size_t)(c->results[0]->size < 8 ? c->results[0]->size : 8));
}

/* Reads a terminated string from device memory; false after a fault. */
static bool take_text(em_warp *w, const em_inst *i, int lane, uint64_t address, char *out, size_t size)
{
    for (size_t n = 0; n < size; n++) {
        const uint8_t *byte = em_locate(w, i, lane, EM_GENERIC, address + n, 1, EM_READ);
        if (!byte) return false;
        out[n] = (char)*byte;
        if (!*byte) return true;
    }
    out[size - 1] = '\0';
    return true;
}

/* Formats come from the kernel and are rebuilt from checked characters. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* Prints one conversion of *format and moves *at past its argument. */
static bool print_one(em_warp *w, const em_inst *i, int lane, const char **format, uint64_t arguments,
                      uint64_t *at, cute_buffer *out)
{
    char spec[32] = "%";
    size_t n = 1;
    const char *f = *format + 1;
    bool wide = false;
    while (*f && strchr("-+ #0123456789.", *f) && n < sizeof spec - 4) spec[n++] = *f++;
    while (*f && strchr("hljzt", *f)) wide |= *f == 'l' || *f == 'j' || *f == 'z' || *f == 't', f++;
    char kind = *f;
    if (!kind) return true;
    *format = f;
    if (kind == '%') {
        cute_buffer_putc(out, '%');
        return true;
    }
    bool real = strchr("eEfFgGaA", kind) != NULL;
    uint32_t bytes = real || wide || kind == 's' || kind == 'p' ? 8 : 4;
    *at = (*at + bytes - 1) / bytes * bytes;
    const uint8_t *p = em_locate(w, i, lane, EM_GENERIC, arguments + *at, bytes, EM_READ);
    if (!p) return false;
    uint64_t bits = 0;
    memcpy(&bits, p, bytes);
    *at += bytes;
    if (real) {
        double value;
        memcpy(&value, &bits, sizeof value);
        spec[n++] = kind;
        spec[n] = '\0';
        char text[512];
        snprintf(text, sizeof text, spec, value);
        cute_buffer_puts(out, text);
    } else if (kind == 's') {
        char text[TEXT_LIMIT], shown[TEXT_LIMIT + 64];
        if (!take_text(w, i, lane, bits, text, sizeof text)) return false;
        memcpy(spec + n, "s", 2);
        snprintf(shown, sizeof shown, spec, text);
        cute_buffer_puts(out, shown);
    } else if (strchr("dicouxXp", kind)) {
        char text[512];
        bool sign = kind == 'd' || kind == 'i';
        long long value = sign && !wide ? (int32_t)bits : (long long)bits;
        if (kind == 'p') {
            cute_buffer_printf(out, "0x%llx", value);
            return true;
        }
        if (kind != 'c') memcpy(spec + n, "ll", 2), n += 2;
        spec[n++] = kind;
        spec[n] = '\0';
        if (kind == 'c')
            snprintf(text, sizeof text, spec, (int)bits);
        else
            snprintf(text, sizeof text, spec, value);
        cute_buffer_puts(out, text);
    }
    return true;
}

#pragma GCC diagnostic pop

static bool call_vprintf(em_warp *w, const em_inst *i, const em_call *c, int lane)
{
    char format[TEXT_LIMIT];
    cute_buffer text = {0};
    uint64_t at = 0;
    bool ok = take_text(w, i, lane, call_argument(w, c, lane, 0), format, sizeof format);
    for (const char *f = format; ok && *f; f++) {
        if (*f != '%')
            cute_buffer_putc(&text, *f);
        else
            ok = print_one(w, i, lane, &f, call_argument(w, c, lane, 1), &at, &text);
    }
    if (ok) em_grid_print(w, cute_buffer_text(&text), text.length);
    w->machine->changes++;
    cute_buffer_release(&text);
    set_call_result(w, c, lane, 0);
    return ok;
}

static bool call_assertfail(em_warp *w, const em_inst *i, const em_call *c, int lane)
{
    char what[512] = "", file[512] = "", function[512] = "";
    if (!take_text(w, i, lane, call_argument(w, c, lane, 0), what, sizeof what) ||
        !take_text(w, i, lane, call_argument(w, c, lane, 1), file, sizeof file) ||
        !take_text(w, i, lane, call_argument(w, c, lane, 3), function, sizeof function))
        return false;
    em_fault(w, i, lane, "%s:%u: %s: assertion '%s' failed", file, (uint32_t)call_argument(w, c, lane, 2),
             function, what);
    return false;
}

static bool call_malloc(em_warp *w, const em_inst *i, const em_call *c, int lane)
{
    uint64_t address = 0;
    (void)i;
    w->machine->changes++;
    if (!em_memory_alloc(w->machine->launch->memory, call_argument(w, c, lane, 0), &address)) address = 0;
    set_call_result(w, c, lane, address);
    return true;
}

static bool call_free(em_warp *w, const em_inst *i, const em_call *c, int lane)
{
    uint64_t address = call_argument(w, c, lane, 0);
    em_machine *m = w->machine;
    m->changes++;
    for (uint32_t k = 0; k < m->cluster_count; k++) /* removes cached references to it */
        for (uint32_t r = 0; r < m->clusters[k].count; r++)
            for (uint32_t n = 0; n < m->clusters[k].blocks[r].warp_count; n++)
                m->clusters[k].blocks[r].warps[n].last = (em_allocation){0};
    if (!address || em_memory_free(w->machine->launch->memory, address)) return true;
    uint64_t base, size;
    if (em_memory_was_freed(w->machine->launch->memory, address, &base, &size) && base == address)
        em_fault(w, i, lane, "double free of an allocation of %llu bytes", (unsigned long long)size);
    else
        em_fault(w, i, lane, "free of 0x%llx, which is not the address of an allocation",
                 (unsigned long long)address);
    return false;
}

typedef struct provided {
    const char *name;
    bool (*run)(em_warp *, const em_inst *, const em_call *, int lane);
} provided;
static const provided system_functions[] = {{"vprintf", call_vprintf},
                                            {"__assertfail", call_assertfail},
                                            {"malloc", call_malloc},
                                            {"free", call_free}};

static bool run_system(em_warp *w, const em_inst *i, const em_call *c, const em_function *f, uint32_t mask)
{
    for (size_t n = 0; n < sizeof system_functions / sizeof *system_functions; n++) {
        if (strcmp(system_functions[n].name, f->name)) continue;
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            if (!system_functions[n].run(w, i, c, __builtin_ctz(rest))) return true;
        return true;
    }
    return false;
}

/* ---- the instruction ---- */

static void run_call(em_warp *w, const em_inst *i, uint32_t mask)
{
    const em_call *c = i->call;
    const em_function *f = c->function;
    em_split *s = w->split;
    if (!f) {
        uint64_t address = em_uniform(w, &c->address, mask), index = (address - EM_CODE_BASE) / 16;
        uint32_t same = 0;
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            if (em_get(w, &c->address, __builtin_ctz(rest)) == address) same |= rest & -rest;
        if (same != s->mask) { /* one callee at a time; lanes with others run the call again */
            uint32_t here = s->pc - 1;
            em_uncount(w, i, mask, true);
            if (s->mask & ~mask)
                em_diverge(w, mask, here, s->pc + 1, s->pc + 1);
            else
                em_diverge(w, same, here, here, s->pc + 1);
            return;
        }
        if (address < EM_CODE_BASE || (address & 15) || index >= w->machine->program->function_count) {
            em_fault(w, i, -1, "0x%llx is not the address of a function", (unsigned long long)address);
            return;
        }
        f = w->machine->program->functions[index];
    } else if (mask != s->mask) {
        em_uncount(w, i, mask, true);
        em_diverge(w, mask, s->pc - 1, s->pc + 1, s->pc + 1);
        return;
    }
    if (!f->defined) {
        if (run_system(w, i, c, f, mask)) {
            if (w->stop == EM_GO_ON) s->pc++; /* no results to copy */
            return;
        }
        em_fault(w, i, -1, "function '%s' is not defined in the module", f->name);
        return;
    }
    if (!copy_arguments(w, i, c, f, mask)) return;
    em_enter_function(w, i, mask, f, s->pc);
}

static void run_results_of(em_warp *w, const em_inst *i, uint32_t mask)
{
    em_call found = *i->call;
    if (!found.function && found.result_count) {
        uint64_t index = (em_uniform(w, &found.address, mask) - EM_CODE_BASE) / 16;
        if (index < w->machine->program->function_count)
            found.function = w->machine->program->functions[index];
    }
    em_inst copy = *i;
    copy.call = &found;
    run_results(w, &copy, mask);
}

/* A slot for a register or immediate, of the type of the callee's variable if known. */
static cute_status make_slot(em_parser *p, const em_raw *raw, const em_operand *o, const em_variable *formal,
                             em_variable **out)
{
    ptx_type type = (ptx_type)o->type;
    if (formal) {
        type = formal->in_register ? formal->in_register->type : formal->type;
        if (formal->array || (o->kind == EM_O_VALUE && ptx_types[type].bits != ptx_types[o->type].bits))
            return em_wrong(p, raw, "expected a .%s%s for '%s', got a register of .%s", ptx_types[type].name,
                            formal->array ? " array" : "", formal->name, ptx_types[o->type].name);
    } else if (o->kind != EM_O_VALUE) {
        return em_wrong(p, raw, "expected a register or a .param variable in an indirect call");
    }
    return em_slot(p, type, formal ? formal->name : "", out);
}

/* The variables of an argument list or, if `results`, of the list before the function name. */
static cute_status list_variables(em_parser *p, const em_raw *raw, em_operand *list, bool results,
                                  const em_function *f, em_variable ***out, int *count)
{
    em_variable **formals = !f ? NULL : results ? f->results : f->params;
    size_t known = !f ? 0 : results ? f->result_count : f->param_count;
    *count = list->kind == EM_O_VECTOR ? list->count : 0;
    *out = cute_arena_array(p->arena, (size_t)*count + 1, sizeof **out);
    if (!*out) return cute_fail_memory(p->diag);
    for (int n = 0; n < *count; n++) {
        em_operand *o = &list->list[n];
        const em_variable *v = o->kind == EM_O_IMMEDIATE ? o->symbol : NULL;
        if (v && v->space == EM_PARAM && !v->owner) {
            (*out)[n] = (em_variable *)o->symbol;
            continue;
        }
        bool number = o->kind == EM_O_IMMEDIATE && (!v || v->space != EM_PARAM);
        if (o->kind != EM_O_VALUE && (results || !number))
            return em_wrong(p, raw, "expected registers%s .param variables as %s of a call",
                            results ? " or" : ", immediates or", results ? "results" : "arguments");
        CUTE_TRY(make_slot(p, raw, o, (size_t)n < known ? formals[n] : NULL, &(*out)[n]));
        if (!results) CUTE_TRY(em_slot_store(p, raw, (*out)[n], o));
        *o = (em_operand){.kind = EM_O_IMMEDIATE, .symbol = (*out)[n], .type = PTX_b64};
    }
    return CUTE_OK;
}

cute_status em_take_results(em_parser *p, const em_raw *at)
{
    const em_inst *last = &p->program->code[p->program->count - 1];
    const em_call *c = last->call;
    for (int n = 0; n < c->result_count; n++)
        if (c->registers[n].kind == EM_O_VALUE)
            CUTE_TRY(em_slot_load(p, at, c->results[n], &c->registers[n]));
    return CUTE_OK;
}

cute_status em_decode_call(em_parser *p, const em_raw *raw, em_inst *i)
{
    int at = 0;
    em_call *c = cute_arena_alloc(p->arena, sizeof *c);
    if (!c) return cute_fail_memory(p->diag);
    bool results = raw->count > 0 && raw->o[0].kind == EM_O_VECTOR;
    at += results;
    if (at >= raw->count) return em_wrong(p, raw, "expected a function");
    const em_operand *callee = &raw->o[at++];
    if (callee->kind == EM_O_FUNCTION) {
        c->function = callee->symbol;
        CUTE_TRY(em_note_callee(p, p->program->functions[callee->at]));
    } else if (callee->kind == EM_O_VALUE && callee->bytes == 8) {
        c->address = *callee;
        p->function->calls_address = true;
    } else if (callee->kind == EM_O_LABEL) {
        return em_fail_at(p, (size_t)((const char *)callee->symbol - p->lexer.text), callee->count,
                          "undeclared function '%.*s'", (int)callee->count, (const char *)callee->symbol);
    } else {
        return em_wrong(p, raw, "expected a function or a 64-bit register with a function address");
    }
    if (results) {
        size_t size = raw->o[0].count * sizeof *c->registers;
        em_operand *written = cute_arena_alloc(p->arena, size + 1);
        if (!written) return cute_fail_memory(p->diag);
        c->registers = memcpy(written, raw->o[0].list, size);
        CUTE_TRY(list_variables(p, raw, &raw->o[0], true, c->function, &c->results, &c->result_count));
    }
    if (at < raw->count && raw->o[at].kind == EM_O_VECTOR)
        CUTE_TRY(list_variables(p, raw, &raw->o[at], false, c->function, &c->arguments, &c->argument_count));
    p->program->calls = true;
    i->run = run_call;
    i->call = c;
    /* Results are copied by a separate instruction after the call. */
    em_inst *first, after = *i;
    CUTE_TRY(em_emit(p, &first));
    *first = *i;
    after.run = run_results_of;
    after.hidden = true;
    *i = after;
    return CUTE_OK;
}

/* ---- alloca: from the top of a thread's local memory, freed when the function returns ---- */

static void run_alloca(em_warp *w, const em_inst *i, uint32_t mask)
{
    int64_t floor = w->split->sp + w->split->frame->function->stack_bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        uint64_t size = em_get(w, &i->o[1], l);
        int64_t room = w->stack_top[l] - floor;
        int64_t top = room >= 0 && size <= (uint64_t)room
                          ? (w->stack_top[l] - (int64_t)size) / i->stack.align * i->stack.align
                          : -1;
        if (top < floor) {
            em_fault(w, i, l, "alloca of %llu bytes exceeds the remaining %lld bytes of local memory",
                     (unsigned long long)size, (long long)room);
            return;
        }
        w->stack_top[l] = top;
        em_set(w, &i->o[0], l, (uint64_t)top);
    }
}

cute_status em_decode_alloca(em_parser *p, const em_raw *raw, em_inst *i)
{
    int64_t align = 16;
    CUTE_TRY(em_operands(p, raw, 2, 3));
    if (raw->count > 2) CUTE_TRY(em_number(p, raw, i, 2, &align));
    if (align < 1 || align > 4096 || (align & (align - 1)))
        return em_wrong(p, raw, "expected a power-of-two alignment, got %lld", (long long)align);
    i->stack.align = align < 16 ? 16 : (uint32_t)align;
    i->run = run_alloca;
    p->program->calls = true; /* requires a stack */
    CUTE_TRY(em_target(p, raw, i, 0, PTX_u64, false));
    return em_source(p, raw, i, 1, PTX_u64);
}

static void run_stack(em_warp *w, const em_inst *i, uint32_t mask)
{
    int64_t floor = w->split->sp + w->split->frame->function->stack_bytes;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int l = __builtin_ctz(rest);
        if (i->opcode == EM_OP_stacksave) {
            em_set(w, &i->o[0], l, (uint64_t)w->stack_top[l]);
            continue;
        }
        uint64_t top = em_get(w, &i->o[0], l);
        if (top < (uint64_t)floor || top > (uint64_t)w->local_size) {
            em_fault(w, i, l, "stackrestore of 0x%llx, which was not returned by stacksave",
                     (unsigned long long)top);
            return;
        }
        w->stack_top[l] = (int64_t)top;
    }
}

cute_status em_decode_stack(em_parser *p, const em_raw *raw, em_inst *i)
{
    i->run = run_stack;
    p->program->calls = true;
    CUTE_TRY(em_operands(p, raw, 1, 1));
    return i->opcode == EM_OP_stacksave ? em_target(p, raw, i, 0, PTX_u64, false)
                                        : em_source(p, raw, i, 0, PTX_u64);
}
