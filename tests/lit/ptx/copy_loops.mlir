// Loops with copies by cp.async: an iteration advances one address of each tensor; the other addresses are at distances from it, without an induction
// variable of their own. So do loads of single elements under predicates. Beyond six rows, a row has a limit, the extent of K or the least integer, in place of a predicate.
// RUN: cute-ptx -arch sm_80 --schedule="stages=2 consumers=0 threads=128" -D M=128 -D SHAPE="(?{div=8},?)" -D STRIDE="(1,?{i64 div=8})" %s | FileCheck %s --check-prefixes=PTX,COLUMNS
// RUN: cute-ptx -arch sm_80 --schedule="stages=2 consumers=0 threads=128" -D M=64 -D SHAPE="(?,?{div=8})" -D STRIDE="(?{i64 div=8},1)" %s | FileCheck %s --check-prefixes=PTX,ROWS
// RUN: cute-ptx -arch sm_80 --schedule="stages=2 consumers=0 threads=128" -D M=64 -D SHAPE="(?,?)" -D STRIDE="(?{i64},1)" -D ALIGN=2 %s | FileCheck %s --check-prefixes=PTX,ODD

// PTX-LABEL: .entry product
// ROWS:        selp.b32 %r[[LIMIT:[0-9]+]], %r{{[0-9]+}}, -2147483648, %p{{[0-9]+}};
// PTX:         $L__BB0_{{[0-9]+}}:

// Adjacent threads copy 64 columns, a line; the other 64 columns of a row of K are 128 bytes away, in its address as in shared memory.
// COLUMNS:     mov.b64 %rd[[A:[0-9]+]], %rd[[NEXT:[0-9]+]];
// COLUMNS:     cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd[[A]]], 16, %p{{[0-9]+}};
// COLUMNS:     add.s64 %rd[[B:[0-9]+]], %rd[[A]], 128;
// COLUMNS:     cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd[[B]]], 16, %p{{[0-9]+}};
// COLUMNS:     add.s64 %rd[[C:[0-9]+]], %rd[[A]], %rd{{[0-9]+}};
// COLUMNS:     cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd[[C]]], 16, %p{{[0-9]+}};
// COLUMNS:     cp.async.commit_group;
// COLUMNS:     add.s64 %rd[[NEXT]], %rd[[NEXT]], %rd{{[0-9]+}};
// COLUMNS-NEXT: add.s64 %rd[[NEXT_B:[0-9]+]], %rd[[NEXT_B]], %rd{{[0-9]+}};
// COLUMNS-NOT: add.s64
// COLUMNS:     bra

// ROWS:        mov.b32 %r[[K:[0-9]+]], %r{{[0-9]+}};
// ROWS:        mul.wide.{{[su]}}32 %rd[[BY:[0-9]+]], %r[[K]], 2;
// ROWS:        add.s64 %rd[[A:[0-9]+]], %rd{{[0-9]+}}, %rd[[BY]];
// ROWS:        cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd[[A]]], 16, %p{{[0-9]+}};
// ROWS:        add.s64 %rd[[B:[0-9]+]], %rd[[A]], %rd{{[0-9]+}};
// ROWS:        cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd[[B]]], 16, %p{{[0-9]+}};
// ROWS:        add.s64 %rd{{[0-9]+}}, %rd{{[0-9]+}}, %rd[[BY]];
// ROWS:        setp.ge.s32 %p[[P:[0-9]+]], %r{{[0-9]+}}, %r[[LIMIT]];
// ROWS:        cp.async.cg.shared.global [%r{{[0-9]+}}], [%rd{{[0-9]+}}], 16, %p[[P]];
// ROWS:        cp.async.commit_group;
// ROWS-NOT:    add.s64
// ROWS:        bra

// Single elements of odd rows, loaded under predicates: each address is that of the row above plus one step.
// ODD:         selp.b32 %r[[LIMIT:[0-9]+]], %r{{[0-9]+}}, -2147483648, %p{{[0-9]+}};
// ODD:         mov.b64 %rd[[A:[0-9]+]], %rd{{[0-9]+}};
// ODD:         ld.global.b16 %rs{{[0-9]+}}, [%rd[[A]]];
// ODD:         add.s64 %rd[[B:[0-9]+]], %rd[[A]], %rd[[STEP:[0-9]+]];
// ODD:         ld.global.b16 %rs{{[0-9]+}}, [%rd[[B]]];
// ODD:         add.s64 %rd[[C:[0-9]+]], %rd[[B]], %rd[[STEP]];
// ODD-NOT:     mul
// ODD:         ld.global.b16 %rs{{[0-9]+}}, [%rd[[C]]];
// ODD:         setp.ge.s32 %p{{[0-9]+}}, %r{{[0-9]+}}, %r[[LIMIT]];
//!param ALIGN = 16
!t = !cute.memref<bf16, gmem, align<${ALIGN}>, "${SHAPE}:${STRIDE}">
!D = !cute.memref<f32, gmem, align<16>, "(?,?{div=4}):(?{i64 div=4},1)">
!sum = tensor<${M}x64xf32>
gpu.module @m {
  gpu.func @product(%A: !t, %B: !t, %D: !D) kernel {
    %i, %j = cute.tile.program<[${M}, 64]> %D
    %n = cute.tile.count<1, 64> %A
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %zero = arith.constant dense<0.0> : !sum
    %sum = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %zero) -> (!sum) : i32 {
      %a = cute.tile.load<[${M}, 64]> %A[%i, %k]
      %b = cute.tile.load<[64, 64]> %B[%j, %k]
      %d = cute.tile.gemm %a, %b, %acc
      scf.yield %d : !sum
    }
    cute.tile.store %sum, %D[%i, %j]
    gpu.return
  }
}
