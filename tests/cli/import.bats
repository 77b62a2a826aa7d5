# Modules that CuTe DSL printed. They are not part of this tree: CUTE_DUMPS says where they lie.

setup() {
    cd "$BATS_TEST_TMPDIR"
    import="$BATS_TEST_DIRNAME/../import"
}

need_dumps() {
    [ -n "${CUTE_DUMPS:-}" ] || skip "NOT TESTED: CUTE_DUMPS names no folder with *_0_.mlir of CuTe DSL"
}

sweep() {
    PYTHONDONTWRITEBYTECODE=1 run python3 "$import/$1.py" "$CUTE_BIN/cute-opt" "${@:2}"
    echo "$output" | grep -v '^ok' | head -60
    [ "$status" -eq 0 ]
}

@test "every dumped module is the same after it was printed in either form and read again" {
    need_dumps
    sweep modules "$CUTE_DUMPS"
}

@test "a folder without modules is no success" {
    mkdir empty
    PYTHONDONTWRITEBYTECODE=1 run python3 "$import/modules.py" "$CUTE_BIN/cute-opt" empty
    [ "$status" -eq 1 ]
    [[ "$output" == *"not ok 1 - there are modules in empty"* ]]
}

@test "dumped modules in bf16 instead of f16, and in f16 instead of bf16, are read" {
    need_dumps
    sweep variants "$CUTE_DUMPS" other-float
}

@test "dumped modules with one type that contradicts are refused where it stands" {
    need_dumps
    sweep variants "$CUTE_DUMPS" contradict 200
}

@test "dumped products of matrices for Hopper, in f16 and bf16, and attention are compiled and compute what they should" {
    need_dumps
    [ -d "$CUTE_DUMPS/hopper" ] || skip "NOT TESTED: CUTE_DUMPS has no modules of Hopper"
    PYTHONDONTWRITEBYTECODE=1 run python3 "$import/hopper.py" "$CUTE_BIN" "$CUTE_DUMPS"
    echo "$output" | grep -v '^ok' | head -60
    [ "$status" -eq 0 ]
}

# A module of a kernel that multiplies by $1, and of a host function, whose names and aliases do not depend on it.
module_of() {
    cat <<END
!value = f32
#block = array<i32: 128, 1, 1>
module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @scale(%x: !llvm.ptr<1>, %l: !cute.layout<"(4,8):(8,1)">) attributes {cute.kernel, nvvm.reqntid = #block} {
      %t = nvvm.read.ptx.sreg.tid.x : i32
      %b = nvvm.read.ptx.sreg.ctaid.x : i32
      %n = arith.constant 128 : i32
      %first = arith.muli %b, %n : i32
      %i = arith.addi %first, %t : i32
      %p = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, !value
      %v = llvm.load %p : !llvm.ptr<1> -> !value
      %factor = arith.constant $1 : !value
      %w = arith.mulf %v, %factor : !value
      llvm.store %w, %p : !value, !llvm.ptr<1>
      return loc(#loc1)
    } loc(#loc1)
  } loc(#loc)
  func.func @host(%x: !llvm.ptr<1>, %blocks: i32, %stream: !cuda.stream) -> i32 {
    %0 = arith.constant 0 : i32
    %1 = arith.constant 1 : i32
    %128 = arith.constant 128 : i32
    %bytes = arith.constant 0 : i64
    %l = cute.static : !cute.layout<"(4,8):(8,1)">
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%128, %1, %1), dynamicSmemBytes = %bytes,
      gridDim = (%blocks, %1, %1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    %r = cuda.launch_ex @kernels::@scale<%cfg> (%x, %l) {assume_kernel_attr = #cuda.assume_kernel_attr<true>}
      : !cuda.launch_cfg<max_attrs = 3>, (!llvm.ptr<1>, !cute.layout<"(4,8):(8,1)">) -> !cuda.result loc(#loc2)
    %code = cuda.cast %r : !cuda.result -> i32
    cuda.return_if_error %code : i32
    return %0 : i32
  } loc(#loc)
} loc(#loc)
#loc = loc(unknown)
#loc1 = loc("kernel_$1.py":7:0)
#loc2 = loc("launch"(#loc1))


END
}

@test "a kernel of the dialect cuda runs from its host function" {
    module_of 3.0 > one.mlir
    "$CUTE_BIN/cute-ptx" one.mlir -arch sm_80 | "$CUTE_BIN/cute-link" -o one.cubin
    run "$CUTE_BIN/cute-run" one.cubin -p host -d emulator --check=all --tensor x=f32:256:iota -D blocks=2 --expect x=3*i
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"scale: grid 2x1x1, block 128x1x1"* ]]
    [[ "$output" == *"check x: passed, 256 elements"* ]]
}

@test "a file that holds two modules makes one cubin, and each host function launches its own kernel" {
    { module_of 3.0; module_of 5.0; } > two.mlir
    "$CUTE_BIN/cute-ptx" two.mlir -arch sm_80 -o ptx/
    "$CUTE_BIN/cute-link" ptx/*.ptx -o two.cubin
    run "$CUTE_BIN/cute-run" two.cubin -p host -d emulator --tensor x=f32:256:iota -D blocks=2 --expect x=3*i
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"scale: grid 2x1x1"* ]]
    run "$CUTE_BIN/cute-run" two.cubin -p host_2 -d emulator --tensor x=f32:256:iota -D blocks=2 --expect x=5*i
    echo "$output"
    [ "$status" -eq 0 ]
    [[ "$output" == *"scale_2: grid 2x1x1"* ]]
}
