/* Textures and surfaces: fetches against the formulas of the CUDA C++ Programming Guide ("Texture Fetching"), limits, and the instructions
 * on the emulator. */
#include <math.h>

#include "cute/cubin.h"
#include "cute/plan.h"
#include "lib/numeric/texture.h"
#include "tests/unit/test_emulator.h"

enum { WIDTH = 7, HEIGHT = 5, DEPTH = 4, TEXELS = WIDTH * HEIGHT * DEPTH };
static float values[TEXELS];

static uint64_t next_random(void)
{
    static uint64_t state = 1;
    return state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407), state >> 33;
}

static cute_texture texture(cute_texture_kind kind, cute_texture_address mode, bool normalized)
{
    cute_texture t = {
        .size = sizeof t, .kind = kind, .format = CUTE_TEXTURE_F32, .channels = 1, .normalized = normalized};
    int dimensions = num_texture_kind_get(kind)->dimensions;
    t.width = WIDTH;
    t.height = dimensions > 1 ? HEIGHT : 1;
    t.depth = dimensions > 2 ? DEPTH : 1;
    for (int i = 0; i < 3; i++) t.modes[i] = mode;
    return t;
}

/* ---- the guide's formulas ---- */

/* The texel of a dimension at an integer coordinate; -1: the border. */
static int guide_index(int i, int n, cute_texture_address mode)
{
    if (mode == CUTE_TEXTURE_WRAP) return ((i % n) + n) % n;
    if (mode == CUTE_TEXTURE_MIRROR) {
        int period = ((i % (2 * n)) + 2 * n) % (2 * n);
        return period < n ? period : 2 * n - 1 - period;
    }
    if (i < 0 || i >= n) return mode == CUTE_TEXTURE_BORDER ? -1 : i < 0 ? 0 : n - 1;
    return i;
}

static double guide_texel(const int *at, const int *extents, int dimensions, cute_texture_address mode)
{
    int index = 0;
    for (int d = dimensions - 1; d >= 0; d--) {
        int i = guide_index(at[d], extents[d], mode);
        if (i < 0) return 0;
        index = index * extents[d] + i;
    }
    return (double)values[index];
}

/* tex(x) = T[floor(x)]; or, with B = x - 0.5, i = floor(B) and alpha = frac(B) in 8 bits, the sum of (1 - alpha) T[i] and alpha T[i + 1]
 * over the dimensions. */
static double guide_fetch(const double *x, const int *extents, int dimensions, cute_texture_address mode,
                          bool linear)
{
    int at[3], base[3];
    double alpha[3], sum = 0;
    for (int d = 0; d < dimensions; d++) {
        double b = linear ? x[d] - 0.5 : x[d];
        base[d] = (int)floor(b);
        alpha[d] = floor((b - floor(b)) * 256 + 0.5) / 256; /* ties upwards: an H200 */
    }
    for (int n = 0; n < (linear ? 1 << dimensions : 1); n++) {
        double weight = 1;
        for (int d = 0; d < dimensions; d++) {
            at[d] = base[d] + (n >> d & 1);
            if (linear) weight *= n >> d & 1 ? alpha[d] : 1 - alpha[d];
        }
        sum += weight * guide_texel(at, extents, dimensions, mode);
    }
    return sum;
}

static float fetched(const cute_texture *t, const num_fetch *fetch)
{
    uint32_t texels[NUM_TEXELS][4], out[4];
    float value;
    for (int n = 0; n < fetch->count; n++)
        num_texel_read(t, fetch->texels[n].border ? NULL : (const uint8_t *)values + fetch->texels[n].at,
                       texels[n]);
    num_texture_blend(fetch, (const uint32_t(*)[4])texels, out);
    memcpy(&value, out, 4);
    return value;
}

