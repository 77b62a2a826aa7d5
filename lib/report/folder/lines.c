/* See lines.h. Runs diff(1) on the texts without value names, then checks that the names in aligned lines correspond. */
#include "lib/report/folder/lines.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/system/file.h"
#include "lib/base/system/process.h"
#include "lib/base/text/chars.h"

enum { CONTEXT = 3 };

typedef struct name {
    const char *text;
    size_t length;
} name;

/* Maps the names of one text to those of the other. */
typedef struct names {
    struct slot {
        name of, is; /* is.text NULL: unmapped */
    } *slots;
    size_t capacity, count;
    bool failed;
} names;

static bool same_name(name a, name b)
{
    return a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
}

static struct slot *find_slot(struct slot *slots, size_t capacity, name of)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < of.length; i++) hash = (hash ^ (unsigned char)of.text[i]) * 1099511628211u;
    for (size_t i = (size_t)hash;; i++) {
        struct slot *s = &slots[i & (capacity - 1)];
        if (!s->of.text || same_name(s->of, of)) return s;
    }
}

/* The entry of a name, added if missing; NULL: out of memory. */
static name *find_name(names *n, name of)
{
    if (2 * (n->count + 1) > n->capacity) {
        size_t capacity = n->capacity ? 2 * n->capacity : 1024;
        struct slot *slots = calloc(capacity, sizeof *slots);
        if (!slots) {
            n->failed = true;
            return NULL;
        }
        for (size_t i = 0; i < n->capacity; i++)
            if (n->slots[i].of.text) *find_slot(slots, capacity, n->slots[i].of) = n->slots[i];
        free(n->slots);
        n->slots = slots;
        n->capacity = capacity;
    }
    struct slot *s = find_slot(n->slots, n->capacity, of);
    if (!s->of.text) {
        s->of = of;
        n->count++;
    }
    return &s->is;
}

static void clear_names(names *n)
{
    if (n->slots) memset(n->slots, 0, n->capacity * sizeof *n->slots);
    n->count = 0;
}

/* The next name of a value, block, register or label in a line, from *at; skips strings. */
static bool next_name(const char **at, const char *end, name *found)
{
    for (const char *c = *at; c < end; c++) {
        if (*c == '"') {
            for (c++; c < end && *c != '"'; c++)
                if (*c == '\\') c++;
            continue;
        }
        bool label = *c == '$' && end - c > 2 && c[1] == 'L' && c[2] == '_';
        if (*c != '%' && *c != '^' && !label) continue;
        const char *start = c++;
        while (c < end && cute_is_word(*c, "$")) c++;
        if (c - start < 2) {
            c--;
            continue;
        }
        *found = (name){start, (size_t)(c - start)};
        *at = c;
        return true;
    }
    return false;
}

/* The text after the name shows a definition: `%0 =`, `%0:2 =`, `%arg0: f32`, `^bb1:`, `^bb1(`. */
static bool is_defined(name n, const char *end)
{
    const char *c = n.text + n.length;
    if (c < end && *c == ':') return true;
    if (*n.text == '^') return false;
    while (c < end && *c == ' ') c++;
    return c + 1 < end && *c == '=' && c[1] != '=';
}

typedef struct line {
    const char *text, *end;
} line;

typedef struct lines {
    line *items;
    size_t count;
} lines;

static bool split_lines(const cute_buffer *text, lines *out)
{
    const char *at = cute_buffer_text(text), *stop = at + text->length;
    size_t count = 1;
    for (const char *c = at; c < stop; c++) count += *c == '\n';
    *out = (lines){malloc(count * sizeof *out->items), 0};
    while (out->items && at < stop) {
        const char *end = memchr(at, '\n', (size_t)(stop - at));
        out->items[out->count++] = (line){at, end ? end : stop};
        at = end ? end + 1 : stop;
    }
    return out->items != NULL;
}

static void put_without_names(const lines *text, cute_buffer *out)
{
    for (size_t i = 0; i < text->count; i++) {
        const char *at = text->items[i].text, *end = text->items[i].end, *done = at;
        for (name n; next_name(&at, end, &n); done = at) {
            cute_buffer_append(out, done, (size_t)(n.text + 1 - done));
        }
        cute_buffer_append(out, done, (size_t)(end - done));
        cute_buffer_putc(out, '\n');
    }
}

