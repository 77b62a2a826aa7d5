"""Random memory accesses as PTX, and their cost by a model independent of lib/base/devices/traffic.c.

A kernel has many accesses, each with a table of lane addresses, computed by a chain of selections or by arithmetic on
%tid. Some lanes are inactive: by a predicate, by a branch, or because the block ends within the warp."""
import random

HEAD = """.version 8.4
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 .ptr .global .align 256 out) .reqntid {threads}, 1, 1
{{
    .reg .pred %p<8>;
    .reg .b16 %h<4>;
    .reg .b32 %r<64>;
    .reg .b32 %v<8>;
    .reg .b64 %d<16>;
    .reg .b64 %w<4>;
    .shared .align 1024 .b8 room[{room}];
    mov.u32 %r0, %tid.x;
    and.b32 %r2, %r0, 31;
    shr.u32 %r3, %r0, 5;
    mov.u32 %r1, room;
    ld.param.u64 %d0, [out];
    cvta.to.global.u64 %d0, %d0;
    cvta.shared.u64 %d7, room;
    mov.b16 %h0, 0; mov.b16 %h1, 0; mov.u64 %w0, 0; mov.u64 %w1, 0;
    mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0; mov.u32 %v7, 0; mov.b16 %h2, 0; mov.b16 %h3, 0;
"""
ROOM = 16384
SUM = """    xor.b32 %v0, %v0, %v1; xor.b32 %v2, %v2, %v3; xor.b32 %v0, %v0, %v2; xor.b64 %w0, %w0, %w1; xor.b16 %h0, %h0, %h1;
    cvt.u32.u64 %v1, %w0; cvt.u32.u16 %v2, %h0; xor.b32 %v1, %v1, %v2; xor.b32 %v0, %v0, %v1; add.u32 %v7, %v7, %v0;"""


# ---- the model ----


def most_in_a_bank(units, banks):
    """Different units that lie in one bank, at most."""
    by_bank = {}
    for unit in units:
        by_bank.setdefault(unit % banks, set()).add(unit)
    return max(map(len, by_bank.values()), default=0)


