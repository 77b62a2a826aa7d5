/* A server of the Language Server Protocol: documents, what is wrong in them, what stands under the cursor. */
#ifndef CUTE_LIB_LSP_SERVER_H
#define CUTE_LIB_LSP_SERVER_H

#include <stdio.h>

#include "lib/lsp/analysis.h"

/* Serves until the client says exit, or the stream ends. The exit code: 0 where it said shutdown before. `diag` takes what
 * ended it otherwise. */
int lsp_serve(FILE *in, FILE *out, const lsp_options *options, cute_diag *diag);

#endif
