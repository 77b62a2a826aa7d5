#!/usr/bin/env bats
# Rows of lib/atoms/atoms.def at work: kernels whose layouts all follow from an atom, on the emulator with all checks.
bats_require_minimum_version 1.5.0

setup_file() {
    cd "$BATS_FILE_TMPDIR"
    cat > mma.mlir <<'MLIR'
// c = a b^T on 2 x 2 atoms, each thread's elements straight from memory to its registers and back.
!mma = !cute_nvgpu.${ATOM}
gpu.module @kernels {
  gpu.func @product(%a: !cute.ptr<${A}, gmem, align<16>>, %b: !cute.ptr<${B}, gmem, align<16>>, %c: !cute.ptr<${C}, gmem, align<16>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %la = cute.make_layout((${M}, ${K}), (${K}, 1))
    %lb = cute.make_layout((${N}, ${K}), (${K}, 1))
    %lc = cute.make_layout((${M}, ${N}), (${N}, 1))
    %ga = cute.make_view(%a, %la)
    %gb = cute.make_view(%b, %lb)
    %gc = cute.make_view(%c, %lc)
    %atom = cute.make_atom() : () -> !mma
    %atoms = cute.make_layout((2, 2))
    %mma = cute.make_tiled_mma(%atom, %atoms)
    %i = cute.make_coord(%tid)
    %pa = cute.tiled.mma.partition A (%mma, %ga, %i)
    %pb = cute.tiled.mma.partition B (%mma, %gb, %i)
    %pc = cute.tiled.mma.partition C (%mma, %gc, %i)
    %fa = cute.mma.make_fragment A (%mma, %pa)
    %fb = cute.mma.make_fragment B (%mma, %pb)
    %fc = cute.mma.make_fragment C (%mma, %pc)
    %ca = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<${A}>
    %cb = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<${B}>
    %cc = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<${C}>
    cute.copy(%ca, %pa, %fa)
    cute.copy(%cb, %pb, %fb)
    %zero = arith.constant ${ZERO} : ${C}
    cute.fill(%fc, %zero)
    cute.gemm(%mma, %fc, %fa, %fb, %fc)
    cute.copy(%cc, %fc, %pc)
    gpu.return
  }
}
MLIR
    cat > ldmatrix.mlir <<'MLIR'
// c = a b^T on 2 x 2 warps: cp.async to shared memory, ldmatrix to registers, mma
// MAJOR of a and b by LA, LB; ldmatrix transposes where they are columns.
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
gpu.module @kernels {
  gpu.func @product(%a: !cute.ptr<f16, gmem, align<16>>, %b: !cute.ptr<f16, gmem, align<16>>, %c: !cute.ptr<f32, gmem, align<16>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %i = cute.make_coord(%tid)
    %la = cute.static : !cute.layout<"${LA}">
    %lb = cute.static : !cute.layout<"${LB}">
    %lc = cute.make_layout((64, 64), (64, 1))
    %ga = cute.make_view(%a, %la)
    %gb = cute.make_view(%b, %lb)
    %gc = cute.make_view(%c, %lc)
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %pa = cute.recast_iter(%smem) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>>
    %pb = cute.add_offset(%pa, 4096)
    %sl = cute.static : !cute.composed_layout<"${SL}">
    %sa = cute.make_view(%pa, %sl)
    %sb = cute.make_view(%pb, %sl)
    %async = cute.make_atom() : () -> !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
    %thr = cute.static : !cute.layout<"${THR}">
    %val = cute.static : !cute.layout<"${VAL}">
    %copy = cute.make_tiled_copy(%async, %thr, %val)
    %fa = cute.tiled.copy.partition_S(%copy, %ga, %i)
    %ta = cute.tiled.copy.partition_D(%copy, %sa, %i)
    %fb = cute.tiled.copy.partition_S(%copy, %gb, %i)
    %tb = cute.tiled.copy.partition_D(%copy, %sb, %i)
    cute.copy(%async, %fa, %ta)
    cute.copy(%async, %fb, %tb)
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.barrier0
    %atom = cute.make_atom() : () -> !mma
    %atoms = cute.make_layout((2, 2))
    %mma = cute.make_tiled_mma(%atom, %atoms, (32, 32, 16))
    %ldsm = cute.make_atom() : () -> !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, ${ORDER}>
    %copy_a = cute.make_tiled_copy_A(%ldsm, %mma)
    %copy_b = cute.make_tiled_copy_B(%ldsm, %mma)
    %ma = cute.tiled.mma.partition A (%mma, %sa, %i)
    %mb = cute.tiled.mma.partition B (%mma, %sb, %i)
    %mc = cute.tiled.mma.partition C (%mma, %gc, %i)
    %ra = cute.mma.make_fragment A (%mma, %ma)
    %rb = cute.mma.make_fragment B (%mma, %mb)
    %rc = cute.mma.make_fragment C (%mma, %mc)
    %xa = cute.tiled.copy.partition_S(%copy_a, %sa, %i)
    %ya = cute.tiled.copy.retile(%copy_a, %ra)
    %xb = cute.tiled.copy.partition_S(%copy_b, %sb, %i)
    %yb = cute.tiled.copy.retile(%copy_b, %rb)
    cute.copy(%ldsm, %xa, %ya)
    cute.copy(%ldsm, %xb, %yb)
    %zero = arith.constant 0.0 : f32
    cute.fill(%rc, %zero)
    cute.gemm(%mma, %rc, %ra, %rb, %rc)
    %store = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f32>
    cute.copy(%store, %rc, %mc)
    gpu.return
  }
}
MLIR
    cat > stmatrix.mlir <<'MLIR'
// y = x through the fragment of C, stmatrix and a tile of shared memory.
gpu.module @kernels {
  gpu.func @through(%x: !cute.ptr<f16, gmem, align<16>>, %y: !cute.ptr<f16, gmem, align<16>>)
      kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %i = cute.make_coord(%tid)
    %l = cute.make_layout((64, 64), (64, 1))
    %gx = cute.make_view(%x, %l)
    %gy = cute.make_view(%y, %l)
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter(%smem) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>>
    %sl = cute.static : !cute.composed_layout<"${SL}">
    %s = cute.make_view(%p, %sl)
    %atom = cute.make_atom() : () -> !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f16) >
    %atoms = cute.make_layout((2, 2))
    %mma = cute.make_tiled_mma(%atom, %atoms, (32, 32, 16))
    %m = cute.tiled.mma.partition C (%mma, %gx, %i)
    %r = cute.mma.make_fragment C (%mma, %m)
    %load = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16>
    cute.copy(%load, %m, %r)
    %stsm = cute.make_atom() : () -> !cute_nvgpu.atom.stsm<f16, mode = <"(8,8)">, num_matrices = ${X}, ${ORDER}>
    %copy = cute.make_tiled_copy_C(%stsm, %mma)
    %from = cute.tiled.copy.retile(%copy, %r)
    %to = cute.tiled.copy.partition_D(%copy, %s, %i)
    cute.copy(%stsm, %from, %to)
    nvvm.barrier0
    %wide = cute.make_atom() : () -> !cute_nvgpu.atom.universal_copy<f16>
    %threads = cute.make_layout((16, 8), (8, 1))
    %values = cute.make_layout((1, 8))
    %out = cute.make_tiled_copy(%wide, %threads, %values)
    %a = cute.tiled.copy.partition_S(%out, %s, %i)
    %b = cute.tiled.copy.partition_D(%out, %gy, %i)
    cute.copy(%wide, %a, %b)
    gpu.return
  }
}
MLIR
    cat > stmatrix.json <<'JSON'
{"kernel": "through", "grid": [1], "block": [128], "dynamic_smem": 8192,
 "buffers": {"x": {"dtype": "f16", "shape": [64, 64], "init": "uniform"}, "y": {"dtype": "f16", "shape": [64, 64]}},
 "args": ["x", "y"], "check": {"y": {"expr": "x[i, j]", "ulp": 0}}}
