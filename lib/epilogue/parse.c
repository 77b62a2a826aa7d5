/* Parses epilogue expressions into a tree.
 *
 *     text      = statement { ";" statement } [ ";" ]
 *     statement = [ "aux" ] name [ "[" index { "," index } "]" ] [ ":" type ] "=" value | value
 *     value     = sum [ ( "<" | "<=" | ">" | ">=" | "==" | "!=" ) sum ]
 *     sum       = product { ( "+" | "-" ) product }
 *     product   = unary { ( "*" | "/" ) unary }
 *     unary     = "-" unary | slice [ "**" unary ]
 *     slice     = primary { "[" ":" "," first "::" step "]" }
 *     primary   = number | "(" value ")" | name "(" arguments ")" | name [ "[" indices "]" [ ":" type ] ]
 *
 * Equal subexpressions are one node. Functions that have a body are replaced by it. Not known here: shapes and kernels. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/epilogue/epilogue.h"

typedef struct name_value {
    const char *name;
    epilogue_node *node;
    bool read;
    int output; /* its row of the outputs; -1: none */
    size_t offset, length;
} name_value;

enum { NAMES = 128 };

typedef struct parser {
    epilogue_tree *tree;
    const char *text; /* of the tree, or of a function's body */
    size_t length, at;
    const epilogue_function *inside; /* the function whose body is read; NULL: none */
    epilogue_node *bound[3];         /* x, y, z of a body */
    size_t call_offset, call_length; /* place of the outermost call */
    name_value *names;               /* defined by statements */
    int *name_count;
    int depth;
    cute_diag *diag;
} parser;

static cute_status parse_value(parser *p, epilogue_node **out);

cute_place epilogue_place(const epilogue_tree *tree, size_t offset, size_t length)
{
    cute_place place = cute_place_at(tree->label, tree->text, tree->length, offset);
    place.length = (int)length;
    return place;
}

static cute_status fail_parse(const parser *p, size_t offset, size_t length, const char *format, ...)
    CUTE_PRINTF(4, 5);
static cute_status fail_parse(const parser *p, size_t offset, size_t length, const char *format, ...)
{
    va_list args;
    cute_place place = p->inside ? epilogue_place(p->tree, p->call_offset, p->call_length)
                                 : epilogue_place(p->tree, offset, length);
    va_start(args, format);
    cute_vreport(p->diag, CUTE_ERROR, &place, format, args);
    va_end(args);
    return CUTE_INVALID;
}

/* ---- words ---- */

static void skip_space(parser *p)
{
    for (; p->at < p->length; p->at++) {
        if (p->text[p->at] == '#')
            while (p->at + 1 < p->length && p->text[p->at + 1] != '\n') p->at++;
        else if (!isspace((unsigned char)p->text[p->at]))
            return;
    }
}

static bool peek_text(parser *p, const char *word)
{
    size_t length = strlen(word);
    skip_space(p);
    return p->length - p->at >= length && memcmp(p->text + p->at, word, length) == 0;
}

static bool take_text(parser *p, const char *word)
{
    if (!peek_text(p, word)) return false;
    p->at += strlen(word);
    return true;
}

static size_t name_length(const parser *p)
{
    size_t end = p->at;
    if (end >= p->length || !isalpha((unsigned char)p->text[end])) return 0;
    while (end < p->length && (isalnum((unsigned char)p->text[end]) || p->text[end] == '_')) end++;
    return end - p->at;
}

/* "end of text", or the character in quotes. */
static const char *found_text(parser *p, char out[16])
{
    skip_space(p);
    if (p->at >= p->length) return "the end of the text";
    size_t length = name_length(p);
    if (length > 10) length = 10;
    snprintf(out, 16, "'%.*s'", (int)(length ? length : 1), p->text + p->at);
    if ((unsigned char)out[1] >= 0x80 || !isprint((unsigned char)out[1])) return "an unknown character";
    return out;
}

static cute_status expect_text(parser *p, const char *word, const char *after)
{
    char got[16];
    if (take_text(p, word)) return CUTE_OK;
    return fail_parse(p, p->at, 1, "expected '%s' %s, got %s", word, after, found_text(p, got));
}

/* ---- nodes ---- */

static bool same_node(const epilogue_node *a, const epilogue_node *b)
{
    bool same = a->op == b->op && a->function == b->function && a->count == b->count && a->step == b->step &&
                a->first == b->first && a->kind == b->kind && a->axis == b->axis && a->group == b->group &&
                a->collective == b->collective && a->level == b->level && a->dtype == b->dtype &&
                memcmp(&a->value, &b->value, sizeof a->value) == 0;
    for (int i = 0; same && i < a->count; i++) same = a->args[i] == b->args[i];
    if (same && (a->op == EPILOGUE_LOAD || a->op == EPILOGUE_SCALAR)) same = strcmp(a->name, b->name) == 0;
    return same;
}

epilogue_node *epilogue_node_get(epilogue_tree *tree, const epilogue_node *fields)
{
    for (int i = 0; i < tree->count; i++)
        if (same_node(tree->nodes[i], fields)) return tree->nodes[i];
    if (tree->count == EPILOGUE_NODES) return NULL;
    epilogue_node *node = cute_arena_alloc(tree->arena, sizeof *node);
    if (!node) return NULL;
    *node = *fields;
    node->number = tree->count;
    return tree->nodes[tree->count++] = node;
}

