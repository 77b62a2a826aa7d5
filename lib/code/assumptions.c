/* See assumptions.h. */
#include "lib/code/assumptions.h"

#include <string.h>

#include "lib/emulator/program/program.h"

enum { MOST_THREADS = 1024 };

static bool is_valid_block(const int64_t block[3])
{
    int64_t threads = 1;
    for (int d = 0; d < 3; d++) {
        if (block[d] < 1 || block[d] > MOST_THREADS) return false;
        threads *= block[d];
    }
    return threads <= MOST_THREADS;
}

/* Missing dimensions are 1. */
static bool take_block(code_assumptions *a, const int64_t block[3], const char *from)
{
    int64_t whole[3];
    if (block[0] <= 0) return false;
    for (int d = 0; d < 3; d++) whole[d] = d && block[d] < 1 ? 1 : block[d];
    memcpy(a->block, whole, sizeof a->block);
    a->block_from = from;
    if (!is_valid_block(whole)) {
        memset(a->block, 0, sizeof a->block);
        a->block_from = NULL;
    }
    return true;
}

void code_assume_block(code_assumptions *a, const em_function *kernel, const cute_kernel *about,
                       const int64_t block[3], const char *from)
{
    memset(a->block, 0, sizeof a->block);
    a->block_from = NULL;
    if (kernel && take_block(a, (const int64_t[]){kernel->reqntid[0], kernel->reqntid[1], kernel->reqntid[2]},
                             ".reqntid"))
        return;
    if (about && take_block(a, about->reqntid, ".reqntid")) return;
    if (take_block(a, block, from)) return;
    if (about && take_block(a, about->block, "metadata")) return;
    /* A one-dimensional block of the largest size. */
    const int64_t most[3] = {kernel ? kernel->maxntid[0] : 0, kernel ? kernel->maxntid[1] : 0,
                             kernel ? kernel->maxntid[2] : 0};
    const int64_t *said = most[0] > 0 || !about ? most : about->maxntid;
    if (said[1] <= 1 && said[2] <= 1) take_block(a, said, ".maxntid");
}

int64_t code_pointer_alignment(const code_assumptions *a, uint32_t offset)
{
    const cute_kernel *k = a->about;
    if (a->known && offset < a->parameter_bytes && a->known[offset] == CODE_BYTE_POINTER)
        return CODE_ALLOCATION;
    for (size_t n = 0; k && n < k->arg_count; n++) {
        const cute_arg *arg = &k->args[n];
        if (arg->first < k->param_count && k->params[arg->first].offset == (int64_t)offset && arg->align > 0)
            return arg->align;
    }
    return 1;
}

code_byte code_parameter(const code_assumptions *a, uint64_t at, uint32_t bytes, uint64_t *out)
{
    *out = 0;
    if (!a->parameters || at > a->parameter_bytes || bytes > a->parameter_bytes - at)
        return CODE_BYTE_UNKNOWN;
    for (uint32_t n = 0; n < bytes; n++) {
        if (a->known[at + n] != a->known[at]) return CODE_BYTE_UNKNOWN;
        *out |= (uint64_t)a->parameters[at + n] << (n * 8);
    }
    return (code_byte)a->known[at];
}

const char *code_block_text(cute_arena *arena, const code_assumptions *a)
{
    if (!a->block[0]) return "blocks of any multiple of 32 threads";
    return cute_arena_printf(arena, "blocks of %lld x %lld x %lld (%s)", (long long)a->block[0],
                             (long long)a->block[1], (long long)a->block[2], a->block_from);
}
