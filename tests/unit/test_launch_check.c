/* Formulas, einsums and checks on contents small enough to work out by hand, through launch.json as users write it. */
#include <math.h>

#include "lib/launch/data/check.h"
#include "lib/launch/data/data.h"
#include "tests/unit/test.h"

typedef struct fixture {
    cute_arena *arena;
    cute_diag *diag;
    cute_config config;
    cute_status status;
} fixture;

/* `body` is what stands in launch.json besides braces, with ' for ". */
static fixture make(const char *body)
{
    fixture f = {.arena = cute_arena_create(), .diag = cute_diag_create()};
    char text[4096];
    snprintf(text, sizeof text, "{%s}", body);
    for (char *c = text; *c; c++)
        if (*c == '\'') *c = '"';
    const config_source source = {.label = "launch.json", .text = text, .length = strlen(text)};
    f.status = cute_config_read(f.arena, &source, &f.config, f.diag);
    if (f.status == CUTE_OK) f.status = cute_data_prepare(&f.config, 1, f.diag);
    return f;
}

static void destroy(fixture *f)
{
    cute_data_release(&f->config);
    cute_config_release(&f->config);
    cute_diag_destroy(f->diag);
    cute_arena_destroy(f->arena);
}

static const char *message(const fixture *f)
{
    return cute_diag_count(f->diag) ? cute_diag_get(f->diag, 0)->text : "";
}

static cute_check_result run(fixture *f)
{
    cute_check_result result = {.bad = -1};
    cute_check check = {0};
    cute_status status = f->status;
    if (status == CUTE_OK) status = cute_check_prepare(&f->config, &f->config.checks[0], &check, f->diag);
    if (status == CUTE_OK) status = cute_check_run(&f->config, &check, 1, &result, f->diag);
    f->status = status;
    cute_check_release(&check);
    return result;
}

/* Checks that buffer 0, filled with `values`, is what launch.json expects. */
static void expect(const char *body, const double *values, int64_t count)
{
    fixture f = make(body);
    if (f.status == CUTE_OK)
        cute_tensor_store(&f.config.buffers[0].tensor, f.config.buffers[0].tensor.data, 0, count, values);
    cute_check_result r = run(&f);
    if (!CHECK(f.status == CUTE_OK)) printf("# %s\n", message(&f));
    if (!CHECK(r.bad == 0 && r.compared == count))
        printf("# %s: %lld bad, the first %lld: got %g, want %g\n", body, (long long)r.bad,
               (long long)r.first, r.got, r.want);
    destroy(&f);
}

static void refuse(const char *body, const char *what)
{
    fixture f = make(body);
    run(&f);
    CHECK(f.status == CUTE_INVALID);
    if (!CHECK(strstr(message(&f), what) != NULL)) printf("# %s\n", message(&f));
    destroy(&f);
}

static void test_elementwise(void)
{
    /* A = 0..5, so 2 A + 1 */
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [2, 3]}, 'A': {'dtype': 'f32', 'shape': [2, 3], "
           "'init': 'iota'}},"
           "'params': {'alpha': 2.0}, 'check': {'C': {'expr': 'alpha * A + 1', 'ulp': 0}}",
           (double[]){1, 3, 5, 7, 9, 11}, 6);
}

static void test_transpose(void)
{
    expect("'buffers': {'C': {'dtype': 'i32', 'shape': [3, 2]}, 'A': {'dtype': 'i32', 'shape': [2, 3], "
           "'init': 'iota'}},"
           "'check': {'C': 'A[j, i]'}",
           (double[]){0, 3, 1, 4, 2, 5}, 6);
}

static void test_padded(void)
{
    /* Rows 4 elements apart, an offset, and a column-major operand: A[i,j] = 10 i + j. */
    expect("'buffers': {'C': {'dtype': 'f64', 'shape': [2, 3], 'strides': [4, 1], 'offset': 2},"
           " 'A': {'dtype': 'f16', 'shape': [2, 3], 'strides': [1, 2], 'init': {'expr': '10 * i + j'}}},"
           "'check': {'C': 'A'}",
           (double[]){0, 1, 2, 10, 11, 12}, 6);
}

