// y = the x of all ranks, one after the other, on all ranks: x is the rank's own n / ranks elements, y a table of each rank's n.
// Each rank stores its part to every peer. The blocks of a number meet before, as y must no longer be in use on the peers, and
// after, when it is complete.
// -D T: the elements; V: those of an access, which divide n / ranks. flags: 2 gridDim.x u32 for each rank, see meet.inc.
gpu.module @kernels {
//!include "meet.inc"
  gpu.func @all_gather(%x: !llvm.ptr<1> {cute.name = "x", cute.dtype = ${T}, llvm.readonly}, %y: !llvm.ptr<1> {cute.name = "y"},
                       %flags: !llvm.ptr<1> {cute.name = "flags"}, %n: i64 {cute.name = "n"},
                       %rank: i32 {cute.name = "rank"}, %ranks: i32 {cute.name = "ranks"}, %epoch: i32 {cute.name = "epoch"})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
//!include "places.inc"
    %begin = arith.muli %rank64, %part : i64

    func.call @meet(%flags, %block, %rank, %ranks, %epoch) : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()
    scf.for %own = %offset to %part step %step : i64 {
      %i = arith.muli %own, %v : i64
      %at = llvm.getelementptr %x[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, ${T}
      %a = llvm.load %at {alignment = ${V*BITS/8} : i64} : !llvm.ptr<1> -> vector<${V}x${T}>
      %g = arith.addi %begin, %own : i64
      %to = arith.muli %g, %v : i64
      scf.for %q = %c0 to %ranks step %c1 : i32 { // each rank begins with another peer
        %shifted = arith.addi %rank, %q : i32
        %p = arith.remui %shifted, %ranks : i32
        %entry = llvm.getelementptr %y[%p] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
        %base = llvm.load %entry : !llvm.ptr<1> -> !llvm.ptr<1>
        %to_at = llvm.getelementptr %base[%to] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, ${T}
        llvm.store %a, %to_at {alignment = ${V*BITS/8} : i64} : vector<${V}x${T}>, !llvm.ptr<1>
      }
    }
    func.call @meet(%flags, %after, %rank, %ranks, %epoch) : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()
    gpu.return
  }
}
// In an editor: -D T=bf16 -D BITS=16 -D V=8
