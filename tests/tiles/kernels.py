"""Tile programs of kernels that models are made of, and what they compute, by NumPy: as in programs.py."""
import os
import re

import numpy as np

from programs import ANY, matrix, softmax, vector


def cube(t, div=1):
    return (f'!cute.memref<{t}, gmem, align<16>, "(?,?,?{{div={div}}}):(?{{i64 div={div}}},?{{i64 div={div}}},1)">' if div > 1 else
            f'!cute.memref<{t}, gmem, "(?,?,?):(?{{i64}},?{{i64}},1)">')


LOOP = """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32"""


def product(t, sum_type, m, n, k, out=None):
    """A product of tiles of m x n x k, stored as `out`."""
    cast = f"\n  %o = cute.tile.cast<{out}> %s" if out else ""
    zero = "0" if sum_type == "i32" else "0.0"
    return f"""
  %i, %j = cute.tile.program<[{m}, {n}]> %c
  %n = cute.tile.count<1, {k}> %a{LOOP}
  %zero = arith.constant dense<{zero}> : tensor<{m}x{n}x{sum_type}>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<{m}x{n}x{sum_type}>) : i32 {{
    %x = cute.tile.load<[{m}, {k}]> %a[%i, %k]
    %y = cute.tile.load<[{n}, {k}]> %b[%j, %k]
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<{m}x{n}x{sum_type}>
  }}{cast}
  cute.tile.store %{"o" if out else "s"}, %c[%i, %j]
"""


# Weights with a scale for each row and 64 columns.
DEQUANTISED = f"""
  %i, %j = cute.tile.program<[32, 32]> %c
  %n = cute.tile.count<1, 64> %a{LOOP}
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {{
    %x = cute.tile.load<[32, 64]> %a[%i, %k]
    %q = cute.tile.load<[32, 64]> %w[%j, %k]
    %f = cute.tile.cast<f32> %q
    %u = cute.tile.load<[32, 1]> %scale[%j, %k]
    %m = cute.tile.mul %f, %u
    %y = cute.tile.cast<f16> %m
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<32x32xf32>
  }}
  %o = cute.tile.cast<f16> %s
  cute.tile.store %o, %c[%i, %j]
"""

# Weights that are fetched ahead and converted in the registers of the product, with K in another order than in memory.
AHEAD = f"""
  %i, %j = cute.tile.program<[16, 64]> %c
  %n = cute.tile.count<1, 128> %a{LOOP}
  %zero = arith.constant dense<0.0> : tensor<16x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<16x64xf32>) : i32 {{
    %x = cute.tile.load<[16, 128]> %a[%i, %k]
    %q = cute.tile.load<[64, 128]> %w[%j, %k]
    %u = cute.tile.load<[1, 64]> %scale[%k, %j]
    %f = cute.tile.cast<f16> %q
    %x1 = cute.tile.reshape<[16, 4, 8, 2, 2]> %x
    %x2 = cute.tile.permute<[0, 2, 4, 1, 3]> %x1
    %x3 = cute.tile.reshape<[16, 128]> %x2
    %f1 = cute.tile.reshape<[64, 4, 8, 2, 2]> %f
    %f2 = cute.tile.permute<[0, 2, 4, 1, 3]> %f1
    %f3 = cute.tile.reshape<[64, 128]> %f2
    %p = cute.tile.gemm %x3, %f3, %zero
    %d = cute.tile.fma %p, %u, %acc
    scf.yield %d : tensor<16x64xf32>
  }}
  %o = cute.tile.cast<f16> %s
  cute.tile.store %o, %c[%i, %j]
"""


def column_major(t, div=1):
    return f'!cute.memref<{t}, gmem, align<16>, "(?{{div={div}}},?):(1,?{{i64 div={div}}})">'


def silu(x):
    return x / (1 + np.exp(-x))


def conv(x, w):
    n, h, wd, c = x.shape
    k, r, s, _ = w.shape
    out = np.zeros((n, h - r + 1, wd - s + 1, k))
    for i in range(r):
        for j in range(s):
            out += np.einsum("nhwc,kc->nhwk", x[:, i:i + h - r + 1, j:j + wd - s + 1], w[:, i, j])
    return out


def attention_backward(q, k, v, do):
    p = softmax(q @ k.T * 0.125)
    dv = p.T @ do
    dp = do @ v.T
    ds = p * (dp - (p * dp).sum(1, keepdims=True)) * 0.125
    return ds @ k, ds.T @ q, dv


def shipped(path, **values):
    """The body of the kernel in a file of kernels/, with its types and sizes."""
    with open(f"{os.path.dirname(os.path.abspath(__file__))}/../../kernels/{path}") as f:
        text = f.read()
    for name, value in re.findall(r"^(!\w+) = (.*)$", text, re.M):
        text = re.sub(f"{name}\\b", lambda _: value, text)
    for name, value in values.items():
        text = text.replace(f"${{{name}}}", str(value))
    return re.search(r"kernel \{\n(.*?)    gpu.return", text, re.S)[1]


