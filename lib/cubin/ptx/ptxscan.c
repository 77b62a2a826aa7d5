/* Reads the headers of PTX modules and their `.entry` declarations. */
#include "lib/cubin/ptx/ptxscan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/text/chars.h"
#include "lib/cubin/ptx/ptxtoken.h"

typedef cute_ptx_token token;

typedef struct scanner {
    cute_arena *arena;
    const char *label, *text, *at, *stop;
    cute_diag *diag;
    cute_ptx_scan *out;
    size_t capacity;
    /* names of `.extern .shared` variables: dynamic shared memory */
    struct name {
        token text;
        struct name *next;
    } *dynamic;
} scanner;

static token next_token(scanner *s)
{
    return cute_ptx_next(&s->at, s->stop);
}

static token peek_token(scanner *s)
{
    const char *here = s->at;
    token t = next_token(s);
    s->at = here;
    return t;
}

static bool token_is(token t, const char *text)
{
    return cute_ptx_token_is(t, text);
}
static bool tokens_equal(token a, token b)
{
    return a.length == b.length && memcmp(a.at, b.at, a.length) == 0;
}

static cute_status fail_at_token(scanner *s, token t, const char *what)
{
    cute_place place =
        cute_place_at(s->label, s->text, (size_t)(s->stop - s->text), (size_t)(t.at - s->text));
    if (t.length && t.length < 200) place.length = (int)t.length;
    return t.length ? cute_fail(s->diag, CUTE_INVALID, &place, "%s, got '%.*s'", what,
                                (int)(t.length < 60 ? t.length : 60), t.at)
                    : cute_fail(s->diag, CUTE_INVALID, &place, "%s, got the end of the file", what);
}

static bool read_integer(token t, int64_t *value)
{
    char digits[24], *end;
    if (t.length == 0 || t.length >= sizeof digits || !isdigit((unsigned char)*t.at)) return false;
    memcpy(digits, t.at, t.length);
    digits[t.length] = 0;
    *value = strtoll(digits, &end, 0);
    if (*end == 'U') end++;
    return *end == 0;
}

/* The bits of a fundamental type: 64 for ".b64"; 0: not a fundamental type. */
static int64_t type_bits(token t)
{
    static const char *const packed[] = {".f16x2", ".bf16x2"};
    for (size_t i = 0; i < 2; i++)
        if (token_is(t, packed[i])) return 32;
    if (token_is(t, ".pred")) return 8;
    int64_t bits;
    if (t.length < 3 || !strchr("busf", t.at[1]) || !read_integer((token){t.at + 2, t.length - 2}, &bits))
        return 0;
    return bits == 8 || bits == 16 || bits == 32 || bits == 64 || bits == 128 ? bits : 0;
}

/* ---- parameters ---- */

typedef struct param_list {
    cute_param *params;
    cute_arg *args;
    size_t count, param_capacity, arg_capacity;
    int64_t end;
} param_list;

/* `.param [.align N] TYPE [.ptr [SPACE] [.align N]] NAME [[COUNT]]` after ".param". */
static cute_status read_param(scanner *s, param_list *list)
{
    int64_t align = 0, bits = 0, count = 1, pointee = 0;
    token type = {0}, t = next_token(s);
    bool pointer = false;
    for (; t.length && *t.at == '.'; t = next_token(s)) {
        if (token_is(t, ".align")) {
            t = next_token(s);
            if (!read_integer(t, pointer ? &pointee : &align))
                return fail_at_token(s, t, "expected an alignment in bytes");
        } else if (token_is(t, ".ptr")) {
            pointer = true;
        } else if (type_bits(t) && !bits) {
            type = t;
            bits = type_bits(t);
        }
    }
    if (!bits || !t.length || !cute_is_word(*t.at, "$%."))
        return fail_at_token(s, t, "expected a parameter's type and name");
    token name = t;
    if (token_is(peek_token(s), "[")) {
        next_token(s);
        t = next_token(s);
        if (!read_integer(t, &count)) return fail_at_token(s, t, "expected the number of elements");
        t = next_token(s);
        if (!token_is(t, "]")) return fail_at_token(s, t, "expected ']'");
    }
    int64_t size, offset, start;
    if (align <= 0 || align > 4096) align = bits / 8;
    if (!cute_mul64(bits / 8, count, &size) || !cute_ceil_div64(list->end, align, &offset) ||
        !cute_mul64(offset, align, &start) || !cute_add64(start, size, &list->end) || list->end > INT32_MAX)
        return fail_at_token(s, name, "expected a parameter of less than 2 GiB");
    if (!cute_arena_more(s->arena, &list->params, list->count, &list->param_capacity, sizeof *list->params,
                         16) ||
        !cute_arena_more(s->arena, &list->args, list->count, &list->arg_capacity, sizeof *list->args, 16))
        return cute_fail_memory(s->diag);
    size_t index = list->count++;
    list->params[index] = (cute_param){.offset = start,
                                       .size = size,
                                       .align = align,
                                       .name = cute_arena_copy(s->arena, name.at, name.length)};
    cute_arg *arg = &list->args[index];
    *arg = (cute_arg){
        .name = cute_arena_printf(s->arena, "arg%zu", index), .first = index, .count = 1, .size = size};
    if (pointer) {
        arg->kind = CUTE_ARG_POINTER;
        arg->align = pointee;
    } else if (count == 1 && type.at[1] == 'f' && type.length <= 4) {
        arg->kind = CUTE_ARG_SCALAR;
        arg->dtype = cute_arena_copy(s->arena, type.at + 1, type.length - 1);
    } else if (count == 1 && (type.at[1] == 'u' || type.at[1] == 's') && bits < 64) {
        /* C compilers also write .u32 for signed integers and .u64 for pointers. */
        arg->kind = CUTE_ARG_SCALAR;
        arg->dtype = cute_arena_printf(s->arena, "i%d", (int)bits);
    }
    return arg->name && list->params[index].name ? CUTE_OK : cute_fail_memory(s->diag);
}

