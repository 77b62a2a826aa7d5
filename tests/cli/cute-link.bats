# cute-link as a user runs it: what goes in, what comes out, and what it says when something is wrong.
# Resources are compared with what ptxas and readelf print themselves.

setup() {
    data=$BATS_TEST_DIRNAME/../data
    link=$CUTE_BIN/cute-link
    cd "$BATS_TEST_TMPDIR"
    unset ARCH
}

# The program beside ours, on PATH or in the usual place; the test is skipped without it.
tool() {
    local folder
    for folder in "$CUTE_BIN/../cuda/bin" $(dirname "$(command -v "$1" || echo /nowhere/x)") /usr/local/cuda/bin; do
        [ -x "$folder/$1" ] && echo "$folder/$1" && return
    done
    return 1
}

# Kernel `spills`: 48 values that are live at once.
spilling_ptx() {
    printf '.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry spills(.param .u64 p)\n{\n'
    printf '.reg .b64 %%rd1;\n.reg .b32 %%r<49>;\nld.param.u64 %%rd1, [p];\n'
    for i in $(seq 1 48); do echo "ld.volatile.global.u32 %r$i, [%rd1+$((4 * i))];"; done
    for i in $(seq 48 -1 1); do echo "st.volatile.global.u32 [%rd1+$((4 * i))], %r$i;"; done
    printf 'ret;\n}\n'
}

fails() { # CODE COMMAND...
    local code=$1
    shift
    run "$@"
    [ "$status" -eq "$code" ] || { echo "exit code $status, not $code: $output"; return 1; }
}

says() { grep -qF -- "$1" <<<"$output" || { echo "not said: $1"; echo "$output"; return 1; }; }

@test "PTX on standard input becomes a cubin on standard output" {
    "$link" <"$data/link_ok.ptx" >k.cubin
    [ "$(head -c 4 k.cubin | od -An -c | tr -d ' ')" = '177ELF' ]
    readelf -SW k.cubin 2>/dev/null | grep -q '\.text\.add_one'
}

@test "the architecture is the one in the PTX unless -arch says another" {
    "$link" -o a.cubin "$data/link_ok.ptx"
    "$link" -arch sm_90a -o b.cubin "$data/link_ok.ptx"
    ARCH=sm_90 "$link" -o c.cubin "$data/link_ok.ptx"
    [ "$("$CUTE_BIN/cute-dump" --json a.cubin | jq -r .arch)" = sm_80 ]
    [ "$("$CUTE_BIN/cute-dump" --json b.cubin | jq -r .arch)" = sm_90a ]
    [ "$("$CUTE_BIN/cute-dump" --json c.cubin | jq -r .arch)" = sm_80 ]
}

