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

@test "random products compute what NumPy does, bit by bit, under random schedules, on sm_90a" {
    all_right 12 products --count 12
}

@test "so they do on sm_80" {
    all_right 20 products --count 20 --first 1000 -arch sm_80
}

@test "so they do when they are printed after each pass and read again" {
    all_right 4 products --count 4 --first 2000 --schedules 2 --passes
    # Alternate tiles; tf32 by mma.sync and by wgmma.
    all_right 1 products --count 1 --first 30013 --schedules 1 --passes
    all_right 1 products --count 1 --first 30017 --schedules 1 --passes
    all_right 1 products --count 1 --first 30029 --schedules 2 --passes
}

@test "each shape of a program with products is right with 0, 1, 2 and 5 iterations" {
    all_right 60 products --cases --schedules 2
    # no iteration, and an addend that TMA loads; parts of k by warps, whose sums need more memory than the stages have
    all_right 1 products --count 1 --first 500195 --schedules 1
    all_right 1 products --count 1 --first 501100 --schedules 2
}

@test "products of groups of rows are what NumPy computes, plain and gated, also with empty groups and single rows" {
    all_right 8 grouped --count 8 --seeds 1
    # 4096 groups of 3 rows
    all_right 1 grouped --first 37 --count 1
}

@test "attention is right: masks, windows, grouped heads, packed sequences, elements of 8 bits, on sm_90a" {
    all_right 40 attention
}

@test "so it is on sm_80, and printed after each pass and read again" {
    all_right 12 attention --first 1 --count 12 -arch sm_80
    all_right 2 attention --first 10 --count 2 --passes
}

@test "decode attention is right: pages, splits, grouped heads, several tokens, windows, latent keys, on sm_90a" {
    all_right 2 decode --first 4 --count 2
    all_right 2 decode --first 30 --count 2
    all_right 3 decode --first 42 --count 3
    all_right 2 decode --first 49 --count 2
}

@test "decode attention is right on sm_80, and printed after each pass and read again" {
    all_right 2 decode --first 12 --count 2 -arch sm_80
    all_right 1 decode --first 30 --count 1 -arch sm_80
    all_right 1 decode --first 30 --count 1 --passes
}

@test "gradients of attention are right, on sm_90a, by warps alone and on sm_80" {
    all_right 66 attention_backward
    all_right 8 attention_backward --first 36 --count 8 --schedule "stages=2 consumers=0"
    all_right 8 attention_backward --first 56 --count 8 --schedule "stages=2 consumers=0"
    all_right 8 attention_backward --first 36 --count 8 -arch sm_80
    all_right 8 attention_backward --first 56 --count 8 -arch sm_80
}

@test "bugs that are planted into scheduled programs are found" {
    all_right 129 planted
}
