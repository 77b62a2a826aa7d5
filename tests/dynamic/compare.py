#!/usr/bin/env python3
"""Compares emitted code with static evaluation: compare.py BIN LLVM [--cases N] [--seed S] [--keep FILE]

Random operations on random values. cute-dump layout computes the static result. Then some leaves become dynamic: the
operation is lowered by cute-opt with these leaves as function arguments, run on the CPU by mlir-cpu-runner (mlir-runner
since LLVM 20), and its result is printed with cute.print. Numbers have to be equal; layouts have to be the same function
with modes of the same sizes. Cases that the algebra rejects with dynamic leaves are skipped and counted."""
import argparse, json, os, random, re, subprocess, sys

parser = argparse.ArgumentParser()
parser.add_argument("bin")
parser.add_argument("llvm")
parser.add_argument("--cases", type=int, default=2000)
parser.add_argument("--seed", type=int, default=1)
parser.add_argument("--keep")
options = parser.parse_args()
rng = random.Random(options.seed)

# ---- random values, as text ----

def tree_text(t):
    return "(" + ",".join(map(tree_text, t)) + ")" if isinstance(t, tuple) else str(t)

def random_shape(rank=None, depth=2, most=8):
    def node(level):
        if level == 0 or rng.random() < 0.7:
            return rng.choice([1, 2, 3, 4, 5, 6, 8][: most - 1])
        return tuple(node(level - 1) for _ in range(rng.randint(1, 3)))
    return tuple(node(depth - 1) for _ in range(rank or rng.randint(1, 3)))

def leaves(t):
    return [x for i in t for x in leaves(i)] if isinstance(t, tuple) else [t]

def rebuild(t, values):
    return tuple(rebuild(i, values) for i in t) if isinstance(t, tuple) else next(values)

def product(t):
    n = 1
    for x in leaves(t):
        n *= x
    return n

def random_stride(shape, compact=None):
    """Compact in a random order of modes, or anything."""
    flat = leaves(shape)
    if compact or (compact is None and rng.random() < 0.6):
        order, step, strides = list(range(len(flat))), 1, [0] * len(flat)
        rng.shuffle(order)
        for i in order:
            strides[i] = step
            step *= flat[i]
    else:
        strides = [rng.choice([0, 1, 2, 3, 5, 8, 16, 40]) for _ in flat]
    return rebuild(shape, iter(strides))

def random_coord(shape):
    """Of a random profile between the whole shape and its leaves, in bounds."""
    if not isinstance(shape, tuple) or rng.random() < 0.25:
        return rng.randrange(product(shape))
    return tuple(random_coord(s) for s in shape)

# ---- operands: (type, text); unknown leaves are chosen later ----

def layout(shape=None, compact=None, rank=None):
    shape = shape or random_shape(rank)
    return ("layout", tree_text(shape) + ":" + tree_text(random_stride(shape, compact)))

def tup(kind, t):
    return (kind, tree_text(t))

# ---- cases: name, attributes, operands ----

def with_coord(name):
    shape = random_shape()
    return name, {}, [tup("coord", random_coord(shape)), layout(shape)]

def swizzled():
    shape = (rng.choice([4, 8]), rng.choice([4, 8]))
    return "layout_eval", {}, [tup("coord", random_coord(shape)),
                               ("composed_layout", f"S<{rng.choice([1,2])},{rng.choice([0,1,2])},2> o "
                                f"{rng.choice([0, 1, 4, 16])} o " + layout(shape, True)[1])]

def indices(name, order):
    shape = random_shape()
    first = tup("coord", random_coord(shape)) if name != "idx2crd" else tup("int_tuple", rng.randrange(product(shape)))
    return name, {}, [first, tup("shape", shape)]

def increment():
    shape = random_shape()
    return "increment_coord", {}, [tup("coord", rebuild(shape, iter([rng.randrange(x) for x in leaves(shape)]))),
                                   tup("shape", shape)]

def two_tuples(name, kind="int_tuple", positive=True):
    shape = random_shape()
    other = rebuild(shape, iter([rng.randint(1, 9) for _ in leaves(shape)]))
    return name, {}, [tup(kind, shape), tup(kind, other)]

def shape_div():
    divisor = random_shape()
    return "shape_div", {}, [tup("shape", rebuild(divisor, iter([x * rng.randint(1, 4) for x in leaves(divisor)]))),
                             tup("shape", divisor)]

