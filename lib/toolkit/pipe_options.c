/* Options of the compilation as rows of tables and as words of command lines. */
#include "lib/toolkit/pipe_options.h"

static const struct {
    cute_option row;
    const char *option; /* with dashes */
    int programs;
} rows[PIPE_OPTIONS] = {
#define PIPE_OPTION(id, kind, name, letter, value, help, programs)                                           \
    {{CUTE_OPTION_##kind, name, letter, value, help, NULL}, "--" name, PIPE_FOR_##programs},
#include "lib/toolkit/pipe_options.def"
};

cute_option cute_pipe_option(pipe_option_id id, void *target)
{
    cute_option row = rows[id].row;
    row.target = target;
    return row;
}

bool cute_pipe_given(const pipe_values *values, pipe_option_id id)
{
    const pipe_value *value = &values->of[id];
    switch (rows[id].row.kind) {
    case CUTE_OPTION_FLAG: return value->flag;
    case CUTE_OPTION_LIST: return value->list.count > 0;
    default: return value->text != NULL;
    }
}

const char *cute_pipe_first_given(const pipe_values *values, int programs)
{
    for (int id = 0; id < PIPE_OPTIONS; id++)
        if ((rows[id].programs & programs) && cute_pipe_given(values, id)) return rows[id].option;
    return NULL;
}

static void add_word(cute_words *words, const char *option, const char *value)
{
    cute_words_add(words, option);
    if (value) cute_words_add(words, value);
}

void cute_pipe_add_given(cute_words *words, const pipe_values *values, int programs)
{
    for (int id = 0; values && id < PIPE_OPTIONS; id++) {
        const pipe_value *value = &values->of[id];
        if (!(rows[id].programs & programs) || !cute_pipe_given(values, id)) continue;
        if (rows[id].row.kind == CUTE_OPTION_FLAG) add_word(words, rows[id].option, NULL);
        if (rows[id].row.kind == CUTE_OPTION_STRING) add_word(words, rows[id].option, value->text);
        for (size_t i = 0; rows[id].row.kind == CUTE_OPTION_LIST && i < value->list.count; i++)
            add_word(words, rows[id].option, value->list.items[i]);
    }
}
