/* Clusters of the machine: allocation, start and end; reporting of faults. */
#include "lib/emulator/machine/machine.h"

#include <stdio.h>
#include <stdlib.h>

#include "lib/base/numbers/mix.h"
#include "lib/emulator/machine/control.h"
#include "lib/emulator/machine/schedule.h"

enum { FRAME_SLACK = 1 << 14 };

uint64_t em_random(em_machine *m)
{
    return cute_mix(m->random += CUTE_MIX_STEP);
}

/* ---- faults ---- */

static void say_where(em_machine *m, const em_warp *w, const em_inst *i, int lane)
{
    const em_program *program = m->program;
    const em_block *b = w->block;
    const em_function *f = m->launch->kernel;
    uint32_t thread = w->index * EM_LANES + (uint32_t)(lane < 0 ? 0 : lane);
    const uint32_t *n = m->launch->block;
    cute_buffer text = {0};
    cute_buffer_printf(&text, "in kernel '%s', ", f->name);
    if (em_devices(m->launch) > 1) cute_buffer_printf(&text, "rank %u, ", b->cluster->device);
    cute_buffer_printf(&text, "block (%u, %u, %u), ", b->ctaid[0], b->ctaid[1], b->ctaid[2]);
    if (lane < 0)
        cute_buffer_printf(&text, "warp %u", w->index);
    else
        cute_buffer_printf(&text, "thread (%u, %u, %u)", thread % n[0], thread / n[0] % n[1],
                           thread / n[0] / n[1]);
    const em_loc *loc = em_loc_of(program, i);
    if (loc) cute_buffer_printf(&text, ", at %s:%u:%u", loc->file, loc->line, loc->column);
    cute_note(m->diag, NULL, "%s", cute_buffer_text(&text));
    cute_buffer_release(&text);
}

void em_fault(em_warp *w, const em_inst *i, int lane, const char *format, ...)
{
    em_machine *m = w->machine;
    w->stop = EM_FAULT;
    if (m->failed) return;
    m->failed = true;
    m->failed_at = w->block->cluster->index;
    cute_place place = em_place(m->program, i);
    va_list args;
    va_start(args, format);
    cute_vreport(m->diag, CUTE_ERROR, &place, format, args);
    va_end(args);
    say_where(m, w, i, lane);
}

/* ---- barriers of the whole block or cluster ---- */

void em_barrier_complete(em_block *block)
{
    for (int n = 0; n < EM_BARRIERS; n++) {
        em_barrier *b = &block->barriers[n];
        uint32_t wanted = b->expected ? b->expected : block->alive;
        if (!b->arrived || b->arrived < wanted) continue;
        b->arrived = 0;
        b->expected = 0;
        b->generation++;
        em_tell(EM_E_BARRIER_COMPLETE, &block->warps[0], NULL, 0, (uint64_t)n, 0);
        b->result_and = b->red_and;
        b->result_or = b->red_or;
        b->result_count = b->red_count;
        b->red_and = UINT32_MAX;
        b->red_or = b->red_count = 0;
        block->machine->changes++;
        block->machine->counts.barriers++;
    }
}

void em_cluster_complete(em_cluster *cluster)
{
    if (!cluster->arrived || cluster->arrived < cluster->alive) return;
    cluster->arrived = 0;
    cluster->generation++;
    em_tell(EM_E_CLUSTER_COMPLETE, &cluster->blocks[0].warps[0], NULL, 0, 0, 0);
    cluster->blocks[0].machine->changes++;
}

bool em_cluster_waits(const em_warp *w, uint32_t mask)
{
    for (; mask; mask &= mask - 1)
        if (w->cluster_generation[__builtin_ctz(mask)] == w->block->cluster->generation) return true;
    return false;
}

/* ---- setting up ---- */

