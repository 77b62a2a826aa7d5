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


def main():
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
    e = numpy.exp(x - x.max(axis=1, keepdims=True))
    cute_tools.check(y, e / e.sum(axis=1, keepdims=True))


main()
