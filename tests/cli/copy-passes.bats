#!/usr/bin/env bats
# cute-vectorization, cute-smem-swizzling and cute-memory-coalescing: the same results, with fewer instructions, wavefronts
# and sectors on the emulator, as many as the remarks say.
bats_require_minimum_version 1.5.0

setup_file() {
    PATH="$CUTE_BIN:$PATH"
    cd "$BATS_FILE_TMPDIR"
    # y = x transposed, through a tile in shared memory that is written by rows and read by columns.
    cat > transpose.mlir <<'MLIR'
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f32>, layout_copy_tv = <"${TV}">, tiler_mn = <"${TILE}">>
gpu.module @kernels {
  gpu.func @transpose(%x: !cute.ptr<f32, gmem, align<16>>, %y: !cute.ptr<f32, gmem, align<16>>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %b = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f32, smem, align<1024>>
    %rows = cute.static : !cute.layout<"(32,32):(32,1)">
    %columns = cute.static : !cute.layout<"(32,32):(1,32)">
    %s = cute.make_view(%p, %rows) {${SWIZZLE}}
    %from = cute.make_view(%x, %rows)
    %to = cute.make_view(%y, %rows)
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    %copy = cute.make_tiled_copy(%a) {${COALESCE}} : (!cute_nvgpu.atom.universal_copy<f32>) -> !tiled
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %0 = cute.tiled.copy.partition_S(%copy, %from, %c)
    %1 = cute.tiled.copy.partition_D(%copy, %s, %c)
    cute.copy(%copy, %0, %1)
    nvvm.barrier0
    %t = cute.make_view(%p, %columns)
    %2 = cute.tiled.copy.partition_S(%copy, %t, %c)
    %3 = cute.tiled.copy.partition_D(%copy, %to, %c)
    cute.copy(%copy, %2, %3)
    gpu.return
  }
}
MLIR
    cat > transpose.json <<'JSON'
{"kernel": "transpose", "grid": [1], "block": [128], "dynamic_smem": 4096,
 "buffers": {"x": {"dtype": "f32", "shape": [32, 32], "init": "uniform"}, "y": {"dtype": "f32", "shape": [32, 32]}},
 "args": ["x", "y"], "check": {"y": {"expr": "x[j, i]", "ulp": 0}}}
JSON
    # y = x, 8 elements of 16 a thread and run; PITCH elements from row to row.
    cat > copy.mlir <<'MLIR'
!tiled = !cute.tiled_copy<!cute_nvgpu.atom.universal_copy<f16>, layout_copy_tv = <"((4,8),(16,2)):((256,1),(16,8))">, tiler_mn = <"[16:1;64:1]">>
gpu.module @kernels {
  gpu.func @copy(%x: !cute.ptr<f16, gmem, align<${ALIGN}>>, %y: !cute.ptr<f16, gmem, align<${ALIGN}>>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %l = cute.static : !cute.layout<"(16,64):(${PITCH},1)">
    %from = cute.make_view(%x, %l)
    %to = cute.make_view(%y, %l)
    %a = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16>
    %copy = cute.make_tiled_copy(%a) : (!cute_nvgpu.atom.universal_copy<f16>) -> !tiled
    %c = cute.make_coord(%tid) : (i32) -> !cute.coord<"?">
    %0 = cute.tiled.copy.partition_S(%copy, %from, %c)
    %1 = cute.tiled.copy.partition_D(%copy, %to, %c)
    cute.copy(%copy, %0, %1)
    gpu.return
  }
}
MLIR
    cat > copy.json <<'JSON'
{"kernel": "copy", "params": {"pitch": 64}, "grid": [1], "block": [32],
 "buffers": {"x": {"dtype": "f16", "shape": [16, "pitch"], "init": "uniform"}, "y": {"dtype": "f16", "shape": [16, "pitch"], "init": "zeros"}},
 "args": ["x", "y"], "check": {"y": {"expr": "j < 64 ? x[i, j] : 0", "ulp": 0}}}
JSON
}

setup() { PATH="$CUTE_BIN:$PATH"; cd "$BATS_FILE_TMPDIR"; }

