/* Tensor maps from a buffer, launch.json and the kernel's metadata. Checks each rule of
 * cuTensorMapEncodeTiled, which itself only returns "invalid value". */
#include <stdio.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/launch/plan/plan.h"

typedef struct map_word {
    const char *word, *nvgpu;
    int value, span; /* span: bytes of a swizzle's row */
} map_word;

/* Words of launch.json, and their spelling in nvgpu's metadata. */
static const map_word swizzles[] = {
    {"none", "swizzle_none", 0, 0},  {"32B", "swizzle_32b", 1, 32},
    {"64B", "swizzle_64b", 2, 64},   {"128B", "swizzle_128b", 3, 128},
    {"128B_atom_32B", NULL, 4, 128}, {"128B_atom_32B_flip_8B", NULL, 5, 128},
    {"128B_atom_64B", NULL, 6, 128}, {NULL, NULL, 0, 0},
};
static const map_word interleaves[] = {
    {"none", "none", 0, 0},
    {"16B", "interleave_16b", 1, 16},
    {"32B", "interleave_32b", 2, 32},
    {NULL, NULL, 0, 0},
};
static const map_word promotions[] = {
    {"none", "l2promo_none", 0, 0}, {"64B", "l2promo_64b", 1, 0}, {"128B", "l2promo_128b", 2, 0},
    {"256B", "l2promo_256b", 3, 0}, {NULL, NULL, 0, 0},
};
static const map_word fills[] = {{"zero", "zero", 0, 0}, {"nan", "nan", 1, 0}, {NULL, NULL, 0, 0}};

/* Looks up either spelling; NULL if unknown. */
static const map_word *find_word(const map_word *list, const char *word)
{
    for (const map_word *c = list; word && c->word; c++)
        if (strcmp(word, c->word) == 0 || (c->nvgpu && strcmp(word, c->nvgpu) == 0)) return c;
    return NULL;
}

typedef struct mapper {
    const cute_config *config;
    const cute_path *path;
    const json_t *json;
    cute_tensor view;
    int64_t box[CUTE_TENSOR_RANK], element_strides[CUTE_TENSOR_RANK];
    const map_word *swizzle, *interleave, *promotion, *fill;
    cute_diag *diag;
} mapper;

#define FAIL(m, key, ...)                                                                                    \
    cute_document_fail(&(m)->config->document, config_key((m)->config, (m)->json, (m)->path, key), false,    \
                       (m)->diag, __VA_ARGS__)

static cute_status read_extents(mapper *m, const char *key, int64_t *out)
{
    int count;
    CUTE_TRY(config_integers(m->config, json_object_get(m->json, key),
                             config_key(m->config, m->json, m->path, key), out, CUTE_TENSOR_RANK, &count,
                             m->diag));
    if (count == m->view.rank) return CUTE_OK;
    return FAIL(m, key, "expected %d extent%s, one for each dimension, got %d", m->view.rank,
                m->view.rank == 1 ? "" : "s", count);
}

static cute_status read_box(mapper *m, const cute_arg *arg)
{
    for (int i = 0; i < m->view.rank; i++) m->element_strides[i] = 1;
    if (json_object_get(m->json, "element_strides"))
        CUTE_TRY(read_extents(m, "element_strides", m->element_strides));
    if (json_object_get(m->json, "box")) return read_extents(m, "box", m->box);
    if (!arg || arg->box_rank == 0)
        return FAIL(m, "box", "expected 'box', which the kernel's metadata does not specify");
    for (size_t i = 0; i < arg->box_rank && i < CUTE_TENSOR_RANK; i++) m->box[i] = arg->box[i];
    return CUTE_OK;
}

/* launch.json's word, else the metadata's, else the first of the list. */
static cute_status choose_word(const mapper *m, const map_word *list, const char *key, const char *metadata,
                               const map_word **out)
{
    const map_word *given = find_word(list, json_string_value(json_object_get(m->json, key)));
    const map_word *known = find_word(list, metadata);
    if (metadata && !known) return FAIL(m, key, "unknown %s '%s' in the kernel's metadata", key, metadata);
    *out = given ? given : known ? known : list;
    return CUTE_OK;
}

