/* A server of the Language Server Protocol: documents, diagnostics, hover, definitions, symbols,
 * completion. */
#ifndef CUTE_LIB_LSP_SERVER_H
#define CUTE_LIB_LSP_SERVER_H

#include <stdio.h>

#include "lib/lsp/analysis.h"

/* Serves until the client sends exit or the stream ends. Returns the exit code: 0 after a shutdown request.
 * Other reasons to end are added to `diag`. */
int lsp_serve(FILE *in, FILE *out, const lsp_options *options, cute_diag *diag);

#endif
