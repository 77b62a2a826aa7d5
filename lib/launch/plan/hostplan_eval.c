/* Evaluates launch plans: operations and loops, which produce launches (docs/metadata.md). */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/tma.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/base/numbers/integers.h"
#include "lib/launch/data/dtype.h"
#include "lib/launch/plan/hostplan.h"

enum {
    MAX_STEPS = 4000000,
    MAX_LAUNCHES = 100000,
    MAX_LOOPS = 64,
    MAX_TEMPORARIES = 1000,
    MAX_STREAMS = 64,
    MAX_EVENTS = 4096
};

typedef struct plan_machine {
    cute_arena *arena;
    cute_place file;
    const host_plan *plan;
    const host_number *const *leaves; /* per parameter */
    host_device device;
    const json_t *operations;
    host_number *values, *next; /* next: scratch for loop-carried values */
    size_t count;               /* operations */
    size_t *partner;            /* the "end" of a "for", and the "for" of an "end" */
    int64_t steps;
    host_launch *launches;
    size_t launch_count, launch_capacity;
    host_step *done;
    size_t step_count, step_capacity;
    int streams, events; /* numbers of them that steps name */
    bool placed;         /* has explicit "launch" and "step" operations */
    host_temporary *temporaries;
    size_t temporary_count;
    cute_diag *diag;
} plan_machine;

static cute_status fail_plan(plan_machine *m, const char *problem)
{
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' %s", m->plan->name, problem);
}

static uint64_t bits_of(host_number x)
{
    return cute_integer_bits(x.value, x.width);
}

/* ---- floats: computed as doubles and rounded ---- */

static double real_of(host_number x, cute_dtype dtype)
{
    uint64_t pattern = bits_of(x);
    double out = 0;
    cute_dtype_load(dtype, &pattern, 1, 1, &out);
    return out;
}

static host_number number_of_real(double value, cute_dtype dtype)
{
    uint8_t bytes[8] = {0};
    cute_dtype_store(dtype, bytes, 1, 1, &value);
    return host_number_of(bytes, cute_dtype_get(dtype)->bytes);
}

static double f_add(double a, double b)
{
    return a + b;
}
static double f_sub(double a, double b)
{
    return a - b;
}
static double f_mul(double a, double b)
{
    return a * b;
}
static double f_div(double a, double b)
{
    return a / b;
}
/* arith.minimumf and maximumf: NaN if either operand is NaN. */
static double f_min(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmin(a, b);
}
static double f_max(double a, double b)
{
    return isnan(a) || isnan(b) ? NAN : fmax(a, b);
}
static double f_neg(double a, double b)
{
    return (void)b, -a;
}
static double f_abs(double a, double b)
{
    return (void)b, fabs(a);
}
static double f_sqrt(double a, double b)
{
    return (void)b, sqrt(a);
}
static double f_rsqrt(double a, double b)
{
    return (void)b, 1 / sqrt(a);
}
static double f_exp(double a, double b)
{
    return (void)b, exp(a);
}
static double f_exp2(double a, double b)
{
    return (void)b, exp2(a);
}
static double f_log(double a, double b)
{
    return (void)b, log(a);
}
static double f_log2(double a, double b)
{
    return (void)b, log2(a);
}
static double f_floor(double a, double b)
{
    return (void)b, floor(a);
}
static double f_ceil(double a, double b)
{
    return (void)b, ceil(a);
}

static const struct {
    const char *name;
    double (*apply)(double a, double b);
    int operands;
} float_table[] = {
    {"fadd", f_add, 2},     {"fsub", f_sub, 2},   {"fmul", f_mul, 2},   {"fdiv", f_div, 2},
    {"fmin", f_min, 2},     {"fmax", f_max, 2},   {"fminnum", fmin, 2}, {"fmaxnum", fmax, 2},
    {"fneg", f_neg, 1},     {"fabs", f_abs, 1},   {"fsqrt", f_sqrt, 1}, {"frsqrt", f_rsqrt, 1},
    {"fexp", f_exp, 1},     {"fexp2", f_exp2, 1}, {"flog", f_log, 1},   {"flog2", f_log2, 1},
    {"ffloor", f_floor, 1}, {"fceil", f_ceil, 1},
};

/* "olt": ordered and less than; "ult": unordered or less than. */
static bool compare_reals(const char *predicate, double a, double b, bool *out)
{
    static const struct {
        const char *name;
        bool less, equal, greater;
    } relations[] = {
        {"eq", false, true, false},  {"gt", false, false, true}, {"ge", false, true, true},
        {"lt", true, false, false},  {"le", true, true, false},  {"ne", true, false, true},
        {"rd", true, true, true},    /* ord */
        {"no", false, false, false}, /* uno */
    };
    bool unordered = isnan(a) || isnan(b);
    for (size_t i = 0; i < sizeof relations / sizeof *relations; i++) {
        if ((*predicate != 'o' && *predicate != 'u') || strcmp(predicate + 1, relations[i].name) != 0)
            continue;
        *out = unordered ? *predicate == 'u'
               : a < b   ? relations[i].less
               : a > b   ? relations[i].greater
                         : relations[i].equal;
        return true;
    }
    return false;
}

