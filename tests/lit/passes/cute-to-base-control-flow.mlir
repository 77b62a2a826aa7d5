// RUN: cute-opt %s -cute-expand-ops -cute-to-base | FileCheck %s
// RUN: cute-opt %s -cute-fold-static -cute-expand-ops -cute-to-base -base-prepare -one-shot-convert-to-llvm \
// RUN:   | mlir-cpu-runner -e main -entry-point-result=void | FileCheck %s --check-prefix=OUT

// cute values cross every way that control flow has, as a struct or an integer each.

// CHECK-NOT: !cute
// CHECK-NOT: unrealized_conversion_cast

// A coordinate counts through (3,4) from (2,0): (0,1), (1,1), (2,1).
// CHECK-LABEL: func.func @for_loop(
// CHECK-SAME:  %[[C:.*]]: !llvm.struct<(i32, i32)>, %{{.*}}: i32) -> !llvm.struct<(i32, i32)>
// CHECK:       scf.for {{.*}} iter_args(%{{.*}} = %[[C]]) -> (!llvm.struct<(i32, i32)>)
// CHECK:       scf.yield %{{.*}} : !llvm.struct<(i32, i32)>
// OUT: {{^}}(2,1){{$}}
func.func @for_loop(%c: !cute.coord<"(?,?)">, %n: i32) -> !cute.coord<"(?,?)"> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %s = cute.static : !cute.shape<"(3,4)">
  %r = scf.for %i = %zero to %n step %one iter_args(%x = %c) -> (!cute.coord<"(?,?)">) : i32 {
    %y = cute.increment_coord(%x, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(3,4)">) -> !cute.coord<"(?,?)">
    scf.yield %y : !cute.coord<"(?,?)">
  }
  return %r : !cute.coord<"(?,?)">
}

