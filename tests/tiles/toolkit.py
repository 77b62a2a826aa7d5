"""libcute in this process: compiles MLIR and runs a launch on the emulator, through its C interface (include/cute)."""
import ctypes as c
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class EmulatorOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("seed", c.c_int64), ("threads", c.c_int64), ("timeout", c.c_double), ("patience", c.c_double),
                ("checks", c.c_uint32), ("counters", c.c_bool), ("print", c.c_void_p), ("heartbeat", c.c_void_p), ("context", c.c_void_p),
                ("multiprocessors", c.c_int64), ("allow", c.c_void_p), ("allow_count", c.c_size_t)]


class LaunchOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("defines", c.c_void_p), ("define_count", c.c_size_t), ("kernel", c.c_char_p), ("has_seed", c.c_bool),
                ("seed", c.c_int64), ("timeout", c.c_double), ("device", c.c_char_p), ("emulator", c.POINTER(EmulatorOptions)),
                ("module_label", c.c_char_p), ("bench", c.c_int), ("no_check", c.c_bool), ("dry_run", c.c_bool), ("in_process", c.c_bool),
                ("stdout_is_data", c.c_bool), ("output_folder", c.c_char_p), ("plans", c.c_void_p), ("tensors", c.c_void_p),
                ("checks", c.c_void_p), ("plan_count", c.c_size_t), ("tensor_count", c.c_size_t), ("check_count", c.c_size_t),
                ("multiprocessors", c.c_int64), ("trace", c.c_bool)]


def all_checks():
    """CUTE_CHECK_ALL | CUTE_CHECK_STRICT of cute/checks.h."""
    bits = 1 << 16
    with open(f"{ROOT}/include/cute/checks.def") as f:
        for text in re.findall(r"^CHECK\(\w+, ([^,]+),", f.read(), re.M):
            bits |= eval(text)
    return bits


class Toolkit:
    def __init__(self, build):
        self.base = c.CDLL(f"{build}/libcute.so", mode=c.RTLD_GLOBAL)
        self.compiler = c.CDLL(f"{build}/libcute-compiler.so")
        for library, name, result in ((self.base, "cute_diag_create", c.c_void_p), (self.base, "cute_diag_render", c.c_void_p),
                                      (self.compiler, "cute_compiled_text", c.c_void_p)):
            getattr(library, name).restype = result
        self.libc = c.CDLL(None)
        self.checks = all_checks()

    def _said(self, diag):
        text = self.base.cute_diag_render(c.c_void_p(diag), 0, False)
        said = c.string_at(text).decode(errors="replace") if text else ""
        self.libc.free(c.c_void_p(text))
        return said

    def compile(self, label, source, **options):
        """(PTX of the first module, messages); no PTX after an error. A list sets an option several times."""
        diag = self.base.cute_diag_create()
        compiler, compiled, ptx = c.c_void_p(), c.c_void_p(), None
        status = self.compiler.cute_compiler_create(c.byref(compiler), c.c_void_p(diag))
        for name, value in ((n, v) for n, vs in options.items() for v in (vs if isinstance(vs, list) else [vs])):
            if value and not status:
                status = self.compiler.cute_compiler_set(compiler, name.encode(), str(value).encode(), c.c_void_p(diag))
        text = source.encode()
        if not status:
            status = self.compiler.cute_compiler_run(compiler, label.encode(), text, c.c_size_t(len(text)), c.byref(compiled), c.c_void_p(diag))
        if not status:
            length = c.c_size_t()
            at = self.compiler.cute_compiled_text(compiled, c.c_size_t(0), c.byref(length))
            ptx = c.string_at(at, length.value)
        self.compiler.cute_compiled_destroy(compiled)
        self.compiler.cute_compiler_destroy(compiler)
        said = self._said(diag)
        self.base.cute_diag_destroy(c.c_void_p(diag))
        return ptx, said

    def run(self, label, ptx, launch, folder, seed, multiprocessors=0, output=None):
        """(whether all checks and comparisons pass, messages) of a launch.json on the emulator."""
        diag = self.base.cute_diag_create()
        module, opened = c.c_void_p(), c.c_void_p()
        emulator = EmulatorOptions(size=c.sizeof(EmulatorOptions), seed=seed, checks=self.checks)
        options = LaunchOptions(size=c.sizeof(LaunchOptions), has_seed=True, seed=seed, device=b"emulator", emulator=c.pointer(emulator),
                                in_process=True, multiprocessors=multiprocessors, output_folder=output and output.encode())
        status = self.base.cute_module_open(label.encode(), ptx, c.c_size_t(len(ptx)), None, c.byref(module), c.c_void_p(diag))
        if not status:
            text = launch.encode()
            status = self.base.cute_launch_open(b"launch.json", text, c.c_size_t(len(text)), folder.encode(), module, c.byref(options),
                                                c.byref(opened), c.c_void_p(diag))
        if not status:
            status = self.base.cute_launch_run(opened, c.c_void_p(diag))
        self.base.cute_launch_close(opened)
        self.base.cute_module_close(module)
        said = self._said(diag)
        self.base.cute_diag_destroy(c.c_void_p(diag))
        return status == 0, said
