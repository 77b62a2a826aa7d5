/* "steps" in launch.json: launches, host functions, copies and fills on named streams, and the events between them; the steps of
 * launches and host functions without "steps". */
#include <string.h>

#include "lib/base/list.h"
#include "lib/launch/config/config.h"

#define FAIL(config, path, diag, ...) cute_document_fail(&(config)->document, path, false, diag, __VA_ARGS__)

cute_status config_add_step(cute_config *config, config_steps *steps, config_step step, cute_diag *diag)
{
    if (!cute_arena_more(config->arena, &steps->items, steps->count, &steps->capacity, sizeof *steps->items,
                         8))
        return cute_fail_memory(diag);
    steps->items[steps->count++] = step;
    return CUTE_OK;
}

cute_status config_launch_steps(cute_config *config, const config_launch *launches, size_t count,
                                config_steps *steps, cute_diag *diag)
{
    steps->streams = 1;
    for (size_t i = 0; i < count; i++) {
        config_step step = {.path = launches[i].path, .step = {.kind = HOST_LAUNCH, .launch = i}};
        CUTE_TRY(config_add_step(config, steps, step, diag));
    }
    return CUTE_OK;
}

/* ---- the plans of steps ---- */

cute_status config_read_step_plans(cute_config *config, cute_diag *diag)
{
    static const char *const exclusive[] = {"kernel",       "launches", "plan",         "grid",
                                            "block",        "args",     "dynamic_smem", "cooperative",
                                            "programmatic", "cluster"};
    json_t *root = config->document.root, *steps = json_object_get(root, "steps"), *step;
    const cute_path *base = config_member(config, NULL, "steps");
    size_t index;
    if (!steps) return CUTE_OK;
    for (size_t i = 0; i < sizeof exclusive / sizeof *exclusive; i++)
        if (json_object_get(root, exclusive[i]))
            return cute_document_fail(&config->document, config_member(config, NULL, exclusive[i]), true,
                                      diag, "'steps' and '%s' are mutually exclusive: move '%s' into a step",
                                      exclusive[i], exclusive[i]);
    config_plan_list *plans = &config->plans;
    plans->items = cute_arena_array(config->arena, json_array_size(steps) + 1, sizeof *plans->items);
    if (!plans->items) return cute_fail_memory(diag);
    json_array_foreach(steps, index, step)
    {
        const json_t *plan = json_object_get(step, "plan");
        if (!plan) continue;
        CUTE_TRY(config_read_plan(config, plan,
                                  config_member(config, config_element(config, base, index), "plan"),
                                  &plans->items[plans->count], diag));
        plans->count++;
    }
    return CUTE_OK;
}

/* ---- reading ---- */

typedef struct named_list {
    const char **names;
    uint8_t *waited; /* of events */
    int count;
} named_list;

typedef struct step_reader {
    cute_config *config;
    named_list streams, events; /* streams[0] is the default stream */
    size_t next_plan;
    cute_diag *diag;
} step_reader;

/* The index of a name; -1: it is not in the list. */
static int find_name(const named_list *list, const char *name)
{
    for (int i = 0; i < list->count; i++)
        if (list->names[i] && strcmp(list->names[i], name) == 0) return i;
    return -1;
}

static int add_name(named_list *list, const char *name)
{
    int known = find_name(list, name);
    if (known >= 0) return known;
    list->names[list->count] = name;
    return list->count++;
}

cute_status config_read_part(const cute_config *config, const json_t *json, const cute_path *path,
                             cute_tensor *out, host_number *address, cute_diag *diag)
{
    config_buffer *buffer;
    const json_t *name = json_is_object(json) ? json_object_get(json, "buffer") : json;
    CUTE_TRY(config_find_buffer(config, json_string_value(name),
                                json_is_object(json) ? config_member(config, path, "buffer") : path, &buffer,
                                diag));
    CUTE_TRY(
        config_buffer_view(config, json_is_object(json) ? json : NULL, path, &buffer->tensor, out, diag));
    int64_t size = cute_dtype_get(out->dtype)->bytes;
    *address = (host_number){.width = 64, .base = (int)(buffer - config->buffers), .known = true};
    address->value = (out->offset - buffer->tensor.offset) * size;
    return CUTE_OK;
}

cute_status config_read_range(const cute_config *config, const json_t *json, const cute_path *path,
                              cute_tensor *out, host_number *address, cute_diag *diag)
{
    CUTE_TRY(config_read_part(config, json, path, out, address, diag));
    if (cute_tensor_contiguous(out)) return CUTE_OK;
    return FAIL(
        config, path, diag,
        "expected elements of '%s' without gaps between them: fills and collectives are of contiguous memory",
        out->name);
}

static cute_status read_range(const step_reader *r, const json_t *json, const cute_path *path,
                              cute_tensor *out, host_number *address)
{
    return config_read_range(r->config, json, path, out, address, r->diag);
}

