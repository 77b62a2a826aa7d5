#!/usr/bin/env python3
"""Runs compiled arith, math, reductions and atomic updates on the emulator, and compares the results with Python.

    numeric.py TOOLS LLVM FOLDER [math|division|eights|reductions|atomics]...

CUTE_DEVICE=0 in the environment: run on GPU 0, without the emulator's checks."""
import json
import math
import os
import random
import struct
import subprocess
import sys

TOOLS, _, FOLDER = sys.argv[1:4]
DEVICE = os.environ.get("CUTE_DEVICE", "emulator")
failures = []
random.seed(7)

# ---- numbers as they lie in memory ----

CODES = {"f16": "e", "f32": "f", "f64": "d", "i1": "B", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "index": "q"}
DTYPES = {"index": "i64", "f8E4M3FN": "e4m3", "f8E5M2": "e5m2"}
DIGITS = {"f16": 11, "bf16": 8, "f32": 24, "f64": 53}
SMALLEST = {"f16": -24, "bf16": -133, "f32": -149, "f64": -1074}
WIDTH = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "index": 64}


def pack(t, values):
    if t == "bf16":
        return b"".join(struct.pack("<H", to_bf16(v)) for v in values)
    if t.startswith("f8"):
        return bytes(values)
    return struct.pack(f"<{len(values)}{CODES[t]}", *values)


def unpack(t, data):
    if t == "bf16":
        return [struct.unpack("<f", b"\0\0" + data[i:i + 2])[0] for i in range(0, len(data), 2)]
    if t.startswith("f8"):
        return list(data)
    return list(struct.unpack(f"<{len(data) // struct.calcsize(CODES[t])}{CODES[t]}", data))


def to_bf16(v):
    """Rounded to nearest even."""
    bits = struct.unpack("<I", struct.pack("<f", v))[0]
    if v != v:
        return 0x7fc0
    return (bits + 0x7fff + (bits >> 16 & 1)) >> 16


def rounded(t, v):
    return unpack(t, pack(t, [v]))[0]


def ulps(t, got, exact):
    """The error in units of the last place of `t` at `exact`."""
    if got == exact or (got != got and exact != exact):
        return 0
    if not (math.isfinite(got) and math.isfinite(exact)):
        return math.inf
    exponent = math.frexp(exact)[1] if exact else SMALLEST[t]
    return abs(got - exact) / 2.0 ** max(exponent - DIGITS[t], SMALLEST[t])


# ---- running ----

def launch(name, text, inputs, outputs, block, grid=1, check=None):
    """`inputs` and `outputs` are (name, type, values); an output's values are what it begins with. Gives their ends."""
    base = os.path.join(FOLDER, name)
    with open(base + ".mlir", "w") as f:
        f.write(text)
    buffers = {}
    for n, t, values in inputs + outputs:
        with open(f"{base}.{n}.in", "wb") as f:
            f.write(pack(t, values))
        buffers[n] = {"dtype": DTYPES.get(t, t), "shape": [len(values)], "init": {"raw": f"{base}.{n}.in"}}
    config = {"grid": grid, "block": block, "buffers": buffers, "args": [n for n, _, _ in inputs + outputs],
              "outputs": {n: {"raw": f"{name}.{n}.out"} for n, _, _ in outputs}}
    with open(base + ".json", "w") as f:
        json.dump(config, f)
    for command in ([os.path.join(TOOLS, "cute-ptx"), base + ".mlir", "-o", base + ".ptx"],
                    [os.path.join(TOOLS, "cute-run"), base + ".ptx", "-c", base + ".json", "-d", DEVICE, "-o",
                     FOLDER] + ([f"--check={check}"] if check and DEVICE == "emulator" else [])):
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        if done.returncode:
            failures.append(f"{name}: {os.path.basename(command[0])} exit {done.returncode}\n"
                            f"{(done.stderr + done.stdout)[:1500]}")
            return None
    results = []
    for n, t, values in outputs:
        with open(f"{base}.{n}.out", "rb") as f:
            results.append(unpack(t, f.read()))
    return results


