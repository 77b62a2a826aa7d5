"""The wheel in an environment of its own: compiles, launches on the emulator, checks results. wheel.py FOLDER-OF-KERNELS. Prints nothing if
all is well."""
import array
import ctypes
import pickle
import sys

import cute_tools

SOFTMAX = """
!X = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @kernels {
  gpu.func @softmax(%x: !X, %y: !X) kernel {
    %r, %c = cute.tile.program<[1, 64]> %x
    %a = cute.tile.load<[1, 64], neg_inf> %x[%r, 0]
    %m = cute.tile.reduce<max, 1> %a
    %d = cute.tile.sub %a, %m
    %e = cute.tile.exp %d
    %s = cute.tile.reduce<add, 1> %e
    %p = cute.tile.div %e, %s
    cute.tile.store %p, %y[%r, 0]
    gpu.return
  }
}
"""
PRODUCT = """
!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!B = !cute.memref<f32, gmem, align<16>, "(?{div=4},?):(1,?{i64 div=4})">
gpu.module @kernels {
  gpu.func @my_gemm(%A: !A, %B: !B, %D: !A) kernel {
    %i, %j = cute.tile.program<[${TILE}, 32]> %D
    %n = cute.tile.count<1, 16> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : tensor<${TILE}x32xf32>
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<${TILE}x32xf32>) : i32 {
      %a = cute.tile.load<[${TILE}, 16]> %A[%i, %k]
      %b = cute.tile.load<[32, 16]> %B[%j, %k]
      %d = cute.tile.gemm %a, %b, %acc
      scf.yield %d : tensor<${TILE}x32xf32>
    }
    cute.tile.store %sum, %D[%i, %j]
    gpu.return
  }
}
"""
COUNT = """
!out = !cute.memref<i32, gmem, "?:1">
gpu.module @m {
  gpu.func @count(%out: !out, %far: i32) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %i = nvvm.read.ptx.sreg.tid.x : i32
    %at = arith.addi %i, %far : i32
    cute.store %i, %out[%at]
    gpu.return
  }
}
"""


def refused(text, function, *arguments, **named):
    try:
        function(*arguments, **named)
    except (cute_tools.Error, AssertionError) as error:
        if text not in str(error):
            print(f"expected '{text}', got '{error}'")
    else:
        print(f"expected '{text}', got no error")


