# "steps" of launch.json: launches, host functions, copies and fills on streams, with events between them.

setup() {
    run="$CUTE_BIN/cute-run"
    cd "$BATS_TEST_TMPDIR"
    cat >k.mlir <<'EOF'
gpu.module @m {
  gpu.func @scale(%x: memref<?xf32>, %f: f32, %n: i32) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %b = gpu.block_id x
    %d = gpu.block_dim x
    %t = gpu.thread_id x
    %0 = arith.muli %b, %d : index
    %i = arith.addi %0, %t : index
    %ni = arith.index_cast %n : i32 to index
    %in = arith.cmpi slt, %i, %ni : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xf32>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %x[%i] : memref<?xf32>
    }
    gpu.return
  }
}
func.func @twice(%x: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.ceildivui %n, %c64 : index
  %ni = arith.index_cast %n : index to i32
  gpu.launch_func @m::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%x : memref<?xf32>, %two : f32, %ni : i32)
  return
}
EOF
    "$CUTE_BIN/cute-ptx" -arch sm_90a k.mlir -o k.ptx
}

# config STEPS [CHECK]: a launch.json with these steps (' for ").
config() {
    tr "'" '"' >launch.json <<EOF
{ 'params': { 'n': 256 },
  'buffers': { 'x': { 'dtype': 'f32', 'shape': ['n'], 'init': 'iota' }, 'y': { 'dtype': 'f32', 'shape': ['n'], 'unwritten': 'allow' },
               'z': { 'dtype': 'f32', 'shape': ['n'], 'unwritten': 'allow' }, 'h': { 'dtype': 'f16', 'shape': [8], 'unwritten': 'allow' },
               'wide': { 'dtype': 'f32', 'shape': [4, 8], 'strides': [16, 1], 'init': 'zeros' },
               'd': { 'dtype': 'f64', 'shape': [4], 'unwritten': 'allow' }, 'b': { 'dtype': 'u8', 'shape': [4], 'unwritten': 'allow' } },
  'steps': [ $1 ], 'check': { ${2:-} } }
EOF
}

# refused STEPS TEXT: the steps are refused with exit code 1 and this text.
refused() {
    config "$1"
    run "$run" k.ptx -c launch.json --dry-run
    [ "$status" -eq 1 ] || { echo "exit code $status: $output"; false; }
    [[ "$output" == *"$2"* ]] || { echo "$output"; false; }
}

scale() {
    echo "{ 'kernel': 'scale', 'grid': 4, 'args': ['$1', $2, 'n'], 'stream': '$3' }"
}

@test "steps copy, launch and fill on two streams, in the order of their events" {
    config "{ 'copy': 'x', 'to': 'y', 'stream': 'a' }, $(scale y 2.0 a), { 'record': 'done', 'stream': 'a' },
        { 'wait': ['done'], 'stream': 'b' }, { 'copy': 'y', 'to': 'z', 'stream': 'b' }, $(scale z 3.0 b),
        { 'copy': { 'buffer': 'x', 'offset': 10, 'shape': [2] }, 'to': { 'buffer': 'z', 'shape': [2] }, 'stream': 'b' },
        { 'fill': 'h', 'value': 1.5 }, { 'fill': 'd', 'value': -2.25 }, { 'fill': 'b', 'value': 7 },
        { 'fill': { 'buffer': 'h', 'offset': 4, 'shape': 4 } }" \
        "'y': '2 * x', 'z': 'i < 2 ? x[i + 10] : 6 * x', 'h': 'i < 4 ? 1.5 : 0', 'd': '-2.25', 'b': '7'"
    run "$run" k.ptx -c launch.json --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"step 0: copy x to y, 1024 bytes, on stream a"* ]]
    [[ "$output" == *"step 3: wait for event 0, on stream b"* ]]
    [[ "$output" != *warning* ]]
    "$run" k.ptx -c launch.json --device emulator --json --trace trace.json >report.json
    [ "$(jq -c '[.steps[] | .step]' report.json)" = '["copy","launch","record","wait","copy","launch","copy","fill","fill","fill","fill"]' ]
    [ "$(jq '[.traceEvents[] | select(.args.name == "stream a" or .args.name == "stream b")] | length' trace.json)" -eq 2 ]
}