def kernel(arguments, body):
    lines = "\n".join("    " + line for line in body)
    return (f"gpu.module @m {{\n  gpu.func @k({', '.join(arguments)}) kernel {{\n    %t = gpu.thread_id x\n{lines}\n"
            "    gpu.return\n  }\n}\n")


def elementwise(name, t, columns, operations, results=None):
    """Each operation, a line with {names of columns}, on each row; gives a list of results for each."""
    rows = len(next(iter(columns.values()))[1])
    arguments = [f"%{c}p: memref<{rows}x{ct}>" for c, (ct, _) in columns.items()]
    body = [f"%{c} = memref.load %{c}p[%t] : memref<{rows}x{ct}>" for c, (ct, _) in columns.items()]
    result = results or t
    total = rows * len(operations)
    for i, line in enumerate(operations):
        body += [f"%r{i} = {line}", f"%o{i} = arith.constant {i * rows} : index",
                 f"%a{i} = arith.addi %t, %o{i} : index", f"memref.store %r{i}, %out[%a{i}] : memref<{total}x{result}>"]
    text = kernel(arguments + [f"%out: memref<{total}x{result}>"], body)
    got = launch(name, text, [(c, ct, v) for c, (ct, v) in columns.items()], [("out", result, [0] * total)], rows)
    return [got[0][i * rows:(i + 1) * rows] for i in range(len(operations))] if got else None


# ---- math ----

def cbrt(x):
    return math.copysign(abs(x) ** (1 / 3), x) if abs(x) not in (1, 8) else math.copysign(round(abs(x) ** (1 / 3)), x)


def half_even(x):
    return float(round(x))


def half_away(x):
    return math.copysign(math.floor(abs(x) + 0.5), x)


# name: (function, the column with its domain, the most ulps in f32 and f64 by the CUDA C++ Programming Guide)
MATH = {
    "absf": (abs, "any", 0, 0), "acos": (math.acos, "unit", 2, 2), "acosh": (math.acosh, "above", 4, 3),
    "asin": (math.asin, "unit", 2, 2), "asinh": (math.asinh, "any", 3, 3), "atan": (math.atan, "any", 2, 2),
    "atanh": (math.atanh, "unit", 3, 2), "cbrt": (cbrt, "any", 1, 1), "ceil": (math.ceil, "any", 0, 0),
    "cos": (math.cos, "any", 2, 2), "cosh": (math.cosh, "any", 2, 1), "erf": (math.erf, "any", 2, 2),
    "exp": (math.exp, "any", 2, 1), "exp2": (lambda x: 2.0 ** x, "any", 2, 1), "expm1": (math.expm1, "any", 1, 1),
    "floor": (math.floor, "any", 0, 0), "log": (math.log, "positive", 1, 1), "log10": (math.log10, "positive", 2, 1),
    "log1p": (math.log1p, "positive", 1, 1), "log2": (math.log2, "positive", 1, 1), "round": (half_away, "any", 0, 0),
    "roundeven": (half_even, "any", 0, 0), "rsqrt": (lambda x: 1 / math.sqrt(x), "positive", 2, 1),
    "sin": (math.sin, "any", 2, 2), "sinh": (math.sinh, "any", 3, 2), "sqrt": (math.sqrt, "positive", 0, 0),
    "tan": (math.tan, "any", 4, 2), "tanh": (math.tanh, "any", 2, 2), "trunc": (math.trunc, "any", 0, 0),
}
MATH2 = {"atan2": (math.atan2, "any", "other", 3, 2), "copysign": (math.copysign, "any", "other", 0, 0),
         "powf": (math.pow, "positive", "other", 4, 2)}


