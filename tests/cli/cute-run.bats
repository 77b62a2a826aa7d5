# cute-run as a user runs it, without a GPU: plans, refusals, and runs on a stand-in for the driver
# (tests/data/fakecuda.c), whose FAKECUDA chooses what goes wrong.

setup() {
    run="$CUTE_BIN/cute-run"
    data="$BATS_TEST_DIRNAME/../data/run"
    fake="$CUTE_BIN/../tests/libfakecuda.so"
    cd "$BATS_TEST_TMPDIR"
    cp "$data"/* .
    export CUTE_LIBCUDA="$fake"
    unset FAKECUDA
}

# plan JSON: a dry run of kernels.ptx with this launch.json (' for ").
plan() {
    tr "'" '"' <<<"$1" >launch.json
    run "$run" kernels.ptx --config launch.json --dry-run
}

# refuses JSON PATTERN: the plan is refused with exit code 1 and this text.
refuses() {
    plan "$1"
    [ "$status" -eq 1 ] || { echo "exit code $status: $output"; false; }
    [[ "$output" == *"$2"* ]] || { echo "$output"; false; }
}

# A vector_add whose pieces can be replaced.
add() {
    local grid="${grid:-4}" block="${block:-256}" a="${a:-{'dtype': 'f32', 'shape': ['n'], 'init': 'normal'\}}"
    local c="${c:-{'dtype': 'f32', 'shape': ['n']\}}" args="${args:-['A', 'B', 'C', 'n']}" more="$more"
    echo "{'kernel': '${kernel:-vector_add}', 'params': {'n': 1000}, 'grid': $grid, 'block': $block,
      'buffers': {'A': $a, 'B': {'dtype': 'f32', 'shape': ['n'], 'init': 'ones'}, 'C': $c},
      'args': $args$more}"
}

# ---- without a config ----

@test "cute-run without a config prints the kernels and what they want" {
    run "$run" kernels.ptx
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "vector_add(A: memref<?xf32>, B: memref<?xf32>, C: memref<?xf32>, n: i32)" ]
    [[ "$output" == *"block (required) 64x1x1"* ]]
    "$run" kernels.ptx --json | jq -e '.kernels[0].args[3].dtype == "i32" and .kernels[3].cluster == [2,1,1]' || ! command -v jq
}

@test "a module may come from standard input" {
    "$run" <kernels.ptx >out.txt
    grep -q 'vector_add(A' out.txt
}

@test "a template is a launch.json that plans" {
    "$run" kernels.ptx --kernel vector_add --template >launch.json
    "$run" kernels.ptx --config launch.json --dry-run
    # as many blocks of the kernel's size as n elements need
    [ "$(jq -c .grid launch.json)" = "[\"ceil_div(n, $(jq '.block | if type == "array" then .[0] else . end' launch.json))\"]" ]
    cat >k.ptx <<'EOF'
.version 7.0
.target sm_80
.address_size 64
.visible .entry k() .reqntid 96
{
    ret;
}
EOF
    [ "$("$run" k.ptx --template | jq -r '.grid[0]')" = "ceil_div(n, 96)" ]
}

@test "the schema is JSON and names every key of a launch" {
    "$run" --schema >schema.json
    for key in kernel params grid block cluster dynamic_smem cooperative programmatic buffers args outputs check bench launches; do
        grep -q "\"$key\"" schema.json
    done
}

@test "devices are listed as text and as JSON" {
    run "$run" --list-devices
    [ "$status" -eq 0 ]
    [[ "$output" == *"Fake GPU, compute capability 9.0 (sm_90)"*"232448 opt-in"* ]]
    run "$run" --list-devices --json
    [[ "$output" == *'"shared_memory_per_block_optin": 232448'* ]]
}

# Element i of x becomes table[i] + ns::offset, and ns::offset counts the blocks.
globals_ptx() {
    cat >globals.ptx <<'END'
.version 7.8
.target sm_80
.address_size 64
.const .align 4 .b8 table[128];
.visible .global .align 4 .u32 _ZN2ns6offsetE = 5;
.visible .entry k(.param .u64 p) {
.reg .b64 %d<4>; .reg .b32 %r<8>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
mov.u64 %d3, table; add.s64 %d3, %d3, %d2; ld.const.u32 %r2, [%d3]; ld.global.u32 %r3, [_ZN2ns6offsetE];
add.s32 %r2, %r2, %r3; st.global.u32 [%d1], %r2; bar.sync 0;
setp.eq.u32 %p1, %r1, 0; @%p1 add.u32 %r3, %r3, 1; @%p1 st.global.u32 [_ZN2ns6offsetE], %r3;
ret;
}
END
    sed -i 's/\.reg \.b64/.reg .pred %p<2>; .reg .b64/' globals.ptx
}

@test "variables of the module are set and checked" {
    globals_ptx
    cat >g.json <<'END'
{"grid": 1, "block": 32, "buffers": {"x": {"dtype": "i32", "shape": [32]}}, "args": ["x"],
 "globals": {"table": {"dtype": "i32", "shape": [32], "init": {"iota": [100, 2]}}, "ns::offset": {"dtype": "i32", "shape": []}},
 "check": {"x": "table[i] + 5", "ns::offset": "6"}}
END
    run "$run" globals.ptx -c g.json -d emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check x: passed"*"check ns::offset: passed"* ]]
    # With an init it is set, in each run anew.
    sed 's/"shape": \[\]/"shape": [], "init": 7/; s/table\[i\] + 5/table[i] + 7/; s/"6"/"8"/' g.json >h.json
    run "$run" globals.ptx -c h.json -d emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    sed 's/"6"/"9"/' g.json >h.json
    run "$run" globals.ptx -c h.json -d emulator
    [ "$status" -eq 4 ]
    [[ "$output" == *"1 of 1 elements of ns::offset are wrong, the first at []: got 6, want 9"* ]]
    "$CUTE_BIN/cute-link" -arch sm_90a -o globals.cubin globals.ptx
    "$run" globals.cubin -c g.json --dry-run >/dev/null
}

@test "a variable that is not there, or has another size, is refused" {
    globals_ptx
    with() { echo '{"grid": 1, "block": 32, "buffers": {"x": {"dtype": "i32", "shape": [32]}}, "args": ["x"], "globals": {'"$1"'}}' >g.json; }
    "$CUTE_BIN/cute-link" -arch sm_90a -o globals.cubin globals.ptx
    with '"tabel": {"dtype": "i32", "shape": [32], "init": "ones"}'
    for module in globals.ptx globals.cubin; do
        run "$run" $module -c g.json --dry-run
        [ "$status" -eq 1 ]
        [[ "$output" == *"no variable 'tabel'; did you mean 'table'?"*"g.json:1:"*"named here in launch.json"* ]] || { echo "$output"; false; }
    done
    with '"table": {"dtype": "i32", "shape": [31], "init": "ones"}'
    run "$run" globals.ptx -c g.json -d emulator
    [ "$status" -eq 1 ]
    [[ "$output" == *"g.json:1:"*"expected 128 bytes, the size of variable 'table', got 124"* ]] || { echo "$output"; false; }
    with '"x": {"dtype": "i32", "shape": [1], "init": 1}'
    run "$run" globals.ptx -c g.json --dry-run
    [[ "$output" == *"'x' is already a buffer"* ]]
    with '"table": {"dtype": "i32", "shape": [32], "strides": [2]}'
    run "$run" globals.ptx -c g.json --dry-run
    [ "$status" -eq 1 ]
}

@test "variables are set and read through the driver" {
    sed -i 's/^\.visible \.entry vector_add/.visible .const .align 4 .b8 table[16];\n&/' kernels.ptx
    jq '.globals = {"table": {"dtype": "i32", "shape": [4], "init": "iota"}} | .check.table = "i"' add.json >g.json
    run "$run" kernels.ptx -c g.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check table: passed, 4 elements"* ]]
}

@test "kernels of C++ are listed and found by their names" {
    sed 's/vector_add/_ZN2ns10vector_addIfLi3EEEvPT_S2_S2_i/g; s/\.entry scale/.entry _Z5scalePff/; s/"kernel":"scale"/"kernel":"_Z5scalePff"/' kernels.ptx >cpp.ptx
    run "$run" cpp.ptx
    [[ "$output" == *"ns::vector_add<float, 3>("*"  symbol _ZN2ns10vector_addIfLi3EEEvPT_S2_S2_i"*"scale(x"* ]] || { echo "$output"; false; }
    for name in _ZN2ns10vector_addIfLi3EEEvPT_S2_S2_i ns::vector_add vector_add 'vector_add<float,3>' 'void ns::vector_add<float, 3>(float*, float*, float*, int)'; do
        run "$run" cpp.ptx -k "$name" --config add.json --dry-run
        [ "$status" -eq 0 ] || { echo "$name: $output"; false; }
        [[ "$output" == *"ns::vector_add<float, 3>: grid "* ]] || { echo "$output"; false; }
    done
    run "$run" cpp.ptx -k ns::vector_sub --template
    [ "$status" -eq 1 ]
    [[ "$output" == *"no kernel 'ns::vector_sub'"*"kernels: ns::vector_add<float, 3>, fill_index, scale"* ]]
    sed 's/_Z5scalePff/_Z10vector_addPff/g' cpp.ptx >two.ptx
    run "$run" two.ptx -k vector_add --template
    [ "$status" -eq 1 ]
    [[ "$output" == *"ambiguous name 'vector_add': 2 kernels match"*"_Z10vector_addPff"* ]]
    [ "$("$CUTE_BIN/cute-dump" --json two.ptx -k 'vector_add<float, 3>' | jq -r '.kernels[].demangled')" = "void ns::vector_add<float, 3>(float*, float*, float*, int)" ]
}

@test "the emulator is among the devices, also where there is no driver" {
    run "$run" --list-devices
    [[ "$output" == *"device emulator: PTX emulator, compute capability 9.0 (sm_90a), on the CPU"* ]]
    [ "$("$run" --list-devices --json | jq -c '[.[].kind]')" = '["cuda","emulator"]' ]
    ldconfig -p | grep -q libcuda.so.1 && skip "there is a driver"
    [ "$(CUTE_LIBCUDA= "$run" --list-devices --json 2>messages | jq -c '[.[].kind]')" = '["emulator"]' ]
    grep -q 'warning: no CUDA driver' messages
}

@test "--bench on the emulator says why there are no times" {
    run "$run" kernels.ptx -c add.json --device emulator --bench --no-check
    [[ "$output" == *"warning: not timed: the emulator's run time does not predict a GPU's"* ]] || { echo "$output"; false; }
    run "$run" kernels.ptx -c add.json --device emulator --no-check
    [[ "$output" != *"not timed"* ]]
}

@test "no driver is exit code 3 and says what was looked for" {
    CUTE_LIBCUDA=/nonexistent/libcuda.so.1 run "$run" --list-devices
    [ "$status" -eq 3 ]
    [[ "$output" == *"no CUDA driver: cannot open /nonexistent/libcuda.so.1"* ]]
    CUTE_LIBCUDA=/nonexistent/libcuda.so.1 run "$run" kernels.ptx --config add.json
    [ "$status" -eq 3 ]
}

@test "a driver without devices is exit code 3" {
    FAKECUDA=nodevice run "$run" kernels.ptx -c add.json
    [ "$status" -eq 3 ]
    [[ "$output" == *CUDA_ERROR_NO_DEVICE* ]]
}

@test "a device that is not there is named" {
    run "$run" kernels.ptx -c add.json --device 3
    [ "$status" -eq 3 ]
    [[ "$output" == *"no device 3: the driver reports 1 device"* ]]
}

# ---- command lines ----

@test "wrong command lines are exit code 2" {
    for line in "--nope" "a b" "--dry-run kernels.ptx" "kernels.ptx -c add.json --timeout -1" "kernels.ptx -c add.json --bench --no-bench" \
                "kernels.ptx -c add.json --seed x" "kernels.ptx -c add.json -D n" "kernels.ptx -c add.json --diagnostics=xml"; do
        run "$run" $line
        [ "$status" -eq 2 ] || { echo "$line: $status"; false; }
    done
    run "$run" kernels.ptx -c add.json -D m=3
    [ "$status" -eq 2 ]
    [[ "$output" == *"has no param 'm'; did you mean 'n'?"* ]]
}

@test "a missing file is exit code 3" {
    run "$run" kernels.ptx -c nowhere.json
    [ "$status" -eq 3 ]
    [[ "$output" == *nowhere.json* ]]
}

@test "a truncated module is refused" {
    printf '\x7fELF\x02\x01' >broken.cubin
    run "$run" broken.cubin
    [ "$status" -eq 1 ]
}

# ---- plans ----

@test "a dry run prints grid, block, arguments and buffers and needs no driver" {
    CUTE_LIBCUDA=/nonexistent plan "$(cat add.json)"
    [ "$status" -eq 0 ]
    [ "${lines[0]}" = "vector_add: grid 4x1x1, block 256x1x1" ]
    [[ "$output" == *"n: i32 = 1000"* ]]
    [[ "$output" == *"buffer C: f32 1000, 4000 bytes, output"* ]]
}

@test "-D replaces a param and all that is computed from it" {
    run "$run" kernels.ptx -c add.json -n -D "n=2*1024+1"
    [ "${lines[0]}" = "vector_add: grid 9x1x1, block 256x1x1" ]
    [[ "$output" == *"n: i32 = 2049"*"buffer A: f32 2049"* ]]
}

@test "arguments may be left out where their names are buffers and params" {
    plan "{'kernel': 'vector_add', 'params': {'n': 8}, 'grid': 1, 'block': 8, 'buffers': {
        'A': {'dtype': 'f32', 'shape': 'n', 'init': 'ones'}, 'B': {'dtype': 'f32', 'shape': 'n', 'init': 'iota'}, 'C': {'dtype': 'f32', 'shape': 'n'}}}"
    [ "$status" -eq 0 ]
    [[ "$output" == *"n: i32 = 8"* ]]
}

@test "what the metadata says is the default: block, grid, cluster, shared memory" {
    plan "{'kernel': 'full', 'buffers': {'m': {'dtype': 'f16', 'shape': [4, 8], 'init': 'ones'}, 't': {'dtype': 'f16', 'shape': [256, 64], 'init': 'ones'}},
        'args': ['m', 't', {'struct': {'data': 'm', 'size': 3}}]}"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "${lines[0]}" = "full: grid 4x1x1, block 128x1x1, cluster 2x1x1, 65536 bytes of dynamic shared memory" ]
    [[ "$output" == *"tensor map: 256x64 f16, box 128x64, swizzle 128B"* ]]
}

@test "a wrong key is refused with its path, its place and what was meant" {
    plan "{'kernle': 'vector_add'}"
    [ "$status" -eq 1 ]
    [ "${lines[0]}" = "launch.json:1:2: error: \$.kernle: unknown key 'kernle'; did you mean 'kernel'?" ]
    refuses "$(a="{'dtype': 'f32', 'shpe': ['n'], 'shape': ['n']}" add)" "\$.buffers.A.shpe: unknown key 'shpe'; did you mean 'shape'?"
    plan "{'stream': 1}"
    [[ $output == *"unknown key 'stream'"*"run in order on one stream; name streams in the entries of 'steps'"* ]]
}

@test "wrong types and values in launch.json name the path" {
    refuses "{'grid': true}" "\$.grid: expected an integer or a string or a list, got a boolean"
    refuses "{'params': []}" "\$.params: expected an object, got a list"
    refuses "$(a="{'dtype': 'f23', 'shape': ['n']}" add)" "\$.buffers.A.dtype: unknown value 'f23'; did you mean 'f32'?"
    refuses "$(a="{'dtype': 'f32', 'shape': [1, 1.5]}" add)" "\$.buffers.A.shape[1]: expected an integer or a string, got a number"
    refuses "$(a="{'dtype': 'f32'}" add)" "\$.buffers.A: missing key 'shape'"
    refuses "$(more=", 'bench': {'samples': 0}" add)" "\$.bench.samples: expected at least 1, got 0"
    refuses "$(grid="[1, 2, 3, 4]" add)" "\$.grid: expected a list of 1 to 3 entries, got 4"
}

@test "JSON that is no JSON is refused with its line" {
    printf '{\n  "grid": 1,\n  "block" 2\n}\n' >launch.json
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == launch.json:3:11:*"not valid JSON"* ]]
    refuses "{'grid': 1, 'grid': 2}" "duplicate"
}

@test "an expression that is wrong points to its character" {
    refuses "$(grid="'ceil_div(m, 256)'" add)" "unknown name 'm'"
    [[ "${lines[0]}" == launch.json:1:*": error: unknown name 'm'" ]]
    refuses "$(grid="'n / 0'" add)" "division by zero"
    refuses "$(grid="'n -'" add)" "expected a number"
}

@test "a kernel that is not there is refused with a suggestion" {
    refuses "$(kernel=vector_ad add)" "vector_add"
}

@test "argument counts are refused with what is wanted" {
    refuses "$(args="['A', 'B', 'C']" add)" "expected 4 arguments for kernel 'vector_add', got 3"
    [[ "$output" == *"its arguments are A: memref<?xf32>, B: memref<?xf32>, C: memref<?xf32>, n: i32"* ]]
}

@test "types of arguments are refused by name" {
    refuses "$(a="{'dtype': 'f16', 'shape': ['n'], 'init': 'ones'}" add)" "expected a buffer of f32 for argument 0 (A), got 'A' of f16"
    refuses "$(args="['A', 'B', 'C', 'A']" add)" "argument 3 (n) is a scalar of i32, but 'A' is a buffer"
    refuses "$(args="['A', 'B', 'C', {'type': 'f32', 'value': 1}]" add)" "expected i32 for argument 3 (n), got f32"
    refuses "$(args="['A', 'B', 'C', 3000000000000]" add)" "3000000000000 does not fit in i32"
    refuses "$(args="['A', 'B', 'C', 1.5]" add)" "expected an integer for argument 3 (n), which is of i32, got 1.5"
    refuses "$(args="['A', 'B', 7, 'n']" add)" "expected the name of a buffer for argument 2 (C), a memref"
    refuses "$(args="['A', 'B', 'D', 'n']" add)" "unknown buffer 'D'"
}

@test "ranks and shapes of memrefs are refused by dimension" {
    refuses "$(a="{'dtype': 'f32', 'shape': ['n', 2], 'init': 'ones'}" add)" "expected 1 dimension for argument 0 (A) (memref<?xf32>), got 2 in buffer 'A' (1000x2)"
    refuses "$(a="{'dtype': 'f32', 'shape': ['n'], 'strides': [2], 'init': 'ones'}" add)" "expected stride 1 in dimension 0 of argument 0 (A), got 2 in buffer 'A'"
    refuses "{'kernel': 'full', 'buffers': {'m': {'dtype': 'f16', 'shape': [4, 9], 'init': 'ones'}, 't': {'dtype': 'f16', 'shape': [256, 64], 'init': 'ones'}},
        'args': ['m', 't', {'struct': {'data': 'm', 'size': 3}}]}" "expected 8 elements in dimension 1 of argument 0 (m), got 9 in buffer 'm' (4x9)"
}

@test "an input without contents is refused" {
    refuses "$(a="{'dtype': 'f32', 'shape': ['n']}" add)" "argument 0 (A) is read-only, but buffer 'A' has no 'init'"
}

@test "a misaligned pointer is refused" {
    refuses "{'kernel': 'scale', 'buffers': {'x': {'dtype': 'f32', 'shape': [128], 'init': 'ones'}}, 'args': [{'buffer': 'x', 'offset': 3}, 2.0]}" \
        "argument 0 (x) is misaligned: expected a multiple of 16 bytes, got an offset of 12 in 'x'"
}

@test "blocks are held to what the kernel was compiled for" {
    refuses "$(block=1024 add)" "has 1024 threads; kernel 'vector_add' was compiled for at most 512 (maxntid)"
    refuses "{'kernel': 'scale', 'block': 32, 'buffers': {'x': {'dtype': 'f32', 'shape': [128], 'init': 'ones'}}, 'args': ['x', 2.0]}" \
        "kernel 'scale' requires a block of [64, 1, 1], got [32, 1, 1]"
}

@test "grids, blocks and shared memory beyond the device are refused" {
    refuses "$(grid="[1, 70000]" add)" "the grid's y is 70000; sm_90a allows at most 65535" || refuses "$(grid="[1, 70000]" add)" "the grid's y is 70000; sm_90"
    refuses "$(grid=-1 add)" "expected an extent of at least 0 in the grid, got -1"
    refuses "$(block="[1, 1, 128]" add)" "the block's z is 128"
    refuses "$(more=", 'dynamic_smem': 232449" add)" "232449 bytes of dynamic shared memory exceed the limit of 232448"
}

@test "clusters are held to the kernel's and to the grid" {
    full="'buffers': {'m': {'dtype': 'f16', 'shape': [4, 8], 'init': 'ones'}, 't': {'dtype': 'f16', 'shape': [256, 64], 'init': 'ones'}},
        'args': ['m', 't', {'struct': {'data': 'm', 'size': 3}}]"
    refuses "{'kernel': 'full', 'cluster': [4], $full}" "requires a cluster of [2, 1, 1], got [4, 1, 1]"
    refuses "{'kernel': 'full', 'grid': 3, $full}" "the grid's x, 3, is not a multiple of the cluster's, 2"
    refuses "$(more=", 'cluster': [32]" grid=32 add)" "has 32 blocks"
}

@test "each rule of a tensor map is refused by name" {
    map() {
        local buffer="${2:-{'dtype': 'f16', 'shape': [256, 64], 'init': 'ones'\}}"
        echo "{'kernel': 'full', 'buffers': {'m': {'dtype': 'f16', 'shape': [4, 8], 'init': 'ones'}, 't': $buffer},
          'args': ['m', {'tensor_map': {'buffer': 't'$1}}, {'struct': ['m', 3]}]}"
    }
    for accepted in "" ", 'shape': [0, 64]"; do
        plan "$(map "$accepted")"
        [ "$status" -eq 0 ] || { echo "$output"; false; }
    done
    refuses "$(map ", 'box': [128, 128]")" "expected at most 128 bytes in the box's last dimension for swizzle 128B, got 256"
    refuses "$(map ", 'box': [300, 64]")" "expected 1 to 256 in dimension 0 of the box, got 300"
    refuses "$(map ", 'box': [64, 4]")" "the box's last dimension is misaligned: expected a multiple of 16 bytes, got 8 (4 elements of f16)"
    refuses "$(map ", 'box': [64]")" "expected 2 extents, one for each dimension, got 1"
    refuses "$(map ", 'shape': [256, 60]")" "stride of dimension 0 is misaligned: expected a multiple of 16 bytes, got 120 (60 elements of f16)"
    refuses "$(map ", 'strides': [64, 2], 'shape': [64, 32]")" "expected stride 1 in the last dimension of a tensor map, got 2"
    refuses "$(map ", 'offset': 4, 'shape': [128, 64]")" "the tensor is misaligned: expected an offset that is a multiple of 16 bytes, got 8"
    refuses "$(map ", 'shape': [512, 64]")" "the view is out of bounds: it spans 32768 elements, but buffer 't' has 16384"
    refuses "$(map ", 'interleave': '16B'")" "expected at least 3 dimensions in an interleaved tensor map, got 2"
    refuses "$(map ", 'element_strides': [9, 1]")" "expected 1 to 8 as element stride 0, got 9"
    refuses "$(map ", 'swizzle': '128'")" "did you mean '128B'"
    refuses "$(map ", 'fill': 'nan'" "{'dtype': 'i16', 'shape': [256, 64], 'init': 'ones'}")" "expected a buffer of f16 for argument 1 (map), got 't' of i16"
}

@test "a tensor map other than the kernel is made for is refused with both values" {
    map() {
        echo "{'kernel': 'full', 'buffers': {'m': {'dtype': 'f16', 'shape': [4, 8], 'init': 'ones'}, 't': {'dtype': '${2-f16}', 'shape': [256, 64], 'init': 'ones'}},
          'args': ['m', {'tensor_map': {'buffer': 't'$1}}, {'struct': ['m', 3]}]}"
    }
    refuses "$(map ", 'swizzle': '64B', 'box': [128, 32]")" "tensor_map.swizzle: expected swizzle 128B, as compiled into the kernel, got 64B"
    refuses "$(map ", 'swizzle': 'none'")" "expected swizzle 128B, as compiled into the kernel, got none"
    refuses "$(map ", 'box': [64, 64]")" "expected 128 in dimension 0 of the box, as compiled into the kernel, got 64"
    refuses "$(map ", 'box': [128, 32]")" "expected 64 in dimension 1 of the box, as compiled into the kernel, got 32"
    refuses "$(map ", 'shape': [2, 128, 64], 'box': [1, 128, 64], 'interleave': '16B'")" "expected interleave none, as compiled into the kernel, got 16B"
    refuses "$(map ", 'element_strides': [2, 1]")" "expected element stride 1 in dimension 0, as compiled into the kernel, got 2"
    refuses "$(map ", 'shape': [2, 128, 64], 'box': [1, 128, 64]")" "expected 2 dimensions, as in the kernel's box, got 3"
    refuses "$(map "" bf16)" "expected a buffer of f16 for argument 1 (map), got 't' of bf16"
    plan "$(map ", 'swizzle': '128B', 'box': [128, 64], 'interleave': 'none', 'l2_promotion': '256B', 'element_strides': [1, 1]")"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "several launches run in order" {
    plan "{'buffers': {'x': {'dtype': 'f32', 'shape': [128], 'init': 'iota'}},
        'launches': [{'kernel': 'scale', 'args': ['x', 2.0]}, {'kernel': 'scale', 'args': ['x', 3.0]}], 'check': {'x': '6 * x'}}"
    [ "$status" -eq 0 ]
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check x: passed, 128 elements"* ]]
    refuses "{'grid': 1, 'launches': [{'kernel': 'scale'}]}" "'launches' and 'grid' are mutually exclusive: move 'grid' into each launch"
}

@test "initial contents from files are checked for shape and type" {
    local header="{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}"
    printf "\\x93NUMPY\\x01\\x00\\x$(printf %02x ${#header})\\x00%s" "$header" >two.npy
    printf '\x00\x00\x80\x3f\x00\x00\x00\x40' >>two.npy
    plan "{'kernel': 'scale', 'buffers': {'x': {'dtype': 'f32', 'shape': [2], 'init': {'npy': 'two.npy'}}}, 'args': ['x', 2.0]}"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    refuses "{'kernel': 'scale', 'buffers': {'x': {'dtype': 'f32', 'shape': [3], 'init': {'npy': 'two.npy'}}}, 'args': ['x', 2.0]}" "expected the shape 3 of 'x', got 2 in"
    refuses "{'kernel': 'scale', 'buffers': {'x': {'dtype': 'f32', 'shape': [3], 'init': {'raw': 'two.npy', 'skip': 64}}}, 'args': ['x', 2.0]}" "expected 12 bytes after the first 64 of two.npy, which has"
}

# ---- runs ----

@test "a correct kernel passes its check, and its output is a .npy" {
    run "$run" kernels.ptx --config add.json -o out
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"check C: passed, 1000 elements, largest error 0, relative 0, 0 ulp"* ]]
    [ "$(stat -c %s out/c.npy)" -eq $((128 + 4000)) ]
}

@test "a wrong element is exit code 4, with its index, got and want" {
    FAKECUDA=wrong run "$run" kernels.ptx -c add.json
    [ "$status" -eq 4 ]
    [[ "$output" == *"\$.check.C: 1 of 1000 elements of C are wrong, the first at [5]: got "* ]]
    FAKECUDA=wrong run "$run" kernels.ptx -c add.json --no-check
    [ "$status" -eq 0 ]
}

@test "NaNs are counted" {
    FAKECUDA=nan run "$run" kernels.ptx -c add.json
    [ "$status" -eq 4 ]
    [[ "$output" == *"the first at [3]: got nan"*"expected 0 NaNs, got 1"* ]]
}

@test "elements that were never written are exit code 4 and located" {
    FAKECUDA=partial run "$run" kernels.ptx -c add.json --no-check
    [ "$status" -eq 4 ]
    [[ "$output" == *"output C: 3 of 1000 elements were never written, the first at [7]"* ]]
    tr "'" '"' <<<"$(c="{'dtype': 'f32', 'shape': ['n'], 'unwritten': 'allow'}" add)" >launch.json
    FAKECUDA=partial run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 0 ]
}

@test "an output that holds the poison's value by right is accepted" {
    tr "'" '"' <<<"{'kernel': 'fill_index', 'grid': 4, 'block': 256, 'buffers': {'out': {'dtype': 'i8', 'shape': [1024]}}, 'args': ['out'], 'check': {'out': 'i8(i)'}}" >launch.json
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "a write beyond the end of an output is found" {
    FAKECUDA=overrun run "$run" kernels.ptx -c add.json
    [ "$status" -eq 4 ]
    [[ "$output" == *"output C: the kernel wrote beyond its end, at byte 4000 of 4000"* ]]
}

@test "a fault is exit code 1 with the driver's name for it, the kernel and its launch" {
    FAKECUDA=fault run "$run" kernels.ptx -c add.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"CUDA_ERROR_ILLEGAL_ADDRESS (700): an illegal memory access was encountered"* ]]
    [[ "$output" == *"kernel 'vector_add', grid 4x1x1, block 256x1x1"* ]]
}

@test "a write past the end of an input, or of what is read and written, is found" {
    cat >past.ptx <<'END'
.version 8.3
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 p, .param .u32 at) {
.reg .b64 %rd<9>; .reg .b32 %r<9>;
ld.param.u64 %rd1, [p]; ld.param.s32 %r2, [at]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
st.global.u32 [%rd3], %r1; mul.wide.s32 %rd4, %r2, 4; add.u64 %rd4, %rd1, %rd4; st.global.u32 [%rd4], %r1;
ret;
}
END
    echo '{"grid": 1, "block": 32, "params": {"at": 32}, "buffers": {"x": {"dtype": "i32", "shape": [32], "init": "zeros"}, "y": {"dtype": "i32", "shape": [32]}},
           "args": ["x", "at"], "check": {"x": "i == at ? 31 : i"}}' >io.json
    sed 's/, "check".*/}/' io.json >in.json
    for config in io in; do
        run "$run" past.ptx -c $config.json -d emulator
        [ "$status" -eq 4 ] || { echo "$config: $output"; false; }
        [[ "$output" == *"buffer x: the kernel wrote beyond its end, at byte 128 of 128"* ]]
        run "$run" past.ptx -c $config.json -d emulator -D at=95
        [[ "$output" == *"at byte 380 of 128"* ]]
        run "$run" past.ptx -c $config.json -d emulator -D at=31
        [ "$status" -eq 0 ] || { echo "$config: $output"; false; }
    done
    [ "$("$run" past.ptx -c in.json -d emulator --json | jq -c .unwritten)" = '[{"buffer":"x","unwritten":0,"first":null,"written_behind_end":0}]' ]
    run "$run" past.ptx -c io.json -d emulator -D at=-1
    [ "$status" -eq 1 ]
    [[ "$output" == *"st writes 4 bytes"* ]]
}

