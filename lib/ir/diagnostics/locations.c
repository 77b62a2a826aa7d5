/* See locations.h. */
#include "lib/ir/diagnostics/locations.h"

#include <stdlib.h>
#include <string.h>

#include "lib/ir/mlir/shim.h"
#include "lib/ir/mlir/util.h"

/* ---- after parsing ---- */

static MlirLocation location_with_name(MlirContext context, MlirLocation place, const char *name,
                                       size_t length)
{
    return name ? mlirLocationNameGet(context, mlirStringRefCreate(name, length), place) : place;
}

static MlirLocation file_location(MlirContext context, const char *file, unsigned line, unsigned column)
{
    return mlirLocationFileLineColGet(context, cute_text(file), line, column);
}

/* Adds the form of a location that the source map recorded (a name, a fusion...). */
static MlirLocation location_with_form(MlirContext context, const cute_origin *origin, uint32_t form,
                                       MlirLocation place)
{
    if (!form) return place;
    const cute_map_form *f = &origin->map.forms[form - 1];
    return f->name ? location_with_name(context, place, f->text, strlen(f->text))
                   : cute_location_of_form(place, CUTE_MAP_PLACE, f->text);
}

/* The location of an argument of an operation, from the source map of its line. */
static MlirLocation mapped_argument(MlirContext context, cute_origin *origin, const cute_origin_point *point,
                                    intptr_t index, MlirLocation place)
{
    const cute_map_line *line = point->mapped;
    if (!point->exact || (index >= 0 && (size_t)index >= line->argument_count)) return place;
    if (index < 0) return location_with_form(context, origin, line->form, place);
    const cute_map_argument *a = &origin->map.arguments[line->first_argument + (size_t)index];
    if (a->placed && point->file) place = file_location(context, point->file, a->line, a->column);
    if (a->form) return location_with_form(context, origin, a->form, place);
    return location_with_name(context, place, a->name, a->name ? strlen(a->name) : 0);
}

static MlirLocation relocate_to_source(MlirLocation old, unsigned line, unsigned column,
                                       const cute_placed *what, void *context)
{
    cute_origin *origin = context;
    MlirContext c = mlirLocationGetContext(old);
    if (origin->mapped) {
        cute_origin_point point = cute_origin_find(origin, what->owner ? what->owner : line, column);
        MlirLocation place =
            point.file ? file_location(c, point.file, point.line, point.column) : mlirLocationUnknownGet(c);
        return point.mapped ? mapped_argument(c, origin, &point, what->argument, place) : place;
    }
    MlirLocation place = old;
    if (origin->moves) {
        cute_origin_point point = cute_origin_find(origin, line, column);
        place = file_location(c, point.file, point.line, point.column);
    }
    size_t length = 0;
    const char *name = NULL;
    if (what->function && what->argument >= 0) name = cute_origin_value_name(origin, line, column, &length);
    return location_with_name(c, place, name, length);
}

void cute_locations_settle(cute_mlir_source *source, MlirOperation root)
{
    cute_origin *origin = source->origin;
    if (!origin->bytecode)
        cute_locations_replace(root, cute_text(origin->buffer), !origin->moves, relocate_to_source, origin);
    source->settled = true;
}

/* ---- while printing ---- */

/* Records a location form; frees `text`. */
static uint32_t form_of_text(cute_map_builder *b, char *text)
{
    uint32_t form = text ? cute_source_map_form(&b->map, text, strlen(text), false) : 0;
    free(text);
    return form;
}

static uint32_t form_of(cute_map_builder *b, MlirLocation location)
{
    MlirStringRef name;
    char *text = NULL;
    switch (cute_location_form(location, CUTE_MAP_PLACE, &name, &text)) {
    case CUTE_LOCATION_PLAIN: return 0;
    case CUTE_LOCATION_OTHER: return form_of_text(b, text);
    case CUTE_LOCATION_NAMED: break;
    }
    size_t at = ((uintptr_t)name.data >> 4) % (sizeof b->names / sizeof *b->names);
    if (b->names[at].data != name.data) {
        b->names[at].data = name.data;
        b->names[at].form = cute_source_map_form(&b->map, name.data, name.length, true);
    }
    return b->names[at].form;
}

/* The form of an argument's location, if it is more than a name and a place in the file of its operation. */
static uint32_t form_of_argument(cute_map_builder *b, MlirLocation location, bool placed)
{
    MlirStringRef name;
    char *text = NULL;
    bool other =
        cute_location_form(location, placed ? CUTE_MAP_PLACE : 0, &name, &text) == CUTE_LOCATION_OTHER;
    return other ? form_of_text(b, text) : 0;
}

static uint32_t file_of(cute_map_builder *b, MlirStringRef file)
{
    if (b->map.file_count && b->file_data == file.data) return b->file;
    uint64_t hash = cute_origin_hash(b->origin, file.data, file.length);
    b->file_data = file.data;
    return b->file = cute_source_map_file(&b->map, file.data, file.length, hash);
}

void cute_locations_note(unsigned line, MlirLocation location, MlirBlock entry, void *builder)
{
    cute_map_builder *b = builder;
    cute_map_line entry_line = {.printed = line};
    MlirStringRef file;
    entry_line.placed = cute_location_place(location, &file, &entry_line.line, &entry_line.column);
    if (entry_line.placed) entry_line.file = file_of(b, file);
    entry_line.form = form_of(b, location);
    if (!cute_source_map_line(&b->map, &entry_line) || mlirBlockIsNull(entry)) return;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
        MlirLocation of = cute_argument_location(mlirBlockGetArgument(entry, i));
        cute_map_argument argument = {0};
        MlirStringRef name = cute_location_name(of), of_file;
        argument.placed = cute_location_place(of, &of_file, &argument.line, &argument.column) &&
                          entry_line.placed && mlirStringRefEqual(of_file, file);
        argument.form = form_of_argument(b, of, argument.placed);
        if (!argument.form && name.length && !memchr(name.data, 0, name.length)) argument.name = name.data;
        cute_source_map_argument(&b->map, &argument, name.length);
    }
}
