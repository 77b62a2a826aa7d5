// RUN: cute-opt %s -cute-layout-fusion -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @paths
// CHECK-DAG:     cute.get<[1, 0]> (%{{.*}}) : !cute.layout<"(?,(2,?)):(1,(?,8))"> -> !cute.layout<"2:?">
// CHECK-DAG:     cute.size<[1, 1]> (%{{.*}}) : (!cute.layout<"(?,(2,?)):(1,(?,8))">) -> !cute.int_tuple<"?">
// CHECK-NOT:     cute.get<[1]>
func.func @paths(%l: !cute.layout<"(?,(2,?)):(1,(?,8))">) -> (!cute.layout<"2:?">, !cute.int_tuple<"?">) {
  %m = cute.get<[1]>(%l) : !cute.layout<"(?,(2,?)):(1,(?,8))"> -> !cute.layout<"(2,?):(?,8)">
  %0 = cute.get<[0]>(%m) : !cute.layout<"(2,?):(?,8)"> -> !cute.layout<"2:?">
  %1 = cute.size<[1]>(%m) : (!cute.layout<"(2,?):(?,8)">) -> !cute.int_tuple<"?">
  return %0, %1 : !cute.layout<"2:?">, !cute.int_tuple<"?">
}

// -----

// Modes 2, 0 of (a,b,c), then mode 1 of those, is mode 0.
// CHECK-LABEL: func.func @selected
// CHECK-NEXT:    %[[R:.*]] = cute.get<[0]> (%{{.*}}) : !cute.layout<"(?,3,4):(1,?,?)"> -> !cute.layout<"?:1">
// CHECK-NEXT:    return %[[R]]
func.func @selected(%l: !cute.layout<"(?,3,4):(1,?,?)">) -> !cute.layout<"?:1"> {
  %m = cute.select<[2, 0]>(%l) : !cute.layout<"(?,3,4):(1,?,?)"> -> !cute.layout<"(4,?):(?,1)">
  %0 = cute.get<[1]>(%m) : !cute.layout<"(4,?):(?,1)"> -> !cute.layout<"?:1">
  return %0 : !cute.layout<"?:1">
}

// -----

// CHECK-LABEL: func.func @sizes
// CHECK-SAME:    (%[[L:.*]]: !cute.layout<"((?,2),4):((1,?),?)">)
// CHECK-NEXT:    %[[N:.*]] = cute.size (%[[L]])
// CHECK-NEXT:    return %[[N]], %[[N]], %[[N]]
func.func @sizes(%l: !cute.layout<"((?,2),4):((1,?),?)">) -> (!cute.int_tuple<"?">, !cute.int_tuple<"?">, !cute.int_tuple<"?">) {
  %s = cute.get_shape(%l) : !cute.layout<"((?,2),4):((1,?),?)"> -> !cute.shape<"((?,2),4)">
  %f = cute.flatten(%l) : (!cute.layout<"((?,2),4):((1,?),?)">) -> !cute.layout<"(?,2,4):(1,?,?)">
  %g = cute.group_modes<0, 2>(%l) : (!cute.layout<"((?,2),4):((1,?),?)">) -> !cute.layout<"(((?,2),4)):(((1,?),?))">
  %0 = cute.size(%s) : (!cute.shape<"((?,2),4)">) -> !cute.int_tuple<"?">
  %1 = cute.size(%f) : (!cute.layout<"(?,2,4):(1,?,?)">) -> !cute.int_tuple<"?">
  %2 = cute.size(%g) : (!cute.layout<"(((?,2),4)):(((1,?),?))">) -> !cute.int_tuple<"?">
  return %0, %1, %2 : !cute.int_tuple<"?">, !cute.int_tuple<"?">, !cute.int_tuple<"?">
}

// -----

// 8:2 after 4:2 is 4:4: 2*(2*i). The unknown layout meets only that.
// CHECK-LABEL: func.func @known_first
// CHECK-SAME:    (%[[A:.*]]: !cute.layout<"?:?">)
// CHECK:         %[[B:.*]] = cute.static : !cute.layout<"4:4">
// CHECK:         cute.composition(%[[A]], %[[B]])
// CHECK-NOT:     cute.composition
func.func @known_first(%a: !cute.layout<"?:?">) -> !cute.layout<"4:?"> {
  %b = cute.static : !cute.layout<"8:2">
  %c = cute.static : !cute.layout<"4:2">
  %1 = cute.composition(%a, %b) : (!cute.layout<"?:?">, !cute.layout<"8:2">) -> !cute.layout<"8:?">
  %2 = cute.composition(%1, %c) : (!cute.layout<"8:?">, !cute.layout<"4:2">) -> !cute.layout<"4:?">
  return %2 : !cute.layout<"4:?">
}