static cute_status read_params(scanner *s, param_list *list)
{
    for (token t = next_token(s); !token_is(t, ")"); t = next_token(s)) {
        if (token_is(t, ",")) continue;
        if (!token_is(t, ".param")) return fail_at_token(s, t, "expected '.param' or ')'");
        CUTE_TRY(read_param(s, list));
    }
    return CUTE_OK;
}

/* ---- kernels ---- */

static cute_status read_three(scanner *s, int64_t out[3])
{
    out[0] = out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        token t = next_token(s);
        if (!read_integer(t, &out[i])) return fail_at_token(s, t, "expected a number");
        if (!token_is(peek_token(s), ",")) break;
        next_token(s);
    }
    return CUTE_OK;
}

static cute_status read_one(scanner *s, int64_t *out)
{
    token t = next_token(s);
    return read_integer(t, out) ? CUTE_OK : fail_at_token(s, t, "expected a number");
}

/* Reads the body, after its brace: uses of dynamic shared memory, and the size of static shared memory. */
static cute_status read_body(scanner *s, cute_kernel *kernel)
{
    size_t depth = 1;
    while (depth) {
        token t = next_token(s);
        if (!t.length) return fail_at_token(s, t, "expected '}'");
        if (token_is(t, "{")) depth++;
        if (token_is(t, "}")) depth--;
        for (struct name *n = s->dynamic; n && kernel && !kernel->uses_dynamic_smem; n = n->next)
            if (tokens_equal(t, n->text)) kernel->uses_dynamic_smem = true;
    }
    return CUTE_OK;
}

static cute_kernel *add_kernel(scanner *s)
{
    cute_ptx_scan *out = s->out;
    if (!cute_arena_more(s->arena, &out->kernels, out->kernel_count, &s->capacity, sizeof *out->kernels, 8))
        return NULL;
    cute_kernel *kernel = &out->kernels[out->kernel_count];
    *kernel = (cute_kernel){.static_smem = -1,
                            .dynamic_smem = -1,
                            .resources = {.registers = -1,
                                          .stack = -1,
                                          .max_stack = -1,
                                          .spill_stores = -1,
                                          .spill_loads = -1,
                                          .barriers = -1,
                                          .constant = -1,
                                          .param_bytes = 0,
                                          .code_bytes = -1}};
    return kernel;
}

static cute_status read_entry(scanner *s)
{
    token name = next_token(s), t;
    if (!name.length || !cute_is_word(*name.at, "$%."))
        return fail_at_token(s, name, "expected a kernel's name");
    cute_kernel *kernel = add_kernel(s);
    param_list list = {0};
    if (!kernel) return cute_fail_memory(s->diag);
    kernel->name = cute_arena_copy(s->arena, name.at, name.length);
    if (!kernel->name) return cute_fail_memory(s->diag);
    if (token_is(peek_token(s), "(")) {
        next_token(s);
        CUTE_TRY(read_params(s, &list));
    }
    kernel->params = list.params;
    kernel->args = list.args;
    kernel->param_count = kernel->arg_count = list.count;
    kernel->resources.param_bytes = list.end;
    for (t = next_token(s); t.length && !token_is(t, "{") && !token_is(t, ";"); t = next_token(s)) {
        if (token_is(t, ".reqntid")) CUTE_TRY(read_three(s, kernel->reqntid));
        if (token_is(t, ".maxntid")) CUTE_TRY(read_three(s, kernel->maxntid));
        if (token_is(t, ".reqnctapercluster")) CUTE_TRY(read_three(s, kernel->cluster));
        if (token_is(t, ".maxnreg")) CUTE_TRY(read_one(s, &kernel->max_registers));
        if (token_is(t, ".minnctapersm")) CUTE_TRY(read_one(s, &kernel->min_blocks));
        if (token_is(t, ".maxclusterrank")) CUTE_TRY(read_one(s, &kernel->max_cluster));
        kernel->explicit_cluster |= token_is(t, ".explicitcluster");
        kernel->blocks_are_clusters |= token_is(t, ".blocksareclusters");
    }
    if (!token_is(t, "{")) return t.length ? CUTE_OK : fail_at_token(s, t, "expected the body of the kernel");
    s->out->kernel_count++; /* declarations do not count */
    return read_body(s, kernel);
}

