/* cute-tile-schedule: how each loop of a tile program with products is scheduled.
 *
 * Requires: cute-tile-expand. Ensures: each kernel with tiles has `cute.schedule`, a complete text; products that warpgroups compute are
 * marked `wgmma`. Choices stated by the text of the kernel or of the option are kept; the rest follows from the tiles, the types and the
 * architecture (remarks tell). The passes behind do what the text says, or leave a loop as it is, with a remark.
 *
 *     gpu.func @gemm(...) kernel { ... cute.tile.gemm(%a, %b, %acc) ... }
 * ->
 *     gpu.func @gemm(...) kernel attributes {cute.schedule = "stages=4 consumers=2 cluster=1x1 persistent=1 order=8 threads=0"}
 *       { ... cute.tile.gemm(%a, %b, %acc) {wgmma} ... }
 */
#include "lib/passes/tiles/schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/util.h"
#include "lib/model/model.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* ---- the text ---- */

/* States no choice, so that a parameter of the program can be the text. */
static const char unstated[] = "auto";

static const char *const l2_words[] = {"normal", "stream"};

enum { OPTIONAL = 1, UNSTATED };
static const struct {
    const char *name;
    size_t offset;
    int least, most;
    bool pair;                /* 2x1 */
    int optional;             /* the first value is not written; UNSTATED: unless it is stated */
    const char *const *words; /* of the values from `least` on; NULL: numbers */
} rows[] = {
    {"stages", offsetof(tile_schedule, stages), 1, 16, false, 0, NULL},
    {"consumers", offsetof(tile_schedule, consumers), 0, 4, false, 0, NULL},
    {"cluster", offsetof(tile_schedule, cluster), 1, 8, true, 0, NULL},
    {"persistent", offsetof(tile_schedule, persistent), 0, 1, false, 0, NULL},
    {"order", offsetof(tile_schedule, order), 1, 1024, false, 0, NULL},
    {"threads", offsetof(tile_schedule, threads), 0, 1024, false, 0, NULL},
    {"turns", offsetof(tile_schedule, turns), 0, 1, false, OPTIONAL, NULL},
    {"tail", offsetof(tile_schedule, tail), CUTE_MODEL_WHOLE, CUTE_MODEL_STREAM_K, false, OPTIONAL,
     cute_model_tail_names},
    {"l2", offsetof(tile_schedule, l2), TILE_L2_NORMAL, TILE_L2_STREAM, false, OPTIONAL, l2_words},
    {"split", offsetof(tile_schedule, split), 1, 8, false, OPTIONAL, NULL},
    {"slices", offsetof(tile_schedule, slices), 1, 8, false, OPTIONAL, NULL},
    {"blocks", offsetof(tile_schedule, blocks), 1, 8, false, OPTIONAL, NULL},
    {"factors", offsetof(tile_schedule, factors), 0, 1, false, UNSTATED, NULL},
};
enum { ROWS = sizeof rows / sizeof *rows };

void tile_schedule_init(tile_schedule *s)
{
    *s = (tile_schedule){.stages = 1, .cluster = {1, 1}, .order = 1, .split = 1, .slices = 1, .blocks = 1};
}

static int *field_of(tile_schedule *s, int row)
{
    return (int *)((char *)s + rows[row].offset);
}

static int find_row(const char *name, size_t length)
{
    for (int i = 0; i < ROWS; i++)
        if (strlen(rows[i].name) == length && !memcmp(rows[i].name, name, length)) return i;
    return -1;
}

static bool fail(MlirLocation location, const char *item, size_t length)
{
    cute_buffer text = {0};
    cute_buffer_printf(
        &text,
        "expected a schedule (cute.schedule) such as \"naive\", \"auto\" or \"stages=4 consumers=2\", "
        "got '%.*s'; it has",
        (int)(length < 64 ? length : 64), item);
    for (int i = 0; i < ROWS; i++) {
        cute_buffer_printf(&text, "%s %s=", i ? "," : "", rows[i].name);
        if (rows[i].words)
            for (int v = rows[i].least; v <= rows[i].most; v++)
                cute_buffer_printf(&text, "%s%s", v > rows[i].least ? "|" : "",
                                   rows[i].words[v - rows[i].least]);
        else
            cute_buffer_printf(&text, "%d%s to %d%s", rows[i].least, rows[i].pair ? "x1" : "", rows[i].most,
                               rows[i].pair ? "x8" : "");
    }
    cute_emit_error(location, cute_buffer_text(&text));
    cute_buffer_release(&text);
    return false;
}

