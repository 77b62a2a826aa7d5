/* The methods of the protocol, a row each, and the editor's open documents. */
#include "lib/lsp/server.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/ir/dialects/types.h"
#include "lib/ir/mlir/util.h"
#include "lib/lsp/hover.h"
#include "lib/lsp/outline.h"
#include "lib/lsp/rpc.h"
#include "lib/lsp/text.h"

typedef struct document {
    struct document *next;
    char *uri, *path, *text;
    size_t length;
    json_t *version; /* NULL: none */
    bool changed;    /* since the last check */
} document;

typedef struct server {
    FILE *out;
    const lsp_options *options;
    document *documents;
    const char **operations; /* all names, listed on first use */
    size_t operation_count;
    cute_arena *arena; /* of `operations` */
    bool initialized, shut_down, ended;
} server;

/* ---- documents ---- */

/* The path of a file: URI; other URIs unchanged. */
static char *path_of(const char *uri)
{
    static const char scheme[] = "file://";
    bool file = strncmp(uri, scheme, sizeof scheme - 1) == 0;
    const char *at = file ? uri + sizeof scheme - 1 : uri;
    char *path = malloc(strlen(at) + 1), *to = path;
    for (; path && *at; at++) {
        unsigned byte;
        if (file && *at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]) &&
            sscanf(at + 1, "%2x", &byte) == 1 && byte) {
            *to++ = (char)byte;
            at += 2;
        } else {
            *to++ = *at;
        }
    }
    if (path) *to = '\0';
    return path;
}

static char *uri_of(const char *path)
{
    cute_buffer uri = {0};
    cute_buffer_puts(&uri, "file://");
    for (const char *at = path; *at; at++) {
        if (isalnum((unsigned char)*at) || strchr("/-_.~", *at))
            cute_buffer_putc(&uri, *at);
        else
            cute_buffer_printf(&uri, "%%%02X", (unsigned char)*at);
    }
    return uri.data;
}

static document *find_document(const server *s, const char *uri)
{
    document *d = s->documents;
    while (d && (!uri || strcmp(d->uri, uri) != 0)) d = d->next;
    return d;
}

static void release_document(document *d)
{
    if (!d) return;
    free(d->uri);
    free(d->path);
    free(d->text);
    json_decref(d->version);
    free(d);
}

/* ---- diagnostics ---- */

static bool is_word_byte(char c)
{
    return isalnum((unsigned char)c) || strchr("%#!@^$._-", c) != NULL;
}

/* The range from a place to the end of the word there. */
static json_t *range_at(const document *d, const cute_place *place)
{
    size_t line = place->line > 0 ? (size_t)place->line - 1 : 0, length = 0;
    const char *text = lsp_line_of(d->text, d->length, line, &length);
    size_t from = place->column > 0 ? (size_t)place->column - 1 : 0, to = from;
    if (!text || place->line < 1) return lsp_range_of(d->text, d->length, line, 0, length);
    if (place->column < 1) to = length;
    if (place->length > 1) to = from + (size_t)place->length;
    while (to < length && to >= from && place->length <= 1 && is_word_byte(text[to]) && text[to]) to++;
    return lsp_range_of(d->text, d->length, line, from, to > from ? to : from + 1);
}

/* The place in the document itself, from a note, of a message about an included file; else the message's own
 * place. */
static cute_place own_place(const document *d, const cute_diag *diag, size_t index, size_t last)
{
    const cute_message *message = cute_diag_get(diag, index);
    for (size_t i = index; i < last; i++) {
        const cute_message *m = cute_diag_get(diag, i);
        if (m->place.file && m->place.line > 0 && !strcmp(m->place.file, d->path)) return m->place;
    }
    return (cute_place){.file = message->place.file};
}

