/* Findings of memory: spills, local arrays, sectors, banks, widths, copies through registers, reloads, atomics. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/report/explain/context.h"

static bool is_global(const x_inst *i)
{
    return i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC;
}

static bool is_access(const x_function *f, const x_inst *i)
{
    return i->access != CUTE_ACCESS_NONE && x_reached(f, i);
}

/* ---- local memory ---- */

/* Registers and arrays of a thread lie in the same stack: ptxas told what it spilled, or the PTX has no arrays, or no access
 * of the machine code has a computed place. */
static bool are_spills(const explain_context *c, const x_function *f)
{
    const cute_resources *r = c->compiled ? &c->compiled->resources : NULL;
    if (r && (r->spill_stores > 0 || r->spill_loads > 0)) return true;
    if (c->ptx) return !c->ptx->has_local;
    for (size_t n = 0; n < f->count; n++)
        if (is_access(f, &f->insts[n]) && f->insts[n].space == CUTE_CODE_SPACE_LOCAL &&
            !(f->insts[n].flags & F_SPILL))
            return false;
    return true;
}

void find_spills(explain_context *c)
{
    const x_function *f = c->f;
    const cute_resources *r = c->compiled ? &c->compiled->resources : NULL;
    if (!are_spills(c, f)) return;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_LOCAL || !(i->flags & F_SPILL)) continue;
        double cycles =
            (x_cost(f, i) + (i->access == CUTE_ACCESS_LOAD ? explain_exposed(c, LATENCY_LOCAL) : 0)) *
            x_weight(f, i);
        const char *limit =
            r && r->registers > 0
                ? explain_text(c, "; the kernel has %lld registers a thread", (long long)r->registers)
                : "";
        explain_add_wait(c, i, cycles, NULL, "%s of %u bytes a thread at %s%s",
                         i->access == CUTE_ACCESS_LOAD ? "a load" : "a store", i->width ? i->width : 4,
                         "a constant place of the stack", limit);
    }
}

/* Made of constants alone, without a loop. */
static bool is_constant(const x_function *f, const x_operand *o, int depth)
{
    if (o->kind != X_VAR) return o->kind == X_IMM;
    const x_value *v = x_use(f, o);
    if (v->phi || v->inst < 0 || v->depends || depth > 8) return false;
    const x_inst *i = &f->insts[v->inst];
    for (unsigned u = 0; u < i->use_count; u++)
        if (!is_constant(f, &i->uses[u], depth + 1)) return false;
    return true;
}

void find_local_arrays(explain_context *c)
{
    const x_function *f = c->f;
    bool spills = are_spills(c, f);
    static const char held[] =
        "make every index a constant: unroll the loop over it completely (#pragma unroll, trip count known), "
        "or select with a chain of conditions; shared memory is no faster than L1, which holds the arrays";
    const char *size = c->stacks > 0
                           ? explain_text(c, "; those of all resident threads are %lld KiB, L1 has %lld",
                                          (long long)(c->stacks + 1023) / 1024, (long long)c->l1 / 1024)
                           : "";
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_LOCAL || i->address < 0) continue;
        if (f->sass && i->flags & F_SPILL && spills) continue;
        bool varies = !(f->sass && i->flags & F_SPILL) && !is_constant(f, &i->uses[i->address], 0);
        double cycles =
            (x_cost(f, i) + (i->access == CUTE_ACCESS_LOAD ? explain_exposed(c, LATENCY_LOCAL) : 0)) *
            x_weight(f, i);
        explain_add_wait(c, i, cycles, c->stacks > 0 && f->local_missed <= 0 ? held : NULL, "%s%s",
                         varies ? "its index is computed at run time, and registers have no index"
                                : "its index is constant here, but its address is taken or indexed elsewhere",
                         size);
    }
}

/* ---- sectors ---- */

