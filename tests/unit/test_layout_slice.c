/* Slices, tiles and partitions of tensors by brute force: what is emitted, computed, finds each element where the whole
 * tensor has it; the inferred type is that of what is emitted. Swizzles, layouts, offsets and coordinates are random,
 * known and unknown. */
#include "tests/unit/test_layout_machine.h"
#include "tests/unit/test_layout_random.h"

enum { MOST_ELEMENTS = 2048 };

/* ---- random operands ---- */

/* A number as an unknown leaf that holds it, sometimes with a divisor of it. */
static const cute_tree *hidden(int64_t value, bool with_divisor)
{
    int64_t *box = cute_arena_alloc(arena, sizeof *box);
    cute_int x = {.width = random_below(4) ? 32 : 64, .handle = box};
    *box = value;
    int64_t divisor = (int64_t)1 << (1 + random_below(5));
    if (with_divisor && value % divisor == 0) x.divisor = divisor;
    return cute_tree_scalar(arena, x);
}

static const cute_tree *number(int64_t value)
{
    return cute_tree_number(arena, value);
}

static cute_swizzle random_swizzle(void)
{
    cute_swizzle s = {(int)random_below(4), (int)random_below(4), 0};
    s.shift = s.bits + (int)random_below(3);
    if (random_below(4) == 0) s.shift = -s.shift;
    return s;
}

static int top_of(cute_swizzle s)
{
    return s.base + s.bits + (s.shift < 0 ? -s.shift : s.shift);
}

static int64_t swizzle(cute_swizzle s, int64_t x)
{
    int64_t mask = (((int64_t)1 << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    return x ^ (s.shift >= 0 ? (x & mask) >> s.shift : (x & mask) << -s.shift);
}

/* Leaves in pairs of parentheses here and there. */
static cute_layout grouped(const cute_tree **shapes, const cute_tree **strides, uint32_t count)
{
    const cute_tree *s[MAX_LEAVES], *d[MAX_LEAVES];
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; n++) {
        uint32_t size = 1 + random_below(3);
        if (size > count - i) size = count - i;
        s[n] = size == 1 ? shapes[i] : cute_tree_tuple(arena, shapes + i, size);
        d[n] = size == 1 ? strides[i] : cute_tree_tuple(arena, strides + i, size);
        i += size;
    }
    return (cute_layout){cute_tree_tuple(arena, s, n), cute_tree_tuple(arena, d, n)};
}

/* Modes that share no bit below the top of the swizzle, in any order, and sometimes one of any extent, known or not, in
 * steps of multiples of the top; *free has the bits that no mode uses. */
static cute_layout bit_layout(cute_swizzle s, bool memory, int64_t *free)
{
    const cute_tree *shapes[MAX_LEAVES], *strides[MAX_LEAVES];
    int widths[MAX_LEAVES], starts[MAX_LEAVES], order[MAX_LEAVES], at = 0;
    uint32_t count = 1 + random_below(5);
    *free = 0;
    for (uint32_t i = 0; i < count; i++) {
        int gap = random_below(3) == 0 ? 1 : 0;
        *free |= (((int64_t)1 << gap) - 1) << at;
        at += gap;
        starts[i] = at;
        widths[i] = (int)random_below(4);
        at += widths[i];
        order[i] = (int)i;
    }
    *free |= (int64_t)1 << at << 3;
    for (uint32_t i = count - 1; i > 0; i--) {
        uint32_t j = random_below(i + 1);
        int swap = order[i];
        order[i] = order[j];
        order[j] = swap;
    }
    for (uint32_t i = 0; i < count; i++) {
        int k = order[i];
        int64_t extent = (int64_t)1 << widths[k];
        if (extent == 8 && random_below(4) == 0) extent = 5 + random_below(3); /* the bits of 8 suffice */
        int64_t step = random_below(8) ? (int64_t)1 << starts[k] : 0;
        if (extent == 4 && random_below(4) == 0) extent = 2, step *= 3; /* 0 and 3 have two bits too */
        shapes[i] = number(extent);
        strides[i] = number(step);
    }
    if (random_below(2)) {
        int64_t extent = 1 + random_below(5), step = (int64_t)(1 + random_below(3))
                                                     << (top_of(s) > at ? top_of(s) : at);
        bool unknown = memory && random_below(3) == 0;
        shapes[count] = unknown ? hidden(extent, false) : number(extent);
        strides[count] = number(step);
        if (unknown && random_below(2)) {
            int64_t *box = cute_arena_alloc(arena, sizeof *box);
            *box = step;
            strides[count] = cute_tree_scalar(
                arena, (cute_int){.width = 64, .divisor = (int64_t)1 << top_of(s), .handle = box});
        }
        *free &= ((int64_t)1 << at) - 1;
        count++;
    }
    return grouped(shapes, strides, count);
}

static const cute_tree *hide_some(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        const cute_tree *items[MAX_LEAVES];
        for (uint32_t i = 0; i < t->count; i++) items[i] = hide_some(t->items[i]);
        return cute_tree_tuple(arena, items, t->count);
    }
    return random_below(3) ? t : hidden(t->value.value, true);
}

