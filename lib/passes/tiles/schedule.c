/* cute-tile-schedule: how each loop of a tile program with products is scheduled.
 *
 * Requires: cute-tile-expand. Ensures: each kernel with tiles has `cute.schedule`, a complete text; products that warpgroups compute are
 * marked `wgmma`. What the text of the kernel or of the option states is kept; the rest follows from the tiles, the types and the
 * architecture (remarks tell). The passes behind do what the text says, or leave a loop as it is, with a remark.
 *
 *     gpu.func @gemm(...) kernel { ... cute.tile.gemm(%a, %b, %acc) ... }
 * ->
 *     gpu.func @gemm(...) kernel attributes {cute.schedule = "stages=4 consumers=2 cluster=1x1 persistent=1 order=8"}
 *       { ... cute.tile.gemm(%a, %b, %acc) {wgmma} ... }
 */
#include "lib/passes/tiles/schedule.h"
#include "lib/passes/tiles/describe_schedule.h"

#include <mlir-c/BuiltinAttributes.h>
#include <mlir-c/BuiltinTypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/devices/target.h"
#include "lib/passes/passes.h"

/* ---- the text ---- */

static const struct {
    const char *name;
    size_t offset;
    int least, most;
    bool pair; /* 2x1 */
} rows[] = {
    {"stages", offsetof(tile_schedule, stages), 1, 16, false},
    {"consumers", offsetof(tile_schedule, consumers), 0, 4, false},
    {"cluster", offsetof(tile_schedule, cluster), 1, 8, true},
    {"persistent", offsetof(tile_schedule, persistent), 0, 1, false},
    {"order", offsetof(tile_schedule, order), 1, 1024, false},
    {"threads", offsetof(tile_schedule, threads), 0, 1024, false},
};
enum { ROWS = sizeof rows / sizeof *rows };

