/* Emulated ranks of one process: queues of streams, events, signals, counters, operations of all ranks, and deadlocks. */
#include <stdio.h>
#include <string.h>

#include "lib/ranks/team.h"
#include "tests/unit/test.h"

enum { RANKS = 3 };

/* Adds a number to a counter at an address, with a release at the scope of the system. */
static const char source[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry k(.param .u64 at, .param .u32 number)\n{\n"
                             ".reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                             "ld.param.u64 %d1, [at];\nld.param.u32 %r1, [number];\n"
                             "red.release.sys.global.add.u32 [%d1], %r1;\nret;\n}\n";

typedef struct ranks {
    cute_diag *diag;
    cute_team *team;
    cute_device *devices[RANKS];
    cute_stream *streams[RANKS];
    cute_device_function *functions[RANKS];
    cute_device_module *modules[RANKS];
    cute_address counters[RANKS];
} ranks;

static bool open_ranks(ranks *r, int64_t seed)
{
    const cute_emulator_options options = {.size = sizeof options, .devices = RANKS, .seed = seed};
    *r = (ranks){.diag = cute_diag_create()};
    if (!CHECK(cute_team_open(&options, &r->team, r->diag) == CUTE_OK)) return false;
    CHECK_INT(cute_team_size(r->team), RANKS);
    for (int i = 0; i < RANKS; i++) {
        cute_device *d = r->devices[i] = cute_team_device(r->team, i);
        if (!CHECK(cute_device_load(d, "k.ptx", source, sizeof source - 1, &r->modules[i], r->diag) ==
                   CUTE_OK) ||
            !CHECK(cute_device_get_function(d, r->modules[i], "k", &r->functions[i], r->diag) == CUTE_OK))
            return false;
        CHECK(cute_stream_create(d, &r->streams[i], r->diag) == CUTE_OK);
        CHECK(cute_device_alloc(d, 4, &r->counters[i], r->diag) == CUTE_OK);
        CHECK(cute_device_fill(d, r->counters[i], 0, 4, r->diag) == CUTE_OK);
    }
    CHECK(cute_team_device(r->team, RANKS) == NULL);
    return true;
}

static void close_ranks(ranks *r)
{
    for (int i = 0; i < RANKS; i++)
        if (r->modules[i]) CHECK(cute_device_unload(r->devices[i], r->modules[i], r->diag) == CUTE_OK);
    cute_team_close(r->team);
    cute_diag_destroy(r->diag);
}

/* Rank `rank` adds `number` to the counter of rank `to`. */
static cute_status start_add(ranks *r, int rank, int to, uint32_t number)
{
    const cute_device_launch launch = {
        .size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}, .stream = r->streams[rank]};
    cute_address at = r->counters[to];
    void *params[] = {&at, &number};
    return cute_device_start(r->devices[rank], r->functions[rank], &launch, params, r->diag);
}

static uint32_t count_of(ranks *r, int rank)
{
    uint32_t now = 0;
    CHECK(cute_device_download(r->devices[rank], &now, r->counters[rank], 4, r->diag) == CUTE_OK);
    return now;
}

static void test_work_waits_in_its_stream_until_all_ranks_run(void)
{
    for (int64_t seed = 0; seed < 5; seed++) {
        ranks r;
        if (!open_ranks(&r, seed)) return;
        CHECK(r.functions[0] == r.functions[2]); /* one image is loaded once */
        /* each rank waits for the one before it, the first one for none */
        for (int i = RANKS - 1; i >= 0; i--) {
            if (i)
                CHECK(cute_team_await_count(r.team, i, r.streams[i], r.counters[i], 5, i - 1, r.diag) ==
                      CUTE_OK);
            CHECK(start_add(&r, i, (i + 1) % RANKS, 5) == CUTE_OK);
        }
        for (int i = 0; i < RANKS; i++) CHECK_INT(count_of(&r, i), 5);
        close_ranks(&r);
    }
}

static void test_streams_of_a_rank_are_ordered_by_events(void)
{
    ranks r;
    if (!open_ranks(&r, 7)) return;
    cute_device_event *done;
    uint32_t copied = 1;
    cute_address to;
    CHECK(cute_device_alloc(r.devices[1], 4, &to, r.diag) == CUTE_OK);
    CHECK(cute_device_event_create(r.devices[1], &done, r.diag) == CUTE_OK);
    CHECK(start_add(&r, 1, 1, 9) == CUTE_OK);
    CHECK(cute_stream_record(r.streams[1], done, r.diag) == CUTE_OK);
    CHECK(r.devices[1]->ops->stream_wait(r.devices[1], NULL, done, r.diag) == CUTE_OK);
    CHECK(r.devices[1]->ops->copy(r.devices[1], NULL, to, r.counters[1], 4, r.diag) == CUTE_OK);
    CHECK(cute_device_download(r.devices[1], &copied, to, 4, r.diag) == CUTE_OK);
    CHECK_INT(copied, 9);
    close_ranks(&r);
}

typedef struct called {
    int count, sum;
} called;

static cute_status add_calls(void *context, const void *const *calls, cute_diag *diag)
{
    called *c = context;
    (void)diag;
    c->count++;
    for (int i = 0; i < RANKS; i++) c->sum += *(const int *)calls[i];
    return CUTE_OK;
}

static void test_an_operation_of_all_ranks_runs_once_with_the_calls_of_each(void)
{
    ranks r;
    called c = {0};
    if (!open_ranks(&r, 3)) return;
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < RANKS; i++)
            CHECK(cute_team_meet(r.team, i, r.streams[i], "a sum", add_calls, &c, &i, sizeof i, r.diag) ==
                  CUTE_OK);
    CHECK(cute_team_run(r.team, r.diag) == CUTE_OK);
    CHECK_INT(c.count, 2);
    CHECK_INT(c.sum, 6);
    close_ranks(&r);
}