/* `_`, or a number below the extent, known or not. */
static const cute_tree *random_coordinate(const cute_tree *shape, int wild)
{
    if (shape->kind == CUTE_TREE_TUPLE && random_below(2)) {
        const cute_tree *items[MAX_LEAVES];
        for (uint32_t i = 0; i < shape->count; i++) items[i] = random_coordinate(shape->items[i], wild);
        return cute_tree_tuple(arena, items, shape->count);
    }
    if (random_below(4) < (uint32_t)wild) return &wildcard;
    int64_t size = product_of(reveal(shape)), at = random_below((uint32_t)size);
    if (random_below(3) == 0) at = 0;
    return random_below(2) ? number(at) : hidden(at, true);
}

/* ---- where an element is, in another way ---- */

/* The index at a coordinate whose `_` count through *kept, the first fastest. */
static int64_t index_at(const cute_tree *shape, const cute_tree *stride, const cute_tree *coord,
                        int64_t *kept)
{
    int64_t index = 0;
    if (coord->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < shape->count; i++)
            index += index_at(shape->items[i], stride->items[i], coord->items[i], kept);
        return index;
    }
    flat f = {.count = 0};
    flatten(shape, stride, &f);
    int64_t *from = kept, here = 0;
    if (coord->kind != CUTE_TREE_UNDERSCORE) {
        here = value_of(&coord->value);
        from = &here;
    }
    for (int k = 0; k < f.count; k++) {
        index += *from % f.shape[k] * f.stride[k];
        *from /= f.shape[k];
    }
    return index;
}

/* The address of element i of a tensor in memory. */
static int64_t address_of(const cute_value *tensor, int64_t i)
{
    cute_value plain = revealed(tensor);
    int64_t base = *(const int64_t *)tensor->pointer->handle, x = 0;
    if (plain.layout.shape->leaves) {
        flat f = flat_of(plain.layout);
        x = at(&f, i);
    }
    return base + (plain.tree ? swizzle(plain.swizzle, plain.tree->value.value + x) : x);
}

static int64_t elements_of(const cute_value *tensor)
{
    return product_of(reveal(tensor->layout.shape));
}

static bool divides(const cute_tree *t)
{
    if (t->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < t->count; i++)
            if (!divides(t->items[i])) return false;
        return true;
    }
    return t->value.known || t->kind != CUTE_TREE_INT || !t->value.divisor ||
           value_of(&t->value) % t->value.divisor == 0;
}

static long refused;

/* Emitted; NULL or what does not hold. *answered: not refused. */
static const char *run(cute_operation op, const cute_value *in, size_t count, cute_value *out, bool *answered)
{
    machine m = {.length = 0};
    cute_arith arith = arithmetic(&m);
    cute_value inferred;
    cute_diag_clear(diag);
    cute_status status = cute_apply(arena, &arith, op, in, count, NULL, out, diag);
    *answered = status == CUTE_OK;
    refused += !*answered;
    if (m.failed || m.depth) return "an operation is malformed, or an alignment wrong";
    if (cute_apply(arena, NULL, op, in, count, NULL, &inferred, diag) != status)
        return "inferred and emitted are not both refused";
    if (!*answered) return NULL;
    if (!cute_value_equal(out, &inferred)) return "the inferred type differs";
    if ((out->tree && !divides(out->tree)) || !divides(out->layout.shape) || !divides(out->layout.stride))
        return "a divisor that is stated does not divide";
    return NULL;
}

static const cute_pointer *aligned_pointer(void)
{
    int64_t *base = cute_arena_alloc(arena, sizeof *base);
    cute_pointer *p = cute_arena_alloc(arena, sizeof *p);
    *base = 0;
    *p = (cute_pointer){"f16", 16, CUTE_SPACE_SMEM, 1024, {0, 0, 0}, base};
    return p;
}

/* ---- slices ---- */

