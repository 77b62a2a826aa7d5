/* The table of options, and what the help says of views. */
#include "tools/cute-dump/dump.h"

#include <string.h>

void cute_dump_list_options(settings *s, cute_option options[CUTE_DUMP_OPTIONS + 1])
{
    const cute_option own[] = {
        {CUTE_OPTION_GROUP, "Options", 0, NULL, NULL, NULL},
        {CUTE_OPTION_STRING, "output", 'o', "FILE|DIR", "output file (default: stdout); the folder of 'run'",
         &s->output},
        {CUTE_OPTION_FLAG, "json", 0, NULL, "the same as JSON", &s->json},
        {CUTE_OPTION_STRING, "kernel", 'k', "NAME", "only this kernel", &s->kernel},
        {CUTE_OPTION_INT, "image", 0, "N", "of several only this one, as 'images' numbers them", &s->image},
        {CUTE_OPTION_STRING, "fun", 0, "NAME", NULL, &s->shown},
        {CUTE_OPTION_STRING, "function", 0, "NAME", NULL, &s->shown},
        {CUTE_OPTION_FLAG, "encodings", 0, NULL, "'sass': the bytes of each instruction (-hex)",
         &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "liveness", 0, NULL, "'sass': live registers at each instruction (-plr)",
         &s->code.sass.liveness},
        {CUTE_OPTION_FLAG, "hot", 0, NULL, "'sass': loops only, the deepest first", &s->code.sass.hot},
        {CUTE_OPTION_FLAG, "dot", 0, NULL, "'cfg': for graphviz", &s->code.dot},
        {CUTE_OPTION_STRING, "at", 0, "[FILE:]LINE|0xADDRESS",
         "'lines': only this line, or that of an address", &s->code.at},
        {CUTE_OPTION_FLAG, "hex", 0, NULL, NULL, &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "print-instruction-encoding", 0, NULL, NULL, &s->code.sass.encodings},
        {CUTE_OPTION_FLAG, "plr", 0, NULL, NULL, &s->code.sass.liveness},
        {CUTE_OPTION_FLAG, "print-life-ranges", 0, NULL, NULL, &s->code.sass.liveness},
        {CUTE_OPTION_STRING, "lrm", 0, "MODE", NULL, &s->life_ranges},
        {CUTE_OPTION_STRING, "life-range-mode", 0, "MODE", NULL, &s->life_ranges},
        {CUTE_OPTION_STRING, "counters", 0, "FILE",
         "'ptx': what each line did, of cute-run --counters --json", &s->counters},
        {CUTE_OPTION_STRING, "arch", 0, "sm_XX[a|f]",
         "of a fatbin the image for it; what MLIR and 'sass' compile for; of 'resources' and 'occupancy' "
         "the GPU; "
         "or native",
         &s->arch},
        {CUTE_OPTION_STRING, "gpu-arch", 0, "sm_XX[a|f]", NULL, &s->arch},
        {CUTE_OPTION_STRING, "opt-level", 'O', "0..3", "optimisation of 'sass' and 'run'", &s->opt_level},
        {CUTE_OPTION_LIST, "define", 'D', "NAME=VALUE", "of MLIR: replace ${NAME} in the text", &s->defines},
        {CUTE_OPTION_LIST, "include", 'I', "DIR", "of MLIR: look there for files that it includes",
         &s->folders},
        {CUTE_OPTION_FLAG, "lineinfo", 0, NULL, "'run': keep source lines", &s->line_info},
        {CUTE_OPTION_STRING, "pass-pipeline", 0, "PASSES", "'run': passes to run before the default lowering",
         &s->pipeline},
        {CUTE_OPTION_STRING, "tensor-map", 0, "param|memory",
         "'run': pass tensor maps by value or by pointer (default param)", &s->tensor_map},
        {CUTE_OPTION_FLAG, "enable-assertions", 0, NULL, "'run': keep cf.assert, and check bounds",
         &s->assertions},
        {CUTE_OPTION_FLAG, "enable-device-assertions", 0, NULL, NULL, &s->assertions},
        {CUTE_OPTION_LIST, "allow", 0, "KIND,...",
         "'run': a warning in any case, as for cute-link: wgmma-serialized, ...", &s->allow},
        {CUTE_OPTION_INT, "number", 0, "N", "'layouts': the picture of --svg", &s->number},
        {CUTE_OPTION_STRING, "config", 0, "FILE",
         "'accesses', 'explain': of the launches of a launch.json, on the emulator", &s->config},
        {CUTE_OPTION_STRING, "block", 0, "X[xY[xZ]]",
         "'resources', 'occupancy', 'accesses': with blocks of these threads", &s->block},
        {CUTE_OPTION_INT, "registers", 0, "N", "the same: with these registers of a thread",
         &s->question.registers},
        {CUTE_OPTION_INT, "shared", 0, "BYTES", "the same: with this shared memory of a block",
         &s->question.shared},
        {CUTE_OPTION_INT, "dynamic", 0, "BYTES", "the same: with this dynamic shared memory",
         &s->question.dynamic},
        {CUTE_OPTION_INT, "barriers", 0, "N", "the same: with these named barriers", &s->question.barriers},
        {CUTE_OPTION_INT, "carveout", 0, "PERCENT", "the same: with this part of the most shared memory",
         &s->question.carveout},
        {CUTE_OPTION_STRING, "cluster", 0, "X[xY[xZ]]", "the same: with clusters of these blocks",
         &s->cluster},
        {CUTE_OPTION_FLAG, "table", 0, NULL,
         "the same: the occupancy over sizes of blocks; 'layouts': pictures of text", &s->table},
        {CUTE_OPTION_FLAG, "svg", 0, NULL, "the same, 'cfg' and 'layouts': as a picture", &s->svg},
        {CUTE_OPTION_STRING, "file", 0, "FILE", "'run': the module, instead of an operand", &s->file},
        {CUTE_OPTION_STRING, "func", 0, "NAME", "'run': only this function, with what it calls and launches",
         &s->function},
        {CUTE_OPTION_MAYBE, "print-each-pass", 0, "all|changed|none",
         "'run': the IR after each pass, after those that changed it, or after none (default all)", &s->each},
        {CUTE_OPTION_FLAG, "changed", 0, NULL, "'run': --print-each-pass=changed", &s->changed},
        {CUTE_OPTION_FLAG, "html", 0, NULL,
         "'diff', 'explain', 'layouts': as a page that needs no other file", &s->html},
        {CUTE_OPTION_STRING, "ncu", 0, "FILE", "'explain': a table of ncu as CSV, for stall reasons",
         &s->ncu},
        {CUTE_OPTION_INT, "sms", 0, "N", "'explain': multiprocessors of the GPU", &s->sms},
        {CUTE_OPTION_FLAG, "all-findings", 0, NULL, "'explain': also findings of little weight", &s->all},
        {CUTE_OPTION_FLAG, "schema", 0, NULL, "'run': print the JSON Schema of REPORT.json", &s->schema},
        {CUTE_OPTION_STRING, "cuda-path", 0, "DIR", "where the CUDA toolkit is", &s->cuda_path},
        {CUTE_OPTION_STRING, "toolkit", 0, "DIR", NULL, &s->cuda_path},
        {CUTE_OPTION_FLAG, "verbose", 0, NULL, "'run': print the programs that are run", &s->verbose},
    };
    enum { OWN = sizeof own / sizeof *own };
    _Static_assert(OWN + CUTE_DUMP_HABITS <= CUTE_DUMP_OPTIONS, "the table has room");
    memset(options, 0, (CUTE_DUMP_OPTIONS + 1) * sizeof *options);
    memcpy(options, own, sizeof own);
    for (size_t i = 0; i < CUTE_DUMP_HABITS; i++)
        options[OWN + i] = (cute_option){.kind = CUTE_OPTION_FLAG,
                                         .name = cute_dump_habits[i].option,
                                         .letter = cute_dump_habits[i].letter,
                                         .target = &s->habits[i]};
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

void cute_dump_put_epilogue(cute_buffer *out)
{
    cute_buffer_puts(out, "Views:\n");
    for (size_t i = 0; i < CUTE_DUMP_VIEWS; i++)
        cute_buffer_printf(out, "  %-9s %s\n", cute_dump_views[i].name, cute_dump_views[i].help);
    cute_buffer_puts(out, "\nExamples:\n"
                          "  cute-dump k.cubin\n"
                          "  cute-dump sass k.cubin --kernel=vector_add\n"
                          "  cute-dump cfg k.cubin --svg -o k.svg\n"
                          "  cute-dump lines k.cubin --at=k.mlir:12\n"
                          "  cute-dump ptx k.ptx --counters=report.json\n"
                          "  cute-dump run k.mlir -D BM=128 -arch sm_90a -o dump/\n"
                          "  cute-dump diff dump-O0/ dump-O3/ --html -o diff.html\n");
}
