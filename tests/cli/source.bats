# Behind `cute-opt k.mlir |` every program speaks of k.mlir: errors, line directives, remarks, findings, arguments.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    cd "$BATS_TEST_TMPDIR"
    # What cute-opt takes with this option, and cute-ptx refuses, stands on line 6.
    cat >k.mlir <<'END'
// Comments and blank lines are not printed again.

gpu.module @m {
  gpu.func @k(%x: memref<?xf32>, %n: i32) kernel {
    %t = gpu.thread_id x
    %v = "test.unknown"(%t) : (index) -> f32
    memref.store %v, %x[%t] : memref<?xf32>
    gpu.return
  }
}
END
    LOOSE="cute-opt --allow-unregistered-dialect"
}

# names FILE:LINE:COLUMN SHELL-TEXT: the first line of the output is an error at this place.
names() {
    run bash -c "$2"
    [ "$status" -eq 1 ] && [[ "${lines[0]}" == "$1: error: "* ]] || { echo "$2: $status, $output"; false; }
}

@test "an error behind a pipe names the file, and shows its line" {
    names k.mlir:6:10 "$LOOSE k.mlir | cute-ptx"
    [ "${lines[1]}" = '    %v = "test.unknown"(%t) : (index) -> f32' ]
    [ "${lines[2]}" = '         ^' ]
    [ "${#lines[@]}" -eq 3 ]
    names k.mlir:6:10 "$LOOSE k.mlir >printed.mlir; cute-ptx printed.mlir"
    names k.mlir:6:10 "$LOOSE k.mlir | cute-opt"
    names k.mlir:6:10 "$LOOSE k.mlir | $LOOSE -canonicalize | $LOOSE -cse | cute-ptx"
    names k.mlir:6:10 "$LOOSE --mlir-print-op-generic k.mlir | cute-ptx"
    run bash -c "$LOOSE k.mlir | cute-ptx --diagnostics=json"
    [ "$(jq -r '"\(.file):\(.line):\(.column)"' <<<"$output")" = k.mlir:6:10 ]
}

@test "of a source that was changed since, or came from a pipe, the printed line is shown" {
    $LOOSE k.mlir >printed.mlir
    echo "// changed" >>k.mlir
    names k.mlir:6:10 "cute-ptx printed.mlir"
    [ "${lines[1]}" = "printed.mlir:5: note: printed by cute-opt as; 'k.mlir' has changed since, or cannot be read" ]
    [ "${lines[2]}" = '      %0 = "test.unknown"(%thread_id_x) : (index) -> f32' ]
    rm k.mlir
    names k.mlir:6:10 "cute-ptx printed.mlir"
    mkfifo k.mlir
    names k.mlir:6:10 "timeout 20 cute-ptx printed.mlir"
    rm k.mlir && setup
    names "<stdin>:6:10" "$LOOSE <k.mlir | cute-ptx"
    [ "${lines[1]}" = "<stdin>:5: note: printed by cute-opt as" ]
}

@test "a text that was edited speaks for itself" {
    names "<stdin>:5:26" "$LOOSE k.mlir | sed s/arg0/foo/ | cute-ptx"
    [ "${lines[1]}" = '      %0 = "test.unknown"(%thread_id_x) : (index) -> f32' ]
    names "<stdin>:5:26" "$LOOSE k.mlir | grep -v '^//' | cute-ptx"
    names "<stdin>:5:26" "$LOOSE --source-map=off k.mlir | cute-ptx"
    names "<stdin>:5:26" "$LOOSE k.mlir | cute-ptx --source-map=off"
    names "<stdin>:5:26" "$LOOSE k.mlir | cute-opt --source-map=off"
    # Lines at the end are no edit; a comment there is.
    names "k.mlir:6:10" "{ $LOOSE k.mlir; echo; } | cute-ptx"
    names "<stdin>:5:26" "{ $LOOSE k.mlir; echo // end; } | cute-ptx"
    run cute-opt --source-map=maybe k.mlir
    [ "$status" -eq 2 ] && [[ "$output" == *"--source-map expects 'auto', 'on' or 'off', got 'maybe'"* ]]
    run cute-ptx --source-map=on k.mlir
    [ "$status" -eq 2 ] && [[ "$output" == *"--source-map expects 'auto' or 'off', got 'on'"* ]]
}