/* Casts between integer and float types; false if a value does not fit the integer type. */
static bool cast_number(host_number a, cute_dtype from, cute_dtype to, host_number *out)
{
    bool from_float = cute_dtype_get(from)->class == CUTE_CLASS_FLOAT;
    bool to_float = cute_dtype_get(to)->class == CUTE_CLASS_FLOAT;
    if (from_float || to_float) {
        double value = real_of(a, from);
        int width = (int)cute_dtype_get(to)->bytes * 8;
        bool is_signed = cute_dtype_get(to)->class == CUTE_CLASS_SIGNED;
        if (!to_float && !(trunc(value) >= (is_signed ? -ldexp(1, width - 1) : 0) &&
                           trunc(value) < ldexp(1, is_signed ? width - 1 : width)))
            return false;
        *out = number_of_real(to_float ? value : trunc(value), to);
        return true;
    }
    *out = a;
    return false;
}

/* ---- values ---- */

/* Reads the earlier value that item `i` of `op` refers to. */
static bool value_at(plan_machine *m, const json_t *op, size_t i, size_t limit, host_number *out)
{
    const json_t *index = json_array_get(op, i);
    if (!json_is_integer(index) || json_integer_value(index) < 0 ||
        (uint64_t)json_integer_value(index) >= limit)
        return false;
    *out = m->values[json_integer_value(index)];
    return true;
}

static cute_status read_environment(plan_machine *m, const char *name, int64_t *out)
{
    const char *text = getenv(name);
    char *end;
    if (!text)
        return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' reads $%s, which is not set",
                         m->plan->name, name);
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return cute_fail(m->diag, CUTE_INVALID, &m->file,
                         "the plan of '%s' expects an integer in $%s, got '%s'", m->plan->name, name, text);
    *out = value;
    return CUTE_OK;
}

/* ["arg", bits, parameter] or ["arg", bits, parameter, leaf]: not known if not given. */
static cute_status read_argument(plan_machine *m, const json_t *op, host_number *out)
{
    const json_t *index = json_array_get(op, 2), *leaf = json_array_get(op, 3);
    int64_t which = json_integer_value(leaf);
    if (!json_is_integer(index) || json_integer_value(index) < 0 ||
        (uint64_t)json_integer_value(index) >= m->plan->param_count)
        return fail_plan(m, "refers to an unknown argument");
    size_t i = (size_t)json_integer_value(index);
    out->known = m->leaves[i] != NULL && which >= 0 && (uint64_t)which < m->plan->params[i].leaf_count;
    if (!out->known) return CUTE_OK;
    const host_number *given = &m->leaves[i][which];
    out->base = given->base;
    out->known = given->known;
    out->value = cute_integer_fit(given->value, out->width);
    return CUTE_OK;
}

/* Addresses support adding and subtracting integers, and comparison. */
static bool compute_address(const char *name, host_number a, host_number b, host_number *out)
{
    bool adds = !strcmp(name, "add"), subtracts = !strcmp(name, "sub"), eq = !strcmp(name, "eq");
    if (out->width == 64 && ((adds && (a.base < 0 || b.base < 0)) || (subtracts && b.base < 0))) {
        out->base = a.base >= 0 ? a.base : b.base;
        out->value = (int64_t)(adds ? bits_of(a) + bits_of(b) : bits_of(a) - bits_of(b));
        return true;
    }
    if (a.base == b.base && (subtracts || eq || !strcmp(name, "ne"))) {
        out->value = subtracts ? (int64_t)(bits_of(a) - bits_of(b)) : -(int64_t)((a.value == b.value) == eq);
        if (!subtracts) out->width = 1;
        return true;
    }
    /* Comparison with null: a tensor's address is never null. */
    if ((eq || !strcmp(name, "ne")) && ((a.base < 0 && !a.value) || (b.base < 0 && !b.value))) {
        out->width = 1;
        out->value = eq ? 0 : -1;
        return true;
    }
    return false;
}

static cute_status compute_integer(plan_machine *m, const char *name, host_number a, host_number b,
                                   host_number *out)
{
    int op = 0, predicate = 0;
    while (op < CUTE_INTEGERS && strcmp(name, cute_integers[op].plan) != 0) op++;
    while (predicate < CUTE_PREDICATES && strcmp(name, cute_predicates[predicate]) != 0) predicate++;
    if (op < CUTE_INTEGERS || predicate < CUTE_PREDICATES) {
        int64_t result = 0;
        bool holds = false;
        out->known = a.known && b.known;
        if (out->known && (a.base >= 0 || b.base >= 0)) {
            out->known = compute_address(name, a, b, out);
            return CUTE_OK;
        }
        if (op < CUTE_INTEGERS) {
            out->known =
                out->known && cute_integer_compute((cute_integer_op)op, a.value, b.value, a.width, &result);
        } else {
            cute_integer_compare(predicate, a.value, b.value, a.width, &holds);
            result = holds;
            out->width = 1;
        }
        out->value = cute_integer_fit(result, out->width);
        return CUTE_OK;
    }
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' has an unknown operation '%s'",
                     m->plan->name, name);
}

