// What the text is made to be before it is parsed does not move what an error points at.
// RUN: not cute-opt %s 2>&1 | FileCheck %s

#loc1 = loc("a.py":1:0)
module {
  gpu.module @a {
  }
}
#loc1 = loc("b.py":1:0)
"builtin.module"() ({
  "gpu.module"() <{sym_name = "b"}> ({
    "gpu.func"() ({
    }) : () -> () loc(#loc1)
  }) : () -> ()   "func.call"() <{callee = @no}> : (wrong) -> ()
  // CHECK: places.mlir:14:53: error: expected non-function type
  // CHECK-NEXT: {{^}}  }) : () -> ()   "func.call"() <{callee = @no}> : (wrong) -> ()
}) : () -> ()