@test "a driver gets the copies, fills and events of steps" {
    config "{ 'copy': 'x', 'to': 'y', 'stream': 'a' }, { 'record': 'e', 'stream': 'a' }, { 'wait': 'e' },
        { 'copy': 'y', 'to': 'z' }, { 'fill': 'h', 'value': 1.5 }, { 'fill': 'd', 'value': -2.25 }, { 'fill': 'b', 'value': 7 }" \
        "'y': 'x', 'z': 'x', 'h': '1.5', 'd': '-2.25', 'b': '7'"
    CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run" k.ptx -c launch.json --device 0
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check d: passed"* ]]
}

@test "a step runs a host function, on a stream" {
    "$CUTE_BIN/cute-run" k.mlir --plan twice --tensor x=f32:256:iota --expect 'x=2*i' --device emulator
    config "{ 'copy': 'x', 'to': 'y', 'stream': 'a' }, { 'plan': { 'function': 'twice', 'args': { 'x': 'y' } }, 'stream': 'a' },
        { 'plan': { 'function': 'twice', 'args': { 'x': 'y' } }, 'stream': 'a' }" "'y': '4 * x'"
    "$run" k.ptx -c launch.json --device emulator | grep 'check y: passed'
}

@test "steps without launches are steps" {
    config "{ 'copy': 'x', 'to': 'y' }" "'y': 'x'"
    "$run" k.ptx -c launch.json --device emulator | grep 'check y: passed'
}

@test "a missing event between streams is a warning" {
    config "{ 'copy': 'x', 'to': 'y', 'stream': 'a' }, { 'copy': 'y', 'to': 'z', 'stream': 'b' }"
    run "$run" k.ptx -c launch.json --dry-run
    [ "$status" -eq 0 ]
    [[ "$output" == *"warning"*"the copy on stream b reads 'y' and the copy on stream a writes it, and no event orders them"* ]]
    [[ "$output" == *"fix: record an event after the earlier step, and wait for it before the later one"* ]]
    # a kernel may be the first to write an output
    config "$(scale y 2.0 a), { 'fill': 'y', 'value': 1 }"
    run "$run" k.ptx -c launch.json --dry-run
    [[ "$output" == *"the fill on the default stream writes 'y' and kernel 'scale' on stream a writes it, and no event orders them"* ]]
    # other parts of a buffer do not overlap
    config "{ 'fill': { 'buffer': 'y', 'shape': 128 }, 'stream': 'a' }, { 'fill': { 'buffer': 'y', 'offset': 128, 'shape': 128 }, 'stream': 'b' }"
    run "$run" k.ptx -c launch.json --dry-run
    [[ "$output" != *warning* ]]
}

@test "an event that no step waits for is a warning" {
    config "{ 'record': 'done', 'stream': 'a' }, { 'copy': 'x', 'to': 'y' }"
    run "$run" k.ptx -c launch.json --dry-run
    [[ "$output" == *"warning"*"no step waits for event 'done'"* ]]
}

@test "steps copy parts with gaps, dimension by dimension" {
    for device in emulator 0; do
        config "{ 'copy': { 'buffer': 'x', 'shape': [4, 8] }, 'to': 'wide' },
            { 'copy': { 'buffer': 'x', 'shape': [4, 8], 'strides': [16, 1] }, 'to': { 'buffer': 'x', 'shape': [4, 8], 'strides': [16, 1], 'offset': 8 } },
            { 'copy': { 'buffer': 'wide', 'shape': [2, 4, 3], 'strides': [3, 16, 1] }, 'to': { 'buffer': 'y', 'shape': [2, 4, 3], 'strides': [1, 2, 8] } },
            { 'copy': { 'buffer': 'x', 'shape': [8, 32], 'strides': [0, 1] }, 'to': { 'buffer': 'z', 'shape': [8, 32] } }" \
            "'wide': 'i * 8 + j', 'x': 'i < 64 ? floor_div(i, 16) * 16 + i % 8 : i', 'z': 'floor_div(i % 32, 16) * 16 + i % 8',
             'y': { 'expr': 'floor_div(i % 8, 2) * 8 + (i % 2) * 3 + floor_div(i, 8)', 'where': 'i < 24' }"
        CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run" k.ptx -c launch.json --device $device
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [[ "$output" == *"step 0: copy x to wide in parts of 32 bytes, 128 bytes"* ]]
        [[ "$output" == *"step 2: copy wide to y in parts of 4 bytes, 96 bytes"* ]]
    done
}