// -----

// A partition, flattened and composed, is one composition: strides need not be known. Here it is the first tile.
// CHECK-LABEL: func.func @partition
// CHECK-NEXT:    %[[T:.*]] = cute.static : !cute.layout<"(4,8):(1,16)">
// CHECK-NEXT:    %[[R:.*]] = cute.composition(%{{.*}}, %[[T]]) : (!cute.layout<"(16,32):(?,?)">, {{.*}} -> !cute.layout<"(4,8):(?,?)">
// CHECK-NEXT:    return %[[R]]
func.func @partition(%l: !cute.layout<"(16,32):(?,?)">) -> !cute.layout<"(4,8):(?,?)"> {
  %tile = cute.static : !cute.tile<"[4:1;8:1]">
  %b = cute.static : !cute.layout<"(4,8):(1,4)">
  %0 = cute.zipped_divide(%l, %tile)
  %1 = cute.flatten(%0)
  %2 = cute.composition(%1, %b)
  return %2 : !cute.layout<"(4,8):(?,?)">
}

// -----

// In the first tile it is one composition with extents that are not known, too: how many tiles there are does not matter.
// CHECK-LABEL: func.func @tile
// CHECK-NOT:     divide
// CHECK:         %[[T:.*]] = cute.static : !cute.tile<"[4:1;8:1]">
// CHECK:         %[[F:.*]] = cute.composition(%{{.*}}, %[[T]]) : (!cute.layout<"(?,?):(?,?)">, {{.*}} -> !cute.layout<"(4,8):(?,?)">
// CHECK:         cute.composition(%[[F]], %{{.*}}) : (!cute.layout<"(4,8):(?,?)">, !cute.layout<"(4,4):(1,8)">) -> !cute.layout<"(4,4):(?,?)">
func.func @tile(%l: !cute.layout<"(?,?):(?,?)">) -> !cute.layout<"(4,4):(?,?)"> {
  %tile = cute.static : !cute.tile<"[4:1;8:1]">
  %b = cute.static : !cute.layout<"(4,4):(1,8)">
  %0 = cute.zipped_divide(%l, %tile)
  %1 = cute.flatten(%0)
  %2 = cute.composition(%1, %b)
  return %2 : !cute.layout<"(4,4):(?,?)">
}

// -----

// CHECK-LABEL: func.func @extent
// CHECK-NOT:     divide
// CHECK:         %[[R:.*]] = cute.composition(%{{.*}}, %{{.*}}) : (!cute.layout<"?:?">, !cute.layout<"4:1">) -> !cute.layout<"4:?">
// CHECK-NEXT:    return %[[R]]
func.func @extent(%l: !cute.layout<"(16,?):(?,?)">) -> !cute.layout<"4:?"> {
  %four = cute.static : !cute.layout<"4:1">
  %0 = cute.get<[0]>(%l) : !cute.layout<"(16,?):(?,?)"> -> !cute.layout<"16:?">
  %1 = cute.get<[1]>(%l) : !cute.layout<"(16,?):(?,?)"> -> !cute.layout<"?:?">
  %2 = cute.logical_divide(%1, %four)
  %3 = cute.composition(%2, %four)
  return %3 : !cute.layout<"4:?">
}

// -----

// What leaves the first tile of an extent that is not known keeps the steps apart.
// CHECK-LABEL: func.func @beyond
// CHECK:         cute.logical_divide
// CHECK:         cute.composition
func.func @beyond(%l: !cute.layout<"?:?">) -> !cute.layout<"(4,2):(?,?)"> {
  %four = cute.static : !cute.layout<"4:1">
  %b = cute.static : !cute.layout<"8:1">
  %0 = cute.logical_divide(%l, %four)
  %1 = cute.composition(%0, %b)
  return %1 : !cute.layout<"(4,2):(?,?)">
}
