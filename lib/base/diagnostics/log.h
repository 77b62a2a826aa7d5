/* What a program does, on stderr, by level. Messages about the input are diagnostics (cute/base.h), not this. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_LOG_H
#define CUTE_LIB_BASE_DIAGNOSTICS_LOG_H

#include "cute/base.h"

/* The least severe that is printed; WARNING, the default, is that of diagnostics. */
typedef enum cute_log_level {
    CUTE_LOG_ERROR,
    CUTE_LOG_WARNING,
    CUTE_LOG_INFO,
    CUTE_LOG_DEBUG
} cute_log_level;

/* "error" ... "debug", or a number as Python's logging and CuTe DSL have it: 10 debug, 20 info, 30 warning, 40 and 50
 * error, 1 all, 0 as if it were not given. */
bool cute_log_level_parse(const char *text, cute_log_level *out);
/* Of the whole process; `tool` precedes each line and is kept. Until a program sets it, nothing is printed: a library is
 * silent. Set before there are threads. */
void cute_log_set(const char *tool, cute_log_level level);
cute_log_level cute_log_get(void);
/* "TOOL: info: TEXT" and a newline, when the level is one that is printed. */
void cute_log(cute_log_level level, const char *format, ...) CUTE_PRINTF(2, 3);

#endif
