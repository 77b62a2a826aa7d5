/* Devices that are made, a row each (devices.def): by name, or one for an architecture where none is at hand. */
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
    double l2_rate, l2;         /* bytes a clock; MiB */
    bool half;                  /* tensor cores that add in f32 have half the rate */
} cute_gpu;

/* NULL behind the last. */
const cute_gpu *cute_gpu_at(size_t n);
/* The first row of a compute capability; NULL: none. */
const cute_gpu *cute_gpu_of_arch(int arch);
/* The row whose name, the longest, stands in a driver's name of a device, whatever its case; whole words only. NULL: none. */
const cute_gpu *cute_gpu_in_name(const char *name);
/* The first row whose name has the word. NULL: none. */
const cute_gpu *cute_gpu_with_word(const char *word);

/* What is assumed where nothing is known: an H100. */
enum { CUTE_GPU_USUAL_ARCH = 90 };
static inline int64_t cute_gpu_multiprocessors(int arch)
{
    const cute_gpu *row = cute_gpu_of_arch(arch);
    return (row ? row : cute_gpu_of_arch(CUTE_GPU_USUAL_ARCH))->multiprocessors;
}

#endif
