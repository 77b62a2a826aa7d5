/* Three coordinates of one index, behind a guard with a product of three sizes. Cured: a grid of three dimensions. */
#include "cuda.h"
KERNEL(slow(const float *a, float *out, int w, int h, int d))
{
    int i = bid * ntid + tid;
    if (i >= w * h * d) return;
    int x = i % w;
    int y = i / w % h; // FIND integer-division
    int z = i / (w * h);
    out[(z * h + (h - 1 - y)) * w + x] = a[i];
}
KERNEL(cured(const float *a, float *out, int w, int h, int d))
{
    int x = bid * ntid + tid;
    int y = __nvvm_read_ptx_sreg_ctaid_y(), z = __nvvm_read_ptx_sreg_ctaid_z();
    if (x >= w || y >= h || z >= d) return;
    out[(z * h + (h - 1 - y)) * w + x] = a[(z * h + y) * w + x];
}
