/* Command lines as tables: parsing, --help, JSON and shell completion from one list. */
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

/* A table ends with {0}. `name` is the long name without dashes: --name is accepted, and so is -name if it
 * has two letters or more (nvcc's spelling), with =VALUE or the next argument; `letter` is the short name (0:
 * none), whose value may follow directly (-O3, -lfoo, -DX=1). */
typedef struct cute_option {
    cute_option_kind kind;
    const char *name;
    char letter;
    const char *value; /* the placeholder in --help; NULL for a flag */
    /* NULL: hidden, an alias of the row with the same target. The default is at the end of the text, or of a
     * part of it, as "(default X)" or "(default: a text)". */
    const char *help;
    void *target;
} cute_option;

typedef struct cute_command {
    const char *name;     /* cute-link */
    const char *synopsis; /* "[options] [file...]" */
    const char *summary;  /* one sentence */
    const cute_option *options;
    const char *epilogue; /* examples after the options, or NULL */
    /* The target of -o in programs of the pipe, which write to standard output by default, for the next
     * program to read; NULL for other programs. */
    const char *const *output;
} cute_command;

/* Fills the targets. An option that is not given takes the value of its environment variable, if settings.def
 * has one for this command; a flag with a variable also accepts --flag=0. Operands are returned in order in
 * *operands, in `arena`; "-" is an operand; all words after "--" are. CUTE_USAGE with "unknown option '--x';
 * did you mean '--y'?" or the expected value. */
cute_status cute_options_parse(const cute_command *command, cute_arena *arena, int argc, char **argv,
                               cute_option_list *operands, cute_diag *diag);
/* Sets one option of a table by its long name, for a library's callers; `value` is copied to `arena`. A flag
 * accepts "1" or "0" (NULL: 1). CUTE_USAGE as above. */
cute_status cute_option_set(const cute_option *options, cute_arena *arena, const char *name,
                            const char *value, cute_diag *diag);
/* The text of --help, one screen, options grouped. */
void cute_options_help(const cute_command *command, cute_buffer *out);
/* The same table as JSON: {"name", "summary", "options": [{"name", "letter", "aliases", "group", "type",
 * "value", "choices", "default", "environment", "repeats", "help"}], "environment": [{"variables", "option",
 * "help"}]}. Absent properties are omitted. */
void cute_options_json(const cute_command *command, cute_buffer *out);
/* The section on the environment variables of `tool`. */
void cute_options_environment(const char *tool, cute_buffer *out);

/* "text", "full" or "json", CUTE_USAGE otherwise. */
cute_status cute_diag_format_parse(const char *text, cute_diag_format *out, cute_diag *diag);

#endif
