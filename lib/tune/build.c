/* Compiles candidates, and refuses those that need not be run: errors of the compiler or of ptxas, code that another candidate has
 * already, a launch that its kernels do not allow, and registers that are spilled. */
#include <stdio.h>
#include <string.h>

#include "cute/occupancy.h"
#include "lib/base/system/file.h"
#include "lib/base/system/sha256.h"
#include "lib/cubin/kernel_occupancy.h"
#include "lib/launch/launch.h"
#include "lib/toolkit/toolkit.h"
#include "lib/tune/tune.h"

/* Candidates that are compiled for each that may run: a kernel of which nearly all are refused ends the search. */
enum { MOST_REFUSED = 8 };

/* ---- reasons ---- */

/* The class of an error, a noun. */
static const char *cause_of(const cute_diag *why, size_t error)
{
    const char *text = cute_diag_get(why, error)->text, *code = cute_diag_get(why, error)->code;
    const cute_cause *cause = cute_diag_cause(why, error);
    if (!code && cause) code = cause->code;
    if (code && code[0] == 'S') return "static checks";
    if (strstr(text, "shared memory") || strstr(text, "shared data")) return "shared memory";
    if (strstr(text, "register")) return "registers";
    return "compiler";
}

void tune_mark(tune_search *s, tune_candidate *c, tune_state state, const char *cause, const cute_diag *why,
               const char *fallback)
{
    size_t i = 0, count = why ? cute_diag_count(why) : 0;
    while (i < count && cute_diag_get(why, i)->severity != CUTE_ERROR) i++;
    c->state = state;
    c->cause = cause;
    c->why = fallback;
    if (i == count) return;
    const cute_message *m = cute_diag_get(why, i);
    if (!cause || !strcmp(cause, "compiler")) c->cause = cause_of(why, i);
    /* Lines of launch.json are those of a copy; its messages name the path of the value. */
    const char *config = s->request->subject.label;
    bool placed = m->place.file && m->place.line && !(config && !strcmp(m->place.file, config));
    const char *text = placed
                           ? cute_arena_printf(s->arena, "%s:%d: %s", m->place.file, m->place.line, m->text)
                           : cute_arena_printf(s->arena, "%s", m->text);
    if (text) c->why = text;
}

/* ---- the same code ---- */

/* PTX behind its leading comments, which have the metadata: the candidate's -D and schedule. */
static const char *code_of(const cute_buffer *ptx)
{
    const char *at = cute_buffer_text(ptx);
    while (!strncmp(at, "//", 2) || *at == '\n') at += strcspn(at, "\n") + (at[strcspn(at, "\n")] == '\n');
    return at;
}

typedef struct build {
    tune_search *s;
    const char *ptxas;               /* NULL: not found */
    char (*codes)[CUTE_SHA256_TEXT]; /* of the candidates that are built */
    const tune_candidate **owners;
    size_t count;
} build;

static bool is_again(build *b, tune_candidate *c, const cute_buffer *ptx)
{
    const char *code = code_of(ptx);
    cute_sha256(code, strlen(code), b->codes[b->count]);
    for (size_t i = 0; i < b->count; i++) {
        if (strcmp(b->codes[i], b->codes[b->count]) != 0) continue;
        const tune_candidate *other = b->owners[i];
        const char *why =
            cute_arena_printf(b->s->arena, "that of %s%s%s", tune_defines_text(b->s->arena, other),
                              other->schedule ? " " : "", other->schedule ? other->schedule : "");
        tune_mark(b->s, c, TUNE_REFUSED, "same code", NULL, why ? why : "");
        return true;
    }
    b->owners[b->count++] = c;
    return false;
}

/* ---- resources ---- */

/* Bytes of a thread that a kernel may spill: two or three registers outside of its loops, as large tiles do, cost nothing. */
enum { FEW_SPILLED = 32 };

