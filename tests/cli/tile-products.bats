#!/usr/bin/env bats
# Tile programs with products, under random schedules, and bugs in scheduled programs: on the emulator with all checks, against NumPy.
bats_require_minimum_version 1.5.0

python() {
    python3 -c 'import numpy' 2>/dev/null && echo python3 || echo /usr/bin/python3
}

setup() {
    "$(python)" -c 'import numpy' 2>/dev/null || skip "NumPy is not installed"
}

# all_right COUNT TEST ARGUMENTS...: each of COUNT programs is right.
all_right() {
    run "$(python)" "$BATS_TEST_DIRNAME/../tiles/$2" "${CUTE_BIN%/bin}" "${@:3}"
    [ "$status" -eq 0 ] || { grep -v '^ok' <<<"$output"; return 1; }
    [ "$(grep -c '^ok' <<<"$output")" -eq "$1" ]
}

# Shares of tests/proof, which runs all.
@test "random products compute what NumPy does, bit by bit, under random schedules, on sm_90a" {
    all_right 8 products --count 8
}

@test "so they do on sm_80" {
    all_right 10 products --count 10 --first 1000 -arch sm_80
}

@test "so they do when they are printed after each pass and read again" {
    all_right 2 products --count 2 --first 2000 --schedules 1 --passes
    # Alternate tiles; tf32 by mma.sync and by wgmma.
    all_right 1 products --count 1 --first 30013 --schedules 1 --passes
    all_right 1 products --count 1 --first 30017 --schedules 1 --passes
    all_right 1 products --count 1 --first 30029 --schedules 1 --passes
}

@test "each shape of a program with products is right with 0, 1, 2 and 5 iterations" {
    all_right 64 products --cases --schedules 1
    # no iteration, and an addend that TMA loads; parts of k by warps, whose sums need more memory than the stages have
    all_right 1 products --count 1 --first 500195 --schedules 1
    all_right 1 products --count 1 --first 501100 --schedules 2
}

@test "products of groups of rows are what NumPy computes, plain and gated, also with empty groups and single rows" {
    all_right 4 grouped --count 4 --seeds 1
    # 4096 groups of 3 rows
    all_right 1 grouped --first 37 --count 1
}

@test "attention is right: masks, windows, grouped heads, packed sequences, elements of 8 bits, resident blocks, on sm_90a" {
    all_right 12 attention --every 4
    all_right 2 attention --first 38 --count 2
}

@test "so it is on sm_80, and printed after each pass and read again" {
    all_right 3 attention --first 1 --count 12 --every 4 -arch sm_80
    all_right 1 attention --first 10 --count 1 --passes
}

@test "decode attention is right: pages, splits, grouped heads, several tokens, windows, latent keys, on sm_90a" {
    all_right 1 decode --first 4 --count 1
    all_right 2 decode --first 30 --count 2
    all_right 2 decode --first 42 --count 2
    all_right 1 decode --first 50 --count 1
    all_right 2 decode --first 67 --count 2
}

@test "chains of two products are right, whose factor a warpgroup of its own computes" {
    all_right 12 wide --count 12
    all_right 1 wide --first 2 --count 1 --passes
}

@test "decode attention is right on sm_80, and printed after each pass and read again" {
    all_right 1 decode --first 12 --count 1 -arch sm_80
    all_right 1 decode --first 30 --count 1 -arch sm_80
    all_right 1 decode --first 30 --count 1 --passes
}

@test "gradients of attention are right, on sm_90a, by warps alone and on sm_80" {
    all_right 11 attention_backward --every 6
    all_right 1 attention_backward --first 38 --count 1 --schedule "stages=2 consumers=0"
    all_right 1 attention_backward --first 57 --count 1 --schedule "stages=2 consumers=0"
    all_right 1 attention_backward --first 40 --count 1 -arch sm_80
    all_right 1 attention_backward --first 61 --count 1 -arch sm_80
}

@test "bugs that are planted into scheduled programs are found" {
    all_right 49 planted --every 3
}
