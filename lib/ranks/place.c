/* The rank of this process, from the environment variables of its launcher. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/ranks/ranks.h"

typedef struct launcher {
    const char *name, *rank, *size, *local_rank, *local_size, *job;
} launcher;

static const launcher launchers[] = {
#define LAUNCHER(name, rank, size, local_rank, local_size, job)                                              \
    {name, rank, size, local_rank, local_size, job},
#include "lib/ranks/launchers.def"
#undef LAUNCHER
};

static const char *setting(const char *variable)
{
    const char *value = variable ? getenv(variable) : NULL;
    return value && *value ? value : NULL;
}

/* The digits at the start of a variable; SLURM writes "4(x2)" for four tasks on each of two nodes. */
static cute_status read_number(const char *variable, int least, int most, int *out, cute_diag *diag)
{
    const char *text = setting(variable);
    char *end;
    errno = 0;
    long value = text && *text >= '0' && *text <= '9' ? strtol(text, &end, 10) : -1;
    if (value < 0 || errno || (*end && *end != '(') || value < least || value > most)
        return cute_fail(diag, CUTE_USAGE, NULL, "%s: expected a number from %d to %d, got '%s'", variable,
                         least, most, text ? text : "");
    *out = (int)value;
    return CUTE_OK;
}

/* Ranks of one host meet at an abstract socket, which the job names; ranks of several hosts at the port after that of torchrun's own
 * store. */
static cute_status choose_address(const launcher *l, ranks_place *out, int local_size, cute_diag *diag)
{
    const char *given = setting("CUTE_RANKS_ADDRESS"), *host = setting("MASTER_ADDR"), *job = setting(l->job);
    int port;
    if (given) {
        bool fits = strlen(given) < sizeof out->address;
        const char *colon = strncmp(given, "tcp:", 4) == 0 ? strrchr(given + 4, ':') : NULL;
        if (!fits ||
            (!(strncmp(given, "unix:", 5) == 0 && given[5]) && !(colon && colon[1] && colon > given + 4)))
            return cute_fail(diag, CUTE_USAGE, NULL,
                             "CUTE_RANKS_ADDRESS: expected unix:NAME or tcp:HOST:PORT, got '%s'", given);
        snprintf(out->address, sizeof out->address, "%s", given);
        return CUTE_OK;
    }
    if (local_size >= out->size) {
        /* two jobs of torchrun may have the same name */
        const char *number = setting("MASTER_PORT");
        if (job || number)
            snprintf(out->address, sizeof out->address, "unix:cute-ranks-%u-%s-%s", (unsigned)getuid(),
                     job ? job : "", number ? number : "");
        else
            snprintf(out->address, sizeof out->address, "unix:cute-ranks-%u-%ld", (unsigned)getuid(),
                     (long)getppid());
        return CUTE_OK;
    }
    if (!host || !setting("MASTER_PORT"))
        return cute_fail(
            diag, CUTE_USAGE, NULL,
            "ranks on several hosts (%d of %d on this one) require MASTER_ADDR and MASTER_PORT, the "
            "host of rank 0 and a free port",
            local_size, out->size);
    CUTE_TRY(read_number("MASTER_PORT", 1, 65534, &port, diag));
    if (snprintf(out->address, sizeof out->address, "tcp:%s:%d", host, port + 1) >= (int)sizeof out->address)
        return cute_fail(diag, CUTE_USAGE, NULL, "MASTER_ADDR: expected the name of a host, got '%s'", host);
    return CUTE_OK;
}

cute_status cute_ranks_find(ranks_place *out, bool *found, cute_diag *diag)
{
    *found = false;
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++) {
        const launcher *l = &launchers[i];
        if (!setting(l->rank) || !setting(l->size)) continue;
        ranks_place place = {.launcher = l->name};
        CUTE_TRY(read_number(l->size, 1, RANKS_MOST, &place.size, diag));
        CUTE_TRY(read_number(l->rank, 0, place.size - 1, &place.rank, diag));
        int local_size = place.size;
        place.local_rank = place.rank;
        if (setting(l->local_rank))
            CUTE_TRY(read_number(l->local_rank, 0, place.size - 1, &place.local_rank, diag));
        if (setting(l->local_size)) CUTE_TRY(read_number(l->local_size, 1, RANKS_MOST, &local_size, diag));
        CUTE_TRY(choose_address(l, &place, local_size, diag));
        *out = place;
        *found = true;
        return CUTE_OK;
    }
    return CUTE_OK;
}
