"""Random tile programs with products, and schedules for them. As in generate.py each program is built twice at the same time: as text,
and as functions of NumPy on the tiles of one block. Data are small integers, so that sums are exact, whatever their order."""
import numpy as np

import formats

MLIR = {"e4m3": "f8E4M3FN", "e5m2": "f8E5M2"}
BITS = {"f16": 16, "bf16": 16, "e4m3": 8, "e5m2": 8, "i8": 8, "f32": 32, "f64": 64, "i32": 32}
# Factors, sum, {tf32}.
TYPES = [("f16", "f32", False)] * 4 + [("bf16", "f32", False)] * 2 + [("f16", "f16", False), ("e4m3", "f32", False), ("e5m2", "f32", False),
         ("i8", "i32", False), ("f32", "f32", True), ("f32", "f32", True), ("f32", "f32", False), ("f64", "f64", False)]
SHAPES = ["plain"] * 6 + ["two products, one sum", "two products, two sums", "two loops", "two loops", "nested", "nested sums", "guard",
                          "guard inside", "prologue", "carried scalar", "carried coordinate", "row sums", "scaled sum", "steps", "masked"]
# Of programs whose number is so many more than a multiple of 16 the shape is the second: other numbers keep their programs.
LATER = {5: "promoted sum"}
ROUND = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i32": np.int32}


# What other compilers refuse: each of the shapes with loops of so many iterations, with tiles of N of 8 among them.
CASES = [(shape, (steps, 8 if steps % 2 else 32)) for shape in sorted({*SHAPES, *LATER.values()}) for steps in (0, 1, 2, 5)]


