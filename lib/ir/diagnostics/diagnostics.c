/* See diagnostics.h. */
#include "lib/ir/diagnostics/diagnostics.h"

#include <mlir-c/Diagnostics.h>

#include "lib/ir/diagnostics/locations.h"
#include "lib/ir/dialects/attributes.h"
#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"
#include "lib/ir/text/modules.h"
#include "lib/ir/text/spellings.h"

cute_mlir_source cute_mlir_source_of(cute_origin *origin, cute_diag *diag)
{
    return (cute_mlir_source){.diag = diag, .origin = origin, .label = origin->name};
}

cute_place cute_mlir_place(const cute_mlir_source *source, MlirLocation location, cute_arena *arena)
{
    MlirStringRef file;
    unsigned line, column;
    cute_place place = {.file = source->label};
    if (!cute_location_place(location, &file, &line, &column)) return place;
    if (!source->settled && source->origin->moves && cute_text_is(file, source->origin->buffer)) {
        cute_origin_point point = cute_origin_find(source->origin, line, column);
        if (!point.file) return place;
        file = cute_text(point.file);
        line = point.line;
        column = point.column;
    }
    place.file = cute_arena_copy(arena, file.data, file.length);
    place.line = (int)line;
    place.column = (int)column;
    cute_origin_line(source->origin, &place);
    return place;
}

/* Replaces MLIR's "expected type" by a better message if the text has a type that LLVM 19 lacks. */
static void explain_type(cute_place *place, cute_buffer *text)
{
    static const char *const messages[] = {"expected non-function type", "expected attribute value",
                                           "expected type"};
    bool missing = false;
    for (size_t i = 0; i < sizeof messages / sizeof *messages; i++)
        missing |= !strcmp(cute_buffer_text(text), messages[i]);
    if (!missing || !place->text || place->column < 1) return;
    size_t at = (size_t)place->column - 1;
    while (at < place->text_length && place->text[at] == ' ') at++;
    cute_buffer better = {0};
    if (at < place->text_length && cute_spelling_lacks(place->text + at, place->text_length - at, &better)) {
        place->column = (int)at + 1;
        cute_buffer_release(text);
        *text = better;
    } else {
        cute_buffer_release(&better);
    }
}

static void report_diagnostic(MlirDiagnostic diagnostic, cute_mlir_source *source)
{
    static const cute_severity severities[] = {
        [MlirDiagnosticError] = CUTE_ERROR,
        [MlirDiagnosticWarning] = CUTE_WARNING,
        [MlirDiagnosticNote] = CUTE_NOTE,
        [MlirDiagnosticRemark] = CUTE_REMARK,
    };
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    mlirDiagnosticPrint(diagnostic, cute_print_to_buffer, &text);
    cute_severity severity = severities[mlirDiagnosticGetSeverity(diagnostic)];
    cute_place place = cute_mlir_place(source, mlirDiagnosticGetLocation(diagnostic), arena);
    explain_type(&place, &text);
    cute_report(source->diag, severity, &place, "%s", cute_buffer_text(&text));
    if (severity != CUTE_NOTE) cute_origin_notes(source->origin, &place, source->diag);
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
    for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
        report_diagnostic(mlirDiagnosticGetNote(diagnostic, i), source);
}

static MlirLogicalResult handle_diagnostic(MlirDiagnostic diagnostic, void *context)
{
    cute_mlir_source *source = context;
    report_diagnostic(diagnostic, source);
    if (source->told) source->told(source->context);
    return mlirLogicalResultSuccess();
}

void cute_mlir_diagnostics(MlirContext context, cute_mlir_source *source)
{
    mlirContextAttachDiagnosticHandler(context, handle_diagnostic, source, NULL);
}

MlirModule cute_mlir_source_parse(cute_mlir_source *source, MlirContext context)
{
    const cute_lines *text = &source->origin->parsed;
    cute_mlir_diagnostics(context, source);
    MlirModule module = cute_module_parse(context, mlirStringRefCreate(text->text, text->length),
                                          cute_text(source->origin->buffer));
    if (mlirModuleIsNull(module)) return module;
    cute_locations_settle(source, mlirModuleGetOperation(module));
    cute_attributes_check(source, mlirModuleGetOperation(module));
    cute_modules_merge(mlirModuleGetOperation(module));
    return module;
}
