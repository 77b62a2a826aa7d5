// RUN: cute-opt -split-input-file -verify-diagnostics %s

// expected-note @+1 {{%a is a}}
func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects 'extents' to be at most 8 extents of at least 1, such as [64, 32], whose product is at most 1048576}}
  %t = cute.tile.load<[0, 4]> %a[0, 0]
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects 'order' to have each of the dimensions 0 to 1 once}}
  %t = cute.tile.permute<[0, 0]> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %y: tensor<8x4xf16>, %z: tensor<8x8xf32>) {
  // expected-error @below {{expects A and B of one element type, but got f32 and f16: cute.tile.cast converts}}
  %t = cute.tile.gemm %x, %y, %z
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects a condition of i1}}
  %t = cute.tile.where %x, %x, %x
  return
}

// -----

// expected-note @+2 {{%a is a}}
// expected-note @+1 {{%i is a}}
func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %i: i32) {
  // expected-error @below {{expects a coordinate that is a tile: of scalars alone, cute.memref.load}}
  %t = cute.tile.gather %a, %i, %i
  return
}

// -----

// expected-note @+1 {{%i is a}}
func.func @f(%i: i32) {
  // expected-error @below {{expects a grid of 1 to 3 dimensions, but got 4}}
  %t:4 = cute.tile.program %i, %i, %i, %i
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects a kind of elementwise operation, such as add}}
  %t = cute.tile.map<nothing> %x
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xi8>) {
  // expected-error @below {{expects a mask of i1}}
  %t = cute.tile.load<[8, 4]> %a[0, 0], %x
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<4x8xi1>) {
  // expected-error @below {{expects a mask that broadcasts to the tile's shape, 8x4, but got 4x8}}
  %t = cute.tile.load<[8, 4]> %a[0, 0], %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %z: tensor<8x8xf16>) {
  // expected-error @below {{expects an accumulator of f32 for f16, bf16, f8E4M3FN, f8E5M2 and f32, f16 for f16, f64 for f64, i32 for i8}}
  %t = cute.tile.gemm %x, %x, %z
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects an axis from 0 to 1, but got 2}}
  %t = cute.tile.reduce<add, 2> %x
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects an axis from 0 to 0, but got 1}}
  %t = cute.tile.iota<[8], 1>
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xf32>) {
  // expected-error @below {{expects coordinates of i32 or i64}}
  %t = cute.tile.gather %a, %x, %x
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xi32>) {
  // expected-error @below {{expects a coordinate for each of the tensor's 2 modes, and at most a mask, but got 1 operands}}
  %t = cute.tile.gather %a, %x
  return
}

// -----

func.func @f(%i: f32) {
  // expected-error @below {{expects extents of i32, i64 or index, or a tensor and a tile}}
  %t = cute.tile.program %i
  return
}

// -----

func.func @f(%i: i32) {
  // expected-error @below {{expects one operand with 'extents': the tensor that the tiles divide}}
  %t = cute.tile.program<[8]> %i
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects an extent of the tile for each of the tensor's 2 modes, but got 1}}
  %t = cute.tile.program<[8]> %a
  return
}

// -----

func.func @f(%x: tensor<8x4xindex>) {
  // expected-error @below {{expects floats or integers}}
  %t = cute.tile.cast<f32> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects integers}}
  %t = cute.tile.and %x, %x
  return
}

// -----

func.func @f(%x: tensor<8x4xi32>) {
  // expected-error @below {{expects floats}}
  %t = cute.tile.exp %x
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x?xf32>) {
  // expected-error @below {{expects operand #0 to be a tile: a tensor of known extents, at most 8 dimensions and 1048576 elements}}
  %t = cute.tile.reduce<add, 0> %x
  return
}

// -----

