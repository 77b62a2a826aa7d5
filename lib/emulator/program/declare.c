/* Declarations of PTX: registers, variables of each space with initial values, functions with parameters and
 * launch bounds. */
#include "lib/emulator/machine/control.h"
#include "lib/emulator/program/parser.h"

#include <string.h>

#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"

enum { VARIABLE_LIMIT = 1 << 30, PARAM_LIMIT = 1 << 20 };

static size_t token_offset(const em_parser *p)
{
    return (size_t)(p->lexer.token.text - p->lexer.text);
}

bool em_space_of(const em_token *token, em_space *out)
{
    static const struct {
        const char *text;
        em_space space;
    } table[] = {{"global", EM_GLOBAL},
                 {"const", EM_CONST},
                 {"shared", EM_SHARED},
                 {"local", EM_LOCAL},
                 {"param", EM_PARAM}};
    if (token->kind != EM_T_DIRECTIVE) return false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strlen(table[i].text) == token->length &&
            memcmp(table[i].text, token->text, token->length) == 0) {
            *out = table[i].space;
            return true;
        }
    return false;
}

cute_status em_skip_braces(em_parser *p)
{
    int depth = 0;
    CUTE_TRY(em_is(p, '{') ? CUTE_OK : em_fail_token(p, "'{'"));
    do {
        if (em_is(p, '{')) depth++;
        if (em_is(p, '}')) depth--;
        if (p->lexer.token.kind == EM_T_END) return em_fail_token(p, "'}'");
        em_next(p);
    } while (depth > 0);
    return CUTE_OK;
}

static cute_status take_type(em_parser *p, ptx_type *out)
{
    const em_token *t = &p->lexer.token;
    if (t->kind != EM_T_DIRECTIVE || !ptx_type_find(t->text, t->length, out))
        return em_fail_token(p, "a type");
    em_next(p);
    return CUTE_OK;
}

cute_status em_declare_registers(em_parser *p)
{
    ptx_type type;
    em_next(p);
    if (em_is_directive(p, "align")) {
        int64_t unused;
        em_next(p);
        CUTE_TRY(em_take_integer(p, &unused, "an alignment"));
    }
    if (em_is_directive(p, "v2") || em_is_directive(p, "v4"))
        return em_fail_at(p, token_offset(p), p->lexer.token.length, "vector registers are not supported");
    CUTE_TRY(take_type(p, &type));
    for (;;) {
        em_token t = p->lexer.token;
        em_symbol *s;
        int64_t count = 0;
        if (t.kind != EM_T_NAME) return em_fail_token(p, "a register name");
        em_next(p);
        bool range = em_is(p, '<');
        if (range) {
            em_next(p);
            CUTE_TRY(em_take_integer(p, &count, "a register count"));
            CUTE_TRY(em_expect(p, '>'));
            if (count > UINT32_MAX) count = UINT32_MAX;
        }
        CUTE_TRY(em_add_symbol(p, p->scope, t.text, t.length, range ? EM_SYM_RANGE : EM_SYM_REGISTER, &s));
        s->type = type;
        s->count = (uint32_t)count;
        if (!em_is(p, ',')) break;
        em_next(p);
    }
    return em_expect(p, ';');
}

/* ---- variables ---- */

static int64_t round_up(int64_t value, int64_t align)
{
    return (value + align - 1) / align * align;
}

/* [2][3], [] */
static cute_status take_dimensions(em_parser *p, int64_t *count, bool *open, bool *array)
{
    *array = em_is(p, '[');
    *count = 1;
    *open = false;
    while (em_is(p, '[')) {
        int64_t n = 0;
        size_t at = token_offset(p);
        em_next(p);
        if (em_is(p, ']')) {
            *open = true;
        } else {
            CUTE_TRY(em_constant(p, &n));
            if (n < 0 || !cute_mul64(*count, n, count) || *count > VARIABLE_LIMIT)
                return em_fail_at(p, at, 1, "the array is too large");
        }
        CUTE_TRY(em_expect(p, ']'));
    }
    return CUTE_OK;
}

