// RUN: not cute-ptx %s 2>&1 | FileCheck %s
// RUN: not cute-ptx -arch sm_100a %s 2>&1 | FileCheck %s

// Nothing binds textures and surfaces: the instruction is named at its line, with what does the same.
gpu.module @m {
  llvm.func @llvm.nvvm.suld.1d.i32.trap(i64, i32) -> i32
  gpu.func @k(%t: i64, %x: i32, %f: f32) kernel {
    // CHECK: :[[#@LINE+2]]:10: error: 'llvm.call_intrinsic' op reads a texture (llvm.nvvm.tex.unified.1d.v4f32.s32), but textures and surfaces are unsupported
    // CHECK: :[[#@LINE+1]]:10: note: expected a load from global memory (llvm.load, cute.copy); arith for filtering and clamping
    %a = llvm.call_intrinsic "llvm.nvvm.tex.unified.1d.v4f32.s32"(%t, %x) : (i64, i32) -> !llvm.struct<(f32, f32, f32, f32)>
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.call' op loads from a surface (llvm.nvvm.suld.1d.i32.trap)
    %b = llvm.call @llvm.nvvm.suld.1d.i32.trap(%t, %x) : (i64, i32) -> i32
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.inline_asm' op reads four texels of a texture (tld4.r.2d.v4.f32.f32)
    %c = llvm.inline_asm has_side_effects "{ .reg .b32 a, b, c; @p tld4.r.2d.v4.f32.f32 {$0, a, b, c}, [$1, {$2, $2}]; }", "=f,l,f" %t, %f : (i64, f32) -> f32
    // CHECK: :[[#@LINE+2]]:5: error: 'llvm.inline_asm' op stores to a surface (sust.b.1d.b32.trap)
    // CHECK: note: expected a store to global memory (llvm.store, cute.copy)
    llvm.inline_asm has_side_effects "again: sust.b.1d.b32.trap [$0, {$1}], {$1};", "l,r" %t, %x : (i64, i32) -> ()
    // CHECK: :[[#@LINE+2]]:10: error: 'llvm.inline_asm' op queries a texture (txq.width.b32)
    // CHECK: note: expected an argument of the kernel, such as its width
    %d = llvm.inline_asm has_side_effects "mov.u32 $0, 0;\n\09txq.width.b32 $0, [$1];", "=r,l" %t : (i64) -> i32
    // CHECK: :[[#@LINE+1]]:5: error: 'llvm.inline_asm' op reduces into a surface (sured.b.add.1d.u32.trap)
    llvm.inline_asm has_side_effects "sured.b.add.1d.u32.trap [$0, {$1}], $1;", "l,r" %t, %x : (i64, i32) -> ()
    // Names and operands that only look so are others.
    // CHECK-NOT: error:
    llvm.inline_asm has_side_effects "{ .reg .b32 tex; mov.b32 tex, $0; }", "r" %x : (i32) -> ()
    gpu.return
  }
}