epilogue_node *epilogue_compute(epilogue_tree *tree, const char *function, epilogue_node *a, epilogue_node *b)
{
    epilogue_node node = {.op = EPILOGUE_COMPUTE,
                          .function = epilogue_function_find(function),
                          .args = {a, b},
                          .count = b ? 2 : 1,
                          .offset = a->offset,
                          .length = a->length};
    return epilogue_node_get(tree, &node);
}

epilogue_node *epilogue_reduce(epilogue_tree *tree, epilogue_node *x, epilogue_kind kind, int axis,
                               int64_t group)
{
    epilogue_node node = {.op = EPILOGUE_REDUCE,
                          .args = {x},
                          .count = 1,
                          .kind = kind,
                          .axis = axis,
                          .group = group,
                          .offset = x->offset,
                          .length = x->length};
    return epilogue_node_get(tree, &node);
}

epilogue_node *epilogue_repeat(epilogue_tree *tree, epilogue_node *x, int64_t times)
{
    epilogue_node node = {.op = EPILOGUE_REPEAT,
                          .args = {x},
                          .count = 1,
                          .step = times,
                          .offset = x->offset,
                          .length = x->length};
    return epilogue_node_get(tree, &node);
}

static cute_status add_node(parser *p, epilogue_node *fields, size_t from, epilogue_node **out)
{
    fields->offset = p->inside ? p->call_offset : from;
    fields->length = p->inside ? p->call_length : p->at - from;
    *out = epilogue_node_get(p->tree, fields);
    if (*out) return CUTE_OK;
    if (p->tree->count == EPILOGUE_NODES)
        return fail_parse(p, from, 1, "expected at most %d operations in an epilogue, got more",
                          EPILOGUE_NODES);
    return cute_fail_memory(p->diag);
}

/* Arithmetic on constants is done here, in double. */
static bool fold_constants(const epilogue_function *f, epilogue_node *const *args, double *out)
{
    for (int i = 0; i < f->operands; i++)
        if (args[i]->op != EPILOGUE_CONSTANT) return false;
    double a = args[0]->value, b = f->operands > 1 ? args[1]->value : 0;
    if (strcmp(f->name, "neg") == 0)
        *out = -a;
    else if (strcmp(f->name, "add") == 0)
        *out = a + b;
    else if (strcmp(f->name, "sub") == 0)
        *out = a - b;
    else if (strcmp(f->name, "mul") == 0)
        *out = a * b;
    else if (strcmp(f->name, "div") == 0 && b != 0)
        *out = a / b;
    else
        return false;
    return true;
}

static cute_status add_constant(parser *p, double value, size_t from, epilogue_node **out)
{
    epilogue_node node = {.op = EPILOGUE_CONSTANT, .value = value};
    return add_node(p, &node, from, out);
}

static cute_status parse_body(parser *p, const epilogue_function *f, const char *body,
                              epilogue_node *const *args, int count, size_t from, epilogue_node **out)
{
    parser inner = *p;
    inner.text = body;
    inner.length = strlen(body);
    inner.at = 0;
    inner.inside = f;
    if (!p->inside) {
        inner.call_offset = from;
        inner.call_length = p->at - from;
    }
    for (int i = 0; i < 3; i++) inner.bound[i] = i < count ? args[i] : NULL;
    return parse_value(&inner, out);
}

static cute_status add_compute(parser *p, const epilogue_function *f, epilogue_node *const *args, size_t from,
                               epilogue_node **out)
{
    double value;
    if (f->body) return parse_body(p, f, f->body, args, f->operands, from, out);
    if (fold_constants(f, args, &value)) return add_constant(p, value, from, out);
    epilogue_node node = {.op = EPILOGUE_COMPUTE, .function = f, .count = f->operands};
    for (int i = 0; i < f->operands; i++) node.args[i] = args[i];
    return add_node(p, &node, from, out);
}

static cute_status add_operator(parser *p, const char *name, epilogue_node *a, epilogue_node *b, size_t from,
                                epilogue_node **out)
{
    epilogue_node *args[3] = {a, b, NULL};
    return add_compute(p, epilogue_function_find(name), args, from, out);
}

/* ---- names ---- */

static const char *const reserved[] = {"A", "B", "l", "i", "j", "aux", NULL};
static const char *const calls[] = {"sum",       "mean",           "max",        "min",       "amax",
                                    "kth",       "grad",           "interleave", "repeat",    "places",
                                    "allreduce", "reduce_scatter", "all_gather", "broadcast", NULL};

static const char *call_at(const void *unused, size_t index)
{
    enum { OWN = sizeof calls / sizeof *calls - 1 };
    (void)unused;
    if (index < epilogue_function_count()) return epilogue_function_at(index)->name;
    index -= epilogue_function_count();
    return index < OWN ? calls[index] : NULL;
}

static name_value *find_name(parser *p, const char *name, size_t length)
{
    for (int i = *p->name_count; i-- > 0;)
        if (strlen(p->names[i].name) == length && memcmp(p->names[i].name, name, length) == 0)
            return &p->names[i];
    return NULL;
}

static epilogue_node *find_operand(const parser *p, const char *name, size_t length)
{
    for (int i = 0; i < p->tree->count; i++) {
        epilogue_node *n = p->tree->nodes[i];
        if ((n->op == EPILOGUE_LOAD || n->op == EPILOGUE_SCALAR) && strlen(n->name) == length &&
            memcmp(n->name, name, length) == 0)
            return n;
    }
    return NULL;
}

