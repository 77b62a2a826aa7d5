#!/usr/bin/env python3
"""Generates random programs: generate.py FOLDER SEED COUNT. Writes programs.cu (CUDA C for nvcc and clang; C++ for the host
with -DHOST) and launch.json, which launches each of COUNT kernels and compares its outputs with those of the host
program. Programs are determined by the seed.

A program is a chain of phases. In a phase each thread computes on its own: functions over integers and floating point of all
widths, with loops, switches, gotos, recursion, function pointers, structures and arrays. Between phases threads exchange
values: through shared memory, shuffles, votes, reductions, atomics. On the host a phase is a loop over threads, an exchange
a loop over their values."""
import json, os, random, sys

folder, seed, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
INTS = ["i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"]
TYPES = INTS + ["f32", "f64"]
WIDTH = {t: int(t[1:]) for t in TYPES}
WORDS, INPUTS = 6, 4

def is_float(t):
    return t[0] == "f"

def work(t):
    return "u64" if WIDTH[t] == 64 else "u32"

class Function:
    """A function of a program: its name, what it returns and takes, and whether it may be called in a loop."""
    def __init__(self, name, result, params, cost):
        self.name, self.result, self.params, self.cost = name, result, params, cost

class Program:
    def __init__(self, rng, index):
        self.rng, self.index, self.prefix = rng, index, f"p{index}_"
        self.text, self.functions, self.names = [], [], 0
        self.threads = rng.choice([32, 33, 64, 64, 96, 100, 128, 128, 160, 256])
        self.blocks = rng.choice([1, 1, 2, 3])
        self.table = []

    # ---- expressions ----

    def constant(self, t):
        r = self.rng
        if is_float(t):
            v = r.choice([0.0, 1.0, -1.0, 0.5, 2.0, 3.75, -1e-3, 1e10, 1e-30, 16777216.0, 1e-40, 65504.0, r.uniform(-100, 100)])
            return f"({t}){v!r}" if t == "f64" else f"{v!r}f"
        w = WIDTH[t]
        v = r.choice([0, 1, 2, 3, 5, 7, 31, 32, 33, 63, 64, 255, (1 << w) - 1, 1 << (w - 1), (1 << (w - 1)) - 1,
                      r.getrandbits(w), r.getrandbits(w)]) & ((1 << w) - 1)
        return f"({t}){hex(v)}" + ("ull" if w == 64 else "u")

    def convert(self, expression, source, to):
        if source == to:
            return expression
        if is_float(source) and not is_float(to):
            return f"{to}_of_{source}({expression})"
        return f"({to})({expression})"

    def leaf(self, t):
        r = self.rng
        k = r.random()
        if k < 0.15:
            return self.constant(t)
        if k < 0.22:
            return self.convert(f"a[{self.index_expression()} & 7]", "u32", t)
        if k < 0.26:
            return self.convert(f"c[{self.index_expression()} & 7]", "i16", t)
        if k < 0.30:
            return self.convert(f"{self.prefix}constants[{self.index_expression()} & 15]", "i32", t)
        if k < 0.33:
            return self.convert(f"{self.prefix}bytes[{self.index_expression()} & 31]", "u8", t)
        if k < 0.44:
            field, ft = r.choice(FIELDS)
            return self.convert(f"s.{field}", ft, t)
        if k < 0.52:
            field, ft = r.choice(STATE)
            return self.convert(f"t->{field}", ft, t)
        same = [n for n, vt in self.variables if vt == t]
        if same and r.random() < 0.5:
            return r.choice(same)
        name, vt = r.choice(self.variables)
        return self.convert(name, vt, t)

    def index_expression(self):
        name, t = self.rng.choice([v for v in self.variables if not is_float(v[1])])
        return f"(u32){name}"

    def condition(self, depth):
        r = self.rng
        k = r.random()
        if k < 0.15 and depth > 0:
            return f"({self.condition(depth - 1)} {r.choice(['&&', '||'])} {self.condition(depth - 1)})"
        if k < 0.2 and depth > 0:
            return f"!{self.condition(depth - 1)}"
        t = r.choice(TYPES)
        op = r.choice(["<", "<=", ">", ">=", "==", "!="])
        return f"({self.expression(t, depth - 1)} {op} {self.expression(t, depth - 1)})"

    def expression(self, t, depth):
        r = self.rng
        if depth <= 0:
            return self.leaf(t)
        e = lambda u=t: self.expression(u, depth - 1)
        if is_float(t):
            k = r.randrange(14)
            if k < 6:
                return f"({e()} {r.choice(['+', '-', '*', '/'])} {e()})"
            if k == 6:
                return f"fma_{t}({e()}, {e()}, {e()})"
            if k == 7:
                return f"root_{t}({e()})"
            if k == 8:
                return f"({self.condition(depth - 1)} ? {e()} : {e()})"
            if k == 9:
                return f"(- {e()})"
            if k == 10:
                return f"sum_up({e()}, {e()})" if t == "f64" else f"{r.choice(['sum_down', 'product_zero'])}({e()}, {e()})"
            if k == 11:
                w = "u32" if t == "f32" else "u64"
                return f"{t}_of_bits({e(w)})"
            u = r.choice(TYPES)
            return self.convert(self.expression(u, depth - 1), u, t)
        w = work(t)
        k = r.randrange(24)
        if k < 6:
            return f"({t})(({w}){e()} {r.choice(['+', '-', '*'])} ({w}){e()})"
        if k < 9:
            return f"({t})({e()} {r.choice(['&', '|', '^'])} {e()})"
        if k == 9:
            return f"({t})(({w}){e()} << ({e('u32')} & {WIDTH[w] - 1}))"
        if k == 10:
            return f"({t})({e()} >> ({e('u32')} & {WIDTH[t] - 1}))"
        if k == 11:
            return f"{r.choice(['quotient', 'remainder'])}_{t}({e()}, {e()})"
        if k == 12:
            return f"({t})({r.choice(['~', '-'])}({w}){e()})"
        if k == 13:
            return f"({self.condition(depth - 1)} ? {e()} : {e()})"
        if k == 14:
            return f"({t}){self.condition(depth - 1)}"
        if k == 15:
            d = r.choice([3, 7, 10, 100, 255, 1000, 65535])
            d = d if d < 1 << (WIDTH[t] - 1) else 7
            return f"({t})({e()} {r.choice(['/', '%'])} ({t}){d})"
        if k == 16:
            x, y = self.leaf(t), self.leaf(t)
            return f"({x} {r.choice(['<', '>'])} {y} ? {x} : {y})"
        if k == 17:
            n = r.randrange(1, WIDTH[w])
            x = self.leaf(w)
            return f"({t})({x} << {n} | {x} >> {WIDTH[w] - n})"
        if k == 18:
            f = r.choice(["bits_f32", "bits_f64"])
            return f"({t}){f}({e('f' + f[-2:])})"
        if k < 22:
            name, result, params = r.choice(NAMED)
            return self.convert(f"{name}({', '.join(e(u) for u in params)})", result, t)
        u = r.choice(TYPES)
        return self.convert(self.expression(u, depth - 1), u, t)

    # ---- statements ----

    def assign(self):
        r = self.rng
        k = r.random()
        if k < 0.12:
            return f"a[{self.index_expression()} & 7] = {self.expression('u32', 2)};"
        if k < 0.17:
            return f"c[{self.index_expression()} & 7] = {self.expression('i16', 2)};"
        if k < 0.27:
            field, t = r.choice(FIELDS)
            return f"s.{field} = {self.expression(t, 2)};"
        if k < 0.37:
            field, t = r.choice(STATE)
            return f"t->{field} = {self.expression(t, 2)};"
        name, t = r.choice(self.locals)
        return f"{name} = {self.expression(t, 3)};"

    def call(self):
        r = self.rng
        usable = [f for f in self.functions if not self.loops or f.cost == 0]
        if self.table and r.random() < 0.3:
            name, t = r.choice(self.locals)
            value = f"{self.prefix}table[{self.index_expression()} & 3](t, {self.expression('u32', 1)}, {self.expression('u32', 1)})"
            return f"{name} = {self.convert(value, 'u32', t)};"
        if not usable:
            return self.assign()
        f = r.choice(usable)
        args = ", ".join("s" if u == "S" else self.expression(u, 1) for u in f.params)
        value = f"{f.name}(t, {args})"
        if f.result == "S":
            return f"s = {value};"
        name, t = r.choice(self.locals)
        return f"{name} = {self.convert(value, f.result, t)};"

    def fresh(self, kind):
        self.names += 1
        return f"{kind}{self.names}"

    def block(self, depth, budget, indent):
        r, pad = self.rng, "    " * indent
        lines = []
        for _ in range(budget):
            k = r.random()
            if depth <= 0 or k < 0.38:
                lines.append(pad + self.assign())
            elif k < 0.48:
                lines.append(pad + self.call())
            elif k < 0.60:
                lines.append(f"{pad}if ({self.condition(2)}) {{")
                lines += self.block(depth - 1, 2, indent + 1)
                if r.random() < 0.5:
                    lines.append(f"{pad}}} else {{")
                    lines += self.block(depth - 1, 2, indent + 1)
                lines.append(pad + "}")
            elif k < 0.74:
                i = self.fresh("loop")
                self.counters.append(i)
                bound = r.choice([str(r.randrange(1, 6)), f"(i32)({self.expression('u32', 1)} & 7)"])
                head = r.choice([f"for ({i} = 0; {i} < {bound} && t->fuel-- > 0; {i}++)",
                                 f"while (t->fuel-- > 0 && {self.condition(1)})",
                                 f"for ({i} = 7; {i} > {bound} && t->fuel-- > 0; {i} -= 2)"])
                self.loops += 1
                lines.append(f"{pad}{head} {{")
                lines += self.block(depth - 1, 2, indent + 1)
                if r.random() < 0.5:
                    lines.append(f"{pad}    if ({self.condition(1)}) {r.choice(['break', 'continue'])};")
                    lines += self.block(depth - 1, 1, indent + 1)
                self.loops -= 1
                lines.append(pad + "}")
            elif k < 0.80:
                self.loops += 1
                lines.append(pad + "do {")
                lines += self.block(depth - 1, 2, indent + 1)
                self.loops -= 1
                lines.append(f"{pad}}} while (t->fuel-- > 0 && {self.condition(1)});")
            elif k < 0.89:
                cases = r.randrange(2, 9)
                step = r.choice([1, 1, 3, 1000])
                lines.append(f"{pad}switch ({self.expression('u32', 1)} % {cases + 1} * {step}) {{")
                for n in range(cases):
                    lines.append(f"{pad}case {n * step}:" if r.random() < 0.9 or n else pad + "default:")
                    lines += self.block(depth - 1, 1, indent + 1)
                    if r.random() < 0.7:
                        lines.append(pad + "    break;")
                lines.append(pad + "}")
            elif k < 0.94:
                label = self.fresh("skip")
                lines.append(f"{pad}if ({self.condition(1)}) goto {label};")
                lines += self.block(depth - 1, 2, indent)
                lines.append(f"{pad}{label}:;")
            elif k < 0.97:
                label, into = self.fresh("again"), self.fresh("into")
                self.loops += 1
                if r.random() < 0.5: # two ways into the loop
                    lines.append(f"{pad}if ({self.condition(1)}) goto {into};")
                lines.append(f"{pad}{label}:;")
                lines += self.block(depth - 1, 1, indent)
                lines.append(f"{pad}{into}:;")
                lines += self.block(depth - 1, 1, indent)
                self.loops -= 1
                lines.append(f"{pad}if (t->fuel-- > 0 && {self.condition(1)}) goto {label};")
            else:
                lines.append(f"{pad}if ({self.condition(1)}) return {self.answer(1)};")
        return lines

    def answer(self, depth):
        return "s" if self.result == "S" else self.expression(self.result, depth) if self.result != "void" else ""

    # ---- functions ----

    def body(self, result, params, budget, depth, head=()):
        """The lines of a function's body; params are (name, type)."""
        r = self.rng
        self.result, self.loops, self.counters = result, 0, []
        numbers = [p for p in params if p[1] != "S"]
        self.locals = [(f"v{n}", r.choice(TYPES)) for n in range(r.randrange(3, 7))] + [("w", "u32")]
        self.variables = list(numbers) + [("t->x", "u32"), ("t->n", "i32")]
        lines = []
        if not any(p[1] == "S" for p in params):
            lines.append("    S s = t->s;")
        lines.append("    u32 a[8];")
        lines.append("    i16 c[8];")
        lines.append("    for (int n = 0; n < 8; n++) a[n] = t->x * (n + 3), c[n] = (i16)(t->x >> n);")
        first = [f"    {t} {n} = {self.constant(t) if r.random() < 0.3 else self.convert(*r.choice(self.variables), t)};"
                 for n, t in self.locals]
        self.variables = self.variables + self.locals
        rest = self.block(depth, budget, 1)
        for i in self.counters:
            first.append(f"    i32 {i} = 0;")
        out = lines + first + list(head) + rest
        out += ["    t->x ^= a[w & 7] + (u32)(u16)c[w & 3];", "    t->s.e[w % 3] ^= (u16)w;"]
        if result != "void":
            out.append(f"    return {self.answer(2)};")
        return out

    def function(self, name, result, params, cost, budget, depth, head=(), inline=None):
        r = self.rng
        given = [(f"q{n}", t) if t != "S" else ("s", "S") for n, t in enumerate(params)]
        if name.endswith("deep"):
            given[0] = ("depth", "i32")
        inline = r.random() < 0.5 if inline is None else inline
        declared = ", ".join(["T *t"] + [f"{t} {n}" for n, t in given])
        self.text.append(f"DEV {'' if inline else 'NOINLINE '}{result} {name}({declared})")
        self.text.append("{")
        self.text += self.body(result, given, budget, depth, head)
        self.text.append("}")
        if cost is not None:
            self.functions.append(Function(name, result, params, cost))

    def recursion(self):
        r, p = self.rng, self.prefix
        t = r.choice(["u32", "i64", "f64", "u8"])
        name = p + "deep"
        self.text.append(f"DEV {t} {name}(T *t, i32 depth, {t} q1);")
        calls = [f"    if (depth <= 0 || t->fuel-- <= 0) return q1;"]
        inner = f"{name}(t, depth - 1, q1)"
        line = {"f64": f"    q1 = q1 * 0.5 + {inner};", "i64": f"    q1 = (i64)((u64)q1 * 3 + (u64){inner});",
                "u32": f"    q1 = q1 * 5 + {inner};", "u8": f"    q1 = (u8)(q1 + {inner} * 3);"}[t]
        calls.append(line)
        if r.random() < 0.6:
            calls.append(f"    if (depth & 1) q1 = {inner};")
        self.function(name, t, ["i32", t], None, 2, 1, calls, inline=False)
        # Called with a depth that is small.
        shell = p + "down"
        self.text.append(f"DEV {t} {shell}(T *t, u32 depth, {t} q1) {{ return {name}(t, (i32)(depth % 5), q1); }}")
        self.functions.append(Function(shell, t, ["u32", t], 2))

    def exchange(self):
        """(device lines, host lines) of one exchange."""
        r = self.rng
        n = self.threads
        kinds = ["rotate", "rotate", "shuffle", "shuffle", "divided", "reduce", "match", "atomic", "atomic", "global", "count", "cas", "turns"]
        kind = r.choice(kinds)
        if kind == "rotate":
            f, t = r.choice(STATE[:-1])
            step, off = r.choice([1, 3, 5, 7, 31]), r.randrange(n)
            sh = f"(({t} *)shared)"
            at = f"(TID * {step} + {off}) % NTID"
            d = [f"{sh}[TID] = t->{f};", "SYNC();", f"t->{f} = {sh}[{at}];", "SYNC();"]
            h = [f"{t} moved[{n}];", f"for (u32 i = 0; i < {n}; i++) moved[i] = T_[(i * {step} + {off}) % {n}].{f};",
                 f"for (u32 i = 0; i < {n}; i++) T_[i].{f} = moved[i];"]
        elif kind == "shuffle":
            w = r.choice([32, 32, 16, 8, 4, 2])
            which = r.choice(["shuffle", "shuffle_up", "shuffle_down", "shuffle_xor"])
            by = r.randrange(0, 32) if which != "shuffle" else None
            if which == "shuffle":
                d = [f"t->x += shuffle(whole_warp(), t->x, t->n & 31, {w}) * 3;"]
                source, ok = f"(l & {32 - w}) + (T_[i].n & {w - 1})", "1"
            elif which == "shuffle_up":
                d = [f"t->x += shuffle_up(whole_warp(), t->x, {by}, {w}) * 3;"]
                source, ok = f"(int)l - {by}", f"source >= (int)(l & {32 - w})"
            elif which == "shuffle_down":
                d = [f"t->x += shuffle_down(whole_warp(), t->x, {by}, {w}) * 3;"]
                source, ok = f"(int)l + {by}", f"source <= (int)((l & {32 - w}) | {w - 1})"
            else:
                by = r.randrange(0, w)
                d = [f"t->x += shuffle_xor(whole_warp(), t->x, {by}, {w}) * 3;"]
                source, ok = f"(int)(l ^ {by})", "1"
            # A lane that the warp does not have gives nothing that is known: such warps sit out.
            d = ["if (whole_warp() == 0xffffffffu) " + d[0]]
            h = [f"u32 was[{n}];", f"for (u32 i = 0; i < {n}; i++) was[i] = T_[i].x;",
                 f"for (u32 i = 0; i < {n} / 32 * 32; i++) {{",
                 f"    u32 l = i & 31; int source = {source};", f"    if (!({ok})) source = (int)l;",
                 "    T_[i].x += was[(i & ~31u) + (u32)source] * 3;", "}"]
        elif kind == "divided":
            what = r.choice([("reduce_add", "sum += v;", "0"), ("reduce_max", "sum = v > sum ? v : sum;", "0"),
                             ("reduce_xor", "sum ^= v;", "0"), ("first", "if (first) sum = v;", "0")])
            name, step, zero = what
            dev = f"{name}(m, t->x)" if name != "first" else "shuffle(m, t->x, first_one(m) - 1, 32)"
            bit = r.randrange(0, 3)
            d = [f"bool side = t->n >> {bit} & 1;", "u32 m = ballot(whole_warp(), side);"]
            d += [f"if (side) {{", f"    t->x ^= {dev} + 1;"]
            both = r.random() < 0.6
            if both:
                d += ["} else {", "    m = whole_warp() & ~m;", f"    t->x ^= {dev} + 2;"]
            d += ["}"]
            h = [f"for (u32 start = 0; start < {n}; start += 32)", "    for (u32 side = 0; side < 2; side++) {",
                 f"        u32 sum = {zero}, first = 1;",
                 f"        for (u32 i = start; i < start + 32 && i < {n}; i++)",
                 f"            if ((u32)(T_[i].n >> {bit} & 1) == side) {{ u32 v = T_[i].x; {step} first = 0; }}",
                 f"        for (u32 i = start; i < start + 32 && i < {n}; i++)",
                 f"            if ((u32)(T_[i].n >> {bit} & 1) == side && ({int(both)} || side)) T_[i].x ^= sum + 2 - side;",
                 "    }"]
        elif kind == "reduce":
            d = ["u32 m = whole_warp();", "t->y += reduce_add(m, t->x);", "t->x ^= reduce_smin(m, (u32)t->n);",
                 "if (any(m, t->n > 0)) t->n ^= 5;", "if (all(m, t->x & 1)) t->n ^= 9;", "warp_sync(m);",
                 "t->y ^= (u64)ballot(m, t->x >> 3 & 1) << 20;"]
            h = [f"for (u32 start = 0; start < {n}; start += 32) {{", f"    u32 end = start + 32 < {n} ? start + 32 : {n};",
                 "    u32 sum = 0, votes = 0; i32 least = 0x7fffffff; u32 any = 0, all = 1;",
                 "    for (u32 i = start; i < end; i++) { sum += T_[i].x; if (T_[i].n < least) least = T_[i].n; any |= T_[i].n > 0; }",
                 "    for (u32 i = start; i < end; i++) { T_[i].y += sum; T_[i].x ^= (u32)least; if (any) T_[i].n ^= 5; }",
                 "    for (u32 i = start; i < end; i++) all &= T_[i].x & 1;",
                 "    for (u32 i = start; i < end; i++) { if (all) T_[i].n ^= 9; votes |= (T_[i].x >> 3 & 1) << (i - start); }",
                 "    for (u32 i = start; i < end; i++) T_[i].y ^= (u64)votes << 20;", "}"]
        elif kind == "match":
            d = ["t->y ^= match(whole_warp(), t->x & 7);"]
            h = [f"for (u32 i = 0; i < {n}; i++) {{", "    u32 same = 0;",
                 f"    for (u32 j = i & ~31u; j < (i & ~31u) + 32 && j < {n}; j++) same |= (u32)((T_[j].x & 7) == (T_[i].x & 7)) << (j & 31);",
                 "    T_[i].y ^= same;", "}"]
        elif kind in ("atomic", "cas"):
            op, step, zero = ("add_upper", "cell = (cell & 0xffff) | (((cell >> 16) + v) & 0xffff) << 16", "9") if kind == "cas" else r.choice(
                [("atomic_add", "cell += v", "0"), ("atomic_max", "cell = v > cell ? v : cell", "0"),
                 ("atomic_or", "cell |= v", "0"), ("atomic_and", "cell &= v", "~0u"), ("atomic_xor", "cell ^= v", "5"),
                 ("atomic_smin", "cell = (i32)v < (i32)cell ? v : cell", "77"), ("atomic_inc", "cell = cell >= 9 ? 0 : cell + 1", "0")])
            value = "9" if op == "atomic_inc" else "t->x"
            cells = r.choice([1, 4, 16])
            guard = r.choice(["1", "t->n & 1", "t->x % 3"])
            d = [f"if (TID < {cells}) shared[TID] = {zero};", "SYNC();", f"if ({guard}) {op}(&shared[t->n & {cells - 1}], {value});", "SYNC();",
                 f"t->x += shared[(TID + t->n) & {cells - 1}];", "SYNC();"]
            guard_h = guard.replace("t->", "T_[i].")
            value_h = value.replace("t->", "T_[i].")
            h = [f"u32 cells[{cells}];", f"for (u32 i = 0; i < {cells}; i++) cells[i] = {zero};",
                 f"for (u32 i = 0; i < {n}; i++)", f"    if ({guard_h}) {{ u32 &cell = cells[T_[i].n & {cells - 1}], v = {value_h}; (void)v; {step}; }}",
                 f"for (u32 i = 0; i < {n}; i++) T_[i].x += cells[(i + (u32)T_[i].n) & {cells - 1}];"]
        elif kind == "global":
            k = r.randrange(5)
            dev = ["atomic_add(&sums[0], t->x);", "atomic_max(&sums[1], t->x);", "atomic_xor(&sums[2], t->x);",
                   "atomic_add64((u64 *)&sums[4], t->y);", "atomic_addf((f32 *)&sums[6], (f32)(t->x & 255));"][k]
            host = ["sums[0] += T_[i].x;", "if (T_[i].x > sums[1]) sums[1] = T_[i].x;", "sums[2] ^= T_[i].x;",
                    "{ u64 v; memcpy(&v, &sums[4], 8); v += T_[i].y; memcpy(&sums[4], &v, 8); }",
                    "{ f32 v; memcpy(&v, &sums[6], 4); v += (f32)(T_[i].x & 255); memcpy(&sums[6], &v, 4); }"][k]
            d = [f"if (t->n & 3) {dev}"]
            h = [f"for (u32 i = 0; i < {n}; i++) if (T_[i].n & 3) {host}"]
        elif kind == "count":
            d = ["t->x += SYNC_COUNT(t->n & 1);", "t->y += SYNC_AND(t->n | 2) != 0;", "t->y += SYNC_OR(t->x == 3) != 0;"]
            h = ["u32 odd = 0, all = 1, one = 0;", f"for (u32 i = 0; i < {n}; i++) odd += (u32)(T_[i].n & 1);",
                 f"for (u32 i = 0; i < {n}; i++) T_[i].x += odd;",
                 f"for (u32 i = 0; i < {n}; i++) {{ all &= (T_[i].n | 2) != 0; one |= T_[i].x == 3; }}",
                 f"for (u32 i = 0; i < {n}; i++) T_[i].y += (u64)all + one;"]
        else: # a loop that lanes leave one by one
            d = ["u32 turns = (u32)t->n % 11, sum = 0;", "for (u32 k = 0; k < turns; k++) {",
                 "    if ((t->x >> k & 3) == 3) continue;", "    sum += k * t->x;", "    if (sum % 13 == 5) break;", "}",
                 "t->y += sum;"]
            h = [f"for (u32 i = 0; i < {n}; i++) {{", "    T *t = &T_[i];"] + ["    " + line for line in d] + ["}"]
        return d, h

    def make(self):
        r, p = self.rng, self.prefix
        self.text.append(f"CONST i32 {p}constants[16] = {{{', '.join('(i32)' + hex(r.getrandbits(32)) for _ in range(16))}}};")
        storage = "CONST" if r.random() < 0.5 else "BYTES"
        self.text.append(f"{storage} u8 {p}bytes[32] = {{{', '.join(str(r.getrandbits(8)) for _ in range(32))}}};")
        if r.random() < 0.7:
            names = [f"{p}leaf{n}" for n in range(4)]
            self.text += [f"DEV u32 {n}(T *t, u32 q0, u32 q1);" for n in names]
            for n in names:
                self.function(n, "u32", ["u32", "u32"], None, 2, 1, inline=False)
            self.text.append(f"TABLE {p}table[4] = {{{', '.join(names)}}};")
            self.table = names
        for n in range(r.randrange(1, 5)):
            params = [r.choice(TYPES + ["S"] if k == 0 else TYPES) for k in range(r.randrange(1, 5))]
            result = r.choice(TYPES + ["S"])
            self.function(f"{p}f{n}", result, params, n and 1, r.randrange(2, 6), 2)
        if r.random() < 0.5:
            self.recursion()
        phases = r.randrange(1, 4)
        for n in range(phases):
            self.function(f"{p}phase{n}", "void", ["u32"], None, r.randrange(3, 8), 3)
        steps = [self.exchange() if n + 1 < phases or r.random() < 0.7 else ([], []) for n in range(phases)]
        self.kernel(phases, steps)
        return self

    def kernel(self, phases, steps):
        p, n = self.prefix, self.threads
        out = self.text
        out.append("#if !defined(HOST)")
        out.append(f"KERNEL {p}kernel(const u64 *in, u64 *out, u32 *sums, S first, i8 small, u16 middle, f64 real)")
        out.append("{")
        out.append("    SHARED u32 shared[512];")
        out.append("    T state, *t = &state;")
        out.append("    start(t, in, BLOCK * NTID + TID, first, small, middle, real);")
        out.append("    (void)shared;")
        for k in range(phases):
            out.append(f"    {p}phase{k}(t, TID);")
            out.append("    {")
            out += ["        " + line for line in steps[k][0]]
            out.append("    }")
        out.append("    finish(t, out, BLOCK * NTID + TID);")
        out.append("}")
        out.append("#else")
        out.append(f"static void {p}kernel(const u64 *in, u64 *out, u32 *sums, S first, i8 small, u16 middle, f64 real)")
        out.append("{")
        out.append(f"    static T T_[{n}];")
        out.append(f"    for (u32 block = 0; block < {self.blocks}; block++) {{")
        out.append(f"        for (u32 i = 0; i < {n}; i++) start(&T_[i], in, block * {n} + i, first, small, middle, real);")
        for k in range(phases):
            out.append(f"        for (u32 i = 0; i < {n}; i++) {p}phase{k}(&T_[i], i);")
            out.append("        {")
            out += ["            " + line for line in steps[k][1]]
            out.append("        }")
        out.append(f"        for (u32 i = 0; i < {n}; i++) finish(&T_[i], out, block * {n} + i);")
        out.append("    }")
        out.append("    (void)sums;")
        out.append("}")
        out.append("#endif")

