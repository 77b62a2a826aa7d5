/* Tables of ncu: any text is read or refused with a reason. */
#include "lib/report/explain/ncu.h"

#include "cute/base.h"
#include "lib/base/diagnostics/diag.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cute_arena *arena = cute_arena_create();
    cute_diag *diag = cute_diag_create();
    ncu_table table;
    ncu_stall stalls[NCU_REASONS];
    if (ncu_read(arena, "fuzz.csv", (const char *)data, size, &table, diag) == CUTE_OK) {
        for (size_t n = 0; n < table.count; n++)
            if (ncu_stalls(&table.kernels[n], stalls) > NCU_REASONS) __builtin_trap();
        (void)ncu_find(arena, &table, "_Z4slowPKfPfi", true);
    } else if (!cute_diag_errors(diag)) {
        __builtin_trap();
    }
    cute_diag_destroy(diag);
    cute_arena_destroy(arena);
    return 0;
}
