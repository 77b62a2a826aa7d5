# What goes wrong around the programs: disks, pipes, files, the toolkit, inputs that are none. Each is said in one line
# with its reason, has the exit code of its kind, leaves no half-written file, and never ends in a crash.

setup() {
    PATH=$CUTE_BIN:$PATH
    ROOT=$BATS_TEST_DIRNAME/../..
    KERNEL=$ROOT/kernels/vector_add/vector_add.mlir
    CONFIG=$ROOT/kernels/vector_add/launch.json
    CUBIN=$BATS_FILE_TMPDIR/k.cubin PTX=$BATS_FILE_TMPDIR/k.ptx
    [ -e "$CUBIN" ] || { cute-ptx "$KERNEL" -o "$PTX" && cute-link "$PTX" -o "$CUBIN"; }
    cd "$BATS_TEST_TMPDIR"
    # Each program with an input that it takes.
    COMMANDS=("cute-opt $KERNEL" "cute-ptx $KERNEL" "cute-link $PTX" "cute-dump $CUBIN" "cute-dump elf $CUBIN" "cute-run $CUBIN")
    WRITERS=("cute-opt $KERNEL" "cute-opt --emit-bytecode $KERNEL" "cute-ptx $KERNEL" "cute-link $PTX" "cute-dump $CUBIN" "cute-dump --json $CUBIN")
    READERS=(cute-opt cute-ptx cute-link "cute-link --extract=all -o x/" cute-run cute-dump "cute-dump elf" "cute-dump sass" "cute-dump ptx")
}

# expect CODE PATTERN SHELL-TEXT: the exit code, and one line of the output.
expect() {
    local code=$1 pattern=$2
    shift 2
    run bash -c "$*"
    [ "$status" -eq "$code" ] && [[ "$output" == *"$pattern"* ]] ||
        { echo "$*: exit code $status, not $code, or no '$pattern' in: ${output:0:2000}"; false; }
}

@test "a full disk behind standard output is exit code 3, also for --help" {
    [ -c /dev/full ] || skip "no /dev/full"
    for command in "${COMMANDS[@]}"; do
        expect 3 "cannot write '<stdout>': No space left on device" "$command >/dev/full"
    done
    for tool in cute-opt cute-ptx cute-link cute-run cute-dump; do
        for option in --help --version; do
            run bash -c "$tool $option >/dev/full"
            [ "$status" -ne 0 ] || { echo "$tool $option says nothing"; false; }
        done
    done
}

@test "a closed standard output is exit code 3" {
    for command in "${COMMANDS[@]}"; do expect 3 "cannot write '<stdout>': Bad file descriptor" "$command >&-"; done
}

@test "a reader that has enough ends the pipe quietly" {
    cute-opt --help | head -c1 >/dev/null
    for command in "${COMMANDS[@]}"; do
        bash -c "$command 2>err | head -c1 >/dev/null; echo \${PIPESTATUS[0]} >code"
        [ ! -s err ] || { echo "$command: $(cat err)"; false; }
        [ "$(cat code)" = 0 ] || [ "$(cat code)" = 141 ] || { echo "$command: $(cat code)"; false; }
    done
}

@test "a disk that is full under -o leaves no file, and the old one as it was" {
    mkdir d
    if ! mount -t tmpfs -o size=4k none d 2>/dev/null; then skip "cannot mount a small disk"; fi
    # A file takes a page of the disk at least: the old one has it, and there is none for the new one.
    echo old >d/out
    for command in "${WRITERS[@]}"; do
        bash -c "$command -o d/out >log 2>&1; echo \$? >code"
        [ "$(cat code)" = 3 ] && grep -q "d/out.*No space left on device" log && [ "$(cat d/out)" = old ] && [ "$(ls -A d)" = out ] ||
            { echo "$command: $(cat code) $(cat log) $(ls -A d)"; umount d; false; }
    done
    umount d
}

@test "a limit on the size of files is an error, not a signal, and leaves no file" {
    mkdir d
    for command in "${WRITERS[@]}"; do
        expect 3 "File too large" "ulimit -f 0; $command -o d/out"
        [ -z "$(ls -A d)" ]
    done
    expect 3 "File too large" "ulimit -f 0; cute-dump run $KERNEL -o d/dump"
    [ -z "$(find d -type f)" ]
    expect 3 "File too large" "ulimit -f 0; cute-ptx $KERNEL --save-temps=d/t -o k.ptx"
}