static cute_status put_image(em_parser *p, int64_t at, const void *bytes, size_t length)
{
    em_program *program = p->program;
    size_t end = (size_t)at + length;
    if (end > program->image_capacity) {
        size_t capacity = end * 2 + 256;
        uint8_t *image = cute_arena_alloc(p->arena, capacity);
        if (!image) return cute_fail_memory(p->diag);
        if (program->image_length) memcpy(image, program->image, program->image_length);
        program->image = image;
        program->image_capacity = capacity;
    }
    if (bytes && length) memcpy(program->image + at, bytes, length);
    if (end > program->image_length) program->image_length = end;
    return CUTE_OK;
}

/* One value of an initialiser: a number, or the address of a variable or function. */
static cute_status take_value(em_parser *p, ptx_type type, uint64_t *out)
{
    bool minus = em_is(p, '-');
    em_lexer saved = p->lexer;
    if (minus) em_next(p);
    if (p->lexer.token.kind == EM_T_REAL) {
        double value = minus ? -p->lexer.token.real : p->lexer.token.real;
        float single = (float)value;
        uint32_t word;
        memcpy(out, &value, sizeof value);
        memcpy(&word, &single, sizeof word);
        if (ptx_types[type].bytes == 4) *out = word;
        em_next(p);
        if (!em_at_operator(p)) return CUTE_OK;
    }
    p->lexer = saved;
    /* 0xFF(symbol), generic(symbol), symbol + 4 */
    uint64_t mask = UINT64_MAX;
    bool cast = false;
    if (p->lexer.token.kind == EM_T_INTEGER) {
        uint64_t value = p->lexer.token.integer;
        em_next(p);
        cast = em_is(p, '(');
        if (cast)
            mask = value;
        else
            p->lexer = saved;
    }
    if (em_is_name(p, "generic")) {
        em_next(p);
        cast = em_is(p, '(');
        if (!cast) return em_fail_token(p, "'('");
    }
    if (cast) {
        em_next(p);
        uint64_t inner;
        CUTE_TRY(take_value(p, PTX_u64, &inner));
        CUTE_TRY(em_expect(p, ')'));
        int shift = mask && mask != UINT64_MAX ? __builtin_ctzll(mask) : 0;
        *out = (inner & mask) >> shift;
    } else if (p->lexer.token.kind == EM_T_NAME && !em_is_name(p, "WARP_SZ")) {
        em_token t = p->lexer.token;
        em_symbol *s = em_find(p->scope, t.text, t.length);
        em_next(p);
        if (s && s->kind == EM_SYM_FUNCTION) s->function->address_taken = true;
        if (s && s->kind == EM_SYM_FUNCTION)
            *out = EM_CODE_BASE + (uint64_t)s->function->index * 16;
        else if (s && s->kind == EM_SYM_VARIABLE &&
                 (s->variable->space == EM_GLOBAL || s->variable->space == EM_CONST))
            *out = s->variable->address;
        else
            return em_fail_at(p, (size_t)(t.text - p->lexer.text), t.length, "'%.*s' has no constant address",
                              (int)t.length, t.text);
    } else {
        int64_t value;
        double real;
        bool is_real;
        CUTE_TRY(em_constant_number(p, &value, &real, &is_real));
        float single = (float)real;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        *out = (uint64_t)value;
        if (is_real) memcpy(out, &real, sizeof real);
        if (is_real && ptx_types[type].bytes == 4) *out = word;
        return CUTE_OK;
    }
    while (em_is(p, '+') || em_is(p, '-')) {
        bool subtract = em_is(p, '-');
        int64_t value;
        em_next(p);
        CUTE_TRY(em_take_integer(p, &value, "an offset"));
        *out = subtract ? *out - (uint64_t)value : *out + (uint64_t)value;
    }
    return CUTE_OK;
}

static cute_status take_initial(em_parser *p, em_variable *v, int64_t *at, int depth)
{
    if (depth > 16) return em_fail_at(p, token_offset(p), 1, "initialiser nested too deeply");
    if (em_is(p, '{')) {
        em_next(p);
        while (!em_is(p, '}')) {
            CUTE_TRY(take_initial(p, v, at, depth + 1));
            if (em_is(p, '}')) break;
            CUTE_TRY(em_expect(p, ','));
        }
        return em_expect(p, '}');
    }
    uint64_t value = 0;
    size_t where = token_offset(p);
    int64_t bytes = ptx_types[v->type].bytes;
    CUTE_TRY(take_value(p, v->type, &value));
    if (!v->dynamic && *at + bytes > v->size)
        return em_fail_at(p, where, 1, "too many initial values for '%s'", v->name);
    CUTE_TRY(put_image(p, v->offset + *at, &value, (size_t)(bytes < 8 ? bytes : 8)));
    *at += bytes;
    return CUTE_OK;
}

