// b(j,i) = a(i,j): a is m x n with rows lda apart, b is n x m with rows ldb apart, f32, any size.
// A block of 256 threads takes a tile of 64 x 64 through shared memory. The tile is stored transposed under the swizzled
// layout S<3,2,6> o 0 o (64,64):(64,1): a warp writes 4 rows of 32 columns, whose 32 words the swizzle puts into 32
// different banks, and reads vectors of four that stay whole.
gpu.module @kernels {
  gpu.func @transpose(%a: !llvm.ptr<1> {cute.name = "a", cute.dtype = f32, llvm.readonly, llvm.noalias},
                      %b: !llvm.ptr<1> {cute.name = "b", cute.dtype = f32, llvm.writeonly, llvm.noalias},
                      %m: i32 {cute.name = "m"}, %n: i32 {cute.name = "n"},
                      %lda: i64 {cute.name = "lda"}, %ldb: i64 {cute.name = "ldb"})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %c4 = arith.constant 4 : i32
    %c16 = arith.constant 16 : i32
    %c64 = arith.constant 64 : i32
    %c15 = arith.constant 15 : i64
    %zero = arith.constant 0 : i64
    %two = arith.constant 2 : i64
    %f0 = arith.constant 0.0 : f32
    %tid = nvvm.read.ptx.sreg.tid.x : i32
    %bx = nvvm.read.ptx.sreg.ctaid.x : i32
    %by = nvvm.read.ptx.sreg.ctaid.y : i32
    %tile = llvm.mlir.addressof @tile : !llvm.ptr<3>

    // A thread is (vector of 8, row of 4, half of 2, four rows of 4): 8 vectors of 4 columns and 4 rows a warp.
    %threads = cute.static : !cute.shape<"(8,4,2,4)">
    %t = cute.make_int_tuple(%tid) : (i32) -> !cute.int_tuple<"?">
    %where = cute.idx2crd(%t, %threads) : (!cute.int_tuple<"?">, !cute.shape<"(8,4,2,4)">) -> !cute.coord<"(?,?,?,?)">
    %col_of = cute.static : !cute.layout<"(8,4,2,4):(4,0,32,0)">
    %row_of = cute.static : !cute.layout<"(8,4,2,4):(0,1,0,4)">
    %col_t = cute.layout_eval(%where, %col_of) : (!cute.coord<"(?,?,?,?)">, !cute.layout<"(8,4,2,4):(4,0,32,0)">) -> !cute.int_tuple<"?">
    %row_t = cute.layout_eval(%where, %row_of) : (!cute.coord<"(?,?,?,?)">, !cute.layout<"(8,4,2,4):(0,1,0,4)">) -> !cute.int_tuple<"?">
    %col = cute.get_scalars(%col_t) : !cute.int_tuple<"?">
    %row = cute.get_scalars(%row_t) : !cute.int_tuple<"?">

    %shape_a = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride_a = cute.make_stride(%lda) : (i64) -> !cute.stride<"(?{i64},1)">
    %la = cute.make_layout(%shape_a, %stride_a) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %shape_b = cute.make_shape(%n, %m) : (i32, i32) -> !cute.shape<"(?,?)">
    %stride_b = cute.make_stride(%ldb) : (i64) -> !cute.stride<"(?{i64},1)">
    %lb = cute.make_layout(%shape_b, %stride_b) : (!cute.shape<"(?,?)">, !cute.stride<"(?{i64},1)">) -> !cute.layout<"(?,?):(?{i64},1)">
    %ls = cute.static : !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">

    %row0 = arith.muli %by, %c64 : i32
    %col0 = arith.muli %bx, %c64 : i32
    %row1 = arith.addi %row0, %c64 : i32
    %col1 = arith.addi %col0, %c64 : i32
    %fits_m = arith.cmpi sle, %row1, %m : i32
    %fits_n = arith.cmpi sle, %col1, %n : i32
    %fits = arith.andi %fits_m, %fits_n : i1
    %addr_a = llvm.ptrtoint %a : !llvm.ptr<1> to i64
    %addr_b = llvm.ptrtoint %b : !llvm.ptr<1> to i64
    %pitch_a = arith.shli %lda, %two : i64
    %pitch_b = arith.shli %ldb, %two : i64
    %or0 = arith.ori %addr_a, %addr_b : i64
    %or1 = arith.ori %pitch_a, %pitch_b : i64
    %or2 = arith.ori %or0, %or1 : i64
    %low = arith.andi %or2, %c15 : i64
    %aligned = arith.cmpi eq, %low, %zero : i64
    %vector = arith.andi %fits, %aligned : i1
    scf.if %vector {
      %gcol = arith.addi %col0, %col : i32
      %r0c = arith.constant 0 : i32
      %r0 = arith.addi %row, %r0c : i32
      %g0 = arith.addi %row0, %r0 : i32
      %ka0 = cute.make_coord(%g0, %gcol) : (i32, i32) -> !cute.coord<"(?,?)">
      %ea0 = cute.layout_eval(%ka0, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ia0 = cute.get_scalars(%ea0) : !cute.int_tuple<"?{i64}">
      %pa0 = llvm.getelementptr %a[%ia0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %r1c = arith.constant 16 : i32
      %r1 = arith.addi %row, %r1c : i32
      %g1 = arith.addi %row0, %r1 : i32
      %ka1 = cute.make_coord(%g1, %gcol) : (i32, i32) -> !cute.coord<"(?,?)">
      %ea1 = cute.layout_eval(%ka1, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ia1 = cute.get_scalars(%ea1) : !cute.int_tuple<"?{i64}">
      %pa1 = llvm.getelementptr %a[%ia1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %r2c = arith.constant 32 : i32
      %r2 = arith.addi %row, %r2c : i32
      %g2 = arith.addi %row0, %r2 : i32
      %ka2 = cute.make_coord(%g2, %gcol) : (i32, i32) -> !cute.coord<"(?,?)">
      %ea2 = cute.layout_eval(%ka2, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ia2 = cute.get_scalars(%ea2) : !cute.int_tuple<"?{i64}">
      %pa2 = llvm.getelementptr %a[%ia2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %r3c = arith.constant 48 : i32
      %r3 = arith.addi %row, %r3c : i32
      %g3 = arith.addi %row0, %r3 : i32
      %ka3 = cute.make_coord(%g3, %gcol) : (i32, i32) -> !cute.coord<"(?,?)">
      %ea3 = cute.layout_eval(%ka3, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ia3 = cute.get_scalars(%ea3) : !cute.int_tuple<"?{i64}">
      %pa3 = llvm.getelementptr %a[%ia3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %v0 = llvm.load %pa0 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v1 = llvm.load %pa1 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v2 = llvm.load %pa2 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %v3 = llvm.load %pa3 {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xf32>
      %col1_ = arith.addi %col, %c1 : i32
      %col2_ = arith.addi %col, %c2 : i32
      %col3_ = arith.addi %col, %c3 : i32
      %ks00 = cute.make_coord(%col, %r0) : (i32, i32) -> !cute.coord<"(?,?)">
      %es00 = cute.layout_eval(%ks00, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is00 = cute.get_scalars(%es00) : !cute.int_tuple<"?">
      %ps00 = llvm.getelementptr %tile[%is00] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x00 = llvm.extractelement %v0[%c0 : i32] : vector<4xf32>
      llvm.store %x00, %ps00 : f32, !llvm.ptr<3>
      %ks01 = cute.make_coord(%col1_, %r0) : (i32, i32) -> !cute.coord<"(?,?)">
      %es01 = cute.layout_eval(%ks01, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is01 = cute.get_scalars(%es01) : !cute.int_tuple<"?">
      %ps01 = llvm.getelementptr %tile[%is01] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x01 = llvm.extractelement %v0[%c1 : i32] : vector<4xf32>
      llvm.store %x01, %ps01 : f32, !llvm.ptr<3>
      %ks02 = cute.make_coord(%col2_, %r0) : (i32, i32) -> !cute.coord<"(?,?)">
      %es02 = cute.layout_eval(%ks02, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is02 = cute.get_scalars(%es02) : !cute.int_tuple<"?">
      %ps02 = llvm.getelementptr %tile[%is02] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x02 = llvm.extractelement %v0[%c2 : i32] : vector<4xf32>
      llvm.store %x02, %ps02 : f32, !llvm.ptr<3>
      %ks03 = cute.make_coord(%col3_, %r0) : (i32, i32) -> !cute.coord<"(?,?)">
      %es03 = cute.layout_eval(%ks03, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is03 = cute.get_scalars(%es03) : !cute.int_tuple<"?">
      %ps03 = llvm.getelementptr %tile[%is03] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x03 = llvm.extractelement %v0[%c3 : i32] : vector<4xf32>
      llvm.store %x03, %ps03 : f32, !llvm.ptr<3>
      %ks10 = cute.make_coord(%col, %r1) : (i32, i32) -> !cute.coord<"(?,?)">
      %es10 = cute.layout_eval(%ks10, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is10 = cute.get_scalars(%es10) : !cute.int_tuple<"?">
      %ps10 = llvm.getelementptr %tile[%is10] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x10 = llvm.extractelement %v1[%c0 : i32] : vector<4xf32>
      llvm.store %x10, %ps10 : f32, !llvm.ptr<3>
      %ks11 = cute.make_coord(%col1_, %r1) : (i32, i32) -> !cute.coord<"(?,?)">
      %es11 = cute.layout_eval(%ks11, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is11 = cute.get_scalars(%es11) : !cute.int_tuple<"?">
      %ps11 = llvm.getelementptr %tile[%is11] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x11 = llvm.extractelement %v1[%c1 : i32] : vector<4xf32>
      llvm.store %x11, %ps11 : f32, !llvm.ptr<3>
      %ks12 = cute.make_coord(%col2_, %r1) : (i32, i32) -> !cute.coord<"(?,?)">
      %es12 = cute.layout_eval(%ks12, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is12 = cute.get_scalars(%es12) : !cute.int_tuple<"?">
      %ps12 = llvm.getelementptr %tile[%is12] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x12 = llvm.extractelement %v1[%c2 : i32] : vector<4xf32>
      llvm.store %x12, %ps12 : f32, !llvm.ptr<3>
      %ks13 = cute.make_coord(%col3_, %r1) : (i32, i32) -> !cute.coord<"(?,?)">
      %es13 = cute.layout_eval(%ks13, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is13 = cute.get_scalars(%es13) : !cute.int_tuple<"?">
      %ps13 = llvm.getelementptr %tile[%is13] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x13 = llvm.extractelement %v1[%c3 : i32] : vector<4xf32>
      llvm.store %x13, %ps13 : f32, !llvm.ptr<3>
      %ks20 = cute.make_coord(%col, %r2) : (i32, i32) -> !cute.coord<"(?,?)">
      %es20 = cute.layout_eval(%ks20, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is20 = cute.get_scalars(%es20) : !cute.int_tuple<"?">
      %ps20 = llvm.getelementptr %tile[%is20] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x20 = llvm.extractelement %v2[%c0 : i32] : vector<4xf32>
      llvm.store %x20, %ps20 : f32, !llvm.ptr<3>
      %ks21 = cute.make_coord(%col1_, %r2) : (i32, i32) -> !cute.coord<"(?,?)">
      %es21 = cute.layout_eval(%ks21, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is21 = cute.get_scalars(%es21) : !cute.int_tuple<"?">
      %ps21 = llvm.getelementptr %tile[%is21] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x21 = llvm.extractelement %v2[%c1 : i32] : vector<4xf32>
      llvm.store %x21, %ps21 : f32, !llvm.ptr<3>
      %ks22 = cute.make_coord(%col2_, %r2) : (i32, i32) -> !cute.coord<"(?,?)">
      %es22 = cute.layout_eval(%ks22, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is22 = cute.get_scalars(%es22) : !cute.int_tuple<"?">
      %ps22 = llvm.getelementptr %tile[%is22] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x22 = llvm.extractelement %v2[%c2 : i32] : vector<4xf32>
      llvm.store %x22, %ps22 : f32, !llvm.ptr<3>
      %ks23 = cute.make_coord(%col3_, %r2) : (i32, i32) -> !cute.coord<"(?,?)">
      %es23 = cute.layout_eval(%ks23, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is23 = cute.get_scalars(%es23) : !cute.int_tuple<"?">
      %ps23 = llvm.getelementptr %tile[%is23] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x23 = llvm.extractelement %v2[%c3 : i32] : vector<4xf32>
      llvm.store %x23, %ps23 : f32, !llvm.ptr<3>
      %ks30 = cute.make_coord(%col, %r3) : (i32, i32) -> !cute.coord<"(?,?)">
      %es30 = cute.layout_eval(%ks30, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is30 = cute.get_scalars(%es30) : !cute.int_tuple<"?">
      %ps30 = llvm.getelementptr %tile[%is30] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x30 = llvm.extractelement %v3[%c0 : i32] : vector<4xf32>
      llvm.store %x30, %ps30 : f32, !llvm.ptr<3>
      %ks31 = cute.make_coord(%col1_, %r3) : (i32, i32) -> !cute.coord<"(?,?)">
      %es31 = cute.layout_eval(%ks31, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is31 = cute.get_scalars(%es31) : !cute.int_tuple<"?">
      %ps31 = llvm.getelementptr %tile[%is31] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x31 = llvm.extractelement %v3[%c1 : i32] : vector<4xf32>
      llvm.store %x31, %ps31 : f32, !llvm.ptr<3>
      %ks32 = cute.make_coord(%col2_, %r3) : (i32, i32) -> !cute.coord<"(?,?)">
      %es32 = cute.layout_eval(%ks32, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is32 = cute.get_scalars(%es32) : !cute.int_tuple<"?">
      %ps32 = llvm.getelementptr %tile[%is32] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x32 = llvm.extractelement %v3[%c2 : i32] : vector<4xf32>
      llvm.store %x32, %ps32 : f32, !llvm.ptr<3>
      %ks33 = cute.make_coord(%col3_, %r3) : (i32, i32) -> !cute.coord<"(?,?)">
      %es33 = cute.layout_eval(%ks33, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %is33 = cute.get_scalars(%es33) : !cute.int_tuple<"?">
      %ps33 = llvm.getelementptr %tile[%is33] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %x33 = llvm.extractelement %v3[%c3 : i32] : vector<4xf32>
      llvm.store %x33, %ps33 : f32, !llvm.ptr<3>
      nvvm.barrier0
      %gout = arith.addi %row0, %col : i32
      %kt0 = cute.make_coord(%r0, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %et0 = cute.layout_eval(%kt0, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %it0 = cute.get_scalars(%et0) : !cute.int_tuple<"?">
      %pt0 = llvm.getelementptr %tile[%it0] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %y0 = llvm.load %pt0 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      %h0 = arith.addi %col0, %r0 : i32
      %kb0 = cute.make_coord(%h0, %gout) : (i32, i32) -> !cute.coord<"(?,?)">
      %eb0 = cute.layout_eval(%kb0, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ib0 = cute.get_scalars(%eb0) : !cute.int_tuple<"?{i64}">
      %pb0 = llvm.getelementptr %b[%ib0] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %kt1 = cute.make_coord(%r1, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %et1 = cute.layout_eval(%kt1, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %it1 = cute.get_scalars(%et1) : !cute.int_tuple<"?">
      %pt1 = llvm.getelementptr %tile[%it1] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %y1 = llvm.load %pt1 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      %h1 = arith.addi %col0, %r1 : i32
      %kb1 = cute.make_coord(%h1, %gout) : (i32, i32) -> !cute.coord<"(?,?)">
      %eb1 = cute.layout_eval(%kb1, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ib1 = cute.get_scalars(%eb1) : !cute.int_tuple<"?{i64}">
      %pb1 = llvm.getelementptr %b[%ib1] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %kt2 = cute.make_coord(%r2, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %et2 = cute.layout_eval(%kt2, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %it2 = cute.get_scalars(%et2) : !cute.int_tuple<"?">
      %pt2 = llvm.getelementptr %tile[%it2] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %y2 = llvm.load %pt2 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      %h2 = arith.addi %col0, %r2 : i32
      %kb2 = cute.make_coord(%h2, %gout) : (i32, i32) -> !cute.coord<"(?,?)">
      %eb2 = cute.layout_eval(%kb2, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ib2 = cute.get_scalars(%eb2) : !cute.int_tuple<"?{i64}">
      %pb2 = llvm.getelementptr %b[%ib2] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      %kt3 = cute.make_coord(%r3, %col) : (i32, i32) -> !cute.coord<"(?,?)">
      %et3 = cute.layout_eval(%kt3, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
      %it3 = cute.get_scalars(%et3) : !cute.int_tuple<"?">
      %pt3 = llvm.getelementptr %tile[%it3] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
      %y3 = llvm.load %pt3 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xf32>
      %h3 = arith.addi %col0, %r3 : i32
      %kb3 = cute.make_coord(%h3, %gout) : (i32, i32) -> !cute.coord<"(?,?)">
      %eb3 = cute.layout_eval(%kb3, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
      %ib3 = cute.get_scalars(%eb3) : !cute.int_tuple<"?{i64}">
      %pb3 = llvm.getelementptr %b[%ib3] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
      llvm.store %y0, %pb0 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %y1, %pb1 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %y2, %pb2 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
      llvm.store %y3, %pb3 {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr<1>
    } else {
      // A tile at the edge, or rows that are not aligned: 16 elements a thread, one by one. Reads go along rows of a,
      // writes along rows of b.
      %along = arith.remui %tid, %c64 : i32
      %across = arith.divui %tid, %c64 : i32
      scf.for %k = %across to %c64 step %c4 : i32 {
        %gi = arith.addi %row0, %k : i32
        %gj = arith.addi %col0, %along : i32
        %in_m = arith.cmpi slt, %gi, %m : i32
        %in_n = arith.cmpi slt, %gj, %n : i32
        %in = arith.andi %in_m, %in_n : i1
        scf.if %in {
          %ka = cute.make_coord(%gi, %gj) : (i32, i32) -> !cute.coord<"(?,?)">
          %ea = cute.layout_eval(%ka, %la) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
          %ia = cute.get_scalars(%ea) : !cute.int_tuple<"?{i64}">
          %pa = llvm.getelementptr %a[%ia] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %ks = cute.make_coord(%along, %k) : (i32, i32) -> !cute.coord<"(?,?)">
          %es = cute.layout_eval(%ks, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
          %is = cute.get_scalars(%es) : !cute.int_tuple<"?">
          %ps = llvm.getelementptr %tile[%is] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %v = llvm.load %pa : !llvm.ptr<1> -> f32
          llvm.store %v, %ps : f32, !llvm.ptr<3>
        }
      }
      nvvm.barrier0
      scf.for %k = %across to %c64 step %c4 : i32 {
        %gi = arith.addi %row0, %along : i32
        %gj = arith.addi %col0, %k : i32
        %in_m = arith.cmpi slt, %gi, %m : i32
        %in_n = arith.cmpi slt, %gj, %n : i32
        %in = arith.andi %in_m, %in_n : i1
        scf.if %in {
          %ks = cute.make_coord(%k, %along) : (i32, i32) -> !cute.coord<"(?,?)">
          %es = cute.layout_eval(%ks, %ls) : (!cute.coord<"(?,?)">, !cute.composed_layout<"S<3,2,6> o 0 o (64,64):(64,1)">) -> !cute.int_tuple<"?">
          %is = cute.get_scalars(%es) : !cute.int_tuple<"?">
          %ps = llvm.getelementptr %tile[%is] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
          %kb = cute.make_coord(%gj, %gi) : (i32, i32) -> !cute.coord<"(?,?)">
          %eb = cute.layout_eval(%kb, %lb) : (!cute.coord<"(?,?)">, !cute.layout<"(?,?):(?{i64},1)">) -> !cute.int_tuple<"?{i64}">
          %ib = cute.get_scalars(%eb) : !cute.int_tuple<"?{i64}">
          %pb = llvm.getelementptr %b[%ib] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, f32
          %v = llvm.load %ps : !llvm.ptr<3> -> f32
          llvm.store %v, %pb : f32, !llvm.ptr<1>
        }
      }
    }
    gpu.return
  }
  llvm.mlir.global internal @tile() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<4096 x f32>
}
