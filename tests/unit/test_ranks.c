/* Ranks in processes of this machine: places from the environment, joining, records, collectives of the stand-in on emulated devices, and
 * ranks that end, stop, or differ. */
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cute/emulator.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/base/system/clock.h"
#include "lib/ranks/comm.h"
#include "tests/unit/test.h"

enum { MOST = 8 };

/* ---- places ---- */

static const char *const variables[] = {
    "CUTE_RANK",
    "CUTE_RANKS",
    "CUTE_RANKS_ADDRESS",
    "RANK",
    "WORLD_SIZE",
    "LOCAL_RANK",
    "LOCAL_WORLD_SIZE",
    "TORCHELASTIC_RUN_ID",
    "OMPI_COMM_WORLD_RANK",
    "OMPI_COMM_WORLD_SIZE",
    "OMPI_COMM_WORLD_LOCAL_RANK",
    "OMPI_COMM_WORLD_LOCAL_SIZE",
    "PMIX_NAMESPACE",
    "PMI_RANK",
    "PMI_SIZE",
    "MPI_LOCALRANKID",
    "MPI_LOCALNRANKS",
    "SLURM_PROCID",
    "SLURM_STEP_NUM_TASKS",
    "SLURM_LOCALID",
    "SLURM_STEP_TASKS_PER_NODE",
    "SLURM_JOB_ID",
    "MASTER_ADDR",
    "MASTER_PORT",
};

/* The place that the variables "NAME=VALUE" give; false: none. The message of a failure is in `said`. */
static bool place_of(const char *const *given, ranks_place *out, char *said, size_t size)
{
    bool found = false;
    cute_diag *diag = cute_diag_create();
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    for (size_t i = 0; given[i]; i++) {
        char name[64];
        size_t length = strcspn(given[i], "=");
        snprintf(name, sizeof name, "%.*s", (int)length, given[i]);
        setenv(name, given[i] + length + 1, 1);
    }
    cute_status status = cute_ranks_find(out, &found, diag);
    snprintf(said, size, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) unsetenv(variables[i]);
    cute_diag_destroy(diag);
    return status == CUTE_OK && found;
}

