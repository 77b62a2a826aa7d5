/* cute_gemm plans on a caller's NCCL communicator, on stand-ins for the driver and NCCL (tests/data): every split and collective has the
 * sums of the whole product, with and without an epilogue, and wrong options are refused. */
#include <dlfcn.h>
#include <libgen.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cute/emulator.h"
#include "cute/gemm.h"
#include "tests/unit/test.h"

enum { MOST = 4 };
static int64_t M = 40, N = 24, K = 16;
static const char *overlap;      /* NULL: the model chooses */
static const char *expected_way; /* in a remark; NULL: any */
typedef enum epilogue_kind { PLAIN, LINEAR } epilogue_kind;

typedef struct nccl_id {
    char bytes[128];
} nccl_id;

static struct {
    int (*unique)(nccl_id *);
    int (*init)(void **, int, nccl_id, int, void *);
    int (*state)(void *, int *);
    int (*destroy)(void *);
} nccl;

static void *symbol(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (!found) fprintf(stderr, "no %s\n", name);
    return found;
}

/* The stand-ins beside this program, and cute-ptx. */
static bool prepare(const char *program)
{
    char path[4096], text[5000];
    snprintf(path, sizeof path, "%s", program);
    const char *folder = dirname(path);
    snprintf(text, sizeof text, "%s/libfakecuda.so", folder);
    setenv("CUTE_LIBCUDA", text, 1);
    snprintf(text, sizeof text, "%s/../bin:%s", folder, getenv("PATH"));
    setenv("PATH", text, 1);
    snprintf(text, sizeof text, "%s/libfakenccl.so", folder);
    setenv("CUTE_LIBNCCL", text, 1);
    void *library = dlopen(text, RTLD_NOW);
    if (!library) return false;
    *(void **)&nccl.unique = symbol(library, "ncclGetUniqueId");
    *(void **)&nccl.init = symbol(library, "ncclCommInitRankConfig");
    *(void **)&nccl.state = symbol(library, "ncclCommGetAsyncError");
    *(void **)&nccl.destroy = symbol(library, "ncclCommDestroy");
    return true;
}

static float a_of(int64_t i, int64_t k)
{
    return (float)((i * 3 + k * 5) % 7 - 3);
}

static float b_of(int64_t k, int64_t j)
{
    return (float)((k * 2 + j) % 5 - 2);
}

static float c_of(int64_t i, int64_t j)
{
    return (float)((i + 2 * j) % 9 - 4);
}

static float bias_of(int64_t j)
{
    return (float)(j % 3 - 1);
}

/* LINEAR: acc + 2 C + bias, which the stand-in for the driver knows as a step of its own only. */
static float d_of(epilogue_kind kind, int64_t i, int64_t j)
{
    float sum = 0;
    for (int64_t k = 0; k < K; k++) sum += a_of(i, k) * b_of(k, j);
    return kind == PLAIN ? sum : sum + 2 * c_of(i, j) + bias_of(j);
}

#define NEED(x)                                                                                              \
    do {                                                                                                     \
        if (!(x)) return __LINE__ % 250 + 1;                                                                 \
    } while (0)

/* Enough for any operand. */
static size_t buffer_bytes(void)
{
    int64_t most = M * N > M * K ? M * N : M * K;
    return (size_t)(N * K > most ? N * K : most) * 4 + (1 << 16);
}

static bool has_remark(const cute_diag *diag, const char *text)
{
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        if (strstr(cute_diag_get(diag, i)->text, text)) return true;
    return false;
}

typedef struct rank_run {
    cute_gemm *gemm;
    cute_device *device;
    cute_diag *diag;
    cute_gemm_part a, b, d;
    float *host;
    epilogue_kind kind;
} rank_run;

/* A part by rows; of a gathered A only its own rows. B is by columns. */
static int put_operands(rank_run *r, cute_gemm_operands *o)
{
    for (int64_t i = 0; i < r->a.elements; i++) r->host[i] = -1e9f;
    for (int64_t i = 0; i < r->a.own_rows; i++)
        for (int64_t k = 0; k < r->a.columns; k++)
            r->host[(r->a.own_row + i) * r->a.ld + k] =
                a_of(r->a.first_row + r->a.own_row + i, r->a.first_column + k);
    NEED(cute_device_upload(r->device, o->a, r->host, (size_t)r->a.elements * 4, r->diag) == CUTE_OK);
    for (int64_t k = 0; k < r->b.rows; k++)
        for (int64_t j = 0; j < r->b.columns; j++)
            r->host[j * r->b.ld + k] = b_of(r->b.first_row + k, r->b.first_column + j);
    NEED(cute_device_upload(r->device, o->b, r->host, (size_t)r->b.elements * 4, r->diag) == CUTE_OK);
    return 0;
}

