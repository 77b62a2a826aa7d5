// RUN: cute-opt %s -cute-canonicalize -split-input-file | FileCheck %s

// A part of what was just put together is that part.
// CHECK-LABEL: func.func @parts
// CHECK-SAME:    (%[[S:.*]]: !cute.shape<"(?,4)">, %[[D:.*]]: !cute.stride<"(?,1)">)
// CHECK-NEXT:    return %[[S]], %[[D]]
func.func @parts(%s: !cute.shape<"(?,4)">, %d: !cute.stride<"(?,1)">) -> (!cute.shape<"(?,4)">, !cute.stride<"(?,1)">) {
  %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,4):(?,1)">
  %0 = cute.get_shape(%l) : !cute.layout<"(?,4):(?,1)"> -> !cute.shape<"(?,4)">
  %1 = cute.get_stride(%l) : <"(?,4):(?,1)"> -> !cute.stride<"(?,1)">
  return %0, %1 : !cute.shape<"(?,4)">, !cute.stride<"(?,1)">
}

// -----

// CHECK-LABEL: func.func @composed_parts
// CHECK-SAME:    (%[[A:.*]]: !cute.layout<"(?,8):(1,?)">, %[[O:.*]]: !cute.int_tuple<"?">, %[[B:.*]]: !cute.layout<"4:?">)
// CHECK-NEXT:    return %[[A]], %[[O]], %[[B]]
func.func @composed_parts(%a: !cute.layout<"(?,8):(1,?)">, %o: !cute.int_tuple<"?">, %b: !cute.layout<"4:?">)
    -> (!cute.layout<"(?,8):(1,?)">, !cute.int_tuple<"?">, !cute.layout<"4:?">) {
  %c = cute.make_composed_layout(%a, %o, %b) : (!cute.layout<"(?,8):(1,?)">, <"?">, <"4:?">) -> <"(?,8):(1,?) o ? o 4:?">
  %0 = cute.composed_get_inner(%c) : <"(?,8):(1,?) o ? o 4:?"> -> !cute.layout<"(?,8):(1,?)">
  %1 = cute.composed_get_offset(%c) : <"(?,8):(1,?) o ? o 4:?"> -> !cute.int_tuple<"?">
  %2 = cute.composed_get_outer(%c) : <"(?,8):(1,?) o ? o 4:?"> -> <"4:?">
  return %0, %1, %2 : !cute.layout<"(?,8):(1,?)">, !cute.int_tuple<"?">, !cute.layout<"4:?">
}

// -----

// The parts of one value, put together again, are that value; those of two are not.
// CHECK-LABEL: func.func @whole
// CHECK-SAME:    (%[[L:.*]]: !cute.layout<"(?,4):(?,1)">, %[[M:.*]]: !cute.layout<"(?,4):(?,1)">)
// CHECK:         %[[R:.*]] = cute.make_layout
// CHECK:         return %[[L]], %[[R]]
func.func @whole(%l: !cute.layout<"(?,4):(?,1)">, %m: !cute.layout<"(?,4):(?,1)">)
    -> (!cute.layout<"(?,4):(?,1)">, !cute.layout<"(?,4):(?,1)">) {
  %s = cute.get_shape(%l) : !cute.layout<"(?,4):(?,1)"> -> !cute.shape<"(?,4)">
  %d = cute.get_stride(%l) : <"(?,4):(?,1)"> -> !cute.stride<"(?,1)">
  %e = cute.get_stride(%m) : <"(?,4):(?,1)"> -> !cute.stride<"(?,1)">
  %0 = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,4):(?,1)">
  %1 = cute.make_layout(%s, %e) : (!cute.shape<"(?,4)">, !cute.stride<"(?,1)">) -> !cute.layout<"(?,4):(?,1)">
  return %0, %1 : !cute.layout<"(?,4):(?,1)">, !cute.layout<"(?,4):(?,1)">
}

// -----

// Conversions there and back, sums with nothing, quotients by one.
// CHECK-LABEL: func.func @nothing
// CHECK-SAME:    (%[[T:.*]]: !cute.int_tuple<"(?,4)">)
// CHECK-NEXT:    return %[[T]], %[[T]], %[[T]]
func.func @nothing(%t: !cute.int_tuple<"(?,4)">)
    -> (!cute.int_tuple<"(?,4)">, !cute.int_tuple<"(?,4)">, !cute.int_tuple<"(?,4)">) {
  %s = cute.to_shape(%t) : !cute.int_tuple<"(?,4)"> -> !cute.shape<"(?,4)">
  %0 = cute.to_int_tuple(%s) : !cute.shape<"(?,4)"> -> !cute.int_tuple<"(?,4)">
  %z = cute.static : !cute.int_tuple<"(0,0)">
  %1 = cute.tuple_add(%t, %z) : (!cute.int_tuple<"(?,4)">, !cute.int_tuple<"(0,0)">) -> !cute.int_tuple<"(?,4)">
  %o = cute.static : !cute.int_tuple<"(1,1)">
  %2 = cute.ceil_div(%t, %o) : (!cute.int_tuple<"(?,4)">, !cute.int_tuple<"(1,1)">) -> !cute.int_tuple<"(?,4)">
  return %0, %1, %2 : !cute.int_tuple<"(?,4)">, !cute.int_tuple<"(?,4)">, !cute.int_tuple<"(?,4)">
}

// -----

// A sum that changes something stays: adding 2 to an unknown has the type of adding 0.
// CHECK-LABEL: func.func @something
// CHECK:         cute.tuple_add
// CHECK:         cute.ceil_div
func.func @something(%t: !cute.int_tuple<"?">) -> (!cute.int_tuple<"?">, !cute.int_tuple<"?">) {
  %z = cute.static : !cute.int_tuple<"2">
  %1 = cute.tuple_add(%t, %z) : (!cute.int_tuple<"?">, !cute.int_tuple<"2">) -> !cute.int_tuple<"?">
  %2 = cute.ceil_div(%t, %z) : (!cute.int_tuple<"?">, !cute.int_tuple<"2">) -> !cute.int_tuple<"?">
  return %1, %2 : !cute.int_tuple<"?">, !cute.int_tuple<"?">
}

// -----

// What stands twice stands once; what nothing uses goes; what is known is a constant.
// CHECK-LABEL: func.func @once
// CHECK-NEXT:    %[[N:.*]] = cute.size
// CHECK-NEXT:    %[[K:.*]] = cute.static : !cute.int_tuple<"4">
// CHECK-NEXT:    return %[[N]], %[[N]], %[[K]]
func.func @once(%l: !cute.layout<"(?,4):(4,1)">) -> (!cute.int_tuple<"?">, !cute.int_tuple<"?">, !cute.int_tuple<"4">) {
  %dead = cute.cosize(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
  %0 = cute.size(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
  %1 = cute.size(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"?">
  %2 = cute.size<[1]>(%l) : (!cute.layout<"(?,4):(4,1)">) -> !cute.int_tuple<"4">
  return %0, %1, %2 : !cute.int_tuple<"?">, !cute.int_tuple<"?">, !cute.int_tuple<"4">
}
