#!/usr/bin/env python3
"""Writes a PTX module with one kernel per instruction, its inputs and launch-N.json: generate.py DIR [PTXAS | h200.txt].

Each thread loads three 64-bit words of inputs made for the operand type (edges first, then random), executes the
instruction, and stores the result as 64 bits. `instructions.txt` lists the kernels in order with the accuracy required of
the emulator: `exact`, the maximum relative error by the PTX ISA, or `turn:` and the maximum absolute error from -pi to
pi. With PTXAS (default: on PATH), instructions that it rejects for sm_90a are skipped, with a message; with recorded
results, only recorded instructions are used."""
import json, os, random, re, shutil, struct, subprocess, sys

THREADS = 1024
out_dir = sys.argv[1]
given = sys.argv[2] if len(sys.argv) > 2 else ""
recorded = [line.split("\t")[0] for line in open(given)] if given.endswith(".txt") else None
ptxas = None if recorded else given or shutil.which("ptxas")
os.makedirs(out_dir, exist_ok=True)
rng = random.Random(20261121)

# ---- inputs: words of a type's bits ----

def f32(x): return struct.unpack("<I", struct.pack("<f", x))[0]
def f64(x): return struct.unpack("<Q", struct.pack("<d", x))[0]

EDGES = {
    "i16": [0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 15, 16, 17, 255],
    "i32": [0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 31, 32, 33, 0xff, 0x8000, 0xffff0000],
    "i64": [0, 1, 2, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 1, 2**64 - 2, 31, 63, 64, 65, 2**32, 2**32 - 1],
    "f16": [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x3555, 0x4248],
    "bf16": [0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x3f80, 0xbf80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x3eab, 0x4049],
    "f32": [0, 0x80000000, 1, 0x80000001, 0x7fffff, 0x800000, f32(1), f32(-1), 0x7f7fffff, 0xff7fffff, 0x7f800000,
            0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, f32(0.5), f32(1.5), f32(2.5), f32(-2.5), f32(65504), f32(65520),
            f32(1e-40), f32(2147483648.0), f32(-2147483649.0), f32(4294967296.0), f32(3.1415927), f32(1e10), f32(448), f32(464)],
    "f64": [0, 2**63, 1, 2**63 + 1, 2**52 - 1, 2**52, f64(1), f64(-1), 0x7fefffffffffffff, 0xffefffffffffffff,
            0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000, 0xfff8000000000001, f64(0.5), f64(1.5), f64(2.5),
            f64(1e-310), f64(1e39), f64(3.4028235677973366e38), f64(2147483648.5), f64(-9.3e18), f64(1.8446744073709552e19)],
}
WIDTH = {"i16": 16, "i32": 32, "i64": 64, "f16": 16, "bf16": 16, "f32": 32, "f64": 64}

def random_word(kind):
    width = WIDTH[kind]
    if kind in ("f32", "f64") and rng.random() < 0.6:
        x = rng.uniform(-4, 4) * 10 ** rng.choice([0, 0, 0, 1, 3, -3, 8, -8])
        return f32(x) if kind == "f32" else f64(x)
    if kind.startswith("i") and rng.random() < 0.3:
        return rng.randrange(256)
    return rng.getrandbits(width)