FIELDS = [("a", "i32"), ("b", "u8"), ("c", "i64"), ("d", "f32"), ("e[0]", "u16"), ("e[2]", "u16")]
STATE = [("x", "u32"), ("y", "u64"), ("z", "f64"), ("h", "f32"), ("k", "i8"), ("j", "i16"), ("n", "i32")]
NAMED = [("count_ones", "u32", ["u32"]), ("count_ones64", "u32", ["u64"]), ("leading", "u32", ["u32"]), ("leading64", "u32", ["u64"]),
         ("first_one", "u32", ["u32"]), ("reverse", "u32", ["u32"]), ("reverse64", "u64", ["u64"]),
         ("funnel_left", "u32", ["u32", "u32", "u32"]), ("funnel_right_clamp", "u32", ["u32", "u32", "u32"]),
         ("permute", "u32", ["u32", "u32", "u32"]), ("dot4", "i32", ["u32", "u32", "i32"]),
         ("udot2_high", "u32", ["u32", "u32", "u32"]), ("high_product", "i32", ["i32", "i32"]),
         ("high_product64", "u64", ["u64", "u64"]), ("product24", "i32", ["i32", "i32"]),
         ("distance", "u32", ["i32", "i32", "u32"]), ("middle", "i32", ["i32", "i32"])]

