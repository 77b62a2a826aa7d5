#!/usr/bin/env python3
"""Modified modules printed by CuTe DSL. Prints TAP, and a summary as the last comment.

    tests/import/variants.py CUTE_OPT FOLDER other-float [NAME...]
    tests/import/variants.py CUTE_OPT FOLDER contradict COUNT [SEED [NAME...]]

other-float: f16 is replaced by bf16, or bf16 by f16 if it is more frequent (also in vectors, aliases and names); the module
has to remain valid. contradict: in each of COUNT copies the type of one operand or result is changed (an integer of a layout,
an element type, a space, an alignment, a parameter of an atom); a message has to be reported at the operation, or at one
that defines or uses the value."""
import os
import random
import re
import subprocess
import sys

from modules import modules, round_trip

# Types in a dump stand behind the operation's last `: `, or are aliases.
OPERATION = re.compile(r"^\s*(?:(%\d+)(?::\d+)? = )?\"(cute(?:_nvgpu)?\.[\w.]+)\"\((.*?)\)(?: <\{.*\}>)? : \((.*)\) -> (.*)$")


def other_float(text):
    """f16 of a word that ends in it, and as a format of tensor maps; what is longer (8f16) is not."""
    if len(re.findall(r"bf16", text)) > len(re.findall(r"(?<!b)f16", text)):
        text = re.sub(r"\bBF16_RN\b", "F16_RN", text)
        return re.sub(r"(?<![A-Za-z])bf16|(?<=x)bf16|(?<=_)bf16", "f16", text)
    text = re.sub(r"\bF16_RN\b", "BF16_RN", text)
    return re.sub(r"(?<![A-Za-z0-9])f16|(?<=x)f16|(?<=_)f16", "bf16", text)


# ---- contradictions ----

def split_top(text):
    """At commas outside of brackets and strings."""
    items, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted and c in "(<[{":
            depth += 1
        elif not quoted and c in ")>]}" and text[i - 1] != "-":
            depth -= 1
        elif not quoted and c == "," and depth == 0:
            items.append(text[start:i].strip())
            start = i + 1
    return [item for item in items + [text[start:].strip()] if item]


def aliases(text):
    return dict(re.findall(r"^(!\w+) = (.*)$", text, flags=re.M))


def changed(type, random):
    """Another type, and what was changed; None where nothing can be."""
    ways = []
    for m in re.finditer(r'(?<=[(,:\[;])\d+(?=[),:;\]"])|(?<=")\d+(?=[:"])', type):
        ways.append(("leaf", m.span(), str(int(m[0]) * 2 + 1)))
    for m in re.finditer(r"\b(gmem|smem|rmem)\b", type):
        ways.append(("space", m.span(), {"gmem": "smem", "smem": "rmem", "rmem": "gmem"}[m[0]]))
    for m in re.finditer(r"(?<=<)(?:b?f16|f32|i8|i32)(?=,)", type):
        ways.append(("type", m.span(), "f64" if m[0] != "f64" else "f32"))
    for m in re.finditer(r"(?<=align<)\d+(?=>)", type):
        ways.append(("alignment", m.span(), str(int(m[0]) * 2)))
    for m in re.finditer(r"\b(16x8x16|128 b|trans|num_matrices = 4|num_matrices = 2)\b", type):
        other = {"16x8x16": "16x8x8", "128 b": "64 b", "trans": "", "num_matrices = 4": "num_matrices = 2",
                 "num_matrices = 2": "num_matrices = 4"}[m[0]]
        if other:
            ways.append(("atom", m.span(), other))
    if not ways:
        return None
    what, (start, end), new = random.choice(ways)
    return type[:start] + new + type[end:], what


def results_of(lines, number):
    """Lines that use what line `number` defines."""
    m = OPERATION.match(lines[number])
    if not m or not m[1]:
        return []
    value = re.compile(re.escape(m[1]) + r"(?![\d#])")
    found = []
    for i in range(number + 1, len(lines)):
        if value.search(lines[i]):
            found.append(i)
        if re.match(r"^\s*" + re.escape(m[1]) + r" = ", lines[i]):
            break
    return found