@test "a person at a terminal sees the text alone" {
    command -v script >/dev/null || skip "no script"
    script -qec "cute-opt $ROOT/kernels/vector_add/vector_add.mlir" /dev/null </dev/null >terminal
    grep -q gpu.return terminal
    ! grep -q '^//!' terminal
    cute-opt --source-map=on "$ROOT/kernels/vector_add/vector_add.mlir" -o all
    [ "$(tr -d '\r' <terminal | grep -c .)" -eq "$(grep -cv -e '^//!' -e '^$' all)" ]
}

@test "what -D replaced is shown as it was written and as it was read" {
    sed -i 's/%v = "test.unknown"(%t) : (index) -> f32/%c = arith.constant ${N * 4} : i32 loc("py.py":7:8)\n%w = arith.constant ${N} : i32 %v = "test.unknown"(%t) : (index) -> f32/' k.mlir
    names "k.mlir:7:51" "cute-ptx -D N=1234567 k.mlir" # MLIR's parser stands behind the name, a map tells the name
    [[ "${lines[1]}" == '%w = arith.constant ${N} : i32 %v = "test.unknown"'* ]]
    [ "${lines[3]}" = "k.mlir:7: note: after -D substitution the line is" ]
    [[ "${lines[4]}" == '%w = arith.constant 1234567 : i32 %v = "test.unknown"'* ]]
    names "k.mlir:7:37" "$LOOSE -D N=1234567 k.mlir | cute-ptx"
    printf 'module attributes {a.b = ${N}} {\n"test.x"() : () -> ()\n}\n' >lines.mlir
    names lines.mlir:2:1 "$LOOSE -D N=\$'[1,\n2]' lines.mlir | cute-ptx"
    sed -i 's/"test.unknown"(%t) : (index)/arith.bitcast %w : i32 to/; s/-> f32/f32/' k.mlir
    cute-opt -D N=1234567 k.mlir | cute-opt | cute-opt --mlir-print-debuginfo >whole
    grep -q 'constant 1234567.* loc(#loc[0-9]*)' whole
    grep -q 'loc("py.py":7:8)' whole
}

