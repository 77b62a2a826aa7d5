/* Runs the functions of findings.def on the kernels of a module and ranks the findings. */
#include "lib/report/explain/explain.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/base/text/demangle.h"
#include "lib/code/unread.h"
#include "lib/emulator/program/program.h"
#include "lib/plugin/plugins.h"
#include "lib/report/explain/context.h"
#include "lib/report/explain/measured.h"

const char *const explain_weight_name[] = {"low", "medium", "high"};
const char *const explain_view_name[EXPLAIN_VIEWS] = {"PTX, else SASS", "SASS, else PTX", "PTX", "SASS",
                                                      "launch, resources"};

const explain_row explain_rows[EXPLAIN_COUNT] = {
#define FINDING(id, view, function, code, name, title, fix) {code, name, title, fix, EXPLAIN_##view},
#include "lib/report/explain/findings.def"
};

static explain_function *const functions[EXPLAIN_COUNT] = {
#define FINDING(id, view, function, ...) function,
#include "lib/report/explain/findings.def"
};

/* Least shares of the kernel's time; a smaller share is a minor finding. */
static const double MEDIUM = 0.08, HIGH = 0.25;

/* ---- helpers of the functions ---- */

const char *explain_text(explain_context *c, const char *format, ...)
{
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    const char *out = cute_arena_copy(c->arena, cute_buffer_text(&text), text.length);
    c->failed |= !out || !cute_buffer_ok(&text);
    cute_buffer_release(&text);
    return out ? out : "";
}

bool explain_address_changes(const ssa_function *f, const ssa_inst *i, uint32_t loop)
{
    for (int k = 0; k < 2; k++) {
        int at = k ? i->address2 : i->address;
        if (at >= 0 && i->uses[at].kind == SSA_VAR &&
            ssa_is_defined_in(f, ssa_value_of(f, &i->uses[at]), loop))
            return true;
    }
    return false;
}

double explain_loop_cost(const ssa_function *f, uint32_t loop)
{
    double sum = 0;
    for (size_t n = 0; n < f->count; n++)
        if (explain_in_loop(f, &f->insts[n], loop))
            sum += explain_cost(f, &f->insts[n]) * ssa_weight(f, &f->insts[n]);
    return sum;
}

double explain_exposed(const explain_context *c, double latency)
{
    return latency / c->warps;
}

/* The finding of the same source line; without lines, unrolled copies have equal evidence. */
static explain_finding *find_existing(explain_context *c, const explain_place *place, const char *evidence)
{
    for (size_t n = 0; n < c->out->count; n++) {
        explain_finding *o = &c->out->findings[n];
        if (o->id != c->id) continue;
        bool files = o->place.file && place->file;
        if (files && o->place.line == place->line && !strcmp(o->place.file, place->file)) return o;
        if (!o->place.file && !place->file && !strcmp(o->evidence, evidence)) return o;
    }
    return NULL;
}

/* The SASS address of a PTX instruction: the first instruction of its source line with the same kind of access. */
static int64_t find_sass_address(const explain_context *c, const ssa_inst *i)
{
    int64_t any = -1;
    if (i->sass >= 0 || !c->sass || !i->file) return i->sass;
    for (size_t n = 0; n < c->sass->count; n++) {
        const ssa_inst *o = &c->sass->insts[n];
        if (o->line != i->line || !o->file || strcmp(o->file, i->file)) continue;
        if (o->class == i->class && o->space == i->space && o->access == i->access) return o->sass;
        if (any < 0) any = o->sass;
    }
    return any;
}

/* The address of the first instruction that uses the value loaded at `address`. */
static int64_t find_first_use(const explain_context *c, int64_t address)
{
    const ssa_function *f = c->sass;
    int64_t from = -1;
    for (size_t n = 0; f && address >= 0 && n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (i->sass == address) from = (int64_t)n;
        if (from < 0 || f->insts[from].access == CUTE_ACCESS_NONE) continue;
        for (unsigned u = 0; u < i->use_count; u++)
            if (i->uses[u].kind == SSA_VAR && ssa_value_of(f, &i->uses[u])->inst == from) return i->sass;
    }
    return -1;
}