static void release_block(em_block *b)
{
    for (uint32_t n = 0; b->warps && n < b->warp_count; n++) {
        for (em_frame *v = b->warps[n].frames, *next; v; v = next) {
            next = v->next;
            free(v->registers);
            free(v);
        }
        free(b->warps[n].local);
    }
    free(b->warps);
    free(b->shared);
    free(b->pool);
}

static bool make_warp(em_machine *m, em_block *b, uint32_t index)
{
    em_warp *w = &b->warps[index];
    const em_function *kernel = m->launch->kernel;
    int64_t frames = kernel->stack_bytes;
    w->block = b;
    w->machine = m;
    w->index = index;
    w->free_frames = em_make_frame(w, kernel);
    if (!w->free_frames) return false;
    if (m->program->calls) {
        frames = FRAME_SLACK;
        for (size_t f = 0; f < m->program->function_count; f++)
            if (m->program->functions[f]->stack_bytes < 1 << 20)
                frames += m->program->functions[f]->stack_bytes;
            else if (m->program->functions[f] == kernel)
                frames += kernel->stack_bytes;
    }
    w->local_size = frames;
    if (frames) w->local = calloc(EM_LANES, (size_t)frames);
    return !frames || w->local;
}

static bool make_pool(em_machine *m, em_block *b)
{
    const em_program *program = m->program;
    b->pool = aligned_alloc(64, ((size_t)program->pool_length + 127) / 64 * 64);
    if (!b->pool) return false;
    if (program->pool_length) memcpy(b->pool, program->pool, program->pool_length);
    for (size_t n = 0; n < program->reloc_count; n++) {
        const em_reloc *r = &program->relocs[n];
        int64_t offset = 0; /* of other kernels, whose code does not run */
        em_shared_offset(m->launch->kernel, r->variable, &offset);
        uint64_t value =
            (uint64_t)(offset + EM_SHARED_RESERVED + r->offset) + ((uint64_t)b->rank << EM_RANK_SHIFT);
        em_splat(b->pool + r->at, r->bytes, value, 0);
    }
    return true;
}

/* Each device has its own copy of the module's variables. */
static void use_variables_of_device(const em_machine *m, const em_cluster *c)
{
    const em_program *program = m->program;
    uint64_t shift = m->launch->device_shifts ? m->launch->device_shifts[c->device] : 0;
    for (size_t n = 0; m->launch->device_shifts && n < program->address_count; n++) {
        const em_reloc *r = &program->addresses[n];
        for (uint32_t b = 0; b < c->count; b++)
            em_splat(c->blocks[b].pool + r->at, r->bytes, r->variable->address + (uint64_t)r->offset + shift,
                     0);
    }
}

/* Padding in front of dynamic arrays that need a larger alignment than their offset has. */
static uint32_t dynamic_padding(const em_machine *m)
{
    const em_function *kernel = m->launch->kernel;
    int64_t most = 0;
    for (size_t n = 0; n < kernel->shared_place_count; n++) {
        const em_shared_place *place = &kernel->shared_places[n];
        int64_t padding = place->offset - m->shared_static;
        if (place->variable->dynamic && padding > most) most = padding;
    }
    return (uint32_t)most;
}

void em_release_cluster(em_cluster *c)
{
    for (uint32_t r = 0; c->blocks && r < c->count; r++) release_block(&c->blocks[r]);
    free(c->blocks);
    cute_buffer_release(&c->output);
    *c = (em_cluster){0};
}

static bool make_blocks(em_machine *m, em_cluster *c)
{
    const em_launch *l = m->launch;
    c->count = m->cluster_shape[0] * m->cluster_shape[1] * m->cluster_shape[2];
    c->blocks = calloc(c->count, sizeof *c->blocks);
    if (!c->blocks) return false;
    for (uint32_t r = 0; r < c->count; r++) {
        em_block *b = &c->blocks[r];
        b->machine = m;
        b->cluster = c;
        b->rank = r;
        b->threads = l->block[0] * l->block[1] * l->block[2];
        b->warp_count = (b->threads + EM_LANES - 1) / EM_LANES;
        b->shared_size = m->shared_static + dynamic_padding(m) + l->dynamic_shared;
        b->shared = aligned_alloc(1024, ((size_t)b->shared_size + 2047) / 1024 * 1024);
        b->warps = calloc(b->warp_count, sizeof *b->warps);
        if (!b->shared || !b->warps || !make_pool(m, b)) return false;
        for (uint32_t n = 0; n < b->warp_count; n++)
            if (!make_warp(m, b, n)) return false;
    }
    return true;
}

