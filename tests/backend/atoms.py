#!/usr/bin/env python3
"""Runs a kernel for each atom on the emulator with all checks and compares with sums and copies in Python: every MMA
of atoms.def, every copy atom in every width, with predicates and swizzles.

    atoms.py TOOLS LLVM FOLDER [N [mma|wgmma|copy]...]    each N-th of them"""
import concurrent.futures
import json
import os
import random
import re
import struct
import subprocess
import sys

TOOLS, _, FOLDER = sys.argv[1:4]
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
failures = []


def tool(name, *arguments):
    return subprocess.run([os.path.join(TOOLS, name), *arguments], capture_output=True, text=True, timeout=300)


def write_npy(path, words):
    header = f"{{'descr': '<u4', 'fortran_order': False, 'shape': ({len(words)},), }}"
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(words)}I", *words))


def run(name, arch, text, buffers, threads, smem=0, only_link=False):
    """buffers: name -> (words in, words expected or None); all are arrays of u32. only_link: ptxas takes it, the emulator has
    no such instruction."""
    stem = os.path.join(FOLDER, name)
    with open(stem + ".mlir", "w") as f:
        f.write(text)
    made = tool("cute-ptx", "-arch", arch, stem + ".mlir", "-o", stem + ".ptx")
    if made.returncode:
        return f"{name}: {made.stderr[:900]}"
    config = {"kernel": "k", "grid": [1, 1, 1], "block": [threads, 1, 1], "buffers": {}, "args": list(buffers), "check": {}}
    if smem:
        config["dynamic_smem"] = smem
    for buffer, (words, expected) in buffers.items():
        write_npy(f"{stem}.{buffer}.npy", words)
        config["buffers"][buffer] = {"dtype": "u32", "shape": [len(words)], "init": {"npy": f"{name}.{buffer}.npy"}}
        if expected is not None:
            write_npy(f"{stem}.{buffer}.want.npy", expected)
            config["check"][buffer] = {"npy": f"{name}.{buffer}.want.npy", "rtol": 0, "atol": 0}
    with open(stem + ".json", "w") as f:
        json.dump(config, f)
    if only_link:
        linked = tool("cute-link", "-arch", arch, stem + ".ptx", "-o", os.devnull)
        return f"{name}: {linked.stderr[:900]}" if linked.returncode not in (0, 3) else None
    ran = tool("cute-run", stem + ".ptx", "-c", stem + ".json", "-d", "emulator", "--check=all", "--no-bench")
    if ran.returncode:
        return f"{name}: {(ran.stderr or ran.stdout)[:900]}"
    if "passed" not in ran.stdout:
        return f"{name}: nothing was checked"
    return None


# ---- numbers: small integers, which all types have and whose sums are exact ----

E4M3 = [0x00, 0x38, 0x40, 0x44, 0x48]
E5M2 = [0x00, 0x3C, 0x40, 0x42, 0x44]


def small_float(table):
    return lambda v: table[abs(v)] | (0x80 if v < 0 else 0)


# MLIR's spelling of PTX's types, bits, the range of the test's values, their encoding.
TYPES = {
    "f16": ("f16", 16, (-4, 4), lambda v: struct.unpack("<H", struct.pack("<e", v))[0]),
    "bf16": ("bf16", 16, (-4, 4), lambda v: struct.unpack("<I", struct.pack("<f", v))[0] >> 16),
    "tf32": ("tf32", 32, (-4, 4), lambda v: struct.unpack("<I", struct.pack("<f", v))[0]),
    "f32": ("f32", 32, (-100, 100), lambda v: struct.unpack("<I", struct.pack("<f", v))[0]),
    "f64": ("f64", 64, (-100, 100), lambda v: struct.unpack("<Q", struct.pack("<d", v))[0]),
    "e4m3": ("f8E4M3FN", 8, (-4, 4), small_float(E4M3)),
    "e5m2": ("f8E5M2", 8, (-4, 4), small_float(E5M2)),
    "s8": ("i8", 8, (-128, 127), lambda v: v & 0xFF),
    "u8": ("ui8", 8, (0, 255), lambda v: v),
    "s4": ("i4", 4, (-8, 7), lambda v: v & 0xF),
    "u4": ("ui4", 4, (0, 15), lambda v: v),
    "b1": ("i1", 1, (0, 1), lambda v: v),
    "s32": ("i32", 32, (-1000, 1000), lambda v: v & 0xFFFFFFFF),
}