@test "on a GPU a write in front of a buffer is found" {
    FAKECUDA=underrun run "$run" kernels.ptx -c add.json
    [ "$status" -eq 4 ]
    [[ "$output" == *"output C: the kernel wrote 4 bytes before its start"* ]]
}

@test "a real param where an integer is expected is named with its value" {
    refuses "{'kernel': 'scale', 'params': {'n': 32.0}, 'grid': 'n + 1', 'buffers': {'x': {'dtype': 'f32', 'shape': [3], 'init': 'ones'}}, 'args': ['x', 2.0]}" "error: 'n' is 32.0, expected an integer"
    [[ "$output" != *"unknown name"* ]]
    run "$run" kernels.ptx --config launch.json --dry-run -D n=2.5
    [[ "$output" == *"error: 'n' is 2.5, expected an integer"* ]]
    [[ "$output" == *"in the expression of \$.grid"* ]]
}

@test "of a raw file only the bytes that are wanted are read" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "sanitized programs have more address space than this allows" ;; esac
    truncate -s 64G big.raw
    printf '\x00\x00\x80\x3f\x00\x00\x00\x40' | dd of=big.raw bs=1 seek=68000000000 conv=notrunc status=none
    echo '{"kernel": "scale", "buffers": {"x": {"dtype": "f32", "shape": [2], "init": {"raw": "big.raw", "skip": 68000000000}}},
           "args": ["x", 2.0], "check": {"x": "1 + i"}}' >raw.json
    (ulimit -v 4000000; timeout 10 "$run" kernels.ptx --config raw.json --device emulator >out 2>&1) || { cat out; false; }
    grep -q "check x: passed" out
}

