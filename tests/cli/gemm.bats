#!/usr/bin/env bats
# cute-run --gemm: products of any shape, type and layout, checked against sums in double, on the emulator.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
    export XDG_CACHE_HOME="$BATS_FILE_TMPDIR/cache"
    unset CUTE_CACHE
}

gemm() { timeout 100 cute-run --device emulator --gemm "$@"; }

@test "all layouts of A, B and D, with and without room for copies of 16 bytes" {
    for layout in tn nn nt tt tnn nnn ntn ttn; do
        gemm 40x72x48 --layout $layout
        gemm 33x37x41 --layout $layout
    done
}

@test "all types, and D of others" {
    for type in f16 tf32 f32 e4m3 e5m2 i8; do
        gemm 40x72x48 --dtype $type
        gemm 33x37x41 --dtype $type --layout ntn
    done
    gemm 40x72x48 --dtype bf16 --dtype-d f32
    gemm 40x72x48 --dtype e5m2 --dtype-d bf16 --layout nn
    gemm 40x72x48 --dtype f16 --dtype-d e4m3
    gemm 33x37x41 --dtype i8 --dtype-d f32 --alpha 0.01
}

@test "one element, one row, one column, a long k" {
    gemm 1x1x1
    gemm 1x130x7 --dtype i8
    gemm 130x1x7 --dtype f16 --layout nt
    gemm 3x5x1000 --dtype tf32
}

@test "alpha, beta, bias, relu and gelu" {
    gemm 40x72x48 --bias --relu
    gemm 40x72x48 --bias --gelu --alpha 0.5 --beta 2
    gemm 40x72x48 --beta=-1.5 --layout tnn
    gemm 33x37x41 --dtype i8 --beta 2 --alpha 3 --bias --relu
    gemm 40x72x48 --dtype i8 --dtype-d f16 --alpha 0.001 --gelu
    gemm 33x37x41 --dtype f32 --alpha 0
}

@test "Hopper's kernel with every configuration, by rows and columns, whole and odd" {
    for tile in 128x256:4:2x1:0 128x256:4:1x1:0 128x176:5:1x2:1 128x128:6:1x1:0 128x64:8:1x1:0; do
        gemm 136x280x200 --sms 4 --configuration sm90:$tile
        gemm 136x280x200 --sms 4 --configuration sm90:$tile --dtype f16 --layout nt --dtype-d f32
        gemm 133x77x65 --sms 4 --configuration sm90:$tile --layout ttn --bias --gelu
    done
    for type in tf32 i8 e4m3 e5m2; do
        gemm 136x280x208 --sms 4 --configuration sm90:128x256:4:2x1:0 --dtype $type
        gemm 133x77x65 --sms 4 --configuration sm90:128x128:6:1x1:0 --dtype $type --layout nt
    done
    gemm 200x264x72 --sms 4 --batch 2 --configuration sm90:128x256:4:2x1:0 --check=all
    # large products get it, and only on that chip
    cute-run --gemm 4096x4096x4096 -n --device emulator --json | jq -e '.gemm.kernel == "product" and .gemm.tile == [128, 256, 64]'
}

@test "a last wave that is not full is shared out by k: parts of its tiles, or of those of two waves" {
    for sharing in tail k; do
        way="sm90:128x256:4:2x1:0:$sharing"
        # tiles of a cluster: 9 on 2, 4, 5 and 7 clusters, 2 and 1 on more, 20 on 3
        for sms in 4 8 10 14; do gemm 600x528x656 --sms $sms --configuration $way --check=race,barrier,memory,uninit; done
        gemm 200x272x2064 --sms 14 --configuration $way
        gemm 40x40x4096 --sms 26 --configuration $way --bias --gelu
        gemm 1032x1040x200 --sms 6 --configuration $way --beta 2 --alpha 0.5 --bias --relu
        for type in f16 tf32 i8 e4m3; do gemm 600x528x656 --sms 8 --dtype $type --configuration $way; done
        gemm 600x528x656 --sms 8 --layout nt --configuration $way --dtype-d f32
        gemm 300x264x1040 --sms 8 --batch 2 --configuration $way
        # one k-tile for several clusters
        gemm 600x528x48 --sms 8 --configuration $way
    done
    # sums of parts are in a workspace, which holds anything before
    gemm 600x528x656 --sms 8 --configuration $way --json | jq -e '.gemm.workspace > 8 * 128 * 256 * 4'
    # chosen where two waves and a half are three without it
    cute-run --gemm 1024x10240x8192 -n --device emulator --json | jq -e '.gemm.configuration | endswith(":tail")'
    cute-run --gemm 8192x8192x8192 -n --device emulator --json | jq -e '.gemm.configuration | endswith(":k")'
    cute-run --gemm 4096x4096x4096 -n --device emulator --json | jq -e '.gemm.configuration == "sm90:128x256:4:2x1:0"'
}

