/* Tensor maps of TMA atoms, with extents and strides from a launch plan or from another argument's tensor.
 * Violated rules, which the driver only reports as "invalid value", are reported with the argument and its
 * mode. */
#include <stdio.h>
#include <string.h>

#include "lib/atoms/tma.h"
#include "lib/base/list.h"
#include "lib/base/numbers/checked.h"
#include "lib/launch/formula/fit.h"
#include "lib/launch/plan/hostplan.h"
#include "lib/launch/plan/plan.h"

enum { MAP_ALIGN = 16 }; /* bytes */

static cute_status fail_tma_map(const cute_plan *plan, const cute_path *path, const tma_numbers *n,
                                int dimension, const char *expected, long long got, cute_diag *diag)
{
    char mode[48] = "";
    if (dimension >= 0) snprintf(mode, sizeof mode, ", mode %lld", (long long)n->modes[dimension]);
    return cute_document_fail(&plan->config->document, path, false, diag,
                              "expected %s, got %lld (argument %s%s)", expected, got, n->tensor, mode);
}

/* Required alignment of addresses and strides, in bytes. */
static int map_align(const tma_numbers *n)
{
    return n->map.interleave == CUTE_MAP_INTERLEAVE_32B ? 2 * MAP_ALIGN : MAP_ALIGN;
}

static cute_status check_pixels(const cute_plan *plan, const cute_path *path, const tma_numbers *n,
                                cute_diag *diag)
{
    for (int i = 1; n->map.im2col && i < n->map.rank - 1; i++)
        if (n->dims[i] + n->map.upper[i - 1] - n->map.lower[i - 1] < 1)
            return fail_tma_map(plan, path, n, i,
                                "more elements in a mode than the corners of the pixel box exclude",
                                (long long)n->dims[i], diag);
    return CUTE_OK;
}

/* A tensor without elements, whose strides and address are ignored. */
static bool is_empty(const tma_numbers *n)
{
    for (int i = 0; i < n->map.rank; i++)
        if (n->dims[i] == 0) return true;
    return false;
}

static cute_status check_tma_map(const cute_plan *plan, const cute_path *path, const tma_numbers *n,
                                 int64_t bytes, cute_diag *diag)
{
    int align = map_align(n);
    bool empty = is_empty(n);
    const char *address = align == MAP_ALIGN ? "an address that is a multiple of 16 bytes"
                                             : "an address that is a multiple of 32 bytes (interleave 32B)",
               *stride = align == MAP_ALIGN ? "a stride that is a multiple of 16 bytes"
                                            : "a stride that is a multiple of 32 bytes (interleave 32B)";
    if (bytes % align && !empty) return fail_tma_map(plan, path, n, -1, address, (long long)bytes, diag);
    for (int i = 0; i < n->map.rank; i++) {
        int64_t most = n->map.im2col && i == 1 ? 1024 : 256;
        if (n->dims[i] < 0 || n->dims[i] > INT64_C(1) << 32)
            return fail_tma_map(plan, path, n, i, "0 to 2^32 elements in a mode of a tensor map",
                                (long long)n->dims[i], diag);
        if ((!n->map.im2col || i < 2) && (n->map.box[i] < 1 || n->map.box[i] > most))
            return fail_tma_map(plan, path, n, i,
                                most == 256 ? "1 to 256 elements in a mode of the box" : "1 to 1024 pixels",
                                (long long)n->map.box[i], diag);
        if (!i || n->dims[i] == 1 || empty) continue;
        if (n->strides[i] % align || n->strides[i] < align)
            return fail_tma_map(plan, path, n, i, stride, (long long)n->strides[i], diag);
        if (n->strides[i] >= INT64_C(1) << 40)
            return fail_tma_map(plan, path, n, i, "a stride of less than 2^40 bytes",
                                (long long)n->strides[i], diag);
    }
    return empty ? CUTE_OK : check_pixels(plan, path, n, diag);
}

/* The stride of a mode with one element is ignored, but has to be valid. */
static uint64_t map_stride(const tma_numbers *n, int i)
{
    int align = map_align(n);
    bool good = n->strides[i] >= align && n->strides[i] % align == 0 && n->strides[i] < INT64_C(1) << 40;
    return good ? (uint64_t)n->strides[i] : (uint64_t)align;
}

