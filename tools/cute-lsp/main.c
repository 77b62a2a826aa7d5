/* cute-lsp: the language server. Options in, lsp_serve. */
#include "lib/base/options/tool.h"
#include "lib/lsp/server.h"
#include "lib/passes/passes.h"

typedef struct settings {
    cute_option_list defines, folders;
} settings;

static cute_status work(cute_tool *tool, void *context)
{
    const settings *s = context;
    const lsp_options options = {s->defines.items, s->defines.count, s->folders.items, s->folders.count};
    cute_define *defines;
    if (tool->operands.count)
        return cute_fail(tool->diag, CUTE_USAGE, NULL,
                         "expected no operands: an editor sends the texts; got '%s'",
                         tool->operands.items[0]);
    CUTE_TRY(cute_defines_parse(tool->arena, options.defines, options.define_count, &defines, tool->diag));
    return (cute_status)lsp_serve(stdin, stdout, &options, tool->diag);
}

int main(int argc, char **argv)
{
    settings s = {0};
    const cute_option table[] = {
        {CUTE_OPTION_GROUP, "Texts", 0, NULL, NULL, NULL},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "what ${NAME} stands for in them", &s.defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "look there for files of lines //!include \"FILE\"",
         &s.folders},
        {CUTE_OPTION_FLAG, "stdio", 0, NULL, NULL, &(bool){false}},
        {0},
    };
    const cute_command command = {
        .name = "cute-lsp",
        .synopsis = "[options]",
        .summary = "Tells an editor what is wrong in MLIR with layouts and what stands under its cursor, by "
                   "the Language "
                   "Server Protocol on standard input and output.",
        .options = table,
        .epilogue = "Editors start it; the manual says how.\n",
    };
    return cute_tool_run(&command, NULL, work, &s, argc, argv);
}
