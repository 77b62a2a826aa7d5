// RUN: cute-opt %s -cute-to-base -base-prepare -one-shot-convert-to-llvm | mlir-cpu-runner -e main -entry-point-result=void | FileCheck %s

// Quotients and remainders by prepared divisors are those of a division, for unsigned numbers of 32 and 64 bits.
!D = !cute.fast_divmod_divisor<32>
!E = !cute.fast_divmod_divisor<64>

// 1 where they are not.
func.func private @wrong32(%n: i32, %p: !D, %d: i32) -> i32 {
  %q, %r = cute.fast_divmod.compute(%n, %p) : (i32, !D) -> (i32, i32)
  %eq = arith.divui %n, %d : i32
  %er = arith.remui %n, %d : i32
  %a = arith.cmpi ne, %q, %eq : i32
  %b = arith.cmpi ne, %r, %er : i32
  %c = arith.ori %a, %b : i1
  %w = arith.extui %c : i1 to i32
  return %w : i32
}
func.func private @wrong64(%n: i64, %p: !E, %d: i64) -> i32 {
  %q, %r = cute.fast_divmod.compute(%n, %p) : (i64, !E) -> (i64, i64)
  %eq = arith.divui %n, %d : i64
  %er = arith.remui %n, %d : i64
  %a = arith.cmpi ne, %q, %eq : i64
  %b = arith.cmpi ne, %r, %er : i64
  %c = arith.ori %a, %b : i1
  %w = arith.extui %c : i1 to i32
  return %w : i32
}

// The k-th number of 400: around each power of two, from 2^0 - 4 on; then any.
func.func private @number(%k: i64) -> i64 {
  %c8 = arith.constant 8 : i64
  %c4 = arith.constant 4 : i64
  %one = arith.constant 1 : i64
  %c63 = arith.constant 63 : i64
  %exponent = arith.divui %k, %c8 : i64
  %place = arith.remui %k, %c8 : i64
  %clamped = arith.minui %exponent, %c63 : i64
  %power = arith.shli %one, %clamped : i64
  %off = arith.subi %place, %c4 : i64
  %edge = arith.addi %power, %off : i64
  %c1 = arith.constant 6364136223846793005 : i64
  %c2 = arith.constant 1442695040888963407 : i64
  %x = arith.muli %k, %c1 : i64
  %y = arith.addi %x, %c2 : i64
  %c29 = arith.constant 29 : i64
  %z = arith.shrui %y, %c29 : i64
  %any = arith.xori %y, %z : i64
  %is_edge = arith.cmpi ule, %exponent, %c63 : i64
  %r = arith.select %is_edge, %edge, %any : i64
  return %r : i64
}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %count = arith.constant 800 : index
  %none = arith.constant 0 : i32
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %wrong, %seen = scf.for %i = %c0 to %count step %c1 iter_args(%w0 = %none, %s0 = %none) -> (i32, i32) {
    %ki = arith.index_cast %i : index to i64
    %di = func.call @number(%ki) : (i64) -> i64
    %zd = arith.cmpi eq, %di, %zero : i64
    %d64 = arith.select %zd, %one, %di : i64
    %t = arith.trunci %di : i64 to i32
    %zt = arith.cmpi eq, %t, %none : i32
    %one32 = arith.constant 1 : i32
    %d32 = arith.select %zt, %one32, %t : i32
    %p32 = cute.fast_divmod.create_divisor(%d32) : (i32) -> !D
    %p64 = cute.fast_divmod.create_divisor(%d64) : (i64) -> !E
    %w1, %s1 = scf.for %j = %c0 to %count step %c1 iter_args(%w = %w0, %s = %s0) -> (i32, i32) {
      %kj = arith.index_cast %j : index to i64
      %n64 = func.call @number(%kj) : (i64) -> i64
      %n32 = arith.trunci %n64 : i64 to i32
      %a = func.call @wrong32(%n32, %p32, %d32) : (i32, !D, i32) -> i32
      %b = func.call @wrong64(%n64, %p64, %d64) : (i64, !E, i64) -> i32
      // a multiple of the divisor, and one less
      %q = arith.divui %n32, %d32 : i32
      %m = arith.muli %q, %d32 : i32
      %l = arith.subi %m, %one32 : i32
      %c = func.call @wrong32(%m, %p32, %d32) : (i32, !D, i32) -> i32
      %d = func.call @wrong32(%l, %p32, %d32) : (i32, !D, i32) -> i32
      %ab = arith.addi %a, %b : i32
      %cd = arith.addi %c, %d : i32
      %abcd = arith.addi %ab, %cd : i32
      %next = arith.addi %w, %abcd : i32
      %more = arith.addi %s, %one32 : i32
      scf.yield %next, %more : i32, i32
    }
    scf.yield %w1, %s1 : i32, i32
  }
  // CHECK: {{^}}(0,640000){{$}}
  %result = cute.make_int_tuple(%wrong, %seen) : (i32, i32) -> !cute.int_tuple<"(?,?)">
  cute.print(%result) : !cute.int_tuple<"(?,?)">
  return
}
