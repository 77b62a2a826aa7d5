/* Loaded plugins, and the marks that attribute a crash to one of them. */
#ifndef CUTE_LIB_PLUGIN_PLUGINS_H
#define CUTE_LIB_PLUGIN_PLUGINS_H

#include "cute/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct plugin_library {
    const char *path; /* as given */
    const cute_plugin *info;
    /* Complete copies of the plugin's lists: fields that its header lacked are zero. */
    cute_plugin_pass *passes;
    cute_plugin_pipeline *pipelines;
    cute_plugin_step *steps;
    cute_plugin_operation *operations;
    size_t pass_count, pipeline_count, step_count, operation_count;
} plugin_library;

/* A row of the run-time half with its plugin. */
typedef struct plugin_check {
    const plugin_library *library;
    cute_plugin_check row;
} plugin_check;
typedef struct plugin_finding {
    const plugin_library *library;
    cute_plugin_finding row;
} plugin_finding;
typedef struct plugin_reduction {
    const plugin_library *library;
    cute_plugin_reduction row;
} plugin_reduction;

struct cute_plugins {
    cute_arena *arena;
    cute_host host;
    plugin_library **libraries;
    plugin_check *checks;
    plugin_finding *findings;
    plugin_reduction *reductions;
    size_t count, check_count, finding_count, reduction_count;
};

/* The program that loads plugins. */
typedef struct plugin_site {
    const char *program;
    const cute_compiler_host *compiler; /* NULL: the run-time half */
    uint32_t mlir;                      /* its version of MLIR; 0: none */
} plugin_site;

/* cute_plugins_open for a program. Release *out with cute_plugins_close, also after a failure. */
cute_status cute_plugins_load(const char *const *paths, size_t count, const plugin_site *site,
                              cute_plugins **out, cute_diag *diag);

/* ---- rows.c ---- */

/* Copies the lists of one library and checks them against its own rows and the earlier libraries'. */
cute_status plugin_read_rows(cute_plugins *all, plugin_library *library, bool compiler, cute_diag *diag);
/* The checks of a list for `--check`: bits from CUTE_CHECK_PLUGIN on. */
enum { CUTE_CHECK_PLUGIN = 1 << 17, CUTE_CHECK_PLUGINS = 14 };
/* The bits of all checks; of the check `name` (`length` bytes), 0: unknown. `plugins` may be NULL. */
unsigned cute_plugins_check_bits(const cute_plugins *plugins);
unsigned cute_plugins_check_bit(const cute_plugins *plugins, const char *name, size_t length);
const plugin_reduction *cute_plugins_reduction(const cute_plugins *plugins, const char *name);

/* ---- elf.c ---- */

/* Examines a shared library before it is opened. CUTE_INVALID: no plugin of this machine, or one with an MLIR of its own. */
cute_status plugin_examine(const char *path, const plugin_site *site, cute_diag *diag);

/* ---- guard.c ---- */

/* The code of a plugin that this thread executes. */
typedef struct plugin_mark {
    const char *plugin, *kind, *name; /* "libmine.so", "pass", "my-pass" */
    const struct plugin_mark *up;
} plugin_mark;

void plugin_enter(plugin_mark *mark, const plugin_library *library, const char *kind, const char *name);
void plugin_leave(const plugin_mark *mark);
/* The innermost mark of this thread, and its restoration after a longjmp out of plugins. */
const plugin_mark *plugin_latest(void);
void plugin_restore(const plugin_mark *mark);
/* For programs: a crash names the plugin whose code runs, or the loaded ones. Called by cute_plugins_load. */
void plugin_guard(const char *program);
/* The plugin that was loaded last, for a crash elsewhere. */
void plugin_loaded(const char *path);
/* "in the pass 'x' of the plugin libmine.so"; NULL: the thread runs no plugin. In `text`. */
const char *plugin_where(char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
