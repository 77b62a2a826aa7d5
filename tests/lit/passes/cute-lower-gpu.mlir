// RUN: cute-opt %s -cute-lower-gpu | FileCheck %s

gpu.module @m {
  gpu.func @k(%out: memref<3xindex>) kernel {
    // CHECK: nvvm.read.ptx.sreg.cluster.nctaid.x : i32
    // CHECK: arith.index_castui
    %x = gpu.cluster_dim_blocks x
    // CHECK: nvvm.read.ptx.sreg.cluster.nctaid.z : i32
    %z = gpu.cluster_dim_blocks z
    %c0 = arith.constant 0 : index
    memref.store %x, %out[%c0] : memref<3xindex>
    memref.store %z, %out[%c0] : memref<3xindex>
    gpu.return
  }
}
