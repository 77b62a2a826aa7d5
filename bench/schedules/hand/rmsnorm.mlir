// out(i,j) = x(i,j) / sqrt(mean_j x(i,j)^2 + eps) * weight(j): one block per row, the row in registers,
// one pass over memory.
// -D T: f32, f16 or bf16; V: elements of an access of BITS bits; COLS: maximum columns, a multiple
// of 256 V. Any number of rows; columns up to COLS, a multiple of V.
!X = !cute.memref<${T}, gmem, align<${BITS/8}>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @rmsnorm(%x: !X, %weight: !X, %out: !X, %eps: f32)
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
    %gW = cute.local_tile(%weight, (1, ${COLS}), (0, 0))
    %gI = cute.local_tile(%where, (1, ${COLS}), (%row, 0))
    %tX = cute.tiled.copy.partition_S(%copy, %gX, %t)
    %tW = cute.tiled.copy.partition_S(%copy, %gW, %t)
    %tI = cute.tiled.copy.partition_S(%copy, %gI, %t)
    %tO = cute.tiled.copy.partition_D(%copy, %gO, %t)
    %inside = cute.predicate(%tI, %shape)

    // The row and the weights, zero-filled past the end of the row.
    %rX = cute.make_fragment_like(%tX)
    %rW = cute.make_fragment_like(%tW)
    %zero = arith.constant 0.0 : ${T}
    cute.fill(%rX, %zero)
    cute.copy(%copy, %tX, %rX, %inside)
    cute.copy(%copy, %tW, %rW, %inside)
    %v = cute.memref.load_vec(%rX)
    %w = cute.memref.load_vec(%rW)
    %f = arith.${EXT} %v : vector<${COLS/256}x${T}> to vector<${COLS/256}xf32>
    %g = arith.${EXT} %w : vector<${COLS/256}x${T}> to vector<${COLS/256}xf32>

    // The mean of the squares over the block.
    %squares = arith.mulf %f, %f : vector<${COLS/256}xf32>
    %mine = vector.reduction <add>, %squares : vector<${COLS/256}xf32> into f32
    %sum = gpu.all_reduce add %mine uniform {} : (f32) -> f32
    %cols = cute.get<[1]>(%shape)
    %n = cute.get_scalars(%cols)
    %count = arith.sitofp %n : i32 to f32
    %mean = arith.divf %sum, %count : f32
    %safe = arith.addf %mean, %eps : f32
    %scale = math.rsqrt %safe : f32
    %scales = vector.broadcast %scale : f32 to vector<${COLS/256}xf32>
    %normal = arith.mulf %f, %scales : vector<${COLS/256}xf32>
    %weighted = arith.mulf %normal, %g : vector<${COLS/256}xf32>
    %o = arith.${TRUNC} %weighted : vector<${COLS/256}xf32> to vector<${COLS/256}x${T}>
    cute.memref.store_vec(%o, %rX)
    cute.copy(%copy, %rX, %tO, %inside)
    gpu.return
  }
}

// weight is a matrix of one row.
func.func @rmsnorm(%x: !X, %weight: !X, %out: !X, %eps: f32) {
  %shape = cute.shape %x
  %mode = cute.get<[0]>(%shape)
  %rows = cute.get_scalars(%mode)
  %grid = arith.index_cast %rows : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@rmsnorm blocks in (%grid, %c1, %c1) threads in (%c256, %c1, %c1)
    args(%x : !X, %weight : !X, %out : !X, %eps : f32)
  return
}
// In an editor: -D T=f32 -D V=4 -D BITS=128 -D COLS=8192 -D EXT=bitcast -D TRUNC=bitcast
