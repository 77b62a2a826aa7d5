// A transposition through a tile whose rows are 32 words. Cured: 33.
gpu.module @kernels {
  gpu.func @slow(%a: !cute.memref<f32, gmem, align<4>, "(1024,1024):(1024,1)">, %b: !cute.memref<f32, gmem, align<4>, "(1024,1024):(1024,1)">) kernel
      attributes {nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %tx = nvvm.read.ptx.sreg.tid.x : i32
    %ty = nvvm.read.ptx.sreg.tid.y : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<128>>
    %s = cute.make_view %smem, "(32,32):(32,1)"
    %tile = cute.make_tile 32, 32
    %at = cute.make_coord(%by, %bx)
    %to = cute.make_coord(%bx, %by)
    %ga = cute.local_tile(%a, %tile, %at)
    %gb = cute.local_tile(%b, %tile, %to)
    scf.for %r = %ty to %c32 step %c8 : i32 {
      %ca = cute.make_coord(%r, %tx)
      %v = cute.memref.load(%ga, %ca) : (!cute.memref<f32, gmem, align<4>, "(32,32):(1024,1)">, !cute.coord<"(?,?)">) -> f32
      cute.memref.store(%s, %ca, %v) : (!cute.memref<f32, smem, align<128>, "(32,32):(32,1)">, !cute.coord<"(?,?)">, f32) -> ()
    }
    gpu.barrier
    scf.for %r = %ty to %c32 step %c8 : i32 {
      %cs = cute.make_coord(%tx, %r)
      %ca = cute.make_coord(%r, %tx)
      %v = cute.memref.load(%s, %cs) : (!cute.memref<f32, smem, align<128>, "(32,32):(32,1)">, !cute.coord<"(?,?)">) -> f32 // FIND bank-conflict
      cute.memref.store(%gb, %ca, %v) : (!cute.memref<f32, gmem, align<4>, "(32,32):(1024,1)">, !cute.coord<"(?,?)">, f32) -> ()
    }
    gpu.return
  }
  gpu.func @cured(%a: !cute.memref<f32, gmem, align<4>, "(1024,1024):(1024,1)">, %b: !cute.memref<f32, gmem, align<4>, "(1024,1024):(1024,1)">) kernel
      attributes {nvvm.reqntid = array<i32: 32, 8, 1>} {
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %tx = nvvm.read.ptx.sreg.tid.x : i32
    %ty = nvvm.read.ptx.sreg.tid.y : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<f32, smem, align<128>>
    %s = cute.make_view %smem, "(32,32):(33,1)"
    %tile = cute.make_tile 32, 32
    %at = cute.make_coord(%by, %bx)
    %to = cute.make_coord(%bx, %by)
    %ga = cute.local_tile(%a, %tile, %at)
    %gb = cute.local_tile(%b, %tile, %to)
    scf.for %r = %ty to %c32 step %c8 : i32 {
      %ca = cute.make_coord(%r, %tx)
      %v = cute.memref.load(%ga, %ca) : (!cute.memref<f32, gmem, align<4>, "(32,32):(1024,1)">, !cute.coord<"(?,?)">) -> f32
      cute.memref.store(%s, %ca, %v) : (!cute.memref<f32, smem, align<128>, "(32,32):(33,1)">, !cute.coord<"(?,?)">, f32) -> ()
    }
    gpu.barrier
    scf.for %r = %ty to %c32 step %c8 : i32 {
      %cs = cute.make_coord(%tx, %r)
      %ca = cute.make_coord(%r, %tx)
      %v = cute.memref.load(%s, %cs) : (!cute.memref<f32, smem, align<128>, "(32,32):(33,1)">, !cute.coord<"(?,?)">) -> f32
      cute.memref.store(%gb, %ca, %v) : (!cute.memref<f32, gmem, align<4>, "(32,32):(1024,1)">, !cute.coord<"(?,?)">, f32) -> ()
    }
    gpu.return
  }
}
