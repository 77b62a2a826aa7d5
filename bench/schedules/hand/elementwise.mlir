// c = a + b, (m,n), any strides. If rows are contiguous and multiples of 16 bytes, 16 bytes per
// thread; else element by element.
// -D T: type; V: elements in 16 bytes; ADD: addf or addi.
!any = !cute.memref<${T}, gmem, "(?,?):(?{i64},?{i64})">
!row = !cute.memref<${T}, gmem, align<16>, "(?,?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  // A block takes a tile of 8 rows and 32 V columns; a thread takes V adjacent elements of a row.
  gpu.func @add_rows(%a: !row, %b: !row, %c: !row) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.y : i32
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, 128 b>
    %threads = cute.static "(8,32):(32,1)"
    %values = cute.static "(1,${V}):(0,1)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %shape = cute.shape %c
    %where = cute.make_identity_tensor(%shape)
    %gA = cute.local_tile(%a, (32, ${32*V}), (%bm, %bn))
    %gB = cute.local_tile(%b, (32, ${32*V}), (%bm, %bn))
    %gC = cute.local_tile(%c, (32, ${32*V}), (%bm, %bn))
    %gI = cute.local_tile(%where, (32, ${32*V}), (%bm, %bn))
    %tA = cute.tiled.copy.partition_S(%copy, %gA, %t)
    %tB = cute.tiled.copy.partition_S(%copy, %gB, %t)
    %tC = cute.tiled.copy.partition_D(%copy, %gC, %t)
    %tI = cute.tiled.copy.partition_D(%copy, %gI, %t)
    %inside = cute.predicate(%tI, %shape)
    %rA = cute.make_fragment_like(%tA)
    %rB = cute.make_fragment_like(%tB)
    cute.copy(%copy, %tA, %rA, %inside)
    cute.copy(%copy, %tB, %rB, %inside)
    %x = cute.memref.load_vec(%rA)
    %y = cute.memref.load_vec(%rB)
    %z = arith.${ADD} %x, %y : vector<${4*V}x${T}>
    cute.memref.store_vec(%z, %rA)
    cute.copy(%copy, %rA, %tC, %inside)
    gpu.return
  }

  // A block takes a tile of 32 by 32; a thread takes four elements of a column.
  gpu.func @add_any(%a: !any, %b: !any, %c: !any) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.y : i32
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}>
    %threads = cute.static "(8,32):(32,1)"
    %values = cute.static "(1,1):(0,0)"
    %copy = cute.make_tiled_copy(%atom, %threads, %values)
    %shape = cute.shape %c
    %where = cute.make_identity_tensor(%shape)
    %gA = cute.local_tile(%a, (32, 32), (%bm, %bn))
    %gB = cute.local_tile(%b, (32, 32), (%bm, %bn))
    %gC = cute.local_tile(%c, (32, 32), (%bm, %bn))
    %gI = cute.local_tile(%where, (32, 32), (%bm, %bn))
    %tA = cute.tiled.copy.partition_S(%copy, %gA, %t)
    %tB = cute.tiled.copy.partition_S(%copy, %gB, %t)
    %tC = cute.tiled.copy.partition_D(%copy, %gC, %t)
    %tI = cute.tiled.copy.partition_D(%copy, %gI, %t)
    %inside = cute.predicate(%tI, %shape)
    %rA = cute.make_fragment_like(%tA)
    %rB = cute.make_fragment_like(%tB)
    cute.copy(%copy, %tA, %rA, %inside)
    cute.copy(%copy, %tB, %rB, %inside)
    %x = cute.memref.load_vec(%rA)
    %y = cute.memref.load_vec(%rB)
    %z = arith.${ADD} %x, %y : vector<4x${T}>
    cute.memref.store_vec(%z, %rA)
    cute.copy(%copy, %rA, %tC, %inside)
    gpu.return
  }
}

func.func @add_rows(%a: !row, %b: !row, %c: !row) {
  %shape = cute.shape %c
  %blocks = cute.ceil_div(%shape, (32, ${32*V}))
  %m, %n = cute.get_scalars(%blocks)
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@add_rows blocks in (%gn, %gm, %c1) threads in (%c256, %c1, %c1)
    args(%a : !row, %b : !row, %c : !row)
  return
}

func.func @add_any(%a: !any, %b: !any, %c: !any) {
  %shape = cute.shape %c
  %blocks = cute.ceil_div(%shape, (32, 32))
  %m, %n = cute.get_scalars(%blocks)
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %c256 = arith.constant 256 : index
  gpu.launch_func @kernels::@add_any blocks in (%gn, %gm, %c1) threads in (%c256, %c1, %c1)
    args(%a : !any, %b : !any, %c : !any)
  return
}
// In an editor: -D T=f32 -D V=4 -D ADD=addf