static int64_t lane_stride(const uint64_t at[X_LANES], uint32_t active)
{
    int64_t stride = 0;
    for (int l = 1; l < X_LANES; l++) {
        if (!(active >> l & 1) || !(active >> (l - 1) & 1)) continue;
        int64_t d = (int64_t)(at[l] - at[l - 1]);
        if (!stride) stride = d;
        if (d != stride) return 0;
    }
    return stride;
}

/* All accesses of the block that count from the same value: what one leaves of a sector another may take. */
static bool shared_sectors(const x_function *f, const x_inst *i, x_traffic *out)
{
    int64_t offset, other_offset;
    const x_value *root = x_root(f, i, &offset);
    const cute_code_block *b = &f->flow->blocks[i->block];
    unsigned bytes = 0;
    int64_t lowest = offset, highest = offset + i->width;
    uint64_t at[X_LANES];
    uint32_t active;
    if (!root || !x_addresses(f, i, at, &active)) return false;
    enum { MOST_MEMBERS = 64 };
    unsigned members = 0;
    for (size_t k = 0; k < b->count && members < MOST_MEMBERS; k++) {
        const x_inst *o = &f->insts[b->first + k];
        if (o->access != i->access || o->space != i->space || x_root(f, o, &other_offset) != root) continue;
        if (other_offset < lowest) lowest = other_offset;
        if (other_offset + o->width > highest) highest = other_offset + o->width;
        bytes += o->width;
        members++;
    }
    if (members < 2 || highest - lowest > 128) return false;
    /* Lanes side by side: rows of their own are far apart all the same. */
    int64_t stride = lane_stride(at, active);
    if (stride < 0 || stride > highest - lowest) return false;
    /* Together they cover a stretch of each lane: its sectors against its bytes. */
    for (int l = 0; l < X_LANES; l++) at[l] += (uint64_t)(lowest - offset);
    *out = x_sectors(at, active, (unsigned)(highest - lowest));
    out->ideal = (int)((bytes * (unsigned)__builtin_popcount(active) + 31) / 32);
    return true;
}

/* What the emulator counted is nearer than what is computed; true: it told all. */
static bool find_seen(explain_context *c, const x_inst *i, const char *cure, const char *what)
{
    if (!i->seen || i->seen->ideal <= 0) return false;
    bool shared = i->space == CUTE_CODE_SPACE_SHARED;
    double more = i->seen->count - i->seen->ideal, least = shared ? 1 : 3.5;
    if (i->seen->count >= 1.9 * i->seen->ideal && more >= least)
        explain_add(c, i, more * (shared ? WAVEFRONT_COST : SECTOR_COST) * x_weight(c->f, i), cure,
                    "%.1f %s each time where %.1f would do (counted)", i->seen->count, what, i->seen->ideal);
    return true;
}

/* What is added to the base is a loaded number of each lane, not the number of the lane beside a common one. *walks: a loop goes on
 * from there. */
static bool is_gathered(const x_function *f, const x_inst *i, bool *walks)
{
    const x_operand *o = &i->uses[i->address];
    *walks = false;
    if (i->address2 >= 0 && !x_operand_varying(f, o)) o = &i->uses[i->address2];
    for (int hops = 0; hops < 16 && o->kind == X_VAR; hops++) {
        const x_value *v = x_use(f, o);
        for (int phis = 0; v && v->inst < 0 && phis < 4; phis++) {
            *walks = true;
            v = x_entry(f, v);
        }
        if (!v || v->inst < 0) return false;
        const x_inst *from = &f->insts[v->inst];
        const x_operand *next = NULL;
        if (from->access == CUTE_ACCESS_LOAD) return is_global(from) && x_address_varying(f, from);
        if (from->op == X_OTHER) return false;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (!x_operand_varying(f, &from->uses[u])) continue;
            if (next) return false;
            next = &from->uses[u];
        }
        if (!next) return false;
        o = next;
    }
    return false;
}

