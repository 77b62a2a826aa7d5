// RUN: cute-ptx %s | FileCheck %s

// Texture and surface objects are arguments of i64; their intrinsics become the instructions of unified texturing.
gpu.module @m {
  llvm.func @llvm.nvvm.suld.2d.v2i32.clamp(i64, i32, i32) -> !llvm.struct<(i32, i32)>
  llvm.func @llvm.nvvm.sust.b.2d.i32.trap(i64, i32, i32, i32)
  gpu.func @k(%t: i64, %s: i64, %o: !llvm.ptr, %x: i32, %f: f32) kernel {
    // CHECK: tex.a2d.v4.f32.f32 {{.*}}, [%rd[[#]], {%r{{.*}}, %f{{.*}}, %f{{.*}}, %f{{.*}}}];
    %a = llvm.call_intrinsic "llvm.nvvm.tex.unified.2d.array.v4f32.f32"(%t, %x, %f, %f) : (i64, i32, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: tld4.g.2d.v4.f32.f32
    %b = llvm.call_intrinsic "llvm.nvvm.tld4.unified.g.2d.v4f32.f32"(%t, %f, %f) : (i64, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: txq.width.b32
    %w = llvm.call_intrinsic "llvm.nvvm.txq.width"(%t) : (i64) -> i32
    // CHECK: suld.b.2d.v2.b32.clamp
    %p = llvm.call @llvm.nvvm.suld.2d.v2i32.clamp(%s, %x, %x) : (i64, i32, i32) -> !llvm.struct<(i32, i32)>
    %q = llvm.extractvalue %p[1] : !llvm.struct<(i32, i32)>
    %r = llvm.add %q, %w : i32
    // CHECK: sust.b.2d.b32.trap
    llvm.call @llvm.nvvm.sust.b.2d.i32.trap(%s, %x, %x, %r) : (i64, i32, i32, i32) -> ()
    %a0 = llvm.extractvalue %a[0] : !llvm.struct<(f32, f32, f32, f32)>
    %b0 = llvm.extractvalue %b[0] : !llvm.struct<(f32, f32, f32, f32)>
    %sum = llvm.fadd %a0, %b0 : f32
    llvm.store %sum, %o : f32, !llvm.ptr
    gpu.return
  }
}