/* Findings whose evidence depends on the addresses of lanes. */
static const bool depends_on_addresses[EXPLAIN_COUNT] = {
    [EXPLAIN_UNCOALESCED] = true, [EXPLAIN_BANKS] = true,    [EXPLAIN_VECTOR] = true,
    [EXPLAIN_ATOMIC] = true,      [EXPLAIN_CONSTANT] = true, [EXPLAIN_REREAD] = true,
};

/* The differences between lanes depend on an argument: the operand contains one that is not just an added base. */
static bool depends_on_argument(const ssa_function *f, const ssa_operand *o, bool base, unsigned *budget)
{
    if (!(ssa_operand_depends(f, o) & DEPENDS_ARGUMENT) || !*budget) return false;
    --*budget;
    if (o->kind != SSA_VAR) return !base;
    const ssa_value *v = ssa_phi_entry(f, ssa_value_of(f, o));
    if (!v) v = ssa_value_of(f, o);
    const ssa_inst *i = v->inst >= 0 ? &f->insts[v->inst] : NULL;
    if (!i || i->access != CUTE_ACCESS_NONE) return false;
    for (unsigned u = 0; u < ssa_source_count(i); u++) {
        bool added = i->op == SSA_ADD || i->op == SSA_MOV ||
                     ((i->op == SSA_LEA || i->op == SSA_SUB) && u == (i->op == SSA_LEA)) ||
                     (i->op == SSA_MAD && u == 2);
        if (depends_on_argument(f, &i->uses[u], base && added, budget)) return true;
    }
    return false;
}

/* The assumption about arguments behind a finding; NULL: none. Vectorization also depends on the alignment of the base. */
static const char *find_assumption(explain_context *c, const ssa_inst *i)
{
    unsigned budget = 256;
    bool depends = false;
    if (!i || i->counters || i->address < 0 || c->id >= EXPLAIN_COUNT || !depends_on_addresses[c->id])
        return NULL;
    for (int k = 0; k < 2; k++) {
        int at = k ? i->address2 : i->address;
        if (at >= 0) depends |= depends_on_argument(c->f, &i->uses[at], c->id != EXPLAIN_VECTOR, &budget);
    }
    return depends ? explain_text(c, "arguments are multiples of %d", CODE_ASSUMED_ARGUMENT) : NULL;
}

CUTE_PRINTF(7, 0)
static void add_finding(explain_context *c, const ssa_inst *i, double cycles, double share, bool stalls,
                        const char *fix, const char *format, va_list args)
{
    explain_place place = {.address = -1, .used = -1};
    cute_buffer text = {0};
    if (i && i->counters && ssa_weight(c->f, i) <= 0) return; /* it did not run */
    if (i) {
        place = (explain_place){
            i->file,     i->line,
            i->ptx_line, find_sass_address(c, i),
            -1,          cute_arena_copy(c->arena, i->text, i->length < 120 ? i->length : 120)};
        if (c->input->ncu) place.used = find_first_use(c, place.address);
    } else {
        /* A finding of the whole kernel has the kernel's first line. */
        const ssa_function *f = c->ptx ? c->ptx : c->sass;
        for (size_t n = 0; f && n < f->count && !place.file; n++)
            place.file = f->insts[n].file, place.line = f->insts[n].line;
    }
    cute_buffer_vprintf(&text, format, args);
    const char *evidence = cute_arena_copy(c->arena, cute_buffer_text(&text), text.length);
    c->failed |= !evidence || !cute_buffer_ok(&text);
    cute_buffer_release(&text);
    explain_finding *f = i && !c->failed ? find_existing(c, &place, evidence) : NULL;
    if (!f) {
        explain_kernel *k = c->out;
        if (c->failed ||
            !cute_arena_more(c->arena, &k->findings, k->count, &k->capacity, sizeof *k->findings, 8)) {
            c->failed = true;
            return;
        }
        f = &k->findings[k->count++];
        *f = (explain_finding){.id = c->id,
                               .row = c->row,
                               .place = place,
                               .share = share,
                               .worst = -1,
                               .measured = i && i->counters,
                               .stalls = stalls};
    }
    if (!(cycles >= 0)) cycles = 0;
    f->count += i != NULL;
    f->cycles += cycles;
    if (cycles <= f->worst) return;
    f->worst = cycles;
    f->evidence = evidence;
    f->assumed = find_assumption(c, i);
    f->fix = fix ? fix : c->row->fix;
    f->place = place;
}

