"""Products of matrices without a kernel of one's own, or with one: cute/gemm.h."""
import contextlib
import ctypes
import os
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint64, c_void_p

from . import _library
from ._arrays import array_of
from ._library import Error, call, make


class _Value(ctypes.Structure):
    """cute_gemm_value"""

    _fields_ = [("name", c_char_p), ("value", c_double)]


class _Problem(ctypes.Structure):
    """cute_gemm_problem"""

    _fields_ = [("size", c_size_t), ("m", c_int64), ("n", c_int64), ("k", c_int64), ("type_a", c_char_p), ("type_b", c_char_p),
                ("type_d", c_char_p), ("accumulate", c_char_p), ("order_a", c_int), ("order_b", c_int), ("order_d", c_int),
                ("ld_a", c_int64), ("ld_b", c_int64), ("ld_c", c_int64), ("ld_d", c_int64), ("batch", c_int64),
                ("stride_a", c_int64), ("stride_b", c_int64), ("stride_c", c_int64), ("stride_d", c_int64), ("alpha", c_double),
                ("beta", c_double), ("bias", c_bool), ("activation", c_int), ("align", c_int64), ("epilogue", c_char_p),
                ("values", POINTER(_Value)), ("value_count", c_size_t)]


class _Options(ctypes.Structure):
    """The first fields of cute_gemm_options."""

    _fields_ = [("size", c_size_t), ("device", c_void_p), ("arch", c_char_p), ("multiprocessors", c_int64), ("compiler", c_void_p),
                ("configuration", c_char_p), ("cache", c_char_p), ("module", c_void_p), ("source", c_char_p),
                ("source_length", c_size_t), ("defines", POINTER(c_char_p)), ("define_count", c_size_t), ("function", c_char_p)]


class _Named(ctypes.Structure):
    """cute_gemm_named"""

    _fields_ = [("name", c_char_p), ("address", c_uint64)]


class _Operands(ctypes.Structure):
    """cute_gemm_operands"""

    _fields_ = [("size", c_size_t), ("a", c_uint64), ("b", c_uint64), ("c", c_uint64), ("d", c_uint64), ("bias", c_uint64),
                ("workspace", c_uint64), ("stream", c_void_p), ("named", POINTER(_Named)), ("named_count", c_size_t)]


class _Array(ctypes.Structure):
    """cute_gemm_array"""

    _fields_ = [("name", c_char_p), ("data", c_void_p), ("bytes", c_size_t)]


class _ArrayInfo(ctypes.Structure):
    """cute_gemm_array_info"""

    _fields_ = [("size", c_size_t), ("name", c_char_p), ("type", c_char_p), ("rank", c_int), ("shape", c_int64 * 3),
                ("strides", c_int64 * 3), ("bytes", c_size_t), ("result", c_bool)]


class _Choice(ctypes.Structure):
    """The first fields of cute_gemm_choice."""

    _fields_ = [("size", c_size_t), ("configuration", c_char_p)]


_library.SIGNATURES.update({
    "cute_gemm_create": [POINTER(_Problem), c_size_t, POINTER(_Options), POINTER(c_void_p)],
    "cute_gemm_run": [c_void_p, POINTER(_Operands)],
    "cute_gemm_run_host": [c_void_p, POINTER(_Array), c_size_t],
    "cute_gemm_array_at": [c_void_p, c_size_t, POINTER(_ArrayInfo)],
    "cute_gemm_chosen": [c_void_p, c_size_t, POINTER(_Choice)],
    "cute_gemm_optimal_tile": [c_int64, c_int64, c_int64, c_char_p, POINTER(c_int64)],
})
ROWS, COLUMNS = 0, 1
LINEAR, RELU, GELU = 0, 1, 2
_ACTIVATIONS = {None: LINEAR, "relu": RELU, "gelu": GELU}
_TYPES = {"float16": "f16", "half": "f16", "bfloat16": "bf16", "float32": "f32", "float": "f32", "float64": "f64", "int8": "i8",
          "int32": "i32", "float8_e4m3fn": "e4m3", "float8_e5m2": "e5m2"}
_NUMPY = {"f32": "float32", "tf32": "float32", "f16": "float16", "i8": "int8", "i32": "int32"}
# Without ml_dtypes, whose types they have there, results are the bits.
_BITS = {"bf16": ("bfloat16", "uint16"), "e4m3": ("float8_e4m3fn", "uint8"), "e5m2": ("float8_e5m2", "uint8")}


def _type(dtype):
    """The name in launch.json(5) of a type by its name or NumPy's type."""
    if dtype is None:
        return None
    name = dtype if isinstance(dtype, str) else getattr(dtype, "__name__", None) or str(dtype)
    return _TYPES.get(name, name)


