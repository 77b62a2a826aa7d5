#!/usr/bin/env python3
"""Hopper modules printed by CuTe DSL, compiled and run: GEMM in f16 and bf16, and attention.

    tests/import/hopper.py BIN FOLDER [NAME...]             on the emulator with all checks, five sizes each; prints TAP
    tests/import/hopper.py BIN FOLDER --write OUT [NAME...] only NAME/k.cubin, launch.json (integers), normal.json in OUT, and
                                                            OUT/sizes.txt, a line a run: NAME and -D options"""
import copy
import json
import math
import os
import subprocess
import sys
import tempfile

from variants import other_float

FUNCTION = "cutlass___call"  # the names go on
EPSILON = {"f16": 2.0**-10, "bf16": 2.0**-7}


def gemm(major, persistent):
    """(M,K,L) x (N,K,L) = (M,N,L), each contiguous along K, K, N or M, N, M."""
    def launch(dtype):
        strides = {"k": [["K", 1, "M*K"], ["K", 1, "N*K"], ["N", 1, "M*N"]],
                   "mn": [[1, "M", "M*K"], [1, "N", "N*K"], [1, "M", "M*N"]]}[major]
        shapes = [["M", "K", "L"], ["N", "K", "L"], ["M", "N", "L"]]
        plan = {"function": FUNCTION, "args": {"arg0": "a", "arg1": "b", "arg2": "c"}}
        if persistent:  # what is printed has one block
            plan["grid"] = [1, 1, "sms"]
        buffers = {name: {"shape": shape, "strides": stride} for name, shape, stride in zip("abc", shapes, strides)}
        for name in "ab":
            buffers[name]["init"] = {"integers": [-2, 2]}
        check = {"einsum": "mkl,nkl->mnl", "operands": ["a", "b"], "epilogue": f"{dtype}(x)", "atol": 1e-3, "rtol": EPSILON[dtype]}
        if dtype == "bf16":
            check["atol"] = 8e-3
        return {"plan": plan, "params": {"M": 264, "N": 136, "K": 72, "L": 2}, "buffers": buffers, "check": {"c": check},
                "bench": {"flops": "2*M*N*K*L"}}
    return launch


def attention(dtype):
    """Q, O (s,d,r,h,b), K, V (t,d,1,h,b), r heads of Q share one of K; LSE (s,1,r,h,b). The kernel has no mask: whole tiles of keys."""
    this = "HopperFusedMultiHeadAttentionForward"
    names = ["q", "k", "v", "o", "lse", "SC2", "SC", "SO"]
    q = {"shape": ["SQ", 128, "HR", "HK", "B"], "strides": ["128*HR*HK", 1, 128, "128*HR", "128*HR*HK*SQ"]}
    k = {"shape": ["SK", 128, 1, "HK", "B"], "strides": ["128*HK", 1, 128, 128, "128*HK*SK"]}
    lse = {"shape": ["SQ", 1, "HR", "HK", "B"], "strides": [1, 1, "SQ", "SQ*HR", "SQ*HR*HK"]}
    score = "SC*sum(e,128,q[s,e,r,h,b]*k[t,e,0,h,b])"
    tolerance = {"atol": 4e-3 if dtype == "f16" else 3e-2, "rtol": 4 * EPSILON[dtype]}
    return {"plan": {"function": FUNCTION, "args": {f"{this}_{i}" if i else this: name for i, name in enumerate(names)}},
            "params": {"B": 1, "HR": 1, "HK": 2, "SQ": 130, "SK": 128, "SC": 1 / math.sqrt(128),
                       "SC2": math.log2(math.e) / math.sqrt(128), "SO": 1.0},
            "buffers": {"q": {**q, "init": "normal"}, "k": {**k, "init": "normal"}, "v": {**k, "init": "normal"}, "o": q, "lse": lse},
            "check": {"o": {"expr": f"SO*sum(t,SK,exp({score})*v[t,d,0,h,b])/sum(t,SK,exp({score}))",
                            "index": ["s", "d", "r", "h", "b"], "sample": 500, **tolerance},
                      "lse": {"expr": f"log(sum(t,SK,exp({score})))", "index": ["s", "z", "r", "h", "b"], "sample": 100,
                              **tolerance}},
            "bench": {"flops": "4*SQ*SK*128*HR*HK*B"}}


