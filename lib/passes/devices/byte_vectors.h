/* Lowerings of cute-legalize-arith for vectors of bytes, which hold packed weights. */
#ifndef CUTE_LIB_PASSES_DEVICES_BYTE_VECTORS_H
#define CUTE_LIB_PASSES_DEVICES_BYTE_VECTORS_H

#include "lib/passes/devices/target.h"

/* arith.shrsi by a constant, and of an arith.shli by the same: a field of each byte, sign-extended. False: another type. */
bool cute_lower_byte_shift(MlirOperation op, const cute_device_work *w);
/* arith.sitofp and arith.uitofp to f16, and arith.sitofp of such a field of four bits to f16 and bf16, exact: the byte in the mantissa of 1024, less 1024 (cvt converts one value at a quarter of the
 * rate). False: another type. */
bool cute_lower_byte_conversion(MlirOperation op, const cute_device_work *w);

#endif