@test "the workspace is the sum of the launch plan's temporaries: of packed operands, sums, parts of k, and none" {
    sum='[.temporaries[]?.bytes | (. + 255) / 256 | floor * 256] | add // 0'
    named='[.temporaries[]?.name]'
    gemm 136x280x201 --sms 4 --configuration sm90:128x256:4:2x1:0 --json > packed.json
    jq -e "(.gemm.packs_a or .gemm.packs_b) and ($named | any(startswith(\"temporary 'packed_\")))" packed.json
    gemm 600x528x656 --sms 8 --configuration sm90:128x256:4:2x1:0:tail --json > parts.json
    jq -e "$named | length > 1 and all(contains(\"of plan 'product'\"))" parts.json
    gemm 136x280x208 --sms 4 --configuration sm90:128x256:4:2x1:0 --bias --dtype i8 --batch 2 --json > sums.json
    jq -e "$named | contains([\"temporary 'sums'\"])" sums.json
    gemm 136x280x200 --sms 4 --configuration sm90:128x256:4:2x1:0 --json > plain.json
    jq -e '.gemm.workspace == 0 and (.temporaries | not)' plain.json
    for product in packed parts sums plain; do
        jq -e ".gemm.workspace == ($sum)" $product.json
        jq -e '[.buffers[].name] - ["A", "B", "C", "D", "bias"] == []' $product.json
    done
}

@test "Hopper's kernel makes D of its sums, with alpha, beta, bias and activation" {
    for tile in 128x256:4:2x1:0 128x176:5:1x2:1 128x128:6:1x1:0; do
        gemm 136x280x200 --sms 4 --configuration sm90:$tile --bias --gelu --alpha 0.5 --json | jq -e '.gemm.fused and (.gemm.epilogue | not) and .gemm.workspace == 0'
        gemm 136x280x200 --sms 4 --configuration sm90:$tile --bias --relu --alpha=-1 --layout tnn
    done
    gemm 136x280x200 --sms 4 --configuration sm90:128x256:4:2x1:0 --beta 2
    gemm 136x280x200 --sms 4 --configuration sm90:128x256:4:1x1:0 --beta=-0.5 --bias --gelu --dtype f16 --layout nt --dtype-d f32 --check=all
    gemm 520x400x200 --sms 4 --configuration sm90:128x176:5:1x2:1 --beta 1 --gelu --bias --check=all
    gemm 520x400x72 --sms 2 --configuration sm90:128x192:4:2x1:1 --beta=-2 --bias --layout tnn --dtype f16 --check=all
    gemm 136x280x208 --sms 4 --configuration sm90:128x128:6:1x1:0 --beta 1 --bias --relu --dtype tf32 --layout tnn
    gemm 136x280x208 --sms 4 --configuration sm90:128x256:4:2x1:0 --bias --gelu --dtype e4m3 --dtype-d bf16 --batch 2
    gemm 136x280x208 --sms 4 --configuration sm90:128x256:4:2x1:0 --bias --alpha 0.01 --dtype i8 --dtype-d f16 --json | jq -e .gemm.fused
    # what it does not do a step does
    gemm 136x280x208 --sms 4 --configuration sm90:128x256:4:2x1:0 --bias --dtype i8 --json | jq -e '.gemm.epilogue and (.gemm.fused | not)'
    gemm 136x280x200,64x512x72 --sms 4 --configuration sm90:128x256:4:2x1:0 --bias --gelu --beta 1 --json | jq -e .gemm.fused
}

