#!/usr/bin/env bats
# Environment variables as defaults of options: what each does, what is refused, and what the command line says first.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    unset ARCH CUTE_CACHE
    cat >k.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%p: memref<64xf32>) kernel {
    %i = gpu.thread_id x
    %x = memref.load %p[%i] : memref<64xf32>
    %zero = arith.constant 0.0 : f32
    %ok = arith.cmpf oge, %x, %zero : f32
    cf.assert %ok, "negative"
    %y = arith.addf %x, %x : f32
    memref.store %y, %p[%i] : memref<64xf32>
    gpu.return
  }
}
MLIR
}

@test "the architecture comes from ARCH, CUTLASS_ARCH or CUTE_DSL_ARCH, and -arch counts before them" {
    for name in ARCH CUTLASS_ARCH CUTE_DSL_ARCH; do
        env $name=sm_80 cute-ptx k.mlir | grep -q '^.target sm_80'
        env $name=sm_80 cute-ptx -arch sm_90a k.mlir | grep -q '^.target sm_90a'
        run -2 env $name=sm_91 cute-ptx k.mlir
        [[ $output == *"unknown architecture 'sm_91'"*"environment variable $name"* ]]
    done
    ARCH=sm_80 CUTE_DSL_ARCH=sm_90 cute-ptx k.mlir | grep -q '^.target sm_80'
    # native is asked of the driver
    run -3 env CUTLASS_ARCH=native CUTE_LIBCUDA=/nonexistent cute-ptx k.mlir
    [[ $output == *"-arch=native"* ]]
}

@test "lines of the source are kept by CUTLASS_LINEINFO and CUTE_DSL_LINEINFO, and --lineinfo=0 counts before them" {
    for name in CUTLASS_LINEINFO CUTE_DSL_LINEINFO; do
        for value in 1 true on; do env $name=$value cute-ptx k.mlir | grep -q '\.loc'; done
        for value in 0 false ''; do ! env $name=$value cute-ptx k.mlir | grep -q '\.loc' || false; done
        ! env $name=1 cute-ptx --lineinfo=0 k.mlir | grep -q '\.loc' || false
        run -2 env $name=maybe cute-ptx k.mlir
        [[ $output == *"the environment variable $name expects 1 or 0, got 'maybe'"* ]]
    done
    run -2 cute-ptx --lineinfo=maybe k.mlir
    [[ $output == *"'--lineinfo' expects 1 or 0, got 'maybe'"* ]]
}

@test "assertions are kept by CUTLASS_ENABLE_ASSERTIONS and CUTE_DSL_ENABLE_ASSERTIONS" {
    ! cute-ptx k.mlir | grep -q assertfail || false
    for name in CUTLASS_ENABLE_ASSERTIONS CUTE_DSL_ENABLE_ASSERTIONS; do
        env $name=1 cute-ptx k.mlir | grep -q assertfail
        ! env $name=1 cute-ptx --enable-assertions=0 k.mlir | grep -q assertfail || false
        run -2 env $name=2 cute-ptx k.mlir
        [[ $output == *"$name expects 1 or 0, got '2'"* ]]
    done
}

@test "a toolkit's folder that is none is told, whether or not something is looked for in it" {
    for name in CUTE_CUDA_PATH CUDA_TOOLKIT_PATH; do
        for tool in cute-ptx cute-link cute-dump; do
            run -2 env -u CUTE_CUDA_PATH -u CUDA_TOOLKIT_PATH $name=/nonexistent $tool k.mlir
            [[ $output == *"the environment variable $name expects a folder, got '/nonexistent'"* ]]
        done
        # an option that is given counts before it, and help is given anyway
        env -u CUTE_CUDA_PATH -u CUDA_TOOLKIT_PATH $name=/nonexistent cute-ptx --cuda-path=/ k.mlir >k.ptx
        env $name=/nonexistent cute-ptx --help >help
    done
}

