// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s

// Accesses, matrices and products as texts on GPUs write them.

// CHECK-LABEL: func.func @of_tensors(
// CHECK-SAME: %[[T:.*]]: !cute.memref{{.*}}, %[[I:.*]]: i32)
func.func @of_tensors(%t: !cute.memref<f32, gmem, "(?,8):(8,1)">, %i: i32) {
  // CHECK: %[[C:.*]] = cute.make_coord(%[[I]]) : (i32) -> !cute.coord<"(?,3)">
  // CHECK: %[[X:.*]] = cute.memref.load(%[[T]], %[[C]])
  %x = gpu.load %t[%i, 3] : f32
  // CHECK: cute.memref.store(%[[T]], %{{.*}}, %[[X]]) {{.*}}!cute.coord<"(4,?)">
  gpu.store %x, %t[4, %i] : f32
  // CHECK: %[[Y:.*]] = cute.memref.load
  %y = cute.load %t[%i] : f32
  // CHECK: cute.memref.store({{.*}}, %[[Y]])
  cute.store %y, %t[%i, 2] : f32
  return
}

// CHECK-LABEL: func.func @of_memrefs(
// CHECK-SAME: %[[T:.*]]: memref<?x8xf32>, %[[I:.*]]: i32, %[[J:.*]]: index)
func.func @of_memrefs(%t: memref<?x8xf32>, %i: i32, %j: index) {
  // CHECK: %[[A:.*]] = arith.index_cast %[[I]] : i32 to index
  // CHECK: %[[X:.*]] = memref.load %[[T]][%[[A]], %[[J]]] : memref<?x8xf32>
  %x = gpu.load %t[%i, %j] : f32
  // CHECK: memref.store %[[X]], %[[T]][%{{.*}}, %{{.*}}] : memref<?x8xf32>
  gpu.store %x, %t[3, %i]
  return
}

// CHECK-LABEL: func.func @matrices(
func.func @matrices(%p: !cute.ptr<f16, smem, align<16>>, %t: !cute.memref<f16, smem, align<128>, "(16,64):(64,1)">) {
  // CHECK: cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}> (%{{.*}}) : (!cute.ptr<f16, smem, align<16>>) -> vector<4xi32>
  %a = cute_nvgpu.ldmatrix %p
  // CHECK: num_matrices = 2 : i32, {{.*}}, transpose}> (%{{.*}}) : (!cute.ptr<f16, smem, align<16>>) -> vector<2xi32>
  %b = cute_nvgpu.ldmatrix<x2, trans> %p
  // CHECK: num_matrices = 1 : i32, {{.*}} -> vector<1xi32>
  %c = cute_nvgpu.ldmatrix %p : vector<1xi32>
  // CHECK: num_matrices = 4 : i32, {{.*}}, transpose}> (%{{.*}}) : (!cute.ptr<f16, smem, align<128>>) -> vector<4xi32>
  %d = cute_nvgpu.ldmatrix<trans> %t
  return
}

// The alignment of a place follows from what divides its coordinate.
// CHECK-LABEL: func.func @place(
func.func @place(%t: !cute.memref<f16, smem, align<128>, "(16,64):(64,1)">, %i: i32, %j: !cute.i32<divby 8>) {
  // CHECK: %[[C:.*]] = cute.make_coord(%{{.*}}, %{{.*}}) : (i32, !cute.i32<divby 8>) -> !cute.coord<"(?,?{div=8})">
  // CHECK: %[[I:.*]] = cute.layout_eval(%[[C]], %{{.*}}) {{.*}} -> !cute.int_tuple<"?{div=8}">
  // CHECK: %[[P:.*]] = cute.add_offset(%{{.*}}, %[[I]]) {{.*}} -> !cute.ptr<f16, smem, align<16>>
  // CHECK: cute_nvgpu.arch.copy.ldsm<{{.*}}> (%[[P]])
  %e = cute_nvgpu.ldmatrix %t[%i, %j]
  return
}

// Of vectors in any shape, and of the words that a ldmatrix gives.
// CHECK-LABEL: func.func @product(
func.func @product(%a: vector<4x2xf16>, %b: vector<4xf16>, %c: vector<2x2xf32>) -> vector<2x2xf32> {
  // CHECK: vector.shape_cast %{{.*}} : vector<4x2xf16> to vector<8xf16>
  // CHECK: vector.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
  // CHECK: %[[D:.*]]:4 = cute_nvgpu.arch.mma.SM80<{operandSegmentSizes = array<i32: 4, 2, 4>, a_type = f16, b_type = f16, shape_MNK = #cute.shape<"(16,8,16)">}> {{.*}} -> (f32, f32, f32, f32)
  // CHECK: vector.from_elements %[[D]]#0, %[[D]]#1, %[[D]]#2, %[[D]]#3 : vector<2x2xf32>
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c :
      !cute_nvgpu.mma_atom<16,8,16,f16>
  return %d : vector<2x2xf32>
}

