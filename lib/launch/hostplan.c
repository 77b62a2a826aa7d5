/* Launch plans (docs/metadata.md): what a host function did, done again without a compiler. */
#include "cute/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/checked.h"
#include "lib/base/json.h"

/* A number of `width` bits; not known where it was divided by zero or comes from such a one. A select may
 * still leave it out, so only what a launch takes has to be known. */
typedef struct number {
    int64_t value; /* sign-extended */
    int width;
    bool known;
} number;

typedef struct machine {
    cute_arena *arena;
    cute_place file;
    const char *name;
    number *values;
    size_t count;
    int64_t *args;
    size_t arg_count;
    cute_diag *diag;
} machine;

static cute_status wrong(machine *m, const char *what)
{
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' %s", m->name, what);
}

static int64_t fit(uint64_t value, int width)
{
    if (width >= 64) return (int64_t)value;
    uint64_t sign = (uint64_t)1 << (width - 1);
    value &= ((uint64_t)1 << width) - 1;
    return (int64_t)((value ^ sign) - sign);
}

static uint64_t bits(number x)
{
    return x.width >= 64 ? (uint64_t)x.value : (uint64_t)x.value & (((uint64_t)1 << x.width) - 1);
}

/* ---- operations ---- */

typedef bool binary(number a, number b, uint64_t *out);

#define BINARY(name, condition, expression)                                                                  \
    static bool op_##name(number a, number b, uint64_t *out)                                                 \
    {                                                                                                        \
        uint64_t x = bits(a), y = bits(b);                                                                   \
        int64_t s = a.value, t = b.value;                                                                    \
        (void)x, (void)y, (void)s, (void)t;                                                                  \
        if (!(condition)) return false;                                                                      \
        *out = (uint64_t)(expression);                                                                       \
        return true;                                                                                         \
    }
#define SIGNED_DIVIDES (t != 0 && !(s == INT64_MIN && t == -1))
BINARY(add, true, x + y)
BINARY(sub, true, x - y)
BINARY(mul, true, x *y)
BINARY(div, SIGNED_DIVIDES, s / t)
BINARY(divu, y, x / y)
BINARY(rem, SIGNED_DIVIDES, s % t)
BINARY(remu, y, x % y)
BINARY(ceildiv, SIGNED_DIVIDES, s / t + (s % t != 0 && (s % t > 0) == (t > 0)))
BINARY(ceildivu, y, x / y + (x % y != 0))
BINARY(floordiv, SIGNED_DIVIDES, s / t - (s % t != 0 && (s % t > 0) != (t > 0)))
BINARY(min, true, s < t ? s : t)
BINARY(minu, true, x < y ? x : y)
BINARY(max, true, s > t ? s : t)
BINARY(maxu, true, x > y ? x : y)
BINARY(and, true, x &y)
BINARY(or, true, x | y)
BINARY(xor, true, x ^ y)
BINARY(shl, y < (uint64_t)a.width, x << y)
BINARY(shr, y < (uint64_t)a.width, s >> y)
BINARY(shru, y < (uint64_t)a.width, x >> y)
BINARY(eq, true, x == y)
BINARY(ne, true, x != y)
BINARY(lt, true, s < t)
BINARY(le, true, s <= t)
BINARY(gt, true, s > t)
BINARY(ge, true, s >= t)
BINARY(ltu, true, x < y)
BINARY(leu, true, x <= y)
BINARY(gtu, true, x > y)
BINARY(geu, true, x >= y)
#undef BINARY

static const struct {
    const char *name;
    binary *apply;
    bool compares;
} table[] = {
    {"add", op_add, false},
    {"sub", op_sub, false},
    {"mul", op_mul, false},
    {"div", op_div, false},
    {"divu", op_divu, false},
    {"rem", op_rem, false},
    {"remu", op_remu, false},
    {"ceildiv", op_ceildiv, false},
    {"ceildivu", op_ceildivu, false},
    {"min", op_min, false},
    {"floordiv", op_floordiv, false},
    {"minu", op_minu, false},
    {"max", op_max, false},
    {"maxu", op_maxu, false},
    {"and", op_and, false},
    {"or", op_or, false},
    {"xor", op_xor, false},
    {"shl", op_shl, false},
    {"shr", op_shr, false},
    {"shru", op_shru, false},
    {"eq", op_eq, true},
    {"ne", op_ne, true},
    {"lt", op_lt, true},
    {"le", op_le, true},
    {"gt", op_gt, true},
    {"ge", op_ge, true},
    {"ltu", op_ltu, true},
    {"leu", op_leu, true},
    {"gtu", op_gtu, true},
    {"geu", op_geu, true},
};

