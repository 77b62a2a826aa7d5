/* Reads each module as a list of declarations, resolves names, and writes declarations before uses:
 * prototypes, variables, functions. */
#include "lib/cubin/ptx/ptxjoin.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/list.h"
#include "lib/base/sort.h"
#include "lib/base/system/file.h"
#include "lib/base/text/chars.h"
#include "lib/cubin/metadata.h"
#include "lib/cubin/ptx/ptxtoken.h"

typedef cute_ptx_token token;

/* In ascending order of preference for definitions. */
typedef enum linkage { PRIVATE, EXTERN, COMMON, WEAK, VISIBLE } linkage;
static const char *const linkages[] = {"", ".extern", ".common", ".weak", ".visible"};

typedef enum item_kind { OTHER, VARIABLE, FUNCTION, ENTRY } item_kind;

typedef struct item {
    item_kind kind;
    linkage linkage;
    token name;
    const char *start, *stop;
    const char *body; /* the "{" of a function's body; NULL: a declaration */
    size_t part;
    int64_t align;
    bool dropped, prototype; /* prototype: declared by another module */
    const char *renamed;     /* NULL: not renamed */
} item;

typedef struct part {
    const cute_ptx_part *source;
    bool taken;
    int version; /* 83 */
    token target;
    const cute_arch *arch;
    size_t first_file; /* offset of its file numbers */
    size_t begin, end; /* range of its items */
    item **renames;    /* sorted by name */
    size_t rename_count;
} part;

typedef struct joiner {
    cute_arena *arena;
    cute_diag *diag;
    part *parts;
    size_t part_count;
    item *items;
    size_t item_count, item_capacity;
    item **sorted; /* named items, by name */
    size_t sorted_count;
    size_t files;
    cute_buffer file_lines, *out;
} joiner;

typedef struct reader {
    joiner *j;
    part *part;
    const char *at, *stop;
} reader;

static bool token_is(token t, const char *text)
{
    return cute_ptx_token_is(t, text);
}
static token next_token(reader *r)
{
    return cute_ptx_next(&r->at, r->stop);
}
static token peek_token(const reader *r)
{
    const char *at = r->at;
    return cute_ptx_next(&at, r->stop);
}