class Matrix:
    """An array of another package: only DLPack."""

    def __init__(self, rows, columns, values):
        from cute_tools._arrays import CPU, DLTensor

        class Managed(ctypes.Structure):
            _fields_ = [("tensor", DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]

        self.data = (ctypes.c_float * (rows * columns + 4))()
        start = -(ctypes.addressof(self.data) // 4) % 4  # to 16 bytes
        for i, value in enumerate(values):
            self.data[start + i] = value
        self.shape = (ctypes.c_int64 * 2)(rows, columns)
        tensor = DLTensor(data=ctypes.addressof(self.data), device_type=CPU, ndim=2, code=2, bits=32, lanes=1,
                          shape=self.shape, byte_offset=4 * start)
        self.managed, self.start = Managed(tensor=tensor), start

    def __dlpack__(self):
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return make(ctypes.addressof(self.managed), b"dltensor", None)

    def values(self):
        return self.data[self.start:self.start + self.shape[0] * self.shape[1]]


def aligned(values):
    """Floats at a multiple of 16 bytes, as the kernel requires: a view of a larger array."""
    data = array.array("f", [0.0] * (len(values) + 4))
    start = -(data.buffer_info()[0] // 4) % 4
    view = memoryview(data)[start:start + len(values)]
    for i, value in enumerate(values):
        view[i] = value
    return view


def floats(shape, values=None):
    """A matrix without NumPy, by rows."""
    count = shape[0] * shape[1] if len(shape) == 2 else shape[0]
    return memoryview(aligned(values or [0.0] * count)).cast("B").cast("f", list(shape))


def test_products():
    m, n, k = 20, 24, 16
    a, b, bias = [i % 11 - 5.0 for i in range(m * k)], [i % 7 - 3.0 for i in range(k * n)], [i / 2 for i in range(n)]
    sums = [sum(a[i * k + x] * b[x * n + j] for x in range(k)) for i in range(m) for j in range(n)]
    A, B, D = floats((m, k), a), floats((k, n), b), floats((m, n))
    flat = lambda matrix: [x for row in matrix.tolist() for x in row]  # noqa: E731
    with cute_tools.Gemm(m, n, k, "float32", device="emulator") as gemm:
        if gemm(A, B, out=D) is not D:
            print("expected the array of the result")
        cute_tools.check(flat(D), sums)
        chosen = gemm.configuration
        # A product of the caller, by source and compiled; wrong ones keep the one before.
        D = floats((m, n))
        gemm.compile(PRODUCT, define={"TILE": 16})(A, B, out=D)
        cute_tools.check(flat(D), sums)
        refused("no kernels in '<source>'", gemm.compile, "func.func @x() { return }")
        refused("cannot read 'none.cubin': No such file or directory", gemm.load_compiled, "none.cubin")
        refused("expected a compiled module, got an unknown file format", gemm.load_compiled, b"none")
        if (gemm.configuration, chosen == "my_gemm") != ("my_gemm", False):
            print(f"expected my_gemm instead of a configuration, got {gemm.configuration} instead of {chosen}")
        module = cute_tools.compile(PRODUCT, define={"TILE": 32}, cubin=False)
        with open("product.ptx", "w") as file:
            file.write(module.ptx)
        for compiled in (module, module.image, "product.ptx"):
            D = floats((m, n))
            gemm.load_compiled(compiled)(A, B, out=D)
            cute_tools.check(flat(D), sums)
        refused("expected the shape (20, 16) of 'A', got (16, 24)", gemm, B, B, out=D)
        refused("expected elements of f32 for 'A', got i32", gemm, memoryview(array.array("i", [0] * m * k)).cast("B").cast("i", [m, k]), B, out=D)
        refused("the product has no array 'bias': expected A, B, D", gemm, A, B, out=D, bias=floats((n,), bias))
        refused("expected an array for 'A', got float", gemm, 1.0, B, out=D)
    with cute_tools.Gemm(m, n, k, "f32", device="emulator", alpha=2, beta=-1, bias=True, activation="relu", use_tma=False) as gemm:
        C = floats((m, n), sums)
        gemm(A, B, C=C, bias=floats((n,), bias), out=D)
        cute_tools.check(flat(D), [max(x + bias[i % n], 0) for i, x in enumerate(sums)])
        refused("expected an array 'C', got none", gemm, A, B, bias=floats((n,), bias), out=D)
        if not gemm.configuration.startswith(("sm80", "sgemm")):
            print(f"expected a configuration without TMA, got {gemm.configuration}")
    epilogue = "z = s * acc + bias[j]; D = relu(z); total[j] = sum(z, 0)"
    with cute_tools.Gemm(m, n, k, "f32", device="emulator", epilogue=epilogue, values={"s": 0.5}) as gemm:
        total = floats((n,))
        gemm(A, B, bias=floats((n,), bias), out={"D": D, "total": total})
        z = [0.5 * x + bias[i % n] for i, x in enumerate(sums)]
        cute_tools.check(flat(D), [max(x, 0) for x in z])
        cute_tools.check(total.tolist(), [sum(z[j::n]) for j in range(n)])
        refused("expected an array 'total', got none", gemm, A, B, bias=floats((n,), bias), out=D)
        refused("the product has no array 'x': expected A, B, bias, D, total", gemm, A, B, x=D, out=D)
    refused("<epilogue>:1:10: error: expected a value", cute_tools.Gemm(m, n, k, device="emulator", epilogue="D = acc +").compile)
    refused("expected f16, bf16, tf32, f32, e4m3, e5m2 or i8 as the type of A, got 'float99'", cute_tools.Gemm(m, n, k, "float99", device="emulator").compile)
    refused("expected relu or gelu as the activation, got 'tanh'", cute_tools.Gemm, m, n, k, activation="tanh")
    if cute_tools.Gemm.get_optimal_tile_size(4096, 4096, 4096, "sm90") != (128, 256, 64):
        print("expected another tile than", cute_tools.Gemm.get_optimal_tile_size(4096, 4096, 4096, "sm90"))


def test_numpy_products(numpy):
    """Results are new arrays; matrices are by rows or by columns."""
    m, n, k = 33, 40, 24
    rng = numpy.random.default_rng(1)
    a, b = (rng.standard_normal(shape).astype(numpy.float16) for shape in ((m, k), (k, n)))
    want = a.astype(float) @ b.astype(float)
    with cute_tools.Gemm(m, n, k, numpy.float16, arch="sm90", device="emulator") as gemm:
        for x in (a, numpy.asfortranarray(a)):
            for y in (b, numpy.asfortranarray(b)):
                d = gemm(x, y)
                if d.dtype != numpy.float32 or abs(d - want).max() > 1e-4:
                    print("wrong product of", x.strides, y.strides)
        out = numpy.zeros((n, m), numpy.float32).T
        if abs(gemm(a, b, out=out) - want).max() > 1e-4:
            print("wrong product by columns")
        refused("expected contiguous rows or columns of 'A', got strides (48, 2): pass a copy", gemm, numpy.zeros((m, 2 * k), numpy.float16)[:, ::2], b)
    with cute_tools.Gemm(m, n, k, dtype_c="f16", device="emulator", epilogue="D = acc * unpack(M[i,j]:i8); aux Q:i8 = acc; t = max(acc)") as gemm:
        bits = rng.integers(0, 2, (m, n))
        r = gemm(a, b, M=numpy.packbits(bits, axis=1, bitorder="little").view(numpy.int8))
        good = abs(r["D"] - want * bits).max() < 0.02 and (abs(r["Q"] - numpy.rint(want)) <= 1).all() and abs(r["t"] - want.max()) < 1e-4
        if sorted(r) != ["D", "Q", "t"] or not good:
            print("wrong results of an expression")


def main():
    test_products()
    n = 1000
    source = open(f"{sys.argv[1]}/vector_add/vector_add.mlir").read()
    module = cute_tools.compile(source, label="vector_add.mlir")
    a, b, c = aligned([float(i) for i in range(n)]), aligned([0.5 * i for i in range(n)]), aligned([0.0] * n)
    with cute_tools.Device("emulator") as device:
        module.launch("vector_add", device=device, grid=(1, 1, 1), a=a, b=b, c=c, n=n)
    cute_tools.check(c, [1.5 * i for i in range(n)])
    refused("1 of 3 elements differ: element 1 is 2, expected 5", cute_tools.check, [1, 2, 3], [1, 5, 3])
    refused("has no argument 'd': expected a, b, c, n", module.launch, "vector_add", device="emulator", grid=(1, 1, 1), d=a)
    refused("expected elements of f32 for 'a', got f64", module.launch, "vector_add", device="emulator", grid=(1, 1, 1),
            a=array.array("d", [0.0] * n), b=b, c=c, n=n)

    # A host function, on arrays of DLPack, and after a round through pickle.
    softmax = pickle.loads(pickle.dumps(cute_tools.compile(SOFTMAX)))
    x, y = Matrix(3, 8, [0.0] * 24), Matrix(3, 8, [0.0] * 24)
    softmax.run("softmax", x=x, y=y, device="emulator")
    cute_tools.check(y.values(), [0.125] * 24)
    refused("no host function 'sum': expected one of softmax", softmax.run, "sum")

    # Checks of the emulator, and errors of the compiler.
    count = cute_tools.compile(COUNT)
    out = array.array("i", [0] * 32)
    count.launch("count", device="emulator", grid=(1, 1, 1), out=out, far=0)
    cute_tools.check(out, range(32))
    refused("past the end of the allocation of 128 bytes", count.launch, "count", device="emulator", grid=(1, 1, 1), out=out, far=1)
    refused("<source>:1:1: error: ", cute_tools.compile, "nothing")
    try:
        import numpy
    except ImportError:
        return
    x = numpy.arange(24, dtype=numpy.float32).reshape(3, 8)
    y = numpy.zeros_like(x)
    softmax.run("softmax", x=x, y=y, device="emulator")
    test_numpy_products(numpy)
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    cute_tools.check(y, e / e.sum(axis=1, keepdims=True))


main()
