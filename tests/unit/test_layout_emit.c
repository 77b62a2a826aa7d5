/* Operations on unknown values: an arithmetic that computes what a compiler would emit. What it computes
 * must be what the same operation on the known values gives, its type what inference says, and the
 * operations come in the documented order. */
#include "tests/unit/test_layout_machine.h"

/* ---- the order of operations ---- */

static const char *trace_of(const row *r, machine *m)
{
    const char *texts[] = {r->a, r->b, r->c};
    cute_value operands[3], result, inferred;
    cute_operation op;
    int64_t attributes[8];
    size_t count = 0, attribute_count;
    *m = (machine){.length = 0};
    cute_diag_clear(diag);
    if (!parse_operation(r->operation, &op, attributes, &attribute_count)) return "no such operation";
    for (; count < 3 && texts[count]; count++) {
        void *handles[16];
        cute_value v;
        if (!parse_typed(texts[count], &v)) return first_message();
        size_t unknowns = cute_value_unknowns(&v, NULL, 0);
        for (size_t i = 0; i < unknowns && i < 16; i++) {
            int64_t *box = cute_arena_alloc(arena, sizeof *box);
            *box = (int64_t)i + 2;
            handles[i] = box;
        }
        if (cute_value_with_handles(arena, &v, handles, unknowns, &operands[count], diag) != CUTE_OK)
            return first_message();
    }
    cute_attributes list = {attributes, attribute_count};
    cute_arith arith = arithmetic(m);
    if (cute_apply(arena, &arith, op, operands, count, &list, &result, diag) != CUTE_OK)
        return first_message();
    if (cute_apply(arena, NULL, op, operands, count, &list, &inferred, diag) != CUTE_OK)
        return first_message();
    if (!cute_value_equal(&result, &inferred)) return "the inferred type differs";
    if (m->failed || m->depth) return "an operation is malformed";
    return m->trace;
}

static void check_traces(const row *rows, size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        machine m;
        const char *got = trace_of(&rows[i], &m);
        if (strcmp(got, rows[i].result) == 0) continue;
        printf("# %s(%s, %s) emits\n#   %s\n# not\n#   %s\n", rows[i].operation, rows[i].a,
               rows[i].b ? rows[i].b : "", got, rows[i].result);
        test_fail(__FILE__, __LINE__, rows[i].operation);
    }
    end();
}

/* `(c,` and `,c)`: a constant on the left, on the right. */
static void test_order(void)
{
    static const row rows[] = {
        {"size", "shape (5,?)", NULL, NULL, "mul(,c)"},
        {"size", "int_tuple (?,(3,7))", NULL, NULL, "mul(,c) mul(,c)"},
        {"size", "shape (1,?)", NULL, NULL, ""},
        {"cosize<1>", "layout (?,?,?):(?,?,?)", NULL, NULL, "abs add(,c) mul(,) add(,c)"},
        {"crd2idx", "coord (?,?)", "shape (4,8)", NULL, "mul(,c) add(,)"},
        /* the compact strides come first, the last one unused */
        {"crd2idx", "coord (?,?)", "shape (?,?)", NULL, "mul(,) mul(,) add(,)"},
        {"crd2idx", "coord (1,2)", "shape (?,8)", NULL, "mul(,c) mul(,c) add(c,)"},
        {"idx2crd", "int_tuple ?", "shape (4,8)", NULL, "div(,c) rem(,c)"},
        {"idx2crd", "int_tuple ?", "shape (4,(2,3))", NULL, "div(,c) rem(,c) div(,c) rem(,c)"},
        {"layout_eval", "coord (?,?)", "layout (?,?):(?,?)", NULL, "mul(,) mul(,) add(,)"},
        {"layout_eval", "coord (?,?{i64})", "layout (4,4):(?,?)", NULL, "mul(,) mul(,)64 add(,)64"},
        {"layout_eval", "coord ?", "composed_layout S<3,4,3> o 0 o 512:1", NULL, "and(,c) shr(,c) xor(,)"},
        {"layout_eval", "coord ?", "composed_layout S<3,4,-3> o 5 o 512:1", NULL,
         "add(c,) and(,c) shl(,c) xor(,)"},
        {"increment_coord", "coord ?", "shape 8", NULL, "add(,c)"},
        {"increment_coord", "coord (?,?)", "shape (4,8)", NULL,
         "add(,c) lt(,c) if{ }{ } lt(,c) if{ }{ } add(,)"},
        {"shape_div", "shape ?", "shape 4", NULL, "div(,c) ne(,c) if{ }{ gt(,c) if{ }{ eq(,c) if{ }{ } } }"},
        {"slice", "composed_layout (4,5):(1,4) o 2 o (8,3):(1,8)", "coord (?,_)", NULL, "add(c,)"},
        {"make_ordered_layout", "shape (?,?)", "int_tuple (0,1)", NULL, ""},
        {"make_ordered_layout", "shape (?,?,?,?)", "int_tuple (2,1,3,4)", NULL, "mul(,) mul(,) mul(,)"},
        {"composition", "layout ?:?", "layout 4:1", NULL, ""},
        {"tuple_add", "int_tuple (?,1)", "int_tuple (2,?)", NULL, "add(,c) add(c,)"},
        {"ceil_div", "shape ?", "shape 8", NULL, "ceil_div(,c)"},
        {"elem_less", "coord (?,?)", "shape (?,?)", NULL, "lt(,) lt(,) and(,)"},
    };
    check_traces(rows, sizeof rows / sizeof *rows);
}

