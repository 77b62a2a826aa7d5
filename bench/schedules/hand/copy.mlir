// b(i,j) = a(i,j) for a matrix with contiguous rows and row pitch lda (ldb) in elements, of any size.
// A block of 256 threads takes a tile of 16 x 256: the layout (64,4,4):... below gives each thread four rows of one
// vector of four. Rows that do not start or end at a multiple of 16 bytes are copied element by element.
gpu.module @kernels {
  gpu.func @copy(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32, llvm.readonly, llvm.noalias},
                 %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32, llvm.writeonly, llvm.noalias},
                 %m: i32 {cute.name = "m"}, %n: i32 {cute.name = "n"},
                 %lda: i64 {cute.name = "lda"}, %ldb: i64 {cute.name = "ldb"})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %c256 = arith.constant 256 : i32
    %c15 = arith.constant 15 : i64
    %zero = arith.constant 0 : i64
    %two = arith.constant 2 : i64
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32

    // thread -> (row of 4, vector of 64), then to this block's tile
    %threads = cute.static : !cute.shape<"(64,4)">
    %t = cute.make_int_tuple(%tid) : (i32) -> !cute.int_tuple<"?">
    %where = cute.idx2crd(%t, %threads) : (!cute.int_tuple<"?">, !cute.shape<"(64,4)">) -> !cute.coord<"(?,?)">
    %vec, %row4 = cute.get_scalars(%where) : !cute.coord<"(?,?)">
    %tile_row = arith.muli %by, %c16 : i32
    %tile_col = arith.muli %bx, %c256 : i32
    %col_in_tile = arith.muli %vec, %c4 : i32
    %col = arith.addi %tile_col, %col_in_tile : i32
    %row0 = arith.addi %tile_row, %row4 : i32

    %shape = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride_a = cute.make_stride(%lda) : (i64) -> !cute.stride<"(?{i64},1)">
    %stride_b = cute.make_stride(%ldb) : (i64) -> !cute.stride<"(?{i64},1)">
    %la = cute.make_layout(%shape, %stride_a) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %lb = cute.make_layout(%shape, %stride_b) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">

    // 16-byte accesses require that both bases and both row pitches are multiples of 16 bytes.
    %addr_a = llvm.ptrtoint %a : !llvm.ptr<1> to i64
    %addr_b = llvm.ptrtoint %b : !llvm.ptr<1> to i64
    %pitch_a = arith.shli %lda, %two : i64
    %pitch_b = arith.shli %ldb, %two : i64
    %or0 = arith.ori %addr_a, %addr_b : i64
    %or1 = arith.ori %pitch_a, %pitch_b : i64
    %or2 = arith.ori %or0, %or1 : i64
    %low = arith.andi %or2, %c15 : i64
    %aligned = arith.cmpi eq, %low, %zero : i64
    %col_end = arith.addi %col, %c4 : i32
    %row_last = arith.addi %row0, %c16 : i32
    %rows_end = arith.subi %row_last, %c4 : i32
    %fits_n = arith.cmpi sle, %col_end, %n : i32
    %fits_m = arith.cmpi slt, %rows_end, %m : i32
    %fits = arith.andi %fits_n, %fits_m : i1
    %vector = arith.andi %fits, %aligned : i1
    scf.if %vector {
      %row1 = arith.addi %row0, %c4 : i32
      %row2 = arith.addi %row1, %c4 : i32
      %row3 = arith.addi %row2, %c4 : i32
      %k0 = cute.make_coord(%row0, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %k1 = cute.make_coord(%row1, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %k2 = cute.make_coord(%row2, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %k3 = cute.make_coord(%row3, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %ea0 = cute.layout_eval(%k0, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ea1 = cute.layout_eval(%k1, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ea2 = cute.layout_eval(%k2, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ea3 = cute.layout_eval(%k3, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %eb0 = cute.layout_eval(%k0, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %eb1 = cute.layout_eval(%k1, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %eb2 = cute.layout_eval(%k2, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %eb3 = cute.layout_eval(%k3, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ia0 = cute.get_scalars(%ea0) : !cute.int_tuple<"?{i64}">
      %ia1 = cute.get_scalars(%ea1) : !cute.int_tuple<"?{i64}">
      %ia2 = cute.get_scalars(%ea2) : !cute.int_tuple<"?{i64}">
      %ia3 = cute.get_scalars(%ea3) : !cute.int_tuple<"?{i64}">
      %ib0 = cute.get_scalars(%eb0) : !cute.int_tuple<"?{i64}">
      %ib1 = cute.get_scalars(%eb1) : !cute.int_tuple<"?{i64}">
      %ib2 = cute.get_scalars(%eb2) : !cute.int_tuple<"?{i64}">
      %ib3 = cute.get_scalars(%eb3) : !cute.int_tuple<"?{i64}">
      %pa0 = llvm.getelementptr %a[%ia0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pa1 = llvm.getelementptr %a[%ia1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pa2 = llvm.getelementptr %a[%ia2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pa3 = llvm.getelementptr %a[%ia3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb0 = llvm.getelementptr %b[%ib0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb1 = llvm.getelementptr %b[%ib1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb2 = llvm.getelementptr %b[%ib2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %pb3 = llvm.getelementptr %b[%ib3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v0 = llvm.load %pa0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v1 = llvm.load %pa1 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v2 = llvm.load %pa2 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v3 = llvm.load %pa3 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      llvm.store %v0, %pb0 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %v1, %pb1 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %v2, %pb2 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %v3, %pb3 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    } else {
      %row_end = arith.minsi %row_last, %m : i32
      %stop = arith.minsi %col_end, %n : i32
      scf.for %row = %row0 to %row_end step %c4 : i32 {
        scf.for %j = %col to %stop step %c1 : i32 {
          %k = cute.make_coord(%row, %j) : (i32, i32) -> !cute.coord<"(?,?)">
          %ea = cute.layout_eval(%k, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
          %eb = cute.layout_eval(%k, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
          %ia = cute.get_scalars(%ea) : !cute.int_tuple<"?{i64}">
          %ib = cute.get_scalars(%eb) : !cute.int_tuple<"?{i64}">
          %pa = llvm.getelementptr %a[%ia] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %pb = llvm.getelementptr %b[%ib] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %v = llvm.load %pa : !llvm.ptr<1> -> f32
          llvm.store %v, %pb : f32, !llvm.ptr<1>
        }
      }
    }
    gpu.return
  }
}
