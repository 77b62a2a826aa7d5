/* From the text that MLIR parses back to the text that the user wrote. Between the two lie -D, which moves
 * columns, and the programs before this one in the pipe, whose source map (lib/base/diagnostics/source_map.h) names the file
 * and lines they read. Knows no MLIR. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_ORIGIN_H
#define CUTE_LIB_IR_DIAGNOSTICS_ORIGIN_H

#include "lib/base/diagnostics/source_map.h"
#include "lib/ir/text/defines.h"

/* A text by lines; the lines are looked up when they are first asked for. */
typedef struct cute_lines {
    const char *text;
    size_t length;
    size_t *starts; /* NULL: not looked up yet */
    size_t count;
} cute_lines;

typedef struct cute_origin {
    cute_arena *arena;
    const char *buffer; /* what the text is called while it is parsed: the path, or <stdin> */
    const char *name; /* the file that messages without a place name: the first one of the map, or `buffer` */
    bool bytecode;    /* what was read is no text */
    bool moves;       /* places in the parsed text are not yet those to show */
    bool mapped;      /* the text came with a map that fits */
    cute_lines parsed;
    cute_lines raw;       /* what was read */
    cute_sources sources; /* what it includes */
    cute_buffer joined;   /* empty: nothing */
    cute_lines *included; /* of sources.files */
    cute_edits edits;
    cute_edits splices; /* behind them; see modules.h */
    cute_source_map map;
    struct cute_origin_file {
        bool read;
        cute_lines lines; /* no text: it is not there, or changed since */
    } *files;             /* of map.files */
    cute_buffer text;     /* what `parsed` points to where -D or spellings made a copy */
} cute_origin;

typedef struct cute_origin_options {
    const cute_define *defines;
    size_t define_count;
    const char *const *folders; /* of files that the text includes; see include.h */
    size_t folder_count;
    bool no_map; /* a map in the text is a comment like others */
} cute_origin_options;

/* Reads `length` bytes called `label`, text or bytecode. Kept: `label`, `bytes`. CUTE_INVALID with its place where
 * a name is not defined. To be released after a failure too. */
cute_status cute_origin_open(cute_origin *origin, const char *label, const char *bytes, size_t length,
                             const cute_origin_options *options, cute_diag *diag);
void cute_origin_release(cute_origin *origin);

/* Where something is that stands at a place of the parsed text. */
typedef struct cute_origin_point {
    const char *file;
    unsigned line, column;       /* of `file`; line 0: no line of it */
    const cute_map_line *mapped; /* what the map says of its line; NULL: there is no map */
    bool exact;                  /* `mapped` is of this line, not of one before it */
} cute_origin_point;
cute_origin_point cute_origin_find(cute_origin *origin, unsigned line, unsigned column);

/* What the file of a place held; 0: not known. */
uint64_t cute_origin_hash(const cute_origin *origin, const char *file, size_t length);
/* Gives `place` the text of its line, if it has a line of a file that is known and did not change. */
void cute_origin_line(cute_origin *origin, cute_place *place);
/* Adds what a reader needs beside a place without a text: how the line was printed by the program before; and
 * beside one that -D changed: what became of it. */
void cute_origin_notes(cute_origin *origin, const cute_place *place, cute_diag *diag);
/* The name of the value that is defined at a place of the parsed text, without `%`; NULL: there is none, or only
 * a printer's (%0, %arg0). */
const char *cute_origin_value_name(cute_origin *origin, unsigned line, unsigned column, size_t *length);

#endif
