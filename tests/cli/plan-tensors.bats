#!/usr/bin/env bats
# Host functions with tensors, floats, tuples and loops: cute-run --plan, and "plan" in launch.json.
bats_require_minimum_version 1.5.0

setup_file() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
    cat > tensors.mlir <<'MLIR'
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @scale(%a: memref<?x?xf32, strided<[?, ?]>>, %b: memref<?x?xf32, strided<[?, ?]>>, %s: f32) kernel {
      %i = gpu.block_id x
      %j = gpu.thread_id x
      %v = memref.load %a[%i, %j] : memref<?x?xf32, strided<[?, ?]>>
      %w = arith.mulf %v, %s : f32
      memref.store %w, %b[%i, %j] : memref<?x?xf32, strided<[?, ?]>>
      gpu.return
    }
    gpu.func @row(%p: !llvm.ptr<1>, %n: i32, %v: f32) kernel {
      %j = gpu.thread_id x
      %k = arith.index_cast %j : index to i32
      %q = llvm.getelementptr %p[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %v, %q : f32, !llvm.ptr<1>
      gpu.return
    }
  }
  func.func @main(%a: memref<?x?xf32, strided<[?, ?]>>, %b: memref<?x?xf32, strided<[?, ?]>>, %scale: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %m = memref.dim %a, %c0 : memref<?x?xf32, strided<[?, ?]>>
    %n = memref.dim %a, %c1 : memref<?x?xf32, strided<[?, ?]>>
    %three = arith.constant 3.0 : f32
    %y = arith.mulf %scale, %three : f32
    gpu.launch_func @m::@scale blocks in (%m, %c1, %c1) threads in (%n, %c1, %c1)
      args(%a : memref<?x?xf32, strided<[?, ?]>>, %b : memref<?x?xf32, strided<[?, ?]>>, %y : f32)
    return
  }
  // A launch for each row, with an address and a number that the rounds carry; one more where there are several.
  func.func @rows(%p: !llvm.ptr<1> {cute.dtype = f32}, %m: index, %n: i32, %x: f32) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %t = arith.index_cast %n : i32 to index
    %two = arith.constant 2.0 : f32
    %q, %z = scf.for %i = %c0 to %m step %c1 iter_args(%r = %p, %v = %x) -> (!llvm.ptr<1>, f32) {
      gpu.launch_func @m::@row blocks in (%c1, %c1, %c1) threads in (%t, %c1, %c1) args(%r : !llvm.ptr<1>, %n : i32, %v : f32)
      %s = llvm.getelementptr %r[%n] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %w = arith.mulf %v, %two : f32
      scf.yield %s, %w : !llvm.ptr<1>, f32
    }
    %some = arith.cmpi sgt, %m, %c1 : index
    scf.if %some {
      gpu.launch_func @m::@row blocks in (%c1, %c1, %c1) threads in (%t, %c1, %c1) args(%q : !llvm.ptr<1>, %n : i32, %z : f32)
    }
    return
  }
}
MLIR
    cute-ptx -arch sm_80 tensors.mlir > tensors.ptx
    # Tensors of cute: what is passed is a struct of the pointer and what is unknown of the layout.
    cat > cute.mlir <<'MLIR'
