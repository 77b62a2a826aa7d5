# The libraries as a program finds them: installed, through pkg-config, from C, C++ and Python.

setup_file() {
    cd "$BATS_TEST_DIRNAME/../.."
    export DEST=$BATS_FILE_TMPDIR/dest ROOT=$PWD
    make --no-print-directory install DESTDIR="$DEST" PREFIX=/opt/cute >"$BATS_FILE_TMPDIR/log" 2>&1 ||
        { cat "$BATS_FILE_TMPDIR/log"; return 1; }
    # The toolkit that the tools have beside them.
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    export LIBRARIES=$DEST/opt/cute/lib
}

setup() {
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the libraries want the sanitizer's run-time" ;; esac
    export LD_LIBRARY_PATH=$LIBRARIES
    cd "$BATS_TEST_TMPDIR"
}

# What pkg-config says of a library and of those that it requires, without needing pkg-config.
flags() {
    for name in "$@"; do
        sed -n "s/^Cflags: //p;s/^Libs: //p" "$LIBRARIES/pkgconfig/$name.pc"
    done | sed "s|\${libdir}|$LIBRARIES|;s|\${includedir}|$DEST/opt/cute/include|"
}

@test "the example of docs/embedding.md compiles as C and as C++, and runs" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/docs/examples/embed.c" $(flags cute-compiler cute) -o c
    c++ -std=c++17 -Wall -Wextra -Werror -xc++ "$ROOT/docs/examples/embed.c" -xnone $(flags cute-compiler cute) -o cpp
    for program in c cpp; do
        run ./$program emulator
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [ "$output" = "emulator: x[31] = 62" ]
    done
    run ./c gpu
    [ "$status" -eq 2 ]
    [ "$output" = "error: expected a device's number, 'cuda:N' or 'emulator', got 'gpu'" ]
}

# Each block of C in the page is the body of a function that builds a module, which is compiled.
@test "the kernels of docs/builder.md build and compile" {
    awk '/^```c$/ { n++; print "static void block" n "(cute_ir *ir)\n{"; inside = 1; next }
         /^```$/ && inside { print "#undef K\n}"; inside = 0 }
         inside
         END { print "static void (*const blocks[])(cute_ir *) = {"; for (i = 1; i <= n; i++) print "block" i ","; print "};" }' \
        "$ROOT/docs/builder.md" >blocks.inc
    cat >blocks.c <<'C'
#include <cute/build.h>
#include <stdio.h>
#include "blocks.inc"
int main(void)
{
    int failed = 0;
    cute_diag *diag = cute_diag_create();
    cute_compiler *compiler;
    if (cute_compiler_create(&compiler, diag)) return 3;
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) {
        cute_ir *ir;
        cute_compiled *compiled = NULL;
        if (cute_ir_create(&ir, diag)) return 3;
        blocks[i](ir);
        failed += cute_ir_compile(ir, compiler, &compiled, diag) != CUTE_OK;
        cute_compiled_destroy(compiled);
        cute_ir_destroy(ir);
    }
    if (failed) fputs(cute_diag_render(diag, CUTE_DIAG_TEXT, false), stdout);
    printf("%zu\n", sizeof blocks / sizeof *blocks);
    return failed;
}
C
    cc -std=c17 -Wall -Wextra -Werror blocks.c $(flags cute-compiler cute) -o blocks
    run timeout 120 ./blocks
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$output" -ge 5 ]
    { printf '#define CUTE_HPP_COMPILER\n#include <cute/cute.hpp>\nint main()\n{\n'
      sed -n '/^```cpp$/,/^```$/p' "$ROOT/docs/builder.md" | grep -v '^```'
      printf 'return ptx.empty();\n}\n'; } >builder.cpp
    c++ -std=c++17 -Wall -Wextra -Werror builder.cpp $(flags cute-compiler cute) -o builder
    run timeout 120 ./builder
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "the product that docs/builder.md builds compiles with gcc, g++ and clang, and is right" {
    for compiler in "gcc -std=c11" "gcc -std=c17" "g++ -std=c++17 -xc++" "clang -std=c17" "clang++ -std=c++17 -xc++"; do
        command -v ${compiler%% *} >/dev/null || continue
        $compiler -Wall -Wextra -Wpedantic -Werror "$DEST/opt/cute/share/cute/examples/build.c" -xnone $(flags cute-compiler cute) -o build
        run ./build emulator
        [ "$status" -eq 0 ] || { echo "$compiler: $output"; false; }
        [ "$output" = "emulator: 27200 of 27200 elements are right" ]
    done
}

@test "kernels that are built and kernels that are written have the same machine code" {
    for compiler in "gcc -std=c17" "g++ -std=c++17 -xc++" "clang -std=c17"; do
        command -v ${compiler%% *} >/dev/null || continue
        $compiler -Wall -Wextra -Wpedantic -Werror "$ROOT/tests/api/build.c" -xnone $(flags cute-compiler cute) -o build
        rm -f *.cubin
        run timeout 120 ./build "$ROOT/kernels/product/product.mlir"
        [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$compiler: $output"; false; }
        for kernel in product reduce; do
            for made in built written; do
                readelf -x .text.$kernel $kernel.$made.cubin 2>/dev/null | grep '^  0x' >$kernel.$made.code
                [ -s $kernel.$made.code ]
            done
            cmp $kernel.built.code $kernel.written.code
        done
        # Machine code with the lines of the calls.
        run "$CUTE_BIN/cute-dump" sass outside.built.cubin
        [[ "$output" == *"api/build.c:"* ]]
    done
}

@test "the example runs on a GPU's driver" {
    cc -std=c17 "$ROOT/docs/examples/embed.c" $(flags cute-compiler cute) -o c
    # The stand-in for the driver has a kernel of that name.
    run env CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" ./c cuda:0
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$output" = "cuda: x[31] = 62" ]
}

@test "the same from Python with ctypes" {
    run python3 "$ROOT/docs/examples/embed.py"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ "$output" = "x[31] = 62.0" ]
}

