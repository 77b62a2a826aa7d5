// RUN: cute-opt %s -cute-only=function=run | FileCheck %s --check-prefix=HOST
// RUN: cute-opt %s -cute-only=function=b | FileCheck %s --check-prefix=B
// RUN: not cute-opt %s -cute-only=function=rum 2>&1 | FileCheck %s --check-prefix=NEAR
// RUN: not cute-opt %s -cute-only=function=nothing-like-it 2>&1 | FileCheck %s --check-prefix=LIST

// What a function launches and calls stays, through others too; a module without functions goes.
// HOST: gpu.module @m
// HOST-NOT: gpu.func @b
// HOST: gpu.func @a
// HOST: func.func private @twice
// HOST: func.func @run
// HOST-NOT: func.func @other
// HOST-NOT: gpu.module @n

// A kernel alone: nothing of the host is left.
// B: gpu.module @m
// B-NOT: gpu.func @a
// B: memref.global "private" @table
// B: gpu.func @b
// B-NOT: func.func

// NEAR: error: cute-only expects the name of a function, got 'rum'; did you mean 'run'?
// LIST: error: cute-only expects the name of a function, got 'nothing-like-it'; there are 'a', 'b', 'twice', 'run', 'other', 'c'

module attributes {gpu.container_module} {
  gpu.module @m {
    memref.global "private" @table : memref<4xf32>
    gpu.func @a(%x: i32) kernel { gpu.return }
    gpu.func @b(%x: i32) kernel {
      %t = memref.get_global @table : memref<4xf32>
      gpu.return
    }
  }
  func.func private @twice(%x: i32) {
    %c = arith.constant 1 : index
    gpu.launch_func @m::@a blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : i32)
    return
  }
  func.func @run(%x: i32) {
    call @twice(%x) : (i32) -> ()
    return
  }
  func.func @other(%x: i32) {
    %c = arith.constant 1 : index
    gpu.launch_func @n::@c blocks in (%c, %c, %c) threads in (%c, %c, %c) args(%x : i32)
    return
  }
  gpu.module @n {
    gpu.func @c(%x: i32) kernel { gpu.return }
  }
}