@test "lines of PTX, places of kernels and names of arguments are those without the pipe" {
    for kernel in "$ROOT"/kernels/*/*.mlir "$ROOT"/tests/gpu/*.mlir; do
        defines=$(grep -o '\${[A-Z]*' "$kernel" | sort -u | sed 's/^../-D /; s/$/=16/')
        cute-ptx $defines -lineinfo "$kernel" -o plain.ptx 2>plain.err || continue
        cute-opt $defines "$kernel" | cute-opt | cute-ptx -lineinfo -o piped.ptx 2>piped.err
        # The values of -D are known to the program that got them.
        diff <(sed 's/, "defines": {[^}]*}//' plain.ptx) piped.ptx || { echo "$kernel"; false; }
        diff plain.err piped.err
        echo "$kernel" >>compared
    done
    [ "$(wc -l <compared)" -ge 15 ]
}

@test "cute-opt prints the same text and the same map, however often it is printed" {
    cute-opt "$ROOT/kernels/matmul/matmul_naive.mlir" >once
    grep -q '^//!source 1 ' once
    cute-opt once >twice
    cmp once twice
    cute-opt <once | cmp once -
}

@test "remarks of cute-link and findings of the emulator name the source" {
    cat >race.mlir <<'END'

gpu.module @m {
  memref.global "private" @s : memref<1xi32, #gpu.address_space<workgroup>>
  gpu.func @race(%out: memref<?xi32>) kernel {
    %c0 = arith.constant 0 : index
    %t = gpu.thread_id x
    %v = arith.index_cast %t : index to i32
    %s = memref.get_global @s : memref<1xi32, #gpu.address_space<workgroup>>
    memref.store %v, %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    gpu.barrier
    %r = memref.load %s[%c0] : memref<1xi32, #gpu.address_space<workgroup>>
    memref.store %r, %out[%t] : memref<?xi32>
    gpu.return
  }
}
END
    cute-opt race.mlir | cute-ptx -lineinfo | cute-link -o race.cubin
    echo '{"kernel": "race", "grid": 1, "block": 64, "buffers": {"b": {"dtype": "i32", "shape": [64]}}, "args": ["b"]}' >race.json
    run cute-run race.cubin --config race.json --device emulator --check=race
    echo "$output"
    [ "$status" -ne 0 ]
    [[ "$output" == *"race.mlir:9"* ]]
    [[ "$output" != *stdin* ]]
    run cute-run race.cubin
    [[ "$output" == "race(out: memref<?xi32>)"* ]]
}

# piped SHELL-TEXT: standard output and standard error apart, as at a terminal; the messages come to `log`.
piped() {
    bash -c "$1" 2>log | cat >out
    status=${PIPESTATUS[0]}
}

@test "where one program of the pipe fails, the later ones add nothing and fail too" {
    printf 'module {\n  nothing\n}\n' >bad.mlir
    cute-opt bad.mlir 2>alone || true
    for rest in "cute-ptx" "cute-ptx | cute-link" "cute-ptx | cute-link | cute-run" "cute-link | cute-dump" \
        "cute-opt | cute-opt | cute-ptx | cute-link | cute-dump sass"; do
        piped "cute-opt bad.mlir | $rest"
        echo "$rest: $status, $(cat log)"
        [ "$status" -eq 1 ]
        cmp alone log
    done
    # Their codes are their own.
    run bash -c 'cute-opt --no-such-option 2>/dev/null | cute-ptx | cute-link; echo ${PIPESTATUS[*]}'
    [ "$output" = "2 1 1" ]
    piped "cute-ptx --arch=sm_91 </dev/null | cute-link | cute-run"
    [ "$status" -eq 1 ] && [ "$(grep -c error log)" -eq 1 ] && grep -q sm_91 log
    piped "cute-ptx nowhere.mlir | cute-link"
    [ "$status" -eq 1 ] && [ "$(grep -c error log)" -eq 1 ]
    echo '.version 8.0 nonsense' >bad.ptx
    piped "cute-link bad.ptx | cute-run"
    [ "$status" -eq 1 ] && [ "$(grep -c error log)" -ge 1 ] && ! grep -q cute-run log
    # A failure of JSON is one line of JSON.
    piped "cute-opt --diagnostics=json bad.mlir | cute-ptx --diagnostics=json"
    [ "$(wc -l <log)" -eq 1 ] && jq -e '.file == "bad.mlir"' log
}

@test "nothing on a pipe is told by the program that expects something" {
    for tool in cute-ptx cute-link cute-run cute-dump; do
        piped "true | $tool"
        [ "$status" -eq 1 ] && [ "$(grep -c error log)" -eq 1 ]
    done
}

@test "a program that fails leaves nothing in a file or with its messages" {
    printf 'module {\n  nothing\n}\n' >bad.mlir
    cute-opt bad.mlir >out 2>log || [ ! -s out ]
    cute-ptx bad.mlir -o k.ptx 2>log | cat >out
    [ ! -s out ] && [ ! -e k.ptx ]
    run cute-opt bad.mlir
    [[ "$output" != *"//!cute"* ]]
    { cute-opt bad.mlir 2>log || true; } | head -c0
}

@test "every operation has the location behind the pipe that it has without, whatever it is printed like" {
    places="cute-opt --allow-unregistered-dialect --mlir-print-debuginfo --mlir-print-local-scope"
    for file in $(find "$ROOT/tests/lit" -name '*.mlir') "$ROOT"/kernels/*/*.mlir; do
        $places "$file" >plain 2>/dev/null || continue
        $LOOSE "$file" 2>/dev/null | $places >piped 2>/dev/null
        # Blocks behind the first one of a region have the place of what stands before them.
        diff <(grep -v '\^bb' plain) <(grep -v '\^bb' piped) || { echo "$file"; false; }
        echo "$file" >>compared
    done
    [ "$(wc -l <compared)" -ge 60 ]
}

