#!/usr/bin/env bats
# Bugs of asynchronous kernels are refused at compile time, and clean kernels are not.
bats_require_minimum_version 1.5.0

@test "planted bugs are told by the right check at the right line, and nothing is said of clean kernels" {
    run "$BATS_TEST_DIRNAME/../static-checks/run" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 80 ]
}

@test "cute-ptx refuses a planted bug, warns of it, or lets it pass, as --static-checks says" {
    sed 's/%bytes = arith.constant 16384/%bytes = arith.constant 8192/' \
        "$BATS_TEST_DIRNAME/../static-checks/pipelined.mlir" > "$BATS_TEST_TMPDIR/bug.mlir"
    run "$CUTE_BIN/cute-ptx" -arch sm_90a "$BATS_TEST_TMPDIR/bug.mlir"
    [ "$status" -eq 1 ]
    [[ "$output" == *"error: 'cute_nvgpu.arch.mbarrier_arrive_and_expect_tx' op expects 8192 bytes, but the copies that complete in the phase transfer 16384: expected 16384 [expect-tx]"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=warn "$BATS_TEST_TMPDIR/bug.mlir"
    [[ "$output" == *"warning: "*"[expect-tx]"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=off "$BATS_TEST_TMPDIR/bug.mlir"
    [[ "$output" != *"expect-tx"* ]]
    run "$CUTE_BIN/cute-ptx" -arch sm_90a --static-checks=some "$BATS_TEST_TMPDIR/bug.mlir"
    [ "$status" -eq 2 ]
    [[ "$output" == *"--static-checks expects 'on' or 'warn' or 'strict' or 'off', got 'some'"* ]]
}

@test "random changes of asynchronous kernels crash and hang neither the checks nor the emulator" {
    run "$BATS_TEST_DIRNAME/../static-checks/mutate" "$CUTE_BIN" --count 24 --seed 1 --orders 2
    echo "$output"
    [ "$status" -eq 0 ]
    [ "$(sed -n 's/^ *\([0-9]*\) both$/\1/p' <<<"$output")" -ge 3 ]
}
