#!/usr/bin/env bats
# Random CUDA C programs on the emulator against the host's compiler: tests/emulator/random/run.sh with more seeds and
# compilers runs for as long as one likes.
bats_require_minimum_version 1.5.0

setup() {
    command -v nvcc >/dev/null || skip "no nvcc"
    command -v g++ >/dev/null || skip "no g++"
    random="$BATS_TEST_DIRNAME/../emulator/random"
}

@test "random programs compute what the host computes, optimised, with every check" {
    CHECK=1 "$random/run.sh" "$CUTE_BIN" "$BATS_TEST_TMPDIR" 1 10 nvcc
}

@test "random programs for a debugger compute what the host computes" {
    "$random/run.sh" "$CUTE_BIN" "$BATS_TEST_TMPDIR" 3 10 nvcc-G
}