/* [name, type, operands...] */
static cute_status compute_float(plan_machine *m, const json_t *op, const char *name, size_t limit,
                                 host_number *out)
{
    cute_dtype type, from;
    host_number a = {0}, b = {0};
    const char *text = json_string_value(json_array_get(op, 1));
    if (!cute_dtype_find(text, &type)) return fail_plan(m, "has a value of an unknown type");
    if (!strcmp(name, "fconst")) {
        double value = json_number_value(json_array_get(op, 2));
        text = json_string_value(json_array_get(op, 2));
        if (text) value = strtod(text, NULL); /* "nan", "-inf" */
        *out = number_of_real(value, type);
        return CUTE_OK;
    }
    if (!value_at(m, op, 2, limit, &a)) return fail_plan(m, "has an operand that is not an earlier value");
    *out = (host_number){.width = (int)cute_dtype_get(type)->bytes * 8, .base = -1};
    if (!strcmp(name, "fcast")) {
        text = json_string_value(json_array_get(op, 3));
        if (!text || !cute_dtype_find(text, &from)) return fail_plan(m, "converts from an unknown type");
        host_number result = {.width = out->width, .base = -1};
        bool known = a.known && a.base < 0 && cast_number(a, from, type, &result);
        *out = result;
        out->known = known;
        return CUTE_OK;
    }
    bool compares = !strcmp(name, "fcmp");
    for (size_t i = 0; i < sizeof float_table / sizeof *float_table || compares; i++) {
        if (!compares && strcmp(name, float_table[i].name) != 0) continue;
        if ((compares || float_table[i].operands > 1) && !value_at(m, op, 3, limit, &b))
            return fail_plan(m, "has an operand that is not an earlier value");
        double x = real_of(a, type), y = real_of(b, type);
        bool known = a.known && a.base < 0 && (b.known || (!compares && float_table[i].operands == 1)),
             less = false;
        if (compares) {
            const char *predicate = json_string_value(json_array_get(op, 4));
            if (!predicate || !compare_reals(predicate, x, y, &less))
                return fail_plan(m, "has an unknown comparison predicate");
            *out = (host_number){.value = -(int64_t)less, .width = 1, .base = -1, .known = known};
            return CUTE_OK;
        }
        *out = number_of_real(float_table[i].apply(x, y), type);
        out->known = known;
        return CUTE_OK;
    }
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' has an unknown operation '%s'",
                     m->plan->name, name);
}

/* `count` integers. */
static bool read_integers(const json_t *list, int64_t *out, int count)
{
    if (!json_is_array(list) || json_array_size(list) != (size_t)count) return false;
    for (int i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, (size_t)i);
        if (!json_is_integer(item)) return false;
        out[i] = json_integer_value(item);
    }
    return true;
}

static bool read_values(plan_machine *m, const json_t *list, size_t limit, host_number *out, int count)
{
    if (!json_is_array(list) || json_array_size(list) != (size_t)count) return false;
    for (int i = 0; i < count; i++)
        if (!value_at(m, list, (size_t)i, limit, &out[i])) return false;
    return true;
}

/* `count` integers from `least` to `most`. */
static bool read_bounded_integers(const json_t *list, int count, int64_t least, int64_t most, int64_t *out)
{
    if (!read_integers(list, out, count)) return false;
    for (int i = 0; i < count; i++)
        if (out[i] < least || out[i] > most) return false;
    return true;
}

/* Parses a word; *value is unchanged if the key is absent. */
static bool read_tma_word(const json_t *known, const char *key, cute_tma_choice choice, int *value)
{
    const json_t *word = json_object_get(known, key);
    return !word || (json_is_string(word) &&
                     cute_tma_word_find(choice, json_string_value(word), value, NULL) == CUTE_OK);
}

bool host_map_read(const json_t *known, int rank, cute_tensor_map *map)
{
    const char *format = json_string_value(json_object_get(known, "format"));
    int64_t swizzle = json_integer_value(json_object_get(known, "swizzle"));
    int64_t box[CUTE_MAP_RANK], lower[CUTE_MAP_SPATIAL], upper[CUTE_MAP_SPATIAL], stride[CUTE_MAP_SPATIAL];
    int bits, interleave = 0, promotion = CUTE_MAP_L2_128B, fill = 0;
    *map = (cute_tensor_map){.size = sizeof *map, .rank = rank};
    map->im2col = json_object_get(known, "lower") != NULL;
    int boxes = map->im2col ? 2 : rank;
    if (rank < 1 || rank > CUTE_MAP_RANK || (map->im2col && rank < 3) || !format || swizzle < 0 ||
        swizzle > 3 || !cute_tma_format_find(format, strlen(format), &map->type, &bits) ||
        !read_bounded_integers(json_object_get(known, "box"), boxes, 0, UINT16_MAX, box) ||
        !read_tma_word(known, "interleave", CUTE_TMA_INTERLEAVE, &interleave) ||
        !read_tma_word(known, "l2_promotion", CUTE_TMA_PROMOTION, &promotion) ||
        !read_tma_word(known, "fill", CUTE_TMA_FILL, &fill))
        return false;
    map->swizzle = (cute_tensor_map_swizzle)swizzle;
    map->interleave = (cute_tensor_map_interleave)interleave;
    map->l2_promotion = (cute_tensor_map_promotion)promotion;
    map->fill = (cute_tensor_map_fill)fill;
    for (int i = 0; i < boxes; i++) map->box[i] = (uint32_t)box[i];
    for (int i = 0; i < rank; i++) map->element_strides[i] = 1;
    if (!map->im2col) return true;
    if (!read_bounded_integers(json_object_get(known, "lower"), rank - 2, INT16_MIN, INT16_MAX, lower) ||
        !read_bounded_integers(json_object_get(known, "upper"), rank - 2, INT16_MIN, INT16_MAX, upper) ||
        !read_bounded_integers(json_object_get(known, "stride"), rank - 2, 1, 8, stride))
        return false;
    for (int i = 0; i < rank - 2; i++) {
        map->lower[i] = (int32_t)lower[i];
        map->upper[i] = (int32_t)upper[i];
        map->element_strides[1 + i] = (uint32_t)stride[i];
    }
    return true;
}

