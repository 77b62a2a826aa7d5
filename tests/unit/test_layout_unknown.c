/* Unknown against known, over all operations: leaves of random operands become unknowns of some width and
 * divisor that hold the same number. What is emitted, computed, is what the known operands give; the inferred
 * type is that of what is emitted; a divisor that a type states divides; a number that fits is not called
 * narrower. */
#include "tests/unit/test_layout_machine.h"
#include "tests/unit/test_layout_random.h"

/* ---- hiding ---- */

static cute_int hidden_int(int64_t value)
{
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    cute_int x = {.width = random_below(4) ? 32 : 64, .handle = box};
    *box = value;
    /* a divisor of what it holds */
    int64_t divisor = 1 + random_below(8);
    if (random_below(2) && divisor > 1 && value % divisor == 0) x.divisor = divisor;
    return x;
}

static const cute_tree *hide(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        const cute_tree *items[64];
        for (uint32_t i = 0; i < t->count; i++) items[i] = hide(t->items[i]);
        return cute_tree_tuple(arena, items, t->count);
    }
    if (t->kind != CUTE_TREE_INT || random_below(2)) return t;
    return cute_tree_scalar(arena, hidden_int(t->value.value));
}

static cute_value hidden(const cute_value *v)
{
    cute_value out = *v;
    if (v->layout.shape) out.layout = (cute_layout){hide(v->layout.shape), hide(v->layout.stride)};
    if (v->tree) out.tree = hide(v->tree);
    return out;
}

/* ---- operands ---- */

/* Extents that divide one another: there compositions of unknown modes are what they are taken to be. */
static spec powers(int most, bool tiler)
{
    spec s = random_spec(COMPACT, most, 64);
    int64_t next = 1;
    for (int i = 0; i < s.count; i++) {
        s.shape[i] = (int64_t)1 << random_below(4);
        if (tiler) s.stride[i] = next;
        next *= s.shape[i];
    }
    if (!tiler) { /* in some order */
        int64_t at = 1;
        for (int i = 0; i < s.count; i++) {
            int k = s.count % 2 ? i : s.count - 1 - i;
            s.stride[k] = at;
            at *= s.shape[k];
        }
    }
    return s;
}

/* What a letter stands for:
 *   L a layout          l one of basis strides    n n:1, n a power of two    T a compact layout of few modes
 *   C, S, I, D          a coordinate, shape, int tuple, stride: of the structure of the L before it, or of
 * its own i, s, c             a number as int tuple, shape, coordinate             W a swizzle P a swizzled
 * layout o an order of the shape before it                    lower-case k after: stays known */
typedef struct operand_builder {
    spec last;
    bool any;
} operand_builder;

static const cute_tree *tree_like(const spec *s, int what)
{
    spec t = *s;
    for (int i = 0; i < t.count; i++) {
        if (what == 'C') t.shape[i] = random_below((uint32_t)t.shape[i]);
        if (what == 'I') t.shape[i] = 1 + random_below(12);
        if (what == 'D') t.shape[i] = t.stride[i];
    }
    char text[1024];
    cute_value v;
    put_tuple(text, &t, false);
    if (cute_value_parse(arena, CUTE_INT_TUPLE, text, strlen(text), &v, NULL, diag) != CUTE_OK) abort();
    return v.tree;
}