static void test_softmax(void)
{
    /* Rows (0, ln 3) and (ln 4, 0): 1/4, 3/4 and 4/5, 1/5. */
    expect("'buffers': {'C': {'dtype': 'f64', 'shape': [2, 2]}, 'A': {'dtype': 'f64', 'shape': [2, 2],"
           " 'init': {'expr': 'i == j ? i * log(1) + (i == 0 ? 0 : 0) : (i == 0 ? log(3) : log(4))'}}},"
           "'check': {'C': {'expr': 'exp(A[i, j] - max(k, A[i, k])) / sum(k, exp(A[i, k] - max(l, A[i, "
           "l])))', 'atol': 1e-15}}",
           (double[]){0.25, 0.75, 0.8, 0.2}, 4);
}

static void test_matmul(void)
{
    /* (0 1; 2 3) (0 1; 2 3) = (2 3; 6 11), as an einsum and as a sum. */
    static const char *const checks[] = {
        "{'einsum': 'mk,kn->mn', 'operands': ['A', 'A']}",
        "'sum(k, A[i, k] * A[k, j])'",
        "{'einsum': 'mk,nk->mn', 'operands': ['A', 'T']}",
        "{'einsum': 'mk,kn->mn', 'operands': ['A', 'A'], 'sample': 3}",
    };
    for (int i = 0; i < 3; i++) {
        char body[1000];
        snprintf(
            body, sizeof body,
            "'buffers': {'C': {'dtype': 'f32', 'shape': [2, 2]}, 'A': {'dtype': 'f32', 'shape': [2, 2], "
            "'init': 'iota'},"
            " 'T': {'dtype': 'f32', 'shape': [2, 2], 'init': {'expr': '2 * j + i'}}}, 'check': {'C': %s}",
            checks[i]);
        expect(body, (double[]){2, 3, 6, 11}, 4);
    }
}

static void test_epilogue(void)
{
    /* relu(x - 5) + bias[j] with bias = (10, 20): 2 3 6 11 becomes 10 20 11 26. */
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [2, 2]}, 'A': {'dtype': 'f32', 'shape': [2, 2], "
           "'init': 'iota'},"
           " 'bias': {'dtype': 'f32', 'shape': [2], 'init': {'iota': [10, 10]}}},"
           "'check': {'C': {'einsum': 'mk,kn->mn', 'operands': ['A', 'A'], 'epilogue': 'relu(x - 5) + "
           "bias[j]'}}",
           (double[]){10, 20, 11, 26}, 4);
}

static void test_other_einsums(void)
{
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [3]}, 'A': {'dtype': 'f32', 'shape': [3, 3], 'init': "
           "'iota'}},"
           "'check': {'C': {'einsum': 'ii->i', 'operands': ['A']}}",
           (double[]){0, 4, 8}, 3);
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': []}, 'A': {'dtype': 'f32', 'shape': [2, 3], 'init': "
           "'iota'}},"
           "'check': {'C': {'einsum': 'ij->', 'operands': ['A']}}",
           (double[]){15}, 1);
    /* two batches of (0 1) . (0 1) and (2 3) . (2 3) */
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [2]}, 'A': {'dtype': 'f32', 'shape': [2, 2], 'init': "
           "'iota'}},"
           "'check': {'C': {'einsum': 'bk,bk->b', 'operands': ['A', 'A']}}",
           (double[]){1, 13}, 2);
    /* three operands: (0 1) scaled by A A^T = sum over j,k of v_i A_jk A_jk = 14 v_i */
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [2]}, 'A': {'dtype': 'f32', 'shape': [2, 2], 'init': "
           "'iota'},"
           " 'v': {'dtype': 'f32', 'shape': [2], 'init': 'iota'}},"
           "'check': {'C': {'einsum': 'i,jk,jk->i', 'operands': ['v', 'A', 'A']}}",
           (double[]){0, 14}, 2);
}