static cute_status check_word(const mapper *m, const map_word *list, const char *key, const char *metadata,
                              const map_word *chosen)
{
    const map_word *known = find_word(list, metadata);
    if (!known || known == chosen) return CUTE_OK;
    return FAIL(m, key, "expected %s %s, as compiled into the kernel, got %s", key, known->word,
                chosen->word);
}

/* The kernel is compiled for the rank, box, swizzle and interleave of its tensor map. */
static cute_status check_agreement(const mapper *m, const cute_arg *known)
{
    if (!known) return CUTE_OK;
    CUTE_TRY(check_word(m, swizzles, "swizzle", known->swizzle, m->swizzle));
    CUTE_TRY(check_word(m, interleaves, "interleave", known->interleave, m->interleave));
    if (!known->box_rank) return CUTE_OK;
    if (known->box_rank != (size_t)m->view.rank)
        return FAIL(m, "buffer", "expected %zu dimensions, as in the kernel's box, got %d", known->box_rank,
                    m->view.rank);
    for (int i = 0; i < m->view.rank; i++) {
        if (m->box[i] != known->box[i])
            return FAIL(m, "box",
                        "expected %lld in dimension %d of the box, as compiled into the kernel, got %lld",
                        (long long)known->box[i], i, (long long)m->box[i]);
        if (m->element_strides[i] != 1)
            return FAIL(m, "element_strides",
                        "expected element stride 1 in dimension %d, as compiled into the kernel, got %lld", i,
                        (long long)m->element_strides[i]);
    }
    return CUTE_OK;
}

bool cute_tensor_map_agrees(cute_arena *arena, const cute_arg *arg, const cute_tensor_map *map,
                            const char **expected, const char **got)
{
    const struct {
        const char *name;
        const map_word *list, *known;
        int value;
    } words[] = {{"swizzle", swizzles, find_word(swizzles, arg->swizzle), (int)map->swizzle},
                 {"interleave", interleaves, find_word(interleaves, arg->interleave), (int)map->interleave}};
    *expected = *got = "?";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const map_word *given = words[i].list;
        while (given->word && given->value != words[i].value) given++;
        if (!words[i].known || words[i].known == given) continue;
        *expected = cute_arena_printf(arena, "%s %s", words[i].name, words[i].known->word);
        *got = given->word ? given->word : "an unknown one";
        return false;
    }
    if (arg->box_rank && arg->box_rank != (size_t)map->rank) {
        *expected = cute_arena_printf(arena, "%zu dimensions", arg->box_rank);
        *got = cute_arena_printf(arena, "%d", map->rank);
        return false;
    }
    for (size_t i = 0; i < arg->box_rank && i < CUTE_MAP_RANK; i++) {
        uint32_t box = map->box[arg->box_rank - 1 - i]; /* the driver counts from the fastest dimension */
        if (arg->box[i] == (int64_t)box) continue;
        *expected =
            cute_arena_printf(arena, "%lld elements in dimension %zu of the box", (long long)arg->box[i], i);
        *got = cute_arena_printf(arena, "%u", (unsigned)box);
        return false;
    }
    return true;
}