static json_t *diagnostic_of(const document *d, const cute_diag *diag, size_t index, size_t last)
{
    static const char unknown[] = "unknown name '";
    const cute_message *message = cute_diag_get(diag, index);
    const cute_place *said = &message->place;
    int severity = message->severity == CUTE_ERROR ? 1 : message->severity == CUTE_WARNING ? 2 : 3;
    cute_buffer text = {0};
    if (said->file && said->line > 0 && strcmp(said->file, d->path) != 0)
        cute_buffer_printf(&text, "%s:%d:%d: ", said->file, said->line, said->column);
    if (!strncmp(message->text, unknown, sizeof unknown - 1)) {
        const char *name = message->text + sizeof unknown - 1;
        int length = (int)strcspn(name, "'");
        severity = 3;
        cute_buffer_printf(&text,
                           "no value for '%.*s', so nothing is checked; set it with a comment '// -D "
                           "%.*s=VALUE' or with cute-lsp -D %.*s=VALUE",
                           length, name, length, name, length, name);
    } else {
        cute_buffer_puts(&text, message->text);
        for (size_t i = index + 1; i < last; i++) {
            const cute_message *note = cute_diag_get(diag, i);
            cute_buffer_puts(&text, "\nnote: ");
            if (note->place.file && note->place.line > 0)
                cute_buffer_printf(&text, "%s:%d: ", note->place.file, note->place.line);
            cute_buffer_puts(&text, note->text);
        }
    }
    cute_place place = own_place(d, diag, index, last);
    json_t *diagnostic = json_object();
    json_object_set_new(diagnostic, "range", range_at(d, &place));
    json_object_set_new(diagnostic, "severity", json_integer(severity));
    json_object_set_new(diagnostic, "source", json_string("cute"));
    const cute_cause *cause = cute_diag_cause(diag, index);
    if (cause) json_object_set_new(diagnostic, "code", json_string(cause->code));
    json_t *shown = json_string(cute_buffer_text(&text));
    json_object_set_new(diagnostic, "message", shown ? shown : json_string("(not UTF-8)"));
    cute_buffer_release(&text);
    return diagnostic;
}

static void publish_diagnostics(server *s, const char *uri, json_t *version, json_t *diagnostics)
{
    json_t *params = json_object();
    json_object_set_new(params, "uri", json_string(uri));
    if (version) json_object_set(params, "version", version);
    json_object_set_new(params, "diagnostics", diagnostics);
    lsp_rpc_notify(s->out, "textDocument/publishDiagnostics", params);
}

static void check_document(server *s, document *d)
{
    d->changed = false;
    cute_diag *diag = cute_diag_create();
    json_t *list = json_array();
    if (diag) lsp_analyse(d->path, d->text, d->length, s->options, NULL, NULL, NULL, diag);
    for (size_t i = 0, next; diag && i < cute_diag_count(diag); i = next) {
        for (next = i + 1; next < cute_diag_count(diag) && cute_diag_get(diag, next)->severity == CUTE_NOTE;
             next++) {
        }
        if (cute_diag_get(diag, i)->severity != CUTE_NOTE)
            json_array_append_new(list, diagnostic_of(d, diag, i, next));
    }
    cute_diag_destroy(diag);
    publish_diagnostics(s, d->uri, d->version, list);
}

/* ---- the cursor ---- */

typedef struct cursor {
    const document *document;
    size_t line, column; /* bytes from 0 */
    cute_arena *arena;
    cute_buffer text; /* of a hover */
    json_t *range, *place;
    const char *query; /* the text of a type at the cursor */
    size_t query_from, query_to;
} cursor;

static void put_type(cursor *c, const char *name, MlirType type)
{
    cute_buffer text = {0};
    cute_value value;
    mlirTypePrint(type, cute_print_to_buffer, &text);
    cute_buffer_printf(&c->text, "```mlir\n%s%s%s\n```\n", name ? name : "", name ? " : " : "",
                       cute_buffer_text(&text));
    if (cute_type_row_of(type) && cute_type_value(type, &value, NULL) == CUTE_OK)
        lsp_describe(c->arena, &value, &c->text);
    cute_buffer_release(&text);
}

static bool is_here(const cursor *c, const lsp_mark *mark)
{
    return mark->line == c->line + 1 && mark->column <= c->column + 1 &&
           c->column + 1 < mark->column + mark->length && !strcmp(mark->file, c->document->path);
}