class ProductProgram:
    def __init__(self, seed, sm90=True, case=None):
        """case: the number of one of CASES, else all is drawn."""
        self.rng = np.random.default_rng([seed, 17])
        self.sm90 = sm90
        self.lines, self.blocks, self.arguments, self.outputs = [], [[]], {}, []
        self.data, self.initial, self.named = {}, {}, 0
        self.factor, self.sum, self.tf32 = self.pick([t for t in TYPES if sm90 or t[0] not in ("e4m3", "e5m2")])
        self.shape, self.case = (self.pick(SHAPES), None) if case is None else CASES[case]
        if case is None:
            self.shape = LATER.get(seed % 16, self.shape)

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def chance(self, percent):
        return bool(self.rng.integers(100) < percent)

    # ---- text and steps ----

    def fresh(self):
        self.named += 1
        return f"%v{self.named}"

    def op(self, text, function):
        name = self.fresh()
        self.lines.append(f"{name} = {text}")
        self.blocks[-1].append(lambda env: env.__setitem__(name, function(env)))
        return name

    def number(self, value):
        return self.op(f"arith.constant {value} : i32", lambda env: value)

    def region(self, build, *values):
        """(what build returns, steps) of a region."""
        self.blocks.append([])
        out = build(*values)
        return out, self.blocks.pop()

    def loop(self, low, high, step, carried, build):
        """scf.for; carried: (initial value, type)."""
        iv, args = self.fresh(), [self.fresh() for _ in carried]
        results = [self.fresh() for _ in carried]
        types = ", ".join(t for _, t in carried)
        pairs = ", ".join(f"{a} = {v}" for a, (v, _) in zip(args, carried))
        self.lines.append(f"{', '.join(results)} = scf.for {iv} = {low} to {high} step {step} iter_args({pairs}) -> ({types}) : i32 {{")
        yields, steps = self.region(build, iv, args)
        self.lines += [f"scf.yield {', '.join(yields)} : {types}", "}"]

        def run(env):
            values = [env[v] for v, _ in carried]
            for k in range(env[low], env[high], env[step]):
                env[iv] = k
                env.update(zip(args, values))
                for s in steps:
                    s(env)
                values = [env[y] for y in yields]
            env.update(zip(results, values))
        self.blocks[-1].append(run)
        return results

    def when(self, condition, type_, then, otherwise):
        result = self.fresh()
        self.lines.append(f"{result} = scf.if {condition} -> ({type_}) {{")
        yes, first = self.region(then)
        self.lines += [f"scf.yield {yes} : {type_}", "} else {"]
        no, second = self.region(otherwise)
        self.lines += [f"scf.yield {no} : {type_}", "}"]

        def run(env):
            for s in first if env[condition] else second:
                s(env)
            env[result] = env[yes if env[condition] else no]
        self.blocks[-1].append(run)
        return result

    # ---- tensors ----

    def tensor(self, dtype, shape, contiguous, wide, output=False):
        """wide: bytes that rows are stated to be multiples of, or 0. Extents grow to such multiples."""
        name = ("out" if output else "in") + str(len(self.arguments))
        shape = list(shape)
        wide = max(wide, BITS[dtype] // 8) if wide else 0
        div = max(1, wide * 8 // BITS[dtype])
        shape[contiguous] = -(-shape[contiguous] // div) * div
        rank, strides, size = len(shape), [0] * len(shape), 1
        for i in [contiguous] + [i for i in reversed(range(len(shape))) if i != contiguous]:
            strides[i] = size
            size *= shape[i]
        stated = f"{{div={div}}}" if div > 1 else ""
        wider = f"{{i64 div={div}}}" if div > 1 else "{i64}"
        static = self.chance(12)
        extents = [str(n) if static else f"?{stated if i == contiguous else ''}" for i, n in enumerate(shape)]
        steps = [str(s) if static else "1" if i == contiguous else f"?{wider}" for i, s in enumerate(strides)]
        layout = f"{extents[0]}:{steps[0]}" if rank == 1 else f"({','.join(extents)}):({','.join(steps)})"
        align = f", align<{wide}>" if wide else ""
        self.arguments[name] = (f'!cute.memref<{MLIR.get(dtype, dtype)}, gmem{align}, "{layout}">', dtype, tuple(shape), strides, output)
        if not output:
            self.data[name] = self.rng.integers(-2, 3, shape).astype(float)
        return name

    def load(self, tensor, tile, at, to=None, mask=None):
        def function(env):
            full = (1,) * (len(at) - len(tile)) + tuple(tile)
            array, out = env[tensor], np.zeros(full)
            where = tuple(slice(env[c] * n, (env[c] + 1) * n) for c, n in zip(at, full))
            part = array[where]
            out[tuple(slice(n) for n in part.shape)] = part
            out = out.reshape(tile)
            return np.where(env[mask], out, 0.0) if mask else out
        extents = ", ".join(map(str, tile))
        return self.op(f"cute.tile.load<[{extents}]{', ' + to if to else ''}> %{tensor}[{', '.join(at)}]{', ' + mask if mask else ''}", function)

    def width(self):
        return self.pick([16] * 12 + [8, 4, 0, 0])

    def operand(self, extent, tile, depth, wide=None):
        """A function from (row, column of K) that loads a tile of a new tensor: (extent, depth), in some order of its modes."""
        dtype, turned, first = self.factor, self.chance(20), self.chance(30)
        how = self.pick([""] * 10 + ["cast", "scale", "row"])
        if how == "cast" and self.factor in ("f16", "bf16", "f32"):
            dtype = "i8"
        elif how == "cast" or (how and self.factor in ("e4m3", "e5m2", "i8")):
            how = ""
        modes, extents = ((depth, extent), (self.bk, tile)) if turned else ((extent, depth), (tile, self.bk))
        contiguous = 0 if first else 1
        wide = self.width() if wide is None else wide
        lead = (self.batches,) if self.batches else ()
        tensor = self.tensor(dtype, lead + modes, len(lead) + contiguous, wide)
        factors = self.tensor("f32" if self.factor == "f32" else self.factor, (extent,), 0, wide) if how == "row" else None

        def load(row, k, mask=None):
            at = (k, row) if turned else (row, k)
            if self.batches:
                last = self.chance(50)
                x = self.load(tensor, (extents if last else (1,) + extents), ("%b",) + at)
                if not last:
                    x = self.op(f"cute.tile.reshape<[{extents[0]}, {extents[1]}]> {x}", lambda env, x=x: env[x].reshape(extents))
            else:
                x = self.load(tensor, extents, at, mask=mask)
            if turned:
                x = self.op(f"cute.tile.permute<[1, 0]> {x}", lambda env, x=x: env[x].T)
            if dtype != self.factor:
                x = self.op(f"cute.tile.cast<{self.factor}> {x}", lambda env, x=x: env[x])
            if how == "scale":
                x = self.op(f"cute.tile.mul {x}, 2.0", lambda env, x=x: env[x] * 2)
            if how == "row":
                f = self.load(factors, (tile,), (row,))
                f = self.op(f"cute.tile.reshape<[{tile}, 1]> {f}", lambda env, f=f: env[f].reshape(tile, 1))
                x = self.op(f"cute.tile.mul {x}, {f}", lambda env, x=x, f=f: env[x] * env[f])
            return x
        load.plain = not (turned or self.batches or how)
        return load

    def gemm(self, x, y, acc):
        return self.op(f"cute.tile.gemm {x}, {y}, {acc}{' {tf32}' if self.tf32 else ''}", lambda env: env[acc] + env[x] @ env[y].T)

    def zero(self):
        text = "0" if self.sum == "i32" else "0.0"
        return self.op(f"arith.constant dense<{text}> : {self.type}", lambda env: np.zeros((self.bm, self.bn)))

    def constant_of(self, value):
        return str(value) if self.sum == "i32" else f"{float(value)}"

    # ---- the products ----

    def pair(self, depth=None):
        depth = depth or self.depth
        return self.operand(self.m, self.bm, depth), self.operand(self.n, self.bn, depth)

    def reduce_over_k(self, acc, pair=None, low=None, step=None, offset=None):
        a, b = pair or self.pair()

        def body(k, args):
            at = k if offset is None else self.op(f"arith.addi {offset}, {k} : i32", lambda env: env[offset] + env[k])
            return [self.gemm(a("%i", at), b("%j", at), args[0])]
        return self.loop(low or "%c0", "%steps", step or "%c1", [(acc, self.type)], body)[0]

    def products(self):
        """The sums of this block."""
        zero, kind = self.zero(), self.shape
        if kind == "two products, one sum":
            (a, b), (c, d) = self.pair(), self.pair()
            return self.loop("%c0", "%steps", "%c1", [(zero, self.type)],
                             lambda k, args: [self.gemm(c("%i", k), d("%j", k), self.gemm(a("%i", k), b("%j", k), args[0]))])
        if kind == "two products, two sums":
            a, b = self.pair()
            c = self.operand(self.n, self.bn, self.depth)

            def both(k, args):
                x = a("%i", k)
                return [self.gemm(x, b("%j", k), args[0]), self.gemm(x, c("%j", k), args[1])]
            return self.loop("%c0", "%steps", "%c1", [(zero, self.type)] * 2, both)
        if kind == "two loops":
            pair = self.pair()
            first = self.reduce_over_k(zero, pair)
            again = self.reduce_over_k(first if self.chance(50) else zero, pair if self.chance(40) else None)
            return [first, again]
        if kind in ("nested", "nested sums"):
            rounds = self.number(int(self.rng.integers(0, 4)))
            pair = self.pair(self.depth * 2)

            def outer(r, args):
                offset = self.op(f"arith.muli {r}, %steps : i32", lambda env: env[r] * env["%steps"])
                if kind == "nested":
                    return [self.reduce_over_k(args[0], pair, offset=offset)]
                inner = self.reduce_over_k(zero, pair, offset=offset)
                return [self.op(f"cute.tile.add {args[0]}, {inner}", lambda env: env[args[0]] + env[inner])]
            return self.loop("%c0", rounds, "%c1", [(zero, self.type)], outer)
        if kind == "guard":
            on = self.op(f"arith.cmpi {self.pick(['eq', 'ne', 'sge'])}, %i, %c0 : i32", None)
            word = self.lines[-1].split()[3].strip(",")
            self.blocks[-1][-1] = lambda env: env.__setitem__(on, {"eq": env["%i"] == 0, "ne": env["%i"] != 0, "sge": True}[word])
            return [self.when(on, self.type, lambda: self.reduce_over_k(zero), lambda: zero)]
        if kind == "guard inside":
            a, b = self.pair()

            def inside(k, args):
                on = self.op(f"arith.cmpi ne, {k}, %c1 : i32", lambda env: env[k] != 1)
                return [self.when(on, self.type, lambda: self.gemm(a("%i", k), b("%j", k), args[0]), lambda: args[0])]
            return self.loop("%c0", "%steps", "%c1", [(zero, self.type)], inside)
        if kind == "prologue":
            a, b = self.pair()
            first = self.gemm(a("%i", "%c0"), b("%j", "%c0"), zero)
            return [self.reduce_over_k(first, (a, b), low="%c1")]
        if kind == "carried scalar":
            a, b = self.pair()

            def counts(k, args):
                more = self.op(f"arith.addi {args[0]}, %c1 : i32", lambda env: env[args[0]] + 1)
                return [more, self.gemm(a("%i", k), b("%j", k), args[1])]
            count, total = self.loop("%c0", "%steps", "%c1", [("%c0", "i32"), (zero, self.type)], counts)
            one = self.op(f"arith.sitofp {count} : i32 to {self.sum}" if self.sum != "i32" else f"arith.addi {count}, %c0 : i32",
                          lambda env: env[count])
            return [self.op(f"cute.tile.add {total}, {one}", lambda env: env[total] + env[one])]
        if kind == "carried coordinate":
            a, b = self.pair()

            def walks(k, args):
                more = self.op(f"arith.addi {args[0]}, %c1 : i32", lambda env: env[args[0]] + 1)
                return [more, self.gemm(a("%i", args[0]), b("%j", k), args[1])]
            return self.loop("%c0", "%steps", "%c1", [("%c0", "i32"), (zero, self.type)], walks)[1:]
        if kind == "row sums":
            a, b = self.pair()
            t = f"tensor<{self.bm}x1xf32>"
            none = self.op(f"arith.constant dense<0.0> : {t}", lambda env: np.zeros((self.bm, 1)))

            def sums(k, args):
                x = a("%i", k)
                w = self.op(f"cute.tile.cast<f32> {x}", lambda env: env[x]) if self.factor != "f32" else x
                r = self.op(f"cute.tile.reduce<add, 1> {w}", lambda env: env[w].sum(1, keepdims=True))
                r = self.op(f"cute.tile.add {args[0]}, {r}", lambda env, r=r: env[args[0]] + env[r])
                return [r, self.gemm(x, b("%j", k), args[1])]
            rows, total = self.loop("%c0", "%steps", "%c1", [(none, t), (zero, self.type)], sums)
            if self.sum != "f32":
                rows = self.op(f"cute.tile.cast<{self.sum}> {rows}", lambda env, rows=rows: env[rows])
            return [self.op(f"cute.tile.add {total}, {rows}", lambda env: env[total] + env[rows])]
        if kind == "scaled sum":
            a, b = self.pair()

            def scaled(k, args):
                s = self.op(f"cute.tile.mul {args[0]}, {self.constant_of(-1)}", lambda env: -env[args[0]])
                return [self.gemm(a("%i", k), b("%j", k), s)]
            return self.loop("%c0", "%steps", "%c1", [(zero, self.type)], scaled)
        if kind == "promoted sum":
            a, b = self.pair()

            def promoted(k, args):
                p = self.gemm(a("%i", k), b("%j", k), zero)
                s = self.op(f"cute.tile.mul {p}, {self.constant_of(-1)}", lambda env: -env[p])
                return [self.op(f"cute.tile.add {args[0]}, {s}", lambda env: env[args[0]] + env[s])]
            low = self.number(int(self.rng.integers(0, 3))) if self.rng.integers(2) else "%c0"
            return self.loop(low, "%steps", self.number(int(self.rng.integers(1, 4))), [(zero, self.type)], promoted)
        if kind == "steps":
            return [self.reduce_over_k(zero, low=self.number(int(self.rng.integers(0, 3))), step=self.number(int(self.rng.integers(1, 4))))]
        if kind == "masked":
            a, b = self.pair()
            if not a.plain:
                return [self.reduce_over_k(zero, (a, b))]
            rows = self.op(f"cute.tile.iota<[{self.bm}, 1], 0>", lambda env: np.arange(self.bm)[:, None])
            mask = self.op(f"cute.tile.lt {rows}, {self.bm // 2 + 1}", lambda env: env[rows] < self.bm // 2 + 1)
            return self.loop("%c0", "%steps", "%c1", [(zero, self.type)],
                             lambda k, args: [self.gemm(a("%i", k, mask), b("%j", k), args[0])])
        return [self.reduce_over_k(zero)]

    # ---- the epilogue ----

    def store(self, value, dtype, turned=False):
        shape, tile = [self.m, self.n], (self.bm, self.bn)
        at = ("%i", "%j")
        if turned:
            value = self.op(f"cute.tile.permute<[1, 0]> {value}", lambda env, v=value: env[v].T)
            shape, tile, at = shape[::-1], tile[::-1], at[::-1]
        tensor = self.tensor(dtype, self.lead + tuple(shape), len(self.lead) + self.pick([0, 1, 1, 1, 1]), self.width(), True)
        self.place(value, tensor, tile, at)
        return tensor

    def place(self, value, tensor, tile, at):
        if self.batches:
            tile, at = (1,) + tuple(tile), ("%b",) + at
            if self.chance(50):
                value = self.op(f"cute.tile.reshape<[{', '.join(map(str, tile))}]> {value}", lambda env, v=value: env[v].reshape(tile))
        self.lines.append(f"cute.tile.store {value}, %{tensor}[{', '.join(at)}]")

        def run(env):
            part = env[tensor][tuple(slice(env[c] * n, (env[c] + 1) * n) for c, n in zip(at, tile))]
            part[...] = env[value].reshape(tile)[tuple(slice(n) for n in part.shape)]
        self.blocks[-1].append(run)

    def rounded(self, text, function):
        return self.op(text, lambda env: np.asarray(function(env)).astype(ROUND[self.sum]).astype(float))

    def row(self, s):
        """Adds a row that all rows of the tile have; some are computed from it alone."""
        dtype = self.addend_type()
        x = self.load(self.tensor(dtype, (self.n,), 0, self.width()), (self.bn,), ("%j",), to=self.sum if dtype != self.sum else None)
        if self.chance(30):
            x = self.op(f"cute.tile.mul {x}, {self.constant_of(2)}", lambda env, x=x: env[x] * 2)
        return self.rounded(f"cute.tile.add {s}, {x}", lambda env, s=s, x=x: env[s] + env[x])

    def addend_type(self):
        return self.pick([self.sum, self.sum, "f16", "bf16"]) if self.sum == "f32" else self.sum

    def residual(self, s, out):
        """Adds a tile of another tensor, mostly one that TMA can copy, or of the result in place."""
        last, at = len(self.lead) + 1, (("%b",) if self.batches else ()) + ("%i", "%j")
        if out and not self.initial and self.chance(25):
            tensor, dtype, shape = out, self.arguments[out][1], self.arguments[out][2]
            self.initial[out] = self.rng.integers(-2, 3, shape).astype(float)
        else:
            dtype, plain = self.addend_type(), self.chance(70)
            tensor = self.tensor(dtype, self.lead + (self.m, self.n), last if plain else last - self.pick([0, 0, 1]), 16 if plain else self.width())
        x = self.load(tensor, (self.bm, self.bn), at, to=self.sum if dtype != self.sum else None)
        return self.rounded(f"cute.tile.add {s}, {x}", lambda env, s=s, x=x: env[s] + env[x])

    def epilogue(self, s, out=None):
        """out: where its result is stored, if nothing else reads or writes that."""
        kinds = ["alpha", "relu", "row", "column", "residual", "residual", "residual", "store", "sum", "none"]
        for kind in [self.pick(kinds) for _ in range(int(self.rng.integers(0, 4)))]:
            if kind == "alpha":
                s = self.rounded(f"cute.tile.mul {s}, {self.constant_of(2)}", lambda env, s=s: env[s] * 2)
            elif kind == "relu":
                s = self.rounded(f"cute.tile.relu {s}", lambda env, s=s: np.maximum(env[s], 0))
            elif kind == "row":
                s = self.row(s)
            elif kind == "column":
                x = self.load(self.tensor(self.sum, (self.m,), 0, self.width()), (self.bm,), ("%i",))
                x = self.op(f"cute.tile.reshape<[{self.bm}, 1]> {x}", lambda env, x=x: env[x].reshape(-1, 1))
                s = self.rounded(f"cute.tile.add {s}, {x}", lambda env, s=s, x=x: env[s] + env[x])
            elif kind == "residual":
                s = self.residual(s, out)
            elif kind == "store":
                tensor = self.store(s, self.sum)
                if self.chance(30):  # what the block stored before
                    x = self.load(tensor, (self.bm, self.bn), (("%b",) if self.batches else ()) + ("%i", "%j"))
                    s = self.rounded(f"cute.tile.add {s}, {x}", lambda env, s=s, x=x: env[s] + env[x])
            elif kind == "sum" and self.sum != "f16":
                x = self.op(f"cute.tile.reduce<add, 1> {s}", lambda env, s=s: env[s].sum(1, keepdims=True))
                tensor = self.tensor(self.sum, self.lead + (self.m, -(-self.n // self.bn)), len(self.lead) + 1, 0, True)
                self.place(x, tensor, (self.bm, 1), ("%i", "%j"))
        return s

    # ---- a whole program ----

    def sizes(self, stages):
        bk_bits = self.pick([256, 512, 512, 1024, 1024, 1024])
        self.bk = self.pick([16, 32, 64, 128]) if self.chance(30) else bk_bits // BITS[self.factor]
        slow = self.factor == "f64" or (self.factor == "f32" and not self.tf32)
        self.bm = self.pick([32, 64]) if slow else self.pick([64] * 5 + [128] * 3 + [32, 192])
        self.bn = self.pick([8, 16, 32]) if slow else self.pick([8, 16, 24, 32, 64, 64, 96, 128, 192, 256] if self.bm <= 64 else [8, 24, 32, 64, 96])
        self.bk = min(self.bk, 32) if slow else self.bk
        tiles = max(0, self.pick([0, 1, 2, stages - 1, stages, stages + 1, stages + 2]))
        if self.case:
            tiles, self.bn = self.case
        while tiles > 2 and not self.case and self.bm * self.bn * self.bk * tiles > 1 << 20:
            tiles -= 1
        self.depth = max(1, tiles * self.bk - (int(self.rng.integers(0, self.bk)) if self.chance(50) else 0))
        grid = [self.pick([1, 2, 2, 3]), self.pick([1, 2, 3])]
        while grid[0] * grid[1] > 1 and grid[0] * grid[1] * self.bm * self.bn * self.bk * max(1, tiles) > 3 << 20:
            grid[int(grid[1] > grid[0])] -= 1
        self.m, self.n = (g * b - int(self.pick([0, 0, self.rng.integers(0, b)])) for g, b in zip(grid, (self.bm, self.bn)))
        self.macs = grid[0] * grid[1] * self.bm * self.bn * self.bk * max(1, tiles) * max(1, self.batches)
        return tiles

    def build(self, stages=3):
        """(text, arguments, data, wanted)."""
        self.batches = self.pick([0, 0, 0, 0, 0, 2])
        self.lead = (self.batches,) if self.batches else ()
        tiles = self.sizes(stages)
        self.type = f"tensor<{self.bm}x{self.bn}x{self.sum}>"
        out_type = self.pick([self.sum, self.sum, "f16", "bf16"]) if self.sum == "f32" else self.sum
        main = self.tensor(out_type, self.lead + (self.m, self.n), len(self.lead) + self.pick([0, 1, 1, 1]), self.width(), True)
        self.m, self.n = self.arguments[main][2][len(self.lead):]
        head = self.lines
        self.lines = body = []
        self.blocks = [[]]
        sums = self.products()
        ends = [self.epilogue(s, main if s == sums[-1] else None) for s in sums]
        for s in ends[:-1]:
            self.store(s, self.sum)
        last = ends[-1]
        if out_type != self.sum:
            last = self.op(f"cute.tile.cast<{out_type}> {last}", lambda env: formats.decode(out_type, formats.encode(out_type, env[ends[-1]])))
        self.place(last, main, (self.bm, self.bn), ("%i", "%j"))
        if self.chance(10):
            self.store(ends[-1], self.sum, turned=True)
        steps = f"arith.constant {tiles} : i32"
        known = [a for a, (_, d, s, _, o) in self.arguments.items() if a.startswith("in") and len(s) - len(self.lead) == 2]
        if tiles and known and self.shape not in ("nested", "nested sums") and self.chance(70):
            a, mode = known[0], None
            for i, extent in enumerate(self.arguments[a][2][len(self.lead):]):
                mode = i + len(self.lead) if -(-extent // self.bk) == tiles and mode is None else mode
            if mode is not None:
                steps = f"cute.tile.count<{mode}, {self.bk}> %{a}"
        whole = self.lead + (self.m, self.n)
        indices = "%b, %i, %j" if self.batches else "%i, %j"
        extents = ([1] if self.batches else []) + [self.bm, self.bn]
        head = ["%c0 = arith.constant 0 : i32", "%c1 = arith.constant 1 : i32", f"%steps = {steps}",
                f"{indices} = cute.tile.program<{extents}> %{main}"]
        parameters = ", ".join(f"%{n}: {a[0]}" for n, a in self.arguments.items())
        text = "\n".join([f"gpu.module @kernels {{\ngpu.func @k({parameters}) kernel {{", *head, *body, "gpu.return\n}\n}\n"])
        wanted = {n: self.initial.get(n, np.zeros(a[2])).copy() for n, a in self.arguments.items() if a[4]}
        counts = [-(-n // t) for n, t in zip(whole, extents)]
        for at in np.ndindex(*counts):
            env = dict(self.data, **wanted)
            env.update({"%c0": 0, "%c1": 1, "%steps": tiles, "%i": at[-2], "%j": at[-1], "%b": at[0]})
            for s in self.blocks[0]:
                s(env)
        return text, self.arguments, self.data, wanted

    def schedules(self, count):
        """Texts of schedules: the default, then random ones."""
        out = [None]
        for _ in range(count - 1):
            items = {"stages": self.pick([1, 2, 2, 3, 3, 4, 5, 6]), "consumers": self.pick([0, 0, 1, 1, 2]),
                     "cluster": self.pick(["1x1", "1x1", "2x1", "1x2", "2x2"]), "persistent": self.pick([0, 1, 1]), "order": self.pick([1, 2, 8]),
                     "tail": self.pick(["whole", "split", "split", "stream"])}
            if self.chance(25):  # blocks of a cluster divide k
                items.update(persistent=0, tail="whole", split=self.pick([2, 2, 3, 4]), blocks=self.pick([1, 1, 2]), l2=self.pick(["normal", "stream"]))
                if not items["consumers"]:  # and slices of them
                    items.update(split=self.pick([1, 1, 2, 4]), slices=self.pick([2, 2, 3, 4]))
            elif self.sm90 and self.chance(25):
                items.update(stages=self.pick([2, 3, 4, 5]), consumers=2, persistent=1, turns=1)
            out.append(" ".join(f"{k}={v}" for k, v in items.items() if self.chance(85)))
        return out
