/* Accesses of a module's kernels: each warp of a block is followed (follow.h), and what its requests cost is counted as the
 * emulator's checks count it (lib/base/traffic.h). */
#include "lib/report/kernel/access.h"

#include <stdlib.h>
#include <string.h>

#include "lib/report/kernel/follow.h"
#include "lib/report/kernel/pattern.h"

enum { MOST_WORK = 1 << 19 /* instructions, of all warps */ };
enum { SECTOR = 32, LINE = 128, WORD = 4, ALLOCATION = 256 /* what cudaMalloc aligns to */ };
/* Addresses are positive from here on; a multiple of all alignments. */
#define ORIGIN (UINT64_C(1) << 44)

const char *const cute_access_kinds[3] = {"load", "store", "atomic"};
const char *const cute_access_spaces[2] = {"global", "shared"};

typedef struct gather {
    cute_arena *arena;
    const em_program *program;
    const em_function *kernel;
    const cute_kernel *about;           /* what the module says of it; may be NULL */
    const cute_access_options *options; /* may be NULL */
    cute_access **found;                /* by instruction and side */
    uint32_t warp;
    uint32_t at,
        line; /* the place of the last access in the text, from which the next one's line is counted */
    bool failed;
} gather;

/* ---- one request ---- */

static const char *kept(gather *g, const char *text)
{
    const char *copy = text ? cute_arena_copy(g->arena, text, strlen(text)) : NULL;
    if (text && !copy) g->failed = true;
    return copy;
}

static int64_t declared_alignment(const gather *g, uint32_t offset)
{
    const cute_kernel *k = g->about;
    const cute_access_options *o = g->options;
    if (o && o->known && offset < o->parameter_bytes && o->known[offset] == CUTE_ACCESS_POINTER)
        return ALLOCATION;
    for (size_t n = 0; k && n < k->arg_count; n++) {
        const cute_arg *a = &k->args[n];
        if (a->first < k->param_count && k->params[a->first].offset == (int64_t)offset && a->align > 0)
            return a->align;
    }
    return 1;
}

static cute_traffic cost_of(const cute_access *a, const cute_request *request, uint64_t shift,
                            uint64_t other_shift)
{
    cute_request moved = *request;
    cute_traffic t = {0};
    for (uint32_t n = 0; n < moved.count; n++) {
        moved.address[n] += shift;
        moved.other[n] += other_shift;
    }
    if (a->space == CUTE_ACCESS_SHARED)
        cute_traffic_add_wavefronts(&moved, &t);
    else
        cute_traffic_add_sectors(&moved, &t);
    return t;
}

static void take(cute_access_cost *to, uint32_t warp, uint32_t mask, const cute_traffic *t)
{
    *to = (cute_access_cost){.warp = (uint16_t)warp,
                             .count = (uint16_t)t->count,
                             .ideal = (uint16_t)t->ideal,
                             .lanes = (uint32_t)__builtin_popcount(mask)};
}

static void widen(cute_access *a, const cute_access_cost *cost, bool first)
{
    if (first || cost->count < a->least.count) a->least = *cost;
    if (first || cost->count > a->most.count) a->most = *cost;
}

static uint64_t of_lane(const lane_values *address, uint32_t l)
{
    uint64_t at = address->at[l];
    return ORIGIN + (address->bits == 32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)at : at);
}

static cute_request request_of(const cute_access *a, const follow_access *seen, const em_inst *i)
{
    cute_request r = {.bytes = seen->bytes, .load = a->plain_load, .idle = seen->idle};
    bool both = seen->other && !seen->other->varies;
    if (both) r.copy = (cute_copy_way)i->copy.way;
    for (uint32_t l = 0; l < LANES; l++) {
        if (!(seen->mask >> l & 1)) continue;
        r.lane[r.count] = (uint8_t)l;
        if (both) r.other[r.count] = of_lane(seen->other, l);
        r.address[r.count++] = of_lane(seen->address, l);
    }
    return r;
}

/* Addresses are known but for a multiple of so much. Those of a copy are multiples of its bytes. */
static uint64_t known_to(const gather *g, const lane_values *address, uint64_t least)
{
    uint64_t known = UINT64_C(1) << 20;
    if (address->free < address->bits && address->free < 20) known = UINT64_C(1) << address->free;
    if (address->pointer) {
        uint64_t said = (uint64_t)declared_alignment(g, address->pointer - 1);
        if (said < known) known = said;
    }
    return known < least ? least : known;
}

/* Whether all lanes, some multiple of their bytes now, still are with so much added. */
static bool stays_aligned(const cute_request *r, const uint64_t *address, uint64_t shift)
{
    bool aligned = !((r->bytes - 1) & r->bytes) && !(address[0] & (r->bytes - 1));
    return !aligned || !(shift & (r->bytes - 1));
}