static void on_hover(const lsp_mark *mark, void *context)
{
    cursor *c = context;
    lsp_tile tile;
    if (c->text.length) return;
    if (!mark->name) {
        put_type(c, NULL, mark->type);
        c->range = lsp_range_of(c->document->text, c->document->length, c->line, c->query_from, c->query_to);
        return;
    }
    if (!is_here(c, mark) || mlirTypeIsNull(mark->type)) return;
    put_type(c, mark->name, mark->type);
    if (!mlirValueIsNull(mark->value) && lsp_tile_of(mark->value, &tile))
        lsp_describe_tile(c->arena, &tile, &c->text);
    c->range = lsp_range_of(c->document->text, c->document->length, c->line, mark->column - 1,
                            mark->column - 1 + mark->length);
}

static void on_definition(const lsp_mark *mark, void *context)
{
    cursor *c = context;
    if (c->place || !mark->name || !mark->definition_file || !is_here(c, mark)) return;
    const document *d = c->document;
    bool own = !strcmp(mark->definition_file, d->path);
    char *uri = own ? NULL : uri_of(mark->definition_file);
    size_t line = mark->definition_line - 1, from = mark->definition_column - 1;
    json_t *range =
        own ? lsp_range_of(d->text, d->length, line, from, from + mark->definition_length) : json_object();
    if (!own) {
        json_object_set_new(range, "start", lsp_position(line, from));
        json_object_set_new(range, "end", lsp_position(line, from + mark->definition_length));
    }
    c->place = json_object();
    json_object_set_new(c->place, "uri", json_string(own ? d->uri : uri ? uri : ""));
    json_object_set_new(c->place, "range", range);
    free(uri);
}

/* Collects the uses in the document of the name whose definition was found. */
typedef struct references {
    cursor *cursor;
    bool with_definition;
    const char *file; /* of the definition */
    unsigned line, column;
    json_t *list;
} references;

static void on_target(const lsp_mark *mark, void *context)
{
    references *r = context;
    if (r->file || !mark->name || !mark->definition_file || !is_here(r->cursor, mark)) return;
    r->file = cute_arena_copy(r->cursor->arena, mark->definition_file, strlen(mark->definition_file));
    r->line = mark->definition_line;
    r->column = mark->definition_column;
}

static void on_reference(const lsp_mark *mark, void *context)
{
    references *r = context;
    const document *d = r->cursor->document;
    bool own = mark->file && !strcmp(mark->file, d->path);
    if (!mark->name || !mark->definition_file || mark->definition_line != r->line ||
        mark->definition_column != r->column || strcmp(mark->definition_file, r->file) != 0 || !own)
        return;
    if (!r->with_definition && mark->line == r->line && mark->column == r->column &&
        !strcmp(mark->file, r->file))
        return;
    json_t *place = json_object();
    json_object_set_new(place, "uri", json_string(d->uri));
    json_object_set_new(
        place, "range",
        lsp_range_of(d->text, d->length, mark->line - 1, mark->column - 1, mark->column - 1 + mark->length));
    json_array_append_new(r->list, place);
}

/* The end of the type that begins with `!` at `at`: after its name, or after the matching `>`. */
static size_t end_of_type(const char *line, size_t length, size_t at)
{
    bool string = false;
    int depth = 0;
    for (at++; at < length && (isalnum((unsigned char)line[at]) || strchr("._$", line[at])); at++) {
    }
    if (at >= length || line[at] != '<') return at;
    for (; at < length; at++) {
        if (line[at] == '"') string = !string;
        if (string) continue;
        if (line[at] == '<' || line[at] == '(') depth++;
        if (line[at] == '>' && line[at - 1] == '-') continue;
        if ((line[at] == '>' || line[at] == ')') && --depth == 0) return at + 1;
    }
    return at;
}