static void test_blocks(void)
{
    /* Larger than a block in each direction, odd sizes; compared with the formula, which shares no code with it. */
    fixture f = make("'buffers': {'C': {'dtype': 'f64', 'shape': [37, 301]},"
                     " 'A': {'dtype': 'f32', 'shape': [37, 261], 'init': {'integers': [-8, 8]}},"
                     " 'B': {'dtype': 'f16', 'shape': [261, 301], 'init': {'integers': [-8, 8]}}},"
                     "'check': {'C': {'expr': 'sum(k, A[i, k] * B[k, j])', 'ulp': 0}}");
    CHECK(f.status == CUTE_OK);
    const cute_tensor *operands[] = {&f.config.buffers[1].reference, &f.config.buffers[2].reference};
    cute_einsum e;
    char text[200];
    CHECK(cute_einsum_parse("mk,kn->mn", operands, 2, &f.config.buffers[0].tensor, &e, text, sizeof text) ==
          CUTE_OK);
    double *all = cute_einsum_all(&e);
    cute_tensor_store(&f.config.buffers[0].tensor, f.config.buffers[0].tensor.data, 0, 37 * 301, all);
    cute_check_result r = run(&f);
    CHECK_INT(r.bad, 0);
    CHECK_INT(r.compared, 37 * 301);
    free(all);
    destroy(&f);
}

static void test_masks(void)
{
    /* The neighbour that is not there is not read. */
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [4]}, 'A': {'dtype': 'f32', 'shape': [4], 'init': "
           "'iota'}},"
           "'check': {'C': 'i > 0 ? A[i - 1] : -1'}",
           (double[]){-1, 0, 1, 2}, 4);
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [4]}, 'A': {'dtype': 'f32', 'shape': [4], 'init': "
           "'iota'}},"
           "'check': {'C': 'A[floor_div(i, 2)] + (i > 0 && A[i - 1] > 1)'}",
           (double[]){0, 0, 1, 2}, 4);
}

static void test_where(void)
{
    fixture f = make("'buffers': {'C': {'dtype': 'f32', 'shape': [2, 2], 'init': 'iota'}},"
                     "'check': {'C': {'expr': 'j < 1 ? C : 100', 'where': 'j <= i'}}");
    cute_check_result r = run(&f);
    CHECK_INT(r.compared, 3); /* the lower triangle: 0, 2 hold, 3 is not 100 */
    CHECK_INT(r.bad, 1);
    CHECK_INT(r.first, 3);
    destroy(&f);
}

/* Of 0, 1, 2, 3: the expected 0, 9, 2, 9 differ at 1 and 3, and only 3 is uncertain. */
static void test_uncertain(void)
{
    fixture f = make("'buffers': {'C': {'dtype': 'f32', 'shape': [4], 'init': 'iota'}},"
                     "'check': {'C': {'expr': 'mod(i, 2) == 1 ? 9 : C', 'uncertain': 'i != 1'}}");
    cute_check_result r = run(&f);
    CHECK_INT(r.compared, 4);
    CHECK_INT(r.left_out, 1);
    CHECK_INT(r.bad, 1);
    CHECK_INT(r.first, 1);
    CHECK(r.max_abs == 8 && r.max_abs_at == 1);
    destroy(&f);
}