/* The base may lie at several places within what counts as one unit: all are tried, of a copy past the L1 on both sides. */
static void count_request(gather *g, cute_access *a, const follow_access *seen)
{
    const lane_values *address = seen->address;
    cute_request request = request_of(a, seen, &g->program->code[seen->inst]);
    uint64_t known = known_to(g, address, request.copy ? request.bytes : 1);
    bool by_lines = request.copy == CUTE_COPY_PAST_L1;
    uint64_t other_known = by_lines ? known_to(g, seen->other, request.bytes) : LINE;
    uint64_t unit = by_lines ? LINE : a->space == CUTE_ACCESS_SHARED ? WORD : SECTOR;
    cute_access_cost *cost = &a->costs[a->warps++], other;
    cute_traffic t = cost_of(a, &request, 0, 0);
    bool first = a->warps == 1;
    take(cost, g->warp, seen->mask, &t);
    widen(a, cost, first);
    a->count += cost->count;
    a->ideal += cost->ideal;
    a->lanes_assumed |= seen->lanes_assumed;
    a->one_side |=
        seen->other && !request.copy &&
        (a->space == CUTE_ACCESS_SHARED || g->program->code[seen->inst].copy.way == CUTE_COPY_PAST_L1);
    if (a->space == CUTE_ACCESS_GLOBAL && (address->pointer || address->free < address->bits))
        a->alignment = (uint32_t)(known < ALLOCATION ? known : ALLOCATION);
    for (uint64_t there = 0; there < LINE; there += other_known) {
        if (there && !stays_aligned(&request, request.other, there)) continue;
        for (uint64_t shift = there ? 0 : known; shift < unit; shift += known) {
            if (shift && !stays_aligned(&request, request.address, shift)) continue;
            t = cost_of(a, &request, shift, there);
            take(&other, g->warp, seen->mask, &t);
            widen(a, &other, false);
            a->alignment_assumed |= other.count != cost->count;
        }
    }
    if (!first) return;
    uint64_t least = UINT64_MAX;
    for (uint32_t n = 0; n < request.count; n++)
        if (request.address[n] < least) least = request.address[n];
    for (uint32_t n = 0; n < request.count; n++) request.address[n] -= least;
    a->request = request;
}

static uint32_t line_at(gather *g, uint32_t at)
{
    if (at < g->at || !g->line) g->at = 0, g->line = 1;
    for (; g->at < at && g->at < g->program->length; g->at++) g->line += g->program->text[g->at] == '\n';
    return g->line;
}

static cute_access *access_at(gather *g, const follow_access *seen)
{
    const em_inst *i = &g->program->code[seen->inst];
    cute_access **slot = &g->found[(seen->inst - g->kernel->start) * 2 + (uint32_t)seen->side];
    if (*slot) return *slot;
    cute_access *a = *slot = cute_arena_alloc(g->arena, sizeof *a);
    if (!a) return NULL;
    const em_loc *loc = em_loc_of(g->program, i);
    bool atomic = i->opcode == EM_OP_atom || i->opcode == EM_OP_red;
    bool store = i->opcode == EM_OP_st || i->opcode == EM_OP_stmatrix || seen->side;
    *a = (cute_access){.operation = cute_arena_copy(g->arena, g->program->text + i->where, i->length),
                       .kind = atomic  ? CUTE_ACCESS_ATOMIC
                               : store ? CUTE_ACCESS_STORE
                                       : CUTE_ACCESS_LOAD,
                       .space = seen->space,
                       .bytes = seen->bytes,
                       .plain_load = i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu,
                       .ptx_line = line_at(g, i->where),
                       .in_loop = seen->in_loop};
    if (loc) {
        a->file = kept(g, loc->file);
        a->line = loc->line;
        a->column = loc->column;
    }
    a->costs = cute_arena_array(g->arena, CUTE_ACCESS_WARPS_MAX, sizeof *a->costs);
    return a->operation && a->costs ? a : NULL;
}

static void take_access(void *context, const follow_access *seen)
{
    gather *g = context;
    if (!seen->mask) return;
    cute_access *a = access_at(g, seen);
    if (!a) {
        g->failed = true;
        return;
    }
    if (a->unknown || a->warps == CUTE_ACCESS_WARPS_MAX) return;
    if (seen->unknown || seen->address->varies) {
        a->unknown = kept(g, seen->unknown        ? seen->unknown
                             : seen->address->why ? seen->address->why
                                                  : "the address is not followed");
        return;
    }
    if (a->space != seen->space) {
        a->unknown = "warps access different memories";
        return;
    }
    count_request(g, a, seen);
}

/* ---- kernels ---- */