@test "names, calls and several places of a location pass the pipe; messages stand at the first place" {
    cat >k.mlir <<'EOF'
func.func @f(%a: i32 loc("x"("args.py":3:4)), %b: i32 loc(fused["m.py":1:2, "n.py":3:4]), %c: i32) -> i32 {
  %0 = arith.addi %a, %b : i32 loc("sum"("k.py":1:2))
  %1 = arith.addi %0, %b : i32 loc(fused<"why">["k.py":3:4, "other.py":5:6])
  %2 = arith.addi %1, %b : i32 loc(callsite("callee"("k.py":7:8) at "caller.py":9:10))
  %3 = arith.addi %2, %b : i32 loc("only a \22name\22")
  %4 = arith.addi %3, %c : i32 loc(unknown)
  %5 = arith.addi %4, %c : i32 loc("sum"("k.py":12:2))
  %6 = "test.unknown"(%5) : (i32) -> i32 loc(callsite("unknown"("k.py":70:8) at "caller.py":9:10))
  return %6 : i32 loc("deep"("er"("k.py":1:1)))
}
EOF
    places="$LOOSE --mlir-print-debuginfo --mlir-print-local-scope"
    $places k.mlir >plain
    $LOOSE k.mlir | $LOOSE | $places >piped
    diff plain piped
    [ "$(grep -c 'args.py\|fused\|callsite\|deep' piped)" -ge 5 ]
    run sh -c "$LOOSE k.mlir | cute-opt"
    [ "$status" -eq 1 ]
    [[ "$output" == *"k.py:70:8: error: "*"test.unknown"* ]]
}

@test "spills are told at the kernel's line" {
    {
        printf '\n\ngpu.module @m {\n  gpu.func @spills(%%x: memref<?xf32>, %%y: memref<?xf32>) kernel {\n    %%t = gpu.thread_id x\n'
        for i in {0..99}; do
            printf '    %%c%d = arith.constant %d : index\n    %%i%d = arith.addi %%t, %%c%d : index\n' $i $((i * 37)) $i $i
            printf '    %%v%d = memref.load %%x[%%i%d] : memref<?xf32>\n' $i $i
        done
        echo '    gpu.barrier'
        for i in {1..99}; do printf '    memref.store %%v%d, %%y[%%i%d] : memref<?xf32>\n' $((100 - i)) $i; done
        printf '    gpu.return\n  }\n}\n'
    } >spills.mlir
    cute-opt spills.mlir | cute-ptx -lineinfo | cute-link -Xptxas --maxrregcount=24 -o k.cubin 2>log
    grep -q "^spills.mlir:4:.*warning: 'spills' spills registers" log
    grep -q '^  gpu.func @spills(%x' log
}

@test "of an operation with literals the operation is shown as it was printed, not its constants" {
    sed 's/"S<5,0,5> o 0 o (32,32):(32,1)"/"(32,32):(32,1)" {cute.swizzle}/; s/S<5,0,5> o 0 o //' "$ROOT/docs/tutorial/4_transpose.mlir" |
        cute-opt | cute-ptx --remarks=cute-smem-swizzling 2>remarks >k.ptx
    grep -A1 'note: printed by cute-opt as' remarks | grep -q 'cute.make_view' || { cat remarks; false; }
}
