#!/usr/bin/env bats
# PTX as people write it by hand, on the emulator. Values are those of the code that ptxas 13.0 makes of the same text.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_TEST_TMPDIR"
}

# begins k.ptx
head() {
    printf '.version 8.6\n.target sm_90a\n.address_size 64\n' >k.ptx
}

# VALUE EXPRESSION...: each expression as the operand of a mov has the value.
values() {
    head
    printf '.visible .entry k(.param .u64 p) {\n.reg .b64 o; .reg .b32 r; .reg .f32 f;\nld.param.u64 o, [p];\n' >>k.ptx
    n=0
    while [ $# -gt 0 ]; do
        case $1 in
        f:*) printf 'mov.f32 f, %s; st.global.f32 [o+%d], f;\n' "$2" $((4 * n)) >>k.ptx ;;
        *) printf 'mov.u32 r, %s; st.global.u32 [o+%d], r;\n' "$2" $((4 * n)) >>k.ptx ;;
        esac
        printf '%s\n' "${1#f:}" >>expected
        n=$((n + 1))
        shift 2
    done
    printf 'ret; }\n' >>k.ptx
    printf '{"grid":1,"block":1,"buffers":{"o":{"dtype":"i32","shape":[%d]}},"args":["o"],"outputs":{"o":"o.raw"}}' $n >k.json
    cute-run k.ptx --config k.json --device emulator >log 2>&1 || { cat log; return 1; }
    od -An -v -t d4 -w4 o.raw | tr -d ' ' >got
    diff expected got
}

@test "constant expressions have C's operators, precedence and conversions to unsigned" {
    values 1 '7 % 3' 10 '3 > 2 ? 10 : 20' 1 '(3 <= 2) + (1 == 1) + (2 != 2) * 4' 1 '(1 && 0) || 2' 255 '(-1 >> 60) & 0xff' \
        1 '(-1 / 2U) >> 62' 19 '1 << 4 | 3 & 6 ^ 1' -3 '-7 / 2' 1 '((.u64) -1 > 0)' 1 '-1 < 0' -1 '!0 ? ~0 : 0' \
        497 '0777 + 0b11U + 0xFU - WARP_SZ'
}

@test "constant expressions may be of floating-point numbers" {
    values f:1065353216 1. f:1056964608 .5 f:1082130432 '1.5 * 2.0 - -1.0'
}

@test "a constant expression that divides by zero is refused at the operator" {
    head
    printf '.visible .entry k() { .reg .b32 r;\n    mov.u32 r, 1 / 0;\nret; }\n' >>k.ptx
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"k.ptx:5:18: error: division by zero"* ]]
}

@test "PTX for an architecture above sm_90a runs as far as its instructions are known, and one of no known name does not load" {
    printf '{"kernel":"k","grid":1,"block":32,"buffers":{"p":{"dtype":"i32","shape":[32]}},"args":["p"],"check":{"p":"i"}}' >k.json
    printf '{"kernel":"other","grid":1,"block":32,"buffers":{"p":{"dtype":"i32","shape":[32]}},"args":["p"]}' >other.json
    for target in sm_100 sm_100a sm_103a sm_110f sm_120 sm_120a sm_121a; do
        cat >k.ptx <<P
.version 9.0
.target $target
.address_size 64
.visible .entry k(.param .u64 p) {
    .reg .b64 %rd<4>; .reg .b32 %r<2>;
    ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, %rd2;
    st.global.u32 [%rd3], %r1;
    ret;
}
.visible .entry other(.param .u64 p) {
    .reg .b32 %r<2>; .reg .pred %p<2>; .shared .b32 a;
    mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 5;
    @%p1 frob.sync.b32 %r1, [a], {%r1, 1};
    ret;
}
.visible .entry tensor(.param .u64 p) {
    .shared .b32 a;
    tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [a], 32;
    ret;
}
P
        run -0 cute-run k.ptx --config k.json --device emulator
        run -1 cute-run k.ptx --config other.json --device emulator
        [[ $output == *"k.ptx:13:10: error: frob.sync.b32 is not supported: unknown instruction"* ]] || { echo "$output"; false; }
        [[ $output == *"in kernel 'other', block (0, 0, 0), thread (5, 0, 0)"* ]]
        sed 's/other/tensor/' other.json >tensor.json
        run -1 cute-run k.ptx --config tensor.json --device emulator
        [[ $output == *"k.ptx:18:5: error: tcgen05 is not supported: requires sm_100"* ]] || { echo "$output"; false; }
    done
    sed -i 's/^.target.*/.target sm_90a/' k.ptx
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"k.ptx:13:10: error: unknown instruction frob.sync.b32 at line 13"* ]] || { echo "$output"; false; }
    printf '.version 8.8\n.target gfx90a\n.address_size 64\n.visible .entry k() { ret; }\n' >k.ptx
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"error: expected an architecture such as sm_90a, got 'gfx90a'"* ]]
}

