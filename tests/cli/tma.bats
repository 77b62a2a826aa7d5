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

@test "im2col copies of each rank, type, stride, dilation and corner give what they should, with all checks" {
    run tests/tma/im2col "$bin"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output != *"not ok"* ]]
}

@test "one dimension of a tensor map counts several modes of a tensor; maps have other promotions, fills and interleaves" {
    "$bin/cute-opt" tests/tma/modes.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/modes.cubin"
    cat > "$BATS_TEST_TMPDIR/modes.json" <<'JSON'
{ "plan": "main", "buffers": {
    "A": { "dtype": "f16", "shape": [100, 64, 2, 3, 2, 4, 2], "strides": [64, 1, 65536, 131072, 6400, 16384, 400000], "init": "uniform" },
    "B": { "dtype": "f16", "shape": [100, 64, 2, 3, 2, 4, 2], "strides": [64, 1, 65536, 131072, 6400, 16384, 400000] } },
  "check": { "B": { "expr": "A[i, j, k, l, m, n, o]", "ulp": 0 } } }
JSON
    run "$bin/cute-run" -d emulator --check=all --strict "$BATS_TEST_TMPDIR/modes.cubin" -c "$BATS_TEST_TMPDIR/modes.json"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"5558x2x2x100x64 of A, box 1x1x1x64x64, swizzle 128B, L2 promotion 256B"* ]]
    "$bin/cute-opt" tests/tma/slices.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/slices.cubin"
    cat > "$BATS_TEST_TMPDIR/slices.json" <<'JSON'
{ "plan": "main", "buffers": {
    "A": { "dtype": "f16", "shape": [8, 7, 6, 2, 3], "strides": [1, 8, 56, 336, 672], "init": "uniform" },
    "B": { "dtype": "f16", "shape": [8, 7, 6, 2, 3], "strides": [1, 8, 56, 336, 672] } },
  "check": { "B": { "expr": "A[i, j, k, l, m]", "ulp": 0 } } }
JSON
    run "$bin/cute-run" -d emulator --check=all --strict "$BATS_TEST_TMPDIR/slices.cubin" -c "$BATS_TEST_TMPDIR/slices.json"
    echo "$output"
    [ "$status" -eq 0 ]
    [[ $output == *"interleave 16B, fill nan"* ]]
}

@test "a map in im2col mode needs the host function" {
    sed '/^func.func/,$d' tests/tma/modes.mlir > "$BATS_TEST_TMPDIR/modes.mlir"
    run bash -o pipefail -c "'$bin/cute-opt' '$BATS_TEST_TMPDIR/modes.mlir' | '$bin/cute-ptx' -arch sm_90a"
    [ "$status" -ne 0 ]
    [[ $output == *"expects a host function that launches the kernel: only the host can encode a tensor map with a dimension of several modes"* ]]
    "$bin/cute-opt" -D T=f16 -D BITS=16 -D PX=64 -D CX=64 -D S=3 -D R=3 -D PAD=1 -D STRIDE=1 -D DIL=1 -D STAGES=3 kernels/im2col_tma/im2col_tma.mlir |
        "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/im2col.cubin"
    cat > "$BATS_TEST_TMPDIR/launch.json" <<'JSON'
{ "grid": [1, 1, 1], "args": ["x", "y", { "tensor_map": { "buffer": "x", "box": [1, 1, 8, 64] } }],
  "buffers": { "x": { "dtype": "f16", "shape": [64, 8, 8, 2], "strides": [1, 64, 512, 4096], "init": "zeros" },
               "y": { "dtype": "f16", "shape": [128, 64, 9], "strides": [576, 1, 64] } } }
JSON
    run "$bin/cute-run" -d emulator "$BATS_TEST_TMPDIR/im2col.cubin" -c "$BATS_TEST_TMPDIR/launch.json"
    [ "$status" -eq 1 ]
    echo "$output"
    [[ $output == *"unsupported tensor map of mode im2col: run the host function that makes it"* ]]
}

@test "a kernel changes its tensor maps: each group has its own address and extents; a missing fence is found" {
    cat > "$BATS_TEST_TMPDIR/groups.json" <<'JSON'
{ "plan": "main",
  "buffers": {
    "A": { "dtype": "bf16", "shape": [130, 200], "strides": [200, 1], "init": "uniform" },
    "B": { "dtype": "bf16", "shape": [130, 200], "strides": [200, 1], "init": "zeros" },
    "sizes": { "dtype": "i32", "shape": [4, 3], "strides": [1, 4], "init": { "expr":
      "j == 0 ? (i == 0 ? 64 : i == 1 ? 128 : 0) : j == 1 ? (i == 0 ? 30 : i == 1 ? 200 : i == 2 ? 8200 : 8192) : (i == 0 ? 3 : i == 1 ? 64 : i == 2 ? 16000 : 20000)" } },
    "maps": { "dtype": "i64", "shape": [16, 2, 3], "strides": [1, 16, 32], "init": "zeros" } },
  "check": { "B": { "expr": "200 * i + j < 8192 ? A[i, j] : 200 * i + j < 14192 ? A[floor_div(200 * i + j + 8, 200), mod(200 * i + j + 8, 200)] : 200 * i + j >= 20000 && 200 * i + j < 20192 ? A[floor_div(200 * i + j - 4000, 200), mod(200 * i + j - 4000, 200)] : 0", "ulp": 0 } } }
JSON
    "$bin/cute-opt" tests/tma/groups.mlir | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/groups.cubin"
    for seed in 0 1 2; do
        run "$bin/cute-run" -d emulator --check=all --strict --seed $seed "$BATS_TEST_TMPDIR/groups.cubin" -c "$BATS_TEST_TMPDIR/groups.json"
        echo "$output"
        [ "$status" -eq 0 ]
    done
    sed '/fence_proxy_tensormap/d' tests/tma/groups.mlir | "$bin/cute-opt" | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/groups.cubin"
    run "$bin/cute-run" -d emulator --check=all "$BATS_TEST_TMPDIR/groups.cubin" -c "$BATS_TEST_TMPDIR/groups.json"
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"uses a tensor map that the kernel wrote; no intervening fence.proxy.tensormap::generic.acquire"* ]]
    # Without a barrier of the warp the copy into global memory reads what another lane may still be changing.
    sed '/update_tma_desc %store/{n;d}' tests/tma/groups.mlir | "$bin/cute-opt" | "$bin/cute-ptx" -arch sm_90a | "$bin/cute-link" > "$BATS_TEST_TMPDIR/groups.cubin"
    run "$bin/cute-run" -d emulator --check=all "$BATS_TEST_TMPDIR/groups.cubin" -c "$BATS_TEST_TMPDIR/groups.json"
    echo "$output"
    [ "$status" -ne 0 ]
    [[ $output == *"race:"* ]]
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
