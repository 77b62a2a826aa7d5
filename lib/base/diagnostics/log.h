/* The log of a program on stderr, by level. Messages about the input are diagnostics (cute/base.h), not log
 * lines. */
#ifndef CUTE_LIB_BASE_DIAGNOSTICS_LOG_H
#define CUTE_LIB_BASE_DIAGNOSTICS_LOG_H

#include "cute/base.h"

/* The least severe level that is printed; the default is WARNING, as for diagnostics. */
typedef enum cute_log_level {
    CUTE_LOG_ERROR,
    CUTE_LOG_WARNING,
    CUTE_LOG_INFO,
    CUTE_LOG_DEBUG
} cute_log_level;

/* "error" ... "debug", or a number as in Python's logging and CuTe DSL: 10 debug, 20 info, 30 warning, 40 and
 * 50 error, 1 all, 0 the default. */
bool cute_log_level_parse(const char *text, cute_log_level *out);
/* Sets the level of the process; `tool` precedes each line and is kept. Nothing is printed before the first
 * call: libraries are silent. Call it before starting threads. */
void cute_log_set(const char *tool, cute_log_level level);
cute_log_level cute_log_get(void);
/* Prints "TOOL: info: TEXT" and a newline if the level is enabled. */
void cute_log(cute_log_level level, const char *format, ...) CUTE_PRINTF(2, 3);

#endif
