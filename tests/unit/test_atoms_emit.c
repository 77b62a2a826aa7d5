/* Partitions as code: what is emitted for a thread whose index is only known when the program runs, computed for every
 * thread, against the elements that the thread-value layouts name. */
#include "lib/atoms/tiling.h"
#include "tests/unit/test_layout_machine.h"

static cute_value parse(cute_type type, const char *text)
{
    cute_value v = {0};
    if (cute_atom_value_parse(arena, type, text, strlen(text), &v, NULL, diag) != CUTE_OK)
        test_fail(__FILE__, __LINE__, first_message());
    return v;
}

static int64_t size_of(const cute_tree *t)
{
    int64_t size = 1;
    if (t->kind == CUTE_TREE_INT) return t->value.value;
    for (uint32_t i = 0; i < t->count; i++) size *= size_of(t->items[i]);
    return size;
}

/* The index of a layout at a linear index; for basis vectors the coordinate goes to at[]. */
static int64_t at_linear(const cute_tree *shape, const cute_tree *stride, int64_t *index, int64_t at[4])
{
    if (shape->kind == CUTE_TREE_INT) {
        int64_t c = *index % shape->value.value;
        *index /= shape->value.value;
        if (stride->kind == CUTE_TREE_BASIS) at[stride->path[0]] += c * stride->value.value;
        return stride->kind == CUTE_TREE_BASIS ? 0 : c * stride->value.value;
    }
    int64_t sum = 0;
    for (uint32_t i = 0; i < shape->count; i++)
        sum += at_linear(shape->items[i], stride->items[i], index, at);
    return sum;
}

static int64_t swizzled(cute_swizzle s, int64_t x)
{
    int64_t mask = ((INT64_C(1) << s.bits) - 1) << (s.base + (s.shift > 0 ? s.shift : 0));
    return x ^ (s.shift >= 0 ? (x & mask) >> s.shift : (x & mask) << -s.shift);
}

/* The element in memory, or the coordinate as one number. */
static int64_t element(const cute_value *tensor, int64_t index)
{
    int64_t at[4] = {0}, place = at_linear(tensor->layout.shape, tensor->layout.stride, &index, at);
    if (tensor->type == CUTE_COORD_TENSOR) {
        int64_t sum = 0;
        for (uint32_t i = 0; i < tensor->tree->count; i++)
            sum = sum * 100000 + at[i] + tensor->tree->items[i]->value.value;
        return sum;
    }
    int64_t base = tensor->pointer->handle ? *(int64_t *)tensor->pointer->handle : 0;
    return base + (tensor->tree ? swizzled(tensor->swizzle, place + tensor->tree->value.value) : place);
}

/* Gives the unknown leaves of a tensor values that their divisors divide. */
static cute_value bind(const cute_value *tensor)
{
    cute_int unknown[16];
    void *handles[16];
    cute_value out = {0};
    size_t count = cute_value_unknowns(tensor, unknown, 16);
    if (!CHECK(count <= 16)) return *tensor;
    for (size_t i = 0; i < count; i++) {
        int64_t *box = cute_arena_alloc(arena, sizeof *box);
        *box = (unknown[i].divisor ? unknown[i].divisor : 1) * (int64_t)(17 + i);
        handles[i] = box;
    }
    CHECK_INT(cute_value_with_handles(arena, tensor, handles, count, &out, diag), CUTE_OK);
    if (out.type == CUTE_MEMREF) {
        int64_t *base = cute_arena_alloc(arena, sizeof *base);
        out.pointer = cute_pointer_with_handle(arena, out.pointer, base);
    }
    return out;
}

/* How many elements the whole of a tensor has whose layout is compact in all but its strides. */
static cute_layout compact_like(cute_layout l)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    return (cute_layout){l.shape, alg_compact(&a, l.shape, alg_number(&a, 1))};
}

typedef struct partition_case {
    cute_operation operation;
    cute_type tiling_type, tensor_type;
    const char *tiling, *tensor;
} partition_case;

static atom_partition partition_of(const partition_case *k, const cute_value *tiling, int which,
                                   cute_layout layout)
{
    cute_algebra a = {.arena = arena, .diag = diag};
    if (k->operation == CUTE_OP_TILED_MMA_PARTITION) return atom_mma_partition(&a, tiling, which, layout);
    return atom_copy_partition(&a, tiling, k->operation == CUTE_OP_TILED_COPY_PARTITION_D, layout);
}

