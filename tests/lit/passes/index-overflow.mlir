// What counts on offsets of 32 bits is told to launches, and to people who ask.
// RUN: cute-opt %s --warn=index-overflow -cute-full-lowering -o /dev/null 2>%t.err
// RUN: FileCheck %s --check-prefix=ERR --implicit-check-not=remark < %t.err
// RUN: cute-ptx %s -arch sm_80 --warn=index-overflow 2>%t.err | FileCheck %s
// RUN: FileCheck %s --check-prefix=ERR --implicit-check-not=remark < %t.err
// RUN: cute-ptx %s -arch sm_80 -o %t.ptx 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: not cute-opt %s --warn=index-overflaw 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not cute-ptx %s --warn=index-overflow,all 2>&1 | FileCheck %s --check-prefix=WRONG2
// NONE-NOT: remark
// WRONG: error: --warn expects index-overflow, got 'index-overflaw'
// WRONG2: error: --warn expects index-overflow, got 'all'

gpu.module @m {
  // CHECK: "kernel":{{ ?}}"narrow"
  // CHECK-SAME: "name":{{ ?}}"x", "offsets": {"below": 2147483648, "leaves": [0, 1]}
  // CHECK-NOT: offsets
  gpu.func @narrow(%x: !cute.memref<i8, gmem, "(?,?):(?,1)">, %v: !cute.memref<i8, gmem, "?:1">, %i: i32, %j: i32) kernel {
    // ERR: index-overflow.mlir:[[@LINE+1]]:10: remark: 'cute.memref.load' computes 32-bit offsets of 'x', so launches that exceed them are rejected; expected ?{i64} strides, or ?{i64} extents if the strides are known, for larger tensors
    %a = cute.load %x[%i, %j]
    %b = cute.load %v[%i]
    cute.store %a, %v[%j]
    %tile = cute.local_tile %v, 1024, %i
    cute.store %b, %tile[%j]
    gpu.return
  }
  // Only one of the leaves has 32 bits.
  // CHECK: "kernel":{{ ?}}"parts"
  // CHECK-SAME: "name":{{ ?}}"x", "offsets": {"below": 2147483648, "leaves": [1]}
  // CHECK-SAME: "name":{{ ?}}"wide"
  // CHECK-NOT: offsets
  gpu.func @parts(%x: !cute.memref<f32, gmem, "(?,?,?):(?{i64},?,?{i64})">, %wide: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %i: i32) kernel {
    // ERR: index-overflow.mlir:[[@LINE+1]]:13: remark: 'cute.local_tile' computes 32-bit offsets of 'x'
    %tile = cute.local_tile %x, (64, 32, 8), (%i, %i, %i)
    // ERR: index-overflow.mlir:[[@LINE+1]]:10: remark: 'cute.memref.load' computes 32-bit offsets of 'x'
    %a = cute.load %tile[0, 1, 2]
    cute.store %a, %wide[%i, %i]
    gpu.return
  }
  // CHECK: "kernel":{{ ?}}"made"
  // CHECK-NOT: offsets
  gpu.func @made(%p: !cute.ptr<i8, gmem>, %n: i32, %i: i32) kernel {
    %l = cute.make_layout((%n, 8), (8, 1))
    %x = cute.make_view %p, %l
    // ERR: index-overflow.mlir:[[@LINE+1]]:10: remark: 'cute.memref.load' computes 32-bit offsets of a tensor that is not a kernel argument, and their range is not checked; expected 64-bit strides or extents for larger tensors
    %a = cute.load %x[%i, 0]
    cute.store %a, %x[%i, 1]
    // ERR: remark: 'cute.memref.store'
    gpu.return
  }
}
