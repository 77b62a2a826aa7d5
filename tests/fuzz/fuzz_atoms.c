/* Text of atoms, tiled copies and MMAs: whatever parses prints, and parses again to the same text; then partitions are
 * inferred and facts proved of it. An input is one value a line, its first byte the type; the first byte of all picks the
 * operation. */
#include <stdlib.h>
#include <string.h>

#include "lib/atoms/validate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_VALUES = 5 };

static const char letters[CUTE_TYPES + 1] = "SDCTLXWQPMIOVNacm";

static bool check_text(cute_arena *arena, const cute_value *value)
{
    cute_value again;
    const char *text = cute_atom_value_text(arena, value);
    if (!text) return false;
    if (cute_atom_value_parse(arena, value->type, text, strlen(text), &again, NULL, NULL) != CUTE_OK) abort();
    const char *second = cute_atom_value_text(arena, &again);
    if (second && strcmp(text, second) != 0) abort();
    return true;
}

static void prove(cute_arena *arena, const cute_value *v)
{
    cute_cover cover;
    int64_t x[3], y[3];
    if (v->type == CUTE_TILED_MMA) cute_mma_overlap(v, x, y);
    if (v->type < CUTE_TILED_COPY || cute_tiling_verify(arena, v, NULL) != CUTE_OK) return;
    for (int i = 0; i < 2; i++) {
        cute_status status = cute_tiling_cover(arena, v, i, &cover, NULL);
        if (status == CUTE_OK) cute_cover_text(arena, &cover);
    }
}

static void apply(cute_arena *arena, unsigned char choice, const cute_value *values, size_t count)
{
    int first = CUTE_OP_TILED_COPY_PARTITION_S, all = CUTE_OPERATIONS - first;
    int64_t operand = choice / all % 3;
    cute_attributes attributes = {&operand, 1};
    cute_value out;
    cute_diag *diag = cute_diag_create();
    cute_status status = cute_atom_apply(arena, NULL, (cute_operation)(first + choice % all), values, count,
                                         &attributes, &out, diag);
    if (status == CUTE_OK) {
        if (out.type < CUTE_ATOM && cute_value_verify(&out, NULL) != CUTE_OK) abort();
        check_text(arena, &out);
    } else if (status == CUTE_INVALID && cute_diag_count(diag) == 0) {
        abort();
    }
    cute_diag_destroy(diag);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_value values[MOST_VALUES];
    size_t count = 0;
    if (size < 2 || !arena) return cute_arena_destroy(arena), 0;
    for (size_t at = 1; at < size && count < MOST_VALUES;) {
        const uint8_t *end = memchr(data + at, '\n', size - at);
        size_t length = end ? (size_t)(end - (data + at)) : size - at;
        const char *letter = length ? memchr(letters, data[at], CUTE_TYPES) : NULL;
        if (letter && cute_atom_value_parse(arena, (cute_type)(letter - letters), (const char *)data + at + 1,
                                            length - 1, &values[count], NULL, NULL) == CUTE_OK) {
            check_text(arena, &values[count]);
            prove(arena, &values[count]);
            count++;
        }
        at += length + 1;
    }
    if (count) apply(arena, data[0], values, count);
    if (count >= 3 && values[0].type == CUTE_ATOM && values[1].type == CUTE_MEMREF &&
        values[2].type == CUTE_MEMREF) {
        cute_copy_verify(arena, &values[0], &values[1], &values[2],
                         count > 3 && values[3].type == CUTE_MEMREF ? &values[3] : NULL, NULL);
        if (count == 5) cute_gemm_verify(arena, &values[0], values + 1, NULL);
    }
    cute_arena_destroy(arena);
    return 0;
}
