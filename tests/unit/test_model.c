/* The cost model of products: more work, more bytes and slower memory never take less time, blocks fit by the limits of a multiprocessor,
 * and of the schedules of a tile program the first is the fastest that the passes accept. */
#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/model/model.h"
#include "tests/unit/test.h"

enum { RANDOM = 2000 };

static uint64_t state = 1;
static int64_t draw(int64_t low, int64_t high)
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return low + (int64_t)((state >> 33) % (uint64_t)(high - low + 1));
}

static cute_model_device h100(void)
{
    cute_model_device d;
    CHECK(cute_model_device_of(90, &d));
    return d;
}

static cute_model_problem cube(int64_t size)
{
    return (cute_model_problem){size, size, size, 1, 16, 16, 16, false};
}

static cute_model_config usual(void)
{
    return (cute_model_config){.bm = 128,
                               .bn = 256,
                               .bk = 64,
                               .stages = 4,
                               .cluster_m = 2,
                               .cluster_n = 1,
                               .split = 1,
                               .order = 8,
                               .persistent = true,
                               .tma = true,
                               .resident = 1,
                               .overhead = 128,
                               .rate = 825e12 / CUTE_MODEL_SMS};
}

static cute_model_config any(void)
{
    cute_model_config c = usual();
    c.bm = 64 << draw(0, 2);
    c.bn = 32 * draw(1, 8);
    c.bk = 32 << draw(0, 2);
    c.stages = draw(1, 8);
    c.cluster_m = draw(1, 2);
    c.cluster_n = draw(1, 2);
    c.order = draw(0, 8);
    c.persistent = draw(0, 1);
    c.tma = draw(0, 1);
    c.resident = draw(1, 4);
    return c;
}

static double seconds_of(const cute_model_problem *p, const cute_model_config *c, const cute_model_device *d)
{
    cute_model_time t;
    cute_model_estimate(p, c, d, &t);
    return t.seconds;
}

static void test_more_is_never_faster(void)
{
    cute_model_device d = h100(), slow;
    for (int i = 0; i < RANDOM && !test_failed; i++) {
        cute_model_problem p = {draw(1, 9000), draw(1, 9000), draw(1, 9000), draw(1, 3), 16, 16, 16, false},
                           more;
        cute_model_config c = any();
        c.order = 0;
        double seconds = seconds_of(&p, &c, &d);
        CHECK(seconds > 0);
        more = p, more.m += draw(1, 1000);
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.n += draw(1, 1000);
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.k += draw(1, 1000);
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.batch++;
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.bits_a = 32;
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.bits_out = 32;
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        more = p, more.addend = true;
        CHECK(seconds_of(&more, &c, &d) >= seconds);
        slow = d, slow.dram /= 2;
        CHECK(seconds_of(&p, &c, &slow) >= seconds);
        slow = d, slow.l2_tiles /= 2;
        CHECK(seconds_of(&p, &c, &slow) >= seconds);
    }
}

static void test_parts(void)
{
    cute_model_device d = h100();
    for (int i = 0; i < RANDOM && !test_failed; i++) {
        cute_model_problem p = {draw(1, 9000), draw(1, 9000), draw(1, 9000), 1, 16, 16, 16, draw(0, 1)};
        cute_model_config c = any();
        cute_model_time t;
        cute_model_estimate(&p, &c, &d, &t);
        CHECK(t.seconds >= t.main_loop + t.epilogue && t.seconds >= t.operands && t.seconds >= t.tiles);
        CHECK(t.seconds >= t.latency && t.fixed > 0 && t.bound != NULL);
        double most = t.main_loop + t.epilogue + t.operands + t.tiles + t.latency + t.fixed;
        CHECK(t.seconds <= most * 1.0001);
        double once = (double)((p.m * p.k + p.n * p.k) * 2 + p.m * p.n * (p.addend ? 4 : 2));
        CHECK(t.dram_bytes >= once);
        CHECK(t.l2_bytes * 4 >= (double)(p.m * p.k + p.n * p.k) * 2);
    }
}