static cute_value build(operand_builder *b, char letter)
{
    if (!b->any && strchr("CSID", letter)) b->last = powers(3, false), b->any = true;
    switch (letter) {
    case 'L': b->last = powers(3, false), b->any = true; return to_layout(&b->last);
    case 'l': b->last = random_spec(BASIS, 3, 64), b->any = true; return to_layout(&b->last);
    case 'T': {
        spec t = powers(2, true);
        return to_layout(&t);
    }
    case 'n': {
        spec t = powers(1, true);
        return to_layout(&t);
    }
    case 'C': return cute_value_of_tree(CUTE_COORD, tree_like(&b->last, 'C'));
    case 'S': return cute_value_of_tree(CUTE_SHAPE, tree_like(&b->last, 'S'));
    case 'I': return cute_value_of_tree(CUTE_INT_TUPLE, tree_like(&b->last, 'I'));
    case 'D': return cute_value_of_tree(CUTE_STRIDE, tree_like(&b->last, 'D'));
    case 'i': return number_value(CUTE_INT_TUPLE, 1 + random_below(60));
    case 's': return number_value(CUTE_SHAPE, (int64_t)1 << random_below(6));
    case 'c': return number_value(CUTE_COORD, random_below(60));
    case 'W': return (cute_value){.type = CUTE_SWIZZLE, .swizzle = {2, (int)random_below(3), 2}};
    case 'P': {
        b->last = powers(3, false);
        return (cute_value){.type = CUTE_COMPOSED_LAYOUT,
                            .layout = to_layout(&b->last).layout,
                            .tree =
                                cute_tree_number(arena, random_below(2) ? 0 : 512 * (1 + random_below(3))),
                            .swizzle = {1 + (int)random_below(2), (int)random_below(3), 2}};
    }
    default: abort();
    }
}

typedef struct unknown_call {
    cute_operation op;
    const char *operands; /* in the order of the operation; built from right to left where `reversed` */
    bool reversed;
    const char *known; /* those operands stay known */
    int attributes;    /* so many random modes (or small numbers) */
} unknown_call;

static const unknown_call calls[] = {
    {CUTE_OP_LAYOUT_EVAL, "CL", true, "", 0},
    {CUTE_OP_LAYOUT_EVAL, "cL", true, "", 0},
    {CUTE_OP_LAYOUT_EVAL, "cl", true, "", 0},
    {CUTE_OP_LAYOUT_EVAL, "cP", true, "", 0},
    {CUTE_OP_LAYOUT_EVAL, "CP", true, "", 0},
    {CUTE_OP_CRD2IDX, "CS", true, "", 0},
    {CUTE_OP_IDX2CRD, "iS", true, "", 0},
    {CUTE_OP_CRD2CRD, "iS", true, "", 0},
    {CUTE_OP_INCREMENT_COORD, "CS", true, "", 0},
    {CUTE_OP_SWIZZLE_EVAL, "iW", false, "", 0},
    {CUTE_OP_SIZE, "L", false, "", 0},
    {CUTE_OP_SIZE, "L", false, "", 1},
    {CUTE_OP_COSIZE, "L", false, "", 0},
    {CUTE_OP_COSIZE, "P", false, "", 0},
    {CUTE_OP_TUPLE_PRODUCT, "I", false, "", 0},
    {CUTE_OP_TUPLE_PRODUCT_EACH, "I", false, "", 0},
    {CUTE_OP_PREFIX_PRODUCT, "I", false, "", 0},
    {CUTE_OP_INNER_PRODUCT, "II", false, "", 0},
    {CUTE_OP_TUPLE_ADD, "II", false, "", 0},
    {CUTE_OP_TUPLE_SUB, "II", false, "", 0},
    {CUTE_OP_CEIL_DIV, "II", false, "", 0},
    {CUTE_OP_CEIL_DIV, "Ii", false, "", 0},
    {CUTE_OP_SHAPE_DIV, "SD", false, "", 0},
    {CUTE_OP_SHAPE_DIV, "Ss", false, "", 0},
    {CUTE_OP_ELEM_LESS, "II", false, "", 0},
    {CUTE_OP_EQUAL, "II", false, "", 0},
    {CUTE_OP_EQUAL, "SS", false, "", 0},
    {CUTE_OP_EQUAL, "LL", false, "", 0},
    {CUTE_OP_MAKE_LAYOUT, "SD", false, "", 0},
    {CUTE_OP_MAKE_IDENTITY_LAYOUT, "S", false, "", 0},
    {CUTE_OP_MAKE_ORDERED_LAYOUT, "SI", false, "I", 0},
    {CUTE_OP_MAKE_LAYOUT_LIKE, "L", false, "L", 0},
    {CUTE_OP_GET_SHAPE, "L", false, "", 0},
    {CUTE_OP_GET_STRIDE, "L", false, "", 0},
    {CUTE_OP_GET, "L", false, "", 1},
    {CUTE_OP_SELECT, "L", false, "", 2},
    {CUTE_OP_FLATTEN, "L", false, "", 0},
    {CUTE_OP_COALESCE, "L", false, "", 0},
    {CUTE_OP_FILTER, "L", false, "", 0},
    {CUTE_OP_APPEND_TO_RANK, "LT", false, "", 3},
    {CUTE_OP_PREPEND_TO_RANK, "LT", false, "", 3},
    {CUTE_OP_COMPOSITION, "Ln", false, "", 0},
    {CUTE_OP_COMPOSITION, "LT", false, "", 0},
    {CUTE_OP_COMPOSITION, "LT", false, "T", 0},
    {CUTE_OP_COMPOSITION, "LT", false, "L", 0},
    {CUTE_OP_COMPLEMENT, "ns", false, "", 0},
    {CUTE_OP_RIGHT_INVERSE, "L", false, "L", 0},
    {CUTE_OP_LOGICAL_DIVIDE, "Ln", false, "", 0},
    {CUTE_OP_LOGICAL_DIVIDE, "LT", false, "T", 0},
    {CUTE_OP_ZIPPED_DIVIDE, "Ls", false, "", 0},
    {CUTE_OP_TILED_DIVIDE, "Ls", false, "", 0},
    {CUTE_OP_FLAT_DIVIDE, "Ls", false, "", 0},
    {CUTE_OP_LOGICAL_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_ZIPPED_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_TILED_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_FLAT_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_BLOCKED_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_RAKED_PRODUCT, "LT", false, "L", 0},
    {CUTE_OP_NULLSPACE, "L", false, "L", 0},
    {CUTE_OP_RECAST_LAYOUT, "L", false, "", 8},
    {CUTE_OP_CRD2IDX, "CL", true, "", 0},
    {CUTE_OP_CRD2IDX, "cP", true, "", 0},
    {CUTE_OP_TUPLE_MUL, "II", false, "", 0},
    {CUTE_OP_TUPLE_DIV, "II", false, "", 0},
    {CUTE_OP_TUPLE_MOD, "Ii", false, "", 0},
    {CUTE_OP_GET_HIER_COORD, "iL", true, "", 0},
    {CUTE_OP_GET_FLAT_COORD, "iL", true, "", 0},
    {CUTE_OP_MAKE_IDENTITY_TENSOR, "S", false, "", 0},
    {CUTE_OP_MAKE_ARITH_TUPLE_ITER, "I", false, "", 0},
};

