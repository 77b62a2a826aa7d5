#!/usr/bin/env bats
# Epilogues of products as expressions: cute-run --gemm --epilogue, cute-dump evt, their errors, and random trees against NumPy.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
}

# right SIZE TYPE EXPRESSION OPTIONS...: runs on the emulator with all checks, and results are those of the check.
right() {
    run cute-run --device emulator --check=all --strict --gemm "$1" --dtype "$2" --epilogue "$3" "${@:4}"
    [ "$status" -eq 0 ] || { echo "$3: $output"; return 1; }
}

# wrong PLACE MESSAGE EXPRESSION: the message is at line:column and has a caret.
wrong() {
    run -1 cute-dump evt --gemm 96x64x64 "$3"
    [[ $output == *"<epilogue>:$1: error: "*"$2"* && $output == *"^"* ]] || { echo "$3: $output"; return 1; }
}

@test "several results, broadcasts, auxiliary matrices and scalars" {
    right 100x72x40 bf16 'z = alpha * acc + bias[j]; D = gelu(z); aux Z = z' --alpha=0.5
    right 100x72x40 f16 'D = relu(s * acc + t * C[i,j] + a[i]); aux Z:f32 = acc' -Ds=2 -Dt=-1
    right 70x32x64 e4m3 'D = acc * sa[i]:f32 * sb[j]:f32' --dtype-d bf16
}

@test "gating of interleaved columns, and interleaved results" {
    right 100x136x40 bf16 'silu(acc[:, 0::2]) * acc[:, 1::2]'
    right 64x64x40 bf16 'interleave(acc, relu(acc))'
}

@test "reductions along rows, columns and of all, in a fixed order" {
    right 200x136x40 bf16 'D = acc; colsum[j] = sum(acc, 0); r[i] = mean(acc, 1); amax = max(abs(D)); low = min(acc)'
    right 130x96x32 f16 'g = acc * dgelu_tanh(Z[i,j]); D = g; bgrad[j] = sum(g, 0)'
}

@test "norms of rows are in the product's kernel where a tile or a cluster has whole rows" {
    right 100x64x64 bf16 'D = acc * rsqrt(mean(acc * acc, 1) + 1e-5) * w[j]'
    right 100x512x64 bf16 'D = acc * rsqrt(mean(acc * acc, 1) + 1e-5) * w[j]'
    [[ $output != *"second kernel"* && $output == *"cluster "* ]]
    right 70x1000x40 bf16 'm = mean(acc, 1); v = mean((acc - m) ** 2, 1); D = (acc - m) * rsqrt(v + 1e-5) * w[j] + b[j]; s[i] = v' --configuration=sm90:128x256:4:1x1:0
    right 70x1000x40 f16 'e = exp(acc - max(acc, 1)); D = e / sum(e, 1); c[j] = sum(acc, 0)' --configuration=sm90:128x128:6:1x1:0
    right 40x2048x64 e4m3 'D:bf16 = acc * rsqrt(mean(acc * acc, 1) + 1e-5)'
    [[ $output != *"second kernel"* && $output == *"cluster 8x1x1"* ]]
}

@test "norms of rows that no cluster has are in a second kernel, and a remark says so" {
    right 40x640x64 bf16 'D = acc * rsqrt(mean(acc * acc, 1) + 1e-5) * w[j]' --configuration=sm90:128x64:8:1x1:0
    [[ $output == *"computed in a second kernel from matrices in temporaries: it needs a reduction of more than one cluster of 128 x 512"* ]]
    right 40x200x64 bf16 'D = acc * rsqrt(mean(acc * acc, 1) + 1e-5) * w[j]' --configuration=sm80:64x64:128:3
    [[ $output == *"it needs a reduction of more than one tile of 64 x 64"* ]]
}

@test "sums of values that need whole rows are checked in samples" {
    right 70x1500x40 f16 'e = exp(acc - max(acc, 1)); D = e / sum(e, 1); c[j] = sum(D, 0)' --configuration=sm90:128x256:4:1x1:0
    [[ $output == *"check c: passed, 4 elements"* ]]
}

