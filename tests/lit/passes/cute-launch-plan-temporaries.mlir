// Temporaries of launch plans, and the launches of tile programs that a host function calls.
// RUN: cute-ptx %s -arch sm_90a -o - | grep '^//!cute' | grep '"plan"' | FileCheck %s

!P = !cute.memref<f32, gmem, align<256>, "?:1">
gpu.module @m {
  gpu.func @k(%p: !P) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} { gpu.return }
  gpu.func @tiles(%p: !P) kernel {
    %i = cute.tile.program<[64]> %p
    %x = cute.tile.load<[64]> %p[%i]
    cute.tile.store %x, %p[%i]
    gpu.return
  }
}

// Each call of a function has a temporary of its own.
func.func private @launch(%n: i32) {
  %l = cute.make_layout(%n)
  %p = cute.temporary<zero> %l : f32
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p : !P)
  return
}
// CHECK: "plan":"main"
// CHECK-SAME: "values":{{\[\[}}"arg",32,0],["arg",32,1],{{.*}}["temporary",64,0]{{.*}}["temporary",64,1]
// CHECK-SAME: "temporaries":[{"size":4,"align":256,"shape":[{{[0-9]+}}],"strides":[{{[0-9]+}}],"init":0},{"size":4,"align":256,"shape":[{{[0-9]+}}],"strides":[{{[0-9]+}}],"init":0}]
func.func @main(%n: i32, %m: i32) {
  func.call @launch(%n) : (i32) -> ()
  func.call @launch(%m) : (i32) -> ()
  return
}

// One that a branch needs has its condition.
// CHECK: "plan":"branch"
// CHECK-SAME: "temporaries":[{"size":4,"align":256,"shape":[{{[0-9]+}}],"strides":[{{[0-9]+}}],"init":255,"if":1}]
func.func @branch(%n: i32, %c: i1) {
  %c1 = arith.constant 1 : index
  %c32 = arith.constant 32 : index
  scf.if %c {
    %l = cute.make_layout(%n)
    %p = cute.temporary<ones> %l : f32
    gpu.launch_func @m::@k blocks in (%c1, %c1, %c1) threads in (%c32, %c1, %c1) args(%p : !P)
  }
  return
}

// CHECK: "plan":"loop",{{.*}}"refused":"'cute_nvgpu.host.temporary' at line {{[0-9]+}} is in a loop: memory is provided once for each run of the host function"}
func.func @loop(%n: i32, %count: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %count step %c1 {
    func.call @launch(%n) : (i32) -> ()
  }
  return
}

// The body of a declaration is derived; it stays private.
// CHECK-NOT: "plan":"tiles"
// CHECK: "plan":"calls"
// CHECK-SAME: "temporaries":[{"size":4,"align":256,
// CHECK-SAME: "launches":[{"kernel":"tiles",
// CHECK-NOT: "plan":"tiles"
func.func private @tiles(!P)
func.func @calls(%n: i32) {
  %l = cute.make_layout(%n)
  %p = cute.temporary %l : f32
  func.call @tiles(%p) : (!P) -> ()
  return
}
