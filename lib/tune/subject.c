/* What is tuned, as the key of its measurements, and the candidate that is remembered for it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/sort.h"
#include "lib/base/text/include.h"
#include "lib/tune/tune.h"

static const char kind[] = "tuned";

/* ---- launch.json ---- */

static json_t *read_config(const tune_subject *s)
{
    json_t *document = NULL;
    if (s->config) cute_json_parse(s->label, s->config, s->config_length, &document, NULL);
    if (json_is_object(document)) return document;
    json_decref(document);
    return NULL;
}

/* The last -D of a name; NULL: none. */
static const char *find_define(const tune_subject *s, const char *name)
{
    size_t length = strlen(name);
    for (size_t i = s->defines ? s->defines->count : 0; i-- > 0;)
        if (!strncmp(s->defines->items[i], name, length) && s->defines->items[i][length] == '=')
            return s->defines->items[i] + length + 1;
    return NULL;
}

/* A number as in launch.json, so that -D n=64 and "n": 64 are the same; an expression as text. */
static json_t *define_value(const char *text)
{
    json_error_t error;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (json_is_number(value)) return value;
    json_decref(value);
    return json_string(text);
}

static void apply_defines(const tune_subject *s, json_t *params)
{
    const char *name;
    json_t *value;
    void *next;
    json_object_foreach_safe(params, next, name, value)
    {
        const char *own = find_define(s, name);
        if (own) json_object_set_new(params, name, define_value(own));
    }
}

/* Members that no time depends on. */
static const char *const beside[] = {"$schema", "description", "outputs", "check",
                                     "bench",   "seed",        "timeout"};

static bool add_launch(const tune_subject *s, cute_buffer *out)
{
    const cute_launch_options *o = s->options;
    json_t *document = read_config(s);
    if (s->config && !document) return false;
    apply_defines(s, json_object_get(document, "params"));
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) json_object_del(document, beside[i]);
    char *text = document ? json_dumps(document, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    bool ok = !document || text;
    if (text) cute_buffer_printf(out, "%s\n%s\n", s->folder ? s->folder : "", text);
    for (size_t i = 0; i < o->plan_count; i++) cute_buffer_printf(out, "plan %s\n", o->plans[i]);
    for (size_t i = 0; i < o->tensor_count; i++) cute_buffer_printf(out, "tensor %s\n", o->tensors[i]);
    for (size_t i = 0; s->defines && i < s->defines->count && o->plan_count; i++) /* arguments of functions */
        cute_buffer_printf(out, "argument %s\n", s->defines->items[i]);
    if (o->kernel) cute_buffer_printf(out, "kernel %s\n", o->kernel);
    free(text);
    json_decref(document);
    return ok;
}

/* The extent that a param of this name has; 0: none that is an integer from 1. */
static int64_t extent_of(const tune_subject *s, const json_t *params, const char *name)
{
    const char *own = find_define(s, name);
    json_t *value = own ? define_value(own) : json_incref(json_object_get(params, name));
    json_int_t extent = json_is_integer(value) ? json_integer_value(value) : 0;
    json_decref(value);
    return extent >= 1 && extent <= INT32_MAX ? extent : 0;
}

const char *tune_subject_sizes(cute_arena *arena, const tune_subject *s)
{
    static const struct {
        const char *extent, *param;
    } rows[] = {{"m", "m"}, {"m", "rows"},      {"n", "n"},    {"n", "cols"},
                {"k", "k"}, {"batch", "batch"}, {"batch", "l"}};
    json_t *document = read_config(s);
    const json_t *params = json_object_get(document, "params");
    const char *text = "";
    bool found = false; /* the extent of the row before */
    for (size_t i = 0; i < sizeof rows / sizeof *rows && text; i++) {
        int64_t extent = extent_of(s, params, rows[i].param);
        /* A name that is not a param of the config is one of the source. */
        if (s->config && !json_object_get(params, rows[i].param)) extent = 0;
        bool again = i > 0 && !strcmp(rows[i].extent, rows[i - 1].extent) && found;
        if (extent && !again)
            text = cute_arena_printf(arena, "%s%s%s=%lld", text, *text ? "," : "", rows[i].extent,
                                     (long long)extent);
        found = extent > 0;
    }
    json_decref(document);
    return text ? text : "";
}