void explain_add(explain_context *c, const ssa_inst *i, double cycles, const char *fix, const char *format,
                 ...)
{
    va_list args;
    va_start(args, format);
    add_finding(c, i, cycles, -1, false, fix, format, args);
    va_end(args);
}

void explain_add_wait(explain_context *c, const ssa_inst *i, double cycles, const char *fix,
                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_finding(c, i, cycles, -1, true, fix, format, args);
    va_end(args);
}

void explain_add_whole(explain_context *c, const ssa_inst *i, double share, const char *fix,
                       const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_finding(c, i, 0, share, false, fix, format, args);
    va_end(args);
}

/* ---- one kernel ---- */

static double total_cost(const ssa_function *f)
{
    double sum = 0;
    for (size_t n = 0; f && n < f->count; n++)
        if (ssa_is_reached(f, &f->insts[n]))
            sum += explain_cost(f, &f->insts[n]) * ssa_weight(f, &f->insts[n]);
    return sum;
}

static int compare_significance(const void *a, const void *b)
{
    const explain_finding *x = a, *y = b;
    if (x->weight != y->weight) return x->weight < y->weight ? 1 : -1;
    if (x->share != y->share) return x->share < y->share ? 1 : -1;
    if (x->id != y->id) return x->id < y->id ? -1 : 1;
    return (x->place.line > y->place.line) - (x->place.line < y->place.line);
}

static void set_shares(explain_context *c, size_t first, double total)
{
    for (size_t n = first; n < c->out->count; n++) {
        explain_finding *f = &c->out->findings[n];
        if (f->share < 0) {
            double all = total + (f->stalls ? f->cycles : 0);
            f->share = all > 0 ? f->cycles / all : 0;
            if (f->share > 1) f->share = 1;
        }
    }
}

static void set_weights(explain_kernel *k)
{
    for (size_t n = 0; n < k->count; n++)
        k->findings[n].weight = k->findings[n].share >= HIGH     ? EXPLAIN_HIGH
                                : k->findings[n].share >= MEDIUM ? EXPLAIN_MEDIUM
                                                                 : EXPLAIN_LOW;
    cute_sort(k->findings, k->count, sizeof *k->findings, compare_significance);
}

CUTE_PRINTF(2, 3)
static void add_missing(explain_context *c, const char *format, ...)
{
    explain_kernel *k = c->out;
    cute_buffer text = {0};
    va_list args;
    va_start(args, format);
    cute_buffer_vprintf(&text, format, args);
    va_end(args);
    if (!cute_arena_more(c->arena, &k->missing, k->missing_count, &k->missing_capacity, sizeof *k->missing,
                         4) ||
        !(k->missing[k->missing_count] = cute_arena_copy(c->arena, cute_buffer_text(&text), text.length)))
        c->failed = true;
    else
        k->missing_count++;
    cute_buffer_release(&text);
}