!a = !cute.memref<f16, gmem, align<16>, "(?{div=8},?):(1,?{i64 div=8})">
!b = !cute.memref<f32, gmem, align<16>, "(4,8):(8,1)">
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: !a, %b: !b, %t: !cute.layout<"(4,32):(32,1)">, %n: i32, %s: !cute.shape<"(?,4)">, %l: !cute.layout<"(?,?{i64}):(?{i64},?)">) kernel { gpu.return }
    gpu.func @j(%a: !a) kernel { gpu.return }
  }
  func.func @first(%a: !a, %b: !b, %n: i32, %s: !cute.shape<"(?,4)">, %l: !cute.layout<"(?,?{i64}):(?{i64},?)">, %stream: !cuda.stream) -> i32 {
    %t = cute.static : !cute.layout<"(4,32):(32,1)">
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %bytes = arith.constant 512 : i64
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%n, %c1, %c1), dynamicSmemBytes = %bytes,
      gridDim = (%n, %c1, %c1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    cuda.launch_cfg.programmatic_stream_serialization_allowed[%cfg] %c1 : !cuda.launch_cfg<max_attrs = 3>, i32
    cuda.launch_cfg.cooperative[%cfg] %c0 : !cuda.launch_cfg<max_attrs = 3>, i32
    %r = cuda.launch_ex @m::@k<%cfg> (%a, %b, %t, %n, %s, %l)
      : !cuda.launch_cfg<max_attrs = 3>, (!a, !b, !cute.layout<"(4,32):(32,1)">, i32, !cute.shape<"(?,4)">, !cute.layout<"(?,?{i64}):(?{i64},?)">) -> !cuda.result
    %code = cuda.cast %r : !cuda.result -> i32
    cuda.return_if_error %code : i32
    return %c0 : i32
  }
  func.func @second(%a: !a) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@j blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : !a)
    return
  }
}
MLIR
    cute-ptx -arch sm_80 cute.mlir > cute.ptx
}

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
}

# refuses STATUS TEXT OPTIONS...: what cute-run says of cute.ptx's function @first.
refuses() {
    run -"$1" cute-run -n cute.ptx --plan first "${@:3}"
    [[ "$output" == *"$2"* ]] || { echo "$output"; false; }
}

@test "tensors that the command line gives are computed with and checked, whatever their strides" {
    run -0 cute-run -d emulator --check=all tensors.ptx --plan main -D scale=0.5 --tensor a=f32:8x16:1,10:normal \
        --tensor b=f32:8x16:20,1 --expect 'b=f32(1.5*a[i,j])'
    [[ "$output" == *"scale: grid 8x1x1, block 16x1x1"* ]]
    [[ "$output" == *"check b: passed, 128 elements"* ]]
    # strides that are left out, between the shape and the init, are those of rows
    run -0 cute-run -d emulator tensors.ptx --plan main -D scale=0.5 --tensor a=f32:8x16::normal --tensor b=8x16 \
        --expect 'b=f32(1.5*a[i,j])'
    run -4 cute-run -d emulator tensors.ptx --plan main -D scale=0.5 --tensor a=8x16:normal --tensor b=8x16 \
        --expect 'b=f32(1.25*a[i,j])'
}

@test "a loop of launches carries addresses and floats" {
    # Row i of p gets 1.5 * 2^i; the launch behind the loop takes what the loop carries at its end.
    run -0 cute-run -d emulator --check=all tensors.ptx --plan rows --tensor p=5x16 -D m=4 -D n=16 -D x=1.5 \
        --expect 'p=1.5*pow(2,i)'
    [[ "$output" == *"p: !llvm.ptr<1> = p+256 bytes"* ]]
    [[ "$output" == *"check p: passed, 80 elements"* ]]
    run -0 cute-run -d emulator --check=all tensors.ptx --plan rows --tensor p=1x16 -D m=1 -D n=16 -D x=1.5 --expect 'p=1.5'
    [ "$(grep -c '^row: grid' <<< "$output")" = 1 ]
    # No rounds, and nothing behind them.
    run -0 cute-run -n tensors.ptx --plan rows --tensor p=1x16 -D m=0 -D n=16 -D x=1.5
    [[ "$output" == *"no launch: the grid is empty"* ]]
}

@test "launch.json names buffers and params by the function's parameters, and says types and strides only where it must" {
    cat > launch.json <<'JSON'
{
  "plan": "main",
  "params": { "rows": 4, "scale": 2.5 },
  "buffers": {
    "a": { "shape": ["rows", 8], "strides": [1, "rows"], "init": "normal" },
    "out": { "shape": ["rows", 8], "strides": [16, 1] }
  },
  "args": { "b": "out" },
  "check": { "out": "f32(7.5 * a[i,j])" }
}
JSON
    run -0 cute-run -d emulator --check=all tensors.ptx -c launch.json -D rows=8
    [[ "$output" == *"scale: grid 8x1x1, block 8x1x1"* ]]
    [[ "$output" == *"check out: passed, 64 elements"* ]]
}