// expected-note @+2 {{%x is a}}
// expected-note @+1 {{%y is a}}
func.func @f(%x: tensor<8x4xf32>, %y: tensor<8xf32>) {
  // expected-error @below {{expects shapes that broadcast, but got 8x4 and 8 (operand #1): align trailing dimensions, and give those that repeat an extent of 1 with cute.tile.reshape}}
  %t = cute.tile.add %x, %y
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %y: tensor<8x4xf16>) {
  // expected-error @below {{expects operands of one element type, but got f32 and f16: cute.tile.cast converts}}
  %t = cute.tile.add %x, %y
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects 2 operands for add, but got 1}}
  %t = cute.tile.add %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects a shape to which 8x4 broadcasts, but got 8x8}}
  %t = cute.tile.broadcast<[8, 8]> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects a shape of 32 elements, but got 64}}
  %t = cute.tile.reshape<[8, 8]> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects a tile of one element, but got 8x4}}
  %t = cute.tile.scalar %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %y: tensor<8x8xf32>) {
  // expected-error @below {{expects A (M,K) and B (N,K) of one K, but got 8x4 and 8x8}}
  %t = cute.tile.gemm %x, %y, %y
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects an accumulator of 8x8, but got 8x4}}
  %t = cute.tile.gemm %x, %x, %x
  return
}

// -----

func.func @f(%x: tensor<8x4x2xf32>) {
  // expected-error @below {{expects operand #0 to have two dimensions}}
  %t = cute.tile.gemm %x, %x, %x
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects a tile of 1 to 2 dimensions, the last of the tensor's modes, but got 3}}
  %t = cute.tile.load<[1, 8, 4]> %a[0, 0]
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects a coordinate with a number for each of the tensor's 2 modes, but got 3}}
  %t = cute.tile.load<[8, 4]> %a[0, 0, 0]
  return
}

// -----

func.func @f(%a: !cute.memref<f32, smem, "(8,4):(4,1)">) {
  // expected-error @below {{expects a tensor in global memory, gmem, but got smem: passes choose shared memory and registers}}
  %t = cute.tile.load<[8, 4]> %a[0, 0]
  return
}

// -----

func.func @f(%a: !cute.memref<f32, smem, "(8,4):(4,1)">, %i: tensor<8xi32>) {
  // expected-error @below {{expects a tensor in global memory, gmem, but got smem}}
  %t = cute.tile.gather %a, %i, %i
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects a mode from 0 to 1, but got 2}}
  %t = cute.tile.count<2, 8> %a
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects a size of at least 1, but got 0}}
  %t = cute.tile.count<1, 0> %a
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xf32>, %i: tensor<4x4xi32>, %j: tensor<8x4xi32>) {
  // expected-error @below {{expects coordinates that broadcast to 8x4, but got 4x4}}
  cute.tile.scatter %x, %a, %i, %j
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xf32>) {
  // expected-error @below {{expects integers}}
  cute.tile.store<or> %x, %a[0, 0]
  return
}

// -----

func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xf32>) {
  // expected-error @below {{expects the kind add, min, max, and, or or xor, but got mul}}
  cute.tile.store<mul> %x, %a[0, 0]
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects integers}}
  %t = cute.tile.reduce<xor, 0> %x
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects an index from 0 to 3, but got 4}}
  %t = cute.tile.pick<4, 1> %x
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects an axis from 0 to 1, but got 2}}
  %t = cute.tile.pick<0, 2> %x
  return
}

// -----

func.func @f() {
  // expected-error @below {{expects at least one tile}}
  %t = cute.tile.stack
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<1x1x1x1x1x1x1x2xf32>) {
  // expected-error @below {{expects tiles of at most 7 dimensions}}
  %t = cute.tile.stack %x, %x
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %y: tensor<8x4xf16>) {
  // expected-error @below {{expects tiles of one element type, but got 'tensor<8x4xf16>'}}
  %t = cute.tile.stack %x, %y
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %y: tensor<4x8xf32>) {
  // expected-error @below {{expects tiles of one shape, but got 8x4 and 4x8}}
  %t = cute.tile.stack %x, %y
  return
}

// -----

