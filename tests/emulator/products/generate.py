#!/usr/bin/env python3
"""Writes PTX with one kernel for each mma.sync and for wgmma of each type, swizzle and order, their inputs and
launch-N.json: generate.py DIR. Run both devices on it (cute-run products.ptx --config launch-N.json) and give the folders
of their out-N.bin to compare.py.

Operands are random words of a different kind per block: moderate numbers, finite numbers of all exponents, all bit patterns
(including NaN and infinity), and many zeros and subnormal numbers. Operands of wgmma fill the shared memory that the
descriptor can reach, so that each layout reads different elements."""
import json, os, random, struct, sys

out_dir = sys.argv[1]
os.makedirs(out_dir, exist_ok=True)
rng = random.Random(53)
BLOCKS = 16
A_BYTES, B_BYTES, N = 8192, 4096, 32  # of wgmma
WORDS = (A_BYTES + B_BYTES) // 4      # of one operand kind, a block
BITS = {"f64": 64, "f32": 32, "tf32": 32, "s32": 32, "f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "s8": 8, "u8": 8, "s4": 4,
        "u4": 4, "b1": 1}
FLOAT = {"f64": (11, 52), "f32": (8, 23), "tf32": (8, 23), "f16": (5, 10), "bf16": (8, 7), "e4m3": (4, 3), "e5m2": (5, 2)}

# ---- inputs ----

def element(kind, style):
    bits = BITS[kind]
    if kind not in FLOAT or style == 2:
        return rng.getrandbits(bits)
    exponent, mantissa = FLOAT[kind]
    top, bias = (1 << exponent) - 1, (1 << exponent - 1) - 1
    sign, fraction = rng.getrandbits(1), rng.getrandbits(mantissa)
    if style == 0:
        field = bias + rng.randint(-3, 2)
    elif style == 1:
        field = rng.randint(0, top - 1)
    else:
        field = rng.choice([0, 0, 1, bias, bias + 1])
        if rng.random() < 0.5:
            fraction = 0
    return sign << bits - 1 | field << mantissa | fraction