@test "a kernel that hangs is stopped after the timeout" {
    FAKECUDA=hang run timeout 20 "$run" kernels.ptx -c add.json --timeout 0.3
    [ "$status" -eq 1 ]
    [[ "$output" == *"kernel 'vector_add' did not end within 0.3 s and was stopped"* ]]
}

@test "an assertion and printf come through in order" {
    FAKECUDA=assert run "$run" kernels.ptx -c add.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"hello from the kernel"*"CUDA_ERROR_ASSERT"* ]]
    FAKECUDA=print "$run" kernels.ptx -c add.json >out.txt
    [ "$(head -1 out.txt)" = "hello from the kernel" ]
}

@test "what the driver's compiler says is shown" {
    FAKECUDA=load run "$run" kernels.ptx -c add.json
    [ "$status" -eq 1 ]
    [[ "$output" == *CUDA_ERROR_INVALID_PTX*"line 7; error : Unknown symbol 'x'"* ]]
}

@test "a refused launch and a driver that dies are told apart" {
    FAKECUDA=launch run "$run" kernels.ptx -c add.json
    [ "$status" -eq 1 ]
    [[ "$output" == *CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES* ]]
    FAKECUDA=crash run "$run" kernels.ptx -c add.json
    [ "$status" -eq 3 ]
    [[ "$output" == *"the driver ended the process"* ]]
}

