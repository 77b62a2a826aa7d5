// RUN: cute-opt %s -split-input-file -cute-expand-ops -cute-nvgpu-copy-lowering -cute-nvgpu-mma-lowering -cute-to-base -verify-diagnostics

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!v = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">
!d = !cute.memref<f32, rmem, "((2,2,1),1,1):((1,2,4),0,0)">
func.func @in_place(%m: !ss, %a: !v, %b: !v) {
  %l = cute.static : !cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">
  %c = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !d
  %d = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !d
  // expected-error@+1 {{expects C and D to be the same tensor: SM90_64x8x16_F32F16F16_SS accumulates in place}}
  cute.gemm %m, %d, %a, %b, %c
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!v = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">
func.func @argument(%m: !ss, %a: !v, %b: !v, %d: !cute.memref<f32, rmem, "((2,2,1),1,1):((1,2,4),0,0)">) {
  // expected-error@+1 {{expects an accumulator in registers that is created in this function}}
  cute.gemm %m, %d, %a, %b, %d
  return
}

// -----

!int = !cute_nvgpu.sm90.mma<64x8x32, ab_major = (k, k), elem_type = (si8, si8, si32), frag_kind = ss>
func.func @sign_of_integers(%m: !int, %on: i1) {
  // expected-error@+1 {{expects a floating-point atom for the field 'neg_a': integer wgmma cannot negate its operands}}
  %n = cute_nvgpu.atom.set_value(%m, %on) {field = neg_a}
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!v = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">
func.func @sign_that_is_not_known(%m: !ss, %on: i1, %a: !v, %l: !cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) {
  %d = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !cute.memref<f32, rmem, align<32>, "((2,2,1),1,1):((1,2,4),0,0)">
  %n = cute_nvgpu.atom.set_value(%m, %on) {field = neg_b}
  // expected-error@+1 {{expects the field 'neg_b' to be a constant, equal on all paths: the sign is part of the instruction}}
  cute.gemm %n, %d, %a, %a, %d
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!v = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">
func.func @sign_of_one_way(%m: !ss, %which: i1, %a: !v, %l: !cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) {
  %d = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !cute.memref<f32, rmem, align<32>, "((2,2,1),1,1):((1,2,4),0,0)">
  %true = arith.constant true
  %n = cute_nvgpu.atom.set_value(%m, %true) {field = neg_a}
  %r = scf.if %which -> !ss {
    scf.yield %n : !ss
  } else {
    scf.yield %m : !ss
  }
  // expected-error@+1 {{expects the field 'neg_a' to be a constant, equal on all paths}}
  cute.gemm %r, %d, %a, %a, %d
  return
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
func.func private @product(!ss)
func.func @sign_that_is_lost(%m: !ss) -> i1 {
  %true = arith.constant true
  %n = cute_nvgpu.atom.set_value(%m, %true) {field = neg_a}
  // expected-error@+1 {{expects an atom with the field 'neg_a' to remain in its function and outside of blocks}}
  call @product(%n) : (!ss) -> ()
  return %true : i1
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
func.func @sign_that_is_asked_for(%m: !ss, %on: i1) -> i1 {
  %n = cute_nvgpu.atom.set_value(%m, %on) {field = neg_a}
  // expected-error@+1 {{expects the field 'neg_a' to be a constant where it is read}}
  %is = cute_nvgpu.atom.get_value(%n) {field = neg_a}
  return %is : i1
}

// -----

!ss = !cute_nvgpu.sm90.mma<64x8x16, ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss>
!v = !cute_nvgpu.smem_desc_view<!cute_nvgpu.smem_desc, "(1,1,1):(0,0,0)">
!d = !cute.memref<f32, rmem, align<32>, "((2,2,1),1,1):((1,2,4),0,0)">
func.func @one_of_two(%m: !ss, %a: !v, %b: !v, %l: !cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">, %n: index, %which: i1) {
  // expected-note@+1 {{one of them is created here}}
  %c = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !d
  // expected-note@+1 {{another one is created here}}
  %d = cute.memref.alloca(%l) : (!cute.layout<"((2,2,1),1,1):((1,2,4),0,0)">) -> !d
  %x, %y = scf.for %i = %n to %n step %n iter_args(%e = %c, %f = %d) -> (!d, !d) {
    // expected-error@+1 {{'cute.gemm' op expects the same accumulator on all paths, got one of several: registers cannot be selected at run time}}
    cute.gemm %m, %e, %a, %b, %e
    scf.yield %f, %e : !d, !d
  }
  %z = scf.if %which -> !d {
    scf.yield %c : !d
  } else {
    scf.yield %d : !d
  }
  // expected-error@+1 {{expects the same accumulator on all paths, got one of several}}
  cute.gemm %m, %z, %a, %b, %z
  return
}
