// RUN: not cute-ptx %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_100a %s 2>&1 | FileCheck %s

// Launches bind texture and surface objects only: what refers to one by name, or to a sampler, is refused at its line.
gpu.module @m {
  gpu.func @k(%t: i64, %x: i32, %f: f32) kernel {
    // CHECK: :[[#@LINE+2]]:10: error: 'llvm.call_intrinsic' op takes a texture and a sampler apart (llvm.nvvm.tex.1d.v4f32.s32), which launches cannot bind
    // CHECK: :[[#@LINE+1]]:10: note: expected the form of unified texturing, llvm.nvvm.tex.unified..., on a texture object
    %a = llvm.call_intrinsic "llvm.nvvm.tex.1d.v4f32.s32"(%t, %t, %x) : (i64, i64, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.call_intrinsic' op takes a texture and a sampler apart (llvm.nvvm.tld4.r.2d.v4f32.f32)
    %b = llvm.call_intrinsic "llvm.nvvm.tld4.r.2d.v4f32.f32"(%t, %t, %f, %f) : (i64, i64, f32, f32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: :[[#@LINE+2]]:10: error: 'llvm.call_intrinsic' op takes the handle of a texture or surface by name (llvm.nvvm.texsurf.handle.internal.p1)
    // CHECK: note: expected an argument of the kernel (i64)
    %c = llvm.call_intrinsic "llvm.nvvm.texsurf.handle.internal.p1"(%t) : (i64) -> i64
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.inline_asm' op queries the type of an opaque handle (istypep.texref)
    %d = llvm.inline_asm has_side_effects "{ .reg .pred p; again: istypep.texref p, $1; selp.u32 $0, 1, 0, p; }", "=r,l" %t : (i64) -> i32
    // Objects are accepted, and names and operands that only look so are others.
    // CHECK-NOT: error:
    %e = llvm.call_intrinsic "llvm.nvvm.tex.unified.1d.v4f32.s32"(%t, %x) : (i64, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    llvm.inline_asm has_side_effects "sust.b.1d.b32.trap [$0, {$1}], {$1};", "l,r" %t, %x : (i64, i32) -> ()
    llvm.inline_asm has_side_effects "{ .reg .b32 istypep; mov.b32 istypep, $0; }", "r" %x : (i32) -> ()
    gpu.return
  }
}