def words(address, width):
    return range(address // 4, (address + width - 1) // 4 + 1)


def wavefronts(lanes, width, load=False):
    """Of one request, {lane: address}: half a warp of 8 bytes a lane at once, a quarter of 16. In a load (by ld) in which lanes n
    and n ^ 1, or n and n ^ 2, agree, neighbouring groups go together where that makes one wavefront and registers get 256 bytes at most."""
    def cost(first, count):
        here = {lane: address for lane, address in lanes.items() if first <= lane < first + count}
        together = most_in_a_bank([w for address in here.values() for w in words(address, width)], 32)
        if count * width <= 128 or count <= 32 and width < 4 or pairs and together <= 1 and len(here) * width <= 256:
            return together
        return cost(first, count // 2) + cost(first + count // 2, count // 2)
    pairs = load and any(all(lanes.get(lane ^ by, address) == address for lane, address in lanes.items()) for by in (1, 2))
    return cost(0, 32)


def sectors(lanes, width):
    return len({byte // 32 for address in lanes.values() for byte in (address, address + width - 1)} |
               {byte // 32 for address in lanes.values() for byte in range(address, address + width, 32)})


def unique(to, reading):
    """Past the L1, of lanes that copy to one address the first one comes."""
    by_address = {}
    for lane in sorted(reading, reverse=True):
        by_address[to[lane]] = lane
    return by_address.values()


def copy_sectors(to, source, width, way):
    """Of a cp.async by the lanes of `source`. Of .cg, past the L1, a sector comes once for each sector of shared memory that it
    goes to, in either order of its halves."""
    if way == "ca":
        return sectors(source, width)
    return len({(source[lane] // 32, to[lane] // 32, (to[lane] - source[lane]) % 32) for lane in unique(to, source)})


def copy_wavefronts(to, source, reading, width, way):
    """Of a cp.async. Lanes meet that read or write one bank, whatever the words; as many wavefronts as meet with one of them.
    Past the L1 the sectors of a warp go together that come from one line to one line, an even or an odd number of sectors on, with
    their halves in order or not, and with the same halves; each sector of both sides once. Where lanes fill with zeros, both."""
    reading, group = set(reading), min(32, 128 // width)

    def meet(a, b):
        return to[a] % 128 // width == to[b] % 128 // width or {a, b} <= reading and source[a] % 128 // width == source[b] % 128 // width
    banks = sum(max((sum(meet(a, b) for b in to if a // group == b // group) for a in to if a // group == n), default=0) for n in range(32 // group))
    if way == "ca":
        return banks
    moves = {}
    for lane in unique(to, reading):
        there, here = source[lane] // 16, to[lane] // 16
        moves.setdefault((there // 2, here // 2, (there + here) % 2), set()).add(there % 2)
    together = {}
    for (there, here, swapped), halves in moves.items():
        together.setdefault((there // 4, here // 4, swapped, (there + here) % 2, tuple(sorted(halves))), []).append((there, here))
    past = sum(max([side.count(sector) for side in zip(*pairs) for sector in side]) for pairs in together.values())
    return past + (banks if set(to) - reading else 0)


# ---- tables of addresses ----


def table(rng, width, span):
    """A function of (lane, warp) and PTX that puts it into %r9."""
    units = span // width
    kind = rng.choice(["any", "few", "pairs", "fours", "strided", "swizzled", "blocks", "bank", "rows"])
    if kind == "strided":
        step, add = rng.randrange(0, 65), rng.randrange(0, 32)
        step %= max(1, units // 128)
        return (lambda lane, warp: (add + step * (lane + 32 * warp)) * width,
                f"    mad.lo.u32 %r9, %r0, {step * width}, {add * width};")
    if kind == "swizzled":
        shift, bits = rng.randrange(1, 6), rng.choice([1, 3, 7, 15, 31])
        row = rng.choice([4, 8, 16, 32])
        return (lambda lane, warp: (lane * row + (lane >> shift & bits)) % units * width ^ warp * width,
                f"    mul.lo.u32 %r9, %r2, {row};\n    shr.u32 %r10, %r2, {shift};\n    and.b32 %r10, %r10, {bits};\n"
                f"    add.u32 %r9, %r9, %r10;\n    rem.u32 %r9, %r9, {units};\n    mul.lo.u32 %r9, %r9, {width};\n"
                f"    mul.lo.u32 %r10, %r3, {width};\n    xor.b32 %r9, %r9, %r10;")
    if kind == "few":
        pool = [rng.randrange(units) for _ in range(rng.choice([1, 2, 3, 5, 8]))]
        units_of = [rng.choice(pool) for _ in range(32)]
    elif kind == "pairs":
        by = rng.choice([1, 2])
        units_of = [0] * 32
        for lane in range(32):
            units_of[lane] = units_of[lane ^ by] if lane & by else rng.randrange(units)
        if rng.random() < 0.25:
            units_of[rng.randrange(32)] = rng.randrange(units)
    elif kind == "fours":
        units_of = [lane // 8 * 8 + rng.choice([0, 1, 2, 3]) for lane in range(32)]
    elif kind == "blocks":
        units_of = [(lane // 4 * rng.randrange(1, 9) + lane % 4) % units for lane in range(32)]
    elif kind == "rows":
        per, pitch, first = rng.choice([2, 4, 8, 16]), rng.choice([128, 144, 160, 256, 272, 320, 400]), rng.randrange(8) * 16
        units_of = [(first + lane // per * pitch) // width + lane % per for lane in range(32)]
    elif kind == "bank":
        units_of = [rng.randrange(units // (128 // min(width, 128))) * (128 // width) for _ in range(32)]
    else:
        units_of = [rng.randrange(units) for _ in range(32)]
    code = [f"    mov.u32 %r9, {units_of[0] * width};"]
    for lane in range(1, 32):
        code += [f"    setp.eq.u32 %p1, %r2, {lane};", f"    selp.b32 %r9, {units_of[lane] * width}, %r9, %p1;"]
    return lambda lane, warp: units_of[lane] * width, "\n".join(code)


# ---- instructions: name, width, the text with its address for {a}; sides ----

VALUES = {4: ("u32", "%v0"), 8: ("v2.u32", "{%v0, %v1}"), 16: ("v4.u32", "{%v0, %v1, %v2, %v3}")}
SHARED = [("ld.shared.u8 %h0, [{a}];", 1), ("ld.shared.u16 %h0, [{a}];", 2), ("st.shared.b8 [{a}], %h0;", 1), ("st.shared.b16 [{a}], %h0;", 2),
          ("ld.shared.u64 %w0, [{a}];", 8), ("ld.shared.v2.u64 {%w0, %w1}, [{a}];", 16), ("ld.volatile.shared.u32 %v0, [{a}];", 4),
          ("ld.shared.v2.u16 {%h0, %h1}, [{a}];", 4), ("ld.shared.v4.u8 {%h0, %h1, %h2, %h3}, [{a}];", 4), ("st.shared.u64 [{a}], %w0;", 8),
          ("atom.shared.add.u32 %v0, [{a}], 1;", 4), ("red.shared.add.u32 [{a}], 1;", 4), ("atom.shared.add.u64 %w0, [{a}], %w1;", 8),
          ("atom.shared.cas.b32 %v0, [{a}], %v1, %v2;", 4)]
GLOBAL = [("ld.global.u8 %h0, [{a}];", 1), ("ld.global.u16 %h0, [{a}];", 2), ("st.global.b8 [{a}], %h0;", 1), ("st.global.u64 [{a}], %w0;", 8),
          ("ld.global.nc.v2.u64 {%w0, %w1}, [{a}];", 16), ("red.global.add.u32 [{a}], 1;", 4), ("atom.global.add.u32 %v0, [{a}], 1;", 4),
          ("atom.global.add.u64 %w0, [{a}], %w1;", 8), ("ld.global.L1::no_allocate.u32 %v0, [{a}];", 4)]
for width, (suffix, registers) in VALUES.items():
    SHARED += [(f"ld.shared.{suffix} {registers}, [{{a}}];", width), (f"st.shared.{suffix} [{{a}}], {registers};", width)] * 2
    GLOBAL += [(f"ld.global.{suffix} {registers}, [{{a}}];", width), (f"st.global.{suffix} [{{a}}], {registers};", width)] * 2


END = """
    cp.async.wait_all;
    mul.wide.u32 %d1, %r0, 4;
    add.u64 %d2, %d0, %d1;
    st.global.u32 [%d2], %v7;
    ret;
}
"""


class Access:
    """One access: its place in the text is where // N stands."""

    def __init__(self, rng, number, threads):
        self.number, self.threads, self.rows = number, threads, 32
        self.kind = rng.choice(["shared"] * 6 + ["global"] * 4 + ["generic shared", "generic global", "matrix", "copy"])
        if self.kind == "matrix":
            self.width, form = 16, rng.choice([1, 2, 4])
            self.rows = form * 8
            values = "{" + ", ".join(f"%v{n}" for n in range(form)) + "}"
            self.text = rng.choice([f"ldmatrix.sync.aligned.m8n8.x{form}{rng.choice(['', '.trans'])}.shared.b16 {values}, [{{a}}];",
                                    f"stmatrix.sync.aligned.m8n8.x{form}.shared.b16 [{{a}}], {values};"])
        elif self.kind == "copy":
            self.width = rng.choice([4, 8, 16])
            self.way = rng.choice(["ca", "cg"]) if self.width == 16 else "ca"
            self.text = f"cp.async.{self.way}.shared.global [{{a}}], [{{b}}], {self.width};"
        else:
            self.text, self.width = rng.choice(GLOBAL if "global" in self.kind else SHARED)
            if "generic" in self.kind:
                self.text = self.text.replace(".shared", "").replace(".global", "").replace(".nc", "")
        self.spaces = {"copy": ["global", "shared"], "matrix": ["shared"]}.get(self.kind, [self.kind.split()[-1]])
        self.address, self.code = table(rng, self.width, ROOM - 1024)
        self.source, self.source_code, self.idle = self.address, "", 0
        if self.kind == "copy":
            self.source, self.source_code = table(rng, self.width, ROOM - 1024)
            self.idle = rng.choice([0, 0, rng.getrandbits(32), 0xffff_0000, 0xffff_ffff])
            if self.idle:
                self.text = self.text.replace(";", ", %p3;")
        self.offset = rng.choice([0, 0, 16, 32]) if self.kind != "matrix" else 0
        # Who stays away: whole tables only where the instruction allows it.
        self.away = rng.choice(["nobody", "nobody", "predicate", "branch"]) if self.kind != "matrix" else "nobody"
        self.mask = rng.choice([rng.getrandbits(32) | 1, 0x5555_5555, 0x0000_ffff, 0xffff_0000, 0x1])

    def comes(self, lane):
        return self.away == "nobody" or bool(self.mask >> lane & 1)

    def lines(self):
        at = {"shared": "%r11", "matrix": "%r11", "global": "%d2", "generic shared": "%d3", "generic global": "%d2", "copy": "%r11"}[self.kind]
        offset = f"+{self.offset}" if self.offset else ""
        text = self.text.replace("{a}", at + offset).replace("{b}", "%d2" + offset)
        code = (f"{self.code}\n    add.u32 %r11, %r1, %r9;\n    cvt.u64.u32 %d1, %r9;\n    add.u64 %d3, %d7, %d1;\n"
                f"{self.source_code}\n    cvt.u64.u32 %d1, %r9;\n    add.u64 %d2, %d0, %d1;")
        if self.idle:
            code += f"\n    mov.u32 %r13, {self.idle};\n    shr.u32 %r13, %r13, %r2;\n    and.b32 %r13, %r13, 1;\n    setp.eq.u32 %p3, %r13, 1;"
        if self.away != "nobody":
            code += f"\n    mov.u32 %r12, {self.mask};\n    shr.u32 %r12, %r12, %r2;\n    and.b32 %r12, %r12, 1;\n    setp.eq.u32 %p2, %r12, 1;"
        if self.away == "predicate":
            text = "@%p2 " + text
        # What is loaded goes into a sum, or ptxas would leave the load away.
        code += "\n    mov.u32 %v0, 0; mov.u32 %v1, 0; mov.u32 %v2, 0; mov.u32 %v3, 0; mov.u64 %w0, 0; mov.u64 %w1, 0; mov.b16 %h0, 0; mov.b16 %h1, 0;"
        mark = f"    {text} // {self.number}!"
        if self.away == "branch":
            mark = f"    @!%p2 bra OVER{self.number};\n{mark}\nOVER{self.number}:"
        return f"{code}\n{mark}\n{SUM}"

    def expected(self):
        """{space: costs of the warps that come}."""
        costs = {space: [] for space in self.spaces}
        for warp in range((self.threads + 31) // 32):
            here = [lane for lane in range(min(self.rows, self.threads - 32 * warp)) if self.comes(lane)]
            reading = [lane for lane in here if not self.idle >> lane & 1]
            lanes = {lane: self.address(lane, warp) + self.offset for lane in here}
            source = {lane: self.source(lane, warp) + self.offset for lane in reading}
            if self.kind == "copy":
                all_sources = {lane: self.source(lane, warp) + self.offset for lane in here}
                if here:
                    costs["shared"].append(copy_wavefronts(lanes, all_sources, reading, self.width, self.way))
                if reading:
                    costs["global"].append(copy_sectors(lanes, source, self.width, self.way))
            elif here:
                space = self.spaces[0]
                load = self.text.startswith("ld") and self.kind != "matrix"
                costs[space].append(wavefronts(lanes, self.width, load) if space == "shared" else sectors(lanes, self.width))
        return costs


def kernel(seed, count, threads):
    """(text, {line: access})"""
    rng = random.Random(seed)
    accesses = [Access(rng, n, threads) for n in range(count)]
    if threads % 32:
        for a in accesses:
            if a.kind == "matrix":  # wants whole warps
                a.kind, a.spaces, a.text, a.width, a.rows = "shared", ["shared"], "ld.shared.v4.u32 {%v0, %v1, %v2, %v3}, [{a}];", 16, 32
    text = HEAD.format(threads=threads, room=ROOM) + "\n".join(a.lines() for a in accesses) + END
    where = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.endswith("!"):
            where[number] = accesses[int(line.rsplit("// ", 1)[1][:-1])]
    return text, where