# Strides are multiples of 16 bytes, as TMA wants them; M, N, K are none of the tile.
K_MAJOR = ["M=264 N=136 K=72 L=2", "M=1 N=8 K=8 L=1", "M=128 N=128 K=64 L=1", "M=77 N=392 K=200 L=1", "M=300 N=264 K=520 L=3"]
MN_MAJOR = ["M=264 N=136 K=72 L=2", "M=8 N=8 K=1 L=1", "M=64 N=64 K=64 L=1", "M=72 N=392 K=201 L=1", "M=304 N=264 K=515 L=3"]
KEYS = ["HR=1 HK=2 SQ=130 SK=128", "HR=1 HK=1 SQ=1 SK=256", "HR=2 HK=1 SQ=128 SK=384", "HR=3 HK=2 SQ=77 SK=128 B=2", "HR=1 HK=1 SQ=257 SK=640"]
# What the checks find in the printed kernels, with --strict, and is true of them, by line (docs/emulator-checks.md): the persistent
# ones end with a stage that they have acquired and that no copy fills; the product of blackwell_geforce waits for the stores of the
# tile before by one warp only, and gives a stage back by one lane for the ldmatrix of its warp; attention ends while its last
# stores read shared memory.
PERSISTENT = {"barrier@dense_gemm_persistent_0_.mlir:1045"}
GEFORCE = {"barrier@dense_gemm_0_.mlir:3551", *(f"race@dense_gemm_0_.mlir:{line}" for line in (2652, 3351, 3419))}
MODULES = {
    "dense_gemm": ("hopper/dense_gemm/dense_gemm_0_.mlir", gemm("k", False), K_MAJOR, set()),
    "dense_gemm_persistent": ("hopper/dense_gemm_persistent/dense_gemm_persistent_0_.mlir", gemm("k", True), K_MAJOR, PERSISTENT),
    "geforce_dense_gemm": ("blackwell_geforce/dense_gemm/dense_gemm_0_.mlir", gemm("mn", True), MN_MAJOR, GEFORCE),
    "fmha": ("hopper/fmha/fmha_0_with_loc.mlir", attention, KEYS, {"race@fmha.py:1181"}),
}


def compile_module(tools, source, cubin):
    """By a pipe of the three tools; what they say is raised."""
    pipe = f"'{tools}/cute-opt' '{source}' | '{tools}/cute-ptx' -arch sm_90a -lineinfo | '{tools}/cute-link' -o '{cubin}'"
    done = subprocess.run(f"set -o pipefail; {pipe}", shell=True, executable="/bin/bash", capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise ValueError(done.stderr[:600] or f"exit code {done.returncode}")


def write(tools, text, launch, dtype, folder, name):
    os.makedirs(folder, exist_ok=True)
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        file.write(text)
    compile_module(tools, f"{folder}/{name}", f"{folder}/k.cubin")
    config = launch(dtype)
    normal = copy.deepcopy(config)
    for buffer in normal["buffers"].values():
        if "init" in buffer:
            buffer["init"] = "normal"
    for name, value in (("launch", config), ("normal", normal)):
        with open(f"{folder}/{name}.json", "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1)


def places(report):
    """What --json says was found, as --allow takes it."""
    return {f"{f['check']}@{os.path.basename(f.get('file', 'k.cubin'))}:{f.get('line', f['ptx_line'])}"
            for f in json.loads(report)["kernel_checks"]["findings"]}


def main():
    tools, folder, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    out = rest[1] if rest[:1] == ["--write"] else None
    names = rest[2:] if out else rest
    numbers, failed = 0, 0

    def check(name, holds, why=""):
        nonlocal numbers, failed
        numbers += 1
        failed += not holds
        print(f"{'ok' if holds else 'not ok'} {numbers} - {name}")
        if not holds:
            print("".join(f"# {line}\n" for line in str(why).splitlines()), end="", flush=True)

    with tempfile.TemporaryDirectory() as scratch:
        lines = []
        for name, (path, launch, sizes, known) in MODULES.items():
            if names and name not in names:
                continue
            with open(f"{folder}/{path}", encoding="utf-8") as file:
                text = file.read()
            for dtype in ("f16", "bf16"):
                one = name if dtype == "f16" else f"{name}_{dtype}"
                where = f"{out or scratch}/{one}"
                try:
                    write(tools, text if dtype == "f16" else other_float(text), launch, dtype, where, os.path.basename(path))
                    check(f"{one} is compiled", True)
                except ValueError as error:
                    check(f"{one} is compiled", False, error)
                    continue
                found = set()
                for size in sizes:
                    options = [f"-D{d}" for d in size.split()]
                    lines.append(f"{one} {' '.join(options)}\n")
                    if out:
                        continue
                    allowed = [f"--allow={place}" for place in sorted(known)]
                    done = subprocess.run([f"{tools}/cute-run", "--device", "emulator", "--sms", "3", "--check=all", "--strict", *allowed,
                                           "--no-bench", "--json", f"{where}/k.cubin", "-c", f"{where}/launch.json", *options],
                                          capture_output=True, text=True, timeout=300)
                    results = json.loads(done.stdout)["checks"] if done.returncode == 0 else []
                    check(f"{one} of {size} is right, and nothing is found but what is known",
                          bool(results) and all(result["ok"] for result in results), done.stderr[:800])
                    found |= places(done.stdout) if results else set()
                if not out:
                    check(f"{one}: all that is known is found", found == known, f"found {sorted(found)}")
    if out:
        with open(f"{out}/sizes.txt", "w", encoding="utf-8") as file:
            file.writelines(lines)
    print(f"1..{numbers}\n# {numbers - failed} of {numbers}")
    return 1 if failed or not numbers else 0


if __name__ == "__main__":
    sys.exit(main())