char *tune_subject_config(const tune_subject *s)
{
    json_t *document = read_config(s);
    json_object_del(json_object_get(document, "bench"), "baselines");
    json_object_del(document, "outputs");
    char *text = document ? json_dumps(document, JSON_INDENT(2)) : NULL;
    json_decref(document);
    return text;
}

/* ---- the key ---- */

static int compare_words(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* The -D of the source, in any order. */
static bool add_defines(cute_arena *arena, const tune_subject *s, cute_buffer *out)
{
    cute_option_list used = {0};
    if (s->defines && cute_pipe_defines(arena, s->defines, s->text, s->length, &used, NULL) != CUTE_OK)
        return false;
    cute_sort(used.items, used.count, sizeof *used.items, compare_words);
    for (size_t i = 0; i < used.count; i++) cute_buffer_printf(out, "-D %s\n", used.items[i]);
    return true;
}

bool tune_subject_key(cute_arena *arena, const tune_subject *s, cute_buffer *out)
{
    const cute_device_info *d = s->device;
    cute_buffer_printf(out, "%s\n%s %s %lld %s\n", cute_version(), d->name, d->arch,
                       (long long)d->multiprocessors, s->arch ? s->arch : "");
    cute_buffer_printf(out, "%s\n", s->schedule ? s->schedule : "");
    cute_words words = {.arena = arena};
    cute_pipe_add_given(&words, s->values, PIPE_FOR_BOTH);
    if (words.failed) return false;
    for (size_t i = 0; i < words.count; i++) cute_buffer_printf(out, "%s\n", words.items[i]);
    if (!add_defines(arena, s, out) || !add_launch(s, out)) return false;
    cute_buffer_append(out, s->text, s->length);
    return cute_include_key(s->path, s->text, s->length, s->folders ? s->folders->items : NULL,
                            s->folders ? s->folders->count : 0, out) &&
           cute_buffer_ok(out);
}

/* ---- the candidate: "BM=128\tBN=256\t--schedule=stages=4 consumers=2" ---- */

static const char option[] = "--schedule=";

static bool read_candidate(cute_arena *arena, const char *text, tune_candidate *out)
{
    size_t words = 1;
    for (const char *at = text; *at; at++) words += *at == '\t';
    const char **defines = cute_arena_array(arena, words, sizeof *defines);
    if (!defines) return false;
    *out = (tune_candidate){.defines = defines};
    for (const char *at = text; *at; at += *at == '\t') {
        size_t length = strcspn(at, "\t");
        const char *word = cute_arena_copy(arena, at, length);
        if (!word) return false;
        if (!strncmp(word, option, sizeof option - 1))
            out->schedule = word + sizeof option - 1;
        else if (length && strchr(word, '=') > word)
            defines[out->define_count++] = word;
        else
            return false;
        at += length;
    }
    return true;
}

bool tune_known(cute_arena *arena, const tune_subject *s, const char *cache, tune_candidate *out,
                tune_best *best)
{
    cute_buffer key = {0};
    const char *value;
    bool known = cache && *cache && tune_subject_key(arena, s, &key) &&
                 tune_best_find(arena, cache, kind, &key, &value, best) && read_candidate(arena, value, out);
    if (known) out->seconds = best->seconds;
    cute_buffer_release(&key);
    return known;
}

void tune_remember(cute_arena *arena, const tune_subject *s, const char *cache, const tune_candidate *c,
                   bool emulated)
{
    cute_buffer key = {0}, value = {0};
    for (size_t i = 0; i < c->define_count; i++)
        cute_buffer_printf(&value, "%s%s", i ? "\t" : "", c->defines[i]);
    if (c->schedule) cute_buffer_printf(&value, "%s%s%s", c->define_count ? "\t" : "", option, c->schedule);
    if (tune_subject_key(arena, s, &key) && cute_buffer_ok(&value))
        tune_best_put(cache, kind, &key, cute_buffer_text(&value),
                      &(tune_best){emulated ? c->estimate : c->seconds, emulated});
    cute_buffer_release(&key);
    cute_buffer_release(&value);
}
