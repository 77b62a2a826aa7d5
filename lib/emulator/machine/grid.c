/* A launch. Machines, one per host thread, take its clusters in grid order. Shared state is here: the next
 * cluster, the capacity of the device, the output of the kernel, the first failure. */
#include <pthread.h>
#include <stdlib.h>

#include "lib/base/devices/devices.h"
#include "lib/base/devices/multiprocessor.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/emulator/machine/schedule.h"

enum {
    CHECKED_PLACES = 256, /* checks keep much state per running cluster */
    THREAD_LIMIT = 64
};

/* Output of a cluster that ended before an earlier one. */
typedef struct output {
    struct output *next;
    uint64_t index;
    cute_buffer text;
} output;

struct em_grid {
    const em_launch *launch;
    em_machine *machines;
    uint32_t threads, limit; /* limit: clusters that run concurrently, on each device */
    uint32_t devices;
    uint64_t each;  /* clusters of a device */
    uint64_t total; /* of all devices that take part */
    bool prints, cooperative;
    atomic_ullong next, first_failed; /* first_failed: UINT64_MAX: none */
    atomic_uint resident;
    atomic_bool deadlock, given_up, late; /* of all machines */
    pthread_mutex_t lock;                 /* guards the fields below, and the launch's functions */
    struct {
        uint64_t next;       /* its next cluster */
        uint32_t resident;   /* its running clusters */
    } of_device[EM_DEVICES]; /* if there are several */
    uint64_t front;          /* the first cluster that has not ended; its output is printed at once */
    output *outputs;         /* by cluster index */
};

/* ---- clusters ---- */

/* The next cluster of the device that has started the fewest; with a seed, of any device. */
static bool take_of_devices(em_machine *m, uint64_t *index)
{
    em_grid *g = m->grid;
    bool shuffled = g->launch->options.seed != 0;
    uint32_t first = shuffled ? (uint32_t)(em_random(m) % g->devices) : 0, best = g->devices;
    if (atomic_load(&g->first_failed) != UINT64_MAX) return false;
    for (uint32_t n = 0; n < g->devices; n++) {
        uint32_t d = (first + n) % g->devices;
        if (g->of_device[d].next == g->each || g->of_device[d].resident >= g->limit) continue;
        if (best == g->devices || (!shuffled && g->of_device[d].next < g->of_device[best].next)) best = d;
    }
    if (best == g->devices) return false;
    *index = g->of_device[best].next++ * g->devices + best;
    g->of_device[best].resident++;
    atomic_fetch_add(&g->next, 1);
    atomic_fetch_add(&g->resident, 1);
    return true;
}

bool em_grid_take(em_machine *m, uint64_t *index)
{
    em_grid *g = m->grid;
    if (g->devices > 1) return take_of_devices(m, index);
    if (m->running && atomic_load(&g->resident) >= g->limit && !g->cooperative) return false;
    unsigned long long next = atomic_load(&g->next);
    do {
        if (next >= g->total || next > atomic_load(&g->first_failed)) return false;
    } while (!atomic_compare_exchange_weak(&g->next, &next, next + 1));
    atomic_fetch_add(&g->resident, 1);
    *index = next;
    return true;
}

bool em_grid_has_failed(const em_machine *m)
{
    return m->parallel && atomic_load(&m->grid->first_failed) != UINT64_MAX;
}

bool em_grid_is_over(const em_machine *m)
{
    if (!m->parallel) return false;
    if (atomic_load(&m->grid->deadlock) || atomic_load(&m->grid->given_up)) return true;
    uint64_t failed = atomic_load(&m->grid->first_failed);
    if (failed == UINT64_MAX) return false;
    for (uint32_t c = 0; c < m->cluster_count; c++)
        if (m->clusters[c].running && m->clusters[c].index < failed) return false;
    return true;
}

