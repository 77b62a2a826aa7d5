/* An arithmetic that writes down what a compiler would emit, and computes it. */
#ifndef CUTE_TEST_LAYOUT_MACHINE_H
#define CUTE_TEST_LAYOUT_MACHINE_H

#include "tests/unit/test_layout.h"

typedef struct machine {
    char trace[4096];
    size_t length;
    int depth; /* of ifs; below a part that is not taken, values are computed all the same */
    bool failed;
} machine;

static inline void note(machine *m, const char *text)
{
    size_t n = strlen(text);
    if (m->length + n + 2 > sizeof m->trace) return;
    if (m->length) m->trace[m->length++] = ' ';
    memcpy(m->trace + m->length, text, n + 1);
    m->length += n;
}

static inline int64_t value_of(const cute_int *x)
{
    return x->known ? x->value : *(const int64_t *)x->handle;
}

static const char *const names[] = {"add", "sub", "mul", "div", "rem", "ceil_div", "min", "max", "and",
                                    "or",  "xor", "shl", "shr", "abs", "eq",       "ne",  "lt",  "gt"};

static inline cute_status emit(void *context, cute_arith_op op, const cute_int *a, const cute_int *b,
                               int width, void **handle, cute_diag *d)
{
    machine *m = context;
    (void)d;
    char text[64];
    snprintf(text, sizeof text, "%s%s%s%s", names[op],
             a->known        ? "(c,"
             : b && b->known ? "(,c"
                             : "(",
             a->known || (b && b->known) ? ")" : ",)", width == 64 ? "64" : "");
    if (!b) snprintf(text, sizeof text, "%s", names[op]);
    note(m, text);
    if ((a->known && (!b || b->known)) || (!a->known && a->width > width) ||
        (b && !b->known && b->width > width) || (!a->known && !a->handle) || (b && !b->known && !b->handle))
        m->failed = true;
    int64_t x = value_of(a), y = b ? value_of(b) : 0, r = 0;
    switch (op) {
    case CUTE_ADD: r = x + y; break;
    case CUTE_SUB: r = x - y; break;
    case CUTE_MUL: r = x * y; break;
    case CUTE_DIV: r = y ? x / y : 0; break;
    case CUTE_REM: r = y ? x % y : 0; break;
    case CUTE_CEIL_DIV: r = y ? x / y + (x % y != 0 && (x % y > 0) == (y > 0)) : 0; break;
    case CUTE_MIN: r = x < y ? x : y; break;
    case CUTE_MAX: r = x > y ? x : y; break;
    case CUTE_AND: r = x & y; break;
    case CUTE_OR: r = x | y; break;
    case CUTE_XOR: r = x ^ y; break;
    case CUTE_SHL: r = (int64_t)((uint64_t)x << y); break;
    case CUTE_SHR: r = (int64_t)((uint64_t)x >> y); break;
    case CUTE_ABS: r = x < 0 ? -x : x; break;
    case CUTE_EQ: r = x == y; break;
    case CUTE_NE: r = x != y; break;
    case CUTE_LT: r = x < y; break;
    case CUTE_GT: r = x > y; break;
    }
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    *box = r;
    *handle = box;
    return CUTE_OK;
}

static int64_t conditions[64];

static inline cute_status if_begin(void *context, const cute_int *condition, cute_diag *d)
{
    machine *m = context;
    (void)d;
    if (condition->known || condition->width != 1 || m->depth >= 64) m->failed = true;
    conditions[m->depth++ & 63] = value_of(condition);
    note(m, "if{");
    return CUTE_OK;
}

static inline cute_status if_otherwise(void *context, cute_diag *d)
{
    (void)d;
    note(context, "}{");
    return CUTE_OK;
}

static inline cute_status if_end(void *context, const cute_int *yes, const cute_int *no, int width,
                                 void **handle, cute_diag *d)
{
    machine *m = context;
    (void)d;
    if (width != 32 && width != 64) m->failed = true;
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    *box = conditions[--m->depth & 63] ? value_of(yes) : value_of(no);
    *handle = box;
    note(m, "}");
    return CUTE_OK;
}

static inline void if_abandon(void *context)
{
    machine *m = context;
    m->depth--;
    note(m, "abandoned");
}

/* A pointer is a number of elements. */
static inline cute_status advance(void *context, const cute_pointer *from, const cute_int *offset,
                                  const cute_pointer *to, void **handle, cute_diag *d)
{
    machine *m = context;
    (void)d;
    note(m, offset ? "advance" : "recast");
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    *box = *(const int64_t *)from->handle + (offset ? value_of(offset) : 0);
    if ((offset && offset->known && offset->value == 0) || (offset && *box * to->bits % (8 * to->align) != 0))
        m->failed = true;
    *handle = box;
    return CUTE_OK;
}

static inline cute_arith arithmetic(machine *m)
{
    return (cute_arith){m, emit, if_begin, if_otherwise, if_end, if_abandon, advance};
}

/* ---- values with known leaves hidden, and back ---- */

static inline const cute_tree *reveal(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        const cute_tree *items[256];
        if (t->count > 256) abort();
        for (uint32_t i = 0; i < t->count; i++) items[i] = reveal(t->items[i]);
        return cute_tree_tuple(arena, items, t->count);
    }
    if (t->kind != CUTE_TREE_INT || t->value.known) return t;
    return cute_tree_number(arena, value_of(&t->value));
}

/* The unknowns of a value replaced by what they hold. */
static inline cute_value revealed(const cute_value *v)
{
    cute_value out = *v;
    if (v->layout.shape) out.layout = (cute_layout){reveal(v->layout.shape), reveal(v->layout.stride)};
    if (v->inner.shape) out.inner = (cute_layout){reveal(v->inner.shape), reveal(v->inner.stride)};
    if (v->tree) out.tree = reveal(v->tree);
    return out;
}

#endif