HEAD = """#include "device.h"

typedef struct S {
    i32 a;
    u8 b;
    i64 c;
    f32 d;
    u16 e[3];
} S;
typedef struct T {
    u32 x;
    u64 y;
    f64 z;
    f32 h;
    i8 k;
    i16 j;
    i32 n, fuel;
    S s;
} T;
#if defined(HOST)
#define BYTES static const
#else
#define BYTES static __device__ const
#endif
typedef u32 (*leaf)(T *, u32, u32);
#if defined(HOST)
#define TABLE static const leaf
#else
#define TABLE static __device__ const leaf
#endif

DEV void start(T *t, const u64 *in, u32 i, S first, i8 small, u16 middle, f64 real)
{
    t->s = first;
    t->x = (u32)in[i * 4];
    t->y = in[i * 4 + 1];
    t->z = f64_of_bits(in[i * 4 + 2]) + real;
    t->h = f32_of_bits((u32)in[i * 4 + 3]);
    t->k = (i8)(small + (i8)(in[i * 4] >> 32));
    t->j = (i16)(in[i * 4 + 3] >> 32);
    t->n = (i32)(in[i * 4 + 3] >> 40 ^ middle);
    t->fuel = 150;
}

DEV void finish(const T *t, u64 *out, u32 i)
{
    out[i * 6] = (u64)t->x << 32 | (u32)t->n;
    out[i * 6 + 1] = t->y;
    out[i * 6 + 2] = bits_f64(t->z);
    out[i * 6 + 3] = (u64)bits_f32(t->h) << 32 | (u64)(u8)t->k << 16 | (u16)t->j;
    out[i * 6 + 4] = (u64)(u32)t->s.a << 32 | (u64)t->s.b << 24 | t->s.e[0];
    out[i * 6 + 5] = (u64)t->s.c ^ (u64)bits_f32(t->s.d) ^ (u64)t->s.e[1] << 7 ^ (u64)t->s.e[2] << 13;
}
"""

