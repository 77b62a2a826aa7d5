"""tinygrad's CUDA programs on the emulator: stands in for the library that tinygrad's mock of the CUDA driver
(test/mockgpu/cuda) hands PTX to. From tinygrad's sources, with libcute.so where the loader finds it or in $LIBCUTE:

    DEV=MOCK+CUDA:PTX PYTHONPATH=.:EXAMPLES python3 -c 'import tinygrad_emulator, pytest; pytest.main(["test/backend/test_ops.py"])'

$CUTE_CHECKS is the number of checks to run (cute/checks.h). The mock's memory is the host's: it is registered as memory
of the device at its own address."""
import ctypes, os, re, sys, types

lib = ctypes.CDLL(os.environ.get("LIBCUTE", "libcute.so"))
for name, result in {"cute_diag_create": ctypes.c_void_p, "cute_diag_render": ctypes.c_void_p}.items():
    getattr(lib, name).restype = result
libc = ctypes.CDLL(None)
libc.free.argtypes = [ctypes.c_void_p]


class Options(ctypes.Structure):  # cute_emulator_options; what follows `checks` is left out: zeros
    _fields_ = [("size", ctypes.c_size_t), ("seed", ctypes.c_int64), ("threads", ctypes.c_int64), ("timeout", ctypes.c_double),
                ("patience", ctypes.c_double), ("checks", ctypes.c_uint32), ("rest", ctypes.c_uint8 * 28)]


class Launch(ctypes.Structure):  # cute_device_launch
    _fields_ = [("size", ctypes.c_size_t), ("grid", ctypes.c_int64 * 3), ("block", ctypes.c_int64 * 3),
                ("cluster", ctypes.c_int64 * 3), ("dynamic_smem", ctypes.c_int64), ("cooperative", ctypes.c_bool),
                ("programmatic", ctypes.c_bool), ("stream", ctypes.c_void_p)]


diag, device, functions = ctypes.c_void_p(lib.cute_diag_create()), ctypes.c_void_p(), {}


def check(status):
    errors = lib.cute_diag_errors(diag)
    text = lib.cute_diag_render(diag, 0, False) if status or errors else None
    lib.cute_diag_clear(diag)
    if not text: return
    message = ctypes.string_at(text).decode()
    libc.free(text)
    raise RuntimeError(message)


options = Options(size=ctypes.sizeof(Options), threads=1, checks=int(os.environ.get("CUTE_CHECKS", "0")))
check(lib.cute_emulator_open(ctypes.byref(options), ctypes.byref(device), diag))


def ptx_run(source, count, args, block_x, block_y, block_z, grid_x, grid_y, grid_z, shared):
    """Runs the kernel of a module; args are the values of its parameters, as pointers."""
    text = source if isinstance(source, bytes) else ctypes.cast(source, ctypes.c_char_p).value
    if text not in functions:
        module, functions[text] = ctypes.c_void_p(), ctypes.c_void_p()
        check(lib.cute_device_load(device, b"tinygrad.ptx", text, ctypes.c_size_t(len(text)), ctypes.byref(module), diag))
        kernel = re.search(rb"\.entry\s+(\w+)", text).group(1)
        check(lib.cute_device_get_function(device, module, kernel, ctypes.byref(functions[text]), diag))
    launch = Launch(size=ctypes.sizeof(Launch), grid=(grid_x, grid_y, grid_z), block=(block_x, block_y, block_z), dynamic_smem=shared)
    values = [ctypes.c_uint64(args[n] or 0) for n in range(count)]
    params = (ctypes.c_void_p * (count + 1))(*(ctypes.addressof(value) for value in values))
    check(lib.cute_device_prepare(device, functions[text], ctypes.byref(launch), diag))
    check(lib.cute_device_start(device, functions[text], ctypes.byref(launch), params, diag))


def register(address, size):
    check(lib.cute_emulator_register(device, ctypes.c_void_p(address), ctypes.c_size_t(size), diag))


def unregister(address):
    check(lib.cute_emulator_unregister(device, ctypes.c_void_p(address), diag))


def install():
    """Puts this module in the place of gpuocelot, and makes the mock's device an sm_90 one."""
    helpers = sys.modules["test.mockgpu.helpers"] = types.ModuleType("test.mockgpu.helpers")
    helpers.ptx_run, helpers.PythonRemu = ptx_run, object
    from test.mockgpu.cuda import cuda
    allocate, free = cuda.cuMemAlloc_v2, cuda.cuMemFree_v2

    def allocate_registered(pointer, size):
        status = allocate(pointer, max(size, 1))
        register(pointer._obj.value, max(size, 1))
        return status

    def free_registered(pointer):
        unregister(pointer.value)
        return free(pointer)

    def capability(major, minor, _):
        major._obj.value, minor._obj.value = 9, 0
        return 0

    cuda.cuMemAlloc_v2, cuda.cuMemFree_v2, cuda.cuDeviceComputeCapability = allocate_registered, free_registered, capability


if "tinygrad" in os.environ.get("DEV", "") or "MOCK" in os.environ.get("DEV", ""): install()