/* One block too many is one more wave; resident blocks that split it are not. */
static void test_waves(void)
{
    cute_model_device d = h100();
    cute_model_config c = usual();
    c.cluster_m = 1;
    cute_model_problem full = {128 * 132, 256, 4096, 1, 16, 16, 16, false}, one = full;
    cute_model_time whole, more, split;
    one.m++;
    cute_model_estimate(&full, &c, &d, &whole);
    cute_model_estimate(&one, &c, &d, &more);
    CHECK_INT(whole.blocks, 132);
    CHECK_INT(more.blocks, 133);
    CHECK(whole.waves == 1 && more.waves > 1);
    CHECK(more.main_loop == 2 * whole.main_loop);
    c.tail = CUTE_MODEL_SPLIT;
    cute_model_estimate(&one, &c, &d, &split);
    CHECK(split.seconds < more.seconds && split.seconds > whole.seconds);
}

static void test_traffic(void)
{
    cute_model_device d = h100();
    cute_model_config c = usual();
    cute_model_problem p = cube(8192);
    cute_model_time alone, shared, square, rows;
    c.cluster_m = 1;
    cute_model_estimate(&p, &c, &d, &alone);
    c.cluster_m = 2;
    cute_model_estimate(&p, &c, &d, &shared);
    CHECK(shared.l2_bytes * 3 == alone.l2_bytes * 2); /* half of B, which is two thirds */
    c.cluster_m = 1;
    cute_model_estimate(&p, &c, &d, &square);
    c.order = 1;
    cute_model_estimate(&p, &c, &d, &rows);
    CHECK(square.dram_bytes < rows.dram_bytes);
    p = cube(1024); /* in L2 in any order */
    cute_model_estimate(&p, &c, &d, &rows);
    CHECK(rows.dram_bytes == 3 * 1024.0 * 1024 * 2);
}

static void test_devices(void)
{
    const cute_gpu *gpu;
    cute_model_device d;
    for (size_t n = 0; (gpu = cute_gpu_at(n)) != NULL; n++) {
        CHECK(cute_model_device_of(gpu->arch, &d));
        CHECK(d.multiprocessors >= gpu->multiprocessors && d.dram > 0 && d.dram < 1e9 * 8000);
        CHECK(d.l2_tiles > d.dram && d.l2_operands > 0 && d.resident > 0 && d.clock > 0);
        for (int e = 0; e < CUTE_MODEL_ELEMENTS; e++) {
            double mma = cute_model_rate(&d, CUTE_MODEL_MMA, e),
                   threads = cute_model_rate(&d, CUTE_MODEL_THREADS, e),
                   groups = cute_model_rate(&d, CUTE_MODEL_WGMMA, e);
            CHECK(threads > 0 && (groups == 0 || (gpu->arch == 90 && groups > mma)));
            bool multiplied = e != CUTE_MODEL_SINGLE && e != CUTE_MODEL_DOUBLE;
            bool fp8 = cute_arch_has(gpu->arch, CUTE_FEATURE_FP8);
            if (multiplied && (e != CUTE_MODEL_FP8 || fp8)) CHECK(mma > threads);
        }
    }
    CHECK(!cute_model_device_of(10, &d));
    cute_model_measured(66, &d);
    CHECK(d.dram * 2 == h100().dram && d.l2_tiles * 2 == h100().l2_tiles);
}

static void test_fits(void)
{
    char why[160] = "";
    cute_model_block b = {
        .threads = 384, .registers = 61440, .shared = 232448, .stage_bytes = 49152, .accumulators = 128};
    CHECK(cute_model_fits(90, &b, why, sizeof why));
    CHECK(!cute_model_fits(80, &b, why, sizeof why));
    CHECK_TEXT(why, "it needs 232448 bytes of shared memory, more than the limit of 166912");
    b.shared++;
    CHECK(!cute_model_fits(90, &b, why, sizeof why));
    b.shared = 1024, b.registers = CUTE_SM_REGISTERS + 1;
    CHECK(!cute_model_fits(90, &b, why, sizeof why));
    CHECK_TEXT(why, "it needs 65537 registers, more than the limit of 65536");
    b.registers = 1024, b.stage_bytes = 1 << 20;
    CHECK(!cute_model_fits(90, &b, why, sizeof why));
    CHECK_TEXT(why, "it needs 1048576 bytes for one phase of an mbarrier, more than the limit of 1048575");
    b.stage_bytes = 0, b.accumulators = 256;
    CHECK(!cute_model_fits(90, &b, why, sizeof why));
    CHECK_INT(cute_model_resident(90, &(cute_model_block){.threads = 128, .registers = 128 * 128}), 4);
    CHECK_INT(cute_model_resident(90, &(cute_model_block){.threads = 1024, .registers = 65536, .shared = 1}),
              1);
    CHECK_INT(
        cute_model_resident(90, &(cute_model_block){.threads = 128, .registers = 1, .shared = 100 << 10}), 2);
}

