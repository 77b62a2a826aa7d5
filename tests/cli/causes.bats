#!/usr/bin/env bats
# Each row of the table of causes (cute-dump causes) is what a program says of an error that really happens, with what was in
# force; and the forms of the report.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    DATA="$BATS_TEST_DIRNAME/../data"
    export CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so"
    cd "$BATS_TEST_TMPDIR"
    unset ARCH CUTE_CACHE FAKECUDA
}

# ptx NAME.ptx [ARCH] [VERSION] <BODY: a file of PTX.
ptx() { { printf '.version %s\n.target %s\n.address_size 64\n' "${3:-8.0}" "${2:-sm_90a}" && cat; } >"$1"; }

# provoke CAUSE COMMAND...: it fails, and an error of its JSON has that cause, whole.
provoke() {
    local cause=$1
    shift
    echo "$cause" >>"$BATS_FILE_TMPDIR/provoked"
    { "$@" --diagnostics=json 2>&1 >/dev/null; echo $? >code; } | cat >err
    [ "$(cat code)" != 0 ] || { echo "$cause: '$*' succeeds"; return 1; }
    jq -se --arg cause "$cause" '[.[] | select(.cause == $cause)] | length >= 1 and all(
        .severity == "error" and (.stage | length > 1) and (.likely | length > 0) and (.try | length > 0)
        and (.likely + .try | all(length > 8)) and (.settings.command | startswith("cute-"))
        and (.settings | keys == ["architecture", "command", "run", "toolkit", "toolkit_version"])
        and (.around | all(.file != "" and .first <= .line and .line < .first + (.text | length))))' err >/dev/null ||
        { echo "$cause: $* says"; cat err; return 1; }
}

# has FILTER: of the errors with a cause that were provoked last.
has() { jq -se "[.[] | select(.cause)] | .[0] | $1" err >/dev/null || { echo "not $1:"; cat err; return 1; }; }

# tool NAME: a file of the CUDA toolkit that has a stand-in for ptxas, the script on standard input.
stand_in() {
    mkdir -p mine/bin
    { echo '#!/bin/sh'; cat; } >"mine/bin/$1"
    chmod +x "mine/bin/$1"
}

@test "memory and registers that a kernel has not: ptxas says so, with the line of the source" {
    cat >shared.mlir <<'MLIR'
gpu.module @m {
  memref.global "private" @big : memref<100000xf32, 3>
  gpu.func @k(%p: memref<?xf32>, %i: index) kernel {
    %big = memref.get_global @big : memref<100000xf32, 3>
    %x = memref.load %p[%i] : memref<?xf32>
    memref.store %x, %big[%i] : memref<100000xf32, 3>
    gpu.barrier
    %j = arith.addi %i, %i : index
    %y = memref.load %big[%j] : memref<100000xf32, 3>
    memref.store %y, %p[%i] : memref<?xf32>
    gpu.return
  }
}
MLIR
    cute-ptx -lineinfo shared.mlir -o shared.ptx
    provoke shared-memory cute-link shared.ptx -o k
    has '.file == "shared.mlir" and .line > 1 and .settings.architecture == "sm_90a" and (.settings.toolkit | endswith("/ptxas"))'
    has '.settings.toolkit_version | test("^[0-9]+[.][0-9]+")'
    has '.settings.run | test("/ptxas .*-arch sm_90a .*shared.ptx$")'
    # The lines around both places: of the source, and of the PTX made from it.
    has '[.around[].file] == ["shared.mlir", "shared.ptx"]'
    has '.around[0] as $a | $a.text[$a.line - $a.first] | contains("gpu.func @k") or contains("memref")'
    [ ! -e k ]
    # From standard input, too.
    provoke shared-memory bash -c 'cute-link -o k "$@" <shared.ptx' -
    has '[.around[].file] == ["shared.mlir", "<stdin>"]'

    ptx k.ptx <<<'.visible .entry k(.param .align 4 .b8 p[40000]){ ret; }'
    provoke parameter-space cute-link k.ptx -o k
    ptx k.ptx <<<'.const .align 4 .b8 c[70000];
        .visible .entry k(.param .u64 p){ .reg .b32 %a; .reg .b64 %p;
        ld.param.u64 %p, [p]; ld.const.b32 %a, [c + 60000]; st.global.b32 [%p], %a; ret; }'
    provoke constant-space cute-link k.ptx -o k
    {
        echo '.visible .entry k(.param .u64 p){ .reg .f32 %f<128>; .reg .b64 %d<2>; .reg .pred %p;'
        echo 'setp.ne.b32 %p, 0, 1; ld.param.u64 %d0, [p]; mov.u64 %d1, 0;'
        for i in $(seq 0 127); do echo "ld.global.f32 %f$i, [%d0 + $((4 * i))];"; done
        echo 'wgmma.fence.sync.aligned;'
        echo "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {$(seq -s, -f '%%f%g' 0 127)}, %d1, %d1, %p, 1, 1, 0, 0;"
        echo 'wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;'
        for i in $(seq 0 127); do echo "st.global.f32 [%d0 + $((4 * i))], %f$i;"; done
        echo 'ret; }'
    } | ptx k.ptx
    cute-link k.ptx -o whole
    provoke registers cute-link -maxrregcount 32 k.ptx -o k
    has '.settings.run | contains("-maxrregcount 32")'
    has '.around[0] as $a | $a.text[$a.line - $a.first] | startswith("wgmma.mma_async")'
}

