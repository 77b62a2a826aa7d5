/* Schedules as JSON: the values of the metadata, with names in place of indices, and the unused bytes of shared memory. */
#include "lib/report/schedule/schedule.h"

enum { WARP = 32 };

static json_t *extents_json(const schedule_extents *e)
{
    return cute_json_integers(e->extent, e->rank, INT64_MIN);
}

static const char *role_name(const schedule_kernel *k, int64_t role)
{
    return k->roles[role].name;
}

static json_t *number(int64_t value)
{
    return value < 0 ? json_null() : json_integer(value);
}

static void put_place(json_t *object, const char *file, int64_t line)
{
    if (!file) return;
    json_object_set_new(object, "file", cute_json_text(file));
    json_object_set_new(object, "line", json_integer(line));
}

static json_t *roles_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->role_count; n++) {
        const schedule_role *r = &k->roles[n];
        json_array_append_new(list,
                              json_pack("{s:o,s:I,s:I,s:I,s:o,s:o,s:I}", "name", cute_json_text(r->name),
                                        "first_warp", (json_int_t)r->first_warp, "warps",
                                        (json_int_t)r->warps, "threads", (json_int_t)(r->warps * WARP),
                                        "registers", r->registers ? json_integer(r->registers) : json_null(),
                                        "barrier", r->barrier ? json_integer(r->barrier) : json_null(),
                                        "turns", (json_int_t)r->turns));
    }
    return list;
}

static json_t *rings_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->ring_count; n++) {
        const schedule_ring *r = &k->rings[n];
        json_t *one = json_pack("{s:o*,s:o,s:o,s:I,s:I,s:I,s:o*,s:o*,s:o*,s:o,s:o,s:I}", "tensor",
                                cute_json_text(r->name), "tile", extents_json(&r->tile), "dtype",
                                cute_json_text(r->dtype), "stages", (json_int_t)r->stages, "offset",
                                (json_int_t)r->offset, "bytes", (json_int_t)r->bytes, "swizzle",
                                cute_json_text(r->swizzle), "layout", cute_json_text(r->layout), "copy",
                                cute_json_text(r->copy), "role", cute_json_text(role_name(k, r->role)),
                                "pipe", number(r->pipe), "multicast_blocks", (json_int_t)r->sharers);
        put_place(one, r->file, r->line);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *pipes_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->pipe_count; n++) {
        const schedule_pipe *p = &k->pipes[n];
        json_t *pipe =
            json_pack("{s:I,s:I,s:I,s:{s:I,s:I,s:o,s:o},s:{s:I,s:I,s:o,s:o,s:o}}", "stages",
                      (json_int_t)p->stages, "offset", (json_int_t)p->offset, "bytes", (json_int_t)p->bytes,
                      "full", "arrivals", (json_int_t)p->writers, "expected_bytes", (json_int_t)p->expected,
                      "signalled_by", cute_json_text(role_name(k, p->producer)), "awaited_by",
                      cute_json_text(role_name(k, p->consumer)), "empty", "arrivals", (json_int_t)p->arrivals,
                      "readers", (json_int_t)p->readers, "reader", cute_json_text(p->reader), "signalled_by",
                      cute_json_text(role_name(k, p->consumer)), "awaited_by",
                      cute_json_text(role_name(k, p->producer)));
        if (p->other >= 0) json_object_set_new(pipe, "also_read_by", cute_json_text(role_name(k, p->other)));
        json_array_append_new(list, pipe);
    }
    return list;
}