@test "an output folder that is not there is named" {
    for command in "${WRITERS[@]}"; do expect 3 "cannot write 'no/where': No such file or directory" "$command -o no/where"; done
}

@test "an output that is a folder is said to be one" {
    mkdir d
    for command in "cute-opt $KERNEL" "cute-dump $CUBIN" "cute-link $PTX"; do
        expect 3 "cannot write 'd': Is a directory" "$command -o d"
    done
}

@test "an input that is missing, a folder or unreadable is exit code 3 with the reason" {
    for tool in "${READERS[@]}"; do
        expect 3 "cannot read 'nowhere': No such file or directory" "$tool nowhere"
        expect 3 "cannot read '/': Is a directory" "$tool /"
    done
    expect 3 "cannot read 'nowhere.json': No such file or directory" "cute-run $CUBIN --config nowhere.json"
    [ "$(id -u)" -ne 0 ] || return 0
    touch secret && chmod 0 secret
    for tool in "${READERS[@]}"; do expect 3 "cannot read 'secret': Permission denied" "$tool secret"; done
}

@test "nothing on standard input is an error that says what is wanted; for cute-opt it is an empty module" {
    run cute-opt </dev/null
    [ "$status" -eq 0 ] && [[ "$output" == "module {"* ]]
    expect 1 "<stdin>: error: no kernels in '<stdin>'" "cute-ptx </dev/null"
    expect 1 "<stdin>: error: nothing to link" "cute-link </dev/null"
    for tool in cute-run cute-dump "cute-dump elf" "cute-dump sass" "cute-dump ptx"; do
        expect 1 "expected a compiled module, got an empty file" "$tool </dev/null"
    done
    expect 1 "launch.json" "cute-run $CUBIN --config /dev/null 2>&1 | sed 's,/dev/null,launch.json,'; exit \${PIPESTATUS[0]}"
}

@test "garbage on standard input is exit code 1 for each program, whatever its size" {
    python3 - <<'END'
import random
random.seed(7)
for size in (1, 64, 300000):
    open(f"g{size}", "wb").write(b"\xf3" + random.randbytes(size))
open("ghuge", "wb").write(b"a b {\n" * 1000000)
open("gzero", "wb").write(bytes(10000000) + b"x")
END
    for tool in "${READERS[@]}"; do
        for input in g*; do
            bash -c "timeout 60 $tool <$input >out 2>log; echo \$? >code"
            [ "$(cat code)" = 1 ] && grep -aq 'error: ' log && [ ! -s out ] || { echo "$tool <$input: $(cat code) $(head -c 500 log)"; false; }
        done
    done
    [ ! -e x ]
}

@test "formats cut off or damaged after their first bytes are exit code 1" {
    printf 'ML\xefR' >bytecode
    cute-opt --emit-bytecode "$KERNEL" >whole
    head -c 300 whole >half
    printf '\x7fELF\x02\x01\x01' >elf
    printf '\x50\xed\x55\xba\x01\x00\x10\x00\xff\xff\xff\xff\xff\xff\xff\x7f' >fatbin
    printf '!<arch>\nx' >archive
    for input in bytecode half; do
        for tool in cute-opt cute-ptx cute-link; do expect 1 "error: " "$tool $input"; done
    done
    for input in elf fatbin; do
        for tool in cute-link cute-run cute-dump "cute-dump elf" "cute-dump sass"; do expect 1 "$input: error: " "$tool $input"; done
    done
    expect 1 "archive: error: " "cute-link archive"
}

