// cp.async of 4, 8 bytes with zero fill at the edges
// defs: -D BITS=32 -D V=1
// run: -p k --tensor A=f32:13x30:normal --tensor B=f32:16x32 --expect 'B=i<13 && j<30 ? A[min(i,12),min(j,29)] : 0'
!a = !cute.memref<f32, gmem, align<8>, "(?,?):(?{i64 div=2},1)">
!b = !cute.memref<f32, gmem, align<16>, "(16,32):(32,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !a, %B: !b) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter %bytes : f32
    %s = cute.make_view %p, "(16,32):(32,1)"
    %shape = cute.shape %A
    %id = cute.make_identity_tensor %shape
    %gA = cute.local_tile %A, (16, 32), (0, 0)
    %gI = cute.local_tile %id, (16, 32), (0, 0)
    %async = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<f32, cache = always, ${BITS} b>
    %cp = cute.make_tiled_copy %async, "(${2*V},${16/V}):(${16/V},1)", "(1,${V}):(0,1)"
    %src = cute.tiled.copy.partition_S %cp, %gA, %t
    %dst = cute.tiled.copy.partition_D %cp, %s, %t
    %crd = cute.tiled.copy.partition_S %cp, %gI, %t
    %pr = cute.predicate %crd, %shape
    cute.copy %cp, %src, %dst, %pr
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    %v4 = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 128 b>
    %o = cute.make_tiled_copy %v4, "(4,8):(8,1)", "(1,4):(0,1)"
    %os = cute.tiled.copy.partition_S %o, %s, %t
    %og = cute.tiled.copy.partition_D %o, %B, %t
    cute.copy %o, %os, %og
    gpu.return
  }
}
func.func @k(%A: !a, %B: !b) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 2048 : i32
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %bytes args(%A : !a, %B : !b)
  return
}
}