@test "a program for whole rows of a cluster is not launched with more columns" {
    cute-dump evt --emit=mlir --gemm 256x512x64 --dtype f16 --configuration=sm90:128x128:6:1x1:0 'acc / sum(acc, 1)' >p.mlir
    cute-dump evt --emit=launch --gemm 256x512x64 --dtype f16 --configuration=sm90:128x128:6:1x1:0 'acc / sum(acc, 1)' |
        jq ".buffers.B.shape = [64, 1024] | .buffers.D.shape = [256, 1024] | .plan[].args |= (.B.shape[0] = 1024 | .D.shape[1] = 1024 | .D.strides[0] = 1024) | del(.check)" >launch.json
    run -1 cute-run p.mlir --config launch.json --device emulator
    [[ $output == *"expected at most 512 elements in mode 1 of the tensor: the kernel has one cluster there"* ]]
}

@test "a batch: operands of each product or shared, and results of each product" {
    right 100x72x40 bf16 'z = alpha * acc + bias[l,j] + s[i]; D = gelu(z) * t[l]:f32; aux Z = z' --batch=3 --alpha=0.5
    [[ $output == *"product: grid 12x1x1"* ]] # one launch
    right 200x136x40 bf16 'D = acc + C[l,i,j] * E[i,j]; colsum[l,j] = sum(acc, 0); r[i] = mean(acc, 1); amax = max(abs(D))' --batch=2
    right 40x520x40 f16 'e = exp(acc - max(acc, 1)); D = e / sum(e, 1) * g[l,j]' --configuration=sm90:128x128:6:1x1:0 --batch=2
    [[ $output != *"second kernel"* ]]
    right 20x1100x40 f16 'e = exp(acc - max(acc, 1)); D = e / sum(e, 1)' --configuration=sm90:128x128:6:1x1:0 --batch=2
    [[ $output == *"second kernel"* ]]
    right 33x37x23 bf16 'D = silu(acc + bias[l,j]); aux T[l,j,i] = acc' --batch=2
}

@test "a batch whose operands are copied has a launch for each product" {
    right 33x48x32 e4m3 'D = silu(acc + bias[l,j]:f16); aux T[l,j,i] = acc' --batch=2 --layout=nn
    [ "$(grep -c '^gemm_pack: ' <<<"$output")" = 2 ]
}

@test "the largest values of a row, and their softmax" {
    right 100x64x64 bf16 't = kth(acc, 2); e = where(acc >= t, exp(acc - max(acc, 1)), 0); D:f32 = e / sum(e, 1)'
    [[ $output != *"second kernel"* ]]
    right 70x200x32 f16 'where(acc >= kth(acc, 3), acc, 0)'
    [[ $output != *"second kernel"* ]]
}

@test "scales of blocks of columns" {
    right 100x128x64 e4m3 's = amax(acc, 1, 32) / 448; aux S:f32 = s; D = acc / repeat(s, 32)' --dtype-d e4m3
}

@test "bits of a mask are packed in bytes, and read again by a derivative" {
    right 100x128x64 bf16 'z = acc + bias[j]; D = relu(z); aux M:i8 = pack(z > 0)'
    right 70x200x32 f16 'g = acc * unpack(M[i,j]:i8); D = g; bgrad[j] = sum(g, 0)'
    right 33x16x24 e4m3 'where(unpack(M[l,i,j]:i8) > 0, acc, 0)' --batch=2
    right 64x64x32 f16 'D = acc; aux Q:i8 = round(minimum(maximum(acc, -2), 2))'
    # Bytes in another order of bits are found.
    cute-dump evt --gemm 128x128x64 --dtype f16 --emit=launch 'D = acc; aux M:i8 = pack(C[i,j] > 0)' >launch.json
    cute-dump evt --gemm 128x128x64 --dtype f16 --emit=mlir 'D = acc; aux M:i8 = pack(C[i,j] > 0)' >right.mlir
    sed 's/arith.constant dense<1> : tensor<1x/arith.constant dense<128> : tensor<1x/; s/arith.shli/arith.shrui/' right.mlir >wrong.mlir
    ! cmp -s right.mlir wrong.mlir
    run -0 cute-run --device emulator right.mlir --config launch.json
    run -4 cute-run --device emulator wrong.mlir --config launch.json
    [[ $output == *"check M: FAILED"* ]]
    wrong 1:32 "expected a comparison as the first operand of where, got a number" 'D = relu(acc); aux M:i8 = pack(acc * 2)'
    wrong 1:18 "expected a matrix of bytes, such as M[i,j]:i8, which has N/8 columns" 'D = acc * unpack(M[i,j])'
    wrong 1:18 "expected a matrix of bytes, such as M[i,j]:i8, which has N/8 columns" 'D = acc * unpack(M[j,i]:i8)'
    wrong 1:30 "'M' was read as a matrix of N columns before" 'D = acc + M[i,j]:i8 + unpack(M[i,j]:i8)'
    wrong 1:3 "expected f32, f16, bf16, e4m3, e5m2 or i8 as the type, got 'i32'" 'D:i32 = acc'
    run -1 cute-dump evt --gemm 64x60x64 'D = acc; aux M:i8 = pack(acc > 0)'
    [[ $output == *"expected N to be a multiple of 8, got 60"* ]]
}

