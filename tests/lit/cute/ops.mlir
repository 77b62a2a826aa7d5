// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s | cute-opt | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s

// CHECK-LABEL: func.func @make
func.func @make(%m: i32, %n: i64) -> !cute.layout<"(?,4):(1,?{i64})"> {
  // CHECK: cute.make_shape(%{{.*}}) : (i32) -> !cute.shape<"(?,4)">
  %s = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,4)">
  // CHECK: cute.make_stride(%{{.*}}) : (i64) -> !cute.stride<"(1,?{i64})">
  %d = cute.make_stride(%n) : (i64) -> !cute.stride<"(1,?{i64})">
  // CHECK: cute.make_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?{i64})">) -> !cute.layout<"(?,4):(1,?{i64})">
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?{i64})">) -> !cute.layout<"(?,4):(1,?{i64})">
  // CHECK: cute.make_coord(%{{.*}}) : (i32) -> !cute.coord<"(?,_)">
  %c = cute.make_coord(%m) : (i32) -> !cute.coord<"(?,_)">
  // CHECK: cute.make_int_tuple(%{{.*}}) : (i32) -> !cute.int_tuple<"(2,?)">
  %t = cute.make_int_tuple(%m) : (i32) -> !cute.int_tuple<"(2,?)">
  // CHECK: cute.make_tile(%{{.*}}) : (i32) -> !cute.tile<"[?:1;_]">
  %e = cute.make_tile(%m) : (i32) -> !cute.tile<"[?:1;_]">
  // CHECK: cute.static : !cute.layout<"(2,3):(1,2)">
  %f = cute.static : !cute.layout<"(2,3):(1,2)">
  return %l : !cute.layout<"(?,4):(1,?{i64})">
}

// CHECK-LABEL: func.func @take
func.func @take(%l: !cute.layout<"(?,4):(1,?)">, %c: !cute.coord<"(?,?)">, %i: !cute.int_tuple<"?">) {
  // CHECK: cute.get_shape(%{{.*}}) : !cute.layout<"(?,4):(1,?)"> -> !cute.shape<"(?,4)">
  %s = cute.get_shape(%l) : !cute.layout<"(?,4):(1,?)"> -> !cute.shape<"(?,4)">
  // CHECK: cute.get_stride(%{{.*}}) : <"(?,4):(1,?)"> -> !cute.stride<"(1,?)">
  %d = cute.get_stride(%l) : !cute.layout<"(?,4):(1,?)"> -> !cute.stride<"(1,?)">
  // CHECK: %{{.*}}:2 = cute.get_scalars<{only_dynamic}> (%{{.*}}) : !cute.layout<"(?,4):(1,?)">
  %0:2 = cute.get_scalars<{only_dynamic}> (%l) : !cute.layout<"(?,4):(1,?)">
  // CHECK: %{{.*}}:4 = cute.get_scalars (%{{.*}}) : !cute.layout<"(?,4):(1,?)">
  %1:4 = cute.get_scalars (%l) : !cute.layout<"(?,4):(1,?)">
  // CHECK: cute.size{{ ?}}(%{{.*}}) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
  %2 = cute.size(%l) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
  // CHECK: cute.size<[1]>{{ ?}}(%{{.*}}) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"4">
  %3 = cute.size<[1]> (%l) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"4">
  // CHECK: cute.cosize{{ ?}}(%{{.*}}) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
  %4 = cute.cosize(%l) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
  // CHECK: cute.layout_eval(%{{.*}}, %{{.*}})
  %5 = cute.layout_eval(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
  // CHECK: cute.crd2idx(%{{.*}}, %{{.*}})
  %6 = cute.crd2idx(%c, %s) : (!cute.coord<"(?,?)">, !cute.shape<"(?,4)">) -> !cute.int_tuple<"?">
  // CHECK: cute.idx2crd(%{{.*}}, %{{.*}})
  %7 = cute.idx2crd(%i, %s) : (!cute.int_tuple<"?">, !cute.shape<"(?,4)">) -> !cute.coord<"(?,?)">
  return
}

// Known answers are inferred: 1*1 + 2*4 = 9; 13 is (1, 3) in (4,8): 13 = 1 + 3*4.
// CHECK-LABEL: func.func @known
func.func @known(%c: !cute.coord<"(1,2)">, %l: !cute.layout<"(4,8):(1,4)">, %i: !cute.int_tuple<"13">, %s: !cute.shape<"(4,8)">) {
  %0 = cute.layout_eval(%c, %l) : (!cute.coord<"(1,2)">, !cute.layout<"(4,8):(1,4)">) -> !cute.int_tuple<"9">
  %1 = cute.idx2crd(%i, %s) : (!cute.int_tuple<"13">, !cute.shape<"(4,8)">) -> !cute.coord<"(1,3)">
  return
}
