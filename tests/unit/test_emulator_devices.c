/* An emulator with several devices, through the C interface: memory and variables of each, launches with arguments
 * of each, findings with the rank. */
#include <string.h>

#include "cute/emulator.h"
#include "lib/device/device.h"
#include "tests/unit/test.h"

enum { DEVICES = 3 };

/* Each device adds its number to a variable of its own, and writes it and its number to the next device's memory. */
static const char source[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".global .align 8 .u32 own = 100;\n.global .align 8 .u64 place = own;\n"
                             ".visible .entry k(.param .u64 next, .param .u32 number)\n{\n"
                             ".reg .b32 %r<4>; .reg .b64 %d<4>;\n"
                             "ld.param.u64 %d1, [next];\nld.param.u32 %r1, [number];\n"
                             "ld.global.u64 %d2, [place];\natom.global.add.u32 %r2, [%d2], %r1;\n"
                             "ld.global.u32 %r3, [own];\nst.global.v2.u32 [%d1], {%r1, %r3};\nret;\n}\n";

typedef struct devices {
    cute_diag *diag;
    cute_device *device;
    cute_device_module *module;
    cute_device_function *function;
    cute_address memory[DEVICES];
} devices;

static bool open_devices(devices *d, uint32_t checks)
{
    const cute_emulator_options options = {.size = sizeof options, .devices = DEVICES, .checks = checks};
    *d = (devices){.diag = cute_diag_create()};
    if (!CHECK(cute_emulator_open(&options, &d->device, d->diag) == CUTE_OK)) return false;
    for (int r = 0; r < DEVICES; r++) {
        CHECK(cute_emulator_select(d->device, r, d->diag) == CUTE_OK);
        CHECK(cute_device_alloc(d->device, 8, &d->memory[r], d->diag) == CUTE_OK);
    }
    return CHECK(cute_device_load(d->device, "k.ptx", source, sizeof source - 1, &d->module, d->diag) ==
                 CUTE_OK) &&
           CHECK(cute_device_get_function(d->device, d->module, "k", &d->function, d->diag) == CUTE_OK);
}

static void close_devices(devices *d)
{
    cute_device_close(d->device);
    cute_diag_destroy(d->diag);
}

/* Device r writes to device r + shift. */
static cute_status start_devices(devices *d, int shift)
{
    const cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    cute_address next[DEVICES];
    uint32_t numbers[DEVICES];
    void *params[DEVICES][2];
    void *const *all[DEVICES];
    for (int r = 0; r < DEVICES; r++) {
        next[r] = d->memory[(r + shift) % DEVICES];
        numbers[r] = (uint32_t)r + 1;
        params[r][0] = &next[r];
        params[r][1] = &numbers[r];
        all[r] = params[r];
    }
    return cute_emulator_start_all(d->device, d->function, &launch, all, d->diag);
}

static void test_memory_and_variables_are_those_of_each_device(void)
{
    devices d;
    if (!open_devices(&d, 0)) return;
    CHECK(start_devices(&d, 1) == CUTE_OK);
    for (int r = 0; r < DEVICES; r++) {
        uint32_t words[2], own = 0;
        cute_address address;
        size_t size;
        CHECK(cute_device_download(d.device, words, d.memory[(r + 1) % DEVICES], 8, d.diag) == CUTE_OK);
        CHECK_INT(words[0], r + 1);
        CHECK_INT(words[1], 101 + r);
        CHECK(cute_emulator_select(d.device, r, d.diag) == CUTE_OK);
        CHECK(cute_device_get_global(d.device, d.module, "own", &address, &size, d.diag) == CUTE_OK);
        CHECK(cute_device_download(d.device, &own, address, sizeof own, d.diag) == CUTE_OK);
        CHECK_INT(own, 101 + r);
    }
    CHECK(cute_device_unload(d.device, d.module, d.diag) == CUTE_OK);
    close_devices(&d);
}

/* In the second launch other devices write the same memory: nothing orders the launches of different devices. */
static void test_launches_of_different_devices_are_not_ordered(void)
{
    devices d;
    if (!open_devices(&d, CUTE_CHECK_RACE)) return;
    CHECK(start_devices(&d, 1) == CUTE_OK);
    CHECK(start_devices(&d, 1) == CUTE_OK); /* again by the same devices */
    CHECK_INT(cute_emulator_finding_count(d.device), 0);
    CHECK(start_devices(&d, 2) == CUTE_OK);
    CHECK_INT(cute_emulator_finding_count(d.device), 1);
    const cute_finding *f = cute_emulator_finding(d.device, 0);
    if (CHECK(f)) {
        CHECK_TEXT(f->code, "K0327");
        CHECK(f->rank >= 0 && f->rank < DEVICES);
        CHECK(strstr(f->message, "in an earlier launch"));
    }
    close_devices(&d);
}

static void test_same_arguments_for_all_devices(void)
{
    const cute_device_launch launch = {.size = sizeof launch, .grid = {1, 1, 1}, .block = {1, 1, 1}};
    devices d;
    uint32_t number = 7, words[2];
    if (!open_devices(&d, CUTE_CHECK_RACE)) return;
    void *params[] = {&d.memory[0], &number};
    CHECK(cute_device_start(d.device, d.function, &launch, params, d.diag) == CUTE_OK);
    CHECK(cute_device_download(d.device, words, d.memory[0], 8, d.diag) == CUTE_OK);
    CHECK_INT(words[0], 7);
    CHECK_INT(words[1], 107);
    CHECK_INT(cute_emulator_finding_count(d.device), 0); /* all store the same values */
    close_devices(&d);
}

static void test_devices_that_do_not_exist(void)
{
    cute_emulator_options options = {.size = sizeof options, .devices = 17};
    cute_diag *diag = cute_diag_create();
    cute_device *device = NULL;
    CHECK(cute_emulator_open(&options, &device, diag) == CUTE_USAGE);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "expected 1 to 16 devices, or 0 for one, got 17");
    cute_diag_clear(diag);
    options.devices = 2;
    CHECK(cute_emulator_open(&options, &device, diag) == CUTE_OK);
    CHECK(cute_emulator_select(device, 2, diag) == CUTE_USAGE);
    CHECK_TEXT(cute_diag_get(diag, 0)->text, "expected a device from 0 to 1, got 2");
    CHECK(cute_emulator_select(device, 1, diag) == CUTE_OK);
    CHECK(cute_emulator_reset(device, diag) == CUTE_OK);
    cute_device_close(device);
    cute_diag_destroy(diag);
}