def of_layout(name, **attributes):
    return name, attributes, [layout()]

def path():
    shape = random_shape(rng.randint(2, 3))
    i = rng.randrange(len(shape))
    inner = [rng.randrange(len(shape[i]))] if isinstance(shape[i], tuple) and rng.random() < 0.5 else []
    return rng.choice(["get", "size", "cosize"]), {"mode": [i] + inner}, [layout(shape)]

def select():
    shape = random_shape(3)
    return "select", {"mode": rng.sample(range(3), rng.randint(1, 3))}, [layout(shape)]

def group():
    begin = rng.randrange(2)
    return "group_modes", {"begin": begin, "end": rng.randint(begin + 1, 3)}, [layout(rank=3)]

def slices():
    shape = random_shape(rng.randint(2, 3))
    coord = tuple("_" if rng.random() < 0.5 else rng.randrange(product(s)) for s in shape)
    return rng.choice(["slice", "dice"]), {}, [layout(shape), tup("coord", coord)]

def composition():
    # Powers of two, and no stride of 0 on the right: with unknown leaves the algebra takes for granted that extents and
    # strides divide each other, and it divides by them (docs/differences.md).
    modes = rng.randint(1, 3)
    left = layout(tuple(rng.choice([1, 2, 4, 8]) for _ in range(modes)))
    return "composition", {}, [left, ("layout", f"({rng.choice([2, 4, 8])}):({rng.choice([1, 2, 4, 8, 16])})")]

def divide():
    shape = random_shape(2, 1)
    tile = tuple(rng.choice([1, 2, 3, 4]) for _ in shape)
    return rng.choice(["logical_divide", "zipped_divide", "tiled_divide", "flat_divide"]), {}, [
        layout(shape), tup("shape", tile)]

def multiply():
    return rng.choice(["logical_product", "zipped_product", "tiled_product", "flat_product", "raked_product",
                       "blocked_product"]), {}, [layout(random_shape(2, 1), True), layout(random_shape(2, 1), True)]

def like():
    return "make_layout_like", {}, [layout(compact=True)]

def ordered():
    shape = random_shape(rng.randint(2, 3), 1)
    order = list(range(len(shape)))
    rng.shuffle(order)
    return "make_ordered_layout", {}, [tup("shape", shape), tup("int_tuple", tuple(order))]

CASES = [
    lambda: with_coord("layout_eval"), lambda: with_coord("layout_eval"), swizzled,
    lambda: indices("crd2idx", 0), lambda: indices("idx2crd", 1), increment,
    lambda: two_tuples("tuple_add"), lambda: two_tuples("tuple_sub"), lambda: two_tuples("ceil_div", "shape"),
    lambda: two_tuples("elem_less"), lambda: two_tuples("equal"), shape_div,
    lambda: of_layout("size"), lambda: of_layout("cosize"), lambda: of_layout("flatten"),
    lambda: of_layout("coalesce"), lambda: of_layout("get_shape"), lambda: of_layout("get_stride"),
    lambda: ("tuple_product", {}, [tup("shape", random_shape())]),
    lambda: ("tuple_product_each", {}, [tup("int_tuple", random_shape())]),
    path, select, group, slices, composition, divide, multiply, like, ordered,
]
FIXED = {"make_ordered_layout": 1, "dice": 1}  # an operand that has to be known
# The order of strides decides; where one is unknown, the order of modes does.
KNOWN_STRIDES = {"make_layout_like"}

# ---- unknown leaves ----

def unknown(kind, text, share):
    """Some numbers as `?` (`?{i64}`), and their values in order. A swizzle's parameters stay."""
    head = ""
    if kind == "composed_layout":
        head, text = text.split(" o ", 1)
        head += " o "
    values = []
    def one(match):
        if rng.random() >= share:
            return match.group()
        wide = rng.random() < 0.2
        values.append((64 if wide else 32, int(match.group())))
        return "?{i64}" if wide else "?"
    return head + re.sub(r"-?\d+", one, text), values

# ---- MLIR ----

