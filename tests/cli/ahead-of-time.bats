#!/usr/bin/env bats
# cute-link --emit-c: kernels as C in a program outside of the tree, on a driver that records launches.
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    export ROOT=$PWD DEST=$BATS_FILE_TMPDIR/dest WORK=$BATS_FILE_TMPDIR/work
    make --no-print-directory install DESTDIR="$DEST" PREFIX=/opt/cute >"$BATS_FILE_TMPDIR/log" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/log"; return 1; }
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    export PATH=$DEST/opt/cute/bin:$PATH LIBRARIES=$DEST/opt/cute/lib
    mkdir -p "$WORK"
    cd "$WORK"
    ln -s "$(realpath "$CUTE_BIN/../tests/librecordcuda.so")" libcuda.so.1
    # The sum of docs/tile-programs.md: two launches and a temporary.
    sed -n '/^!partial/,/^```/p' "$ROOT/docs/tile-programs.md" | grep -v '```' >rest
    { echo '!X = !cute.memref<f32, gmem, "?:1">'; cat rest; } >sum.mlir
    cute-ptx -arch sm_80 sum.mlir -o sum80.ptx
    cute-ptx -arch sm_90a sum.mlir -o sum.ptx
    cute-link --emit-c=k sum80.ptx sum.ptx
    # A product: tensor maps, clusters, and a temporary that is filled.
    cute-ptx -arch sm_90a -D T=bf16 -D ACC=f32 -D TD=bf16 -D BITS=16 -D BITSD=16 -D Z=0.0 -D A=0 -D B=0 -D TF32=0 -D PROMOTE=0 \
        -D SCALE=1 -D ADD=1 -D BIAS=1 -D ACT=0 -D BM=128 -D BN=128 -D BK=64 \
        -D SCHEDULE="stages=4 consumers=2 cluster=2x1 persistent=1 tail=stream" "$ROOT/kernels/product/product.mlir" -o product.ptx
    cute-link --emit-c=p product.ptx
    cute-link sum.ptx -o k.cubin
    cute-link product.ptx -o p.cubin
    cc -std=gnu17 -O2 -Wall -Wextra -Werror "$ROOT/tests/api/ahead.c" -I. k.o p.o -lpthread -ldl -o ahead
}

setup() {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the libraries want the sanitizer's run-time" ;; esac
    cd "$WORK"
    export LD_LIBRARY_PATH=$WORK:$LIBRARIES
}

# Fails with the output, if there is any.
quiet() {
    run "$@"
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$status: $output"; false; }
}

@test "the sources compile without warnings as C and as C++" {
    for compiler in "gcc -std=c11" "g++ -std=c++17 -xc++" "clang -std=c11" "clang++ -std=c++17 -xc++"; do
        command -v ${compiler%% *} >/dev/null || continue
        quiet $compiler -Wall -Wextra -Wpedantic -Werror -O1 -c k.c -o "$BATS_TEST_TMPDIR/k.o"
        quiet $compiler -Wall -Wextra -Wpedantic -Werror -O1 -c p.c -o "$BATS_TEST_TMPDIR/p.o"
    done
}

