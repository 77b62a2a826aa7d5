/* The table of views, which options each takes, and the choice of one by the command line. */
#include "tools/cute-dump/dump.h"

#include <string.h>

#include "lib/base/options/nearest.h"
#include "lib/base/system/file.h"
#include "lib/cubin/link.h"

const dump_view cute_dump_views[CUTE_DUMP_VIEWS] = {
    {"show", "kernels with resources, parameters and sections (the default)", true, JSON | KERNEL | ARCH,
     do_show},
    {"ptx", "the PTX", true, JSON | KERNEL | COUNTERS | ARCH, do_ptx},
    {"source", "the source with what each line did; its input is a report of cute-run --counters --json",
     false, KERNEL, do_source},
    {"sass", "the machine code with source lines; PTX is compiled first", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | SASS, do_sass},
    {"cfg", "basic blocks, edges and loops of the machine code", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | GRAPH, do_cfg},
    {"histogram", "instructions by class and opcode, memory operations, chains of dependences", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA, do_histogram},
    {"lines", "source lines with the instructions that came from them", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | AT, do_lines},
    {"resources", "registers, spills, memory and barriers of each kernel, and its occupancy; what if", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | WHATIF, do_resources},
    {"occupancy", "the same of numbers: --registers, --block, --shared; it has no input", false,
     JSON | ARCH | WHATIF, do_occupancy},
    {"accesses", "what each access to memory costs: wavefronts of shared, sectors of global memory", true,
     JSON | KERNEL | ARCH | BLOCK | CONFIG | DEFINES, do_accesses},
    {"explain", "why a kernel is slow: findings with lines, shares of the time and fixes", true,
     JSON | KERNEL | ARCH | LEVEL | CUDA | HTML | DEFINES | CONFIG | REASONS, do_explain},
    {"layouts", "tensors, tiled copies, MMAs and TMA boxes of a kernel, and pictures of them", true,
     JSON | KERNEL | ARCH | PICTURES, do_layouts},
    {"elf", "header, sections, symbols and attributes of a cubin", true, JSON | ARCH, do_elf},
    {"images", "the cubins and PTX in a fatbin, an object, a program or an archive", false, JSON, do_images},
    {"all", "show, elf, ptx and sass", true, JSON | ARCH | LEVEL | CUDA | SASS, do_all},
    {"run", "take an MLIR file through the pipe; all that stands between goes to -o DIR", false,
     JSON | ARCH | LEVEL | DEFINES | LINES | PIPELINE | CUDA | VERBOSE, do_run},
    {"diff", "what differs between two dump folders, modules or MLIR files", false, JSON | ARCH | CUDA | HTML,
     do_diff},
    {"causes", "likely causes of errors and what to try: of all, or of a name or a message", false, JSON,
     do_causes},
    {"findings", "the performance problems that explain looks for, with fixes: all, or one by its id", false,
     JSON, do_findings},
    {"instructions", "the instructions of PTX and what each does: of all, or of a name", false, JSON,
     do_instructions},
    {"layout", "evaluate and draw layouts; it has options of its own: cute-dump layout --help", false, 0,
     NULL},
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

cute_status cute_dump_choose(settings *s, cute_option_list *operands, const dump_view **view, cute_diag *diag)
{
    const cute_sass_options *sass = &s->code.sass;
    const char *asked = NULL; /* by cuobjdump's or nvdisasm's option */
    for (size_t i = 0; i < CUTE_DUMP_HABITS; i++) {
        const char *habit = cute_dump_habits[i].view;
        if (!s->habits[i] || (asked && !strcmp(asked, habit))) continue;
        if (asked) return cute_fail(diag, CUTE_USAGE, NULL, "one view at a time: '%s' or '%s'", asked, habit);
        asked = habit;
        /* nvdisasm prints its graph for dot. */
        if (!strcmp(habit, "cfg") && !s->json && !s->svg) s->code.dot = true;
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
            return cute_fail(diag, CUTE_USAGE, NULL, "one view at a time: '%s' or '%s'", first, asked);
        *view = named;
        operands->items++;
        operands->count--;
        if (named->run == do_diff && operands->count == 2) s->second = operands->items[--operands->count];
    } else if (first && operands->count > 1) {
        const char *near = cute_nearest(first, view_at, NULL);
        if (near)
            return cute_fail(diag, CUTE_USAGE, NULL, "unknown view '%s'; did you mean '%s'?", first, near);
        cute_fail(diag, CUTE_USAGE, NULL, "expected one file; unexpected '%s'", operands->items[1]);
        cute_buffer names = {0};
        for (size_t v = 0; v < CUTE_DUMP_VIEWS; v++)
            cute_buffer_printf(&names, "%s%s",
                               !v                         ? ""
                               : v + 1 == CUTE_DUMP_VIEWS ? " and "
                                                          : ", ",
                               cute_dump_views[v].name);
        cute_note(diag, NULL, "views are %s", cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (operands->count > 1)
        return cute_fail(diag, CUTE_USAGE, NULL, "expected one file; unexpected '%s'", operands->items[1]);
    return CUTE_OK;
}

/* MLIR in the place of a module is compiled; a file can have several modules. */
static unsigned taken_by(const dump_view *view)
{
    return view->takes | (view->module ? DEFINES | IMAGE : 0);
}

cute_status cute_dump_check_options(const settings *s, const dump_view *view, cute_diag *diag)
{
    const struct {
        unsigned option;
        const char *name;
        bool given;
    } options[] = {
        {JSON, "--json", s->json},
        {KERNEL, "--kernel", s->kernel != NULL},
        {IMAGE, "--image", s->image != 0},
        {COUNTERS, "--counters", s->counters != NULL},
        {ARCH, "-arch", s->arch != NULL},
        {LEVEL, "-O", s->opt_level != NULL},
        {DEFINES, "-D", s->defines.count > 0},
        {DEFINES, "-I", s->folders.count > 0},
        {LINES, "-lineinfo", s->line_info},
        {PIPELINE, "--pass-pipeline", s->pipeline != NULL},
        {PICTURES, "--number", s->number != 0},
        {CONFIG, "--config", s->config != NULL},
        {WHATIF, "--registers", s->question.registers != -1},
        {WHATIF, "--shared", s->question.shared != -1},
        {WHATIF, "--dynamic", s->question.dynamic != -1},
        {WHATIF, "--barriers", s->question.barriers != -1},
        {WHATIF, "--carveout", s->question.carveout != -1},
        {WHATIF | BLOCK, "--block", s->block != NULL},
        {WHATIF, "--cluster", s->cluster != NULL},
        {WHATIF | PICTURES, "--table", s->table},
        {WHATIF | GRAPH | PICTURES, "--svg", s->svg},
        {PIPELINE, "--tensor-map", s->tensor_map != NULL},
        {PIPELINE, "--enable-assertions", s->assertions},
        {PIPELINE, "--allow", s->allow.count > 0},
        {PIPELINE, "--func", s->function != NULL},
        {PIPELINE, "--file", s->file != NULL},
        {PIPELINE, "--print-each-pass", s->each != NULL},
        {PIPELINE, "--changed", s->changed},
        {PIPELINE, "--schema", s->schema},
        {HTML | PICTURES, "--html", s->html},
        {REASONS, "--ncu", s->ncu != NULL},
        {REASONS, "--sms", s->sms != 0},
        {REASONS, "--all-findings", s->all},
        {CUDA, "--cuda-path", s->cuda_path != NULL},
        {VERBOSE, "--verbose", s->verbose},
        {SASS, "--encodings", s->code.sass.encodings},
        {SASS, "--liveness", s->code.sass.liveness},
        {SASS, "--hot", s->code.sass.hot},
        {GRAPH, "--dot", s->code.dot},
        {AT, "--at", s->code.at != NULL},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given || taken_by(view) & options[i].option) continue;
        cute_buffer names = {0};
        for (size_t v = 0; v < CUTE_DUMP_VIEWS; v++)
            if (taken_by(&cute_dump_views[v]) & options[i].option)
                cute_buffer_printf(&names, "%s'%s'", names.length ? ", " : "", cute_dump_views[v].name);
        cute_fail(diag, CUTE_USAGE, NULL, "%s has no effect on '%s'", options[i].name, view->name);
        cute_note(diag, NULL, "it is for %s", cute_buffer_text(&names));
        cute_buffer_release(&names);
        return CUTE_USAGE;
    }
    if (s->kernel && view->run == do_ptx && !s->counters)
        return cute_fail(diag, CUTE_USAGE, NULL, "--kernel has no effect on 'ptx' without --counters");
    return cute_link_check_options(&(cute_link_options){.opt_level = s->opt_level}, diag);
}
