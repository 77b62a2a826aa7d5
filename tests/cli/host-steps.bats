# Host functions that allocate, copy and fill memory, in order or as asynchronous work on streams.

setup_file() {
    export WORK=$BATS_FILE_TMPDIR
    cd "$WORK"
    cat >k.mlir <<'EOF'
gpu.module @m {
  gpu.func @scale(%x: memref<?xf32, strided<[1], offset: ?>>, %f: f32, %n: i32) kernel {
    %b = gpu.block_id x
    %d = gpu.block_dim x
    %t = gpu.thread_id x
    %0 = arith.muli %b, %d : index
    %i = arith.addi %0, %t : index
    %ni = arith.index_cast %n : i32 to index
    %in = arith.cmpi slt, %i, %ni : index
    scf.if %in {
      %v = memref.load %x[%i] : memref<?xf32, strided<[1], offset: ?>>
      %w = arith.mulf %v, %f : f32
      memref.store %w, %x[%i] : memref<?xf32, strided<[1], offset: ?>>
    }
    gpu.return
  }
}
!part = memref<?xf32, strided<[1], offset: ?>>
// y = 2 x by memory of its own.
func.func @twice(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.ceildivui %n, %c64 : index
  %ni = arith.index_cast %n : index to i32
  %d = gpu.alloc (%n) : memref<?xf32>
  gpu.memcpy %d, %x : memref<?xf32>, memref<?xf32>
  %p = memref.cast %d : memref<?xf32> to !part
  gpu.launch_func @m::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%p : !part, %two : f32, %ni : i32)
  gpu.memcpy %y, %d : memref<?xf32>, memref<?xf32>
  gpu.dealloc %d : memref<?xf32>
  return
}
// The halves of y, on two streams.
func.func @halves(%x: memref<?xf32>, %y: memref<?xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  %three = arith.constant 3.0 : f32
  %n = memref.dim %x, %c0 : memref<?xf32>
  %h = arith.divui %n, %c2 : index
  %blocks = arith.ceildivui %h, %c64 : index
  %hi = arith.index_cast %h : index to i32
  %x0 = memref.subview %x[0] [%h] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %x1 = memref.subview %x[%h] [%h] [1] : memref<?xf32> to !part
  %y0 = memref.subview %y[0] [%h] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
  %y1 = memref.subview %y[%h] [%h] [1] : memref<?xf32> to !part
  %start = gpu.wait async
  %a1 = gpu.memcpy async [%start] %y0, %x0 : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>
  %p0 = memref.cast %y0 : memref<?xf32, strided<[1]>> to !part
  %a2 = gpu.launch_func async [%a1] @m::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%p0 : !part, %two : f32, %hi : i32)
  %b1 = gpu.memcpy async [%start] %y1, %x1 : !part, !part
  %b2 = gpu.launch_func async [%b1] @m::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%y1 : !part, %three : f32, %hi : i32)
  gpu.wait [%a2, %b2]
  return
}
// A loop, a branch and fills of all widths.
func.func @fills(%x: memref<?xf32>, %h: memref<8xf16>, %d: memref<8xf64>, %b: memref<8xi8>, %times: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c64 = arith.constant 64 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %half = arith.constant 0.5 : f16
  %pi = arith.constant 3.25 : f64
  %seven = arith.constant 7 : i8
  %n = memref.dim %x, %c0 : memref<?xf32>
  %blocks = arith.ceildivui %n, %c64 : index
  %ni = arith.index_cast %n : index to i32
  gpu.memset %x, %one : memref<?xf32>, f32
  gpu.memset %h, %half : memref<8xf16>, f16
  gpu.memset %d, %pi : memref<8xf64>, f64
  gpu.memset %b, %seven : memref<8xi8>, i8
  %p = memref.cast %x : memref<?xf32> to !part
  scf.for %i = %c0 to %times step %c1 {
    %t = gpu.wait async
    %u = gpu.launch_func async [%t] @m::@scale blocks in (%blocks, %c1, %c1) threads in (%c64, %c1, %c1)
      args(%p : !part, %two : f32, %ni : i32)
    gpu.wait [%u]
  }
  %many = arith.cmpi sgt, %times, %c4 : index
  scf.if %many {
    gpu.memset %x, %one : memref<?xf32>, f32
  }
  return
}
EOF
    "$CUTE_BIN/cute-ptx" -arch sm_90a k.mlir -o k.ptx
    { sed '/^!part/q' k.mlir
      cat <<'EOF'
!padded = memref<?x?x?xf32, strided<[?, ?, 1], offset: ?>>
!first = memref<?x?x?xf32, strided<[?, ?, 1]>>
!second = memref<?x?x?xf32, strided<[?, ?, 2], offset: ?>>
// b = a without its frame, and back between the frames of c; t has the elements of s, by columns.
func.func @parts(%a: memref<?x?x?xf32>, %b: memref<?x?x?xf32>, %c: memref<?x?x?xf32>, %s: memref<4x5xf32, strided<[8, 1]>>, %t: memref<4x5xf32, strided<[1, 4]>>, %x: memref<?xf32>, %h: index, %w: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1.0 : f32
  %d = memref.dim %a, %c0 : memref<?x?x?xf32>
  %inner = memref.subview %a[0, 1, 2] [%d, %h, %w] [1, 1, 1] : memref<?x?x?xf32> to !padded
  %whole = memref.subview %b[0, 0, 0] [%d, %h, %w] [1, 1, 1] : memref<?x?x?xf32> to !first
  gpu.memcpy %whole, %inner : !first, !padded
  %every = memref.subview %c[0, 1, 0] [%d, %h, %w] [1, 1, 2] : memref<?x?x?xf32> to !second
  gpu.memcpy %every, %whole : !second, !first
  gpu.memcpy %t, %s : memref<4x5xf32, strided<[1, 4]>>, memref<4x5xf32, strided<[8, 1]>>
  %p = memref.cast %x : memref<?xf32> to !part
  gpu.launch_func @m::@scale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !part, %one : f32, %c4 : i32)
  return
}
EOF
    } >parts.mlir
    { sed '/^!part/q' k.mlir
      cat <<'EOF'
// x = 2^times x by a piece of the first 16 (i + 1) elements in each iteration.
func.func @pieces(%x: memref<?xf32>, %times: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %c64 = arith.constant 64 : index
  %two = arith.constant 2.0 : f32
  scf.for %i = %c0 to %times step %c1 {
    %k = arith.addi %i, %c1 : index
    %n = arith.muli %k, %c16 : index
    %ni = arith.index_cast %n : index to i32
    %d = gpu.alloc (%n) : memref<?xf32>
    %part = memref.subview %x[0] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1]>>
    %flat = memref.cast %d : memref<?xf32> to memref<?xf32, strided<[1]>>
    gpu.memcpy %flat, %part : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>
    %p = memref.cast %d : memref<?xf32> to !part
    gpu.launch_func @m::@scale blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%p : !part, %two : f32, %ni : i32)
    gpu.memcpy %part, %flat : memref<?xf32, strided<[1]>>, memref<?xf32, strided<[1]>>
    gpu.dealloc %d : memref<?xf32>
  }
  return
}
EOF
    } >pieces.mlir
    for name in parts pieces; do "$CUTE_BIN/cute-ptx" -arch sm_90a $name.mlir -o $name.ptx; done
}

