// RUN: cute-opt %s -cute-nvgpu-tma-materialize -cute-expand-ops -cute-nvgpu-copy-lowering | FileCheck %s

// An im2col load has the pixel's coordinates (i32) and the position in the filter (i16); a store has no position.
!X = !cute.memref<f16, gmem, align<16>, "(?,?,?,?):(1,?{i64},?{i64},?{i64})">
module attributes {gpu.container_module} {
  gpu.module @m {
    // CHECK-LABEL: gpu.func @copies
    gpu.func @copies(%x: !X, %s: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,64)):((64,1))">, %bar: !cute.ptr<i64, smem>, %w: i32, %h: i32, %n: i32, %q: i32, %mask: i16) kernel {
      %load, %cx = cute_nvgpu.atom.make_non_exec_im2col_tma_load(%x, "S<3,4,3> o 0 o (64,64):(64,1)")
        {lower = [-1, 0], upper = [-1, 0], stride = [2, 1], filter = [3, 2], dilation = [2, 1], num_multicast = 2}
      %rows = cute.slice %cx, ((%w, %h, %n), (_, %q, 1))
      %tiles = cute.local_tile %rows, (64), (0)
      %one = cute.group_modes<0,1> %tiles
      %to, %from = cute_nvgpu.atom.tma_partition(%load, 1, "2:1", %s, %one)
      %e0 = cute_nvgpu.atom.make_exec_tma %load
      %e1 = cute_nvgpu.atom.set_value(%e0, %bar) {field = tma_bar}
      %e2 = cute_nvgpu.atom.set_value(%e1, %mask) {field = mcast_mask}
      // CHECK: llvm.inline_asm {{.*}}@elected cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes.multicast::cluster [$2], [$0, {$3, $4, $5, $6}], [$1], {$7, $8}, $9;{{.*}} "l,r,r,r,r,r,r,h,h,h,~{memory}"
      cute.copy %e2, %from, %to
      // CHECK: cp.async.bulk.prefetch.tensor.4d.L2.global.im2col [$0, {$1, $2, $3, $4}], {$5, $6};
      cute.prefetch %load, %from
      %store, %cy = cute_nvgpu.atom.make_non_exec_im2col_tma_store(%x, "S<3,4,3> o 0 o (64,64):(64,1)") {lower = [0, 0], upper = [0, 0]}
      %there = cute.slice %cy, ((%w, %h, %n), _)
      %tiles_y = cute.local_tile %there, (64), (0)
      %one_y = cute.group_modes<0,1> %tiles_y
      %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %one_y)
      %stores = cute_nvgpu.atom.make_exec_tma %store
      // CHECK: cp.async.bulk.tensor.4d.global.shared::cta.im2col_no_offs.bulk_group [$0, {$1, $2, $3, $4}], [$5];
      cute.copy %stores, %out, %into
      %reduce, %cz = cute_nvgpu.atom.make_non_exec_im2col_tma_reduce(%x, "S<3,4,3> o 0 o (64,64):(64,1)") {lower = [0, 0], upper = [0, 0]}
      %reduces = cute_nvgpu.atom.make_exec_tma %reduce
      // CHECK: cp.reduce.async.bulk.tensor.4d.global.shared::cta.add.im2col_no_offs.bulk_group
      cute.copy %reduces, %out, %into
      gpu.return
    }
  }
  func.func @main(%x: !X, %s: !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,64)):((64,1))">, %bar: !cute.ptr<i64, smem>, %w: i32, %mask: i16) {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@copies blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : !X, %s : !cute.memref<f16, smem, align<1024>, S<3,4,3>, "((64,64)):((64,1))">, %bar : !cute.ptr<i64, smem>, %w : i32, %w : i32, %w : i32, %w : i32, %mask : i16)
    return
  }
}