@test "brackets that nest without end are refused, not a crash" {
    python3 - <<'END'
n = 200000
open("types.mlir", "w").write("func.func private @f(" + "tuple<" * n + "i32" + ">" * n + ")")
open("modules.mlir", "w").write("module {" * n + "}" * n)
open("attributes.mlir", "w").write("module attributes {a.b = " + "[" * n + "]" * n + "} {}")
open("layout.mlir", "w").write('func.func private @f(!cute.shape<"' + "(" * n + "1" + ")" * n + '">)')
open("deep.json", "w").write("[" * n)
open("formula.json", "w").write('{"params": {"n": "' + "(" * n + "1" + ")" * n + '"}}')
open("fine.mlir", "w").write("module {" * 400 + "}" * 400)
END
    for input in types modules attributes; do
        for tool in cute-opt cute-ptx; do expect 1 "$input.mlir:1:" "$tool $input.mlir 2>&1 | head -c 3000; exit \${PIPESTATUS[0]}"; done
        [[ "$output" == *"brackets nest deeper than 1000 levels"* ]]
    done
    expect 1 "nested deeper than 64 levels" "cute-opt layout.mlir"
    expect 1 "deep.json:1:" "cute-run $CUBIN --config deep.json"
    expect 1 "formula.json:1:" "cute-run $CUBIN --config formula.json --dry-run"
    run cute-opt fine.mlir
    [ "$status" -eq 0 ]
}

# A toolkit that has all that this machine's has but one part.
toolkit_without() {
    mkdir -p tk/bin tk/nvvm/lib64 tk/nvvm/libdevice
    local part real
    for part in bin/ptxas bin/nvlink bin/fatbinary bin/nvdisasm nvvm/lib64/libnvvm.so.4 nvvm/libdevice/libdevice.10.bc; do
        [ "$(basename "$part")" != "$1" ] || continue
        for real in "${CUTE_CUDA_PATH:-/nonexistent}" "$CUTE_BIN/../cuda" "${CUDA_HOME:-/nonexistent}" /usr/local/cuda; do
            [ -e "$real/$part" ] && ln -sf "$real/$part" "tk/$part" && break
        done
    done
}

@test "each part of the toolkit that is missing is named, with the way to get it, and is exit code 3" {
    local data=$ROOT/tests/data
    printf 'gpu.module @m {\n  gpu.func @k(%%x: f32, %%p: !llvm.ptr<1>) kernel {\n    %%y = math.sin %%x : f32\n    llvm.store %%y, %%p : f32, !llvm.ptr<1>\n    gpu.return\n  }\n}\n' >sine.mlir
    while IFS='|' read -r part command; do
        rm -rf tk
        toolkit_without "$part"
        expect 3 "cannot find '$part' of the CUDA toolkit" "$command --cuda-path=$PWD/tk -o out"
        [[ "$output" == *"scripts/cuda-toolkit"* ]] || { echo "$output"; false; }
        [ ! -e out ]
    done <<END
ptxas|cute-link $PTX
nvlink|cute-link $data/link_caller.ptx $data/link_callee.ptx
nvdisasm|cute-dump sass $CUBIN
libdevice.10.bc|cute-ptx sine.mlir
libnvvm.so.4|cute-ptx -arch sm_100 $KERNEL
END
}

@test "a toolkit's program that crashes or answers nonsense is an error of this machine" {
    mkdir -p tk/bin
    printf '#!/bin/sh\nkill -SEGV $$\n' >tk/bin/ptxas
    chmod +x tk/bin/ptxas
    expect 3 "ptxas" "cute-link $PTX --cuda-path=$PWD/tk -o out"
    printf '#!/bin/sh\nexit 0\n' >tk/bin/ptxas
    run cute-link "$PTX" --cuda-path="$PWD/tk" -o out
    [ "$status" -eq 3 ] || [ "$status" -eq 1 ]
    printf 'no program\n' >tk/bin/ptxas
    chmod -x tk/bin/ptxas
    run cute-link "$PTX" --cuda-path="$PWD/tk" -o out
    [ "$status" -eq 3 ]
    [ ! -e out ]
}

@test "no driver is exit code 3 for all that needs one, and nothing else needs it" {
    export CUTE_LIBCUDA=/nonexistent/libcuda.so.1
    expect 3 "no CUDA driver" "cute-run --list-devices"
    expect 3 "no CUDA driver" "cute-run $CUBIN --config $CONFIG"
    expect 0 "vector_add" "cute-run $CUBIN --config $CONFIG --dry-run"
    expect 0 "vector_add" "cute-run $CUBIN"
}

