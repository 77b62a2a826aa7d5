/* What the files of cute-dump share: what was asked for (options.c), the table of views (views.c), the input (input.c), and the
 * views, a function each (module.c, machine.c, reports.c, folder.c). */
#ifndef CUTE_TOOLS_CUTE_DUMP_DUMP_H
#define CUTE_TOOLS_CUTE_DUMP_DUMP_H

#include "lib/base/options/tool.h"
#include "lib/cubin/module.h"
#include "lib/report/resources/resources.h"
#include "tools/cute-dump/code.h"
#include "tools/cute-dump/output.h"

typedef struct settings {
    const char *output, *kernel, *counters, *arch, *cuda_path, *opt_level;
    const char *pipeline, *tensor_map, *config, *block, *cluster, *function, *each, *file;
    bool json, line_info, assertions, verbose, table, svg, changed, schema, html, all;
    const char *ncu;
    int64_t sms;
    int64_t number; /* of a layout */
    int64_t image;  /* 0: not asked */
    resource_question question;
    code_question code;
    bool habits[CUTE_DUMP_HABITS];   /* which of cute_dump_habits were given */
    const char *life_ranges, *shown; /* -lrm, -fun */
    cute_option_list defines, folders, allow;
    bool compiled; /* from MLIR, by this program */
    cute_arena *arena;
    const char *label;   /* of the input */
    const char *second;  /* of 'diff' */
    cute_module *module; /* of views that have one */
} settings;

/* ---- views ---- */

/* Options that not all views have. */
enum {
    KERNEL = 1,
    COUNTERS = 2,
    ARCH = 4,
    LEVEL = 8,
    DEFINES = 16,
    LINES = 32,
    CUDA = 64,
    VERBOSE = 128,
    JSON = 256,
    PIPELINE = 512,
    WHATIF = 1024,
    SASS = 2048,
    GRAPH = 4096,
    AT = 8192,
    HTML = 16384,
    BLOCK = 32768,
    CONFIG = 65536,
    REASONS = 131072,
    PICTURES = 262144,
    IMAGE = 524288,
};

typedef cute_status dump_function(settings *s, cute_buffer *out, cute_diag *diag);
dump_function do_show, do_ptx, do_sass, do_cfg, do_histogram, do_lines, do_resources, do_occupancy,
    do_accesses, do_layouts, do_elf, do_images, do_all, do_run, do_diff, do_explain, do_source, do_causes,
    do_findings, do_instructions;

typedef struct dump_view {
    const char *name, *help;
    bool module;    /* its input is one */
    unsigned takes; /* options */
    dump_function *run;
} dump_view;
enum { CUTE_DUMP_VIEWS = 21 };
extern const dump_view cute_dump_views[CUTE_DUMP_VIEWS];

/* NULL: there is none. */
const dump_view *cute_dump_find_view(const char *name);
/* The first operand is a view if it is the name of one and no file. */
cute_status cute_dump_choose(settings *s, cute_option_list *operands, const dump_view **view,
                             cute_diag *diag);
/* An option without an effect is a mistake of who gave it. */
cute_status cute_dump_check_options(const settings *s, const dump_view *view, cute_diag *diag);

/* ---- the command line ---- */

enum { CUTE_DUMP_OPTIONS = 64 + CUTE_DUMP_HABITS };
/* The table of options, whose targets are in `s`. */
void cute_dump_list_options(settings *s, cute_option options[CUTE_DUMP_OPTIONS + 1]);
/* Where the first operand is; 0: there is none. */
int cute_dump_find_operand(const cute_option *options, int argc, char **argv);
/* What follows the options in the help. */
void cute_dump_put_epilogue(cute_buffer *out);

/* ---- the input ---- */

/* "-lrm k.cubin" and "-fun k.cubin", as flags: the lines, and the functions. The file is the operand then. */
cute_status cute_dump_take_file(settings *s, cute_option_list *operands, const char **value, cute_diag *diag);
/* Sets s->module, of MLIR what the pipe makes of it. `or_any`: where there is no image for -arch, any is taken. */
cute_status cute_dump_open(settings *s, cute_tool *tool, const char *path, bool or_any);
/* -arch chooses of a fatbin and compiles PTX; what is one architecture's already has to be that one's. */
cute_status cute_dump_check_module(const settings *s, const dump_view *view, cute_diag *diag);
/* Makes s->kernel the kernel's symbol instead of what the user calls it. */
cute_status cute_dump_check_kernel(settings *s, cute_diag *diag);

/* ---- the output ---- */

/* Colour where a person looks, unless NO_COLOR says otherwise. */
bool cute_dump_wants_colour(const settings *s);

#endif