typedef struct pairing {
    names of_a, of_b;
} pairing;

static bool begins_function(line l)
{
    static const char entry[] = ".entry", function[] = ".func";
    size_t length = (size_t)(l.end - l.text);
    return memmem(l.text, length, entry, sizeof entry - 1) ||
           memmem(l.text, length, function, sizeof function - 1);
}

/* The names of two otherwise equal lines correspond. */
static bool names_agree(pairing *p, line a, line b)
{
    const char *at = a.text, *bt = b.text;
    name x, y;
    if (begins_function(a)) clear_names(&p->of_a), clear_names(&p->of_b);
    while (next_name(&at, a.end, &x) && next_name(&bt, b.end, &y)) {
        name *of_a = find_name(&p->of_a, x), *of_b = find_name(&p->of_b, y);
        if (!of_a || !of_b) return false;
        bool other = (of_a->text && !same_name(*of_a, y)) || (of_b->text && !same_name(*of_b, x));
        if (other && !is_defined(x, a.end)) return false;
        *of_a = y;
        *of_b = x;
    }
    return true;
}

/* Unmaps the names that a line of only one text defines. */
static void unmap_definitions(names *n, line l)
{
    const char *at = l.text;
    for (name x; next_name(&at, l.end, &x);) {
        name *is = is_defined(x, l.end) ? find_name(n, x) : NULL;
        if (is) is->text = NULL;
    }
}

/* An edit '=', '-' or '+', with the lines of both texts. */
typedef struct edit {
    char kind;
    size_t a, b;
} edit;

static void put_line(cute_buffer *out, char mark, line l)
{
    cute_buffer_putc(out, mark);
    cute_buffer_append(out, l.text, (size_t)(l.end - l.text));
    cute_buffer_putc(out, '\n');
}

/* The edits of one change: removed lines, then added lines. */
static void put_changes(cute_buffer *out, const edit *edits, size_t from, size_t to, const lines *a,
                        const lines *b)
{
    for (const char *kind = "-+"; *kind; kind++)
        for (size_t i = from; i < to; i++)
            if (edits[i].kind == *kind)
                put_line(out, *kind, *kind == '-' ? a->items[edits[i].a] : b->items[edits[i].b]);
}

static void put_hunks(cute_buffer *out, const edit *edits, size_t count, const lines *a, const lines *b)
{
    for (size_t i = 0; i < count;) {
        if (edits[i].kind == '=') {
            i++;
            continue;
        }
        size_t begin = i, end = i, equal = 0, of_a = 0, of_b = 0;
        while (begin > 0 && i - begin < CONTEXT && edits[begin - 1].kind == '=') begin--;
        for (; end < count && equal <= 2 * CONTEXT; end++) equal = edits[end].kind == '=' ? equal + 1 : 0;
        end -= equal > CONTEXT ? equal - CONTEXT : 0;
        for (size_t k = begin; k < end; k++) of_a += edits[k].kind != '+', of_b += edits[k].kind != '-';
        cute_buffer_printf(out, "@@ -%zu,%zu +%zu,%zu @@\n", edits[begin].a + (of_a > 0), of_a,
                           edits[begin].b + (of_b > 0), of_b);
        for (size_t k = begin; k < end;) {
            size_t next = k;
            while (next < end && edits[next].kind != '=') next++;
            put_changes(out, edits, k, next, a, b);
            if (next < end) put_line(out, ' ', a->items[edits[next].a]);
            k = next + 1;
        }
        i = end;
    }
}