# moved EXPRESSION VALUE OTHER: runs it on sums of 0.25 with the scalar t = VALUE, and checks it with t = OTHER.
moved() {
    cute-dump evt --gemm 24x64x16 --dtype f16 -D t="$2" --emit=launch "$1" >near.json
    cute-dump evt --gemm 24x64x16 --dtype f16 -D t="$2" --emit=mlir "$1" >near.mlir
    python3 - "$3" <<'PY'
import json, sys
with open("near.json") as f:
    launch = json.load(f)
launch["buffers"]["A"]["init"] = launch["buffers"]["B"]["init"] = 0.125
launch["params"]["t"] = float(sys.argv[1])
with open("near.json", "w") as f:
    json.dump(launch, f)
PY
    run cute-run --device emulator near.mlir --config near.json
}

@test "bits, choices and roundings within their error of a threshold are left out, and others are compared" {
    bits='D = acc; aux M:i8 = pack(acc > t)' choice='D = where(acc >= t, acc, 2)' rounded='D = acc; aux Q:i8 = acc * 2 + t'
    while read -r value other expected expression; do
        moved "${!expression}" "$value" "$other"
        case $expected in
        passed) [[ $status == 0 && $output != *"left out"* ]] ;;
        *_*) [[ $status == 0 && $output == *"; ${expected/_/ } left out, within rounding of a threshold"* ]] ;;
        *) [[ $status == 4 && $output == *"FAILED, $expected of $expected elements are wrong"* ]] ;;
        esac || { echo "$expression $value $other: $output"; false; }
    done <<'END'
0.25 0.25    passed        bits
0.25 0.24999 1536_bits     bits
0.25 0.2499  192           bits
0.25 0.25001 1536_elements choice
0.25 0.2501  1536          choice
0    0.00001 1536_elements rounded
0    0.01    1536          rounded
END
    # Of several ranks, whose sums have more errors.
    run -0 cute-run --device emulator --ranks 2 --split m --gemm 300x256x64 --dtype e4m3 --dtype-d f16 --epilogue 'D = acc; aux M:i8 = pack(acc > 0); aux Q:i8 = acc * 30'
    [[ $output == *" left out, within rounding of a threshold"* ]]
    run -0 cute-run --device emulator --gemm 64x64x32 --dtype i8 --dtype-d f16 --epilogue 'D = acc; aux M:i8 = pack(acc > 0)' --json
    [[ $output != *left_out* ]]
}

@test "a result of i8 is the nearest integer, and saturates" {
    right 33x40x64 f16 'D = acc; aux Q:i8 = acc * 100; aux R:i8 = acc'
    right 70x48x32 i8 'D:i8 = clip(acc * 0.5, -100, 100)'
    right 128x256x64 bf16 's = max(abs(acc), 1); D:i8 = acc / s * 127; scale[i] = s'
    right 65x37x33 e4m3 'D:i8 = acc * 40; r[j] = max(acc, 0)' --batch=3
    run -0 cute-run --device emulator --ranks 2 --split m --gemm 128x256x64 --dtype f16 --epilogue 'D:i8 = acc * 40'
    cute-dump evt --gemm 16x16x16 --dtype f16 --emit=launch 'D = acc; aux Q:i8 = acc * 100' >q.json
    cute-dump evt --gemm 16x16x16 --dtype f16 --emit=mlir 'D = acc; aux Q:i8 = acc * 100' >q.mlir
    python3 - <<'PY'
import json
with open("q.json") as f:
    launch = json.load(f)
launch["buffers"]["A"]["init"], launch["buffers"]["B"]["init"] = "iota", -0.0078125
launch["check"] = {"Q": {"expr": "max(-128, round(sum(k, 16, A[i,k]) * -0.78125))"}}
with open("q.json", "w") as f:
    json.dump(launch, f)
PY
    run -0 cute-run --device emulator q.mlir --config q.json
}