/* Normalized coordinates have 21 bits of fraction; an H200 reads these texels. */
static void test_normalized_coordinates_are_truncated(void)
{
    static const struct {
        cute_texture_address mode;
        float x;
        int extent, texel;
    } cases[] = {{CUTE_TEXTURE_CLAMP, 0x1.24924ap-3F, 7, 0}, {CUTE_TEXTURE_CLAMP, 0x1.b6db6ep-2F, 7, 2},
                 {CUTE_TEXTURE_WRAP, -1.85714257F, 7, 0},    {CUTE_TEXTURE_WRAP, -1e-20F, 7, 6},
                 {CUTE_TEXTURE_MIRROR, -0.9375F, 16, 14},    {CUTE_TEXTURE_MIRROR, 1.0625F, 16, 14},
                 {CUTE_TEXTURE_MIRROR, -1.77419329F, 31, 7}, {CUTE_TEXTURE_BORDER, 0.0645161346F, 31, 1}};
    for (int i = 0; i < TEXELS; i++) values[i] = (float)i;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        cute_texture t = texture(CUTE_TEXTURE_1D, cases[i].mode, true);
        num_fetch fetch;
        t.width = (uint64_t)cases[i].extent;
        num_texture_fetch(&t, &cases[i].x, 0, &fetch);
        CHECK_INT((int)fetched(&t, &fetch), cases[i].texel);
    }
}

static void test_fetches_are_the_formulas_of_the_guide(void)
{
    static const int extents[3] = {WIDTH, HEIGHT, DEPTH};
    for (int i = 0; i < TEXELS; i++) values[i] = (float)(int)(next_random() % 2000) / 16 - 60;
    for (int n = 0; n < 60000; n++) {
        int dimensions = 1 + n % 3;
        bool normalized = n & 1, linear = n & 2;
        cute_texture_address mode = (cute_texture_address)(normalized  ? n / 4 % 4
                                                           : n / 4 % 2 ? CUTE_TEXTURE_BORDER
                                                                       : CUTE_TEXTURE_CLAMP);
        cute_texture t = texture((cute_texture_kind)(dimensions - 1), mode, normalized);
        double x[3];
        float given[3];
        num_fetch fetch;
        t.filter = linear ? CUTE_TEXTURE_LINEAR_FILTER : CUTE_TEXTURE_POINT;
        if (!CHECK(num_texture_check(&t, NULL) == CUTE_OK)) return;
        for (int d = 0; d < dimensions; d++) {
            /* on and off the middles and edges of texels; multiples of 1/64, which a power of two scales exactly */
            given[d] = (float)((int)(next_random() % 4096) - 2048) / (normalized ? 512 : 64);
            x[d] = (double)given[d] * (normalized ? extents[d] : 1);
        }
        num_texture_fetch(&t, given, 0, &fetch);
        float got = fetched(&t, &fetch), wanted = (float)guide_fetch(x, extents, dimensions, mode, linear);
        if (got == wanted) continue;
        printf("# %d-d, mode %d, normalized %d, linear %d, at %g %g %g: %.9g, not %.9g\n", dimensions,
               (int)mode, normalized, linear, (double)given[0], dimensions > 1 ? (double)given[1] : 0,
               dimensions > 2 ? (double)given[2] : 0, (double)got, (double)wanted);
        CHECK(got == wanted);
        return;
    }
}

static void test_gather_is_the_footprint_of_filtering(void)
{
    cute_texture t = texture(CUTE_TEXTURE_2D, CUTE_TEXTURE_CLAMP, false);
    num_fetch fetch;
    t.gather = true;
    CHECK(num_texture_check(&t, NULL) == CUTE_OK);
    num_texture_gather(&t, (const float[]){2.5f + 0.25f, 1.5f + 0.25f}, &fetch);
    static const int order[4][2] = {{2, 2}, {3, 2}, {3, 1}, {2, 1}};
    for (int n = 0; n < 4; n++) CHECK_INT(fetch.texels[n].at, (order[n][1] * WIDTH + order[n][0]) * 4);
}

static void test_a_vector_selects_the_face_of_a_cube(void)
{
    static const float axes[6][3] = {{2, 0, 0}, {-2, 0, 0}, {0, 3, 0}, {0, -3, 0}, {0, 0, 1}, {0, 0, -1}};
    cute_texture t = texture(CUTE_TEXTURE_CUBE_LAYERED, CUTE_TEXTURE_CLAMP, false);
    num_fetch fetch;
    t.width = t.height = 3;
    t.depth = 12;
    CHECK(num_texture_check(&t, NULL) == CUTE_OK);
    for (int face = 0; face < 6; face++) {
        num_texture_fetch(&t, axes[face], 1, &fetch);
        CHECK_INT(fetch.texels[0].at, ((6 + face) * 9 + 4) * 4);
    }
    /* Right of the middle of +x is -z; above that of +z is +y, in the first row. */
    num_texture_fetch(&t, (const float[]){1, 0, -0.9f}, 0, &fetch);
    CHECK_INT(fetch.texels[0].at, 5 * 4);
    num_texture_fetch(&t, (const float[]){0, 0.9f, 1}, 0, &fetch);
    CHECK_INT(fetch.texels[0].at, (4 * 9 + 1) * 4);
}

