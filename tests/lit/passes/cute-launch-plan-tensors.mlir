// RUN: cute-ptx %s -arch sm_80 -o - | grep '^//!cute' | grep '"plan"' | FileCheck %s

// Tensors are the leaves of their structs, in order; what is static is not passed; views' shapes are computed.
// CHECK:      "plan":"cuda"
// CHECK-SAME: "values":{{\[\[}}"arg",64,0,0],["arg",32,0,1],["arg",64,0,2],["arg",64,1],["arg",32,2],["const",32,1],["const",32,0],["const",64,512],["fconst","f32",0.5],["fmul","f32",4,8],["const",32,0]],
// CHECK-SAME: "launches":[{"kernel":"k","grid":[5,5,5],"block":[5,5,5],"dynamic_smem":[7],"cooperative":[6],"programmatic":[5],"args":{{\[\[}}0,1,2],3,[],9]}]}
// A cluster, and an attribute that only some branch sets.
// CHECK:      "plan":"cluster"
// CHECK-SAME: "values":{{\[\[}}"arg",1,0],["arg",32,1],["const",32,1],["const",64,0],["const",32,0],["select",32,0,2,4],
// CHECK-SAME: "launches":[{"kernel":"z","grid":[1,2,2],"block":[2,2,2],"cluster":[2,2,2],"dynamic_smem":[3],"programmatic":[5],"args":[]}]}
// Loops say when each launch happens.
// CHECK:      "plan":"loop"
// CHECK-SAME: "values":{{\[\[}}"arg",64,0],["const",64,0],["const",64,1],["for",64,1,0,2,2],["carry",64,0],["launch",1,0],["add",64,4,3],["end",64,6],["gt",64,4,1],["assert",1,8,"some"],["launch",1,1]],
// CHECK-SAME: "launches":[{"kernel":"z","grid":[4,2,2],"block":[2,2,2],"args":[]},{"kernel":"z","grid":[4,2,2],"block":[2,2,2],"args":[]}]}
// A value that only an unknown operation makes is refused where a launch takes it, and says who made it.
// CHECK:      "plan":"unknown"
// CHECK-SAME: "refused":"'gpu.launch_func' at line [[#]] has an operand that is not a plan value: it is defined by 'math.cos' at line [[#]]"
!a = !cute.memref<f16, gmem, align<16>, "(?{div=8},4):(1,?{i64})">
!b = !cute.memref<f32, gmem, align<16>, "(4,8):(8,1)">
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: !a, %b: !b, %t: !cute.layout<"(4,32):(32,1)">, %x: f32) kernel { gpu.return }
    gpu.func @z() kernel { gpu.return }
    gpu.func @f(%x: f32) kernel { gpu.return }
  }
  func.func @cuda(%a: !a, %b: !b, %x: f32, %stream: !cuda.stream) -> i32 {
    %t = cute.static : !cute.layout<"(4,32):(32,1)">
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %bytes = arith.constant 512 : i64
    %half = arith.constant 0.5 : f32
    %y = arith.mulf %x, %half : f32
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%c1, %c1, %c1), dynamicSmemBytes = %bytes,
      gridDim = (%c1, %c1, %c1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    cuda.launch_cfg.programmatic_stream_serialization_allowed[%cfg] %c1 : !cuda.launch_cfg<max_attrs = 3>, i32
    cuda.launch_cfg.cooperative[%cfg] %c0 : !cuda.launch_cfg<max_attrs = 3>, i32
    %r = cuda.launch_ex @m::@k<%cfg> (%a, %b, %t, %y)
      : !cuda.launch_cfg<max_attrs = 3>, (!a, !b, !cute.layout<"(4,32):(32,1)">, f32) -> !cuda.result
    %code = cuda.cast %r : !cuda.result -> i32
    cuda.return_if_error %code : i32
    return %c0 : i32
  }
  func.func @cluster(%on: i1, %n: i32) {
    %c1 = arith.constant 1 : i32
    %zero = arith.constant 0 : i64
    %stream = cuda.cast %zero : i64 -> !cuda.stream
    %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%c1, %c1, %c1), dynamicSmemBytes = %zero,
      gridDim = (%n, %c1, %c1), stream = %stream) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream
      -> !cuda.launch_cfg<max_attrs = 3>
    cuda.launch_cfg.cluster_dim[%cfg] (%c1, %c1, %c1) : !cuda.launch_cfg<max_attrs = 3>, i32, i32, i32
    scf.if %on {
      cuda.launch_cfg.programmatic_stream_serialization_allowed[%cfg] %c1 : !cuda.launch_cfg<max_attrs = 3>, i32
    }
    %r = cuda.launch_ex @m::@z<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    return
  }
  func.func @loop(%n: index) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %c1) -> (index) {
      gpu.launch_func @m::@z blocks in (%s, %c1, %c1) threads in (%c1, %c1, %c1)
      %t = arith.addi %s, %i : index
      scf.yield %t : index
    }
    %some = arith.cmpi sgt, %sum, %c0 : index
    cf.assert %some, "some"
    gpu.launch_func @m::@z blocks in (%sum, %c1, %c1) threads in (%c1, %c1, %c1)
    return
  }
  func.func @unknown(%x: f32) {
    %c1 = arith.constant 1 : index
    %y = math.cos %x : f32
    gpu.launch_func @m::@f blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%y : f32)
    return
  }
}
