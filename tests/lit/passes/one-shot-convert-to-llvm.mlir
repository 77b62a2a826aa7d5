// RUN: cute-opt %s -one-shot-convert-to-llvm | FileCheck %s

// CHECK-NOT: unrealized_conversion_cast
// CHECK-NOT: {{(arith|scf|cf|func|math|memref)\.}}

// CHECK-LABEL: gpu.module @device
// CHECK:       llvm.func @kernel(%{{.*}}: i32, %{{.*}}: !llvm.struct<(i32, struct<()>)>, %{{.*}}: !llvm.ptr) attributes {gpu.kernel, nvvm.kernel}
// CHECK:       nvvm.read.ptx.sreg.tid.x
// CHECK:       nvvm.barrier0
// CHECK:       llvm.return
gpu.module @device {
  gpu.func @kernel(%a: i32, %l: !llvm.struct<(i32, struct<()>)>, %out: !llvm.ptr) kernel {
    %x = gpu.thread_id x
    %i = arith.index_cast %x : index to i32
    %n = llvm.extractvalue %l[0] : !llvm.struct<(i32, struct<()>)>
    %in = arith.cmpi slt, %i, %n : i32
    scf.if %in {
      %r = arith.ceildivsi %a, %i : i32
      llvm.store %r, %out : i32, !llvm.ptr
    }
    gpu.barrier
    gpu.return
  }
}

// CHECK-LABEL: llvm.func @host(
// CHECK:       llvm.cond_br
// CHECK:       llvm.intr.abs
func.func @host(%n: index, %x: i32) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %r = scf.for %i = %zero to %n step %one iter_args(%s = %x) -> (i32) {
    %a = math.absi %s : i32
    %t = arith.shrui %a, %x : i32
    scf.yield %t : i32
  }
  return %r : i32
}