JSON
}

setup() { PATH="$CUTE_BIN:$PATH"; cd "$BATS_FILE_TMPDIR"; }

# A product of 2 x 2 atoms, twice along M, N and K: TYPE ARCH A B C M N K, then the data types of launch.json.
product() {
    local zero=0.0
    [ "$5" != i32 ] || zero=0
    cute-ptx -arch "$2" -D "ATOM=$1" -D A="$3" -D B="$4" -D C="$5" -D M="$6" -D N="$7" -D K="$8" -D ZERO=$zero mma.mlir -o mma.ptx || return 1
    grep -q "${12}" mma.ptx || { echo "$1 is not ${12}"; return 1; }
    cat > mma.json <<JSON
{"kernel": "product", "grid": [1], "block": [128],
 "buffers": {"a": {"dtype": "$9", "shape": [$6, $8], "init": "uniform"}, "b": {"dtype": "${10}", "shape": [$7, $8], "init": "uniform"},
             "c": {"dtype": "${11}", "shape": [$6, $7]}},
 "args": ["a", "b", "c"], "check": {"c": {"einsum": "mk,nk->mn", "operands": ["a", "b"], "rtol": 2e-3, "atol": 2e-3}}}
JSON
    cute-run mma.ptx --config mma.json --device emulator --check=all > run.log 2>&1 || { echo "$1"; cat run.log; return 1; }
}

