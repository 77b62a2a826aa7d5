#!/usr/bin/env bats
# Products derived from kernels/product are no slower by counts than the kernels written by hand, with the same tile and schedule.
bats_require_minimum_version 1.5.0

# all_right COUNT ARGUMENTS...: each of COUNT comparisons is right.
all_right() {
    run python3 "$BATS_TEST_DIRNAME/../tiles/by_hand" "${CUTE_BIN%/bin}" "${@:2}"
    [ "$status" -eq 0 ] || { echo "$output"; return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -eq "$1" ]
}

@test "derived products move as many bytes in as many wavefronts, between as many barriers, as those by hand" {
    all_right 7 counters
}

@test "main loops of derived products have as many instructions as those by hand, and spill nothing" {
    printf '.version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(){ ret; }\n' >"$BATS_TEST_TMPDIR/k.ptx"
    "$CUTE_BIN/cute-link" "$BATS_TEST_TMPDIR/k.ptx" -o "$BATS_TEST_TMPDIR/k.cubin" || skip "no ptxas"
    "$CUTE_BIN/cute-dump" sass "$BATS_TEST_TMPDIR/k.cubin" || skip "no nvdisasm"
    all_right 10 loops
}
