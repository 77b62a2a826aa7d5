/* One field of structures of 32 bytes. Cured: an array of that field. */
#include "cuda.h"
struct point { float x, y, z, w, a, b, c, d; };
KERNEL(slow(const float *in, float *out, int n))
{
    const point *p = (const point *)in;
    int i = bid * ntid + tid;
    out[i] = p[i].x * 2.0f; // FIND uncoalesced
}
KERNEL(cured(const float *in, float *out, int n))
{
    int i = bid * ntid + tid;
    out[i] = in[i] * 2.0f;
}
