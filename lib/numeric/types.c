/* The table of PTX types, and lookup by name. */
#include "lib/numeric/types.h"

#include <string.h>

const ptx_type_info ptx_types[PTX_TYPES] = {
#define T(name, bits, kind, count, format, map) {#name, PTX_##kind, bits, (bits + 7) / 8, count, format, map},
#include "lib/numeric/types.def"
};

bool ptx_type_find(const char *text, size_t length, ptx_type *out)
{
    for (int i = 0; i < PTX_TYPES; i++)
        if (strlen(ptx_types[i].name) == length && memcmp(text, ptx_types[i].name, length) == 0) {
            *out = (ptx_type)i;
            return true;
        }
    return false;
}
