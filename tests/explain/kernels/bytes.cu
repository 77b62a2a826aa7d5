/* One byte a thread. Cured: sixteen. */
#include "cuda.h"
typedef unsigned uint4 __attribute__((ext_vector_type(4)));
KERNEL(slow(const unsigned char *a, unsigned char *out, int n))
{
    int i = bid * ntid + tid;
    out[i] = a[i] ^ 85; // FIND vector-width
}
KERNEL(cured(const unsigned char *a, unsigned char *out, int n))
{
    int i = bid * ntid + tid;
    ((uint4 *)out)[i] = ((const uint4 *)a)[i] ^ 0x55555555u;
}
