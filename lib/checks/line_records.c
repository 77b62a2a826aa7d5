/* Lines of global memory: 128 bytes that whole warps access in lane order share one record instead of one per
 * granule. Any other access splits the line into granules permanently. Used by races.c. */
#include "lib/checks/parts.h"

#include <stdlib.h>

/* A line's record: granule k belongs to thread id + (k >> shift), and `mask` is shift + 1. */
enum { LINE_BYTES = 128, GRANULE_BYTES = 4, LINE_GRANULES = LINE_BYTES / GRANULE_BYTES };

static bool stop_line_records(em_checks *c, shadow *s)
{
    s->too_large = true;
    c->exhausted = true;
    return false;
}

static size_t line_count(const shadow *s)
{
    return (size_t)(s->total / LINE_BYTES) + 1;
}

static bool make_lines(em_checks *c, shadow *s, bool write)
{
    if (!s->split) s->split = calloc(line_count(s), 1);
    if (write && !s->write_lines) s->write_lines = calloc(line_count(s), sizeof *s->write_lines);
    if (!write && !s->read_lines) s->read_lines = calloc(line_count(s) * s->slots, sizeof *s->read_lines);
    return (s->split && (write ? s->write_lines != NULL : s->read_lines != NULL)) || stop_line_records(c, s);
}

/* ---- splitting ---- */

static void expand_line_record(const access_record *line, access_record *granules, size_t step)
{
    for (uint32_t k = 0; k < LINE_GRANULES; k++) {
        access_record *r = &granules[k * step];
        *r = *line;
        r->id = (uint16_t)(line->id + (k >> (line->mask - 1)));
        r->mask = (1 << GRANULE_BYTES) - 1;
    }
}

static bool split_line(em_checks *c, shadow *s, size_t line)
{
    size_t first = line * LINE_GRANULES, count = (size_t)(s->total / GRANULE_BYTES) + 2;
    access_record *w = s->write_lines && s->write_lines[line].time ? &s->write_lines[line] : NULL;
    s->split[line] = 1;
    if (w && !s->writes) s->writes = calloc(count, sizeof *s->writes);
    if (w && !s->writes) return stop_line_records(c, s);
    if (w) expand_line_record(w, &s->writes[first], 1);
    for (size_t n = 0; s->read_lines && n < s->slots; n++) {
        const access_record *r = &s->read_lines[line * s->slots + n];
        if (!r->time) continue;
        if (!s->reads) s->reads = calloc(count * s->slots, sizeof *s->reads);
        if (!s->reads) return stop_line_records(c, s);
        expand_line_record(r, &s->reads[first * s->slots + n], s->slots);
    }
    return true;
}

bool em_lines_split(em_checks *c, shadow *s, uint64_t at, uint64_t bytes)
{
    if (!s->split) s->split = calloc(line_count(s), 1);
    if (!s->split) return stop_line_records(c, s);
    for (size_t line = (size_t)(at / LINE_BYTES); line <= (at + bytes - 1) / LINE_BYTES; line++)
        if (!s->split[line] && !split_line(c, s, line)) return false;
    return true;
}

/* ---- whole lines ---- */

/* Whether each access in the record is ordered before that of the thread at the same position in
 * `current`. */
static bool is_ordered(const em_checks *c, const cluster_state *o, const access_record *previous,
                       const access_record *current, const vclock *known)
{
    if (em_is_earlier(c, o, previous)) return true; /* or empty */
    bool here = previous->cluster == o->serial;
    if (here && previous->id == current->id && previous->mask == current->mask) return true;
    access_record one = *previous;
    for (uint32_t k = 0; k <= (LINE_GRANULES - 1u) >> (previous->mask - 1); k++) {
        one.id = (uint16_t)(previous->id + k);
        if (here && one.time <= known->clock[one.id]) continue;
        if (!known->cross || !em_cross_covers(c, known->cross, &one)) return false;
    }
    return true;
}

static void keep_line_read(const em_checks *c, const cluster_state *o, access_record *reads, int slots,
                           const access_record *current, const vclock *known)
{
    int place = 0;
    for (int n = 0; n < slots; n++) {
        if (is_ordered(c, o, &reads[n], current, known)) {
            place = n;
            break;
        }
        if (reads[n].time < reads[place].time) place = n;
    }
    reads[place] = *current;
}

static bool check_line(em_checks *c, const cluster_state *o, shadow *s, size_t line,
                       const access_record *current, const vclock *known)
{
    access_record *before = s->write_lines ? &s->write_lines[line] : NULL,
                  *reads = s->read_lines ? &s->read_lines[line * s->slots] : NULL;
    if (before && !is_ordered(c, o, before, current, known)) return false;
    if (!(current->flags & ACCESS_WRITE)) {
        keep_line_read(c, o, reads, s->slots, current, known);
        return true;
    }
    for (int n = 0; reads && n < s->slots; n++)
        if (!is_ordered(c, o, &reads[n], current, known)) return false;
    for (int n = 0; reads && n < s->slots; n++) reads[n].time = 0;
    *before = *current;
    return true;
}

bool em_lines_access(em_checks *c, const em_warp_access *a, shadow *s, uint64_t at,
                     const access_record *current, const vclock *known)
{
    uint32_t bytes = a->bytes, lines = bytes * EM_LANES / LINE_BYTES, shift = bytes == 16 ? 2 : bytes == 8;
    uint64_t from = at + a->offsets[0];
    if (a->mask != UINT32_MAX || from % LINE_BYTES || (bytes != 4 && bytes != 8 && bytes != 16)) return false;
    uint32_t wrong = 0;
    for (uint32_t l = 0; l < EM_LANES; l++) wrong |= a->offsets[l] ^ (a->offsets[0] + l * bytes);
    if (wrong || !make_lines(c, s, a->kind == EM_WRITE)) return false;
    for (uint32_t n = 0; n < lines; n++)
        if (s->split[from / LINE_BYTES + n]) return false;
    access_record line = *current;
    line.mask = (uint8_t)(shift + 1);
    for (uint32_t n = 0; n < lines; n++) {
        line.id = (uint16_t)(current->id + n * (EM_LANES >> shift));
        if (!check_line(c, cluster_of(c, a->warp), s, (size_t)(from / LINE_BYTES) + n, &line, known))
            return false;
    }
    return true;
}