static const char *check_slice(const cute_value *tensor, const cute_tree *coord)
{
    cute_value in[] = {*tensor, cute_value_of_tree(CUTE_COORD, coord)}, out;
    bool answered;
    const char *wrong = run(CUTE_OP_SLICE, in, 2, &out, &answered);
    if (wrong) return wrong;
    if (!answered) return first_message();
    cute_layout whole = {reveal(tensor->layout.shape), reveal(tensor->layout.stride)};
    int64_t size = out.layout.shape->leaves ? elements_of(&out) : 1;
    for (int64_t i = 0; i < size && i < MOST_ELEMENTS; i++) {
        int64_t kept = i, x = index_at(whole.shape, whole.stride, coord, &kept), offset = 0;
        if (tensor->tree) offset = value_of(&tensor->tree->value);
        int64_t expected = tensor->tree ? swizzle(tensor->swizzle, offset + x) : x;
        if (address_of(&out, i) != expected) return "an element is elsewhere";
        if (size == 1 && !out.layout.shape->leaves) break;
    }
    return NULL;
}

static void report_slice(uint64_t seed, const char *wrong, const cute_value *tensor, const cute_tree *coord)
{
    cute_value plain = revealed(tensor);
    printf("# seed %" PRIu64 ": %s: slice of %s, which is %s, at %s, which is %s\n", seed, wrong,
           cute_value_text(arena, tensor), cute_value_text(arena, &plain), cute_tree_text(arena, coord),
           cute_tree_text(arena, reveal(coord)));
    test_failed = true;
}

static bool of_bits; /* else of any layout */

static void test_swizzled(void)
{
    for (long i = 0; i < cases * (of_bits ? 20 : 8) && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        int64_t free;
        random_seed(seed);
        begin();
        cute_swizzle s = random_swizzle();
        cute_value tensor = {.type = CUTE_MEMREF, .pointer = aligned_pointer(), .swizzle = s};
        if (of_bits) {
            tensor.layout = bit_layout(s, true, &free);
            int64_t offset = random_below(2) ? free & random_below(1 << 12) : 0;
            tensor.tree = random_below(2) ? number(offset) : hidden(offset, true);
        } else {
            spec any = random_spec(random_below(2) ? ANY : GAPS, 4, 256);
            tensor.layout = to_layout(&any).layout;
            tensor.tree = random_below(2) ? number(random_below(64)) : hidden(random_below(64), true);
            if (random_below(2))
                tensor.layout =
                    (cute_layout){hide_some(tensor.layout.shape), hide_some(tensor.layout.stride)};
        }
        if (s.bits == 0 && tensor.tree->value.known && tensor.tree->value.value == 0) tensor.tree = number(8);
        const cute_tree *coord = random_coordinate(tensor.layout.shape, 2);
        cases_run++;
        CHECK_INT(cute_value_verify(&tensor, diag), CUTE_OK);
        const char *wrong = check_slice(&tensor, coord);
        if (wrong) report_slice(seed, wrong, &tensor, coord);
        end();
    }
}

/* A slice of a slice is a slice: offsets that are unknown come from earlier ones. */
static void test_twice(void)
{
    for (long i = 0; i < cases * 6 && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        int64_t free;
        bool answered;
        random_seed(seed);
        begin();
        cute_swizzle s = random_swizzle();
        cute_value tensor = {.type = CUTE_MEMREF, .pointer = aligned_pointer(), .swizzle = s}, half;
        tensor.layout = bit_layout(s, true, &free);
        tensor.tree = number(s.bits ? 0 : 8 & free);
        if (s.bits == 0 && tensor.tree->value.value == 0)
            tensor.tree = NULL, tensor.swizzle = (cute_swizzle){0, 0, 0};
        cute_value in[] = {tensor, cute_value_of_tree(CUTE_COORD, random_coordinate(tensor.layout.shape, 3))};
        const char *wrong = run(CUTE_OP_SLICE, in, 2, &half, &answered);
        if (wrong || !answered || !half.layout.shape->leaves) {
            if (wrong || !answered) report_slice(seed, wrong ? wrong : first_message(), &tensor, in[1].tree);
            end();
            continue;
        }
        const cute_tree *coord = random_coordinate(half.layout.shape, 2);
        cute_value again[] = {half, cute_value_of_tree(CUTE_COORD, coord)}, out;
        wrong = run(CUTE_OP_SLICE, again, 2, &out, &answered);
        cute_layout whole = {reveal(half.layout.shape), reveal(half.layout.stride)};
        int64_t size = answered && out.layout.shape->leaves ? elements_of(&out) : answered;
        for (int64_t k = 0; k < size && k < MOST_ELEMENTS && !wrong; k++) {
            int64_t kept = k, x = index_at(whole.shape, whole.stride, coord, &kept);
            int64_t base = *(const int64_t *)half.pointer->handle;
            int64_t expected =
                base + (half.tree ? swizzle(half.swizzle, value_of(&half.tree->value) + x) : x);
            if (address_of(&out, k) != expected) wrong = "an element is elsewhere";
        }
        if (wrong || !answered) report_slice(seed, wrong ? wrong : first_message(), &half, coord);
        cases_run++;
        end();
    }
}