@test "a program loads fatbins, objects and cubins of cute-link into the emulator, as cute-run does" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the library wants the sanitizer's run-time" ;; esac
    command -v nvcc >/dev/null || skip "no nvcc"
    cat >run.py <<'P'
import ctypes, sys
sys.path.insert(0, sys.argv[1] + "/docs/examples")
import tinygrad_emulator as emulator
lib, Launch = emulator.lib, emulator.Launch
values = (ctypes.c_uint32 * 32)()
emulator.register(ctypes.addressof(values), ctypes.sizeof(values))
for path in sys.argv[2:]:
    image = open(path, "rb").read()
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    try:
        emulator.check(lib.cute_device_load(emulator.device, path.encode(), image, ctypes.c_size_t(len(image)), ctypes.byref(module), emulator.diag))
    except RuntimeError as error:
        print(path, error)
        continue
    emulator.check(lib.cute_device_get_function(emulator.device, module, b"k", ctypes.byref(function), emulator.diag))
    launch = Launch(size=ctypes.sizeof(Launch), grid=(1, 1, 1), block=(32, 1, 1))
    address = ctypes.c_uint64(ctypes.addressof(values))
    values[:] = [0] * 32
    emulator.check(lib.cute_device_start(emulator.device, function, ctypes.byref(launch), (ctypes.c_void_p * 1)(ctypes.addressof(address)), emulator.diag))
    print(path, sum(values))
P
    cat >k.cu <<'C'
extern "C" __global__ void k(unsigned *p)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    p[threadIdx.x] = threadIdx.x + 1;
#else
    p[threadIdx.x] = threadIdx.x;
#endif
}
C
    nvcc -fatbin -gencode arch=compute_90,code=compute_90 -o plain.fatbin k.cu
    nvcc -fatbin -Xfatbin -compress-all -gencode arch=compute_90,code=compute_90 -gencode 'arch=compute_90a,code=[sm_90a,compute_90a]' \
        -gencode arch=compute_100,code=compute_100 -o packed.fatbin k.cu
    nvcc -fatbin -gencode arch=compute_120,code=compute_120 -o later.fatbin k.cu
    nvcc -c -gencode arch=compute_90a,code=compute_90a -o object.o k.cu
    nvcc -ptx -arch=sm_90a -o k.ptx k.cu
    "$CUTE_BIN/cute-link" k.ptx -o ours.cubin
    nvcc -cubin -arch=sm_90a -o bare.cubin k.cu
    root=$BATS_TEST_DIRNAME/../..
    LIBCUTE=$CUTE_BIN/../libcute.so DEV= run python3 run.py "$root" plain.fatbin packed.fatbin later.fatbin object.o ours.cubin bare.cubin
    [[ $output == *"plain.fatbin 496"*"packed.fatbin 528"*"later.fatbin 496"*"object.o 528"*"ours.cubin 528"* ]] || { echo "$output"; false; }
    [[ $output == *"bare.cubin "*"error: the module has no PTX for the emulator to run: link it with cute-link from PTX or MLIR"* ]] || { echo "$output"; false; }
    # cute-run takes the same image of a fatbin.
    echo '{"kernel": "k", "grid": 1, "block": 32, "args": ["p"], "buffers": {"p": {"dtype": "u32", "shape": [32]}}, "check": {"p": "i + 1"}}' >k.json
    run -0 cute-run packed.fatbin --config k.json --device emulator
}