@test "launch.json overrides grid, block and attributes of a plan, of all its launches or of one" {
    cat > rows.json <<'JSON'
{
  "plan": { "function": "rows", "args": { "p": "x", "m": 1, "n": 8, "x": 1 }, "launches": [ { "grid": 3, "programmatic": true } ] },
  "block": 4,
  "buffers": { "x": { "shape": [8], "init": "zeros" } }
}
JSON
    run -0 cute-run -n --json tensors.ptx -c rows.json
    [ "$(jq -c '.launches[] | [.grid, .block, .programmatic]' <<< "$output")" = '[[3,1,1],[4,1,1],true]' ]
    sed 's/"m": 1/"m": 2/' rows.json > two.json
    run -1 cute-run -n tensors.ptx -c two.json
    [[ "$output" == *"\$.plan.launches: expected 3 entries, one for each launch of host function 'rows', got 1"* ]]
}

@test "several functions run one behind the other" {
    cat > both.json <<'JSON'
{
  "plan": [ { "function": "rows", "args": { "p": "a", "m": 1, "n": 16, "x": 2 } }, "main" ],
  "params": { "scale": 1 },
  "buffers": { "a": { "shape": [1, 16] }, "b": { "shape": [1, 16] } },
  "check": { "a": "2", "b": "6" }
}
JSON
    run -0 cute-run -d emulator --check=all tensors.ptx -c both.json
    [[ "$output" == *"check b: passed"* ]]
    run -0 cute-run -n cute.ptx --plan second --plan second --tensor a=8x2
    [ "$(grep -c '^j: grid' <<< "$output")" = 2 ]
}

@test "a cute tensor is passed as its pointer and what its layout leaves open" {
    run -0 cute-run -n cute.ptx --plan first --tensor a=f16:64x3:1,72 --tensor b=zeros -D n=7 -D 's=(5,4)' -D 'l=(3,4):(9,1)'
    [[ "$output" == *"k: grid 7x1x1, block 7x1x1"* ]]
    [[ "$output" == *'a: '*' = (a, 64, 3, 72)'* ]]
    [[ "$output" == *'b: '*' = b'* ]]
    [[ "$output" == *'s: !cute.shape<"(?,4)"> = 5'* ]]
    [[ "$output" == *'l: '*' = (3, 4, 9, 1)'* ]]
    run -0 cute-run -n --json cute.ptx --plan first --tensor a=64x3 --tensor b=zeros -D n=7 -D 's=[5,4]' -D 'l=(3,4):(9,1)'
    # Strides of a tensor without gaps whose first mode has stride 1; shape and type of b are the parameter's.
    [ "$(jq -c '.buffers | map([.dtype, .shape, .strides])' <<< "$output")" = '[["f16",[64,3],[1,64]],["f32",[4,8],[8,1]]]' ]
    [ "$(jq -c '.launches[0] | [.dynamic_smem, .programmatic, .cooperative]' <<< "$output")" = '[512,true,null]' ]
}

@test "a kernel's own cute tensor is a buffer too" {
    echo '{"kernel": "j", "grid": 1, "block": 1, "args": ["x"], "buffers": {"x": {"dtype": "f16", "shape": [16, 2], "strides": [1, 16], "init": "ones"}}}' > j.json
    run -0 cute-run -d emulator cute.ptx -c j.json
    sed 's/\[16, 2\]/[12, 2]/' j.json > bad.json
    run -1 cute-run -n cute.ptx -c bad.json
    [[ "$output" == *"buffer 'x': mode 0 has extent 12, expected a multiple of 8"* ]]
    [[ "$output" == *"(a) has the layout (?{div=8},?):(1,?{i64 div=8})"* ]]
}