/* ---- schedules ---- */

static const cute_model_schedule all_free = {.consumers = CUTE_MODEL_FREE,
                                             .persistent = CUTE_MODEL_FREE,
                                             .turns = CUTE_MODEL_FREE,
                                             .tail = CUTE_MODEL_FREE};

/* D of f16, of a tile program whose loops have nothing but loads and products. */
static cute_model_program program_of(int64_t bm, int64_t bn, int64_t bk, cute_model_element element,
                                     int64_t bits)
{
    cute_model_program p = {.problem = cube(4096),
                            .element = element,
                            .unit = element == CUTE_MODEL_SINGLE ? CUTE_MODEL_THREADS : CUTE_MODEL_MMA,
                            .bm = bm,
                            .bn = bn,
                            .bk = bk,
                            .row = bk * bits / 8,
                            .sums = bm * bn,
                            .threads = 128,
                            .beside = bm * bn * 2 < 32 << 10 ? bm * bn * 2 + 1024 : 33 << 10,
                            .ahead = true,
                            .resident = true,
                            .cluster = {true, true}};
    while (p.threads < 512 && p.threads * 64 < p.sums) p.threads *= 2;
    p.problem.bits_a = p.problem.bits_b = bits;
    p.copied = p.fetched = (bm + bn) * bk * bits / 8;
    for (int i = 1; i <= 2; i++) p.groups[i] = bm % (64 * i) == 0 && element != CUTE_MODEL_SINGLE;
    return p;
}

static void text_of(const cute_model_schedule *s, char *out, size_t size)
{
    snprintf(out, size, "stages=%d consumers=%d cluster=%dx%d persistent=%d order=%d", s->stages,
             s->consumers, s->cluster[0], s->cluster[1], s->persistent, s->order);
}

