/* The occupancy of a compiled kernel, from its resources and its stated launch bounds. */
#include "lib/cubin/kernel_occupancy.h"

#include "lib/base/abi.h"

static bool is_set(const int64_t dims[3])
{
    return dims[0] > 0;
}

/* The product of the dimensions; 0: not set, or more than `most`. */
static int64_t dims_product(const int64_t dims[3], int64_t most)
{
    int64_t all = 1;
    for (int i = 0; i < 3; i++)
        if (dims[i] < 1 || dims[i] > most || (all *= dims[i]) > most) return 0;
    return all;
}

int64_t cute_kernel_threads(const cute_kernel *k)
{
    return dims_product(is_set(k->reqntid) ? k->reqntid : is_set(k->block) ? k->block : k->maxntid, 1024);
}

static int64_t known_or_zero(int64_t value)
{
    return value < 0 ? 0 : value;
}

cute_status cute_occupancy_of_kernel(const cute_module *module, const cute_kernel *k,
                                     cute_occupancy_input *out, cute_diag *diag)
{
    if (k->resources.registers < 0)
        return cute_fail(diag, CUTE_INVALID, NULL,
                         "the register count of '%s' is unknown until its PTX is compiled", k->name);
    cute_occupancy_input in = {.size = sizeof in,
                               .arch = cute_module_arch(module),
                               .threads = cute_kernel_threads(k),
                               .registers = k->resources.registers,
                               .static_smem = known_or_zero(k->static_smem),
                               .dynamic_smem = known_or_zero(k->dynamic_smem),
                               .barriers = known_or_zero(k->resources.barriers),
                               .cluster = dims_product(k->cluster, 1024)};
    return cute_struct_write(out, &in, sizeof in, "cute_occupancy_input", diag);
}

bool cute_kernel_occupancy(const cute_module *module, const cute_kernel *k, cute_occupancy *out)
{
    cute_occupancy_input in = {.size = sizeof in};
    *out = (cute_occupancy){.size = sizeof *out};
    return cute_occupancy_of_kernel(module, k, &in, NULL) == CUTE_OK && in.threads &&
           cute_occupancy_compute(&in, out, NULL) == CUTE_OK;
}
