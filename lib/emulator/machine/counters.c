/* Counters of kernels: one element per instruction, totalled by class and space. */
#include "lib/emulator/machine/counters.h"
#include "lib/emulator/machine/work.h"

#include <jansson.h>
#include <stdlib.h>

static const char *const class_names[EM_CLASSES] = {
    [EM_CLASS_INTEGER] = "integer",
    [EM_CLASS_FLOAT] = "float",
    [EM_CLASS_CONVERSION] = "conversion",
    [EM_CLASS_MOVE] = "move",
    [EM_CLASS_MEMORY_GLOBAL] = "global memory",
    [EM_CLASS_MEMORY_SHARED] = "shared memory",
    [EM_CLASS_MEMORY_LOCAL] = "local memory",
    [EM_CLASS_MEMORY_CONSTANT] = "constants and parameters",
    [EM_CLASS_MEMORY_GENERIC] = "generic memory",
    [EM_CLASS_WARP] = "warp",
    [EM_CLASS_CONTROL] = "control",
    [EM_CLASS_BARRIER] = "synchronisation",
    [EM_CLASS_TENSOR] = "tensor cores",
    [EM_CLASS_COPY] = "asynchronous copies",
};

/* Spaces whose bytes are reported. */
static const struct {
    const char *name;
    em_space space;
} spaces[] = {{"global", EM_GLOBAL},
              {"shared", EM_SHARED},
              {"local", EM_LOCAL},
              {"constant", EM_CONST},
              {"param", EM_PARAM}};
enum { SPACES = sizeof spaces / sizeof *spaces };

typedef struct entry {
    struct entry *next;
    const em_program *program;
    const em_function *kernel;
    uint64_t launches, blocks, threads;
    em_tally *tally;
    em_transactions *transactions;
    em_footprint footprint;
} entry;

struct em_counters {
    entry *entries, *current;
};

em_counters *em_counters_create(void)
{
    return calloc(1, sizeof(em_counters));
}

void em_counters_destroy(em_counters *c)
{
    for (entry *e = c ? c->entries : NULL, *next; e; e = next) {
        next = e->next;
        free(e->tally);
        free(e->transactions);
        free(e);
    }
    free(c);
}

bool em_counters_begin(em_counters *c, em_launch *l)
{
    entry **at = &c->entries;
    while (*at && ((*at)->program != l->program || (*at)->kernel != l->kernel)) at = &(*at)->next;
    if (!*at) {
        entry *e = calloc(1, sizeof *e);
        if (!e) return false;
        e->tally = calloc((size_t)l->program->count + 1, sizeof *e->tally);
        e->transactions = calloc((size_t)l->program->count + 1, sizeof *e->transactions);
        if (!e->tally || !e->transactions) {
            free(e->tally);
            free(e->transactions);
            free(e);
            return false;
        }
        e->program = l->program;
        e->kernel = l->kernel;
        *at = e;
    }
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    (*at)->launches++;
    (*at)->blocks += blocks;
    (*at)->threads += blocks * l->block[0] * l->block[1] * l->block[2];
    l->tally = (*at)->tally;
    c->current = *at;
    return true;
}

em_transactions *em_counters_transactions(em_counters *c)
{
    return c->current ? c->current->transactions : NULL;
}

em_footprint *em_counters_footprint(em_counters *c)
{
    return c->current ? &c->current->footprint : NULL;
}

/* ---- JSON ---- */

typedef struct sum {
    uint64_t instructions, lanes;
} sum;

static void put_count(json_t *value, const char *key, uint64_t number)
{
    json_object_set_new(value, key, json_integer((json_int_t)number));
}

static json_t *bytes_json(const uint64_t bytes[EM_PARAM + 1][2])
{
    json_t *value = json_object();
    for (int n = 0; n < SPACES; n++) {
        const uint64_t *b = bytes[spaces[n].space];
        if (!b[0] && !b[1]) continue;
        json_t *both = json_object();
        put_count(both, "read", b[0]);
        put_count(both, "written", b[1]);
        json_object_set_new(value, spaces[n].name, both);
    }
    return value;
}

static void put_traffic(json_t *value, const char *key, const em_transactions *m, int kind)
{
    if (!m->count[kind]) return;
    json_t *pair = json_object();
    put_count(pair, "count", m->count[kind]);
    put_count(pair, "ideal", m->ideal[kind]);
    json_object_set_new(value, key, pair);
}

static void put_tally(json_t *value, const em_tally *t, const em_transactions *m)
{
    put_count(value, "instructions", t->instructions);
    put_count(value, "lanes", t->lanes);
    put_count(value, "divergences", t->divergences);
    json_object_set_new(value, "bytes", bytes_json(t->bytes));
    put_traffic(value, "wavefronts", m, EM_WAVEFRONTS);
    put_traffic(value, "sectors", m, EM_SECTORS);
}

/* For structs that consist of 64-bit numbers only. */
static void add_counts(void *to, const void *from, size_t size)
{
    uint64_t *all = to;
    const uint64_t *more = from;
    for (size_t n = 0; n < size / sizeof *all; n++) all[n] += more[n];
}

/* Position in the text, from which the next line is counted. */
typedef struct cursor {
    uint32_t at;
    int line;
} cursor;

static int next_line_number(const em_program *program, cursor *c, uint32_t at)
{
    if (at < c->at || !c->line) *c = (cursor){.line = 1};
    for (; c->at < at && c->at < program->length; c->at++) c->line += program->text[c->at] == '\n';
    return c->line;
}