MAIN = """
#if defined(HOST)
static void save(const char *name, int n, const void *data, size_t bytes)
{
    char path[64];
    snprintf(path, sizeof path, "%s%d.raw", name, n);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(data, 1, bytes, f) != bytes || fclose(f)) exit(1);
}

static u64 state = SEED;
static u64 next(void)
{
    static const u64 edges[] = {0, 1, ~0ull, 0x8000000080000000ull, 0x7fffffff7fffffffull, 0x3ff0000000000000ull,
                                0x000000003f800000ull, 0x7ff0000000000000ull, 0xff800000ull, 0x0000000100000001ull};
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    u64 v = state ^ state >> 29;
    return v % 7 == 0 ? edges[v / 7 % 10] : v * 0x9e3779b97f4a7c15ull;
}

int main(void)
{
    static u64 in[4 * 768], out[6 * 768];
    u32 sums[8];
"""

def struct_arg(rng):
    a, b, c, d = rng.getrandbits(32) - (1 << 31), rng.getrandbits(8), rng.getrandbits(63) - (1 << 62), rng.choice([0.5, -3.0, 1e6])
    e = [rng.getrandbits(16) for _ in range(3)]
    c_text = f"{{{a}, {b}, {c}ll, {d}f, {{{e[0]}, {e[1]}, {e[2]}}}}}"
    value = {"struct": [{"type": "i32", "value": a, "at": 0}, {"type": "u8", "value": b, "at": 4}, {"type": "i64", "value": c, "at": 8},
                        {"type": "f32", "value": d, "at": 16}] + [{"type": "u16", "value": v, "at": 20 + 2 * k} for k, v in enumerate(e)],
             "size": 32}
    return c_text, value

