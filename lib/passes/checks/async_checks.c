/* Driver of the static checks of asynchronous kernels (async.h): names, findings, and the runs of each
 * kernel. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/mlir/kernel.h"
#include "lib/ir/mlir/util.h"
#include "lib/passes/checks/async.h"

static const struct {
    const char *name;
    bool error;
} checks[] = {
#define CUTE_ASYNC(id, name, error, what, blind) [ASYNC_##id] = {name, error},
#include "lib/passes/checks/async_checks.def"
};

static const char *const modes[] = {"on", "warn", "strict", "off"};

bool async_mode_known(MlirStringRef mode)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (cute_text_is(mode, modes[i])) return true;
    return false;
}

/* ---- findings ---- */

struct async_report {
    cute_arena *arena;
    bool warn, strict, failed;
    struct told {
        async_check check;
        const void *op;
    } *told;
    size_t count, capacity;
};

async_finding async_find(async_check check, MlirOperation op, const char *format, ...)
{
    async_finding f = {.check = check, .op = op};
    va_list args;
    va_start(args, format);
    vsnprintf(f.text, sizeof f.text, format, args);
    va_end(args);
    return f;
}

void async_note(async_finding *f, MlirOperation op, const char *format, ...)
{
    if (f->note_count == ASYNC_NOTES || mlirOperationIsNull(op)) return;
    va_list args;
    va_start(args, format);
    vsnprintf(f->notes[f->note_count].text, sizeof f->notes[0].text, format, args);
    va_end(args);
    f->notes[f->note_count++].op = op;
}

void async_tell(async_report *r, const async_finding *f)
{
    for (size_t i = 0; i < r->count; i++)
        if (r->told[i].check == f->check && r->told[i].op == f->op.ptr) return;
    if (!cute_arena_more(r->arena, &r->told, r->count, &r->capacity, sizeof *r->told, 8)) return;
    r->told[r->count++] = (struct told){f->check, f->op.ptr};
    cute_emit_note notes[ASYNC_NOTES];
    for (int i = 0; i < f->note_count; i++)
        notes[i] = (cute_emit_note){mlirOperationGetLocation(f->notes[i].op), f->notes[i].text};
    MlirStringRef name = mlirIdentifierStr(mlirOperationGetName(f->op));
    const char *text = cute_arena_printf(r->arena, "'%.*s' op %s [%s]", (int)name.length, name.data, f->text,
                                         checks[f->check].name);
    bool error = r->strict || (checks[f->check].error && !r->warn);
    r->failed |= error;
    cute_emit_with_notes(mlirOperationGetLocation(f->op), error, text ? text : f->text, notes,
                         (size_t)f->note_count);
}

/* ---- kernels ---- */

typedef struct visit {
    cute_pass_run *pass;
    const cute_launches *launches;
    const cute_arch *arch;
    bool warn, strict, failed;
} visit;

/* Assumed integer arguments: a few (tiles of a persistent kernel), then many (steps of a loop). */
enum { FEW = 2, MANY = 1024 };
/* Phases of an mbarrier after which a second run cannot find more. */
enum { WRAPPED = 3 };

static bool is_known_extent(const int64_t *extent)
{
    return extent[0] > 0 && extent[1] > 0 && extent[2] > 0;
}

static bool stops_at_call(const async_program *program)
{
    return !mlirOperationIsNull(program->opaque_at) && cute_op_is(program->opaque_at, "func.call");
}

/* Runs the kernel with integer arguments of `scalar`. False if a further run cannot find more, or if the
 * kernel calls functions that synchronise and *called is not set yet: it is set then. */
static bool run_with(const visit *v, MlirOperation kernel, const async_launch *launch, int64_t scalar,
                     async_report *report, async_program *program, bool *called)
{
    cute_arena *arena = report->arena;
    async_setting s = {.values = {.extent = 1024, .batch = 2, .scalar = scalar},
                       .steps = scalar == FEW ? 60000 : 30000,
                       .launch = launch->launch};
    for (int i = 0; i < 3; i++) {
        s.values.block[i] = is_known_extent(launch->block) ? launch->block[i] : 1;
        s.values.cluster[i] = is_known_extent(launch->cluster) ? launch->cluster[i] : 1;
        s.values.grid[i] = is_known_extent(launch->grid) ? launch->grid[i]
                                                         : s.values.cluster[i] * (i               ? 1
                                                                                  : scalar == FEW ? 8
                                                                                                  : 2);
    }
    MlirLocation location = mlirOperationGetLocation(kernel);
    if (!async_program_make(arena, kernel, &s, program)) return false;
    if (scalar == FEW && !*called) async_check_resources(kernel, launch, v->arch, program, report);
    if (!program->interesting || report->failed) return false;
    if (program->opaque) {
        if (stops_at_call(program) && !*called) {
            *called = true;
            return false;
        }
        cute_pass_remark(
            v->pass,
            mlirOperationIsNull(program->opaque_at) ? location : mlirOperationGetLocation(program->opaque_at),
            "the kernel is not checked: unsupported operation");
        return false;
    }
    if (!is_known_extent(launch->block) || s.values.block[0] > 1024 || s.values.block[1] > 1024 ||
        s.values.block[2] > 1024 || s.values.cluster[0] > 16 || s.values.cluster[1] > 16 ||
        s.values.cluster[2] > 16) {
        cute_pass_remark(v->pass, location, "is not checked: unknown block size; nvvm.reqntid sets it");
        return false;
    }
    size_t before = report->count;
    async_outcome o = async_run(arena, program, &s, report);
    if (report->count == before && !o.ended && !mlirOperationIsNull(o.at))
        cute_pass_remark(v->pass, mlirOperationGetLocation(o.at),
                         "the kernel is not checked from here on: control flow depends on data");
    else
        cute_pass_remark(v->pass, location,
                         "%s after %zu steps with %zu mbarriers and %d copies and wgmma groups",
                         o.ended ? "ends" : "is checked up to here,", o.steps, o.barriers, o.copies);
    return report->count == before && o.phases < WRAPPED;
}

static void check_kernel(MlirOperation kernel, void *context)
{
    visit *v = context;
    if (mlirBlockIsNull(mlirRegionGetFirstBlock(mlirOperationGetRegion(kernel, 0)))) return;
    async_report report = {.arena = cute_arena_create(), .warn = v->warn, .strict = v->strict};
    if (!report.arena) return;
    async_launch launch = async_launch_of(v->launches, kernel);
    async_program program = {0};
    MlirOperation root = {NULL};
    bool called = false, more = run_with(v, kernel, &launch, FEW, &report, &program, &called);
    if (called) {
        MlirOperation flat = async_without_calls(report.arena, kernel, &root);
        if (!mlirOperationIsNull(flat)) kernel = flat;
        more = run_with(v, kernel, &launch, FEW, &report, &program, &called);
    }
    if (more) run_with(v, kernel, &launch, MANY, &report, &program, &called);
    v->failed |= report.failed;
    if (!mlirOperationIsNull(root)) mlirOperationDestroy(root);
    cute_arena_destroy(report.arena);
}

bool async_check_kernels(cute_pass_run *pass, MlirOperation root, const cute_arch *arch, const char *mode)
{
    if (!strcmp(mode, "off")) return true;
    cute_launches *launches = cute_launches_create(root);
    visit v = {.pass = pass,
               .launches = launches,
               .arch = arch,
               .warn = !strcmp(mode, "warn"),
               .strict = !strcmp(mode, "strict")};
    if (launches) cute_kernels_each(root, check_kernel, &v);
    cute_launches_destroy(launches);
    return launches && !v.failed;
}