void find_uncoalesced(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint64_t at[X_LANES];
        uint32_t active;
        x_traffic together;
        if (!is_access(f, i) || !is_global(i) || i->flags & F_TMA || i->access == CUTE_ACCESS_ATOMIC)
            continue;
        if (explain_is_chased(c, i)) continue;
        if (find_seen(c, i, NULL, "sectors of 32 bytes")) continue;
        if (!x_addresses(f, i, at, &active)) {
            /* Some of them meet in a sector. */
            uint32_t depends = x_address_depends(f, i);
            unsigned width = i->width ? i->width : 4;
            bool walks;
            if (depends & X_LOADED && x_address_varying(f, i) && width <= 8 && is_gathered(f, i, &walks))
                explain_add(
                    c, i, SECTOR_COST * (X_LANES / 2 - width) * 0.75 * x_weight(f, i),
                    walks
                        ? "let the lanes of a warp, or some of them, walk together: neighbouring lanes take "
                          "neighbouring elements, and reduce by shuffles"
                        : "sort the indices, so that neighbouring lanes have neighbouring elements, or "
                          "bring what is indexed into shared memory first",
                    "each lane %s: up to 32 sectors of 32 bytes where %u would do",
                    walks ? "walks on from a place that it has loaded" : "has an index that was loaded",
                    width);
            continue;
        }
        if (__builtin_popcount(active) < 4) continue;
        x_traffic t = x_sectors(at, active, i->width ? i->width : 4);
        if (t.count < 2 * t.ideal || t.count - t.ideal < 4) continue;
        if (shared_sectors(f, i, &together) && together.count < 2 * together.ideal) continue;
        int64_t stride = lane_stride(at, active);
        bool by_argument =
            x_address_depends(f, i) & X_ARGUMENT && stride && (stride < 0 ? -stride : stride) >= 512;
        const char *apart =
            !stride       ? ""
            : by_argument ? "; neighbouring lanes are a row apart, whose length is an argument"
                          : explain_text(c, "; neighbouring lanes are %lld bytes apart", (long long)stride);
        const char *cure = NULL;
        if (stride > i->width && stride <= 64 && !by_argument)
            cure = explain_text(
                c,
                "lanes step over %lld bytes of which they take %u: store the fields in arrays of "
                "their own (structure of arrays), or load whole structures as float4 and "
                "exchange in shared memory",
                (long long)stride, i->width);
        explain_add(c, i, (t.count - t.ideal) * SECTOR_COST * x_weight(f, i), cure,
                    "%d sectors of 32 bytes where %d would do%s", t.count, t.ideal, apart);
    }
}

/* ---- banks ---- */

/* A table of each thread, whose index is data: another layout has no conflicts, whatever they are. */
static void judge_own_parts(explain_context *c, const x_inst *i)
{
    x_scatter s;
    if (!x_expected_wavefronts(c->f, i, &s) || !s.apart || s.count < 2 * s.ideal) return;
    explain_add(
        c, i, (s.count - s.ideal) * WAVEFRONT_COST * x_weight(c->f, i),
        "turn the table over: at [index][thread] each lane has a bank of its own, whatever its index",
        "about %.0f wavefronts where %d would do: each lane has %lld bytes of its own, and data are the "
        "index",
        s.count, s.ideal, (long long)s.stride);
}

