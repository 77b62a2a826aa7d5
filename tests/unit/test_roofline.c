/* Rooflines: the work of a kernel out of its counters, and the time that each ceiling asks for. Numbers are worked out by hand from
 * NVIDIA's published peaks. */
#include <jansson.h>
#include <math.h>

#include "lib/base/devices/devices.h"
#include "lib/report/roofline/roofline.h"
#include "tests/unit/test.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 0.01 * fabs(b);
}

/* Peak rates as data sheets print them. */
static void test_published_peaks(void)
{
    static const struct {
        const char *name;
        roof_ceiling ceiling;
        double rate;
    } published[] = {
        {"H100", ROOF_TENSOR_BF16, 989.4e12},
        {"h100", ROOF_TENSOR_F8, 1978.9e12},
        {"H100", ROOF_TENSOR_TF32, 494.7e12},
        {"H100", ROOF_FP32, 66.9e12 / 2},
        {"H100", ROOF_FP64, 33.5e12 / 2},
        {"H100", ROOF_TENSOR_F64, 66.9e12},
        {"H100 PCIe", ROOF_TENSOR_F64, 51.2e12},
        {"B200", ROOF_TENSOR_F64, 37.2e12},
        {"H200", ROOF_DRAM, 4.8e12},
        {"A100", ROOF_TENSOR_F16, 312e12},
        {"A100", ROOF_TENSOR_I8, 624e12},
        {"A100", ROOF_TENSOR_B1, 4992e12},
        {"A100", ROOF_FP32, 19.5e12 / 2},
        {"A100", ROOF_DRAM, 2.039e12},
        {"T4", ROOF_TENSOR_F16, 65e12},
        {"RTX 4090", ROOF_TENSOR_F16, 165.2e12},
        {"RTX 4090", ROOF_TENSOR_I8, 660.6e12},
        {"B200", ROOF_TENSOR_F16, 2250e12},
        {"sm_80", ROOF_TENSOR_BF16, 312e12},
        {"T4", ROOF_TENSOR_BF16, 0},
        {"L40S", ROOF_TENSOR_F8, 733e12},
    };
    cute_diag *diag = cute_diag_create();
    for (size_t n = 0; n < sizeof published / sizeof *published; n++) {
        roof_device d;
        CHECK_INT(cute_roof_device_find(published[n].name, &d, diag), CUTE_OK);
        CHECK(near(d.most[published[n].ceiling], published[n].rate));
    }
    roof_device d;
    CHECK_INT(cute_roof_device_find("H1", &d, diag), CUTE_USAGE);
    CHECK_INT(cute_roof_device_find("", &d, diag), CUTE_USAGE);
    CHECK(!cute_roof_device_of_arch("sm_110", &d));
    CHECK(cute_roof_device_of_arch("sm_90a", &d));
    CHECK_TEXT(d.name, "H100");
    cute_diag_destroy(diag);
}

/* The driver's names and numbers; the longest name in the table wins. */
static void test_devices_of_the_driver(void)
{
    roof_device d;
    cute_device_info info = {
        .name = "NVIDIA A100 80GB PCIe", .arch = "sm_80", .major = 8, .multiprocessors = 108};
    cute_roof_device_of_info(&info, &d);
    CHECK(near(d.most[ROOF_DRAM], 1.935e12));
    info = (cute_device_info){.name = "NVIDIA H200", .arch = "sm_90", .major = 9, .multiprocessors = 66};
    info.clock = 1980000;
    info.memory_clock = 3201000;
    info.bus_width = 6144;
    cute_roof_device_of_info(&info, &d);
    CHECK(near(d.most[ROOF_DRAM], 4.917e12));
    CHECK(near(d.most[ROOF_TENSOR_F16], 989.4e12 / 2)); /* half of its multiprocessors */
    info = (cute_device_info){
        .name = "NVIDIA Something New", .arch = "sm_90", .major = 9, .multiprocessors = 10};
    info.clock = 1000000;
    cute_roof_device_of_info(&info, &d);
    CHECK(near(d.most[ROOF_FP32], 128 * 10 * 1e9));
    CHECK(d.most[ROOF_DRAM] == 0 && d.most[ROOF_L2] == 0);
    info.major = 13; /* rates that nobody knows */
    cute_roof_device_of_info(&info, &d);
    CHECK(d.most[ROOF_FP32] == 0);
}

static json_t *counters(const char *more)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"kernel\": \"k\", \"launches\": 2, \"blocks\": 528, \"issued\": 1000, \"lines\": [], "
             "\"bytes\": {\"shared\": {\"read\": 256, \"written\": 128}}%s}",
             more);
    return json_loads(text, 0, NULL);
}