/* ---- unknown against known ---- */

static uint64_t state = 1;

static uint32_t random_below(uint32_t n)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 16) % n);
}

/* Some known leaves become unknowns that hold the same number. */
static const cute_tree *hide(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        const cute_tree *items[16];
        for (uint32_t i = 0; i < t->count; i++) items[i] = hide(t->items[i]);
        return cute_tree_tuple(arena, items, t->count);
    }
    if (t->kind != CUTE_TREE_INT || random_below(2)) return t;
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    *box = t->value.value;
    return cute_tree_unknown(arena, random_below(4) ? 32 : 64, box);
}

static cute_value hidden(const cute_value *v)
{
    cute_value out = *v;
    if (v->layout.shape) out.layout = (cute_layout){hide(v->layout.shape), hide(v->layout.stride)};
    if (v->tree) out.tree = hide(v->tree);
    return out;
}

static int64_t index_at(const cute_value *layout, int64_t i)
{
    cute_value in[] = {cute_value_of_tree(CUTE_COORD, cute_tree_number(arena, i)), *layout}, out;
    if (cute_apply(arena, NULL, CUTE_OP_LAYOUT_EVAL, in, 2, NULL, &out, diag) != CUTE_OK) return INT64_MIN;
    return out.tree->kind == CUTE_TREE_INT ? out.tree->value.value : INT64_MIN;
}

/* Equal, or for layouts equal as functions on the domain of `x`. */
static bool same(const cute_value *x, const cute_value *y)
{
    if (x->type != y->type) return false;
    if (x->type != CUTE_LAYOUT) return cute_value_equal(x, y);
    cute_value size_x, size_y;
    if (cute_apply(arena, NULL, CUTE_OP_SIZE, x, 1, NULL, &size_x, diag) != CUTE_OK) return false;
    if (cute_apply(arena, NULL, CUTE_OP_SIZE, y, 1, NULL, &size_y, diag) != CUTE_OK) return false;
    if (size_x.tree->value.value != size_y.tree->value.value) return false;
    int64_t n = size_x.tree->value.value;
    for (int64_t i = 0; i < n && i < 512; i++)
        if (index_at(x, i) != index_at(y, i)) return false;
    return true;
}

static const char *const layouts[] = {
    "layout (4,8):(1,4)", "layout (4,8):(8,1)",         "layout ((2,4),(3,2)):((1,6),(2,24))",
    "layout 24:3",        "layout (2,3,4):(12,4,1)",    "layout ((4,2),8):((1,4),8)",
    "layout (6,4):(4,1)", "layout (3,(2,2)):(4,(2,1))",
};