@test "a tensor of a nested layout is given as its memory, by modes or by leaves, and the message says how" {
    cat > nested.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%x: !cute.memref<f32, gmem, "((4,3),(2,5)):((1,4),(12,24))">, %o: !cute.memref<f32, gmem, "(26,3):(1,1)">, %y: !cute.memref<f32, gmem, "?:1">) kernel attributes {nvvm.reqntid = array<i32: 120, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %v = cute.load %x[%t]
    %w = cute.load %o[3, 2]
    %sum = arith.addf %v, %w : f32
    cute.store %sum, %y[%t]
    gpu.return
  }
}
MLIR
    cute-ptx nested.mlir -o nested.ptx
    for shape in '[120]' '[12, 10], "strides": [1, 12]' '[4, 3, 2, 5], "strides": [1, 4, 12, 24]' '[4, 3, 10], "strides": [1, 4, 12]'; do
        rank=$(jq -n "{\"shape\": $shape}.shape | length")
        case $rank in 1) init=i ;; 2) init='i+12*j' ;; 3) init='i+4*j+12*k' ;; 4) init='i+4*j+12*k+24*l' ;; esac
        cat > nested.json <<EOF
{"kernel": "k", "grid": 1, "block": 120, "args": ["x", "o", "y"], "check": {"y": "i+5"},
 "buffers": {"x": {"dtype": "f32", "shape": $shape, "init": {"expr": "$init"}},
             "o": {"dtype": "f32", "shape": [28], "init": "iota"}, "y": {"dtype": "f32", "shape": [120]}}}
EOF
        run -0 cute-run nested.ptx -c nested.json -d emulator --check=all --no-bench
        [[ "$output" == *"check y: passed"* ]]
    done
    sed -i 's/\[4, 3, 10\], "strides": \[1, 4, 12\]/[6, 2, 10]/; s/"i+4\*j+12\*k"/"i"/' nested.json
    run -1 cute-run -n nested.ptx -c nested.json
    [[ "$output" == *"buffer 'x': has 3 dimensions, expected 2 ([12,10] with strides [1,12]) or 4 ([4,3,2,5] with strides [1,4,12,24]), or 120 contiguous elements"* ]]
}

@test "a tensor that does not fit is refused with the mode and what was expected" {
    local rest=(--tensor b=zeros -D n=1 -D 's=(5,4)' -D 'l=(3,4):(9,1)')
    refuses 1 "tensor 'a': mode 0 has extent 100, expected a multiple of 8" --tensor a=f16:100x3 "${rest[@]}"
    [[ "$output" == *"the host function's parameter 'a' has the layout (?{div=8},?):(1,?{i64 div=8})"* ]]
    refuses 1 "tensor 'a': mode 0 has stride 3, expected 1" --tensor a=f16:64x3:3,1 "${rest[@]}"
    refuses 1 "tensor 'a': mode 1 has stride 68, expected a multiple of 8" --tensor a=f16:64x3:1,68 "${rest[@]}"
    refuses 1 "tensor 'a': has 1 dimension, expected 2" --tensor a=f16:64 "${rest[@]}"
    refuses 1 "tensor 'a': expected elements of f16, got f32" --tensor a=f32:64x3 "${rest[@]}"
    refuses 1 "tensor 'b': mode 0 has extent 5, expected 4" --tensor a=64x3 --tensor b=f32:5x8 "${rest[@]:2}"
}