uint64_t em_grid_changes(const em_machine *m)
{
    if (!m->parallel) return m->changes;
    uint64_t sum = 0;
    for (uint32_t n = 0; n < m->grid->threads; n++)
        sum += &m->grid->machines[n] == m ? m->changes : atomic_load(&m->grid->machines[n].published);
    return sum;
}

void em_grid_stuck(em_machine *m, uint64_t changes)
{
    em_grid *g = m->grid;
    if (m->parallel) {
        atomic_store(&m->published, m->changes);
        atomic_store(&m->stuck, changes + 1);
        for (uint32_t n = 0; n < g->threads; n++)
            if (!atomic_load(&g->machines[n].ended) && atomic_load(&g->machines[n].stuck) != changes + 1)
                return;
        if (em_grid_changes(m) != changes) return;
    }
    atomic_store(&g->deadlock, true);
    m->failed = true;
}

void em_grid_give_up(em_machine *m, bool late)
{
    if (late) atomic_store(&m->grid->late, true);
    atomic_store(&m->grid->given_up, true);
    m->failed = true;
}

void em_grid_deadlock(const em_machine *m, cute_diag *diag)
{
    cute_fail(diag, CUTE_INVALID, NULL, "deadlock: no warp of kernel '%s' can proceed",
              m->launch->kernel->name);
}

/* ---- output of the kernel ---- */

static void print_output(em_grid *g, cute_buffer *text)
{
    if (text->length && g->launch->options.print)
        g->launch->options.print(g->launch->options.context, cute_buffer_text(text), text->length);
    cute_buffer_release(text);
}

void em_grid_print(em_warp *w, const char *text, size_t length)
{
    em_grid *g = w->machine->grid;
    em_cluster *c = w->block->cluster;
    pthread_mutex_lock(&g->lock);
    if (g->cooperative || c->index == g->front) {
        print_output(g, &c->output);
        if (g->launch->options.print) g->launch->options.print(g->launch->options.context, text, length);
    } else {
        cute_buffer_append(&c->output, text, length);
    }
    pthread_mutex_unlock(&g->lock);
}

static void keep_output(em_grid *g, em_cluster *c)
{
    output **at = &g->outputs, *o = malloc(sizeof *o);
    if (!o) {
        print_output(g, &c->output); /* out of order, but not lost */
        return;
    }
    while (*at && (*at)->index < c->index) at = &(*at)->next;
    *o = (output){.next = *at, .index = c->index, .text = c->output};
    c->output = (cute_buffer){0};
    *at = o;
}

/* The index after this one of a device that takes part. */
static uint64_t index_after(const em_grid *g, uint64_t index)
{
    do index++;
    while (g->devices > 1 && !em_launched_on(g->launch, (uint32_t)(index % g->devices)));
    return index;
}

/* Prints the output of finished clusters at the front, up to cluster `last`. */
static void print_front(em_grid *g, uint64_t last)
{
    while (g->outputs && g->outputs->index <= last) {
        output *o = g->outputs;
        g->outputs = o->next;
        print_output(g, &o->text);
        free(o);
    }
}

void em_grid_ended(em_machine *m, em_cluster *c)
{
    em_grid *g = m->grid;
    atomic_fetch_sub(&g->resident, 1);
    if (g->devices > 1) g->of_device[c->device].resident--;
    if (!g->prints || g->cooperative) return;
    pthread_mutex_lock(&g->lock);
    keep_output(g, c);
    while (g->outputs && g->outputs->index == g->front) {
        print_front(g, g->front);
        g->front = index_after(g, g->front);
    }
    pthread_mutex_unlock(&g->lock);
}

/* After a failure: prints the output up to the failed cluster. */
static void print_rest(em_grid *g, uint64_t last)
{
    for (uint32_t n = 0; n < g->threads; n++)
        for (uint32_t c = 0; c < g->machines[n].cluster_count; c++)
            if (g->machines[n].clusters[c].running) keep_output(g, &g->machines[n].clusters[c]);
    print_front(g, last);
    for (output *o = g->outputs, *next; o; o = next) {
        next = o->next;
        cute_buffer_release(&o->text);
        free(o);
    }
    g->outputs = NULL;
}

