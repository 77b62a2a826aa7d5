// Remarks are made where they are asked for, of the passes that are named.
// RUN: cute-opt %s -remarks -cute-layout-fusion -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s -remarks=cute-fold-static,cute-layout-fusion -cute-layout-fusion -o /dev/null 2>&1 | FileCheck %s
// RUN: cute-opt %s -remarks=cute-layout-fusion -cute-layout-fusion -verify-diagnostics
// RUN: cute-opt %s -remarks=cute-fold-static -cute-layout-fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: cute-opt %s -cute-layout-fusion -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE --allow-empty
// RUN: cute-ptx %s -remarks -pipeline cute-layout-fusion -emit mlir -o /dev/null 2>&1 | FileCheck %s
// RUN: not cute-opt %s -remarks=cute-layout-fussion -cute-layout-fusion 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not cute-ptx %s -remarks=cute-layout-fussion -emit mlir -pipeline cse 2>&1 | FileCheck %s --check-prefix=WRONG

// NONE-NOT: remark
// WRONG: error: --remarks: unknown pass 'cute-layout-fussion'
func.func @paths(%l: !cute.layout<"(?,(2,?)):(1,(?,8))">) -> !cute.layout<"2:?"> {
  %m = cute.get<[1]>(%l) : !cute.layout<"(?,(2,?)):(1,(?,8))"> -> !cute.layout<"(2,?):(?,8)">
  // CHECK: remarks.mlir:[[@LINE+2]]:8: remark: 'cute.get' of 'cute.get' is computed directly, by 'cute.get' [cute-layout-fusion]
  // expected-remark@+1 {{computed directly}}
  %0 = cute.get<[0]>(%m) : !cute.layout<"(2,?):(?,8)"> -> !cute.layout<"2:?">
  return %0 : !cute.layout<"2:?">
}