void find_bank_conflicts(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint64_t at[X_LANES];
        uint32_t active;
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_SHARED || i->access == CUTE_ACCESS_COPY) continue;
        /* No layout helps where data say the place. */
        bool by_data = x_address_depends(f, i) & X_LOADED && x_address_varying(f, i);
        if (by_data && i->access == CUTE_ACCESS_ATOMIC) continue;
        if (find_seen(c, i,
                      by_data ? "the lanes' places are data: let lanes have copies of their own (place * "
                                "copies + lane % "
                                "copies), or keep a small table in registers and exchange by shuffles"
                              : NULL,
                      "wavefronts"))
            continue;
        if (!x_addresses(f, i, at, &active)) {
            if (by_data) judge_own_parts(c, i);
            continue;
        }
        unsigned width = i->width ? i->width : 4;
        if (i->flags & F_TENSOR_LOAD) {
            active &= width <= 4 ? 0xffu : width <= 8 ? 0xffffu : UINT32_MAX;
            width = 16;
        }
        if (i->access == CUTE_ACCESS_ATOMIC && width > 4) continue;
        x_traffic t = x_wavefronts(at, active, width, x_plain_load(i));
        if (t.count < 2 * t.ideal) continue;
        int64_t stride = lane_stride(at, active);
        const char *apart =
            stride ? explain_text(c, "; neighbouring lanes are %lld bytes apart", (long long)stride) : "";
        const char *cure = NULL;
        if (stride && stride % 128 == 0)
            cure = explain_text(
                c,
                "pad the rows of %lld bytes to %lld (one access more), or swizzle: the column ^ the row "
                "%% %d, in units of %u bytes; then the lanes take different banks",
                (long long)stride, (long long)stride + width, (int)(128 / width), width);
        explain_add(c, i, (t.count - t.ideal) * WAVEFRONT_COST * x_weight(f, i), cure,
                    "%d wavefronts where %d would do: a conflict of %d ways%s", t.count, t.ideal,
                    t.count / (t.ideal ? t.ideal : 1), apart);
    }
}

/* ---- widths ---- */

typedef struct member {
    const x_inst *i;
    int64_t offset;
} member;