/* A byte with a wrong bit beside its uncertain ones remains wrong: 0, 1, 2, 3 against -128, 3, 3, 4. */
static void test_uncertain_bits(void)
{
    fixture f = make("'buffers': {'C': {'dtype': 'i8', 'shape': [4], 'init': 'iota'}},"
                     "'check': {'C': {'expr': 'i == 0 ? -128 : i == 1 ? 3 : i == 2 ? 3 : 4',"
                     "'uncertain_bits': 'i == 0 ? 128 : 3'}}");
    cute_check_result r = run(&f);
    CHECK_INT(r.left_out, 3);
    CHECK_INT(r.bad, 1);
    CHECK_INT(r.first, 3);
    CHECK(r.got == 3 && r.want == 4);
    destroy(&f);
    CHECK_INT(cute_check_left_out(8, NAN, 0, 1), 0);
    CHECK_INT(cute_check_left_out(0, NAN, 0, 1), 0);
    CHECK_INT(cute_check_left_out(8, 255, 0, 0.5), 0);
    CHECK_INT(cute_check_left_out(64, -1, 0, -1), 64);
}

static void test_first_bad(void)
{
    fixture f = make("'buffers': {'C': {'dtype': 'f32', 'shape': [100, 100]}}, 'check': {'C': {'expr': '1', "
                     "'atol': 0.25}}");
    double values[100];
    for (int i = 0; i < 100; i++) values[i] = 1;
    for (int i = 0; i < 100; i++)
        cute_tensor_store(&f.config.buffers[0].tensor, f.config.buffers[0].tensor.data, i * 100, 100, values);
    float *data = f.config.buffers[0].tensor.data;
    data[4242] = 1.5f;
    data[777] = NAN;
    data[9000] = 1.25f; /* exactly as far as atol allows */
    data[9999] = -3;
    cute_check_result r = run(&f);
    CHECK_INT(r.bad, 3);
    CHECK_INT(r.first, 777);
    CHECK(isnan(r.got) && r.want == 1);
    CHECK_INT(r.got_nans, 1);
    CHECK(r.max_abs == 4 && r.max_abs_at == 9999);
    destroy(&f);
}

static void test_nan_and_infinity(void)
{
    expect("'buffers': {'C': {'dtype': 'f32', 'shape': [3]}}, 'check': {'C': 'i == 0 ? nan : i == 1 ? inf : "
           "-inf'}",
           (double[]){NAN, INFINITY, -INFINITY}, 3);
    fixture f = make("'buffers': {'C': {'dtype': 'f32', 'shape': [2], 'init': {'expr': 'i ? 3e38 : 0 / 0'}}},"
                     "'check': {'C': {'expr': 'i ? inf : nan', 'nan_equal': false, 'rtol': 1}}");
    cute_check_result r = run(&f);
    CHECK_INT(r.bad, 2); /* a NaN that is not wanted so, and a large number is no infinity */
    destroy(&f);
}

static void test_in_place(void)
{
    /* y is both read and written: the check means its first contents. */
    fixture f =
        make("'buffers': {'y': {'dtype': 'f32', 'shape': [3], 'init': 'iota'}}, 'check': {'y': '2 * y + 1'}");
    double after[] = {1, 3, 5};
    cute_tensor_store(&f.config.buffers[0].tensor, f.config.buffers[0].tensor.data, 0, 3, after);
    cute_check_result r = run(&f);
    CHECK_INT(r.bad, 0);
    destroy(&f);
}

static void test_functions(void)
{
    expect(
        "'buffers': {'C': {'dtype': 'f64', 'shape': [12]}}, 'check': {'C': {'atol': 1e-15, 'expr':"
        "'i == 0 ? erf(1) : i == 1 ? tanh(0.5) : i == 2 ? pow(2, 10) : i == 3 ? f16(2049) : i == 4 ? "
        "bf16(257) : i == 5 ?"
        " e4m3(17.5) : i == 6 ? min(3, 1, 2) : i == 7 ? mean(k, 5, k) : i == 8 ? prod(k, 4, k + 1) : i == 9 "
        "? mod(-1, 8) :"
        " i == 10 ? round(2.5) : i8(200)'}}",
        /* erf(1), tanh(0.5) from tables; 2049 is halfway between 2048 and 2050; 257 between 256 and 258; 17.5
              between 16 and 18 is nearer 18; 0 1 2 3 4 on average; 4! */
        (double[]){0.8427007929497149, 0.46211715726000975, 1024, 2048, 256, 18, 1, 2, 24, 7, 2, -56}, 12);
}

