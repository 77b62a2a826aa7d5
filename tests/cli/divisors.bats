#!/usr/bin/env bats
# cute.fast_divmod: quotients and remainders of kernels on the emulator are those of Python, whoever made the divisor.
bats_require_minimum_version 1.5.0

setup_file() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
    cat > host.mlir <<'MLIR'
!N = !cute.memref<i${W}, gmem, "(?):(1)">
!D = !cute.fast_divmod_divisor<${W}>
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @divide(%n: !N, %q: !N, %r: !N, %p: !D) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c = cute.make_coord(%t) : (i32) -> !cute.coord<"?">
    %x = cute.memref.load(%n, %c)
    %a, %b = cute.fast_divmod.compute(%x, %p)
    cute.memref.store(%q, %c, %a)
    cute.memref.store(%r, %c, %b)
    gpu.return
  }
}
func.func @divide(%n: !N, %q: !N, %r: !N, %d: i${W}) {
  %p = cute.fast_divmod.create_divisor(%d) : (i${W}) -> !D
  %one = arith.constant 1 : index
  %block = arith.constant 128 : index
  gpu.launch_func @kernels::@divide blocks in (%one, %one, %one) threads in (%block, %one, %one) args(%n : !N, %q : !N, %r : !N, %p : !D)
  return
}
}
MLIR
    # The same with the divisor made by each thread.
    sed -e 's|%r: !N, %p: !D) kernel|%r: !N, %d: i${W}) kernel|' -e 's|args(\(.*\), %p : !D)|args(\1, %d : i${W})|' \
        -e '/^  %p = /d' -e 's|^    %a, %b = |    %p = cute.fast_divmod.create_divisor(%d) : (i${W}) -> !D\n&|' host.mlir > device.mlir
    cat > files.py <<'PY'
import random, struct, sys
width, divisor = int(sys.argv[1]), int(sys.argv[2])
top = 2 ** width
random.seed(width * divisor)
edges = [0, 1, top - 1, top - 2, top // 2, top // 2 - 1, top // 2 + 1, divisor, divisor - 1, (divisor + 1) % top]
edges += [k * divisor - d for k in [2, 3, (top - 1) // divisor] for d in [-1, 0, 1] if 0 <= k * divisor - d < top]
numbers = (edges + [random.randrange(top) >> random.randrange(width) for _ in range(128)])[:128]
def save(name, values):
    header = "{'descr': '<i%d', 'fortran_order': False, 'shape': (%d,), }" % (width // 8, len(values))
    header = header.ljust(117) + "\n"
    packed = b"".join(struct.pack("<Q", v)[:width // 8] for v in values)
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + packed)
save("n.npy", numbers)
save("q.npy", [n // divisor for n in numbers])
save("r.npy", [n % divisor for n in numbers])
print(divisor - top if divisor >= top // 2 else divisor)
PY
    for w in 32 64; do for where in host device; do
        cute-ptx -arch sm_80 -D W=$w $where.mlir -o $where$w.ptx
    done; done
}

setup() { PATH="$CUTE_BIN:$PATH"; cd "$BATS_TEST_TMPDIR"; }

divides() { # file width divisor
    local signed
    signed=$(python3 "$BATS_FILE_TMPDIR/files.py" "$2" "$3")
    cat > launch.json <<JSON
{"plan": "divide", "params": {"d": $signed}, "buffers": {
 "n": {"dtype": "i$2", "shape": [128], "init": {"npy": "n.npy"}}, "q": {"dtype": "i$2", "shape": [128]}, "r": {"dtype": "i$2", "shape": [128]}},
 "args": {"n": "n", "q": "q", "r": "r", "d": "d"}, "check": {"q": "q.npy", "r": "r.npy"}}
JSON
    cute-run "$BATS_FILE_TMPDIR/$1$2.ptx" --config launch.json --device emulator --check=all --no-bench
}

@test "a host function makes a divisor of 32 bits, and its kernel divides by it" {
    for d in 1 2 3 5 7 10 641 65535 65536 65537 1000003 2147483647 2147483648 2147483649 4294967294 4294967295; do divides host 32 $d; done
}

@test "a thread makes a divisor of 32 bits and divides by it" {
    for d in 1 3 7 65537 2147483648 2147483649 4294967295; do divides device 32 $d; done
}

@test "divisors of 64 bits divide as well, made by a host function or by a thread" {
    for d in 1 3 4294967296 4294967297 1000000007 9223372036854775807 9223372036854775808 18446744073709551615; do
        divides host 64 $d
        divides device 64 $d
    done
}

@test "the kernel multiplies, and divides nowhere" {
    grep -q 'mul.hi.u32' "$BATS_FILE_TMPDIR/host32.ptx"
    grep -q 'mul.hi.u64' "$BATS_FILE_TMPDIR/host64.ptx"
    for w in 32 64; do
        run ! grep -E '^\s*(div|rem)\.' "$BATS_FILE_TMPDIR/host$w.ptx"
    done
}

@test "a divisor of 0 is refused where the host makes it" {
    cat > launch.json <<'JSON'
{"plan": "divide", "params": {"d": 0}, "buffers": {
 "n": {"dtype": "i32", "shape": [128]}, "q": {"dtype": "i32", "shape": [128]}, "r": {"dtype": "i32", "shape": [128]}},
 "args": {"n": "n", "q": "q", "r": "r", "d": "d"}}
JSON
    run -1 cute-run "$BATS_FILE_TMPDIR/host32.ptx" --config launch.json --device emulator
    [[ "$output" == *"a division by zero"* ]]
}
