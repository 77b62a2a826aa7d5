/* Sustained rates of devices: the measured H100, and others by data sheets and the ratios of an H100. See model.h. */
#include "lib/base/devices/devices.h"
#include "lib/base/devices/rates.h"
#include "lib/model/model.h"

/* Of the measured H100. Device memory: the copies in bench/README.md, "Figures", reach 2.85e12 to 3.04e12 bytes a second. */
static const double dram_bandwidth = 2.95e12;
/* Operands that are still in L2; `cute-run --calibrate` measures 8.12e12 for all L2 reads (bench/README.md, "Reports compared with a
 * GPU"). */
static const double l2_operand_bandwidth = 6.3e12;
/* Tiles from L2: about 7e12 with loads alone (bench/README.md, "Hopper"). */
static const double l2_tile_bandwidth = 7.5e12;

enum { MEASURED_ARCH = 90 };

void cute_model_measured(int64_t multiprocessors, cute_model_device *out)
{
    const cute_gpu *gpu = cute_gpu_of_arch(MEASURED_ARCH);
    double scale = (double)multiprocessors / CUTE_MODEL_SMS;
    *out = (cute_model_device){.name = gpu->name,
                               .arch = MEASURED_ARCH,
                               .multiprocessors = multiprocessors,
                               .dram = dram_bandwidth * scale,
                               .l2_operands = l2_operand_bandwidth * scale,
                               .l2_tiles = l2_tile_bandwidth * scale,
                               .resident = CUTE_MODEL_RESIDENT,
                               .clock = gpu->tensor_clock * 1e6};
}

static const cute_gpu *largest_of(int arch)
{
    const cute_gpu *best = NULL, *row;
    for (size_t n = 0; (row = cute_gpu_at(n)) != NULL; n++)
        if (row->arch == arch && (!best || row->multiprocessors > best->multiprocessors)) best = row;
    return best;
}

bool cute_model_device_of(int arch, cute_model_device *out)
{
    const cute_gpu *gpu = largest_of(arch), *known = cute_gpu_of_arch(MEASURED_ARCH);
    if (!gpu) return false;
    cute_model_measured(CUTE_MODEL_SMS, out);
    if (arch == MEASURED_ARCH) return true;
    /* Bytes of L2 a second at the published rate, else at that of an H100 for each multiprocessor and clock. */
    double peak = known->l2_rate * known->clock,
           l2 = gpu->l2_rate > 0 ? gpu->l2_rate * gpu->clock
                                 : peak * (double)gpu->multiprocessors * gpu->clock /
                                       ((double)known->multiprocessors * known->clock);
    out->name = gpu->name;
    out->arch = arch;
    out->multiprocessors = gpu->multiprocessors;
    out->dram *= gpu->dram / known->dram;
    out->l2_operands *= l2 / peak;
    out->l2_tiles *= l2 / peak;
    out->resident = (int64_t)((double)out->resident * gpu->l2 / known->l2);
    out->clock = gpu->tensor_clock * 1e6;
    out->half = gpu->half;
    return true;
}

static const struct {
    cute_model_unit unit;
    int first, end;
    cute_model_element element;
    double fraction;
} efficiencies[] = {
#define EFFICIENCY(unit, first, end, element, fraction)                                                      \
    {CUTE_MODEL_##unit, first, end, CUTE_MODEL_##element, fraction},
#include "lib/model/instructions.def"
};

double cute_model_rate(const cute_model_device *d, cute_model_unit unit, cute_model_element element)
{
    static const cute_rates none;
    const cute_rates *known = cute_rates_of(d->arch), *r = known ? known : &none;
    const double tensor[CUTE_MODEL_ELEMENTS] = {
        [CUTE_MODEL_HALF] = r->f16, [CUTE_MODEL_TF32] = r->f16 / 2, [CUTE_MODEL_BYTE] = r->i8,
        [CUTE_MODEL_FP8] = r->f8,   [CUTE_MODEL_SINGLE] = 0,        [CUTE_MODEL_DOUBLE] = r->f64};
    bool threads = unit == CUTE_MODEL_THREADS;
    bool halved = d->half && !threads && element != CUTE_MODEL_BYTE && element != CUTE_MODEL_DOUBLE;
    double peak = !threads ? tensor[element] : element == CUTE_MODEL_DOUBLE ? 2 * r->fp64 : 2 * r->fp32;
    for (size_t i = 0; i < sizeof efficiencies / sizeof *efficiencies; i++)
        if (efficiencies[i].unit == unit && efficiencies[i].element == element &&
            d->arch >= efficiencies[i].first && d->arch < efficiencies[i].end)
            return peak * d->clock * efficiencies[i].fraction / (halved ? 2 : 1);
    return 0;
}

/* Fraction of the rate with the bytes of K that a barrier of a stage is paid for, over that of 128 bytes. An estimate. */
static double stage_efficiency(int64_t row)
{
    const double barrier = 8, usual = 128; /* bytes of K */
    double own = (double)row / ((double)row + barrier), best = usual / (usual + barrier);
    return own < best ? own / best : 1;
}

double cute_model_tile_rate(const cute_model_device *d, cute_model_unit unit, cute_model_element element,
                            int64_t bm, int64_t bn, int64_t row, int64_t groups)
{
    /* One warpgroup leaves tensor cores idle between its products: an estimate. wgmma reads A and B from shared memory: with few
     * columns, reading A dominates; the rates are for 256 columns. */
    const double one_group = 0.85, best_tile = 128.0 * 256 / (128 + 256), most_columns = 256, of_a = 32;
    double rate = cute_model_rate(d, unit, element) * stage_efficiency(row);
    if (unit != CUTE_MODEL_WGMMA) return rate * cute_model_intensity(bm, bn, best_tile);
    double columns = (double)bn < most_columns ? (double)bn : most_columns;
    rate *= columns / (columns + of_a) * (most_columns + of_a) / most_columns;
    return groups == 1 ? rate * one_group : rate;
}
