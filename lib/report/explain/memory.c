/* Memory findings: spills, local arrays, coalescing, bank conflicts, access width, copies through registers, redundant loads,
 * atomics, constants, volatile accesses, fences. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/report/explain/context.h"

static bool is_global(const ssa_inst *i)
{
    return i->space == CUTE_CODE_SPACE_GLOBAL || i->space == CUTE_CODE_SPACE_GENERIC;
}

static bool is_access(const ssa_function *f, const ssa_inst *i)
{
    return i->access != CUTE_ACCESS_NONE && ssa_is_reached(f, i);
}

/* ---- local memory ---- */

/* Local memory holds both spilled registers and arrays. It holds spills if ptxas reported some, or else the PTX declares no arrays,
 * or, without PTX, no SASS access has a computed address. */
static bool are_spills(const explain_context *c, const ssa_function *f)
{
    const cute_resources *r = c->compiled ? &c->compiled->resources : NULL;
    if (r && (r->spill_stores > 0 || r->spill_loads > 0)) return true;
    if (c->ptx) return !c->ptx->has_local;
    for (size_t n = 0; n < f->count; n++)
        if (is_access(f, &f->insts[n]) && f->insts[n].space == CUTE_CODE_SPACE_LOCAL &&
            !(f->insts[n].flags & INST_SPILL))
            return false;
    return true;
}

void find_spills(explain_context *c)
{
    const ssa_function *f = c->f;
    const cute_resources *r = c->compiled ? &c->compiled->resources : NULL;
    if (!are_spills(c, f)) return;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_LOCAL || !(i->flags & INST_SPILL)) continue;
        double cycles =
            (explain_cost(f, i) + (i->access == CUTE_ACCESS_LOAD ? explain_exposed(c, LATENCY_LOCAL) : 0)) *
            ssa_weight(f, i);
        const char *limit =
            r && r->registers > 0
                ? explain_text(c, "; the kernel uses %lld registers per thread", (long long)r->registers)
                : "";
        explain_add_wait(c, i, cycles, NULL, "spill %s of %u bytes per thread%s",
                         i->access == CUTE_ACCESS_LOAD ? "load" : "store", i->width ? i->width : 4, limit);
    }
}

/* Computed from constants only; phis do not count. */
static bool is_constant_operand(const ssa_function *f, const ssa_operand *o, int depth)
{
    if (o->kind != SSA_VAR) return o->kind == SSA_IMM;
    const ssa_value *v = ssa_value_of(f, o);
    if (v->phi || v->inst < 0 || v->depends || depth > 8) return false;
    const ssa_inst *i = &f->insts[v->inst];
    for (unsigned u = 0; u < i->use_count; u++)
        if (!is_constant_operand(f, &i->uses[u], depth + 1)) return false;
    return true;
}

void find_local_arrays(explain_context *c)
{
    const ssa_function *f = c->f;
    bool spills = are_spills(c, f);
    static const char fits_in_l1[] = "make every index a constant: unroll the loop over the array completely "
                                     "(#pragma unroll, constant trip "
                                     "count), or select with a chain of conditions; L1 holds the arrays, "
                                     "so shared memory would not be faster";
    const char *size = c->stacks > 0
                           ? explain_text(c, "; all resident threads need %lld KiB, L1 has %lld KiB",
                                          (long long)(c->stacks + 1023) / 1024, (long long)c->l1 / 1024)
                           : "";
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_LOCAL || i->address < 0) continue;
        if (f->sass && i->flags & INST_SPILL && spills) continue;
        bool varies = !(f->sass && i->flags & INST_SPILL) && !is_constant_operand(f, &i->uses[i->address], 0);
        double cycles =
            (explain_cost(f, i) + (i->access == CUTE_ACCESS_LOAD ? explain_exposed(c, LATENCY_LOCAL) : 0)) *
            ssa_weight(f, i);
        explain_add_wait(c, i, cycles, c->stacks > 0 && f->local_miss_rate <= 0 ? fits_in_l1 : NULL, "%s%s",
                         varies ? "the index is computed at run time; registers cannot be indexed"
                                : "the index is constant here, but the address is taken or indexed elsewhere",
                         size);
    }
}