/* A copy of parts with gaps, element by element. */
static cute_status read_box(const step_reader *r, const cute_tensor *from, const cute_tensor *to,
                            const cute_path *path, host_step *out)
{
    cute_buffer shapes[2] = {{0}};
    bool same = from->rank == to->rank;
    int64_t unused[2];
    host_box *box = cute_arena_alloc(r->config->arena, sizeof *box);
    if (!box) return cute_fail_memory(r->diag);
    for (int i = 0; i < from->rank && same; i++) same = from->shape[i] == to->shape[i];
    if (!same) {
        cute_tensor_shape_text(from, &shapes[0]);
        cute_tensor_shape_text(to, &shapes[1]);
        FAIL(r->config, path, r->diag,
             "expected the shape %s of 'copy', as there are gaps between elements, got %s",
             cute_buffer_text(&shapes[0]), cute_buffer_text(&shapes[1]));
        for (int i = 0; i < 2; i++) cute_buffer_release(&shapes[i]);
        return CUTE_INVALID;
    }
    *box = (host_box){.rank = from->rank, .size = cute_dtype_get(from->dtype)->bytes};
    for (int i = 0; i < from->rank; i++) {
        box->extents[i] = from->shape[i];
        box->to[i] = to->strides[i] * box->size;
        box->from[i] = from->strides[i] * box->size;
    }
    if (!host_box_spans(box, &out->bytes, &unused[0], &unused[1]))
        return FAIL(r->config, path, r->diag, "the size of the copy exceeds 64 bits");
    host_box_simplify(box);
    if (!host_box_injective(box))
        return FAIL(r->config, path, r->diag, "expected strides of the target that keep its elements apart");
    if (box->rank) out->box = box;
    return CUTE_OK;
}

static cute_status read_copy(const step_reader *r, const json_t *json, const cute_path *path, host_step *out)
{
    cute_tensor from, to;
    const cute_path *from_path = config_member(r->config, path, "copy"),
                    *to_path = config_member(r->config, path, "to");
    const json_t *target = json_object_get(json, "to");
    if (!target) return FAIL(r->config, path, r->diag, "missing key 'to', the buffer that 'copy' writes");
    out->kind = HOST_COPY;
    CUTE_TRY(
        config_read_part(r->config, json_object_get(json, "copy"), from_path, &from, &out->from, r->diag));
    CUTE_TRY(config_read_part(r->config, target, to_path, &to, &out->to, r->diag));
    const cute_dtype_info *f = cute_dtype_get(from.dtype), *t = cute_dtype_get(to.dtype);
    if (f->bytes != t->bytes)
        return FAIL(r->config, to_path, r->diag,
                    "expected elements of %lld bytes, as in '%s' of %s, got '%s' of %s", (long long)f->bytes,
                    from.name, f->name, to.name, t->name);
    if (from.count != to.count)
        return FAIL(r->config, to_path, r->diag, "expected %lld elements, as many as 'copy' has, got %lld",
                    (long long)from.count, (long long)to.count);
    out->bytes = from.count * f->bytes;
    if (cute_tensor_contiguous(&from) && cute_tensor_contiguous(&to)) return CUTE_OK;
    return read_box(r, &from, &to, to_path, out);
}

static cute_status read_fill(const step_reader *r, const json_t *json, const cute_path *path, host_step *out)
{
    cute_tensor to;
    double value = 0;
    const json_t *number = json_object_get(json, "value");
    CUTE_TRY(
        read_range(r, json_object_get(json, "fill"), config_member(r->config, path, "fill"), &to, &out->to));
    if (number)
        CUTE_TRY(config_real(r->config, number, config_member(r->config, path, "value"), &value, r->diag));
    out->kind = HOST_FILL;
    out->width = (int)cute_dtype_get(to.dtype)->bytes;
    out->bytes = to.count * out->width;
    cute_dtype_store(to.dtype, &out->value, 1, 1, &value);
    return CUTE_OK;
}

static cute_status add_wait(step_reader *r, const json_t *name, const cute_path *path, config_step step)
{
    step.step.kind = HOST_WAIT;
    step.step.event = find_name(&r->events, json_string_value(name));
    if (step.step.event < 0)
        return FAIL(r->config, path, r->diag, "event '%s' is not recorded by an earlier step",
                    json_string_value(name));
    r->events.waited[step.step.event] = 1;
    return config_add_step(r->config, &r->config->steps, step, r->diag);
}

static cute_status read_waits(step_reader *r, const json_t *json, const cute_path *path, config_step step)
{
    const json_t *value = json_object_get(json, "wait");
    path = config_member(r->config, path, "wait");
    if (!json_is_array(value)) return add_wait(r, value, path, step);
    for (size_t i = 0; i < json_array_size(value); i++)
        CUTE_TRY(add_wait(r, json_array_get(value, i), config_element(r->config, path, i), step));
    return CUTE_OK;
}

