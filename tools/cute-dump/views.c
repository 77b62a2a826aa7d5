/* The table of views with the options each accepts, and view selection by the command line. */
#include "tools/cute-dump/dump.h"

#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/base/system/file.h"
#include "lib/cubin/link.h"

const dump_view cute_dump_views[CUTE_DUMP_VIEWS] = {
    {"show", "Print kernels with their resources and parameters, and sections (the default)", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH, do_show},
    {"ptx", "Print the embedded PTX", true, TAKES_JSON | TAKES_KERNEL | TAKES_COUNTERS | TAKES_ARCH, do_ptx},
    {"source", "Print source lines with the counters of a cute-run --counters --json report", false,
     TAKES_KERNEL, do_source},
    {"sass", "Print machine code with source lines", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_SASS, do_sass},
    {"cfg", "Print basic blocks, edges and loops of machine code", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_GRAPH, do_cfg},
    {"histogram", "Count instructions by class and opcode, memory operations and dependence chains", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA, do_histogram},
    {"lines", "Print source lines with the machine instructions generated for them", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_AT, do_lines},
    {"resources", "Print registers, spills, memory, barriers and occupancy of each kernel", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_WHATIF, do_resources},
    {"occupancy", "Compute occupancy from numbers, without an input file", false,
     TAKES_JSON | TAKES_ARCH | TAKES_WHATIF, do_occupancy},
    {"accesses", "Print the cost of each memory access: shared-memory wavefronts, global sectors", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_BLOCK | TAKES_CONFIG | TAKES_DEFINES, do_accesses},
    {"explain", "Explain why a kernel is slow: findings with line, share of the time and fix", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_HTML | TAKES_DEFINES |
         TAKES_CONFIG | TAKES_REASONS,
     do_explain},
    {"layouts", "List or draw the tensors, tiled copies, tiled MMAs and TMA boxes of a kernel", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_PICTURES, do_layouts},
    {"schedule", "Print roles, buffers and waits of scheduled tile programs", true,
     TAKES_JSON | TAKES_KERNEL | TAKES_ARCH | TAKES_LANES, do_schedule},
    {"elf", "Print header, sections, symbols and attributes of a cubin", true, TAKES_JSON | TAKES_ARCH,
     do_elf},
    {"images", "List the cubins and PTX in a fatbin, object, program or archive", false, TAKES_JSON,
     do_images},
    {"all", "Print the views show, elf, ptx and sass", true,
     TAKES_JSON | TAKES_ARCH | TAKES_LEVEL | TAKES_CUDA | TAKES_SASS, do_all},
    {"run", "Compile an MLIR file and write every stage to -o DIR", false,
     TAKES_JSON | TAKES_ARCH | TAKES_LEVEL | TAKES_DEFINES | TAKES_LINES | TAKES_PIPELINE | TAKES_CUDA |
         TAKES_VERBOSE | TAKES_PLUGINS,
     do_run},
    {"diff", "Compare two dump folders, modules or MLIR files", false,
     TAKES_JSON | TAKES_ARCH | TAKES_CUDA | TAKES_HTML, do_diff},
    {"causes", "List likely causes of errors and fixes: all, or for one name or message", false, TAKES_JSON,
     do_causes},
    {"findings", "Print the performance problems that explain looks for", false, TAKES_JSON | TAKES_PLUGINS,
     do_findings},
    {"instructions", "List PTX instructions with their meaning: all, or one", false, TAKES_JSON,
     do_instructions},
    {"evt",
     "Print the tree of a product's epilogue, its tile program or launch.json; see cute-dump evt --help",
     false, 0, NULL},
    {"layout", "Evaluate and draw layouts; see cute-dump layout --help", false, 0, NULL},
};

static const char *view_at(const void *list, size_t index)
{
    (void)list;
    return index < CUTE_DUMP_VIEWS ? cute_dump_views[index].name : NULL;
}

const dump_view *cute_dump_find_view(const char *name)
{
    for (size_t i = 0; i < CUTE_DUMP_VIEWS; i++)
        if (strcmp(cute_dump_views[i].name, name) == 0) return &cute_dump_views[i];
    return NULL;
}

cute_status cute_dump_choose_view(dump_settings *s, cute_option_list *operands, const dump_view **view,
                                  cute_diag *diag)
{
    const cute_sass_options *sass = &s->code.sass;
    const char *asked = NULL; /* the view selected by a flag of cuobjdump or nvdisasm */
    for (size_t i = 0; i < CUTE_DUMP_VIEW_FLAGS; i++) {
        const char *view_name = cute_dump_view_flags[i].view;
        if (!s->view_flags[i] || (asked && !strcmp(asked, view_name))) continue;
        if (asked)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected one view, got '%s' and '%s'", asked,
                             view_name);
        asked = view_name;
        /* nvdisasm -cfg prints DOT. */
        if (!strcmp(view_name, "cfg") && !s->json && !s->svg) s->code.dot = true;
    }
    *view = &cute_dump_views[0];
    if (asked)
        *view = cute_dump_find_view(asked);
    else if (sass->liveness || sass->encodings || sass->hot)
        *view = cute_dump_find_view("sass");
    const char *first = operands->count ? operands->items[0] : NULL;
    const dump_view *named = first ? cute_dump_find_view(first) : NULL;
    if (named && (operands->count > 1 || !cute_file_exists(first))) {
        if (asked && *view != named)
            return cute_fail(diag, CUTE_USAGE, NULL, "expected one view, got '%s' and '%s'", first, asked);
        *view = named;
        operands->items++;
        operands->count--;
        if (named->run == do_diff && operands->count == 2) s->second = operands->items[--operands->count];
    } else if (first && operands->count > 1) {
        const char *near = cute_nearest(first, view_at, NULL);
        if (near)
            return cute_fail(diag, CUTE_USAGE, NULL, "unknown view '%s'; did you mean '%s'?", first, near);
        cute_fail(diag, CUTE_USAGE, NULL, "expected one file, got another one: '%s'", operands->items[1]);
        cute_buffer names = {0};
        for (size_t v = 0; v < CUTE_DUMP_VIEWS; v++)
            cute_buffer_printf(&names, "%s%s",
                               !v                         ? ""
                               : v + 1 == CUTE_DUMP_VIEWS ? " and "
                                                          : ", ",
                               cute_dump_views[v].name);
        cute_note(diag, NULL, "available views: %s", cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one file, got another one: '%s'",
                         operands->items[1]);
    return CUTE_OK;
}

