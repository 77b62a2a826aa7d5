/* Inside of lib/report: what its views share. */
#ifndef CUTE_LIB_REPORT_REPORT_H
#define CUTE_LIB_REPORT_REPORT_H

#include "cute/occupancy.h"
#include "lib/base/arch.h"

/* The threads of a block as required, launched or at most; 0: not known. resources/kernel.c */
int64_t cute_kernel_threads(const cute_kernel *kernel);
/* false: not known. */
bool cute_kernel_occupancy(const cute_module *module, const cute_kernel *kernel, cute_occupancy *out);
/* "cubin", "ptx", "fatbin" */
const char *cute_module_format_name(cute_module_format format);
/* "PROGBITS", "CUDA_INFO", ...; "" for a type that is not known */
const char *cute_section_kind(uint32_t type);

#endif