@test "-v prints the resources that ptxas -v prints" {
    ptxas=$(tool ptxas) || skip "no ptxas"
    theirs=$("$ptxas" -v -arch sm_80 "$data/link_ok.ptx" -o x.cubin 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
    ours=$("$link" -v -o y.cubin "$data/link_ok.ptx" 2>&1 | awk '$1 == "add_one" { print $2 }')
    [ -n "$theirs" ] && [ "$ours" = "$theirs" ]
}

@test "-v --json prints the same as JSON on standard output" {
    "$link" --json -o k.cubin "$data/link_ok.ptx" >k.json
    [ "$(jq -r '.kernels[0].kernel' k.json)" = add_one ]
    [ "$(jq '.kernels[0].maxntid == [256, 1, 1]' k.json)" = true ]
    [ "$(jq -c '[.kernels[0].params[] | [.offset, .size]]' k.json)" = '[[0,8],[8,4]]' ]
}

@test "the PTX and its metadata travel in sections of the cubin" {
    printf '//!cute {"format":1,"kernel":"add_one","args":[{"name":"data","kind":"pointer","dtype":"i32"},{"name":"n","kind":"scalar","dtype":"i32"}]}\n' >k.ptx
    cat "$data/link_ok.ptx" >>k.ptx
    "$link" -o k.cubin k.ptx
    "$CUTE_BIN/cute-dump" ptx k.cubin | cmp - k.ptx
    [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -c '[.kernels[0].args[].name]')" = '["data","n"]' ]
    readelf -SW k.cubin 2>/dev/null | grep -q '\.cute\.metadata'
}

@test "nvdisasm reads a cubin with our sections" {
    nvdisasm=$(tool nvdisasm) || skip "no nvdisasm"
    "$link" -o k.cubin "$data/link_ok.ptx"
    "$nvdisasm" -c k.cubin | grep -q EXIT
}

@test "--strip leaves the cubin as ptxas wrote it" {
    "$link" --strip -o k.cubin "$data/link_ok.ptx"
    ! readelf -SW k.cubin 2>/dev/null | grep -q '\.cute\.'
}

@test "linking a linked cubin again changes no byte" {
    "$link" -o a.cubin "$data/link_ok.ptx"
    "$link" -o b.cubin a.cubin
    cmp a.cubin b.cubin
}

@test "two PTX files that need each other are linked" {
    "$link" -o k.cubin "$data/link_caller.ptx" "$data/link_callee.ptx"
    readelf -hW k.cubin 2>/dev/null | grep -q EXEC
    [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -r '.kernels[0].kernel')" = caller ]
}

@test "relocatable cubins and libraries of them are linked" {
    "$link" -c -o caller.cubin "$data/link_caller.ptx"
    "$link" -c -o callee.cubin "$data/link_callee.ptx"
    "$link" -o a.cubin caller.cubin callee.cubin
    ar rc libsquare.a callee.cubin
    "$link" -o b.cubin caller.cubin -L. -lsquare
    "$link" -o c.cubin caller.cubin libsquare.a
    [ "$("$CUTE_BIN/cute-dump" --json b.cubin | jq -r '.kernels[0].kernel')" = caller ]
}

@test "a library member that nobody needs is left out" {
    "$link" -c -o caller.cubin "$data/link_caller.ptx"
    "$link" -c -o callee.cubin "$data/link_callee.ptx"
    sed 's/add_one/caller/g' "$data/link_ok.ptx" | "$link" -c -o clash.cubin
    ar rc libboth.a clash.cubin callee.cubin
    "$link" -o k.cubin caller.cubin -L. -lboth
}

@test "an undefined function is named, with the file that wants it" {
    fails 1 "$link" -o k.cubin "$data/link_caller.ptx" "$data/link_ok.ptx"
    says "Undefined reference to 'square' in '$data/link_caller.ptx'"
    [ ! -e k.cubin ]
}

@test "a fatbin holds a cubin for each architecture and the PTX" {
    "$link" --fatbin -arch sm_80,sm_90a,compute_80 -o k.fatbin "$data/link_ok.ptx"
    [ "$("$CUTE_BIN/cute-dump" -arch sm_90 --json k.fatbin | jq -r .arch)" = sm_90a ]
    [ "$("$CUTE_BIN/cute-dump" -arch sm_86 --json k.fatbin | jq -r .arch)" = sm_80 ]
    "$CUTE_BIN/cute-dump" ptx -arch sm_120 k.fatbin | grep -q '\.entry add_one'
    "$link" -arch sm_80 -o from_fatbin.cubin k.fatbin
}

@test "several architectures without --fatbin are refused" {
    fails 2 "$link" -arch sm_80,sm_90 -o k.cubin "$data/link_ok.ptx"
    says '--fatbin'
}

# mlir KIND FILE: a gpu.binary with FILE's bytes in it
mlir() {
    python3 - "$1" "$2" <<'END'
import sys
data = open(sys.argv[2], "rb").read()
text = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\%02X" % b for b in data)
word = {"bin": "bin = ", "assembly": "assembly = ", "fatbin": ""}[sys.argv[1]]
print('gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, %s"%s">]' % (word, text))
END
}

@test "a gpu.binary in MLIR text gives its cubin" {
    "$link" -o k.cubin "$data/link_ok.ptx"
    mlir bin k.cubin >k.mlir
    "$link" <k.mlir | cmp - k.cubin
    "$link" --extract=kernels k.mlir | cmp - k.cubin
    "$link" --extract=all -o out/ k.mlir
    cmp out/kernels.cubin k.cubin
}

@test "a gpu.binary in MLIR bytecode gives its cubin" {
    [ -x "$CUTE_BIN/cute-opt" ] || skip "no cute-opt"
    "$link" -o k.cubin "$data/link_ok.ptx"
    mlir bin k.cubin | "$CUTE_BIN/cute-opt" --emit-bytecode -o k.bc
    "$link" k.bc | cmp - k.cubin
    "$link" --extract=all k.bc | cmp - k.cubin
}

@test "a gpu.binary with PTX or a fatbin in it is linked" {
    mlir assembly "$data/link_ok.ptx" | "$link" -v -o a.cubin
    "$link" --fatbin -arch sm_80 -o k.fatbin "$data/link_ok.ptx"
    mlir fatbin k.fatbin | "$link" -o b.cubin
    [ "$("$CUTE_BIN/cute-dump" --json a.cubin | jq -r '.kernels[0].kernel')" = add_one ]
    [ "$("$CUTE_BIN/cute-dump" --json b.cubin | jq -r '.kernels[0].kernel')" = add_one ]
}

@test "a gpu.binary inside a gpu.module is found, and an object that is none is refused by its symbol" {
    "$link" -o k.cubin "$data/link_ok.ptx"
    { echo 'gpu.module @kernel_module {'; echo '  gpu.func @my_kernel(%x: f32) kernel { gpu.return }'; mlir bin k.cubin; echo '}'; } >k.mlir
    "$link" k.mlir | cmp - k.cubin
    "$link" --extract=kernels k.mlir | cmp - k.cubin
    sed 's/bin = ".*">\]/bin = "abc">]/' k.mlir >bad.mlir
    fails 1 "$link" -o x.cubin bad.mlir
    says "bad.mlir(@kernels): error: cannot link this input: unknown file format"
}

@test "--extract of a symbol that is not there names one that is" {
    mlir assembly "$data/link_ok.ptx" >k.mlir
    fails 1 "$link" --extract=kernel k.mlir
    says "no gpu.binary '@kernel'; did you mean '@kernels'?"
}

@test "MLIR without a gpu.binary says what to do" {
    fails 1 "$link" -o k.cubin "$data/link_error.mlir"
    says 'no gpu.binary'
    says 'cute-ptx'
}

@test "an unterminated string in a gpu.binary has its place" {
    printf 'module {\n  gpu.binary @k [#gpu.object<#nvvm.target, "abc\n' >k.mlir
    fails 1 "$link" -o k.cubin k.mlir
    says 'k.mlir:2:44: error: unterminated string'
}

@test "an error of ptxas is at the user's line, with the PTX line in a note" {
    cp "$data/link_error.mlir" .
    fails 1 "$link" -o k.cubin "$data/link_error.ptx"
    says "link_error.mlir:4:12: error: Unknown symbol '%r9'"
    says '    %1 = arith.addi %0, %undefined : index'
    says 'link_error.ptx:12:20: note: in the generated PTX'
    [ ! -e k.cubin ]
}

@test "without .loc an error of ptxas is at the PTX line" {
    grep -v '\.loc' "$data/link_error.ptx" >k.ptx
    fails 1 "$link" -o k.cubin k.ptx
    says "k.ptx:10:20: error: Unknown symbol '%r9'"
}

@test "errors can be had as JSON" {
    "$link" --diagnostics=json -o k.cubin "$data/link_error.ptx" 2>errors || true
    [ "$(jq -s -r '[.[] | select(.severity == "error")][1] | "\(.file):\(.line):\(.column)"' errors)" = link_error.mlir:4:12 ]
}

@test "spills are a warning, and an error with -Werror" {
    spilling_ptx >k.ptx
    "$link" -maxrregcount 24 -o k.cubin k.ptx 2>messages
    grep -q "k.ptx:4:17: warning: 'spills' spills registers" messages
    [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq '.kernels[0].resources.spill_stores > 0')" = true ]
    fails 1 "$link" -Werror -maxrregcount 24 -o w.cubin k.ptx
    says '[-Werror]'
    [ ! -e w.cubin ]
    "$link" -Werror -o w.cubin k.ptx
}

@test "serialised wgmma is an error that says what to do, unless it is allowed" {
    for options in "" -w -Werror; do
        fails 1 "$link" $options -o w.cubin "$data/link_wgmma.ptx"
        says 'link_wgmma.ptx:6:17: error: (C7514)'
        says 'note: expected accumulators to be'
        says 'note: --allow=wgmma-serialized makes it a warning'
        [ ! -e w.cubin ]
    done
    fails 1 "$link" -Werror --allow=setmaxnreg-ignored -o w.cubin "$data/link_wgmma.ptx"
    says 'warning: (C7508)'
    says 'error: (C7514)'
    for options in --allow=wgmma-serialized,setmaxnreg-ignored "--allow wgmma-serialized --allow=setmaxnreg-ignored -Werror"; do
        "$link" $options -o k.cubin "$data/link_wgmma.ptx" 2>messages
        grep -q 'warning: (C7508)' messages
        grep -q 'warning: (C7514)' messages
        ! grep -q note messages
    done
    "$link" -w --allow=wgmma-serialized,setmaxnreg-ignored -o k.cubin "$data/link_wgmma.ptx" 2>messages
    [ ! -s messages ]
    # Who asks for slow code gets it.
    "$link" -G -o k.cubin "$data/link_wgmma.ptx"
    "$link" -O0 -o k.cubin "$data/link_wgmma.ptx"
    fails 2 "$link" --allow=spills -o k.cubin "$data/link_wgmma.ptx"
    says "--allow expects wgmma-serialized or setmaxnreg-ignored, got 'spills'"
}

@test "an ignored setmaxnreg is a warning that says what to do, an error with -Werror, unless it is allowed" {
    "$link" --allow=wgmma-serialized -o k.cubin "$data/link_wgmma.ptx" 2>messages
    grep -q 'link_wgmma.ptx:14:2: warning: (C7508)' messages
    grep -q 'note: expected a block size (.reqntid or .maxntid) and .minnctapersm 1' messages
    ! grep -q 'error:\|--allow' messages
    fails 1 "$link" -Werror --allow=wgmma-serialized -o w.cubin "$data/link_wgmma.ptx"
    says 'link_wgmma.ptx:14:2: error: (C7508)'
    says '[-Werror]'
    says 'note: expected a block size (.reqntid or .maxntid) and .minnctapersm 1'
    says 'note: --allow=setmaxnreg-ignored makes it a warning'
    [ ! -e w.cubin ]
    "$link" -w --allow=wgmma-serialized -o k.cubin "$data/link_wgmma.ptx" 2>messages
    [ ! -s messages ]
}

@test "whatever the reason for which ptxas ignores setmaxnreg, it is a warning" {
    mkdir bin
    for reason in 'to allow debugging.' 'to maintain compatibility across compilation units.' '; unable to determine register count at entry.' \
        "to maintain compatibility into 'extern' call." 'to maintain minimum register requirements.'; do
        [[ $reason = \;* ]] || reason=" $reason"
        real=$(dirname "$(readlink -f "$(command -v ptxas || echo /usr/local/cuda/bin/ptxas)")")
        printf '#!/bin/sh\necho "ptxas info    : (C7508) Potential Performance Loss: '"'setmaxnreg'"' ignored%s"\nexec %s/ptxas "$@"\n' "$reason" "$real" > bin/ptxas
        chmod +x bin/ptxas
        "$link" --cuda-path=bin -o k.cubin "$data/link_ok.ptx" 2>messages
        grep -q "warning: (C7508) Potential Performance Loss: 'setmaxnreg' ignored$reason" messages
        fails 1 "$link" -Werror --cuda-path=bin -o k.cubin "$data/link_ok.ptx"
        says "error: (C7508)"
    done
}

@test "a kernel with setmaxnreg gets what ptxas needs for it" {
    # Of several kernels the ones that lack it are named.
    for kernel in 'one .reqntid 128, 1, 1' 'good .reqntid 128, 1, 1 .minnctapersm 1' 'two .reqntid 128, 1, 1'; do
        printf '.visible .entry %s()%s\n{ // setmaxnreg\n\tsetmaxnreg.inc.sync.aligned.u32 240;\n\tret;\n}\n' "${kernel%% *}" "${kernel#* }"
    done | sed '1i .version 8.0\n.target sm_90a\n.address_size 64' > three.ptx
    fails 1 "$link" -Werror -o k.cubin three.ptx
    says 'three.ptx:6:2: error: (C7508)'
    says 'three.ptx:16:2: error: (C7508)'
    [ "$(grep -c 'error:' <<<"$output")" = 2 ]
    cat > k.mlir <<'MLIR'
gpu.module @m {
  gpu.func @k(%out: memref<384xf32>) kernel attributes {nvvm.reqntid = array<i32: 384, 1, 1>${MORE}} {
    %t = gpu.thread_id x
    %c128 = arith.constant 128 : index
    %first = arith.cmpi ult, %t, %c128 : index
    scf.if %first {
      cute_nvgpu.arch.setmaxregister_decrease<40>
    } else {
      cute_nvgpu.arch.setmaxregister_increase<232>
    }
    %x = arith.constant 1.0 : f32
    memref.store %x, %out[%t] : memref<384xf32>
    gpu.return
  }
}
MLIR
    "$CUTE_BIN/cute-ptx" -arch sm_90a -D MORE= --remarks k.mlir -o k.ptx 2>remarks
    grep -q 'k.mlir:7:7: remark: the kernel gets nvvm.minctasm = 1' remarks
    grep -q '^.minnctapersm 1' k.ptx
    "$link" -Werror -o k.cubin k.ptx
    "$CUTE_BIN/cute-ptx" -arch sm_90a -D MORE=', nvvm.maxnreg = 128 : i32' k.mlir -o k.ptx
    ! grep minnctapersm k.ptx
    "$link" -Werror -o k.cubin k.ptx
}

@test "modules of which one has setmaxnreg are compiled as one, which nvlink would not let have it" {
    header='.version 8.0\n.target sm_90a\n.address_size 64\n'
    printf "$header.visible .entry with() .reqntid 128, 1, 1 .minnctapersm 1 {\n\tsetmaxnreg.inc.sync.aligned.u32 240;\n\tret;\n}\n" > with.ptx
    printf "$header.visible .entry without(.param .u64 p) {\n\tret;\n}\n" > without.ptx
    cat with.ptx without.ptx > both.ptx
    for inputs in "with.ptx without.ptx" both.ptx; do
        "$link" -Werror --verbose -o k.cubin $inputs 2>commands
        [ "$(grep -c ptxas commands)" = 1 ]
        ! grep nvlink commands
        [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -r '[.kernels[].kernel] | sort | join(" ")')" = "with without" ]
        [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq '.kernels[] | select(.kernel == "with").resources.registers')" = 240 ]
    done
    sed 's/ret;/ret 1;/' without.ptx > wrong.ptx
    fails 1 "$link" -o w.cubin with.ptx wrong.ptx
    says 'ret 1;'
}

@test "an unknown architecture names the nearest" {
    fails 2 "$link" -arch sm_91 -o k.cubin "$data/link_ok.ptx"
    says "unknown architecture 'sm_91'; did you mean 'sm_90'?"
    says 'sm_121f'
}

@test "PTX for a later architecture is refused at its .target" {
    fails 1 "$link" -arch sm_80 -o k.cubin "$data/link_wgmma.ptx"
    says "link_wgmma.ptx:4:9: error: this PTX is for sm_90a and cannot be compiled for sm_80"
}

@test "no toolkit: exit code 3, where it looked and how to get it" {
    mkdir empty
    fails 3 "$link" --cuda-path=empty -o k.cubin "$data/link_ok.ptx"
    says "cannot find 'ptxas'"
    says 'looked in empty'
    says 'scripts/cuda-toolkit'
}

@test "the toolkit is found by the environment before PATH" {
    mkdir -p mine/bin
    printf '#!/bin/sh\necho "ptxas fatal   : this is mine" >&2; exit 1\n' >mine/bin/ptxas
    chmod +x mine/bin/ptxas
    for name in CUTE_CUDA_PATH CUDA_TOOLKIT_PATH CUDA_HOME CUDA_PATH; do
        fails 1 env -u CUTE_CUDA_PATH -u CUDA_TOOLKIT_PATH -u CUDA_HOME -u CUDA_PATH "$name=$PWD/mine" "$link" -o k.cubin "$data/link_ok.ptx"
        says 'this is mine'
    done
}

@test "a ptxas that dies is said so" {
    mkdir -p mine/bin
    printf '#!/bin/sh\nkill -SEGV $$\n' >mine/bin/ptxas
    chmod +x mine/bin/ptxas
    fails 3 "$link" --cuda-path=mine -o k.cubin "$data/link_ok.ptx"
    says 'ptxas was stopped by signal 11'
}

@test "what ptxas says and nobody understands is passed on" {
    ptxas=$(tool ptxas) || skip "no ptxas"
    mkdir -p mine/bin
    printf '#!/bin/sh\necho "a new kind of message" >&2\nexec %s "$@"\n' "$ptxas" >mine/bin/ptxas
    chmod +x mine/bin/ptxas
    "$link" --cuda-path=mine -o k.cubin "$data/link_ok.ptx" 2>messages
    grep -q 'a new kind of message' messages
}

@test "a truncated cubin is refused by name" {
    "$link" -o k.cubin "$data/link_ok.ptx"
    for size in 0 3 30 64 500 2000; do
        head -c $size k.cubin >t.cubin
        fails 1 "$link" -o x.cubin t.cubin
        says 't.cubin: error:'
    done
}

@test "what is no module at all is refused" {
    echo hello >hello
    fails 1 "$link" -o k.cubin hello
    says 'hello: error:'
    fails 1 "$link" -o k.cubin /dev/null
    says 'empty'
}

@test "a missing file is exit code 3" {
    fails 3 "$link" -o k.cubin nowhere.ptx
    says "cannot read 'nowhere.ptx'"
}

@test "a full disk is exit code 3" {
    [ -c /dev/full ] || skip "no /dev/full"
    run bash -c '"$1" "$2" >/dev/full' _ "$link" "$data/link_ok.ptx"
    [ "$status" -eq 3 ]
    says 'No space left'
}

@test "a closed pipe ends it quietly" {
    "$link" "$data/link_ok.ptx" 2>messages | true
    [ "${PIPESTATUS[0]}" -eq 0 ]
    [ ! -s messages ]
}

@test "a cubin and bytecode are not printed to a terminal" {
    command -v script >/dev/null || skip "no script"
    run script -qec "$link $data/link_ok.ptx" /dev/null
    [ "$status" -eq 2 ]
    says 'refusing to write a cubin to a terminal'
    [ -x "$CUTE_BIN/cute-opt" ] || skip "no cute-opt"
    echo 'module {}' >k.mlir
    run script -qec "$CUTE_BIN/cute-opt --emit-bytecode k.mlir" /dev/null
    [ "$status" -eq 2 ]
    says 'bytecode is not printed to a terminal'
    run script -qec "$CUTE_BIN/cute-opt k.mlir" /dev/null
    [ "$status" -eq 0 ]
    "$CUTE_BIN/cute-opt" --emit-bytecode k.mlir | head -c 2 | grep -q ML
}

@test "a failed link leaves the old output as it was" {
    echo old >k.cubin
    fails 1 "$link" -o k.cubin "$data/link_error.ptx"
    [ "$(cat k.cubin)" = old ]
}

@test "--dry-run prints the commands and runs none" {
    run "$link" --dry-run -O1 -Xptxas --def-load-cache=cg -lineinfo "$data/link_ok.ptx"
    [ "$status" -eq 0 ]
    says 'ptxas -v -arch sm_80 -O1 -lineinfo --def-load-cache=cg link_ok.ptx -o link_ok.cubin'
}

@test "-O0 to -O3 reach ptxas, and more code is left at -O0" {
    for level in 0 1 2 3; do
        "$link" -O$level -o k$level.cubin "$data/link_ok.ptx"
        "$link" -O$level --dry-run "$data/link_ok.ptx" 2>&1 | grep -q -- "ptxas.* -O$level "
    done
    "$link" --opt-level=2 "$data/link_ok.ptx" | cmp - k2.cubin
    [ "$("$CUTE_BIN/cute-dump" --json k0.cubin | jq '.kernels[0].resources.code_bytes')" -ge \
      "$("$CUTE_BIN/cute-dump" --json k3.cubin | jq '.kernels[0].resources.code_bytes')" ]
    run "$link" -O4 "$data/link_ok.ptx"
    [ "$status" -eq 2 ]
}

@test "--save-temps keeps what stands between the stages" {
    "$link" --save-temps -o k.cubin "$data/link_caller.ptx" "$data/link_callee.ptx"
    [ -s k.tmp.0.link_caller.ptx ] && [ -s k.tmp.1.link_callee.cubin ] && [ -s k.tmp.linked.cubin ]
}

@test "nothing is left in the temporary folder" {
    mkdir temp
    TMPDIR=$PWD/temp "$link" -o k.cubin "$data/link_caller.ptx" "$data/link_callee.ptx"
    TMPDIR=$PWD/temp "$link" -o k.cubin "$data/link_ok.ptx"
    TMPDIR=$PWD/temp run "$link" -o k.cubin "$data/link_caller.ptx" "$data/link_ok.ptx"
    [ -z "$(ls temp)" ]
}

@test "--timing says where the time goes" {
    "$link" --timing -o k.cubin "$data/link_ok.ptx" 2>&1 | grep -Eq '^cute-link: read .* ptxas .* metadata .* write .* total'
    "$link" --timing-format=json -o k.cubin "$data/link_ok.ptx" 2>&1 | jq -e '.ptxas > 0 and .total >= .ptxas' >/dev/null
}

@test "options that are wrong are exit code 2" {
    fails 2 "$link" -O7 "$data/link_ok.ptx"
    fails 2 "$link" --werror -o k.cubin "$data/link_ok.ptx"
    says "did you mean '--Werror'"
    fails 2 "$link" -maxrregcount 300 "$data/link_ok.ptx"
    fails 2 "$link" --diagnostics=xml "$data/link_ok.ptx"
}

@test "a library that is not there names the folders" {
    fails 1 "$link" -o k.cubin "$data/link_ok.ptx" -L. -lnothing
    says "cannot find the library 'nothing'"
    says 'libnothing.a in .'
}

@test "a linked cubin cannot be linked with others" {
    "$link" -o a.cubin "$data/link_ok.ptx"
    fails 1 "$link" -o k.cubin a.cubin "$data/link_callee.ptx"
    says "a.cubin: error: this cubin is already linked"
}

@test "a killed cute-link leaves no ptxas behind" {
    mkdir -p mine/bin
    printf '#!/bin/sh\necho $$ >"%s/pid"\nexec sleep 100\n' "$PWD" >mine/bin/ptxas
    chmod +x mine/bin/ptxas
    for signal in TERM KILL; do
        rm -f pid
        "$link" --cuda-path=mine -o k.cubin "$data/link_ok.ptx" &
        for i in $(seq 100); do [ -s pid ] && break; sleep 0.05; done
        [ -s pid ]
        kill -$signal $!
        wait $! || true
        for i in $(seq 40); do kill -0 "$(cat pid)" 2>/dev/null || break; sleep 0.05; done
        if kill -0 "$(cat pid)" 2>/dev/null; then
            kill -KILL "$(cat pid)"
            echo "$signal leaves ptxas"
            return 1
        fi
    done
}

# host NAME SECTION=FILE...: an ELF file for this machine's CPU with sections added, as nvcc makes them.
host() {
    local name=$1 add=()
    shift
    for section; do add+=(--add-section "$section"); done
    objcopy "${add[@]}" "$link" "$name"
}

@test "of an object or a program for the CPU the device code is taken" {
    command -v objcopy >/dev/null || skip "no objcopy"
    "$link" -o k.cubin "$data/link_ok.ptx"
    "$link" --fatbin -arch sm_80,compute_80 -o k.fatbin "$data/link_ok.ptx"
    truncate -s %64 k.fatbin
    host one.o .nv_fatbin=k.fatbin
    "$link" -o linked.cubin one.o
    [ "$("$CUTE_BIN/cute-dump" --json linked.cubin | jq -c '[.kernels[].kernel]')" = '["add_one"]' ]
    [ "$("$CUTE_BIN/cute-dump" --json one.o | jq -r '.arch, .kernels[0].kernel')" = $'sm_80\nadd_one' ]
    "$CUTE_BIN/cute-dump" ptx one.o | grep -q '^.target sm_80'
    "$CUTE_BIN/cute-run" one.o | grep -q '^add_one('
    # Fatbins follow each other, and left-overs in __nv_relfatbin do not count.
    printf '.version 7.0\n.target sm_80\n.address_size 64\n.func f() { ret; }\n' | "$link" -c -o none.cubin
    "$link" --fatbin -arch sm_80 -o none.fatbin none.cubin
    cat none.fatbin k.fatbin >both
    host both.o .nv_fatbin=both __nv_relfatbin=k.fatbin
    [ "$("$CUTE_BIN/cute-dump" --json both.o | jq -c '[.kernels[].kernel]')" = '["add_one"]' ]
}

@test "an ELF file for the CPU without device code, or with two programs, is refused" {
    for tool in "$link -o k.cubin" "$CUTE_BIN/cute-dump" "$CUTE_BIN/cute-run"; do
        fails 1 $tool "$link"
        says 'this ELF file for x86-64 has no device code'
        says 'expected a cubin, or an object or program built by nvcc, which has a section .nv_fatbin'
    done
    [ ! -e k.cubin ]
    command -v objcopy >/dev/null || skip "no objcopy"
    "$link" --fatbin -arch sm_80 -o k.fatbin "$data/link_ok.ptx"
    sed 's/add_one/add_too/g' "$data/link_ok.ptx" | "$link" --fatbin -arch sm_80 -o l.fatbin
    cat k.fatbin l.fatbin >both
    host both.o .nv_fatbin=both
    fails 1 "$CUTE_BIN/cute-dump" both.o
    says 'expected one module with kernels, got 2'
    says 'their kernels: add_one; add_too'
    says 'select one with --image=N or --kernel=NAME'
    [ "$("$CUTE_BIN/cute-dump" images both.o | awk 'NR > 1 { print $1, $2, $3, $4, $8, $9 }')" = \
        $'1 1 elf sm_80 1 add_one\n2 2 elf sm_80 1 add_too' ]
    [ "$("$CUTE_BIN/cute-dump" --json both.o --image=2 | jq -r '.kernels[0].kernel')" = add_too ]
    [ "$("$CUTE_BIN/cute-dump" --json both.o --kernel=add_too | jq -r '.kernels[0].kernel')" = add_too ]
    "$CUTE_BIN/cute-dump" sass both.o --image=1 | grep -q '^add_one'
    fails 1 "$CUTE_BIN/cute-dump" both.o --image=3
    says 'both.o: error: expected an image of 1 to 2, got 3'
    fails 1 "$CUTE_BIN/cute-dump" both.o --kernel=add_ten
    says "none of the 2 modules has a kernel 'add_ten'"
    cat k.fatbin k.fatbin >twice
    host twice.o .nv_fatbin=twice
    fails 1 "$CUTE_BIN/cute-dump" twice.o --kernel=add_one
    says "2 modules have a kernel 'add_one'"
    says 'select one with --image=N'
    head -c 100 k.fatbin >cut
    host cut.o .nv_fatbin=cut
    fails 1 "$link" -o k.cubin cut.o
    says 'byte 0 of section .nv_fatbin: expected a fatbin'
}

@test "cute-dump opens archives: the only module, or the one that is chosen" {
    "$link" -o k.cubin "$data/link_ok.ptx"
    sed 's/add_one/add_too/g' "$data/link_ok.ptx" >l.ptx
    echo text >readme.txt
    ar rc one.a readme.txt k.cubin
    ar rc two.a k.cubin l.ptx
    [ "$("$CUTE_BIN/cute-dump" --json one.a | jq -r '.kernels[0].kernel')" = add_one ]
    [ "$("$CUTE_BIN/cute-dump" --json images two.a | jq -c '[.images[] | [.member, .kind, .kernels]]')" = \
        '[["k.cubin","elf",1],["l.ptx","ptx",1]]' ]
    [ "$("$CUTE_BIN/cute-dump" --json two.a -k add_too | jq -r '.kernels[0].kernel')" = add_too ]
    fails 1 "$CUTE_BIN/cute-dump" two.a
    says 'expected one module, got an archive with 2'
    ar rc none.a readme.txt
    fails 1 "$CUTE_BIN/cute-dump" images none.a
    says 'none of the 1 members of this archive has device code'
}

# Two PTX modules, and what they compute for element i: f(i) + 10 with f of b.ptx and `hidden` in both.
two_modules() {
    printf '.version 7.8\n.target sm_80\n.address_size 64\n' | tee a.ptx >b.ptx
    cat >>a.ptx <<'END'
.extern .func (.param .b32 r) f (.param .b32 x);
.extern .global .u32 shared_value;
.global .u32 hidden = 3;
.visible .entry k(.param .u64 p) {
.reg .b64 %d<4>; .reg .b32 %r<8>;
ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %d2, %r1, 4; add.s64 %d1, %d1, %d2;
{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call.uni (y), f, (x); ld.param.b32 %r2, [y]; }
ld.global.u32 %r3, [hidden]; ld.global.u32 %r4, [shared_value];
add.s32 %r2, %r2, %r3; add.s32 %r2, %r2, %r4; st.global.u32 [%d1], %r2;
ret;
}
END
    cat >>b.ptx <<'END'
.global .u32 hidden = 100;
.visible .global .u32 shared_value = 7;
.visible .func (.param .b32 r) f (.param .b32 x) {
.reg .b32 %r<4>;
ld.param.b32 %r1, [x]; ld.global.u32 %r2, [hidden]; mad.lo.s32 %r1, %r1, 2, %r2; st.param.b32 [r], %r1;
ret;
}
END
    echo '{"grid": 1, "block": 32, "buffers": {"x": {"dtype": "i32", "shape": [32]}}, "args": ["x"], "check": {"x": "2*i + 110"}}' >k.json
}

@test "cubins of several PTX modules keep them, and the emulator runs them" {
    two_modules
    "$link" -o k.cubin a.ptx b.ptx
    "$CUTE_BIN/cute-run" k.cubin -c k.json -d emulator >out || { cat out; false; }
    grep -q 'check x: passed, 32 elements' out
    # What is kept is a module that ptxas takes, and it says the same.
    "$CUTE_BIN/cute-dump" ptx k.cubin >joined.ptx
    "$link" -o again.cubin joined.ptx
    "$CUTE_BIN/cute-run" again.cubin -c k.json -d emulator >out
    grep -q 'check x: passed, 32 elements' out
}

@test "libraries keep the PTX of the kernel and of the members that are linked" {
    two_modules
    sed 's/shared_value/other_value/; s/ f (/ unused_f (/' b.ptx >unused.ptx
    "$link" -c -o b.cubin b.ptx
    "$link" -c -o unused.cubin unused.ptx
    ar rc libb.a unused.cubin b.cubin
    "$link" -L. -lb -o k.cubin a.ptx
    "$CUTE_BIN/cute-run" k.cubin -c k.json -d emulator >out || { cat out; false; }
    grep -q 'check x: passed, 32 elements' out
    run "$CUTE_BIN/cute-dump" ptx k.cubin
    says '.visible .func (.param .b32 r) f (.param .b32 x) {'
    [[ "$output" != *unused_f* ]]
    # A library of which nothing is wanted changes nothing.
    "$link" -o alone.cubin "$data/link_ok.ptx" -L. -lb
    "$CUTE_BIN/cute-dump" ptx alone.cubin | cmp - "$data/link_ok.ptx"
}

@test "gpu.binary objects of assembly are linked" {
    printf 'gpu.binary @kernels [#gpu.object<#nvvm.target<chip = "sm_80">, assembly = "%s\\00">]\n' \
        "$(sed 's/"/\\22/g; s/$/\\0A/' "$data/link_ok.ptx" | tr -d '\n')" >k.mlir
    "$link" -o k.cubin k.mlir
    [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -c '[.kernels[].kernel]')" = '["add_one"]' ]
    "$CUTE_BIN/cute-dump" ptx k.cubin | grep -q '\.entry add_one'
}

@test "-Xptxas=-v and --ptxas-options=-v print what ptxas prints" {
    ptxas=$(tool ptxas) || skip "no ptxas"
    "$ptxas" -v -arch sm_80 "$data/link_ok.ptx" -o x.cubin 2>&1 | sed -n 's/.*: Used/Used/p' >theirs
    [ -s theirs ]
    for option in -Xptxas=-v --ptxas-options=-v "-Xptxas --verbose" "-Xptxas -O2,-v"; do
        "$link" $option -o k.cubin "$data/link_ok.ptx" 2>ours
        grep -qFf theirs ours || { cat ours; false; }
        grep -q '0 bytes spill stores' ours
    done
    "$link" -o k.cubin "$data/link_ok.ptx" 2>ours
    [ ! -s ours ]
}

@test "options of ptxas: several in one text, its default cache, its name of the architecture" {
    "$link" --dry-run -o k.cubin "-Xptxas=-v --maxrregcount=128" -Xptxas "--def-load-cache=ca,  -O1" "$data/link_ok.ptx" >commands
    grep -q -- ' -v --maxrregcount=128 --def-load-cache=ca -O1 ' commands
    tool ptxas || skip "no ptxas"
    "$link" --ptxas-options="-v --maxrregcount=128" -o k.cubin "$data/link_ok.ptx" 2>ours
    grep -q 'Used [0-9]* registers' ours
    # It counts before -arch, and the metadata are of it.
    for option in "-Xptxas=--gpu-name=sm_86" "-Xptxas -arch=sm_86" "-Xptxas=-v,--gpu-name,sm_86" "-arch sm_80 -Xptxas=--gpu-name=sm_86"; do
        "$link" $option -o k.cubin "$data/link_ok.ptx" 2>ours
        [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -r .arch)" = sm_86 ] || { echo "$option"; false; }
        ! grep -q warning ours || { cat ours; false; }
    done
    sed 's/sm_80/sm_90/' "$data/link_ok.ptx" >sm_90.ptx
    fails 1 "$link" -Xptxas=--gpu-name=sm_80 -o k.cubin sm_90.ptx
    says "this PTX is for sm_90 and cannot be compiled for sm_80"
    for wrong in --gpu-name=sm_91 --gpu-name; do
        fails 2 "$link" -Xptxas=$wrong -o k.cubin "$data/link_ok.ptx"
        says 'unknown architecture'
    done
}

@test "-gencode is taken as nvcc has it" {
    "$link" -gencode arch=compute_80,code=sm_86 -o k.cubin "$data/link_ok.ptx"
    [ "$("$CUTE_BIN/cute-dump" --json k.cubin | jq -r .arch)" = sm_86 ]
    fails 2 "$link" -gencode arch=compute_80,code=sm_80 -gencode=arch=compute_90,code=sm_90 -o k.cubin "$data/link_ok.ptx"
    says 'a cubin cannot hold several architectures'
    says '--fatbin writes one file for all of them'
    "$link" --fatbin -gencode arch=compute_80,code=sm_80 --generate-code 'arch=compute_80,code=[sm_90,compute_80]' -o k.fatbin "$data/link_ok.ptx"
    [ "$("$CUTE_BIN/cute-dump" --json -arch sm_90 k.fatbin | jq -r .arch)" = sm_90 ]
    [ "$("$CUTE_BIN/cute-dump" --json -arch sm_80 k.fatbin | jq -r .arch)" = sm_80 ]
    fails 2 "$link" -gencode arch=compute_90,code=sm_80 -o k.cubin "$data/link_ok.ptx"
    says "-gencode arch=compute_90,code=sm_80: cannot generate code for sm_80 from compute_90"
    for wrong in sm_80 code=sm_80 arch=compute_80,sm_80 'arch=compute_80,code=[]'; do
        fails 2 "$link" -gencode $wrong -o k.cubin "$data/link_ok.ptx"
        says "-gencode expects arch=compute_XX,code=sm_XX, got '$wrong'"
    done
}

@test "-arch=native is the GPU's architecture, and exit code 3 where there is none" {
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
    "$link" -arch=native -o k.cubin "$data/link_ok.ptx"
    [ "$("$CUTE_BIN/cute-dump" --json -arch=native k.cubin | jq -r .arch)" = sm_90a ]
    FAKECUDA=nodevice fails 3 "$link" -arch native -o k.cubin "$data/link_ok.ptx"
    says '-arch=native: the driver reports no GPU'
    CUTE_LIBCUDA=/nowhere.so fails 3 "$link" -arch native -o k.cubin "$data/link_ok.ptx"
    says '-arch=native: no CUDA driver'
    says 'specify the architecture, such as -arch=sm_90a'
}

@test "an option that is unknown is named as it was given" {
    fails 2 "$link" -cubin "$data/link_ok.ptx" -o k.cubin
    says "unknown option '-cubin'"
    fails 2 "$CUTE_BIN/cute-dump" -cubin "$data/link_ok.ptx"
    says "unknown option '-cubin'"
}
