// Own kernels, written without the types that follow: what variants.py changes, one type at a time.
!copy = !cute_nvgpu.atom.universal_copy<f16, 128 b>
!async = !cute_nvgpu.atom.simt_async_copy<f16, cache = global, 128 b>
!mma = !cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >
!ldsm = !cute_nvgpu.atom.ldsm<val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = 4, n>

func.func @layouts(%l: !cute.layout<"(?,(4,8)):(?{i64},(1,4))">, %c: !cute.coord<"(?,_)">, %n: i32) {
  %s = cute.get_shape(%l)
  %d = cute.get_stride(%l)
  %m = cute.get<[1]>(%l)
  %z = cute.size(%l)
  %k = cute.cosize(%m)
  %e = cute.slice(%l, %c)
  %f = cute.flatten(%l)
  %t = cute.static : !cute.tile<"[16:1;8:1]">
  %p = cute.static : !cute.layout<"(64,32):(32,1)">
  %q = cute.zipped_divide(%p, %t)
  %r = cute.logical_divide(%p, %t)
  %u = cute.tiled_divide(%p, %t)
  %v = cute.composition(%p, %m)
  %w = cute.coalesce(%q)
  %x = cute.group_modes<0, 2>(%u)
  %y = cute.right_inverse(%p)
  %a = cute.make_shape(%n, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %b = cute.make_identity_layout(%a)
  %g = cute.make_layout(%a)
  %h = cute.make_coord(%n, %n) : (i32, i32) -> !cute.coord<"(?,?)">
  %i = cute.crd2idx(%h, %a)
  %j = cute.ceil_div(%a, %t)
  %o = cute.get_hier_coord(%n, %p)
  return
}

func.func @tensors(%p: !cute.ptr<f16, gmem, align<16>>, %b: !cute.ptr<i8, smem, align<1024>>, %ld: !cute.i64<divby 8>, %n: i32, %i: i32, %x: f16, %y: vector<8xf16>) {
  %sh = cute.make_shape(%n) : (i32) -> !cute.shape<"(?,128)">
  %st = cute.make_stride(%ld) : (!cute.i64<divby 8>) -> !cute.stride<"(?{i64 div=8},1)">
  %l = cute.make_layout(%sh, %st)
  %t = cute.make_view(%p, %l)
  %it = cute.get_iter(%t)
  %gl = cute.get_layout(%t)
  %tile = cute.static : !cute.tile<"[16:1;64:1]">
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,0)">
  %bl = cute.local_tile(%t, %tile, %c)
  %z = cute.zipped_divide(%t, %tile)
  %rc = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
  %row = cute.slice(%t, %rc)
  %off = cute.make_int_tuple(%i) : (i32) -> !cute.int_tuple<"?">
  %q = cute.add_offset(%p, %off)
  %s16 = cute.recast_iter(%b) : (!cute.ptr<i8, smem, align<1024>>) -> !cute.ptr<f16, smem, align<1024>, S<3,4,3>>
  %sl = cute.static : !cute.layout<"(8,64):(64,1)">
  %sv = cute.make_view(%s16, %sl)
  %id = cute.make_identity_tensor(%sh)
  %ci = cute.get_iter(%id)
  %cd = cute.deref_arith_tuple_iter(%ci)
  %cv = cute.local_tile(%id, %tile, %c)
  %rl = cute.static : !cute.layout<"(8,2):(1,8)">
  %r = cute.memref.alloca(%rl) : (!cute.layout<"(8,2):(1,8)">) -> !cute.memref<f16, rmem, align<32>, "(8,2):(1,8)">
  %ec = cute.static : !cute.coord<"(3,1)">
  %v = cute.memref.load(%r, %ec)
  cute.memref.store(%r, %ec, %x)
  %w = cute.memref.load_vec(%r)
  cute.memref.store_vec(%w, %r)
  cute.fill(%r, %x)
  %ad = cute.ptrtoint(%b) : (!cute.ptr<i8, smem, align<1024>>) -> i32
  %as = cute.apply_swizzle(%s16) : (!cute.ptr<f16, smem, align<1024>, S<3,4,3>>) -> !cute.ptr<f16, smem, align<1024>>
  %pv = cute.ptr.load(%p) : (!cute.ptr<f16, gmem, align<16>>) -> vector<8xf16>
  cute.ptr.store(%p, %y) : (!cute.ptr<f16, gmem, align<16>>, vector<8xf16>) -> ()
  %dv = cute.fast_divmod.create_divisor(%n) : (i32) -> !cute.fast_divmod_divisor<32>
  %qu, %re = cute.fast_divmod.compute(%i, %dv) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  %mu = cute.assume(%n) : (i32) -> !cute.i32<divby 8>
  return
}