static void test_usual_schedules(void)
{
    static const struct {
        int64_t bm, bn, bk;
        cute_model_element element;
        int64_t bits;
        int arch;
        const char *text;
    } rows[] = {
        {128, 256, 64, CUTE_MODEL_HALF, 16, 90, "stages=4 consumers=2 cluster=2x1 persistent=1 order=8"},
        {256, 128, 64, CUTE_MODEL_HALF, 16, 90, "stages=4 consumers=2 cluster=1x2 persistent=1 order=8"},
        {128, 128, 64, CUTE_MODEL_HALF, 16, 90, "stages=6 consumers=2 cluster=2x1 persistent=1 order=8"},
        {64, 256, 64, CUTE_MODEL_HALF, 16, 90, "stages=4 consumers=1 cluster=2x1 persistent=1 order=8"},
        {128, 256, 128, CUTE_MODEL_FP8, 8, 90, "stages=4 consumers=2 cluster=2x1 persistent=1 order=8"},
        {128, 256, 32, CUTE_MODEL_TF32, 32, 90, "stages=4 consumers=2 cluster=2x1 persistent=1 order=8"},
        {128, 256, 32, CUTE_MODEL_HALF, 16, 80, "stages=4 consumers=0 cluster=1x1 persistent=0 order=1"},
        {128, 128, 64, CUTE_MODEL_HALF, 16, 80, "stages=4 consumers=0 cluster=1x1 persistent=0 order=1"},
        {128, 128, 64, CUTE_MODEL_HALF, 16, 89, "stages=2 consumers=0 cluster=1x1 persistent=0 order=1"},
        {128, 128, 128, CUTE_MODEL_BYTE, 8, 89, "stages=2 consumers=0 cluster=1x1 persistent=0 order=1"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_model_program p = program_of(rows[i].bm, rows[i].bn, rows[i].bk, rows[i].element, rows[i].bits);
        cute_model_device d;
        cute_model_choice best;
        char text[128];
        for (int g = 1; g <= 2 && rows[i].arch != 90; g++) p.groups[g] = false;
        CHECK(cute_model_device_of(rows[i].arch, &d));
        CHECK_INT(cute_model_schedules(&p, &d, &all_free, &best, 1), 1);
        text_of(&best.schedule, text, sizeof text);
        CHECK_TEXT(text, rows[i].text);
    }
}

static bool agrees(const cute_model_program *p, const cute_model_schedule *s)
{
    bool cluster = s->cluster[0] * s->cluster[1] > 1;
    return s->stages >= 1 && (s->stages == 1 || p->ahead) &&
           (!s->consumers || (s->stages > 1 && p->groups[s->consumers])) &&
           (!s->persistent || (p->resident && s->consumers)) && (!cluster || s->persistent) &&
           (s->cluster[0] == 1 || p->cluster[0]) && (s->cluster[1] == 1 || p->cluster[1]) &&
           (!s->turns || (p->turns && p->groups[1] && s->consumers == 2 && s->persistent));
}

static void test_never_refused(void)
{
    static const int archs[] = {75, 80, 86, 89, 90, 100, 120};
    for (int i = 0; i < RANDOM && !test_failed; i++) {
        cute_model_element element = (cute_model_element)draw(0, CUTE_MODEL_SINGLE);
        int64_t bits = element == CUTE_MODEL_HALF                                   ? 16
                       : element == CUTE_MODEL_TF32 || element == CUTE_MODEL_SINGLE ? 32
                                                                                    : 8;
        cute_model_program p =
            program_of(16 * draw(1, 16), 16 * draw(1, 16), 16 << draw(0, 3), element, bits);
        cute_model_choice all[CUTE_MODEL_CHOICES];
        cute_model_device d;
        cute_model_schedule plain = {1, 0, {1, 1}, 0, 1, 0, CUTE_MODEL_WHOLE};
        cute_model_time unscheduled;
        char why[160];
        p.problem = (cute_model_problem){
            draw(1, 9000), draw(1, 9000), draw(1, 9000), draw(1, 4), bits, bits, 16, false};
        p.ahead = draw(0, 3);
        p.resident = draw(0, 1);
        p.cluster[0] = draw(0, 1);
        p.cluster[1] = draw(0, 1);
        p.turns = draw(0, 1);
        CHECK(cute_model_device_of(archs[draw(0, 6)], &d));
        for (int g = 1; g <= 2 && d.arch != 90; g++) p.groups[g] = false;
        if (cute_model_rate(&d, p.unit, element) <= 0) p.unit = CUTE_MODEL_THREADS;
        size_t count = cute_model_schedules(&p, &d, &all_free, all, CUTE_MODEL_CHOICES);
        for (size_t n = 0; n < count; n++) {
            CHECK(n == 0 || all[n - 1].time.seconds <= all[n].time.seconds * (n == 1 ? 1.005 : 1));
            CHECK(agrees(&p, &all[n].schedule));
            CHECK(p.beside + all[n].schedule.stages * (all[n].schedule.stages > 1 ? p.copied : 0) <=
                  cute_multiprocessor_of(d.arch)->block_shared);
        }
        if (cute_model_schedule_time(&p, &d, &plain, &unscheduled, why, sizeof why))
            CHECK(count > 0 && all[0].time.seconds <= unscheduled.seconds);
    }
}

static void test_stated(void)
{
    cute_model_program p = program_of(128, 256, 64, CUTE_MODEL_HALF, 16);
    cute_model_device d = h100();
    cute_model_choice all[CUTE_MODEL_CHOICES];
    cute_model_schedule stated = all_free;
    stated.stages = 2;
    stated.cluster[0] = 1;
    stated.cluster[1] = 4;
    stated.order = 5;
    size_t count = cute_model_schedules(&p, &d, &stated, all, CUTE_MODEL_CHOICES);
    CHECK(count > 0);
    for (size_t i = 0; i < count; i++)
        CHECK(all[i].schedule.stages == 2 && all[i].schedule.cluster[1] == 4 && all[i].schedule.order == 5);
    CHECK_INT(all[0].schedule.consumers, 2);
    stated = all_free;
    stated.stages = 12; /* which nothing has room for */
    CHECK_INT(cute_model_schedules(&p, &d, &stated, all, CUTE_MODEL_CHOICES), 0);
}

/* Turns hide the epilogue, which is most of a short product's time; the sums are one warpgroup's. */
static void test_turns(void)
{
    cute_model_program p = program_of(128, 192, 64, CUTE_MODEL_HALF, 16);
    cute_model_device d = h100();
    cute_model_choice all[CUTE_MODEL_CHOICES];
    cute_model_schedule stated = all_free;
    cute_model_time time;
    char why[160];
    p.problem = (cute_model_problem){8192, 8192, 512, 1, 16, 16, 16, false};
    CHECK(cute_model_schedules(&p, &d, &all_free, all, CUTE_MODEL_CHOICES) > 0);
    CHECK_INT(all[0].schedule.turns, 0);
    double shared = all[0].time.seconds;
    p.turns = true;
    CHECK(cute_model_schedules(&p, &d, &all_free, all, CUTE_MODEL_CHOICES) > 0);
    CHECK_INT(all[0].schedule.turns, 1);
    CHECK(all[0].time.seconds < shared);
    stated.turns = 0;
    CHECK(cute_model_schedules(&p, &d, &stated, all, CUTE_MODEL_CHOICES) > 0);
    CHECK_INT(all[0].schedule.turns, 0);
    stated.turns = 1;
    stated.persistent = 0;
    CHECK_INT(cute_model_schedules(&p, &d, &stated, all, CUTE_MODEL_CHOICES), 0);
    p = program_of(128, 256, 64, CUTE_MODEL_HALF, 16);
    CHECK(!cute_model_schedule_time(&p, &d, &(cute_model_schedule){2, 2, {1, 1}, 1, 1, 1, CUTE_MODEL_WHOLE},
                                    &time, why, sizeof why));
    CHECK_TEXT(why, "it needs 256 registers of a thread for sums, more than the limit of 224");
}

/* Of all tiles and schedules for a product on an H100, the fastest is that of bench/gemm/h100.csv's large products. */
static void test_likeliest(void)
{
    cute_model_device d = h100();
    cute_model_choice best, own;
    int64_t tile[3] = {0};
    best.time.seconds = 1;
    for (int64_t bm = 64; bm <= 256; bm *= 2)
        for (int64_t bn = 32; bn <= 256; bn *= 2)
            for (int64_t bk = 32; bk <= 128; bk *= 2) {
                cute_model_program p = program_of(bm, bn, bk, CUTE_MODEL_HALF, 16);
                if (!cute_model_schedules(&p, &d, &all_free, &own, 1) ||
                    own.time.seconds >= best.time.seconds)
                    continue;
                best = own;
                tile[0] = bm, tile[1] = bn, tile[2] = bk;
            }
    CHECK(tile[0] == 128 && tile[1] == 256 && tile[2] == 64);
    CHECK(best.time.seconds > 160e-6 && best.time.seconds < 200e-6); /* 172 us, measured */
}

/* Measured on an H100, bf16 and tf32 of 4096^3 with two stages: 270 and 541 us; with three: 186 and 360. */
static void test_two_stages(void)
{
    static const struct {
        cute_model_element element;
        int64_t bits, bk, stages;
        double us;
    } rows[] = {{CUTE_MODEL_HALF, 16, 128, 2, 270},
                {CUTE_MODEL_TF32, 32, 64, 2, 541},
                {CUTE_MODEL_HALF, 16, 64, 3, 186},
                {CUTE_MODEL_TF32, 32, 32, 3, 360}};
    cute_model_device d = h100();
    char why[160];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cute_model_program p = program_of(128, 256, rows[i].bk, rows[i].element, rows[i].bits);
        cute_model_schedule s = {.stages = (int)rows[i].stages,
                                 .consumers = 2,
                                 .cluster = {2, 1},
                                 .persistent = 1,
                                 .order = 8,
                                 .tail = CUTE_MODEL_WHOLE};
        cute_model_time time;
        CHECK(cute_model_schedule_time(&p, &d, &s, &time, why, sizeof why));
        CHECK(time.seconds > 0.8e-6 * rows[i].us && time.seconds < 1.2e-6 * rows[i].us);
    }
}