@test "a cooperative launch that no H100 holds at once is refused" {
    head
    printf '.visible .entry k() { ret; }\n' >>k.ptx
    # 2048 threads a multiprocessor: two blocks of 1024 on each of 132
    printf '{"grid":264,"block":1024,"cooperative":true,"args":[]}' >k.json
    cute-run k.ptx --config k.json --device emulator
    printf '{"grid":265,"block":1024,"cooperative":true,"args":[]}' >k.json
    run -1 cute-run k.ptx --config k.json --device emulator
    [[ $output == *"cooperative launch of 265 clusters exceeds the 264 that fit on an H100"* ]]
}

@test "instructions of types or roundings that they do not have are refused, as ptxas does" {
    printf '{"grid":1,"block":1,"args":[]}' >k.json
    while IFS='|' read -r instruction message; do
        head
        printf '.visible .entry k() { .reg .b32 %%r<4>; .reg .f32 %%f<4>; .reg .pred %%p<2>;\n    %s;\nret; }\n' "$instruction" >>k.ptx
        run -1 cute-run k.ptx --config k.json --device emulator
        [[ $output == *"k.ptx:5:5: error: $message"* ]] || { echo "$instruction: $output"; false; }
    done <<'EOF'
and.u32 %r1, %r2, %r3|and does not support type .u32
add.b32 %r1, %r2, %r3|add does not support type .b32
neg.u32 %r1, %r2|neg does not support type .u32
div.f32 %f1, %f2, %f3|div.f32 requires one of the modifiers approx full rn rz rm rp
fma.f32 %f1, %f2, %f3, %f3|fma.f32 requires one of the modifiers rn rz rm rp
ex2.f32 %f1, %f2|ex2.f32 requires one of the modifiers approx
add.rn.rz.f32 %f1, %f2, %f3|add has more than one rounding
setp.lt.gt.u32 %p1, %r1, %r2|setp has more than one comparison
EOF
}

# TEXT: a kernel's body with o, an array of 16 words, in %o and n = 3 in %n; its words are then in `words`.
indexed() {
    head
    printf '.global .align 4 .u32 g[8] = {10, 11, 12, 13, 14, 15, 16, 17};\n.global .u32 one = 1;\n.const .align 2 .u16 c[4] = {5, 6, 7, 8};
.global .align 4 .u32 m[2][4] = {{20, 21, 22, 23}, {24, 25, 26, 27}};\n.extern .shared .align 4 .b32 open[];
.visible .entry k(.param .u64 p, .param .u32 q, .param .align 4 .b32 w[2]) {\n.reg .b64 %%o, %%d<8>; .reg .b32 %%n, %%r<8>; .reg .b16 %%h; .reg .f32 %%f; .reg .pred %%p;
.shared .align 8 .f32 s[16]; .local .align 4 .b32 l[8];\nld.param.u64 %%o, [p]; ld.param.u32 %%n, [q];\n%s\nret; }\n' "$1" >>k.ptx
    printf '{"grid":1,"block":1,"dynamic_smem":64,"buffers":{"o":{"dtype":"i32","shape":[16],"init":0}},"args":["o",{"type":"i32","value":3},{"struct":[{"type":"i32","value":7},{"type":"i32","value":9}]}],
"outputs":{"o":"o.raw"}}' >k.json
    run cute-run k.ptx --config k.json --device emulator "${@:2}"
}

