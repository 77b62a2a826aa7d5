#!/usr/bin/env python3
"""Planted bugs of a tile program that stores into the next device's memory and counts there, as --overlap=peer does: peer.py BIN

Behind the tile program a reader is appended to its PTX: a thread waits for the own counter, and the block reads the tile that the last
device stored. Two launches follow each other on tiles of their own and the same counter. The clean version has to pass all checks with
every seed, with the right result; in each of the others a race has to be found on 2 and 3 devices with every seed."""
import json
import os
import subprocess
import sys
import tempfile

SEEDS = (0, 1, 7, 42, 1234)
STORE = "    cute.tile.store %x, %c[%i, %j]\n"
SIGNAL = '    cute.tile.signal(%theirs, %zero) {scope = "sys"} : (!cute.memref<i32, gmem, "?:1">, i32) -> ()\n'
PROGRAM = """!A = !cute.memref<f32, gmem, align<16>, "(?,?{div=8}):(?{i64 div=8},1)">
gpu.module @m {
  gpu.func @peer(%a: !A, %c: !A, %theirs: !cute.memref<i32, gmem, "?:1">, %own: !llvm.ptr<1> {cute.name = "own"},
                 %count: !llvm.ptr<1> {cute.name = "count"}, %out: !llvm.ptr<1> {cute.name = "out"}, %want: i32 {cute.name = "want"}) kernel {
    %i, %j = cute.tile.program<[32, 32]> %c
    %x = cute.tile.load<[32, 32]> %a[%i, %j]
    %zero = arith.constant 0 : i32
""" + STORE + SIGNAL + """    gpu.return
  }
}
"""
READER = """    .reg .b64 %own, %counter, %result;
    .reg .b32 %thread, %got, %wanted, %at, %value;
    .reg .pred %others, %waits, %more;
    ld.param.u64 %own, [peer_param_3];
    ld.param.u64 %counter, [peer_param_4];
    ld.param.u64 %result, [peer_param_5];
    ld.param.u32 %wanted, [peer_param_6];
    mov.u32 %thread, %tid.x;
    setp.ne.u32 %others, %thread, 0;
    @%others bra $ready;
$again:
    ld.acquire.sys.global.u32 %got, [%counter];
    setp.lt.s32 %waits, %got, %wanted;
    @%waits bra $again;
$ready:
    bar.sync 0;
    mul.wide.u32 %rd1, %thread, 4;
    add.u64 %own, %own, %rd1;
    add.u64 %result, %result, %rd1;
    mov.u32 %at, 0;
$read:
    ld.global.u32 %value, [%own];
    st.global.u32 [%result], %value;
    add.u64 %own, %own, 256;
    add.u64 %result, %result, 256;
    add.u32 %at, %at, 1;
    setp.lt.u32 %more, %at, 16;
    @%more bra $read;
    ret;
"""
BUGS = {
    "clean": (PROGRAM, 2),
    "the flag is raised in front of the stores": (PROGRAM.replace(STORE + SIGNAL, SIGNAL + STORE), 2),
    "the release has the scope of one device": (PROGRAM.replace(' {scope = "sys"}', ""), 2),
    "the second launch waits for the count of the first": (PROGRAM, 1),
}


def launch(number, want):
    following = {"rank": "(rank + 1) % ranks"}
    return {"kernel": "peer", "grid": 1, "block": 64,
            "args": [f"a{number}", {"buffer": f"d{number}", **following}, {"buffer": "counters", **following}, f"d{number}", "counters", f"out{number}",
                     {"type": "i32", "value": want}]}


def config(want):
    matrix = {"dtype": "f32", "shape": ["ranks * 32", 32], "shard": True}
    buffers = {"counters": {"dtype": "i32", "shape": ["ranks"], "init": "zeros", "shard": True}}
    for n in (1, 2):
        buffers.update({f"a{n}": {**matrix, "init": {"expr": f"{n} * 10000 + i * 32 + j"}}, f"d{n}": dict(matrix, unwritten="allow"), f"out{n}": dict(matrix)})
    last = "(i + (ranks - 1) * 32 - floor_div(i + (ranks - 1) * 32, ranks * 32) * ranks * 32)"
    return {"buffers": buffers, "launches": [launch(1, 1), launch(2, want)],
            "check": {f"out{n}": {"expr": f"{n} * 10000 + {last} * 32 + j", "index": ["i", "j"]} for n in (1, 2)}}


def main():
    tools, failures = sys.argv[1], 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (program, want) in BUGS.items():
            ptx = subprocess.run([f"{tools}/cute-ptx", "-arch", "sm_90a", "-"], input=program, capture_output=True, text=True, check=True).stdout
            assert ptx.count("ret;") == 1
            with open(f"{folder}/k.ptx", "w", encoding="ascii") as out:
                out.write(ptx.replace("ret;", READER))
            with open(f"{folder}/k.json", "w", encoding="ascii") as out:
                json.dump(config(want), out)
            for devices in (2, 3):
                for seed in SEEDS:
                    done = subprocess.run([f"{tools}/cute-run", f"{folder}/k.ptx", "--config", f"{folder}/k.json", f"--devices={devices}", "--check=all", f"--seed={seed}",
                                           "--timeout=60", "--no-bench"], capture_output=True, text=True, check=False)
                    text = done.stdout + done.stderr
                    good = done.returncode == 0 if name == "clean" else done.returncode in (1, 4) and "error: race" in text
                    if not good:
                        failures += 1
                        print(f"{name}, {devices} devices, seed {seed}: exit code {done.returncode}\n{text[:1500]}")
    print(f"{len(BUGS) - 1} planted bugs and a clean version, {failures} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
