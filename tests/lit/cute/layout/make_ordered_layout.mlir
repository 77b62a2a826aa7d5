// RUN: cute-opt %s | FileCheck %s
// RUN: cute-opt %s -mlir-print-op-generic | cute-opt | FileCheck %s
// RUN: cute-opt %s -emit-bytecode | cute-opt | FileCheck %s
// RUN: cute-opt %s -canonicalize -cse -sccp -o /dev/null

// CHECK-LABEL: func.func @row_major(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,8):(8,1)">
func.func @row_major(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(1,0)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,8):(8,1)">
  return
}

// CHECK-LABEL: func.func @column_major(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"(4,8):(1,4)">
func.func @column_major(%a: !cute.shape<"(4,8)">, %b: !cute.int_tuple<"(0,1)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,8)">, !cute.int_tuple<"(0,1)">) -> !cute.layout<"(4,8):(1,4)">
  return
}

// Only the order of the numbers counts: mode 1 (2), mode 2 (5), mode 0 (7).
// CHECK-LABEL: func.func @sparse_order(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(2,3,4)">, !cute.int_tuple<"(7,2,5)">) -> !cute.layout<"(2,3,4):(12,1,3)">
func.func @sparse_order(%a: !cute.shape<"(2,3,4)">, %b: !cute.int_tuple<"(7,2,5)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(2,3,4)">, !cute.int_tuple<"(7,2,5)">) -> !cute.layout<"(2,3,4):(12,1,3)">
  return
}

// 1 stands for all of mode 0: (2,2) steps over the 8 of mode 1.
// CHECK-LABEL: func.func @whole_mode(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"((2,2),8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),8):((8,16),1)">
func.func @whole_mode(%a: !cute.shape<"((2,2),8)">, %b: !cute.int_tuple<"(1,0)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"((2,2),8)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"((2,2),8):((8,16),1)">
  return
}

// CHECK-LABEL: func.func @unknown(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,?)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)">
func.func @unknown(%a: !cute.shape<"(4,?)">, %b: !cute.int_tuple<"(1,0)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,?)">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?):(?,1)">
  return
}

// CHECK-LABEL: func.func @wide(
// CHECK: cute.make_ordered_layout(%{{.*}}, %{{.*}}) : (!cute.shape<"(4,?{i64})">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?{i64}):(?{i64},1)">
func.func @wide(%a: !cute.shape<"(4,?{i64})">, %b: !cute.int_tuple<"(1,0)">) {
  %r = cute.make_ordered_layout(%a, %b) : (!cute.shape<"(4,?{i64})">, !cute.int_tuple<"(1,0)">) -> !cute.layout<"(4,?{i64}):(?{i64},1)">
  return
}
