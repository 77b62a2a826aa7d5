# Copies of the tensor memory accelerator: numbers on the emulator, messages of launches.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    bin="$CUTE_BIN"
}

@test "copies by TMA of each rank, type, swizzle, reduction and multicast give what they should, with all checks" {
    run tests/tma/run "$bin"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *"not ok"* ]]
}

@test "a tensor map that can't be made names the argument and its mode" {
    "$bin/cute-opt" tests/tma/rows.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/rows.cubin"
    cat > "$BATS_TEST_TMPDIR/launch.json" <<'JSON'
{ "grid": [1, 1, 1], "dynamic_smem": 8192, "args": ["A"],
  "params": {"n": 264, "offset": 0},
  "buffers": { "A": { "dtype": "f16", "shape": [64, "n"], "init": "zeros" } } }
JSON
    run "$bin/cute-run" -d emulator "$BATS_TEST_TMPDIR/rows.cubin" -c "$BATS_TEST_TMPDIR/launch.json"
    [ "$status" -eq 0 ]
    run "$bin/cute-run" -d emulator "$BATS_TEST_TMPDIR/rows.cubin" -c "$BATS_TEST_TMPDIR/launch.json" -D n=263
    [ "$status" -eq 1 ]
    [[ $output == *"expected a stride that is a multiple of 16 bytes, got 526 (argument A, mode 0)"* ]]
}

@test "a tensor that the kernel computes of its arguments has its map made by the host function" {
    "$bin/cute-opt" tests/tma/host.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/host.cubin"
    cat > "$BATS_TEST_TMPDIR/launch.json" <<'JSON'
{ "plan": "main", "buffers": {
    "A": { "dtype": "f32", "shape": [96, 64], "init": "uniform" }, "B": { "dtype": "f32", "shape": [64, 64] } },
  "check": { "B": { "expr": "A[i + 32, j]", "ulp": 0 } } }
JSON
    run "$bin/cute-run" -d emulator --check=all --strict "$BATS_TEST_TMPDIR/host.cubin" -c "$BATS_TEST_TMPDIR/launch.json"
    echo "$output"
    [ "$status" -eq 0 ]
}

@test "bulk copies bring rows in, hand them to another block, store and add them" {
    "$bin/cute-opt" tests/tma/bulk.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/bulk.cubin"
    cat > "$BATS_TEST_TMPDIR/launch.json" <<'JSON'
{ "grid": [4, 1, 1], "args": ["A", "B", "S"], "buffers": {
    "A": { "dtype": "f32", "shape": [256, 2, 4], "strides": [1, 256, 512], "init": {"integers": [-9, 9]} },
    "B": { "dtype": "f32", "shape": [256, 2, 4], "strides": [1, 256, 512] },
    "S": { "dtype": "f32", "shape": [256, 2, 1], "strides": [1, 256, 512], "init": "zeros" } },
  "check": { "B": { "expr": "A[i, j, k + 1 - 2 * (k % 2)]", "ulp": 0 },
             "S": { "expr": "A[i, j, 0] + A[i, j, 1] + A[i, j, 2] + A[i, j, 3]", "ulp": 0 } } }
JSON
    for seed in 0 1 2; do
        run "$bin/cute-run" -d emulator --check=all --strict --seed $seed "$BATS_TEST_TMPDIR/bulk.cubin" -c "$BATS_TEST_TMPDIR/launch.json"
        echo "$output"
        [ "$status" -eq 0 ]
    done
}
