// RUN: cute-opt %s -cute-to-base | FileCheck %s

// Whatever carries a cute value from one place to another carries its integers.

// CHECK-LABEL: func.func @index_switch(
// CHECK-SAME:  %{{.*}}: index, %[[A:.*]]: i32, %[[B:.*]]: i32) -> i32
// CHECK:       scf.index_switch %{{.*}} -> i32
// CHECK:         scf.yield %[[A]] : i32
// CHECK:         scf.yield %[[B]] : i32
func.func @index_switch(%i: index, %a: !cute.shape<"?">, %b: !cute.shape<"?">) -> !cute.shape<"?"> {
  %r = scf.index_switch %i -> !cute.shape<"?">
  case 0 {
    scf.yield %a : !cute.shape<"?">
  }
  default {
    scf.yield %b : !cute.shape<"?">
  }
  return %r : !cute.shape<"?">
}

// CHECK-LABEL: func.func @execute_region(
// CHECK:       scf.execute_region -> !llvm.struct<(i32, i32)>
func.func @execute_region(%a: !cute.layout<"?:?">) -> !cute.layout<"?:?"> {
  %r = scf.execute_region -> !cute.layout<"?:?"> {
    scf.yield %a : !cute.layout<"?:?">
  }
  return %r : !cute.layout<"?:?">
}

// CHECK-LABEL: func.func @select(
// CHECK:       arith.select %{{.*}}, %{{.*}}, %{{.*}} : !llvm.struct<(i32, i32)>
func.func @select(%c: i1, %a: !cute.layout<"?:?">, %b: !cute.layout<"?:?">) -> !cute.layout<"?:?"> {
  %r = arith.select %c, %a, %b : !cute.layout<"?:?">
  return %r : !cute.layout<"?:?">
}

// CHECK-LABEL: func.func @cf_switch(
// CHECK:       default: ^[[END:.*]](%{{.*}} : i32),
// CHECK:       42: ^[[END]](%{{.*}} : i32)
func.func @cf_switch(%f: i32, %a: !cute.shape<"?">, %b: !cute.shape<"?">) -> !cute.shape<"?"> {
  cf.switch %f : i32, [
    default: ^end(%a : !cute.shape<"?">),
    42: ^end(%b : !cute.shape<"?">)
  ]
^end(%x: !cute.shape<"?">):
  return %x : !cute.shape<"?">
}

// Functions that take functions.
// CHECK-LABEL: func.func private @higher((i32) -> !llvm.struct<(i32, i32)>)
func.func private @higher((!cute.shape<"?">) -> !cute.shape<"(?,?)">)

// Attributes of arguments and results stay.
// CHECK-LABEL: func.func @attributes(
// CHECK-SAME:  %{{.*}}: i32 {cute.name = "n"}, %{{.*}}: !llvm.struct<()>) -> (i32 {test.result})
func.func @attributes(%a: !cute.shape<"?"> {cute.name = "n"}, %s: !cute.shape<"4">) -> (!cute.shape<"?"> {test.result}) {
  return %a : !cute.shape<"?">
}

// CHECK-LABEL: func.func @poison(
// CHECK:       ub.poison : i32
func.func @poison() -> !cute.shape<"?"> {
  %0 = ub.poison : !cute.shape<"?">
  return %0 : !cute.shape<"?">
}

// CHECK-LABEL: func.func private @builtin_tuple(tuple<i32, tuple<!llvm.struct<()>, f32>>)
func.func private @builtin_tuple(tuple<!cute.shape<"?">, tuple<!cute.swizzle<"S<3,4,3>">, f32>>)