static cute_status list_variable(em_parser *p, em_variable *v)
{
    em_program *program = p->program;
    if (!cute_arena_more(p->arena, &program->variables, program->variable_count, &program->variable_capacity,
                         sizeof *program->variables, 32))
        return cute_fail_memory(p->diag);
    program->variables[program->variable_count++] = v;
    return CUTE_OK;
}

/* Assigns a variable its offset in its space. */
cute_status em_place_variable(em_parser *p, em_variable *v)
{
    em_program *program = p->program;
    int64_t *area = NULL;
    switch (v->space) {
    case EM_GLOBAL:
    case EM_CONST:
        /* a gap of 16 bytes reveals accesses past the end */
        v->offset = round_up((int64_t)program->image_length + 16, v->align < 16 ? 16 : v->align);
        v->address = program->base + (uint64_t)v->offset;
        CUTE_TRY(put_image(p, v->offset, NULL, (size_t)v->size));
        return list_variable(p, v);
    case EM_SHARED:
        if (v->dynamic) return CUTE_OK;
        area = p->function && p->function->entry ? &p->function->shared : &program->shared;
        v->owner = p->function && p->function->entry ? p->function : NULL;
        if (v->owner && v->align > p->function->shared_align) p->function->shared_align = v->align;
        break;
    case EM_LOCAL:
    case EM_PARAM:
    case EM_GENERIC: area = &p->stack_bytes; break;
    }
    v->offset = round_up(*area, v->align);
    *area = v->offset + v->size;
    return *area > VARIABLE_LIMIT ? em_fail_at(p, token_offset(p), 1, "the variables exceed 1 GiB") : CUTE_OK;
}

static cute_status parse_variable_attributes(em_parser *p, int64_t *align, int64_t *vector)
{
    *align = 0;
    *vector = 1;
    for (;;) {
        size_t at = token_offset(p);
        if (em_is_directive(p, "align")) {
            em_next(p);
            CUTE_TRY(em_take_integer(p, align, "an alignment"));
            if (*align < 1 || *align > 1 << 20 || (*align & (*align - 1)))
                return em_fail_at(p, at, 6, "expected a power-of-two alignment, got %lld", (long long)*align);
        } else if (em_is_directive(p, "v2") || em_is_directive(p, "v4")) {
            *vector = p->lexer.token.text[1] - '0';
            em_next(p);
        } else if (em_is_directive(p, "attribute")) {
            em_next(p);
            while (!em_is(p, ')') && p->lexer.token.kind != EM_T_END) em_next(p);
            CUTE_TRY(em_expect(p, ')'));
        } else if (em_is_directive(p, "ptr")) {
            int64_t unused;
            em_space space;
            em_next(p);
            if (em_space_of(&p->lexer.token, &space)) em_next(p);
            if (em_is_directive(p, "align")) {
                em_next(p);
                CUTE_TRY(em_take_integer(p, &unused, "an alignment"));
            }
        } else {
            return CUTE_OK;
        }
    }
}

static cute_status begin_variable(em_parser *p, em_space space, ptx_type type, int64_t align, int64_t vector,
                                  em_variable **out)
{
    em_token t = p->lexer.token;
    em_symbol *s;
    int64_t count;
    bool open;
    if (t.kind != EM_T_NAME) return em_fail_token(p, "a name");
    em_variable *v = cute_arena_alloc(p->arena, sizeof *v);
    if (!v) return cute_fail_memory(p->diag);
    v->name = cute_arena_copy(p->arena, t.text, t.length);
    if (!v->name) return cute_fail_memory(p->diag);
    em_symbol *known = em_find(p->scope, t.text, t.length);
    if (known && known->kind == EM_SYM_VARIABLE && known->variable->external && p->scope == p->module)
        s = known;
    else if (t.length == 1 && t.text[0] == '_')
        s = NULL;
    else
        CUTE_TRY(em_add_symbol(p, p->scope, t.text, t.length, EM_SYM_VARIABLE, &s));
    em_next(p);
    bool range = em_is(p, '<');
    if (range) return em_fail_token(p, "an array");
    CUTE_TRY(take_dimensions(p, &count, &open, &v->array));
    v->space = space;
    v->type = type;
    int64_t element = ptx_types[type].bytes ? ptx_types[type].bytes : 1;
    v->align = align ? align : element * vector;
    if (!cute_mul64(count, element * vector, &v->size) || v->size > VARIABLE_LIMIT)
        return em_fail_at(p, (size_t)(t.text - p->lexer.text), t.length, "'%s' exceeds 1 GiB", v->name);
    v->dynamic = open;
    if (open) v->size = 0;
    if (s) s->variable = v;
    *out = v;
    return CUTE_OK;
}