static int by_offset(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void judge_run(explain_context *c, const member *m, unsigned count)
{
    const x_function *f = c->f;
    unsigned width = m->i->width, most = 16;
    uint64_t at[X_LANES];
    uint32_t active;
    while (count > 1 && most > width) {
        unsigned take = most / width;
        if (take > count) {
            most /= 2;
            continue;
        }
        bool aligned = x_addresses(f, m->i, at, &active);
        for (int l = 0; l < X_LANES && aligned; l++) aligned = !(active >> l & 1) || at[l] % most == 0;
        if (!aligned) {
            m++, count--;
            continue;
        }
        bool global = is_global(m->i);
        x_traffic wide =
            global ? x_sectors(at, active, most) : x_wavefronts(at, active, most, x_plain_load(m->i));
        double now = 0;
        for (unsigned k = 0; k < take; k++) now += x_cost(f, m[k].i) + 1;
        double saved = (now - wide.count * (global ? SECTOR_COST : WAVEFRONT_COST) - 1) * x_weight(f, m->i);
        if (saved > 0) {
            const x_inst *first = m->i;
            for (unsigned k = 1; k < take; k++)
                if (m[k].i < first) first = m[k].i;
            bool load = m->i->access == CUTE_ACCESS_LOAD;
            explain_add(c, first, saved, NULL, "%u %ss of %u bytes beside each other are one of %u%s", take,
                        load ? "load" : "store", width, most,
                        load && global ? "; the sectors stay as they are: no help where DRAM is the bound"
                                       : "");
        }
        m += take;
        count -= take;
    }
}

/* Lanes that load one or two bytes each, side by side: few bytes are under way. */
static void judge_bytes(explain_context *c, const x_inst *i)
{
    const x_function *f = c->f;
    uint64_t at[X_LANES];
    uint32_t active;
    unsigned loads = 0;
    const cute_code_block *b = &f->flow->blocks[i->block];
    for (size_t k = 0; k < b->count; k++) {
        const x_inst *o = &f->insts[b->first + k];
        loads += o->access == CUTE_ACCESS_LOAD && is_global(o);
    }
    if (loads > 4 || !x_addresses(f, i, at, &active) || active != UINT32_MAX ||
        lane_stride(at, active) != i->width)
        return;
    double saved = (explain_exposed(c, LATENCY_LOADED) / loads - x_cost(f, i)) * 0.75 * x_weight(f, i);
    if (saved > 0)
        explain_add_wait(
            c, i, saved,
            "let each thread take 16 bytes of neighbouring elements (uint4, a vector of 8 x f16), "
            "and unpack them",
            "each lane loads %u byte%s: a warp has %u bytes under way", i->width, i->width == 1 ? "" : "s",
            i->width * X_LANES);
}

void find_narrow(explain_context *c)
{
    const x_function *f = c->f;
    bool pipelined = false;
    for (size_t n = 0; n < f->count; n++)
        pipelined |= f->insts[n].flags & (F_TMA | F_ASYNC | F_MMA | F_WGMMA);
    for (size_t n = 0; n < f->count && !pipelined; n++) {
        const x_inst *i = &f->insts[n];
        if (is_access(f, i) && is_global(i) && i->access == CUTE_ACCESS_LOAD && i->width && i->width <= 2 &&
            !(i->flags & F_VOLATILE))
            judge_bytes(c, i);
    }
    enum { MOST_MEMBERS = 256 };
    for (uint32_t b = 0; b < f->flow->block_count; b++) {
        const cute_code_block *block = &f->flow->blocks[b];
        bool *done = cute_arena_array(c->arena, block->count + 1, sizeof *done);
        if (!done) {
            c->failed = true;
            return;
        }
        for (size_t k = 0; k < block->count; k++) {
            const x_inst *i = &f->insts[block->first + k];
            member list[MOST_MEMBERS];
            unsigned count = 0;
            int64_t offset;
            bool fits = is_access(f, i) && (is_global(i) || i->space == CUTE_CODE_SPACE_SHARED) && i->width &&
                        i->width < 16 && (i->access == CUTE_ACCESS_LOAD || i->access == CUTE_ACCESS_STORE) &&
                        !(i->flags & (F_VOLATILE | F_TENSOR_LOAD));
            const x_value *root = fits && !done[k] ? x_root(f, i, &offset) : NULL;
            if (!root) continue;
            for (size_t o = k; o < block->count && count < MOST_MEMBERS; o++) {
                const x_inst *other = &f->insts[block->first + o];
                int64_t place;
                if (other->flags & F_BARRIER) break;
                if (done[o] || other->access != i->access || other->space != i->space ||
                    other->width != i->width || other->guard >= 0 || other->flags & F_VOLATILE ||
                    x_root(f, other, &place) != root)
                    continue;
                done[o] = true;
                list[count++] = (member){other, place};
            }
            if (count < 2) continue;
            cute_sort(list, count, sizeof *list, by_offset);
            for (unsigned first = 0; first < count;) {
                unsigned next = first + 1;
                while (next < count && list[next].offset == list[next - 1].offset + i->width) next++;
                judge_run(c, list + first, next - first);
                first = next;
            }
        }
    }
}

/* ---- copies through registers ---- */

/* The global load whose value is stored, through moves and packing only. */
static const x_inst *loaded(const x_function *f, const x_operand *o, int depth)
{
    const x_value *v = x_use(f, o);
    if (o->kind != X_VAR || v->inst < 0 || depth > 3) return NULL;
    const x_inst *i = &f->insts[v->inst];
    if (i->access == CUTE_ACCESS_LOAD) return is_global(i) ? i : NULL;
    if (i->class != CUTE_CODE_MOVE) return NULL;
    for (unsigned u = 0; u < i->use_count; u++) {
        const x_inst *from = loaded(f, &i->uses[u], depth + 1);
        if (from) return from;
    }
    return NULL;
}

void find_missed_async(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint32_t loop = x_loop_of(f, i);
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_SHARED || i->access != CUTE_ACCESS_STORE ||
            i->data < 0 || i->width < 4 || loop == CUTE_NO_LOOP)
            continue;
        const x_inst *load = loaded(f, &i->uses[i->data], 0);
        if (!load || !explain_in_loop(f, load, loop)) continue;
        /* It is worth it where something waits for the tile. */
        bool waits = false;
        for (size_t k = 0; k < f->count && !waits; k++)
            waits = f->insts[k].flags & F_BARRIER && explain_in_loop(f, &f->insts[k], loop);
        if (!waits) continue;
        double each = x_cost(f, i) + explain_exposed(c, LATENCY_GLOBAL);
        explain_add_wait(
            c, load, each * x_weight(f, i), NULL,
            "a load of %u bytes waits in registers for the store to shared memory in the same iteration",
            load->width);
    }
}

