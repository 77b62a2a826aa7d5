/* Reads and writes frames and JSON-RPC messages. */
#include "lib/lsp/rpc.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MAX_BYTES = 64 << 20, MAX_HEADER = 4096 };

/* Reads one header line without its terminator, truncated to the buffer; false at the end of the stream. */
static bool read_header(FILE *in, char line[MAX_HEADER])
{
    size_t length = 0;
    int c;
    while ((c = getc(in)) != EOF && c != '\n')
        if (length + 1 < MAX_HEADER) line[length++] = (char)c;
    while (length && isspace((unsigned char)line[length - 1])) length--;
    line[length] = '\0';
    return c != EOF;
}

/* -1: no Content-Length. */
static long long read_length(FILE *in, bool *ended)
{
    static const char name[] = "content-length:";
    char line[MAX_HEADER];
    long long length = -1;
    bool any = false;
    for (;;) {
        if (!read_header(in, line)) {
            *ended = true;
            return -1;
        }
        if (!*line && any) return length;
        any |= *line != '\0';
        if (strncasecmp(line, name, sizeof name - 1) != 0) continue;
        char *end;
        errno = 0;
        length = strtoll(line + sizeof name - 1, &end, 10);
        if (*end || errno || length < 0) length = -1;
    }
}

lsp_read lsp_rpc_read(FILE *in, json_t **out, const char **why)
{
    bool ended = false;
    *out = NULL;
    *why = NULL;
    long long length = read_length(in, &ended);
    if (ended) return LSP_READ_END;
    if (length < 0) {
        *why = "expected a header 'Content-Length' with the size of the message in bytes";
        return LSP_READ_WRONG;
    }
    if (length > MAX_BYTES) {
        *why = "a message is larger than 64 MiB";
        return LSP_READ_END;
    }
    char *text = malloc((size_t)length + 1);
    if (!text || fread(text, 1, (size_t)length, in) != (size_t)length) {
        *why = text ? "the stream ends within a message" : "out of memory";
        free(text);
        return LSP_READ_END;
    }
    *out = json_loadb(text, (size_t)length, 0, NULL);
    free(text);
    if (json_is_object(*out)) return LSP_READ_MESSAGE;
    json_decref(*out);
    *out = NULL;
    *why = "expected a JSON object";
    return LSP_READ_WRONG;
}

bool lsp_rpc_waits(FILE *in)
{
    struct pollfd waits = {.fd = fileno(in), .events = POLLIN};
    return poll(&waits, 1, 0) > 0 && waits.revents & POLLIN;
}

void lsp_rpc_write(FILE *out, json_t *message)
{
    char *text = message ? json_dumps(message, JSON_COMPACT) : NULL;
    if (text) {
        fprintf(out, "Content-Length: %zu\r\n\r\n%s", strlen(text), text);
        fflush(out);
    }
    free(text);
    json_decref(message);
}

static json_t *message_of(const json_t *id)
{
    json_t *message = json_object();
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    json_object_set_new(message, "id", id ? json_copy((json_t *)id) : json_null());
    return message;
}

void lsp_rpc_reply(FILE *out, const json_t *id, json_t *result)
{
    json_t *message = message_of(id);
    json_object_set_new(message, "result", result ? result : json_null());
    lsp_rpc_write(out, message);
}

void lsp_rpc_error(FILE *out, const json_t *id, int code, const char *text)
{
    json_t *message = message_of(id), *error = json_object();
    json_object_set_new(error, "code", json_integer(code));
    json_object_set_new(error, "message", json_string(text));
    json_object_set_new(message, "error", error);
    lsp_rpc_write(out, message);
}

void lsp_rpc_notify(FILE *out, const char *method, json_t *params)
{
    json_t *message = json_object();
    json_object_set_new(message, "jsonrpc", json_string("2.0"));
    json_object_set_new(message, "method", json_string(method));
    json_object_set_new(message, "params", params);
    lsp_rpc_write(out, message);
}
