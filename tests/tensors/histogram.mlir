// run: -p hist --tensor 'X=u8:1000:iota' --tensor H=i32:256:zeros --expect 'H=sum(q,1000,X[q]==i ? 1 : 0)'
!x = !cute.memref<i8, gmem, "(?):(1)">
!h = !cute.memref<i32, gmem, "(256):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @hist(%X: !x, %H: !h) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c128 = arith.constant 128 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter %smem : i32
    %s = cute.make_view %p, "(128,2):(1,128)"
    cute.store %c0, %s[%t, 0]
    cute.store %c0, %s[%t, 1]
    gpu.barrier
    %n_ = cute.size %X
    %n = cute.get_scalars %n_
    %bb = arith.muli %b, %c128 : i32
    %i = arith.addi %bb, %t : i32
    %in = arith.cmpi slt, %i, %n : i32
    scf.if %in {
      %x = cute.memref.load %X[%i]
      %w = arith.extui %x : i8 to i32
      %q = cute.add_offset %p, %w
      %a = cute.ptrtoint %q : i32
      %lp = llvm.inttoptr %a : i32 to !llvm.ptr<3>
      %old = llvm.atomicrmw add %lp, %c1 monotonic : !llvm.ptr<3>, i32
    }
    gpu.barrier
    scf.for %j = %t to %c128 step %c128 : i32 {
      scf.for %k = %c0 to %c128 step %c128 : i32 {
      }
    }
    %v0 = cute.memref.load %s[%t, 0]
    %v1 = cute.memref.load %s[%t, 1]
    %hi = cute.get_iter %H
    %h0 = cute.add_offset %hi, %t
    %h1 = cute.add_offset %h0, 128
    %a0 = cute.ptrtoint %h0 : i64
    %a1 = cute.ptrtoint %h1 : i64
    %p0 = llvm.inttoptr %a0 : i64 to !llvm.ptr<1>
    %p1 = llvm.inttoptr %a1 : i64 to !llvm.ptr<1>
    %o0 = llvm.atomicrmw add %p0, %v0 monotonic : !llvm.ptr<1>, i32
    %o1 = llvm.atomicrmw add %p1, %v1 monotonic : !llvm.ptr<1>, i32
    gpu.return
  }
}
func.func @hist(%X: !x, %H: !h) {
  %s = cute.size %X
  %b = cute.ceil_div %s, 128
  %x = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c128 = arith.constant 128 : index
  %bytes = arith.constant 1024 : i32
  gpu.launch_func @kernels::@hist blocks in (%gx, %c1, %c1) threads in (%c128, %c1, %c1) dynamic_shared_memory_size %bytes args(%X : !x, %H : !h)
  return
}
}