@test "array[index] is the address of an element, in bytes of its type, whatever the dimensions" {
    indexed 'mov.u64 %d1, g; mov.u64 %d2, g[3]; sub.u64 %d2, %d2, %d1; st.global.u64 [%o], %d2;
        mov.u64 %d1, m; mov.u64 %d2, m[5]; sub.u64 %d2, %d2, %d1; st.global.u64 [%o+8], %d2;
        mov.u32 %r1, s; mov.u32 %r2, s[2+1]; sub.u32 %r2, %r2, %r1; st.global.u32 [%o+16], %r2;
        mov.b32 %r1, l; mov.b32 %r2, l[%n]; sub.u32 %r2, %r2, %r1; st.global.u32 [%o+20], %r2;
        mov.u64 %d1, g; mov.u64 %d2, g[%n+2]; sub.u64 %d2, %d2, %d1; st.global.u64 [%o+24], %d2;
        mov.u64 %d2, g[-1]; sub.u64 %d2, %d1, %d2; st.global.u64 [%o+32], %d2;
        mov.u64 %d2, g[4294967295]; sub.u64 %d2, %d1, %d2; st.global.u64 [%o+40], %d2;
        cvta.shared.u64 %d1, s; cvta.shared.u64 %d2, s[4]; sub.u64 %d2, %d2, %d1; st.global.u64 [%o+48], %d2;
        mov.u32 %r1, open; mov.u32 %r2, open[2]; sub.u32 %r2, %r2, %r1; st.global.u32 [%o+56], %r2;'
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$(od -An -v -td4 -w64 o.raw | xargs)" = "12 0 20 0 12 12 20 0 4 0 4 0 16 0 2 0" ]
}

@test "array[index] is what ld and st access, by constants and registers of any integer type" {
    indexed 'ld.global.u32 %r1, g[3]; st.global.u32 [%o], %r1; ld.global.u32 %r1, g[%n+1]; st.global.u32 [%o+4], %r1;
        ld.global.v2.u32 {%r1, %r2}, m[6]; st.global.u32 [%o+8], %r1; st.global.u32 [%o+12], %r2;
        ld.const.u16 %r1, c[%n]; st.global.u32 [%o+16], %r1; cvt.u64.u32 %d1, %n; ld.global.u32 %r1, g[%d1]; st.global.u32 [%o+20], %r1;
        cvt.u16.u32 %h, %n; ld.volatile.global.u32 %r1, g[%h]; st.global.u32 [%o+24], %r1;
        st.shared.f32 s[2], 0f3f800000; ld.shared.b32 %r1, s[2]; st.global.u32 [%o+28], %r1; ld.b32 %r1, s[2]; st.global.u32 [%o+32], %r1;
        st.local.b32 l[%n], 77; ld.local.b32 %r1, l[3]; st.global.u32 [%o+36], %r1; ld.param.b32 %r1, w[1]; st.global.u32 [%o+40], %r1;
        setp.eq.u32 %p, %n, 4; mov.u32 %r1, 5; @%p ld.global.u32 %r1, g[%n]; st.global.u32 [%o+44], %r1;
        st.global.u32 g[%n], 99; ld.global.u32 %r1, [g+12]; st.global.u32 [%o+48], %r1;'
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$(od -An -v -td4 -w64 o.raw | xargs)" = "13 14 26 27 8 13 13 1065353216 1065353216 77 9 5 99 0 0 0" ]
}

@test "an element out of bounds is found by its access" {
    indexed 'ld.global.u32 %r1, g[%n+5]; st.global.u32 [%o], %r1;'
    [ "$status" -eq 1 ]
    [[ $output == *"ld reads 4 bytes at address 0x"*"0 bytes past the end of variable 'g' of 32 bytes"* ]]
}

@test "indices that ptxas does not take are refused at their place" {
    while IFS='|' read -r text message; do
        indexed "$text;"
        [ "$status" -eq 1 ]
        [[ $output == *"k.ptx:13:$message"* ]] || { echo "$text: $output"; false; }
    done <<'T2'
mov.u64 %d1, m[1][2]|18: error: expected a single index, which counts the elements of all dimensions
mov.u64 %d1, one[0]|14: error: expected an array, got 'one'
mov.u64 %d1, g[%f]|16: error: expected an integer register as the index
mov.u64 %d1, g[g]|16: error: expected an integer register as the index
mov.u64 %d1, g[1.5]|16: error: expected an integer, got a floating-point number
mov.u64 %d1, g[]|16: error: expected a number, got ']'
mov.u64 %d1, g[%n-1]|18: error: expected ']', got '-'
ld.global.u32 %r1, [g[1]]|25: error: expected an address, got ']'
add.u64 %d1, %d1, g[1]|1: error: expected an operand of type .u64
atom.global.add.u32 %r1, g[1], 1|1: error: expected an address [register + number] as operand 2
T2
}

