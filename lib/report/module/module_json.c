/* A module's kernels as JSON, with the keys of docs/metadata.md. */
#include <string.h>

#include "lib/base/text/demangle.h"
#include "lib/cubin/module.h"
#include "lib/launch/plan/hostplan.h"
#include "lib/report/module/module.h"
#include "lib/report/report.h"

/* Unknown values are omitted. */
static void put_text(json_t *object, const char *key, const char *text)
{
    if (text) json_object_set_new(object, key, cute_json_text(text));
}

static void put_number(json_t *object, const char *key, int64_t value)
{
    if (value >= 0) json_object_set_new(object, key, json_integer(value));
}

static void put_list(json_t *object, const char *key, const int64_t *list, size_t count)
{
    if (list) json_object_set_new(object, key, cute_json_integers(list, count, CUTE_DYNAMIC));
}

static void put_dims(json_t *object, const char *key, const int64_t dims[3])
{
    if (dims[0] > 0) put_list(object, key, dims, 3);
}

static json_t *arg_json(const cute_arg *a)
{
    json_t *o = json_object();
    put_text(o, "name", a->name);
    put_text(o, "kind", cute_arg_kind_name(a->kind));
    put_text(o, "type", a->type);
    put_text(o, "dtype", a->dtype);
    put_number(o, "first", (int64_t)a->first);
    put_number(o, "count", (int64_t)a->count);
    put_number(o, "size", a->size);
    if (a->reads || a->writes)
        put_text(o, "access", a->reads && a->writes ? "readwrite" : a->reads ? "read" : "write");
    put_list(o, "shape", a->shape, a->rank);
    put_list(o, "strides", a->strides, a->rank);
    put_text(o, "layout", a->layout);
    if (a->align) put_number(o, "align", a->align);
    put_list(o, "box", a->box, a->box_rank);
    if (a->map_modes) put_list(o, "modes", a->map_modes, a->box_rank);
    if (a->map_modes) put_number(o, "tensor", a->map_tensor);
    put_text(o, "format", a->map_format);
    put_text(o, "mode", a->map_mode);
    put_text(o, "swizzle", a->swizzle);
    put_text(o, "interleave", a->interleave);
    put_text(o, "l2promo", a->l2promo);
    put_text(o, "fill", a->fill);
    if (a->kind == CUTE_ARG_TENSOR_MAP) put_text(o, "space", a->in_memory ? "memory" : "param");
    if (!a->field_count) return o;
    json_t *fields = json_array();
    for (size_t i = 0; i < a->field_count; i++) {
        json_t *field = json_object();
        put_text(field, "name", a->fields[i].name);
        put_text(field, "type", a->fields[i].type);
        put_text(field, "dtype", a->fields[i].dtype);
        put_number(field, "offset", a->fields[i].offset);
        put_number(field, "size", a->fields[i].size);
        json_array_append_new(fields, field);
    }
    json_object_set_new(o, "fields", fields);
    return o;
}

static json_t *resources_json(const cute_kernel *k)
{
    const cute_resources *r = &k->resources;
    json_t *o = json_object();
    put_number(o, "registers", r->registers);
    put_number(o, "spill_stores", r->spill_stores);
    put_number(o, "spill_loads", r->spill_loads);
    put_number(o, "stack", r->stack);
    put_number(o, "max_stack", r->max_stack);
    put_number(o, "static_smem", k->static_smem);
    put_number(o, "barriers", r->barriers);
    put_number(o, "constant", r->constant);
    put_number(o, "param_bytes", r->param_bytes);
    put_number(o, "code_bytes", r->code_bytes);
    return o;
}

static json_t *occupancy_json(const cute_kernel *k, const cute_occupancy *c)
{
    json_t *o = json_object();
    put_number(o, "threads", cute_kernel_threads(k));
    put_number(o, "blocks", c->blocks);
    put_number(o, "warps", c->warps);
    put_number(o, "max_warps", c->max_warps);
    json_object_set_new(o, "fraction", json_real(c->fraction));
    put_text(o, "limit", c->limit);
    if (k->uses_dynamic_smem && k->dynamic_smem < 0)
        json_object_set_new(o, "dynamic_smem_unknown", json_true());
    return o;
}

static json_t *source_json(const cute_place *place)
{
    json_t *o = json_object();
    put_text(o, "file", place->file);
    put_number(o, "line", place->line);
    put_number(o, "column", place->column);
    return o;
}

static void put_names(json_t *o, const cute_kernel *k)
{
    cute_demangled names;
    cute_arena *arena = cute_arena_create();
    put_text(o, "kernel", k->name);
    if (arena && cute_demangle(arena, k->name, &names)) put_text(o, "demangled", names.full);
    cute_arena_destroy(arena);
}

static void put_launch(json_t *o, const cute_kernel *k)
{
    put_dims(o, "reqntid", k->reqntid);
    put_dims(o, "maxntid", k->maxntid);
    put_dims(o, "cluster", k->cluster);
    if (k->max_cluster > 0) put_number(o, "max_cluster", k->max_cluster);
    if (k->explicit_cluster) json_object_set_new(o, "explicit_cluster", json_true());
    if (k->blocks_are_clusters) json_object_set_new(o, "blocks_are_clusters", json_true());
    if (k->min_blocks > 0) put_number(o, "min_blocks", k->min_blocks);
    if (k->max_registers > 0) put_number(o, "max_registers", k->max_registers);
    put_dims(o, "grid", k->grid);
    put_dims(o, "block", k->block);
    put_number(o, "dynamic_smem", k->dynamic_smem);
    if (k->uses_dynamic_smem) json_object_set_new(o, "uses_dynamic_smem", json_true());
}