def math_part():
    count = 64
    for t in DIGITS:
        columns = {"any": [random.uniform(-4, 4) for _ in range(count - 6)] + [0.5, -0.5, 1.5, 2.5, -2.5, 1.0],
                   "positive": [random.uniform(0.01, 9) for _ in range(count)],
                   "unit": [random.uniform(-0.99, 0.99) for _ in range(count)],
                   "above": [random.uniform(1.1, 9) for _ in range(count)],
                   "other": [random.uniform(-3, 3) for _ in range(count)]}
        columns = {c: [rounded(t, v) for v in values] for c, values in columns.items()}
        powers = [random.randint(-5, 5) for _ in range(count)]
        lines = [f"math.{n} %{row[1]} : {t}" for n, row in MATH.items()]
        lines += [f"math.{n} %{row[1]}, %{row[2]} : {t}" for n, row in MATH2.items()]
        lines += [f"math.fma %any, %other, %positive : {t}", f"math.fpowi %positive, %power : {t}, i32"]
        exact = [[row[0](x) for x in columns[row[1]]] for row in MATH.values()]
        exact += [[row[0](x, y) for x, y in zip(columns[row[1]], columns[row[2]])] for row in MATH2.values()]
        exact += [[x * y + z for x, y, z in zip(columns["any"], columns["other"], columns["positive"])],
                  [x ** n for x, n in zip(columns["positive"], powers)]]
        names = list(MATH) + list(MATH2) + ["fma", "fpowi"]
        limits = [row[-2:] for row in MATH.values()] + [row[-2:] for row in MATH2.values()] + [(0, 2), (8, 8)]
        got = elementwise(f"math_{t}", t, {**{c: (t, v) for c, v in columns.items()}, "power": ("i32", powers)}, lines)
        for name, limit, want, have in zip(names, limits, exact, got or []):
            # The oracle is rounded too, narrow types are rounded once more; a sum may cancel what f64 holds.
            most = limit[t == "f64"] + 1 if t in ("f32", "f64") else 1
            for i, (w, h) in enumerate(zip(want, have)):
                if ulps(t, h, w) > most and not (name == "fma" and abs(h - w) < 1e-15):
                    failures.append(f"math.{name} on {t}, row {i}: got {h!r}, expected {w!r}, {ulps(t, h, w):.1f} ulp")
                    break
    return len(DIGITS) * (len(MATH) + len(MATH2) + 2)


# ---- integer division ----

