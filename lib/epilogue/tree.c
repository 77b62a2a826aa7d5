/* The table of functions, and names and sizes of a tree's parts. */
#include <string.h>

#include "lib/epilogue/epilogue.h"

static const epilogue_function functions[] = {
#define EPILOGUE_FUNCTION(name, operands, tile, body, check, derivative, slope)                              \
    {#name, operands, tile, body, check, derivative, slope, false},
#define EPILOGUE_APPROXIMATE(name, operands, tile, body, check, derivative, slope)                           \
    {#name, operands, tile, body, check, derivative, slope, true},
#include "lib/epilogue/functions.def"
};

size_t epilogue_function_count(void)
{
    return sizeof functions / sizeof *functions;
}

const epilogue_function *epilogue_function_at(size_t index)
{
    return index < epilogue_function_count() ? &functions[index] : NULL;
}

const epilogue_function *epilogue_function_find(const char *name)
{
    for (size_t i = 0; i < epilogue_function_count(); i++)
        if (strcmp(functions[i].name, name) == 0) return &functions[i];
    return NULL;
}

void epilogue_read_sums(epilogue_tree *t, cute_dtype dtype)
{
    for (int i = 0; i < t->count; i++) {
        epilogue_node *n = t->nodes[i];
        if (n->op != EPILOGUE_ACC) continue;
        n->op = EPILOGUE_LOAD;
        n->name = "acc";
        n->shape = (epilogue_shape){true, 1, 1};
        n->dtype = dtype;
        n->stated = true;
        t->sums = n;
    }
}

const char *epilogue_op_name(epilogue_op op)
{
    static const char *const names[] = {"acc",     "load",   "scalar",     "constant",
                                        "compute", "slice",  "interleave", "repeat",
                                        "places",  "reduce", "cast",       "communicate"};
    return names[op];
}

const char *epilogue_kind_name(epilogue_kind kind)
{
    static const char *const names[] = {"sum", "mean", "max", "min"};
    return names[kind];
}

const char *epilogue_level_name(epilogue_level level)
{
    static const char *const names[] = {"warp", "block", "cluster", "device", "devices"};
    return names[level];
}

const char *epilogue_collective_name(epilogue_collective collective)
{
    static const char *const names[] = {"AllReduce", "ReduceScatter", "AllGather", "Broadcast"};
    return names[collective];
}

const char *epilogue_step_text(const epilogue_step *s)
{
    switch (s->moment) {
    case EPILOGUE_OF_SUMS: return "behind the product's kernel, with --split=k";
    case EPILOGUE_OF_RESULT: return "behind all kernels, with --split=m";
    case EPILOGUE_OF_OPERAND: return "from rank 0, in front of the product's kernel";
    }
    return "";
}

const char *epilogue_impl_name(epilogue_impl impl)
{
    static const char *const names[] = {"unused",          "registers", "registers of a cluster",
                                        "partial results", "folded",    "tile load"};
    return names[impl];
}

void epilogue_shape_text(epilogue_shape s, cute_buffer *out)
{
    cute_buffer_puts(out, s.rows ? "M x " : "1 x ");
    if (!s.mul)
        cute_buffer_puts(out, "1");
    else if (s.div > 1)
        cute_buffer_printf(out, "N/%d", s.div);
    else if (s.mul > 1)
        cute_buffer_printf(out, "%dN", s.mul);
    else
        cute_buffer_puts(out, "N");
}

int64_t epilogue_rows(const epilogue_tree *tree, epilogue_shape s)
{
    return s.rows ? tree->problem.m : 1;
}

int64_t epilogue_columns(const epilogue_tree *tree, epilogue_shape s)
{
    return s.mul ? tree->problem.n * s.mul / s.div : 1;
}

int64_t epilogue_elements(const epilogue_tree *tree, epilogue_shape s, bool batched)
{
    return epilogue_rows(tree, s) * epilogue_columns(tree, s) * (batched ? tree->problem.batch : 1);
}

int64_t epilogue_row_blocks(const epilogue_problem *p)
{
    int64_t blocks = (p->n + p->tile_n - 1) / p->tile_n;
    return blocks <= 1 ? 1 : blocks <= p->cluster_most ? blocks : 0;
}

/* A reduction or collective along all columns. */
static bool is_of_rows(const epilogue_node *n)
{
    if (n->op == EPILOGUE_REDUCE) return n->axis == 1 && !n->group;
    return n->op == EPILOGUE_COMMUNICATE && n->level >= EPILOGUE_CLUSTER;
}

bool epilogue_needs_rows(const epilogue_tree *t)
{
    bool depends[EPILOGUE_NODES] = {false};
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        for (int a = 0; a < n->count; a++)
            depends[i] = depends[i] || depends[n->args[a]->number] || is_of_rows(n->args[a]);
        if (depends[i] && n->shape.rows && n->shape.mul) return true;
    }
    return false;
}

bool epilogue_rounds(const epilogue_function *f)
{
    static const char *const names[] = {"floor", "ceil", "round"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(f->name, names[i]) == 0) return true;
    return false;
}

const epilogue_node *epilogue_packed(const epilogue_node *n)
{
    const epilogue_node *sum = n->count == 2 ? n->args[0] : n, *bits = sum->count == 1 ? sum->args[0] : n;
    bool packed = n->op == EPILOGUE_COMPUTE && sum->op == EPILOGUE_REDUCE &&
                  sum->group == EPILOGUE_BYTE_COLUMNS && bits->op == EPILOGUE_COMPUTE && bits->count == 3 &&
                  bits->args[1]->op == EPILOGUE_PLACES;
    return packed ? bits->args[0] : NULL;
}

bool epilogue_approximates(const epilogue_tree *t, const epilogue_node *n)
{
    if (!n->function->approximate || cute_dtype_get(t->problem.out)->bytes > 2) return false;
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        bool matrix = o->node->shape.rows && o->node->shape.mul;
        if (matrix && cute_dtype_get(o->dtype)->bytes > 2) return false;
    }
    return true;
}

