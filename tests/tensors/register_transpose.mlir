// run: -p tr --tensor A=f16:64x96:normal --tensor B=f16:96x64 --expect 'B=A[j,i]'
!a = !cute.memref<f16, gmem, align<16>, "(64,96):(96,1)">
!b = !cute.memref<f16, gmem, align<16>, "(96,64):(64,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  // each thread: an 8x8 block
  gpu.func @tr(%A: !a, %B: !b) kernel attributes {nvvm.reqntid = array<i32: 96, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %tA = cute.zipped_divide %A, (8, 8)
    %tB = cute.zipped_divide %B, (8, 8)
    %crd = cute.idx2crd %t, "(8,12)"
    %i, %j = cute.get_scalars %crd
    %a = cute.slice %tA, ((_, _), (%i, %j))
    %b = cute.slice %tB, ((_, _), (%j, %i))
    %l = cute.static "(8,8):(8,1)"
    %lt = cute.static "(8,8):(1,8)"
    %r = cute.memref.alloca %l : f16
    %ri = cute.get_iter %r
    %rt = cute.make_view %ri, %lt
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16>
    cute.copy %atom, %a, %r
    cute.copy %atom, %rt, %b
    gpu.return
  }
}
func.func @tr(%A: !a, %B: !b) {
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  gpu.launch_func @kernels::@tr blocks in (%c1, %c1, %c1) threads in (%c96, %c1, %c1) args(%A : !a, %B : !b)
  return
}
}
