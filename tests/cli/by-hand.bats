#!/usr/bin/env bats
# Products derived from kernels/product, and attention, are no slower by counts than the kernels written by hand, with the same tile and schedule.
bats_require_minimum_version 1.5.0

# Shares of what tests/proof compares.
# all_right COUNT ARGUMENTS...: each of COUNT comparisons is right.
all_right() {
    run python3 "$BATS_TEST_DIRNAME/../tiles/by_hand" "${CUTE_BIN%/bin}" "${@:2}"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -eq "$1" ]
}

need_machine_code() {
    printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(){ ret; }\n' >"$BATS_TEST_TMPDIR/k.ptx"
    "$CUTE_BIN/cute-link" "$BATS_TEST_TMPDIR/k.ptx" -o "$BATS_TEST_TMPDIR/k.cubin" || skip "no ptxas"
    "$CUTE_BIN/cute-dump" sass "$BATS_TEST_TMPDIR/k.cubin" || skip "no nvdisasm"
}

# epilogue ADD ACT LIMIT: the product with alpha, a bias and these spills nothing, keeps 4 stages and has at most LIMIT instructions.
epilogue() {
    local cubin=$BATS_TEST_TMPDIR/f.cubin
    "$CUTE_BIN/cute-ptx" "$BATS_TEST_DIRNAME/../../kernels/product/product.mlir" -arch sm_90a --schedule="stages=4 consumers=2 cluster=2x1 persistent=1" \
        -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D A=0 -D B=0 -D TF32=0 -D PROMOTE=0 -D SCALE=1 -D ADD="$1" -D BIAS=1 -D ACT="$2" \
        -D BM=128 -D BN=256 -D BK=64 -o "$BATS_TEST_TMPDIR/f.ptx"
    "$CUTE_BIN/cute-dump" schedule "$BATS_TEST_TMPDIR/f.ptx" --json | jq -e 'all(.kernels[0].rings[]; .stages == 4)' >/dev/null
    "$CUTE_BIN/cute-link" "$BATS_TEST_TMPDIR/f.ptx" -o "$cubin"
    "$CUTE_BIN/cute-dump" sass "$cubin" >"$BATS_TEST_TMPDIR/f.sass"
    run -1 grep -E ' (STL|LDL)' "$BATS_TEST_TMPDIR/f.sass"
    [ "$(grep -cE '^ +[0-9a-f]{4,5}  ' "$BATS_TEST_TMPDIR/f.sass")" -le "$3" ]
}

@test "attention derived from kernels/attention has about the instructions of the kernel by hand, its bytes of L2, and spills nothing" {
    need_machine_code
    all_right 2 attention "head 128, causal" "head 64, causal"
}

@test "attention, its gradients and decode spill nothing with any mask, head, type and page (an eleventh of all)" {
    need_machine_code
    run python3 "$BATS_TEST_DIRNAME/../tiles/spills" "${CUTE_BIN%/bin}" --every 11
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -eq 35 ]
}

@test "fused epilogues keep the stages of the loop and spill nothing; a fast GELU has few instructions" {
    need_machine_code
    # 32,768 sums of 256 threads; as measured 1152, 2240 and 1648, of which 88 place tiles without divisions.
    epilogue 0 0 1160
    epilogue 0 2 2250
    epilogue 1 0 1660
}

@test "derived products move as many bytes in as many wavefronts, between as many barriers, as those by hand" {
    all_right 5 counters bf16 "bf16, C, bias and GELU" e4m3 "bf16 on sm_80" "64x16, 7 stages, 2 blocks"
}

@test "main loops of derived products have as many instructions as those by hand, and spill nothing" {
    need_machine_code
    all_right 11 loops "f32, rows by rows, 256 columns on sm_90a" "f32, rows by cols, 128 columns on sm_90a" "f32, cols by cols, 256 columns on sm_80" \
        "64x64, 6 stages, 2 blocks" "bf16 nt on sm_80" "bf16, 64x128 on sm_80" "bf16 nt, 64x64 on sm_80" \
        "bf16 by warpgroups" "f16 nt by warpgroups" "bf16 in turns by warpgroups" "e4m3, promoted by warpgroups"
}
