// c = a b in f32: a (m,k), b (k,n), c (m,n), rows contiguous, any size. Built with -D TILE=16 or 32.
// A block of TILE x TILE threads iterates over k in steps of TILE: each thread loads one element of either tile to shared
// memory (zero past the edge), then accumulates over the tile. Rows in shared memory have a pitch of TILE + 1, which avoids
// bank conflicts of column accesses.
gpu.module @kernels {
  gpu.func @matmul_tiled(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32, llvm.readonly, llvm.noalias},
                         %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32, llvm.readonly, llvm.noalias},
                         %c: !llvm.ptr<1> {cute.name = "c", cute.dtype = f32, llvm.writeonly, llvm.noalias},
                         %m: i32 {cute.name = "m"}, %n: i32 {cute.name = "n"}, %k: i32 {cute.name = "k"})
      kernel attributes {nvvm.reqntid = array<i32: ${TILE}, ${TILE}, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %tile = arith.constant ${TILE} : i32
    %zero = arith.constant 0.0 : f32
    %tx = nvvm.read.ptx.sreg.tid.x : i32
    %ty = nvvm.read.ptx.sreg.tid.y : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %sa = llvm.mlir.addressof @tile_a : !llvm.ptr<3>
    %sb = llvm.mlir.addressof @tile_b : !llvm.ptr<3>
    %i0 = arith.muli %by, %tile : i32
    %i = arith.addi %i0, %ty : i32
    %j0 = arith.muli %bx, %tile : i32
    %j = arith.addi %j0, %tx : i32
    %in_m = arith.cmpi slt, %i, %m : i32
    %in_n = arith.cmpi slt, %j, %n : i32
    %k64 = arith.extui %k : i32 to i64
    %n64 = arith.extui %n : i32 to i64

    %shape_a = cute.make_shape(%m, %k) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride_a = cute.make_stride(%k64) : (i64) -> !cute.stride<"(?{i64},1)">
    %la = cute.make_layout(%shape_a, %stride_a) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %shape_b = cute.make_shape(%k, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride_b = cute.make_stride(%n64) : (i64) -> !cute.stride<"(?{i64},1)">
    %lb = cute.make_layout(%shape_b, %stride_b) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %shape_c = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %lc = cute.make_layout(%shape_c, %stride_b) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %ls = cute.static : !cute.layout<"(${TILE},${TILE}):(${TILE + 1},1)">

    %mine = cute.make_coord(%ty, %tx) : (i32, i32) -> !cute.coord<"(?,?)">
    %es = cute.layout_eval(%mine, %ls) : (!cute.coord<"(?,?)">, !cute.layout<"(${TILE},${TILE}):(${TILE + 1},1)">) -> !cute.int_tuple<"?">
    %is = cute.get_scalars(%es) : !cute.int_tuple<"?">
    %psa = llvm.getelementptr %sa[%is] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %psb = llvm.getelementptr %sb[%is] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32

    %sum = scf.for %k0 = %c0 to %k step %tile iter_args(%acc = %zero) -> (f32) : i32 {
      %ka = arith.addi %k0, %tx : i32
      %kb = arith.addi %k0, %ty : i32
      %in_ka = arith.cmpi slt, %ka, %k : i32
      %in_kb = arith.cmpi slt, %kb, %k : i32
      %in_a = arith.andi %in_m, %in_ka : i1
      %in_b = arith.andi %in_n, %in_kb : i1
      %va = scf.if %in_a -> f32 {
        %crd = cute.make_coord(%i, %ka) : (i32, i32) -> !cute.coord<"(?,?)">
        %e = cute.layout_eval(%crd, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
        %at = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
        %p = llvm.getelementptr %a[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %v = llvm.load %p : !llvm.ptr<1> -> f32
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      %vb = scf.if %in_b -> f32 {
        %crd = cute.make_coord(%kb, %j) : (i32, i32) -> !cute.coord<"(?,?)">
        %e = cute.layout_eval(%crd, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
        %at = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
        %p = llvm.getelementptr %b[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
        %v = llvm.load %p : !llvm.ptr<1> -> f32
        scf.yield %v : f32
      } else {
        scf.yield %zero : f32
      }
      llvm.store %va, %psa : f32, !llvm.ptr<3>
      llvm.store %vb, %psb : f32, !llvm.ptr<3>
      nvvm.barrier0
      %part = scf.for %q = %c0 to %tile step %c1 iter_args(%s = %acc) -> (f32) : i32 {
        %ca = cute.make_coord(%ty, %q) : (i32, i32) -> !cute.coord<"(?,?)">
        %cb = cute.make_coord(%q, %tx) : (i32, i32) -> !cute.coord<"(?,?)">
        %ea = cute.layout_eval(%ca, %ls) : (!cute.coord<"(?,?)">, !cute.layout<"(${TILE},${TILE}):(${TILE + 1},1)">) -> !cute.int_tuple<"?">
        %eb = cute.layout_eval(%cb, %ls) : (!cute.coord<"(?,?)">, !cute.layout<"(${TILE},${TILE}):(${TILE + 1},1)">) -> !cute.int_tuple<"?">
        %ia = cute.get_scalars(%ea) : !cute.int_tuple<"?">
        %ib = cute.get_scalars(%eb) : !cute.int_tuple<"?">
        %pa = llvm.getelementptr %sa[%ia] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %pb = llvm.getelementptr %sb[%ib] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
        %x = llvm.load %pa : !llvm.ptr<3> -> f32
        %y = llvm.load %pb : !llvm.ptr<3> -> f32
        %r = math.fma %x, %y, %s : f32
        scf.yield %r : f32
      }
      nvvm.barrier0
      scf.yield %part : f32
    }
    %in_c = arith.andi %in_m, %in_n : i1
    scf.if %in_c {
      %crd = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
      %e = cute.layout_eval(%crd, %lc) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %at = cute.get_scalars(%e) : !cute.int_tuple<"?{i64}">
      %p = llvm.getelementptr %c[%at] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %sum, %p : f32, !llvm.ptr<1>
    }
    gpu.return
  }
  llvm.mlir.global internal @tile_a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<${TILE * (TILE + 1)} x f32>
  llvm.mlir.global internal @tile_b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<${TILE * (TILE + 1)} x f32>
}
// In an editor: -D TILE=16
