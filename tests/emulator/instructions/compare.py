#!/usr/bin/env python3
"""Compares results of two devices: compare.py DIR A B [--all]. DIR is what generate.py wrote; A and B hold out-N.bin.

Instructions that are exact have to agree bit for bit; approximate ones within the error that instructions.txt states,
relative to the larger result, NaN with NaN. Prints each that differs with its first operands."""
import math, os, struct, sys

THREADS, PART = 1024, 500
folder, a, b = sys.argv[1:4]
rows = [line.rstrip("\n").split("\t") for line in open(os.path.join(folder, "instructions.txt"))]

def words(path):
    data = open(path, "rb").read()
    return struct.unpack(f"<{len(data) // 8}Q", data)

def half(x, bits):
    if bits == "bf16":
        return struct.unpack("<f", struct.pack("<I", x << 16))[0]
    return struct.unpack("<e", struct.pack("<H", x))[0]

def values(word, result, kind):
    if result == "f32":
        return [struct.unpack("<f", struct.pack("<I", word & 0xffffffff))[0]]
    if result == "f64":
        return [struct.unpack("<d", struct.pack("<Q", word))[0]]
    parts = [word & 0xffff] + ([word >> 16 & 0xffff] if result == "32" else [])
    return [half(p, kind) for p in parts]

def error(x, y):
    if math.isnan(x) or math.isnan(y):
        return 0 if math.isnan(x) and math.isnan(y) else math.inf
    if x == y:
        return 0
    if math.isinf(x) or math.isinf(y):
        return math.inf
    return abs(x - y) / max(abs(x), abs(y))

inputs = {}
def operands(kind, t):
    if kind not in inputs:
        inputs[kind] = [words(os.path.join(folder, f"{kind}_{n}.bin")) for n in "abc"]
    return " ".join(f"{w[t]:#x}" for w in inputs[kind])

bad = worst = 0
results = [[words(os.path.join(d, f"out-{p}.bin")) for p in range((len(rows) + PART - 1) // PART)] for d in (a, b)]
largest = {}
for i, (expect, result, kind, text) in enumerate(rows):
    base = i % PART * THREADS
    one, two = (r[i // PART][base:base + THREADS] for r in results)
    if expect == "exact":
        wrong = [t for t in range(THREADS) if one[t] != two[t]]
    else:
        wrong = []
        for t in range(THREADS):
            e = max(error(x, y) for x, y in zip(values(one[t], result, kind), values(two[t], result, kind)))
            largest[text] = max(largest.get(text, 0), e)
            if e > 2 * float(expect):
                wrong.append(t)
    if wrong:
        bad += 1
        t = wrong[0]
        print(f"{text}: {len(wrong)} of {THREADS} differ, first at operands {operands(kind, t)}: {one[t]:#x} and {two[t]:#x}")
for text, e in largest.items():
    print(f"approximate: {text}: largest relative difference {e:.3g}")
print(f"{len(rows) - bad} of {len(rows)} instructions agree")
sys.exit(1 if bad else 0)
