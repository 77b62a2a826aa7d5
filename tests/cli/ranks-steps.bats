#!/usr/bin/env bats
# cute-run --config --ranks: launch.json with collectives between its steps, on emulated devices and on stand-ins of the driver and NCCL.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    export XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
    unset CUTE_CACHE RANK WORLD_SIZE OMPI_COMM_WORLD_RANK PMI_RANK SLURM_PROCID MASTER_ADDR MASTER_PORT CUTE_RANKS_ADDRESS
    cat >k.mlir <<'MLIR'
gpu.module @kernels {
  gpu.func @twice(%x: memref<?xf32>, %f: f32, %n: i32) kernel {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %d = gpu.block_dim x
    %o = arith.muli %b, %d : index
    %i = arith.addi %o, %t : index
    %m = arith.index_cast %n : i32 to index
    %in = arith.cmpi ult, %i, %m : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
MLIR
    [ -f "$BATS_FILE_TMPDIR/k.ptx" ] || cute-ptx k.mlir -o "$BATS_FILE_TMPDIR/k.ptx"
    cp "$BATS_FILE_TMPDIR/k.ptx" .
}

says() { [[ "$output" == *"$1"* ]] || { echo "not said: $1"; echo "$output"; false; }; }

# A config with x = 1000 rank + i, of n elements, which is doubled; steps and checks are the arguments.
config() {
    cat >l.json <<JSON
{ "params": { "rank": 0, "ranks": 1, "n": 100, "next": "(rank + 1) % ranks", "last": "(rank + ranks - 1) % ranks" },
  "buffers": {
    "x": { "dtype": "f32", "shape": ["n"], "init": { "expr": "i + 1000 * rank", "index": ["i"] } },
    "wide": { "dtype": "f32", "shape": ["n * ranks"], "init": { "expr": "i + rank", "index": ["i"] } }$3
  },
  "steps": [
    { "kernel": "twice", "grid": 1, "block": 100, "args": ["x", 2.0, "n"], "stream": "a" },
    { "record": "scaled", "stream": "a" },
    { "wait": "scaled", "stream": "b" },
    $1
  ],
  "check": { $2 } }
JSON
}
run_config() { timeout 60 cute-run k.ptx --config l.json "$@"; }
out() { echo ", \"$1\": { \"dtype\": \"f32\", \"shape\": [\"${2:-n}\"] }"; }

@test "each collective between steps has its result on 1 to 4 ranks" {
    config '{ "collective": "all_reduce", "from": "x", "to": "sum", "stream": "b" },
            { "collective": "all_gather", "from": "x", "to": "all", "stream": "b" },
            { "collective": "reduce_scatter", "from": "wide", "to": "part", "stream": "b" },
            { "collective": "broadcast", "from": "x", "to": "first", "peer": "ranks - 1", "stream": "b" },
            { "collective": "all_reduce", "from": { "buffer": "x", "offset": 10, "shape": [5] }, "to": { "buffer": "x", "offset": 10, "shape": [5] }, "stream": "b" }' \
        '"sum": { "expr": "2 * ranks * i + 1000 * ranks * (ranks - 1)", "index": ["i"] },
         "all": { "expr": "2 * (i - floor_div(i, n) * n) + 2000 * floor_div(i, n)", "index": ["i"] },
         "part": { "expr": "ranks * (rank * n + i) + ranks * (ranks - 1) / 2", "index": ["i"] },
         "first": { "expr": "2 * i + 2000 * (ranks - 1)", "index": ["i"] }' \
        "$(out sum)$(out all 'n * ranks')$(out part)$(out first)"
    for size in 1 2 3 4; do run_config --device emulator --ranks=$size; done
    run_config --device emulator
    run_config --device emulator --ranks=3 --check=all
}

@test "ranks send to the next one, and put into its window" {
    config '{ "collective": "send", "from": "x", "peer": "next", "stream": "b" },
            { "collective": "recv", "to": "got", "peer": "last", "stream": "b" },
            { "collective": "put", "from": "x", "to": { "buffer": "window", "offset": "n", "shape": ["n"] }, "peer": "next", "stream": "b" },
            { "collective": "put", "from": "x", "to": { "buffer": "window", "shape": ["n"] }, "peer": "next", "stream": "b" },
            { "collective": "wait", "peer": "last", "signals": 2, "stream": "b" },
            { "collective": "reduce", "from": "x", "to": "total", "peer": 0, "stream": "b" }' \
        '"got": { "expr": "2 * i + 2000 * last", "index": ["i"] },
         "window": { "expr": "2 * (i - floor_div(i, n) * n) + 2000 * last", "index": ["i"] },
         "total": { "expr": "rank ? 0 : 2 * ranks * i + 1000 * ranks * (ranks - 1)", "index": ["i"] }' \
        "$(out got)$(out window '2 * n'), \"total\": { \"dtype\": \"f32\", \"shape\": [\"n\"], \"init\": \"zeros\" }"
    for size in 2 3; do run_config --device emulator --ranks=$size; done
    run_config --device emulator --ranks=2 --json >report
    jq -e '.ranks | length == 2 and all(.checks == 3 and .failed == 0 and .seconds > 0 and .device == "PTX emulator")' report
    jq -e '[.steps[].step] | index("collective")' report
    run run_config --device emulator --ranks=2
    says "step 5: put of x to window, 400 bytes, on stream b"
    says "rank 1: PTX emulator; 3 of 3 checks right, steps took"
    # the same through NCCL
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" CUTE_LIBNCCL="$CUTE_BIN/../tests/libfakenccl.so" FAKECUDA_DEVICES=2
    run run_config --ranks=2 --json
    [ $status -eq 0 ]
    echo "$output" | jq -e '.ranks | all(.failed == 0 and .device == "Fake GPU")'
    # by puts of ours, of NCCL, and by none
    FAKENCCL=noputs run_config --ranks=2
    FAKECUDA=noshare run_config --ranks=2
    FAKENCCL=noputs FAKECUDA=noshare run run_config --ranks=2
    [ $status -eq 3 ]
    says "put requires NCCL 2.29 or later, got NCCL 2.28.0: use send and recv"
    run_config --ranks=2 --comm=shared
}

@test "a wrong result of one rank is a failed check of all" {
    config '{ "collective": "broadcast", "from": "x", "to": "first", "peer": 0, "stream": "b" }' \
        '"x": { "expr": "2 * i", "index": ["i"] }' "$(out first)"
    run run_config --device emulator --ranks=2
    [ $status -eq 4 ]
    says "rank 1: PTX emulator; 0 of 1 checks right"
}

@test "ranks whose operations differ are told so, and a kernel that faults ends all" {
    config '{ "collective": "all_gather", "from": { "buffer": "x", "shape": ["rank ? 50 : 100"] }, "to": { "buffer": "all", "shape": ["rank ? 100 : 200"] }, "stream": "b" }' \
        '"x": { "expr": "2 * i + 2000 * rank", "index": ["i"] }' "$(out all 200)"
    run run_config --device emulator --ranks=2 --timeout=2
    [ $status -eq 1 ]
    says "bytes from rank"
    says "all ranks must call the same operations in the same order"
    config '{ "collective": "all_reduce", "from": "x", "to": "x", "stream": "b" }' '"x": { "expr": "i", "index": ["i"] }' ""
    sed -i 's/"grid": 1, "block": 100, "args": \["x", 2.0, "n"\]/"grid": 40, "block": 128, "args": ["x", 2.0, "rank ? 5000 : n"]/' l.json
    run run_config --device emulator --ranks=2 --timeout=5
    [ $status -eq 1 ]
    says "rank 0: rank 1 failed: "
}

@test "a rank that does not arrive is named" {
    config '{ "collective": "all_reduce", "from": "x", "to": "x", "stream": "b" }' '"x": { "expr": "i", "index": ["i"] }' ""
    for r in 0 1; do CUTE_RANK=$r CUTE_RANKS=3 CUTE_RANKS_ADDRESS=unix:cute-late-$$ run_config --ranks=3 --device emulator --timeout=0.5 >out.$r 2>err.$r & done
    wait
    cat err.0
    grep -q "rank 2 did not arrive within 0.5 s: expected 3 ranks" err.0
}

@test "mistakes in steps have their place" {
    refused() { # message, step
        config "$2" '"x": { "expr": "2 * i", "index": ["i"] }' "$(out y), \"h\": { \"dtype\": \"f16\", \"shape\": [\"n\"], \"init\": \"zeros\" }, \"u\": { \"dtype\": \"u16\", \"shape\": [\"n\"], \"init\": \"zeros\" }"
        run run_config --device emulator
        [ $status -eq 1 ] && [[ "$output" == *"l.json:"*"$1"* ]] || { echo "$1"; echo "$output"; return 1; }
    }
    refused "missing key 'to' of the collective all_reduce" '{ "collective": "all_reduce", "from": "x" }'
    refused "unexpected key 'peer' in the collective all_reduce" '{ "collective": "all_reduce", "from": "x", "to": "x", "peer": 0 }'
    refused "unexpected key 'signals' in the collective broadcast" '{ "collective": "broadcast", "from": "x", "to": "x", "peer": 0, "signals": 1 }'
    refused "missing key 'peer' of the collective broadcast" '{ "collective": "broadcast", "from": "x", "to": "x" }'
    refused "expected a rank from 0 to 0, got 1" '{ "collective": "broadcast", "from": "x", "to": "x", "peer": 1 }'
    refused "expected another rank than this one, got 0" '{ "collective": "send", "from": "x", "peer": 0 }'
    refused "expected 1 or more signals, got 0" '{ "collective": "wait", "peer": 0, "signals": 0 }'
    refused "expected elements of one type, got 'x' of f32 and 'h' of f16" '{ "collective": "all_reduce", "from": "x", "to": "h" }'
    refused "collectives do not support elements of u16" '{ "collective": "all_reduce", "from": "u", "to": "u" }'
    refused "all_gather of 100 elements on 1 ranks: expected 100 elements in 'to', got 50" '{ "collective": "all_gather", "from": "x", "to": { "buffer": "y", "shape": [50] } }'
    refused "the collective reads buffer 'y', which has no 'init' and is not written by an earlier step" '{ "collective": "all_reduce", "from": "y", "to": "y" }'
    refused "unexpected key 'grid' in a step with 'collective'" '{ "collective": "all_reduce", "from": "x", "to": "x", "grid": 1 }'
    config '{ "collective": "reduce_scatter", "from": "x", "to": { "buffer": "x", "shape": [33] } }' '"x": { "expr": "2 * i", "index": ["i"] }' ""
    run run_config --device emulator --ranks=3
    says "reduce_scatter on 3 ranks: expected a multiple of 3 elements in 'from', got 100"
}

@test "options that ranks do not have are refused" {
    config '{ "collective": "all_reduce", "from": "x", "to": "x", "stream": "b" }' '"x": { "expr": "2 * i", "index": ["i"] }' ""
    for option in --dry-run --bench --trace=t --timeline=t --roofline; do
        run run_config --ranks=2 $option --device emulator
        [ $status -eq 2 ]
        says "--ranks and ${option%=*} are mutually exclusive"
    done
    run run_config --ranks=2 --device=0
    [ $status -eq 2 ]
    says "--ranks expects --device=emulator"
    run run_config --ranks=2 --comm=x
    says "--comm expects nccl, nccl-send or shared, got 'x'"
    run timeout 20 cute-run --config l.json --ranks=2 --device emulator <k.ptx
    [ $status -eq 2 ]
    says "--ranks expects files, got standard input: each rank reads them"
    run timeout 20 cute-run k.ptx --ranks=2
    [ $status -eq 2 ]
    says "--ranks requires --gemm=MxNxK or --config=launch.json"
}
