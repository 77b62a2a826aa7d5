#!/usr/bin/env python3
"""Compares MMA results of two devices bit for bit: compare.py DIR A B. DIR is the output of generate.py, A and B contain
out-N.bin. Prints for each MMA that differs: the number of words, the kinds of blocks, the first word, and the largest
relative difference.

compare.py DIR A --record FILE B records the results of B: the hash of each MMA, and the words in which A differs.
compare.py DIR A FILE compares with the record; only these words may differ."""
import hashlib, math, os, struct, sys

folder, a, b = sys.argv[1], sys.argv[2], sys.argv[-1]
record = open(sys.argv[4], "w") if sys.argv[3] == "--record" else None
BLOCKS, STYLES = 16, ("moderate", "all exponents", "all bits", "zeros and subnormals")

def numbers(word, kind):
    if kind == "f32":
        return [struct.unpack("<f", struct.pack("<I", word))[0]]
    if kind == "f16":
        return list(struct.unpack("<2e", struct.pack("<I", word)))
    return [word]

def results(directory, index):
    return open(os.path.join(directory, f"out-{index}.bin"), "rb").read()

def digest(data):
    return hashlib.sha256(data).hexdigest()[:16]

same = total = known = 0
recorded = [line.rstrip("\n").split("\t") for line in open(b)] if os.path.isfile(b) else None
names = [line.rstrip("\n").split("\t") for line in open(os.path.join(folder, "products.txt"))]
if recorded and [r[0] for r in recorded] != [name for _, name in names]:
    sys.exit(f"{b} records other products than {folder} has")
for i, (kind, name) in enumerate(names):
    total += 1
    one = results(a, i)
    if recorded:
        _, hash, *patches = recorded[i]
        patched = bytearray(one)
        for patch in patches:
            at, word = (int(x, 16) for x in patch.split(":"))
            if struct.unpack_from("<I", one, 4 * at)[0] == word:
                print(f"{name}: word {at} no longer differs")
            struct.pack_into("<I", patched, 4 * at, word)
        if digest(bytes(patched)) != hash:
            print(f"{name}: differs")
        elif patches:
            known += 1
        else:
            same += 1
        continue
    two = results(b, i)
    hash = digest(two)
    one, two = (struct.unpack(f"<{len(x) // 4}I", x) for x in (one, two))
    wrong = [n for n in range(len(one)) if one[n] != two[n]]
    if record:
        record.write("\t".join([name, hash] + [f"{n:x}:{two[n]:08x}" for n in wrong]) + "\n")
    if not wrong:
        same += 1
        continue
    styles, largest = {}, 0
    for n in wrong:
        style = STYLES[n * BLOCKS // len(one) % 4]
        styles[style] = styles.get(style, 0) + 1
        for x, y in zip(numbers(one[n], kind), numbers(two[n], kind)):
            if kind in ("f32", "f16") and not (math.isnan(x) and math.isnan(y)) and x != y:
                finite = math.isfinite(x) and math.isfinite(y)
                largest = max(largest, abs(x - y) / max(abs(x), abs(y)) if finite else math.inf)
    n = wrong[0]
    print(f"{name}: {len(wrong)} of {len(one)} words differ ({', '.join(f'{c} {s}' for s, c in styles.items())}), the first is "
          f"{one[n]:#010x} and {two[n]:#010x}, the largest relative difference {largest:.3g}")
print(f"{same} of {total} products agree bit for bit" + (f", {known} differ as known" if recorded else ""))
sys.exit(same + known != total)
