/* Runs on several ranks: their memory, their arguments, and the comparison of their copies. */
#include <stdlib.h>
#include <string.h>

#include "cute/emulator.h"
#include "lib/base/diagnostics/diag.h"
#include "lib/launch/data/data.h"
#include "lib/launch/run_child.h"

size_t run_rank_count(const run_child *c)
{
    return (size_t)c->request->config->ranks;
}

cute_status run_make_ranks(run_child *c, cute_diag *diag)
{
    const cute_config *config = c->request->config;
    const cute_plan *plan = c->request->plan;
    size_t ranks = run_rank_count(c);
    c->ranks = cute_arena_array(c->arena, ranks, sizeof *c->ranks);
    if (!c->ranks) return cute_fail_memory(diag);
    for (size_t r = 0; r < ranks; r++) {
        rank_memory *m = &c->ranks[r];
        m->buffers =
            cute_arena_array(c->arena, config->buffer_count + plan->temporary_count + 1, sizeof *m->buffers);
        m->tables = cute_arena_array(c->arena, config->buffer_count + 1, sizeof *m->tables);
        m->params = cute_arena_array(c->arena, plan->main.count + 1, sizeof *m->params);
        if (!m->buffers || !m->tables || !m->params) return cute_fail_memory(diag);
    }
    return run_select_rank(c, 0, diag);
}

cute_status run_select_rank(run_child *c, size_t rank, cute_diag *diag)
{
    c->rank = rank;
    c->buffers = c->ranks[rank].buffers;
    return run_rank_count(c) == 1 ? CUTE_OK : cute_emulator_select(c->device, (int64_t)rank, diag);
}

size_t run_piece(const run_child *c, const config_buffer *buffer, size_t *bytes)
{
    *bytes = (size_t)config_piece(c->request->config, buffer).bytes;
    return buffer->shard ? c->rank * *bytes : 0;
}

const char *run_name(const run_child *c, const char *name)
{
    return run_rank_count(c) == 1 ? name : cute_arena_printf(c->arena, "%s of rank %zu", name, c->rank);
}

/* ---- arguments ---- */

static const plan_sequence *sequence_of(const run_child *c, size_t rank)
{
    return rank ? &c->request->plan->others[rank - 1] : &c->request->plan->main;
}

/* The table with each rank's address of a buffer, in the memory of a rank. */
static cute_status table_of(run_child *c, size_t rank, size_t buffer, cute_address *out, cute_diag *diag)
{
    cute_address all[64];
    size_t ranks = run_rank_count(c), bytes = ranks * sizeof *all;
    cute_address *table = &c->ranks[rank].tables[buffer];
    if (!*table) {
        const cute_tensor *t = &c->request->config->buffers[buffer].tensor;
        cute_address offset = (cute_address)(t->offset * cute_dtype_get(t->dtype)->bytes);
        for (size_t r = 0; r < ranks; r++) all[r] = c->ranks[r].buffers[buffer] + offset;
        CUTE_TRY(run_select_rank(c, rank, diag));
        const char *name = cute_arena_printf(c->arena, "the addresses of %s", t->name);
        const char *full = name ? run_name(c, name) : NULL;
        if (!full) return cute_fail_memory(diag);
        CUTE_TRY(cute_device_alloc(c->device, bytes, table, diag));
        CUTE_TRY(cute_device_upload(c->device, *table, all, bytes, diag));
        if (c->device && run_rank_count(c) > 1)
            CUTE_TRY(cute_emulator_describe_buffer(c->device, *table, full, bytes, true, diag));
    }
    *out = *table;
    return CUTE_OK;
}

static cute_status fill_launch(run_child *c, size_t rank, const plan_launch *launch, void **params,
                               cute_diag *diag)
{
    for (size_t i = 0; i < launch->fixup_count; i++) {
        const plan_fixup *f = &launch->fixups[i];
        cute_address address = 0;
        if (f->kind == FIXUP_PEERS)
            CUTE_TRY(table_of(c, rank, f->index, &address, diag));
        else if (f->peer)
            address = c->ranks[f->peer - 1].buffers[f->index] + (cute_address)f->bytes;
        else
            continue;
        memcpy((uint8_t *)params[f->param] + f->at, &address, sizeof address);
    }
    return CUTE_OK;
}

/* The main run starts the launches, copies and fills of all ranks. */
static cute_status start_together(run_child *c, cute_diag *diag)
{
    size_t others = run_rank_count(c) - 1;
    plan_run *main = &c->sequences[0].run, *runs = cute_arena_array(c->arena, others + 1, sizeof *runs);
    if (!runs) return cute_fail_memory(diag);
    for (size_t r = 0; r < others; r++) {
        runs[r] = *main;
        runs[r].sequence = sequence_of(c, r + 1);
        runs[r].memory = c->ranks[r + 1].buffers;
        runs[r].params = c->ranks[r + 1].params;
    }
    main->others = runs;
    main->other_count = others;
    return CUTE_OK;
}

