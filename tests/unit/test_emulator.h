/* What the tests of the emulator share: a device with a module, a kernel k(out, in), its messages. */
#ifndef CUTE_TESTS_UNIT_TEST_EMULATOR_H
#define CUTE_TESTS_UNIT_TEST_EMULATOR_H

#include "cute/emulator.h"
#include "tests/unit/test.h"

typedef struct rig {
    cute_diag *diag;
    cute_device *device;
    cute_device_module *module;
    cute_address out, in;
} rig;

enum { WORDS = 1024 };

/* Of the devices that are opened; 0: the default. */
static int host_threads;
static bool counters;

static const char head[] = ".version 8.3\n.target sm_90a\n.address_size 64\n";

static inline bool open_rig(rig *r, const char *ptx, uint64_t seed)
{
    static char text[1 << 16];
    memset(r, 0, sizeof *r);
    r->diag = cute_diag_create();
    snprintf(text, sizeof text, "%s%s", head, ptx);
    const cute_emulator_options options = {
        .size = sizeof options, .seed = (int64_t)seed, .threads = host_threads, .counters = counters};
    if (cute_emulator_open(&options, &r->device, r->diag) != CUTE_OK) return false;
    if (cute_device_load(r->device, "<ptx>", text, strlen(text), &r->module, r->diag) != CUTE_OK)
        return false;
    return cute_device_alloc(r->device, WORDS * 8, &r->out, r->diag) == CUTE_OK &&
           cute_device_alloc(r->device, WORDS * 8, &r->in, r->diag) == CUTE_OK;
}

static inline void close_rig(rig *r)
{
    cute_device_close(r->device);
    cute_diag_destroy(r->diag);
}

/* Kernel k(out, in) over blocks and threads. */
static inline cute_status start(rig *r, int64_t blocks, int64_t threads, int64_t cluster)
{
    cute_device_function *f;
    cute_device_launch launch = {.size = sizeof launch, .grid = {blocks, 1, 1}, .block = {threads, 1, 1}};
    void *params[] = {&r->out, &r->in};
    if (cluster) launch.cluster[0] = cluster, launch.cluster[1] = launch.cluster[2] = 1;
    cute_status status = cute_device_get_function(r->device, r->module, "k", &f, r->diag);
    if (status == CUTE_OK) status = cute_device_prepare(r->device, f, &launch, r->diag);
    return status == CUTE_OK ? cute_device_start(r->device, f, &launch, params, r->diag) : status;
}

static inline bool says(const rig *r, const char *text)
{
    char *rendered = cute_diag_render(r->diag, CUTE_DIAG_TEXT, false);
    bool found = rendered && strstr(rendered, text);
    if (!found) printf("# not said: %s\n# but:\n%s\n", text, rendered ? rendered : "");
    free(rendered);
    return found;
}

static inline void print_messages(const rig *r)
{
    char *rendered = cute_diag_render(r->diag, CUTE_DIAG_TEXT, false);
    if (rendered && *rendered) printf("# %s\n", rendered);
    free(rendered);
}

#define PARAMS "(.param .u64 out, .param .u64 in)"

/* Runs and fetches 32-bit results; `seed` 0 to 3. */
static inline bool run(const char *ptx, int64_t blocks, int64_t threads, int64_t cluster, uint64_t seed,
                       uint32_t *out, size_t count)
{
    rig r;
    uint32_t in[WORDS];
    for (uint32_t i = 0; i < WORDS; i++) in[i] = i * 7 % 64;
    bool ok = open_rig(&r, ptx, seed) &&
              cute_device_upload(r.device, r.in, in, sizeof in, r.diag) == CUTE_OK &&
              start(&r, blocks, threads, cluster) == CUTE_OK &&
              cute_device_download(r.device, out, r.out, count * 4, r.diag) == CUTE_OK;
    if (!ok) print_messages(&r);
    close_rig(&r);
    return ok;
}

#define BODY(code)                                                                                           \
    ".visible .entry k" PARAMS                                                                               \
    "\n{ .reg .b64 %d<9>; .reg .b32 %r<20>; .reg .pred %p<6>; ld.param.u64 %d0,[out]; "                      \
    "ld.param.u64 %d1,[in]; mov.u32 %r0,%tid.x; mov.u32 %r18,%ctaid.x; mov.u32 %r19,%ntid.x; mad.lo.u32 "    \
    "%r18,%r18,%r19,%r0;"                                                                                    \
    " mul.wide.u32 %d2,%r18,4; add.s64 %d3,%d0,%d2; add.s64 %d4,%d1,%d2;\n" code                             \
    "\n st.global.u32 [%d3],%r1; ret; }\n"

#endif