@test "sums of 8-bit floats are f32 where they are asked for, and then exacter" {
    gemm 24x40x4096 --sms 4 --dtype e4m3 --configuration sm90:128x128:6:1x1:0 --json > fast.json
    gemm 24x40x4096 --sms 4 --dtype e4m3 --configuration sm90:128x128:6:1x1:0:f32 --accumulate f32 --json > exact.json
    jq -e -s '.[0].checks[0].max_abs.value > 8 * .[1].checks[0].max_abs.value' fast.json exact.json
    jq -e '.gemm.problems[0].accumulate == "f32"' exact.json
    jq -e '.gemm.problems[0].accumulate == "fast"' fast.json
    gemm 133x77x144 --sms 4 --dtype e5m2 --accumulate f32 --configuration sm90:128x128:6:2x1:0:f32 --bias --gelu --beta 1 --check=all
    gemm 133x77x65 --sms 4 --dtype e4m3 --accumulate f32 --configuration sm90:128x64:8:1x1:0:f32 --layout nt
    gemm 33x37x41 --dtype e4m3 --accumulate f32
    run -2 gemm 40x72x48 --dtype e4m3 --accumulate f16
    [[ "$output" == *"expected f32 or fast as the accumulator of e4m3, got 'f16'"* ]]
    run -2 gemm 40x72x48 --accumulate fast
    [[ "$output" == *"expected f32 as the accumulator of bf16, got 'fast'"* ]]
    run -2 gemm 40x72x48 --dtype e4m3 --configuration sm90:128x128:6:1x1:0:f32
    run -2 cute-run --accumulate fast
}

@test "products with a short side, K divided among blocks: layouts, types, epilogues, odd sizes, batches, groups" {
    gemm 16x1024x512 --sms 8 --json | jq -e '.gemm.kernel == "product" and .gemm.swapped and .gemm.split >= 1'
    for tile in 64x8:128:10:2x1:2 64x16:256:5:2x1:2 64x16:128:5:4x1:4 64x64:128:4:2x2:3 128x64:128:9:1x2:1; do
        gemm 19x133x264 --sms 4 --configuration split:$tile --bias --gelu --beta 2 --alpha 0.5
        gemm 133x19x264 --sms 4 --configuration split:$tile --layout tnn --bias --relu
    done
    for layout in nn nt tt ttn; do
        gemm 24x136x200 --sms 4 --configuration split:64x64:128:6:2x1:2 --layout $layout --bias
        gemm 13x77x65 --sms 4 --configuration split:64x16:128:7:2x1:3 --layout $layout --beta 1
    done
    for type in tf32 i8 e4m3 e5m2; do
        gemm 24x136x1040 --sms 4 --configuration split:64x32:128:8:2x1:2 --dtype $type --bias --beta 2 --relu
        gemm 13x77x65 --sms 4 --configuration split:64x16:128:7:2x1:3 --dtype $type --layout nt
    done
    gemm 24x136x200 --sms 4 --configuration split:64x16:128:7:2x1:3 --dtype f16 --dtype-d e4m3 --bias
    gemm 24x136x200 --sms 4 --configuration split:64x16:128:7:2x1:3 --dtype i8 --dtype-d bf16 --alpha 0.01
    gemm 13x77x72 --sms 4 --configuration split:64x16:128:7:2x1:3 --batch 3 --bias --check=all
    gemm 13x77x72,1x1x8,40x8x264 --sms 4 --configuration split:64x16:128:7:2x1:3 --beta 1 --gelu --check=all
}

@test "batches and groups" {
    gemm 40x72x48 --batch 3
    gemm 33x35x41 --batch 3 --bias --beta 1 --layout nt
    gemm 40x72x48,16x16x16,128x64x96
    gemm 33x35x41,1x1x1,7x200x3 --bias --relu --beta 1
}

