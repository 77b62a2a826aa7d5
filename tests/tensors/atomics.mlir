// Each atomic update of tensors in global and shared memory, at coordinates and indices, by 64 threads.
// run: -p atomics --tensor I=i32:4x4:ones --tensor L=i64:8:ones --tensor F=f32:8:ones --tensor D=f64:4:ones --tensor H=f16:4:ones --tensor B=bf16:4:ones --tensor P=f16:8:ones --tensor S=i32:8x8 --expect 'I=(i+4*j)==0?2017:((i+4*j)==1?-5:((i+4*j)==2?58:((i+4*j)==3?0:((i+4*j)==4?-1:((i+4*j)==5?0:((i+4*j)==6?63:((i+4*j)==7?65:((i+4*j)==8?5:((i+4*j)==9?7:((i+4*j)==10?5:((i+4*j)==11?100:((i+4*j)==12?2:((i+4*j)==13?193:((i+4*j)==14?65:(2081)))))))))))))))' --expect 'L=i==0?1697:(i==1?-5:(i==2?-1:(i==3?-63:(i==4?7:(i==5?8589934592:(i==6?1:(1)))))))' --expect 'F=i==0?1697:(i==1?-5:(i==2?58:(i==3?2:(i==4?9:(i==5?1:(i==6?1:(1)))))))' --expect 'D=i==0?1697:(i==1?58:(i==2?1:(1)))' --expect 'H=i==0?65:(i==1?-5:(i==2?9:(3)))' --expect 'B=i==0?65:(i==1?58:(i==2?1:(1)))' --expect 'P=mod(i,2)==0?17:33' --expect 'S=8*i+j+(j==0?64*i+36:0)'
!i = !cute.memref<i32, gmem, "(4,4):(4,1)">
!l = !cute.memref<i64, gmem, "(8):(1)">
!f = !cute.memref<f32, gmem, "(8):(1)">
!d = !cute.memref<f64, gmem, "(4):(1)">
!h = !cute.memref<f16, gmem, "(4):(1)">
!b = !cute.memref<bf16, gmem, "(4):(1)">
!p = !cute.memref<f16, gmem, align<4>, "(8):(1)">
!s = !cute.memref<i32, gmem, "(8,8):(8,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%I: !i, %L: !l, %F: !f, %D: !d, %H: !h, %B: !b, %P: !p, %S: !s) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %minus = arith.subi %t, %c5 : i32
    %twice = arith.addi %t, %t : i32
    %next = arith.addi %t, %c1 : i32
    // coordinates
    cute.atomic_add %t, %I[0, 0]
    cute.atomic_min %minus, %I[1, 0]
    cute.atomic_max %minus, %I[2, 0]
    cute.atomic_umin %minus, %I[3, 0]
    // indices
    cute.atomic_umax %minus, %I[4]
    cute.atomic_and %twice, %I[5]
    cute.atomic_or %t, %I[6]
    cute.atomic_xor %next, %I[7]
    cute.atomic_inc 9, %I[8]
    cute.atomic_dec 9, %I[9]
    cute.atomic_exch 5, %I[10]
    %found = cute.atomic_cas 1, 100, %I[11]
    %won = arith.cmpi eq, %found, %c1 : i32
    scf.if %won {
      cute.atomic_add 1, %I[12]
    }
    cute.atomic_add<acq_rel, cta> 1, %I[13]
    cute.atomic_add<sc, sys> 1, %I[13]
    cute.atomic_add<release> 1, %I[13]
    %ticket = cute.atomic_add 1, %I[14]
    cute.atomic_add %ticket, %I[15]
    // 64 bits
    %wide = arith.extsi %minus : i32 to i64
    cute.atomic_add %wide, %L[0]
    cute.atomic_min %wide, %L[1]
    cute.atomic_umax %wide, %L[2]
    cute.atomic_xor %wide, %L[3]
    cute.atomic_exch 7, %L[4]
    cute.atomic_cas 1, 8589934592, %L[5]
    // floats
    %x = arith.sitofp %minus : i32 to f32
    %y = arith.extf %x : f32 to f64
    %z = arith.truncf %x : f32 to f16
    %w = arith.truncf %x : f32 to bf16
    cute.atomic_add %x, %F[0]
    cute.atomic_min %x, %F[1]
    cute.atomic_max %x, %F[2]
    cute.atomic_exch 2, %F[3]
    cute.atomic_cas 1, 9, %F[4]
    cute.atomic_add %y, %D[0]
    cute.atomic_max %y, %D[1]
    cute.atomic_add 1, %H[0]
    cute.atomic_min %z, %H[1]
    cute.atomic_cas 1, 9, %H[2]
    cute.atomic_exch 3, %H[3]
    cute.atomic_add 1, %B[0]
    cute.atomic_max %w, %B[1]
    // a pair
    %c4 = arith.constant 4 : i32
    %pair = arith.remsi %t, %c4 : i32
    %first = arith.addi %pair, %pair : i32
    %even = cute.assume %first : !cute.i32<divby 2>
    %ones = arith.constant dense<[1.0, 2.0]> : vector<2xf16>
    cute.atomic_add %ones, %P[%even]
    // a swizzled tensor in shared memory
    %s = cute.alloc_smem i32, "S<2,0,3> o 0 o (8,8):(8,1)"
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %row = arith.divui %t, %c8 : i32
    %column = arith.remui %t, %c8 : i32
    cute.store %c0, %s[%row, %column]
    gpu.barrier
    cute.atomic_add %t, %s[%row, %column]
    cute.atomic_add %next, %s[%row, 0]
    gpu.barrier
    %sum = cute.load %s[%row, %column]
    cute.store %sum, %S[%row, %column]
    gpu.return
  }
}
func.func @atomics(%I: !i, %L: !l, %F: !f, %D: !d, %H: !h, %B: !b, %P: !p, %S: !s) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%I : !i, %L : !l, %F : !f, %D : !d, %H : !h, %B : !b, %P : !p, %S : !s)
  return
}
}
