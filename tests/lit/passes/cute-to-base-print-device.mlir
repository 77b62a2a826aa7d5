// RUN: cute-opt %s -cute-expand-ops -cute-to-base -split-input-file | FileCheck %s

// In a kernel each of the eight types prints by gpu.printf: its text, with a conversion for each unknown leaf.
// CHECK-LABEL: gpu.func @kernel(
gpu.module @device {
  gpu.func @kernel(%i: i32, %w: i64) kernel {
    // CHECK: gpu.printf "(2,%d)\0A"
    // CHECK-SAME: %{{.*}} : i32
    %t = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"(2,?)">
    cute.print(%t) : !cute.int_tuple<"(2,?)">
    // CHECK: gpu.printf "(%lld,4)\0A"
    // CHECK-SAME: %{{.*}} : i64
    %s = cute.make_shape(%w) : (i64) -> !cute.shape<"(?{i64},4)">
    cute.print(%s) : !cute.shape<"(?{i64},4)">
    // CHECK: gpu.printf "(1@0,%d@1)\0A"
    %d = cute.make_stride(%i) : (i32) -> !cute.stride<"(1@0,?@1)">
    cute.print(%d) : !cute.stride<"(1@0,?@1)">
    // CHECK: gpu.printf "(_,%d)\0A"
    %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,?)">
    cute.print(%c) : !cute.coord<"(_,?)">
    // CHECK: gpu.printf "(%lld,4):(1,%d)\0A"
    // CHECK-SAME: %{{.*}}, %{{.*}} : i64, i32
    %k = cute.make_stride(%i) : (i32) -> !cute.stride<"(1,?)">
    %l = cute.make_layout(%s, %k) : (!cute.shape<"(?{i64},4)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?{i64},4):(1,?)">
    cute.print(%l) : !cute.layout<"(?{i64},4):(1,?)">
    // CHECK: gpu.printf "[%d:1;_;4:%lld]\0A"
    %e = cute.make_tile(%i, %w) : (i32, i64) -> !cute.tile<"[?:1;_;4:?{i64}]">
    cute.print(%e) : !cute.tile<"[?:1;_;4:?{i64}]">
    // No arguments: no comma, whatever the next line begins with.
    // CHECK: gpu.printf "S<3,4,3>\0A"{{$}}
    %z = cute.static : !cute.swizzle<"S<3,4,3>">
    cute.print(%z) : !cute.swizzle<"S<3,4,3>">
    // CHECK: gpu.printf "S<3,4,3> o %d o (%lld,4):(1,%d)\0A"
    // CHECK-SAME: %{{.*}}, %{{.*}}, %{{.*}} : i32, i64, i32
    %o = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
    %m = cute.make_composed_layout(%z, %o, %l) : (!cute.swizzle<"S<3,4,3>">, !cute.int_tuple<"?">, !cute.layout<"(?{i64},4):(1,?)">) -> !cute.composed_layout<"S<3,4,3> o ? o (?{i64},4):(1,?)">
    cute.print(%m) : !cute.composed_layout<"S<3,4,3> o ? o (?{i64},4):(1,?)">
    // A promise of divisibility is not printed.
    // CHECK: gpu.printf "%d\0A"
    %v = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?{div=8}">
    cute.print(%v) : !cute.int_tuple<"?{div=8}">
    gpu.return
  }
}

// -----

// What stands in gpu.launch runs on the device, what stands beside it does not.
// CHECK-LABEL: func.func @launch(
// CHECK:       gpu.launch
// CHECK:         gpu.printf "%d\0A"
// CHECK:         gpu.terminator
// CHECK:       llvm.call @printf
func.func @launch(%n: index, %i: i32) {
  %t = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %n, %gy = %n, %gz = %n) threads(%tx, %ty, %tz) in (%sx = %n, %sy = %n, %sz = %n) {
    cute.print(%t) : !cute.int_tuple<"?">
    gpu.terminator
  }
  cute.print(%t) : !cute.int_tuple<"?">
  return
}