def layernorm_backward(x, dy, w):
    m, v = x.mean(1, keepdims=True), x.var(1, keepdims=True)
    r = 1 / np.sqrt(v + 1e-5)
    h = (x - m) * r
    g = dy * w
    return r * (g - g.mean(1, keepdims=True) - h * (g * h).mean(1, keepdims=True)), (dy * h).sum(0), dy.sum(0)


def layernorm_grad(t, columns, rows, n):
    """kernels/layernorm/layernorm_backward.mlir, 2 blocks that take several tiles of 9 rows each."""
    v = 4 if t == "f32" else 8
    body = shipped("layernorm/layernorm_backward.mlir", T=t, V=v, COLS=columns, ROWS=rows, BLOCKS=2)
    x, w, s = (matrix(t, v), t, (9, n)), (vector("f32", 4), "f32", (n,)), (vector("f32"), "f32", (n,))
    return ({"x": x, "dy": x, "w": w, "dx": x, "dw": s, "db": s}, "\n%eps = arith.constant 1.0e-5 : f32\n" + body,
            lambda x, dy, w: dict(zip(("dx", "dw", "db"), layernorm_backward(x, dy, w))), {"f32": 1e-4, "f16": 2e-3, "bf16": 1.6e-2}[t])


def rotary(x, c, s):
    a, b = x[:, ::2], x[:, 1::2]
    out = np.empty_like(x)
    out[:, ::2], out[:, 1::2] = a * c - b * s, a * s + b * c
    return out


def paged(q, k, v, pages, length):
    n = int(length[0])
    rows = np.concatenate([np.arange(int(p) * 16, int(p) * 16 + 16) for p in pages])[:n]
    return softmax(q @ k[rows].T * 0.125) @ v[rows]


def topk(x, n):
    order = np.argsort(-x, axis=1, kind="stable")[:, :n]
    return np.take_along_axis(x, order, 1), order


def grouped(a, b, starts):
    out = np.zeros((a.shape[0], b.shape[1]))
    for g in range(len(starts) - 1):
        rows = slice(int(starts[g]), int(starts[g + 1]))
        out[rows] = a[rows] @ b[g].T
    return out


# name: (arguments {name: (type, dtype, shape)}, body, reference(inputs) -> outputs, tolerance)
ORDERS = (("lt", "%i", "%l", np.less), ("le", "%i", "%l", np.less_equal), ("gt", "%i", "%l", np.greater), ("ge", "%i", "%l", np.greater_equal),
          ("lt", "%l", "%i", np.greater), ("ge", "%l", "%i", np.less_equal))
INDEX_ORDER = f"""{LOOP}
  %z = cute.tile.program<[1]> %start
  %first1 = cute.tile.load<[1]> %start[%z]
  %first = cute.tile.scalar %first1
  %i = cute.tile.iota<[64, 1], 0> %first
  %l = cute.tile.load<[1, 32]> %limit[%z, 0]
  %none = arith.constant dense<0> : tensor<64x32xi32>
""" + "".join(f"""  %v{n} = arith.constant dense<{1 << n}> : tensor<64x32xi32>
  %is{n} = cute.tile.{name} {a}, {b}
  %bit{n} = cute.tile.where %is{n}, %v{n}, %none
  %sum{n} = cute.tile.add {f"%sum{n - 1}" if n else "%none"}, %bit{n}
""" for n, (name, a, b, _) in enumerate(ORDERS)) + f"""  %y1 = cute.tile.reshape<[1, 64, 32]> %sum{len(ORDERS) - 1}
  cute.tile.store %y1, %y[%z, 0, 0]
"""


def index_order(start, limit):
    i, l = start.astype(np.int64)[:, None, None] + np.arange(64)[None, :, None], limit.astype(np.int64)[:, None, :]
    return {"y": sum(compare(i, l).astype(np.int32) << n for n, (_, _, _, compare) in enumerate(ORDERS))}


def index_limits(rng):
    """Starts at both ends of i32 too."""
    least, most = -2 ** 31, 2 ** 31 - 1
    start = np.array([least, -70, -1, 0, 5, most - 63])
    near = start[:, None] + np.array([-2 ** 40, -1, 0, 1, 2, 62, 63, 64, 65, 2 ** 40])[None]
    limit = np.concatenate([near, rng.integers(-100, 100, (6, 21)), np.zeros((6, 1))], axis=1)
    return {"start": start, "limit": np.clip(limit, least, most)}