@test "operands by columns, any size, and a narrow alignment" {
    right 33x40x24 bf16 'z = acc + C[i,j]; D = z; m = max(z)' --layout nt
    right 33x37x23 bf16 'D = silu(acc + bias[j]); r[j] = max(acc, 0)'
}

@test "a wrong expression is refused with its place and a fix" {
    wrong 1:5 "unknown function 'geluu'; did you mean 'gelu'?" 'D = geluu(acc)'
    wrong 1:16 "expected the indices i, j, i,j or j,i, or l in front of them, got 'k'" 'D = acc + bias[k]'
    wrong 1:18 "expected the indices i, j, i,j or j,i, or l in front of them, got 'l'" 'D = acc + bias[j,l]'
    wrong 1:23 "'bias' has other indices than before" 'D = acc + bias[l,j] + bias[j]'
    wrong 1:1 "'l' has a meaning of its own" 'l = acc'
    wrong 1:10 "expected a value, got the end of the text" 'D = acc +'
    wrong 1:8 "expected every 2nd, 4th or 8th column" 'D = acc[:, 0::3]'
    wrong 1:5 "mismatched operands: expected shape M x N/2, got M x N" 'D = acc[:, 0::2] + acc'
    wrong 1:1 "use where(condition, 1, 0)" 'acc > 1'
    wrong 1:7 "expected a comparison as the first operand of where" 'where(acc, 1, 0)'
    wrong 1:10 "'D' is already defined" 'D = acc; D = acc'
    wrong 1:10 "expected the axis, a number from 0 to 1" 'sum(acc, 2)'
    wrong 1:16 "expected the level warp, block, cluster, device or devices, got 'system'" 'allreduce(acc, system)'
    wrong 1:5 "acc is partial sums elsewhere: expected all uses of acc in this collective" 'D = allreduce(acc, devices) + acc'
    wrong 1:1 "expected an operand in memory to broadcast between devices" 'broadcast(acc, devices)'
    wrong 1:5 "expected a result to gather between devices" 'D = all_gather(acc, devices) + C[i,j]'
    wrong 1:5 "expected acc, or a sum over rows that is a result, to reduce between devices" 'D = allreduce(acc * 2, devices)'
    wrong 1:9 "expected ')' behind an expression" 'D = (acc'
    wrong 1:5 "expected f32, f16, bf16, e4m3 or e5m2 as the type, got 'i8'" 'D = i8(acc)'
    wrong 1:1 "expected a value of shape M x 1, got 1 x N" 's[i] = sum(acc, 0)'
    wrong 1:1 "gelu expects 1 operand, got 2" 'gelu(acc, 2)'
    wrong 1:5 "'A' has a meaning of its own" 'aux A = acc'
    wrong 1:11 "the scalar 's' has no value" 'D = acc * s'
    wrong 1:1 "no derivative of 'clip' is known" 'grad(clip, acc)'
    wrong 1:1 "a vector or number of operands only" 'x[j] = bias[j]'
    wrong 1:18 "'bias' has other indices than before" 'D = acc ; bias + bias[j]'
    wrong 2:5 "unknown function 'sinn'" $'z = acc;\nD = sinn(z)'
}

@test "numbers and scalars are those of f32, and all are used" {
    wrong 1:11 "expected a number of f32, at most 3.4e+38, got '1e39'" 'D = acc * 1e39'
    wrong 1:11 "expected a number of f32, at most 3.4e+38, got '1e999'" 'D = acc * 1e999'
    wrong 1:10 "'D' is already defined: expected NAME = before another value" 'D = acc; max(acc)'
    for value in nan inf 1e39; do
        run -2 cute-run --device emulator --gemm 64x64x64 --epilogue 'D = x * acc' -D x=$value
        [[ $output == *"error: expected a number of f32, at most 3.4e+38, as 'x', got "* ]] || { echo "$output"; false; }
    done
    run -2 cute-run --device emulator --gemm 64x64x64 --epilogue 'D = acc' --beta 2
    [[ $output == *"error: the epilogue has no scalar 'beta': expected it in the expression"* ]]
    run -2 cute-run --device emulator --gemm 64x64x64 --epilogue 'D = acc' --alpha 2
    [[ $output == *"error: the epilogue has no scalar 'alpha': expected it in the expression"* ]]
}

