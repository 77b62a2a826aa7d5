/* Views of machine code, each as text, JSON or a graph. */
#include "tools/cute-dump/code.h"

const dump_view_flag cute_dump_view_flags[CUTE_DUMP_VIEW_FLAGS] = {
    [CUTE_DUMP_FLAG_LINES] = {"print-line-info", "sass", 'g'},
    {"sass", "sass", 0},
    {"dump-sass", "sass", 0},
    {"print-code", "sass", 'c'},
    {"print-line-info-inline", "sass", 0},
    {"gi", "sass", 0},
    {"ptx", "ptx", 0},
    {"dump-ptx", "ptx", 0},
    {"elf", "elf", 0},
    {"dump-elf", "elf", 0},
    {"lelf", "images", 0},
    {"list-elf", "images", 0},
    {"lptx", "images", 0},
    {"list-ptx", "images", 0},
    {"res-usage", "resources", 0},
    {"dump-resource-usage", "resources", 0},
    {"all", "all", 0},
    {"all-fatbin", "all", 0},
    {"cfg", "cfg", 0},
    {"output-control-flow-graph", "cfg", 0},
};

void cute_dump_write_json(const code_request *q, json_t *functions, const char *key, cute_buffer *out)
{
    json_t *value = json_object();
    json_object_set_new(value, "file", cute_json_text(q->label));
    json_object_set_new(value, key, functions);
    cute_json_dump(value, true, out);
    if (out->length && out->data[out->length - 1] != '\n') cute_buffer_putc(out, '\n');
    json_decref(value);
}

cute_status cute_dump_sass(const code_request *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    (void)diag;
    if (q->json)
        cute_dump_write_json(q, cute_code_json_sass(code, q->kernel, &q->sass), "functions", out);
    else
        cute_code_print_sass(code, q->kernel, &q->sass, out);
    return CUTE_OK;
}

cute_status cute_dump_cfg(const code_request *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    if (q->json + q->dot + q->svg > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "--json, --dot and --svg are mutually exclusive");
    if (q->json)
        cute_dump_write_json(q, cute_code_json_cfg(code, q->kernel), "functions", out);
    else if (q->dot)
        cute_code_dot_cfg(code, q->kernel, out);
    else if (q->svg)
        cute_code_svg_cfg(code, q->kernel, out);
    else
        cute_code_print_cfg(code, q->kernel, out);
    return CUTE_OK;
}

cute_status cute_dump_histogram(const code_request *q, const cute_code *code, cute_buffer *out,
                                cute_diag *diag)
{
    json_t *value;
    if (!q->json) return cute_code_print_histogram(code, q->kernel, out, diag);
    cute_status status = cute_code_json_histogram(code, q->kernel, &value, diag);
    cute_dump_write_json(q, value, "functions", out);
    return status;
}

cute_status cute_dump_lines(const code_request *q, const cute_code *code, cute_buffer *out, cute_diag *diag)
{
    json_t *value;
    if (!q->json) return cute_code_print_lines(q->label, code, q->kernel, q->at, out, diag);
    CUTE_TRY(cute_code_json_lines(q->label, code, q->kernel, q->at, &value, diag));
    cute_dump_write_json(q, value, "lines", out);
    return CUTE_OK;
}