static void test_texels_of_all_formats_are_converted(void)
{
    static const struct {
        cute_texture_format format;
        bool normalized;
        uint32_t bits;
        double value; /* or an integer */
    } cases[] = {
        {CUTE_TEXTURE_U8, false, 200, 200},
        {CUTE_TEXTURE_S8, false, 200, -56},
        {CUTE_TEXTURE_U8, true, 51, 0.2},
        {CUTE_TEXTURE_S8, true, 0x80, -1},
        {CUTE_TEXTURE_S8, true, 0x81, -1},
        {CUTE_TEXTURE_U16, true, 65535, 1},
        {CUTE_TEXTURE_S16, true, 0x4000, 16384.0 / 32767},
        {CUTE_TEXTURE_S16, false, 0xffff, -1},
        {CUTE_TEXTURE_U32, false, 4000000000u, 4000000000.0},
        {CUTE_TEXTURE_S32, false, 0xfffffffe, -2},
        {CUTE_TEXTURE_F16, false, 0x3e00, 1.5},
        {CUTE_TEXTURE_F32, false, 0xc0200000, -2.5},
    };
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        cute_texture t = {.format = cases[n].format, .channels = 2, .normalized_float = cases[n].normalized};
        int bytes = num_texture_format_get(t.format)->bytes;
        uint8_t texel[8] = {0};
        uint32_t out[4];
        float real;
        memcpy(texel + bytes, &cases[n].bits, (size_t)bytes);
        num_texel_read(&t, texel, out);
        memcpy(&real, &out[1], 4);
        bool is_signed = num_texture_format_get(t.format)->is_signed;
        double got = num_texture_is_float(&t) ? (double)real : is_signed ? (int32_t)out[1] : (double)out[1];
        if (got != (num_texture_is_float(&t) ? (double)(float)cases[n].value : cases[n].value)) {
            printf("# case %zu: %.9g\n", n, got);
            CHECK(got == cases[n].value);
        }
        CHECK_INT(out[0] | out[2] | out[3], 0);
    }
}

/* ---- the device ---- */

static cute_device_texture *object;

/* Makes an object of `in`, whose handle replaces the second argument. */
static bool make(rig *r, cute_texture t)
{
    t.size = sizeof t;
    t.address = r->in;
    return cute_device_texture_create(r->device, &t, &object, &r->in, r->diag) == CUTE_OK;
}

#define KERNEL                                                                                               \
    ".visible .entry k" PARAMS "{\n"                                                                         \
    ".reg .b64 %d<4>; .reg .b32 %r<16>; .reg .f32 %f<16>; .reg .b16 %h<4>;\n"                                \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x;\n"                                \
    "mad.wide.u32 %d0, %r0, 16, %d0; cvt.rn.f32.u32 %f0, %r0; mov.u32 %r8, 0;\n"

static bool run_object(const char *body, cute_texture t, const uint32_t *in, uint32_t *out, const char *fault)
{
    static char text[1 << 14];
    rig r;
    snprintf(text, sizeof text, "%s%s ret; }", KERNEL, body);
    bool ok = open_rig(&r, text, 0) && cute_device_upload(r.device, r.in, in, 4096, r.diag) == CUTE_OK;
    cute_address memory = r.in;
    ok = ok && make(&r, t);
    cute_status status = ok ? start(&r, 1, 4, 0) : CUTE_INVALID;
    if (ok && fault)
        ok = status == CUTE_INVALID && says(&r, fault);
    else if (ok)
        ok = status == CUTE_OK;
    if (!ok) print_messages(&r);
    if (ok && !fault) ok = cute_device_download(r.device, out, r.out, 64, r.diag) == CUTE_OK;
    if (ok && t.surface && !fault)
        ok = cute_device_download(r.device, out + 16, memory, 64, r.diag) == CUTE_OK;
    close_rig(&r);
    return ok;
}

