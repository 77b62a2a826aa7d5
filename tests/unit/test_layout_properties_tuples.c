/* Properties of coordinates, of arithmetic on tuples and of what takes layouts apart and builds them, by
 * brute force. Shapes and strides of the random layouts serve as tuples. */
#include "tests/unit/test_layout_random.h"

static cute_value tuple_of(cute_type type, const cute_tree *t)
{
    return cute_value_of_tree(type, t);
}

/* ---- coordinates ---- */

static const char *evaluation(const subject *s)
{
    cute_value l = to_layout(&s->a), out, crd;
    cute_value shape = shape_value(&l);
    flat f = flat_of(l.layout);
    for (int k = 0; k < 4; k++) {
        int64_t i = random_below((uint32_t)size_of(&f) + 3);
        cute_value in[] = {number_value(CUTE_COORD, i), l};
        if (!apply(CUTE_OP_LAYOUT_EVAL, in, 2, &out)) return "layout_eval is refused";
        if (out.tree->value.value != at(&f, i)) return "layout_eval differs";
        cute_value idx[] = {number_value(CUTE_INT_TUPLE, i), shape};
        if (!apply(CUTE_OP_IDX2CRD, idx, 2, &crd)) return "idx2crd is refused";
        if (!cute_tree_congruent(crd.tree, shape.tree)) return "the coordinate has another structure";
        cute_value back[] = {crd, shape};
        if (!apply(CUTE_OP_CRD2IDX, back, 2, &out)) return "crd2idx is refused";
        bool exact = i < size_of(&f) || f.shape[f.count - 1] != 1; /* a last extent of 1 has stride 0 */
        if (exact && out.tree->value.value != i) return "crd2idx does not invert idx2crd";
        cute_value natural[] = {crd, l};
        if (!apply(CUTE_OP_LAYOUT_EVAL, natural, 2, &out))
            return "layout_eval of a natural coordinate is refused";
        if (out.tree->value.value != at(&f, i)) return "the natural coordinate has another index";
    }
    return NULL;
}

/* From the coordinate of i in one shape to that in another of the same size: of i again. */
static const char *coordinates_between_shapes(const subject *s)
{
    cute_value from = to_layout(&s->a), crd, there, index;
    int64_t size = product_of(from.layout.shape), i = random_below((uint32_t)size);
    const cute_tree *items[] = {cute_tree_number(arena, 2), cute_tree_number(arena, (size + 1) / 2)};
    cute_value to = tuple_of(CUTE_SHAPE, cute_tree_tuple(arena, items, 2));
    cute_value idx[] = {number_value(CUTE_INT_TUPLE, i), shape_value(&from)};
    if (!apply(CUTE_OP_IDX2CRD, idx, 2, &crd)) return "idx2crd is refused";
    if (from.layout.shape->kind == CUTE_TREE_TUPLE && from.layout.shape->count == 2)
        return NULL; /* by mode then */
    cute_value in[] = {crd, to, shape_value(&from)};
    if (from.layout.shape->kind == CUTE_TREE_TUPLE) return NULL;
    if (!apply(CUTE_OP_CRD2CRD, in, 3, &there)) return "crd2crd is refused";
    cute_value back[] = {there, to};
    if (!apply(CUTE_OP_CRD2IDX, back, 2, &index)) return "crd2idx is refused";
    return index.tree->value.value == i ? NULL : "the coordinate is of another index";
}

/* Through an integer: to the shape's coordinate and back. */
static const char *coordinates_through_indices(const subject *s)
{
    cute_value l = to_layout(&s->a), crd, index;
    int64_t size = product_of(l.layout.shape), i = random_below((uint32_t)size);
    cute_value in[] = {number_value(CUTE_COORD, i), shape_value(&l), number_value(CUTE_SHAPE, size)};
    if (!apply(CUTE_OP_CRD2CRD, in, 3, &crd)) return "crd2crd is refused";
    if (!cute_tree_congruent(crd.tree, l.layout.shape)) return "the coordinate has another structure";
    cute_value back[] = {crd, number_value(CUTE_SHAPE, size), shape_value(&l)};
    if (!apply(CUTE_OP_CRD2CRD, back, 3, &index)) return "crd2crd back is refused";
    return index.tree->kind == CUTE_TREE_INT && index.tree->value.value == i
               ? NULL
               : "the coordinate is of another index";
}