@test "a number, tuple or tensor that is missing or of another form is named with the option that gives it" {
    local a=(--tensor a=64x3) b=(--tensor b=zeros) n=(-D n=1) s=(-D 's=(5,4)') l=(-D 'l=(3,4):(9,1)')
    refuses 2 "host function 'first' needs the tensor 'a', " "${b[@]}" "${n[@]}" "${s[@]}" "${l[@]}"
    [[ "$output" == *"pass --tensor a=f16:SHAPE"* ]]
    refuses 2 "pass --tensor b=f32" "${a[@]}" "${n[@]}" "${s[@]}" "${l[@]}"
    refuses 2 "host function 'first' needs 'n': pass -D n=NUMBER" "${a[@]}" "${b[@]}" "${s[@]}" "${l[@]}"
    refuses 2 "host function 'first' needs 's': pass -D s=(?,4)" "${a[@]}" "${b[@]}" "${n[@]}" "${l[@]}"
    refuses 1 "expected 's' of the form (?,4), got (5,3)" "${a[@]}" "${b[@]}" "${n[@]}" -D 's=(5,3)' "${l[@]}"
    refuses 1 "expected 'l' of the form (?,?{i64}):(?{i64},?), got (5,4)" "${a[@]}" "${b[@]}" "${n[@]}" "${s[@]}" -D 'l=(5,4)'
    refuses 1 "'n': 5000000000 does not fit in i32" "${a[@]}" "${b[@]}" -D n=5000000000 "${s[@]}" "${l[@]}"
    refuses 2 "-D n expects an integer, got '1.5'" "${a[@]}" "${b[@]}" -D n=1.5 "${s[@]}" "${l[@]}"
    refuses 2 "-D m: host function 'first' has no parameter 'm'" "${a[@]}" -D m=1
    refuses 2 "-D a: 'a' is a tensor: pass --tensor a=f16:SHAPE" -D a=1
    refuses 2 "--tensor n: 'n' is not a tensor but i32: pass -D n=VALUE" --tensor n=f32:4
    refuses 2 "--tensor c: host function 'first' has no parameter 'c'" --tensor c=f32:4
    refuses 2 "--tensor a is repeated" "${a[@]}" "${a[@]}"
    refuses 2 "got 'f15', did you mean 'f16'?" --tensor a=f15:4
    refuses 2 "--expect a: expected a --tensor a" --expect a=1
    refuses 2 "--tensor expects NAME=" --tensor f16:4
    run -2 cute-run cute.ptx --tensor a=f16:4
    [[ "$output" == *"--tensor requires --plan"* ]]
}

@test "launch.json says where a parameter is missing or an argument has no parameter" {
    echo '{"plan": "main", "params": {"scale": 1}, "buffers": {"a": {"shape": [2, 2], "init": "ones"}}}' > missing.json
    run -1 cute-run -n tensors.ptx -c missing.json
    [[ "$output" == *"missing.json:1:10: error: \$.plan: host function 'main' needs the tensor 'b', "*"add it to 'buffers'"* ]]
    echo '{"plan": "main", "args": {"scael": 1}, "buffers": {"a": {"shape": [2, 2], "init": "ones"}}}' > typo.json
    run -1 cute-run -n tensors.ptx -c typo.json
    [[ "$output" == *"\$.args.scael: host function 'main' has no parameter 'scael'; did you mean 'scale'?"* ]]
    echo '{"plan": "main", "kernel": "scale"}' > two.json
    run -1 cute-run -n tensors.ptx -c two.json
    [[ "$output" == *"\$.kernel: 'plan' and 'kernel' are mutually exclusive: the host function determines the launches"* ]]
    echo '{"args": {"a": "x"}}' > kernel.json
    run -1 cute-run -n tensors.ptx -c kernel.json
    [[ "$output" == *"named arguments require 'plan', the name of a host function"* ]]
    echo '{"plan": "main", "buffers": {"a": {"dtype": "f32"}}}' > shape.json
    run -1 cute-run -n tensors.ptx -c shape.json
    [[ "$output" == *"\$.buffers.a: missing key 'shape'"* ]]
}

@test "a function is found by a beginning of its name that no other has" {
    run -0 cute-run -n cute.ptx --plan sec --tensor a=8x2
    run -1 cute-run -n tensors.ptx --plan x
    [[ "$output" == *"no host function 'x' that launches a kernel"* ]]
    [[ "$output" == *"available: main, rows"* ]]
}

@test "without a config cute-run prints what host functions take" {
    run -0 cute-run cute.ptx
    [[ "$output" == *"launch it with --plan first --tensor a=f16:SHAPE --tensor b=f32 -D n=i32 -D s=(?,4) -D l=(?,?{i64}):(?{i64},?)"* ]]
    [[ "$output" == *"launch it with --plan second --tensor a=f16:SHAPE"* ]]
    run -0 cute-run --json cute.ptx
    [ "$(jq -c '.plans | map(.plan)' <<< "$output")" = '["first","second"]' ]
    [ "$(jq -r '.plans[0].args[0].layout' <<< "$output")" = '(?{div=8},?):(1,?{i64 div=8})' ]
}

