/* The report of a product that was launched. */
#ifndef CUTE_LIB_REPORT_LAUNCH_GEMM_H
#define CUTE_LIB_REPORT_LAUNCH_GEMM_H

#include "cute/gemm.h"
#include "cute/launch.h"

/* What was chosen, and what cute_launch_report says; malloc'ed. */
char *cute_gemm_report(const cute_gemm *gemm, const cute_launch *launch, bool json, bool timing);

#endif