def contradict(text, names, random):
    """(text, line from 1, lines at which a message may stand, what was changed), or None."""
    lines = text.split("\n")
    candidates = [i for i, line in enumerate(lines) if OPERATION.match(line) and len(line) < 4000]
    if not candidates:
        return None
    number = random.choice(candidates)
    m = OPERATION.match(lines[number])
    operands, results = split_top(m[4]), split_top(m[5][1:-1] if m[5].startswith("(") else m[5])
    slots = [("operand", i) for i in range(len(operands))] + [("result", i) for i in range(len(results))]
    random.shuffle(slots)
    for side, i in slots:
        types = operands if side == "operand" else results
        full = names.get(types[i], types[i])
        if not full.startswith("!cute"):
            continue
        new = changed(full, random)
        if not new or new[0] == full:
            continue
        if not operands and not results_of(lines, number):
            continue  # a constant that nothing uses contradicts nothing
        types = types[:i] + [new[0]] + types[i + 1:]
        operand_types, result_types = (types, results) if side == "operand" else (operands, types)
        tail = f"({', '.join(operand_types)}) -> " + \
            (f"({', '.join(result_types)})" if m[5].startswith("(") else ", ".join(result_types))
        lines[number] = lines[number][:m.start(4) - 1] + tail
        uses = results_of(text.split("\n"), number)
        definitions = []
        if side == "operand":
            value = split_top(m[3])[i] if m[3] else ""
            definitions = [j for j in range(number) if value and re.match(r"^\s*" + re.escape(value) + r" = ", lines[j])][-1:]
        return "\n".join(lines), number + 1, [number + 1] + [j + 1 for j in uses + definitions], \
            f"{new[1]} of {side} {i} of {m[2]}"
    return None


def messages(cute_opt, text):
    """Exit code, lines of errors, the first message."""
    done = subprocess.run([cute_opt, "-", "-o", os.devnull], input=text, capture_output=True, text=True, timeout=120)
    errors = [line for line in done.stderr.splitlines() if ": error: " in line]
    places = [int(m[1]) for m in (re.match(r"<stdin>:(\d+):", line) for line in errors) if m]
    return done.returncode, places, errors[0] if errors else done.stderr[:300]


def main():
    cute_opt, folder, mode = sys.argv[1:4]
    number = good = 0

    def check(name, holds, why=""):
        nonlocal number, good
        number += 1
        good += bool(holds)
        if not holds:
            print("".join(f"# {line}\n" for line in str(why).splitlines()), end="")
        print(f"{'ok' if holds else 'not ok'} {number} - {name}", flush=True)

    if mode == "other-float":
        for form, path in modules(folder, sys.argv[4:]):
            with open(path) as file:
                text = file.read()
            new = other_float(text)
            if new == text:
                continue
            try:
                round_trip(cute_opt, new)
                check(f"{os.path.relpath(path, folder)} with the other 16-bit float", True)
            except (ValueError, subprocess.TimeoutExpired) as error:
                check(f"{os.path.relpath(path, folder)} with the other 16-bit float", False, error)
    else:
        wanted, seed, names = int(sys.argv[4]), int((sys.argv[5:] or [1])[0]), sys.argv[6:]
        texts = []
        for form, path in modules(folder, names):
            with open(path) as file:
                text = file.read()
            if form == "generic" and '"cuda.kernel"' in text:
                texts.append((os.path.relpath(path, folder), text, aliases(text)))
        dice = random.Random(seed)
        while texts and number < wanted:
            name, text, known = dice.choice(texts)
            made = contradict(text, known, dice)
            if not made:
                continue
            new, line, places, what = made
            code, found, first = messages(cute_opt, new)
            check(f"{name}:{line}: {what}", code == 1 and any(place in places for place in found),
                  f"exit code {code}, {first}\n{new.splitlines()[line - 1].strip()[:600]}")
    print(f"1..{number}")
    print(f"# {good} of {number}")
    return good != number or not number


if __name__ == "__main__":
    sys.exit(main())
