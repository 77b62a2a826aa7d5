/* The common part of all programs: the command line with --diagnostics, --help and --version, messages on
 * stderr, the exit code. */
#ifndef CUTE_LIB_BASE_OPTIONS_TOOL_H
#define CUTE_LIB_BASE_OPTIONS_TOOL_H

#include "lib/base/options/options.h"

typedef struct cute_tool {
    cute_arena *arena; /* of the whole run */
    cute_diag *diag;
    cute_diag_format format;
    cute_option_list operands;
} cute_tool;

/* The work of a program, after its settings are filled in. */
typedef cute_status (*cute_tool_work)(cute_tool *tool, void *settings);

/* Parses `argv` with the command's options and the common ones; handles --help and --version ("NAME VERSION",
 * and `with` in parentheses unless NULL), or does the work. Returns the exit code. */
int cute_tool_run(const cute_command *command, const char *with, cute_tool_work work, void *settings,
                  int argc, char **argv);
/* Writes text that may contain parts of the input to `path` ("-" or NULL: standard output): control
 * characters become <U+001B>, except colour sequences if `coloured`. */
cute_status cute_tool_write(const char *path, const char *text, size_t length, bool coloured,
                            cute_diag *diag);
/* The same on stderr, ignoring errors. */
void cute_tool_say(const char *text, size_t length);
/* Prints the diagnostics on stderr. */
void cute_tool_print(const char *name, const cute_diag *diag, cute_diag_format format);
/* The same; returns the exit code of `status`. */
int cute_tool_finish(const char *name, cute_status status, const cute_diag *diag, cute_diag_format format);

#endif
