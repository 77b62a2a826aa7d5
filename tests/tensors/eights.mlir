// 8-bit floats and bf16: converted, scaled, stored; i1 flags.
// arch: sm_90a
// run: -p k --tensor A=e4m3:256:normal --tensor B=bf16:256:normal --tensor C=e5m2:256 --tensor F=i1:256 --expect 'C=e5m2(bf16(A*B))' --expect 'F=A<B?1:0'
!a = !cute.memref<f8E4M3FN, gmem, align<4>, "(256):(1)">
!b = !cute.memref<bf16, gmem, align<8>, "(256):(1)">
!c = !cute.memref<f8E5M2, gmem, align<4>, "(256):(1)">
!f = !cute.memref<i8, gmem, align<4>, "(256):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !a, %B: !b, %C: !c, %F: !f) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %tile = cute.make_tile 4
    %tA = cute.local_tile %A, %tile, (%t)
    %tB = cute.local_tile %B, %tile, (%t)
    %tC = cute.local_tile %C, %tile, (%t)
    %tF = cute.local_tile %F, %tile, (%t)
    %rA = cute.make_fragment_like %tA
    %rB = cute.make_fragment_like %tB
    %rC = cute.make_fragment_like %tC
    %rF = cute.make_fragment_like %tF
    %ca = cute.make_atom : !cute_nvgpu.atom.universal_copy<f8E4M3FN>
    %cb = cute.make_atom : !cute_nvgpu.atom.universal_copy<bf16>
    %cc = cute.make_atom : !cute_nvgpu.atom.universal_copy<f8E5M2>
    %cf = cute.make_atom : !cute_nvgpu.atom.universal_copy<i8>
    cute.copy %ca, %tA, %rA
    cute.copy %cb, %tB, %rB
    %va = cute.memref.load_vec %rA
    %vb = cute.memref.load_vec %rB
    %xa = arith.extf %va : vector<4xf8E4M3FN> to vector<4xbf16>
    %m = arith.mulf %xa, %vb : vector<4xbf16>
    %vc = arith.truncf %m : vector<4xbf16> to vector<4xf8E5M2>
    cute.memref.store_vec %vc, %rC
    %less = arith.cmpf olt, %xa, %vb : vector<4xbf16>
    %flag = arith.extui %less : vector<4xi1> to vector<4xi8>
    cute.memref.store_vec %flag, %rF
    cute.copy %cc, %rC, %tC
    cute.copy %cf, %rF, %tF
    gpu.return
  }
}
func.func @k(%A: !a, %B: !b, %C: !c, %F: !f) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : !a, %B : !b, %C : !c, %F : !f)
  return
}
}