/* .global .texref name, which has no further attributes. */
static bool is_texture(const em_parser *p)
{
    return em_is_directive(p, "texref") || em_is_directive(p, "samplerref") || em_is_directive(p, "surfref");
}

cute_status em_declare_variable(em_parser *p, em_space space, bool external)
{
    int64_t align, vector, more_align, more_vector;
    ptx_type type;
    CUTE_TRY(parse_variable_attributes(p, &align, &vector));
    if (p->later && is_texture(p)) {
        while (!em_is(p, ';') && p->lexer.token.kind != EM_T_END) em_next(p);
        return em_expect(p, ';');
    }
    CUTE_TRY(take_type(p, &type));
    CUTE_TRY(parse_variable_attributes(p, &more_align, &more_vector));
    if (more_align) align = more_align;
    for (;;) {
        em_variable *v;
        int64_t at = 0;
        CUTE_TRY(begin_variable(p, space, type, align, vector, &v));
        v->external = external && !p->reading && !(space == EM_SHARED && v->dynamic);
        bool initial = em_is(p, '=');
        if (!v->external || (space == EM_SHARED)) {
            if (!initial || !v->dynamic)
                CUTE_TRY(em_place_variable(p, v));
            else
                v->offset = round_up((int64_t)p->program->image_length + 16, v->align < 16 ? 16 : v->align);
        }
        if (initial) {
            if (space != EM_GLOBAL && space != EM_CONST)
                return em_fail_at(p, token_offset(p), 1,
                                  "only variables in .global and .const can have initial values");
            em_next(p);
            bool open = v->dynamic;
            CUTE_TRY(take_initial(p, v, &at, 0));
            if (open) {
                v->size = at;
                v->dynamic = false;
                v->address = p->program->base + (uint64_t)v->offset;
                CUTE_TRY(list_variable(p, v));
            }
        }
        if (!em_is(p, ',')) break;
        em_next(p);
    }
    return em_expect(p, ';');
}

/* ---- functions ---- */

/* .reg .u32 x */
static cute_status take_register(em_parser *p, em_variable **out)
{
    ptx_type type;
    em_symbol *s;
    em_next(p);
    CUTE_TRY(take_type(p, &type));
    em_token t = p->lexer.token;
    if (t.kind != EM_T_NAME) return em_fail_token(p, "a register name");
    bool unnamed = t.length == 1 && t.text[0] == '_';
    const char *name = cute_arena_copy(p->arena, t.text, t.length);
    if (!name) return cute_fail_memory(p->diag);
    CUTE_TRY(em_slot(p, type, name, out));
    em_next(p);
    if (unnamed) return CUTE_OK;
    CUTE_TRY(em_add_symbol(p, p->scope, t.text, t.length, EM_SYM_REGISTER, &s));
    s->type = type;
    (*out)->in_register = s;
    return CUTE_OK;
}