/* Colexicographic order: the coordinate behind that of i is that of i + 1. */
static const char *increments(const subject *s)
{
    cute_value l = to_layout(&s->a), crd, next, expected;
    int64_t size = product_of(l.layout.shape), i = random_below((uint32_t)size);
    if (i + 1 == size) return NULL; /* the last mode then grows, wherever the last extent above 1 is */
    cute_value idx[] = {number_value(CUTE_INT_TUPLE, i), shape_value(&l)};
    if (!apply(CUTE_OP_IDX2CRD, idx, 2, &crd)) return "idx2crd is refused";
    cute_value in[] = {crd, shape_value(&l)};
    if (!apply(CUTE_OP_INCREMENT_COORD, in, 2, &next)) return "increment_coord is refused";
    idx[0] = number_value(CUTE_INT_TUPLE, i + 1);
    if (!apply(CUTE_OP_IDX2CRD, idx, 2, &expected)) return "idx2crd is refused";
    return cute_tree_equal(next.tree, expected.tree) ? NULL : "the next coordinate is another one";
}

/* ---- sizes ---- */

static const char *sizes(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    flat f = flat_of(l.layout);
    int64_t leaves[MAX_LEAVES], reach = 0, mode[] = {random_below(rank_of(l.layout.shape))};
    for (int i = 0; i < f.count; i++) reach += (f.shape[i] - 1) * llabs(f.stride[i]);
    if (!apply(CUTE_OP_SIZE, &l, 1, &out) || out.tree->value.value != size_of(&f)) return "size";
    if (!apply(CUTE_OP_COSIZE, &l, 1, &out) || out.tree->value.value != reach + 1) return "cosize";
    flat m = mode_of(l.layout, (uint32_t)mode[0]);
    if (!apply_with(CUTE_OP_SIZE, mode, 1, &l, 1, &out) || out.tree->value.value != size_of(&m))
        return "size of a mode";
    reach = 1;
    for (int i = 0; i < m.count; i++) reach += (m.shape[i] - 1) * llabs(m.stride[i]);
    if (!apply_with(CUTE_OP_COSIZE, mode, 1, &l, 1, &out) || out.tree->value.value != reach)
        return "cosize of a mode";
    cute_value t = shape_value(&l);
    if (!apply(CUTE_OP_TUPLE_PRODUCT, &t, 1, &out) || out.tree->value.value != size_of(&f))
        return "tuple_product";
    if (!apply(CUTE_OP_TUPLE_PRODUCT_EACH, &t, 1, &out)) return "tuple_product_each is refused";
    if (rank_of(out.tree) != rank_of(t.tree)) return "tuple_product_each has another rank";
    for (uint32_t i = 0; i < rank_of(t.tree); i++)
        if (product_of(mode_tree(out.tree, i)) != product_of(mode_tree(t.tree, i)))
            return "tuple_product_each";
    if (!apply(CUTE_OP_PREFIX_PRODUCT, &t, 1, &out)) return "prefix_product is refused";
    if (!cute_tree_congruent(out.tree, t.tree)) return "prefix_product has another structure";
    leaves_of(out.tree, leaves);
    for (int64_t i = 0, before = 1; i < f.count; before *= f.shape[i++])
        if (leaves[i] != before) return "prefix_product";
    return NULL;
}

/* ---- structure ---- */

static const char *same_function(const flat *f, cute_layout result, int64_t beyond)
{
    flat r = flat_of(result);
    if (size_of(&r) != size_of(f)) return "the size changes";
    for (int64_t i = 0; i < size_of(f) + beyond; i++)
        if (at(&r, i) != at(f, i)) return "the function changes";
    return NULL;
}

