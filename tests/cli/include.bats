# Several files that share text: `//!include "FILE"` and -I.

setup() {
    PATH=$CUTE_BIN:$PATH
    unset CUTE_CACHE
    cd "$BATS_TEST_TMPDIR"
    mkdir types parts
    cat >types/types.mlir <<'END'
!elem = ${T}
!buf = memref<?x!elem>
END
    cat >parts/body.mlir <<'END'
    %t = gpu.thread_id x
    //!include "load.mlir"
    %w = arith.addi %v, %v : !elem
END
    printf '    // what is doubled\n    %%v = memref.load %%x[%%t] : !buf' >parts/load.mlir # no end of line
    cat >k.mlir <<'END'
//!include "types/types.mlir"
gpu.module @m {
  gpu.func @twice(%x: !buf) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    //!include "body.mlir"
    memref.store %w, %x[%t] : !buf
    gpu.return
  }
}
END
    cat >k.json <<'END'
{ "kernel": "twice", "grid": [1], "block": [32], "buffers": { "x": { "dtype": "i32", "shape": [32], "init": "iota" } },
  "args": ["x"], "check": { "x": { "expr": "2 * i" } } }
END
}

@test "files are found beside the one that includes them and in the folders of -I, and the kernel runs" {
    run cute-run k.mlir -I parts -D T=i32 -c k.json -d emulator
    [ "$status" -eq 0 ]
    [[ "$output" == *"check x: passed, 32 elements"* ]]
    cute-opt -I parts -D T=i32 <k.mlir | cute-ptx | cute-link >k.cubin
    cute-dump resources k.mlir -Iparts -DT=i32 | grep -q '^twice'
    cute-dump run k.mlir -I parts -D T=i32 -o dump
    [ -s dump/cubin/m.cubin ]
}

@test "lines of the PTX and of machine code are those of the file that has them, through cute-opt too" {
    cute-ptx -I parts -D T=i32 -lineinfo k.mlir -o direct.ptx
    cute-opt -I parts -D T=i32 k.mlir | cute-ptx -lineinfo -o piped.ptx
    [ "$(grep -E '^\s*\.(loc|file)' direct.ptx)" = "$(grep -E '^\s*\.(loc|file)' piped.ptx)" ]
    load=$(sed -n 's/^\t\.file\t\([0-9]*\) "parts\/load\.mlir"$/\1/p' direct.ptx)
    body=$(sed -n 's/^\t\.file\t\([0-9]*\) "parts\/body\.mlir"$/\1/p' direct.ptx)
    main=$(sed -n 's/^\t\.file\t\([0-9]*\) "k\.mlir"$/\1/p' direct.ptx)
    # The instruction under each .loc.
    grep -A3 "\.loc	$load 2 10" direct.ptx | grep -q 'ld\.global'
    grep -A1 "\.loc	$body 1 10" direct.ptx | grep -q 'tid\.x'
    grep -A1 "\.loc	$body 3 10" direct.ptx | grep -q 'shl\|add'
    grep -A1 "\.loc	$main 5 5" direct.ptx | grep -q 'st\.global'
    run cute-dump lines direct.ptx --at parts/load.mlir:2
    [ "$status" -eq 0 ]
    [[ "$output" == *"parts/load.mlir:2  %v = memref.load"*LDG* ]]
}

@test "an error names the included file, its line, and the lines that include it" {
    run cute-ptx -I parts -D T=f32 k.mlir
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "parts/body.mlir:3:10: error: 'arith.addi' op operand #0"* ]]
    [[ "${lines[1]}" == "    %w = arith.addi %v, %v : !elem" ]]
    [[ "$output" == *"k.mlir:4: note: included here"* ]]
    sed -i 's/%x\[%t\]/%x[%u]/' parts/load.mlir
    run cute-opt -I parts -D T=i32 k.mlir
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "parts/load.mlir:2:"*": error: "*"undeclared"* ]]
    [[ "$output" == *"parts/body.mlir:2: note: included here"*"k.mlir:4: note: included here"* ]]
    run cute-opt -I parts k.mlir
    [[ "$output" == "types/types.mlir:1:11: error: unknown name 'T'"* ]]
}