/* ["tensor_map", 64, address, extents, strides, {static part}] */
static cute_status make_tensor_map(plan_machine *m, const json_t *op, size_t limit, host_number *out)
{
    host_map *map = cute_arena_alloc(m->arena, sizeof *map);
    if (!map) return cute_fail_memory(m->diag);
    *map = (host_map){0};
    const json_t *known = json_array_get(op, 5);
    size_t rank = json_array_size(json_array_get(op, 3));
    map->tensor = json_string_value(json_object_get(known, "tensor"));
    if (rank < 1 || rank > CUTE_MAP_RANK || !map->tensor || !host_map_read(known, (int)rank, &map->map) ||
        !read_integers(json_object_get(known, "modes"), map->modes, (int)rank) ||
        !value_at(m, op, 2, limit, &map->address) ||
        !read_values(m, json_array_get(op, 3), limit, map->dims, (int)rank) ||
        !read_values(m, json_array_get(op, 4), limit, map->strides + 1, (int)rank - 1))
        return fail_plan(m, "has an unsupported tensor map");
    out->map = map;
    out->known = map->address.known && map->address.base >= 0;
    for (size_t i = 0; i < rank; i++)
        out->known = out->known && map->dims[i].known && (!i || map->strides[i].known);
    return CUTE_OK;
}

static cute_status evaluate_operation(plan_machine *m, const json_t *op, size_t limit, host_number *out)
{
    const char *name = json_string_value(json_array_get(op, 0));
    const json_t *width = json_array_get(op, 1), *third = json_array_get(op, 2);
    if (name && json_is_string(width)) return compute_float(m, op, name, limit, out);
    if (!name || !json_is_integer(width) || json_integer_value(width) < 1 || json_integer_value(width) > 64)
        return fail_plan(m, "has a malformed operation");
    *out = (host_number){.width = (int)json_integer_value(width), .base = -1, .known = true};
    host_number a = {0}, b = {0}, c = {0};
    if (!strcmp(name, "const") && json_is_integer(third)) {
        out->value = cute_integer_fit(json_integer_value(third), out->width);
        return CUTE_OK;
    }
    if (!strcmp(name, "arg")) return read_argument(m, op, out);
    if (!strcmp(name, "sms")) {
        int64_t value = 0;
        CUTE_TRY(m->device.sms(m->device.context, &value, m->diag));
        out->value = cute_integer_fit((int64_t)value, out->width);
        return CUTE_OK;
    }
    if (!strcmp(name, "tensor_map")) return make_tensor_map(m, op, limit, out);
    if (!strcmp(name, "env") && json_is_string(third)) {
        int64_t value = 0;
        CUTE_TRY(read_environment(m, json_string_value(third), &value));
        out->value = cute_integer_fit((int64_t)value, out->width);
        return CUTE_OK;
    }
    if (!value_at(m, op, 2, limit, &a)) return fail_plan(m, "has an operand that is not an earlier value");
    if (!strcmp(name, "sext") || !strcmp(name, "trunc") || !strcmp(name, "zext")) {
        out->known = a.known && (a.base < 0 || out->width == 64);
        out->base = out->known ? a.base : -1;
        out->value = cute_integer_fit(!strcmp(name, "zext") ? (int64_t)bits_of(a) : a.value, out->width);
        return CUTE_OK;
    }
    if (!value_at(m, op, 3, limit, &b)) return fail_plan(m, "has an operand that is not an earlier value");
    if (!strcmp(name, "select") && value_at(m, op, 4, limit, &c)) {
        host_number chosen = a.value ? b : c;
        out->known = a.known && chosen.known;
        out->base = chosen.base;
        out->map = chosen.map;
        out->value = cute_integer_fit(chosen.value, out->width);
        return CUTE_OK;
    }
    return compute_integer(m, name, a, b, out);
}

/* ---- launches ---- */

static cute_status fail_unknown_value(plan_machine *m, const host_launch *launch, const char *role)
{
    return cute_fail(
        m->diag, CUTE_INVALID, &m->file,
        "the plan of '%s' launches '%s' with an undefined %s: a division by zero, an oversized shift or an "
        "overflow",
        m->plan->name, launch->kernel, role);
}

/* Reads up to `limit` integers under `key`; *count is the number read. */
static cute_status read_launch_numbers(plan_machine *m, const json_t *json, const char *key,
                                       const host_launch *launch, int64_t *out, size_t limit, size_t *count)
{
    const json_t *list = json_object_get(json, key);
    *count = json_array_size(list);
    if (*count > limit) return fail_plan(m, "has a launch with more than three extents");
    for (size_t i = 0; i < *count; i++) {
        host_number x = {0};
        if (!value_at(m, list, i, m->count, &x) || !x.known || x.base >= 0)
            return fail_unknown_value(m, launch, key);
        out[i] = x.value;
    }
    return CUTE_OK;
}

static cute_status read_launch_extents(plan_machine *m, const json_t *json, const char *key, bool optional,
                                       const host_launch *launch, int64_t out[3])
{
    size_t count;
    CUTE_TRY(read_launch_numbers(m, json, key, launch, out, 3, &count));
    if (count == 0 && optional) return CUTE_OK;
    if (count != 3) return fail_plan(m, "has a launch without three extents");
    int64_t least = strcmp(key, "grid") ? 1 : 0;
    for (int i = 0; i < 3; i++)
        if (out[i] < least)
            return cute_fail(
                m->diag, CUTE_INVALID, &m->file,
                "the plan of '%s' launches '%s' with a %s of %lld x %lld x %lld: expected extents of at "
                "least %lld",
                m->plan->name, launch->kernel, key, (long long)out[0], (long long)out[1], (long long)out[2],
                (long long)least);
    return CUTE_OK;
}