/* ---- comparing ---- */

static bool divides(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < t->count; i++)
            if (!divides(t->items[i])) return false;
        return true;
    }
    return t->value.known || t->kind == CUTE_TREE_UNDERSCORE || !t->value.divisor ||
           value_of(&t->value) % t->value.divisor == 0;
}

static const cute_tree *revealed_basis(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        const cute_tree *items[256];
        for (uint32_t i = 0; i < t->count; i++) items[i] = revealed_basis(t->items[i]);
        return cute_tree_tuple(arena, items, t->count);
    }
    if (t->kind != CUTE_TREE_BASIS || t->value.known) return t;
    cute_tree *known = cute_arena_alloc(arena, sizeof *known);
    *known = *t;
    known->value = (cute_int){.known = true, .value = value_of(&t->value)};
    return known;
}

/* Equal, or for layouts equal as functions (as far as 512 elements). */
static bool same(const cute_value *x, const cute_value *y)
{
    if (x->type != y->type) return false;
    if (x->type != CUTE_LAYOUT && x->type != CUTE_COMPOSED_LAYOUT) return cute_value_equal(x, y);
    if (x->tree && !cute_tree_equal(x->tree, y->tree)) return false;
    flat f = flat_of(x->layout), g = flat_of(y->layout);
    if (size_of(&f) != size_of(&g)) return false;
    for (int64_t i = 0; i < size_of(&f) && i < 512; i++)
        if (!same_point(point_at(&f, i), point_at(&g, i))) return false;
    return true;
}

static long answered, both_answered;
static bool dsl; /* both ways of inferring are right */

static cute_status apply_either(const cute_arith *arith, cute_operation op, const cute_value *in,
                                size_t count, const cute_attributes *list, cute_value *out)
{
    return (dsl ? cute_apply_dsl : cute_apply)(arena, arith, op, in, count, list, out, diag);
}

