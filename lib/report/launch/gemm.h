/* The report of a launched matrix multiplication. */
#ifndef CUTE_LIB_REPORT_LAUNCH_GEMM_H
#define CUTE_LIB_REPORT_LAUNCH_GEMM_H

#include "cute/gemm.h"
#include "cute/launch.h"

/* The choice of a configuration, and cute_launch_report; allocated with malloc. */
char *cute_gemm_report(const cute_gemm *gemm, const cute_launch *launch, bool json, bool timing);

#endif
