"""CuTe kernels from Python: compile MLIR, launch on the emulator or a GPU, check results.

    import cute_tools
    module = cute_tools.compile(open("vector_add.mlir").read())
    module.launch("vector_add", grid=(4, 1, 1), a=a, b=b, c=c, n=1000, device="emulator")
    cute_tools.check(c, expected)

    c = cute_tools.Gemm(M, N, K)(a, b)

Arrays are NumPy's, or anything with DLPack, the buffer protocol or CUDA's array interface. The programs (cute-opt, cute-ptx,
cute-link, cute-run, cute-dump, cute-lsp) are installed beside this package; cubins need ptxas, which the extra installs:
pip install "cute-tools[cuda]".
"""
import ctypes
import json
import math
import re
import struct
from ctypes import byref, c_int64, c_size_t, c_uint64, c_void_p

from . import _library
from ._arrays import array_of
from ._constants import CHECKS
from ._gemm import Gemm
from ._library import EmulatorOptions, Error, Finding, Launch, call, make

__all__ = ["Device", "Error", "Gemm", "Module", "check", "compile", "version"]


def version():
    """The version of the libraries."""
    _library.cute.cute_version.restype = ctypes.c_char_p
    return _library.cute.cute_version().decode()


class Device:
    """A device by name: "emulator", "cuda:0", or "any". The emulator can check kernels for races, bounds and more: the findings
    of a launch are raised as Error. Used by one thread at a time."""

    def __init__(self, name="any", *, checks=True, seed=0, multiprocessors=0):
        if name == "emulator":
            options = EmulatorOptions(size=ctypes.sizeof(EmulatorOptions), seed=seed, multiprocessors=multiprocessors,
                                      checks=CHECKS if checks else 0)
            self.handle = make("cute_emulator_open", byref(options))
        else:
            self.handle = make("cute_device_open", name.encode())
        info = _library.cute.cute_device_get_info
        info.restype = c_void_p
        info.argtypes = [c_void_p]
        # cute_device_info begins with its size and the kind.
        self.kind = ctypes.cast(info(self.handle) + ctypes.sizeof(c_size_t), ctypes.POINTER(ctypes.c_char_p))[0].decode()
        self._loaded = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Releases the device and everything on it."""
        if self.handle:
            _library.cute.cute_device_close.argtypes = [c_void_p]
            _library.cute.cute_device_close(self.handle)
        self.handle, self._loaded = None, {}

    def _load(self, module):
        if id(module) not in self._loaded:
            self._loaded[id(module)] = (make("cute_device_load_module", self.handle, module.handle), module)
        return self._loaded[id(module)][0]

    def _errors(self):
        """The number of findings that are errors."""
        if self.kind != "emulator":
            return 0
        count, get = _library.cute.cute_emulator_finding_count, _library.cute.cute_emulator_finding
        count.restype, count.argtypes = c_size_t, [c_void_p]
        get.restype, get.argtypes = ctypes.POINTER(Finding), [c_void_p, c_size_t]
        return sum(get(self.handle, i)[0].severity == Finding.ERROR for i in range(count(self.handle)))


class _Memory:
    """Arrays of the host on a device during a launch: mapped by the emulator, copied by a GPU."""

    def __init__(self, device):
        self.device, self.undo, self.allocated = device, [], []

    def address(self, array):
        if not array.bytes:
            return array.address
        if array.on_gpu:
            if self.device.kind == "emulator":
                raise Error("expected an array in memory of the host for the emulator, got one on a GPU", 2)
            return array.address
        if self.device.kind == "emulator":
            call("cute_emulator_register", self.device.handle, array.address, array.bytes)
            self.undo.append(lambda: call("cute_emulator_unregister", self.device.handle, array.address))
            return array.address
        address = self.allocate(array.bytes)
        call("cute_device_upload", self.device.handle, address, array.address, array.bytes)
        self.undo.append(lambda: call("cute_device_download", self.device.handle, array.address, address, array.bytes))
        return address

    def allocate(self, size):
        address = c_uint64()
        call("cute_device_alloc", self.device.handle, size, byref(address))
        self.allocated.append(address.value)
        return address.value

    def finish(self, succeeded):
        for action in self.undo:
            if succeeded or self.device.kind == "emulator":
                action()
        for address in self.allocated:
            call("cute_device_free", self.device.handle, address)


def _leaves(layout, array, name):
    """The unknown leaves of a layout such as (?,?{div=4}):(?{i64 div=4},1), with one dimension of the array for each leaf, and
    their values, shape before stride."""
    shape, stride = (re.findall(r"\?(?:\{[^}]*\})?|-?\d+", part) for part in layout.split(":"))
    if len(shape) != len(array.shape):
        raise Error(f"expected {len(shape)} dimensions for '{name}' ({layout}), got {len(array.shape)}", 2)
    values = []
    for kind, leaves, given in (("extent", shape, array.shape), ("stride", stride, array.strides)):
        for i, (leaf, value) in enumerate(zip(leaves, given)):
            if leaf.startswith("?"):
                divisor = re.search(r"div=(\d+)", leaf)
                if divisor and value % int(divisor[1]) and (kind == "extent" or array.shape[i] > 1):
                    raise Error(f"dimension {i} of '{name}' has {kind} {value}, expected a multiple of {divisor[1]}", 2)
                values.append(value)
            elif int(leaf) != value and (kind == "extent" or array.shape[i] > 1):
                raise Error(f"dimension {i} of '{name}' has {kind} {value}, expected {leaf}", 2)
    return values


def _is_packed(dtype):
    """Elements of 4 bits: two in a byte."""
    return dtype is not None and re.match(r"[iuf]4", dtype) is not None


def _same_type(expected, given):
    if _is_packed(expected):
        return given in ("i8", "u8")
    if expected is None or expected == given or (expected, given) == ("tf32", "f32"):
        return True
    integers = expected[0] in "iu" and given[0] in "iu"
    bits = [int(re.sub(r"\D", "", text)) if text[0] in "iu" else 8 for text in (expected, given)]
    return (integers and bits[0] == bits[1]) or (expected in ("bf16", "e4m3", "e5m2") and given in ("i16", "u16", "i8", "u8"))


class Module:
    """Compiled kernels: PTX, or a cubin that contains its PTX. Pickles as its bytes."""

    def __init__(self, image, label="<image>"):
        self.image = bytes(image)
        self.handle = make("cute_module_open", label.encode(), self.image, len(self.image), None)
        text = self.ptx
        lines = [json.loads(line[8:]) for line in text.splitlines() if line.startswith("//!cute {")]
        self.kernels = {line["kernel"]: line for line in lines if "kernel" in line}
        self.plans = {line["plan"]: line for line in lines if "plan" in line}

    def __reduce__(self):
        return (Module, (self.image,))

    @property
    def ptx(self):
        """The PTX as text."""
        function = _library.cute.cute_module_ptx
        function.restype = ctypes.c_void_p
        function.argtypes = [c_void_p, ctypes.POINTER(c_size_t)]
        length = c_size_t()
        text = function(self.handle, byref(length))
        return ctypes.string_at(text, length.value).decode() if text else ""

    def launch(self, name, *, device="any", grid=None, block=None, cluster=None, dynamic_smem=0, **arguments):
        """Launches kernel `name` with arguments by their names in the source, and waits for it. Without grid and block those of
        the source are used. The name of a host function runs its plan (see `run`)."""
        if name not in self.kernels:
            if name in self.plans and grid is None and block is None:
                return self.run(name, device=device, **arguments)
            raise Error(f"no kernel '{name}': expected one of {', '.join(self.kernels) or 'none'}", 2)
        if name in self.plans and grid is None:
            return self.run(name, device=device, **arguments)
        device, own = (Device(device), True) if isinstance(device, str) else (device, False)
        memory, succeeded = _Memory(device), False
        before = device._errors()
        try:
            handle = make("cute_arguments_create", device.handle, device._load(self), self.handle, name.encode())
            known = {arg["name"]: arg for arg in self.kernels[name]["args"]}
            for key, value in arguments.items():
                if known and key not in known:
                    raise Error(f"kernel '{name}' has no argument '{key}': expected {', '.join(known)}", 2)
                self._set(handle, key, known.get(key, {}), value, memory)
            shape = Launch(size=ctypes.sizeof(Launch), dynamic_smem=dynamic_smem)
            for field, given in (("grid", grid), ("block", block), ("cluster", cluster)):
                for i, extent in enumerate(given or ()):
                    getattr(shape, field)[i] = extent
            text = call("cute_arguments_launch", handle, byref(shape))
            call("cute_device_sync", device.handle)
            succeeded = True
        finally:
            memory.finish(succeeded)
            if own:
                found = device._errors()
                device.close()
        if (found if own else device._errors()) > before:
            raise Error(text)

    def _set(self, handle, key, known, value, memory):
        name, array = key.encode(), array_of(value)
        if array is None:
            kind = "integer" if isinstance(value, int) else "real"
            call(f"cute_arguments_set_{kind}", handle, name, value)
            return
        if not _same_type(known.get("dtype"), array.dtype):
            raise Error(f"expected elements of {known['dtype']} for '{key}', got {array.dtype}", 2)
        address = memory.address(array)
        if known.get("layout") and known.get("fields"):
            values = [address, *_leaves(known["layout"], array, key)]
            size = max(field["offset"] + field["size"] for field in known["fields"])
            bytes_ = bytearray((size + 7) // 8 * 8)
            for field, number in zip(known["fields"], values):
                struct.pack_into("<Q" if field["size"] == 8 else "<I", bytes_, field["offset"],
                                 number & ((1 << 8 * field["size"]) - 1))
            call("cute_arguments_set_bytes", handle, name, bytes(bytes_), len(bytes_))
        elif known.get("kind") == "memref" and known.get("count", 1) > 1:
            rank = len(array.shape)
            call("cute_arguments_set_memref", handle, name, address, 0, rank, (c_int64 * rank)(*array.shape),
                 (c_int64 * rank)(*array.strides))
        else:
            call("cute_arguments_set_address", handle, name, address)

    def run(self, plan, *, device="any", **arguments):
        """Runs host function `plan`: its launches, grids and temporaries follow from the arguments, and waits for them."""
        if plan not in self.plans:
            raise Error(f"no host function '{plan}': expected one of {', '.join(self.plans) or 'none'}", 2)
        arrays = {key: array_of(value) for key, value in arguments.items()}
        config = {"plan": plan, "params": {k: v for k, v in arguments.items() if arrays[k] is None}, "buffers": {}}
        for key, array in arrays.items():
            if array is not None:
                known = next((arg for arg in self.plans[plan]["args"] if arg["name"] == key), {})
                if not _same_type(known.get("dtype"), array.dtype):
                    raise Error(f"expected elements of {known['dtype']} for '{key}', got {array.dtype}", 2)
                config["buffers"][key] = {"dtype": array.dtype if _is_packed(known.get("dtype")) else known.get("dtype") or array.dtype,
                                          "shape": array.shape, "strides": array.strides, "init": 0}
        device, own = (Device(device), True) if isinstance(device, str) else (device, False)
        memory, succeeded, handle, text = _Memory(device), False, None, json.dumps(config).encode()
        workspace = _library.cute.cute_plan_workspace
        workspace.restype = c_size_t
        workspace.argtypes = [c_void_p]
        before = device._errors()
        try:
            handle = make("cute_plan_open", device.handle, self.handle, text, len(text), None)
            for key, array in arrays.items():
                if array is not None:
                    call("cute_plan_set_buffer", handle, key.encode(), memory.address(array))
            size = workspace(handle)
            if size:
                call("cute_plan_set_workspace", handle, memory.allocate(size))
            messages = call("cute_plan_start", handle, None)
            call("cute_device_sync", device.handle)
            succeeded = True
        finally:
            if handle:
                _library.cute.cute_plan_close.argtypes = [c_void_p]
                _library.cute.cute_plan_close(handle)
            memory.finish(succeeded)
            found = device._errors()
            if own:
                device.close()
        if found > before:
            raise Error(messages)


def compile(source, *, arch="sm_90a", define=None, label="<source>", cubin=None, **options):
    """Compiles MLIR text to a Module. `define` has the values of ${NAME}. `cubin` None: a cubin if ptxas is found, else PTX; the
    emulator needs PTX only. Other options are those of cute-ptx by their long names, with _ for -."""
    library = _library.compiler_library()
    compiler = make("cute_compiler_create")
    try:
        given = [("arch", arch)] + [("define", f"{key}={value}") for key, value in (define or {}).items()]
        for key, value in options.items():
            for item in value if isinstance(value, (list, tuple)) else [value]:
                given.append((key.replace("_", "-"), item))
        for key, value in given:
            text = "1" if value is True else "0" if value is False else str(value)
            call("cute_compiler_set", compiler, key.encode(), text.encode())
        folder = _library.toolkit()
        if folder and "cuda_path" not in options:
            call("cute_compiler_set", compiler, b"cuda-path", folder.encode())
        text = source.encode() if isinstance(source, str) else bytes(source)
        compiled = make("cute_compiler_run", compiler, label.encode(), text, len(text))
        length = c_size_t()
        address = library.cute_compiled_text(compiled, 0, byref(length))
        ptx = ctypes.string_at(address)
        library.cute_compiled_destroy(compiled)
    finally:
        library.cute_compiler_destroy(compiler)
    if cubin is False:
        return Module(ptx, label)
    try:
        return _link(ptx, label, folder)
    except Error as error:
        if cubin or error.status != 3:
            raise
        return Module(ptx, label)


def _link(ptx, label, folder):
    linker = make("cute_linker_create")
    _library.cute.cute_linker_output.restype = c_void_p
    _library.cute.cute_linker_output.argtypes = [c_void_p, ctypes.POINTER(c_size_t)]
    _library.cute.cute_linker_destroy.argtypes = [c_void_p]
    try:
        if folder:
            call("cute_linker_set", linker, b"cuda-path", folder.encode())
        call("cute_linker_add", linker, label.encode(), ptx, len(ptx))
        call("cute_linker_link", linker)
        length = c_size_t()
        image = _library.cute.cute_linker_output(linker, byref(length))
        return Module(ctypes.string_at(image, length.value), label)
    finally:
        _library.cute.cute_linker_destroy(linker)


def check(actual, expected, *, rtol=1e-5, atol=1e-6):
    """Compares two arrays of numbers element by element; AssertionError names the first difference and their number."""
    def flat(value):
        if hasattr(value, "ravel"):
            return value.ravel().tolist()
        return list(value)

    a, b = flat(actual), flat(expected)
    if len(a) != len(b):
        raise AssertionError(f"expected {len(b)} elements, got {len(a)}")
    wrong = [i for i, (x, y) in enumerate(zip(a, b)) if not (x == y or (math.isnan(x) and math.isnan(y)) or abs(x - y) <= atol + rtol * abs(y))]
    if wrong:
        i = wrong[0]
        raise AssertionError(f"{len(wrong)} of {len(a)} elements differ: element {i} is {a[i]}, expected {b[i]}")
