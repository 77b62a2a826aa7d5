// composed layout with offset in smem, mixed strides, u8 and f64 elementwise
// run: -p k --tensor A=u8:48x32:iota --tensor B=u8:48x32 --expect 'B=mod(A*3,256)'
// run: -p k --tensor A=u8:16x32:64,1:iota --tensor B=u8:16x32:1,16 --expect 'B=mod(A*3,256)'
!a = !cute.memref<i8, gmem, align<16>, "(?{div=16},32):(?{i64 div=16},1)">
!b = !cute.memref<i8, gmem, "(?{div=16},32):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !a, %B: !b) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.read.ptx.sreg.ctaid.x : i32
    %bytes = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %s = cute.make_view %bytes, "S<2,4,2> o 512 o (16,32):(32,1)"
    %gA = cute.local_tile %A, (16, 32), (%x, 0)
    %gB = cute.local_tile %B, (16, 32), (%x, 0)
    %async = cute.make_atom : !cute_nvgpu.atom.simt_async_copy<i8, cache = global, 128 b>
    %cp = cute.make_tiled_copy %async, "(16,2):(2,1)", "(1,16):(0,1)"
    %src = cute.tiled.copy.partition_S %cp, %gA, %t
    %dst = cute.tiled.copy.partition_D %cp, %s, %t
    cute.copy %cp, %src, %dst
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    gpu.barrier
    // each thread a column
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<i8>
    %col = cute.slice %s, (_, %t)
    %gcol = cute.slice %gB, (_, %t)
    %c3 = arith.constant dense<3> : vector<16xi8>
    %r = cute.make_fragment_like %gcol
    cute.copy %one, %col, %r
    %v = cute.memref.load_vec %r
    %w = arith.muli %v, %c3 : vector<16xi8>
    cute.memref.store_vec %w, %r
    cute.copy %one, %r, %gcol
    gpu.return
  }
}
func.func @k(%A: !a, %B: !b) {
  %s = cute.shape %A
  %b = cute.ceil_div %s, (16, 32)
  %m, %n = cute.get_scalars %b
  %gm = arith.index_cast %m : i32 to index
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  %bytes = arith.constant 1024 : i32
  gpu.launch_func @kernels::@k blocks in (%gm, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %bytes args(%A : !a, %B : !b)
  return
}
}
