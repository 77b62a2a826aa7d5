// RUN: cute-opt %s -cute-host-functions | FileCheck %s

// What launches stays, with what it calls, and says what it takes as the source has it.
// CHECK:      func.func @main(%{{.*}}: !cute.memref<f16, gmem, align<16>, "(?{div=8},4):(1,?{i64})">
// CHECK-SAME: attributes {cute.host = [
// CHECK-SAME: {align = 16 : i64, dtype = "f16", kind = "memref", layout = "(?{div=8},4):(1,?{i64})", name = "a", space = "gmem", type = "!cute.memref
// CHECK-SAME: {dtype = "f32", kind = "scalar", name = "x", type = "f32"}
// CHECK-SAME: {kind = "tuple", name = "s", type = "!cute.shape<\22(?,4)\22>", value = "(?,4)"}
// CHECK-SAME: {fields = [{name = "f0", offset = 0 : i64, size = 8 : i64, type = "!llvm.ptr"}, {dtype = "i32", name = "f1_0", offset = 8 : i64, size = 4 : i64, type = "i32"}, {dtype = "i64", name = "f1_1", offset = 16 : i64, size = 8 : i64, type = "i64"}, {dtype = "i8", name = "f2", offset = 24 : i64, size = 1 : i64, type = "i8"}], kind = "struct", name = "t"
// CHECK-SAME: {kind = "stream", name = "stream", type = "!cuda.stream"}
// CHECK-SAME: {align = 32 : i64, dtype = "e4m3", kind = "pointer", name = "p", space = "gmem", type = "!cute.ptr<f8E4M3FN, gmem, align<32>>"}
// CHECK-SAME: {div = 16 : i64, dtype = "i32", kind = "scalar", name = "q", type = "!cute.i32<divby 16>"}
// CHECK-SAME: {kind = "other", name = "v", type = "vector<4xf32>"}
// A name in a location that no value can have is none of a parameter.
// CHECK:      func.func @python
// CHECK-SAME: cute.host = [{dtype = "i32", kind = "scalar", name = "arg0"
// CHECK-SAME: name = "n.1"
// CHECK:      func.func private @called() {
// CHECK:      gpu.launch_func
// Of a function that launches nothing its name is left.
// CHECK:      func.func @idle() {
// CHECK-NEXT: return
// CHECK-NOT:  @unused
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k() kernel { gpu.return }
  }
  func.func @main(%a: !cute.memref<f16, gmem, align<16>, "(?{div=8},4):(1,?{i64})">, %x: f32, %s: !cute.shape<"(?,4)">,
                  %t: !llvm.struct<(ptr, struct<(i32, i64)>, i8)>, %stream: !cuda.stream,
                  %p: !cute.ptr<f8E4M3FN, gmem, align<32>>, %q: !cute.i32<divby 16>, %v: vector<4xf32>) {
    call @called() : () -> ()
    return
  }
  func.func @python(%a: i32 loc("<module>"), %b: i32 loc("n.1")) {
    call @called() : () -> ()
    return
  }
  func.func private @called() {
    %c1 = arith.constant 1 : index
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @idle(%n: index) -> index {
    %c = arith.addi %n, %n : index
    return %c : index
  }
  func.func private @unused() {
    return
  }
}