@test "packed bits are of i8 unless another type is stated" {
    right 64x64x64 f16 'D = acc; aux M = pack(acc > 0)'
    right 64x64x64 f16 'D = pack(acc > 0)'
    right 64x64x64 f16 'D = acc; aux M:f32 = pack(acc > 0)'
    run -0 cute-dump evt 'D = acc; aux M = pack(acc > 0)'
    [[ $output == *"to M, M x N/8, i8"* ]]
}

@test "an epilogue excludes other parts of a problem" {
    run -2 cute-run --gemm 64x64x64 --epilogue 'relu(acc)' --bias --device emulator
    [[ $output == *"an epilogue expression and a bias are mutually exclusive"* ]]
    run -2 cute-run --gemm 64x64x64,64x64x64 --epilogue 'relu(acc)' --device emulator
    [[ $output == *"expected one product"* ]]
    run -2 cute-run --epilogue 'relu(acc)'
    [[ $output == *"--epilogue requires --gemm"* ]]
}

@test "--tune measures each tile with the epilogue, and its choice is of this expression" {
    export XDG_CACHE_HOME="$BATS_TEST_TMPDIR/own"
    text='D = relu(acc + bias[l,j] * s); r = sum(D, 1)'
    right 64x64x32 bf16 "$text" -Ds=2 --batch=2 --tune
    chosen=$(sed -n 's/^configuration \([^ ]*\): .*the fastest.*/\1/p' <<<"$output")
    [ -n "$chosen" ]
    right 64x64x32 bf16 "$text" -Ds=3 --batch=2
    [[ $output == *"configuration $chosen: "*"the fastest"* ]]
    right 64x64x32 bf16 'D = relu(acc + bias[l,j] * s)' -Ds=2 --batch=2
    [[ $output == *"; estimated"* ]]
}

@test "passes follow their dependencies, and their order is printed" {
    run -0 cute-dump evt --passes PassGetImpl,PassGradientAllReduce 'dgrad = acc * dsilu(Z[i,j]); D = dgrad'
    [[ $output == *"passes: PassShapeTypePropagation, PassFixElementD, PassCustomCommunication, PassGetImpl, PassGradientAllReduce"* ]]
    [[ $output == *"to dgrad_sum, 1 x N, f32"* ]]
    run -2 cute-dump evt --passes PassGetImp 'acc'
    [[ $output == *"unknown pass 'PassGetImp'; did you mean 'PassGetImpl'?"* ]]
    run -2 cute-dump evt --passes PassFixElementD --emit=mlir 'acc'
    [[ $output == *"--emit=mlir requires PassGetImpl"* ]]
}

@test "collectives of a warp, block and device are reductions and repetitions of columns" {
    right 64x128x32 f16 'allreduce(acc, warp)'
    right 64x128x32 f16 'D = broadcast(acc, warp); s = reduce_scatter(acc, warp)'
    right 64x128x32 f16 'acc - allreduce(acc, device) * 0.01'
    right 64x256x32 f16 'acc - allreduce(acc, cluster) * 0.01'
    [[ $output != *"second kernel"* ]]
    right 64x256x32 f16 'D = all_gather(reduce_scatter(acc, warp), warp) - acc; aux Z = all_gather(reduce_scatter(acc, block), block)'
    # all_gather repeats the sums of a warp's reduce_scatter: together they are an allreduce.
    [ "$(cute-dump evt --emit=launch 'all_gather(reduce_scatter(acc, warp), warp)')" = "$(cute-dump evt --emit=launch 'allreduce(acc, warp)')" ]
    run -1 cute-dump evt 'D = acc; aux R = repeat(acc, 8)'
    [[ $output == *"error: no kernel of bf16 on sm_90a has registers for this epilogue: expected matrices of at most 4 N columns"* ]]
    wrong 1:5 "mismatched operands: expected shape M x N/32, got M x N" 'D = reduce_scatter(acc, warp) * acc'
    wrong 1:5 "expected a matrix as the operand of a collective" 'D = all_gather(sum(acc, 1), warp)'
    run -1 cute-dump evt 'broadcast(acc, device)'
    [[ $output == *"since blocks do not wait for each other"* ]]
}

