#!/usr/bin/env python3
"""The object of cute-link --emit-c in PyTorch: torch_operator.py FOLDER compiles k_torch.cpp there, and checks torch.ops.k.axpy on streams, in a CUDA graph and
under torch.compile, and k_axpy_dlpack on tensors of PyTorch and CuPy; then times a call beside torch.add. Exits 3 without a GPU or torch."""
import ctypes
import os
import sys
import time

try:
    import torch
except ImportError:
    sys.exit(3)
if not torch.cuda.is_available():
    sys.exit(3)
from torch.utils import cpp_extension

folder = os.path.abspath(sys.argv[1])
torch.cuda.init()
began = time.time()
cpp_extension.load("k", [f"{folder}/k_torch.cpp"], extra_ldflags=[f"{folder}/k.o"], extra_include_paths=[folder], with_cuda=True, is_python_module=False,
                   build_directory=folder)
print(f"k_torch.cpp compiled and loaded in {time.time() - began:.1f} s")


def fresh():
    return torch.arange(4096, device="cuda", dtype=torch.float32), torch.ones(4096, device="cuda")


def expect(y, x, a, name):
    if not torch.equal(y, torch.addcmul(torch.ones_like(x), x, torch.full_like(x, a))):
        sys.exit(f"{name}: wrong results")
    print(f"{name}: results are right")


x, y = fresh()
torch.ops.k.axpy(x, y, 0.5)
expect(y, x, 0.5, "the operator on the current stream")
x, y = fresh()
side = torch.cuda.Stream()
side.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(side):
    torch.ops.k.axpy(x, y, 0.5)
side.synchronize()
expect(y, x, 0.5, "on a side stream")
x, y = fresh()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    torch.ops.k.axpy(x, y, 0.25)
graph.replay()
graph.replay()
expect(y, x, 0.5, "in a graph, replayed twice")
try:
    torch.ops.k.axpy(x[::2], y[:2048], 0.5)
    sys.exit("a stride of 2 was not refused")
except RuntimeError as error:
    print(f"a stride of 2: {str(error).splitlines()[0]}")

x, y = fresh()
library = ctypes.CDLL([os.path.join(folder, f) for f in os.listdir(folder) if f.startswith("k") and f.endswith(".so")][0])
pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
library.k_axpy_dlpack.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_float, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p]


def dlpack(a, b, factor):
    capsules = [t.__dlpack__() for t in (a, b)]
    return library.k_axpy_dlpack(*(pointer(c, b"dltensor") for c in capsules), factor, None, 0, None)


if dlpack(x, y, 0.5):
    sys.exit("k_axpy_dlpack failed")
torch.cuda.synchronize()
expect(y, x, 0.5, "DLPack tensors of PyTorch")
try:
    import cupy
    x, y = cupy.arange(4096, dtype=cupy.float32), cupy.ones(4096, dtype=cupy.float32)
    if dlpack(x, y, 0.5) or not bool((y == 1 + 0.5 * x).all()):
        sys.exit("DLPack tensors of CuPy: wrong")
    print("DLPack tensors of CuPy: results are right")
except ImportError:
    print("no CuPy here")

x, y = fresh()
for name, call in (("torch.ops.k.axpy", lambda: torch.ops.k.axpy(x, y, 0.5)), ("torch.add with alpha", lambda: torch.add(y, x, alpha=0.5, out=y))):
    best = 1e9
    for _ in range(50):
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(200):
            call()
        best = min(best, (time.perf_counter() - start) / 200 * 1e6)
    print(f"{name}: {best:.2f} us a call")