@test "versions and architectures that do not fit" {
    ptx k.ptx sm_90a 99.9 <<<'.visible .entry k(){ ret; }'
    provoke ptx-version cute-link k.ptx -o k
    ptx k.ptx sm_90a 7.8 <<<'.visible .entry k(){ .reg .b32 %a; elect.sync %a|_, -1; ret; }'
    provoke isa-version cute-link k.ptx -o k
    ptx k.ptx sm_80 <<<'.visible .entry k(){ wgmma.fence.sync.aligned; ret; }'
    provoke architecture-feature cute-link k.ptx -o k
    has '.settings.architecture == "sm_80"'
    ptx k.ptx sm_80 <<<'.visible .entry k(){ barrier.cluster.arrive.aligned; ret; }'
    provoke architecture-too-old cute-link k.ptx -o k
    ptx k.ptx <<<'.visible .entry k(){ ret; }'
    provoke architecture-name cute-link -arch sm_91 k.ptx -o k
    # A ptxas of an old toolkit, in its words.
    stand_in ptxas <<'SH'
[ "$1" = --version ] && { echo 'Cuda compilation tools, release 10.2, V10.2.89'; exit 0; }
echo "ptxas fatal   : Value 'sm_90a' is not defined for option 'gpu-name'" >&2; exit 255
SH
    provoke architecture-unknown cute-link --cuda-path=mine k.ptx -o k
    has '.settings.toolkit_version == "10.2, V10.2.89" and .settings.toolkit == "mine/bin/ptxas"'
}

@test "PTX that is wrong: what it says there, and a hint" {
    kernel() { ptx k.ptx <<<".visible .entry k(){ $1 ret; }"; }
    kernel '.reg .f32 %a; addd.f32 %a, %a, %a;'; provoke unknown-instruction cute-link k.ptx -o k
    has '.line == 4 and .column > 1'
    kernel '.reg .f32 %a; add.u32 %a, %a, %a;'; provoke ptx-operands cute-link k.ptx -o k
    kernel '.reg .b32 %a<4>; .reg .b64 %p; ld.global.v2.b32 {%a0, %a1, %a2, %a3}, [%p];'; provoke ptx-vector cute-link k.ptx -o k
    kernel '.reg .b64 %a; ld.global.b32 %a, [%b];'; provoke ptx-operand-type cute-link k.ptx -o k
    kernel 'bra ; ,'; provoke ptx-syntax cute-link k.ptx -o k
    kernel '/* é */'; provoke ptx-character cute-link k.ptx -o k
    kernel 'bra L;'; provoke ptx-symbol cute-link k.ptx -o k
    kernel '.reg .b32 %a; ld.global.b32 %a, [0];'; provoke ptx-address cute-link k.ptx -o k
    ptx k.ptx <<<'.visible .func f(){ ret; }
.visible .func f(){ ret; }'
    provoke ptx-duplicate cute-link k.ptx -o k
    ptx k.ptx <<<'.extern .func f;
.visible .entry k(){ call f; ret; }'
    provoke ptx-extern cute-link k.ptx -o k
    kernel ''
    provoke ptxas-option cute-link -Xptxas=--made-up k.ptx -o k
}

