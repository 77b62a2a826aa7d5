// RUN: cute-opt %s -split-input-file -verify-diagnostics

func.func @host(%x: f32) {
  // expected-error@+1 {{'cuda.cast' op expected i64 and !cuda.stream, or i32 and !cuda.result, got 'f32' and '!cuda.stream'}}
  %s = cuda.cast %x : f32 -> !cuda.stream
  return
}

// -----

func.func @host(%code: i32) {
  // expected-error@+1 {{'cuda.return_if_error' op expected an enclosing function with a single i32 result}}
  cuda.return_if_error %code : i32
  return
}

// -----

// expected-error@+1 {{expected 0 or more attributes, got -1}}
func.func private @f(!cuda.launch_cfg<max_attrs = -1>)

// -----

func.func @host(%n: i32, %bytes: i64, %s: !cuda.stream) {
  // expected-error@+1 {{'cuda.launch_cfg.create' op expected a result with max_attrs = 3, got 2}}
  %cfg = cuda.launch_cfg.create<max_attrs = 3 : i32> (blockDim = (%n, %n, %n), dynamicSmemBytes = %bytes, gridDim = (%n, %n, %n), stream = %s) : i32, i32, i32, i64, i32, i32, i32, !cuda.stream -> !cuda.launch_cfg<max_attrs = 2>
  return
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @k(%x: f32) {
      return
    }
  }
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>) {
    // expected-error@+1 {{'cuda.launch_ex' op expected a kernel, but there is no @kernels::@other}}
    %r = cuda.launch_ex @kernels::@other<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @k(%x: f32) {
      return
    }
  }
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>) {
    // expected-error@+1 {{'cuda.launch_ex' op expected 1 argument(s) for @kernels::@k, got 0}}
    %r = cuda.launch_ex @kernels::@k<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    return
  }
}

// -----

module attributes {gpu.container_module} {
  gpu.module @kernels {
    cuda.kernel @k(%x: f32) {
      return
    }
  }
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>, %x: i32) {
    // expected-error@+1 {{'cuda.launch_ex' op expected argument 0 of @kernels::@k to be 'f32', got 'i32'}}
    %r = cuda.launch_ex @kernels::@k<%cfg> (%x) : !cuda.launch_cfg<max_attrs = 3>, (i32) -> !cuda.result
    return
  }
}

// -----

module attributes {gpu.container_module} {
  func.func @f() {
    return
  }
  func.func @host(%cfg: !cuda.launch_cfg<max_attrs = 3>) {
    // expected-error@+1 {{'cuda.launch_ex' op expected a cuda.kernel or gpu.func, got func.func @f}}
    %r = cuda.launch_ex @f<%cfg> () : !cuda.launch_cfg<max_attrs = 3>, () -> !cuda.result
    return
  }
}

// -----

gpu.module @kernels {
  // expected-error@+1 {{'cuda.kernel' op expected no results, got 1}}
  cuda.kernel @k() -> i32 {
    return
  }
}

// -----

// expected-error@+1 {{'cuda.kernel' op expects parent op}}
cuda.kernel @k() {
  return
}

// -----

func.func private @f() attributes {
  // expected-error@+2 {{expected ::cute::cuda::TxnKind to be one of: arrive, arrive_expect_tx, expect_tx}}
  // expected-error@+1 {{failed to parse}}
  x = #cuda.mbar_txn_kind<leave>}