os.makedirs(folder, exist_ok=True)
text, main = [HEAD], [MAIN.replace("SEED", str(seed + 1))]
launches, buffers, outputs, checks = [], {}, {}, {}
for n in range(count):
    rng = random.Random(seed * 100003 + n)
    program = Program(rng, n).make()
    text.append("\n".join(program.text))
    c_text, value = struct_arg(rng)
    small, middle, real = rng.randrange(-128, 128), rng.getrandbits(16), rng.choice([0.0, 1.5, -7.25])
    total = program.threads * program.blocks
    main.append(f"    for (u32 i = 0; i < {4 * total}; i++) in[i] = next();")
    main.append(f"    for (u32 i = 0; i < 8; i++) sums[i] = 0;")
    main.append(f'    save("in", {n}, in, {total * 32});')
    main.append(f"    p{n}_kernel(in, out, sums, S{c_text}, {small}, {middle}, {real});")
    main.append(f'    save("out", {n}, out, {total * 48});')
    main.append(f'    save("sums", {n}, sums, 32);')
    buffers[f"in{n}"] = {"dtype": "u64", "shape": [total, 4], "init": {"raw": f"in{n}.raw"}}
    buffers[f"out{n}"] = {"dtype": "u64", "shape": [total, 6]}
    buffers[f"sums{n}"] = {"dtype": "u32", "shape": [8], "init": "zeros"}
    checks[f"out{n}"] = {"raw": f"out{n}.raw"}
    checks[f"sums{n}"] = {"raw": f"sums{n}.raw"}
    launches.append({"kernel": f"p{n}_kernel", "grid": program.blocks, "block": program.threads,
                     "args": [f"in{n}", f"out{n}", f"sums{n}", value, {"type": "i8", "value": small}, {"type": "u16", "value": middle},
                              {"type": "f64", "value": real}]})
main.append("    return 0;\n}\n#endif\n")
text.append("\n".join(main))
open(os.path.join(folder, "programs.cu"), "w").write("\n".join(text))
json.dump({"buffers": buffers, "launches": launches, "check": checks}, open(os.path.join(folder, "launch.json"), "w"), indent=1)