static cute_status read_launch_flag(plan_machine *m, const json_t *json, const char *key,
                                    const host_launch *launch, bool *out)
{
    int64_t value = 0;
    size_t count;
    CUTE_TRY(read_launch_numbers(m, json, key, launch, &value, 1, &count));
    *out = value != 0;
    return CUTE_OK;
}

/* An argument is the index of a value, or a list of them: the leaves of a struct. */
static cute_status read_launch_args(plan_machine *m, const json_t *list, host_launch *launch)
{
    launch->arg_count = json_array_size(list);
    launch->args = cute_arena_array(m->arena, launch->arg_count + 1, sizeof *launch->args);
    if (!launch->args) return cute_fail_memory(m->diag);
    for (size_t i = 0; i < launch->arg_count; i++) {
        const json_t *item = json_array_get(list, i);
        size_t count = json_is_array(item) ? json_array_size(item) : 1;
        host_number *leaves = cute_arena_array(m->arena, count + 1, sizeof *leaves);
        if (!leaves) return cute_fail_memory(m->diag);
        for (size_t k = 0; k < count; k++) {
            bool found = json_is_array(item) ? value_at(m, item, k, m->count, &leaves[k])
                                             : value_at(m, list, i, m->count, &leaves[k]);
            if (!found) return fail_plan(m, "has a launch with a malformed argument");
            if (!leaves[k].known) return fail_unknown_value(m, launch, "argument");
        }
        launch->args[i] = (host_arg){leaves, count};
    }
    return CUTE_OK;
}

/* Whether the value under "if", if there is one, is not 0. */
static cute_status read_condition(plan_machine *m, const json_t *json, const char *problem, bool *out)
{
    const json_t *condition = json_object_get(json, "if");
    *out = true;
    if (!condition) return CUTE_OK;
    bool known = json_is_integer(condition) && json_integer_value(condition) >= 0 &&
                 (uint64_t)json_integer_value(condition) < m->count;
    host_number x = known ? m->values[json_integer_value(condition)] : (host_number){0};
    if (!x.known || x.base >= 0) return fail_plan(m, problem);
    *out = x.value != 0;
    return CUTE_OK;
}

static cute_status read_stream(plan_machine *m, const json_t *json, int *out)
{
    int64_t stream = json_integer_value(json_object_get(json, "stream"));
    if (stream < 0 || stream >= MAX_STREAMS) return fail_plan(m, "has a step on an invalid stream");
    *out = (int)stream;
    if (*out >= m->streams) m->streams = *out + 1;
    return CUTE_OK;
}

static cute_status put_step(plan_machine *m, host_step step)
{
    if (m->step_count == MAX_LAUNCHES) return fail_plan(m, "has more than 100000 steps");
    if (!cute_heap_more(&m->done, m->step_count, &m->step_capacity, sizeof *m->done, 16))
        return cute_fail_memory(m->diag);
    m->done[m->step_count++] = step;
    return CUTE_OK;
}

static cute_status add_launch(plan_machine *m, const json_t *json)
{
    bool performed;
    host_step step = {.kind = HOST_LAUNCH, .launch = m->launch_count};
    host_launch launch = {.kernel = json_string_value(json_object_get(json, "kernel")), .dynamic_smem = -1};
    size_t count;
    if (!launch.kernel) return fail_plan(m, "has a launch without a kernel");
    CUTE_TRY(read_condition(m, json, "has a launch with an undefined condition", &performed));
    if (!performed) return CUTE_OK;
    CUTE_TRY(read_stream(m, json, &step.stream));
    CUTE_TRY(read_launch_extents(m, json, "grid", false, &launch, launch.grid));
    CUTE_TRY(read_launch_extents(m, json, "block", false, &launch, launch.block));
    CUTE_TRY(read_launch_extents(m, json, "cluster", true, &launch, launch.cluster));
    CUTE_TRY(read_launch_numbers(m, json, "dynamic_smem", &launch, &launch.dynamic_smem, 1, &count));
    CUTE_TRY(read_launch_flag(m, json, "cooperative", &launch, &launch.cooperative));
    CUTE_TRY(read_launch_flag(m, json, "programmatic", &launch, &launch.programmatic));
    CUTE_TRY(read_launch_args(m, json_object_get(json, "args"), &launch));
    if (m->launch_count == MAX_LAUNCHES) return fail_plan(m, "has more than 100000 launches");
    if (!cute_heap_more(&m->launches, m->launch_count, &m->launch_capacity, sizeof *m->launches, 16))
        return cute_fail_memory(m->diag);
    m->launches[m->launch_count++] = launch;
    return put_step(m, step);
}

/* ---- copies, fills and events ---- */

/* The value that `key` of a step refers to. */
static cute_status read_step_value(plan_machine *m, const json_t *json, const char *key, bool address,
                                   host_number *out)
{
    const json_t *index = json_object_get(json, key);
    bool valid = json_is_integer(index) && json_integer_value(index) >= 0 &&
                 (uint64_t)json_integer_value(index) < m->count;
    if (!valid) return fail_plan(m, "has a malformed step");
    *out = m->values[json_integer_value(index)];
    if (!out->known || out->map)
        return cute_fail(m->diag, CUTE_INVALID, &m->file,
                         "the plan of '%s' has a step with an undefined '%s'", m->plan->name, key);
    if (address == (out->base >= 0)) return CUTE_OK;
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "the plan of '%s' has a step whose '%s' is %s",
                     m->plan->name, key, address ? "not an address" : "an address");
}

static cute_status read_event(plan_machine *m, const json_t *json, const char *key, int *out)
{
    int64_t event = json_integer_value(json_object_get(json, key));
    if (event < 0 || event >= MAX_EVENTS) return fail_plan(m, "has a step with an invalid event");
    *out = (int)event;
    if (*out >= m->events) m->events = *out + 1;
    return CUTE_OK;
}

