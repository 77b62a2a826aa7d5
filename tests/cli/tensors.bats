#!/usr/bin/env bats
# Kernels on tensors as a person writes them, in tests/tensors: what they compute, on the emulator with all checks.
bats_require_minimum_version 1.5.0

@test "kernels on tensors compute what they say, and compile for every architecture" {
    PYTHONDONTWRITEBYTECODE=1 run -0 python3 "$BATS_TEST_DIRNAME/../tensors/run" "$CUTE_BIN" "$BATS_TEST_TMPDIR" sm_80,sm_86,sm_89,sm_90a
    echo "$output"
    [[ "$output" == *" passed, 0 failed"* ]]
}
