// y = alpha * x + y in f16, in pairs (f16x2) with one rounding. A thread takes 8 elements, 16 bytes; the remainder one by one.
gpu.module @kernels {
  gpu.func @saxpy(%alpha: f16 {cute.name = "alpha"},
                  %x: !llvm.ptr<1> {cute.name = "x", cute.dtype = f16, llvm.readonly, llvm.noalias, llvm.align = 16 : i64},
                  %y: !llvm.ptr<1> {cute.name = "y", cute.dtype = f16, llvm.noalias, llvm.align = 16 : i64},
                  %n: i64 {cute.name = "n"}) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c1 = arith.constant 1 : i64
    %c8 = arith.constant 8 : i64
    %c256 = arith.constant 256 : i64
    %tid32 = nvvm.read.ptx.sreg.tid.x : i32
    %bid32 = nvvm.read.ptx.sreg.ctaid.x : i32
    %tid = arith.extui %tid32 : i32 to i64
    %bid = arith.extui %bid32 : i32 to i64
    %shape = cute.make_shape(%n) : (i64) -> !cute.shape<"(8,256,?{i64})">
    %stride = cute.static : !cute.stride<"(1,8,2048)">
    %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(8,256,?{i64})">, !cute.stride<"(1,8,2048)">) -> !cute.layout<"(8,256,?{i64}):(1,8,2048)">
    %crd = cute.make_coord(%tid, %bid) : (i64, i64) -> !cute.coord<"(0,?{i64},?{i64})">
    %index = cute.layout_eval(%crd, %layout) : (!cute.coord<"(0,?{i64},?{i64})">, !cute.layout<"(8,256,?{i64}):(1,8,2048)">) -> !cute.int_tuple<"?{i64}">
    %i = cute.get_scalars(%index) : !cute.int_tuple<"?{i64}">
    %end = arith.addi %i, %c8 : i64
    %whole = arith.cmpi ule, %end, %n : i64
    scf.if %whole {
      %px = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
      %py = llvm.getelementptr %y[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
      %vx = llvm.load %px {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
      %vy = llvm.load %py {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
      %va = vector.broadcast %alpha : f16 to vector<8xf16>
      %r = math.fma %va, %vx, %vy : vector<8xf16>
      llvm.store %r, %py {alignment = 16 : i64} : vector<8xf16>, !llvm.ptr<1>
    } else {
      scf.for %k = %i to %n step %c1 : i64 {
        %px = llvm.getelementptr %x[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
        %py = llvm.getelementptr %y[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f16
        %vx = llvm.load %px : !llvm.ptr<1> -> f16
        %vy = llvm.load %py : !llvm.ptr<1> -> f16
        %r = math.fma %alpha, %vx, %vy : f16
        llvm.store %r, %py : f16, !llvm.ptr<1>
      }
    }
    gpu.return
  }
}