/* Finds the innermost type at the cursor, or a string in quotes, as a layout. */
static void find_query(cursor *c, const lsp_options *options)
{
    size_t length = 0;
    const char *line = lsp_line_of(c->document->text, c->document->length, c->line, &length);
    const char *prefix = "", *suffix = "";
    bool found = false;
    for (size_t i = 0; line && i <= c->column && i < length; i++) {
        size_t end = line[i] == '!' ? end_of_type(line, length, i) : 0;
        if (end <= c->column) continue;
        found = true;
        c->query_from = i;
        c->query_to = end;
    }
    for (size_t i = 0; line && !found && i <= c->column && i < length; i++) {
        if (line[i] != '"') continue;
        const char *close = memchr(line + i + 1, '"', length - i - 1);
        size_t end = close ? (size_t)(close - line) + 1 : length;
        found = close && end > c->column && memchr(line + i, ':', end - i);
        c->query_from = i;
        c->query_to = end;
        prefix = "!cute.layout<";
        suffix = ">";
        i = end - 1;
    }
    if (!found) return;
    const char *raw = cute_arena_printf(c->arena, "%s%.*s%s", prefix, (int)(c->query_to - c->query_from),
                                        line + c->query_from, suffix);
    /* Substitutes ${NAME}. */
    cute_define *defines;
    size_t count;
    cute_buffer text = {0};
    cute_sources sources = {.arena = c->arena};
    cute_edits edits = {.arena = c->arena};
    if (raw &&
        lsp_defines(c->arena, options, c->document->text, c->document->length, &defines, &count, NULL) ==
            CUTE_OK &&
        cute_include(&sources, "", raw, strlen(raw), &text, NULL) == CUTE_OK &&
        cute_defines_apply(&sources, raw, strlen(raw), defines, count, &text, &edits, NULL) == CUTE_OK)
        c->query = cute_arena_copy(c->arena, cute_buffer_text(&text), text.length);
    cute_buffer_release(&text);
}

/* The document and position of a request; false if its params are invalid. */
static bool read_cursor(server *s, const json_t *params, cursor *c)
{
    const json_t *at = json_object_get(params, "position");
    const char *uri = json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
    const json_t *line = json_object_get(at, "line"), *character = json_object_get(at, "character");
    *c = (cursor){.document = find_document(s, uri)};
    if (!c->document || !json_is_integer(line) || !json_is_integer(character) ||
        json_integer_value(line) < 0 || json_integer_value(character) < 0)
        return false;
    size_t length = 0;
    c->line = (size_t)json_integer_value(line);
    const char *text = lsp_line_of(c->document->text, c->document->length, c->line, &length);
    c->column = text ? lsp_bytes_of(text, length, (size_t)json_integer_value(character)) : 0;
    return true;
}

/* ---- methods ---- */

/* NULL: invalid params. */
typedef json_t *request(server *s, const json_t *params);
typedef void notification(server *s, const json_t *params);

static json_t *do_initialize(server *s, const json_t *params)
{
    (void)params;
    s->initialized = true;
    json_t *result = json_object(), *abilities = json_object(), *info = json_object(), *sync = json_object(),
           *completion = json_object();
    json_object_set_new(sync, "openClose", json_true());
    json_object_set_new(sync, "change", json_integer(2)); /* incremental */
    json_object_set_new(sync, "save", json_true());
    json_object_set_new(abilities, "textDocumentSync", sync);
    json_object_set_new(abilities, "hoverProvider", json_true());
    json_object_set_new(abilities, "definitionProvider", json_true());
    json_object_set_new(abilities, "referencesProvider", json_true());
    json_object_set_new(abilities, "documentHighlightProvider", json_true());
    json_object_set_new(abilities, "documentSymbolProvider", json_true());
    json_object_set_new(completion, "triggerCharacters", json_pack("[s,s,s,s,s]", "%", "!", "#", "@", "."));
    json_object_set_new(abilities, "completionProvider", completion);
    json_object_set_new(info, "name", json_string("cute-lsp"));
    json_object_set_new(info, "version", json_string(cute_version()));
    json_object_set_new(result, "capabilities", abilities);
    json_object_set_new(result, "serverInfo", info);
    return result;
}

static json_t *do_shutdown(server *s, const json_t *params)
{
    (void)params;
    s->shut_down = true;
    return json_null();
}

static json_t *do_hover(server *s, const json_t *params)
{
    cursor c;
    if (!read_cursor(s, params, &c) || !(c.arena = cute_arena_create())) return NULL;
    const document *d = c.document;
    find_query(&c, s->options);
    lsp_analyse(d->path, d->text, d->length, s->options, c.query, on_hover, &c, NULL);
    json_t *result = json_null(), *value = c.text.length ? json_string(cute_buffer_text(&c.text)) : NULL;
    if (value) {
        json_t *contents = json_object();
        json_object_set_new(contents, "kind", json_string("markdown"));
        json_object_set_new(contents, "value", value);
        result = json_object();
        json_object_set_new(result, "contents", contents);
        json_object_set(result, "range", c.range);
    }
    json_decref(c.range);
    cute_buffer_release(&c.text);
    cute_arena_destroy(c.arena);
    return result;
}