/* bytes: of an operand or a result, which may also be i8. */
static cute_status parse_type(parser *p, bool bytes, cute_dtype *out)
{
    char word[16];
    skip_space(p);
    size_t length = name_length(p);
    if (length > 0 && length < sizeof word) {
        memcpy(word, p->text + p->at, length);
        word[length] = 0;
        bool known = cute_dtype_find(word, out);
        if (known &&
            ((cute_dtype_get(*out)->class == CUTE_CLASS_FLOAT && *out != CUTE_F64 && *out != CUTE_TF32) ||
             (bytes && *out == CUTE_I8))) {
            p->at += length;
            return CUTE_OK;
        }
    }
    return fail_parse(p, p->at, length ? length : 1, "expected f32, f16, bf16, e4m3%s as the type, got %s",
                      bytes ? ", e5m2 or i8" : " or e5m2", found_text(p, word));
}

/* "i", "j", "i,j", or "j,i" of a matrix whose columns are contiguous, behind "l" if each product of a batch has its own; with the closing
 * bracket. */
static cute_status parse_indices(parser *p, bool *item, bool *row, bool *column, bool *turned)
{
    char got[16];
    *row = *column = *turned = false;
    skip_space(p);
    *item = name_length(p) == 1 && p->text[p->at] == 'l';
    if (*item) {
        p->at++;
        if (take_text(p, "]")) return CUTE_OK;
        CUTE_TRY(expect_text(p, ",", "or ']' behind an index"));
    }
    for (;;) {
        skip_space(p);
        size_t length = name_length(p);
        bool i = length == 1 && p->text[p->at] == 'i', j = length == 1 && p->text[p->at] == 'j';
        if ((!i && !j) || (j && *column) || (i && *row))
            return fail_parse(p, p->at, length ? length : 1,
                              "expected the indices i, j, i,j or j,i, or l in front of them, got %s",
                              found_text(p, got));
        *turned = i && *column;
        *row = *row || i;
        *column = *column || j;
        p->at++;
        if (take_text(p, "]")) return CUTE_OK;
        CUTE_TRY(expect_text(p, ",", "or ']' behind an index"));
    }
}

/* A name with indices: an operand in memory, or a value defined above. */
static cute_status parse_indexed(parser *p, const char *name, size_t length, size_t from, epilogue_node **out)
{
    bool item, row, column, turned, stated;
    cute_dtype dtype = CUTE_F32;
    CUTE_TRY(parse_indices(p, &item, &row, &column, &turned));
    name_value *known = find_name(p, name, length);
    stated = peek_text(p, ":") && !known;
    if (stated) {
        p->at++;
        CUTE_TRY(parse_type(p, true, &dtype));
    }
    if (known) {
        known->read = true;
        *out = known->node;
        return CUTE_OK;
    }
    for (int i = 0; reserved[i]; i++)
        if (strlen(reserved[i]) == length && memcmp(reserved[i], name, length) == 0)
            return fail_parse(p, from, length,
                              "expected another name for an operand: '%s' has a meaning of its own",
                              reserved[i]);
    bool sums = length == 3 && memcmp(name, "acc", 3) == 0;
    if (sums) {
        if (!row || !column || stated)
            return fail_parse(p, from, length, "expected acc, acc[i,j] or acc[l,i,j] for the product's sums");
        epilogue_node acc = {.op = EPILOGUE_ACC, .name = "acc"};
        return add_node(p, &acc, from, out);
    }
    epilogue_node *before = find_operand(p, name, length);
    epilogue_node node = {.op = EPILOGUE_LOAD,
                          .name = before ? before->name : cute_arena_copy(p->tree->arena, name, length),
                          .dtype = dtype,
                          .stated = stated,
                          .turned = turned,
                          .batched = item,
                          .shape = {row, column, 1}};
    if (!node.name) return cute_fail_memory(p->diag);
    if (before) {
        if (before->op != EPILOGUE_LOAD || before->shape.rows != row || (before->shape.mul != 0) != column ||
            before->turned != turned || before->batched != item)
            return fail_parse(p, from, p->at - from, "'%s' has other indices than before", node.name);
        if (stated && before->stated && before->dtype != dtype)
            return fail_parse(p, from, p->at - from, "expected type %s of '%s' as before, got %s",
                              cute_dtype_get(before->dtype)->name, node.name, cute_dtype_get(dtype)->name);
        if (stated) before->dtype = dtype, before->stated = true;
        *out = before;
        return CUTE_OK;
    }
    return add_node(p, &node, from, out);
}