def words_of(values, kind):
    """Elements side by side, the first in the lowest bits."""
    _, bits, _, encode = TYPES[kind]
    number = 0
    for i, value in enumerate(values):
        number |= encode(value) << (i * bits)
    count = (len(values) * bits + 31) // 32
    return [(number >> (32 * i)) & 0xFFFFFFFF for i in range(count)]


# ---- MMAs ----

MMA = re.compile(r'CUTE_MMA\((\w+), "([\w.]+)", (\d+), \d+, (\d+), (\d+), (\d+), "(\w+)", "(\w+)", "(\w+)", (\w+),', re.S)


def view(name, argument, element, bits, rows, columns):
    return f"""    %i{name} = cute.get_iter(%{argument})
    %p{name} = cute.recast_iter(%i{name}) : (!cute.ptr<i32, gmem, align<16>>) -> !cute.ptr<{element}, gmem, align<16>>
    %l{name} = cute.static : !cute.layout<"({rows},{columns}):({columns},1)">
    %t{name} = cute.make_view(%p{name}, %l{name})
"""


def mma(row):
    name, mnemonic, arch, m, n, k, a, b, c, op = row
    m, n, k = int(m), int(n), int(k)
    rng = random.Random(name)
    ea, eb, ec = TYPES[a][0], TYPES[b][0], TYPES[c][0]
    suffix = {"CUTE_MMA_XOR_POPC": ", op = xor", "CUTE_MMA_AND_POPC": ", op = and"}.get(op, "")
    atom = f"!cute_nvgpu.{mnemonic}<{m}x{n}x{k}, elem_type = ({ea}, {eb}, {ec}){suffix} >"
    # Two steps of K: the second adds to the first.
    K = 2 * k
    A = [[rng.randint(*TYPES[a][2]) for _ in range(K)] for _ in range(m)]
    B = [[rng.randint(*TYPES[b][2]) for _ in range(K)] for _ in range(n)]
    C = [[rng.randint(-9, 9) for _ in range(n)] for _ in range(m)]
    combine = {"CUTE_MMA_XOR_POPC": lambda x, y: x ^ y, "CUTE_MMA_AND_POPC": lambda x, y: x & y}.get(op, lambda x, y: x * y)
    D = [[C[i][j] + sum(combine(A[i][q], B[j][q]) for q in range(K)) for j in range(n)] for i in range(m)]
    flat = lambda rows: [x for r in rows for x in r]
    word = lambda kind: 64 if TYPES[kind][1] == 64 else 32
    sizes = {x: len(words_of(flat(v), t)) for x, v, t in (("a", A, a), ("b", B, b), ("c", C, c))}
    argument = lambda x, size: f'%{x}: !cute.memref<i32, gmem, align<16>, "({size}):(1)">'
    text = f"""!mma = !cute.tiled_mma<{atom}, atom_layout_MNK = <"(1,1,1):(0,0,0)">>
gpu.module @m {{
  gpu.func @k({argument("a", sizes["a"])}, {argument("b", sizes["b"])}, {argument("c", sizes["c"])}) kernel {{
    %tx = nvvm.read.ptx.sreg.tid.x : i32
    %thread = cute.make_coord(%tx) : (i32) -> !cute.coord<"?">
    %atom = cute.make_atom() : () -> {atom}
    %mma = cute.make_tiled_mma(%atom) : ({atom}) -> !mma
"""
    for index, (x, element, kind, rows, columns) in enumerate((("a", ea, a, m, K), ("b", eb, b, n, K), ("c", ec, c, m, n))):
        text += view(x, x, element, TYPES[kind][1], rows, columns)
        text += f"""    %g{x} = cute.tiled.mma.partition<{{operand_id = {index} : i32}}> (%mma, %t{x}, %thread)
    %f{x} = cute.mma.make_fragment<{{operand_id = {index} : i32}}> (%mma, %g{x})
    %m{x} = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<{element}, {word(kind)} b>
    cute.copy(%m{x}, %g{x}, %f{x})
"""
    text += """    cute.gemm(%mma, %fc, %fa, %fb, %fc)
    cute.copy(%mc, %fc, %gc)
    gpu.return
  }
}
"""
    return run("mma_" + name, f"sm_{max(80, int(arch))}", text,
               {"a": (words_of(flat(A), a), None), "b": (words_of(flat(B), b), None),
                "c": (words_of(flat(C), c), words_of(flat(D), c))}, 32, only_link=c == "f16" and a in ("e4m3", "e5m2"))


