/* Comparing a buffer with what launch.json expects of it. */
#ifndef CUTE_LIB_LAUNCH_DATA_CHECK_H
#define CUTE_LIB_LAUNCH_DATA_CHECK_H

#include "lib/launch/config/config.h"
#include "lib/launch/formula/einsum.h"

typedef struct cute_check {
    const config_check *config;
    cute_formula *formula, *epilogue, *where;
    cute_einsum einsum;
    cute_tensor file; /* of npy and raw */
    cute_buffer bytes;
} cute_check;

typedef struct cute_check_result {
    int64_t compared, bad;
    int64_t first; /* linear index of the first bad element; -1: none */
    double got, want;
    double max_abs, max_rel; /* over the elements where both are finite */
    int64_t max_ulp;
    int64_t max_abs_at, max_rel_at, max_ulp_at; /* linear; -1: none */
    int64_t got_nans, want_nans;
    bool
        empty; /* the buffer has elements, and `where` is true of none that was looked at: the check does not hold */
} cute_check_result;

/* Compiles expressions, parses the einsum, reads the file: everything that can be wrong before the launch. */
cute_status cute_check_prepare(const cute_config *config, const config_check *check, cute_check *out,
                               cute_diag *diag);
void cute_check_release(cute_check *check);
/* Compares buffer->tensor.data. CUTE_OK also when elements are bad: the result says so. */
cute_status cute_check_run(const cute_config *config, const cute_check *check, uint64_t seed,
                           cute_check_result *out, cute_diag *diag);

#endif