@test "pkg-config knows both libraries" {
    command -v pkg-config >/dev/null || skip "no pkg-config"
    export PKG_CONFIG_PATH=$LIBRARIES/pkgconfig PKG_CONFIG_SYSROOT_DIR=$DEST
    [ "$(pkg-config --modversion cute-compiler)" = "$(cat "$ROOT/VERSION")" ]
    cc -std=c17 "$ROOT/docs/examples/embed.c" $(pkg-config --cflags --libs cute-compiler) -o embed
    run ./embed emulator
    [ "$output" = "emulator: x[31] = 62" ]
}

@test "cute.hpp: owners, kernels and products from C++" {
    for compiler in "g++ -std=c++17" "clang++ -std=c++17" "g++ -std=c++20"; do
        command -v ${compiler%% *} >/dev/null || continue
        $compiler -O0 -Wall -Wextra -Wpedantic -Werror "$ROOT/tests/api/runtime.cpp" $(flags cute-compiler cute) -o cpp
    done
    PATH="$DEST/opt/cute/bin:$PATH" run timeout 120 ./cpp
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; false; }
}

@test "a CMake project finds the package, also after it was moved" {
    command -v cmake >/dev/null || skip "no cmake"
    cat >CMakeLists.txt <<CMAKE
cmake_minimum_required(VERSION 3.16)
project(outside CXX)
find_package(cute 0.1 REQUIRED)
add_executable(outside $ROOT/tests/api/runtime.cpp)
target_compile_features(outside PRIVATE cxx_std_17)
target_link_libraries(outside PRIVATE cute::compiler)
CMAKE
    run cmake -S . -B out -DCMAKE_PREFIX_PATH="$DEST/opt/cute"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    run cmake --build out
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    PATH="$DEST/opt/cute/bin:$PATH" run timeout 120 ./out/outside
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$output"; false; }
    sed -i 's/cute 0.1/cute 7/' CMakeLists.txt
    run cmake -S . -B other -DCMAKE_PREFIX_PATH="$DEST/opt/cute"
    [ "$status" -ne 0 ]
    [[ "$output" == *"cute-config.cmake, version:"* ]]
}

@test "a hook sees what each compilation made, and may refuse it" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/tests/api/hook.c" $(flags cute-compiler cute) -o hook
    run ./hook
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
}

@test "threads compile and launch at once, also where LLVM gives up" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/tests/api/threads.c" $(flags cute-compiler cute) -lpthread -o threads
    run timeout 120 ./threads 4 4
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
}

@test "the comparison of occupancies with the driver's says what it compared, or that there is no GPU" {
    cc -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror "$ROOT/tests/gpu/occupancy.c" $(flags cute) -o occupancy
    printf '.version 8.0\n.target sm_90\n.address_size 64\n.visible .entry scale(.param .u64 x) { ret; }\n' >k.ptx
    "$CUTE_BIN/cute-link" k.ptx -o k.cubin
    run env CUTE_LIBCUDA=/nowhere ./occupancy k.cubin
    [ "$status" -eq 3 ]
    # The stand-in counts threads alone: without shared memory and beyond one block a warp it is right.
    run env CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" ./occupancy k.cubin
    [ "$status" -eq 1 ]
    [[ "$output" == *" equal, "*" differ"* ]]
    [[ "$output" == *"1 blocks with 64 blocks on a multiprocessor, the driver says 64: "*" times, first scale, "* ]]
}

@test "a GPU has streams, is used by any thread, and nothing is left behind" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/tests/api/gpu.c" $(flags cute) -lpthread -ldl -o gpu
    run env CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" ./gpu
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
}

@test "products are made and run, compiled in the process or by the programs" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/tests/api/gemm.c" $(flags cute-compiler cute) -lm -o gemm
    run timeout 120 ./gemm
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
    PATH="$DEST/opt/cute/bin:$PATH" run timeout 120 ./gemm programs
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
}

@test "launch plans run on the caller's memory: its workspace has their temporaries" {
    cc -std=c17 -Wall -Wextra -Werror "$ROOT/tests/api/plan.c" $(flags cute-compiler cute) -o plan
    run timeout 120 ./plan
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [ -z "$output" ]
}

@test "libcute-compiler has LLVM inside and shows nothing of it" {
    run readelf -d "$LIBRARIES/libcute-compiler.so"
    [[ "$output" == *"SONAME"*"[libcute-compiler.so.0]"* ]]
    [[ "$output" != *libLLVM* && "$output" != *libMLIR* ]]
    # As the preprocessor sees them: functions of build.h are rows of a table.
    printf '#include <cute/%s.h>\n' build gemm_compiler | cc -E "-I$DEST/opt/cute/include" -x c - |
        awk '/^# [0-9]+ "/ { ours = $3 ~ /\/(compile|gemm_compiler|build)\.h"$|\/build_ops\.def"$/ } ours' | tr '\n' ' ' |
        grep -o 'visibility("default"))) [^(]*(' | sed 's/.*[ *]\(cute_[a-z0-9_]*\)(/\1/' | sort >declared
    nm -D --defined-only "$LIBRARIES/libcute-compiler.so" | sed -n 's/.* T \([^@]*\).*/\1/p' | sort >exported
    [ -s declared ]
    diff declared exported
}

@test "the binary interface is the one that tests/api/abi.txt has" {
    run "$ROOT/tests/api/abi" "$DEST/opt/cute" "${LLVM:-/usr/lib/llvm-19}"
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}
