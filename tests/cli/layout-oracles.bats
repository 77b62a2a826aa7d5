# The algebra of layouts against other implementations.

setup() {
    cd "$BATS_TEST_DIRNAME/../.." || return
    build=$(dirname "$CUTE_BIN")
    [ -x "$build/tests/test_layout_reference" ] || skip "no $build/tests/test_layout_reference: make unit builds it"
}

@test "random expressions give what tensor-layouts gives, or what the definition says" {
    run tests/oracle/run "$build" 1 200
    echo "$output"
    [ "$status" -ne 77 ] || skip "$output"
    [ "$status" -eq 0 ]
    [[ $output == *" 0 unexplained"* ]]
}

@test "recorded operations of CuTe DSL have the types that we infer" {
    [ -n "$CUTE_INSTANCES" ] || skip "CUTE_INSTANCES names no file of recorded operations"
    run "$build/tests/test_layout_instances"
    echo "$output"
    [ "$status" -eq 0 ]
}