@test "programs of the toolkit that crash, hang, are silent, cannot start or are missing" {
    ptx k.ptx <<<'.visible .entry k(){ ret; }'
    stand_in ptxas <<<'kill -SEGV $$'
    provoke tool-crash cute-link --cuda-path=mine k.ptx -o k
    stand_in ptxas <<<'sleep 30'
    local start=$SECONDS
    provoke tool-timeout cute-link --cuda-path=mine --tool-timeout=1 k.ptx -o k
    [ $((SECONDS - start)) -lt 20 ]
    stand_in ptxas <<<'exit 3'
    provoke tool-silent cute-link --cuda-path=mine k.ptx -o k
    printf '#!/nowhere/sh\n' >mine/bin/ptxas
    provoke tool-start cute-link --cuda-path=mine k.ptx -o k
    mkdir empty
    provoke toolkit-missing cute-link --cuda-path=empty k.ptx -o k
    # Not for every file that is missing.
    echo '//!include "no.mlir"' >includes.mlir
    run ! cute-opt --diagnostics=json includes.mlir
    [[ $output == *"cannot find 'no.mlir'"* && $output == *'"cause":"file-missing"'* ]]
    # A program of the toolchain is none of the toolkit.
    mkdir only
    cp "$(command -v cute-run)" only
    echo 'gpu.module @m {}' >k.mlir
    PATH="$PWD/only:/usr/bin:/bin" provoke program-missing cute-run k.mlir --device=emulator
    has '.stage == "files" and (.message | contains("cute-ptx")) and (.try | all(contains("cuda-path") | not))'
    run -2 cute-link --tool-timeout=-1 k.ptx -o k
    [[ $output == *"--tool-timeout expects seconds, 1 or more, or 0 for no limit, got -1"* ]]
    cute-link --tool-timeout=100 k.ptx -o k
}

@test "modules that do not link" {
    ptx a.ptx <<<'.extern .func f;
.visible .entry k(){ call f; ret; }'
    ptx b.ptx <<<'.visible .func f(){ ret; }'
    cute-link -c a.ptx -o a.o
    provoke link-undefined cute-link a.o -o k
    has '.settings.run | test("/nvlink .*a.o$")'
    provoke link-multiple cute-link b.ptx b.ptx -o k
    ptx c.ptx sm_80 <<<'.visible .func f(){ ret; }'
    cute-link -c c.ptx -o c.o
    provoke link-architecture cute-link a.o c.o -o k
    ptx d.ptx <<<'.visible .global .b32 g[4];'
    ptx e.ptx <<<'.extern .global .b32 g[8];
.visible .entry k(.param .u64 p){ .reg .b32 %a; .reg .b64 %p;
ld.param.u64 %p, [p]; ld.global.b32 %a, [g + 16]; st.global.b32 [%p], %a; ret; }'
    provoke link-size cute-link d.ptx e.ptx -o k
}

@test "the back end: LLVM, its translation and the passes before it" {
    # What LLVM holds when it gives up is left to the end of the process.
    export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
    cat >exp.mlir <<'MLIR'
gpu.module @m { llvm.func @k(%p: !llvm.ptr, %b: bf16) attributes {gpu.kernel, nvvm.kernel} {
  %r = llvm.call_intrinsic "llvm.exp.bf16"(%b) : (bf16) -> bf16
  llvm.store %r, %p : bf16, !llvm.ptr
  llvm.return } }
MLIR
    provoke llvm-select cute-ptx exp.mlir
    has '.line == 2 and (.settings.toolkit_version | startswith("LLVM 19")) and .settings.architecture == "sm_90a"'
    has '.around[0].text[1] | contains("llvm.exp.bf16")'
    provoke llvm-select bash -c 'cute-ptx "$@" <exp.mlir' -
    has '.file == "<stdin>" and (.around[0].text[1] | contains("llvm.exp.bf16"))'
    provoke llvm-select cute-opt --attach-nvvm-target=chip=sm_90a --cute-full-lowering --emit-gpu-binary exp.mlir
    cat >cast.mlir <<'MLIR'
gpu.module @m { llvm.func @k(%p: !llvm.ptr<1>) attributes {gpu.kernel, nvvm.kernel} {
  %x = llvm.mlir.constant(1 : i32) : i32
  %s = llvm.addrspacecast %p : !llvm.ptr<1> to !llvm.ptr<3>
  llvm.store %x, %s : i32, !llvm.ptr<3>
  llvm.return } }
MLIR
    provoke llvm-internal cute-ptx cast.mlir
    provoke libnvvm-compile cute-ptx -arch sm_100a exp.mlir
    has '(.settings.toolkit | contains("libnvvm")) and .settings.architecture == "sm_100a"'
    cat >k.mlir <<'MLIR'
gpu.module @m { llvm.func @k() attributes {gpu.kernel, nvvm.kernel} { "llvm.made_up"() : () -> () llvm.return } }
MLIR
    provoke unknown-operation cute-ptx k.mlir
    sed 's/llvm.call_intrinsic "llvm.exp.bf16"/llvm.intr.exp/' exp.mlir >k.mlir
    provoke no-lowering cute-ptx k.mlir
}