static cute_model_traffic rows_of_8192(int64_t blocks, int64_t threads)
{
    return (cute_model_traffic){.blocks = blocks,
                                .threads = threads,
                                .registers = 24 + 2 * 8192 / threads,
                                .bytes = 2.0 * 8192 * 4,
                                .loads = 1,
                                .barriers = 4,
                                .operations = 8192.0 * 12,
                                .warp_operations = 80};
}

static double traffic_seconds(const cute_model_traffic *t)
{
    cute_model_device d = h100();
    cute_model_time time;
    cute_model_traffic_estimate(t, &d, &time);
    CHECK(time.seconds >= time.fixed + time.operands && time.seconds >= time.fixed + time.latency);
    CHECK(time.bound && time.waves > 0);
    return time.seconds;
}

static void test_kernels_without_products(void)
{
    cute_model_device d = h100();
    for (int i = 0; i < RANDOM; i++) {
        cute_model_traffic t = rows_of_8192(draw(1, 100000), 32 * draw(1, 32)), more = t;
        double base = traffic_seconds(&t);
        switch (draw(0, 5)) {
        case 0: more.blocks += draw(1, 1000); break;
        case 1: more.bytes *= 2; break;
        case 2: more.loads += 1; break;
        case 3: more.barriers += 1; break;
        case 4: more.operations *= 2; break;
        case 5: more.registers = 255; break;
        }
        CHECK(more.registers < t.registers || traffic_seconds(&more) >= base * (1 - 1e-12));
    }
    /* Many rows take the time of their bytes; a few that of one block, less with more threads; a single load for each of many blocks of one warp
     * leaves memory idle. */
    cute_model_traffic many = rows_of_8192(16384, 256), few = rows_of_8192(16, 64),
                       wide = rows_of_8192(16, 1024),
                       small = {.blocks = 1 << 20, .threads = 32, .registers = 32, .bytes = 256, .loads = 1};
    cute_model_time time;
    cute_model_traffic_estimate(&many, &d, &time);
    CHECK_TEXT(time.bound, "device memory");
    CHECK(time.seconds < 1.3 * 16384 * 2 * 8192 * 4 / d.dram);
    CHECK(traffic_seconds(&few) > 1.5 * traffic_seconds(&wide));
    cute_model_traffic_estimate(&small, &d, &time);
    CHECK_TEXT(time.bound, "load latency");
}

int main(void)
{
    TEST("more elements, more bytes and slower memory never take less time", test_more_is_never_faster);
    TEST("a product takes as long as its longest part, and no longer than all of them", test_parts);
    TEST("one block more than a wave is another wave, unless its k is split", test_waves);
    TEST("clusters share reads of L2, and square groups of tiles those of memory", test_traffic);
    TEST("every known device has rates, its tensor cores the higher ones", test_devices);
    TEST("a block that exceeds a limit of the multiprocessor is refused, with the limit", test_fits);
    TEST("usual tiles have the schedules of kernels written for them", test_usual_schedules);
    TEST("schedules are those that the passes accept, the fastest first, none slower than without stages",
         test_never_refused);
    TEST("what a schedule states is kept", test_stated);
    TEST("warpgroups take turns where the epilogue is long", test_turns);
    TEST("the likeliest tile and schedule of a large product is the one that was measured to be fastest",
         test_likeliest);
    TEST("two stages, of which one is filled at a time, take as long as was measured", test_two_stages);
    TEST("kernels without products take the time of their bytes, of blocks that wait, or of instructions",
         test_kernels_without_products);
    return test_finish();
}