@test "a tree is text, JSON or SVG, and is read again from its program" {
    run -0 --separate-stderr cute-dump evt --json 'z = acc + bias[j]; D = gelu(z)'
    [ "$(jq -r '.nodes[] | select(.name == "z") | .op + " " + .operation + " " + .shape.symbols' <<<"$output")" = "compute add M x N" ]
    run -0 cute-dump evt --svg 'D = gelu(acc + bias[j])'
    [[ $output == "<svg "*"</svg>" ]]
    cute-dump evt 'z = acc + bias[j]; D = gelu(z)' >one
    cute-dump evt --emit=mlir 'z = acc + bias[j]; D = gelu(z)' >p.mlir
    cute-dump evt p.mlir >two
    cmp one two
}

@test "an operand is read once by each tile, a result is written once, and no intermediate is in memory" {
    # reads READ WRITTEN EXPRESSION: bytes of global memory. Four tiles of 64x64 read A and B of 16 KiB twice each.
    reads() {
        run -0 --separate-stderr cute-run --device emulator --counters --json --gemm 128x128x64 --dtype f16 --no-check --epilogue "$3" "${@:4}"
        [ "$(jq -c '[.counts.global_read, .counts.global_written]' <<<"$output")" = "[$1,$2]" ] || { jq -c .counts <<<"$output"; return 1; }
    }
    reads $((65536 + 32768)) 65536 'z = acc + C[i,j]; D = silu(z) * z + relu(z); aux Z = z'
    reads $((65536 + 32768)) 32768 'D = acc * dgelu_tanh(Z[i,j])'
    # Each of two products reads A and B, and both read one C.
    reads $((2 * 65536 + 2 * 32768)) 65536 'acc + C[i,j]' --batch=2
    reads 65536 16384 'silu(acc[:, 0::2]) * acc[:, 1::2]'
    # Blocks of a cluster share the tiles of A.
    reads $((16384 + 16384)) 32768 'e = exp(acc - max(acc, 1)); D = e / sum(e, 1)' --configuration=sm90:128x64:8:1x1:0
}

@test "random epilogues compute what NumPy does, within bounds" {
    python=$(python3 -c 'import numpy' 2>/dev/null && echo python3 || echo /usr/bin/python3)
    "$python" -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
    run "$python" "$BATS_TEST_DIRNAME/../tiles/epilogues" "${CUTE_BIN%/bin}" --count 16
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    run "$python" "$BATS_TEST_DIRNAME/../tiles/epilogues" "${CUTE_BIN%/bin}" --first 1000 --count 6
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    run "$python" "$BATS_TEST_DIRNAME/../tiles/epilogues" "${CUTE_BIN%/bin}" --first 2000 --count 6
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    run "$python" "$BATS_TEST_DIRNAME/../tiles/epilogues" "${CUTE_BIN%/bin}" --first 3000 --count 6
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    run "$python" "$BATS_TEST_DIRNAME/../tiles/epilogues" "${CUTE_BIN%/bin}" --first 4000 --count 6
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
}

@test "each of CUTLASS's epilogues that the documentation lists is right" {
    count=0
    while IFS= read -r expression; do
        scalars=()
        for s in scale_a scale_b scale_c scale_d scale_aux; do [[ $expression == *"$s"* ]] && scalars+=("-D$s=0.5"); done
        [[ $expression == *alpha* ]] && scalars+=(--alpha=0.75)
        [[ $expression == *beta* ]] && scalars+=(--beta=0.5)
        right 70x48x32 f16 "$expression" "${scalars[@]}"
        count=$((count + 1))
    done < <(sed -n "/^| CUTLASS/,/^$/s/^|[^|]*| \`\(.*\)\` |$/\1/p" "$BATS_TEST_DIRNAME/../../docs/epilogues.md")
    [ "$count" -ge 50 ]
}

@test "the tile program of a product with odd rows is complete: its configuration reads A and B where they are" {
    for layout in tn nn nt; do
        cute-dump evt --gemm 301x299x303 --layout $layout --emit=mlir 'relu(acc)' >odd.mlir
        cute-dump evt --gemm 301x299x303 --layout $layout --emit=launch 'relu(acc)' >odd.json
        run -0 cute-run --device emulator --check=all odd.mlir --config odd.json
        [[ $output == *"check D: passed"* ]]
    done
    run -1 cute-dump evt --gemm 301x299x303 --configuration sm80:64x64:128:3 --emit=mlir 'relu(acc)'
    [[ $output == *"configuration 'sm80:64x64:128:3' needs copies of A or B, which cute-run --gemm makes: expected one that reads them where they are, as '"*":narrow'"* ]]
}
