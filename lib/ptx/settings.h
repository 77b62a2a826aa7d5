/* The settings of cute-ptx and the compiler library, as text. */
#ifndef CUTE_LIB_PTX_SETTINGS_H
#define CUTE_LIB_PTX_SETTINGS_H

#include "lib/base/options/options.h"
#include "lib/ptx/ptx.h"

/* NULL: the default. */
typedef struct cute_ptx_settings {
    const char *arch, *emit, *tensor_map, *cuda_path, *save_temps, *dump_passes, *dump_each, *pipeline,
        *source_map, *remarks, *warn, *static_checks, *backend, *schedule;
    int64_t level;
    bool lineinfo, assertions, relocatable, print_ir;
    cute_option_list defines, folders, libraries;
} cute_ptx_settings;

/* CUTE_USAGE for an invalid value. *out points into `settings` and `arena`. */
cute_status cute_ptx_settings_resolve(const cute_ptx_settings *settings, cute_arena *arena,
                                      cute_ptx_options *out, cute_diag *diag);
/* cute_ptx_compile with these settings. */
cute_status cute_ptx_compile_source(const cute_ptx_settings *settings, const char *label, const void *source,
                                    size_t length, cute_ptx_output *out, cute_diag *diag);

#endif
