/* A text as an editor has it: what is wrong with it, and what stands where. Each call reads the text anew. */
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

/* What `${NAME}` stands for in a text: the command line's, then those that its comments give, as in
 * `// RUN: cute-opt %s -D BM=128`; the first of each name. In `arena`. */
cute_status lsp_defines(cute_arena *arena, const lsp_options *options, const char *text, size_t length,
                        cute_define **out, size_t *count, cute_diag *diag);

/* A name in the text: of a value, an operation, a type's alias. Lines and columns are the user's, columns in bytes
 * from 1; `file` is the text's own label or an included file. */
typedef struct lsp_mark {
    const char *file;
    unsigned line, column, length;
    const char *definition_file; /* NULL: not known */
    unsigned definition_line, definition_column, definition_length;
    MlirType type;    /* of a value or an alias; null of an operation */
    const char *name; /* "%x", "cute.copy", "!buf" */
} lsp_mark;

/* Parses and verifies `text`, called `label`. What is wrong goes to `diag`. Where nothing is and `visit` is not NULL, it
 * is called for each mark; types live during the call. `query`, a type's text, is parsed in the end, for the call
 * with its type and without a name; NULL: none. */
void lsp_analyse(const char *label, const char *text, size_t length, const lsp_options *options,
                 const char *query, void (*visit)(const lsp_mark *mark, void *context), void *context,
                 cute_diag *diag);

/* The names of all operations, in `arena`; none where memory ran out. */
void lsp_operations(cute_arena *arena, const char ***names, size_t *count);

#endif
