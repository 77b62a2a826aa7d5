// A tile of 64x64 a block, by TMA into shared memory, and out of it doubled.
// arch: sm_90
// run: -p load --tensor X=f16:128x192:iota --tensor Y=f16:128x192 --expect 'Y=2*X[i,j]'
!t = !cute.memref<f16, gmem, align<16>, "(?,?):(?{i64 div=8},1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @load(%X: !t, %Y: !t) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %c0 = arith.constant 0 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %sX = cute.make_view %smem, "(64,64):(64,1)"
    %tail = cute.add_offset %smem, 4096
    %bar = cute.recast_iter %tail : i64
    %layout = cute.static : !cute.layout<"(64,64):(64,1)">
    %tma, %cX = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%X, %layout)
    %tile = cute.make_tile 64, 64
    %block = cute.make_coord(%by, %bx)
    %gX = cute.local_tile(%cX, %tile, %block)
    %whole = cute.group_modes<0, 2> %sX
    %places = cute.group_modes<0, 2> %gX
    %alone = cute.static : !cute.coord<"0">
    %to, %from = cute_nvgpu.atom.tma_partition(%tma, %alone, "(1):(0)", %whole, %places)
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.mbarrier_init %bar, 1
      cute_nvgpu.mbarrier_init_fence
    }
    cute_nvgpu.arch.block_sync
    %c32 = arith.constant 32 : i32
    %warp0 = arith.cmpi ult, %t, %c32 : i32
    scf.if %warp0 {
      %one = cute_nvgpu.elect_one
      scf.if %one {
        cute_nvgpu.mbarrier_arrive_and_expect_tx %bar, 8192
      }
      cute_nvgpu.tma_load_execute %tma, %from, %to, %bar
    }
    cute_nvgpu.mbarrier_wait %bar
    %gY = cute.local_tile(%Y, %tile, %block)
    %c64 = arith.constant 64 : i32
    %c1 = arith.constant 1 : i32
    scf.for %j = %c0 to %c64 step %c1 : i32 {
      %x = cute.load %sX[%t, %j]
      %y = arith.addf %x, %x : f16
      cute.store %y, %gY[%t, %j]
    }
    gpu.return
  }
}
func.func @load(%X: !t, %Y: !t) {
  %shape = cute.shape %X
  %blocks = cute.ceil_div %shape, (64, 64)
  %m, %n = cute.get_scalars %blocks
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 8448 : i32
  gpu.launch_func @kernels::@load blocks in (%gn, %gm, %c1) threads in (%c64, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%X : !t, %Y : !t)
  return
}
}