/* A coarser tree: some subtrees become leaves. */
static const cute_tree *coarser(const cute_tree *t)
{
    const cute_tree *items[MAX_LEAVES];
    if (t->kind != CUTE_TREE_TUPLE || random_below(3) == 0) return cute_tree_number(arena, 1);
    uint32_t count = 1 + random_below(t->count); /* modes beyond the profile's are kept */
    for (uint32_t i = 0; i < count; i++) items[i] = coarser(t->items[i]);
    return cute_tree_tuple(arena, items, count);
}

/* Where the profile has a leaf the result has one flat mode; beyond it nothing changes. */
static const char *profile_kept(const cute_tree *profile, const cute_tree *before, const cute_tree *after)
{
    if (profile->kind != CUTE_TREE_TUPLE) return after->depth > 1 ? "coalesce leaves nesting" : NULL;
    if (after->kind != CUTE_TREE_TUPLE || after->count != before->count)
        return "coalesce by profile changes the rank";
    for (uint32_t i = 0; i < before->count; i++) {
        const char *wrong =
            i < profile->count ? profile_kept(profile->items[i], before->items[i], after->items[i])
            : cute_tree_equal(before->items[i], after->items[i]) ? NULL
                                                                 : "a mode beyond the profile changes";
        if (wrong) return wrong;
    }
    return NULL;
}

static const char *simplification(const subject *s)
{
    cute_value l = to_layout(&s->a), out, again;
    flat f = flat_of(l.layout);
    const char *wrong;
    if (!apply(CUTE_OP_COALESCE, &l, 1, &out)) return "coalesce is refused";
    if ((wrong = same_function(&f, out.layout, 0))) return wrong;
    if (out.layout.shape->depth > 1) return "coalesce leaves nesting";
    if (!apply(CUTE_OP_COALESCE, &out, 1, &again) || !cute_value_equal(&out, &again))
        return "coalesce twice differs";
    flat r = flat_of(out.layout);
    for (int i = 0; i + 1 < r.count; i++)
        if (r.shape[i] == 1 || r.shape[i] * r.stride[i] == r.stride[i + 1])
            return "modes are left that go together";
    if (!apply(CUTE_OP_FLATTEN, &l, 1, &out) || (wrong = same_function(&f, out.layout, 5))) return "flatten";
    const cute_tree *profile = coarser(l.layout.shape);
    cute_value in[] = {l, tuple_of(CUTE_COORD, profile)};
    if (!apply(CUTE_OP_COALESCE, in, 2, &out)) return "coalesce by profile is refused";
    if ((wrong = profile_kept(profile, l.layout.shape, out.layout.shape))) return wrong;
    if ((wrong = same_function(&f, out.layout, 0))) return wrong;
    /* filter: the same indices, each mode's stride is not 0 */
    if (!apply(CUTE_OP_FILTER, &l, 1, &out)) return "filter is refused";
    r = flat_of(out.layout);
    for (int i = 0; i < r.count; i++)
        if (size_of(&r) > 1 && (r.stride[i] == 0 || r.shape[i] == 1))
            return "filter leaves a mode without information";
    for (int64_t i = 0; i < size_of(&f); i++) {
        bool found = false;
        for (int64_t j = 0; j < size_of(&r) && !found; j++) found = at(&r, j) == at(&f, i);
        if (!found) return "filter loses an index";
    }
    return NULL;
}