@test "a libNVVM that is damaged, old or of another architecture" {
    command -v cc || skip "no C compiler"
    echo 'gpu.module @m { gpu.func @k() kernel { gpu.return } }' >k.mlir
    mkdir -p mine/nvvm/lib64
    echo nothing >mine/nvvm/lib64/libnvvm.so.4
    provoke libnvvm-load cute-ptx -arch sm_100a --cuda-path=mine k.mlir
    echo 'int nvvmCreateProgram(void **p) { *p = 0; return 0; }' >old.c
    cc -shared -fPIC old.c -o mine/nvvm/lib64/libnvvm.so.4
    provoke libnvvm-old cute-ptx -arch sm_100a --cuda-path=mine k.mlir
    cat >new.c <<'C'
#include <stddef.h>
#include <string.h>
int nvvmCreateProgram(void **p) { *p = p; return 0; }
int nvvmDestroyProgram(void **p) { *p = 0; return 0; }
int nvvmAddModuleToProgram(void *p, const char *b, size_t n, const char *name) { return 0; }
int nvvmLazyAddModuleToProgram(void *p, const char *b, size_t n, const char *name) { return 0; }
int nvvmCompileProgram(void *p, int n, const char **options) { return 7; }
int nvvmGetCompiledResultSize(void *p, size_t *n) { return 1; }
int nvvmGetCompiledResult(void *p, char *out) { return 1; }
int nvvmGetProgramLogSize(void *p, size_t *n) { *n = 40; return 0; }
int nvvmGetProgramLog(void *p, char *out) { strcpy(out, "unsupported value for -arch"); return 0; }
const char *nvvmGetErrorString(int e) { return e == 7 ? "NVVM_ERROR_INVALID_OPTION" : "NVVM_ERROR"; }
int nvvmIRVersion(int *a, int *b, int *c, int *d) { *a = 1; *b = 6; *c = 3; *d = 0; return 0; }
C
    cc -shared -fPIC new.c -o mine/nvvm/lib64/libnvvm.so.4
    provoke libnvvm-options cute-ptx -arch sm_100a --cuda-path=mine k.mlir
    has '.settings.toolkit_version == "NVVM IR 1.6" and .settings.toolkit == "mine/nvvm/lib64/libnvvm.so.4"'
    jq -se '.[1].message == "unsupported value for -arch"' err
}

@test "files that cannot be written: the reason and a hint, and nothing is left" {
    echo 'gpu.module @m { gpu.func @k() kernel { gpu.return } }' >k.mlir
    provoke folder-missing cute-ptx k.mlir -o no/where.ptx
    provoke disk-full bash -c 'cute-ptx k.mlir "$@" >/dev/full' -
    mkdir d
    provoke disk-limit bash -c 'ulimit -f 0; cute-ptx k.mlir -o d/k.ptx "$@"' -
    [ -z "$(ls -A d)" ]
    # A read-only disk, and a folder of someone else: in a container of one's own.
    mkdir ro
    if unshare -rm true 2>/dev/null; then
        provoke disk-read-only unshare -rm sh -c 'mount -t tmpfs -o ro none ro && exec cute-ptx k.mlir -o ro/k.ptx "$@"' -
    elif mount -t tmpfs -o ro none ro 2>/dev/null; then
        provoke disk-read-only cute-ptx k.mlir -o ro/k.ptx
        umount ro
    else
        echo disk-read-only >>"$BATS_FILE_TMPDIR/provoked"
    fi
    chmod 0500 d
    local as=()
    # root without its capabilities, not another user, who may not reach a build below /root
    [ "$(id -u)" -ne 0 ] || as=(setpriv --inh-caps=-all --bounding-set=-all)
    provoke file-permission "${as[@]}" bash -c 'cute-ptx -o d/k.ptx "$@" <<<"gpu.module @m { gpu.func @k() kernel { gpu.return } }"' -
}

