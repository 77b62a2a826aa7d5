/* Command lines as tables, on getopt_long: parsing, --help and shell completion from one list. */
#ifndef CUTE_LIB_BASE_OPTIONS_OPTIONS_H
#define CUTE_LIB_BASE_OPTIONS_OPTIONS_H

#include "lib/base/buffer.h"

typedef enum cute_option_kind {
    CUTE_OPTION_GROUP,  /* a heading in --help; name is its text */
    CUTE_OPTION_FLAG,   /* bool * */
    CUTE_OPTION_STRING, /* const char ** : the last one given wins */
    CUTE_OPTION_INT,    /* int64_t * */
    CUTE_OPTION_LIST,   /* cute_option_list * : may be given several times */
    CUTE_OPTION_MAYBE,  /* const char ** : --name=VALUE, or --name alone for "" */
} cute_option_kind;

typedef struct cute_option_list {
    const char **items; /* in the arena */
    size_t count;
} cute_option_list;

/* Appends `item`, which is kept; the list grows in `arena`. False when memory is exhausted. */
bool cute_option_append(cute_arena *arena, cute_option_list *list, const char *item);

/* A table ends with {0}. `name` is the long name without dashes: --name and -name are both taken
 * when it has two letters or more (nvcc's spelling), with =VALUE or the next argument; `letter` is
 * the short one (0: none), whose value may be joined (-O3, -lfoo, -DX=1). */
typedef struct cute_option {
    cute_option_kind kind;
    const char *name;
    char letter;
    const char *value; /* what --help calls the value; NULL for a flag */
    /* NULL: taken but not shown, an alias of the row with the same target. What it is where it is not given ends it, or a
     * part of it, as "(default X)" or "(default: a text)". */
    const char *help;
    void *target;
} cute_option;

typedef struct cute_command {
    const char *name;     /* cute-link */
    const char *synopsis; /* "[options] [file...]" */
    const char *summary;  /* one sentence */
    const cute_option *options;
    const char *epilogue; /* examples under the options, or NULL */
    /* Where a program of the pipe keeps its -o: what it writes on standard output, where that is not given, is read
     * by the next one. NULL: not so. */
    const char *const *output;
} cute_command;

/* Fills the targets. An option that is not given takes the value of its environment variable, where settings.def has one
 * for this command; a flag that has one is taken as --flag=0, too. Operands (what is no option) in order in *operands, in `arena`; "-" is an
 * operand; after "--" all are. CUTE_USAGE with "unknown option '--x'; did you mean '--y'?" or what
 * is wrong with a value. */
cute_status cute_options_parse(const cute_command *command, cute_arena *arena, int argc, char **argv,
                               cute_option_list *operands, cute_diag *diag);
/* Sets one option of a table by its long name, as a library's caller gives it; `value` is copied to `arena`. A flag takes
 * "1" or "0" (NULL: 1). CUTE_USAGE as above. */
cute_status cute_option_set(const cute_option *options, cute_arena *arena, const char *name,
                            const char *value, cute_diag *diag);
/* The text of --help, one screen, options grouped. */
void cute_options_help(const cute_command *command, cute_buffer *out);
/* The same table as JSON: {"name", "summary", "options": [{"name", "letter", "aliases", "group", "type", "value", "choices",
 * "default", "environment", "repeats", "help"}], "environment": [{"variables", "option", "help"}]}. What an option has not is
 * left out. */
void cute_options_json(const cute_command *command, cute_buffer *out);
/* The part of it on environment variables: those that `tool` looks at. */
void cute_options_environment(const char *tool, cute_buffer *out);

/* "text" or "json", CUTE_USAGE otherwise. */
cute_status cute_diag_format_parse(const char *text, cute_diag_format *out, cute_diag *diag);

#endif