static cute_status read_bytes(plan_machine *m, const json_t *json, int64_t *out)
{
    host_number bytes;
    CUTE_TRY(read_step_value(m, json, "bytes", false, &bytes));
    *out = bytes.value;
    if (bytes.value >= 0) return CUTE_OK;
    return cute_fail(m->diag, CUTE_INVALID, &m->file,
                     "the plan of '%s' copies or fills %lld bytes: expected 0 or more", m->plan->name,
                     (long long)bytes.value);
}

/* "shape", "to_strides" and "from_strides" of a copy, in elements of "size" bytes. */
static cute_status read_box(plan_machine *m, const json_t *json, host_step *step)
{
    static const char *const keys[] = {"shape", "to_strides", "from_strides"};
    const json_t *shape = json_object_get(json, "shape");
    size_t rank = json_array_size(shape);
    int64_t size = json_integer_value(json_object_get(json, "size")), spans[2];
    host_box *b = cute_arena_alloc(m->arena, sizeof *b);
    if (!b) return cute_fail_memory(m->diag);
    if (!json_is_array(shape) || rank > HOST_BOX_RANK || size < 1 || size > 256)
        return fail_plan(m, "has a malformed step");
    *b = (host_box){.rank = (int)rank, .size = size};
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < rank; i++) {
            host_number x = {0};
            int64_t *const columns[] = {b->extents, b->to, b->from};
            const json_t *list = json_object_get(json, keys[k]);
            if (!value_at(m, list, i, m->count, &x)) return fail_plan(m, "has a malformed step");
            if (!x.known || x.base >= 0 || x.value < 0 || !cute_mul64(x.value, k ? size : 1, &columns[k][i]))
                return cute_fail(m->diag, CUTE_INVALID, &m->file,
                                 "the plan of '%s' has a copy with an undefined or negative extent or stride",
                                 m->plan->name);
        }
    for (size_t i = 0; i < rank; i++)
        if (!b->extents[i]) return CUTE_OK; /* `bytes` is 0 */
    if (!host_box_spans(b, &step->bytes, &spans[0], &spans[1]))
        return cute_fail(m->diag, CUTE_INVALID, &m->file,
                         "the plan of '%s' has a copy of a size beyond 64 bits", m->plan->name);
    host_box_simplify(b);
    if (!host_box_injective(b))
        return cute_fail(m->diag, CUTE_INVALID, &m->file,
                         "the plan of '%s' has a copy whose target has elements that share memory",
                         m->plan->name);
    if (b->rank) step->box = b;
    return CUTE_OK;
}

/* An entry of "steps": {"copy": from, "to", "bytes"}, at strides with {"shape", "to_strides", "from_strides", "size"}; {"fill": to, "bytes", "value", "width"}, {"record"} or {"wait"}. */
static cute_status add_step(plan_machine *m, const json_t *json)
{
    bool performed;
    host_step step = {.kind = HOST_WAIT};
    CUTE_TRY(read_condition(m, json, "has a step with an undefined condition", &performed));
    if (!performed) return CUTE_OK;
    CUTE_TRY(read_stream(m, json, &step.stream));
    if (json_object_get(json, "copy")) {
        step.kind = HOST_COPY;
        CUTE_TRY(read_step_value(m, json, "copy", true, &step.from));
        CUTE_TRY(read_step_value(m, json, "to", true, &step.to));
        CUTE_TRY(read_bytes(m, json, &step.bytes));
        if (json_object_get(json, "shape")) CUTE_TRY(read_box(m, json, &step));
    } else if (json_object_get(json, "fill")) {
        host_number value;
        step.kind = HOST_FILL;
        CUTE_TRY(read_step_value(m, json, "fill", true, &step.to));
        CUTE_TRY(read_step_value(m, json, "value", false, &value));
        CUTE_TRY(read_bytes(m, json, &step.bytes));
        step.width = (int)json_integer_value(json_object_get(json, "width"));
        step.value = (uint64_t)value.value;
        if (step.width != 1 && step.width != 2 && step.width != 4 && step.width != 8)
            return fail_plan(m, "has a malformed step");
    } else if (json_object_get(json, "record")) {
        step.kind = HOST_RECORD;
        CUTE_TRY(read_event(m, json, "record", &step.event));
    } else if (json_object_get(json, "wait")) {
        CUTE_TRY(read_event(m, json, "wait", &step.event));
    } else {
        return fail_plan(m, "has a malformed step");
    }
    return put_step(m, step);
}

/* ---- temporaries ---- */

static cute_status fail_temporary(plan_machine *m, size_t which, const char *problem)
{
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "temporary %zu of plan '%s' %s", which, m->plan->name,
                     problem);
}

