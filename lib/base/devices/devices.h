/* GPU models (devices.def): by name, or a default for an architecture. */
#ifndef CUTE_LIB_BASE_DEVICES_DEVICES_H
#define CUTE_LIB_BASE_DEVICES_DEVICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct cute_gpu {
    const char *name;
    int arch; /* compute capability: 90 */
    int64_t multiprocessors;
    double clock, tensor_clock; /* MHz */
    double dram;                /* GB/s */
    double l2_rate, l2;         /* bytes per clock; MiB */
    bool half;                  /* f32 accumulation halves the tensor core rate */
} cute_gpu;

/* NULL after the last. */
const cute_gpu *cute_gpu_at(size_t n);
/* The first row of a compute capability; NULL: none. */
const cute_gpu *cute_gpu_of_arch(int arch);
/* The row with the longest name contained in the driver's device name, as whole words, ignoring case. NULL:
 * none. */
const cute_gpu *cute_gpu_in_name(const char *name);
/* The first row whose name contains the word. NULL: none. */
const cute_gpu *cute_gpu_with_word(const char *word);

/* The default architecture: an H100. */
enum { CUTE_GPU_USUAL_ARCH = 90 };
static inline int64_t cute_gpu_multiprocessors(int arch)
{
    const cute_gpu *row = cute_gpu_of_arch(arch);
    return (row ? row : cute_gpu_of_arch(CUTE_GPU_USUAL_ARCH))->multiprocessors;
}

#endif