@test "the checks of the emulator find nothing in the kernels and steps" {
    gemm 72x40x80 --check=all
    gemm 33x37x41 --check=all --layout nt --dtype i8 --bias --beta 1
    gemm 33x37x41 --check=all --dtype f32 --layout nnn
}

@test "what is wrong with the product is said" {
    run -2 gemm 40x72
    [[ "$output" == *"--gemm expects a shape MxNxK such as 4096x4096x64, got '40x72'"* ]]
    run -2 gemm 40x72x0
    run -2 gemm 40x72x48,
    run -2 gemm 99999999999999999999x1x1
    run -2 gemm 4294967296x1x1
    [[ "$output" == *"expected m, n and k from 1 to 2147483647"* ]]
    run -2 gemm 40x72x48 --dtype bf17
    [[ "$output" == *"got 'bf17'; did you mean 'bf16'?"* ]]
    run -2 gemm 40x72x48 --dtype-d i8
    [[ "$output" == *"expected f32, f16, bf16, e4m3 or e5m2 as the type of D, got 'i8'"* ]]
    run -2 gemm 40x72x48 --layout tx
    [[ "$output" == *"--layout expects tn, nn, nt or tt"* ]]
    run -2 gemm 40x72x48 --alpha x
    [[ "$output" == *"--alpha expects a number, got 'x'"* ]]
    run -2 gemm 40x72x48 --beta inf
    [[ "$output" == *"expected finite alpha and beta, got 1 and inf"* ]]
    run -2 gemm 40x72x48 --align 3
    [[ "$output" == *"expected a power of two as the alignment, got 3"* ]]
    run -2 gemm 40x72x48 --relu --gelu
    run -2 gemm 40x72x48 --dtype i8 --gelu
    [[ "$output" == *"expected D of a floating-point type for gelu, got i32"* ]]
    run -2 gemm 40x72x48 --dtype i8 --alpha 0.5
    [[ "$output" == *"expected integer alpha and beta for D of i32, got 0.5 and 0"* ]]
    run -2 gemm 40x72x48 --batch 70000
    [[ "$output" == *"expected a batch of 1 to 65535, got 70000"* ]]
    run -2 gemm 40x72x48 --configuration sm80:64x64:64:4
    [[ "$output" == *"did you mean 'sm80:64x64:64:3'?"* ]]
    run -2 gemm 40x72x48 k.cubin
    [[ "$output" == *"'k.cubin' cannot be combined with --gemm"* ]]
    run -2 cute-run --dtype f16
    [[ "$output" == *"--dtype requires --gemm"* ]]
}

@test "a configuration by name, and what is said of it" {
    gemm 40x72x48 --configuration sm80:128x128:128:3 --json > out.json
    jq -e '.gemm.configuration == "sm80:128x128:128:3" and .gemm.tile == [128, 128, 64] and .gemm.chosen == "estimated"' out.json
    jq -e '.checks[0].ok and .checks[0].compared == 2880' out.json
    gemm 40x72x48 --align 2 --json > out.json
    jq -e '.gemm.configuration | endswith(":narrow")' out.json
}

