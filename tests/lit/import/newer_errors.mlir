// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @longer(%x: vector<4xf32>) {
  // expected-error@+1 {{'nvgpu.cvt_fptrunc' op expected vectors of one shape, got 'vector<4xf32>' and 'vector<8xf16>'}}
  %r = nvgpu.cvt_fptrunc %x : vector<4xf32> to vector<8xf16>
  return
}

// -----

func.func @wider(%x: vector<4xf16>) {
  // expected-error@+1 {{'nvgpu.cvt_fptrunc' op expected a result with narrower elements than 'vector<4xf16>', got 'vector<4xf32>'}}
  %r = nvgpu.cvt_fptrunc %x : vector<4xf16> to vector<4xf32>
  return
}

// -----

func.func @narrower(%x: vector<4xf16>) {
  // expected-error@+1 {{'nvgpu.cvt_fpext' op expected a result with wider elements than 'vector<4xf16>', got 'vector<4xf8E4M3FN>'}}
  %r = nvgpu.cvt_fpext %x : vector<4xf16> to vector<4xf8E4M3FN>
  return
}

// -----

func.func @kind(%bar: !llvm.ptr<3>, %n: i32) {
  // expected-error@+1 {{'nvvm.mbarrier.txn' op requires attribute 'kind'}}
  "nvvm.mbarrier.txn"(%bar, %n) : (!llvm.ptr<3>, i32) -> ()
  return
}

// -----

func.func @space(%bar: !llvm.ptr<1>, %n: i32) {
  // expected-error@+1 {{'nvvm.mbarrier.txn' op operand #0 must be LLVM pointer in address space 3, but got '!llvm.ptr<1>'}}
  nvvm.mbarrier.txn %bar, %n {kind = #cuda.mbar_txn_kind<arrive>} : !llvm.ptr<1>, i32
  return
}
