#!/usr/bin/env bats
# Products of matrices on the emulator against what an H200 gave (tests/emulator/products/h200.txt).
bats_require_minimum_version 1.5.0

@test "mma and wgmma of all types, shapes, orders and swizzles give on the emulator what they give on an H200" {
    PATH="$CUTE_BIN:$PATH"
    here="$BATS_TEST_DIRNAME/../emulator/products"
    cd "$BATS_TEST_TMPDIR"
    python3 "$here/generate.py" products
    mkdir out
    for config in products/launch-*.json; do
        cute-run products/products.ptx --device emulator --config "$config" --no-bench -o out >log 2>&1 || { tail log; false; }
    done
    run python3 "$here/compare.py" products out "$here/h200.txt"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"234 of 236 products agree bit for bit, 2 differ as known"* ]]
}