/* ---- coalescing ---- */

/* Bytes between consecutive lanes; 0: not uniform. */
static int64_t lane_stride(const uint64_t at[LANES], uint32_t active)
{
    int64_t stride = 0;
    for (int l = 1; l < LANES; l++) {
        if (!(active >> l & 1) || !(active >> (l - 1) & 1)) continue;
        int64_t d = (int64_t)(at[l] - at[l - 1]);
        if (!stride) stride = d;
        if (d != stride) return 0;
    }
    return stride;
}

/* Sectors of all accesses of the basic block that share the root of `i`: one access may use the rest of a sector that another
 * leaves. */
static bool count_joint_sectors(const ssa_function *f, const ssa_inst *i, explain_traffic *out)
{
    int64_t offset, other_offset;
    const ssa_value *root = ssa_address_root(f, i, &offset);
    const cute_code_block *b = &f->flow->blocks[i->block];
    unsigned bytes = 0;
    int64_t lowest = offset, highest = offset + i->width;
    uint64_t at[LANES];
    uint32_t active;
    if (!root || !ssa_addresses(f, i, at, &active)) return false;
    enum { MOST_MEMBERS = 64 };
    unsigned members = 0;
    for (size_t k = 0; k < b->count && members < MOST_MEMBERS; k++) {
        const ssa_inst *o = &f->insts[b->first + k];
        if (o->access != i->access || o->space != i->space || ssa_address_root(f, o, &other_offset) != root)
            continue;
        if (other_offset < lowest) lowest = other_offset;
        if (other_offset + o->width > highest) highest = other_offset + o->width;
        bytes += o->width;
        members++;
    }
    if (members < 2 || highest - lowest > 128) return false;
    /* Only for adjacent lanes; lanes with a row each stay uncoalesced. */
    int64_t stride = lane_stride(at, active);
    if (stride < 0 || stride > highest - lowest) return false;
    /* The accesses together cover one range per lane. */
    for (int l = 0; l < LANES; l++) at[l] += (uint64_t)(lowest - offset);
    *out = explain_sectors(at, active, (unsigned)(highest - lowest));
    out->ideal = (int)((bytes * (unsigned)__builtin_popcount(active) + 31) / 32);
    return true;
}

/* Prefers the emulator's counts over the estimate; false: no counts. */
static bool report_counted(explain_context *c, const ssa_inst *i, const char *fix, const char *unit)
{
    if (!i->counters || i->counters->ideal <= 0) return false;
    bool shared = i->space == CUTE_CODE_SPACE_SHARED;
    double more = i->counters->count - i->counters->ideal, least = shared ? 1 : 3.5;
    if (i->counters->count >= 1.9 * i->counters->ideal && more >= least)
        explain_add(c, i, more * (shared ? WAVEFRONT_COST : SECTOR_COST) * ssa_weight(c->f, i), fix,
                    "%.1f %s instead of %.1f per request (counted)", i->counters->count, unit,
                    i->counters->ideal);
    return true;
}

/* The offset of each lane is a loaded value (a gather), not a lane index added to a loaded base. *walks: a loop advances the
 * address. */
