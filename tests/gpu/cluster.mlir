// Each block of a cluster of two writes its number into the other's shared memory, then stores what it found.
gpu.module @kernels {
  llvm.mlir.global internal @slot() {addr_space = 3 : i32, alignment = 4 : i64} : i32
  gpu.func @swap(%out: !llvm.ptr<1> {cute.name = "out", cute.dtype = i32}) kernel
      attributes {nvvm.cluster_dim = array<i32: 2, 1, 1>} {
    %one = arith.constant 1 : i32
    %zero = arith.constant 0 : i32
    %block = nvvm.read.ptx.sreg.ctaid.x : i32
    %rank = nvvm.read.ptx.sreg.cluster.ctaid.x : i32
    %thread = nvvm.read.ptx.sreg.tid.x : i32
    %other = arith.xori %rank, %one : i32
    %slot = llvm.mlir.addressof @slot : !llvm.ptr<3>
    %address = llvm.ptrtoint %slot : !llvm.ptr<3> to i32
    %first = arith.cmpi eq, %thread, %zero : i32
    // The other block has to be there before its memory is written, and the writes before it reads.
    nvvm.cluster.arrive
    nvvm.cluster.wait
    scf.if %first {
      %remote = llvm.inline_asm "mapa.shared::cluster.u32 $0, $1, $2;", "=r,r,r" %address, %other : (i32, i32) -> i32
      llvm.inline_asm has_side_effects "st.shared::cluster.u32 [$0], $1;", "r,r,~{memory}" %remote, %block : (i32, i32) -> ()
    }
    nvvm.cluster.arrive
    nvvm.cluster.wait
    scf.if %first {
      %v = llvm.load volatile %slot : !llvm.ptr<3> -> i32
      %to = llvm.getelementptr %out[%block] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
      llvm.store %v, %to : i32, !llvm.ptr<1>
    }
    gpu.return
  }
}
