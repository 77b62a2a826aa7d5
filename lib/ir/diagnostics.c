/* MLIR's diagnostics as ours: places from locations, notes, the source line. */
#include "lib/ir/diagnostics.h"

#include <mlir-c/Diagnostics.h>

#include "lib/ir/shim.h"
#include "lib/ir/util.h"

void cute_mlir_source_line(const cute_mlir_source *source, cute_place *place)
{
    if (!source->text) return;
    const char *at = source->text, *end = source->text + source->length;
    for (int i = 1; i < place->line && at; i++) {
        at = memchr(at, '\n', (size_t)(end - at));
        if (at) at++;
    }
    if (!at || at >= end) return;
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    place->text = at;
    place->text_length = (size_t)((newline ? newline : end) - at);
}

cute_place cute_mlir_place(const cute_mlir_source *source, MlirLocation location, cute_arena *arena)
{
    MlirStringRef file;
    unsigned line, column;
    if (!cute_location_place(location, &file, &line, &column)) return (cute_place){.file = source->label};
    cute_place place = {.line = (int)line, .column = (int)column};
    place.file = cute_arena_copy(arena, file.data, file.length);
    if (cute_text_is(file, source->label)) cute_mlir_source_line(source, &place);
    return place;
}

static MlirLogicalResult handle(MlirDiagnostic diagnostic, void *context)
{
    cute_mlir_source *source = context;
    static const cute_severity severities[] = {
        [MlirDiagnosticError] = CUTE_ERROR,
        [MlirDiagnosticWarning] = CUTE_WARNING,
        [MlirDiagnosticNote] = CUTE_NOTE,
        [MlirDiagnosticRemark] = CUTE_REMARK,
    };
    cute_arena *arena = cute_arena_create();
    cute_buffer text = {0};
    mlirDiagnosticPrint(diagnostic, cute_print_to_buffer, &text);
    cute_place place = cute_mlir_place(source, mlirDiagnosticGetLocation(diagnostic), arena);
    cute_report(source->diag, severities[mlirDiagnosticGetSeverity(diagnostic)], &place, "%s",
                cute_buffer_text(&text));
    cute_buffer_release(&text);
    cute_arena_destroy(arena);
    for (intptr_t i = 0; i < mlirDiagnosticGetNumNotes(diagnostic); i++)
        handle(mlirDiagnosticGetNote(diagnostic, i), source);
    return mlirLogicalResultSuccess();
}

void cute_mlir_diagnostics(MlirContext context, cute_mlir_source *source)
{
    mlirContextAttachDiagnosticHandler(context, handle, source, NULL);
}