static bool is_gather(const ssa_function *f, const ssa_inst *i, bool *walks)
{
    const ssa_operand *o = &i->uses[i->address];
    *walks = false;
    if (i->address2 >= 0 && !ssa_operand_varies(f, o)) o = &i->uses[i->address2];
    for (int hops = 0; hops < 16 && o->kind == SSA_VAR; hops++) {
        const ssa_value *v = ssa_value_of(f, o);
        for (int phis = 0; v && v->inst < 0 && phis < 4; phis++) {
            *walks = true;
            v = ssa_phi_entry(f, v);
        }
        if (!v || v->inst < 0) return false;
        const ssa_inst *from = &f->insts[v->inst];
        const ssa_operand *next = NULL;
        if (from->access == CUTE_ACCESS_LOAD) return is_global(from) && ssa_address_varies(f, from);
        if (from->op == SSA_OTHER) return false;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (!ssa_operand_varies(f, &from->uses[u])) continue;
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
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint64_t at[LANES];
        uint32_t active;
        explain_traffic together;
        if (!is_access(f, i) || !is_global(i) || i->flags & INST_TMA || i->access == CUTE_ACCESS_ATOMIC)
            continue;
        if (explain_is_chased(c, i)) continue;
        if (report_counted(c, i, NULL, "32-byte sectors")) continue;
        if (!ssa_addresses(f, i, at, &active)) {
            /* Some lanes share a sector: count half of the worst case. */
            uint32_t depends = ssa_address_depends(f, i);
            unsigned width = i->width ? i->width : 4;
            bool walks;
            if (depends & DEPENDS_LOADED && ssa_address_varies(f, i) && width <= 8 && is_gather(f, i, &walks))
                explain_add(
                    c, i, SECTOR_COST * (LANES / 2 - width) * 0.75 * ssa_weight(f, i),
                    walks ? "process one list with several lanes: consecutive lanes access consecutive "
                            "elements, "
                            "then reduce with shuffles"
                          : "sort the indices so that consecutive lanes access consecutive elements, or load "
                            "the indexed data into shared memory first",
                    "each lane %s: up to 32 sectors instead of %u",
                    walks ? "traverses data from a loaded start" : "uses a loaded index", width);
            continue;
        }
        if (__builtin_popcount(active) < 4) continue;
        explain_traffic t = explain_sectors(at, active, i->width ? i->width : 4);
        if (t.count < 2 * t.ideal || t.count - t.ideal < 4) continue;
        if (count_joint_sectors(f, i, &together) && together.count < 2 * together.ideal) continue;
        int64_t stride = lane_stride(at, active);
        bool by_argument =
            ssa_address_depends(f, i) & DEPENDS_ARGUMENT && stride && (stride < 0 ? -stride : stride) >= 512;
        const char *apart =
            !stride       ? ""
            : by_argument ? "; the stride between lanes is a row, whose length is an argument"
                          : explain_text(c, "; the stride between lanes is %lld bytes", (long long)stride);
        const char *fix = NULL;
        if (stride > i->width && stride <= 64 && !by_argument)
            fix = explain_text(
                c,
                "each lane uses %u of every %lld bytes: store each field in its own array (structure of "
                "arrays), or load whole structures as float4 and exchange the fields in shared memory",
                i->width, (long long)stride);
        explain_add(c, i, (t.count - t.ideal) * SECTOR_COST * ssa_weight(f, i), fix,
                    "%d sectors instead of %d%s", t.count, t.ideal, apart);
    }
}

/* ---- bank conflicts ---- */

/* A table per thread with data-dependent indices: the layout [index][thread] has no conflicts for any indices. */
static void check_private_tables(explain_context *c, const ssa_inst *i)
{
    explain_scatter s;
    if (!explain_expected_wavefronts(c->f, i, &s) || !s.is_private || s.count < 2 * s.ideal) return;
    explain_add(
        c, i, (s.count - s.ideal) * WAVEFRONT_COST * ssa_weight(c->f, i),
        "transpose the table to [index][thread]: each lane then has its own bank for any index",
        "about %.0f wavefronts instead of %d: each lane has its own %lld bytes and a data-dependent index",
        s.count, s.ideal, (long long)s.stride);
}

