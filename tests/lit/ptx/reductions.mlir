// RUN: cute-ptx %s | FileCheck %s
// RUN: cute-ptx -arch sm_75 %s | FileCheck %s --check-prefix=SM75
// RUN: cute-ptx %s | cute-link -o %t.cubin

gpu.module @m {
  // Whole warps exchange; 64 bits are two registers.
  // CHECK-LABEL: .entry whole(
  // CHECK-COUNT-10: shfl.sync.bfly.b32
  // CHECK-NOT: shfl
  gpu.func @whole(%x: memref<?xf64>) kernel attributes {known_block_size = array<i32: 64, 1, 1>} {
    %i = gpu.global_id x
    %v = memref.load %x[%i] : memref<?xf64>
    %r = gpu.subgroup_reduce maximumf %v : (f64) -> f64
    memref.store %r, %x[%i] : memref<?xf64>
    gpu.return
  }
  // The last warp of a block may have fewer lanes.
  // CHECK-LABEL: .entry partial(
  // CHECK-COUNT-5: shfl.sync.down.b32
  // CHECK: shfl.sync.idx.b32
  gpu.func @partial(%x: memref<?xbf16>) kernel {
    %i = gpu.global_id x
    %v = memref.load %x[%i] : memref<?xbf16>
    %r = gpu.subgroup_reduce mul %v : (bf16) -> bf16
    memref.store %r, %x[%i] : memref<?xbf16>
    gpu.return
  }
  // CHECK-LABEL: .entry integers(
  // CHECK: redux.sync.max.s32
  // SM75-LABEL: .entry integers(
  // SM75: shfl.sync.down.b32
  gpu.func @integers(%x: memref<?xi8>) kernel {
    %i = gpu.global_id x
    %v = memref.load %x[%i] : memref<?xi8>
    %r = gpu.subgroup_reduce maxsi %v : (i8) -> i8
    memref.store %r, %x[%i] : memref<?xi8>
    gpu.return
  }
  // CHECK-LABEL: .entry block(
  // CHECK: bar.sync
  // CHECK: bar.sync
  // CHECK: ld.shared.b16
  gpu.func @block(%x: memref<?xf16>) kernel {
    %i = gpu.global_id x
    %v = memref.load %x[%i] : memref<?xf16>
    %r = gpu.all_reduce %v {
    ^bb0(%a: f16, %b: f16):
      %p = arith.mulf %a, %b : f16
      gpu.yield %p : f16
    } : (f16) -> f16
    memref.store %r, %x[%i] : memref<?xf16>
    gpu.return
  }
  // CHECK-LABEL: .entry ids(
  gpu.func @ids(%x: memref<?xindex>) kernel {
    %c0 = arith.constant 0 : index
    %g = gpu.global_id z
    %s = gpu.subgroup_id : index
    %n = gpu.num_subgroups : index
    %w = gpu.subgroup_size : index
    %l = gpu.lane_id
    %0 = arith.addi %g, %s : index
    %1 = arith.addi %0, %n : index
    %2 = arith.addi %1, %w : index
    %3 = arith.addi %2, %l : index
    memref.store %3, %x[%c0] : memref<?xindex>
    gpu.return
  }
}
