/* Names of C++ as people write them: a demangler for the names of the Itanium C++ ABI that functions and variables
 * of CUDA C++ have. */
#ifndef CUTE_LIB_BASE_TEXT_DEMANGLE_H
#define CUTE_LIB_BASE_TEXT_DEMANGLE_H

#include "cute/base.h"

typedef struct cute_demangled {
    const char *full; /* "void ns::scale<float, 3>(float*, int)", as c++filt prints it */
    const char *name; /* "ns::scale<float, 3>" */
    const char *base; /* "ns::scale" */
} cute_demangled;

/* Strings in `arena`. False: `symbol` is no mangled name, or has what is not known here (decltype, expressions in
 * template arguments); it is best shown as it is then. */
bool cute_demangle(cute_arena *arena, const char *symbol, cute_demangled *out);
/* Whether `wanted` names the symbol: by itself, or by a full name, a name or a base, with or without namespaces
 * and blanks. */
bool cute_symbol_matches(cute_arena *arena, const char *symbol, const char *wanted);
/* What people call it: the name of C++ without parameters, or the symbol itself. */
const char *cute_symbol_name(cute_arena *arena, const char *symbol);

#endif
