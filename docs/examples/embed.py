"""The same as embed.c from Python, with nothing but ctypes: embed.py [DEVICE]. The libraries are found as the loader finds
libcute-compiler.so (LD_LIBRARY_PATH). On the emulator an array of the host is used where it lies."""
import ctypes
import sys
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int64, c_size_t, c_uint64, c_void_p

SOURCE = b"""gpu.module @m {
  gpu.func @twice(%x: memref<${N}xf32>, %s: f32) kernel {
    %i = gpu.thread_id x
    %v = memref.load %x[%i] : memref<${N}xf32>
    %w = arith.mulf %v, %s : f32
    memref.store %w, %x[%i] : memref<${N}xf32>
    gpu.return
  }
}
"""


class Launch(ctypes.Structure):  # cute_device_launch
    _fields_ = [("size", c_size_t), ("grid", c_int64 * 3), ("block", c_int64 * 3), ("cluster", c_int64 * 3),
                ("dynamic_smem", c_int64), ("cooperative", c_bool), ("programmatic", c_bool), ("stream", c_void_p)]


compiler_library = ctypes.CDLL("libcute-compiler.so.0")
library = ctypes.CDLL("libcute.so.0")
library.cute_diag_create.restype = c_void_p
diag = c_void_p(library.cute_diag_create())


def declare(functions, name, *arguments):
    """A function with a status and, as its last argument, a diag: called without the diag, raises what it says."""
    function = getattr(functions, name)
    function.argtypes = [*arguments, c_void_p]

    def call(*values):
        if function(*values, diag):
            library.cute_diag_render.restype = c_char_p
            raise RuntimeError(library.cute_diag_render(diag, 0, c_bool(False)).decode())

    return call


OUT = POINTER(c_void_p)
compiler_create = declare(compiler_library, "cute_compiler_create", OUT)
compiler_set = declare(compiler_library, "cute_compiler_set", c_void_p, c_char_p, c_char_p)
compiler_run = declare(compiler_library, "cute_compiler_run", c_void_p, c_char_p, c_char_p, c_size_t, OUT)
compiler_library.cute_compiled_text.argtypes = [c_void_p, c_size_t, POINTER(c_size_t)]
compiler_library.cute_compiled_text.restype = c_char_p
linker_create = declare(library, "cute_linker_create", OUT)
linker_add = declare(library, "cute_linker_add", c_void_p, c_char_p, c_char_p, c_size_t)
linker_link = declare(library, "cute_linker_link", c_void_p)
library.cute_linker_output.argtypes = [c_void_p, POINTER(c_size_t)]
library.cute_linker_output.restype = c_void_p
module_open = declare(library, "cute_module_open", c_char_p, c_void_p, c_size_t, c_char_p, OUT)
device_open = declare(library, "cute_device_open", c_char_p, OUT)
load_module = declare(library, "cute_device_load_module", c_void_p, c_void_p, OUT)
register = declare(library, "cute_emulator_register", c_void_p, c_void_p, c_size_t)
arguments_create = declare(library, "cute_arguments_create", c_void_p, c_void_p, c_void_p, c_char_p, OUT)
set_address = declare(library, "cute_arguments_set_address", c_void_p, c_char_p, c_uint64)
set_real = declare(library, "cute_arguments_set_real", c_void_p, c_char_p, c_double)
launch = declare(library, "cute_arguments_launch", c_void_p, POINTER(Launch))


def made(create, *arguments):
    handle = c_void_p()
    create(*arguments, byref(handle))
    return handle


compiler = made(compiler_create)
compiler_set(compiler, b"arch", b"sm_90a")
compiler_set(compiler, b"define", b"N=32")
compiled = made(compiler_run, compiler, b"twice.mlir", SOURCE, len(SOURCE))
ptx = compiler_library.cute_compiled_text(compiled, 0, None)

linker = made(linker_create)
linker_add(linker, b"twice.ptx", ptx, len(ptx))
linker_link(linker)
length = c_size_t()
cubin = library.cute_linker_output(linker, byref(length))

module = made(module_open, b"twice.cubin", cubin, length, None)
device = made(device_open, sys.argv[1].encode() if len(sys.argv) > 1 else b"emulator")
loaded = made(load_module, device, module)
x = (ctypes.c_float * 32)(*range(32))
register(device, x, ctypes.sizeof(x))

arguments = made(arguments_create, device, loaded, module, b"twice")
set_address(arguments, b"x", ctypes.addressof(x))
set_real(arguments, b"s", 2)
launch(arguments, Launch(size=ctypes.sizeof(Launch), grid=(1, 1, 1), block=(32, 1, 1)))
print("x[31] =", x[31])