@test "tiled MMAs of floats multiply, whatever the shape" {
    product 'sm75.mma<16x8x8, elem_type = (f16, f16, f32) >' sm_80 f16 f16 f32 64 32 16 f16 f16 f32 m16n8k8.row.col.f32.f16.f16.f32
    product 'sm80.mma<16x8x8, elem_type = (f16, f16, f32) >' sm_80 f16 f16 f32 64 32 16 f16 f16 f32 m16n8k8.row.col.f32.f16.f16.f32
    product 'sm80.mma<16x8x16, elem_type = (f16, f16, f32) >' sm_80 f16 f16 f32 64 32 32 f16 f16 f32 m16n8k16.row.col.f32.f16.f16.f32
    product 'sm80.mma<16x8x16, elem_type = (f16, f16, f16) >' sm_80 f16 f16 f16 32 16 16 f16 f16 f16 m16n8k16.row.col.f16.f16.f16.f16
    product 'sm80.mma<16x8x8, elem_type = (bf16, bf16, f32) >' sm_80 bf16 bf16 f32 64 32 16 bf16 bf16 f32 m16n8k8.row.col.f32.bf16.bf16.f32
    product 'sm80.mma<16x8x16, elem_type = (bf16, bf16, f32) >' sm_80 bf16 bf16 f32 64 32 32 bf16 bf16 f32 m16n8k16.row.col.f32.bf16.bf16.f32
    product 'sm80.mma<16x8x4, elem_type = (tf32, tf32, f32) >' sm_80 tf32 tf32 f32 64 32 16 f32 f32 f32 m16n8k4.row.col.f32.tf32.tf32.f32
    product 'sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >' sm_80 tf32 tf32 f32 64 32 16 f32 f32 f32 m16n8k8.row.col.f32.tf32.tf32.f32
    product 'sm80.mma<8x8x4, elem_type = (f64, f64, f64) >' sm_80 f64 f64 f64 32 32 16 f64 f64 f64 m8n8k4.row.col.f64.f64.f64.f64
    product 'sm80.mma<16x8x16, elem_type = (f64, f64, f64) >' sm_90 f64 f64 f64 64 32 32 f64 f64 f64 m16n8k16.row.col.f64.f64.f64.f64
    product 'sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E5M2, f32) >' sm_89 f8E4M3FN f8E5M2 f32 64 32 64 e4m3 e5m2 f32 m16n8k32.row.col.f32.e4m3.e5m2.f32
}

@test "tiled MMAs of integers multiply, whatever the sign" {
    product 'sm80.mma<8x8x16, elem_type = (i8, i8, i32) >' sm_80 i8 i8 i32 32 32 32 i8 i8 i32 m8n8k16.row.col.s32.s8.s8.s32
    product 'sm80.mma<16x8x16, elem_type = (i8, ui8, i32) >' sm_80 i8 ui8 i32 64 32 32 i8 u8 i32 m16n8k16.row.col.s32.s8.u8.s32
    product 'sm80.mma<16x8x32, elem_type = (ui8, i8, i32) >' sm_80 ui8 i8 i32 64 32 64 u8 i8 i32 m16n8k32.row.col.s32.u8.s8.s32
    product 'sm80.mma<16x8x32, elem_type = (i8, i8, i32), satfinite >' sm_80 i8 i8 i32 64 32 64 i8 i8 i32 m16n8k32.row.col.satfinite.s32.s8.s8.s32
}

# Copies of A and B made from the MMA: EINSUM, layout in memory, in shared memory, threads and values, order.
staged() {
    cute-ptx -arch sm_80 -D "LA=$2" -D "LB=$2" -D "SL=$3" -D "THR=$4" -D "VAL=$5" -D "ORDER=$6" ldmatrix.mlir -o ldmatrix.ptx || return 1
    cat > ldmatrix.json <<JSON
{"kernel": "product", "grid": [1], "block": [128], "dynamic_smem": 16384,
 "buffers": {"a": {"dtype": "f16", "shape": [64, 64], "init": "uniform"}, "b": {"dtype": "f16", "shape": [64, 64], "init": "uniform"},
             "c": {"dtype": "f32", "shape": [64, 64]}},
 "args": ["a", "b", "c"], "check": {"c": {"einsum": "$1", "operands": ["a", "b"], "rtol": 1e-3, "atol": 1e-3}}}
JSON
    cute-run ldmatrix.ptx --config ldmatrix.json --device emulator --check=all > run.log 2>&1 || { cat run.log; return 1; }
}

@test "cp.async, swizzled shared memory, ldmatrix and mma go together, rows and columns" {
    staged 'mk,nk->mn' '(64,64):(64,1)' 'S<3,3,3> o 0 o (64,64):(64,1)' '(16,8):(8,1)' '(1,8):(0,1)' n
    [ "$(grep -c 'ldmatrix.sync.aligned.m8n8.x4.shared.b16' ldmatrix.ptx)" -eq 16 ]
    [ "$(grep -c 'cp.async.cg.shared.global' ldmatrix.ptx)" -eq 8 ]
    staged 'km,kn->mn' '(64,64):(1,64)' 'S<3,3,3> o 0 o (64,64):(1,64)' '(8,16):(1,8)' '(8,1):(1,0)' t
    [ "$(grep -c 'ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16' ldmatrix.ptx)" -eq 16 ]
}

@test "stmatrix leaves the fragment of an MMA in shared memory, rows and columns" {
    for x in 1 2 4; do
        for order in n t; do
            strides='(64,1)'
            [ $order = n ] || strides='(1,64)'
            cute-ptx -arch sm_90 -D "SL=S<3,3,3> o 0 o (64,64):$strides" -D X=$x -D ORDER=$order stmatrix.mlir -o stmatrix.ptx
            [ "$(grep -c 'stmatrix.sync' stmatrix.ptx)" -eq $((16 / x)) ]
            cute-run stmatrix.ptx --config stmatrix.json --device emulator --check=all
        done
    done
}