def inputs(kind):
    edges, width = EDGES[kind], WIDTH[kind]
    lists = []
    for operand in range(3):
        words = []
        for t in range(THREADS):
            n = len(edges)
            if t < n * n:
                word = edges[(t // n if operand == 0 else t % n if operand == 1 else (t * 7 + t // n) % n)]
            else:
                word = random_word(kind)
            high = word if width == 16 else 0
            if width == 16: # a second number for the packed forms
                other = edges[(t * 5 + operand) % n] if t < n * n else random_word(kind)
                word |= other << 16
            words.append(word & (2**64 - 1))
        lists.append(words)
    return lists

# ---- instructions: (text, result, operands, inputs, expectation); $0 is the result, $1.. the operands ----

INSTRUCTIONS = []
def add(text, result, operands, kind, expect="exact"):
    INSTRUCTIONS.append((text, result, operands, kind, expect))

def kind_of(t):
    return {"16": "i16", "32": "i32", "64": "i64"}[t[1:]]

for t in ("s16", "u16", "s32", "u32", "s64", "u64"):
    k, w = kind_of(t), t[1:]
    for op in ("add", "sub", "mul.lo", "mul.hi", "div", "rem", "min", "max"):
        add(f"{op}.{t} $0, $1, $2;", w, [w, w], k)
    add(f"mad.lo.{t} $0, $1, $2, $3;", w, [w, w, w], k)
    add(f"mad.hi.{t} $0, $1, $2, $3;", w, [w, w, w], k)
    add(f"sad.{t} $0, $1, $2, $3;", w, [w, w, w], k)
    if w != "64":
        wide = {"16": "32", "32": "64"}[w]
        add(f"mul.wide.{t} $0, $1, $2;", wide, [w, w], k)
        add(f"mad.wide.{t} $0, $1, $2, $3;", wide, [w, w, wide], k)
    if t[0] == "s":
        add(f"abs.{t} $0, $1;", w, [w], k)
        add(f"neg.{t} $0, $1;", w, [w], k)
    for c in (["eq", "ne", "lt", "le", "gt", "ge"] + (["lo", "ls", "hi", "hs"] if t[0] == "u" else [])):
        add(f"setp.{c}.{t} $0, $1, $2;", "p", [w, w], k)
    add(f"slct.{t}.s32 $0, $1, $2, $3;", w, [w, w, "32"], k)
    add(f"shr.{t} $0, $1, $2;", w, [w, "32"], k)
for t in ("s32", "u32"):
    for op in ("mul24.lo", "mul24.hi"):
        add(f"{op}.{t} $0, $1, $2;", "32", ["32", "32"], "i32")
    add(f"mad24.lo.{t} $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
    add(f"mad24.hi.{t} $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
    for w, t2 in (("32", t), ("64", t[0] + "64")):
        add(f"bfe.{t2} $0, $1, $2, $3;", w, [w, "32", "32"], kind_of(t2))
        add(f"bfind.{t2} $0, $1;", "32", [w], kind_of(t2))
        add(f"bfind.shiftamt.{t2} $0, $1;", "32", [w], kind_of(t2))
    for m in ("wrap", "clamp"):
        add(f"szext.{m}.{t} $0, $1, $2;", "32", ["32", "32"], "i32")
    for t3 in ("s32", "u32"):
        add(f"dp4a.{t}.{t3} $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
        for m in ("lo", "hi"):
            add(f"dp2a.{m}.{t}.{t3} $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
for op in ("add.sat.s32 $0, $1, $2;", "sub.sat.s32 $0, $1, $2;"):
    add(op, "32", ["32", "32"], "i32")
add("mad.hi.sat.s32 $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
for w in ("16", "32", "64"):
    k = "i" + w
    for op in ("and", "or", "xor"):
        add(f"{op}.b{w} $0, $1, $2;", w, [w, w], k)
    for op in ("not", "cnot"):
        add(f"{op}.b{w} $0, $1;", w, [w], k)
    add(f"shl.b{w} $0, $1, $2;", w, [w, "32"], k)
    add(f"shr.b{w} $0, $1, $2;", w, [w, "32"], k)
    if w != "16":
        for op in ("popc", "clz"):
            add(f"{op}.b{w} $0, $1;", "32", [w], k)
        add(f"brev.b{w} $0, $1;", w, [w], k)
        add(f"bfi.b{w} $0, $1, $2, 5, 9;", w, [w, w], k)
        add(f"bfi.b{w} $0, $1, $2, $3, 7;", w, [w, w, "32"], k)
        add(f"bfi.b{w} $0, $1, $2, 3, $3;", w, [w, w, "32"], k)
for d in ("l", "r"):
    for m in ("wrap", "clamp"):
        add(f"shf.{d}.{m}.b32 $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
for m in ("wrap", "clamp"):
    add(f"bmsk.{m}.b32 $0, $1, $2;", "32", ["32", "32"], "i32")
for lut in (0x80, 0x96, 0xe8, 0x1b, 0xff, 0x00, 0xca):
    add(f"lop3.b32 $0, $1, $2, $3, {lut};", "32", ["32"] * 3, "i32")
for mode in ("", ".f4e", ".b4e", ".rc8", ".ecl", ".ecr", ".rc16"):
    add(f"prmt.b32{mode} $0, $1, $2, $3;", "32", ["32"] * 3, "i32")
add("fns.b32 $0, $1, 3, $3;", "32", ["32"] * 3, "i32")
add("{ add.cc.u32 $0, $1, $2; addc.u32 $0, $0, $3; }", "32", ["32"] * 3, "i32")
add("{ sub.cc.u32 $0, $1, $2; subc.u32 $0, $3, 0; }", "32", ["32"] * 3, "i32")
add("{ mad.lo.cc.u32 $0, $1, $2, $3; madc.hi.u32 $0, $1, $2, 0; }", "32", ["32"] * 3, "i32")
add("{ add.cc.u64 $0, $1, $2; addc.u64 $0, $3, 0; }", "64", ["64"] * 3, "i64")
# floating point
ROUND = ("rn", "rz", "rm", "rp")
for r in ROUND:
    for f in ("", ".ftz"):
        for s in ("", ".sat"):
            for op in ("add", "sub", "mul"):
                add(f"{op}.{r}{f}{s}.f32 $0, $1, $2;", "f32", ["f32", "f32"], "f32")
            add(f"fma.{r}{f}{s}.f32 $0, $1, $2, $3;", "f32", ["f32"] * 3, "f32")
        for op in ("rcp", "sqrt"):
            add(f"{op}.{r}{f}.f32 $0, $1;", "f32", ["f32"], "f32")
        add(f"div.{r}{f}.f32 $0, $1, $2;", "f32", ["f32", "f32"], "f32")
    for op in ("add", "sub", "mul", "div"):
        add(f"{op}.{r}.f64 $0, $1, $2;", "f64", ["f64", "f64"], "f64")
    add(f"fma.{r}.f64 $0, $1, $2, $3;", "f64", ["f64"] * 3, "f64")
    for op in ("rcp", "sqrt"):
        add(f"{op}.{r}.f64 $0, $1;", "f64", ["f64"], "f64")
for op, error in (("rcp.approx", 2**-23), ("sqrt.approx", 2**-22), ("rsqrt.approx", 2**-22), ("ex2.approx", 2**-22),
                  ("lg2.approx", 2**-20), ("sin.approx", f"turn:{2**-20}"), ("cos.approx", f"turn:{2**-20}")):
    for f in ("", ".ftz"):
        add(f"{op}{f}.f32 $0, $1;", "f32", ["f32"], "f32", error)
add("tanh.approx.f32 $0, $1;", "f32", ["f32"], "f32", 2**-10)
for f in ("", ".ftz"):
    add(f"div.approx{f}.f32 $0, $1, $2;", "f32", ["f32", "f32"], "f32", 2**-22)
    add(f"div.full{f}.f32 $0, $1, $2;", "f32", ["f32", "f32"], "f32", 2**-22)
add("rcp.approx.ftz.f64 $0, $1;", "f64", ["f64"], "f64", 2**-19)
add("rsqrt.approx.f64 $0, $1;", "f64", ["f64"], "f64", 2**-21)
for f in ("", ".ftz"):
    for n in ("", ".NaN"):
        for x in ("", ".xorsign.abs"):
            for op in ("min", "max"):
                add(f"{op}{f}{n}{x}.f32 $0, $1, $2;", "f32", ["f32", "f32"], "f32")
    add(f"abs{f}.f32 $0, $1;", "f32", ["f32"], "f32")
    add(f"neg{f}.f32 $0, $1;", "f32", ["f32"], "f32")
for op in ("min", "max"):
    add(f"{op}.f64 $0, $1, $2;", "f64", ["f64", "f64"], "f64")
for t in ("f32", "f64"):
    for op in ("finite", "infinite", "number", "notanumber", "normal", "subnormal"):
        add(f"testp.{op}.{t} $0, $1;", "p", [t], t)
    add(f"copysign.{t} $0, $1, $2;", t, [t, t], t)
    for c in ("eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"):
        add(f"setp.{c}.{t} $0, $1, $2;", "p", [t, t], t)
        if t == "f32":
            add(f"setp.{c}.ftz.{t} $0, $1, $2;", "p", [t, t], t)
            add(f"set.{c}.f32.{t} $0, $1, $2;", "f32", [t, t], t)
            add(f"set.{c}.u32.{t} $0, $1, $2;", "32", [t, t], t)
add("abs.f64 $0, $1;", "f64", ["f64"], "f64")
add("neg.f64 $0, $1;", "f64", ["f64"], "f64")
for t, w, k in (("f16", "16", "f16"), ("f16x2", "32", "f16"), ("bf16", "16", "bf16"), ("bf16x2", "32", "bf16")):
    half = t.startswith("f16")
    for f in ("", ".ftz") if half else ("",):
        for s in ("", ".sat") if half else ("",):
            for op in ("add", "sub", "mul"):
                add(f"{op}.rn{f}{s}.{t} $0, $1, $2;", w, [w, w], k)
        for s in ("", ".sat", ".relu") if half else ("", ".relu"):
            add(f"fma.rn{f}{s}.{t} $0, $1, $2, $3;", w, [w, w, w], k)
        for n in ("", ".NaN"):
            for x in ("", ".xorsign.abs"):
                for op in ("min", "max"):
                    add(f"{op}{f}{n}{x}.{t} $0, $1, $2;", w, [w, w], k)
    add(f"abs.{t} $0, $1;", w, [w], k)
    add(f"neg.{t} $0, $1;", w, [w], k)
    add(f"ex2.approx{'' if half else '.ftz'}.{t} $0, $1;", w, [w], k, 2**-9 if half else 2**-7)
    add(f"tanh.approx.{t} $0, $1;", w, [w], k, 2**-9 if half else 2**-7)
    if t in ("f16", "bf16"):
        for c in ("eq", "ne", "lt", "ge", "equ", "ltu", "nan", "num"):
            add(f"setp.{c}.{t} $0, $1, $2;", "p", [w, w], k)
# conversions
REG = {"s8": "16", "u8": "16", "s16": "16", "u16": "16", "s32": "32", "u32": "32", "s64": "64", "u64": "64",
       "f16": "16", "bf16": "16", "f32": "f32", "f64": "f64"}
KIND = {"s8": "i16", "u8": "i16", "s16": "i16", "u16": "i16", "s32": "i32", "u32": "i32", "s64": "i64", "u64": "i64",
        "f16": "f16", "bf16": "bf16", "f32": "f32", "f64": "f64"}
INTS = ("s8", "u8", "s16", "u16", "s32", "u32", "s64", "u64")
FLOATS = ("f16", "f32", "f64")
for a in INTS:
    for b in INTS:
        add(f"cvt.{b}.{a} $0, $1;", REG[b], [REG[a]], KIND[a])
        add(f"cvt.sat.{b}.{a} $0, $1;", REG[b], [REG[a]], KIND[a])
    for b in FLOATS:
        for r in ROUND:
            add(f"cvt.{r}.{b}.{a} $0, $1;", REG[b], [REG[a]], KIND[a])
        add(f"cvt.rn.sat.{b}.{a} $0, $1;", REG[b], [REG[a]], KIND[a])
        for r in ("rni", "rzi", "rmi", "rpi"):
            add(f"cvt.{r}.{a}.{b} $0, $1;", REG[a], [REG[b]], KIND[b])
            add(f"cvt.{r}.sat.{a}.{b} $0, $1;", REG[a], [REG[b]], KIND[b])
            if b == "f32":
                add(f"cvt.{r}.ftz.{a}.{b} $0, $1;", REG[a], [REG[b]], KIND[b])
for f in ("", ".ftz"):
    for s in ("", ".sat"):
        for r in ROUND:
            add(f"cvt.{r}{f}{s}.f32.f64 $0, $1;", "f32", ["f64"], "f64")
            add(f"cvt.{r}{f}{s}.f16.f32 $0, $1;", "16", ["f32"], "f32")
        for r in ("rni", "rzi", "rmi", "rpi"):
            add(f"cvt.{r}{f}{s}.f32.f32 $0, $1;", "f32", ["f32"], "f32")
        add(f"cvt{f}{s}.f64.f32 $0, $1;", "f64", ["f32"], "f32")
        add(f"cvt{f}{s}.f32.f16 $0, $1;", "f32", ["16"], "f16")
        add(f"cvt{f}{s}.f32.f32 $0, $1;", "f32", ["f32"], "f32")
for r in ROUND:
    add(f"cvt.{r}.f16.f64 $0, $1;", "16", ["f64"], "f64")
for r in ("rni", "rzi", "rmi", "rpi"):
    add(f"cvt.{r}.f64.f64 $0, $1;", "f64", ["f64"], "f64")
    add(f"cvt.{r}.f16.f16 $0, $1;", "16", ["16"], "f16")
add("cvt.f64.f16 $0, $1;", "f64", ["16"], "f16")
add("cvt.f32.bf16 $0, $1;", "f32", ["16"], "bf16")
for r in ("rn", "rz"):
    for relu in ("", ".relu"):
        add(f"cvt.{r}{relu}.bf16.f32 $0, $1;", "16", ["f32"], "f32")
        add(f"cvt.{r}{relu}.bf16x2.f32 $0, $1, $2;", "32", ["f32", "f32"], "f32")
        add(f"cvt.{r}{relu}.f16x2.f32 $0, $1, $2;", "32", ["f32", "f32"], "f32")
        add(f"cvt.{r}{relu}.tf32.f32 $0, $1;", "32", ["f32"], "f32")
add("cvt.rna.tf32.f32 $0, $1;", "32", ["f32"], "f32")
for e in ("e4m3x2", "e5m2x2"):
    for relu in ("", ".relu"):
        add(f"cvt.rn.satfinite{relu}.{e}.f32 $0, $1, $2;", "16", ["f32", "f32"], "f32")
        add(f"cvt.rn.satfinite{relu}.{e}.f16x2 $0, $1;", "16", ["32"], "f16")
        add(f"cvt.rn{relu}.f16x2.{e} $0, $1;", "32", ["16"], "i16")
# warps
for m in ("up", "down", "bfly", "idx"):
    for lane, mask in ((1, 31 if m != "up" else 0), (7, 0x1c1f if m != "up" else 0x1c00), (16, 31 if m != "up" else 0)):
        add(f"{{ .reg .pred q; shfl.sync.{m}.b32 $0|q, $1, {lane}, {mask}, 0xffffffff; @q add.u32 $0, $0, 1; }}", "32", ["32"], "i32")
for m in ("all", "any", "uni"):
    add(f"{{ .reg .pred q; setp.lt.s32 q, $1, $2; vote.sync.{m}.pred $0, q, 0xffffffff; }}", "p", ["32", "32"], "i32")
add("{ .reg .pred q; setp.lt.s32 q, $1, $2; vote.sync.ballot.b32 $0, q, 0xffffffff; }", "32", ["32", "32"], "i32")
for w in ("32", "64"):
    add(f"match.any.sync.b{w} $0, $1, 0xffffffff;", "32", [w], "i" + w)
    add(f"{{ .reg .pred q; match.all.sync.b{w} $0|q, $1, 0xffffffff; @q add.u32 $0, $0, 1; }}", "32", [w], "i" + w)
for op in ("add.u32", "add.s32", "min.u32", "max.u32", "min.s32", "max.s32", "and.b32", "or.b32", "xor.b32"):
    add(f"redux.sync.{op} $0, $1, 0xffffffff;", "32", ["32"], "i32")
add("{ .reg .pred q; .reg .b32 e; elect.sync e|q, 0xffffffff; selp.u32 $0, 1, e, q; }", "32", ["32"], "i32")

# ---- PTX ----

LOAD = {"16": "cvt.u16.u64 {r}, {x};", "32": "cvt.u32.u64 {r}, {x};", "64": "mov.b64 {r}, {x};",
        "f32": "cvt.u32.u64 t, {x}; mov.b32 {r}, t;", "f64": "mov.b64 {r}, {x};"}
STORE = {"16": "cvt.u64.u16 y, {r};", "32": "cvt.u64.u32 y, {r};", "64": "mov.b64 y, {r};",
         "f32": "mov.b32 t, {r}; cvt.u64.u32 y, t;", "f64": "mov.b64 y, {r};", "p": "selp.u64 y, 1, 0, {r};"}
TYPE = {"16": "b16", "32": "b32", "64": "b64", "f32": "f32", "f64": "f64", "p": "pred"}

def kernel(i, text, result, operands):
    names = [f"s{k}" for k in range(len(operands))]
    body = text.replace("$0", "d")
    for k, n in enumerate(names):
        body = body.replace(f"${k + 1}", n)
    lines = [f".visible .entry k{i}(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 o, .param .u64 off)", "{",
             ".reg .b32 t, tid, bid; .reg .b64 at, p, y;", f".reg .{TYPE[result]} d;"]
    lines += [f".reg .{TYPE[w]} {n};" for w, n in zip(operands, names)]
    lines += [".reg .b64 x0, x1, x2;", "mov.u32 tid, %tid.x; mov.u32 bid, %ctaid.x; mad.lo.u32 tid, bid, 128, tid;",
              "mul.wide.u32 at, tid, 8;"]
    for k, (w, n) in enumerate(zip(operands, names)):
        lines += [f"ld.param.u64 p, [{'abc'[k]}]; add.u64 p, p, at; ld.global.b64 x{k}, [p];", LOAD[w].format(r=n, x=f"x{k}")]
    lines += [body, STORE[result].format(r="d"),
              "ld.param.u64 p, [o]; add.u64 p, p, at; ld.param.u64 at, [off]; add.u64 p, p, at; st.global.b64 [p], y;",
              "ret;", "}"]
    return lines

def module(chosen):
    lines, owner = [".version 8.5", ".target sm_90a", ".address_size 64", ""], {}
    for i, (text, result, operands, _, _) in enumerate(chosen):
        for line in kernel(i, text, result, operands):
            lines.append(line)
            owner[len(lines)] = i
    return "\n".join(lines) + "\n", owner

chosen, refused = INSTRUCTIONS, []
if recorded:
    by_text = {row[0]: row for row in INSTRUCTIONS}
    chosen = [by_text[text] for text in recorded]
path = os.path.join(out_dir, "instructions.ptx")
while True:
    text, owner = module(chosen)
    with open(path, "w") as f:
        f.write(text)
    if not ptxas:
        break
    run = subprocess.run([ptxas, "-arch", "sm_90a", "-O0", path, "-o", os.path.join(out_dir, "instructions.cubin")],
                         capture_output=True, text=True)
    bad = {owner[int(n)] for n in re.findall(r"line (\d+); error", run.stderr)} - {None}
    if run.returncode == 0:
        break
    if not bad:
        sys.exit(run.stderr[:2000])
    refused += [chosen[i][0] for i in sorted(bad)]
    chosen = [c for i, c in enumerate(chosen) if i not in bad]

buffers = {}
for kind in EDGES:
    for name, words in zip("abc", inputs(kind)):
        with open(os.path.join(out_dir, f"{kind}_{name}.bin"), "wb") as f:
            f.write(struct.pack(f"<{THREADS}Q", *words))
        buffers[f"{kind}_{name}"] = {"dtype": "u64", "shape": [THREADS], "init": {"raw": f"{kind}_{name}.bin"}}
PART = 500 # launches in one launch.json
for part in range(0, len(chosen), PART):
    launches = []
    for i in range(part, min(part + PART, len(chosen))):
        kind = chosen[i][3]
        launches.append({"kernel": f"k{i}", "grid": [THREADS // 128], "block": [128],
                         "args": [f"{kind}_a", f"{kind}_b", f"{kind}_c", "out",
                                  {"type": "u64", "value": (i - part) * THREADS * 8}]})
    used = {a for l in launches for a in l["args"][:3]}
    config = {"buffers": {k: v for k, v in buffers.items() if k in used}, "launches": launches,
              "outputs": {"out": {"raw": f"out-{part // PART}.bin"}}}
    config["buffers"]["out"] = {"dtype": "u64", "shape": [THREADS * len(launches)]}
    with open(os.path.join(out_dir, f"launch-{part // PART}.json"), "w") as f:
        json.dump(config, f)
with open(os.path.join(out_dir, "instructions.txt"), "w") as f:
    for text, result, _, kind, expect in chosen:
        f.write(f"{expect}\t{result}\t{kind}\t{text}\n")
print(f"{len(chosen)} instructions, {THREADS} operands each; ptxas refused {len(refused)}")
for text in refused:
    print(f"refused: {text}", file=sys.stderr)
