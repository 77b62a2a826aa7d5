/* NumPy's .npy files, versions 1 to 3, either order of elements and bytes. bf16, e4m3 and e5m2 have no descr
 * of their own: they are read from unsigned integers or void ('<u2', '<V2', '|u1', '|V1', as ml_dtypes writes
 * them) of their width, and written as unsigned integers. */
#ifndef CUTE_LIB_LAUNCH_DATA_NPY_H
#define CUTE_LIB_LAUNCH_DATA_NPY_H

#include "lib/launch/data/tensor.h"

/* Reads `path` into a tensor of its own: shape and strides are the file's, data points into *bytes, which the
 * caller releases. `wanted` is the type to read untyped elements as, and with `exact` any other type is
 * refused. */
cute_status cute_npy_read(const char *path, cute_dtype wanted, bool exact, cute_tensor *out,
                          cute_buffer *bytes, cute_diag *diag);
/* The same from memory; bytes may be swapped in place. */
cute_status cute_npy_parse(const char *label, char *bytes, size_t length, cute_dtype wanted, bool exact,
                           cute_tensor *out, cute_diag *diag);
/* Writes the tensor's elements in row-major order. */
cute_status cute_npy_write(const char *path, const cute_tensor *tensor, const void *data, cute_diag *diag);
/* The elements in row-major order without gaps; *out is appended to. */
void cute_tensor_pack(const cute_tensor *tensor, const void *data, cute_buffer *out);

#endif
