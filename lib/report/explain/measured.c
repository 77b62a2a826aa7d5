/* Applies measurements: the emulator's counters of a launch, and tables of Nsight Compute (ncu.c) with launch sizes, stall reasons
 * and samples. */
#include "lib/report/explain/measured.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"

/* ---- a launch ---- */

static void read_extent(const json_t *list, int64_t out[3])
{
    for (size_t d = 0; d < 3; d++) {
        int64_t n = json_integer_value(json_array_get(list, d));
        out[d] = n > 0 ? n : 1;
    }
}

bool explain_read_launch(const json_t *report, const char *kernel, code_assumptions *out)
{
    const json_t *launch;
    size_t n;
    *out = (code_assumptions){0};
    json_array_foreach(json_object_get(report, "launches"), n, launch)
    {
        const char *name = json_string_value(json_object_get(launch, "kernel"));
        if (!name || strcmp(name, kernel)) continue;
        read_extent(json_object_get(launch, "grid"), out->grid);
        read_extent(json_object_get(launch, "block"), out->block);
        out->block_from = "launch.json";
        out->dynamic_smem = json_integer_value(json_object_get(launch, "dynamic_smem"));
        return true;
    }
    return false;
}

static void read_pair(const json_t *line, const char *key, double executed, ssa_counters *out)
{
    const json_t *pair = json_object_get(line, key);
    if (!pair) return;
    out->count = json_number_value(json_object_get(pair, "count")) / executed;
    out->ideal = json_number_value(json_object_get(pair, "ideal")) / executed;
}

bool explain_read_counters(cute_arena *arena, const json_t *report, const char *kernel, ssa_function *f)
{
    const json_t *item, *line;
    size_t n, k;
    json_array_foreach(json_object_get(report, "counters"), n, item)
    {
        const char *name = json_string_value(json_object_get(item, "kernel"));
        double threads = json_number_value(json_object_get(item, "threads")), warps = threads / LANES;
        if (!name || strcmp(name, kernel)) continue;
        if (warps < 1) warps = 1;
        size_t at = 0;
        json_array_foreach(json_object_get(item, "lines"), k, line)
        {
            int64_t ptx_line = json_integer_value(json_object_get(line, "ptx_line"));
            double executed = json_number_value(json_object_get(line, "instructions"));
            /* Both lists are in code order; instructions without counters did not run. */
            size_t i = at;
            while (i < f->count && f->insts[i].ptx_line != ptx_line) i++;
            if (i == f->count) continue;
            at = i + 1;
            ssa_counters *counters = cute_arena_alloc(arena, sizeof *counters);
            if (!counters) return false;
            counters->executed = executed / warps;
            if (executed > 0) {
                read_pair(line, "wavefronts", executed, counters);
                read_pair(line, "sectors", executed, counters);
            }
            f->insts[i].counters = counters;
        }
    }
    return true;
}

/* ---- ncu's tables ---- */

void explain_set_launch(const ncu_kernel *measured, code_assumptions *out)
{
    for (int d = 0; d < 3; d++) {
        out->block[d] = measured->block[0] > 0 && measured->block[d] < 1 ? 1 : measured->block[d];
        out->grid[d] = measured->grid[0] > 0 && measured->grid[d] < 1 ? 1 : measured->grid[d];
    }
    out->block_from = "ncu";
    out->dynamic_smem = -1;
}

static int compare_stalls(const void *a, const void *b)
{
    const ncu_stall *x = a, *y = b;
    return (x->value < y->value) - (x->value > y->value);
}

static const char *stalls_text(cute_arena *arena, const ncu_kernel *measured)
{
    ncu_stall list[NCU_REASONS];
    size_t count = ncu_stalls(measured, list);
    double sum = 0;
    cute_buffer text = {0};
    cute_sort(list, count, sizeof *list, compare_stalls);
    for (size_t n = 0; n < count; n++) sum += list[n].value;
    for (size_t n = 0; n < count && n < 3; n++)
        cute_buffer_printf(&text, "%s%.0f %% %s", n ? ", " : "stalls: ", 100 * list[n].value / sum,
                           list[n].text);
    const char *out = count ? cute_arena_copy(arena, cute_buffer_text(&text), text.length) : NULL;
    cute_buffer_release(&text);
    return out;
}

static const char *file_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool same_file(const char *a, const char *b)
{
    return !a || !b || !strcmp(file_base(a), file_base(b));
}

/* A SASS sample belongs to a finding if its instruction has the finding's source line, or waits for the finding's load. */
static bool is_sample_of(const ssa_function *sass, const ncu_sample *s, const explain_place *p)
{
    if (s->address < 0) return p->line && s->line == p->line && same_file(s->file, p->file);
    if (p->address < 0) return false;
    if (s->address == p->used || (s->address >= p->address && s->address <= p->address + 16)) return true;
    for (size_t n = 0; sass && p->file && n < sass->count; n++)
        if (sass->insts[n].sass == s->address)
            return sass->insts[n].file && sass->insts[n].line == p->line &&
                   same_file(sass->insts[n].file, p->file);
    return false;
}

void explain_apply_samples(cute_arena *arena, const ncu_kernel *measured, const ssa_function *sass,
                           explain_kernel *k)
{
    double all = 0;
    k->note = stalls_text(arena, measured);
    for (size_t n = 0; n < measured->count; n++) all += measured->samples[n].count;
    for (size_t n = 0; n < k->count && all > 0; n++) {
        explain_finding *f = &k->findings[n];
        double sum = 0, most = 0;
        bool placed = measured->by_line ? f->place.line > 0 : f->place.address >= 0;
        if (!placed || f->row->view == EXPLAIN_LAUNCH) continue;
        for (size_t m = 0; m < measured->count; m++) {
            const ncu_sample *s = &measured->samples[m];
            if (!(s->count > 0) || !is_sample_of(sass, s, &f->place)) continue;
            sum += s->count;
            if (s->count > most) most = s->count, f->stall = s->stall;
        }
        f->share = sum / all;
        f->measured = true;
    }
}
