// b(i,j) = a(i,j) with static shapes: -D M N LDA LDB, in elements; rows of whole vectors of four.
// The layout (N/4, M) enumerates the threads of the grid: one vector each, and all strides fold into the code.
gpu.module @kernels {
  gpu.func @copy_static(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32, llvm.readonly, llvm.noalias, llvm.align = 16 : i64},
                        %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32, llvm.writeonly, llvm.noalias, llvm.align = 16 : i64})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c256 = arith.constant 256 : i32
    %vectors = arith.constant ${M * (N / 4)} : i32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bid = nvvm.read.ptx.sreg.ctaid.x : i32
    %first = arith.muli %bid, %c256 : i32
    %thread = arith.addi %first, %tid : i32
    %inside = arith.cmpi ult, %thread, %vectors : i32
    scf.if %inside {
      %crd = cute.make_coord(%thread) : (i32) -> !cute.coord<"?">
      %la = cute.static : !cute.layout<"(${N / 4},${M}):(4,${LDA})">
      %lb = cute.static : !cute.layout<"(${N / 4},${M}):(4,${LDB})">
      %ea = cute.layout_eval(%crd, %la) : (!cute.coord<"?">, !cute.layout<"(${N / 4},${M}):(4,${LDA})">) -> !cute.int_tuple<"?">
      %eb = cute.layout_eval(%crd, %lb) : (!cute.coord<"?">, !cute.layout<"(${N / 4},${M}):(4,${LDB})">) -> !cute.int_tuple<"?">
      %ia = cute.get_scalars(%ea) : !cute.int_tuple<"?">
      %ib = cute.get_scalars(%eb) : !cute.int_tuple<"?">
      %pa = llvm.getelementptr %a[%ia] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %pb = llvm.getelementptr %b[%ib] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %pa {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      llvm.store %v, %pb {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    }
    gpu.return
  }
}
// In an editor: -D M=1021 -D N=1004 -D LDA=1008 -D LDB=1024