/* ---- reloads ---- */

static bool has_order(const x_function *f, uint32_t loop)
{
    for (size_t n = 0; n < f->count; n++)
        if (explain_in_loop(f, &f->insts[n], loop) &&
            (f->insts[n].class == CUTE_CODE_SYNC || f->insts[n].access == CUTE_ACCESS_ATOMIC ||
             f->insts[n].flags & (F_CALL | F_WAIT_MBARRIER | F_WAIT_ASYNC)))
            return true;
    return false;
}

/* Something else in the loop than counting may write there, or wants to see what is written. */
static bool is_lone_store(const x_function *f, const x_inst *i, uint32_t loop)
{
    uint32_t depends = i->data >= 0 ? x_operand_depends(f, &i->uses[i->data]) : 0;
    return i->access == CUTE_ACCESS_STORE && i->guard < 0 && i->data >= 0 && depends & X_COUNTED &&
           i->block < f->flow->block_count && f->flow->blocks[i->block].loop == loop;
}

void find_reloads(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint32_t loop = x_loop_of(f, i);
        bool shared = i->space == CUTE_CODE_SPACE_SHARED, load = i->access == CUTE_ACCESS_LOAD;
        if (!is_access(f, i) || (!is_global(i) && !shared) || loop == CUTE_NO_LOOP || f->loops[loop].waits)
            continue;
        if (i->flags & (F_VOLATILE | F_ORDERED | F_TENSOR_LOAD) || i->address < 0) continue;
        if (!load && !is_lone_store(f, i, loop)) continue;
        if (explain_moves(f, i, loop) || has_order(f, loop)) continue;
        double wait = explain_exposed(c, LATENCY_SHARED) / 2; /* L1 has it */
        if (load)
            explain_add_wait(c, i, (x_cost(f, i) + wait) * x_weight(f, i), NULL,
                             "its address is made in front of the loop and stays the same");
        else
            explain_add_wait(c, i, x_cost(f, i) * x_weight(f, i),
                             "sum in a local variable and store it behind the loop; where other pointers may "
                             "point there the compiler must not: __restrict__",
                             "each iteration stores to the same address");
    }
}

/* ---- atomics ---- */

