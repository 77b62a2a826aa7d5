/* cute-dump evt: the tree of an epilogue expression, or the tile program and launch.json that are generated from it. */
#include "tools/cute-dump/evt.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/devices/arch.h"
#include "lib/base/devices/devices.h"
#include "lib/base/options/tool.h"
#include "lib/base/system/file.h"
#include "lib/gemm/gemm.h"

typedef struct evt_settings {
    const char *output, *passes, *arch, *emit, *configuration;
    gemm_words words;
    cute_option_list defines;
    bool json, svg;
} evt_settings;

static const char head[] = "// The epilogue of a product:";

/* An expression, or the one in the comment at the head of a generated tile program. */
static cute_status read_expression(cute_tool *tool, const char *operand, const char **out)
{
    cute_buffer text = {0}, own = {0};
    *out = operand;
    if (!cute_file_exists(operand)) return CUTE_OK;
    CUTE_TRY(cute_file_read(operand, &text, tool->diag));
    const char *at = cute_buffer_text(&text);
    if (strncmp(at, head, sizeof head - 1) == 0) {
        for (const char *line = at + sizeof head - 3; line;) {
            size_t length = strcspn(line + 2, "\n");
            cute_buffer_printf(&own, "%.*s\n", (int)length, line + 2);
            line += 2 + length;
            line = strncmp(line, "\n// ", 4) == 0 ? line + 1 : NULL;
        }
        at = cute_buffer_text(&own);
        if (strncmp(at, "t:", 2) == 0) at += 2;
    }
    *out = cute_arena_copy(tool->arena, at, strlen(at));
    cute_buffer_release(&text);
    cute_buffer_release(&own);
    return *out ? CUTE_OK : cute_fail_memory(tool->diag);
}

static cute_status put_document(const gemm_algo *algo, const gemm_problem *problem, cute_buffer *out,
                                cute_diag *diag)
{
    json_t *document = gemm_document(algo, problem, 1);
    if (!document) return cute_fail_memory(diag);
    gemm_document_check(document, problem, 1);
    cute_json_dump(document, true, out);
    cute_buffer_putc(out, '\n');
    json_decref(document);
    return CUTE_OK;
}

static cute_status put_view(const evt_settings *s, const gemm_algo *algo, const gemm_problem *problem,
                            cute_buffer *out, cute_diag *diag)
{
    const char *emit = s->emit ? s->emit : "tree";
    bool program = strcmp(emit, "mlir") == 0, launch = strcmp(emit, "launch") == 0;
    if (!program && !launch && strcmp(emit, "tree") != 0)
        return cute_fail(diag, CUTE_USAGE, NULL, "--emit expects tree, mlir or launch, got '%s'", emit);
    if ((program || launch) && !algo->program)
        return cute_fail(diag, CUTE_USAGE, NULL, "--emit=%s requires PassGetImpl among the passes", emit);
    if (program) return gemm_expression_source(algo, out) ? CUTE_OK : cute_fail_memory(diag);
    if (launch) return put_document(algo, problem, out, diag);
    if (s->svg)
        epilogue_svg(problem->tree, out);
    else if (s->json) {
        json_t *value = epilogue_json(problem->tree);
        cute_json_dump(value, true, out);
        cute_buffer_putc(out, '\n');
        json_decref(value);
    } else {
        epilogue_text(problem->tree, out);
    }
    return CUTE_OK;
}

static cute_status run_evt_view(cute_tool *tool, void *context)
{
    evt_settings *s = context;
    const cute_arch *arch;
    cute_gemm_problem *problems;
    gemm_problem problem;
    gemm_algo algo;
    epilogue_program *program;
    cute_buffer out = {0};
    size_t count;
    if (tool->operands.count != 1)
        return cute_fail(tool->diag, CUTE_USAGE, NULL, "expected one expression, got %zu",
                         tool->operands.count);
    if (s->json && s->svg)
        return cute_fail(tool->diag, CUTE_USAGE, NULL, "--json and --svg are mutually exclusive");
    CUTE_TRY(read_expression(tool, tool->operands.items[0], &s->words.epilogue));
    if (!s->words.shapes) s->words.shapes = "4096x4096x4096";
    s->words.values = (const char *const *)s->defines.items;
    s->words.value_count = s->defines.count;
    CUTE_TRY(cute_arch_parse(s->arch ? s->arch : "sm_90a", NULL, &arch, tool->diag));
    CUTE_TRY(gemm_problems_parse(tool->arena, &s->words, &problems, &count, tool->diag));
    if (count != 1)
        return cute_fail(tool->diag, CUTE_USAGE, NULL, "expected one product, got a group of %zu", count);
    gemm_target target = {arch->name, cute_gpu_multiprocessors(arch->number)};
    CUTE_TRY(gemm_expression_open(tool->arena, problems, &target, s->configuration, s->passes, &problem,
                                  &algo, &program, tool->diag));
    cute_status status = put_view(s, &algo, &problem, &out, tool->diag);
    if (status == CUTE_OK)
        status = cute_tool_write(s->output ? s->output : "-", cute_buffer_text(&out), out.length, false,
                                 tool->diag);
    cute_buffer_release(&out);
    return status;
}