// CHECK-LABEL: func.func @sum_of_f16(
func.func @sum_of_f16(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<2x2xf16>) -> vector<2x2xf16> {
  // CHECK: cute_nvgpu.arch.mma.SM80{{.*}} -> (vector<2xf16>, vector<2xf16>)
  // CHECK: vector.bitcast %{{.*}} : vector<2xi32> to vector<4xf16>
  // CHECK: vector.shape_cast %{{.*}} : vector<4xf16> to vector<2x2xf16>
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,16,f16>
  return %d : vector<2x2xf16>
}

// CHECK-LABEL: func.func @words(
func.func @words(%a: vector<4xi32>, %b: vector<2xi32>) -> vector<2xi32> {
  // CHECK: cute_nvgpu.arch.mma.SM80{{.*}} -> (vector<2xf16>, vector<2xf16>)
  // CHECK: vector.from_elements %{{.*}}, %{{.*}} : vector<2xi32>
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %b : !cute_nvgpu.mma_atom<16,8,16,f16>
  return %d : vector<2xi32>
}

// CHECK-LABEL: func.func @bf16(
func.func @bf16(%a: vector<4xbf16>, %b: vector<2xbf16>, %c: vector<4xf32>) -> vector<4xf32> {
  // CHECK: cute_nvgpu.arch.mma.SM80<{operandSegmentSizes = array<i32: 2, 1, 4>, a_type = bf16, b_type = bf16, shape_MNK = #cute.shape<"(16,8,8)">}>
  // CHECK: vector.from_elements %{{.*}} : vector<4xf32>
  %d = cute_nvgpu.warp_mma_f16bf16 %a, %b, %c : !cute_nvgpu.mma_atom<16,8,8,bf16>
  return %d : vector<4xf32>
}

// In a loop the operations that it becomes stand there, too.
// CHECK-LABEL: func.func @in_a_loop(
func.func @in_a_loop(%a: vector<4xi32>, %b: vector<2xi32>, %c: vector<4xf32>, %n: index) -> vector<4xf32> {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  // CHECK: scf.for
  %d = scf.for %i = %zero to %n step %one iter_args(%sum = %c) -> (vector<4xf32>) {
    // CHECK: cute_nvgpu.arch.mma.SM80
    // CHECK: scf.yield
    %e = cute_nvgpu.warp_mma_f16bf16 %a, %b, %sum : !cute_nvgpu.mma_atom<16,8,16,f16>
    scf.yield %e : vector<4xf32>
  }
  return %d : vector<4xf32>
}

// CHECK-LABEL: func.func @barriers(
func.func @barriers(%id: i32, %threads: i32) {
  // CHECK-NEXT: nvvm.barrier id = %{{.*}} number_of_threads = %{{.*}}
  nvvm.barrier_wait id = %id number_of_threads = %threads
  // CHECK-NEXT: nvvm.barrier.arrive id = %{{.*}} number_of_threads = %{{.*}}
  nvvm.barrier_arrive id = %id number_of_threads = %threads
  return
}

// Of so many elements, of a shape (compact, mode 0 first) and of a layout.
// CHECK-LABEL: func.func @shared_memory(
func.func @shared_memory() {
  // CHECK-NEXT: cute.memref.alloca() : () -> !cute.memref<f16, smem, align<16>, "1024:1">
  %a = gpu.alloc_shared_memory(1024, f16)
  // CHECK-NEXT: cute.memref.alloca() : () -> !cute.memref<f32, smem, align<16>, "(64,32):(1,64)">
  %b = gpu.alloc_shared_memory((64, 32), f32)
  // CHECK-NEXT: cute.memref.alloca() : () -> !cute.memref<bf16, smem, align<16>, "(64,32):(32,1)">
  %c = gpu.alloc_shared_memory "(64,32):(32,1)" : bf16
  // CHECK-NEXT: cute.memref.alloca() : () -> !cute.memref<i8, smem, align<16>, "16:1">
  %d = gpu.alloc_shared_memory(16) : i8
  // CHECK-NEXT: cute.memref.alloca() : () -> !cute.memref<f16, smem, align<128>, "(8,8):(8,1)">
  %e = cute.memref.alloca : !cute.memref<f16, smem, align<128>, "(8,8):(8,1)">
  return
}
