// out(i,j) = exp(in(i,j) - max_i) / sum_j exp(in(i,j) - max_i) on f32, a block of 256 threads a row.
// Reductions go by shuffles within a warp and by shared memory between warps; exp is libdevice's.
gpu.module @kernels {
  // The reduction of `v` over the block with `max` (%is_max) or `+`, in every thread.
  func.func private @reduce(%v: f32, %is_max: i1, %scratch: !llvm.ptr<3>) -> f32 {
    %c32 = arith.constant 32 : i32
    %c8 = arith.constant 8 : i32
    %c1 = arith.constant 1 : i32
    %c0 = arith.constant 0 : i32
    %c16 = arith.constant 16 : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %lane = arith.remui %tid, %c32 : i32
    %warp = arith.divui %tid, %c32 : i32
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %neutral = arith.select %is_max, %low, %zero : f32
    %in_warp = func.call @warp_reduce(%v, %is_max) : (f32, i1) -> f32
    %slot = llvm.getelementptr %scratch[%warp] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    nvvm.barrier0
    %first = arith.cmpi eq, %lane, %c0 : i32
    scf.if %first {
      llvm.store %in_warp, %slot : f32, !llvm.ptr<3>
    }
    nvvm.barrier0
    %has = arith.cmpi ult, %lane, %c8 : i32
    %partial = scf.if %has -> f32 {
      %p = llvm.getelementptr %scratch[%lane] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x = llvm.load %p : !llvm.ptr<3> -> f32
      scf.yield %x : f32
    } else {
      scf.yield %neutral : f32
    }
    %all = func.call @warp_reduce(%partial, %is_max) : (f32, i1) -> f32
    return %all : f32
  }
  func.func private @warp_reduce(%v: f32, %is_max: i1) -> f32 {
    %c32 = arith.constant 32 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c16 = arith.constant 16 : i32
    %r:2 = scf.while (%offset = %c16, %x = %v) : (i32, f32) -> (i32, f32) {
      %more = arith.cmpi uge, %offset, %c1 : i32
      scf.condition(%more) %offset, %x : i32, f32
    } do {
    ^bb0(%offset: i32, %x: f32):
      %other, %valid = gpu.shuffle xor %x, %offset, %c32 : f32
      %max = arith.maximumf %x, %other : f32
      %sum = arith.addf %x, %other : f32
      %y = arith.select %is_max, %max, %sum : f32
      %half = arith.divui %offset, %c2 : i32
      scf.yield %half, %y : i32, f32
    }
    return %r#1 : f32
  }

  gpu.func @softmax(%in: !llvm.ptr<1> {cute.name = "in", cute.dtype = f32, llvm.readonly, llvm.noalias},
                    %out: !llvm.ptr<1> {cute.name = "out", cute.dtype = f32, llvm.writeonly, llvm.noalias},
                    %rows: i32 {cute.name = "rows"}, %cols: i32 {cute.name = "cols"})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %true = arith.constant true
    %false = arith.constant false
    %c256 = arith.constant 256 : i32
    %low = arith.constant 0xFF800000 : f32
    %zero = arith.constant 0.0 : f32
    %one = arith.constant 1.0 : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %scratch = llvm.mlir.addressof @scratch : !llvm.ptr<3>

    %cols64 = arith.extui %cols : i32 to i64
    %shape = cute.make_shape(%rows, %cols) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride = cute.make_stride(%cols64) : (i64) -> !cute.stride<"(?{i64},1)">
    %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">

    %my_max = scf.for %j = %tid to %cols step %c256 iter_args(%best = %low) -> (f32) : i32 {
      %crd = cute.make_coord(%row, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.layout_eval(%crd, %layout) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %i = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %x = llvm.load %p : !llvm.ptr<1> -> f32
      %b = arith.maximumf %best, %x : f32
      scf.yield %b : f32
    }
    %max = func.call @reduce(%my_max, %true, %scratch) : (f32, i1, !llvm.ptr<3>) -> f32
    %my_sum = scf.for %j = %tid to %cols step %c256 iter_args(%acc = %zero) -> (f32) : i32 {
      %crd = cute.make_coord(%row, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.layout_eval(%crd, %layout) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %i = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %x = llvm.load %p : !llvm.ptr<1> -> f32
      %d = arith.subf %x, %max : f32
      %y = math.exp %d : f32
      %s = arith.addf %acc, %y : f32
      scf.yield %s : f32
    }
    %sum = func.call @reduce(%my_sum, %false, %scratch) : (f32, i1, !llvm.ptr<3>) -> f32
    %scale = arith.divf %one, %sum : f32
    scf.for %j = %tid to %cols step %c256 : i32 {
      %crd = cute.make_coord(%row, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.layout_eval(%crd, %layout) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %i = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
      %p = llvm.getelementptr %in[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %q = llvm.getelementptr %out[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %x = llvm.load %p : !llvm.ptr<1> -> f32
      %d = arith.subf %x, %max : f32
      %y = math.exp %d : f32
      %z = arith.mulf %y, %scale : f32
      llvm.store %z, %q : f32, !llvm.ptr<1>
    }
    gpu.return
  }
  llvm.mlir.global internal @scratch() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<8 x f32>
}
