/* Validates the subset of JSON Schema that launch.schema.json uses. Among alternatives it selects the
 * intended one, by type and for objects by the required key that is present, and reports the errors of that
 * one. */
#include "lib/launch/config/schema.h"

#include <stdint.h>
#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/base/text/json.h"

enum { MAX_NESTING = 64, MAX_ERRORS = 20 };

static const unsigned char schema_text[] = {
#include "launch.schema.inc"
    0};

const char *cute_launch_schema(size_t *length)
{
    *length = sizeof schema_text - 1;
    return (const char *)schema_text;
}

typedef struct validation {
    const json_t *root;
    const cute_document *document;
    cute_diag *diag;
    int errors;
} validation;

static void check_value(validation *v, const json_t *schema, const json_t *value, const cute_path *path,
                        int depth);

static const json_t *resolve_ref(const validation *v, const json_t *schema)
{
    static const char prefix[] = "#/$defs/";
    for (int hops = 0; hops < MAX_NESTING; hops++) {
        const char *ref = json_string_value(json_object_get(schema, "$ref"));
        if (!ref || strncmp(ref, prefix, sizeof prefix - 1) != 0) return schema;
        schema = json_object_get(json_object_get(v->root, "$defs"), ref + sizeof prefix - 1);
    }
    return schema;
}

static const char *type_name(const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "a list";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    default: return "null";
    }
}

static bool has_type(const char *type, const json_t *value)
{
    switch (type[0]) {
    case 'o': return json_is_object(value);
    case 'a': return json_is_array(value);
    case 's': return json_is_string(value);
    case 'i': return json_is_integer(value);
    case 'b': return json_is_boolean(value);
    case 'n': return strcmp(type, "null") == 0 ? json_is_null(value) : json_is_number(value);
    default: return false;
    }
}