/* Spills of the kernels that are launched. `linked` has the registers that ptxas gave them. */
static bool spills(tune_search *s, tune_candidate *c, const cute_launch *l, const cute_module *linked)
{
    for (size_t i = 0; i < l->plan.main.count; i++) {
        const cute_kernel *kernel;
        const char *name = l->plan.main.launches[i].kernel->name;
        if (cute_module_find_kernel(linked, name, &kernel, NULL) != CUTE_OK) continue;
        const cute_resources *r = &kernel->resources;
        if (r->spill_stores <= FEW_SPILLED && r->spill_loads <= FEW_SPILLED) continue;
        const char *why = cute_arena_printf(
            s->arena, "'%s' spills %lld bytes of registers with %lld in a thread", name,
            (long long)(r->spill_stores > 0 ? r->spill_stores : r->spill_loads), (long long)r->registers);
        tune_mark(s, c, TUNE_REFUSED, "spills", NULL, why ? why : "");
        return true;
    }
    return false;
}

/* Whether a multiprocessor has room for a block of each launch. */
static bool fits(tune_search *s, tune_candidate *c, const cute_launch *l, const cute_module *linked)
{
    for (size_t i = 0; i < l->plan.main.count; i++) {
        const plan_launch *p = &l->plan.main.launches[i];
        const cute_kernel *kernel;
        cute_occupancy_input in = {.size = sizeof in};
        cute_occupancy o = {.size = sizeof o};
        if (cute_module_find_kernel(linked, p->kernel->name, &kernel, NULL) != CUTE_OK ||
            cute_occupancy_of_kernel(linked, kernel, &in, NULL) != CUTE_OK)
            continue;
        in.threads = p->shape.block[0] * p->shape.block[1] * p->shape.block[2];
        in.dynamic_smem = p->shape.dynamic_smem;
        in.cluster = 0;
        if (!in.registers || cute_occupancy_compute(&in, &o, NULL) != CUTE_OK || o.blocks) continue;
        const char *why = cute_arena_printf(s->arena,
                                            "a multiprocessor has no room for a block of '%s': %lld threads "
                                            "of %lld registers, %lld bytes of shared memory",
                                            p->kernel->name, (long long)in.threads, (long long)in.registers,
                                            (long long)(in.static_smem + in.dynamic_smem));
        tune_mark(s, c, TUNE_REFUSED, o.by_smem ? "registers" : "shared memory", NULL, why ? why : "");
        return false;
    }
    return true;
}

/* Checks the launch without running it. `linked` NULL: there is no toolkit, so registers are unknown. */
static void try_launch(tune_search *s, tune_candidate *c, const cute_module *module,
                       const cute_module *linked, cute_diag *why)
{
    cute_launch *l = NULL;
    if (tune_open(s, c, module, s->config, CUTE_BENCH_NEVER, &l, why) != CUTE_OK)
        tune_mark(s, c, TUNE_REFUSED, "launch", why, "launch.json does not fit its kernels");
    else if (!linked || (fits(s, c, l, linked) && !spills(s, c, l, linked)))
        c->state = TUNE_BUILT;
    cute_launch_close(l);
}

/* ---- compiling ---- */

static cute_status compile(build *b, tune_candidate *c, cute_buffer *ptx, cute_diag *why)
{
    tune_search *s = b->s;
    const tune_subject *subject = &s->request->subject;
    cute_option_list defines = {0};
    cute_buffer said = {0};
    if (subject->defines)
        CUTE_TRY(
            cute_pipe_defines(s->arena, subject->defines, subject->text, subject->length, &defines, why));
    for (size_t i = 0; i < c->define_count; i++)
        if (!cute_option_append(s->arena, &defines, c->defines[i])) return cute_fail_memory(why);
    cute_pipe pipe = {.arch = subject->arch,
                      .defines = &defines,
                      .folders = subject->folders,
                      .schedule = c->schedule ? c->schedule : subject->schedule,
                      .values = subject->values,
                      .ptx = true,
                      .format = CUTE_DIAG_SARIF};
    cute_status status =
        cute_pipe_run(s->arena, &pipe, subject->path, subject->text, subject->length, ptx, &said, why);
    cute_buffer_release(&said);
    return status;
}

