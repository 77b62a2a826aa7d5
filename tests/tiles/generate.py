"""Random tile programs. Each is built twice at the same time: as text, and as a function of NumPy on the tiles of one block. Data are
small integers, so that sums are exact and results are equal bit by bit, whatever the order of additions."""
import numpy as np

EXTENTS = [1, 2, 4, 8, 16, 32, 64, 24, 48]


class Program:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.lines, self.steps, self.arguments = [], [], {}
        self.count = 0
        self.integer = bool(self.pick([0, 1]))
        self.type = "i32" if self.integer else "f32"

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def name(self):
        self.count += 1
        return f"%v{self.count}"

    # ---- tensors ----

    def tensor(self, shape, limit, output=False):
        """A new argument of this shape, or up to `limit`; by rows or by columns, with or without what wide accesses need."""
        name = ("out" if output else "in") + str(len(self.arguments))
        wide, columns = self.pick([0, 1]), self.pick([0, 0, 1])
        rounded = tuple(-(-n // 4) * 4 for n in shape)
        wide = wide and all(n <= m for n, m in zip(rounded, limit))
        if wide:
            shape = rounded
        div = "{div=4}" if wide else ""
        leading = "{i64 div=4}" if wide else "{i64}"
        align = ", align<16>" if wide else ""
        layout = f'(?{div},?{div}):(1,?{leading})' if columns else f'(?{div},?{div}):(?{leading},1)'
        self.arguments[name] = (f'!cute.memref<{self.type}, gmem{align}, "{layout}">', shape, columns, output)
        return name

    # ---- steps: a line of text, a function of the environment ----

    def add(self, text, shape, function):
        name = self.name()
        self.lines.append(f"  {name} = {text}")
        self.steps.append((name, function))
        return name, shape

    def load(self, shape, grid):
        whole = tuple(max(1, n * g - int(self.rng.integers(0, n))) for n, g in zip(shape, grid))
        tensor = self.tensor(whole, tuple(n * g for n, g in zip(shape, grid)))
        swap = shape[0] == shape[1] and self.pick([0, 0, 1])
        fill = self.pick(["zero", "zero", "zero", "neg_inf"]) if self.integer else "zero"
        value = -2**31 if fill == "neg_inf" else 0
        at = "%j, %i" if swap and grid[0] == grid[1] else "%i, %j"

        def function(env, i, j):
            a, (r, c) = env[tensor], (j, i) if at == "%j, %i" else (i, j)
            out = np.full(shape, value, a.dtype)
            part = a[r * shape[0]:(r + 1) * shape[0], c * shape[1]:(c + 1) * shape[1]]
            out[:part.shape[0], :part.shape[1]] = part
            return out
        word = "" if fill == "zero" else f", {fill}"
        return self.add(f"cute.tile.load<[{shape[0]}, {shape[1]}]{word}> %{tensor}[{at}]", shape, function)

    def binary(self, a, b):
        (x, s), (y, t) = a, b
        shape = np.broadcast_shapes(s, t)
        kind = self.pick(["add", "sub", "max", "min"])
        function = {"add": np.add, "sub": np.subtract, "max": np.maximum, "min": np.minimum}[kind]
        return self.add(f"cute.tile.{kind} {x}, {y}", shape, lambda env, i, j: function(env[x], env[y]))

    def unary(self, a):
        x, s = a
        kind = self.pick(["neg", "abs", "relu", "number", "where"])
        if kind == "number":
            n = int(self.rng.integers(-3, 4))
            number = str(n) if self.integer else f"{n}.0"
            return self.add(f"cute.tile.mul {x}, {number}", s, lambda env, i, j: (env[x] * n).astype(env[x].dtype))
        if kind == "where":
            c, _ = self.add(f"cute.tile.gt {x}, {'1' if self.integer else '1.0'}", s, lambda env, i, j: env[x] > 1)
            return self.add(f"cute.tile.where {c}, {x}, {'2' if self.integer else '2.0'}", s,
                            lambda env, i, j: np.where(env[c], env[x], np.array(2, env[x].dtype)))
        function = {"neg": np.negative, "abs": np.abs, "relu": lambda v: np.maximum(v, 0)}[kind]
        return self.add(f"cute.tile.{kind} {x}", s, lambda env, i, j: function(env[x]))

    def reduce(self, a):
        x, s = a
        axis, kind = int(self.rng.integers(2)), self.pick(["add", "max", "min"])
        shape = (1, s[1]) if axis == 0 else (s[0], 1)
        function = {"add": np.add, "max": np.maximum, "min": np.minimum}[kind]
        return self.add(f"cute.tile.reduce<{kind}, {axis}> {x}", shape,
                        lambda env, i, j: function.reduce(env[x], axis=axis, keepdims=True, dtype=env[x].dtype))

    def scan(self, a):
        x, s = a
        axis, kind = int(self.rng.integers(2)), self.pick(["add", "max"])
        reverse = bool(self.pick([0, 1]))
        function = {"add": np.add, "max": np.maximum}[kind]

        def compute(env, i, j):
            v = np.flip(env[x], axis) if reverse else env[x]
            v = function.accumulate(v, axis=axis, dtype=v.dtype)
            return np.flip(v, axis) if reverse else v
        return self.add(f"cute.tile.scan<{kind}, {axis}> {x}{' {reverse}' if reverse else ''}", s, compute)

    def permute(self, a):
        x, s = a
        return self.add(f"cute.tile.permute<[1, 0]> {x}", (s[1], s[0]), lambda env, i, j: env[x].T)

    def reshape(self, a):
        x, s = a
        n, rows = s[0] * s[1], 1
        rows = self.pick([d for d in (1, 2, 4, 8, 16, 32) if n % d == 0])
        shape = (rows, n // rows)
        return self.add(f"cute.tile.reshape<[{shape[0]}, {shape[1]}]> {x}", shape, lambda env, i, j: env[x].reshape(shape))

    def iota(self, s):
        axis = int(self.rng.integers(2))
        x, _ = self.add(f"cute.tile.iota<[{s[0]}, {s[1]}], {axis}>", s,
                        lambda env, i, j: np.broadcast_to(np.arange(s[axis], dtype=np.int32).reshape((-1, 1) if axis == 0 else (1, -1)), s))
        if self.integer:
            return x, s
        return self.add(f"cute.tile.cast<f32> {x}", s, lambda env, i, j: env[x].astype(np.float32))

    def gemm(self, a):
        """x times another tile, by f32 or as f16 on tensor cores: numbers are cut to -4 to 4 first."""
        x, s = a
        n = self.pick([8, 16, 32])
        low, high = ("-4", "4") if self.integer else ("-4.0", "4.0")
        m, _ = self.add(f"cute.tile.max {x}, {low}", s, lambda env, i, j: np.maximum(env[x], -4))
        m, _ = self.add(f"cute.tile.min {m}, {high}", s, lambda env, i, j, m=m: np.minimum(env[m], 4))
        kind = self.pick(["f32", "f16"])
        cast = [self.add(f"cute.tile.cast<{kind}> {v}", t, lambda env, i, j, v=v: env[v].astype(np.float32))[0]
                for v, t in ((m, s), self.iota((n, s[1])))]
        small, _ = self.add(f"cute.tile.where {self.lessthan(cast[1], kind)}, {cast[1]}, 1.0", (n, s[1]),
                            lambda env, i, j: np.where(env[cast[1]] < 8, env[cast[1]], 1))
        zero, _ = self.add(f"arith.constant dense<0.0> : tensor<{s[0]}x{n}xf32>", (s[0], n),
                           lambda env, i, j: np.zeros((s[0], n), np.float32))
        d, _ = self.add(f"cute.tile.gemm {cast[0]}, {small}, {zero}", (s[0], n), lambda env, i, j: env[cast[0]] @ env[small].T)
        if not self.integer:
            return d, (s[0], n)
        return self.add(f"cute.tile.cast<i32> {d}", (s[0], n), lambda env, i, j: env[d].astype(np.int32))

    def lessthan(self, x, kind):
        return self.add(f"cute.tile.lt {x}, 8.0", None, lambda env, i, j: env[x] < 8)[0]

    def narrow(self, a):
        """By way of a narrower or wider type, which has the numbers exactly."""
        x, s = a
        kind = self.pick(["i8", "i16", "i64"] if self.integer else ["f16", "bf16", "f64", "i8"])
        low, high = ("-100", "100") if self.integer else ("-100.0", "100.0")
        m, _ = self.add(f"cute.tile.max {x}, {low}", s, lambda env, i, j: np.maximum(env[x], -100))
        m, _ = self.add(f"cute.tile.min {m}, {high}", s, lambda env, i, j, m=m: np.minimum(env[m], 100))
        n, _ = self.add(f"cute.tile.cast<{kind}> {m}", s, lambda env, i, j: env[m])
        return self.add(f"cute.tile.cast<{self.type}> {n}", s, lambda env, i, j: env[m])

    def pairs(self, a):
        """Neighbours in a dimension taken apart, combined and put together, or one of them alone."""
        x, s = a
        if s[1] % 2:
            return self.unary(a)
        half, t = (s[0], s[1] // 2), f"[{s[0]}, {s[1] // 2}, 2]"
        p, _ = self.add(f"cute.tile.reshape<{t}> {x}", None, lambda env, i, j: env[x].reshape(*half, 2))
        even, _ = self.add(f"cute.tile.pick<0, 2> {p}", half, lambda env, i, j: env[p][..., 0])
        odd, _ = self.add(f"cute.tile.pick<1, 2> {p}", half, lambda env, i, j: env[p][..., 1])
        if self.pick([0, 1]):
            return self.add(f"cute.tile.sub {even}, {odd}", half, lambda env, i, j: env[even] - env[odd])
        minus, _ = self.add(f"cute.tile.neg {odd}", half, lambda env, i, j: -env[odd])
        both, _ = self.add(f"cute.tile.stack {minus}, {even}", None, lambda env, i, j: np.stack([env[minus], env[even]], -1))
        if self.pick([0, 1]):
            turned, _ = self.add(f"cute.tile.permute<[0, 2, 1]> {both}", None, lambda env, i, j, both=both: env[both].transpose(0, 2, 1))
            both = turned
        return self.add(f"cute.tile.reshape<[{s[0]}, {s[1]}]> {both}", s, lambda env, i, j: env[both].reshape(s))

    def half(self, a):
        """The upper or lower half of the rows."""
        x, s = a
        if s[0] % 2:
            return self.unary(a)
        which = self.pick([0, 1])
        p, _ = self.add(f"cute.tile.reshape<[2, {s[0] // 2}, {s[1]}]> {x}", None, lambda env, i, j: env[x].reshape(2, s[0] // 2, s[1]))
        return self.add(f"cute.tile.pick<{which}, 0> {p}", (s[0] // 2, s[1]), lambda env, i, j: env[p][which])

    def gather(self, a):
        """Rows of a tensor at indices some of which are outside, with a mask or not."""
        _, s = a
        rows, columns, start = s[0] + int(self.rng.integers(-2, 3)), s[1], int(self.rng.integers(-2, 3))
        rows = max(1, rows)
        tensor = self.tensor((rows, columns), (rows, columns))
        first = self.name()
        self.lines.append(f"  {first} = arith.constant {start} : i32")
        self.steps.append((first, lambda env, i, j: start))
        r, _ = self.add(f"cute.tile.iota<[{s[0]}, 1], 0> {first}", None, lambda env, i, j: np.arange(s[0], dtype=np.int32)[:, None] + start)
        c, _ = self.add(f"cute.tile.iota<[1, {columns}], 1>", None, lambda env, i, j: np.arange(columns, dtype=np.int32)[None])
        mask, limit = "", s[0]
        if self.pick([0, 1]):
            limit = int(self.rng.integers(0, s[0] + 1))
            m, _ = self.add(f"cute.tile.lt {r}, {limit}", None, lambda env, i, j: env[r] < limit)
            mask = f", {m}"

        def function(env, i, j):
            table = env[tensor]
            at = np.arange(s[0]) + start
            good = (at >= 0) & (at < rows) & ((at < limit) if mask else True)
            out = np.zeros(s, table.dtype)
            out[good] = table[at[good]]
            return out
        return self.add(f"cute.tile.gather %{tensor}, {r}, {c}{mask}", s, function)

    def masked(self, a):
        """A tensor where a mask allows it: by rows, by columns or element by element."""
        _, s = a
        tensor = self.tensor(s, s)
        r, _ = self.add(f"cute.tile.iota<[{s[0]}, 1], 0>", None, lambda env, i, j: np.arange(s[0])[:, None])
        c, _ = self.add(f"cute.tile.iota<[1, {s[1]}], 1>", None, lambda env, i, j: np.arange(s[1])[None])
        rows, columns, kind = int(self.rng.integers(0, s[0] + 1)), int(self.rng.integers(0, s[1] + 1)), self.pick(["rows", "columns", "both"])
        mr, _ = self.add(f"cute.tile.lt {r}, {rows}", None, lambda env, i, j: env[r] < rows)
        mc, _ = self.add(f"cute.tile.ge {c}, {columns}", None, lambda env, i, j: env[c] >= columns)
        mask = mr if kind == "rows" else mc
        if kind == "both":
            mask, _ = self.add(f"cute.tile.or {mr}, {mc}", None, lambda env, i, j: env[mr] | env[mc])

        def function(env, i, j):
            out = np.zeros(s, env[tensor].dtype)
            part = env[tensor][:s[0], :s[1]]
            out[:part.shape[0], :part.shape[1]] = part
            return np.where(np.broadcast_to(env[mask], s), out, np.zeros(1, out.dtype))
        return self.add(f"cute.tile.load<[{s[0]}, {s[1]}]> %{tensor}[0, 0], {mask}", s, function)

    def guard(self, a):
        """Another value in the blocks of the first row."""
        x, s = a
        t = f"tensor<{s[0]}x{s[1]}x{self.type}>"
        name, condition, doubled = (self.name() for _ in range(3))
        self.lines += [f"  {condition} = arith.cmpi eq, %i, %c0 : i32", f"  {name} = scf.if {condition} -> ({t}) {{",
                       f"    {doubled} = cute.tile.add {x}, {x}", f"    scf.yield {doubled} : {t}", "  } else {", f"    scf.yield {x} : {t}",
                       "  }"]
        self.steps.append((name, lambda env, i, j: env[x] + env[x] if i == 0 else env[x]))
        return name, s

    def product_loop(self, a):
        """A product of two tensors, a step of K at a time; the last one may lie partly or wholly outside."""
        if self.integer:
            return self.unary(a)
        m, n, k = self.pick([16, 32, 64]), self.pick([8, 16, 32]), self.pick([8, 16, 32])
        steps, kind = int(self.rng.integers(0, 4)), self.pick(["f32", "f16"])
        depth = max(1, steps * k - int(self.rng.integers(0, k)))
        left, right = self.tensor((m, depth), (m, max(k, steps * k))), self.tensor((n, depth), (n, max(k, steps * k)))
        name, at, acc, x, y, d = (self.name() for _ in range(6))
        t = f"tensor<{m}x{n}xf32>"
        lines = [f"  {name}_z = arith.constant dense<0.0> : {t}", f"  {name}_n = arith.constant {steps} : i32",
                 f"  {name} = scf.for {at} = %c0 to {name}_n step %c1 iter_args({acc} = {name}_z) -> ({t}) : i32 {{",
                 f"    {x} = cute.tile.load<[{m}, {k}]> %{left}[0, {at}]", f"    {y} = cute.tile.load<[{n}, {k}]> %{right}[0, {at}]"]
        if kind == "f16":
            lines += [f"    {x}_h = cute.tile.cast<f16> {x}", f"    {y}_h = cute.tile.cast<f16> {y}"]
            x, y = f"{x}_h", f"{y}_h"
        self.lines += [*lines, f"    {d} = cute.tile.gemm {x}, {y}, {acc}", f"    scf.yield {d} : {t}", "  }"]

        def function(env, i, j):
            depth = min(steps * k, env[left].shape[1], env[right].shape[1])
            return (env[left][:, :depth] @ env[right][:, :depth].T).astype(np.float32)
        self.steps.append((name, function))
        return name, (m, n)

    def loop(self, a):
        """acc = max(x + k, acc) for a few k, which a loop carries."""
        x, s = a
        rounds = int(self.rng.integers(0, 4))
        t = f"tensor<{s[0]}x{s[1]}x{self.type}>"
        name, k, acc, new, scaled = (self.name() for _ in range(5))
        number = f"arith.sitofp {k} : i32 to f32" if not self.integer else f"arith.addi {k}, {k} : i32"
        self.lines += [f"  {name}_n = arith.constant {rounds} : i32",
                       f"  {name} = scf.for {k} = %c0 to {name}_n step %c1 iter_args({acc} = {x}) -> ({t}) : i32 {{",
                       f"    {scaled} = {number}",
                       f"    {new} = cute.tile.add {acc}, {scaled}",
                       f"    scf.yield {new} : {t}", "  }"]
        total = sum(range(rounds)) * (2 if self.integer else 1)
        self.steps.append((name, lambda env, i, j: (env[x] + total).astype(env[x].dtype)))
        return name, s

    def store(self, a, grid):
        x, s = a
        whole = tuple(max(1, n * g - int(self.rng.integers(0, n))) for n, g in zip(s, grid))
        tensor = self.tensor(whole, tuple(n * g for n, g in zip(s, grid)), True)
        self.lines.append(f"  cute.tile.store {x}, %{tensor}[%i, %j]")
        return tensor, x, s

    # ---- a whole program ----

    def build(self):
        grid = (int(self.rng.integers(1, 3)), int(self.rng.integers(1, 4)))
        while True:
            shape = (self.pick(EXTENTS), self.pick(EXTENTS))
            if 4 <= shape[0] * shape[1] <= 2048:
                break
        tiles = [self.load(shape, grid) for _ in range(int(self.rng.integers(1, 3)))]
        for _ in range(int(self.rng.integers(2, 8))):
            a = self.pick(tiles)
            kind = self.pick(["binary", "binary", "unary", "reduce", "scan", "permute", "reshape", "iota", "loop", "gemm", "load", "narrow", "pairs",
                              "half", "gather", "guard", "product_loop", "masked"])
            if kind == "binary":
                same = [t for t in tiles if all(m == n or 1 in (m, n) for m, n in zip(t[1], a[1]))]
                tiles.append(self.binary(a, self.pick(same)))
            elif kind == "gemm":
                if a[1][1] in (16, 32, 64) and a[1][0] <= 64:
                    tiles.append(self.gemm(a))
            elif kind == "load":
                tiles.append(self.load(shape, grid))
            elif kind == "iota":
                tiles.append(self.iota(a[1]))
            else:
                tiles.append(getattr(self, kind)(a))
        outputs = [self.store(t, grid) for t in {tiles[-1][0]: tiles[-1], self.pick(tiles)[0]: self.pick(tiles)}.values()]
        parameters = ", ".join(f"%{n}: {t}" for n, (t, _, _, _) in self.arguments.items())
        block = self.pick([0, 0, 0, 0, 32, 64, 96, 160, 256, 512, 1024])
        attributes = f"attributes {{nvvm.reqntid = array<i32: {block}, 1, 1>}} " if block else ""
        text = "\n".join([f"gpu.module @kernels {{\ngpu.func @k({parameters}) kernel {attributes}{{", f"  %gi = arith.constant {grid[0]} : i32",
                          f"  %gj = arith.constant {grid[1]} : i32", "  %c0 = arith.constant 0 : i32", "  %c1 = arith.constant 1 : i32",
                          "  %i, %j = cute.tile.program %gi, %gj", *self.lines, "  gpu.return\n}\n}\n"])
        dtype = np.int32 if self.integer else np.float32
        data = {n: self.rng.integers(-4, 5, s).astype(dtype) for n, (_, s, _, output) in self.arguments.items() if not output}
        wanted = {tensor: np.zeros(self.arguments[tensor][1], dtype) for tensor, _, _ in outputs}
        written = {tensor: np.zeros(self.arguments[tensor][1], bool) for tensor, _, _ in outputs}
        for i in range(grid[0]):
            for j in range(grid[1]):
                env = dict(data)
                with np.errstate(all="ignore"):
                    for name, function in self.steps:
                        env[name] = function(env, i, j)
                for tensor, value, s in outputs:
                    part = wanted[tensor][i * s[0]:(i + 1) * s[0], j * s[1]:(j + 1) * s[1]]
                    part[...] = env[value][:part.shape[0], :part.shape[1]]
                    written[tensor][i * s[0]:(i + 1) * s[0], j * s[1]:(j + 1) * s[1]] = True
        return text, self.arguments, data, wanted