static const char *type_text(const char *type)
{
    static const char *const texts[][2] = {
        {"object", "an object"}, {"array", "a list"},      {"string", "a string"}, {"integer", "an integer"},
        {"number", "a number"},  {"boolean", "a boolean"}, {"null", "null"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (strcmp(type, texts[i][0]) == 0) return texts[i][1];
    return type;
}

static const char *key_at(const void *object, size_t index)
{
    void *iterator = json_object_iter((json_t *)(uintptr_t)object);
    while (iterator && index-- > 0) iterator = json_object_iter_next((json_t *)(uintptr_t)object, iterator);
    return iterator ? json_object_iter_key(iterator) : NULL;
}

static const char *string_at(const void *array, size_t index)
{
    return json_string_value(json_array_get(array, index));
}

static void list_words(const void *list, const char *(*at)(const void *, size_t), cute_buffer *out)
{
    const char *word;
    for (size_t i = 0; (word = at(list, i)); i++) cute_buffer_printf(out, "%s%s", i ? ", " : "", word);
}

/* Keys that other tools have. */
static const struct {
    const char *key, *advice;
} unsupported_keys[] = {
    {"stream", "launches run in order on one stream; name streams in the entries of 'steps'"},
};

static void fail_unknown_key(validation *v, const json_t *properties, const char *key, const cute_path *path)
{
    const char *near = cute_nearest(key, key_at, properties);
    v->errors++;
    cute_document_fail(v->document, path, true, v->diag,
                       near ? "unknown key '%s'; did you mean '%s'?" : "unknown key '%s'", key, near);
    if (near) return;
    for (size_t i = 0; i < sizeof unsupported_keys / sizeof *unsupported_keys; i++)
        if (!strcmp(unsupported_keys[i].key, key)) cute_note(v->diag, NULL, "%s", unsupported_keys[i].advice);
    cute_buffer known = {0};
    list_words(properties, key_at, &known);
    cute_note(v->diag, NULL, "known keys: %s", cute_buffer_text(&known));
    cute_buffer_release(&known);
}

static void check_object(validation *v, const json_t *schema, const json_t *value, const cute_path *path,
                         int depth)
{
    const json_t *properties = json_object_get(schema, "properties");
    const json_t *additional = json_object_get(schema, "additionalProperties");
    const char *key;
    json_t *member, *required;
    size_t index;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        cute_path step = {path, key, 0};
        const json_t *known = json_object_get(properties, key);
        if (known)
            check_value(v, known, member, &step, depth + 1);
        else if (json_is_object(additional))
            check_value(v, additional, member, &step, depth + 1);
        else if (json_is_false(additional))
            fail_unknown_key(v, properties, key, &step);
        if (v->errors >= MAX_ERRORS) return;
    }
    json_array_foreach(json_object_get(schema, "required"), index, required)
    {
        if (json_object_get(value, json_string_value(required))) continue;
        v->errors++;
        cute_document_fail(v->document, path, false, v->diag, "missing key '%s'",
                           json_string_value(required));
    }
}

static void check_array(validation *v, const json_t *schema, const json_t *value, const cute_path *path,
                        int depth)
{
    const json_t *least = json_object_get(schema, "minItems"), *most = json_object_get(schema, "maxItems");
    size_t count = json_array_size(value);
    if ((least && (json_int_t)count < json_integer_value(least)) ||
        (most && (json_int_t)count > json_integer_value(most))) {
        v->errors++;
        long long low = least ? json_integer_value(least) : 0;
        if (!most)
            cute_document_fail(v->document, path, false, v->diag,
                               "expected a list of at least %lld entries, got %zu", low, count);
        else
            cute_document_fail(v->document, path, false, v->diag,
                               "expected a list of %lld to %lld entries, got %zu", low,
                               (long long)json_integer_value(most), count);
        return;
    }
    const json_t *items = json_object_get(schema, "items");
    for (size_t i = 0; items && i < count && v->errors < MAX_ERRORS; i++) {
        cute_path step = {path, NULL, i};
        check_value(v, items, json_array_get(value, i), &step, depth + 1);
    }
}

static void check_number(validation *v, const json_t *schema, const json_t *value, const cute_path *path)
{
    static const struct {
        const char *key, *text;
    } limits[] = {
        {"minimum", "at least"}, {"maximum", "at most"}, {"exclusiveMinimum", "a number greater than"}};
    double number = json_number_value(value);
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        const json_t *limit = json_object_get(schema, limits[i].key);
        if (!limit) continue;
        double bound = json_number_value(limit);
        bool good = i == 0 ? number >= bound : i == 1 ? number <= bound : number > bound;
        if (good) continue;
        v->errors++;
        cute_document_fail(v->document, path, false, v->diag, "expected %s %g, got %g", limits[i].text, bound,
                           number);
    }
}

static bool in_enum(const json_t *list, const json_t *value)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)list, index, item) if (json_equal(item, value)) return true;
    return false;
}

static void fail_enum(validation *v, const json_t *list, const json_t *value, const cute_path *path)
{
    const char *word = json_string_value(value);
    const char *near = word ? cute_nearest(word, string_at, list) : NULL;
    cute_buffer words = {0};
    list_words(list, string_at, &words);
    v->errors++;
    if (near)
        cute_document_fail(v->document, path, false, v->diag, "unknown value '%s'; did you mean '%s'?", word,
                           near);
    else if (word)
        cute_document_fail(v->document, path, false, v->diag, "unknown value '%s'", word);
    else
        cute_document_fail(v->document, path, false, v->diag, "expected a string, got %s", type_name(value));
    cute_note(v->diag, NULL, "known: %s", cute_buffer_text(&words));
    cute_buffer_release(&words);
}

/* Whether the alternative is the intended one: the type matches and, for an object, its first required key is
 * present. */
static bool is_intended(const json_t *schema, const json_t *value)
{
    const json_t *list = json_object_get(schema, "enum");
    if (list) return json_is_string(value);
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (!type || !has_type(type, value)) return false;
    const char *first = json_string_value(json_array_get(json_object_get(schema, "required"), 0));
    return !first || !json_is_object(value) || json_object_get(value, first);
}