@test "CUDA_HOME and CUDA_PATH that name no folder are warned of once, and the toolkit is taken from elsewhere" {
    cute-ptx k.mlir -o k.ptx
    for name in CUDA_HOME CUDA_PATH; do
        env -u CUTE_CUDA_PATH -u CUDA_TOOLKIT_PATH -u CUDA_HOME -u CUDA_PATH $name=/nonexistent \
            cute-link --fatbin k.ptx -o k.fatbin 2>err
        [ "$(grep -c "warning: expected a folder in the environment variable $name, got '/nonexistent'; using '/.*'" err)" = 1 ]
    done
}

@test "a folder that has nothing of a toolkit is told, with what was looked for and what would be right" {
    cute-ptx k.mlir -o k.ptx
    mkdir -p empty toolkit/bin
    right=$(cd "$CUTE_BIN/.." && pwd)
    for name in CUTE_CUDA_PATH CUDA_TOOLKIT_PATH; do
        run -3 env -u CUTE_CUDA_PATH -u CUDA_TOOLKIT_PATH $name="$PWD/empty" cute-link k.ptx -o k.cubin
        [[ $output == *"error: expected a CUDA toolkit folder in the environment variable $name, got '$PWD/empty'"* ]]
        [[ $output == *"note: the folder contains none of bin/ptxas, bin/nvlink, "*"nvvm/libdevice/libdevice.10.bc"* ]]
        [[ $output == *"note: found '/"*"ptxas': unset $name"* ]]
        # without any other: what such a folder has in it
        cp "$CUTE_BIN/cute-link" alone
        run -3 env -i PATH=/nonexistent $name="$PWD/empty" ./alone k.ptx -o k.cubin
        [[ $output == *"expected a CUDA toolkit folder in the environment variable "*", got '$PWD/empty'"* ]]
        [[ $output == *"found '/"* || $output == *"expected a folder that contains bin/ptxas, such as /usr/local/cuda"* ]]
    done
    # one that has a part of it is looked into, and others after it
    printf '#!/bin/sh\nexit 0\n' >toolkit/bin/nvdisasm
    chmod +x toolkit/bin/nvdisasm
    CUDA_TOOLKIT_PATH=$PWD/toolkit cute-link k.ptx -o k.cubin
    # those that other programs have, too, are looked into without complaint
    CUDA_HOME=$PWD/empty cute-link k.ptx -o k.cubin
}

@test "MLIR_ENABLE_DUMP and CUTE_DSL_PRINT_IR print the IR after each pass on stderr" {
    for name in MLIR_ENABLE_DUMP CUTE_DSL_PRINT_IR; do
        env $name=1 cute-ptx k.mlir 2>err >k.ptx
        grep -q '^// -----// IR Dump After cute-lower-assert //----- //$' err
        grep -q '^// -----// IR Dump After cute-wrap-kernels (no change) //----- //$' err
        [ "$(grep -c '^module' err)" -gt 5 ]
        grep -q 'llvm.func @k' err
        env $name=1 cute-ptx --mlir-print-ir-after-all=0 k.mlir 2>err | cmp k.ptx
        [ ! -s err ]
        cute-opt --canonicalize --cse k.mlir >k.opt
        for option in "" --mlir-print-ir-after-all; do
            # shellcheck disable=SC2086
            env $name=1 CUTE_CACHE=$PWD/cache cute-opt --canonicalize $option --cse k.mlir 2>err | cmp k.opt
            [ "$(grep -c '^// -----// IR Dump After' err)" -eq 2 ]
        done
        run -2 env $name=maybe cute-opt k.mlir
        [[ $output == *"the environment variable $name expects 1 or 0, got 'maybe'"* ]]
    done
    cute-ptx --mlir-print-ir-after-all k.mlir 2>err >k.ptx
    grep -q 'IR Dump After' err
    # a pass that fails is shown as it left the module
    echo 'gpu.module @m { gpu.func @k() kernel { "cute.nothing"() : () -> () gpu.return } }' >bad.mlir
    run -1 env MLIR_ENABLE_DUMP=1 cute-ptx bad.mlir
    # the pipeline that the user names, too
    cute-ptx --mlir-print-ir-after-all --pass-pipeline=cse k.mlir 2>err >k.ptx
    grep -q 'IR Dump After cse' err
}

