// What kernels may not have is an error where it stands.
// RUN: not cute-ptx %s 2>&1 | FileCheck %s

gpu.module @m {
  // CHECK: :[[#@LINE+1]]:3: error: expected a name of letters, digits, '_' and '$', as PTX requires, got 'a b'
  gpu.func @"a b"() kernel { gpu.return }
  // CHECK: :[[#@LINE+1]]:3: error: expected a name of letters, digits, '_' and '$', as PTX requires, got 'a.b'
  llvm.func @a.b() attributes {gpu.kernel, nvvm.kernel} { llvm.return }
  // CHECK-NOT: got 'inner.function'
  llvm.func @inner.function() { llvm.return }
  // CHECK: :[[#@LINE+1]]:33: error: expected workgroup or private memory of known extent, got 'memref<?xf32, #gpu.address_space<workgroup>>'; gpu.dynamic_shared_memory is sized at launch
  gpu.func @dynamic() workgroup(%w: memref<?xf32, #gpu.address_space<workgroup>>) kernel { gpu.return }
  llvm.func @assembly(%p: !llvm.ptr<1>, %c: i32) attributes {gpu.kernel, nvvm.kernel} {
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.inline_asm' op expected operands $0 to $1 of its constraints, got $7
    %r = llvm.inline_asm "add.u32 $0, $7, 5;", "=r,r" %c : (i32) -> i32
    // CHECK: :[[#@LINE+1]]:5: error: 'llvm.inline_asm' op expected operands $0 to $1 of its constraints, got $2
    llvm.inline_asm has_side_effects "st.u32 [${0}], ${2:c}; // $$5", "l,r,~{memory}" %p, %c : (!llvm.ptr<1>, i32) -> ()
    // CHECK: :[[#@LINE+1]]:5: error: 'llvm.inline_asm' op expected no operand references without constraints, got $0
    llvm.inline_asm has_side_effects "membar.gl; $0", "~{memory}" : () -> ()
    // CHECK: :[[#@LINE+1]]:10: error: 'llvm.inline_asm' op expected 2 operands for its constraints, got 1
    %s = llvm.inline_asm has_side_effects "add.u32 $0, $1, 5;", "=r,r,r" %c : (i32) -> i32
    llvm.return
  }
  gpu.func @types(%x: memref<4xf128>, %y: memref<4xf8E4M3FN>, %z: memref<4xf32>) kernel {
    %c0 = arith.constant 0 : index
    // CHECK: :[[#@LINE+1]]:10: error: 'memref.load' op expected f16, bf16, f32 or f64, got 'f128'
    %v = memref.load %x[%c0] : memref<4xf128>
    // CHECK: :[[#@LINE+1]]:10: error: 'arith.addf' op expected f16, bf16, f32 or f64, got 'f128'
    %w = arith.addf %v, %v : f128
    %e = memref.load %y[%c0] : memref<4xf8E4M3FN>
    // CHECK: :[[#@LINE+1]]:10: error: 'arith.addf' op expected f16, bf16, f32 or f64 (convert with arith.extf), got 'f8E4M3FN'
    %f = arith.addf %e, %e : f8E4M3FN
    memref.store %e, %y[%c0] : memref<4xf8E4M3FN>
    gpu.return
  }
  // CHECK: :[[#@LINE+1]]:3: error: expected dimensions of at least 1 as nvvm.reqntid, got 0
  gpu.func @no_threads() kernel attributes {nvvm.reqntid = array<i32: 128, 0, 1>} { gpu.return }
  // CHECK: :[[#@LINE+1]]:3: error: expected dimensions of at least 1 as nvvm.maxntid, got -1
  gpu.func @no_most() kernel attributes {nvvm.maxntid = array<i32: -1, 1, 1>} { gpu.return }
  gpu.func @endless(%x: memref<4xf32>, %f: f32) kernel {
    %c0 = arith.constant 0 : index
    %c4 = arith.constant 4 : index
    %down = arith.constant -1 : i32
    %i0 = arith.constant 0 : i32
    // CHECK: :[[#@LINE+1]]:5: error: 'scf.for' op expected a step of at least 1, got 0
    scf.for %i = %c0 to %c4 step %c0 { memref.store %f, %x[%i] : memref<4xf32> }
    // CHECK: :[[#@LINE+1]]:5: error: 'scf.for' op expected a step of at least 1, got -1
    scf.for %i = %i0 to %i0 step %down : i32 { memref.store %f, %x[%c0] : memref<4xf32> }
    // CHECK: :[[#@LINE+1]]:5: error: 'affine.for' op expected a step of at least 1, got 0
    affine.for %i = 0 to 4 step 0 { memref.store %f, %x[%i] : memref<4xf32> }
    // CHECK-NOT: error
    affine.for %i = 0 to 4 step 2 { memref.store %f, %x[%i] : memref<4xf32> }
    gpu.return
  }
}