static bool has_message(const cute_diag *diag, const char *text)
{
    for (size_t i = 0; i < cute_diag_count(diag); i++)
        if (strstr(cute_diag_get(diag, i)->text, text)) return true;
    printf("# no message '%s'\n", text);
    return false;
}

static void test_ranks_that_wait_for_each_other_are_named_with_their_waits(void)
{
    ranks r;
    called c = {0};
    int call = 0;
    if (!open_ranks(&r, 0)) return;
    CHECK(cute_team_await_count(r.team, 0, r.streams[0], r.counters[0], 4, 1, r.diag) == CUTE_OK);
    CHECK(cute_team_signal(r.team, 0, NULL, 1, r.diag) == CUTE_OK);
    CHECK(cute_team_await(r.team, 1, r.streams[1], 0, 2, r.diag) == CUTE_OK);
    CHECK(cute_team_meet(r.team, 2, NULL, "a sum", add_calls, &c, &call, sizeof call, r.diag) == CUTE_OK);
    CHECK(r.devices[2]->ops->stream_wait_count(r.devices[2], r.streams[2], r.counters[2], 1, r.diag) ==
          CUTE_OK);
    CHECK(cute_team_run(r.team, r.diag) == CUTE_INVALID);
    CHECK(has_message(r.diag, "deadlock: the ranks wait for each other"));
    CHECK(has_message(r.diag, "rank 0 waits for rank 1, for a counter: expected 4, got 0"));
    CHECK(has_message(r.diag, "rank 1 waits for rank 0: expected 2 signals, got 1"));
    CHECK(has_message(r.diag, "rank 2 waits for the others in a sum"));
    CHECK(has_message(r.diag, "rank 2 waits for a counter: expected 1, got 0"));
    CHECK_INT(c.count, 0);
    CHECK(cute_team_run(r.team, r.diag) == CUTE_OK); /* their work is dropped */
    close_ranks(&r);
}

static void test_a_kernel_that_faults_ends_the_run(void)
{
    ranks r;
    if (!open_ranks(&r, 0)) return;
    r.counters[1] = 64;
    CHECK(start_add(&r, 0, 1, 1) == CUTE_OK);
    CHECK(cute_team_run(r.team, r.diag) == CUTE_INVALID);
    CHECK(has_message(r.diag, "rank 0"));
    close_ranks(&r);
}

int main(void)
{
    TEST("work waits in its stream until all ranks run", test_work_waits_in_its_stream_until_all_ranks_run);
    TEST("streams of a rank are ordered by events", test_streams_of_a_rank_are_ordered_by_events);
    TEST("an operation of all ranks runs once with the calls of each",
         test_an_operation_of_all_ranks_runs_once_with_the_calls_of_each);
    TEST("ranks that wait for each other are named with their waits",
         test_ranks_that_wait_for_each_other_are_named_with_their_waits);
    TEST("a kernel that faults ends the run", test_a_kernel_that_faults_ends_the_run);
    return test_finish();
}
