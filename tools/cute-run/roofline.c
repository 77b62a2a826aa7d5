/* The roofline of a launch, from counters of the emulator and, on a GPU, the measured time. */
#include "tools/cute-run/roofline.h"

#include <stdlib.h>
#include <string.h>

#include "cute/checks.h"
#include "lib/base/system/cache.h"
#include "lib/base/system/file.h"
#include "lib/device/device.h"
#include "lib/launch/launch.h"
#include "lib/launch/sms.h"
#include "lib/report/roofline/calibrate.h"

cute_status calibrate_device(const char *name, bool json, cute_arena *arena, cute_diag *diag)
{
    cute_device *device;
    roof_device d;
    CUTE_TRY(cute_device_open(name, &device, diag));
    cute_status status = cute_roof_calibrate(device, &d, diag);
    cute_device_close(device);
    CUTE_TRY(status);
    cute_roof_remember(cute_cache_folder(arena, NULL), &d);
    char *text = cute_roof_device_report(&d, json);
    status = text ? cute_file_write("-", text, strlen(text), diag) : cute_fail_memory(diag);
    free(text);
    return status;
}

/* The counters of a report of cute-run --json --counters. */
static cute_status read_counters(roofline_request *r, cute_diag *diag)
{
    cute_buffer text = {0};
    json_t *report = NULL;
    cute_status status = cute_file_read(r->work, &text, diag);
    if (status == CUTE_OK)
        status =
            cute_json_parse(cute_file_label(r->work), cute_buffer_text(&text), text.length, &report, diag);
    cute_buffer_release(&text);
    CUTE_TRY(status);
    r->counters = json_incref(json_is_array(report) ? report : json_object_get(report, "counters"));
    json_decref(report);
    if (json_is_array(r->counters)) return CUTE_OK;
    cute_fail(diag, CUTE_INVALID, &(cute_place){.file = cute_file_label(r->work)},
              "this report has no \"counters\"");
    cute_note(diag, NULL,
              "write one with: cute-run k.ptx --config launch.json --device emulator --check=bank,coalescing "
              "--counters --json");
    return CUTE_INVALID;
}

cute_status plan_roofline(roofline_request *r, cute_launch_options *launch, cute_emulator_options *emulator,
                          cute_diag *diag)
{
    enum { ROOFLINE_CHECKS = CUTE_CHECK_BANK | CUTE_CHECK_COALESCING };
    cute_device_info info;
    const config_device device = {.name = launch->device, .emulator = emulator};
    roof_device of;
    if (r->of)
        CUTE_TRY(cute_roof_device_find(r->of, &of, diag)); /* reject an unknown device before anything runs */
    CUTE_TRY(cute_launch_device(&device, &info, diag));
    r->timed = strcmp(info.kind, "emulator") != 0;
    if (r->work) CUTE_TRY(read_counters(r, diag));
    if (r->timed) launch->bench = CUTE_BENCH_ALWAYS;
    if (r->timed || r->work) return CUTE_OK;
    r->own_counters = !emulator->counters;
    r->own_checks = !emulator->checks;
    emulator->counters = true;
    emulator->checks |= ROOFLINE_CHECKS;
    return CUTE_OK;
}

void take_counters(roofline_request *r, const cute_launch *launch)
{
    if (!r->counters) r->counters = json_incref(launch->counters);
}

static cute_status choose_roofline_device(const roofline_request *r, const cute_launch *launch,
                                          roof_device *out, cute_diag *diag)
{
    const char *arch = cute_module_arch(launch->plan.module);
    if (r->of) return cute_roof_device_find(r->of, out, diag);
    if (r->timed) {
        cute_roof_device_of_info(&launch->run.device, out);
        cute_roof_recall(cute_cache_folder(launch->arena, NULL), out);
        return CUTE_OK;
    }
    if (cute_roof_device_of_arch(arch, out)) return CUTE_OK;
    cute_fail(diag, CUTE_USAGE, NULL, "unknown device for %s", arch && *arch ? arch : "this module");
    cute_note(diag, NULL, "select the device with --of=DEVICE");
    return CUTE_USAGE;
}

cute_status add_roofline(roofline_request *r, const cute_launch *launch, launch_report *report,
                         json_t **value, cute_diag *diag)
{
    roof_device device;
    take_counters(r, launch);
    CUTE_TRY(choose_roofline_device(r, launch, &device, diag));
    const config_bench *bench = &launch->config.bench;
    roof_question question = {.counters = r->counters, .device = &device};
    if (r->timed && launch->run.samples) {
        question.measured = cute_launch_times(&launch->run.samples[0], bench->samples).median;
        question.cached = !bench->cold;
    }
    *value = cute_roofline_json(&question);
    report->roofline = *value;
    report->no_counters = r->own_counters;
    report->no_kernel_checks = r->own_checks;
    if (!r->svg) return CUTE_OK;
    cute_buffer picture = {0};
    const char *label = launch->config.document.label, *slash = strrchr(label, '/');
    cute_roofline_svg(*value, slash ? slash + 1 : label, &picture);
    cute_status status = cute_file_write(r->svg, cute_buffer_text(&picture), picture.length, diag);
    cute_buffer_release(&picture);
    return status;
}
