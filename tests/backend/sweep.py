#!/usr/bin/env python3
"""Compiles all arith, math, gpu and vector operations on every type (cases.py): accepted ones have to compile and pass
ptxas, rejected ones have to be an error at the operation's line, and nothing may crash.

    sweep.py TOOLS LLVM FOLDER [accepted|refused|covered]..."""
import concurrent.futures
import os
import re
import subprocess
import sys

import cases

TOOLS, LLVM, FOLDER = sys.argv[1:4]
failures = []


def fail(message):
    failures.append(message)


def tool(name, *arguments, **more):
    return subprocess.run([os.path.join(TOOLS, name), *arguments], capture_output=True, text=True, timeout=120, **more)


def write(name, lines):
    path = os.path.join(FOLDER, name + ".mlir")
    with open(path, "w") as f:
        f.write("gpu.module @m {\n" + "\n".join(lines) + "\n}\n")
    return path


# ---- what is accepted ----

def accept(name, group, arch):
    lines, places = cases.kernel(name, group)
    path = write(f"{name}.{arch}", lines)
    ptx = path[:-5] + ".ptx"
    made = tool("cute-ptx", "-arch", arch, path, "-o", ptx)
    if made.returncode == 3:
        return None  # no CUDA toolkit here
    if made.returncode:
        return f"{name} for {arch}: exit {made.returncode}\n{made.stderr[:2000]}"
    linked = tool("cute-link", ptx, "-o", path[:-5] + ".cubin")
    if linked.returncode and linked.returncode != 3:
        return f"{name} for {arch}: ptxas\n{linked.stderr[:2000]}"
    return None


def older(group):
    """What there is before sm_89: no 8-bit floats."""
    return [c for c in group if not any(f in t for f in cases.F8 for t in c.operands + c.results)]


def accepted():
    groups = list(cases.elementwise())
    work = [(n, g, "sm_90a") for n, g in groups]
    vectors = list(cases.vector())
    work += [("vector", vectors, "sm_90a")]
    gpu = list(cases.gpu())
    work += [(f"gpu_{i}", gpu[i::4], "sm_90a") for i in range(4)]
    # Scalars for the oldest and for the other backend too.
    scalars = [(n, g) for n, g in groups if "_2_" not in n]
    work += [(n, older(g), "sm_75") for n, g in scalars if n[-4:] in ("bf16", "_f16", "_i32")]
    work += [(n, g, "sm_100a") for n, g in scalars if n[-4:] in ("bf16", "E5M2", "_i64")]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for problem in pool.map(lambda w: accept(*w), work):
            if problem:
                fail(problem)
    return sum(len(g) for _, g, _ in work)


# ---- what is refused ----

def refused():
    groups = list(cases.refused()) + [cases.VECTOR_REFUSED]
    lines, wanted = [], []
    for n, group in enumerate(groups):
        own, places = cases.kernel(f"k{n}", group)
        wanted += [(len(lines) + p + 2, c) for p, c in zip(places, group)]
        lines += own
    path = write("refused", lines)
    made = tool("cute-ptx", path)
    if made.returncode != 1:
        fail(f"refused: exit {made.returncode}, expected 1\n{made.stderr[:2000]}")
    told = {int(m) for m in re.findall(r"refused\.mlir:(\d+):\d+: error: ", made.stderr)}
    for line, case in wanted:
        if line not in told:
            fail(f"refused: no error at line {line}: {case.line}")
    return len(wanted)


# ---- what there is ----

DIALECTS = {"arith": "Arith/IR/ArithOps.td", "math": "Math/IR/MathOps.td", "gpu": "GPU/IR/GPUOps.td",
            "vector": "Vector/IR/VectorOps.td"}


def registered(dialect):
    include = os.path.join(LLVM, "include")
    text = subprocess.run([os.path.join(LLVM, "bin", "mlir-tblgen"), "-gen-op-doc", "-I", include,
                           os.path.join(include, "mlir", "Dialect", DIALECTS[dialect])],
                          capture_output=True, text=True, check=True).stdout
    return set(re.findall(rf"^### `{dialect}\.([a-z0-9_.]+)`", text, re.M))


def covered():
    """No operation of the four dialects is forgotten here."""
    known = [c for _, g in cases.elementwise() for c in g] + list(cases.gpu()) + list(cases.vector())
    known += cases.VECTOR_REFUSED
    names = {c.name for c in known} | {"gpu." + n for n in cases.GPU_ELSEWHERE}
    names |= {"vector." + n for n in cases.VECTOR_ELSEWHERE}
    count = 0
    for dialect in DIALECTS:
        operations = registered(dialect)
        count += len(operations)
        if len(operations) < 30:
            fail(f"{dialect}: mlir-tblgen lists only {len(operations)} operations")
        for name in sorted(operations):
            if f"{dialect}.{name}" not in names:
                fail(f"{dialect}.{name} has no case")
    return count


for part in sys.argv[4:] or ["covered", "refused", "accepted"]:
    print(part, globals()[part]())
for message in failures:
    print(message)
sys.exit(bool(failures))