setup() {
    cd "$WORK"
    run="$CUTE_BIN/cute-run"
}

# refused TEXT: a host function with the lines of standard input is refused with TEXT.
refused() {
    { sed '/^!part/q' k.mlir
      echo 'func.func @f(%x: memref<?xf32>, %w: memref<4x4xf32, strided<[8, 1]>>, %q0: memref<*xf32>, %n: index, %one: f32, %z: memref<4xcomplex<f32>>, %u: memref<4x4xf32, strided<[1, 1]>>) {'
      cat
      cat <<'EOF'
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : i32
  %p = memref.cast %x : memref<?xf32> to !part
  gpu.launch_func @m::@scale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !part, %one : f32, %c4 : i32)
  return
}
EOF
    } >"$BATS_TEST_TMPDIR/f.mlir"
    run "$run" "$BATS_TEST_TMPDIR/f.mlir" --plan f --tensor x=f32:8:zeros --tensor w=f32:4x4:8,1:zeros --tensor z=f64:4:zeros --tensor u=f32:4x4:1,1:zeros -D n=4 -D one=1 --device emulator
    [ "$status" -eq 1 ] || { echo "exit code $status: $output"; false; }
    [[ "$output" == *"$1"* ]] || { echo "$output"; false; }
}

@test "a host function allocates, copies and launches" {
    run "$run" k.ptx --plan twice --tensor x=f32:1000:iota --tensor y=f32:1000 --expect 'y=2*x' --device emulator --check=all
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"step 0: copy x to temporary 0 of plan 'twice', 4000 bytes"* ]]
    [[ "$output" == *"temporary 0 of plan 'twice': 4000 bytes"* ]]
    [[ "$output" == *"check y: passed"* ]]
}

