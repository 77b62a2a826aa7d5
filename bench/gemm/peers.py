#!/usr/bin/env python3
"""Rates of the peers of the sm_80 kernels, by torch on a GPU: medians of events, L2 as a loop leaves it.

    peers.py gemm M N K        cuBLAS: f32 without tensor cores, f16, bf16, int8 where torch has it
    peers.py attention B S H D [causal]   torch's FlashAttention-2
"""
import statistics
import sys

import torch


def median_ms(call, count=30):
    for _ in range(5):
        call()
    times = []
    for _ in range(count):
        start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        call()
        stop.record()
        stop.synchronize()
        times.append(start.elapsed_time(stop))
    return statistics.median(times)


def report(name, flops, ms):
    print(f"{name:34} {ms:9.4f} ms {flops / ms * 1e-9:8.1f} TFLOP/s")


def gemm(m, n, k):
    torch.backends.cuda.matmul.allow_tf32 = False
    for dtype in (torch.float32, torch.float16, torch.bfloat16):
        a = torch.rand(m, k, device="cuda", dtype=dtype) - 0.5
        b = torch.rand(n, k, device="cuda", dtype=dtype) - 0.5
        report(f"cublas {dtype}", 2 * m * n * k, median_ms(lambda: a @ b.T))


def attention(b, s, h, d, causal):
    from torch.nn.attention import SDPBackend, sdpa_kernel

    for dtype in (torch.float16, torch.bfloat16):
        q, k, v = (torch.randn(b, s, h, d, device="cuda", dtype=dtype).transpose(1, 2) for _ in range(3))
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
            ms = median_ms(lambda: torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal))
        flops = 4 * b * h * s * s * d // (2 if causal else 1)
        report(f"flash attention 2 {dtype}{' causal' if causal else ''}", flops, ms)


if __name__ == "__main__":
    what, numbers = sys.argv[1], [int(x) for x in sys.argv[2:] if x.isdigit()]
    gemm(*numbers) if what == "gemm" else attention(*numbers, causal="causal" in sys.argv)
