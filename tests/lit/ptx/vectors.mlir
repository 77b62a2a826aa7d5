// RUN: cute-ptx %s | cute-link -o %t.cubin
// RUN: cute-opt -cute-lower-vectors %s | FileCheck %s

gpu.module @m {
  // CHECK-LABEL: gpu.func @positions
  // CHECK: vector.shape_cast {{.*}} : vector<2x4xf32> to vector<8xf32>
  // CHECK: vector.extract {{.*}} : f32 from vector<8xf32>
  // CHECK: vector.insert {{.*}} : f32 into vector<8xf32>
  gpu.func @positions(%x: memref<?xvector<2x4xf32>>, %i: index) kernel {
    %v = memref.load %x[%i] : memref<?xvector<2x4xf32>>
    %e = vector.extract %v[%i, 1] : f32 from vector<2x4xf32>
    %r = vector.insert %e, %v[0, %i] : f32 into vector<2x4xf32>
    memref.store %r, %x[%i] : memref<?xvector<2x4xf32>>
    gpu.return
  }
  // CHECK-LABEL: gpu.func @reductions
  // CHECK-NOT: vector.multi_reduction
  // CHECK-NOT: vector.scan
  // CHECK-NOT: vector.mask {{.*}} vector.transfer_read
  // CHECK: gpu.return
  gpu.func @reductions(%x: memref<?xvector<2x4xf32>>, %y: memref<?xf32>, %i: index) kernel {
    %z = arith.constant 0.0 : f32
    %a = arith.constant dense<0.0> : vector<2xf32>
    %v = memref.load %x[%i] : memref<?xvector<2x4xf32>>
    %0 = vector.multi_reduction <maximumf>, %v, %a [1] : vector<2x4xf32> to vector<2xf32>
    %1, %2 = vector.scan <add>, %v, %0 {inclusive = true, reduction_dim = 1 : i64} : vector<2x4xf32>, vector<2xf32>
    memref.store %1, %x[%i] : memref<?xvector<2x4xf32>>
    %m = vector.create_mask %i : vector<8xi1>
    %3 = vector.mask %m { vector.transfer_read %y[%i], %z : memref<?xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
    vector.store %3, %y[%i] : memref<?xf32>, vector<8xf32>
    gpu.return
  }
}