/* ---- the module ---- */

static cute_status read_head(scanner *s)
{
    for (;;) {
        const char *here = s->at;
        token t = next_token(s);
        if (token_is(t, ".version")) {
            t = next_token(s); /* "8.0": one word */
            const char *dot = memchr(t.at, '.', t.length);
            if (dot && isdigit((unsigned char)*t.at))
                s->out->version = (int)(strtol(t.at, NULL, 10) % 1000 * 10 +
                                        (dot + 1 < t.at + t.length ? dot[1] - '0' : 0));
        } else if (token_is(t, ".target")) {
            t = next_token(s);
            if (!t.length || !cute_is_word(*t.at, "$%."))
                return fail_at_token(s, t, "expected an architecture");
            s->out->target_offset = (size_t)(t.at - s->text);
            s->out->target = cute_arena_copy(s->arena, t.at, t.length);
            if (!s->out->target) return cute_fail_memory(s->diag);
            while (token_is(peek_token(s), ","))
                next_token(s), next_token(s); /* "debug", "texmode_unified" */
        } else if (token_is(t, ".address_size")) {
            next_token(s);
        } else {
            s->at = here;
            return CUTE_OK;
        }
    }
}

/* A module-scope directive after ".extern": records dynamic shared memory. */
static cute_status read_extern(scanner *s)
{
    token t = next_token(s);
    if (token_is(t, ".entry")) return read_entry(s);
    bool shared = token_is(t, ".shared");
    token name = {0};
    for (t = next_token(s); t.length && !token_is(t, ";") && !token_is(t, "{"); t = next_token(s))
        if (cute_is_word(*t.at, "$%.") && *t.at != '.' && !isdigit((unsigned char)*t.at)) name = t;
    if (!shared || !name.length) return CUTE_OK;
    struct name *n = cute_arena_alloc(s->arena, sizeof *n);
    if (!n) return cute_fail_memory(s->diag);
    n->text = name;
    n->next = s->dynamic;
    s->dynamic = n;
    return CUTE_OK;
}

static scanner start_scanner(cute_arena *arena, const char *label, const char *text, size_t length,
                             cute_ptx_scan *out, cute_diag *diag)
{
    *out = (cute_ptx_scan){0};
    return (scanner){.arena = arena,
                     .label = label,
                     .text = text,
                     .at = text,
                     .stop = text + length,
                     .diag = diag,
                     .out = out};
}

bool cute_ptx_is(const void *bytes, size_t length)
{
    if (length == 0 || memchr(bytes, 0, length < 4096 ? length : 4096)) return false;
    scanner s = {.text = bytes, .at = bytes, .stop = (const char *)bytes + length};
    return token_is(next_token(&s), ".version");
}

cute_status cute_ptx_scan_head(cute_arena *arena, const char *label, const char *text, size_t length,
                               cute_ptx_scan *out, cute_diag *diag)
{
    scanner s = start_scanner(arena, label, text, length, out, diag);
    return read_head(&s);
}

cute_status cute_ptx_scan_all(cute_arena *arena, const char *label, const char *text, size_t length,
                              cute_ptx_scan *out, cute_diag *diag)
{
    scanner s = start_scanner(arena, label, text, length, out, diag);
    CUTE_TRY(read_head(&s));
    for (token t = next_token(&s); t.length; t = next_token(&s)) {
        if (token_is(t, ".extern"))
            CUTE_TRY(read_extern(&s));
        else if (token_is(t, ".entry"))
            CUTE_TRY(read_entry(&s));
        else if (token_is(t, "{"))
            CUTE_TRY(read_body(&s, NULL));
        else if (token_is(t, ".version"))
            return fail_at_token(&s, t, "expected one module (cute-link links several)");
    }
    return CUTE_OK;
}

cute_arg *cute_args_of_params(cute_arena *arena, const cute_param *params, size_t count)
{
    cute_arg *args = cute_arena_array(arena, count, sizeof *args);
    for (size_t i = 0; args && i < count; i++) {
        args[i] = (cute_arg){
            .name = cute_arena_printf(arena, "arg%zu", i), .first = i, .count = 1, .size = params[i].size};
        if (!args[i].name) return NULL;
    }
    return args;
}