static cute_status parse_plain(parser *p, const char *name, size_t length, size_t from, epilogue_node **out)
{
    if (p->inside) {
        int which = name[0] - 'x';
        if (length == 1 && which >= 0 && which < 3 && p->bound[which]) {
            *out = p->bound[which];
            return CUTE_OK;
        }
        return fail_parse(p, from, length, "unknown name in the definition of %s", p->inside->name);
    }
    name_value *known = find_name(p, name, length);
    if (known) {
        known->read = true;
        *out = known->node;
        return CUTE_OK;
    }
    for (int i = 0; reserved[i]; i++)
        if (strlen(reserved[i]) == length && memcmp(reserved[i], name, length) == 0)
            return fail_parse(p, from, length, "expected a value, got '%s', which has a meaning of its own",
                              reserved[i]);
    if (length == 3 && memcmp(name, "acc", 3) == 0) {
        epilogue_node acc = {.op = EPILOGUE_ACC, .name = "acc"};
        return add_node(p, &acc, from, out);
    }
    if (length == 2 && memcmp(name, "pi", 2) == 0) return add_constant(p, 3.14159265358979323846, from, out);
    if (length == 3 && memcmp(name, "inf", 3) == 0) return add_constant(p, INFINITY, from, out);
    epilogue_node *before = find_operand(p, name, length);
    if (before && before->op == EPILOGUE_LOAD)
        return fail_parse(p, from, length, "'%s' is an operand in memory: expected its indices, as before",
                          before->name);
    if (before) {
        *out = before;
        return CUTE_OK;
    }
    epilogue_node node = {.op = EPILOGUE_SCALAR, .name = cute_arena_copy(p->tree->arena, name, length)};
    return node.name ? add_node(p, &node, from, out) : cute_fail_memory(p->diag);
}

/* ---- calls ---- */

typedef struct call_args {
    epilogue_node *items[4];
    size_t offsets[4], ends[4];
    int count;
} call_args;

static cute_status parse_args(parser *p, call_args *args)
{
    args->count = 0;
    if (take_text(p, ")")) return CUTE_OK;
    for (;;) {
        skip_space(p);
        if (args->count == 4)
            return fail_parse(p, p->at, 1, "expected at most 4 operands of a function, got more");
        args->offsets[args->count] = p->at;
        CUTE_TRY(parse_value(p, &args->items[args->count]));
        args->ends[args->count++] = p->at;
        if (take_text(p, ")")) return CUTE_OK;
        CUTE_TRY(expect_text(p, ",", "or ')' behind an operand"));
    }
}

static cute_status integer_arg(parser *p, const call_args *args, int index, int64_t low, int64_t high,
                               const char *meaning, int64_t *out)
{
    const epilogue_node *n = args->items[index];
    if (n->op == EPILOGUE_CONSTANT && n->value == rint(n->value) && n->value >= (double)low &&
        n->value <= (double)high) {
        *out = (int64_t)n->value;
        return CUTE_OK;
    }
    return fail_parse(p, args->offsets[index], args->ends[index] - args->offsets[index],
                      "expected %s, a number from %lld to %lld", meaning, (long long)low, (long long)high);
}

static cute_status expect_args(parser *p, const char *name, const call_args *args, int least, int most,
                               size_t from)
{
    if (args->count >= least && args->count <= most) return CUTE_OK;
    if (least == most)
        return fail_parse(p, from, p->at - from, "%s expects %d operand%s, got %d", name, least,
                          least == 1 ? "" : "s", args->count);
    return fail_parse(p, from, p->at - from, "%s expects %d to %d operands, got %d", name, least, most,
                      args->count);
}

static cute_status parse_reduction(parser *p, const char *name, epilogue_kind kind, bool absolute,
                                   size_t from, epilogue_node **out)
{
    call_args args;
    int64_t axis = -1, group = 0;
    CUTE_TRY(parse_args(p, &args));
    CUTE_TRY(expect_args(p, name, &args, 1, 3, from));
    if (args.count > 1) CUTE_TRY(integer_arg(p, &args, 1, 0, 1, "the axis", &axis));
    if (args.count > 2) {
        CUTE_TRY(integer_arg(p, &args, 2, 2, 256, "the columns of a group", &group));
        if (axis != 1 || group & (group - 1))
            return fail_parse(p, args.offsets[2], args.ends[2] - args.offsets[2],
                              "expected groups of a power of two of columns, along axis 1");
    }
    epilogue_node *x = args.items[0];
    if (absolute) CUTE_TRY(add_operator(p, "abs", x, NULL, from, &x));
    epilogue_node node = {
        .op = EPILOGUE_REDUCE, .args = {x}, .count = 1, .kind = kind, .axis = (int)axis, .group = group};
    return add_node(p, &node, from, out);
}

static cute_status fail_function(parser *p, const char *name, size_t length, size_t from)
{
    const char *near = cute_nearest_of(name, length, call_at, NULL);
    char word[32];
    snprintf(word, sizeof word, "%.*s", (int)(length < 30 ? length : 30), name);
    return fail_parse(p, from, length,
                      near ? "unknown function '%s'; did you mean '%s'?" : "unknown function '%s'", word,
                      near);
}

/* f'(x) of a function by name. */
static cute_status add_derivative(parser *p, const epilogue_function *f, epilogue_node *x, size_t from,
                                  epilogue_node **out)
{
    if (!f->derivative || f->operands != 1)
        return fail_parse(p, from, p->at - from, "no derivative of '%s' is known: write it as an expression",
                          f->name);
    return parse_body(p, f, f->derivative, &x, 1, from, out);
}

/* grad(gelu, x) */
static cute_status parse_grad(parser *p, size_t from, epilogue_node **out)
{
    char name[32];
    epilogue_node *x;
    skip_space(p);
    size_t at = p->at, length = name_length(p);
    snprintf(name, sizeof name, "%.*s", (int)(length < 30 ? length : 30), p->text + at);
    const epilogue_function *f = epilogue_function_find(name);
    if (!f) return fail_function(p, p->text + at, length, at);
    p->at += length;
    CUTE_TRY(expect_text(p, ",", "behind the function of grad"));
    CUTE_TRY(parse_value(p, &x));
    CUTE_TRY(expect_text(p, ")", "behind the operand of grad"));
    return add_derivative(p, f, x, from, out);
}