func.func @f(%a: !cute.memref<i4, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects two elements of i4 in a byte along the last mode}}
  %t = cute.tile.load<[8, 4]> %a[0, 0]
  return
}

// -----

func.func @f(%a: !cute.memref<f4E2M1FN, gmem, "(?,?{div=2}):(?{i64 div=2},1)">, %m: tensor<8x4xi1>) {
  // expected-error @below {{expects no mask for elements of f4E2M1FN: mask the loaded tile with cute.tile.where}}
  %t = cute.tile.load<[8, 4]> %a[0, 0], %m
  return
}

// -----

func.func @f(%a: !cute.memref<i4, gmem, "(?,?{div=2}):(?{i64 div=2},1)">) {
  // expected-error @below {{expects the fill zero for elements of i4, but got neg_inf}}
  %t = cute.tile.load<[8, 4], neg_inf> %a[0, 0]
  return
}

// -----

// expected-note @+1 {{%x is a}}
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects an axis behind the kind, such as cute.tile.reduce<add, 1>}}
  %t = cute.tile.reduce<add> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xi32>) {
  // expected-error @below {{expects floats with 'fast', but got 'i32'}}
  %t = cute.tile.add %x, %x {fast}
  return
}

// -----

func.func @f(%c: tensor<8x4xi1>) {
  // expected-error @below {{expects a tile or a typed value, as in `%x`, as one of the two values: two numbers have no type}}
  %t = cute.tile.where %c, 1.0, 0.0
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects the count by which the sum is divided, as in cute.tile.reduce<variance, 1> %x, %count: elements outside of a tensor do not count}}
  %t = cute.tile.reduce<variance, 1> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xi32>, %n: i32) {
  // expected-error @below {{expects floats, but got 'i32'}}
  %t = cute.tile.reduce<variance, 0> %x, %n
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %v: !cute.memref<f32, gmem, "?:1">) {
  // expected-error @below {{expects a tensor with the mode 1 as the count, but got 1 mode}}
  %t = cute.tile.reduce<mean, 1> %x, %v
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %v: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects a tile of at least the tensor's 2 modes without coordinates, but got 1}}
  cute.tile.atomic<add> %x, %v
  return
}

// -----

func.func @f(%v: !cute.memref<i32, gmem, "(?,?):(?{i64},1)">, %i: i32) {
  // expected-error @below {{expects a vector of counters}}
  cute.tile.signal(%v, %i) : (!cute.memref<i32, gmem, "(?,?):(?{i64},1)">, i32) -> ()
  return
}

// -----

func.func @f(%v: !cute.memref<f32, gmem, "?:1">, %i: i32) {
  // expected-error @below {{expects counters to have elements of type 'i32', but got 'f32'}}
  cute.tile.signal(%v, %i) : (!cute.memref<f32, gmem, "?:1">, i32) -> ()
  return
}

// -----

func.func @f(%x: tensor<8xf32>, %v: !cute.memref<f32, gmem, "?:1">) {
  // expected-error @below {{expects a coordinate for each of the tensor's 1 modes, and at most a mask, but got 0 operands}}
  cute.tile.scatter %x, %v
  return
}

// -----

// A mean states its count: a tile has elements outside of the tensor.
func.func @f(%x: tensor<8x4xf32>) {
  // expected-error @below {{expects the count by which the sum is divided, as in cute.tile.reduce<mean, 1> %x, %count: elements outside of a tensor do not count}}
  %t = cute.tile.reduce<mean, 1> %x
  return
}

// -----

func.func @f(%x: tensor<8x4xi32>, %n: i32) {
  // expected-error @below {{expects floats, but got 'i32'}}
  %t = cute.tile.reduce<mean, 1> %x, %n
  return
}

// -----

func.func @f(%x: tensor<8x4xf16>, %n: f32) {
  // expected-error @below {{expects a count that is an integer, a tensor, or of the tile's elements, but got 'f32'}}
  %t = cute.tile.reduce<mean, 1> %x, %n
  return
}

// -----