static const char *check(const unknown_call *c, cute_value *known, cute_value *operands, cute_value *got)
{
    size_t count = strlen(c->operands);
    cute_value expected, inferred;
    int64_t attributes[] = {0, 0, 0};
    operand_builder b = {.any = false};
    for (size_t i = 0; i < count; i++) {
        size_t k = c->reversed ? count - 1 - i : i;
        known[k] = build(&b, c->operands[k]);
    }
    /* where a tile reaches beyond a last mode of extent 1, there is nothing to compare */
    bool divide = c->op >= CUTE_OP_LOGICAL_DIVIDE && c->op <= CUTE_OP_FLAT_DIVIDE;
    if (divide && b.last.shape[b.last.count - 1] == 1) return NULL;
    for (size_t k = 0; k < count; k++)
        operands[k] = strchr(c->known, c->operands[k]) ? known[k] : hidden(&known[k]);
    for (int i = 0; i < 3; i++)
        attributes[i] = random_below(rank_of(known[0].layout.shape ? known[0].layout.shape : known[0].tree));
    if (c->attributes == 3) attributes[0] = 1 + random_below(5);
    /* an unknown stride is taken not to be 1 */
    if (c->op == CUTE_OP_RECAST_LAYOUT) operands[0].layout.stride = known[0].layout.stride;
    if (c->attributes == 8) attributes[0] = random_below(2) ? 8 : 32, attributes[1] = 40 - attributes[0];
    cute_attributes list = {attributes, c->attributes == 3   ? 1
                                        : c->attributes == 8 ? 2
                                                             : (size_t)c->attributes};
    machine m = {.length = 0};
    cute_arith arith = arithmetic(&m);
    *got = (cute_value){.type = CUTE_INT_TUPLE};
    cute_diag_clear(diag);
    cute_status status = apply_either(&arith, c->op, operands, count, &list, got);
    if (m.failed || m.depth) return "an operation is malformed";
    if (apply_either(NULL, c->op, operands, count, &list, &inferred) != status)
        return "inferred and emitted are not both refused";
    if (status != CUTE_OK) return NULL;
    answered++;
    if (!cute_value_equal(got, &inferred)) return "the inferred type differs";
    if ((got->tree && !divides(got->tree)) ||
        (got->layout.shape && (!divides(got->layout.shape) || !divides(got->layout.stride))))
        return "a divisor that is stated does not divide";
    cute_value plain = revealed(got);
    if (plain.layout.shape) plain.layout.stride = revealed_basis(plain.layout.stride);
    if (plain.tree) plain.tree = revealed_basis(plain.tree);
    if (apply_either(NULL, c->op, known, count, &list, &expected) != CUTE_OK) return NULL;
    both_answered++;
    *got = plain;
    return same(&expected, &plain) ? NULL : "what is emitted computes something else";
}

static const unknown_call *current_call;

static void test_call(void)
{
    for (long i = 0; i < cases && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        cute_value known[3], operands[3], got;
        random_seed(seed);
        dsl = i % 2;
        begin();
        const char *wrong = check(current_call, known, operands, &got);
        cases_run++;
        if (wrong) {
            printf("# seed %" PRIu64 ": %s: %s(", seed, wrong, cute_operation_name(current_call->op));
            for (size_t k = 0; k < strlen(current_call->operands); k++)
                printf("%s%s as %s", k ? ", " : "", cute_value_text(arena, &known[k]),
                       cute_value_text(arena, &operands[k]));
            printf(") gives %s\n", cute_value_text(arena, &got));
            test_failed = true;
        }
        end();
    }
}

int main(int argc, char **argv)
{
    cases = 1500;
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) cases = strtol(argv[2], NULL, 10);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        char name[128];
        current_call = &calls[i];
        snprintf(name, sizeof name, "%s(%s) of unknowns is what it is of numbers",
                 cute_operation_name(calls[i].op), calls[i].operands);
        TEST(name, test_call);
    }
    printf("# %ld cases from seed %" PRIu64 ", %ld answered, %ld also when known\n", cases_run, first_seed,
           answered, both_answered);
    return test_finish();
}
