// Clusters of 4 blocks: each block sums what all of them hold in shared memory, and sends its sum and its rank to the next one.
// arch: sm_90
// run: -p exchange --tensor X=i32:12x64:iota --tensor Y=i32:12x64 --tensor Z=i32:12x64 --tensor V=f32:12x64:zeros --expect 'Y=sum(b,4,X[4*floor_div(i,4)+b,j])' --expect 'Z=100*mod(i+3,4)+X[4*floor_div(i,4)+mod(i+3,4),j]' --expect 'V=j<8?4*(mod(i+1,4))+mod(j,4)+floor_div(j,4):0'
!t = !cute.memref<i32, gmem, "(12,64):(64,1)">
!v = !cute.memref<f32, gmem, "(12,64):(64,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @exchange(%X: !t, %Y: !t, %Z: !t, %V: !v) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>, nvvm.cluster_dim = array<i32: 4, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c8 = arith.constant 8 : i32
    %c100 = arith.constant 100 : i32
    %rank = cute_nvgpu.arch.block_idx_in_cluster
    %size = cute_nvgpu.arch.cluster_size
    %rx, %ry, %rz = cute_nvgpu.arch.block_in_cluster_idx
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i32, smem, align<1024>>
    %bar = cute.recast_iter %smem : i64
    %own = cute.add_offset %smem, 16
    %mine = cute.make_view %own, "64:1"
    %inbox = cute.add_offset %own, 64
    %letters = cute.make_view %inbox, "64:1"
    %quads = cute.add_offset %inbox, 64
    %floats = cute.recast_iter %quads : f32
    %fours = cute.make_view %floats, "8:1"
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %bar, 4
      cute_nvgpu.arch.mbarrier_init_fence
      // 64 letters of 4 bytes, two of 16; three other blocks and this thread arrive.
      cute_nvgpu.arch.mbarrier_expect_tx %bar, 288
    }
    %x = cute.load %X[%block, %t]
    cute.store %x, %mine[%t]
    cute_nvgpu.arch.barrier_cluster
    // Loads from all blocks.
    %sum = scf.for %b = %c0 to %size step %c1 iter_args(%s = %c0) -> (i32) : i32 {
      %there = cute_nvgpu.arch.map_dsmem_ptr %own, %b
      %theirs = cute.make_view %there, "64:1"
      %y = cute.load %theirs[%t]
      %more = arith.addi %s, %y : i32
      scf.yield %more : i32
    }
    cute.store %sum, %Y[%block, %t]
    // Letters to the next block.
    %up = arith.addi %rank, %c1 : i32
    %next = arith.remui %up, %size : i32
    %stamp = arith.muli %rx, %c100 : i32
    %letter = arith.addi %stamp, %x : i32
    %place = cute.add_offset %inbox, %t
    cute_nvgpu.arch.st_async %letter, %place, %bar, %next
    // Four numbers at once to the block before this one, by two threads.
    %few = arith.constant 2 : i32
    %writes = arith.cmpi ult, %t, %few : i32
    scf.if %writes {
      %base = arith.muli %rank, %c4 : i32
      %with = arith.addi %base, %t : i32
      %real = arith.sitofp %with : i32 to f32
      %all = vector.splat %real : vector<4xf32>
      %steps = arith.constant dense<[0.0, 1.0, 2.0, 3.0]> : vector<4xf32>
      %four = arith.addf %all, %steps : vector<4xf32>
      %rows = cute.make_view %floats, "(4,2):(1,4)"
      %row = cute.slice %rows, (_, %t)
      %there = cute.get_iter %row
      %size1 = arith.subi %size, %c1 : i32
      %down = arith.addi %rank, %size1 : i32
      %before = arith.remui %down, %size : i32
      cute_nvgpu.arch.st_async %four, %there, %bar, %before
    }
    scf.if %first {
      scf.for %b = %c0 to %size step %c1 : i32 {
        cute_nvgpu.arch.mbarrier_arrive %bar, %b
      }
    }
    cute_nvgpu.arch.mbarrier_wait<cluster> %bar, 0
    %came = cute.load %letters[%t]
    cute.store %came, %Z[%block, %t]
    %has = arith.cmpi ult, %t, %c8 : i32
    scf.if %has {
      %v = cute.load %fours[%t]
      cute.store %v, %V[%block, %t]
    }
    cute_nvgpu.arch.barrier_cluster
    gpu.return
  }
}
func.func @exchange(%X: !t, %Y: !t, %Z: !t, %V: !v) {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c12 = arith.constant 12 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 1024 : i32
  gpu.launch_func @kernels::@exchange clusters in (%c4, %c1, %c1) blocks in (%c12, %c1, %c1) threads in (%c64, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%X : !t, %Y : !t, %Z : !t, %V : !v)
  return
}
}