/* A number of at most 4 digits; false: there is none, or it is not between the bounds. */
static bool number_at(const char **at, const char *end, int least, int most, int *out)
{
    const char *from = *at;
    int value = 0;
    for (; *at < end && **at >= '0' && **at <= '9' && *at - from < 4; ++*at)
        value = value * 10 + (**at - '0');
    *out = value;
    return *at > from && value >= least && value <= most;
}

/* The value of a word of row `row` that ends at `stop`. */
static bool word_at(const char **at, const char *stop, int row, int *out)
{
    for (int v = rows[row].least; v <= rows[row].most; v++) {
        const char *word = rows[row].words[v - rows[row].least];
        if (strlen(word) != (size_t)(stop - *at) || memcmp(word, *at, strlen(word))) continue;
        *out = v;
        *at = stop;
        return true;
    }
    return false;
}

bool tile_schedule_parse(MlirStringRef text, MlirLocation location, tile_schedule *out)
{
    const char *end = text.data + text.length;
    if (cute_text_is(text, "naive")) return out->naive = true;
    if (cute_text_is(text, unstated)) return true;
    for (const char *at = text.data; at < end;) {
        const char *from = at, *stop = at, *equals = NULL;
        if (*at == ' ' || *at == ',') {
            at++;
            continue;
        }
        while (stop < end && *stop != ' ' && *stop != ',') {
            if (*stop == '=' && !equals) equals = stop;
            stop++;
        }
        int row = equals ? find_row(from, (size_t)(equals - from)) : -1;
        if (row < 0) return fail(location, from, (size_t)(stop - from));
        int *to = field_of(out, row);
        at = equals + 1;
        bool ok = rows[row].words ? word_at(&at, stop, row, &to[0])
                                  : number_at(&at, stop, rows[row].least, rows[row].most, &to[0]);
        if (ok && rows[row].pair)
            ok = at < stop && *at++ == 'x' && number_at(&at, stop, rows[row].least, rows[row].most, &to[1]);
        if (!ok || at != stop) return fail(location, from, (size_t)(stop - from));
        out->given[row] = true;
    }
    return true;
}

void tile_schedule_of(MlirOperation function, tile_schedule *out)
{
    tile_schedule_init(out);
    MlirStringRef text = cute_tile_word(function, TILE_SCHEDULE);
    if (text.length) tile_schedule_parse(text, mlirOperationGetLocation(function), out);
}

bool tile_schedule_states(const tile_schedule *s, const char *name)
{
    return s->given[find_row(name, strlen(name))];
}

void tile_schedule_state(tile_schedule *s, const char *name)
{
    s->given[find_row(name, strlen(name))] = true;
}

int tile_schedule_groups(const tile_schedule *s)
{
    return s->turns ? 1 : s->consumers;
}

bool tile_schedule_is_applied(MlirOperation function)
{
    if (!cute_op_has(function, TILE_SCHEDULE)) return false;
    MlirOperation program = tile_find_op(function, "cute.tile.program");
    bool clusters = !mlirOperationIsNull(program) && cute_op_has(program, TILE_IN_CLUSTER) &&
                    cute_op_has(function, "nvvm.cluster_dim");
    return clusters || !mlirOperationIsNull(tile_find_op(function, "cute.tile.workers")) ||
           !mlirOperationIsNull(tile_find_op(function, "cute.tile.ring"));
}

int tile_schedule_shares(const tile_schedule *s)
{
    return s->split * s->slices;
}

enum { STAGE_ALIGN = 1024 };