static const char *modes(const subject *s)
{
    cute_value l = to_layout(&s->a), out, e = to_layout(&s->b);
    uint32_t rank = rank_of(l.layout.shape);
    flat f = flat_of(l.layout);
    /* get and select */
    int64_t path[] = {random_below(rank), random_below(rank), random_below(rank)};
    if (!apply_with(CUTE_OP_SELECT, path, 3, &l, 1, &out)) return "select is refused";
    for (uint32_t i = 0; i < 3; i++) {
        cute_value mode, expected;
        cute_layout picked = {out.layout.shape->items[i], out.layout.stride->items[i]};
        if (!apply_with(CUTE_OP_GET, &path[i], 1, &l, 1, &mode)) return "get is refused";
        expected = cute_value_of_layout(picked);
        if (!cute_value_equal(&mode, &expected)) return "select and get differ";
        flat m = mode_of(l.layout, (uint32_t)path[i]), g = flat_of(mode.layout);
        if (memcmp(m.stride, g.stride, (size_t)m.count * 8)) return "get gives another mode";
    }
    /* group */
    int64_t range[] = {random_below(rank), 0};
    range[1] = range[0] + 1 + random_below(rank - (uint32_t)range[0]);
    if (!apply_with(CUTE_OP_GROUP_MODES, range, 2, &l, 1, &out)) return "group_modes is refused";
    if (rank_of(out.layout.shape) != rank - (range[1] - range[0]) + 1)
        return "group_modes gives another rank";
    if (same_function(&f, out.layout, 3)) return "group_modes changes the function";
    /* append and prepend */
    int64_t more[] = {1 + random_below(6)};
    cute_value in[] = {l, e};
    if (!apply_with(CUTE_OP_APPEND_TO_RANK, more, 1, in, 2, &out)) return "append_to_rank is refused";
    if (rank_of(out.layout.shape) != (more[0] > rank ? more[0] : rank))
        return "append_to_rank gives another rank";
    for (uint32_t i = 0; i < rank_of(out.layout.shape); i++)
        if (!cute_tree_equal(mode_tree(out.layout.stride, i),
                             i < rank ? mode_tree(l.layout.stride, i) : e.layout.stride))
            return "append_to_rank gives other modes";
    if (!apply_with(CUTE_OP_PREPEND_TO_RANK, more, 1, in, 2, &out)) return "prepend_to_rank is refused";
    uint32_t added = rank_of(out.layout.shape) - rank;
    for (uint32_t i = 0; i < rank_of(out.layout.shape); i++)
        if (!cute_tree_equal(mode_tree(out.layout.shape, i),
                             i >= added ? mode_tree(l.layout.shape, i - added) : e.layout.shape))
            return "prepend_to_rank gives other modes";
    /* shape and stride make the layout */
    cute_value parts[2];
    if (!apply(CUTE_OP_GET_SHAPE, &l, 1, &parts[0]) || !apply(CUTE_OP_GET_STRIDE, &l, 1, &parts[1]) ||
        !apply(CUTE_OP_MAKE_LAYOUT, parts, 2, &out))
        return "the parts make no layout";
    if (!cute_value_equal(&out, &l)) return "the parts make another layout";
    /* the types of tuples */
    cute_value t, back;
    if (!apply(CUTE_OP_TO_INT_TUPLE, &parts[1], 1, &t) || t.type != CUTE_INT_TUPLE ||
        !apply(CUTE_OP_TO_STRIDE, &t, 1, &back) || !cute_value_equal(&back, &parts[1]))
        return "to_int_tuple and to_stride";
    if (!apply(CUTE_OP_TO_SHAPE, &t, 1, &back) || back.type != CUTE_SHAPE ||
        !cute_tree_equal(back.tree, t.tree))
        return "to_shape";
    if (!apply(CUTE_OP_TO_COORD, &t, 1, &back) || back.type != CUTE_COORD ||
        !cute_tree_equal(back.tree, t.tree))
        return "to_coord";
    return NULL;
}

/* ---- made from shapes ---- */