/* The corners and strides of the pixel box, width first. */
static void describe_pixels(const cute_tensor_map *map, cute_buffer *out)
{
    cute_buffer_puts(out, ", im2col");
    for (int i = 0; i < map->rank - 2; i++) {
        cute_buffer_printf(out, "%s%d to %d", i ? " x " : " ", (int)map->lower[i], (int)map->upper[i]);
        if (map->element_strides[1 + i] > 1)
            cute_buffer_printf(out, " by %u", (unsigned)map->element_strides[1 + i]);
    }
}

static const char *describe_tma_map(const cute_plan *plan, const tma_numbers *n)
{
    const cute_tensor_map *map = &n->map;
    cute_buffer text = {0};
    for (int i = map->rank; i-- > 0;)
        cute_buffer_printf(&text, "%lld%s", (long long)n->dims[i], i ? "x" : "");
    cute_buffer_printf(&text, " of %s, box ", n->tensor);
    for (int i = map->im2col ? 2 : map->rank; i-- > 0;)
        cute_buffer_printf(&text, "%u%s", (unsigned)map->box[i], i ? "x" : "");
    cute_buffer_printf(&text, ", swizzle %s", cute_tma_word(CUTE_TMA_SWIZZLE, (int)map->swizzle));
    if (map->interleave)
        cute_buffer_printf(&text, ", interleave %s",
                           cute_tma_word(CUTE_TMA_INTERLEAVE, (int)map->interleave));
    if (map->l2_promotion != CUTE_MAP_L2_128B)
        cute_buffer_printf(&text, ", L2 promotion %s",
                           cute_tma_word(CUTE_TMA_PROMOTION, (int)map->l2_promotion));
    if (map->fill) cute_buffer_printf(&text, ", fill %s", cute_tma_word(CUTE_TMA_FILL, (int)map->fill));
    if (map->im2col) describe_pixels(map, &text);
    const char *copy = cute_arena_printf(plan->config->arena, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
    return copy ? copy : "";
}

cute_status cute_plan_tma_map(cute_plan *plan, const cute_path *path, const tma_numbers *n, size_t buffer,
                              int64_t bytes, bool in_memory, size_t *index, cute_diag *diag)
{
    CUTE_TRY(check_tma_map(plan, path, n, bytes, diag));
    if (!cute_arena_more(plan->config->arena, &plan->maps, plan->map_count, &plan->map_capacity,
                         sizeof *plan->maps, 8))
        return cute_fail_memory(diag);
    plan_map *map = &plan->maps[plan->map_count];
    *map = (plan_map){.buffer = buffer,
                      .bytes = bytes,
                      .in_memory = in_memory,
                      .text = describe_tma_map(plan, n),
                      .rank = cute_plan_rank(plan)};
    map->map = n->map;
    for (int i = 0; i < n->map.rank; i++) {
        map->map.dims[i] = (uint64_t)n->dims[i];
        if (i) map->map.strides[i - 1] = map_stride(n, i);
    }
    *index = plan->map_count++;
    return CUTE_OK;
}

/* ---- maps derived from another argument ---- */

/* Parses a word of the metadata; *value is unchanged if there is no word. */
static bool parse_tma_word(cute_tma_choice choice, const char *word, int *value)
{
    return !word || cute_tma_word_find(choice, word, value, NULL) == CUTE_OK;
}

/* Reads the map's metadata; false if it does not name an argument. */
static bool read_map_metadata(const cute_kernel *kernel, const cute_arg *arg, tma_numbers *n)
{
    int bits, swizzle = -1, interleave = 0, promotion = CUTE_MAP_L2_128B, fill = 0;
    *n = (tma_numbers){.map = {.size = sizeof n->map}};
    if (!arg->map_modes || arg->box_rank < 1 || arg->box_rank > CUTE_MAP_RANK || arg->map_tensor < 0 ||
        (size_t)arg->map_tensor >= kernel->arg_count || !arg->map_format ||
        !cute_tma_format_find(arg->map_format, strlen(arg->map_format), &n->map.type, &bits))
        return false;
    n->map.rank = (int)arg->box_rank;
    n->tensor = kernel->args[arg->map_tensor].name;
    for (int i = 0; i < n->map.rank; i++) { /* the metadata lists the slowest first */
        int64_t box = arg->box[n->map.rank - 1 - i];
        n->map.box[i] = box < 0 || box > UINT16_MAX ? 0 : (uint32_t)box;
        n->modes[i] = arg->map_modes[n->map.rank - 1 - i];
        n->map.element_strides[i] = 1;
    }
    if (!parse_tma_word(CUTE_TMA_SWIZZLE, arg->swizzle, &swizzle) ||
        !parse_tma_word(CUTE_TMA_FILL, arg->fill, &fill) ||
        !parse_tma_word(CUTE_TMA_INTERLEAVE, arg->interleave, &interleave) ||
        !parse_tma_word(CUTE_TMA_PROMOTION, arg->l2promo, &promotion))
        return false;
    n->map.swizzle = (cute_tensor_map_swizzle)swizzle;
    n->map.interleave = (cute_tensor_map_interleave)interleave;
    n->map.l2_promotion = (cute_tensor_map_promotion)promotion;
    n->map.fill = (cute_tensor_map_fill)fill;
    return swizzle >= 0;
}

/* Collects the leaves of a tree, with unknown ones taken from `given`; false if there are too many. */
static bool collect_leaves(const cute_tree *tree, const int64_t *given, size_t count, size_t *next,
                           int64_t *out, size_t room, size_t *size)
{
    if (tree->kind == CUTE_TREE_TUPLE) {
        for (uint32_t i = 0; i < tree->count; i++)
            if (!collect_leaves(tree->items[i], given, count, next, out, room, size)) return false;
        return true;
    }
    if (*size == room || (!tree->value.known && *next == count)) return false;
    out[(*size)++] = tree->value.known ? tree->value.value : given[(*next)++];
    return true;
}

bool cute_arg_map_read(const cute_kernel *kernel, const cute_arg *arg, cute_tensor_map *map)
{
    tma_numbers n;
    bool ok = read_map_metadata(kernel, arg, &n);
    *map = n.map;
    return ok;
}

bool cute_arg_is_derived(const cute_kernel *kernel, const cute_arg *arg)
{
    tma_numbers n;
    return arg->kind == CUTE_ARG_TENSOR_MAP && arg->count && read_map_metadata(kernel, arg, &n);
}

cute_status cute_plan_tma_map_of(cute_plan *plan, const cute_path *path, const cute_kernel *kernel,
                                 const cute_arg *arg, const config_buffer *buffer, int64_t bytes,
                                 size_t *index, cute_diag *diag)
{
    enum { MAX_LEAVES = 64 };
    tma_numbers n;
    cute_arena *arena = plan->config->arena;
    int64_t extents[MAX_LEAVES], strides[MAX_LEAVES], *leaves;
    size_t count = 0, next = 0, shapes = 0, steps = 0;
    cute_value layout;
    cute_buffer why = {0};
    if (!read_map_metadata(kernel, arg, &n)) return CUTE_INVALID;
    const char *text = kernel->args[arg->map_tensor].layout;
    if (!text || cute_value_parse_any(arena, text, strlen(text), &layout, NULL, NULL) != CUTE_OK)
        return cute_document_fail(&plan->config->document, path, false, diag, "'%s' has an unknown layout",
                                  n.tensor);
    cute_status status = cute_fit(arena, &layout, &buffer->tensor, &leaves, &count, &why, diag);
    cute_buffer_release(&why);
    if (status != CUTE_OK) return status;
    int64_t element = cute_dtype_get(buffer->tensor.dtype)->bytes;
    if (!collect_leaves(layout.layout.shape, leaves, count, &next, extents, MAX_LEAVES, &shapes) ||
        !collect_leaves(layout.layout.stride, leaves, count, &next, strides, MAX_LEAVES, &steps))
        return cute_document_fail(&plan->config->document, path, false, diag, "'%s' has too many modes",
                                  n.tensor);
    for (int i = 0; i < n.map.rank; i++) {
        if (n.modes[i] < 0 || (size_t)n.modes[i] >= shapes)
            return cute_document_fail(&plan->config->document, path, false, diag,
                                      "the tensor map of '%s' refers to an unknown mode", n.tensor);
        n.dims[i] = extents[n.modes[i]];
        if (!cute_mul64(strides[n.modes[i]], element, &n.strides[i])) n.strides[i] = INT64_MAX;
    }
    return cute_plan_tma_map(plan, path, &n, (size_t)(buffer - plan->config->buffers), bytes, arg->in_memory,
                             index, diag);
}