/* Rules for the tensor in memory. */
static cute_status check_tensor(const mapper *m)
{
    const cute_tensor *v = &m->view;
    int64_t bytes = cute_dtype_get(v->dtype)->bytes;
    int64_t unit = m->interleave->value == 2 ? 32 : 16;
    if (v->rank < 1 || v->rank > CUTE_MAP_RANK)
        return FAIL(m, "shape", "expected 1 to 5 dimensions in a tensor map, got %d", v->rank);
    if (m->interleave->value && v->rank < 3)
        return FAIL(m, "interleave", "expected at least 3 dimensions in an interleaved tensor map, got %d",
                    v->rank);
    if (v->offset * bytes % unit != 0)
        return FAIL(m, "offset",
                    "the tensor is misaligned: expected an offset that is a multiple of %lld bytes, got %lld",
                    (long long)unit, (long long)(v->offset * bytes));
    if (v->strides[v->rank - 1] != 1 && v->shape[v->rank - 1] != 1)
        return FAIL(m, "strides", "expected stride 1 in the last dimension of a tensor map, got %lld",
                    (long long)v->strides[v->rank - 1]);
    for (int i = 0; i < v->rank; i++)
        if (v->shape[i] < 0 || v->shape[i] > INT64_C(1) << 32)
            return FAIL(m, "shape", "expected 0 to 2^32 elements in dimension %d of a tensor map, got %lld",
                        i, (long long)v->shape[i]);
    for (int i = 0; v->count && i + 1 < v->rank; i++) {
        int64_t stride = v->strides[i] * bytes;
        if (stride % unit != 0 || stride == 0)
            return FAIL(
                m, "strides",
                "stride of dimension %d is misaligned: expected a multiple of %lld bytes, got %lld (%lld "
                "elements of %s)",
                i, (long long)unit, (long long)stride, (long long)v->strides[i],
                cute_dtype_get(v->dtype)->name);
        if (stride >= INT64_C(1) << 40)
            return FAIL(m, "strides", "expected a stride of less than 2^40 bytes in dimension %d, got %lld",
                        i, (long long)stride);
    }
    return CUTE_OK;
}

/* Rules for the box of one copy. */
static cute_status check_box(const mapper *m)
{
    const cute_tensor *v = &m->view;
    for (int i = 0; i < v->rank; i++) {
        if (m->box[i] < 1 || m->box[i] > 256)
            return FAIL(m, "box", "expected 1 to 256 in dimension %d of the box, got %lld", i,
                        (long long)m->box[i]);
        if (m->element_strides[i] < 1 || m->element_strides[i] > 8)
            return FAIL(m, "element_strides", "expected 1 to 8 as element stride %d, got %lld", i,
                        (long long)m->element_strides[i]);
    }
    int64_t inner = m->box[v->rank - 1] * cute_dtype_get(v->dtype)->bytes;
    if (m->interleave->value == 0 && inner % 16 != 0)
        return FAIL(m, "box",
                    "the box's last dimension is misaligned: expected a multiple of 16 bytes, got %lld (%lld "
                    "elements of %s)",
                    (long long)inner, (long long)m->box[v->rank - 1], cute_dtype_get(v->dtype)->name);
    if (m->interleave->value == 0 && m->swizzle->span && inner > m->swizzle->span)
        return FAIL(m, "box",
                    "expected at most %d bytes in the box's last dimension for swizzle %s, got %lld",
                    m->swizzle->span, m->swizzle->word, (long long)inner);
    if (m->interleave->value == 2 && m->swizzle->value != 1)
        return FAIL(m, "swizzle", "expected swizzle 32B with interleave 32B, got %s", m->swizzle->word);
    if (m->fill->value && cute_dtype_get(v->dtype)->class != CUTE_CLASS_FLOAT)
        return FAIL(m, "fill", "expected floating-point elements for fill nan, got %s",
                    cute_dtype_get(v->dtype)->name);
    if (m->fill->value && cute_dtype_get(v->dtype)->bytes == 1)
        return FAIL(m, "fill", "unsupported fill nan for %s, which is copied as bytes",
                    cute_dtype_get(v->dtype)->name);
    return CUTE_OK;
}

static void encode_map(const mapper *m, cute_tensor_map *out)
{
    const cute_tensor *v = &m->view;
    out->size = sizeof *out;
    out->type = (cute_tensor_map_type)cute_dtype_get(v->dtype)->map;
    out->rank = v->rank;
    for (int i = 0; i < v->rank; i++) {
        int fast = v->rank - 1 - i; /* the driver counts from the fastest dimension */
        out->dims[i] = (uint64_t)v->shape[fast];
        out->box[i] = (uint32_t)m->box[fast];
        out->element_strides[i] = (uint32_t)m->element_strides[fast];
        if (i > 0) out->strides[i - 1] = (uint64_t)(v->strides[fast] * cute_dtype_get(v->dtype)->bytes);
    }
    out->interleave = m->interleave->value;
    out->swizzle = m->swizzle->value;
    out->l2_promotion = m->promotion->value;
    out->fill = m->fill->value;
}

