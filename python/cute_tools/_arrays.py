"""Arrays of other packages as addresses: NumPy and its interface, DLPack, the buffer protocol, CUDA's array interface."""
import ctypes
from ctypes import POINTER, c_char_p, c_int32, c_int64, c_size_t, c_uint8, c_uint16, c_uint64, c_void_p

from ._library import Error

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13


class DLTensor(ctypes.Structure):
    _fields_ = [("data", c_void_p), ("device_type", c_int32), ("device_id", c_int32), ("ndim", c_int32),
                ("code", c_uint8), ("bits", c_uint8), ("lanes", c_uint16), ("shape", POINTER(c_int64)),
                ("strides", POINTER(c_int64)), ("byte_offset", c_uint64)]


_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_pointer.restype = c_void_p
_pointer.argtypes = [ctypes.py_object, c_char_p]

_DLPACK = {(2, 64): "f64", (2, 32): "f32", (2, 16): "f16", (4, 16): "bf16", (10, 8): "e4m3", (12, 8): "e5m2",
           (6, 8): "i1", (0, 8): "i8", (0, 16): "i16", (0, 32): "i32", (0, 64): "i64", (1, 8): "u8",
           (1, 16): "u16", (1, 32): "u32", (1, 64): "u64"}
_KINDS = {"f": "f", "i": "i", "u": "u", "b": "i"}
_FORMATS = {"d": "f64", "f": "f32", "e": "f16", "?": "i1", "b": "i8", "B": "u8", "c": "u8", "h": "i16", "H": "u16",
            "i": "i32", "I": "u32", "l": "i64", "L": "u64", "q": "i64", "Q": "u64"}
_BYTES = {"f64": 8, "f32": 4, "f16": 2, "bf16": 2, "e4m3": 1, "e5m2": 1, "i1": 1, "i8": 1, "u8": 1, "i16": 2,
          "u16": 2, "i32": 4, "u32": 4, "i64": 8, "u64": 8}


class Array:
    """Where an array is: address, element type, shape and strides in elements. `keep` keeps it alive."""

    def __init__(self, address, dtype, shape, strides, on_gpu, keep):
        self.address, self.dtype, self.on_gpu, self.keep = address, dtype, on_gpu, keep
        self.shape = [int(n) for n in shape]
        if strides is None:
            strides, step = [], 1
            for extent in reversed(self.shape):
                strides.insert(0, step)
                step *= extent
        self.strides = [int(s) for s in strides]
        if any(stride < 0 for stride in self.strides):
            raise Error("arrays with negative strides are unsupported: expected a copy", 2)
        empty = any(extent == 0 for extent in self.shape)
        span = 0 if empty else 1 + sum((n - 1) * s for n, s in zip(self.shape, self.strides))
        self.bytes = span * _BYTES[dtype]


def _from_interface(value, interface, on_gpu):
    kind, size = interface["typestr"][1], int(interface["typestr"][2:])
    dtype = "i1" if kind == "b" else f"{_KINDS.get(kind, '?')}{8 * size}"
    if dtype not in _BYTES or interface["typestr"][0] == ">":
        raise Error(f"unsupported element type '{interface['typestr']}'", 2)
    strides = interface.get("strides")
    if strides is not None:
        if any(s % size for s in strides):
            raise Error("expected strides that are multiples of an element", 2)
        strides = [s // size for s in strides]
    return Array(interface["data"][0], dtype, interface["shape"], strides, on_gpu, value)


def _from_dlpack(value):
    capsule = value.__dlpack__()
    tensor = ctypes.cast(_pointer(capsule, b"dltensor"), POINTER(DLTensor)).contents
    if tensor.device_type not in (CPU, CUDA, CUDA_HOST, CUDA_MANAGED):
        raise Error(f"expected an array of the CPU or of CUDA, got DLPack's device type {tensor.device_type}", 2)
    dtype = _DLPACK.get((tensor.code, tensor.bits))
    if dtype is None or tensor.lanes != 1:
        raise Error(f"unsupported element type: DLPack's type code {tensor.code} with {tensor.bits} bits", 2)
    shape = tensor.shape[:tensor.ndim]
    strides = tensor.strides[:tensor.ndim] if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    return Array(address, dtype, shape, strides, tensor.device_type in (CUDA, CUDA_MANAGED), (value, capsule))


def _from_buffer(value):
    view = memoryview(value)
    dtype = _FORMATS.get(view.format.lstrip("@=<"))
    if dtype is None or _BYTES[dtype] != view.itemsize:
        raise Error(f"unsupported element type '{view.format}'", 2)
    if view.readonly:
        raise Error("expected an array that can be written, got a read-only one", 2)
    byte = (ctypes.c_char * view.nbytes).from_buffer(value) if view.nbytes else None
    address = ctypes.addressof(byte) if byte is not None else 0
    return Array(address, dtype, view.shape, [s // view.itemsize for s in view.strides], False, (value, byte))


def array_of(value):
    """The array `value`; None: it is a number or something else."""
    if hasattr(value, "__cuda_array_interface__"):
        return _from_interface(value, value.__cuda_array_interface__, True)
    if hasattr(value, "__array_interface__") and getattr(value, "shape", None) is not None and not isinstance(value, (int, float)):
        return _from_interface(value, value.__array_interface__, False)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value)
    try:
        memoryview(value)
    except TypeError:
        return None
    return _from_buffer(value)