void find_bank_conflicts(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint64_t at[LANES];
        uint32_t active;
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_SHARED || i->access == CUTE_ACCESS_COPY) continue;
        /* No layout avoids conflicts of data-dependent addresses. */
        bool by_data = ssa_address_depends(f, i) & DEPENDS_LOADED && ssa_address_varies(f, i);
        if (by_data && i->access == CUTE_ACCESS_ATOMIC) continue;
        if (report_counted(c, i,
                           by_data
                               ? "the addresses depend on data: give lanes private copies (index * copies + "
                                 "lane % copies), or keep a small table in registers and use shuffles"
                               : NULL,
                           "wavefronts"))
            continue;
        if (!ssa_addresses(f, i, at, &active)) {
            if (by_data) check_private_tables(c, i);
            continue;
        }
        unsigned width = i->width ? i->width : 4;
        if (i->flags & INST_TENSOR_LOAD) {
            active &= width <= 4 ? 0xffu : width <= 8 ? 0xffffu : UINT32_MAX;
            width = 16;
        }
        if (i->access == CUTE_ACCESS_ATOMIC && width > 4) continue;
        explain_traffic t = explain_wavefronts(at, active, width, ssa_is_plain_load(i));
        if (t.count < 2 * t.ideal) continue;
        int64_t stride = lane_stride(at, active);
        const char *apart =
            stride ? explain_text(c, "; the stride between lanes is %lld bytes", (long long)stride) : "";
        const char *fix = NULL;
        if (stride && stride % 128 == 0)
            fix = explain_text(
                c,
                "pad the rows of %lld bytes to %lld (one more access), or swizzle: column ^ row %% %d, in "
                "units of %u bytes; the lanes then access different banks",
                (long long)stride, (long long)stride + width, (int)(128 / width), width);
        explain_add(c, i, (t.count - t.ideal) * WAVEFRONT_COST * ssa_weight(f, i), fix,
                    "%d wavefronts instead of %d (%d-way conflict)%s", t.count, t.ideal,
                    t.count / (t.ideal ? t.ideal : 1), apart);
    }
}

/* ---- access width ---- */

typedef struct member {
    const ssa_inst *i;
    int64_t offset;
} member;

