/* NumPy's .npy files, versions 1 to 3, in either element order and byte order. bf16, e4m3 and e5m2 have no
 * descr: they are read from unsigned integers or void of their width ('<u2', '<V2', '|u1', '|V1', as
 * ml_dtypes writes them), and written as unsigned integers. */
#ifndef CUTE_LIB_LAUNCH_DATA_NPY_H
#define CUTE_LIB_LAUNCH_DATA_NPY_H

#include "lib/launch/data/tensor.h"

/* Reads `path` into *out with the file's shape and strides; data points into *bytes, which the caller
 * releases. Untyped elements are read as `wanted`; with `exact`, any other type is an error. */
cute_status cute_npy_read(const char *path, cute_dtype wanted, bool exact, cute_tensor *out,
                          cute_buffer *bytes, cute_diag *diag);
/* The same from memory. Bytes may be swapped in place. */
cute_status cute_npy_parse(const char *label, char *bytes, size_t length, cute_dtype wanted, bool exact,
                           cute_tensor *out, cute_diag *diag);
/* Writes the tensor's elements in row-major order. */
cute_status cute_npy_write(const char *path, const cute_tensor *tensor, const void *data, cute_diag *diag);
/* Appends the elements to *out in row-major order, without gaps. */
void cute_tensor_pack(const cute_tensor *tensor, const void *data, cute_buffer *out);

#endif