static const char *describe_map(const mapper *m)
{
    cute_buffer shape = {0}, box = {0};
    cute_tensor_shape_text(&m->view, &shape);
    for (int i = 0; i < m->view.rank; i++)
        cute_buffer_printf(&box, "%s%lld", i ? "x" : "", (long long)m->box[i]);
    const char *text = cute_arena_printf(
        m->config->arena, "%s %s, box %s, swizzle %s, interleave %s, L2 promotion %s, fill %s", shape.data,
        cute_dtype_get(m->view.dtype)->name, box.data, m->swizzle->word, m->interleave->word,
        m->promotion->word, m->fill->word);
    cute_buffer_release(&shape);
    cute_buffer_release(&box);
    return text ? text : "";
}

static cute_status check_fits(const mapper *m, const config_buffer *buffer)
{
    if (m->view.span <= buffer->tensor.span) return CUTE_OK;
    return FAIL(m, "shape", "the view is out of bounds: it spans %lld elements, but buffer '%s' has %lld",
                (long long)m->view.span, buffer->tensor.name, (long long)buffer->tensor.span);
}

static cute_status reserve_map(cute_plan *plan, cute_diag *diag)
{
    return cute_arena_more(plan->config->arena, &plan->maps, plan->map_count, &plan->map_capacity,
                           sizeof *plan->maps, 8)
               ? CUTE_OK
               : cute_fail_memory(diag);
}

cute_status cute_plan_map(cute_plan *plan, const json_t *json, const cute_path *path,
                          const config_buffer *buffer, const cute_arg *arg, size_t *index, cute_diag *diag)
{
    mapper m = {.config = plan->config, .path = path, .json = json, .view = buffer->tensor, .diag = diag};
    const cute_arg *known = arg && arg->kind == CUTE_ARG_TENSOR_MAP ? arg : NULL;
    if (arg && !known && arg->kind != CUTE_ARG_UNKNOWN && arg->kind != CUTE_ARG_POINTER &&
        arg->kind != CUTE_ARG_STRUCT)
        return cute_document_fail(&plan->config->document, path, false, diag,
                                  "expected a %s, got a tensor map", cute_arg_kind_name(arg->kind));
    if (known && known->map_mode)
        return FAIL(&m, "box",
                    "unsupported tensor map of mode %s: run the host function that makes it, with 'plan'",
                    known->map_mode);
    CUTE_TRY(choose_word(&m, swizzles, "swizzle", known ? known->swizzle : NULL, &m.swizzle));
    CUTE_TRY(choose_word(&m, interleaves, "interleave", known ? known->interleave : NULL, &m.interleave));
    CUTE_TRY(choose_word(&m, promotions, "l2_promotion", known ? known->l2promo : NULL, &m.promotion));
    CUTE_TRY(choose_word(&m, fills, "fill", known ? known->fill : NULL, &m.fill));
    if (json) CUTE_TRY(config_view(plan->config, json, path, &m.view, diag));
    CUTE_TRY(check_fits(&m, buffer));
    CUTE_TRY(check_tensor(&m));
    CUTE_TRY(read_box(&m, known));
    CUTE_TRY(check_box(&m));
    CUTE_TRY(check_agreement(&m, known));
    CUTE_TRY(reserve_map(plan, diag));
    plan_map *map = &plan->maps[plan->map_count];
    encode_map(&m, &map->map);
    map->buffer = (size_t)(buffer - plan->config->buffers);
    map->bytes = m.view.offset * cute_dtype_get(m.view.dtype)->bytes;
    const json_t *memory = json_object_get(json, "memory");
    map->in_memory = memory ? json_is_true(memory) : known && known->in_memory;
    map->text = describe_map(&m);
    map->rank = cute_plan_rank(plan);
    *index = plan->map_count++;
    return CUTE_OK;
}