# Wavefronts and sectors of a run.
costs() {
    cute-run "$1.ptx" --config "$2.json" --device emulator --check=all --counters --json > "$1.report"
    python3 -c '
import json, sys
k = json.load(open(sys.argv[1]))["counters"][0]
print(k["wavefronts"]["count"], k["sectors"]["count"])' "$1.report"
}

@test "a line of the source that loads and stores has a row for each in the table of sectors" {
    # 4 requests each; the 16 bytes of a lane are half a sector, whose other half is the next request's
    cute-opt -D PITCH=64 -D ALIGN=16 copy.mlir | cute-ptx --lineinfo >lines.ptx
    cute-run lines.ptx --config copy.json --device emulator --check=coalescing >table
    [ "$(sed -n '/^global memory/,$p' table | sed 1d | awk '{ print $2, $4, $5 }')" = $'ld 128 64\nst 128 64' ]
}

rows='-D TV=((32,4),1):((4,1),0) -D TILE=[4:1;32:1]'
columns='-D TV=((32,4),4):((1,32),128) -D TILE=[32:1;16:1]'

@test "a swizzled tile is read by columns without bank conflicts" {
    cute-ptx -arch sm_80 $rows -D SWIZZLE= -D COALESCE= transpose.mlir -o plain.ptx
    cute-ptx -arch sm_80 $rows -D SWIZZLE=cute.swizzle -D COALESCE= --remarks=cute-smem-swizzling transpose.mlir -o swizzled.ptx 2> remarks
    grep -q 'S<5,2,5> on its addresses: 528 wavefronts of the first warps become 32; the 32-way conflict at line 22 becomes none' remarks
    # four warps
    [ "$(costs plain transpose)" = "1056 256" ]
    [ "$(costs swizzled transpose)" = "64 256" ]
}

@test "threads in the order of global memory touch the sectors of their bytes" {
    cute-ptx -arch sm_80 $columns -D SWIZZLE= -D COALESCE= transpose.mlir -o plain.ptx
    cute-ptx -arch sm_80 $columns -D SWIZZLE= -D COALESCE=cute.coalesce --remarks=cute-memory-coalescing transpose.mlir -o ordered.ptx 2> remarks
    grep -q 'has its threads in the order ((16,8),4):((32,1),8): 1024 sectors become 128' remarks
    [ "$(costs plain transpose | cut -d' ' -f2)" = 2048 ]
    [ "$(costs ordered transpose | cut -d' ' -f2)" = 256 ]
}

@test "a tile is swizzled for the threads that it has in the end" {
    cute-ptx -arch sm_80 $columns -D SWIZZLE=cute.swizzle -D COALESCE=cute.coalesce --remarks transpose.mlir -o both.ptx 2> remarks
    grep -q 'sectors become 128' remarks
    grep -q 'on its addresses: 288 wavefronts of the first warps become 48' remarks
    [ "$(costs both transpose)" = "96 256" ]
}

@test "what is contiguous and aligned moves at once, what is not does not" {
    for case in '16 64 128' '8 64 64' '2 64 16' '16 68 64' '16 66 32' '16 65 16'; do
        set -- $case
        cute-ptx -arch sm_80 -D ALIGN=$1 -D PITCH=$2 --remarks=cute-vectorization copy.mlir -o copy.ptx 2> remarks
        cat remarks
        grep -q "copies $3 bits at once" remarks
        cute-run copy.ptx --config copy.json -D pitch=$2 --device emulator --check=all
    done
}