/* C and the bias: the rank's parts. */
static int put_addends(rank_run *r, const cute_gemm_operands *o)
{
    cute_gemm_part c = {.size = sizeof c}, bias = {.size = sizeof bias};
    if (r->kind == PLAIN) return 0;
    NEED(cute_gemm_part_of(r->gemm, "C", &c, r->diag) == CUTE_OK);
    NEED(cute_gemm_part_of(r->gemm, "bias", &bias, r->diag) == CUTE_OK);
    for (int64_t i = 0; i < c.rows; i++)
        for (int64_t j = 0; j < c.columns; j++)
            r->host[i * c.ld + j] = c_of(c.first_row + i, c.first_column + j);
    NEED(cute_device_upload(r->device, o->c, r->host, (size_t)c.elements * 4, r->diag) == CUTE_OK);
    for (int64_t j = 0; j < bias.columns; j++) r->host[j] = bias_of(bias.first_column + j);
    NEED(cute_device_upload(r->device, o->bias, r->host, (size_t)bias.elements * 4, r->diag) == CUTE_OK);
    return 0;
}

static int check_d(rank_run *r, const cute_gemm_operands *o)
{
    NEED(cute_device_download(r->device, r->host, o->d, (size_t)r->d.elements * 4, r->diag) == CUTE_OK);
    for (int64_t i = 0; i < r->d.rows; i++)
        for (int64_t j = 0; j < r->d.columns; j++)
            NEED(r->host[i * r->d.ld + j] == d_of(r->kind, r->d.first_row + i, r->d.first_column + j));
    return 0;
}

static int run_plan(rank_run *r)
{
    cute_gemm_operands o = {.size = sizeof o};
    NEED(cute_device_alloc(r->device, buffer_bytes(), &o.a, r->diag) == CUTE_OK);
    NEED(cute_device_alloc(r->device, buffer_bytes(), &o.b, r->diag) == CUTE_OK);
    NEED(cute_device_alloc(r->device, buffer_bytes(), &o.d, r->diag) == CUTE_OK);
    NEED(cute_device_alloc(r->device, cute_gemm_workspace(r->gemm) + 1, &o.workspace, r->diag) == CUTE_OK);
    r->a.size = r->b.size = r->d.size = sizeof r->a;
    NEED(cute_gemm_part_of(r->gemm, "A", &r->a, r->diag) == CUTE_OK);
    NEED(cute_gemm_part_of(r->gemm, "B", &r->b, r->diag) == CUTE_OK);
    NEED(cute_gemm_part_of(r->gemm, "D", &r->d, r->diag) == CUTE_OK);
    NEED(cute_gemm_part_of(r->gemm, "E", &r->d, r->diag) == CUTE_USAGE);
    NEED(cute_gemm_part_of(r->gemm, "C", &r->d, r->diag) == (r->kind == PLAIN ? CUTE_USAGE : CUTE_OK));
    NEED(cute_gemm_part_of(r->gemm, "D", &r->d, r->diag) == CUTE_OK);
    NEED(cute_device_alloc(r->device, buffer_bytes(), &o.c, r->diag) == CUTE_OK);
    NEED(cute_device_alloc(r->device, buffer_bytes(), &o.bias, r->diag) == CUTE_OK);
    NEED(put_addends(r, &o) == 0);
    for (int turn = 0; turn < 3; turn++) {
        int line = put_operands(r, &o);
        if (line) return line;
        NEED(cute_gemm_run(r->gemm, &o, r->diag) == CUTE_OK);
        NEED(cute_device_sync(r->device, r->diag) == CUTE_OK);
        line = check_d(r, &o);
        if (line) return line;
    }
    o.d += 4;
    NEED(cute_gemm_run(r->gemm, &o, r->diag) == CUTE_USAGE);
    NEED(cute_gemm_run_host(r->gemm, NULL, 0, r->diag) == CUTE_USAGE);
    cute_gemm_choice choice = {.size = sizeof choice};
    NEED(cute_gemm_chosen(r->gemm, 0, &choice, r->diag) == CUTE_OK);
    return 0;
}

static int run_rank(nccl_id id, int rank, int size, cute_gemm_split split, cute_gemm_collective collective,
                    epilogue_kind kind)
{
    rank_run r = {.diag = cute_diag_create(), .host = malloc(buffer_bytes()), .kind = kind};
    cute_gemm_problem problem = CUTE_GEMM_PROBLEM;
    void *comm = NULL;
    int state = 7;
    problem.m = M;
    problem.n = N;
    problem.k = K;
    problem.type_a = "f32";
    problem.order_b = CUTE_GEMM_COLUMNS;
    if (kind == LINEAR) {
        problem.beta = 2;
        problem.bias = true;
    }
    NEED(cute_device_open("0", &r.device, r.diag) == CUTE_OK);
    NEED(nccl.init(&comm, size, id, rank, NULL) == 7);
    while (state == 7) nccl.state(comm, &state);
    cute_gemm_options options = {.size = sizeof options,
                                 .device = r.device,
                                 .communicator = comm,
                                 .split = split,
                                 .collective = collective,
                                 .overlap = overlap};
    int line = cute_gemm_create(&problem, 1, &options, &r.gemm, r.diag) == CUTE_OK ? run_plan(&r)
                                                                                   : __LINE__ % 250 + 1;
    if (!line && expected_way && !has_remark(r.diag, expected_way)) line = __LINE__ % 250 + 1;
    for (size_t i = 0; line && i < cute_diag_count(r.diag); i++)
        printf("# %s\n", cute_diag_get(r.diag, i)->text);
    fflush(stdout);
    cute_gemm_destroy(r.gemm);
    nccl.destroy(comm);
    cute_device_close(r.device);
    cute_diag_destroy(r.diag);
    free(r.host);
    return line;
}