static json_t *products_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->product_count; n++) {
        const schedule_product *p = &k->products[n];
        json_t *one = json_pack("{s:o,s:o,s:o,s:o,s:o}", "instruction", cute_json_text(p->instruction),
                                "tile", extents_json(&p->tile), "atom", extents_json(&p->atom), "role",
                                cute_json_text(role_name(k, p->role)), "pending", number(p->pending));
        put_place(one, p->file, p->line);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *stores_json(const schedule_kernel *k, const schedule_store *stores, size_t count)
{
    json_t *list = json_array();
    for (size_t n = 0; n < count; n++) {
        const schedule_store *s = &stores[n];
        json_t *one =
            json_pack("{s:o*,s:o*,s:o,s:o,s:o}", "tensor", cute_json_text(s->name), "copy",
                      cute_json_text(s->copy), "band", s->band ? json_integer(s->band) : json_null(), "tile",
                      extents_json(&s->tile), "role", cute_json_text(role_name(k, s->role)));
        put_place(one, s->file, s->line);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *memory_json(const schedule_kernel *k)
{
    json_t *scratch = json_array();
    for (size_t n = 0; n < k->scratch_count; n++)
        json_array_append_new(scratch, json_pack("{s:o,s:I,s:I}", "role",
                                                 cute_json_text(role_name(k, k->scratch[n].role)), "offset",
                                                 (json_int_t)k->scratch[n].offset, "bytes",
                                                 (json_int_t)k->scratch[n].bytes));
    return json_pack("{s:I,s:o,s:o,s:o}", "bytes", (json_int_t)k->shared, "limit", number(k->shared_limit),
                     "left", k->shared_limit < 0 ? json_null() : json_integer(k->shared_limit - k->shared),
                     "staging", scratch);
}

static json_t *barriers_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->barrier_count; n++) {
        const schedule_barrier *b = &k->barriers[n];
        json_array_append_new(list, json_pack("{s:I,s:o,s:I,s:I}", "number", (json_int_t)b->number, "role",
                                              cute_json_text(role_name(k, b->role)), "threads",
                                              (json_int_t)b->threads, "uses", (json_int_t)b->uses));
    }
    return list;
}

static json_t *refused_json(const schedule_kernel *k)
{
    json_t *list = json_array();
    for (size_t n = 0; n < k->refused_count; n++) {
        const schedule_refusal *r = &k->refused[n];
        json_t *one = json_pack("{s:o}", "text", cute_json_text(r->text));
        put_place(one, r->file, r->line);
        json_array_append_new(list, one);
    }
    return list;
}

static json_t *kernel_json(const schedule_kernel *k)
{
    json_t *one = json_pack("{s:o,s:o*,s:o*}", "kernel", cute_json_text(k->kernel), "schedule",
                            cute_json_text(k->text), "why_none", cute_json_text(k->why_none));
    if (k->refused_count) json_object_set_new(one, "refused", refused_json(k));
    if (k->why_none) return one;
    json_t *grid = json_pack("{s:b,s:o,s:o,s:I,s:o*}", "resident", k->resident, "tile",
                             extents_json(&k->tile), "cluster", extents_json(&k->cluster), "order",
                             (json_int_t)k->order, "tail", cute_json_text(k->tail));
    if (k->slices > 1) json_object_set_new(grid, "slices", json_integer(k->slices));
    json_object_set_new(one, "grid", grid);
    const struct {
        const char *key;
        json_t *value;
    } parts[] = {{"roles", roles_json(k)},
                 {"rings", rings_json(k)},
                 {"pipes", pipes_json(k)},
                 {"barriers", barriers_json(k)},
                 {"products", products_json(k)},
                 {"stores", stores_json(k, k->stores, k->store_count)},
                 {"loads", stores_json(k, k->loads, k->load_count)},
                 {"copies_pending", number(k->copies_pending)},
                 {"shared_memory", memory_json(k)}};
    for (size_t n = 0; n < sizeof parts / sizeof *parts; n++)
        json_object_set_new(one, parts[n].key, parts[n].value);
    return one;
}

json_t *cute_schedule_json(const schedule_report *report)
{
    json_t *kernels = json_array();
    for (size_t n = 0; n < report->count; n++)
        json_array_append_new(kernels, kernel_json(&report->kernels[n]));
    return json_pack("{s:o,s:o}", "file", cute_json_text(report->label), "kernels", kernels);
}