/* ---- tiles ---- */

/* Element p of mode m of the whole, for each m. */
static int64_t index_of_modes(cute_layout whole, const int64_t *positions)
{
    int64_t index = 0;
    for (uint32_t m = 0; m < rank_of(whole.shape); m++) {
        flat f = mode_of(whole, m);
        index += at(&f, positions[m]);
    }
    return index;
}

static const char *check_tile(cute_value *tensor, const int64_t *tile, const int64_t *coord, uint32_t rank)
{
    const cute_tree *tiles[MAX_LEAVES], *coords[MAX_LEAVES];
    cute_layout whole = tensor->layout;
    for (uint32_t m = 0; m < rank; m++) {
        tiles[m] = number(tile[m]);
        coords[m] = random_below(2) ? number(coord[m]) : hidden(coord[m], true);
    }
    /* nested extents that are unknown are taken to divide */
    bool nested = whole.shape->depth > 1;
    tensor->layout = (cute_layout){nested ? whole.shape : hide_some(whole.shape), hide_some(whole.stride)};
    cute_value in[] = {*tensor, cute_value_of_tree(CUTE_SHAPE, cute_tree_tuple(arena, tiles, rank)),
                       cute_value_of_tree(CUTE_COORD, cute_tree_tuple(arena, coords, rank))},
               out;
    bool answered;
    const char *wrong = run(CUTE_OP_LOCAL_TILE, in, 3, &out, &answered);
    if (wrong || !answered) return wrong;
    int64_t size = elements_of(&out);
    for (int64_t i = 0; i < size; i++) {
        int64_t rest = i, positions[MAX_LEAVES];
        bool inside = true;
        for (uint32_t m = 0; m < rank; m++) {
            flat f = mode_of(whole, m);
            positions[m] = coord[m] * tile[m] + rest % tile[m];
            rest /= tile[m];
            inside = inside && positions[m] < size_of(&f);
        }
        if (inside && address_of(&out, i) != index_of_modes(whole, positions))
            return "an element is elsewhere";
    }
    return NULL;
}

static void test_tiles(void)
{
    long first_refused = refused;
    for (long i = 0; i < cases * 8 && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        random_seed(seed);
        begin();
        spec s = random_spec(GAPS, 4, 512);
        cute_value tensor = to_layout(&s);
        tensor.type = CUTE_MEMREF;
        tensor.pointer = aligned_pointer();
        if (tensor.layout.shape->kind == CUTE_TREE_TUPLE) {
            int64_t tile[MAX_LEAVES], coord[MAX_LEAVES];
            uint32_t rank = tensor.layout.shape->count;
            cute_value plain = tensor;
            for (uint32_t m = 0; m < rank; m++) {
                flat f = mode_of(tensor.layout, m);
                tile[m] = 1 + random_below((uint32_t)size_of(&f));
                coord[m] = random_below((uint32_t)((size_of(&f) + tile[m] - 1) / tile[m]));
            }
            const char *wrong = check_tile(&tensor, tile, coord, rank);
            if (wrong) {
                printf("# seed %" PRIu64 ": %s: local_tile of %s as %s\n", seed, wrong,
                       cute_value_text(arena, &plain), cute_value_text(arena, &tensor));
                test_failed = true;
            }
            cases_run++;
        }
        end();
    }
    printf("# %ld refused\n", refused - first_refused);
}

/* ---- partitions ---- */

