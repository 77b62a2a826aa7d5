"""Random epilogues of products, built at the same time as text and as values of NumPy in f64 with a bound of the error of each element,
by first principles: what an operation makes of the errors of its operands, and its own rounding in f32."""
import numpy as np

import formats

EPS = 2.0 ** -23
MANTISSA = {"f32": 23, "f16": 10, "bf16": 7, "e4m3": 3, "e5m2": 2, "i8": 23}
LEAST = {"f32": 2.0 ** -126, "f16": 2.0 ** -24, "bf16": 2.0 ** -126, "e4m3": 2.0 ** -9, "e5m2": 2.0 ** -16, "i8": 0}
MOST = {"f32": 3e38, "f16": 65504, "bf16": 3e38, "e4m3": 448, "e5m2": 57344, "i8": 128}


def erf(x):
    t = np.linspace(0, 1, 401)
    f = np.exp(-np.square(x[..., None] * t))
    return 2 / np.sqrt(np.pi) * x * (f[..., 0] + f[..., -1] + 4 * f[..., 1:-1:2].sum(-1) + 2 * f[..., 2:-1:2].sum(-1)) / 1200


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gelu_tanh(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3)))


def dgelu_tanh(x):
    t = np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x ** 3))
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * x * x)


def dgelu(x):
    return 0.5 * (1 + erf(x / np.sqrt(2))) + x * np.exp(-x * x / 2) / np.sqrt(2 * np.pi)


# Functions of one operand: NumPy's value, and the error of the hardware's approximation where D has at most 16 bits.
UNARY = {"relu": (lambda x: np.maximum(x, 0), 0), "sigmoid": (sigmoid, 2.0 ** -9), "silu": (lambda x: x * sigmoid(x), 2.0 ** -9),
         "tanh": (np.tanh, 2.0 ** -9), "gelu_tanh": (gelu_tanh, 2.0 ** -9), "gelu": (lambda x: 0.5 * x * (1 + erf(x / np.sqrt(2))), 2.0 ** -19),
         "abs": (np.abs, 0), "square": (np.square, 0), "erf": (erf, 2.0 ** -20), "sin": (np.sin, 0), "cos": (np.cos, 0), "relu6": (lambda x: np.clip(x, 0, 6), 0),
         "softplus": (lambda x: np.logaddexp(x, 0), 0), "hardswish": (lambda x: x * np.clip(x / 6 + 0.5, 0, 1), 0), "-": (np.negative, 0),
         "dgelu_tanh": (dgelu_tanh, 2.0 ** -8), "dgelu": (dgelu, 2.0 ** -18), "dsigmoid": (lambda x: sigmoid(x) * (1 - sigmoid(x)), 2.0 ** -8),
         "dsilu": (lambda x: sigmoid(x) * (1 + x * (1 - sigmoid(x))), 2.0 ** -7), "dtanh": (lambda x: 1 - np.tanh(x) ** 2, 2.0 ** -8)}
CONFIGURATIONS = {"f16": ["128x256:4:2x1:0", "128x128:6:1x1:0", "128x64:8:1x1:0"], "bf16": ["128x256:4:2x1:0", "128x128:6:1x1:0"],
                  "e4m3": ["128x256:4:2x1:0", "128x128:6:1x1:0"]}
# Numbers of trees with norms of rows, of any trees in batches, of those whose results and reductions are computed together, and with packed bits.
ROWS_FROM, BATCHES_FROM, JOINED_FROM, BITS_FROM = 1000, 2000, 3000, 4000
PRODUCTS = [("f16", ["f16", "f32"]), ("bf16", ["bf16", "f32"]), ("e4m3", ["f16", "bf16", "f32", "e4m3"])]


class Value:
    def __init__(self, text, value, error, summed=True):
        self.text, self.value, self.error, self.summed = text, np.asarray(value, float), np.asarray(error, float) + 0 * np.asarray(value, float), summed


