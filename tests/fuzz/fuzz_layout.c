/* Layout text: whatever parses prints, and parses again to an equal value; then the operations are inferred
 * and emitted on it. An input is one value a line: the lines are the operands, the first byte picks the
 * operation. */
#include <stdlib.h>
#include <string.h>

#include "cute/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_OPERANDS = 4, MOST_VALUES = 8 };

static void check_round_trip(cute_arena *arena, const cute_value *value)
{
    cute_value again;
    const char *text = cute_value_text(arena, value);
    if (!text) return;
    if (cute_value_parse(arena, value->type, text, strlen(text), &again, NULL, NULL) != CUTE_OK) abort();
    if (!cute_value_equal(value, &again)) abort();
}

/* What an operation yields obeys the rules of its type. */
static void check_result(cute_arena *arena, const cute_value *value)
{
    if (cute_value_verify(value, NULL) != CUTE_OK) abort();
    check_round_trip(arena, value);
}

/* ---- an arithmetic that only looks at what it is asked ---- */

typedef struct emitter {
    int ifs; /* that are open */
    int handle;
} emitter;

static void check_operand(const cute_int *x, int width)
{
    if (!x->known && (!x->handle || x->width > width)) abort();
}

static cute_status emit(void *context, cute_arith_op op, const cute_int *a, const cute_int *b, int width,
                        void **handle, cute_diag *diag)
{
    (void)diag;
    if ((op == CUTE_ABS) != !b || (a->known && (!b || b->known))) abort();
    check_operand(a, width);
    if (b) check_operand(b, width);
    *handle = &((emitter *)context)->handle;
    return CUTE_OK;
}

static cute_status if_begin(void *context, const cute_int *condition, cute_diag *diag)
{
    (void)diag;
    if (condition->known || condition->width != 1) abort();
    ((emitter *)context)->ifs++;
    return CUTE_OK;
}

static cute_status if_otherwise(void *context, cute_diag *diag)
{
    (void)diag;
    if (((emitter *)context)->ifs < 1) abort();
    return CUTE_OK;
}

static cute_status if_end(void *context, const cute_int *yes, const cute_int *no, int width, void **handle,
                          cute_diag *diag)
{
    (void)diag;
    check_operand(yes, width);
    check_operand(no, width);
    if (--((emitter *)context)->ifs < 0) abort();
    *handle = &((emitter *)context)->handle;
    return CUTE_OK;
}

static void if_abandon(void *context)
{
    if (--((emitter *)context)->ifs < 0) abort();
}

static cute_status advance(void *context, const cute_pointer *from, const cute_int *offset,
                           const cute_pointer *to, void **handle, cute_diag *diag)
{
    (void)diag;
    if (!from->handle || to->handle || (offset && offset->known && offset->value == 0)) abort();
    if (offset) check_operand(offset, 64);
    *handle = &((emitter *)context)->handle;
    return CUTE_OK;
}

/* The same value with a handle for each unknown leaf and the pointer. */
static bool with_handles(cute_arena *arena, const cute_value *value, void *handle, cute_value *out)
{
    size_t count = cute_value_unknowns(value, NULL, 0);
    void **handles = cute_arena_array(arena, count ? count : 1, sizeof *handles);
    if (!handles) return false;
    for (size_t i = 0; i < count; i++) handles[i] = handle;
    if (cute_value_with_handles(arena, value, handles, count, out, NULL) != CUTE_OK) return false;
    if (out->pointer) out->pointer = cute_pointer_with_handle(arena, out->pointer, handle);
    return !value->pointer || out->pointer;
}

/* What is emitted is of the inferred type, no if is left open, and every unknown is something that was
 * emitted. */