/* The bytes from the first element of a layout to its last: size * (1 + sum of (extent - 1) * stride). */
static cute_status measure_temporary(plan_machine *m, size_t which, const json_t *json, size_t limit,
                                     int64_t *out)
{
    const json_t *shape = json_object_get(json, "shape"), *strides = json_object_get(json, "strides");
    int64_t elements = 1, size = json_integer_value(json_object_get(json, "size"));
    if (size < 1 || size > 256 || !json_is_array(shape) || json_array_size(strides) != json_array_size(shape))
        return fail_plan(m, "has a malformed temporary");
    for (size_t i = 0; i < json_array_size(shape); i++) {
        host_number extent = {0}, stride = {0};
        int64_t span;
        if (!value_at(m, shape, i, limit, &extent) || !value_at(m, strides, i, limit, &stride))
            return fail_plan(m, "has a malformed temporary");
        if (!extent.known || !stride.known || extent.base >= 0 || stride.base >= 0)
            return fail_temporary(
                m, which, "has an undefined size: a division by zero, an oversized shift or an overflow");
        if (extent.value < 1)
            return cute_fail(m->diag, CUTE_INVALID, &m->file,
                             "temporary %zu of plan '%s': expected extents of at least 1, got %lld", which,
                             m->plan->name, (long long)extent.value);
        if (stride.value < 0)
            return cute_fail(m->diag, CUTE_INVALID, &m->file,
                             "temporary %zu of plan '%s': expected strides of at least 0, got %lld", which,
                             m->plan->name, (long long)stride.value);
        if (!cute_mul64(extent.value - 1, stride.value, &span) || !cute_add64(elements, span, &elements))
            return fail_temporary(m, which, "has a size beyond 64 bits");
    }
    if (!cute_mul64(elements, size, out) || *out > INT64_MAX / 4)
        return fail_temporary(m, which, "has a size beyond 64 bits");
    return CUTE_OK;
}

/* ["temporary", 64, entry]: the address of an entry of "temporaries". */
static cute_status read_temporary(plan_machine *m, const json_t *op, size_t at, host_number *out)
{
    const json_t *index = json_array_get(op, 2);
    size_t which = (size_t)json_integer_value(index);
    if (!json_is_integer(index) || json_integer_value(index) < 0 || which >= m->temporary_count)
        return fail_plan(m, "refers to an unknown temporary");
    const json_t *json = json_array_get(json_object_get(m->plan->json, "temporaries"), which),
                 *init = json_object_get(json, "init"), *condition = json_object_get(json, "if");
    int64_t align = json_integer_value(json_object_get(json, "align")), byte = json_integer_value(init);
    host_temporary *t = &m->temporaries[which];
    host_number used = {.value = 1, .base = -1, .known = true};
    if (align < 1 || align > HOST_TEMPORARY_ALIGN || (align & (align - 1)) || byte < 0 || byte > 255)
        return fail_plan(m, "has a malformed temporary");
    if (condition) {
        bool valid = json_is_integer(condition) && json_integer_value(condition) >= 0 &&
                     (uint64_t)json_integer_value(condition) < at;
        if (valid) used = m->values[json_integer_value(condition)];
        if (!valid || !used.known || used.base >= 0)
            return fail_temporary(m, which, "has an undefined condition");
    }
    int64_t most = t->bytes; /* in a loop: of the iterations so far */
    *t = (host_temporary){.align = align, .init = init ? (int)byte : -1};
    if (used.value) CUTE_TRY(measure_temporary(m, which, json, at, &t->bytes));
    if (t->bytes < most) t->bytes = most;
    *out = (host_number){.width = 64, .base = HOST_TEMPORARY + (int)which, .known = true, .value = 0};
    return CUTE_OK;
}

/* ---- control flow ---- */

static bool has_name(const json_t *op, const char *name)
{
    const char *text = json_string_value(json_array_get(op, 0));
    return text && strcmp(text, name) == 0;
}

static size_t carried_count(const json_t *loop)
{
    return json_array_size(loop) > 5 ? json_array_size(loop) - 5 : 0;
}

/* Matches each "for" with its "end". */
static cute_status pair_loops(plan_machine *m)
{
    size_t open[MAX_LOOPS], depth = 0;
    for (size_t i = 0; i < m->count; i++) {
        const json_t *op = json_array_get(m->operations, i);
        m->placed = m->placed || has_name(op, "launch") || has_name(op, "step");
        if (has_name(op, "for")) {
            if (depth == MAX_LOOPS) return fail_plan(m, "has loops nested deeper than 64 levels");
            if (carried_count(op) >= m->count - i) return fail_plan(m, "has a loop without an end");
            open[depth++] = i;
        } else if (has_name(op, "end")) {
            if (!depth) return fail_plan(m, "has an end without a loop");
            m->partner[i] = open[--depth];
            m->partner[m->partner[i]] = i;
            if (i <= m->partner[i] + carried_count(json_array_get(m->operations, m->partner[i])))
                return fail_plan(m, "has a loop without an end");
        }
    }
    return depth ? fail_plan(m, "has a loop without an end") : CUTE_OK;
}

/* Compares the loop's counter with its bound; *more: another iteration follows. */
static cute_status check_loop_bound(plan_machine *m, size_t loop, bool *more)
{
    const json_t *op = json_array_get(m->operations, loop);
    host_number high = {0};
    if (!value_at(m, op, 3, loop, &high)) return fail_plan(m, "has a loop without bounds");
    if (!m->values[loop].known || !high.known || m->values[loop].base >= 0 || high.base >= 0)
        return fail_plan(m, "has a loop with undefined bounds");
    *more = m->values[loop].value < high.value;
    return CUTE_OK;
}

/* ["for", bits, low, high, step, initial values...]: its value is the counter. The operations after it, one
 * for each initial value, are the loop-carried values, and after the loop its results. */
static cute_status begin_loop(plan_machine *m, size_t loop, size_t *next)
{
    const json_t *op = json_array_get(m->operations, loop);
    size_t count = carried_count(op);
    bool more = false;
    if (!value_at(m, op, 2, loop, &m->values[loop])) return fail_plan(m, "has a loop without bounds");
    for (size_t k = 0; k < count; k++)
        if (!value_at(m, op, 5 + k, loop, &m->values[loop + 1 + k]))
            return fail_plan(m, "has a loop without initial values");
    CUTE_TRY(check_loop_bound(m, loop, &more));
    *next = more ? loop + 1 + count : m->partner[loop] + 1;
    return CUTE_OK;
}

