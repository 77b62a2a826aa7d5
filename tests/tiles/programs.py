"""Tile programs and what they compute, by NumPy. A program is a text with ${NAME}, the sizes it runs with, and a function from its
inputs to its outputs."""
import numpy as np

F = np.float64


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def gelu(x):
    from math import erf
    return x / 2 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


def gelu_tanh(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


ROW = '!cute.memref<{t}, gmem, align<16>, "(?,?{{div={d}}}):(?{{i64 div={d}}},1)">'
BATCHES = '!cute.memref<{t}, gmem, align<16>, "(?,?,?{{div={d}}}):(?{{i64 div={d}}},?{{i64 div={d}}},1)">'
ANY = '!cute.memref<{t}, gmem, "(?,?):(?{{i64}},?{{i64}})">'


def matrix(t, div=1):
    return ROW.format(t=t, d=div) if div > 1 else f'!cute.memref<{t}, gmem, "(?,?):(?{{i64}},1)">'


def vector(t, div=1):
    return f'!cute.memref<{t}, gmem, align<16>, "?{{div={div}}}:1">' if div > 1 else f'!cute.memref<{t}, gmem, "?:1">'


# name: (arguments {name: (type, dtype, shape)}, body, reference(inputs) -> outputs, tolerance)
PROGRAMS = {
    "add": (
        {"x": (vector("f32", 4), "f32", (1004,)), "y": (vector("f32", 4), "f32", (1004,)), "z": (vector("f32", 4), "f32", (1004,))},
        """
  %i = cute.tile.program<[512]> %z
  %a = cute.tile.load<[512]> %x[%i]
  %b = cute.tile.load<[512]> %y[%i]
  %c = cute.tile.add %a, %b
  %d = cute.tile.mul %c, 0.5
  cute.tile.store %d, %z[%i]
""", lambda x, y: {"z": (x + y) * 0.5}, 1e-6),
    "softmax": (
        {"x": (matrix("f32", 4), "f32", (13, 1000)), "y": (matrix("f32", 4), "f32", (13, 1000))},
        """
  %r, %c = cute.tile.program<[1, 1024]> %x
  %a = cute.tile.load<[1, 1024], neg_inf> %x[%r, 0]
  %m = cute.tile.reduce<max, 1> %a
  %d = cute.tile.sub %a, %m
  %e = cute.tile.exp %d
  %s = cute.tile.reduce<add, 1> %e
  %p = cute.tile.div %e, %s
  cute.tile.store %p, %y[%r, 0]
""", lambda x: {"y": softmax(x)}, 1e-5),
    "last_modes": (
        {"x": (BATCHES.format(t="f16", d=8), "f16", (3, 37, 80)), "w": (BATCHES.format(t="i4", d=32), "i4", (3, 37, 96)),
         "never": (BATCHES.format(t="f16", d=8), "f16", (3, 37, 80)), "y": (BATCHES.format(t="f32", d=4), "f32", (3, 37, 80))},
        """
  %b, %i, %j = cute.tile.program<[1, 16, 32]> %y
  %r = cute.tile.iota<[16, 1], 0>
  %even = cute.tile.ge %r, 8
  %a = cute.tile.load<[16, 32], f32> %x[%b, %i, %j], %even
  %row = cute.tile.load<[32], f32> %x[%b, 5, %j]
  %q = cute.tile.load<[16, 32]> %w[%b, %i, %j]
  %f = cute.tile.cast<f32> %q
  %s = cute.tile.fma %a, %row, %f
  %g = cute.tile.gelu_tanh %s
  %n = cute.tile.load<[16, 32], f32> %never[%b, %i, %j]
  %t = cute.tile.add %g, %n
  %u = cute.tile.where 0, %t, %g
  %v = cute.tile.where 1, %u, 7.0
  cute.tile.store %v, %y[%b, %i, %j]
""", lambda x, w: {"y": gelu_tanh(np.where(np.arange(37)[:, None] % 16 >= 8, x, 0) * x[:, 5:6] + w[:, :, :80])}, 2e-3),
    "transpose": (
        {"x": (matrix("f16", 8), "f16", (104, 200)), "y": (matrix("f16", 8), "f16", (200, 104))},
        """
  %i, %j = cute.tile.program<[64, 64]> %x
  %a = cute.tile.load<[64, 64]> %x[%i, %j]
  %t = cute.tile.permute<[1, 0]> %a
  cute.tile.store %t, %y[%j, %i]
""", lambda x: {"y": x.T}, 0),
    "layernorm": (
        {"x": (matrix("f16", 8), "f16", (9, 504)), "w": (vector("f32", 4), "f32", (504,)), "b": (vector("f32", 4), "f32", (504,)),
         "y": (matrix("f16", 8), "f16", (9, 504)), "mean": (vector("f32"), "f32", (9,))},
        """
  %r, %z = cute.tile.program<[4, 512]> %x
  %h = cute.tile.load<[4, 512]> %x[%r, 0]
  %a = cute.tile.cast<f32> %h
  %n = cute.tile.count<1, 1> %x
  %nf = arith.sitofp %n : i32 to f32
  %s = cute.tile.reduce<add, 1> %a
  %m = cute.tile.div %s, %nf
  %d = cute.tile.sub %a, %m
  %j = cute.tile.iota<[1, 512], 1>
  %in = cute.tile.lt %j, %n
  %dd = cute.tile.where %in, %d, 0.0
  %q = cute.tile.mul %dd, %dd
  %v = cute.tile.reduce<add, 1> %q
  %var = cute.tile.div %v, %nf
  %ve = cute.tile.add %var, 0.00001
  %is = cute.tile.rsqrt %ve
  %ww = cute.tile.load<[512]> %w[0]
  %bb = cute.tile.load<[512]> %b[0]
  %y0 = cute.tile.mul %dd, %is
  %y1 = cute.tile.mul %y0, %ww
  %y2 = cute.tile.add %y1, %bb
  %o = cute.tile.cast<f16> %y2
  cute.tile.store %o, %y[%r, 0]
  %mm = cute.tile.reshape<[4]> %m
  cute.tile.store %mm, %mean[%r]
""", lambda x, w, b: {"y": (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5) * w + b, "mean": x.mean(1)}, 2e-3),
    "gemm": (
        {"a": (matrix("f16", 8), "f16", (100, 72)), "b": (matrix("f16", 8), "f16", (136, 72)), "c": (matrix("f32", 4), "f32", (100, 136))},
        """
  %i, %j = cute.tile.program<[64, 64]> %c
  %n = cute.tile.count<1, 32> %a
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<64x64xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<64x64xf32>) : i32 {
    %x = cute.tile.load<[64, 32]> %a[%i, %k]
    %y = cute.tile.load<[64, 32]> %b[%j, %k]
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<64x64xf32>
  }
  cute.tile.store %s, %c[%i, %j]
""", lambda a, b: {"c": a @ b.T}, 1e-3),
    "sgemm": (
        {"a": (matrix("f32", 4), "f32", (70, 36)), "b": (matrix("f32", 4), "f32", (50, 36)), "c": (matrix("f32"), "f32", (70, 50))},
        """
  %i, %j = cute.tile.program<[32, 32]> %c
  %n = cute.tile.count<1, 16> %a
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<32x32xf32>) : i32 {
    %x = cute.tile.load<[32, 16]> %a[%i, %k]
    %y = cute.tile.load<[32, 16]> %b[%j, %k]
    %d = cute.tile.gemm %x, %y, %acc
    scf.yield %d : tensor<32x32xf32>
  }
  cute.tile.store %s, %c[%i, %j]
""", lambda a, b: {"c": a @ b.T}, 1e-4),
    "variance_rows": (
        {"x": (matrix("f32", 4), "f32", (9, 500)), "m": (vector("f32"), "f32", (9,)), "v": (vector("f32"), "f32", (9,))},
        """
  %r, %c = cute.tile.program<[4, 512]> %x
  %a = cute.tile.load<[4, 512]> %x[%r, 0]
  %m0 = cute.tile.reduce<mean, 1> %a, %x
  %v0 = cute.tile.reduce<variance, 1> %a, %x
  %m1 = cute.tile.reshape<[4]> %m0
  %v1 = cute.tile.reshape<[4]> %v0
  cute.tile.store %m1, %m[%r]
  cute.tile.store %v1, %v[%r]
""", lambda x: {"m": x.mean(1), "v": x.var(1)}, 1e-5),
    "variance_columns": (
        {"x": (matrix("bf16", 8), "bf16", (13, 200)), "v": (vector("f32"), "f32", (200,)), "h": (vector("f16"), "f16", (200,))},
        """
  %z, %c = cute.tile.program<[16, 64]> %x
  %a = cute.tile.load<[16, 64], f32> %x[0, %c]
  %n = cute.tile.count<0, 1> %x
  %nf = arith.sitofp %n : i32 to f32
  %v0 = cute.tile.reduce<variance, 0> %a, %nf
  %v1 = cute.tile.reshape<[64]> %v0
  cute.tile.store %v1, %v[%c]
  %b = cute.tile.cast<f16> %a
  %nl = arith.extsi %n : i32 to i64
  %h0 = cute.tile.reduce<variance, 0> %b, %nl
  %h1 = cute.tile.reshape<[64]> %h0
  cute.tile.store %h1, %h[%c]
""", lambda x: {"v": x.var(0), "h": x.var(0)}, 2e-3),
    "atomic_columns": (
        {"x": (matrix("f32", 4), "f32", (27, 500)), "s": (vector("f32"), "f32", (500,)), "most": (vector("i32"), "zero", (500,))},
        """
  %r, %c = cute.tile.program<[4, 512]> %x
  %a = cute.tile.load<[4, 512]> %x[%r, 0]
  cute.tile.atomic<add> %a, %s
  %b = cute.tile.mul %a, 100.0
  %i = cute.tile.cast<i32> %b
  cute.tile.atomic<max> %i, %most
""", lambda x: {"s": x.sum(0), "most": np.maximum(np.trunc(np.float32(x) * np.float32(100)), 0).max(0)}, 1e-5),
    "scan": (
        {"x": (matrix("i32"), "i32", (6, 100)), "y": (matrix("i32"), "i32", (6, 100)), "z": (matrix("i32"), "i32", (6, 100))},
        """
  %r, %c = cute.tile.program<[4, 128]> %x
  %a = cute.tile.load<[4, 128]> %x[%r, 0]
  %s = cute.tile.scan<add, 1> %a
  %t = cute.tile.scan(%a) {kind = "max", mode = 0 : i32, reverse} : (tensor<4x128xi32>) -> tensor<4x128xi32>
  cute.tile.store %s, %y[%r, 0]
  cute.tile.store %t, %z[%r, 0]
""", lambda x: {"y": np.cumsum(x, 1), "z": np.concatenate([np.maximum.accumulate(
            np.concatenate([x[i:i + 4], np.zeros((4 - len(x[i:i + 4]), x.shape[1]))])[::-1], 0)[::-1] for i in (0, 4)])[:6]}, 0),
    "gather": (
        {"t": (matrix("f32"), "f32", (40, 24)), "i": (vector("i32"), "index", (37,)), "y": (matrix("f32"), "f32", (37, 24))},
        """
  %r, %c = cute.tile.program<[16, 32]> %y
  %rows = cute.tile.load<[16]> %i[%r]
  %rr = cute.tile.reshape<[16, 1]> %rows
  %cc = cute.tile.iota<[1, 32], 1>
  %v = cute.tile.gather %t, %rr, %cc
  cute.tile.store %v, %y[%r, 0]
""", lambda t, i: {"y": t[i.astype(int)]}, 0),
    "histogram": (
        {"x": (vector("i32"), "index", (1000,)), "h": (vector("i32"), "zero", (40,))},
        """
  %i = cute.tile.program<[256]> %x
  %v = cute.tile.load<[256], inf> %x[%i]
  %one = arith.constant dense<1> : tensor<256xi32>
  cute.tile.atomic %one, %h, %v {kind = "add"}
""", lambda x, h: {"h": np.bincount(x.astype(int), minlength=40)}, 0),
    "colreduce": (
        {"x": (matrix("f32", 4), "f32", (70, 44)), "y": (vector("f32"), "f32", (44,))},
        """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %j = cute.tile.program<[32]> %y
  %n = cute.tile.count<0, 16> %x
  %zero = arith.constant dense<0.0> : tensor<1x32xf32>
  %s = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<1x32xf32>) : i32 {
    %a = cute.tile.load<[16, 32]> %x[%k, %j]
    %p = cute.tile.reduce<add, 0> %a
    %q = arith.addf %acc, %p : tensor<1x32xf32>
    scf.yield %q : tensor<1x32xf32>
  }
  %o = cute.tile.reshape<[32]> %s
  cute.tile.store %o, %y[%j]
""", lambda x: {"y": x.sum(0)}, 1e-4),
    # Loads and gathers that convert, means, numbers of columns among floats, stores and atomic updates that round.
    "conversions": (
        {"x": (matrix("f16", 8), "f16", (13, 200)), "k": (matrix("i8", 8), "i8", (13, 200)), "i": (vector("i32"), "index", (200,)),
         "t": (matrix("f16"), "f16", (1, 40)), "y": (matrix("f16", 8), "f16", (13, 200)), "s": (vector("f32"), "f32", (200,))},
        """
  %r, %c = cute.tile.program<[4, 256]> %x
  %a = cute.tile.load<[4, 256], f32> %x[%r, 0]
  %b = cute.tile.load<[4, 256], zero, f32> %k[%r, 0]
  %n = cute.tile.count<1, 1> %x
  %m = cute.tile.reduce<mean, 1> %a, %n
  %at = cute.tile.load<[256]> %i[0]
  %zero = arith.constant 0 : i32
  %g = cute.tile.gather<f32> %t, %zero, %at
  %d = cute.tile.sub %a, %m
  %e = cute.tile.fma %d, %n, 1.0
  %f = cute.tile.add %e, %b
  %h = cute.tile.mul %f, %g
  %o = cute.tile.div %h, %n
  cute.tile.store %o, %y[%r, 0]
  %u = cute.tile.reduce<add, 0> %b
  %w = cute.tile.cast<f16> %u
  %j = cute.tile.iota<[1, 256], 1>
  cute.tile.atomic<add> %w, %s, %j
""", lambda x, k, i, t: {"y": ((x - x.mean(1, keepdims=True)) * 200 + 1 + k) * t[0][i.astype(int)] / 200, "s": k.sum(0)}, 4e-3),
    "attention": (
        {"q": (matrix("f16", 8), "f16", (70, 64)), "k": (matrix("f16", 8), "f16", (90, 64)), "v": (matrix("f16", 8), "f16", (90, 64)),
         "o": (matrix("f16", 8), "f16", (70, 64))},
        """
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %keys = arith.constant 32 : i32
  %i, %z = cute.tile.program<[64, 64]> %q
  %n = cute.tile.count<0, 32> %k
  %len = cute.tile.count<0, 1> %k
  %a = cute.tile.load<[64, 64]> %q[%i, 0]
  %o0 = arith.constant dense<0.0> : tensor<64x64xf32>
  %s0 = arith.constant dense<0.0> : tensor<64x32xf32>
  %m0 = arith.constant dense<-1.0e30> : tensor<64x1xf32>
  %l0 = arith.constant dense<0.0> : tensor<64x1xf32>
  %o1, %m1, %l1 = scf.for %j = %c0 to %n step %c1 iter_args(%oi = %o0, %mi = %m0, %li = %l0)
      -> (tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf32>) : i32 {
    %b = cute.tile.load<[32, 64]> %k[%j, 0]
    %s = cute.tile.gemm %a, %b, %s0
    %sc = cute.tile.mul %s, 0.125
    %first = arith.muli %j, %keys : i32
    %col = cute.tile.iota<[1, 32], 1> %first
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
    %vv = cute.tile.load<[32, 64]> %v[%j, 0]
    %vt = cute.tile.permute<[1, 0]> %vv
    %oa = cute.tile.mul %oi, %al
    %on = cute.tile.gemm %ph, %vt, %oa
    scf.yield %on, %mn, %ln : tensor<64x64xf32>, tensor<64x1xf32>, tensor<64x1xf32>
  }
  %of = cute.tile.div %o1, %l1
  %oh = cute.tile.cast<f16> %of
  cute.tile.store %oh, %o[%i, 0]
""", lambda q, k, v: {"o": softmax(q @ k.T * 0.125) @ v}, 3e-3),
}
