/* The resource report as JSON; docs/reports.md has the keys. */
#include "lib/code/sass/code.h"
#include "lib/report/module/module.h"
#include "lib/report/resources/resources.h"

/* Unknown values and those without a limit are omitted. */
static void put_number(json_t *object, const char *key, int64_t value)
{
    if (value >= 0 && value != INT64_MAX) json_object_set_new(object, key, json_integer(value));
}

static json_t *limits_json(unsigned limits)
{
    static const char *const names[] = {"warps", "registers", "shared memory", "barriers", "blocks"};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (limits >> i & 1) json_array_append_new(list, json_string(names[i]));
    return list;
}

json_t *cute_occupancy_result_json(const cute_occupancy *o)
{
    json_t *value = json_object();
    put_number(value, "blocks", o->blocks);
    put_number(value, "warps", o->warps);
    put_number(value, "max_warps", o->max_warps);
    json_object_set_new(value, "fraction", json_real(o->fraction));
    json_object_set_new(value, "limit", json_string(o->limit));
    json_object_set_new(value, "limits", limits_json(o->limits));
    return value;
}

static json_t *point_json(const occupancy_point *p)
{
    json_t *value = json_pack("{s:I}", "at", (json_int_t)p->at), *result = cute_occupancy_result_json(&p->o);
    json_object_update(value, result);
    json_decref(result);
    return value;
}

static json_t *most_json(const cute_occupancy_most *m, int64_t blocks)
{
    json_t *value = json_pack("{s:I}", "blocks", (json_int_t)blocks);
    put_number(value, "threads", m->threads);
    put_number(value, "registers", m->registers);
    put_number(value, "shared", m->smem);
    put_number(value, "barriers", m->barriers);
    return value;
}

json_t *cute_occupancy_json(const occupancy_report *r)
{
    static const char *const axes[OCCUPANCY_AXES] = {"by_block", "by_registers", "by_shared"};
    const cute_occupancy_input *in = &r->in;
    const cute_occupancy *o = &r->now;
    json_t *value = json_pack("{s:s}", "arch", in->arch);
    if (r->compiled_for) json_object_set_new(value, "compiled_for", json_string(r->compiled_for));
    if (r->what_if) json_object_set_new(value, "what_if", json_true());
    if (in->threads) put_number(value, "threads", in->threads);
    put_number(value, "registers", in->registers);
    put_number(value, "shared", in->static_smem + in->dynamic_smem);
    put_number(value, "barriers", in->barriers);
    if (in->cluster) put_number(value, "cluster", in->cluster);
    if (in->has_carveout) put_number(value, "carveout", in->carveout);
    if (r->dynamic_unknown) json_object_set_new(value, "dynamic_smem_unknown", json_true());
    if (in->threads) {
        json_t *result = cute_occupancy_result_json(o), *limits = json_object();
        json_object_update(value, result);
        json_decref(result);
        put_number(value, "block_registers", o->block_registers);
        put_number(value, "block_shared", o->block_smem);
        put_number(value, "multiprocessor_registers", o->registers);
        put_number(value, "multiprocessor_shared", o->smem);
        put_number(limits, "warps", o->by_warps);
        put_number(limits, "registers", o->by_registers);
        put_number(limits, "shared memory", o->by_smem);
        put_number(limits, "barriers", o->by_barriers);
        put_number(limits, "blocks", o->by_blocks);
        json_object_set_new(value, "blocks_by", limits);
        if (o->blocks) json_object_set_new(value, "as_many_with", most_json(&r->same, o->blocks));
        if (r->can_more) json_object_set_new(value, "one_more_with", most_json(&r->more, o->blocks + 1));
    }
    for (size_t a = 0; a < OCCUPANCY_AXES; a++) {
        json_t *list = json_array();
        for (size_t i = 0; i < r->counts[a]; i++) json_array_append_new(list, point_json(&r->points[a][i]));
        json_object_set_new(value, axes[a], list);
    }
    return value;
}

/* Live registers by class, and lines that use local memory. */
static void put_code(json_t *kernel, const resource_kernel *r)
{
    json_t *live = json_object(), *lines = json_array();
    for (int c = 0; c < CUTE_REGISTER_CLASSES; c++) put_number(live, cute_register_class_name[c], r->live[c]);
    for (size_t i = 0; i < r->local_count; i++) {
        const resource_line *l = &r->local[i];
        json_t *line = json_object();
        if (l->file) json_object_set_new(line, "file", cute_json_text(l->file));
        if (l->file) put_number(line, "line", l->line);
        put_number(line, "stores", l->stores);
        put_number(line, "bytes_stored", l->bytes_stored);
        put_number(line, "loads", l->loads);
        put_number(line, "bytes_loaded", l->bytes_loaded);
        json_array_append_new(lines, line);
    }
    json_object_set_new(kernel, "live_registers", live);
    json_object_set_new(kernel, "local_memory", lines);
}

json_t *cute_resources_json(const resource_report *report)
{
    json_t *kernels = json_array();
    for (size_t i = 0; i < report->count; i++) {
        const resource_kernel *r = &report->kernels[i];
        json_t *kernel = cute_report_resources_json(r->kernel);
        if (r->has_code) put_code(kernel, r);
        if (r->has_occupancy)
            json_object_set_new(kernel, "occupancy", cute_occupancy_json(&r->occupancy));
        else
            json_object_set_new(kernel, "no_occupancy", json_string(r->why_not));
        json_array_append_new(kernels, kernel);
    }
    return json_pack("{s:o,s:s,s:s,s:o}", "file", cute_json_text(report->label), "format", report->format,
                     "arch", report->arch, "kernels", kernels);
}