@test "docs/examples/tinygrad_emulator.py runs a kernel that tinygrad printed, on memory of the host" {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the library wants the sanitizer's run-time" ;; esac
    cat >run.py <<'P'
import ctypes, os, sys
sys.path.insert(0, sys.argv[1] + "/docs/examples")
import tinygrad_emulator as emulator
text = open(sys.argv[1] + "/tests/emulator/tinygrad/sum.ptx", "rb").read()
result, values = (ctypes.c_float * 1)(), (ctypes.c_float * 256)(*range(256))
for array in result, values: emulator.register(ctypes.addressof(array), ctypes.sizeof(array))
args = (ctypes.c_void_p * 2)(ctypes.addressof(result), ctypes.addressof(values))
emulator.ptx_run(text, 2, args, 16, 1, 1, 1, 1, 1, 0)
print(result[0])
args[1] = args[1] + 4 # the last value is read past the end
try: emulator.ptx_run(text, 2, args, 16, 1, 1, 1, 1, 1, 0)
except RuntimeError as error: print(error)
P
    root=$BATS_TEST_DIRNAME/../..
    LIBCUTE=$CUTE_BIN/../libcute.so DEV= run python3 run.py "$root"
    [[ $output == *"32640.0"* ]] || { echo "$output"; false; }
    [[ $output == *"ld reads 4 bytes at address 0x"*"0 bytes past the end of the allocation of 1024 bytes"* ]] || { echo "$output"; false; }
}

@test "a finding names a register as it is declared: of a range, in a list, of a guard, without a percent sign" {
    indexed '.reg .b32 plain; .reg .b32 %a<20>; .reg .pred %q<3>; st.global.u32 [%o], plain; st.global.v2.u32 [%o], {%n, %a17};
        @%q2 bra E; E:' --check=uninit
    [[ $output == *"uninitialised: st stores plain, which was never written"* ]] || { echo "$output"; false; }
    [[ $output == *"uninitialised: st stores %a17, which was never written"* ]]
    [[ $output == *"uninitialised: bra depends on %q2, which was never written"* ]]
}