bool em_make_cluster(em_machine *m, em_cluster *c)
{
    if (make_blocks(m, c)) return true;
    em_release_cluster(c);
    return false;
}

static void set_special(em_warp *w, em_sreg which, uint32_t value)
{
    for (int l = 0; l < EM_LANES; l++) w->sregs[(uint32_t)which * EM_LANES + (uint32_t)l] = value;
}

static void set_triple(em_warp *w, em_sreg first, const uint32_t v[3])
{
    for (int d = 0; d < 3; d++) set_special(w, (em_sreg)((int)first + d), v[d]);
}

static void begin_warp(em_machine *m, em_block *b, em_warp *w, const uint32_t in_cluster[3],
                       const uint32_t cluster_id[3], const uint32_t clusters[3])
{
    const em_launch *l = m->launch;
    em_frame *kernel = NULL;
    for (em_frame **at = &w->free_frames; *at; at = &(*at)->up)
        if ((*at)->function == l->kernel) {
            kernel = *at;
            *at = kernel->up;
            break;
        }
    kernel->up = NULL;
    uint32_t first = w->index * EM_LANES, count = b->threads - first;
    w->alive = w->started = count >= EM_LANES ? UINT32_MAX : (1u << count) - 1;
    memset(w->splits, 0, sizeof w->splits);
    w->splits[0] = (em_split){.pc = l->kernel->start,
                              .rpc = UINT32_MAX,
                              .rdepth = -1,
                              .mask = w->alive,
                              .parent = -1,
                              .frame = kernel,
                              .live = true};
    w->base[EM_BASE_CONSTANTS] = b->pool;
    w->base[EM_BASE_SREGS] = (uint8_t *)w->sregs;
    b->wgmma_issued[w->index] = 0;
    w->wgmma_groups = 0;
    memset(w->copy_groups, 0, sizeof w->copy_groups);
    memset(w->bulk_groups, 0, sizeof w->bulk_groups);
    w->cluster_arrived = 0;
    w->high = 1;
    for (int k = 0; k < EM_LANES; k++) w->stack_top[k] = w->local_size;
    em_use_split(w, 0);
    for (uint32_t lane = 0; lane < EM_LANES; lane++) {
        uint32_t t = first + lane;
        w->sregs[EM_SREG_tid_x * EM_LANES + lane] = t % l->block[0];
        w->sregs[EM_SREG_tid_y * EM_LANES + lane] = t / l->block[0] % l->block[1];
        w->sregs[EM_SREG_tid_z * EM_LANES + lane] = t / l->block[0] / l->block[1];
        w->sregs[EM_SREG_laneid * EM_LANES + lane] = lane;
        w->sregs[EM_SREG_lanemask_eq * EM_LANES + lane] = 1u << lane;
        w->sregs[EM_SREG_lanemask_lt * EM_LANES + lane] = (1u << lane) - 1;
        w->sregs[EM_SREG_lanemask_le * EM_LANES + lane] = (2u << lane) - 1;
        w->sregs[EM_SREG_lanemask_gt * EM_LANES + lane] = ~((2u << lane) - 1);
        w->sregs[EM_SREG_lanemask_ge * EM_LANES + lane] = ~((1u << lane) - 1);
    }
    set_triple(w, EM_SREG_ntid_x, l->block);
    set_triple(w, EM_SREG_ctaid_x, b->ctaid);
    set_triple(w, EM_SREG_nctaid_x, l->grid);
    set_triple(w, EM_SREG_clusterid_x, cluster_id);
    set_triple(w, EM_SREG_nclusterid_x, clusters);
    set_triple(w, EM_SREG_cluster_ctaid_x, in_cluster);
    set_triple(w, EM_SREG_cluster_nctaid_x, m->cluster_shape);
    set_special(w, EM_SREG_cluster_ctarank, b->rank);
    set_special(w, EM_SREG_cluster_nctarank, b->cluster->count);
    set_special(w, EM_SREG_warpid, w->index);
    set_special(w, EM_SREG_nwarpid, 64);
    set_special(w, EM_SREG_smid, 0);
    set_special(w, EM_SREG_nsmid, 1);
    set_special(w, EM_SREG_total_smem, b->shared_size + EM_SHARED_RESERVED);
    set_special(w, EM_SREG_aggr_smem, (b->shared_size + EM_SHARED_RESERVED) * b->cluster->count);
    set_special(w, EM_SREG_dynamic_smem, l->dynamic_shared);
    set_special(w, EM_SREG_reserved_begin, 0);
    set_special(w, EM_SREG_reserved_end, EM_SHARED_RESERVED);
    set_special(w, EM_SREG_reserved_cap, EM_SHARED_RESERVED);
    set_special(w, EM_SREG_reserved_0, 0);
    set_special(w, EM_SREG_reserved_1, EM_SCRATCH);
}

