# The five programs together, and what all of them have in common.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    KERNEL=$ROOT/kernels/vector_add/vector_add.mlir
    CONFIG=$ROOT/kernels/vector_add/launch.json
    TOOLS="cute-opt cute-ptx cute-link cute-run cute-dump"
    cd "$BATS_TEST_TMPDIR"
}

# A cubin, made once for all tests.
cubin() {
    CUBIN=$BATS_FILE_TMPDIR/k.cubin
    [ -e "$CUBIN" ] || cute-opt "$KERNEL" | cute-ptx | cute-link >"$CUBIN"
}

@test "the pipe makes a cubin that cute-run and cute-dump understand" {
    cubin
    [ "$(head -c 4 "$CUBIN" | tail -c 3)" = ELF ]
    run cute-run "$CUBIN"
    [ "$status" -eq 0 ]
    [[ "$output" == "vector_add(a: "*"b: "*"c: "*"n: i64)"* ]]
    run cute-run "$CUBIN" --config "$CONFIG" --dry-run
    [ "$status" -eq 0 ]
    run cute-dump "$CUBIN"
    [ "$status" -eq 0 ]
    [[ "$output" == *"cubin for sm_90a"* ]]
}

@test "text between the stages may be kept, and bytecode be used instead" {
    cubin
    cute-opt "$KERNEL" -o k.mlir
    cute-ptx k.mlir -o k.ptx
    cute-link k.ptx -o k.cubin
    cute-opt --emit-bytecode "$KERNEL" | cute-ptx | cute-link >b.cubin
    # Only the places differ: bytecode remembers the first file.
    diff <(cute-dump ptx k.cubin | grep -v '^//') <(cute-dump ptx b.cubin | grep -v '^//')
    [ "$(cute-dump --json k.cubin | jq -c '.kernels[0].resources')" = "$(cute-dump --json "$CUBIN" | jq -c '.kernels[0].resources')" ]
}

@test "passes one by one are the pipeline, and cute-ptx takes what is lowered already" {
    cute-opt -cute-full-lowering "$KERNEL" | cute-ptx | grep -v '^//' >lowered.ptx
    cute-opt "$KERNEL" | cute-ptx | grep -v '^//' >whole.ptx
    diff lowered.ptx whole.ptx
}

@test "every program explains itself on standard output" {
    for tool in $TOOLS; do
        $tool --help >out 2>err
        grep -qi "usage: *$tool" out
        [ ! -s err ]
        [[ "$($tool --version)" == *"$(cat "$ROOT/VERSION")"* ]]
    done
}

@test "an unknown option is refused with the nearest one" {
    for tool in cute-ptx cute-link cute-run cute-dump; do
        run $tool --diagnosticx=json
        [ "$status" -eq 2 ]
        [[ "$output" == *"$tool: error: unknown option '--diagnosticx'; did you mean '--diagnostics'?"* ]]
    done
    run cute-opt --no-such-option "$KERNEL"
    [ "$status" -ne 0 ]
}

@test "a file that is not there is named" {
    for tool in $TOOLS; do
        run $tool /nonexistent/file </dev/null
        [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
        [[ "$output" == *"/nonexistent/file"*"No such file or directory"* ]]
    done
}

@test "a full disk is exit code 3 and is said" {
    cubin
    cute-ptx "$KERNEL" >k.ptx
    for command in "cute-ptx $KERNEL" "cute-link k.ptx" "cute-dump $CUBIN" "cute-run $CUBIN"; do
        run sh -c "$command >/dev/full"
        echo "$command: $status $output"
        [ "$status" -eq 3 ]
        [[ "$output" == *"No space left on device"* ]]
    done
    run sh -c "cute-opt $KERNEL >/dev/full"
    [ "$status" -ne 0 ]
}

@test "a closed pipe ends a program quietly" {
    cubin
    cute-ptx "$KERNEL" >k.ptx
    for command in "cute-opt $KERNEL" "cute-ptx $KERNEL" "cute-link k.ptx" "cute-dump $CUBIN" "cute-run $CUBIN"; do
        run bash -c "{ sleep 0.1; $command; } 2>err | true; echo \${PIPESTATUS[0]}"
        echo "$command: $output $(cat err)"
        [ "$output" -eq 0 ] || [ "$output" -eq 141 ]
        [ ! -s err ]
    done
}

@test "a failed run leaves the old output as it was" {
    echo old >out
    echo garbage >in
    for tool in cute-opt cute-ptx cute-link; do
        run $tool in -o out
        [ "$status" -eq 1 ]
        [ "$(cat out)" = old ]
    done
    [ "$(ls -A | sort | tr '\n' ' ')" = "in out " ]
}

@test "a bad layout is shown with a caret under the fault" {
    cat >bad.mlir <<'EOF'
func.func @f(%l: !cute.layout<"(2,3):(1)">) {
  return
}
EOF
    run cute-opt bad.mlir
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == bad.mlir:1:*": error: "* ]]
    [[ "${lines[1]}" == *'(2,3):(1)'* ]]
    [[ "${lines[2]}" =~ ^\ +\^ ]]
    # The caret stands inside the quotes: columns 31 to 39 of this line.
    column=${lines[2]%%^*}
    [ "${#column}" -ge 30 ] && [ "${#column}" -le 40 ]
}

