#!/usr/bin/env python3
"""Compares products of two devices bit for bit: compare.py DIR A B. DIR is what generate.py wrote, A and B hold out-N.bin.
Prints each product that differs: how many words, in which kinds of blocks, the first, and the largest relative difference."""
import math, os, struct, sys

folder, a, b = sys.argv[1:4]
BLOCKS, STYLES = 16, ("moderate", "all exponents", "all bits", "zeros and subnormals")

def numbers(word, kind):
    if kind == "f32":
        return [struct.unpack("<f", struct.pack("<I", word))[0]]
    if kind == "f16":
        return list(struct.unpack("<2e", struct.pack("<I", word)))
    return [word]

same = total = 0
for i, line in enumerate(open(os.path.join(folder, "products.txt"))):
    kind, name = line.rstrip("\n").split("\t")
    one, two = (open(os.path.join(d, f"out-{i}.bin"), "rb").read() for d in (a, b))
    total += 1
    if one == two:
        same += 1
        continue
    one, two = (struct.unpack(f"<{len(x) // 4}I", x) for x in (one, two))
    wrong = [n for n in range(len(one)) if one[n] != two[n]]
    styles, largest = {}, 0
    for n in wrong:
        style = STYLES[n * BLOCKS // len(one) % 4]
        styles[style] = styles.get(style, 0) + 1
        for x, y in zip(numbers(one[n], kind), numbers(two[n], kind)):
            if kind in ("f32", "f16") and not (math.isnan(x) and math.isnan(y)) and x != y:
                known = math.isfinite(x) and math.isfinite(y)
                largest = max(largest, abs(x - y) / max(abs(x), abs(y)) if known else math.inf)
    n = wrong[0]
    print(f"{name}: {len(wrong)} of {len(one)} words differ ({', '.join(f'{c} {s}' for s, c in styles.items())}), the first is "
          f"{one[n]:#010x} and {two[n]:#010x}, the largest relative difference {largest:.3g}")
print(f"{same} of {total} products agree bit for bit")
sys.exit(same != total)
