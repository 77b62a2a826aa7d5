/* The table of environment variables and its look-up. */
#include "lib/base/options/settings.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const cute_setting rows[] = {
#define SETTING(option, tools, kind, effect, help, ...)                                                      \
    {option, tools, CUTE_SETTING_##kind, CUTE_EFFECT_##effect, help, {__VA_ARGS__}},
#include "lib/base/options/settings.def"
#undef SETTING
};
enum { COUNT = sizeof rows / sizeof *rows };

const cute_setting *cute_setting_at(size_t index)
{
    return index < COUNT ? &rows[index] : NULL;
}

bool cute_setting_lists(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (; *list; list += strspn(list, " ")) {
        size_t one = strcspn(list, " ");
        if (one == length && memcmp(list, word, length) == 0) return true;
        list += one;
    }
    return false;
}

const cute_setting *cute_setting_of(const char *tool, const char *option)
{
    for (size_t i = 0; i < COUNT; i++)
        if (rows[i].option && strcmp(rows[i].option, option) == 0 &&
            (!tool || cute_setting_lists(rows[i].tools, tool)))
            return &rows[i];
    return NULL;
}

const char *cute_setting_value(const cute_setting *setting, const char **name)
{
    for (size_t i = 0; i < sizeof setting->variables / sizeof *setting->variables; i++) {
        const char *value = setting->variables[i] ? getenv(setting->variables[i]) : NULL;
        if (!value || !*value) continue;
        if (name) *name = setting->variables[i];
        return value;
    }
    return NULL;
}

const char *cute_setting_default(const char *option, const char **name)
{
    for (size_t i = 0; i < COUNT; i++)
        if (rows[i].option && strcmp(rows[i].option, option) == 0) return cute_setting_value(&rows[i], name);
    return NULL;
}

bool cute_setting_on(const char *option)
{
    const char *value = cute_setting_default(option, NULL);
    bool on = false;
    return value && cute_switch_parse(value, &on) && on;
}

bool cute_setting_shapes_output(const char *variable, size_t length)
{
    bool listed = false, shapes = false;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t v = 0; v < sizeof rows[i].variables / sizeof *rows[i].variables; v++) {
            const char *name = rows[i].variables[v];
            if (!name || strlen(name) != length || memcmp(name, variable, length) != 0) continue;
            listed = true;
            shapes = shapes || rows[i].effect == CUTE_EFFECT_OUTPUT;
        }
    if (listed) return shapes;
    /* Unlisted names count by prefix: ours and those of the programs that are run; a prefix that ends in '='
     * is a whole name. */
    static const char *const prefixes[] = {"CUTE_", "CUTLASS_", "CUDA",  "NV",  "PTXAS",
                                           "MLIR_", "LLVM_",    "PATH=", "LD_", "HOME="};
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && !shapes; i++) {
        size_t known = strcspn(prefixes[i], "=");
        shapes = length >= known && memcmp(variable, prefixes[i], known) == 0 &&
                 (prefixes[i][known] != '=' || length == known);
    }
    return shapes;
}

bool cute_switch_parse(const char *text, bool *out)
{
    static const char *const words[] = {"0", "1", "false", "true", "off", "on", "no", "yes"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(text, words[i]) == 0) {
            *out = i % 2;
            return true;
        }
    return false;
}
