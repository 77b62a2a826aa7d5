/* The launches of tests/api/ahead.c, made through cute/plan.h from a cubin: for a comparison of what both pass to the driver. */
#include <cute/plan.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct buffer {
    const char *name;
    cute_address address;
} buffer;

static cute_diag *diag;

static int fail(void)
{
    char *text = cute_diag_render(diag, CUTE_DIAG_TEXT, false);
    printf("%s\n", text ? text : "");
    free(text);
    return 1;
}

static int run(const char *path, const char *config, const buffer *buffers, cute_address workspace)
{
    static char image[1 << 24];
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(image, 1, sizeof image, file) : 0;
    cute_module *module;
    cute_device *device;
    cute_plan_runner *plan;
    if (file) fclose(file);
    if (cute_module_open(path, image, length, NULL, &module, diag) != CUTE_OK ||
        cute_device_open("cuda:0", &device, diag) != CUTE_OK ||
        cute_plan_open(device, module, config, strlen(config), NULL, &plan, diag) != CUTE_OK)
        return fail();
    for (; buffers->name; buffers++)
        if (cute_plan_set_buffer(plan, buffers->name, buffers->address, diag) != CUTE_OK) return fail();
    if (cute_plan_set_workspace(plan, workspace, diag) != CUTE_OK ||
        cute_plan_start(plan, NULL, diag) != CUTE_OK)
        return fail();
    cute_plan_close(plan);
    cute_device_close(device);
    cute_module_close(module);
    return 0;
}

/* The product of k terms. */
static int run_product(int k, const buffer *buffers)
{
    char config[1024];
    snprintf(config, sizeof config,
             "{\"plan\": \"product\", \"params\": {\"alpha\": 0.5, \"beta\": 2.0}, \"buffers\": {"
             "\"A\": {\"shape\": [1, 520, %d], \"strides\": [%d, %d, 1], \"dtype\": \"bf16\"}, \"B\": "
             "{\"shape\": [1, 1032, %d], \"strides\": [%d, %d, 1], "
             "\"dtype\": \"bf16\"},"
             "\"C\": {\"shape\": [1, 520, 1032], \"dtype\": \"bf16\"}, \"D\": {\"shape\": [1, 520, 1032], "
             "\"dtype\": \"bf16\"},"
             "\"bias\": {\"shape\": [520, 1032], \"strides\": [0, 1], \"init\": 1, \"dtype\": \"bf16\"}}}",
             k, 520 * k, k, k, 1032 * k, k);
    return run("p.cubin", config, buffers, 0x90000000);
}

int main(void)
{
    static const buffer sums[] = {{"x", 0x10000000}, {"out", 0x20000000}, {NULL, 0}},
                        products[] = {{"A", 0x30000000}, {"B", 0x40000000},    {"C", 0x50000000},
                                      {"D", 0x60000000}, {"bias", 0x70000000}, {NULL, 0}},
                        without[] = {{"C", 0x50000000}, {"D", 0x60000000}, {"bias", 0x70000000}, {NULL, 0}};
    diag = cute_diag_create();
    int failed =
        run("k.cubin",
            "{\"plan\": \"sum\", \"buffers\": {\"x\": {\"shape\": [100000]}, \"out\": {\"shape\": [1]}}}",
            sums, 0x80000000) ||
        run_product(264, products) || run_product(0, without);
    cute_diag_destroy(diag);
    return failed;
}
