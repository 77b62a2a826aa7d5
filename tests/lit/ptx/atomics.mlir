// Atomic updates of memrefs: relaxed at gpu scope, one instruction or a loop whose first load is relaxed too.
// RUN: cute-ptx %s | FileCheck %s --check-prefixes=CHECK,SM90
// RUN: cute-ptx -arch sm_80 %s | FileCheck %s --check-prefixes=CHECK,SM80
// RUN: cute-ptx %s | cute-link -o %t.cubin

gpu.module @m { gpu.func @k(%x: memref<?xf32>, %h: memref<4x?xf16>, %b: memref<?xbf16, strided<[2], offset: 3>>, %i: memref<i32>, %l: memref<?xi64, 1>, %z: memref<?xindex>, %s: memref<?xi16>) workgroup(%w: memref<32xf32, #gpu.address_space<workgroup>>) kernel {
  %t = gpu.thread_id x
  %v = memref.load %x[%t] : memref<?xf32>
  %hv = arith.truncf %v : f32 to f16
  %bv = arith.truncf %v : f32 to bf16
  %iv = arith.fptosi %v : f32 to i32
  %lv = arith.fptosi %v : f32 to i64
  %sv = arith.fptosi %v : f32 to i16
  // CHECK: ld.relaxed.gpu.b32
  // CHECK: mul.{{(rn.)?}}f32
  // CHECK: atom.relaxed.gpu.cas.b32
  %0 = memref.atomic_rmw mulf %v, %x[%t] : (f32, memref<?xf32>) -> f32
  // CHECK: atom.shared.add.f32
  %1 = memref.atomic_rmw addf %v, %w[%t] : (f32, memref<32xf32, #gpu.address_space<workgroup>>) -> f32
  // CHECK: ld.relaxed.gpu.b16
  // CHECK: atom.relaxed.gpu.cas.b16
  %2 = memref.atomic_rmw maximumf %hv, %h[%t, %t] : (f16, memref<4x?xf16>) -> f16
  // CHECK: atom.relaxed.gpu.add.noftz.f16
  %3 = memref.atomic_rmw addf %hv, %h[%t, %t] : (f16, memref<4x?xf16>) -> f16
  // SM90: atom.relaxed.gpu.add.noftz.bf16
  // SM80: ld.relaxed.gpu.b16
  // SM80: atom.relaxed.gpu.cas.b16
  %4 = memref.atomic_rmw addf %bv, %b[%t] : (bf16, memref<?xbf16, strided<[2], offset: 3>>) -> bf16
  // CHECK: atom.global.max.s32
  %5 = memref.atomic_rmw maxs %iv, %i[] : (i32, memref<i32>) -> i32
  // CHECK: ld.relaxed.gpu.global.b64
  // CHECK: atom.relaxed.gpu.global.cas.b64
  %6 = memref.atomic_rmw muli %lv, %l[%t] : (i64, memref<?xi64, 1>) -> i64
  // CHECK: ld.relaxed.gpu.b16
  // CHECK: atom.relaxed.gpu.cas.b16
  %8 = memref.atomic_rmw addi %sv, %s[%t] : (i16, memref<?xi16>) -> i16
  // CHECK: ld.relaxed.gpu.shared.b32
  // CHECK: div.{{(rn.)?}}f32
  // CHECK: atom.relaxed.gpu.shared.cas.b32
  %9 = memref.generic_atomic_rmw %w[%t] : memref<32xf32, #gpu.address_space<workgroup>> {
  ^bb0(%old: f32):
    %q = arith.divf %old, %v : f32
    memref.atomic_yield %q : f32
  }
  gpu.return } }