static void run_findings(explain_context *c)
{
    double ptx = total_cost(c->ptx), sass = total_cost(c->sass);
    const cute_plugins *plugins = c->input->plugins;
    for (size_t id = 0; id < explain_row_count(plugins) && !c->failed; id++) {
        explain_row *row = cute_arena_alloc(c->arena, sizeof *row);
        if (!row) {
            c->failed = true;
            return;
        }
        *row = explain_row_at(plugins, id);
        explain_view view = row->view;
        size_t first = c->out->count;
        c->id = (int)id;
        c->row = row;
        c->f = view == EXPLAIN_PTX    ? c->ptx
               : view == EXPLAIN_SASS ? c->sass
               : view == EXPLAIN_BOTH ? (c->ptx ? c->ptx : c->sass)
               : view == EXPLAIN_CODE ? (c->sass ? c->sass : c->ptx)
                                      : NULL;
        if (!c->f && view != EXPLAIN_LAUNCH) continue;
        if (id < EXPLAIN_COUNT)
            functions[id](c);
        else
            explain_run_added(c, &plugins->findings[id - EXPLAIN_COUNT]);
        set_shares(c, first, c->f == c->sass ? sass : ptx);
    }
}

/* Within the limits of a device, so that products do not overflow. */
static bool is_valid_launch(const code_assumptions *launch)
{
    enum { MOST_THREADS = 1024, MOST_Y = 65535 };
    for (int d = 0; d < 3; d++)
        if (launch->block[d] > MOST_THREADS || launch->grid[d] > (d ? MOST_Y : INT32_MAX)) return false;
    return true;
}

static void set_assumptions(const explain_context *c, const code_assumptions *launch, ssa_function *f)
{
    f->assume = *launch;
    f->assume.about = c->kernel;
    code_assume_block(&f->assume, f->kernel, c->kernel, launch->block, launch->block_from);
}

static const cute_kernel *find_kernel(const cute_module *module, const char *name)
{
    for (size_t n = 0; module && n < cute_module_kernel_count(module); n++)
        if (!strcmp(cute_module_kernel(module, n)->name, name)) return cute_module_kernel(module, n);
    return NULL;
}

/* The L1 miss rate of local memory, from the stacks of all resident threads. */
static void set_local_miss_rate(explain_context *c)
{
    const cute_occupancy *o = c->occupancy;
    const cute_arch *arch = cute_arch_find(cute_module_arch(c->compiled_module));
    const cute_multiprocessor *sm = arch ? cute_multiprocessor_of(arch->number) : NULL;
    if (!sm || c->compiled->resources.max_stack <= 0) return;
    c->stacks = c->compiled->resources.max_stack * o->warps * CUTE_SM_WARP;
    c->l1 = sm->unified - o->blocks * o->block_smem;
    if (c->l1 < 1) c->l1 = 1;
    /* Other traffic takes a part of L1. */
    double available = 0.75 * (double)c->l1,
           missed = (double)c->stacks > available ? 1 - available / (double)c->stacks : 0;
    if (c->ptx) c->ptx->local_miss_rate = missed;
    if (c->sass) c->sass->local_miss_rate = missed;
}

static void set_occupancy(explain_context *c, cute_occupancy *o)
{
    cute_occupancy_input *in = &c->resources;
    const ssa_function *f = c->ptx ? c->ptx : c->sass;
    *in = (cute_occupancy_input){.size = sizeof *in};
    c->warps = 8;
    c->compiled_module = c->input->compiled ? c->input->compiled : c->input->module;
    c->compiled = find_kernel(c->compiled_module, c->kernel->name);
    if (!c->compiled || c->compiled->resources.registers < 0 || !f ||
        cute_occupancy_of_kernel(c->compiled_module, c->compiled, in, NULL) != CUTE_OK) {
        c->compiled = NULL;
        return;
    }
    if (c->launched && f->assume.dynamic_smem >= 0) in->dynamic_smem = f->assume.dynamic_smem;
    in->threads = f->assume.block[0] * f->assume.block[1] * f->assume.block[2];
    if (in->threads < 1 || in->threads > 1024 || cute_occupancy_compute(in, o, NULL) != CUTE_OK) return;
    c->occupancy = o;
    if (o->warps > 0) c->warps = o->warps / 4.0;
    if (c->warps < 1) c->warps = 1;
    set_local_miss_rate(c);
}

