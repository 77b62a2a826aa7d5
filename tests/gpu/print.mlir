// Two threads say who they are.
gpu.module @kernels {
  gpu.func @print(%scale: f32 {cute.name = "scale"}) kernel {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %f = arith.sitofp %t : i32 to f32
    %x = arith.mulf %f, %scale : f32
    %d = arith.extf %x : f32 to f64
    gpu.printf "thread %d has %.2f\n" %t, %d : i32, f64
    gpu.return
  }
}