static json_t *do_definition(server *s, const json_t *params)
{
    cursor c;
    if (!read_cursor(s, params, &c)) return NULL;
    lsp_analyse(c.document->path, c.document->text, c.document->length, s->options, NULL, on_definition, &c,
                NULL);
    return c.place ? c.place : json_null();
}

static json_t *references_at(server *s, const json_t *params, bool with_definition)
{
    cursor c;
    if (!read_cursor(s, params, &c) || !(c.arena = cute_arena_create())) return NULL;
    const document *d = c.document;
    references r = {.cursor = &c, .with_definition = with_definition, .list = json_array()};
    lsp_analyse(d->path, d->text, d->length, s->options, NULL, on_target, &r, NULL);
    if (r.file) lsp_analyse(d->path, d->text, d->length, s->options, NULL, on_reference, &r, NULL);
    cute_arena_destroy(c.arena);
    return r.list;
}

static json_t *do_references(server *s, const json_t *params)
{
    const json_t *with = json_object_get(json_object_get(params, "context"), "includeDeclaration");
    return references_at(s, params, !json_is_false(with));
}

static json_t *do_highlight(server *s, const json_t *params)
{
    json_t *list = references_at(s, params, true), *place;
    size_t i;
    json_array_foreach(list, i, place) json_object_del(place, "uri");
    return list;
}

static const document *document_of(server *s, const json_t *params)
{
    return find_document(s,
                         json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri")));
}

static json_t *do_symbols(server *s, const json_t *params)
{
    const document *d = document_of(s, params);
    return d ? lsp_outline(d->text, d->length) : NULL;
}

static json_t *do_completion(server *s, const json_t *params)
{
    const document *d = document_of(s, params);
    size_t offset;
    if (!d || !lsp_offset_of(d->text, d->length, json_object_get(params, "position"), &offset)) return NULL;
    if (!s->arena && (s->arena = cute_arena_create()) != NULL)
        lsp_operations(s->arena, &s->operations, &s->operation_count);
    return lsp_completions(d->text, d->length, offset, s->operations, s->operation_count);
}

static void do_exit(server *s, const json_t *params)
{
    (void)params;
    s->ended = true;
}

/* Takes ownership of `text`, which is checked once no more messages are pending. */
static void set_text(document *d, char *text, size_t length, const json_t *version)
{
    free(d->text);
    d->text = text;
    d->length = length;
    json_decref(d->version);
    d->version = json_is_integer(version) ? json_copy((json_t *)version) : NULL;
    d->changed = true;
}

static document *add_document(server *s, const char *uri)
{
    document *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    d->uri = strdup(uri);
    d->path = path_of(uri);
    if (!d->uri || !d->path) {
        release_document(d);
        return NULL;
    }
    d->next = s->documents;
    s->documents = d;
    return d;
}

static void do_open(server *s, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument");
    const char *uri = json_string_value(json_object_get(item, "uri"));
    size_t length;
    char *text = uri ? lsp_text_changed("", 0, item, &length) : NULL;
    document *d = text ? find_document(s, uri) : NULL;
    if (text && !d) d = add_document(s, uri);
    if (d)
        set_text(d, text, length, json_object_get(item, "version"));
    else
        free(text);
}

static void do_change(server *s, const json_t *params)
{
    const json_t *item = json_object_get(params, "textDocument"), *change;
    document *d = find_document(s, json_string_value(json_object_get(item, "uri")));
    size_t i, length;
    if (!d) return;
    json_array_foreach(json_object_get(params, "contentChanges"), i, change)
    {
        char *text = lsp_text_changed(d->text, d->length, change, &length);
        if (text) set_text(d, text, length, json_object_get(item, "version"));
    }
}

/* Included files may have changed: checks all documents. */
static void do_save(server *s, const json_t *params)
{
    (void)params;
    for (document *d = s->documents; d; d = d->next) d->changed = true;
}

static void do_close(server *s, const json_t *params)
{
    const char *uri = json_string_value(json_object_get(json_object_get(params, "textDocument"), "uri"));
    for (document **at = &s->documents; uri && *at; at = &(*at)->next) {
        document *d = *at;
        if (strcmp(d->uri, uri) != 0) continue;
        *at = d->next;
        publish_diagnostics(s, uri, NULL, json_array());
        release_document(d);
        return;
    }
}

static const struct {
    const char *method;
    request *run;
} requests[] = {
    {"initialize", do_initialize},
    {"shutdown", do_shutdown},
    {"textDocument/hover", do_hover},
    {"textDocument/definition", do_definition},
    {"textDocument/references", do_references},
    {"textDocument/documentHighlight", do_highlight},
    {"textDocument/documentSymbol", do_symbols},
    {"textDocument/completion", do_completion},
};

/* Other notifications are ignored. */
static const struct {
    const char *method;
    notification *run;
} notifications[] = {
    {"exit", do_exit},
    {"textDocument/didOpen", do_open},
    {"textDocument/didChange", do_change},
    {"textDocument/didSave", do_save},
    {"textDocument/didClose", do_close},
};

static void answer_request(server *s, const json_t *id, const char *method, const json_t *params)
{
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        if (strcmp(requests[i].method, method) != 0) continue;
        if (!s->initialized && requests[i].run != do_initialize)
            return lsp_rpc_error(s->out, id, LSP_NOT_INITIALIZED, "expected 'initialize' first");
        json_t *result = requests[i].run(s, params);
        if (result) return lsp_rpc_reply(s->out, id, result);
        return lsp_rpc_error(s->out, id, LSP_INVALID_PARAMS,
                             "expected an open document and a position in it");
    }
    lsp_rpc_error(s->out, id, LSP_METHOD_NOT_FOUND, "no such method");
}

