/* Environment variables as defaults of options: one table (settings.def) for option parsing, --help and code
 * that reads a variable itself. */
#ifndef CUTE_LIB_BASE_OPTIONS_SETTINGS_H
#define CUTE_LIB_BASE_OPTIONS_SETTINGS_H

#include "lib/base/buffer.h"

typedef enum cute_setting_kind {
    CUTE_SETTING_FLAG,
    CUTE_SETTING_TEXT,
    CUTE_SETTING_LEVEL, /* these set the option; the rest are read elsewhere */
    CUTE_SETTING_FOLDER,
    CUTE_SETTING_OTHER,
    CUTE_SETTING_NONE,
} cute_setting_kind;

/* Zero, the value of a row without one, is the conservative choice. */
typedef enum cute_setting_effect {
    CUTE_EFFECT_OUTPUT,
    CUTE_EFFECT_HARMLESS,
} cute_setting_effect;

typedef struct cute_setting {
    const char *option, *tools;
    cute_setting_kind kind;
    cute_setting_effect effect;
    const char *help;
    const char *variables[4]; /* NULL after the last */
} cute_setting;

/* Row `index`; NULL after the last. */
const cute_setting *cute_setting_at(size_t index);
/* The row of `option` for `tool` (NULL: any tool); NULL: none. */
const cute_setting *cute_setting_of(const char *tool, const char *option);
/* The value of the first of its variables that is set and not empty, and its name in *name; NULL: none. */
const char *cute_setting_value(const cute_setting *setting, const char **name);
/* The same for the first row with this option. */
const char *cute_setting_default(const char *option, const char **name);
/* Whether its variable turns the flag on. */
bool cute_setting_on(const char *option);
/* Whether `word` is in the space-separated `list`. */
bool cute_setting_lists(const char *list, const char *word);

/* Whether the output of a program may depend on this environment variable (`length` bytes): its row says so,
 * or it has no row and its prefix is ours or that of a program that is run. */
bool cute_setting_shapes_output(const char *variable, size_t length);

/* 1, true, on, yes; 0, false, off, no. False: none of these words. */
bool cute_switch_parse(const char *text, bool *out);

#endif
