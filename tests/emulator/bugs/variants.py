#!/usr/bin/env python3
"""The TMA + wgmma GEMM of tests/emulator/cuda, each time with one thing wrong in the PTX that nvcc made of it, and what
the checks have to say of which source line: variants.py CUTE_RUN PTX. Prints a line a variant; exit code 1 if one is
missed, or anything is reported on the kernel as it is."""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CUDA = os.path.join(HERE, "..", "cuda")
SOURCE = open(os.path.join(CUDA, "tma_wgmma.cu")).read().splitlines()


def lines_of(text):
    """Those of the statement that has it."""
    first = next(n for n, s in enumerate(SOURCE) if text in s)
    last = next(n for n in range(first, len(SOURCE)) if ");" in SOURCE[n])
    return range(first + 1, last + 2)


WAIT, LOAD, BOTH = map(lines_of, ("mbarrier.try_wait", "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0]",
                                  "complete_tx::bytes.multicast"))
PRODUCT, STORE, EXPECT, EMPTY = map(lines_of, ("wgmma.mma_async", "2d.global.shared::cta", "arrive.expect_tx", "arrive.release.cluster"))
CLUSTER = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;"

# name, what is replaced (everywhere), by what, what is said, at which of these lines
VARIANTS = [
    ("as it is", "", "", None, None),
    ("no fence before the first product", r"wgmma\.fence\.sync\.aligned;", "", "race: wgmma uses", [PRODUCT]),
    ("products are not waited for", r"wgmma\.wait_group\.sync\.aligned 0;", "", "race: cp writes .* asynchronous operation", [LOAD, BOTH]),
    ("one group of products is left", r"wgmma\.wait_group\.sync\.aligned 0;", "wgmma.wait_group.sync.aligned 1;", "race: cp writes", [LOAD, BOTH]),
    ("products are not committed", r"wgmma\.commit_group\.sync\.aligned;", "", "race: cp writes", [LOAD, BOTH]),
    ("no proxy fence before the store", r"fence\.proxy\.async\.shared::cta;", "", "race: cp reads through the async proxy", [STORE]),
    ("no barrier before the store", r"bar\.sync 1, 256;", "", "race: cp reads", [STORE]),
    ("a barrier for half of the writers", r"bar\.sync 1, 256;", "bar.sync 1, 128;", "race: cp reads", [STORE]),
    ("the store is not waited for", r"cp\.async\.bulk\.wait_group 0;", "", "race: cp reads shared memory of its block", [STORE]),
    ("blocks do not meet before they use each other's mbarriers", re.escape(CLUSTER), "bar.sync 0;", "race: cp", [BOTH]),
    ("blocks do not meet at the end", r"barrier\.cluster\.arrive;\nbarrier\.cluster\.wait;", "", "race: .* of the cluster, which may already have exited", [EMPTY, BOTH]),
    ("one of four readers is not waited for", r"(mbarrier\.init\S* \[%r\d+\]), 4;", r"\1, 3;", "race: cp writes", [LOAD, BOTH]),
    ("a reader too many is waited for", r"(mbarrier\.init\S* \[%r\d+\]), 4;", r"\1, 5;", "deadlock", [WAIT]),
    ("mbarriers are not made known to the copies", r"fence\.mbarrier_init\.release\.cluster;", "", "race: cp completes", [LOAD, BOTH]),
    ("2 bytes too few are expected", r"(mov\.u32\s+%r\d+), 24576;", r"\1, 24574;", "barrier: the current phase .* expects 24574 bytes, ", [EXPECT]),
    ("the descriptor names the 64-byte swizzle", r"4611686293305360384|0x4000004000010000", "-9223371761976868864", "swizzle: wgmma", [PRODUCT]),
    ("the phase before is waited for", r"(mbarrier\.try_wait\S* p, \[%r\d+\], %r)(\d+);", None, "deadlock|race: wgmma reads", [WAIT, PRODUCT]),
    ("full tiles are not waited for", r"mbarrier\.try_wait\.parity\.shared::cta\.b64 p, \[%r\d+\], %r\d+;", "setp.eq.u32 p, 0, 0;", "race: wgmma reads .* no intervening wait", [PRODUCT]),
]


def check(variant, run, ptx, folder):
    name, old, new, said, lines = variant
    text, count = re.subn(old, new, ptx) if old and new is not None else (ptx, 1)
    if new is None:  # the other parity
        text, count = re.subn(old, lambda m: f"xor.b32 %flip, %r{m[2]}, 1;\n{m[1][:-2]}%flip;", ptx)
        text = text.replace(".reg .b32", ".reg .b32 %flip;\n\t.reg .b32", 1)
    if not count:
        return name, "", "skip"
    path = os.path.join(folder, re.sub(r"\W", "_", name) + ".ptx")
    open(path, "w").write(text)
    config = os.path.join(CUDA, "tma_wgmma.json")
    r = subprocess.run([run, path, "--config", config, "--device", "emulator", "--check=all", "--strict", "-o", path + ".out", "-D", "k=512",
                        "--no-check"], capture_output=True, text=True)
    if said is None:
        return name, "" if r.returncode == 0 else "reported", r.stderr if r.returncode else ""
    # A message, then its notes: the source line stands in the first one.
    for message in re.split(r"^(?=.*error: )", r.stderr, flags=re.M):
        if re.search(f"error: ({said})", message) and any(f"tma_wgmma.cu:{n}:" in message for part in lines for n in part):
            return name, "", ""
    return name, "missed", r.stderr


def main():
    run, ptx = sys.argv[1], open(sys.argv[2]).read()
    failed = False
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, problem, output in pool.map(lambda v: check(v, run, ptx, folder), VARIANTS):
            print(f"{name}: {problem or (output and 'nothing to replace in this PTX') or 'ok'}")
            if problem:
                failed = True
                print("".join("    " + s + "\n" for s in output.splitlines()[:12]))
    sys.exit(failed)


main()
