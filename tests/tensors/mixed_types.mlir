// run: -p mx --tensor A=i8:777:iota --tensor B=f16:777:normal --tensor C=bf16:777 --tensor D=f64:777 --expect 'C=bf16((A)+B)' --expect 'D=(A)*B'
!a = !cute.memref<i8, gmem, "(?):(1)">
!b = !cute.memref<f16, gmem, "(?):(1)">
!c = !cute.memref<bf16, gmem, "(?):(1)">
!d = !cute.memref<f64, gmem, "(?):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @mx(%A: !a, %B: !b, %C: !c, %D: !d) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %r = nvvm.read.ptx.sreg.ctaid.x : i32
    %s = cute.shape %A
    %id = cute.make_identity_tensor %s
    %tile = cute.make_tile 256
    %gA = cute.local_tile %A, %tile, (%r)
    %gB = cute.local_tile %B, %tile, (%r)
    %gC = cute.local_tile %C, %tile, (%r)
    %gD = cute.local_tile %D, %tile, (%r)
    %gI = cute.local_tile %id, %tile, (%r)
    %thr = cute.static "64:1"
    %tA = cute.local_partition %gA, %thr, %t
    %tB = cute.local_partition %gB, %thr, %t
    %tC = cute.local_partition %gC, %thr, %t
    %tD = cute.local_partition %gD, %thr, %t
    %tI = cute.local_partition %gI, %thr, %t
    %p = cute.predicate %tI, %s
    %rA = cute.make_fragment_like %tA
    %rB = cute.make_fragment_like %tB
    %rC = cute.make_fragment_like %tC
    %rD = cute.make_fragment_like %tD
    %c0 = arith.constant 0 : i8
    %f0 = arith.constant 0.0 : f16
    cute.fill %rA, %c0
    cute.fill %rB, %f0
    %ca = cute.make_atom : !cute_nvgpu.atom.universal_copy<i8>
    %cb = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16>
    %cc = cute.make_atom : !cute_nvgpu.atom.universal_copy<bf16>
    %cd = cute.make_atom : !cute_nvgpu.atom.universal_copy<f64>
    cute.copy %ca, %tA, %rA, %p
    cute.copy %cb, %tB, %rB, %p
    %va = cute.memref.load_vec %rA
    %vb = cute.memref.load_vec %rB
    %fa = arith.sitofp %va : vector<4xi8> to vector<4xf32>
    %fb = arith.extf %vb : vector<4xf16> to vector<4xf32>
    %sum = arith.addf %fa, %fb : vector<4xf32>
    %vc = arith.truncf %sum : vector<4xf32> to vector<4xbf16>
    cute.memref.store_vec %vc, %rC
    %da = arith.sitofp %va : vector<4xi8> to vector<4xf64>
    %db = arith.extf %vb : vector<4xf16> to vector<4xf64>
    %pr = arith.mulf %da, %db : vector<4xf64>
    cute.memref.store_vec %pr, %rD
    cute.copy %cc, %rC, %tC, %p
    cute.copy %cd, %rD, %tD, %p
    gpu.return
  }
}
func.func @mx(%A: !a, %B: !b, %C: !c, %D: !d) {
  %s = cute.size %A
  %b = cute.ceil_div %s, 256
  %x = cute.get_scalars %b
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@mx blocks in (%gx, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : !a, %B : !b, %C : !c, %D : !d)
  return
}
}