#define ALL "st.global.v4.u32 [%d0], {%r1,%r2,%r3,%r4};"

static void test_instructions_read_objects(void)
{
    uint32_t in[1024], out[32];
    for (uint32_t i = 0; i < 1024; i++) in[i] = 100 + i;
    cute_texture linear = {.kind = CUTE_TEXTURE_1D,
                           .memory = CUTE_TEXTURE_LINEAR,
                           .format = CUTE_TEXTURE_U32,
                           .channels = 1,
                           .width = 3};
    if (!CHECK(run_object("tex.1d.v4.u32.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r0}];" ALL, linear, in, out, NULL)))
        return;
    CHECK_INT(out[0], 100);
    CHECK_INT(out[8], 102);
    CHECK_INT(out[12], 0); /* past the end of linear memory */
    cute_texture layers = {.kind = CUTE_TEXTURE_2D_LAYERED,
                           .format = CUTE_TEXTURE_S32,
                           .channels = 2,
                           .width = 4,
                           .height = 2,
                           .depth = 3};
    if (!CHECK(run_object(
            "mov.u32 %r5, 1; tex.a2d.v4.s32.s32 {%r1,%r2,%r3,%r4}, [%d1, {%r0, %r5, %r5, %r5}];" ALL, layers,
            in, out, NULL)))
        return;
    CHECK_INT(out[0], 100 + (4 + 1) * 2);
    CHECK_INT(out[1], 101 + (4 + 1) * 2);
    CHECK_INT(out[8], 100 + 2 * 16 + (4 + 1) * 2);
    CHECK_INT(out[12], 100 + 2 * 16 + (4 + 1) * 2); /* layers are clamped */
    if (!CHECK(run_object("txq.width.b32 %r1, [%d1]; txq.height.b32 %r2, [%d1]; txq.depth.b32 %r3, [%d1]; "
                          "txq.array_size.b32 %r4, [%d1];" ALL,
                          layers, in, out, NULL)))
        return;
    CHECK_INT(out[0], 4);
    CHECK_INT(out[1], 2);
    CHECK_INT(out[2], 0);
    CHECK_INT(out[3], 3);
    cute_texture gather = {.kind = CUTE_TEXTURE_2D,
                           .format = CUTE_TEXTURE_U32,
                           .channels = 4,
                           .width = 4,
                           .height = 4,
                           .gather = true};
    if (!CHECK(run_object(
            "mov.f32 %f1, 0f3F800000; tld4.b.2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f0, %f1}];" ALL, gather,
            in, out, NULL)))
        return;
    CHECK_INT(out[4 + 0], 100 + (1 * 4 + 0) * 4 + 2);
    CHECK_INT(out[4 + 2], 100 + (0 * 4 + 1) * 4 + 2);
    if (!CHECK(run_object(
            "mov.f32 %f1, 0f40000000; tex.level.2d.v4.u32.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f0, %f0}], %f1;" ALL,
            gather, in, out, NULL)))
        return;
    CHECK_INT(out[12], 100 + 15 * 4);
}