/* `script`: one letter per line, from diff(1). False: it does not match the texts, or out of memory. */
static bool make_diff(const char *script, const lines *a, const lines *b, cute_buffer *out, int64_t *added,
                      int64_t *removed)
{
    edit *edits = malloc((a->count + b->count + 1) * sizeof *edits);
    pairing p = {0};
    size_t i = 0, j = 0, count = 0;
    bool fits = edits != NULL;
    *added = *removed = 0;
    for (; fits && *script; script++) {
        bool in_a = *script != '+', in_b = *script != '-';
        fits = i + in_a <= a->count && j + in_b <= b->count;
        if (!fits) break;
        if (in_a && in_b && names_agree(&p, a->items[i], b->items[j])) {
            edits[count++] = (edit){'=', i, j};
        } else {
            if (in_a) edits[count++] = (edit){'-', i, j}, ++*removed, unmap_definitions(&p.of_a, a->items[i]);
            if (in_b)
                edits[count++] = (edit){'+', i + in_a, j}, ++*added, unmap_definitions(&p.of_b, b->items[j]);
        }
        i += in_a;
        j += in_b;
    }
    fits = fits && i == a->count && j == b->count && !p.of_a.failed && !p.of_b.failed;
    if (fits && (*added || *removed)) {
        cute_buffer_puts(out, "--- A\n+++ B\n");
        put_hunks(out, edits, count, a, b);
    }
    free(edits);
    free(p.of_a.slots);
    free(p.of_b.slots);
    return fits;
}

static cute_status run_diff(const char *const *options, const char *path, const cute_buffer *a,
                            const cute_buffer *b, cute_buffer *out, cute_diag *diag)
{
    const char *argv[12] = {"diff", "-a"};
    size_t count = 2;
    for (; *options; options++) argv[count++] = *options;
    argv[count++] = path;
    argv[count] = "-";
    cute_process process = {.argv = argv, .input = cute_buffer_text(b), .input_length = b->length};
    cute_status status = cute_file_write(path, cute_buffer_text(a), a->length, diag);
    if (status == CUTE_OK) status = cute_process_run(&process, diag);
    if (status == CUTE_OK && process.exit_code > 1)
        status = cute_fail(diag, CUTE_SYSTEM, NULL, "diff failed: %s", cute_buffer_text(&process.err));
    if (status == CUTE_OK) cute_buffer_append(out, cute_buffer_text(&process.out), process.out.length);
    cute_buffer_release(&process.out);
    cute_buffer_release(&process.err);
    return status;
}

static cute_status plain_diff(const char *path, const cute_buffer *a, const cute_buffer *b, cute_buffer *out,
                              int64_t *added, int64_t *removed, cute_diag *diag)
{
    static const char *const options[] = {"-U3", "--label", "A", "--label", "B", NULL};
    size_t start = out->length;
    *added = *removed = 0;
    CUTE_TRY(run_diff(options, path, a, b, out, diag));
    const char *at = cute_buffer_text(out) + start;
    for (int number = 0; *at; number++) {
        if (number > 1) *added += *at == '+', *removed += *at == '-';
        at += strcspn(at, "\n");
        at += *at == '\n';
    }
    return cute_buffer_ok(out) ? CUTE_OK : cute_fail_memory(diag);
}

cute_status cute_lines_diff(const char *scratch, const cute_buffer *a, const cute_buffer *b, cute_buffer *out,
                            int64_t *added, int64_t *removed, cute_diag *diag)
{
    static const char *const letters[] = {"--unchanged-line-format==", "--old-line-format=-",
                                          "--new-line-format=+", NULL};
    cute_buffer path = {0}, texts[2] = {{0}, {0}}, script = {0};
    lines of_a = {0}, of_b = {0};
    cute_buffer_printf(&path, "%s/a", scratch);
    cute_status status = split_lines(a, &of_a) && split_lines(b, &of_b) ? CUTE_OK : cute_fail_memory(diag);
    if (status == CUTE_OK) {
        put_without_names(&of_a, &texts[0]);
        put_without_names(&of_b, &texts[1]);
        if (!cute_buffer_ok(&path) || !cute_buffer_ok(&texts[0]) || !cute_buffer_ok(&texts[1]))
            status = cute_fail_memory(diag);
    }
    if (status == CUTE_OK)
        status = run_diff(letters, cute_buffer_text(&path), &texts[0], &texts[1], &script, diag);
    if (status == CUTE_OK) {
        bool fits = make_diff(cute_buffer_text(&script), &of_a, &of_b, out, added, removed);
        /* Only names differ, or this diff(1) lacks the options: compare the lines unchanged. */
        if (!fits || !(*added || *removed))
            status = plain_diff(cute_buffer_text(&path), a, b, out, added, removed, diag);
    }
    cute_buffer *all[] = {&path, &texts[0], &texts[1], &script};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) cute_buffer_release(all[i]);
    free(of_a.items);
    free(of_b.items);
    return status;
}
