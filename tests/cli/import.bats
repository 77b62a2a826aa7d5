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