func.func @f(%x: tensor<8x4xf32>, %n: i32) {
  // expected-error @below {{expects a count with the kinds mean and variance, but got add}}
  %t = cute.tile.reduce<add, 1> %x, %n
  return
}

// -----

func.func @f(%a: !cute.memref<f16, gmem, "(?,?):(?{i64},1)">) {
  // expected-error @below {{expects floats or integers, but got 'index'}}
  %t = cute.tile.load<[8, 4], index> %a[0, 0]
  return
}

// -----

// Stores convert floats to floats: integers would be cut off.
func.func @f(%a: !cute.memref<i32, gmem, "(?,?):(?{i64},1)">, %x: tensor<8x4xf32>) {
  // expected-error @below {{expects elements of the tensor's element type 'i32', but got 'f32'}}
  cute.tile.store %x, %a[0, 0]
  return
}

// -----

// Integer scalars are converted for floats, floats are not for other floats.
func.func @f(%x: tensor<8x4xf16>, %y: f32) {
  // expected-error @below {{expects operands of one element type, but got f32 and f16: cute.tile.cast converts}}
  %t = cute.tile.add %x, %y
  return
}

// -----

func.func @f(%x: tensor<8x4xi64>, %y: i32) {
  // expected-error @below {{expects operands of one element type, but got i32 and i64: cute.tile.cast converts}}
  %t = cute.tile.add %x, %y
  return
}

// -----

func.func @rows_of_a_tuple(%a: !cute.memref<f32, gmem, "((2,?),4):((1,8),2)">, %n: i32) {
  // expected-error @+1 {{'cute.tile.rows' op expects a tensor whose mode 0 has one extent and stride, and whose layout is not composed}}
  %t = cute.tile.rows(%a, %n, %n) : (!cute.memref<f32, gmem, "((2,?),4):((1,8),2)">, i32, i32) -> !cute.memref<f32, gmem, "(?,4):(8,2)">
  return
}

// -----

func.func @rows_of_another_type(%a: !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, %n: i32) {
  // expected-error @+1 {{'cute.tile.rows' op expects a result of '!cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">'}}
  %t = cute.tile.rows(%a, %n, %n) : (!cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, i32, i32) -> !cute.memref<f32, gmem, align<16>, "(8,4):(4,1)">
  return
}

// -----

// expected-note @+2 {{%a is a '!cute.memref<f32, gmem, "(?,?):(?{i64},1)">'}}
// expected-note @+1 {{%i is a 'i32'}}
func.func @f(%a: !cute.memref<f32, gmem, "(?,?):(?{i64},1)">, %i: i32) {
  // expected-error @below {{expects a mode of one extent, from 0 to 1, but got 2}}
  %t = cute.tile.from<2> %a, %i
  return
}

// -----

func.func @f(%a: !cute.memref<f32, smem, "(8,4):(4,1)">, %i: i32) {
  // expected-error @below {{expects a tensor to be in memory space 'gmem', but got 'smem'}}
  %t = cute.tile.from<0> %a, %i
  return
}

// -----

func.func @pages_of_a_flat_table(%a: !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, %t: !cute.memref<i32, gmem, "?:1">, %n: i32) {
  // expected-error @+1 {{'cute.tile.pages' op expects a table of two modes, but got 1}}
  %p = cute.tile.pages(%a, %t, %n, %n) : (!cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, !cute.memref<i32, gmem, "?:1">, i32, i32) -> !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">
  return
}

// -----

func.func @pages_are_not_written(%a: !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, %t: !cute.memref<i32, gmem, "(?,4):(4,1)">, %n: i32, %x: tensor<1x4xf32>) {
  // expected-error @+1 {{'cute.tile.pages' op expects only loads of its tiles: use the tensor itself elsewhere}}
  %p = cute.tile.pages(%a, %t, %n, %n) : (!cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">, !cute.memref<i32, gmem, "(?,4):(4,1)">, i32, i32) -> !cute.memref<f32, gmem, align<16>, "(?,4):(4,1)">
  cute.tile.store %x, %p[%n, 0]
  return
}