static cute_status explain_one(cute_arena *arena, const explain_input *input, const cute_kernel *kernel,
                               const em_program *program, const char *no_ptx, const ncu_kernel *measured,
                               explain_kernel *out, cute_diag *diag)
{
    ssa_function ptx = {0}, sass = {0};
    cute_occupancy occupancy = {.size = sizeof occupancy};
    code_assumptions launch = {0};
    const char *name = cute_module_arch(input->compiled ? input->compiled : input->module);
    const cute_arch *arch = name ? cute_arch_find(name) : NULL;
    explain_context c = {.arena = arena, .input = input, .kernel = kernel, .out = out};
    const em_function *entry = program ? em_program_find(program, kernel->name) : NULL;
    out->name = cute_symbol_name(arena, kernel->name);
    c.launched = explain_read_launch(input->launch, kernel->name, &launch);
    if (!c.launched && measured && measured->block[0] > 0) {
        explain_set_launch(measured, &launch);
        c.launched = launch.grid[0] > 0;
    }
    if (!is_valid_launch(&launch)) {
        launch = (code_assumptions){0};
        c.launched = false;
    }
    if (entry) {
        if (!ssa_from_ptx(arena, program, entry, &ptx)) return cute_fail_memory(diag);
        ptx.arch = arch ? arch->number : 0;
        ptx.label = input->label;
        set_assumptions(&c, &launch, &ptx);
        if (!explain_read_counters(arena, input->launch, kernel->name, &ptx)) return cute_fail_memory(diag);
        if (!ssa_analyse(&ptx)) return cute_fail_memory(diag);
        explain_mark_cached_loads(&ptx);
        if (!ssa_find_chains(&ptx)) return cute_fail_memory(diag);
        c.ptx = &ptx;
        cute_unread_list unread;
        CUTE_TRY(cute_unread_find(arena, program, entry, &unread, diag));
        const char *names = unread.count ? cute_unread_text(arena, &unread, 4) : NULL;
        if (names) add_missing(&c, "unsupported PTX instructions: %s", names);
    } else {
        add_missing(&c, "PTX: %s", no_ptx ? no_ptx : "the kernel is not in it");
    }
    const cute_code_function *code = input->code ? cute_code_find(input->code, kernel->name) : NULL;
    if (code) {
        sass.arch = arch ? arch->number : 0;
        if (!ssa_from_sass(arena, (cute_code_function *)(uintptr_t)code, &sass))
            return cute_fail_memory(diag);
        set_assumptions(&c, &launch, &sass);
        if (c.ptx && !sass.assume.block[0]) sass.assume = ptx.assume;
        if (!ssa_analyse(&sass)) return cute_fail_memory(diag);
        explain_mark_cached_loads(&sass);
        if (!ssa_find_chains(&sass)) return cute_fail_memory(diag);
        c.sass = &sass;
    } else {
        add_missing(&c, "SASS, which shows spills and unrolling: %s",
                    input->no_code ? input->no_code : "the kernel is not in it");
    }
    if (!input->launch)
        add_missing(&c, "launch: %s estimated (--config=launch.json)",
                    c.launched ? "execution counts are" : "grid and execution counts are");
    else if (!json_object_get(input->launch, "counters"))
        add_missing(&c, "execution counts: estimated, because the emulator needs PTX and the file has none");
    if (measured && !measured->count && !measured->family_count)
        add_missing(
            &c,
            "stalls: %s has neither stall reasons (ncu --section WarpStateStats) nor samples (--section "
            "SourceCounters)",
            input->ncu_label);
    out->sources = c.ptx && c.sass ? "PTX and SASS" : c.ptx ? "PTX" : c.sass ? "SASS" : NULL;
    if (c.ptx || c.sass) {
        out->assume = (c.ptx ? &ptx : &sass)->assume;
        out->block = code_block_text(arena, &out->assume);
        c.failed |= !out->block;
    }
    set_occupancy(&c, &occupancy);
    run_findings(&c);
    if (measured) explain_apply_samples(arena, measured, c.sass, out);
    if (c.failed) return cute_fail_memory(diag);
    return CUTE_OK;
}

