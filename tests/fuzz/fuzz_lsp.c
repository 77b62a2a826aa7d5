/* What an editor sends to cute-lsp: any bytes are answered with frames that hold JSON, and it ends where they do. Input that
 * begins with '{' is a message a line; other input is the stream itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/diagnostics/diag.h"
#include "lib/lsp/rpc.h"
#include "lib/lsp/server.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Each line with a header. */
static void frame(const char *text, size_t length, cute_buffer *out)
{
    for (const char *at = text, *end = text + length; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        cute_buffer_printf(out, "Content-Length: %zu\r\n\r\n", (size_t)(stop - at));
        cute_buffer_append(out, at, (size_t)(stop - at));
        at = newline ? newline + 1 : end;
    }
}

static void check_answers(char *text, size_t length)
{
    FILE *answers = length ? fmemopen(text, length, "r") : NULL;
    const char *why;
    json_t *message;
    if (!answers) return;
    for (lsp_read read; (read = lsp_rpc_read(answers, &message, &why)) != LSP_READ_END; json_decref(message))
        if (read != LSP_READ_MESSAGE ||
            strcmp(json_string_value(json_object_get(message, "jsonrpc")), "2.0") != 0)
            __builtin_trap();
    if (why) __builtin_trap();
    fclose(answers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const defines[] = {"BM=64"};
    const lsp_options options = {.defines = defines, .define_count = 1};
    cute_buffer framed = {0};
    char *text = NULL;
    size_t length = 0;
    /* Files of this machine are none of the input. */
    if (!size || memmem(data, size, "!include", 8) || memmem(data, size, "\\u00", 4)) return 0;
    if (data[0] == '{')
        frame((const char *)data, size, &framed);
    else
        cute_buffer_append(&framed, data, size);
    FILE *in = fmemopen(framed.data, framed.length, "r"), *out = open_memstream(&text, &length);
    if (!in || !out) abort();
    cute_diag *diag = cute_diag_create();
    (void)!lsp_serve(in, out, &options, diag);
    fclose(in);
    fclose(out);
    check_answers(text, length);
    free(text);
    cute_diag_destroy(diag);
    cute_buffer_release(&framed);
    return 0;
}