@test "cute-dump run takes the variables of the programs that it runs, and its report has nothing of what they print" {
    MLIR_ENABLE_DUMP=1 CUTE_LOG_LEVEL=10 cute-dump run k.mlir -o one 2>err
    jq -e '.status == "ok" and .warnings == [] and (.options | .lineinfo == false and .assertions == false)' one/REPORT.json
    ! grep -q 'IR Dump' err || false
    CUTLASS_LINEINFO=1 CUTE_DSL_ENABLE_ASSERTIONS=1 cute-dump run --gpu-arch=sm_90 k.mlir -o two
    jq -e '.options | .lineinfo and .assertions and .arch == "sm_90"' two/REPORT.json
    grep -q assertfail two/m.ptx
    # other views do not mind them
    CUTLASS_LINEINFO=1 CUTE_DSL_ENABLE_ASSERTIONS=1 cute-dump two/cubin/m.cubin >out
}

@test "cute-opt has a log, by option or variable" {
    cute-opt --log-level=debug k.mlir 2>err >out
    grep -q '^cute-opt: debug: reads k.mlir' err
    CUTE_DSL_LOG_LEVEL=10 cute-opt k.mlir 2>err >out
    grep -q '^cute-opt: debug: reads k.mlir' err
    run -2 cute-opt --log-level=loud k.mlir
    [[ $output == *"'--log-level' expects error, warning, info, debug or 0 to 50, got 'loud'"* ]]
    run -2 env CUTE_LOG_LEVEL=loud cute-opt k.mlir
    [[ $output == *"the environment variable CUTE_LOG_LEVEL expects"*"got 'loud'"* ]]
}

@test "the architecture is the GPU's with -arch native" {
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
    cute-ptx -arch native k.mlir | grep -q '^.target sm_90a'
    CUTLASS_ARCH=native cute-ptx k.mlir | grep -q '^.target sm_90a'
    cute-ptx -arch sm_80 k.mlir | cute-link -arch native -o k.cubin
    [ "$(cute-dump --json k.cubin | jq -r .arch)" = sm_90a ]
}

@test "variables of Python packages alone are told to have no effect" {
    for name in CUTLASS_ENABLE_TVM_FFI CUTE_DSL_ENABLE_TVM_FFI; do
        env $name=1 cute-ptx k.mlir 2>err >k.ptx
        grep -q "warning: $name has no effect" err
        env $name=0 cute-ptx k.mlir 2>err >k.ptx
        [ ! -s err ]
    done
}

@test "the log says more with each level, by option or variable" {
    cute-ptx k.mlir -o k.ptx 2>err
    [ ! -s err ]
    cute-link --log-level=info k.ptx -o k.cubin 2>err
    grep -q '^cute-link: info: runs .*ptxas' err
    grep -qE "^cute-link: info: '.*ptxas' took [0-9.]+ ms, exit code 0" err
    ! grep -q debug: err || false
    cute-link --log-level=debug k.ptx -o k.cubin 2>err
    grep -q '^cute-link: debug: reads k.ptx' err
    grep -q '^cute-link: debug: writes k.cubin' err
    for name in CUTE_LOG_LEVEL CUTLASS_LOG_LEVEL CUTE_DSL_LOG_LEVEL; do
        env $name=10 cute-link k.ptx -o k.cubin 2>err
        grep -q 'debug: reads' err
        env $name=20 cute-link k.ptx -o k.cubin 2>err
        grep -q 'info: runs' err
        env $name=debug cute-link --log-level=warning k.ptx -o k.cubin 2>err
        [ ! -s err ]
        run -2 env $name=loud cute-link k.ptx -o k.cubin
        [[ $output == *"$name expects error, warning, info, debug or 0 to 50, got 'loud'"* ]]
    done
    # as Python's logging spells them
    CUTLASS_LOG_LEVEL=DEBUG cute-link k.ptx -o k.cubin 2>err
    grep -q 'debug: reads' err
    run -2 cute-link --log-level=60 k.ptx -o k.cubin
    [[ $output == *"'--log-level' expects"*"got '60'"* ]]
    # the cache
    CUTE_CACHE=$PWD/cache cute-ptx --log-level=info k.mlir 2>err >k.ptx
    grep -q 'info: not in the cache' err
    CUTE_CACHE=$PWD/cache cute-ptx --log-level=info k.mlir 2>err >k.ptx
    grep -q 'info: found in the cache' err
}