static cute_status parse_collective(parser *p, epilogue_collective collective, size_t from,
                                    epilogue_node **out)
{
    static const char *const levels[] = {"warp", "block", "cluster", "device", "devices", NULL};
    char word[32];
    epilogue_node *x;
    int level = -1;
    CUTE_TRY(parse_value(p, &x));
    CUTE_TRY(expect_text(p, ",", "and a level behind the operand of a collective"));
    skip_space(p);
    size_t at = p->at, length = name_length(p);
    snprintf(word, sizeof word, "%.*s", (int)(length < 30 ? length : 30), p->text + at);
    for (int i = 0; levels[i]; i++)
        if (strcmp(word, levels[i]) == 0) level = i;
    if (level < 0)
        return fail_parse(p, at, length ? length : 1,
                          "expected the level warp, block, cluster, device or devices, got '%s'", word);
    p->at += length;
    CUTE_TRY(expect_text(p, ")", "behind the level"));
    epilogue_node node = {.op = EPILOGUE_COMMUNICATE,
                          .args = {x},
                          .count = 1,
                          .collective = collective,
                          .level = (epilogue_level)level};
    return add_node(p, &node, from, out);
}

/* kth(x, k): the k-th largest of different values in a row, the maximum of those below the one before. */
static cute_status parse_kth(parser *p, size_t from, epilogue_node **out)
{
    call_args args;
    int64_t k = 1;
    CUTE_TRY(parse_args(p, &args));
    CUTE_TRY(expect_args(p, "kth", &args, 2, 2, from));
    CUTE_TRY(integer_arg(p, &args, 1, 1, 8, "the place of a value", &k));
    epilogue_node *x = args.items[0], *rest = x, *least;
    CUTE_TRY(add_constant(p, -INFINITY, from, &least));
    for (;;) {
        epilogue_node max = {
            .op = EPILOGUE_REDUCE, .args = {rest}, .count = 1, .kind = EPILOGUE_MAX, .axis = 1};
        epilogue_node *below;
        CUTE_TRY(add_node(p, &max, from, out));
        if (--k == 0) return CUTE_OK;
        CUTE_TRY(add_operator(p, "lt", x, *out, from, &below));
        epilogue_node *choice[3] = {below, x, least};
        CUTE_TRY(add_compute(p, epilogue_function_find("where"), choice, from, &rest));
    }
}

static cute_status parse_columns(parser *p, bool repeats, size_t from, epilogue_node **out)
{
    call_args args;
    epilogue_node node = {.op = repeats ? EPILOGUE_REPEAT : EPILOGUE_INTERLEAVE, .count = repeats ? 1 : 2};
    CUTE_TRY(parse_args(p, &args));
    CUTE_TRY(expect_args(p, repeats ? "repeat" : "interleave", &args, 2, 2, from));
    if (repeats) {
        CUTE_TRY(integer_arg(p, &args, 1, 2, 256, "how often a column is repeated", &node.step));
        if (node.step & (node.step - 1))
            return fail_parse(p, args.offsets[1], args.ends[1] - args.offsets[1], "expected a power of two");
    }
    node.args[0] = args.items[0];
    node.args[1] = repeats ? NULL : args.items[1];
    return add_node(p, &node, from, out);
}

static cute_status parse_places(parser *p, size_t from, epilogue_node **out)
{
    call_args args;
    CUTE_TRY(parse_args(p, &args));
    CUTE_TRY(expect_args(p, "places", &args, 1, 1, from));
    epilogue_node node = {
        .op = EPILOGUE_PLACES, .args = {args.items[0]}, .count = 1, .step = EPILOGUE_BYTE_COLUMNS};
    return add_node(p, &node, from, out);
}

/* An operand of packed bits has an element for 8 columns; `known`: nodes before those of the arguments. */
static cute_status check_packed(parser *p, const call_args *args, int known)
{
    epilogue_node *x = args->items[0];
    bool matrix = x->shape.rows && x->shape.mul, used = false;
    if (x->op != EPILOGUE_LOAD) return CUTE_OK;
    for (int i = 0; i < known; i++) used = used || p->tree->nodes[i] == x;
    if (!matrix || x->turned || x->dtype != CUTE_I8)
        return fail_parse(p, args->offsets[0], args->ends[0] - args->offsets[0],
                          "expected a matrix of bytes, such as M[i,j]:i8, which has N/8 columns");
    if (x->shape.div == 1 && used)
        return fail_parse(p, args->offsets[0], args->ends[0] - args->offsets[0],
                          "'%s' was read as a matrix of N columns before", x->name);
    x->shape.div = EPILOGUE_BYTE_COLUMNS;
    return CUTE_OK;
}