/* (.param .u64 a, .param .align 8 .b8 b[16]); in functions also (.reg .u32 x). */
static cute_status take_params(em_parser *p, bool entry, em_variable ***out, size_t *count, int64_t *bytes)
{
    em_variable *list[4096];
    size_t n = 0;
    int64_t offset = 0;
    CUTE_TRY(em_expect(p, '('));
    while (!em_is(p, ')')) {
        int64_t align, vector, more, unused;
        ptx_type type;
        if (n == sizeof list / sizeof *list)
            return em_fail_at(p, token_offset(p), 1, "the function has too many parameters");
        em_variable *v;
        if (!entry && em_is_directive(p, "reg")) {
            CUTE_TRY(take_register(p, &v));
            list[n++] = v;
            if (em_is(p, ')')) break;
            CUTE_TRY(em_expect(p, ','));
            continue;
        }
        if (!em_is_directive(p, "param")) return em_fail_token(p, "'.param'");
        em_next(p);
        CUTE_TRY(parse_variable_attributes(p, &align, &vector));
        CUTE_TRY(take_type(p, &type));
        CUTE_TRY(parse_variable_attributes(p, &more, &unused));
        CUTE_TRY(begin_variable(p, EM_PARAM, type, align, vector, &v));
        if (entry) {
            v->owner = p->function;
            v->offset = round_up(offset, v->align);
            offset = v->offset + v->size;
            if (offset > PARAM_LIMIT) return em_fail_at(p, token_offset(p), 1, "the parameters exceed 1 MiB");
        } else {
            CUTE_TRY(em_place_variable(p, v));
        }
        list[n++] = v;
        if (em_is(p, ')')) break;
        CUTE_TRY(em_expect(p, ','));
    }
    CUTE_TRY(em_expect(p, ')'));
    *out = cute_arena_array(p->arena, n + 1, sizeof **out);
    if (!*out) return cute_fail_memory(p->diag);
    if (n) memcpy(*out, list, n * sizeof *list);
    *count = n;
    if (bytes) *bytes = offset;
    return CUTE_OK;
}

static cute_status take_triple(em_parser *p, uint32_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        int64_t value;
        CUTE_TRY(em_take_integer(p, &value, "a number"));
        out[i] = value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
        if (!em_is(p, ',')) break;
        em_next(p);
    }
    return CUTE_OK;
}

static cute_status take_bounds(em_parser *p, em_function *f)
{
    uint32_t unused[3];
    while (p->lexer.token.kind == EM_T_DIRECTIVE) {
        bool required = em_is_directive(p, "reqntid"), most = em_is_directive(p, "maxntid");
        bool cluster = em_is_directive(p, "reqnctapercluster");
        bool number = em_is_directive(p, "minnctapersm") || em_is_directive(p, "maxnctapersm") ||
                      em_is_directive(p, "maxnreg") || em_is_directive(p, "maxclusterrank");
        if (em_is_directive(p, "pragma")) {
            while (!em_is(p, ';') && p->lexer.token.kind != EM_T_END) em_next(p);
            em_next(p);
            continue;
        }
        bool plain = em_is_directive(p, "explicitcluster") || em_is_directive(p, "noreturn") ||
                     em_is_directive(p, "blocksareclusters") || em_is_directive(p, "unique") ||
                     em_is_directive(p, "abi_preserve") || em_is_directive(p, "abi_preserve_control");
        if (!required && !most && !cluster && !number && !plain && !p->later)
            return em_fail_token(p, "a function directive");
        em_next(p);
        if (!plain && p->lexer.token.kind != EM_T_INTEGER && p->later) continue; /* of a later PTX version */
        number |= !plain;
        if (required || most || cluster || number)
            CUTE_TRY(take_triple(p, required  ? f->reqntid
                                    : most    ? f->maxntid
                                    : cluster ? f->cluster
                                              : unused));
    }
    return CUTE_OK;
}

static cute_status resolve_labels(em_parser *p)
{
    for (em_fixup *f = p->fixups; f; f = f->next) {
        em_symbol *s = em_find(f->scope, f->name, f->length);
        if (!s || s->kind == EM_SYM_REGISTER || s->kind == EM_SYM_RANGE)
            return em_fail_at(p, (size_t)(f->name - p->lexer.text), f->length, "undeclared name '%.*s'",
                              (int)f->length, f->name);
        if (s->kind == EM_SYM_LABEL) f->operand->at = s->at;
        if (s->kind == EM_SYM_FUNCTION) {
            s->function->address_taken = true;
            f->operand->kind = EM_O_FUNCTION;
            f->operand->symbol = s->function;
            f->operand->at = s->function->index;
        }
        if (s->kind == EM_SYM_TARGETS) *f->operand = *s->targets;
    }
    p->fixups = NULL;
    return CUTE_OK;
}