@test "registers are parameters and results of functions, registers and numbers arguments of calls" {
    cat >k.ptx <<'PTX'
.version 8.3
.target sm_90
.address_size 64
.func (.reg .pred q) inv(.reg .pred p) { not.pred q, p; ret; }
.func (.reg .u32 r) abc(.reg .u32 x);
.func (.reg .u32 r, .reg .f64 d, .reg .u16 h, .reg .f32 s) many(.reg .u32 x, .reg .f64 y, .reg .u16 hh, .reg .f32 g, .reg .pred c)
{ .reg .pred %n; setp.eq.u32 %n, x, 3; add.u32 r, x, x; add.f64 d, y, y; add.u16 h, hh, 1; selp.f32 s, g, 0f00000000, c; @%n ret; add.u32 r, r, 1; ret; }
.func (.reg .u32 r) fact(.reg .u32 x)
{ .reg .pred %p; .reg .u32 %t; setp.le.u32 %p, x, 1; mov.u32 r, 1; @%p bra L; sub.u32 %t, x, 1; call (r), fact, (%t); mul.lo.u32 r, r, x;
L: ret; }
.func (.param .b32 z) mixed(.reg .u32 x) { st.param.b32 [z], x; ret; }
.func (.reg .u32 z) plain(.param .b32 x) { ld.param.b32 z, [x]; ret; }
.func abc2(.reg .u64 p, .reg .u32 x) { st.global.u32 [p], x; ret; }
.visible .entry k(.param .u64 out)
{
  .reg .pred %p<5>; .reg .b32 %r<30>; .reg .f64 %d<5>; .reg .f32 %f<5>; .reg .b64 %rd<9>; .reg .b16 %h<4>;
  ld.param.u64 %rd1, [out];
  cvta.to.global.u64 %rd1, %rd1;
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd1, %rd1, %rd2;
  setp.lt.u32 %p1, %r1, 16;
  call (%p2), inv, (%p1);
  mov.f64 %d1, 0d3FF8000000000000;
  mov.b16 %h1, 41;
  call (%r2, %d2, %h2, %f2), many, (%r1, %d1, %h1, 0f3F800000, %p2);
  cvt.rzi.u32.f64 %r3, %d2;
  cvt.u32.u16 %r4, %h2;
  cvt.rzi.u32.f32 %r5, %f2;
  mov.u32 %r10, 0;
  and.b32 %r11, %r1, 7;
  call (%r6), fact, (%r11);
  @%p1 call (%r10), abc, (5);
  { .param .b32 a; call (a), mixed, (%r1); ld.param.b32 %r12, [a]; call (%r13), plain, (a); }
  { .param .b32 b; st.param.b32 [b], 100; call (%r14), plain, (b); }
  mov.u64 %rd4, fact;
  P: .callprototype (.reg .u32 _) _ (.reg .u32 _);
  mov.u32 %r16, 3;
  call (%r15), %rd4, (%r16), P;
  mad.lo.u32 %r20, %r2, 1, %r3;
  add.u32 %r20, %r20, %r4; add.u32 %r20, %r20, %r5; add.u32 %r20, %r20, %r6; add.u32 %r20, %r20, %r10; add.u32 %r20, %r20, %r12;
  add.u32 %r20, %r20, %r13; add.u32 %r20, %r20, %r14; add.u32 %r20, %r20, %r15;
  call abc2, (%rd1, %r20);
  ret;
}
.func (.reg .u32 r) abc(.reg .u32 x) { mov.u32 r, x; ret; }
PTX
    echo '{"grid": 1, "block": 64, "buffers": {"o": {"dtype": "i32", "shape": [64]}}, "args": ["o"], "outputs": {"o": "o.raw"}}' >launch.json
    awk 'BEGIN { for (i = 0; i < 64; i++) { for (f = k = 1; k <= i % 8; k++) f *= k
                 print 2 * i + (i != 3) + 3 + 42 + (i < 16 ? 5 : 1) + f + 2 * i + 100 + 6 } }' >expected
    for seed in 0 1 2; do
        cute-run k.ptx -k k -c launch.json -d emulator --check=all --seed=$seed >out
        grep -q 'coalescing: passed' out
        od -An -v -t d4 -w4 o.raw | tr -d ' ' | diff expected -
    done
    wrong() {
        sed "s/@%p1 call (%r10), abc, (5);/$1/" k.ptx >bad.ptx
        run -1 cute-run bad.ptx -k k -c launch.json -d emulator
        [[ $output == *"bad.ptx:33:3: error: $2"* ]] || { echo "$output"; false; }
    }
    wrong 'call (7), abc, (5);' 'expected registers or .param variables as results of a call'
    wrong 'call (%r10), abc, (%rd1);' "expected a .u32 for 'x', got a register of .b64"
    wrong 'call (%p1), abc, (5);' "expected a .u32 for 'r', got a register of .pred"
    wrong 'call (%r10), inv, (5);' "expected a .pred for 'q', got a register of .b32"
    wrong 'call (%r10), abc, ({%r1, %r2});' 'expected registers, immediates or .param variables as arguments of a call'
    wrong 'call (%r10), abc, (out);' 'expected registers, immediates or .param variables as arguments of a call'
    wrong 'call (%r15), %rd4, (5), P;' 'expected a register or a .param variable in an indirect call'
    wrong 'call (%r10), abc;' "function 'abc' takes 1 parameters and returns 1 results, the call has 0 and 1"
    for text in '.func (.reg .u32) f;' '.func f(.reg .u32 x, .reg .u32 x);' '.func f(.reg .v4 .u32 x);' '.func f(.reg u32 x);' \
        '.visible .entry e(.reg .u32 x) { ret; }'; do
        sed "s/^.func .* mixed(/$text\n&/" k.ptx >bad.ptx
        run -1 cute-run bad.ptx -k k -c launch.json -d emulator
        [[ $output == *"bad.ptx:"*error* ]] || { echo "$text"; echo "$output"; false; }
    done
}