static json_t *line_json(const entry *e, cursor *c, uint32_t k)
{
    const em_program *program = e->program;
    const em_inst *i = &program->code[k];
    json_t *value = json_object();
    const em_loc *loc = em_loc_of(program, i);
    json_object_set_new(value, "ptx_line", json_integer(next_line_number(program, c, i->where)));
    if (loc) {
        json_object_set_new(value, "file", json_string(loc->file));
        json_object_set_new(value, "line", json_integer(loc->line));
        json_object_set_new(value, "column", json_integer(loc->column));
    }
    json_object_set_new(value, "instruction", json_string(em_instruction_name(i)));
    json_object_set_new(value, "class", json_string(class_names[i->class]));
    put_tally(value, &e->tally[k], &e->transactions[k]);
    return value;
}

/* Pipes that the kernel kept busy, and its L2 requests. */
typedef struct busy {
    uint64_t slots[EM_WORKS], operations[EM_WORKS];
    uint64_t issued, atomics;
    uint64_t bulk[2]; /* bytes of global memory read, written by bulk copies */
    uint64_t stored;  /* bytes of sectors that threads stored to */
} busy;

static void add_busy(const em_inst *i, const em_tally *t, const em_transactions *moved, busy *b)
{
    em_work work[EM_WORK_MOST];
    int count = em_work_of(i, work);
    for (int n = 0; n < count; n++) {
        bool tensor = !work[n].slots && i->class == EM_CLASS_TENSOR;
        b->slots[work[n].kind] += t->instructions * work[n].slots * EM_LANES;
        b->operations[work[n].kind] += (tensor ? t->instructions : t->lanes) * work[n].operations;
    }
    if (em_work_issues(i)) b->issued += t->instructions;
    bool atomic = i->opcode == EM_OP_atom || i->opcode == EM_OP_red || i->opcode == EM_OP_sured;
    if (atomic && t->bytes[EM_GLOBAL][1]) b->atomics += t->lanes;
    if (i->opcode == EM_OP_cp && em_has(i, EM_M_bulk)) {
        for (int store = 0; store < 2; store++) b->bulk[store] += t->bytes[EM_GLOBAL][store];
    } else if (em_uses_object(i)) {
        b->stored += t->bytes[EM_GLOBAL][1];
    } else if (t->bytes[EM_GLOBAL][1]) {
        b->stored += EM_SECTOR * moved->count[EM_SECTORS];
    }
}

static json_t *traffic_json(uint64_t read, uint64_t written)
{
    json_t *both = json_object();
    put_count(both, "read", read);
    put_count(both, "written", written);
    return both;
}

static void put_busy(json_t *value, const entry *e, const busy *b)
{
    json_t *work = json_object();
    const em_footprint *f = &e->footprint;
    for (int n = 0; n < EM_WORKS; n++) {
        if (!b->slots[n] && !b->operations[n]) continue;
        json_t *one = json_object();
        if (b->slots[n]) put_count(one, "lanes", b->slots[n]);
        put_count(one, "operations", b->operations[n]);
        json_object_set_new(work, em_work_names[n], one);
    }
    json_object_set_new(value, "work", work);
    put_count(value, "issued", b->issued);
    if (b->atomics) put_count(value, "global_atomics", b->atomics);
    if (b->bulk[0] || b->bulk[1]) json_object_set_new(value, "bulk", traffic_json(b->bulk[0], b->bulk[1]));
    if (!f->read && !f->written) return;
    json_object_set_new(value, "dram", traffic_json(EM_SECTOR * f->read, EM_SECTOR * f->written));
    json_object_set_new(value, "l2",
                        traffic_json(EM_SECTOR * f->loaded + b->bulk[0], b->stored + b->bulk[1]));
}

/* For functions that ran: all their instructions, including those with count 0. */
static json_t *kernel_counts_json(const entry *e)
{
    const em_program *program = e->program;
    json_t *value = json_object(), *by_class = json_object(), *lines = json_array();
    em_tally all = {0};
    em_transactions moved = {0};
    sum sums[EM_CLASSES] = {0};
    busy work = {0};
    cursor c = {0};
    for (size_t n = 0; n < program->function_count; n++) {
        const em_function *f = program->functions[n];
        if (!f->defined || !e->tally[f->start].instructions) continue;
        for (uint32_t k = f->start; k <= f->end && k < program->count; k++) {
            const em_inst *i = &program->code[k];
            if (i->hidden) continue;
            em_class k_of = (em_class)i->class;
            sums[k_of].instructions += e->tally[k].instructions;
            sums[k_of].lanes += e->tally[k].lanes;
            add_counts(&all, &e->tally[k], sizeof all);
            add_counts(&moved, &e->transactions[k], sizeof moved);
            add_busy(i, &e->tally[k], &e->transactions[k], &work);
            json_array_append_new(lines, line_json(e, &c, k));
        }
    }
    for (int n = 0; n < EM_CLASSES; n++) {
        if (!sums[n].instructions) continue;
        json_t *one = json_object();
        put_count(one, "instructions", sums[n].instructions);
        put_count(one, "lanes", sums[n].lanes);
        json_object_set_new(by_class, class_names[n], one);
    }
    json_object_set_new(value, "kernel", json_string(e->kernel->name));
    put_count(value, "launches", e->launches);
    put_count(value, "blocks", e->blocks);
    put_count(value, "threads", e->threads);
    put_tally(value, &all, &moved);
    json_object_set_new(value, "classes", by_class);
    put_busy(value, e, &work);
    json_object_set_new(value, "lines", lines);
    return value;
}

char *em_counters_json(const em_counters *c)
{
    json_t *list = json_array();
    for (const entry *e = c->entries; e; e = e->next) json_array_append_new(list, kernel_counts_json(e));
    char *text = json_dumps(list, JSON_COMPACT);
    json_decref(list);
    return text;
}