def toward_zero(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def power(a, b):
    if b >= 0:
        return a ** b
    return 1 if a == 1 else (-1 if b & 1 else 1) if a == -1 else 0


DIVISIONS = {"divsi": toward_zero, "floordivsi": lambda a, b: a // b, "ceildivsi": lambda a, b: -(-a // b),
             "remsi": lambda a, b: a - b * toward_zero(a, b)}
UNSIGNED = {"divui": lambda a, b: a // b, "ceildivui": lambda a, b: -(-a // b), "remui": lambda a, b: a % b}


def wrap(v, width):
    v &= (1 << width) - 1
    return v - (1 << width) if v >> width - 1 else v


def division_part():
    count = 0
    for t, width in WIDTH.items():
        least, most = -1 << width - 1, (1 << width - 1) - 1
        edges = [least, least + 1, least + 2, -8, -7, -3, -2, -1, 0, 1, 2, 3, 7, 8, most - 2, most - 1, most]
        pairs = [(a, b) for a in edges for b in edges if b and not (a == least and b == -1)]
        x, y = [a for a, _ in pairs], [b for _, b in pairs]
        bits = (1 << width) - 1
        lines = [f"arith.{n} %x, %y : {t}" for n in [*DIVISIONS, *UNSIGNED]]
        want = [[wrap(f(a, b), width) for a, b in pairs] for f in DIVISIONS.values()]
        want += [[wrap(f(a & bits, b & bits), width) for a, b in pairs] for f in UNSIGNED.values()]
        names = [*DIVISIONS, *UNSIGNED]
        if t != "index":
            small = [wrap(b, 4) for b in y]
            lines.append(f"math.ipowi %x, %small : {t}")
            want.append([wrap(power(a, b), width) if a or b >= 0 else None for a, b in zip(x, small)])
            names.append("ipowi")
        columns = {"x": (t, x), "y": (t, y)}
        if t != "index":
            columns["small"] = (t, small)
        got = elementwise(f"division_{t}", t, columns, lines)
        for name, w, h in zip(names, want, got or []):
            count += 1
            wrong = [i for i in range(len(pairs)) if w[i] is not None and w[i] != h[i]]
            if wrong:
                i = wrong[0]
                failures.append(f"{name} on {t} of {pairs[i]}: got {h[i]}, expected {w[i]}; {len(wrong)} wrong")
    return count


# ---- 8-bit floats ----

def eight_value(bits, t):
    """By the OCP 8-bit floating point specification."""
    mantissa_bits, bias = (3, 7) if t == "f8E4M3FN" else (2, 15)
    sign = -1.0 if bits & 0x80 else 1.0
    exponent, mantissa = (bits & 0x7f) >> mantissa_bits, bits & (1 << mantissa_bits) - 1
    if t == "f8E4M3FN" and bits & 0x7f == 0x7f:
        return math.nan
    if t == "f8E5M2" and exponent == 31:
        return math.nan if mantissa else sign * math.inf
    if exponent == 0:
        return sign * mantissa * 2.0 ** (1 - bias - mantissa_bits)
    return sign * (1 + mantissa / (1 << mantissa_bits)) * 2.0 ** (exponent - bias)


def to_eight(v, t):
    """The nearest, of two the even one; what is too large becomes the largest."""
    finite = [b for b in range(128) if math.isfinite(eight_value(b, t))]
    magnitude = min(abs(v), eight_value(finite[-1], t))
    best = min(finite, key=lambda b: (abs(eight_value(b, t) - magnitude), b & 1))
    return best | (0x80 if math.copysign(1, v) < 0 else 0)


def eights_part():
    for t in ["f8E4M3FN", "f8E5M2"]:
        for wide in DIGITS:
            got = elementwise(f"widen_{t}_{wide}", wide, {"x": (t, list(range(256)))},
                              [f"arith.extf %x : {t} to {wide}"])
            for b, h in enumerate(got[0] if got else []):
                if ulps(wide, h, eight_value(b, t)) > 0:
                    failures.append(f"extf of {t} {b:#x} to {wide}: got {h}, expected {eight_value(b, t)}")
                    break
        for wide in ["f16", "bf16", "f32"]:
            values = [random.uniform(-1, 1) * 2.0 ** random.randint(-12, 9) for _ in range(200)]
            values += [eight_value(b, t) for b in range(0, 0x7c, 3)] + [0.0, -0.0, 1000.0, -60000.0]
            values = [rounded(wide, v) for v in values]
            values += [0.0] * (-len(values) % 3)
            n = len(values) // 3
            # Three at a time: one pair and one alone.
            total = len(values)
            body = ["%c3 = arith.constant 3 : index", "%i = arith.muli %t, %c3 : index",
                    f"%v = vector.load %x[%i] : memref<{total}x{wide}>, vector<3x{wide}>",
                    f"%r = arith.truncf %v : vector<3x{wide}> to vector<3x{t}>"]
            for i in range(3):
                body += [f"%k{i} = arith.constant {i} : index", f"%i{i} = arith.addi %i, %k{i} : index",
                         f"%e{i} = vector.extract %r[{i}] : {t} from vector<3x{t}>",
                         f"memref.store %e{i}, %out[%i{i}] : memref<{total}x{t}>"]
            text = kernel([f"%x: memref<{total}x{wide}>", f"%out: memref<{total}x{t}>"], body)
            got = launch(f"narrow_{t}_{wide}", text, [("x", wide, values)], [("out", t, [0] * total)], n)
            for v, h in zip(values, got[0] if got else []):
                if h != to_eight(v, t):
                    failures.append(f"truncf of {wide} {v!r} to {t}: got {h:#x}, expected {to_eight(v, t):#x}")
                    break
    return 14


# ---- reductions ----

def combine(kind, a, b, width):
    unsigned = (1 << width) - 1
    return {"add": lambda: a + b, "mul": lambda: a * b, "and": lambda: a & b, "or": lambda: a | b,
            "xor": lambda: a ^ b, "minsi": lambda: min(a, b), "maxsi": lambda: max(a, b),
            "minui": lambda: a if a & unsigned < b & unsigned else b,
            "maxui": lambda: a if a & unsigned > b & unsigned else b,
            "minnumf": lambda: min(a, b), "maxnumf": lambda: max(a, b), "minimumf": lambda: min(a, b),
            "maximumf": lambda: max(a, b)}[kind]()


def reduce(kind, values, t):
    width = WIDTH.get(t, 64)
    result = values[0]
    for v in values[1:]:
        result = combine(kind, result, v, width)
        result = wrap(result, width) if t in WIDTH else result
    return result


def reductions_part():
    """Blocks that fill no warp, in three dimensions; every thread has to get the result, and no race may be found."""
    count = 0
    blocks, shapes = 2, [[20, 1, 1], [5, 4, 5], [64, 2, 1]]
    for t in [*DIGITS, "i8", "i16", "i32", "i64"]:
        real = t in DIGITS
        kinds = "add mul minnumf maxnumf minimumf maximumf".split() if real else \
            "add mul minsi maxsi minui maxui and or xor".split()
        for shape in shapes[:3 if t in ("f32", "i32") else 2]:
            threads = math.prod(shape)
            n = blocks * threads
            # Sums and products of these are exact in any order.
            sets = {k: [random.choice([-1.0, 1.0, 1.0, 2.0, 0.5]) if k == "mul" else float(random.randint(0, 1))
                        if k == "add" and t in ("bf16", "f16") else float(random.randint(-40, 40)) for _ in range(n)]
                    for k in kinds} if real else \
                {k: [random.randint(-100, 100) for _ in range(n)] for k in kinds}
            if real:
                sets["mul"] = [2.0 if i % 16 == 0 else 0.5 if i % 16 == 1 else random.choice([1.0, -1.0])
                               for i in range(n)]
            body = ["%y = gpu.thread_id y", "%z = gpu.thread_id z", "%b = gpu.block_id x",
                    f"%nx = arith.constant {shape[0]} : index", f"%ny = arith.constant {shape[1]} : index",
                    f"%nz = arith.constant {shape[2]} : index", "%0 = arith.muli %b, %nz : index",
                    "%1 = arith.addi %0, %z : index", "%2 = arith.muli %1, %ny : index",
                    "%3 = arith.addi %2, %y : index", "%4 = arith.muli %3, %nx : index", "%i = arith.addi %4, %t : index"]
            for k in kinds:
                body += [f"%v{k} = memref.load %{k}[%i] : memref<{n}x{t}>",
                         f"%s{k} = gpu.subgroup_reduce {k} %v{k} : ({t}) -> {t}",
                         f"memref.store %s{k}, %s_{k}[%i] : memref<{n}x{t}>",
                         f"%a{k} = gpu.all_reduce {k} %v{k} {{}} : ({t}) -> {t}",
                         f"memref.store %a{k}, %a_{k}[%i] : memref<{n}x{t}>"]
            arguments = [f"%{k}: memref<{n}x{t}>" for k in kinds]
            outputs = [(p + k, t, [0] * n) for k in kinds for p in ("s_", "a_")]
            arguments += [f"%{o}: memref<{n}x{t}>" for o, _, _ in outputs]
            got = launch(f"reduce_{t}_{threads}", kernel(arguments, body), [(k, t, sets[k]) for k in kinds], outputs,
                         shape, blocks, "race")
            for (o, _, _), have in zip(outputs, got or []):
                count += 1
                k = o[2:]
                group = 32 if o[0] == "s" else threads
                for i in range(n):
                    first = i // threads * threads
                    start = first + (i - first) // group * group
                    want = reduce(k, sets[k][start:min(start + group, first + threads)], t)
                    if want != have[i]:
                        failures.append(f"{'subgroup' if o[0] == 's' else 'all'}_reduce {k} on {t}, block {shape}, "
                                        f"thread {i}: got {have[i]}, expected {want}")
                        break
    return count


# ---- atomic updates ----

ATOMIC = {"addf": "add", "mulf": "mul", "maxnumf": "maxnumf", "minnumf": "minnumf", "maximumf": "maximumf",
          "minimumf": "minimumf", "addi": "add", "muli": "mul", "maxs": "maxsi", "mins": "minsi", "maxu": "maxui",
          "minu": "minui", "ori": "or", "andi": "and", "assign": None}


def atomics_part():
    """200 threads of two blocks update three elements; what is left may not depend on their order."""
    threads, blocks, cells = 100, 2, 3
    n, count = threads * blocks, 0
    for t in [*DIGITS, "i16", "i32", "i64"]:
        real = t in DIGITS
        kinds = [k for k in ATOMIC if k == "assign" or (k[-1] == "f") == real]
        values = {k: [random.randint(-9, 9) for _ in range(n)] for k in kinds}
        if real:
            values = {k: [float(v) for v in vs] for k, vs in values.items()}
            values["addf"] = [float(i % 2) for i in range(n)]
            values["mulf"] = [2.0 if i % 30 == 0 else 0.5 if i % 30 == 15 else 1.0 for i in range(n)]
            values["maximumf"][50] = math.nan
            values["maxnumf"][50] = math.nan
        start = {k: 1 if k == "mulf" or k == "muli" or k == "andi" else 0 for k in kinds}
        body = ["%b = gpu.block_id x", f"%n = arith.constant {threads} : index", "%0 = arith.muli %b, %n : index",
                "%i = arith.addi %0, %t : index", f"%c = arith.constant {cells} : index",
                "%cell = arith.remui %i, %c : index"]
        arguments, outputs = [], []
        for k in kinds:
            body += [f"%v{k} = memref.load %{k}[%i] : memref<{n}x{t}>",
                     f"%o{k} = memref.atomic_rmw {k} %v{k}, %out_{k}[%cell] : ({t}, memref<{cells}x{t}>) -> {t}"]
            arguments.append(f"%{k}: memref<{n}x{t}>")
            outputs.append(("out_" + k, t, [start[k]] * cells))
        arguments += [f"%{o}: memref<{cells}x{t}>" for o, _, _ in outputs]
        got = launch(f"atomic_{t}", kernel(arguments, body), [(k, t, values[k]) for k in kinds], outputs, threads, blocks,
                     "race")
        for k, have in zip(kinds, got or []):
            count += 1
            for cell in range(cells):
                given = [values[k][i] for i in range(cell, n, cells)]
                if k == "assign":
                    right = have[cell] in given
                elif any(v != v for v in given):
                    numbers = [v for v in given if v == v]
                    right = have[cell] != have[cell] if k == "maximumf" else have[cell] == max(numbers + [0.0])
                else:
                    right = have[cell] == reduce(ATOMIC[k], [start[k]] + given, t)
                if not right:
                    failures.append(f"atomic_rmw {k} on {t}, element {cell}: got {have[cell]}")
    return count


PARTS = {"math": math_part, "division": division_part, "eights": eights_part, "reductions": reductions_part,
         "atomics": atomics_part}
for part in sys.argv[4:] or PARTS:
    print(part, PARTS[part]())
for message in failures:
    print(message)
sys.exit(bool(failures))
