// Quotients and remainders by a divisor that the host function prepares, at the edges of 32 bits.
// run: -p k --tensor A=u32:64x8 --tensor Q=u32:64x8 --tensor R=u32:64x8 -D d=7 --expect 'Q=floor_div(A,7)' --expect 'R=mod(A,7)'
// run: -p k --tensor A=u32:64x8 --tensor Q=u32:64x8 --tensor R=u32:64x8 -D d=1 --expect 'Q=A' --expect 'R=0'
// run: -p k --tensor A=u32:64x8 --tensor Q=u32:64x8 --tensor R=u32:64x8 -D d=2147483647 --expect 'Q=floor_div(A,2147483647)' --expect 'R=mod(A,2147483647)'
// run: -p k --tensor A=u32:64x8 --tensor Q=u32:64x8 --tensor R=u32:64x8 -D d=641 --expect 'Q=floor_div(A,641)' --expect 'R=mod(A,641)'
!t = !cute.memref<i32, gmem, "(64,8):(8,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @k(%A: !t, %Q: !t, %R: !t, %d: !cute.fast_divmod_divisor<32>) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c8 = arith.constant 8 : i32
    %step = arith.constant 67108859 : i32
    %more = arith.constant 7654321 : i32
    scf.for %j = %c0 to %c8 step %c1 : i32 {
      %a = arith.muli %t, %step : i32
      %b = arith.muli %j, %more : i32
      %x = arith.addi %a, %b : i32
      %q, %r = cute.fast_divmod.compute %x, %d
      cute.store %x, %A[%t, %j]
      cute.store %q, %Q[%t, %j]
      cute.store %r, %R[%t, %j]
    }
    gpu.return
  }
}
func.func @k(%A: !t, %Q: !t, %R: !t, %d: i32) {
  %v = cute.fast_divmod.create_divisor %d
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@k blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : !t, %Q : !t, %R : !t, %v : !cute.fast_divmod_divisor<32>)
  return
}
}
