/* Statuses, diagnostics and arenas, which all other headers of libcute use. */
#ifndef CUTE_BASE_H
#define CUTE_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CUTE_API                __attribute__((visibility("default")))
#define CUTE_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))
#define CUTE_MUST_CHECK         __attribute__((warn_unused_result))
#else
#define CUTE_API
#define CUTE_PRINTF(fmt, first)
#define CUTE_MUST_CHECK
#endif

/* The result of a call. The values are the tools' exit codes. */
typedef enum cute_status {
    CUTE_OK = 0,
    CUTE_INVALID = 1,  /* invalid input, or the requested operation failed */
    CUTE_USAGE = 2,    /* wrong command line */
    CUTE_SYSTEM = 3,   /* the machine lacks something, or it failed: toolkit, driver, disk, memory */
    CUTE_MISMATCH = 4, /* a check of results failed */
} cute_status;

/* Returns the status of a failed call. Use it only where nothing has to be released. */
#define CUTE_TRY(call)                                                                                       \
    do {                                                                                                     \
        cute_status cute_try_status_ = (call);                                                               \
        if (cute_try_status_ != CUTE_OK) return cute_try_status_;                                            \
    } while (0)

/* ---- arenas: memory of one phase, released together ---- */

typedef struct cute_arena cute_arena;

/* NULL when memory is exhausted. */
CUTE_API cute_arena *cute_arena_create(void);
CUTE_API void cute_arena_destroy(cute_arena *arena);
/* `size` zeroed bytes, aligned for any type; NULL when memory is exhausted or `size` is absurd. */
CUTE_API void *cute_arena_alloc(cute_arena *arena, size_t size);
/* `count` zeroed elements of `size` bytes; NULL also when the product overflows. */
CUTE_API void *cute_arena_array(cute_arena *arena, size_t count, size_t size);
/* A NUL-terminated copy of `length` bytes. */
CUTE_API char *cute_arena_copy(cute_arena *arena, const char *bytes, size_t length);
CUTE_API char *cute_arena_printf(cute_arena *arena, const char *format, ...) CUTE_PRINTF(2, 3);

/* ---- diagnostics ---- */

typedef enum cute_severity { CUTE_ERROR, CUTE_WARNING, CUTE_REMARK, CUTE_NOTE } cute_severity;

/* A place in a text. `file` NULL: unknown place; `line` 0: the whole file. Lines and columns count from 1,
 * columns in bytes. `text` is the source line without its newline (NULL: unknown), `length` the number of
 * columns to underline (0 or 1: one caret). */
typedef struct cute_place {
    const char *file;
    int line, column, length;
    const char *text;
    size_t text_length;
} cute_place;

/* The place of byte `offset` of `source`; it points into `source` and `file`. */
CUTE_API cute_place cute_place_at(const char *file, const char *source, size_t source_length, size_t offset);

typedef struct cute_message {
    cute_severity severity; /* a note belongs to the message before it */
    cute_place place;       /* strings owned by the diag */
    const char *text;
    const char *code; /* set by cute_diag_code; NULL: by its text (cute_cause_of) */
} cute_message;

/* Messages in the order in which they were added. Functions drop their messages if the cute_diag is NULL. Not
 * thread-safe: use one per thread. */
typedef struct cute_diag cute_diag;

CUTE_API cute_diag *cute_diag_create(void);
CUTE_API void cute_diag_destroy(cute_diag *diag);
CUTE_API size_t cute_diag_count(const cute_diag *diag);
CUTE_API size_t cute_diag_errors(const cute_diag *diag);
/* Valid until the next message or cute_diag_destroy. */
CUTE_API const cute_message *cute_diag_get(const cute_diag *diag, size_t index);
/* From now on each message is also passed to `heard` (NULL: none) when it is added, an error before its
 * notes. */
CUTE_API void cute_diag_listen(cute_diag *diag, void (*heard)(void *context, const cute_message *message),
                               void *context);
/* Drops all messages. */
CUTE_API void cute_diag_clear(cute_diag *diag);

/* Adds a message; everything is copied. `place` may be NULL. */
CUTE_API void cute_report(cute_diag *diag, cute_severity severity, const cute_place *place,
                          const char *format, ...) CUTE_PRINTF(4, 5);
CUTE_API void cute_vreport(cute_diag *diag, cute_severity severity, const cute_place *place,
                           const char *format, va_list args) CUTE_PRINTF(4, 0);
/* Adds an error and returns `status`: `return cute_fail(diag, CUTE_INVALID, &place, "...")`. */
CUTE_API cute_status cute_fail(cute_diag *diag, cute_status status, const cute_place *place,
                               const char *format, ...) CUTE_PRINTF(4, 5);
