/* The algebra against values that other implementations of CuTe print: each line of
 * tests/reference/instances.txt is a call and what it yields,
 *     logical_divide<> | layout 16:1 | layout 4:1 | = | layout (4,4):(1,4)
 * with tabs for bars. `test_layout_reference --evaluate` answers calls from stdin, a line each, for
 * the scripts that compare it with larger collections. */
#include "tests/unit/test_layout.h"

enum { MAX_FIELDS = 6, MAX_LINE = 1 << 16 };

/* Cuts the line at its tabs; returns how many fields there are. */
static size_t fields_of(char *line, char *fields[MAX_FIELDS])
{
    size_t count = 0;
    line[strcspn(line, "\r\n")] = 0;
    for (char *at = line; at && count < MAX_FIELDS;) {
        fields[count++] = at;
        at = strchr(at, '\t');
        if (at) *at++ = 0;
    }
    return count;
}

/* "layout 4:1", or "error: why". */
static const char *answer(char *fields[], size_t count)
{
    cute_value operands[MAX_FIELDS], result;
    cute_operation op;
    int64_t attributes[8];
    size_t attribute_count, n = 0;
    cute_diag_clear(diag);
    if (!parse_operation(fields[0], &op, attributes, &attribute_count))
        return cute_arena_printf(arena, "error: no operation %s", fields[0]);
    for (; n + 1 < count; n++)
        if (!parse_typed(fields[n + 1], &operands[n]))
            return cute_arena_printf(arena, "error: operand %zu: %s", n, first_message());
    cute_attributes list = {attributes, attribute_count};
    if (cute_apply(arena, NULL, op, operands, n, &list, &result, diag) != CUTE_OK)
        return cute_arena_printf(arena, "error: %s", first_message());
    return cute_arena_printf(arena, "%s %s", cute_type_name(result.type), cute_value_text(arena, &result));
}

static char line[MAX_LINE];

static int evaluate(void)
{
    while (fgets(line, sizeof line, stdin)) {
        char *fields[MAX_FIELDS];
        bool whole = strchr(line, '\n') || feof(stdin);
        for (int c = 0; !whole && c != '\n' && c != EOF;) c = getchar();
        begin();
        const char *text = whole ? answer(fields, fields_of(line, fields)) : "error: the line is too long";
        printf("%s\n", text ? text : "error: out of memory");
        fflush(stdout); /* the caller waits for it */
        end();
    }
    return ferror(stdin) != 0;
}

static void test_instances(void)
{
    const char *path = "tests/reference/instances.txt";
    FILE *file = fopen(path, "r");
    if (!file) {
        test_fail(__FILE__, __LINE__, path);
        return;
    }
    size_t number = 0, calls = 0;
    while (fgets(line, sizeof line, file)) {
        char *fields[MAX_FIELDS];
        number++;
        if (line[0] == '#' || line[0] == '\n') continue;
        size_t count = fields_of(line, fields);
        if (count < 4 || strcmp(fields[count - 2], "=") != 0) {
            printf("# %s:%zu: not a call\n", path, number);
            test_failed = true;
            continue;
        }
        begin();
        const char *text = answer(fields, count - 2);
        calls++;
        if (!text || strcmp(text, fields[count - 1]) != 0) {
            printf("# %s:%zu: %s gives %s, not %s\n", path, number, fields[0], text ? text : "nothing",
                   fields[count - 1]);
            test_failed = true;
        }
        end();
    }
    fclose(file);
    CHECK(calls >= 100);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--evaluate") == 0) return evaluate();
    TEST("results are those of other implementations", test_instances);
    return test_finish();
}