// 100 halved while above 8: 50, 25, 12, 6. The static value beside it is an empty struct.
// CHECK-LABEL: func.func @while_loop(
// CHECK:       scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, !llvm.struct<()>) -> (i32, !llvm.struct<()>)
// CHECK:       scf.condition(%{{.*}}) %{{.*}}, %{{.*}} : i32, !llvm.struct<()>
// CHECK:       ^bb0(%{{.*}}: i32, %{{.*}}: !llvm.struct<()>):
// CHECK:       scf.yield %{{.*}}, %{{.*}} : i32, !llvm.struct<()>
// OUT-NEXT: {{^}}6{{$}}
// OUT-NEXT: {{^}}(4,8){{$}}
func.func @while_loop(%n: !cute.shape<"?">) {
  %eight = cute.static : !cute.shape<"8">
  %two = cute.static : !cute.shape<"2">
  %t = cute.static : !cute.shape<"(4,8)">
  %r:2 = scf.while (%x = %n, %y = %t) : (!cute.shape<"?">, !cute.shape<"(4,8)">) -> (!cute.shape<"?">, !cute.shape<"(4,8)">) {
    %more = cute.elem_less(%eight, %x) : (!cute.shape<"8">, !cute.shape<"?">) -> i1
    scf.condition(%more) %x, %y : !cute.shape<"?">, !cute.shape<"(4,8)">
  } do {
  ^bb0(%x: !cute.shape<"?">, %y: !cute.shape<"(4,8)">):
    %half = cute.shape_div(%x, %two) : (!cute.shape<"?">, !cute.shape<"2">) -> !cute.shape<"?">
    scf.yield %half, %y : !cute.shape<"?">, !cute.shape<"(4,8)">
  }
  cute.print(%r#0) : !cute.shape<"?">
  cute.print(%r#1) : !cute.shape<"(4,8)">
  return
}

// CHECK-LABEL: func.func @if_else(
// CHECK:       scf.if %{{.*}} -> (!llvm.struct<(struct<(i32, i32)>, i32)>)
// OUT-NEXT: {{^}}(7,3):(1,7){{$}}
// OUT-NEXT: {{^}}(3,7):(1,3){{$}}
func.func @if_else(%which: i1, %m: i32, %n: i32) {
  %r = scf.if %which -> (!cute.layout<"(?,?):(1,?)">) {
    %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
    %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
    scf.yield %l : !cute.layout<"(?,?):(1,?)">
  } else {
    %s = cute.make_shape(%n, %m) : (i32, i32) -> !cute.shape<"(?,?)">
    %d = cute.make_stride(%n) : (i32) -> !cute.stride<"(1,?)">
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
    scf.yield %l : !cute.layout<"(?,?):(1,?)">
  }
  cute.print(%r) : !cute.layout<"(?,?):(1,?)">
  return
}

// Two ways into one block, and a block that repeats: 1 + 2 + 4 + ... while below 20.
// CHECK-LABEL: func.func @branches(
// CHECK:       cf.br ^[[LOOP:.*]](%{{.*}}, %{{.*}} : i32, !llvm.struct<(i32, i64)>)
// CHECK:       ^[[LOOP]](%{{.*}}: i32, %{{.*}}: !llvm.struct<(i32, i64)>):
// CHECK:       cf.cond_br %{{.*}}, ^[[LOOP]](%{{.*}}, %{{.*}} : i32, !llvm.struct<(i32, i64)>), ^[[END:.*]](%{{.*}} : !llvm.struct<(i32, i64)>)
// CHECK:       ^[[END]](%{{.*}}: !llvm.struct<(i32, i64)>):
// OUT-NEXT: {{^}}(31,90000000000){{$}}
func.func @branches(%wide: i64) {
  %none = arith.constant 0 : i32
  %first = arith.constant 1 : i32
  %step = cute.make_int_tuple(%first) : (i32) -> !cute.int_tuple<"?">
  %sum = cute.make_int_tuple(%none, %wide) : (i32, i64) -> !cute.int_tuple<"(?,?{i64})">
  %limit = cute.static : !cute.int_tuple<"20">
  cf.br ^loop(%step, %sum : !cute.int_tuple<"?">, !cute.int_tuple<"(?,?{i64})">)
^loop(%x: !cute.int_tuple<"?">, %y: !cute.int_tuple<"(?,?{i64})">):
  %v = cute.get_scalars (%x) : !cute.int_tuple<"?">
  %w = cute.make_int_tuple(%v) : (i32) -> !cute.int_tuple<"(?,0)">
  %next = cute.tuple_add(%y, %w) : (!cute.int_tuple<"(?,?{i64})">, !cute.int_tuple<"(?,0)">) -> !cute.int_tuple<"(?,?{i64})">
  %twice = cute.tuple_add(%x, %x) : (!cute.int_tuple<"?">, !cute.int_tuple<"?">) -> !cute.int_tuple<"?">
  %more = cute.elem_less(%twice, %limit) : (!cute.int_tuple<"?">, !cute.int_tuple<"20">) -> i1
  cf.cond_br %more, ^loop(%twice, %next : !cute.int_tuple<"?">, !cute.int_tuple<"(?,?{i64})">), ^end(%next : !cute.int_tuple<"(?,?{i64})">)
^end(%r: !cute.int_tuple<"(?,?{i64})">):
  cute.print(%r) : !cute.int_tuple<"(?,?{i64})">
  return
}

// Arguments and results: nothing unknown is an empty struct, one leaf its integer, a layout a pair, a tile its layouts, a
// composed layout B, offset and A.
// CHECK-LABEL: func.func private @signature(
// CHECK-SAME:  !llvm.struct<()>, i64, !llvm.struct<(i32, i32)>, !llvm.struct<(i32, struct<()>)>, !llvm.struct<(struct<(i32, struct<()>)>, struct<(struct<()>, i32)>)>, !llvm.struct<()>, !llvm.struct<(struct<(i32, struct<()>)>, i32, struct<()>)>) -> (i32, !llvm.struct<()>)
func.func private @signature(!cute.shape<"(2,3)">, !cute.stride<"(1,?{i64})">, !cute.coord<"(?,_,?)">, !cute.layout<"(?,4):(4,1)">,
                             !cute.tile<"[?:1;_;4:?]">, !cute.swizzle<"S<3,4,3>">, !cute.composed_layout<"S<3,4,3> o ? o (?,8):(8,1)">)
  -> (!cute.int_tuple<"?">, !cute.tile<"_">)

// Called by name, and through a value that is one of two functions.
// CHECK-LABEL: func.func @first(
// CHECK-SAME:  %[[L:.*]]: !llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
func.func @first(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?"> {
  %r = cute.size<[0]> (%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}
func.func @both(%l: !cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?"> {
  %r = cute.size(%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  return %r : !cute.int_tuple<"?">
}
// CHECK-LABEL: func.func @calls(
// CHECK:       call @first(%{{.*}}) : (!llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
// CHECK:       constant @first : (!llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
// CHECK:       constant @both : (!llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
// CHECK:       arith.select %{{.*}}, %{{.*}}, %{{.*}} : (!llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
// CHECK:       call_indirect %{{.*}}(%{{.*}}) : (!llvm.struct<(struct<(i32, i32)>, i32)>) -> i32
// OUT-NEXT: {{^}}7{{$}}
// OUT-NEXT: {{^}}21{{$}}
// OUT-NEXT: {{^}}7{{$}}
// OUT-NEXT: {{^}}7{{$}}
func.func @calls(%which: i1, %m: i32, %n: i32) {
  %s = cute.make_shape(%m, %n) : (i32, i32) -> !cute.shape<"(?,?)">
  %d = cute.make_stride(%m) : (i32) -> !cute.stride<"(1,?)">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,?)">, !cute.stride<"(1,?)">) -> !cute.layout<"(?,?):(1,?)">
  %0 = func.call @first(%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  cute.print(%0) : !cute.int_tuple<"?">
  %first = func.constant @first : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  %both = func.constant @both : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  %f = arith.select %which, %both, %first : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  %1 = func.call_indirect %f(%l) : (!cute.layout<"(?,?):(1,?)">) -> !cute.int_tuple<"?">
  cute.print(%1) : !cute.int_tuple<"?">
  return
}

func.func @main() {
  %no = arith.constant false
  %yes = arith.constant true
  %0 = arith.constant 0 : i32
  %2 = arith.constant 2 : i32
  %3 = arith.constant 3 : i32
  %7 = arith.constant 7 : i32
  %100 = arith.constant 100 : i32
  %wide = arith.constant 90000000000 : i64
  %c = cute.make_coord(%2, %0) : (i32, i32) -> !cute.coord<"(?,?)">
  %r = call @for_loop(%c, %3) : (!cute.coord<"(?,?)">, i32) -> !cute.coord<"(?,?)">
  cute.print(%r) : !cute.coord<"(?,?)">
  %n = cute.make_shape(%100) : (i32) -> !cute.shape<"?">
  call @while_loop(%n) : (!cute.shape<"?">) -> ()
  call @if_else(%yes, %7, %3) : (i1, i32, i32) -> ()
  call @if_else(%no, %7, %3) : (i1, i32, i32) -> ()
  call @branches(%wide) : (i64) -> ()
  call @calls(%yes, %7, %3) : (i1, i32, i32) -> ()
  call @calls(%no, %7, %3) : (i1, i32, i32) -> ()
  return
}