def _arch(arch):
    """'sm90' as 'sm_90a'."""
    if arch is None:
        return None
    arch = arch if "_" in arch else arch.replace("sm", "sm_", 1)
    return arch + "a" if arch in ("sm_90", "sm_100", "sm_103", "sm_120") else arch


def _numpy_type(name):
    import numpy
    if name in _NUMPY:
        return numpy.dtype(_NUMPY[name])
    scaled, bits = _BITS[name]
    try:
        import ml_dtypes
    except ImportError:
        return numpy.dtype(bits)
    return numpy.dtype(getattr(ml_dtypes, scaled))


@contextlib.contextmanager
def _toolkit():
    """The toolkit of NVIDIA's wheels for ptxas, which the library finds through the environment."""
    folder = _library.toolkit()
    if not folder:
        yield
        return
    os.environ["CUTE_CUDA_PATH"] = folder
    try:
        yield
    finally:
        del os.environ["CUTE_CUDA_PATH"]


def _destroy(plan):
    function = _library.cute.cute_gemm_destroy
    function.restype, function.argtypes = None, [c_void_p]
    function(plan)


class _View:
    """A matrix or a batch of them as the library describes it: order, leading dimension, distance."""

    def __init__(self, name, array, shape):
        if list(array.shape) != shape:
            raise Error(f"expected the shape {tuple(shape)} of '{name}', got {tuple(array.shape)}", 2)
        rows, columns = shape[-2:]
        row, column = array.strides[-2:]
        if column == 1 or columns == 1:
            self.order, self.ld = ROWS, (row if rows > 1 else columns)
        elif row == 1 or rows == 1:
            self.order, self.ld = COLUMNS, (column if columns > 1 else rows)
        else:
            raise Error(f"expected contiguous rows or columns of '{name}', got strides {tuple(array.strides)}: pass a copy", 2)
        self.stride = array.strides[0] if len(shape) == 3 and shape[0] > 1 else 0

    def key(self):
        return self.order, self.ld, self.stride


