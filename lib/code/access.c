/* Finds the memory accesses of kernels: evaluates each warp of a block (ssa_run_abstract) and computes the cost of its requests as
 * the emulator's checks do (lib/base/devices/traffic.h). Costs that depend on arguments or on the iteration are computed for an example
 * (ssa_run_example). */
#include "lib/code/access.h"

#include <stdlib.h>
#include <string.h>

#include "lib/code/function.h"
#include "lib/code/pattern.h"
#include "lib/emulator/machine/machine.h"

enum { MOST_WORK = 1 << 19 /* evaluated instructions of all warps */ };
enum { SECTOR = 32, LINE = 128, WORD = 4 };
/* Added to addresses to make them positive; a multiple of all alignments. */
#define ORIGIN (UINT64_C(1) << 44)

/* A request of one warp. */
typedef struct warp_request {
    uint32_t inst; /* index in the function */
    int side;      /* of cp.async: 0 load, 1 store */
    cute_code_space space;
    uint32_t bytes;
    const lane_values *address;
    const lane_values *other; /* of cp.async, the address of the other side; else NULL */
    uint32_t mask;            /* lanes that may be active */
    uint32_t idle;            /* of cp.async, the active lanes that read nothing */
    bool lanes_assumed;
    const char *unknown; /* why the state space is unknown */
} warp_request;

typedef struct access_finder {
    cute_arena *arena;
    ssa_function f;
    cute_access **found; /* by instruction and side */
    bool example;        /* second pass: unknown costs for an example */
    bool failed;
} access_finder;

/* ---- requests ---- */

static const char *copy_text(access_finder *g, const char *text)
{
    const char *copy = text ? cute_arena_copy(g->arena, text, strlen(text)) : NULL;
    if (text && !copy) g->failed = true;
    return copy;
}

static cute_traffic compute_cost(const cute_access *a, const cute_request *request, uint64_t shift,
                                 uint64_t other_shift)
{
    cute_request moved = *request;
    cute_traffic t = {0};
    for (uint32_t n = 0; n < moved.count; n++) {
        moved.address[n] += shift;
        moved.other[n] += other_shift;
    }
    if (a->space == CUTE_CODE_SPACE_SHARED)
        cute_traffic_add_wavefronts(&moved, &t);
    else
        cute_traffic_add_sectors(&moved, &t);
    return t;
}

static void set_cost(cute_access_cost *to, uint32_t warp, uint32_t mask, const cute_traffic *t)
{
    *to = (cute_access_cost){.warp = (uint16_t)warp,
                             .count = (uint16_t)t->count,
                             .ideal = (uint16_t)t->ideal,
                             .lanes = (uint32_t)__builtin_popcount(mask)};
}

static void update_range(cute_access *a, const cute_access_cost *cost, bool first)
{
    if (first || cost->count < a->least.count) a->least = *cost;
    if (first || cost->count > a->most.count) a->most = *cost;
}

static uint64_t lane_address(const lane_values *address, uint32_t l)
{
    uint64_t at = address->at[l];
    return ORIGIN + (address->bits == 32 ? (uint64_t)(int64_t)(int32_t)(uint32_t)at : at);
}

static cute_request make_request(const cute_access *a, const warp_request *seen, const em_inst *i)
{
    cute_request r = {.bytes = seen->bytes, .load = a->plain_load, .idle = seen->idle};
    bool both = seen->other && !seen->other->varies;
    if (both) r.copy = (cute_copy_way)i->copy.way;
    for (uint32_t l = 0; l < LANES; l++) {
        if (!(seen->mask >> l & 1)) continue;
        r.lane[r.count] = (uint8_t)l;
        if (both) r.other[r.count] = lane_address(seen->other, l);
        r.address[r.count++] = lane_address(seen->address, l);
    }
    return r;
}

/* The address is known up to a multiple of the result, in bytes; at least `least`. */
static uint64_t known_alignment(const access_finder *g, const lane_values *address, uint64_t least)
{
    uint64_t known = UINT64_C(1) << 20;
    if (address->free < address->bits && address->free < 20) known = UINT64_C(1) << address->free;
    if (address->pointer) {
        uint64_t said = (uint64_t)code_pointer_alignment(&g->f.assume, address->pointer - 1);
        if (said < known) known = said;
    }
    return known < least ? least : known;
}

/* Adding `shift` keeps naturally aligned addresses aligned. */
static bool stays_aligned(const cute_request *r, const uint64_t *address, uint64_t shift)
{
    bool aligned = !((r->bytes - 1) & r->bytes) && !(address[0] & (r->bytes - 1));
    return !aligned || !(shift & (r->bytes - 1));
}