static void test_surfaces_are_read_and_written_by_bytes(void)
{
    uint32_t in[1024], out[32];
    for (uint32_t i = 0; i < 1024; i++) in[i] = 0x01010101u * (i & 15);
    cute_texture s = {.surface = true,
                      .kind = CUTE_TEXTURE_2D,
                      .format = CUTE_TEXTURE_U8,
                      .channels = 4,
                      .width = 4,
                      .height = 4};
    if (!CHECK(run_object("shl.b32 %r5, %r0, 2; mov.u32 %r6, 2; suld.b.2d.b32.trap {%r1}, [%d1, {%r5, %r6}]; "
                          "suld.b.2d.b8.trap {%h1}, "
                          "[%d1, {%r5, %r8}]; cvt.u32.u8 %r2, %h1; mov.u32 %r7, 9; suld.b.2d.b32.zero {%r3}, "
                          "[%d1, {%r5, %r7}]; "
                          "suld.b.2d.b32.clamp {%r4}, [%d1, {%r5, %r7}]; add.u32 %r9, %r0, 100; "
                          "sust.b.2d.b32.trap [%d1, {%r5, %r8}], {%r9};" ALL,
                          s, in, out, NULL)))
        return;
    CHECK_INT(out[4], 0x09090909);
    CHECK_INT(out[5], 1);
    CHECK_INT(out[6], 0);
    CHECK_INT(out[7], 0x0d0d0d0d);
    CHECK_INT(out[16 + 3], 103);
    CHECK_INT(out[16 + 4], 0x04040404);
    if (!CHECK(run_object("mov.u32 %r5, 4; sured.b.add.2d.u32.trap [%d1, {%r5, %r8}], %r0; "
                          "sust.b.2d.b32.zero [%d1, {%r5, %r0}], {%r0}; suq.width.b32 "
                          "%r1, [%d1];" ALL,
                          s, in, out, NULL)))
        return;
    CHECK_INT(out[0], 4);
}

static void test_misuse_is_a_fault_that_says_what_is_right(void)
{
    uint32_t in[1024] = {0}, out[32];
    cute_texture t = {
        .kind = CUTE_TEXTURE_2D, .format = CUTE_TEXTURE_F32, .channels = 1, .width = 4, .height = 4};
    cute_texture normalized = t, surface = t, bytes = t, linear = t;
    normalized.normalized = surface.surface = true;
    bytes.format = CUTE_TEXTURE_U8;
    linear.kind = CUTE_TEXTURE_1D, linear.memory = CUTE_TEXTURE_LINEAR, linear.height = 1;
#define TEX2 "tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f0,%f0}];"
    CHECK(run_object("mov.u64 %d1, 77;" TEX2, t, in, out,
                     "tex uses 0x4d, which is not the handle of a texture object; fix: bind the argument"));
    CHECK(run_object(TEX2, surface, in, out,
                     "tex expects the handle of a texture object, got one of a surface object"));
    CHECK(run_object("suld.b.2d.b32.trap {%r1}, [%d1, {%r8,%r8}];", t, in, out,
                     "suld expects the handle of a surface object, got one of a texture object"));
    CHECK(run_object("tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f0}];", t, in, out,
                     "tex.1d of a 2d texture: expected kind 1d"));
    CHECK(run_object("tex.2d.v4.s32.f32 {%r1,%r2,%r3,%r4}, [%d1, {%f0,%f0}];", t, in, out,
                     "tex reads .s32, but texels of f32 are floating-point numbers: expected .v4.f32"));
    CHECK(run_object(TEX2, bytes, in, out,
                     "tex reads .f32, but texels of u8 are integers: expected .v4.s32 or .v4.u32"));
    CHECK(run_object(
        "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d1, {%r0,%r0}];", normalized, in, out,
        "tex has integer coordinates, but the texture has normalized ones: expected .f32 from 0 to 1"));
    CHECK(run_object(
        "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f0}];", linear, in, out,
        "tex has floating-point coordinates, but linear memory is read by texel numbers: expected .s32"));
    CHECK(run_object("tld4.r.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f0,%f0}];", t, in, out,
                     "expected \"gather\": true"));
    CHECK(run_object("mov.u32 %r1, 4; suld.b.2d.b32.trap {%r1}, [%d1, {%r8,%r1}];", surface, in, out,
                     "suld.trap accesses row 4 of a 2d surface: expected 0 to 3"));
    CHECK(run_object("mov.u32 %r1, 2; sust.b.2d.b32.trap [%d1, {%r1,%r8}], {%r1};", surface, in, out,
                     "misaligned sust of 4 bytes: byte 2 of the row, alignment 4"));
    surface.width = 1;
    CHECK(run_object("suld.b.2d.v2.b32.trap {%r1,%r2}, [%d1, {%r8,%r8}];", surface, in, out,
                     "suld of 8 bytes in a surface with rows of 4"));
}