CUTE_API void cute_note(cute_diag *diag, const cute_place *place, const char *format, ...) CUTE_PRINTF(3, 4);
/* Sets the code of the latest message, such as "K0101", for errors whose class the caller knows. Not copied. */
CUTE_API void cute_diag_code(cute_diag *diag, const char *code);
/* "out of memory", CUTE_SYSTEM. */
CUTE_API cute_status cute_fail_memory(cute_diag *diag);

/* A class of errors, with likely causes and remedies: a row of the table printed in docs/errors.md. Codes are
 * stable: E for errors, K for findings of the emulator's checks, S for findings of the static checks. Lists have
 * one item per line. */
typedef struct cute_cause {
    const char *id; /* "shared-memory" */
    const char
        *stage; /* the program or library that failed: "ptxas", "nvlink", "LLVM", "libNVVM", "driver", ... */
    const char
        *pattern; /* texts in the message, one per line; '*' matches any text; "": known to its caller */
    const char *likely;   /* causes, one per line */
    const char *remedies; /* remedies, the best first */
    bool reported;        /* true: printed with a report; false: the first remedy is printed as a note */
    const char *code;     /* "E0101" */
    const char *example;  /* an input or a command with this error */
    bool silent;          /* neither report nor note: the message says it all */
} cute_cause;

/* Row `index` of the table; NULL past the last. */
CUTE_API const cute_cause *cute_cause_get(size_t index);
/* The first row whose pattern matches the message; NULL: none. */
CUTE_API const cute_cause *cute_cause_of(const char *text);
/* The row with the code or the id; NULL: none. */
CUTE_API const cute_cause *cute_cause_find(const char *name);
/* The class of message `index`, an error or a warning; NULL: unknown. */
CUTE_API const cute_cause *cute_diag_cause(const cute_diag *diag, size_t index);

/* Settings recorded while messages are added, for the explanation of an error. */
typedef enum cute_fact {
    CUTE_FACT_COMMAND,         /* this project's program and its options */
    CUTE_FACT_RUN,             /* the toolkit program that it ran, and its options */
    CUTE_FACT_TOOLKIT,         /* the path of that program or of the library */
    CUTE_FACT_TOOLKIT_VERSION, /* "13.0, V13.0.88" */
    CUTE_FACT_ARCHITECTURE,    /* "sm_90a" */
    CUTE_FACT_COUNT,
} cute_fact;

/* `value` is copied; NULL: no longer known. The last value counts. */
CUTE_API void cute_diag_know(cute_diag *diag, cute_fact fact, const char *value);
/* `source` is the text that contains the place of the latest message; the lines around that place are
 * kept. */
CUTE_API void cute_diag_show(cute_diag *diag, const char *source, size_t length);

/* The explanation of an error: its cause and the settings; NULL: unknown. */
typedef struct cute_explanation {
    const cute_message *message;
    const cute_cause *cause;
    const char *facts[CUTE_FACT_COUNT];
} cute_explanation;

/* Explains message `index`; valid as long as the message. false: the message is not an error. */
CUTE_API bool cute_diag_explain(const cute_diag *diag, size_t index, cute_explanation *out);
/* The lines around the place of message `index`, the number of the first line in *first: from cute_diag_show,
 * else from the file if its line is still the message's. malloc'ed; NULL: unknown. */
CUTE_API char *cute_diag_around(const cute_diag *diag, size_t index, int *first);

/* CUTE_DIAG_TEXT: failures of other programs and libraries (cute_cause.reported) are printed with a report,
 * once per cause: settings, lines around the place, likely causes, remedies. CUTE_DIAG_FULL: all errors
 * are. */
typedef enum cute_diag_format {
    CUTE_DIAG_TEXT,
    CUTE_DIAG_JSON,
    CUTE_DIAG_FULL,
    CUTE_DIAG_SARIF
} cute_diag_format;

/* All messages as clang prints them (`file:line:col: error: text`, source line, caret), with ANSI colours if
 * `colour`; or one JSON object per line {severity, file, line, column, message}, and {code, cause, stage,
 * likely, try, settings, around} for a message of a known class (docs/errors.md); or one SARIF 2.1.0 log. The result is malloc'ed and
 * NUL-terminated, NULL when memory is exhausted. */
CUTE_API char *cute_diag_render(const cute_diag *diag, cute_diag_format format, bool colour);

/* The version of libcute, "MAJOR.MINOR.PATCH". */
CUTE_API const char *cute_version(void);

#ifdef __cplusplus
}
#endif
#endif