static int compare_offsets(const void *a, const void *b)
{
    const member *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* Adjacent accesses, sorted by offset, that could be fewer wide ones. */
static void check_adjacent_accesses(explain_context *c, const member *m, unsigned count)
{
    const ssa_function *f = c->f;
    unsigned width = m->i->width, most = 16;
    uint64_t at[LANES];
    uint32_t active;
    while (count > 1 && most > width) {
        unsigned take = most / width;
        if (take > count) {
            most /= 2;
            continue;
        }
        bool aligned = ssa_addresses(f, m->i, at, &active);
        for (int l = 0; l < LANES && aligned; l++) aligned = !(active >> l & 1) || at[l] % most == 0;
        if (!aligned) {
            m++, count--;
            continue;
        }
        bool global = is_global(m->i);
        explain_traffic wide = global ? explain_sectors(at, active, most)
                                      : explain_wavefronts(at, active, most, ssa_is_plain_load(m->i));
        double now = 0;
        for (unsigned k = 0; k < take; k++) now += explain_cost(f, m[k].i) + 1;
        double saved = (now - wide.count * (global ? SECTOR_COST : WAVEFRONT_COST) - 1) * ssa_weight(f, m->i);
        if (saved > 0) {
            const ssa_inst *first = m->i;
            for (unsigned k = 1; k < take; k++)
                if (m[k].i < first) first = m[k].i;
            bool load = m->i->access == CUTE_ACCESS_LOAD;
            explain_add(c, first, saved, NULL, "%u adjacent %u-byte %ss could be one %u-byte %s%s", take,
                        width, load ? "load" : "store", most, load ? "load" : "store",
                        load && global ? "; the sectors stay the same: no gain if DRAM is the bottleneck"
                                       : "");
        }
        m += take;
        count -= take;
    }
}

/* Adjacent lanes that load one or two bytes each keep few bytes in flight. */
static void check_narrow_load(explain_context *c, const ssa_inst *i)
{
    const ssa_function *f = c->f;
    uint64_t at[LANES];
    uint32_t active;
    unsigned loads = 0;
    const cute_code_block *b = &f->flow->blocks[i->block];
    for (size_t k = 0; k < b->count; k++) {
        const ssa_inst *o = &f->insts[b->first + k];
        loads += o->access == CUTE_ACCESS_LOAD && is_global(o);
    }
    if (loads > 4 || !ssa_addresses(f, i, at, &active) || active != UINT32_MAX ||
        lane_stride(at, active) != i->width)
        return;
    double saved =
        (explain_exposed(c, LATENCY_LOADED) / loads - explain_cost(f, i)) * 0.75 * ssa_weight(f, i);
    if (saved > 0)
        explain_add_wait(
            c, i, saved,
            "let each thread load 16 bytes of consecutive elements (uint4, a vector of 8 x f16) and unpack "
            "them",
            "each lane loads %u byte%s: a warp has %u bytes in flight", i->width, i->width == 1 ? "" : "s",
            i->width * LANES);
}

void find_narrow(explain_context *c)
{
    const ssa_function *f = c->f;
    bool pipelined = false;
    for (size_t n = 0; n < f->count; n++)
        pipelined |= f->insts[n].flags & (INST_TMA | INST_ASYNC | INST_MMA | INST_WGMMA);
    for (size_t n = 0; n < f->count && !pipelined; n++) {
        const ssa_inst *i = &f->insts[n];
        if (is_access(f, i) && is_global(i) && i->access == CUTE_ACCESS_LOAD && i->width && i->width <= 2 &&
            !(i->flags & INST_VOLATILE))
            check_narrow_load(c, i);
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
            const ssa_inst *i = &f->insts[block->first + k];
            member list[MOST_MEMBERS];
            unsigned count = 0;
            int64_t offset;
            bool fits = is_access(f, i) && (is_global(i) || i->space == CUTE_CODE_SPACE_SHARED) && i->width &&
                        i->width < 16 && (i->access == CUTE_ACCESS_LOAD || i->access == CUTE_ACCESS_STORE) &&
                        !(i->flags & (INST_VOLATILE | INST_TENSOR_LOAD));
            const ssa_value *root = fits && !done[k] ? ssa_address_root(f, i, &offset) : NULL;
            if (!root) continue;
            for (size_t o = k; o < block->count && count < MOST_MEMBERS; o++) {
                const ssa_inst *other = &f->insts[block->first + o];
                int64_t place;
                if (other->flags & INST_BARRIER) break;
                if (done[o] || other->access != i->access || other->space != i->space ||
                    other->width != i->width || other->guard >= 0 || other->flags & INST_VOLATILE ||
                    ssa_address_root(f, other, &place) != root)
                    continue;
                done[o] = true;
                list[count++] = (member){other, place};
            }
            if (count < 2) continue;
            cute_sort(list, count, sizeof *list, compare_offsets);
            for (unsigned first = 0; first < count;) {
                unsigned next = first + 1;
                while (next < count && list[next].offset == list[next - 1].offset + i->width) next++;
                check_adjacent_accesses(c, list + first, next - first);
                first = next;
            }
        }
    }
}

/* ---- copies through registers ---- */

/* The global load whose value is stored, traced through moves and packing. */
static const ssa_inst *find_stored_load(const ssa_function *f, const ssa_operand *o, int depth)
{
    const ssa_value *v = ssa_value_of(f, o);
    if (o->kind != SSA_VAR || v->inst < 0 || depth > 3) return NULL;
    const ssa_inst *i = &f->insts[v->inst];
    if (i->access == CUTE_ACCESS_LOAD) return is_global(i) ? i : NULL;
    if (i->class != CUTE_CODE_MOVE) return NULL;
    for (unsigned u = 0; u < i->use_count; u++) {
        const ssa_inst *from = find_stored_load(f, &i->uses[u], depth + 1);
        if (from) return from;
    }
    return NULL;
}

void find_missed_async(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint32_t loop = ssa_loop_of(f, i);
        if (!is_access(f, i) || i->space != CUTE_CODE_SPACE_SHARED || i->access != CUTE_ACCESS_STORE ||
            i->data < 0 || i->width < 4 || loop == CUTE_NO_LOOP)
            continue;
        const ssa_inst *load = find_stored_load(f, &i->uses[i->data], 0);
        if (!load || !explain_in_loop(f, load, loop)) continue;
        /* An asynchronous copy pays only if a barrier in the loop waits for the tile. */
        bool waits = false;
        for (size_t k = 0; k < f->count && !waits; k++)
            waits = f->insts[k].flags & INST_BARRIER && explain_in_loop(f, &f->insts[k], loop);
        if (!waits) continue;
        double each = explain_cost(f, i) + explain_exposed(c, LATENCY_GLOBAL);
        explain_add_wait(c, load, each * ssa_weight(f, i), NULL,
                         "a %u-byte load stalls the store to shared memory in the same iteration",
                         load->width);
    }
}

