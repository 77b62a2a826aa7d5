/* Inference against a list of instances that another compiler printed: one JSON object a line, with "op", "attr" (as in
 * generic form), "in" and "out" (types). CUTE_INSTANCES names the file; without it there is nothing to test. Operations
 * that lib/layout and lib/atoms do not have, and operands of types or instructions that they do not know, are counted as
 * left out. */
#include <jansson.h>

#include "lib/atoms/atoms.h"
#include "tests/unit/test_layout.h"

/* The value of a type; false where it is none of lib/layout's. */
static bool parse_type(const char *text, cute_value *out)
{
    if (strcmp(text, "i32") == 0 || strcmp(text, "i64") == 0 || strcmp(text, "i1") == 0) {
        *out = cute_value_of_tree(CUTE_INT_TUPLE, cute_tree_unknown(arena, atoi(text + 1), NULL));
        return true;
    }
    if (strncmp(text, "!cute.", 6) != 0) return false;
    const char *name = text + 6, *inside = strchr(name, '<');
    if (!inside) return false;
    size_t length = (size_t)(inside - name), size = strlen(inside) - 2;
    for (int type = CUTE_SHAPE; type < CUTE_TYPES; type++) {
        const char *known = cute_type_name((cute_type)type);
        bool quoted = type <= CUTE_TILE;
        if (strlen(known) != length || strncmp(known, name, length) != 0) continue;
        return cute_atom_value_parse(arena, (cute_type)type, inside + 1 + quoted, size - 2 * quoted, out,
                                     NULL, diag) == CUTE_OK;
    }
    return false;
}

/* "mode = array<i32: 1, 2>" and the integers that are attributes of their own, in the algebra's order. */
static size_t parse_attributes(const char *text, int64_t out[8])
{
    static const char *const names[] = {
        "rank = ", "begin = ", "end = ", "new_type_bits = ", "old_type_bits = ", "operand_id = "};
    size_t count = 0;
    const char *mode = strstr(text, "mode = array<i32");
    if (mode) {
        for (const char *p = mode + strlen("mode = array<i32") + 1; *p && p[-1] != '>' && count < 8;) {
            char *end;
            out[count++] = strtoll(p, &end, 10);
            p = end + 1;
        }
        return count;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *at = strstr(text, names[i]);
        if (at) out[count++] = strtoll(at + strlen(names[i]), NULL, 10);
    }
    return count;
}

/* `NAME = #cute.coord<"...">` as one more operand. */
static bool parse_coordinate(const char *text, const char *name, cute_value *out)
{
    const char *at = strstr(text, name);
    if (!at) return false;
    const char *start = strchr(at, '"') + 1, *end = strchr(start, '"');
    return cute_value_parse(arena, CUTE_COORD, start, (size_t)(end - start), out, NULL, diag) == CUTE_OK;
}

typedef enum verdict { SAME, DIFFERENT, REFUSED, LEFT_OUT, VERDICTS } verdict;

static verdict try_instance(json_t *instance)
{
    const char *name = json_string_value(json_object_get(instance, "op"));
    const char *attribute = json_string_value(json_object_get(instance, "attr"));
    json_t *in = json_object_get(instance, "in"), *out = json_array_get(json_object_get(instance, "out"), 0);
    char plain[64];
    cute_operation operation;
    cute_value operands[5], expected, got;
    size_t count = 0;
    int64_t numbers[8];
    snprintf(plain, sizeof plain, "%s", name + strlen("cute."));
    for (char *p = plain; *p; p++)
        if (*p == '.') *p = '_';
    if (!cute_operation_find(plain, &operation)) return LEFT_OUT;
    for (; count < json_array_size(in) && count < 4; count++)
        if (!parse_type(json_string_value(json_array_get(in, count)), &operands[count])) return LEFT_OUT;
    if (parse_coordinate(attribute, "proj = ", &operands[count])) count++;
    if (parse_coordinate(attribute, "coord = ", &operands[count])) count++;
    if (!parse_type(json_string_value(out), &expected)) return LEFT_OUT;
    if (count && operands[0].type >= CUTE_ATOM && !operands[0].atom->known) return LEFT_OUT;
    cute_attributes attributes = {numbers, parse_attributes(attribute, numbers)};
    const char *wanted = json_string_value(out), *said = "";
    verdict result = SAME;
    cute_status status = cute_atom_apply(arena, NULL, operation, operands, count, &attributes, &got, diag);
    bool of_layouts = strncmp(name, "cute.tiled.", 11) != 0;
    if (of_layouts && (status != CUTE_OK || !cute_value_equal(&got, &expected))) {
        cute_diag_clear(diag);
        status = cute_apply_dsl(arena, NULL, operation, operands, count, &attributes, &got, diag);
    }
    if (status != CUTE_OK) {
        result = REFUSED;
        said = first_message();
    } else if (!cute_value_equal(&got, &expected) && strcmp(wanted, "i1") != 0) {
        /* the coordinate of an index that was a constant there */
        bool constant = operation == CUTE_OP_GET_HIER_COORD && cute_value_is_static(&expected);
        for (int64_t i = 0; constant && i < 64 && !cute_value_equal(&got, &expected); i++) {
            operands[0].tree = cute_tree_number(arena, i);
            cute_atom_apply(arena, NULL, operation, operands, count, &attributes, &got, diag);
        }
        if (!cute_value_equal(&got, &expected)) result = DIFFERENT;
        said = cute_value_text(arena, &got);
    }
    if (result != SAME) {
        printf("# %s %s", name, attribute);
        for (size_t i = 0; i < json_array_size(in); i++)
            printf(" | %s", json_string_value(json_array_get(in, i)));
        printf("\n#   %s\n# not\n#   %s\n", said, wanted);
    }
    return result;
}

static void test_instances(void)
{
    const char *path = getenv("CUTE_INSTANCES");
    FILE *file = path ? fopen(path, "r") : NULL;
    char *line = NULL;
    size_t capacity = 0, counts[VERDICTS] = {0};
    if (!file) {
        test_fail(__FILE__, __LINE__, path ? path : "CUTE_INSTANCES is not set");
        return;
    }
    while (getline(&line, &capacity, file) > 0) {
        json_t *instance = json_loads(line, 0, NULL);
        begin();
        counts[instance ? try_instance(instance) : REFUSED]++;
        end();
        json_decref(instance);
    }
    printf("# %zu right, %zu different, %zu refused, %zu left out\n", counts[SAME], counts[DIFFERENT],
           counts[REFUSED], counts[LEFT_OUT]);
    CHECK_INT(counts[DIFFERENT] + counts[REFUSED], 0);
    free(line);
    fclose(file);
}

int main(void)
{
    if (!getenv("CUTE_INSTANCES")) {
        printf("ok 1 - instances of another compiler are inferred alike # SKIP CUTE_INSTANCES names no "
               "file\n1..1\n");
        return 0;
    }
    TEST("instances of another compiler are inferred alike", test_instances);
    return test_finish();
}
