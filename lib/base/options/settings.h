/* Environment variables as defaults of options: one table (settings.def) for the parser of options, --help and those
 * who read a variable themselves. */
#ifndef CUTE_LIB_BASE_OPTIONS_SETTINGS_H
#define CUTE_LIB_BASE_OPTIONS_SETTINGS_H

#include "lib/base/buffer.h"

typedef enum cute_setting_kind {
    CUTE_SETTING_FLAG,
    CUTE_SETTING_TEXT,
    CUTE_SETTING_LEVEL, /* the option takes it, up to here */
    CUTE_SETTING_FOLDER,
    CUTE_SETTING_OTHER,
    CUTE_SETTING_NONE,
} cute_setting_kind;

/* Zero, what a row without a word on it would have, is the cautious one. */
typedef enum cute_setting_effect {
    CUTE_EFFECT_OUTPUT,
    CUTE_EFFECT_HARMLESS,
} cute_setting_effect;

typedef struct cute_setting {
    const char *option, *tools;
    cute_setting_kind kind;
    cute_setting_effect effect;
    const char *help;
    const char *variables[4]; /* NULL behind the last */
} cute_setting;

/* Row `index`; NULL behind the last. */
const cute_setting *cute_setting_at(size_t index);
/* The row of `option` that `tool` looks at, or any (NULL); NULL: none. */
const cute_setting *cute_setting_of(const char *tool, const char *option);
/* The value of the first of its variables that is set and not empty, whose name goes to *name; NULL: none is. */
const char *cute_setting_value(const cute_setting *setting, const char **name);
/* The same of the first row with this option. */
const char *cute_setting_default(const char *option, const char **name);
/* Whether that turns a flag on. */
bool cute_setting_on(const char *option);
/* Whether `word` is one of the words of `list`, which blanks separate. */
bool cute_setting_lists(const char *list, const char *word);

/* Whether what a program makes may depend on the environment variable of this name (`length` bytes): a row says that it
 * may, or no row has it and it is of our names or those of the programs that we run. */
bool cute_setting_shapes_output(const char *variable, size_t length);

/* 1, true, on, yes; 0, false, off, no. False: none of them. */
bool cute_switch_parse(const char *text, bool *out);

#endif