/* Instructions of functions for an element, of which the others have one: exact, and approximated. */
static const struct {
    const char *name;
    double exact, approximated;
} instructions[] = {
    {"erf", 30, 14},    {"gelu", 34, 16}, {"gelu_tanh", 24, 8}, {"tanh", 25, 6},
    {"sigmoid", 20, 5}, {"silu", 21, 6},  {"exp", 8, 8},        {"exp2", 3, 3},
    {"log", 10, 10},    {"log2", 8, 8},   {"sqrt", 8, 8},       {"rsqrt", 4, 4},
    {"sin", 15, 15},    {"cos", 15, 15},  {"div", 8, 8},        {"pow", 30, 30},
};

static double instructions_of(const epilogue_tree *t, const epilogue_node *n)
{
    for (size_t i = 0; i < sizeof instructions / sizeof *instructions; i++)
        if (strcmp(instructions[i].name, n->function->name) == 0)
            return epilogue_approximates(t, n) ? instructions[i].approximated : instructions[i].exact;
    return 1;
}

double epilogue_operations(const epilogue_tree *t)
{
    enum { ACCESS = 2, REDUCTION = 2 }; /* of a matrix in memory; of an element of one */
    double count = 0;
    for (int i = 0; i < t->count; i++) {
        const epilogue_node *n = t->nodes[i];
        epilogue_shape s = n->op == EPILOGUE_REDUCE ? n->args[0]->shape : n->shape;
        double each = n->op == EPILOGUE_COMPUTE                            ? instructions_of(t, n)
                      : n->op == EPILOGUE_REDUCE                           ? REDUCTION
                      : n->op == EPILOGUE_LOAD                             ? ACCESS
                      : n->op == EPILOGUE_CAST || n->op == EPILOGUE_REPEAT ? 1
                                                                           : 0;
        if (s.rows && s.mul) count += each * s.mul / s.div;
    }
    for (int i = 0; i < t->output_count; i++) {
        const epilogue_output *o = &t->outputs[i];
        epilogue_shape s = o->node->shape;
        if (!o->main && s.rows && s.mul) count += ACCESS * (double)s.mul / s.div;
    }
    return count;
}