static int compare_names(token a, token b)
{
    int order = memcmp(a.at, b.at, a.length < b.length ? a.length : b.length);
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static cute_status fail_at_token(const reader *r, token t, const char *expected)
{
    const cute_ptx_part *p = r->part->source;
    cute_place place = cute_place_at(p->label, p->text, p->length, (size_t)(t.at - p->text));
    if (t.length && t.length < 200) place.length = (int)t.length;
    return cute_fail(r->j->diag, CUTE_INVALID, &place, "expected %s, got %s%.*s%s", expected,
                     t.length ? "'" : "", t.length ? (int)(t.length < 60 ? t.length : 60) : 15,
                     t.length ? t.at : "the end of file", t.length ? "'" : "");
}

static int64_t number_of(token t)
{
    int64_t value = 0;
    for (size_t i = 0; i < t.length && cute_is_digit(t.at[i]) && value < INT32_MAX; i++)
        value = 10 * value + (t.at[i] - '0');
    return value;
}

/* ---- reading ---- */

/* Skips to the bracket that closes the one just read. */
static cute_status skip_brackets(reader *r, const char *open, const char *close)
{
    for (size_t depth = 1; depth;) {
        token t = next_token(r);
        if (!t.length) return fail_at_token(r, t, close);
        if (token_is(t, open)) depth++;
        if (token_is(t, close)) depth--;
    }
    return CUTE_OK;
}

static cute_status add_item(reader *r, const item *i)
{
    joiner *j = r->j;
    if (!cute_arena_more(j->arena, &j->items, j->item_count, &j->item_capacity, sizeof *j->items, 64))
        return cute_fail_memory(j->diag);
    j->items[j->item_count++] = *i;
    return CUTE_OK;
}

/* `[(result)] name [(params)] directives {body}`, or `;`, after .func or .entry. */
static cute_status read_function(reader *r, item *i)
{
    token t = next_token(r);
    if (token_is(t, "(")) {
        CUTE_TRY(skip_brackets(r, "(", ")"));
        t = next_token(r);
    }
    if (!cute_ptx_token_is_name(t)) return fail_at_token(r, t, "the name of a function");
    i->name = t;
    for (t = next_token(r); !token_is(t, "{") && !token_is(t, ";"); t = next_token(r)) {
        if (!t.length) return fail_at_token(r, t, "the body of the function");
        if (token_is(t, "(")) CUTE_TRY(skip_brackets(r, "(", ")"));
    }
    if (token_is(t, ";")) return CUTE_OK;
    i->body = t.at;
    return skip_brackets(r, "{", "}");
}

/* `... [.align N] TYPE name[N] [= {...}];` after the first directive. */
static cute_status read_variable(reader *r, item *i)
{
    for (token t = next_token(r); !token_is(t, ";"); t = next_token(r)) {
        if (!t.length) return fail_at_token(r, t, "';'");
        if (token_is(t, ".align")) i->align = number_of(peek_token(r));
        if (token_is(t, "(")) CUTE_TRY(skip_brackets(r, "(", ")"));
        if (token_is(t, "{")) CUTE_TRY(skip_brackets(r, "{", "}"));
        if (token_is(t, ",")) return fail_at_token(r, t, "one variable in a declaration");
        if (!i->name.length && cute_ptx_token_is_name(t)) i->name = t;
        if (token_is(t, "=")) break;
    }
    if (!i->name.length) return fail_at_token(r, (token){i->start, 1}, "the declaration of a variable");
    while (r->at[-1] != ';') {
        token t = next_token(r);
        if (!t.length) return fail_at_token(r, t, "';'");
    }
    return CUTE_OK;
}

/* `.file N "name"[, time, size]`, renumbered to be unique over all modules. */
static cute_status read_file(reader *r)
{
    token number = next_token(r), name = next_token(r);
    int64_t n = number_of(number);
    if (!name.length || *name.at != '"') return fail_at_token(r, name, "the name of a file");
    cute_buffer_printf(&r->j->file_lines, ".file %lld %.*s", (long long)n + (long long)r->part->first_file,
                       (int)name.length, name.at);
    while (token_is(peek_token(r), ",")) {
        next_token(r);
        token t = next_token(r);
        cute_buffer_printf(&r->j->file_lines, ", %.*s", (int)t.length, t.at);
    }
    cute_buffer_putc(&r->j->file_lines, '\n');
    size_t last = (size_t)n + r->part->first_file;
    if (last > r->j->files) r->j->files = last;
    return CUTE_OK;
}

static cute_status read_target(reader *r)
{
    r->part->target = next_token(r);
    const char *name = cute_arena_copy(r->j->arena, r->part->target.at, r->part->target.length);
    if (!name) return cute_fail_memory(r->j->diag);
    r->part->arch = cute_arch_find(name);
    while (token_is(peek_token(r), ","))
        next_token(r), next_token(r); /* "debug": debug sections are dropped */
    return CUTE_OK;
}

static cute_status read_declaration(reader *r, token t, size_t index)
{
    item i = {.start = t.at, .part = index};
    for (int l = EXTERN; l <= VISIBLE; l++)
        if (token_is(t, linkages[l])) {
            i.linkage = (linkage)l;
            t = next_token(r);
            break;
        }
    if (token_is(t, ".func") || token_is(t, ".entry")) {
        i.kind = token_is(t, ".entry") ? ENTRY : FUNCTION;
        CUTE_TRY(read_function(r, &i));
    } else if (token_is(t, ".pragma") || token_is(t, ".alias")) {
        for (t = next_token(r); !token_is(t, ";"); t = next_token(r))
            if (!t.length) return fail_at_token(r, t, "';'");
    } else if (t.length && *t.at == '.') {
        i.kind = VARIABLE;
        CUTE_TRY(read_variable(r, &i));
    } else {
        return fail_at_token(r, t, "a declaration");
    }
    i.stop = r->at;
    return add_item(r, &i);
}

static cute_status read_version(reader *r)
{
    token t = next_token(r);
    const char *dot = t.length ? memchr(t.at, '.', t.length) : NULL;
    if (!dot) return fail_at_token(r, t, "a version of PTX");
    r->part->version = (int)(number_of(t) % 1000 * 10 +
                             number_of((token){dot + 1, (size_t)(t.at + t.length - dot - 1)}) % 10);
    return CUTE_OK;
}

static cute_status read_part(joiner *j, size_t index)
{
    part *p = &j->parts[index];
    reader r = {.j = j, .part = p, .at = p->source->text, .stop = p->source->text + p->source->length};
    p->first_file = j->files;
    p->begin = j->item_count;
    for (token t = next_token(&r); t.length; t = next_token(&r)) {
        if (token_is(t, ".version")) {
            CUTE_TRY(read_version(&r));
        } else if (token_is(t, ".target")) {
            CUTE_TRY(read_target(&r));
        } else if (token_is(t, ".address_size")) {
            next_token(&r);
        } else if (token_is(t, ".file")) {
            CUTE_TRY(read_file(&r));
        } else if (token_is(t, ".section")) {
            while ((t = next_token(&r)).length && !token_is(t, "{")) {
            }
            CUTE_TRY(skip_brackets(&r, "{", "}"));
        } else if (!token_is(t, ";")) {
            CUTE_TRY(read_declaration(&r, t, index));
        }
    }
    p->end = j->item_count;
    return CUTE_OK;
}

/* ---- names ---- */

static bool is_definition(const item *i)
{
    return i->linkage != EXTERN && (i->kind == VARIABLE || i->body);
}

static int compare_items(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    int order = compare_names(x->name, y->name);
    return order ? order : (x > y) - (x < y);
}

static bool is_taken(const joiner *j, const item *i)
{
    return j->parts[i->part].taken;
}

static size_t group_end(const joiner *j, size_t first)
{
    size_t end = first + 1;
    while (end < j->sorted_count && !compare_names(j->sorted[first]->name, j->sorted[end]->name)) end++;
    return end;
}

static cute_status sort_items(joiner *j)
{
    j->sorted = cute_arena_array(j->arena, j->item_count + 1, sizeof *j->sorted);
    if (!j->sorted) return cute_fail_memory(j->diag);
    for (size_t i = 0; i < j->item_count; i++)
        if (j->items[i].name.length) j->sorted[j->sorted_count++] = &j->items[i];
    cute_sort(j->sorted, j->sorted_count, sizeof *j->sorted, compare_items);
    return CUTE_OK;
}

/* Takes a library member that defines a missing symbol. False: none is needed. */
static bool take_one_more(joiner *j)
{
    for (size_t first = 0, end; first < j->sorted_count; first = end) {
        item *giver = NULL;
        bool wanted = false, defined = false;
        end = group_end(j, first);
        for (size_t i = first; i < end; i++) {
            item *it = j->sorted[i];
            if (it->linkage == PRIVATE) continue;
            if (is_taken(j, it)) {
                wanted |= it->linkage == EXTERN;
                defined |= is_definition(it);
            } else if (is_definition(it) && !giver) {
                giver = it;
            }
        }
        if (wanted && !defined && giver) return j->parts[giver->part].taken = true;
    }
    return false;
}

static cute_status fail_twice(joiner *j, const item *a, const item *b)
{
    cute_place places[2];
    const item *both[] = {b, a};
    for (int n = 0; n < 2; n++) {
        const cute_ptx_part *p = j->parts[both[n]->part].source;
        places[n] = cute_place_at(p->label, p->text, p->length, (size_t)(both[n]->name.at - p->text));
        places[n].length = (int)(both[n]->name.length < 200 ? both[n]->name.length : 200);
    }
    cute_fail(j->diag, CUTE_INVALID, &places[0], "'%.*s' is defined twice", (int)b->name.length, b->name.at);
    cute_note(j->diag, &places[1], "the other definition is here");
    return CUTE_INVALID;
}

/* Keeps one of the items that share a global name. */
static cute_status resolve_global(joiner *j, size_t first, size_t end)
{
    item *best = NULL;
    bool declared = false;
    for (size_t i = first; i < end; i++) {
        item *it = j->sorted[i];
        if (it->linkage == PRIVATE || !is_taken(j, it)) continue;
        if (best && is_definition(best) && is_definition(it) && best->linkage == VISIBLE &&
            it->linkage == VISIBLE)
            return fail_twice(j, best, it);
        bool better = !best || (is_definition(it) && (!is_definition(best) || it->linkage > best->linkage)) ||
                      (!is_definition(best) && it->align > best->align);
        declared |= best != NULL || !is_definition(it);
        if (better && best) best->dropped = true;
        if (better)
            best = it;
        else
            it->dropped = true;
    }
    if (best) best->prototype = declared && best->body;
    return CUTE_OK;
}

static bool is_in_use(const joiner *j, const char *name)
{
    item key = {.name = {name, strlen(name)}};
    for (size_t low = 0, high = j->sorted_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(j->sorted[middle]->name, key.name);
        if (order == 0) return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Gives the items j->sorted[first..end), all of one module, a name that no other module uses. */
static cute_status rename_private(joiner *j, size_t first, size_t end)
{
    const item *one = j->sorted[first];
    const char *name = NULL;
    for (size_t n = one->part + 1; !name || is_in_use(j, name); n += j->part_count) {
        name = cute_arena_printf(j->arena, "%.*s$%zu", (int)one->name.length, one->name.at, n);
        if (!name) return cute_fail_memory(j->diag);
    }
    for (size_t i = first; i < end; i++) j->sorted[i]->renamed = name;
    return CUTE_OK;
}

/* Items with a module-private name: keeps the definition, else the first declaration. */
static void resolve_own(joiner *j, size_t first, size_t end)
{
    item *best = j->sorted[first];
    for (size_t i = first; i < end; i++)
        if (is_definition(j->sorted[i]) && !is_definition(best)) best = j->sorted[i];
    for (size_t i = first; i < end; i++) j->sorted[i]->dropped = j->sorted[i] != best;
    best->prototype = best->kind == FUNCTION && best->body;
}

/* Private names of one group: the first module keeps its name if no other module uses it. */
static cute_status resolve_private(joiner *j, size_t first, size_t end)
{
    bool taken = false;
    for (size_t i = first; i < end; i++)
        taken |= j->sorted[i]->linkage != PRIVATE && is_taken(j, j->sorted[i]);
    for (size_t i = first, stop; i < end; i = stop) {
        const item *it = j->sorted[i];
        for (stop = i + 1; stop < end && j->sorted[stop]->part == it->part;) stop++;
        if (it->linkage != PRIVATE || !is_taken(j, it)) continue;
        resolve_own(j, i, stop);
        if (taken) CUTE_TRY(rename_private(j, i, stop));
        taken = true;
    }
    return CUTE_OK;
}

static cute_status resolve_names(joiner *j)
{
    for (size_t first = 0, end; first < j->sorted_count; first = end) {
        end = group_end(j, first);
        CUTE_TRY(resolve_global(j, first, end));
        CUTE_TRY(resolve_private(j, first, end));
    }
    for (size_t p = 0; p < j->part_count; p++) {
        part *q = &j->parts[p];
        q->renames = cute_arena_array(j->arena, q->end - q->begin + 1, sizeof *q->renames);
        if (!q->renames) return cute_fail_memory(j->diag);
    }
    for (size_t i = 0; i < j->sorted_count; i++) { /* in sorted order, so each part's list is sorted */
        part *q = &j->parts[j->sorted[i]->part];
        if (j->sorted[i]->renamed) q->renames[q->rename_count++] = j->sorted[i];
    }
    return CUTE_OK;
}

/* ---- writing ---- */

static const char *find_rename(const part *p, token t)
{
    for (size_t low = 0, high = p->rename_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        int order = compare_names(p->renames[middle]->name, t);
        if (order == 0) return p->renames[middle]->renamed;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* `, function_name LABEL, inlined_at F L C` after a .loc: the label belongs to a dropped section. */
static void skip_inlined(const char **at, const char *stop)
{
    const char *ahead = *at;
    if (!token_is(cute_ptx_next(&ahead, stop), ",") ||
        !token_is(cute_ptx_next(&ahead, stop), "function_name"))
        return;
    for (token t = cute_ptx_next(&ahead, stop); t.length; t = cute_ptx_next(&ahead, stop)) {
        if (!token_is(t, "inlined_at")) continue;
        for (int n = 0; n < 3; n++) cute_ptx_next(&ahead, stop);
        *at = ahead;
        return;
    }
}

/* Writes the text from `start` to `stop` with renamed symbols and renumbered files. */
static void put_text(joiner *j, const part *p, const char *start, const char *stop)
{
    const char *from = start;
    for (const char *at = start;;) {
        token t = cute_ptx_next(&at, stop);
        if (!t.length) break;
        const char *name = p->rename_count && cute_ptx_token_is_name(t) ? find_rename(p, t) : NULL;
        if (name) {
            cute_buffer_append(j->out, from, (size_t)(t.at - from));
            cute_buffer_puts(j->out, name);
            from = at;
        } else if (token_is(t, ".loc")) {
            token file = cute_ptx_next(&at, stop);
            cute_buffer_append(j->out, from, (size_t)(file.at - from));
            cute_buffer_printf(j->out, "%lld", (long long)number_of(file) + (long long)p->first_file);
            from = at;
            cute_ptx_next(&at, stop);
            cute_ptx_next(&at, stop);
            cute_buffer_append(j->out, from, (size_t)(at - from));
            skip_inlined(&at, stop);
            from = at;
        }
    }
    cute_buffer_append(j->out, from, (size_t)(stop - from));
}

static void put_head(joiner *j)
{
    const part *newest = NULL, *target = NULL;
    cute_buffer lines = {0};
    for (size_t i = 0; i < j->part_count; i++) {
        const part *p = &j->parts[i];
        if (!p->taken) continue;
        if (!newest || p->version > newest->version) newest = p;
        if (!target || (p->arch && (!target->arch || p->arch > target->arch))) target = p;
        cute_metadata_extract(p->source->text, p->source->length, &lines);
    }
    for (char *at = lines.data, *end; at && at < lines.data + lines.length; at = end + 1) {
        end = memchr(at, '\n', (size_t)(lines.data + lines.length - at));
        cute_buffer_printf(j->out, "//!cute %.*s\n", (int)(end - at), at);
    }
    cute_buffer_release(&lines);
    cute_buffer_printf(j->out, ".version %d.%d\n.target %.*s\n.address_size 64\n", newest->version / 10,
                       newest->version % 10, (int)target->target.length, target->target.at);
    cute_buffer_append(j->out, cute_buffer_text(&j->file_lines), j->file_lines.length);
}

static void put_prototypes(joiner *j)
{
    for (size_t n = 0; n < j->item_count; n++) {
        const item *i = &j->items[n];
        if (i->kind != FUNCTION || !i->prototype || i->dropped || !is_taken(j, i)) continue;
        put_text(j, &j->parts[i->part], i->start, i->body);
        cute_buffer_puts(j->out, ";\n");
    }
}

/* Declarations and variables first, so that all names are declared before the functions (and `.alias`). */
static void put_items(joiner *j, bool bodies)
{
    size_t last = SIZE_MAX;
    for (size_t n = 0; n < j->item_count; n++) {
        const item *i = &j->items[n];
        if (i->dropped || !is_taken(j, i) || (i->body || i->kind == OTHER) != bodies) continue;
        if (i->part != last && bodies)
            cute_buffer_printf(j->out, "\n// ---- %s\n",
                               cute_file_plain_name(j->arena, j->parts[i->part].source->label));
        last = i->part;
        put_text(j, &j->parts[i->part], i->start, i->stop);
        cute_buffer_putc(j->out, '\n');
    }
}

cute_status cute_ptx_join(cute_arena *arena, const cute_ptx_part *parts, size_t count, cute_buffer *out,
                          cute_diag *diag)
{
    joiner j = {.arena = arena, .diag = diag, .part_count = count, .out = out};
    size_t taken = 0, only = 0;
    j.parts = cute_arena_array(arena, count + 1, sizeof *j.parts);
    if (!j.parts) return cute_fail_memory(diag);
    cute_status status = CUTE_OK;
    for (size_t i = 0; i < count && status == CUTE_OK && count > 1; i++) {
        j.parts[i] = (part){.source = &parts[i], .taken = !parts[i].on_demand};
        status = read_part(&j, i);
    }
    if (status == CUTE_OK) status = sort_items(&j);
    while (status == CUTE_OK && take_one_more(&j)) {
    }
    for (size_t i = 0; i < count; i++)
        if (count == 1 || j.parts[i].taken) {
            taken++;
            only = i;
        }
    if (status == CUTE_OK && taken == 1) {
        cute_buffer_append(out, parts[only].text, parts[only].length);
    } else if (status == CUTE_OK && taken) {
        status = resolve_names(&j);
        if (status == CUTE_OK) {
            put_head(&j);
            put_prototypes(&j);
            put_items(&j, false);
            put_items(&j, true);
        }
    }
    if (!cute_buffer_ok(&j.file_lines)) status = cute_fail_memory(diag);
    cute_buffer_release(&j.file_lines);
    return status;
}