/* ld.global.s8, LDG.E.S8 */
static bool is_signed_load(const x_inst *i)
{
    static const char *const words[] = {".s8", ".s16", ".S8", ".S16"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (memmem(i->text, i->length, words[k], strlen(words[k]))) return true;
    return false;
}

/* The bits of a number that is loaded without a sign; 64: not known. */
static int loaded_bits(const x_function *f, const x_operand *o)
{
    for (int hops = 0; hops < 4 && o->kind == X_VAR; hops++) {
        const x_value *v = x_use(f, o);
        const x_inst *from = v->inst >= 0 ? &f->insts[v->inst] : NULL;
        if (!from) break;
        if (from->access == CUTE_ACCESS_LOAD)
            return from->width && from->width < 4 && !is_signed_load(from) ? from->width * 8 : 64;
        if (from->op != X_MOV && from->op != X_EXTEND && from->op != X_AND) break;
        o = &from->uses[0];
    }
    return 64;
}

/* How many addresses a masked number gives: base + (x & 15) * 4 has 16. X_LANES: any. */
static int most_addresses(const x_function *f, const x_inst *i)
{
    const x_operand *o = &i->uses[i->address];
    if (i->address2 >= 0 && !x_operand_varying(f, o)) o = &i->uses[i->address2];
    for (int hops = 0; hops < 12 && o->kind == X_VAR && !o->inverted; hops++) {
        const x_value *v = x_use(f, o);
        const x_operand *next = NULL;
        int bits = X_LANES;
        if (v->inst < 0) break;
        const x_inst *from = &f->insts[v->inst];
        if (from->op == X_OTHER || from->op == X_SETP) break;
        for (unsigned u = 0; u < from->use_count; u++) {
            const x_operand *use = &from->uses[u];
            if (use->kind == X_IMM && from->op == X_AND) bits = __builtin_popcountll((uint64_t)use->imm);
            /* (a & imm) | 0 in one of its tables: without a bit of imm there is none in the result. */
            if (use->kind == X_IMM && from->op == X_LOP3 && u == 1 && from->use_count > 2 &&
                from->uses[2].kind == X_IMM && !from->uses[2].imm && !(from->table & 0x11))
                bits = __builtin_popcount((uint32_t)use->imm);
            if (use->kind == X_IMM && from->op == X_BFE && u == 2)
                bits = use->imm >= 0 && use->imm < 8 ? (int)use->imm : X_LANES;
            /* The upper bits of a byte or a short that was loaded. */
            if (use->kind == X_IMM && from->op == X_SHR && u == 1)
                bits = loaded_bits(f, &from->uses[0]) - (use->imm >= 0 && use->imm < 32 ? (int)use->imm : 0);
        }
        if (bits < 5) return 1 << bits;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (!x_operand_varying(f, &from->uses[u])) continue;
            if (next) return X_LANES;
            next = &from->uses[u];
        }
        if (!next) break;
        o = next;
    }
    return X_LANES;
}

/* Counting by 1 in shared memory, where nobody wants the number before: lanes of one address are counted by the hardware
 * (ATOMS.POPC.INC). */
static bool is_counted(const x_function *f, const x_inst *i)
{
    if (f->sass) return memmem(i->text, i->length, ".POPC.INC", 9) != NULL;
    if (i->space != CUTE_CODE_SPACE_SHARED || i->data < 0 || !memmem(i->text, i->length, ".add.", 5))
        return false;
    if (i->uses[i->data].kind != X_IMM || i->uses[i->data].imm != 1) return false;
    for (size_t n = 0; n < f->count; n++)
        for (unsigned u = 0; u < f->insts[n].use_count; u++) {
            const x_operand *o = &f->insts[n].uses[u];
            if (o->kind == X_VAR && i->def_count && x_use(f, o) == &f->values[i->first_value]) return false;
        }
    return true;
}

void find_contended(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint64_t at[X_LANES];
        uint32_t active = x_active(f, i);
        int lanes = __builtin_popcount(active);
        bool global = is_global(i), shared = i->space == CUTE_CODE_SPACE_SHARED;
        if (!is_access(f, i) || i->access != CUTE_ACCESS_ATOMIC || (!global && !shared) || lanes < 4 ||
            is_counted(f, i))
            continue;
        bool known = x_addresses(f, i, at, &active), varying = x_address_varying(f, i);
        double each = (global ? 8 : 4) * x_weight(f, i);
        if (!varying) {
            bool all = !(x_address_depends(f, i) & X_BLOCK);
            explain_add_wait(c, i, each * (lanes - 1), NULL, "%d lanes of each warp have the same address%s",
                             lanes, all && global ? ", and so has every block" : "");
        } else if (known) {
            int distinct = x_distinct(at, active);
            if (distinct * 2 <= lanes)
                explain_add_wait(c, i, each * (lanes - distinct), NULL,
                                 "%d lanes of each warp have %d addresses", lanes, distinct);
        } else if (most_addresses(f, i) * 2 <= lanes) {
            int most = most_addresses(f, i);
            explain_add_wait(c, i, each * (lanes - most), NULL,
                             "%d lanes of each warp have %d addresses at most", lanes, most);
        } else if (global && x_address_depends(f, i) & X_LOADED) {
            explain_add_wait(
                c, i, each * lanes / 2, NULL,
                "the address comes from loaded data: a few of them take all the atomics of a warp in turn");
        }
    }
}

