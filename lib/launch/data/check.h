/* Compares buffers with the expected results in launch.json. */
#ifndef CUTE_LIB_LAUNCH_DATA_CHECK_H
#define CUTE_LIB_LAUNCH_DATA_CHECK_H

#include "lib/launch/config/config.h"
#include "lib/launch/formula/einsum.h"

typedef struct cute_check {
    const config_check *config;
    cute_formula *formula, *epilogue, *where, *uncertain;
    cute_einsum einsum;
    cute_tensor file; /* npy and raw */
    cute_buffer bytes;
} cute_check;

typedef struct cute_check_result {
    int64_t compared, bad;
    int64_t left_out; /* wrong elements, or bits, that `uncertain` excuses */
    int64_t first;    /* linear index of the first bad element; -1: none */
    double got, want;
    double max_abs, max_rel; /* over the elements where both are finite */
    int64_t max_ulp;
    int64_t max_abs_at, max_rel_at, max_ulp_at; /* linear; -1: none */
    int64_t got_nans, want_nans;
    bool empty; /* no compared element satisfies `where`, though the buffer has elements: the check fails */
} cute_check_result;

/* Compiles expressions, parses the einsum, reads the file: reports all errors that do not depend on the
 * launch. */
cute_status cute_check_prepare(const cute_config *config, const config_check *check, cute_check *out,
                               cute_diag *diag);
void cute_check_release(cute_check *check);
/* The number of elements, or of bits of an integer of `width` bits (0: an element), that `uncertain` leaves out of a wrong element; 0: it
 * remains wrong. */
int cute_check_left_out(int width, double uncertain, double got, double want);
/* Compares buffer->tensor.data. Mismatches are in *out; the status is CUTE_OK. */
cute_status cute_check_run(const cute_config *config, const cute_check *check, uint64_t seed,
                           cute_check_result *out, cute_diag *diag);

#endif
