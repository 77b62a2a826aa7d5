// Layouts of shared memory by products, divisions of dynamic tensors, a copy straight from global to global memory.
// run: -p k --tensor A=f16:32x64:normal --tensor B=f16:32x64 --tensor C=f16:32x64 --expect 'B=A' --expect 'C=A'
// run: -p k --tensor A=f16:64x32:40,1:normal --tensor B=f16:64x32 --tensor C=f16:64x32:1,64 --expect 'B=A' --expect 'C=A'
!t = !cute.memref<f16, gmem, align<16>, "(?{div=32},?{div=32}):(?{i64 div=8},1)">
!u = !cute.memref<f16, gmem, "(?{div=32},?{div=32}):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !t, %B: !t, %C: !u) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %gA = cute.local_tile %A, (32, 32), (%bm, %bn)
    %gB = cute.local_tile %B, (32, 32), (%bm, %bn)
    %gC = cute.local_tile %C, (32, 32), (%bm, %bn)
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter %bytes : f16
    %core = cute.static "(8,8):(8,1)"
    %tiles = cute.static "(4,4):(1,4)"
    %block = cute.blocked_product %core, %tiles
    %s = cute.make_view %p, %block
    %v = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %cp = cute.make_tiled_copy %v, "(32,4):(4,1)", "(1,8):(0,1)"
    %a = cute.tiled.copy.partition_S %cp, %gA, %t
    %d = cute.tiled.copy.partition_D %cp, %s, %t
    %b = cute.tiled.copy.partition_D %cp, %gB, %t
    cute.copy %cp, %a, %d
    cute.copy %cp, %a, %b
    gpu.barrier
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16>
    %div = cute.zipped_divide %gC, (8, 8)
    %sdiv = cute.zipped_divide %s, (8, 8)
    %w = cute.idx2crd %t, "(16,8)"
    %i, %j = cute.get_scalars %w
    %ct = cute.slice %div, ((%j, _), %i)
    %st = cute.slice %sdiv, ((%j, _), %i)
    cute.copy %one, %st, %ct
    gpu.return
  }
}
func.func @k(%A: !t, %B: !t, %C: !u) {
  %s = cute.shape %A
  %b = cute.ceil_div %s, (32, 32)
  %x, %y = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %gy = arith.index_cast %y : i32 to index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %n = arith.constant 2048 : i32
  gpu.launch_func @kernels::@k blocks in (%gx, %gy, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %n args(%A : !t, %B : !t, %C : !u)
  return
}
}
