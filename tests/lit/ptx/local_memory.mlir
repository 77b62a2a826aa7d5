// A tensor in registers that stays in local memory gets a remark: where it is made, why, and at which line.
// RUN: cute-ptx %s -arch sm_80 --remarks=cute-nvgpu-copy-lowering -o %t.ptx 2>&1 | FileCheck %s
// RUN: cute-ptx %s -arch sm_80 -o %t.silent.ptx 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: diff %t.ptx %t.silent.ptx
// RUN: cute-ptx %s -arch sm_80 --remarks=cute-vectorization -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: cute-ptx %s -arch sm_80 --remarks -lineinfo -o - 2>&1 | FileCheck %s --check-prefix=LINES
// RUN: cute-ptx %s -arch sm_80 -O0 --remarks -o /dev/null 2>&1 | FileCheck %s --check-prefix=O0

// NONE-NOT: local memory
// LINES-DAG: stays in local memory
// LINES-DAG: .loc
// O0: the tensor f32 "4:1" in registers stays in local memory: tensors stay in memory at optimization level 0
!R = !cute.memref<f32, rmem, align<16>, "4:1">
!B = !cute.memref<f32, rmem, align<16>, "1024:1">
gpu.module @kernels {
  func.func private @elsewhere(!llvm.ptr)

  // Known places, and loops of known bounds: registers.
  // CHECK-NOT: stays in local memory
  gpu.func @registers(%p: !llvm.ptr<1>) kernel {
    %l = cute.static "4:1"
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %zero = arith.constant 0.0 : f32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %f = arith.sitofp %i : i32 to f32
      %at = cute.make_coord(%i)
      cute.memref.store(%r, %at, %f)
    }
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %zero) -> f32 : i32 {
      %at = cute.make_coord(%i)
      %v = cute.memref.load(%r, %at)
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    llvm.store %sum, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @indexed(%p: !llvm.ptr<1>, %n: i32) kernel {
    %l = cute.static "4:1"
    // CHECK: local_memory.mlir:[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" in registers stays in local memory: it is indexed by a run-time value [cute-nvgpu-copy-lowering]
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %zero = arith.constant 0.0 : f32
    cute.fill(%r, %zero)
    %at = cute.make_coord(%n)
    // CHECK: local_memory.mlir:[[@LINE+2]]:{{.*}} note: expected constant coordinates, or induction variables of loops with constant bounds
    // CHECK-NEXT: %v = cute.memref.load
    %v = cute.memref.load(%r, %at)
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @unknown_bounds(%p: !llvm.ptr<1>, %n: i32) kernel {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: it is indexed in a loop with run-time bounds
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %zero = arith.constant 0.0 : f32
    cute.fill(%r, %zero)
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %sum = scf.for %i = %c0 to %n step %c1 iter_args(%s = %zero) -> f32 : i32 {
      %at = cute.make_coord(%i)
      // CHECK: :[[@LINE+1]]:{{.*}} note: expected constant bounds, so that the loop is unrolled
      cute.memref.store(%r, %at, %s)
      %t = arith.addf %s, %s : f32
      scf.yield %t : f32
    }
    %c3 = cute.static : !cute.coord<"3">
    %v = cute.memref.load(%r, %c3)
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @long_loop(%p: !llvm.ptr<1>, %f: f32) kernel {
    %l = cute.static "1024:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "1024:1" {{.*}}: it is indexed in a loop that was not fully unrolled: it has more than 256 iterations
    %r = cute.memref.alloca(%l) : (!cute.layout<"1024:1">) -> !B
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = arith.constant 1024 : i32
    scf.for %i = %c0 to %end step %c1 : i32 {
      %g = arith.sitofp %i : i32 to f32
      %h = arith.mulf %f, %g : f32
      %at = cute.make_coord(%i)
      // CHECK: note: expected #llvm.loop_annotation<unroll = <full = true>> on the loop, or fewer iterations
      cute.memref.store(%r, %at, %h)
    }
    %sum = scf.for %i = %c0 to %end step %c1 iter_args(%s = %f) -> f32 : i32 {
      %at = cute.make_coord(%i)
      %v = cute.memref.load(%r, %at)
      %t = arith.addf %s, %v : f32
      scf.yield %t : f32
    }
    llvm.store %sum, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @disabled(%p: !llvm.ptr<1>, %f: f32) kernel {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: it is indexed in a loop with unrolling disabled
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    scf.for %i = %c0 to %c4 step %c1 : i32 {
      %g = arith.sitofp %i : i32 to f32
      %h = arith.mulf %f, %g : f32
      %at = cute.make_coord(%i)
      cute.memref.store(%r, %at, %h)
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
    %sum = scf.for %i = %c0 to %c4 step %c1 iter_args(%s = %f) -> f32 : i32 {
      %at = cute.make_coord(%i)
      %v = cute.memref.load(%r, %at)
      %t = arith.mulf %s, %v : f32
      scf.yield %t : f32
    } {loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
    llvm.store %sum, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @number(%p: !llvm.ptr<1>) kernel {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: its address is converted to an integer
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %it = cute.get_iter(%r)
    // CHECK: :[[@LINE+1]]:{{.*}} note: expected the values as operands, or a tensor in smem or gmem
    %i = cute.ptrtoint(%it) : (!cute.ptr<f32, rmem, align<16>>) -> i64
    llvm.store %i, %p : i64, !llvm.ptr<1>
    gpu.return
  }

  gpu.func @passed(%p: !llvm.ptr<1>) kernel {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: its address is passed to 'elsewhere'
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %it = cute.get_iter(%r)
    %q = builtin.unrealized_conversion_cast %it : !cute.ptr<f32, rmem, align<16>> to !llvm.ptr
    func.call @elsewhere(%q) : (!llvm.ptr) -> ()
    gpu.return
  }

  gpu.func @assembly(%p: !llvm.ptr<1>) kernel {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: its address is an operand of inline assembly
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    %it = cute.get_iter(%r)
    %q = builtin.unrealized_conversion_cast %it : !cute.ptr<f32, rmem, align<16>> to !llvm.ptr
    %v = llvm.inline_asm has_side_effects "ld.f32 $0, [$1];", "=f,l" %q : (!llvm.ptr) -> f32
    llvm.store %v, %p : f32, !llvm.ptr<1>
    gpu.return
  }

  // One remark, wherever the function is inlined; a memref in local memory is no tensor in registers.
  func.func @helper(%n: i32, %x: f32) -> f32 {
    %l = cute.static "4:1"
    // CHECK: :[[@LINE+1]]:{{.*}} remark: the tensor f32 "4:1" {{.*}}: it is indexed by a run-time value
    %r = cute.memref.alloca(%l) : (!cute.layout<"4:1">) -> !R
    cute.fill(%r, %x)
    %at = cute.make_coord(%n)
    %v = cute.memref.load(%r, %at)
    return %v : f32
  }
  // CHECK-NOT: stays in local memory
  gpu.func @inlined(%p: !llvm.ptr<1>, %n: i32, %m: i32, %x: f32) kernel {
    %a = func.call @helper(%n, %x) : (i32, f32) -> f32
    %b = func.call @helper(%m, %a) : (i32, f32) -> f32
    %c = memref.alloca() : memref<4xf32>
    %i = arith.index_cast %n : i32 to index
    memref.store %b, %c[%i] : memref<4xf32>
    %c1 = arith.constant 1 : index
    %d = memref.load %c[%c1] : memref<4xf32>
    llvm.store %d, %p : f32, !llvm.ptr<1>
    gpu.return
  }
}