static cute_status parse_call(parser *p, const char *name, size_t length, size_t from, epilogue_node **out)
{
    static const struct {
        const char *name;
        epilogue_kind kind;
        bool absolute;
    } reductions[] = {{"sum", EPILOGUE_SUM, false},
                      {"mean", EPILOGUE_MEAN, false},
                      {"max", EPILOGUE_MAX, false},
                      {"min", EPILOGUE_MIN, false},
                      {"amax", EPILOGUE_MAX, true}};
    static const struct {
        const char *name;
        epilogue_collective collective;
    } collectives[] = {{"allreduce", EPILOGUE_ALL_REDUCE},
                       {"reduce_scatter", EPILOGUE_REDUCE_SCATTER},
                       {"all_gather", EPILOGUE_ALL_GATHER},
                       {"broadcast", EPILOGUE_BROADCAST}};
    char word[32];
    call_args args;
    cute_dtype dtype;
    snprintf(word, sizeof word, "%.*s", (int)(length < 30 ? length : 30), name);
    for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++)
        if (strcmp(word, reductions[i].name) == 0)
            return parse_reduction(p, word, reductions[i].kind, reductions[i].absolute, from, out);
    for (size_t i = 0; i < sizeof collectives / sizeof *collectives; i++)
        if (strcmp(word, collectives[i].name) == 0)
            return parse_collective(p, collectives[i].collective, from, out);
    if (strcmp(word, "kth") == 0) return parse_kth(p, from, out);
    if (strcmp(word, "grad") == 0) return parse_grad(p, from, out);
    if (strcmp(word, "places") == 0) return parse_places(p, from, out);
    if (strcmp(word, "interleave") == 0 || strcmp(word, "repeat") == 0)
        return parse_columns(p, word[0] == 'r', from, out);
    const epilogue_function *f = epilogue_function_find(word), *of = NULL;
    if (!f && word[0] == 'd') of = epilogue_function_find(word + 1);
    if (f || of) {
        int known = p->tree->count;
        CUTE_TRY(parse_args(p, &args));
        CUTE_TRY(expect_args(p, word, &args, (f ? f : of)->operands, (f ? f : of)->operands, from));
        if (f && strcmp(word, "unpack") == 0) CUTE_TRY(check_packed(p, &args, known));
        return f ? add_compute(p, f, args.items, from, out) : add_derivative(p, of, args.items[0], from, out);
    }
    if (cute_dtype_find(word, &dtype)) {
        p->at = from;
        CUTE_TRY(parse_type(p, false, &dtype));
        CUTE_TRY(expect_text(p, "(", "behind a type"));
        CUTE_TRY(parse_args(p, &args));
        CUTE_TRY(expect_args(p, word, &args, 1, 1, from));
        epilogue_node node = {.op = EPILOGUE_CAST, .args = {args.items[0]}, .count = 1, .dtype = dtype};
        return dtype == CUTE_F32 ? (*out = args.items[0], CUTE_OK) : add_node(p, &node, from, out);
    }
    return fail_function(p, name, length, from);
}

/* ---- expressions ---- */

static cute_status parse_number(parser *p, epilogue_node **out)
{
    char digits[64];
    size_t from = p->at, length = 0;
    bool exponent = false;
    for (; from + length < p->length && length < sizeof digits - 1; length++) {
        char c = p->text[from + length];
        bool sign = (c == '+' || c == '-') && length && exponent &&
                    (digits[length - 1] == 'e' || digits[length - 1] == 'E');
        if (c == 'e' || c == 'E') exponent = true;
        if (!isdigit((unsigned char)c) && c != '.' && c != 'e' && c != 'E' && !sign) break;
        digits[length] = c;
    }
    digits[length] = 0;
    char *end;
    double value = strtod(digits, &end);
    p->at += length;
    if (*end || end == digits) return fail_parse(p, from, length, "expected a number, got '%s'", digits);
    if (value > FLT_MAX)
        return fail_parse(p, from, length, "expected a number of f32, at most %.3g, got '%s'", FLT_MAX,
                          digits);
    return add_constant(p, value, from, out);
}

static cute_status parse_primary(parser *p, epilogue_node **out)
{
    char got[16];
    skip_space(p);
    size_t from = p->at, length = name_length(p);
    if (length) {
        const char *name = p->text + from;
        p->at += length;
        if (peek_text(p, "(")) {
            p->at++;
            return parse_call(p, name, length, from, out);
        }
        size_t before = p->at;
        if (!take_text(p, "[")) return parse_plain(p, name, length, from, out);
        if (!peek_text(p, ":")) return parse_indexed(p, name, length, from, out);
        p->at = before;
        return parse_plain(p, name, length, from, out);
    }
    if (take_text(p, "(")) {
        CUTE_TRY(parse_value(p, out));
        return expect_text(p, ")", "behind an expression");
    }
    if (p->at < p->length && (isdigit((unsigned char)p->text[p->at]) || p->text[p->at] == '.'))
        return parse_number(p, out);
    return fail_parse(p, from, 1, "expected a value, got %s", found_text(p, got));
}

static cute_status parse_integer(parser *p, int64_t *out)
{
    char got[16];
    skip_space(p);
    size_t from = p->at;
    *out = 0;
    while (p->at < p->length && isdigit((unsigned char)p->text[p->at]) && *out < 1000)
        *out = *out * 10 + (p->text[p->at++] - '0');
    if (p->at > from) return CUTE_OK;
    return fail_parse(p, from, 1, "expected a number, as in acc[:, 0::2], got %s", found_text(p, got));
}

