/* A product of f16 matrices, an element a thread. Cured: mma.sync (the same product of 16x8x16 tiles). */
#include "cuda.h"
KERNEL(slow(const half *a, const half *b, float *c, int n))
{
    int x = bid % (n / 16) * 16 + (tid & 15), y = bid / (n / 16) * 16 + (tid >> 4);
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += (float)a[y * n + k] * (float)b[k * n + x]; // FIND no-tensor-cores
    c[y * n + x] = sum;
}
KERNEL(cured(const half *a, const half *b, float *c, int n))
{
    /* b is taken as its transpose is stored: the loads are pairs. */
    int lane = tid & 31, warp = (bid * ntid + tid) >> 5, cols = n / 8;
    int row = warp / cols * 16 + (lane >> 2), col = warp % cols * 8;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    const unsigned *at = (const unsigned *)(a + row * n + (lane & 3) * 2);
    const unsigned *bt = (const unsigned *)(b + (col + (lane >> 2)) * n + (lane & 3) * 2);
#pragma unroll 2
    for (int k = 0; k < n / 2; k += 8) {
        unsigned a0 = at[k], a1 = at[k + 4 * n], a2 = at[k + 4], a3 = at[k + 4 * n + 4], b0 = bt[k], b1 = bt[k + 4];
        asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
            : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
            : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
    }
    float *out = c + row * n + col + (lane & 3) * 2;
    out[0] = d0, out[1] = d1, out[8 * n] = d2, out[8 * n + 1] = d3;
}
