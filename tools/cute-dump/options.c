/* The table of options, and the views and examples of --help. */
#include "tools/cute-dump/dump.h"

#include <string.h>

void cute_dump_list_options(dump_settings *s, cute_option options[CUTE_DUMP_OPTIONS + 1])
{
    const cute_option own[] = {
        {CUTE_OPTION_GROUP, "Options", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE|DIR",
         "Write to FILE (default: stdout); 'run': write to the folder DIR", &s->output},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "Print the view as JSON", &s->json},
        {CUTE_OPTION_STRING, "kernel", 'k', "NAME", "Select a kernel", &s->kernel},
        {CUTE_OPTION_INT, "image", 0, "N", "Select the image N of a file, as numbered by 'images'",
         &s->image},
        {CUTE_OPTION_STRING, "fun", 0, "NAME", NULL, &s->shown},
        {CUTE_OPTION_STRING, "function", 0, "NAME", NULL, &s->shown},
        {CUTE_OPTION_FLAG, "encodings", 0, NULL, "'sass': print the encoding of each instruction (-hex)",
         &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "liveness", 0, NULL, "'sass': print live registers at each instruction (-plr)",
         &s->code.sass.liveness},
        {CUTE_OPTION_FLAG, "hot", 0, NULL, "'sass': print only loops, the innermost first",
         &s->code.sass.hot},
        {CUTE_OPTION_FLAG, "dot", 0, NULL, "'cfg': print the graph in DOT, the language of Graphviz",
         &s->code.dot},
        {CUTE_OPTION_STRING, "at", 0, "[FILE:]LINE|0xADDRESS",
         "'lines': select a source line, or the line of an address", &s->code.at},
        {CUTE_OPTION_FLAG, "hex", 0, NULL, NULL, &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "print-instruction-encoding", 0, NULL, NULL, &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "plr", 0, NULL, NULL, &s->code.sass.liveness},
        {CUTE_OPTION_FLAG, "print-life-ranges", 0, NULL, NULL, &s->code.sass.liveness},
        {CUTE_OPTION_STRING, "lrm", 0, "MODE", NULL, &s->life_ranges},
        {CUTE_OPTION_STRING, "life-range-mode", 0, "MODE", NULL, &s->life_ranges},
        {CUTE_OPTION_STRING, "counters", 0, "FILE",
         "'ptx': print the counters of a cute-run --counters --json report with each line", &s->counters},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "Select the image of a fatbin, the target for MLIR, 'sass' and 'run', and the GPU of 'resources' "
         "and 'occupancy'; or native",
         &s->arch},
        {CUTE_OPTION_STRING, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s->arch},
        {CUTE_OPTION_STRING, "opt-level", 'O', "0..3", "'sass', 'run': set the optimization level",
         &s->opt_level},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "MLIR: replace ${NAME} in the source", &s->defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "MLIR: search DIR for included files", &s->folders},
        {CUTE_OPTION_LIST, "load-plugin", 0, "FILE",
         "Add findings of a plugin (.so) to 'explain', and load it when MLIR is compiled", &s->plugin_paths},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "'run': keep source line information", &s->line_info},
        {CUTE_OPTION_STRING, "pass-pipeline", 0, "PASSES", "'run': run PASSES before the default lowering",
         &s->pipeline},
        {CUTE_OPTION_STRING, "tensor-map", 0, "param|memory",
         "'run': pass tensor maps by value or by pointer (default param)", &s->tensor_map},
        {CUTE_OPTION_FLAG, "enable-assertions", 0, NULL, "'run': keep cf.assert, and check bounds",
         &s->assertions},
        {CUTE_OPTION_FLAG, "enable-device-assertions", 0, NULL, NULL, &s->assertions},
        {CUTE_OPTION_LIST, "allow", 0, "KIND,...",
         "'run': report as a warning, like cute-link: wgmma-serialized, setmaxnreg-ignored", &s->allow},
        {CUTE_OPTION_INT, "number", 0, "N", "'layouts': draw the layout N of the list with --svg",
         &s->number},
        {CUTE_OPTION_STRING, "config", 0, "FILE",
         "'accesses', 'explain': run the launches of a launch.json on the emulator", &s->config},
        {CUTE_OPTION_STRING, "block", 0, "X[xY[xZ]]",
         "'resources', 'occupancy', 'accesses': assume this block size", &s->block},
        {CUTE_OPTION_INT, "registers", 0, "N", "'resources', 'occupancy': assume N registers per thread",
         &s->question.registers},
        {CUTE_OPTION_INT, "shared", 0, "BYTES",
         "'resources', 'occupancy': assume this much shared memory per block", &s->question.shared},
        {CUTE_OPTION_INT, "dynamic", 0, "BYTES",
         "'resources', 'occupancy': assume this much dynamic shared memory per block", &s->question.dynamic},
        {CUTE_OPTION_INT, "barriers", 0, "N", "'resources', 'occupancy': assume N named barriers per block",
         &s->question.barriers},
        {CUTE_OPTION_INT, "carveout", 0, "PERCENT",
         "'resources', 'occupancy': assume this share of the maximum shared memory per multiprocessor",
         &s->question.carveout},
        {CUTE_OPTION_STRING, "cluster", 0, "X[xY[xZ]]", "'resources', 'occupancy': assume this cluster size",
         &s->cluster},
        {CUTE_OPTION_FLAG, "table", 0, NULL,
         "'resources', 'occupancy': print occupancy by block size; 'layouts': print layouts as text tables",
         &s->table},
        {CUTE_OPTION_FLAG, "svg", 0, NULL,
         "'resources', 'occupancy', 'cfg', 'layouts', 'schedule', 'explain': write an SVG picture", &s->svg},
        {CUTE_OPTION_STRING, "file", 0, "FILE", "'run': read the module from FILE instead of an operand",
         &s->file},
        {CUTE_OPTION_STRING, "module", 0, "PKG.MOD",
         "'run': read PKG/MOD.mlir in the current folder or one of -I", &s->source_module},
        {CUTE_OPTION_STRING, "args", 0, "JSON",
         "'run': set the params of the source in order, as in \"[128, 64]\"", &s->args},
        {CUTE_OPTION_STRING, "kwargs", 0, "JSON", "'run': set -D by name, as in '{\"BM\": 128}'", &s->kwargs},
        {CUTE_OPTION_STRING, "func", 0, "NAME",
         "'run': keep only this function and the functions it calls or launches", &s->function},
        {CUTE_OPTION_MAYBE, "print-each-pass", 0, "all|changed|none",
         "'run': write the IR after each pass, after passes that changed it, or never (default all)",
         &s->each},
        {CUTE_OPTION_FLAG, "changed", 0, NULL, "'run': same as --print-each-pass=changed", &s->changed},
        {CUTE_OPTION_FLAG, "html", 0, NULL, "'diff', 'explain', 'layouts': write a self-contained HTML page",
         &s->html},
        {CUTE_OPTION_STRING, "ncu", 0, "FILE", "'explain': read stall reasons from the CSV output of ncu",
         &s->ncu},
        {CUTE_OPTION_INT, "sms", 0, "N", "'explain': assume N multiprocessors", &s->sms},
        {CUTE_OPTION_FLAG, "all-findings", 0, NULL, "'explain': include minor findings", &s->all},
        {CUTE_OPTION_FLAG, "schema", 0, NULL, "'run': print the JSON Schema of REPORT.json", &s->schema},
        {CUTE_OPTION_STRING, "cuda-path", 0, "DIR", "Use the CUDA toolkit in DIR", &s->cuda_path},
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s->cuda_path},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL, "'run': print the commands of the programs that are run",
         &s->verbose},
    };
    enum { OWN = sizeof own / sizeof *own };
    _Static_assert(OWN + CUTE_DUMP_VIEW_FLAGS <= CUTE_DUMP_OPTIONS, "the table has room");
    memset(options, 0, (CUTE_DUMP_OPTIONS + 1) * sizeof *options);
    memcpy(options, own, sizeof own);
    for (size_t i = 0; i < CUTE_DUMP_VIEW_FLAGS; i++)
        options[OWN + i] = (cute_option){.kind = CUTE_OPTION_FLAG,
                                         .name = cute_dump_view_flags[i].option,
                                         .letter = cute_dump_view_flags[i].letter,
                                         .target = &s->view_flags[i]};
}