def ldmatrix(element, bits, rows, k, columns):
    """The atom that fills a fragment of (rows, k) in shared memory, whose rows lie k apart or, if `columns`, one apart; None
    where ldmatrix has none."""
    registers = rows * k * bits // (32 * 32)
    if bits == 64 or registers not in (1, 2, 4) or k * bits % 128 or (columns and bits != 16):
        return None
    return f'!cute_nvgpu.atom.ldsm<val_type = {element}, mode = <"(8,8)">, sz_pattern = u16, num_matrices = {registers}, {"t" if columns else "n"}>'


def warps(row):
    """Two by two warps, each with two by two atoms and two steps of K; A and B by rows or columns, straight from memory or by
    ldmatrix from shared memory; N in the order of the atoms or permuted."""
    name, mnemonic, arch, m, n, k, a, b, c, op = row
    m, n, k = int(m), int(n), int(k)
    rng = random.Random(name + " warps")
    M, N, K = 4 * m, 4 * n, 2 * k
    suffix = {"CUTE_MMA_XOR_POPC": ", op = xor", "CUTE_MMA_AND_POPC": ", op = and"}.get(op, "")
    atom = f"!cute_nvgpu.{mnemonic}<{m}x{n}x{k}, elem_type = ({TYPES[a][0]}, {TYPES[b][0]}, {TYPES[c][0]}){suffix} >"
    A = [[rng.randint(*TYPES[a][2]) for _ in range(K)] for _ in range(M)]
    B = [[rng.randint(*TYPES[b][2]) for _ in range(K)] for _ in range(N)]
    combine = {"CUTE_MMA_XOR_POPC": lambda x, y: x ^ y, "CUTE_MMA_AND_POPC": lambda x, y: x & y}.get(op, lambda x, y: x * y)
    D = [[sum(combine(A[i][q], B[j][q]) for q in range(K)) for j in range(N)] for i in range(M)]
    permutation = rng.choice(["", f", ({2 * m}, {2 * n}, {k})", f', "[{2 * m}:1;({n},2,2):(1,{2 * n},{n});{k}:1]"'])
    text = f"""gpu.module @m {{
  gpu.func @k(PARAMETERS) kernel attributes {{nvvm.reqntid = array<i32: 128, 1, 1>}} {{
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %atom = cute.make_atom : {atom}
    %mma = cute.make_tiled_mma %atom, "(2,2,1):(1,2,0)"{permutation}
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %words = cute.recast_iter %bytes : i32
    %by = cute.static "128:1"
    %word = cute.make_atom : !cute_nvgpu.atom.universal_copy<i32>
"""
    buffers, smem = {}, 0
    for x, matrix, kind, rows, size in (("a", A, a, M, m), ("b", B, b, N, n)):
        element, bits = TYPES[kind][:2]
        columns = bits >= 8 and rng.random() < 0.5  # of less than 8 bits elements have to fill bytes
        order = [list(line) for line in zip(*matrix)] if columns else matrix
        buffers[x] = (words_of([v for line in order for v in line], kind), None)
        layout = f"({rows},{K}):(1,{rows})" if columns else f"({rows},{K}):({K},1)"
        ldsm = ldmatrix(element, bits, size, k, columns) if rng.random() < 0.7 else None
        count = len(buffers[x][0])
        at = f"%a{x}"
        if ldsm:
            text += f"""    %s{x} = cute.add_offset %words, {smem // 4}
    %w{x} = cute.make_view %s{x}, "({count}):(1)"
    %f{x} = cute.local_partition %{x}, %by, %thread
    %t{x} = cute.local_partition %w{x}, %by, %thread
    cute.copy %word, %f{x}, %t{x}
    gpu.barrier
"""
            smem += count * 4
            at = f"%s{x}"
        else:
            text += f"    %a{x} = cute.get_iter %{x}\n"
        index = "ab".index(x)
        text += f"""    %p{x} = cute.recast_iter {at} : {element}
    %v{x} = cute.make_view %p{x}, "{layout}"
    %g{x} = cute.tiled.mma.partition {"AB"[index]} (%mma, %v{x}, %thread)
    %r{x} = cute.mma.make_fragment {"AB"[index]} (%mma, %g{x})
"""
        if ldsm:
            text += f"""    %l{x} = cute.make_atom : {ldsm}
    %c{x} = cute.make_tiled_copy_{"AB"[index]} %l{x}, %mma
    %from{x} = cute.tiled.copy.partition_S %c{x}, %v{x}, %thread
    %to{x} = cute.tiled.copy.retile %c{x}, %r{x}
    cute.copy %c{x}, %from{x}, %to{x}
"""
        else:
            text += f"    %m{x} = cute.make_atom : !cute_nvgpu.atom.universal_copy<{element}>\n    cute.copy %m{x}, %g{x}, %r{x}\n"
    element = TYPES[c][0]
    buffers["c"] = (words_of([0] * (M * N), c), words_of([v for line in D for v in line], c))
    text += f"""    %ac = cute.get_iter %c
    %pc = cute.recast_iter %ac : {element}
    %vc = cute.make_view %pc, "({M},{N}):({N},1)"
    %gc = cute.tiled.mma.partition C (%mma, %vc, %thread)
    %rc = cute.mma.make_fragment C (%mma, %gc)
    %zero = arith.constant {"0" if element == "i32" else "0.0"} : {element}
    cute.fill %rc, %zero
    cute.gemm %mma, %rc, %ra, %rb, %rc
    %mc = cute.make_atom : !cute_nvgpu.atom.universal_copy<{element}>
    cute.copy %mc, %rc, %gc
    gpu.return
  }}
}}
"""
    parameters = ", ".join(f'%{x}: !cute.memref<i32, gmem, align<16>, "({len(words)}):(1)">' for x, (words, _) in buffers.items())
    return run("warps_" + name, f"sm_{max(80, int(arch))}", text.replace("PARAMETERS", parameters), buffers, 128, smem,
               only_link=c == "f16" and a in ("e4m3", "e5m2"))


