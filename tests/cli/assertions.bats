#!/usr/bin/env bats
# --enable-assertions: what a kernel accesses of tensors, and which thread it says it is, is told at its line when it is wrong.
bats_require_minimum_version 1.5.0

setup() {
    PATH="$CUTE_BIN:$PATH" ROOT=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
    cd "$BATS_TEST_TMPDIR"
    unset ARCH CUTE_CACHE
}

# built TEXT: k.mlir as k.cubin with assertions
built() {
    cat >k.mlir
    cute-opt k.mlir | cute-ptx -arch sm_90a --enable-assertions | cute-link -o k.cubin
}

# launch KERNEL M N ARGS...: with a tensor A of f32, M by N, and arguments of i32 that -D sets
launch() {
    local kernel=$1 params='"blocks": 1, "threads": 32, "m": '$2', "n": '$3 args='"A"' name
    shift 3
    for name; do
        params+=", \"$name\": 0"
        args+=", {\"type\": \"i32\", \"value\": \"$name\"}"
    done
    cat >k.json <<JSON
{"kernel": "$kernel", "params": {$params}, "grid": ["blocks"], "block": ["threads"],
 "buffers": {"A": {"dtype": "f32", "shape": ["m", "n"], "init": "ones"}}, "args": [$args]}
JSON
}

silent() {
    cute-run k.cubin -c k.json --device emulator --check=all "$@" >out 2>&1 || { cat out; false; }
    ! grep -q 'outside\|within\|thread index' out || { cat out; false; }
}

# told LINE TEXT OPTIONS...
told() {
    local line=$1 text=$2
    shift 2
    run -1 cute-run k.cubin -c k.json --device emulator "$@"
    [[ $output == *"k.mlir:$line:"*"$text"* ]] || { echo "expected at line $line: $text"; echo "$output"; false; }
    [[ $output == *"k.mlir:$line: "*"assertion '"*"' failed"* ]] || { echo "no assertion at line $line"; echo "$output"; false; }
    [[ $output == *"in kernel '"*"block ("*"thread ("* ]]
}

@test "an element outside of a tensor, of a tile, or of the tensor that the tile is of" {
    built <<'MLIR'
!T = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  gpu.func @whole(%A: !T, %i: i32, %j: i32) kernel {
    %c = cute.make_coord(%i, %j)
    %x = cute.memref.load %A, %c
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %d = cute.make_coord(%i, %t)
    cute.memref.store %A, %d, %x
    gpu.return
  }
  gpu.func @tile(%A: !T, %i: i32, %b: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %tile = cute.make_tile 4, 8
    %block = cute.make_coord(%b, 0)
    %g = cute.local_tile(%A, %tile, %block)
    %c = cute.make_coord(%i, %t)
    %x = cute.memref.load %g, %c
    gpu.return
  }
}
MLIR
    launch whole 6 16 i j
    silent -D i=5 -D j=15 -D threads=1
    told 5 "coordinate (6,3) is outside the shape (6,16): block (0,0,0), thread (0,0,0)" -D i=6 -D j=3
    told 5 "coordinate (2,16) is outside the shape (6,16)" -D i=2 -D j=16
    told 5 "coordinate (-1,0) is outside the shape (6,16)" -D i=-1
    told 8 "coordinate (0,16) is outside the shape (6,16): block (0,0,0), thread (16,0,0)"
    launch tile 6 16 i b
    silent -D threads=8 -D i=1 -D b=1
    # in the tensor's memory, and outside of the tile
    told 17 "coordinate (4,0) is outside the shape (4,8)" -D threads=8 -D i=4
    told 17 "coordinate (0,8) is outside the shape (4,8): block (0,0,0), thread (8,0,0)" -D threads=9
    # in the tile, and outside of the tensor
    told 17 "coordinate (7,0) is outside the whole tensor's shape (6,16)" -D threads=8 -D i=3 -D b=1
}

