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
    programs 32 -arch sm_75
    programs 35 -arch sm_80
    programs 38 -arch sm_90a
}

@test "so does their naive schedule" {
    programs 38 -arch sm_90a --schedule naive
}

@test "random tile programs compute what NumPy does, bit by bit, with both schedules" {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/random" "${CUTE_BIN%/bin}" --count 120 --every 3 --passes
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -eq 40 ]
}

@test "tiles change threads through shared memory without bank conflicts: transposes, scans and reductions of columns, of 8 to 64 bits" {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/conflicts" "$CUTE_BIN"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; false; }
    [ "$(grep -c '^ok' <<<"$output")" -ge 54 ]
}

# A kernel of two tensors, and a launch.json that expects y = x + 1.
write_increment() {
    cd "$BATS_TEST_TMPDIR" || return
    cat >k.mlir <<'MLIR'
!X = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @m { gpu.func @k(%x: !X, %y: !X) kernel {
  %i, %j = cute.tile.program<[4, 32]> %x
  %a = cute.tile.load<[4, 32]> %x[%i, %j]
  %b = cute.tile.add %a, 1.0
  cute.tile.store %b, %y[%i, %j]
  gpu.return
} }
MLIR
    cat >k.json <<'JSON'
{ "plan": "k", "params": { "rows": 3, "out": "rows" },
  "buffers": { "x": { "shape": ["rows", 40], "init": "uniform" }, "y": { "shape": ["out", 40] } },
  "check": { "y": { "expr": "x[i,j] + 1" } }, "bench": { "bytes": "8 * 40 * rows", "baselines": ["memcpy_dtod"] } }
JSON
    "$CUTE_BIN/cute-ptx" -arch sm_90a k.mlir -o k.ptx
}

@test "an empty tensor launches nothing, and its checks pass" {
    write_increment
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator --check=all
    [[ $output == *'check y: passed, 120 elements'* ]]
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator --check=all -D rows=0
    [[ $output == *'no launch: the grid is empty'*'check y: passed, 0 elements'* ]]
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D rows=0 --json
    [[ $output == *'"launches": []'* ]]
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -n -D rows=0
}

@test "an output that an empty grid leaves unwritten is an error" {
    write_increment
    run -1 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D rows=0 -D out=2
    [[ $output == *"expected a launch that writes output 'y', but the grid is empty"* ]]
    # With initial contents the check decides.
    sed -i 's/"shape": \["out", 40\]/&, "init": 0/; s/x\[i,j\] + 1/0/' k.json
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D rows=0 -D out=2
    sed -i 's/"expr": "0"/"expr": "1"/' k.json
    run -4 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D rows=0 -D out=2
}

@test "a launch of launch.json with an extent of 0 is omitted, one below 0 refused" {
    write_increment
    sed -i 's/"plan": "k"/"plan": "k", "grid": ["2 * g"]/; s/"params": {/&"g": 1, /' k.json
    run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator
    run -1 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D g=-1
    [[ $output == *'expected an extent of at least 0 in the grid, got -2'* ]]
    run -1 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator -D g=0
    [[ $output == *"expected a launch that writes output 'y', but the grid is empty"* ]]
}

@test "a grid of stated sizes has so many blocks in its clusters, the last of them perhaps beyond" {
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'MLIR'
!X = !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
gpu.module @m { gpu.func @k(%x: !X, %y: !X, %n: i32) kernel {
  %shape = cute.shape %x
  %rows, %columns = cute.get_scalars %shape
  %i, %j = cute.tile.program %rows, %n {in_cluster = array<i32: 1, 2>}
  %a = cute.tile.load<[1, 32]> %x[%i, %j]
  %b = cute.tile.cluster_reduce<add> %a, %j
  cute.tile.store %b, %y[%i, %j]
  gpu.return
} }
MLIR
    cat >k.json <<'JSON'
{ "plan": "k", "params": { "rows": 5, "n": 4, "columns": "32 * n" },
  "buffers": { "x": { "shape": ["rows", "columns"], "init": "uniform" }, "y": { "shape": ["rows", "columns"] } },
  "check": { "y": { "expr": "x[i, j % 32 + 64 * floor_div(j, 64)] + (j % 32 + 64 * floor_div(j, 64) + 32 < columns ? x[i, min(columns - 1, j % 32 + 64 * floor_div(j, 64) + 32)] : 0)" } } }
JSON
    "$CUTE_BIN/cute-ptx" -arch sm_90a k.mlir -o k.ptx
    for n in 4 3 1; do
        run -0 "$CUTE_BIN/cute-run" k.ptx -c k.json -d emulator --check=all -D n=$n --json
        [ "$(jq -c '.launches[0].grid' <<<"$output")" = "[$((5 * ((n + 1) / 2 * 2))),1,1]" ] || { jq -c .launches <<<"$output"; false; }
    done
}

@test "a schedule that does not exist is refused at the kernel" {
    printf '!X = !cute.memref<f32, gmem, "?:1">\ngpu.module @m { gpu.func @k(%%x: !X) kernel { %%i = cute.tile.program<[32]> %%x\n %%a = cute.tile.load<[32]> %%x[%%i]\n cute.tile.store %%a, %%x[%%i]\n gpu.return } }\n' >"$BATS_TEST_TMPDIR/k.mlir"
    "$CUTE_BIN/cute-ptx" --schedule=naive "$BATS_TEST_TMPDIR/k.mlir" >/dev/null
    run -1 "$CUTE_BIN/cute-ptx" --schedule=fast "$BATS_TEST_TMPDIR/k.mlir"
    [[ $output == *'k.mlir:2:'*'expected a schedule (cute.schedule) such as "naive"'*"got 'fast'"* ]]
}