/* The earlier value that item `i` of `op` names. */
static bool value_at(machine *m, const json_t *op, size_t i, number *out)
{
    const json_t *index = json_array_get(op, i);
    if (!json_is_integer(index) || json_integer_value(index) < 0 ||
        (uint64_t)json_integer_value(index) >= m->count)
        return false;
    *out = m->values[json_integer_value(index)];
    return true;
}

static cute_status environment(machine *m, const char *name, int64_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text)
        return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' reads $%s, which is not set",
                         m->name, name);
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return cute_fail(m->diag, CUTE_INVALID, &m->file,
                         "the plan of '%s' expects an integer in $%s, got '%s'", m->name, name, text);
    *out = value;
    return CUTE_OK;
}

static cute_status evaluate(machine *m, const json_t *op, number *out)
{
    const char *name = json_string_value(json_array_get(op, 0));
    const json_t *width = json_array_get(op, 1), *third = json_array_get(op, 2);
    if (!name || !json_is_integer(width) || json_integer_value(width) < 1 || json_integer_value(width) > 64)
        return wrong(m, "has a value that is no operation");
    *out = (number){.width = (int)json_integer_value(width), .known = true};
    number a = {0}, b = {0}, c = {0};
    if (!strcmp(name, "const") && json_is_integer(third)) {
        out->value = fit((uint64_t)json_integer_value(third), out->width);
        return CUTE_OK;
    }
    if (!strcmp(name, "arg") && json_is_integer(third) && json_integer_value(third) >= 0 &&
        (uint64_t)json_integer_value(third) < m->arg_count) {
        out->value = fit((uint64_t)m->args[json_integer_value(third)], out->width);
        return CUTE_OK;
    }
    if (!strcmp(name, "env") && json_is_string(third)) {
        int64_t value = 0;
        CUTE_TRY(environment(m, json_string_value(third), &value));
        out->value = fit((uint64_t)value, out->width);
        return CUTE_OK;
    }
    if (!value_at(m, op, 2, &a)) return wrong(m, "has a value that is made of no earlier one");
    if (!strcmp(name, "sext") || !strcmp(name, "trunc") || !strcmp(name, "zext")) {
        out->known = a.known;
        out->value = fit(!strcmp(name, "zext") ? bits(a) : (uint64_t)a.value, out->width);
        return CUTE_OK;
    }
    if (!value_at(m, op, 3, &b)) return wrong(m, "has a value that is made of no earlier one");
    if (!strcmp(name, "select") && value_at(m, op, 4, &c)) {
        number chosen = a.value ? b : c;
        out->known = a.known && chosen.known;
        out->value = fit((uint64_t)chosen.value, out->width);
        return CUTE_OK;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(name, table[i].name) != 0) continue;
        uint64_t result = 0;
        out->known = a.known && b.known && table[i].apply(a, b, &result);
        if (table[i].compares) out->width = 1;
        out->value = fit(result, out->width);
        return CUTE_OK;
    }
    return cute_fail(m->diag, CUTE_INVALID, &m->file,
                     "the plan of '%s' has an operation '%s' that this version does not know", m->name, name);
}

/* ---- arguments ---- */

static cute_status read_args(machine *m, const json_t *args, const char *const *defines, size_t define_count)
{
    m->arg_count = json_array_size(args);
    m->args = cute_arena_array(m->arena, m->arg_count, sizeof *m->args);
    if (m->arg_count && !m->args) return cute_fail_memory(m->diag);
    for (size_t i = 0; i < m->arg_count; i++) {
        const json_t *arg = json_array_get(args, i);
        const char *name = json_string_value(json_object_get(arg, "name")), *given = NULL;
        if (!name) return wrong(m, "has an argument without a name");
        if (json_integer_value(json_object_get(arg, "width")) < 1) continue; /* refused where it is used */
        for (size_t d = 0; d < define_count; d++)
            if (!strncmp(defines[d], name, strlen(name)) && defines[d][strlen(name)] == '=')
                given = defines[d] + strlen(name) + 1;
        if (!given)
            return cute_fail(m->diag, CUTE_USAGE, NULL,
                             "host function '%s' takes '%s': give it with -D %s=NUMBER", m->name, name, name);
        char *end;
        errno = 0;
        m->args[i] = strtoll(given, &end, 0);
        if (end == given || *end || errno)
            return cute_fail(m->diag, CUTE_USAGE, NULL, "-D %s expects an integer, got '%s'", name, given);
    }
    return CUTE_OK;
}

