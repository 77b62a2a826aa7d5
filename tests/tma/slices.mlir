// B = A for channels in slices of 16 bytes (NC/8HWC8): (channels of a slice, width, height, slices, batch). The tensor of the copy
// has the modes (channels, width, height, batch), whose first one counts the channels of all slices. A block copies the slices of a box of pixels; what is outside of A comes in as NaN.
!A = !cute.memref<f16, gmem, align<16>, "(8,?,?,?,?):(1,8,?{i64},?{i64},?{i64})">
gpu.module @kernels {
  gpu.func @copy(%A: !A, %B: !A) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %b = nvvm.read.ptx.sreg.ctaid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %bytes = arith.constant 2048 : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f16, smem, align<1024>>
    %bars = cute.memref.alloca : !cute.memref<i64, smem, align<8>, "1:1">
    %bar = cute.get_iter %bars
    %first = arith.cmpi eq, %t, %c0 : i32
    scf.if %first {
      cute_nvgpu.arch.mbarrier_init %bar, %c1
      cute_nvgpu.arch.mbarrier_init_fence
      cute_nvgpu.arch.mbarrier_arrive_and_expect_tx %bar, %bytes
    }
    cute_nvgpu.arch.warp_sync
    %layout = cute.get_layout %A
    %shape = cute.get_shape %layout
    %c, %w, %h, %slices, %n = cute.get_scalars %shape
    %stride = cute.get_stride %layout
    %s0, %s1, %s2, %s3, %s4 = cute.get_scalars %stride
    %channels = arith.muli %slices, %c : i32
    %all = cute.make_shape(%channels, %w, %h, %n)
    %steps = cute.make_stride(1, 8, %s2, %s4)
    %view = cute.make_layout %all, %steps
    %pA = cute.get_iter %A
    %pB = cute.get_iter %B
    %vA = cute.make_view %pA, %view
    %vB = cute.make_view %pB, %view
    %load, %cA = cute_nvgpu.atom.make_non_exec_tiled_tma_load(%vA, "((8,2),8,8,1):((1,512),8,64,0)") {interleave = "16B", fill = nan}
    %store, %cB = cute_nvgpu.atom.make_non_exec_tiled_tma_store(%vB, "((8,2),8,8,1):((1,512),8,64,0)") {interleave = "16B"}
    %gA = cute.local_tile(%cA, (16, 8, 8, 1), (0, 0, 0, %b))
    %gB = cute.local_tile(%cB, (16, 8, 8, 1), (0, 0, 0, %b))
    %gA1 = cute.group_modes<0,4> %gA
    %gB1 = cute.group_modes<0,4> %gB
    %s = cute.make_view %smem, "(((8,2),8,8,1)):(((1,512),8,64,0))"
    %to, %from = cute_nvgpu.atom.tma_partition(%load, 0, "1:0", %s, %gA1)
    %out, %into = cute_nvgpu.atom.tma_partition(%store, 0, "1:0", %s, %gB1)
    %loads = cute_nvgpu.atom.make_exec_tma %load
    %stores = cute_nvgpu.atom.make_exec_tma %store
    %atom = cute_nvgpu.atom.set_value(%loads, %bar) {field = tma_bar}
    cute.copy %atom, %from, %to
    cute_nvgpu.arch.mbarrier_wait %bar, %c0
    cute.copy %stores, %out, %into
    nvvm.cp.async.bulk.commit.group
    nvvm.cp.async.bulk.wait_group 0
    gpu.return
  }
}
func.func @main(%A: !A {cute.name = "A"}, %B: !A {cute.name = "B"}) {
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c32 = arith.constant 32 : index
  %smem = arith.constant 2048 : i32
  gpu.launch_func @kernels::@copy blocks in (%c3, %c1, %c1) threads in (%c32, %c1, %c1) dynamic_shared_memory_size %smem args(%A : !A, %B : !A)
  return
}