static cute_status take_body(em_parser *p, em_function *f)
{
    em_program *program = p->program;
    em_inst *last;
    em_next(p);
    p->register_bytes = 64; /* offset 0 is never a register: a mask without lanes */
    p->loc = 0;
    p->fixups = NULL;
    f->start = program->count;
    f->line = (uint32_t)token_offset(p);
    em_raw end = {.opcode = EM_OP_ret, .name_length = 1, .at = token_offset(p)};
    CUTE_TRY(em_take_parameters(p, f, &end));
    CUTE_TRY(em_parse_block(p));
    end.at = token_offset(p) ? token_offset(p) - 1 : 0;
    CUTE_TRY(em_give_results(p, f, &end));
    f->end = UINT32_MAX;
    CUTE_TRY(em_decode(p, &end));
    last = &program->code[program->count - 1];
    f->end = program->count - 1;
    last->run = em_run_return;
    last->control = EM_RETURN;
    CUTE_TRY(resolve_labels(p));
    f->register_bytes = p->register_bytes;
    f->stack_bytes = round_up(p->stack_bytes, 16);
    CUTE_TRY(em_order_accumulators(program, f, p->diag));
    return em_find_flow(program, f, p->diag);
}

static cute_status list_function(em_parser *p, em_function *f)
{
    em_program *program = p->program;
    if (!cute_arena_more(p->arena, &program->functions, program->function_count, &program->function_capacity,
                         sizeof *program->functions, 16))
        return cute_fail_memory(p->diag);
    f->index = (uint32_t)program->function_count;
    program->functions[program->function_count++] = f;
    return CUTE_OK;
}

static cute_status find_function(em_parser *p, const em_token *name, bool entry, em_function **out)
{
    em_symbol *s = em_find(p->module, name->text, name->length);
    if (s && s->kind != EM_SYM_FUNCTION)
        return em_fail_at(p, (size_t)(name->text - p->lexer.text), name->length, "redeclaration of '%.*s'",
                          (int)name->length, name->text);
    if (!s) {
        em_scope *scope = p->scope;
        p->scope = p->module;
        CUTE_TRY(em_add_symbol(p, p->module, name->text, name->length, EM_SYM_FUNCTION, &s));
        p->scope = scope;
        s->function = cute_arena_alloc(p->arena, sizeof *s->function);
        if (!s->function) return cute_fail_memory(p->diag);
        s->function->name = cute_arena_copy(p->arena, name->text, name->length);
        if (!s->function->name) return cute_fail_memory(p->diag);
        s->function->entry = entry;
        CUTE_TRY(list_function(p, s->function));
    }
    *out = s->function;
    return CUTE_OK;
}

cute_status em_declare_function(em_parser *p, bool entry, bool external)
{
    em_function unnamed = {.entry = entry}, *f = NULL;
    (void)external;
    CUTE_TRY(em_push_scope(p));
    p->stack_bytes = 0;
    p->function = &unnamed;
    while (em_is_directive(p, "attribute")) {
        em_next(p);
        CUTE_TRY(em_expect(p, '('));
        em_next(p);
        CUTE_TRY(em_expect(p, ')'));
    }
    if (em_is(p, '(')) CUTE_TRY(take_params(p, false, &unnamed.results, &unnamed.result_count, NULL));
    em_token name = p->lexer.token;
    if (name.kind != EM_T_NAME) return em_fail_token(p, "a function name");
    CUTE_TRY(find_function(p, &name, entry, &f));
    em_next(p);
    p->function = f;
    em_variable **params = NULL;
    size_t count = 0;
    int64_t bytes = 0;
    if (em_is(p, '(')) CUTE_TRY(take_params(p, entry, &params, &count, &bytes));
    CUTE_TRY(take_bounds(p, f));
    if (em_is(p, '{') || !f->defined) {
        f->results = unnamed.results;
        f->result_count = unnamed.result_count;
        f->params = params;
        f->param_count = count;
        f->param_bytes = bytes;
    }
    if (em_is(p, '{')) {
        if (f->defined)
            return em_fail_at(p, (size_t)(name.text - p->lexer.text), name.length, "redefinition of '%s'",
                              f->name);
        f->defined = true;
        CUTE_TRY(take_body(p, f));
    } else {
        CUTE_TRY(em_expect(p, ';'));
    }
    p->function = NULL;
    p->scope = p->module;
    return CUTE_OK;
}
