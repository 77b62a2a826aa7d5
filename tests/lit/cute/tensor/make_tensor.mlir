// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -o %t && cute-opt %t | FileCheck %s
// RUN: cute-opt %s -cute-to-standard | FileCheck %s --check-prefix=LOWER

// A tensor of a pointer and a layout, however these are written.

// CHECK-LABEL: func.func @either_order(
// CHECK-SAME: %[[P:.*]]: !cute.ptr<f32, gmem, align<16>>, %[[L:.*]]: !cute.layout<"(?,8):(8,1)">)
func.func @either_order(%p: !cute.ptr<f32, gmem, align<16>>, %l: !cute.layout<"(?,8):(8,1)">) {
  // CHECK-COUNT-4: cute.make_view(%[[P]], %[[L]]) : (!cute.ptr<f32, gmem, align<16>>, !cute.layout<"(?,8):(8,1)">) -> !cute.memref<f32, gmem, align<16>, "(?,8):(8,1)">
  %a = cute.make_tensor(%l, %p)
  %b = cute.make_tensor(%p, %l)
  %c = cute.make_tensor %p, %l
  %d = cute.make_view(%p, %l)
  return
}

// CHECK-LABEL: func.func @texts(
func.func @texts(%p: !cute.ptr<f16, smem, align<128>>) {
  // CHECK: cute.make_view({{.*}}) : (!cute.ptr<f16, smem, align<128>>, !cute.layout<"(16,64):(64,1)">) -> !cute.memref<f16, smem, align<128>, "(16,64):(64,1)">
  %a = cute.make_tensor %p, "(16,64):(64,1)"
  // CHECK: -> !cute.memref<f16, smem, align<128>, "(8,8):(8,1)">
  %b = cute.make_tensor("(8,8):(8,1)", %p)
  // CHECK: -> !cute.memref<f16, smem, align<128>, "S<3,3,3> o 0 o (8,64):(64,1)">
  %c = cute.make_tensor %p, "S<3,3,3> o 0 o (8,64):(64,1)"
  return
}

// Of a shape the strides are compact, mode 0 first.
// CHECK-LABEL: func.func @shapes(
func.func @shapes(%p: !cute.ptr<f32, gmem>, %n: i32, %ld: i64, %s: !cute.shape<"(4,?)">, %st: !cute.stride<"(?{i64},1)">, %m: !cute.i32<divby 8>) {
  // CHECK: -> !cute.memref<f32, gmem, "(4,8):(1,4)">
  %a = cute.make_tensor %p, (4, 8)
  // CHECK: -> !cute.memref<f32, gmem, "(?,?):(?{i64},1)">
  %b = cute.make_tensor %p, (%n, %n), (%ld, 1)
  // CHECK: -> !cute.memref<f32, gmem, "(4,?):(1,4)">
  %c = cute.make_tensor %p, %s
  // CHECK: -> !cute.memref<f32, gmem, "(4,?):(?{i64},1)">
  %d = cute.make_tensor %p, %s, %st
  // CHECK: -> !cute.memref<f32, gmem, "?{div=8}:1">
  %e = cute.make_tensor %p, %m
  // CHECK: -> !cute.memref<f32, gmem, "16:1">
  %f = cute.make_tensor %p, 16
  return
}

// CHECK-LABEL: func.func @coordinates(
func.func @coordinates(%i: !cute.arith_tuple_iter<"(0,0)">) {
  // CHECK: cute.make_view({{.*}}) -> !cute.coord_tensor<"(0,0)", "(8,4):(1@0,1@1)">
  %a = cute.make_tensor %i, "(8,4):(1@0,1@1)"
  return
}

// An access is the pointer and the layout's index.
// LOWER-LABEL: func.func @access(
// LOWER-SAME: %[[P:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[LD:.*]]: i32)
func.func @access(%p: !cute.ptr<f32, gmem, align<16>>, %i: i32, %ld: i32) -> f32 {
  // LOWER: %[[ROW:.*]] = arith.muli %[[I]], %[[LD]]
  // LOWER: %[[AT:.*]] = arith.addi %[[ROW]], %{{.*}}
  // LOWER: %[[Q:.*]] = llvm.getelementptr %[[P]][%[[AT]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  // LOWER: llvm.load %[[Q]] {{.*}}: !llvm.ptr<1> -> f32
  %t = cute.make_tensor %p, (%ld, %ld), (%ld, 1)
  %x = cute.load %t[%i, 3] : f32
  return %x : f32
}
