// run: -p layernorm --tensor X=f16:5x512:normal --tensor Y=f16:5x512 --tensor M=5 -D eps=0.00001 --expect 'M=mean(q,X[i,q])'
// run: -p layernorm --tensor X=f16:5x512:520,1:normal --tensor Y=f16:5x512:768,1 --tensor M=5 -D eps=0.00001 --expect 'Y=(X[i,j]-mean(q,X[i,q]))*rsqrt(mean(q,X[i,q]*X[i,q])-mean(q,X[i,q])*mean(q,X[i,q])+0.00001)'
!x = !cute.memref<f16, gmem, align<16>, "(?,512):(?{i64 div=8},1)">
!m = !cute.memref<f32, gmem, "(?):(1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @layernorm(%X: !x, %Y: !x, %M: !m, %eps: f32) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %row = nvvm.read.ptx.sreg.ctaid.x : i32
    %c5 = arith.constant 5 : i32
    %c0 = arith.constant 0 : i32
    %n = arith.constant 512.0 : f32
    %atom = cute.make_atom : !cute_nvgpu.atom.universal_copy<f16, 128 b>
    %x = cute.slice %X, (%row, _)
    %y = cute.slice %Y, (%row, _)
    %xt = cute.zipped_divide %x, (8)
    %yt = cute.zipped_divide %y, (8)
    %tx = cute.slice %xt, (_, %t)
    %ty = cute.slice %yt, (_, %t)
    %r = cute.make_fragment_like %tx
    cute.copy %atom, %tx, %r
    %h = cute.memref.load_vec %r
    %f = arith.extf %h : vector<8xf16> to vector<8xf32>
    %ff = arith.mulf %f, %f : vector<8xf32>
    %z = arith.constant 0.0 : f32
    %s0 = vector.reduction <add>, %f, %z : vector<8xf32> into f32
    %q0 = vector.reduction <add>, %ff, %z : vector<8xf32> into f32
    %s1 = cute_nvgpu.arch.warp_all_reduce<add> %s0
    %q1 = cute_nvgpu.arch.warp_all_reduce<add> %q0
    %smem = cute_nvgpu.arch.get_dyn_smem() : () -> !cute.ptr<i8, smem, align<1024>>
    %p = cute.recast_iter %smem : f32
    %sm = cute.make_view %p, "(2,2):(1,2)"
    %warp = arith.shrui %t, %c5 : i32
    %c31 = arith.constant 31 : i32
    %lane = arith.andi %t, %c31 : i32
    %first = arith.cmpi eq, %lane, %c0 : i32
    scf.if %first {
      cute.store %s1, %sm[0, %warp]
      cute.store %q1, %sm[1, %warp]
    }
    gpu.barrier
    %sa = cute.memref.load %sm[0, 0]
    %sb = cute.memref.load %sm[0, 1]
    %qa = cute.memref.load %sm[1, 0]
    %qb = cute.memref.load %sm[1, 1]
    %ss = arith.addf %sa, %sb : f32
    %qq = arith.addf %qa, %qb : f32
    %mean = arith.divf %ss, %n : f32
    %mq = arith.divf %qq, %n : f32
    %m2 = arith.mulf %mean, %mean : f32
    %var = arith.subf %mq, %m2 : f32
    %ve = arith.addf %var, %eps : f32
    %rs = math.rsqrt %ve : f32
    %vm = vector.broadcast %mean : f32 to vector<8xf32>
    %vr = vector.broadcast %rs : f32 to vector<8xf32>
    %d = arith.subf %f, %vm : vector<8xf32>
    %o = arith.mulf %d, %vr : vector<8xf32>
    %oh = arith.truncf %o : vector<8xf32> to vector<8xf16>
    cute.memref.store_vec %oh, %r
    cute.copy %atom, %r, %ty
    %tz = arith.cmpi eq, %t, %c0 : i32
    scf.if %tz {
      cute.store %mean, %M[%row]
    }
    gpu.return
  }
}
func.func @layernorm(%X: !x, %Y: !x, %M: !m, %eps: f32) {
  %s = cute.size<[0]> %X
  %x = cute.get_scalars %s
  %gx = arith.index_cast %x : i32 to index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %bytes = arith.constant 16 : i32
  gpu.launch_func @kernels::@layernorm blocks in (%gx, %c1, %c1) threads in (%c64, %c1, %c1) dynamic_shared_memory_size %bytes args(%X : !x, %Y : !x, %M : !m, %eps : f32)
  return
}
}
