// 8 and 16 elements of 8 bits that are computed are stored at once where they are aligned, as they are loaded.
// RUN: cute-ptx -arch sm_90a -D N=8 -D T=f8E4M3FN %s | FileCheck %s --check-prefix=EIGHT
// RUN: cute-ptx -arch sm_90a -D N=8 -D T=f8E5M2 %s | FileCheck %s --check-prefix=EIGHT
// RUN: cute-ptx -arch sm_90a -D N=16 -D T=f8E4M3FN %s | FileCheck %s --check-prefix=SIXTEEN

// EIGHT: .entry k
// EIGHT-NOT: st.global
// EIGHT: st.global.{{u64|v2.u32}}
// EIGHT-NOT: st.global
// EIGHT: st.global.{{u64|v2.u32}}
// EIGHT-NOT: st.global

// SIXTEEN: .entry k
// SIXTEEN-NOT: st.global
// SIXTEEN: st.global.{{v2.u64|v4.u32}}
// SIXTEEN-NOT: st.global
// SIXTEEN: st.global.{{v2.u64|v4.u32}}
// SIXTEEN-NOT: st.global
gpu.module @m {
  gpu.func @k(%x: !cute.memref<f32, gmem, align<16>, "(?,${N}):(${N},1)">, %y: !cute.memref<${T}, gmem, align<16>, "(?,${N}):(${N},1)">,
              %z: !cute.memref<i8, gmem, align<16>, "(?,${N}):(${N},1)">) kernel attributes {nvvm.reqntid = array<i32: 32, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %a = cute.slice %x, (%t, _)
    %v = cute.memref.load_vec %a
    %q = arith.truncf %v : vector<${N}xf32> to vector<${N}x${T}>
    %b = cute.slice %y, (%t, _)
    cute.memref.store_vec %q, %b
    %i = arith.fptosi %v : vector<${N}xf32> to vector<${N}xi8>
    %c = cute.slice %z, (%t, _)
    cute.memref.store_vec %i, %c
    gpu.return
  }
}