@test "a vector addition as texts on PTX have it, with and without a bound" {
    { printf '.version 8.5\n.target sm_90\n.address_size 64\n'; cat <<'PTX'
.visible .entry vector_add(
    .param .u64 A,
    .param .u64 B,
    .param .u64 C,
    .param .u32 N
)
{
    .reg .pred %p<2>;
    .reg .b32 %r<8>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<12>;

    ld.param.u64 %rd1, [A];
    ld.param.u64 %rd2, [B];
    ld.param.u64 %rd3, [C];
    ld.param.u32 %r1, [N];

    mov.u32 %r2, %tid.x;
    mov.u32 %r3, %ctaid.x;
    mov.u32 %r4, %ntid.x;
    mad.lo.s32 %r5, %r3, %r4, %r2;

    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra DONE;

    cvt.s64.s32 %rd4, %r5;
    shl.b64 %rd5, %rd4, 2;
    add.s64 %rd6, %rd1, %rd5;
    ld.global.f32 %f1, [%rd6];

    add.s64 %rd7, %rd2, %rd5;
    ld.global.f32 %f2, [%rd7];

    add.f32 %f3, %f1, %f2;

    add.s64 %rd8, %rd3, %rd5;
    st.global.f32 [%rd8], %f3;

DONE:
    ret;
}
PTX
    } >add.ptx
    cat >short.ptx <<'PTX'
.version 8.5
.target sm_90
.address_size 64

.visible .entry my_kernel(
    .param .u64 ptr_A,
    .param .u64 ptr_B,
    .param .u64 ptr_C
)
{
    .reg .pred %p<4>;
    .reg .b32 %r<16>;
    .reg .f32 %f<8>;
    .reg .b64 %rd<8>;

    // Thread index
    mov.u32 %r1, %tid.x;

    // Load A[i]
    ld.param.u64 %rd1, [ptr_A];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];

    // Load B[i]
    ld.param.u64 %rd5, [ptr_B];
    cvta.to.global.u64 %rd6, %rd5;
    add.s64 %rd7, %rd6, %rd3;
    ld.global.f32 %f2, [%rd7];

    // C[i] = A[i] + B[i]
    add.f32 %f3, %f1, %f2;

    // Store C[i]
    ld.param.u64 %rd8, [ptr_C];
    cvta.to.global.u64 %rd9, %rd8;
    add.s64 %rd10, %rd9, %rd3;
    st.global.f32 [%rd10], %f3;

    ret;
}
PTX
    sed 's/%rd<8>/%rd<16>/' short.ptx >mine.ptx
    for file in add mine; do
        n=$([ $file = add ] && echo 100 || echo 128)
        args='"a", "b", "c"'
        [ $file = mine ] || args=$args', {"type": "i32", "value": 100}'
        printf '{"grid": 1, "block": 128, "args": [%s], "buffers": {"a": {"dtype": "f32", "shape": [%d], "init": "normal"},
                "b": {"dtype": "f32", "shape": [%d], "init": "normal"}, "c": {"dtype": "f32", "shape": [%d]}},
                "check": {"c": "a[i] + b[i]"}}' "$args" $n $n $n >k.json
        cute-run $file.ptx -c k.json -d emulator --check=race,barrier,memory,uninit >out
        grep -q "check c: passed, $n elements" out
    done
    # One declares fewer registers than it uses.
    run -1 cute-run short.ptx -c k.json -d emulator
    [[ $output == *"short.ptx:36:18: error: undeclared register '%rd8'"* ]]
}

@test "cute-dump instructions: each with its meaning, of a name, as it is written" {
    cute-dump instructions --json | jq -e 'length > 130 and all(.[]; .meaning | length > 4) and ([.[].instruction] | unique | length) == length'
    [ "$(cute-dump instructions mad.lo.s32)" = "mad  d = a * b + c" ]
    [[ "$(cute-dump instructions tcgen05)" == "tcgen05  "*"tensor memory  requires sm_100" ]]
    cute-dump instructions --json cp | jq -e '.[0] | (.modifiers | split(" ") | index("bulk")) and (.partly | contains("sm_100")) and .not_emulated == null'
    run -1 cute-dump instructions frob.b32
    [[ $output == *"expected a PTX instruction, got 'frob.b32'"*"'cute-dump instructions' lists all of them"* ]]
}