KERNELS = {
    "gemm_bf16": (
        {"a": (matrix("bf16", 8), "bf16", (70, 72)), "b": (matrix("bf16", 8), "bf16", (50, 72)), "c": (matrix("bf16"), "bf16", (70, 50))},
        product("bf16", "f32", 64, 64, 32, "bf16"), lambda a, b: {"c": a @ b.T}, 2e-2),
    "gemm_e4m3": (
        {"a": (matrix("f8E4M3FN", 16), "e4m3", (70, 96)), "b": (matrix("f8E4M3FN", 16), "e4m3", (50, 96)), "c": (matrix("f32"), "f32", (70, 50))},
        product("f8E4M3FN", "f32", 64, 32, 64), lambda a, b: {"c": a @ b.T}, 2e-2),
    "gemm_e5m2": (
        {"a": (matrix("f8E5M2", 16), "e5m2", (70, 96)), "b": (matrix("f8E5M2", 16), "e5m2", (50, 96)), "c": (matrix("f16"), "f16", (70, 50))},
        product("f8E5M2", "f32", 32, 32, 32, "f16"), lambda a, b: {"c": a @ b.T}, 2e-2),
    "gemm_i8": (
        {"a": (matrix("i8", 16), "i8", (70, 96)), "b": (matrix("i8", 16), "i8", (50, 96)), "c": (matrix("i32"), "i32", (70, 50))},
        product("i8", "i32", 64, 32, 64), lambda a, b: {"c": a @ b.T}, 0),
    "gemm_f64": (
        {"a": (matrix("f64", 2), "f64", (70, 36)), "b": (matrix("f64", 2), "f64", (50, 36)), "c": (matrix("f64"), "f64", (70, 50))},
        product("f64", "f64", 32, 32, 16), lambda a, b: {"c": a @ b.T}, 1e-12),
    "gemm_tf32": (
        {"a": (matrix("f32", 4), "f32", (70, 72)), "b": (matrix("f32", 4), "f32", (50, 72)), "c": (matrix("f32"), "f32", (70, 50))},
        product("f32", "f32", 64, 64, 32).replace("%x, %y, %acc", "%x, %y, %acc {tf32}"), lambda a, b: {"c": a @ b.T}, 1e-2),
    "gemm_nt": (
        {"a": (column_major("f16", 8), "f16", (72, 56)), "b": (column_major("f16", 8), "f16", (48, 56)), "c": (column_major("f16", 8), "f16", (72, 48))},
        product("f16", "f32", 64, 32, 32, "f16"), lambda a, b: {"c": a @ b.T}, 2e-3),
    "gemm_any": (
        {"a": (ANY.format(t="f16"), "f16", (37, 29)), "b": (ANY.format(t="f16"), "f16", (41, 29)), "c": (ANY.format(t="f32"), "f32", (37, 41))},
        product("f16", "f32", 32, 32, 16), lambda a, b: {"c": a @ b.T}, 2e-3),
    "gemm_batched": (
        {"a": (cube("f16", 8), "f16", (3, 40, 72)), "b": (cube("f16", 8), "f16", (3, 50, 72)), "c": (cube("f32"), "f32", (3, 40, 50))},
        f"""
  %l, %i, %j = cute.tile.program<[1, 32, 32]> %c
  %n = cute.tile.count<2, 32> %a{LOOP}
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {{
    %x3 = cute.tile.load<[1, 32, 32]> %a[%l, %i, %k]
    %y3 = cute.tile.load<[1, 32, 32]> %b[%l, %j, %k]
    %x = cute.tile.reshape<[32, 32]> %x3
    %y = cute.tile.reshape<[32, 32]> %y3
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<32x32xf32>
  }}
  %o = cute.tile.reshape<[1, 32, 32]> %s
  cute.tile.store %o, %c[%l, %i, %j]
""", lambda a, b: {"c": np.einsum("lmk,lnk->lmn", a, b)}, 2e-3),
    "gemm_gated": (
        {"a": (matrix("f16", 8), "f16", (40, 72)), "g": (matrix("f16", 8), "f16", (56, 72)), "u": (matrix("f16", 8), "f16", (56, 72)),
         "c": (matrix("f16", 8), "f16", (40, 56))},
        f"""
  %i, %j = cute.tile.program<[32, 32]> %c
  %n = cute.tile.count<1, 32> %a{LOOP}
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s, %t = scf.for %k = %c0 to %n step %c1 iter_args(%p = %zero, %q = %zero) -> (tensor<32x32xf32>, tensor<32x32xf32>) : i32 {{
    %x = cute.tile.load<[32, 32]> %a[%i, %k]
    %y = cute.tile.load<[32, 32]> %g[%j, %k]
    %z = cute.tile.load<[32, 32]> %u[%j, %k]
    %d = cute.tile.gemm %x, %y, %p
    %e = cute.tile.gemm %x, %z, %q
    scf.yield %d, %e : tensor<32x32xf32>, tensor<32x32xf32>
  }}
  %h = cute.tile.silu %s
  %m = cute.tile.mul %h, %t
  %o = cute.tile.cast<f16> %m
  cute.tile.store %o, %c[%i, %j]
""", lambda a, g, u: {"c": silu(a @ g.T) * (a @ u.T)}, 1e-2),
    "gemm_blockscaled": (
        {"a": (matrix("f8E4M3FN", 16), "e4m3", (40, 256)), "b": (matrix("f8E4M3FN", 16), "e4m3", (136, 256)), "sa": (matrix("f32"), "f32", (40, 2)),
         "sb": (matrix("f32"), "f32", (2, 2)), "c": (matrix("f16", 8), "f16", (40, 136))},
        f"""
  %i, %j = cute.tile.program<[32, 64]> %c
  %n = cute.tile.count<1, 128> %a{LOOP}
  %c2 = arith.constant 2 : i32
  %block = arith.divui %j, %c2 : i32
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x64xf32>) : i32 {{
    %x = cute.tile.load<[32, 128]> %a[%i, %k]
    %y = cute.tile.load<[64, 128]> %b[%j, %k]
    %d = cute.tile.gemm %x, %y, %zero
    %u = cute.tile.load<[32, 1]> %sa[%i, %k]
    %v = cute.tile.load<[1, 1]> %sb[%block, %k]
    %w = cute.tile.mul %u, %v
    %e = cute.tile.mul %d, %w
    %f = cute.tile.add %e, %acc
    scf.yield %f : tensor<32x64xf32>
  }}
  %o = cute.tile.cast<f16> %s
  cute.tile.store %o, %c[%i, %j]
""", lambda a, b, sa, sb: {"c": (a * np.repeat(sa, 128, 1)) @ (b * np.repeat(np.repeat(sb, 128, 0), 128, 1)[:len(b)]).T}, 2e-2),
    "gemm_grouped": (
        {"a": (matrix("f16", 8), "f16", (61, 40)), "b": (cube("f16", 8), "f16", (3, 24, 40)), "starts": (vector("i32"), "i32", (4,)),
         "c": (matrix("f32"), "f32", (61, 24))},
        f"""{LOOP}
  %c32 = arith.constant 32 : i32
  %groups = cute.tile.count<0, 1> %b
  %most = cute.tile.count<0, 32> %a
  %columns = cute.tile.count<1, 32> %c
  %g, %i, %j = cute.tile.program %groups, %most, %columns
  %next = arith.addi %g, %c1 : i32
  %first1 = cute.tile.load<[1]> %starts[%g]
  %end1 = cute.tile.load<[1]> %starts[%next]
  %first = cute.tile.scalar %first1
  %end = cute.tile.scalar %end1
  %in = arith.muli %i, %c32 : i32
  %from = arith.addi %first, %in : i32
  %any = arith.cmpi ult, %from, %end : i32
  scf.if %any {{
    %r = cute.tile.iota<[32, 1], 0> %from
    %ok = cute.tile.lt %r, %end
    %n = cute.tile.count<1, 32> %a
    %zero = arith.constant dense<0.0> : tensor<32x32xf32>
    %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {{
      %kk = arith.muli %k, %c32 : i32
      %col = cute.tile.iota<[1, 32], 1> %kk
      %x = cute.tile.gather %a, %r, %col, %ok
      %y3 = cute.tile.load<[1, 32, 32]> %b[%g, %j, %k]
      %y = cute.tile.reshape<[32, 32]> %y3
      %d = cute.tile.gemm %x, %y, %acc
      scf.yield %d : tensor<32x32xf32>
    }}
    %jj = arith.muli %j, %c32 : i32
    %to = cute.tile.iota<[1, 32], 1> %jj
    cute.tile.scatter %s, %c, %r, %to, %ok
  }}
""", lambda a, b, starts: {"c": grouped(a, b, starts)}, 2e-3),
    "conv": (
        {"x": ('!cute.memref<f16, gmem, "(?,?,?,?):(?{i64},?{i64},?{i64},1)">', "f16", (2, 9, 7, 24)),
         "w": ('!cute.memref<f16, gmem, "(?,?,?,?):(?{i64},?{i64},?{i64},1)">', "f16", (40, 3, 3, 24)),
         "y": ('!cute.memref<f32, gmem, "(?,?,?,?):(?{i64},?{i64},?{i64},1)">', "f32", (2, 7, 5, 40))},
        f"""{LOOP}
  %c32 = arith.constant 32 : i32
  %N = cute.tile.count<0, 1> %y
  %P = cute.tile.count<1, 1> %y
  %Q = cute.tile.count<2, 1> %y
  %R = cute.tile.count<1, 1> %w
  %S = cute.tile.count<2, 1> %w
  %C = cute.tile.count<3, 32> %x
  %NP = arith.muli %N, %P : i32
  %pixels = arith.muli %NP, %Q : i32
  %c31 = arith.constant 31 : i32
  %up = arith.addi %pixels, %c31 : i32
  %rows = arith.divui %up, %c32 : i32
  %columns = cute.tile.count<3, 32> %y
  %i, %j = cute.tile.program %rows, %columns
  %ii = arith.muli %i, %c32 : i32
  %jj = arith.muli %j, %c32 : i32
  %pixel = cute.tile.iota<[32, 1], 0> %ii
  %there = cute.tile.lt %pixel, %pixels
  %line = cute.tile.div %pixel, %Q
  %q = cute.tile.rem %pixel, %Q
  %n = cute.tile.div %line, %P
  %p = cute.tile.rem %line, %P
  %filter = cute.tile.iota<[32, 1], 0> %jj
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s0 = scf.for %r = %c0 to %R step %c1 iter_args(%a0 = %zero) -> (tensor<32x32xf32>) : i32 {{
    %h = cute.tile.add %p, %r
    %s1 = scf.for %s = %c0 to %S step %c1 iter_args(%a1 = %a0) -> (tensor<32x32xf32>) : i32 {{
      %v = cute.tile.add %q, %s
      %s2 = scf.for %c = %c0 to %C step %c1 iter_args(%a2 = %a1) -> (tensor<32x32xf32>) : i32 {{
        %cc = arith.muli %c, %c32 : i32
        %channel = cute.tile.iota<[1, 32], 1> %cc
        %a = cute.tile.gather %x, %n, %h, %v, %channel, %there
        %b = cute.tile.gather %w, %filter, %r, %s, %channel
        %d = cute.tile.gemm %a, %b, %a2
        scf.yield %d : tensor<32x32xf32>
      }}
      scf.yield %s2 : tensor<32x32xf32>
    }}
    scf.yield %s1 : tensor<32x32xf32>
  }}
  %to = cute.tile.iota<[1, 32], 1> %jj
  cute.tile.scatter %s0, %y, %n, %p, %q, %to, %there
""", lambda x, w: {"y": conv(x, w)}, 5e-3),
    "attention_backward": (
        {"q": (matrix("f16", 8), "f16", (50, 64)), "k": (matrix("f16", 8), "f16", (70, 64)), "v": (matrix("f16", 8), "f16", (70, 64)),
         "g": (matrix("f16", 8), "f16", (50, 64)), "lse": (vector("f32"), "f32", (50,)), "delta": (vector("f32"), "f32", (50,)),
         "dkey": (matrix("f32"), "f32", (70, 64)), "dvalue": (matrix("f32"), "f32", (70, 64)), "dq": (matrix("f32"), "f32", (50, 64))},
        f"""{LOOP}
  %rows = arith.constant 32 : i32
  %j, %z = cute.tile.program<[32, 64]> %k
  %n = cute.tile.count<0, 32> %q
  %keys = cute.tile.count<0, 1> %k
  %kt = cute.tile.load<[32, 64]> %k[%j, 0]
  %vt = cute.tile.load<[32, 64]> %v[%j, 0]
  %jj = arith.muli %j, %rows : i32
  %key = cute.tile.iota<[32, 1], 0> %jj
  %here = cute.tile.lt %key, %keys
  %s0 = arith.constant dense<0.0> : tensor<32x32xf32>
  %d0 = arith.constant dense<0.0> : tensor<32x64xf32>
  %dk, %dv = scf.for %i = %c0 to %n step %c1 iter_args(%dki = %d0, %dvi = %d0) -> (tensor<32x64xf32>, tensor<32x64xf32>) : i32 {{
    %qt = cute.tile.load<[32, 64]> %q[%i, 0]
    %gt = cute.tile.load<[32, 64]> %g[%i, 0]
    %lt = cute.tile.load<[32], inf> %lse[%i]
    %dt = cute.tile.load<[32]> %delta[%i]
    %s = cute.tile.gemm %kt, %qt, %s0
    %sc = cute.tile.mul %s, 0.125
    %sl = cute.tile.sub %sc, %lt
    %p0 = cute.tile.exp %sl
    %p = cute.tile.where %here, %p0, 0.0
    %ph = cute.tile.cast<f16> %p
    %gtt = cute.tile.permute<[1, 0]> %gt
    %dvn = cute.tile.gemm %ph, %gtt, %dvi
    %dp = cute.tile.gemm %vt, %gt, %s0
    %dd = cute.tile.sub %dp, %dt
    %ds0 = cute.tile.mul %p, %dd
    %ds = cute.tile.mul %ds0, 0.125
    %dsh = cute.tile.cast<f16> %ds
    %qtt = cute.tile.permute<[1, 0]> %qt
    %dkn = cute.tile.gemm %dsh, %qtt, %dki
    %dst = cute.tile.permute<[1, 0]> %dsh
    %ktt = cute.tile.permute<[1, 0]> %kt
    %dqt = cute.tile.gemm %dst, %ktt, %d0
    %ii = arith.muli %i, %rows : i32
    %row = cute.tile.iota<[32, 1], 0> %ii
    %column = cute.tile.iota<[1, 64], 1>
    cute.tile.atomic %dqt, %dq, %row, %column {{kind = "add"}}
    scf.yield %dkn, %dvn : tensor<32x64xf32>, tensor<32x64xf32>
  }}
  cute.tile.store %dk, %dkey[%j, 0]
  cute.tile.store %dv, %dvalue[%j, 0]
""", lambda q, k, v, g: dict(zip(("dq", "dkey", "dvalue"), attention_backward(q, k, v, g))), 1e-2),
    "paged_decode": (
        {"q": (matrix("f16", 8), "f16", (16, 64)), "k": (matrix("f16", 8), "f16", (112, 64)), "v": (matrix("f16", 8), "f16", (112, 64)),
         "pages": (vector("i32"), "i32", (5,)), "length": (vector("i32"), "i32", (1,)), "o": (matrix("f32"), "f32", (16, 64))},
        f"""{LOOP}
  %c16 = arith.constant 16 : i32
  %i = cute.tile.program %c1
  %l1 = cute.tile.load<[1]> %length[0]
  %len = cute.tile.scalar %l1
  %c15 = arith.constant 15 : i32
  %lu = arith.addi %len, %c15 : i32
  %n = arith.divui %lu, %c16 : i32
  %a = cute.tile.load<[16, 64]> %q[0, 0]
  %o0 = arith.constant dense<0.0> : tensor<16x64xf32>
  %s0 = arith.constant dense<0.0> : tensor<16x16xf32>
  %m0 = arith.constant dense<-1.0e30> : tensor<16x1xf32>
  %l0 = arith.constant dense<0.0> : tensor<16x1xf32>
  %o1, %m1, %ls = scf.for %j = %c0 to %n step %c1 iter_args(%oi = %o0, %mi = %m0, %li = %l0)
      -> (tensor<16x64xf32>, tensor<16x1xf32>, tensor<16x1xf32>) : i32 {{
    %p1 = cute.tile.load<[1]> %pages[%j]
    %page = cute.tile.scalar %p1
    %b = cute.tile.load<[16, 64]> %k[%page, 0]
    %s = cute.tile.gemm %a, %b, %s0
    %sc = cute.tile.mul %s, 0.125
    %first = arith.muli %j, %c16 : i32
    %col = cute.tile.iota<[1, 16], 1> %first
    %ok = cute.tile.lt %col, %len
    %sm = cute.tile.where %ok, %sc, -1.0e30
    %mx = cute.tile.reduce<max, 1> %sm
    %mn = cute.tile.max %mi, %mx
    %d = cute.tile.sub %sm, %mn
    %p = cute.tile.exp %d
    %dm = cute.tile.sub %mi, %mn
    %al = cute.tile.exp %dm
    %ps = cute.tile.reduce<add, 1> %p
    %la = cute.tile.mul %li, %al
    %ln = cute.tile.add %la, %ps
    %ph = cute.tile.cast<f16> %p
    %vv = cute.tile.load<[16, 64]> %v[%page, 0]
    %vt = cute.tile.permute<[1, 0]> %vv
    %oa = cute.tile.mul %oi, %al
    %on = cute.tile.gemm %ph, %vt, %oa
    scf.yield %on, %mn, %ln : tensor<16x64xf32>, tensor<16x1xf32>, tensor<16x1xf32>
  }}
  %of = cute.tile.div %o1, %ls
  cute.tile.store %of, %o[0, 0]
""", lambda q, k, v, pages, length: {"o": paged(q, k, v, pages, length)}, 3e-3),
    **{name: layernorm_grad(*rest) for name, *rest in (
        ("layernorm_backward", "f32", 512, 4, 500), ("layernorm_backward_f16", "f16", 512, 2, 504),
        ("layernorm_backward_bf16", "bf16", 1024, 1, 1000))},
    "cross_entropy": (
        {"x": (matrix("f16", 8), "f16", (5, 3000)), "target": (vector("i32"), "i32", (5,)), "loss": (vector("f32"), "f32", (5,))},
        f"""{LOOP}
  %c1024 = arith.constant 1024 : i32
  %r = cute.tile.program<[1]> %loss
  %n = cute.tile.count<1, 1024> %x
  %m0 = arith.constant dense<-1.0e30> : tensor<1x1xf32>
  %l0 = arith.constant dense<0.0> : tensor<1x1xf32>
  %m, %l = scf.for %j = %c0 to %n step %c1 iter_args(%mi = %m0, %li = %l0) -> (tensor<1x1xf32>, tensor<1x1xf32>) : i32 {{
    %h = cute.tile.load<[1, 1024], neg_inf> %x[%r, %j]
    %a = cute.tile.cast<f32> %h
    %t = cute.tile.reduce<max, 1> %a
    %mn = cute.tile.max %mi, %t
    %d = cute.tile.sub %a, %mn
    %e = cute.tile.exp %d
    %s = cute.tile.reduce<add, 1> %e
    %dm = cute.tile.sub %mi, %mn
    %al = cute.tile.exp %dm
    %la = cute.tile.mul %li, %al
    %ln = cute.tile.add %la, %s
    scf.yield %mn, %ln : tensor<1x1xf32>, tensor<1x1xf32>
  }}
  %log = cute.tile.log %l
  %lse = cute.tile.add %log, %m
  %t1 = cute.tile.load<[1]> %target[%r]
  %c = cute.tile.reshape<[1, 1]> %t1
  %hit = cute.tile.gather %x, %r, %c
  %hf = cute.tile.cast<f32> %hit
  %o = cute.tile.sub %lse, %hf
  %oo = cute.tile.reshape<[1]> %o
  cute.tile.store %oo, %loss[%r]
""", lambda x, target: {"loss": np.log(np.exp(x).sum(1)) - x[np.arange(len(x)), target.astype(int)]}, 2e-3),
    # The second of two stores of a product adds a matrix, whose elements are read when the first has stored its own.
    "gemm_and_added": (
        {"a": (matrix("bf16", 8), "bf16", (150, 136)), "b": (matrix("bf16", 8), "bf16", (72, 136)), "e": (matrix("bf16", 8), "bf16", (150, 72)),
         "c": (matrix("bf16", 8), "bf16", (150, 72)), "f": (matrix("bf16", 8), "bf16", (150, 72))},
        product("bf16", "f32", 128, 64, 64, "bf16").replace("  cute.tile.store", """  %m = cute.tile.load<[128, 64]> %e[%i, %j]
  %mf = cute.tile.cast<f32> %m
  %more = cute.tile.add %s, %mf
  %d16 = cute.tile.cast<bf16> %more
  cute.tile.store""") + "  cute.tile.store %d16, %f[%i, %j]\n", lambda a, b, e: {"c": a @ b.T, "f": a @ b.T + e}, 2e-2),
    # Indices from a start on beside limits, by all orders: far below and above the indices, at both ends of them, and among them.
    "index_order": (
        {"start": (vector("i32"), "i32", (6,)), "limit": (matrix("i32"), "i32", (6, 32)), "y": (cube("i32"), "i32", (6, 64, 32))},
        INDEX_ORDER, index_order, 0),
    "rotary": (
        {"x": (matrix("f16", 8), "f16", (21, 64)), "c": (matrix("f32", 4), "f32", (21, 32)), "s": (matrix("f32", 4), "f32", (21, 32)),
         "y": (matrix("f16", 8), "f16", (21, 64))},
        """
  %i, %z = cute.tile.program<[16, 64]> %x
  %h = cute.tile.load<[16, 64]> %x[%i, 0]
  %a = cute.tile.cast<f32> %h
  %cc = cute.tile.load<[16, 32]> %c[%i, 0]
  %ss = cute.tile.load<[16, 32]> %s[%i, 0]
  %pairs = cute.tile.reshape<[16, 32, 2]> %a
  %even = cute.tile.pick<0, 2> %pairs
  %odd = cute.tile.pick<1, 2> %pairs
  %ec = cute.tile.mul %even, %cc
  %os = cute.tile.mul %odd, %ss
  %es = cute.tile.mul %even, %ss
  %oc = cute.tile.mul %odd, %cc
  %p = cute.tile.sub %ec, %os
  %q = cute.tile.add %es, %oc
  %both = cute.tile.stack %p, %q
  %b = cute.tile.reshape<[16, 64]> %both
  %o = cute.tile.cast<f16> %b
  cute.tile.store %o, %y[%i, 0]
""", lambda x, c, s: {"y": rotary(x, c, s)}, 2e-3),
    "topk": (
        {"x": (matrix("f32"), "f32", (6, 200)), "y": (matrix("f32"), "f32", (6, 4)), "where": (matrix("i32"), "i32", (6, 4))},
        f"""{LOOP}
  %c4 = arith.constant 4 : i32
  %none = arith.constant 1000000 : i32
  %r, %z = cute.tile.program<[2, 256]> %x
  %a0 = cute.tile.load<[2, 256], neg_inf> %x[%r, 0]
  %j = cute.tile.iota<[1, 256], 1>
  %rest = scf.for %k = %c0 to %c4 step %c1 iter_args(%a = %a0) -> (tensor<2x256xf32>) : i32 {{
    %m = cute.tile.reduce<max, 1> %a
    %eq = cute.tile.eq %a, %m
    %jj = cute.tile.where %eq, %j, %none
    %at = cute.tile.reduce<min, 1> %jj
    cute.tile.store %m, %y[%r, %k]
    cute.tile.store %at, %where[%r, %k]
    %hit = cute.tile.eq %j, %at
    %b = cute.tile.where %hit, -1.0e38, %a
    scf.yield %b : tensor<2x256xf32>
  }}
""", lambda x: dict(zip(("y", "where"), topk(x, 4))), 1e-6),
    "rotary_halves": (
        {"x": (matrix("f16", 8), "f16", (21, 64)), "c": (matrix("f32", 4), "f32", (21, 32)), "s": (matrix("f32", 4), "f32", (21, 32)),
         "y": (matrix("f16", 8), "f16", (21, 64))},
        """
  %i, %z = cute.tile.program<[16, 64]> %x
  %h = cute.tile.load<[16, 64]> %x[%i, 0]
  %a = cute.tile.cast<f32> %h
  %cc = cute.tile.load<[16, 32]> %c[%i, 0]
  %ss = cute.tile.load<[16, 32]> %s[%i, 0]
  %halves = cute.tile.reshape<[16, 2, 32]> %a
  %first = cute.tile.pick<0, 1> %halves
  %second = cute.tile.pick<1, 1> %halves
  %fc = cute.tile.mul %first, %cc
  %ws = cute.tile.mul %second, %ss
  %fs = cute.tile.mul %first, %ss
  %wc = cute.tile.mul %second, %cc
  %p = cute.tile.sub %fc, %ws
  %q = cute.tile.add %fs, %wc
  %both = cute.tile.stack %p, %q
  %turned = cute.tile.permute<[0, 2, 1]> %both
  %b = cute.tile.reshape<[16, 64]> %turned
  %o = cute.tile.cast<f16> %b
  cute.tile.store %o, %y[%i, 0]
""", lambda x, c, s: {"y": np.concatenate([x[:, :32] * c - x[:, 32:] * s, x[:, :32] * s + x[:, 32:] * c], 1)}, 2e-3),
    "gemm_w4": (
        {"a": (matrix("f16", 8), "f16", (40, 128)), "w": (matrix("i4", 32), "i4", (56, 128)), "scale": (matrix("f32"), "f32", (56, 2)),
         "c": (matrix("f16", 8), "f16", (40, 56))},
        DEQUANTISED, lambda a, w, scale: {"c": a @ (w * np.repeat(scale, 64, 1)).T}, 6e-2),
    "gemm_e2m1": (
        {"a": (matrix("f16", 8), "f16", (40, 128)), "w": (matrix("f4E2M1FN", 32), "e2m1", (56, 128)), "scale": (matrix("f32"), "f32", (56, 2)),
         "c": (matrix("f16", 8), "f16", (40, 56))},
        DEQUANTISED, lambda a, w, scale: {"c": a @ (w * np.repeat(scale, 64, 1)).T}, 6e-2),
    "gemm_w4_ahead": (
        {"a": (matrix("f16", 8), "f16", (20, 288)), "w": (matrix("i4", 32), "i4", (72, 288)), "scale": (matrix("f32", 4), "f32", (3, 72)),
         "c": (matrix("f16", 8), "f16", (20, 72))},
        AHEAD, lambda a, w, scale: {"c": a @ (w * np.repeat(scale, 128, 0)[:288].T).T}, 6e-2),
    "gemm_w8_ahead": (
        {"a": (matrix("f16", 8), "f16", (20, 288)), "w": (matrix("i8", 16), "i8", (72, 288)), "scale": (matrix("f32", 4), "f32", (3, 72)),
         "c": (matrix("f16", 8), "f16", (20, 72))},
        AHEAD, lambda a, w, scale: {"c": a @ (w * np.repeat(scale, 128, 0)[:288].T).T}, 3e-1),
    "bytes_to_half": (
        {"x": (vector("i8", 16), "bytes", (256,)), "s": (vector("f16", 8), "f16", (256,)), "u": (vector("f16", 8), "f16", (256,)),
         "h": (vector("f16", 8), "f16", (256,))},
        """
  %i = cute.tile.program<[256]> %s
  %y = cute.tile.load<[256]> %x[%i]
  %a = cute.tile.cast<f16> %y
  cute.tile.store %a, %s[%i]
  %b = cute.tile.cast<f16> %y {zero_extend}
  cute.tile.store %b, %u[%i]
  %three = arith.constant dense<3> : tensor<256xi8>
  %shifted = arith.shrsi %y, %three : tensor<256xi8>
  %c = cute.tile.cast<f16> %shifted
  cute.tile.store %c, %h[%i]
""", lambda x: {"s": x, "u": x % 256, "h": np.floor(x / 8)}, 0),
    "rmsnorm_backward": (
        {"x": (matrix("f32", 4), "f32", (7, 300)), "dy": (matrix("f32", 4), "f32", (7, 300)), "w": (vector("f32", 4), "f32", (300,)),
         "dx": (matrix("f32", 4), "f32", (7, 300))},
        """
  %r, %z = cute.tile.program<[1, 512]> %x
  %n = cute.tile.count<1, 1> %x
  %nf = arith.sitofp %n : i32 to f32
  %a = cute.tile.load<[1, 512]> %x[%r, 0]
  %g = cute.tile.load<[1, 512]> %dy[%r, 0]
  %ww = cute.tile.load<[512]> %w[0]
  %q = cute.tile.mul %a, %a
  %s = cute.tile.reduce<add, 1> %q
  %m = cute.tile.div %s, %nf
  %e = cute.tile.add %m, 0.00001
  %is = cute.tile.rsqrt %e
  %gw = cute.tile.mul %g, %ww
  %gx = cute.tile.mul %gw, %a
  %c = cute.tile.reduce<add, 1> %gx
  %c1 = cute.tile.div %c, %nf
  %i2 = cute.tile.mul %is, %is
  %c2 = cute.tile.mul %c1, %i2
  %t = cute.tile.mul %a, %c2
  %d = cute.tile.sub %gw, %t
  %o = cute.tile.mul %d, %is
  cute.tile.store %o, %dx[%r, 0]
""", lambda x, dy, w: {"dx": (dy * w - x * ((dy * w * x).mean(1, keepdims=True) / ((x * x).mean(1, keepdims=True) + 1e-5)))
                       / np.sqrt((x * x).mean(1, keepdims=True) + 1e-5)}, 1e-3),
}