/* Work completes when it is started, so a wait that a GPU would never end is an error. */
static void test_wait_for_a_counter(void)
{
    cute_device *device;
    cute_stream *stream;
    cute_address counter;
    uint32_t three = 3;
    cute_diag *diag = cute_diag_create();
    CHECK(cute_emulator_open(NULL, &device, diag) == CUTE_OK);
    CHECK(cute_stream_create(device, &stream, diag) == CUTE_OK);
    CHECK(cute_device_alloc(device, 4, &counter, diag) == CUTE_OK);
    CHECK(cute_device_upload(device, counter, &three, 4, diag) == CUTE_OK);
    CHECK(device->ops->stream_wait_count(device, stream, counter, 3, diag) == CUTE_OK);
    CHECK(device->ops->stream_wait_count(device, stream, counter, 4, diag) == CUTE_INVALID);
    CHECK(strstr(cute_diag_get(diag, 0)->text,
                 "a stream waits for a counter that nothing increases: expected 4 at 0x"));
    CHECK(strstr(cute_diag_get(diag, 0)->text, ", got 3"));
    cute_stream_destroy(stream);
    cute_device_close(device);
    cute_diag_destroy(diag);
}

int main(void)
{
    TEST("memory and variables are those of each device", test_memory_and_variables_are_those_of_each_device);
    TEST("launches of different devices are not ordered", test_launches_of_different_devices_are_not_ordered);
    TEST("without arguments for each device all get the same", test_same_arguments_for_all_devices);
    TEST("a stream's wait for a counter that is too low is an error", test_wait_for_a_counter);
    TEST("devices that do not exist are refused", test_devices_that_do_not_exist);
    return test_finish();
}