class Gemm:
    """D = act(alpha A B + beta C + bias), or an epilogue expression, on a device ("any", "emulator", "cuda:0", or a Device).

        gemm = cute_tools.Gemm(M, N, K, dtype_a="float16", dtype_c="float32")
        d = gemm(a, b)                                   # NumPy arrays: a new array
        gemm(a, b, out=d)                                # any arrays, such as PyTorch's on a GPU

        silu = cute_tools.Gemm(M, N, K, "bf16", dtype_c="bf16", epilogue="silu(acc[:, 0::2]) * acc[:, 1::2]")

    The kernel is chosen and compiled by the first call, or is the caller's: `compile` or `load_compiled`. dtype_c is the type of C and D.
    Types are named as NumPy's or as in launch.json(5). Without use_tma, kernels are chosen that copy by cp.async, as on sm_80. Matrices
    of the host or of a GPU have contiguous rows or columns; with a batch they have three dimensions. Used by one thread at a time."""

    def __init__(self, M, N, K, dtype_a="float16", dtype_b=None, dtype_c="float32", arch=None, use_tma=True, *, device="any", batch=1,
                 alpha=1.0, beta=0.0, bias=False, activation=None, epilogue=None, values=None, accumulate=None, configuration=None,
                 cache=None):
        if activation not in _ACTIVATIONS:
            raise Error(f"expected relu or gelu as the activation, got '{activation}'", 2)
        self.shape, self.batch = (M, N, K), batch
        self._types = _type(dtype_a), _type(dtype_b), _type(dtype_c)
        self._arch, self._use_tma, self._configuration, self._cache = _arch(arch), use_tma, configuration, cache
        self._device, self._own_device = device, isinstance(device, str)
        self._terms = {"alpha": alpha, "beta": beta, "bias": bias, "activation": _ACTIVATIONS[activation]}
        self._epilogue, self._values, self._accumulate = epilogue, dict(values or {}), accumulate
        self._kernel, self._plans = {}, {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_plans", None) and _library is not None:
            self.close()

    def close(self):
        """Releases the plans, and the device if it was given by its name."""
        for plan in self._plans.values():
            _destroy(plan)
        self._plans = {}
        if self._own_device and not isinstance(self._device, str):
            self._device.close()
            self._device = self._device.name

    def compile(self, mlir_code=None, *, function=None, define=None):
        """Compiles a product of the caller: MLIR whose host function `function` (None: its only one) has parameters A (m,k), B (n,k) and
        D (m,n), and C, bias, alpha and beta if the problem has them. None: the chosen kernel, for packed matrices by rows."""
        if mlir_code is None:
            self._plan({})
        else:
            text = mlir_code.encode() if isinstance(mlir_code, str) else bytes(mlir_code)
            defines = [f"{key}={value}".encode() for key, value in (define or {}).items()]
            self._use({"source": text, "defines": defines, "function": function})
        return self

    def load_compiled(self, module, *, function=None):
        """Uses a compiled product of the caller: the path or bytes of a cubin or PTX file, or a Module."""
        from . import Module
        if not isinstance(module, Module):
            label = "<image>" if isinstance(module, (bytes, bytearray, memoryview)) else os.fspath(module)
            try:
                module = Module(module if label == "<image>" else open(label, "rb").read(), label)
            except OSError as error:
                raise Error(f"cannot read '{label}': {error.strerror}", 1) from None
        self._use({"module": module, "function": function})
        return self

    def _use(self, kernel):
        """Matrices by rows, which also finds errors now."""
        previous, self._kernel = self._kernel, kernel
        plans, self._plans = self._plans, {}
        try:
            self._plan({})
        except Error:
            self._kernel, self._plans = previous, plans
            raise
        for plan in plans.values():
            _destroy(plan)

    @staticmethod
    def get_optimal_tile_size(M, N, K, arch=None):
        """(tile_m, tile_n, tile_k) that is chosen for f16 matrices."""
        tile = (c_int64 * 3)()
        name = _arch(arch)
        call("cute_gemm_optimal_tile", M, N, K, name.encode() if name else None, tile)
        return tuple(tile)

    @property
    def configuration(self):
        """The name of the chosen configuration, or of the caller's function."""
        choice = _Choice(size=ctypes.sizeof(_Choice))
        call("cute_gemm_chosen", self._plan({}), 0, byref(choice))
        return choice.configuration.decode()

    def _open(self):
        from . import Device
        if isinstance(self._device, str):
            name = self._device
            self._device = Device(name)
            self._device.name = name
        return self._device

    def _problem(self, views):
        m, n, k = self.shape
        types = [name.encode() if name else None for name in self._types]
        text = self._epilogue.encode() if self._epilogue is not None else None
        values = (_Value * len(self._values))(*[_Value(key.encode(), value) for key, value in self._values.items()])
        p = _Problem(size=ctypes.sizeof(_Problem), m=m, n=n, k=k, type_a=types[0], type_b=types[1], type_d=types[2],
                     accumulate=self._accumulate.encode() if self._accumulate else None, batch=self.batch, epilogue=text,
                     values=values, value_count=len(values), **self._terms)
        for name, view in views.items():
            low = name.lower()
            setattr(p, f"order_{'d' if low == 'c' else low}", view.order)
            setattr(p, f"ld_{low}", view.ld)
            setattr(p, f"stride_{low}", view.stride)
        return p

    def _create(self, problem, device, arch, configuration):
        options = _Options(size=ctypes.sizeof(_Options), device=device.handle if device else None, arch=arch.encode() if arch else None,
                           compiler=_compiler(), configuration=configuration,
                           cache=os.fspath(self._cache).encode() if self._cache is not None else None)
        module, source = self._kernel.get("module"), self._kernel.get("source")
        defines = self._kernel.get("defines") or []
        if module:
            options.module = module.handle
        if source is not None:
            options.source, options.source_length = source, len(source)
            options.defines, options.define_count = (c_char_p * len(defines))(*defines), len(defines)
        if self._kernel.get("function"):
            options.function = self._kernel["function"].encode()
        with _toolkit():
            return make("cute_gemm_create", byref(problem), 1, byref(options))

    def _plan(self, views):
        """The plan for these layouts of A, B, C and D; packed rows for those that are not given."""
        key = tuple((name, view.key()) for name, view in sorted(views.items()))
        if key not in self._plans:
            problem, configuration = self._problem(views), self._configuration and self._configuration.encode()
            if not self._use_tma and not configuration and not self._kernel:
                plain = self._create(problem, None, "sm_80", None)
                choice = _Choice(size=ctypes.sizeof(_Choice))
                call("cute_gemm_chosen", plain, 0, byref(choice))
                configuration = bytes(choice.configuration)
                _destroy(plain)
            self._plans[key] = self._create(problem, self._open(), self._arch, configuration)
        return self._plans[key]

    def _infos(self, plan):
        infos = []
        while True:
            info = _ArrayInfo(size=ctypes.sizeof(_ArrayInfo))
            try:
                call("cute_gemm_array_at", plan, len(infos), byref(info))
            except Error:
                return infos
            infos.append(info)

    def __call__(self, A, B, *, out=None, **operands):
        """Runs the product on arrays with the operands' names (C, bias, or those of the epilogue) and waits for it. `out`: the array of D,
        or a dict of all results by name; None: new NumPy arrays. Returns D, or a dict if there are several results."""
        given = {"A": A, "B": B, **operands}
        results = {} if out is None else dict(out) if isinstance(out, dict) else {"D": out}
        arrays = {}
        for name, value in {**given, **results}.items():
            array = array_of(value)
            if array is None:
                raise Error(f"expected an array for '{name}', got {type(value).__name__}", 2)
            arrays[name] = array
        m, n, k = self.shape
        lead = [self.batch] if self.batch > 1 else []
        plain = self._epilogue is None
        extents = {"A": [m, k], "B": [k, n], **({"C": [m, n], "D": [m, n]} if plain else {})}
        views = {name: _View(name, arrays[name], lead + extent) for name, extent in extents.items() if name in arrays}
        if "C" in views and "D" in views and views["C"].order != views["D"].order:
            raise Error("expected C and D of the same order: both by rows, or both by columns", 2)
        plan = self._plan(views)
        infos = self._infos(plan)
        for info in infos:
            name = info.name.decode()
            if info.result and name not in results and out is None:
                results[name] = self._new(info)
                arrays[name] = array_of(results[name])
        self._run(plan, infos, arrays)
        return results["D"] if list(results) == ["D"] else results

    @staticmethod
    def _new(info):
        import numpy
        shape, strides = list(info.shape[:info.rank]), list(info.strides[:info.rank])
        dtype = _numpy_type(info.type.decode())
        flat = numpy.zeros(info.bytes // dtype.itemsize, dtype)
        return numpy.lib.stride_tricks.as_strided(flat, shape, [s * dtype.itemsize for s in strides]) if shape else flat.reshape(())

    def _run(self, plan, infos, arrays):
        from . import _same_type
        known = {info.name.decode(): info for info in infos}
        for name, array in arrays.items():
            info = known.get(name)
            if info is None:
                raise Error(f"the product has no array '{name}': expected {', '.join(known)}", 2)
            shape, strides = list(info.shape[:info.rank]), list(info.strides[:info.rank])
            if not _same_type(info.type.decode(), array.dtype):
                raise Error(f"expected elements of {info.type.decode()} for '{name}', got {array.dtype}", 2)
            if array.shape != shape and not (info.rank == 0 and array.bytes == info.bytes):
                raise Error(f"expected the shape {tuple(shape)} of '{name}', got {tuple(array.shape)}", 2)
            if any(n > 1 and s != t for n, s, t in zip(shape, strides, array.strides)):
                raise Error(f"expected strides {tuple(strides)} of '{name}', got {tuple(array.strides)}: pass a copy", 2)
        missing = [name for name in known if name not in arrays]
        if missing:
            raise Error(f"expected an array '{missing[0]}', got none", 2)
        device, on_gpu = self._open(), {array.on_gpu for array in arrays.values()}
        if len(on_gpu) > 1:
            raise Error("expected all arrays on the host or all on a GPU, got both", 2)
        before = device._errors()
        if on_gpu == {False}:
            list_ = (_Array * len(arrays))(*[_Array(name.encode(), array.address, known[name].bytes) for name, array in arrays.items()])
            text = call("cute_gemm_run_host", plan, list_, len(list_))
        elif device.kind == "emulator":
            raise Error("expected arrays in memory of the host for the emulator, got them on a GPU", 2)
        else:
            text = self._run_on_gpu(plan, device, arrays)
        if device._errors() > before:
            raise Error(text or "the emulator's checks found errors")

    def _run_on_gpu(self, plan, device, arrays):
        named = (_Named * len(arrays))(*[_Named(name.encode(), array.address) for name, array in arrays.items()])
        own = {name: arrays[key].address for key, name in (("A", "a"), ("B", "b"), ("C", "c"), ("D", "d"), ("bias", "bias")) if key in arrays}
        size = _library.cute.cute_gemm_workspace
        size.restype, size.argtypes = c_size_t, [c_void_p]
        workspace = c_uint64()
        if size(plan):
            call("cute_device_alloc", device.handle, size(plan), byref(workspace))
        try:
            operands = _Operands(size=ctypes.sizeof(_Operands), workspace=workspace, named=named, named_count=len(named), **own)
            text = call("cute_gemm_run", plan, byref(operands))
            call("cute_device_sync", device.handle)
        finally:
            if workspace.value:
                call("cute_device_free", device.handle, workspace)
        return text


def _compiler():
    function = _library.compiler_library().cute_compiler_gemm
    function.restype = c_void_p
    return function()