void em_begin_cluster(em_machine *m, em_cluster *c, uint64_t index)
{
    const em_launch *l = m->launch;
    uint32_t clusters[3], id[3], devices = em_devices(l);
    uint64_t number = index / devices;
    for (int d = 0; d < 3; d++) clusters[d] = l->grid[d] / m->cluster_shape[d];
    id[0] = (uint32_t)(number % clusters[0]);
    id[1] = (uint32_t)(number / clusters[0] % clusters[1]);
    id[2] = (uint32_t)(number / clusters[0] / clusters[1]);
    c->device = (uint32_t)(index % devices);
    use_variables_of_device(m, c);
    c->arrived = c->generation = c->alive = c->live_warps = 0;
    c->index = index;
    c->running = true;
    m->running++;
    for (uint32_t r = 0; r < c->count; r++) {
        em_block *b = &c->blocks[r];
        const uint32_t *shape = m->cluster_shape;
        uint32_t in[3] = {r % shape[0], r / shape[0] % shape[1], r / shape[0] / shape[1]};
        for (int d = 0; d < 3; d++) b->ctaid[d] = id[d] * shape[d] + in[d];
        memset(b->shared, 0xff, b->shared_size);
        memset(b->scratch, 0, sizeof b->scratch);
        memset(b->barriers, 0, sizeof b->barriers);
        for (int n = 0; n < EM_BARRIERS; n++) b->barriers[n].red_and = UINT32_MAX;
        b->alive = b->threads;
        c->alive += b->threads;
        c->live_warps += b->warp_count;
        for (uint32_t n = 0; n < b->warp_count; n++) begin_warp(m, b, &b->warps[n], in, id, clusters);
    }
    em_tell(EM_E_BEGIN, &c->blocks[0].warps[0], NULL, 0, index, 0);
}

/* Returns all frames, including those of functions in which threads exited, for the next blocks. */
void em_end_cluster(em_machine *m, em_cluster *c)
{
    c->running = false;
    m->running--;
    for (uint32_t r = 0; r < c->count; r++)
        for (uint32_t n = 0; n < c->blocks[r].warp_count; n++) {
            em_warp *w = &c->blocks[r].warps[n];
            w->free_frames = NULL;
            for (em_frame *frame = w->frames; frame; frame = frame->next) {
                frame->up = w->free_frames;
                w->free_frames = frame;
            }
            memset(w->splits, 0, sizeof w->splits);
        }
}
