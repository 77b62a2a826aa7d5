/* Parses a document in the same way as the other programs, and lists the names in it. */
#include "lib/lsp/analysis.h"

#include <ctype.h>
#include <mlir-c/BuiltinTypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/list.h"
#include "lib/ir/diagnostics/diagnostics.h"
#include "lib/ir/diagnostics/locations.h"
#include "lib/ir/diagnostics/recover.h"
#include "lib/ir/dialects/attributes.h"
#include "lib/ir/mlir/context.h"
#include "lib/ir/mlir/util.h"

/* ---- values for ${NAME} ---- */

typedef struct list {
    cute_arena *arena;
    const char **items;
    size_t count, capacity;
} list;

static bool has_name(const list *l, const char *text, size_t length)
{
    for (size_t i = 0; i < l->count; i++)
        if (strcspn(l->items[i], "=") == length && !memcmp(l->items[i], text, length)) return true;
    return false;
}

/* Adds "NAME=VALUE" if the name is valid. */
static bool add_define(list *l, const char *text, size_t length)
{
    const char *equals = memchr(text, '=', length);
    size_t name = equals ? (size_t)(equals - text) : 0, value = name + 1;
    if (!name || isdigit((unsigned char)*text) || has_name(l, text, name)) return true;
    for (size_t i = 0; i < name; i++)
        if (!isalnum((unsigned char)text[i]) && text[i] != '_') return true;
    bool quoted = length > value + 1 && strchr("'\"", text[value]) && text[length - 1] == text[value];
    const char *copy = cute_arena_printf(l->arena, "%.*s=%.*s", (int)name, text,
                                         (int)(length - value - 2 * quoted), text + value + quoted);
    if (!copy || !cute_arena_more(l->arena, &l->items, l->count, &l->capacity, sizeof *l->items, 16))
        return false;
    l->items[l->count++] = copy;
    return true;
}

/* Reads the -D options in a comment. */
static bool read_comment(list *l, const char *at, const char *end)
{
    bool next = false;
    while (at < end) {
        while (at < end && isspace((unsigned char)*at)) at++;
        const char *word = at;
        while (at < end && !isspace((unsigned char)*at)) at++;
        size_t length = (size_t)(at - word);
        bool joined = length > 2 && !memcmp(word, "-D", 2);
        if (next && !add_define(l, word, length)) return false;
        if (joined && !add_define(l, word + 2, length - 2)) return false;
        next = length == 2 && !memcmp(word, "-D", 2);
    }
    return true;
}

cute_status lsp_defines(cute_arena *arena, const lsp_options *options, const char *text, size_t length,
                        cute_define **out, size_t *count, cute_diag *diag)
{
    list l = {.arena = arena};
    bool ok = true;
    for (size_t i = 0; i < options->define_count && ok; i++)
        ok = add_define(&l, options->defines[i], strlen(options->defines[i]));
    for (const char *at = text, *end = text + length; ok && at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        const char *comment = memmem(at, (size_t)(stop - at), "//", 2);
        if (comment) ok = read_comment(&l, comment + 2, stop);
        at = newline ? newline + 1 : end;
    }
    *count = l.count;
    return ok ? cute_defines_parse(arena, l.items, l.count, out, diag) : cute_fail_memory(diag);
}

/* ---- names ---- */

typedef struct analysis {
    cute_mlir_source source;
    cute_origin *origin;
    cute_arena *arena;
    size_t *starts; /* line starts of the parsed text */
    size_t line_count;
    const char *query;
    void (*visit)(const lsp_mark *mark, void *context);
    void *context;
} analysis;

static bool find_lines(analysis *a)
{
    const cute_lines *text = &a->origin->parsed;
    size_t count = 1;
    for (size_t i = 0; i < text->length; i++) count += text->text[i] == '\n';
    a->starts = cute_arena_array(a->arena, count, sizeof *a->starts);
    if (!a->starts) return false;
    a->line_count = 1;
    for (size_t i = 0; i < text->length; i++)
        if (text->text[i] == '\n') a->starts[a->line_count++] = i + 1;
    return true;
}