static void test_work_and_bound(void)
{
    cute_diag *diag = cute_diag_create();
    roof_device d;
    CHECK_INT(cute_roof_device_find("H100", &d, diag), CUTE_OK);
    json_t *k = counters(
        ", \"dram\": {\"read\": 3352000000, \"written\": 3352000000}, \"work\": {\"fp32\": {\"lanes\": "
        "640, \"operations\": 1000}, \"tensor_bf16\": {\"operations\": 989429760000}}");
    roof_work w = cute_roof_work_of_counters(k);
    CHECK(w.amount[ROOF_FP32] == 640 && w.operations[ROOF_FP32] == 1000);
    CHECK(w.amount[ROOF_L1] == 384 && w.amount[ROOF_ISSUE] == 1000);
    roof_bound b = cute_roof_bound(&d, &w, false);
    CHECK_INT(b.bound, ROOF_DRAM);
    CHECK(near(b.expected, 2e-3) && near(b.seconds[ROOF_TENSOR_BF16], 1e-3) && !b.launch);
    CHECK(b.attainable == 0);
    b = cute_roof_bound(&d, &w, true); /* more than L2 has */
    CHECK_INT(b.bound, ROOF_DRAM);
    d.measured[ROOF_DRAM] = 3352e9 / 2;
    b = cute_roof_bound(&d, &w, false);
    CHECK(near(b.expected, 2e-3) && near(b.attainable, 4e-3));
    w.amount[ROOF_DRAM] = 2 * 1e6; /* of each launch a megabyte, which a warm L2 has */
    b = cute_roof_bound(&d, &w, true);
    CHECK_INT(b.bound, ROOF_TENSOR_BF16);
    json_decref(k);

    /* A block is on one multiprocessor; DRAM is everybody's. */
    w = (roof_work){.kernel = "k", .launches = 1, .blocks = 1};
    w.amount[ROOF_FP32] = 128 * 1.98e9;
    w.amount[ROOF_DRAM] = 3352e9;
    d.measured[ROOF_DRAM] = 0;
    b = cute_roof_bound(&d, &w, false);
    CHECK(near(b.seconds[ROOF_FP32], 1) && near(b.seconds[ROOF_DRAM], 1));
    /* Nothing of weight: a launch takes its time. */
    w = (roof_work){.kernel = "k", .launches = 3, .blocks = 3};
    b = cute_roof_bound(&d, &w, false);
    CHECK(b.launch && near(b.expected, 6e-6));
    cute_diag_destroy(diag);
}

static void test_reports_of_anything_are_reports(void)
{
    roof_device d = {.name = "none"};
    json_t *list =
        json_loads("[{}, 1, {\"kernel\": 5, \"work\": 7, \"lines\": {}, \"blocks\": -1}]", 0, NULL);
    roof_question q = {.counters = list, .device = &d, .measured = 1};
    json_t *value = cute_roofline_json(&q);
    cute_buffer out = {0};
    CHECK(value != NULL);
    cute_roofline_text(value, &out);
    cute_roofline_svg(value, "<&>", &out);
    CHECK(strstr(cute_buffer_text(&out), "&lt;&amp;&gt;") != NULL);
    CHECK(strstr(cute_buffer_text(&out), "nan") == NULL && strstr(cute_buffer_text(&out), "inf") == NULL);
    cute_buffer_release(&out);
    json_decref(value);
    json_decref(list);
}

static void test_devices_that_are_made(void)
{
    CHECK_TEXT(cute_gpu_of_arch(80)->name, "A100");
    CHECK(!cute_gpu_of_arch(110) && !cute_gpu_in_name("H100X") && !cute_gpu_with_word(""));
    CHECK_TEXT(cute_gpu_in_name("NVIDIA H100 PCIe")->name, "H100 PCIe");
    CHECK_TEXT(cute_gpu_in_name("nvidia a100-sxm4-80gb")->name, "A100");
    CHECK_TEXT(cute_gpu_with_word("6000")->name, "RTX 6000 Ada");
    CHECK_INT(cute_gpu_multiprocessors(90), 132);
    CHECK_INT(cute_gpu_multiprocessors(80), 108);
    CHECK_INT(cute_gpu_multiprocessors(110), 132);
    size_t count = 0;
    for (const cute_gpu *row; (row = cute_gpu_at(count)) != NULL; count++)
        CHECK(row->multiprocessors > 0 && row->clock >= row->tensor_clock && cute_gpu_of_arch(row->arch));
    CHECK(count > 20);
}

int main(void)
{
    TEST("a device is found by its architecture and by the driver's name of it", test_devices_that_are_made);
    TEST("rates of devices are those of their data sheets", test_published_peaks);
    TEST("a GPU has the driver's numbers and the rates of its row", test_devices_of_the_driver);
    TEST("the ceiling with the longest time is the bound", test_work_and_bound);
    TEST("counters that are none make an empty roofline", test_reports_of_anything_are_reports);
    return test_finish();
}
