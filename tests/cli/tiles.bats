#!/usr/bin/env bats
# Tile programs, compiled and run on the emulator with all checks, against NumPy.
bats_require_minimum_version 1.5.0

python() {
    python3 -c 'import numpy' 2>/dev/null && echo python3 || echo /usr/bin/python3
}

setup() {
    "$(python)" -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
}

# programs COUNT ARGUMENTS...: all of them compute what NumPy does, at least COUNT.
programs() {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/run" "$CUTE_BIN" "${@:2}"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -ge "$1" ]
}

@test "tile programs compute what NumPy does: products of all types, convolution, attention, norms and their gradients, scans, top-k" {
    programs 28 -arch sm_75
    programs 29 -arch sm_80
    programs 32 -arch sm_90a
}

@test "so does their naive schedule" {
    programs 32 -arch sm_90a --schedule naive
}

@test "random tile programs compute what NumPy does, bit by bit, with both schedules" {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/random" "${CUTE_BIN%/bin}" --count 120 --passes
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -eq 120 ]
}

@test "a schedule that does not exist is refused at the kernel" {
    printf '!X = !cute.memref<f32, gmem, "?:1">\ngpu.module @m { gpu.func @k(%%x: !X) kernel { %%i = cute.tile.program<[32]> %%x\n %%a = cute.tile.load<[32]> %%x[%%i]\n cute.tile.store %%a, %%x[%%i]\n gpu.return } }\n' >"$BATS_TEST_TMPDIR/k.mlir"
    "$CUTE_BIN/cute-ptx" --schedule=naive "$BATS_TEST_TMPDIR/k.mlir" >/dev/null
    run -1 "$CUTE_BIN/cute-ptx" --schedule=fast "$BATS_TEST_TMPDIR/k.mlir"
    [[ $output == *'k.mlir:2:'*'expected a schedule (cute.schedule): "naive", or none'* ]]
}
