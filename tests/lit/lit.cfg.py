# Configuration of the lit tests: MLIR files with RUN lines, run with the built tools.
import os

import lit.formats

build = lit_config.params.get("build", "build")
llvm = lit_config.params.get("llvm", "/usr/lib/llvm-19")

config.name = "cute"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), os.path.join(llvm, "bin"), config.environment.get("PATH", "")])
for name in ("CUTE_CUDA_PATH", "CUDA_HOME", "CUDA_PATH", "ARCH", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TMPDIR"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("gpu")
config.substitutions += [("%build", build), ("%llvm", llvm)]
# Its name since LLVM 20.
if os.path.exists(os.path.join(llvm, "bin", "mlir-runner")):
    config.substitutions.append((r"\bmlir-cpu-runner\b", "mlir-runner"))
