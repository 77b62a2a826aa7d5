// run: -p w --tensor A=i32:64:iota --tensor B=i32:64x8 --expect 'B=j==0?sum(q,32,A[floor_div(i,32)*32+q]):j==1?floor_div(i,32)*32+31:j==2?floor_div(i,32)*32:j==3?A[floor_div(i,32)*32+5]:j==4?1:j==5?16:j==6?A[floor_div(i,32)*32+mod(i+1,32)]:A[i-mod(i,2)+1-mod(i,2)]'
!a = !cute.memref<i32, gmem, "(64):(1)">
!b = !cute.memref<i32, gmem, "(64,8):(8,1)">
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @w(%A: !a, %B: !b) kernel attributes {nvvm.reqntid = array<i32: 64, 1, 1>} {
    %t = nvvm.read.ptx.sreg.tid.x : i32
    %c5 = arith.constant 5 : i32
    %c1 = arith.constant 1 : i32
    %v = cute.memref.load %A[%t]
    %sum = cute_nvgpu.arch.warp_all_reduce<add> %v
    %mx = cute_nvgpu.arch.warp_all_reduce<max> %v
    %mn = cute_nvgpu.arch.warp_all_reduce<min> %v
    %bc = cute_nvgpu.arch.warp_broadcast %v, %c5
    %odd = arith.andi %v, %c1 : i32
    %isodd = arith.cmpi eq, %odd, %c1 : i32
    %any = cute_nvgpu.arch.vote<any> %isodd
    %anyi = arith.extui %any : i1 to i32
    %bal = cute_nvgpu.arch.vote<ballot> %isodd
    %pop = math.ctpop %bal : i32
    %c31 = arith.constant 31 : i32
    %t1 = arith.addi %t, %c1 : i32
    %src = arith.andi %t1, %c31 : i32
    %sh = cute_nvgpu.arch.shuffle<idx> %v, %src
    %bf = cute_nvgpu.arch.shuffle<bfly> %v, %c1
    cute.store %sum, %B[%t, 0]
    cute.store %mx, %B[%t, 1]
    cute.store %mn, %B[%t, 2]
    cute.store %bc, %B[%t, 3]
    cute.store %anyi, %B[%t, 4]
    cute.store %pop, %B[%t, 5]
    cute.store %sh, %B[%t, 6]
    cute.store %bf, %B[%t, 7]
    gpu.return
  }
}
func.func @w(%A: !a, %B: !b) {
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  gpu.launch_func @kernels::@w blocks in (%c1, %c1, %c1) threads in (%c64, %c1, %c1) args(%A : !a, %B : !b)
  return
}
}
