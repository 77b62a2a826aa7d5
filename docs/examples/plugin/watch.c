/* A plugin for cute-run and cute-dump: a check of the emulator, a performance finding, and a reduction for launch.json. */
#include <cute/plugin.h>
#include <math.h>

/* ---- check: an address of global memory that is stored twice in a launch ---- */

enum { SLOTS = 1 << 16 };
typedef struct seen {
    uint64_t address[SLOTS]; /* a hash table that overwrites on collision, so findings may be missed */
} seen;

static void *once_begin(const cute_check_launch *launch, cute_check_run *run)
{
    return launch->alloc(run, sizeof(seen));
}

static void once_access(void *state, const cute_check_launch *launch, cute_check_run *run,
                        const cute_check_at *at, const cute_check_access *a)
{
    uint64_t *slot = &((seen *)state)->address[a->address / 4 % SLOTS];
    if (a->space != CUTE_SPACE_GLOBAL || a->kind != CUTE_KIND_WRITE) return;
    if (*slot == a->address)
        launch->find(run, 0, a->lane, "%s stores to 0x%llx again", at->instruction,
                     (unsigned long long)a->address);
    *slot = a->address;
}

static const cute_plugin_check_finding rows[] = {{"X0101", CUTE_WARNING, "the later value counts"}};
static const cute_plugin_check checks[] = {{.name = "once",
                                            .help = "addresses stored twice",
                                            .findings = rows,
                                            .finding_count = 1,
                                            .begin = once_begin,
                                            .access = once_access}};

/* ---- finding: loads of one byte ---- */

static void find_bytes(const cute_explain_code *code, cute_explain_run *run)
{
    cute_explain_inst inst = {.size = sizeof inst};
    for (size_t i = 0; i < code->count; i++)
        if (code->get(run, i, &inst) && inst.loads && inst.global && inst.width == 1)
            code->add(run, i, inst.cycles * 3 / 4, "a lane loads 1 byte at a time");
}

static const cute_plugin_finding findings[] = {{"X0201", "byte-loads", "loads of single bytes",
                                                "load 4 bytes at a time (ld.global.v4.u8)", CUTE_EXPLAIN_PTX,
                                                find_bytes}};

/* ---- reduction: log(sum(exp(x))) ---- */

static double add_exp(double total, const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++) total += exp(values[i]);
    return total;
}
static double finish_log(double total, int64_t count)
{
    (void)count;
    return log(total);
}
static const cute_plugin_reduction reductions[] = {{"logsumexp", "log(sum(exp(x)))", 0, add_exp, finish_log}};

CUTE_PLUGIN cute_plugin_info = {CUTE_PLUGIN_VERSION, .name = "watch", .checks = CUTE_ROWS(checks),
                                .findings = CUTE_ROWS(findings), .reductions = CUTE_ROWS(reductions)};