/* ---- constants ---- */

void find_divided_constants(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint64_t at[X_LANES];
        uint32_t active;
        if (!is_access(f, i) || i->access != CUTE_ACCESS_LOAD || i->space != CUTE_CODE_SPACE_CONST ||
            !x_address_varying(f, i))
            continue;
        bool known = x_addresses(f, i, at, &active);
        int distinct = x_constants(f, i);
        if (distinct < 2) continue;
        explain_add(c, i, (distinct - 1) * WAVEFRONT_COST * x_weight(f, i), NULL,
                    known ? "%d addresses in a warp"
                          : "about %d addresses in a warp: its index is loaded or computed by lane",
                    distinct);
    }
}

/* ---- volatile, fences ---- */

/* Arithmetic that takes the value, or gives it. */
static bool computes(const x_function *f, const x_inst *i)
{
    if (i->access == CUTE_ACCESS_STORE) {
        const x_value *v = i->data >= 0 ? x_use(f, &i->uses[i->data]) : f->values;
        return v->inst >= 0 && f->insts[v->inst].flags & F_MATH;
    }
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *o = &f->insts[n];
        for (unsigned u = 0; u < o->use_count && (o->flags & F_MATH || o->access == CUTE_ACCESS_STORE); u++)
            if (o->uses[u].kind == X_VAR && x_use(f, &o->uses[u])->inst == i - f->insts) return true;
    }
    return false;
}

void find_volatile(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        if (!is_access(f, i) || !(i->flags & F_VOLATILE) || !computes(f, i)) continue;
        bool load = i->access == CUTE_ACCESS_LOAD;
        double wait = load ? explain_exposed(c, i->space == CUTE_CODE_SPACE_SHARED ? 30 : LATENCY_GLOBAL) : 0;
        explain_add_wait(c, i, (x_cost(f, i) + wait) * x_weight(f, i), NULL,
                         "a volatile %s whose value is computed with", load ? "load" : "store");
    }
}

/* membar.gl, fence.acq_rel.gpu, MEMBAR.SC.GPU */
static bool is_gpu_fence(const x_inst *i)
{
    static const char *const words[] = {"membar.gl",    "membar.level.gl", "fence.acq_rel.gpu",
                                        "fence.sc.gpu", "MEMBAR.SC.GPU",   "MEMBAR.ALL.GPU"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (memmem(i->text, i->length, words[k], strlen(words[k]))) return true;
    return false;
}

void find_fences(explain_context *c)
{
    const x_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const x_inst *i = &f->insts[n];
        uint32_t of = x_loop_of(f, i);
        bool loop = of != CUTE_NO_LOOP;
        if (!x_reached(f, i)) continue;
        if (loop && !f->loops[of].waits && !(i->flags & F_SYSTEM_FENCE) && is_gpu_fence(i)) {
            explain_add_wait(
                c, i, explain_exposed(c, LATENCY_LOADED) * x_weight(f, i),
                "one fence behind the loop is enough where only its end is waited for; within a block "
                "__threadfence_block() and __syncthreads() do",
                "it is in a loop: each iteration waits for its writes to be seen by all blocks");
            continue;
        }
        if (!(i->flags & F_SYSTEM_FENCE)) continue;
        explain_add_wait(c, i, explain_exposed(c, 1500) * x_weight(f, i), NULL, "%s",
                         loop ? "it is in a loop: each iteration waits for its writes to be seen by all"
                              : "it waits for its writes to be seen by host and other GPUs");
    }
}