class Function:
    def __init__(self, name):
        self.name, self.lines, self.arguments, self.count = name, [], [], 0

    def value(self, text):
        self.count += 1
        self.lines.append(f"    %{self.count} = {text}")
        return f"%{self.count}"

    def argument(self, width, value):
        self.arguments.append((width, value))
        return f"%a{len(self.arguments) - 1}"

    def tree(self, kind, text, values):
        if "?" not in text:
            return self.value(f'cute.static : !cute.{kind}<"{text}">')
        wanted = [next(values) for _ in range(text.count("?"))]
        names = [self.argument(*v) for v in wanted]
        types = ", ".join(f"i{w}" for w, _ in wanted)
        return self.value(f'"cute.make_{kind}"({", ".join(names)}) : ({types}) -> !cute.{kind}<"{text}">')

    def operand(self, kind, text, values):
        values = iter(values)
        if kind == "layout":
            s, d = text.split(":")
            shape, stride = self.tree("shape", s, values), self.tree("stride", d, values)
            return self.value(f'"cute.make_layout"({shape}, {stride}) : (!cute.shape<"{s}">, !cute.stride<"{d}">) -> '
                              f'!cute.layout<"{text}">')
        if kind == "composed_layout":
            a, o, b = text.split(" o ")
            inner = self.tree("swizzle", a, values)
            offset = self.tree("int_tuple", o, values)
            outer = self.operand("layout", b, list(values))
            return self.value(f'"cute.make_composed_layout"({inner}, {offset}, {outer}) : (!cute.swizzle<"{a}">, '
                              f'!cute.int_tuple<"{o}">, !cute.layout<"{b}">) -> !cute.composed_layout<"{text}">')
        return self.tree(kind, text, values)

RESULT = {"layout_eval": "int_tuple", "crd2idx": "int_tuple", "idx2crd": "coord", "increment_coord": "coord",
          "size": "int_tuple", "cosize": "int_tuple", "get_shape": "shape", "get_stride": "stride",
          "shape_div": "shape", "composition": "layout"}

def result_kind(name, operands):
    if name in RESULT:
        return RESULT[name]
    if name.startswith("make_"):
        return "layout"
    return operands[0][0]

def attributes_text(attributes):
    parts = [f"{k} = array<i32: {', '.join(map(str, v))}>" if isinstance(v, list) else f"{k} = {v} : i32"
             for k, v in attributes.items()]
    return f" <{{{', '.join(parts)}}}>" if parts else ""

def call_text(name, attributes, texts):
    path = ",".join(map(str, attributes.get("mode", list(attributes.values())))) if attributes else ""
    path = f"[{path}]" if "mode" in attributes else path
    return f"{name}{'<' + path + '>' if path else ''}({', '.join(texts)})"

# ---- answers ----

def calculate(lines):
    run = subprocess.run([os.path.join(options.bin, "cute-dump"), "layout", "--json"], input="\n".join(lines) + "\n",
                         capture_output=True, text=True)
    answers = [json.loads(line) for line in run.stdout.splitlines()]
    if len(answers) != len(lines):
        sys.exit(f"cute-dump gave {len(answers)} answers to {len(lines)} lines\n{run.stderr[:2000]}")
    return answers

def parse(text):
    """A tuple's text; Python's eval would take (3) for 3."""
    stack = [[]]
    for token in re.findall(r"[(),]|[^(),]+", text):
        if token == "(":
            stack.append([])
        elif token == ")":
            items = stack.pop()
            stack[-1].append(tuple(items))
        elif token != ",":
            stack[-1].append(int(token))
    return stack[0][0]

def evaluate(text):
    """A layout's extents by top-level mode, and its indices in order."""
    modes, strides = (parse(x) for x in text.split(":"))
    shape, stride = leaves(modes), leaves(strides)
    sizes = [product(m) for m in modes] if isinstance(modes, tuple) else [modes]
    out = [0]
    for s, d in zip(shape, stride):
        out = [o + i * d for i in range(s) for o in out]
    return sizes, out

def same(kind, name, want, got):
    if kind != "layout":
        return want == got
    if " o " in want or " o " in got:
        return want == got
    (a, x), (b, y) = evaluate(want), evaluate(got)
    return x == y and (name == "coalesce" or a == b)

# ---- the run ----

