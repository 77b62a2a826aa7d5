/* The kernels of --calibrate do what their rows say: the emulator counts it. With a folder as argument they are written there, for
 * ptxas. */
#include <jansson.h>

#include "cute/checks.h"
#include "cute/emulator.h"
#include "lib/base/system/file.h"
#include "lib/report/roofline/calibrate.h"
#include "tests/unit/test.h"

enum { BYTES = 1 << 20, BLOCKS = 2 };

/* What the emulator counted of one launch. */
static json_t *count(const roof_probe *p, uint32_t iterations, cute_diag *diag)
{
    cute_buffer ptx = {0};
    cute_device *device = NULL;
    cute_device_module *module = NULL;
    cute_device_function *f = NULL;
    cute_address memory = 0;
    uint64_t bytes = BYTES;
    json_t *report = NULL;
    const cute_emulator_options options = {.size = sizeof options,
                                           .counters = true,
                                           .checks =
                                               CUTE_CHECK_BANK | CUTE_CHECK_COALESCING | CUTE_CHECK_RACE};
    cute_device_launch shape = {.size = sizeof shape, .grid = {BLOCKS, 1, 1}, .block = {p->threads, 1, 1}};
    void *params[] = {&memory, &bytes, &iterations};
    p->ptx(p, &ptx);
    bool ok =
        cute_emulator_open(&options, &device, diag) == CUTE_OK &&
        cute_device_load(device, p->what, cute_buffer_text(&ptx), ptx.length, &module, diag) == CUTE_OK &&
        cute_device_alloc(device, BYTES, &memory, diag) == CUTE_OK &&
        cute_device_fill(device, memory, 0x5a, BYTES, diag) == CUTE_OK &&
        cute_device_get_function(device, module, "probe", &f, diag) == CUTE_OK &&
        cute_device_prepare(device, f, &shape, diag) == CUTE_OK &&
        cute_device_start(device, f, &shape, params, diag) == CUTE_OK;
    char *text = ok ? cute_emulator_counters_json(device) : NULL;
    if (text) report = json_loads(text, 0, NULL);
    json_t *first = json_incref(json_array_get(report, 0));
    free(text);
    json_decref(report);
    cute_device_close(device);
    cute_buffer_release(&ptx);
    return first;
}

static void test_amounts(void)
{
    for (size_t n = 0; n < roof_probe_count; n++) {
        const roof_probe *p = &roof_probes[n];
        cute_diag *diag = cute_diag_create();
        json_t *counters = count(p, 2, diag);
        char *messages = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
        if (!CHECK(counters != NULL)) printf("# %s: %s\n", p->what, messages);
        roof_work w = cute_roof_work_of_counters(counters);
        double expected = p->amount ? (double)p->amount * BLOCKS * 2 : BYTES;
        double counted = w.amount[p->ceiling];
        if (p->ceiling == ROOF_L2)
            counted = json_integer_value(
                json_object_get(json_object_get(json_object_get(counters, "bytes"), "global"), "read"));
        /* The tile is filled first. */
        if (p->ceiling == ROOF_L1) expected += (double)p->threads * 16 * BLOCKS;
        if (!CHECK(counted == expected)) printf("# %s: %.0f, expected %.0f\n", p->what, counted, expected);
        free(messages);
        json_decref(counters);
        cute_diag_destroy(diag);
    }
}

/* The loops are long enough that what else the kernel does is nothing beside them. */
static void test_the_ceiling_is_the_bound(void)
{
    roof_device d;
    cute_diag *diag = cute_diag_create();
    CHECK_INT(cute_roof_device_find("H100", &d, diag), CUTE_OK);
    d.multiprocessors = BLOCKS; /* each has its own */
    for (size_t n = 0; n < roof_probe_count; n++) {
        const roof_probe *p = &roof_probes[n];
        if (p->to == 80 || p->ceiling == ROOF_L2) continue;
        json_t *counters = count(p, 16, diag);
        roof_work w = cute_roof_work_of_counters(counters);
        roof_bound b = cute_roof_bound(&d, &w, false);
        /* fma takes all that is issued: nothing beside it is below 100 %. */
        if (!CHECK(b.seconds[p->ceiling] > 0.85 * b.seconds[b.bound]))
            printf("# %s: %s\n", p->what, roof_ceilings[b.bound].key);
        json_decref(counters);
    }
    cute_diag_destroy(diag);
}

static void test_an_emulator_is_refused(void)
{
    roof_device d;
    cute_device *device = NULL;
    cute_diag *diag = cute_diag_create();
    CHECK_INT(cute_emulator_open(NULL, &device, diag), CUTE_OK);
    CHECK_INT(cute_roof_calibrate(device, &d, diag), CUTE_INVALID);
    cute_device_close(device);
    cute_diag_destroy(diag);
}

static void test_what_was_measured_is_remembered(void)
{
    roof_device d = {.name = "a device", .arch = "sm_90", .multiprocessors = 3, .clock = 1e9}, again = d,
                other = d;
    char folder[] = "/tmp/roofline-XXXXXX";
    if (!CHECK(mkdtemp(folder) != NULL)) return;
    d.measured[ROOF_DRAM] = 3e12;
    d.measured[ROOF_TENSOR_BF16] = 7e14;
    cute_roof_remember(folder, &d);
    CHECK(cute_roof_recall(folder, &again));
    CHECK(again.measured[ROOF_DRAM] == 3e12 && again.measured[ROOF_TENSOR_BF16] == 7e14 &&
          again.measured[ROOF_L2] == 0);
    other.multiprocessors = 4;
    CHECK(!cute_roof_recall(folder, &other));
    CHECK(!cute_roof_recall(NULL, &again));
    char command[64];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK_INT(system(command), 0);
}

int main(int argc, char **argv)
{
    for (size_t n = 0; argc > 1 && n < roof_probe_count; n++) {
        cute_buffer ptx = {0};
        cute_diag *diag = cute_diag_create();
        char path[256];
        roof_probes[n].ptx(&roof_probes[n], &ptx);
        snprintf(path, sizeof path, "%s/%zu.ptx", argv[1], n);
        cute_file_write(path, cute_buffer_text(&ptx), ptx.length, diag);
        cute_buffer_release(&ptx);
        cute_diag_destroy(diag);
    }
    TEST("a probe does as much as its row says", test_amounts);
    TEST("a probe is bound by its ceiling", test_the_ceiling_is_the_bound);
    TEST("an emulator is not calibrated", test_an_emulator_is_refused);
    TEST("what was measured is remembered by device", test_what_was_measured_is_remembered);
    return test_finish();
}
