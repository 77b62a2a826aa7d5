/* Shared by the files of cute-dump: settings and options (options.c), the table of views (views.c), input (input.c), and one
 * function per view (module.c, machine.c, reports.c, folder.c). */
#ifndef CUTE_TOOLS_CUTE_DUMP_DUMP_H
#define CUTE_TOOLS_CUTE_DUMP_DUMP_H

#include "cute/plugin.h"
#include "lib/base/options/tool.h"
#include "lib/cubin/module.h"
#include "lib/report/resources/resources.h"
#include "tools/cute-dump/code.h"
#include "tools/cute-dump/output.h"

typedef struct dump_settings {
    const char *output, *kernel, *counters, *arch, *cuda_path, *opt_level;
    const char *pipeline, *tensor_map, *config, *block, *cluster, *function, *each, *file;
    const char *source_module, *args, *kwargs;
    bool json, line_info, assertions, verbose, table, svg, changed, schema, html, all;
    const char *ncu;
    int64_t sms;
    int64_t number; /* --number: the layout to draw; 0: not given */
    int64_t image;  /* --image; 0: not given */
    resource_question question;
    code_request code;
    bool view_flags[CUTE_DUMP_VIEW_FLAGS]; /* which of cute_dump_view_flags were given */
    const char *life_ranges, *shown;       /* -lrm, -fun */
    cute_option_list defines, folders, allow, plugin_paths;
    cute_plugins *plugins; /* NULL: none */
    bool compiled;         /* the module was compiled from MLIR by this run */
    cute_arena *arena;
    const char *label;   /* of the input */
    const char *second;  /* the second operand of 'diff' */
    cute_module *module; /* the input of views that read a module, else NULL */
} dump_settings;

/* ---- views ---- */

/* Options accepted by some views only; dump_view.takes is a set of these. */
enum {
    TAKES_KERNEL = 1,
    TAKES_COUNTERS = 2,
    TAKES_ARCH = 4,
    TAKES_LEVEL = 8,
    TAKES_DEFINES = 16,
    TAKES_LINES = 32,
    TAKES_CUDA = 64,
    TAKES_VERBOSE = 128,
    TAKES_JSON = 256,
    TAKES_PIPELINE = 512,
    TAKES_WHATIF = 1024,
    TAKES_SASS = 2048,
    TAKES_GRAPH = 4096,
    TAKES_AT = 8192,
    TAKES_HTML = 16384,
    TAKES_BLOCK = 32768,
    TAKES_CONFIG = 65536,
    TAKES_REASONS = 131072,
    TAKES_PICTURES = 262144,
    TAKES_IMAGE = 524288,
    TAKES_LANES = 1048576,
    TAKES_PLUGINS = 2097152,
};

typedef cute_status dump_function(dump_settings *s, cute_buffer *out, cute_diag *diag);
dump_function do_show, do_ptx, do_sass, do_cfg, do_histogram, do_lines, do_resources, do_occupancy,
    do_accesses, do_layouts, do_schedule, do_elf, do_images, do_all, do_run, do_diff, do_explain, do_source,
    do_causes, do_findings, do_instructions;

typedef struct dump_view {
    const char *name, *help;
    bool module;    /* the input is a module */
    unsigned takes; /* accepted options: TAKES_... */
    dump_function *run;
} dump_view;
enum { CUTE_DUMP_VIEWS = 23 };
extern const dump_view cute_dump_views[CUTE_DUMP_VIEWS];

/* NULL if `name` is not a view. */
const dump_view *cute_dump_find_view(const char *name);
/* The first operand selects a view if it is a view name and not an existing file. */
cute_status cute_dump_choose_view(dump_settings *s, cute_option_list *operands, const dump_view **view,
                                  cute_diag *diag);
/* CUTE_USAGE if an option has no effect on the view. */
cute_status cute_dump_check_options(const dump_settings *s, const dump_view *view, cute_diag *diag);

/* ---- the command line ---- */

enum { CUTE_DUMP_OPTIONS = 68 + CUTE_DUMP_VIEW_FLAGS };
/* Fills the option table; targets point into `s`. */
void cute_dump_list_options(dump_settings *s, cute_option options[CUTE_DUMP_OPTIONS + 1]);
/* Index of the first operand in argv; 0 if argv has no operand. */
int cute_dump_find_operand(const cute_option *options, int argc, char **argv);
/* Views and examples, printed after the options by --help. */
void cute_dump_print_epilogue(cute_buffer *out);

/* ---- the input ---- */

/* Handles "-lrm FILE" and "-fun FILE", which nvdisasm and cuobjdump accept as flags: FILE becomes the operand and *value NULL. */
cute_status cute_dump_take_flag_file(dump_settings *s, cute_option_list *operands, const char **value,
                                     cute_diag *diag);
/* Replaces --module, --args and --kwargs by s->file and s->defines. */
cute_status cute_dump_take_script(dump_settings *s, const cute_option_list *operands, cute_diag *diag);
/* Opens s->module, compiling MLIR first. `or_any`: use any image if none matches -arch. */
cute_status cute_dump_open(dump_settings *s, cute_tool *tool, const char *path, bool or_any);
/* Rejects options that do not apply to the module, such as an -arch that differs from the architecture of a cubin. */
cute_status cute_dump_check_module(const dump_settings *s, const dump_view *view, cute_diag *diag);
/* Replaces s->kernel, as the user wrote it, by the kernel's symbol. */
cute_status cute_dump_check_kernel(dump_settings *s, cute_diag *diag);

/* ---- the output ---- */

/* True if stdout is a colour terminal and NO_COLOR is not set. */
bool cute_dump_wants_colour(const dump_settings *s);

#endif
