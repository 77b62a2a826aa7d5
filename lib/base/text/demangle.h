/* A demangler for the C++ names (Itanium C++ ABI) of functions and variables of CUDA C++. */
#ifndef CUTE_LIB_BASE_TEXT_DEMANGLE_H
#define CUTE_LIB_BASE_TEXT_DEMANGLE_H

#include "cute/base.h"

typedef struct cute_demangled {
    const char *full; /* "void ns::scale<float, 3>(float*, int)", as c++filt prints it */
    const char *name; /* "ns::scale<float, 3>" */
    const char *base; /* "ns::scale" */
} cute_demangled;

/* Strings in `arena`. False: `symbol` is not a mangled name, or has unsupported parts (decltype, expressions
 * in template arguments); show it unchanged. */
bool cute_demangle(cute_arena *arena, const char *symbol, cute_demangled *out);
/* Whether `wanted` names the symbol: the symbol itself, or its full name, name or base, with or without
 * namespaces and blanks. */
bool cute_symbol_matches(cute_arena *arena, const char *symbol, const char *wanted);
/* The readable name: the C++ name without parameters, or the symbol itself. */
const char *cute_symbol_name(cute_arena *arena, const char *symbol);

#endif