/* The indices in the tensor of a thread's elements: its coordinate in the modes of threads, then all values. */
static int64_t expected_index(const atom_partition *p, const int64_t *thread, int64_t value)
{
    int64_t none[4], sum = 0;
    for (size_t i = 0; i < p->threads; i++) {
        int64_t c = thread[i];
        sum += at_linear(p->layout.shape->items[i], p->layout.stride->items[i], &c, none);
    }
    for (uint32_t i = (uint32_t)p->threads; i < p->layout.shape->count; i++)
        sum += at_linear(p->layout.shape->items[i], p->layout.stride->items[i], &value, none);
    return sum;
}

static void check_thread(const partition_case *k, int which, int64_t thread, bool known)
{
    cute_value tiling = parse(k->tiling_type, k->tiling), tensor = parse(k->tensor_type, k->tensor);
    cute_value bound = bind(&tensor), inferred, got;
    cute_int index = {.known = known, .width = known ? 0 : 32, .value = thread};
    int64_t *box = cute_arena_alloc(arena, sizeof *box), id = which;
    *box = thread;
    index.handle = known ? NULL : box;
    cute_value in[] = {tiling, bound, cute_value_of_tree(CUTE_COORD, cute_tree_scalar(arena, index))};
    cute_attributes attributes = {&id, k->operation == CUTE_OP_TILED_MMA_PARTITION};
    machine m = {0};
    cute_arith arith = arithmetic(&m);
    cute_status status = cute_atom_apply(arena, &arith, k->operation, in, 3, &attributes, &got, diag);
    in[1] = tensor;
    cute_status quiet = cute_atom_apply(arena, NULL, k->operation, in, 3, &attributes, &inferred, diag);
    if (!CHECK(status == CUTE_OK && quiet == CUTE_OK)) {
        printf("# %s\n", first_message());
        return;
    }
    CHECK(!m.failed);
    CHECK_TEXT(cute_atom_value_text(arena, &got), cute_atom_value_text(arena, &inferred));
    cute_algebra a = {.arena = arena, .diag = diag};
    atom_partition p = partition_of(k, &tiling, which, compact_like(tensor.layout));
    int64_t coordinate[3] = {thread};
    if (k->operation == CUTE_OP_TILED_MMA_PARTITION) {
        cute_node c[3];
        if (!CHECK(atom_mma_coordinate(&a, &tiling, which, alg_number(&a, thread), c))) return;
        for (int i = 0; i < 3; i++) coordinate[i] = c[i]->value.value;
    }
    cute_value mine = revealed(&got), whole = revealed(&bound);
    int64_t values = size_of(mine.layout.shape);
    for (int64_t v = 0; v < values; v++) {
        int64_t want = element(&whole, expected_index(&p, coordinate, v)), is = element(&mine, v);
        if (want == is) continue;
        printf("# %s of %s: thread %" PRId64 ", value %" PRId64 " is %" PRId64 ", not %" PRId64 "\n",
               k->tiling, k->tensor, thread, v, is, want);
        test_fail(__FILE__, __LINE__, "partition");
        return;
    }
}

#define F16_MMA                                                                                              \
    "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <\"(2,2,1):(1,2,0)\">, " \
    "permutation_MNK = <\"[32:1;32:1;16:1]\">"
#define BF16_MMA                                                                                             \
    "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >, atom_layout_MNK = <\"(4,1,1):(1,0,0)\">"
#define FMA                                                                                                  \
    "!cute_nvgpu.atom.universal_fma<1x1x1, (f32, f32) -> f32 >, atom_layout_MNK = <\"(16,8,1):(8,1,0)\">, "  \
    "permutation_MNK = <\"[(16,4):(4,1);(8,4):(4,1);_]\">"
#define TF32_MMA                                                                                             \
    "!cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >, atom_layout_MNK = <\"(2,1,2):(2,0,1)\">"
#define LDSM(order)                                                                                          \
    "!cute_nvgpu.atom.ldsm<val_type = f16, mode = <\"(8,8)\">, sz_pattern = u16, num_matrices = 4, " order ">"
#define OF_A                                                                                                 \
    ", layout_copy_tv = <\"((4,8,2,2),((2,2,2),(1,1))):((64,1,16,0),((32,8,256),(0,0)))\">, tiler_mn = "     \
    "<\"[32:1;16:1]\">"
#define OF_B                                                                                                 \
    ", layout_copy_tv = <\"((4,8,2,2),((2,2),(2,1))):((64,1,0,8),((32,256),(16,0)))\">, tiler_mn = "         \
    "<\"[32:1;16:1]\">"
#define ROWS                                                                                                 \
    "!cute_nvgpu.atom.universal_copy<f16, 128 b>, layout_copy_tv = <\"((8,16),8):((128,1),16)\">, tiler_mn " \
    "= <\"[16:1;64:1]\">"
