/* PassGetImpl. Requires shapes and types, no collectives. Ensures that each node has an implementation and a stage: 0 is the product's
 * kernel. A reduction over elements of one tile stays in registers, and so does one of whole rows that a matrix needs, where a cluster has
 * them. One over several tiles is stored as a partial result of each and
 * combined by a kernel of the next stage, so sums are the same in each run. A matrix that needs such a result is computed in a kernel of
 * that stage, which reads the matrices of earlier stages from memory: they are materialized. */
#include "lib/epilogue/implement.h"

#include <string.h>

/* Whole rows in one tile, or in those of a cluster; the grid of the product's kernel then has no use of its column index, or one cluster there.
 * Columns are always of several tiles, so that it uses the index of rows. */
static bool has_rows(const epilogue_tree *t, const epilogue_node *n)
{
    return !t->sums && n->args[0]->stage == 0 && n->axis == 1 &&
           t->problem.n <= t->problem.tile_n * t->cluster_n;
}

static cute_status check_group(const epilogue_tree *t, const epilogue_node *n, int64_t group, cute_diag *diag)
{
    epilogue_shape s = n->op == EPILOGUE_REPEAT || n->op == EPILOGUE_PLACES ? n->shape : n->args[0]->shape;
    int64_t columns = t->problem.tile_n * s.mul / s.div;
    if (columns % group == 0) return CUTE_OK;
    return epilogue_fail(t, n->offset, n->length, diag,
                         "expected groups of columns that divide the %lld of a tile, got %lld",
                         (long long)columns, (long long)group);
}

static cute_status implement_node(epilogue_tree *t, epilogue_node *n, cute_diag *diag)
{
    n->stage = 0;
    n->materialized = false;
    for (int i = 0; i < n->count; i++)
        if (n->args[i]->stage > n->stage) n->stage = n->args[i]->stage;
    /* without a product, the first kernel is that of stage 1 */
    bool computed = n->op != EPILOGUE_LOAD && (n->summed || n->op == EPILOGUE_REDUCE);
    if (t->sums && computed && !n->stage) n->stage = 1;
    n->impl = EPILOGUE_REGISTERS;
    switch (n->op) {
    case EPILOGUE_LOAD: n->impl = EPILOGUE_TILE_LOAD; break;
    case EPILOGUE_SCALAR:
    case EPILOGUE_CONSTANT: n->impl = EPILOGUE_FOLDED; break;
    case EPILOGUE_SLICE:
    case EPILOGUE_REPEAT:
    case EPILOGUE_PLACES: return check_group(t, n, n->step, diag);
    case EPILOGUE_REDUCE:
        if (n->group) return check_group(t, n, n->group, diag);
        if (has_rows(t, n)) {
            if (t->cluster_n > 1) n->impl = EPILOGUE_CLUSTER_REGISTERS;
            break;
        }
        n->impl = EPILOGUE_PARTIAL;
        n->stage++;
        break;
    default: break;
    }
    bool columns = n->op == EPILOGUE_SLICE || n->op == EPILOGUE_REPEAT || n->op == EPILOGUE_INTERLEAVE;
    if (columns && !n->shape.rows && n->stage)
        return epilogue_fail(t, n->offset, n->length, diag,
                             "the columns of a reduced vector are not rearranged: reduce the "
                             "rearranged matrix");
    return CUTE_OK;
}

/* Whether a later kernel cannot compute it again from operands alone. */
static bool is_fixed(const epilogue_node *n)
{
    return n->op != EPILOGUE_LOAD && (n->summed || n->stage > 0);
}

static void mark_materialized(epilogue_tree *t)
{
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        int own = epilogue_is_combined(n) ? n->stage - 1 : n->stage;
        for (int a = 0; a < n->count; a++) {
            epilogue_node *x = n->args[a];
            if (epilogue_is_combined(x) || (is_fixed(x) && x->stage < own)) x->materialized = true;
        }
    }
    for (int i = 0; i < t->output_count; i++)
        if (epilogue_is_combined(t->outputs[i].node)) t->outputs[i].node->materialized = true;
}

cute_status epilogue_implement(epilogue_tree *t, cute_diag *diag)
{
    t->stages = 1;
    t->cluster_n = epilogue_needs_rows(t) ? epilogue_row_blocks(&t->problem) : 1;
    if (!t->cluster_n) t->cluster_n = 1;
    for (int i = 0; i < t->count; i++) {
        CUTE_TRY(implement_node(t, t->nodes[i], diag));
        if (t->nodes[i]->stage >= t->stages) t->stages = t->nodes[i]->stage + 1;
    }
    for (int i = 0; t->sums && i < t->output_count; i++)
        if (!t->outputs[i].node->stage) t->outputs[i].node->stage = 1;
    if (t->sums && t->stages < 2) t->stages = 2;
    mark_materialized(t);
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        if (is_fixed(o->node) || epilogue_is_matrix(o->node)) continue;
        return epilogue_fail(t, o->offset, o->length, diag,
                             "expected a matrix, or a result that depends on the product, got a vector or "
                             "number of operands only");
    }
    return CUTE_OK;
}

cute_status epilogue_implemented(epilogue_tree *t, cute_diag *diag)
{
    for (int i = 0; i < t->count; i++)
        if (t->nodes[i]->impl == EPILOGUE_UNUSED)
            return epilogue_fail(t, t->nodes[i]->offset, t->nodes[i]->length, diag,
                                 "this node has no implementation");
    return CUTE_OK;
}
