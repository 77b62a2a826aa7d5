/* Where the lines of a printed text come from: comment lines behind the text, from which the next program of a
 * pipe takes the file and the lines that the user wrote. docs/source-map.md has the format.
 *
 * Knows lines and places only: what a line holds is the writer's matter. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_SOURCE_MAP_H
#define CUTE_LIB_BASE_DIAGNOSTICS_SOURCE_MAP_H

#include "lib/base/buffer.h"

typedef struct cute_map_file {
    const char *name;
    uint64_t hash; /* cute_source_hash of what it held; 0: unknown */
} cute_map_file;

/* What a location says beside its place. */
typedef struct cute_map_form {
    const char *text;
    bool
        name; /* a name beside the place; else the writer's text, with CUTE_MAP_PLACE where the place belongs */
} cute_map_form;
enum { CUTE_MAP_PLACE = 1 };

/* An argument of the operation on a line: of a function, of a loop. */
typedef struct cute_map_argument {
    const char *name; /* NULL: it has none */
    bool placed;
    uint32_t line, column; /* in the file of its operation */
    uint32_t form; /* 1 + an index of `forms`, of a location that is no name beside a place; 0: none */
} cute_map_argument;

/* What is on a printed line: an operation. */
typedef struct cute_map_line {
    uint32_t printed; /* from 1 */
    bool placed;
    uint32_t file, line, column; /* an index of `files`, and where in it */
    uint32_t form;               /* 1 + an index of `forms`; 0: the place alone */
    size_t first_argument, argument_count;
} cute_map_line;

/* ---- making one ---- */

/* {.arena = ...} is an empty map. Lines are written as they come, in the order of `printed`. */
typedef struct cute_source_map_writer {
    cute_arena *arena;
    cute_map_file *files;
    cute_map_form *forms;
    size_t file_count, file_capacity, form_count, form_capacity;
    cute_buffer lines; /* their text */
    size_t column;
    cute_map_line last; /* the one with a place that came last; `printed` is of the last one */
    bool failed;        /* memory ran out, or the lines came out of order */
} cute_source_map_writer;

/* The index of a file that is called so; `hash` is what it had when it was added. The name is copied. */
uint32_t cute_source_map_file(cute_source_map_writer *map, const char *name, size_t length, uint64_t hash);
/* 1 + the index of a form; 0 where a text cannot be one, as it has a NUL. The text is copied. */
uint32_t cute_source_map_form(cute_source_map_writer *map, const char *text, size_t length, bool name);
/* False: the line has an operation already, and this one is left out. */
bool cute_source_map_line(cute_source_map_writer *map, const cute_map_line *line);
/* Of the line that was added last; `length` is that of the name. */
void cute_source_map_argument(cute_source_map_writer *map, const cute_map_argument *argument, size_t length);
/* Appends the map to `text`, which it describes, and releases it. Nothing is appended where a line failed or
 * there is none. */
void cute_source_map_finish(cute_source_map_writer *map, cute_buffer *text);

/* ---- reading it back ---- */

typedef struct cute_source_map {
    cute_arena *arena; /* owns the rest */
    cute_map_file *files;
    cute_map_form *forms;
    cute_map_line *lines; /* in the order of `printed` */
    cute_map_argument *arguments;
    size_t file_count, form_count, line_count, argument_count;
    size_t file_capacity, form_capacity, line_capacity, argument_capacity;
} cute_source_map;

/* The map behind `text`, whose own length goes to *own. False, and *own = length, where there is none or it
 * is of another text: one that was edited since. */
bool cute_source_map_read(const char *text, size_t length, cute_arena *arena, cute_source_map *out,
                          size_t *own);
/* What is on a printed line, or on the nearest one before it that has anything; NULL: nothing is. */
const cute_map_line *cute_source_map_find(const cute_source_map *map, uint32_t printed);

/* Of a whole text: never 0. */
uint64_t cute_source_hash(const char *text, size_t length);

#endif
