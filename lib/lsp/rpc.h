/* JSON-RPC over a stream with the framing of the Language Server Protocol: headers, an empty line, JSON
 * text. */
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
    LSP_READ_WRONG, /* a frame without valid JSON; reading can continue */
    LSP_READ_END, /* end of the stream, or an unrecoverable error: *why is the reason, NULL at a clean end */
} lsp_read;

/* Reads the next message; the caller releases *out. */
lsp_read lsp_rpc_read(FILE *in, json_t **out, const char **why);
/* Whether `in`, an unbuffered stream, can be read without blocking. */
bool lsp_rpc_waits(FILE *in);
/* Takes ownership of `message`. */
void lsp_rpc_write(FILE *out, json_t *message);
/* Replies to the request `id` (NULL: unreadable); takes ownership of `result`. */
void lsp_rpc_reply(FILE *out, const json_t *id, json_t *result);
void lsp_rpc_error(FILE *out, const json_t *id, int code, const char *text);
void lsp_rpc_notify(FILE *out, const char *method, json_t *params);

#endif
