/* cute-lsp: the language server. Parses options and calls lsp_serve. */
#include "lib/base/options/tool.h"
#include "lib/lsp/server.h"
#include "lib/passes/passes.h"
#include "lib/passes/plugins.h"

typedef struct lsp_settings {
    cute_option_list defines, folders, plugins;
} lsp_settings;

static cute_status run_cute_lsp(cute_tool *tool, void *context)
{
    const lsp_settings *s = context;
    const lsp_options options = {s->defines.items, s->defines.count, s->folders.items, s->folders.count};
    cute_define *defines;
    if (tool->operands.count)
        return cute_fail(tool->diag, CUTE_USAGE, NULL,
                         "expected no operands, got '%s'; documents are sent by the editor",
                         tool->operands.items[0]);
    if (s->plugins.count) {
        cute_passes_register();
        CUTE_TRY(cute_plugins_register("cute-lsp", s->plugins.items, s->plugins.count, tool->diag));
    }
    CUTE_TRY(cute_defines_parse(tool->arena, options.defines, options.define_count, &defines, tool->diag));
    return (cute_status)lsp_serve(stdin, stdout, &options, tool->diag);
}

int main(int argc, char **argv)
{
    lsp_settings s = {0};
    const cute_option table[] = {
        {CUTE_OPTION_GROUP, "Source", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "Replace ${NAME} in the source", &s.defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "Search DIR for files named by //!include \"FILE\"",
         &s.folders},
        {CUTE_OPTION_LIST, "load-plugin", 0, "FILE.so", "Know the operations of a plugin", &s.plugins},
        {CUTE_OPTION_FLAG, "stdio", 0, NULL, NULL, &(bool){false}},
        {0},
    };
    const cute_command command = {
        .name = "cute-lsp",
        .synopsis = "[options]",
        .summary = "Run a language server for MLIR with CuTe layouts on standard input and output.",
        .options = table,
        .epilogue = "Editors start this program; see cute-lsp(1) for their configuration.\n",
    };
    return cute_tool_run(&command, NULL, run_cute_lsp, &s, argc, argv);
}