class EpilogueTree:
    def __init__(self, seed, item=0):
        """`item`: of a batch, whose products have the same tree and other numbers."""
        self.rng, self.seed, self.item = np.random.default_rng([seed, 29]), seed, item
        self.batch, self.batched = (int(self.rng.integers(2, 5)) if BATCHES_FROM <= seed < JOINED_FROM or (seed >= BITS_FROM and seed % 4 == 0) else 1), {}
        self.data, self.kinds, self.outputs, self.statements, self.scalars = {}, {}, {}, [], {}
        self.dtype, outs = PRODUCTS[seed % 3]
        self.out = self.pick(outs)
        self.m = int(self.rng.integers(1, 200))
        self.n = 16 * int(self.rng.integers(1, 18))
        self.k = 16 * int(self.rng.integers(1, 9))
        # Tiles of warpgroups: their size matters little to the product, and much to the epilogue.
        self.configuration = "sm90:" + self.pick(CONFIGURATIONS[self.dtype]) if self.chance(60) else None
        self.schedule = self.pick(["auto", "stages=2 consumers=2 persistent=1", "stages=2 consumers=2", "stages=3 consumers=2 cluster=2x1 persistent=1"])
        self.vector = "f32" if self.out in ("e4m3", "e5m2") else self.out
        if self.chance(25):
            self.m, self.n = 64 * int(self.rng.integers(1, 5)), 128 * int(self.rng.integers(1, 4))
        self.joined, self.bits = JOINED_FROM <= seed < BITS_FROM, seed >= BITS_FROM
        if self.joined:
            self.configuration = "sm90:" + self.pick(CONFIGURATIONS[self.dtype])
        self.rows = ROWS_FROM <= seed < BATCHES_FROM or (self.batch > 1 and self.chance(30))  # reductions of rows of a cluster's tiles, mostly
        if self.rows and self.chance(80):
            self.configuration = "sm90:" + self.pick(CONFIGURATIONS[self.dtype])
            self.n, self.k = 16 * int(self.rng.integers(8, 72)), 16 * int(self.rng.integers(1, 5))
        a, b = (self.numbers(s, item) * self.k ** -0.25 for s in ((self.m, self.k), (self.k, self.n)))
        self.a, self.b = formats.encode(self.dtype, a), formats.encode(self.dtype, b)
        a, b = formats.decode(self.dtype, self.a), formats.decode(self.dtype, self.b)
        self.acc = Value("acc", a @ b, self.sum_error(a, b) + 1e-6)

    def sum_error(self, a, b):
        """Of sums in f32; of e4m3, tensor cores keep 13 bits behind the point of the largest of 32 terms and the sum so far: each of these 33
        addends loses up to 2^-13 of it, and eight of 33 losses of both signs are rarely exceeded."""
        if self.dtype != "e4m3":
            return 2.0 ** -22 * (np.abs(a) @ np.abs(b))
        error, largest, total = 0, 0, np.zeros((self.m, self.n))
        for k in range(self.k):
            largest = np.maximum(largest, np.abs(a[:, k:k + 1] * b[k]))
            total = total + a[:, k:k + 1] * b[k]
            if k % 32 == 31 or k == self.k - 1:
                error = error + 2.0 ** -10 * np.maximum(largest, np.abs(total))
                largest = np.abs(total)
        return error

    def numbers(self, shape, item):
        return np.random.default_rng([self.seed, 31, item, len(self.data), shape[0]]).normal(size=shape)

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def chance(self, percent):
        return bool(self.rng.integers(100) < percent)

    # ---- operations ----

    def unary(self, name, x):
        f, approximate = UNARY[name]
        y = f(x.value)
        near = np.maximum(np.abs(f(x.value + x.error) - y), np.abs(f(x.value - x.error) - y))
        fast = approximate * (1 + np.abs(x.value)) if self.out != "f32" else 0
        kink = x.error * 3 if name.startswith("d") else 0
        text = f"(-{x.text})" if name == "-" else f"{name}({x.text})"
        return Value(text, y, 1.5 * near + kink + 16 * EPS * (np.abs(y) + np.abs(x.value) + 1) + fast, x.summed)

    def binary(self, op, x, y):
        a, b, ea, eb = x.value, y.value, x.error, y.error
        summed = x.summed or y.summed
        if op in "+-":
            v = a + b if op == "+" else a - b
            return Value(f"({x.text} {op} {y.text})", v, ea + eb + EPS * (np.abs(a) + np.abs(b)), summed)
        if op == "*":
            return Value(f"{x.text} * {y.text}", a * b, np.abs(a) * eb + np.abs(b) * ea + ea * eb + 2 * EPS * np.abs(a * b), summed)
        if op == "/":  # by at least 1
            return Value(f"{x.text} / ({y.text})", a / b, 2 * (ea / np.abs(b) + np.abs(a) * eb / np.square(b)) + 4 * EPS * np.abs(a / b), summed)
        f = np.maximum if op == "maximum" else np.minimum
        return Value(f"{op}({x.text}, {y.text})", f(a, b), np.maximum(ea, eb) + 0 * f(a, b), summed)

    def load(self, kind):
        """An operand in memory: i, j or ij."""
        name = f"x{len(self.data)}"
        columns = self.n
        shape = {"i": (self.m,), "j": (columns,), "ij": (self.m, columns)}[kind]
        dtype = self.pick(["f32", "f16", "bf16"]) if self.chance(30) else self.out if kind == "ij" else self.vector
        own = self.batch > 1 and self.chance(50)  # of each product of a batch
        stored = formats.encode(dtype, self.numbers(shape, self.item if own else 0))
        value = formats.decode(dtype, stored)
        self.data[name], self.kinds[name], self.batched[name] = stored, dtype, own
        stated = f":{dtype}" if dtype != (self.out if kind == "ij" else self.vector) else ""
        value = value[:, None] if kind == "i" else value[None] if kind == "j" else value
        return Value(f"{name}[{'l,' if own else ''}{','.join(kind)}]{stated}", value, 0, False)

    def unpacked(self):
        """1 or 0 for each bit of an operand."""
        name, own = f"x{len(self.data)}", self.batch > 1 and self.chance(50)
        rng = np.random.default_rng([self.seed, 31, self.item if own else 0, len(self.data)])
        self.data[name], self.kinds[name], self.batched[name] = rng.integers(-128, 128, (self.m, self.n // 8)).astype(np.int8), "i8", own
        bits = np.unpackbits(self.data[name].view(np.uint8), axis=1, bitorder="little")
        return Value(f"unpack({name}[{'l,' if own else ''}i,j]:i8)", bits, 0, False)

    def store_bits(self, name, x):
        """Of an operand, since those of sums near 0 are not known."""
        packed = np.packbits(x.value > 0, axis=1, bitorder="little").view(np.int8)
        self.store(name, Value(f"pack({x.text} > 0)", packed, 0, False), ":i8", "i8", prefix="aux ")

    def scalar(self):
        name = self.pick(["alpha", "s", "t"])
        value = self.scalars.setdefault(name, float(self.pick([0.5, 2, -1.25, 0.75])))
        return Value(name, np.full((1, 1), value), 0, False)

    def constant(self):
        value = self.pick([2, 0.5, 1.5, 3, 0.1])
        return Value(str(value), np.full((1, 1), float(value)), abs(float(np.float32(value)) - value), False)

    def slice(self, x, step, first):
        return Value(f"{x.text if x.text.isalnum() else '(' + x.text + ')'}[:, {first}::{step}]", x.value[:, first::step], x.error[:, first::step], x.summed)

    def interleave(self, x, y):
        value, error = (np.stack(np.broadcast_arrays(a, b), -1).reshape(x.value.shape[0], -1) for a, b in ((x.value, y.value), (x.error, y.error)))
        return Value(f"interleave({x.text}, {y.text})", value, error)

    def compare(self, x, a, b):
        sign = self.pick(["<", ">", "<=", ">="])
        y = self.constant()
        holds = {"<": np.less, ">": np.greater, "<=": np.less_equal, ">=": np.greater_equal}[sign](x.value, y.value)
        value = np.where(holds, a.value, b.value)
        unsure = np.abs(x.value - y.value) <= x.error + 1e-6
        error = np.where(holds, a.error + 0 * value, b.error + 0 * value) + unsure * np.abs(a.value - b.value + 0 * value) + unsure * (a.error + b.error)
        return Value(f"where({x.text} {sign} {y.text}, {a.text}, {b.text})", value, error)

    def reduce(self, kind, x, axis=None, group=None):
        count = group or (x.value.size if axis is None else x.value.shape[axis])
        value, error = x.value, x.error
        if group:
            value, error = (v.reshape(v.shape[0], -1, group) for v in (value, error))
        at = 2 if group else axis
        f = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "amax": lambda v, **k: np.max(np.abs(v), **k)}[kind]
        out = f(value, axis=at, keepdims=not group)
        if kind in ("sum", "mean"):
            total = (error + (count ** 0.5 + 8) * EPS * np.abs(value)).sum(axis=at, keepdims=not group)
            bound = total if kind == "sum" else total / count
        else:
            bound = error.max(axis=at, keepdims=not group)
        where = f", {axis}" if axis is not None else ""
        return Value(f"{kind}({x.text}{where}{f', {group}' if group else ''})", out, bound + 4 * EPS * np.abs(out))

    def rounded(self, x):
        dtype = self.pick(["f16", "bf16"])
        value = formats.decode(dtype, formats.encode(dtype, x.value))
        return Value(f"{dtype}({x.text})", value, x.error + 2.0 ** -MANTISSA[dtype] * np.abs(x.value) + 2.0 ** -24)

    def root(self, mean):
        return Value(f"rsqrt({mean.text} + 1)", 1 / np.sqrt(mean.value + 1), mean.error + 8 * EPS)

    def kept(self, e, z, count):
        """e of the largest different values of a row, else 0. Values within the error of each other may be equal in f32 or differ, so that the
        smallest of these is one of a range."""
        near = 2 * (z.error + z.error.max(1, keepdims=True)) + 1e-6
        least = low = high = z.value.max(1, keepdims=True)
        for _ in range(count - 1):
            least, low = (np.where(z.value < v - by, z.value, -np.inf).max(1, keepdims=True) for v, by in ((least, 0), (low, near)))
        if count > 1:
            high = np.sort(z.value, 1)[:, -count][:, None]
        unsure = (z.value >= low - near) & (z.value <= high + near)
        value = np.where(z.value >= least, e.value, 0)
        return Value(f"where({z.text} >= kth({z.text}, {count}), {e.text}, 0)", value, e.error + unsure * e.value)

    # ---- trees ----

    def step(self, x):
        kind = self.pick(["unary"] * 5 + ["row", "row", "column", "matrix", "matrix", "scalar", "scalar", "where", "cast", "divide", "max"])
        wide = x.value.shape[1] == self.n
        if kind == "unary":
            return self.unary(self.pick(sorted(UNARY)), x)
        if kind in ("row", "column", "matrix"):
            other = self.load({"row": "j", "column": "i", "matrix": "ij"}[kind]) if wide or kind == "column" else self.scalar()
            return self.binary(self.pick(["+", "*", "-"]), x, other)
        if kind == "scalar":
            return self.binary(self.pick(["+", "*"]), x, self.scalar() if self.chance(50) else self.constant())
        if kind == "where":
            return self.compare(x, self.unary("silu", x) if self.chance(50) else x, self.constant())
        if kind == "cast":
            return self.rounded(x)
        if kind == "divide":
            one = Value("1", np.ones((1, 1)), 0, False)
            return self.binary("/", x, self.binary("+", one, self.unary("abs", self.load("j") if wide else x)))
        return self.binary(self.pick(["maximum", "minimum"]), x, self.constant())

    def let(self, name, x):
        self.statements.append(f"{name} = {x.text}")
        return Value(name, x.value, x.error, x.summed)

    def store(self, name, x, form, dtype=None, prefix=""):
        self.statements.append(f"{prefix}{name}{form} = {x.text}")
        dtype = dtype or (self.out if x.value.shape[0] > 1 and x.value.shape[1] > 1 else "f32")
        self.outputs[name] = (x, dtype)

    def build(self):
        """The text of the epilogue."""
        x = self.acc
        for _ in range(int(self.rng.integers(0, 4))):
            x = self.step(x)
        z = self.let("z", x)
        shape = self.pick(["rms", "layer", "softmax", "largest"]) if self.rows and not self.bits else self.pick(["plain", "gradient"]) if self.bits else self.pick(["gated", "gradient", "reductions"]) if self.joined else self.pick(["plain", "plain", "gated", "interleaved", "norm", "reductions", "reductions", "blocks", "gradient"])
        d = z
        if shape == "gated":
            step = self.pick([2, 2, 2, 4])
            gate, up = self.slice(z, step, 0), self.slice(z, step, step - 1)
            d = self.binary("*", self.unary(self.pick(["silu", "gelu_tanh", "relu"]), gate), up)
        elif shape == "interleaved":
            d = self.interleave(z, self.unary("relu", z))
        elif shape == "norm":
            mean = self.reduce("mean", self.binary("*", z, z), self.pick([0, 1, 1]))
            root = Value(f"rsqrt({mean.text} + 1)", 1 / np.sqrt(mean.value + 1), mean.error + 8 * EPS)
            d = self.binary("*", z, root)
        elif shape == "rms":
            mean = self.reduce("mean", self.binary("*", z, z), 1)
            d = self.binary("*", self.binary("*", z, self.root(mean)), self.load("j"))
        elif shape == "layer":
            mean = self.let("mu", self.reduce("mean", z, 1))
            away = self.let("away", self.binary("-", z, mean))
            d = self.binary("*", away, self.root(self.reduce("mean", self.binary("*", away, away), 1)))
            d = self.binary("+", self.binary("*", d, self.load("j")), self.load("j"))
            if self.chance(50):
                self.store("mean_of_row", mean, "[i]")
        elif shape in ("softmax", "largest"):
            x = self.binary("-", z, self.reduce("max", z, 1))
            e = Value(f"exp({x.text})", np.exp(x.value), np.exp(x.value) * (np.expm1(x.error) + 4 * EPS * (1 + np.abs(x.value))) + 1e-9)
            if shape == "largest":
                e = self.kept(e, z, int(self.rng.integers(1, 4)))
            e = self.let("e", e)
            d = self.binary("/", e, self.reduce("sum", e, 1))
        elif shape == "blocks" and self.n % 32 == 0:
            group = self.pick([8, 16, 32])
            s = self.let("scale", self.binary("+", self.reduce("amax", z, 1, group), Value("1", np.ones((1, 1)), 0)))
            wide = Value(f"repeat(scale, {group})", np.repeat(s.value, group, 1), np.repeat(s.error, group, 1))
            d = self.binary("/", z, wide)
            self.store("S", s, "", self.out, "aux ")
        elif shape == "gradient":
            aux = self.load("ij")
            d = self.let("g", self.binary("*", z, self.unary(self.pick(["dgelu_tanh", "dsilu", "dtanh"] + ["dgelu"] * 2 * self.joined), aux)))
            self.store("bgrad", self.reduce("sum", d, 0), "[j]")
            if self.joined and self.chance(60):
                self.store("norms", self.reduce("sum", self.binary("*", d, d), 1), "[i]")
        if self.bits:
            d = self.binary("*", d, self.unpacked())
            self.store_bits("M", self.load("ij"))
        if self.chance(50) and d.text != "g":
            d = self.step(d)
        d = self.let("y", d)
        self.store("D", d, "")
        if self.chance(60 if self.joined else 35):
            self.store("Z", z, "", prefix="aux ")
        if self.joined and self.chance(40):
            self.store("W", self.unary(self.pick(["gelu", "erf", "tanh", "square"]), d), ":f32", "f32", prefix="aux ")
        if shape == "reductions" or self.chance(60 if self.joined else 20):
            for i in range(int(self.rng.integers(1, 4))):
                kind, axis = self.pick(["sum", "max", "min", "mean", "amax"]), self.pick([0, 1, None])
                r = self.reduce(kind, self.pick([d, z]), axis)
                self.store(f"r{i}", r, {0: "[j]", 1: "[i]", None: ""}[axis] if self.chance(60) and d.value.shape[1] == self.n and r.text.find("y") < 0 else "",
                           prefix="aux ")
        return "; ".join(self.statements)

    def wrong(self, name, got):
        """How a result differs from NumPy, or nothing."""
        x, dtype = self.outputs[name]
        value, error = x.value.reshape(got.shape), x.error.reshape(got.shape)
        kept = np.clip(value, -MOST[dtype], MOST[dtype])
        bound = error + 2.0 ** -MANTISSA[dtype] * np.abs(kept) + LEAST[dtype] + 1e-6
        bad = ~(np.abs(got - kept) <= bound)
        if not bad.any():
            return ""
        at = tuple(int(i[0]) for i in np.nonzero(bad)) if got.ndim else ()
        return f"{name}{list(at)}: expected {value[at]:.7g} within {bound[at]:.3g}, got {got[at]:.7g}; {int(bad.sum())} of {got.size} differ"
