#!/usr/bin/env python3
"""The kernels of kernels/ranks in random cases, and with one synchronisation less: kernels.py BIN [CASES [SEED]]

Each case has a kernel, a type, 2, 3, 4 or 8 ranks, a shape and a schedule, runs under all checks, and has to give the right
result without a finding. Then each barrier is removed and each release and acquire weakened or narrowed, one at a time, between
launches of a kernel that reads the results and overwrites the inputs: a finding or a deadlock has to show it. Exempt are the
barriers before the first access and after the last one, and that after the first wait of the product, which those of its
loop replace."""
import concurrent.futures
import json
import os
import random
import re
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "..", "..", "..", "kernels", "ranks")
SEEDS = (0, 1, 7, 42, 1234)
F32 = "T=f32 BITS=32 V={} EXTEND=arith.bitcast TRUNC=arith.bitcast"
BF16 = "T=bf16 BITS=16 V={} EXTEND=arith.extf TRUNC=arith.truncf"
COLLECTIVES = ("all_reduce", "reduce_scatter", "all_gather")
PRODUCT = "T=bf16 BM=64 BN=64 BK=32 WM=2 WN=2 STAGES=3"
# name: (source, defines, configuration, elements of an access)
BUILDS = {f"{kernel}_{kind}{v}": (kernel, text.format(v), f"launch_{kernel}{suffix}.json", v)
          for kernel in COLLECTIVES for kind, text, suffix, vs in (("f32_", F32, "", (1, 4)), ("bf16_", BF16, "_bf16", (1, 8)))
          for v in vs}
BUILDS["product"] = ("product", PRODUCT, "launch_product.json", 8)


def build(tools, folder, name):
    source, defines, _, _ = BUILDS[name]
    command = [f"{tools}/cute-ptx", "-arch", "sm_90a", f"{KERNELS}/{source}.mlir", "-o", f"{folder}/{name}.ptx"]
    for define in defines.split():
        command += ["-D", define]
    subprocess.run(command, check=True)


