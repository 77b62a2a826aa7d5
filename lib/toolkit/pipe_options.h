/* The options of the compilation (pipe_options.def): rows for the tables of programs, and the words that pass them on. */
#ifndef CUTE_LIB_TOOLKIT_PIPE_OPTIONS_H
#define CUTE_LIB_TOOLKIT_PIPE_OPTIONS_H

#include "lib/base/options/options.h"
#include "lib/base/system/process.h"

typedef enum pipe_option_id {
#define PIPE_OPTION(id, kind, name, letter, value, help, programs) PIPE_##id,
#include "lib/toolkit/pipe_options.def"
    PIPE_OPTIONS
} pipe_option_id;

/* The programs that take an option. */
enum { PIPE_FOR_PTX = 1, PIPE_FOR_LINK = 2, PIPE_FOR_BOTH = 3 };

/* The value of one option, by its kind; zeros: not given. */
typedef union pipe_value {
    bool flag;
    const char *text;
    cute_option_list list;
} pipe_value;

/* The values of all options, indexed by id: targets of a program's table. */
typedef struct pipe_values {
    pipe_value of[PIPE_OPTIONS];
} pipe_values;

/* The row of an option for a program's table, with its own target. */
cute_option cute_pipe_option(pipe_option_id id, void *target);
bool cute_pipe_given(const pipe_values *values, pipe_option_id id);
/* The first option given for one of the programs, "--keep-ptx"; NULL: none. */
const char *cute_pipe_first_given(const pipe_values *values, int programs);
/* Adds the given options of the programs to a command line. `values` may be NULL. */
void cute_pipe_add_given(cute_words *words, const pipe_values *values, int programs);

#endif