int cute_dump_find_operand(const cute_option *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || !word[1]) return i;
        if (!strcmp(word, "--")) return i + 1 < argc ? i + 1 : 0;
        const char *name = word + 1 + (word[1] == '-');
        for (const cute_option *o = options; o->kind != CUTE_OPTION_GROUP || o->name; o++)
            if (o->kind > CUTE_OPTION_FLAG &&
                (!strcmp(name, o->name) || (!name[1] && name[0] == o->letter))) {
                i++;
                break;
            }
    }
    return 0;
}

void cute_dump_print_epilogue(cute_buffer *out)
{
    cute_buffer_puts(out, "Views:\n");
    for (size_t i = 0; i < CUTE_DUMP_VIEWS; i++)
        cute_buffer_printf(out, "  %-12s %s\n", cute_dump_views[i].name, cute_dump_views[i].help);
    cute_buffer_puts(out, "\nExamples:\n"
                          "  cute-dump k.cubin\n"
                          "  cute-dump sass k.cubin --kernel=vector_add\n"
                          "  cute-dump cfg k.cubin --svg -o k.svg\n"
                          "  cute-dump lines k.cubin --at=k.mlir:12\n"
                          "  cute-dump ptx k.ptx --counters=report.json\n"
                          "  cute-dump run k.mlir -D BM=128 -arch sm_90a -o dump/\n"
                          "  cute-dump diff dump-O0/ dump-O3/ --html -o diff.html\n");
}