/* Threads as a layout in some order; each coordinate of a tensor of whole tiles has one thread. */
static void test_partitions(void)
{
    for (long i = 0; i < cases * 2 && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        random_seed(seed);
        begin();
        spec s = random_spec(COMPACT, 3, 32);
        cute_value threads = to_layout(&s), in[3], out;
        uint32_t rank = rank_of(threads.layout.shape);
        int64_t modes[MAX_LEAVES], total = 1, seen[MOST_ELEMENTS] = {0};
        const cute_tree *shape[MAX_LEAVES];
        for (uint32_t m = 0; m < rank; m++) {
            modes[m] = product_of(mode_tree(threads.layout.shape, m)) * (1 + random_below(3));
            total *= modes[m];
            shape[m] = number(modes[m]);
        }
        cute_value whole =
            cute_value_of_tree(CUTE_SHAPE, rank == 1 ? shape[0] : cute_tree_tuple(arena, shape, rank));
        CHECK_INT(cute_apply(arena, NULL, CUTE_OP_MAKE_IDENTITY_TENSOR, &whole, 1, NULL, &in[0], diag),
                  CUTE_OK);
        in[1] = threads;
        flat f = flat_of(threads.layout);
        int64_t count = size_of(&f);
        for (int64_t t = 0; t < count && total <= MOST_ELEMENTS && !test_failed; t++) {
            bool answered;
            in[2] = cute_value_of_tree(CUTE_INT_TUPLE, random_below(2) ? number(t) : hidden(t, true));
            const char *wrong = run(CUTE_OP_LOCAL_PARTITION, in, 3, &out, &answered);
            if (!wrong && !answered) wrong = first_message();
            if (wrong) {
                printf("# seed %" PRIu64 ": %s: local_partition of %s\n", seed, wrong,
                       cute_value_text(arena, &threads));
                test_failed = true;
                break;
            }
            cute_value plain = revealed(&out);
            flat mine = flat_of(plain.layout);
            for (int64_t k = 0; k < size_of(&mine); k++) {
                point p = point_at(&mine, k);
                int64_t index = 0, step = 1, start[MAX_LEAVES] = {0};
                leaves_of(plain.tree, start);
                for (uint32_t m = 0; m < rank; m++) {
                    index += (start[m] + p.at[m]) * step;
                    step *= modes[m];
                }
                if (CHECK(index >= 0 && index < total)) seen[index]++;
            }
        }
        for (int64_t k = 0; k < total && total <= MOST_ELEMENTS && !test_failed; k++) CHECK_INT(seen[k], 1);
        if (test_failed) printf("# seed %" PRIu64 ": threads %s\n", seed, cute_value_text(arena, &threads));
        cases_run++;
        end();
    }
}

/* ---- coordinates ---- */

static const char *coordinate_of(const cute_value *layout, int64_t i, cute_operation op)
{
    flat f = flat_of(layout->layout);
    int64_t index = at(&f, i);
    cute_value in[] = {cute_value_of_tree(CUTE_INT_TUPLE,
                                          random_below(2) ? number(index) : hidden(index, false)),
                       *layout},
               out;
    machine m = {.length = 0};
    cute_arith arith = arithmetic(&m);
    if (cute_apply(arena, &arith, op, in, 2, NULL, &out, diag) != CUTE_OK) return first_message();
    cute_value back[] = {revealed(&out), *layout}, got;
    if (cute_apply(arena, NULL, CUTE_OP_LAYOUT_EVAL, back, 2, NULL, &got, diag) != CUTE_OK)
        return first_message();
    return got.tree->value.known && got.tree->value.value == index ? NULL
                                                                   : "it is the coordinate of another index";
}

static void test_coordinates(void)
{
    for (long i = 0; i < cases * 2 && !test_failed; i++) {
        uint64_t seed = first_seed + (uint64_t)i;
        random_seed(seed);
        begin();
        spec s = random_spec(GAPS, 4, 128);
        cute_value layout = to_layout(&s);
        flat f = flat_of(layout.layout);
        for (int64_t k = 0; k < size_of(&f) && !test_failed; k++) {
            const char *wrong =
                coordinate_of(&layout, k, random_below(2) ? CUTE_OP_GET_HIER_COORD : CUTE_OP_GET_FLAT_COORD);
            if (!wrong) continue;
            printf("# seed %" PRIu64 ": %s: element %" PRId64 " of %s\n", seed, wrong, k,
                   cute_value_text(arena, &layout));
            test_failed = true;
        }
        cases_run++;
        end();
    }
}

int main(int argc, char **argv)
{
    cases = 500;
    if (argc > 1) first_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2) cases = strtol(argv[2], NULL, 10);
    of_bits = true;
    TEST("slices of swizzled tensors whose modes share no bits find each element", test_swizzled);
    of_bits = false;
    TEST("slices of any swizzled tensor find each element", test_swizzled);
    TEST("a slice of a slice finds each element", test_twice);
    TEST("a tile has the elements of the tensor at its place", test_tiles);
    TEST("each element is in one thread's partition", test_partitions);
    TEST("the coordinate of an index has that index", test_coordinates);
    printf("# %ld cases from seed %" PRIu64 "\n", cases_run, first_seed);
    return test_finish();
}