@test "a bench has nvbench's columns and compares with its baselines" {
    tr "'" '"' <<<"$(more=", 'bench': {'samples': 5, 'warmup': 1, 'bytes': '12 * n', 'flops': 'n', 'baselines': ['memcpy_dtod', {'peer': 'memset', 'name': 'fill'}]}" add)" >launch.json
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"samples         mean       median          min   noise      GB/s   TFLOP/s"* ]]
    [[ "$output" == *"memcpy_dtod"*"kernel at "*"% of this"* ]]
    run "$run" kernels.ptx -c launch.json --no-bench
    [[ "$output" != *"GB/s"* ]]
    run "$run" kernels.ptx -c launch.json --json
    [[ "$output" == *'"median_s"'*'"ratio"'* ]]
    run "$run" kernels.ptx -c launch.json --json -D n=999 --no-bench
    [[ "$output" != *'"median_s"'* ]]
}

@test "a warm bench runs batches, and a baseline may be another kernel" {
    tr "'" '"' <<<"$(more=", 'bench': {'samples': 3, 'warmup': 0, 'cache': 'warm', 'batch': 4,
        'baselines': [{'name': 'twice', 'launches': [{'kernel': 'vector_add', 'grid': 4, 'block': 256, 'args': ['A', 'B', 'C', 'n']}]}]}" add)" >launch.json
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"twice"* ]]
}