@test "a program of each compiler launches what cute/plan.h launches, byte for byte" {
    cc -std=gnu17 -Wall -Wextra -Werror -I"$DEST/opt/cute/include" "$ROOT/tests/api/ahead_plan.c" -L"$LIBRARIES" -lcute -o plan
    rm -f "$BATS_TEST_TMPDIR"/*.txt
    CUTE_LIBCUDA=$WORK/libcuda.so.1 RECORDCUDA=$BATS_TEST_TMPDIR/plan.txt quiet ./plan
    [ "$(wc -l <"$BATS_TEST_TMPDIR/plan.txt")" -eq 6 ]
    grep -q "^fill .* with 0" "$BATS_TEST_TMPDIR/plan.txt"
    grep -q "^product .* cluster 2 1 1" "$BATS_TEST_TMPDIR/plan.txt"
    for compiler in "gcc -std=gnu11" "g++ -std=c++17 -xc++" "clang -std=gnu11"; do
        command -v ${compiler%% *} >/dev/null || continue
        $compiler -Wall -Wextra -Werror "$ROOT/tests/api/ahead.c" -I. -xnone k.o p.o -lpthread -ldl -o "$BATS_TEST_TMPDIR/program"
        rm -f "$BATS_TEST_TMPDIR/record.txt"
        RECORDCUDA=$BATS_TEST_TMPDIR/record.txt quiet "$BATS_TEST_TMPDIR/program" launch
        cmp "$BATS_TEST_TMPDIR/plan.txt" "$BATS_TEST_TMPDIR/record.txt"
    done
}

@test "an object needs libc and the driver only" {
    run readelf -d ahead
    [[ "$output" != *cute* && "$output" != *jansson* && "$output" != *libcuda* && "$output" != *libm.so* ]]
}

@test "wrong arguments are refused with a message, and nothing is launched" {
    quiet ./ahead refuse
}

@test "TVM-FFI calls the functions with packed arguments" {
    quiet ./ahead packed
}

@test "a launch takes less than 3 microseconds beside the driver" {
    ./ahead time
    [ -z "$(./ahead time 2>/dev/null)" ]
}

@test "memory is constant over a million launches" {
    quiet ./ahead memory
}

@test "16 threads launch in 4 contexts, which load the kernels once each, without a race" {
    quiet ./ahead threads
    command -v clang >/dev/null || skip "no clang"
    clang -std=gnu11 -g -O1 -fsanitize=thread "$ROOT/tests/api/ahead.c" k.c p.c -I. -ldl -lpthread -o racy 2>/dev/null ||
        skip "no ThreadSanitizer"
    quiet ./racy threads
}

@test "the code for the device is chosen at run time" {
    for number in 80 86 90; do
        quiet env RECORDCUDA_ARCH=$number ./ahead packed
    done
    run env RECORDCUDA_ARCH=75 ./ahead packed
    [[ "$output" == *"no code for sm_75: link it with -arch sm_75 too"* ]]
    run cute-link --emit-c="$BATS_TEST_TMPDIR/both" -arch sm_86,compute_80 sum80.ptx
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    grep -q '{86, 0, true, 0, aot_bytes_0' "$BATS_TEST_TMPDIR/both.c"
    grep -q '{80, 0, false, 0, aot_bytes_1' "$BATS_TEST_TMPDIR/both.c"
    head -1 "$BATS_TEST_TMPDIR/both.h" | grep -q 'for sm_86, sm_80 (PTX)\.$'
}

@test "without a driver, the status says so" {
    LD_LIBRARY_PATH= run ./ahead missing
    [[ "$output" == "K_NO_DRIVER: no CUDA driver: libcuda.so.1: "* ]]
}

@test "a kernel that no plan launches is a function with the launch's shape" {
    cute-ptx -arch sm_90a "$ROOT/kernels/vector_add/vector_add.mlir" -o v.ptx
    cute-link --emit-c=v v.ptx
    cat >v_main.c <<'C'
#include "v.h"
#include <stdio.h>
int main(void)
{
    v_shape shape = {{4, 1, 1}, {256, 1, 1}, {0}, 0, 0, 0};
    v_status status = v_vector_add(&shape, (void *)16, (void *)32, (void *)48, 1000, NULL);
    printf("%s: %s\n", v_status_name(status), v_error());
    return 0;
}
C
    cc -Wall -Wextra -Werror v_main.c v.o -ldl -o v_main
    run ./v_main
    [[ "${lines[0]}" == "V_NO_CONTEXT: "* ]]
}

@test "inputs of several architectures have the same functions" {
    run cute-link --emit-c="$BATS_TEST_TMPDIR/x" sum80.ptx product.ptx
    [ "$status" -eq 1 ]
    [[ "$output" == *"product.ptx: error: host function 'sum' is missing"* ]]
    [ ! -e "$BATS_TEST_TMPDIR/x.c" ]
}

@test "names in the metadata are no code of the source" {
    sed 's|"plan":"sum"|"plan":"s*/u\\"m"|' sum.ptx >"$BATS_TEST_TMPDIR/name.ptx"
    cd "$BATS_TEST_TMPDIR"
    run cute-link --emit-c=n name.ptx
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    grep -q '^n_status n_s__u_m(' n.h
    quiet cc -Wall -Wextra -Werror -fsyntax-only n.c
}

