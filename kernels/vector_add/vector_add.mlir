// c[i] = a[i] + b[i] for i < n.
// The layout (4,?):(1,4) gives each thread four adjacent elements, so that it accesses 16 bytes at a time.
gpu.module @kernels {
  gpu.func @vector_add(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32, llvm.readonly, llvm.noalias, llvm.align = 16 : i64},
                       %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32, llvm.readonly, llvm.noalias, llvm.align = 16 : i64},
                       %c: !llvm.ptr<1> {cute.name = "c", cute.dtype = f32, llvm.writeonly, llvm.noalias, llvm.align = 16 : i64},
                       %n: i64 {cute.name = "n"}) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i64
    %c1 = arith.constant 1 : i64
    %c3 = arith.constant 3 : i64
    %c4 = arith.constant 4 : i64
    %c256 = arith.constant 256 : i64
    %tid32 = nvvm.read.ptx.sreg.tid.x : i32
    %bid32 = nvvm.read.ptx.sreg.ctaid.x : i32
    %tid = arith.extui %tid32 : i32 to i64
    %bid = arith.extui %bid32 : i32 to i64
    %first = arith.muli %bid, %c256 : i64
    %thread = arith.addi %first, %tid : i64

    // (value, thread) -> element, for ceil(n / 4) threads
    %n3 = arith.addi %n, %c3 : i64
    %threads = arith.divui %n3, %c4 : i64
    %shape = cute.make_shape(%threads) : (i64) -> !cute.shape<"(4,?{i64})">
    %stride = cute.static : !cute.stride<"(1,4)">
    %layout = cute.make_layout(%shape, %stride) : (!cute.shape<"(4,?{i64})">, !cute.stride<"(1,4)">) -> !cute.layout<"(4,?{i64}):(1,4)">
    %crd = cute.make_coord(%thread) : (i64) -> !cute.coord<"(0,?{i64})">
    %index = cute.layout_eval(%crd, %layout) : (!cute.coord<"(0,?{i64})">, !cute.layout<"(4,?{i64}):(1,4)">) -> !cute.int_tuple<"?{i64}">
    %i = cute.get_scalars(%index) : !cute.int_tuple<"?{i64}">

    %end = arith.addi %i, %c4 : i64
    %whole = arith.cmpi ule, %end, %n : i64
    scf.if %whole {
      %pa = llvm.getelementptr %a[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb = llvm.getelementptr %b[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pc = llvm.getelementptr %c[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %va = llvm.load %pa {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %vb = llvm.load %pb {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %vc = arith.addf %va, %vb : vector<4xf32>
      llvm.store %vc, %pc {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    } else {
      scf.for %k = %i to %n step %c1 : i64 {
        %pa = llvm.getelementptr %a[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %pb = llvm.getelementptr %b[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %pc = llvm.getelementptr %c[%k] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %va = llvm.load %pa : !llvm.ptr<1> -> f32
        %vb = llvm.load %pb : !llvm.ptr<1> -> f32
        %vc = arith.addf %va, %vb : f32
        llvm.store %vc, %pc : f32, !llvm.ptr<1>
      }
    }
    gpu.return
  }
}
