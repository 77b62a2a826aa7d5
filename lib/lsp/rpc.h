/* JSON-RPC over a stream, as the Language Server Protocol frames it: headers, an empty line, a JSON text. */
#ifndef CUTE_LIB_LSP_RPC_H
#define CUTE_LIB_LSP_RPC_H

#include <jansson.h>
#include <stdio.h>

#include "cute/base.h"

enum lsp_error {
    LSP_PARSE_ERROR = -32700,
    LSP_INVALID_REQUEST = -32600,
    LSP_METHOD_NOT_FOUND = -32601,
    LSP_INVALID_PARAMS = -32602,
    LSP_NOT_INITIALIZED = -32002,
};

typedef enum lsp_read {
    LSP_READ_MESSAGE,
    LSP_READ_WRONG, /* a frame that holds no JSON: the next one may */
    LSP_READ_END,   /* of the stream, or of what can be made sense of: *why says what, NULL at a clean end */
} lsp_read;

/* The next message; *out is released by the caller. */
lsp_read lsp_rpc_read(FILE *in, json_t **out, const char **why);
/* Whether more can be read from `in`, a stream without a buffer, at once. */
bool lsp_rpc_waits(FILE *in);
/* Takes `message` over. */
void lsp_rpc_write(FILE *out, json_t *message);
/* Answers the request `id` (NULL: one that could not be read); takes `result` over. */
void lsp_rpc_reply(FILE *out, const json_t *id, json_t *result);
void lsp_rpc_error(FILE *out, const json_t *id, int code, const char *text);
void lsp_rpc_notify(FILE *out, const char *method, json_t *params);

#endif
