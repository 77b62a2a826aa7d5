#!/usr/bin/env bats
# The emulator's instructions against what an H200 gave (tests/emulator/instructions/h200.txt).
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    here="$BATS_TEST_DIRNAME/../emulator/instructions"
    cd "$BATS_TEST_TMPDIR"
}

@test "over a thousand instructions give on the emulator what they give on an H200" {
    python3 "$here/generate.py" insn "$here/h200.txt"
    mkdir out
    for config in insn/launch-*.json; do
        cute-run insn/instructions.ptx --device emulator --config "$config" --no-bench -o out > log 2>&1 || { tail log; false; }
    done
    run python3 "$here/compare.py" insn out "$here/h200.txt"
    echo "$output" | grep -v ^approximate
    [ "$status" -eq 0 ]
    [[ "$output" == *"1182 of 1187 instructions agree, 5 differ as known, 0 differ"* ]]
}