/* Tries all possible offsets of the base within a unit (word, sector or line); of a copy that bypasses L1, on both sides. */
static void add_request(access_finder *g, cute_access *a, const warp_request *seen)
{
    const lane_values *address = seen->address;
    cute_request request = make_request(a, seen, g->f.insts[seen->inst].ptx);
    uint64_t known = known_alignment(g, address, request.copy ? request.bytes : 1);
    bool by_lines = request.copy == CUTE_COPY_PAST_L1;
    uint64_t other_known = by_lines ? known_alignment(g, seen->other, request.bytes) : LINE;
    uint64_t unit = by_lines ? LINE : a->space == CUTE_CODE_SPACE_SHARED ? WORD : SECTOR;
    cute_access_cost *cost = &a->costs[a->warps++], other;
    cute_traffic t = compute_cost(a, &request, 0, 0);
    bool first = a->warps == 1;
    set_cost(cost, g->f.warp, seen->mask, &t);
    update_range(a, cost, first);
    a->count += cost->count;
    a->ideal += cost->ideal;
    a->lanes_assumed |= seen->lanes_assumed;
    a->one_side |=
        seen->other && !request.copy &&
        (a->space == CUTE_CODE_SPACE_SHARED || g->f.insts[seen->inst].ptx->copy.way == CUTE_COPY_PAST_L1);
    if (a->space == CUTE_CODE_SPACE_GLOBAL && (address->pointer || address->free < address->bits))
        a->alignment = (uint32_t)(known < CODE_ALLOCATION ? known : CODE_ALLOCATION);
    for (uint64_t there = 0; there < LINE; there += other_known) {
        if (there && !stays_aligned(&request, request.other, there)) continue;
        for (uint64_t shift = there ? 0 : known; shift < unit; shift += known) {
            if (shift && !stays_aligned(&request, request.address, shift)) continue;
            t = compute_cost(a, &request, shift, there);
            set_cost(&other, g->f.warp, seen->mask, &t);
            update_range(a, &other, false);
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

static cute_access *find_or_add_access(access_finder *g, const warp_request *seen)
{
    const ssa_inst *x = &g->f.insts[seen->inst];
    const em_inst *i = x->ptx;
    cute_access **slot = &g->found[seen->inst * 2 + (uint32_t)seen->side];
    if (*slot) return *slot;
    cute_access *a = *slot = cute_arena_alloc(g->arena, sizeof *a);
    if (!a) return NULL;
    const em_loc *loc = em_loc_of(g->f.program, i);
    bool atomic = i->opcode == EM_OP_atom || i->opcode == EM_OP_red;
    bool store = i->opcode == EM_OP_st || i->opcode == EM_OP_stmatrix || seen->side;
    *a = (cute_access){.operation = cute_arena_copy(g->arena, g->f.program->text + i->where, i->length),
                       .kind = atomic  ? CUTE_ACCESS_ATOMIC
                               : store ? CUTE_ACCESS_STORE
                                       : CUTE_ACCESS_LOAD,
                       .space = seen->space,
                       .bytes = seen->bytes,
                       .plain_load = i->opcode == EM_OP_ld || i->opcode == EM_OP_ldu,
                       .ptx_line = (uint32_t)x->ptx_line,
                       .in_loop = g->f.blocks[x->block].in_loop};
    if (loc) {
        a->file = copy_text(g, loc->file);
        a->line = loc->line;
        a->column = loc->column;
    }
    a->costs = cute_arena_array(g->arena, CUTE_ACCESS_WARPS_MAX, sizeof *a->costs);
    return a->operation && a->costs ? a : NULL;
}

/* The request adds to the cost; false: the cost is unknown, or not from an example. */
static bool is_wanted(access_finder *g, cute_access *a, const warp_request *seen)
{
    const char *why = seen->unknown ? seen->unknown
                      : seen->address->varies
                          ? seen->address->why ? seen->address->why : "the address cannot be evaluated"
                          : NULL;
    if (g->example && (!a->estimated || a->unknown)) return false;
    if (a->unknown || a->warps == CUTE_ACCESS_WARPS_MAX) return false;
    if (!why && a->space != seen->space && !g->example) why = "warps access different state spaces";
    if (!why) return true;
    a->unknown = g->example ? a->estimated : copy_text(g, why);
    return false;
}

static void take_request(access_finder *g, const warp_request *seen)
{
    if (!seen->mask) return;
    cute_access *a = find_or_add_access(g, seen);
    if (!a)
        g->failed = true;
    else if (is_wanted(g, a, seen))
        add_request(g, a, seen);
}

/* ---- instructions ---- */

/* Resolves a generic address by its window. */
static cute_code_space find_space(const em_inst *i, lane_values *address, const char **unknown)
{
    if (i->space == EM_SHARED) return CUTE_CODE_SPACE_SHARED;
    if (i->space == EM_GLOBAL) return CUTE_CODE_SPACE_GLOBAL;
    uint64_t window = address->at[0] & ~(EM_WINDOW_SIZE - 1);
    if (address->varies) return CUTE_CODE_SPACE_GLOBAL;
    if (window == EM_SHARED_WINDOW) {
        *address = lanes_sub(*address, lanes_constant(address->bits, EM_SHARED_WINDOW));
        return CUTE_CODE_SPACE_SHARED;
    }
    if (!address->pointer) *unknown = "a generic address of unknown state space";
    return CUTE_CODE_SPACE_GLOBAL;
}

typedef struct side {
    int operand;
    uint32_t bytes;
    cute_code_space space;
} side;

/* The accesses of an instruction; cp.async has two. */
static int find_sides(const em_inst *i, side out[2])
{
    uint32_t bytes = ptx_types[i->type].bytes;
    bool here = i->space == EM_GLOBAL || i->space == EM_SHARED || i->space == EM_GENERIC;
    /* st.async and red.async write shared memory of the cluster. */
    cute_code_space memory = em_has(i, EM_M_async) ? CUTE_CODE_SPACE_SHARED : CUTE_CODE_SPACE_GLOBAL;
    switch (i->opcode) {
    case EM_OP_ld:
    case EM_OP_ldu:
        if (!here || i->count < 2) return 0;
        out[0] =
            (side){1, i->memory.used ? i->memory.used : bytes * i->memory.vector, CUTE_CODE_SPACE_GLOBAL};
        return 1;
    case EM_OP_st:
        if (!here || i->count < 2) return 0;
        out[0] = (side){0, bytes * i->memory.vector, memory};
        return 1;
    case EM_OP_atom:
    case EM_OP_red:
        if (!here || i->count < 2) return 0;
        out[0] = (side){i->memory.address, bytes * i->memory.vector, memory};
        return 1;
    case EM_OP_ldmatrix:
    case EM_OP_stmatrix:
        if (i->count < 2) return 0;
        out[0] = (side){i->opcode == EM_OP_stmatrix ? 0 : 1, 16, CUTE_CODE_SPACE_SHARED};
        return 1;
    case EM_OP_cp:
        if (!em_has(i, EM_M_async) || em_has(i, EM_M_bulk) || i->count < 3 || i->o[0].kind != EM_O_MEMORY ||
            i->o[1].kind != EM_O_MEMORY)
            return 0;
        out[0] = (side){1, i->copy.bytes, CUTE_CODE_SPACE_GLOBAL};
        out[1] = (side){0, i->copy.bytes, CUTE_CODE_SPACE_SHARED};
        return 2;
    default: return 0;
    }
}

static lane_values evaluate_address(const ssa_run *r, const ssa_inst *i, const em_operand *memory)
{
    lane_values address = ssa_source_lanes(r, i, &memory->list[0]);
    if (!memory->offset) return address;
    return lanes_add(address, lanes_constant(address.bits, (uint64_t)memory->offset));
}

/* Lanes of a cp.async that read nothing: src-size is 0 or ignore-src is true. */
static void find_idle_lanes(const ssa_run *r, const ssa_inst *x, warp_request *a)
{
    const em_inst *i = x->ptx;
    if (i->count <= 3) return;
    lane_values v = ssa_source_lanes(r, x, &i->o[3]);
    if (!lanes_known(&v)) {
        a->lanes_assumed = true;
        return;
    }
    for (int l = 0; l < LANES; l++) {
        bool reads = v.bits == 1 ? !v.at[l] : v.at[l] > 0;
        if (!reads) a->idle |= 1u << l;
        if (v.bits > 1 && v.at[l] && v.at[l] < i->copy.bytes) a->lanes_assumed = true;
    }
}

/* Adds the request of one side for the current warp. */
static void visit_side(access_finder *g, ssa_run *r, const ssa_inst *x, const side *sides, int n)
{
    const em_inst *i = x->ptx;
    const em_operand *memory = &i->o[sides[n].operand];
    const ssa_block *b = &g->f.blocks[x->block];
    if (memory->kind != EM_O_MEMORY) return;
    lane_values address = evaluate_address(r, x, memory), other;
    warp_request a = {.inst = (uint32_t)(x - g->f.insts),
                      .side = n,
                      .bytes = sides[n].bytes,
                      .address = &address,
                      .mask = b->active,
                      .lanes_assumed = b->partial && !r->example};
    bool fixed = i->opcode == EM_OP_cp || sides[n].space == CUTE_CODE_SPACE_SHARED;
    a.space = fixed ? sides[n].space : find_space(i, &address, &a.unknown);
    if (x->guard >= 0) {
        lane_values guard = ssa_operand_lanes(r, &x->uses[x->guard], 1);
        if (lanes_known(&guard))
            a.mask &= lanes_true(&guard);
        else if (!lanes_uniform(&guard))
            a.lanes_assumed = true;
    }
    if (i->opcode == EM_OP_cp) {
        other = evaluate_address(r, x, &i->o[sides[!n].operand]);
        a.other = &other;
        find_idle_lanes(r, x, &a);
        if (!n) a.mask &= ~a.idle;
    }
    if (i->opcode == EM_OP_ldmatrix || i->opcode == EM_OP_stmatrix) {
        int rows = em_has(i, EM_M_x4) ? 32 : em_has(i, EM_M_x2) ? 16 : 8;
        a.mask &= rows == 32 ? UINT32_MAX : (1u << rows) - 1;
    }
    take_request(g, &a);
}

static void visit_inst(void *context, ssa_run *r, const ssa_inst *x)
{
    side sides[2];
    int count = x->ptx->hidden ? 0 : find_sides(x->ptx, sides);
    for (int n = 0; n < count; n++) visit_side(context, r, x, sides, n);
}

/* ---- kernels ---- */

static bool run_warp(access_finder *g, uint32_t warp)
{
    cute_arena *own = cute_arena_create();
    bool ok = own && (g->example ? ssa_run_example(&g->f, own, warp, visit_inst, g)
                                 : ssa_run_abstract(&g->f, own, warp, visit_inst, g));
    cute_arena_destroy(own);
    return ok && !g->failed;
}

/* Resets accesses with unknown cost for the second pass; false: no such access. */
static bool reset_unknown(access_finder *g)
{
    bool any = false;
    for (size_t n = 0; n < g->f.count * 2; n++) {
        cute_access *a = g->found[n];
        if (!a || !a->unknown) continue;
        a->estimated = a->unknown;
        a->unknown = NULL;
        a->warps = 0;
        a->count = a->ideal = 0;
        any = true;
    }
    return any;
}

static cute_status read_kernel(cute_arena *arena, const em_program *program, const em_function *kernel,
                               const cute_kernel *about, const cute_access_options *options,
                               cute_access_kernel *out, cute_diag *diag)
{
    static const int64_t none[3];
    access_finder g = {.arena = arena};
    uint32_t work;
    *out = (cute_access_kernel){.kernel = cute_arena_copy(arena, kernel->name, strlen(kernel->name))};
    if (!out->kernel || !ssa_from_ptx(arena, program, kernel, &g.f)) return cute_fail_memory(diag);
    code_assumptions *assume = &g.f.assume;
    *assume = (code_assumptions){.about = about};
    if (options) {
        assume->parameters = options->parameters;
        assume->known = options->known;
        assume->parameter_bytes = options->parameter_bytes;
    }
    code_assume_block(assume, kernel, about, options ? options->block : none,
                      options ? options->block_from : NULL);
    out->assume = *assume;
    g.found = cute_arena_array(arena, g.f.count * 2 + 1, sizeof *g.found);
    if (!g.found || !ssa_find_needed(&g.f, &work)) return cute_fail_memory(diag);
    uint32_t threads = (uint32_t)(assume->block[0] * assume->block[1] * assume->block[2]);
    uint32_t warps = threads ? (threads + LANES - 1) / LANES : 1, step = 1;
    while (step < warps && (uint64_t)work * ((warps + step - 1) / step) > MOST_WORK) step++;
    for (uint32_t w = 0; w < warps; w += step)
        if (!run_warp(&g, w)) return cute_fail_memory(diag);
    if (reset_unknown(&g)) {
        g.example = true;
        ssa_assume_block(&g.f);
        for (uint32_t w = 0; w < warps; w += step)
            if (!run_warp(&g, w)) return cute_fail_memory(diag);
    }
    for (size_t n = 0; n < g.f.count * 2; n++) out->count += g.found[n] != NULL;
    out->accesses = cute_arena_array(arena, out->count + 1, sizeof *out->accesses);
    if (!out->accesses) return cute_fail_memory(diag);
    out->count = 0;
    for (size_t n = 0; n < g.f.count * 2; n++) {
        cute_access *a = g.found[n];
        if (!a) continue;
        if (a->estimated && !a->warps) a->unknown = a->estimated;
        if (a->unknown) a->estimated = NULL;
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
        cute_fail(diag, CUTE_INVALID, &file,
                  "expected PTX, which accesses are evaluated in, got a cubin without PTX");
        cute_note(diag, NULL, "cute-link keeps the PTX in the section .cute.ptx unless --strip is given");
        return CUTE_INVALID;
    }
    while (length && !ptx[length - 1]) length--;
    return read_text(arena, label, ptx, length, module, options, out, diag);
}