def mmas():
    with open(os.path.join(ROOT, "lib/atoms/atoms.def")) as f:
        rows = MMA.findall(f.read())
    rows = [r for r in rows if r[6] != "*"]
    assert len(rows) > 50, len(rows)
    return [(test, r) for r in rows for test in (mma, warps)]


# ---- wgmma ----

WGMMA = re.compile(r'CUTE_WGMMA\((\d+), \d+, (\d+), (\d+), (\w+), "(\w+)", "(\w+)", "(\w+)", (\w+)\)')
SPANS = {0: "", 32: ", S<1,4,3>", 64: ", S<2,4,3>", 128: ", S<3,4,3>"}


def canonical(rows, depth, bits, mn_major, span, deep):
    """The layout of (rows, depth) in shared memory as text; `deep`: blocks of K follow one another before those of M or N."""
    p = (span or 16) * 8 // bits
    if mn_major:
        blocks = (rows // p, depth // 8)
        strides = (8 * p * blocks[1], 8 * p) if deep else (8 * p, 8 * p * blocks[0])
        return f"(({p},{blocks[0]}),(8,{blocks[1]})):((1,{strides[0]}),({p},{strides[1]}))"
    blocks = (rows // 8, depth // p)
    strides = (8 * p * blocks[1], 8 * p) if deep else (8 * p, 8 * p * blocks[0])
    return f"((8,{blocks[0]}),({p},{blocks[1]})):(({p},{strides[0]}),(1,{strides[1]}))"


def wgmma(case):
    """One or two warpgroups, two atoms along M or N, several steps of K; A and B in shared memory with a swizzle, by K or by M
    or N, or A in registers; the first step adds to C or replaces it, by a flag that is known or not."""
    name, a, b, c, op, n, k, frag, majors, spans, groups, adds, deep, saturates = case
    rng = random.Random(name)
    (ea, bits), eb, ec = TYPES[a][:2], TYPES[b][0], TYPES[c][0]
    columns = [frag == "ss" and majors[0] == "mn", majors[1] == "mn"]
    tiles = (1 if groups[0] > 1 else 2, 1 if groups[1] > 1 or n > 128 else 2)
    M, N = 64 * groups[0] * tiles[0], n * groups[1] * tiles[1]
    K = max(2 * k, *(0 if columns[i] else (spans[i] or 16) * 8 // bits for i in range(2)))
    A = [[rng.randint(*TYPES[a][2]) for _ in range(K)] for _ in range(M)]
    B = [[rng.randint(*TYPES[b][2]) for _ in range(K)] for _ in range(N)]
    C = [[rng.randint(-9, 9) for _ in range(N)] for _ in range(M)]
    if saturates:
        C = [[rng.choice((0x7fffffff, -0x80000000, 5)) for _ in range(N)] for _ in range(M)]
    combine = (lambda x, y: x & y) if op == "CUTE_MMA_AND_POPC" else (lambda x, y: x * y)
    step = [[sum(combine(x, y) for x, y in zip(p, q)) for q in B] for p in A]
    if saturates:  # each step of K saturates
        D = [[0] * N for _ in range(M)]
        for i in range(M):
            for j in range(N):
                total = C[i][j] if adds != "no" else 0
                for at in range(0, K, k):
                    total += sum(A[i][q] * B[j][q] for q in range(at, at + k))
                    total = max(-0x80000000, min(0x7fffffff, total))
                D[i][j] = total
    else:
        D = [[(C[i][j] if adds != "no" else 0) + step[i][j] for j in range(N)] for i in range(M)]
    suffix = (", op = and" if op == "CUTE_MMA_AND_POPC" else "")
    atom = f"!cute_nvgpu.sm90.mma<64x{n}x{k}, ab_major = ({majors[0]}, {majors[1]}), elem_type = ({ea}, {eb}, {ec}){suffix}, frag_kind = {frag}{', satfinite' if saturates else ''}>"
    threads = 128 * groups[0] * groups[1]
    text = f"""gpu.module @m {{
  gpu.func @k(PARAMETERS) kernel attributes {{nvvm.reqntid = array<i32: {threads}, 1, 1>}} {{
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %atom = cute.make_atom : {atom}
    %mma = cute.make_tiled_mma %atom, "({groups[0]},{groups[1]},1):(1,{groups[0]},0)"
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %words = cute.recast_iter %bytes : i32
    %threads = arith.constant {threads} : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
"""
    buffers, smem, flat = {}, 0, lambda rows: [x for r in rows for x in r]
    per = 32 // bits
    for i, (x, matrix, kind, rows) in enumerate((("a", A, a, M), ("b", B, b, N))):
        element = TYPES[kind][0]
        order = [list(line) for line in zip(*matrix)] if columns[i] else matrix
        buffers[x] = (words_of(flat(order), kind), None)
        count = len(buffers[x][0])
        ldsm = i == 0 and frag == "rs" and bits == 16 and deep
        # The second of two stages, which is only known when it runs, and a swizzle of elements in place of bytes.
        staged, size = not deep and spans[i], (count * 4 + 1023) // 1024 * 1024
        if i == 0 and frag == "rs" and not ldsm:
            text += f"""    %aa = cute.get_iter %a
    %pa = cute.recast_iter %aa : {element}
    %va = cute.make_view %pa, "({rows},{K}):({K},1)"
    %ga = cute.tiled.mma.partition A (%mma, %va, %thread)
    %fa = cute.mma.make_fragment A (%mma, %ga)
    %ma = cute.make_atom : !cute_nvgpu.atom.universal_copy<{element}{', 32 b' if bits < 32 else ''}>
    cute.copy %ma, %ga, %fa
"""
            continue
        layout = canonical(rows, K, bits, columns[i], spans[i], deep)
        # Words, in the order in which they lie in global memory: (contiguous mode, other mode).
        extents = (rows // per, K) if columns[i] else (K // per, rows)
        first, second = (0, 1) if columns[i] else (1, 0)
        shape, stride = canonical(extents[first], extents[second], 32, columns[i], spans[i], deep).split(":")
        s, d = (re.findall(r"\((\d+),(\d+)\)", tree) for tree in (shape, stride))
        (s0, s1), (t0, t1), (d0, d1), (e0, e1) = s[first], s[second], d[first], d[second]
        text += f"""    %s{x} = cute.add_offset %words, {(smem + (size if staged else 0)) // 4}
    %z{x} = cute.recast_iter(%s{x}) : (!cute.ptr<i32, smem, align<1024>>) -> !cute.ptr<i32, smem, align<1024>{SPANS[spans[i]]}>
    %w{x} = cute.make_view %z{x}, "(({s0},{s1}),({t0},{t1})):(({d0},{d1}),({e0},{e1}))"
    %i{x} = cute.get_iter %{x}
    %o{x} = cute.make_view %i{x}, "(({s0},{s1}),({t0},{t1})):((1,{s0}),({extents[0]},{int(t0) * extents[0]}))"
    %n{x} = arith.constant {count} : i32
    scf.for %i = %thread to %n{x} step %threads : i32 {{
      %value = cute.memref.load(%o{x}, %i)
      cute.memref.store(%w{x}, %i, %value)
    }}
"""
        if staged:
            extent, step = layout.split(":")
            swizzle = f"S<{spans[i].bit_length() - 5},{7 - (bits.bit_length() - 1)},3> o 0 o "
            text += f"""    %first{x} = cute.add_offset %words, {smem // 4}
    %p{x} = cute.recast_iter(%first{x}) : (!cute.ptr<i32, smem, align<1024>>) -> !cute.ptr<{element}, smem, align<1024>>
    %all{x} = cute.make_view %p{x}, "{swizzle}({extent[1:-1]},2):({step[1:-1]},{size * 8 // bits})"
    %there{x} = arith.cmpi ult, %thread, %threads : i32
    %stage{x} = arith.extui %there{x} : i1 to i32
    %v{x} = cute.slice(%all{x}, (_, _, %stage{x}))
"""
        else:
            text += f"""    %p{x} = cute.recast_iter(%s{x}) : (!cute.ptr<i32, smem, align<1024>>) -> !cute.ptr<{element}, smem, align<1024>{SPANS[spans[i]]}>
    %v{x} = cute.make_view %p{x}, "{layout}"
"""
        text += f"""    %g{x} = cute.tiled.mma.partition {"AB"[i]} (%mma, %v{x}, %thread)
    %f{x} = cute.mma.make_fragment {"AB"[i]} (%mma, %g{x})
"""
        if ldsm:
            text += f"""    %ldsm = cute.make_atom : !cute_nvgpu.atom.ldsm<val_type = {element}, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>
    %copy = cute.make_tiled_copy_A %ldsm, %mma
    %source = cute.tiled.copy.partition_S %copy, %va, %thread
    %target = cute.tiled.copy.retile %copy, %fa
    gpu.barrier
    cute.copy %copy, %source, %target
"""
        smem += size * (2 if staged else 1)
    buffers["c"] = (words_of(flat(C), c), words_of(flat(D), c))
    text += f"""    %ic = cute.get_iter %c
    %pc = cute.recast_iter %ic : {ec}
    %vc = cute.make_view %pc, "({M},{N}):({N},1)"
    %gc = cute.tiled.mma.partition C (%mma, %vc, %thread)
    %fc = cute.mma.make_fragment C (%mma, %gc)
    %mc = cute.make_atom : !cute_nvgpu.atom.universal_copy<{ec}>
    cute.copy %mc, %gc, %fc
    nvvm.fence.proxy {{kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}}
    gpu.barrier
    nvvm.wgmma.fence.aligned
"""
    steps = K // k
    if adds == "all":
        text += "    cute.gemm %mma, %fc, %fa, %fb, %fc\n"
    elif adds == "no" and deep:  # all steps of K at once
        text += """    %false = arith.constant false
    %off = cute_nvgpu.atom.set_value(%mma, %false) {field = accum_c}
    cute.gemm %off, %fc, %fa, %fb, %fc
"""
    elif adds == "unknown":  # a flag that is only known when it runs, from a loop
        text += f"""    %true = arith.constant true
    %steps = arith.constant {steps} : i32
    %wide = arith.cmpi ult, %thread, %steps : i32
    %any = arith.ori %wide, %true : i1
    scf.for %s = %c0 to %steps step %c1 : i32 {{
      %later = arith.cmpi ne, %s, %c0 : i32
      %on = cute_nvgpu.atom.set_value(%mma, %later) {{field = accum_c}}
      %set = cute_nvgpu.atom.set_value(%on, %any) {{field = accum_c}}
      cute.gemm %set, %fc, %fa[_, _, %s], %fb[_, _, %s], %fc
    }} {{loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}}
"""
    else:
        text += f"""    %steps = arith.constant {steps} : i32
    %false = arith.constant false
    %true = arith.constant true
    %first = cute_nvgpu.atom.set_value(%mma, %false) {{field = accum_c}}
    %last = scf.for %s = %c0 to %steps step %c1 iter_args(%now = %first) -> (TILED) : i32 {{
      cute.gemm %now, %fc, %fa[_, _, %s], %fb[_, _, %s], %fc
      %next = cute_nvgpu.atom.set_value(%now, %true) {{field = accum_c}}
      scf.yield %next : TILED
    }} {{loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}}
"""
        text = text.replace("TILED", f'!cute.tiled_mma<{atom}, atom_layout_MNK = <"({groups[0]},{groups[1]},1):(1,{groups[0]},0)">>')
    text += """    nvvm.wgmma.commit.group.sync.aligned
    nvvm.wgmma.wait.group.sync.aligned 0
"""
    if c == "f16" and n % 16 == 0:  # through shared memory by stmatrix
        text += f"""    gpu.barrier
    %sc = cute.recast_iter %words : f16
    %wc = cute.make_view %sc, "({M},{N}):({N},1)"
    %stsm = cute.make_atom : !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = 4, n>
    %out = cute.make_tiled_copy_C %stsm, %mma
    %rs = cute.tiled.copy.retile %out, %fc
    %ss = cute.tiled.copy.partition_D %out, %wc, %thread
    cute.copy %out, %rs, %ss
    gpu.barrier
    %wv = cute.make_view %words, "({M * N // 2}):(1)"
    %count = arith.constant {M * N // 2} : i32
    scf.for %i = %thread to %count step %threads : i32 {{
      %value = cute.memref.load(%wv, %i)
      cute.memref.store(%c, %i, %value)
    }}
"""
        smem = max(smem, 2 * M * N)
    else:
        text += "    cute.copy %mc, %fc, %gc\n"
    text += "    gpu.return\n  }\n}\n"
    parameters = ", ".join(f'%{x}: !cute.memref<i32, gmem, align<16>, "({len(words)}):(1)">' for x, (words, _) in buffers.items())
    return run("wgmma_" + name, "sm_90a", text.replace("PARAMETERS", parameters), buffers, threads, smem)


def wgmmas():
    with open(os.path.join(ROOT, "lib/atoms/atoms.def")) as f:
        rows = WGMMA.findall(f.read())
    assert len(rows) > 15, len(rows)
    rng, cases = random.Random("wgmma"), []

    def add(a, b, c, op, n, k, frag, majors, spans, groups, adds, saturates=False):
        deep = rng.random() < 0.5
        name = f"{c}_{a}_{b}_{n}_{frag}_{''.join(majors)}_{spans[0]}_{spans[1]}_{groups[0]}{groups[1]}_{adds}{'_deep' if deep else ''}{'_sat' if saturates else ''}"
        cases.append((name, a, b, c, op, n, k, frag, majors, spans, groups, adds, deep, saturates))

    for _, k, step, both, a, b, c, op in rows:
        k, bits = int(k), TYPES[a][1]
        if TYPES[c][1] == 16 and bits == 8 and (a, b) != ("e4m3", "e5m2"):
            sizes = [64]
        else:
            sizes = [8, 24, 32, 64, 256] + ([40, 200] if step == "8" else [48, 208])
        for index, n in enumerate(sizes):
            frag = "rs" if index % 3 == 1 else "ss"
            groups = rng.choice([(1, 1), (2, 1), (1, 2)]) if n <= 128 else (1, 1)
            add(a, b, c, op, n, k, frag, ("k", "k"), rng.choices(list(SPANS), k=2), groups, rng.choice(["all", "no", "unknown"]))
        if both == "true":
            for majors in (("k", "mn"), ("mn", "k"), ("mn", "mn")):
                for span in SPANS:
                    n = rng.choice([64, 128])
                    frag = "rs" if majors[0] == "k" and rng.random() < 0.5 else "ss"
                    add(a, b, c, op, n, k, frag, majors, (span, rng.choice(list(SPANS))), rng.choice([(1, 1), (2, 1), (1, 2)]), "all")
        if a in ("s8", "u8"):
            add(a, b, c, op, 16, k, "ss", ("k", "k"), (128, 128), (1, 1), "all", True)
    return [(wgmma, case) for case in cases]


# ---- copies ----

THREADS = 32


def copy(case):
    """Each thread moves `count` runs of an atom through registers or shared memory; with a predicate, some of them."""
    name, element, bits, width, atom, predicate, swizzle = case
    rng = random.Random(name)
    per_run, runs = width // bits, 4
    total = THREADS * per_run * runs
    source = [rng.getrandbits(32) for _ in range(total * bits // 32)]
    before = [rng.getrandbits(32) for _ in range(total * bits // 32)]
    asynchronous = "async" in atom
    keep = [True] * runs
    if predicate:
        keep = [rng.random() < 0.5 for _ in range(runs)]
        keep[rng.randrange(runs)] = False
    bytes_of = lambda words: bytearray(struct.pack(f"<{len(words)}I", *words))
    want, old, new = bytes_of(before), bytes_of(before), bytes_of(source)
    size = width // 8
    for thread in range(THREADS):
        for r in range(runs):
            at = (r * THREADS + thread) * size
            if keep[r]:
                want[at:at + size] = new[at:at + size]
            elif asynchronous:
                want[at:at + size] = bytes(size)
            else:
                want[at:at + size] = old[at:at + size]
    expected = list(struct.unpack(f"<{len(want) // 4}I", bytes(want)))
    align = max(16, width // 8)
    layout = f"(({per_run},{THREADS}),{runs}):((1,{per_run}),{per_run * THREADS})"
    memory = lambda x: f'%{x}: !cute.memref<i32, gmem, align<16>, "({len(source)}):(1)">'
    text = f"""gpu.module @m {{
  gpu.func @k({memory("a")}, {memory("b")}) kernel {{
    %tx = nvvm.read.ptx.sreg.tid.x : i32
    %l = cute.static : !cute.layout<"({per_run},{THREADS},{runs}):(1,{per_run},{per_run * THREADS})">
    %c = cute.make_coord(%tx) : (i32) -> !cute.coord<"(_,?,_)">
    %copy = cute.make_atom() : () -> {atom}
    %plain = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<{element}, {width} b>
"""
    for x in "ab":
        text += f"""    %i{x} = cute.get_iter(%{x})
    %p{x} = cute.recast_iter(%i{x}) : (!cute.ptr<i32, gmem, align<16>>) -> !cute.ptr<{element}, gmem, align<16>>
    %t{x} = cute.make_view(%p{x}, %l)
    %g{x} = cute.slice(%t{x}, %c)
"""
    condition = ""
    if predicate:
        text += f'    %pl = cute.static : !cute.layout<"(1,{runs}):(0,1)">\n    %p = cute.memref.alloca(%pl) : (!cute.layout<"(1,{runs}):(0,1)">) -> !cute.memref<i8, rmem, "(1,{runs}):(0,1)">\n'
        for r in range(runs):
            text += f'    %pc{r} = cute.static : !cute.coord<"(0,{r})">\n    %pv{r} = arith.constant {int(keep[r])} : i8\n    cute.memref.store(%p, %pc{r}, %pv{r})\n'
        condition = ", %p"
    fragment = f'!cute.memref<{element}, rmem, align<16>, "({per_run},{runs}):(1,{per_run})">'
    if asynchronous or swizzle:
        text += f"""    %s = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %ps = cute.recast_iter(%s) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<{element}, smem, align<1024>{swizzle}>
    %ts = cute.make_view(%ps, %l)
    %gs = cute.slice(%ts, %c)
    cute.copy({"%copy" if asynchronous else "%plain"}, %ga, %gs{condition if asynchronous else ""})
"""
        if asynchronous:
            text += "    cute_nvgpu.arch.cp_async_commit_group() : () -> ()\n    cute_nvgpu.arch.cp_async_wait_group<{groups = 0 : i32}> () : () -> ()\n"
        text += "    cute_nvgpu.arch.block_sync() : () -> ()\n"
        source_name, last = "%gs", "" if asynchronous else condition
    else:
        source_name, last = "%ga", condition
    text += f"""    %fl = cute.static : !cute.layout<"({per_run},{runs}):(1,{per_run})">
    %f = cute.memref.alloca(%fl) : (!cute.layout<"({per_run},{runs}):(1,{per_run})">) -> {fragment}
    cute.copy(%plain, {source_name}, %f)
    cute.copy(%plain, %f, %gb{last})
    gpu.return
  }}
}}
"""
    return run("copy_" + name, "sm_80", text, {"a": (source, None), "b": (before, expected)}, THREADS,
               len(source) * 4 if asynchronous or swizzle else 0)


def copies():
    cases = []
    for element, bits in (("i8", 8), ("f16", 16), ("bf16", 16), ("f32", 32), ("f64", 64), ("f8E4M3FN", 8), ("i4", 4)):
        for width in (8, 16, 32, 64, 128):
            if width < bits or width % bits:
                continue
            atom = f"!cute_nvgpu.atom.universal_copy<{element}, {width} b>"
            for predicate in (False, True):
                for swizzle in ("", ", S<2,4,3>"):
                    tag = f"{element}_{width}{'_predicate' if predicate else ''}{'_swizzle' if swizzle else ''}"
                    cases.append((tag, element, bits, width, atom, predicate, swizzle))
                if width >= 32:
                    for cache in ("always", "global"):
                        if cache == "global" and width != 128:
                            continue
                        atom_async = f"!cute_nvgpu.atom.simt_async_copy<{element}, cache = {cache}, {width} b>"
                        for swizzle in ("", ", S<3,4,3>"):
                            tag = f"{element}_{width}_{cache}{'_predicate' if predicate else ''}{'_swizzle' if swizzle else ''}"
                            cases.append((tag, element, bits, width, atom_async, predicate, swizzle))
    return [(copy, c) for c in cases]


KINDS = {"mma": mmas, "wgmma": wgmmas, "copy": copies}
every = int(sys.argv[4]) if len(sys.argv) > 4 else 1
work = [job for kind in sys.argv[5:] or KINDS for job in KINDS[kind]()][::every]
with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for failure in pool.map(lambda job: job[0](job[1]), work):
        if failure:
            failures.append(failure)
for failure in failures:
    print(failure)
print(f"{len(work) - len(failures)} passed, {len(failures)} failed")
sys.exit(bool(failures))
