# Every operation of arith, math, gpu and vector on every type: compiled, or refused where it stands.

setup() {
    cd "$BATS_TEST_TMPDIR"
    backend="$BATS_TEST_DIRNAME/../backend"
}

sweep() {
    PYTHONDONTWRITEBYTECODE=1 run python3 "$backend/$1.py" "$CUTE_BIN" "${LLVM:-/usr/lib/llvm-19}" "$PWD" "${@:2}"
    echo "$output" | head -50
    [ "$status" -eq 0 ]
}

@test "no operation of arith, math, gpu and vector is without a case" {
    sweep sweep covered
}

@test "what PTX has no types or instructions for is refused at the operation's own line" {
    sweep sweep refused
}

@test "every operation of arith, math, gpu and vector compiles on all types that it takes, and ptxas agrees" {
    sweep sweep accepted
}

@test "functions of math are as exact on the emulator as CUDA documents them, integer division is right at its edges" {
    sweep numeric math division
}

@test "8-bit floats are what their specification says, in both directions" {
    sweep numeric eights
}

@test "reductions of warps and blocks and atomic updates are right on all types, without a race" {
    sweep numeric reductions atomics
}

# tests/proof runs all of them.
@test "MMAs of atoms.def and copies in every width, with predicates and swizzles, are what Python computes: each fifth" {
    sweep atoms 5
}