static cute_origin_point point_of(analysis *a, size_t offset)
{
    size_t low = 0, high = a->line_count;
    while (low + 1 < high) {
        size_t middle = low + (high - low) / 2;
        if (a->starts[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return cute_origin_find(a->origin, (unsigned)low + 1, (unsigned)(offset - a->starts[low]) + 1);
}

static void on_mark(const cute_parsed_mark *parsed, void *context)
{
    analysis *a = context;
    const char *text = a->origin->parsed.text;
    cute_origin_point at = point_of(a, parsed->offset);
    lsp_mark mark = {.file = at.file,
                     .line = at.line,
                     .column = at.column,
                     .length = (unsigned)parsed->length,
                     .type = parsed->type,
                     .value = parsed->value};
    if (!at.file) return;
    mark.name = cute_arena_copy(a->arena, text + parsed->offset, parsed->length);
    if (parsed->definition_length) {
        cute_origin_point definition = point_of(a, parsed->definition);
        mark.definition_file = definition.file;
        mark.definition_line = definition.line;
        mark.definition_column = definition.column;
        mark.definition_length = (unsigned)parsed->definition_length;
    }
    if (mark.name) a->visit(&mark, a->context);
}

/* All calls to MLIR. */
static void parse_document(void *context)
{
    analysis *a = context;
    MlirDialectRegistry registry = cute_registry_create();
    MlirContext mlir = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    const cute_lines *text = &a->origin->parsed;
    cute_mlir_diagnostics(mlir, &a->source);
    MlirModule module =
        cute_module_parse_marked(mlir, mlirStringRefCreate(text->text, text->length),
                                 cute_text(a->origin->buffer), a->visit && find_lines(a) ? on_mark : NULL, a);
    if (!mlirModuleIsNull(module)) {
        cute_locations_settle(&a->source, mlirModuleGetOperation(module));
        cute_attributes_check(&a->source, mlirModuleGetOperation(module));
        mlirModuleDestroy(module);
    }
    if (a->query && a->visit) {
        a->source.diag = NULL;
        MlirType type = mlirTypeParseGet(mlir, cute_text(a->query));
        if (!mlirTypeIsNull(type)) a->visit(&(lsp_mark){.type = type}, a->context);
    }
    mlirContextDestroy(mlir);
}

void lsp_analyse(const char *label, const char *text, size_t length, const lsp_options *options,
                 const char *query, void (*visit)(const lsp_mark *mark, void *context), void *context,
                 cute_diag *diag)
{
    cute_origin origin = {0};
    cute_define *defines = NULL;
    size_t count = 0;
    analysis a = {
        .arena = cute_arena_create(), .origin = &origin, .query = query, .visit = visit, .context = context};
    if (!a.arena) return;
    cute_status status = lsp_defines(a.arena, options, text, length, &defines, &count, diag);
    cute_origin_options reading = {defines, count, options->folders, options->folder_count, false};
    if (!status) {
        status = cute_origin_open(&origin, label, text, length, &reading, diag);
        a.source = cute_mlir_source_of(&origin, diag);
        char *reason = NULL;
        if (!status && !cute_llvm_recover(parse_document, &a, &reason))
            cute_fail(diag, CUTE_INVALID, &(cute_place){.file = label}, "LLVM gave up: %s",
                      reason ? reason : "out of memory");
        free(reason);
        cute_origin_release(&origin);
    }
    cute_arena_destroy(a.arena);
}

static void add_operation(MlirStringRef name, void *context)
{
    list *l = context;
    if (cute_arena_more(l->arena, &l->items, l->count, &l->capacity, sizeof *l->items, 1024) &&
        (l->items[l->count] = cute_arena_copy(l->arena, name.data, name.length)) != NULL)
        l->count++;
}

static void list_operations(void *context)
{
    MlirDialectRegistry registry = cute_registry_create();
    MlirContext mlir = mlirContextCreateWithRegistry(registry, false);
    mlirDialectRegistryDestroy(registry);
    mlirContextLoadAllAvailableDialects(mlir);
    cute_operations_visit(mlir, add_operation, context);
    mlirContextDestroy(mlir);
}

void lsp_operations(cute_arena *arena, const char ***names, size_t *count)
{
    list l = {.arena = arena};
    char *reason = NULL;
    cute_llvm_recover(list_operations, &l, &reason);
    free(reason);
    *names = l.items;
    *count = l.count;
}
