// out(i,j) = exp(x(i,j) - max_i) / sum_j exp(x(i,j) - max_i): one block per row, the row in registers,
// one pass over memory.
// -D T: f32, f16 or bf16; V: elements of an access of BITS bits; COLS: maximum columns, a multiple
// of 256 V. Any number of rows; columns up to COLS, a multiple of V.
!X = !cute.memref<${T}, gmem, align<${BITS/8}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @softmax(%x: !X, %out: !X)
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, ${BITS} b>
    %threads = cute.static "(1,256):(0,1)"
    %values = cute.static "(1,${V}):(0,1)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %shape = cute.shape %x
    %where = cute.make_identity_tensor(%shape)
    %gX = cute.local_tile(%x, (1, ${COLS}), (%row, 0))
    %gO = cute.local_tile(%out, (1, ${COLS}), (%row, 0))
    %gI = cute.local_tile(%where, (1, ${COLS}), (%row, 0))
    %tX = cute.tiled.copy.partition_S(%copy, %gX, %t)
    %tI = cute.tiled.copy.partition_S(%copy, %gI, %t)
    %tO = cute.tiled.copy.partition_D(%copy, %gO, %t)
    %inside = cute.predicate(%tI, %shape)

    // The row; elements past its end are the lowest value, with no effect.
    %rX = cute.make_fragment_like(%tX)
    %low = arith.constant ${LOW} : ${T}
    cute.fill(%rX, %low)
    cute.copy(%copy, %tX, %rX, %inside)
    %v = cute.memref.load_vec(%rX)
    %f = arith.${EXT} %v : vector<${COLS/256}x${T}> to vector<${COLS/256}xf32>

    // exp(x - max) = 2^(x log2(e) - max log2(e)), and the sum of all.
    %mine = vector.reduction <maximumf>, %f : vector<${COLS/256}xf32> into f32
    %max = gpu.all_reduce maxnumf %mine uniform {} : (f32) -> f32
    %log2e = arith.constant dense<1.44269504> : vector<${COLS/256}xf32>
    %maxes = vector.broadcast %max : f32 to vector<${COLS/256}xf32>
    %below = arith.subf %f, %maxes : vector<${COLS/256}xf32>
    %exponent = arith.mulf %below, %log2e : vector<${COLS/256}xf32>
    %e = math.exp2 %exponent fastmath<afn> : vector<${COLS/256}xf32>
    %part = vector.reduction <add>, %e : vector<${COLS/256}xf32> into f32
    %sum = gpu.all_reduce add %part uniform {} : (f32) -> f32
    %one = arith.constant 1.0 : f32
    %scale = arith.divf %one, %sum : f32
    %scales = vector.broadcast %scale : f32 to vector<${COLS/256}xf32>
    %weighted = arith.mulf %e, %scales : vector<${COLS/256}xf32>
    %o = arith.${TRUNC} %weighted : vector<${COLS/256}xf32> to vector<${COLS/256}x${T}>
    cute.memref.store_vec(%o, %rX)
    cute.copy(%copy, %rX, %tO, %inside)
    gpu.return
  }
}

func.func @softmax(%x: !X, %out: !X) {
  %shape = cute.shape %x
  %mode = cute.get<[0]>(%shape)
  %rows = cute.get_scalars(%mode)
  %grid = arith.index_cast %rows : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@softmax blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%x : !X, %out : !X)
  return
}
// In an editor: -D T=f32 -D V=4 -D BITS=128 -D COLS=8192 -D EXT=bitcast -D TRUNC=bitcast -D LOW=0xFF800000
