// Warp 0 puts tiles of 32 numbers into STAGES buffers of shared memory, warps 1 and 2 take them out in turn: each buffer has an
// mbarrier that says it is full, and one that says it is empty.
// arch: sm_90
// run: -p pipeline --tensor X=i32:32x23:iota --tensor Y=i32:32x23 --expect 'Y=3*X[i,j]+1+mod(j,2)'
// run: -p pipeline --tensor X=i32:32x2:iota --tensor Y=i32:32x2 --expect 'Y=3*X[i,j]+1+mod(j,2)'
!t = !cute.memref<i32, gmem, "(32,?):(?,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @pipeline(%X: !t, %Y: !t) kernel attributes {nvvm.reqntid = array<i32: 96, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c32 = arith.constant 32 : i32
    %warp = arith.divui %t, %c32 : i32
    %lane = arith.remui %t, %c32 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i64, smem, align<1024>>
    %full = cute.make_view %smem, "3:1"
    %next = cute.add_offset %smem, 3
    %empty = cute.make_view %next, "3:1"
    %bytes = cute.recast_iter %smem : i32
    %behind = cute.add_offset %bytes, 32
    %buffers = cute.make_view %behind, "(32,3):(1,32)"
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      scf.for %s = %c0 to %c3 step %c1 : i32 {
        %f = cute.add_offset %smem, %s
        %e = cute.add_offset %next, %s
        cute_nvgpu.arch.mbarrier_init %f, 1
        cute_nvgpu.arch.mbarrier_init %e, 32
      }
      cute_nvgpu.arch.mbarrier_init_fence
    }
    cute_nvgpu.arch.block_sync
    %modes = cute.size<[1]> %X
    %count = cute.get_scalars %modes
    %producer = arith.cmpi eq, %warp, %c0 : i32
    scf.if %producer {
      %i0, %p0 = cute_nvgpu.arch.pipeline_start<producer>
      scf.for %k = %c0 to %count step %c1 iter_args(%i = %i0, %p = %p0) -> (i32, i32) : i32 {
        %f = cute.add_offset %smem, %i
        %e = cute.add_offset %next, %i
        cute_nvgpu.arch.mbarrier_wait %e, %p
        %x = cute.load %X[%lane, %k]
        cute.store %x, %buffers[%lane, %i]
        cute_nvgpu.arch.warp_sync
        %one = cute_nvgpu.arch.elect_one
        scf.if %one {
          cute_nvgpu.arch.mbarrier_arrive %f
        }
        %j, %q = cute_nvgpu.arch.pipeline_advance<3> %i, %p
        scf.yield %j, %q : i32, i32
      }
    } else {
      // Warp 1 takes tiles 0, 2, 4..., warp 2 the others.
      %which = arith.subi %warp, %c1 : i32
      %i0, %p0 = cute_nvgpu.arch.pipeline_index_of<3> %which
      scf.for %k = %which to %count step %c2 iter_args(%i = %i0, %p = %p0) -> (i32, i32) : i32 {
        %f = cute.add_offset %smem, %i
        %e = cute.add_offset %next, %i
        %done = cute_nvgpu.arch.mbarrier_try_wait %f, %p
        %true = arith.constant true
        %open = arith.xori %done, %true : i1
        scf.if %open {
          cute_nvgpu.arch.mbarrier_wait %f, %p
        }
        %x = cute.load %buffers[%lane, %i]
        cute_nvgpu.arch.mbarrier_arrive %e
        %y = arith.muli %x, %c3 : i32
        %z = arith.addi %y, %warp : i32
        cute.store %z, %Y[%lane, %k]
        %j, %q = cute_nvgpu.arch.pipeline_advance<3> %i, %p, 2
        scf.yield %j, %q : i32, i32
      }
    }
    gpu.return
  }
}
func.func @pipeline(%X: !t, %Y: !t) {
  %c1 = arith.constant 1 : index
  %c96 = arith.constant 96 : index
  %bytes = arith.constant 512 : i32
  gpu.launch_func @kernels::@pipeline blocks in (%c1, %c1, %c1) threads in (%c96, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%X : !t, %Y : !t)
  return
}
}
