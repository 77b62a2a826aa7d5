/* Analysis of a document: its errors, and the names in it. Each call parses the text anew. */
#ifndef CUTE_LIB_LSP_ANALYSIS_H
#define CUTE_LIB_LSP_ANALYSIS_H

#include "lib/ir/diagnostics/origin.h"
#include "lib/ir/mlir/shim.h"

typedef struct lsp_options {
    const char *const *defines; /* "NAME=VALUE", of the command line */
    size_t define_count;
    const char *const *folders; /* -I */
    size_t folder_count;
} lsp_options;

/* The values of `${NAME}` in a text: the command line's, then those in its comments, as in `// RUN: cute-opt
 * %s -D BM=128`; the first of each name applies. In `arena`. */
cute_status lsp_defines(cute_arena *arena, const lsp_options *options, const char *text, size_t length,
                        cute_define **out, size_t *count, cute_diag *diag);

/* A name in the text: of a value, an operation or a type alias. Lines and columns are the user's, columns in
 * bytes from 1; `file` is the text's label or an included file. */
typedef struct lsp_mark {
    const char *file;
    unsigned line, column, length;
    const char *definition_file; /* NULL: unknown */
    unsigned definition_line, definition_column, definition_length;
    MlirType type;    /* of a value or an alias; null for an operation */
    MlirValue value;  /* null for an alias or an operation */
    const char *name; /* "%x", "cute.copy", "!buf" */
} lsp_mark;

/* Parses and verifies `text`, named `label`; errors are added to `diag`. Without errors, calls `visit`
 * (unless NULL) for each name; types and values are valid during the call. `query` (may be NULL), the text of a type, is
 * parsed last and passed to `visit` without a name. */
void lsp_analyse(const char *label, const char *text, size_t length, const lsp_options *options,
                 const char *query, void (*visit)(const lsp_mark *mark, void *context), void *context,
                 cute_diag *diag);

/* The names of all operations, in `arena`; none when memory is exhausted. */
void lsp_operations(cute_arena *arena, const char ***names, size_t *count);

#endif
