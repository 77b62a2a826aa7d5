"""Operations with inconsistent types are rejected at their line.

    tests/contradictions/variants.py CUTE_BIN

Each operation of kernels.mlir is placed in a function whose arguments have the types of its operands, which is accepted. Then one
type is changed: a leaf, an element type, a space, an alignment or an atom of a result that is implied by the operands, or of an
operand that must match the others. Prints the number of variants, and those that were accepted or rejected elsewhere."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
# What their types say is not said by their operands: they are changed by taking an operand away.
CONSTRUCTORS = {"cute.make_shape", "cute.make_stride", "cute.make_coord", "cute.make_int_tuple"}
# Nothing contradicts what these say.
FREE = {"cute.static", "cute.make_atom", "func.return"}
# Operands that have to suit the others: (operation, operand, what may be changed).
SUITED = {
    "cute.copy": {0: ["atom"], 1: ["element", "space", "extent"], 2: ["element", "space", "extent"], 3: ["element"]},
    "cute.gemm": {0: ["atom"], 1: ["element", "space", "extent"], 2: ["element", "space", "extent"],
                  3: ["element", "space", "extent"], 4: ["element", "space", "extent"]},
    "cute.memref.store": {0: ["element"], 1: ["mode"], 2: ["scalar"]},
    "cute.memref.load": {1: ["mode"]},
    "cute.memref.store_vec": {0: ["vector"], 1: ["element"]},
    "cute.fill": {0: ["element"], 1: ["scalar"]},
    "cute.ptr.store": {0: ["element"], 1: ["vector"]},
    "cute_nvgpu.arch.copy.SM80.cp_async": {0: ["space"], 1: ["space", "wide"]},
    "cute_nvgpu.arch.copy.ldsm": {0: ["space"]},
}
# Results that do not follow: what else than a leaf would contradict the operands.
STATED = {
    "cute.recast_iter": ["space", "align"], "cute.apply_swizzle": ["element", "space", "align"], "cute.ptrtoint": [],
    "cute.memref.alloca": ["leaf", "first", "unknown", "space"], "cute.ptr.load": ["vector"], "cute.fast_divmod.create_divisor": ["width"],
    "cute.fast_divmod.compute": ["integer"], "cute.assume": ["width"], "cute_nvgpu.arch.copy.ldsm": ["vector"],
    "cute_nvgpu.arch.mma.SM80": ["scalar"], "cute.mma.make_fragment": ["leaf", "first", "element", "space"],
}


def split_top(text):
    items, depth, quoted, start = [], 0, False, 0
    for i, c in enumerate(text):
        if c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in "(<[{") - (c in ")>]}" and text[i - 1] != "-")
            if c == "," and depth == 0:
                items.append(text[start:i])
                start = i + 1
    return [item.strip() for item in items + [text[start:]] if item.strip()]


def parts(line):
    """(name, properties, operand types, result types) of an operation in generic form."""
    name = re.search(r'"(cute[\w.]*)"\(', line)[1]
    depth, quoted, colon = 0, False, None
    for i, c in enumerate(line):
        if c == '"':
            quoted = not quoted
        elif not quoted:
            depth += (c in "(<[{") - (c in ")>]}" and line[i - 1] != "-")
            if c == ":" and depth == 0 and line[i - 1] == " " and i > line.index(name):
                colon = i
                break
    head, types = line[:colon], line[colon + 1:].strip()
    properties = re.search(r"\) (<\{.*\}>)", head)
    end = next(i for i in range(len(types)) if types[i] == ")" and split_top(types[:i + 1] + ",x")[1:] == ["x"])
    operands, results = split_top(types[1:end]), types[end + 1:].strip()[2:].strip()
    results = split_top(results[1:-1]) if results.startswith("(") else [results]
    return name, properties[1] if properties else "", operands, results


def changed(type, how):
    """The type with one thing changed, or None where it has no such thing."""
    if how in ("leaf", "first", "unknown", "extent"):  # the last number, the first one, the last or the first `?`, the last extent
        end = r'(?=\)*:)' if how == "extent" else ""
        match = list(re.finditer(r'(?<![@\d=<])\d+' + end + r'(?=[^"<>@{}]*")', type))
        if not match or (how in ("first", "unknown") and len(match) == 1):
            return None
        at = match[0 if how in ("first", "unknown") else -1]
        return type[:at.start()] + ("?" if how == "unknown" else str(int(at[0]) + 1)) + type[at.end():]
    if how == "mode":
        return re.sub(r'\)">$', ',0)">', type)
    if how == "wider":
        return type.replace("?", "?{i64}", 1) if "?" in type and "?{" not in type else None
    rules = {
        "element": r"(?<=<)(f16|f32|i8)(?=,)", "space": r"\b(gmem|smem|rmem)\b", "align": r"align<(\d+)>",
        "atom": r"(elem_type = \(f16, f16|copy<f16|num_matrices = 4)", "scalar": r"^(f16|f32|i32)$",
        "vector": r"vector<(\d+)x", "width": r"(?<=<)32(?=>)|i32", "integer": r"^i32$", "wide": r"i128",
    }
    other = {"f16": "bf16", "f32": "f16", "i8": "f32", "gmem": "smem", "smem": "gmem", "rmem": "gmem", "elem_type = (f16, f16": "elem_type = (bf16, bf16",
             "copy<f16": "copy<bf16", "num_matrices = 4": "num_matrices = 2", "32": "64",
             "i32": "i64", "i128": "i64"}
    match = re.search(rules[how], type)
    if not match:
        return None
    old = match[0]
    if how in ("align", "vector"):
        return type[:match.start(1)] + str(2 * int(match[1])) + type[match.end(1):]
    return type[:match.start()] + other[old] + type[match.end():]


def function(name, properties, operands, results):
    arguments = ", ".join(f"%a{i}: {type}" for i, type in enumerate(operands))
    left = f"%r:{len(results)} = " if results else ""
    right = f"({', '.join(results)})"
    names = ", ".join(f"%a{i}" for i in range(len(operands)))
    return [f"func.func @v({arguments}) {{", f'  {left}"{name}"({names}) {properties} : ({", ".join(operands)}) -> {right}', "  return", "}"]


def variants(operations):
    seen = set()
    for name, properties, operands, results in operations:
        hows = STATED.get(name, ["leaf", "first", "unknown", "wider", "element", "space", "align", "atom"]) if name not in CONSTRUCTORS else []
        made = []
        for i, result in enumerate(results):
            made += [(how, operands, results[:i] + [changed(result, how)] + results[i + 1:])
                     for how in hows if changed(result, how)]
        if name in CONSTRUCTORS and operands:
            made.append(("count", operands[1:], results))
        if name == "cute.ptrtoint":
            made.append(("space", ["!cute.ptr<i8, gmem>"], results))
        for i, hows in SUITED.get(name, {}).items():
            if i < len(operands):
                made += [(how, operands[:i] + [changed(operands[i], how)] + operands[i + 1:], results)
                         for how in hows if changed(operands[i], how)]
        for how, ins, outs in made:
            key = (name, properties, *ins, "->", *outs)
            if key not in seen:
                seen.add(key)
                yield f"{name}, {how}", function(name, properties, ins, outs)


def refusals(cute_opt, functions):
    """[(line in its function, message)] of the first error in each."""
    lines, owner = [], {}
    for index, function in enumerate(functions):
        for number, line in enumerate(function + ["// -----"], 1):
            lines.append(line)
            owner[len(lines)] = index, number
    run = subprocess.run([cute_opt, "-", "-split-input-file", "-o", os.devnull], input="\n".join(lines) + "\n",
                         capture_output=True, text=True)
    found = [None] * len(functions)
    for at, place, message in re.findall(r"^within split at <stdin>:(\d+) offset :(\d+):\d+: error: (.*)", run.stderr, flags=re.M):
        index, number = owner[int(at) + int(place) - 1]
        found[index] = found[index] or (number, message)
    return found


def main():
    cute_opt = f"{sys.argv[1]}/cute-opt"
    text = subprocess.run([cute_opt, f"{HERE}/kernels.mlir", "-mlir-print-op-generic"], check=True, capture_output=True, text=True).stdout
    operations = [parts(line.strip()) for line in text.splitlines() if re.search(r'"cute[\w.]*"\(', line)]
    operations = [o for o in operations if o[0] not in FREE]
    operations = [(n, p, i, [] if o == [""] or o == ["()"] else o) for n, p, i, o in operations]
    wrong = 0
    for (name, *_), said in zip(operations, refusals(cute_opt, [function(*o) for o in operations])):
        if said:
            wrong += 1
            print(f"{name} is refused as it stands: {said[1]}")
    made = list(variants(operations))
    for (label, lines), said in zip(made, refusals(cute_opt, [lines for _, lines in made])):
        if not said or said[0] != 2:
            wrong += 1
            print(f"{label}: {'accepted' if not said else f'refused in line {said[0]}: {said[1]}'}\n  {lines[1].strip()}")
    print(f"{len(made)} variants of {len(operations)} operations, {wrong} wrong")


main()