/* ---- launches ---- */

static cute_status put_numbers(machine *m, const json_t *launch, const char *key, json_t *out)
{
    const json_t *list = json_object_get(launch, key);
    if (!list) return CUTE_OK;
    bool single = !strcmp(key, "dynamic_smem");
    json_t *numbers = json_array();
    for (size_t i = 0; i < json_array_size(list); i++) {
        number x = {0};
        if (!value_at(m, list, i, &x) || !x.known) {
            json_decref(numbers);
            return cute_fail(m->diag, CUTE_INVALID, &m->file,
                             "the plan of '%s' launches '%s' with a %s that has no value: "
                             "it was divided by zero, shifted out or overflowed",
                             m->name, json_string_value(json_object_get(launch, "kernel")), key);
        }
        json_array_append_new(numbers, json_integer(x.value));
    }
    if (single) {
        json_object_set(out, key, json_array_get(numbers, 0));
        json_decref(numbers);
    } else {
        json_object_set_new(out, key, numbers);
    }
    return CUTE_OK;
}

static cute_status put_launch(machine *m, const json_t *launch, json_t *launches)
{
    static const char *const keys[] = {"grid", "block", "cluster", "dynamic_smem", "args"};
    const json_t *condition = json_object_get(launch, "if");
    const char *kernel = json_string_value(json_object_get(launch, "kernel"));
    if (!kernel) return wrong(m, "has a launch without a kernel");
    if (condition) {
        json_t *one = json_pack("[O]", condition);
        number x = {0};
        bool there = one && value_at(m, one, 0, &x);
        json_decref(one);
        if (!there || !x.known) return wrong(m, "has a launch whose condition has no value");
        if (!x.value) return CUTE_OK;
    }
    json_t *out = json_pack("{ss}", "kernel", kernel);
    cute_status status = out ? CUTE_OK : cute_fail_memory(m->diag);
    for (size_t i = 0; status == CUTE_OK && i < sizeof keys / sizeof *keys; i++)
        status = put_numbers(m, launch, keys[i], out);
    if (status == CUTE_OK) json_array_append(launches, out);
    json_decref(out);
    return status;
}

static cute_status run(machine *m, const json_t *plan, const char *const *defines, size_t define_count,
                       json_t *launches)
{
    const json_t *values = json_object_get(plan, "values"), *item;
    const char *refused = json_string_value(json_object_get(plan, "refused"));
    size_t i;
    if (refused)
        return cute_fail(m->diag, CUTE_INVALID, &m->file, "host function '%s' has no launch plan: %s",
                         m->name, refused);
    CUTE_TRY(read_args(m, json_object_get(plan, "args"), defines, define_count));
    m->values = cute_arena_array(m->arena, json_array_size(values), sizeof *m->values);
    if (json_array_size(values) && !m->values) return cute_fail_memory(m->diag);
    json_array_foreach((json_t *)values, i, item)
    {
        CUTE_TRY(evaluate(m, item, &m->values[m->count]));
        m->count++;
    }
    json_array_foreach(json_object_get(plan, "launches"), i, item) CUTE_TRY(put_launch(m, item, launches));
    return json_array_size(launches) ? CUTE_OK : wrong(m, "launches nothing with these arguments");
}

static cute_status plan_of(const char *label, const char *text, size_t length, const char *const *defines,
                           size_t define_count, char **out, cute_diag *diag)
{
    machine m = {.arena = cute_arena_create(), .file = {.file = label}, .name = "", .diag = diag};
    json_t *plan = NULL, *config = json_pack("{s[]}", "launches");
    *out = NULL;
    cute_status status =
        m.arena && config ? cute_json_parse(label, text, length, &plan, diag) : cute_fail_memory(diag);
    if (status == CUTE_OK) {
        const char *name = json_string_value(json_object_get(plan, "plan"));
        if (name) m.name = name;
        status = run(&m, plan, defines, define_count, json_object_get(config, "launches"));
    }
    if (status == CUTE_OK && !(*out = json_dumps(config, JSON_INDENT(2)))) status = cute_fail_memory(diag);
    json_decref(config);
    json_decref(plan);
    cute_arena_destroy(m.arena);
    return status;
}

cute_status cute_module_plan(const cute_module *module, const char *name, const char *const *defines,
                             size_t define_count, char **out, cute_diag *diag)
{
    const char *text = NULL;
    size_t length = 0;
    *out = NULL;
    CUTE_TRY(cute_module_find_plan(module, name, &text, &length, diag));
    return plan_of("<plan>", text, length, defines, define_count, out, diag);
}