int64_t tile_slice_bytes(const tile_schedule *s, int64_t bytes)
{
    return s->slices > 1 ? (bytes + STAGE_ALIGN - 1) / STAGE_ALIGN * STAGE_ALIGN : bytes;
}

int64_t tile_slice_share(const tile_schedule *s, int64_t bytes)
{
    return s->slices > 1 ? bytes / s->slices / STAGE_ALIGN * STAGE_ALIGN : bytes;
}

void tile_schedule_set(MlirOperation function, const tile_schedule *s)
{
    cute_buffer text = {0};
    if (s->naive) cute_buffer_printf(&text, "naive");
    for (int i = 0; i < ROWS && !s->naive; i++) {
        const int *from = (const int *)((const char *)s + rows[i].offset);
        bool stated = rows[i].optional == UNSTATED && s->given[i];
        if (rows[i].optional && from[0] == rows[i].least && !stated) continue;
        cute_buffer_printf(&text, "%s%s=", i ? " " : "", rows[i].name);
        if (rows[i].words)
            cute_buffer_printf(&text, "%s", rows[i].words[from[0] - rows[i].least]);
        else
            cute_buffer_printf(&text, "%d", from[0]);
        if (rows[i].pair) cute_buffer_printf(&text, "x%d", from[1]);
    }
    mlirOperationSetAttributeByName(
        function, cute_text(TILE_SCHEDULE),
        cute_string_attribute(mlirOperationGetContext(function), cute_buffer_text(&text)));
    cute_buffer_release(&text);
}

void tile_keep_blocks(MlirOperation function)
{
    tile_schedule s;
    MlirType i32 = mlirIntegerTypeGet(mlirOperationGetContext(function), 32);
    tile_schedule_of(function, &s);
    if (s.blocks > 1 && !cute_op_has(function, "nvvm.minctasm") && !cute_op_has(function, "nvvm.maxnreg"))
        mlirOperationSetAttributeByName(function, cute_text("nvvm.minctasm"),
                                        mlirIntegerAttrGet(i32, s.blocks));
}

const char *tile_schedule_tail(int tail)
{
    return cute_model_tail_names[tail];
}

bool tile_is_naive(MlirOperation function)
{
    return cute_text_is(cute_tile_word(function, TILE_SCHEDULE), "naive");
}

/* ---- the pass ---- */

enum { ARCH, SCHEDULE, SIZES, LISTED };
static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
    {"schedule", CUTE_PASS_TEXT,
     "Of kernels without the attribute cute.schedule, or where it is auto: empty or auto, naive (one element "
     "at a time, no tensor cores, a barrier before each operation), or the choices to keep, as in "
     "\"stages=4,consumers=2\"",
     0, ""},
    {"sizes", CUTE_PASS_TEXT,
     "Of kernels without the attribute cute.sizes: the product's extents, as in \"m=4096,n=4096,k=4096\", "
     "for the choice",
     0, ""},
    {"list", CUTE_PASS_INT, "List so many likeliest schedules of each kernel in remarks", 0, NULL},
};

/* The clusters that the program itself states (cute.tile.cluster_reduce): whatever a text says, blocks have them and are not resident. False
 * after an error. */