@test "a template of a host function is a launch.json that plans" {
    cute-run cute.ptx --plan first --template > template.json
    [ "$(jq -c '[.plan, .params, .args, .buffers.a.shape, .buffers.b]' template.json)" = \
        '["first",{"n":1},{"s":"(?,4)","l":"(?,?{i64}):(?{i64},?)"},["n","n"],{"init":"normal"}]' ] ||
        { cat template.json; false; }
    cute-run tensors.ptx --plan main -t > template.json
    run -0 cute-run -n tensors.ptx -c template.json
    run -1 cute-run tensors.ptx --plan mane -t
    [[ "$output" == *"no host function 'mane'"* ]]
}

@test "--kernel and a plan contradict each other" {
    run -2 cute-run -n tensors.ptx --plan main -k row --tensor a=8x16:normal --tensor b=8x16 -D scale=1
    [[ "$output" == *"--kernel and --plan are mutually exclusive"* ]]
}

@test "a baseline may be a host function, which overrides at the top do not touch" {
    cat > bench.json <<'JSON'
{
  "plan": "main",
  "params": { "scale": 1, "m": 2, "n": 8, "x": 1 },
  "block": 16,
  "buffers": { "a": { "shape": [4, 8], "init": "ones" }, "b": { "shape": [4, 8], "init": "zeros" }, "c": { "dtype": "f32", "shape": [32], "init": "zeros" } },
  "bench": { "samples": 3, "warmup": 0, "bytes": 1024, "baselines": [ { "name": "by rows", "plan": { "function": "rows", "args": { "p": "c" } } } ] }
}
JSON
    run -0 cute-run -n tensors.ptx -c bench.json
    [[ "$output" == *"scale: grid 4x1x1, block 16x1x1"* ]]
    sed 's/"rows", "args": {/"rows", "args": { "q": 1,/' bench.json > bad.json
    run -1 cute-run -n tensors.ptx -c bad.json
    [[ "$output" == *"\$.bench.baselines[0].plan.args.q: host function 'rows' has no parameter 'q'"* ]]
}

@test "views, sizes and branches of a host function are computed from the tensor that is given" {
    cat > views.mlir <<'MLIR'
!a = !cute.memref<f32, gmem, align<4>, "(?,?):(?{i64},1)">
!v = !cute.memref<f32, gmem, align<4>, "((16,32),(?,?)):((?{i64},1),(?{i64 div=16},32))">
module attributes {gpu.container_module} {
  gpu.module @m { gpu.func @tiles(%v: !v, %n: i32) kernel { gpu.return } }
  func.func @main(%a: !a, %stream: !cuda.stream) {
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0 : i64
    %tile = "cute.make_tile"() : () -> !cute.tile<"[16:1;32:1]">
    %v = "cute.zipped_divide"(%a, %tile) : (!a, !cute.tile<"[16:1;32:1]">) -> !v
    %size = "cute.size"(%v) <{mode = array<i32: 1>}> : (!v) -> !cute.int_tuple<"?">
    %n = "cute.get_scalars"(%size) : (!cute.int_tuple<"?">) -> i32
    %two = arith.constant 2 : i32
    %many = arith.cmpi sgt, %n, %two : i32
    %threads = scf.if %many -> (i32) {
      %t = arith.constant 64 : i32
      scf.yield %t : i32
    } else { scf.yield %c1 : i32 }
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%threads, %c1, %c1), dynamicSmemBytes = %zero,
      gridDim = (%n, %c1, %c1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    %r = cuda.launch_ex @m::@tiles<%cfg> (%v, %n) : !cuda.launch_cfg<max_attrs = 3>, (!v, i32) -> !cuda.result
    return
  }
}
MLIR
    cute-ptx -arch sm_80 views.mlir > views.ptx
    # ceil(33/16) * ceil(70/32) = 3 * 3 tiles; a tile's row is 16 rows of 80 elements below the one in front of it.
    run -0 cute-run -n views.ptx -p main --tensor a=33x70:80,1:zeros
    [[ "$output" == *"tiles: grid 9x1x1, block 64x1x1"* ]]
    [[ "$output" == *" = (a, 3, 3, 80, 1280)"* ]]
    run -0 cute-run -n views.ptx -p main --tensor a=16x64:zeros
    [[ "$output" == *"tiles: grid 2x1x1, block 1x1x1"* ]]
}