static cute_status fail_not_measured(cute_arena *arena, const explain_input *input, const ncu_table *table,
                                     cute_diag *diag)
{
    const cute_place file = {.file = input->ncu_label};
    const char *names = "";
    bool unnamed = false;
    for (size_t n = 0; n < table->count && n < 4 && names; n++) {
        unnamed |= !*table->kernels[n].name;
        names = cute_arena_printf(arena, "%s%s'%s'", names, n ? ", " : "", table->kernels[n].name);
    }
    if (!names) return cute_fail_memory(diag);
    if (unnamed)
        return cute_fail(diag, CUTE_INVALID, &file,
                         "the source page does not name its kernel: expected --kernel=NAME");
    return cute_fail(
        diag, CUTE_INVALID, &file, "the table names no kernel of %s: expected %s%s, got %s%s", input->label,
        input->kernel                             ? input->kernel
        : cute_module_kernel_count(input->module) ? cute_module_kernel(input->module, 0)->name
                                                  : "none",
        !input->kernel && cute_module_kernel_count(input->module) > 1 ? " or another kernel" : "",
        table->count ? names : "none", table->count > 4 ? ", ..." : "");
}

cute_status explain_create(cute_arena *arena, const explain_input *input, explain_report *out,
                           cute_diag *diag)
{
    size_t length, count = cute_module_kernel_count(input->module);
    const char *ptx = cute_module_ptx(input->module, &length), *no_ptx = "the file has none";
    em_program *program = NULL;
    ncu_table table = {0};
    size_t measured_count = 0;
    cute_status status = CUTE_OK;
    *out = (explain_report){.label = input->label, .arch = cute_module_arch(input->module)};
    CUTE_TRY(explain_check_plugins(input->plugins, diag));
    out->kernels = cute_arena_array(arena, count + 1, sizeof *out->kernels);
    if (!out->kernels) return cute_fail_memory(diag);
    if (input->ncu) CUTE_TRY(ncu_read(arena, input->ncu_label, input->ncu, input->ncu_length, &table, diag));
    if (ptx) {
        cute_diag *own = cute_diag_create();
        while (length && !ptx[length - 1]) length--;
        char *text = cute_arena_copy(arena, ptx, length);
        if (!own || !text) status = cute_fail_memory(diag);
        if (status == CUTE_OK &&
            em_program_read(arena, input->label, text, length, UINT64_C(1) << 32, &program, own) != CUTE_OK) {
            const cute_message *m = cute_diag_count(own) ? cute_diag_get(own, 0) : NULL;
            no_ptx =
                m ? cute_arena_printf(arena, "line %d: %s", m->place.line, m->text) : "it cannot be read";
            program = NULL;
        }
        cute_diag_destroy(own);
    }
    for (size_t n = 0; n < count && status == CUTE_OK; n++) {
        const cute_kernel *kernel = cute_module_kernel(input->module, n);
        if (input->kernel && strcmp(kernel->name, input->kernel)) continue;
        const ncu_kernel *measured = ncu_find(arena, &table, kernel->name, count == 1 || input->kernel);
        measured_count += measured != NULL;
        status =
            explain_one(arena, input, kernel, program, no_ptx, measured, &out->kernels[out->count++], diag);
    }
    if (status == CUTE_OK && input->ncu && !measured_count)
        status = fail_not_measured(arena, input, &table, diag);
    for (size_t n = 0; n < out->count; n++) set_weights(&out->kernels[n]);
    return status;
}