static cute_status link_ptx(build *b, const cute_buffer *ptx, cute_buffer *out, cute_diag *why)
{
    cute_pipe pipe = {.values = b->s->request->subject.values, .format = CUTE_DIAG_SARIF};
    cute_buffer said = {0};
    cute_status status = cute_pipe_link(b->s->arena, &pipe, ptx, out, &said, why);
    cute_buffer_release(&said);
    return status;
}

/* The candidate's module; `cubin` is empty without ptxas. */
static void check_code(build *b, tune_candidate *c, const cute_buffer *cubin, cute_diag *why)
{
    const char *label = cute_file_label(b->s->request->subject.path);
    cute_module *module = NULL, *linked = NULL;
    cute_status status =
        cute_module_open(label, cute_buffer_text(&c->image), c->image.length, NULL, &module, why);
    if (status == CUTE_OK && b->ptxas)
        status = cute_module_open(label, cute_buffer_text(cubin), cubin->length, NULL, &linked, why);
    if (status == CUTE_OK)
        try_launch(b->s, c, module, linked, why);
    else
        tune_mark(b->s, c, TUNE_REFUSED, "compiler", why, "the compiled module cannot be read");
    cute_module_close(module);
    cute_module_close(linked);
}

/* On the emulator PTX is run, and the cubin only tells resources; without a toolkit the driver compiles the PTX. */
static void build_candidate(build *b, tune_candidate *c, cute_diag *why)
{
    tune_search *s = b->s;
    cute_buffer ptx = {0}, cubin = {0};
    bool runs_ptx = s->request->emulated || !b->ptxas;
    if (compile(b, c, &ptx, why) != CUTE_OK) {
        tune_mark(s, c, TUNE_REFUSED, "compiler", why, "cute-ptx failed");
    } else if (!is_again(b, c, &ptx)) {
        if (b->ptxas && link_ptx(b, &ptx, &cubin, why) != CUTE_OK) {
            tune_mark(s, c, TUNE_REFUSED, "compiler", why, "cute-link failed");
        } else {
            c->image = runs_ptx ? ptx : cubin;
            check_code(b, c, &cubin, why);
        }
    }
    if (c->image.data != ptx.data) cute_buffer_release(&ptx);
    if (c->image.data != cubin.data) cute_buffer_release(&cubin);
    /* A candidate that spills may still be run: see allow_spills. */
    if (c->state == TUNE_REFUSED && strcmp(c->cause, "spills") != 0) cute_buffer_release(&c->image);
}

/* Spilling is better than nothing: where each candidate that could run spills, they are run. */
static void allow_spills(tune_search *s)
{
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].state == TUNE_BUILT) return;
    for (size_t i = 0; i < s->count; i++)
        if (s->candidates[i].cause && !strcmp(s->candidates[i].cause, "spills") &&
            s->candidates[i].image.data)
            s->candidates[i].state = TUNE_BUILT;
}

cute_status tune_build(tune_search *s)
{
    build b = {.s = s};
    size_t built = 0;
    if (cute_toolkit_find(s->arena, CUTE_PTXAS, NULL, &b.ptxas, NULL) != CUTE_OK) b.ptxas = NULL;
    b.codes = cute_arena_array(s->arena, s->count, sizeof *b.codes);
    b.owners = cute_arena_array(s->arena, s->count, sizeof *b.owners);
    if (!b.codes || !b.owners) return cute_fail_memory(s->diag);
    for (size_t i = 0;
         i < s->count && built < s->request->runs && s->compiled / MOST_REFUSED < s->request->runs; i++) {
        tune_candidate *c = &s->candidates[i];
        if (c->state == TUNE_LISTED) {
            cute_diag *why = cute_diag_create();
            if (!why) return cute_fail_memory(s->diag);
            build_candidate(&b, c, why);
            cute_diag_destroy(why);
        }
        s->compiled++;
        built += c->state == TUNE_BUILT;
        if (s->request->told) s->request->told(s->request->context, c, s->compiled);
    }
    allow_spills(s);
    return CUTE_OK;
}
