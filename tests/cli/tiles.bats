#!/usr/bin/env bats
# Tile programs, compiled and run on the emulator with all checks, against NumPy.
bats_require_minimum_version 1.5.0

python() {
    python3 -c 'import numpy' 2>/dev/null && echo python3 || echo /usr/bin/python3
}

setup() {
    "$(python)" -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
}

@test "tile programs compute what NumPy does: products, attention, norms, scans, gathers, histograms" {
    for arch in sm_80 sm_90a; do
        run "$(python)" "$BATS_TEST_DIRNAME/../tiles/run" "$CUTE_BIN" -arch $arch
        [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
        [ "$(grep -c '^ok' <<<"$output")" -ge 11 ]
    done
}

@test "random tile programs compute what NumPy does, bit by bit" {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/random" "$CUTE_BIN" --count 80
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -eq 80 ]
}