def words(kind, count, style):
    bits = BITS[kind]
    if bits == 64:
        for _ in range(count // 2):
            x = element(kind, style)
            yield x & 0xffffffff
            yield x >> 32
        return
    for _ in range(count):
        word = 0
        for i in range(32 // bits):
            word |= element(kind, style) << i * bits
        yield word

KINDS = ["f64", "f32", "tf32", "s32", "f16", "bf16", "e4m3", "e5m2"]
for side in "abc":
    for kind in KINDS:
        with open(os.path.join(out_dir, f"{kind}_{side}.bin"), "wb") as f:
            for block in range(BLOCKS):
                data = list(words(kind, WORDS, block % 4))
                f.write(struct.pack(f"<{WORDS}I", *data))

def buffer(kind, side):
    return f"{kind if kind in KINDS else 's32'}_{side}"

# ---- kernels: (name, result, text, buffers, threads, words a thread) ----

KERNELS = []
HEAD = ["(.param .u64 a, .param .u64 b, .param .u64 c, .param .u64 o)", "{",
        ".reg .b32 t, blk, r<64>, s; .reg .b64 p, q, at, x<32>, da, db; .reg .f32 f<32>; .reg .f64 d<32>; .reg .pred on;",
        "mov.u32 t, %tid.x; mov.u32 blk, %ctaid.x;"]

def pointer(name, stride):
    return [f"ld.param.u64 p, [{name}]; mad.wide.u32 p, blk, {WORDS * 4}, p; mad.wide.u32 p, t, {stride}, p;"]

def store(regs, wide, threads):
    lines = [f"ld.param.u64 p, [o]; mad.lo.u32 s, blk, {threads}, t; mad.wide.u32 p, s, {regs * (8 if wide else 4)}, p;"]
    return lines + [f"st.global.b{64 if wide else 32} [p+{i * (8 if wide else 4)}], {'x' if wide else 'r'}{40 + i if not wide else 16 + i};"
                    for i in range(regs)]

def add_mma(m, n, k, a, b, c, d, extra=""):
    quad = k == 4 and a == "f16"
    count = lambda size, kind: size * BITS[kind] // (2048 if BITS[kind] == 64 else 1024)
    na, nb, nc, nd = count(m * k, a), count(k * n, b), count(m * n, c), count(m * n, d)
    if quad:
        na = nb = 2
        nc, nd = (4 if c == "f16" else 8), (4 if d == "f16" else 8)
    wide = a == "f64"
    size, lines, lists = 8 if wide else 4, list(HEAD), []
    at = 0
    for name, regs in (("a", na), ("b", nb), ("c", nc)):
        lines += pointer(name, regs * size)
        names = []
        for i in range(regs):
            if wide:
                lines.append(f"ld.global.b64 x{at}, [p+{8 * i}]; mov.b64 d{at}, x{at};")
                names.append(f"d{at}")
            elif name == "c" and c == "f32":
                lines.append(f"ld.global.b32 r{at}, [p+{4 * i}]; mov.b32 f{at}, r{at};")
                names.append(f"f{at}")
            else:
                lines.append(f"ld.global.b32 r{at}, [p+{4 * i}];")
                names.append(f"r{at}")
            at += 1
        lists.append("{" + ", ".join(names) + "}")
    result = "d" if wide else "f" if d == "f32" else "r"
    base = 16 if wide else 24 if d == "f32" else 40
    names = [f"{result}{base + i}" for i in range(nd)]
    shape = f"m{m}n{n}k{k}"
    pop = ".xor.popc" if extra == "xor" else ".and.popc" if extra == "and" else ""
    sat = ".satfinite" if extra == "satfinite" else ""
    layouts = extra if "." in extra else ".row.col"
    text = f"mma.sync.aligned.{shape}{layouts}{sat}.{d}.{a}.{b}.{c}{pop} {{{', '.join(names)}}}, {lists[0]}, {lists[1]}, {lists[2]};"
    lines.append(text)
    for i, name in enumerate(names):
        if wide: lines.append(f"mov.b64 x{16 + i}, {name};")
        elif result == "f": lines.append(f"mov.b32 r{40 + i}, {name};")
    lines += store(nd, wide, 32)
    KERNELS.append((text.split(" ")[0], d, lines, [buffer(a, "a"), buffer(b, "b"), buffer(c, "c")], 32, nd * (2 if wide else 1)))

for c, d in (("f16", "f16"), ("f32", "f32"), ("f16", "f32")):
    for layouts in (".row.col", ".row.row", ".col.col", ".col.row"):
        add_mma(8, 8, 4, "f16", "f16", c, d, layouts)
for k in (8, 16):
    add_mma(16, 8, k, "f16", "f16", "f16", "f16")
    add_mma(16, 8, k, "f16", "f16", "f32", "f32")
    add_mma(16, 8, k, "bf16", "bf16", "f32", "f32")
for k in (4, 8):
    add_mma(16, 8, k, "tf32", "tf32", "f32", "f32")
for a in ("e4m3", "e5m2"):
    for b in ("e4m3", "e5m2"):
        add_mma(16, 8, 32, a, b, "f32", "f32")
for m, k in ((8, 4), (16, 4), (16, 8), (16, 16)):
    add_mma(m, 8, k, "f64", "f64", "f64", "f64")
for kinds, shapes in ((("s8", "u8"), ((8, 16), (16, 16), (16, 32))), (("s4", "u4"), ((8, 32), (16, 32), (16, 64)))):
    for a in kinds:
        for b in kinds:
            for m, k in shapes:
                for extra in ("", "satfinite"):
                    add_mma(m, 8, k, a, b, "s32", "s32", extra)
for m, k in ((8, 128), (16, 128), (16, 256)):
    for extra in ("xor", "and"):
        add_mma(m, 8, k, "b1", "b1", "s32", "s32", extra)

def descriptor(register, start, leading, stride, swizzle):
    mode = {0: 0, 128: 1, 64: 2, 32: 3}[swizzle]
    constant = leading >> 4 << 16 | stride >> 4 << 32 | mode << 62
    return [f"add.u32 s, r63, {start}; shr.u32 s, s, 4; and.b32 s, s, 16383; cvt.u64.u32 {register}, s; or.b64 {register}, {register}, {constant};"]

def layout(swizzle, transposed):
    if transposed:
        return (swizzle * 16, swizzle * 8) if swizzle else (128, 256)
    return (16, swizzle * 8) if swizzle else (128, 256)

def add_wgmma(a, b, d, k, sa, sb, ta=0, tb=0, registers=False, na=1, nb=1, scale=1, extra=""):
    regs = N // 4 if d == "f16" else N // 2
    lines = list(HEAD)
    lines[2] += f" .shared .align 1024 .b8 tile[{A_BYTES + B_BYTES}];"
    lines += ["mov.u32 r63, tile;"]
    for name, start, size in (("a", 0, A_BYTES), ("b", A_BYTES, B_BYTES)):
        lines += pointer(name, size // 128) + [f"mad.lo.u32 s, t, {size // 128}, r63;"]
        lines += [f"ld.global.b32 r0, [p+{i}]; st.shared.b32 [s+{start + i}], r0;" for i in range(0, size // 128, 4)]
    lines += pointer("c", regs * 4)
    f = d == "f32"
    for i in range(regs):
        lines.append(f"ld.global.b32 r{40 + i}, [p+{4 * i}];" + (f" mov.b32 f{i}, r{40 + i};" if f else ""))
    if registers:
        lines += pointer("a", 16) + [f"ld.global.b32 r{i}, [p+{4 * i}];" for i in range(4)]
    lines += ["bar.sync 0; fence.proxy.async;"]
    lines += descriptor("da", 0, *layout(sa, ta), sa) + descriptor("db", A_BYTES, *layout(sb, tb), sb)
    names = ", ".join(f"f{i}" if f else f"r{40 + i}" for i in range(regs))
    integer = d == "s32"
    first = "{r0, r1, r2, r3}" if registers else "da"
    pop = ".and.popc" if a == "b1" else ""
    sat = ".satfinite" if extra == "satfinite" else ""
    tail = "" if integer else f", {na}, {nb}"
    if a in ("f16", "bf16"): tail += f", {tb}" if registers else f", {ta}, {tb}"
    text = f"wgmma.mma_async.sync.aligned.m64n{N}k{k}{sat}.{d}.{a}.{b}{pop} {{{names}}}, {first}, db, on{tail};"
    lines += [f"setp.ne.u32 on, {scale}, 0;", "wgmma.fence.sync.aligned;", text, "wgmma.commit_group.sync.aligned;",
              "wgmma.wait_group.sync.aligned 0;"]
    if f: lines += [f"mov.b32 r{40 + i}, f{i};" for i in range(regs)]
    lines += store(regs, False, 128)
    name = f"{text.split(' ')[0]} swizzles {sa} {sb} transposed {ta} {tb} negated {na} {nb} scale-d {scale}" + (" A in registers" if registers else "")
    KERNELS.append((name, d, lines, [buffer(a, "a"), buffer(b, "b"), buffer(d, "c")], 128, regs))

SWIZZLES = (0, 32, 64, 128)
for a, b, d, k in [("f16", "f16", "f32", 16), ("f16", "f16", "f16", 16), ("bf16", "bf16", "f32", 16), ("tf32", "tf32", "f32", 8)] + \
                  [(x, y, d, 32) for x in ("e4m3", "e5m2") for y in ("e4m3", "e5m2") for d in ("f32", "f16")] + \
                  [(x, y, "s32", 32) for x in ("s8", "u8") for y in ("s8", "u8")] + [("b1", "b1", "s32", 256)]:
    for i, swizzle in enumerate(SWIZZLES):
        add_wgmma(a, b, d, k, swizzle, SWIZZLES[(i + (k == 16)) % 4])
    add_wgmma(a, b, d, k, 128, 128, registers=True)
    add_wgmma(a, b, d, k, 128, 64, scale=0)
    if d != "s32": add_wgmma(a, b, d, k, 64, 128, na=-1, nb=-1 if k == 8 else 1)
    if a in ("s8", "u8"): add_wgmma(a, b, d, k, 0, 32, extra="satfinite")
    if a in ("f16", "bf16"):
        for ta, tb in ((1, 0), (0, 1), (1, 1)):
            for i, swizzle in enumerate(SWIZZLES):
                add_wgmma(a, b, d, k, swizzle, SWIZZLES[(i + ta) % 4], ta, tb)

# ---- files ----

with open(os.path.join(out_dir, "products.ptx"), "w") as f:
    f.write(".version 8.5\n.target sm_90a\n.address_size 64\n\n")
    for i, (_, _, lines, _, _, _) in enumerate(KERNELS):
        f.write(f".visible .entry k{i}" + "\n".join(lines) + "\nret;\n}\n\n")
PART = 100
for part in range(0, len(KERNELS), PART):
    launches, used, buffers = [], set(), {}
    for i in range(part, min(part + PART, len(KERNELS))):
        _, _, _, names, threads, regs = KERNELS[i]
        buffers[f"out{i}"] = {"dtype": "u32", "shape": [BLOCKS * threads * regs]}
        launches.append({"kernel": f"k{i}", "grid": [BLOCKS], "block": [threads], "args": names + [f"out{i}"]})
        used |= set(names)
    for name in used:
        buffers[name] = {"dtype": "u32", "shape": [BLOCKS * WORDS], "init": {"raw": f"{name}.bin"}}
    config = {"buffers": buffers, "launches": launches,
              "outputs": {f"out{i}": {"raw": f"out-{i}.bin"} for i in range(part, min(part + PART, len(KERNELS)))}}
    with open(os.path.join(out_dir, f"launch-{part // PART}.json"), "w") as f:
        json.dump(config, f)
with open(os.path.join(out_dir, "products.txt"), "w") as f:
    for name, d, *_ in KERNELS:
        f.write(f"{d}\t{name}\n")
print(f"{len(KERNELS)} products")