/* Views of a module also accept MLIR, which is compiled with -D and -I, and files with several images. */
static unsigned accepted_options(const dump_view *view)
{
    return view->takes | (view->module ? TAKES_DEFINES | TAKES_IMAGE | TAKES_PLUGINS : 0);
}

cute_status cute_dump_check_options(const dump_settings *s, const dump_view *view, cute_diag *diag)
{
    const struct {
        unsigned option;
        const char *name;
        bool given;
    } options[] = {
        {TAKES_JSON, "--json", s->json},
        {TAKES_KERNEL, "--kernel", s->kernel != NULL},
        {TAKES_IMAGE, "--image", s->image != 0},
        {TAKES_COUNTERS, "--counters", s->counters != NULL},
        {TAKES_ARCH, "-arch", s->arch != NULL},
        {TAKES_LEVEL, "-O", s->opt_level != NULL},
        {TAKES_DEFINES, "-D", s->defines.count > 0},
        {TAKES_DEFINES, "-I", s->folders.count > 0},
        {TAKES_PLUGINS, "--load-plugin", s->plugin_paths.count > 0},
        {TAKES_LINES, "-lineinfo", s->line_info},
        {TAKES_PIPELINE, "--pass-pipeline", s->pipeline != NULL},
        {TAKES_PICTURES, "--number", s->number != 0},
        {TAKES_CONFIG, "--config", s->config != NULL},
        {TAKES_WHATIF, "--registers", s->question.registers != -1},
        {TAKES_WHATIF, "--shared", s->question.shared != -1},
        {TAKES_WHATIF, "--dynamic", s->question.dynamic != -1},
        {TAKES_WHATIF, "--barriers", s->question.barriers != -1},
        {TAKES_WHATIF, "--carveout", s->question.carveout != -1},
        {TAKES_WHATIF | TAKES_BLOCK, "--block", s->block != NULL},
        {TAKES_WHATIF, "--cluster", s->cluster != NULL},
        {TAKES_WHATIF | TAKES_PICTURES, "--table", s->table},
        {TAKES_WHATIF | TAKES_GRAPH | TAKES_PICTURES | TAKES_REASONS | TAKES_LANES, "--svg", s->svg},
        {TAKES_PIPELINE, "--tensor-map", s->tensor_map != NULL},
        {TAKES_PIPELINE, "--enable-assertions", s->assertions},
        {TAKES_PIPELINE, "--allow", s->allow.count > 0},
        {TAKES_PIPELINE, "--func", s->function != NULL},
        {TAKES_PIPELINE, "--file", s->file != NULL},
        {TAKES_PIPELINE, "--module", s->source_module != NULL},
        {TAKES_PIPELINE, "--args", s->args != NULL},
        {TAKES_PIPELINE, "--kwargs", s->kwargs != NULL},
        {TAKES_PIPELINE, "--print-each-pass", s->each != NULL},
        {TAKES_PIPELINE, "--changed", s->changed},
        {TAKES_PIPELINE, "--schema", s->schema},
        {TAKES_HTML | TAKES_PICTURES, "--html", s->html},
        {TAKES_REASONS, "--ncu", s->ncu != NULL},
        {TAKES_REASONS, "--sms", s->sms != 0},
        {TAKES_REASONS, "--all-findings", s->all},
        {TAKES_CUDA, "--cuda-path", s->cuda_path != NULL},
        {TAKES_VERBOSE, "--verbose", s->verbose},
        {TAKES_SASS, "--encodings", s->code.sass.encodings},
        {TAKES_SASS, "--liveness", s->code.sass.liveness},
        {TAKES_SASS, "--hot", s->code.sass.hot},
        {TAKES_GRAPH, "--dot", s->code.dot},
        {TAKES_AT, "--at", s->code.at != NULL},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given || accepted_options(view) & options[i].option) continue;
        cute_buffer names = {0};
        for (size_t v = 0; v < CUTE_DUMP_VIEWS; v++)
            if (accepted_options(&cute_dump_views[v]) & options[i].option)
                cute_buffer_printf(&names, "%s'%s'", names.length ? ", " : "", cute_dump_views[v].name);
        cute_fail(diag, CUTE_USAGE, NULL, "%s has no effect on '%s'", options[i].name, view->name);
        cute_note(diag, NULL, "%s applies to %s", options[i].name, cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (s->kernel && view->run == do_ptx && !s->counters)
        return cute_fail(diag, CUTE_USAGE, NULL, "--kernel has no effect on 'ptx' without --counters");
    return cute_link_check_options(&(cute_link_options){.opt_level = s->opt_level}, diag);
}
