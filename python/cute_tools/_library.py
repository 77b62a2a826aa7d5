"""libcute and libcute-compiler through ctypes: handles, statuses and messages."""
import ctypes
import os
import sysconfig
from ctypes import POINTER, byref, c_bool, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Error(RuntimeError):
    """A message of the libraries, with places in the source; `status` is the exit code that a program has."""

    def __init__(self, text, status=1):
        super().__init__(text)
        self.status = status


class Launch(ctypes.Structure):
    """cute_device_launch"""

    _fields_ = [("size", c_size_t), ("grid", c_int64 * 3), ("block", c_int64 * 3), ("cluster", c_int64 * 3),
                ("dynamic_smem", c_int64), ("cooperative", c_bool), ("programmatic", c_bool), ("stream", c_void_p)]


class EmulatorOptions(ctypes.Structure):
    """The first fields of cute_emulator_options: later ones keep their defaults."""

    _fields_ = [("size", c_size_t), ("seed", c_int64), ("threads", c_int64), ("timeout", c_double),
                ("patience", c_double), ("checks", c_uint32), ("counters", c_bool), ("print", c_void_p),
                ("heartbeat", c_void_p), ("context", c_void_p), ("multiprocessors", c_int64)]


class Finding(ctypes.Structure):
    """The first fields of cute_finding."""

    ERROR = 0
    _fields_ = [("check", c_uint32), ("severity", c_int)]


def _load(name):
    """A library of the wheel, else an installed one."""
    for folder in (HERE / "lib", None):
        path = str(folder / name) if folder else name
        if folder is None or os.path.exists(path):
            return ctypes.CDLL(path, mode=ctypes.RTLD_GLOBAL)
    raise Error(f"{name} is missing", 3)


def _preload():
    """Libraries that libcute needs and that this machine may lack."""
    for path in sorted((HERE / "lib").glob("*.so*")):
        if not path.name.startswith("libcute"):
            ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def toolkit():
    """The folder of NVIDIA's wheels, the extra "cuda": None if it has no ptxas, or if the environment names a toolkit."""
    if any(os.environ.get(name) for name in ("CUTE_CUDA_PATH", "CUDA_TOOLKIT_PATH")):
        return None
    for folder in dict.fromkeys((HERE.parent, *map(Path, map(sysconfig.get_path, ("purelib", "platlib"))))):
        if (folder / "nvidia/cu13/bin/ptxas").exists():
            return str(folder)
    return None


_preload()
cute = _load("libcute.so.0")
_compiler = None
cute.cute_diag_create.restype = c_void_p
cute.cute_diag_render.restype = c_void_p
cute.cute_diag_render.argtypes = [c_void_p, c_int, c_bool]
cute.cute_diag_destroy.argtypes = [c_void_p]
_free = ctypes.CDLL(None).free
_free.argtypes = [c_void_p]

HANDLE = c_void_p
OUT = POINTER(c_void_p)
SIGNATURES = {
    "cute_compiler_create": [OUT],
    "cute_compiler_set": [HANDLE, c_char_p, c_char_p],
    "cute_compiler_run": [HANDLE, c_char_p, c_char_p, c_size_t, OUT],
    "cute_linker_create": [OUT],
    "cute_linker_set": [HANDLE, c_char_p, c_char_p],
    "cute_linker_add": [HANDLE, c_char_p, c_char_p, c_size_t],
    "cute_linker_link": [HANDLE],
    "cute_module_open": [c_char_p, c_char_p, c_size_t, c_char_p, OUT],
    "cute_device_open": [c_char_p, OUT],
    "cute_emulator_open": [POINTER(EmulatorOptions), OUT],
    "cute_emulator_register": [HANDLE, c_void_p, c_size_t],
    "cute_emulator_unregister": [HANDLE, c_void_p],
    "cute_device_load_module": [HANDLE, HANDLE, OUT],
    "cute_device_alloc": [HANDLE, c_size_t, POINTER(c_uint64)],
    "cute_device_free": [HANDLE, c_uint64],
    "cute_device_upload": [HANDLE, c_uint64, c_void_p, c_size_t],
    "cute_device_download": [HANDLE, c_void_p, c_uint64, c_size_t],
    "cute_device_sync": [HANDLE],
    "cute_arguments_create": [HANDLE, HANDLE, HANDLE, c_char_p, OUT],
    "cute_arguments_set_address": [HANDLE, c_char_p, c_uint64],
    "cute_arguments_set_integer": [HANDLE, c_char_p, c_int64],
    "cute_arguments_set_real": [HANDLE, c_char_p, c_double],
    "cute_arguments_set_memref": [HANDLE, c_char_p, c_uint64, c_int64, c_size_t, POINTER(c_int64), POINTER(c_int64)],
    "cute_arguments_set_bytes": [HANDLE, c_char_p, c_char_p, c_size_t],
    "cute_arguments_launch": [HANDLE, POINTER(Launch)],
    "cute_plan_open": [HANDLE, HANDLE, c_char_p, c_size_t, c_void_p, OUT],
    "cute_plan_set_buffer": [HANDLE, c_char_p, c_uint64],
    "cute_plan_set_workspace": [HANDLE, c_uint64],
    "cute_plan_start": [HANDLE, c_void_p],
}


def compiler_library():
    """libcute-compiler, which contains LLVM: loaded by the first compilation."""
    global _compiler
    if _compiler is None:
        _compiler = _load("libcute-compiler.so.0")
        _compiler.cute_compiled_text.restype = c_void_p
        _compiler.cute_compiled_text.argtypes = [c_void_p, c_size_t, POINTER(c_size_t)]
        _compiler.cute_compiled_destroy.argtypes = [c_void_p]
        _compiler.cute_compiler_destroy.argtypes = [c_void_p]
    return _compiler


def _message(diag):
    text = cute.cute_diag_render(diag, 0, False)
    value = ctypes.string_at(text).decode(errors="replace") if text else ""
    _free(text)
    return value.strip()


def call(name, *arguments):
    """Calls a function with a status; raises Error with its messages. Returns warnings and remarks as text."""
    library = compiler_library() if name.startswith("cute_compile") else cute
    function = getattr(library, name)
    function.argtypes = [*SIGNATURES[name], c_void_p]
    diag = cute.cute_diag_create()
    try:
        status = function(*arguments, diag)
        text = _message(diag)
    finally:
        cute.cute_diag_destroy(diag)
    if status:
        raise Error(text or f"{name} failed", status)
    return text


def make(name, *arguments):
    """A handle that a function makes."""
    handle = c_void_p()
    call(name, *arguments, byref(handle))
    return handle
