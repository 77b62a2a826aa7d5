/* Lines of the source files that SASS refers to. */
#ifndef CUTE_LIB_REPORT_CODE_SOURCE_H
#define CUTE_LIB_REPORT_CODE_SOURCE_H

#include "lib/base/buffer.h"

typedef struct cute_source cute_source;
/* The trimmed line and its length; NULL: no such file or line. Files are read once; *all is initially NULL. */
const char *cute_source_line(cute_arena *arena, cute_source **all, const char *file, int64_t line,
                             size_t *length);
void cute_source_release(cute_source *all);

#endif
