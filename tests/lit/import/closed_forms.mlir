// Operations whose printers leave out types that follow, or write one beside its operand.
// RUN: cute-opt %s -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off > %t.1
// RUN: cute-opt %t.1 -source-map=off | diff %t.1 -
// RUN: cute-opt %s -source-map=off --mlir-print-op-generic | cute-opt -source-map=off | diff %t.1 -

// CHECK-LABEL: func.func @vectors
func.func @vectors(%t: !cute.memref<f32, rmem, "((2,2),2):((1,2),4)">, %h: !cute.memref<f16, smem, "4:1">, %c: !cute.coord<"(?,1)">) {
  // CHECK: %[[V:.*]] = cute.memref.load_vec(%{{.*}}) : (!cute.memref<f32, rmem, "((2,2),2):((1,2),4)">) -> vector<8xf32>
  %v = cute.memref.load_vec %t : !cute.memref<f32, rmem, "((2,2),2):((1,2),4)">
  // CHECK: cute.memref.store_vec(%[[V]], %{{.*}}) : (vector<8xf32>, !cute.memref<f32, rmem, "((2,2),2):((1,2),4)">) -> ()
  cute.memref.store_vec %v, %t : !cute.memref<f32, rmem, "((2,2),2):((1,2),4)">
  // CHECK: cute.memref.load_vec(%{{.*}}) : (!cute.memref<f16, smem, "4:1">) -> vector<4xf16>
  %w = cute.memref.load_vec %h
  // CHECK: cute.memref.load(%{{.*}}, %{{.*}}) : (!cute.memref<f32, rmem, "((2,2),2):((1,2),4)">, !cute.coord<"(?,1)">) -> f32
  %e = cute.memref.load(%t, %c)
  // CHECK: cute.memref.store(%{{.*}}, %{{.*}}, %{{.*}})
  cute.memref.store(%t, %c, %e)
  return
}

// CHECK-LABEL: func.func @divisor
func.func @divisor(%n: i32, %m: i32) {
  %d = cute.fast_divmod.create_divisor(%m) : i32 -> !cute.fast_divmod_divisor<32>
  // CHECK: cute.fast_divmod.compute(%{{.*}}, %{{.*}}) : (i32, !cute.fast_divmod_divisor<32>) -> (i32, i32)
  %q, %r = cute.fast_divmod.compute(%n, %d) : i32, !cute.fast_divmod_divisor<32> -> i32
  return
}

// CHECK-LABEL: func.func @atoms
func.func @atoms(%a: !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,64):(1@1,1@0)">>, %p: !cute.ptr<i64, smem>) {
  // CHECK: cute_nvgpu.atom.set_value
  %b = cute_nvgpu.atom.set_value(%a, %p : !cute.ptr<i64, smem>) {field = #cute_nvgpu.atom_copy_field_tmaload<tma_bar>} : !cute_nvgpu.atom.tma_load<f16, copy_bits = 65536, mode = tiled, num_cta = 1, g_stride = <"()"> tma_gbasis = <"(64,64):(1@1,1@0)">>
  return
}

// CHECK-LABEL: func.func @flags
func.func @flags(%t: !cute.memref<f32, generic, "(3,4):(4,1)">) {
  // CHECK-COUNT-2: cute.print_view<{is_signed = false, verbose = true}>
  cute.print_view(%t) {is_signed = false, verbose = true} : !cute.memref<f32, generic, "(3,4):(4,1)">
  cute.print_view<{is_signed = false, verbose = true}>(%t) : !cute.memref<f32, generic, "(3,4):(4,1)">
  return
}