void tile_schedule_init(tile_schedule *s)
{
    *s = (tile_schedule){.stages = 1, .cluster = {1, 1}, .order = 1};
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
    cute_buffer_printf(&text,
                       "expected a schedule (cute.schedule) such as \"naive\" or \"stages=4 consumers=2\", "
                       "got '%.*s'; it has",
                       (int)(length < 64 ? length : 64), item);
    for (int i = 0; i < ROWS; i++)
        cute_buffer_printf(&text, "%s %s=%d%s to %d%s", i ? "," : "", rows[i].name, rows[i].least,
                           rows[i].pair ? "x1" : "", rows[i].most, rows[i].pair ? "x8" : "");
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

bool tile_schedule_parse(MlirStringRef text, MlirLocation location, tile_schedule *out)
{
    const char *end = text.data + text.length;
    if (cute_text_is(text, "naive")) return out->naive = true;
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
        bool ok = number_at(&at, stop, rows[row].least, rows[row].most, &to[0]);
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

void tile_schedule_set(MlirOperation function, const tile_schedule *s)
{
    cute_buffer text = {0};
    if (s->naive) cute_buffer_printf(&text, "naive");
    for (int i = 0; i < ROWS && !s->naive; i++) {
        const int *from = (const int *)((const char *)s + rows[i].offset);
        cute_buffer_printf(&text, "%s%s=%d", i ? " " : "", rows[i].name, from[0]);
        if (rows[i].pair) cute_buffer_printf(&text, "x%d", from[1]);
    }
    mlirOperationSetAttributeByName(
        function, cute_text(TILE_SCHEDULE),
        cute_string_attribute(mlirOperationGetContext(function), cute_buffer_text(&text)));
    cute_buffer_release(&text);
}

bool tile_is_naive(MlirOperation function)
{
    return cute_text_is(cute_tile_word(function, TILE_SCHEDULE), "naive");
}

/* ---- the choice ---- */

enum { ARCH, SCHEDULE };
static const cute_pass_option options[] = {
    CUTE_ARCH_OPTION,
    {"schedule", CUTE_PASS_TEXT,
     "Of kernels without the attribute cute.schedule: empty, naive (one element at a time, no tensor "
     "cores, a barrier before each operation), or the choices to keep, as in \"stages=4,consumers=2\"",
     0, ""},
};

typedef struct choice {
    cute_pass_run *pass;
    const cute_arch *arch;
    MlirOperation function;
    int loops, products; /* loops with products whose loads can be fetched ahead; products in them */
    int fitting[3];      /* of these products, how many 1 and 2 warpgroups can compute */
    int64_t bytes;       /* of a stage, all rings together */
    /* The same, of loads beside products outside of loops: these are in the loop over tiles of resident blocks. */
    int64_t outside;
    /* Bytes that operands of a product take beside stages: of any, of one that warpgroups do not compute. */
    int64_t operands, operands_beside;
    bool failed;
} choice;

static void look_at_entry(choice *c)
{
    MlirBlock entry = mlirRegionGetFirstBlock(mlirOperationGetRegion(c->function, 0));
    bool product = false;
    for (MlirOperation at = mlirBlockGetFirstOperation(entry); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at)) {
        product |= cute_op_is(at, "cute.tile.gemm");
        if (cute_op_is(at, "cute.tile.load")) c->outside += tile_ring_bytes(at);
    }
    if (!product) c->outside = 0;
}

static int64_t operand_bytes(MlirOperation product)
{
    int64_t bytes = 0;
    for (int i = 0; i < 2; i++) {
        cute_tile_shape shape;
        MlirType type = mlirValueGetType(mlirOperationGetOperand(product, i)),
                 element = cute_tile_element(type);
        cute_tile_shape_of(type, &shape);
        bytes += tile_stage_bytes(&shape, mlirTypeIsAFloat(element) ? (int)mlirFloatTypeGetWidth(element)
                                                                    : (int)mlirIntegerTypeGetWidth(element));
    }
    return bytes;
}

static void look_at_product(MlirOperation op, void *context)
{
    choice *c = context;
    MlirOperation loop = tile_parent(op);
    bool in_loop = cute_op_is(loop, "scf.for");
    int64_t bytes = operand_bytes(op);
    if (bytes > c->operands) c->operands = bytes;
    if (bytes > c->operands_beside && !(in_loop && tile_fits_wgmma(op, 1))) c->operands_beside = bytes;
    if (!in_loop) return;
    c->products++;
    for (int i = 1; i <= 2; i++) c->fitting[i] += tile_fits_wgmma(op, i);
}

static void look_at_loop(MlirOperation op, void *context)
{
    choice *c = context;
    tile_ahead ahead;
    bool product = false;
    for (MlirOperation at = mlirBlockGetFirstOperation(tile_loop_body(op)); !mlirOperationIsNull(at);
         at = mlirOperationGetNextInBlock(at))
        product |= cute_op_is(at, "cute.tile.gemm");
    if (!product) return;
    tile_find_ahead(op, false, &ahead, NULL, NULL);
    if (!ahead.count) return;
    c->loops++;
    for (int i = 0; i < ahead.count; i++) c->bytes += tile_ring_bytes(ahead.loads[i]);
}

static void mark_product(MlirOperation op, void *context)
{
    const int *consumers = context;
    if (cute_op_is(tile_parent(op), "scf.for") && tile_fits_wgmma(op, *consumers))
        mlirOperationSetAttributeByName(op, cute_text("wgmma"), mlirUnitAttrGet(mlirOperationGetContext(op)));
}

/* Shared memory of a block that stages may take: what the architecture has, less room for mbarriers and an epilogue. */
static int64_t stage_room(const choice *c, const tile_schedule *s, int64_t epilogue)
{
    enum { BARRIERS = 1 << 10 };
    const cute_arch *arch = c->arch;
    int64_t beside = s->consumers ? c->operands_beside : c->operands;
    if (beside > epilogue) epilogue = beside;
    int64_t all = arch && (arch->number == 80 || arch->number == 87) ? 163 << 10
                  : arch && arch->number >= 90 && arch->number < 120 ? 227 << 10
                                                                     : 99 << 10;
    return all - epilogue - BARRIERS;
}

static void choose(choice *c, tile_schedule *s)
{
    bool hopper = c->arch && c->arch->number == 90 && c->arch->variant == 'a';
    cute_op_walk(c->function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, look_at_product, c);
    cute_op_walk(c->function, "scf.for", CUTE_WALK_OUTER_FIRST, look_at_loop, c);
    if (!tile_schedule_states(s, "consumers")) {
        s->consumers = 0;
        if (hopper && c->loops && c->products)
            s->consumers = c->fitting[2] == c->products ? 2 : c->fitting[1] == c->products ? 1 : 0;
    }
    if (s->consumers && !hopper) {
        tile_refuse(c->pass, c->function, "no warpgroups as consumers: they need TMA and wgmma, of sm_90a");
        s->consumers = 0;
    }
    if (!tile_schedule_states(s, "persistent")) s->persistent = s->consumers > 0;
    if (s->persistent) {
        look_at_entry(c);
        c->bytes += c->outside;
    }
    if (!tile_schedule_states(s, "stages")) {
        enum { FEW = 4, MANY = 8, EPILOGUE = 32 << 10 };
        int64_t most = c->bytes ? stage_room(c, s, EPILOGUE) / c->bytes : 0;
        int wanted = s->consumers ? MANY : FEW;
        bool copies = c->arch && c->arch->number >= 80;
        s->stages = !copies || most < 2 ? 1 : most < wanted ? (int)most : wanted;
    } else if (c->bytes && s->stages > 1 && s->stages * c->bytes > stage_room(c, s, 0)) {
        int64_t most = stage_room(c, s, 0) / c->bytes;
        cute_pass_remark(c->pass, mlirOperationGetLocation(c->function),
                         "%d stages of %lld bytes do not fit in shared memory: %lld", s->stages,
                         (long long)c->bytes, (long long)(most < 1 ? 1 : most));
        s->stages = most < 1 ? 1 : (int)most;
    }
    if (!tile_schedule_states(s, "order")) s->order = s->persistent ? 8 : 1;
    if (!c->loops)
        s->stages = 1, s->consumers = 0,
        s->persistent = tile_schedule_states(s, "persistent") && s->persistent;
    if (s->cluster[0] * s->cluster[1] > 1 && (!c->arch || c->arch->number < 90 || !s->persistent)) {
        cute_pass_remark(c->pass, mlirOperationGetLocation(c->function), "no clusters: they need %s",
                         s->persistent ? "sm_90" : "resident blocks, persistent=1");
        s->cluster[0] = s->cluster[1] = 1;
    }
    if (s->consumers)
        cute_op_walk(c->function, "cute.tile.gemm", CUTE_WALK_OUTER_FIRST, mark_product, &s->consumers);
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
    MlirAttribute own = mlirOperationGetAttributeByName(function, cute_text(TILE_SCHEDULE));
    MlirStringRef text = mlirAttributeIsNull(own) ? cute_pass_text(s->pass, SCHEDULE)
                                                  : cute_tile_word(function, TILE_SCHEDULE);
    tile_schedule schedule;
    tile_schedule_init(&schedule);
    if (!tile_schedule_parse(text, mlirOperationGetLocation(function), &schedule)) {
        s->failed = true;
        return;
    }
    choice c = {.pass = s->pass, .arch = s->arch, .function = function};
    if (!schedule.naive) choose(&c, &schedule);
    tile_schedule_set(function, &schedule);
    if (!schedule.naive && c.loops)
        cute_pass_remark(s->pass, mlirOperationGetLocation(function),
                         "schedule: %d stages of %lld bytes, %d warpgroups multiply%s", schedule.stages,
                         (long long)c.bytes, schedule.consumers,
                         schedule.persistent ? ", resident blocks" : "");
    s->changed = true;
}

static void run_tile_schedule(MlirOperation root, cute_pass_run *pass)
{
    search s = {.pass = pass};
    if (!cute_pass_arch(pass, ARCH, root, &s.arch)) return;
    cute_op_walk(root, "gpu.func", CUTE_WALK_OUTER_FIRST, visit_function, &s);
    if (s.failed)
        cute_pass_fail(pass);
    else if (!s.changed)
        cute_pass_unchanged(pass);
}

const cute_pass cute_pass_tile_schedule = {
    .name = "cute-tile-schedule",
    .help = "Choose stages, roles and instructions for the products of tile programs",
    .options = options,
    .option_count = sizeof options / sizeof *options,
    .dialects = CUTE_DIALECT_CUTE,
    .run = run_tile_schedule,
};
