// RUN: cute-opt %s -gpu-kernel-outlining -cute-kernel-metadata | FileCheck %s

// What a launch with constants says is noted: grid, block, dynamic shared memory; 3 + 2*2 parameters for a matrix.
// CHECK: cute.kernel = {args = [{count = 1 : i64, dtype = "f16", first = 0 : i64, kind = "scalar"
// CHECK-SAME: {count = 7 : i64, dtype = "f32", first = 1 : i64, kind = "memref", name = "arg1", shape = [unit, 16], strides = [16, 1], type = "memref<?x16xf32>"}
// CHECK-SAME: block = [64, 2, 1], dynamic_smem = 4096 : i64, grid = [3, 1, 1]
func.func @main(%a: memref<?x16xf32>, %x: f16) {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c3 = arith.constant 3 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 4096 : i32
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c3, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c64, %sy = %c2, %sz = %c1) dynamic_shared_memory_size %bytes {
    %v = arith.extf %x : f16 to f32
    memref.store %v, %a[%tx, %ty] : memref<?x16xf32>
    gpu.terminator
  }
  return
}

// The same of the dialect cuda, through the widening of the bytes; what is not constant is not noted.
// CHECK:     gpu.func @k(
// CHECK-SAME: block = [64, 1, 1], dynamic_smem = 512 : i64, kept = {}, source
gpu.module @m {
  gpu.func @k() kernel { gpu.return }
}
func.func @cuda(%n: i32, %stream: !cuda.stream) {
  %c1 = arith.constant 1 : i32
  %c64 = arith.constant 64 : i32
  %c512 = arith.constant 512 : i32
  %bytes = arith.extsi %c512 : i32 to i64
  %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%c64, %c1, %c1), dynamicSmemBytes = %bytes,
    gridDim = (%n, %c1, %c1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
    -> !cuda.launch_cfg<max_attrs = 3>
  %r = cuda.launch_ex @m::@k<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
  return
}

// Tensors, tiled copies and MMAs of a kernel by their types, each once, with the operation that made it first; not matrix
// descriptors, and nothing of other functions.
// CHECK:     gpu.func @layouts(
// CHECK-SAME: mmas = [{file = "{{.*}}cute-kernel-metadata.mlir", line = {{[0-9]+}} : i64, op = "cute.make_tiled_mma",
// CHECK-SAME: type = "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >, atom_layout_MNK = <\22(2,1,1):(1,0,0)\22>
// CHECK-SAME: tensors = [{file = "{{.*}}cute-kernel-metadata.mlir", line = {{[0-9]+}} : i64, op = "cute.make_view",
// CHECK-SAME: type = "f16, smem, align<1024>, \22S<3,3,3> o 0 o (64,64):(64,1)\22"}]
// CHECK-NOT: tensors
gpu.module @l {
  gpu.func @layouts() kernel {
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %s = cute.make_view %smem, "S<3,3,3> o 0 o (64,64):(64,1)"
    %again = cute.make_view %smem, "S<3,3,3> o 0 o (64,64):(64,1)"
    %atom = cute.make_atom : !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
    %mma = cute.make_tiled_mma %atom, "(2,1,1):(1,0,0)"
    gpu.return
  }
}
