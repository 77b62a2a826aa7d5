/* Ranks: devices that run the same launches. The names `ranks` and `rank` in expressions, and buffers of which each
 * rank holds an equal part of the first dimension. */
#include <string.h>

#include "lib/base/numbers/expr_tree.h"
#include "lib/launch/config/config.h"

static const char RANK[] = "rank", RANKS[] = "ranks";

static bool is_used(const cute_expr *expr, const char *name)
{
    if (expr->kind == CUTE_EXPR_NAME && strcmp(expr->name, name) == 0) return true;
    for (int i = 0; i < expr->count; i++)
        if (is_used(expr->args[i], name)) return true;
    return false;
}

/* Whether the expression uses a name that neither a param nor a buffer has. */
static bool needs_name(const cute_config *config, const cute_expr *expr, const char *name)
{
    if (!is_used(expr, name)) return false;
    for (size_t i = 0; i < config->buffer_count; i++)
        if (strcmp(config->buffers[i].tensor.name, name) == 0) return false;
    return true;
}

/* Defines the name, or updates the value that an earlier call defined. */
static void define_name(const cute_config *config, const char *name, int64_t value)
{
    cute_config *own = (cute_config *)(uintptr_t)config;
    cute_formula_param param = {name, false, value, (double)value};
    for (size_t i = 0; i < config->param_count; i++) {
        if (strcmp(config->params[i].name, name) != 0) continue;
        if (config->params[i].name == name) own->params[i] = param; /* not the user's */
        return;
    }
    own->params[own->param_count++] = param;
}

cute_status config_name_ranks(const cute_config *config, const cute_expr *expr, const cute_path *path,
                              cute_diag *diag)
{
    if (needs_name(config, expr, RANKS)) define_name(config, RANKS, config->ranks);
    if (!needs_name(config, expr, RANK)) return CUTE_OK;
    const cute_formula_param *given = config_param(config, RANK);
    if (given && given->name != RANK) return CUTE_OK;
    if (config->rank < 0)
        return cute_document_fail(&config->document, path, false, diag,
                                  "'rank' differs between the ranks: expected it in 'args' only");
    define_name(config, RANK, config->rank);
    return CUTE_OK;
}

cute_status config_read_shard(const cute_config *config, const json_t *value, config_buffer *buffer,
                              cute_diag *diag)
{
    cute_tensor *t = &buffer->tensor;
    buffer->shard = json_is_true(json_object_get(value, "shard"));
    if (!buffer->shard) return CUTE_OK;
    const cute_path *path = config_member(config, buffer->path, "shard");
    if (!t->rank)
        return cute_document_fail(&config->document, path, false, diag,
                                  "expected a dimension to divide among the ranks, got a scalar");
    if (!cute_tensor_contiguous(t) || t->offset)
        return cute_document_fail(
            &config->document, path, false, diag,
            "expected compact row-major strides and no offset: ranks hold consecutive rows");
    if (t->shape[0] % config->ranks)
        return cute_document_fail(&config->document, path, false, diag,
                                  "expected a first dimension that is a multiple of the %lld ranks, got %lld",
                                  (long long)config->ranks, (long long)t->shape[0]);
    return CUTE_OK;
}

cute_tensor config_piece(const cute_config *config, const config_buffer *buffer)
{
    cute_tensor piece = buffer->tensor;
    if (!buffer->shard || config->ranks == 1) return piece;
    piece.shape[0] /= config->ranks;
    cute_tensor_layout(&piece); /* smaller than the whole, which fits */
    return piece;
}

cute_status config_use_pieces(cute_config *config, cute_tensor **wholes, cute_diag *diag)
{
    *wholes = cute_arena_array(config->arena, config->buffer_count + 1, sizeof **wholes);
    if (!*wholes) return cute_fail_memory(diag);
    for (size_t i = 0; i < config->buffer_count; i++) {
        (*wholes)[i] = config->buffers[i].tensor;
        config->buffers[i].tensor = config_piece(config, &config->buffers[i]);
    }
    return CUTE_OK;
}

void config_use_wholes(cute_config *config, const cute_tensor *wholes)
{
    for (size_t i = 0; i < config->buffer_count; i++) config->buffers[i].tensor = wholes[i];
}
