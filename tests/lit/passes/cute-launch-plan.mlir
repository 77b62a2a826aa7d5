// RUN: cute-opt %s -cute-launch-plan | FileCheck %s
// RUN: cute-ptx %s -arch sm_90a -o - | grep '^//!cute' | grep '"plan"' | FileCheck %s --check-prefix=PTX

// CHECK: gpu.module @m attributes {cute.plans = [
// PTX: {"format":1,"plan":"main","args":[{"dtype":"i64","kind":"scalar","name":"n","type":"index"},{"dtype":"i1","kind":"scalar","name":"big","type":"i1","width":1}],
// The call is taken in: ceil(n/128); the branches become selects, the launch inside has the condition.
// PTX-SAME: "values":{{\[\[}}"arg",64,0],["arg",1,1],["const",32,-7],["const",64,1],["const",64,128],["const",64,128],["ceildivu",64,0,5],["divu",64,4,0],["const",1,0],["eq",1,1,8],["select",64,1,7,6]],
// PTX-SAME: "launches":[{"kernel":"z","grid":[7,3,3],"block":[3,3,3],"args":[],"if":1},{"kernel":"k","grid":[10,3,3],"block":[4,3,3],"args":[2,0]}]}
// PTX: {"format":1,"plan":"shared","args":[],{{.*}}"launches":[{"kernel":"z","grid":[0,0,0],"block":[0,0,0],"cluster":[0,0,0],"dynamic_smem":[1],"args":[]}]}
// PTX: {"format":1,"plan":"no_plan","args":[{{.*}}],"refused":"'memref.alloc' at line [[#REFUSED:]] is not supported in a launch plan"}
// PTX: {"format":1,"plan":"endless",{{.*}}"refused":"'func.call' at line {{[0-9]+}} is recursive, or nested deeper than 32 levels"}
// PTX: {"format":1,"plan":"other","args":[],"refused":"it launches no kernel"}
// PTX: {"format":1,"plan":"persistent","args":[],"values":{{\[\[}}"const",64,1],["sms",32],["sext",64,1,32]],"launches":[{"kernel":"z","grid":[0,0,2],"block":[0,0,0],"args":[]}]}
// PTX-NOT: "plan"
module attributes {gpu.container_module} {
  gpu.module @m {
    gpu.func @k(%a: i32, %b: i64) kernel { gpu.return }
    gpu.func @z() kernel { gpu.return }
  }
  func.func private @grid(%n: index) -> index {
    %c = arith.constant 128 : index
    %g = arith.ceildivui %n, %c : index
    return %g : index
  }
  func.func @main(%n: index {cute.name = "n"}, %big: i1) {
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %g = func.call @grid(%n) : (index) -> index
    %a = arith.constant -7 : i32
    %b = arith.index_cast %n : index to i64
    %r = scf.if %big -> (index) {
      %q = arith.divui %c128, %n : index
      gpu.launch_func @m::@z blocks in (%q, %c1, %c1) threads in (%c1, %c1, %c1)
      scf.yield %q : index
    } else {
      scf.yield %g : index
    }
    gpu.launch_func @m::@k blocks in (%r, %c1, %c1) threads in (%c128, %c1, %c1) args(%a : i32, %b : i64)
    return
  }
  func.func @shared() {
    %c1 = arith.constant 1 : index
    %bytes = arith.constant 4096 : i32
    gpu.launch_func @m::@z clusters in (%c1, %c1, %c1) blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) dynamic_shared_memory_size %bytes
    return
  }
  func.func @no_plan(%n: index) {
    %m = memref.alloc() : memref<4xindex>
    %v = memref.load %m[%n] : memref<4xindex>
    gpu.launch_func @m::@z blocks in (%v, %n, %n) threads in (%n, %n, %n)
    return
  }
  func.func @endless(%n: index) {
    gpu.launch_func @m::@z blocks in (%n, %n, %n) threads in (%n, %n, %n)
    func.call @endless(%n) : (index) -> ()
    return
  }
  // Nothing is launched here.
  func.func @other(%n: index) { return }
  // The device is asked when the plan is carried out.
  func.func @persistent() {
    %c1 = arith.constant 1 : index
    %n = cute_nvgpu.host.sm_count() : () -> i32
    %z = arith.index_cast %n : i32 to index
    gpu.launch_func @m::@z blocks in (%c1, %c1, %z) threads in (%c1, %c1, %c1)
    return
  }
}
