/* What devices can do: the tables rates.def and devices.def, by name, by architecture, or of a GPU that is there. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/arch.h"
#include "lib/report/roofline/roofline.h"

static const cute_roof_rates by_arch[] = {
#define RATES(...) {__VA_ARGS__},
#include "lib/report/roofline/rates.def"
};

typedef struct device_row {
    const char *name;
    int arch;
    int64_t multiprocessors;
    double clock, tensor_clock, dram, l2_rate, l2; /* MHz, GB/s, bytes a clock, MiB */
    int half;
} device_row;

static const device_row rows[] = {
#define DEVICE(...) {__VA_ARGS__},
#include "lib/report/roofline/devices.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

const roof_ceiling_info roof_ceilings[ROOF_CEILINGS] = {
#define CEILING(id, key, unit, text, rate) [ROOF_##id] = {#key, unit, text},
#include "lib/report/roofline/ceilings.def"
};

const cute_roof_rates *cute_roof_rates_of(int arch)
{
    for (size_t n = 0; n < sizeof by_arch / sizeof *by_arch; n++)
        if (by_arch[n].arch == arch) return &by_arch[n];
    return NULL;
}

/* Where `word` stands in `text`, whatever its case; whole words only, so that A10 is not in A100. NULL: nowhere. */
static const char *find_word(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; *at; at++) {
        size_t n = 0;
        while (n < length && tolower((unsigned char)at[n]) == tolower((unsigned char)word[n])) n++;
        if (n < length || (at > text && isalnum((unsigned char)at[-1])) || isalnum((unsigned char)at[n]))
            continue;
        return at;
    }
    return NULL;
}

static const device_row *row_in(const char *name)
{
    const device_row *best = NULL;
    for (int n = 0; n < ROWS; n++)
        if (find_word(name, rows[n].name) && (!best || strlen(rows[n].name) > strlen(best->name)))
            best = &rows[n];
    return best;
}

/* The rates of all ceilings, out of what is known already: clocks, multiprocessors. */
static void fill(roof_device *d, int arch, bool half, double dram, double l2)
{
    static const cute_roof_rates none;
    const cute_roof_rates *known = cute_roof_rates_of(arch), *r = known ? known : &none;
    const double per_clock[ROOF_CEILINGS] = {
#define CEILING(id, key, unit, text, rate) [ROOF_##id] = rate,
#include "lib/report/roofline/ceilings.def"
    };
    for (int n = 0; n < ROOF_CEILINGS; n++) {
        bool tensor = n > ROOF_TENSOR_F64; /* on f64 they do not slow the clock */
        bool halved = half && (n == ROOF_TENSOR_TF32 || n == ROOF_TENSOR_F16 || n == ROOF_TENSOR_BF16 ||
                               n == ROOF_TENSOR_F8);
        d->each_multiprocessor[n] = per_clock[n] > 0;
        d->most[n] = per_clock[n] * (double)d->multiprocessors * (tensor ? d->tensor_clock : d->clock) /
                     (halved ? 2 : 1);
    }
    d->most[ROOF_DRAM] = dram;
    d->most[ROOF_L2] = l2;
}

static void of_row(const device_row *row, roof_device *d)
{
    *d = (roof_device){.multiprocessors = row->multiprocessors,
                       .l2 = (int64_t)(row->l2 * (1 << 20)),
                       .clock = row->clock * 1e6,
                       .tensor_clock = row->tensor_clock * 1e6};
    snprintf(d->name, sizeof d->name, "%s", row->name);
    snprintf(d->arch, sizeof d->arch, "sm_%d", row->arch);
    fill(d, row->arch, row->half, row->dram * 1e9, row->l2_rate * d->clock);
}

bool cute_roof_device_of_arch(const char *arch, roof_device *out)
{
    const cute_arch *known = arch ? cute_arch_find(arch) : NULL;
    for (int n = 0; known && n < ROWS; n++)
        if (rows[n].arch == known->number) {
            of_row(&rows[n], out);
            return true;
        }
    return false;
}

cute_status cute_roof_device_find(const char *text, roof_device *out, cute_diag *diag)
{
    cute_buffer names = {0};
    const device_row *row = row_in(text);
    for (int n = 0; n < ROWS && !row && *text; n++)
        if (find_word(rows[n].name, text)) row = &rows[n];
    if (row) of_row(row, out);
    if (row || cute_roof_device_of_arch(text, out)) return CUTE_OK;
    for (int n = 0; n < ROWS; n++) cute_buffer_printf(&names, "%s%s", n ? ", " : "", rows[n].name);
    cute_fail(diag, CUTE_USAGE, NULL, "--of expects a device or an architecture, got '%s'", text);
    cute_note(diag, NULL, "known are %s", cute_buffer_text(&names));
    cute_buffer_release(&names);
    return CUTE_USAGE;
}

void cute_roof_device_of_info(const cute_device_info *info, roof_device *d)
{
    const device_row *row = row_in(info->name);
    /* Two transfers a clock: double data rate. */
    double dram = 2e3 * (double)info->memory_clock * (double)info->bus_width / 8, l2 = 0;
    if (row && row->arch != info->major * 10 + info->minor) row = NULL;
    if (row) of_row(row, d);
    if (!row) *d = (roof_device){0};
    snprintf(d->name, sizeof d->name, "%s", info->name);
    snprintf(d->arch, sizeof d->arch, "%s", info->arch);
    if (info->multiprocessors > 0) d->multiprocessors = info->multiprocessors;
    if (info->l2 > 0) d->l2 = info->l2;
    if (info->clock > 0) d->clock = 1e3 * (double)info->clock;
    if (!d->tensor_clock || d->tensor_clock > d->clock) d->tensor_clock = d->clock;
    if (row) l2 = row->l2_rate * d->clock;
    if (row && dram <= 0) dram = row->dram * 1e9;
    fill(d, info->major * 10 + info->minor, row && row->half, dram, l2);
}
