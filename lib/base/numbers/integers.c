/* See integers.h. */
#include "lib/base/numbers/integers.h"

const cute_integer_names cute_integers[CUTE_INTEGERS] = {
#define CUTE_INTEGER(id, plan, arith, llvm, ...) {plan, arith, llvm},
#include "lib/base/numbers/integers.def"
};

bool cute_integer_compute(cute_integer_op op, int64_t a, int64_t b, int width, int64_t *out)
{
    if (width < 1 || width > 64) width = 64;
    uint64_t x = cute_integer_bits(a, width), y = cute_integer_bits(b, width);
    int64_t s = cute_integer_fit(a, width), t = cute_integer_fit(b, width), least = INT64_MIN >> (64 - width);
    switch (op) {
#define CUTE_INTEGER(id, plan, arith, llvm, condition, result)                                               \
    case CUTE_INTEGER_##id:                                                                                  \
        if (!(condition)) return false;                                                                      \
        *out = cute_integer_fit((int64_t)(result), width);                                                   \
        return true;
#include "lib/base/numbers/integers.def"
    case CUTE_INTEGERS: break;
    }
    return false;
}

const char *const cute_predicates[CUTE_PREDICATES] = {"eq", "ne",  "lt",  "le",  "gt",
                                                      "ge", "ltu", "leu", "gtu", "geu"};

bool cute_integer_compare(int64_t predicate, int64_t a, int64_t b, int width, bool *out)
{
    uint64_t x = cute_integer_bits(a, width), y = cute_integer_bits(b, width);
    int64_t s = cute_integer_fit(a, width), t = cute_integer_fit(b, width);
    const bool results[CUTE_PREDICATES] = {x == y, x != y, s<t, s <= t, s> t, s >= t, x<y, x <= y, x> y,
                                           x >= y};
    if (predicate < 0 || predicate >= CUTE_PREDICATES) return false;
    *out = results[predicate];
    return true;
}
