/* The calculator: whole input, line by line, with names kept from line to line. A value that it gives prints,
 * and its text is an expression that gives an equal value again; a line that it refuses says why, once. The
 * first byte picks whether layouts are drawn too. */
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/calculator/calculator.h"
#include "lib/calculator/picture.h"
#include "lib/layout/facts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_CELLS = 256 };

/* The answer's line; NULL when memory is exhausted. */
static const char *line_of(cute_arena *arena, const cute_answer *answer)
{
    cute_buffer out = {0};
    cute_answer_print(arena, answer, &out);
    const char *text = cute_buffer_ok(&out) && out.length
                           ? cute_arena_copy(arena, cute_buffer_text(&out), out.length - 1)
                           : NULL;
    cute_buffer_release(&out);
    return text;
}

static void check_text(cute_calculator *calculator, cute_arena *arena, const cute_answer *answer)
{
    const char *text = line_of(arena, answer);
    if (!text || answer->value.type >= CUTE_ATOM)
        return; /* atoms have names, and types that only the dialect reads */
    cute_calculator_line line = {"again", 1, text, strlen(text)};
    cute_answer again;
    cute_status status = cute_calculator_eval(calculator, arena, &line, &again, NULL);
    if (status != CUTE_OK || again.kind != CUTE_ANSWER_VALUE) abort();
    const char *second = line_of(arena, &again);
    if (second && strcmp(text, second) != 0) abort();
}

/* Where few indices are to be tried, the facts are what trying gives. */
static void check_facts(cute_arena *arena, const cute_value *value)
{
    int64_t seen[MOST_CELLS];
    cute_layout_facts facts;
    cute_layout_facts_of(arena, value, &facts);
    if (!facts.has_size || facts.size > MOST_CELLS || facts.injective == CUTE_UNDECIDED) return;
    bool injective = true;
    for (int64_t i = 0; i < facts.size; i++) {
        cute_value in[2] = {cute_value_of_tree(CUTE_COORD, cute_tree_number(arena, i)), *value}, index;
        if (cute_apply(arena, NULL, CUTE_OP_LAYOUT_EVAL, in, 2, NULL, &index, NULL) != CUTE_OK) return;
        if (index.tree->kind != CUTE_TREE_INT) return;
        seen[i] = index.tree->value.value;
        for (int64_t j = 0; j < i; j++) injective = injective && seen[j] != seen[i];
    }
    if (injective != (facts.injective == CUTE_YES)) abort();
    int64_t least = seen[0], most = seen[0], span;
    for (int64_t i = 0; i < facts.size; i++) {
        if (seen[i] < least) least = seen[i];
        if (seen[i] > most) most = seen[i];
    }
    bool dense = injective && !__builtin_sub_overflow(most, least, &span) && span == facts.size - 1;
    if (facts.contiguous != CUTE_UNDECIDED && dense != (facts.contiguous == CUTE_YES)) abort();
}

static void check_picture(cute_arena *arena, const cute_value *value, uint8_t choice)
{
    static void (*const draw[])(const cute_picture *, cute_buffer *) = {cute_picture_table, cute_picture_svg,
                                                                        cute_picture_tex};
    cute_picture_options options = {.colour = (cute_picture_colour)(choice % 5),
                                    .element_bits = choice % 7 * 8,
                                    .most_cells = MOST_CELLS,
                                    .most_side = MOST_CELLS};
    cute_value tile;
    if (choice & 64 && cute_value_parse(arena, CUTE_SHAPE, "(4,(2,2))", 9, &tile, NULL, NULL) == CUTE_OK)
        options.tile = tile.tree;
    cute_picture picture;
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_picture_create(arena, value, &options, &picture, diag);
    if (status == CUTE_INVALID && cute_diag_errors(diag) != 1) abort();
    cute_buffer out = {0};
    if (status == CUTE_OK) draw[choice % 3](&picture, &out);
    cute_buffer_release(&out);
    cute_diag_destroy(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 4096) return 0;
    cute_calculator *calculator = cute_calculator_create();
    const char *text = (const char *)data + 1, *end = (const char *)data + size;
    for (int number = 1; calculator && text <= end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        cute_calculator_line line = {"<stdin>", number, text, length};
        cute_arena *arena = cute_arena_create();
        cute_diag *diag = cute_diag_create();
        cute_answer answer;
        cute_buffer out = {0};
        cute_status status = cute_calculator_eval(calculator, arena, &line, &answer, diag);
        if ((status == CUTE_OK) != (answer.kind != CUTE_ANSWER_ERROR)) abort();
        if (status == CUTE_INVALID && (!answer.error || cute_diag_errors(diag) != 1)) abort();
        if (status == CUTE_INVALID && cute_diag_get(diag, 0)->place.column > (int)length + 1) abort();
        cute_answer_print(arena, &answer, &out);
        cute_answer_json(arena, &answer, &out);
        if (answer.kind == CUTE_ANSWER_VALUE) {
            check_text(calculator, arena, &answer);
            check_facts(arena, &answer.value);
            check_picture(arena, &answer.value, data[0]);
        }
        cute_buffer_release(&out);
        cute_diag_destroy(diag);
        cute_arena_destroy(arena);
        text += length + 1;
    }
    cute_calculator_destroy(calculator);
    return 0;
}
