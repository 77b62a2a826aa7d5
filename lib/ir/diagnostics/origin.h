/* Maps positions in the text that MLIR parses back to the user's files, through includes, -D
 * substitutions, and the source map (lib/base/diagnostics/source_map.h) of earlier programs in the pipe.
 * Independent of MLIR. */
#ifndef CUTE_LIB_IR_DIAGNOSTICS_ORIGIN_H
#define CUTE_LIB_IR_DIAGNOSTICS_ORIGIN_H

#include "lib/base/diagnostics/source_map.h"
#include "lib/ir/text/defines.h"

/* A text with a line index that is built on first use. */
typedef struct cute_lines {
    const char *text;
    size_t length;
    size_t *starts; /* NULL: not built yet */
    size_t count;
} cute_lines;

typedef struct cute_origin {
    cute_arena *arena;
    const char *buffer; /* name of the text while parsing: the path, or <stdin> */
    const char *name;   /* file name for messages without a location: the first in the map, or `buffer` */
    bool bytecode;      /* the input is bytecode */
    bool moves;         /* positions in the parsed text differ from those in the user's files */
    bool mapped;        /* the input has a valid source map */
    cute_lines parsed;
    cute_lines raw;       /* the input */
    cute_sources sources; /* its included files */
    cute_buffer joined;   /* with includes expanded; empty without includes */
    cute_lines *included; /* of sources.files */
    cute_edits edits;
    cute_edits splices; /* applied after `edits`; see modules.h */
    cute_source_map map;
    struct cute_origin_file {
        bool read;
        cute_lines lines; /* no text: the file is missing or has changed */
    } *files;             /* of map.files */
    cute_buffer text;     /* storage of `parsed` after -D and spellings */
} cute_origin;

typedef struct cute_origin_options {
    const cute_define *defines;
    size_t define_count;
    const char *const *folders; /* include folders; see include.h */
    size_t folder_count;
    bool no_map; /* ignore a source map in the text */
} cute_origin_options;

/* Reads `length` bytes of text or bytecode named `label`; `label` and `bytes` must outlive the origin.
 * CUTE_INVALID with its place for an undefined name. Must be released after a failure too. */
cute_status cute_origin_open(cute_origin *origin, const char *label, const char *bytes, size_t length,
                             const cute_origin_options *options, cute_diag *diag);
void cute_origin_release(cute_origin *origin);

/* The position in the user's files for a position in the parsed text. */
typedef struct cute_origin_point {
    const char *file;
    unsigned line, column;       /* of `file`; line 0: unknown */
    const cute_map_line *mapped; /* the source map's entry; NULL: no map */
    bool exact;                  /* `mapped` is the entry of this line, not of an earlier one */
} cute_origin_point;
cute_origin_point cute_origin_find(cute_origin *origin, unsigned line, unsigned column);

/* The hash of a file's content; 0: unknown. */
uint64_t cute_origin_hash(const cute_origin *origin, const char *file, size_t length);
/* Sets the text of `place` to its source line, if the file is available and unchanged. */
void cute_origin_line(cute_origin *origin, cute_place *place);
/* Adds notes: for a place without source text, the line as printed by the previous program; for a line
 * with -D substitutions, the line after substitution; for an included file, the including lines. */
void cute_origin_notes(cute_origin *origin, const cute_place *place, cute_diag *diag);
/* The name, without `%`, of the value defined at a position of the parsed text; NULL if unnamed or generated
 * (%0, %arg0). */
const char *cute_origin_value_name(cute_origin *origin, unsigned line, unsigned column, size_t *length);

#endif