func.func @atoms(%g: !cute.memref<f16, gmem, align<16>, "(128,32):(32,1)">, %s: !cute.memref<f16, smem, align<16>, "(128,32):(32,1)">, %i: !cute.coord<"?">,
                 %pred: !cute.memref<i8, rmem, align<32>, "(1,4,1):(0,1,0)">, %ptr: !cute.ptr<f16, smem, align<16>>, %d: !cute.ptr<i128, smem>, %e: !cute.ptr<i128, gmem>,
                 %x: i32, %y: f32, %flag: i1) {
  %a = cute.make_atom() : () -> !async
  %tv = cute.static : !cute.layout<"((4,32),8):((256,1),32)">
  %tt = cute.static : !cute.tile<"[32:1;32:1]">
  %tc = cute.make_tiled_copy(%a, %tv, %tt)
  %src = cute.tiled.copy.partition_S(%tc, %g, %i)
  %dst = cute.tiled.copy.partition_D(%tc, %s, %i)
  cute.copy(%tc, %src, %dst)
  cute.copy(%tc, %src, %dst, %pred)
  %m = cute.make_atom() : () -> !mma
  %at = cute.static : !cute.layout<"(2,2,1):(1,2,0)">
  %pm = cute.static : !cute.tile<"[32:1;32:1;16:1]">
  %tm = cute.make_tiled_mma(%m, %at, %pm)
  %pa = cute.tiled.mma.partition A (%tm, %s, %i)
  %fa = cute.mma.make_fragment A (%tm, %pa)
  %pb = cute.tiled.mma.partition B (%tm, %s, %i)
  %fb = cute.mma.make_fragment B (%tm, %pb)
  %cs = cute.static : !cute.shape<"(128,128)">
  %ps = cute.tiled.mma.partition_shape C (%tm, %cs)
  %fc = cute.mma.make_fragment C (%tm, %ps)
  cute.gemm(%tm, %fc, %fa, %fb, %fc)
  %la = cute.make_atom() : () -> !ldsm
  %lc = cute.make_tiled_copy_A(%la, %tm)
  %ls = cute.tiled.copy.partition_S(%lc, %s, %i)
  %lf = cute.tiled.copy.retile(%lc, %fa)
  cute.copy(%lc, %ls, %lf)
  cute_nvgpu.arch.copy.SM80.cp_async<{cache_mode = #cute_nvgpu.load_cache_mode<global>}>(%d, %e, %flag) : (!cute.ptr<i128, smem>, !cute.ptr<i128, gmem>, i1) -> ()
  %v = cute_nvgpu.arch.copy.ldsm<{matrix_shape = #cute.shape<"(8,8)">, num_matrices = 4 : i32, sz_pattern = #cute_nvgpu.ldsm_sz_pattern<u16>}>(%ptr) : (!cute.ptr<f16, smem, align<16>>) -> vector<4xi32>
  %d0, %d1, %d2, %d3 = cute_nvgpu.arch.mma.SM80<{a_type = f16, b_type = f16, operandSegmentSizes = array<i32: 4, 2, 4>, shape_MNK = #cute.shape<"(16,8,16)">}>
      (%x, %x, %x, %x, %x, %x, %y, %y, %y, %y) : (i32, i32, i32, i32, i32, i32, f32, f32, f32, f32) -> (f32, f32, f32, f32)
  return
}