void em_grid_heartbeat(em_machine *m)
{
    em_grid *g = m->grid;
    if (!g->launch->options.heartbeat) return;
    pthread_mutex_lock(&g->lock);
    g->launch->options.heartbeat(g->launch->options.context);
    pthread_mutex_unlock(&g->lock);
}

void em_grid_lock(em_machine *m)
{
    if (m->parallel) pthread_mutex_lock(&m->grid->lock);
}

void em_grid_unlock(em_machine *m)
{
    if (m->parallel) pthread_mutex_unlock(&m->grid->lock);
}

/* ---- the launch ---- */

static bool has_function(const em_program *program, const char *name)
{
    for (size_t n = 0; n < program->function_count; n++)
        if (!strcmp(program->functions[n]->name, name)) return true;
    return false;
}

/* One thread if kernels allocate, because that changes the list of allocations. */
static uint32_t thread_count(const em_launch *l, uint64_t total)
{
    bool hooked = l->hooks.access || l->hooks.event || l->hooks.step;
    if (hooked || l->cooperative || l->options.seed || em_devices(l) > 1 ||
        has_function(l->program, "malloc") || has_function(l->program, "free"))
        return 1;
    int64_t wanted = l->options.threads;
    uint32_t threads = wanted < 1 ? 1 : wanted > THREAD_LIMIT ? THREAD_LIMIT : (uint32_t)wanted;
    return threads < total ? threads : (uint32_t)total;
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* The number of clusters resident on the device at a time. */
static uint32_t resident_clusters(const em_launch *l, uint32_t shared, uint32_t cluster)
{
    uint32_t threads = (l->block[0] * l->block[1] * l->block[2] + EM_LANES - 1) / EM_LANES * EM_LANES;
    const cute_multiprocessor *sm = cute_multiprocessor_of(CUTE_GPU_USUAL_ARCH);
    uint32_t blocks = least((uint32_t)sm->blocks, (uint32_t)sm->warps * EM_LANES / threads);
    blocks = least(blocks, (uint32_t)sm->shared / (shared + EM_SHARED_RESERVED));
    int64_t multiprocessors = l->options.multiprocessors ? l->options.multiprocessors
                                                         : cute_gpu_multiprocessors(CUTE_GPU_USUAL_ARCH);
    uint32_t clusters = (blocks ? blocks : 1) * (uint32_t)multiprocessors / cluster;
    return clusters ? clusters : 1;
}

static bool make_machine(em_grid *g, em_machine *m, uint32_t places, uint32_t made, cute_diag *diag)
{
    const em_launch *l = g->launch;
    *m = (em_machine){.grid = g,
                      .launch = l,
                      .program = l->program,
                      .code = l->program->code,
                      .random = (uint64_t)l->options.seed,
                      .diag = diag,
                      .parallel = g->threads > 1,
                      .width = places,
                      .failed_at = UINT64_MAX};
    m->pending_end = &m->pending;
    m->shared_static = (uint32_t)em_static_shared(l->kernel);
    for (int d = 0; d < 3; d++) m->cluster_shape[d] = l->cluster[d] ? l->cluster[d] : 1;
    m->tally = l->tally;
    if (l->tally && m->parallel) m->tally = calloc(l->program->count, sizeof *m->tally);
    if (l->tally && !m->tally) return false;
    m->clusters = calloc(places, sizeof *m->clusters);
    if (!m->clusters) return false;
    while (m->cluster_count < made) {
        if (!em_make_cluster(m, &m->clusters[m->cluster_count])) return false;
        m->cluster_count++;
    }
    return true;
}

static void release_machine(em_machine *m)
{
    for (em_pending *p = m->pending, *next; p; p = next) {
        next = p->next;
        free(p);
    }
    for (uint32_t c = 0; m->clusters && c < m->cluster_count; c++) em_release_cluster(&m->clusters[c]);
    free(m->clusters);
    if (m->tally != m->launch->tally) free(m->tally);
}

static void *run_machine(void *argument)
{
    em_machine *m = argument;
    em_grid *g = m->grid;
    em_run_clusters(m);
    if (m->failed && m->failed_at != UINT64_MAX) {
        unsigned long long first = atomic_load(&g->first_failed);
        while (m->failed_at < first &&
               !atomic_compare_exchange_weak(&g->first_failed, &first, m->failed_at)) {
        }
    }
    atomic_store(&m->published, m->changes);
    atomic_store(&m->ended, true);
    return NULL;
}

static void run_machines(em_grid *g)
{
    pthread_t started[THREAD_LIMIT];
    uint32_t running = 1;
    for (uint32_t n = 1; n < g->threads; n++) atomic_store(&g->machines[n].ended, true);
    for (; running < g->threads; running++) {
        atomic_store(&g->machines[running].ended, false);
        if (pthread_create(&started[running], NULL, run_machine, &g->machines[running]) != 0) {
            atomic_store(&g->machines[running].ended, true);
            break;
        }
    }
    run_machine(&g->machines[0]);
    for (uint32_t n = 1; n < running; n++) pthread_join(started[n], NULL);
}

/* The workspace that the driver passes to a cooperative launch in %envreg1 and 2: its first word is its size,
 * its second the grid barrier (cooperative_groups/details/driver_abi.h of the CUDA toolkit). */
static bool make_workspaces(em_machine *m)
{
    enum { BYTES = 256 };
    uint32_t words[BYTES / 4] = {BYTES};
    for (uint32_t d = 0; d < em_devices(m->launch); d++) {
        if (!em_memory_alloc(m->launch->memory, BYTES, &m->workspaces[d])) return false;
        memcpy(em_memory_find(m->launch->memory, m->workspaces[d])->host, words, BYTES);
    }
    return true;
}

/* For structs that consist of 64-bit numbers only. */
static void add_counts(void *sum, const void *more, size_t size)
{
    uint64_t *to = sum;
    const uint64_t *from = more;
    for (size_t n = 0; n < size / sizeof *to; n++) to[n] += from[n];
}

/* The launch reports the messages of the machine whose failed cluster is first in the grid. */
static cute_status finish_launch(em_grid *g, cute_emulator_counts *counts, cute_diag *diag)
{
    em_machine *first = NULL;
    for (uint32_t n = 0; n < g->threads; n++) {
        em_machine *m = &g->machines[n];
        if (counts) add_counts(counts, &m->counts, sizeof *counts);
        if (m->tally != g->launch->tally)
            add_counts(g->launch->tally, m->tally, g->launch->program->count * sizeof *m->tally);
        if (m->failed && (!first || m->failed_at < first->failed_at)) first = m;
    }
    if (!first) return CUTE_OK;
    bool all = atomic_load(&g->deadlock), given_up = !all && atomic_load(&g->given_up);
    print_rest(g, all || given_up || g->cooperative ? UINT64_MAX : first->failed_at);
    if (all) em_grid_deadlock(first, diag);
    if (given_up && atomic_load(&g->late)) {
        cute_fail(diag, CUTE_INVALID, NULL, "kernel '%s' did not end within %g s and was stopped",
                  g->launch->kernel->name, g->launch->options.timeout);
        unsigned long long begun = atomic_load(&g->next);
        if (begun < g->total)
            cute_note(diag, NULL, "%llu of %llu clusters or blocks had started", begun,
                      (unsigned long long)g->total);
        cute_note(diag, NULL, "--timeout SECONDS allows more time");
        em_show_places(g->machines, g->threads, diag);
        return CUTE_INVALID;
    }
    if (given_up) {
        cute_fail(diag, CUTE_INVALID, NULL,
                  "kernel '%s' made no progress for %g s (no memory written) and was stopped",
                  g->launch->kernel->name, g->launch->options.patience);
        cute_note(diag, NULL, "--timeout SECONDS allows more time");
    }
    if (all || given_up) {
        em_explain_waits(g->machines, g->threads, all ? g->total - atomic_load(&g->next) : 0, diag);
        return CUTE_INVALID;
    }
    for (size_t i = 0; first->diag != diag && i < cute_diag_count(first->diag); i++)
        cute_diag_append(diag, cute_diag_get(first->diag, i));
    return CUTE_INVALID;
}

cute_status em_run_grid(const em_launch *l, cute_emulator_counts *counts, cute_diag *diag)
{
    uint64_t total = 1;
    uint32_t blocks = 1, running = 0;
    if (counts) *counts = (cute_emulator_counts){0};
    for (int d = 0; d < 3; d++) {
        uint32_t shape = l->cluster[d] ? l->cluster[d] : 1;
        if (!l->grid[d] || !l->block[d] || l->grid[d] % shape)
            return cute_fail(diag, CUTE_INVALID, NULL,
                             "a grid of %ux%ux%u blocks is not divisible by its cluster", l->grid[0],
                             l->grid[1], l->grid[2]);
        total *= l->grid[d] / shape;
        blocks *= shape;
    }
    em_grid grid = {.launch = l,
                    .each = total,
                    .total = total,
                    .devices = em_devices(l),
                    .threads = thread_count(l, total),
                    .cooperative = l->cooperative,
                    .prints = has_function(l->program, "vprintf"),
                    .lock = PTHREAD_MUTEX_INITIALIZER};
    em_grid *g = &grid;
    for (uint32_t d = 0; g->devices > 1 && d < g->devices; d++) {
        if (em_launched_on(l, d))
            running++;
        else
            g->of_device[d].next = g->each;
    }
    if (running) g->total *= running;
    if (g->devices > 1 && !em_launched_on(l, 0)) g->front = index_after(g, 0);
    atomic_store(&g->first_failed, UINT64_MAX);
    bool hooked = l->hooks.access || l->hooks.event || l->hooks.step;
    g->limit = resident_clusters(l, (uint32_t)em_static_shared(l->kernel) + l->dynamic_shared, blocks);
    if (l->cooperative && g->limit < total)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "cooperative launch of %llu clusters exceeds the %u that fit on an H100",
                         (unsigned long long)total, g->limit);
    if (hooked && !l->cooperative) g->limit = least(g->limit, CHECKED_PLACES / g->devices);
    if (g->limit > total) g->limit = (uint32_t)total;
    uint32_t places = g->limit * g->devices, made = l->cooperative ? places : 1;
    g->machines = aligned_alloc(_Alignof(em_machine), g->threads * sizeof *g->machines);
    bool ok = g->machines != NULL;
    if (ok) memset(g->machines, 0, g->threads * sizeof *g->machines);
    for (uint32_t n = 0; ok && n < g->threads; n++) {
        cute_diag *own = g->threads > 1 ? cute_diag_create() : diag;
        ok = (own || g->threads == 1) && make_machine(g, &g->machines[n], places, made, own);
    }
    if (ok && l->cooperative) ok = make_workspaces(&g->machines[0]);
    cute_status status = CUTE_OK;
    if (ok) {
        run_machines(g);
        status = finish_launch(g, counts, diag);
        em_tell(EM_E_END, &g->machines[0].clusters[0].blocks[0].warps[0], NULL, 0, 0, 0);
    } else {
        cute_fail_memory(diag);
        status = CUTE_SYSTEM;
    }
    for (uint32_t n = 0; g->machines && n < g->threads; n++) {
        em_machine *m = &g->machines[n];
        for (uint32_t d = 0; d < EM_DEVICES; d++)
            if (m->workspaces[d]) em_memory_free(l->memory, m->workspaces[d]);
        if (m->diag != diag) cute_diag_destroy(m->diag);
        release_machine(m);
    }
    free(g->machines);
    return status;
}