static void test_errors(void)
{
    static const char buffers[] =
        "'buffers': {'C': {'dtype': 'f32', 'shape': [4]}, 'A': {'dtype': 'f32', 'shape': [2, 4]}}";
    static const struct {
        const char *check, *what;
    } cases[] = {
        {"'A'", "A has 2 dimensions and the result 1"},
        {"'A[i]'", "expected 2 indices of A, got 1"},
        {"'A[0, i + 1]'", "index 4 is out of bounds for dimension 1 of A, which has 4 elements"},
        {"'A[0, i / 2]'", "expected an integer index of A, got 0.5"},
        {"'B[i]'", "unknown name 'B'"},
        {"'exq(i)'", "unknown function 'exq'; did you mean 'exp'?"},
        {"'sum(k, k)'", "unknown extent of 'k'"},
        {"'sum(k, A[k, 0] + A[0, k])'", "ambiguous extent of 'k'"},
        {"'sum(i, A[0, i])'", "is already defined"},
        {"{'einsum': 'ij->j', 'operands': ['C']}",
         "expected 1 label of operand 0, one for each dimension of C, got 2"},
        {"{'einsum': 'ij->i', 'operands': ['A']}", "expected extent 4 of label 'i' in A, got 2"},
        {"{'einsum': 'ij', 'operands': ['A']}", "expected '->'"},
        {"{'einsum': 'ij->k', 'operands': ['A']}", "label 'k' of the result is not in any operand"},
        {"{'einsum': 'ij->jj', 'operands': ['A']}", "label 'j' is repeated"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[600];
        snprintf(body, sizeof body, "%s, 'check': {'C': %s}", buffers, cases[i].check);
        refuse(body, cases[i].what);
    }
}

static void test_unwritten(void)
{
    fixture f = make("'buffers': {'C': {'dtype': 'i8', 'shape': [4, 3], 'strides': [5, 1]}}");
    config_buffer *c = &f.config.buffers[0];
    uint8_t mask[2] = {0};
    double row[] = {1, 2, 3};
    for (int i = 0; i < 4; i++)
        if (i != 2) cute_tensor_store(&c->tensor, c->tensor.data, i * 3, 3, row);
    data_unwritten u = cute_data_unwritten(c, 0, mask, false);
    CHECK_INT(u.count, 3);
    CHECK_INT(u.first, 6);
    CHECK_INT(cute_data_overrun(c, 0).after, -1);
    CHECK_INT(cute_data_overrun(c, 0).before, -1);
    /* Another run over the other poison writes one of them with the first poison's value. */
    cute_data_poison(c, 1);
    ((uint8_t *)c->tensor.data)[2 * 5 + 1] = 0xCB;
    u = cute_data_unwritten(c, 1, mask, true);
    CHECK_INT(u.count, 2);
    ((char *)c->tensor.data)[c->tensor.bytes + 2] = 0;
    CHECK_INT(cute_data_overrun(c, 1).after, 2);
    CHECK_INT(cute_data_overrun(c, 1).before, -1);
    ((char *)c->tensor.data)[-3] = 0;
    CHECK_INT(cute_data_overrun(c, 1).before, 3);
    destroy(&f);
}

/* Eight neighbours are looked at together where the tensor is contiguous: any one of them is found. */
static void test_unwritten_places(void)
{
    static const char *const types[] = {"i8", "f16", "f32", "f64"};
    for (int n = 0; n < 4; n++) {
        char text[100];
        snprintf(text, sizeof text, "'buffers': {'C': {'dtype': '%s', 'shape': [3, 11]}}", types[n]);
        fixture f = make(text);
        config_buffer *c = &f.config.buffers[0];
        int64_t width = c->tensor.bytes / 33;
        for (int64_t missing = 0; missing < 33; missing++) {
            uint8_t mask[5] = {0};
            cute_data_poison(c, 0);
            for (int64_t i = 0; i < 33; i++)
                if (i != missing) memset((char *)c->tensor.data + i * width, 1, (size_t)width);
            data_unwritten u = cute_data_unwritten(c, 0, mask, false);
            CHECK_INT(u.count, 1);
            CHECK_INT(u.first, missing);
            for (int i = 0; i < 5; i++) CHECK_INT(mask[i], i == missing / 8 ? 1 << missing % 8 : 0);
            u = cute_data_unwritten(c, 0, mask, true);
            CHECK_INT(u.count, 1);
        }
        destroy(&f);
    }
}

static void test_random(void)
{
    fixture a = make("'buffers': {'A': {'dtype': 'f64', 'shape': [1000], 'init': 'normal'}, 'B': {'dtype': "
                     "'f64', 'shape': [10, 100], 'init': 'normal'}}");
    fixture b = make("'buffers': {'B': {'dtype': 'f64', 'shape': [1000], 'strides': [3], 'init': 'normal'}, "
                     "'I': {'dtype': 'i32', 'shape': [1000], 'init': {'integers': [-3, 3]}}}");
    double x[1000], y[1000], sum = 0, squares = 0;
    cute_tensor_load(&a.config.buffers[1].tensor, a.config.buffers[1].tensor.data, 0, 1000, x);
    cute_tensor_load(&b.config.buffers[0].tensor, b.config.buffers[0].tensor.data, 0, 1000, y);
    CHECK(memcmp(x, y, sizeof x) ==
          0); /* the same seed, name and index; whatever shape, strides, other buffers */
    cute_tensor_load(&a.config.buffers[0].tensor, a.config.buffers[0].tensor.data, 0, 1000, y);
    CHECK(memcmp(x, y, sizeof x) != 0);
    for (int i = 0; i < 1000; i++) sum += x[i], squares += x[i] * x[i];
    CHECK(fabs(sum / 1000) < 0.13 && fabs(squares / 1000 - 1) < 0.2); /* four deviations */
    int seen[7] = {0};
    cute_tensor_load(&b.config.buffers[1].tensor, b.config.buffers[1].tensor.data, 0, 1000, y);
    for (int i = 0; i < 1000; i++) seen[(int)y[i] + 3]++;
    for (int i = 0; i < 7; i++) CHECK(seen[i] > 95 && seen[i] < 191); /* 143 expected, four deviations */
    destroy(&a);
    destroy(&b);
}

int main(void)
{
    TEST("a name alone stands for the element at the result's index", test_elementwise);
    TEST("indices may be swapped", test_transpose);
    TEST("strides, offsets and column-major operands are followed", test_padded);
    TEST("a row softmax is an expression with reductions", test_softmax);
    TEST("a matrix product is an einsum or a sum", test_matmul);
    TEST("an epilogue sees the einsum's element and the indices", test_epilogue);
    TEST("diagonals, full sums, batches and three operands are einsums too", test_other_einsums);
    TEST("a product of odd sizes in blocks is the sum of its products", test_blocks);
    TEST("only the chosen side of ?: is read", test_masks);
    TEST("where limits what is checked", test_where);
    TEST("a wrong element that is uncertain is left out and counted", test_uncertain);
    TEST("wrong bits are left out if all of them are uncertain", test_uncertain_bits);
    TEST("the first bad element, the count, the largest error and NaNs are reported", test_first_bad);
    TEST("NaN and infinities match themselves only", test_nan_and_infinity);
    TEST("a buffer that is changed in place is checked against its first contents", test_in_place);
    TEST("functions and casts give tabulated values", test_functions);
    TEST("what is wrong with an expression or einsum is said", test_errors);
    TEST("elements that were not written are found, and writes beyond the end", test_unwritten);
    TEST("one element that was not written is found wherever it is", test_unwritten_places);
    TEST("random data depends on seed, name and index only, and is spread as asked", test_random);
    return test_finish();
}