static void block_of(const em_function *f, const cute_kernel *about, const cute_access_options *options,
                     uint32_t out[3])
{
    const int64_t *said = !about ? NULL : about->reqntid[0] > 0 ? about->reqntid : about->block;
    for (int d = 0; d < 3; d++) {
        out[d] = options ? options->block[d] : 0;
        if (f->reqntid[0]) out[d] = f->reqntid[d] ? f->reqntid[d] : 1;
        if (!out[d] && said && said[0] > 0 && said[d] < 2048) out[d] = said[d] > 0 ? (uint32_t)said[d] : 1;
    }
    if (out[0])
        for (int d = 1; d < 3; d++) out[d] = out[d] ? out[d] : 1;
    if (out[0] > 1024 || out[1] > 1024 || out[2] > 1024 || (uint64_t)out[0] * out[1] * out[2] > 1024)
        memset(out, 0, 3 * sizeof *out);
}

static cute_status read_kernel(cute_arena *arena, const em_program *program, const em_function *kernel,
                               const cute_kernel *about, const cute_access_options *options,
                               cute_access_kernel *out, cute_diag *diag)
{
    follow *f;
    uint32_t instructions = kernel->end - kernel->start + 1;
    gather g = {.arena = arena, .program = program, .kernel = kernel, .about = about, .options = options};
    *out = (cute_access_kernel){.kernel = cute_arena_copy(arena, kernel->name, strlen(kernel->name))};
    g.found = cute_arena_array(arena, (size_t)instructions * 2, sizeof *g.found);
    if (!out->kernel || !g.found) return cute_fail_memory(diag);
    block_of(kernel, about, options, out->block);
    CUTE_TRY(follow_create(arena, program, kernel, out->block, options, &f, diag));
    uint32_t threads = out->block[0] * out->block[1] * out->block[2];
    uint32_t warps = threads ? (threads + LANES - 1) / LANES : 1, step = 1;
    while (step < warps && (uint64_t)follow_work(f) * ((warps + step - 1) / step) > MOST_WORK) step++;
    for (g.warp = 0; g.warp < warps; g.warp += step) CUTE_TRY(follow_warp(f, g.warp, take_access, &g, diag));
    for (size_t n = 0; n < (size_t)instructions * 2; n++) out->count += g.found[n] != NULL;
    out->accesses = cute_arena_array(arena, out->count + 1, sizeof *out->accesses);
    if (!out->accesses || g.failed) return cute_fail_memory(diag);
    out->count = 0;
    for (size_t n = 0; n < (size_t)instructions * 2; n++) {
        cute_access *a = g.found[n];
        if (!a) continue;
        a->block_assumed = !threads;
        a->warps_assumed = step > 1;
        if (a->unknown) a->warps = 0, a->count = a->ideal = 0;
        CUTE_TRY(cute_access_describe(arena, a, diag));
        out->accesses[out->count++] = *a;
    }
    return cute_unread_find(arena, program, kernel, &out->unread, diag);
}

static cute_status read_text(cute_arena *arena, const char *label, const char *ptx, size_t length,
                             const cute_module *module, const cute_access_options *options,
                             cute_access_report *out, cute_diag *diag)
{
    em_program *program;
    *out = (cute_access_report){.label = label};
    CUTE_TRY(em_program_read(arena, label, ptx, length, UINT64_C(0x0000680000000000), &program, diag));
    out->kernels = cute_arena_array(arena, program->function_count + 1, sizeof *out->kernels);
    if (!out->kernels) return cute_fail_memory(diag);
    for (size_t n = 0; n < program->function_count; n++) {
        const em_function *f = program->functions[n];
        const cute_kernel *about = NULL;
        if (!f->entry || !f->defined) continue;
        if (options && options->kernel && strcmp(options->kernel, f->name) != 0) continue;
        for (size_t k = 0; module && k < cute_module_kernel_count(module); k++)
            if (!strcmp(cute_module_kernel(module, k)->name, f->name)) about = cute_module_kernel(module, k);
        CUTE_TRY(read_kernel(arena, program, f, about, options, &out->kernels[out->count++], diag));
    }
    return CUTE_OK;
}

cute_status cute_access_read(cute_arena *arena, const char *label, const char *ptx, size_t length,
                             const cute_access_options *options, cute_access_report *out, cute_diag *diag)
{
    return read_text(arena, label, ptx, length, NULL, options, out, diag);
}

cute_status cute_access_read_module(cute_arena *arena, const char *label, const cute_module *module,
                                    const cute_access_options *options, cute_access_report *out,
                                    cute_diag *diag)
{
    const cute_place file = {.file = label};
    size_t length;
    const char *ptx = cute_module_ptx(module, &length);
    if (!ptx) {
        cute_fail(diag, CUTE_INVALID, &file, "no PTX is in this cubin, and addresses are followed in PTX");
        cute_note(diag, NULL, "cute-link keeps it in the section .cute.ptx, unless --strip is given");
        return CUTE_INVALID;
    }
    while (length && !ptx[length - 1]) length--;
    return read_text(arena, label, ptx, length, module, options, out, diag);
}
