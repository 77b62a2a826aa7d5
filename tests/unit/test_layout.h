/* What the tests of the layout algebra share: operations called with texts. */
#ifndef CUTE_TEST_LAYOUT_H
#define CUTE_TEST_LAYOUT_H

#include "cute/layout.h"
#include "tests/unit/test.h"

static cute_arena *arena; /* of the running test */
static cute_diag *diag;

static inline void begin(void)
{
    arena = cute_arena_create();
    diag = cute_diag_create();
}

static inline void end(void)
{
    cute_arena_destroy(arena);
    cute_diag_destroy(diag);
}

static inline const char *first_message(void)
{
    return cute_diag_count(diag) ? cute_diag_get(diag, 0)->text : "(no message)";
}

/* What tests/docs/messages looks for: each message has a test. */
static inline void says(void)
{
    printf("# says: %s\n", first_message());
}

static inline void check_round_trip(cute_type type, const char *text, const char *canonical)
{
    cute_value first, second;
    begin();
    if (CHECK(cute_value_parse(arena, type, text, strlen(text), &first, NULL, diag) == CUTE_OK)) {
        const char *printed = cute_value_text(arena, &first);
        CHECK_TEXT(printed, canonical);
        if (CHECK(cute_value_parse(arena, type, printed, strlen(printed), &second, NULL, diag) == CUTE_OK))
            CHECK(cute_value_equal(&first, &second));
    } else {
        printf("# %s: %s\n", text, first_message());
    }
    end();
}

static inline void check_error(cute_type type, const char *text, size_t offset, const char *message)
{
    cute_value value;
    size_t at = 999;
    begin();
    CHECK_INT(cute_value_parse(arena, type, text, strlen(text), &value, &at, diag), CUTE_INVALID);
    CHECK_INT(cute_diag_count(diag), 1);
    says();
    if (at != offset || !strstr(first_message(), message)) {
        printf("# %s: %zu: %s\n# not %zu: %s\n", text, at, first_message(), offset, message);
        test_fail(__FILE__, __LINE__, text);
    }
    end();
}

/* "layout (4,2):(1,4)": a type's name, a space, a value's text. */
static inline bool parse_typed(const char *text, cute_value *out)
{
    for (int type = CUTE_SHAPE; type <= CUTE_DIVISOR; type++) {
        const char *name = cute_type_name((cute_type)type);
        size_t n = strlen(name);
        if (strncmp(text, name, n) != 0 || text[n] != ' ') continue;
        return cute_value_parse(arena, (cute_type)type, text + n + 1, strlen(text) - n - 1, out, NULL,
                                diag) == CUTE_OK;
    }
    return false;
}

/* "op<1,2>": the operation and its attributes. */
static inline bool parse_operation(const char *text, cute_operation *operation, int64_t *attributes,
                                   size_t *count)
{
    char name[64] = "";
    size_t n = strcspn(text, "<");
    if (n >= sizeof name) return false;
    memcpy(name, text, n);
    *count = 0;
    for (const char *p = text + n; *p && *count < 8;) {
        char *after;
        attributes[*count] = strtoll(p + 1, &after, 10);
        if (after == p + 1) break;
        ++*count;
        p = after;
    }
    return cute_operation_find(name, operation);
}

/* The result's text, or the first message. Up to four operands, NULL for none; more stand in the third behind " | ". */
static inline const char *calculate(const char *operation, const char *a, const char *b, const char *c)
{
    const char *bar = c ? strstr(c, " | ") : NULL;
    const char *texts[] = {a, b, bar ? cute_arena_copy(arena, c, (size_t)(bar - c)) : c,
                           bar ? bar + 3 : NULL};
    cute_value operands[4], result;
    cute_operation op;
    int64_t attributes[8];
    size_t count = 0, attribute_count;
    cute_diag_clear(diag);
    if (!parse_operation(operation, &op, attributes, &attribute_count)) return "no such operation";
    for (; count < 4 && texts[count]; count++)
        if (!parse_typed(texts[count], &operands[count])) return first_message();
    cute_attributes list = {attributes, attribute_count};
    if (cute_apply(arena, NULL, op, operands, count, &list, &result, diag) != CUTE_OK) return first_message();
    const char *text = cute_value_text(arena, &result);
    return text ? text : "out of memory";
}

typedef struct row {
    const char *operation, *a, *b, *c, *result;
} row;

static inline void check_rows(const row *rows, size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        const char *got = calculate(rows[i].operation, rows[i].a, rows[i].b, rows[i].c);
        if (strcmp(got, rows[i].result) == 0) continue;
        printf("# %s(%s, %s) is\n#   %s\n# not\n#   %s\n", rows[i].operation, rows[i].a,
               rows[i].b ? rows[i].b : "", got, rows[i].result);
        test_fail(__FILE__, __LINE__, rows[i].operation);
    }
    end();
}
#define CHECK_ROWS(rows) check_rows(rows, sizeof(rows) / sizeof(rows)[0])

/* Each row is refused with a message that contains `result`. */
static inline void check_refused(const row *rows, size_t count)
{
    begin();
    for (size_t i = 0; i < count; i++) {
        const char *got = calculate(rows[i].operation, rows[i].a, rows[i].b, rows[i].c);
        says();
        if (cute_diag_count(diag) == 1 && strstr(got, rows[i].result)) continue;
        printf("# %s(%s, %s) says\n#   %s\n# not\n#   %s\n", rows[i].operation, rows[i].a,
               rows[i].b ? rows[i].b : "", got, rows[i].result);
        test_fail(__FILE__, __LINE__, rows[i].operation);
    }
    end();
}
#define CHECK_REFUSED(rows) check_refused(rows, sizeof(rows) / sizeof(rows)[0])

#endif