json_t *cute_report_resources_json(const cute_kernel *k)
{
    json_t *o = json_object();
    put_names(o, k);
    put_launch(o, k);
    json_object_set_new(o, "resources", resources_json(k));
    return o;
}

json_t *cute_report_kernel_json(const cute_module *module, const cute_kernel *k)
{
    json_t *o = json_object(), *args = json_array(), *params = json_array();
    cute_occupancy occupancy;
    put_names(o, k);
    put_text(o, "module", k->module);
    json_object_set_new(o, "metadata", json_boolean(k->has_metadata));
    for (size_t i = 0; i < k->arg_count; i++) json_array_append_new(args, arg_json(&k->args[i]));
    json_object_set_new(o, "args", args);
    for (size_t i = 0; i < k->param_count; i++) {
        json_t *param = json_object();
        put_number(param, "offset", k->params[i].offset);
        put_number(param, "size", k->params[i].size);
        if (k->params[i].align) put_number(param, "align", k->params[i].align);
        put_text(param, "name", k->params[i].name);
        json_array_append_new(params, param);
    }
    json_object_set_new(o, "params", params);
    put_launch(o, k);
    if (k->smem_align) put_number(o, "smem_align", k->smem_align);
    if (k->source.file) json_object_set_new(o, "source", source_json(&k->source));
    if (k->define_count) {
        json_t *defines = json_object();
        for (size_t i = 0; i < k->define_count; i++)
            put_text(defines, k->define_names[i], k->define_values[i]);
        json_object_set_new(o, "defines", defines);
    }
    json_object_set_new(o, "resources", resources_json(k));
    if (cute_kernel_occupancy(module, k, &occupancy))
        json_object_set_new(o, "occupancy", occupancy_json(k, &occupancy));
    return o;
}

static const struct {
    uint32_t type;
    const char *name;
} section_kinds[] = {
    {0, "NULL"},
    {1, "PROGBITS"},
    {2, "SYMTAB"},
    {3, "STRTAB"},
    {4, "RELA"},
    {7, "NOTE"},
    {8, "NOBITS"},
    {9, "REL"},
    {0x70000000, "CUDA_INFO"},
    {0x70000001, "CUDA_CALLGRAPH"},
    {0x70000002, "CUDA_PROTOTYPE"},
    {0x70000004, "CUDA_METADATA"},
    {0x7000000a, "CUDA_RELOCINFO"},
    {0x70000086, "CUDA_COMPAT"},
};

const char *cute_section_kind(uint32_t type)
{
    for (size_t i = 0; i < sizeof section_kinds / sizeof *section_kinds; i++)
        if (section_kinds[i].type == type) return section_kinds[i].name;
    return "";
}

static json_t *sections_json(const cute_elf *elf)
{
    json_t *array = json_array();
    for (size_t i = 1; i < elf->section_count; i++) {
        const cute_elf_section *s = &elf->sections[i];
        json_t *o = json_object();
        put_text(o, "name", s->name);
        put_text(o, "kind", cute_section_kind(s->type));
        put_number(o, "type", s->type);
        put_number(o, "flags", (int64_t)s->flags);
        put_number(o, "offset", (int64_t)s->offset);
        put_number(o, "size", (int64_t)s->size);
        json_array_append_new(array, o);
    }
    return array;
}

/* The temporaries of a host function as texts. */
static void put_temporaries(json_t *o, const json_t *line)
{
    host_plan plan;
    cute_buffer text = {0};
    cute_arena *arena = cute_arena_create();
    json_t *list = json_array();
    bool read = arena && host_plan_read(arena, "<plan>", line, &plan, NULL) == CUTE_OK && !plan.refused;
    for (size_t i = 0; read && host_temporary_text(&plan, i, &text); i++) {
        json_array_append_new(list, cute_json_text(cute_buffer_text(&text)));
        cute_buffer_release(&text);
    }
    if (json_array_size(list)) json_object_set(o, "temporaries", list);
    json_decref(list);
    cute_arena_destroy(arena);
}

/* Each host function with its parameters (docs/metadata.md), or the reason why it has no plan. */
static void put_plans(json_t *o, const cute_module *module)
{
    static const char *const keys[] = {"plan", "args", "refused"};
    const char *line;
    size_t length, index;
    json_t *plans = json_array(), *json, *other;
    for (size_t i = 0; cute_module_plan_at(module, i, &line, &length); i++) {
        if (cute_json_parse("<plan>", line, length, &json, NULL) != CUTE_OK) continue;
        json_t *plan = json_object();
        for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
            if (json_object_get(json, keys[k]))
                json_object_set(plan, keys[k], json_object_get(json, keys[k]));
        put_temporaries(plan, json);
        bool seen = false;
        json_array_foreach(plans, index, other) seen = seen || json_equal(other, plan);
        if (!seen) json_array_append(plans, plan);
        json_decref(plan);
        json_decref(json);
    }
    if (json_array_size(plans)) json_object_set(o, "plans", plans);
    json_decref(plans);
}

json_t *cute_report_module_json(const char *label, const cute_module *module, const char *only, bool sections)
{
    json_t *o = json_object(), *kernels = json_array();
    put_text(o, "file", label);
    put_text(o, "format", cute_module_format_name(cute_module_get_container(module)));
    put_text(o, "arch", cute_module_arch(module));
    for (size_t i = 0; i < cute_module_kernel_count(module); i++) {
        const cute_kernel *k = cute_module_kernel(module, i);
        if (!only || strcmp(only, k->name) == 0)
            json_array_append_new(kernels, cute_report_kernel_json(module, k));
    }
    json_object_set_new(o, "kernels", kernels);
    if (!only) put_plans(o, module);
    if (sections && cute_module_elf(module))
        json_object_set_new(o, "sections", sections_json(cute_module_elf(module)));
    return o;
}