@test "the tiles of a GEMM without a swizzle of their own get the one that a person wrote" {
    kernel="$BATS_TEST_DIRNAME/../../bench/schedules/hand/gemm_sm80"
    sizes='-D SM=80 -D T=f16 -D TC=f16 -D ACC=f32 -D ZERO=0.0 -D BITS=16 -D BITSC=16 -D TRUNC=truncf -D VC=2 -D V=8 -D COPY=simt_async_copy -D CACHE=cache=global, -D MK=16 -D BM=64 -D BN=64 -D BK=32 -D STAGES=3 -D WM=2 -D WN=2 -D A=0 -D TA=n -D B=0 -D TB=n -D SA=S<2,3,3> -D SB=S<2,3,3>'
    sed -e 's|"${S[AB]} o 0 o (|"(|' "$kernel/gemm_sm80.mlir" > plain.mlir
    sed -e 's|\(%s[AB] = cute.make_view\) \(.*\)$|\1(\2) {cute.swizzle}|' plain.mlir > asks.mlir
    [ "$(grep -c cute.swizzle asks.mlir)" = 2 ]
    cute-ptx -arch sm_80 $sizes "$kernel/gemm_sm80.mlir" -o written.ptx
    cute-ptx -arch sm_80 $sizes plain.mlir -o plain.ptx
    cute-ptx -arch sm_80 $sizes --remarks=cute-smem-swizzling asks.mlir -o asks.ptx 2> remarks
    [ "$(grep -c 'S<2,4,3> on its addresses' remarks)" = 2 ]
    for name in written plain asks; do
        cute-run $name.ptx --config "$kernel/launch.json" -D m=64 -D n=64 -D k=64 --device emulator --check=all \
            --counters --json --no-bench > $name.report
        python3 -c '
import json, sys
print(json.load(open(sys.argv[1]))["counters"][0]["wavefronts"]["count"])' $name.report > $name.count
    done
    [ "$(cat plain.count)" -gt "$((2 * $(cat written.count)))" ]
    [ "$(cat asks.count)" = "$(cat written.count)" ]
}

@test "a swizzle that leaves conflicts is replaced by one that leaves none" {
    sed 's|-> !cute.ptr<f32, smem, align<1024>>|-> !cute.ptr<f32, smem, align<1024>, S<1,2,5>>|' transpose.mlir > weak.mlir
    cute-ptx -arch sm_80 $rows -D SWIZZLE= -D COALESCE= weak.mlir -o weak.ptx
    cute-ptx -arch sm_80 $rows -D SWIZZLE= -D COALESCE= -pipeline cute-swizzle-optimization --remarks weak.mlir -o better.ptx 2> remarks
    grep -q 'S<5,2,5> on its addresses instead of its own: 272 wavefronts of the first warps become 32' remarks
    [ "$(costs weak transpose)" = "544 256" ]
    [ "$(costs better transpose)" = "64 256" ]
}

@test "partitions of all tiles before a loop, and slices of them in it, move the same elements" {
    cat > loop.mlir <<'MLIR'
gpu.module @kernels {
  gpu.func @loop(%x: !X, %y: !X) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %a = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    %threads = cute.static "(4,32):(32,1)"
    %values = cute.static "(1,1):(0,0)"
    %copy = cute.make_tiled_copy %a, %threads, %values
    %layout = cute.get_layout %x
    %shape = cute.get_shape %layout
    %where = cute.make_identity_tensor %shape
    %columns = cute.get_scalars(cute.get<[1]>(%shape))
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c32 = arith.constant 32 : i32
    %tiles = arith.ceildivsi %columns, %c32 : i32
    scf.for %k = %c0 to %tiles step %c1 : i32 {
      %gX = cute.local_tile(%x, (8, 99, 32), (%block, %k, %k), "(1,_,1)")
      %gY = cute.local_tile(%y, (8, 32), (%block, %k))
      %gI = cute.local_tile(%where, (8, 32), (%block, %k))
      %tX = cute.tiled.copy.partition_S(%copy, %gX, %tid)
      %tY = cute.tiled.copy.partition_D(%copy, %gY, %tid)
      %tI = cute.tiled.copy.partition_S(%copy, %gI, %tid)
      %inside = cute.predicate(%tI, %shape)
      cute.copy(%copy, %tX, %tY, %inside)
    }
    gpu.return
  }
}
MLIR
    sed -i 's|!X|!cute.memref<f32, gmem, "(?,?):(?{i64},1)">|g; s|%columns = .*|%mode = cute.get<[1]>(%shape)\n    %columns = cute.get_scalars(%mode)|' loop.mlir
    cute-opt loop.mlir -cute-partition-optimization --remarks=cute-partition-optimization -o optimized.mlir 2> remarks
    [ "$(grep -c 'before the loop at line .* for all tiles, and the loop takes a slice' remarks)" = 3 ]
    [ "$(sed '/scf.for/,$d' optimized.mlir | grep -c local_tile)" = "$(grep -c local_tile optimized.mlir)" ]
    for m in 8 17; do for n in 32 45; do
        cat > loop.json <<JSON
{"kernel": "loop", "grid": [3], "block": [128],
 "buffers": {"x": {"dtype": "f32", "shape": [$m, $n], "init": "uniform"}, "y": {"dtype": "f32", "shape": [$m, $n], "init": "zeros"}},
 "args": ["x", "y"], "check": {"y": {"expr": "x[i, j]", "ulp": 0}}}