def attention_inputs(rng):
    q, k, v, g = (np.float16(rng.normal(size=(n, 64))).astype(float) for n in (50, 70, 70, 50))
    s = q @ k.T * 0.125
    lse = np.log(np.exp(s).sum(1))
    delta = (softmax(s) @ v * g).sum(1)
    return {"q": q, "k": k, "v": v, "g": g, "lse": lse, "delta": delta, "dq": np.zeros((50, 64))}


# Inputs that are not drawn one by one, by program.
INPUTS = {
    "attention_backward": attention_inputs,
    "layernorm_backward": lambda rng: {"dw": np.zeros(500), "db": np.zeros(500)},
    "layernorm_backward_f16": lambda rng: {"dw": np.zeros(504), "db": np.zeros(504)},
    "layernorm_backward_bf16": lambda rng: {"dw": np.zeros(1000), "db": np.zeros(1000)},
    "atomic_columns": lambda rng: {"s": np.zeros(500), "most": np.zeros(500)},
    "gemm_grouped": lambda rng: {"starts": [0, 17, 17, 61]},
    "paged_decode": lambda rng: {"pages": [5, 0, 6, 2, 3], "length": [71]},
    "conversions": lambda rng: {"s": np.zeros(200)},
    "cross_entropy": lambda rng: {"target": rng.integers(0, 3000, 5)},
    "index_order": index_limits,
}