def main():
    cases = []
    while len(cases) < 4 * options.cases:
        name, attributes, operands = rng.choice(CASES)()
        hidden = []
        for i, (kind, text) in enumerate(operands):
            fixed = FIXED.get(name) == i or kind == "swizzle"
            if fixed:
                hidden.append((text, []))
            elif name in KNOWN_STRIDES:
                shape, values = unknown(kind, text.split(":")[0], rng.choice([0.3, 0.6, 1]))
                hidden.append((shape + ":" + text.split(":")[1], values))
            else:
                hidden.append(unknown(kind, text, rng.choice([0.3, 0.6, 1])))
        if any(v for _, v in hidden):
            cases.append((name, attributes, operands, hidden))
    known = calculate([call_text(n, a, [t for _, t in ops]) for n, a, ops, _ in cases])
    symbolic = calculate([call_text(n, a, [t for t, _ in hidden]) for n, a, _, hidden in cases])
    module, main_lines, checks, refused = [], [], [], 0
    for (name, attributes, operands, hidden), want, shown in zip(cases, known, symbolic):
        if len(checks) == options.cases:
            break
        if want["error"] or shown["error"]:
            refused += not want["error"]
            continue
        f = Function(f"case{len(checks)}")
        inputs = [f.operand(kind, text, values) for (kind, _), (text, values) in zip(operands, hidden)]
        types = ", ".join(f'!cute.{kind}<"{text}">' for (kind, _), (text, _) in zip(operands, hidden))
        compares = name in ("equal", "elem_less")
        kind = "int_tuple" if compares else result_kind(name, operands)
        result = "?" if compares else shown["result"]
        if kind == "layout" and " o " in result:
            kind = "composed_layout"
        made = f.value(f'"cute.{name}"({", ".join(inputs)}){attributes_text(attributes)} : ({types}) -> '
                       + ("i1" if compares else f'!cute.{kind}<"{result}">'))
        if compares:
            wide = f.value(f"arith.extui {made} : i1 to i32")
            made = f.value(f'cute.make_int_tuple({wide}) : (i32) -> !cute.int_tuple<"?">')
        f.lines.append(f'    cute.print({made}) : !cute.{kind}<"{result}">')
        names = ", ".join(f"%a{i}: i{w}" for i, (w, _) in enumerate(f.arguments))
        module += [f"  func.func @{f.name}({names}) {{", *f.lines, "    return", "  }"]
        passed = []
        for i, (w, v) in enumerate(f.arguments):
            main_lines.append(f"    %c{len(checks)}_{i} = arith.constant {v} : i{w}")
            passed.append(f"%c{len(checks)}_{i}")
        main_lines.append(f"    call @{f.name}({', '.join(passed)}) : ({', '.join(f'i{w}' for w, _ in f.arguments)}) -> ()")
        checks.append((kind, name, want["result"], call_text(name, attributes, [t for t, _ in hidden]),
                       call_text(name, attributes, [t for _, t in operands])))
    text = "\n".join(["module {", *module, "  func.func @main() {", *main_lines, "    return", "  }", "}", ""])
    if options.keep:
        with open(options.keep, "w") as out:
            out.write(text)
    lowered = subprocess.run([os.path.join(options.bin, "cute-opt"), "-cute-fold-static", "-cute-expand-ops",
                              "-cute-to-base", "-base-prepare", "-one-shot-convert-to-llvm"], input=text,
                             capture_output=True, text=True)
    if lowered.returncode:
        sys.exit(f"cute-opt failed:\n{lowered.stderr[:4000]}")
    runner = next(r for r in (os.path.join(options.llvm, "bin", name) for name in ("mlir-cpu-runner", "mlir-runner"))
                  if os.path.exists(r))
    ran = subprocess.run([runner, "-e", "main", "-entry-point-result=void", "-O0"], input=lowered.stdout,
                         capture_output=True, text=True)
    lines = ran.stdout.splitlines()
    if ran.returncode or len(lines) != len(checks):
        sys.exit(f"mlir-cpu-runner gave {len(lines)} lines for {len(checks)} cases\n{ran.stderr[:2000]}")
    wrong = 0
    for (kind, name, want, symbols, numbers), got in zip(checks, lines):
        if not same(kind, name, want, got):
            wrong += 1
            if wrong <= 20:
                print(f"{numbers} = {want}, but as {symbols} it computes {got}")
    by_name = {}
    for _, name, *_ in checks:
        by_name[name] = by_name.get(name, 0) + 1
    print(f"{len(checks)} cases of {len(by_name)} operations, seed {options.seed}: {wrong} differ; "
          f"{refused} more are refused where leaves are unknown")
    if len(checks) < options.cases:
        sys.exit(f"only {len(checks)} of {options.cases} cases")
    return 1 if wrong else 0

sys.exit(main())
