// RUN: cute-opt %s | FileCheck %s

// Operations of nvvm under names with `_` for `.`, and others that are not MLIR's.

gpu.module @m {
  // CHECK-LABEL: gpu.func @k(
  // CHECK-SAME: %[[X:[^:]*]]: f32, %[[P:[^:]*]]: i1, %[[M:[^:]*]]: i32
  gpu.func @k(%x: f32, %p: i1, %m: i32) kernel {
    // CHECK-NEXT: nvvm.read.ptx.sreg.tid.x : i32
    %0 = nvvm.read_ptx_sreg_tid_x : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.tid.y : i32
    %y = nvvm.read_ptx_sreg_tid_y : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.tid.z : i32
    %z = nvvm.read_ptx_sreg_tid_z : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.nctaid.z : i32
    %1 = nvvm.read_ptx_sreg_nctaid_z : i32
    // CHECK-NEXT: nvvm.read.ptx.sreg.laneid : i32
    %2 = nvvm.read_ptx_sreg_laneid : i32
    // CHECK-NEXT: nvvm.shfl.sync bfly %[[M]], %[[X]], %[[M]], %[[M]] : f32 -> f32
    %3 = nvvm.shfl_sync bfly %m, %x, %m, %m : f32 -> f32
    // CHECK-NEXT: nvvm.vote.ballot.sync %[[M]], %[[P]] : i32
    %4 = nvvm.vote_ballot_sync %m, %p : i32
    // CHECK-NEXT: nvvm.redux.sync
    %5 = nvvm.redux_sync add %m, %m : i32 -> i32
    // CHECK-NEXT: nvvm.bar.warp.sync %[[M]] : i32
    nvvm.bar_warp_sync %m : i32
    // CHECK-NEXT: nvvm.cp.async.commit.group
    nvvm.cp_async_commit_group
    // CHECK-NEXT: nvvm.cp.async.wait.group 0
    nvvm.cp_async_wait_group 0
    // CHECK-NEXT: nvvm.cluster.arrive
    nvvm.barrier_cluster_arrive
    // CHECK-NEXT: nvvm.cluster.wait
    nvvm.barrier_cluster_wait
    // CHECK-NEXT: math.fma %[[X]], %[[X]], %[[X]] : f32
    %6 = nvvm.fma %x, %x, %x : f32
    // CHECK-NEXT: math.sqrt %[[X]] : f32
    %7 = nvvm.sqrt %x : f32
    gpu.return
  }
}
