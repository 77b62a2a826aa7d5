// What is used before a loop and behind it, and not in it, is computed again behind loops that carry many values.
// RUN: cute-ptx -arch sm_80 -D N=64 %s | FileCheck %s --check-prefix=MANY
// RUN: cute-ptx -arch sm_80 -D N=32 %s | FileCheck %s --check-prefix=FEW
// RUN: cute-ptx -arch sm_80 -D N=64 -O0 %s | FileCheck %s --check-prefix=FEW

// MANY: .entry k
// MANY: mov.u32 %r{{[0-9]+}}, %tid.x;
// MANY: bra
// MANY: mov.u32 %r[[T:[0-9]+]], %tid.x;
// MANY: %r[[T]]
// MANY: st.global

// FEW: .entry k
// FEW: %tid.x
// FEW-NOT: %tid.x
// FEW: ret;
gpu.module @m {
  gpu.func @k(%p: memref<?xf32>, %v: memref<${N}xf32>, %n: index) kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %zero = arith.constant dense<0.0> : vector<${N}xf32>
    %t = gpu.thread_id x
    %t3 = arith.muli %t, %c3 : index
    %at = arith.addi %t3, %c1 : index
    %first = memref.load %p[%at] : memref<?xf32>
    %from = vector.broadcast %first : f32 to vector<${N}xf32>
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%a = %from) -> (vector<${N}xf32>) {
      %x = vector.load %v[%c0] : memref<${N}xf32>, vector<${N}xf32>
      %s = arith.addf %a, %x : vector<${N}xf32>
      %m = arith.mulf %s, %x : vector<${N}xf32>
      gpu.barrier
      scf.yield %m : vector<${N}xf32>
    }
    %one = vector.reduction <add>, %sum : vector<${N}xf32> into f32
    memref.store %one, %p[%at] : memref<?xf32>
    gpu.return
  }
}