static bool keep_cluster(const cute_arch *arch, MlirOperation function, tile_schedule *s)
{
    enum { MOST_BLOCKS = 8 };
    static const struct {
        const char *name;
        size_t offset;
        int value;
    } fixed[] = {{"persistent", offsetof(tile_schedule, persistent), 0},
                 {"split", offsetof(tile_schedule, split), 1},
                 {"slices", offsetof(tile_schedule, slices), 1}};
    int64_t along[CUTE_TILE_RANK] = {1}, all = 1;
    MlirOperation program = tile_find_op(function, "cute.tile.program");
    if (mlirOperationIsNull(program) || !cute_op_has(program, TILE_IN_CLUSTER) ||
        cute_op_has(function, "nvvm.cluster_dim"))
        return true;
    int rank = (int)mlirOperationGetNumResults(program), count = tile_cluster_of(program, along),
        own[2] = {1, 1};
    MlirLocation at = mlirOperationGetLocation(program);
    char text[192];
    for (int i = 0; i < count; i++) {
        all = along[i] > 0 && along[i] <= MOST_BLOCKS ? all * along[i] : MOST_BLOCKS + 1;
        if (i >= rank - 2) own[i - (rank - 2)] = (int)along[i];
        if (i < rank - 2 && along[i] > 1) all = MOST_BLOCKS + 1;
    }
    if (rank == 1) own[1] = own[0], own[0] = 1;
    snprintf(text, sizeof text,
             "expected clusters of at most %d blocks, along the last two dimensions of the grid",
             MOST_BLOCKS);
    if (all > MOST_BLOCKS || count > rank) return cute_emit_error(at, text), false;
    if (!arch || arch->number < 90)
        return cute_emit_error(at, "expected sm_90 or later: the program has clusters"), false;
    bool other = tile_schedule_states(s, "cluster") && (s->cluster[0] != own[0] || s->cluster[1] != own[1]);
    if (other) {
        snprintf(text, sizeof text,
                 "expected a schedule with cluster=%dx%d, as the program states, got cluster=%dx%d", own[0],
                 own[1], s->cluster[0], s->cluster[1]);
        return cute_emit_error(at, text), false;
    }
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        int *field = (int *)((char *)s + fixed[i].offset);
        if (*field == fixed[i].value) continue;
        snprintf(text, sizeof text,
                 "expected a schedule with %s=%d, since the program has clusters, got %s=%d", fixed[i].name,
                 fixed[i].value, fixed[i].name, *field);
        return cute_emit_error(at, text), false;
    }
    memcpy(s->cluster, own, sizeof own);
    s->given[find_row("cluster", strlen("cluster"))] = true;
    s->given[find_row("persistent", strlen("persistent"))] = true;
    return true;
}

typedef struct search {
    cute_pass_run *pass;
    const cute_arch *arch;
    bool changed, failed;
} search;

static void visit_function(MlirOperation function, void *context)
{
    search *s = context;
    if (s->failed || !tile_is_program(function)) return;
    if (tile_schedule_is_applied(function)) return;
    MlirAttribute own = mlirOperationGetAttributeByName(function, cute_text(TILE_SCHEDULE));
    MlirStringRef text = cute_tile_word(function, TILE_SCHEDULE);
    bool stated = !mlirAttributeIsNull(own) && !cute_text_is(text, unstated);
    if (!stated) text = cute_pass_text(s->pass, SCHEDULE);
    tile_schedule schedule;
    tile_schedule_init(&schedule);
    if (!tile_schedule_parse(text, mlirOperationGetLocation(function), &schedule)) {
        s->failed = true;
        return;
    }
    own = mlirOperationGetAttributeByName(function, cute_text(TILE_SIZES));
    tile_sizes sizes = {0};
    text = mlirAttributeIsNull(own) ? cute_pass_text(s->pass, SIZES) : cute_tile_word(function, TILE_SIZES);
    if (!tile_sizes_parse(text, mlirOperationGetLocation(function), &sizes)) {
        s->failed = true;
        return;
    }
    if (!keep_cluster(s->arch, function, &schedule)) {
        s->failed = true;
        return;
    }
    int listed = (int)cute_pass_int(s->pass, LISTED);
    /* A kernel with a schedule of its own has no choice of others: the likeliest that agrees has the estimate. */
    if (stated && listed > 1) listed = 1;
    if (!schedule.naive) tile_schedule_choose(s->pass, s->arch, function, &sizes, listed, &schedule);
    tile_schedule_set(function, &schedule);
    s->changed = true;
}

static void run_tile_schedule(MlirOperation root, cute_pass_run *pass)
{
    search s = {.pass = pass};
    if (!cute_pass_arch(pass, ARCH, root, &s.arch)) return;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &s);
    cute_pass_end(pass, s.failed, s.changed);
}

const cute_pass cute_pass_tile_schedule = {
    .name = "cute-tile-schedule",
    .help = "Choose stages, roles and instructions for the products of tile programs",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_CUTE,
    .run = run_tile_schedule,
};