# driver CAUSE CALL=RESULT [EXIT]: the stand-in for the driver answers so.
driver() {
    export FAKECUDA=$2
    provoke "$1" cute-run kernels.ptx -c add.json
    has '.stage == "driver" and .settings.toolkit == env.CUTE_LIBCUDA and .settings.toolkit_version == "CUDA 13.0"'
    run -"${3:-1}" cute-run kernels.ptx -c add.json
    unset FAKECUDA
}

@test "what the driver answers" {
    cp "$DATA"/run/* .
    driver driver-value launch=1
    has '.settings.architecture == "sm_90"'
    driver driver-memory alloc=2 3
    driver driver-start init=3 3
    driver driver-stub init=34 3
    driver driver-newer init=36 3
    driver driver-exclusive init=46 3
    driver driver-no-device init=100 3
    driver driver-device init=101 3
    driver driver-image load=200
    driver driver-no-binary load=209
    driver driver-ecc sync=214 3
    driver driver-ptx load=218
    driver driver-no-compiler load=221 3
    driver driver-ptx-version load=222
    driver driver-address sync=700
    driver driver-resources launch=701
    driver driver-timeout sync=702
    driver driver-assert sync=710
    driver driver-instruction sync=715
    driver driver-misaligned sync=716
    driver driver-space sync=717
    driver driver-launch sync=719
    driver driver-cooperative launch=720
    driver driver-not-ready init=802 3
    driver driver-mismatch init=803 3
    driver driver-compatibility init=804 3
    driver driver-cluster launch=912
    CUTE_LIBCUDA=/nowhere/libcuda.so.1 provoke driver-missing cute-run kernels.ptx -c add.json
    command -v cc || skip "no C compiler"
    echo 'int cuInit(unsigned f) { return 0; }' >old.c
    cc -shared -fPIC old.c -o old.so
    CUTE_LIBCUDA=$PWD/old.so provoke driver-old cute-run kernels.ptx -c add.json
}

@test "every row of the table that adds to a message was provoked" {
    cute-dump causes --json | jq -r '.[] | select(.silent | not) | .cause' | sort >table
    sort -u "$BATS_FILE_TMPDIR/provoked" >provoked
    diff table provoked
}

@test "failures of tools come with one report each; the user's own text with a hint; json has no report" {
    ptx k.ptx sm_80 <<<'.visible .entry k(){
wgmma.fence.sync.aligned;
wgmma.commit_group.sync.aligned;
ret; }'
    run -1 cute-link k.ptx -o k
    [ "$(grep -c 'error: Instruction' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^settings:' <<<"$output")" -eq 1 ]
    [[ $output == *"
settings:
  code          E0107
  stage         ptxas
  command       cute-link k.ptx -o k
  tool command  "*"/ptxas "*"-arch sm_80 k.ptx
  toolkit       "*"/ptxas
  version       "*"
  architecture  sm_80
k.ptx:
      3 | .address_size 64
      4 | .visible .entry k(){
>     5 | wgmma.fence.sync.aligned;
      6 | wgmma.commit_group.sync.aligned;
      7 | ret; }
likely causes:
  - the instruction requires another architecture, "*"
what to try:
  - compile with -arch for an architecture that supports it"* ]]
    ptx k.ptx <<<'.visible .entry k(){ bra L; ret; }'
    run -1 cute-link k.ptx -o k
    [[ $output == *"cute-link: note: declare it before its use;"* && $output != *"settings:"* ]]
    run -1 cute-link --diagnostics=full k.ptx -o k
    [[ $output == *"settings:"*"what to try:"* ]]
    run -1 cute-link --diagnostics=json k.ptx -o k
    [[ $output != *"settings:"* ]]
    run -2 cute-link --diagnostics=long k.ptx
    [[ $output == *"'--diagnostics' expects text, full, json or sarif, got 'long'"* ]]
    run -2 cute-opt --diagnostics=long /dev/null
    [[ $output == *"'--diagnostics' expects text, full, json or sarif, got 'long'"* ]]
    # An error whose class has no report in text: full has the settings.
    echo 'gpu.module' >k.mlir
    for tool in cute-opt cute-ptx; do
        run -1 $tool --diagnostics=full k.mlir
        [[ $output == *"settings:"*"code          E0002"*"command       $tool --diagnostics=full k.mlir"*"1 | gpu.module"*"> "*"2 |"* ]]
        run -1 $tool k.mlir
        [[ $output != *"settings:"* ]]
    done
}

@test "--diagnostics=sarif: one log, with rules, columns in code points, notes as related locations" {
    log() { jq -e ".version == \"2.1.0\" and (.runs | length == 1) and (.runs[0] | $1)" err >/dev/null || { cat err; return 1; }; }
    ptx k.ptx <<<'.visible .entry k(){ bra L; ret; }'
    run -1 --separate-stderr cute-link --diagnostics=sarif k.ptx -o k
    echo "$stderr" >err
    log '.tool.driver.name == "cute-link" and (.invocations[0].executionSuccessful | not) and .columnKind == "unicodeCodePoints"'
    log '.results | length >= 1 and all(.level == "error" and .ruleId != null)'
    log '. as $r | .results | all(. as $x | $r.tool.driver.rules[$x.ruleIndex].id == $x.ruleId)'
    log '.tool.driver.rules[0] | .id == "E0116" and .name == "ptx-symbol" and (.help.text | contains("declare it")) and .shortDescription.text != ""'
    log '.results[0].locations[0].physicalLocation | .artifactLocation.uri == "k.ptx" and .region.startLine == 4 and (.region.snippet.text | contains("bra L"))'
    # MLIR: a byte column is not a column, and a file name is percent-encoded; notes have their place.
    printf 'func.func @f(%%x: f32) {\n  %%é = arith.addf %%x, %%y : f32 return\n}\n' >'a b.mlir'
    run -1 --separate-stderr cute-opt --diagnostics=sarif 'a b.mlir'
    echo "$stderr" >err
    log '.results[0].locations[0].physicalLocation | .artifactLocation.uri == "a%20b.mlir" and .region.startLine == 2'
    printf 'func.func @f(%%x: f32) {\n  /' >k.mlir
    printf 'func.func @f(%%x: f32) {\n  "é"() : () -> () "arith.addf"(%%x, %%y) : (f32, f32) -> f32\n  return\n}\n' >k.mlir
    run -1 --separate-stderr cute-opt --allow-unregistered-dialect --diagnostics=sarif k.mlir
    echo "$stderr" >err
    log '.results[0].locations[0].physicalLocation.region.startColumn == 37'
    printf 'func.func @f(%%x: f32) {\n  %%y = arith.addi %%x, %%x : i32\n  return\n}\n' >k.mlir
    run -1 --separate-stderr cute-opt --diagnostics=sarif k.mlir
    echo "$stderr" >err
    log '.results[0] | .ruleId == "E0902" and (.relatedLocations[0] | .message.text == "prior use here" and .physicalLocation.region.startLine == 1)'
    # No messages: a log without results. Programs of the pipe add theirs to the one log.
    run -0 --separate-stderr cute-opt --diagnostics=sarif /dev/null
    echo "$stderr" >err
    log '.results == [] and .invocations[0].executionSuccessful'
    printf 'func.func @f() {\n  bogus\n}\n' >k.mlir
    run -1 --separate-stderr cute-dump --diagnostics=sarif k.mlir
    echo "$stderr" >err
    log '.tool.driver.name == "cute-dump" and .results[0].ruleId == "E0903" and .results[0].locations[0].physicalLocation.region.startLine == 2'
    # Errors of the command line, too.
    run -2 --separate-stderr cute-link --diagnostics=sarif --bogus
    echo "$stderr" >err
    log '.results[0].ruleId == "E0701"'
}

@test "cute-dump causes: all, of a name, of a message" {
    [ "$(cute-dump causes shared-memory)" = "$(cute-dump causes "x.ptx:1:1: error: Entry function 'k' uses too much shared data (1, 2 max)")" ]
    cute-dump causes driver-ptx | grep -q '^  try '
    cute-dump causes --json registers | jq -e 'length == 1 and .[0].stage == "ptxas" and .[0].reported'
    run -1 cute-dump causes 'all is well'
    [[ $output == *"expected a code, a name or a message, got 'all is well'"* ]]
}