static cute_status parse_slice(parser *p, epilogue_node **out)
{
    CUTE_TRY(parse_primary(p, out));
    for (;;) {
        skip_space(p);
        size_t from = p->at;
        if (!take_text(p, "[")) return CUTE_OK;
        epilogue_node node = {.op = EPILOGUE_SLICE, .args = {*out}, .count = 1};
        CUTE_TRY(expect_text(p, ":", "for all rows, as in acc[:, 0::2]"));
        CUTE_TRY(expect_text(p, ",", "behind the rows, as in acc[:, 0::2]"));
        CUTE_TRY(parse_integer(p, &node.first));
        CUTE_TRY(expect_text(p, "::", "and a step behind the first column, as in acc[:, 0::2]"));
        CUTE_TRY(parse_integer(p, &node.step));
        CUTE_TRY(expect_text(p, "]", "behind a step"));
        if ((node.step != 2 && node.step != 4 && node.step != 8) || node.first >= node.step)
            return fail_parse(
                p, from, p->at - from,
                "expected every 2nd, 4th or 8th column and a first column below that, got %lld::%lld",
                (long long)node.first, (long long)node.step);
        CUTE_TRY(add_node(p, &node, from, out));
    }
}

/* Small whole exponents become products, others pow. */
static cute_status add_power(parser *p, epilogue_node *x, epilogue_node *y, size_t from, epilogue_node **out)
{
    double e = y->op == EPILOGUE_CONSTANT ? y->value : 0;
    if (e == 0.5) return add_operator(p, "sqrt", x, NULL, from, out);
    if (e != 2 && e != 3 && e != 4) return add_operator(p, "pow", x, y, from, out);
    CUTE_TRY(add_operator(p, "mul", x, x, from, out));
    if (e == 2) return CUTE_OK;
    return add_operator(p, "mul", *out, e == 3 ? x : *out, from, out);
}

static cute_status parse_unary(parser *p, epilogue_node **out)
{
    cute_status status = CUTE_OK;
    skip_space(p);
    size_t from = p->at;
    if (++p->depth > EPILOGUE_DEPTH)
        return fail_parse(p, p->at, 1, "expected at most %d levels of nesting, got more", EPILOGUE_DEPTH);
    if (take_text(p, "-")) {
        status = parse_unary(p, out);
        if (status == CUTE_OK) status = add_operator(p, "neg", *out, NULL, from, out);
    } else {
        status = parse_slice(p, out);
        if (status == CUTE_OK && take_text(p, "**")) {
            epilogue_node *base = *out, *exponent;
            status = parse_unary(p, &exponent);
            if (status == CUTE_OK) status = add_power(p, base, exponent, from, out);
        }
    }
    p->depth--;
    return status;
}

static cute_status parse_product(parser *p, epilogue_node **out)
{
    skip_space(p);
    size_t from = p->at;
    CUTE_TRY(parse_unary(p, out));
    for (;;) {
        epilogue_node *right;
        bool times = peek_text(p, "*") && !peek_text(p, "**");
        if (!times && !peek_text(p, "/")) return CUTE_OK;
        p->at++;
        CUTE_TRY(parse_unary(p, &right));
        CUTE_TRY(add_operator(p, times ? "mul" : "div", *out, right, from, out));
    }
}

static cute_status parse_sum(parser *p, epilogue_node **out)
{
    skip_space(p);
    size_t from = p->at;
    CUTE_TRY(parse_product(p, out));
    for (;;) {
        epilogue_node *right;
        bool plus = peek_text(p, "+");
        if (!plus && !peek_text(p, "-")) return CUTE_OK;
        p->at++;
        CUTE_TRY(parse_product(p, &right));
        CUTE_TRY(add_operator(p, plus ? "add" : "sub", *out, right, from, out));
    }
}

static cute_status parse_value(parser *p, epilogue_node **out)
{
    static const char *const signs[][2] = {{"<=", "le"}, {">=", "ge"}, {"==", "eq"},
                                           {"!=", "ne"}, {"<", "lt"},  {">", "gt"}};
    skip_space(p);
    size_t from = p->at;
    if (++p->depth > EPILOGUE_DEPTH)
        return fail_parse(p, p->at, 1, "expected at most %d levels of nesting, got more", EPILOGUE_DEPTH);
    CUTE_TRY(parse_sum(p, out));
    p->depth--;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++) {
        epilogue_node *right;
        if (!take_text(p, signs[i][0])) continue;
        CUTE_TRY(parse_sum(p, &right));
        return add_operator(p, signs[i][1], *out, right, from, out);
    }
    return CUTE_OK;
}

/* ---- statements ---- */

typedef struct statement {
    const char *name;
    bool aux, indexed, item, row, column, turned, stated;
    cute_dtype dtype;
    size_t offset, length;
} statement;

/* Whether a target and '=' follow; the position is then behind '='. */
static bool parse_target(parser *p, statement *s, cute_status *status)
{
    size_t from = p->at, length;
    *s = (statement){.dtype = CUTE_F32};
    *status = CUTE_OK;
    skip_space(p);
    length = name_length(p);
    s->aux = length == 3 && memcmp(p->text + p->at, "aux", 3) == 0;
    if (s->aux) {
        p->at += 3;
        skip_space(p);
        length = name_length(p);
    }
    s->offset = p->at;
    s->length = length;
    p->at += length;
    bool target = length > 0;
    if (target && peek_text(p, "[")) {
        size_t bracket = p->at++;
        cute_diag *diag = p->diag;
        p->diag = NULL;
        target = parse_indices(p, &s->item, &s->row, &s->column, &s->turned) == CUTE_OK;
        p->diag = diag;
        s->indexed = target;
        if (!target) p->at = bracket;
    }
    if (target && peek_text(p, ":")) {
        p->at++;
        *status = parse_type(p, true, &s->dtype);
        s->stated = true;
        if (*status != CUTE_OK) return false;
    }
    target = target && peek_text(p, "=") && !peek_text(p, "==");
    if (target) {
        p->at++;
        s->name = cute_arena_copy(p->tree->arena, p->text + s->offset, s->length);
        if (!s->name) *status = cute_fail_memory(p->diag);
        return true;
    }
    if (s->aux) *status = expect_text(p, "=", "behind aux and a name");
    p->at = from;
    return false;
}