/* Every index below the size once; a mode of a lower order runs faster. */
static const char *ordered(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    uint32_t rank = rank_of(l.layout.shape);
    const cute_tree *items[MAX_LEAVES];
    int64_t order[MAX_LEAVES];
    for (uint32_t i = 0; i < rank; i++) {
        order[i] = i;
        uint32_t j = random_below(i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint32_t i = 0; i < rank; i++) items[i] = cute_tree_number(arena, order[i]);
    cute_value in[] = {shape_value(&l), tuple_of(CUTE_INT_TUPLE, l.layout.shape->kind == CUTE_TREE_TUPLE
                                                                     ? cute_tree_tuple(arena, items, rank)
                                                                     : cute_tree_number(arena, 0))};
    if (!apply(CUTE_OP_MAKE_ORDERED_LAYOUT, in, 2, &out)) return "make_ordered_layout is refused";
    flat r = flat_of(out.layout);
    static unsigned char seen[512];
    memset(seen, 0, sizeof seen);
    for (int64_t i = 0; i < size_of(&r); i++)
        if (at(&r, i) < 0 || at(&r, i) >= size_of(&r) || seen[at(&r, i)]++)
            return "the layout is not compact";
    for (uint32_t i = 0; i < rank; i++)
        for (uint32_t j = 0; j < rank; j++) {
            flat x = mode_of(out.layout, i), y = mode_of(out.layout, j);
            if (order[i] < order[j] && size_of(&x) > 1 && size_of(&y) > 1 &&
                at(&x, size_of(&x) - 1) >= at(&y, 1))
                return "a mode of a higher order runs faster";
        }
    return NULL;
}

/* The same shape; strides of 0 stay, the others are compact and in the order of their magnitudes. */
static const char *like(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    if (!apply(CUTE_OP_MAKE_LAYOUT_LIKE, &l, 1, &out)) return "make_layout_like is refused";
    flat f = flat_of(l.layout), r = flat_of(out.layout);
    int64_t size = 1;
    if (!cute_tree_equal(out.layout.shape, l.layout.shape)) return "the shape changes";
    for (int i = 0; i < f.count; i++) {
        if (f.stride[i] != 0) size *= f.shape[i];
        if (f.stride[i] == 0 && f.shape[i] > 1 && r.stride[i] != 0) return "a stride of 0 is lost";
        for (int j = 0; j < f.count; j++)
            if (f.shape[i] > 1 && f.shape[j] > 1 && llabs(f.stride[i]) < llabs(f.stride[j]) && f.stride[i] &&
                r.stride[i] >= r.stride[j])
                return "the order of the strides changes";
    }
    int64_t reach = 0;
    for (int i = 0; i < r.count; i++) reach += (r.shape[i] - 1) * r.stride[i];
    return reach + 1 == size ? NULL : "the layout is not compact";
}

/* ---- arithmetic ---- */

static int64_t ceil_div(int64_t x, int64_t y)
{
    return (x + y - 1) / y;
}

static const char *leafwise(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    int64_t x[MAX_LEAVES], y[MAX_LEAVES], r[MAX_LEAVES];
    cute_value in[] = {tuple_of(CUTE_INT_TUPLE, l.layout.shape), tuple_of(CUTE_INT_TUPLE, l.layout.stride)};
    int n = leaves_of(in[0].tree, x);
    int64_t inner = 0;
    bool less = true, equal = true, exact = true, zero = false;
    leaves_of(in[1].tree, y);
    for (int i = 0; i < n; i++) {
        inner += x[i] * y[i];
        less = less && x[i] < y[i];
        equal = equal && x[i] == y[i];
        zero = zero || y[i] == 0;
        exact = exact && y[i] != 0 && (x[i] % y[i] == 0 || y[i] % x[i] == 0);
    }
    if (!apply(CUTE_OP_TUPLE_ADD, in, 2, &out) || leaves_of(out.tree, r) != n) return "tuple_add is refused";
    for (int i = 0; i < n; i++)
        if (r[i] != x[i] + y[i]) return "tuple_add";
    if (!apply(CUTE_OP_TUPLE_SUB, in, 2, &out) || leaves_of(out.tree, r) != n) return "tuple_sub is refused";
    for (int i = 0; i < n; i++)
        if (r[i] != x[i] - y[i]) return "tuple_sub";
    if (!apply(CUTE_OP_INNER_PRODUCT, in, 2, &out) || out.tree->value.value != inner) return "inner_product";
    if (!apply(CUTE_OP_ELEM_LESS, in, 2, &out) || out.tree->value.value != less) return "elem_less";
    if (!apply(CUTE_OP_EQUAL, in, 2, &out) || out.tree->value.value != equal) return "equal";
    cute_value same[] = {in[0], in[0]};
    if (!apply(CUTE_OP_EQUAL, same, 2, &out) || out.tree->value.value != 1)
        return "a tuple is not equal to itself";
    if (apply(CUTE_OP_CEIL_DIV, in, 2, &out) == zero) return "ceil_div by 0, or refused";
    if (!zero) {
        leaves_of(out.tree, r);
        for (int i = 0; i < n; i++)
            if (r[i] != (y[i] > 0 ? ceil_div(x[i], y[i]) : -(x[i] / -y[i]))) return "ceil_div";
    }
    in[0].type = in[1].type = CUTE_SHAPE;
    if (apply(CUTE_OP_SHAPE_DIV, in, 2, &out) != exact) return "shape_div: one has to divide the other";
    if (!exact) return NULL;
    leaves_of(out.tree, r);
    for (int i = 0; i < n; i++)
        if (r[i] != (x[i] / y[i] ? x[i] / y[i] : y[i] > 0 ? 1 : -1)) return "shape_div";
    return NULL;
}

/* Divided by one number from the left: what a mode does not use is left for the next. */
static const char *division_by_a_number(const subject *s)
{
    cute_value l = to_layout(&s->a), out;
    int64_t n = 1 + s->number, x[MAX_LEAVES], r[MAX_LEAVES], rest = n;
    int count = leaves_of(l.layout.shape, x);
    if (l.layout.shape->depth > 1) return NULL;
    cute_value in[] = {shape_value(&l), number_value(CUTE_SHAPE, n)};
    if (!apply(CUTE_OP_CEIL_DIV, in, 2, &out)) return "ceil_div is refused";
    leaves_of(out.tree, r);
    for (int i = 0; i < count; i++) {
        if (r[i] != ceil_div(x[i], rest)) return "ceil_div by a number";
        rest = ceil_div(rest, x[i]);
    }
    bool exact = true;
    rest = n;
    for (int i = 0; i < count && exact; i++) {
        exact = x[i] % rest == 0 || rest % x[i] == 0;
        rest = rest / x[i] ? rest / x[i] : 1;
    }
    if (apply(CUTE_OP_SHAPE_DIV, in, 2, &out) != exact) return "shape_div: one has to divide the other";
    if (!exact) return NULL;
    leaves_of(out.tree, r);
    int64_t left = product_of(l.layout.shape) / n, product = 1;
    for (int i = 0; i < count; i++) product *= r[i];
    if (product_of(l.layout.shape) % n == 0 && product != left) return "shape_div leaves another size";
    return NULL;
}

static const case_kind kinds[] = {
    {"indices and coordinates agree with a walk over digits", evaluation, ANY, ANY, 4, 1, 1, 60},
    {"a coordinate in another shape is of the same index", coordinates_through_indices, ANY, ANY, 5, 1, 1,
     50},
    {"an index in another shape is the same index", coordinates_between_shapes, ANY, ANY, 1, 1, 1, 20},
    {"coordinates are counted in colexicographic order", increments, ANY, ANY, 5, 1, 1, 50},
    {"sizes, cosizes and products are what extents and strides say", sizes, ANY, ANY, 6, 1, 1, 50},
    {"coalesce, flatten and filter keep the function", simplification, ANY, ANY, 6, 1, 1, 40},
    {"compact layouts coalesce", simplification, COMPACT, ANY, 6, 1, 1, 20},
    {"modes are taken, grouped and added as named", modes, ANY, ANY, 6, 3, 1, 40},
    {"ordered layouts are compact and in order", ordered, ANY, ANY, 5, 1, 1, 40},
    {"layouts like others are compact and in their order", like, GAPS, ANY, 5, 1, 1, 40},
    {"layouts like overlapping ones are compact", like, ANY, ANY, 4, 1, 1, 20},
    {"arithmetic on tuples is arithmetic on leaves", leafwise, ANY, ANY, 5, 1, 1, 50},
    {"a number divides a shape from the left", division_by_a_number, ANY, ANY, 4, 1, 64, 50},
};

int main(int argc, char **argv)
{
    return run_properties(argc, argv, 9000, kinds, sizeof kinds / sizeof *kinds);
}