cute_status run_fill_ranks(run_child *c, uint8_t (*maps)[CUTE_MAP_BYTES], cute_diag *diag)
{
    for (size_t r = 0; r < run_rank_count(c); r++) {
        const plan_sequence *sequence = sequence_of(c, r);
        for (size_t i = 0; i < sequence->count; i++) {
            const plan_launch *launch = &sequence->launches[i];
            void ***params = &c->ranks[r].params[i];
            if (r) {
                CUTE_TRY(cute_plan_copy_params(c->arena, launch, params, diag));
                cute_plan_apply_fixups(launch, *params, c->ranks[r].buffers, maps, c->map_addresses,
                                       c->textures);
            } else {
                *params = c->sequences[0].params[i];
            }
            CUTE_TRY(fill_launch(c, r, launch, *params, diag));
        }
    }
    CUTE_TRY(start_together(c, diag));
    return run_select_rank(c, 0, diag);
}

/* ---- results ---- */

/* Copies a changed guard of another rank to the host's, where overruns are looked for. */
static cute_status download_guard(run_child *c, size_t index, size_t bytes, cute_diag *diag)
{
    const config_buffer *buffer = &c->request->config->buffers[index];
    size_t size = run_guards(c).back;
    uint8_t *host = (uint8_t *)buffer->tensor.data + buffer->tensor.bytes, *own = malloc(size);
    if (!own) return cute_fail_memory(diag);
    cute_status status = cute_device_download(c->device, own, c->buffers[index] + bytes, size, diag);
    uint8_t patterns[2][8];
    size_t width = (size_t)cute_dtype_get(buffer->tensor.dtype)->bytes;
    for (int v = 0; v < 2; v++) cute_dtype_poison(buffer->tensor.dtype, v, patterns[v]);
    for (size_t at = 0; status == CUTE_OK && at + width <= size; at += width)
        for (int v = 0; v < 2; v++)
            if (memcmp(own + at, patterns[v], width) && !memcmp(host + at, patterns[v], width) &&
                memcmp(own + at, patterns[!v], width))
                memcpy(host + at, own + at, width);
    free(own);
    return status;
}

/* Compares the rank's copy with that of the first, which the host has. */
static cute_status compare_copy(run_child *c, size_t index, cute_diag *diag)
{
    const config_buffer *buffer = &c->request->config->buffers[index];
    const cute_tensor *t = &buffer->tensor;
    size_t width = (size_t)cute_dtype_get(t->dtype)->bytes;
    uint8_t *own = malloc((size_t)t->bytes + 1);
    if (!own) return cute_fail_memory(diag);
    cute_status status =
        t->bytes ? cute_device_download(c->device, own, c->buffers[index], (size_t)t->bytes, diag) : CUTE_OK;
    int64_t differing = 0, first = -1;
    for (int64_t i = 0; status == CUTE_OK && i < t->count; i++) {
        size_t at = (size_t)cute_tensor_position(t, i) * width;
        if (!memcmp(own + at, (const uint8_t *)t->data + at, width)) continue;
        if (!differing++) first = i;
    }
    free(own);
    if (!differing) return status;
    cute_buffer text = {0};
    cute_tensor_index_text(t, first, &text);
    cute_document_fail(&c->request->config->document, buffer->path, true, diag,
                       "%lld of %lld elements of %s differ between ranks 0 and %zu, the first at %s",
                       (long long)differing, (long long)t->count, t->name, c->rank, cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_note(diag, NULL,
              "fix: make the copies equal, or give each rank its own elements with \"shard\": true");
    return CUTE_MISMATCH;
}

static cute_status download_buffer(run_child *c, size_t index, cute_diag *diag)
{
    const config_buffer *buffer = &c->request->config->buffers[index];
    bool wanted = buffer->init == INIT_NONE || buffer->checked || buffer->output;
    size_t bytes, at = run_piece(c, buffer, &bytes);
    if (!buffer->global) CUTE_TRY(download_guard(c, index, bytes, diag));
    if (!buffer->shard) return buffer->checked || buffer->output ? compare_copy(c, index, diag) : CUTE_OK;
    if (!wanted || !bytes) return CUTE_OK;
    return cute_device_download(c->device, (char *)buffer->tensor.data + at, c->buffers[index], bytes, diag);
}

cute_status run_download_ranks(run_child *c, cute_diag *diag)
{
    cute_status status = CUTE_OK;
    for (size_t r = 1; r < run_rank_count(c); r++) {
        CUTE_TRY(run_select_rank(c, r, diag));
        for (size_t i = 0; i < c->request->config->buffer_count; i++) {
            cute_status one = download_buffer(c, i, diag);
            if (one != CUTE_OK && one != CUTE_MISMATCH) return one;
            if (one != CUTE_OK) status = one;
            run_progress(c);
        }
    }
    CUTE_TRY(run_select_rank(c, 0, diag));
    return status;
}