@test "tokens become streams, and an operation that shares one waits for its event" {
    run "$run" k.ptx --plan halves --tensor x=f32:256:iota --tensor y=f32:256 --expect 'y=(i < 128 ? 2 : 3)*x' --device emulator
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" != *warning* ]]
    "$run" k.ptx --plan halves --tensor x=f32:256:iota --tensor y=f32:256 --dry-run --json >report.json
    [ "$(jq -r '[.steps[] | select(.step == "copy") | .stream] | join(" ")' report.json)" = "halves.1 halves.2" ]
    # the copy of the second stream waits for the token that both copies take
    [ "$(jq '[.steps[] | select(.stream == "halves.2")][0].step' report.json)" = '"wait"' ]
}

@test "fills, loops and branches are done in order" {
    for times in 3 5; do
        "$run" k.ptx --plan fills --tensor x=f32:100 --tensor h=f16:8 --tensor d=f64:8 --tensor b=i8:8 -D times=$times --device emulator \
            --expect "x=$([ $times = 3 ] && echo 8 || echo 1)" --expect h=0.5 --expect d=3.25 --expect b=7
    done
}

@test "a driver runs the copies, fills and streams of a host function" {
    CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run" k.ptx --plan fills --tensor x=f32:100 --tensor h=f16:8 --tensor d=f64:8 \
        --tensor b=i8:8 -D times=0 --device 0 --expect x=1 --expect h=0.5 --expect d=3.25 --expect b=7
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run" k.ptx --plan halves --tensor x=f32:256:iota --tensor y=f32:256 --device 0 --no-check
    [ "$status" -eq 0 ] || { echo "$output"; false; }
}