/* The key that names the kind of a step; the other keys are its options. */
static cute_status find_kind(const step_reader *r, const json_t *json, const cute_path *path,
                             const char **out)
{
    static const char *const kinds[] = {"plan", "copy", "fill", "record", "wait", "collective"};
    static const struct {
        const char *key, *kind; /* kind NULL: of all steps */
    } keys[] = {
        {"stream", NULL},       {"description", NULL},
        {"plan", "plan"},       {"copy", "copy"},
        {"to", "copy"},         {"fill", "fill"},
        {"value", "fill"},      {"record", "record"},
        {"wait", "wait"},       {"collective", "collective"},
        {"from", "collective"}, {"to", "collective"},
        {"peer", "collective"}, {"signals", "collective"},
    };
    json_t *value;
    const char *name;
    *out = "kernel"; /* optional if the module has only one */
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (json_object_get(json, kinds[i])) *out = kinds[i];
    json_object_foreach((json_t *)(uintptr_t)json, name, value)
    {
        bool fits = !strcmp(*out, "kernel"), known = false;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
            if (strcmp(keys[i].key, name) != 0) continue;
            fits = (known && fits) || !keys[i].kind || !strcmp(keys[i].kind, *out);
            known = true;
        }
        if (!fits)
            return cute_document_fail(&r->config->document, config_member(r->config, path, name), true,
                                      r->diag, "unexpected key '%s' in a step with '%s'", name, *out);
    }
    return CUTE_OK;
}

static cute_status read_step(step_reader *r, const json_t *json, const cute_path *path)
{
    cute_config *config = r->config;
    const char *kind = NULL, *stream = json_string_value(json_object_get(json, "stream"));
    config_step step = {
        .path = path, .stream = stream, .step = {.stream = stream ? add_name(&r->streams, stream) : 0}};
    CUTE_TRY(find_kind(r, json, path, &kind));
    if (!strcmp(kind, "plan"))
        return config_add_run(config, &config->plans.items[r->next_plan++], false, step.step.stream, stream,
                              config->launches, &config->launch_count, &config->steps, r->diag);
    if (!strcmp(kind, "wait")) return read_waits(r, json, path, step);
    if (!strcmp(kind, "kernel")) {
        size_t before = config->launch_count;
        CUTE_TRY(config_add_launch(config, json, path, config->launches, &config->launch_count, r->diag));
        if (config->launch_count == before) return CUTE_OK;
        step.step.launch = before;
    } else if (!strcmp(kind, "copy")) {
        CUTE_TRY(read_copy(r, json, path, &step.step));
    } else if (!strcmp(kind, "collective")) {
        CUTE_TRY(config_read_collective(config, json, path, &step.step, r->diag));
    } else if (!strcmp(kind, "fill")) {
        CUTE_TRY(read_fill(r, json, path, &step.step));
    } else {
        step.step.kind = HOST_RECORD;
        step.step.event = add_name(&r->events, json_string_value(json_object_get(json, "record")));
    }
    return config_add_step(config, &config->steps, step, r->diag);
}

/* Counts the names and launches, for the sizes of the lists. */
static cute_status prepare_reader(step_reader *r, const json_t *list)
{
    cute_config *config = r->config;
    size_t count = json_array_size(list), launches = count;
    for (size_t i = 0; i < config->plans.count; i++)
        CUTE_TRY(config_add_temporaries(config, &config->plans.items[i], r->diag));
    for (size_t i = 0; i < config->plans.count; i++) {
        CUTE_TRY(config_run_plan(config, &config->plans.items[i], r->diag));
        launches += config->plans.items[i].run.launch_count;
    }
    config->launches = cute_arena_array(config->arena, launches + 1, sizeof *config->launches);
    r->streams.names = cute_arena_array(config->arena, count + 1, sizeof *r->streams.names);
    r->events.names = cute_arena_array(config->arena, count + 1, sizeof *r->events.names);
    r->events.waited = cute_arena_array(config->arena, count + 1, 1);
    if (!config->launches || !r->streams.names || !r->events.names || !r->events.waited)
        return cute_fail_memory(r->diag);
    r->streams.count = 1;
    for (size_t i = 0; i < count; i++) {
        const json_t *item = json_array_get(list, i);
        const char *stream = json_string_value(json_object_get(item, "stream"));
        if (stream) add_name(&r->streams, stream);
        config->steps.events += json_object_get(item, "record") != NULL;
    }
    config->steps.streams = r->streams.count; /* those of host functions follow */
    return CUTE_OK;
}

cute_status config_read_steps(cute_config *config, cute_diag *diag)
{
    json_t *list = json_object_get(config->document.root, "steps"), *item;
    step_reader r = {.config = config, .diag = diag};
    const cute_path *base = config_member(config, NULL, "steps");
    size_t index;
    CUTE_TRY(prepare_reader(&r, list));
    json_array_foreach(list, index, item) CUTE_TRY(read_step(&r, item, config_element(config, base, index)));
    json_array_foreach(list, index, item)
    {
        const char *name = json_string_value(json_object_get(item, "record"));
        int event = name ? find_name(&r.events, name) : -1;
        if (event < 0 || r.events.waited[event]) continue;
        r.events.waited[event] = 1;
        cute_document_report(&config->document,
                             config_member(config, config_element(config, base, index), "record"), false,
                             CUTE_WARNING, diag, "no step waits for event '%s'", name);
    }
    return CUTE_OK;
}