/* ---- loop-invariant loads ---- */

/* Other threads may change memory during the loop. */
static bool has_synchronization(const ssa_function *f, uint32_t loop)
{
    for (size_t n = 0; n < f->count; n++)
        if (explain_in_loop(f, &f->insts[n], loop) &&
            (f->insts[n].class == CUTE_CODE_SYNC || f->insts[n].access == CUTE_ACCESS_ATOMIC ||
             f->insts[n].flags & (INST_CALL | INST_WAIT_MBARRIER | INST_WAIT_ASYNC)))
            return true;
    return false;
}

/* An unconditional store of a loop-carried value in the loop itself: an accumulator kept in memory. */
static bool is_accumulator_store(const ssa_function *f, const ssa_inst *i, uint32_t loop)
{
    uint32_t depends = i->data >= 0 ? ssa_operand_depends(f, &i->uses[i->data]) : 0;
    return i->access == CUTE_ACCESS_STORE && i->guard < 0 && i->data >= 0 && depends & DEPENDS_LOOP_CARRIED &&
           i->block < f->flow->block_count && f->flow->blocks[i->block].loop == loop;
}

void find_reloads(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint32_t loop = ssa_loop_of(f, i);
        bool shared = i->space == CUTE_CODE_SPACE_SHARED, load = i->access == CUTE_ACCESS_LOAD;
        if (!is_access(f, i) || (!is_global(i) && !shared) || loop == CUTE_NO_LOOP || f->loops[loop].waits)
            continue;
        if (i->flags & (INST_VOLATILE | INST_ORDERED | INST_TENSOR_LOAD) || i->address < 0) continue;
        if (!load && !is_accumulator_store(f, i, loop)) continue;
        if (explain_address_changes(f, i, loop) || has_synchronization(f, loop)) continue;
        double wait = explain_exposed(c, LATENCY_SHARED) / 2; /* an L1 hit */
        if (load)
            explain_add_wait(c, i, (explain_cost(f, i) + wait) * ssa_weight(f, i), NULL,
                             "the address is computed before the loop and does not change");
        else
            explain_add_wait(c, i, explain_cost(f, i) * ssa_weight(f, i),
                             "accumulate in a local variable and store it after the loop; pointers that may "
                             "alias prevent the compiler from doing so: use __restrict__",
                             "each iteration stores to the same address");
    }
}

/* ---- atomics ---- */