static void describe_alternatives(const validation *v, const json_t *alternatives, const json_t *value,
                                  cute_buffer *out)
{
    size_t index;
    json_t *item;
    json_array_foreach((json_t *)(uintptr_t)alternatives, index, item)
    {
        const json_t *schema = resolve_ref(v, item);
        const char *type = json_string_value(json_object_get(schema, "type"));
        const char *first = json_string_value(json_array_get(json_object_get(schema, "required"), 0));
        if (json_is_object(value) && !first) continue;
        if (out->length) cute_buffer_puts(out, " or ");
        if (first)
            cute_buffer_printf(out, "{\"%s\": ...}", first);
        else if (json_object_get(schema, "enum"))
            list_words(json_object_get(schema, "enum"), string_at, out);
        else
            cute_buffer_puts(out, type ? type_text(type) : "another form");
    }
}

static void check_any(validation *v, const json_t *alternatives, const json_t *value, const cute_path *path,
                      int depth)
{
    size_t index;
    json_t *item;
    const json_t *intended = NULL;
    json_array_foreach((json_t *)(uintptr_t)alternatives, index, item)
    {
        const json_t *schema = resolve_ref(v, item);
        const json_t *list = json_object_get(schema, "enum");
        if (list && in_enum(list, value)) return;
        if (!is_intended(schema, value)) continue;
        /* An alternative for any string takes precedence over a list of words. */
        if (!intended || json_object_get(intended, "enum")) intended = schema;
    }
    if (intended) {
        check_value(v, intended, value, path, depth + 1);
        return;
    }
    cute_buffer wanted = {0};
    describe_alternatives(v, alternatives, value, &wanted);
    v->errors++;
    if (json_is_object(value) && wanted.length == 0)
        describe_alternatives(v, alternatives, json_null(), &wanted);
    cute_document_fail(v->document, path, false, v->diag, "expected %s, got %s", cute_buffer_text(&wanted),
                       type_name(value));
    cute_buffer_release(&wanted);
}

static void check_value(validation *v, const json_t *unresolved, const json_t *value, const cute_path *path,
                        int depth)
{
    const json_t *schema = resolve_ref(v, unresolved);
    if (v->errors >= MAX_ERRORS || !schema) return;
    if (depth > MAX_NESTING) {
        v->errors++;
        cute_document_fail(v->document, path, false, v->diag, "expected at most %d levels of nesting",
                           MAX_NESTING);
        return;
    }
    const json_t *any = json_object_get(schema, "anyOf"), *list = json_object_get(schema, "enum");
    const char *type = json_string_value(json_object_get(schema, "type"));
    if (any) {
        check_any(v, any, value, path, depth);
    } else if (list) {
        if (!in_enum(list, value)) fail_enum(v, list, value, path);
    } else if (type && !has_type(type, value)) {
        v->errors++;
        cute_document_fail(v->document, path, false, v->diag, "expected %s, got %s", type_text(type),
                           type_name(value));
    } else if (json_is_object(value)) {
        check_object(v, schema, value, path, depth);
    } else if (json_is_array(value)) {
        check_array(v, schema, value, path, depth);
    } else if (json_is_number(value)) {
        check_number(v, schema, value, path);
    } else if (json_is_string(value) && json_integer_value(json_object_get(schema, "minLength")) > 0 &&
               json_string_length(value) == 0) {
        v->errors++;
        cute_document_fail(v->document, path, false, v->diag, "expected a non-empty string");
    }
}

/* Supports type, properties, required, additionalProperties, items, enum, anyOf, $ref (#/$defs/NAME),
 * minimum, maximum, exclusiveMinimum, minItems, maxItems and minLength. */
static cute_status validate_document(const json_t *schema, const cute_document *document, cute_diag *diag)
{
    validation v = {.root = schema, .document = document, .diag = diag};
    check_value(&v, schema, document->root, NULL, 0);
    return v.errors ? CUTE_INVALID : CUTE_OK;
}

cute_status cute_launch_validate(const cute_document *document, cute_diag *diag)
{
    size_t length;
    const char *text = cute_launch_schema(&length);
    json_t *schema;
    CUTE_TRY(cute_json_parse("launch.schema.json", text, length, &schema, diag));
    cute_status status = validate_document(schema, document, diag);
    json_decref(schema);
    return status;
}