static void handle_message(server *s, const json_t *message)
{
    const char *method = json_string_value(json_object_get(message, "method"));
    const json_t *id = json_object_get(message, "id"), *params = json_object_get(message, "params");
    bool has_id = json_is_integer(id) || json_is_string(id);
    if (!method) {
        /* Responses are ignored: the server sends no requests. */
        if (!json_object_get(message, "result") && !json_object_get(message, "error"))
            lsp_rpc_error(s->out, has_id ? id : NULL, LSP_INVALID_REQUEST, "expected a method");
        return;
    }
    if (has_id) {
        answer_request(s, id, method, params);
        return;
    }
    for (size_t i = 0; i < sizeof notifications / sizeof *notifications; i++)
        if (!strcmp(notifications[i].method, method) && (s->initialized || notifications[i].run == do_exit))
            notifications[i].run(s, params);
}

/* While changes are pending, only the last state is checked. */
static void check_changed(server *s, FILE *in)
{
    for (document *d = s->documents; d && !s->ended && !s->shut_down; d = d->next) {
        if (!d->changed) continue;
        if (lsp_rpc_waits(in)) return;
        check_document(s, d);
    }
}

int lsp_serve(FILE *in, FILE *out, const lsp_options *options, cute_diag *diag)
{
    server s = {.out = out, .options = options};
    setvbuf(in, NULL, _IONBF, 0); /* required by lsp_rpc_waits */
    while (!s.ended) {
        json_t *message;
        const char *why;
        lsp_read read = lsp_rpc_read(in, &message, &why);
        if (read == LSP_READ_MESSAGE) handle_message(&s, message);
        if (read == LSP_READ_WRONG) lsp_rpc_error(out, NULL, LSP_PARSE_ERROR, why);
        if (read == LSP_READ_END && why) cute_fail(diag, CUTE_INVALID, NULL, "%s", why);
        json_decref(message);
        if (read == LSP_READ_END) break;
        check_changed(&s, in);
    }
    while (s.documents) {
        document *d = s.documents;
        s.documents = d->next;
        release_document(d);
    }
    cute_arena_destroy(s.arena);
    return s.ended && s.shut_down ? CUTE_OK : CUTE_INVALID;
}