/* ["end", bits, next values...] */
static cute_status end_loop(plan_machine *m, size_t end, size_t *next)
{
    size_t loop = m->partner[end], count = carried_count(json_array_get(m->operations, loop));
    const json_t *op = json_array_get(m->operations, end);
    host_number step = {0};
    bool more = false;
    for (size_t k = 0; k < count; k++)
        if (!value_at(m, op, 2 + k, end, &m->next[k]))
            return fail_plan(m, "has a loop that does not update all carried values");
    if (count) memcpy(&m->values[loop + 1], m->next, count * sizeof *m->next);
    if (!value_at(m, json_array_get(m->operations, loop), 4, loop, &step) || !step.known || step.base >= 0 ||
        step.value < 1)
        return fail_plan(m, "has a loop whose step is not positive");
    *next = end + 1;
    if (!cute_add64(m->values[loop].value, step.value, &m->values[loop].value)) return CUTE_OK;
    CUTE_TRY(check_loop_bound(m, loop, &more));
    if (more) *next = loop + 1 + count;
    return CUTE_OK;
}

static cute_status check_assertion(plan_machine *m, const json_t *op, size_t limit)
{
    host_number x = {0};
    const char *text = json_string_value(json_array_get(op, 3));
    if (!value_at(m, op, 2, limit, &x) || !x.known)
        return fail_plan(m, "has an assertion with an undefined condition");
    if (x.value) return CUTE_OK;
    return cute_fail(m->diag, CUTE_INVALID, &m->file, "assertion failed in host function '%s': %s",
                     m->plan->name, text ? text : "");
}

static cute_status run_operation(plan_machine *m, size_t at, size_t *next)
{
    const json_t *op = json_array_get(m->operations, at);
    *next = at + 1;
    m->values[at].width = 64;
    if (has_name(op, "for")) return begin_loop(m, at, next);
    if (has_name(op, "end")) return end_loop(m, at, next);
    if (has_name(op, "assert")) return check_assertion(m, op, at);
    if (has_name(op, "temporary")) return read_temporary(m, op, at, &m->values[at]);
    if (has_name(op, "launch"))
        return add_launch(m, json_array_get(json_object_get(m->plan->json, "launches"),
                                            (size_t)json_integer_value(json_array_get(op, 2))));
    if (has_name(op, "step"))
        return add_step(m, json_array_get(json_object_get(m->plan->json, "steps"),
                                          (size_t)json_integer_value(json_array_get(op, 2))));
    return evaluate_operation(m, op, at, &m->values[at]);
}

static cute_status run_plan_machine(plan_machine *m)
{
    const json_t *launches = json_object_get(m->plan->json, "launches"), *item;
    size_t i;
    if (m->plan->refused)
        return cute_fail(m->diag, CUTE_INVALID, &m->file, "host function '%s' has no launch plan: %s",
                         m->plan->name, m->plan->refused);
    CUTE_TRY(pair_loops(m));
    for (size_t at = 0; at < m->count;) {
        if (++m->steps > MAX_STEPS) return fail_plan(m, "runs more than 4000000 operations");
        CUTE_TRY(run_operation(m, at, &at));
    }
    if (!m->placed) json_array_foreach((json_t *)(uintptr_t)launches, i, item) CUTE_TRY(add_launch(m, item));
    return CUTE_OK;
}

static cute_status give_result(const plan_machine *m, host_run *out, cute_diag *diag)
{
    out->launches = cute_arena_array(m->arena, m->launch_count + 1, sizeof *out->launches);
    if (!out->launches) return cute_fail_memory(diag);
    if (m->launch_count) memcpy(out->launches, m->launches, m->launch_count * sizeof *out->launches);
    out->launch_count = m->launch_count;
    out->steps = cute_arena_array(m->arena, m->step_count + 1, sizeof *out->steps);
    if (!out->steps) return cute_fail_memory(diag);
    if (m->step_count) memcpy(out->steps, m->done, m->step_count * sizeof *out->steps);
    out->step_count = m->step_count;
    out->streams = m->streams;
    out->events = m->events;
    out->temporaries = m->temporaries;
    out->temporary_count = m->temporary_count;
    return CUTE_OK;
}

cute_status host_plan_run(cute_arena *arena, const char *label, const host_plan *plan,
                          const host_number *const *leaves, host_device device, host_run *out,
                          cute_diag *diag)
{
    plan_machine m = {
        .arena = arena, .file = {.file = label}, .plan = plan, .leaves = leaves, .streams = 1, .diag = diag};
    m.device = device;
    m.operations = json_object_get(plan->json, "values");
    m.count = json_array_size(m.operations);
    m.temporary_count = json_array_size(json_object_get(plan->json, "temporaries"));
    if (m.temporary_count > MAX_TEMPORARIES) return fail_plan(&m, "has more than 1000 temporaries");
    m.values = cute_arena_array(arena, m.count + 1, sizeof *m.values);
    m.next = cute_arena_array(arena, m.count + 1, sizeof *m.next);
    m.partner = cute_arena_array(arena, m.count + 1, sizeof *m.partner);
    m.temporaries = cute_arena_array(arena, m.temporary_count + 1, sizeof *m.temporaries);
    *out = (host_run){0};
    cute_status status =
        m.values && m.next && m.partner && m.temporaries ? run_plan_machine(&m) : cute_fail_memory(diag);
    if (status == CUTE_OK) status = give_result(&m, out, diag);
    free(m.launches);
    free(m.done);
    return status;
}
