// An index has 64 bits where 32 may not hold it, for all that is known of the tensor, and 32 bits elsewhere.
// RUN: cute-opt %s --cute-to-standard --source-map=off | FileCheck %s

// The last element of 4 x 8 at 3 * 2^30 + 7: rows 2 and 3 lie behind what 32 bits reach.
// CHECK-LABEL: @static_far
// CHECK: arith.extsi %arg1 : i32 to i64
// CHECK: arith.muli {{.*}} overflow<nsw> : i64
// CHECK: arith.addi {{.*}} overflow<nsw> : i64
// CHECK: llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i64)
func.func @static_far(%x: !cute.memref<i8, gmem, "(4,8):(1073741824,1)">, %i: i32, %j: i32) -> i8 {
  %v = cute.load %x[%i, %j]
  func.return %v : i8
}

// 2147483647 is the last index.
// CHECK-LABEL: @static_near
// CHECK-NOT: i64
// CHECK: llvm.getelementptr %arg0[%{{.*}}] : (!llvm.ptr<1>, i32)
func.func @static_near(%x: !cute.memref<i8, gmem, "(3,8):(1073741820,1)">, %i: i32, %j: i32) -> i8 {
  %v = cute.load %x[%i, %j]
  func.return %v : i8
}

// Each product fits, and the sum does not.
// CHECK-LABEL: @static_sum
// CHECK: %[[I:.*]] = arith.muli %arg1, %c1073741824_i32 overflow<nsw> : i32
// CHECK: %[[J:.*]] = arith.muli %arg2, %c1073741823_i32 overflow<nsw> : i32
// CHECK: arith.addi %[[I]], %[[J]] overflow<nsw> : i32
// CHECK: arith.muli %arg3, %c5_i32 overflow<nsw> : i32
// CHECK: arith.addi {{.*}} overflow<nsw> : i64
func.func @static_sum(%x: !cute.memref<f32, gmem, "(2,2,2):(1073741824,1073741823,5)">, %i: i32, %j: i32, %k: i32) -> f32 {
  %v = cute.load %x[%i, %j, %k]
  func.return %v : f32
}

// A flat coordinate is taken apart in 32 bits.
// CHECK-LABEL: @static_flat
// CHECK: arith.remsi {{.*}} : i32
// CHECK: arith.muli {{.*}} overflow<nsw> : i64
func.func @static_flat(%x: !cute.memref<i8, gmem, "(8,4):(1,1073741824)">, %i: i32) -> i8 {
  %v = cute.load %x[%i]
  func.return %v : i8
}

// A tile begins anywhere in an extent of 64 bits; within the tile 32 are enough.
// CHECK-LABEL: @wide_extent
// CHECK: %[[T:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK: arith.muli %[[T]], %c1024_i64 overflow<nsw> : i64
// CHECK: llvm.getelementptr %{{.*}}[%arg2] : (!llvm.ptr<1>, i32)
func.func @wide_extent(%x: !cute.memref<i8, gmem, "?{i64}:1">, %t: i32, %i: i32) -> i8 {
  %tile = cute.local_tile %x, 1024, %t
  %v = cute.load %tile[%i]
  func.return %v : i8
}

// CHECK-LABEL: @wide_extent_of_coordinates
// CHECK: %[[T:.*]] = arith.extsi %arg1 : i32 to i64
// CHECK: arith.muli %[[T]], %c1024_i64 overflow<nsw> : i64
func.func @wide_extent_of_coordinates(%x: !cute.memref<i8, gmem, "?{i64}:1">, %t: i32, %i: i32) -> i64 {
  %id = cute.make_identity_tensor %x
  %tile = cute.local_tile %id, 1024, %t
  %at = cute.get_iter %tile
  %c = cute.deref_arith_tuple_iter %at
  %n = cute.get_scalars %c
  func.return %n : i64
}

// CHECK-LABEL: @wide_extent_in_steps
// CHECK: arith.muli {{.*}}, %c3_i64 overflow<nsw> : i64
func.func @wide_extent_in_steps(%x: !cute.memref<i8, gmem, "?{i64}:3">, %i: i32) -> i8 {
  %v = cute.load %x[%i]
  func.return %v : i8
}

// What is declared in 32 bits is computed in 32 bits.
// CHECK-LABEL: @narrow
// CHECK-NOT: i64
// CHECK: arith.muli %arg1, %{{.*}} overflow<nsw> : i32
// CHECK-NOT: i64
// CHECK: llvm.getelementptr %{{.*}}[%{{.*}}] : (!llvm.ptr<1>, i32)
func.func @narrow(%x: !cute.memref<i8, gmem, "(?,?):(?,1)">, %i: i32, %j: i32) -> i8 {
  %v = cute.load %x[%i, %j]
  func.return %v : i8
}

// A stride of 64 bits makes the sum one of 64 bits, and leaves the other products.
// CHECK-LABEL: @wide_stride
// CHECK: arith.muli {{.*}} overflow<nsw> : i64
// CHECK: arith.muli {{.*}} overflow<nsw> : i32
// CHECK: arith.addi {{.*}} overflow<nsw> : i64
func.func @wide_stride(%x: !cute.memref<i8, gmem, "(?,?):(?{i64},4)">, %i: i32, %j: i32) -> i8 {
  %v = cute.load %x[%i, %j]
  func.return %v : i8
}

// The offset of a part of a composed layout has room for the whole.
// CHECK-LABEL: @composed
// CHECK: arith.muli {{.*}} overflow<nsw> : i64
// CHECK: arith.addi {{.*}} overflow<nsw> : i64
func.func @composed(%x: !cute.memref<i8, gmem, "S<2,0,3> o 0 o (4,64):(1073741827,1)">, %i: i32, %j: i32) -> i8 {
  %row = cute.slice %x, (%i, _)
  %v = cute.load %row[%j]
  func.return %v : i8
}

// An index alone is as wide as its layout needs, too.
// CHECK-LABEL: @index_alone
// CHECK: arith.muli {{.*}} overflow<nsw> : i64
func.func @index_alone(%i: i32, %j: i32) -> i64 {
  %c = cute.make_coord(%i, %j)
  %l = cute.make_layout((4, 8), (1073741824, 1))
  %x = cute.crd2idx(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(4,8):(1073741824,1)">) -> !cute.int_tuple<"?{i64}">
  %n = cute.get_scalars %x
  func.return %n : i64
}