@test "--emit-c refuses names that are no identifiers, and other outputs" {
    run cute-link --emit-c=a-b sum.ptx
    [ "$status" -eq 2 ]
    [[ "$output" == *"--emit-c expects a name that is an identifier of C, got 'a-b'"* ]]
    run cute-link --emit-c=k -o k.cubin sum.ptx
    [ "$status" -eq 2 ]
    [[ "$output" == *"--emit-c cannot be combined with -o"* ]]
}

@test "without a C compiler the source is written, with a note" {
    mkdir -p "$BATS_TEST_TMPDIR/bin"
    run env PATH="$BATS_TEST_TMPDIR/bin" "$DEST/opt/cute/bin/cute-link" --emit-c="$BATS_TEST_TMPDIR/n" k.cubin
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"no C compiler was found"* ]]
    [ -s "$BATS_TEST_TMPDIR/n.c" ] && [ ! -e "$BATS_TEST_TMPDIR/n.o" ]
}

@test "the PyTorch operator has the plan's tensors and numbers" {
    grep -q 'library.def("product(Tensor(a!) A, Tensor(b!) B, Tensor(c!) D, Tensor(d!) C, Tensor(e!) bias, float alpha, float beta) -> ()");' p_torch.cpp
    grep -q 'view<p_tensor3, 3>(A, at::kBFloat16, "A")' p_torch.cpp
    grep -q 'library.impl("product", c10::kCUDA, &product);' p_torch.cpp
}

@test "a program of CUDA C++ that nvcc compiles calls the kernels beside its own" {
    command -v nvcc >/dev/null || skip "no nvcc"
    cat >main.cu <<'END'
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include "k.h"
__global__ void scale(float *x) { x[threadIdx.x] *= 2; }
/* The recording driver has memory of the process, and not all functions that the CUDA runtime needs. */
static float x[4096], out[1];
alignas(256) static char workspace[65536];
int main(int argc, char **argv)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    int (*set)(void *) = library ? (int (*)(void *))dlsym(library, "cuCtxSetCurrent") : nullptr;
    cudaStream_t stream = nullptr;
    size_t bytes = 0;
    if (argc > 1) scale<<<1, 32, 0, stream>>>(x);
    if (!set) return 2;
    set((void *)1);
    k_tensor1 tx = {x, {4096}, {1}}, tout = {out, {1}, {1}};
    if (k_sum_workspace(&tx, &tout, &bytes) != 0 || k_sum(&tx, &tout, workspace, bytes, stream) != 0) puts(k_error());
    return bytes > sizeof workspace;
}
END
    quiet env -u LIBRARIES nvcc -std=c++17 -diag-suppress 550 main.cu k.c -ldl -o cuda
    RECORDCUDA=$BATS_TEST_TMPDIR/cuda.txt quiet env LD_LIBRARY_PATH=$WORK ./cuda
    [ "$(wc -l <"$BATS_TEST_TMPDIR/cuda.txt")" -eq 2 ] || { cat "$BATS_TEST_TMPDIR/cuda.txt"; false; }
}

@test "the benchmark of launches is built, and needs a GPU" {
    "$ROOT/bench/launches/build" "$CUTE_BIN" "$BATS_TEST_TMPDIR/out" >/dev/null
    [ -s "$BATS_TEST_TMPDIR/out/k_torch.cpp" ]
    run env -u LD_LIBRARY_PATH "$BATS_TEST_TMPDIR/out/launches" "$BATS_TEST_TMPDIR/out/axpy.cubin"
    [ "$status" -eq 3 ] || [ "$status" -eq 0 ] || { echo "$status: $output"; false; }
}
