/* Owns what locations mean to a reader: the file that the user wrote, the names of its arguments. */
#include "lib/ir/locations.h"

#include <string.h>

#include "lib/ir/shim.h"
#include "lib/ir/util.h"

/* ---- after parsing ---- */

static MlirLocation named(MlirContext context, MlirLocation place, const char *name, size_t length)
{
    return name ? mlirLocationNameGet(context, mlirStringRefCreate(name, length), place) : place;
}

static MlirLocation place_at(MlirContext context, const char *file, unsigned line, unsigned column)
{
    return mlirLocationFileLineColGet(context, cute_text(file), line, column);
}

/* An argument of the operation on a line, from the line's map. */
static MlirLocation mapped_argument(MlirContext context, cute_origin *origin, const cute_origin_point *point,
                                    intptr_t index, MlirLocation place)
{
    const cute_map_line *line = point->mapped;
    if (!point->exact || index < 0 || (size_t)index >= line->argument_count) return place;
    const cute_map_argument *a = &origin->map.arguments[line->first_argument + (size_t)index];
    if (a->placed && point->file) place = place_at(context, point->file, a->line, a->column);
    return named(context, place, a->name, a->name ? strlen(a->name) : 0);
}

static MlirLocation relocate(MlirLocation old, unsigned line, unsigned column, const cute_placed *what,
                             void *context)
{
    cute_origin *origin = context;
    MlirContext c = mlirLocationGetContext(old);
    if (origin->mapped) {
        cute_origin_point point = cute_origin_find(origin, what->owner ? what->owner : line, column);
        MlirLocation place =
            point.file ? place_at(c, point.file, point.line, point.column) : mlirLocationUnknownGet(c);
        return point.mapped ? mapped_argument(c, origin, &point, what->argument, place) : place;
    }
    MlirLocation place = old;
    if (origin->moves) {
        cute_origin_point point = cute_origin_find(origin, line, column);
        place = place_at(c, point.file, point.line, point.column);
    }
    size_t length = 0;
    const char *name = NULL;
    if (what->function && what->argument >= 0) name = cute_origin_value_name(origin, line, column, &length);
    return named(c, place, name, length);
}

void cute_locations_settle(cute_mlir_source *source, MlirOperation root)
{
    cute_origin *origin = source->origin;
    if (!origin->bytecode)
        cute_locations_replace(root, cute_text(origin->buffer), !origin->moves, relocate, origin);
    source->settled = true;
}

/* ---- while printing ---- */

static uint32_t file_of(cute_map_builder *b, MlirStringRef file)
{
    if (b->map.file_count && b->file_data == file.data) return b->file;
    uint64_t hash = 0;
    const cute_origin *origin = b->origin;
    for (size_t i = 0; i < origin->map.file_count && !hash; i++)
        if (cute_text_is(file, origin->map.files[i].name)) hash = origin->map.files[i].hash;
    if (!hash && !origin->mapped && !origin->bytecode && cute_text_is(file, origin->buffer) &&
        strcmp(origin->buffer, "<stdin>"))
        hash = cute_source_hash(origin->raw.text, origin->raw.length);
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
    if (!cute_source_map_line(&b->map, &entry_line) || mlirBlockIsNull(entry)) return;
    for (intptr_t i = 0; i < mlirBlockGetNumArguments(entry); i++) {
        MlirLocation of = cute_argument_location(mlirBlockGetArgument(entry, i));
        cute_map_argument argument = {0};
        MlirStringRef name = cute_location_name(of), of_file;
        argument.placed = cute_location_place(of, &of_file, &argument.line, &argument.column) &&
                          entry_line.placed && mlirStringRefEqual(of_file, file);
        if (name.length && !memchr(name.data, 0, name.length)) argument.name = name.data;
        cute_source_map_argument(&b->map, &argument, name.length);
    }
}
