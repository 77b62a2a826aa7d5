// The annotation of a loop reaches LLVM, which unrolls it.
// RUN: cute-opt -cute-lower-loops %s | FileCheck %s
// RUN: cute-opt -one-shot-convert-to-llvm %s | FileCheck %s --check-prefix=SHOT
// RUN: cute-ptx -arch sm_80 %s | FileCheck %s --check-prefix=PTX

#full = #llvm.loop_annotation<unroll = <full = true>>
#never = #llvm.loop_annotation<unroll = <disable = true, count = 1 : i32>>

// CHECK-DAG: #[[FULL:loop_annotation[0-9]*]] = #llvm.loop_annotation<unroll = #[[U:.*]]>
// CHECK-DAG: #[[U]] = #llvm.loop_unroll<full = true>
// CHECK-LABEL: gpu.func @loops
// CHECK: cf.br ^[[INNER:.*]](%{{.*}} : i32) {loop_annotation = #[[FULL]]}
// CHECK: cf.br ^{{.*}}(%{{.*}} : i32) {loop_annotation = #{{.*}}}
// CHECK-NOT: inline_asm
// CHECK-NOT: loop_annotation
// CHECK-LABEL: gpu.func @spelled_llvm
// CHECK: cf.br {{.*}} {loop_annotation = #[[FULL]]}
// CHECK-LABEL: gpu.func @while
// CHECK: cf.br {{.*}} {loop_annotation = #[[FULL]]}

// SHOT-LABEL: llvm.func @loops
// SHOT: llvm.br {{.*}} {loop_annotation
// SHOT: llvm.br {{.*}} {loop_annotation
// SHOT-LABEL: llvm.func @spelled_llvm

// The inner loop is gone and what it indexes is in registers, the outer loop stays.
// PTX-LABEL: .entry loops
// PTX-NOT: .local
// PTX: bra
// PTX-NOT: bra
// PTX: ret
gpu.module @m {
  gpu.func @loops(%p: !llvm.ptr<1>) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c40 = arith.constant 40 : i32
    %c3 = arith.constant 3 : i32
    %size = llvm.mlir.constant(40 : i32) : i32
    %a = llvm.alloca %size x f32 : (i32) -> !llvm.ptr
    scf.for %i = %c0 to %c40 step %c1 : i32 {
      %from = llvm.getelementptr %p[%i] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load volatile %from : !llvm.ptr<1> -> f32
      %to = llvm.getelementptr %a[%i] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      llvm.store %v, %to : f32, !llvm.ptr
    } {loop_annotation = #full}
    scf.for %j = %c0 to %c3 step %c1 : i32 {
      %from = llvm.getelementptr %a[%j] : (!llvm.ptr, i32) -> !llvm.ptr, f32
      %to = llvm.getelementptr %p[%j] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      llvm.store volatile %j, %to : i32, !llvm.ptr<1>
    } {loop_annotation = #never}
    %at = llvm.getelementptr %a[7] : (!llvm.ptr) -> !llvm.ptr, f32
    %v = llvm.load %at : !llvm.ptr -> f32
    llvm.store volatile %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }
  gpu.func @spelled_llvm(%p: !llvm.ptr<1>) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    scf.for %j = %c0 to %c3 step %c1 {
      %i = arith.index_cast %j : index to i32
      llvm.store volatile %i, %p : i32, !llvm.ptr<1>
    } {llvm.loop_annotation = #full}
    gpu.return
  }
  gpu.func @while(%p: !llvm.ptr<1>, %n: i32) kernel {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %r = scf.while (%i = %c0) : (i32) -> i32 {
      %more = arith.cmpi slt, %i, %n : i32
      scf.condition(%more) %i : i32
    } do {
    ^bb0(%i: i32):
      %next = arith.addi %i, %c1 : i32
      llvm.store volatile %i, %p : i32, !llvm.ptr<1>
      scf.yield %next : i32
    } attributes {loop_annotation = #full}
    gpu.return
  }
}