static void test_a_destroyed_object_is_a_fault(void)
{
    rig r;
    CHECK(open_rig(&r, KERNEL "tex.1d.v4.f32.f32 {%f1,%f2,%f3,%f4}, [%d1, {%f0}]; ret; }", 0));
    CHECK(make(
        &r, (cute_texture){.kind = CUTE_TEXTURE_1D, .format = CUTE_TEXTURE_F32, .channels = 1, .width = 4}));
    CHECK(cute_device_texture_load(r.device, NULL, object, r.diag) == CUTE_OK);
    CHECK(cute_device_texture_store(r.device, NULL, object, r.diag) == CUTE_OK);
    CHECK(cute_device_texture_destroy(r.device, object, r.diag) == CUTE_OK);
    CHECK(start(&r, 1, 4, 0) == CUTE_INVALID);
    CHECK(says(&r, "tex uses a texture object that was destroyed"));
    close_rig(&r);
}

/* cute/plan.h: the object follows the buffer's address. */
static void test_a_plan_makes_objects_of_the_callers_memory(void)
{
    static char text[1 << 14];
    static const char config[] =
        "{\"grid\": 1, \"block\": 4, \"buffers\": {\"out\": {\"dtype\": \"f32\", \"shape\": [4, 4]}, "
        "\"in\": {\"dtype\": \"f32\", \"shape\": 16, \"init\": \"zeros\"}}, "
        "\"args\": [\"out\", {\"texture\": {\"buffer\": \"in\", \"kind\": \"1d\", \"offset\": 8, \"shape\": "
        "4}}]}";
    rig r;
    cute_module *module = NULL;
    cute_plan_runner *plan = NULL;
    cute_address memory[2];
    float values_of[16], out[16];
    cute_plan_options options = {.size = sizeof options};
    CHECK(open_rig(&r, KERNEL "ret; }", 0));
    snprintf(
        text, sizeof text,
        "%s%stex.1d.v4.f32.f32 {%%f1,%%f2,%%f3,%%f4}, [%%d1, {%%f0}]; st.global.f32 [%%d0], %%f1; ret; }",
        head, KERNEL);
    CHECK(cute_module_open("<ptx>", text, strlen(text), NULL, &module, r.diag) == CUTE_OK);
    CHECK(cute_plan_open(r.device, module, config, strlen(config), &options, &plan, r.diag) == CUTE_OK);
    for (int n = 0; plan && n < 4; n++) {
        cute_address in = 0;
        if (n < 2) CHECK(cute_device_alloc(r.device, sizeof values_of, &memory[n], r.diag) == CUTE_OK);
        in = memory[n & 1];
        for (int i = 0; i < 16; i++) values_of[i] = (float)(100 * n + i);
        CHECK(cute_device_upload(r.device, in, values_of, sizeof values_of, r.diag) == CUTE_OK);
        CHECK(cute_plan_set_buffer(plan, "in", in, r.diag) == CUTE_OK);
        CHECK(cute_plan_set_buffer(plan, "out", r.out, r.diag) == CUTE_OK);
        CHECK(cute_plan_start(plan, NULL, r.diag) == CUTE_OK);
        CHECK(cute_device_download(r.device, out, r.out, sizeof out, r.diag) == CUTE_OK);
        for (int i = 0; i < 4; i++) CHECK_INT(out[4 * i], 100 * n + 8 + i);
    }
    if (!plan) print_messages(&r);
    cute_plan_close(plan);
    cute_module_close(module);
    close_rig(&r);
}

/* ---- limits ---- */