@test "malformed steps are refused" {
    refused "{ 'wait': 'done' }" "event 'done' is not recorded by an earlier step"
    refused "{ 'copy': 'x' }" "missing key 'to', the buffer that 'copy' writes"
    refused "{ 'copy': 'x', 'to': 'h' }" "expected elements of 4 bytes, as in 'x' of f32, got 'h' of f16"
    refused "{ 'copy': 'x', 'to': { 'buffer': 'y', 'shape': 4 } }" "expected 256 elements, as many as 'copy' has, got 4"
    refused "{ 'copy': { 'buffer': 'x', 'shape': 32 }, 'to': 'wide' }" "expected the shape 32 of 'copy', as there are gaps between elements, got 4x8"
    refused "{ 'fill': 'wide' }" "expected elements of 'wide' without gaps between them: fills and collectives are of contiguous memory"
    refused "{ 'copy': { 'buffer': 'x', 'shape': [4, 8] }, 'to': { 'buffer': 'y', 'shape': [4, 8], 'strides': [1, 1] } }" \
        "expected strides of the target that keep its elements apart"
    refused "{ 'copy': { 'buffer': 'x', 'shape': [4, 8], 'strides': [64, 1], 'offset': 100 }, 'to': { 'buffer': 'y', 'shape': [4, 8] } }" "the view of 'x' is out of bounds"
    refused "{ 'copy': { 'buffer': 'x', 'shape': [4, 8], 'strides': [16, 1] }, 'to': { 'buffer': 'x', 'shape': [4, 8], 'strides': [16, 1], 'offset': 7 } }" \
        "the source and the target of the copy overlap in 'x'"
    refused "{ 'copy': 'y', 'to': 'z' }" "the copy reads buffer 'y', which has no 'init' and is not written by an earlier step"
    refused "{ 'copy': { 'buffer': 'x', 'shape': 8 }, 'to': { 'buffer': 'x', 'offset': 4, 'shape': 8 } }" "the source and the target of the copy overlap in 'x'"
    refused "{ 'fill': { 'buffer': 'x', 'offset': 250, 'shape': 8 } }" "the view of 'x' is out of bounds"
    refused "{ 'copy': 'x', 'to': 'y', 'grid': 4 }" "unexpected key 'grid' in a step with 'copy'"
    refused "{ 'kernel': 'scale', 'value': 4 }" "unexpected key 'value' in a step with 'kernel'"
    refused "{ 'copy': 'w', 'to': 'y' }" "unknown buffer 'w'"
    refused "{ 'fill': 'x' } ], 'grid': [ 1" "'steps' and 'grid' are mutually exclusive: move 'grid' into a step"
}

@test "a fault or hang of steps on several streams is reported" {
    config "{ 'copy': 'x', 'to': 'y', 'stream': 'a' }, $(scale y 2.0 a)"
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
    FAKECUDA=fault run "$run" k.ptx -c launch.json --device 0
    [ "$status" -eq 1 ]
    [[ "$output" == *CUDA_ERROR_ILLEGAL_ADDRESS* ]]
    [[ "$output" == *"steps of 2 streams were running: without 'stream' in the steps, the one that failed is named"* ]]
    FAKECUDA=hang run "$run" k.ptx -c launch.json --device 0 --timeout 1
    [ "$status" -eq 1 ]
    [[ "$output" == *"the steps did not end within 1 s and were stopped"* ]]
    FAKECUDA=launch run "$run" k.ptx -c launch.json --device 0
    [ "$status" -eq 1 ]
    [[ "$output" == *"in \$.steps[1]: kernel 'scale'"* ]]
}
