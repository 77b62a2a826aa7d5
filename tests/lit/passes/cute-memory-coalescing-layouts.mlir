// A tiled copy that is made of layouts of threads and values has its threads in another order, too: its type says it alone.
// RUN: cute-opt %s -cute-memory-coalescing -remarks=cute-memory-coalescing -verify-diagnostics | FileCheck %s
// RUN: cute-ptx %s | FileCheck %s --check-prefix=PTX
// CHECK: cute.make_tiled_copy(%{{[0-9a-z_]*}}) : {{.*}}layout_copy_tv = <"(128,1):(1,0)">, tiler_mn = <"[16:1;8:1]">
// PTX: .entry columns
!a = !cute.memref<f32, gmem, align<16>, "(64,64):(1,64)">
gpu.module @kernels {
  gpu.func @columns(%a: !a, %b: !a) kernel attributes {nvvm.reqntid = array<i32: 128, 1, 1>} {
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f32, 32 b>
    // expected-remark@+1 {{has its threads in the order (128,1):(1,0): 32 sectors become 16}}
    %copy = cute.make_tiled_copy %atom, "(16,8):(8,1)", "(1,1):(0,0)" {cute.coalesce}
    %ta = cute.local_tile %a, (16, 8), (%bx, %by)
    %tb = cute.local_tile %b, (16, 8), (%bx, %by)
    %src = cute.tiled.copy.partition_S %copy, %ta, %tid
    %dst = cute.tiled.copy.partition_D %copy, %tb, %tid
    cute.copy %copy, %src, %dst
    gpu.return
  }
}