static void test_launchers(void)
{
    static const struct {
        const char *given[8];
        const char *launcher;
        int rank, size, local;
        const char *address;
    } rows[] = {
        {{"CUTE_RANK=1", "CUTE_RANKS=2", "CUTE_RANKS_ADDRESS=unix:x"}, "cute-run", 1, 2, 1, "unix:x"},
        {{"RANK=3", "WORLD_SIZE=4", "LOCAL_RANK=1", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=host",
          "MASTER_PORT=29500"},
         "torchrun",
         3,
         4,
         1,
         "tcp:host:29501"},
        {{"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=2",
          "OMPI_COMM_WORLD_LOCAL_SIZE=4", "PMIX_NAMESPACE=77"},
         "mpirun",
         2,
         4,
         2,
         "-77"},
        {{"PMI_RANK=0", "PMI_SIZE=2"}, "mpiexec", 0, 2, 0, "unix:cute-ranks-"},
        {{"SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1", "SLURM_STEP_TASKS_PER_NODE=4(x2)",
          "MASTER_ADDR=n0", "MASTER_PORT=10"},
         "srun",
         5,
         8,
         1,
         "tcp:n0:11"},
        {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_STEP_TASKS_PER_NODE=2", "SLURM_JOB_ID=9"},
         "srun",
         1,
         2,
         1,
         "-9"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ranks_place p = {0};
        char said[400];
        if (!CHECK(place_of(rows[i].given, &p, said, sizeof said))) continue;
        CHECK_TEXT(p.launcher, rows[i].launcher);
        CHECK_INT(p.rank, rows[i].rank);
        CHECK_INT(p.size, rows[i].size);
        CHECK_INT(p.local_rank, rows[i].local);
        CHECK(strstr(p.address, rows[i].address) != NULL);
    }
}

static void test_contradictions(void)
{
    static const struct {
        const char *given[6], *says;
    } rows[] = {
        {{"RANK=4", "WORLD_SIZE=4"}, "RANK: expected a number from 0 to 3, got '4'"},
        {{"RANK=x", "WORLD_SIZE=4"}, "RANK: expected a number from 0 to 3, got 'x'"},
        {{"RANK=0", "WORLD_SIZE=0"}, "WORLD_SIZE: expected a number from 1 to 4096, got '0'"},
        {{"RANK=0", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2"}, "require MASTER_ADDR and MASTER_PORT"},
        {{"RANK=0", "WORLD_SIZE=4", "LOCAL_WORLD_SIZE=2", "MASTER_ADDR=h", "MASTER_PORT=70000"},
         "MASTER_PORT: expected a number from 1 to 65534, got '70000'"},
        {{"RANK=0", "WORLD_SIZE=2", "CUTE_RANKS_ADDRESS=tcp:x"},
         "CUTE_RANKS_ADDRESS: expected unix:NAME or tcp:HOST:PORT, got 'tcp:x'"},
        {{"RANK=0"}, ""},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ranks_place p;
        char said[400];
        CHECK(!place_of(rows[i].given, &p, said, sizeof said));
        if (!CHECK(strstr(said, rows[i].says) != NULL)) printf("# %s\n", said);
    }
}

/* ---- ranks in child processes ---- */

typedef struct job {
    int size;
    double timeout;
    const char *address; /* NULL: a socket of its own */
    const char *problem[MOST], *version[MOST];
    /* What a rank does; its exit code. `said` receives the message of a failure. */
    int (*body)(cute_ranks *, cute_diag *, int rank);
} job;

typedef struct outcome {
    char said[MOST][400];
    int code[MOST]; /* 128 + signal */
    double seconds;
} outcome;

static int run_rank(const job *j, int rank, const char *address, char *said)
{
    ranks_place place = {
        .launcher = "test", .rank = rank, .size = j->size, .local_rank = rank, .version = j->version[rank]};
    cute_diag *diag = cute_diag_create();
    cute_ranks *ranks = NULL;
    snprintf(place.address, sizeof place.address, "%s", address);
    int code = cute_ranks_join(&place, j->problem[rank] ? j->problem[rank] : "p", j->timeout, &ranks, diag);
    if (!code) code = j->body(ranks, diag, rank);
    if (code && ranks) cute_ranks_give_up(ranks, CUTE_INVALID, diag);
    snprintf(said, 400, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "");
    cute_ranks_leave(ranks);
    cute_diag_destroy(diag);
    return code;
}

static outcome run_job(const job *j)
{
    static int number;
    char address[RANKS_ADDRESS];
    pid_t children[MOST];
    outcome *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
            out;
    double began = cute_clock();
    snprintf(address, sizeof address, "unix:cute-test-%d-%d", (int)getpid(), number++);
    fflush(stdout);
    for (int r = 0; r < j->size; r++) {
        children[r] = fork();
        if (children[r] == 0) _exit(run_rank(j, r, j->address ? j->address : address, shared->said[r]));
    }
    for (int left = j->size; left;) {
        int status;
        pid_t done = waitpid(-1, &status, cute_clock() - began > 20 ? WNOHANG : 0);
        for (int r = 0; r < j->size; r++) {
            if (done == 0) kill(children[r], SIGKILL);
            if (children[r] != done) continue;
            shared->code[r] = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
            left--;
            /* a rank that is stopped stays until the others have ended */
            if (left == 1)
                for (int i = 0; i < j->size; i++) kill(children[i], SIGCONT);
        }
    }
    out = *shared;
    out.seconds = cute_clock() - began;
    munmap(shared, sizeof *shared);
    return out;
}

static bool all_ok(const outcome *o, int size)
{
    bool fine = true;
    for (int r = 0; r < size; r++)
        if (o->code[r]) {
            printf("# rank %d: %d %s\n", r, o->code[r], o->said[r]);
            fine = false;
        }
    return CHECK(fine);
}

static int exchange_numbers(cute_ranks *ranks, cute_diag *diag, int rank)
{
    int own = rank * rank, all[MOST], size = cute_ranks_size(ranks);
    for (int turn = 0; turn < 20; turn++) {
        own++;
        if (cute_ranks_exchange(ranks, &own, sizeof own, all, diag) != CUTE_OK) return 1;
        for (int i = 0; i < size; i++)
            if (all[i] != i * i + turn + 1) return 9;
    }
    return 0;
}

static void test_exchange(void)
{
    for (int size = 1; size <= MOST; size += size < 4 ? 1 : 4) {
        job j = {.size = size, .timeout = 5, .body = exchange_numbers};
        outcome o = run_job(&j);
        all_ok(&o, size);
    }
}

static void test_tcp(void)
{
    char address[64];
    snprintf(address, sizeof address, "tcp:127.0.0.1:%d", 20000 + (int)(getpid() % 20000));
    job j = {.size = 3, .timeout = 5, .address = address, .body = exchange_numbers};
    outcome o = run_job(&j);
    all_ok(&o, 3);
}

/* ---- collectives ---- */

enum { COUNT = 3001 };

static float value_of(int rank, int i)
{
    return (float)((rank + 1) * 3 % 7 + i % 11);
}

static float sum_of(int size, int i)
{
    float sum = 0;
    for (int r = 0; r < size; r++) sum += value_of(r, i);
    return sum;
}

typedef struct rig {
    cute_device *device;
    cute_comm *comm;
    cute_address from, to;
    int rank, size;
    float *host;
    cute_diag *diag;
} rig;

static bool call(rig *g, comm_kind kind, cute_address from, cute_address to, int64_t count, int peer)
{
    comm_call c = {
        .kind = kind, .type = comm_type_find("f32"), .from = from, .to = to, .count = count, .peer = peer};
    return cute_comm_start(g->comm, &c, NULL, g->diag) == CUTE_OK;
}

static bool fill(rig *g, int64_t count)
{
    for (int64_t i = 0; i < count; i++) g->host[i] = value_of(g->rank, (int)i);
    return cute_device_upload(g->device, g->from, g->host, (size_t)count * 4, g->diag) == CUTE_OK;
}

static bool result(rig *g, int64_t count)
{
    return cute_device_download(g->device, g->host, g->to, (size_t)count * 4, g->diag) == CUTE_OK;
}

/* Each returns 0, or the line of what is wrong. */
#define NEED(x)                                                                                              \
    do {                                                                                                     \
        if (!(x)) return __LINE__;                                                                           \
    } while (0)

static int try_sums(rig *g)
{
    int n = COUNT, size = g->size;
    NEED(fill(g, n) && call(g, COMM_ALL_REDUCE, g->from, g->to, n, 0) && result(g, n));
    for (int i = 0; i < n; i++) NEED(g->host[i] == sum_of(size, i));
    NEED(fill(g, (int64_t)n * size) && call(g, COMM_REDUCE_SCATTER, g->from, g->to, n, 0) && result(g, n));
    for (int i = 0; i < n; i++) NEED(g->host[i] == sum_of(size, g->rank * n + i));
    int root = size - 1;
    NEED(fill(g, n) && call(g, COMM_REDUCE, g->from, g->to, n, root) && result(g, n));
    for (int i = 0; g->rank == root && i < n; i++) NEED(g->host[i] == sum_of(size, i));
    return 0;
}

static int try_copies(rig *g)
{
    int n = COUNT, size = g->size, next = (g->rank + 1) % size, last = (g->rank + size - 1) % size;
    NEED(fill(g, n) && call(g, COMM_ALL_GATHER, g->from, g->to, n, 0) && result(g, (int64_t)n * size));
    for (int r = 0; r < size; r++)
        for (int i = 0; i < n; i++) NEED(g->host[r * n + i] == value_of(r, i));
    NEED(fill(g, n) && call(g, COMM_BROADCAST, g->from, g->to, n, size / 2) && result(g, n));
    for (int i = 0; i < n; i++) NEED(g->host[i] == value_of(size / 2, i));
    /* all send before any receives: more than a channel holds */
    int64_t many = 200000;
    NEED(fill(g, many));
    if (size > 1)
        NEED(call(g, COMM_SEND, g->from, 0, many, next) && call(g, COMM_RECV, 0, g->to, many, last) &&
             result(g, many));
    for (int i = 0; size > 1 && i < many; i++) NEED(g->host[i] == value_of(last, i));
    return 0;
}

static int try_puts(rig *g)
{
    int n = COUNT, window;
    cute_address memory;
    NEED(cute_comm_window(g->comm, (size_t)n * 4 * (size_t)g->size, &memory, &window, g->diag) == CUTE_OK);
    NEED(fill(g, n));
    comm_call put = {.kind = COMM_PUT,
                     .type = comm_type_find("f32"),
                     .from = g->from,
                     .count = n,
                     .window = window,
                     .offset = (int64_t)g->rank * n * 4},
              wait = {.kind = COMM_WAIT, .signals = 1};
    for (put.peer = 0; put.peer < g->size; put.peer++)
        NEED(cute_comm_start(g->comm, &put, NULL, g->diag) == CUTE_OK);
    for (wait.peer = 0; wait.peer < g->size; wait.peer++)
        NEED(cute_comm_start(g->comm, &wait, NULL, g->diag) == CUTE_OK);
    NEED(cute_device_download(g->device, g->host, memory, (size_t)n * 4 * (size_t)g->size, g->diag) ==
         CUTE_OK);
    for (int r = 0; r < g->size; r++)
        for (int i = 0; i < n; i++) NEED(g->host[r * n + i] == value_of(r, i));
    return 0;
}

static bool open_rig(rig *g, cute_ranks *ranks, cute_diag *diag)
{
    *g = (rig){.rank = cute_ranks_rank(ranks), .size = cute_ranks_size(ranks), .diag = diag};
    g->host = malloc(4 << 20);
    return g->host && cute_emulator_open(NULL, &g->device, diag) == CUTE_OK &&
           cute_comm_open(ranks, g->device, COMM_AUTO, &g->comm, diag) == CUTE_OK &&
           cute_device_alloc(g->device, 4 << 20, &g->from, diag) == CUTE_OK &&
           cute_device_alloc(g->device, 4 << 20, &g->to, diag) == CUTE_OK;
}

static int run_collectives(cute_ranks *ranks, cute_diag *diag, int rank)
{
    rig g;
    (void)rank;
    if (!open_rig(&g, ranks, diag)) return 1;
    int line = strcmp(cute_comm_name(g.comm), "shared memory (stand-in)") ? __LINE__ : 0;
    if (!line) line = try_sums(&g);
    if (!line) line = try_copies(&g);
    if (!line) line = try_puts(&g);
    if (line) cute_report(diag, CUTE_ERROR, NULL, "line %d", line);
    cute_comm_close(g.comm);
    cute_device_close(g.device);
    free(g.host);
    return line != 0;
}

static void test_collectives(void)
{
    static const int sizes[] = {1, 2, 3, 4, 8};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        job j = {.size = sizes[i], .timeout = 10, .body = run_collectives};
        outcome o = run_job(&j);
        all_ok(&o, sizes[i]);
    }
}

static int call_different(cute_ranks *ranks, cute_diag *diag, int rank)
{
    rig g;
    if (!open_rig(&g, ranks, diag)) return 1;
    bool fine = call(&g, rank == 1 ? COMM_ALL_GATHER : COMM_ALL_REDUCE, g.from, g.to, 10, 0);
    cute_comm_close(g.comm);
    cute_device_close(g.device);
    free(g.host);
    return !fine;
}

static void test_different_calls(void)
{
    job j = {.size = 2, .timeout = 2, .body = call_different};
    outcome o = run_job(&j);
    CHECK_INT(o.code[0], 1);
    CHECK(strstr(o.said[0], "all ranks must call the same operations") ||
          strstr(o.said[1], "all ranks must call the same operations"));
}

/* ---- failures ---- */

static int die_later(cute_ranks *ranks, cute_diag *diag, int rank)
{
    int own = rank, all[MOST];
    cute_ranks_step(ranks, "the first product");
    if (rank == 2) raise(SIGKILL);
    return cute_ranks_exchange(ranks, &own, sizeof own, all, diag);
}

static void test_death(void)
{
    job j = {.size = 4, .timeout = 5, .body = die_later};
    outcome o = run_job(&j);
    CHECK_INT(o.code[2], 128 + SIGKILL);
    for (int r = 0; r < 4; r++)
        if (r != 2) {
            CHECK_INT(o.code[r], 1);
            CHECK_TEXT(o.said[r], "rank 2 ended in its step 1 (the first product)");
        }
    CHECK(o.seconds < 4);
}

static int stop_later(cute_ranks *ranks, cute_diag *diag, int rank)
{
    rig g;
    if (!open_rig(&g, ranks, diag)) return 1;
    cute_ranks_step(ranks, "all_reduce");
    if (rank == 1) raise(SIGSTOP);
    bool fine = call(&g, COMM_ALL_REDUCE, g.from, g.to, 10, 0);
    cute_comm_close(g.comm);
    cute_device_close(g.device);
    free(g.host);
    return !fine;
}

static void test_hang(void)
{
    job j = {.size = 3, .timeout = 0.5, .body = stop_later};
    outcome o = run_job(&j);
    CHECK_TEXT(o.said[0], "rank 1 made no progress for 0.5 s: it is in its step 1 (all_reduce)");
    CHECK_TEXT(o.said[2], "rank 1 made no progress for 0.5 s: it is in its step 1 (all_reduce)");
    CHECK(o.seconds < 5);
}

static int fail_first(cute_ranks *ranks, cute_diag *diag, int rank)
{
    int own = rank, all[MOST];
    if (rank == 1) return cute_fail(diag, CUTE_INVALID, NULL, "the kernel 'k' faulted");
    return cute_ranks_exchange(ranks, &own, sizeof own, all, diag);
}

static void test_failure(void)
{
    job j = {.size = 3, .timeout = 5, .body = fail_first};
    outcome o = run_job(&j);
    CHECK_TEXT(o.said[0], "rank 1 failed: the kernel 'k' faulted");
    CHECK_TEXT(o.said[1], "the kernel 'k' faulted");
    CHECK_TEXT(o.said[2], "rank 1 failed: the kernel 'k' faulted");
}

static void test_problem(void)
{
    job j = {.size = 3, .timeout = 2, .problem = {"4x4x4", "4x4x4", "8x4x4"}, .body = exchange_numbers};
    outcome o = run_job(&j);
    for (int r = 0; r < 3; r++)
        CHECK_TEXT(o.said[r], "rank 2 has another problem: expected '4x4x4' as rank 0, got '8x4x4'");
}

static void test_version(void)
{
    char want[200];
    job j = {.size = 2, .timeout = 2, .version = {NULL, "0.0.1"}, .body = exchange_numbers};
    outcome o = run_job(&j);
    snprintf(want, sizeof want, "rank 1 has another version: expected %s as rank 0, got 0.0.1",
             cute_version());
    for (int r = 0; r < 2; r++) CHECK_TEXT(o.said[r], want);
}

static void test_absence(void)
{
    cute_diag *diag = cute_diag_create();
    cute_ranks *ranks = NULL;
    ranks_place lead = {.rank = 0, .size = 3, .address = "unix:cute-test-alone"},
                other = {.rank = 1, .size = 3, .address = "unix:cute-test-nobody"};
    CHECK_INT(cute_ranks_join(&lead, "p", 0.2, &ranks, diag), CUTE_INVALID);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "ranks 1, 2 did not arrive within 0.2 s: expected 3 ranks");
    CHECK_INT(cute_ranks_join(&other, "p", 0.2, &ranks, diag), CUTE_INVALID);
    CHECK(strstr(cute_diag_get(diag, 1)->text,
                 "rank 0 did not arrive at unix:cute-test-nobody within 0.2 s") != NULL);
    cute_diag_destroy(diag);
}

/* Starts three shells with the script; returns the exit code, and the first message in `said`. */
static int start_script(const char *script, char *said, size_t size)
{
    const char *argv[] = {"/bin/sh", "-c", script, NULL};
    int code = 0;
    cute_diag *diag = cute_diag_create();
    CHECK_INT(cute_ranks_start(argv, 3, 5, &code, diag), CUTE_OK);
    snprintf(said, size, "%s", cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "");
    cute_diag_destroy(diag);
    return code;
}

static void test_started_signal(void)
{
    char said[200];
    CHECK_INT(start_script("[ $CUTE_RANK = 1 ] || exit 3; sleep 0.2; kill -9 $$", said, sizeof said),
              128 + SIGKILL);
    CHECK_TEXT(said, "rank 1 was ended by signal 9 (Killed)");
    CHECK_INT(start_script("exit $((CUTE_RANK == 2 ? 7 : 0))", said, sizeof said), 7);
    CHECK_TEXT(said, "");
}

int main(void)
{
    TEST("each launcher's variables give the rank and the meeting point", test_launchers);
    TEST("contradictory variables are refused by name", test_contradictions);
    TEST("every rank gets the records of all", test_exchange);
    TEST("ranks meet over TCP", test_tcp);
    TEST("each collective has its result on every number of ranks", test_collectives);
    TEST("ranks that call different operations are told so", test_different_calls);
    TEST("a rank that dies is named by all others at once", test_death);
    TEST("a rank that stops is named by all others after the timeout", test_hang);
    TEST("the error of one rank is told by all others", test_failure);
    TEST("a rank with another problem is refused by all", test_problem);
    TEST("a rank with another version is refused by all", test_version);
    TEST("ranks that do not arrive are named", test_absence);
    TEST("a started rank that a signal ended is named, whichever rank was seen to end first",
         test_started_signal);
    return test_finish();
}
