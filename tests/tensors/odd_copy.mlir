// defs: -D T=i8
// run: -p cp --tensor A=i8:33x17:19,1:iota --tensor B=i8:33x17:1,35 --expect 'B=A'
// run: -p cp --tensor A=i8:1x1:iota --tensor B=i8:1x1 --expect 'B=A'
// run: -p cp --tensor A=i8:7x130:iota --tensor B=i8:7x130:131,1 --expect 'B=A'
!t = !cute.memref<${T}, gmem, "(?,?):(?{i64},?{i64})">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @cp(%A: !t, %B: !t) kernel attributes {nvvm.reqntid = array<i32: 21, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %bm = nvvm.read.ptx.sreg.ctaid.x : i32
    %bn = nvvm.read.ptx.sreg.ctaid.y : i32
    %s = cute.shape %A
    %id = cute.make_identity_tensor %s
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<${T}>
    %cp = cute.make_tiled_copy %atom, "(3,7):(7,1)", "(2,1):(1,0)"
    %gA = cute.local_tile %A, (12, 14), (%bm, %bn)
    %gB = cute.local_tile %B, (12, 14), (%bm, %bn)
    %gI = cute.local_tile %id, (12, 14), (%bm, %bn)
    %tA = cute.tiled.copy.partition_S %cp, %gA, %t
    %tB = cute.tiled.copy.partition_D %cp, %gB, %t
    %tI = cute.tiled.copy.partition_S %cp, %gI, %t
    %p = cute.predicate %tI, %s
    %r = cute.make_fragment_like %tA
    cute.copy %cp, %tA, %r, %p
    cute.copy %cp, %r, %tB, %p
    gpu.return
  }
}
func.func @cp(%A: !t, %B: !t) {
  %s = cute.shape %A
  %b = cute.ceil_div %s, (12, 14)
  %x, %y = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %gy = arith.index_cast %y : i32 to index
  %c1 = arith.constant 1 : index
  %c21 = arith.constant 21 : index
  gpu.launch_func @kernels::@cp blocks in (%gx, %gy, %c1) threads in (%c21, %c1, %c1) args(%A : !t, %B : !t)
  return
}
}
