#!/usr/bin/env python3
"""Compares results of two devices: compare.py DIR A B. DIR is the output of generate.py; A and B contain out-N.bin, or B is
a file of recorded results such as h200.txt. compare.py DIR A --record FILE writes such a file: the hash of exact results,
every fourth of approximate ones.

Exact instructions have to agree bit for bit; approximate ones within the error in instructions.txt, relative to the
larger result, with NaN equal to NaN. Prints each difference with its first operands."""
import hashlib, math, os, struct, sys

THREADS, PART = 1024, 500
SAMPLE = range(0, THREADS, 4)
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
def inputs_of(kind):
    if kind not in inputs:
        inputs[kind] = [words(os.path.join(folder, f"{kind}_{n}.bin")) for n in "abc"]
    return inputs[kind]

def operands(kind, t):
    return " ".join(f"{w[t]:#x}" for w in inputs_of(kind))

# Where ptxas or the hardware differ from the PTX ISA outside of what programs use.
KNOWN = {"bfe.s64": "counts above 255 are not cut to 8 bits", "bfe.u64": "the same", "bfi.b64": "the same",
         "fns.b32": "an offset of -2^31 finds nothing"}

def digest(results):
    return hashlib.sha256(struct.pack(f"<{len(results)}Q", *results)).hexdigest()[:16]

bad = known = 0
record = open(sys.argv[4], "w") if b == "--record" else None
recorded = [line.rstrip("\n").split("\t") for line in open(b)] if b.endswith(".txt") else None
if recorded and [r[0] for r in recorded] != [r[3] for r in rows]:
    sys.exit(f"{b} records other instructions than {folder} has")
results = [[words(os.path.join(d, f"out-{p}.bin")) for p in range((len(rows) + PART - 1) // PART)] for d in ((a,) if record or recorded else (a, b))]
largest = {}
for i, (expect, result, kind, text) in enumerate(rows):
    base = i % PART * THREADS
    one = two = results[0][i // PART][base:base + THREADS]
    if record:
        record.write(text + "\t" + (digest(one) if expect == "exact" else ",".join(f"{w:x}" for w in (one[t] for t in SAMPLE))) + "\n")
        continue
    threads = range(THREADS)
    if not recorded:
        two = results[1][i // PART][base:base + THREADS]
    elif expect != "exact":
        threads = SAMPLE
        two = dict(zip(SAMPLE, (int(w, 16) for w in recorded[i][1].split(","))))
    if recorded and expect == "exact":
        wrong = [] if digest(one) == recorded[i][1] else [0]
    elif expect == "exact":
        wrong = [t for t in range(THREADS) if one[t] != two[t]]
    else:
        wrong, turn = [], expect.startswith("turn:")
        limit = 2 * float(expect.split(":")[-1])
        for t in threads:
            pairs = list(zip(values(one[t], result, kind), values(two[t], result, kind)))
            if turn:
                angle = values(inputs_of(kind)[0][t], "f32", kind)[0]
                if not abs(angle) <= math.pi:
                    continue
                e = max(abs(x - y) for x, y in pairs)
            else:
                # Below the least normal number of a half the last place is all there is.
                errors = [0 if result in ("16", "32") and abs(x - y) <= 2**-24 else error(x, y) for x, y in pairs]
                e = max(errors)
            largest[text] = max(largest.get(text, 0), e)
            if e > limit:
                wrong.append(t)
    if wrong and text.split()[0] in KNOWN:
        known += 1
        print(f"known: {text}: {len(wrong)} differ: {KNOWN[text.split()[0]]}")
    elif wrong:
        bad += 1
        t = wrong[0]
        print(f"{text}: {len(wrong)} of {THREADS} differ, first at operands {operands(kind, t)}: {one[t]:#x} and {two[t]:#x}")
if record:
    sys.exit(0)
for text, e in largest.items():
    print(f"approximate: {text}: largest relative difference {e:.3g}")
print(f"{len(rows) - bad - known} of {len(rows)} instructions agree, {known} differ as known, {bad} differ")
sys.exit(1 if bad else 0)