@test "the emulator's findings and a later program of the pipe name the included line" {
    sed -i 's/%x\[%t\]/%x[%u]/; 1s/.*/    %u = arith.constant 99 : index/' parts/load.mlir
    run bash -c 'cute-opt -I parts -D T=i32 k.mlir | cute-ptx -lineinfo | cute-run - -c k.json -d emulator --check=all'
    [ "$status" -ne 0 ]
    [[ "$output" == *"parts/load.mlir:2"* ]]
}

@test "a file that is missing is told with the folders that were looked into" {
    run cute-ptx k.mlir -D T=i32
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "k.mlir:4:17: error: cannot find 'body.mlir'" ]]
    [[ "$output" == *"note: searched in '.'; add a folder with -I DIR"* ]]
    run cute-opt -I types -I /nowhere k.mlir -D T=i32
    [[ "$output" == *"note: searched in '.', 'types', '/nowhere'; add a folder with -I DIR"* ]]
    mkdir d.mlir
    run cute-opt <<<'//!include "d.mlir"'
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "<stdin>:1:13: error: cannot find 'd.mlir'" ]]
}

@test "circles, bad lines and endless growth are refused at their line" {
    echo '//!include "b.mlir"' >a.mlir
    echo '//!include "./a.mlir"' >b.mlir
    run cute-opt a.mlir
    [ "$status" -eq 1 ]
    [[ "${lines[0]}" == "b.mlir:1:13: error: './a.mlir' includes itself" ]]
    run cute-opt <<<'  //!include types.mlir'
    [[ "${lines[0]}" == '<stdin>:1:14: error: expected a file in quotes: //!include "FILE"' ]]
    run cute-opt <<<'//!include'
    [[ "${lines[0]}" == '<stdin>:1:11: error: expected a file in quotes: //!include "FILE"' ]]
    for i in $(seq 1 70); do echo "//!include \"f$((i + 1)).mlir\"" >"f$i.mlir"; done
    : >f71.mlir
    run cute-opt f1.mlir
    [[ "$output" == *"error: includes nest deeper than 64 levels"* ]]
    for i in $(seq 1 40); do printf '//!include "g%d.mlir"\n' $((i + 1)) $((i + 1)) >"g$i.mlir"; done
    : >g41.mlir
    run timeout 20 cute-opt g1.mlir
    [ "$status" -eq 1 ]
    [[ "$output" == *"error: more than 10000 files are included"* ]]
}

@test "one file may be included several times, and other comments stay what they are" {
    echo 'func.func private @${N}()' >f.mlir
    printf '//!included "x"\n// //!include "x"\n"a.b"() {t = "//!include"} : () -> ()\n' >c.mlir
    run cute-opt --allow-unregistered-dialect c.mlir
    [ "$status" -eq 0 ]
    printf '//!include "f.mlir"\nmodule {\n//!include "f.mlir"\n}' >t.mlir
    run bash -c 'cute-opt -D N=x t.mlir | grep -c "private @x"'
    [ "$output" = 2 ]
}

@test "the cache sees a change of an included file" {
    export CUTE_CACHE=$PWD/cache
    cute-ptx -I parts -D T=i32 k.mlir -o one.ptx
    cute-opt -I parts -D T=i32 k.mlir -o one.mlir
    sed -i 's/%v, %v/%v, %t32/; 1s/$/\n    %t32 = arith.index_cast %t : index to i32/' parts/body.mlir
    cute-ptx -I parts -D T=i32 k.mlir -o two.ptx
    cute-opt -I parts -D T=i32 k.mlir -o two.mlir
    ! cmp -s one.ptx two.ptx
    ! cmp -s one.mlir two.mlir
    cute-ptx -I parts -D T=i32 k.mlir -o three.ptx
    cmp two.ptx three.ptx
}