/* ld.global.s8, LDG.E.S8 */
static bool is_signed_load(const ssa_inst *i)
{
    static const char *const words[] = {".s8", ".s16", ".S8", ".S16"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (memmem(i->text, i->length, words[k], strlen(words[k]))) return true;
    return false;
}

/* Bits of a zero-extended loaded value; 64: unknown. */
static int count_loaded_bits(const ssa_function *f, const ssa_operand *o)
{
    for (int hops = 0; hops < 4 && o->kind == SSA_VAR; hops++) {
        const ssa_value *v = ssa_value_of(f, o);
        const ssa_inst *from = v->inst >= 0 ? &f->insts[v->inst] : NULL;
        if (!from) break;
        if (from->access == CUTE_ACCESS_LOAD)
            return from->width && from->width < 4 && !is_signed_load(from) ? from->width * 8 : 64;
        if (from->op != SSA_MOV && from->op != SSA_EXTEND && from->op != SSA_AND) break;
        o = &from->uses[0];
    }
    return 64;
}

/* Upper bound of the distinct addresses of a masked index: base + (x & 15) * 4 has 16. LANES: no bound. */
static int bound_addresses(const ssa_function *f, const ssa_inst *i)
{
    const ssa_operand *o = &i->uses[i->address];
    if (i->address2 >= 0 && !ssa_operand_varies(f, o)) o = &i->uses[i->address2];
    for (int hops = 0; hops < 12 && o->kind == SSA_VAR && !o->inverted; hops++) {
        const ssa_value *v = ssa_value_of(f, o);
        const ssa_operand *next = NULL;
        int bits = LANES;
        if (v->inst < 0) break;
        const ssa_inst *from = &f->insts[v->inst];
        if (from->op == SSA_OTHER || from->op == SSA_SETP) break;
        for (unsigned u = 0; u < from->use_count; u++) {
            const ssa_operand *use = &from->uses[u];
            if (use->kind == SSA_IMM && from->op == SSA_AND) bits = __builtin_popcountll((uint64_t)use->imm);
            /* A LUT that computes a & imm: bits outside imm are 0 in the result. */
            if (use->kind == SSA_IMM && from->op == SSA_LOP3 && u == 1 && from->use_count > 2 &&
                from->uses[2].kind == SSA_IMM && !from->uses[2].imm && !(from->table & 0x11))
                bits = __builtin_popcount((uint32_t)use->imm);
            if (use->kind == SSA_IMM && from->op == SSA_BFE && u == 2)
                bits = use->imm >= 0 && use->imm < 8 ? (int)use->imm : LANES;
            /* The upper bits of a loaded byte or short. */
            if (use->kind == SSA_IMM && from->op == SSA_SHR && u == 1)
                bits = count_loaded_bits(f, &from->uses[0]) -
                       (use->imm >= 0 && use->imm < 32 ? (int)use->imm : 0);
        }
        if (bits < 5) return 1 << bits;
        for (unsigned u = 0; u < from->use_count; u++) {
            if (!ssa_operand_varies(f, &from->uses[u])) continue;
            if (next) return LANES;
            next = &from->uses[u];
        }
        if (!next) break;
        o = next;
    }
    return LANES;
}

/* An increment by 1 in shared memory whose result is unused: the hardware merges lanes with the same address (ATOMS.POPC.INC). */
static bool is_merged_increment(const ssa_function *f, const ssa_inst *i)
{
    if (f->sass) return memmem(i->text, i->length, ".POPC.INC", 9) != NULL;
    if (i->space != CUTE_CODE_SPACE_SHARED || i->data < 0 || !memmem(i->text, i->length, ".add.", 5))
        return false;
    if (i->uses[i->data].kind != SSA_IMM || i->uses[i->data].imm != 1) return false;
    for (size_t n = 0; n < f->count; n++)
        for (unsigned u = 0; u < f->insts[n].use_count; u++) {
            const ssa_operand *o = &f->insts[n].uses[u];
            if (o->kind == SSA_VAR && i->def_count && ssa_value_of(f, o) == &f->values[i->first_value])
                return false;
        }
    return true;
}

void find_contended(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint64_t at[LANES];
        uint32_t active = ssa_active_lanes(f, i);
        int lanes = __builtin_popcount(active);
        bool global = is_global(i), shared = i->space == CUTE_CODE_SPACE_SHARED;
        if (!is_access(f, i) || i->access != CUTE_ACCESS_ATOMIC || (!global && !shared) || lanes < 4 ||
            is_merged_increment(f, i))
            continue;
        bool known = ssa_addresses(f, i, at, &active), varying = ssa_address_varies(f, i);
        double each = (global ? 8 : 4) * ssa_weight(f, i);
        if (!varying) {
            bool all = !(ssa_address_depends(f, i) & DEPENDS_BLOCK);
            explain_add_wait(c, i, each * (lanes - 1), NULL,
                             "%d lanes of each warp update the same address%s", lanes,
                             all && global ? ", as does every block" : "");
        } else if (known) {
            int distinct = explain_distinct_addresses(at, active);
            if (distinct * 2 <= lanes)
                explain_add_wait(c, i, each * (lanes - distinct), NULL,
                                 "%d lanes of each warp update %d addresses", lanes, distinct);
        } else if (bound_addresses(f, i) * 2 <= lanes) {
            int most = bound_addresses(f, i);
            explain_add_wait(c, i, each * (lanes - most), NULL,
                             "%d lanes of each warp update at most %d addresses", lanes, most);
        } else if (global && ssa_address_depends(f, i) & DEPENDS_LOADED) {
            explain_add_wait(
                c, i, each * lanes / 2, NULL,
                "the address depends on loaded data: frequent values serialize the atomics of a warp");
        }
    }
}