@test "a kernel on cute tensors runs from its host function, on views of any strides" {
    cat > scale.mlir <<'MLIR'
!t = !cute.memref<f32, gmem, "(?,?):(?{i64},?{i64})">
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @scale(%a: !t, %b: !t, %s: f32) kernel {
      %x = gpu.block_id x
      %y = gpu.thread_id x
      %i = arith.index_cast %x : index to i32
      %j = arith.index_cast %y : index to i32
      %at = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %v = cute.memref.load(%a, %at) : (!t, !cute.coord<"(?,?)">) -> f32
      %w = arith.mulf %v, %s : f32
      cute.memref.store(%b, %at, %w) : (!t, !cute.coord<"(?,?)">, f32)
      gpu.return
    }
  }
  func.func @main(%a: !t, %b: !t, %s: f32) {
    %c1 = arith.constant 1 : index
    %l = cute.get_layout(%a) : (!t) -> !cute.layout<"(?,?):(?{i64},?{i64})">
    %m = cute.size<[0]>(%l) : (!cute.layout<"(?,?):(?{i64},?{i64})">) -> !cute.int_tuple<"?">
    %n = cute.size<[1]>(%l) : (!cute.layout<"(?,?):(?{i64},?{i64})">) -> !cute.int_tuple<"?">
    %g = cute.get_scalars(%m) : (!cute.int_tuple<"?">) -> i32
    %t = cute.get_scalars(%n) : (!cute.int_tuple<"?">) -> i32
    %gi = arith.index_cast %g : i32 to index
    %ti = arith.index_cast %t : i32 to index
    gpu.launch_func @m::@scale blocks in (%gi, %c1, %c1) threads in (%ti, %c1, %c1) args(%a : !t, %b : !t, %s : f32)
    return
  }
}
MLIR
    cute-ptx -arch sm_80 scale.mlir > scale.ptx
    run -0 cute-run -d emulator --check=all scale.ptx -p main -D s=2 --tensor a=f32:8x16:1,8:normal --tensor b=8x16:20,1 \
        --expect 'b=2*a[i,j]'
    [[ "$output" == *"scale: grid 8x1x1, block 16x1x1"* ]]
    # Of a batch of three the middle one, by an offset.
    cat > batch.json <<'JSON'
{
  "plan": "main", "params": { "s": 3 },
  "buffers": { "a": { "shape": [8, 16], "strides": [16, 1], "offset": 128, "init": "normal" }, "b": { "shape": [8, 16], "strides": [1, 9], "offset": 5 } },
  "check": { "b": "3*a[i,j]" }
}
JSON
    run -0 cute-run -d emulator --check=all scale.ptx -c batch.json
    [[ "$output" == *"check b: passed, 128 elements"* ]]
}

