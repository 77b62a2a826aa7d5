/* Diagnostics as a SARIF log (OASIS Static Analysis Results Interchange Format, version 2.1.0), which GitHub, GitLab and
 * editors show beside the source. */
#include <ctype.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/base/text/json.h"

#define SCHEMA "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"

static const char *const levels[] = {
    [CUTE_ERROR] = "error", [CUTE_WARNING] = "warning", [CUTE_REMARK] = "note", [CUTE_NOTE] = "note"};

/* Bytes that are not UTF-8 become U+FFFD. */
static json_t *message_json(const char *text)
{
    cute_buffer quoted = {0};
    cute_text_json(text, strlen(text), &quoted);
    json_t *json = json_loads(cute_buffer_text(&quoted), JSON_DECODE_ANY, NULL);
    cute_buffer_release(&quoted);
    return json_pack("{s:o}", "text", json ? json : json_string(""));
}

/* A path as a relative or absolute URI reference (RFC 3986). */
static json_t *uri_json(const char *path)
{
    cute_buffer uri = {0};
    for (const char *at = path; *at; at++) {
        if (isalnum((unsigned char)*at) || strchr("/-._~", *at))
            cute_buffer_putc(&uri, *at);
        else
            cute_buffer_printf(&uri, "%%%02X", (unsigned char)*at);
    }
    json_t *json = cute_json_text(cute_buffer_text(&uri));
    cute_buffer_release(&uri);
    return json;
}

/* The column in code points, from 1, of byte `byte`, from 0, of the place's line. */
static int code_point_column(const cute_place *place, size_t byte)
{
    size_t column = 1, at = 0;
    for (; at < byte && at < place->text_length; column++)
        at += (size_t)cute_glyph_at(place->text + at, place->text_length - at).bytes;
    return (int)(column + (byte > at ? byte - at : 0));
}

static json_t *region_json(const cute_place *place)
{
    json_t *region = json_pack("{s:i}", "startLine", place->line);
    if (place->column > 0) {
        size_t from = (size_t)place->column - 1, length = place->length > 1 ? (size_t)place->length : 1;
        json_object_set_new(region, "startColumn", json_integer(code_point_column(place, from)));
        json_object_set_new(region, "endColumn", json_integer(code_point_column(place, from + length)));
    }
    if (place->text) json_object_set_new(region, "snippet", message_json(place->text));
    return region;
}

/* A location; of a note with its text. */
static json_t *location_json(const cute_message *message)
{
    json_t *location = json_object();
    if (message->place.file) {
        json_t *physical = json_pack("{s:{s:o}}", "artifactLocation", "uri", uri_json(message->place.file));
        if (message->place.line > 0) json_object_set_new(physical, "region", region_json(&message->place));
        json_object_set_new(location, "physicalLocation", physical);
    }
    if (message->severity == CUTE_NOTE) json_object_set_new(location, "message", message_json(message->text));
    return location;
}

static json_t *rule_json(const cute_cause *cause)
{
    cute_buffer help = {0};
    cute_buffer_printf(&help, "%s\n\nExample:\n%s", cause->remedies, cause->example);
    json_t *rule = json_pack("{s:s,s:s,s:o,s:o}", "id", cause->code, "name", cause->id, "shortDescription",
                             message_json(cause->likely), "help", message_json(cute_buffer_text(&help)));
    cute_buffer_release(&help);
    return rule;
}

/* The index of the rule in `rules`, where it is added. */
static size_t rule_index(json_t *rules, const cute_cause *cause)
{
    size_t count = json_array_size(rules);
    for (size_t i = 0; i < count; i++)
        if (!strcmp(json_string_value(json_object_get(json_array_get(rules, i), "id")), cause->code))
            return i;
    json_array_append_new(rules, rule_json(cause));
    return count;
}

/* A message and its notes, which end before message `end`. */
static json_t *result_json(const cute_diag *diag, size_t index, size_t end, json_t *rules)
{
    const cute_message *message = cute_diag_get(diag, index);
    const cute_cause *cause = cute_diag_cause(diag, index);
    json_t *result =
        json_pack("{s:s,s:o}", "level", levels[message->severity], "message", message_json(message->text));
    if (cause) {
        json_object_set_new(result, "ruleId", json_string(cause->code));
        json_object_set_new(result, "ruleIndex", json_integer((json_int_t)rule_index(rules, cause)));
    }
    if (message->place.file)
        json_object_set_new(result, "locations", json_pack("[o]", location_json(message)));
    json_t *related = json_array();
    for (size_t i = index + 1; i < end; i++)
        json_array_append_new(related, location_json(cute_diag_get(diag, i)));
    if (json_array_size(related)) json_object_set(result, "relatedLocations", related);
    json_decref(related);
    return result;
}

void cute_diag_sarif(const char *tool, const cute_diag *diag, cute_buffer *out)
{
    json_t *rules = json_array(), *results = json_array();
    size_t count = cute_diag_count(diag);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && cute_diag_get(diag, end)->severity == CUTE_NOTE; end++) {
        }
        json_array_append_new(results, result_json(diag, i, end, rules));
    }
    if (cute_diag_lost(diag))
        json_array_append_new(results, json_pack("{s:s,s:o}", "level", "error", "message",
                                                 message_json("out of memory: messages were lost")));
    json_t *invocation = json_pack("{s:b}", "executionSuccessful", cute_diag_errors(diag) == 0);
    const char *command = cute_diag_fact(diag, CUTE_FACT_COMMAND);
    if (command) json_object_set_new(invocation, "commandLine", cute_json_text(command));
    json_t *log = json_pack("{s:s,s:s,s:[{s:{s:{s:s,s:s,s:o}},s:[o],s:s,s:o}]}", "$schema", SCHEMA, "version",
                            "2.1.0", "runs", "tool", "driver", "name", tool ? tool : "libcute",
                            "semanticVersion", cute_version(), "rules", rules, "invocations", invocation,
                            "columnKind", "unicodeCodePoints", "results", results);
    cute_json_dump(log, false, out);
    cute_buffer_putc(out, '\n');
    json_decref(log);
}