static cute_status check_target(parser *p, const statement *s)
{
    for (int i = 0; reserved[i]; i++)
        if (strcmp(s->name, reserved[i]) == 0)
            return fail_parse(p, s->offset, s->length,
                              "expected another name for a result: '%s' has a meaning of its own", s->name);
    if (strcmp(s->name, "acc") == 0 || epilogue_function_find(s->name))
        return fail_parse(p, s->offset, s->length,
                          "expected another name for a result: '%s' has a meaning of its own", s->name);
    if (find_name(p, s->name, strlen(s->name)))
        return fail_parse(p, s->offset, s->length, "'%s' is already defined: expected a new name", s->name);
    if (find_operand(p, s->name, strlen(s->name)))
        return fail_parse(p, s->offset, s->length,
                          "'%s' is an operand that was read before: expected a new name", s->name);
    return CUTE_OK;
}

static cute_status add_output(parser *p, const statement *s, epilogue_node *node, int *row)
{
    epilogue_tree *t = p->tree;
    if (t->output_count == EPILOGUE_OUTPUTS)
        return fail_parse(p, s->offset, s->length, "expected at most %d outputs, got more", EPILOGUE_OUTPUTS);
    *row = t->output_count;
    t->outputs[t->output_count++] = (epilogue_output){.name = s->name,
                                                      .node = node,
                                                      .dtype = s->dtype,
                                                      .stated = s->stated,
                                                      .main = strcmp(s->name, "D") == 0,
                                                      .indexed = s->indexed,
                                                      .index_row = s->row,
                                                      .index_column = s->column,
                                                      .turned = s->turned,
                                                      .offset = s->offset,
                                                      .length = s->length};
    return CUTE_OK;
}

static cute_status parse_statement(parser *p)
{
    statement s;
    cute_status status;
    epilogue_node *value;
    skip_space(p);
    size_t from = p->at;
    bool named = parse_target(p, &s, &status);
    if (status != CUTE_OK) return status;
    if (!named) s = (statement){.name = "D", .dtype = CUTE_F32};
    CUTE_TRY(parse_value(p, &value));
    if (!named) s.offset = from, s.length = p->at - from;
    if (!named && find_name(p, "D", 1))
        return fail_parse(p, s.offset, s.length,
                          "'D' is already defined: expected NAME = before another value");
    CUTE_TRY(check_target(p, &s));
    if (*p->name_count == NAMES)
        return fail_parse(p, from, 1, "expected at most %d statements, got more", NAMES);
    if (!value->name && value->op != EPILOGUE_CONSTANT) value->name = s.name;
    int row = -1;
    bool output = s.aux || s.indexed || strcmp(s.name, "D") == 0;
    if (output) CUTE_TRY(add_output(p, &s, value, &row));
    p->names[(*p->name_count)++] = (name_value){s.name, value, output, row, s.offset, s.length};
    if (!output && s.stated)
        return fail_parse(p, s.offset, s.length,
                          "expected 'aux' in front of '%s': only results in memory have a type", s.name);
    return CUTE_OK;
}

cute_status epilogue_parse(cute_arena *arena, const char *label, const char *text, size_t length,
                           epilogue_tree **out, cute_diag *diag)
{
    epilogue_tree *t = cute_arena_alloc(arena, sizeof *t);
    name_value *names = cute_arena_array(arena, NAMES, sizeof *names);
    int count = 0;
    *out = NULL;
    if (!t || !names) return cute_fail_memory(diag);
    t->arena = arena;
    t->label = label;
    t->text = cute_arena_copy(arena, text, length);
    t->length = length;
    if (!t->text) return cute_fail_memory(diag);
    parser p = {
        .tree = t, .text = t->text, .length = length, .names = names, .name_count = &count, .diag = diag};
    if (length > EPILOGUE_TEXT)
        return fail_parse(&p, 0, 1, "expected an epilogue of at most %d characters, got %zu", EPILOGUE_TEXT,
                          length);
    for (;;) {
        char got[16];
        while (take_text(&p, ";")) {
        }
        skip_space(&p);
        if (p.at >= p.length) break;
        CUTE_TRY(parse_statement(&p));
        skip_space(&p);
        if (p.at < p.length && p.text[p.at] != ';')
            return fail_parse(&p, p.at, 1, "expected an operator or ';', got %s", found_text(&p, got));
    }
    if (!count) return fail_parse(&p, 0, 1, "expected an expression, got an empty text");
    /* Names that nothing reads are results, too. */
    for (int i = 0; i < count; i++) {
        statement s = {
            .name = names[i].name, .dtype = CUTE_F32, .offset = names[i].offset, .length = names[i].length};
        int row;
        if (!names[i].read && names[i].output < 0) CUTE_TRY(add_output(&p, &s, names[i].node, &row));
    }
    *out = t;
    return CUTE_OK;
}
