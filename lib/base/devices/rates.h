/* Rates per clock of a multiprocessor of each architecture (rates.def). */
#ifndef CUTE_LIB_BASE_DEVICES_RATES_H
#define CUTE_LIB_BASE_DEVICES_RATES_H

/* 0: not published, or unsupported. f64 to b1: dense operations of tensor cores. */
typedef struct cute_rates {
    int arch; /* compute capability */
    double fp32, fp64, fp16, integer, special, memory, l1, f64, f16, f8, i8, i4, b1;
} cute_rates;

/* NULL: not published. */
const cute_rates *cute_rates_of(int arch);

#endif
