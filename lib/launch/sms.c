/* Queries the device in a child process: the CUDA driver does not work in a fork of a process that
 * initialized it, and launches run in a fork. */
#include "lib/launch/sms.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/system/signals.h"
#include "lib/device/device.h"

typedef struct device_answer {
    cute_status status;
    cute_device_info info;
    char text[400]; /* the first message of a failure */
} device_answer;

static void query_device(const config_device *d, device_answer *out)
{
    cute_diag *diag = cute_diag_create();
    bool emulated = d->emulator && (d->emulator->checks || d->emulator->counters || d->emulator->devices);
    *out = (device_answer){.status = CUTE_SYSTEM, .info.size = sizeof out->info};
    if (!diag) return;
    out->status = cute_device_find(emulated ? "emulator" : d->name, d->emulator, &out->info, diag);
    if (cute_diag_count(diag)) strncpy(out->text, cute_diag_get(diag, 0)->text, sizeof out->text - 1);
    cute_diag_destroy(diag);
}

static cute_status query_in_child(const config_device *d, device_answer *out, cute_diag *diag)
{
    int ends[2], code;
    if (pipe2(ends, O_CLOEXEC) != 0) return cute_fail(diag, CUTE_SYSTEM, NULL, "pipe: %s", strerror(errno));
    sigset_t held;
    cute_ending_hold(&held);
    pid_t child = fork();
    cute_ending *note = child > 0 ? cute_ending_note_process(child, false) : NULL;
    cute_ending_release(&held);
    if (child == 0) {
        device_answer mine;
        query_device(d, &mine);
        _exit(write(ends[1], &mine, sizeof mine) == (ssize_t)sizeof mine ? 0 : 1);
    }
    close(ends[1]);
    ssize_t got = 0;
    while (child > 0 && (got = read(ends[0], out, sizeof *out)) < 0 && errno == EINTR) {
    }
    close(ends[0]);
    if (child < 0) return cute_fail(diag, CUTE_SYSTEM, NULL, "fork: %s", strerror(errno));
    cute_ending_forget(note);
    while (waitpid(child, &code, 0) < 0 && errno == EINTR) {
    }
    if (got == (ssize_t)sizeof *out) return CUTE_OK;
    return cute_fail(diag, CUTE_SYSTEM, NULL, "the driver ended the process during the query of the device");
}

cute_status cute_launch_device(const config_device *device, cute_device_info *out, cute_diag *diag)
{
    cute_device_kind kind;
    int index;
    device_answer found;
    CUTE_TRY(cute_device_parse_name(device->name, &kind, &index, diag));
    if (device->in_process || kind == CUTE_DEVICE_EMULATOR)
        query_device(device, &found);
    else
        CUTE_TRY(query_in_child(device, &found, diag));
    if (found.status != CUTE_OK && device->dry_run) {
        config_device emulator = {.name = "emulator", .emulator = device->emulator};
        query_device(&emulator, &found);
        if (found.status == CUTE_OK)
            cute_report(diag, CUTE_REMARK, NULL, "no device found: assuming %lld multiprocessors",
                        (long long)found.info.multiprocessors);
    }
    if (found.status != CUTE_OK) return cute_fail(diag, found.status, NULL, "%s", found.text);
    *out = found.info; /* its strings are literals, valid in both processes */
    if (device->multiprocessors) out->multiprocessors = device->multiprocessors;
    return CUTE_OK;
}

cute_status cute_launch_sms(const config_device *device, int64_t *out, cute_diag *diag)
{
    static const config_device any = {0};
    cute_device_info info;
    if (!device) device = &any;
    *out = device->multiprocessors;
    if (*out > 0) return CUTE_OK;
    CUTE_TRY(cute_launch_device(device, &info, diag));
    *out = info.multiprocessors;
    return CUTE_OK;
}
