/* Builds the resource report of a module: resource usage, occupancy, the limits for the same and one more block, and the
 * occupancy by block size, registers and shared memory. */
#include "lib/report/resources/resources.h"

#include <string.h>

#include "lib/report/report.h"

enum { WARP = 32, MOST_THREADS = 1024, REGISTER_STEP = 8, MOST_REGISTERS = 255, KIB = 1024 };

static void apply_question(occupancy_report *r, const resource_question *q)
{
    cute_occupancy_input *in = &r->in;
    const struct {
        int64_t asked, *field;
    } fields[] = {{q->registers, &in->registers}, {q->dynamic, &in->dynamic_smem},
                  {q->threads, &in->threads},     {q->barriers, &in->barriers},
                  {q->cluster, &in->cluster},     {q->carveout, &in->carveout}};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (fields[i].asked < 0) continue;
        r->what_if = true;
        *fields[i].field = fields[i].asked;
    }
    if (q->carveout >= 0) in->has_carveout = true;
    if (q->shared >= 0) {
        r->what_if = true;
        in->static_smem = q->shared;
        in->dynamic_smem = 0;
    }
    if (q->shared >= 0 || q->dynamic >= 0) r->dynamic_unknown = false;
    if (q->arch) {
        r->compiled_for = in->arch;
        in->arch = q->arch;
    }
}

/* Varies one axis and keeps the others. */
static cute_status vary_axis(cute_arena *arena, occupancy_report *r, occupancy_axis axis, int64_t first,
                             int64_t last, int64_t step)
{
    size_t count = (size_t)((last - first) / step + 1);
    occupancy_point *points = cute_arena_array(arena, count, sizeof *points);
    if (!points) return CUTE_SYSTEM;
    for (size_t i = 0; i < count; i++) {
        cute_occupancy_input in = r->in;
        points[i].at = first + (int64_t)i * step;
        points[i].o.size = sizeof points[i].o;
        if (axis == BY_THREADS) in.threads = points[i].at;
        if (axis == BY_REGISTERS) in.registers = points[i].at;
        if (axis == BY_SHARED) in.static_smem = points[i].at, in.dynamic_smem = 0;
        CUTE_TRY(cute_occupancy_compute(&in, &points[i].o, NULL));
    }
    r->points[axis] = points;
    r->counts[axis] = count;
    return CUTE_OK;
}

cute_status cute_occupancy_report_create(cute_arena *arena, const cute_occupancy_input *input,
                                         const resource_question *question, occupancy_report *r,
                                         cute_diag *diag)
{
    r->in = *input;
    apply_question(r, question);
    cute_occupancy_input probe = r->in;
    r->now.size = sizeof r->now;
    r->same.size = sizeof r->same;
    r->more.size = sizeof r->more;
    if (!probe.threads && question->threads < 0) probe.threads = WARP;
    CUTE_TRY(cute_occupancy_compute(&probe, &r->now, diag));
    int64_t blocks = r->now.blocks;
    CUTE_TRY(cute_occupancy_find_most(&probe, blocks ? blocks : 1, &r->same, diag));
    CUTE_TRY(cute_occupancy_find_most(&probe, blocks + 1, &r->more, diag));
    r->can_more = r->in.threads && blocks < r->more.max_blocks && r->more.threads > 0;
    cute_occupancy_most one = {.size = sizeof one};
    CUTE_TRY(cute_occupancy_find_most(&probe, 1, &one, diag));
    int64_t most_smem = one.smem < 0 ? 0 : one.smem / KIB * KIB;
    cute_status status = vary_axis(arena, r, BY_THREADS, WARP, MOST_THREADS, WARP);
    if (status == CUTE_OK && r->in.threads)
        status = vary_axis(arena, r, BY_REGISTERS, REGISTER_STEP, MOST_REGISTERS + 1, REGISTER_STEP);
    if (status == CUTE_OK && r->in.threads) status = vary_axis(arena, r, BY_SHARED, 0, most_smem, KIB);
    return status == CUTE_OK ? status : cute_fail_memory(diag);
}

/* An occupancy that cannot be computed is an error only if there is a question; otherwise the report states the reason. */
static cute_status add_occupancy(cute_arena *arena, resource_kernel *r, const cute_occupancy_input *in,
                                 const resource_question *question, cute_diag *diag)
{
    const resource_question none = RESOURCE_AS_IS;
    bool asked = question->arch || memcmp(question, &none, sizeof none) != 0;
    cute_diag *own = asked ? NULL : cute_diag_create();
    cute_status status = cute_occupancy_report_create(arena, in, question, &r->occupancy, asked ? diag : own);
    r->has_occupancy = status == CUTE_OK;
    if (!asked && status != CUTE_OK) {
        const cute_message *message = own ? cute_diag_get(own, 0) : NULL;
        r->why_not = cute_arena_printf(arena, "%s", message ? message->text : "out of memory");
        status = CUTE_OK;
    }
    cute_diag_destroy(own);
    return status;
}

cute_status cute_resource_report_create(cute_arena *arena, const char *label, const cute_module *module,
                                        const char *only, const resource_question *question,
                                        resource_report *out, cute_diag *diag)
{
    size_t count = cute_module_kernel_count(module);
    *out = (resource_report){.label = label,
                             .arch = cute_module_arch(module),
                             .format = cute_module_format_name(cute_module_get_container(module)),
                             .kernels = cute_arena_array(arena, count + 1, sizeof *out->kernels)};
    if (!out->kernels) return cute_fail_memory(diag);
    for (size_t i = 0; i < count; i++) {
        const cute_kernel *k = cute_module_kernel(module, i);
        if (only && strcmp(only, k->name)) continue;
        resource_kernel *r = &out->kernels[out->count++];
        cute_occupancy_input in = {.size = sizeof in};
        r->kernel = k;
        CUTE_TRY(cute_occupancy_of_kernel(module, k, &in, diag));
        r->occupancy.dynamic_unknown = k->uses_dynamic_smem && k->dynamic_smem < 0;
        CUTE_TRY(add_occupancy(arena, r, &in, question, diag));
    }
    return CUTE_OK;
}