@test "untimed runs before each sample take the seconds that are asked for" {
    lead() { tr "'" '"' <<<"$(more=", 'bench': {'samples': 3, 'warmup': 0, 'batch': 1, 'cache': '$1', 'lead': '$2'}" add)" >launch.json; }
    launches() { FAKECUDA=print "$run" kernels.ptx -c launch.json | grep -c "hello from the kernel"; }
    lead warm 0
    few=$(launches)
    lead warm 0.02
    [ "$(launches)" -gt $((3 * few)) ]
    lead cold 0.1
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 1 ]
    [[ "$output" == *'untimed runs require "cache": "warm"'* ]]
    lead warm 11
    run "$run" kernels.ptx -c launch.json
    [ "$status" -eq 1 ]
    [[ "$output" == *"expected at most 10 seconds, got 11"* ]]
}

@test "a report in JSON is JSON alone on standard output" {
    FAKECUDA=print "$run" kernels.ptx -c add.json --json >out.json 2>err.txt
    [ "$(head -c1 out.json)" = "{" ]
    grep -q '"ok": true' out.json
    grep -q 'hello from the kernel' err.txt
}

@test "the same seed gives the same data, another seed other data" {
    "$run" kernels.ptx -c add.json -o a >/dev/null
    "$run" kernels.ptx -c add.json -o b >/dev/null
    "$run" kernels.ptx -c add.json -o c --seed 7 >/dev/null
    cmp a/c.npy b/c.npy
    ! cmp -s a/c.npy c/c.npy
}

@test "a full disk is exit code 3" {
    [ -w /dev/full ] || skip "no /dev/full"
    run bash -c "'$run' kernels.ptx >/dev/full"
    [ "$status" -eq 3 ]
}

@test "a closed pipe ends it quietly" {
    run bash -c "'$run' --schema | head -1"
    [ "$status" -eq 0 ]
    [ "$output" = "{" ]
}