@test "structs are given by their fields, pointers in them by buffers" {
    cat > struct.mlir <<'MLIR'
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @fill(%s: !llvm.struct<(ptr<1>, f32)>, %t: !cute.layout<"(4,8):(8,1)">) kernel {
      %p = llvm.extractvalue %s[0] : !llvm.struct<(ptr<1>, f32)>
      %v = llvm.extractvalue %s[1] : !llvm.struct<(ptr<1>, f32)>
      %j = gpu.thread_id x
      %k = arith.index_cast %j : index to i32
      %q = llvm.getelementptr %p[%k] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store %v, %q : f32, !llvm.ptr<1>
      gpu.return
    }
  }
  func.func @main(%s: !llvm.struct<(i32, struct<(ptr<1>, f32)>)>) {
    %c1 = arith.constant 1 : index
    %t = cute.static : !cute.layout<"(4,8):(8,1)">
    %n = llvm.extractvalue %s[0] : !llvm.struct<(i32, struct<(ptr<1>, f32)>)>
    %inner = llvm.extractvalue %s[1] : !llvm.struct<(i32, struct<(ptr<1>, f32)>)>
    %x = arith.index_cast %n : i32 to index
    gpu.launch_func @m::@fill blocks in (%c1, %c1, %c1) threads in (%x, %c1, %c1)
      args(%inner : !llvm.struct<(ptr<1>, f32)>, %t : !cute.layout<"(4,8):(8,1)">)
    return
  }
}
MLIR
    cute-ptx -arch sm_80 struct.mlir > struct.ptx
    echo '{"plan": "main", "args": {"s": [8, "x", 2.5]}, "buffers": {"x": {"dtype": "f32", "shape": [8]}}, "check": {"x": "2.5"}}' > struct.json
    run -0 cute-run -d emulator --check=all struct.ptx -c struct.json
    [[ "$output" == *"s: !llvm.struct<(ptr<1>, f32)> = (x, 2.5)"* ]]
    # The kernel itself: its static layout is not given.
    echo '{"kernel": "fill", "grid": 1, "block": 8, "args": [{"struct": ["x", 4.5]}], "buffers": {"x": {"dtype": "f32", "shape": [8]}}, "check": {"x": "4.5"}}' > fill.json
    run -0 cute-run -d emulator --check=all struct.ptx -c fill.json
    sed 's/"x", 2.5/"y", 2.5/' struct.json > bad.json
    run -1 cute-run -n struct.ptx -c bad.json
    [[ "$output" == *"\$.args.s[1]: unknown buffer 'y'; did you mean 'x'?"* ]]
}

@test "several gpu.modules go through the pipe as one cubin, with a host function each" {
    cat > two.mlir <<'MLIR'
module attributes {gpu.container_module} {
  gpu.module @a { gpu.func @first(%n: i32) kernel { gpu.return } }
  gpu.module @b { gpu.func @second(%n: i32) kernel { gpu.return } }
  func.func @one(%n: i32) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @a::@first blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%n : i32)
    return
  }
  func.func @two(%n: i32) {
    %c2 = arith.constant 2 : index
    gpu.launch_func @b::@second blocks in (%c2, %c2, %c2) threads in (%c2, %c2, %c2) args(%n : i32)
    return
  }
}
MLIR
    cute-ptx two.mlir -arch sm_80 | cute-link > two.cubin
    # The same by a file between them.
    cute-ptx two.mlir -arch sm_80 -o two.ptx && cute-link two.ptx -o of_file.cubin
    run -0 cute-run -d emulator --check=all of_file.cubin --plan two --plan one -D n=3
    [[ "$output" == *"second: grid 2x2x2"*"first: grid 1x1x1"* ]]
    run -0 cute-run -d emulator --check=all two.cubin --plan two --plan one -D n=3
    [[ "$output" == *"second: grid 2x2x2"*"first: grid 1x1x1"* ]]
    # Each function is listed once, though each module has the plans.
    run -0 cute-run two.cubin
    [ "$(grep -c '^host function' <<< "$output")" = 2 ]
}

@test "a parameter that there is not is named before anything that only follows from it" {
    echo '{"plan": {"function": "main", "args": {"arg0": "x"}}, "params": {"scale": 1}, "buffers": {"x": {"shape": [8, 8]}}}' > names.json
    run -1 cute-run -n tensors.ptx -c names.json
    [[ "$output" == *"host function 'main' has no parameter 'arg0'"* ]]
    [[ "$output" == *"its parameters are 'a', 'b', 'scale'"* ]]
    [[ "$output" != *"dtype"* ]]
    echo '{"plan": "main", "args": {"arg0": "x"}, "params": {"scale": 1}, "buffers": {"x": {"shape": [8, 8]}}}' > names.json
    run -1 cute-run -n tensors.ptx -c names.json
    [[ "$output" == *"host function 'main' has no parameter 'arg0'"* ]]
}