@test "an unknown operation and a wrong type are errors at their place" {
    printf 'func.func @f() {\n  %%0 = cute.nothing\n  return\n}\n' >unknown.mlir
    run cute-opt unknown.mlir
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "unknown.mlir:2:"*"error:"* ]]
    printf 'func.func @f(%%a: f32) {\n  %%0 = cute.make_coord(%%a) : (f32) -> !cute.coord<"?">\n  return\n}\n' >type.mlir
    run cute-opt type.mlir
    [ "$status" -eq 1 ]
    [[ "$output" == *"type.mlir:2:"*"error:"* ]]
}

@test "an unknown architecture is refused by each program that takes one" {
    for tool in cute-ptx cute-link; do
        run $tool -arch sm_91 "$KERNEL"
        [ "$status" -eq 2 ] || [ "$status" -eq 1 ]
        [[ "$output" == *"sm_91"*"sm_90"* ]]
    done
}

@test "without a toolkit the missing part is named with the way to get it" {
    cute-ptx "$KERNEL" >k.ptx
    run cute-link --cuda-path="$BATS_TEST_TMPDIR" k.ptx -o k.cubin
    [ "$status" -eq 3 ]
    [[ "$output" == *ptxas* ]]
    [[ "$output" == *"scripts/cuda-toolkit"* ]]
}

@test "without a driver a launch says so, and all the rest works" {
    cubin
    run env CUTE_LIBCUDA=/nonexistent/libcuda.so cute-run "$CUBIN" --config "$CONFIG"
    [ "$status" -eq 3 ]
    [[ "$output" == *"driver"* ]]
}

@test "a truncated cubin is an error, not a crash" {
    cubin
    size=$(stat -c %s "$CUBIN")
    for length in 0 1 4 16 63 64 200 $((size / 2)) $((size - 1)); do
        head -c "$length" "$CUBIN" >cut.cubin
        for tool in cute-run cute-dump "cute-dump elf" "cute-dump sass"; do
            run $tool cut.cubin
            echo "$tool at $length: $status $output"
            [ "$status" -eq 1 ]
            [[ "$output" == *"error:"* ]]
        done
    done
}

@test "a wrong key of launch.json is shown at its place with the right one" {
    cubin
    sed 's/"grid"/"gird"/' "$CONFIG" >launch.json
    run cute-run "$CUBIN" --config launch.json --dry-run
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == launch.json:*"\$.gird"*"'grid'"* ]]
    [[ "${lines[2]}" == *"^"* ]]
}

@test "diagnostics as JSON are one object a line" {
    printf 'func.func @f() {\n  nothing\n}\n' >bad.mlir
    for tool in cute-ptx cute-link cute-run cute-dump; do
        $tool --diagnostics=json bad.mlir >/dev/null 2>err && false
        [ -s err ]
        [ "$(jq -r 'select(.severity == "error") | .message | length > 0' err | sort -u)" = true ]
    done
}

@test "the run-time programs need neither LLVM nor CUDA and may be copied alone" {
    cubin
    for tool in cute-link cute-run cute-dump; do
        run ldd "$CUTE_BIN/$tool"
        [[ "$output" != *LLVM* && "$output" != *MLIR* && "$output" != *cuda* && "$output" != *jansson* ]]
        cp "$CUTE_BIN/$tool" .
    done
    run env -i ./cute-run "$CUBIN"
    [ "$status" -eq 0 ]
    run env -i ./cute-dump ptx "$CUBIN"
    [ "$status" -eq 0 ]
    [[ "$output" == *".visible .entry vector_add"* ]]
}