static const struct {
    const char *operation;
    const char *operands[3]; /* "L": one of the layouts; %: a random number below 24 follows */
} calls[] = {
    {"layout_eval", {"coord %", "L"}},
    {"size", {"L"}},
    {"cosize", {"L"}},
    {"crd2idx", {"coord (%,%)", "shape (5,(3,4))"}},
    {"idx2crd", {"int_tuple %", "shape (5,(3,4))"}},
    {"increment_coord", {"coord (%,(%,%))", "shape (24,(24,24))"}},
    {"flatten", {"L"}},
    {"coalesce", {"L"}},
    {"composition", {"L", "layout 4:1"}},
    {"composition", {"L", "layout (2,2):(1,2)"}},
    {"logical_divide", {"L", "layout 2:1"}},
    {"complement", {"layout 4:2", "shape 24"}},
    {"make_ordered_layout", {"shape (%,(3,4))", "int_tuple (1,0)"}},
    {"tuple_add", {"int_tuple (%,(%,3))", "int_tuple (5,(%,%))"}},
    {"tuple_sub", {"int_tuple (%,(%,3))", "int_tuple (5,(%,%))"}},
    {"shape_div", {"shape (8,12)", "shape (4,24)"}},
    {"shape_div", {"shape (8,12)", "shape 16"}},
    {"ceil_div", {"shape (%,%)", "shape (4,5)"}},
    {"elem_less", {"int_tuple (%,%)", "int_tuple (%,%)"}},
    {"equal", {"int_tuple (%,4)", "int_tuple (%,4)"}},
    {"tuple_product", {"int_tuple (%,(%,3))"}},
};

static void expand(const char *pattern, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = pattern; *p && n + 24 < size; p++) {
        if (*p == '%')
            n += (size_t)snprintf(out + n, size - n, "%u", 1 + random_below(23));
        else
            out[n++] = *p;
    }
    out[n] = 0;
}

static void check_call(size_t which, uint64_t seed)
{
    cute_operation op;
    cute_value known[3], operands[3], expected, emitted, inferred, got;
    size_t count = 0;
    char texts[3][128];
    state = seed * 0x9E3779B97F4A7C15u + 1;
    begin();
    CHECK(cute_operation_find(calls[which].operation, &op));
    for (; count < 3 && calls[which].operands[count]; count++) {
        const char *pattern = calls[which].operands[count];
        if (*pattern == 'L') pattern = layouts[random_below(sizeof layouts / sizeof *layouts)];
        expand(pattern, texts[count], sizeof texts[count]);
        if (!CHECK(parse_typed(texts[count], &known[count]))) break;
        operands[count] = hidden(&known[count]);
    }
    if (op == CUTE_OP_MAKE_ORDERED_LAYOUT) operands[1] = known[1]; /* an order is known */
    machine m = {.length = 0};
    cute_arith arith = arithmetic(&m);
    cute_status status = cute_apply(arena, &arith, op, operands, count, NULL, &emitted, diag);
    CHECK_INT(cute_apply(arena, NULL, op, operands, count, NULL, &inferred, diag), status);
    bool fine = !m.failed;
    if (status == CUTE_OK) {
        fine = fine && m.depth == 0 && cute_value_equal(&emitted, &inferred);
        got = revealed(&emitted);
        if (cute_apply(arena, NULL, op, known, count, NULL, &expected, diag) == CUTE_OK)
            fine = fine && same(&expected, &got);
    }
    if (!fine) {
        printf("# seed %" PRIu64 ": %s(%s, %s): %s gives %s\n", seed, calls[which].operation, texts[0],
               count > 1 ? texts[1] : "", m.trace,
               status == CUTE_OK ? cute_value_text(arena, &got) : "a refusal");
        test_failed = true;
    }
    end();
}

static void test_agreement(void)
{
    for (size_t which = 0; which < sizeof calls / sizeof *calls; which++)
        for (uint64_t seed = 1; seed <= 100 && !test_failed; seed++) check_call(which, seed);
}

static void test_failure_ends_ifs(void)
{
    cute_value operands[2], result;
    machine m = {.length = 0};
    cute_arith arith = arithmetic(&m);
    begin();
    /* the second mode divides by a known 0 after the first emitted an if */
    CHECK(parse_typed("shape (?,4)", &operands[0]));
    CHECK(parse_typed("shape (2,0)", &operands[1]));
    int64_t box = 8;
    void *handles[] = {&box};
    CHECK_INT(cute_value_with_handles(arena, &operands[0], handles, 1, &operands[0], diag), CUTE_OK);
    CHECK_INT(cute_apply(arena, &arith, CUTE_OP_SHAPE_DIV, operands, 2, NULL, &result, diag), CUTE_INVALID);
    CHECK_INT(m.depth, 0);
    end();
}

int main(void)
{
    TEST("operations are emitted in the documented order", test_order);
    TEST("what is emitted computes what the known values give, of the inferred type", test_agreement);
    TEST("a refusal leaves no if open", test_failure_ends_ifs);
    return test_finish();
}
