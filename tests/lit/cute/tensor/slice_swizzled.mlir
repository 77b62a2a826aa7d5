// RUN: cute-opt %s -source-map=off | cute-opt -source-map=off | FileCheck %s
// RUN: cute-opt %s -source-map=off -cute-expand-ops | FileCheck %s --check-prefix=EXPANDED

// A row of a swizzled tile: with o = row * 64 bits 6, 7, 8 of o flip bits 3, 4, 5. So the address is o ^ (o & 448) / 8, and steps
// of 8 go forward where bit 6 is clear, else back: 8 - (o & 64) / 4. There are no branches.
// CHECK-LABEL: func.func @row(
// EXPANDED-LABEL: func.func @row(
// EXPANDED: %[[O:.*]] = arith.muli %{{.*}}, %{{.*}} overflow<nsw> : i32
// EXPANDED: %[[BIT:.*]] = arith.andi %[[O]], %{{.*}} : i32
// EXPANDED: %[[TWICE:.*]] = arith.shrui %[[BIT]], %{{.*}} : i32
// EXPANDED: arith.subi %{{.*}}, %[[TWICE]] overflow<nsw> : i32
// EXPANDED-NOT: scf.if
// EXPANDED: %[[MASK:.*]] = arith.constant 448 : i32
// EXPANDED: %[[Y:.*]] = arith.andi %[[O]], %[[MASK]] : i32
// EXPANDED: %[[Z:.*]] = arith.shrui %[[Y]], %{{.*}} : i32
// EXPANDED: %[[AT:.*]] = arith.xori %[[O]], %[[Z]] : i32
// EXPANDED: cute.make_int_tuple(%[[AT]]) : (i32) -> !cute.int_tuple<"?{div=8}">
// EXPANDED: cute.add_offset
// EXPANDED: return
func.func @row(%t: !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64):(64,1)">, %i: i32) -> !cute.int_tuple<"64"> {
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(?,_)">
  // CHECK: cute.slice(%{{.*}}) : !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64):(64,1)">, !cute.coord<"(?,_)">
  %s = cute.slice(%t, %c)
  %v = cute.get_iter(%s) : (!cute.memref<f16, smem, align<16>, "((8,2,2,2)):((1,?{div=8},?{div=16},?{div=32}))">) -> !cute.ptr<f16, smem, align<16>>
  %n = cute.size(%s)
  return %n : !cute.int_tuple<"64">
}

// Stages are multiples of what the swizzle sees: only the address moves.
// CHECK-LABEL: func.func @stage(
// CHECK: cute.get_layout(%{{.*}}) : {{.*}} -> !cute.composed_layout<"S<3,3,3> o 0 o (8,64):(64,1)">
// EXPANDED-LABEL: func.func @stage(
// EXPANDED: %[[BY:.*]] = arith.muli %{{.*}}, %{{.*}} overflow<nsw> : i32
// EXPANDED: %[[N:.*]] = cute.make_int_tuple(%[[BY]]) : (i32) -> !cute.int_tuple<"?{div=512}">
// EXPANDED: cute.add_offset(%{{.*}}, %[[N]])
// EXPANDED-NOT: arith.xori
// EXPANDED: return
func.func @stage(%t: !cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64,3):(64,1,512)">, %i: i32) -> !cute.ptr<f16, smem, align<1024>> {
  %c = cute.make_coord(%i) : (i32) -> !cute.coord<"(_,_,?)">
  %s = cute.slice(%t, %c)
  %l = cute.get_layout(%s) : (!cute.memref<f16, smem, align<1024>, "S<3,3,3> o 0 o (8,64):(64,1)">) -> !cute.composed_layout<"S<3,3,3> o 0 o (8,64):(64,1)">
  %p = cute.get_iter(%s)
  return %p : !cute.ptr<f16, smem, align<1024>>
}