static void test_rules_and_limits_are_named(void)
{
    const cute_texture plain = {
        .kind = CUTE_TEXTURE_2D, .format = CUTE_TEXTURE_F32, .channels = 1, .width = 4, .height = 4};
    cute_texture cases[24];
    const char *texts[24];
    int count = 0;
#define CASE(text, ...)                                                                                      \
    do {                                                                                                     \
        cute_texture t = plain;                                                                              \
        __VA_ARGS__;                                                                                         \
        cases[count] = t;                                                                                    \
        texts[count++] = text;                                                                               \
    } while (0)
    CASE("unknown kind 9 or format 7 of a texture", t.kind = 9);
    CASE("expected 1, 2 or 4 channels, got 3", t.channels = 3);
    CASE("expected an array for a surface, got memory", t.surface = true; t.memory = CUTE_TEXTURE_PITCH);
    CASE("expected a width of 1 to 131072 for a 2d texture, got 131073", t.width = 131073);
    CASE("expected a height of 1 to 32768 for a 2d texture with gather, got 40000", t.gather = true;
         t.height = 40000);
    CASE("expected a number of layers of 1 to 2048 for a 1d_layered surface, got 3000", t.surface = true;
         t.kind = CUTE_TEXTURE_1D_LAYERED; t.height = 1; t.depth = 3000);
    CASE("expected square faces of a cube, got 4x5", t.kind = CUTE_TEXTURE_CUBE; t.width = 5; t.depth = 6);
    CASE("expected 6 faces for each cube, got 7", t.kind = CUTE_TEXTURE_CUBE_LAYERED; t.depth = 7);
    CASE("expected at least 16 bytes, a row, from row to row, got 12", t.pitch = 12);
    CASE("expected at least 4 whole rows of 16 bytes from slice to slice, got 72 bytes", t.slice = 72);
    CASE("expected texels at a multiple of 512 bytes, got 0x100; memory 'array' has no alignment",
         t.memory = CUTE_TEXTURE_PITCH;
         t.address = 256; t.pitch = 32);
    CASE("expected a multiple of 32 and at most 2097120 bytes from row to row, got 16",
         t.memory = CUTE_TEXTURE_PITCH);
    CASE("expected unnormalized coordinates and filter point for linear memory",
         t.memory = CUTE_TEXTURE_LINEAR;
         t.normalized = true);
    CASE("expected kind 1d for linear memory, got 2d", t.memory = CUTE_TEXTURE_LINEAR);
    CASE("expected kind 2d for pitched memory, got 3d", t.memory = CUTE_TEXTURE_PITCH;
         t.kind = CUTE_TEXTURE_3D);
    CASE("expected integers of 8 or 16 bits to read as normalized numbers, got f32",
         t.normalized_float = true);
    CASE("expected floating-point texels for filter linear, got u8; read them as normalized numbers",
         t.format = CUTE_TEXTURE_U8;
         t.filter = CUTE_TEXTURE_LINEAR_FILTER);
    CASE("expected floating-point texels for filter linear, got i32", t.format = CUTE_TEXTURE_S32;
         t.filter = CUTE_TEXTURE_LINEAR_FILTER);
    CASE("expected a 2d array for gather (tld4), got a 3d texture in an array", t.gather = true;
         t.kind = CUTE_TEXTURE_3D);
    CASE("expected normalized coordinates for address mode mirror; others are clamp and border",
         t.modes[1] = CUTE_TEXTURE_MIRROR);
    CASE("expected border 0 for a texture that is read as integers, got 1", t.format = CUTE_TEXTURE_U8;
         t.border[0] = 1);
    for (int n = 0; n < count; n++) {
        rig r = {.diag = cute_diag_create()};
        CHECK(num_texture_check(&cases[n], r.diag) == CUTE_INVALID);
        CHECK(says(&r, texts[n]));
        cute_diag_destroy(r.diag);
    }
}

int main(void)
{
    TEST("normalized coordinates have 21 bits of fraction", test_normalized_coordinates_are_truncated);
    TEST("fetches are the formulas of the guide in all dimensions, addressing modes and filters",
         test_fetches_are_the_formulas_of_the_guide);
    TEST("gather returns the footprint of filtering counter-clockwise from the lower left",
         test_gather_is_the_footprint_of_filtering);
    TEST("a vector selects the face of a cube and the texel there", test_a_vector_selects_the_face_of_a_cube);
    TEST("texels of all formats become 32-bit integers or f32", test_texels_of_all_formats_are_converted);
    TEST("tex, tld4 and txq read texture objects", test_instructions_read_objects);
    TEST("surfaces are read, written and reduced by bytes; outside they clamp or are zero",
         test_surfaces_are_read_and_written_by_bytes);
    TEST("a misused object is a fault whose message has the right use",
         test_misuse_is_a_fault_that_says_what_is_right);
    TEST("a destroyed object is a fault", test_a_destroyed_object_is_a_fault);
    TEST("a plan makes objects of the caller's memory, anew if it changes",
         test_a_plan_makes_objects_of_the_callers_memory);
    TEST("each rule and limit of textures is named", test_rules_and_limits_are_named);
    return test_finish();
}