def run(tools, ptx, config, ranks, seed, params):
    command = [f"{tools}/cute-run", ptx, "--config", config, f"--devices={ranks}", "--check=race,uninit,barrier", "--strict",
               f"--seed={seed}", "--timeout=60", "--no-bench"]
    for key, value in params.items():
        command += ["-D", f"{key}={value}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr, " ".join(command)


def case_of(some):
    name = some.choice([name for name in BUILDS if name != "product"] * 3 + ["product"] * 2)
    ranks, v = some.choice((2, 3, 4, 8)), BUILDS[name][3]
    if name == "product":
        return name, some.choice((2, 3, 4)), {"m": some.randint(1, 66), "n": 8 * some.randint(1, 9), "k": 8 * some.randint(1, 8)}
    whole = v if name.startswith("all_reduce") else v * ranks
    return name, ranks, {"n": whole * some.randint(1, 300 if v > 1 else 700), "blocks": some.randint(1, 4)}


# Reads the output and changes the input, of `count` elements of 4 bytes each.
USER = """
.visible .entry user(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 nx, .param .u32 ny)
{
    .reg .b32 %r<6>;
    .reg .b64 %rd<6>;
    .reg .pred %p;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [z];
    ld.param.u32 %r1, [nx];
    ld.param.u32 %r2, [ny];
    mov.u32 %r3, %tid.x;
$x: setp.ge.u32 %p, %r3, %r1;
    @%p bra $inner;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd5, %rd1, %rd4;
    ld.global.u32 %r4, [%rd5];
    st.global.u32 [%rd5], %r4;
    not.b32 %r4, %r4;
    st.global.u32 [%rd5], %r4;
    not.b32 %r4, %r4;
    st.global.u32 [%rd5], %r4;
    add.u32 %r3, %r3, 32;
    bra $x;
$inner:
    mov.u32 %r3, %tid.x;
$y: setp.ge.u32 %p, %r3, %r2;
    @%p bra $end;
    mul.wide.u32 %rd4, %r3, 4;
    add.u64 %rd5, %rd2, %rd4;
    ld.global.u32 %r4, [%rd5];
    add.u64 %rd5, %rd3, %rd4;
    st.global.u32 [%rd5], %r4;
    add.u32 %r3, %r3, 32;
    bra $y;
$end: ret;
}
"""


def config_with_user(name):
    """The launches of the kernel, each followed by one of its user; without checks of the result."""
    with open(f"{KERNELS}/{BUILDS[name][2]}", encoding="utf-8") as source:
        config = json.load(source)
    x, y = ("A", "D") if name == "product" else ("x", "y")
    # elements of 4 bytes that a rank has
    count = {"all_reduce": ("n", "n"), "reduce_scatter": ("n", "n / ranks"), "all_gather": ("n / ranks", "n"),
             "product": ("ranks * m * k / 2", "m * n / 2")}[BUILDS[name][0]]
    config["buffers"]["z"] = {"dtype": "u32", "shape": ["ranks", count[1]], "shard": True, "unwritten": "allow"}
    use = {"kernel": "user", "grid": 1, "block": 32, "args": [x, y, "z"] + [{"type": "u32", "value": n} for n in count]}
    config["launches"] = [launch for one in config["launches"] for launch in (one, use)]
    del config["check"]
    return config


def mutants(name, text):
    """(line, what it is replaced by) for each synchronisation that is not exempt."""
    lines = text.splitlines()
    barriers = [n for n, line in enumerate(lines) if "bar.sync" in line]
    exempt = {barriers[0], barriers[-1]} | ({barriers[1]} if name == "product" else set())
    for n, line in enumerate(lines):
        if n in barriers and n not in exempt:
            yield n, "//" + line
        for strong in (".release.sys", ".acquire.sys"):
            if strong in line:
                yield n, line.replace(strong, ".relaxed.sys")
                yield n, line.replace(strong, strong[:-4] + ".gpu")


def is_found(tools, folder, name, number, lines):
    path = f"{folder}/{name}.{number}.ptx"
    with open(path, "w", encoding="ascii") as out:
        out.write("\n".join(lines) + "\n" + USER)
    params = {"m": 30, "n": 64, "k": 40} if name == "product" else {"n": 192 * BUILDS[name][3], "blocks": 2}
    for ranks, seed in [(3, 0), (2, 1), (4, 7), (3, 42), (3, 1234)]:
        code, text, _ = run(tools, path, f"{folder}/{name}.json", ranks, seed, params)
        if code in (1, 4) and re.search("error: (race|uninitialised|barrier|deadlock)", text):
            return True
    return False


def main():
    tools, cases = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 60
    some, failed, todo = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 5), 0, []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(lambda name: build(tools, folder, name), BUILDS))
        for n in range(cases):
            name, ranks, params = case_of(some)
            todo.append(pool.submit(run, tools, f"{folder}/{name}.ptx", f"{KERNELS}/{BUILDS[name][2]}", ranks, SEEDS[n % len(SEEDS)], params))
        for one in todo:
            code, text, command = one.result()
            if code:
                failed += 1
                print(f"exit code {code}: {command}\n{text}")
        print(f"{cases} cases, {failed} failures")
        changed = []
        for name in ("all_reduce_f32_4", "reduce_scatter_f32_4", "all_gather_f32_4", "product"):
            with open(f"{folder}/{name}.json", "w", encoding="utf-8") as out:
                json.dump(config_with_user(name), out)
            with open(f"{folder}/{name}.ptx", encoding="ascii") as source:
                text = source.read()
            whole = pool.submit(is_found, tools, folder, name, "whole", text.splitlines())
            if whole.result():
                failed += 1
                print(f"{name}: a finding in the unchanged kernel")
            for n, instead in mutants(name, text):
                lines = text.splitlines()
                before, lines[n] = lines[n], instead
                changed.append((name, n, before, instead, pool.submit(is_found, tools, folder, name, len(changed), lines)))
        missed = 0
        for name, n, before, instead, one in changed:
            if not one.result():
                missed += 1
                print(f"{name}, line {n + 1}: nothing is found with '{instead.strip()}' instead of '{before.strip()}'")
        print(f"{len(changed)} synchronisations removed, {missed} missed")
    return 1 if failed or missed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
