// y = part r of x_0 + x_1 + ... on rank r: x is a table of each rank's n elements, y the rank's own n / ranks. The sums are in the
// order of the ranks. The blocks of a number meet before, as x must be complete on the peers, and after, as they still read it.
// -D T: f32, f16 or bf16; V: elements of an access, which divide n / ranks. flags: 2 gridDim.x u32 for each rank, see meet.inc.
gpu.module @kernels {
//!include "meet.inc"
  gpu.func @reduce_scatter(%x: !llvm.ptr<1> {cute.name = "x"}, %y: !llvm.ptr<1> {cute.name = "y", cute.dtype = ${T}, llvm.writeonly},
                           %flags: !llvm.ptr<1> {cute.name = "flags"}, %n: i64 {cute.name = "n"},
                           %rank: i32 {cute.name = "rank"}, %ranks: i32 {cute.name = "ranks"}, %epoch: i32 {cute.name = "epoch"})
      kernel attributes {nvvm.reqntid = array<i32: 256, 1, 1>} {
//!include "places.inc"
    %begin = arith.muli %rank64, %part : i64
    %zero = arith.constant dense<0.0> : vector<${V}xf32>

    func.call @meet(%flags, %block, %rank, %ranks, %epoch) : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()
    scf.for %own = %offset to %part step %step : i64 {
      %g = arith.addi %begin, %own : i64
      %i = arith.muli %g, %v : i64
      %sum = scf.for %p = %c0 to %ranks step %c1 iter_args(%so_far = %zero) -> (vector<${V}xf32>) : i32 {
        %entry = llvm.getelementptr %x[%p] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i64
        %base = llvm.load %entry : !llvm.ptr<1> -> !llvm.ptr<1>
        %at = llvm.getelementptr %base[%i] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, ${T}
        %a = llvm.load %at {alignment = ${V*BITS/8} : i64} : !llvm.ptr<1> -> vector<${V}x${T}>
        %wide = ${EXTEND} %a : vector<${V}x${T}> to vector<${V}xf32>
        %more = arith.addf %so_far, %wide : vector<${V}xf32>
        scf.yield %more : vector<${V}xf32>
      }
      %s = ${TRUNC} %sum : vector<${V}xf32> to vector<${V}x${T}>
      %to = arith.muli %own, %v : i64
      %to_at = llvm.getelementptr %y[%to] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, ${T}
      llvm.store %s, %to_at {alignment = ${V*BITS/8} : i64} : vector<${V}x${T}>, !llvm.ptr<1>
    }
    func.call @meet(%flags, %after, %rank, %ranks, %epoch) : (!llvm.ptr<1>, i32, i32, i32, i32) -> ()
    gpu.return
  }
}
// In an editor: -D T=bf16 -D BITS=16 -D V=8 -D EXTEND=arith.extf -D TRUNC=arith.truncf
