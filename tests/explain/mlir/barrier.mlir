// A sum over the block in eight steps for each row. Cured: by shuffles of each warp.
gpu.module @kernels {
  memref.global "private" @buffer : memref<256xf32, #gpu.address_space<workgroup>>
  gpu.func @slow(%a: memref<?x?xf32>, %out: memref<?xf32>) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %c128 = arith.constant 128 : index
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %s = memref.get_global @buffer : memref<256xf32, #gpu.address_space<workgroup>>
    %n = memref.dim %a, %c0 : memref<?x?xf32>
    scf.for %r = %bx to %n step %c128 {
      %x = memref.load %a[%r, %tx] : memref<?x?xf32>
      memref.store %x, %s[%tx] : memref<256xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %e = scf.while (%w = %c128) : (index) -> index {
        %more = arith.cmpi ugt, %w, %c0 : index
        scf.condition(%more) %w : index
      } do {
      ^bb0(%w: index):
        %in = arith.cmpi ult, %tx, %w : index
        scf.if %in {
          %o = arith.addi %tx, %w : index
          %p = memref.load %s[%tx] : memref<256xf32, #gpu.address_space<workgroup>>
          %q = memref.load %s[%o] : memref<256xf32, #gpu.address_space<workgroup>>
          %t = arith.addf %p, %q : f32
          memref.store %t, %s[%tx] : memref<256xf32, #gpu.address_space<workgroup>>
        }
        gpu.barrier // FIND barrier
        %next = arith.divui %w, %c2 : index
        scf.yield %next : index
      }
      %first = arith.cmpi eq, %tx, %c0 : index
      scf.if %first {
        %t = memref.load %s[%c0] : memref<256xf32, #gpu.address_space<workgroup>>
        memref.store %t, %out[%r] : memref<?xf32>
      }
    }
    gpu.return
  }
  gpu.func @cured(%a: memref<?x?xf32>, %out: memref<?xf32>) kernel
      attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c32 = arith.constant 32 : index
    %c1024 = arith.constant 1024 : index
    %w1 = arith.constant 1 : i32
    %w2 = arith.constant 2 : i32
    %w4 = arith.constant 4 : i32
    %w8 = arith.constant 8 : i32
    %w16 = arith.constant 16 : i32
    %width = arith.constant 32 : i32
    %zero = arith.constant 0.0 : f32
    %tx = gpu.thread_id x
    %bx = gpu.block_id x
    %lane = arith.remui %tx, %c32 : index
    %warp = arith.divui %tx, %c32 : index
    %n = memref.dim %a, %c0 : memref<?x?xf32>
    %r0 = arith.muli %bx, %c8 : index
    %row = arith.addi %r0, %warp : index
    scf.for %r = %row to %n step %c1024 {
      %sum = scf.for %k = %c0 to %c8 step %c1 iter_args(%s = %zero) -> (f32) {
        %j0 = arith.muli %k, %c32 : index
        %j = arith.addi %j0, %lane : index
        %x = memref.load %a[%r, %j] : memref<?x?xf32>
        %t = arith.addf %s, %x : f32
        scf.yield %t : f32
      } {loop_annotation = #llvm.loop_annotation<unroll = <full = true>>}
      %o1, %v1 = gpu.shuffle xor %sum, %w16, %width : f32
      %s1 = arith.addf %sum, %o1 : f32
      %o2, %v2 = gpu.shuffle xor %s1, %w8, %width : f32
      %s2 = arith.addf %s1, %o2 : f32
      %o3, %v3 = gpu.shuffle xor %s2, %w4, %width : f32
      %s3 = arith.addf %s2, %o3 : f32
      %o4, %v4 = gpu.shuffle xor %s3, %w2, %width : f32
      %s4 = arith.addf %s3, %o4 : f32
      %o5, %v5 = gpu.shuffle xor %s4, %w1, %width : f32
      %s5 = arith.addf %s4, %o5 : f32
      %first = arith.cmpi eq, %lane, %c0 : index
      scf.if %first {
        memref.store %s5, %out[%r] : memref<?xf32>
      }
    }
    gpu.return
  }
}