/* ---- constants ---- */

void find_divergent_constants(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint64_t at[LANES];
        uint32_t active;
        if (!is_access(f, i) || i->access != CUTE_ACCESS_LOAD || i->space != CUTE_CODE_SPACE_CONST ||
            !ssa_address_varies(f, i))
            continue;
        bool known = ssa_addresses(f, i, at, &active);
        int distinct = explain_constant_addresses(f, i);
        if (distinct < 2) continue;
        explain_add(c, i, (distinct - 1) * WAVEFRONT_COST * ssa_weight(f, i), NULL,
                    known ? "%d different addresses per warp"
                          : "about %d different addresses per warp: the index is loaded or computed per lane",
                    distinct);
    }
}

/* ---- volatile, fences ---- */

/* The value is an operand or a result of arithmetic. */
static bool is_computed_with(const ssa_function *f, const ssa_inst *i)
{
    if (i->access == CUTE_ACCESS_STORE) {
        const ssa_value *v = i->data >= 0 ? ssa_value_of(f, &i->uses[i->data]) : f->values;
        return v->inst >= 0 && f->insts[v->inst].flags & INST_MATH;
    }
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *o = &f->insts[n];
        for (unsigned u = 0; u < o->use_count && (o->flags & INST_MATH || o->access == CUTE_ACCESS_STORE);
             u++)
            if (o->uses[u].kind == SSA_VAR && ssa_value_of(f, &o->uses[u])->inst == i - f->insts) return true;
    }
    return false;
}

void find_volatile(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        if (!is_access(f, i) || !(i->flags & INST_VOLATILE) || !is_computed_with(f, i)) continue;
        bool load = i->access == CUTE_ACCESS_LOAD;
        double wait = load ? explain_exposed(c, i->space == CUTE_CODE_SPACE_SHARED ? 30 : LATENCY_GLOBAL) : 0;
        explain_add_wait(c, i, (explain_cost(f, i) + wait) * ssa_weight(f, i), NULL,
                         "a volatile %s of a value used in arithmetic", load ? "load" : "store");
    }
}

/* membar.gl, fence.acq_rel.gpu, MEMBAR.SC.GPU */
static bool is_gpu_fence(const ssa_inst *i)
{
    static const char *const words[] = {"membar.gl",    "membar.level.gl", "fence.acq_rel.gpu",
                                        "fence.sc.gpu", "MEMBAR.SC.GPU",   "MEMBAR.ALL.GPU"};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        if (memmem(i->text, i->length, words[k], strlen(words[k]))) return true;
    return false;
}

void find_fences(explain_context *c)
{
    const ssa_function *f = c->f;
    for (size_t n = 0; n < f->count; n++) {
        const ssa_inst *i = &f->insts[n];
        uint32_t of = ssa_loop_of(f, i);
        bool loop = of != CUTE_NO_LOOP;
        if (!ssa_is_reached(f, i)) continue;
        if (loop && !f->loops[of].waits && !(i->flags & INST_SYSTEM_FENCE) && is_gpu_fence(i)) {
            explain_add_wait(
                c, i, explain_exposed(c, LATENCY_LOADED) * ssa_weight(f, i),
                "use one fence after the loop if other blocks wait only for its end; within a block, "
                "__threadfence_block() or __syncthreads() is enough",
                "in a loop: each iteration waits until its writes are visible to all blocks");
            continue;
        }
        if (!(i->flags & INST_SYSTEM_FENCE)) continue;
        explain_add_wait(
            c, i, explain_exposed(c, 1500) * ssa_weight(f, i), NULL, "%s",
            loop ? "in a loop: each iteration waits until its writes are visible to the whole system"
                 : "waits until writes are visible to the host and other GPUs");
    }
}