@test "with --log-level=error warnings are left out, errors and their notes are not" {
    CUTLASS_ENABLE_TVM_FFI=1 cute-ptx --log-level=error k.mlir 2>err >k.ptx
    [ ! -s err ]
    run -2 cute-ptx --log-level=error -arch sm_91 k.mlir
    [[ $output == *"error: unknown architecture"*"note: known"* ]]
}

@test "PTX and cubin are kept under the names of function and architecture" {
    for made in "CUTLASS_DUMP_DIR CUTLASS_KEEP_PTX CUTLASS_KEEP_CUBIN" "CUTE_DSL_DUMP_DIR CUTE_DSL_KEEP_PTX CUTE_DSL_KEEP_CUBIN"; do
        read -r dir ptx cubin <<<"$made"
        rm -rf kept
        env $dir=kept $ptx=1 $cubin=1 sh -c 'cute-ptx -arch sm_90 k.mlir | cute-link >k.cubin'
        [ "$(ls kept | tr '\n' ' ')" = "k.sm_90.cubin k.sm_90.ptx " ]
        cmp kept/k.sm_90.cubin k.cubin
        grep -q '^.target sm_90' kept/k.sm_90.ptx
    done
    for name in CUTLASS_KEEP_IR CUTE_DSL_KEEP_IR; do
        env $name=1 cute-ptx -arch sm_80 --dump-dir=ir k.mlir -o k.ptx
        cmp ir/k.sm_80.mlir k.mlir
        rm -r ir
    done
    cute-ptx --gpu-arch=sm_80 --keep-ptx --dump-dir=a/b k.mlir -o k.ptx
    cmp a/b/k.sm_80.ptx k.ptx
    CUTLASS_KEEP_PTX=1 cute-ptx --keep-ptx=0 --dump-dir=none k.mlir -o k.ptx
    [ ! -e none ]
}

@test "options of the whole pipe: the string of cute.compile, each part to the program that has it" {
    cute-ptx --opt-level=3 --gpu-arch=sm_90 --keep-ptx -lineinfo k.mlir |
        cute-link --opt-level=3 --gpu-arch=sm_90 --keep-cubin -lineinfo --ptxas-options="-v" >k.cubin 2>err
    [ "$(ls k.sm_90.* | tr '\n' ' ')" = "k.sm_90.cubin k.sm_90.ptx " ]
    cmp k.sm_90.cubin k.cubin
    grep -q 'Used [0-9]* registers' err
    cute-dump lines k.cubin | grep -q k.mlir:9
    run -2 cute-ptx --keep-cubin k.mlir
    [[ $output == *"unknown option '--keep-cubin'"*"it is an option of cute-link"* ]]
    run -2 cute-link --keep-ptx k.cubin
    [[ $output == *"unknown option '--keep-ptx'"*"it is an option of cute-ptx"* ]]
}

@test "the hook after a compilation gets the file, the kernels and the architecture; its failure is ours" {
    printf '#!/bin/sh\necho "$CUTE_OUTPUT $CUTE_KERNELS $CUTE_ARCH $CUTE_KIND"; exit ${CODE:-0}\n' >hook
    chmod +x hook
    cute-ptx -arch sm_80 --post-compile=./hook k.mlir -o k.ptx 2>err
    grep -qx 'k.ptx k sm_80 ptx' err
    CUTE_POST_COMPILE=./hook cute-link k.ptx 2>err >k.cubin
    grep -qx './k.sm_80.cubin k sm_80 cubin' err
    cmp k.cubin k.sm_80.cubin
    run -3 env CODE=4 cute-link --post-compile=./hook k.ptx -o k.cubin
    [[ $output == *"failed with exit code 4"* ]]
}
