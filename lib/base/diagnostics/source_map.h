/* Maps the lines of printed IR to the user's source: comment lines at the end of the text, which the next
 * program of a pipe reads. docs/source-map.md describes the format. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_SOURCE_MAP_H
#define CUTE_LIB_BASE_DIAGNOSTICS_SOURCE_MAP_H

#include "lib/base/buffer.h"

typedef struct cute_map_file {
    const char *name;
    uint64_t hash; /* cute_source_hash of its contents; 0: unknown */
} cute_map_file;

/* A location's text besides its place. */
typedef struct cute_map_form {
    const char *text;
    bool name; /* a name location; else text with CUTE_MAP_PLACE at the position of the place */
} cute_map_form;
enum { CUTE_MAP_PLACE = 1 };

/* A block argument of the operation on a line: of a function or a loop. */
typedef struct cute_map_argument {
    const char *name; /* NULL: none */
    bool placed;
    uint32_t line, column; /* in the file of its operation */
    uint32_t form;         /* 1 + an index of `forms`, unless it is a name location; 0: none */
} cute_map_argument;

/* The operation on a printed line. */
typedef struct cute_map_line {
    uint32_t printed; /* from 1 */
    bool placed;
    uint32_t file, line, column; /* an index of `files`, and the place in that file */
    uint32_t form;               /* 1 + an index of `forms`; 0: only a place */
    size_t first_argument, argument_count;
} cute_map_line;

/* ---- writing ---- */

/* {.arena = ...} is an empty map. Lines are added in ascending order of `printed`. */
typedef struct cute_source_map_writer {
    cute_arena *arena;
    cute_map_file *files;
    cute_map_form *forms;
    size_t file_count, file_capacity, form_count, form_capacity;
    cute_buffer lines; /* their text */
    size_t column;
    cute_map_line last; /* the last line with a place; `printed` is that of the last line */
    bool failed;        /* out of memory, or lines not in ascending order */
} cute_source_map_writer;

/* Adds a file by name, or finds it; returns its index. `hash` is the hash of its contents. The name is
 * copied. */
uint32_t cute_source_map_file(cute_source_map_writer *map, const char *name, size_t length, uint64_t hash);
/* 1 + the index of a form; 0 if the text contains a NUL. The text is copied. */
uint32_t cute_source_map_form(cute_source_map_writer *map, const char *text, size_t length, bool name);
/* False: the line already has an operation, and this one is ignored. */
bool cute_source_map_line(cute_source_map_writer *map, const cute_map_line *line);
/* Adds an argument to the last line; `length` is that of the name. */
void cute_source_map_argument(cute_source_map_writer *map, const cute_map_argument *argument, size_t length);
/* Appends the map to `text`, which it describes, and releases it. Appends nothing if a line failed, or
 * without lines. */
void cute_source_map_finish(cute_source_map_writer *map, cute_buffer *text);

/* ---- reading ---- */

typedef struct cute_source_map {
    cute_arena *arena; /* owns the rest */
    cute_map_file *files;
    cute_map_form *forms;
    cute_map_line *lines; /* ascending by `printed` */
    cute_map_argument *arguments;
    size_t file_count, form_count, line_count, argument_count;
    size_t file_capacity, form_capacity, line_capacity, argument_capacity;
} cute_source_map;

/* Reads the map at the end of `text`; *own is the length of the text before it. False, and *own = length: no
 * map, or a map of another (edited) text. */
bool cute_source_map_read(const char *text, size_t length, cute_arena *arena, cute_source_map *out,
                          size_t *own);
/* The operation on a printed line, or the nearest one before it; NULL: none. */
const cute_map_line *cute_source_map_find(const cute_source_map *map, uint32_t printed);

/* Never 0. */
uint64_t cute_source_hash(const char *text, size_t length);

#endif