@test "C sources of cute-link copy and fill, on the caller's stream" {
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    "$CUTE_BIN/cute-ptx" k.mlir | "$CUTE_BIN/cute-link" -o k.cubin || skip "no ptxas"
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the library wants the sanitizer's run-time" ;; esac
    sed '/gpu.memset %h/d; /%half =/d' k.mlir | "$CUTE_BIN/cute-ptx" -arch sm_90a -o "$BATS_TEST_TMPDIR/c.ptx"
    cd "$BATS_TEST_TMPDIR"
    "$CUTE_BIN/cute-link" --emit-c=k c.ptx
    cat >use.c <<'EOF'
/* The recording driver copies memory of the process, fills it with words, and runs no kernel. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "k.h"
static float x[100], y[100];
static double d[8];
static signed char b[8];
static char workspace[4096] __attribute__((aligned(256)));
int main(void)
{
    int (*set)(void *), wrong = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol = library ? dlsym(library, "cuCtxSetCurrent") : NULL;
    size_t bytes = 0;
    if (!symbol) return 2;
    memcpy(&set, &symbol, sizeof set);
    set((void *)1);
    k_tensor1 tx = {x, {100}, {1}}, ty = {y, {100}, {1}}, td = {d, {8}, {1}}, tb = {b, {8}, {1}}, th = {d, {8}, {1}};
    if (k_fills(&tx, &th, &td, &tb, 5, NULL, 0, NULL) != 0) printf("%s\n", k_error());
    for (int i = 0; i < 100; i++) wrong += x[i] != 1;
    for (int i = 0; i < 8; i++) wrong += d[i] != 3.25;
    if (k_twice_workspace(&tx, &ty, &bytes) != 0 || bytes != 512) printf("%s, %zu bytes\n", k_error(), bytes);
    if (k_twice(&tx, &ty, workspace, sizeof workspace, NULL) != 0) printf("%s\n", k_error());
    for (int i = 0; i < 100; i++) wrong += y[i] != x[i];
    if (k_halves(&tx, &ty, NULL, 0, NULL) != 0) printf("%s\n", k_error());
    return wrong != 0;
}
EOF
    ln -sf "$(realpath "$CUTE_BIN/../tests/librecordcuda.so")" libcuda.so.1
    cc -std=gnu17 -Wall -Wextra -Werror use.c k.o -lpthread -ldl -o use
    LD_LIBRARY_PATH=. RECORDCUDA=record.txt run ./use
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$status: $output"; false; }
    grep -q "^fill .* 8 bytes with 7" record.txt
    [ "$(grep -c '^scale ' record.txt)" -eq 8 ]
}

@test "copies of memrefs with gaps are done element by element, on the emulator and a driver" {
    for device in emulator 0; do
        CUTE_LIBCUDA="$CUTE_BIN/../tests/libfakecuda.so" run "$run" parts.ptx --plan parts --tensor a=f32:3x6x9:iota --tensor b=f32:3x4x5:zeros --tensor c=f32:3x6x10:zeros --tensor s=f32:4x5:8,1:iota --tensor t=f32:4x5:1,4:zeros --tensor x=f32:8:zeros -D h=4 -D w=5 \
            --device $device --expect 'b=a[i, j + 1, k + 2]' --expect 'c=(j > 0) * (j < 5) * (k % 2 == 0) * a[i, j, floor_div(k, 2) + 2]' --expect 't=s'
        [ "$status" -eq 0 ] || { echo "$output"; false; }
        [[ "$output" == *"step 0: copy a to b in parts of 20 bytes, 240 bytes"* ]]
    done
}

@test "memory that a loop allocates and frees is one temporary, as large as the largest" {
    run "$run" pieces.ptx --plan pieces --tensor x=f32:64:ones -D times=4 --device emulator --check=all --expect 'x=pow(2, 4 - floor(i / 16))'
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ "$output" == *"temporary 0 of plan 'pieces': 256 bytes"* ]]
}

@test "operations that a launch plan does not support are refused at their line" {
    refused "'gpu.memset' at line 20 is of a memref with gaps or another order than by rows: fills are of contiguous memory" <<'EOF'
  gpu.memset %w, %one : memref<4x4xf32, strided<[8, 1]>>, f32
EOF
    refused "the source and the target of the copy overlap in 'w'" <<'EOF'
  gpu.memcpy %w, %w : memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1]>>
EOF
    refused "the plan of 'f' has a copy whose target has elements that share memory" <<'EOF'
  gpu.memcpy %u, %w : memref<4x4xf32, strided<[1, 1]>>, memref<4x4xf32, strided<[8, 1]>>
EOF
    refused "is in a loop without gpu.dealloc: memory of an iteration has to be freed in it" <<'EOF'
  %c0 = arith.constant 0 : index
  scf.for %i = %c0 to %n step %n {
    %d = gpu.alloc (%n) : memref<?xf32>
    gpu.memcpy %x, %d : memref<?xf32>, memref<?xf32>
  }
EOF
    refused "allocates a memref with gaps or another order than by rows" <<'EOF'
  %d = gpu.alloc () : memref<4x4xf32, strided<[8, 1]>>
  gpu.memcpy %w, %d : memref<4x4xf32, strided<[8, 1]>>, memref<4x4xf32, strided<[8, 1]>>
EOF
    refused "has elements of an unsupported type" <<'EOF'
  gpu.memcpy %z, %z : memref<4xcomplex<f32>>, memref<4xcomplex<f32>>
EOF
    refused "waits for a token that no operation of the same function and region made" <<'EOF'
  %c0 = arith.constant 0 : index
  %c = arith.cmpi sgt, %n, %c0 : index
  %t = scf.if %c -> (!gpu.async.token) {
    %a = gpu.wait async
    %a2 = gpu.memset async [%a] %x, %one : memref<?xf32>, f32
    scf.yield %a2 : !gpu.async.token
  } else {
    %b = gpu.wait async
    %b2 = gpu.memset async [%b] %x, %one : memref<?xf32>, f32
    scf.yield %b2 : !gpu.async.token
  }
  gpu.wait [%t]
EOF
    refused "gpu.memcpy: expected as many elements in the target as in the source" <<'EOF'
  %d = gpu.alloc (%n) : memref<?xf32>
  gpu.memcpy %x, %d : memref<?xf32>, memref<?xf32>
EOF
    refused "is out of bounds of 'x', which has 32" <<'EOF'
  %d = memref.subview %x[6] [%n] [1] : memref<?xf32> to memref<?xf32, strided<[1], offset: 6>>
  %e = gpu.alloc (%n) : memref<?xf32>
  %q = memref.cast %e : memref<?xf32> to !part
  gpu.memset %e, %one : memref<?xf32>, f32
  gpu.memcpy %d, %q : memref<?xf32, strided<[1], offset: 6>>, !part
EOF
}

@test "C sources of cute-link copy memrefs with gaps and allocate in loops" {
    [ ! -d "$CUTE_BIN/../cuda" ] || export CUTE_CUDA_PATH=$CUTE_BIN/../cuda
    case ${MAKEFLAGS:-} in *SANITIZE*) skip "the library wants the sanitizer's run-time" ;; esac
    cd "$BATS_TEST_TMPDIR"
    for name in parts pieces; do
        "$CUTE_BIN/cute-ptx" "$WORK/$name.mlir" | "$CUTE_BIN/cute-link" -o $name.cubin || skip "no ptxas"
        "$CUTE_BIN/cute-link" --emit-c=$name "$WORK/$name.ptx"
    done
    cat >use.c <<'EOF'
/* The recording driver copies memory of the process, and runs no kernel. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include "parts.h"
#include "pieces.h"
static float a[3 * 6 * 9], b[3 * 4 * 5], c[3 * 6 * 10], s[32], t[20], x[64];
static char workspace[4096] __attribute__((aligned(256)));
int main(void)
{
    int (*set)(void *), wrong = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW), *symbol = library ? dlsym(library, "cuCtxSetCurrent") : NULL;
    size_t bytes = 0;
    if (!symbol) return 2;
    memcpy(&set, &symbol, sizeof set);
    set((void *)1);
    for (int i = 0; i < 162; i++) a[i] = (float)i;
    for (int i = 0; i < 32; i++) s[i] = (float)i;
    parts_tensor3 ta = {a, {3, 6, 9}, {54, 9, 1}}, tb = {b, {3, 4, 5}, {20, 5, 1}}, tc = {c, {3, 6, 10}, {60, 10, 1}};
    parts_tensor2 ts = {s, {4, 5}, {8, 1}}, tt = {t, {4, 5}, {1, 4}};
    parts_tensor1 tx = {x, {64}, {1}};
    if (parts_parts(&ta, &tb, &tc, &ts, &tt, &tx, 4, 5, NULL, 0, NULL) != 0) printf("%s\n", parts_error());
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 5; k++) {
                wrong += b[i * 20 + j * 5 + k] != a[i * 54 + (j + 1) * 9 + k + 2];
                wrong += c[i * 60 + (j + 1) * 10 + 2 * k] != b[i * 20 + j * 5 + k] || c[i * 60 + (j + 1) * 10 + 2 * k + 1] != 0;
            }
    for (int j = 0; j < 4; j++)
        for (int k = 0; k < 5; k++) wrong += t[k * 4 + j] != s[j * 8 + k];
    pieces_tensor1 px = {x, {64}, {1}};
    if (pieces_pieces_workspace(&px, 4, &bytes) != 0 || bytes != 256) printf("%s, %zu bytes\n", pieces_error(), bytes);
    if (pieces_pieces(&px, 4, workspace, sizeof workspace, NULL) != 0) printf("%s\n", pieces_error());
    return wrong != 0;
}
EOF
    ln -sf "$(realpath "$CUTE_BIN/../tests/librecordcuda.so")" libcuda.so.1
    cc -std=gnu17 -Wall -Wextra -Werror use.c parts.o pieces.o -lpthread -ldl -o use
    LD_LIBRARY_PATH=. RECORDCUDA=record.txt run ./use
    [ "$status" -eq 0 ] && [ -z "$output" ] || { echo "$status: $output"; cat record.txt; false; }
    grep -q "^copy 20 bytes x 4" record.txt
    [ "$(grep -c '^scale ' record.txt)" -eq 5 ]
}

# damaged FROM TO TEXT: the plan of @f with FROM replaced by TO is refused with TEXT.
damaged() {
    sed "s/$1/$2/" f.ptx >"$BATS_TEST_TMPDIR/damaged.ptx"
    ! cmp -s f.ptx "$BATS_TEST_TMPDIR/damaged.ptx"
    run "$run" "$BATS_TEST_TMPDIR/damaged.ptx" --plan f --tensor x=f32:8:iota --device emulator
    [ "$status" -eq 1 ] || { echo "exit code $status: $output"; false; }
    [[ "$output" == *"$3"* ]] || { echo "$output"; false; }
}

@test "a damaged plan is refused" {
    { sed '/^!part/q' k.mlir
      cat <<'EOF'
func.func @f(%x: memref<8xf32>) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : i32
  %one = arith.constant 1.0 : f32
  %y = gpu.alloc () : memref<8xf32>
  gpu.memset %y, %one : memref<8xf32>, f32
  %t = gpu.wait async
  %u = gpu.memcpy async [%t] %x, %y : memref<8xf32>, memref<8xf32>
  gpu.wait [%u]
  %p = memref.cast %x : memref<8xf32> to !part
  gpu.launch_func @m::@scale blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%p : !part, %one : f32, %c4 : i32)
  return
}
EOF
    } >f.mlir
    "$CUTE_BIN/cute-ptx" -arch sm_90a f.mlir -o f.ptx
    "$run" f.ptx --plan f --tensor x=f32:8:iota --device emulator --expect x=1
    damaged '"width":4' '"width":3' "has a malformed step"
    damaged '"copy":[0-9]*' '"copy":9999' "has a malformed step"
    damaged '"step",1,1' '"step",1,99' "has a malformed step"
    damaged '"stream":1' '"stream":64' "has a step on an invalid stream"
    damaged '"record":0' '"record":5000' "has a step with an invalid event"
    damaged '"fill":[0-9]*' '"fill":0,"if":9999' "has a step with an undefined condition"
    damaged '"copy":\([0-9]*\)' '"copy":\1,"shape":[0],"size":0' "has a malformed step"
    damaged '"copy":\([0-9]*\)' '"copy":\1,"shape":[0],"to_strides":[0],"from_strides":[0],"size":4' "has a copy with an undefined or negative extent or stride"
    damaged '"to":[0-9]*,"bytes":\([0-9]*\)' '"to":\1,"bytes":\1' "whose 'to' is not an address"
}