#define ASYNC                                                                                                \
    "!cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>, layout_copy_tv = <\"(128,8):(8,1)\">, "   \
    "tiler_mn = <\"[128:1;8:1]\">"

#define MMA(tiling, tensor)    {CUTE_OP_TILED_MMA_PARTITION, CUTE_TILED_MMA, CUTE_MEMREF, tiling, tensor}
#define COORD(tiling, tensor)  {CUTE_OP_TILED_MMA_PARTITION, CUTE_TILED_MMA, CUTE_COORD_TENSOR, tiling, tensor}
#define SOURCE(tiling, tensor) {CUTE_OP_TILED_COPY_PARTITION_S, CUTE_TILED_COPY, CUTE_MEMREF, tiling, tensor}
#define TARGET(tiling, tensor) {CUTE_OP_TILED_COPY_PARTITION_D, CUTE_TILED_COPY, CUTE_MEMREF, tiling, tensor}

static const partition_case cases[] = {
    MMA(F16_MMA, "f16, gmem, align<32>, \"(128,128):(?{div=8},1)\""),
    MMA(F16_MMA,
        "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))\""),
    MMA(F16_MMA,
        "f16, smem, align<1024>, \"S<2,3,3> o 0 o ((8,16),(32,1),(1,3)):((32,256),(1,0),(0,4096))\""),
    MMA(F16_MMA, "f16, smem, align<1024>, \"S<3,3,4> o 0 o ((8,16),(128,1)):((128,1024),(1,0))\""),
    MMA(BF16_MMA, "bf16, smem, align<1024>, \"S<3,4,3> o 0 o ((8,8),(64,2)):((64,512),(1,4096))\""),
    MMA(BF16_MMA, "bf16, smem, align<1024>, \"(64,64):(?,?)\""),
    MMA(TF32_MMA, "tf32, gmem, \"(64,32):(1,?{i64})\""),
    MMA(FMA, "f32, smem, align<16>, \"(128,32,3):(1,132,4224)\""),
    MMA(FMA, "f32, gmem, align<16>, \"(128,128):(?{i64 div=4},1)\""),
    COORD(F16_MMA, "\"(0,0)\", \"(128,128):(1@0,1@1)\""),
    COORD(BF16_MMA, "\"(?{div=64},?)\", \"(64,64):(1@1,1@0)\""),
    COORD(FMA, "\"(?,3,?)\", \"(128,64):(1@0,1@2)\""),
    SOURCE(ASYNC, "f16, gmem, align<16>, \"(128,32,4):(1,?{div=8},?{div=256})\""),
    TARGET(ASYNC,
           "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))\""),
    SOURCE(ROWS, "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((8,16),(64,2)):((64,512),(1,8192))\""),
    TARGET(ROWS, "f16, gmem, align<16>, \"(128,128):(?{i64 div=8},1)\""),
    SOURCE(LDSM("n") OF_A,
           "f16, smem, align<1024>, \"S<2,3,3> o 0 o ((8,16),(32,1),(1,3)):((32,256),(1,0),(0,4096))\""),
    SOURCE(LDSM("t") OF_A,
           "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((64,2),(8,4),(1,3)):((1,512),(64,1024),(0,4096))\""),
    SOURCE(LDSM("n") OF_B, "f16, smem, align<1024>, \"S<2,3,3> o 0 o ((8,16),(32,1)):((32,256),(1,0))\""),
    SOURCE(LDSM("t") OF_B, "f16, smem, align<1024>, \"S<3,3,3> o 0 o ((64,2),(8,4)):((1,512),(64,1024))\""),
    {CUTE_OP_TILED_COPY_PARTITION_S, CUTE_TILED_COPY, CUTE_COORD_TENSOR, ASYNC,
     "\"(?{div=128},?,?)\", \"(128,32,4):(1@0,1@1,32@1)\""},
};

static void check_cases(bool known)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const partition_case *k = &cases[i];
        bool mma = k->operation == CUTE_OP_TILED_MMA_PARTITION;
        begin();
        for (int which = 0; which < (mma ? 3 : 1) && !test_failed; which++)
            for (int64_t thread = 0; thread < 128 && !test_failed; thread += known ? 13 : 1)
                check_thread(k, which, thread, known);
        end();
    }
}

static void test_unknown(void)
{
    check_cases(false);
}
static void test_known(void)
{
    check_cases(true);
}

int main(void)
{
    TEST("a thread's partition has the elements of its values, whatever the thread", test_unknown);
    TEST("so has that of a thread whose index is known", test_known);
    return test_finish();
}