static void list_passes(cute_buffer *out)
{
    cute_buffer_puts(out, "Passes:\n");
    for (size_t i = 0; i < epilogue_pass_count(); i++) {
        const epilogue_pass *pass = epilogue_pass_at(i);
        cute_buffer_printf(out, "  %-26s %s\n", pass->name, pass->help);
    }
    cute_buffer_puts(out, "\nFunctions:\n ");
    size_t column = 1;
    for (size_t i = 0; i < epilogue_function_count(); i++) {
        const char *name = epilogue_function_at(i)->name;
        if (column + 1 + strlen(name) > 100) {
            cute_buffer_puts(out, "\n ");
            column = 1;
        }
        cute_buffer_printf(out, " %s", name);
        column += 1 + strlen(name);
    }
    cute_buffer_puts(
        out,
        "\n\nExamples:\n"
        "  cute-dump evt 'z = acc + bias[j]; D = gelu(z); aux Z = z'\n"
        "  cute-dump evt --gemm 4096x8192x4096 --emit=mlir 'silu(acc[:, 0::2]) * acc[:, 1::2]'\n"
        "  cute-dump evt --passes PassShapeTypePropagation,PassCustomCommunication 'allreduce(acc, warp)'\n"
        "  cute-dump evt --svg 'D = acc * rsqrt(mean(acc * acc, 1) + 1e-5)' -o tree.svg\n");
}

int cute_dump_evt(int argc, char **argv)
{
    evt_settings s = {0};
    const cute_option options[] = {
        {CUTE_OPTION_GROUP, "Output", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "emit", 0, "tree|mlir|launch",
         "Print the tree (default), the tile program or its launch.json", &s.emit},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "Print the tree as JSON", &s.json},
        {CUTE_OPTION_FLAG, "svg", 0, NULL, "Draw the tree as SVG", &s.svg},
        {CUTE_OPTION_STRING, "output", 'o', "FILE", "Write to FILE (default: stdout)", &s.output},
        {CUTE_OPTION_STRING, "passes", 0, "NAME,...",
         "Run these passes and those that they depend on (default: all but examples)", &s.passes},
        {CUTE_OPTION_GROUP, "The product", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "gemm", 'g', "MxNxK", "Set its size (default 4096x4096x4096)", &s.words.shapes},
        {CUTE_OPTION_STRING, "dtype", 0, "TYPE", "Set the type of A and B (default bf16)", &s.words.dtype},
        {CUTE_OPTION_STRING, "dtype-d", 0, "TYPE", "Set the type of D", &s.words.dtype_d},
        {CUTE_OPTION_STRING, "layout", 0, "tn|nn|nt|tt",
         "Store A, B by rows (t) or by columns (n) (default tn)", &s.words.layout},
        {CUTE_OPTION_INT, "batch", 0, "N", "Compute a batch of N products", &s.words.batch},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "Set a scalar of the expression", &s.defines},
        {CUTE_OPTION_STRING, "configuration", 0, "NAME", "Use this configuration instead of choosing one",
         &s.configuration},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "Choose the tile for this architecture (default sm_90a)", &s.arch},
        {CUTE_OPTION_GROUP, "Other", 0, NULL, NULL, NULL},
        {0},
    };
    cute_buffer epilogue = {0};
    list_passes(&epilogue);
    const cute_command command = {
        .name = "cute-dump evt",
        .synopsis = "[options] expression|file",
        .summary =
            "Print the tree of a product's epilogue (epilogue visitor tree), or the code generated from it.",
        .options = options,
        .epilogue = cute_buffer_text(&epilogue)};
    int code = cute_tool_run(&command, NULL, run_evt_view, &s, argc, argv);
    cute_buffer_release(&epilogue);
    return code;
}