JSON
        cute-ptx -arch sm_80 optimized.mlir -o loop.ptx
        cute-run loop.ptx --config loop.json --device emulator --check=all
    done; done
}

@test "cp.async with a policy of the L2 and what it fetches copies the same" {
    lit="$BATS_TEST_DIRNAME/../lit/ptx/cp_async.mlir"
    cat > hints.json <<'JSON'
{"kernel": "copy", "grid": [1], "block": [32], "dynamic_smem": 1024,
 "buffers": {"x": {"dtype": "f32", "shape": [8, 32], "init": "uniform"}, "y": {"dtype": "f32", "shape": [8, 32]}},
 "args": ["x", "y"], "check": {"y": {"expr": "x[i, j]", "ulp": 0}}}
JSON
    for how in 'evict_first 64' 'evict_last 128' 'evict_normal 256' 'evict_unchanged 128'; do
        set -- $how
        cute-ptx -arch sm_80 -D EVICTION=$1 -D BYTES=$2 "$lit" -o hints.ptx
        cute-run hints.ptx --config hints.json --device emulator --check=all
    done
}

@test "tensors in shared memory that a kernel declares are apart, and those of a block" {
    cat > declared.mlir <<'MLIR'
gpu.module @kernels {
  gpu.func @transpose(%x: !cute.ptr<f32, gmem, align<16>>, %y: !cute.ptr<f32, gmem, align<16>>) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %l = cute.static "(32,32):(32,1)"
    %c = cute.static "(32,32):(1,32)"
    %first = cute.memref.alloca(%l) : (!cute.layout<"(32,32):(32,1)">) -> !cute.memref<f32, smem, align<16>, "(32,32):(32,1)">
    %second = cute.memref.alloca(%l) : (!cute.layout<"(32,32):(32,1)">) -> !cute.memref<f32, smem, align<16>, S<5,2,5>, "(32,32):(32,1)">
    %gX = cute.make_view(%x, %l)
    %gY = cute.make_view(%y, %c)
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32>
    %copy = cute.make_tiled_copy(%atom, "(4,32):(32,1)", "(1,1):(0,0)")
    %0 = cute.tiled.copy.partition_S(%copy, %gX, %tid)
    %1 = cute.tiled.copy.partition_D(%copy, %first, %tid)
    %2 = cute.tiled.copy.partition_D(%copy, %second, %tid)
    cute.copy(%copy, %0, %1)
    cute.copy(%copy, %1, %2)
    nvvm.barrier0
    %across = cute.make_tiled_copy(%atom, "(32,4):(1,32)", "(1,1):(0,0)")
    %3 = cute.tiled.copy.partition_S(%across, %second, %tid)
    %4 = cute.tiled.copy.partition_D(%across, %gY, %tid)
    cute.copy(%across, %3, %4)
    gpu.return
  }
}
MLIR
    sed 's|"dynamic_smem": 4096,||' transpose.json > declared.json
    cute-ptx -arch sm_80 declared.mlir -o declared.ptx
    sed -e 's|align<16>, S<5,2,5>|align<1024>|' -e 's|%second = cute.memref.alloca(%l)|& {cute.swizzle}|' declared.mlir > asks.mlir
    cute-ptx -arch sm_80 asks.mlir -o asks.ptx
    [ "$(costs declared declared)" = "$(costs asks declared)" ]
    [ "$(grep -c '^\s*\.shared \.align .* .b8 __shared_memory_[01]\[4096\];' declared.ptx)" = 2 ]
    cute-run declared.ptx --config declared.json --device emulator --check=all
}