static void run_ranks(int size, cute_gemm_split split, cute_gemm_collective collective, epilogue_kind kind)
{
    nccl_id id;
    pid_t children[MOST];
    CHECK_INT(nccl.unique(&id), 0);
    fflush(stdout);
    for (int r = 0; r < size; r++) {
        children[r] = fork();
        if (children[r] == 0) _exit(run_rank(id, r, size, split, collective, kind));
    }
    for (int r = 0; r < size; r++) {
        int status;
        waitpid(children[r], &status, 0);
        if (!CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0))
            printf("# split %d, collective %d, epilogue %d, rank %d of %d: line %d\n", split, collective,
                   kind, r, size, WIFEXITED(status) ? WEXITSTATUS(status) - 1 : -WTERMSIG(status));
    }
}

static void test_ways(void)
{
    for (int size = 2; size <= 3; size++) {
        run_ranks(size, CUTE_GEMM_SPLIT_M, CUTE_GEMM_USUAL, PLAIN);
        run_ranks(size, CUTE_GEMM_SPLIT_N, CUTE_GEMM_ALL_GATHER, PLAIN);
        for (int kind = PLAIN; kind <= LINEAR; kind++) {
            run_ranks(size, CUTE_GEMM_SPLIT_K, CUTE_GEMM_ALL_REDUCE, (epilogue_kind)kind);
            run_ranks(size, CUTE_GEMM_SPLIT_K, CUTE_GEMM_REDUCE_SCATTER, (epilogue_kind)kind);
        }
    }
}

static void test_ranks_that_store_into_windows_of_each_other(void)
{
    M = 512;
    N = 256;
    K = 64;
    overlap = "peer";
    expected_way = "peer, 2 ranks, whose epilogues store into the others' memory";
    run_ranks(2, CUTE_GEMM_SPLIT_K, CUTE_GEMM_REDUCE_SCATTER, PLAIN);
    expected_way = "not peer: D is the caller's memory, which other ranks do not map";
    run_ranks(2, CUTE_GEMM_SPLIT_M, CUTE_GEMM_USUAL, PLAIN);
    overlap = NULL;
    run_ranks(2, CUTE_GEMM_SPLIT_K, CUTE_GEMM_ALL_REDUCE, PLAIN);
    M = 40;
    N = 24;
    K = 16;
    overlap = expected_way = NULL;
}

static void refuse(const cute_gemm_options *options, size_t count, const char *says)
{
    cute_gemm_problem problems[2] = {CUTE_GEMM_PROBLEM, CUTE_GEMM_PROBLEM};
    cute_diag *diag = cute_diag_create();
    cute_gemm *gemm;
    for (int i = 0; i < 2; i++) {
        problems[i].m = problems[i].n = problems[i].k = 8;
        problems[i].type_a = "f32";
    }
    CHECK_INT(cute_gemm_create(problems, count, options, &gemm, diag), CUTE_USAGE);
    CHECK(cute_diag_count(diag) && strstr(cute_diag_get(diag, 0)->text, says));
    cute_diag_destroy(diag);
}

static void test_refusals(void)
{
    int nothing;
    cute_device *emulator;
    cute_gemm_part part = {.size = sizeof part};
    cute_gemm_problem problem = CUTE_GEMM_PROBLEM;
    cute_gemm *whole;
    CHECK(cute_emulator_open(NULL, &emulator, NULL) == CUTE_OK);
    cute_gemm_options o = {.size = sizeof o, .communicator = &nothing, .split = CUTE_GEMM_SPLIT_M};
    refuse(&o, 1, "a communicator requires a device");
    o.device = emulator;
    refuse(&o, 1, "an NCCL communicator requires a GPU, got the emulator");
    refuse(&o, 2, "a communicator requires one product, and neither a module nor a source");
    o.split = CUTE_GEMM_WHOLE;
    refuse(&o, 1, "a communicator requires a split along m, n or k and a known collective");
    problem.m = problem.n = problem.k = 8;
    problem.type_a = "f32";
    cute_gemm_options plain = {.size = sizeof plain, .device = emulator};
    if (CHECK(cute_gemm_create(&problem, 1, &plain, &whole, NULL) == CUTE_OK))
        CHECK_INT(cute_gemm_part_of(whole, "A", &part, NULL), CUTE_USAGE);
    cute_gemm_destroy(whole);
    cute_device_close(emulator);
}

int main(int argc, char **argv)
{
    (void)argc;
    if (!prepare(argv[0])) return 1;
    TEST("each split and collective has the sums of the whole product, also with C and a bias", test_ways);
    TEST("ranks of one host store partial sums into each other's windows",
         test_ranks_that_store_into_windows_of_each_other);
    TEST("contradictory options are refused", test_refusals);
    return test_finish();
}
