"""The programs of the wheel, as entry points: they replace the Python process."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def _toolkit():
    if any(os.environ.get(name) for name in ("CUTE_CUDA_PATH", "CUDA_TOOLKIT_PATH")):
        return None
    folder = os.path.dirname(HERE)
    return folder if os.path.exists(os.path.join(folder, "nvidia/cu13/bin/ptxas")) else None


def main():
    name = os.path.basename(sys.argv[0])
    folder = _toolkit()
    if folder:
        os.environ["CUTE_CUDA_PATH"] = folder
    path = os.path.join(HERE, "bin", name)
    libraries = os.path.join(HERE, "lib")
    others = os.environ.get("LD_LIBRARY_PATH")
    os.environ["LD_LIBRARY_PATH"] = f"{libraries}:{others}" if others else libraries
    os.execv(path, [name, *sys.argv[1:]])