@test "a copy that reaches out of its tensor, and its predicate" {
    built <<'MLIR'
!T = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
gpu.module @m {
  gpu.func @copy(%A: !T, %p: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %tile = cute.make_tile 8, 16
    %block = cute.make_coord(%b, 0)
    %gA = cute.local_tile(%A, %tile, %block)
    %iA = cute.make_identity_tensor %A
    %cA = cute.local_tile(%iA, %tile, %block)
    %sA = cute.memref.alloca() : () -> !cute.memref<f32, smem, align<16>, "(8,16):(16,1)">
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %copy = cute.make_tiled_copy %atom, "(8,4):(4,1)", "(1,4):(0,1)"
    %tA = cute.tiled.copy.partition_S %copy, %gA, %t
    %tS = cute.tiled.copy.partition_D %copy, %sA, %t
    %tC = cute.tiled.copy.partition_S %copy, %cA, %t
    %is = arith.cmpi ne, %p, %c0 : i32
    scf.if %is {
      %pred = cute.predicate %tC, %A
      cute.copy %copy, %tA, %tS, %pred
    } else {
      cute.copy %copy, %tA, %tS
    }
    gpu.return
  }
}
MLIR
    launch copy 16 16 p
    silent -D blocks=2
    silent -D m=6 -D p=1
    silent -D m=13 -D n=12 -D blocks=3 -D p=1
    told 23 "coordinates (6,0) to (6,3) are not all within the shape (6,16): block (0,0,0), thread (24,0,0)" -D m=6
    # in the tensor's memory, but of the next row
    told 23 "coordinates (0,12) to (0,15) are not all within the shape (16,12): block (0,0,0), thread (3,0,0)" -D n=12
    told 23 "coordinates (16,0) to (16,3) are not all within the shape (16,16): block (2,0,0)" -D blocks=3
    # more threads than the tiled copy has
    told 15 "thread index 32 is not below the 32 threads of the tiled copy: block (0,0,0), thread (32,0,0)" -D threads=33 -D p=1
}

@test "stages of shared memory and vectors of registers, by an index of the program" {
    built <<'MLIR'
gpu.module @m {
  gpu.func @stages(%A: !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, %s: i32, %r: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %one = arith.constant 1.0 : f32
    %S = cute.memref.alloca() : () -> !cute.memref<f32, smem, align<16>, "(32,3):(1,32)">
    %R = cute.memref.alloca() : () -> !cute.memref<f32, rmem, align<16>, "(4,2):(1,4)">
    cute.fill %R, %one
    %c = cute.make_coord(_, %s)
    %stage = cute.slice %S, %c
    cute.memref.store %stage, %t, %one
    %d = cute.make_coord(_, %r)
    %part = cute.slice %R, %d
    %v = cute.memref.load_vec %part
    %e = cute.make_coord(%t, _)
    %row = cute.slice %A, %e
    cute.memref.store_vec %v, %row
    gpu.return
  }
}
MLIR
    launch stages 32 4 s r
    silent -D s=2 -D r=1
    told 10 "coordinate (0,3) is outside the whole tensor's shape (32,3)" -D s=3
    told 10 "coordinate 32 is outside the shape 32: block (0,0,0), thread (32,0,0)" -D threads=33
    told 13 "coordinates (0,2) to (3,2) are not all within the shape (4,2)" -D r=2
    told 16 "coordinates (30,0) to (30,3) are not all within the shape (30,4): block (0,0,0), thread (30,0,0)" -D m=30
}

@test "a thread index that the tiled MMA, the layout of threads or the launch does not have" {
    built <<'MLIR'
gpu.module @m {
  gpu.func @threads(%A: !cute.memref<f32, gmem, align<16>, "(16,8):(8,1)">, %mma_at: i32, %at: i32) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >
    %mma = cute.make_tiled_mma %atom, "(1,1,1):(0,0,0)"
    %i = arith.addi %t, %mma_at : i32
    %tC = cute.tiled.mma.partition C (%mma, %A, %i)
    %x = cute.memref.load %tC, 0
    %threads = cute.static : !cute.layout<"(4,8):(8,1)">
    %j = arith.addi %t, %at : i32
    %p = cute.local_partition %A, %threads, %j
    %y = cute.memref.load %p, 0
    gpu.return
  }
}
MLIR
    launch threads 16 8 mma_at at
    silent
    told 7 "thread index 32 is not below the 32 threads of the tiled MMA: block (0,0,0), thread (31,0,0)" -D mma_at=1
    told 7 "thread index -1 is not below the 32 threads of the tiled MMA" -D mma_at=-1
    told 11 "thread index 32 is not below the 32 threads of the layout of threads: block (0,0,0), thread (22,0,0)" -D at=10
    # which there are in the tiling
    told 7 "thread index 16 is not below the 16 threads of a block: block (0,0,0), thread (12,0,0)" -D threads=16 -D mma_at=4
    told 11 "thread index 16 is not below the 16 threads of a block" -D threads=16 -D at=1
}