static void check_emitted(cute_arena *arena, cute_operation operation, const cute_value *operands,
                          size_t count, const cute_attributes *attributes, cute_status inferred,
                          const cute_value *type)
{
    emitter e = {0, 0};
    cute_arith arith = {&e, emit, if_begin, if_otherwise, if_end, if_abandon, advance};
    cute_value in[MAX_OPERANDS], result;
    for (size_t i = 0; i < count; i++)
        if (!with_handles(arena, &operands[i], &e.handle, &in[i])) return;
    cute_status status = cute_apply(arena, &arith, operation, in, count, attributes, &result, NULL);
    if (status != inferred || e.ifs != 0) abort();
    if (status != CUTE_OK) return;
    if (!cute_value_equal(&result, type)) abort();
    size_t unknown = cute_value_unknowns(&result, NULL, 0);
    cute_int *leaves = cute_arena_array(arena, unknown ? unknown : 1, sizeof *leaves);
    if (!leaves) return;
    cute_value_unknowns(&result, leaves, unknown);
    for (size_t i = 0; i < unknown; i++)
        if (!leaves[i].handle) abort();
    if (result.pointer && !result.pointer->handle) abort();
}

static void infer(cute_arena *arena, cute_operation operation, const cute_value *operands, size_t count,
                  const int64_t *numbers)
{
    for (size_t attributes = 0; attributes <= 2; attributes++) {
        cute_value result;
        cute_attributes list = {numbers, attributes};
        cute_diag *diag = cute_diag_create();
        cute_status status = cute_apply(arena, NULL, operation, operands, count, &list, &result, diag);
        if (status == CUTE_OK)
            check_result(arena, &result);
        else if (status == CUTE_INVALID && cute_diag_errors(diag) != 1)
            abort();
        check_emitted(arena, operation, operands, count, &list, status, &result);
        cute_diag_destroy(diag);
    }
}

static void parse_line(cute_arena *arena, const char *line, size_t length, cute_value *operands,
                       size_t *count)
{
    for (int type = CUTE_SHAPE; type <= CUTE_DIVISOR; type++) {
        cute_value value;
        size_t offset = 0;
        cute_status status = cute_value_parse(arena, (cute_type)type, line, length, &value, &offset, NULL);
        if (status == CUTE_OK)
            check_round_trip(arena, &value);
        else if (offset > length)
            abort();
        /* the first line gives one operand of each type that it can be, the others their likeliest */
        if (status == CUTE_OK && *count < MOST_VALUES) operands[(*count)++] = value;
    }
}

/* Every choice of a value for each line, and the first lines alone. */
static void combine(cute_arena *arena, cute_operation operation, cute_value operands[][MOST_VALUES],
                    const size_t *counts, size_t lines, size_t at, cute_value *in, const int64_t *numbers)
{
    if (at) infer(arena, operation, in, at, numbers);
    if (at == lines) return;
    for (size_t i = 0; i < counts[at]; i++) {
        in[at] = operands[at][i];
        if (at == 3 && in[at].type != CUTE_COORD) continue; /* what a fourth one is */
        combine(arena, operation, operands, counts, lines, at + 1, in, numbers);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > 4096) return 0;
    cute_arena *arena = cute_arena_create();
    cute_value operands[MAX_OPERANDS][MOST_VALUES], any;
    size_t counts[MAX_OPERANDS] = {0}, lines = 0;
    if (!arena) return 0;
    int64_t numbers[] = {data[1] % 20 - 2, data[2] % 20 - 2};
    const char *text = (const char *)data + 3, *end = (const char *)data + size;
    for (; text <= end && lines < MAX_OPERANDS; lines++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t length = (size_t)((stop ? stop : end) - text);
        parse_line(arena, text, length, operands[lines], &counts[lines]);
        if (cute_value_parse_any(arena, text, length, &any, NULL, NULL) == CUTE_OK)
            check_round_trip(arena, &any);
        text += length + 1;
    }
    cute_operation operation = (cute_operation)(data[0] % CUTE_OPERATIONS);
    cute_value in[MAX_OPERANDS];
    combine(arena, operation, operands, counts, lines, 0, in, numbers);
    cute_arena_destroy(arena);
    return 0;
}