@test "an architecture that nobody knows is the command line's fault in each program, with the nearest" {
    expect 2 "unknown architecture 'sm_91'; did you mean 'sm_90'?" "cute-ptx -arch sm_91 $KERNEL"
    expect 2 "unknown architecture 'sm_91'; did you mean 'sm_90'?" "cute-link -arch sm_91 $PTX"
    expect 2 "unknown architecture 'sm_91'; did you mean 'sm_90'?" "cute-dump sass --arch=sm_91 $PTX"
    expect 2 "unknown architecture 'sm_91'; did you mean 'sm_90'?" "cute-dump run $KERNEL -o d --arch=sm_91"
    expect 2 "unknown architecture 'hopper'" "ARCH=hopper cute-ptx $KERNEL"
    [ ! -e d ]
}

@test "where LLVM gives up the message has the stage, the module and the architecture" {
    cat >"$BATS_TEST_TMPDIR/k.mlir" <<'MLIR'
gpu.module @odd {
  llvm.func @k() attributes {gpu.kernel, nvvm.kernel} {
    llvm.call_intrinsic "llvm.x86.sse2.pause"() : () -> ()
    llvm.return
  }
}
MLIR
    run "$CUTE_BIN/cute-ptx" -arch sm_80 "$BATS_TEST_TMPDIR/k.mlir"
    [ "$status" -eq 1 ]
    [[ "$output" == *"k.mlir: error: LLVM gave up in stage 'codegen' of gpu.module @odd for sm_80: no instruction for 'intrinsic %llvm.x86.sse2.pause'"* ]]
}

@test "what verifiers of functions and passes say in parallel is printed whole" {
    for i in 1 2 3 4 5 6 7 8; do
        echo "func.func @f$i(%a: !cute_nvgpu.atom.universal_copy<f32, 128 b>, %s: !cute.memref<f32, gmem, align<16>, \"(4,$i):(8,1)\">) {"
        echo "  cute.copy %a, %s, %s"
        echo "  return"
        echo "}"
    done >many.mlir
    run cute-opt many.mlir
    [ "$status" -eq 1 ]
    [ "$(grep -c "^many.mlir:[0-9]*:3: error: 'cute.copy' op an access of '!cute_nvgpu.atom.universal_copy<f32, 128 b>' needs 4 consecutive elements, the source has 1$" <<<"$output")" -ge 1 ]
    [ "$(grep -c 'error: ' <<<"$output")" -eq "$(grep -c "error: 'cute.copy' op an access" <<<"$output")" ]
}

@test "what is no MLIR, no module and no JSON is named, with what takes it" {
    for tool in cute-opt cute-ptx "cute-dump run -o d"; do
        expect 1 "k.cubin: error: expected MLIR, got an ELF file" "cp $CUBIN k.cubin; $tool k.cubin"
        expect 1 "expected MLIR, got PTX" "$tool $PTX"
        expect 1 "expected MLIR, got a fatbin" "printf '\\x50\\xed\\x55\\xba\\1\\0' >f; $tool f"
    done
    expect 1 "link it to a cubin with cute-link" "cute-ptx $PTX"
    expect 1 "cannot link this input: JSON" "cute-link $CONFIG"
    expect 1 "expected a compiled module, got JSON" "cute-run $CONFIG"
    expect 1 "pass the launch.json with --config" "cute-run $CONFIG"
    : >empty.json
    expect 1 "empty.json: error: expected JSON, got an empty file" "cute-run $CUBIN --config empty.json"
    expect 1 "no kernel 'nokernel'" "cute-run $CUBIN -k nokernel"
}

@test "a pipeline that lacks a bracket is refused" {
    for pipeline in 'builtin.module(' 'builtin.module(canonicalize' 'builtin.module(gpu.module(cse)' 'builtin.module(canonicalize{max-iterations=3)'; do
        expect 1 "error: " "cute-opt --pass-pipeline='$pipeline' $KERNEL"
        expect 2 "error: invalid pipeline '$pipeline'" "cute-ptx --pass-pipeline='$pipeline' $KERNEL"
    done
    expect 0 "module" "cute-opt --pass-pipeline='builtin.module(gpu.module(cse))' $KERNEL"
}