@test "what --tune found is remembered for that product on that device, and of the emulator is not called measured" {
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/own"
    gemm 48x40x24 --tune > out.txt
    grep -q '; the fastest on the emulator, not measured on a GPU$' out.txt
    gemm 48x40x24 --tune --json > out.json
    jq -e '.gemm.chosen == "emulated"' out.json
    gemm 48x40x24 --json | jq -e '.gemm.chosen == "emulated"'
    gemm 48x40x32 --json | jq -e '.gemm.chosen == "estimated"'
    gemm 48x40x24 --json --sms 7 | jq -e '.gemm.chosen == "estimated"'
    # damaged entries are as good as none
    for f in own/libcute/*; do printf 'x' | dd of="$f" bs=1 seek=60 conv=notrunc status=none; done
    gemm 48x40x24 --json | jq -e '.gemm.chosen == "estimated"'
    for f in own/libcute/*; do truncate -s 20 "$f"; done
    gemm 48x40x24 --json | jq -e '.gemm.chosen == "estimated"'
    cute-run --cache-clear | grep -q 'entries removed from .*own/libcute'
    [ -z "$(ls own/libcute)" ]
}

@test "a cache that can't be written is none" {
    touch file
    XDG_CACHE_HOME=$PWD/file gemm 16x16x16
    CUTE_CACHE=/proc/nowhere gemm 16x16x16
    HOME='' XDG_CACHE_HOME='' gemm 16x16x16
}

@test "kernels are compiled once" {
    export CUTE_CACHE="$BATS_TEST_TMPDIR/once"
    gemm 16x16x16
    n=$(ls once | wc -l)
    mkdir bin
    ln -s "$(command -v cute-run)" bin/
    gemm 24x24x24
    [ "$(ls once | wc -l)" -eq "$n" ]
}

# A stand-in for the driver that knows this kernel, and one for cuBLASLt (tests/data).
fake() {
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" CUTE_LIBCUBLASLT="$CUTE_BIN/../tests/libfakecublas.so"
    timeout 100 cute-run --gemm "$@"
}

@test "on a GPU it is timed, beside cuBLASLt in turns, with L2 warm or cold" {
    fake 40x24x16 --dtype f32 --json > out.json
    jq -e '.checks[0].ok and .bench.kernel.flops == 2 * 40 * 24 * 16 and .bench.cache == "warm" and (.bench.baselines | length == 0)' out.json
    fake 40x24x16 --dtype f32 --vs cublas --json > out.json
    jq -e '.bench.baselines[0] | .name == "cuBLASLt" and .flops == 2 * 40 * 24 * 16 and .ratio > 0 and .samples == 50' out.json
    fake 40x24x16 --dtype f32 --vs cublas --l2 cold > out
    grep -q 'bench: L2 cold' out
    grep -q '^cuBLASLt .*kernel at .*% of this' out
}

@test "what ptxas makes of Hopper's kernel and the steps around it has setmaxnreg, and nothing to complain of" {
    fake 512x512x512 -n --configuration sm90:128x256:4:2x1:0 --bias --gelu --dtype e4m3 --layout nt 2> stderr > out
    grep -q 'A copied first, B copied first, fused epilogue' out
    [ ! -s stderr ]
    fake 512x512x512 -n --configuration sm90:128x176:5:1x2:1 2> stderr > out
    [ ! -s stderr ]
    # nor do registers spill, whatever the epilogue
    for options in '--beta 1 --bias --gelu' '--beta 1 --bias --gelu --layout tnn' '--beta 1 --bias --gelu --dtype-d f32'; do
        fake 512x512x512 -n --configuration sm90:128x256:4:2x1:0 $options 2> stderr > out
        [ ! -s stderr ]
    done
    for sharing in tail k; do
        fake 512x512x512 -n --configuration sm90:128x256:4:2x1:0:$sharing --beta 1 --bias --gelu 2> stderr > out
        [ ! -s stderr ]
    done
    fake 512x512x512 -n --configuration sm90:128x192:4:2x1:1 --beta 1 --bias --gelu 2> stderr > out
    [ ! -s stderr ]
    fake 512x512x512 -n --configuration sm90:128x176:5:1x2:1 --beta 1 --bias --gelu --dtype-d f32 2> stderr > out
    [ ! -s stderr ]
    fake 512x512x512 -n --configuration sm90:128x128:6:2x1:0:f32 --accumulate f32 --dtype e4m3 --dtype-d bf16 --beta 1 --bias --gelu 2> stderr > out
    [ ! -s stderr ]
    fake 64x512x512 -n --configuration split:64x64:128:4:2x2:3 --beta 1 --bias --gelu 2> stderr > out
    [ ! -s stderr ]
}

@test "ratios that bench/gemm/shapes kept are drawn: a dot a product, sets with their means" {
    shapes="$BATS_TEST_DIRNAME/../../bench/gemm/shapes"
    cat > kept.csv <<'CSV'
set,dtype,m,n,k,options,configuration,ours_tflops,cublas_tflops,ratio
square,bf16,4096,4096,4096,,sm90:128x256:4:2x1:0,800,400,2
square,bf16,2048,2048,2048,,sm90:128x256:4:2x1:0,100,200,0.5
epilogues,bf16,64,4096,14336,--bias --gelu,split:64x64:128:6:2x1:2,90,100,0.9
CSV
    "$shapes" --from=kept.csv --plot=out.svg
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("out.svg")'
    [ "$(grep -c '<circle' out.svg)" -eq 3 ]
    grep -q 'square: geometric mean 1.000' out.svg
    grep -q 'epilogues: geometric mean 0.900' out.svg
    grep -q 'bf16 64x4096x14336 --bias --gelu' out.svg
}

@test "configurations are measured on a GPU, too" {
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/own"
    fake 40x24x16 --dtype f32 --tune --json > out.json
    jq -e '.gemm.chosen == "measured" and .checks[0].ok' out.json
    fake 40x24x16 --dtype f32 --json | jq -e '.gemm.chosen == "measured"'
}

@test "without cuBLASLt, an algorithm of it or a GPU, --vs says so" {
    CUTE_LIBCUBLASLT=/nowhere/libcublasLt.so
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" CUTE_LIBCUBLASLT
    run -3 cute-run --gemm 40x24x16 --dtype f32 --vs cublas
    [[ "$output" == *"cuBLASLt not found: cannot open /nowhere/libcublasLt.so"* ]]
    FAKECUBLAS=none run -1 fake 40x24x16 --dtype f32 --vs cublas
    [[ "$output" == *"cuBLASLt has no algorithm for this product"* ]]
    run -2 gemm 40x24x16 --vs cublas
    [[ "$output" == *"--vs=cublas requires a GPU"* ]]
    run -2 gemm 40x24x16 --vs magma
    [[ "$output" == *"--vs expects cublas, got 'magma'"* ]]
    run -2 gemm 40x24x16,8x8x8 --vs cublas
    [[ "$output" == *"--vs expects one GEMM, got a group of 2"* ]]
    run -2 gemm 40x24x16 --l2 hot
}

@test "a product by cuBLASLt is a baseline of any launch.json" {
    fake 8x8x8 --dtype f32 --no-bench >/dev/null
    cat > k.mlir <<'MLIR'
gpu.module @m {
  gpu.func @no_arguments() kernel attributes {nvvm.reqntid = array<i32: 1, 1, 1>} { gpu.return }
}
MLIR
    cute-ptx k.mlir -arch sm_90a -o k.ptx
    config() {
        echo '{"grid": 1, "block": 1, "buffers": {"a": {"dtype": "f32", "shape": [4, 3], "init": "ones"},
            "b": {"dtype": "f32", "shape": [3, 5], "init": "ones"}, "d": {"dtype": "f32", "shape": [4, 5], "init": "ones"},
            "v": {"dtype": "f32", "shape": [5], "init": "ones"}, "x": {"dtype": "f32", "shape": [4, 5], "strides": [20, 3], "init": "ones"}},
            "args": [], "bench": {"samples": 3, "baselines": [{"cublas": {'"$1"'}}]}}' > k.json
    }
    config '"a": "a", "b": "b", "d": "d", "bias": "v", "activation": "relu"'
    cute-run k.ptx --config k.json --bench --json | jq -e '.bench.baselines[0].name == "cuBLASLt"'
    for wrong in '"a": "b", "b": "a", "d": "d"|mismatched shapes of the buffers' '"a": "a", "b": "b", "d": "x"|expected contiguous rows or columns' \
        '"a": "a", "b": "b", "d": "v"|a matrix or a batch' '"a": "a", "b": "b", "d": "d", "beta": 1|expected '"'c'" \
        '"a": "a", "b": "b", "d": "d", "bias": "a"|expected a contiguous vector as the bias' '"a": "a", "b": "b"|' '"a": "q", "b": "b", "d": "d"|unknown buffer '"'q'"; do
        config "${wrong%|*}"
        run -1 cute-run k.ptx --config k.json --bench
        [[ "$output" == *"${wrong#*|}"* ]]
    done
}