@test "memrefs of MLIR: elements, vectors, atomic updates" {
    built <<'MLIR'
gpu.module @m {
  gpu.func @memref(%A: memref<?x8xf32>, %what: i32, %at: i32) kernel {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %i = arith.index_cast %at : i32 to index
    %j = arith.addi %i, %c0 : index
    %vector = arith.cmpi eq, %what, %c1 : i32
    %atomic = arith.cmpi eq, %what, %c2 : i32
    scf.if %vector {
      %v = vector.load %A[%c0, %j] : memref<?x8xf32>, vector<4xf32>
      vector.store %v, %A[%t, %c0] : memref<?x8xf32>, vector<4xf32>
    } else {
      %x = memref.load %A[%t, %j] : memref<?x8xf32>
      scf.if %atomic {
        %o = memref.atomic_rmw addf %x, %A[%i, %c0] : (f32, memref<?x8xf32>) -> f32
      } else {
        memref.store %x, %A[%t, %j] : memref<?x8xf32>
      }
    }
    gpu.return
  }
}
MLIR
    launch memref 32 8 what at
    silent -D at=7
    silent -D at=4 -D what=1
    silent -D at=7 -D what=2
    told 15 "coordinate (0,8) is outside the shape (32,8): block (0,0,0), thread (0,0,0)" -D at=8
    told 15 "coordinate (20,0) is outside the shape (20,8): block (0,0,0), thread (20,0,0)" -D m=20
    told 12 "coordinate (0,5) and the 3 elements after it are outside the shape (32,8)" -D at=5 -D what=1
    told 13 "coordinate (20,0) and the 3 elements after it are outside the shape (20,8)" -D m=20 -D what=1
    told 17 "coordinate (5,0) is outside the shape (5,8)" -D m=5 -D at=5 -D what=2 -D threads=1
}

@test "the kernels that ship are silent" {
    export CUTLASS_ENABLE_ASSERTIONS=1
    "$ROOT/kernels/build" "$CUTE_BIN" "$PWD/cubins" >built 2>messages || { cat messages; false; }
    cute-dump ptx cubins/gemm_sm80.cubin | grep -q 'call.uni *$'
    CUTE_RUN_FLAGS='--device emulator' "$ROOT/kernels/run" "$CUTE_BIN" "$PWD/cubins" --small >ran || { grep -A9 '^not' ran; false; }
    [ "$(grep -c '^ok' ran)" -gt 100 ]
}

@test "assertions make of a serialised wgmma a warning" {
    D=$(sed -n 's/^attention_sm90_d64 *[^ ]* *//p' "$ROOT/kernels/kernels.txt" | sed -E 's/(^| )([A-Z])/ -D \2/g')
    # shellcheck disable=SC2086
    cute-opt $D "$ROOT/bench/schedules/hand/attention_sm90/attention_sm90.mlir" | cute-ptx -arch sm_90a --enable-assertions >k.ptx
    cute-link k.ptx -o k.cubin 2>messages
    grep -q 'warning: .*wgmma.mma_async instructions are serialized' messages
}

@test "kernels on tensors of any form take assertions" {
    for file in "$ROOT"/tests/tensors/*.mlir; do
        defines=$(sed -n 's|^// defs: ||p' "$file")
        eval "cute-opt $defines --split-input-file --cute-assert-bounds $file" >out 2>messages || { cat messages; false; }
    done
    cute-opt --cute-assert-bounds "$ROOT/tests/tensors/conv2d.mlir" | grep -q "outside the whole tensor's shape (%lld,%lld,3,5)"
}
