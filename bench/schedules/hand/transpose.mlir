// b(j,i) = a(i,j): a is (M,N), b is (N,M), both row-major, with any M, N and row pitch. A block
// copies a tile of (TM,TN) to shared memory and reads it by columns, V elements at a
// time on both sides; the swizzle S avoids bank conflicts of the column reads.
// -D T: type; V ALIGN: elements and bytes of an access: 16 bytes if all rows are aligned to and
// multiples of 16 bytes, else one element; LANES: threads of a warp along M; GROUP: number of tiles
// along M before the next ones along N, so that both sides touch few pages.
!A = !cute.memref<${T}, gmem, align<${ALIGN}>, "(?{div=${V}},?{div=${V}}):(?{i64 div=${V}},1)">

gpu.module @kernels {
  gpu.func @transpose(%a: !A, %b: !A) kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %x = nvvm.read.ptx.sreg.ctaid.x : i32
    %y = nvvm.read.ptx.sreg.ctaid.y : i32
    %group = arith.constant ${GROUP} : i32
    %bn = arith.divui %x, %group : i32
    %m0 = arith.muli %y, %group : i32
    %m1 = arith.remui %x, %group : i32
    %bm = arith.addi %m0, %m1 : i32

    // b with the coordinates of a.
    %layout = cute.get_layout %b
    %swapped = cute.select<[1, 0]> %layout
    %to = cute.get_iter %b
    %bt = cute.make_view %to, %swapped
    %where = cute.make_identity_tensor %a
    %gA = cute.local_tile %a, (${TM}, ${TN}), (%bm, %bn)
    %gB = cute.local_tile %bt, (${TM}, ${TN}), (%bm, %bn)
    %gI = cute.local_tile %where, (${TM}, ${TN}), (%bm, %bn)
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<${T}, smem, align<1024>>
    %s = cute.make_view %smem, "${S} o 0 o (${TM},${TN}):(${TN},1)"

    // Load rows, zero-filled outside of a.
    %some = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}, ${8*ALIGN} b>
    %rows = cute.make_tiled_copy %some, "(${256*V/TN},${TN/V}):(${TN/V},1)", "(1,${V}):(0,1)"
    %tAgA = cute.tiled.copy.partition_S %rows, %gA, %t
    %tAgI = cute.tiled.copy.partition_S %rows, %gI, %t
    %tAs = cute.tiled.copy.partition_D %rows, %s, %t
    %predA = cute.predicate %tAgI, %a
    %rA = cute.make_fragment_like %tAs
    %zero = arith.constant 0.0 : ${T}
    cute.fill %rA, %zero
    cute.copy %rows, %tAgA, %rA, %predA
    cute.copy %rows, %rA, %tAs
    gpu.barrier

    // Store columns.
    %threads = cute.make_layout(
        ((${LANES}, ${TM/V/LANES}), (${32/LANES}, ${8*V*LANES/TM})),
        ((1, 32), (${LANES}, ${32*TM/V/LANES})))
    %columns = cute.make_tiled_copy %some, %threads, "(${V},1):(1,0)"
    %tBs = cute.tiled.copy.partition_S %columns, %s, %t
    %tBgB = cute.tiled.copy.partition_D %columns, %gB, %t
    %tBgI = cute.tiled.copy.partition_D %columns, %gI, %t
    %predB = cute.predicate %tBgI, %a
    %rB = cute.make_fragment_like %tBgB
    %one = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}>
    cute.copy %one, %tBs, %rB
    cute.copy %columns, %rB, %tBgB, %predB
    gpu.return
  }
}

func.func @transpose(%a: !A, %b: !A) {
  %shape = cute.shape %a
  %tiles = cute.ceil_div %shape, (${TM}, ${TN})
  %m, %n = cute.get_scalars %tiles
  %gm = arith.index_cast %m : i32 to index
  %gn = arith.index_cast %n : i32 to index
  %c1 = arith.constant 1 : index
  %group = arith.constant ${GROUP} : index
  %gx = arith.muli %gn, %group : index
  %gy = arith.ceildivui %gm, %group : index
  %threads = arith.constant 256 : index
  %bytes = arith.constant ${TM*TN*ALIGN/V} : i32
  gpu.launch_func @kernels::@transpose blocks in (%gx, %gy, %c1) threads in (%threads, %c1, %c1)
    dynamic_shared_memory_size %bytes args(%a : !A, %b : !A)
  return
}
// In an editor: -D T=f32 -D V=4 -D ALIGN=16 -D TM=64 -D TN=64 -D S=S<3,2,6> -D LANES=16 -D GROUP=8
