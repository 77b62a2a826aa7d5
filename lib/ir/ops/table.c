/* All rows, family by family. */
#include <string.h>

#include "lib/ir/ops/ops.h"

#define CUTE_FAMILY(name) extern const cute_op_family cute_family_##name;
#include "lib/ir/ops/families.def"
#undef CUTE_FAMILY

void cute_op_rows_each(cute_op_visit visit, void *context)
{
    const cute_op_family *const families[] = {
#define CUTE_FAMILY(name) &cute_family_##name,
#include "lib/ir/ops/families.def"
#undef CUTE_FAMILY
    };
    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (size_t i = 0; i < families[f]->count; i++)
            if (!visit(&families[f]->rows[i], context)) return;
}

typedef struct search {
    const char *name;
    size_t length;
    const cute_op_row *found;
} search;

static bool is_sought(const cute_op_row *row, void *context)
{
    search *s = context;
    if (strlen(row->name) == s->length && !memcmp(row->name, s->name, s->length)) s->found = row;
    return !s->found;
}

const cute_op_row *cute_op_row_find(const char *name, size_t length)
{
    search s = {.name = name, .length = length};
    cute_op_rows_each(is_sought, &s);
    return s.found;
}
